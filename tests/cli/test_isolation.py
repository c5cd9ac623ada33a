"""No command touches what is the user's: work tree, index, HEAD, branches, tags, stash, configuration, hooks."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gitmem.agents.events import ADAPTERS
from gitmem.cli.commands import COMMANDS, HIDDEN
from tests.cli.conftest import Mem
from tests.conftest import git, prepared
from tests.mcp.conftest import Lines

HOOKS = (
    "pre-commit",
    "post-commit",
    "pre-push",
    "reference-transaction",
    "post-merge",
    "post-checkout",
    "update",
    "post-rewrite",
    "pre-auto-gc",
)


def snapshot(folder: Path) -> dict[str, Any]:
    """Return everything in a repository that is not gitmem's: the git dir byte by byte, the work tree, and what git says of both."""
    dot = folder / ".git"
    out: dict[str, Any] = {
        "index": ((dot / "index").read_bytes(), (dot / "index").stat().st_mtime_ns)
    }
    for path in sorted(dot.rglob("*")):
        name = path.relative_to(dot).as_posix()
        if path.is_file() and not name.startswith(
            ("objects/", "gitmem/", "refs/gitmem/", "logs/refs/gitmem/", "packed-refs")
        ):
            out[name] = (path.read_bytes(), path.stat().st_mode)
    for path in sorted(folder.rglob("*")):
        if path.is_file() and dot not in path.parents:
            out[f"work:{path.relative_to(folder)}"] = (path.read_bytes(), path.stat().st_mtime_ns)
    refs = git(folder, "for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    out["refs"] = [ref for ref in refs if not ref.startswith("refs/gitmem/")]
    out["stash"] = git(folder, "stash", "list")
    out["status"] = git(
        folder, "--no-optional-locks", "status", "--porcelain", "--untracked-files=all"
    )
    return out


@pytest.fixture
def busy(repo: Path, hub: Path, mem: Mem) -> Mem:
    """A repository in the middle of work: staged, changed, untracked and stashed files, a tag, hooks that would tell if they ran, and two records."""

    def make() -> None:
        git(repo, "tag", "v1")
        git(repo, "branch", "topic")
        (repo / "code.py").write_text("print('stashed')\n")
        git(repo, "stash", "-q")
        (repo / "staged.txt").write_text("staged\n")
        git(repo, "add", "staged.txt")
        (repo / "code.py").write_text("print('changed')\n")
        (repo / "untracked.txt").write_text("untracked\n")
        mem("add", "first", "-m", "some words in the first", ago=120)
        mem("add", "second", "-m", "some words in the second", ago=60)
        mem("list")

    prepared("busy", repo, make)
    git(repo, "remote", "add", "origin", str(hub))
    git(repo, "push", "-q", "origin", "HEAD:refs/heads/main")
    for hook in HOOKS:
        path = repo / ".git" / "hooks" / hook
        path.write_text(f"#!/bin/sh\ntouch '{repo}/hook-{hook}-ran'\n")
        path.chmod(0o755)
    old = 1_600_000_000
    os.utime(repo / ".git" / "index", (old, old))
    return mem


Step = Callable[[Mem], Any]


def _one(mem: Mem) -> str:
    return str(mem("list", "--all", "--json").json[-1]["id"])


def _two(mem: Mem) -> tuple[str, str]:
    rows = mem("list", "--all", "--json").json
    return str(rows[-1]["id"]), str(rows[-2]["id"])


def _enabled(mem: Mem) -> None:
    git(mem.folder, "config", "gitmem.remote", "origin")


def _trap(mem: Mem) -> str:
    rows = mem("gotcha", "list", "--all", "--json").json
    return str(
        (rows or [mem("gotcha", "add", "a trap", "--anchor", "code.py:1", "--json").json])[0]["id"]
    )


def _agent(mem: Mem) -> None:
    path = mem.folder / ".gitmem" / "agents" / "dev.md"
    path.parent.mkdir(parents=True)
    path.write_text("---\nname: Dex\n---\n")


# name -> (what must be there before, the command); each runs in a store with two records


def _remember_by_mcp(mem: Mem) -> None:
    """Have a client of the server, which is a process of its own, write a fact and read it."""
    with Lines(mem.folder) as server:
        for tool, arguments in (("remember", {"title": "Rule"}), ("search", {"query": "rule"})):
            answer = server.request("tools/call", name=tool, arguments=arguments)
            assert not answer["result"]["isError"], answer


COMMAND: dict[str, tuple[Step, Step]] = {
    "init": (lambda m: None, lambda m: m("init")),
    "status": (lambda m: None, lambda m: m("status")),
    "doctor": (lambda m: None, lambda m: m("doctor")),
    "doctor --fix": (
        lambda m: (m.folder / ".git/gitmem/index.db").write_bytes(b"broken"),
        lambda m: m("doctor", "--fix"),
    ),
    "config": (lambda m: None, lambda m: m("config")),
    "config KEY": (lambda m: None, lambda m: m("config", "sign")),
    "completion": (lambda m: None, lambda m: m("completion", "bash")),
    "add": (
        lambda m: None,
        lambda m: m("add", "three", "-m", "text", "--anchor", "code.py:1", "--tag", "x"),
    ),
    "add --private": (lambda m: None, lambda m: m("add", "three", "--private")),
    "add --user": (lambda m: None, lambda m: m("add", "three", "--user")),
    "edit": (lambda m: None, lambda m: m("edit", _one(m), "--title", "changed")),
    "supersede": (lambda m: None, lambda m: m("supersede", _one(m), "successor")),
    "link": (lambda m: None, lambda m: m("link", *_two(m))),
    "link --remove": (lambda m: m("link", *_two(m)), lambda m: m("link", "--remove", *_two(m))),
    "pin": (lambda m: None, lambda m: m("pin", _one(m))),
    "pin --remove": (lambda m: m("pin", _one(m)), lambda m: m("pin", "--remove", _one(m))),
    "done": (
        lambda m: m("add", "-t", "task", "Use it"),
        lambda m: m("done", m("list", "--format", "{id}").out.split()[0]),
    ),
    "archive": (lambda m: None, lambda m: m("archive", _one(m))),
    "restore": (lambda m: m("archive", _one(m)), lambda m: m("restore", _one(m))),
    "forget": (lambda m: None, lambda m: m("forget", _one(m))),
    "forget --purge": (lambda m: None, lambda m: m("forget", "--purge", _one(m), "--yes")),
    "forget --purge --text": (
        lambda m: None,
        lambda m: m("forget", "--purge", "--text", "words in the first", "--yes"),
    ),
    "forget --purge --remote": (
        lambda m: (
            _enabled(m),
            m("sync"),
            m("forget", "--purge", "--text", "words in the first", "--yes"),
        ),
        lambda m: m("forget", "--purge", "--remote", "origin"),
    ),
    "show": (lambda m: None, lambda m: m("show", _one(m))),
    "list": (lambda m: None, lambda m: m("list")),
    "search": (lambda m: None, lambda m: m("search", "words")),
    "show --graph": (lambda m: m("link", *_two(m)), lambda m: m("show", "--graph")),
    "gotcha add": (lambda m: None, _trap),
    "gotcha for": (_trap, lambda m: m("gotcha", "for", "code.py")),
    "gotcha verify": (_trap, lambda m: m("gotcha", "verify")),
    "gotcha verify ID": (_trap, lambda m: m("gotcha", "verify", _trap(m))),
    "gotcha resolve": (_trap, lambda m: m("gotcha", "resolve", _trap(m), "-m", "done")),
    "gotcha snooze": (_trap, lambda m: m("gotcha", "snooze", _trap(m))),
    "inbox": (lambda m: None, lambda m: m("inbox")),
    "check": (
        lambda m: (m.add("Uploads are limited to 5 MB"), m.add("Uploads are limited to 9 MB")),
        lambda m: m(
            "check", "--resolve", f"{m('check', '--json').json[0]['facts'][0]['id']}=newer"
        ),
    ),
    "error record": (
        lambda m: None,
        lambda m: [m("error", "record", "ValueError: it is too long") for _ in range(3)],
    ),
    "error list": (lambda m: None, lambda m: m("error", "list")),
    "session list": (lambda m: None, lambda m: m("session", "list")),
    "session cost": (lambda m: None, lambda m: m("session", "cost", "--all")),
    "session start": (
        lambda m: None,
        lambda m: (m("session", "start"), m("session", "note", "text"), m("session", "end")),
    ),
    "session task": (
        lambda m: m("session", "start"),
        lambda m: (m("session", "task", "tests"), m("session", "context")),
    ),
    "session handover": (
        lambda m: m("session", "start"),
        lambda m: m("session", "handover", "gemini", "-m", "text"),
    ),
    "work start": (
        lambda m: None,
        lambda m: (
            m("work", "start", "shop", "--story", "1"),
            m("work", "phase", "push"),
            m("work", "show"),
        ),
    ),
    "work complete": (
        lambda m: m("work", "start", "shop"),
        lambda m: m("work", "complete", "--yes"),
    ),
    "page summary": (lambda m: m("add", "Use it"), lambda m: m("page", "summary")),
    "session briefing": (lambda m: None, lambda m: m("session", "briefing")),
    "session opening": (lambda m: None, lambda m: m("session", "opening")),
    "search --sessions": (lambda m: None, lambda m: m("search", "--sessions", "words")),
    "extract": (lambda m: None, lambda m: m("extract", "--commits", "HEAD", "--save")),
    "session activate": (_agent, lambda m: m("session", "activate", "dev")),
    "consolidate": (
        lambda m: (m("add", "Log as JSON", "--verify", "path=code.py"), m("add", "Logs are JSON")),
        lambda m: m("consolidate"),
    ),
    "dashboard": (
        lambda m: None,
        lambda m: m("dashboard", "--out", str(m.folder.parent / "page.html")),
    ),
    "import": (
        lambda m: m.add("Use Go"),
        lambda m: (m("export", "../bundle"), m("undo"), m("import", "../bundle")),
    ),
    "page": (lambda m: m.add("Use Go"), lambda m: m("page", "compound", "--out", "../pages")),
    "export": (lambda m: m.add("Use Go"), lambda m: m("export", "../bundle")),
    "check --health": (lambda m: None, lambda m: m("check", "--health", "--all")),
    "model": (lambda m: None, lambda m: m("model", "check")),
    "native": (
        lambda m: None,
        lambda m: (
            m("native", "status"),
            m("native", "push"),
            m("native", "sync"),
            m("native", "push", "--remove"),
        ),
    ),
    "hook off": (lambda m: None, lambda m: m("hook", "off")),
    "hook on": (lambda m: m("hook", "off"), lambda m: m("hook", "on")),
    "log": (lambda m: None, lambda m: m("log", _one(m), "-p")),
    "diff": (lambda m: None, lambda m: m("diff", "@~1")),
    "undo": (lambda m: None, lambda m: m("undo")),
    "undo --redo": (lambda m: m("undo"), lambda m: m("undo", "--redo")),
    "why": (lambda m: None, lambda m: m("why", "code.py:1")),
    "code evolution": (
        lambda m: None,
        lambda m: (m("code", "evolution", "code.py"), m("code", "evolution", "code.py")),
    ),
    "code drift": (
        lambda m: git(m.folder, "-c", "core.hooksPath=/dev/null", "branch", "another"),
        lambda m: m("code", "drift"),
    ),
    "timeline": (
        lambda m: None,
        lambda m: (m("timeline"), m("timeline", "--file", "code.py", "--csv")),
    ),
    "timeline --trends": (lambda m: None, lambda m: m("timeline", "--trends")),
    "code": (
        lambda m: None,
        lambda m: (
            m("code", "rank"),
            m("code", "graph", "--dot"),
            m("code", "symbols"),
            m("code", "imports", "code.py"),
            m("code", "prune"),
        ),
    ),
    "scout": (lambda m: None, lambda m: m("scout", "--save", "code.py prints hello")),
    "code dna": (
        lambda m: None,
        lambda m: (m("code", "dna"), m("code", "dna", "refresh"), m("code", "dna", "show")),
    ),
    "read-code": (lambda m: None, lambda m: m("read-code")),
    "event": (lambda m: None, lambda m: (m("event", "add", "Released"), m("event", "list"))),
    "trace": (
        lambda m: git(m.folder, "-c", "core.hooksPath=/dev/null", "notes", "add", "-m", "a note"),
        lambda m: (m("trace", "export"), m("trace", "import", code=1)),
    ),
    "git-hook pre-commit": (lambda m: None, lambda m: m("git-hook", "pre-commit")),
    "snapshot": (
        lambda m: None,
        lambda m: (
            m("snapshot", "save"),
            m("snapshot", "restore"),
            m("snapshot", "diff"),
            m("snapshot", "drop", "last"),
        ),
    ),
    "sync": (_enabled, lambda m: m("sync")),
    "sync without leave": (lambda m: None, lambda m: m("sync")),
    "sync --bundle": (lambda m: None, lambda m: m("sync", "--bundle", "../memory.bundle")),
    "remote": (lambda m: None, lambda m: m("remote")),
    "remote show": (_enabled, lambda m: m("remote", "show")),
    "uninstall --wipe --remote": (
        lambda m: (_enabled(m), m("sync")),
        lambda m: m("uninstall", "--wipe", "--remote", "origin", "--yes"),
    ),
    "drain": (lambda m: None, lambda m: m("drain")),
    "hook": (lambda m: None, lambda m: m("hook", "claude")),
    "mcp": (lambda m: None, _remember_by_mcp),
    "git-hook": (lambda m: None, lambda m: m("git-hook", "post-commit")),
    "install --list": (lambda m: None, lambda m: m("install", "--list")),
    "install --dry-run": (
        lambda m: None,
        lambda m: m("install", *ADAPTERS, "git-hooks", "--dry-run"),
    ),
    "install --user": (lambda m: None, lambda m: m("install", *ADAPTERS, "--user")),
    "uninstall": (
        lambda m: None,
        lambda m: (m("install", *ADAPTERS, "git-hooks"), m("uninstall", "all")),
    ),
    "uninstall --project": (
        lambda m: None,
        lambda m: (m("install", *ADAPTERS, "--project"), m("uninstall", *ADAPTERS, "--project")),
    ),
    "help": (lambda m: None, lambda m: (m("help", "-a"), m("help", "forget", "--purge"))),
    "version": (lambda m: None, lambda m: m("version", "--json")),
    "a wrong command": (lambda m: None, lambda m: m("frobnicate", code=2)),
    "an unknown id": (lambda m: None, lambda m: m("pin", "zzzzzzzz", code=1)),
}
SETS = {"config KEY VALUE", "remote enable", "remote disable", "uninstall --wipe"}


def test_every_command_is_here() -> None:
    """A new command must say here how it is run."""
    assert {name.split()[0] for name in (*COMMAND, *SETS)} >= {*COMMANDS, *HIDDEN}


@pytest.mark.parametrize("name", COMMAND)
def test_a_command_leaves_the_host_alone(busy: Mem, name: str) -> None:
    """After the command everything that is the user's is as before, byte by byte."""
    prepare, act = COMMAND[name]
    prepare(busy)
    before = snapshot(busy.folder)
    act(busy)

    after = snapshot(busy.folder)
    assert {k for k in before.keys() | after.keys() if before.get(k) != after.get(k)} == set()
    assert not list(busy.folder.glob("hook-*-ran"))


@pytest.mark.parametrize(
    ("args", "setting"),
    [
        (("config", "scout", "false"), "gitmem.scout=false"),
        (("remote", "enable", "origin", "--yes"), "gitmem.remote=origin"),
        (
            ("remote", "enable", "origin", "--branch", "--yes"),
            "gitmem.remoteref=refs/heads/gitmem/main",
        ),
    ],
)
def test_a_setting_changes_its_own_section_only(
    busy: Mem, args: tuple[str, ...], setting: str
) -> None:
    """What sets something writes below `gitmem.` and nowhere else; wiping takes it away again."""
    before = snapshot(busy.folder)
    settings = git(busy.folder, "config", "--local", "--list").splitlines()
    busy(*args)
    now = git(busy.folder, "config", "--local", "--list").splitlines()
    after = snapshot(busy.folder)

    assert [s for s in now if s not in settings and s == setting]
    assert [s for s in now if not s.startswith("gitmem.")] == settings
    assert {k for k in before.keys() | after.keys() if before.get(k) != after.get(k)} == {"config"}
    busy("uninstall", "--wipe", "--yes")
    assert git(busy.folder, "config", "--local", "--list").splitlines() == settings


def test_wipe_leaves_no_trace(busy: Mem) -> None:
    """After a wipe the repository is as it was before gitmem came, but for unreachable objects."""
    before = snapshot(busy.folder)
    packed = (
        (busy.folder / ".git/packed-refs").read_bytes()
        if (busy.folder / ".git/packed-refs").exists()
        else b""
    )
    busy("add", "first")
    busy("add", "second", "--private")
    busy("remote", "enable", "origin", "--yes")
    busy("sync")
    busy("uninstall", "--wipe", "--yes")

    after = snapshot(busy.folder)
    assert {k for k in before.keys() | after.keys() if before.get(k) != after.get(k)} <= {"config"}
    assert git(busy.folder, "for-each-ref", "refs/gitmem") == ""
    assert not (busy.folder / ".git/gitmem").exists()
    assert not (busy.folder / ".git/refs/gitmem").exists() or not [
        p for p in (busy.folder / ".git/refs/gitmem").rglob("*") if p.is_file()
    ]
    assert not [
        p for p in (busy.folder / ".git/logs").rglob("*") if "gitmem" in p.parts and p.is_file()
    ]
    assert "gitmem" not in git(busy.folder, "config", "--local", "--list")
    assert b"gitmem" not in packed


def test_a_sync_moves_our_ref_only(busy: Mem, hub: Path) -> None:
    """On the remote nothing but our ref appears, and its branches stay."""
    busy("add", "first")
    busy("remote", "enable", "origin", "--yes")
    before = git(hub, "for-each-ref").splitlines()
    busy("sync")

    added = [
        line.split("\t")[1] for line in git(hub, "for-each-ref").splitlines() if line not in before
    ]
    assert added == ["refs/gitmem/heads/main"]
    assert set(before) <= set(git(hub, "for-each-ref").splitlines())
