"""Take what was forgotten out of the quotes that session records and snapshots have of it.

Without this the owner's search would still show it, in the words of whoever said it.
"""

from collections.abc import Iterable, Sequence

from gitmem.errors import UnknownId
from gitmem.index.reader import Index
from gitmem.records.claims import words_of
from gitmem.records.merge import restamp
from gitmem.records.record import Record
from gitmem.services.records.write import Writer
from gitmem.store import operations
from gitmem.store.rejected import Rejected
from gitmem.store.store import Message, Store
from gitmem.text.normal_words import normal_words
from gitmem.text.tokenizer import tokens

KINDS = ("session", "snapshot")
MOST = 200  # records that are looked at for a claim
WORDS = 24  # of a claim that they are found by
LEFT_OUT = "(left out)"  # the title of a snapshot that said nothing else


def leave_out(
    private: Store, who: Writer, indexes: Sequence[Index], gone: Iterable[Record]
) -> list[str]:
    """Write the private records that quote facts which are gone without these quotes.

    Return their ids.
    """
    todo: dict[str, operations.Op] = {}
    for fact in gone:
        words = words_of(fact)
        claim = Rejected([{"id": fact.id, "said": normal_words(words)}])
        for record in _candidates(private, indexes, words):
            after = _without(record, claim)
            if after is not record and record.id not in todo:
                after = restamp(record, after.touched(who.clock.stamp()))
                todo[record.id] = operations.put(after, record)
    if todo:
        message = Message("session: leave out what was forgotten", "edit", tuple(todo))
        private.write(list(todo.values()), message)
    return list(todo)


def _candidates(private: Store, indexes: Sequence[Index], words: str) -> list[Record]:
    query = " ".join(tokens(words)[:WORDS])
    out = []
    for index in indexes if query else ():
        for hit in index.search(query, limit=MOST, kinds=KINDS, stores=("private",)):
            try:
                out.append(private.get(str(hit["id"])).record)
            except UnknownId:
                continue
    return out


def _without(record: Record, claim: Rejected) -> Record:
    lines = record.body.splitlines(keepends=True)
    kept = [line for line in lines if not claim.is_quoted(line)]
    title, fields = record.title, _fields(record, claim)
    if claim.is_quoted(title):
        title = title.partition(":")[0] if ":" in title else LEFT_OUT
    if len(kept) == len(lines) and title == record.title and not fields:
        return record
    return record.change(title=title, body="".join(kept), **fields)


def _fields(record: Record, claim: Rejected) -> dict[str, object]:
    """Return the fields that change: topics without the claim, no note that quotes it."""
    out: dict[str, object] = {}
    topics = record.fields.get("topics")
    if isinstance(topics, list):
        kept = [topic for topic in topics if not claim.has_phrase(str(topic))]
        out |= {"topics": kept or None} if kept != topics else {}
    facts = record.fields.get("facts")
    if isinstance(facts, list):
        left = [_without_quote(entry, claim) for entry in facts]
        out |= {"facts": left} if left != facts else {}
    if claim.is_quoted(str(record.fields.get("note") or "")):
        out["note"] = None
    return out


def _without_quote(entry: object, claim: Rejected) -> object:
    """Return what a session says of a fact, without words that quote the claim."""
    if not isinstance(entry, dict) or not claim.is_quoted(str(entry.get("quote") or "")):
        return entry
    return {key: value for key, value in entry.items() if key != "quote"}
