"""Child processes of the stress tests: write, race, die. Run as a script, on one repository.

`create REPO BACKEND ROUNDS NAME`  race to create refs; prints the rounds it won
`write REPO BACKEND COUNT NAME`    write records one by one; prints each acknowledged id
`foreign REPO COUNT NAME`          a writer that knows no gitmem: `git update-ref` with the old value; prints each id
`others REPO NAME`                 a writer of other refs, until its stdin ends; prints how many times it wrote
`chores REPO`                      `git pack-refs` and `git gc`, until its stdin ends; prints how often each ran
`observe REPO BACKEND COUNT ID`    journal COUNT hits on one gotcha, as a hook does
`drain REPO BACKEND`               commit what waits in the journal
`mem ARG...`                       a git mem command
`nest`                             for each line `FILE VERB ARG...` on stdin, fork a child that prints into FILE; prints its pid
"""

import os
import random
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent.parent))

from gitmem.app import open_app
from gitmem.cli.main import run
from gitmem.errors import Moved
from gitmem.git.objects import Draft, Identity
from gitmem.records.codec import encode
from gitmem.repo.refs import SHARED
from gitmem.services.records import write as memories
from gitmem.store import operations, repack
from gitmem.store.layout import record_path
from gitmem.store.store import Message
from tests.conftest import new_store, record

PERSON = ("-c", "user.name=F", "-c", "user.email=f@example.org")


class Refused(Exception):
    """A git command ended with an error."""


def say(text: str) -> None:
    os.write(1, f"{text}\n".encode())


def create(path: str, backend: str, rounds: str, name: str) -> None:
    """Race to create refs, one a round; prints the rounds that it won."""
    store = new_store(path, backend)
    who = Identity(name, "x@example.org", 1)
    mine = store.objects.write(Draft(None, {"who": name.encode()}, (), "mine\n", who, who))
    say("ready")
    sys.stdin.readline()
    for n in range(int(rounds)):
        try:
            store.objects.move(f"refs/gitmem/race/{n}", None, mine, "race")
            say(str(n))
        except Moved:
            continue
    store.objects.close()


def write(path: str, backend: str, count: str, name: str) -> None:
    """Write as the product does, with its maintenance; packs often, so that races and deaths meet a packing."""
    repack.PACK_LIMIT = 3
    with open_app(path, os.environ, prefer=backend) as app:
        store, who = app.store(), app.writer()
        say("ready")
        for n in range(int(count)):
            say(
                memories.add(
                    store,
                    who,
                    memories.draft(who, "memory", f"{name} {n}", f"Text of {name}, number {n}."),
                ).after.id
            )


def git(path: str, *args: str, stdin: bytes | None = None) -> str:
    for _ in range(10):
        done = subprocess.run(
            ["git", "-C", path, *PERSON, *args], input=stdin, capture_output=True, check=False
        )
        # git's own race: a collection removes the folder of loose objects that a command has just
        # made
        if b"temporary file: No such file" not in done.stderr:
            break
    if done.returncode:
        raise Refused(f"git {args[0]}: exit {done.returncode}\n{done.stderr.decode()}")
    return done.stdout.decode().strip()


def foreign(path: str, count: str, name: str) -> None:
    """Add records with git's plumbing alone: a tree through an index of its own, then a guarded update-ref."""
    os.environ["GIT_INDEX_FILE"] = f"{path}/.git/foreign-index-{name}"
    for number in range(int(count)):
        item = record(title=f"foreign {name} {number}")
        blob = git(path, "hash-object", "-w", "--stdin", stdin=encode(item))
        while True:
            tip = git(path, "rev-parse", SHARED)
            git(path, "read-tree", tip)
            git(
                path,
                "update-index",
                "--add",
                "--cacheinfo",
                f"100644,{blob},{record_path(item.id)}",
            )
            made = git(
                path, "commit-tree", git(path, "write-tree"), "-p", tip, "-m", f"foreign {item.id}"
            )
            try:
                # git's own wait for a ref's lock can let two writers win with one old value when
                # refs are packed meanwhile
                git(path, "-c", "core.filesRefLockTimeout=0", "update-ref", SHARED, made, tip)
                say(item.id)
                break
            except Refused:
                time.sleep(random.uniform(0, 0.02))
        time.sleep(random.uniform(0, 0.05))


def ended() -> bool:
    """Say whether the parent has closed our stdin."""
    return bool(select.select([sys.stdin], [], [], 0)[0]) and not sys.stdin.buffer.read1(1)


def others(path: str, name: str) -> None:
    number = 0
    head = git(path, "rev-parse", "HEAD")
    while not ended():
        git(path, "update-ref", f"refs/tags/{name}-{number % 40}", head)
        if number % 3 == 2:
            git(path, "update-ref", "-d", f"refs/tags/{name}-{(number - 1) % 40}")
        number += 1
        time.sleep(0.02)
    say(str(number))


def chores(path: str) -> None:
    packs = collections = 0
    while not ended():
        # when a writer holds the lock of a ref, pack-refs leaves that one loose and may end with an
        # error
        packs += (
            subprocess.run(
                ["git", "-C", path, "pack-refs", "--all"], capture_output=True, check=False
            ).returncode
            == 0
        )
        if packs % 10 == 5:
            collections += (
                subprocess.run(
                    ["git", "-C", path, "gc", "-q"], capture_output=True, check=False
                ).returncode
                == 0
            )
        time.sleep(0.05)
    say(f"{packs} {collections}")


def observe(path: str, backend: str, count: str, id: str) -> None:
    with open_app(path, os.environ, prefer=backend) as app:
        store = app.store()
        store.no_write = "a hook must not touch git"
        now = app.clock.stamp()
        item = record(
            "gotcha",
            "It fails",
            id=id,
            category="test",
            severity="info",
            occurrences=1,
            first_seen=now,
            last_seen=now,
        )
        for _ in range(int(count)):
            store.write([operations.observe(item, 1, now)], Message("observe", "observe", (id,)))
            say(id)


def drain(path: str, backend: str) -> None:
    with open_app(path, os.environ, prefer=backend) as app:
        app.store().drain()


def mem(*args: str) -> None:
    sys.exit(run(args))


def nest() -> None:
    """Start children that need no time to import what they run: a kill then meets their work, not their start."""
    import pygit2

    assert pygit2
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the children
    for line in sys.stdin:
        file, verb, *args = line.rstrip("\n").split("\t")
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for stream in (1, 2):
                os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644), stream)
            try:
                VERBS[verb](*args)
            finally:
                os._exit(0)
        say(str(pid))


VERBS: dict[str, Callable[..., None]] = {
    "create": create,
    "write": write,
    "foreign": foreign,
    "others": others,
    "chores": chores,
    "observe": observe,
    "drain": drain,
    "mem": mem,
    "nest": nest,
}

if __name__ == "__main__":
    VERBS[sys.argv[1]](*sys.argv[2:])
