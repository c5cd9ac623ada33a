"""The command that removes a secret from all of history."""

import os
from collections.abc import Callable, Sequence

import click

from gitmem.app import App
from gitmem.cli.sync import purge_warnings
from gitmem.cli.terminal import Terminal, plain, short
from gitmem.errors import Busy, UnknownId, UserError
from gitmem.records.record import kind_of
from gitmem.services.maintenance import purge_local
from gitmem.services.records import history
from gitmem.store import journal, operations, purge
from gitmem.store.history.propagate import purged_ids
from gitmem.store.history.redact import MASK, SHORTEST, Mask
from gitmem.store.layout import id_of_path
from gitmem.store.store import Message, Store


@click.command("purge", short_help="Remove a secret from all of history")
@click.argument("ids", nargs=-1, metavar="[ID...]")
@click.option(
    "--text",
    "texts",
    multiple=True,
    metavar="SECRET",
    help="Mask this text wherever it stands, in every record of all times. '-' asks for it.",
)
@click.option(
    "--remote", "remote", metavar="NAME", help="Replace the history on this remote too (the one case in which gitmem forces a push)."
)
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@click.pass_obj
def purge_command(term: Terminal, ids: tuple[str, ...], texts: tuple[str, ...], remote: str | None, yes: bool) -> None:
    """Remove records, or a text, from the store's whole history and their objects from this disk.

    Rewrites gitmem's own refs, drops its backups and deletes the objects that nothing else needs. Other
    clones follow at their next sync; they, and the remote until it is purged, may still hold it: a
    secret that was shared must be changed at its source.

    \b
    Examples:
      git mem purge 7k2m9qxa
      git mem purge --text 'hunter2' --remote origin
    """
    if not ids and not texts and not remote:
        raise click.UsageError("give an id, --text SECRET, or --remote NAME to send an earlier purge.")
    secrets = [click.prompt("Text to remove", hide_input=True, err=True) if t == "-" else t for t in texts]
    if any(len(s.strip()) < SHORTEST for s in secrets):
        raise UserError("the text is too short: it would tear holes into everything.", "Give at least four characters.")
    if any(s in MASK for s in secrets):
        raise UserError(f"the text is a part of {MASK}, which takes the place of what is removed.", "Give more of it.")
    with term.open() as app:
        app.settle()
        scopes = ["shared", "private"]
        if app.has_user() and not app.is_user_store():
            app.user.settle()
            scopes.append("user")
        scopes = [s for s in scopes if app.store(s).tip()]
        if any(journal.count(_owner(app, s).home) for s in scopes):
            raise Busy("writes wait in the journal, which may hold it too.", "Run the command again; 'git mem doctor' shows what waits.")
        wanted = {scope: _find(app, scope, ids) for scope in scopes}
        missing = [i for i in ids if not any(_named(i, found) for group in wanted.values() for found in group)]
        if missing:
            raise UnknownId(f"no record, now or ever, matches '{missing[0]}'.", "List what was forgotten: git mem restore --list")
        mask = Mask(secrets)
        found = False
        if ids or secrets:
            what = ", ".join([*dict.fromkeys(short(i) for group in wanted.values() for i in group), *(["the text"] if secrets else [])])
            if not yes and not _confirmed(f"Remove {what} from all of history? This cannot be undone."):
                raise UserError("nothing was changed.", "Give --yes to do it without a question.")
            for scope in scopes:
                if wanted[scope] or secrets:
                    found = _one(term, _owner(app, scope), app.store(scope), scope, wanted[scope], mask) or found
        if remote:
            found = _send(term, app, remote, wanted.get("shared", []), mask) or found
        if not found and (ids or secrets):
            raise _not_found(mask, remote)
        if mask.left:
            term.note(
                f"warning: the text is also part of names that a mask would break: {', '.join(plain(p) for p in sorted(mask.left)[:4])}"
            )
        names = app.settings.get("remote") or ", ".join(app.remotes())
        if not remote and names:
            term.note(
                f"Remotes and clones may still hold it: {names}. Replace the history there: git mem purge --remote {names.split(', ')[0]}"
            )
        term.note("Clones that have fetched it keep it until they sync and prune. If it was a secret, change it at its source.")


