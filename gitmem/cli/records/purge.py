"""The command that removes a secret from all history, and the one that manages the quarantine."""

import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial

import click

from gitmem.app import App
from gitmem.cli import options
from gitmem.cli.consent import FOLLOW_HELP, agrees, require_yes
from gitmem.cli.records.quarantine import drop_quarantine, list_quarantine, restore_quarantined
from gitmem.cli.terminal import Terminal, plain, short
from gitmem.errors import Busy, UnknownId, UserError
from gitmem.repo.location import Home
from gitmem.services.maintenance import purge_follow, purge_local, purge_quotes, purge_texts
from gitmem.services.maintenance.purge_one import object_places, purge_store
from gitmem.services.maintenance.purge_places import (
    CLEAN,
    HELD,
    REMOVED,
    YOURS,
    PurgePlace,
    left_over,
    was_removed,
)
from gitmem.services.maintenance.purge_request import check_texts, count_places, find_ids, is_named
from gitmem.services.records.write import require_person
from gitmem.store import journal, purge
from gitmem.store.history.redact import Mask
from gitmem.text.plural import counted, noun_of

NAMES = "names and words that the store itself needs"
CHANGE_IT = (
    "Clones that have fetched it keep it until they sync and prune. If it was a secret, change it "
    "at its source."
)


