"""What a session's record says about the commits that the session contributed to.

It tells another clone, and this one if its own notes are lost.

Its field `commits` is a list of {id: COMMIT, patch: what `git patch-id` says, how: wrote, files:
{src/pay.py: "3-9,12"}, added: {src/pay.py: "1-7,9"}}: the lines that the session wrote, and which
of the lines that the commit added to the file these are. The same change has the same lines
elsewhere when it stands in another commit.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from gitmem.git.added_lines import added
from gitmem.git.code_history import CodeHistory
from gitmem.records.record import Record
from gitmem.repo.location import storable
from gitmem.state.links import AI, COMMITTED, MIXED, TOOK_PART, UNKNOWN, WROTE, Link

COMMITS, FILES, SPANS = 60, 40, 60  # of each that a session record names
_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_SPAN = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")


def field(
    rows: Sequence[tuple[Link, str]], hides: Callable[[str], bool]
) -> list[dict[str, Any]] | None:
    """Return the field `commits` of (link, patch id); None when there is nothing to say."""
    out = []
    for link, patch in rows[-COMMITS:]:
        paths = [path for path in sorted(link.files) if not hides(path)][:FILES]
        numbers = {
            path: _spans(map(_numbers, link.files[path]))
            for path in paths
            if all(len(row) > 3 for row in link.files[path])
        }
        facts = {
            "id": link.oid,
            "patch": patch,
            "how": link.how,
            "agent": link.agent,
            "model": link.model,
            "kind": "" if link.kind == AI else link.kind,
            "files": {path: _spans(link.files[path]) for path in paths},
            "added": numbers,
        }
        out.append({key: value for key, value in facts.items() if value})
    return out or None


def _numbers(row: Sequence[Any]) -> tuple[int, int]:
    """Return which of the lines that a commit added some lines are, from 1."""
    first, last, _, number = row[:4]
    return number, number + last - first


def _spans(rows: Iterable[Sequence[Any]]) -> str:
    """Return lines as `3-9,12`; those that two edits wrote side by side are joined."""
    joined: list[list[int]] = []
    for first, last, *_ in rows:
        if joined and joined[-1][1] + 1 >= first:
            joined[-1][1] = max(joined[-1][1], last)
        else:
            joined.append([first, last])
    return ",".join(
        str(first) if first == last else f"{first}-{last}" for first, last in joined[:SPANS]
    )


class CommitFacts(NamedTuple):
    """What a session record says about a commit.

    `added` has line numbers that count only the lines that the commit added.
    """

    link: Link
    patch: str
    added: Mapping[str, Sequence[Sequence[int]]]


def links(record: Record) -> list[CommitFacts]:
    """Return what a record says of commits, what cannot be read left out; times are not told."""
    out = []
    rows = record.fields.get("commits")
    for row in rows if isinstance(rows, list) else ():
        if (
            not isinstance(row, Mapping)
            or not isinstance(row.get("id"), str)
            or not _ID.fullmatch(row["id"])
        ):
            continue
        files, added_ = (_lines(row.get(key)) for key in ("files", "added"))
        how = row.get("how") if row.get("how") in {COMMITTED, WROTE, TOOK_PART} else WROTE
        kind = row.get("kind") if row.get("kind") in {MIXED, UNKNOWN} else AI
        agent, model, patch = (str(row.get(key) or "") for key in ("agent", "model", "patch"))
        link = Link(
            row["id"],
            str(record.get("session")),
            agent,
            model,
            str(how),
            0.0,
            files,
            kind=str(kind),
        )
        out.append(CommitFacts(link, patch, added_))
    return out


def placed(
    history: CodeHistory, oid: str, numbers: Mapping[str, Sequence[Sequence[int]]]
) -> dict[str, list[list[int]]]:
    """Return the lines of a commit that some numbers among its added lines mean.

    The form is {file: [[first, last, 0], ...]}.
    """
    out: dict[str, list[list[int]]] = {}
    for file in added(history, oid) if numbers else ():
        path = storable(file.path)
        lines = [first + n for first, texts in file.runs for n in range(len(texts))]
        for first, last, *_ in numbers.get(path, ()):
            out.setdefault(path, []).extend([line, line, 0] for line in lines[first - 1 : last])
    return out


def _lines(files: object) -> dict[str, list[list[int]]]:
    if not isinstance(files, Mapping):
        return {}
    return {str(path): _parsed(text) for path, text in files.items() if isinstance(text, str)}


def _parsed(text: str) -> list[list[int]]:
    spans = (_SPAN.fullmatch(part) for part in text.split(","))
    return [[int(span[1]), int(span[2] or span[1]), 0] for span in spans if span]
