"""What a person decided about a fact, which no command inside an agent takes back.

Who decided is what the store's history says: its commits name the program that ran their command.
"""

from gitmem.errors import UserError
from gitmem.git.objects import Objects
from gitmem.records.codec import sane
from gitmem.records.kinds import FACTS
from gitmem.records.record import Record
from gitmem.repo.caller import BACKGROUND
from gitmem.store.layout import FILE_LIMIT, record_path
from gitmem.store.store import Store

# what takes a fact out of every view: nobody but a person does so with what a person vouches for
REMOVALS = frozenset({"archive", "forget"})
TIDYING = "consolidate"  # what it does to a fact is nobody's decision, whoever started it
OF_GOTCHAS = frozenset({"resolve", "reopen"})  # the others change the status
# what a person calls instead, where it has another name
NAMES = {"resolve": "gotcha resolve", "reopen": "gotcha reopen", "unpin": "pin --remove"}


def require_undecided(store: Store, program: str, record: Record, act: str) -> None:
    """Raise UserError for an agent's program that would change what a person decided."""
    if is_decided(store, program, record, act):
        name = NAMES.get(act, act)
        raise UserError(
            f"this runs in {program}, and an agent cannot {act} {record.id}: a person decided its "
            f"state.",
            f"Ask the user to do it in a terminal of their own: git mem {name} {record.id}",
        )


def is_decided(store: Store, program: str, record: Record, act: str) -> bool:
    """Return whether a person decided how a fact stands, so that an agent may not change it.

    That is what they pinned, put aside, finished, resolved or forgot; and nobody else removes what
    a person vouches for. A fact that is open and active is nobody's decision.
    """
    if program in {"", BACKGROUND} or record.kind not in FACTS:
        return False
    if act in REMOVALS and not record.unconfirmed:
        return True
    is_plain = not record.resolved if act in OF_GOTCHAS else record.status == "active"
    if is_plain and act != "restore":
        return False
    return _decided_by(store, record.id, act) == ""


def _decided_by(store: Store, id: str, act: str) -> str | None:
    """Return the program that decided last what an act would change, "" for a person.

    None for a record that stands as it was made.
    """
    from gitmem.services.records import history  # few writes look back

    for step in history.log(store, [id]):
        # in a shallow clone, a parent that is not there is an error: who decided is not known
        parents = store.objects.commit(step.commit.oid).parents
        if len(parents) != 1:
            continue  # a merge decides nothing
        parent = store.objects.commit(parents[0])
        before = _standing(store.objects, parent.tree, id, act)
        if before is None:
            return None
        if before != _standing(store.objects, step.commit.tree, id, act):
            is_tidied = TIDYING in step.trailers.get("op", ())
            return BACKGROUND if is_tidied else step.trailers.get("program", [""])[0]
    return None


def _standing(objects: Objects, tree: str, id: str, act: str) -> object:
    """Return what of a record an act would change; None where it is not there."""
    entry = objects.find(tree, record_path(id))
    data = objects.read_small(entry.oid, FILE_LIMIT) if entry and not entry.is_tree else None
    record = sane(data, id) if data else None
    if not isinstance(record, Record):
        return None
    return record.resolved if act in OF_GOTCHAS else record.status
