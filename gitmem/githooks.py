"""What hooks of git do: start what nobody waits for, and be gone. They never fail, and never hold git up.

`git mem install git-hooks` writes them; the scripts run this in the background, without input or output. See docs/git-hooks.md.
"""

import os
import time
from collections.abc import Mapping, Sequence

from gitmem import config
from gitmem.base.detach import detach
from gitmem.base.tolerated import NO_REPOSITORY
from gitmem.git.process import Git, child_env
from gitmem.repo import hook_switch
from gitmem.repo.location import COMMITS, Home, Location, is_own, locate
from gitmem.repo.refs import head

SESSIONS = (
    "GITMEM_SESSION",
    "CLAUDE_CODE_SESSION_ID",
    "CODEX_SESSION_ID",
    "CODEX_THREAD_ID",
    "COPILOT_AGENT_SESSION_ID",
    "OPENCODE_SESSION_ID",
)
REBASES = ("rebase-merge", "rebase-apply")  # folders that are there while commits are made one after the other


def main(args: Sequence[str]) -> int:
    """Answer one call of a git hook; always return 0."""
    try:
        _call(args[0] if args else "", os.environ)
    except NO_REPOSITORY:
        pass  # git's command has succeeded or will; memory follows with the next command
    return 0


def _call(name: str, env: Mapping[str, str]) -> None:
    if hook_switch.by_variable(env) or env.get("GIT_QUARANTINE_PATH"):
        return
    where = locate(os.getcwd(), env)
    if not os.path.isdir(where.home) or not is_own(where) or hook_switch.is_off(Home(where.home), env, time.time()):
        return  # no memory here, or hooks are off
    if name == "pre-push":
        if _syncs(where, env):
            _start(where, env, "sync")
    elif name == "post-commit" and (made := head(where)):
        _note(Home(where.home), made, env)
        if not any(os.path.isdir(os.path.join(where.gitdir, folder)) for folder in REBASES):
            _start(where, env, "drain")
    elif name == "post-rewrite" or not any(os.path.isdir(os.path.join(where.gitdir, folder)) for folder in REBASES):
        _start(where, env, "drain")


def _note(home: Home, commit: str, env: Mapping[str, str]) -> None:
    """Note a commit for the drain, with the session that was at work: an agent's commands have its id in their environment."""
    session = next((env[name] for name in SESSIONS if env.get(name)), "")
    line = f"{commit} {session.split()[0][:200] if session.split() else ''}\n".encode("utf-8", "replace")
    handle = os.open(home.join(COMMITS), os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o664 if home.shared else 0o600)
    try:
        os.write(handle, line)
    finally:
        os.close(handle)


def _syncs(where: Location, env: Mapping[str, str]) -> bool:
    settings = config.from_git(Git(where.gitdir, env).run("config", "--list", "-z", env=config.one_off(env)))
    return bool(settings.get("syncOnPush") and settings.get("remote"))


def _start(where: Location, env: Mapping[str, str], command: str) -> None:
    """Start a command of ours in this repository; of what git told its hook, only which repository it is stays."""
    told = {"GIT_DIR": where.gitdir, "GITMEM_BACKGROUND": "1", **({"GIT_WORK_TREE": where.worktree} if where.worktree else {})}
    detach(["-C", where.worktree or where.gitdir, command], child_env(env, told))
