"""Stores of other tools, as those tools wrote them."""

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from gitmem.app import open_app
from gitmem.services.interchange.importing import is_untouched
from gitmem.store.reader import Stored
from tests.cli.conftest import Mem
from tests.cli.conftest import mem as mem
from tests.conftest import git

SAMPLES = Path(__file__).parent / "samples"


@pytest.fixture(autouse=True)
def person() -> None:
    """Make this user the one whose commits `git` of the tests makes."""
    config = os.environ["GIT_CONFIG_GLOBAL"]
    for key, value in (("user.name", "Test"), ("user.email", "test@example.org")):
        git(".", "config", "--file", config, key, value)


@pytest.fixture
def claude_mem() -> Callable[..., Path]:
    """Make claude-mem's database in its usual place, in WAL mode, and run statements on it."""

    def make(*statements: str) -> Path:
        path = Path(os.environ["HOME"]) / ".claude-mem" / "claude-mem.db"
        path.parent.mkdir(parents=True, exist_ok=True)
        is_new = not path.exists()
        with closing(sqlite3.connect(path)) as db:
            if is_new:
                db.execute("PRAGMA journal_mode = WAL")
                db.executescript((SAMPLES / "claude-mem.sql").read_text("utf-8"))
            for statement in statements:
                db.execute(statement)
            db.commit()
        return path

    return make


def imported(mem: Mem, *args: str, **options: Any) -> dict[str, str]:
    """Import; return what became of each title."""
    found = mem("import", *args, "--json", **options).json
    items = [row for part in found["imports"] for row in part["foreign_items"]]
    _check_digests(mem, {row["id"] for row in items if row["outcome"] in {"new", "updated"}})
    return {
        row["title"]: row["outcome"] for part in found["imports"] for row in part["foreign_items"]
    }


def _check_digests(mem: Mem, ids: set[str]) -> None:
    """Check that what was written counts as changed by nobody."""
    with open_app(str(mem.folder), os.environ) as app:
        for scope in ("shared", "private"):
            for stored in app.store(scope).records():
                assert isinstance(stored, Stored)
                if stored.record.id in ids and "imported" in stored.record.fields:
                    assert is_untouched(stored.record), stored.record


def unmapped(mem: Mem, *args: str) -> dict[str, str]:
    """Import without writing; return what was not taken over, and why."""
    found = mem("import", *args, "--dry-run", "--json").json
    return {
        row["entry"]: row["reason"] for part in found["imports"] for row in part["unmapped_entries"]
    }


def record(mem: Mem, title: str) -> dict[str, Any]:
    """Return a record by its title, whatever its status."""
    rows = [row for row in mem("list", "--all", "--json").json if row["title"] == title]
    assert len(rows) == 1, rows
    return mem.show(rows[0]["id"])


def write(mem: Mem, files: dict[str, str | bytes]) -> None:
    """Write files into the work tree."""
    for name, text in files.items():
        path = mem.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
