"""Commands that print data have `--json`: one JSON value on stdout, nothing else, with stable fields."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import click
import pytest

from gitmem.cli.main import cli
from tests.cli.conftest import Mem, spawn
from tests.conftest import git

RECORD = {
    "store": str,
    "id": str,
    "kind": str,
    "title": str,
    "created": str,
    "updated": str,
    "rev": int,
    "author": str,
}
FULL = {
    **RECORD,
    "body": str,
    "type": str,
    "importance": (int, float),
    "status": str,
    "tags": list,
    "origin": str,
    "agent": str,
}
# command line -> (is it a list, fields with their types)
Case = tuple[Callable[[Mem, list[str]], list[str]], bool, dict[str, Any]]


def _session(part: str) -> Callable[[Mem, list[str]], list[str]]:
    """Return a command about sessions, once there is one."""

    def make(mem: Mem, _: list[str]) -> list[str]:
        start = json.dumps(
            {
                "session_id": "s1",
                "cwd": str(mem.folder),
                "hook_event_name": "SessionStart",
                "source": "startup",
            }
        )
        subprocess.run(
            [sys.executable, "-P", "-m", "gitmem", "hook", "claude"],
            input=start.encode(),
            cwd=mem.folder,
            capture_output=True,
            check=True,
        )
        return ["session", part]

    return make


def _code(*args: str) -> Callable[[Mem, list[str]], list[str]]:
    """Return a command about code, once there is some that imports something."""

    def make(mem: Mem, _: list[str]) -> list[str]:
        (mem.folder / "shop.py").write_text("import code\n\n\ndef total():\n    return code\n")
        return ["code", *args]

    return make


def _work(*args: str) -> Callable[[Mem, list[str]], list[str]]:
    """Return a command about an epic, once there is one."""

    def make(mem: Mem, _: list[str]) -> list[str]:
        mem("work", "start", "shop", "--story", "1", "--story", "2")
        return ["work", *args]

    return make


def _hand(*args: str) -> Callable[[Mem, list[str]], list[str]]:
    """Return a command about a person's session, once there is one with a word in it."""

    def make(mem: Mem, _: list[str]) -> list[str]:
        mem("session", "start", "--title", "Invoices")
        mem("session", "mark", "The ledger is append only")
        return ["session", *args]

    return make


def _entry(verb: str) -> Callable[[Mem, list[str]], list[str]]:
    """Return a command about an entry of the summary, once there is one: a task."""

    def make(mem: Mem, _: list[str]) -> list[str]:
        return [
            "summary",
            verb,
            mem("summary", "add", "--kind", "task", "Load-test it", "--json").json["id"],
        ]

    return make


