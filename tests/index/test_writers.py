"""Each command that changes a store has the index follow before it ends."""

import contextlib
import sqlite3
from pathlib import Path

from gitmem.index.reader import NAME
from tests.command_line import run_command
from tests.conftest import git

COMMANDS = (
    ("add", "Use SERIALIZABLE for payments", "The word is zzpurgedzz."),
    ("gotcha", "add", "The rate must be set"),
    ("undo",),
    ("add", "-t", "decision", "Payments are serializable"),
    ("error", "record", "KeyError: 'TAX_RATE'"),
    ("drain",),
    ("forget", "--purge", "--text", "zzpurgedzz", "--yes"),
    ("doctor", "--fix"),
)


def tips(repo: Path) -> set[str]:
    """Return the commits that the index stands at, as plain SQLite reads them."""
    path = f"file:{repo / '.git/gitmem' / NAME}?mode=ro"
    with contextlib.closing(sqlite3.connect(path, uri=True)) as db:
        return {tip for (tip,) in db.execute("SELECT tip FROM tips")}


def test_index_stands_at_the_refs_after_each_writing_command(repo: Path):
    """No later reader is needed: what was acknowledged is what a hook reads."""
    for command in COMMANDS:
        assert run_command(repo, *command).returncode == 0
        patterns = ("refs/gitmem/heads/main", "refs/gitmem/local/main")
        refs = git(repo, "for-each-ref", "--format=%(objectname)", *patterns).split()
        assert tips(repo) == set(refs), command
