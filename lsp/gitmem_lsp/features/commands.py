"""The commands of `workspace/executeCommand`: names, what they take, what they answer.

They answer JSON. Trouble that is to be expected is a message to the user and the answer null; only
a call that makes no sense is an error.
"""

import logging
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lsprotocol import types as t
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams

from gitmem.app import App
from gitmem.base import documents
from gitmem.clock import stamp
from gitmem.errors import GitmemError, UserError
from gitmem.records.kinds import LIVE
from gitmem.store.reader import Stored
from gitmem_lsp import command_names
from gitmem_lsp.editing import record_changes
from gitmem_lsp.editing.virtual_documents import Editing
from gitmem_lsp.features import code, provenance, reports
from gitmem_lsp.features.host import Host
from gitmem_lsp.features.resolve import (
    ForeignDocument,
    as_plain,
    holder,
    home,
    lines_from,
    lines_of,
    notes_of,
    place_of,
)
from gitmem_lsp.protocol.safe_text import plain
from gitmem_lsp.workspace.place_notes import EditorNote, find_notes
from gitmem_lsp.workspace.repositories import DocumentPlace
from gitmem_lsp.workspace.repository_view import HIDES, RepositoryView, Row

log = logging.getLogger("gitmem_lsp")
Answer = dict[str, Any] | list[Any] | None
JOURNALED = "The store is busy; the change is kept and made with its next write."
LONGEST_SNOOZE = 3650


def editing(place: DocumentPlace) -> Editing:
    """Return the documents of a repository. On its thread."""
    return Editing(place.repository.view.app, place.repository.editing, place.worktree)


async def _changed(
    ls: Host, place: DocumentPlace, done: record_changes.Done, **fields: Any
) -> dict[str, Any]:
    if done.journaled:
        ls.say(JOURNALED, t.MessageType.Info)
    await _show_anew(ls, place)
    return done.answer(**fields)


async def _show_anew(ls: Host, place: DocumentPlace) -> None:
    # files that were written within the grain of the disk's clock may look as they did
    await place.repository.run(lambda: place.repository.view.refresh(anyway=True))
    await ls.publisher.reload(place.repository)
    ls.tell_changed([state.uri for state in ls.publisher.of(place.repository)])


async def resolve(ls: Host, id: str, uri: str = "") -> Answer:
    """Resolve a gotcha."""
    place = await holder(ls, id, uri)
    done = await place.repository.run(
        lambda: record_changes.resolve(place.repository.view.app, id, place.location)
    )
    return await _changed(ls, place, done, resolved=True)


async def reopen(ls: Host, id: str, uri: str = "") -> Answer:
    """Reopen a gotcha."""
    place = await holder(ls, id, uri)
    done = await place.repository.run(lambda: record_changes.reopen(place.repository.view.app, id))
    return await _changed(ls, place, done, resolved=False)


async def snooze(ls: Host, id: str, days: float | None = None) -> Answer:
    """Hide a gotcha for some days."""
    place = await holder(ls, id)
    days = command_names.SNOOZE_DAYS if days is None else days
    if not 0 < days <= LONGEST_SNOOZE:
        raise UserError(f"a gotcha is snoozed for up to {LONGEST_SNOOZE} days, not {days:g}.")
    result = await place.repository.run(
        lambda: record_changes.snooze(place.repository.view.app, id, days)
    )
    await _show_anew(ls, place)
    return dict(result)


async def unsnooze(ls: Host, id: str) -> Answer:
    """Show a gotcha again."""
    place = await holder(ls, id)
    result = await place.repository.run(
        lambda: record_changes.unsnooze(place.repository.view.app, id)
    )
    await _show_anew(ls, place)
    return dict(result)


async def pin(ls: Host, id: str) -> Answer:
    """Pin a record."""
    place = await holder(ls, id)
    done = await place.repository.run(
        lambda: record_changes.set_pin(place.repository.view.app, id, pinned=True)
    )
    return await _changed(ls, place, done, pinned=True)


async def unpin(ls: Host, id: str) -> Answer:
    """Unpin a record."""
    place = await holder(ls, id)
    done = await place.repository.run(
        lambda: record_changes.set_pin(place.repository.view.app, id, pinned=False)
    )
    return await _changed(ls, place, done, pinned=False)


async def verify(ls: Host, id: str) -> Answer:
    """Say that a record still holds."""
    place = await holder(ls, id)
    done = await place.repository.run(
        lambda: record_changes.verify(place.repository.view.app, id, place.location)
    )
    return await _changed(ls, place, done, confirmed=True)


