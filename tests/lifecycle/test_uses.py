"""What counts as a read: show, why, and a told fact whose file the agent edited afterwards."""

import os
import sqlite3
from contextlib import suppress
from pathlib import Path

import pytest

from gitmem.app import open_app
from gitmem.worker.facts import count_uses
from tests.cli.conftest import DAY, Mem
from tests.conftest import git
from tests.hooks.conftest import Agent

pytestmark = pytest.mark.usefixtures("no_code_reading")


@pytest.fixture
def file(mem: Mem) -> Path:
    """A file of the code, committed."""
    path = mem.folder / "pay.py"
    path.write_text("def pay():\n    return 1\n")
    git(mem.folder, "add", "pay.py")
    git(mem.folder, "commit", "-qm", "Pay")
    return path


def edit(mine: Agent, path: Path, old: str, new: str) -> None:
    """Have an agent edit a file."""
    change = {"file_path": str(path), "old_string": old, "new_string": new}
    mine.hook("PreToolUse.Edit", tool_input=change)
    path.write_text(path.read_text().replace(old, new))
    mine.hook(
        "PostToolUse.Edit",
        tool_input=change,
        tool_response={"filePath": str(path), "oldString": old, "newString": new},
    )


def reads(mem: Mem, id: str) -> int:
    """Return how often a fact was read, without reading it."""
    rows = mem("list", "--json").json
    assert id in [row["id"] for row in rows]
    return int(mem.show(id)["access_count"])


def test_a_fact_that_was_told_and_used_is_read_once_a_session(mem: Mem, file: Path) -> None:
    """However often the file is edited; a second session counts again."""
    id = mem.add("Payments round up", "-k", "gotcha", "--anchor", "pay.py")
    mem("drain")
    mine = Agent(mem.folder, "s1")
    edit(mine, file, "return 1", "return 2")
    edit(mine, file, "return 2", "return 3")
    mem("drain")
    edit(mine, file, "return 3", "return 4")
    mem("drain")
    assert reads(mem, id) == 1

    edit(Agent(mem.folder, "s2"), file, "return 4", "return 5")
    mem("drain")
    assert reads(mem, id) == 3  # with the look above


def test_uses_are_counted_after_a_long_silence(mem: Mem, file: Path) -> None:
    """When all edits of before are forgotten."""
    id = mem.add("Payments round up", "-k", "gotcha", "--anchor", "pay.py")
    mem("drain")
    mine = Agent(mem.folder, "s1")
    edit(mine, file, "return 1", "return 2")
    edit(mine, file, "return 2", "return 3")
    mem("drain")
    mem("drain", ago=-90 * DAY)

    edit(Agent(mem.folder, "s2"), file, "return 3", "return 4")
    mem("drain")
    assert reads(mem, id) == 2


def test_a_use_that_cannot_be_counted_is_counted_later(mem: Mem, file: Path) -> None:
    """The use and the read are noted together."""
    id = mem.add("Payments round up", "-k", "gotcha", "--anchor", "pay.py")
    mem("drain")
    edit(Agent(mem.folder, "s1"), file, "return 1", "return 2")
    with open_app(str(mem.folder), os.environ) as app:
        app.state.db.execute(
            "CREATE TRIGGER full BEFORE INSERT ON reads BEGIN SELECT RAISE(ABORT, 'full'); END"
        )
        with suppress(sqlite3.Error):
            count_uses(app)
        app.state.db.execute("DROP TRIGGER full")
    mem("drain")
    assert reads(mem, id) == 1


def test_what_is_only_told_is_not_read(mem: Mem, file: Path) -> None:
    """A harness that injects keeps nothing alive; nor does an edit before it, or of another file."""
    id = mem.add("Payments round up", "-k", "gotcha", "--anchor", "pay.py")
    other = mem.folder / "other.py"
    other.write_text("x = 1\n")
    mem("drain")
    mine = Agent(mem.folder, "s1")
    assert "round up" in mine.hook("PreToolUse.Read", tool_input={"file_path": str(file)})
    edit(mine, other, "x = 1", "x = 2")
    mem("drain")

    assert reads(mem, id) == 0


def test_why_is_a_read_and_lists_are_none(mem: Mem, file: Path) -> None:
    """Of the facts that it shows of the place."""
    id = mem.add("Payments round up", "-k", "gotcha", "--anchor", "pay.py", ago=DAY)
    mem("list")
    mem("search", "payments")
    mem("page", "summary")
    mem("session", "briefing")
    assert reads(mem, id) == 0
    assert "round up" in mem("why", "pay.py:1").out
    assert reads(mem, id) == 2
