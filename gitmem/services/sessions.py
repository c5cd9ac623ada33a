"""What a session leaves when it is over, or about to forget: a digest from its history, a snapshot of its work.

The history is our own file (`reactions.history`). It is read tolerantly: a session that was killed may have left half a line.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

from gitmem.clock import base32, stamp
from gitmem.errors import UnknownId
from gitmem.git.worktree import WorkTree
from gitmem.index import sessions
from gitmem.index.sessions import Session
from gitmem.model.record import Record, make
from gitmem.services import memories
from gitmem.services.memories import Change, Writer
from gitmem.store.records import Store

ASKED, FAILED, FILES, COMMITS, CAPTURED = 6, 6, 12, 12, 8  # of each that a digest names
TRIED = 86400.0  # seconds that a request which fails is tried again
LINE, WORDS = 160, 600  # characters of a line, of the last answer
DIRTY = 200  # changed files that a snapshot names

Row = Mapping[str, Any]


class Told:
    """What a history tells: counted and in its order. Feed it row by row; it keeps what a digest needs."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.answer = ""
        self.changed: dict[str, int] = {}
        self.read: dict[str, int] = {}
        self.failed: dict[str, str] = {}  # command -> what it said
        self.passed: set[str] = set()
        self.tools = self.failures = 0
        self.branch = self.model = self.folder = ""

    def add(self, row: Row) -> None:
        """Take in one row."""
        facts = row.get("metadata")
        facts = facts if isinstance(facts, dict) else {}
        content = row["content"] if isinstance(row.get("content"), str) else ""
        state = row.get("state")
        if isinstance(state, dict):
            self.branch, self.model, self.folder = (
                str(state.get(key) or old) for key, old in (("branch", self.branch), ("model", self.model), ("folder", self.folder))
            )
        name = facts.get("event")
        if name == "PromptSubmit" and content:
            self.asked.append(_line(content))
        elif name == "TurnEnd" and content and not facts.get("agent_id"):
            self.answer = content
        elif name in {"AfterTool", "ToolFailed"}:
            self.tools += 1
            files = [path for path in facts.get("files") or [] if isinstance(path, str)]
            where = self.read if str(facts.get("action")) == "read" else self.changed
            for path in files if name == "AfterTool" else ():
                where[path] = where.get(path, 0) + 1
            command, _, said = content.partition("\n")
            if name == "ToolFailed":
                self.failures += 1
                self.failed[_line(command)] = _line(_telling(said))
                self.passed.discard(_line(command))
            elif command:
                self.passed.add(_line(command))

    @property
    def empty(self) -> bool:
        """Say whether nothing was asked and nothing done."""
        return not self.asked and not self.changed and not self.failures and not self.passed


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LINE else line[: LINE - 1].rstrip() + "…"


def _telling(said: str) -> str:
    """Return the line of an output that says most: the last one, an exit code left out."""
    lines = [line for line in said.splitlines() if line.strip() and not line.startswith("Exit code")]
    return lines[-1] if lines else ""


def rows(lines: Iterable[bytes]) -> Iterator[Row]:
    """Yield the rows of a history; what is no row is passed over."""
    for line in lines:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict):
            yield row


def derived_id(prefix: str, text: str) -> str:
    """Return the id of a record that is made from something else: made twice, it is the same record."""
    return f"{prefix}-{base32(int.from_bytes(sha256(text.encode('utf-8', 'replace')).digest()[:16], 'big'))}"


def digest(session: Session, told: Told, commits: Sequence[tuple[str, str]], captured: Sequence[str], now: str) -> Record:
    """Return a session's digest as a record; `commits` are (id, subject), `captured` titles of gotchas."""
    started, ended = stamp(session.started), stamp(session.ended or session.last)
    lost = session.why == sessions.GONE
    head = f"{session.agent}, {started[:10]} {started[11:16]} to {ended[11:16] if ended[:10] == started[:10] else f'{ended[:10]} {ended[11:16]}'} UTC"
    facts = [
        f"{head}{f', on branch {told.branch}' if told.branch else ''}{f', {told.model}' if told.model else ''}.",
        f"{_count(len(told.asked), 'prompt')}, {_count(told.tools, 'tool call')}"
        + (f", {told.failures} failed." if told.failures else "."),
    ]
    if lost:
        facts.append("It was interrupted: it ended without saying so.")
    still = {command: said for command, said in told.failed.items() if command not in told.passed}
    parts = [
        ("Asked", told.asked[-ASKED:]),
        ("Changed", _files(told.changed)),
        (
            "Failed to the end",
            [f"`{command}`" + (f": {said}" if said else "") for command, said in list(still.items())[-FAILED:] if command],
        ),
        ("Failed, passed later", [f"`{command}`" for command in told.failed if command in told.passed][-FAILED:]),
        ("Commits", [f"{id} {_line(subject)}" for id, subject in commits[:COMMITS]]),
        ("Gotchas captured", [_line(title) for title in captured[:CAPTURED]]),
    ]
    body = " ".join(facts) + "\n" + "".join(f"\n## {name}\n\n" + "".join(f"- {item}\n" for item in items) for name, items in parts if items)
    if told.answer:
        body += f"\n## Last answer\n\n{told.answer[:WORDS].strip()}\n"
    item = {"at": ended, "session": session.id}
    sections = {
        "general_context": [{**item, "text": " ".join(facts)}],
        "pending_tasks": [{**item, "text": f"Interrupted at: {told.asked[-1]}"}] if lost and told.asked else [],
        "technical_context": [{**item, "text": f"{command} failed: {said}" if said else f"{command} failed"} for command, said in list(still.items())[-FAILED:]],
    }  # fmt: skip
    title = told.asked[0] if told.asked else f"{session.agent} session of {started[:10]}"
    return make(
        "summary", derived_id("sum", f"session {session.id}"), title, body, created=started, updated=now, rev=1, session=session.id, origin="captured",
        scope="session", tags=[session.agent], sections={k: v for k, v in sections.items() if v},
    )  # fmt: skip


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _files(some: Mapping[str, int]) -> list[str]:
    ranked = sorted(some.items(), key=lambda one: (-one[1], one[0]))
    return [path for path, _ in ranked[:FILES]] + ([f"and {len(ranked) - FILES} more"] if len(ranked) > FILES else [])


