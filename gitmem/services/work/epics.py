"""Epics: find the one that is meant, do something to it, say how it stands.

What is done is an operation of the store (`store.operations.work`), applied under its lock to the
record
as it is then: of two that work at once neither is lost, and one that is played back counts once.
Who is at it is noted in `state.db` beside it.
"""

import difflib
import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gitmem.base import processes
from gitmem.clock import Clock
from gitmem.errors import UserError
from gitmem.index import epics
from gitmem.records import epic as work
from gitmem.records.claims import claims_in
from gitmem.records.epic_operations import NAME, TEXT
from gitmem.records.record import Record, kind_of, make
from gitmem.records.texts import clean_text, clean_title
from gitmem.redaction.mask import scrub, scrub_all
from gitmem.services.records.write import Writer, require_unrejected, set_status
from gitmem.state import epic_holders, sessions
from gitmem.state.database import State
from gitmem.store import operations
from gitmem.store.store import Message, Store, Written
from gitmem.text.slugs import slug

HOLDING = frozenset(
    {"start", "story", "done", "reopen", "phase", "go", "restart", "checkpoint", "review", "error"}
)
RESTING = frozenset({"pause", "abort", "complete"})
ASIDE = "discarded"  # how an archived epic is called
_TEXTS = ("note", "result", "executor", "title")
_IDS = ("story", "next", "ref")


@dataclass(frozen=True, slots=True)
class Epic:
    """An epic as it stands: its record, what its state tells, and whether somebody is at it."""

    record: Record
    facts: Mapping[str, Any]
    how: Mapping[str, Any]
    by: str = ""  # who changed it last, if that is somebody else

    @property
    def slug(self) -> str:
        """Its name: the id without the kind."""
        return self.record.id[4:]

    @property
    def state(self) -> work.State:
        """Its state, in the one form."""
        return work.normal(self.record.fields.get("state"))

    @property
    def condition(self) -> str:
        """How it stands: active, left, crashed, paused, aborted, completed or discarded."""
        return ASIDE if self.record.status == "archived" else str(self.how["standing"])


@dataclass(frozen=True, slots=True)
class EpicServices:
    """Where work is done.

    It has the store, what this clone knows besides it, the work tree, and who is there.
    """

    store: Store
    state: State
    who: Writer
    clone: str  # its name, as epics know it
    root: str  # of the work tree; '' in a bare repository
    process: str = ""  # of who works here, as `gitmem.base.processes` has it
    branch: str = ""
    author: Callable[[str], str] = lambda _: ""  # who else changed an epic last, by its id

    @property
    def clock(self) -> Clock:
        """What tells the time."""
        return self.who.clock


# -- finding


def find(rows: Sequence[Mapping[str, Any]], text: str) -> str:
    """Return the id of the epic that a text names.

    The text is an id, a slug, the beginning of one, or the id that an epic has elsewhere. Raises
    UserError.
    """
    low = text.strip().lower()
    for match in (
        lambda row: low in {row["id"], row["id"][4:]},
        lambda row: bool(row["ref"]) and row["ref"].lower() == low,
        lambda row: row["id"][4:] == slug(text),
        lambda row: bool(low) and row["id"][4:].startswith(low),
    ):
        ids = [str(row["id"]) for row in rows if match(row)]
        if len(ids) == 1:
            return ids[0]
        if ids:
            raise UserError(
                f"'{text}' may be {', '.join(id[4:] for id in ids[:5])}.", "Give its whole name."
            )
    names = ", ".join(str(row["id"])[4:] for row in rows[:5])
    raise UserError(
        f"there is no epic '{text}'.",
        f"There {'is' if len(rows) == 1 else 'are'} {names}; see also: git mem work list --all"
        if rows
        else "Begin it: git mem work start NAME",
    )


