"""The language features: one thin handler a request.

What they answer is made by the modules that they are named after.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from lsprotocol import types as t
from pygls.uris import to_fs_path

from gitmem.codemap.symbols.definitions import symbols
from gitmem.errors import GitmemError
from gitmem.services.records.committers import claim
from gitmem_lsp.diagnostics.diagnostics import Mark
from gitmem_lsp.diagnostics.open_documents import Opened
from gitmem_lsp.editing.virtual_documents import SavedDraft
from gitmem_lsp.features import (
    code,
    code_actions,
    code_lens,
    comment_edits,
    completion,
    provenance,
)
from gitmem_lsp.features import (
    symbols as workspace_symbols,
)
from gitmem_lsp.features.commands import editing
from gitmem_lsp.features.document_links import make_links, range_of
from gitmem_lsp.features.host import Host
from gitmem_lsp.features.hover import RECORDS, HoverText, make_hover, wants_markdown
from gitmem_lsp.features.record_ids import id_at, ids_in
from gitmem_lsp.features.resolve import first_look, home
from gitmem_lsp.features.used_here import notes_of_used
from gitmem_lsp.protocol.documents import LineDocument
from gitmem_lsp.protocol.positions import code_range, to_index
from gitmem_lsp.protocol.safe_text import plain
from gitmem_lsp.workspace.place_notes import EditorNote, covering
from gitmem_lsp.workspace.record_paths import first_place
from gitmem_lsp.workspace.repositories import DocumentPlace
from gitmem_lsp.workspace.repository_view import Row

SYMBOLS = 50  # records that a search of the workspace lists


async def on_hover(ls: Host, params: t.HoverParams) -> t.Hover | None:
    """Tell the record whose id is under the cursor, else those of the line."""
    uri = params.text_document.uri
    hover = await _hover_id(ls, uri, params.position) or await _with_code(
        ls, uri, params.position.line, await _hover_place(ls, uri, params.position)
    )
    return await _with_why(ls, uri, params.position.line, hover)


async def _with_code(ls: Host, uri: str, line: int, hover: t.Hover | None) -> t.Hover | None:
    """Add to the hover of a definition how often it is used."""
    state, document = ls.publisher.get(uri), ls.workspace_lines.opened(uri)
    if hover is None or state is None or state.place is None or document is None:
        return hover
    lines = document.snapshot()
    path = state.place.paths[0]
    symbols_here = await state.place.repository.read_line(symbols, "".join(lines), path)
    symbol = next(
        (symbol for symbol in symbols_here if symbol.at == line + 1 and symbol.kind != "constant"),
        None,
    )
    text = await code.usage_of(state.place, path, symbol.qualified) if symbol else ""
    if text and isinstance(hover.contents, t.MarkupContent):
        hover.contents.value += f"\n\n{plain(text)}"
    return hover


async def _with_why(ls: Host, uri: str, line: int, hover: t.Hover | None) -> t.Hover | None:
    """Add to a hover where its line comes from, where that is set."""
    state, document = ls.publisher.get(uri), ls.workspace_lines.opened(uri)
    if (
        state is None
        or state.place is None
        or document is None
        or not ls.publisher.options(state.place).why_hover
    ):
        return hover
    markdown = wants_markdown(ls.client_capabilities)
    text = await provenance.for_hover(
        state.place, state.place.paths[0], document.snapshot(), line + 1, markdown
    )
    if not text:
        return hover
    if hover is None:
        return t.Hover(
            t.MarkupContent(t.MarkupKind.Markdown if markdown else t.MarkupKind.PlainText, text)
        )
    assert isinstance(hover.contents, t.MarkupContent)
    hover.contents.value += f"\n\n---\n\n{text}" if markdown else f"\n\n----\n\n{text}"
    return hover


async def _hover_id(ls: Host, uri: str, position: t.Position) -> t.Hover | None:
    document = ls.workspace_lines.buffer(uri)
    if document is None or not 0 <= position.line < len(document.lines):
        return None
    lines = document.lines
    record_id = id_at(
        lines, position.line, to_index(lines[position.line], position.character, document.encoding)
    )
    if record_id is None:
        return None
    where = range_of(record_id, lines, document.encoding)
    place = await home(ls, uri)
    if place is None:
        return None
    row = (await place.repository.run(place.repository.view.named, [record_id.text])).get(
        record_id.text
    )
    if row is None:
        return None
    record = await place.repository.run(place.repository.view.record, row["id"], row["store"])
    return make_hover(
        [HoverText(record, "", claim=claim(row))],
        0,
        where,
        ls.clock.now(),
        wants_markdown(ls.client_capabilities),
    )


def _said_of(marks: Sequence[Mark], line: int) -> dict[str, frozenset[str]]:
    """Return {id: what the diagnostic of a line says of the gotcha}, as `Mark.said` has it."""
    here = [mark for mark in marks if mark.line == line]
    return {
        note.id: said for mark in here for note, said in zip(mark.notes, mark.said, strict=True)
    }


async def _hover_place(ls: Host, uri: str, position: t.Position) -> t.Hover | None:
    """Tell the gotchas whose code has a line, its memories, and those of what is used there."""
    await first_look(ls, uri)
    state, document = ls.publisher.get(uri), ls.workspace_lines.opened(uri)
    if state is None or state.place is None or document is None:
        return None
    line, lines = position.line, document.snapshot()
    if not ls.publisher.options(state.place).marks or not 0 <= line < len(lines):
        return None
    notes = await _notes_on(ls, state, document, line)
    column = to_index(lines[line], position.character, document.encoding)
    definition, others = await notes_of_used(ls, state.place, lines, line, column)
    here = {note.id for note in notes}
    pairs = [(note, "") for note in notes]
    pairs += [(note, definition) for note in others if note.id not in here]
    said = _said_of(state.marks, line) if ls.diagnostics_in_hover else {}
    texts = []
    for note, used in pairs[:RECORDS]:
        text = await _hover_text(ls, state.place, note, used)
        if text is not None:
            texts.append(replace(text, said=said.get(note.id, frozenset())))
    if not texts:
        return None
    return make_hover(
        texts,
        max(0, len(pairs) - RECORDS),
        code_range(lines, line, document.encoding),
        ls.clock.now(),
        wants_markdown(ls.client_capabilities),
    )


async def _notes_on(ls: Host, state: Opened, document: LineDocument, line: int) -> list[EditorNote]:
    """Return the gotchas that are shown and whose code has a line, then its memories."""
    shown = [note for mark in state.marks for note in mark.notes]
    marked = {note.id for note in shown}
    asides = (await ls.publisher.with_asides(state, document)).asides or ()
    memories = [n for n in asides if n.row["kind"] == "memory" and n.id not in marked]
    return covering([*shown, *memories], line)


async def _hover_text(
    ls: Host, place: DocumentPlace, note: EditorNote, definition: str
) -> HoverText | None:
    """Return what a hover tells of a note; None for a record that cannot be read.

    It was forgotten a moment ago, or is damaged: the others are still told.
    """
    view = place.repository.view
    try:
        record = await place.repository.run(view.record, note.id, note.row["store"])
    except GitmemError as error:
        ls.background.warn(error)
        return None
    state = "stale" if note.stale and note.state in {"same", "moved"} else note.state
    return HoverText(record, state, note.went, claim(note.row), definition)


async def _past(ls: Host, state: Opened, document: LineDocument) -> list[EditorNote]:
    """Return the resolved gotchas of a document."""
    asides = (await ls.publisher.with_asides(state, document)).asides or ()
    return [note for note in asides if note.row.get("resolved")]


async def on_code_action(ls: Host, params: t.CodeActionParams) -> list[t.CodeAction | t.Command]:
    """Offer what can be done about a range.

    Actions for its gotchas are always offered, those for any code only when they are asked for.
    """
    uri = params.text_document.uri
    state, document = ls.publisher.get(uri), ls.workspace_lines.opened(uri)
    if state is None or state.place is None or document is None:
        return []
    context, range = params.context, params.range
    text, workspace = ls.client_capabilities.text_document, ls.client_capabilities.workspace
    actions = code_actions.for_marks(state.marks, range, uri)
    if code_actions.names_refactoring(context.only):
        actions += code_actions.for_records(state.marks, range, uri)
    # editors ask by themselves wherever the cursor goes: there a light bulb on each line would be a
    # nuisance
    if (
        context.trigger_kind != t.CodeActionTriggerKind.Automatic
        or range.start != range.end
        or context.only
    ):
        versioned = bool(
            workspace and workspace.workspace_edit and workspace.workspace_edit.document_changes
        )
        facts = (uri, document.version, document.language_id or "", state.place.paths[0])
        actions += comment_edits.for_marks(state.marks, range, facts, document.lines, versioned)
        actions += code_actions.for_astray(state.notes, range, uri)
        past = await _past(ls, state, document)
        actions += code_actions.for_past(past, range, uri)
        actions += code_actions.for_code(range, uri)
    actions = [
        a
        for a in actions
        if code_actions.wanted(context.only, str(getattr(a.kind, "value", a.kind)))
    ]
    if text and text.code_action and text.code_action.code_action_literal_support:
        return list(actions)
    return [action.command for action in actions if action.command is not None]


async def on_code_lens(ls: Host, params: t.CodeLensParams) -> list[t.CodeLens]:
    """Count the gotchas of a file."""
    await first_look(ls, params.text_document.uri)
    state = ls.publisher.get(params.text_document.uri)
    document = ls.workspace_lines.opened(params.text_document.uri)
    if state is None or state.place is None or document is None:
        return []
    if not ls.publisher.options(state.place).code_lens:
        return []
    return code_lens.file_lens(_seen(ls, state), state.uri)


def _seen(ls: Host, state: Opened) -> list[Any]:
    options = ls.publisher.options(state.place)
    if not options.marks:
        return []
    return [note for note in state.notes if options.unconfirmed or not note.unconfirmed]


def _first_places(rows: Sequence[Row], worktree: str | None) -> dict[str, tuple[str, int | None]]:
    """Return {id: the first place that may be opened}, as `first_place` has it."""
    return {row["id"]: first_place(row, worktree) for row in rows}


async def on_workspace_symbol(ls: Host, params: t.WorkspaceSymbolParams) -> list[t.WorkspaceSymbol]:
    """Search the memories of all repositories at hand.

    One without a place in the code is a document of its own.
    """
    workspace = ls.client_capabilities.workspace
    able = workspace.symbol if workspace else None
    is_lazy = bool(able and able.resolve_support)
    kind = workspace_symbols.kind_for(able.symbol_kind if able else None)
    places = {place.repository: place for place in ls.repositories.homes.values()}
    places |= {state.place.repository: state.place for state in ls.publisher.all() if state.place}
    out: list[t.WorkspaceSymbol] = []
    for repository, place in places.items():
        try:
            rows = await repository.search(params.query, SYMBOLS)
            first_places = await repository.run(_first_places, rows, place.worktree)
        except GitmemError as error:
            ls.background.warn(error)
            continue
        for row in rows:
            path, at = first_places[row["id"]]
            if path and place.worktree and row["store"] != "user":
                uri = Path(place.worktree, path).as_uri()
                line = _noted_line(ls, uri, row["id"], at or 0)
                out.append(workspace_symbols.listed(row, uri, line, kind))
            elif is_lazy or len(out) < workspace_symbols.PAGES:
                uri, first = await _draft(place, row["id"], is_lazy=is_lazy)
                out.append(workspace_symbols.listed(row, uri, first, kind))
    return out[: workspace_symbols.MOST]


async def _draft(place: DocumentPlace, id: str, *, is_lazy: bool) -> tuple[str, int | None]:
    """Return (address, line) of the document of a record; it is made later where that is lazy."""
    if is_lazy:
        return Path(place.repository.editing, f"edit-{id}.md").as_uri(), None
    path = await place.repository.run(lambda: editing(place).edit(id))
    return Path(path).as_uri(), 0


def _noted_line(ls: Host, uri: str, id: str, otherwise: int) -> int:
    """Return the line that a record has in a document that is shown, or another if it has none."""
    state = ls.publisher.get(uri)
    notes = state.notes if state else ()
    return next((note.line for note in notes if note.id == id), otherwise)


async def on_workspace_symbol_resolve(ls: Host, symbol: t.WorkspaceSymbol) -> t.WorkspaceSymbol:
    """Make the document of a record that was chosen."""
    data = symbol.data
    id = data.get("id") if isinstance(data, dict) else getattr(data, "id", None)
    for place in [
        *ls.repositories.homes.values(),
        *(s.place for s in ls.publisher.all() if s.place),
    ]:
        if id and await place.repository.run(place.repository.view.named, [id]):
            path = await place.repository.run(lambda place=place: editing(place).edit(str(id)))
            symbol.location = t.Location(
                Path(path).as_uri(), t.Range(t.Position(0, 0), t.Position(0, 0))
            )
            break
    return symbol


async def on_completion(ls: Host, params: t.CompletionParams) -> t.CompletionList | None:
    """Complete ids of records in Markdown and in commit messages."""
    uri = params.text_document.uri
    document = ls.workspace_lines.buffer(uri)
    if document is None or not completion.wanted(document):
        return None
    typed = completion.begun(document, params.position)
    if typed is None:
        return None
    kind, start, words = typed
    place = await home(ls, uri)
    if place is None:
        return None
    version = document.version
    view = place.repository.view
    kinds = (kind,) if kind else ("memory", "gotcha")
    rows = await place.repository.search(words, completion.MOST, kinds)
    if kind and words:
        named = await place.repository.run(
            view.beginning, words.replace(" ", ""), kinds, completion.MOST
        )
        rows = list({row["id"]: row for row in [*named, *rows]}.values())
    if ls.workspace_lines.buffer(uri) is not document or document.version != version:
        return None  # typed on meanwhile: the client asks again
    return completion.make_items(
        rows, document, params.position, start, completion.wants_markdown(ls.client_capabilities)
    )


async def on_completion_resolve(ls: Host, item: t.CompletionItem) -> t.CompletionItem:
    """Tell the record of an item in full."""
    data = item.data if isinstance(item.data, dict) else {}
    place = await home(ls, str(data.get("uri") or ""))
    if place is not None and data.get("id"):
        record = await place.repository.run(place.repository.view.record, str(data["id"]))
        hover = make_hover(
            [HoverText(record, "")],
            0,
            t.Range(t.Position(0, 0), t.Position(0, 0)),
            ls.clock.now(),
            completion.wants_markdown(ls.client_capabilities),
        )
        assert isinstance(hover.contents, t.MarkupContent)
        item.documentation = hover.contents
    return item


async def on_document_link(ls: Host, params: t.DocumentLinkParams) -> list[t.DocumentLink]:
    """Link ids to their records."""
    uri = params.text_document.uri
    document = ls.workspace_lines.buffer(uri)
    references = ids_in(document.lines) if document else []
    place = await home(ls, uri) if references else None
    if place is None or document is None:
        return []
    lines = document.snapshot()
    rows = await place.repository.run(
        place.repository.view.named, sorted({named.text for named in references})
    )
    return make_links(references, rows, lines, document.encoding, uri)


async def on_document_link_resolve(ls: Host, link: t.DocumentLink) -> t.DocumentLink:
    """Make the document that a link leads to."""
    data = link.data if isinstance(link.data, dict) else {}
    place = await home(ls, str(data.get("uri") or ""))
    if place is not None and data.get("id"):
        path = await place.repository.run(lambda: editing(place).edit(str(data["id"])))
        link.target = Path(path).as_uri()
    return link


async def on_save_draft(ls: Host, uri: str) -> bool:
    """Commit a draft that was saved; what is wrong with it is shown in it.

    False for any other document.
    """
    path = to_fs_path(uri) if uri.startswith("file:") else None
    document = ls.workspace_lines.opened(uri)
    if path is None or document is None or "gitmem" not in path:
        return False
    place = await home(ls, uri)
    if place is None or not _is_in(path, place.repository.editing):
        return False
    name = Path(path).name
    text = await place.repository.run(lambda: written(path, document.source))
    worktree = next(
        (s.place.worktree for s in ls.publisher.of(place.repository) if s.place), place.worktree
    )
    place = type(place)(place.repository, place.gitdir, worktree, place.paths)
    try:
        saved = await place.repository.run(lambda: editing(place).save(name, text))
    except GitmemError as error:
        ls.publisher.send(
            uri, document.version, [draft_problem(document.lines, f"{error} {error.hint}".strip())]
        )
        return True
    ls.publisher.send(uri, document.version, [])
    if saved is not None:
        if saved.op != "edit":  # an editor that saves by itself saves often
            ls.say(_sentence(saved), t.MessageType.Info)
        await ls.publisher.reload(place.repository)
        ls.tell_changed([state.uri for state in ls.publisher.of(place.repository)])
        ls.tell_saved(uri, saved.record.id)
    return True


def _sentence(saved: SavedDraft) -> str:
    """Return what saving a draft of a new record has done."""
    id = saved.record.id
    return f"Recorded {id}." if saved.op == "record" else f"Recorded {id} in place of the other."


def written(path: str, otherwise: str) -> str:
    """Return what was saved.

    Neovim says that it saved before it says what was typed last: the file is right, the document
    may be late.
    """
    try:
        return Path(path).read_bytes().decode()
    except (OSError, ValueError):
        return otherwise


def draft_problem(lines: Any, message: str) -> t.Diagnostic:
    """Return what is wrong with a draft, as a diagnostic in it: the one thing that is an error."""
    from gitmem_lsp.editing.draft_text import line_of
    from gitmem_lsp.protocol.positions import content

    line = line_of("".join(lines), message)
    size = len(content(lines[line])) if line < len(lines) else 0
    where = t.Range(t.Position(line, 0), t.Position(line, size))
    return t.Diagnostic(
        where,
        f"Not recorded: {plain(message)}",
        severity=t.DiagnosticSeverity.Error,
        source="gitmem",
    )


async def on_close_draft(ls: Host, uri: str) -> None:
    """Remove a document of ours that was closed, unless something would be lost."""
    path = to_fs_path(uri) if uri.startswith("file:") else None
    if path is None or "gitmem" not in path:
        return
    place = await home(ls, uri)
    if place is not None and _is_in(path, place.repository.editing):
        ls.publisher.send(uri, None, [])
        if not await place.repository.run(lambda: editing(place).close(Path(path).name)):
            ls.background.warn(f"{path} was closed before it could be recorded; it is kept.")


def _is_in(path: str, folder: str) -> bool:
    return Path(path).resolve().parent == Path(folder).resolve()
