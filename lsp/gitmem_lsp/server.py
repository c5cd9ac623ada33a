"""The server object: its life, the documents' events, and which handler answers what.

Diagnostics are pushed and never pulled: not every client that can pull can also be told to pull
again, and those that do both show everything twice. Facts about pygls 2 that this relies on are
named where they matter.
"""

import asyncio
import gc
import logging
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, BinaryIO, cast

from lsprotocol import types as t
from pygls.exceptions import JsonRpcException
from pygls.io_ import StdoutWriter
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from gitmem import __version__
from gitmem.clock import Clock
from gitmem_lsp import command_names
from gitmem_lsp.background import Background
from gitmem_lsp.configuration import Configuration
from gitmem_lsp.diagnostics.publisher import Publisher
from gitmem_lsp.diagnostics.refresher import Following
from gitmem_lsp.features import handlers
from gitmem_lsp.features.code_actions import KINDS
from gitmem_lsp.features.commands import COMMANDS, editing, handler
from gitmem_lsp.features.completion import TRIGGERS
from gitmem_lsp.progress import Progress
from gitmem_lsp.protocol.documents import LineWorkspace
from gitmem_lsp.protocol.frames import serve_frames
from gitmem_lsp.protocol.guard import guarded
from gitmem_lsp.protocol.protocol import GuardedProtocol
from gitmem_lsp.protocol.safe_text import plain
from gitmem_lsp.settings import Options
from gitmem_lsp.workspace.repositories import Repositories

log = logging.getLogger("gitmem_lsp")
DEBOUNCE = 0.2  # seconds of quiet after an edit before gotchas are placed anew
GRACE = 2.0  # seconds that running work has to end once the client is gone
REDRAW = 0.1  # seconds in which changes of the marks ask for new lenses once


class Server(LanguageServer):
    """git-mem's language server on one pair of streams."""

    def __init__(self, env: Mapping[str, str]) -> None:
        # its pool only reads stdin
        super().__init__("git-mem-lsp", __version__, protocol_cls=GuardedProtocol, max_workers=1)
        self.clock = Clock()
        self.background = Background()
        self.configuration = Configuration(self, self.background)
        self.indexing = Progress(self, self.background)
        self.repositories = Repositories(env, self.indexing.report)
        self.publisher = Publisher(self, self.repositories, self.background)
        self.following = Following(self, self.publisher, self.background)
        self.publisher.on_repository = self.following.follow
        self.ready = False  # whether the client has said so
        self.notify_changes = False
        self.diagnostics_in_hover = False
        self.answer_errors = False  # whether a command that fails is answered with its error
        self.exit_code: int | None = None
        self._redrawing = False
        for name, work, options in FEATURES:
            self.feature(name, options)(guarded(work, EMPTY.get(name)))
        for name in COMMANDS:
            self.command(name)(handler(name))

    @property
    def guarded(self) -> GuardedProtocol:
        """The protocol as what it is."""
        return cast("GuardedProtocol", self.protocol)

    @property
    def workspace_lines(self) -> LineWorkspace:
        """The workspace as what it is since `initialize`."""
        return cast("LineWorkspace", self.workspace)

    @property
    def leaving(self) -> bool:
        """Whether the client has asked the server to stop."""
        return self.guarded.leaving or self.guarded.asked_to_stop

    def talk(self, stdin: BinaryIO, stdout: BinaryIO) -> None:
        """Answer a client until it leaves or its stream ends."""
        self.protocol.set_writer(StdoutWriter(stdout))
        try:
            asyncio.run(
                serve_frames(stdin, self.thread_pool, self.guarded, self.report_server_error)
            )
        except (BrokenPipeError, KeyboardInterrupt, SystemExit):  # pygls ends with the last
            log.info("the client has left")
        finally:
            self.shutdown()  # type: ignore[no-untyped-call]  # pygls'

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Log an error of a handler; pygls' own shows a window for each."""
        log.error("%s: %s", getattr(source, "__name__", source), error)

    def notify(self, method: str, params: Any) -> None:
        """Send a notification, without the cost of making protocol objects."""
        self.guarded.tell(method, params)

    def settings_over(self, base: Options) -> Options:
        """Return the editor's settings on top of a repository's."""
        return self.configuration.over(base)

    def say(self, message: str, kind: t.MessageType) -> None:
        """Show a message to the user."""
        self.window_show_message(t.ShowMessageParams(kind, message))

    async def show_document(self, uri: str) -> bool:
        """Have the client open a document; False for one that cannot or will not."""
        window = self.client_capabilities.window
        if not (window and window.show_document and window.show_document.support):
            return False
        answer = await self.window_show_document_async(
            t.ShowDocumentParams(uri, external=False, take_focus=True)
        )
        return bool(answer and answer.success)

    def tell_changed(self, uris: Sequence[str]) -> None:
        """Tell a client that asked for it that what is known of documents has changed."""
        if self.notify_changes:
            self.notify(command_names.CHANGED, {"uris": list(uris)})

    def tell_saved(self, uri: str, id: str) -> None:
        """Tell a client that asked for changes that saving a draft has recorded it."""
        if self.notify_changes:
            self.notify(command_names.SAVED, {"uri": uri, "id": id})

    def refuse(self, message: str) -> dict[str, Any] | None:
        """Return the answer of a command that was not carried out; most clients get a message."""
        if self.answer_errors:
            return {"error": message}
        self.say(message, t.MessageType.Error)
        return None

    def redraw(self) -> None:
        """Ask the client for new lenses, where it can be asked.

        Soon, and once for many changes.
        """
        workspace = self.client_capabilities.workspace
        lens = bool(workspace and workspace.code_lens and workspace.code_lens.refresh_support)
        if lens and not self._redrawing:
            self._redrawing = True
            self.background.start(self._redraw())

    async def _redraw(self) -> None:
        await asyncio.sleep(REDRAW)
        self._redrawing = False
        self.workspace_code_lens_refresh(None)

    def leave(self, code: int) -> None:
        """Send no more, and end the process even if a thread hangs."""
        self.guarded.leaving = True
        self.publisher.close()
        self.following.close()
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
        params = t.LogMessageParams(kind, plain(record.getMessage()))
        if not self._server.leaving and not self._loop.is_closed():
            try:
                self._loop.call_soon_threadsafe(self._server.window_log_message, params)
            except RuntimeError:
                return  # the loop has ended


