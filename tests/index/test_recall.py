"""What search finds: questions with known answers, and why neighbours count."""

import contextlib
import os
import sqlite3

import pytest

from gitmem.app import open_app
from gitmem.index.contexts import MOST_DUE
from gitmem.index.named_author import rows_of_named
from gitmem.index.reader import NAME
from gitmem.records.record import make
from gitmem.store import operations
from gitmem.store.store import Message
from tests.index.conftest import content, rebuilt
from tests.index.recall_sets import fill, recall, talks


@pytest.mark.parametrize(
    ("style", "share", "rank"),
    [("begin", 0.73, 0.51), ("author", 0.75, 0.54), ("said", 0.74, 0.52), ("speaker", 0.77, 0.54)],
)
def test_questions_find_their_answers(repo, style, share, rank):
    """Ten hits hold three quarters of the answers, whatever the titles are: the beginning of the text, or who spoke and when."""
    turns, questions = talks()
    with open_app(str(repo), dict(os.environ), prefer="libgit2") as app:
        ids = fill(app.store(), turns, style)
        found = recall(app.index(), ids, questions)
    assert (True, True) == (found[0] >= share, found[1] >= rank), found


def records(app, rows: list[tuple[str, str, str, str]]) -> list[str]:
    """Write (minute, session, title, body); return their ids."""
    made = [
        make(
            "memory",
            f"mem-{app.clock.ulid()}",
            title,
            body,
            created=f"2026-01-01T00:{minute}:00Z",
            session=session,
        )
        for minute, session, title, body in rows
    ]
    app.store().write([operations.put(record) for record in made], Message("import", "import"))
    return [record.id for record in made]


def test_hits_that_stand_together_count_for_each_other(repo):
    """Of two that match alike, the one whose neighbour matches too comes first."""
    with open_app(str(repo), dict(os.environ)) as app:
        alone, *_ = records(
            app,
            [
                ("01", "ses-a", "The kiln burst", "It was loud."),
                ("02", "ses-a", "Lunch", "There was soup."),
                ("03", "ses-a", "Weather", "It rained."),
                ("11", "ses-b", "The kiln burst", "It was late."),
                ("12", "ses-b", "A kiln costs much", "We pay by month."),
                ("13", "ses-b", "Cups", "They are blue."),
            ],
        )
        hits = [hit["id"] for hit in app.index().search("kiln burst")]
    assert hits.index(alone) > 0


def test_a_title_that_neighbours_share_is_beside_none_of_them(repo):
    """Who spoke, and when, is found in that record's title, and not in all that stand around it."""
    rows = [
        (f"{n:02}", "ses-a", "Maya 2 March" if n % 2 else "Tomas 2 March", f"This is sentence {n}.")
        for n in range(10)
    ]
    with open_app(str(repo), dict(os.environ)) as app:
        ids = records(app, rows)
        hits = {hit["id"] for hit in app.index().search("maya")}
    assert {id for n, id in enumerate(ids) if n % 2} <= hits
    # at the ends of a session one neighbour is missing
    assert hits.isdisjoint(id for n, id in enumerate(ids) if not n % 2 and 1 < n < 8)


def test_contexts_that_writers_leave_are_there_for_a_search(repo, tmp_path):
    """Each write alone has its own words in the index at once; a search finds what was written beside them later."""
    with open_app(str(repo), dict(os.environ)) as app:
        app.index()
        with contextlib.closing(sqlite3.connect(repo / ".git/gitmem" / NAME)) as db:
            ids: list[str] = []
            for n in range(50):
                ids += records(app, [(f"{n:02}", "ses-a", f"Title {n}", f"The word{n} was said.")])
                row = db.execute(
                    "SELECT r.id FROM words w JOIN records r ON r.n = w.rowid WHERE words MATCH ?",
                    (f"word{n}",),
                )
                assert (ids[-1],) in row.fetchall()
                assert db.execute("SELECT COUNT(*) FROM due").fetchone()[0] <= MOST_DUE
            assert db.execute("SELECT COUNT(*) FROM due").fetchone()[0]
            beside = {hit["id"] for hit in app.index().search("word20")}
            assert set(ids[18:23]) == beside
            indexed = content(db)
        assert indexed["words"] == rebuilt(app.store(), tmp_path)["words"]


def asked_of(app, question: str) -> list[str]:
    """Return the titles that are found, best first."""
    return [hit["title"] for hit in app.index().search(question)]


def test_records_by_whom_a_question_names_come_first(repo):
    """By the first name or the whole; of two that are named, neither; an agent's too."""
    with open_app(str(repo), dict(os.environ)) as app:
        rows = [
            ("Retries stop after five minutes", "Ana Silva", "global"),
            ("Retries stop after five tries", "Bob", "global"),
            ("Retries stop after five errors", "Cem", "reviewer"),
        ]
        made = [
            make(
                "memory",
                f"mem-{app.clock.ulid()}",
                title,
                "",
                created="2026-01-01T00:00:00Z",
                author=author,
                agent=agent,
            )
            for title, author, agent in rows
        ]
        app.store().create()
        app.store().write([operations.put(record) for record in made], Message("import", "import"))
        silva, bob, reviewer = (title for title, *_ in rows)
        plain = asked_of(app, "when do retries stop?")
        assert asked_of(app, "when did Ana say that retries stop?")[0] == silva
        assert asked_of(app, "Ana Silva: retries stop")[0] == silva
        assert asked_of(app, "what does bob say, when do retries stop?")[0] == bob
        assert asked_of(app, "retries stop, says the reviewer")[0] == reviewer
        assert asked_of(app, "do retries stop for Ana and Bob?") == plain


@pytest.mark.parametrize(
    ("question", "is_named"),
    [
        ("do we mark paid invoices", False),
        ("Mark paid invoices?", False),
        ("Invoices are paid. Mark them?", False),
        ("do we mark paid invoices, as Mark Stone said", True),
        ("what does mark stone say of invoices", True),
        ("which invoices does Mark count as paid?", True),
        ("Mark decided what of invoices?", True),
        ("invoices by mark", True),
    ],
)
def test_a_first_name_that_is_an_everyday_word_names_nobody(question: str, is_named: bool):
    """Its capital, what stands beside it, or the rest of the name makes it a name."""
    rows = [(1, "Mark Stone", "global"), (2, "Ana Silva", "global")]
    assert rows_of_named(question, rows) == ([1] if is_named else [])
