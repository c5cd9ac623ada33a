"""A record as a line of the block in an agent's memory file, and back; which records go first.

Pure.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from gitmem.records.kinds import LIVE
from gitmem.records.score import Score
from gitmem.services.memory_files.managed_block import WORKAROUND, BlockEntry

TITLE, HELP = 300, 200  # characters
RANK = {"decision": 2, "rule": 3, "task": 4}
_AT = re.compile(r"(?<![^\s(\"'])@(?=\S)")
# what would be markup, or name a file to load, is another character here; an edited line comes back
# with the usual ones
_BACK = str.maketrans({"＠": "@", "‹": "<", "›": ">"})

Clean = Callable[[object, int], str]
Row = Mapping[str, Any]


def text_of(row: Row, clean: Clean) -> str:
    """Return a record as one harmless line: what it is, its title, what helps."""
    critical = "critical " if row["severity"] == "critical" else ""
    label = f"{critical}gotcha" if row["kind"] == "gotcha" else str(row["type"] or "fact")
    pinned = "pinned " if row["status"] == "pinned" else ""
    text = f"{pinned}{label}: {_harmless(row['title'], TITLE, clean)}"
    return (
        f"{text}{WORKAROUND}{_harmless(row['workaround'], HELP, clean)}"
        if row.get("workaround")
        else text
    )


def _harmless(value: object, most: int, clean: Clean) -> str:
    return _AT.sub("＠", clean(value, most)).replace(WORKAROUND, ", workaround: ")


def usual(text: str) -> str:
    """Return what somebody wrote into a line, with the characters that the line had others for."""
    return " ".join(text.translate(_BACK).split())


def whole(part: str, shown: str, value: str) -> str:
    """Return the full value of a part of an edited line.

    If the part was not edited, this is the value in the record, even if the line shows only its
    beginning.
    """
    cut = part.endswith("…") and value.startswith(usual(part[:-1]))
    return value if part == shown or cut else usual(part)


def entry_of(row: Row, clean: Clean) -> BlockEntry:
    """Return a record for the block, with the first place that it is about."""
    places = (
        [a.get("path") or a.get("glob") for a in row.get("anchors") or [] if isinstance(a, dict)]
        if row.get("origin") != "imported"
        else []
    )
    place = next((clean(p, 120) for p in places if isinstance(p, str)), "")
    return BlockEntry(str(row["id"]), text_of(row, clean), place)


def ranked(rows: Iterable[Row], score_of: Callable[[Row], Score]) -> list[Row]:
    """Return the records that a memory file may hold, the most telling first.

    What is pinned, critical gotchas, decisions, rules, tasks, all the others; in each by the score
    that is left. What has decayed is left out.
    """
    scored = [(row, score_of(row)) for row in rows if _tells(row)]
    ordered = sorted(
        ((row, score) for row, score in scored if not score.decayed),
        key=lambda pair: (
            _group(pair[0]),
            -pair[1].value,
            _reversed(str(pair[0]["created"])),
            str(pair[0]["id"]),
        ),
    )
    return [row for row, _ in ordered]


def _tells(row: Row) -> bool:
    return (
        row["kind"] in {"memory", "gotcha"}
        and row["status"] in LIVE
        and not row["resolved"]
        and not row["unconfirmed"]
    )


def _group(row: Row) -> int:
    if row["status"] == "pinned":
        return 0
    if row["kind"] == "gotcha":
        return 1 if row["severity"] == "critical" else 5
    return RANK.get(str(row["type"]), 5)


def _reversed(text: str) -> tuple[int, ...]:
    return tuple(-ord(c) for c in text)  # the newest first, where a sort has no second direction
