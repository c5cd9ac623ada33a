"""What sessions propose: no more at once than somebody looks through, and nothing that waits for ever behind what is known."""

import os

from gitmem.app import open_app
from gitmem.model.item import DECISION, Item
from gitmem.services import proposals
from tests.cli.conftest import Mem

TOWNS = (
    "lisbon", "madrid", "porto", "berlin", "vienna", "oslo", "dublin", "athens", "rome", "paris", "prague", "warsaw", "sofia", "riga", "tallinn", "vilnius", "zagreb", "skopje",
    "bern", "monaco",
)  # fmt: skip
ITEMS = [Item(DECISION, f"Serve {town} from the {town[::-1]} cluster", confidence=0.9) for town in TOWNS]


def propose(mem: Mem, session: str) -> int:
    """Propose as the end of a session does; return how many are new."""
    with open_app(str(mem.folder), dict(os.environ)) as app:
        made = proposals.propose(
            app.store("private"),
            app.writer(session=session),
            ITEMS,
            session,
            "a session",
            lambda: [i for _, i in app.indexes()],
            [app.store("shared")],
        )
        return len(made)


def test_a_session_fills_the_inbox_to_a_measure_and_goes_on_when_there_is_room(mem: Mem) -> None:
    """Each compaction of a long session reads it anew: what was looked through makes room for what came later."""
    assert [propose(mem, "s1"), propose(mem, "s1")] == [proposals.MOST, 0]
    rows = mem("inbox", "--json").json
    mem("inbox", "--accept", rows[0]["id"], "--reject", rows[1]["id"], "--reject", rows[2]["id"])
    assert propose(mem, "s1") == 3
    assert propose(mem, "s1") == 0
    mem("inbox", "--accept-all")
    assert propose(mem, "s1") == len(TOWNS) - proposals.MOST - 3
    assert {row["title"] for row in mem("list", "--all", "--json").json if row["kind"] == "memory"} | {r["title"] for r in rows} == {
        i.text for i in ITEMS
    }
