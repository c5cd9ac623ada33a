"""A gotcha's life: resolved, reopened, confirmed, placed anew, merged into another.

Each function is one commit, and returns what changed. Whether it is about this commit, this user,
this time is the caller's to say.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import chain
from typing import Any

from gitmem.errors import UserError
from gitmem.index.reader import Index
from gitmem.records.gotcha_notes import cut, with_note
from gitmem.records.kinds import LIVE, error_patterns
from gitmem.records.merge import counted, restamp
from gitmem.records.record import Record
from gitmem.repo.caller import BACKGROUND
from gitmem.services.records import write
from gitmem.services.records.decisions import require_undecided
from gitmem.services.records.write import Change, Writer
from gitmem.store import operations
from gitmem.store.store import Message, Store, Written

Row = dict[str, Any]
NEARLY = 0.85  # of the words of two titles are the same


def require_gotcha(record: Record, what: str) -> None:
    """Raise UserError unless a record is a gotcha; `what` is what was to be done with it."""
    if record.kind != "gotcha":
        raise UserError(
            f"{record.id} is a {record.kind}; only a gotcha can be {what}.",
            "List them with: git mem gotcha list",
        )


def alike(indexes: Sequence[Index], new: Record) -> tuple[Row, str] | None:
    """Return a live gotcha that says nearly the same as a new one, and what they share.

    They share "error", "title" or "code". The result is None if there is no such gotcha.
    """
    patterns = error_patterns(new.get("triggers"))
    paths = sorted({str(anchor["path"]) for anchor in new.anchors if anchor.get("path")})
    for index in indexes:
        candidates: Iterable[tuple[Row, str]] = chain(
            _with_same_error(index, patterns),
            _with_like_title(index, new.title),
            _at_same_code(index, new.anchors, paths),
        )
        for row, shared in candidates:
            if row["kind"] == "gotcha" and row["id"] != new.id and row["status"] in LIVE:
                return row, shared
    return None


def _with_same_error(index: Index, patterns: Sequence[str]) -> Iterator[tuple[Row, str]]:
    for row in index.by_patterns(patterns) if patterns else ():
        yield row, "error"


def _with_like_title(index: Index, title: str) -> Iterator[tuple[Row, str]]:
    words = _words(title)
    if words:
        for row in index.search(title, limit=5, kinds=("gotcha",), statuses=LIVE, snippets=False):
            likeness = SequenceMatcher(None, words, _words(row["title"]), autojunk=False)
            if likeness.ratio() >= NEARLY:
                yield row, "title"


def _at_same_code(
    index: Index, anchors: Sequence[Mapping[str, Any]], paths: Sequence[str]
) -> Iterator[tuple[Row, str]]:
    for row in index.rows(kinds=("gotcha",), statuses=LIVE, paths=paths) if paths else ():
        if any(_same_code(anchor, other) for anchor in anchors for other in row["anchors"]):
            yield row, "code"


def _words(title: str) -> list[str]:
    return sorted(set(re.findall(r"\w+", title.casefold())))


def _same_code(first: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Say whether two places are the same lines, or the same symbol.

    A whole file has room for many gotchas.
    """
    keys = ("path", "lines", "symbol")
    return bool(first.get("lines") or first.get("symbol")) and [first.get(key) for key in keys] == [
        other.get(key) for key in keys
    ]


def resolve(
    store: Store,
    who: Writer,
    before: Record,
    commit: str = "",
    note: str = "",
    fix: Mapping[str, Any] | None = None,
) -> Change:
    """Mark a gotcha as dealt with, at the commit that is checked out.

    One that is resolved already is left as it is. Raises UserError for a program where a person
    said that it is open again.

    `fix` says what is known of how: `files`, `commit`, `stat`; it and the note become part of the
    text, so that they are found.
    """
    require_gotcha(before, "resolved")
    if before.resolved:
        return Change(before, before, Written(None))
    require_undecided(store, who.program, before, "resolve")
    at, note = who.clock.stamp(), cut(note)
    by = who.author[0] if who.program in {"", BACKGROUND} else who.program
    facts = {"at": at, "by": by, "commit": commit, "note": note, **(fix or {})}
    done = {key: value for key, value in facts.items() if value}
    # a program's note stays out of the words that a person may have confirmed
    says = bool(note) and (who.is_person or before.unconfirmed)
    body = with_note(before.body, f"Resolved {at}: {note}" if says else "")
    after = before.change(resolved=done, body=body)
    return write.update(store, who, before, after, "resolve", vouches=True)


def reopen(store: Store, who: Writer, before: Record, note: str = "") -> Change:
    """Say that a gotcha is not dealt with after all."""
    require_gotcha(before, "reopened")
    if not before.resolved:
        return Change(before, before, Written(None))
    require_undecided(store, who.program, before, "reopen")
    says = bool(note) and (who.is_person or before.unconfirmed)
    end = f": {note}" if says else "."
    body = with_note(before.body, f"Reopened {who.clock.stamp()}{end}")
    return write.update(store, who, before, before.change(resolved=None, body=body), "reopen")


def confirm(
    store: Store,
    who: Writer,
    before: Record,
    commit: str = "",
    anchors: Sequence[Mapping[str, Any]] | None = None,
) -> Change:
    """Confirm a record as of the commit that is checked out.

    What was captured is a guess until then. `anchors` are its present places.
    """
    if before.kind not in {"gotcha", "memory"}:
        raise UserError(f"{before.id} is a {before.kind}; only gotchas and memories are confirmed.")
    places = before.anchors if anchors is None else [dict(a) for a in anchors]
    return write.confirm(store, who, before, before.change(anchors=places), commit)


