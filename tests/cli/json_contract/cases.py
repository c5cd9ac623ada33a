"""A command line for every command that takes `--json`, and what has to be there first."""

import json
import subprocess
import sys
from collections.abc import Callable

from tests.cli.conftest import Mem
from tests.conftest import git

# gets the ids of the records that are there, returns the command line
Case = Callable[[Mem, list[str]], list[str]]

PERSONA = "---\nname: Dex\n---\n"
RULES = "# Rules\n- Use Postgres 17.\n"
ERROR = "TypeError: unsupported operand type(s) for +"


def _session(part: str) -> Case:
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


def _contradict(mem: Mem) -> str:
    """Remember two facts that contradict each other; return the id of one."""
    mem.add("The session store is Redis")
    return mem.add("The session store is Memcached")


def _decision(mem: Mem) -> str:
    """Write a decision record, and a file in its folder that is none; return the folder."""
    folder = mem.folder / "docs" / "adr"
    folder.mkdir(parents=True)
    (folder / "0001-use-go.md").write_text("# 1. Use Go\n\n## Status\n\nAccepted\n")
    (folder / "notes.md").write_text("Some notes.\n")
    return "docs/adr"


def _code(*args: str) -> Case:
    """Return a command about code, once there is some that imports something."""

    def make(mem: Mem, _: list[str]) -> list[str]:
        (mem.folder / "shop.py").write_text("import code\n\n\ndef total():\n    return code\n")
        return ["code", *args]

    return make


def _redo(mem: Mem, _: list[str]) -> list[str]:
    mem("undo")
    return ["undo", "--redo"]


def _work(*args: str) -> Case:
    """Return a command about an epic, once there is one."""

    def make(mem: Mem, _: list[str]) -> list[str]:
        mem("work", "start", "shop", "--story", "1", "--story", "2")
        return ["work", *args]

    return make


def _hand(*args: str) -> Case:
    """Return a command about a person's session, once there is one with a word in it."""

    def make(mem: Mem, _: list[str]) -> list[str]:
        mem("session", "start", "--title", "Invoices")
        mem("session", "mark", "The ledger is append only")
        return ["session", *args]

    return make


