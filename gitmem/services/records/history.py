"""The past of a store: revisions, the log of one record and its supersedes chain, diffs, undo.

Git's history is the timeline: nothing here is kept anywhere else.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from gitmem.clock import stamp
from gitmem.errors import GitmemError, UnknownId, UserError
from gitmem.git.dates import is_date, when
from gitmem.git.objects import Commit, Objects, TreeDifference, TreeEntry, diff
from gitmem.git.process import Git
from gitmem.records.codec import sane
from gitmem.records.merge import merge_bytes, restamp
from gitmem.records.record import Record
from gitmem.repo.refs import REMOTES
from gitmem.store import operations
from gitmem.store.layout import FILE_LIMIT, id_of_path, record_path, tombstone_path
from gitmem.store.store import Message, Store
from gitmem.store.trailers import BOOKKEEPING, trailers


@dataclass(frozen=True, slots=True)
class HistoryStep:
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
    for commit in store.objects.walk([t] if (t := store.tip()) else []):
        if commit.author.time <= seconds:
            return commit.oid
    return None


def resolve(store: Store, git: Git, text: str) -> str:
    """Return the commit of the store that a revision names.

    Raises UnknownId when it names none, UserError when there is none yet.

    `@`, `HEAD` or `main` is the tip; `@~3`, `@^`, an oid, `@{yesterday}` or a bare date, a remote's
    name for what was last fetched from it; `A..B` is not for here.
    """
    import re

    tip = store.tip()
    if tip is None:
        raise UserError(
            "the store is empty: it has no history yet.", "Add a first memory: git mem add 'title'"
        )
    brace = (
        re.fullmatch(r"(?:@|HEAD|main)?@?\{(.+)\}", text)
        if "{" in text and "^{" not in text
        else None
    )
    if brace and not re.fullmatch(r"-\d+", brace[1]):  # git's own: the branch before this one
        if brace[1].isdigit():
            text = f"@~{brace[1]}"
        else:
            return _at_date(store, git, brace[1])
    match = re.fullmatch(r"(@|HEAD|main)?([~^].*)?", text)
    if match and text:
        spec = store.ref + (match[2] or "")
    elif re.fullmatch(r"[0-9a-fA-F]{4,64}(?:[~^].*)?", text):
        spec = text
    else:
        name, _, rest = text.partition("~")
        remote = f"{REMOTES}{name}/main"
        if store.objects.tip(remote) is None:
            if is_date(text):
                return _at_date(store, git, text)
            raise _no_revision(text)
        spec = remote + (f"~{rest}" if rest else "")
    code, out, _ = git.call(
        "rev-parse", "--verify", "--quiet", "--end-of-options", f"{spec}^{{commit}}", ok=(0, 1, 128)
    )
    oid = out.decode().strip().splitlines()[-1] if code == 0 and out.strip() else ""
    if not oid or not _is_store(store.objects, oid):
        raise _no_revision(text)
    return oid


def _no_revision(text: str) -> UnknownId:
    return UnknownId(
        f"'{text}' is not a revision of the store.",
        "Revisions: @, @~2, @{yesterday}, a date, a commit's id, or a remote's name.",
    )


def _at_date(store: Store, git: Git, text: str) -> str:
    found = at_time(store, when(git, text))
    if found is None:
        raise UserError(
            f"the store did not exist yet at '{text}'.",
            "See its beginning with: git mem log --reverse",
        )
    return found


def _is_store(objects: Objects, oid: str) -> bool:
    return objects.find(objects.commit(oid).tree, "gitmem.json") is not None


def log(store: Store, ids: Sequence[str] = (), start: str | None = None) -> Iterator[HistoryStep]:
    """Yield the commits of a store, newest first; with ids, only those that changed one of them."""
    tip = start or store.tip()
    if tip is None:
        return
    wanted = _nested({record_path(id): id for id in ids})
    order = {id: number for number, id in enumerate(ids)}
    for commit in store.objects.walk([tip]):
        changes = (
            sorted(_changes_at(store.objects, commit, wanted), key=lambda c: order[c[1]])
            if wanted
            else ()
        )
        if not wanted or changes:
            yield HistoryStep(commit, tuple(changes), trailers(commit.message))


def edge_times(
    store: Store, edges: Sequence[tuple[str, str, str]], start: str | None = None
) -> dict[tuple[str, str, str], int]:
    """Return since when (source, relation, target) exist, as a store's history shows.

    Times are seconds since the epoch. Edges that the history does not have are left out.
    """
    by: dict[str, set[tuple[str, str, str]]] = {}
    for edge in edges:
        by.setdefault(edge[0], set()).add(edge)
    times: dict[tuple[str, str, str], int] = {}
    for step in log(store, list(by), start):
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
    new = {e.name: e for e in objects.tree(now)} if now else {}
    olds = [{e.name: e for e in objects.tree(tree)} if tree else {} for tree in before]
    for name in wanted if len(wanted) < len(new) else (wanted.keys() & set(new).union(*olds)):
        entry, was = new.get(name), [old.get(name) for old in olds]
        oid = entry.oid if entry else None
        if any((o.oid if o else None) == oid for o in was):
            continue
        inner = wanted[name]
        if isinstance(inner, dict):
            yield from _compare(objects, _folder(entry), [_folder(o) for o in was], inner)
        else:
            yield (
                "removed"
                if entry is None
                else "added"
                if not any(was)
                else "merged"
                if len(was) > 1
                else "changed",
                inner,
            )


def _folder(entry: TreeEntry | None) -> str | None:
    return entry.oid if entry and entry.is_tree else None


def chain(  # noqa: C901
    edges: Sequence[tuple[str, str, str]], id: str
) -> tuple[list[str], list[tuple[str, list[str]]]]:
    """Return (ids of the supersedes chain around one, oldest first; forks as (id, its successors)).

    A cycle, which two clones can make by merging, is followed once.
    """
    after: dict[str, list[str]] = {}
    before: dict[str, list[str]] = {}
    for source, rel, target in edges:
        if rel == "supersedes":
            after.setdefault(target, []).append(source)
            before.setdefault(source, []).append(target)
    seen = {id}
    queue = [id]
    while queue:
        here = queue.pop()
        for other in (*after.get(here, ()), *before.get(here, ())):
            if other not in seen:
                seen.add(other)
                queue.append(other)
    # oldest first: take away what has no older one left; a cycle is broken at its smallest id
    left = {one: {o for o in before.get(one, ()) if o in seen and o != one} for one in seen}
    ready = sorted((one for one in seen if not left[one]), reverse=True)
    ordered: list[str] = []
    while left:
        here = ready.pop() if ready else min(left)
        if left.pop(here, None) is None:
            continue
        ordered.append(here)
        for newer in sorted(after.get(here, ()), reverse=True):
            if newer in left:
                left[newer].discard(here)
                if not left[newer]:
                    ready.append(newer)
    forks = [(i, sorted(after[i])) for i in ordered if len(after.get(i, ())) > 1]
    return ordered, forks


def changes(store: Store, old: str | None, new: str | None) -> Iterator[TreeDifference]:
    """Yield what differs between two revisions, file by file."""
    a = store.objects.commit(old).tree if old else None
    b = store.objects.commit(new).tree if new else None
    yield from diff(store.objects, a, b)


def last_version(store: Store, id: str) -> Record:
    """Return the newest version of a record that is there no more; raises UnknownId."""
    path = record_path(id)
    for commit in store.objects.walk([t] if (t := store.tip()) else []):
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
    out: dict[str, str] = {}
    for commit in store.objects.walk([t] if (t := store.tip()) else []):
        tree = commit.tree
        for parent in commit.parents[:1]:
            for change in diff(store.objects, store.objects.commit(parent).tree, tree):
                id = id_of_path(change.path)
                if (
                    id
                    and change.new is None
                    and store.objects.find(store.tree() or tree, change.path) is None
                ):
                    out.setdefault(id, stamp(commit.author.time))
    return out


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
    return {"id": names[0], **mark} if isinstance(mark, dict) else None


def last_change(store: Store) -> Commit:
    """Return the newest commit that somebody made on purpose.

    Raises UserError when there is none.
    """
    tip = store.tip()
    if tip is None:
        raise UserError(
            "the store is empty: there is nothing to take back.",
            "Add a first memory: git mem add 'title'",
        )
    for commit in store.objects.walk([tip]):
        if (
            len(commit.parents) == 1
            and not is_half(commit)
            and BOOKKEEPING.isdisjoint(trailers(commit.message).get("op", ()))
        ):
            return commit
    raise UserError(
        "the store has no change that could be taken back.", "See what it has: git mem log"
    )


def undone(subject: str) -> str:
    """Return the subject of the commit that reverts one with this subject.

    For an undo, it is a redo.
    """
    verb, colon, rest = subject.partition(": ")
    return (
        f"{'redo' if verb == 'undo' else 'undo'}: "
        f"{rest if colon and verb in {'undo', 'redo'} else subject}"
    )


def is_half(commit: Commit) -> bool:
    """Return whether a commit is the second half of an acceptance, or of its undo.

    This half is in the store in which the acceptance is not recorded. It follows the other half.
    """
    return not {"move", "return"}.isdisjoint(trailers(commit.message).get("op", ()))


def undo(
    store: Store, author: tuple[str, str], target: Commit, op: str = "undo"
) -> tuple[str | None, list[str]]:
    """Revert one commit by a new one.

    Each file that it changed is restored. A merge keeps later changes.

    Returns (the commit made, None if nothing was left to take back; the ids touched). Raises
    UserError on a merge or on the first commit.
    """
    if len(target.parents) != 1:
        what = "a merge" if target.parents else "the store's beginning"
        raise UserError(
            f"{target.oid[:10]} is {what} and cannot be undone.",
            "Choose another commit from: git mem log",
        )
    objects = store.objects
    todo: list[operations.Op] = []
    ids: list[str] = []
    for change in diff(objects, objects.commit(target.parents[0]).tree, target.tree):
        id = id_of_path(change.path)
        now = store.read_file(change.path)
        old, new = _bytes(objects, change.old), _bytes(objects, change.new)
        if id is None:
            if now == new:
                todo.append(
                    operations.write_file(
                        change.path,
                        old.decode("utf-8", "surrogateescape") if old is not None else None,
                    )
                )
            continue
        ids.append(id)
        todo += _undo_record(store, id, old, new, now)
    if not todo:
        return None, ids
    subject = undone(target.message.split("\n")[0])
    written = store.write(
        todo, Message(subject, op, tuple(ids), extra=(("Gitmem-Undoes", target.oid),)), author
    )
    return written.commit, ids


def of_acceptance(commit: Commit) -> bool:
    """Return whether a commit may be the acceptance of a proposal, or its undo or redo."""
    return not {"confirm", "undo"}.isdisjoint(trailers(commit.message).get("op", ()))


def moved(store: Store, id: str) -> Commit | None:
    """Return the newest commit that moved a record to another store, None if there is none."""
    tip = store.tip()
    for commit in store.objects.walk([tip]) if tip else ():
        told = trailers(commit.message)
        if told.get("op") == ["move"] and id in told.get("id", ()):
            return commit
    return None


def follow(private: Store, shared: Store, author: tuple[str, str], ids: Sequence[str]) -> list[str]:
    """Update the private store after an undo of acceptances, and return the ids.

    A record that the undo took from the shared store comes back. A record that a second undo
    accepted again is removed from the private store.
    """
    out = []
    for id in ids:
        here, there = (store.read_file(record_path(id)) is not None for store in (shared, private))
        if here != there or (left := moved(private, id)) is None:
            continue
        if here:
            kind = id.partition("-")[0]
            private.write(
                [operations.collect(id)],
                Message(f"{kind}: moved {id} to the shared store", "move", (id,)),
                author,
            )
        else:
            undo(private, author, left, "return")
        out.append(id)
    return out


def _undo_record(
    store: Store, id: str, old: bytes | None, new: bytes | None, now: bytes | None
) -> list[operations.Op]:
    if old is None:  # it was added: take it away, unless it has gone already
        return [operations.collect(id)] if now is not None else []
    back = sane(old, id)
    if isinstance(back, str):
        return [operations.write_file(record_path(id), old.decode("utf-8", "surrogateescape"))]
    if now is None:
        return [
            {
                **operations.put(back.touched(store.clock.stamp())),
                "revive": store.read_file(tombstone_path(id)) is not None,
            }
        ]
    if now == old:
        return []
    here = sane(now, id)
    if isinstance(here, str):
        return [operations.write_file(record_path(id), old.decode("utf-8", "surrogateescape"))]
    if now == new:
        target = back
    else:  # changed since: take back only what that commit did
        merged = sane(merge_bytes(id, new, now, old, lambda _: None).data, id)
        target = merged if isinstance(merged, Record) else back
    if _content(target) == _content(here):  # it has been taken back already
        return []
    after = target.change(rev=max(here.rev, target.rev), conflict=None, stamps=None).touched(
        store.clock.stamp()
    )
    return [operations.put(restamp(here, after), here)]


def _content(record: Record) -> tuple[str, str, dict[str, object]]:
    return (
        record.title,
        record.body,
        {
            k: v
            for k, v in record.fields.items()
            if k not in {"rev", "updated", "conflict", "stamps"}
        },
    )


def _bytes(objects: Objects, entry: TreeEntry | None) -> bytes | None:
    return objects.read(entry.oid) if entry and not entry.is_tree else None
