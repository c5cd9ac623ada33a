"""What a session teaches when a command that failed passes: an edit ends an error, a command or the environment is a workaround."""

import os
from pathlib import Path

import pytest

from tests.conftest import git
from tests.hooks.conftest import crash, gotchas, learn, run, wait_for
from tests.json_output import data_of

COMMAND = "python app/pay.py"


def show(path, id):
    return data_of(run(path, "show", id, "--json"))[0]


@pytest.fixture
def captured(project, agent):
    """A session in which a command has failed often enough."""
    one = agent()
    for _ in range(3):
        one.fail(crash(project), COMMAND)
    wait_for(lambda: gotchas(project))
    return one


def passes(one, command=COMMAND, **response):
    """Let a command pass, as Claude Code tells it."""
    answer = {"stdout": "0.2\n", "stderr": "", "interrupted": False, "isImage": False, **response}
    one.hook(
        "PostToolUse.Edit", tool_name="Bash", tool_input={"command": command}, tool_response=answer
    )


def edits(one, path):
    one.hook(
        "PostToolUse.Edit",
        tool_input={"file_path": str(path), "old_string": "a", "new_string": "b"},
    )


def the_gotcha(project):
    (row,) = gotchas(project)
    return {"resolved": False, "workaround": "", **row}


def changed(project, check):
    return wait_for(lambda: (row := the_gotcha(project)) and check(row) and row)


def test_edit_of_the_code_resolves(project, captured):
    """The fix is noted: which files, how much, and what passes; the gotcha is still found."""
    pay = project / "app" / "pay.py"
    pay.write_text(
        pay.read_text().replace('os.environ["TAX_RATE"]', 'os.environ.get("TAX_RATE", "0.2")')
        + "# done\n"
    )
    edits(captured, pay)
    passes(captured)
    row = changed(project, lambda r: r["is_resolved"])
    full = show(project, row["id"])
    assert "`python app/pay.py` passes after an edit of app/pay.py (+2 −1)." in full["body"]
    assert (
        ["app/pay.py"],
        "1 file, +2 −1",
        git(project, "rev-parse", "HEAD").strip(),
        "git-mem",
    ) == tuple(full["resolved"][k] for k in ("files", "stat", "commit", "by"))
    assert row["id"] in run(project, "search", "passes after an edit", "--json")
    assert not full.get("workaround")


def test_commit_of_the_fix_is_named(project, captured):
    """A fix that was committed before the command passed can be looked at."""
    pay = project / "app" / "pay.py"
    pay.write_text("print(1)\n")
    edits(captured, pay)
    git(project, "commit", "-qam", "fix")
    passes(captured, f"cd {project} && {COMMAND}")
    row = changed(project, lambda r: r["is_resolved"])
    head = git(project, "rev-parse", "HEAD").strip()
    assert f"committed as {head[:12]}" in show(project, row["id"])["body"]


def test_command_that_helped_becomes_the_workaround(project, captured):
    """What only looks is not what helped; the gotcha stays active."""
    passes(captured, "cat app/pay.py && git status")
    passes(captured, "pip install tax-rates")
    passes(captured)
    row = changed(project, lambda r: r["workaround"])
    assert ("What helped: `pip install tax-rates`; then `python app/pay.py` passed.", False) == (
        row["workaround"],
        row["is_resolved"],
    )
    told = captured.fail(crash(project), COMMAND)
    assert "Workaround: What helped: `pip install tax-rates`" in told


def test_environment_that_helped_becomes_the_workaround(project, captured):
    """The same command with a variable set is the same command."""
    passes(captured, "TAX_RATE=0.2 python app/pay.py 2>&1")
    assert (
        "Run it as `TAX_RATE=0.2 python app/pay.py`."
        == changed(project, lambda r: r["workaround"])["workaround"]
    )


def test_ignored_file_is_a_setting(project, captured):
    """What git ignores is not the project's code: who clones it has the error again."""
    (project / ".gitignore").write_text("local.cfg\n")
    (project / "local.cfg").write_text("rate = 1\n")
    edits(captured, project / "local.cfg")
    passes(captured)
    row = changed(project, lambda r: r["workaround"])
    assert ("What helped: a change of local.cfg; then `python app/pay.py` passed.", False) == (
        row["workaround"],
        row["is_resolved"],
    )


@pytest.mark.parametrize(
    ("command", "response"),
    [
        ("python app/pay.py | tail -5", {}),  # the exit code is tail's
        ("python app/pay.py || true", {}),
        ("python app/pay.py; echo done", {}),
        ("python app/pay.py &", {}),
        ("python app/other.py", {}),
        (COMMAND, {"interrupted": True}),
    ],
)
def test_what_does_not_prove_that_it_passes(project, captured, command, response):
    """A pipe hides the exit code, another command is another command: nothing is concluded."""
    edits(captured, project / "app" / "pay.py")
    passes(captured, command, **response)
    run(project, "drain")
    row = the_gotcha(project)
    assert (False, "") == (row["is_resolved"], row["workaround"])


