"""A purge beside other git processes, and one that is killed: in the end the text is nowhere, and nothing else is lost."""

import contextlib
import os
import random
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import fsck, git
from tests.scale import scaled
from tests.stress.conftest import mem, mem_argv, mem_env, warm_mem

pytestmark = pytest.mark.stress

SECRET = "zebra-crossing-1793"
LOOPS = (
    [["gc", "-q", "--prune=now"]],
    [["repack", "-adfq"]],
    [
        ["prune"],
        ["prune-packed", "-q"],
        ["repack", "-adkq"],
        ["pack-refs", "--all"],
        ["commit-graph", "write", "--reachable", "--split"],
    ],
)
KILLS = scaled(40, 3)


def everywhere(path: Path) -> list[str]:
    """Return where the secret is: in objects of any kind, unpacked, or in the bytes of any file."""
    dump = subprocess.run(
        ["git", "-C", str(path), "cat-file", "--batch-all-objects", "--batch", "--unordered"],
        capture_output=True,
        check=False,
    ).stdout
    found = ["objects"] if SECRET.encode() in dump else []
    for file in (path / ".git").rglob("*"):
        with contextlib.suppress(OSError):
            if file.is_file() and SECRET.encode() in file.read_bytes():
                found.append(str(file))
    return found


@contextlib.contextmanager
def beside(path: Path) -> Iterator[None]:
    """Run git's own cleaning again and again; one that fails because another one was quicker does no harm."""
    ended = threading.Event()

    def loop(commands: list[list[str]]) -> None:
        while not ended.is_set():
            for command in commands:
                subprocess.run(["git", "-C", str(path), *command], capture_output=True, check=False)

    threads = [threading.Thread(target=loop, args=(commands,)) for commands in LOOPS]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        ended.set()
        for thread in threads:
            thread.join()


@pytest.fixture
def tainted(repo: Path) -> Path:
    """A repository with the secret in packs and loose, in history and at the tip, and in what sessions left."""
    mem(repo, "init", "--no-remote")
    warm_mem(repo, "add", "keeps")
    for number in range(3):
        warm_mem(repo, "add", f"early {number}", "-m", f"body {SECRET}")
    git(repo, "repack", "-adq")
    warm_mem(repo, "add", "late", "-m", f"body {SECRET}")
    sessions = repo / ".git" / "gitmem" / "sessions"
    sessions.mkdir(exist_ok=True)
    (sessions / "history_20260101_000000_s.jsonl").write_text(
        f'{{"role": "user", "content": "{SECRET}"}}\n'
    )
    return repo


@pytest.mark.parametrize("_", range(scaled(25, 1)))
def test_a_purge_beside_gits_own_cleaning(tainted: Path, _: int) -> None:
    """`gc --prune=now`, `repack`, `prune` and others run all the time: the purge ends, and says the truth."""
    with beside(tainted):
        time.sleep(random.uniform(0, 0.5))
        mem(tainted, "forget", "--purge", "--text", SECRET, "--yes")
    assert everywhere(tainted) == []
    assert fsck(tainted) == ""
    assert "nowhere" in mem(tainted, "forget", "--purge", "--text", SECRET, "--yes").stdout
    assert len(mem(tainted, "list").stdout.splitlines()) >= 5


def test_a_purge_that_is_killed_is_ended_by_the_next(tainted: Path) -> None:
    """Killed at any moment, again and again, then run once to its end."""
    took = 0.4
    for _ in range(KILLS):
        process = subprocess.Popen(
            mem_argv(tainted, "forget", "--purge", "--text", SECRET, "--yes"),
            env=mem_env(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(random.uniform(0.3, 1.5) * took)
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
        process.wait()
        took = min(took * 1.4, 2.0)
        git(tainted, "gc", "-q")
    mem(tainted, "forget", "--purge", "--text", SECRET, "--yes")
    assert everywhere(tainted) == []
    assert fsck(tainted) == ""
    assert not (tainted / ".git" / "gitmem" / "purge.json").exists()


def test_what_a_killed_packing_left_is_removed(tainted: Path) -> None:
    """At once: nobody writes it any more. Git removes a part of it, and never those of a repacking."""
    folder = tainted / ".git" / "objects" / "pack"
    git(tainted, "gc", "-q")
    pack = next(folder.glob("pack-*.pack"))
    dead = subprocess.Popen(["true"])
    dead.wait()
    left = [folder / f".tmp-{dead.pid}-pack-{'5' * 40}.pack", folder / "tmp_pack_x1y2z3"]
    for path in left:
        path.write_bytes(pack.read_bytes())
    began = time.monotonic()

    mem(tainted, "forget", "--purge", "--text", SECRET, "--yes")

    assert time.monotonic() - began < 20  # the patience for a packing is 30
    assert [path.name for path in folder.iterdir() if path in left] == []
    assert everywhere(tainted) == []


def test_a_repacking_that_renames_its_packs_is_waited_for(tainted: Path) -> None:
    """It has closed them, long ago where the machine is busy; its process is named by them."""
    folder = tainted / ".git" / "objects" / "pack"
    with subprocess.Popen(["sleep", "60"]) as repacking:
        part = folder / f".tmp-{repacking.pid}-pack-{'5' * 40}.pack"
        part.touch()
        os.utime(part, (time.time() - 60, time.time() - 60))
        with subprocess.Popen(
            mem_argv(tainted, "forget", "--purge", "--text", SECRET, "--yes"), env=mem_env()
        ) as purge:
            with pytest.raises(subprocess.TimeoutExpired):
                purge.wait(3)
            assert part.exists()
            repacking.kill()
            repacking.wait()
            assert purge.wait(60) == 0
    assert not part.exists()


def test_a_packing_that_had_read_it_is_waited_for(tainted: Path) -> None:
    """A packing that began before has the old objects in its hands: the purge waits for its end, and looks again."""
    folder = tainted / ".git" / "objects" / "pack"
    old = {path.name: path.read_bytes() for path in folder.iterdir()}
    before = git(tainted, "rev-parse", "refs/gitmem/heads/main")
    part = folder / "tmp_pack_slow"
    with (
        part.open("wb"),
        subprocess.Popen(
            mem_argv(tainted, "forget", "--purge", "--text", SECRET, "--yes"),
            env=mem_env(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as purge,
    ):
        until = time.monotonic() + 60
        while "objects" in everywhere(tainted) and time.monotonic() < until:
            time.sleep(0.1)
        assert git(tainted, "rev-parse", "refs/gitmem/heads/main") != before
        assert purge.poll() is None, "it waits for the temporary file"
        # the packing ends: the old objects are there again
        for name, data in sorted(old.items(), key=lambda item: item[0].endswith(".idx")):
            if not (folder / name).exists():
                (folder / name).write_bytes(data)
        part.unlink()
        out, err = purge.communicate(timeout=120)
        assert purge.returncode == 0, out + err
    assert everywhere(tainted) == []
    assert fsck(tainted) == ""
