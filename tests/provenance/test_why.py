"""`git mem why`: whose a line is, told by what hooks saw; through git's own commands, by a person and by agents."""

import os
import subprocess
import time
from pathlib import Path

import pytest

from tests.command_line import run_command
from tests.conftest import git
from tests.hooks.conftest import run
from tests.json_output import data_of
from tests.provenance.conftest import Team


def said(repo: Path, *args: str, code: int = 0) -> str:
    """Run `git mem why`; return what it printed on both streams."""
    done = run_command(repo, "why", *args)
    assert done.returncode == code, done.stderr
    return done.stdout + done.stderr


def test_two_sessions_and_one_commit(team: Team):
    """Each line is the session's whose edit wrote it, with the prompt before that edit; parts of lines are whole lines in the end."""
    one = team.session("s-one", "Read the balance")
    one.edit("pay.py", "return 1", 'return float(os.environ["BALANCE"])')
    two = team.session("s-two", "More fees")
    two.edit("pay.py", "[2]", "[2, 3]")
    one.ask("Something else")
    team.person("commit", "-qam", "Balance and fees")
    team.drain()

    assert team.sessions("pay.py:5") == ["s-one"]
    assert team.sessions("pay.py:9") == ["s-two"]
    assert team.sessions("pay.py:8") == []
    (origin,) = team.why("pay.py:5")["origins"]
    (part,) = origin["sessions"]
    assert (part["prompt"], part["model"], part["how"], part["spans"]) == (
        "Read the balance",
        "claude-test",
        "wrote",
        [{"line": 5, "end_line": 5}],
    )
    assert origin["subject"] == "Balance and fees"
    assert team.sessions("pay.py#fees") == ["s-two"]


def test_whoever_writes_a_file_anew_has_not_written_all_of_it(team: Team):
    """Lines that an earlier session wrote stay its own."""
    team.session("s-one").edit("pay.py", "    return 1", "    rate = 0.25\n    return rate")
    text = (team.repo / "pay.py").read_text()
    team.session("s-two").write("pay.py", text.replace("[2]", "[2, 5]"))
    team.person("commit", "-qam", "Both")
    team.drain()

    assert team.sessions("pay.py:5") == ["s-one"]
    assert team.sessions("pay.py:10") == ["s-two"]


def test_what_is_not_committed(team: Team):
    """It is told whose it is, too; what is committed of the same session is not taken for it."""
    one = team.session("s-one")
    one.edit("pay.py", "[2]", "[2, 3]")
    one.commit("Fees")
    team.session("s-two", "Double it").edit("pay.py", "return 1", "return 1 * 2")

    found = team.why("pay.py:5")["origins"][0]
    assert found["commit"] is None
    assert [(part["id"], part["prompt"]) for part in found["sessions"]] == [("s-two", "Double it")]


def test_lines_that_a_command_wrote(team: Team):
    """Where the command tells them they are its session's, also after a squash and a cherry-pick; else nobody's."""
    team.person("checkout", "-qb", "topic")
    one = team.session("s-one")
    one.shell(
        "printf 'GENERATED_TABLE = [1, 2, 3]\\nGENERATED_INDEX = {}\\n' > made.py && git add -A && git commit -qm Generate"
    )
    (team.repo / "found.py").write_text("GENERATED_BY_SOMETHING = 1\n")
    made = one.commit("Generate more")
    team.drain()
    assert (team.sessions("found.py:1"), team.part_takers("found.py:1")) == ([], ["s-one"])
    team.person("checkout", "-q", "-")
    team.person("merge", "-q", "--squash", "topic")
    team.person("commit", "-qm", "Tables (#1)")
    team.drain()
    assert team.sessions("made.py:1") == ["s-one"]

    team.person("checkout", "-qb", "picked", "HEAD~1")
    team.person("cherry-pick", "-x", f"{made}~1")
    assert team.sessions("made.py:2") == ["s-one"]


def test_git_hooks_tell_what_an_amend_made(team: Team):
    """A commit that only deletes has no lines to know it by: git tells its hook what became of it, and the session that committed stays."""
    run(team.repo, "install", "git-hooks")
    team.session("s-one")
    text = (team.repo / "pay.py").read_text()
    (team.repo / "pay.py").write_text(text.replace("import os\n\n\n", ""))
    subprocess.run(
        ["git", "commit", "-qam", "Less"],
        cwd=team.repo,
        check=True,
        env={**os.environ, "CLAUDE_CODE_SESSION_ID": "s-one"},
    )
    wait(team, "HEAD", "s-one")
    (team.repo / "pay.py").write_text(text.replace("import os\n\n\n", "").replace("\n\n\n", "\n"))
    team.person("commit", "-qa", "--amend", "-m", "Still less")
    wait(team, "HEAD", "s-one")


