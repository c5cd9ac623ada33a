"""The plan for the way from the store into agents' memory files.

It says which files and which records are concerned, and which bytes result. This module only
decides and writes nothing.
"""

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from gitmem.errors import UserError
from gitmem.records.score import Score
from gitmem.repo.location import inside, storable
from gitmem.services.memory_files import managed_block
from gitmem.services.memory_files.discover import BYTES, LINES, MEMORY, READER, Finder, MemoryFiles
from gitmem.services.memory_files.pull import ImportedRecord
from gitmem.services.memory_files.record_line import Clean, Row, entry_of, ranked, text_of
from gitmem.services.memory_files.statements import same_words

EVERY = ("shared", "private", "user")
NAMES = {"claude": "", "gemini": "GEMINI.md", "agents": "AGENTS.md"}
AGENT = "agent:"
HINT = (
    "Name claude, gemini, agents, agent:NAME, or a CLAUDE.md, CLAUDE.local.md, GEMINI.md, "
    "AGENTS.md or MEMORY.md of this repository."
)


@dataclass(frozen=True, slots=True)
class PushTarget:
    """A file that gets a block.

    It says whose the file is, which stores and namespaces it may show, and what its limits are (0:
    none).

    `held`: nobody named it, it has a block already. `tracked`: git tracks it, so that its block may
    be another clone's.
    """

    path: str
    name: str
    reader: str
    agent: str = ""
    scopes: tuple[str, ...] = ("shared",)
    lines: int = 0
    bytes: int = 0
    held: bool = False
    tracked: bool = False


@dataclass(frozen=True, slots=True)
class Push:
    """The result of a push for one file.

    `what` is written, same, removed, empty (nothing to write), full (no room for a line) or
    foreign.

    A foreign one is left as it is: it has records that the store never had (`unknown`), or words of
    them that it never had (`reworded`).
    """

    target: PushTarget
    what: str
    before: bytes | None
    after: bytes
    records: tuple[str, ...]
    wanted: int
    notes: tuple[str, ...]
    unknown: int = 0
    reworded: int = 0

    @property
    def changes(self) -> bool:
        """Whether the file has to be written."""
        return self.what in {"written", "removed"} or (
            self.what == "full" and self.before is not None and self.after != self.before
        )


def targets(
    finder: Finder,
    files: MemoryFiles,
    to: Sequence[str],
    ignored: Mapping[str, bool],
    *,
    held: bool = False,
    asked: bool = True,
) -> list[PushTarget]:
    """Return the files to write: those that are named, else the default ones.

    The default is Claude Code's auto memory and the agents' memory files that git does not track.

    With `held`, and no names, those too that have a block, which would go stale or is to be taken
    out; of the files that git tracks only when somebody `asked`: a work tree that changes by itself
    stops a checkout, a rebase, a bisect. `ignored` tells of files of the work tree whether git
    ignores them: only there, and outside, stands what is private. Raises UserError for a name that
    stands for none.
    """
    if to:
        out = [_named(finder, name, ignored) for name in to]
    else:
        out = _default_targets(finder, files, ignored)
        if held:
            out += _held_targets(finder, files, ignored, asked=asked)
    # more than one, where links lead to the file
    readers = {os.path.realpath(memo.path): memo.reader for memo in files.memos}
    whole = [
        replace(target, reader=readers.get(os.path.realpath(target.path), target.reader))
        for target in out
    ]
    return list({os.path.realpath(target.path): target for target in reversed(whole)}.values())[
        ::-1
    ]


def _default_targets(
    finder: Finder, files: MemoryFiles, ignored: Mapping[str, bool]
) -> list[PushTarget]:
    # nobody who uses no Claude Code gets a folder of it
    out = [_auto(finder)] if os.path.isdir(finder.claude) else []
    out += [
        _of(finder, memo.path, memo.agent, ignored)
        for memo in files.memos
        if memo.limited and memo.agent and not memo.tracked
    ]
    return out


def _held_targets(
    finder: Finder, files: MemoryFiles, ignored: Mapping[str, bool], *, asked: bool
) -> list[PushTarget]:
    """Return the files that have a block."""
    return [
        replace(_of(finder, memo.path, memo.agent, ignored), held=True, tracked=memo.tracked)
        for memo in files.memos
        if memo.within and (asked or not memo.tracked) and has_block(memo.data)
    ]


def _reordered(before: str, after: str) -> bool:
    """Return whether two texts have one block each with the same lines in another order.

    The blocks contain nothing else.
    """
    both = [managed_block.find(text.replace("\r\n", "\n").split("\n")) for text in (before, after)]
    if any(
        len(blocks) != 1 or not blocks[0].whole or blocks[0].added or blocks[0].loose
        for blocks in both
    ):
        return False
    (first,), (second,) = both
    rows = [
        sorted((line.short, line.text, line.check) for line in each.lines)
        for each in (first, second)
    ]
    return rows[0] == rows[1] and first.said == second.said == len(rows[0])


