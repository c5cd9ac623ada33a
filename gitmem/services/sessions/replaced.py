"""What a session replaced, merged or closed in the project summary.

The changes are lines of its digest, with the command that takes them back.
"""

from gitmem.records.items import TASK
from gitmem.records.record import Record
from gitmem.records.summary_entries import Entry, key_of
from gitmem.services.records.write import Change
from gitmem.services.sessions import project_summary

HEADING = "In the project summary"
MOST = 20  # lines that a digest has of this


def lines(change: Change, scope: str) -> list[str]:
    """Return a line for each older entry that a change of the summary replaced, merged or closed.

    None for what was only condensed.
    """
    commit = change.written.commit
    before, after = _entries(change.before), _entries(change.after)
    out = []
    for id, old in before.items():
        new = after.get(id) or next(
            (entry for entry in after.values() if id in (entry.get("also") or ())), None
        )
        if new is None:
            out.append(f"closed: {old['text']}" if old.get("kind") == TASK else "")
        elif not new.get("of") and new["text"] != old["text"]:
            word = (
                "closed"
                if old.get("kind") == TASK and new.get("kind") != TASK
                else "reworded"
                if key_of(new) == id
                else "replaced"
            )
            out.append(f"{word}: {old['text']} Now: {new['text']}")
    back = (
        f" (take it back: git mem undo {commit[:10]}{' --private' if scope == 'private' else ''})"
        if commit
        else ""
    )
    return [line + back for line in out if line][:MOST]


def _entries(record: Record | None) -> dict[str, Entry]:
    return {
        key_of(entry): entry for part in project_summary.sections(record).values() for entry in part
    }


def of(body: str) -> list[str]:
    """Return the lines that a digest's text has under our heading."""
    return [
        line[2:]
        for line in body.partition(f"\n## {HEADING}\n")[2].splitlines()
        if line.startswith("- ")
    ]


def with_lines(body: str, new: list[str]) -> str:
    """Return a digest's text with lines under our heading, at its end.

    The new lines come before those that are already there.
    """
    text = body.partition(f"\n## {HEADING}\n")[0].rstrip("\n") + "\n"
    every = list(dict.fromkeys([*new, *of(body)]))[:MOST]
    return text + (
        f"\n## {HEADING}\n\n" + "".join(f"- {' '.join(line.split())}\n" for line in every)
        if every
        else ""
    )
