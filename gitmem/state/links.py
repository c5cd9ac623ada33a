"""Which sessions made a commit of the code, and which of its lines. Kept as long as the repository: the histories of sessions go after 30 days."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from gitmem.base.sqlite import healing, transaction
from gitmem.state.database import State

# how a link is known, the surest first: the session ran the command that made the commit; its edits wrote lines of it; it edited a file of it
COMMITTED, WROTE, EDITED = "committed", "wrote", "edited"
ASKED = 500  # commits of one question


class Link(NamedTuple):
    """A session's part in a commit: `files` are {path: [[first line, last line, when], ...]}, lines as the commit has them, times in epoch seconds."""

    oid: str
    session: str
    agent: str = ""
    model: str = ""
    how: str = WROTE
    at: float = 0.0
    files: Mapping[str, Sequence[Sequence[Any]]] = {}
    edits: Sequence[int] = ()  # rows of `state.edits` that it is known by


@healing
def put(state: State, oid: str, links: Sequence[Link], patch: str) -> None:
    """Set who made a commit; `patch` is what `git patch-id` says of it, '' when that was not asked."""
    with transaction(state.db):
        state.db.execute("DELETE FROM links WHERE oid = ?", (oid,))
        for one in links:
            facts = json.dumps(one.files, ensure_ascii=False), json.dumps(list(one.edits))
            state.db.execute(
                "INSERT OR REPLACE INTO links VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (oid, one.session, one.agent, one.model, one.how, one.at, *facts),
            )
        if patch:
            state.db.execute("INSERT OR REPLACE INTO patches VALUES (?, ?)", (oid, patch))


@healing
def of(state: State, oids: Iterable[str]) -> dict[str, list[Link]]:
    """Return the links of commits, those of the session that committed first."""
    out: dict[str, list[Link]] = {}
    wanted = list(dict.fromkeys(oids))
    for start in range(0, len(wanted), ASKED):
        part = wanted[start : start + ASKED]
        sql = f"SELECT * FROM links WHERE oid IN ({','.join('?' * len(part))}) ORDER BY how, session"
        for row in state.db.execute(sql, part):
            out.setdefault(row[0], []).append(_link(row))
    return out


@healing
def of_session(state: State, session: str) -> list[tuple[Link, str]]:
    """Return (link, patch id) of the commits that a session had a part in, the oldest first."""
    sql = "SELECT l.*, IFNULL(p.patch, '') FROM links l LEFT JOIN patches p ON p.oid = l.oid WHERE l.session = ? ORDER BY l.at, l.oid"
    return [(_link(row[:8]), str(row[8])) for row in state.db.execute(sql, (session,))]


@healing
def same_patch(state: State, patch: str) -> list[Link]:
    """Return the links of a commit that made the same change."""
    row = state.db.execute(
        "SELECT p.oid FROM patches p JOIN links l ON l.oid = p.oid WHERE p.patch = ? ORDER BY p.oid LIMIT 1", (patch,)
    ).fetchone()
    return of(state, [row[0]]).get(row[0], []) if row else []


@healing
def used(state: State, since: float) -> dict[str, set[int]]:
    """Return {commit: rows of `state.edits` that it holds} of the commits linked since a time."""
    out: dict[str, set[int]] = {}
    for oid, edits in state.db.execute("SELECT oid, edits FROM links WHERE at >= ?", (since,)):
        out.setdefault(oid, set()).update(json.loads(edits))
    return out


@healing
def known(state: State) -> bool:
    """Say whether there is any link."""
    return state.db.execute("SELECT 1 FROM links LIMIT 1").fetchone() is not None


def _link(row: Sequence[Any]) -> Link:
    oid, session, agent, model, how, at, files, edits = row
    return Link(oid, session, agent or "", model or "", how, at, json.loads(files), json.loads(edits))
