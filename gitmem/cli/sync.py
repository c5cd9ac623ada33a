"""Commands that share: sync, remote."""

import os
from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import Any

import click

from gitmem.app import App
from gitmem.base.detach import detach
from gitmem.cli import options
from gitmem.cli.consent import FOLLOW_HELP, NOTHING, agrees
from gitmem.cli.records.forks import all_forks, fork_text
from gitmem.cli.terminal import Terminal, age, plain, short
from gitmem.errors import MissingObject, RemoteRefused, UserError
from gitmem.git.objects import diff
from gitmem.git.remote import bundle
from gitmem.index.forks import Fork
from gitmem.index.joined import Indexes
from gitmem.repo.refs import BRANCH, SHARED
from gitmem.services.maintenance import purge_texts
from gitmem.services.maintenance.purge_places import left_over
from gitmem.services.records.write import require_person
from gitmem.services.views import inbox
from gitmem.store import sync
from gitmem.store.store import Store
from gitmem.text.plural import counted

MANY = 10_000  # records that take a second to index


def store_name(app: App, remote: str | None) -> tuple[str, bool]:
    """Return (remote, whether it may be pushed to) for what the user named; raises UserError."""
    enabled = app.settings.get("remote")
    remotes = app.remotes()
    if remote is None:
        if enabled:
            return enabled, True
        if "origin" in remotes or len(remotes) == 1:
            return ("origin" if "origin" in remotes else next(iter(remotes))), False
        raise UserError(
            "no remote is enabled for memory." if remotes else "this repository has no remote.",
            f"Choose one: git mem remote enable {next(iter(remotes), 'URL')}",
        )
    if remote == enabled:
        return remote, True
    if (
        remote in remotes
        or os.path.exists(remote)
        or "://" in remote
        or (":" in remote and not remote.startswith(":"))
    ):
        return remote, False
    listed = ", ".join(remotes) or "none"
    raise UserError(
        f"there is no remote '{remote}'.",
        f"Remotes: {listed}. A URL, a path or a bundle file may be named too.",
    )


@click.command("sync", short_help="Exchange memory with a remote")
@click.argument("remote", required=False)
@click.option(
    "--bundle",
    "to_bundle",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Write everything to a bundle file instead; read it with: git mem sync FILE",
)
@click.option("--pull-only", is_flag=True, help="Fetch and merge, push nothing.")
@click.option("--follow-purge", is_flag=True, help=FOLLOW_HELP)
@options.json_option
@click.pass_obj
def sync_command(
    term: Terminal,
    remote: str | None,
    to_bundle: str | None,
    *,
    pull_only: bool,
    follow_purge: bool,
    as_json: bool,
) -> int:
    """Fetch, merge and push memory.

    It pushes only to a remote that you enabled, and never with force.

    Without an enabled remote, it fetches from 'origin' and sends nothing. REMOTE may be a remote, a
    URL, a path or a bundle file.

    \b
    Examples:
      git mem remote enable origin && git mem sync
      git mem sync --bundle memory.bundle
      git mem sync memory.bundle
    """
    with term.open() as app:
        app.settle()
        store = app.store()
        if to_bundle:
            _write_bundle(term, app, to_bundle, as_json)
            return 0
        name, may_push = store_name(app, remote)
        if moved := app.move_facts():
            many = counted(moved, "fact")
            verb = "is" if moved == 1 else "are"
            term.note(f"{many} that a person confirmed {verb} shared now.")
        before = store.tip()
        consent = partial(agrees, term, name, follow_purge)
        try:
            out = sync.sync(
                store,
                app.remote(_resolved(app, name)),
                push=may_push and not pull_only,
                consent=consent,
            )
        except RemoteRefused as error:
            if error.fetched:
                from gitmem.store.history import prune

                prune.prune(app.git, app.home, [error.fetched])
            raise
        if out.abandoned:
            from gitmem.services.maintenance import purge_follow

            places = purge_follow.finish(store, app.git, app.home, out, app.close)
            out.warnings += left_over(places)
        indexes = _indexes(app, before)
        waiting = inbox.number_waiting(indexes, app.own_addresses)
        forks = all_forks(indexes)
        unpushed = sync.unpushed(app.store(), out.remote)
        if as_json:
            term.json(
                _row(out)
                | {
                    "unpushed_count": unpushed[0],
                    "inbox_count": waiting,
                    "forks": [_fork_json(fork) for fork in forks],
                }
            )
        else:
            _report(term, out, plain(name), unpushed, app.settings.get("remote") == name)
            _say_what_waits(term, forks, waiting)
        if out.waiting:
            term.note(f"error: {purge_texts.summary(out.waiting, plain(name))} It waits.")
            term.note(f"hint: {purge_texts.how_to_follow(plain(name))}")
        return int(out.waiting is not None)