def write_digest(
    store: Store, who: Writer, session: Session, lines: Iterable[bytes], tree: WorkTree, captured: Sequence[str]
) -> Change | None:
    """Write a session's digest, or write it anew when the session went on after it; None for a session in which nothing happened."""
    told = Told()
    for row in rows(lines):
        told.add(row)
    if told.empty:
        return None
    commits = tree.commits(session.started, session.ended or session.last)
    new = digest(session, told, commits, captured, who.clock.stamp()).change(author=f"{who.author[0]} <{who.author[1]}>", agent=who.agent)
    who = Writer(who.clock, who.author, who.agent, session.id, who.allow)
    try:
        old = store.get(new.id).record
    except UnknownId:
        return memories.add(store, who, new, "digest")
    fresh = {key: new.fields.get(key) for key in ("sections", "tags")}
    return memories.update(store, who, old, old.change(title=new.title, body=new.body, **fresh), "digest", f"summary: digest {new.id}")


def write_snapshot(store: Store, who: Writer, session: Session, at: float, lines: Iterable[bytes], tree: WorkTree) -> Change | None:
    """Write where a session's work stands: branch, commit, changed files, what was asked last; nothing when that has been written."""
    told = Told()
    for row in rows(lines):
        told.add(row)
    id = derived_id("snp", f"snapshot {session.id} {at}")
    try:
        store.get(id)
    except UnknownId:
        pass
    else:
        return None
    last = told.asked[-1] if told.asked else ""
    dirty = [{"path": path, "status": status} for path, status in tree.status()[:DIRTY]]
    record = make(
        "snapshot", id, f"Before compaction: {last}" if last else f"Before compaction of a {session.agent} session", created=stamp(at), updated=stamp(at), rev=1,
        author=f"{who.author[0]} <{who.author[1]}>", agent=who.agent, session=session.id, origin="captured", branch=told.branch or None, commit=tree.head() or None,
        dirty=dirty, cwd=told.folder or None, worktree=tree.root or None, note=f"Last asked: {last}" if last else None,
    )  # fmt: skip
    return memories.add(store, Writer(who.clock, who.author, who.agent, session.id, who.allow), record, "snapshot")


def work_off(
    state: Any, who: Writer, store: Store | None, snapshots: Store, history: Callable[[str], Iterable[bytes]], tree: Callable[[str], WorkTree],
    captured: Callable[[str], Sequence[str]],
) -> list[str]:  # fmt: skip
    """Do what sessions have asked for; return what was done, in words. `store` takes digests, None when nobody wants any.

    A request that fails stays with its lease, and is tried again when that is over, for a day; it does not keep others from being done.
    Raises the first failure, at the end.
    """
    done: list[str] = []
    failure: Exception | None = None
    while (request := sessions.take(state, who.clock.now())) is not None:
        session = sessions.get(state, request.session)
        try:
            if session is not None:
                lines = history(session.history)
                if request.kind == sessions.SNAPSHOT:
                    change = write_snapshot(snapshots, who, session, request.at, lines, tree(session.root))
                else:
                    change = (
                        write_digest(store, who, session, lines, tree(session.root), captured(session.id)) if store is not None else None
                    )
                done += [f"{request.kind} of {session.id[:8]}"] if change else []
        except Exception as error:  # noqa: BLE001 - raised below: one session must not cost the others theirs
            failure = failure or error
            if who.clock.now() - request.at < TRIED:
                continue
        sessions.done(state, request)
    if failure:
        raise failure
    return done
