"""A session starts: it is told what it should know. Part of the hot path.

It is the briefing, chosen as `git mem session briefing` chooses (`services.briefing.collect`), and
shaped to the budget of a start: each thing is told once a context.
"""

import os
import time

from gitmem.agents.prompt_text import LIMIT, OVERHEAD, clean, record_line, units
from gitmem.base.processes import is_gone
from gitmem.clock import stamp
from gitmem.hooks.context import Hook
from gitmem.hooks.fact_order import contradicting, scores
from gitmem.hooks.gotcha_lines import Spots, shown
from gitmem.hooks.injection import inject, note_injected
from gitmem.hooks.turn_end import keeps_in_step
from gitmem.hooks.work_context import offered
from gitmem.records.kinds import LIVE
from gitmem.repo.refs import head
from gitmem.services.briefing import collect, session_opening
from gitmem.services.records.committers import is_accepted
from gitmem.state import (
    code_progress,
    context_flags,
    injections,
    late_answers,
    requests,
    session_ends,
    sessions,
)
from gitmem.text.tokens import tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gitmem.services.briefing.collect import BriefingEntry, BriefingFacts

    Row = dict[str, Any]

# seconds that the start of a session waits once for each commit, for code that may have gone to
# another file
PATIENCE = 0.4
RECENT = 600.0  # seconds for which a session record that was asked for is still to come
STATUS = 0.25  # seconds that it waits for git to say which files have changed
DEAD = 100  # sessions that a start ends, the latest; the next one goes on
DIRTY = 200  # of these that are looked at
LEFT = 3  # tasks of the session before that its line names
ANSWER = 160  # characters of a last answer, where no better word of what was done is there
BEFORE = 480  # of what is told of the session before, besides its title
FORGETFUL = frozenset({"compact", "clear"})  # what was told before is not in the context any more
TALKED = frozenset({"compact", "resume", "fork"})  # the earlier conversation continues
WORK = 0.7  # of a budget: what is said of the work in hand, at most
SAID = {
    "tasks": "task",
    "decisions": "decision",
    "patterns": "pattern",
    "errors": "error",
    "preferences": "preference",
}
CODE = 480  # characters of a line of what the code is made of
MATTERS = 7  # importance of a context fact that is told: what somebody marked has it
OLD = 30  # days of work after which a task that nobody touched is told no more
MORE = "- … {} more left to do: git mem session briefing"


def start(hook: Hook) -> "list[str]":
    """Return the lines of a briefing.

    They have the work in hand, the last session, what is left to do, gotchas of the files that are
    worked on, decisions, and what else is known.
    """
    event = hook.event
    if event.source in FORGETFUL:
        injections.forget(hook.repo.state, event.context)
        context_flags.note_restarted(hook.repo.state, event.context, hook.now)
    elif event.source in TALKED:
        injections.forget_lost(hook.repo.state, event.context)
    dirty = _Dirty(hook) if hook.repo.settings.get("inject") else None
    dead = _mark_interrupted_sessions(hook)
    # of a start before this one
    late_answers.take(hook.repo.state, event.context, (late_answers.START, late_answers.BEFORE))
    if dirty is not None and not hook.repo.is_current():
        # until it is, also where this process is ended over it
        late_answers.owe(hook.repo.state, event.context, late_answers.START)
    if hook.repo.refresh(asks_git=True):
        late_answers.take(hook.repo.state, event.context, (late_answers.START,))
    if dead or requests.waiting(hook.repo.state):
        hook.start_drain("asked", sure=True)
    else:
        hook.repo.catch_up(hook.now, insists=True)
    if event.source not in FORGETFUL and keeps_in_step(hook):
        hook.start_drain(f"native {event.session}", sure=True)
    if dirty is None:
        return []
    before = to_come(hook) if event.source not in TALKED else ""
    if before:
        late_answers.owe(hook.repo.state, event.context, late_answers.BEFORE, before)
    _read_code(hook)
    return _lines(hook, dirty, before)


def _lines(hook: Hook, dirty: "_Dirty", before: str) -> "list[str]":
    """Return what is told of what the index knows.

    `before` is a session that is about to be the one before.
    """
    briefing = _facts_to_tell(hook)
    if before:
        briefing.last = None
    if _elsewhere(hook, briefing):
        hook.code_moved(PATIENCE)
    return _Telling(hook, briefing).lines(_near(hook, dirty.paths()))


