"""Check a repository's memory and repair what can be repaired without losing anything.

Each check yields findings; a finding may carry a repair. Nothing is repaired unless asked.
"""

import contextlib
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gitmem.base.files import listing
from gitmem.config import Settings, refusal, removal
from gitmem.errors import External, GitmemError
from gitmem.git.new_packs import abandoned
from gitmem.git.process import Git
from gitmem.git.work_state import left_scratch
from gitmem.index.health_cache import NAME as HEALTH
from gitmem.index.reader import NAME, SCHEMA, Index, open_index
from gitmem.llm.select import describe
from gitmem.records.kinds import short_id
from gitmem.repo.location import STOPPED, Home, Location
from gitmem.repo.refs import NAMESPACE, PRIVATE, SHARED, SNAPSHOTS, packed_ref, raw_ref
from gitmem.services.maintenance import repairs
from gitmem.state.database import NAME as STATE
from gitmem.store import journal
from gitmem.store.history.pending import pending
from gitmem.store.record_history import NAME as HISTORY
from gitmem.store.store import Store
from gitmem.text.plural import counted

OLD_LOCK = 600  # seconds after which a ref's lock file is nobody's any more
OLD_TEMP = 3600
SHOWN = 60  # characters of a pattern
NAMED = 50  # damaged files that are named one by one
SHARED_LOCKS = (
    ("packed-refs.lock",),
    ("config.lock",),
    ("objects", "info", "commit-graph.lock"),
    ("objects", "info", "commit-graphs", "commit-graph-chain.lock"),
)


@dataclass(frozen=True, slots=True)
class HealthFinding:
    """One thing that was looked at. `level` is ok, note, warning or error."""

    level: str
    what: str
    hint: str = ""
    repair: Callable[[], str] | None = None


def check_git(git: Git, backend: str) -> Iterator[HealthFinding]:
    """Is git there and new enough; which implementation is in use?"""
    said = git.run("--version").decode(errors="replace").strip()
    version = said.removeprefix("git version ").split(" ")[0]
    numbers = tuple(int(x) for x in version.split(".")[:2] if x.isdecimal())
    if len(numbers) < 2:
        yield HealthFinding(
            "error",
            f"git does not say which version it is: {said[:SHOWN]!r}.",
            "Check which git is used: command -v git",
        )
    elif numbers < (2, 30):
        yield HealthFinding("error", f"git {version} is too old.", "Install git 2.30 or newer.")
    else:
        yield HealthFinding("ok", f"git {version}, objects through {backend}")


def check_ignored(faults: Sequence[tuple[str, str]]) -> Iterator[HealthFinding]:
    """Are all patterns of `.gitmemignore` and `gitmem.ignore` used?"""
    for pattern, why in faults[:NAMED]:
        shown = pattern if len(pattern) <= SHOWN else pattern[:SHOWN] + "…"
        yield HealthFinding(
            "warning",
            f"a pattern of .gitmemignore or gitmem.ignore is not used: {shown!r}: {why}.",
            "Write it shorter, or as several patterns.",
        )


def check_refs(
    git: Git, location: Location, home: Home, index: Index | None, mend: Callable[[], str]
) -> Iterator[HealthFinding]:
    """Are our refs readable, is everything that they need there, did a crash leave locks?

    `mend` brings back what is missing.
    """
    indexed = repairs.index_tips(index)
    for name, ref in (("shared", SHARED), ("private", PRIVATE)):
        try:
            raw_ref(location.commondir, ref)
        except External as error:
            tips = (indexed.get(name), packed_ref(location.commondir, ref))
            yield _damaged_ref(git, location, home, ref, str(error), tips)
    for path in _locks(location.commondir):
        yield HealthFinding(
            "warning",
            f"a lock of a process that died: {os.path.relpath(path, location.commondir)}",
            "Run: git mem doctor --fix",
            repairs.unlink(path),
        )
    for path in abandoned(os.path.join(location.commondir, "objects")):
        yield HealthFinding(
            "warning",
            f"a pack is kept for a write that was killed: "
            f"{os.path.relpath(path, location.commondir)}",
            "Run: git mem doctor --fix",
            repairs.unlink(path),
        )
    yield from _check_history(git, mend)


def _damaged_ref(
    git: Git, location: Location, home: Home, ref: str, error: str, tips: Iterable[str | None]
) -> HealthFinding:
    """Return the finding of a ref that cannot be read; `tips` may be what it was."""
    for tip in tips:
        if tip and repairs.is_commit(git, tip):
            repair = repairs.set_ref(git, home, location.commondir, ref, tip)
            return HealthFinding("error", error, "Run: git mem doctor --fix", repair)
    path = os.path.join(location.commondir, ref)
    return HealthFinding(
        "error", error, f"Move {path} out of the way, then fetch it again: git mem sync"
    )


