"""`git mem page compound`: which fact is on which page, and that the same store gives the same."""

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gitmem.app import open_app
from gitmem.clock import Clock
from gitmem.store import operations
from gitmem.store.store import Message
from tests.cli.conftest import Mem
from tests.conftest import git, record

FILES = [
    "00-manifest.json",
    "01-learnings.md",
    "02-frameworks.md",
    "03-workflows.md",
    "04-dos-and-donts.md",
    "05-agent-patterns.md",
    "06-heuristics.md",
    "07-warnings.md",
    "08-user-behavior.md",
    "09-discrepancies.md",
    "COMPOUND-SUMMARY.md",
]


def pages(folder: Path) -> dict[str, str]:
    """Return the text of each file of a folder."""
    return {path.name: path.read_text() for path in sorted(folder.iterdir())}


def written(mem: Mem, *args: str) -> dict[str, str]:
    """Write the pages; return them."""
    mem("page", "compound", "--out", "memory", *args)
    return pages(mem.folder / "memory")


def names_of(made: dict[str, str], id: str) -> set[str]:
    """Return the sections that have a fact, by the manifest; each has its id on its page."""
    sections = json.loads(made["00-manifest.json"])["sections"]
    has = {section["file"] for section in sections if id in section["ids"]}
    assert has == {name for name in FILES[1:-1] if f"`{id}`" in made[name]}
    return {name[:2] for name in has}


def test_each_fact_is_where_its_type_says(mem: Mem) -> None:
    """By kind, type, tags, command and check; in several sections where several rules hold."""
    ids = {
        "pattern": mem.add("Retry with jitter", "-t", "pattern"),
        "insight": mem.add("Tests are slow on Mondays", "-t", "insight"),
        "decision": mem.add("Use Postgres", "-t", "decision", "--tag", "storage"),
        "rule": mem.add("Never log tokens", "-t", "rule"),
        "workflow": mem.add("Tag, then publish", "-t", "fact", "--tag", "workflow"),
        "checked": mem.add("It is in code.py", "-t", "fact", "--verify", "path=code.py"),
        "preference": mem.add("Short commits", "-t", "preference", "--shared"),
        "gotcha": mem.add("Stale cache", "-k", "gotcha", "--workaround", "make clean"),
    }
    new = mem("supersede", ids["insight"], "Tests are slow in winter", "--json").json["id"]

    made = written(mem)

    assert sorted(made) == FILES
    assert {name: names_of(made, id) for name, id in ids.items()} == {
        "pattern": {"01"},
        "insight": set(),
        "decision": {"02", "04"},
        "rule": {"04"},
        "workflow": {"03"},
        "checked": {"03"},
        "preference": {"08"},
        "gotcha": {"04", "07"},
    }
    assert names_of(made, new) == {"01", "08"}
    assert "seen in 1 place" in made["01-learnings.md"]
    assert "## storage\n" in made["02-frameworks.md"]
    assert "make clean" in made["04-dos-and-donts.md"]
    for name in ("06-heuristics.md", "09-discrepancies.md"):
        assert made[name].endswith("\n\nThere is nothing of this yet.\n")


def test_an_agents_facts(mem: Mem) -> None:
    """How many of its facts people accepted, how many wait, and how many are gone."""
    agent = {"CLAUDECODE": "1"}

    def proposed(title: str) -> str:
        made = mem("add", title, "-t", "pattern", "--agent", "dev", "--json", env=agent)
        return str(made.json["id"])

    accepted, waiting, gone = proposed("Pin images"), proposed("Cache wheels"), proposed("Use tabs")
    mem("inbox", "--accept", accepted)
    mem("inbox", "--reject", gone)

    made = written(mem)
    page = made["05-agent-patterns.md"]
    assert "## dev\n\n1 accepted, 1 not confirmed.\n\n- **Pin images**" in page
    assert "## Forgotten or rejected\n\n1 fact, of any agent." in page
    assert waiting not in "".join(made.values())
    assert "Cache wheels" in written(mem, "--private")["01-learnings.md"]


def test_open_findings_are_discrepancies(mem: Mem) -> None:
    """Until somebody answers; also where the code refutes a fact, which is a warning, too."""
    first = mem.add("The timeout is 30 seconds", "-t", "fact")
    second = mem.add("The timeout is 60 seconds", "-t", "fact")
    (mem.folder / "gone.py").touch()
    third = mem.add("It is in gone.py", "-t", "fact", "--verify", "path=gone.py")
    (mem.folder / "gone.py").unlink()

    made = written(mem)
    assert names_of(made, first) == {"09"}
    assert names_of(made, second) == {"09"}
    assert {"07", "09"} <= names_of(made, third)
    assert "may be out of date" in made["07-warnings.md"]

    mem("check", "--resolve", f"{second}=newer", "--resolve", f"{third}=drop")
    made = written(mem)
    assert made["09-discrepancies.md"].endswith("There is nothing of this yet.\n")


