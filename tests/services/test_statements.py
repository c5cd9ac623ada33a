"""What a session says of facts that it knew waits for a person's answer: done, no longer true, replaced."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import mem as mem_of
from tests.conftest import git
from tests.json_output import data_of
from tests.services.test_finishing import started  # noqa: F401 - a fixture
from tests.services.test_trust import Real, mem, run, section
from tests.services.test_trust import session as speak

CELERY = "Use Celery for the background jobs"


@pytest.fixture
def machine(repo: Path, started: list[Sequence[str]]) -> Real:  # noqa: F811
    return Real(repo)


@pytest.fixture
def celery(machine: Real, repo: Path) -> str:
    """The id of a decision that a person wrote before the sessions."""
    machine.now -= 7 * 86400
    id = data_of(mem(repo, "add", CELERY, "-t", "decision", "--json"))["id"]
    machine.now += 10 * 86400
    return str(id)


def asked(repo: Path) -> list[dict[str, Any]]:
    """Return what the inbox asks about facts."""
    rows = data_of(mem(repo, "inbox", "--json"))
    return [row for row in rows if row["kind"] == "statement"]


def decisions(repo: Path) -> list[str]:
    """Return the live decisions."""
    return [fact["title"] for fact in section(repo, "key_decisions")]


def test_what_is_taken_back_is_asked_about_and_forgotten(
    machine: Real, repo: Path, celery: str
) -> None:
    speak(machine, "Forget Celery.", id="s2")
    (one,) = asked(repo)
    assert (one["id"], one["claim"], one["said_by"]) == (celery, "ended", "user")
    assert one["quote"] == "Forget Celery."
    shown = run(repo, "inbox")
    assert "said to be no longer true in session s2" in shown
    assert 'said by the user: "Forget Celery."' in shown
    for view in (
        mem(repo, "page", "summary"),
        mem(repo, "session", "briefing"),
        mem(repo, "show", celery),
        machine.hook("SessionStart", "s3", source="startup", after=60),
    ):
        assert "said to be no longer true in session s2" in view
    assert decisions(repo) == [CELERY]  # nothing is changed before somebody answers
    mem(repo, "inbox", "--accept", celery)
    assert decisions(repo) == [] and asked(repo) == []
    assert "no longer true, as said in session s2" in "".join(
        git(repo, "grep", "-h", "reason", "refs/gitmem/heads/main", "--", "tombstones")
    )


def test_what_holds_all_the_same_is_not_asked_about_again(
    machine: Real, repo: Path, celery: str
) -> None:
    speak(machine, "Forget Celery.", id="s2")
    assert "still holds" in run(repo, "inbox", "--reject", celery)
    assert decisions(repo) == [CELERY] and asked(repo) == []
    assert "said to be" not in mem(repo, "page", "summary")
    speak(machine, "Forget Celery, really.", id="s4")
    assert [one["session"] for one in asked(repo)] == ["s4"]  # another session may say it anew


def test_what_is_replaced_gives_its_place_to_the_proposal(
    machine: Real, repo: Path, celery: str
) -> None:
    speak(machine, "Forget Celery, RQ is enough.", id="s2")
    (one,) = asked(repo)
    assert (one["id"], one["claim"]) == (celery, "replaced")
    assert machine.proposals() == ["RQ is enough."]
    shown = run(repo, "inbox")
    assert "said to be replaced in session s2" in shown and shown.count("RQ is enough.") == 2
    mem(repo, "inbox", "--accept", celery)
    assert decisions(repo) == ["RQ is enough."] and asked(repo) == []
    assert machine.proposals() == []
    (status,) = (row["status"] for row in data_of(mem(repo, "show", celery, "--json")))
    assert status == "archived"


def test_a_proposal_that_replaces_nothing_any_more_can_be_accepted(
    machine: Real, repo: Path, celery: str
) -> None:
    speak(machine, "Forget Celery, RQ is enough.", id="s2")
    new = asked(repo)[0]["successor_id"]
    mem(repo, "inbox", "--reject", celery)
    assert asked(repo) == []
    mem(repo, "inbox", "--accept", new)
    assert sorted(decisions(repo)) == ["RQ is enough.", CELERY]


def test_a_proposal_that_is_rejected_asks_no_more(machine: Real, repo: Path, celery: str) -> None:
    speak(machine, "Forget Celery, RQ is enough.", id="s2")
    mem(repo, "inbox", "--reject", asked(repo)[0]["successor_id"])
    assert asked(repo) == [] and decisions(repo) == [CELERY]


def test_a_proposal_of_an_earlier_session_is_replaced(machine: Real, repo: Path) -> None:
    """The old one is private still; the new one becomes shared."""
    speak(machine, "We decided to use Celery for the background jobs.", id="s1")
    speak(machine, "Instead of Celery we go with RQ for the background jobs.", id="s2")
    (one,) = asked(repo)
    mem(repo, "inbox", "--accept", one["id"])
    assert decisions(repo) == ["We go with RQ for the background jobs."]
    assert data_of(mem(repo, "inbox", "--json")) == []


def test_a_value_that_is_revised(machine: Real, repo: Path) -> None:
    machine.now -= 7 * 86400
    mem(repo, "add", "The backend runs on Django 4.2", "-t", "context")
    machine.now += 10 * 86400
    speak(machine, "Django has been upgraded to 5.1.", id="s2")
    (one,) = asked(repo)
    mem(repo, "inbox", "--accept", one["id"])
    titles = [fact["title"] for fact in section(repo, "general_context")]
    assert titles == ["Django has been upgraded to 5.1."]


def test_what_an_agent_says_is_told_as_such(
    machine: Real, repo: Path, celery: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent is not given the words, and does not answer."""
    machine.hook("SessionStart", "s2", source="startup", after=60)
    machine.hook("UserPromptSubmit", "s2", prompt="Make the queue simpler.", after=5)
    machine.hook("Stop", "s2", last_assistant_message="I replaced Celery with RQ.", after=60)
    machine.hook("SessionEnd", "s2", reason="exit", after=60)
    machine.drain()
    (one,) = asked(repo)
    assert one["said_by"] == "agent"
    assert "said by the agent" in run(repo, "inbox")
    monkeypatch.setenv("CLAUDECODE", "1")
    assert "said by the agent\n" in mem(repo, "inbox")
    assert asked(repo)[0]["quote"] is None
    refused = mem_of(repo, "inbox", "--accept", celery, ok=(1,))
    assert "an agent cannot answer for facts" in refused.stderr


