"""Two runs of `git blame` side by side fail as one."""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from gitmem.errors import External, UserError
from gitmem.git.blame import blame
from gitmem.git.code_history import CodeHistory
from gitmem.repo.location import locate
from tests.conftest import git


class SlowWithoutMoves(CodeHistory):
    """A history whose plain blame takes too long."""

    runs = 0

    def run(self, *args: str, stdin: bytes | None = None, ok: Sequence[int] = (0,)) -> bytes:
        """Run git, but no plain blame."""
        if args[0] == "blame" and "-M" not in args:
            self.runs += 1
            raise External("git blame did not finish in 120 s and was stopped.", "Try again.")
        return super().run(*args, stdin=stdin, ok=ok)


def test_error_of_either_run_is_raised_once(repo: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The caller gets it, nothing is printed, and the run is not done again."""
    (repo / "pay.py").write_text("import decimal\n")
    git(repo, "add", ".")
    git(repo, "commit", "-qm", "code")
    history = SlowWithoutMoves(locate(str(repo), os.environ), os.environ)
    with pytest.raises(External, match="did not finish"):
        blame(history, "pay.py", [(1, 1)])
    assert history.runs == 1
    assert capfd.readouterr().err == ""


def test_error_of_both_runs_is_raised_once(repo: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A line that is not there is told in one sentence."""
    (repo / "pay.py").write_text("import decimal\n")
    git(repo, "add", ".")
    git(repo, "commit", "-qm", "code")
    with pytest.raises(UserError, match="has 1 line"):
        blame(CodeHistory(locate(str(repo), os.environ), os.environ), "pay.py", [(7, 7)])
    assert capfd.readouterr().err == ""