def test_background_command_proves_nothing(project, captured):
    """It was only started."""
    edits(captured, project / "app" / "pay.py")
    captured.hook(
        "PostToolUse.Edit",
        tool_name="Bash",
        tool_input={"command": COMMAND, "run_in_background": True},
        tool_response={},
    )
    run(project, "drain")
    assert not the_gotcha(project)["is_resolved"]


def test_other_session_and_ended_session_conclude_nothing(project, captured, agent):
    """Who did not see it fail cannot know what helped; after the session's end everything may be another."""
    other = agent("s2")
    edits(other, project / "app" / "pay.py")
    passes(other)
    captured.hook("SessionEnd")
    edits(captured, project / "app" / "pay.py")
    passes(captured)
    run(project, "drain")
    assert not the_gotcha(project)["is_resolved"]


def test_edit_before_the_last_failure_did_not_help(project, captured):
    """Only what was done since it failed last can have helped."""
    edits(captured, project / "app" / "pay.py")
    captured.fail(crash(project), COMMAND)
    passes(captured)
    run(project, "drain")
    row = the_gotcha(project)
    assert (False, "") == (row["is_resolved"], row["workaround"])


def test_confirmed_gotcha_is_left_to_people(project, captured):
    """One edit does not settle what somebody said is so."""
    run(project, "gotcha", "verify", the_gotcha(project)["id"])
    edits(captured, project / "app" / "pay.py")
    passes(captured)
    run(project, "drain")
    assert not the_gotcha(project)["is_resolved"]


def test_secret_in_what_helped_is_masked(project, captured):
    """A workaround is committed and shared."""
    passes(captured, "export API_TOKEN=ghp_abcdefghijklmnopqrstuvwxyz0123456789")
    passes(captured)
    row = changed(project, lambda r: r["workaround"])
    assert "ghp_abcdefghijklmnopqrstuvwxyz0123456789" not in row["workaround"]
    assert "export API_TOKEN=" in row["workaround"]


def test_hit_after_the_fix_reopens(project, captured):
    """A fix that did not hold is told as such."""
    edits(captured, project / "app" / "pay.py")
    passes(captured)
    changed(project, lambda r: r["is_resolved"])
    captured.fail(crash(project), COMMAND)
    row = changed(project, lambda r: not r["is_resolved"])
    assert "> Reopened" in show(project, row["id"])["body"]


def test_unconfirmed_is_not_injected_by_setting(project, captured, agent):
    """Until somebody says that it is so; by default it is told, and marked."""
    run(project, "drain")
    assert "unconfirmed" in agent("s2").hook("SessionStart")
    git(project, "config", "gitmem.unconfirmed", "false")
    assert "" == agent("s3").hook("SessionStart")
    learn(project, "gotcha", "verify", the_gotcha(project)["id"])
    told = agent("s4").hook("SessionStart")
    assert "KeyError" in told
    assert "unconfirmed" not in told


def test_snoozed_is_not_injected(project, captured, agent):
    """What its user put off is quiet for this user."""
    run(project, "gotcha", "snooze", the_gotcha(project)["id"])
    assert "" == agent("s2").hook("SessionStart")
    run(project, "gotcha", "snooze", "--off", the_gotcha(project)["id"])
    assert "KeyError" in agent("s3").hook("SessionStart")


# -- sessions as they are


def fails(one, command, error, times=3):
    for _ in range(times):
        one.fail(error, command)


def missing(name):
    return f"Exit code 1\nTraceback (most recent call last):\n  File \"t.py\", line 1, in <module>\nModuleNotFoundError: No module named '{name}'"


def titled(project, part):
    """Return the gotcha that has a text in its title."""
    return next(
        (
            {"resolved": False, "workaround": "", **row}
            for row in gotchas(project)
            if part in row["title"]
        ),
        None,
    )


def test_error_that_another_followed_ended_there(project, agent):
    """`pip install` ended the first; the edit after the second has nothing to do with it."""
    one = agent()
    fails(one, "pytest", missing("requests"))
    wait_for(lambda: titled(project, "requests"))
    passes(one, "pip install requests")
    one.fail("Exit code 1\nE   ValueError: boom happened", "pytest")
    edits(one, project / "app" / "pay.py")
    passes(one, "pytest")
    row = wait_for(lambda: (r := titled(project, "requests")) and r["workaround"] and r)
    assert ("What helped: `pip install requests`; then `pytest` passed.", False) == (
        row["workaround"],
        row["is_resolved"],
    )


def test_each_folder_is_its_own(project, agent):
    """Of a repository with two programs, one's fix says nothing of the other's error."""
    for name in ("frontend", "backend"):
        (project / name).mkdir()
    one = agent()
    fails(one, "cd frontend && npm test", missing("frontend"))
    wait_for(lambda: titled(project, "frontend"))
    edits(one, project / "backend" / "x.js")
    passes(one, "cd backend && npm test")
    run(project, "drain")
    assert not titled(project, "frontend")["is_resolved"]
    edits(one, project / "frontend" / "y.js")
    passes(one, f"cd {project}/frontend && npm test -- --silent")
    wait_for(lambda: titled(project, "frontend")["is_resolved"])


