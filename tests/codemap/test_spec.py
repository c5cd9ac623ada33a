"""A place in the code, as it is typed."""

import pytest

from gitmem.codemap.anchors.spec import glob_match, parse
from gitmem.errors import UserError


@pytest.mark.parametrize(
    ("spec", "want"),
    [
        ("src/a.py", {"path": "src/a.py"}),
        ("./src/a.py", {"path": "src/a.py"}),
        ("src\\a.py", {"path": "src/a.py"}),
        ("a.py:12", {"path": "a.py", "lines": [12, 12]}),
        ("a.py:12-20", {"path": "a.py", "lines": [12, 20]}),
        ("a.py#Pool.get", {"path": "a.py", "symbol": "Pool.get"}),
        ("a.py:3#Pool", {"path": "a.py", "lines": [3, 3], "symbol": "Pool"}),
        ("migrations/**", {"glob": "migrations/**"}),
        ("src/", {"path": "src"}),
        (" a b.py ", {"path": "a b.py"}),
        ("é/漢.py:1", {"path": "é/漢.py", "lines": [1, 1]}),
        ("a.rb#empty?", {"path": "a.rb", "symbol": "empty?"}),
        ("a.cc#n::A::operator[]", {"path": "a.cc", "symbol": "n::A::operator[]"}),
        ("a.js#A.#secret", {"path": "a.js", "symbol": "A.#secret"}),
        ("src/*.p?", {"glob": "src/*.p?"}),
    ],
)
def test_place_as_it_is_typed(spec, want):
    """A path, lines, a symbol or a glob."""
    assert want == parse(spec)


@pytest.mark.parametrize(
    "spec",
    [
        "",
        " ",
        "/etc/passwd",
        "../x",
        "a/../../x",
        "a.py:0",
        "a.py:5-3",
        "a.py:x",
        ":3",
        "#x",
        "a.py:1-2-3",
        "\\etc",
        "..\\x",
        "..",
        "a/..",
        "a/b/..",
        "../**",
        "a/../**",
        "a.py:" + "9" * 5000,
        ".//etc/../..",
        "src/*.py:3",
        "src/**#Cart",
        "a.py#",
        "a.py# x",
    ],
)
def test_place_outside_or_nonsense_is_refused(spec):
    """What leads out of the repository, or names no line, is refused with a hint."""
    with pytest.raises(UserError) as error:
        parse(spec)
    assert error.value.hint


@pytest.mark.parametrize(
    ("spec", "want"),
    [
        ("app/[id]/page.tsx", {"path": "app/[id]/page.tsx"}),
        ("app/[id]/page.tsx:3", {"path": "app/[id]/page.tsx", "lines": [3, 3]}),
        ("app/[id]/page.tsx#Page", {"path": "app/[id]/page.tsx", "symbol": "Page"}),
        ("c#/a.cs#Cart", {"path": "c#/a.cs", "symbol": "Cart"}),
        ("12:30.txt", {"path": "12:30.txt"}),
        ("app/[x]/page.tsx", {"glob": "app/[x]/page.tsx"}),
    ],
)
def test_file_that_is_there_is_meant_whatever_its_name(spec, want):
    """A name with brackets, a colon or a hash is not a pattern when there is such a file."""
    assert want == parse(spec, {"app/[id]/page.tsx", "c#/a.cs", "12:30.txt"}.__contains__)


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("migrations/**", "migrations/0001.py", True),
        ("migrations/**", "app/migrations/0001.py", False),
        ("**/migrations/*.py", "app/migrations/1.py", True),
        ("**/migrations/*.py", "migrations/1.py", True),
        ("*.py", "a/b/c.py", True),
        ("src/*.py", "src/a/b.py", False),
        ("src/**/x.py", "src/x.py", True),
        ("src/**/x.py", "src/a/b/x.py", True),
        ("a?.py", "ab.py", True),
        ("src", "src/a.py", False),
        ("app/[id].py", "app/[id].py", True),
        ("/".join(["**"] * 40) + "/x", "/".join("a" * 60), False),
    ],
)
def test_globs(pattern, path, fits):
    """One star stays in a folder, two do not, a bare name fits in any; time does not explode."""
    assert fits == glob_match(pattern, path)
