"""The command that decides how a session opens: greet, ask, or say nothing."""

import contextlib
import os
import sys
from typing import TYPE_CHECKING, Any

import click

from gitmem.agents.prompt_text import clean
from gitmem.app import App
from gitmem.base.processes import is_gone
from gitmem.cli import options
from gitmem.cli.terminal import Terminal, plain
from gitmem.clock import seconds
from gitmem.errors import External, UserError
from gitmem.services.briefing import collect, session_opening
from gitmem.services.briefing.session_opening import Opening, OpeningFacts
from gitmem.services.records.committers import author_if_foreign
from gitmem.state import epic_holders

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from gitmem.index.reader import Index
    from gitmem.transcripts.turn import Turn

SHOWN = 600  # characters of what is said
ASKED = 4000  # of a prompt that are looked at


@click.command("opening", short_help="Decide how a session opens: greet, ask or say nothing")
@click.option(
    "--history",
    "file",
    metavar="FILE",
    help="Read the previous session from this file: a history or an export of git mem, or a "
    "transcript of an agent.",
)
@click.option("--resumed", is_flag=True, help="The session continues an earlier conversation.")
@options.json_option
@click.pass_obj
def opening_command(term: Terminal, file: str | None, *, resumed: bool, as_json: bool) -> None:
    """Decide how an agent begins a session: greet, ask whether to go on, or say nothing; and why.

    Adds to 'git mem status': how to begin to talk. Pending tasks are always mentioned. Rules
    decide, or the model of the setting 'summariser'.

    \b
    Examples:
      git mem session opening
      git mem session opening --json
      git mem session opening --history .git/gitmem/sessions/history_20261120_091502_853c.jsonl
    """
    with term.open() as app:
        indexes = app.indexes()
        collected = _gather_facts(app, [index for _, index in indexes])
        goes_on = resumed or (file is None and _was_resumed(app))
        facts = session_opening.facts(
            app.state,
            collected,
            app.clock.now(),
            is_gone,
            app.home,
            session=_session(app),
            resumed=goes_on,
        )
        facts.epics = tuple(_open_epics(app))
        if file is not None:
            _read(app, file, facts)
        mine = next((index for prefix, index in indexes if not prefix), None)
        made = _decided(
            app,
            facts,
            collected,
            lambda entry: (
                entry.row is not None and entry.row["store"] == "shared" and entry.body is mine
            ),
        )
        if as_json:
            term.json(_opening_json(made))
            return
        term.say(f"{made.action}: {clean(made.reason, SHOWN)}")
        if made.text:
            term.say(clean(made.text, SHOWN + 5 * session_opening.LENGTH))
        if made.why:
            term.note(f"decided offline: {made.why}")


def _open_epics(app: App) -> list[str]:
    """Return the unfinished epics without a live session, as the start of a session shows them.

    The epic of this work tree comes first.
    """
    from gitmem.index import epics

    root = app.location.worktree or ""
    here = epic_holders.chosen(app.state, os.path.realpath(root) if root else "")
    unfinished = [
        (epic, how)
        for epic in epics.epics(app.index())
        if epic["rest"] in {"active", "paused"}
        and not (how := epics.condition(app.state, epic, app.clock.now(), is_gone))["alive"]
    ]
    unfinished.sort(key=lambda pair: pair[0]["id"] != here)
    return [
        f"{clean(epic['id'][4:], 64)} ({how['standing']}, {epic['done']} of {epic['total']} "
        f"stories done{_by(app, epic)})"
        for epic, how in unfinished
    ]


def _by(app: App, epic: "Mapping[str, Any]") -> str:
    """Return who changed an epic last, if that is somebody else."""
    other = author_if_foreign(epic, app.own_addresses)
    return f", by {clean(other, 120)}" if other else ""


def _opening_json(made: Opening) -> dict[str, Any]:
    return {
        "action": made.action,
        "reason": made.reason,
        "text": made.text or None,
        "task_texts": list(made.tasks),
        "model": made.by,
        "model_failure": made.why or None,
    }


def _session(app: App) -> str:
    """Return the session that the command runs in: it is not the one before."""
    from gitmem.cli.sessions.group import current

    return current(app.env)


def _was_resumed(app: App) -> bool:
    """Say whether the session that the command runs in was taken up again."""
    from gitmem.services.session_log import reader as histories
    from gitmem.state import sessions

    mine = sessions.get(app.state, _session(app))
    began = ""
    for row in histories.rows(app.home, mine) if mine is not None else ():
        began = (
            str(histories.facts(row).get("source"))
            if histories.event(row) == "SessionStart"
            else began
        )
    return began == "resume"