async def _anchor(ls: Host, place: DocumentPlace, uri: str, range: Any) -> dict[str, Any]:
    lines = await lines_of(ls, uri, place)
    app = (
        place.repository.view.app
        if place.repository.view.is_open
        else await place.repository.run(lambda: place.repository.view.app)
    )
    span = lines_from(range, lines)
    return await place.repository.read_code(
        record_changes.make_anchor, app, place.location, place.paths[0], lines, span
    )


async def reanchor(ls: Host, id: str, uri: str, range: dict[str, Any]) -> Answer:
    """Put a record's place at a range."""
    place = await place_of(ls, uri)
    anchor = await _anchor(ls, place, uri, range)
    state = ls.publisher.get(uri)
    was = next((note.spot for note in state.notes if note.id == id), None) if state else None
    paths = ls.publisher.notes.paths(place)
    done = await place.repository.run(
        lambda: record_changes.reanchor(place.repository.view.app, id, anchor, paths, was)
    )
    return await _changed(ls, place, done)


async def _open(ls: Host, place: DocumentPlace, make: Callable[[Editing], str]) -> Answer:
    path = await place.repository.run(lambda: make(editing(place)))
    uri = Path(path).as_uri()
    await ls.show_document(uri)
    return {"uri": uri}


async def edit(ls: Host, id: str) -> Answer:
    """Open a record as a document; saving it commits the change."""
    place = await holder(ls, id)
    return await _open(ls, place, lambda documents: documents.edit(id))


async def supersede(ls: Host, id: str) -> Answer:
    """Open a draft of what takes a record's place."""
    place = await holder(ls, id)
    return await _open(ls, place, lambda documents: documents.supersede(id))


async def record(
    ls: Host,
    uri: str,
    range: dict[str, Any] | None = None,
    title: str | None = None,
    facts: dict[str, Any] | None = None,
) -> Answer:
    """Record a gotcha about a range, or open a draft of one."""
    place = await place_of(ls, uri)
    anchor = await _anchor(ls, place, uri, range)
    given: Mapping[str, Any] = facts or {}
    if title and title.strip():
        done = await place.repository.run(
            lambda: record_changes.record(place.repository.view.app, title.strip(), [anchor], given)
        )
        return await _changed(ls, place, done)
    return await _open(ls, place, lambda documents: documents.record([anchor], given))


async def timeline(ls: Host, uri: str, position: dict[str, Any] | None = None) -> Answer:
    """Open a page that tells how the records of a definition came to be."""
    place = await place_of(ls, uri)
    lines = await lines_of(ls, uri, place)
    line = int((position or {}).get("line", 0))
    paths = ls.publisher.notes.paths(place)
    view = place.repository.view

    def about() -> list[Row]:
        rows = sorted(
            view.app.rows(paths=paths, limit=500), key=lambda row: HIDES.get(row["store"], 0)
        )
        return list({row["id"]: row for row in rows}.values())

    rows = await place.repository.run(about)

    def choose() -> tuple[str, list[Row], str]:
        from gitmem.codemap.symbols.definitions import enclosing, symbols

        around = enclosing(symbols("".join(lines), place.paths[0]), line + 1)
        if around is None:
            return place.paths[0], rows, ""
        notes = find_notes(rows, paths, lines, view.follower(place.worktree))
        named = {
            note.id
            for note in notes
            if not note.whole_file and around.first <= note.line + 1 <= around.last
        }
        return (
            f"{around.qualified} in {place.paths[0]}",
            [row for row in rows if row["id"] in named],
            around.qualified,
        )

    title, chosen, symbol = await place.repository.read_code(choose)
    text = await place.repository.run(reports.timeline, view.app, title, chosen)
    text += await provenance.changes(place, place.paths[0], symbol)
    return await _page(ls, place, f"timeline-{title}", title, text)


async def why(ls: Host, uri: str, range: dict[str, Any] | None = None) -> Answer:
    """Open a page that tells why lines are as they are.

    It shows the commits, sessions and prompts that made them.
    """
    place = await place_of(ls, uri)
    lines = await lines_of(ls, uri, place)
    first, last = lines_from(range, lines) or (1, max(1, len(lines) - (lines[-1:] == ("",))))
    origins = await provenance.asked(place, place.paths[0], lines, first, last)
    title = f"{place.paths[0]}:{first}" + (f"-{last}" if last > first else "")
    return await _page(ls, place, f"why-{title}", f"Why {title}", provenance.page(title, origins))


async def _page(ls: Host, place: DocumentPlace, name: str, title: str, text: str) -> dict[str, Any]:
    """Show a page; where no file can be written, the answer has its text all the same."""
    uri: str | None = None
    try:
        uri = Path(await place.repository.run(lambda: editing(place).page(name, text))).as_uri()
    except GitmemError as error:
        ls.background.warn(error)
    if uri is None or not await ls.show_document(uri):
        ls.say(plain(title), t.MessageType.Info)
    return {"uri": uri, "markdown": text, "title": plain(title)}