def _check_history(git: Git, mend: Callable[[], str]) -> Iterator[HealthFinding]:
    """Check that all objects of our refs are there."""
    rows = [
        row.split(" ", 1)
        for row in git.run("for-each-ref", "--format=%(objectname) %(refname)", NAMESPACE)
        .decode()
        .splitlines()
    ]
    # of a snapshot, not the code's history
    refs = [f"{oid}^!" if name.startswith(SNAPSHOTS) else oid for oid, name in rows]
    if refs:
        code, out, text = git.call(
            "rev-list",
            "--objects",
            "--missing=print",
            "--stdin",
            stdin="\n".join(refs).encode(),
            ok=(0, 128),
            timeout=600,
        )
        missing = [line[1:].decode() for line in out.splitlines() if line.startswith(b"?")]
        if code or missing:
            what = (
                f"{counted(len(missing), 'object is', 'objects are')} missing, such as "
                f"{missing[0][:12]}"
                if missing
                else f"history cannot be read: {text.splitlines()[-1] if text else code}"
            )
            yield HealthFinding(
                "error",
                what,
                "Get back what remotes, the index and older commits have: git mem doctor --fix",
                mend,
            )
        else:
            yield HealthFinding(
                "ok",
                f"history complete: {counted(len(refs), 'ref')}, "
                f"{counted(len(out.splitlines()), 'object')}",
            )


def _locks(commondir: str) -> list[str]:
    """Return the old locks on our refs, and on the files of git's that our own writes lock too.

    Git holds none for minutes.
    """
    locks = [os.path.join(commondir, *name) for name in SHARED_LOCKS]
    for here, _, names in os.walk(os.path.join(commondir, "refs", "gitmem")):
        locks += [os.path.join(here, name) for name in sorted(names) if name.endswith(".lock")]
    old = []
    for path in locks:
        with contextlib.suppress(OSError):
            if time.time() - os.path.getmtime(path) > OLD_LOCK:
                old.append(path)
    return old


def check_store(store: Store, name: str) -> Iterator[HealthFinding]:
    """Is the store's format known?"""
    try:
        if store.tree() is None:
            yield HealthFinding("note", f"the {name} store is empty")
        else:
            yield HealthFinding("ok", f"the {name} store can be read")
    except GitmemError as error:
        yield HealthFinding("error", f"the {name} store: {error}", error.hint)


def check_records(index: Index) -> Iterator[HealthFinding]:
    """Which files are damaged, which records wait for a person?"""
    damaged = index.damaged()
    for row in damaged[:NAMED]:
        yield HealthFinding(
            "error",
            f"damaged: {row['path']} ({row['store']}): {row['reason']}",
            f"Its bytes are kept: git cat-file blob {row['oid'][:12]}; see how it came: git "
            f"mem log",
        )
    if len(damaged) > NAMED:
        yield HealthFinding(
            "error",
            f"damaged: {counted(len(damaged) - NAMED, 'more file')}",
            "All of them: git mem status --json",
        )
    conflicts = index.rows(conflict=True)
    if conflicts:
        yield HealthFinding(
            "warning",
            f"{counted(len(conflicts), 'record')} met in conflict.",
            "See them: git mem list --conflicts; an edit settles each.",
        )
    edges = index.edges()
    successors: dict[str, int] = {}
    for _, rel, target in edges:
        if rel == "supersedes":
            successors[target] = successors.get(target, 0) + 1
    for target, n in sorted(successors.items()):
        if n > 1:
            yield HealthFinding(
                "warning",
                f"{target} has {n} successors.",
                f"See the fork: git mem log {short_id(target)}; settle it: git mem supersede ID "
                "OTHER",
            )
    for loop in _cycles(edges):
        yield HealthFinding(
            "warning",
            f"records supersede each other in a circle: {', '.join(short_id(i) for i in loop)}",
            "Edit one of them: git mem edit ID",
        )
    total = sum(index.count().values())
    yield HealthFinding("ok", f"{counted(total, 'record')} indexed")


def _cycles(edges: list[tuple[str, str, str]]) -> list[list[str]]:
    before: dict[str, list[str]] = {}
    for source, rel, target in edges:
        if rel == "supersedes":
            before.setdefault(source, []).append(target)
    cycles, done = [], set()
    for start in sorted(before):
        path, here = [start], start
        while here not in done:
            done.add(here)
            nexts = before.get(here, [])
            if not nexts:
                break
            here = nexts[0]
            if here in path:
                cycles.append(path[path.index(here) :])
                break
            path.append(here)
    return cycles


