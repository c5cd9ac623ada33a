"""Fields of a record that this version does not know are shown as they are."""

import os

from gitmem.app import open_app
from gitmem.store import operations
from gitmem.store.store import Message
from tests.cli.conftest import Mem

UNKNOWN = {
    "fix": "not JSON",
    "n": 7,
    "reason": "somebody's",
    "pattern": ["a", "b"],
    "snippet": "s",
    "committer": "c",
    "vouchers": {"x": 1},
    "code_now": "here",
}


def test_unknown_fields_have_the_names_of_columns(mem: Mem) -> None:
    """By every command that reads whole records; lists, from the index, have none of them."""
    id = mem.add("T")
    with open_app(mem.folder, dict(os.environ)) as app:
        record = app.get(id)[1].record.change(**UNKNOWN)
        app.store("shared").write([operations.put(record)], Message("edit", "edit", (id,)))

    shown = mem.show(id)
    (past,) = mem("list", "--at", "now", "--json").json
    pinned = mem("edit", id, "--title", "U", "--json").json
    for row in (shown, past, pinned):
        assert {name: row.get(name) for name in UNKNOWN} == UNKNOWN
    (row,) = mem("list", "--json").json
    assert not row.keys() & UNKNOWN.keys()
    assert "not JSON" in mem("show", id, "--format", "{fix}").out
    mem("show", id)
