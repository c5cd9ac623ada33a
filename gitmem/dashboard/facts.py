"""What the page shows of facts: rows of the table, and everything about one fact."""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from gitmem.app import App
from gitmem.cli.gotchas.places import read_text
from gitmem.cli.json_shapes import mention_json, whole_row_json
from gitmem.cli.rows import as_row
from gitmem.clock import stamp
from gitmem.dashboard.place import DashboardPlace
from gitmem.errors import UnknownId
from gitmem.records import score
from gitmem.records.kinds import FACTS
from gitmem.services.records import history
from gitmem.services.records.committers import TRUST_FIELDS, claim, out_of_date, trust_marks
from gitmem.services.views import inbox
from gitmem.store.layout import id_of_path
from gitmem.store.store import Store

# columns of the table, in the order of a row; a row is a list, as ten thousand objects would repeat
# their names
COLUMNS = (
    *("id", "kind", "type", "title", "status", "agent", "author", "session", "created", "updated"),
    *("score", "trust", "marks", "store", "paths", "severity", "tags", "resolved", "expires"),
    "origin",
)
FIELDS = (
    *TRUST_FIELDS,
    *score.FIELDS,
    *("oid", "agent", "session", "updated", "origin", "tags", "anchors", "expires"),
)
STEPS = 50  # commits of a fact's history that are shown with their diffs
DIFF_LINES, DIFF_WIDTH = 200, 2000  # of one diff, and characters of a line of it
CODE_BEFORE, CODE_AFTER, CODE_LINES = 2, 2, 40  # lines of code around a place
CODE_WIDTH = 400  # characters of a line of code


def fact_rows(app: App) -> list[list[Any]]:
    """Return all facts as rows of `COLUMNS`, the newest first: also ended and private ones."""
    scores = app.scores()
    decayed = scores.decayed()
    rows = app.contradicting().marked(app.rows(kinds=tuple(sorted(FACTS)), fields=FIELDS))
    return [_fact_row(row, scores.of(row).value, row["id"] in decayed) for row in rows]


def _fact_row(row: Mapping[str, Any], value: float, is_decayed: bool) -> list[Any]:
    decayed = is_decayed and row["status"] == "active"
    return [
        row["id"],
        row["kind"],
        row["type"] or row["kind"],
        row["title"],
        "decayed" if decayed else row["status"],
        row["agent"],
        str(row["author"] or "").partition(" <")[0],
        row["session"],
        row["created"],
        row["updated"],
        round(value, 2),
        trust_of(row),
        trust_marks(row),
        row["store"],
        _paths(row["anchors"]),
        row["severity"],
        row["tags"] or [],
        bool(row["resolved"]),
        row["expires"],
        row["origin"],
    ]


def trust_of(row: Mapping[str, Any]) -> str:
    """Return in one word how far a fact can be trusted."""
    if out_of_date(row):
        return "outdated"
    if row.get("contradicts"):
        return "contradicted"
    if claim(row):
        return "disputed"
    return "unconfirmed" if row["unconfirmed"] and not row.get("resolved") else "confirmed"


def _paths(anchors: object) -> list[str]:
    places = anchors if isinstance(anchors, list) else []
    names = [place.get("path") for place in places if isinstance(place, dict)]
    return [name for name in names if isinstance(name, str)]


def fact_with_history(place: DashboardPlace, id: str) -> dict[str, Any]:
    """Return a fact with its history, its relations, and its code as it is now."""
    record = place.data("show", "--", id)[0]
    with place.open() as app:
        scope = record["store"]
        marks = next(iter(_mentions(app, [record["id"]])), None)
        steps = _steps(app, scope, record["id"])
        code = [_code(app, where) for where in record.get("places") or ()]
        said = inbox.statements(app.indexes()).get(record["id"])
        contradicting = _mentions(app, record.get("contradicts") or ())
        successor = _successor(app, said[-1]["successor"] if said else "")
    return {
        "record": record,
        "trust_marks": marks["trust_marks"] if marks else [],
        "steps": steps,
        "graph": place.data("show", "--graph", "--depth=2", "--", id),
        "code": [part for part in code if part],
        "statements": list(said or ()),
        "successor": successor,
        "contradicts": contradicting,
    }


def _successor(app: App, id: str) -> dict[str, Any] | None:
    """Return the record that takes the place of a fact if what a session says of it is accepted."""
    try:
        return whole_row_json(as_row(*app.get(id))) if id else None
    except UnknownId:
        return None


def _mentions(app: App, ids: Sequence[str]) -> list[dict[str, Any]]:
    fields = (*TRUST_FIELDS, "type", "severity")
    rows = app.rows(ids=tuple(ids), fields=fields) if ids else []
    return [mention_json(row) for row in app.contradicting().marked(rows)]


def _steps(app: App, scope: str, id: str) -> list[dict[str, Any]]:
    """Return the commits of a record, the newest first, each with what it changed in it."""
    if scope == "user":
        app = app.user
        scope = "shared"
    scopes = ("private", "shared") if scope == "shared" else (scope,)
    steps = []
    for name in scopes:
        store = app.store(name)
        if store.tip() is not None:
            listed = islice(history.log(store, [id]), STEPS)
            steps += [_step(store, step, id, name) for step in listed]
    return sorted(steps, key=lambda step: str(step["at"]), reverse=True)


def _step(store: Store, step: history.HistoryStep, id: str, scope: str) -> dict[str, Any]:
    commit = step.commit
    values = step.trailers
    parent = commit.parents[0] if commit.parents else None
    return {
        "commit": commit.oid,
        "at": stamp(commit.author.time),
        "author": commit.author.name,
        "subject": commit.message.partition("\n")[0],
        "operation": next(iter(values.get("op", ())), None),
        "agent": next(iter(values.get("agent", ())), None),
        "session": next(iter(values.get("session", ())), None),
        "command": next(iter(values.get("command", ())), None),
        "store": scope,
        "diff": list(islice(_diff(store, parent, commit.oid, id), DIFF_LINES)),
    }


def _diff(store: Store, parent: str | None, oid: str, id: str) -> Iterator[str]:
    for change in history.changes(store, parent, oid):
        if id_of_path(change.path) != id or not change.path.endswith(".md"):
            continue
        old, new = (
            store.objects.read(side.oid).decode("utf-8", "replace").splitlines() if side else []
            for side in (change.old, change.new)
        )
        lines = difflib.unified_diff(old, new, n=2, lineterm="")
        yield from (line[:DIFF_WIDTH] for line in islice(lines, 2, None))


def _code(app: App, where: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the lines of a place as the work tree has them; None for what is not to be shown."""
    path, line = where.get("path"), where.get("line")
    if not isinstance(path, str) or app.hidden(app.location.worktree).has(path):
        return None
    if not isinstance(line, int):
        return {"path": path, "first_line": None, "lines": [], "place": where}
    text, _ = read_text(app, path)
    first = max(1, line - CODE_BEFORE)
    until = min(len(text), (where.get("end_line") or line) + CODE_AFTER, first + CODE_LINES)
    lines = [row[:CODE_WIDTH] for row in text[first - 1 : until]]
    return {"path": path, "first_line": first, "lines": lines, "place": where}
