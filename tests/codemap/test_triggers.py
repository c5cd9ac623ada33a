"""Triggers fire where they should, and hang or crash nobody."""

import os
import signal
import time

import pytest

from gitmem.codemap.symbols import query_worker, triggers
from gitmem.codemap.symbols.triggers import TriggerText, check_code, check_query, query_hits
from gitmem.errors import UserError

PY = "x = 1\nprint(x)\nfoo(1)\nprint(\n  2)\n"


def _hits(pattern, lines, path="a.py", **given):
    return TriggerText(path, lines).hits({"code": pattern}, **given)


def test_expression_finds_lines():
    """From 1, each once, no more than are asked for."""
    assert [2, 4] == _hits(r"\bprint\(", PY.split("\n"))
    assert [2] == _hits(r"print", PY.split("\n"), most=1)
    assert [1] == _hits("größe|漢$", ["漢\r\n", "gro"])


@pytest.mark.parametrize(
    "pattern", [r"(a+)+$", r"(a|a)*$", r"(.*)*x", r"(a?){50}a{50}", r"([a-zA-Z]+)*[0-9]$"]
)
def test_catastrophic_expression_does_not_hang(pattern):
    """In time that grows with the text only."""
    start = time.process_time()
    _hits(pattern, ["a" * 1_900 + "!"] * 2_000)
    assert time.process_time() - start < 3.0


@pytest.mark.parametrize(
    "pattern",
    ["(?=x)", r"(a)\1", "(", "", "a{1000}{1000}", "x" * 3_000, "(?P<n>a)(?P=n)", "\ud800"],
)
def test_expression_that_is_refused(pattern):
    """When it is written, with a reason."""
    with pytest.raises(UserError):
        check_code(pattern)


def test_query_finds_lines():
    """Where its matches begin, by any name of the language."""
    assert [2, 3, 4] == query_hits("(call) @c", "python", PY)
    assert [2, 4] == query_hits('(call function: (identifier) @f (#eq? @f "print"))', "py", PY)
    assert [2] == query_hits("(call) @c", "python", PY, 1)
    assert [1] == query_hits("(call_expression) @c", "go", "func main() { a() }")


@pytest.mark.parametrize(
    ("predicate", "want"),
    [
        ('#eq? @f "foo"', [3]),
        ('#not-eq? @f "foo"', [2, 4]),
        ('#match? @f "^p"', [2, 4]),
        ('#not-match? @f "^p"', [3]),
        ('#any-of? @f "foo" "bar"', [3]),
        ('#not-any-of? @f "foo" "bar"', [2, 4]),
        ('.match? @f "^f"', [3]),
        ("#eq? @f @f", [2, 3, 4]),
        ("#set! a b", [2, 3, 4]),
        ('#any-match? @f "oo"', [3]),
    ],
)
def test_predicates(predicate, want):
    """Those that tree-sitter has do what they do there."""
    assert want == query_hits(f"((call function: (identifier) @f) ({predicate}))", "python", PY)


def test_what_looks_like_a_predicate_in_a_string_is_none():
    """Strings and comments are left as they are."""
    assert [1] == query_hits(
        "; #match? @s\n((string) @s (#eq? @s \"'#match? @s'\"))", "python", "x = '#match? @s'\n"
    )


@pytest.mark.parametrize(
    "query",
    [
        "(cal) @x",
        "(",
        "(call)",
        "",
        "x" * 3_000,
        '((call) @c (#match? @c "(?=a)"))',
        "(call function: (nothing)) @c",
    ],
)
def test_query_that_is_refused(query):
    """When it is written, with a reason."""
    with pytest.raises(UserError):
        check_query(query, "python")
    with pytest.raises(UserError, match="cobol"):
        check_query("(call) @c", "cobol")


@pytest.mark.parametrize(
    "query", ["(_ (_)* @a (_)* @b (_)* @c (_)* @d)", '((identifier) @i (#match? @i "^(a+)+$"))']
)
def test_catastrophic_query_does_not_hang(query):
    """It is ended, is not run again, and others go on."""
    text = "a" * 60 + "!\n" + "print(x, (1, 2, 3), [4, 5])\n" * 4_000
    start = time.monotonic()
    for _ in range(5):
        query_hits(query, "python", text)
    assert time.monotonic() - start < 30.0  # to the end it would take hours
    assert [2, 3, 4] == query_hits("(call) @c", "python", PY)


def test_child_that_was_killed_is_started_again():
    """From outside, between two queries."""
    query_hits("(call) @c", "python", PY)
    assert query_worker._child is not None
    os.kill(query_worker._child.pid, signal.SIGKILL)
    query_worker._child.wait()
    assert [2, 3, 4] == query_hits("(call) @c", "python", PY)


def test_little_time_is_no_verdict():
    """A query that had no fair trial is run again."""
    query = "((call) @little)"
    query_hits(query, "python", PY * 5_000, seconds=0.0)
    assert [2, 3, 4] == query_hits(query, "python", PY, seconds=5.0)
    assert (query, "python") not in triggers._slow


