"""What hooks of git do: start what nobody waits for, and be gone.

They never fail, and hold git up only to show a gotcha or to add a trailer.

The scripts are in `git-hooks/`; `git mem install git-hooks` writes them. See docs/git-hooks.md.
"""

import os
import time

from gitmem.base.detach import detach
from gitmem.base.sharing import create
from gitmem.base.tolerated import BUSY, NO_REPOSITORY
from gitmem.errors import GitmemError
from gitmem.repo import hook_switch, sequences
from gitmem.repo.location import (
    COMMITS,
    REWRITTEN,
    Home,
    Location,
    is_own,
)
from gitmem.repository import Repository, find_repository

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gitmem.index.reader import Index

    Row = dict[str, Any]

SESSIONS = (
    "GITMEM_SESSION",
    "CLAUDE_CODE_SESSION_ID",
    "CODEX_SESSION_ID",
    "CODEX_THREAD_ID",
    "COPILOT_AGENT_SESSION_ID",
    "OPENCODE_SESSION_ID",
)
# hooks after which the drain has something to do
LATER = ("post-commit", "post-merge", "post-checkout", "post-rewrite")
STOP = 75  # the exit code by which the script of pre-commit knows that the commit is not to be made
INPUT = 8 << 20  # bytes of what git tells of rewritten commits
WAIT = 0.3  # seconds that a busy database is waited for
SHOWN, PATHS = 8, 5000  # gotchas that are shown, staged files that are looked at
TRAILER = "Gitmem-Session"
REFRESH = 3.0  # seconds that a commit waits for an index that is behind
CRITICAL: "dict[str, Any]" = {
    "kinds": ("gotcha",),
    "severities": ("critical",),
    "statuses": ("active", "pinned"),
    "resolved": False,
}
BEHIND = (
    "git mem: the index is behind, so critical gotchas of this commit may be missing here. To "
    "bring it up to date: git mem drain"
)


def main(args: "Sequence[str]") -> int:
    """Answer one call of a git hook.

    Return 0, or `STOP` when a critical gotcha is to stop a commit.
    """
    try:
        return _call(args[0] if args else "", args[1:], os.environ)
    except (*NO_REPOSITORY, *BUSY):
        return 0  # git's command has succeeded or will; memory follows with the next command


def _call(name: str, args: "Sequence[str]", env: "Mapping[str, str]") -> int:
    if hook_switch.by_variable(env) or env.get("GIT_QUARANTINE_PATH"):
        return 0
    repo = find_repository(os.getcwd(), env)
    if not os.path.isdir(repo.home.path) or not is_own(repo.location):
        return 0  # no memory here, or none of the user's
    if hook_switch.is_off(repo.home, env, time.time()):
        return 0
    if name == "pre-commit":
        return _warn(repo)
    if name == "prepare-commit-msg":
        if args and not sequences.is_under_way(repo.location.gitdir):
            _name_session(repo, args[0])
    elif name == "pre-push":
        _sync(repo)
    elif name in LATER:
        _note(repo.home, name, args)
        if _is_over(repo.location, name):
            _start(repo, "drain")
    return 0


def _sync(repo: Repository) -> None:
    settings = repo.read_settings()
    if settings.get("syncOnPush") and settings.get("remote"):
        _start(repo, "sync")


def _is_over(where: Location, name: str) -> bool:
    """Return whether git is done with its command.

    A drain must not run between its commits.
    """
    if name == "post-rewrite":
        return True
    is_between = sequences.goes_on if name == "post-commit" else sequences.is_under_way
    return not is_between(where.gitdir)


def _note(home: Home, name: str, args: "Sequence[str]") -> None:
    """Note what the script could not: it leaves that to us where hooks may be off."""
    if name == "post-commit" and len(args) == 4:
        _append(home, COMMITS, f"{' '.join(args)}\n".encode("utf-8", "replace"))
    elif name == "post-rewrite":
        with os.fdopen(0, "rb", closefd=False) as file:
            _append(home, REWRITTEN, file.read(INPUT))


def _session(env: "Mapping[str, str]") -> str:
    """Return the session that is at work: an agent's commands have its id in their environment."""
    words = next((env[name] for name in SESSIONS if env.get(name)), "").split()
    return words[0][:200] if words else ""


def _append(home: Home, name: str, data: bytes) -> None:
    """Note something for the drain: one write."""
    if not data:
        return
    handle = create(home.join(name), os.O_WRONLY | os.O_APPEND | os.O_CREAT, home.shared)
    try:
        os.write(handle, data)
    finally:
        os.close(handle)


def _name_session(repo: Repository, file: str) -> None:
    """Add the session's trailer to a commit's message, where that is wanted."""
    id = _session(repo.env)
    if id and repo.read_settings().get("commitTrailer"):
        args = (
            "interpret-trailers",
            "--in-place",
            "--if-exists",
            "addIfDifferent",
            "--trailer",
            f"{TRAILER}: {id}",
            file,
        )
        repo.read_git(*args)


def _warn(repo: Repository) -> int:
    """Show the critical gotchas of staged files; say whether they are to stop the commit."""
    how = repo.read_settings().get("preCommit")
    if how == "off":
        return 0
    rows: list[Row] = []
    staged: list[str] = []
    try:
        index, is_current = _current_index(repo)
        if index is not None and index.number(**CRITICAL):
            staged = _staged(repo)
            rows = _gotchas_of(index, repo, staged)
    except Exception:  # noqa: BLE001 - whatever it was, the commit must not pass as if nothing were known
        is_current = False
    if not is_current:
        print(BEHIND, flush=True)  # noqa: T201 - for the person who commits; git hands it on
    if not rows:
        return 0
    sure = not all(row["unconfirmed"] for row in rows)
    stops = how == "block" and sure
    print(_shown(rows, set(staged), stops=stops), flush=True)  # noqa: T201 - as above
    return STOP if stops else 0


