"""The page that shows how to add a format is right: its reader works as it stands there."""

import json
import re
import types
from pathlib import Path

import pytest

from gitmem.services.interchange import formats
from tests.cli.conftest import Mem
from tests.interchange.conftest import imported, record, unmapped, write

PAGE = Path(__file__).parents[2] / "CONTRIBUTING.md"


@pytest.fixture
def squirrel(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """Add the page's format as the page says; return its example of an entry."""
    text = PAGE.read_text(encoding="utf-8")
    code, _ = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (entry,) = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    module = types.ModuleType("gitmem.services.interchange.readers.squirrel")
    exec(compile(code, str(PAGE), "exec"), module.__dict__)
    every = (*formats.FORMATS, module.FORMAT)
    monkeypatch.setattr(formats, "FORMATS", every)
    monkeypatch.setattr(formats, "BY_NAME", {form.name: form for form in every})
    example: dict[str, object] = json.loads(entry)
    return example


def test_the_pages_entry_becomes_a_fact(mem: Mem, squirrel: dict[str, object]) -> None:
    """In its usual place and by its path; it keeps its time and its tags, and a second import brings nothing."""
    write(mem, {".squirrel/notes.jsonl": f"{json.dumps(squirrel)}\n"})

    assert imported(mem, ".squirrel/notes.jsonl") == {"Tests need Redis": "new"}
    fact = record(mem, "Tests need Redis")
    assert (fact["tags"], fact["created"]) == (["ci"], "2026-05-02T09:12:00Z")
    assert imported(mem, ".squirrel/notes.jsonl") == {"Tests need Redis": "unchanged"}


def test_an_entry_without_text_is_named(mem: Mem, squirrel: dict[str, object]) -> None:
    """So is one whose text is a number; nothing ends the import."""
    lines = [squirrel, {"id": "n2", "note": " "}, {"id": "n3", "note": ["x"]}]
    write(mem, {".squirrel/notes.jsonl": "\n".join(map(json.dumps, lines))})

    assert unmapped(mem, ".squirrel/notes.jsonl") == {
        "notes.jsonl:2": "it has no text",
        "notes.jsonl:3": "it has no text",
    }