def current(desk: EpicServices, rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the id of the epic that is meant if none is named.

    This is the epic of this work tree, that of this session, or the only one. Raises UserError.
    """
    live = [row for row in rows if row["status"] != "archived"]
    open_ = [row for row in live if row["rest"] in {work.ACTIVE, work.PAUSED}]
    here = epic_holders.chosen(desk.state, desk.root)
    if any(row["id"] == here for row in live):
        return here
    mine = [
        row
        for row in open_
        if desk.who.session and row["holder"].get("session") == desk.who.session
    ]
    for some in (mine, open_, live):
        if len(some) == 1:
            return str(some[0]["id"])
        if some:
            break
    if not live:
        raise UserError(
            "there is no epic yet.", "Begin one: git mem work start NAME --story ID --story ID"
        )
    names = ", ".join(str(row["id"])[4:] for row in (open_ or live)[:8])
    raise UserError(
        f"there are several epics: {names}.",
        "Name the one that you mean, or choose it for this work tree: git mem work start NAME",
    )


def insist(desk: EpicServices, id: str) -> Epic:
    """Return an epic that may be worked on.

    Raises UserError for one that is over: to take it up again is for somebody to say.
    """
    epic = load(desk, id)
    if epic.facts["rest"] not in {work.COMPLETED, work.ABORTED}:
        return epic
    if work.is_whole(epic.state):
        way = (
            f"Add a story: git mem work story --add ID --epic {epic.slug}. Or take one up again: "
            f"git mem work story ID --reopen --epic {epic.slug}"
        )
    else:
        way = f"Take it up again first: git mem work resume {epic.slug} --continue"
    raise UserError(f"the epic {epic.slug} is {epic.facts['rest']}; nothing changed.", way)


def require_checkpoint(epic: Epic) -> None:
    """Raise UserError where no checkpoint waits for an answer.

    One that was answered may be answered otherwise.
    """
    action = epic.facts["last"].get("action")
    if epic.state.get("checkpoints") and action in {
        work.CHECKPOINT_REACHED,
        work.GO,
        work.REVIEW,
        work.PAUSE,
        work.ABORT,
    }:
        return
    raise UserError(
        f"no checkpoint of the epic {epic.slug} waits for an answer; nothing changed.",
        f"Reach one: git mem work checkpoint --epic {epic.slug}. To see its state: git mem work "
        f"show {epic.slug}",
    )


def is_done(desk: EpicServices, id: str, sid: str) -> bool:
    """Say whether a story of an epic is done already."""
    named = str(clean({"story": sid}, desk.who.allow).get("story", ""))
    return work.is_done(load(desk, id).state, named)


def require_story(epic: Epic, sid: str) -> None:
    """Raise UserError for a story that an epic does not have.

    A typing error must not add a story.
    """
    every = work.stories(epic.state)
    if sid in every:
        return
    near = difflib.get_close_matches(sid, every, n=2, cutoff=0.5)
    meant = (
        f"Did you mean {' or '.join(near)}? "
        if near
        else f"It has {', '.join(every[:8])}{', …' if len(every) > 8 else ''}. "
        if every
        else ""
    )
    raise UserError(
        f"the epic {epic.slug} has no story '{sid}'; nothing changed.",
        f"{meant}To add it: git mem work story --add {shlex.quote(sid)}",
    )


def load(desk: EpicServices, id: str) -> Epic:
    """Return an epic as the store has it; raises UnknownId."""
    record = desk.store.get(id).record
    facts = {**work.facts(record.fields.get("state")), "id": id}
    how = epics.condition(desk.state, facts, desk.clock.now(), processes.is_gone)
    return Epic(record, facts, how, desk.author(id))


# -- doing


def do(
    desk: EpicServices,
    id: str,
    act: str,
    args: Mapping[str, Any],
    *,
    title: str = "",
    chooses: bool = True,
    holds: bool = True,
) -> Written:
    """Do something to an epic; `title` begins a new one where there is none.

    What changes nothing writes nothing.

    `chooses`: this work tree is at it from now on; `holds`: whoever works here is.
    """
    now = desk.clock.stamp()
    given = clean(args, desk.who.allow)
    if act in HOLDING:
        given["holder"] = _holder(desk)
        given["branch"] = desk.branch
    texts = (title, *(str(given.get(key) or "") for key in _TEXTS))
    require_unrejected(desk.store, desk.who, claims_in(*texts))
    new = _new(desk, id, clean_title(scrub(title, desk.who.allow).text), now) if title else None
    names = [str(given[key]) for key in ("phase", "story", "next") if given.get(key)]
    subject = f"work: {act} {id}{' ' if names else ''}{' '.join(names)}"
    message = Message(
        subject,
        "work",
        (id,),
        desk.who.agent if desk.who.agent != "global" else "",
        desk.who.session,
    )
    written = desk.store.write([operations.work(id, act, given, now, new)], message)
    if desk.state.in_memory:
        return written
    if act in HOLDING and holds:
        epic_holders.hold(
            desk.state,
            id,
            desk.clone,
            desk.who.session,
            desk.process,
            desk.clock.now(),
            processes.is_gone,
        )
    elif act in RESTING:
        epic_holders.release(desk.state, id)
    if chooses and (act in HOLDING or act == "import"):
        epic_holders.choose(desk.state, desk.root, id)
    return written


def discard(desk: EpicServices, epic: Epic) -> Written:
    """Put an epic aside: archived, in the store, and to be brought back."""
    written = set_status(desk.store, desk.who, epic.record, "archived", "discard").written
    if not desk.state.in_memory:
        epic_holders.release(desk.state, epic.record.id)
        if epic_holders.chosen(desk.state, desk.root) == epic.record.id:
            epic_holders.choose(desk.state, desk.root, "")
    return written


def _new(desk: EpicServices, id: str, title: str, now: str) -> Record:
    if kind_of(id) != "work":
        raise UserError(
            f"'{id[4:]}' is not a name for an epic.",
            "Use 1 to 64 letters a to z, digits, dots, hyphens.",
        )
    author = desk.who.person
    agent = desk.who.agent if desk.who.agent != "global" else None
    return make(
        "work",
        id,
        title,
        created=now,
        updated=now,
        rev=1,
        author=author,
        agent=agent,
        session=desk.who.session or None,
    )


def _holder(desk: EpicServices) -> dict[str, str]:
    """Return who is at it, as colleagues may know it."""
    session = sessions.get(desk.state, desk.who.session) if desk.who.session else None
    agent = session.agent if session else desk.who.agent if desk.who.agent != "global" else ""
    facts = {
        "host": os.uname().nodename,
        "agent": agent,
        "session": desk.who.session,
        "person": "" if agent else desk.who.author[0],
    }
    return {key: value for key, value in facts.items() if value}


def clean(args: Mapping[str, Any], allow: Sequence[str]) -> dict[str, Any]:
    """Return arguments in the form in which they may be stored.

    They have no secrets, and names and notes are one line and not too long. Raises UserError.
    """
    return {
        key: _clean_value(key, value, allow)
        for key, value in args.items()
        if value not in (None, "", [], {}, ())
    }


def _clean_value(key: str, value: Any, allow: Sequence[str]) -> Any:
    if key in _IDS:
        return _clean_name(value, allow)
    if key == "stories":
        return list(dict.fromkeys(_clean_name(sid, allow) for sid in value))
    if key == "titles":
        return {
            _clean_name(sid, allow): _clean_note(title, allow)
            for sid, title in value.items()
            if title.strip()
        }
    if key in _TEXTS:
        return _clean_note(value, allow)
    if key == "files":
        return sorted({clean_text(path) for path in value})
    return scrub_all(value, lambda text: scrub(text, allow).text)


def _clean_name(text: str, allow: Sequence[str]) -> str:
    name = clean_title(scrub(text, allow).text)
    if not name or len(name) > NAME:
        raise UserError(
            f"'{text[:40]}{'…' if len(text) > 40 else ''}' is not a name for a story.",
            f"Use one line of 1 to {NAME} characters.",
        )
    return name


def _clean_note(text: str, allow: Sequence[str]) -> str:
    note = " ".join(clean_text(scrub(text, allow).text).split())
    return note if len(note) <= TEXT else note[: TEXT - 1].rstrip() + "…"


# -- saying


# phases that are followed by another one; after any other a story is done
NEXT = {"validation": "development", "quality_gate": "push"}
OPTIONS = {
    "continue": "go on where it stopped",
    "review": "see what was done, change nothing",
    "restart": "begin story {story} anew; stories that are done stay done",
    "discard": "put the epic aside; git mem restore brings it back",
}


def next_step(epic: Epic) -> str:
    """Return what is to be done next, with the command that says so."""
    facts, name = epic.facts, epic.slug
    story, phase, action = (
        str(facts["story"]),
        str(facts["phase"]),
        str(facts["last"].get("action", "")),
    )
    if epic.condition == ASIDE:
        return f"bring it back if it is still wanted: git mem restore {epic.record.id}"
    if epic.condition == work.COMPLETED and (
        work.is_whole(epic.state) or not work.stories(epic.state)
    ):
        return f"nothing is left to do. Put it aside: git mem work discard {name}"
    if epic.condition in (work.COMPLETED, work.ABORTED):
        return (
            f"take it up again with git mem work resume {name} --continue, or put it aside: git "
            f"mem work discard {name}"
        )
    if epic.condition == work.PAUSED:
        return (
            f"go on{f' with story {story}' if story else ''}: git mem work resume {name} --continue"
        )
    if not story:
        return f"add a story: git mem work story --add ID --epic {name}"
    if action == work.CHECKPOINT_REACHED:
        return (
            f"answer the checkpoint: git mem work checkpoint --answer go --epic {name} (or pause, "
            f"review, abort)"
        )
    if action == work.ERROR_OCCURRED:
        return (
            f"deal with the error of story {story}, then: git mem work phase development --epic "
            f"{name}"
        )
    if not phase:
        return f"begin story {story}: git mem work phase development --epic {name}"
    if phase in NEXT:
        return (
            f"finish {phase} of story {story}, then: git mem work phase {NEXT[phase]} --epic {name}"
        )
    return f"finish {phase} of story {story}, then: git mem work story {story} --done --epic {name}"


def resume_text(epic: Epic) -> str:
    """Return in a few sentences where it stopped and what comes next."""
    facts = epic.facts
    out = []
    if facts["story"]:
        begun = (
            f"was in phase {facts['phase']}"
            if facts["phase"]
            else "was begun, in no phase yet"
            if facts["since"]
            else "is not begun yet"
        )
        attempts = f", attempt {facts['attempts']}" if facts["attempts"] > 1 else ""
        out.append(f"Story {facts['story']} {begun}{attempts}.")
    if facts["doer"] and facts["since"]:
        out.append(f"{facts['doer']} was working on it.")
    note = facts["last"].get("note")
    if note and facts["last"].get("action") in {work.ERROR_OCCURRED, work.PAUSE, work.ABORT}:
        words = {
            work.ERROR_OCCURRED: "The last error",
            work.PAUSE: "It was paused",
            work.ABORT: "It was aborted",
        }
        out.append(f"{words[facts['last']['action']]}: {str(note).rstrip('.')}.")
    out.append(f"Progress: {facts['done']} of {facts['total']} stories done ({facts['percent']}%).")
    step = next_step(epic)
    return " ".join(
        [*out, f"Next: {step}{'' if step.endswith(')') else '.' if ': ' not in step else ''}"]
    )


def options(epic: Epic) -> list[dict[str, str]]:
    """Return the four ways to go on: `option`, `label`, `command`."""
    story = epic.facts["story"] or "-"
    return [
        {
            "option": key,
            "label": label.format(story=story),
            "command": f"git mem work resume {epic.slug} --{key}",
        }
        for key, label in OPTIONS.items()
        if epic.condition != ASIDE and (epic.facts["story"] or key != "restart")
    ]


def results_of(state: work.State, sid: str) -> dict[str, Any]:
    """Return the results of a story's phases.

    These are the results of the attempt in progress, else of the attempt that completed the story.
    """
    run = {name: result["v"] for name, result in work.run_of(state, sid).get("results", {}).items()}
    done = work.value(state.get("stories", {}).get(sid, {}), "done")
    kept = done.get("results") if isinstance(done, Mapping) else None
    return run or (dict(kept) if isinstance(kept, Mapping) else {})
