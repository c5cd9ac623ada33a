"""Snapshots as an attacker makes them: trees and a state file written with plumbing, by way of another clone."""

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.command_line import mem
from tests.conftest import git
from tests.json_output import data_of

# mode, content: bytes of a blob, an oid, or (name, node) pairs of a folder
Node = tuple[str, bytes | str | Sequence[Any]]


def _object(repo: Path, kind: str, data: bytes) -> str:
    argv = ["git", "-C", str(repo), "hash-object", "-t", kind, "-w", "--stdin", "--literally"]
    return subprocess.run(argv, input=data, capture_output=True, check=True).stdout.decode().strip()


def tree(repo: Path, rows: Sequence[tuple[bytes, str, Any]]) -> str:
    """Write a tree with these (name, mode, content) rows as they stand, whatever git thinks of them."""
    data = b""
    for name, mode, content in rows:
        if isinstance(content, bytes):
            oid = _object(repo, "blob", content)
        elif isinstance(content, str):
            oid = content
        else:
            oid = tree(repo, content)
        data += mode.encode() + b" " + name + b"\0" + bytes.fromhex(oid)
    return _object(repo, "tree", data)


def nested(path: bytes, mode: str, content: bytes | str) -> list[tuple[bytes, str, Any]]:
    """Return the rows of a tree that has one file at a path."""
    first, slash, rest = path.partition(b"/")
    return [(first, "40000", nested(rest, mode, content))] if slash else [(first, mode, content)]


def forge(
    repo: Path,
    worktree: Sequence[tuple[bytes, str, Any]],
    staged: Sequence[tuple[bytes, str, Any]] | None = None,
    state: Mapping[str, Any] | None = None,
) -> str:
    """Replace the trees of a new snapshot of a repository by these rows, on top of the commit's own; return its id."""
    if not (repo / ".git/gitmem").is_dir():
        mem(repo, "init", "--no-remote")
    (repo / "a.txt").write_text("forged\n")
    made = data_of(mem(repo, "snapshot", "save", "--json").stdout)
    git(repo, "checkout", "-q", "--", "a.txt")
    base = _rows(repo, "HEAD^{tree}")
    facts = json.loads(git(repo, "show", f"{made['ref']}:state.json"))
    facts |= state or {}
    new = [
        (b"staged", "40000", [*base, *(worktree if staged is None else staged)]),
        (b"state.json", "100644", json.dumps(facts).encode()),
        (b"worktree", "40000", [*base, *worktree]),
    ]
    commit = git(repo, "commit-tree", tree(repo, new), "-p", "HEAD", "-m", "forged")
    git(repo, "update-ref", made["ref"], commit)
    return str(made["id"])


def _rows(repo: Path, name: str) -> list[tuple[bytes, str, Any]]:
    rows = []
    for line in git(repo, "ls-tree", name).splitlines():
        mode, _, rest = line.partition(" ")
        oid, _, path = rest.split(" ", 1)[1].partition("\t") if " " in rest else ("", "", "")
        rows.append((path.encode(), mode.lstrip("0"), oid))
    return rows