async def code_facts(ls: Host, uri: str) -> Answer:
    """Return what hangs on a file: its rank, who uses it, what it uses.

    Null for one that is not read as code, or is of no repository: clients ask for any file.
    """
    try:
        place = await place_of(ls, uri)
    except UserError:
        return None
    return await code.of_file(place, place.paths[0])


def _read(app: App, id: str) -> tuple[str, Stored]:
    """Return a record and its store, and count that it was read."""
    scope, stored = app.get(id)
    app.count_reads(scope, [stored.record.id])
    return scope, stored


async def show(ls: Host, id: str) -> Answer:
    """Return a record in full."""
    place = await holder(ls, id)
    scope, stored = await place.repository.run(lambda: _read(place.repository.view.app, id))
    made = stored.record
    fields = {key: reports.clean(value) for key, value in made.fields.items() if key != "stamps"}
    shown = {"title": plain(made.title), "markdown": reports.whole(made), "store": scope}
    return {
        **fields,
        **shown,
        "id": made.id,
        "kind": made.kind,
        "severity": reports.clean(made.get("severity")),
        "category": reports.clean(made.get("category")),
        "status": made.status,
        "resolved": made.resolved,
    }


async def list_gotchas(
    ls: Host, uri: str | None = None, options: dict[str, Any] | None = None
) -> Answer:
    """Return the gotchas of a file; with `memories` and `snoozed` what has no diagnostic too.

    With `all`, or without a file, of the repository around it or of the workspace's first: the open
    ones, each at the line where it was recorded.
    """
    wanted = options or {}
    if not uri or wanted.get("all"):
        return await _list_repository(ls, uri or "", wanted)
    place, notes = await notes_of(ls, uri, asides=True)
    named = {note.id for note in notes.shown}

    def is_listed(note: EditorNote) -> bool:
        option = _aside_kind(note)
        return not option or bool(wanted.get(option))

    asides = [note for note in notes.asides or () if note.id not in named and is_listed(note)]
    return await place.repository.run(reports.of_notes, (*notes.shown, *asides), place.worktree)


async def _list_repository(ls: Host, uri: str, wanted: Mapping[str, Any]) -> Answer:
    """Return what is recorded about a repository, as `list_gotchas` has it."""
    place = await home(ls, uri)
    if place is None:
        return []
    kinds = ("gotcha", "memory") if wanted.get("memories") else ("gotcha",)
    rows = await place.repository.run(open_rows, place.repository.view, kinds)
    if not wanted.get("snoozed"):
        rows = [row for row in rows if not row["snoozed_until"]]
    return await place.repository.run(reports.of_repository, rows, place.worktree)


def open_rows(view: RepositoryView, kinds: tuple[str, ...]) -> list[Row]:
    """Return a repository's open gotchas, and its memories that are about code; worst first.

    Each says until when it is snoozed.
    """
    wanted: dict[str, Any] = {"statuses": LIVE, "resolved": False, "order": "severity"}
    listed = view.app.rows(kinds=("gotcha",), limit=reports.LISTED, **wanted)
    if "memory" in kinds and len(listed) < reports.LISTED:
        # without a limit: those about no code may be the many
        listed += [row for row in view.app.rows(kinds=("memory",), **wanted) if row["anchors"]]
    snoozed = view.snoozed(view.app.clock.now())
    return [
        {**row, "snoozed_until": stamp(snoozed[row["id"]]) if row["id"] in snoozed else None}
        for row in listed[: reports.LISTED]
    ]


def _aside_kind(note: EditorNote) -> str:
    """Return the option that lists an aside; '' for one that is listed anyway."""
    if note.row["kind"] == "memory":
        return "memories"
    return "snoozed" if note.row.get("snoozed_until") else ""


async def report(ls: Host, uri: str) -> Answer:
    """Open a page about the gotchas of a file."""
    place, notes = await notes_of(ls, uri)
    title = f"Gotchas of {place.paths[0]}"
    rows = await place.repository.run(reports.of_notes, notes.shown, place.worktree)
    return await _page(ls, place, f"gotchas-{place.paths[0]}", title, reports.report(title, rows))


