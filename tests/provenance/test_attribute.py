"""Whose lines a commit's are: the examples that the pure part has to tell apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.agents.events import AgentEdit
from gitmem.agents.shell_writes import edited_names, writes
from gitmem.agents.written import changes, note
from gitmem.services.provenance.attribute import Version, attribute
from gitmem.services.provenance.own_lines import OwnLines
from gitmem.state.edits import Edit, row_of
from gitmem.text.line_marks import joined, mark, squeezed, unit

BASE = "import os\n\n\ndef people():\n    total = os.getpid()\n    return None\n"
AGENT = (
    "def agent_work(first, second):\n    value = combine(first, second, scale)\n    return None\n"
)


def edit(before: str, after: str, session: str = "A", number: int = 1, path: str = "a.py") -> Edit:
    """Return the edit that made one text of another by writing the whole file."""
    found = note(AgentEdit(path, before, after), None)
    assert found is not None
    return Edit(number, path, float(number), session, *row_of(found))


def owners(text: str, *edits: Edit, parent: str = "", path: str = "a.py") -> list[str]:
    """Return the session of each line of a file in a commit that adds what its parent has not."""
    old = parent.split("\n")
    added = {n for n, line in enumerate(text.split("\n")) if line not in old}
    out = [""] * text.count("\n")
    for part in attribute(
        [Version(path, path, text.encode(), added)], list(edits), OwnLines(), lambda _: []
    ):
        out[part.first - 1 : part.last] = [part.session] * (part.last - part.first + 1)
    return out


def lines_of(text: str, *edits: Edit, path: str = "a.py") -> dict[str, str]:
    """Return {line: session} of the lines of a new file that sessions wrote."""
    found = owners(text, *edits, path=path)
    return {line: found[n] for n, line in enumerate(text.split("\n")[:-1]) if found[n]}


def test_only_what_the_edit_put_there():
    """Neither the lines around it nor what was written later, however near."""
    after = f"{BASE}\n\n{AGENT}"
    later = f"{after}\n\ndef person(amount):\n    due = amount * 3\n    return None\n"
    assert lines_of(later, edit(BASE, after)) == dict.fromkeys(AGENT.split("\n")[:2], "A") | {
        "    return None": "A"
    }
    assert owners(later, edit(BASE, after))[5] == owners(later, edit(BASE, after))[-1] == ""


def test_a_function_between_that_ends_alike():
    """Of two lines that are alike the one beside its own is the session's."""
    after = f"{BASE}\n\n{AGENT}\n\ndef end():\n    os.abort()\n"
    between = after.replace(
        "\n\ndef end", "\n\ndef person(amount):\n    due = amount * 3\n    return None\n\n\ndef end"
    )
    found = owners(between, edit(BASE, after))
    assert [n for n, session in enumerate(found, 1) if session] == [9, 10, 11]


def test_two_edits_of_one_line():
    """The last counts; a whole file that is written again is not new but for its new lines."""
    one = edit(BASE, BASE.replace("getpid()", "getppid()  # first"), "A", 1)
    two = edit(
        BASE.replace("getpid()", "getppid()  # first"),
        BASE.replace("getpid()", "getsid(0)  # second"),
        "B",
        2,
    )
    assert lines_of(BASE.replace("getpid()", "getsid(0)  # second"), one, two) == {
        "    total = os.getsid(0)  # second": "B"
    }
    assert lines_of(BASE.replace("getpid()", "getppid()  # first"), one, two) == {
        "    total = os.getppid()  # first": "A"
    }
    assert lines_of(BASE.replace("getpid()", "getpgid(7)"), one, two) == {}


def test_boilerplate():
    """In another module it is nobody's; where the edit put it, it is the session's."""
    logger = "logger = logging.getLogger(__name__)"
    after = BASE.replace("import os\n", f"import os\n{logger}\n")
    assert lines_of(after, edit(BASE, after)) == {logger: "A"}
    assert lines_of(f"x = 1\n{logger}\n", edit(BASE, after), path="b.py") == {}
    assert (
        lines_of(f"import sys\n\n{logger}\n\n\ndef other():\n    sys.exit()\n", edit(BASE, after))
        == {}
    )


def test_moved_lines():
    """A function goes with its move, within a file and to another one; a copy of it is nobody's."""
    after = f"{BASE}\n\n{AGENT}"
    moved = f"{AGENT}\n\n{BASE}"
    assert set(lines_of(moved, edit(BASE, after)).values()) == {"A"}
    assert owners(f"x = 1\n\n\n{AGENT}", edit(BASE, after), path="b.py")[3:5] == ["A", "A"]
    there = [mark(line) for line in after.split("\n")]
    version = Version("b.py", "b.py", AGENT.encode(), range(3))
    assert attribute([version], [edit(BASE, after)], OwnLines(), lambda _: there) == []
    assert attribute([version], [edit(BASE, after)], OwnLines(), lambda _: []) != []


@pytest.mark.parametrize(
    "formatted",
    [
        "    value = combine(\n        first,\n        second,\n        scale,\n    )",
        "    value = combine(\n        first, second, scale\n    )",
        "\tvalue=combine(first,second,scale)",
        "    value = combine(first, second, scale);",
    ],
)
def test_formatted(formatted: str):
    """What a formatter made of an edit's line is the session's, and nothing beside it."""
    after = f"{BASE}\n\n{AGENT}"
    made = after.replace("    value = combine(first, second, scale)", formatted).replace(
        "total = os.getpid()", "total = (\n        os.getpid()\n    )"
    )
    told = lines_of(made, edit(BASE, after))
    assert set(formatted.split("\n")) <= set(told) and not any(
        "getpid" in line or "total" in line for line in told
    )
    changed = made.replace("second", "third")
    assert not set(formatted.replace("second", "third").split("\n")) & {
        line for line in lines_of(changed, edit(BASE, after)) if "third" in line
    }


