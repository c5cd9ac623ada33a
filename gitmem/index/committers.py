"""Who committed the words of a store's records, and who vouched for them, from its history.

A record's `author` and `confirmed` are text that anybody may write; this is what the index keeps
beside them. Words belong to the committer of the commit that last changed them; the words of an
epic are those of its state too. A merge that
gitmem makes changes no words, so what it takes stays with whoever committed it.
"""

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from typing import NamedTuple

from gitmem.errors import GitmemError, Unfinished
from gitmem.git import record_log
from gitmem.git.objects import Objects, TreeDifference
from gitmem.git.record_log import CommitStep, FileStep
from gitmem.records.record import Record
from gitmem.records.trust import is_confirmed
from gitmem.store.layout import FILE_LIMIT, GITMEM, in_record_folder
from gitmem.store.reader import Stored, load

SEPARATOR = "\n"  # between the persons of words that a merge joined
CHAIN = 64  # commits that are looked at one by one, without a git process
FEW = 200  # paths that a git process is asked about by their names
LONG = 200  # characters of a person that are kept
History = list[tuple[CommitStep, FileStep]]  # of one path
_MACHINE = f"{GITMEM[0]} <{GITMEM[1]}>"


class Credit(NamedTuple):
    """Whose the words of a record are.

    `vouchers` confirmed the words as they are, beside whoever wrote them alone. Several
    persons are separated by `SEPARATOR`; "" stands for nobody that is known.
    """

    words: str = ""
    vouchers: str = ""


class _Version(NamedTuple):
    """What of a record's file counts: digests of its parts, and the lines of its text."""

    words: str = ""
    confirmed: str = ""
    lines: frozenset[str] = frozenset()

    @property
    def parts(self) -> tuple[str, ...]:
        return (self.words,) if self.words else ()


class _Ledger:
    """What is known of one path while its history is read: who has which part."""

    def __init__(self) -> None:
        self.parts: dict[str, str] = {}
        self.vouchers: dict[str, set[str]] = {}
        self.is_gone = False


def persons(text: str) -> list[str]:
    """Return the persons of a column."""
    return [part for part in text.split(SEPARATOR) if part]


