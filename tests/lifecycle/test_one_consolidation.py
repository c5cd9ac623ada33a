"""Consolidations of one repository that meet, and those that can do nothing."""

import json
import subprocess
from pathlib import Path

import pytest

from gitmem.base.files import Lock
from gitmem.store.layout import FORMAT_PATH
from gitmem.worker import one_consolidation
from gitmem.worker.drain import drain
from tests.command_line import run_command
from tests.conftest import git
from tests.lifecycle.memories import DAY, NOW, add, data, opened
from tests.stress.conftest import mem_argv, mem_env


def lock_of(repo: Path) -> Path:
    """Return the file that a consolidation locks."""
    with opened(repo, NOW) as app:
        return Path(app.home.touch(one_consolidation.LOCK))


@pytest.fixture
def running(repo: Path, monkeypatch: pytest.MonkeyPatch) -> Lock:
    """A lock as another consolidation holds it while it runs, in a repository with duplicates."""
    monkeypatch.setattr(one_consolidation, "WAIT", 0.05)
    add(repo, "Deploys happen on Fridays", at=NOW)
    add(repo, "Deploys happen on friday", at=NOW)
    return Lock(str(lock_of(repo)), 1.0)


def test_two_at_once_report_different_work(repo: Path) -> None:
    """No fact is merged by both, and each is merged by one."""
    for number in range(12):
        for wording in ("must log", "has to log", "must log,"):
            add(repo, f"The service {number} {wording} each request", at=NOW)
    argv = mem_argv(repo, "consolidate", "--steps", "collect,merge", "--json")
    both = [
        subprocess.Popen(argv, env=mem_env(), stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    reports = [json.loads(process.communicate()[0])["data"] for process in both]
    merged = [set(report["steps"][1]["changed_ids"]) for report in reports]

    assert merged[0].isdisjoint(merged[1])
    assert len(merged[0] | merged[1]) == 24


def test_the_second_one_says_that_another_is_running(repo: Path, running: Lock) -> None:
    """After a short time; what changes no fact goes on, and so does the next run."""
    with running:
        refused = run_command(repo, "consolidate")
        dry = run_command(repo, "consolidate", "--dry-run", "--steps", "merge")
        health = run_command(repo, "consolidate", "--steps", "health")
    after = run_command(repo, "consolidate", "--steps", "merge")

    assert (refused.returncode, refused.stdout) == (1, "")
    assert "another consolidation of this repository is running" in refused.stderr
    assert (dry.returncode, health.returncode) == (0, 0)
    assert "1 fact merged" in after.stdout


def test_the_background_leaves_a_running_one_alone(repo: Path, running: Lock) -> None:
    """By command and by the worker: nothing is started, and nothing fails."""
    with opened(repo, NOW) as app:
        drain(app)  # the first is due a day later
    with running:
        done = run_command(repo, "consolidate", "--background")
        with opened(repo, NOW + 2 * DAY) as app:
            drain(app)
    facts = [row for row in data(repo, "list") if row["kind"] == "memory"]

    assert (done.returncode, done.stdout) == (0, "")
    assert "another consolidation is running, so nothing was started" in done.stderr
    assert len(facts) == 2


def test_the_background_is_not_promised_where_nothing_can_be_written(repo: Path) -> None:
    """A place that cannot be written to, and a store of a newer format, are errors at once."""
    add(repo, "Deploys happen on Fridays", at=NOW)
    lock = lock_of(repo)
    lock.unlink()
    lock.mkdir()
    refused = run_command(repo, "consolidate", "--background")
    lock.rmdir()
    blob = written(repo, "hash-object", "-w", "--stdin", text='{"format": 99}')
    tree = written(repo, "mktree", text=f"100644 blob {blob}\t{FORMAT_PATH}\n")
    commit = git(repo, "commit-tree", "-m", "newer", tree)
    git(repo, "update-ref", "refs/gitmem/heads/main", commit)
    newer = run_command(repo, "consolidate", "--background")

    assert (refused.returncode, "in the background" in refused.stderr) == (1, False)
    assert f"'{lock}' is not a file" in refused.stderr
    assert (newer.returncode, "in the background" in newer.stderr) == (1, False)
    assert "format 99" in newer.stderr


def written(repo: Path, *args: str, text: str) -> str:
    """Return what git prints for a text on its standard input."""
    done = subprocess.run(
        ["git", "-C", str(repo), *args], input=text, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_an_empty_memory_has_nothing_to_tidy(repo: Path) -> None:
    """No process is started for it."""
    done = run_command(repo, "consolidate", "--background")

    assert (done.returncode, done.stdout) == (0, "")
    assert "there are no facts yet, so nothing was started" in done.stderr