def _file(name: str, text: str, *args: str) -> Callable[[Mem, list[str]], list[str]]:
    """Return a command about a file of the work tree, once it is there."""

    def make(mem: Mem, _: list[str]) -> list[str]:
        (mem.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (mem.folder / name).write_text(text)
        return list(args)

    return make


def _snap(*args: str) -> Callable[[Mem, list[str]], list[str]]:
    """Return a command about a snapshot, once there is one and the file has changed again."""

    def make(mem: Mem, _: list[str]) -> list[str]:
        (mem.folder / "w.txt").write_text("saved")
        mem("snapshot", "save", "note")
        (mem.folder / "w.txt").write_text("changed")
        return ["snapshot", *args]

    return make


def _linked(*args: str) -> Callable[[Mem, list[str]], list[str]]:
    """Return a command about the code's history, once a commit is linked to a session by a note, and an event is noted."""

    def make(mem: Mem, _: list[str]) -> list[str]:
        oid = git(mem.folder, "rev-parse", "HEAD")
        ranges = [{"start_line": 1, "end_line": 1}]
        talk = {"url": "https://example.org/1", "contributor": {"type": "ai"}, "ranges": ranges}
        record = {
            "version": "0.1",
            "vcs": {"type": "git", "revision": oid},
            "files": [{"path": "code.py", "conversations": [talk]}],
        }
        git(mem.folder, "notes", "add", "-m", json.dumps(record))
        if args[:2] != ("trace", "import"):
            mem("trace", "import")
        mem("event", "add", "Released")
        return list(args)

    return make


ENTRY = {"id": str, "kind": str, "text": str, "at": str}
STEP = {"added": list, "changed": list, "dropped": list}
SESSION = {
    **dict.fromkeys(
        (
            "id",
            "agent",
            "state",
            "kind",
            "started",
            "last",
            "why",
            "worktree",
            "transcript",
            "history",
        ),
        str,
    ),
    **dict.fromkeys(("title", "story", "branch", "ended"), (str, type(None))),
    "off": bool,
}
CONTEXT = {
    **dict.fromkeys(("kind", "id", "started", "last"), str),
    **dict.fromkeys(("last_commands", "agents", "tasks", "next", "handovers"), list),
    **dict.fromkeys(
        ("agent", "previous_agent", "workflow", "state", "story", "branch", "message"),
        (str, type(None)),
    ),
}
PULLED = {"pulled": list, "counts": dict, "notes": list, "dry_run": bool}
PERSONA = "---\nname: Dex\n---\n"
RULES = "# Rules\n- Use Postgres 17.\n"
EPIC = {
    **dict.fromkeys(
        (
            "id",
            "slug",
            "title",
            "status",
            "standing",
            "why",
            "created",
            "updated",
            "next_step",
            "resume",
        ),
        str,
    ),
    **dict.fromkeys(("crashed", "alive"), bool),
    **dict.fromkeys(("progress", "workflow", "last_action", "context", "overrides"), dict),
    **dict.fromkeys(("stories", "checkpoints"), list),
    "minutes_silent": int,
    "epic": (str, type(None)),
    "holder": (dict, type(None)),
}
DONE = {**EPIC, "changed": bool}

CASES: dict[str, Case] = {
    "add": (
        lambda m, i: ["add", "new", "-m", "text", "--tag", "x"],
        False,
        {**FULL, "commit": str, "journaled": bool},
    ),
    "edit": (
        lambda m, i: ["edit", i[0], "--tag", "y"],
        False,
        {**FULL, "commit": str, "journaled": bool},
    ),
    "supersede": (
        lambda m, i: ["supersede", i[0], "newer", "-m", "text"],
        False,
        {**FULL, "supersedes": list, "commit": str, "journaled": bool},
    ),
    "show": (
        lambda m, i: ["show", i[0]],
        False,
        {**FULL, "oid": str, "path": str, "effective_score": float, "access_count": int},
    ),
    "show at": (lambda m, i: ["show", f"{i[0]}@{{0}}"], False, FULL),
    "list": (
        lambda m, i: ["list"],
        True,
        {**RECORD, "type": str, "status": str, "agent": str, "path": str, "oid": str},
    ),
    "list at": (lambda m, i: ["list", "--at", "@"], True, {**RECORD, "type": str, "status": str}),
    "search": (
        lambda m, i: ["search", "words"],
        True,
        {**RECORD, "score": float, "snippet": str, "reason": str},
    ),
    "graph": (lambda m, i: ["graph"], False, {"nodes": list, "edges": list}),
    "log": (
        lambda m, i: ["log"],
        True,
        {
            "commit": str,
            "parents": list,
            "author": str,
            "date": str,
            "subject": str,
            "op": str,
            "ids": list,
            "agent": str,
            "session": str,
            "changes": list,
        },
    ),
    "diff": (
        lambda m, i: ["diff", "@~1"],
        True,
        {
            "path": str,
            "id": (str, type(None)),
            "what": str,
            "old": (str, type(None)),
            "new": (str, type(None)),
        },
    ),
    "restore": (
        lambda m, i: ["restore", "--list"],
        True,
        {"id": str, "removed": str, "store": str, "title": str},
    ),
    "init": (
        lambda m, i: ["init"],
        False,
        {
            "ref": str,
            "tip": str,
            "created": bool,
            "replica": str,
            "home": str,
            "remote_has_memory": (bool, type(None)),
            "agents": list,
        },
    ),
    "install": (
        lambda m, i: ["install", "claude"],
        True,
        {"what": str, "scope": str, "path": str, "action": str, "notes": list},
    ),
    "install list": (lambda m, i: ["install", "--list"], False, {"installed": list, "found": list}),
    "uninstall": (
        lambda m, i: ["uninstall", "claude", "git-hooks", "--dry-run"],
        True,
        {"what": str, "scope": str, "path": str, "action": str, "notes": list, "diff": str},
    ),
    "status": (
        lambda m, i: ["status"],
        False,
        {
            "repository": str,
            "ref": str,
            "stores": dict,
            "journal": int,
            "damaged": list,
            "conflicts": int,
            "remote": dict,
            "problems": list,
            "reads_not_flushed": int,
        },
    ),
    "doctor": (lambda m, i: ["doctor"], False, {"findings": list, "repaired": list}),
    "work start": (_work("start", "blog"), False, DONE),
    "work story": (
        _work("story"),
        True,
        {
            "id": str,
            "title": str,
            "done": bool,
            "current": bool,
            "completed_at": (str, type(None)),
            "phase_results": dict,
        },
    ),
    "work story done": (_work("story", "1", "--done"), False, DONE),
    "work phase": (_work("phase", "push"), False, DONE),
    "work checkpoint": (_work("checkpoint", "look"), False, DONE),
    "work error": (_work("error", "it broke"), False, DONE),
    "work override": (_work("override", "k", "1"), False, DONE),
    "work pause": (_work("pause"), False, DONE),
    "work abort": (_work("abort"), False, DONE),
    "work complete": (_work("complete", "--yes"), False, DONE),
    "work resume": (_work("resume"), False, {**EPIC, "options": list}),
    "work resume continue": (_work("resume", "--continue"), False, DONE),
    "work discard": (_work("discard"), False, {"id": str, "standing": str, "changed": bool}),
    "work show": (_work("show"), False, EPIC),
    "work list": (_work("list"), True, {**EPIC, "here": bool}),
    "work import": (
        lambda m, i: (
            ["work", "import", "s.yaml"]
            if (m.folder / "s.yaml").write_text("steps: [a, b]\nworkflow_id: w\n")
            else []
        ),
        True,
        {"file": str, "id": str, "title": str, "changed": bool},
    ),
    "summary show": (
        lambda m, i: ["summary", "show"] if m("summary", "add", "Use it") else [],
        False,
        {"id": str, "store": str, "updated": str, "rev": int, "counts": dict, "sections": dict},
    ),
    "summary show alone": (
        lambda m, i: ["summary"],
        False,
        {"store": str, "counts": dict, "sections": dict},
    ),
    "summary add": (lambda m, i: ["summary", "add", "Use it"], False, {**ENTRY, "changed": bool}),
    "summary done": (_entry("done"), True, ENTRY),
    "summary pin": (_entry("pin"), True, {**ENTRY, "pinned": bool}),
    "summary unpin": (_entry("unpin"), True, ENTRY),
    "summary drop": (_entry("drop"), True, ENTRY),
    "summary update": (
        lambda m, i: ["summary", "update"],
        False,
        {"sessions": list, "did": list, **STEP},
    ),
    "summary history": (
        lambda m, i: ["summary", "history"] if m("summary", "add", "Use it") else [],
        True,
        {**dict.fromkeys(("commit", "at", "by", "session", "what"), str), "counts": dict, **STEP},
    ),
    "summary diff": (lambda m, i: ["summary", "diff"], False, STEP),
    "session start": (lambda m, i: ["session", "start"], False, {**SESSION, "started_now": bool}),
    "session current": (_hand("current"), False, SESSION),
    "session note": (_hand("note", "text"), False, {"session": str, "content": str}),
    "session mark": (
        _hand("mark", "text"),
        False,
        {"session": str, "line": (int, type(None)), "content": str, "new": bool},
    ),
    "session show": (
        _hand("show"),
        False,
        {
            **SESSION,
            **dict.fromkeys(("branches", "marked", "costs", "events"), list),
            "changed": dict,
            "read": dict,
            "digest": (str, type(None)),
        },
    ),
    "session end": (
        _hand("end"),
        False,
        {**SESSION, "ended_now": bool, "digest": (str, type(None))},
    ),
    "session resume": (
        lambda m, i: (
            _hand("end")(m, i) and (m("session", "end"), ["session", "resume", "--show"])[1]
        ),
        False,
        {
            **SESSION,
            "files": list,
            "changed_since": list,
            "failed": list,
            "pending": list,
            "marked": list,
            "noted": list,
            "work": list,
            "in_this_worktree": bool,
            "opened": bool,
        },
    ),
    "session context": (_hand("context"), False, CONTEXT),
    "session task": (
        _hand("task", "tests"),
        False,
        {**CONTEXT, "task": str, "success": bool, "counted": bool, "known": bool},
    ),
    "session workflows": (
        lambda m, i: ["session", "workflows"],
        False,
        {"file": (str, type(None)), "workflows": list},
    ),
    "session handover": (
        _hand("handover", "gemini", "-m", "text"),
        False,
        {
            **dict.fromkeys(("id", "title", "to", "message", "commit"), str),
            "context": dict,
            "decisions": list,
            "tasks": list,
            "evidence": list,
            "journaled": bool,
        },
    ),
    "opening": (
        lambda m, i: ["opening"],
        False,
        {"action": str, "reason": str, "text": str, "tasks": list, "by": str},
    ),
    "briefing": (
        lambda m, i: ["briefing"],
        False,
        {"day": str, "budget": int, "unit": str, "used": int, "sections": list},
    ),
    "recall": (
        lambda m, i: ["recall", "words"],
        False,
        {"words": str, "session": (str, type(None)), "this_session": list, "memory": list},
    ),
    "extract": (
        _file("n.md", "We decided to use NUMERIC for money.\n", "extract", "n.md"),
        False,
        {"by": str, "topics": list, "items": list},
    ),
    "activate": (
        _file(".gitmem/agents/dev.md", PERSONA, "activate", "dev"),
        False,
        {
            "agent": dict,
            "kind": str,
            "quality": str,
            "fallback": bool,
            "duration_ms": float,
            "greeting": str,
            "context": dict,
            "loaders": dict,
        },
    ),
    "activate list": (
        _file(".gitmem/agents/dev.md", PERSONA, "activate", "--list"),
        True,
        {"name": str, "path": str},
    ),
    "native status": (
        _file("CLAUDE.md", RULES, "native", "status"),
        False,
        {"files": list, "setting": str, "notes": list},
    ),
    "native pull": (_file("CLAUDE.md", RULES, "native", "pull"), False, PULLED),
    "native push": (
        lambda m, i: ["native", "push", "--to", "gemini"],
        False,
        {**PULLED, "pushed": list, "failed": list},
    ),
    "native sync": (
        _file("CLAUDE.md", RULES, "native", "sync"),
        False,
        {**PULLED, "pushed": list, "failed": list},
    ),
    "native watch-once": (
        lambda m, i: ["native", "watch-once", "--timeout", "1"],
        False,
        {**PULLED, "files": list},
    ),
    "code symbols": (
        _code("symbols"),
        True,
        {
            **dict.fromkeys(("path", "name", "qualified", "kind"), str),
            **dict.fromkeys(("first", "last", "line"), int),
        },
    ),
    "code refs": (_code("refs", "total"), False, {"definitions": list, "references": list}),
    "code imports": (
        _code("imports", "shop.py"),
        True,
        {"module": str, "names": list, "line": int, "files": list},
    ),
    "code graph": (
        _code("graph"),
        False,
        {"commit": str, "files": list, "edges": list, "skipped": dict},
    ),
    "code rank": (_code("rank"), False, {"commit": str, "files": list, "skipped": dict}),
    "code prune": (_code("prune"), False, {"removed": int, "kept": int}),
    "scout": (
        lambda m, i: ["scout", "code.py", "prints"],
        False,
        {"task": str, "files": list, "records": list, "saved": list},
    ),
    "dna show": (
        lambda m, i: ["dna", "show"],
        False,
        {"title": str, "body": str, "tokens": int, "id": str, "commit": str, "stored": bool},
    ),
    "dna refresh": (
        lambda m, i: ["dna", "refresh"],
        True,
        {"id": str, "folder": str, "how": str, "tokens": int},
    ),
    "why": (
        _linked("why", "code.py:1"),
        False,
        {"file": str, "lines": list, "text": list, "origins": list, "records": list},
    ),
    "evolution": (
        _linked("evolution", "code.py"),
        True,
        {"commit": str, "date": str, "author": str, "subject": str, "what": str, "path": str},
    ),
    "drift": (
        _linked("drift", "--level", "none"),
        False,
        {"sides": list, "left_out": int, "pairs": list},
    ),
    "timeline": (_linked("timeline"), True, {"at": str, "source": str, "what": str, "title": str}),
    "trends": (
        _linked("trends"),
        False,
        {
            "hot_files": list,
            "agents": list,
            "hours": list,
            "weekdays": list,
            "errors": dict,
            "learned": list,
            "commits": int,
            "sessions": int,
        },
    ),
    "event add": (lambda m, i: ["event", "add", "Released"], False, {"id": str, "at": str}),
    "event list": (
        _linked("event", "list"),
        True,
        {"at": str, "source": str, "title": str, "id": str},
    ),
    "trace export": (
        _linked("trace", "export"),
        True,
        {"version": str, "id": str, "timestamp": str, "vcs": dict, "tool": dict, "files": list},
    ),
    "trace import": (
        _linked("trace", "import"),
        False,
        {"commits": int, "sessions": int, "missing": int},
    ),
    "snapshot save": (
        _file("w.txt", "x", "snapshot", "save", "note"),
        False,
        {"id": str, "ref": str, "omitted": list},
    ),
    "snapshot list": (_snap("list"), True, {"id": str, "title": str, "created": str, "work": bool}),
    "snapshot show": (_snap("show"), False, {"id": str, "title": str, "ref": str}),
    "snapshot restore": (
        _snap("restore", "last", "--worktree"),
        False,
        {
            "id": str,
            "written": list,
            "removed": list,
            "staged": list,
            "blocked": dict,
            "warnings": list,
        },
    ),
    "snapshot drop": (_snap("drop", "last"), False, {"dropped": list}),
    "snapshot prune": (_snap("prune", "--keep", "0"), False, {"dropped": list}),
    "model check": (lambda m, i: ["model", "check"], False, {"summariser": str, "ok": bool}),
    "config": (lambda m, i: ["config"], False, {"sign": dict, "remote": dict}),
    "remote show": (lambda m, i: ["remote", "show"], False, {"remote": (str, type(None))}),
    "purge": (
        lambda m, i: ["purge", "--text", "no such text", "--yes"],
        False,
        {"places": list, "gone": bool},
    ),
    "sync": (
        lambda m, i: ["sync"],
        False,
        {
            "remote": str,
            "received": int,
            "sent": int,
            "pushed": bool,
            "merged": bool,
            "warnings": list,
            "conflicts": list,
            "damaged": list,
            "refused": list,
        },
    ),
}

TRAP = {
    **{key: kind for key, kind in RECORD.items() if key != "author"},
    "status": str,
    "severity": str,
    "category": str,
    "occurrences": int,
    "path": str,
    "oid": str,
}
WHOLE = {
    **RECORD,
    "body": str,
    "status": str,
    "severity": str,
    "category": str,
    "triggers": dict,
    "origin": str,
    "unconfirmed": bool,
}
PLACE = {"path": str, "first": int, "last": int, "state": str, "stale": bool}
ERROR = "TypeError: unsupported operand type(s) for +"
# the same for gotchas; `i` are one of code.py and two that were captured
TRAPS: dict[str, Case] = {
    "gotcha add": (
        lambda m, i: ["gotcha", "add", "new", "-m", "text", "--error", ERROR],
        False,
        {
            **RECORD,
            "body": str,
            "triggers": dict,
            "category": str,
            "first_seen": str,
            "commit": str,
            "journaled": bool,
        },
    ),
    "gotcha list": (lambda m, i: ["gotcha", "list"], True, TRAP),
    "gotcha show": (
        lambda m, i: ["gotcha", "show", i[1]],
        False,
        {**WHOLE, "oid": str, "path": str, "access_count": int},
    ),
    "gotcha edit": (
        lambda m, i: ["gotcha", "edit", i[1], "--severity", "info"],
        False,
        {**WHOLE, "commit": str, "journaled": bool},
    ),
    "gotcha resolve": (
        lambda m, i: ["gotcha", "resolve", *i[1:], "-m", "how"],
        True,
        {**WHOLE, "resolved": dict, "changed": bool},
    ),
    "gotcha reopen": (lambda m, i: ["gotcha", "reopen", *i[1:]], True, {**WHOLE, "changed": bool}),
    "gotcha snooze": (
        lambda m, i: ["gotcha", "snooze", *i],
        True,
        {"id": str, "title": str, "until": str},
    ),
    "gotcha snooze off": (
        lambda m, i: ["gotcha", "snooze", "--off", *i],
        True,
        {"id": str, "title": str, "until": type(None)},
    ),
    "gotcha snooze list": (
        lambda m, i: ["gotcha", "snooze"] if m("gotcha", "snooze", i[0]) else [],
        True,
        {"id": str, "title": str, "until": str},
    ),
    "gotcha verify": (
        lambda m, i: ["gotcha", "verify"],
        True,
        {"id": str, "title": str, "was": dict, "now": dict},
    ),
    "gotcha verify ID": (
        lambda m, i: ["gotcha", "verify", *i[1:]],
        True,
        {
            **{k: v for k, v in WHOLE.items() if k != "unconfirmed"},
            "confirmed": dict,
            "changed": bool,
        },
    ),
    "gotcha search": (
        lambda m, i: ["gotcha", "search", "operand"],
        True,
        {**TRAP, "score": float, "reason": str},
    ),
    "gotcha for": (
        lambda m, i: ["gotcha", "for", "code.py:1"],
        True,
        {**TRAP, "asked": str, "place": dict, "reason": str, "anchors": list},
    ),
    "gotcha context": (
        lambda m, i: ["gotcha", "context", "--error", ERROR, "code.py"],
        True,
        {**TRAP, "score": float, "reasons": list},
    ),
    "gotcha stats": (
        lambda m, i: ["gotcha", "stats"],
        False,
        {
            **dict.fromkeys(
                (
                    "total",
                    "unresolved",
                    "resolved",
                    "unconfirmed",
                    "archived",
                    "occurrences",
                    "tracked_errors",
                    "pending_captures",
                    "snoozed",
                ),
                int,
            ),
            **dict.fromkeys(("by_category", "by_severity", "by_source"), dict),
        },
    ),
    "inbox": (lambda m, i: ["inbox"], True, {**TRAP, "unconfirmed": bool, "triggers": dict}),
    "inbox apply": (
        lambda m, i: ["inbox", "--accept", i[1], "--reject", i[2]],
        False,
        {"accepted": list, "rejected": list, "merged": list},
    ),
    "error record": (
        lambda m, i: ["error", "record", ERROR],
        False,
        {
            "pattern": str,
            "title": str,
            "category": str,
            "severity": str,
            "hits": int,
            "threshold": int,
            "gotcha": str,
            "workaround": str,
        },
    ),
    "session list": (
        _session("list"),
        True,
        {
            **dict.fromkeys(
                (
                    "id",
                    "agent",
                    "state",
                    "started",
                    "last",
                    "why",
                    "worktree",
                    "transcript",
                    "history",
                ),
                str,
            ),
            "ended": (str, type(None)),
            "off": bool,
        },
    ),
    "session cost": (_session("cost"), False, {"sessions": list, "events": list, "total": dict}),
    "error list": (
        lambda m, i: ["error", "list"],
        True,
        {
            "pattern": str,
            "hits": int,
            "sessions": int,
            "first": str,
            "last": str,
            "gotcha": (str, type(None)),
        },
    ),
}


def _data_commands(group: click.Group, before: str = "") -> Iterator[str]:
    """Yield the commands that take `--json`, each with the group that it is in."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from _data_commands(command, f"{before}{name} ")
        elif command is not None and any("--json" in p.opts for p in command.params):
            yield before + name


def test_every_command_with_json_is_here() -> None:
    """What prints data has `--json`, and is tested below."""
    assert isinstance(cli, click.Group)
    commands = set(_data_commands(cli))
    tested = {
        next(
            (" ".join(name.split()[:n]) for n in (2, 1) if " ".join(name.split()[:n]) in commands),
            name,
        )
        for name in (*CASES, *TRAPS)
    }

    assert commands == tested


@pytest.fixture
def stocked(mem: Mem, hub: Any) -> tuple[Mem, list[str]]:
    """A store with linked records, one forgotten, and a remote."""
    git(mem.folder, "remote", "add", "origin", str(hub))
    ids = [
        mem.add(
            f"title {n}",
            "-m",
            "some words",
            "--tag",
            "x",
            "-t",
            "rule",
            "-i",
            "4",
            ago=300 - 60 * n,
        )
        for n in range(3)
    ]
    mem("link", ids[0], ids[1])
    mem("forget", ids[2])
    return mem, ids


@pytest.mark.parametrize("name", CASES)
def test_json(stocked: tuple[Mem, list[str]], name: str) -> None:
    """One value, the promised fields, each of its type; text stays readable."""
    mem, ids = stocked
    make, _, _ = CASES[name]

    _promised(name, mem(*make(mem, ids), "--json").json)


@pytest.fixture
def trapped(mem: Mem) -> tuple[Mem, list[str]]:
    """A store with three gotchas: one about code that was changed since, two that were captured."""
    one = mem("gotcha", "add", "an error in code.py", "--anchor", "code.py:1", "--json").json["id"]
    for error in (ERROR, "ModuleNotFoundError: No module named 'stripe'"):
        for _ in range(3):
            mem("error", "record", error)
    (mem.folder / "code.py").write_text("print('hello, world')\n")
    captured = {row["title"]: row["id"] for row in mem("inbox", "--json").json}
    return mem, [one, *(captured[title] for title in sorted(captured, reverse=True))]


@pytest.mark.parametrize("name", TRAPS)
def test_json_of_gotchas(trapped: tuple[Mem, list[str]], name: str) -> None:
    """As of all other commands; what is listed to be looked at exits with 1."""
    mem, ids = trapped
    make, _, _ = TRAPS[name]
    value = mem(*make(mem, ids), "--json", code=1 if name == "gotcha verify" else 0).json

    _promised(name, value)
    for row in value if name in {"gotcha for", "gotcha verify"} else []:
        place = row["place"] if name == "gotcha for" else row["now"]
        assert {
            key: kind for key, kind in PLACE.items() if not isinstance(place.get(key), kind)
        } == {}


def test_json_of_gotchas_says_nothing_as_an_empty_list(trapped: tuple[Mem, list[str]]) -> None:
    """No place, no hit, no error, nothing to look at: `[]`."""
    mem, ids = trapped
    mem("gotcha", "resolve", *ids)
    for args in (
        ["list"],
        ["snooze"],
        ["verify"],
        ["search", "zebra"],
        ["for", "nothing.txt"],
        ["context", "--task", "zebra"],
    ):
        assert mem("gotcha", *args, "--json").out == "[]\n", args
    assert mem("inbox", "--json").out == "[]\n"


def _promised(name: str, value: Any) -> None:
    """Check one JSON value: the promised fields, each of its type."""
    _, many, fields = {**CASES, **TRAPS}[name]
    assert isinstance(value, list) == many
    assert value
    for row in value if many else [value]:
        optional = {"snippet"} if name == "search" else set()
        wrong = {
            k: row.get(k)
            for k, kind in fields.items()
            if not isinstance(row.get(k), kind) and not (k in optional and k not in row)
        }
        defaults = {"agent", "origin", "session", "tags"}  # left out when they say nothing
        assert {k: v for k, v in wrong.items() if not (v is None and k in defaults)} == {}


def test_json_says_the_same_as_the_record(stocked: tuple[Mem, list[str]]) -> None:
    """List, search, show and add agree on a record's fields."""
    mem, ids = stocked
    shown = mem.show(ids[0])
    listed = next(r for r in mem("list", "--json").json if r["id"] == ids[0])
    found = next(r for r in mem("search", "title 0", "--json").json if r["id"] == ids[0])
    for key in (
        "id",
        "kind",
        "title",
        "type",
        "importance",
        "status",
        "tags",
        "created",
        "updated",
        "rev",
        "author",
        "store",
        "oid",
        "path",
    ):
        assert listed[key] == found[key] == shown[key], key


def test_json_is_not_mixed_with_remarks(stocked: tuple[Mem, list[str]]) -> None:
    """Remarks and masked secrets go to stderr; what is empty is an empty list."""
    mem, ids = stocked
    done = mem("add", "T", "-m", "password = hunter2isnotsafe99", "--json")
    assert done.json["title"] == "T"
    assert "masked" in done.err
    assert mem("search", "zebra", "--json").json == []
    assert mem("list", "-k", "gotcha", "--json").out == "[]\n"
    assert mem("log", ids[0], "-n", "1", "--json").json[0]["ids"]


def test_json_keeps_every_script(mem: Mem) -> None:
    """Any text comes back as it went in, also through a real pipe in a plain locale."""
    title, body = "naïve 日本 🎉 \u202e", 'quotes " \\ \t tab\nsecond line'
    id = mem.add(title, "-m", body)

    for locale in ("C", "POSIX", "C.UTF-8"):
        row = spawn(
            mem.folder,
            "show",
            id,
            "--json",
            env={"LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        ).json
        assert (row["title"], row["body"]) == (title, body + "\n")


@pytest.mark.parametrize("command", [["show", "ID"], ["list"], ["search", "words"], ["log"]])
def test_format(stocked: tuple[Mem, list[str]], command: list[str]) -> None:
    """`--format` prints one line each with tabs and line ends as in git, and braces that name nothing vanish."""
    mem, ids = stocked
    args = [ids[0] if a == "ID" else a for a in command]
    field = "commit" if command[0] == "log" else "id"
    rows = mem(*args, "--json").json
    rows = rows if isinstance(rows, list) else [rows]

    out = mem(*args, "--format", rf"<{{{field}}}\t{{nothing}}>").out
    assert out.splitlines() == [f"<{row[field]}\t>" for row in rows]
    assert mem(*args, "--format", r"{{x}\n").out
