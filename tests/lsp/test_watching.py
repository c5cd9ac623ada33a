"""Hearing of changes: which folders tell of them, what happens where none can, and that an idle server sleeps."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from gitmem.repo.location import locate
from gitmem_lsp.workspace.watcher import Watcher, folders, is_remote
from tests.lsp.conftest import FRESH
from tests.lsp.raw import Raw

UNWATCHED = """
import sys
sys.modules["watchdog.observers"] = None  # loading it fails, as at a limit of the system
from gitmem_lsp.__main__ import main
sys.exit(main([]))
"""


@pytest.fixture
async def serve(env: dict[str, str]) -> AsyncIterator[Callable[..., Any]]:
    """Return a function that starts a server for a client without a library."""
    started: list[Raw] = []

    async def start(program: str = "") -> Raw:
        started.append(
            await Raw.start(env, command=[sys.executable, "-c", program] if program else None)
        )
        return started[-1]

    yield start
    for raw in started:
        await raw.close()


def switches(pid: int) -> int:
    """Return how often the threads of a process have gone to sleep."""
    out = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        rows = (task / "status").read_text().splitlines()
        out += next(
            int(row.split()[1]) for row in rows if row.startswith("voluntary_ctxt_switches")
        )
    return out


async def test_an_idle_server_sleeps(repo, serve):
    """With a document open and nothing happening no thread wakes up to look around."""
    repo.gotcha("x must stay odd", "a.py:2")
    server = await serve()
    await server.initialize(repo.root)
    server.open(repo.root / "a.py")
    await server.shown(repo.root / "a.py")
    await asyncio.sleep(1.5)  # it settles: the watching library is loaded, renames are asked for

    before = switches(server.process.pid)
    await asyncio.sleep(3.0)

    assert switches(server.process.pid) - before < 10


async def test_where_nothing_can_be_watched_it_is_looked_at(repo, serve):
    """Without the system's help the server looks by itself, and is as fresh as it has to be."""
    server = await serve(UNWATCHED)
    await server.initialize(repo.root)
    server.open(repo.root / "a.py")
    await server.shown(repo.root / "a.py", 0)

    repo.gotcha("x must stay odd", "a.py:2")

    assert await asyncio.wait_for(server.shown(repo.root / "a.py"), FRESH)


async def test_what_is_heard(repo):
    """A moved ref, a packed one, a checkout and a setting are told of; a status and a changed file of the work tree are not."""
    location = locate(str(repo.root), repo.env)
    heard = asyncio.Event()
    watcher = Watcher()
    repo.git("update-ref", "refs/gitmem/heads/main", "HEAD")
    try:
        assert await watcher.watch(location, "", heard.set)
        for command in (
            ("update-ref", "-d", "refs/gitmem/heads/main"),
            ("update-ref", "refs/gitmem/local/main", "HEAD"),
            ("pack-refs", "--all"),
            ("checkout", "-q", "-b", "side"),
            ("config", "gitmem.editorMarks", "true"),
            ("commit", "-q", "--allow-empty", "-m", "more"),
        ):
            heard.clear()
            repo.git(*command)
            await asyncio.wait_for(heard.wait(), 5.0)
            await asyncio.sleep(0.2)
            assert await watcher.watch(location, "", heard.set)  # folders may have come
        await asyncio.sleep(0.3)
        heard.clear()
        repo.write("a.py", "changed\n")
        repo.git("status")
        await asyncio.sleep(0.5)
        assert not heard.is_set()
    finally:
        watcher.close()


async def test_a_folder_that_comes_before_the_watch_above_it(repo, monkeypatch):
    """The folder of our refs is made after the folders were listed and before they are watched: refs below it are told of all the same."""
    location = locate(str(repo.root), repo.env)
    heard = asyncio.Event()

    def listed(*args):
        found = folders(*args)
        Path(location.commondir, "refs", "gitmem").mkdir(exist_ok=True)
        return found

    monkeypatch.setattr("gitmem_lsp.workspace.watcher.folders", listed)
    watcher = Watcher()
    try:
        assert await watcher.watch(location, "", heard.set)
        await asyncio.sleep(0.3)
        heard.clear()
        repo.git("update-ref", "refs/gitmem/heads/main", "HEAD")
        await asyncio.wait_for(heard.wait(), 5.0)
    finally:
        watcher.close()


