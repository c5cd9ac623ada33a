"""Which sessions had a part in a commit of the code, and which of its lines they wrote.

Kept as long as the repository: the histories of sessions and their edits go after 30 days.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from gitmem.base.sqlite import healing, transaction
from gitmem.state.database import State

# how a session had a part: it ran the command that made the commit; its edits wrote lines of it;
# else
COMMITTED, WROTE, TOOK_PART = "committed", "wrote", "took part"
# who wrote the lines, as Agent Trace names contributors
AI, HUMAN, MIXED, UNKNOWN = "ai", "human", "mixed", "unknown"
ASKED = 500  # commits of one question
_ORDER = "CASE how WHEN 'committed' THEN 0 WHEN 'wrote' THEN 1 ELSE 2 END"
_COLUMNS = "oid, session, agent, model, how, at, files, edits, kind"

Places = Sequence[tuple[int, Sequence[int]]]


class Link(NamedTuple):
    """A session's part in a commit.

    `files` are {path: [[first line, last line, when], ...]}, lines as the commit has them, times in
    epoch seconds: what it wrote, and nothing else. `edits` are the rows of `state.edits` that these
    are known by, with their lines (from 0) there. `kind` says who wrote the lines.
    """

    oid: str
    session: str
    agent: str = ""
    model: str = ""
    how: str = WROTE
    at: float = 0.0
    files: Mapping[str, Sequence[Sequence[Any]]] = {}
    edits: Places = ()
    kind: str = AI


@healing
def put(state: State, oid: str, links: Sequence[Link], patch: str, seen: int = 0) -> None:
    """Set who made a commit.

    `patch` is what `git patch-id` says of it, '' when that was not asked; `seen` is the newest edit
    that was looked at.
    """
    sql = f"INSERT OR REPLACE INTO links ({_COLUMNS}, seen) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    with transaction(state.db):
        state.db.execute("DELETE FROM links WHERE oid = ?", (oid,))
        for link in links:
            files, places = json.dumps(link.files, ensure_ascii=False), json.dumps(list(link.edits))
            about = (oid, link.session, link.agent, link.model, link.how, link.at)
            state.db.execute(sql, (*about, files, places, link.kind, seen))
        if patch:
            state.db.execute("INSERT OR REPLACE INTO patches VALUES (?, ?)", (oid, patch))


@healing
def of(state: State, oids: Iterable[str]) -> dict[str, list[Link]]:
    """Return the links of commits, those of the session that committed first."""
    out: dict[str, list[Link]] = {}
    wanted = list(dict.fromkeys(oids))
    for start in range(0, len(wanted), ASKED):
        part = wanted[start : start + ASKED]
        where = f"oid IN ({','.join('?' * len(part))})"
        for row in state.db.execute(
            f"SELECT {_COLUMNS} FROM links WHERE {where} ORDER BY {_ORDER}, session", part
        ):
            out.setdefault(row[0], []).append(_link(row))
    return out


@healing
def of_session(state: State, session: str) -> list[tuple[Link, str]]:
    """Return (link, patch id) of the commits that a session had a part in, the oldest first."""
    columns = ", ".join(f"l.{name}" for name in _COLUMNS.split(", "))
    sql = f"""SELECT {columns}, IFNULL(p.patch, '') FROM links l
        LEFT JOIN patches p ON p.oid = l.oid
        WHERE l.session = ? AND l.kind != 'human' ORDER BY l.at, l.oid"""
    return [(_link(row[:-1]), str(row[-1])) for row in state.db.execute(sql, (session,))]


@healing
def same_patch(state: State, patch: str) -> list[Link]:
    """Return the links of a commit that made the same change."""
    sql = (
        "SELECT p.oid FROM patches p JOIN links l ON l.oid = p.oid WHERE p.patch = ? ORDER BY "
        "p.oid LIMIT 1"
    )
    row = state.db.execute(sql, (patch,)).fetchone()
    return of(state, [row[0]]).get(row[0], []) if row else []


@healing
def held(state: State, since: float) -> dict[str, dict[int, set[int]]]:
    """Return {commit: {row of `state.edits`: its lines that the commit has}}.

    The commits are those that were linked since a time.
    """
    out: dict[str, dict[int, set[int]]] = {}
    for oid, edits in state.db.execute(
        "SELECT oid, edits FROM links WHERE at >= ? AND edits != '[]'", (since,)
    ):
        for number, places in json.loads(edits):
            out.setdefault(oid, {}).setdefault(number, set()).update(places)
    return out


@healing
def overtaken(state: State, since: float) -> list[str]:
    """Return the commits since a time that may have lines of an edit that was noted later.

    A command that writes a file and commits it is noted when it has ended.
    """
    sql = """SELECT DISTINCT l.oid FROM links l JOIN edits e ON e.n > l.seen AND e.at <= l.at + 1
        WHERE l.at >= ? AND e.at >= ?"""
    return [str(oid) for (oid,) in state.db.execute(sql, (since, since))]


@healing
def has_links(state: State) -> bool:
    """Say whether there is any link."""
    return state.db.execute("SELECT 1 FROM links LIMIT 1").fetchone() is not None


def _link(row: Sequence[Any]) -> Link:
    oid, session, agent, model, how, at, files, edits, kind = row
    return Link(
        oid,
        session,
        agent or "",
        model or "",
        how,
        at,
        json.loads(files),
        json.loads(edits),
        kind or AI,
    )
