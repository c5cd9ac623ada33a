"""Fingerprints of real outputs: what tools printed, in `corpus/`, against what a reader says of it."""

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.agents.prompt_text import NOTE, OPEN, fence, without_fences
from gitmem.fingerprint.fingerprint import fingerprint, normalise
from gitmem.fingerprint.title import TITLE
from tests.scale import scaled

FOLDER = Path(__file__).parent / "corpus"
ENTRIES: dict[str, dict[str, Any]] = {
    entry["name"]: entry
    for file in sorted(FOLDER.glob("*.jsonl"))
    for entry in map(json.loads, file.read_text("utf-8").splitlines())
}
PAIRS = [entry for entry in ENTRIES.values() if "again" in entry]
CATEGORIES = {"build", "test", "lint", "runtime", "integration", "security", "general"}
PLACED = re.compile(
    r"^(?:[\w./\\-]+\.\w{1,5}[:(]\d+|/\S+:\d+|line \d+|\d{4}-\d\d-\d\d|Traceback|\s)"
)
entries = st.sampled_from(list(ENTRIES.values()))


def found(entry: dict[str, Any], output: str | None = None, root: str | None = None):
    mark = fingerprint(
        entry["output"] if output is None else output, root or entry["root"], entry["command"]
    )
    assert mark is not None, entry["name"]
    return mark


def test_the_corpus_is_large_and_real():
    assert len(ENTRIES) >= 300 and len(PAIRS) >= 60
    assert {entry["category"] for entry in ENTRIES.values()} == CATEGORIES
    # a tool may say the same of two things
    assert len({entry["output"] for entry in ENTRIES.values()}) >= len(ENTRIES) - 5


def by_tool(names):
    """Return the tools that a corpus has outputs of, the part of a name before the slash."""
    return sorted({name.partition("/")[0] for name in names})


def of_tool(tool, some):
    return [entry for entry in some if entry["name"].partition("/")[0] == tool]


def said(entry, mark):
    return {
        "name": entry["name"],
        "pattern": mark.pattern,
        "title": mark.title,
        "category": mark.category,
        "severity": mark.severity,
    }


@pytest.mark.parametrize("tool", by_tool(ENTRIES))
def test_what_is_said_of_the_outputs_of_a_tool(tool):
    for entry in of_tool(tool, ENTRIES.values()):
        told = said(entry, found(entry))
        assert {key: entry[key] for key in told} == told


def test_an_output_that_names_no_error_has_no_pattern():
    for entry in json.loads((FOLDER / "silent.json").read_text("utf-8")):
        for output in (entry["output"], f"Exit code 1\n{entry['output']}"):
            assert fingerprint(output, "/home/ada/shop", entry["command"]) is None, entry["name"]


def test_titles_are_short_and_name_no_place_first():
    for entry in ENTRIES.values():
        title = entry["title"]
        assert (
            title
            and len(title) <= TITLE
            and "\n" not in title
            and "\x1b" not in title
            and not PLACED.match(title)
        ), entry["name"]


@pytest.mark.parametrize("tool", by_tool(entry["name"] for entry in PAIRS))
def test_the_same_error_elsewhere_is_the_same_error(tool):
    """Run twice: in another folder, on other lines, with other ports, times, process ids."""
    for entry in of_tool(tool, PAIRS):
        again = entry["again"]
        mark = fingerprint(again["output"], again["root"], again["command"])
        assert mark is not None and mark.pattern == entry["pattern"], entry["name"]
        assert (mark.category, mark.severity) == (entry["category"], entry["severity"]), entry[
            "name"
        ]


def test_different_errors_have_different_patterns():
    """Those that are one error for a reader are listed in `same.json`, reviewed by hand."""
    groups = defaultdict(list)
    for entry in ENTRIES.values():
        groups[entry["pattern"]].append(entry["name"])
    merged = sorted(sorted(names) for names in groups.values() if len(names) > 1)
    assert merged == sorted(
        sorted(names) for names in json.loads((FOLDER / "same.json").read_text("utf-8"))
    )


