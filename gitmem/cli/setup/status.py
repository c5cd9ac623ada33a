"""`git mem status`: where you are, and what needs a look."""

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from gitmem.app import App
from gitmem.cli import options
from gitmem.cli.records.forks import all_forks, fork_text
from gitmem.cli.sessions.group import current
from gitmem.cli.setup import work_in_hand
from gitmem.cli.terminal import Terminal, age, plain
from gitmem.clock import stamp
from gitmem.config import Settings, removal
from gitmem.repo import hook_switch
from gitmem.repo.refs import SHARED
from gitmem.services.gotchas.lost_code import count_lost
from gitmem.services.views import inbox
from gitmem.state import drains, requests
from gitmem.store import journal, sync
from gitmem.text.plural import counted

WAITING = 5  # things that sessions wait for, that are named
FORKS = 3  # that are named
DRIFT_PATIENCE = 0.5  # seconds that status looks at the code of gotchas


@click.command("status", short_help="Show where you are, and what needs a look")
@options.json_option
@click.pass_obj
def status_command(term: Terminal, as_json: bool) -> None:
    """Show where you are: the stores, the remote, the session, the epic, pending tasks, the inbox.

    Each with the next command.

    `session briefing` shows what is known, `session resume` where the last session stopped, `work
    show` how far an epic is.

    It also names what needs a look: writes in the journal, damaged files, conflicts, gotchas whose
    code is not found, invalid settings, work that waits. Code is searched for less than a second:
    `at least` before a number means that the search did not finish. In --json,
    `checked_count` is the number of gotchas searched, and `complete` says whether these are all.

    \b
    Example:
      git mem status
    """
    with term.open() as app:
        row = {**_status(app), "work": work_in_hand.work(app, current(term.environ))}
        if as_json:
            term.json(row)
            return
        if not row["stores"]:
            term.say(f"no memory yet. {plain(options.first_step(app))}")
        now = term.clock.now()
        for line in _store_lines(row["stores"], now):
            term.say(line)
        for line in _remote_lines(term, app, row):
            term.say(line)
        for line in work_in_hand.lines(term, row["work"]):
            term.say(line)
        forks = [fork_text(*fork) for fork in all_forks(app.indexes())[:FORKS]]
        failure = _failure_texts(row["background"], now)
        settings = _setting_texts(app.settings)
        for text in (*_fault_texts(row), *settings, *forks, *_hooks_off_texts(row), *failure):
            term.say(term.style("! ", fg="yellow") + text)
        for line in (*_done_lines(row["background"], now), *_waiting_lines(row["requests"], now)):
            term.say(line)
        lost = row["lost_gotchas"]
        if not lost["count"] and not lost["complete"]:
            term.say(
                f"  the code of {counted(lost['checked_count'], 'gotcha')} was looked at, for lack "
                f"of time: git mem gotcha verify"
            )


FAULTS = (  # (key of the answer, what it counts: one, several; what it says of them)
    (
        "journal_count",
        "write waits",
        "writes wait",
        " in the journal; the next git mem command commits them",
    ),
    ("damaged_files", "damaged file", "", ": git mem doctor"),
    ("conflict_count", "record", "", " in conflict: git mem list --conflicts"),
    ("lost_gotchas", "gotcha", "", " whose code is not found any more: git mem gotcha verify"),
)


# kind of records -> what one is called, and several, where that is not the kind with an `s`
NOUNS = {
    "memory": ("memory", "memories"),
    "dna": ("dna", "dna"),
    "work": ("work item",),
}


def _store_lines(stores: Mapping[str, Any], now: float) -> Iterator[str]:
    """Yield what each store has, and its last commit."""
    for name, store in stores.items():
        counts = [
            counted(count, *NOUNS.get(kind, (kind,)))
            for kind, count in sorted(store["record_counts"].items())
        ]
        last = ""
        if store["commit"] and counts:
            last = f"  ({store['commit'][:10]}, {age(store['updated'], now)})"
        yield f"{name:<8} {', '.join(counts) or 'empty'}{last}"


