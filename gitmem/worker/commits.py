"""Processing of new commits of the code.

Their messages teach, and who made them is determined and stored.
"""

import contextlib
import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from gitmem.app import App
from gitmem.errors import GitmemError, UnknownId, UserError
from gitmem.records.kinds import session_record_id
from gitmem.repo.caller import BACKGROUND
from gitmem.repo.identity import fold
from gitmem.repo.location import COMMITS, REWRITTEN, is_there
from gitmem.repo.refs import branches_stamp
from gitmem.services.provenance import shared
from gitmem.services.records import write
from gitmem.services.records.write import Writer
from gitmem.state import code_progress, links, sessions
from gitmem.text.plural import counted
from gitmem.worker.hook_notes import HookNotes

# What reads messages is imported where there are some: most drains have none.
if TYPE_CHECKING:
    from gitmem.git.commit_log import CodeCommit
    from gitmem.index.reader import Index
    from gitmem.records.record import Record
    from gitmem.services.gotchas.commit_trailers import TrailerWords

FRESH, TRIES, AGAIN = 3600.0, 3, 50  # for so many seconds, so often, so many
MOST = 500  # commits that are looked at in one go
DAY = 86400.0


def learn(app: App) -> list[str]:
    """Read the messages of commits that were made since, and find out whose they are.

    If the work tree is removed meanwhile, git can read nothing there: the notes stay for the next
    drain.
    """
    noted = HookNotes(app.home, COMMITS)
    rewritten = HookNotes(app.home, REWRITTEN)
    done = _taught(app, noted.rows) if noted.rows else []
    sessions_of = {
        oid: commit.session for oid, commit in _fields(noted.rows).items() if commit.session
    }
    linked = _link_commits(app, sessions_of, rewritten.rows)
    if noted.rows:
        made = app.code_history.commits(noted.rows)
        app.state.add_active_hours(commit.at for commit in made.values())
    for notes in (noted, rewritten):
        if is_there(app.location):
            notes.drop()
        else:
            notes.give_back()
    if done:
        app.index()
    return done + linked


class _NotedCommit(NamedTuple):
    """What the hook noted of a commit: '' for what it did not know."""

    session: str = ""
    mail: str = ""  # the committer's address
    is_agents: bool = False


def _fields(rows: Mapping[str, str]) -> dict[str, _NotedCommit]:
    """Return {commit: what the hook noted of it}."""
    out = {}
    for oid, rest in rows.items():
        session, _, rest = rest.partition(" ")
        by, _, mail = rest.partition(" ")
        out[oid] = _NotedCommit(session if session.strip("-") else "", mail.strip(), by == "agent")
    return out


def _taught(app: App, rows: Mapping[str, str]) -> list[str]:
    """Learn what this user's commits say, and propose what others said in them."""
    from gitmem.git.commit_messages import CommitMessages
    from gitmem.services.gotchas import commit_trailers

    messages = CommitMessages(app.location, app.env)
    commits = [commit for commit in messages.read(rows) if commit.trailers]
    if not commits:
        return []
    noted = _fields(rows)
    done: list[str] = []
    others: list[TrailerWords] = []
    for commit in commits:
        seen = noted.get(commit.oid, _NotedCommit())
        addresses = app.own_addresses | ({fold(seen.mail)} if seen.mail else set())
        find_writer = functools.partial(messages.writer_of, own=addresses)
        mine, foreign = commit_trailers.split([commit], addresses, find_writer)
        others += foreign
        tree = app.worktree(str(app.location.worktree or ""))
        writer = app.writer(session=seen.session)
        is_shared = not seen.is_agents or app.settings.get("share") != "people"
        store = app.store("shared" if is_shared else "private")
        for words in mine:
            with _refusals(done, f"commit {commit.oid[:10]}"):
                done += commit_trailers.learn(
                    store, writer, words, app.find, tree, is_agents=seen.is_agents
                )
    return done + _suggested(app, others)


@contextlib.contextmanager
def _refusals(done: list[str], source: str) -> Iterator[None]:
    """Report that one text cannot be taken, and go on.

    It would fail again each time.
    """
    try:
        yield
    except UserError as error:
        done.append(f"{source}: nothing recorded of a trailer: {error}")


def _suggested(app: App, others: "Sequence[TrailerWords]") -> list[str]:
    """Put into the inbox what others say in their commits; return what was done."""
    if not others:
        return []
    from gitmem.services.gotchas import commit_trailers

    done: list[str] = []
    for words in commit_trailers.by_source(others).values():
        source = commit_trailers.source(words[0])
        with _refusals(done, source):
            number = _proposed(app, words, source)
            done += (
                [f"{counted(number, 'proposal')} from {source} in git mem inbox"] if number else []
            )
    return done


