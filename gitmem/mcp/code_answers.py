"""The tools that read code: why, scout."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from gitmem.agents.prompt_text import clean, record_line
from gitmem.app import App
from gitmem.clock import stamp
from gitmem.codemap import grammars
from gitmem.codemap.anchors import spec
from gitmem.errors import UserError
from gitmem.git.object_codec import object_id
from gitmem.mcp.answers import Arguments, Row, path_in
from gitmem.mcp.budget import ToolAnswer
from gitmem.records.kinds import LIVE, short_id
from gitmem.services.gotchas.placement import Guide, Placed
from gitmem.services.provenance import here
from gitmem.services.provenance.explain import Explained, explain
from gitmem.services.provenance.why import Origin, SessionLines, lines_of
from gitmem.services.records.committers import marked_title
from gitmem.services.scout.scout import lines
from gitmem.services.scout.scout_code import scout_code
from gitmem.services.scout.scout_memory import fit, remembered

PATIENCE = 1.0  # seconds that code which is not where it was is looked for
WIDTH = 160  # characters of a subject or a title
PATH = 200


def anchor_of(app: App, place: str) -> dict[str, Any]:
    """Return the anchor that a text names: `path`, `path:12-20`, `path#Symbol` or a glob.

    Paths are from the root of the repository, or absolute. Raises UserError.
    """
    text = place
    for path in spec.beginnings(place) if place.startswith("/") else ():
        if path.startswith("/") and app.root:
            text = path_in(app, path) + place[len(path) :]
            break
    anchor = spec.parse(text, lambda path: app.code_history.text(path, most=1) is not None)
    if "path" in anchor:
        anchor["path"] = path_in(app, str(anchor["path"]))
    return anchor


def why(app: App, arguments: Arguments) -> str:
    """Return the commits and sessions that made a place in the code, and what is known of it.

    What was asked in sessions is its owner's, and left out.
    """
    anchor = anchor_of(app, arguments["place"])
    if "path" not in anchor:
        raise UserError(
            f"'{clean(arguments['place'], PATH)}' is not one file.",
            "Name it as path, path:12, path:12-20 or path#Symbol.",
        )
    path, (first, last) = anchor["path"], anchor.get("lines") or (0, 0)
    at = "" if app.root else "HEAD"
    explained = explain(app.provenance(), path, first, last, anchor.get("symbol") or "", at)
    answer = ToolAnswer(arguments["budget"], app.own_addresses)
    span = lines_of([(explained.first, explained.last)])
    symbol = f" ({clean(explained.symbol, WIDTH)})" if explained.symbol else ""
    answer.add([f"{clean(path, PATH)}, lines {span}{symbol}:"])
    for placed in _placed(app, path, explained):
        answer.add_record(placed.row, partial(_placed_lines, placed))
    for origin in explained.origins:
        answer.add(list(_origin_lines(origin)))
    if explained.older:
        answer.add([f"- {explained.older} older commits made the other lines: name fewer lines."])
    return answer.text()


def _placed_lines(placed: Placed, row: Row) -> list[str]:
    spot = f"{clean(placed.where.path, PATH)}:{placed.where.first}"
    return [record_line(row, spot=spot)]


def _placed(app: App, path: str, explained: Explained) -> list[Placed]:
    """Return what is known of a place, and count that it is read."""
    if not any(index.has_places() for _, index in app.indexes()):
        return []
    filters: dict[str, Any] = {
        "kinds": ("gotcha", "memory"),
        "statuses": LIVE,
        "agents": app.namespaces,
    }
    guide = Guide(
        app.indexes(),
        app.follower,
        lambda **more: app.rows(**filters, **more),
        app.state.snoozed(app.clock.now()),
        PATIENCE,
    )
    blob = object_id("blob", explained.data, app.objects.traits.hash)
    placed = here.records(guide, path, explained.first, explained.last, explained.lines, blob)
    for fact in placed:
        app.count_reads(str(fact.row["store"]), [fact.row["id"]])
    return placed


def _origin_lines(origin: Origin) -> Iterator[str]:
    """Yield a commit and the sessions that wrote some of its lines."""
    where = f"lines {lines_of(origin.lines)}"
    commit = origin.commit
    if commit is None:
        yield f"- not committed yet, {where}"
    else:
        author = clean(commit.author, 80)
        subject = clean(commit.subject, WIDTH)
        yield f"- commit {commit.oid[:10]} {stamp(commit.at)[:10]} by {author}, {where}: {subject}"
    if origin.moved:
        yield f"  from {clean(', '.join(origin.moved), PATH)}"
    for part in origin.parts:
        yield from _session_lines(part)


def _session_lines(part: SessionLines) -> Iterator[str]:
    who = clean(", ".join(filter(None, (part.agent, part.model))), 80)
    about = f": {clean(part.title, WIDTH)}" if part.title else ""
    yield f"  session {clean(part.session[:13], 13)} ({who}) wrote {lines_of(part.lines)}{about}"
    for row in part.records:
        kind = row["severity"] if row["kind"] == "gotcha" else row["type"]
        label = clean(f"{row['kind']} {kind}" if row["kind"] == "gotcha" else kind, 40)
        yield f"    [{label} {short_id(row['id'])}] {clean(marked_title(row), 2 * WIDTH)}"


def find_files(app: App, arguments: Arguments) -> str:
    """Return the files and definitions that a task is about, and what is remembered of them."""
    task = arguments["task"]
    code = scout_code(app.code_map, app.code_history, task, arguments["limit"])
    findings = code.findings
    now = app.clock.now()
    matches = remembered(
        [index for _, index in app.indexes()],
        task,
        findings,
        app.root,
        app.namespaces,
        now,
        app.state.snoozed(now),
        unconfirmed=bool(app.settings.get("unconfirmed")),
    )
    findings, matches = fit(findings, matches, arguments["budget"])
    answer = ToolAnswer(arguments["budget"], app.own_addresses)
    if code.no_commit:
        answer.add([f"- {code.no_commit} What is remembered was searched, code was not."])
    if code.left_out:
        answer.add([f"- {code.left_out:,} files of code are not read yet. Ask again to go on."])
    if code.unreadable:
        languages = sorted({grammars.TITLES[name] for name in code.unreadable.values()})
        answer.add([f"- {', '.join(languages)} is not read: the grammar is not installed."])
    for match in matches:
        answer.add_record(match.row, lambda row: [record_line(row)])
    for finding in findings:
        first, *more = lines([finding], numbered=False)
        answer.add([f"- {clean(first[2:], 400)}", *(f"  {clean(line, 400)}" for line in more)])
    return answer.text() or (
        "No file or record matches this task. Name a file, a function, or the error that you see."
    )
