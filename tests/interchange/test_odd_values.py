"""Whatever a file of another tool holds, an import says so and goes on."""

import json
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.services.interchange import formats
from gitmem.services.interchange.item import ForeignItem, ForeignSource
from tests.cli.conftest import Mem
from tests.conftest import git
from tests.interchange.conftest import imported, record, unmapped, write

KEYS = {
    "beads": "id title description design status priority issue_type created_by updated_at "
    "closed_at close_reason labels dependencies comments pinned created_at".split(),
    "mcp-memory": "type name entityType observations from to relationType".split(),
    "aios": "id title description category severity workaround relatedFiles source resolved "
    "resolvedAt resolvedBy createdAt wrong right reason discoveredAt tags".split(),
    "genius": "id decision reason timestamp tags pattern context task status error solution".split(),
    "ctxmem": "id ts type path title content tags supersedes".split(),
    "mem0": "id memory hash metadata created_at updated_at run_id categories".split(),
    "agentmemory": "type title content concepts files createdAt updatedAt isLatest sessionIds".split(),
}
FILES: dict[str, tuple[str, Callable[[list[Any]], str]]] = {
    "beads": (".beads/issues.jsonl", lambda rows: _lines(rows)),
    "mcp-memory": ("memory.jsonl", lambda rows: _lines(rows)),
    "aios": (".aiox/gotchas.json", json.dumps),
    "genius": (".genius/memory/decisions.json", json.dumps),
    "ctxmem": (".ctxmem/memory.jsonl", lambda rows: _lines(rows)),
    "mem0": ("export.json", json.dumps),
    "agentmemory": (
        "standalone.json",
        lambda rows: json.dumps({"mem:memories": dict(enumerate(rows))}),
    ),
}
ONE_FILE = frozenset({"mcp-memory", "mem0", "agentmemory"})  # the others are read by their folder
_TEXT = st.sampled_from(["entity", "relation", "closed", "2025-01-01", "x", "", "\0", "é\u202e"])
_LEAF = st.none() | st.booleans() | st.integers() | st.floats() | _TEXT | st.text(max_size=12)
_VALUE = st.recursive(
    _LEAF,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=6,
)


def _lines(rows: list[Any]) -> str:
    return "\n".join(map(json.dumps, rows))


def _read(folder: Path, name: str, rows: list[Any]) -> list[ForeignItem]:
    inner, text_of = FILES[name]
    path = folder / inner
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text_of(rows), "utf-8")
    source = path if name in ONE_FILE else path.parent
    return list(formats.items_of(ForeignSource(name, str(source))))


@pytest.mark.parametrize("name", FILES)
@settings(max_examples=60)
@given(data=st.data())
def test_any_json_is_read(
    tmp_path_factory: pytest.TempPathFactory, name: str, data: st.DataObject
) -> None:
    """No value of any field ends the reading; what comes out has texts and times."""
    row = st.dictionaries(st.sampled_from(KEYS[name]), _VALUE)
    rows = data.draw(st.lists(row | _VALUE, max_size=4))

    for item in _read(tmp_path_factory.mktemp("odd"), name, rows):
        assert item.source_id
        assert item.title.strip()
        for at in (item.created, item.updated, item.done):
            assert at == "" or at.endswith("Z")
        assert all(isinstance(text, str) for text in (*item.tags, *item.files, *item.links))


def test_odd_values_do_not_stop_the_import(mem: Mem) -> None:
    """An entry that cannot be a record is named, and the next one is written."""
    odd = [
        {"id": "1", "title": "Too long", "description": "x " * 40_000},
        {"id": "2", "title": "Deep", "status": "x", "metadata": json.loads("[" * 30 + "]" * 30)},
        {"id": "3", "title": "A number that is too large", "n": 10**400},
        {"id": "4", "title": "Odd\u202e\0\u2028 title", "labels": ["\0", "a\nb"]},
        {"id": "5", "title": "Not finite", "n": float("inf")},
        {"id": "6", "title": "\u200b"},
        {"id": "7", "title": "Odd keys", "a b": 1, "": 2, "\0": 3},
        {"id": "8", "title": "Any time", "created_at": 10**400, "closed_at": -(10**400)},
        {"id": "9", "title": "Fine"},
    ]
    write(mem, {".beads/issues.jsonl": _lines(odd)})

    found = imported(mem, ".beads")

    assert [title for title, outcome in found.items() if outcome != "new"] == ["Too long", "\u200b"]
    assert unmapped(mem, ".beads") == {
        "2: status, metadata": "a field is nested too deeply.",
        "3: n": "a number is too large.",
        "5: n": "a number is not finite.",
    }


