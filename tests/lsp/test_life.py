"""The server's life: how it starts, stays fresh, survives what is thrown at it, and ends."""

import asyncio
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from gitmem.repo.refs import SHARED
from tests.lsp.conftest import FRESH
from tests.lsp.raw import SERVER, Raw

# seconds that the process may need to end: its own limit is 2, the rest is for a slow machine
SOON = 8.0

NOISY = """
import os, subprocess, sys
import gitmem_lsp.workspace.repositories as repositories
real = repositories.Repositories.locate
def noisy(self, path):
    print("noise of print", flush=True)
    sys.__stdout__.write("noise of the first stream\\n")
    os.write(1, b"noise of a descriptor\\n")
    subprocess.run(["echo", "noise of a child"], check=True)
    subprocess.run(["cat"], check=True)  # would eat what the client sends
    return real(self, path)
repositories.Repositories.locate = noisy
from gitmem_lsp.__main__ import main
sys.exit(main([]))
"""

STUCK = """
import sys, time
import gitmem_lsp.workspace.repositories as repositories
def stuck(self, path):
    print("stuck", file=sys.stderr, flush=True)
    time.sleep(600)
repositories.Repositories.locate = stuck
from gitmem_lsp.__main__ import main
sys.exit(main([]))
"""

CLIENT = """
import subprocess, sys, time
server = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
body = b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"processId": null, "rootUri": null, "capabilities": {}}}'
server.stdin.write(b"Content-Length: %d\\r\\n\\r\\n%s" % (len(body), body))
server.stdin.flush()
server.stdout.readline()
print(server.pid, flush=True)
time.sleep(600)
"""


@pytest.fixture
async def serve(env: dict[str, str]) -> AsyncIterator[Callable[..., Any]]:
    """Return a function that starts a server for a client without a library."""
    started: list[Raw] = []

    async def start(*args: str, program: str = "") -> Raw:
        command = [sys.executable, "-c", program] if program else None
        started.append(await Raw.start(env, *args, command=command))
        return started[-1]

    yield start
    for raw in started:
        await raw.close()


def mem(folder: Path, env: dict[str, str], *args: str) -> str:
    """Run git-mem in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "gitmem", *args],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# -- the end


async def test_shutdown_and_exit(repo, serve):
    """`shutdown` is answered, requests after it are not served, `exit` then ends the process with 0 and a clean standard error."""
    repo.gotcha("x must stay odd", "a.py:2")
    server = await serve()
    answer = await server.initialize(repo.root)
    assert answer["result"]["serverInfo"]["name"] == "git-mem-lsp"
    server.open(repo.root / "a.py")
    await server.shown(repo.root / "a.py")

    assert (await server.ask("shutdown"))["result"] is None
    said = len(server.messages)
    server.open(repo.root / "a.py")
    server.send("exit")

    assert await server.end(SOON) == 0
    assert [m for m in server.messages[said:] if m.get("method")] == []
    assert server.errors == b""


async def test_exit_without_shutdown(repo, serve):
    """`exit` alone ends the process with 1, as the protocol asks."""
    server = await serve()
    await server.initialize(repo.root)

    server.send("exit")

    assert await server.end(SOON) == 1


async def test_end_of_input(repo, serve):
    """A client that closes its pipe ends the server, initialised or not."""
    early, late = await serve(), await serve()
    await late.initialize(repo.root)

    for server in (early, late):
        server.process.stdin.close()
        assert await server.end(SOON) == 0


async def test_broken_output(repo, serve):
    """A server whose output nobody reads ends by itself, though its input stays open, and without a flood of messages."""
    server = await serve()
    await server.initialize(repo.root)
    server.deafen()

    for number in range(50):
        server.send(
            "textDocument/hover",
            {"textDocument": {"uri": "file:///a.py"}, "position": {"line": 0, "character": 0}},
            100 + number,
        )
    code = await asyncio.wait_for(server.process.wait(), SOON)

    assert code == 1
    assert len(server.errors) < 10_000


async def test_stuck_work_does_not_hold_the_end(repo, serve):
    """Work that hangs in a thread neither delays answers nor keeps the process from ending with the right code."""
    server = await serve(program=STUCK)
    await server.initialize(repo.root)
    server.open(repo.root / "a.py")
    while b"stuck" not in server.errors:
        await asyncio.sleep(0.01)

    assert (await server.ask("shutdown"))["result"] is None
    server.send("exit")

    assert await server.end(SOON) == 0


def test_killed_client(env):
    """A client that is killed takes the server with it."""
    client = subprocess.Popen(
        [sys.executable, "-c", CLIENT, *SERVER], env=env, stdout=subprocess.PIPE, text=True
    )
    with client:
        assert client.stdout
        handle = os.pidfd_open(int(client.stdout.readline()))
        try:
            client.kill()
            assert select.select([handle], [], [], SOON)[0], "the server outlived its client"
        finally:
            try:
                signal.pidfd_send_signal(handle, signal.SIGKILL)
            except ProcessLookupError:
                pass
            os.close(handle)


# -- standard output belongs to the protocol


async def test_noise_cannot_corrupt_the_protocol(repo, serve):
    """What prints, writes to descriptor 1 or runs as a child ends up on standard error, and no child reads the client's requests."""
    repo.gotcha("x must stay odd", "a.py:2")
    server = await serve(program=NOISY)
    await server.initialize(repo.root)
    server.open(repo.root / "a.py")

    (shown,) = await server.shown(repo.root / "a.py")
    assert shown["message"] == "x must stay odd"
    await server.ask("shutdown")
    server.send("exit")

    assert await server.end(SOON) == 0  # raises when a byte was not protocol
    for noise in (b"noise of print", b"noise of a descriptor", b"noise of a child"):
        assert noise in server.errors


