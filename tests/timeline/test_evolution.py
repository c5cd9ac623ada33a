"""`git mem code evolution`: each change of a file or a symbol, whose it was; what is kept of it is never stale."""

import random
from pathlib import Path
from typing import Any

import pytest

from tests import histories
from tests.conftest import git
from tests.hooks.conftest import run
from tests.json_output import data_of
from tests.provenance.conftest import CODE, Team, team  # noqa: F401 - a fixture
from tests.scale import scaled


def steps(repo: Path, place: str, *args: str) -> list[dict[str, Any]]:
    """Return what `evolution` says."""
    return list(data_of(run(repo, "code", "evolution", str(repo / place), "--json", *args)))


def plain(repo: Path, name: str) -> list[str]:
    """Return what git itself says."""
    return git(repo, "log", "--branches", "HEAD", "--follow", "--format=%H", "--", name).split()


def test_who_and_why(team: Team):  # noqa: F811
    """Through a rename, with sessions and what they learned; one symbol's changes alone when it is asked for."""
    one = team.session("s-one")
    one.edit("pay.py", "return 1", "return round(1.5, 1)")
    one.commit("Round")
    run(team.repo, "add", "Round to one digit", "-t", "decision", "--session", "s-one")
    team.person("mv", "pay.py", "money.py")
    team.person("commit", "-qm", "Rename")
    (team.repo / "money.py").write_text((team.repo / "money.py").read_text().replace("[2]", "[3]"))
    team.person("commit", "-qam", "Fees")
    team.drain()

    found = steps(team.repo, "money.py")
    assert [(one["subject"], one["change"]) for one in found] == [
        ("Fees", "changed"),
        ("Rename", "renamed"),
        ("Round", "changed"),
        ("pay", "added"),
    ]
    assert found[1]["former_path"] == "pay.py"
    assert [part["id"] for part in found[2]["sessions"]] == ["s-one"]
    assert [row["title"] for row in found[2]["records"]] == ["Round to one digit"]
    assert [one["subject"] for one in steps(team.repo, "money.py:fees")] == ["Fees", "pay"]
    assert [one["subject"] for one in steps(team.repo, "money.py#balance")] == ["Round", "pay"]
    assert [one["subject"] for one in steps(team.repo, "money.py", "--session", "s-one")] == [
        "Round"
    ]
    assert [one["subject"] for one in steps(team.repo, "money.py", "--agent", "claude", "-1")] == [
        "Round"
    ]


def test_what_is_kept_follows_the_branches(team: Team, monkeypatch: pytest.MonkeyPatch):  # noqa: F811
    """After random commits, renames, branches, rebases and resets, the kept answer is git's own."""
    rng = random.Random(3)
    repo, name, made = team.repo, "pay.py", 0
    for number in range(25):
        # of commits of one second git has no order
        monkeypatch.setenv("GIT_COMMITTER_DATE", f"@{2_000_000_000 + 60 * number} +0000")
        step = rng.choice(("edit", "edit", "other", "rename", "branch", "amend", "reset", "switch"))
        if step == "edit":
            (repo / name).write_text(CODE + f"\n\ndef f{number}():\n    return {number}\n")
            git(repo, "commit", "-qam", f"edit {number}")
        elif step == "other":
            git(repo, "commit", "-q", "--allow-empty", "-m", f"other {number}")
        elif step == "rename":
            git(repo, "mv", name, f"pay{number}.py")
            name = f"pay{number}.py"
            git(repo, "commit", "-qm", f"rename {number}")
        elif step == "amend":
            git(repo, "commit", "-q", "--amend", "--allow-empty", "-m", f"amended {number}")
        elif step == "branch":
            git(repo, "branch", f"b{number}")
            made += 1
        elif step == "reset" and made:
            git(repo, "reset", "-q", "--hard", "HEAD~1", ok=(0, 128))
        elif step == "switch":
            git(repo, "checkout", "-q", "-B", "other-branch")
        files = git(repo, "ls-files", "pay*.py").split()
        name = files[0]
        assert [one["commit"] for one in steps(repo, name)] == plain(repo, name), (number, step)


def test_a_long_history(tmp_path: Path):
    """Tens of thousands of commits: the answer is git's, cold and from what is kept; a commit more is found."""
    repo = histories.make(tmp_path / "long", scaled(30_000, 4_000), files=50, lines=60)
    run(repo, "init", "--no-remote")
    expected = plain(repo, histories.CORE)
    assert [one["commit"] for one in steps(repo, histories.CORE)] == expected
    assert [one["commit"] for one in steps(repo, histories.CORE)] == expected
    (repo / histories.CORE).write_text("x = 1\n")
    git(repo, "commit", "-qam", "one more")
    assert [one["commit"] for one in steps(repo, histories.CORE)] == [
        git(repo, "rev-parse", "HEAD"),
        *expected,
    ]
    assert len(steps(repo, histories.CORE, "-3")) == 3