def reanchor(
    store: Store, who: Writer, before: Record, anchors: Sequence[Mapping[str, Any]]
) -> Change:
    """Put a record at other places; that its place was looked at confirms nothing else."""
    return write.update(
        store, who, before, before.change(anchors=[dict(a) for a in anchors]), "reanchor"
    )


def require_mergeable(into: Record, others: Sequence[Record]) -> None:
    """Raise UserError unless others can become part of a gotcha."""
    for record in (into, *others):
        require_gotcha(record, "merged")
    if into.id in {other.id for other in others}:
        raise UserError(
            f"{into.id} cannot be merged into itself.",
            "Name another gotcha that it should become part of.",
        )
    if into.status == "archived":  # nobody would see what it stands for
        raise UserError(
            f"{into.id} is archived; nothing can be merged into it.",
            f"Bring it back first: git mem restore {into.id}",
        )
    live = next((other for other in others if other.status in LIVE and not other.resolved), None)
    if into.resolved and live is not None:  # it would be dealt with by a word about another
        raise UserError(
            f"{into.id} is resolved, and {live.id} is still open. After a merge, agents would not "
            f"see the open gotcha.",
            f"Reopen the first: git mem gotcha reopen {into.id}. Or resolve the second: git mem "
            f"gotcha resolve {live.id}",
        )


def _workaround(into: Record, others: Sequence[Record]) -> str | None:
    """Return the workaround of merged gotchas; no unconfirmed text goes into a confirmed one."""
    trusted = [other for other in others if into.unconfirmed or not other.unconfirmed]
    texts = [str(record.fields.get("workaround") or "") for record in (into, *trusted)]
    return next(filter(None, texts), None)


def merge(
    store: Store, who: Writer, into: Record, others: Sequence[Record], replica: str
) -> Change:
    """Let one gotcha stand for others too: it takes over their errors, places and counts.

    They are archived. One commit.

    What a person wrote or confirmed is quoted in what it becomes part of. A person who merges
    vouches for that text.
    """
    require_mergeable(into, others)
    others = [
        other
        for other in others
        if other.id not in (into.get("supersedes") or []) or other.status != "archived"
    ]
    if not others:  # it was done before: nothing is counted twice
        return Change(into, into, Written(None))
    every = (into, *others)
    seen = [
        stamp
        for record in every
        for stamp in (record.fields.get("first_seen"), record.fields.get("last_seen"))
        if stamp
    ]
    vouched_for = [other for other in others if not other.unconfirmed]
    after = into.change(
        triggers=_merged_triggers(into, others),
        anchors=_without_doubles(anchor for record in every for anchor in record.anchors),
        tags=sorted({tag for record in every for tag in record.tags}),
        supersedes=sorted({*(into.get("supersedes") or []), *(other.id for other in others)}),
        first_seen=min(seen, default=None),
        last_seen=max(seen, default=None),
        workaround=_workaround(into, others),
    )
    if vouched_for:
        texts = [into.body.rstrip(), *(_quoted(other, after) for other in vouched_for)]
        after = after.change(body="\n\n".join(filter(None, texts)) + "\n")
    after, secrets = write.clean(after, who.allow)
    if vouched_for or not into.unconfirmed:
        after = write.vouched(who, after)
    after = restamp(into, after.touched(who.clock.stamp()))
    after = counted(
        after, "occurrences", sum(int(other.get("occurrences") or 0) for other in others), replica
    )
    # the link tells a hit that still names one of them where it belongs
    ended = [
        other.change(status="archived", links=sorted({*(other.get("links") or []), into.id}))
        for other in others
    ]
    gone = [
        (other, restamp(other, after_.touched(who.clock.stamp())))
        for other, after_ in zip(others, ended, strict=True)
    ]
    names = ", ".join(other.id for other in others)
    message = Message(
        f"gotcha: combine {names} into {into.id}",
        "combine",
        (into.id, *(o.id for o in others)),
        session=who.session,
    )
    todo = [operations.put(after, into), *(operations.put(new, old) for old, new in gone)]
    return Change(into, after, store.write(todo, message), secrets)


def _merged_triggers(into: Record, others: Sequence[Record]) -> dict[str, Any] | None:
    """Return the triggers of merged gotchas: those of the one, and the errors of all."""
    errors = [error_patterns(record.get("triggers")) for record in (into, *others)]
    patterns = list(dict.fromkeys(chain.from_iterable(errors)))
    triggers = dict(into.get("triggers"))
    if patterns:
        triggers["error"] = patterns[0] if len(patterns) == 1 else patterns
    return triggers or None


def _quoted(other: Record, into: Record) -> str:
    """Return what somebody wrote in a gotcha as a short quotation.

    The quotation goes into the text of the gotcha that it is merged into.
    """
    help_ = str(other.fields.get("workaround") or "")
    words = [
        other.title,
        cut(other.body.strip()),
        f"Workaround: {help_}" if help_ and help_ != into.fields.get("workaround") else "",
    ]
    return "\n".join(f"> {line}".rstrip() for text in words if text for line in text.split("\n"))


def _without_doubles(anchors: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = []
    for anchor in anchors:
        if anchor not in out:
            out.append(anchor)
    return out
