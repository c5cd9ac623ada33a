"""Trailers of a commit's message that become records, and gotchas that the commit resolves.

    Decision: Use SERIALIZABLE for payments
    Gotcha: sleep blocks the only worker
    Resolves-Gotcha: sdqn310z

Only what this repository's own user wrote and committed is learned. What others wrote is at most a
proposal.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from gitmem.errors import UnknownId, UserError
from gitmem.git.commit_messages import CommitMessage, Person, Trailer
from gitmem.git.worktree import WorkTree
from gitmem.records.claims import claims_of
from gitmem.records.items import DECISION, ERROR, PATTERN, TASK, Item
from gitmem.records.kinds import derived_id
from gitmem.records.record import Record, make
from gitmem.services.gotchas import lifecycle
from gitmem.services.records import write
from gitmem.services.records.write import Writer
from gitmem.store.layout import tombstone_path
from gitmem.store.rejected import rejected_in
from gitmem.store.store import Store

RESOLVES = "resolves-gotcha"
TYPES = {"memory": "fact", "decision": "decision", "pattern": "pattern"}
KINDS = {"memory": "fact", "decision": DECISION, "pattern": PATTERN, "gotcha": ERROR}
MOST = 20  # trailers of one commit
TITLE = 80  # characters of a gotcha's title in a proposal
LONGEST = 2000  # characters of a trailer in a proposal


class TrailerWords(NamedTuple):
    """A trailer of a commit with who wrote it."""

    commit: CommitMessage
    trailer: Trailer
    by: Person


def split(
    commits: Iterable[CommitMessage],
    own: frozenset[str],
    writer_of: Callable[[Trailer], Person | None],
) -> tuple[list[TrailerWords], list[TrailerWords]]:
    """Return the trailers that the user with these addresses wrote, and those of others."""
    mine: list[TrailerWords] = []
    others: list[TrailerWords] = []
    for commit in commits:
        for trailer in _gotcha_trailers(commit):
            if not commit.is_by(own):
                others.append(TrailerWords(commit, trailer, _stranger(commit, own)))
            elif writer := writer_of(trailer):
                others.append(TrailerWords(commit, trailer, writer))
            else:
                mine.append(TrailerWords(commit, trailer, commit.author))
    return mine, others


def _gotcha_trailers(commit: CommitMessage) -> list[Trailer]:
    """Return the trailers of a commit that mean something here, and that say something."""
    names = {*KINDS, RESOLVES}
    return [trailer for trailer in commit.trailers if trailer.name in names and trailer.value][
        :MOST
    ]


def _stranger(commit: CommitMessage, own: frozenset[str]) -> Person:
    """Return the person to name for a commit that is not the user's own.

    This is its author, else its committer.
    """
    by_user = CommitMessage(commit.oid, commit.author, commit.author, "", ()).is_by(own)
    return commit.committer if by_user else commit.author


def learn(
    store: Store,
    who: Writer,
    words: TrailerWords,
    find: Callable[[str], str],
    tree: WorkTree,
    *,
    is_agents: bool,
) -> list[str]:
    """Write what a trailer says; return what was done.

    What an agent's commit says (`is_agents`) waits for a person to confirm it. The same words
    twice, as after an amend, make one record.
    """
    commit, trailer, _ = words
    if trailer.name == RESOLVES:
        return _resolve(store, who, words, find, tree)
    record = _record(who, words, "agent" if is_agents else None)
    try:
        store.get(record.id)
    except UnknownId:
        is_forgotten = store.read_file(tombstone_path(record.id)) is not None
        if is_forgotten or rejected_in(store.objects).find_any(claims_of(record)):
            return []  # somebody forgot it on purpose
        write.add(store, who, record)
        return [f"{record.kind} {record.id[-8:]} of commit {commit.oid[:10]}"]
    return []


def _record(by: Writer, words: TrailerWords, origin: str | None) -> Record:
    commit, trailer, _ = words
    kind = "gotcha" if trailer.name == "gotcha" else "memory"
    now = by.clock.stamp()
    return make(
        kind,
        derived_id("got" if kind == "gotcha" else "mem", f"trailer {trailer.name} {trailer.value}"),
        trailer.value,
        f"From commit {commit.oid[:12]}: {commit.subject}",
        created=now,
        updated=now,
        rev=1,
        author=by.person,
        agent=by.agent if by.agent != "global" else None,
        session=by.session or None,
        origin=origin,
        type=TYPES.get(trailer.name),
    )


def _resolve(
    store: Store, who: Writer, words: TrailerWords, find: Callable[[str], str], tree: WorkTree
) -> list[str]:
    commit = words.commit
    try:
        record = store.get(find(_named(words.trailer))).record
        fix = _fix(tree, commit.oid)
        change = lifecycle.resolve(store, who, record, commit.oid, commit.subject, fix)
    except UserError as error:
        return [f"commit {commit.oid[:10]}: {error}"]
    if not change.written.commit:
        return []
    return [f"gotcha {record.id[-8:]} resolved by commit {commit.oid[:10]}"]


def _fix(tree: WorkTree, oid: str) -> dict[str, object]:
    """Return what a commit changed, as the fix of a gotcha."""
    changed = tree.changes(f"{oid}^", tree.files_of(oid))
    fix: dict[str, object] = {"files": [path for path, _, _ in changed][:20]}
    if changed:
        added = sum(lines for _, lines, _ in changed)
        removed = sum(lines for _, _, lines in changed)
        files = "1 file" if len(changed) == 1 else f"{len(changed)} files"
        fix["stat"] = f"{files}, +{added} −{removed}"
    return fix


def _named(trailer: Trailer) -> str:
    """Return the id that a trailer names."""
    return trailer.value.strip().strip(",.")


def source(words: TrailerWords) -> str:
    """Return where the words of somebody else are from."""
    return f"commit {words.commit.oid[:12]} by {words.by}"


def proposal(words: TrailerWords, open_gotcha: Callable[[str], Record | None]) -> Item | None:
    """Return the words of somebody else as an item for the inbox.

    None when they ask for nothing.
    """
    trailer = words.trailer
    if trailer.name != RESOLVES:
        said = trailer.value
        said = said if len(said) <= LONGEST else f"{said[: LONGEST - 1].rstrip()}…"
        return Item(KINDS[trailer.name], said, role="", marked=True)
    gotcha = open_gotcha(_named(trailer))
    if gotcha is None:
        return None
    said = f"Check whether a commit by {words.by} resolves the gotcha: {gotcha.title[:TITLE]}"
    return Item(TASK, said, f"git mem gotcha resolve {gotcha.id[-8:]}", marked=True)


def by_source(others: Sequence[TrailerWords]) -> dict[tuple[str, Person], list[TrailerWords]]:
    """Return the words of others by the commit and the person that they are from."""
    out: dict[tuple[str, Person], list[TrailerWords]] = {}
    for words in others:
        out.setdefault((words.commit.oid, words.by), []).append(words)
    return out