def _fork_json(fork: Fork) -> dict[str, Any]:
    return {"id": fork.id, "successor_ids": list(fork.successors)}


def _say_what_waits(term: Terminal, forks: list[Fork], waiting: int) -> None:
    """Say what a person has to decide: which successor of a fact holds, and what is proposed."""
    for fork in forks:
        term.note(fork_text(*fork))
    if waiting:
        term.note(inbox.waiting_text(waiting))


def _write_bundle(term: Terminal, app: App, path: str, as_json: bool) -> None:
    if app.store().tip() is None:
        raise UserError(
            "the store is empty: there is nothing to put into a bundle.",
            "Add a first memory: git mem add 'title'",
        )
    bundle(app.git, path, SHARED)
    if as_json:
        term.json({"bundle_file": os.path.abspath(path)})
    else:
        term.say(f"wrote {path}. On the other side: git mem sync {path}")


def _row(out: sync.SyncOutcome) -> dict[str, Any]:
    return {
        "remote": out.remote,
        "received_count": out.received,
        "sent_count": out.sent,
        "pushed": out.pushed,
        "merged": out.merged,
        "warnings": out.warnings,
        "conflict_ids": out.conflicts,
        "damaged_store_paths": out.damaged,
        "refused_store_paths": out.refused,
        "quarantined_count": out.quarantined,
        "waiting_purge": out.waiting.as_json() if out.waiting else None,
        "followed_purge": out.followed.as_json() if out.followed else None,
    }


def _is_much(store: Store, before: str | None) -> bool:
    """Return whether the received changes take seconds to index.

    If so, they are indexed in the background or by the next reader.
    """
    if store.tip() == before:
        return False
    try:
        changes = diff(store.objects, store.tree(before) if before else None, store.tree())
        return len(list(islice(changes, MANY))) == MANY
    except MissingObject:  # a purge that was followed has taken what was there before
        return False


def _indexes(app: App, before: str | None) -> Indexes:
    """Return the indexes, brought up to date, as far as that is soon done."""
    if not _is_much(app.store(), before):  # anew: what followed a purge closed the objects
        app.move_facts()
        return app.indexes()
    detach(["-C", app.location.worktree or app.location.gitdir, "drain"], app.env)
    return [("", index) for index in app.stored_indexes]


def _resolved(app: App, name: str) -> str:
    """Return a path as an absolute one: git runs elsewhere."""
    return os.path.abspath(name) if name not in app.remotes() and os.path.exists(name) else name


def _report(
    term: Terminal, out: sync.SyncOutcome, name: str, unpushed: tuple[int, str], enabled: bool
) -> None:
    for warning in out.warnings:
        term.note(f"warning: {warning}")
    if out.followed and out.followed.ids:
        term.note(purge_texts.summary(out.followed, name))
    if out.quarantined:
        term.note(purge_texts.quarantined(out.quarantined))
    if out.waiting:
        return
    for line in _exchanged(out, name, everything=not unpushed[0]):
        term.say(line)
    for line in _remarks(out):
        term.note(line)
    number, since = unpushed
    if number:
        how = "git mem sync" if enabled else f"git mem remote enable {name}"
        is_here, them = ("is here", "it") if number == 1 else ("are here", "them")
        term.note(
            f"{'' if out.pushed else 'nothing was pushed: '}"
            f"{counted(number, 'commit')} since {since[:10]} {is_here} only. "
            f"To share {them}: {how}"
        )


def _exchanged(out: sync.SyncOutcome, name: str, *, everything: bool) -> Iterator[str]:
    pieces = []
    if out.received:
        pieces.append(f"received {counted(out.received, 'commit')}")
    if out.pushed:
        pieces.append(f"sent {counted(out.sent, 'commit')}")
    if pieces:
        yield f"{name}: {', '.join(pieces)}{' (merged)' if out.merged else ''}"
    elif everything:
        yield f"{name}: everything is up to date."


def _remarks(out: sync.SyncOutcome) -> Iterator[str]:
    if out.conflicts:
        yield (
            f"{counted(len(out.conflicts), 'record')} changed on both sides. The newer text is "
            f"used, and the older text is kept. List these records: git mem list --conflicts"
        )
    for path in out.damaged:
        yield f"damaged, kept as it is: {path} (git mem doctor)"
    for path in out.refused:
        yield f"left out, its name or mode is not allowed: {path}"