async def status(ls: Host, uri: str | None = None) -> Answer:
    """Return counts of a repository."""
    place = await place_of(ls, uri) if uri else await home(ls)
    if place is None:
        return None
    view = place.repository.view

    def count() -> dict[str, Any]:
        rows = view.app.rows(
            kinds=("gotcha",),
            statuses=LIVE,
            fields=("id", "store", "resolved", "unconfirmed"),
        )
        left = [row for row in rows if not row["resolved"]]
        unsure = sum(row["unconfirmed"] for row in left)
        return {
            "gotchas": len(rows),
            "unresolved": len(left),
            "unconfirmed": unsure,
            "snoozed": len(view.snoozed(view.app.clock.now())),
        }

    counts = await place.repository.run(count)
    adrift: set[str] = {
        note.id
        for state in ls.publisher.of(place.repository)
        for note in _lost(state.file_notes.notes)
    }
    return {
        "root": place.worktree or os.path.realpath(place.repository.location.commondir),
        **counts,
        "marks": ls.publisher.options(place).marks,
        "adrift": len(adrift),
    }


def _lost(notes: Sequence[EditorNote]) -> list[EditorNote]:
    return [note for note in notes if note.state == "adrift"]


Run = Callable[..., Awaitable[Answer]]
TEXT: tuple[type, ...] = (str,)
NUMBER: tuple[type, ...] = (int, float)
RANGE: tuple[type, ...] = (dict,)
OBJECT: tuple[type, ...] = (dict,)
# name -> what it runs, how many arguments it needs, and their types
COMMANDS: Mapping[str, tuple[Run, int, tuple[tuple[type, ...], ...]]] = {
    command_names.RESOLVE: (resolve, 1, (TEXT, TEXT)),
    command_names.REOPEN: (reopen, 1, (TEXT, TEXT)),
    command_names.SNOOZE: (snooze, 1, (TEXT, NUMBER)),
    command_names.UNSNOOZE: (unsnooze, 1, (TEXT,)),
    command_names.PIN: (pin, 1, (TEXT,)),
    command_names.UNPIN: (unpin, 1, (TEXT,)),
    command_names.VERIFY: (verify, 1, (TEXT,)),
    command_names.REANCHOR: (reanchor, 3, (TEXT, TEXT, RANGE)),
    command_names.EDIT: (edit, 1, (TEXT,)),
    command_names.RECORD: (record, 1, (TEXT, RANGE, TEXT, OBJECT)),
    command_names.SUPERSEDE: (supersede, 1, (TEXT,)),
    command_names.TIMELINE: (timeline, 1, (TEXT, OBJECT)),
    command_names.WHY: (why, 1, (TEXT, RANGE)),
    command_names.CODE: (code_facts, 1, (TEXT,)),
    command_names.SHOW: (show, 1, (TEXT,)),
    command_names.LIST: (list_gotchas, 0, (TEXT, OBJECT)),
    command_names.REPORT: (report, 1, (TEXT,)),
    command_names.STATUS: (status, 0, (TEXT,)),
}


# Clients ask these of whatever document is in front. Of one that is no file of a repository the
# answer is empty; a command that changes something says why it cannot.
NOTHING: Mapping[str, Answer] = {
    command_names.LIST: [],
    command_names.REPORT: None,
    command_names.TIMELINE: None,
    command_names.WHY: None,
    command_names.CODE: None,
    command_names.STATUS: None,
}


def _fit(given: Sequence[Any], needed: int, types: Sequence[tuple[type, ...]]) -> bool:
    """Return whether arguments are enough, not too many, and of the types wanted."""
    return needed <= len(given) <= len(types) and all(
        (isinstance(arg, kinds) and not isinstance(arg, bool)) or (arg is None and number >= needed)
        for number, (arg, kinds) in enumerate(zip(given, types, strict=False))
    )


async def _answer(ls: Host, name: str, given: Sequence[Any]) -> Answer:
    """Run a command; what goes wrong is a message to the user, or the answer."""
    try:
        return await COMMANDS[name][0](ls, *given)
    except JsonRpcException:
        raise
    except GitmemError as error:
        if isinstance(error, ForeignDocument) and name in NOTHING:
            return NOTHING[name]
        return ls.refuse(plain(f"{error} {error.hint}".strip()))
    except Exception as error:
        log.exception("%s failed", name)
        return ls.refuse(f"{name} failed: {plain(str(error))}")


def handler(name: str) -> Callable[..., Awaitable[Answer]]:
    """Return the handler of a command as pygls wants it."""
    _, needed, types = COMMANDS[name]

    async def on_command(ls: Host, *args: Any) -> Answer:
        given = [as_plain(arg) for arg in args]
        while len(given) > needed and given[-1] is None:
            given.pop()
        if not _fit(given, needed, types):
            raise JsonRpcInvalidParams(
                f"{name} takes {needed} to {len(types)} arguments; see "
                f"{documents.page('language-server.md')}"
            )
        return await _answer(ls, name, given)

    on_command.__annotations__.clear()
    return on_command
