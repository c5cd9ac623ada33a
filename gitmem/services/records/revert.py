"""Revert what a command committed, in all stores that it wrote to, with one commit in each.

Each file that it changed is restored; a merge keeps later changes.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gitmem.errors import UserError
from gitmem.git.objects import Commit, TreeDifference, TreeEntry, diff
from gitmem.records.codec import sane
from gitmem.records.kinds import FACTS
from gitmem.records.merge import merge_bytes, restamp
from gitmem.records.record import Record
from gitmem.records.trust import words_digest
from gitmem.services.records.gone import reason, rest
from gitmem.services.records.undo import CommandCommits, subject_of
from gitmem.services.records.write import Writer
from gitmem.store import operations
from gitmem.store.layout import TOMBSTONES, id_of_path, record_path, tombstone_path
from gitmem.store.store import Message, Store, Written
from gitmem.store.trailers import UNDOES


@dataclass(frozen=True, slots=True)
class Reverted:
    """The writes that reverted a command, none where nothing was left of it; the ids touched.

    `gone` says why records stay away that it would have brought back.
    """

    writes: tuple[Written, ...]
    ids: tuple[str, ...]
    gone: Mapping[str, str]

    @property
    def commits(self) -> list[str]:
        """The commits made."""
        return [written.commit for written in self.writes if written.commit]

    @property
    def journaled(self) -> bool:
        """Whether a write waits in the journal."""
        return any(written.journaled for written in self.writes)


@dataclass(slots=True)
class _StoreRevert:
    """What is to be written to one store."""

    store: Store
    commits: list[Commit]
    stores: Sequence[Store]  # all of them: any may say that a record is gone for good
    todo: list[operations.Op] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    moved: list[TreeDifference] = field(default_factory=list)  # changes of records that are gone
    gone: dict[str, str] = field(default_factory=dict)  # what stays away, and why

    @property
    def removes(self) -> bool:
        return any(op["op"] in {"collect", "forget"} for op in self.todo)


def reverted_subject(subject: str) -> str:
    """Return the subject of the commit that reverts one with this subject.

    For an undo, it is a redo.
    """
    verb, colon, rest = subject.partition(": ")
    return (
        f"{'redo' if verb == 'undo' else 'undo'}: "
        f"{rest if colon and verb in {'undo', 'redo'} else subject}"
    )


def revert(who: Writer, target: CommandCommits, stores: Sequence[Store] = ()) -> Reverted:
    """Take back what a command did, as far as anything is left of it.

    A change of a record that went to another one of the `stores` is taken back there.

    Raises UserError for a merge or a store's first commit; and for a program where a person did it,
    or has since answered for a record that it changed.
    """
    if not who.is_person and not target.program:
        raise _is_a_persons(who, target, "a person did this")
    plans: dict[str, _StoreRevert] = {}
    for store, commit in target.commits:
        new = _StoreRevert(store, [], stores or [store])
        plan = plans.setdefault(f"{store.home.path} {store.ref}", new)
        plan.commits.append(commit)
    for plan in list(plans.values()):
        _fill(plan, who, target)
        _follow(plan, who, target, plans, stores)
    # a record that goes from one store to another is in both for a moment, never in none
    written = [
        (plan, _write(plan, who, target))
        for plan in sorted(plans.values(), key=lambda plan: plan.removes)
        if plan.todo
    ]
    ids = dict.fromkeys(id for plan in plans.values() for id in plan.ids)
    gone = {id: why for plan in plans.values() for id, why in plan.gone.items()}
    return Reverted(tuple(made for _, made in written), tuple(ids), gone)


def _write(plan: _StoreRevert, who: Writer, target: CommandCommits) -> Written:
    op = "redo" if target.is_undo else "undo"
    agent = who.agent if who.agent != "global" else ""
    extra = ((UNDOES, target.id),)
    ids = tuple(dict.fromkeys(plan.ids))
    subject = reverted_subject(subject_of(plan.commits))
    message = Message(subject, op, ids, agent, who.session, extra)
    return plan.store.write(plan.todo, message, who.author)


def _fill(plan: _StoreRevert, who: Writer, target: CommandCommits) -> None:
    """Find out what restores the files that a command's commits in one store changed."""
    objects = plan.store.objects
    view = operations.View(plan.store.read_file)
    for commit in plan.commits:
        if len(commit.parents) != 1:
            what = "a merge" if commit.parents else "the store's beginning"
            raise UserError(
                f"{commit.oid[:10]} is {what} and cannot be undone.",
                "Choose another commit from: git mem log",
            )
        for change in diff(objects, objects.commit(commit.parents[0]).tree, commit.tree):
            todo = _restored(plan, change, view)
            id = id_of_path(change.path)
            if id and not who.is_person:
                left = _bytes(plan.store, objects.find(commit.tree, tombstone_path(id)))
                _require_own(who, target, id, left, todo, view)
            for op in todo:
                operations.apply(op, view)
            plan.todo += todo


