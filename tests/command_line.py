"""`git mem` run in this process: what most tests need is its effect, not another process."""

import contextlib
import io
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from unittest import mock

from gitmem.cli.main import run


@contextlib.contextmanager
def _stdin(text: str) -> Iterator[None]:
    with mock.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode()))):
        yield


def run_command(
    folder: Path, *args: str, env: Mapping[str, str] | None = None, stdin: str = ""
) -> "subprocess.CompletedProcess[str]":
    """Run `git mem -C FOLDER ARG…`; return the exit code and both streams. Not for threads."""
    out, err = io.StringIO(), io.StringIO()
    with (
        _stdin(stdin),
        mock.patch.dict(os.environ, env or {}),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code = run(["-C", str(folder), *args])
    return subprocess.CompletedProcess(["git", "mem", *args], code, out.getvalue(), err.getvalue())


def mem(
    folder: Path | str, *args: str, ok: tuple[int, ...] = (0,)
) -> "subprocess.CompletedProcess[str]":
    """Run `git mem` in a folder; its exit code must be one of `ok`. Not for threads."""
    done = run_command(Path(folder), *args)
    assert done.returncode in ok, (
        f"git mem {args}: exit {done.returncode}\n{done.stdout}{done.stderr}"
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done