@dataclass(frozen=True, slots=True)
class Behind:
    """How far a block is behind the store: records to write, to take out, to word anew.

    Zeros for one whose lines stand in another order alone.
    """

    new: int
    gone: int
    changed: int


def behind(push: Push) -> Behind | None:
    """Return how far the block of a file is behind what a push would write.

    None when it is in step.
    """
    if not push.changes:
        return None
    before, after = (_lines(data) for data in (push.before or b"", push.after))
    changed = sum(before[id] != after[id] for id in before.keys() & after.keys())
    return Behind(len(after.keys() - before.keys()), len(before.keys() - after.keys()), changed)


def ids_in(data: bytes) -> set[str]:
    """Return the short ids of the records in the blocks of a file."""
    return set(_lines(data))


def texts_in(data: bytes) -> dict[str, str]:
    """Return the texts of records in a file's blocks, by short id, as git mem wrote them.

    Lines that somebody edited are left out.
    """
    return {line.short: line.text for line in _block_lines(data) if not line.edited}


def _lines(data: bytes) -> dict[str, str]:
    return {line.short: line.text for line in _block_lines(data)}


def _block_lines(data: bytes) -> list[managed_block.BlockLine]:
    lines = data.decode("utf-8", "surrogateescape").replace("\r\n", "\n").split("\n")
    return [line for block in managed_block.find(lines) for line in block.lines]


def has_block(data: bytes) -> bool:
    """Say whether a block of ours is in a file."""
    return bool(managed_block.find(data.decode("utf-8", "surrogateescape").split("\n")))


def _auto(finder: Finder) -> PushTarget:
    path = os.path.join(finder.auto_folder(), MEMORY)
    return PushTarget(path, finder.name_of(path), "claude", "", EVERY, LINES, BYTES)


def _named(finder: Finder, name: str, ignored: Mapping[str, bool]) -> PushTarget:
    if name == "claude":
        return _auto(finder)
    if name in NAMES:
        return _of(finder, os.path.join(finder.root, NAMES[name]), "", ignored)
    if name.startswith(AGENT):
        agent = name[len(AGENT) :]
        if not agent or not agent.replace("-", "").replace("_", "").isalnum():
            raise UserError(
                f"'{agent}' is not a name of an agent.",
                "It has letters, digits, - and _, as the name of its file in .claude/agents.",
            )
        folders = [
            os.path.join(finder.root, ".claude", folder, agent)
            for folder in ("agent-memory", "agent-memory-local")
        ]
        folders.append(os.path.join(finder.claude, "agent-memory", agent))
        folder_of_agent = next(
            (folder for folder in folders if os.path.isfile(os.path.join(folder, MEMORY))),
            folders[0],
        )
        return _of(finder, os.path.join(folder_of_agent, MEMORY), agent, ignored)
    path = os.path.abspath(os.path.expanduser(name))
    if os.path.realpath(path) == os.path.realpath(os.path.join(finder.auto_folder(), MEMORY)):
        return _auto(finder)
    base = os.path.basename(path)
    agent = _agent_of(finder, path)
    if base not in READER and not agent:
        raise UserError(f"'{name}' is not a known memory file.", HINT)
    return _of(finder, path, agent, ignored)


def _agent_of(finder: Finder, path: str) -> str:
    """Return whose memory a MEMORY.md is, empty when it is not an agent's."""
    folder = os.path.dirname(os.path.abspath(path))
    homes = {
        os.path.join(finder.root, ".claude", "agent-memory"),
        os.path.join(finder.root, ".claude", "agent-memory-local"),
    }
    homes.add(os.path.join(finder.claude, "agent-memory"))
    real = os.path.join(os.path.realpath(os.path.dirname(folder)))
    return (
        os.path.basename(folder)
        if os.path.basename(path) == MEMORY and real in {os.path.realpath(h) for h in homes}
        else ""
    )


def _of(finder: Finder, path: str, agent: str, ignored: Mapping[str, bool]) -> PushTarget:
    """Return a file as a target; raises UserError for one that is elsewhere."""
    limits = (LINES, BYTES) if agent else (0, 0)
    reader = READER.get(os.path.basename(path), "claude")
    real = os.path.realpath(path)
    if agent and real.startswith(os.path.join(finder.claude, "agent-memory") + os.sep):
        return PushTarget(path, finder.name_of(path), reader, agent, ("user",), *limits)
    place = inside(path, finder.root, finder.root)
    if not place:
        raise UserError(
            f"'{storable(path)}' is not in this repository, or is a link that leads out of it.",
            HINT,
        )
    name = storable(
        os.path.relpath(
            os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path)),
            finder.root,
        )
    )
    if finder.hides(name) or finder.hides(storable(place)):
        raise UserError(
            f"{name} is named by .gitmemignore or gitmem.ignore: nothing is written into it.",
            "Take it out there, or choose another file.",
        )
    own = ignored.get(name, False)
    return PushTarget(
        path,
        name,
        reader,
        agent,
        EVERY[:2] if own and agent else EVERY if own else ("shared",),
        *limits,
    )


