"""What sessions propose: no more at once than somebody looks through, and nothing that waits for ever behind what is known."""

import os

from gitmem.app import open_app
from gitmem.records.items import DECISION, Item
from gitmem.services.sessions import proposals
from tests.cli.conftest import Mem
from tests.conftest import git

TOWNS = (
    "lisbon",
    "madrid",
    "porto",
    "berlin",
    "vienna",
    "oslo",
    "dublin",
    "athens",
    "rome",
    "paris",
    "prague",
    "warsaw",
    "sofia",
    "riga",
    "tallinn",
    "vilnius",
    "zagreb",
    "skopje",
    "bern",
    "monaco",
)
ITEMS = [Item(DECISION, f"Serve {town} from the {town[::-1]} cluster") for town in TOWNS]


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
    assert {
        row["title"] for row in mem("list", "--all", "--json").json if row["kind"] == "memory"
    } | {r["title"] for r in rows} == {i.text for i in ITEMS}


def found(mem: Mem, session: str, *texts: str) -> list[str]:
    """Propose decisions with these texts; return the titles of those that came into the inbox."""
    with open_app(str(mem.folder), dict(os.environ)) as app:
        made = proposals.propose(
            app.store("private"),
            app.writer(session=session),
            [Item(DECISION, text) for text in texts],
            session,
            "a session",
            lambda: [i for _, i in app.indexes()],
            [app.store("shared")],
        )
        return [record.title for record in made]


def test_what_was_rejected_does_not_come_back_in_other_words(mem: Mem) -> None:
    """A later session says it otherwise; what only looks like it is proposed all the same, and so is what was purged: its words are nowhere."""
    assert found(mem, "s1", "Use ruff for linting", "Cache the parsed config between requests")
    (ruff, cache) = sorted(mem("inbox", "--json").json, key=lambda row: row["title"], reverse=True)
    mem("inbox", "--reject", ruff["id"], "--reject", cache["id"], "--reason", "no")
    again = ["Ruff is used for linting", "The parsed config should be cached between requests"]
    assert found(mem, "s2", *again) == []
    assert mem("inbox", "--json").json == []
    other = ["Use ruff for formatting", "Never cache the parsed config between requests"]
    assert found(mem, "s3", *other) == other
    mem("forget", "--purge", ruff["id"], "--yes")
    assert found(mem, "s4", *again) == again[:1]


def test_a_long_text_that_was_rejected_does_not_come_back(mem: Mem) -> None:
    """The title of a proposal is cut; its end counts all the same."""
    long = f"The nightly export of the {' '.join(TOWNS)} offices is always written to the archive bucket of the accounting group and read from there"
    assert len(found(mem, "s1", long)) == 1
    mem("inbox", "--reject", mem("inbox", "--json").json[0]["id"])
    assert found(mem, "s2", long.replace("is always written", "is written")) == []
    assert len(found(mem, "s3", long.replace("read from there", "never read from there"))) == 1


def test_opposite_claims_are_proposed(mem: Mem) -> None:
    """What was rejected hides what says the same, and nothing that says the opposite."""
    assert found(
        mem, "s1", "Run the linter before the tests", "Copy staging data to production nightly"
    )
    for row in mem("inbox", "--json").json:
        mem("inbox", "--reject", row["id"])
    other = ["Run the tests before the linter", "Copy production data to staging nightly"]
    assert found(mem, "s2", *other) == other


def test_a_purged_text_is_not_kept_by_what_was_rejected(mem: Mem) -> None:
    """The words that a rejected proposal leaves are masked as all others are."""
    assert found(mem, "s1", "Call the vendor hunter2land for the export")
    mem("inbox", "--reject", mem("inbox", "--json").json[0]["id"])
    refs = [
        ref
        for ref in git(mem.folder, "for-each-ref", "--format=%(refname)").split()
        if "gitmem" in ref
    ]
    assert refs and any("hunter2land" in git(mem.folder, "log", "-p", ref) for ref in refs)
    mem("forget", "--purge", "--text", "hunter2land", "--yes")
    refs = [
        ref
        for ref in git(mem.folder, "for-each-ref", "--format=%(refname)").split()
        if "gitmem" in ref
    ]
    assert not any("hunter2land" in git(mem.folder, "log", "-p", ref) for ref in refs)
