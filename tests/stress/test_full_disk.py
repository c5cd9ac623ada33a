"""A disk that is full, and one that may only be read: a clear error, nothing half-written, reading goes on."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import fsck, git, listed
from tests.json_output import data_of
from tests.scale import scaled
from tests.stress.conftest import assert_whole, mem, mem_argv, mem_env

pytestmark = pytest.mark.stress

Remount = Callable[[str], None]


def _mounted_by_root(place: Path) -> "Remount | None":
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=3m", "gitmem-test", str(place)],
        capture_output=True,
        check=False,
    )
    if done.returncode:
        return None

    def remount(options: str) -> None:
        subprocess.run(["mount", "-o", f"remount,{options}", str(place)], check=True)

    return remount


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[tuple[Path, Remount]]:
    """A disk of 3 MB, and how to mount it in another way.

    Mounted by root where that may be done; else in a name space of its own, which is reached through /proc.
    """
    place = tmp_path / "disk"
    place.mkdir()
    remount = _mounted_by_root(place)
    if remount is not None:
        yield place, remount
        subprocess.run(["umount", "-l", str(place)], check=True)
        return
    script = 'mount -t tmpfs -o size=3m gitmem-test "$0" && echo ready && while read options; do mount -o "remount,$options" "$0" && echo done; done'
    with subprocess.Popen(
        ["unshare", "-Urm", "sh", "-c", script, str(place)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdin is not None
        assert holder.stdout is not None
        assert "ready\n" == holder.stdout.readline()

        def ask(options: str) -> None:
            assert holder.stdin is not None
            assert holder.stdout is not None
            print(options, file=holder.stdin, flush=True)
            assert "done\n" == holder.stdout.readline()

        yield Path(f"/proc/{holder.pid}/root{place}"), ask
        holder.stdin.close()


# a command whose git objects go through the implementation that its first argument names
COMMAND = """
import sys
from gitmem.cli.main import run
from gitmem.cli.terminal import Terminal
Terminal.open.__wrapped__.__defaults__ = (sys.argv[1],)
sys.exit(run(sys.argv[2:]))
"""


def make_repo_on(place: Path) -> Path:
    repo = place / "repo"
    git(place, "init", "-q", "-b", "main", str(repo))
    git(repo, "commit", "-q", "--allow-empty", "-m", "first")
    return repo


def add(repo: Path, text: str, backend: str = "git") -> tuple[str, str]:
    """Add a record; return its id, or '' and what went to stderr."""
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, backend, "-C", str(repo), "add", text, "--json"],
        env=mem_env(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in {0, 1}, done.stderr
    assert "Traceback" not in done.stderr
    assert "fault of git mem" not in done.stderr
    return (
        done.stdout.split('"id": "')[1].split('"')[0] if done.returncode == 0 else ""
    ), done.stderr


def fill(path: Path, leave: int) -> None:
    """Fill a disk up to some bytes."""
    with path.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 4096)
        except OSError:
            file.truncate(max(0, file.tell() - leave))


@pytest.mark.parametrize("backend", ["libgit2", "git"])
def test_full_disk(disk: tuple[Path, Remount], open_store, backend: str):
    """A write that finds the disk full says so; what was acknowledged is there, and with free space all goes on."""
    place, _ = disk
    repo = make_repo_on(place)
    ids = {add(repo, f"early {n}", backend)[0] for n in range(3)}
    mem(repo, "list")
    ballast = place / "ballast"
    refused = []
    # each time with a little more room: the disk fills at another step of the write
    rooms = range(0, 4096 * 13, 4096 * scaled(1, 4))
    for room in rooms:
        fill(ballast, room)
        for _ in range(12):
            id, said = add(repo, f"with {room} bytes left", backend)
            if not id:
                refused.append(said)
                break
            ids.add(id)
        else:
            raise AssertionError("the disk was never full")
        # reading works on a full disk too
        assert "early" in mem(repo, "list").stdout
        assert "early" in mem(repo, "show", min(ids)).stdout
        ballast.unlink()
        assert "" == fsck(repo)
        assert ids <= listed(open_store(repo))
    assert len(rooms) == len(refused)
    for said in refused:
        assert "No space left" in said, said
        assert "Free some disk space" in said
    last, said = add(repo, "with space again", backend)
    assert last, said
    assert_whole(repo, {*ids, last})


@pytest.mark.parametrize("backend", ["libgit2", "git"])
@pytest.mark.parametrize("indexed", [True, False])
def test_read_only_disk(disk: tuple[Path, Remount], backend: str, indexed: bool):
    """On a disk that may only be read, writing is refused with the reason and every reading command works."""
    place, remount = disk
    repo = make_repo_on(place)
    id, said = add(repo, "early bird", backend)
    assert id, said
    if indexed:
        mem(repo, "list")
    else:
        for path in (repo / ".git" / "gitmem").glob("index.db*"):
            path.unlink()
    tip = git(repo, "rev-parse", "refs/gitmem/heads/main")
    remount("ro")
    try:
        none, said = add(repo, "late", backend)
        assert "" == none
        assert "ead-only file system" in said
        assert "The repository is on a read-only disk" in said
        for command in (
            ["list"],
            ["show", id],
            ["search", "bird"],
            ["log"],
            ["status"],
            ["log", id],
        ):
            done = mem(repo, *command)
            assert "" == done.stderr
            assert "early bird" in done.stdout or command == ["status"]
        assert tip == git(repo, "rev-parse", "refs/gitmem/heads/main")
    finally:
        remount("rw")
    late, said = add(repo, "late", backend)
    assert late, said
    assert_whole(repo, {id, late})


def test_working_state_on_a_read_only_disk(disk: tuple[Path, Remount]):
    """What is only in state.db can be read there: sessions and errors; and nothing is begun."""
    place, remount = disk
    repo = make_repo_on(place)
    mem(repo, "session", "start", "--title", "Invoices of March")
    mem(repo, "error", "record", "TypeError: x is None")
    mem(repo, "add", "Deploys happen on Fridays")
    mem(repo, "drain")  # nothing in the background holds the disk
    remount("ro")
    try:
        for command, said in (
            (["session", "list"], "Invoices of March"),
            (["session", "show"], "Invoices of March"),
            (["timeline", "--trends"], "1 session"),
            (["error", "list"], "TypeError: x is None"),
        ):
            assert said in mem(repo, *command).stdout
        for command in (
            ["session", "start", "--new"],
            ["error", "record", "boom"],
            ["consolidate"],
            ["consolidate", "--background"],
        ):
            assert mem(repo, *command, ok=(1,)).stderr.startswith("error: ")
    finally:
        remount("rw")
    assert "boom" not in mem(repo, "error", "list").stdout


def say(repo: Path, event: str, **fields: str) -> None:
    """Send an event of a session; a hook never fails."""
    data = {
        "hook_event_name": event,
        "session_id": "s1",
        "cwd": str(repo),
        "transcript_path": "",
        **fields,
    }
    done = subprocess.run(
        [*mem_argv(repo, "hook", "claude")[:3], "hook", "claude"],
        input=json.dumps(data),
        env=mem_env(),
        cwd=repo,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def finish(repo: Path) -> str:
    """Finish sessions; return what that complains of."""
    done = subprocess.run(
        mem_argv(repo, "drain"), env=mem_env(), capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr
    assert "fault of git mem" not in done.stderr
    return done.stderr


@pytest.mark.parametrize("how", ["full", "read-only"])
def test_a_session_that_ends_on_such_a_disk(disk: tuple[Path, Remount], how: str):
    """It is finished when there is space again, once; until then hooks succeed, and the background says what is wrong."""
    place, remount = disk
    repo = make_repo_on(place)
    say(repo, "UserPromptSubmit", prompt="Make the rate configurable")
    mem(repo, "list")
    if how == "full":
        fill(place / "ballast", 0)
    else:
        remount("ro")
    try:
        say(repo, "SessionEnd", reason="other")
        say(repo, "UserPromptSubmit", prompt="And now the tests")
        finish(repo)
    finally:
        if how == "full":
            (place / "ballast").unlink()
        else:
            remount("rw")
    say(repo, "UserPromptSubmit", prompt="Go on with the rate")
    say(repo, "SessionEnd", reason="other")
    until = time.monotonic() + 30
    while not (
        found := [
            row
            for row in data_of(mem(repo, "list", "-k", "session", "--json").stdout)
            if row.get("session")
        ]
    ):
        assert time.monotonic() < until
        finish(repo)
        time.sleep(0.2)
    assert "Make the rate configurable" in mem(repo, "show", found[0]["id"]).stdout
    assert "Go on with the rate" in mem(repo, "show", found[0]["id"]).stdout
    assert_whole(repo, {found[0]["id"]} if found[0]["store"] == "shared" else set())


def test_folder_that_cannot_be_made(repo: Path):
    """A file where our folder should be is named in the error."""
    (repo / ".git" / "gitmem").write_text("in the way\n")
    none, said = add(repo, "nowhere to go")
    assert "" == none
    assert str(repo / ".git" / "gitmem") in said
    assert "" == fsck(repo)
    os.unlink(repo / ".git" / "gitmem")
    id, said = add(repo, "somewhere to go")
    assert id, said
    assert_whole(repo, {id})