def paths(finder: Finder, to: Sequence[str]) -> list[str]:
    """Return the files of the work tree that names may stand for.

    The paths have the form in which git is asked whether it ignores them.
    """
    read_files = {os.path.join(finder.root, name) for name in READER} | {
        os.path.abspath(os.path.expanduser(name)) for name in to
    }
    return [
        os.path.relpath(path, finder.root)
        for path in sorted(read_files)
        if path.startswith(finder.root + os.sep)
    ]


class BlockWriter:
    """Writer of the blocks for the state of one store.

    The blocks hold records that this user wrote or `accepted`, by id.
    """

    def __init__(
        self,
        files: MemoryFiles,
        rows: Iterable[Row],
        score_of: Callable[[Row], Score],
        imported: Sequence[ImportedRecord],
        own: str,
        clean: Clean,
        accepted: Collection[str],
    ) -> None:
        self._accepted = accepted
        self._tracked = {os.path.realpath(memo.path) for memo in files.memos if memo.blamed}
        self._files = files
        self._rows = ranked(rows, score_of)
        self._own = own
        self._clean = clean
        readers = {memo.name: set(memo.reader.split("+")) for memo in files.memos}
        # by whom a record is read in a file of theirs anyway
        self._read_by: dict[str, set[str]] = {}
        for record in imported:
            name = str(record.source.get("file"))
            if record.is_live:
                self._read_by[record.record.id] = readers.get(name) or {
                    READER.get(os.path.basename(name), "claude")
                }

    def push(self, target: PushTarget, data: bytes | None, *, remove: bool = False) -> Push:
        """Return what becomes of a file that has these bytes now; None stands for no file.

        With `remove` the block goes.
        """
        text = (data or b"").decode("utf-8", "surrogateescape")
        suitable = [] if remove else self._chosen(target)
        standing = self._standing(target, data or b"")
        rows = [
            row for row in suitable if row["id"] in self._accepted or str(row["id"]) in standing
        ]
        result = managed_block.place(
            text, [entry_of(row, self._clean) for row in rows], target.lines, target.bytes
        )
        after = result.text.encode("utf-8", "surrogateescape")
        notes = list(result.notes)
        if left_out := len(suitable) - len(rows):
            notes.append(
                f"{left_out} record{'s' if left_out > 1 else ''} by others left out. To have a "
                f"record written, accept it: git mem inbox --accept ID"
            )
        had = bool(managed_block.find(text.split("\n")))
        if rows and not result.kept:
            what = "full"
            lines, size = managed_block.size(managed_block.outside(text))
            notes.append(
                f"the rest of the file has {lines} lines and {size:,} bytes. At most "
                f"{target.lines} lines and {target.bytes:,} bytes are read, so no room is left "
                f"for records"
            )
        elif not rows:
            what = "removed" if had else "empty"
        elif _reordered(text, result.text) and not target.lines:
            # no agent cares, and a file that git tracks would change with each look at a record
            what, after = "same", data or b""
        else:
            what = "same" if after == (data or b"") else "written"
        return Push(target, what, data, after, result.kept, len(rows), tuple(notes))

    def _standing(self, target: PushTarget, data: bytes) -> set[str]:
        """Return the ids of the records that a shared file already shows in their present words.

        People do not remove each other's lines.
        """
        if os.path.realpath(target.path) not in self._tracked:
            return set()
        texts = texts_in(data)
        return {
            str(row["id"])
            for row in self._rows
            if texts.get(managed_block.short(str(row["id"]))) == text_of(row, self._clean)
        }

    def _chosen(self, target: PushTarget) -> list[Row]:
        """Return the records for a file, from its stores and for its agent.

        Records that its reader has in another file are left out.
        """
        agents = {target.agent} if target.agent else {"global", self._own}
        readers = set(target.reader.split("+"))
        there = {
            same_words(s.title, "")
            for memo in self._files.memos
            if readers <= set(memo.reader.split("+"))
            and (not memo.agent or memo.agent == target.agent)
            for s in memo.page.statements
        }
        seen: set[str] = set()
        out = []
        for row in self._rows:
            id = str(row["id"])
            if (
                row["store"] not in target.scopes
                or (row["agent"] or "global") not in agents
                or id in seen
            ):
                continue
            if (
                readers <= self._read_by.get(id, set())
                or same_words(str(row["title"]), "") in there
            ):
                continue
            seen.add(id)
            out.append(row)
        return out
