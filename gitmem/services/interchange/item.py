"""What other tools' stores hold, in one form, before it becomes a record."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple


@dataclass(frozen=True, slots=True)
class ForeignItem:
    """One thing that another tool remembers.

    `source_id` names it in its store, and `links` and `supersedes` name others there in the same
    way. Times are RFC 3339 in UTC, "" where the store has none. `is_agents` is whether a tool or an
    agent wrote it. `path` is the file that holds nothing else, from the root of the work tree.
    `files` are paths of the code, absolute or from the root. `fields` are further fields of the
    record; `extra` is what no field has room for, kept as it is. `place` is where the entry is in a
    source of many files, for the way back. `id` is the record's own id in what git mem exported.
    `commit` is the commit of this repository that says it, `commit_author` who else than this user
    wrote it there.
    """

    format: str
    source_id: str
    title: str
    kind: str = "memory"
    type: str = "fact"
    body: str = ""
    created: str = ""
    updated: str = ""
    author: str = ""
    is_agents: bool = True
    agent: str = ""
    session: str = ""
    tags: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()
    status: str = "active"
    done: str = ""  # when a task was done
    expires: str = ""
    path: str = ""
    place: str = ""
    id: str = ""
    commit: str = ""
    commit_author: str = ""
    fields: Mapping[str, Any] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)


class Unmapped(NamedTuple):
    """What could not be taken over: a file or an entry, and why."""

    place: str
    reason: str


@dataclass(slots=True)
class ForeignSource:
    """A store of another tool: its format, its file or folder, and what was not taken over.

    `projects` are the names that this project may have there; without one all are taken.
    """

    format: str
    path: str
    root: str = ""
    projects: frozenset[str] = frozenset()
    unmapped: list[Unmapped] = field(default_factory=list)

    def leave_out(self, place: str, reason: str) -> None:
        """Note what is not taken over."""
        self.unmapped.append(Unmapped(place, reason))


class Surroundings(NamedTuple):
    """Where stores of other tools may be.

    `root` is the work tree, "" without one; `projects` are the names of this project.
    """

    root: str
    home: str
    env: Mapping[str, str]
    projects: frozenset[str]

    def below_root(self, *names: str) -> list[str]:
        """Return paths of the work tree, of names with `/` in them; none without a work tree."""
        return [os.path.join(self.root, *name.split("/")) for name in names if self.root]


class ForeignFormat(NamedTuple):
    """How one format is found and read.

    `places` yields where a store of it would be, the first that exists is meant. `fits` says
    whether a path holds this format. `is_for_all` is whether its usual place is one for all
    projects, and names none.
    """

    name: str
    title: str
    places: Callable[[Surroundings], Sequence[str]]
    fits: Callable[[str], bool]
    read: Callable[[ForeignSource], Iterator[ForeignItem]]
    is_for_all: bool = False
