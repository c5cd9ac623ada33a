"""Whose commits are, as far as that is known already: no text is compared for it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gitmem.errors import GitmemError
from gitmem.git.code_history import CodeHistory
from gitmem.index.reader import Index
from gitmem.repo.location import storable
from gitmem.state import links
from gitmem.state.database import State
from gitmem.state.links import HUMAN, Link

if TYPE_CHECKING:
    from gitmem.records.record import Record
    from gitmem.services.provenance.link import Linker
    from gitmem.services.provenance.shared import CommitFacts

Row = Mapping[str, Any]


@dataclass
class ProvenanceSources:
    """What is asked: git, the working state, the indexes.

    `record` reads a session's record by its id, `linker` makes what guesses whose a commit is.
    """

    history: CodeHistory
    state: State
    linker: "Callable[[], Linker]"
    indexes: Sequence[tuple[str, Index]]
    record: "Callable[[str], Record]"
    rows: Callable[[str], Iterable[Row]]  # of a session's history


def recorded_links(
    sources: ProvenanceSources, oids: Sequence[str], *, patches: bool = True
) -> dict[str, list[Link]]:
    """Return what is known of commits: on this machine, else by session records.

    With `patches` by those of the same change under another id, which git has to be asked for.
    """
    out = links.of(sources.state, oids) if links.has_links(sources.state) else {}
    rest = [oid for oid in oids if oid not in out]
    if not rest or not any(index.has_commits() for _, index in sources.indexes):
        return out
    ids = sources.history.patch_ids(rest) if patches else {}
    for facts in _recorded(sources, rest, sorted(set(ids.values()))):
        for oid in rest:
            if facts.link.oid == oid or (facts.patch and ids.get(oid) == facts.patch):
                _add_link(sources.history, out.setdefault(oid, []), oid, facts)
    return out


def _recorded(
    sources: ProvenanceSources, oids: Sequence[str], patches: Sequence[str]
) -> "Iterator[CommitFacts]":
    """Yield what session records say that name one of these commits or patches."""
    for _, index in sources.indexes:
        for row in index.by_commits(oids, patches):
            try:
                record = sources.record(row["id"])
            except GitmemError:
                continue  # the index is ahead of, or behind, what is there
            from gitmem.services.provenance import shared

            yield from shared.links(record)


def _add_link(
    history: CodeHistory, commit_links: list[Link], oid: str, facts: "CommitFacts"
) -> None:
    """Add what a record says of a commit, unless the session has a link to it."""
    if any(link.session == facts.link.session for link in commit_links):
        return
    from gitmem.services.provenance import shared

    is_same = facts.link.oid == oid
    files = facts.link.files if is_same else shared.placed(history, oid, facts.added)
    commit_links.append(facts.link._replace(oid=oid, files=files))


def writers(candidates: Iterable[Link], path: str, lines: Sequence[int] | None) -> list[Link]:
    """Return the links of those who wrote lines of a file in a commit: some of these, or any."""
    name = storable(path)
    out = []
    for link in candidates:
        spans = link.files.get(name, ())
        if link.kind == HUMAN or not spans:
            continue
        if lines is None or _has_any(link, name, lines):
            out.append(link)
    return out


def _has_any(link: Link, name: str, lines: Sequence[int]) -> bool:
    from gitmem.services.provenance.attribute import owner  # most files have no links

    return any(owner(link.files, name, line) is not None for line in lines)