async def test_nonsense_from_the_client(repo, serve):
    """Requests before `initialize`, bodies that are no JSON, unknown methods and wrong parameters are survived."""
    repo.gotcha("x must stay odd", "a.py:2")
    server = await serve()
    server.send_bytes(b"{nonsense")
    server.send_bytes(b"[1, 2]")
    server.send_bytes(b"\xff\xfe")
    await server.initialize(repo.root)
    server.send("textDocument/didOpen", {"textDocument": {}})
    server.send(
        "textDocument/didChange",
        {
            "textDocument": {"uri": "file:///never-opened", "version": 3},
            "contentChanges": [{"text": "x"}],
        },
    )
    server.send("$/unheard-of", {})
    server.send("$/cancelRequest", {"id": 4711})

    assert (await server.ask("gitmem/unheard-of", {}))["error"]["code"] == -32601
    server.open(repo.root / "a.py")

    (shown,) = await server.shown(repo.root / "a.py")
    assert shown["message"] == "x must stay odd"
    assert not any(m.get("method") == "window/showMessage" for m in server.messages)


def test_arguments(env):
    """The version and the help are told without loading the protocol; a wrong option is one line and exit 2."""

    def run(*args: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*SERVER, *args],
            env=env,
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )

    version = run("--version")
    assert (version.returncode, version.stdout.split()[0]) == (0, "git-mem-lsp")
    assert "--stdio" in run("--help").stdout
    wrong = run("--nonsense")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "--nonsense" in wrong.stderr
    loaded = "import sys; from gitmem_lsp.__main__ import main\ntry: main(['--version'])\nfinally: print('pygls' in sys.modules)"
    told = subprocess.run(
        [sys.executable, "-c", loaded], env=env, capture_output=True, text=True, check=True
    )
    assert told.stdout.splitlines()[-1] == "False"


async def test_log_file(repo, env, tmp_path, serve):
    """The log goes to the file asked for, and one that cannot be written does not keep the server from starting."""
    log = tmp_path / "server.log"
    (repo.root / ".git" / SHARED).parent.mkdir(parents=True)
    (repo.root / ".git" / SHARED).write_text("nonsense\n")
    server = await serve("--stdio", "--log-file", str(log))
    await server.initialize(repo.root)
    server.open(repo.root / "a.py")
    await server.until(lambda m: m.get("method") == "window/logMessage")
    assert log.read_text()
    assert server.errors == b""

    other = await serve("--log-file", str(tmp_path / "no" / "such" / "folder"))
    assert "capabilities" in (await other.initialize(repo.root))["result"]


