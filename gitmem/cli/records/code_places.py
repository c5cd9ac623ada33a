"""Where the code of a record is now, for `git mem show`."""

from typing import Any

from gitmem.app import App
from gitmem.cli.json_shapes import place_json
from gitmem.codemap.anchors.placement import Placement
from gitmem.records.record import Record

PLACES = 32  # of a record that are looked at


def code_places(app: App, record: Record) -> tuple[list[dict[str, Any]], list[str]]:
    """Return where the code of a record is now, and the same in words: both by anchor."""
    if app.location.worktree is None or not record.anchors:
        return [], []
    places = [(anchor, app.follower.now(anchor)) for anchor in record.anchors[:PLACES]]
    return [place_json(where) for _, where in places], [_code_note(*pair) for pair in places]


def _code_note(anchor: dict[str, Any], where: Placement) -> str:
    """Return where the code of an anchor is now, in words; '' when it is as it was."""
    change = {
        "adrift": "not found any more",
        "changed": "changed since",
        "approximate": "only its definition is there",
    }.get(where.state, "changed since" if where.stale else "")
    note = ", ".join(filter(None, (_new_place(anchor, where), change)))
    return f" ({note})" if note else ""


def _new_place(anchor: dict[str, Any], where: Placement) -> str:
    """Return the place of moved code in words; '' when it did not move."""
    moved_file = where.path != anchor.get("path")
    if where.state == "file":
        return f"now {where.path}" if moved_file else ""
    if where.state in {"adrift", "glob"}:
        return ""
    span = anchor.get("lines")
    moved_lines = isinstance(span, list) and span[:1] != [where.first]
    return f"now {where.path}:{where.first}" if moved_file or moved_lines else ""
