"""The command that removes a secret from all history, and the one that manages the quarantine."""

import os
from collections.abc import Callable, Iterable, Sequence
from functools import partial

import click

from gitmem.app import App
from gitmem.cli import options
from gitmem.cli.consent import FOLLOW_HELP, agrees
from gitmem.cli.records.quarantine import drop_quarantine, list_quarantine, restore_quarantined
from gitmem.cli.terminal import Terminal, plain, short
from gitmem.errors import Busy, UnknownId, UserError
from gitmem.services.maintenance import purge_exports, purge_follow, purge_local
from gitmem.services.maintenance.purge_one import object_places, purge_store
from gitmem.services.maintenance.purge_places import (
    CLEAN,
    HELD,
    REMOVED,
    YOURS,
    PurgePlace,
    is_held,
    warnings,
    was_removed,
)
from gitmem.services.maintenance.purge_request import check_texts, count_places, find_ids, is_named
from gitmem.store import journal, purge
from gitmem.store.history.redact import Mask

NAMES = "names and words that the store itself needs"
CHANGE_IT = (
    "Clones that have fetched it keep it until they sync and prune. If it was a secret, change it "
    "at its source."
)


@click.command("purge", short_help="Remove a secret from all of history")
@click.argument("ids", nargs=-1, metavar="[ID...]")
@click.option(
    "--text",
    "texts",
    multiple=True,
    metavar="SECRET",
    help="Mask this text wherever it stands, in every record of all times. '-' asks for it, so "
    "that it is not in your shell's history. May be repeated.",
)
@click.option(
    "--remote",
    "remote",
    metavar="NAME",
    help="Replace the history on this remote too (the one case in which gitmem forces a push).",
)
@click.option(
    "--quarantine-list",
    "listing",
    is_flag=True,
    help="List what a purge by somebody else took out of this clone.",
)
@click.option(
    "--quarantine-restore",
    "restoring",
    is_flag=True,
    help="Bring back records ID... out of the quarantine.",
)
@click.option(
    "--quarantine-drop",
    "dropping",
    is_flag=True,
    help="Remove what is in the quarantine now, not after 30 days.",
)
@click.option("--follow-purge", is_flag=True, help=FOLLOW_HELP)
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@options.json_option
@click.pass_obj
def purge_command(
    term: Terminal,
    ids: tuple[str, ...],
    texts: tuple[str, ...],
    remote: str | None,
    *,
    listing: bool,
    restoring: bool,
    dropping: bool,
    follow_purge: bool,
    yes: bool,
    as_json: bool,
) -> int:
    """Remove records, or a text, from the store's whole history and their objects from this disk.

    Rewrites gitmem's own refs, drops its backups, deletes the objects that nothing else needs, and
    says for each place what was in it. Run it again to check: it ends with 0 when nothing is left.
    Other clones follow at their next sync; they, and the remote until it is purged, may still hold
    it: a secret that was shared must be changed at its source.

    It asks first, and says in how many places the text stands; without a terminal it needs --yes. A
    text becomes `[purged]` in the shared, the private and your own store. It is found with upper
    and lower case as given, but for its first letter. A text of less than four characters, or
    without a letter or a digit, is refused.

    It exits with 1 as long as a place still holds something, and names it. What is yours is named
    and left alone: refs of your own, unreachable objects, BRIEFING.md, agents' memory files. Your
    branches and files are not searched: git log --all -S TEXT. A purge that was killed is ended by
    the next one.

    \b
    Examples:
      git mem purge 7k2m9qxa
      git mem purge --text 'hunter2' --remote origin
      git mem purge --quarantine-list
    """
    if listing or restoring or dropping:
        _check_quarantine_call(ids, texts, remote, (listing, restoring, dropping))
        with term.open() as app:
            if listing:
                list_quarantine(term, app, as_json)
            elif restoring:
                restore_quarantined(term, app, ids, as_json)
            else:
                drop_quarantine(term, app, as_json)
            return 0
    if not ids and not texts and not remote:
        raise click.UsageError(
            "give an id, --text SECRET, or --remote NAME to send an earlier purge."
        )
    secrets = [
        click.prompt("Text to remove", hide_input=True, err=True) if t == "-" else t for t in texts
    ]
    check_texts(secrets)
    with term.open() as app:
        run = _Run(term, app, ids, Mask(secrets), remote)
        run.ask(yes)
        run.purge(follow_purge)
        code = run.report(as_json)
        run.build_indexes()
        return code