@click.group("remote", short_help="Choose where memory is pushed to", invoke_without_command=True)
@click.pass_context
def remote_command(ctx: click.Context) -> None:
    """Choose the one remote that memory is pushed to. Until then, nothing is pushed.

    Without a command, the remote is shown, as by `git mem remote show`.

    \b
    Examples:
      git mem remote enable origin
      git mem remote enable git@example.com:team/memory.git
      git mem remote show
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(remote_show)


def _require_person(app: App, command: str) -> None:
    require_person(app.writer(), "choose", "the remote that memory is pushed to", command)


@remote_command.command("enable")
@click.argument("name")
@click.option(
    "--branch",
    is_flag=True,
    help="Keep it on the branch 'gitmem/main' there, for hosts that take branches only.",
)
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@click.pass_obj
def remote_enable(term: Terminal, name: str, branch: bool, yes: bool) -> None:
    """Let 'git mem sync' push memory to NAME (a remote, or a URL).

    It says who will be able to read the memory, and asks on a terminal. Elsewhere, and where CI is
    set, it does not ask. Nothing is sent before the next `git mem sync`.

    \b
    Example:
      git mem remote enable origin
    """
    with term.open() as app:
        _require_person(app, f"remote enable {plain(name)}")
        remotes = app.remotes()
        url = remotes.get(name)
        if url is None and not ("://" in name or ":" in name or os.path.isdir(name)):
            raise UserError(
                f"there is no remote '{name}'.",
                f"Remotes: {', '.join(remotes) or 'none'}. Add one with 'git remote add', or give "
                f"a URL.",
            )
        ref = BRANCH if branch else SHARED
        term.note(
            f"Everybody who can read {plain(url or name)} will be able to read the whole shared "
            f"store and its history; it goes to the ref {ref}."
        )
        if (
            not yes
            and term.environ.get("CI") is None
            and os.isatty(0)
            and not click.confirm("Push memory there?", default=True, err=True)
        ):
            raise UserError(NOTHING)
        app.git.run(
            "config",
            "--local",
            "gitmem.remote",
            os.path.abspath(name) if url is None and os.path.isdir(name) else name,
        )
        if branch:
            app.git.run("config", "--local", "gitmem.remoteRef", ref)
        else:
            app.git.call("config", "--local", "--unset-all", "gitmem.remoteRef", ok=(0, 5))
        term.say(f"memory is pushed to {plain(name)} when you run: git mem sync")


@remote_command.command("disable")
@click.argument("name", required=False)
@click.pass_obj
def remote_disable(term: Terminal, name: str | None) -> None:
    """Push memory nowhere any more; what a remote has stays there.

    \b
    Example:
      git mem remote disable
    """
    with term.open() as app:
        _require_person(app, "remote disable")
        current = app.settings.get("remote")
        if not current or (name and name != current):
            term.say(
                f"{plain(name)} is not enabled; nothing changed."
                if name
                else "no remote is enabled; nothing changed."
            )
            return
        for key in ("gitmem.remote", "gitmem.remoteRef"):
            app.git.call("config", "--local", "--unset-all", key, ok=(0, 5))
        term.say(
            f"memory is no longer pushed to {plain(current)}. To remove it there: git mem "
            f"uninstall --wipe --remote {plain(current)}"
        )


@remote_command.command("show")
@options.json_option
@click.pass_obj
def remote_show(term: Terminal, as_json: bool = False) -> None:
    """Show the remote, its ref, and what has not been sent.

    \b
    Example:
      git mem remote show
    """
    with term.open() as app:
        name = app.settings.get("remote")
        waiting, since = sync.unpushed(app.store(), name) if name else (0, "")
        row: dict[str, Any] = {
            "name": name or None,
            "url": app.remotes().get(name, name) if name else None,
            "ref": (app.settings.get("remoteRef") or SHARED) if name else None,
            "unpushed_count": waiting,
            "unpushed_since": since or None,
        }
        if as_json:
            term.json(row)
        elif not name:
            term.say("no remote is enabled: memory stays on this machine.")
            for other, url in app.remotes().items():
                term.say(f"  git mem remote enable {plain(other)}    {plain(url)}")
        else:
            term.say(f"{plain(name)} {plain(row['url'])}\nref: {row['ref']}")
            term.say(
                "everything is sent."
                if not row["unpushed_count"]
                else f"not sent: {counted(row['unpushed_count'], 'commit')}, the oldest "
                f"{age(since, term.clock.now())}"
            )


def remove_from_remote(term: Terminal, app: App, name: str) -> None:
    """Delete the memory ref of a remote; raises RemoteRefused."""
    remote = app.remote(_resolved(app, name))
    into = sync.tracking_ref(remote.name)
    if not remote.fetch(into):
        term.say(f"{plain(name)} has no memory.")
        return
    tip = app.objects.tip(into)
    if tip is None:
        raise RemoteRefused(f"what {name} has cannot be read.")
    remote.delete(tip)
    app.objects.delete(into, tip)
    term.say(f"removed {remote.ref} from {plain(name)} (it was {short(tip[:10])}).")
    term.note("a clone whose remote is enabled publishes it again; there: git mem remote disable")
