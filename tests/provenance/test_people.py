"""Lines of people beside those of agents, through real hooks and real git: they are no session's, whatever asks."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import git
from tests.hooks.conftest import run
from tests.json_output import data_of
from tests.provenance.conftest import Team

WORK = "def work(first, second):\n    value = combine(first, second)\n    return None\n"


def told(team: Team, name: str) -> list[str]:
    """Return the session that is told of each line."""
    lines = (team.repo / name).read_text().splitlines()
    out = [""] * len(lines)
    for origin in team.why(name)["origins"]:
        for part in origin["sessions"]:
            for span in part["spans"]:
                first, last = span["line"], span["end_line"]
                out[first - 1 : last] = [part["id"]] * (last - first + 1)
    return out


def append(team: Team, name: str, text: str) -> None:
    """Let a person add lines."""
    with (team.repo / name).open("a") as file:
        file.write(text)


def test_one_line_of_an_agent_among_many(team: Team):
    """In the same file, in another one, in what was there before; by every command that tells of sessions."""
    append(team, "pay.py", "\n\nBEFORE_THE_SESSION = 1\n")
    one = team.session("s-one", "Round")
    one.edit("pay.py", "return 1", "return round(1.5, 1)")
    append(team, "pay.py", "".join(f"PERSON_{n} = {n}\n" for n in range(98)))
    (team.repo / "people.py").write_text("logger = logging.getLogger(__name__)\nreturn None\n")
    one.commit("All of it")
    team.drain()

    assert [n for n, who in enumerate(told(team, "pay.py"), 1) if who] == [5]
    assert (team.sessions("people.py:1"), team.part_takers("people.py:1")) == ([], ["s-one"])
    steps = data_of(run(team.repo, "code", "evolution", str(team.repo / "people.py"), "--json"))
    assert (steps[0]["sessions"], [part["id"] for part in steps[0]["other_sessions"]]) == (
        [],
        ["s-one"],
    )
    steps = data_of(run(team.repo, "code", "evolution", f"{team.repo / 'pay.py'}:fees", "--json"))
    assert not any(step["sessions"] for step in steps)
    steps = data_of(
        run(team.repo, "code", "evolution", f"{team.repo / 'pay.py'}:balance", "--json")
    )
    assert [part["id"] for part in steps[0]["sessions"]] == ["s-one"]
    (row,) = data_of(run(team.repo, "trace", "export", "--json"))
    assert [
        (file["path"], talk["ranges"][0]["start_line"])
        for file in row["files"]
        for talk in file["conversations"]
    ] == [("pay.py", 5)]


def test_a_copy_is_whose_copied_it(team: Team):
    """In the same file and in another one of the commit; what was moved stays whose it was."""
    one = team.session("s-one")
    one.edit("pay.py", "    return [2]\n", f"    return [2]\n\n\n{WORK}")
    one.commit("Work")
    append(team, "pay.py", f"\n\n{WORK.replace('def work', 'def again')}")
    (team.repo / "other.py").write_text(f"import os\n\n\n{WORK}")
    team.person("add", "-A")
    team.person("commit", "-qm", "Copies")
    team.drain()
    assert [n for n, who in enumerate(told(team, "pay.py"), 1) if who] == [12, 13, 14]
    assert set(told(team, "other.py")) == {""}
    text = (team.repo / "pay.py").read_text().replace(f"\n\n{WORK}", "", 1)
    (team.repo / "pay.py").write_text(text)
    (team.repo / "moved.py").write_text(f"import sys\n\n\n{WORK}")
    team.person("add", "-A")
    team.person("commit", "-qm", "Move")
    assert told(team, "moved.py")[3:5] == ["s-one", "s-one"] and told(team, "moved.py")[0] == ""


def test_the_same_change_lower_in_the_file(team: Team, tmp_path: Path):
    """Another clone that rebased it knows which of its lines are the session's."""
    run(team.repo, "config", "shareSessions", "true")
    one = team.session("s-one")
    one.edit("pay.py", "return 1", "return round(1.5, 1)")
    append(team, "pay.py", "PERSON = 1\n")
    one.agent.hook("SessionEnd", reason="other")
    team.drain()
    one.commit("Both")
    team.drain()
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(team.repo), str(clone))
    git(clone, "fetch", "-q", "origin", "refs/gitmem/heads/main:refs/gitmem/heads/main")
    git(clone, "config", "user.name", "Bob")
    git(clone, "config", "user.email", "bob@example.org")
    git(clone, "checkout", "-q", "HEAD~1")
    (clone / "pay.py").write_text("# PERSON\n# ABOVE\n# PERSON\n" + (clone / "pay.py").read_text())
    git(clone, "commit", "-qam", "Above")
    git(clone, "cherry-pick", "origin/HEAD")

    found = data_of(run(clone, "why", str(clone / "pay.py"), "--json"))[0]["origins"]
    assert [part["spans"] for origin in found for part in origin["sessions"]] == [
        [{"line": 8, "end_line": 8}]
    ]


def test_a_commit_outlives_its_edits(team: Team):
    """After an amend and a rebase the lines are known by the commit before, though the edits are forgotten."""
    run(team.repo, "install", "git-hooks")
    one = team.session("s-one")
    one.edit("pay.py", "    return [2]\n", f"    return [2]\n\n\n{WORK}")
    one.commit("Work")
    team.drain()
    subprocess.run(
        [sys.executable, "-c", FORGET, str(team.repo / ".git/gitmem/state.db")], check=True
    )
    (team.repo / "pay.py").write_text(f"PERSON = 1\n{(team.repo / 'pay.py').read_text()}")
    team.person("commit", "-qa", "--amend", "-m", "Amended")
    team.drain()
    assert [n for n, who in enumerate(told(team, "pay.py"), 1) if who] == [13, 14, 15]


FORGET = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute('DELETE FROM edits'); db.commit()"


def test_lines_that_an_agent_rewrites_as_they_are(team: Team):
    """Who writes a whole file, moves or renames it has not written a person's lines in it, committed or not."""
    append(team, "pay.py", "\n\nNOT_COMMITTED = 1\n")
    one = team.session("s-one")
    text = (team.repo / "pay.py").read_text()
    one.write("pay.py", text.replace("return 1", "return 1 + 1  # agent"))
    one.shell("git mv pay.py money.py && sed -i s/x/y/ money.py && git commit -qam Rename")
    team.drain()
    assert [n for n, who in enumerate(told(team, "money.py"), 1) if who] == [5]


def test_a_patch_of_a_colleague_that_a_session_had_tried_too(
    team: Team, monkeypatch: pytest.MonkeyPatch
):
    """The session's own edit was thrown away; the picked commit is by whoever wrote it."""
    team.person("checkout", "-qb", "colleague")
    append(team, "pay.py", "COLLEAGUE_RATE = compute_rate(1)\n")
    with monkeypatch.context() as yesterday:
        for variable in ("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"):
            yesterday.setenv(variable, f"{int(time.time()) - 86400} +0000")
        team.person(
            "-c", "user.name=Col", "-c", "user.email=col@example.org", "commit", "-qam", "Rate"
        )
    team.person("checkout", "-q", "-")
    one = team.session("s-one", "Add a rate")
    last = (team.repo / "pay.py").read_text().splitlines()[-1]
    one.edit("pay.py", f"{last}\n", f"{last}\nCOLLEAGUE_RATE = compute_rate(1)\n")
    team.person("checkout", "-q", "pay.py")
    team.person("cherry-pick", "colleague")
    team.drain()
    assert told(team, "pay.py")[-1] == ""