def wait(team: Team, revision: str, session: str) -> None:
    """Wait until a commit is linked to a session: hooks of git do that in the background."""
    end = time.monotonic() + 120
    while True:
        steps = data_of(run(team.repo, "timeline", "-n", "1", "--source", "commit", "--json"))
        if (
            steps
            and steps[0].get("session") == session
            and steps[0]["id"] == git(team.repo, "rev-parse", revision)
        ):
            return
        assert time.monotonic() < end, steps
        time.sleep(0.1)


def test_trailer_names_the_session_where_that_is_set(team: Team, monkeypatch: pytest.MonkeyPatch):
    """An agent's commit says whose it is; a person's does not, and what somebody wrote already stays."""
    run(team.repo, "install", "git-hooks")
    team.session("s-one")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "s-one")
    team.person("commit", "-q", "--allow-empty", "-m", "without")
    assert "Gitmem-Session" not in team.person("log", "-1", "--format=%B")
    run(team.repo, "config", "commitTrailer", "true")
    run(team.repo, "install", "git-hooks")
    team.person(
        "commit", "-q", "--allow-empty", "-m", "with\n\nSigned-off-by: Grace <g@example.org>"
    )
    assert (
        team.person("log", "-1", "--format=%(trailers:only)")
        == "Signed-off-by: Grace <g@example.org>\nGitmem-Session: s-one"
    )
    monkeypatch.delenv("CLAUDE_CODE_SESSION_ID")
    team.person("commit", "-q", "--allow-empty", "-m", "a person")
    assert "Gitmem-Session" not in team.person("log", "-1", "--format=%B")


def test_a_formatter_and_a_stranger(team: Team):
    """What a formatter made of a session's lines goes with them; a commit of somebody else to a file that a session edited is not its own."""
    one = team.session("s-one", "Round")
    one.edit("pay.py", "    return [2]", "    rates = [2, 3]\n    return rates")
    (team.repo / "pay.py").write_text(
        (team.repo / "pay.py")
        .read_text()
        .replace("rates = [2, 3]", "rates = [\n        2, 3,\n    ]")
    )
    team.person("commit", "-qam", "Formatted")
    team.drain()
    assert team.sessions("pay.py:10") == ["s-one"]
    one.edit("pay.py", "return 1", "return 7")
    team.person("checkout", "-q", "pay.py")
    (team.repo / "pay.py").write_text(
        (team.repo / "pay.py").read_text().replace("return 1", "return 'of somebody else'")
    )
    team.person("commit", "-qam", "By hand")
    team.drain()
    assert team.sessions("pay.py:5") == []


def test_a_trailer_tells_of_the_commit_alone(team: Team, tmp_path: Path):
    """In another clone of the same user, which knows nothing else."""
    (team.repo / "made.py").write_text("x = 1\n")
    team.person("add", "-A")
    team.person("commit", "-qm", "Made\n\nGitmem-Session: s-far")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(team.repo), str(clone))
    git(clone, "config", "gitmem.ownEmail", team.person("log", "-1", "--format=%ae"))
    git(clone, "config", "--add", "gitmem.ownEmail", team.person("log", "-1", "--format=%ce"))
    run(clone, "init", "--no-remote")
    found = data_of(run(clone, "why", str(clone / "made.py:1"), "--json"))[0]["origins"][0]
    assert found["sessions"] == []
    assert [(part["id"], part["how"]) for part in found["other_sessions"]] == [
        ("s-far", "committed")
    ]
    assert "session s-far had a part in this commit" in said(clone, str(clone / "made.py:1"))


@pytest.mark.parametrize("role", ["AUTHOR", "COMMITTER"])
def test_a_trailer_of_somebody_else_names_no_session(
    team: Team, monkeypatch: pytest.MonkeyPatch, role: str
):
    """Neither a session of this user nor one that nobody knows made what another person wrote or committed."""
    team.session("s-one").edit("pay.py", "return 1", "return 7")
    team.person("checkout", "-q", "pay.py")
    (team.repo / "made.py").write_text("x = 1\n")
    team.person("add", "-A")
    with monkeypatch.context() as theirs:
        theirs.setenv(f"GIT_{role}_NAME", "Mallory")
        theirs.setenv(f"GIT_{role}_EMAIL", "m@evil.example")
        team.person("commit", "-qm", "Theirs\n\nGitmem-Session: s-one")
    assert team.part_takers("made.py:1") == []
    team.drain()
    assert team.part_takers("made.py:1") == []