def _check_quarantine_call(
    ids: Sequence[str], texts: Sequence[str], remote: str | None, flags: Sequence[bool]
) -> None:
    if sum(flags) > 1 or texts or remote:
        raise click.UsageError(
            "the quarantine is looked after alone: give one --quarantine option."
        )
    if bool(ids) != flags[1]:
        raise click.UsageError(
            "--quarantine-restore needs an ID; the other --quarantine options take none."
        )


class _Run:
    """One purge: of what, where, and what was found."""

    def __init__(
        self, term: Terminal, app: App, ids: Sequence[str], mask: Mask, remote: str | None
    ) -> None:
        self.term, self.app, self.mask, self.remote = term, app, mask, remote
        self.places: list[PurgePlace] = []
        app.settle()
        scopes = ["shared", "private"]
        if app.has_user() and not app.is_user_store():
            app.user.settle()
            scopes.append("user")
        self.scopes = [s for s in scopes if app.store(s).tip()]
        if any(journal.count(self._owner(s).home) for s in self.scopes):
            raise Busy(
                "writes wait in the journal, which may hold it too.",
                "Run the command again; 'git mem doctor' shows what waits.",
            )
        self.wanted = {scope: find_ids(app.store(scope), ids) for scope in self.scopes}
        self.ids = list(dict.fromkeys(id for group in self.wanted.values() for id in group))
        missing = [given for given in ids if not any(is_named(given, id) for id in self.ids)]
        if missing:
            raise UnknownId(
                f"no record, now or ever, matches '{missing[0]}'.",
                "List what was forgotten: git mem restore --list",
            )

    def _owner(self, scope: str) -> App:
        return self.app.user if scope == "user" else self.app

    def ask(self, yes: bool) -> None:
        """Ask whether to go on; raises UserError when not."""
        if yes or not (self.ids or self.mask):
            return
        if not os.isatty(0):
            raise UserError("nothing was changed.", "Give --yes to do it without a question.")
        named = [*map(short, self.ids), *(["the text"] if self.mask else [])]
        places = f" It stands in {self._count()} place(s)." if self.mask else ""
        question = f"Remove {', '.join(named)} from all of history?{places} This cannot be undone."
        if not click.confirm(question, default=False, err=True):
            raise UserError("nothing was changed.", "Give --yes to do it without a question.")

    def _count(self) -> int:
        homes = {self._owner(scope).home.path: self._owner(scope).home for scope in self.scopes}
        local = sum(purge_local.count_places(home, self.mask) for home in homes.values())
        return local + sum(count_places(self.app.store(scope), self.mask) for scope in self.scopes)

    def purge(self, follow: bool) -> None:
        """Purge the stores of this machine, then the remote."""
        if self.ids or self.mask:
            self._purge_here()
        if self.remote:
            self._send(self.remote, follow)
        elif self.mask:
            self.places += purge_exports.search(self.app.location, self.app.env, self.mask)

    def _purge_here(self) -> None:
        cleaned: dict[str, App] = {}
        for scope in self.scopes:
            ids = self.wanted[scope]
            if not ids and not self.mask:
                continue
            owner = self._owner(scope)
            store = self.app.store(scope)
            self.places += purge_store(store, owner.git, scope, ids, self.mask, self._progress())
            cleaned[owner.home.path] = owner
        for owner in cleaned.values():
            owner.close()
            prefix = "user: " if owner is not self.app else ""
            for place in purge_local.erase(owner.home, self.mask, self.ids):
                self.places.append(
                    PurgePlace(prefix + place.name, place.state, place.count, place.detail)
                )

    def build_indexes(self) -> None:
        """Make the indexes that were removed anew: hooks read them and build none."""
        for owner in {id(owner): owner for owner in map(self._owner, self.scopes)}.values():
            owner.index()

    def _progress(self) -> Callable[[int, int], None]:
        show = self.term.progress("rewriting")
        if show is None:
            return lambda *_: None

        def some(done: int, total: int) -> None:
            if done % 50 == 0 or done == total:
                show(done, total)

        return some

    def _send(self, name: str, follow: bool) -> None:
        """Replace a remote's history by ours."""
        app, store = self.app, self.app.store()
        if store.tip() is None:
            raise UserError(
                "the store is empty.",
                f"To remove memory from the remote: git mem wipe --remote {name}",
            )
        consent = partial(agrees, self.term, name, follow)
        out = purge.send(
            store, app.git, app.remote(name), self.wanted.get("shared", []), self.mask, consent
        )
        if out is None:
            self.places.append(PurgePlace(f"remote {name}", CLEAN, 0, "it has no memory"))
            return
        followed = purge_follow.finish(store, app.git, app.home, out, app.close)
        if out.quarantined:
            self.term.note(purge_follow.quarantined(out.quarantined))
        state = REMOVED if out.rewritten else CLEAN
        self.places.append(
            PurgePlace(f"remote {name}", state, out.rewritten, "replaced the history there")
        )
        self.places += object_places("fetched", out.pruned)
        names = {place.name for place in self.places}
        new = (place for place in followed if place not in self.places)
        self.places += [place for place in new if place.state != CLEAN or place.name not in names]
        for path in out.left_out:
            self.term.note(
                f"warning: a change of {plain(path)} that {plain(name)} had quotes what was "
                f"purged, and was left out."
            )

    def report(self, as_json: bool) -> int:
        """Say what was in each place; return the exit code."""
        self._note_names()
        held = [place for place in self.places if place.state == HELD]
        remotes = self._remotes()
        if as_json:
            rows = [place.as_json() for place in self.places]
            self.term.json({"locations": rows, "complete": not held, "other_remotes": remotes})
        else:
            self._say(self.places)
        for level, text in warnings(self.places):
            self.term.note(f"{level}: {text}")
        if remotes:
            self.term.note(
                f"Remotes and clones may still hold it: {', '.join(map(plain, remotes))}. "
                f"Replace the history there: git mem purge --remote {plain(remotes[0])}"
            )
        if self.remote:
            self.term.note(
                "The host may keep the old objects until it collects its garbage: ask it to, if "
                "the secret matters."
            )
        self.term.note(CHANGE_IT)
        return int(bool(held))

    def _remotes(self) -> list[str]:
        if self.remote:
            return []
        enabled = self.app.settings.get("remote")
        return [enabled] if enabled else list(self.app.remotes())

    def _note_names(self) -> None:
        """Note where the text is a part of what a mask would break."""
        left = sorted(self.mask.named or self.mask.left)
        if not left:
            return
        # words of the format are in every store; that is worth a failure only when there was
        # nothing else
        is_failure = bool(self.mask.named) or not was_removed(self.places)
        where = f"in {len(left)} file(s), of which the text is a part: {', '.join(left[:4])}"
        hint = f"If a record is named so, remove the record: git mem purge ID ({left[0]})."
        self.places.append(PurgePlace(NAMES, HELD if is_failure else YOURS, 0, f"{where}. {hint}"))

    def _say(self, places: Sequence[PurgePlace]) -> None:
        removed = [place for place in places if place.state == REMOVED]
        for name, done in _grouped(removed).items():
            self.term.say(f"{plain(name)}: {', '.join(done)}.")
        if not removed and not is_held(places):
            self.term.say("it is nowhere on this machine; nothing was changed.")
        clean = [place.name for place in places if place.state == CLEAN]
        if clean:
            self.term.say(f"nothing there: {', '.join(map(plain, clean))}.")


def _grouped(places: Iterable[PurgePlace]) -> dict[str, list[str]]:
    """Return what was done, by store or file."""
    out: dict[str, list[str]] = {}
    for place in places:
        scope, _, part = place.name.rpartition(" ")
        if part == "history":
            out.setdefault(scope, []).append(f"rewrote {place.count} commit(s)")
        elif part == "objects":
            out.setdefault(scope, []).append(f"removed {place.count} object(s) from this disk")
        else:
            out.setdefault(place.name, []).append(place.detail or f"cleaned {place.count}")
    return out