def _current_index(repo: Repository) -> "tuple[Index | None, bool]":
    """Return the index, and whether it holds all that was acknowledged.

    One that is behind is refreshed, if that is soon done.
    """
    if not repo.waiting_writes() and repo.indexed_tips() == repo.tips_by_git():
        return repo.stored_index, True
    fresh = _refreshed(repo)
    return fresh or repo.stored_index, fresh is not None


def _refreshed(repo: Repository) -> "Index | None":
    """Bring the index up to date, also with what waits in the journal, and return it.

    None when that cannot be done in time.

    It stays open until this process ends, which is soon: where the disk takes no index, it is in
    memory alone.
    """
    import signal

    from gitmem.app import App
    from gitmem.clock import Clock

    def end(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, REFRESH)
    try:
        app = App(repo.location, repo.env, Clock(), "git")
        index = app.index()
        return None if app.stale else index
    except (TimeoutError, *NO_REPOSITORY, *BUSY):
        return None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _staged(repo: Repository) -> "list[str]":
    """Return the files that the commit changes, those that it renames by both names."""
    worktree = repo.location.worktree
    tree = ("--work-tree", worktree) if worktree else ()
    args = (
        "diff",
        "--cached",
        "--name-status",
        "-z",
        "-M",
        "--no-ext-diff",
        "--diff-filter=ACMRT",
        "--ignore-submodules=dirty",
    )
    out = repo.read_git(*tree, *args, kept=("GIT_INDEX_FILE",))
    if out is None:
        raise GitmemError("git did not tell what is staged")
    words = iter(out.split(b"\0"))
    paths: list[str] = []
    for letter in words:
        if letter:
            paths += [
                os.fsdecode(next(words, b"")) for _ in range(2 if letter[:1] in {b"R", b"C"} else 1)
            ]
    return paths[:PATHS]


def _gotchas_of(index: "Index", repo: Repository, staged: "list[str]") -> "list[Row]":
    """Return the critical gotchas of these files, worst first.

    Gotchas that the user has snoozed are left out.
    """
    moved, snoozed = _from_state(repo, set(staged))
    wanted: dict[str, Any] = {
        **CRITICAL,
        "without": snoozed,
        "order": "severity",
        "limit": SHOWN + 1,
    }
    rows: list[Row] = []
    for start in range(0, len(staged), 500):
        rows += index.rows(paths=staged[start : start + 500], **wanted)
    if moved:
        rows += index.rows(ids=moved, **wanted)
    if globs := index.globs() if staged else ():
        from gitmem.text.globs import glob_match

        fits = list({n for n, glob in globs if any(glob_match(glob, path) for path in staged)})[
            :PATHS
        ]
        rows += index.rows(numbers=fits, **wanted) if fits else []
    return list({row["id"]: row for row in rows}.values())


def _from_state(repo: Repository, staged: "set[str]") -> "tuple[list[str], list[str]]":
    """Return the gotchas whose code is in one of these files now, and the snoozed gotchas.

    The code was in another file when the gotcha was recorded.
    """
    if not staged or not os.path.exists(repo.home.join("state.db")) or not repo.root:
        return [], []
    from gitmem.state import moved_code
    from gitmem.state.database import State

    state = State(repo.home, timeout=WAIT)
    try:
        spots = moved_code.places(state, repo.stored_root)
        return [id for id, (path, *_) in spots.items() if path in staged], list(
            state.snoozed(time.time())
        )
    finally:
        state.close()


def _shown(rows: "Sequence[Mapping[str, Any]]", staged: "set[str]", *, stops: bool) -> str:
    """Return what the person who commits reads."""
    from gitmem.agents.prompt_text import clean
    from gitmem.services.records.committers import marked

    many = "s" if len(rows) != 1 else ""
    lines = [f"git mem: {len(rows)} critical gotcha{many} of what you commit:"]
    for row in rows[:SHOWN]:
        anchor: Mapping[str, Any] = next(
            (anchor for anchor in row["anchors"] if anchor.get("path") in staged), {}
        )
        path = clean(str(anchor.get("path") or ""), 200)
        title = clean(marked(row["title"][:200], row), 400)
        lines.append(f"  {row['id'][-8:]} {path}{': ' if path else ''}{title}")
        if row["workaround"]:
            lines.append(f"           {' '.join(clean(row['workaround'], 300).split())}")
    if len(rows) > SHOWN:
        lines.append(f"  and {len(rows) - SHOWN} more")
    lines.append(
        f"More: git mem show {rows[0]['id'][-8:]}. If this commit resolves one, end its message "
        f"with: Resolves-Gotcha: {rows[0]['id'][-8:]}"
    )
    if stops:
        lines.append(
            "The commit was not made (gitmem.preCommit is block). To commit all the same: git "
            "commit --no-verify"
        )
    return "\n".join(lines)


def _start(repo: Repository, command: str) -> None:
    """Start a command of ours in this repository.

    Of what git told its hook, only which repository it is stays.
    """
    from gitmem.git.process import child_env

    where = repo.location
    passed = {
        "GIT_DIR": where.gitdir,
        "GITMEM_BACKGROUND": "1",
        **({"GIT_WORK_TREE": where.worktree} if where.worktree else {}),
    }
    detach(["-C", where.worktree or where.gitdir, command], child_env(repo.env, passed))
