"""`git mem why`: why lines of code are as they are."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from gitmem.app import App
from gitmem.cli import options, places
from gitmem.cli.json_shapes import (
    commit_json,
    mention_json,
    place_json,
    session_part_json,
    span_json,
)
from gitmem.cli.terminal import Terminal, age, path_shown, path_text, plain, short
from gitmem.clock import stamp
from gitmem.records.kinds import LIVE
from gitmem.services.provenance.explain import Explained, explain
from gitmem.services.provenance.why import Origin, SessionLines, lines_of
from gitmem.state.links import AI, COMMITTED

if TYPE_CHECKING:
    from gitmem.services.gotchas.placement import Placed

PATIENCE = 1.0  # seconds that code which is not where it was is looked for
WIDTH = 160
SHOWN = 3  # lines of the code


@click.command("why")
@click.argument("places_", nargs=-1, required=True, metavar="FILE[:LINE[-LINE]|#SYMBOL]...")
@click.option("--at", "revision", metavar="REV", default="", help="As the code was in this commit.")
@options.json_option
@click.pass_obj
def why_command(term: Terminal, places_: tuple[str, ...], revision: str, as_json: bool) -> None:
    """Show why code is as it is: the commits, sessions, prompts and decisions behind it.

    For each commit that made the code, the session and prompt behind it are shown, with what was
    decided then. What is known of the place is shown too.

    Moves and renames are followed. Prompts are in the histories of this machine alone.

    \b
    Examples:
      git mem why src/pay.py:40
      git mem why src/pay.py:40-60 --json
      git mem why src/pay.py#Cart.total
    """
    with term.open() as app:
        answers = [_answer(app, given, revision) for given in places_]
        if as_json:
            term.json(answers)
            return
        lines = [line for answer in answers for line in _lines(term, answer, app.clock.now())]
        term.page(lines, app, wraps=True)


def _answer(app: App, given: str, revision: str) -> dict[str, Any]:
    place = places.parse(app, given)
    history = app.code_history
    at = history.resolve(revision) if revision else "HEAD" if app.location.worktree is None else ""
    explained = explain(
        app.provenance(), place.path, place.first, place.last, place.symbol, at, revision
    )
    records = [] if revision else _records_at(app, place.path, explained)
    return {
        "path": path_text(place.path),
        "line": explained.first,
        "end_line": explained.last,
        "symbol": explained.symbol or None,
        "commit": at if revision else None,
        "source_lines": explained.lines[explained.first - 1 : explained.last][:SHOWN],
        "origins": [_origin(origin) for origin in explained.origins],
        "older_commit_count": explained.older,
        "records": records,
    }


def _records_at(app: App, path: str, explained: Explained) -> list[dict[str, Any]]:
    if not any(index.has_places() for _, index in app.indexes()):
        return []
    from gitmem.git.object_codec import object_id
    from gitmem.services.gotchas.placement import Guide
    from gitmem.services.provenance import here

    wanted: dict[str, Any] = {
        "kinds": ("gotcha", "memory"),
        "statuses": LIVE,
        "agents": options.agents(app, None),
    }
    guide = Guide(
        app.indexes(),
        app.follower,
        lambda **more: app.rows(**wanted, **more),
        app.state.snoozed(app.clock.now()),
        PATIENCE,
    )
    blob = object_id("blob", explained.data, app.objects.traits.hash)
    placed = here.records(guide, path, explained.first, explained.last, explained.lines, blob)
    for each in placed:
        app.count_reads(str(each.row["store"]), [each.row["id"]])
    return [_placed_json(each) for each in placed]


def _origin(origin: Origin) -> dict[str, Any]:
    """Return who wrote some of the lines; all is null of lines that are not committed."""
    return {
        **(commit_json(origin.commit) if origin.commit else _NOT_COMMITTED),
        "spans": list(map(span_json, origin.lines)),
        "former_paths": list(map(path_text, origin.moved)),
        "sessions": list(map(_part, origin.parts)),
        "other_sessions": list(map(session_part_json, origin.others)),
    }


_NOT_COMMITTED = dict.fromkeys(("commit", "at", "author", "subject"))


def _part(part: SessionLines) -> dict[str, Any]:
    return {
        **session_part_json(part),
        "at": stamp(part.at) if part.at else None,
        "spans": list(map(span_json, part.lines)),
        "prompt": part.prompt or None,
        "session_record": part.session_record or None,
        "title": part.title or None,
        "story": part.story or None,
        "records": list(map(mention_json, part.records)),
        "statements": [{"kind": kind, "text": text} for kind, text in part.said],
    }


def _placed_json(placed: "Placed") -> dict[str, Any]:
    return {
        **mention_json(placed.row),
        "workaround": placed.row.get("workaround") or None,
        "created": placed.row["created"],
        "is_resolved": bool(placed.row.get("resolved")),
        "place": place_json(placed.where),
    }


def _lines(term: Terminal, answer: Mapping[str, Any], now: float) -> Iterator[str]:
    first, last = answer["line"], answer["end_line"]
    name = f"{answer['path']}:{first}{f'-{last}' if last > first else ''}"
    yield term.style(path_shown(name), bold=True) + (
        f"  {plain(answer['symbol'])}" if answer.get("symbol") else ""
    )
    for number, text in enumerate(answer["source_lines"], first):
        yield term.style(
            f"{number:>6}  {plain(text.expandtabs(4).rstrip())[:WIDTH]}", fg="bright_black"
        )
    if last - first + 1 > len(answer["source_lines"]):
        yield term.style("     …", fg="bright_black")
    for origin in answer["origins"]:
        yield ""
        yield from _origin_lines(term, origin, (first, last), now)
    if answer["older_commit_count"]:
        older = answer["older_commit_count"]
        yield (
            f"\n{older} older commit{'' if older == 1 else 's'} made the other lines: name fewer "
            f"lines to see them."
        )
    if answer["records"]:
        yield ""
        yield "Known about this place:"
        for row in answer["records"]:
            yield from _record(term, row)


def _origin_lines(
    term: Terminal, origin: Mapping[str, Any], asked: tuple[int, int], now: float
) -> Iterator[str]:
    """Yield who made lines in which commit, and the sessions that had a part in it."""
    spans = _spans(origin)
    where = "" if spans == [asked] else f"  {_named(spans)}"
    if origin["commit"]:
        former = ", ".join(map(path_shown, origin["former_paths"]))
        yield (
            f"{term.style('commit ' + origin['commit'][:10], fg='yellow')} {origin['at'][:10]} "
            f"{plain(origin['author'].rpartition(' <')[0])}: {_cut(origin['subject'])}"
            f"{where}{f'  from {former}' if former else ''}"
        )
    else:
        yield f"{term.style('not committed yet', fg='yellow')}{where}"
    for part in origin["sessions"]:
        yield from _session(term, part, spans, now)
    for part in origin["other_sessions"]:
        yield f"  {_named_session(term, part)} had a part in this commit"


def _spans(row: Mapping[str, Any]) -> list[tuple[int, int]]:
    return [(span["line"], span["end_line"]) for span in row["spans"]]


def _unusual_kind(part: Mapping[str, Any]) -> str:
    return "" if part["kind"] == AI else str(part["kind"])


def _named_session(term: Terminal, part: Mapping[str, Any]) -> str:
    who = plain(
        ", ".join(word for word in (part["agent"], part["model"], _unusual_kind(part)) if word)
    )
    return f"session {term.style(plain(part['id'][:13]), fg='cyan')}{f' ({who})' if who else ''}"


def _session(
    term: Terminal, part: Mapping[str, Any], spans: Sequence[tuple[int, int]], now: float
) -> Iterator[str]:
    mine = _spans(part)
    which = f" {_named(mine)}" if mine != list(spans) else " it"
    did = f"{'wrote and committed' if part['how'] == COMMITTED else 'wrote'}{which}"
    when = f", {age(part['at'], now)}" if part.get("at") else ""
    story = f", story {plain(part['story'])}" if part.get("story") else ""
    yield f"  {_named_session(term, part)} {did}{when}{story}"
    if part.get("prompt"):
        yield f"    asked: {_cut(part['prompt'])}"
    elif part.get("title"):
        yield f"    about: {_cut(part['title'])}"
    for row in part.get("records", ()):
        yield from _record(term, row, "    ")
    for statement in part["statements"]:
        kind = "decided" if statement["kind"] == "decision" else "error"
        yield f"    {kind}: {_cut(statement['text'])}"


def _named(spans: Sequence[tuple[int, int]]) -> str:
    return f"line{'s' if len(spans) > 1 or spans[0][0] < spans[0][1] else ''} {lines_of(spans)}"


def _record(term: Terminal, row: Mapping[str, Any], margin: str = "  ") -> Iterator[str]:
    kind = row.get("severity") if row["kind"] == "gotcha" else row.get("type")
    label = f"{row['kind'] if row['kind'] == 'gotcha' else ''} {kind or ''}".strip()
    done = " (resolved)" if row.get("is_resolved") else ""
    spot = row.get("place") or {}
    line = f" (line {spot['line']})" if spot.get("line") else ""
    marks = f" ({plain(', '.join(row['trust_marks']))})" if row["trust_marks"] else ""
    yield (
        f"{margin}{label}: {term.style(short(row['id']), fg='yellow')} "
        f"{_cut(row['title'])}{marks}{line}{done}"
    )
    if row.get("workaround"):
        yield f"{margin}  {_cut(row['workaround'])}"


def _cut(text: str) -> str:
    text = plain(" ".join(text.split())) if text.strip() != text or "\n" in text else plain(text)
    return text if len(text) <= WIDTH else text[: WIDTH - 1] + "…"
