"""The command line as a person meets it: in this process for speed, as a child where the process itself is the point."""

import contextlib
import io
import json
import os
import pty
import select
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gitmem.cli.main import run
from gitmem.clock import Clock
from tests.conftest import git
from tests.json_output import check_output, data_of

SHARED = "refs/gitmem/heads/main"
PRIVATE = "refs/gitmem/local/main"
DAY = 86400
READING = (["0", "0x0"], ["63", "0x0"])  # `read` of the standard input, on x86 and on ARM


@dataclass(frozen=True)
class Done:
    """What one command did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The data of the output with `--json`."""
        return data_of(self.out)

    @property
    def document(self) -> Any:
        """The output as JSON of another format, without an envelope."""
        return json.loads(self.out)


def checked(done: Done, args: tuple[str, ...], code: int | None) -> Done:
    """Return a run after the promises that hold for every one: no traceback, the expected exit code, errors on stderr."""
    assert "Traceback" not in done.err + done.out, done.err
    assert "fault of git mem itself" not in done.err, done.err
    assert code is None or done.code == code, (
        f"git mem {args}: exit {done.code}\n{done.out}\n{done.err}"
    )
    last = done.err.splitlines()[-1] if done.err else ""
    if "--json" in args and "--" not in args and (done.out or not done.code):
        check_output(done.out)
    if done.code and last.startswith('{"code": '):
        assert "--json" in args
        assert list(json.loads(last)) == ["code", "message", "hint"]
    elif done.code == 1 and not ("--json" in args and done.out):
        assert (
            done.err.startswith(("error: ", "Error: "))
            or "error" in done.out
            or "error: " in done.err
        ), f"no reason given: {done}"
    elif done.code == 2:
        assert done.err.startswith(("Usage: ", "Error: ")), done.err
    return done


class Mem:
    """Runs `git mem` in this process, in a folder."""

    def __init__(
        self, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.folder = folder
        self._capsys = capsys
        self._monkeypatch = monkeypatch

    def at(self, folder: Path) -> "Mem":
        """Return the same in another folder."""
        return Mem(folder, self._capsys, self._monkeypatch)

    def __call__(
        self,
        *args: str,
        code: int | None = 0,
        stdin: bytes | None = None,
        env: dict[str, str] | None = None,
        ago: float = 0,
    ) -> Done:
        """Run a command line, as if so many seconds ago, and check its exit code."""
        self._capsys.readouterr()
        with self._monkeypatch.context() as patch:
            patch.chdir(self.folder)
            patch.setattr(
                sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin or b""), encoding="utf-8")
            )
            for key, value in (env or {}).items():
                patch.setenv(key, value)
            if ago:
                patch.setattr(Clock, "now", lambda self: time.time() - ago)
            result = run(args)
        found = self._capsys.readouterr()
        return checked(Done(result, found.out, found.err), args, code)

    def add(self, title: str, *args: str, ago: float = 0) -> str:
        """Remember something; return its full id."""
        made: str = self("add", title, *args, "--json", ago=ago).json["id"]
        return made

    def titles(self, *args: str) -> list[str]:
        """Return the titles that `list` gives."""
        return [row["title"] for row in self("list", *args, "--json").json]

    def show(self, id: str) -> dict[str, Any]:
        """Return a record as `show --json` gives it."""
        row: dict[str, Any] = self("show", id, "--json").json[0]
        return row