def check_index(home: Home) -> Iterator[HealthFinding]:
    """Is the index sound? It may be deleted at any time."""
    path = home.join(NAME)
    if not os.path.exists(path):
        yield HealthFinding("note", "there is no index yet; the next command builds it")
        return
    repair = repairs.drop_index(path)
    answer = _quick_check(path)
    index = open_index(path) if answer == "ok" else None
    if answer != "ok":
        yield HealthFinding(
            "error", f"the index is damaged: {answer}", "Run: git mem doctor --fix", repair
        )
    elif index is None:
        yield HealthFinding(
            "warning",
            f"the index has another schema than {SCHEMA}.",
            "Run: git mem doctor --fix",
            repair,
        )
    else:
        index.db.close()
        yield HealthFinding("ok", "the index is sound")


def check_state(home: Home) -> Iterator[HealthFinding]:
    """Is the working state sound? Losing it costs counts, never a memory."""
    path = home.join(STATE)
    answer = _quick_check(path) if os.path.exists(path) else "ok"
    if answer != "ok":
        yield HealthFinding(
            "error",
            f"the counts in {STATE} are damaged: {answer}",
            "Run: git mem doctor --fix",
            repairs.drop_state(path),
        )


def check_caches(home: Home) -> Iterator[HealthFinding]:
    """Are the caches that are made from git sound? They may be deleted at any time."""
    for name in (HISTORY, HEALTH):
        path = home.join(name)
        answer = _quick_check(path) if os.path.isfile(path) else "ok"
        if answer != "ok":
            yield HealthFinding(
                "error",
                f"the cache {name} is damaged: {answer}",
                "Run: git mem doctor --fix",
                repairs.drop_cache(path),
            )


def _quick_check(path: str) -> str:
    """Return `ok`, or the first thing that is wrong with a database."""
    if not os.path.isfile(path):  # a pipe would block
        return "not a file"
    quoted = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    mode = "mode=ro"
    if not os.access(os.path.dirname(path), os.W_OK) and not os.path.exists(path + "-wal"):
        mode = "immutable=1"  # SQLite would make files beside it
    try:
        with contextlib.closing(
            sqlite3.connect(f"file:{quoted}?{mode}", uri=True, timeout=5)
        ) as db:
            return str(db.execute("PRAGMA quick_check").fetchone()[0]).splitlines()[0]
    except sqlite3.Error as error:
        return str(error)


def check_folder(home: Home) -> Iterator[HealthFinding]:
    """Is our folder a folder, and may this user write there?"""
    if not os.path.lexists(home.path):
        return
    try:
        with os.scandir(home.path):
            pass
    except OSError as error:
        hint = (
            "Check its owner and mode."
            if isinstance(error, PermissionError)
            else "Move it away, then run the command again."
        )
        yield HealthFinding(
            "error", f"'{home.path}' is no folder that can be read: {error.strerror}.", hint
        )
        return
    if not os.access(home.path, os.W_OK | os.X_OK):
        yield HealthFinding(
            "warning",
            f"this user may not write to '{home.path}'.",
            "Nothing can be stored; check its owner and mode.",
        )


def check_home(home: Home) -> Iterator[HealthFinding]:
    """Check the journal, writes set aside, leftovers of a crash, and complaints of hooks."""
    waiting = journal.count(home)
    if waiting:
        yield HealthFinding(
            "note",
            f"{counted(waiting, 'write waits', 'writes wait')} in the journal",
            "The next writing command commits them.",
        )
    for name, (what, hint) in STOPPED.items():
        if os.path.exists(home.join(name)):
            yield HealthFinding("warning", what, hint)
    for path in listing(home.join(journal.FOLDER), ".bad"):
        yield HealthFinding(
            "error",
            f"a journal entry could not be applied: {os.path.basename(path)}",
            f"Its text is in {path}; when you have what you need, delete it.",
        )
    left = [path for end in (".tmp", ".tmp-wal", ".tmp-shm") for path in listing(home.path, end)]
    for path in (*left, *listing(home.join(journal.FOLDER), ".tmp")):
        if _age(path) > OLD_TEMP:
            yield HealthFinding(
                "note",
                f"a file of a write that was killed: {os.path.basename(path)}",
                "Run: git mem doctor --fix",
                repairs.unlink(path),
            )
    for path in listing(home.path, ".damaged"):
        yield HealthFinding(
            "warning",
            f"a damaged working file was set aside: {os.path.basename(path)}",
            "It held counts only; delete it when you like.",
        )
    yield from _check_hook_log(home.join("hook.log"))


def _check_hook_log(log: str) -> Iterator[HealthFinding]:
    """Check what hooks complained of in the last seven days."""
    if not os.path.exists(log) or time.time() - os.path.getmtime(log) >= 7 * 86400:
        return
    lines = Path(log).read_text(encoding="utf-8", errors="replace").splitlines()
    sent = [line for line in lines if " Malformed: " in line]
    failed = [line for line in lines if " Malformed: " not in line]
    if sent:
        yield HealthFinding(
            "note",
            f"agents sent {counted(len(sent), 'payload')} that cannot be read; last: "
            f"{sent[-1][:160]}",
            f"All of them: {log}",
        )
    if failed:
        yield HealthFinding(
            "warning",
            f"hooks failed {counted(len(failed), 'time')}; last: {failed[-1][:160]}",
            f"All of them: {log}",
        )


