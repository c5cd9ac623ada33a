"""Find out which sessions made a commit: by the command that made it, by the lines that edits wrote, by what it was rewritten from."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gitmem.clock import seconds
from gitmem.git.added_lines import Added, added
from gitmem.git.code_history import CodeHistory
from gitmem.git.commit_log import CodeCommit
from gitmem.repo.location import storable
from gitmem.services.provenance.attribute import Part, attribute, by_session
from gitmem.services.session_log.reader import content, event, facts
from gitmem.state import edits, links, sessions
from gitmem.state.database import State
from gitmem.state.links import COMMITTED, EDITED, WROTE, Link
from gitmem.text.line_marks import mark

KEPT = 45 * 86400.0  # seconds that an edit may have waited for its commit; histories and edits go after 30 days
LATE, SOON = 300.0, 5.0  # seconds that a command may go on after it has made a commit: one that has its subject, another one
EARLY = 1.0  # git's times are whole seconds
_PROGRAM = re.compile(r"\b(?:git|gh|hub|jj|stg|sl)\b")
_ACTION = re.compile(r"\b(?:commit|merge|rebase|cherry-pick|revert|am|pull|amend|squash)\b")
_MESSAGE = re.compile(r"""\s-\w*m\s*(['"])(.+?)\1""", re.DOTALL)
_TRAILER = re.compile(r"(?m)^Gitmem-Session: (\S{1,200})$")
Row = Mapping[str, Any]


@dataclass
class Linker:
    """Links commits to sessions. `rows` gives a session's history, `hides` says which files are not to be told of.

    `noted` is {commit: session} as git's hook has it, `rewritten` {new commit: old ones} as git says after an amend or a rebase.
    """

    history: CodeHistory
    state: State
    rows: Callable[[sessions.Session], Iterable[Row]]
    hides: Callable[[str], bool] = lambda _: False
    noted: Mapping[str, str] = field(default_factory=dict)
    rewritten: Mapping[str, Sequence[str]] = field(default_factory=dict)
    _models: dict[str, str] = field(default_factory=dict)
    _ran: dict[str, list[tuple[float, str]]] = field(default_factory=dict)
    _patches: Mapping[str, str] = field(default_factory=dict)

    def link(self, commits: Sequence[CodeCommit]) -> dict[str, list[Link]]:
        """Find out who made commits, the oldest first, and keep it; return {commit: its links} of those that are known to be a session's."""
        some = sessions.some(self.state)
        times = [commit.at for commit in commits]
        written = edits.some(self.state, None, min(times) - KEPT, max(times) + EARLY) if times else []
        self._patches = self.history.patch_ids([commit.oid for commit in commits])
        out: dict[str, list[Link]] = {}
        for commit in commits:
            if found := self._of(commit, some, written):
                links.put(self.state, commit.oid, found, self._patches.get(commit.oid, ""))
                out[commit.oid] = found
        return out

    def guess(self, commit: CodeCommit, paths: Sequence[str]) -> list[Link]:
        """Return who made a commit that was not looked at yet, as far as some of its files tell; nothing is kept."""
        commit = self.history.commits([commit.oid]).get(commit.oid, commit)  # git's blame tells no trailers
        written = edits.some(self.state, None, commit.at - KEPT, commit.at + EARLY)
        return self._of(commit, sessions.some(self.state), written, paths, keep=False)

    def _of(
        self, commit: CodeCommit, some: Sequence[sessions.Session], written: Sequence[edits.Edit], paths: Sequence[str] = (), *, keep: bool = True
    ) -> list[Link]:  # fmt: skip
        before = self._before(commit) if keep else []
        maker = self._maker(commit, some, before)
        near = [one for one in written if commit.at - KEPT <= one.at <= commit.at + EARLY]
        if not (near or maker or before):
            return []
        lines = [one for one in added(self.history, commit.oid, paths) if not self.hides(one.path)] if len(commit.parents) < 2 else []
        for one in lines:
            one.path, one.old = storable(one.path), storable(one.old)
        used = self._used(commit, commit.at - KEPT) if near else set()
        parts = attribute(lines, near, used, maker, float(commit.at))
        own = self._remember(parts, lines, commit, maker) if keep else []
        return self._links(commit, parts, own, maker, before)

    def _before(self, commit: CodeCommit) -> list[Link]:
        """Return the links of what a commit was rewritten from: as git said, else of one with the same change."""
        olds = self.rewritten.get(commit.oid, ())
        found = [link for some in links.of(self.state, olds).values() for link in some]
        if not found and links.known(self.state) and (patch := self._patches.get(commit.oid)):
            found = links.same_patch(self.state, patch)
        return found

    def _maker(self, commit: CodeCommit, some: Sequence[sessions.Session], before: Sequence[Link]) -> str:
        """Return the session whose command made a commit, '' when none is known to have."""
        if old := next((one.session for one in before if one.how == COMMITTED), ""):
            return old  # whoever rewrites a commit has not made it
        if noted := self.noted.get(commit.oid):
            return noted
        named = set(_TRAILER.findall(commit.body))
        if len(named) == 1:
            return str(named.pop())
        best, nearest = "", LATE
        for session in some:
            if session.started - EARLY <= commit.at <= session.last + EARLY:
                for at, command in self._commands(session):
                    if 0 <= at - commit.at < nearest and _made(command, commit.subject, at - commit.at):
                        best, nearest = session.id, at - commit.at
        return best

    def _commands(self, session: sessions.Session) -> list[tuple[float, str]]:
        """Return (when it ended, command) of what a session ran that may have made a commit."""
        if session.id not in self._ran:
            rows = (
                row
                for row in self.rows(session)
                if event(row) in {"AfterTool", "ToolFailed"} and facts(row).get("action") in {None, "command"}
            )
            self._ran[session.id] = [(_time(row), content(row)) for row in rows if _may_commit(content(row))]
        return self._ran[session.id]

    def _used(self, commit: CodeCommit, since: float) -> set[int]:
        """Return the edits that a commit's ancestors hold."""
        holders = links.used(self.state, since)
        holders.pop(commit.oid, None)
        apart = self.history.not_below(holders, commit.oid)
        return {n for oid, rows in holders.items() if oid not in apart for n in rows}

    def _remember(self, parts: Sequence[Part], lines: Sequence[Added], commit: CodeCommit, maker: str) -> list[int]:
        """Keep the lines that the session which committed wrote by commands, as if by an edit: a squash has them again."""
        texts = {(one.path, first + n): text for one in lines for first, run in one.runs for n, text in enumerate(run)}
        marks: dict[str, list[int]] = {}
        for part in parts:
            if part.edit is None and part.session == maker:
                marks.setdefault(part.path, []).extend(
                    found for line in range(part.first, part.last + 1) if (found := mark(texts[part.path, line]))
                )
        marks = {path: some for path, some in marks.items() if some}
        return edits.note(self.state, maker, float(commit.at), marks) if marks else []

    def _links(self, commit: CodeCommit, parts: Sequence[Part], own: Sequence[int], maker: str, before: Sequence[Link]) -> list[Link]:
        spans = by_session(parts)
        rows = {session: {part.edit for part in parts if part.session == session and part.edit is not None} for session in spans}
        old = {one.session: one for one in before}
        names = list(dict.fromkeys([*([maker] if maker else []), *spans, *old]))
        out = []
        for session in names:
            known = sessions.get(self.state, session)
            earlier = old.get(session)
            how = COMMITTED if session == maker else WROTE if rows.get(session) else earlier.how if earlier else EDITED
            agent = (known.agent if known else "") or (earlier.agent if earlier else "")
            model = self._model(known) if known else earlier.model if earlier else ""
            held = sorted(rows.get(session, set())) + (list(own) if session == maker else [])
            out.append(Link(commit.oid, session, agent, model, how, float(commit.at), spans.get(session, {}), held))
        return out

    def _model(self, session: sessions.Session) -> str:
        """Return the model that a session's history names last."""
        if session.id not in self._models:
            found = ""
            for row in self.rows(session):
                state = row.get("state")
                found = str(state.get("model") or found) if isinstance(state, dict) else found
            self._models[session.id] = found
        return self._models[session.id]


def _may_commit(command: str) -> bool:
    """Say whether a command names a program that makes commits, and behind it what makes one."""
    program = _PROGRAM.search(command)
    return program is not None and _ACTION.search(command, program.end()) is not None


def _made(command: str, subject: str, after: float) -> bool:
    """Say whether a command that ended so many seconds after a commit made it: it has its subject, or no message of its own."""
    if not _may_commit(command):
        return False
    if subject and subject in command:
        return True
    return after < SOON and not any("$" not in found[2] for found in _MESSAGE.finditer(command))


def _time(row: Row) -> float:
    try:
        return seconds(str(row.get("timestamp") or ""))
    except ValueError:
        return 0.0