def _file(name: str, text: str, *args: str) -> Case:
    """Return a command about a file of the work tree, once it is there."""

    def make(mem: Mem, _: list[str]) -> list[str]:
        (mem.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (mem.folder / name).write_text(text)
        return list(args)

    return make


def _snap(*args: str) -> Case:
    """Return a command about a snapshot, once there is one and the file has changed again."""

    def make(mem: Mem, _: list[str]) -> list[str]:
        (mem.folder / "w.txt").write_text("saved")
        mem("snapshot", "save", "note")
        (mem.folder / "w.txt").write_text("changed")
        return ["snapshot", *args]

    return make


def _unknown_setting(mem: Mem, _: list[str]) -> list[str]:
    git(mem.folder, "config", "gitmem.startBudget", "1")
    return ["config", "--unset", "startBudget"]


def _linked(*args: str) -> Case:
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


# `i` are the ids of two linked records and of one that was forgotten
CASES: dict[str, Case] = {
    "add": lambda m, i: ["add", "new", "-m", "text", "--tag", "x"],
    "edit": lambda m, i: ["edit", i[0], "--tag", "y"],
    "supersede": lambda m, i: ["supersede", i[0], "newer", "-m", "text"],
    "link": lambda m, i: ["link", i[1], i[0]],
    "link --remove": lambda m, i: ["link", "--remove", i[0], i[1]],
    "pin": lambda m, i: ["pin", *i[:2]],
    "pin --remove": lambda m, i: ["pin", "--remove", *i[:2]],
    "done": lambda m, i: ["done", m.add("Load-test it", "-t", "task")],
    "archive": lambda m, i: ["archive", *i[:2]],
    "forget": lambda m, i: ["forget", *i[:2]],
    "undo": lambda m, i: ["undo"],
    "undo commit": lambda m, i: ["undo", "@~1"],
    "undo --redo": _redo,
    "show": lambda m, i: ["show", i[0]],
    "show at": lambda m, i: ["show", f"{i[0]}@{{0}}"],
    "list": lambda m, i: ["list"],
    "list at": lambda m, i: ["list", "--at", "@"],
    "search": lambda m, i: ["search", "words"],
    "show --graph": lambda m, i: ["show", "--graph"],
    "log": lambda m, i: ["log"],
    "diff": lambda m, i: ["diff", "@~1"],
    "restore": lambda m, i: ["restore", "--list"],
    "init": lambda m, i: ["init"],
    "install": lambda m, i: ["install", "claude"],
    "install list": lambda m, i: ["install", "--list"],
    "install vim": lambda m, i: ["install", "vim"],
    "install mcp": lambda m, i: ["install", "vscode", "--mcp"],
    "uninstall": lambda m, i: ["uninstall", "claude", "git-hooks", "--dry-run"],
    "status": lambda m, i: ["status"],
    "doctor": lambda m, i: ["doctor"],
    "work start": _work("start", "blog"),
    "work story": _work("story"),
    "work story done": _work("story", "1", "--done"),
    "work phase": _work("phase", "push"),
    "work checkpoint": _work("checkpoint", "look"),
    "work error": _work("error", "it broke"),
    "work override": _work("override", "k", "1"),
    "work pause": _work("pause"),
    "work abort": _work("abort"),
    "work complete": _work("complete", "--yes"),
    "work resume": _work("resume"),
    "work resume continue": _work("resume", "--continue"),
    "work discard": _work("discard"),
    "work show": _work("show"),
    "work list": _work("list"),
    "work import": lambda m, i: (
        ["work", "import", "s.yaml"]
        if (m.folder / "s.yaml").write_text("steps: [a, b]\nworkflow_id: w\n")
        else []
    ),
    "page summary": lambda m, i: (
        ["page", "summary"] if m("add", "Use it", "-t", "decision") else []
    ),
    "session start": lambda m, i: ["session", "start"],
    "session current": _hand("current"),
    "session note": _hand("note", "text"),
    "session mark": _hand("mark", "text"),
    "session show": _hand("show"),
    "session end": _hand("end"),
    "session forget": lambda m, i: (
        _hand("end")(m, i)
        and (
            m("session", "end"),
            ["session", "forget", m("session", "list", "--json").json[0]["id"], "--yes"],
        )[1]
    ),
    "session resume": lambda m, i: (
        _hand("end")(m, i) and (m("session", "end"), ["session", "resume", "--show"])[1]
    ),
    "session context": _hand("context"),
    "session task": _hand("task", "tests"),
    "session workflows": lambda m, i: ["session", "workflows"],
    "session handover": _hand("handover", "gemini", "-m", "text"),
    "session opening": lambda m, i: ["session", "opening"],
    "session briefing": lambda m, i: ["session", "briefing"],
    "search --sessions": lambda m, i: ["search", "--sessions", "words"],
    "extract": _file("n.md", "We decided to use NUMERIC for money.\n", "extract", "n.md"),
    "session activate": _file(".gitmem/agents/dev.md", PERSONA, "session", "activate", "dev"),
    "session activate list": _file(
        ".gitmem/agents/dev.md", PERSONA, "session", "activate", "--list"
    ),
    "native status": _file("CLAUDE.md", RULES, "native", "status"),
    "native pull": _file("CLAUDE.md", RULES, "native", "pull"),
    "native push": lambda m, i: ["native", "push", "--to", "gemini"],
    "native sync": _file("CLAUDE.md", RULES, "native", "sync"),
    "native watch-once": lambda m, i: ["native", "watch-once", "--timeout", "1"],
    "code symbols": _code("symbols"),
    "code refs": _code("refs", "total"),
    "code imports": _code("imports", "shop.py"),
    "code graph": _code("graph"),
    "code rank": _code("rank"),
    "code prune": _code("prune"),
    "scout": lambda m, i: ["scout", "code.py", "prints"],
    "code dna show": lambda m, i: ["code", "dna", "show"],
    "code dna refresh": lambda m, i: ["code", "dna", "refresh"],
    "why": _linked("why", "code.py:1"),
    "code evolution": _linked("code", "evolution", "code.py"),
    "code drift": _linked("code", "drift", "--level", "none"),
    "timeline": _linked("timeline"),
    "timeline --trends": _linked("timeline", "--trends"),
    "event add": lambda m, i: ["event", "add", "Released"],
    "event list": _linked("event", "list"),
    "trace export": _linked("trace", "export"),
    "trace import": _linked("trace", "import"),
    "snapshot save": _file("w.txt", "x", "snapshot", "save", "note"),
    "snapshot list": _snap("list"),
    "snapshot show": _snap("show"),
    "snapshot restore": _snap("restore", "last", "--worktree"),
    "snapshot drop": _snap("drop", "last"),
    "snapshot prune": _snap("prune", "--keep", "0"),
    "model check": lambda m, i: ["model", "check"],
    "config": lambda m, i: ["config"],
    "remote show": lambda m, i: ["remote", "show"],
    "forget --purge": lambda m, i: ["forget", "--purge", "--text", "no such text", "--yes"],
    "sync": lambda m, i: ["sync"],
    "sync bundle": lambda m, i: ["sync", "--bundle", "memory.bundle"],
    "restore one": lambda m, i: ["restore", i[2], i[0]],
    "add private": lambda m, i: ["add", "--private", "mine"],
    "list kind": lambda m, i: ["list", "--tag", "x"],
    "show --graph record": lambda m, i: ["show", "--graph", i[0]],
    "code dna show alone": lambda m, i: ["code", "dna"],
    "config one": lambda m, i: ["config", "sign"],
    "config set": lambda m, i: ["config", "sign", "false"],
    "config unset": lambda m, i: ["config", "--unset", "sign"],
    "config unset unknown": _unknown_setting,
    "code imports of": _code("imports", "code.py", "--of"),
    "snapshot save nothing": lambda m, i: ["snapshot", "save"],
    "snapshot restore facts": _snap("restore", "last"),
    "work override all": _work("override"),
    "work resume review": _work("resume", "--review"),
    "search --sessions all": lambda m, i: ["search", "--sessions", "words", "--all-sessions"],
    "forget --purge quarantine": lambda m, i: ["forget", "--purge", "--quarantine-list"],
    "forget --purge quarantine drop": lambda m, i: ["forget", "--purge", "--quarantine-drop"],
    "install dry": lambda m, i: ["install", "claude", "--dry-run"],
}

# `i` are the ids of a gotcha about code.py and of two that were captured
TRAPS: dict[str, Case] = {
    "gotcha add": lambda m, i: ["gotcha", "add", "new", "-m", "text", "--error", ERROR],
    "gotcha list": lambda m, i: ["gotcha", "list"],
    "gotcha resolve": lambda m, i: ["gotcha", "resolve", *i[1:], "-m", "how"],
    "gotcha reopen": lambda m, i: ["gotcha", "reopen", *i[1:]],
    "gotcha snooze": lambda m, i: ["gotcha", "snooze", *i],
    "gotcha snooze off": lambda m, i: ["gotcha", "snooze", "--off", *i],
    "gotcha snooze list": lambda m, i: ["gotcha", "snooze"] if m("gotcha", "snooze", i[0]) else [],
    "version": lambda m, i: ["version"],
    "check": lambda m, i: ["check"] if _contradict(m) else [],
    "check resolve": lambda m, i: ["check", "--resolve", f"{_contradict(m)}=both"],
    "list done": lambda m, i: ["list", "--all"] if m("done", m.add("x", "-t", "task")) else [],
    "consolidate": lambda m, i: ["consolidate"],
    "import": lambda m, i: ["import", _decision(m)],
    "import found": lambda m, i: ["import"] if _decision(m) else [],
    "export": lambda m, i: ["export", "../bundle"],
    "export file": lambda m, i: ["export", "../facts.md", "--filter", "kind=gotcha"],
    "page": lambda m, i: ["page", "compound"],
    "page file": lambda m, i: ["page", "gotchas", "--out", "GOTCHAS.md"],
    "consolidate try": lambda m, i: ["consolidate", "--dry-run", "--steps", "check,health"],
    "dashboard": lambda m, i: ["dashboard", "--out", str(m.folder / "page.html")],
    "check --health": lambda m, i: ["check", "--health", "--all"],
    "check --health past": lambda m, i: ["check", "--health", "--history"],
    "gotcha verify": lambda m, i: ["gotcha", "verify"],
    "gotcha verify ID": lambda m, i: ["gotcha", "verify", *i[1:]],
    "gotcha for": lambda m, i: ["gotcha", "for", "code.py:1"],
    "inbox": lambda m, i: ["inbox"],
    "inbox apply": lambda m, i: ["inbox", "--accept", i[1], "--reject", i[2]],
    "error record": lambda m, i: ["error", "record", ERROR],
    "session list": _session("list"),
    "session cost": _session("cost"),
    "error list": lambda m, i: ["error", "list"],
}
