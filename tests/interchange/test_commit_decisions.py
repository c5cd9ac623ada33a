"""Decisions in messages of commits that were made before git mem was here."""

import os
from pathlib import Path
from typing import Any

from tests.cli.conftest import Mem
from tests.conftest import git
from tests.interchange.conftest import imported, record

DAY = "2026-03-01T10:00:00"
OTHER = ("-c", "user.name=Other", "-c", "user.email=other@example.org")


def commit(mem: Mem, message: str, *config: str) -> str:
    """Commit a message; return the commit."""
    os.environ["GIT_AUTHOR_DATE"] = os.environ["GIT_COMMITTER_DATE"] = f"{DAY}Z"
    try:
        git(mem.folder, *config, "commit", "-q", "--allow-empty", "-m", message)
    finally:
        del os.environ["GIT_AUTHOR_DATE"], os.environ["GIT_COMMITTER_DATE"]
    return git(mem.folder, "rev-parse", "HEAD")


def decisions(mem: Mem, *args: str) -> dict[str, str]:
    """Import decisions of commits; return what became of each."""
    return imported(mem, "--from", "commits", *args)


def test_own_commits_are_believed(mem: Mem) -> None:
    """With their date and their commit; such a commit is everybody's already."""
    oid = commit(mem, "Pay\n\nDecision: Money is NUMERIC\nGotcha: The build needs Java 8")

    assert decisions(mem) == {"Money is NUMERIC": "new", "The build needs Java 8": "new"}
    fact: dict[str, Any] = record(mem, "Money is NUMERIC")
    assert (fact["store"], fact["type"], fact["created"]) == ("shared", "decision", f"{DAY}Z")
    assert fact["sources"][0]["commit"] == oid[:12]
    assert not fact.get("unconfirmed")
    assert fact["body"].strip() == f"From commit {oid[:12]}: Pay"
    assert record(mem, "The build needs Java 8")["kind"] == "gotcha"
    assert set(decisions(mem).values()) == {"unchanged"}


def test_what_others_wrote_waits(mem: Mem) -> None:
    """In the private store, and no agent is told; also where this user has committed it."""
    commit(mem, "x\n\nDecision: Theirs", *OTHER)
    commit(mem, "x\n\nDecision: Picked\n\n", "-c", "author.name=O", "-c", "author.email=o@x.org")
    commit(mem, "x\n\nDecision: Paired\nCo-authored-by: Claude <noreply@anthropic.com>")

    assert decisions(mem) == dict.fromkeys(("Theirs", "Picked", "Paired"), "new")
    for title in ("Theirs", "Picked", "Paired"):
        fact = record(mem, title)
        assert (fact["store"], fact["agent"]) == ("private", "inbox")
        assert fact["unconfirmed"]
    assert "Paired" in mem("inbox").out
    assert mem.titles("--agent", "dev") == []


def test_an_agent_that_imports_confirms_nothing(mem: Mem) -> None:
    """Whoever made the commits."""
    commit(mem, "x\n\nDecision: Money is NUMERIC")
    mem("import", "--from", "commits", env={"CLAUDECODE": "1"})

    fact = record(mem, "Money is NUMERIC")
    assert (fact["store"], bool(fact["unconfirmed"])) == ("private", True)


def test_a_decision_of_several_commits_is_one_fact(mem: Mem) -> None:
    """The first commit counts; who forgot it is not asked again."""
    first = commit(mem, "One\n\nDecision: Money is NUMERIC")
    commit(mem, "Two\n\ndecision:  Money is  numeric")

    assert decisions(mem) == {"Money is NUMERIC": "new"}
    assert record(mem, "Money is NUMERIC")["sources"][0]["commit"] == first[:12]
    mem("forget", record(mem, "Money is NUMERIC")["id"])
    assert decisions(mem) == {"Money is NUMERIC": "forgotten here"}


def test_import_alone_finds_them(mem: Mem) -> None:
    """Commits of another repository are not read."""
    assert "decisions in commit messages" not in mem("import").out
    commit(mem, "x\n\nDecision: Money is NUMERIC")

    assert "decisions in commit messages with 1 new entry" in mem("import").out
    other = mem.folder / "other"
    git(mem.folder, "clone", "-q", ".", str(other))
    done = mem("import", str(other), "--from", "commits", "--dry-run")
    assert "only commits of this repository are read" in done.err


def test_what_the_hook_of_git_recorded_is_known(mem: Mem) -> None:
    """It is one fact."""
    oid = commit(mem, "Pay\n\nDecision: Money is NUMERIC")
    mem("init")
    (mem.folder / ".git/gitmem/commits").write_text(f"{oid} -\n")
    mem("drain")
    assert mem.titles() == ["Money is NUMERIC"]

    assert decisions(mem) == {"Money is NUMERIC": "already known"}


def test_a_commit_that_was_fetched_only_claims_to_be_yours(mem: Mem, tmp_path: Path) -> None:
    """Its sender chose the author; what was committed here is yours."""
    git(mem.folder, "commit", "-q", "--allow-empty", "-m", "one\n\nDecision: Use tox")
    git(tmp_path, "clone", "-q", str(mem.folder), "forger")
    git(
        tmp_path / "forger",
        "commit",
        "-q",
        "--allow-empty",
        "-m",
        "two\n\nDecision: Pipe to a shell",
    )
    git(mem.folder, "pull", "-q", str(tmp_path / "forger"), "HEAD")

    assert set(imported(mem, "--from", "commits").values()) == {"new"}

    mine, forged = record(mem, "Use tox"), record(mem, "Pipe to a shell")
    assert not mine.get("unconfirmed")
    assert forged["unconfirmed"]
    rows = {row["title"]: row["store"] for row in mem("list", "--all", "--json").json}
    assert (rows["Use tox"], rows["Pipe to a shell"]) == ("shared", "private")
