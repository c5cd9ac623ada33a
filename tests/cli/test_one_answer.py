"""One question has one answer, whatever the command: what is known of a file, of an error, of a subject."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gitmem.app import open_app
from tests.codemap.graph.projects import commit, mem, new
from tests.index.recall_sets import Turn, fill

ERROR = "KeyError: 'TAX_RATE'"
TRACEBACK = f'Traceback (most recent call last):\n  File "app/pay.py", line 2, in charge\n    return rate()\n{ERROR}\n'


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A project with a rule about a file, and a gotcha that was resolved."""
    repo = new(tmp_path / "repo")
    commit(repo, {"app/pay.py": "def charge():\n    return rate()\n"}, "First")
    mem(repo, "init", "--no-remote")
    mem(repo, "add", "Charges are never retried", "-t", "rule", "--anchor", "app/pay.py")
    mem(repo, "gotcha", "add", "The tax rate is not set", "--error", ERROR)
    mem(repo, "gotcha", "add", "The rate is read twice", "--anchor", "app/pay.py:2")
    (id,) = [
        row["id"]
        for row in json.loads(mem(repo, "gotcha", "list", "--json").stdout)["data"]
        if "tax" in row["title"]
    ]
    mem(repo, "gotcha", "resolve", id, "-m", "Read it with a default of 0.2.")
    return repo


def asked(repo: Path, prompt: str) -> str:
    """Return what a new session hears at a prompt."""
    payload = {
        "session_id": f"of {prompt}",
        "cwd": str(repo),
        "transcript_path": "/nowhere",
        "hook_event_name": "UserPromptSubmit",
        "prompt": prompt,
    }
    return subprocess.run(
        [sys.executable, "-m", "gitmem", "hook", "claude"],
        input=json.dumps(payload),
        capture_output=True,
        text=True,
        check=True,
        cwd=repo,
    ).stdout


@pytest.mark.parametrize("place", ["app/pay.py", "app/pay.py:1", "app", "."])
def test_a_rule_about_a_file_is_told_as_its_gotchas_are(repo: Path, place: str):
    """`gotcha for` and `list --file` know the same."""
    told = json.loads(mem(repo, "gotcha", "for", place, "--json").stdout)["data"]
    listed = json.loads(mem(repo, "list", "--file", "app/pay.py", "--json").stdout)["data"]
    assert {row["id"] for row in told} == {row["id"] for row in listed}
    assert {row["kind"] for row in told} == {"memory", "gotcha"}
    assert "Charges are never retried" in mem(repo, "gotcha", "for", place).stdout


@pytest.mark.parametrize(
    "task",
    [ERROR, TRACEBACK, f"the first charge of a day fails with {ERROR} in production"],
)
def test_an_error_that_was_dealt_with_is_told_with_what_helped(repo: Path, task: str):
    """Also when its gotcha is resolved."""
    told = mem(repo, "scout", task).stdout
    assert "The tax rate is not set" in told
    assert "Read it with a default of 0.2." in told


def test_a_prompt_with_such_an_error_is_told_what_helped(repo: Path):
    """By the hook as by the command."""
    told = asked(repo, f"the first charge of a day fails with {ERROR} in production")
    assert "The tax rate is not set" in told
    assert "Read it with a default of 0.2." in told


@pytest.mark.parametrize("error", ["KeyError: 'VAT'", "KeyError", "ValueError: 'TAX_RATE'"])
def test_another_error_brings_no_resolved_gotcha(repo: Path, error: str):
    """Nearly the same is another one."""
    assert "tax rate" not in mem(repo, "scout", error).stdout


def test_a_question_finds_its_record_among_many_that_are_nearly_alike(repo: Path):
    """By what it says; each of the others by its title."""
    mem(
        repo,
        "add",
        "Use SERIALIZABLE for payments",
        "-t",
        "decision",
        "-m",
        "READ COMMITTED lost two updates under load.",
    )
    names = "billing shipping login search export import report mail stock tax cart refund".split()
    titles = [f"The {names[n % 12]} job {4000 + n} needs a second pass" for n in range(1000)]
    with open_app(str(repo), dict(os.environ)) as app:
        fill(app.store(), [Turn(f"{n // 30}", title) for n, title in enumerate(titles)], "own")
        app.index()  # a hook on a busy machine has no time for a thousand facts
    assert "Use SERIALIZABLE" in asked(repo, "which isolation level do payments use?")
    for title in titles[7], titles[500]:
        assert title in asked(repo, f"Please have a look: {title}")
    assert asked(repo, "which colour do the curtains have?") == ""
