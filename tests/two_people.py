"""Two people with a clone each and one hub for their memory; commits of the store that anybody forged."""

import contextlib
import io
import json
import os
import subprocess
from pathlib import Path
from typing import Any

from gitmem.cli import main
from tests.stress.conftest import mem_argv, mem_env

ANA, BOB = "Ana <ana@example.org>", "Bob <bob@example.org>"


def git(repo: Path, *args: str, **env: str) -> str:
    """Run git; return what it prints."""
    done = subprocess.run(
        ["git", "-C", str(repo), *args], capture_output=True, check=True, env={**os.environ, **env}
    )
    return done.stdout.decode().strip()


def clone(folder: Path, person: str, hub: Path) -> Path:
    """Make a clone whose memory goes to the hub, for a person."""
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    repo = folder
    git(
        repo,
        "-c",
        "user.name=x",
        "-c",
        "user.email=x@x",
        "commit",
        "-q",
        "--allow-empty",
        "-m",
        "one",
    )
    name, _, mail = person.rstrip(">").partition(" <")
    for key, value in (("user.name", name), ("user.email", mail)):
        git(repo, "config", key, value)
    git(repo, "remote", "add", "origin", str(hub))
    mem(repo, "init", "--no-remote")
    mem(repo, "remote", "enable", "origin")
    return repo


def mem(repo: Path, *args: str, code: int = 0) -> str:
    """Run git-mem in this process; return what it prints, also to stderr where it fails."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        done = main.run(["-C", str(repo), *args])
    assert done == code, f"git mem {args}: exit {done}\n{out.getvalue()}{err.getvalue()}"
    return out.getvalue() + (err.getvalue() if code else "")


def sync(*repos: Path) -> None:
    """Exchange until everybody has everything."""
    for repo in (*repos, *repos):
        mem(repo, "sync")


def two_clones(folder: Path) -> tuple[Path, Path]:
    """Return two clones with one hub, of two people."""
    hub = folder / "hub.git"
    subprocess.run(["git", "init", "-q", "--bare", str(hub)], check=True)
    return clone(folder / "ana", ANA, hub), clone(folder / "bob", BOB, hub)


def hook(repo: Path, event: str, **payload: Any) -> str:
    """Run the hook of Claude Code in a process of its own; return what the agent is told."""
    said = {"hook_event_name": event, "session_id": "s1", "cwd": str(repo), **payload}
    done = subprocess.run(
        mem_argv(repo, "hook", "claude"),
        input=json.dumps(said),
        env=mem_env(),
        capture_output=True,
        text=True,
        check=True,
    )
    answer = json.loads(done.stdout or "{}").get("hookSpecificOutput", {})
    return str(answer.get("additionalContext", ""))


def forge(repo: Path, changes: dict[str, bytes], person: str, *parents: str) -> str:
    """Commit files into the shared store by plumbing, as anybody, and move its ref there."""
    ref = "refs/gitmem/heads/main"
    index = {"GIT_INDEX_FILE": str(repo / "forged-index")}
    tip = git(repo, "rev-parse", ref)
    git(repo, "read-tree", tip, **index)
    for path, data in changes.items():
        (repo / "forged").write_bytes(data)
        blob = git(repo, "hash-object", "-w", str(repo / "forged"))
        git(repo, "update-index", "--add", "--cacheinfo", f"100644,{blob},{path}", **index)
    tree = git(repo, "write-tree", **index)
    name, _, mail = person.rstrip(">").partition(" <")
    who = {
        f"GIT_{role}_{key}": value
        for role in ("AUTHOR", "COMMITTER")
        for key, value in (("NAME", name), ("EMAIL", mail))
    }
    names = [part for parent in (parents or (tip,)) for part in ("-p", parent)]
    made = git(repo, "commit-tree", tree, *names, "-m", "forged", **who)
    git(repo, "update-ref", ref, made)
    return made
