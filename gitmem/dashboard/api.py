"""What the page reads: a path and its query, answered as the commands answer with `--json`."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from gitmem import __version__
from gitmem.app import App
from gitmem.cli.lifecycle.card import finding_json, rows_of
from gitmem.clock import stamp
from gitmem.dashboard.facts import COLUMNS, fact_rows, fact_with_history
from gitmem.dashboard.place import DashboardPlace, present
from gitmem.dashboard.today import today
from gitmem.errors import UnknownId, UserError
from gitmem.index.filters import BESIDE
from gitmem.records.kinds import FACTS, LIVE
from gitmem.services.lifecycle import fact_check
from gitmem.services.lifecycle.findings import Finding
from gitmem.services.views import inbox
from gitmem.state import injections

Query = Mapping[str, str]
ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,200}")
TEXT = 2000  # characters of a text in a query
EVENTS, EVENT_TEXT = 400, 2000  # of a session's history, and characters of one of them
HITS = 500  # hits of a search
FINDINGS = 100  # that are shown
LISTED = 500  # events of a timeline, sessions
SINCE = re.compile(r"\d{4}-\d\d-\d\d|\d{1,4} (?:hour|day|week|month)s? ago")


def text_of(query: Query, name: str) -> str:
    """Return a value of a query, '' for none. Raises UserError for what no option takes."""
    text = query.get(name, "")
    if len(text) > TEXT or "\0" in text:
        raise UserError(f"'{name}' is too long or holds a zero byte.", "Give a shorter text.")
    return text


def id_of(text: str) -> str:
    """Return an id as a person may type it. Raises UnknownId."""
    if not ID.fullmatch(text):
        raise UnknownId("this is not the id of anything.", "See: git mem list")
    return text


def about(place: DashboardPlace, _: Query) -> dict[str, Any]:
    """Return what every view shows: the project, what waits, how memory is synced."""
    status = place.data("status")
    with place.open() as app:
        indexes = app.indexes()
        agents = sorted({row["agent"] for row in app.rows(fields=("agent",)) if row["agent"]})
        pairs = app.contradicting().pairs
        waiting = inbox.number_waiting(indexes, app.own_addresses)
        return {
            "project": app.project,
            "author": app.author[0],
            "version": __version__,
            "at": stamp(app.clock.now()),
            "is_read_only": place.read_only,
            "is_person": app.writer().is_person,
            "inbox_count": waiting,
            "contradiction_count": len(pairs) + len(_refuted(app)),
            "conflict_count": status["conflict_count"] + status["fork_count"],
            "agents": [name for name in agents if name != "global"],
            "stores": status["stores"],
            "enabled_remote": status["enabled_remote"],
            "journal_count": status["journal_count"],
        }


def facts(place: DashboardPlace, _: Query) -> dict[str, Any]:
    """Return all facts as rows."""
    with place.open() as app:
        return {"columns": COLUMNS, "rows": fact_rows(app)}


def search(place: DashboardPlace, query: Query) -> list[str]:
    """Return the ids of the facts that have some of the words, best first; the last is a prefix.

    A fact whose neighbours alone have them is no match of a filter.
    """
    words = " ".join(text_of(query, "q").replace('"', " ").replace("*", " ").split())
    if not words:
        return []
    kinds = ("--kind=memory", "--kind=gotcha")
    hits = place.data("search", "--all", f"--limit={HITS}", *kinds, "--", f"{words}*")
    return [hit["id"] for hit in hits if not all(BESIDE in reason for reason in hit["reasons"])]


def waiting(place: DashboardPlace, query: Query) -> list[dict[str, Any]]:
    """Return what the inbox lists: facts that nobody confirmed, and statements about facts."""
    everything = ("--all",) if query.get("all") else ()
    rows: list[dict[str, Any]] = place.data("inbox", *everything)
    return rows


def conflicts(place: DashboardPlace, _: Query) -> dict[str, Any]:
    """Return what speaks against facts, as far as it was compared, and texts in conflict.

    To compare all facts takes minutes where there are many; the background does it, and `check`.
    """
    with place.open() as app:
        pairs = app.contradicting().pairs
        contradictions = fact_check.described(
            app.indexes(), lambda name: app.get(name)[1].record, app.clock.stamp(), pairs[:FINDINGS]
        )
        refuted = _refuted(app)
        shown = [*contradictions, *refuted[: FINDINGS - len(contradictions)]]
        rows = rows_of(app, shown)
        findings = [finding_json(finding, rows) for finding in shown]
    return {
        "findings": findings,
        "finding_count": len(pairs) + len(refuted),
        "records": place.data("list", "--conflicts"),
    }


def check(place: DashboardPlace, _: Query) -> dict[str, Any]:
    """Compare all facts with each other and with the code; return how many findings there are."""
    return {"finding_count": len(place.data("check"))}


def _refuted(app: App) -> list[Finding]:
    """Return the facts that the code refutes, as the last look at it noted them."""
    ids = tuple(app.out_of_date())
    if not ids:
        return []
    filters = {"kinds": tuple(sorted(FACTS)), "statuses": LIVE, "ids": ids}
    rows = app.rows(**filters, fields=("id", "oid"))
    reasons = [(row["id"], row.get("out_of_date")) for row in rows]
    return [Finding((id,), "code", reason, "edit") for id, reason in reasons if reason]


def timeline(place: DashboardPlace, query: Query) -> list[dict[str, Any]]:
    """Return events, the newest first."""
    since = text_of(query, "since")
    if since and not SINCE.fullmatch(since):
        raise UserError("'since' is not a date.", "Write it as 2026-11-21 or '2 weeks ago'.")
    names = ("source", "file", "agent", "session")
    given = present(since=since, **{name: text_of(query, name) for name in names})
    events: list[dict[str, Any]] = place.data("timeline", f"--limit={LISTED}", *given)
    return events


def code(place: DashboardPlace, _: Query) -> dict[str, Any]:
    """Return hot files, and branches that change the same code."""
    return {
        "trends": place.data("timeline", "--trends"),
        "drift": place.data("code", "drift", "--level=low"),
    }


def health(place: DashboardPlace, _: Query) -> dict[str, Any]:
    """Return the health with its metrics and its trend."""
    now = place.data("check", "--health", "--all")
    return {**now, "states": place.data("check", "--health", "--history")["states"]}


def sessions(place: DashboardPlace, _: Query) -> list[dict[str, Any]]:
    """Return sessions, the latest first."""
    rows: list[dict[str, Any]] = place.data("session", "list", f"--limit={LISTED}")
    return rows


def session_facts(place: DashboardPlace, id: str) -> dict[str, Any]:
    """Return a session with the end of its history and what was injected into it."""
    shown = place.data("session", "show", "--", id_of(id))
    row: dict[str, Any] = shown[0] if isinstance(shown, list) else shown
    events = row["events"]
    row["event_count"] = len(events)
    row["events"] = [_event(event) for event in events[-EVENTS:]]
    with place.open() as app:
        given = injections.of_session(app.state, row["id"])
        titles = {
            fact["id"]: fact for fact in app.rows(ids=tuple(given), fields=("id", "title", "kind"))
        }
    row["injected"] = [
        {"id": name, "at": stamp(at), "title": titles.get(name, {}).get("title")}
        for name, at in sorted(given.items(), key=lambda item: item[1])
    ]
    return row


def _event(event: Mapping[str, Any]) -> dict[str, Any]:
    metadata = event.get("metadata")
    about_it = metadata if isinstance(metadata, dict) else {}
    return {
        "line": event["line"],
        "at": event.get("timestamp"),
        "role": event.get("role"),
        "text": str(event.get("content") or "")[:EVENT_TEXT],
        "event": about_it.get("event"),
        "tool": about_it.get("tool"),
    }


def _fact(place: DashboardPlace, id: str) -> dict[str, Any]:
    return fact_with_history(place, id_of(id))


def _today(place: DashboardPlace, query: Query) -> dict[str, Any]:
    return today(place, text_of(query, "agent"), text_of(query, "file"))


LISTS: Mapping[str, Callable[[DashboardPlace, Query], Any]] = {
    "about": about,
    "today": _today,
    "facts": facts,
    "search": search,
    "inbox": waiting,
    "conflicts": conflicts,
    "check": check,
    "timeline": timeline,
    "code": code,
    "health": health,
    "sessions": sessions,
}
THINGS: Mapping[str, Callable[[DashboardPlace, str], Any]] = {
    "facts": _fact,
    "sessions": session_facts,
}


def answer(place: DashboardPlace, path: str, query: Query) -> Any:
    """Return what a path below /api/ shows. Raises UnknownId for one that shows nothing."""
    name, _, id = path.partition("/")
    if id and name in THINGS:
        return THINGS[name](place, id)
    if not id and name in LISTS:
        return LISTS[name](place, query)
    raise UnknownId(f"the dashboard shows nothing at '{path[:100]}'.")
