"""What the stress tests share: child processes, and the checks that every one of them ends with."""

import os
import random
import secrets
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.command_line import run_command
from tests.conftest import fsck, listed, new_store
from tests.json_output import data_of

if TYPE_CHECKING:
    from tests.stress.harness import Nest

WORKER = Path(__file__).parent / "worker.py"
ROOT = WORKER.parent.parent.parent


def mem(
    path: Path | str, *args: str, ok: tuple[int, ...] = (0,)
) -> subprocess.CompletedProcess[str]:
    """Run `git mem` as a cold process."""
    done = subprocess.run(
        mem_argv(path, *args), env=mem_env(), capture_output=True, text=True, check=False
    )
    assert done.returncode in ok, (
        f"git mem {args}: exit {done.returncode}\n{done.stdout}{done.stderr}"
    )
    return done


def warm_mem(path: Path | str, *args: str) -> subprocess.CompletedProcess[str]:
    """Run `git mem` in this process, to prepare what a test is about."""
    done = run_command(Path(path), *args)
    assert done.returncode == 0, f"git mem {args}: {done.stderr}"
    return done


def mem_argv(path: Path | str, *args: str) -> list[str]:
    """Return the command line of a cold `git mem`."""
    return [sys.executable, "-m", "gitmem", "-C", str(path), *args]


def mem_env() -> dict[str, str]:
    """Return the environment of a cold `git mem`: this checkout's."""
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def worker(*args: object, **options: Any) -> "subprocess.Popen[str]":
    """Start a worker with pipes on stdin and stdout."""
    return subprocess.Popen(
        [sys.executable, str(WORKER), *map(str, args)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


@pytest.fixture
def start() -> Iterator[Callable[..., "subprocess.Popen[str]"]]:
    """Start workers; those that still run when the test ends are killed."""
    started: list[subprocess.Popen[str]] = []

    def one(*args: object) -> "subprocess.Popen[str]":
        started.append(worker(*args))
        return started[-1]

    yield one
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


def finish(process: "subprocess.Popen[str]", timeout: float = 300) -> list[str]:
    """Close a worker's stdin, wait for its end; return the lines that it printed but for `ready`."""
    out, err = process.communicate(timeout=timeout)
    assert process.returncode == 0, f"{process.args}: exit {process.returncode}\n{err}"
    return [line for line in out.splitlines() if line != "ready"]


def findings(path: Path | str, *args: str) -> list[dict[str, Any]]:
    """Return what `git mem doctor` finds."""
    rows: list[dict[str, Any]] = data_of(mem(path, "doctor", "--json", *args, ok=(0, 1)).stdout)[
        "findings"
    ]
    return rows


def unwell(path: Path | str) -> list[str]:
    """Return what `git mem doctor` warns of."""
    return [row["message"] for row in findings(path) if row["level"] in {"warning", "error"}]


def assert_whole(path: Path | str, acknowledged: set[str]) -> None:
    """A repository has every acknowledged record, and neither git nor gitmem finds fault with it."""
    # commits what waits in the journal, and releases the packs of writes that were killed
    mem(path, "drain")
    store = new_store(path)
    try:
        missing = acknowledged - listed(store)
    finally:
        store.objects.close()
    assert not missing, (
        f"{len(missing)} of {len(acknowledged)} acknowledged writes are lost: {sorted(missing)[:5]}"
    )
    assert "" == fsck(path)
    assert [] == unwell(path)


@pytest.fixture(autouse=True)
def _no_code_reading(no_code_reading: None) -> None:
    """What is told of the code is no matter of these tests."""


@pytest.fixture
def rng() -> random.Random:
    """Random numbers whose seed is in a failing test's output."""
    seed = secrets.randbits(32)
    print(f"seed {seed}")
    return random.Random(seed)


@pytest.fixture
def nest(
    start: Callable[..., "subprocess.Popen[str]"], tmp_path: Path, rng: random.Random
) -> "Nest":
    """A warm process to start children from."""
    from tests.stress.harness import Nest  # it imports this module

    return Nest(start("nest"), tmp_path / "told", rng)
