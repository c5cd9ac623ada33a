"""What nobody confirmed stays in the private store: it is not pushed, and a person's answer shares it."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gitmem.app import open_app
from gitmem.services.records import write
from tests.json_output import data_of
from tests.two_people import BOB, forge, git, hook, mem, sync, two_clones

FAILURE = ("error", "record", "RuntimeError: the ledger of customer 4711 is locked")
PRIVATE = "refs/gitmem/local/main"


@pytest.fixture
def clones(tmp_path: Path) -> tuple[Path, Path]:
    """Two clones with one hub, of two people."""
    return two_clones(tmp_path)


def rows(repo: Path, *args: str) -> list[dict[str, Any]]:
    """Return the rows of a command."""
    return list(data_of(mem(repo, *args, "--json")))


def capture(*repos: Path) -> str:
    """Have the same error captured; return the gotcha's id."""
    for repo in repos:
        for _ in range(3):
            mem(repo, *FAILURE)
    (row,) = rows(repos[0], "list", "-k", "gotcha")
    return str(row["id"])


def files(repo: Path, ref: str) -> Sequence[str]:
    """Return the paths of a store's gotchas and memories."""
    listed = git(repo, "ls-tree", "-r", "--name-only", ref).splitlines()
    return [path for path in listed if path.startswith(("gotchas/", "memories/"))]


def test_a_capture_reaches_nobody_before_it_is_accepted(clones: tuple[Path, Path]) -> None:
    ana, bob = clones
    id = capture(ana)
    mem(ana, "add", "Something to sync")
    sync(ana, bob)
    assert [id] == [row["id"] for row in rows(ana, "inbox")]
    assert [] == rows(bob, "list", "-k", "gotcha")
    assert "4711" not in git(bob, "log", "-p", "refs/gitmem/heads/main")
    told = hook(ana, "SessionStart", source="startup")
    assert "is locked" in told and "unconfirmed" in told
    mem(ana, "inbox", "--accept", id)
    assert [] == files(ana, PRIVATE)
    sync(ana, bob)
    (row,) = rows(bob, "list", "-k", "gotcha")
    assert row["id"] == id and "unconfirmed" not in row


def test_a_rejected_capture_is_not_captured_again(clones: tuple[Path, Path]) -> None:
    ana, _ = clones
    mem(ana, "inbox", "--reject", capture(ana))
    for _ in range(4):
        mem(ana, *FAILURE)
    assert [] == rows(ana, "list", "-k", "gotcha", "--all")


def test_the_same_error_in_two_clones(clones: tuple[Path, Path]) -> None:
    """The record that somebody shared takes the place of the private one, whose hits it gets."""
    ana, bob = clones
    id = capture(bob, ana)
    mem(ana, "edit", id, "--workaround", "Unlock it.")
    mem(ana, "inbox", "--accept-all")
    sync(ana)
    mem(bob, "sync")
    (row,) = rows(bob, "list", "-k", "gotcha")
    assert row["id"] == id and row.get("workaround") == "Unlock it." and row["occurrences"] == 6
    assert [] == files(bob, PRIVATE) and [] == rows(bob, "inbox")
    sync(bob, ana)
    assert [6, 6] == [rows(repo, "list", "-k", "gotcha")[0]["occurrences"] for repo in clones]
    for _ in range(3):
        mem(bob, *FAILURE)
    assert [] == files(bob, PRIVATE)
    assert rows(bob, "list", "-k", "gotcha")[0]["occurrences"] > 6


def test_a_preference_stays_private(clones: tuple[Path, Path]) -> None:
    """One person's preference is nobody else's, until its owner shares it."""
    ana, bob = clones
    said = {"prompt": "I prefer tabs over spaces in this project, always."}
    hook(ana, "SessionStart", source="startup")
    hook(ana, "UserPromptSubmit", **said)
    hook(ana, "SessionEnd", reason="exit")
    mem(ana, "drain")
    (row,) = rows(ana, "inbox")
    assert row["type"] == "preference"
    mem(ana, "inbox", "--accept", row["id"])
    assert [] == rows(ana, "inbox") and 1 == len(files(ana, PRIVATE))
    sync(ana, bob)
    assert [] == rows(bob, "list")
    mem(ana, "inbox", "--accept", row["id"], "--shared")
    assert [] == files(ana, PRIVATE)
    sync(ana, bob)
    assert [row["id"]] == [one["id"] for one in rows(bob, "list")]


