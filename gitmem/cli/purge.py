"""The command that removes a secret from all of history."""

import contextlib
import os
from collections.abc import Callable

import click

from gitmem.app import App
from gitmem.cli.render import Terminal, plain, short
from gitmem.errors import RemoteRefused, UnknownId, UserError
from gitmem.files import listing
from gitmem.index.query import NAME
from gitmem.model.record import Record
from gitmem.services import history, memories
from gitmem.store import purge as purging
from gitmem.store import sync as syncing
from gitmem.store.records import Store


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
    if any(len(s) < 4 for s in secrets):
        raise UserError("the text is too short: it would tear holes into everything.", "Give at least four characters.")
    with term.open() as app:
        app.settle()
        scopes = [s for s in ("shared", "private") if app.store(s).tip()]
        wanted = {scope: _find(app, scope, ids) for scope in scopes}
        missing = [i for i in ids if not any(_named(i, found) for group in wanted.values() for found in group)]
        if missing:
            raise UnknownId(f"no record, now or ever, matches '{missing[0]}'.", "List what was forgotten: git mem restore --list")
        if ids or secrets:
            what = ", ".join([*(short(i) for group in wanted.values() for i in group), *(["the text"] if secrets else [])])
            if not yes and not _confirmed(f"Remove {what} from all of history? This cannot be undone."):
                raise UserError("nothing was changed.", "Give --yes to do it without a question.")
            for scope in scopes:
                if wanted[scope] or secrets:
                    _one(term, app, scope, wanted[scope], secrets)
        if remote:
            _send(term, app, remote)
        elif app.settings.get("remote") or app.remotes():
            names = app.settings.get("remote") or ", ".join(app.remotes())
            term.note(
                f"Remotes and clones may still hold it: {names}. Replace the history there: git mem purge --remote {names.split(', ')[0]}"
            )
        term.note("Clones that have fetched it keep it until they sync and prune. If it was a secret, change it at its source.")


def _confirmed(question: str) -> bool:
    return os.isatty(0) and click.confirm(question, default=False, err=True)


def _named(text: str, id: str) -> bool:
    low = text.lower()
    return id == low or (len(low) >= 6 and (id.startswith(low) or id[4:].startswith(low) or id.endswith(low)))


def _find(app: App, scope: str, ids: tuple[str, ...]) -> list[str]:
    """Return the full ids, of today and of the past, that the user means."""
    from gitmem.store.layout import id_of_path

    if not ids:
        return []
    store = app.store(scope)
    known = {i for path, _ in store.entries() if (i := id_of_path(path))} | set(history.removed_ids(store))
    out = []
    for text in ids:
        matches = [i for i in known if _named(text, i)]
        if len(matches) > 1:
            raise UnknownId(f"{len(matches)} records match '{text}'.", "Give more characters: " + " | ".join(sorted(matches)[:4]))
        out += matches
    return out


def _one(term: Terminal, app: App, scope: str, ids: list[str], secrets: list[str]) -> None:
    store = app.store(scope)
    gone = [_last(store, id) for id in ids]
    if gone:
        memories.forget(store, app.writer(), [r for r in gone if r], purged=True)
    needles = [s.encode() for s in secrets]

    def mask(data: bytes) -> bytes:
        for needle in needles:
            data = data.replace(needle, b"[purged]")
        return data

    out = purging.purge(store, app.git, ids, mask if needles else None, _progress(term))
    _local_traces(app, [*needles, *(i.encode() for i in ids)])
    term.say(f"{scope}: rewrote {out.rewritten} commit(s), removed {out.removed_objects} object(s) from this disk.")
    if out.kept_objects:
        term.note(f"warning: {len(out.kept_objects)} object(s) are in packs marked .keep; remove those marks and run 'git gc --prune=now'.")


def _last(store: Store, id: str) -> Record | None:
    try:
        return history.last_version(store, id)
    except UnknownId:
        return None


def _progress(term: Terminal) -> Callable[[int, int], None]:
    show = term.progress()
    return (lambda done, total: show(done, total) if done % 50 == 0 or done == total else None) if show else (lambda *_: None)


def _local_traces(app: App, needles: list[bytes]) -> None:
    """Remove what our own caches and session files hold of it."""
    app.close()
    for suffix in ("", "-wal", "-shm"):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(app.home.join(NAME + suffix))
    for folder, suffix in (("sessions", ".jsonl"), ("journal", ".bad"), ("journal", ".json")):
        for path in listing(app.home.join(folder), suffix):
            with open(path, "rb") as file:
                data = file.read()
            clean = data
            for needle in needles:
                clean = clean.replace(needle, b"[purged]")
            if clean != data:
                with open(path, "wb") as file:
                    file.write(clean)


def _send(term: Terminal, app: App, name: str) -> None:
    """Replace a remote's history by ours, if it is still the one that the purge started from or holds nothing new."""
    remote = app.remote(name)
    store = app.store()
    into = syncing.tracking_ref(name)
    tip = store.tip()
    if tip is None:
        raise UserError("the store is empty.", f"To remove memory from the remote: git mem wipe --remote {name}")
    if not remote.fetch(into):
        term.say(f"{plain(name)} has no memory: nothing to replace there.")
        return
    there = app.objects.tip(into)
    assert there is not None
    if not app.objects.is_ancestor(there, tip):
        made, _ = syncing.carry_over(app.objects, there, tip)
        if made != tip:
            store.move(tip, made, "purge: keep what the remote had")
            tip = made
    try:
        remote.push(tip, lease=there)
    except RemoteRefused:
        app.objects.delete(into, there)
        raise
    app.objects.move(into, there, tip, "gitmem: purge")
    removed, _ = purging.prune(app.git, app.home, [there])
    term.say(f"replaced the history on {plain(name)}; removed {removed} fetched object(s) here.")
    term.note("The host may keep the old objects until it collects its garbage: ask it to, if the secret matters.")
