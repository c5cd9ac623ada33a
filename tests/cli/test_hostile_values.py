"""A record that somebody else committed may hold anything in any field: every command still works."""

import contextlib
from typing import Any

import pytest

from gitmem.errors import InvalidRecord
from gitmem.records.kinds import PREFIX
from gitmem.records.record import Record, canonical
from gitmem.store import operations
from gitmem.store.store import Message
from tests.cli.conftest import Mem
from tests.conftest import CLOCK, new_store

FIELDS = (
    "anchors anchors_code confirmed done expires facts files fix commits last_seen links settled "
    "sources supersedes tags topics triggers verify workaround state"
).split()
VALUES: list[Any] = [
    5,
    "text",
    [],
    [1],
    {"a": 1},
    [{"id": "x", "what": [1]}],
    [{"lines": [1, "a"]}],
    [{"path": "a.txt", "lines": 7}],
    {"at": [1], "by": {}, "words": 3},
]


def test_no_value_stops_a_command(mem: Mem) -> None:
    """Each field of each kind with each value: what is no record is damaged, the rest is shown."""
    mem.add("A fact of my own", "-t", "decision")
    store = new_store(mem.folder)
    now = CLOCK.stamp()
    common = {"created": now, "updated": now, "rev": 1, "tags": ["proposed"], "origin": "extracted"}
    todo = []
    for kind in ("memory", "gotcha", "event", "session", "snapshot"):
        for field in FIELDS:
            for value in VALUES:
                id = f"{PREFIX[kind]}-{CLOCK.ulid()}"
                fields = {**common, field: value}
                with contextlib.suppress(InvalidRecord):  # in a store it is a damaged file
                    made = canonical(Record(id, kind, f"{kind} {field}", "text", fields))
                    todo.append(operations.put(made))
    assert len(todo) > 300
    store.write(todo, Message("add", "poison", ()))
    store.objects.close()

    assert "A fact of my own" in mem("list", "--limit", "10000").out
    for command in (
        "page summary",
        "inbox --all",
        "session briefing",
        "search text",
        "status",
        "gotcha list",
    ):
        mem(*command.split())
    ids = mem("list", "--all", "--limit", "10000", "--format", "{id}").out.split()
    mem("show", *ids)


def test_the_largest_revision_is_no_end(mem: Mem) -> None:
    """A record whose revision is the largest number can still be changed."""
    id = mem.add("A fact", "-t", "decision")
    store = new_store(mem.folder)
    before = store.get(id).record
    store.write([operations.put(before.change(rev=2**53 - 1), before)], Message("edit", "x", (id,)))
    store.objects.close()
    mem("pin", id)
    mem("edit", id, "--title", "Another title")
    assert mem.show(id)["title"] == "Another title"


@pytest.mark.parametrize("shape", ["cycle", "itself"])
def test_of_two_that_supersede_each_other_the_newer_holds(mem: Mem, shape: str) -> None:
    """A cycle, and a record that supersedes itself, hide no knowledge."""
    old, new = mem.add("Use Oracle", "-t", "decision"), mem.add("Use DB2", "-t", "decision")
    store = new_store(mem.folder)
    for id, other in ((old, new), (new, old)) if shape == "cycle" else ((new, new),):
        before = store.get(id).record
        put = operations.put(before.change(supersedes=[other], rev=2), before)
        store.write([put], Message("edit", "x", (id,)))
    store.objects.close()
    shown = mem("page", "summary").out
    assert "Use DB2" in shown
    assert ("Use Oracle" in shown) is (shape == "itself")