def test_joined_by_a_formatter():
    """Lines that became one."""
    split = "def agent_work(\n    first,\n    second,\n):\n    return first\n"
    after = f"{BASE}\n\n{split}"
    made = after.replace("(\n    first,\n    second,\n)", "(first, second)")
    assert "def agent_work(first, second):" in lines_of(made, edit(BASE, after))


def test_line_ends_and_bytes():
    """CRLF, no end of the last line, and bytes that are not UTF-8 change nothing."""
    after = f"{BASE}\n\n{AGENT}"
    data = after.replace("\n", "\r\n").removesuffix("\r\n").encode() + b"\r\n# caf\xe9"
    version = Version("a.py", "a.py", data, range(20))
    (part,) = attribute([version], [edit(BASE, after)], OwnLines(), lambda _: [])
    assert (part.first, part.last) == (9, 11)


def test_what_an_ancestor_has():
    """Who writes a line again that a commit has had is somebody else."""
    after = f"{BASE}\n\n{AGENT}"
    version = Version("a.py", "a.py", after.encode(), range(12))
    assert attribute([version], [edit(BASE, after)], OwnLines({1: {8, 9, 10}}), lambda _: []) == []


def test_what_agents_say_of_an_edit():
    """Claude Code, Gemini CLI, a patch, notebooks: each tells the file before, or where its lines are."""
    old, new = "def f():\n    pass\n", "def f():\n    return 1\n"
    given = {"new_string": "return 1", "old_string": "pass"}
    patch = "*** Begin Patch\n*** Update File: a\n@@\n def f():\n-    pass\n+    return 1\n*** End Patch\n"
    cases = [
        (given, {"originalFile": old}, ""),
        (
            given,
            {
                "originalFile": old,
                "structuredPatch": [
                    {"oldStart": 1, "lines": [" def f():", "-    pass", "+    return 1"]}
                ],
            },
            "",
        ),
        (given, {"returnDisplay": {"originalContent": old, "newContent": new}}, ""),
        (given, None, ""),
        ({"edits": [given]}, {}, ""),
        ({"command": patch}, "ok", patch),
        ({"content": new}, {"originalFile": old}, ""),
        ({"new_source": "1"}, {"original_file": old, "updated_file": new}, ""),
    ]
    for data, answer, text in cases:
        (change,) = changes(data, answer, ["a"], text)
        found = note(change, new.encode())
        assert found is not None, (data, answer)
        made = Edit(1, "a", 1.0, "A", *row_of(found))
        assert lines_of(new, made, path="a") == {"    return 1": "A"}, (data, answer)
    assert changes({"content": new}, {}, ["a"], "") == []  # what stood there before is not known
    (created,) = changes({"content": new}, {"type": "create", "originalFile": None}, ["a"], "")
    assert len(lines_of(new, Edit(1, "a", 1.0, "A", *row_of(note(created, None))), path="a")) == 2
    (twice,) = changes({"new_string": "x = 1", "old_string": "y"}, None, ["a"], "")
    assert note(twice, b"x = 1\nx = 1\n") is None  # either may be it


def test_what_commands_write():
    """Here-documents, echo and printf tell their texts; what brings others' text in names no files."""
    command = "cd app && cat > a.py <<'END'\nimport os\n\nx = 1\nEND\necho 'y = 2' >> a.py; printf '%s\\n' one two | tee b.txt"
    assert [(one.path, one.text, one.append) for one in writes(command)] == [
        ("app/a.py", "import os\n\nx = 1\ny = 2\n", False)
    ]
    assert writes("grep 'def f' a.py > /dev/null && git commit -m 'x > y'")[:0] == []
    assert "a.py" in edited_names("sed -i s/x/y/ a.py")
    assert (
        edited_names("git checkout main -- a.py")
        == edited_names("black a.py")
        == edited_names("cp $(ls) a.py")
        == []
    )


@given(st.lists(st.text("ab(),[]{} '\"\t", max_size=12), min_size=1, max_size=5))
def test_joined_lines_are_the_line(lines):
    """The CRC of lines that are joined is that of the line which they make."""
    rows = [line for line in squeezed("\n".join(lines).encode()) if line.rstrip(b",;")]
    text = b""
    for number, row in enumerate(rows):
        following = rows[number + 1] if number + 1 < len(rows) else b")"
        text += row.rstrip(b",;") + (
            b"," if row.endswith(b",") and following[:1] not in (b")", b"]", b"}") else b""
        )
    whole = unit(text)
    if rows and not text.endswith((b",", b";")):
        assert joined([unit(row) for row in rows]) == (whole.mark, whole.length)


def test_edits_of_other_files_that_cannot_be_it():
    """Only an edit that wrote one of the lines in question is laid beside what it changed."""
    asked = []

    class Asked(OwnLines):
        def own(self, edit: Edit) -> list[int]:
            asked.append(edit.path)
            return super().own(edit)

    moved = "def moved_from_elsewhere(first, second):\n    return combine(first, second)\n"
    others = [
        edit("", f"{line}\n" * 3, number=n, path=f"{n}.py")
        for n, line in enumerate(["x = 1", "y = 2"], 2)
    ]
    version = Version("a.py", "a.py", (BASE + moved).encode(), range(6, 8))
    (part,) = attribute([version], [edit("", moved, path="b.py"), *others], Asked(), lambda _: [])
    assert (part.first, part.last, asked) == (7, 8, ["b.py"])