def _gather_facts(app: App, indexes: "Sequence[Index]") -> collect.BriefingFacts:
    agents = app.namespaces
    unsure = bool(app.settings.get("unconfirmed"))
    return collect.gather(
        indexes,
        agents,
        subjects=(*collect.CURRENT_SUBJECTS, collect.CONTEXT),
        session=_session(app),
        unsure=unsure,
        totals=True,
        own=app.own_addresses,
        now=app.clock.stamp(),
        first=app.fact_order(agents),
    )


def _decided(
    app: App,
    facts: OpeningFacts,
    collected: collect.BriefingFacts,
    is_shared: "Callable[[collect.BriefingEntry], bool]",
) -> Opening:
    """Return what the model decides, where one is asked for and answers; else what the rules do."""
    made = session_opening.decide(facts)
    model = app.model()
    if model is None:
        return made
    from gitmem.redaction.mask import scrub

    try:
        prompt = scrub(
            session_opening.model_facts(facts, collected, is_shared),
            app.settings.get("allowSecret"),
        ).text
        rows = [clean(row, SHOWN) for row in prompt.split("\n")]
        answer = model.ask(
            session_opening.INSTRUCTION,
            "\n".join(["<facts>", *rows, "</facts>"]),
            session_opening.SCHEMA,
        )
    except External as error:
        made.why = plain(str(error))
        return made
    if answer.get("action") not in session_opening.ACTIONS or not all(
        isinstance(answer.get(key), str) for key in ("text", "reason")
    ):
        made.why = f"{model.name} gave an answer that cannot be used."
        return made
    return session_opening.answered(facts, answer, model.name)


class _Seen:
    """What the turns of a session tell as they pass: none of them is kept."""

    def __init__(self) -> None:
        self.first = self.last = ""  # what was asked
        self.ended: float | None = None
        self.role = ""  # of whoever spoke or worked last, where the file knows times
        self.any = False

    def watch(self, turns: "Iterable[Turn]") -> "Iterator[Turn]":
        """Pass turns on; those of subagents are not looked at."""
        for turn in turns:
            yield turn
            if not turn.side:
                self._note(turn)

    def _note(self, turn: "Turn") -> None:
        from gitmem.transcripts.turn import ASSISTANT, USER

        if turn.role in {USER, ASSISTANT} and turn.text.strip():
            self.any = True
            if turn.role == USER and not turn.marked:
                self.last = turn.text
                self.first = self.first or turn.text
        if not turn.marked:  # a note waits for no answer
            self.role = turn.role if turn.at else ""
        with contextlib.suppress(ValueError):
            self.ended = max(seconds(turn.at), self.ended or 0.0)


def _read(app: App, file: str, facts: OpeningFacts) -> None:
    """Read the previous session from a file.

    The result tells what it was about, when it ended, whether it was cut off, and what it left to
    do.
    """
    from gitmem.extraction import extractor
    from gitmem.records.items import DONE, TASK
    from gitmem.redaction.mask import scrub
    from gitmem.text.equality import plain as same
    from gitmem.transcripts import ignored
    from gitmem.transcripts import reader as reading
    from gitmem.transcripts.turn import TOOL, USER

    if file != "-" and not os.path.isfile(file):
        raise UserError(
            f"there is no file '{file}'.", "Histories are listed by: git mem session list --json"
        )
    seen = _Seen()
    try:
        with sys.stdin.buffer if file == "-" else open(file, "rb") as stream:
            root = app.location.worktree or ""
            text = reading.readable(stream, "standard input" if file == "-" else f"'{plain(file)}'")
            items = extractor.extract(
                seen.watch(ignored.shown(reading.read(text, file), app.hidden(root), root))
            ).items
            changed = facts.now if file == "-" else os.stat(file).st_mtime
    except OSError as error:
        raise External(
            f"'{file}' cannot be read: {error.strerror}.", "Check its owner and mode."
        ) from error
    if not seen.any:
        raise UserError(
            f"'{file}' contains no session.",
            "Name a history or an export of ours, or a transcript of an agent.",
        )
    facts.first, facts.known = False, True
    facts.title = scrub(seen.first[:ASKED]).text
    facts.ended = changed if seen.ended is None else seen.ended
    facts.interrupted = seen.role in {USER, TOOL}  # nobody answered
    facts.at = scrub(seen.last[:ASKED]).text if facts.interrupted else ""
    done = {same(item.text) for item in items if item.kind == DONE}
    fresh = [
        scrub(item.text).text for item in items if item.kind == TASK and same(item.text) not in done
    ]
    facts.tasks = tuple(dict.fromkeys([*fresh, *facts.tasks]))
