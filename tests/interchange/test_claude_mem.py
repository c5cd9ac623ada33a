"""`git mem import --from claude-mem`, from a database that claude-mem itself made."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

from tests.cli.conftest import Mem
from tests.interchange.conftest import imported, record, unmapped

FROM = ("--from", "claude-mem", "--project", "shop")
DECISION = "Store sessions in Redis"


def test_observations_and_summaries_become_facts(mem: Mem, claude_mem: Callable[..., Path]) -> None:
    """Type, time, tags and text are those of the observation; it waits in the private store."""
    claude_mem()

    found = imported(mem, *FROM)

    assert found == {
        DECISION: "new",
        "Login failed for names with an apostrophe": "new",
        "Deploys happen on Tuesdays": "new",
        "Move sessions to Redis": "new",
    }
    row = record(mem, DECISION)
    assert (row["type"], row["created"], row["store"]) == (
        "decision",
        "2026-02-03T10:20:30Z",
        "private",
    )
    assert row["tags"] == ["trade-off", "what-changed"]
    assert (row["origin"], row["unconfirmed"]) == ("agent", True)
    assert "Redis runs in cluster mode" in row["body"]
    assert record(mem, "Login failed for names with an apostrophe")["type"] == "bug"
    assert "## Learned\n\nRedis evicts by LRU" in record(mem, "Move sessions to Redis")["body"]


def test_other_projects_and_prompts_stay_out(mem: Mem, claude_mem: Callable[..., Path]) -> None:
    """They are named; nothing of them is stored."""
    claude_mem()

    left = unmapped(mem, *FROM)

    assert left == {
        "1 prompt": "quotes of sessions are no facts",
        "1 entry": "they are of the project other-project",
    }


def test_an_open_database_is_read_with_its_log(mem: Mem, claude_mem: Callable[..., Path]) -> None:
    """What is in the write-ahead log alone is read, and the files stay as they are."""
    path = claude_mem()
    open_db = sqlite3.connect(path)
    open_db.execute("UPDATE observations SET title = 'Only in the log' WHERE id = 1")
    open_db.commit()
    before = {name.name: name.read_bytes() for name in path.parent.iterdir()}

    assert imported(mem, *FROM)["Only in the log"] == "new"

    assert (path.parent / "claude-mem.db-wal").stat().st_size > 0
    assert {name.name: name.read_bytes() for name in path.parent.iterdir()} == before
    open_db.close()


def test_files_become_anchors_if_they_are_there(mem: Mem, claude_mem: Callable[..., Path]) -> None:
    """A file that the work tree does not have is no place."""
    claude_mem('UPDATE observations SET files_modified = \'["code.py", "gone.py", "../x"]\'')

    imported(mem, *FROM)

    assert [place["path"] for place in record(mem, DECISION)["anchors"]] == ["code.py"]


def test_secrets_are_masked(mem: Mem, claude_mem: Callable[..., Path]) -> None:
    """In texts, lists and columns that have no field here."""
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    claude_mem(
        f"UPDATE observations SET narrative = 'token {secret}', concepts = '[\"{secret}\"]', "
        f"files_read = '[\"{secret}\"]' WHERE id = 1"
    )

    imported(mem, *FROM)

    assert secret not in mem("show", record(mem, DECISION)["id"], "--json").out
    assert "[redacted: " in record(mem, DECISION)["body"]


def test_a_broken_database_is_named(mem: Mem, claude_mem: Callable[..., Path]) -> None:
    """It ends nothing."""
    path = claude_mem()
    path.write_bytes(b"SQLite format 3\0" + b"\xff" * 4000)

    assert "claude-mem.db" in unmapped(mem, "--from", "claude-mem")


def test_columns_with_other_types_are_read(mem: Mem, claude_mem: Callable[..., Path]) -> None:
    """A number for a text, a text for a list, bytes that are not UTF-8, no time."""
    claude_mem(
        "UPDATE observations SET title = 42, facts = 'no list', concepts = '{', "
        "narrative = CAST(x'ff41' AS TEXT), created_at_epoch = 'soon', created_at = 'never' "
        "WHERE id = 1"
    )

    assert imported(mem, *FROM)["42"] == "new"
    assert "no list" in record(mem, "42")["body"]
