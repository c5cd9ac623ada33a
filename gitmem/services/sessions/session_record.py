"""The record of a session: what its history tells, counted, and the facts that it is about.

Pure: rows and an extract in, a record out.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gitmem.clock import stamp
from gitmem.fingerprint.fingerprint import fingerprint
from gitmem.records.items import Extract
from gitmem.records.kinds import session_record_id
from gitmem.records.record import Record, make
from gitmem.state import sessions
from gitmem.state.sessions import Session
from gitmem.text import shell
from gitmem.text.greetings import trivial

ASKED, FAILED, FILES, COMMITS = 6, 6, 12, 12  # of each that a record names
LINE, WORDS = 160, 600  # characters of a line, of the last answer
Row = Mapping[str, Any]


class SessionAccount:
    """What a history tells: counted and in its order.

    Feed it row by row; it keeps what a record needs. Paths below `root` are shown from there.
    """

    def __init__(self, root: str = "") -> None:
        self._root = root
        self.asked: list[str] = []
        self.answer = ""
        self.changed: dict[str, int] = {}
        self.read: dict[str, int] = {}
        self.failed: dict[str, str] = {}  # command -> what it said
        self.passed: set[str] = set()
        # failed command -> what is the same with other variables set for it
        self._keys: dict[str, str] = {}
        self.tools = self.failures = self.marks = self.prompts = 0
        self.branch = self.model = self.folder = ""

    def add(self, row: Row) -> None:
        """Take in one row."""
        facts = row.get("metadata")
        facts = facts if isinstance(facts, dict) else {}
        content = row["content"] if isinstance(row.get("content"), str) else ""
        state = row.get("state")
        if isinstance(state, dict):
            self._take_state(state)
        name = facts.get("event")
        if name in {"AfterTool", "ToolFailed"}:
            self._take_tool(facts, content, has_failed=name == "ToolFailed")
        elif name == "PromptSubmit" and content:
            self.prompts += 1
            self.asked.append(line(content))
        elif name == "TurnEnd" and content and not facts.get("agent_id"):
            self.answer = content
        elif name in {"Mark", "Note"} and content:
            self.marks += 1

    def _take_state(self, state: Row) -> None:
        self.branch = str(state.get("branch") or self.branch)
        self.model = str(state.get("model") or self.model)
        self.folder = str(state.get("folder") or self.folder)

    def _take_tool(self, facts: Row, content: str, *, has_failed: bool) -> None:
        self.tools += 1
        command, _, said = content.partition("\n")
        if has_failed:
            self._take_failure(command, said)
            return
        where = self.read if str(facts.get("action")) == "read" else self.changed
        for path in facts.get("files") or []:
            if isinstance(path, str):
                where[path] = where.get(path, 0) + 1
        if command:
            proven = shell.proven(command)
            before = {failed for failed, key in self._keys.items() if key in proven}
            self.passed |= {line(command), *before}

    def _take_failure(self, command: str, said: str) -> None:
        self.failures += 1
        error = fingerprint(said, self._root, command)
        if shell.only_looks(command) or (error is not None and error.is_slip):
            return  # nothing about the project
        self.failed[line(command)] = line(error.title if error else _telling(said))
        self._keys[line(command)] = shell.key(command)
        self.passed.discard(line(command))

    def leave_out(self, is_rejected: Callable[[str], bool]) -> None:
        """Drop the quotes that say what somebody rejected."""
        self.asked = [text for text in self.asked if not is_rejected(text)]
        if is_rejected(self.answer):
            self.answer = ""
        self.failed = {
            command: "" if is_rejected(said) else said for command, said in self.failed.items()
        }

    @property
    def empty(self) -> bool:
        """Say whether nothing was asked and nothing done."""
        return not (self.asked or self.changed or self.failures or self.passed or self.marks)

    @property
    def trivial(self) -> bool:
        """Say whether somebody said hello, and nothing came of it."""
        return not (self.changed or self.failures or self.passed or self.marks) and all(
            map(trivial, self.asked)
        )


def line(text: str) -> str:
    """Return a text as one line of bounded length."""
    flat = " ".join(text.split())
    return flat if len(flat) <= LINE else flat[: LINE - 1].rstrip() + "…"


def _telling(said: str) -> str:
    """Return the line of an output that says most: the last one, an exit code left out."""
    lines = [row for row in said.splitlines() if row.strip() and not row.startswith("Exit code")]
    return lines[-1] if lines else ""


def ended_at(session: Session) -> float:
    """Return when a session ended, or was seen last.

    With a clock that was set back, not before it began.
    """
    return max(session.started, session.last, session.ended or 0.0)


@dataclass(frozen=True, slots=True)
class SessionReport:
    """What a record says of a session besides its history.

    `commits` are (id, subject); `facts` say which facts it is about, by their ids; `tokens` is what
    its model says it cost; `missing` what was not read.
    """

    extract: Extract
    commits: Sequence[tuple[str, str]] = ()
    facts: Sequence[Mapping[str, Any]] = ()
    tokens: int = 0
    missing: str = ""


def session_record(
    session: Session, account: SessionAccount, report: SessionReport, now: str
) -> Record:
    """Return what is kept of a session, for its owner: facts by their ids, never their words."""
    started, ended = stamp(session.started), stamp(ended_at(session))
    extract = report.extract
    still = [said for said in account.failed.items() if said[0] not in account.passed and said[0]]
    later = [command for command in account.failed if command in account.passed]
    parts = [
        ("Asked", account.asked[-ASKED:]),
        ("Changed", _files(account.changed)),
        (
            "Failed to the end",
            [f"`{command}`" + (f": {said}" if said else "") for command, said in still][-FAILED:],
        ),
        ("Failed, passed later", [f"`{command}`" for command in later][-FAILED:]),
        ("Commits", _commit_lines(report.commits)),
    ]
    body = " ".join(_summary(session, account, report, started, ended)) + "\n" + _sections(parts)
    if account.answer:
        answer = account.answer[:WORDS].strip().splitlines()
        body += "\n## Last answer\n\n" + "".join(f"> {text}\n" for text in answer)
    if extract.why:
        body += f"\n{'Read offline: ' if extract.by == 'offline' else ''}{extract.why}\n"
    files = _count(len(account.changed), "file")
    return make(
        "session",
        session_record_id(session.id),
        f"Session of {started[:10]}, {session.agent}, {files}",
        body,
        created=started,
        updated=now,
        rev=1,
        session=session.id,
        origin="captured",
        program=session.agent,
        model=account.model or None,
        branch=account.branch or None,
        started=started,
        ended=ended,
        tags=[session.agent],
        by=extract.by,
        tokens=report.tokens or None,
        topics=list(extract.topics) or None,
        facts=list(report.facts) or None,
    )


def published_record(
    session: Session, account: SessionAccount, commits: Sequence[tuple[str, str]], now: str
) -> Record:
    """Return what others may see of a session: agent, model, branch, commits and files."""
    whole = session_record(session, account, SessionReport(Extract(), commits), now)
    shown = [("Changed", _files(account.changed)), ("Commits", _commit_lines(commits))]
    return whole.change(body=_sections(shown).lstrip("\n"), by=None)


def _sections(parts: Sequence[tuple[str, Sequence[str]]]) -> str:
    return "".join(
        f"\n## {name}\n\n" + "".join(f"- {item}\n" for item in items)
        for name, items in parts
        if items
    )


def _commit_lines(commits: Sequence[tuple[str, str]]) -> list[str]:
    return [f"{id} {line(subject)}" for id, subject in commits[:COMMITS]]


def _summary(
    session: Session, account: SessionAccount, report: SessionReport, started: str, ended: str
) -> Iterator[str]:
    """Yield the first lines of a record: when it was, what it cost, how it ended."""
    until = ended[11:16] if ended[:10] == started[:10] else f"{ended[:10]} {ended[11:16]}"
    when = f"{started[:10]} {started[11:16]} to {until} UTC"
    yield f"{session.agent}, {when}{_circumstances(account)}."
    cost = f", {report.tokens:,} tokens." if report.tokens else "."
    failed = f", {account.failures} failed" if account.failures else ""
    calls = _count(account.tools, "tool call")
    yield f"{_count(account.prompts, 'prompt')}, {calls}{failed}{cost}"
    if session.why == sessions.GONE:
        yield "It was interrupted: it ended without saying so."
    elif session.ended is None:
        yield "It goes on."
    if report.missing:
        yield report.missing


def _circumstances(account: SessionAccount) -> str:
    """Return the branch and the model of a session, as they follow its times."""
    branch = f", on branch {account.branch}" if account.branch else ""
    return branch + (f", {account.model}" if account.model else "")


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _files(some: Mapping[str, int]) -> list[str]:
    ranked = sorted(some.items(), key=lambda counted: (-counted[1], counted[0]))
    return [path for path, _ in ranked[:FILES]] + (
        [f"and {len(ranked) - FILES} more"] if len(ranked) > FILES else []
    )