def test_prose_is_no_fix_and_what_only_runs_no_help(project, captured):
    """Notes are written and single tests are run all the time."""
    edits(captured, project / "NOTES.md")
    passes(captured, "mkdir -p out && cargo fmt && pytest tests/test_a.py")
    passes(captured)
    run(project, "drain")
    row = the_gotcha(project)
    assert (False, "") == (row["is_resolved"], row["workaround"])


def test_file_of_the_agent_itself_is_no_setting(project, captured):
    """Plans and memories that an agent keeps at home are written all the time, and nobody else's business."""
    home = Path(os.environ["HOME"])
    edits(captured, home / ".claude" / "plans" / "secret-plan.md")
    edits(captured, "/tmp/scratch.py")
    passes(captured)
    run(project, "drain")
    assert "" == the_gotcha(project)["workaround"]


def test_setting_at_home_is_named_for_every_home(project, captured):
    """Whose home it is does not matter."""
    edits(captured, Path(os.environ["HOME"]) / ".npmrc")
    passes(captured)
    row = changed(project, lambda r: r["workaround"])
    assert (
        "What helped: a change of ~/.npmrc; then `python app/pay.py` passed." == row["workaround"]
    )


def test_edit_through_the_shell_is_an_edit(project, captured):
    """`sed -i` is how some agents write."""
    pay = project / "app" / "pay.py"
    pay.write_text(pay.read_text() + "# by sed\n")
    passes(captured, "sed -i 's/a/b/' app/pay.py")
    passes(captured)
    row = changed(project, lambda r: r["is_resolved"])
    assert "after an edit of app/pay.py (+1 −0)." in show(project, row["id"])["body"]


def test_what_helped_better_takes_the_place_of_what_helped(project, captured):
    """A conclusion of ours is not a last word; a person's workaround is."""
    passes(captured, "rm -rf node_modules")
    passes(captured)
    changed(project, lambda r: r["workaround"])
    captured.fail(crash(project), COMMAND)
    passes(captured, "docker compose up -d db")
    passes(captured)
    row = changed(project, lambda r: "docker" in r["workaround"])
    run(project, "edit", row["id"], "--workaround", "ask Ada")
    captured.fail(crash(project), COMMAND)
    passes(captured, "npm ci")
    passes(captured)
    run(project, "drain")
    assert "ask Ada" == the_gotcha(project)["workaround"]


def test_secret_in_the_fix_is_masked(project, captured):
    """What resolves a gotcha is committed and shared, its front matter too."""
    edits(captured, project / "app" / "pay.py")
    passes(captured, "GH_TOKEN=ghp_abcdefghijklmnopqrstuvwxyz0123456789 python app/pay.py")
    row = changed(project, lambda r: r["is_resolved"])
    assert "ghp_abcdefghijklmnopqrstuvwxyz0123456789" not in run(
        project, "show", row["id"], "--raw"
    )


def test_only_its_owner_reads_what_waits(project, captured):
    """Commands as they were typed stand there unmasked."""
    folder = project / ".git" / "gitmem"
    assert {0o600} == {(folder / name).stat().st_mode & 0o777 for name in ("state.db",)}


@pytest.mark.parametrize(
    ("command", "error"),
    [
        ("ls nofile", "ls: cannot access 'nofile': No such file or directory"),
        ("grep x nofile", "grep: nofile: No such file or directory"),
        ("git mem show zzzzzz", "error: no record matches 'zzzzzz'."),
        ("pytest", "Permission to use Bash with command pytest has been denied."),
    ],
)
def test_slip_of_the_agent_is_no_error_of_the_project(project, agent, command, error):
    """Looking at what is not there happens all day."""
    one = agent()
    fails(one, command, f"Exit code 1\n{error}" if not error.startswith("Permission") else error, 4)
    run(project, "drain")
    assert [] == gotchas(project)


def test_other_work_tree_is_judged_in_its_own(project, captured, tmp_path):
    """Whoever drains: the facts are those of the work tree in which it failed."""
    git(project, "worktree", "add", "-q", "-b", "other", str(tmp_path / "other"))
    (tmp_path / "other" / "more.py").write_text("1\n")
    git(tmp_path / "other", "add", ".")
    git(tmp_path / "other", "commit", "-qm", "other")
    pay = project / "app" / "pay.py"
    pay.write_text(pay.read_text() + "# fixed\n")
    edits(captured, pay)
    passes(captured)
    run(tmp_path / "other", "drain")
    row = changed(project, lambda r: r["is_resolved"])
    assert (git(project, "rev-parse", "HEAD").strip(), "1 file, +1 −0") == tuple(
        show(project, row["id"])["resolved"][k] for k in ("commit", "stat")
    )
