"""What the system refuses is told as that: one sentence, what to do, exit code 1, no report of a fault."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import git

MEM = f"exec {sys.executable} -P -m gitmem"


def shell(folder: Path, line: str, **env: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["sh", "-c", line],
        cwd=folder,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.fixture
def kept(repo: Path) -> Path:
    """A repository with a memory."""
    assert shell(repo, f"{MEM} add Kept").returncode == 0
    return repo


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (f"{MEM} list >/dev/full", "No space left on device"),
        (f"{MEM} list --json >/dev/full", "No space left on device"),
        (f"{MEM} --version >/dev/full", "No space left on device"),
        (f"ulimit -n 8; {MEM} list", "Too many open files"),
        (f"ulimit -n 10; {MEM} add More", "Too many open files"),
        (f"ulimit -f 0; {MEM} add More", "File too large"),
    ],
)
def test_it_is_named(kept: Path, line: str, said: str) -> None:
    done = shell(kept, line)
    assert done.returncode == 1 and said in done.stderr
    assert ('"hint": "Free' if "--json" in line else "hint: ") in done.stderr
    assert "fault of git mem" not in done.stderr and "Traceback" not in done.stderr
    assert "Kept" in shell(kept, f"{MEM} list").stdout


@pytest.mark.parametrize(
    "env",
    [
        {"HOME": "/etc/passwd"},
        {"HOME": "/proc/1"},
        {"HOME": "/proc/1", "XDG_DATA_HOME": "relative"},
    ],
)
def test_a_home_that_takes_nothing(kept: Path, env: dict[str, str]) -> None:
    """The user's store cannot be made; a relative XDG_DATA_HOME is none, and makes no folder here."""
    done = shell(kept, f"{MEM} add --user Mine", **env)
    assert (
        done.returncode == 1
        and "error: cannot write" in done.stderr
        and "fault of" not in done.stderr
    )
    assert not (kept / "relative").exists()


@pytest.mark.parametrize("make", [lambda path: path.mkdir(), os.mkfifo], ids=["folder", "pipe"])
def test_something_else_has_the_name(kept: Path, make) -> None:  # type: ignore[no-untyped-def]
    """Readers do without what they only made quicker; a writer says what is in the way."""
    home = kept / ".git/gitmem"
    for name in ("index.db", "state.db", "write.lock"):
        for path in home.glob(f"{name}*"):
            path.unlink()
        make(home / name)
    assert "Kept" in shell(kept, f"{MEM} list").stdout
    assert shell(kept, f"{MEM} status").returncode == 0
    done = shell(kept, f"{MEM} add More")
    assert done.returncode == 1 and "is not a file" in done.stderr and "Move it away" in done.stderr


@pytest.mark.parametrize("command", ["doctor --fix", "drain"])
def test_what_a_killed_write_kept_is_found(kept: Path, command: str) -> None:
    """A pack whose writer is gone is let go by doctor, and by work in the background; one whose writer lives, and one of somebody else, are not."""
    code = (
        "import os, sys\nfrom gitmem.git.new_packs import NewPacks\n"
        "packs = NewPacks(os.path.join('.git', 'objects'), 'sha1', 0)\npacks.write([('%040x' % 1, 'blob', b'x')])\n"
        "print('made', flush=True)\nsys.stdin.read()\n"
    )
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", code], cwd=kept, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        for _ in range(2)
    ]
    packs = kept / ".git/objects/pack"
    by_writer = []
    for writer in writers:
        assert writer.stdout is not None
        writer.stdout.readline()
        by_writer.append(
            next(path for path in packs.glob("*.keep") if f" {writer.pid} " in path.read_text())
        )
    foreign = packs / f"pack-{'a' * 40}.keep"
    foreign.write_text("mine\n")
    writers[0].kill()
    writers[0].communicate()
    found = shell(kept, f"{MEM} doctor").stdout
    assert (
        by_writer[0].name in found and by_writer[1].name not in found and foreign.name not in found
    )
    shell(kept, f"{MEM} {command}")
    assert not by_writer[0].exists() and by_writer[1].exists() and foreign.exists()
    writers[1].communicate()
    assert git(kept, "count-objects", "-v")


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.write_text("x")])
def test_doctor_tells_of_what_stands_where_our_folder_would(
    repo: Path, make: "Callable[[Path], object]"
) -> None:
    make(repo / ".git/gitmem")
    done = shell(repo, f"{MEM} doctor")
    assert done.returncode == 1
    assert "is no folder that can be read: Not a directory." in done.stdout
    assert "Move it away" in done.stdout


def test_doctor_tells_of_a_git_that_is_none(kept: Path, tmp_path: Path) -> None:
    program = tmp_path / "bin/git"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho nonsense\n")
    program.chmod(0o755)
    done = shell(kept, f"{MEM} doctor", PATH=f"{program.parent}:{os.environ['PATH']}")
    assert done.returncode == 1
    assert "git does not say which version it is: 'nonsense'." in done.stdout
    assert "command -v git" in done.stdout
