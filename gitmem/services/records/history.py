"""The past of a store: revisions, the log of one record and its supersedes chain, diffs.

Git's history is the timeline: nothing here is kept anywhere else.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any, NamedTuple

from gitmem.clock import stamp
from gitmem.errors import GitmemError, UnknownId, UserError
from gitmem.git.dates import is_date, when
from gitmem.git.newest_first import newest_first
from gitmem.git.objects import (
    Commit,
    Objects,
    TreeDifference,
    TreeEntry,
    diff,
    entries_by_name,
    files,
)
from gitmem.git.process import Git
from gitmem.git.shallow import cut_at, shallow_commits
from gitmem.records.codec import sane
from gitmem.records.record import Record
from gitmem.repo.refs import REMOTES
from gitmem.store.layout import FILE_LIMIT, record_path, tombstone_path
from gitmem.store.record_history import Progress, RecordHistory
from gitmem.store.store import Store
from gitmem.store.trailers import SILENT, trailers
from gitmem.text.echo import echo

REASON = 200  # characters of the reason for forgetting that are shown
EMPTY = "the revision is empty."
REVISIONS = "Revisions: @, @~2, @{yesterday}, a date, a commit's id, or a remote's name."


class HistoryStep(NamedTuple):
    """A commit with what it did to the records one asked for."""

    commit: Commit
    changes: tuple[tuple[str, str], ...]  # (what, id): added, changed, removed, restored
    trailers: dict[str, list[str]]


def at_time(store: Store, seconds: int) -> str | None:
    """Return the newest commit of the store's own line that is not younger.

    None when it did not exist yet.

    Goes by the authors' times: one clone whose clock is ahead moves the committers' times of all
    that follow.
    """
    for commit in newest_first(store.objects, store.tip()):
        if commit.author.time <= seconds:
            return commit.oid
    return None


def resolve(store: Store, git: Git, text: str) -> str:
    """Return the commit of the store that a revision names.

    Raises UnknownId when it names none, UserError when there is none yet.

    `@`, `HEAD` or `main` is the tip; `@~3`, `@^`, an oid, `@{yesterday}` or a bare date, a remote's
    name for what was last fetched from it; `A..B` is not for here.
    """
    if store.tip() is None:
        raise UserError(
            "the store is empty: it has no history yet.", "Add a first memory: git mem add 'title'"
        )
    brace = None
    if "{" in text and "^{" not in text:
        brace = re.fullmatch(r"(?:@|HEAD|main)?@?\{(.+)\}", text)
    if brace and not re.fullmatch(r"-\d+", brace[1]):  # git's own: the branch before this one
        if not brace[1].isdigit():
            return _at_date(store, git, brace[1])
        text = f"@~{brace[1]}"
    spec = _git_name(store, text)
    if not spec and is_date(text):
        return _at_date(store, git, text)
    if not spec:
        raise _no_revision(text)
    code, out, _ = git.call(
        "rev-parse", "--verify", "--quiet", "--end-of-options", f"{spec}^{{commit}}", ok=(0, 1, 128)
    )
    oid = out.decode().strip().splitlines()[-1] if code == 0 and out.strip() else ""
    if not oid or not _is_store(store.objects, oid):
        raise _no_revision(text)
    return oid


def _git_name(store: Store, text: str) -> str:
    """Return what git calls the commit of a revision, '' for what can only be a date."""
    match = re.fullmatch(r"(@|HEAD|main)?([~^].*)?", text)
    if match and text:
        return store.ref + (match[2] or "")
    if re.fullmatch(r"[0-9a-fA-F]{4,64}(?:[~^].*)?", text):
        return text
    name, _, steps = text.partition("~")
    remote = f"{REMOTES}{name}/main"
    if store.objects.tip(remote) is None:
        return ""
    return remote + (f"~{steps}" if steps else "")


def _no_revision(text: str) -> UnknownId:
    name = f"{echo(text)} is not a revision of the store." if text.strip() else EMPTY
    return UnknownId(name, REVISIONS)


def _at_date(store: Store, git: Git, text: str) -> str:
    commit = at_time(store, when(git, text))
    if commit is None:
        raise UserError(
            f"the store did not exist yet at '{text}'.",
            "See its beginning with: git mem log --reverse",
        )
    return commit


def _is_store(objects: Objects, oid: str) -> bool:
    return objects.find(objects.commit(oid).tree, "gitmem.json") is not None


def log(
    store: Store,
    ids: Sequence[str] = (),
    start: str | None = None,
    *,
    everything: bool = True,
    progress: Progress | None = None,
) -> Iterator[HistoryStep]:
    """Yield the commits of a store, newest first; with ids, only those that changed one of them.

    Without ids and `everything`, merges and read counts are left out. What is not asked for is
    not read. The first question about ids looks through the whole history, and tells `progress`.
    """
    tip = start or store.tip()
    if tip is None:
        return
    wanted = _nested({record_path(id): id for id in ids})
    order = {id: number for number, id in enumerate(ids)}
    commits = _changing(store, tip, ids, progress) if ids else newest_first(store.objects, tip)
    for commit in commits:
        changes = (
            sorted(_changes_at(store.objects, commit, wanted), key=lambda c: order[c[1]])
            if wanted
            else ()
        )
        values = trailers(commit.message)
        is_silent = not everything and not SILENT.isdisjoint(values.get("op", ()))
        if changes or not (wanted or is_silent):
            yield HistoryStep(commit, tuple(changes), values)


def _changing(
    store: Store, start: str, ids: Sequence[str], progress: Progress | None = None
) -> list[Commit]:
    """Return the commits up to one that changed some records, newest first.

    Children come before their ancestors, whatever the times say.
    """
    with RecordHistory(store.home, store.objects.git, progress) as record_history:
        oids = record_history.commits(store.ref, store.tip() or start, ids, start)
    shallow = shallow_commits(store.objects.git.gitdir)
    return [cut_at(shallow, store.objects.commit(oid)) for oid in reversed(oids)]


def edge_times(
    store: Store,
    edges: Sequence[tuple[str, str, str]],
    start: str | None = None,
    progress: Progress | None = None,
) -> dict[tuple[str, str, str], int]:
    """Return since when (source, relation, target) exist, as a store's history shows.

    Times are seconds since the epoch. Edges that the history does not have are left out.
    """
    by: dict[str, set[tuple[str, str, str]]] = {}
    for edge in edges:
        by.setdefault(edge[0], set()).add(edge)
    times: dict[tuple[str, str, str], int] = {}
    for step in log(store, list(by), start, progress=progress):
        for _, id in step.changes:
            try:
                record = store.get(id, step.commit.oid).record
            except GitmemError:
                by[id] = set()  # it began after this
                continue
            there = {
                (id, rel, target)
                for rel in ("links", "supersedes")
                for target in record.get(rel) or ()
            }
            by[id] &= there  # an edge that was missing here came later
            times |= dict.fromkeys(by[id], step.commit.author.time)
    return times


Wanted = dict[str, "Wanted | str"]  # folders with the names in them; the id for a file


def _nested(paths: dict[str, str]) -> Wanted:
    out: Wanted = {}
    for path, id in paths.items():
        here = out
        *folders, leaf = path.split("/")
        for folder in folders:
            step = here.setdefault(folder, {})
            assert isinstance(step, dict)
            here = step
        here[leaf] = id
    return out


def _changes_at(objects: Objects, commit: Commit, wanted: Wanted) -> Iterator[tuple[str, str]]:
    """Yield what a commit did to some records; a merge that only took one side over did nothing.

    Costs what the commit changed, not how many records are asked for: folders that are as before
    are not opened.
    """
    before: list[str | None] = [objects.commit(p).tree for p in commit.parents]
    return _compare(objects, commit.tree, before or [None], wanted)


def _compare(
    objects: Objects, now: str | None, before: Sequence[str | None], wanted: Wanted
) -> Iterator[tuple[str, str]]:
    new = entries_by_name(objects, now)
    olds = [entries_by_name(objects, tree) for tree in before]
    names = wanted if len(wanted) < len(new) else wanted.keys() & set(new).union(*olds)
    for name in names:
        entry, were = new.get(name), [old.get(name) for old in olds]
        if any(_oid(old) == _oid(entry) for old in were):
            continue
        inner = wanted[name]
        if isinstance(inner, dict):
            yield from _compare(objects, _folder(entry), [_folder(old) for old in were], inner)
        else:
            yield _change(entry, were), inner


def _change(now: TreeEntry | None, before: Sequence[TreeEntry | None]) -> str:
    """Return what happened to a file that no parent of a commit has as it is now."""
    if now is None:
        return "removed"
    if not any(before):
        return "added"
    return "merged" if len(before) > 1 else "changed"


def _oid(entry: TreeEntry | None) -> str | None:
    return entry.oid if entry else None


def _folder(entry: TreeEntry | None) -> str | None:
    return entry.oid if entry and entry.is_tree else None


def chain(
    edges: Sequence[tuple[str, str, str]], id: str
) -> tuple[list[str], list[tuple[str, list[str]]]]:
    """Return (ids of the supersedes chain around one, oldest first; forks as (id, its successors)).

    A cycle, which two clones can make by merging, is followed once.
    """
    newer: dict[str, list[str]] = {}
    older: dict[str, list[str]] = {}
    for source, rel, target in edges:
        if rel == "supersedes":
            newer.setdefault(target, []).append(source)
            older.setdefault(source, []).append(target)
    ordered = _oldest_first(_connected(id, newer, older), newer, older)
    forks = [(old, sorted(newer[old])) for old in ordered if len(newer.get(old, ())) > 1]
    return ordered, forks


def _connected(id: str, *neighbours: Mapping[str, list[str]]) -> set[str]:
    """Return the ids that can be reached from one."""
    reached = {id}
    queue = [id]
    while queue:
        here = queue.pop()
        others = {other for ids in neighbours for other in ids.get(here, ())} - reached
        reached |= others
        queue += others
    return reached


def _oldest_first(
    ids: Set[str], newer: Mapping[str, list[str]], older: Mapping[str, list[str]]
) -> list[str]:
    """Return ids so that each follows what it supersedes; a cycle is broken at its smallest id."""
    left = {id: set(older.get(id, ())) & ids - {id} for id in ids}
    ready = sorted((id for id in ids if not left[id]), reverse=True)
    ordered: list[str] = []
    while left:
        oldest = ready.pop() if ready else min(left)
        if left.pop(oldest, None) is None:
            continue
        ordered.append(oldest)
        for id in sorted(left.keys() & newer.get(oldest, ()), reverse=True):
            left[id].discard(oldest)
            if not left[id]:
                ready.append(id)
    return ordered


def changes(store: Store, old: str | None, new: str | None) -> Iterator[TreeDifference]:
    """Yield what differs between two revisions, file by file."""
    a = store.objects.commit(old).tree if old else None
    b = store.objects.commit(new).tree if new else None
    yield from diff(store.objects, a, b)


def last_version(store: Store, id: str) -> Record:
    """Return the newest version of a record that is there no more; raises UnknownId."""
    path, tip = record_path(id), store.tip()
    for commit in _changing(store, tip, [id]) if tip else ():
        entry = store.objects.find(commit.tree, path)
        if entry and not entry.is_tree:
            record = sane(store.objects.read_small(entry.oid, FILE_LIMIT) or b"", id)
            if isinstance(record, Record):
                return record
    raise UnknownId(f"history has no record {id}.", "If it was purged, it is gone for good.")


def successors(edges: Sequence[tuple[str, str, str]], id: str) -> list[str]:
    """Return the ids of the records that supersede one."""
    return sorted({newer for newer, rel, old in edges if rel == "supersedes" and old == id})


def removed_ids(store: Store) -> dict[str, str]:
    """Return {id: when} of records that history has and the tip has not, newest first."""
    tip, tree = store.tip(), store.tree()
    if tip is None or tree is None:
        return {}
    there = {path for path, _ in files(store.objects, tree)}
    with RecordHistory(store.home, store.objects.git) as record_history:
        last = record_history.last_commits(store.ref, tip)
    gone = {id: oid for id, oid in last.items() if record_path(id) not in there}
    at = {oid: stamp(store.objects.commit(oid).author.time) for oid in set(gone.values())}
    return {id: at[oid] for id, oid in gone.items()}


def tombstone(store: Store, text: str) -> dict[str, Any] | None:
    """Return the tombstone of the one forgotten record whose id is a text, or ends with it.

    The result is None if there is no such record.
    """
    low = text.strip().lower()
    tree = store.tree()
    is_id = len(low) >= 6 and low.isascii() and low.replace("-", "").isalnum()
    folder = store.objects.find(tree, f"tombstones/{low[-2:]}") if tree and is_id else None
    names = (
        [entry.name for entry in store.objects.tree(folder.oid) if entry.name.endswith(low)]
        if folder and folder.is_tree
        else []
    )
    data = store.read_file(tombstone_path(names[0])) if len(names) == 1 else None
    try:
        mark = json.loads(data or b"")
    except (ValueError, RecursionError):
        return None
    return {**mark, "id": names[0]} if isinstance(mark, dict) else None


def forgotten(mark: dict[str, Any]) -> UnknownId:
    """Return what to say of a record that is only a tombstone, and how to bring it back."""
    id = str(mark["id"])
    day = str(mark.get("at", ""))[:10]
    if mark.get("purged"):
        return UnknownId(f"{id} was purged on {day}.", "It cannot be brought back.")
    reason = " ".join(str(mark.get("reason", "")).split())[:REASON]
    return UnknownId(
        f"{id} was rejected or forgotten on {day}{f' ({reason})' * bool(reason)}.",
        f"Bring it back with: git mem restore {id}",
    )