def _facts_to_tell(hook: Hook) -> "BriefingFacts":
    """Return what a start chooses from."""
    briefing = collect.gather(
        hook.repo.stored_indexes,
        hook.repo.namespaces,
        subjects=collect.CURRENT_SUBJECTS,
        session=hook.event.session,
        unsure=bool(hook.repo.settings.get("unconfirmed")),
        own=hook.repo.own_addresses,
        now=stamp(hook.now),
        first=_first(hook),
    )
    oldest = max(
        (index.nth_day_of_work(OLD) for index in hook.repo.stored_indexes),
        default="",
    )
    briefing.by[collect.TASKS] = [
        entry
        for entry in briefing[collect.TASKS]
        if entry.pinned or entry.critical or entry.day >= oldest
    ]
    briefing.by[collect.CONTEXT] = [
        entry for entry in briefing[collect.CONTEXT] if entry.importance >= MATTERS
    ]
    if _has_talk(hook):
        for subject, entries in briefing.by.items():
            briefing.by[subject] = [entry for entry in entries if not _is_of_talk(hook, entry)]
    return briefing


def _is_of_talk(hook: Hook, entry: "BriefingEntry") -> bool:
    """Return whether the session has said a fact in the form that it has now.

    What was corrected or pinned since it was added has another form.
    """
    return entry.session == hook.event.session and (
        entry.row is None or entry.row["updated"] == entry.row["created"]
    )


def _has_talk(hook: Hook) -> bool:
    """Return whether the conversation of this very session is there: its facts were said in it."""
    event = hook.event
    return (
        event.source in TALKED - FORGETFUL
        and context_flags.restarted(hook.repo.state, event.context) is None
    )


class StartPreview:
    """What a session that starts now would be told, and what there is no room for.

    `lines` are (line, row of what it tells), without a row where it tells of the work in hand.
    `near` are the ids of gotchas about files that differ from the last commit. `left_out` are rows.
    """

    __slots__ = ("budget", "left_out", "lines", "near")

    def __init__(
        self,
        lines: "list[tuple[str, Row | None]]",
        near: "frozenset[str]",
        left_out: "list[Row]",
        budget: int,
    ) -> None:
        self.lines = lines
        self.near = near
        self.left_out = left_out
        self.budget = budget


def preview(hook: Hook) -> StartPreview:
    """Return what `start` would tell; nothing is written down, and no work is started."""
    hook.repo.state.leave_disk()
    near = _near(hook, _Dirty(hook).paths())
    briefing = _facts_to_tell(hook)
    telling = _Telling(hook, briefing)
    lines = [(line, telling.row_of(line)) for line in telling.lines(near)]
    shown = {row["id"] for _, row in lines if row is not None}
    rows = [
        entry.row
        for entries in briefing.by.values()
        for entry in entries
        if entry.row is not None and entry.kind != "dna"
    ]
    left_out = {row["id"]: row for row in rows if row["id"] not in shown}
    budget = int(hook.repo.settings.get("injectBudget"))
    return StartPreview(
        lines, frozenset(row["id"] for row in near), list(left_out.values()), budget
    )


def _first(hook: Hook) -> "collect.FactOrder":
    """Return the order in which facts are told."""
    ranking = scores(hook)
    return collect.FactOrder(ranking.of, contradicting(hook).arranged, ranking.read_last())


def late_lines(hook: Hook) -> "list[str]":
    """Return what the start had not in its index yet."""
    return _lines(hook, _Dirty(hook), to_come(hook))


def lines_before(hook: Hook, before: str) -> "list[str]":
    """Return what the start would have said of the session `before`, whose record is there now."""
    briefing = collect.gather(
        hook.repo.stored_indexes,
        hook.repo.namespaces,
        subjects=(collect.TASKS,),
        session=hook.event.session,
        own=hook.repo.own_addresses,
        now=stamp(hook.now),
        first=_first(hook),
    )
    return (
        _Telling(hook, briefing).before()
        if briefing.last is not None and briefing.last.session == before
        else []
    )


