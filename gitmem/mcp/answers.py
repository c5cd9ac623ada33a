"""The tools that read records: search, get, context."""

import os
from collections.abc import Iterator, Sequence
from typing import Any

from gitmem.agents.prompt_text import OVERHEAD, clean, fence, gotcha_lines, record_line
from gitmem.app import App
from gitmem.clock import stamp
from gitmem.errors import GitmemError, UnknownId, UserError
from gitmem.mcp.budget import REST, ToolAnswer
from gitmem.records.kinds import LIVE, PREFIX
from gitmem.records.record import Record
from gitmem.records.texts import place_text
from gitmem.repo.location import inside
from gitmem.repo.refs import branch
from gitmem.services.briefing import collect, layout
from gitmem.services.briefing.layout import ProjectState
from gitmem.services.facts.stores import UNREAD
from gitmem.services.records.attribution import in_order
from gitmem.services.retrieval.matcher import Match, best, find
from gitmem.services.retrieval.task import Task
from gitmem.services.sessions.quotes import without_quotes
from gitmem.text.tokens import tokens

Arguments = dict[str, Any]
Row = dict[str, Any]
SEARCHED = tuple(kind for kind in PREFIX if kind != "session")
SNIPPET = 200  # characters
LINE = 2000  # characters of a line of a record that is read whole
INDENT = 20
MATCHES = 12
_MARKS = str.maketrans("", "", "\x02\x03")  # around the words that match


def search(app: App, arguments: Arguments) -> str:
    """Return the records that match some words best, a line each."""
    hits = app.search(
        arguments["query"],
        arguments["limit"],
        kinds=SEARCHED,
        statuses=LIVE,
        agents=app.namespaces,
        valid_at=app.clock.stamp(),
        **app.scores().hiding(),
    )
    answer = ToolAnswer(arguments["budget"], app.own_addresses)
    for hit in app.contradicting(app.namespaces).marked(hits):
        answer.add_record(hit, _hit_lines)
    words = clean(arguments["query"], 100)
    return answer.text() or _nothing(app, f"no record matches '{words}'", "Try other words.")


def _hit_lines(hit: Row) -> list[str]:
    snippet = str(hit["snippet"] or "").translate(_MARKS)
    return [record_line(hit, body=clean(snippet, SNIPPET))]


def _nothing(app: App, what: str, otherwise: str) -> str:
    """Return what to say where there is nothing to tell, and why that may be."""
    if not any(index.count() for _, index in app.indexes()):
        hint = app.unfetched_hint() or "Keep facts with the tool remember."
        return f"Nothing is remembered of this repository yet. {hint}"
    return f"{what[:1].upper()}{what[1:]}. {otherwise}"


# -- whole records


def get(app: App, arguments: Arguments) -> str:
    """Return whole records by their ids; raises UnknownId if no id names one."""
    answer = ToolAnswer(arguments["budget"], app.own_addresses)
    failures: list[GitmemError] = []
    for id in dict.fromkeys(arguments["ids"]):
        try:
            _add_whole(app, answer, id)
        except UnknownId as error:
            failures.append(error)
            answer.add([f"- {clean(error, LINE)}"])
    if len(failures) == len(set(arguments["ids"])):
        raise failures[0]
    return answer.text("get fewer ids, or give a larger budget")


def _add_whole(app: App, answer: ToolAnswer, id: str) -> None:
    scope, stored = app.get(id)
    record = without_quotes(stored.record)
    if record.get("agent") == UNREAD:
        raise UnknownId(f"{record.id} waits for the user, who has not accepted it.")
    rows = app.rows(ids=[record.id], scopes=(scope,))
    if not rows:
        raise UnknownId(f"{record.id} is being indexed.", "Try again in a moment.")
    row = app.contradicting().marked(rows)[0]
    if answer.add_record(row, lambda shown: [record_line(shown, most=LINE)]):
        answer.add_cut([*_details(record), *_body_lines(record)])
        app.count_reads(scope, [record.id])


