"""Paragraphs of the summary that a model wrote, each for the facts that it was written for."""

from collections.abc import Collection

from gitmem.base.fast import dumps
from gitmem.base.sqlite import healing
from gitmem.state.database import State


@healing
def read(state: State, digest: str) -> str | None:
    """Return the paragraph for some facts; None if none was written, empty if there is none."""
    row = state.db.execute("SELECT text FROM paragraphs WHERE digest = ?", (digest,)).fetchone()
    return None if row is None else str(row[0])


@healing
def keep(state: State, digest: str, text: str) -> None:
    """Keep the paragraph for some facts."""
    state.db.execute("INSERT OR REPLACE INTO paragraphs VALUES (?, ?)", (digest, text))


@healing
def drop_others(state: State, digests: Collection[str]) -> None:
    """Drop the paragraphs but these."""
    sql = "DELETE FROM paragraphs WHERE digest NOT IN (SELECT value FROM json_each(?))"
    state.db.execute(sql, (dumps(list(digests)),))
