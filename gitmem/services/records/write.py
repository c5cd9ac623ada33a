"""Use cases on records of any kind: add, change, link, pin, archive, forget, restore.

Each function builds operations, writes them as one commit, and returns what came of it. Text is
scrubbed of secrets before anything is written.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from gitmem.clock import Clock
from gitmem.errors import InvalidRecord, UnknownId, UserError
from gitmem.records.claims import claims_of, words_of
from gitmem.records.kinds import FACTS, LIVE, PREFIX, error_patterns, gotcha_id
from gitmem.records.merge import restamp, settled
from gitmem.records.record import Record, make
from gitmem.records.trust import confirmed_by, words_digest
from gitmem.redaction.formats import harmless
from gitmem.redaction.mask import SecretFinding, is_plain_value, scrub, scrub_all
from gitmem.services.records.decisions import require_undecided
from gitmem.store import operations
from gitmem.store.rejected import rejected_in
from gitmem.store.store import Message, Store, Written
from gitmem.text.normal_words import normal_words

SAYING = FACTS | {"event"}  # kinds whose words are compared with what was rejected
SCRUBBED = ("workaround", "note", "what", "project", "story", "subtask", "state")
SHORT = 120  # characters of a text that many records may have: a tag, a role, a time
# maps and lists with texts in them
NESTED = (
    *("triggers", "resolved", "confirmed", "done", "sources", "verify", "settled", "topics"),
    *("facts", "imported"),
)


class Change(NamedTuple):
    """A record before (None if new) and after, the commit, and the secrets that were masked."""

    before: Record | None
    after: Record
    written: Written
    findings: tuple[SecretFinding, ...] = ()


class Writer(NamedTuple):
    """Who writes, for which agent and session, and which values are known to be no secrets.

    `program` is the agent's CLI that runs the command, or `git mem` for work in the background;
    empty for a person, who alone vouches for facts.
    """

    clock: Clock
    author: tuple[str, str]
    agent: str = "global"
    session: str = ""
    allow: Sequence[str] = ()
    program: str = ""

    @property
    def person(self) -> str:
        """In whose name is written, as `Name <address>`."""
        return f"{self.author[0]} <{self.author[1]}>"

    @property
    def is_person(self) -> bool:
        """Whether a person writes, not a program."""
        return not self.program

    def message(self, record: Record, op: str, subject: str = "") -> Message:
        """Return the commit message of a change of one record."""
        return Message(
            subject or f'{record.kind}: {op} {record.id} "{record.title}"',
            op,
            (record.id,),
            self.agent if self.agent != "global" else "",
            self.session,
        )


def clean(record: Record, allow: Sequence[str]) -> tuple[Record, tuple[SecretFinding, ...]]:
    """Return a record with secrets masked in every text a person or an agent writes.

    The ids of the sessions that the record names are no secrets, wherever they stand in it, nor is
    the name of the file that it was imported from.

    Raises InvalidRecord when that leaves nothing of the title.
    """
    texts = [
        record.title,
        record.body,
        *_texts([record.fields.get(k) for k in (*SCRUBBED, "tags", "anchors", *NESTED)]),
    ]
    if all(_is_harmless(text) for text in texts):  # mostly there is nothing
        return record, ()
    secrets: list[SecretFinding] = []
    names = _session_ids(record) | _file_names(record)
    kept = (*allow, *(rf"\A{re.escape(name)}\Z" for name in names))

    def cleaned(text: str) -> str:
        if _is_harmless(text):
            return text
        result = scrub(text, kept)
        secrets.extend(result.findings)
        return result.text

    fields = _masked_fields(record, cleaned)
    title, body = cleaned(record.title).strip(), cleaned(record.body)
    if record.title and not title:
        raise InvalidRecord(
            "the title is nothing but a private part.", "Say outside of <private> what it is about."
        )
    same = (
        title == record.title
        and body == record.body
        and all(record.fields[key] == value for key, value in fields.items())
    )
    return (record if same else record.change(title=title, body=body, **fields)), tuple(secrets)


def _masked_fields(record: Record, mask: Callable[[str], str]) -> dict[str, Any]:
    """Return the fields with texts in them, each text as `mask` returns it."""
    fields: dict[str, Any] = {
        k: mask(record.fields[k]) for k in SCRUBBED if isinstance(record.fields.get(k), str)
    }
    if record.fields.get("tags"):
        fields["tags"] = [mask(tag) for tag in record.tags]
    if record.fields.get("anchors"):
        fields["anchors"] = [scrub_all(anchor, mask) for anchor in record.anchors]
    for key in NESTED:
        if isinstance(record.fields.get(key), dict | list):
            fields[key] = scrub_all(record.fields[key], mask)
    return fields


def _is_harmless(text: str) -> bool:
    """Return whether a text can be seen at once to hold no secret: remembered for short ones."""
    return _is_short_harmless(text) if len(text) <= SHORT else harmless(text)


@lru_cache(maxsize=4096)
def _is_short_harmless(text: str) -> bool:
    return is_plain_value(text) or harmless(text)


def _session_ids(record: Record) -> set[str]:
    """Return the ids of sessions that a record names in fields which we fill ourselves.

    A value with the format of a secret is none of them, whatever a program calls its session.
    """
    ids = {str(record.fields.get("session") or "")}
    for key in NESTED:
        value = record.fields.get(key)
        for entry in value if isinstance(value, list) else [value]:
            if isinstance(entry, dict) and isinstance(entry.get("session"), str):
                ids.add(entry["session"])
    return {id for id in ids if id and scrub(id, is_name=True).text == id}


def _file_names(record: Record) -> set[str]:
    """Return the parts of the path that a record was imported from, as far as none is a secret."""
    imported = record.fields.get("imported")
    path = imported.get("path") if isinstance(imported, dict) else None
    if not isinstance(path, str) or scrub(path, is_name=True).text != path:
        return set()
    return {path, *(part for part in re.split(r"[/.]", path) if part)}


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for inner in value:
            yield from _texts(inner)  # of a mapping, its keys
        if isinstance(value, dict):
            yield from _texts(list(value.values()))


def require_visible(title: str) -> None:
    """Raise InvalidRecord for a title of which nobody sees anything."""
    if title.strip() and not normal_words(title):
        raise InvalidRecord(
            "the title has no visible character: only spaces, and marks such as U+200B that no "
            "screen shows.",
            "Give one line that says what it is about.",
        )


def draft(
    who: Writer,
    kind: str,
    title: str,
    body: str = "",
    *,
    origin: str = "manual",
    id: str = "",
    **fields: Any,
) -> Record:
    """Return a new record, not yet written, with an id of its own unless one is given.

    Raises InvalidRecord.
    """
    require_visible(title)
    now = who.clock.stamp()
    if origin == "manual" and kind in FACTS and not who.is_person:
        origin = "agent"
    common = {
        "created": now,
        "updated": now,
        "rev": 1,
        "author": who.person,
        "origin": origin if origin != "manual" else None,
    }
    return make(
        kind,
        id or f"{PREFIX[kind]}-{who.clock.ulid()}",
        title,
        body,
        **common,
        agent=who.agent if who.agent != "global" else None,
        session=who.session or None,
        **({"sources": _seen_by_agent(who, now)} if origin == "agent" else {}),
        **fields,
    )


def _seen_by_agent(who: Writer, now: str) -> list[dict[str, Any]]:
    facts = {"at": now, "role": "agent", "program": who.program, "session": who.session}
    return [{key: value for key, value in facts.items() if value}]


def add(store: Store, who: Writer, record: Record, op: str = "add") -> Change:
    """Write a new record; raises UserError for a program that says what a person rejected."""
    record, secrets = clean(record, who.allow)
    require_not_rejected(store, who, record)
    todo = [operations.put(record)]
    return Change(None, record, store.write(todo, who.message(record, op)), secrets)


def require_not_rejected(
    store: Store, who: Writer, record: Record, before: Record | None = None
) -> None:
    """Raise UserError for a program that says again what a person forgot or rejected.

    What the record said `before` it may say.
    """
    if record.kind in SAYING:
        claims_before = claims_of(before) if before else ()
        require_unrejected(
            store, who, [claim for claim in claims_of(record) if claim not in claims_before]
        )


def require_unrejected(store: Store, who: Writer, claims: Sequence[str]) -> None:
    """Raise UserError for a program that makes a claim which a person forgot or rejected."""
    mark = None if who.is_person else rejected_in(store.objects).find_any(claims)
    if mark is not None:
        raise UserError(
            f"this was rejected on {str(mark.get('at', ''))[:10]} ({mark['id'][-8:]}), and "
            f"{who.program} cannot say it again; ask the user.",
            "A person can, in a terminal of their own: git mem add 'title'",
        )


def vouched(who: Writer, record: Record, commit: str = "") -> Record:
    """Return a fact that a person vouches for by what they do with it; a program vouches for none.

    What they wrote themselves needs no confirmation. `commit` is what is checked out.
    """
    if not who.is_person or record.kind not in FACTS or _vouches_already(who, record):
        return record
    return confirmed_by(record, who.clock.stamp(), who.author[0], commit)


def _vouches_already(who: Writer, record: Record) -> bool:
    if record.unconfirmed:
        return False
    confirmed = record.fields.get("confirmed")
    if confirmed:
        return bool(confirmed.get("by") == who.author[0])
    return bool(record.get("author") == who.person)


def unvouched(before: Record, after: Record) -> Record:
    """Return new words for a fact that a person vouches for: they wait to be confirmed.

    The confirmation stays that of the words it was given for.
    """
    author = str(before.get("author")).partition(" <")[0]
    given = before.fields.get("confirmed") or {"at": before.updated, "by": author}
    return after.change(confirmed={**given, "words": words_digest(before)})


def require_person(who: Writer, what: str, of: str = "facts", command: str = "inbox") -> None:
    """Raise UserError for a program that would answer for a person.

    `what` is a verb, `of` what it is done to, and `command` does it.
    """
    if not who.is_person:
        raise UserError(
            f"this runs in {who.program}, and an agent cannot {what} {of}: a person does.",
            f"Ask the user to do it in a terminal of their own: git mem {command}",
        )


def update(
    store: Store,
    who: Writer,
    before: Record,
    after: Record,
    op: str,
    subject: str = "",
    *,
    vouches: bool = False,
) -> Change:
    """Write a changed record on top of what it was; a change to nothing writes nothing.

    A person who changes the words of a fact vouches for them; with `vouches` in any case. Raises
    UserError for a program that says what a person rejected.
    """
    if after.title != before.title:
        require_visible(after.title)
    after, secrets = clean(after, who.allow)
    is_reworded = words_digest(before) != words_digest(after)
    if is_reworded:
        require_not_rejected(store, who, after, before)
    if is_reworded and who.is_person and after.kind in FACTS:
        after = confirmed_by(after, who.clock.stamp(), who.author[0])
    elif vouches:
        after = vouched(who, after)
    if (after.title, after.body, dict(after.fields)) == (
        before.title,
        before.body,
        dict(before.fields),
    ):
        return Change(before, before, Written(None), secrets)
    after = restamp(before, after.touched(who.clock.stamp()))
    return Change(
        before,
        after,
        store.write([operations.put(after, before)], who.message(after, op, subject)),
        secrets,
    )


# what only a person's answer, or the making of a record, sets
ANSWERS = ("author", "confirmed", "done", "origin", "resolved", "settled", "sources", "status")
# what a successor has from the fact whose place it takes; a new wording of it has the rest too
INHERITED = (
    "type",
    "importance",
    "project",
    "tags",
    "anchors",
    "triggers",
    "category",
    "severity",
)
REWORDED = (*INHERITED, "workaround", "verify", "expires")


def fields_of(record: Record, names: Sequence[str]) -> dict[str, Any]:
    """Return those of the named fields that a record has."""
    return {name: record.fields[name] for name in names if name in record.fields}


def may_replace(who: Writer, old: Record) -> bool:
    """Return whether a writer may put a record aside for another.

    A program may not where a person vouches for the record: it proposes.
    """
    return who.is_person or old.unconfirmed or old.kind not in FACTS


def _claims(record: Record) -> tuple[str, object]:
    """Return what a fact says, and until when."""
    return words_digest(record), record.fields.get("expires")


def _weight(record: Record) -> list[object]:
    """Return what decides how long, and how soon, a fact is told."""
    return [record.get(name) for name in ("importance", "decay_rate", "severity")]


def revise(store: Store, who: Writer, before: Record, after: Record) -> Change:
    """Write an edit of a record.

    A program's new words for what a person vouches for become a proposal that supersedes it: the
    record stays as it is until a person accepts them.
    """
    same = _claims(before) == _claims(after)
    if not who.is_person:
        after = after.change(**{key: before.fields.get(key) for key in ANSWERS})
    if same and not may_replace(who, before) and _weight(before) != _weight(after):
        require_person(
            who, "change the weight of", "what a person vouches for", f"edit {before.id}"
        )
    if same or may_replace(who, before):
        return update(store, who, before, after, "edit")
    kept = fields_of(after, REWORDED)
    agent = who._replace(agent=str(after.get("agent")))
    new = draft(agent, after.kind, after.title, after.body, supersedes=[before.id], **kept)
    return add(store, agent, new, "propose")


def replaced_by(store: Store, record: Record) -> list[Record]:
    """Return the active records of a store that a proposal replaces once it is accepted."""
    out = []
    for id in record.get("supersedes") or []:
        try:
            old = store.get(id).record
        except UnknownId:
            continue
        out += [old] if old.status in LIVE else []
    return out


def archivals(who: Writer, records: Sequence[Record]) -> list[operations.Op]:
    """Return the operations that put records aside."""
    return [operations.put(*versions) for versions in archived(who, records)]


def archived(who: Writer, records: Sequence[Record]) -> list[tuple[Record, Record]]:
    """Return (the record put aside, the record as it is) of records."""
    now = who.clock.stamp()
    return [(restamp(old, old.change(status="archived").touched(now)), old) for old in records]


def confirm(store: Store, who: Writer, before: Record, after: Record, commit: str) -> Change:
    """Write that a person vouches for a fact, and put aside what it replaces; one commit.

    What two edits left in conflict is settled. Raises UserError for a program.
    """
    require_person(who, "confirm")
    after, secrets = clean(after, who.allow)
    after = confirmed_by(after, who.clock.stamp(), who.author[0], commit)
    after = settled(restamp(before, after.touched(who.clock.stamp())))
    todo = [operations.put(after, before), *archivals(who, replaced_by(store, before))]
    return Change(before, after, store.write(todo, who.message(after, "confirm")), secrets)


def set_status(store: Store, who: Writer, before: Record, status: str, op: str) -> Change:
    """Pin, unpin, archive or activate a record.

    Raises UserError for a program that would pin a fact, or change what a person decided.
    """
    if status != before.status:
        if status == "pinned" and before.kind in FACTS:
            require_person(who, "pin", command=f"pin {before.id}")
        require_undecided(store, who.program, before, op)
    done = None if status in LIVE else before.fields.get("done")  # a task is open again
    after = before.change(status=status, done=done)
    return update(store, who, before, after, op, vouches=status == "pinned")


def link(
    store: Store, who: Writer, before: Record, targets: Sequence[str], *, remove: bool = False
) -> Change:
    """Add or remove links to other records."""
    if before.id in targets:
        raise UserError(f"{before.id} cannot link to itself.")
    links = set(before.get("links") or [])
    links = links - set(targets) if remove else links | set(targets)
    return update(
        store, who, before, before.change(links=sorted(links)), "unlink" if remove else "link"
    )


def supersede(
    store: Store, who: Writer, old: Record, new: Record, before: Record | None = None
) -> Change:
    """Write a record that takes the place of an old one.

    The old one is archived in the same commit, unless a person vouches for it and a program writes:
    then it stays until a person accepts the new one.

    `before` is what `new` is now when it is there already, None for a new record. Raises UserError
    when `old` supersedes `new` itself, and for a program that chooses between two facts that
    people vouch for.
    """
    if new.id == old.id or new.id in (old.get("supersedes") or []):
        reason = "it is the same record" if new.id == old.id else f"{old.id} replaced it"
        raise UserError(
            f"{new.id} cannot supersede {old.id}: {reason}.",
            f"See: git mem log {old.id}",
        )
    if before and not (before.unconfirmed or may_replace(who, old)):
        require_person(who, "choose between confirmed")
    if before is None:
        require_not_rejected(store, who, new)
    new, secrets = clean(
        new.change(supersedes=sorted({*(new.get("supersedes") or []), old.id})), who.allow
    )
    if before:
        new = restamp(before, vouched(who, new).touched(who.clock.stamp()))
    gone = restamp(old, old.change(status="archived").touched(who.clock.stamp()))
    message = who.message(
        new, "supersede", f'{new.kind}: supersede {old.id} by {new.id} "{new.title}"'
    )
    message = message._replace(ids=(new.id, old.id))
    todo = [operations.put(new, before)]
    if may_replace(who, old):
        todo.append(operations.put(gone, old))
    return Change(
        before,
        new,
        store.write(todo, message),
        secrets,
    )


def forget(
    store: Store,
    who: Writer,
    records: Sequence[Record],
    reason: str = "",
    *,
    purged: bool = False,
    again: bool = False,
) -> Written:
    """Remove records on purpose.

    Each leaves a tombstone. What a person forgets does not come back by itself: the tombstone of a
    fact keeps its words, and the errors that a gotcha stood for are muted. With `again` it may come
    back. A purge keeps no words. Raises UserError for a program that would forget what a person
    vouches for.
    """
    for record in records:
        require_undecided(store, who.program, record, "forget")
    now = who.clock.stamp()
    todo = []
    for record in records:
        patterns = (
            error_patterns(record.get("triggers"))
            if record.kind == "gotcha" and who.is_person and not purged
            else []
        )
        keeps_words = record.kind in FACTS and who.is_person and not (purged or again)
        said = normal_words(words_of(record)) if keeps_words else ""
        todo.append(
            operations.forget(
                record.id,
                now,
                who.author[0],
                scrub(reason, who.allow).text,
                " | ".join(patterns),
                purged,
                said,
            )
        )
        todo += [
            operations.mute(pattern, now, who.author[0], record.id)
            for pattern in patterns
            if gotcha_id(pattern) != record.id
        ]
    ids = tuple(r.id for r in records)
    what = "purge" if purged else "forget"
    return store.write(
        todo,
        Message(
            f"{records[0].kind}: {what} {', '.join(ids[:3])}{' …' if len(ids) > 3 else ''}",
            what,
            ids,
            session=who.session,
        ),
    )


def restore(store: Store, who: Writer, record: Record) -> Change:
    """Bring a record back that was forgotten, collected or archived.

    Lifts its tombstone, and the mutes of its errors. Raises UserError for a program that brings
    back what a person rejected.
    """
    require_undecided(store, who.program, record, "restore")
    require_not_rejected(store, who, record)
    back = record.change(
        status=None if record.status in {"archived", "decayed"} else record.fields.get("status"),
        done=None,
    ).touched(who.clock.stamp())
    muted = [
        operations.unmute(pattern, record.id)
        for pattern in error_patterns(record.get("triggers"))
        if record.kind == "gotcha"
    ]
    return Change(
        None,
        back,
        store.write([operations.put(back, revive=True), *muted], who.message(back, "restore")),
    )
