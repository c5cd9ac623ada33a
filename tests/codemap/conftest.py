"""Repositories whose files are written, committed and followed."""

import os
import subprocess
from pathlib import Path

import pytest

from gitmem.codemap.anchors.resolve import attach
from gitmem.codemap.anchors.spec import parse
from gitmem.codemap.anchors.tracker import Follower
from gitmem.git.object_codec import object_id
from gitmem.git.process import Git
from gitmem.repo.location import locate


class Tree:
    """A work tree: files go in, anchors come out, a follower finds them again."""

    def __init__(self, path: Path, kind: str = "sha1") -> None:
        self.path = path
        self.kind = kind

    def git(self, *args: str) -> str:
        return (
            subprocess.run(
                [
                    "git",
                    "-C",
                    str(self.path),
                    "-c",
                    "user.name=Ada",
                    "-c",
                    "user.email=ada@example.org",
                    *args,
                ],
                check=True,
                capture_output=True,
            )
            .stdout.decode("utf-8", "surrogateescape")
            .strip()
        )

    def write(self, name: str, text: str) -> None:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")

    def commit(self, message: str = "change") -> str:
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def anchor(self, spec: str, committed: bool = True) -> dict:
        made = parse(spec, exists=lambda p: (self.path / p).is_file())
        data = (self.path / made["path"]).read_bytes()
        out = attach(made, data.decode(), object_id("blob", data, self.kind))
        return {**out, "commit": self.git("rev-parse", "HEAD")} if committed else out

    def follower(self, seconds: float = 20.0) -> Follower:
        where = locate(str(self.path), os.environ)
        return Follower(Git(where.gitdir, os.environ), where.worktree, seconds)

    def line(self, name: str, number: int) -> str:
        return (self.path / name).read_text(encoding="utf-8").split("\n")[number - 1]


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """A new repository without a commit."""
    path = tmp_path / "work"
    path.mkdir()
    subprocess.run(["git", "init", "-q", str(path)], check=True)
    return Tree(path)
