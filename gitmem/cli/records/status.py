"""Commands that change how a record stands: link, pin, archive, restore, forget."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import click

from gitmem.app import App
from gitmem.cli import options
from gitmem.cli.exports import remove_copies
from gitmem.cli.records.change_report import report_change
from gitmem.cli.rows import written_json
from gitmem.cli.terminal import Terminal, plain, short, title_shown
from gitmem.errors import GitmemError
from gitmem.records.record import Record
from gitmem.repo.refs import head
from gitmem.services.facts import answers
from gitmem.services.records import history, write
from gitmem.services.records.write import Change
from gitmem.store.reader import Stored
from gitmem.store.store import Written


@click.command("link", short_help="Link a record to others")
@click.argument("id")
@click.argument("targets", nargs=-1, required=True, metavar="TARGET...")
@options.json_option
@click.pass_obj
def link_command(term: Terminal, id: str, targets: tuple[str, ...], as_json: bool) -> None:
    """Link a record to others, so that each is found with the other.

    The link is shown from both ends.

    \b
    Example:
      git mem link 7k2m9qxa 9p4c1zbn
    """
    _link(term, id, targets, as_json, remove=False)


@click.command("link --remove", short_help="Remove links between records")
@click.argument("id")
@click.argument("targets", nargs=-1, required=True, metavar="TARGET...")
@options.json_option
@click.pass_obj
def unlink_command(term: Terminal, id: str, targets: tuple[str, ...], as_json: bool) -> None:
    """Remove links from a record to others.

    \b
    Example:
      git mem link --remove 7k2m9qxa 9p4c1zbn
    """
    _link(term, id, targets, as_json, remove=True)


def _link(
    term: Terminal, id: str, targets: tuple[str, ...], as_json: bool, *, remove: bool
) -> None:
    with term.open() as app:
        scope, stored = app.get(id)
        links = list(stored.record.get("links") or [])
        ids = [
            _linked(links, t) or app.find(t) if remove else app.get(t)[1].record.id for t in targets
        ]
        change = write.link(app.store(scope), app.writer(), stored.record, ids, remove=remove)
        report_change(term, change, "unlinked" if remove else "linked", scope, as_json)


def _linked(links: list[str], text: str) -> str | None:
    """Return the link that a text names, also to a record that is there no more."""
    matches = [x for x in links if x == text or x.endswith(text) or x.startswith(text)]
    return matches[0] if len(matches) == 1 else None


def every(app: App, ids: Iterable[str]) -> list[tuple[str, Stored]]:
    """Return (scope, record) of each id, once.

    Raises UnknownId for any before one of them is written.
    """
    return list({stored.record.id: (scope, stored) for scope, stored in map(app.get, ids)}.values())


def _each(
    term: Terminal,
    ids: tuple[str, ...],
    verb: str,
    as_json: bool,
    act: Callable[[App, str, Record], Change],
    unchanged: str = "",
) -> None:
    """Change each record and say so; `unchanged` says what one is that stays as it was."""
    with term.open() as app:
        rows = []
        for scope, stored in every(app, ids):
            change = act(app, scope, stored.record)
            if as_json:
                rows.append(written_json(scope, change))
            elif unchanged and not change.written.changed:
                term.say(f"{short(change.after.id)} is {unchanged}; nothing changed.")
            else:
                report_change(term, change, verb, scope)
        if as_json:
            term.json(rows)


def _standing(status: str, op: str) -> Callable[[App, str, Record], Change]:
    return lambda app, scope, record: write.set_status(
        app.store(scope), app.writer(), record, status, op
    )


def _unpinned(app: App, scope: str, record: Record) -> Change:
    if record.status != "pinned":
        return Change(record, record, Written(None))
    return write.set_status(app.store(scope), app.writer(), record, "active", "unpin")


def _finished(app: App, scope: str, record: Record) -> Change:
    return answers.finish(app.store(scope), app.writer(), record, head(app.location) or "")


@click.command("pin", short_help="Keep a record for good")
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@options.json_option
@click.pass_obj
def pin_command(term: Terminal, ids: tuple[str, ...], as_json: bool) -> None:
    """Pin records. Pinned records never decay and come first. An agent cannot pin facts.

    \b
    Example:
      git mem pin 7k2m9qxa
    """
    _each(term, ids, "pinned", as_json, _standing("pinned", "pin"))


@click.command("pin --remove", short_help="Let a pinned record age again")
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@options.json_option
@click.pass_obj
def unpin_command(term: Terminal, ids: tuple[str, ...], as_json: bool) -> None:
    """Unpin records.

    They decay again, as others do.

    \b
    Example:
      git mem pin --remove 7k2m9qxa
    """
    _each(term, ids, "unpinned", as_json, _unpinned, "not pinned")


@click.command("done", short_help="Say that a task is done")
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@options.json_option
@click.pass_obj
def done_command(term: Terminal, ids: tuple[str, ...], as_json: bool) -> None:
    """Say that tasks are done. They leave every list of open tasks; history keeps them.

    \b
    Examples:
      git mem done 7k2m9qxa
      git mem restore 7k2m9qxa      it is open again
    """
    _each(term, ids, "done:", as_json, _finished)


@click.command("archive", short_help="Put a record aside")
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@options.json_option
@click.pass_obj
def archive_command(term: Terminal, ids: tuple[str, ...], as_json: bool) -> None:
    """Archive records. They are kept and found with --all, and no longer shown to agents.

    \b
    Example:
      git mem archive 7k2m9qxa
    """
    _each(term, ids, "archived", as_json, _standing("archived", "archive"))


@click.command("restore", short_help="Bring back what was archived or forgotten")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option(
    "--list", "listing", is_flag=True, help="List what history has and the store has not."
)
@options.json_option
@click.pass_obj
def restore_command(term: Terminal, ids: tuple[str, ...], listing: bool, as_json: bool) -> None:
    """Restore records that were archived, forgotten or collected, from git's history.

    An agent may bring back what was collected, or what an agent put aside; not what a person forgot
    or rejected. Words of somebody else are unconfirmed until a person confirms them again.

    \b
    Examples:
      git mem restore --list
      git mem restore 7k2m9qxa
    """
    if not ids and not listing:
        raise click.UsageError("give an id, or --list.")
    with term.open() as app:
        removed = _removed(app)
        if listing:
            rows = [
                {"id": id, "at": when, "store": scope, "title": _past_title(app, scope, id)}
                for scope, id, when in removed
            ]
            if as_json:
                term.json(rows)
            else:
                term.page(
                    (
                        f"{term.style(short(r['id']), fg='yellow')} {r['at'][:10]} "
                        f"{plain(r['title'])}"
                        for r in rows
                    ),
                    app,
                )
            return
        gone, here = _removed_and_present(ids, [(scope, id) for scope, id, _ in removed])
        there = every(app, here)
        rows = []
        for scope, id in gone:
            store = app.store(scope)
            change = write.restore(store, app.writer(), history.last_version(store, id))
            app.count_reads(scope, [id])  # or what had faded would be collected again
            rows.append(_restored(term, change, scope, as_json))
            _say_whose(term, app, change.after)
        for scope, stored in there:
            change = _brought_back(app, scope, stored.record)
            rows.append(_restored(term, change, scope, as_json))
        if as_json:
            term.json(rows)


def _removed(app: App) -> list[tuple[str, str, str]]:
    """Return (store, id, when) of records that no store has, where they were removed last."""
    scopes = ["shared", "private"]
    if app.has_user() and not app.is_user_store():
        scopes.append("user")
    last: dict[str, tuple[str, str]] = {}
    for scope in (scope for scope in scopes if app.store(scope).tip()):
        for id, when in history.removed_ids(app.store(scope)).items():
            if id not in last or when > last[id][0]:
                last[id] = (when, scope)
    here = {row["id"] for row in app.rows(ids=tuple(last), fields=("id",))}
    gone = sorted(last.items(), key=lambda item: item[1], reverse=True)
    return [(scope, id, when) for id, (when, scope) in gone if id not in here]


def _removed_and_present(
    ids: Iterable[str], removed: Sequence[tuple[str, str]]
) -> tuple[list[tuple[str, str]], list[str]]:
    """Return (scope, id) of the records that were removed, and the other ids as they were typed."""
    gone: dict[tuple[str, str], None] = {}
    here = []
    for text in ids:
        low = text.lower()
        matches = [
            (scope, id)
            for scope, id in removed
            if id == low or id.startswith(low) or id[4:].startswith(low) or id.endswith(low)
        ]
        if len(matches) == 1:
            gone[matches[0]] = None
        else:
            here.append(text)
    return list(gone), here


def _brought_back(app: App, scope: str, record: Record) -> Change:
    """Make a record that is there active again; one that was not put aside stays as it is."""
    if record.status not in {"archived", "decayed"}:
        return Change(record, record, Written(None))
    return write.set_status(app.store(scope), app.writer(), record, "active", "restore")


def _restored(term: Terminal, change: Change, scope: str, as_json: bool) -> dict[str, Any]:
    row = written_json(scope, change)
    if as_json:
        return row
    if row["changed"]:
        report_change(term, change, "restored", scope)
    else:
        term.say(f"{short(row['id'])} is there and {change.after.status}; nothing changed.")
    return row


def _say_whose(term: Terminal, app: App, record: Record) -> None:
    """Say that words of somebody else are unconfirmed once they are brought back."""
    rows = app.rows(ids=(record.id,), fields=("id", "unconfirmed"))
    if rows and rows[0]["unconfirmed"] and not record.unconfirmed:
        author = plain(str(record.get("author")).partition(" <")[0])
        term.note(
            f"its words are by {author}, and you brought them back: until a person confirms them, "
            f"they are unconfirmed: git mem inbox --accept {short(record.id)}"
        )


def _past_title(app: App, scope: str, id: str) -> str:
    try:
        return history.last_version(app.store(scope), id).title
    except GitmemError:
        return "(purged)"


@click.command("forget", short_help="Remove a record on purpose")
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option("--reason", default="", metavar="TEXT", help="Why; kept with the mark that is left.")
@options.json_option
@click.pass_obj
def forget_command(term: Terminal, ids: tuple[str, ...], reason: str, as_json: bool) -> None:
    """Delete records, here and everywhere the store is synced to.

    Git's history keeps them (git mem restore). A mark with their words stays in the store: what was
    forgotten is not captured, proposed or imported again, and no agent may add it; a person may. It
    is taken out of the blocks in agents' memory files; what git tracks is named. For a secret, use
    purge.

    \b
    Example:
      git mem forget 7k2m9qxa --reason "no longer true"
    """
    with term.open() as app:
        rows: list[dict[str, Any]] = []
        by_scope: dict[str, list[Record]] = {}
        for scope, stored in every(app, ids):
            by_scope.setdefault(scope, []).append(stored.record)
        for scope, records in by_scope.items():
            written = write.forget(app.store(scope), app.writer(), records, reason)
            if as_json:
                rows += [written_json(scope, Change(record, record, written)) for record in records]
                continue
            for record in records:
                term.say(
                    f"forgot {term.style(short(record.id), fg='yellow')} "
                    f"{title_shown(record.title)}{options.journaled(written)}"
                )
        remove_copies(term, app, [fact for facts in by_scope.values() for fact in facts])
        if as_json:
            term.json(rows)
            return
        term.note(
            "history still has it: git mem restore ID brings it back, git mem forget --purge ID "
            "removes it for good."
        )
