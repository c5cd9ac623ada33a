"""A model judges the pairs that are not sure, and sees no others."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.lifecycle.memories import add, data

UNSURE = ("Use Decimal for money", "Use float for money")
SURE = ("The session store is Redis", "The session store is Memcached")


def configure(repo: Path, tmp_path: Path, answer: str) -> Path:
    """Have a program answer questions; return the file that it puts them in."""
    seen, program = tmp_path / "question", tmp_path / "model.py"
    program.write_text(
        f"import sys; open({str(seen)!r}, 'a').write(sys.stdin.read()); print({answer!r})"
    )
    for key, value in (("summariser", "command"), ("modelCommand", f"{sys.executable} {program}")):
        subprocess.run(["git", "config", "--global", f"gitmem.{key}", value], check=True)
    return seen


def verdict(*, contradict: bool) -> str:
    """Return an answer about the first pair."""
    return json.dumps({"pairs": [{"number": 1, "contradict": contradict}]})


@pytest.fixture(autouse=True)
def contradictions(repo: Path) -> None:
    """Two facts that surely contradict each other, and two that may."""
    for title in (*UNSURE, *SURE):
        add(repo, title)


def findings(repo: Path) -> list[bool]:
    """Return of each finding whether it is sure."""
    return [row["is_sure"] for row in data(repo, "check")]


def test_a_denied_pair_is_no_finding(repo: Path, tmp_path: Path) -> None:
    """The model saw that pair alone, once."""
    seen = configure(repo, tmp_path, verdict(contradict=False))
    assert findings(repo) == [True]
    question = seen.read_text()
    assert UNSURE[0] in question
    assert SURE[0] not in question
    assert findings(repo) == [True]
    assert seen.read_text() == question


def test_a_confirmed_pair_is_sure(repo: Path, tmp_path: Path) -> None:
    """It is told as the others."""
    configure(repo, tmp_path, verdict(contradict=True))
    assert findings(repo) == [True, True]


@pytest.mark.parametrize(
    "answer", ["no idea", "", '{"pairs": [{"number": 7, "contradict": true}]}']
)
def test_without_an_answer_a_pair_stays_unsure(repo: Path, tmp_path: Path, answer: str) -> None:
    """Nonsense decides nothing."""
    configure(repo, tmp_path, answer)
    assert sorted(findings(repo)) == [False, True]


def test_secrets_stay_here(repo: Path, tmp_path: Path) -> None:
    """What is shown is masked."""
    seen = configure(repo, tmp_path, verdict(contradict=True))
    add(repo, "Use cents for money", "Not <private>what Bob said</private>.")
    findings(repo)
    assert "Bob" not in seen.read_text()


def test_a_dry_run_asks_no_model(repo: Path, tmp_path: Path) -> None:
    """It counts what may be open, and leaves the question to whoever asks in earnest."""
    seen = configure(repo, tmp_path, verdict(contradict=False))
    (step,) = data(repo, "consolidate", "--dry-run", "--steps", "check")["steps"]
    assert (step["finding_count"], seen.exists()) == (2, False)
    (step,) = data(repo, "consolidate", "--steps", "check")["steps"]
    assert (step["finding_count"], seen.exists()) == (1, True)
    assert findings(repo) == [True]