# -- staying fresh


async def test_empty_store_is_left_alone_and_its_first_write_is_seen(repo, connect):
    """Looking creates no ref and changes nothing of the repository; the first memory that another process makes is shown."""
    before = (
        repo.git("for-each-ref"),
        repo.git("status", "--porcelain"),
        (repo.root / ".git" / "index").read_bytes(),
    )
    editor = await connect(repo.root)
    uri = repo.uri("a.py")
    editor.open(uri)
    await editor.until(uri, lambda shown: shown == [])
    assert await editor.hover(uri, 1) is None
    assert (
        repo.git("for-each-ref"),
        repo.git("status", "--porcelain"),
        (repo.root / ".git" / "index").read_bytes(),
    ) == before

    mem(
        repo.root,
        repo.env,
        "add",
        "--kind",
        "gotcha",
        "x must stay odd",
        "--anchor",
        "a.py:2",
        "--severity",
        "critical",
    )
    started = time.monotonic()

    (shown,) = await editor.until(uri, bool)
    assert time.monotonic() - started < FRESH
    assert (shown.message, shown.range.start.line) == ("x must stay odd", 1)


async def test_user_store_made_later_is_seen(repo, connect):
    """The user's own store may come into being while the server runs."""
    editor = await connect(repo.root)
    uri = repo.uri("a.py")
    editor.open(uri)
    await editor.until(uri, lambda shown: shown == [])

    mem(repo.root, repo.env, "add", "--user", "--kind", "gotcha", "mine", "--anchor", "a.py:1")
    started = time.monotonic()

    assert await editor.titles(uri, 1) == ["mine"]
    assert time.monotonic() - started < FRESH


async def test_sync_brings_a_gotcha(tmp_path, repo, env, connect):
    """What somebody else has recorded in another clone is shown once `git mem sync` has brought it, and goes when they resolve it."""
    hub, other = tmp_path / "hub.git", tmp_path / "other"
    repo.git("clone", "-q", "--bare", ".", str(hub))
    repo.git("remote", "add", "origin", str(hub))
    repo.git("clone", "-q", str(hub), str(other))
    mem(other, env, "add", "--kind", "gotcha", "x must stay odd", "--anchor", "a.py:2")
    mem(other, env, "remote", "enable", "origin")
    mem(other, env, "sync")
    editor = await connect(repo.root)
    uri = repo.uri("a.py")
    editor.open(uri)
    await editor.until(uri, lambda shown: shown == [])

    mem(repo.root, env, "sync")
    started = time.monotonic()
    (shown,) = await editor.until(uri, bool)

    assert time.monotonic() - started < FRESH
    assert (shown.message, shown.range.start.line) == ("x must stay odd", 1)


async def test_folders_that_come_before_their_refs(tmp_path, repo, env, connect):
    """A slow `git fetch` makes the folder of its first ref and writes the ref long after: no look may have passed in between."""
    other = tmp_path / "other"
    repo.git("clone", "-q", ".", str(other))
    mem(other, env, "add", "--kind", "gotcha", "x must stay odd", "--anchor", "a.py:2")
    editor = await connect(repo.root)
    uri = repo.uri("a.py")
    editor.open(uri)
    await editor.until(uri, lambda shown: shown == [])
    await asyncio.sleep(1)  # by now it is watched

    (repo.root / ".git" / SHARED).parent.mkdir(parents=True)
    await asyncio.sleep(0.5)
    repo.git("fetch", "-q", str(other), f"{SHARED}:{SHARED}")

    assert await editor.titles(uri, 1) == ["x must stay odd"]


async def test_packed_refs(repo, connect):
    """A write that git packs away before the server looks is seen all the same."""
    repo.gotcha("first", "a.py:1")
    repo.git("pack-refs", "--all")
    editor = await connect(repo.root)
    uri = repo.uri("a.py")
    editor.open(uri)
    await editor.titles(uri, 1)

    repo.gotcha("second", "a.py:3")
    repo.git("pack-refs", "--all")

    assert await editor.titles(uri, 2) == ["first", "second"]


