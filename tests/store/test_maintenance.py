"""Our objects stay few: loose ones are packed, packs are joined, and nothing is lost by it."""

import json
import os
from pathlib import Path

import pytest

from gitmem.app import App, open_app
from gitmem.base.files import Lock
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


def loose(repo: Path) -> int:
    return int(git(repo, "count-objects").split()[0])


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


def test_loose_objects_are_counted_one_by_one(app, repo, monkeypatch):
    """A commit of forty records counts its forty and more objects, not five; at the limit they are packed."""
    monkeypatch.setattr(repack, "LOOSE_LIMIT", 200)
    most = 0
    for n in range(40):
        items = [record(title=f"{n} {k}") for k in range(10)]
        app.store().write([operations.put(item) for item in items], Message("add", "add"))
        most = max(most, loose(repo))
    assert 200 + 40 >= most
    assert (400, "") == (len(listed(app.store())), fsck(repo))


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


def test_packing_that_was_killed_is_ended_by_the_next(app, repo):
    """Names that were on their way into the state are not lost."""
    for _ in range(4):
        batch(app, 55)
    os.replace(app.home.join("packs.new"), app.home.join("packs.taken"))
    for _ in range(repack.PACK_LIMIT - 3):
        batch(app, 55)
    assert 2 >= len(packs(repo))


@pytest.mark.parametrize("text", ["", "[", "[]", '{"packs": 5, "tips": ["x", 1]}', '{"packs": ["../../x"], "loose": "y"}'])
def test_notes_that_are_damaged_are_begun_anew(app, repo, text):
    """What the files say is checked; nonsense costs a packing more, never a failure."""
    app.home.make()
    for name in ("packs.json", "packs.new", "packs.taken", "loose"):
        Path(app.home.join(name)).write_text(text)
    ids = set()
    for _ in range(repack.PACK_LIMIT + 2):
        ids |= batch(app, 55)
    assert ids == listed(app.store())
    assert 3 >= len(packs(repo))
    assert {"tips", "packs"} == json.loads(Path(app.home.join("packs.json")).read_text()).keys()


def test_merges_count_too(make_repo):
    """What a sync writes is counted when the command ends."""
    hub, here = make_repo("bare"), make_repo()
    with open_app(str(hub), dict(os.environ)) as theirs:
        batch(theirs, 3)
    git(here, "remote", "add", "origin", str(hub))
    from gitmem.store.sync import sync

    with open_app(str(here), dict(os.environ)) as app:
        batch(app, 3)
        before = int(Path(app.home.join("loose")).read_text())
        sync(app.store(), app.remote("origin"), push=False)
    assert before < int(Path(app.home.join("loose")).read_text())
