"""What a write does, as data: pure functions of (operation, parent tree).

An operation is a JSON object, so that it can wait in the journal. Applying one again to a tree that
holds its result, or to a newer parent after a lost race, is what the store relies on.

What one operation alone needs is imported by it: a plain `add` takes none of the merge, the epics
and the errors.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gitmem.base.fast import new_hash
from gitmem.errors import InvalidRecord, UserError
from gitmem.records.codec import decode, encode
from gitmem.records.gotcha_notes import AGAIN, with_note
from gitmem.records.kinds import gotcha_id
from gitmem.records.record import Record, kind_of, make
from gitmem.store.layout import attic_path, record_path, tombstone_path
from gitmem.store.usage_file import parse_usage, usage_bytes
from gitmem.text.shell import head

Op = dict[str, Any]
BY = 12  # characters of a clone's name that epics know it by, the last
COMBINED = 8  # steps from a gotcha to the one that stands for it
Edits = dict[str, bytes | None]

FIXES = 5  # of a gotcha that came back, those that are kept


def _nothing(_: str) -> None:
    """Read no file."""


class View:
    """A parent tree with the edits so far on top, and the name of the clone that applies them.

    `beside` reads files of the store that comes first: of the private one, the shared store.
    `passed_on` are operations on records that are there now.
    """

    def __init__(
        self,
        read: Callable[[str], bytes | None],
        replica: Callable[[], str] = str,
        beside: Callable[[str], bytes | None] = _nothing,
        is_rejected: Callable[[str, str], bool] = lambda *_: False,
    ) -> None:
        self._read = read
        self.replica = replica
        self.beside = beside
        self.is_rejected = is_rejected  # by the title and the pattern of an error
        self.edits: Edits = {}
        self.passed_on: list[Op] = []

    def read(self, path: str) -> bytes | None:
        """Return a file's bytes, or None."""
        return self.edits[path] if path in self.edits else self._read(path)

    def set(self, path: str, data: bytes | None) -> None:
        """Change a file; a change back to what is there is no edit."""
        if self._read(path) == data:
            self.edits.pop(path, None)
        else:
            self.edits[path] = data


def put(record: Record, base: Record | None = None, *, revive: bool = False) -> Op:
    """Return the operation that writes a record.

    `base` is what the change was made on, None for a new record.

    When the record changed meanwhile the three are merged. `revive` lifts a tombstone.
    """
    return {
        "op": "put",
        "id": record.id,
        "data": encode(record).decode(),
        "base": encode(base).decode() if base else None,
        "revive": revive,
    }


def replace(versions: Sequence[tuple[Record, Record]]) -> Op:
    """Return the operation that writes several records: all, or none if one changed meanwhile.

    `versions` are (what is written, what it was) of each.
    """
    rows = [{"id": new.id, "data": _text(new), "base": _text(old)} for new, old in versions]
    return {"op": "replace", "id": versions[0][0].id, "records": rows}


def _text(record: Record) -> str:
    return encode(record).decode()


def forget(
    id: str,
    at: str,
    by: str,
    reason: str = "",
    pattern: str = "",
    purged: bool = False,
    said: str = "",
) -> Op:
    """Return the operation that removes a record on purpose and leaves a tombstone.

    `said` are the words that are not to come back by themselves (`gitmem.text.normal_words`).
    """
    mark = {
        "id": id,
        "at": at,
        "by": by,
        "reason": reason,
        "pattern": pattern,
        "said": said,
        "purged": purged or None,
    }
    return {"op": "forget", "id": id, "mark": {k: v for k, v in mark.items() if v}}


def mute(pattern: str, at: str, by: str, of: str) -> Op:
    """Return the operation that stops the capture of an error.

    The error can still be captured if it has a gotcha of its own. `of` is the record that was
    forgotten.
    """
    id = gotcha_id(pattern)
    return {"op": "mute", "id": id, "mark": {"id": id, "at": at, "by": by, "of": of}}


