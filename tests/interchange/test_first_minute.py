"""git mem init says what is here already, and by which command it is imported."""

import json
from typing import Any, NoReturn

import pytest

from gitmem.errors import UserError
from gitmem.services.interchange.item import ForeignSource
from gitmem.worker import importables as worker
from tests.cli.conftest import Mem
from tests.conftest import git
from tests.interchange import past
from tests.interchange.past import MARCH, REDIS


def importables(mem: Mem) -> list[dict[str, Any]]:
    """Return what init finds."""
    rows: list[dict[str, Any]] = mem("init", "--json").json["importables"]
    return rows


def test_init_says_what_is_here(mem: Mem) -> None:
    """Stores, rule files, decisions in commits, past sessions; each with a number and a command."""
    (mem.folder / "docs" / "adr").mkdir(parents=True)
    (mem.folder / "docs" / "adr" / "0001-use-go.md").write_text("# 1. Use Go\n")
    (mem.folder / "CLAUDE.md").write_text("# Rules\n- Use tabs.\n")
    (mem.folder / "AGENTS.md").write_text("# Rules\n- Use tabs.\n")
    git(mem.folder, "commit", "-q", "--allow-empty", "-m", "x\n\nDecision: Money is NUMERIC")
    past.claude(mem.folder, 1, MARCH, REDIS)
    past.claude(mem.folder, 2, MARCH, REDIS)
    past.codex(mem.folder, 3, MARCH, REDIS)

    assert mem("init").out.endswith(
        "\nFound here:\n"
        "  decision records: 1\n"
        "  rule files: 2\n"
        "  decisions in commit messages: 1\n"
        "    git mem import\n"
        "  past sessions of Claude Code: 2\n"
        "  past sessions of Codex: 1\n"
        "    git mem import sessions\n"
    )
    rows = importables(mem)
    assert [(row["title"], row["count"]) for row in rows][-2:] == [
        ("past sessions of Claude Code", 2),
        ("past sessions of Codex", 1),
    ]
    assert {row["command"] for row in rows} == {"git mem import", "git mem import sessions"}


def test_nothing_here_says_nothing(mem: Mem) -> None:
    """Neither words nor rows."""
    assert "Found here" not in mem("init").out
    assert importables(mem) == []


def test_a_store_with_facts_needs_no_hint(mem: Mem) -> None:
    """One without any still does."""
    past.claude(mem.folder, 1, MARCH, REDIS)
    mem("init")
    assert "Found here" in mem("init").out
    mem.add("Use NUMERIC for money")

    assert "Found here" not in mem("init").out
    assert importables(mem) == []


def test_sessions_that_were_read_are_not_named_again(mem: Mem) -> None:
    """Also where they taught nothing."""
    past.claude(mem.folder, 1, MARCH, "Fix the build.")
    mem("import", "sessions")

    assert importables(mem) == []


def test_odd_files_never_fail_init(mem: Mem) -> None:
    """Whatever is in the places of other tools."""
    place = past.home() / ".gemini" / "tmp"
    place.mkdir(parents=True)
    (past.home() / ".gemini" / "projects.json").write_text('{"projects": [1, 2]}')
    (past.home() / ".claude").mkdir()
    (past.home() / ".claude" / "projects").write_text("a file")
    (mem.folder / ".beads").mkdir()
    (mem.folder / ".beads" / "issues.jsonl").write_text(json.dumps([1]) + "\n{")

    assert mem("init").code == 0


def test_a_store_that_cannot_be_read_hides_no_other(
    mem: Mem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has no number; the import says what is wrong with it."""

    def refuse(_: ForeignSource) -> NoReturn:
        raise UserError("it cannot be read.", "Look at it.")

    monkeypatch.setattr(worker, "items_of", refuse)
    (mem.folder / ".beads").mkdir()
    (mem.folder / ".beads" / "issues.jsonl").write_text("{}\n")
    past.claude(mem.folder, 1, MARCH, REDIS)

    counts = [row["count"] for row in importables(mem)]

    assert counts == [None, 1]
