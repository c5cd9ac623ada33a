"""No entrance keeps a secret or a private part: all that the product wrote below the git directory is searched."""

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Mem, editor, mem
from tests.conftest import git

__all__ = ["editor", "mem"]  # fixtures
TEXTS = {
    'the config has "password": "Zebra-Lamp-k3T"': "Zebra-Lamp-k3T",
    "log in as root with password xK9vQ2mLp7": "xK9vQ2mLp7",
    "Zugangsdaten: admin / Sommer-Regen7": "Sommer-Regen7",
    "the ship is <private>Blue Whale</private>": "Blue Whale",
}
TEXT = "; ".join(TEXTS)


def _made(mem: Mem, *args: str) -> str:
    return str(mem(*args, "--json").json["id"])


def _add(mem: Mem) -> None:
    mem("add", "--", TEXT)
    mem("add", "with a body", "-m", TEXT, f"--tag={TEXT}")


def _edit(mem: Mem) -> None:
    mem("edit", _made(mem, "add", "the first"), "-m", TEXT, "--title", TEXT)


def _supersede(mem: Mem) -> None:
    mem("supersede", _made(mem, "add", "the first"), TEXT, "-m", TEXT)


def _gotcha(mem: Mem) -> None:
    mem("gotcha", "add", "a trap", f"--workaround={TEXT}", f"--error=ValueError: {TEXT}")


def _gotcha_edit(mem: Mem) -> None:
    mem("edit", _made(mem, "gotcha", "add", "a trap"), f"--workaround={TEXT}")


def _event(mem: Mem) -> None:
    mem("event", "add", "--", TEXT)


def _note(mem: Mem) -> None:
    mem("session", "start", "--title", TEXT)
    mem("session", "note", "--", TEXT)
    mem("session", "end")


def _handover(mem: Mem) -> None:
    mem("session", "handover", "dev", "-m", TEXT, "--decision", TEXT, "--open", TEXT)


def _work(mem: Mem) -> None:
    mem("work", "start", "epic", "--title", TEXT, "--story", f"1.1={TEXT}")
    mem("work", "story", "1.1", "--title", TEXT)
    mem("work", "phase", "development", "--result", TEXT)
    mem("work", "checkpoint", TEXT)
    mem("work", "error", "--", TEXT)


def _error(mem: Mem) -> None:
    mem("error", "record", "--command", TEXT, "--", f"ValueError: {TEXT}")


def _memory_file(mem: Mem) -> None:
    lines = "".join(f"- Always know that {text}\n" for text in TEXTS)
    (mem.folder / "CLAUDE.md").write_text(f"# Rules\n\n{lines}")
    mem("native", "pull")


def _trailer(mem: Mem) -> None:
    trailers = "".join(f"Gotcha: {text}\nDecision: {text}\n" for text in TEXTS)
    git(mem.folder, "commit", "-q", "--allow-empty", "-m", f"Change it\n\n{trailers}")
    mem("extract", "--commits", "-1", "--save")


def _extract(mem: Mem) -> None:
    said = "".join(f"Decision: use Redis {n}, {text}\n\n" for n, text in enumerate(TEXTS))
    (mem.folder / "notes.md").write_text(f"# Notes\n\n{said}")
    mem("extract", "--save", "notes.md")


def _snapshot(mem: Mem) -> None:
    (mem.folder / "new.txt").write_text("new\n")
    state = json.dumps({"next": TEXT, "password": "Zebra-Lamp-k3T"})
    mem("snapshot", "save", TEXT, "--subtask", TEXT, "--state", state)


def _trace(mem: Mem) -> None:
    talk: dict[str, object] = {"url": TEXT, "contributor": {"type": "ai", "model_id": TEXT}}
    talk["ranges"] = [{"start_line": 1, "end_line": 1}]
    record = {
        "version": "0.1.0",
        "timestamp": "2026-11-21T14:00:00Z",
        "vcs": {"type": "git", "revision": git(mem.folder, "rev-parse", "HEAD")},
        "tool": {"name": TEXT},
        "files": [{"path": "a.py", "conversations": [talk]}],
    }
    (mem.folder / "trace.jsonl").write_text(json.dumps(record) + "\n")
    assert mem("trace", "import", "trace.jsonl", "--json").json["commit_count"] == 1


DOORS: tuple[Callable[[Mem], None], ...] = (
    *(_add, _edit, _supersede, _gotcha, _gotcha_edit, _event, _note, _handover),
    *(_work, _error, _memory_file, _trailer, _extract, _snapshot, _trace),
)


def written(repo: Path) -> Iterator[tuple[str, str]]:
    """Yield what the product keeps: every object that its refs lead to, and its own files."""
    refs = git(repo, "for-each-ref", "--format=%(objectname)", "refs/gitmem").split()
    if refs:
        listed = git(repo, "rev-list", "--objects", "--no-object-names", *refs, "--not", "HEAD")
        objects = subprocess.run(
            ["git", "-C", str(repo), "cat-file", "--batch"],
            input=listed.encode(),
            capture_output=True,
            check=True,
        )
        yield "objects", objects.stdout.decode("utf-8", "replace")
    for file in sorted((repo / ".git" / "gitmem").rglob("*")):
        if file.is_file():
            yield str(file), file.read_bytes().decode("utf-8", "replace")


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__.strip("_"))
def test_no_entrance_keeps_a_secret(door: Callable[[Mem], None], mem: Mem) -> None:
    mem("init")
    door(mem)
    kept = list(written(mem.folder))
    assert "[redacted: " in "".join(text for _, text in kept)
    assert [(at, secret) for at, text in kept for secret in TEXTS.values() if secret in text] == []


def test_what_an_editor_wrote_is_masked(mem: Mem, editor: Callable[[str], dict[str, str]]) -> None:
    mem("init")
    first = mem.add("the first")
    mem("edit", first, env=editor(f"text += {TEXT!r}"))
    kept = "".join(text for _, text in written(mem.folder))
    assert "[redacted: " in kept
    assert [secret for secret in TEXTS.values() if secret in kept] == []
