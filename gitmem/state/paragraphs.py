"""Paragraphs of the summary that a model wrote, each for the facts that it was written for."""

from gitmem.base.sqlite import healing
from gitmem.state.database import State


@healing
def read(state: State, digest: str) -> str | None:
    """Return the paragraph for some facts; None if none was written, empty if there is none."""
    row = state.db.execute("SELECT text FROM paragraphs WHERE digest = ?", (digest,)).fetchone()
    return None if row is None else str(row[0])


@healing
def keep(state: State, section: str, digest: str, text: str) -> None:
    """Keep the paragraph of a section; the one before it goes."""
    state.db.execute("INSERT OR REPLACE INTO paragraphs VALUES (?, ?, ?)", (section, digest, text))
