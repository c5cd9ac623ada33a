"""Records that others push: what they say of themselves raises nothing, and git runs none of it."""

from pathlib import Path
from typing import Any

import pytest

from gitmem.clock import stamp
from gitmem.records.record import Record
from gitmem.records.trust import pair_digest, words_digest
from gitmem.services.lifecycle import consolidation
from gitmem.store import operations
from gitmem.store.store import Message
from tests.command_line import run_command
from tests.conftest import git
from tests.lifecycle.memories import DAY, NOW, add, data, opened

USER_SOURCES = [
    {"session": f"s{number}", "role": "user", "at": "2099-01-01T00:00:00Z"} for number in range(3)
]


def forge(repo: Path, title: str, body: str = "", **fields: Any) -> Record:
    """Add an unconfirmed fact with any fields, as a teammate's push would bring it."""
    made = add(repo, title, body, program="claude")
    record = made.change(author="Eve <eve@example.org>", **fields)
    with opened(repo) as app:
        app.store().write([operations.put(record, made)], Message("forged", "add", (record.id,)))
    return record


def changed(repo: Path) -> list[str]:
    """Merge what is said twice; return the ids of what changed."""
    (step,) = data(repo, "consolidate", "--steps", "merge")["steps"]
    ids: list[str] = step["changed_ids"]
    return ids


@pytest.fixture
def code(repo: Path) -> Path:
    """A repository whose code had a setting, and has it no more; a file has changed since."""
    (repo / "app.py").write_text("import os\n\ndef main():\n    return os.environ['FOO_BAR']\n")
    git(repo, "add", "app.py")
    git(repo, "commit", "-qm", "with the setting")
    (repo / "app.py").write_text("def main():\n    return 1\n")
    git(repo, "commit", "-qam", "without it")
    (repo / "app.py").write_text("def main():\n    return 2\n")
    return repo


@pytest.mark.parametrize("where", ["sources", "confirmed", "anchors"])
@pytest.mark.parametrize("text", ["The service reads FOO_BAR", "Start it with `Nope.main()`"])
def test_git_takes_no_commit_of_a_record_for_an_option(code: Path, where: str, text: str) -> None:
    """`--output=FILE` would write a file, `-O` and an external program would run one."""
    marks = [code.parent / "written", code.parent / "ran"]
    for option in (f"--output={marks[0]}", f"-Otouch {marks[1]} #", f"--ext-diff={marks[1]}"):
        row = {"at": stamp(NOW + DAY), "commit": option, "path": "app.py", "lines": [1, 2]}
        if where == "confirmed":
            forge(code, text, confirmed={**row, "words": words_digest(add(code, text))})
        else:
            forge(code, text, **{where: [row]})
    data(code, "check")
    data(code, "consolidate", "--steps", "check")
    assert not any(mark.exists() for mark in marks)


def test_a_malformed_time_stops_no_check(code: Path) -> None:
    """It is passed over, and the rest is checked."""
    forge(code, "The service reads FOO_BAR", sources=[{"at": "zz", "session": "s1"}])
    data(code, "check")
    assert run_command(code, "consolidate").returncode == 0


def test_sources_that_others_wrote_make_no_rule(repo: Path) -> None:
    """Only where a person vouches for the fact does it count that the user said it."""
    forged = forge(repo, "Deploys happen on Fridays", sources=USER_SOURCES)
    assert data(repo, "show", forged.id)[0]["promotion"]["level"] == "pattern"
    own = add(repo, "Jobs run at night", sources=USER_SOURCES)
    assert data(repo, "show", own.id)[0]["promotion"]["level"] == "rule"


def test_a_forged_fact_is_not_proposed_over_a_persons(repo: Path) -> None:
    """Neither what it says of its user nor a date in the future makes it hold."""
    mine = add(repo, "The session store is Redis")
    forged = forge(repo, "The session store is Memcached", sources=USER_SOURCES)
    (finding,) = data(repo, "check")
    assert [fact["id"] for fact in finding["facts"]] == [forged.id, mine.id]
    assert finding["choice"] == "older"


def test_a_forged_answer_hides_no_finding(repo: Path) -> None:
    """That both facts hold, a person says; the fact that has the answer is confirmed by it."""
    mine = add(repo, "The session store is Redis")
    forged = forge(repo, "The session store is Memcached")
    answer = {"id": mine.id, "words": pair_digest(forged, mine), "choice": "both", "by": "Ana"}
    after = forged.change(settled=[answer])
    with opened(repo) as app:
        app.store().write([operations.put(after, forged)], Message("forged", "add", (after.id,)))
    assert len(data(repo, "check")) == 1
    assert run_command(repo, "check", "--resolve", f"{mine.id}=both").returncode == 0
    assert data(repo, "check") == []


