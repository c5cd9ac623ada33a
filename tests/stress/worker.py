"""Child processes of the stress tests: write, race, die. Run as a script, on one repository.

`create REPO BACKEND ROUNDS NAME`  race to create refs; prints the rounds it won
`write REPO BACKEND COUNT NAME`    write records one by one; prints each acknowledged id
`foreign REPO COUNT`               a writer that knows no gitmem: `git update-ref` with the old value
`sync REPO BACKEND COUNT NAME`     write a record and sync with `origin`, COUNT times
`kills REPO BACKEND ROUNDS SEED`   fork writers and kill each at a random moment; prints acknowledged ids
`try REPO BACKEND`                 write one record; prints `ok ID`, or the error's class, message and hint
"""

import os
import random
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent.parent))

from gitmem.errors import GitmemError, Moved
from gitmem.git.objects import Draft, Identity
from gitmem.store.sync import sync
from tests.conftest import add, new_store, record, remote_of


def say(text: str) -> None:
    os.write(1, f"{text}\n".encode())


def create(path: str, backend: str, rounds: str, name: str) -> None:
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
    store = new_store(path, backend)
    for n in range(int(count)):
        say(add(store, record(title=f"{name} {n}")).id)
    store.objects.close()


def foreign(path: str, count: str) -> None:
    def git(*args: str) -> str:
        return subprocess.run(["git", "-C", path, *args], capture_output=True, text=True, check=True).stdout.strip()

    person = ("-c", "user.name=F", "-c", "user.email=f@example.org")
    for _ in range(int(count)):
        while True:
            tip = git("rev-parse", "refs/gitmem/heads/main")
            made = git(*person, "commit-tree", f"{tip}^{{tree}}", "-p", tip, "-m", f"foreign {time.monotonic_ns()}")
            try:
                git("-c", "core.filesRefLockTimeout=0", "update-ref", "refs/gitmem/heads/main", made, tip)
                say(made)
                break
            except subprocess.CalledProcessError:
                time.sleep(random.uniform(0, 0.01))


def sync_loop(path: str, backend: str, count: str, name: str) -> None:
    store = new_store(path, backend)
    for n in range(int(count)):
        item = add(store, record(title=f"{name} {n}"))
        sync(store, remote_of(path), push=True)
        say(item.id)
    store.objects.close()


def kills(path: str, backend: str, rounds: str, seed: str) -> None:
    rng = random.Random(int(seed))
    for number in range(int(rounds)):
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.dup2(writer, 1)
            write(path, backend, "100000", f"{seed}.{number}")
            os._exit(0)
        os.close(writer)
        said = b""
        # from before the first write is done to some writes later
        deadline = time.monotonic() + rng.choice((0.03, 0.08, 0.15)) * rng.random() + 0.005
        while (left := deadline - time.monotonic()) > 0:
            if select.select([reader], [], [], left)[0]:
                said += os.read(reader, 65536)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        while chunk := os.read(reader, 65536):
            said += chunk
        os.close(reader)
        for line in said.decode().split("\n")[:-1]:
            say(line)


def try_one(path: str, backend: str) -> None:
    try:
        store = new_store(path, backend)
        say(f"ok {add(store).id}")
    except GitmemError as error:
        say(f"{type(error).__name__}\t{error}\t{error.hint}")


if __name__ == "__main__":
    {"create": create, "write": write, "foreign": foreign, "sync": sync_loop, "kills": kills, "try": try_one}[sys.argv[1]](*sys.argv[2:])
