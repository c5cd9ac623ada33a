"""What a person decides about facts that contradict each other, or that the code refutes."""

from collections.abc import Sequence

from gitmem.records.record import Record, has_expired
from gitmem.records.trust import pair_digest
from gitmem.services.lifecycle.findings import Finding, answer_digest
from gitmem.services.records import write
from gitmem.services.records.write import Change, Writer
from gitmem.store.store import Store

COMMAND = "check"  # in which a person decides
Place = tuple[str, Store, Record]  # scope, store and record of a fact
_FIRST = ("private", "user", "shared")  # of a pair, the record of which store has the answer


def replace(who: Writer, old: Place, new: Place) -> Change:
    """Have one fact take the other's place, which is archived. Raises UserError for a program."""
    write.require_person(who, "decide between", command=COMMAND)
    (_, old_store, before), (_, store, record) = old, new
    if old[0] == new[0]:
        return write.supersede(store, who, before, record, record)
    supersedes = sorted({*(record.get("supersedes") or ()), before.id})
    after = record.change(supersedes=supersedes)
    change = write.update(store, who, record, after, "supersede", vouches=True)
    write.set_status(old_store, who, before, "archived", "supersede")
    return change


def keep_both(who: Writer, first: Place, second: Place) -> Change:
    """Say that both facts hold, as long as their words stay. Raises UserError for a program."""
    write.require_person(who, "decide between", command=COMMAND)
    (_, store, record), (_, _, other) = sorted(
        (first, second), key=lambda place: _FIRST.index(place[0])
    )
    answer = {
        "id": other.id,
        "words": pair_digest(record, other),
        "choice": "both",
        "by": who.author[0],
        "at": who.clock.stamp(),
    }
    others = [one for one in record.get("settled") if one.get("id") != other.id]
    return write.update(store, who, record, record.change(settled=[*others, answer]), "settle")


def verify(who: Writer, place: Place, findings: Sequence[Finding], commit: str) -> Change:
    """Confirm a fact that the code speaks against, as of a commit. Raises UserError for a program.

    The same findings do not come back as long as the fact's words and the code that it is about
    stay. A fact that had expired holds without an end.
    """
    write.require_person(who, "verify", command=COMMAND)
    _, store, record = place
    facts = {"id": record.id, "choice": "verified", "by": who.author[0], "at": who.clock.stamp()}
    answers = [{**facts, "words": answer_digest(record, one)} for one in findings]
    digests = {one["words"] for one in answers}
    others = [one for one in record.get("settled") if one.get("words") not in digests]
    after = record.change(settled=[*others, *answers])
    if has_expired(str(record.get("expires") or ""), who.clock.stamp()):
        after = after.change(expires=None)
    return write.confirm(store, who, record, after, commit)