class Credits:
    """Finds the credits of the records that changed between two commits of a store.

    `until` is the time of the monotonic clock at which `find` gives up.
    """

    def __init__(
        self,
        objects: Objects,
        old: str | None,
        tip: str,
        changes: Iterable[TreeDifference],
        before: Callable[[str], Credit | None],
        until: float = math.inf,
    ) -> None:
        self._objects = objects
        self._tip = tip
        self._hide = [old] if old else []
        self._before = before
        self._until = until
        self._changes = {c.path: c for c in changes if c.new and in_record_folder(c.path)}
        self._version = lru_cache(maxsize=4096)(self._read)
        self._credits: dict[str, Credit] = {}

    def find(self) -> Mapping[str, Credit]:
        """Return the credit of each changed record, by path; of none where history is damaged.

        Raises Unfinished when the time is up.
        """
        if not self._changes:
            return {}
        try:
            everybody = self._sole_committer()
            if everybody:
                self._credit_to(everybody)
            else:
                self._replay()
        except Unfinished:
            raise
        except GitmemError:
            self._seconds_left()
        return self._credits

    def _seconds_left(self) -> float:
        """Return how long git may take; raises Unfinished when there is no time left."""
        left = self._until - time.monotonic()
        if left <= 0:
            raise Unfinished("the index is not yet up to date.", "The next command continues.")
        return min(left, record_log.PATIENCE)

    # -- one person

    def _sole_committer(self) -> str:
        """Return who made all commits, where one person did and no merge is among them."""
        everybody = self._chain()
        if everybody is None:
            made = record_log.committers(
                self._objects.git, self._tip, self._hide, timeout=self._seconds_left()
            )
            if any(parents > 1 for _, parents, _ in made):
                return ""
            everybody = {who for who, _, root in made if not root or self._has_records(root)}
        elif any(c.old and self._before(c.path) is None for c in self._changes.values()):
            return ""
        return next(iter(everybody)) if len(everybody) == 1 else ""

    def _has_records(self, commit: str) -> bool:
        tree = self._objects.tree(self._objects.commit(commit).tree)
        return any(in_record_folder(entry.name) for entry in tree)

    def _chain(self) -> set[str] | None:
        """Return the committers from the old commit to the new one, when it is a short line."""
        committers: set[str] = set()
        oid = self._tip
        for _ in range(CHAIN if self._hide else 0):
            commit = self._objects.commit(oid)
            if len(commit.parents) != 1:
                return None
            committers.add(record_log.person(commit.committer))
            oid = commit.parents[0]
            if oid in self._hide:
                return committers
        return None

    def _credit_to(self, who: str) -> None:
        for path, change in self._changes.items():
            credit = self._before(path) if change.old else None
            if credit is None or change.old is None or change.new is None:
                self._credits[path] = _whole(who)
                continue
            ledger = self._ledger_of(change, credit)
            self._apply(ledger, who, 1, FileStep(path, (change.old.oid,), change.new.oid))
            self._close(path, ledger, change)

    # -- several

    def _replay(self) -> None:
        ledgers: dict[str, _Ledger] = {}
        for path, change in self._changes.items():
            credit = self._before(path) if change.old else None
            ledgers[path] = self._ledger_of(change, credit) if credit else _Ledger()
        unclear = self._run(ledgers, self._steps(self._hide, ()))
        if unclear:
            again = {path: _Ledger() for path in unclear}
            names = sorted(unclear) if len(unclear) <= FEW else ()
            self._run(again, self._steps((), names))
            ledgers |= again
        for path, ledger in ledgers.items():
            if path not in self._credits:
                self._close(path, ledger, self._changes[path])

    def _steps(self, hide: Sequence[str], paths: Sequence[str]) -> Iterable[CommitStep]:
        git, timeout = self._objects.git, self._seconds_left()
        return record_log.steps(git, self._tip, hide, paths, timeout=timeout)

    def _run(self, ledgers: Mapping[str, _Ledger], steps: Iterable[CommitStep]) -> set[str]:
        """Bring ledgers up to date; return the paths whose parts are not all credited."""
        by_path: dict[str, History] = {}
        for step in steps:
            for file in step.files:
                if file.path in ledgers:
                    by_path.setdefault(file.path, []).append((step, file))
        for path, history in by_path.items():
            self._seconds_left()
            who = _only_writer(history)
            if who and not ledgers[path].parts:
                self._credits[path] = _whole(who)
                continue
            for step, file in history:
                self._seconds_left()
                self._apply(ledgers[path], step.committer, step.parents, file)
        return {path for path in ledgers if not self._is_clear(path, ledgers[path])}

    def _is_clear(self, path: str, ledger: _Ledger) -> bool:
        if path in self._credits:
            return True
        change = self._changes[path]
        version = self._version(path, change.new.oid if change.new else "")
        return all(part in ledger.parts for part in version.parts)

    def _ledger_of(self, change: TreeDifference, credit: Credit) -> _Ledger:
        version = self._version(change.path, change.old.oid if change.old else "")
        ledger = _Ledger()
        if version.words and credit.words:
            ledger.parts[version.words] = credit.words
            ledger.vouchers[version.words] = set(persons(credit.vouchers))
        return ledger

    def _close(self, path: str, ledger: _Ledger, change: TreeDifference) -> None:
        version = self._version(path, change.new.oid if change.new else "")
        words = ledger.parts.get(version.words, "")
        vouchers = ledger.vouchers.get(version.words, set()) - {words}
        self._credits[path] = Credit(words, SEPARATOR.join(sorted(vouchers)))

    # -- one step

    def _apply(self, ledger: _Ledger, who: str, parents: int, file: FileStep) -> None:
        who = who[:LONG]
        after = self._version(file.path, file.after)
        before = [self._version(file.path, blob) for blob in file.before]
        if not file.after:
            ledger.is_gone = True
            return
        is_new = not any(file.before)
        kept = {part for version in before for part in version.parts}
        for part in after.parts:
            if part in kept:
                continue
            if who == _MACHINE:
                ledger.parts.setdefault(part, self._joined(ledger, after, before, parents))
            elif not is_new or part not in ledger.parts or ledger.is_gone:
                ledger.parts[part] = who
        ledger.is_gone = False
        if who != _MACHINE:
            self._vouch(ledger, who, after, before)

    def _joined(
        self, ledger: _Ledger, after: _Version, before: Sequence[_Version], parents: int
    ) -> str:
        """Return whose words a merge by gitmem made of those of its parents.

        Its name is free to take, so that words which no parent has are nobody's.
        """
        lines: frozenset[str] = frozenset().union(*(version.lines for version in before))
        if parents < 2 or not after.lines <= lines:
            return _MACHINE
        writers: set[str] = set()
        for version in before:
            for part in version.parts:
                writers.update(persons(ledger.parts.get(part, _MACHINE)))
        return SEPARATOR.join(sorted(writers)) or _MACHINE

    def _vouch(
        self, ledger: _Ledger, who: str, after: _Version, before: Sequence[_Version]
    ) -> None:
        """Note that somebody confirmed words, which a change of the words undoes."""
        same = [version for version in before if version.words == after.words]
        if not same:
            ledger.vouchers[after.words] = set()
        if after.confirmed and all(v.confirmed != after.confirmed for v in before):
            ledger.vouchers.setdefault(after.words, set()).add(who)

    def _read(self, path: str, oid: str) -> _Version:
        if not oid:
            return _Version()
        stored = load(path, oid, self._objects.read_small(oid, FILE_LIMIT))
        if not isinstance(stored, Stored):
            return _Version(words=oid)
        return _version(stored.record)


def _whole(who: str) -> Credit:
    who = who[:LONG]
    return Credit(who)


def _only_writer(history: "History") -> str:
    """Return who made a file and all its changes, where one person did, without merges."""
    writers = {step.committer if step.parents < 2 else _MACHINE for step, _ in history}
    is_whole = not any(history[0][1].before)
    return writers.pop() if is_whole and len(writers) == 1 and _MACHINE not in writers else ""


def _version(record: Record) -> _Version:
    texts = [
        record.title,
        record.body,
        *(_text(record.fields.get(k)) for k in ("workaround", "verify")),
        *(sorted(set(_leaves(record.fields.get("state")))) if record.kind == "work" else ()),
    ]
    confirmed = record.fields.get("confirmed")
    return _Version(
        _digest(texts),
        _digest([repr(confirmed)]) if is_confirmed(record) else "",
        frozenset(line.strip() for text in texts for line in text.splitlines() if line.strip()),
    )


def _leaves(value: object) -> Iterator[str]:
    """Yield the texts in the state of an epic: names, and what was noted."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield str(key)
            yield from _leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner)


def _text(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else repr(value)


def _digest(texts: Iterable[str]) -> str:
    return sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()[:32]
