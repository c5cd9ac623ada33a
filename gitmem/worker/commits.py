"""Commits of the code that came since: their messages teach, and who made them is found out and kept."""

import contextlib
import json
import os

from gitmem.app import App
from gitmem.errors import UnknownId
from gitmem.repo.location import COMMITS, REWRITTEN
from gitmem.repo.refs import branches_stamp
from gitmem.services.provenance import shared
from gitmem.services.records import write
from gitmem.services.sessions.digest import digest_id
from gitmem.state import links, sessions

SEEN = "commits seen"  # the mark of the heads that were looked at
STAMP = "commits stamp"  # the mark of when branches had moved then
OPEN = "commits open"  # the mark of those that are looked at again
FRESH, TRIES, AGAIN = 3600.0, 3, 50  # for so many seconds, so often, so many
MOST = 500  # commits that are looked at in one go
DAY = 86400.0


def learn(app: App) -> list[str]:
    """Read the messages of commits that were made since, and find out whose they are."""
    noted = _taken(app, COMMITS)
    done = _taught(app, noted) if noted else []
    found = _linked(app, {oid: session for oid, session in noted.items() if session})
    for name in (COMMITS, REWRITTEN):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(app.home.join(f"{name}.taken"))
    if done:
        app.index()
    return done + found


def _taken(app: App, name: str) -> dict[str, str]:
    """Return {first word: the rest} of the lines that hooks of git have noted; the file stays until its work is done."""
    taken, mine = app.home.join(f"{name}.taken"), app.home.join(f"{name}.{os.getpid()}")
    with contextlib.suppress(FileNotFoundError):
        os.rename(app.home.join(name), mine)
        with open(mine, "rb") as new, open(taken, "ab") as file:  # a drain that was killed has left some
            file.write(new.read())
        os.unlink(mine)
    try:
        with open(taken, encoding="utf-8", errors="replace") as file:
            return dict(line.rstrip("\n").partition(" ")[::2] for line in file)
    except FileNotFoundError:
        return {}


def _taught(app: App, noted: dict[str, str]) -> list[str]:
    from gitmem.services.gotchas import commit_trailers

    tree = app.worktree(str(app.location.worktree or ""))
    done: list[str] = []
    for oid, session in noted.items():
        text, name, mail = tree.message(oid) if oid.isalnum() else ("", "", "")
        if text:
            commit = commit_trailers.Commit(oid, (name, mail), text)
            done += commit_trailers.learn(app.store(), app.writer(session=session), commit, app.find, tree)
    return done


def _linked(app: App, noted: dict[str, str]) -> list[str]:
    """Link the commits that heads have now and had not before to the sessions that made them; tell it to the digests that are there."""
    rewritten: dict[str, list[str]] = {}
    for old, new in _taken(app, REWRITTEN).items():
        rewritten.setdefault(new.split(" ")[0], []).append(old)
    first = min((session.started for session in sessions.some(app.state)), default=0.0)
    if not (first or noted):
        return []  # no session was ever at work here
    stamp = branches_stamp(app.location)
    open_ = _open(app) | dict.fromkeys(links.overtaken(app.state, app.clock.now() - DAY), 0)
    if app.state.marked(STAMP) == stamp and not (noted or rewritten or open_):
        return []
    work = app.linker(noted, rewritten)
    heads = work.history.heads()
    seen = json.loads(app.state.marked(SEEN) or "[]")
    if heads == seen and not (noted or rewritten or open_):
        app.state.mark(STAMP, stamp)
        return []
    commits = {one.oid: one for one in work.history.new(heads, seen, first - DAY, MOST)}
    commits |= {oid: one for oid, one in work.history.commits([*noted, *rewritten, *open_]).items() if oid not in commits}
    found = work.link(sorted(commits.values(), key=lambda one: one.at))
    app.state.mark(SEEN, json.dumps(heads))
    app.state.mark(STAMP, stamp)
    since = app.clock.now() - FRESH
    left = {
        oid: open_.get(oid, 0) + 1 for oid, one in commits.items() if oid not in found and one.at >= since and open_.get(oid, 0) < TRIES
    }
    app.state.mark(OPEN, json.dumps(dict(list(left.items())[-AGAIN:])))
    told = _told(app, {link.session for some in found.values() for link in some})
    return [*([f"{len(found)} commit(s) linked to sessions"] if found else []), *told]


def _open(app: App) -> dict[str, int]:
    """Return {commit: how often it was looked at} of new commits that nobody is known to have made yet: a hook may tell of its command a moment later."""
    try:
        found = json.loads(app.state.marked(OPEN) or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _told(app: App, ids: set[str]) -> list[str]:
    """Add commits to digests that were written before; one that is still to come reads them itself."""
    wanted = app.settings.get("digest")
    if wanted == "off":
        return []
    store, done = app.store(wanted), 0
    for id in sorted(ids):
        try:
            record = store.get(digest_id(id)).record
        except UnknownId:
            continue
        session = sessions.get(app.state, id)
        commits = shared.field(links.of_session(app.state, id), app.untold(session.root if session else None))
        if commits and commits != record.fields.get("commits"):
            write.update(
                store, app.writer(session=id), record, record.change(commits=commits), "digest", f"summary: commits of {record.id}"
            )
            done += 1
    return [f"{done} digest(s) told of their commits"] if done else []
