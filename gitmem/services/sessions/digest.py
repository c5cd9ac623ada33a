"""A session's digest: what its history tells, counted, and what was found in what was said.

Pure: rows and an extract in, a record out.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from gitmem.clock import stamp
from gitmem.records.items import (
    CONTEXT,
    DECISION,
    DONE,
    ERROR,
    PATTERN,
    PREFERENCE,
    TASK,
    Extract,
    Item,
    item_id,
)
from gitmem.records.kinds import derived_id
from gitmem.records.record import Record, make
from gitmem.records.summary_entries import beside, sections_of
from gitmem.state import sessions
from gitmem.state.sessions import Session
from gitmem.text import shell
from gitmem.text.greetings import trivial

ASKED, FAILED, FILES, COMMITS, CAPTURED = 6, 6, 12, 12, 8  # of each that a digest names
LINE, WORDS = 160, 600  # characters of a line, of the last answer
LISTED, PERHAPS = 20, 60  # items of a kind that a digest names; of all kinds that are not sure
# kinds of entries that are about one session alone, and go into no other summary: how it went, what
# it was at when it died, what failed to its end
SESSION, INTERRUPTED, STILL = "session", "interrupted", "failed"
PARTS = (
    (DECISION, "Decided"),
    (TASK, "Still to do"),
    (DONE, "Done"),
    (ERROR, "Errors and their fixes"),
    (PATTERN, "Patterns"),
    (PREFERENCE, "Preferences"),
    (CONTEXT, "Technical context"),
)

Row = Mapping[str, Any]


class SessionAccount:
    """What a history tells: counted and in its order.

    Feed it row by row; it keeps what a digest needs.
    """

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.answer = ""
        self.changed: dict[str, int] = {}
        self.read: dict[str, int] = {}
        self.failed: dict[str, str] = {}  # command -> what it said
        self.passed: set[str] = set()
        # failed command -> what is the same with other variables set for it
        self._keys: dict[str, str] = {}
        self.tools = self.failures = self.marks = 0
        self.branch = self.model = self.folder = ""

    def add(self, row: Row) -> None:
        """Take in one row."""
        facts = row.get("metadata")
        facts = facts if isinstance(facts, dict) else {}
        content = row["content"] if isinstance(row.get("content"), str) else ""
        state = row.get("state")
        if isinstance(state, dict):
            self.branch, self.model, self.folder = (
                str(state.get(key) or old)
                for key, old in (
                    ("branch", self.branch),
                    ("model", self.model),
                    ("folder", self.folder),
                )
            )
        name = facts.get("event")
        if name == "PromptSubmit" and content:
            self.asked.append(line(content))
        elif name == "TurnEnd" and content and not facts.get("agent_id"):
            self.answer = content
        elif name in {"Mark", "Note"} and content:
            self.marks += 1
        elif name in {"AfterTool", "ToolFailed"}:
            self.tools += 1
            files = [path for path in facts.get("files") or [] if isinstance(path, str)]
            where = self.read if str(facts.get("action")) == "read" else self.changed
            for path in files if name == "AfterTool" else ():
                where[path] = where.get(path, 0) + 1
            command, _, said = content.partition("\n")
            if name == "ToolFailed":
                self.failures += 1
                self.failed[line(command)] = line(_telling(said))
                self._keys[line(command)] = shell.key(command)
                self.passed.discard(line(command))
            elif command:
                proven = shell.proven(command)
                self.passed |= {
                    line(command),
                    *(old for old, key in self._keys.items() if key in proven),
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
    one = " ".join(text.split())
    return one if len(one) <= LINE else one[: LINE - 1].rstrip() + "…"


def _telling(said: str) -> str:
    """Return the line of an output that says most: the last one, an exit code left out."""
    lines = [one for one in said.splitlines() if one.strip() and not one.startswith("Exit code")]
    return lines[-1] if lines else ""


def ended_at(session: Session) -> float:
    """Return when a session ended, or was seen last.

    With a clock that was set back, not before it began.
    """
    return max(session.started, session.last, session.ended or 0.0)


def digest_id(session: str) -> str:
    """Return the id of a session's digest."""
    return derived_id("sum", f"session {session}")


