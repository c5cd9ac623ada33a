"""Contents of blobs by one process of git."""

import os
import time
from pathlib import Path

from gitmem.git.blobs import read_blobs
from gitmem.git.process import Git
from tests.conftest import git


def test_blobs_in_order_without_those_that_are_none(repo: Path) -> None:
    """What is missing, a folder or too large is None, and hides nothing behind it."""
    (repo / "folder").mkdir()
    for name, data in (("a b.txt", b"one\n"), ("large", b"x" * 50), ("folder/c", b"")):
        (repo / name).write_bytes(data)
    git(repo, "add", ".")
    git(repo, "commit", "-qm", "Files")
    names = ["HEAD:a b.txt", "HEAD:large", "HEAD:nothing", "HEAD:folder", "HEAD:folder/c", "0" * 40]

    git_here = Git(str(repo / ".git"), os.environ)
    found = list(read_blobs(git_here, [*names, "HEAD:a b.txt"], 10, time.monotonic() + 60))

    assert [b"one\n", None, None, None, b"", None, b"one\n"] == found


def test_git_that_fails_gives_nothing(tmp_path: Path) -> None:
    """Where git cannot read the repository, there are no answers rather than wrong ones."""
    git_there = Git(str(tmp_path / "none"), os.environ)
    assert list(read_blobs(git_there, ["HEAD:a"], 10, time.monotonic() + 60)) == []