def _proposed(app: App, words: "Sequence[TrailerWords]", source: str) -> int:
    """Propose what somebody else says in one commit; return how many proposals are new."""
    from gitmem.services.gotchas import commit_trailers
    from gitmem.services.sessions import proposals

    items = [commit_trailers.proposal(said, lambda name: _open_gotcha(app, name)) for said in words]
    who = Writer(app.clock, words[0].by, allow=app.settings.get("allowSecret"), program=BACKGROUND)
    wanted = [item for item in items if item is not None]

    def indexes() -> "list[Index]":
        return [index for _, index in app.indexes()]

    new = proposals.suggest(app.store("private"), who, wanted, source, indexes, [app.store()])
    return len(new)


def _open_gotcha(app: App, name: str) -> "Record | None":
    """Return the gotcha that an id names while it is not resolved."""
    try:
        record = app.get(name)[1].record
    except GitmemError:
        return None
    return record if record.kind == "gotcha" and not record.resolved else None


def _link_commits(app: App, noted: Mapping[str, str], replaced: Mapping[str, str]) -> list[str]:
    """Link the commits that heads have now and had not before to the sessions that made them.

    `noted` is {commit: session}, `replaced` {old commit: new one and more} as git's hooks have it.
    The session records that are there get their commits.
    """
    rewritten = _by_new_commit(replaced)
    first = min((session.started for session in sessions.some(app.state)), default=0.0)
    if not (first or noted):
        return []  # no session was ever at work here
    stamp = branches_stamp(app.location)
    tries = _tries_so_far(app)
    linked_refs, heads_before = code_progress.linked(app.state)
    has_notes = bool(noted or rewritten or tries)
    if linked_refs == stamp and not has_notes:
        return []
    linker = app.linker(noted, rewritten)
    heads = linker.history.heads()
    if heads == heads_before and not has_notes:
        code_progress.note_linked(app.state, stamp, heads)
        return []
    new = linker.history.new(heads, heads_before, first - DAY, MOST)
    named = linker.history.commits([*noted, *rewritten, *tries])
    commits = {commit.oid: commit for commit in new} | named
    links_of = linker.link(sorted(commits.values(), key=_made_at))
    code_progress.note_linked(app.state, stamp, heads)
    _keep_unlinked(app, [commit for oid, commit in commits.items() if oid not in links_of], tries)
    ids = {link.session for of_commit in links_of.values() for link in of_commit}
    done = [f"{counted(len(links_of), 'commit')} linked to sessions"] if links_of else []
    return done + _add_commits_to_records(app, ids)


def _by_new_commit(replaced: Mapping[str, str]) -> dict[str, list[str]]:
    """Return {new commit: the old ones} of what an amend or a rebase replaced."""
    out: dict[str, list[str]] = {}
    for old, new in replaced.items():
        out.setdefault(new.split(" ")[0], []).append(old)
    return out


def _tries_so_far(app: App) -> dict[str, int]:
    """Return {commit: how often it was examined} of those whose session is to be looked for."""
    overtaken = links.overtaken(app.state, app.clock.now() - DAY)
    return code_progress.unlinked(app.state) | dict.fromkeys(overtaken, 0)


def _keep_unlinked(app: App, commits: "Sequence[CodeCommit]", tries: Mapping[str, int]) -> None:
    """Keep those of some commits without a session that are to be examined again."""
    since = app.clock.now() - FRESH
    left = {
        commit.oid: tries.get(commit.oid, 0) + 1
        for commit in commits
        if commit.at >= since and tries.get(commit.oid, 0) < TRIES
    }
    code_progress.replace_unlinked(app.state, dict(list(left.items())[-AGAIN:]))


def _made_at(commit: "CodeCommit") -> float:
    return commit.at


def _add_commits_to_records(app: App, ids: set[str]) -> list[str]:
    """Add commits to the records of sessions that were written before.

    One that is still to come reads them itself.
    """
    scopes = ("private", "shared")
    changed = {id for scope in scopes for id in ids if _add_commits(app, scope, id)}
    return [f"{counted(len(changed), 'session record')} got commits"] if changed else []


def _add_commits(app: App, scope: str, id: str) -> bool:
    """Add its commits to the record of a session; return whether it is there and had others."""
    store = app.store(scope)
    try:
        record = store.get(session_record_id(id)).record
    except UnknownId:
        return False
    session = sessions.get(app.state, id)
    commits = shared.field(
        links.of_session(app.state, id), app.untold(session.root if session else None)
    )
    if not commits or commits == record.fields.get("commits"):
        return False
    after = record.change(commits=commits)
    subject = f"session: commits of {record.id}"
    write.update(store, app.writer(session=id), record, after, "session", subject)
    return True