def test_folders(repo, tmp_path):
    """Only folders that exist are watched; the user's store that is not there yet is waited for above it."""
    location = locate(str(repo.root), repo.env)
    git = str(repo.root / ".git")
    repo.git("update-ref", "refs/gitmem/heads/main", "HEAD")

    found = folders(location, str(tmp_path / "not" / "there" / "user.git"))

    assert found == {
        git: False,
        f"{git}/logs": False,
        f"{git}/refs": False,
        f"{git}/refs/gitmem": True,
        str(tmp_path): False,
    }


@pytest.mark.parametrize(
    ("path", "remote"),
    [
        ("/home/ada/repo/.git", False),
        ("/net/share/repo", True),
        ("/net/sharebut/repo", False),
        ("/mnt/my disk/repo", True),
        ("/mnt/usb", False),
        ("/data/x", True),
    ],
)
def test_network_disks(tmp_path, path, remote):
    """A folder is where its longest mount point is; what a network or a user program serves is not told of by the kernel."""
    mounts = tmp_path / "mounts"
    mounts.write_text(
        "/dev/a / ext4 rw 0 0\nserver:/x /net/share nfs4 rw 0 0\n//s/x /mnt/my\\040disk cifs rw 0 0\n/dev/b /mnt/usb fuseblk rw 0 0\nme@host: /data fuse.sshfs rw 0 0\n"
    )
    assert is_remote(path, str(mounts)) is remote


SLOW_TO_GATHER = """
import sys
import gitmem_lsp.diagnostics.refresher as following
following.GATHER = 1.0
from gitmem_lsp.__main__ import main
sys.exit(main([]))
"""

FAILS_ONCE = """
import os, sys
import gitmem_lsp.workspace.repository_view as repository_view
from gitmem.errors import Busy
real = repository_view.RepositoryView.refresh
def busy(self, **given):
    mark = os.path.join(self.location.commondir, "busy")
    if os.path.exists(mark):
        os.unlink(mark)
        raise Busy("the index is being built by another process.")
    return real(self, **given)
repository_view.RepositoryView.refresh = busy
from gitmem_lsp.__main__ import main
sys.exit(main([]))
"""


async def test_news_that_another_document_was_first_to_read(make_repo, serve):
    """What one document has read because it was saved at that moment is shown in the others too."""
    repo = make_repo(**{"a.py": "import os\nx = 1\n", "b.py": "y = 1\n"})
    server = await serve(SLOW_TO_GATHER)
    await server.initialize(repo.root)
    for name in ("a.py", "b.py"):
        server.open(repo.root / name)
        await server.shown(repo.root / name, 0)
    await asyncio.sleep(2.0)  # the first look around is over

    repo.gotcha("x must stay odd", "a.py:2")
    await asyncio.sleep(0.2)
    server.send("textDocument/didSave", {"textDocument": {"uri": repo.uri("b.py")}})

    assert await asyncio.wait_for(server.shown(repo.root / "a.py"), 1.0 + FRESH)


async def test_news_that_could_not_be_read(repo, serve):
    """A store that is busy at the moment of its news is looked at again, though no more news come."""
    server = await serve(FAILS_ONCE)
    await server.initialize(repo.root)
    server.open(repo.root / "a.py")
    await server.shown(repo.root / "a.py", 0)
    await asyncio.sleep(1.0)

    (repo.root / ".git" / "busy").touch()
    repo.gotcha("x must stay odd", "a.py:2")

    assert await asyncio.wait_for(server.shown(repo.root / "a.py"), FRESH)
    assert not (repo.root / ".git" / "busy").exists()