OTHER = [
    (
        "fatal error: shop/cart.h: No such file or directory",
        "fatal error: shop/tax.h: No such file or directory",
    ),
    ("undefined reference to `total'", "undefined reference to `rate'"),
    (
        "a.c:1:2: error: ‘x’ undeclared (first use in this function)",
        "a.c:1:2: error: ‘y’ undeclared (first use in this function)",
    ),
    (
        "a.c:1:2: error: expected ‘;’ before ‘return’",
        "a.c:1:2: error: expected ‘)’ before ‘return’",
    ),
    ("Error: Cannot find module './routes/orders'", "Error: Cannot find module './routes/users'"),
    ("error TS2304: Cannot find name 'a'.", "error TS2304: Cannot find name 'b'."),
    ('ERROR:  relation "orders" does not exist', 'ERROR:  relation "users" does not exist'),
    (
        "ERROR 1054 (42S22) at line 1: Unknown column 'a' in 'SELECT'",
        "ERROR 1054 (42S22) at line 1: Unknown column 'b' in 'SELECT'",
    ),
    (
        "curl: (22) The requested URL returned error: 404",
        "curl: (22) The requested URL returned error: 500",
    ),
    (
        "make: *** No rule to make target 'build'.  Stop.",
        "make: *** No rule to make target 'deploy'.  Stop.",
    ),
    ("OSError: [Errno 13] Permission denied", "OSError: [Errno 28] No space left on device"),
    ('npm error Missing script: "build"', 'npm error Missing script: "start"'),
    (
        "error[E0425]: cannot find function `a` in this scope",
        "error[E0425]: cannot find function `b` in this scope",
    ),
    ("./main.go:4:2: undefined: a", "./main.go:4:2: undefined: b"),
    ("E: Unable to locate package libfoo", "E: Unable to locate package libbar"),
    (
        "A.java:5: error: cannot find symbol\n  x();\n  ^\n  symbol:   method x()",
        "A.java:5: error: cannot find symbol\n  y();\n  ^\n  symbol:   method y()",
    ),
    (
        "FAILED tests/test_a.py::test_one - assert 1 == 2",
        "FAILED tests/test_a.py::test_two - assert 1 == 2",
    ),
    (
        "jinja2.exceptions.UndefinedError: 'customer' is undefined",
        "jinja2.exceptions.UndefinedError: 'order' is undefined",
    ),
    ("error: unexpected argument '--foo' found", "error: unrecognized option '--bar'"),
    ("ModuleNotFoundError: No module named 'h5py'", "ModuleNotFoundError: No module named 'numpy'"),
    (
        "httpx.HTTPStatusError: Server error '503 Service Unavailable'",
        "httpx.HTTPStatusError: Server error '500 Internal Server Error'",
    ),
]


@pytest.mark.parametrize(("one", "two"), OTHER, ids=[row[0][:40] for row in OTHER])
def test_another_name_or_kind_is_another_error(one, two):
    a, b = fingerprint(one), fingerprint(two)
    assert a and b and a.pattern != b.pattern


SAME = [
    ("cannot open C:\\Program Files\\Shop\\a.dll", "cannot open D:\\Apps\\b.dll"),
    ("Error: (1:10) Unexpected token", "Error: (2:5) Unexpected token"),
    ("fatal: bad object 4417902", "fatal: bad object ab12cd3"),
    ("job failed after 61ms", "job failed after 1.2s"),
    ("job failed after 1m23s", "job failed after 9s"),
    ("Error: needs 2.0.0", "Error: needs 3.1.0-rc.1"),
    ("Error: balance is 12", "Error: balance is -3"),
    ("main.c:1: error: 'x' undeclared", "main.c:7: error: ‘x’ undeclared"),
    (
        "2026-03-01 10:00:00,123 [812] ERROR shop: no rate",
        "2027-01-02 03:04:05,678 [9] ERROR shop: no rate",
    ),
    (
        '{"level":"error","msg":"no rate for order 12"}',
        '{"level":"error","time":5,"msg":"no rate for order 7"}',
    ),
    ("connect ECONNREFUSED 127.0.0.1:80", "connect ECONNREFUSED 10.0.0.7:5432"),
    (
        "app.js:3\nthrow 1\n^\n\nError: no /home/ada/a b/x",
        "app.js:9\nthrow 1\n^\n\nError: no /srv/q/a b/x",
    ),
]


