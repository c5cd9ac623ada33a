"""Stores with something in them for every command that takes `--json`."""

from pathlib import Path

import pytest

from tests.cli.conftest import Mem
from tests.cli.json_contract.cases import ERROR
from tests.conftest import git, prepared


@pytest.fixture
def stocked(mem: Mem, hub: Path) -> tuple[Mem, list[str]]:
    """A store with linked records, one forgotten, and a remote."""

    def make() -> list[str]:
        ids = [
            mem.add(f"title {n}", "-m", "some words", "--tag", "x", "-t", "rule", ago=300 - 60 * n)
            for n in range(3)
        ]
        mem("link", ids[0], ids[1])
        mem("forget", ids[2])
        return ids

    ids = prepared("stocked", mem.folder, make)
    git(mem.folder, "remote", "add", "origin", str(hub))
    return mem, ids


@pytest.fixture
def trapped(mem: Mem) -> tuple[Mem, list[str]]:
    """A store with three gotchas: one about code that was changed since, two that were captured."""

    def make() -> list[str]:
        written = mem("gotcha", "add", "an error in code.py", "--anchor", "code.py:1", "--json")
        for error in (ERROR, "ModuleNotFoundError: No module named 'stripe'"):
            for _ in range(3):
                mem("error", "record", error)
        captured = {row["title"]: row["id"] for row in mem("inbox", "--json").json}
        return [written.json["id"], *(captured[title] for title in sorted(captured, reverse=True))]

    ids = prepared("trapped", mem.folder, make)
    (mem.folder / "code.py").write_text("print('hello, world')\n")
    return mem, ids
