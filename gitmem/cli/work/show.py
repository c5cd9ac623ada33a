"""Epics for people to see: one, as a card, and the list of all."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from gitmem.cli import options
from gitmem.cli.terminal import Terminal, age, plain
from gitmem.cli.work.epic_view import epic_view
from gitmem.cli.work.group import TABLE, chosen, opened, rows
from gitmem.records import epic as work
from gitmem.services.work import epics as service
from gitmem.services.work.epics import Epic
from gitmem.services.work.state_files import LONG_AGO
from gitmem.state import epic_holders
from gitmem.text.slugs import slug

COLORS = {
    "active": "green",
    "paused": "cyan",
    "left": "yellow",
    "crashed": "red",
    "aborted": "bright_black",
    "completed": "blue",
    service.ASIDE: "bright_black",
}
LISTED = 12  # stories that are named in a line


def when(at: str, now: float) -> str:
    """Return how long ago something was; a file that was imported may have told no time."""
    return "at a time that is not known" if at == LONG_AGO else age(at, now)


@click.command("show", short_help=TABLE["show"][2])
@click.argument("name", required=False)
@options.json_option
@click.pass_obj
def show_command(term: Terminal, name: str | None, as_json: bool) -> None:
    """Show an epic: state, progress, last action and next step.

    Without NAME: the one of this work tree.

    \b
    Examples:
      git mem work show
      git mem work show checkout-rework --json
    """
    with opened(term) as (app, desk):
        epic = service.load(desk, chosen(app, desk, name))
        if as_json:
            term.json(epic_view(epic))
            return
        for line in card(term, epic, desk.clock.now()):
            term.say(line)


def card(term: Terminal, epic: Epic, now: float, *, whole: bool = False) -> Iterator[str]:
    """Yield an epic for people; `whole` with what was done, story by story."""
    view = epic_view(epic)
    why = (
        f" ({plain(view['reason'])})"
        if view["reason"] and epic.condition in {"crashed", "left", "active"}
        else ""
    )
    yield (
        f"{term.style(plain(epic.slug), fg='yellow')}  {plain(epic.record.title)}  "
        f"{styled(term, epic.condition)}{why}"
    )
    for name, text in _facts(epic, view, now):
        yield f"  {name:<11}{plain(text)}"
    if whole:
        for text in _done(epic, now):
            yield f"  {plain(text)}"
    yield ""
    yield plain(view["resume_text"])


def styled(term: Terminal, condition: str) -> str:
    """Return how an epic stands, in its colour."""
    return term.style(condition, fg=COLORS.get(condition))


def _facts(epic: Epic, view: Mapping[str, Any], now: float) -> Iterator[tuple[str, str]]:
    """Yield the facts of an epic that are there: (name, text)."""
    facts = epic.facts
    last = facts["last"]
    rows = [
        ("by", epic.by),
        ("epic", view["external_id"]),
        ("progress", f"{facts['done']} of {facts['total']} stories done ({facts['percent']}%)"),
        ("story", _story(facts)),
        ("done", _first_ids(view["progress"]["done_story_ids"])),
        ("pending", _first_ids(view["progress"]["pending_story_ids"])),
        ("results", _results(view["current_story"]["phase_results"])),
        *_other_results(view["stories"]),
        ("last", _last_step(last, when(facts["at"], now)) if last else ""),
        ("context", _context(view)),
        ("executors", ", ".join(f"{name} {n}" for name, n in view["executor_counts"].items())),
        ("held by", _holder(view["holder"]) if view["holder"] else ""),
        (
            "overrides",
            ", ".join(
                f"{key} = {json.dumps(value, ensure_ascii=False)}"
                for key, value in view["overrides"].items()
            ),
        ),
    ]
    return ((name, text) for name, text in rows if text)


def _story(facts: Mapping[str, Any]) -> str:
    if not facts["story"]:
        return ""
    story = " ".join(filter(None, (facts["story"], facts["story_title"])))
    return _joined(
        story, facts["phase"], f"attempt {facts['attempts']}" if facts["attempts"] else ""
    )


def _first_ids(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - LISTED} more" if len(ids) > LISTED else ""
    return ", ".join(ids[:LISTED]) + more


def _other_results(stories: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    rows = [
        ("results", f"{story['id']}: {_results(story['phase_results'])}")
        for story in stories
        if story["phase_results"] and not story["current"]
    ]
    return rows[-LISTED:]


def _last_step(last: Mapping[str, str], at: str) -> str:
    who = f"by {last['executor']}" if last.get("executor") else ""
    return _joined(last.get("action", ""), at, who, last.get("note", ""))


def _context(view: Mapping[str, Any]) -> str:
    branch, files = view["branch"], view["changed_count"]
    return _joined(
        f"branch {branch}" if branch else "",
        f"{files} file{'s' if files > 1 else ''} changed" if files else "",
    )


def _holder(holder: Mapping[str, str]) -> str:
    session = f"session {holder['session'][:36]}" if holder.get("session") else ""
    who = holder.get("agent") or holder.get("person", "")
    return _joined(who, session, f"on {holder.get('host', '?')}")


def _results(given: Mapping[str, Any]) -> str:
    return "; ".join(f"{phase}: {result}" for phase, result in given.items())


def _joined(*parts: str) -> str:
    """Return the parts that are not empty, with commas."""
    return ", ".join(filter(None, parts))


def _by(epic: Epic) -> str:
    return f"by {epic.by}" if epic.by else ""


def _changed(epic: Epic, facts: Mapping[str, Any]) -> str:
    """Return when an epic was changed last."""
    return str(facts["at"] or epic.record.updated)


def _place(where: str, note: str) -> str:
    """Return where a checkpoint was made, and its note, as they follow its age."""
    return (f" at {where}" if where else "") + (f": {note}" if note else "")


def _done(epic: Epic, now: float) -> Iterator[str]:
    """Yield what was done: stories with who and when, checkpoints, files."""
    state = epic.state
    for sid in work.progress(state)["stories_done"]:
        done = state["stories"][sid]["done"]
        facts = done["v"] if isinstance(done["v"], dict) else {}
        who = f" by {facts['executor']}" if facts.get("executor") else ""
        times = facts.get("attempts")
        attempts = f", {times} attempts" if type(times) is int and times > 1 else ""
        yield f"[x] story {sid}{who}, {when(done['at'], now)}{attempts}"
    for mark in state.get("checkpoints", []):
        where = " ".join(str(mark[key]) for key in ("story", "phase") if mark.get(key))
        yield f"[c] checkpoint {age(mark['at'], now)}{_place(where, str(mark.get('note') or ''))}"
    files = sorted(state.get("files", {}))
    if files:
        yield (
            f"files: "
            f"{', '.join(files[:20])}{f' and {len(files) - 20} more' if len(files) > 20 else ''}"
        )


@click.command("list", short_help=TABLE["list"][2])
@click.option("--all", "-a", "everything", is_flag=True, help="Those that were discarded, too.")
@options.json_option
@click.pass_obj
def list_command(term: Terminal, everything: bool, as_json: bool) -> None:
    """List epics, the last changed first. * marks the one of this work tree.

    \b
    Examples:
      git mem work list
      git mem work list --all --json
    """
    with opened(term) as (app, desk):
        epics = [service.load(desk, row["id"]) for row in rows(app, archived=everything)]
        here = epic_holders.chosen(desk.state, desk.root)
        if as_json:
            term.json([{**epic_view(epic), "current": epic.record.id == here} for epic in epics])
            return
        for epic in epics:
            term.say(_epic_line(term, epic, epic.record.id == here, desk.clock.now()))
        if not epics and not everything and (aside := len(rows(app))):
            term.note(
                f"no epic is active; {aside} {'is' if aside == 1 else 'are'} put aside: git mem "
                f"work list --all"
            )
        elif not epics:
            term.note("no epics yet: git mem work start NAME --story ID --story ID")


def _epic_line(term: Terminal, epic: Epic, is_here: bool, now: float) -> str:
    facts, title = epic.facts, epic.record.title
    slug_ = term.style(f"{plain(epic.slug):<24}", fg="yellow")
    how = styled(term, f"{epic.condition:<9}")
    far = f"{facts['done']}/{facts['total']} ({facts['percent']}%)"
    # a name says it already where it was made from the title; one in other letters than ours says
    # nothing
    says_title = slug(title) == epic.slug and title.isascii()
    story = f"story {facts['story']}" if facts["story"] else ""
    tail = _joined(story, facts["phase"], _by(epic), when(_changed(epic, facts), now))
    tail = tail if says_title else f"{title}, {tail}"
    return f"{'*' if is_here else ' '} {slug_} {how} {far:<13} {plain(tail)}"