def put(mem: Mem, facts: Sequence[dict[str, Any]]) -> list[str]:
    """Write facts of this user in one commit; return their ids."""
    with open_app(str(mem.folder), os.environ, Clock()) as app:
        author = "{} <{}>".format(*app.author)
        new = [record(author=author, agent="global", origin="manual", **fact) for fact in facts]
        ids = tuple(item.id for item in new)
        app.store().write([operations.put(item) for item in new], Message("put", "add", ids))
    return list(ids)


def test_heuristics_are_what_was_seen_again(mem: Mem) -> None:
    """Three sources make a rule of what a person said, two a pattern; the number is told."""
    sources = [{"session": f"s{n}", "role": "user", "at": "2026-01-01T00:00:00Z"} for n in range(3)]
    rule, pattern = put(
        mem,
        [
            {"title": "Batch writes", "type": "pattern", "sources": sources},
            {"title": "Read in pages", "type": "insight", "sources": sources[:2]},
        ],
    )

    made = written(mem)

    page = made["06-heuristics.md"]
    assert "## Became a rule\n\n- **Batch writes** (" in page
    assert "seen in 3 places" in page
    assert "## Became a pattern\n\n- **Read in pages** (" in page
    assert names_of(made, rule) == names_of(made, pattern) == {"01", "06"}


def test_the_same_store_gives_the_same_bytes(mem: Mem, tmp_path: Path) -> None:
    """Also after reads, and an hour later; no file that says so already is written again."""
    id = mem.add("Use Postgres", "-t", "decision", ago=7200)
    mem.add("Stale cache", "-k", "gotcha", ago=7200)
    out = tmp_path / "out"
    out.mkdir()
    for name in ("gotchas", "briefing", "compound"):
        first = mem("page", name, "--out", str(out / name), ago=3600)
        assert first.out.startswith("wrote ")
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    for _ in range(3):
        mem("show", id)
    for path in before:
        os.utime(path, (1, 1))

    for name in ("gotchas", "briefing", "compound"):
        mem("page", name, "--out", str(out / name))

    assert {path: path.read_bytes() for path in before} == before
    assert {path.stat().st_mtime for path in before} == {1}


def test_titles_are_data(mem: Mem) -> None:
    """Nothing of a title or a tag is Markdown; a list or an underline begins no block."""
    mem.add("# <b>x</b> [l](javascript:x) ![p](http://x) \u202e", "-t", "decision", "-m", "=== a")
    mem.add("1. b", "-t", "pattern", "-m", "1. first\n2. second")

    made = written(mem)

    text = "".join(made[name] for name in FILES[1:-1])
    assert "\\# \\<b\\>x\\</b\\> \\[l\\](javascript:x) \\!\\[p\\](http://x)" in text
    assert "\u202e" not in text
    assert "\n  \\=== a\n" in text
    assert "\n  1\\. first 2. second\n" in text


def test_the_manifest(mem: Mem) -> None:
    """It names the commit that was read, and counts; it is JSON of a known format."""
    mem.add("Use Postgres", "-t", "decision")
    manifest: dict[str, Any] = json.loads(written(mem)["00-manifest.json"])

    tip = git(mem.folder, "rev-parse", "refs/gitmem/heads/main")
    assert (manifest["format"], manifest["tips"]) == (1, {"shared": tip})
    assert [section["file"] for section in manifest["sections"]] == FILES[1:-1]
    assert [section["entry_count"] for section in manifest["sections"]] == [
        *(0, 1, 0, 1, 0, 0, 0, 0, 0),
    ]


def test_nothing_is_started_for_a_single_fact(mem: Mem, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hundreds of facts cost as many processes as one."""
    body = "Because of what was measured."
    started: list[object] = []
    start = subprocess.Popen.__init__

    def counted(self: Any, *args: Any, **options: Any) -> None:
        started.append(args)
        start(self, *args, **options)

    put(mem, [{"title": f"Decision {n}", "type": "decision", "body": body} for n in range(300)])
    monkeypatch.setattr(subprocess.Popen, "__init__", counted)

    made = written(mem, "--private")

    assert len(started) < 30
    assert made["02-frameworks.md"].count("\n- **") == 300