def _follow(
    plan: _StoreRevert,
    who: Writer,
    target: CommandCommits,
    plans: dict[str, _StoreRevert],
    stores: Sequence[Store],
) -> None:
    """Take back changes of records that went to another store, there.

    Of a record that is in no store nothing is left to take back.
    """
    for change in plan.moved:
        id = id_of_path(change.path) or ""
        old, new = _bytes(plan.store, change.old), _bytes(plan.store, change.new)
        where = next((s for s in stores if s.read_file(change.path) is not None), None)
        if where is None:
            continue
        view = operations.View(where.read_file)
        key = f"{where.home.path} {where.ref}"
        other = plans.setdefault(key, _StoreRevert(where, plan.commits, stores))
        todo = list(_restored_record(other, id, old, new, view))
        if not who.is_person:
            _require_own(who, target, id, None, todo, view)
        other.ids += [id] if id not in other.gone else []
        other.todo += todo


def _restored(
    plan: _StoreRevert, change: TreeDifference, view: operations.View
) -> list[operations.Op]:
    """Return what takes back the change of one file."""
    id = id_of_path(change.path)
    old, new = _bytes(plan.store, change.old), _bytes(plan.store, change.new)
    if id is None:
        return _restored_file(plan, change.path, old, new, view)
    if old is not None and new is not None and view.read(change.path) is None:
        plan.moved.append(change)
        return []
    todo = list(_restored_record(plan, id, old, new, view))
    plan.ids += [id] if id not in plan.gone else []
    return todo


def _restored_file(
    plan: _StoreRevert, path: str, old: bytes | None, new: bytes | None, view: operations.View
) -> list[operations.Op]:
    folder, _, id = path.rpartition("/")
    if folder.startswith(TOMBSTONES) and (why := reason(id, plan.stores)):
        plan.gone[id] = why
    # read counts go along with any commit, and stay
    if id in plan.gone or view.read(path) != new or path.startswith("usage/"):
        return []
    return [operations.write_file(path, _text(old))]


def _restored_record(
    plan: _StoreRevert, id: str, old: bytes | None, new: bytes | None, view: operations.View
) -> Iterator[operations.Op]:
    """Yield what takes back the change of one record, unless that is so already."""
    now = view.read(record_path(id))
    if old is None:  # it was added: take it away, unless it has gone already
        if now is not None:
            yield operations.collect(id)
        return
    back = sane(old, id)
    if isinstance(back, str):
        yield operations.write_file(record_path(id), _text(old))
        return
    left = rest(back, plan.stores)
    if isinstance(left, str):
        plan.gone[id] = left
        return
    back, at = left, plan.store.clock.stamp()
    if now is None:
        revives = view.read(tombstone_path(id)) is not None
        yield operations.put(back.touched(at), revive=revives)
        return
    if now == old:
        return
    here = sane(now, id)
    if isinstance(here, str):
        yield operations.write_file(record_path(id), _text(old))
        return
    if now == new:
        target = back
    else:  # changed since: take back only what that commit did
        merged = sane(merge_bytes(id, new, now, old, lambda _: None).data, id)
        target = merged if isinstance(merged, Record) else back
    if _content(target) == _content(here):  # it has been taken back already
        return
    after = target.change(rev=max(here.rev, target.rev), conflict=None, stamps=None).touched(at)
    yield operations.put(restamp(here, after), here)


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


def _require_own(
    who: Writer,
    target: CommandCommits,
    id: str,
    left: bytes | None,
    todo: list[operations.Op],
    view: operations.View,
) -> None:
    """Raise UserError where a program would change what a person has answered about a record.

    `left` is the mark of a forgotten record that the command itself left.
    """
    mark = view.read(tombstone_path(id))
    if todo and mark is not None and mark != left:
        raise _is_a_persons(who, target, f"{id} was rejected or forgotten since")
    here = _record(view.read(record_path(id)), id)
    after = operations.View(view.read)
    for op in todo:
        operations.apply(op, after)
    if here is not None and _answer(here) != _answer(_record(after.read(record_path(id)), id)):
        raise _is_a_persons(who, target, f"a person has answered for {id}")


def _answer(record: Record | None) -> tuple[str, object] | None:
    """Return what a person vouches for."""
    if record is None or record.kind not in FACTS or record.unconfirmed:
        return None
    return words_digest(record), record.get("confirmed")


def _is_a_persons(who: Writer, target: CommandCommits, why: str) -> UserError:
    return UserError(
        f"this runs in {who.program}, and an agent cannot take that back: {why}.",
        f"Ask the user to do it in a terminal of their own: git mem undo {target.id}",
    )


def _record(data: bytes | None, id: str) -> Record | None:
    record = sane(data, id) if data is not None else None
    return record if isinstance(record, Record) else None


def _bytes(store: Store, entry: TreeEntry | None) -> bytes | None:
    return store.objects.read(entry.oid) if entry and not entry.is_tree else None


def _text(data: bytes | None) -> str | None:
    return data.decode("utf-8", "surrogateescape") if data is not None else None