def digest(
    session: Session,
    told: SessionAccount,
    extract: Extract,
    commits: Sequence[tuple[str, str]],
    captured: Sequence[str],
    now: str,
    tokens: int = 0,
    missing: str = "",
) -> Record:
    """Return a session's digest as a record.

    `commits` are (id, subject), `captured` titles of gotchas, `tokens` what its model says it cost,
    `missing` what was not read.
    """
    started, ended = stamp(session.started), stamp(ended_at(session))
    lost = session.why == sessions.GONE
    head = (
        f"{session.agent}, {started[:10]} {started[11:16]} to "
        f"{ended[11:16] if ended[:10] == started[:10] else f'{ended[:10]} {ended[11:16]}'} UTC"
    )
    facts = [
        f"{head}{_circumstances(told)}.",
        f"{_count(len(told.asked), 'prompt')}, {_count(told.tools, 'tool call')}"
        + (f", {told.failures} failed" if told.failures else "")
        + (f", {tokens:,} tokens." if tokens else "."),
    ]
    if extract.topics:
        facts.append(f"About {', '.join(extract.topics)}.")
    if lost:
        facts.append("It was interrupted: it ended without saying so.")
    elif session.ended is None:
        facts.append("It goes on.")
    if missing:
        facts.append(missing)
    still = {command: said for command, said in told.failed.items() if command not in told.passed}
    parts = [
        ("Asked", told.asked[-ASKED:]),
        *(
            (
                name,
                [
                    _said(item)
                    for item in extract.items
                    if item.kind == kind and (item.sure or item.marked)
                ][:LISTED],
            )
            for kind, name in PARTS
        ),
        ("Changed", _files(told.changed)),
        (
            "Failed to the end",
            [
                f"`{command}`" + (f": {said}" if said else "")
                for command, said in list(still.items())[-FAILED:]
                if command
            ],
        ),
        (
            "Failed, passed later",
            [f"`{command}`" for command in told.failed if command in told.passed][-FAILED:],
        ),
        ("Commits", [f"{id} {line(subject)}" for id, subject in commits[:COMMITS]]),
        ("Gotchas captured", [line(title) for title in captured[:CAPTURED]]),
        (
            "Perhaps",
            [_perhaps(item) for item in extract.items if not (item.sure or item.marked)][:PERHAPS],
        ),
    ]
    body = (
        " ".join(facts)
        + "\n"
        + "".join(
            f"\n## {name}\n\n" + "".join(f"- {item}\n" for item in items)
            for name, items in parts
            if items
        )
    )
    if told.answer:
        body += f"\n## Last answer\n\n{told.answer[:WORDS].strip()}\n"
    if extract.why:
        body += f"\n{'Read offline: ' if extract.by == 'offline' else ''}{extract.why}\n"
    sections = sections_of(extract, session.id, ended)
    more = [
        ("general_context", SESSION, [" ".join(facts)]),
        (
            "pending_tasks",
            INTERRUPTED,
            [f"Interrupted at: {told.asked[-1]}"] if lost and told.asked else [],
        ),
        (
            "technical_context",
            STILL,
            [
                f"{command} failed: {said}" if said else f"{command} failed"
                for command, said in list(still.items())[-FAILED:]
            ],
        ),
    ]
    for section, kind, texts in more:
        for text in texts:
            sections.setdefault(section, []).append(
                {
                    "id": item_id(text),
                    "kind": kind,
                    "text": text,
                    "at": ended,
                    "session": session.id,
                }
            )
    title = (
        (next((text for text in told.asked if not trivial(text)), told.asked[0]))
        if told.asked
        else f"{session.agent} session of {started[:10]}"
    )
    return make(
        "summary",
        digest_id(session.id),
        title,
        body,
        created=started,
        updated=now,
        rev=1,
        session=session.id,
        origin="captured",
        scope="session",
        tags=[session.agent, *extract.topics],
        sections=sections or None,
        by=extract.by,
        tokens=tokens or None,
    )


def _circumstances(told: SessionAccount) -> str:
    """Return the branch and the model of a session, as they follow its times."""
    branch = f", on branch {told.branch}" if told.branch else ""
    return branch + (f", {told.model}" if told.model else "")


def _said(item: Item) -> str:
    more = beside(item.text, item.detail)
    if not more:
        return line(item.text)
    return (
        f"{line(item.text)} Fix: {line(more)}"
        if item.kind == ERROR
        else f"{line(item.text)} ({line(more)})"
    )


def _perhaps(item: Item) -> str:
    """Return an item that is not sure, with its kind and where it was said."""
    first, last = item.lines
    where = (
        f"commit {item.commit[:12]}"
        if item.commit
        else f"line {first}"
        if first == last
        else f"lines {first}-{last}"
    )
    return f"{item.kind}: {_said(item)}" + (f" [{where}]" if item.commit or first else "")


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _files(some: Mapping[str, int]) -> list[str]:
    ranked = sorted(some.items(), key=lambda one: (-one[1], one[0]))
    return [path for path, _ in ranked[:FILES]] + (
        [f"and {len(ranked) - FILES} more"] if len(ranked) > FILES else []
    )
