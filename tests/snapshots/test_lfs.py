"""Files of Git LFS in snapshots, with git-lfs itself: what is on disk and what is staged come back as they were."""

import os
import shutil
from pathlib import Path

import pytest

from tests.conftest import git
from tests.hooks.conftest import run


@pytest.fixture
def lfs(repo: Path) -> Path:
    """A repository whose `*.bin` are kept by git-lfs."""
    if shutil.which("git-lfs") is None:
        if os.environ.get("GITMEM_REQUIRE_ALL"):
            pytest.fail("git-lfs is not installed, and GITMEM_REQUIRE_ALL is set.")
        pytest.skip("git-lfs is not installed.")
    git(repo, "lfs", "install", "--local")
    git(repo, "lfs", "track", "*.bin")
    (repo / "a.bin").write_bytes(os.urandom(5000))
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "large")
    run(repo, "init", "--no-remote")
    return repo


def test_large_files_come_back(lfs: Path):
    """A changed one, a staged one, an untracked one: bytes on disk, pointers in the index."""
    files = {name: os.urandom(7000) for name in ("a.bin", "staged.bin", "new.bin")}
    for name, data in files.items():
        (lfs / name).write_bytes(data)
    git(lfs, "add", "staged.bin")
    before, entries = git(lfs, "status", "--short"), git(lfs, "ls-files", "-s")
    run(lfs, "snapshot", "save")
    git(lfs, "reset", "-q", "--hard")
    (lfs / "new.bin").unlink()
    run(lfs, "snapshot", "restore", "last", "--worktree")

    assert {name: (lfs / name).read_bytes() for name in files} == files
    assert (git(lfs, "status", "--short"), git(lfs, "ls-files", "-s")) == (before, entries)
    assert git(lfs, "cat-file", "-p", ":staged.bin").startswith(
        "version https://git-lfs.github.com/spec/v1"
    )