# -- the server's life


def on_initialize(ls: Server, params: t.InitializeParams) -> None:
    """Install our documents before any is opened, and read what the client says of itself."""
    ls.workspace.__class__ = LineWorkspace
    given = params.initialization_options
    if isinstance(given, dict):
        ls.notify_changes = given.get("notifyChanges") is True
        ls.diagnostics_in_hover = given.get("diagnosticsInHover") is True
        ls.answer_errors = given.get("answerErrors") is True
        if given.get("settings") is not None:
            ls.configuration.set(given["settings"])


async def on_initialized(ls: Server, _: t.InitializedParams) -> None:
    """Start what needs a client that is ready.

    These are its log, its settings, and the repositories of its folders.
    """
    if ls.ready:
        return
    ls.ready = True
    log.addHandler(ClientLog(ls))
    ls.indexing.start()
    folders = [folder.uri for folder in ls.workspace.folders.values()]
    warm(ls, folders or [ls.workspace.root_uri or ""])
    workspace = ls.client_capabilities.workspace
    if (
        workspace
        and workspace.did_change_configuration
        and workspace.did_change_configuration.dynamic_registration
    ):
        wish = t.Registration(
            "gitmem-configuration", t.WORKSPACE_DID_CHANGE_CONFIGURATION, {"section": "gitmem"}
        )
        ls.client_register_capability(t.RegistrationParams([wish]))
    if ls.configuration.can_ask:
        await configure(ls)


async def configure(ls: Server) -> None:
    """Ask for the settings and put them into force."""
    try:
        await ls.configuration.ask()
    except JsonRpcException as error:  # what was set before holds
        log.warning("the editor's settings cannot be had: %s", error)
    ls.publisher.refresh()
    ls.redraw()


def warm(ls: Server, uris: Sequence[str]) -> None:
    """Open the repositories of folders, and their indexes, before a document asks."""
    paths = [path for uri in uris if (path := to_fs_path(uri))]
    ls.repositories.expected += paths
    for path in paths:
        ls.background.start(_warm(ls, path))
    if not ls.repositories.expected:
        ls.repositories.found.set()


async def _warm(ls: Server, folder: str) -> None:
    try:
        repository = await ls.publisher.disk(ls.repositories.enclose, folder.rstrip("/") + "/.")
        if repository:
            ls.repositories.homes[folder] = ls.repositories.place(repository)
    finally:
        ls.repositories.expect_no_more(folder)
    if repository:
        place = ls.repositories.place(repository)
        view = place.repository.view
        await place.repository.run(view.refresh)
        await place.repository.run(lambda: editing(place).sweep())
        ls.following.follow(place.repository)
        ls.publisher.prepare(place.repository)
        gc.freeze()  # what is loaded by now stays: collections need not look at it