def test_another_clone_knows_by_the_record(team: Team, tmp_path: Path):
    """What a session record that is shared says of commits is found by their ids, and by the same change under another id; the prompt is not told there."""
    run(team.repo, "config", "shareSessions", "true")
    one = team.session("s-one", "Read the balance, secretly")
    one.edit("pay.py", "return 1", "return round(1.5, 1)")
    one.agent.hook("Stop", last_assistant_message="Decision: round to one digit.")
    one.agent.hook("SessionEnd", reason="other")
    team.drain()
    made = one.commit("Round")  # a commit after the end finds its way into the session record
    team.drain()
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(team.repo), str(clone))
    git(clone, "fetch", "-q", "origin", "refs/gitmem/heads/main:refs/gitmem/heads/main")

    found = data_of(run(clone, "why", str(clone / "pay.py:5"), "--json"))[0]["origins"][0]
    assert found["commit"] == made
    (part,) = found["sessions"]
    # the record says `wrote` where it was made after the edit was found in the commit
    assert part["id"] == "s-one" and part["how"] in {"committed", "wrote"}
    assert part["spans"] == [{"line": 5, "end_line": 5}]
    assert part["prompt"] is None and part["title"]
    git(
        clone,
        "commit",
        "-q",
        "--amend",
        "-m",
        "Round, said otherwise",
        "--author",
        "Bob <b@example.org>",
    )
    found = data_of(run(clone, "why", str(clone / "pay.py:5"), "--json"))[0]["origins"][0]
    assert (found["commit"] != made, [one["id"] for one in found["sessions"]]) == (
        True,
        ["s-one"],
    )


def test_what_was_learned_and_what_is_known_of_the_place(team: Team):
    """Decisions and gotchas of the session, and what is anchored at the lines."""
    one = team.session("s-one", "Round")
    one.edit("pay.py", "return 1", "return round(1.5, 1)")
    one.commit("Round")
    run(team.repo, "add", "Round to one digit", "-t", "decision", "--session", "s-one")
    run(
        team.repo,
        "gotcha",
        "add",
        "round() is to even",
        "--anchor",
        "pay.py:5",
        "--workaround",
        "Decimal",
        "--severity",
        "critical",
    )
    run(team.repo, "gotcha", "add", "elsewhere", "--anchor", "pay.py:9")
    team.drain()

    text = said(team.repo, str(team.repo / "pay.py:5"))
    assert "decision: " in text and "Round to one digit" in text
    assert (
        "gotcha critical: " in text and "round() is to even (line 5)" in text and "Decimal" in text
    )
    assert "elsewhere" not in text


def test_no_hooks_no_sessions(team: Team):
    """Plain git history is told all the same, renames followed."""
    team.person("mv", "pay.py", "money.py")
    team.person("commit", "-qm", "Rename")
    found = team.why("money.py:5")
    assert [(one["subject"], one["former_paths"], one["sessions"]) for one in found["origins"]] == [
        ("pay", ["pay.py"], [])
    ]
    assert team.why("pay.py:5", "--at", "HEAD~1")["commit"]


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("pay.py:90", "has 9 lines"),
        ("none.py", "no file 'none.py'"),
        ("pay.py#nothing", "defines no 'nothing'"),
        ("../x", "is not in this repository"),
        ("pay.py:0", "names no lines"),
    ],
)
def test_wrong_places(team: Team, place: str, words: str):
    """Each is told what is wrong, and what to do."""
    text = said(team.repo, str(team.repo / place), code=1)
    assert words in text and "hint: " in text and "Traceback" not in text


def test_hidden_files_are_not_told_of(team: Team):
    """Nothing of a file in .gitmemignore goes into state, or into a session record."""
    (team.repo / ".gitmemignore").write_text("secret.py\n")
    one = team.session("s-one")
    one.write("secret.py", "TOKEN_OF_NOBODY = 1\n")
    one.write("open.py", "OPEN_TO_ALL = 1\n")
    one.commit("Both")
    team.drain()
    state = b"".join(path.read_bytes() for path in (team.repo / ".git/gitmem").glob("state.db*"))
    assert b"open.py" in state and b"secret.py" not in state