def _age(path: str) -> float:
    """Return how many seconds ago a file was written; 0 for one that has gone meanwhile."""
    try:
        return time.time() - os.path.getmtime(path)
    except FileNotFoundError:
        return 0.0


def check_scratch(commondir: str) -> Iterator[HealthFinding]:
    """Did a restore that was killed leave its copy of an index?"""
    linked = os.path.join(commondir, "worktrees")
    names = sorted(os.listdir(linked)) if os.path.isdir(linked) else []
    for gitdir in (commondir, *(os.path.join(linked, name) for name in names)):
        for path in left_scratch(gitdir):
            yield HealthFinding(
                "warning",
                f"a restore that was killed left {path}",
                "Remove it: git mem doctor --fix",
                repairs.unlink(path),
            )


def check_purge(git: Git, home: Home) -> Iterator[HealthFinding]:
    """Did a purge end before the old objects were gone?"""
    if any(pending(home).values()):
        yield HealthFinding(
            "warning",
            "a purge ended before it had removed all old objects.",
            "Run: git mem doctor --fix, then the purge again, which checks every place",
            repairs.prune_objects(git, home),
        )


def check_config(settings: Settings) -> Iterator[HealthFinding]:
    """Do settings make sense, do refspecs endanger the refs?"""
    for problem in settings.problems:
        yield HealthFinding("warning", problem, removal(settings, problem))
    for key, values in settings.raw.items():
        if key.startswith("remote."):
            for value in values:
                yield from _check_refspec(key, value)


def _check_refspec(key: str, value: str) -> Iterator[HealthFinding]:
    """Check that a remote's refspec spares the refs of memory."""
    if (key.endswith(".fetch") and "refs/*:refs/*" in value) or (
        key.endswith(".mirror") and value == "true"
    ):
        yield HealthFinding(
            "warning",
            f"{key} = {value} mirrors every ref: a fetch or push there can delete memory.",
            "Sync after it restores what is lost; better: narrow the refspec.",
        )
    elif key.endswith(".fetch") and "refs/gitmem" in value:
        yield HealthFinding(
            "warning",
            f"{key} = {value} overwrites memory that was not pushed.",
            f"Remove it: git config --unset-all {key} 'refs/gitmem'",
        )
    elif key.endswith(".push") and "refs/gitmem" in value:
        yield HealthFinding(
            "warning",
            f"{key} = {value} makes plain 'git push' push no branch.",
            f"Remove it: git config --unset-all {key} 'refs/gitmem'",
        )


def check_workflows(home: Home, root: str) -> Iterator[HealthFinding]:
    """Can the repository's own table of workflows be read?

    Where it cannot, hooks go on without it, and say nothing.
    """
    from gitmem.services.work import workflow_file, workflow_table

    path = workflow_table.own_file(root)
    if not path:
        return
    where = f"{workflow_table.FOLDER}/{os.path.basename(path)}"
    try:
        table, _ = workflow_file.load(home, root)
    except GitmemError as error:
        yield HealthFinding(
            "warning",
            f"{str(error).rstrip('.')}. Until it is mended, its workflows are not known.",
            error.hint,
        )
    except OSError as error:
        yield HealthFinding(
            "warning",
            f"{where} cannot be read: {error.strerror}. Its workflows are not known.",
            "Check its owner and mode.",
        )
    else:
        number = len(table.workflows)
        yield HealthFinding("ok", f"{where}: {number} workflow{'' if number == 1 else 's'}")


def check_model(settings: Settings, env: Mapping[str, str]) -> Iterator[HealthFinding]:
    """Can the model be asked that the settings name? It is not asked."""
    for key in settings.refused:
        yield HealthFinding("warning", *refusal(key))
    row = describe(settings, env)
    if row.missing:
        yield HealthFinding("warning", f"{row.missing} Sessions are read offline.", row.hint)
        return
    for remark in row.remarks:
        yield HealthFinding("note", remark, "")
    if row.kind == "offline":
        yield HealthFinding("ok", "summariser: offline; no text is sent to a model")
    elif row.kind == "command":
        yield HealthFinding(
            "ok", f"summariser: the program '{row.server}'; ask it: git mem model check"
        )
    else:
        server = f", at {row.server}" if row.server else ""
        yield HealthFinding(
            "ok",
            f"summariser: {row.model}{server}, with the key of {row.key_from}; ask it: git mem "
            f"model check",
        )