@pytest.mark.parametrize(("one", "two"), SAME, ids=[row[0][:40] for row in SAME])
def test_what_changes_from_run_to_run_splits_nothing(one, two):
    a, b = fingerprint(one), fingerprint(two)
    assert a and b and a.pattern == b.pattern


@given(entries, st.data())
@settings(max_examples=scaled(300, 75), deadline=None)
def test_normalising_a_real_line_twice_is_normalising_it_once(entry, data):
    line = data.draw(st.sampled_from(entry["output"].splitlines()))
    once = normalise(line, entry["root"])
    assert normalise(once, entry["root"]) == once
    assert normalise(entry["pattern"]) == entry["pattern"]


numbers = st.integers(1, 99999).map(str)
SWAPS = [
    (r"(?<=\bline )\d+\b", numbers),
    (
        r"(?<=\.py:)\d+|(?<=\.ts:)\d+|(?<=\.go:)\d+|(?<=\.rs:)\d+|(?<=\.js:)\d+|(?<=\.c:)\d+|(?<=\.cpp:)\d+|(?<=\.java:)\d+",
        numbers,
    ),
    (r"\b0x[0-9a-f]{6,16}\b", st.integers(1 << 20, 1 << 48).map(hex)),
    (
        r"(?<=127\.0\.0\.1:)\d+|(?<=localhost:)\d+|(?<=\bport )\d+",
        st.integers(1024, 65535).map(str),
    ),
    (r"\b20\d\d-\d\d-\d\d(?=[T ]\d)", st.dates().map(lambda day: f"20{day:%y-%m-%d}")),
    (r"(?<=[T ])\d\d:\d\d:\d\d\b", st.times().map(lambda time: f"{time:%H:%M:%S}")),
    (r"(?<=\bin )\d+\.\d+(?=s\b)", st.decimals(0, 500, places=2).map(str)),
    (r"\b\d+(?=ms\b)", numbers),
    (
        r"(?<=\[)\d{3,6}(?=\] )|(?<=\(node:)\d+|(?<===)\d+(?===)|(?<=: )\d{3,7}(?= (?:Segmentation|Killed|Aborted|Bus))",
        st.integers(100, 99999).map(str),
    ),
    (
        r"/tmp/cc\w{6}\.o",
        st.text("abcdefghijklmnopqrstuvwxyzABC0123456789", min_size=6, max_size=6).map(
            "/tmp/cc{}.o".format
        ),
    ),
    (r"(?<=/_logs/)[\w-]+(?=\.log)", st.uuids().map(str)),
]
FOLDERS = st.sampled_from(
    [
        "/srv/ci/job-81/checkout",
        "/root",
        "/tmp/tmpx8_1q/w",
        "/Users/ada/Work/shop.git",
        "/build/a1b2c3d4e5f6/src",
        "/a/b c",
    ]
)


@given(entries, FOLDERS, st.data())
@settings(max_examples=scaled(400, 100), deadline=None)
def test_paths_numbers_ports_times_and_ids_split_nothing(entry, folder, data):
    output = entry["output"].replace(entry["root"], folder)
    for shape, values in SWAPS:
        if re.search(shape, output):
            value = data.draw(values)
            output = re.sub(shape, lambda _: value, output)  # noqa: B023 (used at once)
    assert found(entry, output, folder).pattern == entry["pattern"]


COLOURS = ["\x1b[31m", "\x1b[1;38;5;203m", "\x1b[0m\x1b[7m", "\x1b[K"]


