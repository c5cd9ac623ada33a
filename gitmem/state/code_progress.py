"""How far background work on the code of a repository is. Part of the hot path."""

from gitmem.base.fast import dumps, loads
from gitmem.base.sqlite import healing, transaction
from gitmem.state.database import State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any


def _get(state: State, columns: str) -> "tuple[Any, ...]":
    row = state.db.execute(f"SELECT {columns} FROM code_progress").fetchone()
    return row or (None,) * (columns.count(",") + 1)


def _set(state: State, **values: "str | float") -> None:
    names = ", ".join(values)
    changes = ", ".join(f"{name} = excluded.{name}" for name in values)
    state.db.execute(
        f"INSERT INTO code_progress (one, {names}) VALUES (1{', ?' * len(values)}) "
        f"ON CONFLICT DO UPDATE SET {changes}",
        tuple(values.values()),
    )


# -- the DNA


@healing
def dna_commit(state: State) -> str:
    """Return the commit whose DNA was read last, '' if none was."""
    return _get(state, "dna_commit")[0] or ""


@healing
def note_dna(state: State, commit: str) -> None:
    """Note that the DNA of a commit is read."""
    _set(state, dna_commit=commit)


@healing
def claim_dna(state: State, commit: str) -> bool:
    """Say whether the DNA of a commit is to be read: nobody has read it or asked for it."""
    if commit in _get(state, "dna_commit, dna_asked"):
        return False  # without a lock, which may be another's
    with transaction(state.db):
        due = commit not in _get(state, "dna_commit, dna_asked")
        if due:
            _set(state, dna_asked=commit)
    return due


# -- what branches and work trees change at the same time


@healing
def last_drift(state: State) -> "tuple[str, float, float] | None":
    """Return (state of the refs, when, seconds it took) of the last search, None before it."""
    refs, at, took = _get(state, "drift_refs, drift_at, drift_seconds")
    return None if refs is None else (refs, at, took)


@healing
def note_drift(state: State, refs: str, at: float, took: float) -> None:
    """Note that it was searched."""
    _set(state, drift_refs=refs, drift_at=at, drift_seconds=took)


# -- commits and the sessions that made them


@healing
def linked(state: State) -> "tuple[str, list[str]]":
    """Return the state of the refs, and the heads, up to which commits are linked to sessions."""
    refs, heads = _get(state, "linked_refs, linked_heads")
    return refs or "", loads(heads or "[]")


@healing
def note_linked(state: State, refs: str, heads: "Sequence[str]") -> None:
    """Note up to where commits are linked to sessions."""
    _set(state, linked_refs=refs, linked_heads=dumps(list(heads)))


@healing
def unlinked(state: State) -> "dict[str, int]":
    """Return {commit: how often it was examined} of new commits whose maker is unknown so far."""
    return dict(state.db.execute("SELECT oid, tries FROM unlinked_commits"))


@healing
def replace_unlinked(state: State, tries: "Mapping[str, int]") -> None:
    """Keep the commits whose maker is unknown so far."""
    with transaction(state.db):
        state.db.execute("DELETE FROM unlinked_commits")
        state.db.executemany("INSERT INTO unlinked_commits VALUES (?, ?)", list(tries.items()))


# -- facts against the code


@healing
def checked(state: State) -> "dict[str, Any]":
    """Return what facts were checked against last, as `note_checked` got it; empty for nothing."""
    text = _get(state, "checked")[0]
    return loads(text) if text else {}


@healing
def note_checked(state: State, what: "Mapping[str, Any]") -> None:
    """Note the code and the stores of a check: `code` names a state of a work tree.

    `shared` and `private` are the tips of the stores, `refuted` the ids with findings.
    """
    _set(state, checked=dumps(dict(what)))
