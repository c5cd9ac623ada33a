"""The main job: what one session learns, another is told, in another clone."""

import subprocess
from pathlib import Path

import pytest

from gitmem.repo.location import Home
from gitmem.store import journal, operations
from tests.conftest import fsck, git
from tests.hooks.conftest import Agent, committed, crash, gotchas, run, wait_for
from tests.hooks.test_claude import fresh


def test_sample_as_it_is_makes_a_gotcha_on_the_third_time(agent):
    """The recorded payload, three times, in three sessions."""
    for session in ("one", "two", "three"):
        assert gotchas(agent().cwd) == []
        agent(session).hook("PostToolUseFailure.Bash")
    found = wait_for(lambda: gotchas(agent().cwd))
    assert [(g["title"], g["occurrences"], g["origin"]) for g in found] == [("boom", 3, "captured")]
    assert committed(agent().cwd)[0] == f"gotcha: capture {found[0]['id']}"


def test_one_session_learns_and_another_clone_is_told(project: Path, tmp_path: Path, agent):
    hub, other = tmp_path / "hub.git", tmp_path / "other clone"
    git(tmp_path, "init", "-q", "--bare", str(hub))
    git(project, "remote", "add", "origin", str(hub))
    git(project, "push", "-q", "origin", "HEAD:main")
    before = git(project, "status", "--porcelain")
    for _ in range(3):
        agent("learner").fail(crash(project))
    wait_for(lambda: gotchas(project))
    run(project, "inbox", "--accept-all")
    run(project, "remote", "enable", "origin")
    run(project, "sync")
    git(tmp_path, "clone", "-q", "-b", "main", str(hub), str(other))
    run(other, "sync")

    later = Agent(other, "later")
    start = later.hook("SessionStart")
    assert start.startswith("<git-mem>") and start.endswith("</git-mem>")
    assert "KeyError: 'TAX_RATE'" in start and "app/pay.py:5" in start and "; captured;" in start
    # a session is told once
    assert later.hook("UserPromptSubmit", prompt="why does app/pay.py crash?") == ""
    assert "TAX_RATE" in Agent(other, "next").hook(
        "UserPromptSubmit", prompt="why does app/pay.py crash?"
    )
    assert "TAX_RATE" in Agent(other, "third").hook(
        "UserPromptSubmit", prompt="where do we set TAX_RATE?"
    )
    assert (
        Agent(other, "fourth").hook("UserPromptSubmit", prompt="write a poem about the sea") == ""
    )
    told = Agent(other, "fifth").hook(
        "PreToolUse.Read", tool_input={"file_path": str(other / "app" / "pay.py")}
    )
    assert "TAX_RATE" in told
    assert gotchas(other)[0]["session"] == "learner"
    for path in (project, other):
        assert fsck(path) == ""
        assert git(path, "status", "--porcelain") == before


def test_later_hits_are_counted_and_reopen(project: Path, agent):
    for _ in range(3):
        agent().fail(crash(project))
    found = wait_for(lambda: [g for g in gotchas(project) if g["occurrences"] == 3])
    id = found[0]["id"]
    run(project, "edit", id, "--workaround", "export TAX_RATE=0.2")
    fresh(project)
    answer = agent("another").fail(crash(project))
    assert "this error is known" in answer and "export TAX_RATE=0.2" in answer
    assert agent("another").fail(crash(project)) == ""
    agent("another").hook("SessionEnd")
    wait_for(lambda: gotchas(project)[0]["occurrences"] == 5)


def test_an_error_that_comes_back_is_answered_with_its_fix(project: Path, agent):
    """Resolved, then it fails again: the hook says at once how it was fixed, and that it came back; so does a later session."""
    for _ in range(3):
        agent().fail(crash(project))
    found = wait_for(lambda: [g for g in gotchas(project) if g["occurrences"] == 3])
    id = found[0]["id"]
    run(project, "gotcha", "resolve", id, "-m", "TAX_RATE has a default in app/settings.py now")
    fresh(project)
    commit = git(project, "rev-parse", "HEAD")[:12]
    answer = agent("later").fail(crash(project))
    assert "It came back: it was fixed on" in answer and f"at commit {commit}" in answer
    assert "TAX_RATE has a default in app/settings.py now" in answer and id[-8:] in answer
    wait_for(lambda: not gotchas(project)[0].get("is_resolved"))
    fresh(project)
    assert "It came back" in agent("next day").fail(crash(project))
    assert "was fixed on" in run(project, "error", "record", crash(project))