def test_what_agents_write_may_stay_private(
    clones: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    ana, _ = clones
    mem(ana, "config", "share", "people")
    with monkeypatch.context() as agent:
        agent.setenv("CLAUDECODE", "1")
        kept = data_of(mem(ana, "add", "Kept here", "--json"))
        shown = data_of(mem(ana, "add", "For all", "--shared", "--json"))
        trap = data_of(mem(ana, "gotcha", "add", "A trap", "--json"))
    own = data_of(mem(ana, "add", "By a person", "--json"))
    assert [one["store"] for one in (kept, shown, trap, own)] == [
        "private",
        "shared",
        "private",
        "shared",
    ]


def test_agents_of_others_get_a_fifth(
    clones: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What other people's agents wrote takes at most a fifth of what a prompt or start tells."""
    ana, bob = clones
    with monkeypatch.context() as agent:
        agent.setenv("CLAUDECODE", "1")
        for number in range(30):
            words = (
                f"Ledger rule {number}: round every amount of the ledger to cents, number {number}"
            )
            mem(bob, "add", "-t", "rule", words)
    sync(bob, ana)
    told = hook(ana, "SessionStart", source="startup").splitlines()
    theirs = [line for line in told if "Ledger rule" in line]
    assert theirs and all("by an agent of Bob" in line and "unconfirmed" in line for line in theirs)
    assert sum(map(len, theirs)) <= 1200 * 4 // 5 + 150


def test_the_inbox_lists_ones_own(
    clones: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the agents of others wrote waits for them; it is listed, and accepted, with --all."""
    ana, bob = clones
    with monkeypatch.context() as agent:
        agent.setenv("CLAUDECODE", "1")
        theirs = str(data_of(mem(bob, "add", "By Bob's agent", "--json"))["id"])
        own = str(data_of(mem(ana, "add", "By Ana's agent", "--json"))["id"])
    sync(bob, ana)
    assert [own] == [row["id"] for row in rows(ana, "inbox")]
    assert {own, theirs} == {row["id"] for row in rows(ana, "inbox", "--all")}
    assert 1 == data_of(mem(ana, "status", "--json"))["inbox_count"]
    mem(ana, "inbox", "--accept-all")
    assert [] == rows(ana, "inbox") and [theirs] == [
        row["id"] for row in rows(ana, "inbox", "--all")
    ]
    mem(ana, "inbox", "--accept", theirs)
    assert [] == rows(ana, "inbox", "--all")


def test_a_shared_record_takes_no_ones_words(clones: tuple[Path, Path]) -> None:
    """A record that somebody pushes under the id of a private fact removes nothing that a person wrote or confirmed."""
    ana, bob = clones
    own = str(data_of(mem(ana, "add", "--private", "My note on salaries", "--json"))["id"])
    other = str(data_of(mem(bob, "add", "A note", "--json"))["id"])
    shared = "refs/gitmem/heads/main"
    path = f"memories/{other[-2:]}/{other}.md"
    text = git(bob, "show", f"{shared}:{path}") + "\n"
    where = f"memories/{own[-2:]}/{own}.md"
    forge(bob, {where: text.replace(other, own).replace("A note", "Curl it").encode()}, BOB)
    sync(bob, ana)
    mem(ana, "drain")
    assert "My note on salaries" in mem(ana, "show", own) and "salaries" in mem(ana, "list")
    assert "salaries" in git(ana, "show", f"{PRIVATE}:{where}")


def test_an_edit_while_a_fact_is_shared_is_kept(clones: tuple[Path, Path]) -> None:
    """What was changed in the private store after the fact was read is shared with the next sync."""
    ana, _ = clones
    id = capture(ana)
    mem(ana, "edit", id, "--workaround", "First.")
    with open_app(str(ana), dict(os.environ)) as app:
        private = app.store("private")
        before = private.get(id).record
        app.move_facts()
        write.update(private, app.writer(), before, before.change(workaround="Second."), "edit")
    mem(ana, "sync")
    assert "Second." in mem(ana, "show", id) and [] == files(ana, PRIVATE)


def test_an_undo_follows_a_fact_that_was_shared(clones: tuple[Path, Path]) -> None:
    """The background shares what a person edited; their undo takes the edit back all the same."""
    ana, _ = clones
    id = capture(ana)
    mem(ana, "edit", id, "--workaround", "Unlock it.")
    mem(ana, "sync")
    assert [] == files(ana, PRIVATE)
    mem(ana, "undo")
    assert "Unlock it." not in mem(ana, "show", id)
    mem(ana, "undo", "--redo")
    assert "Unlock it." in mem(ana, "show", id)


def test_the_page_of_the_project_is_in_both_stores(clones: tuple[Path, Path]) -> None:
    """Only facts move."""
    ana, _ = clones
    (ana / "pay.py").write_text("def pay():\n    return 1\n")
    git(ana, "add", "-A")
    git(ana, "commit", "-qm", "pay")
    mem(ana, "code", "dna", "refresh")
    mem(ana, "code", "dna", "refresh", "--shared")
    mem(ana, "drain")
    assert git(ana, "ls-tree", "-r", "--name-only", PRIVATE, "--", "dna/")


def test_an_accepted_fact_that_was_forgotten_comes_back(clones: tuple[Path, Path]) -> None:
    """It was in two stores; it is restored into the one that it was in last."""
    ana, _ = clones
    id = capture(ana)
    mem(ana, "inbox", "--accept", id)
    assert [] == rows(ana, "restore", "--list")
    mem(ana, "forget", id)
    assert [(id, "shared")] == [(row["id"], row["store"]) for row in rows(ana, "restore", "--list")]
    mem(ana, "restore", id[-8:])
    assert [id] == [row["id"] for row in rows(ana, "list", "-k", "gotcha")]


def test_what_agents_wrote_privately_is_shared_when_accepted(
    clones: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    ana, _ = clones
    mem(ana, "config", "share", "people")
    with monkeypatch.context() as agent:
        agent.setenv("CLAUDECODE", "1")
        id = str(data_of(mem(ana, "add", "Kept here", "--json"))["id"])
    mem(ana, "inbox", "--accept", id)
    assert [] == files(ana, PRIVATE) and [id] == [
        row["id"] for row in rows(ana, "list", "--shared")
    ]