def test_a_shared_record_has_no_words_of_it(machine: Real, repo: Path, celery: str) -> None:
    git(repo, "config", "gitmem.shareSessions", "true")
    speak(machine, "Forget Celery, password hunter2hunter2.", id="s2")
    names = git(repo, "rev-list", "--objects", "refs/gitmem/heads/main").split("\n")
    kept = "\n".join(git(repo, "cat-file", "-p", name.split(" ")[0]) for name in names if name)
    assert "Session of" in kept
    assert "\nfacts:" not in kept and "Forget Celery" not in kept


def test_a_retraction_that_is_taken_back_asks_nothing(
    machine: Real, repo: Path, celery: str
) -> None:
    speak(machine, "Forget Celery.", "Scratch that, we keep Celery.", id="s2")
    assert asked(repo) == []


def test_another_namespace_is_not_asked_about(machine: Real, repo: Path) -> None:
    machine.now -= 7 * 86400
    mem(repo, "add", CELERY, "-t", "decision", "--agent", "qa")
    machine.now += 10 * 86400
    speak(machine, "Forget Celery.", id="s2")
    assert asked(repo) == []


def test_a_mark_reaches_the_next_session_whatever_it_says(machine: Real, repo: Path) -> None:
    """It need not look like a decision."""
    machine.hook("SessionStart", "s1", source="startup")
    machine.hook("UserPromptSubmit", "s1", prompt="Look at the ledger.", after=5)
    mem(repo, "session", "mark", "the ledger rows of 2019", "--session", "s1")
    machine.hook("SessionEnd", "s1", reason="exit", after=60)
    machine.drain()
    assert machine.proposals() == ["The ledger rows of 2019"]
    told = machine.hook("SessionStart", "s2", source="startup", after=3600)
    (line,) = (text for text in told.split("\n") if "ledger rows of 2019" in text)
    assert "unconfirmed" in line
