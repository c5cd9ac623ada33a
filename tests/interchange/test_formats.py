"""What each format's entries become, by the documented form of its files."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Mem
from tests.conftest import git
from tests.interchange.conftest import SAMPLES, imported, record, unmapped, write


def _json(value: Any) -> str:
    return json.dumps(value)


def test_mcp_memory_from_the_server_itself(mem: Mem) -> None:
    """An entity is a fact; relations are links; an entity without a word is none."""
    write(mem, {"memory.jsonl": (SAMPLES / "mcp-memory.jsonl").read_bytes()})

    assert imported(mem, "memory.jsonl") == {
        "checkout-service: Written in Go": "new",
        "Ada_Lovelace: Prefers small pull requests": "new",
    }
    service = record(mem, "checkout-service: Written in Go")
    person = record(mem, "Ada_Lovelace: Prefers small pull requests")
    assert person["links"] == [service["id"]]
    assert service["tags"] == ["service"]
    assert "- Retries three times — then gives up" in service["body"]
    assert unmapped(mem, "memory.jsonl") == {"empty": "it says nothing of the entity"}


def test_mcp_memory_of_an_older_version(mem: Mem) -> None:
    """One object with two lists; broken relations are named."""
    write(
        mem,
        {
            "memory.json": _json(
                {
                    "entities": [
                        {"name": "db", "entityType": "x", "observations": ["Is Postgres"]}
                    ],
                    "relations": [{"from": "ghost", "to": "db", "relationType": "haunts"}],
                }
            )
        },
    )

    assert imported(mem, "--from", "mcp-memory") == {"db: Is Postgres": "new"}
    assert unmapped(mem, "memory.json") == {"ghost haunts db": "its entity is not there"}


def test_beads(mem: Mem) -> None:
    """Priority, labels, closing, dependencies; tombstones stay out."""
    rows = [
        {
            "id": "bd-1",
            "title": "Fix the login",
            "status": "open",
            "priority": 0,
            "issue_type": "bug",
            "labels": ["auth"],
            "created_by": "bob",
            "description": "It fails.",
            "design": "Retry.",
            "estimate": 3,
            "comments": [{"author": "eve", "text": "Soon", "created_at": "2025-01-01T00:00:00Z"}],
            "dependencies": [
                {"issue_id": "bd-1", "depends_on_id": "bd-2", "type": "blocks"},
                {"issue_id": "bd-1", "depends_on_id": "bd-9", "type": "blocks"},
            ],
        },
        {
            "id": "bd-2",
            "title": "Write docs",
            "status": "closed",
            "issue_type": "task",
            "created_at": "2025-01-02T00:00:00Z",
            "closed_at": "2025-02-02T00:00:00Z",
        },
        {"id": "bd-3", "title": "Gone", "status": "tombstone"},
    ]
    write(mem, {".beads/issues.jsonl": "\n".join(map(_json, rows))})

    assert unmapped(mem, "--from", "beads") == {
        "bd-3": "it was deleted there",
        "bd-1 -> bd-9": "the link leads nowhere",
    }
    imported(mem, "--from", "beads")
    bug, task = record(mem, "Fix the login"), record(mem, "Write docs")
    assert (bug["type"], bug["importance"], bug["author"]) == ("bug", 9, "bob")
    assert bug["links"] == [task["id"]]
    assert "## Design\n\nRetry." in bug["body"]
    assert "eve, 2025-01-01: Soon" in bug["body"]
    assert bug["imported"]["extra"]["estimate"] == 3
    assert (task["status"], task["completion"]["at"]) == ("archived", "2025-02-02T00:00:00Z")


def test_decision_records(mem: Mem) -> None:
    """The forms of adr-tools and of MADR; what replaces what."""
    write(
        mem,
        {
            "doc/adr/0001-use-sql.md": "# 1. Use SQL\n\nDate: 2020-01-02\n\n## Status\n\n"
            "Superseded by [2. Use Redis](0002-use-redis.md)\n\n## Decision\n\nSQL.\n",
            "doc/adr/0002-use-redis.md": "# 2. Use Redis\n\nDate: 2021-01-02\n\n## Status\n\n"
            "Accepted\n\nSupersedes [1. Use SQL](0001-use-sql.md)\n\n## Decision\n\nRedis.\n",
            "doc/adr/0003-madr.md": "---\nstatus: accepted\ndate: 2022-03-04\ntags: [db]\n---\n\n"
            "# Use MADR\n\nSee [Redis](0002-use-redis.md).\n",
            "doc/adr/0004-old-madr.md": "# Use lists\n\n* Status: proposed\n* Date: 2022-01-01\n",
            "doc/adr/readme.md": "# Decisions\n",
            "doc/adr/notes.md": "# Notes\n",
        },
    )

    assert unmapped(mem, "--from", "adr") == {"notes.md": "its name does not begin with a number"}
    imported(mem, "--from", "adr")
    sql, redis, madr = (record(mem, title) for title in ("Use SQL", "Use Redis", "Use MADR"))
    assert (sql["status"], sql["created"]) == ("archived", "2020-01-02T00:00:00Z")
    assert redis["supersedes"] == [sql["id"]]
    assert (madr["tags"], madr["created"]) == (["db"], "2022-03-04T00:00:00Z")
    assert madr["links"] == [redis["id"]]
    assert madr["unconfirmed"]  # git does not track it: nobody knows who wrote it


def test_basic_memory(mem: Mem) -> None:
    """Permalinks, categories, tags, relations, times without a zone."""
    write(
        mem,
        {
            "notes/redis.md": "---\ntitle: Redis\ntype: note\ntags: [db]\npermalink: notes/redis\n"
            "created: 2025-06-01 12:00:00\ncustom: 1\n---\n\n- [decision] Use it #fast (cache)\n"
            "- replaces [[Memcached]]\n",
            "notes/memcached.md": "---\npermalink: notes/memcached\ntags: '#old, cache'\n---\n\n"
            "- [decision] No\n- [fact] Yes\n- [ ] a box\n",
            "notes/empty.md": "---\ntitle: Empty\n---\n",
            "notes/bad.md": "---\ntitle: [\n---\nText\n",
        },
    )

    assert unmapped(mem, "notes") == {
        "bad.md": "the front matter is not valid YAML (line 3)",
        "empty.md": "it has no text",
    }
    imported(mem, "notes")
    redis, other = record(mem, "Redis"), record(mem, "memcached")
    assert (redis["type"], redis["tags"]) == ("decision", ["db", "fast"])
    assert redis["imported"]["extra"] == {"custom": 1}
    assert (other["type"], other["tags"]) == ("fact", ["cache", "old"])


def test_basic_memory_links_by_title(mem: Mem) -> None:
    """Whatever case it has."""
    write(
        mem,
        {
            "notes/a.md": "---\ntitle: First\npermalink: a\n---\n\nSee [[second|that]].\n",
            "notes/b.md": "---\ntitle: Second\npermalink: b\n---\n\nText.\n",
        },
    )
    imported(mem, "notes")

    assert record(mem, "First")["links"] == [record(mem, "Second")["id"]]


OLD = {
    "id": "g1",
    "title": "Cannot read property",
    "description": "TypeError: Cannot read property 'foo' of undefined at line 42",
    "category": "runtime",
    "severity": "high",
    "workaround": "Check for null",
    "relatedFiles": ["code.py"],
    "source": {
        "type": "auto_detected",
        "occurrences": 4,
        "firstSeen": "2025-01-01T00:00:00.000Z",
        "lastSeen": "2025-01-03T00:00:00.000Z",
    },
    "resolved": True,
    "resolvedAt": "2025-01-04T00:00:00.000Z",
    "resolvedBy": "dev",
    "createdAt": "2025-01-02T00:00:00.000Z",
}
NEW = {
    "id": "GOTCHA-1",
    "title": "Use forward slashes",
    "category": "no such",
    "wrong": "a\\b",
    "right": "a/b",
    "reason": "Windows",
    "severity": "medium",
    "discoveredAt": "2025-05-05",
    "storyId": "7.1",
    "tags": ["paths"],
}


@pytest.mark.parametrize(
    "whole",
    [
        [OLD, NEW],
        {"version": "1.0.0", "gotchas": [OLD, NEW]},
        {"schema": "aiox-gotchas-v1", "gotchas": [OLD, NEW]},
    ],
)
def test_aios_gotchas(mem: Mem, whole: Any) -> None:
    """Of all three shapes."""
    write(mem, {".aiox/gotchas.json": _json(whole), ".aiox/error-tracking.json": "{}"})

    assert unmapped(mem, "--from", "aios") == {
        "error-tracking.json": "counts of errors are no facts"
    }
    imported(mem, "--from", "aios")
    old, new = record(mem, "Cannot read property"), record(mem, "Use forward slashes")
    assert (old["kind"], old["category"], old["severity"]) == ("gotcha", "runtime", "critical")
    assert (old["workaround"], old["occurrences"]) == ("Check for null", 4)
    assert (old["first_seen"], old["resolved"]["by"]) == ("2025-01-01T00:00:00Z", "dev")
    assert old["anchors"][0]["path"] == "code.py"
    assert "TypeError" in old["triggers"]["error"]
    assert (new["category"], new["severity"], new["workaround"]) == ("general", "warning", "a/b")
    assert new["imported"]["extra"] == {"storyId": "7.1"}


def test_aios_digests(mem: Mem) -> None:
    """Corrections and axioms are rules, patterns are patterns."""
    write(
        mem,
        {
            ".aios/session-digests/s1-1.yaml": "---\nschema_version: '1.0'\nsession_id: s1\n"
            "timestamp: 2025-02-02T00:00:00Z\n---\n\n## User Corrections\n\n- Actually use tabs\n\n"
            "## Patterns Observed\n\n- Asks for tests first\n\n## Context Snapshot\n\n- on main\n"
        },
    )
    imported(mem, ".aios")

    assert record(mem, "Actually use tabs")["type"] == "rule"
    assert record(mem, "Asks for tests first")["type"] == "pattern"
    assert len(mem.titles("--all")) == 2


def test_genius(mem: Mem) -> None:
    """Each list has its type; logs stay out."""
    base = ".genius/memory/"
    write(
        mem,
        {
            base + "decisions.json": _json(
                [{"id": "d-1", "decision": "Use Go", "reason": "Fast", "tags": ["lang"]}]
            ),
            base + "patterns.json": _json(
                [{"id": "p-1", "pattern": "Retry", "context": "Network"}]
            ),
            base + "progress.json": _json(
                [{"id": "t-1", "task": "Ship", "status": "done", "timestamp": "2025-01-01"}]
            ),
            base + "errors.json": _json([{"id": "e-1", "error": "EPIPE", "solution": "Ignore"}, 5]),
            base + "corrections.jsonl": '{"correction": "Never force-push"}\nbroken\n',
            base + "learned-rules.md": "# Rules\n\n- Run the tests\n  verify: make test\n",
            base + "session-logs/a.md": "log",
        },
    )

    assert unmapped(mem, "--from", "genius") == {
        "corrections.jsonl:2": "the line is not valid JSON",
        "1 log": "logs of sessions are no facts",
    }
    imported(mem, "--from", "genius")
    assert record(mem, "Use Go")["body"] == "Fast\n"
    assert record(mem, "Retry")["type"] == "pattern"
    assert record(mem, "Ship")["completion"]["at"] == "2025-01-01T00:00:00Z"
    assert record(mem, "EPIPE")["workaround"] == "Ignore"
    assert record(mem, "Never force-push")["type"] == "rule"
    assert record(mem, "Run the tests")["body"] == "verify: make test\n"


def test_sinapse(mem: Mem) -> None:
    """Agents, projects, archive, links by id."""
    base = "memory/sinapse/"
    front = (
        "---\nid: {}\ntype: rule\nimportance: 8\nstatus: active\nlinks: [m2]\n---\n\n# {}\n\nText\n"
    )
    write(
        mem,
        {
            base + "hot/global/a.md": front.format("m1", "Everywhere"),
            base + "hot/qa/b.md": front.format("m2", "For QA"),
            base + "projects/shop/memories/c.md": front.format("m3", "In a project"),
            base + "projects/shop/dna.md": "# DNA\n",
            base + "archived/d.md": front.format("m4", "Put aside"),
            base + "graph/index.json": "{}",
        },
    )

    assert list(unmapped(mem, "--from", "sinapse")) == ["projects/shop/dna.md", "graph/index.json"]
    imported(mem, "--from", "sinapse")
    qa = record(mem, "For QA")
    assert (qa["agent"], qa["type"], qa["importance"]) == ("qa", "rule", 8)
    assert record(mem, "Everywhere")["links"] == [qa["id"]]
    assert record(mem, "In a project")["project"] == "shop"
    assert record(mem, "Put aside")["status"] == "archived"


@pytest.mark.parametrize(
    ("prefix", "suffix"), [("## ", ""), ("=== ", " ==="), ("", ":"), ("[", "]")]
)
def test_leonidas(mem: Mem, prefix: str, suffix: str) -> None:
    """Five sections, however the heading is written."""
    names = {
        "Contexto Geral": "A shop",
        "DECISÕES IMPORTANTES": "Usar Go",
        "tarefas_pendentes": "Escrever docs",
        "Preferências do Usuário": "Português",
        "contexto_tecnico": "CI é lento",
    }
    text = "".join(f"{prefix}{name}{suffix}\n- {said}\n\n" for name, said in names.items())
    write(mem, {".leonidas/summary.txt": text, ".leonidas/history_20250101_000000.json": "{}"})

    assert unmapped(mem, "--from", "leonidas") == {
        "1 history": "histories of sessions are no facts"
    }
    imported(mem, ".leonidas")
    types = {said: record(mem, said)["type"] for said in names.values()}
    assert list(types.values()) == ["context", "decision", "task", "preference", "insight"]


def test_ctxmem(mem: Mem) -> None:
    """Types, files, what replaces what."""
    rows = [
        {"id": "1", "ts": 1735689600, "type": "decision", "title": "Use SQL", "content": "x"},
        {"id": "2", "type": "todo", "content": "Use Redis", "supersedes": "1", "path": "code.py"},
        {"id": "3", "type": "session", "content": "A session"},
    ]
    write(mem, {".ctxmem/memory.jsonl": "\n".join(map(_json, rows))})
    imported(mem, "--from", "ctxmem")

    old, new = record(mem, "Use SQL"), record(mem, "Use Redis")
    assert (old["created"], old["type"]) == ("2025-01-01T00:00:00Z", "decision")
    assert (new["type"], new["supersedes"]) == ("task", [old["id"]])
    assert new["anchors"][0]["path"] == "code.py"
    assert unmapped(mem, ".ctxmem") == {"memory.jsonl:3": "a session is no fact"}


def test_mem0(mem: Mem) -> None:
    """A list of memories; a long one has a title of its own."""
    said = "Prefers tabs. " + "Because of reasons. " * 30
    rows = [
        {"id": "m1", "memory": said, "hash": "x", "created_at": "2025-01-01T00:00:00-07:00"},
        {"id": "m2", "hash": "y"},
    ]
    write(mem, {"export.json": _json(rows)})
    imported(mem, "export.json")

    row = record(mem, "Prefers tabs.")
    assert row["created"] == "2025-01-01T07:00:00Z"
    assert row["body"].strip() == said.strip()
    assert unmapped(mem, "export.json") == {"export.json 2": "it has no id or no text"}


def test_agentmemory(mem: Mem) -> None:
    """The latest version of each, from the home folder."""
    path = Path(os.environ["HOME"]) / ".agentmemory" / "standalone.json"
    path.parent.mkdir(parents=True)
    entries = {
        "a": {"type": "pattern", "title": "Retry", "content": "Twice", "concepts": ["net"]},
        "b": {"type": "fact", "title": "Old", "isLatest": False},
    }
    path.write_text(_json({"mem:memories": entries}))

    assert "found agentmemory with 1 new entry." in mem("import").out
    imported(mem, "--from", "agentmemory")
    assert (record(mem, "Retry")["type"], record(mem, "Retry")["tags"]) == ("pattern", ["net"])


@pytest.mark.parametrize("format", ["aios", "genius", "sinapse", "leonidas"])
def test_what_is_written_can_be_read(mem: Mem, tmp_path: Path, format: str) -> None:
    """A format that is exported and imported gives the same titles, types and texts."""
    mem.add("Use Redis", "-m", "It has a TTL.", "-t", "decision", "--tag", "db")
    mem.add("Retry twice", "-m", "On timeouts", "-t", "pattern")
    mem.add("Write docs", "-t", "task")
    mem("gotcha", "add", "npm fails", "-m", "on Node 22", "--workaround", "Use 20")
    done = mem("export", str(tmp_path / "out"), "--format", format)
    folders = {"sinapse": "memory/sinapse", "genius": ".genius/memory"}
    source = tmp_path / "out" / folders.get(format, "")
    before = set(mem.titles())
    git(tmp_path, "init", "-q", "empty")
    other = mem.at(tmp_path / "empty")

    titles = imported(other, str(source))

    expected = {
        "aios": {"npm fails"},
        "genius": before,
        "sinapse": {"Use Redis", "Retry twice", "Write docs"},
        "leonidas": {"Use Redis", "Retry twice", "Write docs", "npm fails (Use 20)"},
    }
    assert set(titles) == expected[format]
    assert set(titles.values()) == {"new"}
    assert ("left out" in done.err) == (format in {"aios", "sinapse"})
    if format == "sinapse":
        after = record(other, "Use Redis")
        assert (after["type"], after["tags"], after["body"]) == (
            "decision",
            ["db"],
            "It has a TTL.\n",
        )


def test_a_page_for_people(mem: Mem, tmp_path: Path) -> None:
    """Sections by type, with what is uncertain marked."""
    mem.add("Use Redis", "-m", "## Why\n\nIt has a TTL.", "-t", "decision")
    mem("gotcha", "add", "npm fails", "--workaround", "Use 20")
    mem("export", str(tmp_path / "page.md"))
    page = (tmp_path / "page.md").read_text("utf-8")

    assert "## Decisions\n\n### Use Redis\n" in page
    assert "##### Why" in page
    assert "Workaround: Use 20" in page


def test_stdout(mem: Mem) -> None:
    """'-' is stdout, for formats of one file."""
    mem.add("Use Redis")

    assert mem("export", "-", "--format", "json").document["facts"][0]["title"] == "Use Redis"
    assert "is a folder of files" in mem("export", "-", code=1).err


def test_the_lines_below_the_title_of_a_decision_are_no_part_of_its_text(mem: Mem) -> None:
    """Its date is the record's own; a summary of it says what was decided."""
    text = "# 1. Use Postgres\n\nDate: 2026-05-01\n\nStatus: accepted\n\n## Decision\n\nFor all.\n"
    write(mem, {"docs/adr/0001-use-postgres.md": text})
    imported(mem, "docs/adr")

    row = record(mem, "Use Postgres")

    assert row["created"].startswith("2026-05-01")
    assert row["body"].strip() == "## Decision\n\nFor all."


def test_what_is_archived_waits_for_nobody(mem: Mem) -> None:
    """The number is that of the inbox."""
    rows = [
        {"id": "1", "title": "Open", "issue_type": "bug", "status": "open"},
        {"id": "2", "title": "Closed", "issue_type": "bug", "status": "closed"},
    ]
    write(mem, {".beads/issues.jsonl": "\n".join(map(json.dumps, rows))})

    assert "1 wait for you" in mem("import", ".beads").err
    assert len(mem("inbox", "--json").json) == 1


def test_the_name_of_a_format_is_no_path(mem: Mem) -> None:
    assert "git mem import --from beads" in mem("import", "beads", code=1).err