@pytest.mark.parametrize(
    ("statement", "is_read"),
    [
        ("DROP TABLE session_summaries", True),
        ("DROP TABLE observations", True),
        ("ALTER TABLE observations DROP COLUMN created_at_epoch", False),
    ],
)
def test_another_schema_of_claude_mem(
    mem: Mem, claude_mem: Callable[..., Path], statement: str, is_read: bool
) -> None:
    """A table that is missing is passed over; a column that is needed is named."""
    path = claude_mem()
    with closing(sqlite3.connect(path)) as db:
        db.execute(statement)
        db.commit()

    left = unmapped(mem, "--from", "claude-mem", "--project", "shop")

    assert ("claude-mem.db" not in left) == is_read


ODD: tuple[Any, ...] = (
    None,
    True,
    5,
    1.5,
    "x",
    [],
    [5],
    {},
    {"a": 1},
    [{"a": [1]}],
    "\u202e",
    10**30,
)
OWN_FIELDS = (
    "body type tags anchors links supersedes status done resolved expires severity importance category "
    "decay_rate occurrences triggers created updated workaround verify fixes project agent muted"
).split()


def test_odd_fields_of_our_own_export(mem: Mem) -> None:
    """Each is left out with its entry, or taken for none; the others are imported."""
    rows = [
        {"id": f"{kind}-01{number:024d}", "kind": name, "title": f"{field} {number}", field: value}
        for kind, name in (("mem", "memory"), ("got", "gotcha"))
        for number, (field, value) in enumerate((f, v) for f in OWN_FIELDS for v in ODD)
    ]
    write(mem, {"export.json": json.dumps({"gitmem_export": 1, "facts": rows})})

    found = imported(mem, "export.json")

    assert len(found) >= len(OWN_FIELDS) * len(ODD)
    assert set(found.values()) <= {"new", "not a record"}
    assert sum(outcome == "new" for outcome in found.values()) > len(OWN_FIELDS)


def test_a_secret_in_a_key_is_masked(mem: Mem) -> None:
    """As one in a value is."""
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    row = {"id": "1", "title": "A title", "meta": {token: 1, "inner": [{token: "x"}]}}
    write(mem, {".beads/issues.jsonl": json.dumps(row)})

    imported(mem, ".beads")

    assert token not in json.dumps(record(mem, "A title"))
    blobs = git(
        mem.folder, "cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)"
    )
    names = [line.split()[0] for line in blobs.splitlines() if line.endswith(" blob")]
    assert [name for name in names if token in git(mem.folder, "cat-file", "-p", name)] == []


def test_a_link_out_of_the_repository_is_no_store_of_it(mem: Mem, tmp_path: Path) -> None:
    """Who made the repository made the link; a path that is typed may be one."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "issues.jsonl").write_text('{"id": "1", "title": "From elsewhere"}')
    (mem.folder / ".beads").symlink_to(outside)

    assert "no " in mem("import", "--from", "beads", code=1).err
    assert imported(mem, ".beads") == {"From elsewhere": "new"}


def test_a_pipe_is_no_store(mem: Mem) -> None:
    """Nobody waits for what would come out of it."""
    os.mkfifo(mem.folder / "memory.jsonl")

    assert "no store" in mem("import").err


def test_who_finished_a_fact_is_not_believed(mem: Mem) -> None:
    """Only that it is done."""
    by = {"at": "2025-01-01T00:00:00Z", "by": "Ada <ada@example.org>"}
    rows = [
        {"id": f"mem-01{0:024d}", "kind": "memory", "title": "Task", "type": "task", "done": by},
        {"id": f"mem-01{1:024d}", "kind": "memory", "title": "Rule", "type": "rule", "done": by},
        {"id": f"got-01{2:024d}", "kind": "gotcha", "title": "Trap", "resolved": by},
    ]
    write(mem, {"export.json": json.dumps({"gitmem_export": 1, "facts": rows})})

    imported(mem, "export.json")

    shown = [record(mem, title) for title in ("Task", "Rule", "Trap")]
    assert "Ada" not in json.dumps(
        [{k: row.get(k) for k in ("completion", "done", "resolution", "resolved")} for row in shown]
    )
    assert shown[0]["status"] == shown[1]["status"]
    assert shown[0].get("completion") or shown[0].get("done")
    assert not (shown[1].get("completion") or shown[1].get("done"))
