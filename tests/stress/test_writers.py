"""Many writers on one ref, with everything that git does to refs beside them: none loses a write."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.repo.refs import SHARED
from tests.conftest import git
from tests.scale import scaled
from tests.stress.conftest import assert_whole, findings, finish, mem

pytestmark = pytest.mark.stress

Start = Callable[..., "subprocess.Popen[str]"]
WRITERS, EACH, FOREIGN = 8, scaled(200, 15), scaled(25, 4)


@pytest.mark.parametrize("backend", ["libgit2", "git"])
def test_eight_writers(repo: Path, start: Start, backend: str):
    """Eight processes x 200 writes, foreign writers, cold commands, packed refs and collections: every write is there."""
    mem(repo, "init", "--no-remote")
    loops = [start("chores", repo), start("others", repo, "a"), start("others", repo, "b")]
    foreign = [start("foreign", repo, FOREIGN, name) for name in ("x", "y")]
    writers = [start("write", repo, backend, EACH, f"w{n}") for n in range(WRITERS)]
    cold = set()
    while any(w.poll() is None for w in writers) and len(cold) < scaled(20, 6):
        cold.add(
            mem(repo, "add", f"cold {len(cold)}", "--json").stdout.split('"id": "')[1].split('"')[0]
        )
    told = [finish(w) for w in writers]
    added = [finish(f) for f in foreign]
    packs, collections = (int(n) for n in finish(loops[0])[0].split())
    written = [int(finish(loop)[0]) for loop in loops[1:]]

    assert [EACH] * WRITERS == [len(set(t)) for t in told]
    assert [FOREIGN] * 2 == [len(set(a)) for a in added]
    # a test whose neighbours did nothing would prove nothing
    assert packs > 5 and collections > 0 and min(written) > 10 and cold
    assert_whole(repo, {i for t in (*told, *added, cold) for i in t})
    assert (
        WRITERS * EACH + 2 * FOREIGN + len(cold)
        == int(git(repo, "rev-list", "--count", SHARED)) - 1
    )
    assert not [f for f in findings(repo) if "journal" in f["message"]]