def on_folders(ls: Server, params: t.DidChangeWorkspaceFoldersParams) -> None:
    """Open the repositories of new folders.

    Those of old ones stay for the documents that are open.
    """
    for folder in params.event.removed:
        ls.repositories.homes.pop(to_fs_path(folder.uri) or "", None)
    warm(ls, [folder.uri for folder in params.event.added])


async def on_configuration(ls: Server, params: t.DidChangeConfigurationParams) -> None:
    """Put new settings into force."""
    if ls.configuration.can_ask:
        await configure(ls)
        return
    ls.configuration.set(params.settings)
    ls.publisher.refresh()
    ls.redraw()


def on_shutdown(ls: Server, _: None) -> None:
    """End our work before pygls ends its own."""
    ls.publisher.close()
    ls.guarded.cancel_requests()


def on_exit(ls: Server, _: None) -> None:
    """Leave with the exit code that the protocol asks for."""
    ls.exit_code = 0 if ls.guarded.asked_to_stop else 1
    ls.leave(ls.exit_code)


# -- documents


def on_open(ls: Server, params: t.DidOpenTextDocumentParams) -> None:
    """Show a document's gotchas."""
    ls.publisher.open(params.text_document.uri)


def on_change(ls: Server, params: t.DidChangeTextDocumentParams) -> None:
    """Move the marks along, and place the gotchas anew when the typing pauses."""
    ls.publisher.edited(params.text_document.uri, params.content_changes, DEBOUNCE)


async def on_save(ls: Server, params: t.DidSaveTextDocumentParams) -> None:
    """Commit a draft; look at everything again for any other document."""
    if not await handlers.on_save_draft(ls, params.text_document.uri):
        ls.publisher.touch(params.text_document.uri, moved=True)


async def on_close(ls: Server, params: t.DidCloseTextDocumentParams) -> None:
    """Take the diagnostics away."""
    ls.publisher.forget(params.text_document.uri)
    await handlers.on_close_draft(ls, params.text_document.uri)


FEATURES: tuple[tuple[str, Callable[..., Any], Any], ...] = (
    (t.INITIALIZE, on_initialize, None),
    (t.INITIALIZED, on_initialized, None),
    (t.TEXT_DOCUMENT_DID_OPEN, on_open, None),
    (t.TEXT_DOCUMENT_DID_CHANGE, on_change, None),
    (t.TEXT_DOCUMENT_DID_SAVE, on_save, None),
    (t.TEXT_DOCUMENT_DID_CLOSE, on_close, None),
    (t.WORKSPACE_DID_CHANGE_CONFIGURATION, on_configuration, None),
    (t.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS, on_folders, None),
    (t.TEXT_DOCUMENT_HOVER, handlers.on_hover, None),
    (
        t.TEXT_DOCUMENT_CODE_ACTION,
        handlers.on_code_action,
        t.CodeActionOptions(code_action_kinds=KINDS),
    ),
    (t.TEXT_DOCUMENT_CODE_LENS, handlers.on_code_lens, t.CodeLensOptions(resolve_provider=False)),
    (
        t.TEXT_DOCUMENT_COMPLETION,
        handlers.on_completion,
        t.CompletionOptions(trigger_characters=TRIGGERS, resolve_provider=True),
    ),
    (t.COMPLETION_ITEM_RESOLVE, handlers.on_completion_resolve, None),
    (
        t.TEXT_DOCUMENT_DOCUMENT_LINK,
        handlers.on_document_link,
        t.DocumentLinkOptions(resolve_provider=True),
    ),
    (t.DOCUMENT_LINK_RESOLVE, handlers.on_document_link_resolve, None),
    (
        t.WORKSPACE_SYMBOL,
        handlers.on_workspace_symbol,
        t.WorkspaceSymbolOptions(resolve_provider=True),
    ),
    (t.WORKSPACE_SYMBOL_RESOLVE, handlers.on_workspace_symbol_resolve, None),
    (t.SHUTDOWN, on_shutdown, None),
    (t.EXIT, on_exit, None),
)
EMPTY: Mapping[str, Any] = {
    name: []
    for name in (
        t.TEXT_DOCUMENT_CODE_ACTION,
        t.TEXT_DOCUMENT_CODE_LENS,
        t.TEXT_DOCUMENT_DOCUMENT_LINK,
        t.WORKSPACE_SYMBOL,
    )
}


def serve(stdin: BinaryIO, stdout: BinaryIO, env: Mapping[str, str]) -> int:
    """Serve one client until it leaves or its stream ends; return the exit code."""
    server = Server(env)
    server.talk(stdin, stdout)
    code = server.exit_code or 0
    server.leave(code)
    server.repositories.close(GRACE / 2)
    return code