def unmute(pattern: str, of: str) -> Op:
    """Return the operation that takes back what `mute` did for a record."""
    return {"op": "unmute", "id": gotcha_id(pattern), "of": of}


def collect(id: str, was: bytes | None = None) -> Op:
    """Return the operation that removes a record without a tombstone.

    A later use brings the record back. With `was`, only this version of its file is removed.
    """
    return {"op": "collect", "id": id, **({"was": _name(was)} if was is not None else {})}


def _name(data: bytes) -> str:
    return new_hash("sha256", data).hexdigest()


def observe(record: Record, times: int, at: str) -> Op:
    """Return the operation that creates a captured gotcha, or counts `times` more hits on it.

    A hit on a resolved one reopens it, unless the operation has `waited` and the hit was before;
    on a forgotten (muted) one it does nothing.
    """
    return {
        "op": "observe",
        "id": record.id,
        "data": encode(record).decode(),
        "times": times,
        "at": at,
    }


def capture(facts: Mapping[str, Any]) -> Op:
    """Return the operation that turns a repeated error into a gotcha.

    If there is a gotcha already, the error is counted on it.

    `facts`: `pattern` (the id is made from it), `output, command, root` (as they were; secrets are
    masked when it is applied), `times` (hits it stands for), `at`, `first`, `session`, `agent`,
    `anchors`. Made by hooks, which cannot afford to build a record.
    """
    return {"op": "capture", "id": gotcha_id(str(facts["pattern"])), "facts": dict(facts)}


def work(id: str, act: str, args: Mapping[str, Any], at: str, new: Record | None = None) -> Op:
    """Return the operation that does something to an epic (`gitmem.records.epic_operations`).

    `new` is the record that it begins with where there is none.
    """
    return {
        "op": "work",
        "id": id,
        "act": act,
        "args": dict(args),
        "at": at,
        "new": encode(new).decode() if new else None,
    }


def count_reads(path: str, reads: Mapping[str, Mapping[str, Any]]) -> Op:
    """Return the operation that adds reads ({id: {n, last}}) to a replica's usage file."""
    return {"op": "usage", "path": path, "reads": {k: dict(v) for k, v in reads.items()}}


def count_hours(path: str, masks: Mapping[str, int]) -> Op:
    """Return the operation that adds active hours ({day: mask}) to a replica's file."""
    return {"op": "hours", "path": path, "masks": dict(masks)}


def write_file(path: str, data: str | None) -> Op:
    """Return the operation that sets a plain file of the store."""
    return {"op": "file", "path": path, "data": data}


def apply(op: Op, view: View) -> None:
    """Apply one operation to a view; raises UserError when it no longer makes sense."""
    handler = _HANDLERS.get(str(op.get("op")))
    if handler is None:
        raise InvalidRecord(
            f"unknown operation '{op.get('op')}' in the journal.",
            "It was written by a newer git mem: upgrade, then run the command again.",
        )
    handler(op, view)


def _put(op: Op, view: View) -> None:
    id, data = op["id"], op["data"].encode()
    base = op["base"].encode() if op.get("base") else None
    path, mark = record_path(id), tombstone_path(id)
    current = view.read(path)
    if view.read(mark) is not None:
        if not op.get("revive"):
            raise UserError(
                f"{id} was forgotten meanwhile.", f"Bring it back with: git mem restore {id}"
            )
        view.set(mark, None)
    if current is None or current == base:
        view.set(path, data)
        return
    from gitmem.records.merge import merge_bytes

    merged = merge_bytes(id, base, current, data, lambda d: view.read(attic_path(id, d)))
    for digest, side in merged.attic.items():
        view.set(attic_path(id, digest), side)
    view.set(path, merged.data)


