"""What a consolidation removes: facts that faded, and proposals that nobody looked at."""

import json
import subprocess
from pathlib import Path

import pytest

from gitmem.clock import Clock
from gitmem.worker.consolidation import Consolidation
from tests.command_line import run_command
from tests.lifecycle.memories import DAY, NOW, add, count_each_hour, data, ids, opened, read
from tests.two_people import ANA, BOB, clone, forge, git, mem, two_clones

OLD = NOW - 300 * DAY


@pytest.fixture(autouse=True)
def each_hour(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each hour counts, whether somebody worked or not."""
    count_each_hour(monkeypatch)


def collected(repo: Path, at: float = NOW) -> list[str]:
    """Collect at a time; return the ids that are gone."""
    with opened(repo, at) as app:
        return list(Consolidation(app).run("collect").ids)


def test_what_faded_is_collected_and_comes_back(repo: Path) -> None:
    """An agent's old note goes without a tombstone; `restore` brings it back, and it stays then."""
    faded = add(repo, "The build prints a warning", at=OLD, program="claude")
    kept = add(repo, "The build prints two warnings", at=NOW)

    assert collected(repo) == [faded.id]
    assert {kept.id} == ids(repo, "--all")
    assert run_command(repo, "restore", faded.id).returncode == 0
    assert faded.id in ids(repo, "--all")
    assert collected(repo, Clock().now()) == []


@pytest.mark.parametrize("collects", ["a person", "the background"])
def test_an_agent_may_restore_what_was_collected(repo: Path, collects: str) -> None:
    """Whoever had it collected: nobody decided about it. What a person forgot stays away."""
    agent = {"CLAUDECODE": "1"}
    faded = add(repo, "The build prints a warning", at=OLD, program="claude")
    forgotten = add(repo, "The build is slow on macs", at=NOW, program="claude")
    assert run_command(repo, "forget", forgotten.id).returncode == 0
    if collects == "a person":
        assert faded.id in run_command(repo, "consolidate", "--steps", "collect", "--json").stdout
    else:
        assert collected(repo) == [faded.id]
    back = run_command(repo, "restore", faded.id, env=agent)
    refused = run_command(repo, "restore", forgotten.id, env=agent)

    assert (back.returncode, faded.id in ids(repo, "--all")) == (0, True)
    assert "restored" in back.stdout and "unconfirmed" in back.stderr
    assert (refused.returncode, forgotten.id in ids(repo, "--all")) == (1, False)
    assert "an agent cannot restore" in refused.stderr


def test_an_agents_pin_keeps_nothing(repo: Path) -> None:
    """It is refused, and the fact fades like any other."""
    faded = add(repo, "The build prints a warning", at=OLD, program="claude")
    refused = run_command(repo, "pin", faded.id, env={"CLAUDECODE": "1"})

    assert (refused.returncode, refused.stdout) == (1, "")
    assert "an agent cannot pin facts: a person does" in refused.stderr
    assert collected(repo) == [faded.id]


def test_words_of_another_person_are_unconfirmed_when_they_are_restored(tmp_path: Path) -> None:
    """The command says so, and how to confirm them."""
    ana, bob = two_clones(tmp_path)
    mem(bob, "add", "Deploys happen on Fridays")
    mem(bob, "sync")
    mem(ana, "sync")
    (row,) = data(ana, "list")
    mem(ana, "forget", row["id"])
    restored = run_command(ana, "restore", row["id"])
    mine = run_command(ana, "add", "Tea is served at noon", "--json").stdout
    own = json.loads(mine)["data"]["id"]
    mem(ana, "forget", own)

    assert restored.returncode == 0
    assert "its words are by Bob, and you brought them back" in restored.stderr
    assert "its words are by" not in run_command(ana, "restore", own).stderr
    run_command(ana, "inbox", "--accept", row["id"])
    assert "unconfirmed" not in run_command(ana, "list").stdout


@pytest.mark.parametrize(
    "fields",
    [
        {"program": ""},
        {"status": "pinned"},
        {"type": "decision"},
        {"type": "rule"},
        {"type": "pattern"},
        {"type": "preference"},
        {"type": "task"},
        {"kind": "gotcha"},
    ],
)
def test_what_is_vouched_for_pinned_or_permanent_stays(repo: Path, fields: dict[str, str]) -> None:
    """Age takes none of it away."""
    kept = add(repo, "The build prints a warning", at=OLD, **{"program": "claude", **fields})
    assert collected(repo) == []
    assert kept.id in ids(repo, "--all")


def test_a_read_fact_stays(repo: Path) -> None:
    """Reading strengthens a fact."""
    faded = add(repo, "The build prints a warning", at=OLD, program="claude")
    read(repo, faded.id, NOW - DAY)
    assert collected(repo) == []


def test_proposals_that_nobody_looked_at_go(repo: Path) -> None:
    """After 90 days, whatever their type."""
    rule = {"type": "rule", "origin": "extracted", "scope": "private"}
    old = add(repo, "Squash before merging", at=NOW - 91 * DAY, **rule)
    young = add(repo, "Rebase before merging", at=NOW - 89 * DAY, **rule)
    seen = add(repo, "Tag each release", at=NOW - 91 * DAY, **rule)
    read(repo, seen.id, NOW - DAY, "private")

    assert collected(repo) == [old.id]
    assert young.id in {row["id"] for row in data(repo, "inbox")}


def test_what_another_clone_read_comes_back(tmp_path: Path) -> None:
    """One side collects a fact that the other side reads: the read one wins, whoever merges."""
    hub = tmp_path / "hub.git"
    subprocess.run(["git", "init", "-q", "--bare", str(hub)], check=True)
    ana, bob = clone(tmp_path / "ana", ANA, hub), clone(tmp_path / "bob", BOB, hub)
    read_one = add(ana, "The build prints a warning", at=OLD, program="claude")
    unread = add(ana, "The build prints two warnings", at=OLD, program="claude")
    mem(ana, "sync")
    mem(bob, "sync")

    read(bob, read_one.id, NOW)
    mem(bob, "add", "Something that takes the reads along")
    assert set(collected(ana)) == {read_one.id, unread.id}
    for repo in (ana, bob, ana, bob):
        mem(repo, "sync")

    for repo in (ana, bob):
        assert read_one.id in ids(repo, "--all")
        assert unread.id not in ids(repo, "--all")
    assert git(ana, "rev-parse", "refs/gitmem/heads/main") == git(
        bob, "rev-parse", "refs/gitmem/heads/main"
    )


def test_what_was_undone_stays_away_though_it_was_read(tmp_path: Path) -> None:
    """A new fact that its author took back is not brought back by a reader."""
    hub = tmp_path / "hub.git"
    subprocess.run(["git", "init", "-q", "--bare", str(hub)], check=True)
    ana, bob = clone(tmp_path / "ana", ANA, hub), clone(tmp_path / "bob", BOB, hub)
    mem(ana, "add", "A mistake")
    mem(ana, "sync")
    mem(bob, "sync")
    (mistake,) = ids(bob)
    mem(bob, "show", mistake)
    mem(bob, "add", "Something that takes the reads along")
    mem(ana, "undo")
    for repo in (ana, bob, ana):
        mem(repo, "sync")
    assert mistake not in ids(ana)
    assert mistake not in ids(bob)


def test_counts_that_a_stranger_forged_stop_nothing(tmp_path: Path) -> None:
    """Reads without end, times that are none, hours that nobody worked."""
    ana, bob = two_clones(tmp_path)
    mem(ana, "add", "Log as JSON")
    mem(ana, "sync")
    (id,) = ids(ana)
    mem(bob, "sync")
    reads = [
        {"id": id, "n": 1e999, "last": "2026-01-01T00:00:00Z"},
        {"id": id, "n": 5, "last": "soon"},
        {"id": id, "n": -7, "last": 9},
    ]
    forged = {
        f"usage/evil/{id[-2:]}.jsonl": "\n".join(map(json.dumps, reads)).encode(),
        "usage/evil/hours": b"2026-11-27 ffffff\n9999-99-99 zz\n\xff\xff 1\n2026-11-26 "
        + b"f" * 99,
    }
    forge(bob, forged, BOB)
    git(bob, "push", "-q", "origin", "refs/gitmem/heads/main")
    mem(ana, "sync")
    for command in ("list", "page summary", "check --health", "consolidate", "drain"):
        mem(ana, *command.split())
    assert data(ana, "show", id)[0]["access_count"] == 0
