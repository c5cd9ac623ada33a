"""The server object: its life, and one thin handler a message.

Shows gotchas as pushed diagnostics, tells the full record on hover, resolves by a code action. Diagnostics are never pulled:
not every client that can pull can also be told to pull again. Facts about pygls 2.1 that this relies on are named where they matter.
"""

import asyncio
import logging
import os
import threading
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO, cast

from lsprotocol import types as t
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol
from pygls.uris import to_fs_path

from gitmem import __version__
from gitmem.clock import Clock
from gitmem.errors import GitmemError
from gitmem_lsp.actions import RESOLVE, code_actions, resolve, wanted
from gitmem_lsp.documents import LineWorkspace
from gitmem_lsp.hover import RECORDS, Told, find_mark, make_hover, wants_markdown
from gitmem_lsp.publisher import Publisher
from gitmem_lsp.repositories import Repositories

log = logging.getLogger("gitmem_lsp")
DEBOUNCE = 0.2  # seconds of quiet after an edit before gotchas are placed anew
GRACE = 2.0  # seconds that running work has to end once the client is gone


class Protocol(LanguageServerProtocol):
    """pygls' protocol that falls silent after a shutdown and forgets what is done.

    Without the first, work that ends after `exit` writes to a closed pipe, which pygls reports by writing to it, and so on.
    Without the second, each notification leaves a future behind for good.
    """

    leaving = False

    @property
    def asked_to_stop(self) -> bool:
        """Whether the client has sent `shutdown`."""
        return self._shutdown

    def _send_data(self, data: Any) -> None:
        if self.leaving or (self._shutdown and hasattr(data, "method")):
            return
        try:
            super()._send_data(data)
        except BrokenPipeError:  # nobody reads any more, even if our input stays open
            cast("Server", self._server).leave(1)

    def _execute_handler(self, msg_id: Any, handler: Any, callback: Any, args: Any = None, kwargs: Any = None) -> None:
        super()._execute_handler(msg_id, handler, callback, args, kwargs)
        future = self._request_futures.get(msg_id)
        if future is not None:
            future.add_done_callback(lambda _: self._request_futures.pop(msg_id, None))

    def cancel_requests(self) -> None:
        """Cancel what is being answered. pygls does so too, but fails when an answer ends during its loop."""
        for id, future in list(self._request_futures.items()):
            if id != self.msg_id and not future.done():
                future.cancel()


class Server(LanguageServer):
    """git-mem's language server on one pair of streams."""

    def __init__(self, env: Mapping[str, str]) -> None:
        super().__init__("git-mem-lsp", __version__, protocol_cls=Protocol, max_workers=1)  # its pool only reads stdin
        self.clock = Clock()
        self.repositories = Repositories(env)
        self.publisher = Publisher(self, self.repositories)
        self.exit_code: int | None = None
        for name, handler, options in FEATURES:
            self.feature(name, options)(handler)
        self.command(RESOLVE)(on_resolve)

    @property
    def guarded(self) -> Protocol:
        """The protocol as what it is."""
        return cast("Protocol", self.protocol)

    @property
    def workspace_lines(self) -> LineWorkspace:
        """The workspace as what it is since `initialize`."""
        return cast("LineWorkspace", self.workspace)

    @property
    def leaving(self) -> bool:
        """Whether the client has asked the server to stop."""
        return self.guarded.leaving or self.guarded.asked_to_stop

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Log an error of a handler; pygls' own shows a window for each."""
        log.error("%s: %s", getattr(source, "__name__", source), error)

    def leave(self, code: int) -> None:
        """Send no more, and end the process even if a thread hangs."""
        self.guarded.leaving = True
        self.publisher.close()
        timer = threading.Timer(GRACE, os._exit, (code,))
        timer.daemon = True
        timer.start()


class ClientLog(logging.Handler):
    """Shows warnings in the editor's log of this server; callable from any thread."""

    def __init__(self, server: Server) -> None:
        super().__init__(logging.WARNING)
        self._server = server
        self._loop = asyncio.get_running_loop()

    def emit(self, record: logging.LogRecord) -> None:
        """Hand a record to the loop."""
        kind = t.MessageType.Error if record.levelno >= logging.ERROR else t.MessageType.Warning
        params = t.LogMessageParams(kind, record.getMessage())
        if not self._server.leaving and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._server.window_log_message, params)


def on_initialize(ls: Server, _: t.InitializeParams) -> None:
    """Install our documents before any is opened."""
    ls.workspace.__class__ = LineWorkspace


def on_initialized(ls: Server, _: t.InitializedParams) -> None:
    """Start what needs a client that is ready: its log, and the repositories of its folders."""
    log.addHandler(ClientLog(ls))
    folders = [folder.uri for folder in ls.workspace.folders.values()]
    for uri in folders or [ls.workspace.root_uri or ""]:
        if path := to_fs_path(uri):
            ls.publisher.warm(path)


