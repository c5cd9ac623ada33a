"""What is remembered is right: nothing overrules itself, nothing is merged in silence, what is done does not stay pending."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.records.summary_entries import replaces
from gitmem.services.sessions import finish
from gitmem.worker.session_jobs import desk
from tests.conftest import git
from tests.services.test_finishing import Machine
from tests.stress.conftest import mem as mem_of


def mem(repo: Path, *args: str) -> str:
    """Run git-mem; return what it prints."""
    return mem_of(repo, *args).stdout


def run(repo: Path, *args: str) -> str:
    """Run git-mem; return what it prints and remarks."""
    done = mem_of(repo, *args)
    return done.stdout + done.stderr


class Real(Machine):
    """A clone whose sessions are read as they are, offline."""

    def drain(self) -> list[str]:  # type: ignore[override]
        """Finish what sessions asked for."""
        with self.open() as app:
            app.settle()
            return finish.work_off(app.state, desk(app))

    def proposals(self) -> list[str]:
        """Return the titles that wait in the inbox."""
        with self.open() as app:
            return [row["title"] for row in app.rows(kinds=("memory",), unconfirmed=True, limit=50)]


@pytest.fixture
def machine(repo: Path) -> Real:
    return Real(repo)


@pytest.mark.parametrize(
    "said",
    [
        "Let's go with SQLite instead of PostgreSQL for the orders, it is simpler to operate.",
        "Vamos usar SQLite em vez de PostgreSQL para os pedidos, é mais simples de operar.",
        "Vamos a usar SQLite en lugar de PostgreSQL para los pedidos, es más simple de operar.",
    ],
)
def test_a_decision_does_not_overrule_itself_after_a_compaction(machine: Real, said: str) -> None:
    machine.hook("SessionStart", source="startup")
    machine.hook("UserPromptSubmit", prompt=said, after=5)
    machine.hook("PreCompact", trigger="auto", after=30)
    machine.drain()
    assert len(machine.proposals()) == 1
    machine.hook("SessionStart", source="compact", after=5)
    machine.hook("UserPromptSubmit", prompt="Now write the repository class and its tests.", after=60)
    machine.hook("SessionEnd", reason="exit", after=600)
    machine.drain()
    assert len(machine.proposals()) == 1


def test_a_reason_is_no_rival() -> None:
    old = "Use SQLite instead of PostgreSQL for the orders because it is simpler to operate"
    assert not replaces(old.removesuffix(" because it is simpler to operate"), old)
    assert replaces("Use PostgreSQL instead of SQLite for the orders", old)


SAID = "We decided to use PostgreSQL for the orders store, because two writers lost updates. I prefer short answers. TODO: write the rollback script."


def blobs(repo: Path, *refs: str) -> str:
    """Return every text that refs hold, in any commit."""
    names = git(repo, "rev-list", "--objects", *refs).split("\n")
    return "\n".join(git(repo, "cat-file", "-p", name.split(" ")[0]) for name in names if name)


def test_what_was_extracted_is_private_until_it_is_accepted(machine: Real, repo: Path, make_repo: Callable[..., Path]) -> None:
    hub = make_repo("bare")
    git(repo, "remote", "add", "origin", str(hub))
    mem(repo, "remote", "enable", "origin", "--yes")
    mem(repo, "add", "Prices are in cents")
    machine.hook("SessionStart", source="startup")
    machine.hook("UserPromptSubmit", prompt=SAID, after=5)
    machine.hook("SessionEnd", reason="exit", after=60)
    machine.drain()
    mem(repo, "sync")
    for words in ("PostgreSQL", "short answers", "rollback"):
        assert words not in blobs(repo, "refs/gitmem/heads/main")
        assert words not in blobs(hub, "refs/gitmem/heads/main")
    told = mem(repo, "summary")
    assert "PostgreSQL" in told and "rollback script" in told  # its owner sees all of it
    id = next(row["id"] for row in json.loads(mem(repo, "inbox", "--json")) if "PostgreSQL" in row["title"])
    mem(repo, "inbox", "--accept", id)
    assert [e["store"] for e in json.loads(mem(repo, "summary", "--json"))["sections"]["key_decisions"]] == ["shared"]
    mem(repo, "sync")
    shared = blobs(hub, "refs/gitmem/heads/main")
    assert "PostgreSQL" in shared and "short answers" not in shared and "rollback" not in shared
    mem(repo, "undo")  # an acceptance is one change
    assert [row["id"] for row in json.loads(mem(repo, "inbox", "--json")) if "PostgreSQL" in row["title"]] == [id]
    assert [e["store"] for e in json.loads(mem(repo, "summary", "--json"))["sections"]["key_decisions"]] == ["private"]


def test_the_setting_shares_what_is_extracted(machine: Real, repo: Path) -> None:
    git(repo, "config", "gitmem.shareExtracted", "true")
    machine.hook("UserPromptSubmit", prompt=SAID)
    machine.hook("SessionEnd", reason="exit", after=60)
    machine.drain()
    assert "PostgreSQL" in blobs(repo, "refs/gitmem/heads/main")
    assert mem(repo, "doctor").endswith("everything is in order.\n")


def test_a_store_of_before_is_told_of_and_mended(machine: Real, repo: Path, make_repo: Callable[..., Path]) -> None:
    """An older version put what it extracted into the shared part."""
    git(repo, "config", "gitmem.shareExtracted", "true")
    machine.hook("UserPromptSubmit", prompt=SAID)
    machine.hook("SessionEnd", reason="exit", after=60)
    machine.drain()
    mem(repo, "summary", "add", "Ada reviews the migrations")
    git(repo, "config", "--unset", "gitmem.shareExtracted")
    hub = make_repo("bare")
    git(repo, "remote", "add", "origin", str(hub))
    mem(repo, "remote", "enable", "origin", "--yes")
    told = json.loads(mem(repo, "sync", "--json"))
    assert not told["pushed"] and "doctor --fix" in " ".join(told["warnings"])
    assert git(hub, "for-each-ref", "refs/gitmem") == ""
    assert "short answers" in mem(repo, "doctor")
    assert "are private now" in mem(repo, "doctor", "--fix")
    assert mem(repo, "doctor").endswith("everything is in order.\n")
    found = json.loads(mem(repo, "summary", "--json"))["sections"]
    assert {e["text"]: e["store"] for part in found.values() for e in part}["Ada reviews the migrations"] == "shared"
    assert {e["store"] for e in found["pending_tasks"]} == {"private"}
    assert json.loads(mem(repo, "sync", "--json"))["pushed"]


def test_summary_add_says_what_it_replaced_and_merged_with(repo: Path) -> None:
    for text in ("Use billing-v2 because v1 is slow", "Use search-v2 because v1 is slow", "Use auth-v3 because v1 is slow"):
        assert "added" in mem(repo, "summary", "add", text)
    assert len(json.loads(mem(repo, "summary", "--json"))["sections"]["key_decisions"]) == 3
    mem(repo, "summary", "add", "Use MySQL for the orders store")
    out = run(repo, "summary", "add", "Use PostgreSQL instead of MySQL for the orders store")
    assert "replaced" in out and "Use MySQL for the orders store" in out and "git mem undo" in out
    out = run(repo, "summary", "add", "We have decided to use PostgreSQL instead of MySQL for the orders store.")
    assert "merged with" in out and "git mem undo" in out
    mem(repo, "undo")
    assert "We have decided" not in mem(repo, "summary")