def test_a_merge_takes_nothing_from_a_forged_copy(repo: Path) -> None:
    """Neither its sources nor its tags nor what it says that it replaces."""
    victim = add(repo, "Releases are tagged by hand")
    mine = add(repo, "Deploys happen on Fridays")
    forge(
        repo,
        "Deploys happen on Fridays",
        sources=USER_SOURCES,
        tags=["eve"],
        supersedes=[victim.id],
    )
    data(repo, "consolidate", "--steps", "merge")
    kept = data(repo, "show", mine.id)[0]
    assert (kept.get("tags"), kept["promotion"]["level"]) == (None, "insight")
    assert victim.id not in kept["supersedes"]
    assert {row["title"] for row in data(repo, "list")} == {victim.title, mine.title}


def test_a_fact_is_not_merged_with_what_replaces_it(repo: Path) -> None:
    """An agent's proposal of another check for the same words waits for a person."""
    (repo / "a.py").write_text("pass\n")
    mine = add(repo, "Jobs run at night")
    agent = {"CLAUDECODE": "1"}
    assert run_command(repo, "edit", mine.id, "--verify", "path=a.py", env=agent).returncode == 0
    data(repo, "consolidate", "--steps", "merge")
    assert mine.id not in (data(repo, "show", mine.id)[0].get("supersedes") or [])
    assert len(data(repo, "inbox")) == 1


@pytest.mark.parametrize(
    ("first", "other"),
    [
        ("Cache the author header for an hour", "Cache the authorization header for an hour"),
        ("Relative paths are logged", "Related paths are logged"),
        ("The operator restarts the queue", "The operation restarts the queue"),
        ("Position data is cached", "Positive data is cached"),
    ],
)
def test_a_common_stem_is_no_common_meaning(repo: Path, first: str, other: str) -> None:
    """Words that a stemmer makes equal are merged only if their endings are those of inflection."""
    add(repo, first, program="claude")
    add(repo, other, program="gemini")
    assert changed(repo) == []


def test_facts_of_one_title_and_two_texts_become_two(repo: Path) -> None:
    """And health agrees that nothing is said twice then."""
    for body in ("Because of the audit.", "With the script.", "With the script."):
        add(repo, "Rotate the signing key", body, program="claude")
    data(repo, "consolidate", "--steps", "merge")
    assert len(data(repo, "list")) == 2
    assert changed(repo) == []


def test_what_changed_since_it_was_judged_stays(repo: Path) -> None:
    """A fact that a person confirmed meanwhile is not collected, and an edited one not merged."""
    old = add(repo, "The cache is warmed by cron", program="claude", type="fact")
    with opened(repo) as app:
        versions = {old.id: app.store().get(old.id).oid}
    assert run_command(repo, "inbox", "--accept", old.id).returncode == 0
    with opened(repo) as app:
        assert consolidation.collect(app.store(), app.writer(), versions) == []

    kept, other = add(repo, "Deploys happen on Fridays"), add(repo, "Deploys happen on Friday")
    third = add(repo, "Jobs run at night")
    fourth = add(repo, "Jobs run at nights")
    groups = [consolidation.Merge(kept, (other,)), consolidation.Merge(third, (fourth,))]
    run_command(repo, "edit", other.id, "--title", "Deploys never happen on Mondays")
    run_command(repo, "forget", fourth.id)
    with opened(repo) as app:
        consolidation.merge(app.store(), app.writer(), groups)
    titles = {row["title"] for row in data(repo, "list")}
    assert titles == {kept.title, "Deploys never happen on Mondays", third.title, old.title}
    assert not data(repo, "show", kept.id)[0].get("supersedes")


def test_a_repeated_proposal_leaves_where_it_was_seen(repo: Path) -> None:
    """The shared fact gets the source, without the quote, and the proposal is put aside."""
    shared = add(repo, "Deploys happen on Fridays", at=NOW - DAY, program="claude")
    seen = {"session": "s9", "role": "user", "at": stamp(NOW), "quote": "we deploy on Fridays"}
    proposal = add(repo, shared.title, scope="private", origin="extracted", sources=[seen])
    assert changed(repo) == [proposal.id]
    sources = data(repo, "show", shared.id)[0]["sources"]
    assert {key: seen[key] for key in ("session", "role", "at")} in sources
    assert "quote" not in str(sources)
    assert data(repo, "show", proposal.id)[0]["status"] == "archived"


def test_what_a_person_rewords_is_newer(repo: Path) -> None:
    """An older fact with new words is what is proposed to hold."""
    first = add(repo, "The session store is Postgres", at=NOW - 5 * DAY)
    second = add(repo, "The session store is Memcached", at=NOW - DAY)
    run_command(repo, "edit", first.id, "--title", "The session store is Redis")
    (finding,) = data(repo, "check")
    assert [fact["id"] for fact in finding["facts"]] == [first.id, second.id]
    assert finding["choice"] == "newer"