class _Telling:
    """Chooses lines within the budget of a start."""

    def __init__(self, hook: Hook, briefing: "BriefingFacts") -> None:
        self._hook = hook
        self._known = briefing
        self._budget = int(hook.repo.settings.get("injectBudget"))
        self._spots = Spots(hook)
        self._said = briefing.said
        self._lines: list[str] = []
        self._own: list[str] = []  # what the session said of itself, as plain texts
        self._offered: list[tuple[str, Row]] = []  # lines that were made, with their rows

    def lines(self, near: "list[Row]") -> "list[str]":
        """Return the lines, in their order.

        What is left to do is sure of its part before anything else takes one.
        """
        self._work()
        tasks = self._rows(collect.TASKS)
        shown_tasks = self._injected_lines(tasks, 0.3, self._lines)
        left = self._left(tasks) if shown_tasks else 0
        if left:
            self._budget -= tokens(MORE.format(left))  # room to say so
        self._lines += [
            *self._injected_lines(self._last(), 0.25, [*self._lines, *shown_tasks]),
            *shown_tasks,
        ]
        errors = self._rows(collect.ERRORS)
        own = self._hook.repo.own_addresses
        grave = [
            row
            for row in errors
            if row["kind"] == "gotcha" and row["severity"] == "critical" and is_accepted(row, own)
        ]
        state, decisions = self._rows(collect.STATE), self._rows(collect.DECISIONS)
        pinned = [row for row in state if row.get("status") == "pinned"]
        # a share of the whole, up to which it may be full; what a part leaves over goes to the next
        for rows, share in (
            (shown(self._hook, near), 0.6),
            (grave, 0.7),
            (pinned, 0.75),
            (decisions, 0.85),
            (self._rows(collect.PREFERENCES), 0.9),
            (self._rows(collect.PATTERNS), 0.95),
            (self._rows(collect.CONTEXT), 0.97),
            (errors, 1.0),
            (state, 1.0),
            (decisions, 1.0),
            (tasks, 1.0),
            (offered(self._hook), 1.0),
        ):
            self._lines += inject(
                self._hook, rows, int(self._budget * share), self._line, self._lines
            )
        if left := self._left(tasks) if left else 0:
            self._lines.append(MORE.format(left))
        return self._lines

    def before(self) -> "list[str]":
        """Return the line of the session before alone."""
        return self._injected_lines(self._last(), 0.25, [])

    def _work(self) -> None:
        """Collect what is to be known first.

        This is ways to go on after a crash, the work in hand, what this session said of itself, and
        whether to ask.
        """
        from gitmem.hooks.elsewhere import start_lines
        from gitmem.hooks.epics import resume_lines
        from gitmem.hooks.work_context import context_lines

        hook = self._hook
        lines = [*resume_lines(hook), *context_lines(hook), *start_lines(hook)]
        own = list[str]()
        if hook.event.source in FORGETFUL:
            from gitmem.hooks.compaction import after_compaction

            own = after_compaction(hook)
            lines += own
        elif hook.event.source not in TALKED:
            facts = session_opening.facts(
                hook.repo.state,
                self._known,
                hook.now,
                is_gone,
                hook.repo.home,
                session=hook.event.session,
            )
            facts.at = ""  # what was asked is its owner's, who sees it by `git mem session opening`
            lines += _opening_lines(hook, facts)
        room, length = int(self._budget * WORK) - OVERHEAD // 4, LIMIT - OVERHEAD
        for line in lines:
            if tokens(line) <= room and units(line) <= length:
                room -= tokens(line)
                length -= units(line)
                self._lines.append(line)
        if own:
            from gitmem.hooks.compaction import contents

            self._own = contents([line for line in own if line in self._lines])

    def _injected_lines(self, rows: "list[Row]", share: float, shown: "list[str]") -> "list[str]":
        """Return the lines of what is new, within a separate part of the budget.

        The part is smaller if less of the budget is left.
        """
        own = sum(map(tokens, shown)) + OVERHEAD // 4 + int(self._budget * share)
        return inject(self._hook, rows, min(own, self._budget), self._line, shown)

    def _left(self, rows: "list[Row]") -> int:
        injected = injections.injected(self._hook.repo.state, self._hook.event.context)
        return sum(row["id"] not in injected for row in rows)

    def _rows(self, subject: str) -> "list[Row]":
        """Return what is known of a subject as rows.

        Gotchas as far as this user wants to hear of them.
        """
        entries = self._known[subject]
        gotchas = [
            entry.row
            for entry in entries
            if entry.row is not None and entry.row["kind"] == "gotcha"
        ]
        wanted = {row["id"] for row in shown(self._hook, gotchas)} if gotchas else set()
        rows = [
            row
            for entry in entries
            for row in (_code_rows(entry) if entry.kind == "dna" else [entry.row])
            if row is not None
        ]
        return self._news([row for row in rows if row["kind"] != "gotcha" or row["id"] in wanted])

    def _news(self, rows: "list[Row]") -> "list[Row]":
        """Return rows without those that the session has said itself.

        After a compaction its marks come first, and count as injected.
        """
        if not self._own:
            return rows
        from gitmem.hooks.compaction import is_said

        said = [row for row in rows if is_said(str(row.get("title") or ""), self._own)]
        note_injected(self._hook, said)
        ids = {row["id"] for row in said}
        return [row for row in rows if row["id"] not in ids]

    def row_of(self, line: str) -> "Row | None":
        """Return the row that a line tells, which may have been cut to its author's share."""
        whole = line.removesuffix("…").rstrip()
        return next((row for text, row in self._offered if text.startswith(whole)), None)

    def _line(self, row: "Row") -> str:
        text = self._text(row)
        self._offered.append((text, row))
        return text

    def _text(self, row: "Row") -> str:
        """Return a record, or a part of what the code is made of, as one line."""
        if row["kind"] == "session":
            # what else its line has costs some 250 characters; a part of a budget has as many of
            # them as the whole has tokens
            most = max(80, min(BEFORE, self._budget - 250))
            line = record_line(row, most=160, lead="the session before: ")
            return f"{line} {clean(row['body'], most)}" if row["body"] else line
        if row["kind"] == "entry":
            part = row["entry"]
            where = f"{clean(part.where, 40)}: " if part.where else ""
            return f"- [code] {where}{clean(part.text, CODE)}"
        line = self._spots.line(row, most=160)
        said = self._said.get(row["id"])
        return f"{line} ({clean(said, 80)}: ask the user)" if said else line

    def _last(self) -> "list[Row]":
        """Return the record of the session before, if this one is new."""
        last = self._known.last
        if (
            self._hook.event.source in TALKED
            or last is None
            or last.row is None
            or last.body is None
        ):
            return []
        mine = [entry for entry in self._known[collect.TASKS] if entry.session == last.session]
        # a task with a line of its own is counted here, not said again
        injected = injections.injected(self._hook.repo.state, self._hook.event.context)
        names = [entry.text for entry in mine if entry.id not in injected]
        body = _short(last.body.body(last.number), names, len(mine) - len(names))
        return [{**last.row, "body": body}]