@pytest.mark.parametrize("text", ["\0\1", "\ud800", "def (:", "", "x" * 3_000_000])
def test_broken_texts_are_no_error(text):
    """They have no hits."""
    assert [] == query_hits("(call) @c", "python", text)


PROSE = {
    "a.py": '"""eval(a)"""\n# eval(b)\nx = "eval(c)"\ny = f"no eval(d) {eval(z)}"\neval(e)\n',
    "a.js": "// eval(a)\n/* eval(b)\n eval(b) */ x = 'eval(c)'\nlet y = `${eval(d)}`\neval(e)\n",
    "a.ts": "// eval(a)\n/* eval(b)\n eval(b) */ x = 'eval(c)'\nlet y = `${eval(d)}`\neval(e)\n",
    "a.tsx": "// eval(a)\nlet x = <b\n t='eval(c)'>eval(b)</b>;\nlet y = `${eval(d)}`\neval(e)\n",
    "a.rb": "# eval(a)\nx = 'eval(b)'\nz = 1\ny = \"no eval #{eval(d)}\"\neval(e)\n",
    "a.go": 'package a // eval(a)\nvar x = "eval(b)"\nvar y = `eval(c)`\nvar z = eval(d)\nvar v = eval(e)\n',
    "a.rs": 'fn f() { // eval(a)\nlet a = "eval(b)"; /* eval(b) */\nlet b = r"eval(c)";\neval(d);\neval(e) }\n',
    "A.java": 'class A { // eval(a)\nString a = "eval(b)";\nint b; /* eval(c) */\nint c = eval(d);\nint d = eval(e); }\n',
    "a.c": '// eval(a)\nchar *a = "eval(b)";\nchar *b = "\\n eval(c)";\nint c = eval(d);\nint d = eval(e);\n',
    "a.cpp": '// eval(a)\nauto a = "eval(b)";\nauto b = R"(eval(c))";\nint c = eval(d);\nint d = eval(e);\n',
    "A.cs": 'class A { // eval(a)\nstring a = "eval(b)";\nstring b = @"eval(c)";\nint c = eval(d);\nint d = eval(e); }\n',
    "a.php": "<?php // eval(a)\n$a = \"eval(b)\";\n$b = 'eval(c)';\n$c = eval(d);\n$d = eval(e);\n",
}


@pytest.mark.parametrize("path", sorted(PROSE))
def test_what_is_said_in_comments_and_strings_is_no_code(path):
    """An expression finds the two calls; prose that speaks of them is passed over."""
    assert [4, 5] == _hits(r"eval\(", PROSE[path].splitlines(), path)


def test_an_expression_that_names_the_sign_finds_comments():
    """`# type: ignore` is about comments; white space before a comment is none of its code."""
    lines = ["x = 1  # type: ignore", "y = '# type: ignore'", "    # uses foo(2)", "z = 3 # foo(2)"]
    assert [1] == _hits("# type: ignore", lines)
    assert [] == _hits("type: ignore", lines)
    assert [] == _hits(r"\s*foo\(", lines)
    assert [4] == _hits(r".*foo\(", lines)
    assert [1] == _hits("^//go:build", ["//go:build linux", "package a"], "a.go")
    assert [1] == _hits(r"/\* eslint-disable", ["/* eslint-disable */ f()", "'/ * eslint'"], "a.js")


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("a.rb", "x = `rm -rf #{d}`"),
        ("a.rb", "x = %x(rm -rf a)"),
        ("a.rb", "x =~ /rm -rf/"),
        ("a.php", "<?php $out = `rm -rf $d`;"),
        ("a.js", "await $`rm -rf ${d}`;"),
        ("a.ts", "await $`rm -rf ${d}`;"),
    ],
)
def test_commands_in_backticks_are_code(path, line):
    """They run, as an expression's text or a query for a tag is read."""
    assert [1] == _hits("rm -rf", [line], path)


def test_quotes_make_a_string_code():
    """An expression that includes a quote is about the string."""
    lines = ['url = "http://x"', "# http://x", "größe = 'é'; f('http://y')"]
    assert [1, 3] == _hits("""["']http://""", lines)
    assert [] == _hits("http://", lines)
    assert [1, 2, 3] == _hits("http://", lines, "notes.txt")


@pytest.mark.parametrize(
    "path", ["node_modules/a/b.py", "web/node_modules/b.py", "vendor/b.py", "third_party/b.py"]
)
def test_code_from_elsewhere_calls_for_nothing(path):
    """Neither by an expression nor by a query."""
    text = TriggerText(path, ["foo(1)"])
    assert [] == text.hits({"code": "foo"})
    assert [] == text.hits({"query": "(call) @c", "language": "python"})
    for own in ("src/b.py", "src/external/api.py", "deps/db.py"):
        assert [1] == TriggerText(own, ["foo(1)"]).hits({"code": "foo"})
