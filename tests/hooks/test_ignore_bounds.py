"""Patterns that would take long hold no hook: they are not used, and `doctor` names them."""

import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from gitmem.agents.shell_writes import NAMED
from gitmem.repo.ignore import Ignored, ignored
from gitmem.text.globs import glob_match
from tests.hooks.conftest import run

WORST = {
    "brackets": "[" * 10_000,
    "long lines": "\n".join("*a" * 100 for _ in range(500)),
    "classes": "\n".join(f"[a-z]?{n}*[0-9]*x" for n in range(5_000)),
    "folders": "**/" * 400 + "x",
    "bytes": "\\" * 200_000,
}


@pytest.mark.parametrize("name", WORST)
def test_no_pattern_takes_long(name: str) -> None:
    begun = time.process_time()
    hidden = ignored([WORST[name], "*.pem"], ())
    assert not hidden.has("app/" * 20 + "a" * 200 + "c")
    assert hidden.has("keys/server.pem") == (name != "classes")
    assert hidden.faults
    assert time.process_time() - begun < 0.2


def test_what_is_too_long_matches_nothing() -> None:
    begun = time.process_time()
    assert not glob_match("*a" * 400 + "b", "a" * 1000)
    assert not glob_match("[" * 10_000, "[")
    assert time.process_time() - begun < 0.1


def test_simple_patterns_are_those_of_gitignore() -> None:
    hidden = Ignored(["*.pem", "secret*", "a*z", "build/**", "!keep.pem"])
    assert [
        hidden.has(path)
        for path in ("x.pem", "d/secret.txt", "az", "aXz", "a", "z", "build/x/y", "keep.pem")
    ] == [
        True,
        True,
        True,
        True,
        False,
        False,
        True,
        False,
    ]


def test_doctor_names_them_and_a_hook_still_speaks(project: Path, agent) -> None:
    run(project, "add", "-k", "gotcha", "Trap in a.py", "--anchor", "app/pay.py")
    (project / ".gitmemignore").write_text("[" * 10_000 + "\n" + WORST["long lines"])
    run(project, "list")
    said = agent().hook("PreToolUse.Read", tool_input={"file_path": str(project / "app/pay.py")})
    assert "Trap in a.py" in said
    out = run(project, "doctor")
    assert "is not used: '[[[[" in out


def test_a_command_with_many_names_is_noted_in_time(project: Path, agent) -> None:
    """The patterns are read once, and no more names are looked at than files are compared."""
    (project / ".gitmemignore").write_text("".join(f"build/out{n}/*.log\n" for n in range(900)))
    (project / "src").mkdir()
    names = [f"src/f{n}.py" for n in range(189)]
    for name in names:
        (project / name).write_text("a = 1\n")
    command = {"command": "sed -i s/a/b/ " + " ".join(names)}
    agent().hook("PreToolUse.Read", tool_name="Bash", tool_input=command, tool_use_id="t-1")
    with closing(sqlite3.connect(project / ".git/gitmem/state.db")) as db:
        rows = db.execute("SELECT path FROM files_before ORDER BY path").fetchall()
    assert len(rows) == NAMED
    assert ("src/f0.py",) in rows