def _not_found(mask: Mask, remote: str | None) -> UserError:
    where = f"neither here nor on {plain(remote)}" if remote else "nowhere; nothing was changed"
    if mask.left:
        return UserError(
            f"it was found {where}, but in names and words that the store itself needs.",
            f"If a record is named so, remove the record: git mem purge ID ({plain(min(mask.left))}).",
        )
    return UserError(f"it was found {where}.", "A text must be given exactly as it was written.")


def _owner(app: App, scope: str) -> App:
    return app.user if scope == "user" else app


def _confirmed(question: str) -> bool:
    return os.isatty(0) and click.confirm(question, default=False, err=True)


def _named(text: str, id: str) -> bool:
    low = text.lower()
    return id == low or (len(low) >= 6 and (id.startswith(low) or id[4:].startswith(low) or id.endswith(low)))


def _find(app: App, scope: str, ids: tuple[str, ...]) -> list[str]:
    """Return the full ids, of today and of the past, that the user means."""
    store = app.store(scope)
    tip = store.tip()
    if not ids or tip is None:
        return []
    known = {i for path, _ in store.entries() if (i := id_of_path(path))} | {*history.removed_ids(store), *purged_ids(store.objects, tip)}
    out = []
    for text in ids:
        matches = [i for i in known if _named(text, i)]
        if len(matches) > 1:
            raise UnknownId(f"{len(matches)} records match '{text}'.", "Give more characters: " + " | ".join(sorted(matches)[:4]))
        out += matches
    return out


def _one(term: Terminal, owner: App, store: Store, scope: str, ids: list[str], mask: Mask) -> bool:
    """Purge one store and what our own files hold; return whether anything was found."""
    if ids:
        marks = [operations.forget(id, store.clock.stamp(), store.author[0], purged=True) for id in ids]
        named = f"{', '.join(ids[:3])}{' …' if len(ids) > 3 else ''}"
        if store.write(marks, Message(f"{kind_of(ids[0])}: purge {named}", "purge", tuple(ids))).journaled:
            raise Busy("another git mem process is writing to this repository.", "Run the command again in a moment.")
    out = purge.purge(store, owner.git, ids, mask, _progress(term))
    home = owner.home
    owner.close()
    found = purge_local.erase(home, mask, ids)
    if out.rewritten:
        term.say(f"{scope}: rewrote {out.rewritten} commit(s), removed {out.removed_objects} object(s) from this disk.")
    _warn(term, out.kept_objects, out.held_by)
    return bool(out.rewritten or out.removed_objects or found)  # objects alone: what a purge that was killed had left


def _warn(term: Terminal, kept: Sequence[str], held_by: Sequence[str] = ()) -> None:
    for warning in purge_warnings(kept, held_by):
        term.note(f"warning: {warning}")


def _progress(term: Terminal) -> Callable[[int, int], None]:
    show = term.progress()
    return (lambda done, total: show(done, total) if done % 50 == 0 or done == total else None) if show else (lambda *_: None)


def _send(term: Terminal, app: App, name: str, ids: Sequence[str], mask: Mask) -> bool:
    """Replace a remote's history by ours; return whether it held what was named."""
    store = app.store()
    if store.tip() is None:
        raise UserError("the store is empty.", f"To remove memory from the remote: git mem wipe --remote {name}")
    out = purge.send(store, app.git, app.remote(name), ids, mask)
    if out is None:
        term.say(f"{plain(name)} has no memory: nothing to replace there.")
        return False
    app.close()
    purge_local.erase(app.home, Mask(out.masked))
    term.say(f"replaced the history on {plain(name)}; removed {out.removed_objects} fetched object(s) here.")
    for path in out.left_out:
        term.note(f"warning: a change of {plain(path)} that {plain(name)} had quotes what was purged, and was left out.")
    _warn(term, out.kept_objects)
    term.note("The host may keep the old objects until it collects its garbage: ask it to, if the secret matters.")
    return out.rewritten > 0
