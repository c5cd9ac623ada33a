"""Trailers of commit messages that state a fact: `Decision: Use SERIALIZABLE for payments`.

Git's hook reads those of new commits; here are those of commits that were made before.
"""

import os
from collections.abc import Iterable, Iterator, Sequence

from gitmem.clock import stamp
from gitmem.errors import GitmemError
from gitmem.git.commit_messages import CommitMessage, CommitMessages, Trailer, line_of
from gitmem.repo.identity import fold
from gitmem.repo.location import locate
from gitmem.services.facts.stores import UNREAD
from gitmem.services.gotchas.commit_trailers import KINDS, TYPES, TrailerWords, split
from gitmem.services.interchange.item import (
    ForeignFormat,
    ForeignItem,
    ForeignSource,
    Surroundings,
)
from gitmem.services.interchange.values import headline, joined

NAME = "commits"
MOST = 1000  # commits of HEAD that are looked at
CO_AUTHOR = "co-authored-by"


def statements(commits: Iterable[CommitMessage]) -> int:
    """Return how many trailers of commits state a fact."""
    return sum(trailer.name in KINDS for commit in commits for trailer in commit.trailers)


def trailer_items(
    messages: CommitMessages, commits: Iterable[CommitMessage], own: frozenset[str]
) -> Iterator[ForeignItem]:
    """Yield the facts that commits state, each once; `commits` are newest first.

    Of one that several state, as after a cherry-pick, the oldest commit counts. `own` are the
    addresses of this user: what was not committed here, only claims to be theirs.
    """
    oldest_first = list(commits)[::-1]
    others = messages.lines_of_others(tuple(KINDS), own)
    mine, foreign = split(
        oldest_first, own, lambda trailer: others.get(line_of(trailer)) if others else None
    )
    here = messages.made_here()
    place = {commit.oid: number for number, commit in enumerate(oldest_first)}
    rows = [(words, words.commit.oid in here) for words in mine]
    rows += [(words, False) for words in foreign]
    seen = set[str]()
    for words, is_own in sorted(rows, key=lambda row: place[row[0].commit.oid]):
        key = line_of(words.trailer)
        if words.trailer.name in KINDS and key not in seen:
            seen.add(key)
            yield _item(words, _co_author(words.commit, own) if is_own else str(words.by))


def _co_author(commit: CommitMessage, own: frozenset[str]) -> str:
    """Return who else wrote a commit of this user, as it says itself: "" for nobody."""
    named = [trailer for trailer in commit.trailers if trailer.name == CO_AUTHOR]
    return next((trailer.value for trailer in named if not _is_own(trailer, own)), "")


def _is_own(trailer: Trailer, own: frozenset[str]) -> bool:
    return fold(trailer.value.rpartition("<")[2].rstrip(">")) in own


def _item(words: TrailerWords, other: str) -> ForeignItem:
    """Return a statement as an item; `other` is who else wrote it, "" for this user alone.

    What others say in commits is for the inbox, and no agent is told of it.
    """
    commit, trailer, _ = words
    title, rest = headline(trailer.value)
    at = stamp(commit.written) if commit.written is not None else ""
    return ForeignItem(
        NAME,
        f"{trailer.name}: {trailer.value}",
        title,
        kind="gotcha" if trailer.name == "gotcha" else "memory",
        type=TYPES.get(trailer.name, "fact"),
        body=joined(rest, f"From commit {commit.oid[:12]}: {commit.subject}"),
        created=at,
        updated=at,
        is_agents=False,
        agent=UNREAD if other else "",
        commit=commit.oid[:12],
        commit_author=other,
    )


def _places(here: Surroundings) -> Sequence[str]:
    if not here.root:
        return []
    try:
        commits = CommitMessages(locate(here.root, {}), here.env).latest(MOST)
    except GitmemError:
        return []
    return [here.root] if statements(commits) else []


def _fits(path: str) -> bool:
    return os.path.exists(os.path.join(path, ".git"))


def _read(_: ForeignSource) -> Iterator[ForeignItem]:
    return iter(())  # git is asked in the repository that is open: `trailer_items`


FORMAT = ForeignFormat(NAME, "decisions in commit messages", _places, _fits, _read)