def _fault_texts(row: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong or waits, each with the command that helps."""
    for key, noun, plural, text in FAULTS:
        number = _number(row[key])
        if number:
            is_least = key == "lost_gotchas" and not row[key]["complete"]
            yield f"{'at least ' if is_least else ''}{counted(number, noun, plural)}{text}"
    if row["inbox_count"]:
        yield inbox.waiting_text(row["inbox_count"])


def _setting_texts(settings: Settings) -> Iterator[str]:
    """Yield the first problem of settings with the command that helps, and where others are."""
    for problem in settings.problems[:1]:
        yield plain(f"{problem} {removal(settings, problem)}")
    more = len(settings.problems) - 1
    if more > 0:
        yield f"{counted(more, 'other problem')} of settings: git mem doctor"


def _hooks_off_texts(row: Mapping[str, Any]) -> Iterator[str]:
    """Yield for what hooks are off, each with the command that turns them on."""
    scope = row["hooks_off_for"]
    if scope:
        until = f" until {row['hooks_off_until']}" if row["hooks_off_until"] else ""
        option = " --machine" if scope == "machine" else ""
        yield f"hooks are off for this {scope}{until}: git mem hook on{option}"
    for session in map(plain, row["hooks_off_sessions"]):
        yield f"hooks are off for session {session}: git mem hook on --session {session}"


def _failure_texts(last: Mapping[str, Any] | None, now: float) -> Iterator[str]:
    """Yield why the last work in the background failed, if it did."""
    if last and last["failure_message"]:
        why = plain(last["failure_message"][:160])
        yield f"the last work in the background failed, {age(last['at'], now)}: {why}"


def _done_lines(last: Mapping[str, Any] | None, now: float) -> Iterator[str]:
    """Yield what the last work in the background did, if it did not fail."""
    if last and last["messages"] and not last["failure_message"]:
        done = plain("; ".join(last["messages"][:4]))
        yield f"done in the background, {age(last['at'], now)}: {done}"


def _waiting_lines(requests: Sequence[Mapping[str, Any]], now: float) -> Iterator[str]:
    """Yield the records of sessions that are still to be written."""
    for request in requests[:WAITING]:
        tried = request["attempt_count"]
        again = f", tried {counted(tried, 'time')}" if tried else ""
        how = f"waits, asked for {age(request['at'], now)}{again}"
        if request["running"]:
            how = "is being written"
        yield f"  the {request['kind']} of session {plain(request['session'][:36])} {how}"
    if len(requests) > WAITING:
        yield f"  and {len(requests) - WAITING} more of sessions"
    if any(not request["running"] for request in requests):
        yield "  the next hook does what waits, in the background. To do it now: git mem drain"


def _remote_lines(term: Terminal, app: App, row: dict[str, Any]) -> Iterator[str]:
    """Yield where memory is sent to, and what was not sent or fetched."""
    remote = row["enabled_remote"]
    if remote["name"]:
        sent = (
            "everything is sent"
            if not remote["unpushed_count"]
            else f"{counted(remote['unpushed_count'], 'commit')} not sent, the oldest "
            f"{age(remote['unpushed_since'], term.clock.now())}: git mem sync"
        )
        yield f"remote   {plain(remote['name'])}: {sent}"
    elif row["stores"]:
        yield "remote   none: memory stays on this machine (git mem remote enable NAME)"
        if hint := app.unfetched_hint():
            yield f"         {plain(hint)}"


def _stores(app: App) -> dict[str, Any]:
    """Return the newest commit of each store, when it was made, and how many records it has."""
    stores: dict[str, Any] = {}
    for prefix, index in app.indexes():
        counts, source = index.count(), app.user if prefix else app
        for name, tip in index.tips().items():
            stores[prefix or name] = {
                "commit": tip,
                "updated": stamp(source.objects.commit(tip).committer.time),
                "record_counts": {k: n for (s, k), n in counts.items() if s == name},
            }
    return stores


def _status(app: App) -> dict[str, Any]:
    damaged = [
        {"store": prefix or row["store"], "store_path": row["path"], "reason": row["reason"]}
        for prefix, index in app.indexes()
        for row in index.damaged()
    ]
    conflicts = sum(index.number(conflict=True) for _, index in app.indexes())
    name = app.settings.get("remote")
    unpushed, since = sync.unpushed(app.store(), name) if name else (0, "")
    return {
        "folder": app.location.worktree or app.location.commondir,
        "ref": SHARED,
        "stores": _stores(app),
        "journal_count": journal.count(app.home),
        "damaged_files": damaged,
        "conflict_count": conflicts,
        "fork_count": len(all_forks(app.indexes())),
        "enabled_remote": {
            "name": name or None,
            "unpushed_count": unpushed,
            "unpushed_since": since or None,
        },
        "setting_problems": list(app.settings.problems),
        "inbox_count": inbox.number_waiting(app.indexes(), app.own_addresses),
        "background": _background(app),
        "requests": _requests(app),
        **_off(app),
        "lost_gotchas": _lost_gotchas(app),
        "unsaved_read_count": sum(n for n, _ in app.state.reads("shared").values()),
    }


def _requests(app: App) -> list[dict[str, Any]]:
    """Return the requests of sessions that are not done yet."""
    now = app.clock.now()
    return [
        {
            "kind": request.kind,
            "session": request.session,
            "at": stamp(int(request.at)),
            "running": abs(now - request.claimed) < requests.LEASE,
            "attempt_count": request.tries,
        }
        for request in requests.requested(app.state)
    ]


def _background(app: App) -> dict[str, Any] | None:
    """Return what a detached process did last, None when there was none."""
    last = drains.last_report(app.state)
    if not last:
        return None
    return {
        "at": stamp(int(last["at"])),
        "duration_seconds": last.get("seconds"),
        "messages": list(map(str, last.get("did") or ())),
        "failure_message": str(last["failed"]) if last.get("failed") else None,
    }


def _number(value: Any) -> int:
    """Return how many a part of the status counts or lists."""
    if isinstance(value, int):
        return value
    return int(value["count"]) if isinstance(value, dict) else len(value)


def _off(app: App) -> dict[str, Any]:
    now = app.clock.now()
    scope = hook_switch.is_off(app.home, app.env, now)
    until = (
        (hook_switch.reads(hook_switch.path_of(scope, app.home, app.env), now) or {}).get("until")
        if scope
        else None
    )
    return {
        "hooks_off_for": scope or None,
        "hooks_off_until": stamp(int(until)) if isinstance(until, int | float) else None,
        "hooks_off_sessions": hook_switch.sessions_off(app.home, now),
    }


def _lost_gotchas(app: App) -> dict[str, Any]:
    """Return how many gotchas have lost their code, and how many were checked.

    The time is limited, because status must not take long.
    """
    end = time.monotonic() + DRIFT_PATIENCE
    lost = count_lost(
        app.index(), app.location, app.state, lambda: app.follower, lambda: time.monotonic() < end
    )
    return {"count": lost.lost, "checked_count": lost.checked, "complete": lost.complete}
