"""What a commit's message teaches: trailers that become records, and gotchas that the commit resolves.

    Decision: Use SERIALIZABLE for payments
    Gotcha: sleep blocks the only worker
    Resolves-Gotcha: sdqn310z

They stand in the last paragraph, as git's own trailers do; a line that begins with a space goes on with the one before.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from gitmem.errors import UnknownId, UserError
from gitmem.git.worktree import WorkTree
from gitmem.records.kinds import derived_id
from gitmem.records.record import make
from gitmem.services.gotchas import lifecycle
from gitmem.services.records import write
from gitmem.services.records.write import Writer
from gitmem.store.layout import tombstone_path
from gitmem.store.store import Store

TYPES = {"memory": "fact", "decision": "decision", "pattern": "pattern"}
RESOLVES = "resolves-gotcha"
MOST = 20  # trailers of one commit
_TRAILER = re.compile(r"(?i)(memory|decision|pattern|gotcha|resolves-gotcha):[ \t]*(\S.*)")
_ANY = re.compile(r"[A-Za-z0-9-]+:[ \t]|[ \t]|\(cherry picked from")


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit of the code."""

    oid: str
    author: tuple[str, str]
    message: str


def trailers(message: str) -> list[tuple[str, str]]:
    """Return (name in lower case, value) of the trailers that we know, in order; none when the last paragraph is no block of trailers."""
    last = message.rstrip().replace("\r\n", "\n").rpartition("\n\n")
    lines = last[2].split("\n") if last[1] else []
    if not lines or not all(_ANY.match(line) for line in lines):
        return []
    out: list[tuple[str, str]] = []
    known = False
    for line in lines:
        if line[:1] in {" ", "\t"}:
            if known:
                out[-1] = out[-1][0], f"{out[-1][1]} {line.strip()}"
            continue
        match = _TRAILER.fullmatch(line.rstrip())
        known = match is not None
        if match:
            out.append((match[1].lower(), match[2]))
    return out[:MOST]


def learn(store: Store, who: Writer, commit: Commit, find: Callable[[str], str], tree: WorkTree) -> list[str]:
    """Write what a commit's trailers say; return what was done, in words. The same words twice, as after an amend, make one record."""
    done = []
    subject = commit.message.partition("\n")[0]
    by = Writer(who.clock, commit.author, who.agent, who.session, who.allow)
    for name, value in trailers(commit.message):
        if name == RESOLVES:
            done += _resolve(store, by, commit, find, tree, value.strip().strip(",."), subject)
            continue
        kind = "gotcha" if name == "gotcha" else "memory"
        id = derived_id("got" if kind == "gotcha" else "mem", f"trailer {name} {' '.join(value.split())}")
        try:
            store.get(id)
            continue
        except UnknownId:
            if store.read_file(tombstone_path(id)) is not None:
                continue  # somebody forgot it on purpose
        now = by.clock.stamp()
        record = make(
            kind, id, value, f"From commit {commit.oid[:12]}: {subject}", created=now, updated=now, rev=1, author=f"{commit.author[0]} <{commit.author[1]}>",
            agent=by.agent if by.agent != "global" else None, session=by.session or None, type=TYPES.get(name),
        )  # fmt: skip
        write.add(store, by, record)
        done.append(f"{kind} {id[-8:]} of commit {commit.oid[:10]}")
    return done


def _resolve(store: Store, who: Writer, commit: Commit, find: Callable[[str], str], tree: WorkTree, wanted: str, subject: str) -> list[str]:
    try:
        record = store.get(find(wanted)).record
        changed = tree.changes(f"{commit.oid}^", tree.files_of(commit.oid))
        total = f"{len(changed)} file{'' if len(changed) == 1 else 's'}, +{sum(a for _, a, _ in changed)} −{sum(r for _, _, r in changed)}"
        fix = {"files": [path for path, _, _ in changed][:20], **({"stat": total} if changed else {})}
        change = lifecycle.resolve(store, who, record, commit.oid, subject, fix)
    except UserError as error:
        return [f"commit {commit.oid[:10]}: {error}"]
    return [f"gotcha {record.id[-8:]} resolved by commit {commit.oid[:10]}"] if change.written.commit else []
