"""`git mem native` in a repository, and the files that agents keep in it and in a home of its own."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gitmem.services.memory_files.discover import encoded
from tests.cli.conftest import Done, Mem
from tests.cli.conftest import clones as clones
from tests.cli.conftest import hub as hub
from tests.cli.conftest import mem as mem
from tests.cli.conftest import outside as outside
from tests.conftest import git


@dataclass
class Native:
    """A repository, the user's home, and the command."""

    mem: Mem
    root: Path
    home: Path

    def __call__(self, *args: str, code: int | None = 0, env: dict[str, str] | None = None) -> Done:
        """Run `git mem native` with these words."""
        return self.mem("native", *args, code=code, env=env)

    def write(self, name: str, text: str | bytes, *, track: bool = False) -> Path:
        """Write a file; `~/` is the user's home."""
        path = self.home / name[2:] if name.startswith("~/") else self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        if track:
            git(self.root, "add", "-f", name)
            git(self.root, "commit", "-qm", f"change {name}")
        return path

    def pull(self, *args: str) -> dict[str, int]:
        """Pull; return what was done, in numbers."""
        counts: dict[str, int] = self("pull", "--json", *args).json["counts"]
        return counts

    def titles(self, *args: str) -> set[str]:
        """Return the titles of the records that are told."""
        rows = self.mem("list", "--json", *args).json
        return {row["title"] for row in rows if row.get("status") != "archived"}

    def record(self, title: str) -> dict[str, Any]:
        """Return a record by its title, whatever its status."""
        rows = [row for row in self.mem("list", "--all", "--json").json if row["title"] == title]
        assert len(rows) == 1, rows
        return self.mem.show(rows[0]["id"])

    @property
    def memory(self) -> Path:
        """Claude Code's auto memory of the repository."""
        return (
            self.home
            / ".claude/projects"
            / encoded(os.path.realpath(self.root))
            / "memory/MEMORY.md"
        )


@pytest.fixture(autouse=True)
def person() -> None:
    """Make this user the one whose commits `git` of the tests makes."""
    config = os.environ["GIT_CONFIG_GLOBAL"]
    for key, value in (("user.name", "Test"), ("user.email", "test@example.org")):
        git(".", "config", "--file", config, key, value)


@pytest.fixture
def native(mem: Mem) -> Native:
    """A repository with one commit, and a home in which Claude Code was used."""
    home = Path(os.environ["HOME"])
    (home / ".claude").mkdir(parents=True, exist_ok=True)
    return Native(mem, mem.folder, home)