def test_secret_in_an_error_never_reaches_a_blob(project: Path, agent):
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    for _ in range(3):
        agent().fail(
            f"Exit code 1\nError: push rejected for token {secret}",
            f"git push https://x:{secret}@example.org/r",
        )
    wait_for(lambda: gotchas(project))
    objects = git(
        project, "cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)"
    )
    blobs = [line.split()[0] for line in objects.splitlines()]
    assert blobs and not any(secret in git(project, "cat-file", "-p", oid) for oid in blobs)


GITHUB = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
SLACK = "xoxb-" + "123456789012-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx"
KEY = "\n".join(
    [
        "-----BEGIN RSA " + "PRIVATE KEY-----",
        *("MIIEpAIBAAKCAQEA7x" + str(n) * 44 for n in range(10)),
        *["Qq3" * 20] * 60,
        "-----END RSA " + "PRIVATE KEY-----",
    ]
)


@pytest.mark.parametrize(
    ("error", "command", "parts"),
    [
        (
            f"Exit code 1\n{KEY}\nError: deploy key rejected",
            "deploy",
            ["MIIEpAIBAAKCAQEA7x", "Qq3Qq3Qq3Qq3"],
        ),
        ("Exit code 1\nError: push failed", "x" * 466 + f" T={GITHUB} y", [GITHUB[:24]]),
        (f"Exit code 1\nValueError: auth failed {SLACK} end", "python app/pay.py", [SLACK[-24:]]),
        ("Exit code 1\nError: " + "word " * 12 + GITHUB, "x", [GITHUB[:24]]),
    ],
    ids=["key that is cut", "command that is cut", "token in the pattern", "title that is cut"],
)
def test_part_of_a_secret_never_reaches_a_blob(project: Path, agent, error, command, parts):
    for _ in range(3):
        agent().fail(error, command)
    wait_for(lambda: gotchas(project))
    everything = subprocess.run(
        "git cat-file --batch-all-objects --batch",
        shell=True,
        cwd=project,
        capture_output=True,
        check=True,
    ).stdout.decode("utf-8", "replace")
    assert [part for part in parts if part in everything] == []


def test_code_around_an_error_is_masked(project: Path, agent):
    """The lines beside an anchored one are text like any other."""
    (project / "app/conf.py").write_text(f'token = "{GITHUB}"\n\n\nraise ValueError("boom")\n')
    for _ in range(3):
        agent().fail(
            'Exit code 1\nTraceback (most recent call last):\n  File "app/conf.py", line 4, in <module>\nValueError: boom'
        )
    found = wait_for(lambda: gotchas(project))
    assert found[0]["anchors"][0]["path"] == "app/conf.py"
    everything = subprocess.run(
        "git cat-file --batch-all-objects --batch",
        shell=True,
        cwd=project,
        capture_output=True,
        check=True,
    ).stdout
    assert GITHUB.encode() not in everything


def test_capture_survives_a_drain_that_never_ran(project: Path, agent):
    """The hook's own process leaves a journal entry; the next command commits it, once."""
    for _ in range(3):
        agent(PATH="/nonexistent").fail(crash(project))
    assert wait_for(lambda: gotchas(project))[0]["occurrences"] == 3
    assert len([s for s in committed(project) if "capture" in s]) == 1


def test_a_hit_that_waits_while_its_gotcha_becomes_shared_is_counted(project: Path, agent):
    """A person resolves the gotcha, which shares it; the error came back before the drain wrote that."""
    for _ in range(3):
        agent().fail(crash(project))
    found = wait_for(lambda: [g for g in gotchas(project) if g["occurrences"] == 3])
    id = found[0]["id"]
    fresh(project)
    facts = {
        "pattern": "KeyError: 'TAX_RATE'",
        "output": crash(project),
        "command": "python app/pay.py",
        "root": str(project),
        "times": 1,
        "at": "2030-01-01T00:00:00Z",
        "first": "2030-01-01T00:00:00Z",
        "session": "later",
        "agent": "",
        "anchors": [],
    }
    run(project, "gotcha", "resolve", id, "-m", "it has a default now")
    run(project, "drain")
    assert gotchas(project)[0]["store"] == "shared"
    waiting = {
        "key": "01m8k5czffb1761se046xy512k",
        "ref": "refs/gitmem/local/main",
        "since": None,
        "subject": f"gotcha: capture {id}",
        "trailers": ["capture", [id], "", "later", []],
        "author": ["", ""],
        "at": facts["at"],
        "ops": [operations.capture(facts)],
    }
    for _ in range(2):  # killed after it was passed on, so that it is there again
        journal.add(Home(str(project / ".git" / "gitmem")), waiting)
        run(project, "drain")

    row = gotchas(project)[0]
    assert (row["occurrences"], row.get("is_resolved", False)) == (4, False)
    assert list((project / ".git" / "gitmem" / "journal").iterdir()) == []
