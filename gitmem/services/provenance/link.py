"""Find out which sessions made a commit.

The evidence is the command that made it, the lines that edits wrote, and what it was rewritten
from.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gitmem.clock import seconds
from gitmem.git.added_lines import Added, added, contents
from gitmem.git.code_history import CodeHistory
from gitmem.git.commit_log import CodeCommit
from gitmem.repo.location import storable
from gitmem.services.provenance.alignment import agreed
from gitmem.services.provenance.attribute import AttributedLines, Version, attribute, by_session
from gitmem.services.provenance.own_lines import OwnLines
from gitmem.services.session_log.reader import content, event, facts
from gitmem.state import edits, links, sessions
from gitmem.state.database import State
from gitmem.state.links import AI, COMMITTED, TOOK_PART, WROTE, Link
from gitmem.text.line_marks import BLANK, mark, marks, squeezed

# seconds that an edit may have waited for its commit; histories and edits go after 30 days
KEPT = 45 * 86400.0
# seconds that a command may go on after it has made a commit: one that has its subject, another one
LATE, SOON = 300.0, 5.0
EARLY = 1.0  # git's times are whole seconds
_PROGRAM = re.compile(r"\b(?:git|gh|hub|jj|stg|sl)\b")
_ACTION = re.compile(r"\b(?:commit|merge|rebase|cherry-pick|revert|am|pull|amend|squash)\b")
_MESSAGE = re.compile(r"""\s-\w*m\s*(['"])(.+?)\1""", re.DOTALL)
_TRAILER = re.compile(r"(?m)^Gitmem-Session: (\S{1,200})$")
Row = Mapping[str, Any]


@dataclass
class Linker:
    """Links commits to sessions.

    `rows` gives a session's history, `of_user` those of some commits that this user authored and
    committed, `of_others` those that somebody else wrote and this user took over, `hides` says
    which files are not to be told of.

    `noted` is {commit: session} as git's hook has it, `rewritten` {new commit: old ones} as git
    says after an amend or a rebase.
    """

    history: CodeHistory
    state: State
    rows: Callable[[sessions.Session], Iterable[Row]]
    of_user: Callable[[Iterable[str]], set[str]]
    of_others: Callable[[Iterable[CodeCommit]], set[str]]
    hides: Callable[[str], bool] = lambda _: False
    noted: Mapping[str, str] = field(default_factory=dict)
    rewritten: Mapping[str, Sequence[str]] = field(default_factory=dict)
    _models: dict[str, str] = field(default_factory=dict)
    _ran: dict[str, list[tuple[float, str]]] = field(default_factory=dict)
    _patches: Mapping[str, str] = field(default_factory=dict)
    _own: dict[int, list[int]] = field(default_factory=dict)
    _changed: frozenset[int] = frozenset()
    _trusted: frozenset[str] = frozenset()  # commits whose trailers count
    # commits whose author is neither this user nor who committed them
    _taken_over: frozenset[str] = frozenset()

    def link(self, commits: Sequence[CodeCommit]) -> dict[str, list[Link]]:
        """Find out who made commits, the oldest first, and keep it.

        Return {commit: its links} of those that are known to be a session's.
        """
        some = sessions.some(self.state)
        times = [commit.at for commit in commits]
        seen = edits.last(self.state)
        written = self._edits(min(times), max(times)) if times else []
        self._patches = self.history.patch_ids([commit.oid for commit in commits])
        self._trusted = self._whose_trailers_count(commits)
        self._taken_over = frozenset(self.of_others(commits))
        out: dict[str, list[Link]] = {}
        for commit in commits:
            if carried := self._of(commit, some, written):
                links.put(self.state, commit.oid, carried, self._patches.get(commit.oid, ""), seen)
                out[commit.oid] = carried
        return out

    def guess(
        self, commits: Sequence[CodeCommit], paths: Mapping[str, Sequence[str]]
    ) -> dict[str, list[Link]]:
        """Return who made commits that were not looked at yet, by id, as far as some files tell.

        `paths` are the files of each, by its id. Nothing is kept.
        """
        some = sessions.some(self.state)
        # git's blame tells no trailers
        whole = self.history.commits([commit.oid for commit in commits])
        commits = [whole.get(commit.oid, commit) for commit in commits]
        self._trusted = self._whose_trailers_count(commits)
        has_edits = edits.last(self.state) > 0
        self._taken_over = frozenset(self.of_others(commits) if has_edits else ())
        out = {}
        for commit in commits:
            written = self._edits(commit.at, commit.at)
            out[commit.oid] = self._of(commit, some, written, paths[commit.oid], keep=False)
        return out

    def of_work(
        self, path: str, data: bytes, lines: Iterable[int], head: str
    ) -> dict[str, dict[str, list[list[float]]]]:
        """Return whose lines (from 0) of a file are that is not committed: {session: its files}.

        `head` is the commit below.
        """
        version = Version(storable(path), storable(path), data, frozenset(lines))
        wanted = {version.marks[line] for line in version.added if line < len(version.marks)} - {
            BLANK
        }
        if not wanted:
            return {}
        written = edits.that_wrote(self.state, frozenset(wanted), [version.path])
        own = OwnLines(self._held(head, 0.0) if head else {}, self._own)
        return by_session(
            attribute([version], written, own, lambda other: self._marks_of(other, ""))
        )

    def _edits(self, first: float, last: float) -> list[edits.Edit]:
        """Return the edits that commits between two times may hold."""
        session_edits = edits.some(self.state, None, first - KEPT, last + EARLY)
        self._changed = frozenset(
            mark for edit in session_edits for mark in edit.written if mark != BLANK
        )
        return session_edits

    def _of(
        self,
        commit: CodeCommit,
        some: Sequence[sessions.Session],
        written: Sequence[edits.Edit],
        paths: Sequence[str] = (),
        *,
        keep: bool = True,
    ) -> list[Link]:
        before = self._before(commit) if keep else []
        maker = self._maker(commit, some, before)
        near = [edit for edit in written if commit.at - KEPT <= edit.at <= commit.at + EARLY]
        if commit.oid in self._taken_over and not maker:
            # a patch that was picked or applied is its author's, whatever a session wrote meanwhile
            near = []
        if not (near or maker or before):
            return []
        versions = self._versions(commit, near, before, paths)
        own = OwnLines(self._held(commit.oid, commit.at - KEPT) if near else {}, self._own)
        parts = attribute(versions, near, own, lambda path: self._marks_of(path, commit.oid))
        carried = self._carried(versions, parts, before)
        return self._links(commit, parts, maker, before, carried, versions)

    def _versions(
        self,
        commit: CodeCommit,
        near: Sequence[edits.Edit],
        before: Sequence[Link],
        paths: Sequence[str],
    ) -> list[Version]:
        """Return the files of a commit that may have lines of sessions, with what it added."""
        if len(commit.parents) > 1:
            return []  # the lines of a merge are those of its parents
        names = {edit.path for edit in near} | {path for link in before for path in link.files}
        wanted: list[Added] = []
        for file in added(self.history, commit.oid, paths):
            if self.hides(file.path):
                continue
            if {storable(file.path), storable(file.old)} & names or self._has_changed(file):
                wanted.append(file)
        texts = contents(self.history, [f"{commit.oid}:{file.path}" for file in wanted])
        out = []
        for file in wanted:
            data = texts.get(f"{commit.oid}:{file.path}")
            if data is not None:
                lines = _numbers(file)
                out.append(Version(storable(file.path), storable(file.old), data, lines))
        return out

    def _has_changed(self, file: Added) -> bool:
        """Say whether a file has a line that an edit may have written elsewhere."""
        return any(mark(text) in self._changed for _, texts in file.runs for text in texts)

    def _marks_of(self, path: str, oid: str) -> list[int]:
        """Return the marks of a file as a commit has it, or the work tree."""
        data = self.history.text(path, oid)
        return marks(squeezed(data)) if data is not None else []

    def _carried(
        self, versions: Sequence[Version], parts: Sequence[AttributedLines], before: Sequence[Link]
    ) -> dict[str, dict[str, list[list[float | int]]]]:
        """Return the sessions' lines that a commit still has from what it was rewritten from.

        These outlive the edits, which are forgotten after a while.
        """
        taken = {(part.path, line) for part in parts for line in range(part.first, part.last + 1)}
        out: dict[str, dict[str, list[list[float | int]]]] = {}
        for link in before:
            for version in versions if link.kind == AI else ():
                for name in dict.fromkeys((version.path, version.old)):
                    for line, at in self._moved_on(version, link, name):
                        if (version.path, line) not in taken:
                            taken.add((version.path, line))
                            out.setdefault(link.session, {}).setdefault(version.path, []).append(
                                [line, line, at]
                            )
        return out

    def _moved_on(self, version: Version, link: Link, name: str) -> list[tuple[int, float]]:
        """Return (line, when) of the lines of a link that a version still has."""
        spans = link.files.get(name)
        data = self.history.text(name, link.oid) if spans else None
        if not spans or data is None:
            return []
        when = {
            line - 1: float(at)
            for first, last, at, *_ in spans
            for line in range(int(first), int(last) + 1)
        }
        pairs = agreed(marks(squeezed(data)), version.marks, when.keys())
        lines = sorted((pairs[line], at) for line, at in when.items() if line in pairs)
        return [(line + 1, at) for line, at in lines if line in version.added]

    def _before(self, commit: CodeCommit) -> list[Link]:
        """Return the links of what a commit was rewritten from.

        Git reports these commits; else the links are those of a commit with the same change.
        """
        olds = self.rewritten.get(commit.oid, ())
        earlier = [link for some in links.of(self.state, olds).values() for link in some]
        if not earlier and links.has_links(self.state) and (patch := self._patches.get(commit.oid)):
            earlier = links.same_patch(self.state, patch)
        return earlier

    def _maker(
        self, commit: CodeCommit, some: Sequence[sessions.Session], before: Sequence[Link]
    ) -> str:
        """Return the session whose command made a commit, '' when none is known to have."""
        if old := next((link.session for link in before if link.how == COMMITTED), ""):
            return old  # whoever rewrites a commit has not made it
        if noted := self.noted.get(commit.oid):
            return noted
        named = set(_TRAILER.findall(commit.body)) if commit.oid in self._trusted else set()
        if len(named) == 1:
            return str(named.pop())
        best, nearest = "", LATE
        for session in some:
            if session.started - EARLY <= commit.at <= session.last + EARLY:
                for at, command in self._commands(session):
                    if 0 <= at - commit.at < nearest and _made(
                        command, commit.subject, at - commit.at
                    ):
                        best, nearest = session.id, at - commit.at
        return best

    def _whose_trailers_count(self, commits: Iterable[CodeCommit]) -> frozenset[str]:
        """Return the commits of this user that have a trailer.

        Those of others do not count, because anybody can write the name of a session into a
        trailer.
        """
        named = [commit.oid for commit in commits if _TRAILER.search(commit.body)]
        return frozenset(self.of_user(named)) if named else frozenset()

    def _commands(self, session: sessions.Session) -> list[tuple[float, str]]:
        """Return (when it ended, command) of what a session ran that may have made a commit."""
        if session.id not in self._ran:
            rows = (
                row
                for row in self.rows(session)
                if event(row) in {"AfterTool", "ToolFailed"}
                and facts(row).get("action") in {None, "command"}
            )
            self._ran[session.id] = [
                (_time(row), content(row)) for row in rows if _may_commit(content(row))
            ]
        return self._ran[session.id]

    def _held(self, oid: str, since: float) -> dict[int, set[int]]:
        """Return {edit: its lines} that a commit's ancestors have."""
        holders = links.held(self.state, since)
        holders.pop(oid, None)
        apart = self.history.not_below(holders, oid) if holders else set()
        out: dict[int, set[int]] = {}
        for holder, some in holders.items():
            for number, places in some.items() if holder not in apart else ():
                out.setdefault(number, set()).update(places)
        return out

    def _links(
        self,
        commit: CodeCommit,
        parts: Sequence[AttributedLines],
        maker: str,
        before: Sequence[Link],
        carried: Mapping[str, Mapping[str, list[list[float | int]]]],
        versions: Sequence[Version],
    ) -> list[Link]:
        spans = by_session(parts)
        for session, files in carried.items():
            for path, rows in files.items():
                lines = spans.setdefault(session, {}).setdefault(path, [])
                lines[:] = sorted([*lines, *rows])
        _number(spans, versions)
        old = {link.session: link for link in before if link.kind == AI}
        names = list(dict.fromkeys([*([maker] if maker else []), *spans, *old]))
        out = []
        for session in names:
            agent, model = self._who(session, old.get(session))
            out.append(
                Link(
                    commit.oid,
                    session,
                    agent,
                    model,
                    COMMITTED if session == maker else WROTE if session in spans else TOOK_PART,
                    float(commit.at),
                    spans.get(session, {}),
                    _places(parts, session),
                )
            )
        return [*out, *self._imported(commit, names)]

    def _who(self, id: str, earlier: Link | None) -> tuple[str, str]:
        """Return the agent and the model of a session, else those that were noted earlier."""
        session = sessions.get(self.state, id)
        before = (earlier.agent, earlier.model) if earlier else ("", "")
        return (session.agent or before[0], self._model(session)) if session else before

    def _imported(self, commit: CodeCommit, names: Sequence[str]) -> list[Link]:
        """Return what other tools said of a commit before."""
        some = links.of(self.state, [commit.oid]).get(commit.oid, ())
        return [
            link for link in some if link.session not in names and link.files and not link.edits
        ]

    def _model(self, session: sessions.Session) -> str:
        """Return the model that a session's history names last."""
        if session.id not in self._models:
            model = ""
            for row in self.rows(session):
                state = row.get("state")
                model = str(state.get("model") or model) if isinstance(state, dict) else model
            self._models[session.id] = model
        return self._models[session.id]


def _number(
    spans: Mapping[str, Mapping[str, list[list[float | int]]]], versions: Sequence[Version]
) -> None:
    """Add to each span which of the lines that the commit added its first one is, from 1."""
    lines = {version.path: sorted(version.added) for version in versions}
    for files in spans.values():
        for path, rows in files.items():
            for row in rows:
                row.append(bisect_left(lines[path], row[0] - 1) + 1)


def _may_commit(command: str) -> bool:
    """Say whether a command names a program that makes commits, and behind it what makes one."""
    program = _PROGRAM.search(command)
    return program is not None and _ACTION.search(command, program.end()) is not None


def _numbers(file: Added) -> frozenset[int]:
    """Return the lines, from 0, that a commit added to a file."""
    return frozenset(first - 1 + n for first, texts in file.runs for n in range(len(texts)))


def _made(command: str, subject: str, after: float) -> bool:
    """Return whether a command that ended so many seconds after a commit made it.

    It did if it has the subject of the commit, or no message of its own.
    """
    if not _may_commit(command):
        return False
    if subject and subject in command:
        return True
    return after < SOON and not any("$" not in match[2] for match in _MESSAGE.finditer(command))


def _time(row: Row) -> float:
    try:
        return seconds(str(row.get("timestamp") or ""))
    except ValueError:
        return 0.0


def _places(parts: Sequence[AttributedLines], session: str) -> list[tuple[int, list[int]]]:
    """Return (edit, its places) of the edits of a session, in their order."""
    places: dict[int, list[int]] = {}
    for part in parts:
        if part.session == session:
            places.setdefault(part.edit, []).extend(part.places)
    return sorted(places.items())
