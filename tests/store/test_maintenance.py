"""Our packs stay few: they are joined, and nothing is lost by it."""

import os
import time
from pathlib import Path

import pytest

from gitmem.app import App, open_app
from gitmem.base.files import Lock
from gitmem.git.new_packs import OURS
from gitmem.git.objects import Draft, Identity
from gitmem.store import operations, repack
from gitmem.store.store import Message
from tests.conftest import fsck, git, listed, record


@pytest.fixture(params=["libgit2", "git"])
def app(request: pytest.FixtureRequest, repo: Path):
    with open_app(str(repo), dict(os.environ), prefer=request.param) as opened:
        yield opened


def batch(app: App, count: int, text: str = "") -> set[str]:
    items = [record(title=str(n), body=text) for n in range(count)]
    app.store().write([operations.put(item) for item in items], Message("import", "import"))
    return {item.id for item in items}


def packs(repo: Path) -> list[Path]:
    return sorted((repo / ".git/objects/pack").glob("*.pack"))


def test_packs_of_batches_are_joined(app, repo):
    """Each batch is a pack; they never pile up, and every record is there afterwards."""
    ids: set[str] = set()
    for _ in range(3 * repack.PACK_LIMIT):
        ids |= batch(app, 55)
        assert repack.PACK_LIMIT + 1 >= len(packs(repo))
    assert (ids, "") == (listed(app.store()), fsck(repo))


def test_large_pack_is_not_written_again(app, repo):
    """A few small batches do not rewrite the pack of a large import."""
    big = [record(title=str(n), body=os.urandom(30_000).hex()) for n in range(80)]
    app.store().write([operations.put(item) for item in big], Message("import", "import"))
    large = max(packs(repo), key=lambda path: path.stat().st_size)
    for _ in range(repack.PACK_LIMIT + 2):
        batch(app, 55)
    assert large in packs(repo)
    assert repack.PACK_LIMIT + 1 >= len(packs(repo))


def test_single_writes_are_joined(app, repo):
    """A record at a time, the packs stay below what makes git collect; no loose object is left."""
    most = 0
    for n in range(40):
        app.store().write([operations.put(record(title=str(n)))], Message("add", "add"))
        most = max(most, len(packs(repo)))
    assert repack.PACK_LIMIT + 1 >= most
    assert (40, "") == (len(listed(app.store())), fsck(repo))
    assert [] == [
        path
        for path in (repo / ".git/objects/pack").iterdir()
        if path.suffix not in {".pack", ".idx", ".rev"}
    ]


def test_pack_that_the_user_keeps_stays(app, repo):
    """A pack with a `.keep` beside it is not ours to remove."""
    batch(app, 55)
    kept = packs(repo)[0]
    kept.with_suffix(".keep").touch()
    for _ in range(repack.PACK_LIMIT + 2):
        batch(app, 55)
    assert kept in packs(repo)


def test_packs_noted_while_another_packs_are_joined_later(app, repo):
    """A process that finds the lock taken leaves its packs to the next one."""
    with Lock(app.home.touch("maintenance.lock"), 0):
        for _ in range(repack.PACK_LIMIT + 4):
            batch(app, 55)
        assert repack.PACK_LIMIT + 4 <= len(packs(repo))
    batch(app, 55)
    assert repack.PACK_LIMIT >= len(packs(repo))
    assert "" == fsck(repo)


@pytest.mark.parametrize(
    "left", [("keep", "pack", "idx"), ("keep", "pack"), ("keep", "pack", "idx.part"), ("keep",)]
)
def test_what_a_killed_writer_left_goes(app, repo, left):
    """An hour after a writer died between its pack and the ref, its pack is one like any other; a half one is removed."""
    ids = batch(app, 3)
    folder = repo / ".git/objects/pack"
    whole = packs(repo)[0]
    for suffix in left:
        path = folder / f"pack-{OURS}{'0' * 28}.{suffix}"
        path.write_bytes(
            whole.with_suffix(f".{suffix}").read_bytes() if suffix in {"pack", "idx"} else b""
        )
        os.utime(path, (time.time() - 3700,) * 2)
    for _ in range(repack.PACK_LIMIT + 1):
        ids |= batch(app, 3)
    assert [] == list(folder.glob(f"pack-{OURS}{'0' * 28}*"))
    assert (ids, "") == (listed(app.store()), fsck(repo))


def test_write_that_lost_leaves_a_pack_that_git_may_throw_away(app, repo):
    """What no ref came to lead to is kept while the process may go on, and no longer."""
    store = app.store()
    store.create()
    who = Identity("x", "x@example.org", 1)
    commit = app.objects.write(Draft(None, {"a": b"lost"}, (), "lost", who, who))
    git(repo, "gc", "-q", "--prune=now")
    assert commit == app.objects.commit(commit).oid
    app.objects.close()
    git(repo, "gc", "-q", "--prune=now")
    with pytest.raises(AssertionError):
        git(repo, "cat-file", "-e", commit)


def test_merges_count_too(make_repo):
    """What a sync writes is counted when the command ends."""
    hub, here = make_repo("bare"), make_repo()
    with open_app(str(hub), dict(os.environ)) as theirs:
        batch(theirs, 3)
    git(here, "remote", "add", "origin", str(hub))
    from gitmem.store.sync import sync

    with open_app(str(here), dict(os.environ)) as app:
        app.store().create()
    with Lock(app.home.touch("maintenance.lock"), 0), open_app(str(here), dict(os.environ)) as app:
        for _ in range(repack.PACK_LIMIT + 3):
            batch(app, 1)
    before = len(packs(here))
    with open_app(str(here), dict(os.environ)) as app:
        sync(app.store(), app.remote("origin"), push=False)
    assert len(packs(here)) < before
