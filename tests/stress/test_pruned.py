"""The user's `git gc --prune=now`, `git prune` and `git repack -ad` beside writers: what was acknowledged is whole."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import git
from tests.scale import scaled
from tests.stress.conftest import assert_whole, finish, mem

pytestmark = pytest.mark.stress

Start = Callable[..., "subprocess.Popen[str]"]
ROUNDS, EACH = scaled(200, 12), 40
COLLECTIONS = (("gc", "-q", "--prune=now"), ("prune", "--expire=now"), ("repack", "-adq"))


@pytest.mark.parametrize("backend", ["libgit2", "git"])
def test_collections_beside_writers(repo: Path, start: Start, backend: str):
    """Git throws away at once what no ref leads to; two writers never have an object there that no ref leads to yet."""
    mem(repo, "init", "--no-remote")
    acknowledged: set[str] = set()
    writers: list[subprocess.Popen[str]] = []
    for number in range(ROUNDS):
        for slot in (0, 1):
            if len(writers) <= slot:
                writers.append(start("write", repo, backend, EACH, f"w{slot}-{number}"))
            elif writers[slot].poll() is not None:
                acknowledged.update(finish(writers[slot]))
                writers[slot] = start("write", repo, backend, EACH, f"w{slot}-{number}")
        subprocess.run(
            ["git", "-C", str(repo), *COLLECTIONS[number % 3]], capture_output=True, check=False
        )
    for writer in writers:
        acknowledged.update(finish(writer))
    assert EACH < len(acknowledged)
    assert_whole(repo, acknowledged)
    assert "" == git(repo, "status", "--porcelain")