async def test_corrupt_index(repo, connect):
    """An index that is not a database is made anew, before the server has it open and while it does."""
    repo.gotcha("first", "a.py:1")
    mem(repo.root, repo.env, "list")
    index = repo.root / ".git" / "gitmem" / "index.db"
    assert index.is_file()
    for file in index.parent.glob("index.db-*"):
        file.unlink()
    index.write_bytes(b"no database " * 1000)
    editor = await connect(repo.root)
    uri = repo.uri("a.py")
    editor.open(uri)
    assert await editor.titles(uri, 1) == ["first"]

    for file in index.parent.glob("index.db*"):
        file.unlink()
    index.write_bytes(b"no database " * 1000)
    repo.gotcha("second", "a.py:3")

    assert await editor.titles(uri, 2) == ["first", "second"]


async def test_damaged_record_and_a_store_of_the_future(make_repo, connect):
    """A file that is not a record hides no other; a store in a format that is not known is said so, and other repositories go on."""
    damaged, future = make_repo("damaged"), make_repo("future")
    damaged.gotcha("x must stay odd", "a.py:2")
    plant(damaged, {"gotchas/zz/got-01jz0000000000000000000000.md": b"\x00no record\xff"})
    future.gotcha("of the future", "a.py:2")
    plant(future, {"gitmem.json": json.dumps({"format": 99}).encode()})
    editor = await connect(damaged.root, future.root)

    editor.open(future.uri("a.py"))
    editor.open(damaged.uri("a.py"))

    assert await editor.titles(damaged.uri("a.py"), 1) == ["x must stay odd"]
    assert not editor.shown(future.uri("a.py"))


def plant(repo: Any, files: dict[str, bytes]) -> None:
    """Put files into the shared store as a foreign tool would."""
    env = {**repo.env, "GIT_INDEX_FILE": str(repo.root / ".git" / "planted")}

    def git(*args: str, stdin: bytes = b"") -> str:
        return (
            subprocess.run(
                ["git", *args], cwd=repo.root, env=env, input=stdin, check=True, capture_output=True
            )
            .stdout.decode()
            .strip()
        )

    git("read-tree", SHARED)
    for path, data in files.items():
        git(
            "update-index",
            "--add",
            "--cacheinfo",
            f"100644,{git('hash-object', '-w', '--stdin', stdin=data)},{path}",
        )
    git("update-ref", SHARED, git("commit-tree", git("write-tree"), "-p", SHARED, "-m", "planted"))


async def test_gone_code_is_never_on_a_wrong_line(make_repo, connect):
    """A short line that exists elsewhere is no new home: the gotcha goes to the file's first line and says that its code is gone."""
    text = "def one():\n    if not ready:\n        return None\n    work()\n\n\ndef two():\n    stop()\n    log()\n    if broken:\n        return None\n    go()\n"
    repo = make_repo(**{"a.py": text})
    repo.gotcha("callers rely on None here", "a.py:3")
    repo.write(
        "a.py",
        text.replace("    if not ready:\n        return None\n", "").replace("def one", "def uno"),
    )
    editor = await connect(repo.root)
    uri = repo.uri("a.py")
    editor.open(uri)

    (shown,) = await editor.until(uri, bool)

    assert shown.range.start.line == 0
    assert shown.message == "callers rely on None here (code not found: moved or deleted)"


async def test_edit_storm(repo, connect):
    """A burst of edits ends with the gotcha on the line where its code is, for the last version, and a close takes it away."""
    repo.gotcha("x must stay odd", "a.py:2")
    editor = await connect(repo.root)
    uri = repo.uri("a.py")
    editor.open(uri)
    await editor.until(uri, bool)

    for _ in range(100):
        editor.edit(uri, (0, 0), (0, 0), "\n")
    await editor.until(uri, lambda shown: bool(shown) and shown[0].range.start.line == 101)
    assert editor.published[-1].version == 101
    assert len(editor.published) < 60  # typing is waited for

    editor.edit(uri, (0, 0), (1, 0), "")
    editor.close(uri)
    await editor.until(uri, lambda shown: shown == [])
    editor.open(uri)
    (shown,) = await editor.until(uri, bool)
    assert shown.range.start.line == 1
