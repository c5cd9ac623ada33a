"""beads: a tracker of issues for agents, one JSON line an issue."""

import os
from collections.abc import Iterator, Sequence
from typing import Any

from gitmem.services.interchange.files import json_lines, name_in
from gitmem.services.interchange.item import (
    ForeignFormat,
    ForeignItem,
    ForeignSource,
    Surroundings,
)
from gitmem.services.interchange.values import (
    joined,
    maps_of,
    section,
    text_of,
    texts_of,
    time_of,
)

NAME = "beads"
FOLDER = ".beads"
FILES = ("issues.jsonl", "beads.jsonl")
TYPES = {"bug": "bug", "decision": "decision"}
DONE = frozenset({"closed", "done"})
IMPORTANCE = (9, 7, 5, 4, 3)  # of the priorities 0, the highest, to 4
PARTS = (
    ("design", "Design"),
    ("acceptance_criteria", "Acceptance criteria"),
    ("notes", "Notes"),
)
MAPPED = frozenset(
    {
        *("id", "title", "description", "design", "acceptance_criteria", "notes", "labels"),
        *("created_at", "updated_at", "closed_at", "created_by", "comments", "dependencies"),
    }
)


def _file(path: str) -> str:
    """Return the file with the issues: of `.beads`, of the folder that has it, or the path."""
    for folder in (os.path.join(path, FOLDER), path):
        for name in FILES:
            if os.path.isfile(os.path.join(folder, name)):
                return os.path.join(folder, name)
    return path


def _places(here: Surroundings) -> Sequence[str]:
    return here.below_root(*(f"{FOLDER}/{name}" for name in FILES))


def _fits(path: str) -> bool:
    file = _file(path)
    return os.path.isfile(file) and (
        os.path.basename(os.path.dirname(file)) == FOLDER or os.path.basename(file) in FILES
    )


def _read(source: ForeignSource) -> Iterator[ForeignItem]:
    file = _file(source.path)
    source.path = file
    for number, issue in json_lines(source, file):
        id, title = text_of(issue.get("id")), text_of(issue.get("title"))
        if text_of(issue.get("status")) == "tombstone" or issue.get("deleted_at"):
            source.leave_out(id or f"{name_in(source, file)}:{number}", "it was deleted there")
        elif not id or not title:
            source.leave_out(f"{name_in(source, file)}:{number}", "it has no id or no title")
        else:
            yield _issue(id, title, issue)


def _issue(id: str, title: str, issue: dict[str, Any]) -> ForeignItem:
    kind, status = text_of(issue.get("issue_type")), text_of(issue.get("status"))
    is_closed = status in DONE
    type = TYPES.get(kind, "task")
    created, updated = time_of(issue.get("created_at")), time_of(issue.get("updated_at"))
    pinned = bool(issue.get("pinned")) or status == "pinned"
    return ForeignItem(
        NAME,
        id,
        title,
        type=type,
        body=_body(issue),
        created=created,
        updated=updated or created,
        author=text_of(issue.get("created_by")),
        tags=(*texts_of(issue.get("labels")), *((kind,) if kind not in {"", "task", type} else ())),
        links=_linked(id, issue, supersedes=False),
        supersedes=_linked(id, issue, supersedes=True),
        status="archived" if is_closed else "pinned" if pinned else "active",
        done=_closed_at(issue) if is_closed and type == "task" else "",
        fields=_importance(issue.get("priority")),
        extra={key: value for key, value in issue.items() if key not in MAPPED and _says(value)},
    )


def _body(issue: dict[str, Any]) -> str:
    comments = [
        f"{text_of(row.get('author'))}, {time_of(row.get('created_at'))[:10]}: "
        f"{text_of(row.get('text'))}"
        for row in maps_of(issue.get("comments"))
    ]
    reason = text_of(issue.get("close_reason"))
    return joined(
        text_of(issue.get("description")),
        *(section(title, text_of(issue.get(key))) for key, title in PARTS),
        section("Comments", "\n\n".join(comments)),
        section("Closed", reason),
    )


def _linked(id: str, issue: dict[str, Any], *, supersedes: bool) -> tuple[str, ...]:
    out = []
    for row in maps_of(issue.get("dependencies")):
        other = text_of(row.get("depends_on_id"))
        if other and other != id and (text_of(row.get("type")) == "supersedes") == supersedes:
            out.append(other)
    return tuple(dict.fromkeys(out))


def _closed_at(issue: dict[str, Any]) -> str:
    times = (time_of(issue.get(key)) for key in ("closed_at", "updated_at", "created_at"))
    return next(filter(None, times), "")


def _importance(priority: Any) -> dict[str, Any]:
    if not isinstance(priority, int) or isinstance(priority, bool) or not 0 <= priority <= 4:
        return {}
    return {"importance": IMPORTANCE[priority]}


def _says(value: Any) -> bool:
    return value not in (None, "", [], {}, False)


FORMAT = ForeignFormat(NAME, "beads", _places, _fits, _read)
