"""Where a record applies: what the user types, what is remembered of the code, and finding it again."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.errors import UserError
from gitmem.services.anchors import attach, parse, place

CODE = "import os\n\n\nclass Pool:\n    def get(self):\n        return self.free.pop()\n\n    def put(self, one):\n        self.free.append(one)\n"
LINES = CODE.split("\n")


@pytest.mark.parametrize(
    ("spec", "want"),
    [("src/a.py", {"path": "src/a.py"}), ("./src/a.py", {"path": "src/a.py"}), ("src\\a.py", {"path": "src/a.py"}), ("a.py:12", {"path": "a.py", "lines": [12, 12]}), ("a.py:12-20", {"path": "a.py", "lines": [12, 20]}),
     ("a.py#Pool.get", {"path": "a.py", "symbol": "Pool.get"}), ("a.py:3#Pool", {"path": "a.py", "lines": [3, 3], "symbol": "Pool"}), ("migrations/**", {"glob": "migrations/**"}), ("src/", {"path": "src"}),
     (" a b.py ", {"path": "a b.py"}), ("é/漢.py:1", {"path": "é/漢.py", "lines": [1, 1]})],
)  # fmt: skip
def test_place_as_it_is_typed(spec, want):
    """A path, lines, a symbol or a glob."""
    assert want == parse(spec)


@pytest.mark.parametrize(
    "spec", ["", " ", "/etc/passwd", "../x", "a/../../x", "a.py:0", "a.py:5-3", "a.py:x", ":3", "#x", "a.py:1-2-3", "\\etc", "..\\x"]
)
def test_place_outside_or_nonsense_is_refused(spec):
    """What leads out of the repository, or names no line, is refused with a hint."""
    with pytest.raises(UserError):
        parse(spec)


@pytest.mark.parametrize("spec", ["..", "a/..", "a/b/..", "../**", "a/../**", "a.py:" + "9" * 5000])
def test_folder_above_is_refused(spec):
    """So is a path that ends above where it began."""
    with pytest.raises(UserError):
        parse(spec)


def test_code_is_remembered_with_what_stands_around_it():
    """The anchored lines, three before and three after, and the file's blob."""
    made = attach(parse("pool.py:5-6"), CODE, "b" * 40)
    assert {
        "path": "pool.py",
        "lines": [5, 6],
        "blob": "b" * 40,
        "context": {"before": LINES[1:4], "lines": LINES[4:6], "after": LINES[6:9]},
    } == made


def test_symbol_gets_its_line():
    """A symbol without lines is looked up."""
    assert ([4, 4], [8, 8]) == tuple(attach(parse(f"pool.py#{s}"), CODE, "b")["lines"] for s in ("Pool", "Pool.put"))
    assert "lines" not in attach(parse("pool.py#Nothing"), CODE, "b")


@pytest.mark.parametrize(
    "line",
    [
        "export async function load(x) {",
        "pub(crate) fn load() {",
        "const load = () => 1",
        "func load() error {",
        "interface load {",
        "  def load(self):",
    ],
)
def test_definitions_of_other_languages(line):
    """Functions, classes and constants of the usual languages are found by name."""
    assert [2, 2] == attach({"path": "x", "symbol": "load"}, f"// load is called here\n{line}\n", "b")["lines"]


def test_lines_past_the_end():
    """A first line past the end is refused; a last one is cut."""
    with pytest.raises(UserError, match="10 lines"):
        attach(parse("pool.py:99"), CODE, "b")
    assert [9, 10] == attach(parse("pool.py:9-99"), CODE, "b")["lines"]


def test_long_lines_are_cut():
    """A minified file does not fill the record."""
    made = attach(parse("a.js:1-40"), "\n".join(["x" * 5000] * 60), "b")
    assert (20, 200) == (len(made["context"]["lines"]), len(made["context"]["lines"][0]))


# -- found again


def spot(text: str, spec: str = "pool.py:5", blob: str = "") -> tuple[int, int, str]:
    return place(attach(parse(spec), CODE, "old"), text.split("\n"), blob)


def test_same_blob_is_the_same_place():
    """An unchanged file needs no look."""
    assert (5, 5, "same") == spot("anything\n" * 20, blob="old")


def test_moved_lines_are_followed():
    """Lines put above or taken away move the place."""
    assert (8, 8, "same") == spot("# a\n# b\n# c\n" + CODE)
    assert (2, 2, "same") == spot("\n".join(LINES[3:]))


def test_indented_code_is_the_same():
    """Code put into a block is found."""
    assert (6, 6, "same") == spot("if True:\n" + "\n".join("    " + line for line in LINES))


def test_of_two_equal_lines_the_one_in_its_surroundings_is_meant():
    """A line that occurs twice is told apart by what stands around it."""
    text = "x\n    def get(self):\n        pass\n\n\n" + CODE
    assert (10, 10, "same") == spot(text)


def test_changed_line_is_found_by_likeness():
    """An edited line is found near by, and said to have changed."""
    assert (5, 5, "changed") == spot(CODE.replace("def get(self):", "def get(self, timeout):"))


def test_removed_code_is_adrift():
    """What is not there any more is shown on the file, not on a wrong line."""
    assert (1, 1, "adrift") == spot("completely\ndifferent\ncontent\n")
    assert (1, 1, "adrift") == spot("")


def test_block_keeps_its_length():
    """An anchor of several lines stays as long, within the file."""
    assert (8, 9, "same") == spot("# a\n# b\n# c\n" + CODE, "pool.py:5-6")
    assert (5, 6, "same") == spot("\n".join(LINES[:6]), "pool.py:5-9")


def test_file_without_lines():
    """An anchor to a file is at the file."""
    assert (1, 1, "file") == place({"path": "a"}, LINES)


@pytest.mark.parametrize(
    "anchor",
    [{}, {"lines": "x"}, {"lines": [1]}, {"lines": [1, "2"]}, {"lines": [-5, 10**9]}, {"lines": [5, 5], "context": "x"}, {"lines": [5, 5], "context": {"lines": "abc"}}, {"lines": [5, 5], "context": {"lines": [1, None]}},
     {"lines": [5, 5], "context": {"lines": ["def get(self):"], "before": 1, "after": None}}, {"lines": [5, 5], "context": {"lines": None}}, {"lines": [True, False]}, {"lines": [9, 3], "context": {"lines": ["x"]}}, {"lines": [0, 0], "blob": "b"}],
    ids=str,
)  # fmt: skip
def test_anchor_that_somebody_else_wrote(anchor):
    """An anchor of any shape gives a place inside the file."""
    for blob in ("", "b"):
        first, last, state = place(anchor, LINES, blob)
        assert 1 <= first <= last <= len(LINES)
        assert state in {"same", "changed", "adrift", "file"}


lines = st.lists(st.sampled_from(["def a():", "    return 1", "", "x = 1", "}", "漢字"]), min_size=1, max_size=20)


@settings(max_examples=200, deadline=None)
@given(old=lines, new=lines, data=st.data())
def test_place_is_always_inside_the_file(old, new, data):
    """For any two texts the place is inside the new one; the old text gives the old place."""
    first = data.draw(st.integers(1, len(old)))
    last = data.draw(st.integers(first, len(old)))
    anchor = attach({"path": "x", "lines": [first, last]}, "\n".join(old), "blob")
    assert (first, last, "same") == place(anchor, old, "blob")
    one, two, _ = place(anchor, new, "other")
    assert 1 <= one <= two <= len(new)