def _opening_lines(hook: Hook, facts: session_opening.OpeningFacts) -> "list[str]":
    """Return the question that the user is to be asked, where there is a user who is free for it.

    Where nobody can answer, what was interrupted here is stated.
    """
    if session_opening.decide(facts).action != session_opening.ASK:
        return []
    is_here = not facts.root or facts.root == hook.repo.stored_root or not os.path.isdir(facts.root)
    if facts.interrupted and not is_here:
        return []  # the session of that work tree asks
    if _is_answered(hook):
        return [f"- ask the user first: {clean(session_opening.question(facts), 300)}"]
    return [f"- {clean(session_opening.interruption(facts), 300)}"] if facts.interrupted else []


def _is_answered(hook: Hook) -> bool:
    """Return whether a person watches this session, and no other one at the same time."""
    from gitmem.agents import adapter
    from gitmem.base import processes

    mine = processes.agent()
    if adapter.runs_alone(adapter.find(hook.event.agent), processes.arguments(mine)):
        return False
    running = sessions.some(hook.repo.state, ended=False)
    others = {
        session.process
        for session in running
        if session.process and session.id != hook.event.session
    }
    return not any(is_gone(process) is False for process in others - {mine})


def _read_code(hook: Hook) -> None:
    """Have the DNA of the project read anew when another commit is checked out.

    What is known is told meanwhile.
    """
    if (
        (hook.repo.settings.get("dna") == "off" and not hook.repo.settings.get("scout"))
        or hook.repo.location.worktree is None
        or hook.repo.location.gitdir != hook.repo.location.commondir
    ):
        return
    commit = head(hook.repo.location)
    if commit and code_progress.claim_dna(hook.repo.state, commit):
        hook.repo.work_later(hook.repo.location.worktree, "read-code")


def _code_rows(entry: "BriefingEntry") -> "list[Row]":
    """Return what is injected about the code as rows.

    Each part of the DNA is injected once, and again when it says something else.
    """
    if entry.body is None or entry.row is None:
        return []
    from gitmem.services.briefing.code_lines import code_lines

    rows: list[Row] = []
    for title, text in code_lines(entry.body.body(entry.number)):
        part = collect.BriefingEntry(text, "", kind="code", where=title)
        rows.append(
            {
                "id": f"entry dna {entry.id} {title}"[:120],
                "kind": "entry",
                "oid": text[:400],
                "subject": "code",
                "entry": part,
                "status": entry.row["status"],
            }
        )
    return rows


def _mark_interrupted_sessions(hook: Hook) -> bool:
    """End the sessions that died, so that the next process with time finishes them.

    Say whether there were any.
    """
    ended = [
        session_ends.mark_interrupted(hook.repo.state, session, hook.now)
        for session in session_ends.interrupted_sessions(
            hook.repo.state, hook.now, is_gone, hook.event.session
        )[:DEAD]
    ]
    return any(ended)


