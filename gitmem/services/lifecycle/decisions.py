"""What a person decides about facts that contradict each other, or that the code refutes."""

from collections.abc import Sequence

from gitmem.errors import UserError
from gitmem.records.record import Record, has_expired
from gitmem.records.trust import pair_digest
from gitmem.services.facts import review
from gitmem.services.facts.stores import becomes_shared
from gitmem.services.lifecycle.findings import Finding, answer_digest
from gitmem.services.records import write
from gitmem.services.records.write import Change, Writer
from gitmem.store.store import Store

COMMAND = "check"  # in which a person decides
Place = tuple[str, Store, Record]  # scope, store and record of a fact
_FIRST = ("private", "user", "shared")  # of a pair, the record of which store has the answer


def replace(who: Writer, old: Place, new: Place) -> Change:
    """Have one fact take the other's place, which is archived.

    Of a pair in two stores, the fact that holds is confirmed, and the other one is archived. A
    proposal that holds instead of a shared fact is accepted into the shared store. Any other fact
    that others do not see takes the place of none that they see: that raises UserError, and so
    does a program.
    """
    write.require_person(who, "decide between", command=COMMAND)
    (old_scope, old_store, before), (scope, store, record) = old, new
    if old_scope == scope:
        return write.supersede(store, who, before, record, record)
    if old_scope == "shared" and becomes_shared(scope, record):
        accepted = review.accept(store, who, record, shared=old_store).after
        return write.supersede(old_store, who, before, accepted, accepted)
    if old_scope == "shared":
        raise UserError(
            f"{record.id[-8:]} is in your {scope} store: others would lose {before.id[-8:]}, and "
            "would not see what holds.",
            f"Say it for all: git mem supersede {before.id[-8:]} 'title'; or keep both: "
            f"git mem check {record.id[-8:]} --resolve {record.id[-8:]}=both",
        )
    change = write.update(store, who, record, record, "confirm", vouches=True)
    write.set_status(old_store, who, before, "archived", "supersede")
    return change


def keep_both(who: Writer, first: Place, second: Place) -> Change:
    """Say that both facts hold, as long as their words stay.

    The person vouches for the fact that has the answer: an answer that others could have written
    does not count. Raises UserError for a program.
    """
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
    others = [entry for entry in record.get("settled") if entry.get("id") != other.id]
    after = record.change(settled=[*others, answer])
    return write.update(store, who, record, after, "settle", vouches=True)


def verify(who: Writer, place: Place, findings: Sequence[Finding], commit: str) -> Change:
    """Confirm a fact that the code speaks against, as of a commit. Raises UserError for a program.

    The same findings do not come back as long as the fact's words and the code that it is about
    stay. A fact that had expired holds without an end.
    """
    write.require_person(who, "verify", command=COMMAND)
    _, store, record = place
    facts = {"id": record.id, "choice": "verified", "by": who.author[0], "at": who.clock.stamp()}
    answers = [{**facts, "words": answer_digest(record, finding)} for finding in findings]
    digests = {answer["words"] for answer in answers}
    others = [entry for entry in record.get("settled") if entry.get("words") not in digests]
    after = record.change(settled=[*others, *answers])
    if has_expired(str(record.get("expires") or ""), who.clock.stamp()):
        after = after.change(expires=None)
    return write.confirm(store, who, record, after, commit)