@given(entries, st.sampled_from(COLOURS), st.booleans(), st.booleans())
@settings(max_examples=scaled(300, 75), deadline=None)
def test_colours_progress_and_line_ends_change_nothing(entry, colour, is_crlf, has_progress):
    lines = [
        f"{colour}{line}\x1b[0m" if line.strip() else line for line in entry["output"].split("\n")
    ]
    if has_progress:
        lines = [
            f" 10% [=>  ]\r 99% [==> ]\r{line}" if line.strip() and "\r" not in line else line
            for line in lines
        ]
    mark = found(entry, ("\r\n" if is_crlf else "\n").join(lines))
    assert (mark.pattern, mark.title) == (entry["pattern"], entry["title"])


def test_categories_are_mostly_right_without_the_command():
    """As when a person quotes an output in a prompt."""
    right = sum(
        fingerprint(e["output"], e["root"]).category == e["category"] for e in ENTRIES.values()
    )  # type: ignore[union-attr]
    assert right / len(ENTRIES) >= 0.9


@given(entries)
@settings(max_examples=scaled(100, 40), deadline=None)
def test_an_exit_code_before_it_changes_nothing(entry):
    """As agents report a command that failed."""
    assert found(entry, f"Exit code 1\n{entry['output']}").pattern == entry["pattern"]


LINE = "- [critical gotcha ab12cd34] AssertionError: Traceback (most recent call last) (seen 3 times) Workaround: fatal: run it again"


@given(
    entries, st.sampled_from([fence([LINE, LINE]), f"{OPEN} {NOTE}\n{LINE}\n{LINE}"]), st.booleans()
)
@settings(max_examples=scaled(100, 40), deadline=None)
def test_what_was_injected_is_no_error(entry, told, is_first):
    """Whole, or cut off before its end."""
    output = entry["output"]
    heard = without_fences(f"{told}\n{output}" if is_first else f"{output}\n{told}")
    assert found(entry, heard).pattern == entry["pattern"]


def test_text_that_was_injected_alone_is_nothing():
    assert fingerprint(without_fences(fence([LINE]))) is None
    assert fingerprint(without_fences(f"{OPEN} {NOTE}\n{LINE}")) is None


def test_places_in_real_outputs_are_the_projects_own():
    places = {
        name: found(ENTRIES[name]).locations[-1:]
        for name in (
            "python/value-error",
            "node/type-undefined",
            "rust/mismatch",
            "go/undefined",
            "gcc/undeclared",
        )
    }
    assert places == {
        "python/value-error": [("/home/ada/shop/app/main.py", 2)],
        "node/type-undefined": [("/home/ada/shop/src/app.js", 2)],
        "rust/mismatch": [("src/main.rs", 2)],
        "go/undefined": [("./main.go", 4)],
        "gcc/undeclared": [("src/main.c", 2)],
    }


WORDS = [
    ("latest", "general"),
    ("contest results", "general"),
    ("formatting currency", "general"),
    ("rapid scaling", "general"),
    ("therapist", "general"),
    ("author list", "general"),
    ("memory leak", "general"),
    ("CSRF token missing in api", "security"),
    ("null pointer exception", "runtime"),
    ("erro de contestação no cadastro", "general"),
    ("fallo: la contraseña caducó", "general"),
    ("测试失败", "general"),
    ("a última versão falhou", "general"),
    ("jest: 2 tests failed", "test"),
    ("the webhook was refused", "integration"),
    ("eslint found 3 problems", "lint"),
    ("webpack compiled with 2 errors", "build"),
]


@pytest.mark.parametrize(("text", "category"), WORDS, ids=[row[0] for row in WORDS])
def test_categories_go_by_whole_words_in_any_language(text, category):
    mark = fingerprint(text)
    assert mark is not None and mark.category == category


def test_apostrophes_are_no_quotes_and_words_stay_whole():
    assert normalise("it's broken, don't retry") == "it's broken, don't retry"
    assert fingerprint("bad format string in parser").title == "bad format string in parser"  # type: ignore[union-attr]
    assert normalise("0xDEADBEEF failed") == "<hex> failed"
    assert (
        normalise("não é possível abrir 'ação 3' às 10:11:12")
        == "não é possível abrir 'ação <n>' às <time>"
    )
