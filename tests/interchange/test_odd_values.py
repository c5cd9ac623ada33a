"""Whatever a file of another tool holds, an import says so and goes on."""

import json
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
from tests.interchange.conftest import imported, unmapped, write

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
    is_file = name in {"mcp-memory", "mem0", "agentmemory"}
    return list(formats.items_of(ForeignSource(name, str(path if is_file else path.parent))))


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
        {"id": "8", "title": "Fine"},
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
