"""Summaries as sessions leave them, for tests of what is made of them."""

from pathlib import Path
from typing import Any

from gitmem.clock import stamp
from gitmem.records.items import SECTION, item_id
from gitmem.records.kinds import derived_id
from gitmem.records.record import Record, make
from gitmem.repo.refs import PRIVATE, SHARED
from tests.conftest import AUTHOR, add, git, new_store

NOW = 1_790_000_000.0


def entry(kind: str, text: str, at: float = NOW, **more: Any) -> dict[str, Any]:
    """Return an entry of a summary."""
    return {
        "id": item_id(text),
        "kind": kind,
        "text": text,
        "at": stamp(at),
        "session": "s0",
        **more,
    }


def sections(*entries: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Return entries by the section that their kind belongs to."""
    out: dict[str, list[dict[str, Any]]] = {}
    for one in entries:
        out.setdefault(SECTION.get(one["kind"], "pending_tasks"), []).append(one)
    return out


def cumulative(repo: Path, *entries: dict[str, Any], **fields: Any) -> Record:
    """Write the project summary."""
    return _write(
        repo,
        SHARED,
        "project",
        "Summary of this project",
        sections(*entries),
        NOW,
        scope="project",
        **fields,
    )


def digest(
    repo: Path, session: str, title: str, *entries: dict[str, Any], at: float = NOW, **fields: Any
) -> Record:
    """Write the digest of a session."""
    return _write(
        repo,
        PRIVATE,
        f"session {session}",
        title,
        sections(*entries),
        at,
        scope="session",
        session=session,
        **fields,
    )


def _write(
    repo: Path,
    ref: str,
    name: str,
    title: str,
    parts: dict[str, list[dict[str, Any]]],
    at: float,
    **fields: Any,
) -> Record:
    # the user's own, where the repository names one
    email = git(repo, "config", "--local", "--default", AUTHOR[1], "user.email")
    made = make(
        "summary",
        derived_id("sum", name),
        title,
        "claude.\n",
        created=stamp(at),
        updated=stamp(at),
        rev=1,
        author=f"{AUTHOR[0]} <{email}>",
        origin="captured",
        sections=parts or None,
        **fields,
    )
    store = new_store(repo, ref=ref, author=(AUTHOR[0], email))
    try:
        return add(store, made)
    finally:
        store.objects.close()
