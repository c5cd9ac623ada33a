"""Commands that print data have `--json`: one JSON value on stdout, nothing else, with stable fields."""

from collections.abc import Callable
from typing import Any

import click
import pytest

from gitmem.cli.main import COMMANDS, cli
from tests.cli.conftest import Mem, spawn
from tests.conftest import git

RECORD = {"store": str, "id": str, "kind": str, "title": str, "created": str, "updated": str, "rev": int, "author": str}
FULL = {**RECORD, "body": str, "type": str, "importance": (int, float), "status": str, "tags": list, "origin": str, "agent": str}
# command line -> (is it a list, fields with their types)
Case = tuple[Callable[[Mem, list[str]], list[str]], bool, dict[str, Any]]
CASES: dict[str, Case] = {
    "add": (lambda m, i: ["add", "new", "-m", "text", "--tag", "x"], False, {**FULL, "commit": str, "journaled": bool}),
    "edit": (lambda m, i: ["edit", i[0], "--tag", "y"], False, {**FULL, "commit": str, "journaled": bool}),
    "supersede": (lambda m, i: ["supersede", i[0], "newer", "-m", "text"], False, {**FULL, "supersedes": list, "commit": str, "journaled": bool}),
    "show": (lambda m, i: ["show", i[0]], False, {**FULL, "oid": str, "path": str, "effective_score": float, "access_count": int}),
    "show at": (lambda m, i: ["show", f"{i[0]}@{{0}}"], False, FULL),
    "list": (lambda m, i: ["list"], True, {**RECORD, "type": str, "status": str, "agent": str, "path": str, "oid": str}),
    "list at": (lambda m, i: ["list", "--at", "@"], True, {**RECORD, "type": str, "status": str}),
    "search": (lambda m, i: ["search", "words"], True, {**RECORD, "score": float, "snippet": str, "reason": str}),
    "graph": (lambda m, i: ["graph"], False, {"nodes": list, "edges": list}),
    "log": (
        lambda m, i: ["log"], True,
        {"commit": str, "parents": list, "author": str, "date": str, "subject": str, "op": str, "ids": list, "agent": str, "session": str, "changes": list},
    ),
    "diff": (lambda m, i: ["diff", "@~1"], True, {"path": str, "id": (str, type(None)), "what": str, "old": (str, type(None)), "new": (str, type(None))}),
    "restore": (lambda m, i: ["restore", "--list"], True, {"id": str, "removed": str, "store": str, "title": str}),
    "init": (
        lambda m, i: ["init"], False,
        {"ref": str, "tip": str, "created": bool, "replica": str, "home": str, "remote_has_memory": (bool, type(None))},
    ),
    "status": (
        lambda m, i: ["status"], False,
        {"repository": str, "ref": str, "stores": dict, "journal": int, "damaged": list, "conflicts": int, "remote": dict, "problems": list, "reads_not_flushed": int},
    ),
    "doctor": (lambda m, i: ["doctor"], False, {"findings": list, "repaired": list}),
    "config": (lambda m, i: ["config"], False, {"sign": dict, "remote": dict}),
    "remote show": (lambda m, i: ["remote", "show"], False, {"remote": (str, type(None))}),
    "sync": (
        lambda m, i: ["sync"], False,
        {"remote": str, "received": int, "sent": int, "pushed": bool, "merged": bool, "warnings": list, "conflicts": list, "damaged": list, "refused": list},
    ),
}  # fmt: skip


def _data_commands() -> set[str]:
    """Return the commands that take `--json`."""
    out = set()
    for name in COMMANDS:
        command = cli.get_command(click.Context(cli), name)  # type: ignore[attr-defined]
        kids = (
            [command.get_command(click.Context(command), n) for n in command.list_commands(click.Context(command))]
            if isinstance(command, click.Group)
            else [command]
        )
        if any("--json" in p.opts for kid in kids for p in kid.params):
            out.add(name)
    return out


def test_every_command_with_json_is_here() -> None:
    """What prints data has `--json`, and is tested below."""
    assert _data_commands() == {name.split()[0] for name in CASES}


@pytest.fixture
def stocked(mem: Mem, hub: Any) -> tuple[Mem, list[str]]:
    """A store with linked records, one forgotten, and a remote."""
    git(mem.folder, "remote", "add", "origin", str(hub))
    ids = [mem.add(f"title {n}", "-m", "some words", "--tag", "x", "-t", "rule", "-i", "4", ago=300 - 60 * n) for n in range(3)]
    mem("link", ids[0], ids[1])
    mem("forget", ids[2])
    return mem, ids


@pytest.mark.parametrize("name", CASES)
def test_json(stocked: tuple[Mem, list[str]], name: str) -> None:
    """One value, the promised fields, each of its type; text stays readable."""
    mem, ids = stocked
    make, many, fields = CASES[name]
    done = mem(*make(mem, ids), "--json")

    value = done.json
    assert isinstance(value, list) == many
    assert value
    for row in value if many else [value]:
        optional = {"snippet"} if name == "search" else set()
        wrong = {k: row.get(k) for k, kind in fields.items() if not isinstance(row.get(k), kind) and not (k in optional and k not in row)}
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
        row = spawn(mem.folder, "show", id, "--json", env={"LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}).json
        assert (row["title"], row["body"]) == (title, body + "\n")


def test_json_errors_are_not_json(mem: Mem) -> None:
    """A failure prints nothing on stdout: the exit code and stderr tell."""
    done = mem("show", "zzzzzzzz", "--json", code=1)

    assert done.out == ""
    assert done.err.startswith("error: ")
    assert "hint: " in done.err


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