def _forget(op: Op, view: View) -> None:
    id = op["id"]
    old = view.read(tombstone_path(id))
    # a purge takes the place of an earlier mark, whose reason and pattern may quote the record
    if old is None or (op["mark"].get("purged") and b'"purged": true' not in old):
        view.set(
            tombstone_path(id),
            json.dumps(op["mark"], ensure_ascii=False, sort_keys=True).encode() + b"\n",
        )
    view.set(record_path(id), None)


def _mute(op: Op, view: View) -> None:
    path = tombstone_path(op["id"])
    if view.read(path) is None and view.read(record_path(op["id"])) is None:
        view.set(path, json.dumps(op["mark"], ensure_ascii=False, sort_keys=True).encode() + b"\n")


def _unmute(op: Op, view: View) -> None:
    path = tombstone_path(op["id"])
    if f'"of": {json.dumps(op["of"])}'.encode() in (view.read(path) or b""):
        view.set(path, None)


def _replace(op: Op, view: View) -> None:
    rows = op["records"]
    if all(_is_version(view.read(record_path(row["id"])), row["base"].encode()) for row in rows):
        for row in rows:
            view.set(record_path(row["id"]), row["data"].encode())


def _is_version(current: bytes | None, base: bytes) -> bool:
    """Return whether a file is as it was; others may have written it in another form."""
    if current is None or current == base:
        return current is not None
    try:
        return encode(decode(current)) == base
    except InvalidRecord:
        return False


def _collect(op: Op, view: View) -> None:
    path = record_path(op["id"])
    if "was" not in op or op["was"] == _name(view.read(path) or b""):
        view.set(path, None)


def _stands_for(id: str, view: View) -> str:
    """Return the id of the gotcha that a gotcha was combined into, by now.

    Its own when it was not.
    """
    for _ in range(COMBINED):
        data = view.read(record_path(id))
        old = decode(data) if data is not None else None
        if old is None or old.status != "archived":
            break
        for link in old.get("links") or []:
            other = view.read(record_path(link)) if kind_of(link) == "gotcha" else None
            if other is not None and id in (decode(other).get("supersedes") or []):
                id = link
                break
        else:
            break
    return id


def _observe(op: Op, view: View) -> None:
    from gitmem.records.merge import counted, restamp

    id = _stands_for(op["id"], view)
    if view.read(tombstone_path(id)) is not None:
        return
    if view.beside(tombstone_path(id)) is not None:
        return
    if view.beside(record_path(id)) is not None:  # somebody confirmed it meanwhile
        view.passed_on.append({**op, "op": "observe"})
        return
    current = view.read(record_path(id))
    new = decode(op["data"].encode())
    if current is None:
        seen = new.get("occurrences")
        view.set(
            record_path(id),
            encode(counted(new.change(occurrences=0), "occurrences", seen, view.replica())),
        )
        return
    old = decode(current)
    anchors = old.anchors + [
        a for a in new.anchors if a.get("path") not in {b.get("path") for b in old.anchors}
    ]
    body = old.body
    fixes = old.get("fixes")
    # a hit that waited may be from before
    reopens = old.resolved and not (
        op.get("waited") and op["at"] <= str(old.get("resolved").get("at") or "")
    )
    if reopens:
        # how it was dealt with then
        fixes = sorted([*fixes, old.get("resolved")], key=lambda fix: str(fix.get("at")))[-FIXES:]
        body = with_note(body, f"Reopened {op['at']}: {AGAIN}")
    after = old.touched(op["at"]).change(
        body=body,
        last_seen=max(op["at"], old.get("last_seen") or ""),
        anchors=anchors,
        resolved=None if reopens else old.get("resolved"),
        fixes=fixes or None,
    )
    # the stamps of an older text are not this one's; a conflict in it is still for a person to
    # settle
    after = restamp(old, after).change(conflict=old.fields.get("conflict"))
    view.set(record_path(id), encode(counted(after, "occurrences", op["times"], view.replica())))


