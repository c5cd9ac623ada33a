"""Thousands of records, in commits of a thousand and by few processes."""

import json
import random
import subprocess
from typing import Any

import pytest

from tests.cli.conftest import Mem, commits
from tests.conftest import git
from tests.interchange.conftest import write
from tests.scale import scaled

WORDS = "session cache redis login retry page order index deploy build test queue worker".split()
COUNT = scaled(10_000, 2000)


def _issue(number: int, chance: random.Random) -> str:
    words = chance.choices(WORDS, k=70)
    return json.dumps(
        {
            "id": f"bd-{number}",
            "title": f"Issue {number}: {' '.join(words[:8])}",
            "description": f"{' '.join(words)}, since {chance.randbytes(20).hex()}",
            "status": "open",
            "created_at": "2025-01-02T03:04:05Z",
            "labels": words[:2],
            "dependencies": [{"depends_on_id": f"bd-{number // 2}", "type": "blocks"}],
        }
    )


@pytest.mark.stress
def test_thousands_of_issues(mem: Mem, monkeypatch: pytest.MonkeyPatch) -> None:
    """Imported, imported again, and taken back by one command."""
    chance = random.Random(1)
    write(mem, {".beads/issues.jsonl": "\n".join(_issue(n, chance) for n in range(COUNT))})
    started = []
    start = subprocess.Popen.__init__

    def counted(self: Any, *args: Any, **options: Any) -> None:
        started.append(args)
        start(self, *args, **options)

    with monkeypatch.context() as patch:
        patch.setattr(subprocess.Popen, "__init__", counted)
        mem("import", ".beads")

    assert len(started) < COUNT / 20
    made = commits(mem.folder, "refs/gitmem/local/main")
    assert made >= COUNT / 1000
    changes = git(mem.folder, "log", "--format=%H", "refs/gitmem/local/main").split()
    sizes = [len(git(mem.folder, "diff", "--name-only", f"{c}^", c).split()) for c in changes[:-1]]
    assert max(sizes) <= 1000
    assert f"unchanged: {COUNT:>7,}" in mem("import", ".beads").out
    assert commits(mem.folder, "refs/gitmem/local/main") == made
    mem("undo")
    assert mem.titles("--all") == []
