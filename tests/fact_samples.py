"""Facts and records of sessions as sessions and people leave them, for tests of what is made of them."""

from pathlib import Path
from typing import Any

from gitmem.clock import stamp
from gitmem.records.kinds import derived_id
from gitmem.records.record import Record, make
from gitmem.repo.refs import PRIVATE, SHARED
from tests.conftest import AUTHOR, add, git, new_store

NOW = 1_790_000_000.0


def fact(kind: str, text: str, at: float = NOW, **more: Any) -> dict[str, Any]:
    """Return what a fact says: an `error` is a gotcha, `done` a task that was done at that time."""
    return {"kind": kind, "text": text, "at": stamp(at), "session": "s0", **more}


def shared_facts(repo: Path, *facts: dict[str, Any]) -> list[Record]:
    """Write facts that people wrote into the shared store."""
    return [_write(repo, SHARED, _record(said, "manual")) for said in facts]


def session_record(
    repo: Path,
    session: str,
    title: str,
    *facts: dict[str, Any],
    at: float = NOW,
    body: str = "claude.\n",
    **fields: Any,
) -> Record:
    """Write the record of a session, and the proposals that it left."""
    for said in facts:
        _write(repo, PRIVATE, _record({**said, "session": session}, "extracted"))
    made = make(
        "session",
        derived_id("ses", f"session {session}"),
        title,
        body,
        created=stamp(at),
        updated=stamp(at),
        rev=1,
        author=_author(repo),
        origin="captured",
        session=session,
        **fields,
    )
    return _write(repo, PRIVATE, made)


def _record(said: dict[str, Any], origin: str) -> Record:
    kind, at, detail = said["kind"], said["at"], said.get("detail", "")
    common: dict[str, Any] = {
        "created": at,
        "updated": at,
        "rev": 1,
        "session": said["session"],
        "origin": None if origin == "manual" else origin,
        "expires": said.get("expires") if kind != "error" else None,
        "anchors": [{"path": path} for path in said.get("files", ())] or None,
    }
    name = f"{kind} {said['text']}"
    if kind == "error":
        return make(
            "gotcha",
            derived_id("got", name),
            said["text"],
            workaround=detail,
            first_seen=at,
            last_seen=at,
            **common,
        )
    done = {"done": {"at": at, "by": AUTHOR[0]}, "status": "archived"} if kind == "done" else {}
    return make(
        "memory",
        derived_id("mem", name),
        said["text"],
        detail,
        type="task" if kind == "done" else kind,
        **done,
        **common,
    )


def _author(repo: Path) -> str:
    # the user's own, where the repository names one
    email = git(repo, "config", "--local", "--default", AUTHOR[1], "user.email")
    return f"{AUTHOR[0]} <{email}>"


def _write(repo: Path, ref: str, record: Record) -> Record:
    author = _author(repo)
    store = new_store(repo, ref=ref, author=(AUTHOR[0], author.rpartition("<")[2].rstrip(">")))
    try:
        return add(store, record.change(author=author))
    finally:
        store.objects.close()
