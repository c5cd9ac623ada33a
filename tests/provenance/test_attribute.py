"""Whose lines a commit's are: properties of the pure part, and the examples that it has to tell apart."""

from hypothesis import given
from hypothesis import strategies as st

from gitmem.agents.written import expanded, written
from gitmem.git.added_lines import Added
from gitmem.services.provenance.attribute import Part, attribute
from gitmem.state.edits import Edit
from gitmem.text.line_marks import WHOLE, mark, marks


def edit(n: int, session: str, *lines: str, path: str = "a.py", whole: bool = False) -> Edit:
    """Return an edit at the time `n`."""
    found = Edit(n, path, float(n), session, b"")
    found.marks = [*([WHOLE] if whole else []), *marks(lines)]
    return found


def owners(parts: list[Part]) -> dict[int, str]:
    """Return {line: session}."""
    return {line: part.session for part in parts for line in range(part.first, part.last + 1)}


LINES = st.lists(st.sampled_from(["", "}", "return value", "x = compute(total)", "if ready:", "  for item in items:", "pass"]), max_size=12)
EDITS = st.lists(st.tuples(LINES, st.sampled_from("ABC"), st.booleans()), max_size=6)


@given(LINES, EDITS, st.sets(st.integers(0, 5)), st.sampled_from(["", "M"]))
def test_each_line_has_one_owner_that_wrote_it(texts, given_edits, used, maker):
    """Lines are told once, in order, within what was added; a line that says something goes to a session that wrote it, or to the committer."""
    some = [edit(n, who, *lines, whole=whole) for n, (lines, who, whole) in enumerate(given_edits)]
    wrote = {who: {m for n, (lines, session, _) in enumerate(given_edits) if session == who for m in marks(lines)} for who in "ABC"}
    parts = attribute([Added("a.py", "a.py", [(5, texts)])], some, used, maker, 100.0)
    spans = [n for part in parts for n in range(part.first, part.last + 1)]
    assert spans == sorted(set(spans)) and all(5 <= n < 5 + len(texts) for n in spans)
    for part in parts:
        for n in range(part.first, part.last + 1):
            if part.edit is not None and len(texts[n - 5].strip()) >= 4:
                assert mark(texts[n - 5]) in wrote[part.session]
    if maker:
        assert len(spans) == len(texts)


@given(LINES)
def test_all_of_an_edit_is_its_sessions(texts):
    """What one session wrote in one go, and nobody else, is its."""
    found = owners(attribute([Added("a.py", "a.py", [(1, texts)])], [edit(1, "A", *texts)], ()))
    assert {found.get(n) for n, text in enumerate(texts, 1) if len(text.strip()) >= 4} <= {"A"}
    assert all(n in found for n, text in enumerate(texts, 1) if len(text.strip()) >= 4)


@given(st.text(max_size=40), st.text(min_size=1, max_size=20), st.text(max_size=20), st.text(max_size=40))
def test_parts_of_lines_are_whole_lines(before, new, old, after):
    """The marks of a fragment are marks of lines of the file."""
    content = before + new + after
    assert set(expanded(content, [(new, old)])) <= {mark(line) for line in content.splitlines()} | {mark(x) for x in new.splitlines()}


def test_a_line_that_stands_elsewhere_too():
    """The longest run of lines decides; what an earlier commit holds counts less; the first who wrote it is who wrote it."""
    texts = ["def second():", "    return value", "    # the end of it"]
    some = [edit(1, "A", "def first():", "    return value"), edit(2, "B", *texts)]
    assert owners(attribute([Added("a.py", "a.py", [(1, texts)])], some, ())) == {1: "B", 2: "B", 3: "B"}
    same = [edit(1, "A", "    return value"), edit(2, "B", "    return value")]
    assert owners(attribute([Added("a.py", "a.py", [(1, ["    return value"])])], same, ())) == {1: "A"}
    assert owners(attribute([Added("a.py", "a.py", [(1, ["    return value"])])], same, {1})) == {1: "B"}


def test_code_that_came_from_another_file():
    """A telling line is known there too; one as short as `pass` is not."""
    some = [edit(1, "A", "CONNECTIONS_AT_MOST = 20", "pass", path="b.py")]
    assert owners(attribute([Added("a.py", "a.py", [(1, ["CONNECTIONS_AT_MOST = 20"])])], some, ())) == {1: "A"}
    assert owners(attribute([Added("a.py", "a.py", [(1, ["pass"])])], some, ())) == {}


def test_what_agents_say_of_an_edit():
    """Claude Code's patch, Gemini CLI's diff, a patch, a whole file, parts of lines: each tells what was added."""
    line = mark("def f(): return 1")
    patch = [{"lines": ["-def f(): pass", "+def f(): return 1", " x"]}]
    assert written({"new_string": "return 1", "old_string": "pass"}, {"structuredPatch": patch}, ["a"], "") == ({"a": [line]}, [])
    diff = {"returnDisplay": {"fileDiff": "Index: a\n--- a\n+++ a\n@@ -1 +1 @@\n-def f(): pass\n+def f(): return 1\n"}}
    assert written({"new_string": "return 1"}, diff, ["a"], "") == ({"a": [line]}, [])
    codex = "*** Begin Patch\n*** Update File: a\n@@\n-def f(): pass\n+def f(): return 1\n*** Add File: b\n+x\n*** End Patch\n"
    assert written({"command": codex}, "ok", ["a", "b"], codex) == ({"a": [line], "b": [mark("x")]}, [])
    assert written({"content": "def f(): return 1\n\n"}, {}, ["a"], "") == ({"a": [WHOLE, line]}, [])
    assert written({"new_string": "return 1", "old_string": "pass"}, None, ["a"], "") == ({}, [("return 1", "pass")])
    assert expanded("def f(): return 1\ny", [("return 1", "pass")]) == [line]
    assert expanded("gone", [("return 1\nz", "pass\nz")]) == [mark("return 1")]
