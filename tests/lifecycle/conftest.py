"""A repository whose code changes while facts about it stay."""

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from tests.cli.conftest import DAY, Mem, clones, editor, hub
from tests.conftest import git

__all__ = ["clones", "editor", "hub"]
BEGIN = 100  # days ago, of the first commit
STEP = 10  # days between two


class Code:
    """The files of a repository, by commits that are days apart, and facts said between them."""

    def __init__(self, mem: Mem) -> None:
        self.mem = mem
        self.folder = mem.folder
        self.commits = 0

    def write(self, files: Mapping[str, str | None]) -> None:
        """Write files; None removes one."""
        for name, text in files.items():
            path = self.folder / name
            if text is None:
                path.unlink()
                if not any(path.parent.iterdir()):
                    path.parent.rmdir()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def commit(self, **files: str | None) -> str:
        """Commit files, the next time; return the commit."""
        return self.commit_files(files)

    def commit_files(self, files: Mapping[str, str | None]) -> str:
        """Commit files by their paths, the next time; return the commit."""
        self.write(files)
        at = f"@{int(time.time() - self._ago(0))} +0000"
        with mock.patch.dict(os.environ, {"GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at}):
            git(self.folder, "add", "-A")
            git(self.folder, "commit", "-qm", f"step {self.commits}")
        self.commits += 1
        return git(self.folder, "rev-parse", "HEAD")

    def _ago(self, days: float) -> float:
        return (BEGIN - STEP * self.commits - days) * DAY

    def say(self, text: str, *args: str) -> str:
        """Remember a fact a day after the last commit; return its id."""
        return self.mem.add(text, *args, ago=self._ago(1 - STEP))

    def found(self, *ids: str) -> list[tuple[str, str]]:
        """Return (sort, evidence) of what speaks against facts."""
        rows = self.mem("check", *ids, "--against", "code", "--json").json
        return [(row["finding"], row["reason"]) for row in rows]

    def rows(self, *ids: str) -> list[dict[str, Any]]:
        """Return the findings about facts."""
        rows: list[dict[str, Any]] = self.mem("check", *ids, "--against", "code", "--json").json
        return rows


@pytest.fixture
def mem(repo: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Mem:
    """`git mem` in a plain repository, in this process."""
    return Mem(repo, capsys, monkeypatch)


@pytest.fixture
def code(mem: Mem) -> Code:
    """Code without a commit yet."""
    return Code(mem)