@click.command("forget --purge", short_help="Remove a secret from all of history")
@click.argument("ids", nargs=-1, metavar="[ID...]")
@click.option(
    "--text",
    "texts",
    multiple=True,
    metavar="SECRET",
    help="Mask this text wherever it occurs, in all records of the whole history. '-' asks for it, "
    "or reads it from a pipe, so that it is not in your shell's history. May be repeated.",
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

    It asks first, and says in how many places the text occurs; without a terminal it needs --yes. A
    text becomes `[purged]` in the shared, the private and your own store. It is found as given, and
    in small letters, as patterns and tombstones have it. A text of less than four characters, or
    without a letter or a digit, is refused.

    It exits with 1 as long as a place on this machine holds something or may do so, and names it;
    so it does when other records quote one that is purged by its id. Blocks in agents' memory files
    and pages that git does not track are written anew. The saved work of a snapshot stays unless a
    file in it holds the text. What is yours is named and left alone: refs of your own, unreachable
    objects, edited pages, tracked files. Your branches and files are not searched: git log --all -S
    TEXT. A purge that was killed is ended by the next one.

    \b
    Examples:
      git mem forget --purge 7k2m9qxa
      git mem forget --purge --text hunter2
      git mem forget --purge --text - --remote hub
      git mem forget --purge --quarantine-list
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
    secrets = [_typed_text() if text == "-" else text for text in texts]
    check_texts(secrets)
    with term.open() as app:
        require_person(app.writer(), "purge", "texts", "forget --purge")
        run = _Run(term, app, ids, Mask(secrets), remote)
        run.ask(yes)
        run.purge(follow_purge)
        run.build_indexes()
        run.find_copies()
        return run.report(as_json)


def _typed_text() -> str:
    """Return a text as it is typed without an echo, or all of a pipe but its last newline."""
    if sys.stdin.isatty():
        text: str = click.prompt("Text to remove", hide_input=True, err=True)
        return text
    return sys.stdin.read().removesuffix("\n").removesuffix("\r")


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
        self.gone = [
            record
            for scope, group in self.wanted.items()
            for record in purge_quotes.records_of(app.store(scope), group)
        ]
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
        named = [*map(short, self.ids), *(["the text"] if self.mask else [])]
        places = f" It occurs in {counted(self._count(), 'place')}." if self.mask else ""
        question = f"Remove {', '.join(named)} from all of history?{places} This cannot be undone."
        require_yes(question, yes=yes)

    def _count(self) -> int:
        local = sum(purge_local.count_places(home, self.mask) for home in self._homes())
        return local + sum(count_places(self.app.store(scope), self.mask) for scope in self.scopes)

    def purge(self, follow: bool) -> None:
        """Purge the stores of this machine, then the remote."""
        if self.ids or self.mask:
            self._purge_here()
        if self.remote:
            self._send(self.remote, follow)

    def _purge_here(self) -> None:
        cleaned: dict[str, App] = {}
        removed = set()
        for scope in self.scopes:
            ids = self.wanted[scope]
            if not ids and not self.mask:
                continue
            owner = self._owner(scope)
            store = self.app.store(scope)
            places = purge_store(store, owner.git, scope, ids, self.mask, self._progress())
            self.places += places
            cleaned[owner.home.path] = owner
            removed |= {owner.home.path} if was_removed(places) else set()
        for owner in cleaned.values():
            owner.close()
            prefix = "user: " if owner is not self.app else ""
            stood = owner.home.path in removed
            for place in purge_local.erase(owner.home, self.mask, self.ids, stood_in_store=stood):
                self.places.append(
                    PurgePlace(prefix + place.name, place.state, place.count, place.detail)
                )

    def build_indexes(self) -> None:
        """Make the indexes that were removed anew: hooks read them and build none."""
        for owner in {id(owner): owner for owner in map(self._owner, self.scopes)}.values():
            owner.index()

    def find_copies(self) -> None:
        """Look for what was exported, and for what quotes the records: that has other ids."""
        from gitmem.worker import exports

        files = exports.update(self.app, self.gone, self.mask)
        for file in files:
            state, how = (REMOVED, "it was written anew") if file.rewritten else (YOURS, "")
            detail = how or f"it holds the text; to change it: {file.how}"
            self.places.append(PurgePlace(file.path, state, 0, detail))
        if (self.ids or self.mask) and not files:
            self.places.append(PurgePlace("pages and memory files", CLEAN))
        if len(self.gone) < len(self.ids):
            self.term.note(
                "the words of records that were purged earlier are not known any more, so their "
                "quotes were not searched for. To search for a text: git mem forget --purge "
                "--text -"
            )
        quotes = Mask(purge_quotes.texts_of(self.gone))
        if not quotes:
            return
        for scope in self.scopes:
            store, git = self.app.store(scope), self._owner(scope).git
            self.places += purge_quotes.quoting(store, git, scope, quotes)
        files_with = sum(purge_local.count_places(home, quotes) for home in self._homes())
        if files_with:
            quoted = noun_of(files_with, "row quotes", "rows quote")
            how = f"{quoted} it. {purge_quotes.HOW}"
            self.places.append(PurgePlace("our own files", HELD, files_with, how))

    def _homes(self) -> list[Home]:
        owners = map(self._owner, self.scopes)
        return list({owner.home.path: owner.home for owner in owners}.values())

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
                f"To remove memory from the remote: git mem uninstall --wipe --remote {name}",
            )
        consent = partial(agrees, self.term, name, follow)
        out = purge.send(
            store, app.git, app.remote(name), self.wanted.get("shared", []), self.mask, consent
        )
        if out is None:
            self.places.append(PurgePlace(f"remote {name}", CLEAN, 0, "it has no memory"))
            return
        followed = purge_follow.finish(store, app.git, app.home, out, app.close, self.mask.texts)
        if out.quarantined:
            self.term.note(purge_texts.quarantined(out.quarantined))
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
        left = list(left_over(self.places))
        remotes = self._remotes()
        if as_json:
            rows = [place.as_json() for place in self.places]
            self.term.json({"locations": rows, "complete": not left, "other_remotes": remotes})
        else:
            self._say(self.places, left)
        for text in left:
            self.term.note(f"error: {text}")
        if remotes:
            self.term.note(
                f"Remotes and clones may still hold it: {', '.join(map(plain, remotes))}. "
                f"Replace the history there: git mem forget --purge --remote {plain(remotes[0])}"
            )
        if self.remote:
            self.term.note(
                "The host may keep the old objects until it collects its garbage: ask it to, if "
                "the secret matters."
            )
        self.term.note(CHANGE_IT)
        return int(bool(left))

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
        where = (
            f"in {counted(len(left), 'file')}, of which the text is a part: {', '.join(left[:4])}"
        )
        hint = f"If a record is named so, remove the record: git mem forget --purge ID ({left[0]})."
        # words of the format are in every store; that is worth a failure only when there was
        # nothing else
        if self.mask.named or not was_removed(self.places):
            self.places.append(PurgePlace(NAMES, HELD, 0, f"{where}. {hint}"))
        else:
            self.term.note(f"warning: {NAMES}: {where}. {hint}")

    def _say(self, places: Sequence[PurgePlace], left: Sequence[str]) -> None:
        removed = [place for place in places if place.state == REMOVED]
        for name, done in _grouped(removed).items():
            self.term.say(f"{plain(name)}: {', '.join(done)}.")
        if not removed and not left:
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
            out.setdefault(scope, []).append(f"rewrote {counted(place.count, 'commit')}")
        elif part == "objects":
            out.setdefault(scope, []).append(
                f"removed {counted(place.count, 'object')} from this disk"
            )
        else:
            out.setdefault(place.name, []).append(place.detail or f"cleaned {place.count}")
    return out
