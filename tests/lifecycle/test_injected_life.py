"""What sessions are told over the life of a project: at most 2 % of it is wrong and unmarked."""

from pathlib import Path

from tests.command_line import run_command
from tests.lifecycle.injected_life import Life, share
from tests.scale import FULL, scaled

POINTS = scaled(50, 10)
MOST = 0.02 if FULL else 0.03  # early on there are few facts to share what is wrong
LASTING = 100  # facts that hold all the time


def lived(repo: Path, *, keeps_true: bool) -> float:
    """Live; return the share of what was told that was wrong."""
    run_command(repo, "init", "--no-remote")
    told = Life(repo, 7, LASTING, keeps_true=keeps_true).run(POINTS)
    sums = [sum(counts) for counts in zip(*told, strict=True)]
    print(f"told, stale, doubled, contradicted, marked: {sums}; wrong: {share(told):.1%}")
    return share(told)


def test_what_is_told_is_right(repo: Path) -> None:
    """Facts were doubled, contradicted, and left behind by the code."""
    assert lived(repo, keeps_true=True) <= MOST


def test_without_checks_it_is_not(repo: Path) -> None:
    """The life is one in which there is something to find."""
    assert lived(repo, keeps_true=False) >= 0.04
