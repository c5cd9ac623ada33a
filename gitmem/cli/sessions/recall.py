"""The command that remembers: what was said and done in this session, and what the memory holds."""

from collections.abc import Sequence
from typing import Any

import click

from gitmem.app import App
from gitmem.cli import options
from gitmem.cli.json_shapes import hit_json, unmarked
from gitmem.cli.records.list import hit_lines
from gitmem.cli.sessions.find import find_session, moment
from gitmem.cli.sessions.group import current, hides_quotes
from gitmem.cli.terminal import Terminal, plain
from gitmem.clock import stamp
from gitmem.index.filters import is_only_beside
from gitmem.records.kinds import LIVE
from gitmem.services.sessions.quotes import LEFT_OUT, hit_without_quotes
from gitmem.state import sessions

OTHERS = 50  # other sessions that are looked into, the latest
_HIT = {"marked": "yellow", "noted": "yellow", "decided": "green", "failed": "red"}


@click.command(
    "search --sessions", short_help="Find what was said before, in this session and in memory"
)
@click.argument("words", nargs=-1, required=True)
@click.option(
    "--session",
    is_flag=False,
    flag_value="",
    default=None,
    metavar="[ID]",
    help="Only in a session's history: this one's, or one by its id.",
)
@click.option("--past", is_flag=True, help="Only in memory: records, those of sessions too.")
@click.option(
    "--all-sessions", "others", is_flag=True, help="In the histories of other sessions too."
)
@click.option("--since", metavar="DATE", help="Nothing older: 2d, yesterday, 2026-11-21.")
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(min=1),
    default=8,
    show_default=True,
    help="At most so many of each group.",
)
@options.json_option
@click.pass_obj
def recall_command(
    term: Terminal,
    words: tuple[str, ...],
    session: str | None,
    past: bool,
    others: bool,
    since: str | None,
    limit: int,
    as_json: bool,
) -> None:
    """Find what was said and done before, by its words: in this session's history and in memory.

    Outside of an agent's session, only memory is searched. Any word may match. "Quoted words" match
    as a phrase, word* as a prefix.

    \b
    Examples:
      git mem search --sessions payment isolation
      git mem search --sessions ledger --session
      git mem search --sessions timeout --all-sessions --since yesterday
    """
    if past and (session is not None or others):
        raise click.UsageError(
            "--past looks into memory alone; leave it out, or leave out --session and "
            "--all-sessions."
        )
    text = " ".join(words)
    with term.open_any() as app:
        after = stamp(moment(app, since)) if since else ""
        here = find_session(app, session or None).id if session is not None else current(app.env)
        answer: dict[str, Any] = {"words": text, "session": here or None}
        if not past:
            answer["this_session"] = _said(app, [here] if here else [], text, limit, after)
        if others:
            rest = [other.id for other in sessions.some(app.state) if other.id != here][:OTHERS]
            answer["other_sessions"] = _said(app, rest, text, limit, after)
        if session is None:
            answer["memory"] = _remembered(app, text, limit, after)
        _leave_out_quotes(term, app, answer, here)
        if as_json:
            term.json(_answer_json(answer))
            return
        term.rows(_shown(term, answer, app.clock.now()), app)
        if not any(answer.get(key) for key in ("this_session", "other_sessions", "memory")):
            wider = "" if others or past else " Other sessions are looked into with --all-sessions."
            term.note(
                f"nothing that was said or recorded matches '{text}'. Fewer or other words "
                f"may.{wider}"
            )


def _leave_out_quotes(term: Terminal, app: App, answer: dict[str, Any], here: str) -> None:
    """Leave out of an answer what an agent is not given of sessions, and say so."""
    groups = ["memory", "other_sessions"] if hides_quotes(app.env) else []
    groups += ["this_session"] if hides_quotes(app.env, here) else []
    for key in groups:
        hits = answer.get(key, [])
        kept = [hit for hit in map(hit_without_quotes, hits) if hit is not None]
        if kept != hits:
            term.note(LEFT_OUT)
            answer[key] = kept


def _said(app: App, ids: list[str], text: str, limit: int, since: str) -> list[dict[str, Any]]:
    from gitmem.services.retrieval import history_search

    hits = history_search.find(app.home, ids, text, limit, since)
    return [{**hit, "snippet": unmarked(hit["snippet"])} for hit in hits]


def _remembered(app: App, text: str, limit: int, since: str) -> list[dict[str, Any]]:
    hits = app.search(
        text,
        limit if not since else 20 * limit,
        statuses=LIVE,
        agents=options.agents(app, None),
        valid_at=app.clock.stamp(),
    )
    recent = [hit for hit in hits if str(hit.get("updated") or hit["created"]) >= since]
    # what only stands beside something that matches was not asked for
    return [hit for hit in recent if not is_only_beside(hit)][:limit]


def _hits_json(hits: Sequence[dict[str, Any]] | None) -> list[dict[str, Any]] | None:
    return None if hits is None else [{**hit, "at": hit["at"] or None} for hit in hits]


def _answer_json(answer: dict[str, Any]) -> dict[str, Any]:
    """Return an answer as JSON; null stands for what was not searched."""
    return {
        "query": answer["words"],
        "session": answer["session"],
        "session_hits": _hits_json(answer.get("this_session")),
        "other_session_hits": _hits_json(answer.get("other_sessions")),
        "records": [hit_json(row) for row in answer["memory"]] if "memory" in answer else None,
    }


def _shown(term: Terminal, answer: dict[str, Any], now: float) -> list[str]:
    """Return the lines of an answer, a group after the other."""
    out: list[str] = []
    for key, name in (
        ("this_session", f"session {answer['session']}"),
        ("other_sessions", "other sessions"),
    ):
        hits = answer.get(key)
        if hits:
            out += [*([""] if out else []), term.style(plain(name), bold=True)]
            out += [_line(term, hit, key == "other_sessions") for hit in hits]
    if answer.get("memory"):
        out += [*([""] if out else []), term.style("memory", bold=True)]
        out += [text for hit in answer["memory"] for text in hit_lines(term, hit, now)]
    return out


def _line(term: Terminal, hit: dict[str, Any], named: bool) -> str:
    """Return a hit in a history: its line, when, what it was, its words."""
    where = f"{hit['session'][:8]}:{hit['line']}" if named else f"{hit['line']:>5}"
    when = hit["at"][:16].replace("T", " ")
    words = plain(" ".join((hit["snippet"] or hit["text"]).split()))
    kind = term.style(f"{hit['kind']:<8}", fg=_HIT.get(hit["kind"]))
    return f"{plain(where)}  {when}  {kind}  {words}"