def _capture(op: Op, view: View) -> None:
    from gitmem.fingerprint.fingerprint import fingerprint
    from gitmem.redaction.mask import scrub, scrub_all

    facts = op["facts"]

    def text(key: str) -> str:
        return scrub(str(facts.get(key) or "")).text

    # masked whole, cut afterwards: half a secret has no format that could be known
    output, command, at = text("output"), text("command"), str(facts["at"])
    mark = fingerprint(output, str(facts.get("root") or ""), command)
    pattern = (mark.pattern if mark else "") or text("pattern") or "unknown error"
    message = (mark.message if mark else output)[:4000]
    body = "    " + message.strip("\n").replace("\n", "\n    ") + "\n"
    if command:
        body += "\nCommand:\n\n    " + command[:500].strip().replace("\n", "\n    ") + "\n"
    times = int(facts.get("times") or 1)
    title = (mark.title if mark else "") or pattern
    if view.read(record_path(op["id"])) is None and view.is_rejected(title, pattern):
        return
    record = make(
        "gotcha",
        op["id"],
        title,
        body,
        created=at,
        updated=at,
        rev=1,
        author="git-mem",
        agent=facts.get("agent") or None,
        session=facts.get("session") or None,
        origin="captured",
        source="auto_detected",
        category=mark.category if mark else None,
        severity=mark.severity if mark else None,
        occurrences=times,
        first_seen=str(facts.get("first") or at),
        last_seen=at,
        anchors=list(scrub_all(facts.get("anchors") or [])),
        triggers={
            "error": pattern,
            **({"command": command_head} if (command_head := head(command)) else {}),
        },
    )
    _observe({"id": op["id"], "data": encode(record).decode(), "times": times, "at": at}, view)


def _work(op: Op, view: View) -> None:
    from gitmem.records.epic import phase
    from gitmem.records.epic_operations import operate
    from gitmem.records.merge import check, restamp

    id = op["id"]
    data = view.read(record_path(id))
    if view.read(tombstone_path(id)) is not None:
        raise UserError(f"{id} was forgotten.", f"Bring it back with: git mem restore {id}")
    if data is None and not op.get("new"):
        raise UserError(f"there is no epic {id}.", "See them with: git mem work list")
    before = check(id, data) if data is not None else None
    if before is not None and before.status == "archived":
        raise UserError(f"{id} was discarded.", f"Bring it back with: git mem restore {id}")
    record = before or decode(op["new"].encode())
    state = operate(
        record.fields.get("state"), op["act"], op["args"], op["at"], view.replica()[-BY:]
    )
    after = record.change(state=state, phase=phase(state) or None)
    if before is None:
        view.set(record_path(id), encode(after))
    elif dict(after.fields) != dict(before.fields):
        view.set(
            record_path(id), encode(restamp(before, after.touched(max(op["at"], before.updated))))
        )


def _usage(op: Op, view: View) -> None:
    rows = parse_usage(view.read(op["path"]))
    for id, row in op["reads"].items():
        old = rows.setdefault(id, {"n": 0, "last": ""})
        rows[id] = {"n": old["n"] + int(row["n"]), "last": max(old["last"], str(row["last"]))}
    view.set(op["path"], usage_bytes(rows))


def _hours(op: Op, view: View) -> None:
    from gitmem.records.active_hours import hours_bytes, joined, parse_hours

    view.set(op["path"], hours_bytes(joined((parse_hours(view.read(op["path"])), op["masks"]))))


def _file(op: Op, view: View) -> None:
    view.set(op["path"], None if op["data"] is None else op["data"].encode())


_HANDLERS: dict[str, Callable[[Op, View], None]] = {
    "put": _put,
    "replace": _replace,
    "forget": _forget,
    "mute": _mute,
    "unmute": _unmute,
    "collect": _collect,
    "observe": _observe,
    "capture": _capture,
    "usage": _usage,
    "hours": _hours,
    "file": _file,
    "work": _work,
}
