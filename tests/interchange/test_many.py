"""Ten thousand records in half a minute, in commits of a thousand."""

import json
import random
import time

import pytest

from tests.cli.conftest import Mem, commits
from tests.conftest import git
from tests.interchange.conftest import write

WORDS = "session cache redis login retry page order index deploy build test queue worker".split()
SECONDS = 30.0  # of processor time


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
def test_ten_thousand_issues(mem: Mem) -> None:
    """Imported, imported again, and taken back by one command."""
    chance = random.Random(1)
    write(mem, {".beads/issues.jsonl": "\n".join(_issue(n, chance) for n in range(10_000))})
    began = time.process_time()

    mem("import", ".beads")

    assert time.process_time() - began < SECONDS
    made = commits(mem.folder, "refs/gitmem/local/main")
    assert made >= 10
    changes = git(mem.folder, "log", "--format=%H", "refs/gitmem/local/main").split()
    sizes = [len(git(mem.folder, "diff", "--name-only", f"{c}^", c).split()) for c in changes[:-1]]
    assert max(sizes) <= 1000
    assert "unchanged:  10,000" in mem("import", ".beads").out
    assert commits(mem.folder, "refs/gitmem/local/main") == made
    mem("undo")
    assert mem.titles("--all") == []