def on_open(ls: Server, params: t.DidOpenTextDocumentParams) -> None:
    """Show a document's gotchas."""
    ls.publisher.touch(params.text_document.uri)


def on_change(ls: Server, params: t.DidChangeTextDocumentParams) -> None:
    """Place the gotchas anew when the typing pauses."""
    ls.publisher.touch(params.text_document.uri, DEBOUNCE, read=False)


def on_save(ls: Server, params: t.DidSaveTextDocumentParams) -> None:
    """Look at everything again."""
    ls.publisher.touch(params.text_document.uri)


def on_close(ls: Server, params: t.DidCloseTextDocumentParams) -> None:
    """Take the diagnostics away."""
    ls.publisher.forget(params.text_document.uri)


async def on_hover(ls: Server, params: t.HoverParams) -> t.Hover | None:
    """Tell the records of a line."""
    state = ls.publisher.get(params.text_document.uri)
    marks = find_mark(state.marks, params.position.line) if state else []
    if state is None or state.place is None or not marks:
        return None
    notes = [note for mark in marks for note in mark.notes]
    repository, told = state.place.repository, []
    for note in notes[:RECORDS]:
        try:
            told.append(Told(await repository.run(repository.record, note.id, note.row["store"]), note.state))
        except GitmemError as error:  # forgotten a moment ago, or damaged: the others are still told
            ls.publisher.warn(error)
    if not told:
        return None
    markdown = wants_markdown(ls.client_capabilities)
    return make_hover(told, max(0, len(notes) - RECORDS), marks[0].diagnostic.range, ls.clock.now(), markdown)


def on_code_action(ls: Server, params: t.CodeActionParams) -> list[t.CodeAction | t.Command]:
    """Offer what can be done about the gotchas in a range."""
    state = ls.publisher.get(params.text_document.uri)
    if state is None or not wanted(params.context.only):
        return []
    text = ls.client_capabilities.text_document
    literals = bool(text and text.code_action and text.code_action.code_action_literal_support)
    return code_actions(state.marks, params.range, state.uri, literals)


async def on_resolve(ls: Server, *args: Any) -> dict[str, Any] | None:
    """Resolve a gotcha: (id, uri of the document that shows it); the uri may be left out."""
    if not 1 <= len(args) <= 2 or not all(isinstance(arg, str) for arg in args):
        raise JsonRpcInvalidParams(f"{RESOLVE} takes the id of a gotcha and the uri of a document that shows it.")
    place = ls.publisher.holder(*args)
    try:
        if place is None:
            raise GitmemError(f"{args[0]} is not about any open file.", "Open the file that it is about, and try again.")
        done = await place.repository.run(lambda: resolve(place.repository.app, args[0], place.gitdir))
    except GitmemError as error:
        ls.window_show_message(t.ShowMessageParams(t.MessageType.Error, f"{error} {error.hint}".strip()))
        return None
    if done.journaled:
        ls.window_show_message(t.ShowMessageParams(t.MessageType.Info, "The store is busy; the gotcha is resolved with its next write."))
    await ls.publisher.reload(place.repository)
    return {"id": done.record.id, "resolved": True, "already": done.already, "journaled": done.journaled}


def on_shutdown(ls: Server, _: None) -> None:
    """End our work before pygls ends its own."""
    ls.publisher.close()
    ls.guarded.cancel_requests()


def on_exit(ls: Server, _: None) -> None:
    """Leave with the exit code that the protocol asks for."""
    ls.exit_code = 0 if ls.guarded.asked_to_stop else 1
    ls.leave(ls.exit_code)


FEATURES: tuple[tuple[str, Callable[..., Any], Any], ...] = (
    (t.INITIALIZE, on_initialize, None),
    (t.INITIALIZED, on_initialized, None),
    (t.TEXT_DOCUMENT_DID_OPEN, on_open, None),
    (t.TEXT_DOCUMENT_DID_CHANGE, on_change, None),
    (t.TEXT_DOCUMENT_DID_SAVE, on_save, None),
    (t.TEXT_DOCUMENT_DID_CLOSE, on_close, None),
    (t.TEXT_DOCUMENT_HOVER, on_hover, None),
    (t.TEXT_DOCUMENT_CODE_ACTION, on_code_action, t.CodeActionOptions(code_action_kinds=[t.CodeActionKind.QuickFix])),
    (t.SHUTDOWN, on_shutdown, None),
    (t.EXIT, on_exit, None),
)


def serve(stdin: BinaryIO, stdout: BinaryIO, env: Mapping[str, str]) -> int:
    """Serve one client until it leaves or its stream ends; return the exit code."""
    server = Server(env)
    server.start_io(stdin, stdout)
    code = server.exit_code or 0
    server.leave(code)
    server.repositories.close(GRACE / 2)
    return code
