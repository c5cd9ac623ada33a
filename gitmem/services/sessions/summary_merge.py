"""The project summary grows: what a session taught goes in without saying anything twice.

Past a size the oldest is condensed. Pure.

Rules: docs/summary.md. What is pinned or critical stays as it is, whatever its age; the rest is
never lost, it is in the record's history.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from gitmem.records.items import DECISION, DONE, ERROR, KINDS, PATTERN, PREFERENCE, TASK, item_id
from gitmem.records.summary_entries import FLAGS, Entry, key_of, known_as, ordered, replaces, words
from gitmem.text import same_statement

Sections = dict[str, list[Entry]]
_MORE = re.compile(r"\d+ more")
DONE_SURELY, PERHAPS = "done", "perhaps"
_NEW = words("new nova novo nuevo nueva also too")  # say nothing of what a task is about
NEARLY = 0.75  # of what a task is about, in what is said to be done, for it to be asked about
FRESH = 30  # days for which an entry is left whole, as long as the size allows
PROGRESS = 7  # days for which what was done is kept at all, past the size
CLAUSE, LISTED = 60, 5  # characters of an entry, and entries, that a condensed one names
ALSO, MONTH = 24, 60  # ids that an entry stands for beside its own; that the one of a month does
DETAIL = 160  # characters of an old entry's detail
PLURAL: Mapping[str, str] = {
    DECISION: "decisions",
    ERROR: "errors",
    PATTERN: "patterns",
    TASK: "tasks",
    PREFERENCE: "preferences",
    DONE: "done",
}


@dataclass(slots=True)
class Grown:
    """What became of a summary: ids of entries that came, were said again, went."""

    added: list[str] = field(default_factory=list)
    again: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)

    @property
    def changed(self) -> bool:
        """Say whether anything did."""
        return bool(self.added or self.again or self.dropped)


def kept(entry: Mapping[str, Any]) -> bool:
    """Say whether an entry stays whatever its age."""
    return any(entry.get(flag) for flag in FLAGS)


def integrate(
    sections: Mapping[str, Iterable[Entry]],
    fresh: Mapping[str, Iterable[Entry]],
    finished: Iterable[Entry] = (),
) -> tuple[Sections, Grown]:
    """Return the sections with fresh entries in them, and what became of them.

    `finished` closes tasks, and does not come in itself.

    An entry that says the same is renewed, one that overrules an older one takes its place, a task
    that was done goes. The newer one wins, whichever of the two comes first; what is pinned keeps
    its words.
    """
    out: Sections = {name: [dict(e) for e in part] for name, part in sections.items()}
    grown = Grown()
    closing = [dict(one) for one in finished]
    for done in closing:
        _finish(out, done, grown)
    new = [
        (name, dict(e))
        for name, part in fresh.items()
        for e in part
        if e.get("kind") in KINDS and str(e.get("text", "")).strip()
    ]
    for name, entry in sorted(
        new, key=lambda pair: (pair[1]["kind"] == TASK, str(pair[1].get("at", "")), key_of(pair[1]))
    ):  # tasks last: all that is done is known
        if entry["kind"] == TASK and any(
            e.get("kind") == DONE and finishes(e, entry)
            for part in (*out.values(), closing)
            for e in part
        ):
            continue  # it was done since
        _put(out, name, entry, grown)
        if entry["kind"] == DONE:
            for done in [e for part in out.values() for e in part if e.get("kind") == DONE]:
                _finish(out, done, grown)
    return {name: ordered(part) for name, part in out.items() if part}, grown


def _put(out: Sections, name: str, entry: Entry, grown: Grown) -> None:
    part, key, at = out.setdefault(name, []), key_of(entry), str(entry.get("at", ""))
    if any(
        key in (e.get("also") or ()) and at <= str(e.get("at", ""))
        for other in out.values()
        for e in other
    ):
        return  # it is part of another, or was overruled: what is integrated again changes nothing
    rivals = [e for e in part if e.get("kind") == entry["kind"] and not e.get("of")]
    same = next((e for e in rivals if key_of(e) == key), None)
    if same is None:
        newer = next(
            (e for e in rivals if at < str(e.get("at", "")) and replaces(e["text"], entry["text"])),
            None,
        )
        if newer is not None:
            absorb(newer, [entry])
            return
    gone = [
        e
        for e in rivals
        if e is not same
        and not kept(e)
        and at >= str(e.get("at", ""))
        and replaces(entry["text"], e["text"])
    ]
    for old in gone:
        part.remove(old)
        grown.dropped.append(key_of(old))
    same = same or next(
        (e for e in rivals if e not in gone and same_statement.same(entry["text"], e["text"])), None
    )
    if same is None:
        absorb(entry, gone)
        part.append(entry)
        grown.added.append(key)
        return
    renewed = _renewed(
        same,
        entry,
        newer=(at, item_id(entry["text"])) >= (str(same.get("at", "")), item_id(same["text"])),
    )
    absorb(renewed, [entry, *gone])
    if renewed != same:
        part[part.index(same)] = renewed
        grown.again.append(key_of(same))


def absorb(entry: Entry, others: Iterable[Entry]) -> None:
    """Have an entry know what it stands for beside itself."""
    ids = [*(entry.get("also") or []), *(id for one in others for id in sorted(known_as(one)))]
    also = [id for id in dict.fromkeys(ids) if id != key_of(entry)][-ALSO:]
    if also:
        entry["also"] = also


def _renewed(old: Entry, entry: Entry, *, newer: bool) -> Entry:
    """Return an entry that was said again.

    It has the newer words, the first date beside the last, and the flags of both.
    """
    first, last = (old, entry) if newer else (entry, old)
    if entry.get("session") == old.get("session") and entry.get("text") == old.get("text"):
        first = old if newer else entry
    out = {**first, **last} if not kept(old) else {**old, "at": last.get("at", "")}
    out["id"] = key_of(old)
    since = (
        min(str(x) for x in (old.get("since"), old.get("at"), entry.get("at")) if x)
        if old.get("at") or entry.get("at")
        else ""
    )
    if since and since != out.get("at"):
        out["since"] = since
    else:
        out.pop("since", None)
    files = sorted({*(old.get("files") or []), *(entry.get("files") or [])})[:12]
    if files:
        out["files"] = files
    for flag in FLAGS:
        if old.get(flag) or entry.get(flag):
            out[flag] = True
    if old.get("also"):
        out["also"] = list(old["also"])
    return out


def _finish(out: Sections, done: Entry, grown: Grown) -> None:
    """Take away the tasks that something done has finished."""
    for part in out.values():
        for task in [
            e for e in part if e.get("kind") == TASK and not e.get("of") and finishes(done, e)
        ]:
            part.remove(task)
            grown.dropped.append(key_of(task))
            absorb(done, [task])


def finishes(done: Mapping[str, Any], task: Mapping[str, Any]) -> bool:
    """Say whether something done is what a task asked for, and came after it.

    Both have `text` and `at`.
    """
    later = str(done.get("at", "")) >= str(task.get("at", ""))
    return later and closes(str(done.get("text", "")), str(task.get("text", ""))) == DONE_SURELY


def closes(done: str, task: str) -> str:
    """Return whether what is done is what a task asks for: `done`, `perhaps`, or ''.

    A task is done if all that it is about is named, its verb apart. It is perhaps done if only a
    part of it is named, and nothing else.
    """
    asked, said = words(same_statement.bare(task)), words(done)
    verb = next(
        (
            word
            for run in same_statement.bare(task).split()
            if (word := words(run[:3] if run[0] > "\u3000" else run))
        ),
        frozenset(),
    )
    about = asked - verb - _NEW or asked
    if not said or not about:
        return ""
    if about <= said and (len(about) > 1 or said - verb <= about):
        return DONE_SURELY
    named = {word for word in about if any(_one_word(word, other) for other in said)}
    extra = {word for word in said if not any(_one_word(word, other) for other in asked)}
    if len(named) >= NEARLY * len(about):
        # a number or a version always tells
        plain = not any(char.isdigit() for word in about - named for char in word)
        return DONE_SURELY if plain and not extra else PERHAPS
    return PERHAPS if named and not extra else ""


def _one_word(one: str, other: str) -> bool:
    """Say whether two stems are of one word: `test`, `tested`."""
    return one == other or (
        min(len(one), len(other)) > 3 and (one.startswith(other) or other.startswith(one))
    )


def size(sections: Mapping[str, Iterable[Mapping[str, Any]]]) -> int:
    """Return how many characters a summary has, without its names and dates."""
    return sum(
        len(str(e.get("text", ""))) + len(str(e.get("detail", "")))
        for part in sections.values()
        for e in part
    )


def condense(sections: Mapping[str, Iterable[Entry]], limit: int, today: str) -> Sections:
    """Return the sections within `limit` characters, as far as what must stay allows.

    The oldest first gives way.

    `today` is a date or time, RFC 3339. First what was done goes, and long details; then the
    entries of a month become one; in the end those go too, oldest first.
    """
    out: Sections = {
        name: ordered(dict(e) for e in part) for name, part in sections.items() if part
    }
    if size(out) <= limit:
        return out
    fresh, recent = _before(today, FRESH), _before(today, PROGRESS)
    out = {
        name: [
            e for e in part if kept(e) or e.get("kind") != DONE or str(e.get("at", "")) >= recent
        ]
        for name, part in out.items()
    }
    for part in out.values():
        for entry in part:
            if (
                not kept(entry)
                and str(entry.get("at", "")) < fresh
                and len(str(entry.get("detail", ""))) > DETAIL
            ):
                entry["detail"] = _clause(str(entry["detail"]), DETAIL)
    for until in (fresh, "9999"):  # what is fresh only when there is no other way
        for month, name, kind in _months(out, until):
            if size(out) <= limit:
                return _tidy(out)
            out[name] = _joined(out[name], name, month, kind, until)
    while size(out) > limit and _shrink(out):
        pass
    return _tidy(out)


def _tidy(sections: Sections) -> Sections:
    return {name: ordered(part) for name, part in sections.items() if part}


def _months(sections: Sections, until: str) -> list[tuple[str, str, str]]:
    """Return (month, section, kind) of entries that can be joined, the oldest first.

    Tasks last: they are what the next session is for.
    """
    found = {
        (str(e.get("at", ""))[:7], name, str(e.get("kind", "")))
        for name, part in sections.items()
        for e in part
        if not kept(e) and not e.get("of") and str(e.get("at", "")) < until
    }
    return sorted(found, key=lambda one: (one[2] == TASK, one))


def _joined(part: list[Entry], name: str, month: str, kind: str, until: str) -> list[Entry]:
    """Return a section with the entries of one month and kind as one."""
    id = item_id(f"{name} {kind} {month} condensed")
    mine = [e for e in part if key_of(e) == id or _joins(e, month, kind, until)]
    single = [e for e in mine if not e.get("of")]
    if len(mine) < 2:
        return part
    earlier = sum(int(e.get("of") or 0) for e in mine)
    number = earlier + len(single)
    clauses = [
        clause
        for e in mine
        if e.get("of")
        for clause in str(e.get("text", "")).partition(": ")[2].split("; ")
        if clause and not _MORE.fullmatch(clause)
    ]
    clauses += [_clause(str(e.get("text", "")), CLAUSE) for e in single]
    shown = clauses[-LISTED:]
    rest = number - len(shown)
    text = (
        f"{month}, {number} {PLURAL.get(kind, 'notes')}: "
        + "; ".join(shown)
        + (f"; {rest} more" if rest > 0 else "")
    )
    # what is read anew is not a second one
    also = sorted({one for e in mine for one in known_as(e)} - {id})[:MONTH]
    entry: Entry = {
        "id": id,
        "kind": kind,
        "text": text,
        "at": max(str(e.get("at", "")) for e in mine),
        "of": number,
        "also": also,
    }
    return [e for e in part if e not in mine] + [entry]


def _joins(entry: Entry, month: str, kind: str, until: str) -> bool:
    at = str(entry.get("at", ""))
    return (
        not kept(entry)
        and not entry.get("of")
        and at[:7] == month
        and entry.get("kind") == kind
        and at < until
    )


def _shrink(sections: Sections) -> bool:
    """Take away the oldest condensed entry, or the oldest of all that may go.

    Say whether there was one.
    """
    every = [(name, e) for name, part in sections.items() for e in part if not kept(e)]
    if not every:
        return False
    name, oldest = min(
        every,
        key=lambda pair: (
            pair[1].get("kind") == TASK,
            not pair[1].get("of"),
            str(pair[1].get("at", "")),
            key_of(pair[1]),
        ),
    )
    sections[name].remove(oldest)
    return True


def _clause(text: str, most: int) -> str:
    line = " ".join(text.replace(";", ",").split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def _before(today: str, days: int) -> str:
    from datetime import date, timedelta

    return (date.fromisoformat(today[:10]) - timedelta(days=days)).isoformat()


def counts(sections: Mapping[str, Iterable[Mapping[str, Any]]]) -> dict[str, int]:
    """Return how many entries a summary has of each kind.

    A condensed one counts for what it stands for.
    """
    out: Counter[str] = Counter()
    for part in sections.values():
        for entry in part:
            out[str(entry.get("kind", ""))] += int(entry.get("of") or 1)
    return dict(out)


def without(sections: Mapping[str, Iterable[Entry]], ids: Collection[str]) -> Sections:
    """Return the sections without some entries; what is pinned or critical stays."""
    return _tidy(
        {
            name: [e for e in part if key_of(e) not in ids or kept(e)]
            for name, part in sections.items()
        }
    )