@pytest.fixture
def mem(repo: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Mem:
    """`git mem` in a plain repository, in this process."""
    return Mem(repo, capsys, monkeypatch)


@pytest.fixture
def outside(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Mem:
    """`git mem` in a folder that is in no repository."""
    return Mem(tmp_path, capsys, monkeypatch)


def venv_path() -> str:
    """Return a PATH on which git finds `git-mem`."""
    return str(Path(sys.executable).parent) + os.pathsep + os.environ["PATH"]


def spawn(
    folder: Path,
    *args: str,
    code: int | None = 0,
    stdin: bytes | None = b"",
    env: dict[str, str] | None = None,
    through_git: bool = False,
) -> Done:
    """Run `git mem` as a child process; `through_git` as `git mem`, else as `python -m gitmem`."""
    start = ["git", "mem"] if through_git else [sys.executable, "-P", "-m", "gitmem"]
    full = {**os.environ, "PATH": venv_path(), **(env or {})}
    done = subprocess.run(
        [*start, *args], cwd=folder, input=stdin, capture_output=True, env=full, check=False
    )
    return checked(
        Done(
            done.returncode,
            done.stdout.decode("utf-8", "surrogateescape"),
            done.stderr.decode("utf-8", "surrogateescape"),
        ),
        args,
        code,
    )


@pytest.fixture
def editor(tmp_path: Path) -> Callable[[str], dict[str, str]]:
    """Make an editor that runs a Python statement on `text`, the file's content; returns the environment that chooses it."""
    made = 0

    def make(statement: str) -> dict[str, str]:
        nonlocal made
        made += 1
        path = tmp_path / f"editor-{made}"
        path.write_text(
            f"#!{sys.executable} -P\nimport sys\nfile = sys.argv[-1]\ntext = open(file).read()\n{statement}\nopen(file, 'w').write(text)\n"
        )
        path.chmod(0o755)
        return {"EDITOR": str(path), "VISUAL": str(path), "GIT_EDITOR": str(path)}

    return make


def tip(folder: Path, ref: str = SHARED) -> str:
    """Return the commit of a store, '' when there is none."""
    return git(folder, "rev-parse", "--verify", "--quiet", ref, ok=(0, 1))


def commits(folder: Path, ref: str = SHARED) -> int:
    """Return how many commits a store has."""
    return int(git(folder, "rev-list", "--count", ref))


@pytest.fixture
def hub(tmp_path: Path) -> Path:
    """A bare repository to share through."""
    path = tmp_path / "hub.git"
    git(tmp_path, "init", "-q", "--bare", str(path))
    return path


@pytest.fixture
def clones(hub: Path, tmp_path: Path, repo: Path, mem: Mem) -> tuple[Mem, Mem]:
    """Two clones of one hub, in which memory is enabled."""
    git(repo, "push", "-q", str(hub), "HEAD:refs/heads/main")
    out = []
    for name in ("one", "two"):
        git(tmp_path, "clone", "-q", str(hub), name)
        one = mem.at(tmp_path / name)
        one("remote", "enable", "origin", "--yes")
        out.append(one)
    return out[0], out[1]


def _await_reader(pid: int) -> None:
    """Wait until a process reads its standard input; its prompt comes before it is ready for keys."""
    end = time.monotonic() + 2  # another process may be the one that reads
    while time.monotonic() < end:
        with contextlib.suppress(OSError):
            call = Path(f"/proc/{pid}/syscall").read_text().split()
            if call[:2] in READING:
                return
        time.sleep(0.005)


def on_terminal(
    folder: Path,
    *args: str,
    keys: str | list[str] = "",
    env: dict[str, str] | None = None,
    code: int | None = 0,
    columns: int = 0,
) -> str:
    """Run `git mem` with a terminal on all three streams; return what appeared on it, with plain line ends. Several keys answer one question each; `columns` is its width."""
    waiting = [keys] if isinstance(keys, str) else list(keys)
    master, slave = pty.openpty()
    if columns:
        termios.tcsetwinsize(slave, (24, columns))
    try:
        full = {**os.environ, "PATH": venv_path(), "TERM": "xterm", **(env or {})}
        child = subprocess.Popen(
            [sys.executable, "-P", "-m", "gitmem", *args],
            cwd=folder,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=full,
            start_new_session=True,
        )
        os.close(slave)
        slave = -1
        seen = b""
        end = time.monotonic() + 30
        while time.monotonic() < end:
            if not select.select([master], [], [], 0.5)[0]:
                continue
            try:
                piece = os.read(master, 65536)
            except OSError:  # the other end is closed: Linux says EIO
                break
            if not piece:
                break
            seen += piece
            # a prompt waits; what is typed before it would be thrown away
            if waiting and waiting[0] and seen.endswith(b" "):
                _await_reader(child.pid)
                os.write(master, waiting.pop(0).encode())
        else:
            child.kill()
        result = child.wait(timeout=60)
    finally:
        os.close(master)
        if slave >= 0:
            os.close(slave)
    text = seen.decode("utf-8", "replace").replace("\r\n", "\n")
    assert "Traceback" not in text, text
    assert code is None or result == code, f"exit {result}\n{text}"
    return text