def to_come(hook: Hook) -> str:
    """Return the previous session if it just ended and its record is still to come, else ''."""
    ended = sessions.some(hook.repo.state, ended=True, limit=2)
    before = next((session.id for session in ended if session.id != hook.event.session), "")
    asked = any(
        request.kind == requests.RECORD
        and request.session == before
        and abs(hook.now - request.at) < RECENT
        for request in requests.requested(hook.repo.state)
    )
    return before if asked else ""


def _short(body: str, left: "Sequence[str]" = (), below: int = 0) -> str:
    """Return a session's record as one line: what was done, what is `left` of it, what failed.

    What was asked and answered is for its owner alone.

    `below` is how many tasks that are left have a line of their own.
    """
    _, *parts = body.partition("\n## Last answer")[0].split("\n## ")
    by = {name: rest for name, _, rest in (part.partition("\n") for part in parts)}

    def items(name: str, most: int, length: int = 100) -> str:
        items = [
            clean(line[2:], length).rstrip(".")
            for line in by.get(name, "").splitlines()
            if line.startswith("- ")
        ]
        return "; ".join(items[:most]) + (
            f" and {len(items) - most} more" if len(items) > most else ""
        )

    done: list[str] = []
    for name, said in (("Changed", "changed"), ("Commits", "committed")):
        some = items(name, 4, 60)
        done += [f"{said} {some}"] if some else []
    out = [f"Done: {'; '.join(filter(None, done))}."] if any(done) else []
    open_tasks = [clean(text, 100).rstrip(".") for text in left[:LEFT]]
    open_tasks += [f"{len(left) - LEFT} more"] if len(left) > LEFT else []
    open_tasks += [f"{below} task{'' if below == 1 else 's'} below"] if below else []
    if open_tasks:
        out.append(f"Left: {'; '.join(open_tasks)}.")
    if some := items("Failed to the end", 3):
        out.append(f"Failed to the end: {some}.")
    return " ".join(out)


def _elsewhere(hook: Hook, briefing: "BriefingFacts") -> bool:
    """Return whether known code is no longer in its file, as far as was noted.

    A commit may have renamed the file.
    """
    gone = set()
    for row in [
        entry.row for entries in briefing.by.values() for entry in entries if entry.row is not None
    ]:
        anchor = next(
            (
                a
                for a in row["anchors"][:1]
                if isinstance(a, dict) and isinstance(a.get("path"), str)
            ),
            None,
        )
        if (
            anchor
            and hook.repo.root
            and not os.path.lexists(os.path.join(hook.repo.root, anchor["path"]))
        ):
            gone.add(str(row["id"]))
    # the user's own are of other repositories
    return any(hook.repo.stored_index.get(id) for id in gone) if hook.repo.stored_index else False


def _near(hook: Hook, paths: "list[str]") -> "list[Row]":
    rows: list[Row] = []
    for index in hook.repo.stored_indexes if paths else ():
        rows += index.rows(
            kinds=("gotcha",),
            statuses=LIVE,
            resolved=False,
            order="severity",
            agents=hook.repo.namespaces,
            limit=20,
            paths=paths,
            valid_at=stamp(hook.now),
        )
    return rows


class _Dirty:
    """Files that differ from the last commit, asked of git while other work goes on."""

    def __init__(self, hook: Hook) -> None:
        self._root = hook.repo.root
        self._pipe = self._child = 0
        if hook.repo.root and hook.repo.stored_index:
            args = (
                "-C",
                hook.repo.root,
                "--work-tree",
                hook.repo.root,
                "--no-optional-locks",
                "status",
                "--porcelain",
                "-z",
                "-uno",
                "--no-renames",
                "--ignore-submodules",
            )
            self._child, self._pipe = hook.repo.spawn_git(*args)

    def paths(self) -> "list[str]":
        """Return them, as far as git is quick."""
        if not self._child:
            return []
        import select

        data, until = b"", time.monotonic() + STATUS
        while (left := until - time.monotonic()) > 0 and select.select([self._pipe], [], [], left)[
            0
        ]:
            part = os.read(self._pipe, 1 << 16)
            if not part:
                break
            data += part
        os.close(self._pipe)  # a git that is slow ends with its pipe; nobody waits for it
        return [
            row[3:].decode("utf-8", "replace") for row in data.split(b"\0")[:-1] if len(row) > 3
        ][:DIRTY]