def _details(record: Record) -> Iterator[str]:
    """Yield what the first line of a record leaves out, a kind of fact a line."""
    facts = {
        "places": [place_text(anchor) for anchor in record.anchors[1:]],
        "replaces": record.fields.get("supersedes") or (),
        "linked to": record.fields.get("links") or (),
        "tags": record.tags,
        "holds until": [expires] if (expires := record.fields.get("expires")) else (),
        "done": [done["at"]] if (done := record.fields.get("done")) else (),
    }
    for name, values in facts.items():
        if values:
            yield f"  {name}: {clean(', '.join(map(str, values)), LINE)}"


def _body_lines(record: Record) -> Iterator[str]:
    for line in record.body.splitlines():
        text = line.lstrip()
        if text:
            indent = min(len(line) - len(text), INDENT)
            yield f"  {' ' * indent}{clean(text, LINE)}"


# -- what to know before work


def context(app: App, arguments: Arguments) -> str:
    """Return what matters for a task or a file; without both, what a session should know."""
    if not (arguments["task"] or arguments["file"]):
        return _of_session(app, arguments["budget"])
    files = [path_in(app, arguments["file"])] if arguments["file"] else []
    answer = ToolAnswer(arguments["budget"], app.own_addresses)
    matches = _matches(app, Task(arguments["task"], files))
    reasons = {match.row["id"]: match.reasons for match in matches}
    for row in _ordered(app, [match.row for match in matches]):
        answer.add_record(row, lambda shown: gotcha_lines(shown, reasons.get(shown["id"], ())))
    what = " and ".join(name for name in ("task", "file") if arguments[name])
    return answer.text() or _nothing(
        app, f"nothing is remembered of this {what}", "Search by words with the tool search."
    )


def _matches(app: App, task: Task) -> list[Match]:
    now = app.clock.now()
    kinds = ("gotcha", "memory")
    matches: list[Match] = []
    for _, index in app.indexes():
        matches += find(index, task, app.root, app.root, app.namespaces, now, kinds)
    scores = app.scores()
    return best(
        [match for match in matches if not scores.is_decayed(match.row)],
        app.state.snoozed(now),
        unconfirmed=bool(app.settings.get("unconfirmed")),
        most=MATCHES,
    )


def _ordered(app: App, rows: Sequence[Row]) -> list[Row]:
    """Return rows as hooks tell them: contradicting facts side by side, with their marks."""
    arranged = app.contradicting(app.namespaces).arranged(in_order(rows, app.own_addresses))
    return list(arranged)


def _of_session(app: App, budget: int) -> str:
    agents, now = app.namespaces, app.clock.now()
    facts = collect.gather(
        [index for _, index in app.indexes()],
        agents,
        stamp(now - collect.DAYS * 86400)[:10],
        unsure=bool(app.settings.get("unconfirmed")),
        totals=True,
        own=app.own_addresses,
        now=app.clock.stamp(),
        first=app.fact_order(agents),
    )
    if facts.empty:
        return _nothing(app, "nothing is remembered that holds now", "Use search for the rest.")
    name = os.path.basename(app.root or app.location.commondir)
    on = branch(app.location)
    place = ProjectState(
        name=clean(name, 100), day=app.clock.stamp()[:10], head=f"Branch {on}" if on else ""
    )
    fitted = layout.fit(
        layout.head(place),
        layout.sections(facts, place, clean),
        budget - OVERHEAD // 4 - REST,
        lambda line: tokens(line) + 1,
    )
    if not any(fitted.kept):
        raise UserError(
            f"nothing fits into {budget} tokens.", "Call context again with a larger budget."
        )
    lines = [line for line in fitted.lines if line]
    return fence(lines, OVERHEAD + sum(2 * len(line) + 1 for line in lines))


def path_in(app: App, name: str) -> str:
    """Return a file's path from the root of the repository; raises UserError outside of it."""
    if not app.root:
        return name.removeprefix("./")
    path = inside(name, app.root, app.root)
    if not path:
        raise UserError(
            f"'{clean(name, 200)}' is not in this repository.",
            "Name a file from the root of the repository.",
        )
    return path
