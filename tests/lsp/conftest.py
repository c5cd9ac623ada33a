"""A sealed world with real repositories, and a real client of the real server over stdio."""

import asyncio
import contextlib
import os
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Union

import pytest
from lsprotocol import types as t
from pygls.workspace import PositionCodec
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities, make_test_lsp_client

from gitmem.app import App, open_app
from gitmem.codemap.anchors.resolve import attach
from gitmem.codemap.anchors.spec import parse
from gitmem.git.object_codec import object_id
from gitmem.records.record import Record
from gitmem.services.records import write as memories
from gitmem_lsp.protocol.documents import LineDocument
from tests.nursery import nursery

PATIENCE = 60.0  # seconds; a slow machine, not a budget
# seconds after which the write of another process must be seen: one is promised, the others are for
# a slow machine
FRESH = 5.0


@pytest.fixture
def env(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The environment of everything here: a fresh HOME, no system configuration, a fixed identity."""
    home = tmp_path / "home"
    home.mkdir()
    kept = {k: os.environ[k] for k in ("PATH", "LANG", "TMPDIR") if k in os.environ}
    sealed = {
        **kept,
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_DATA_HOME": str(home / ".local/share"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "Ada",
        "GIT_AUTHOR_EMAIL": "ada@example.org",
        "GIT_COMMITTER_NAME": "Ada",
        "GIT_COMMITTER_EMAIL": "ada@example.org",
        "GIT_CEILING_DIRECTORIES": str(tmp_path),
    }
    for key in [k for k in os.environ if k.startswith("GIT_")]:
        monkeypatch.delenv(key)
    return sealed


@dataclass
class Repo:
    """A repository with files, and a way to record gotchas about them as another process would."""

    root: Path
    env: dict[str, str]

    def git(self, *args: str) -> str:
        return subprocess.run(
            ["git", *args], cwd=self.root, env=self.env, check=True, capture_output=True, text=True
        ).stdout.strip()

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        return path

    def uri(self, name: str) -> str:
        return (self.root / name).as_uri()

    def app(self) -> App:
        return open_app(str(self.root), self.env)

    def gotcha(
        self,
        title: str,
        spec: str = "",
        *,
        scope: str = "shared",
        body: str = "",
        origin: str = "manual",
        **fields: Any,
    ) -> Record:
        """Record a gotcha; `spec` is a place as a user types it, in a file of the work tree."""
        return self._recorded("gotcha", title, spec, scope, body, origin, fields)

    def memory(self, title: str, spec: str, type: str = "decision", **fields: Any) -> Record:
        """Record a memory that is anchored at a place."""
        return self._recorded(
            "memory", title, spec, "shared", "", "manual", {"type": type, **fields}
        )

    def _recorded(
        self,
        kind: str,
        title: str,
        spec: str,
        scope: str,
        body: str,
        origin: str,
        fields: dict[str, Any],
    ) -> Record:
        with self.app() as app:
            found = []
            if spec:
                anchor = parse(spec)
                path = self.root / anchor.get("path", "")
                if path.is_file():
                    data = path.read_bytes()
                    anchor = attach(anchor, data.decode(), object_id("blob", data, "sha1"))
                found.append(anchor)
            who = app.writer()
            record = memories.draft(
                who, kind, title, body, origin=origin, anchors=found or None, **fields
            )
            return memories.add(app.store(scope), who, record).after

    def record(self, id: str, scope: str = "shared") -> Record:
        with self.app() as app:
            return app.get(id, (scope,))[1].record


@pytest.fixture
def make_repo(tmp_path: Path, env: dict[str, str]) -> Callable[..., Repo]:
    """Return a function that makes a repository with one commit of the files given."""

    def make(name: str = "repo", **files: str) -> Repo:
        root = tmp_path / name
        root.mkdir(parents=True)
        repo = Repo(root, env)
        repo.git("init", "-q", "-b", "main")
        for file, text in (files or {"a.py": "import os\nx = 1\ny = 2\n"}).items():
            repo.write(file, text)
        repo.git("add", "-A")
        repo.git("commit", "-q", "-m", "start")
        return repo

    return make


@pytest.fixture
def repo(make_repo: Callable[..., Repo]) -> Repo:
    return make_repo()


@dataclass
class Editor:
    """A client with the questions that the tests ask."""

    client: LanguageClient
    versions: dict[str, int] = field(default_factory=dict)
    buffers: dict[str, LineDocument] = field(default_factory=dict)
    published: list[t.PublishDiagnosticsParams] = field(default_factory=list)
    news: asyncio.Event = field(default_factory=asyncio.Event)
    initialized: t.InitializeResult | None = None

    def open(self, uri: str, text: str | None = None, language: str = "python") -> None:
        if text is None:
            text = Path(uri.removeprefix("file://")).read_bytes().decode()
        self.versions[uri] = 1
        self.buffers[uri] = LineDocument(uri, text, position_codec=PositionCodec())
        self.client.text_document_did_open(
            t.DidOpenTextDocumentParams(t.TextDocumentItem(uri, language, 1, text))
        )

    def edit(self, uri: str, start: tuple[int, int], end: tuple[int, int], text: str) -> None:
        self.versions[uri] += 1
        change = t.TextDocumentContentChangePartial(
            t.Range(t.Position(*start), t.Position(*end)), text
        )
        self.buffers[uri].apply_change(change)
        document = t.VersionedTextDocumentIdentifier(self.versions[uri], uri)
        self.client.text_document_did_change(t.DidChangeTextDocumentParams(document, [change]))

    def replace(self, uri: str, text: str) -> None:
        """Send the whole text, as clients do that know no partial changes."""
        self.versions[uri] += 1
        change = t.TextDocumentContentChangeWholeDocument(text)
        self.buffers[uri].apply_change(change)
        document = t.VersionedTextDocumentIdentifier(self.versions[uri], uri)
        self.client.text_document_did_change(t.DidChangeTextDocumentParams(document, [change]))

    def save(self, uri: str) -> None:
        if "/gitmem/editing/" in uri:  # a document of the server's, which it reads from the disk
            Path(uri.removeprefix("file://")).write_bytes(self.buffers[uri].source.encode())
        self.client.text_document_did_save(
            t.DidSaveTextDocumentParams(t.TextDocumentIdentifier(uri))
        )

    def close(self, uri: str) -> None:
        self.client.text_document_did_close(
            t.DidCloseTextDocumentParams(t.TextDocumentIdentifier(uri))
        )

    def shown(self, uri: str) -> list[t.Diagnostic] | None:
        """Return what the server last said about a document; None when it has said nothing."""
        found = [p for p in self.published if p.uri == uri]
        return list(found[-1].diagnostics) if found else None

    async def until(
        self, uri: str, test: Callable[[list[t.Diagnostic]], bool], timeout: float = PATIENCE
    ) -> list[t.Diagnostic]:
        """Wait until what is shown passes a test; return it."""

        async def wait() -> list[t.Diagnostic]:
            while (shown := self.shown(uri)) is None or not test(shown):
                self.news.clear()
                await self.news.wait()
            return shown

        try:
            return await asyncio.wait_for(wait(), timeout)
        except TimeoutError:
            raise AssertionError(f"not in {timeout} s; shown: {self.shown(uri)}") from None

    async def titles(self, uri: str, count: int) -> list[str]:
        return [d.message for d in await self.until(uri, lambda shown: len(shown) == count)]

    async def hover(self, uri: str, line: int, character: int = 0) -> t.Hover | None:
        return await self.client.text_document_hover_async(
            t.HoverParams(t.TextDocumentIdentifier(uri), t.Position(line, character))
        )

    async def actions(self, uri: str, line: int, only: list[str] | None = None) -> list[Any]:
        where = t.Range(t.Position(line, 0), t.Position(line, 0))
        context = t.CodeActionContext(diagnostics=[], only=only)
        return list(
            await self.client.text_document_code_action_async(
                t.CodeActionParams(t.TextDocumentIdentifier(uri), where, context)
            )
            or []
        )

    async def action(self, uri: str, line: int, start: str, only: list[str] | None = None) -> Any:
        """Return the one action whose title starts so."""
        (found,) = [a for a in await self.actions(uri, line, only) if a.title.startswith(start)]
        return found

    async def run(self, name: str, *arguments: Any) -> Any:
        """Run a command; return its answer as plain JSON."""
        return plain(
            await self.client.workspace_execute_command_async(
                t.ExecuteCommandParams(name, arguments=list(arguments))
            )
        )

    @property
    def messages(self) -> list[str]:
        """What the server has shown in windows."""
        return [m.message for m in self.client.messages]

    async def execute(self, command: t.Command) -> Any:
        return await self.client.workspace_execute_command_async(
            t.ExecuteCommandParams(command.command, arguments=command.arguments)
        )


def plain(value: Any) -> Any:
    """Return what the client's library made objects of as plain JSON."""
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return [plain(v) for v in value] if isinstance(value, (list, tuple)) else value


def make_client() -> LanguageClient:
    client = make_test_lsp_client()
    client.registered = []
    client.changed = []
    client.feature(t.CLIENT_REGISTER_CAPABILITY)(
        lambda params: client.registered.extend(params.registrations)
    )
    client.feature(t.WORKSPACE_CODE_LENS_REFRESH)(lambda _: None)
    client.feature(t.WORKSPACE_INLAY_HINT_REFRESH)(lambda _: None)
    client.feature("gitmem/changed")(lambda params: client.changed.append(plain(params)))
    # lsprotocol 2025.0.0 takes a CodeAction that carries a command for a Command
    converter = client.protocol._converter
    converter.register_structure_hook(
        Union[t.Command, t.CodeAction],  # noqa: UP007 - the key that lsprotocol registers
        lambda value, _: converter.structure(
            value, t.Command if isinstance(value.get("command"), str) else t.CodeAction
        ),
    )
    return client


def capabilities(
    name: str = "visual-studio-code", encodings: list[t.PositionEncodingKind] | None = None
) -> t.ClientCapabilities:
    found = client_capabilities(name)
    if encodings:
        found.general = found.general or t.GeneralClientCapabilities()
        found.general.position_encodings = encodings
    return found


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    """The command that starts a server: one that need not load its modules anew. The real command is started in `test_life`."""
    with nursery(tmp_path_factory.mktemp("n"), "gitmem_lsp", "gitmem_lsp.server") as command:
        yield command


@pytest.fixture
async def connect(env: dict[str, str], server: list[str]) -> AsyncIterator[Callable[..., Any]]:
    """Return a function that starts a server and a client for it; they end with the test."""

    async def launch() -> LanguageClient:
        return await ClientServerConfig(
            server_command=server, client_factory=make_client, server_env=env
        ).start()

    editors: list[Editor] = []
    spare = [await launch()]  # it loads while the test writes its gotchas

    async def start(
        *roots: Path,
        caps: t.ClientCapabilities | None = None,
        options: Any = None,
        settings: Any = None,
    ) -> Editor:
        client = spare.pop() if spare else await launch()
        editor = Editor(client)
        editors.append(editor)
        handler = client.protocol.fm.features[t.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS]

        def receive(params: t.PublishDiagnosticsParams) -> None:
            handler(params)
            editor.published.append(params)
            editor.news.set()

        client.protocol.fm.features[t.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS] = receive
        folders = [t.WorkspaceFolder(root.as_uri(), root.name) for root in roots]
        params = t.InitializeParams(
            capabilities=caps or capabilities(),
            root_uri=folders[0].uri if folders else None,
            workspace_folders=folders,
            initialization_options=options,
        )
        if settings is not None:
            client.set_configuration({"gitmem": settings})
        editor.initialized = await client.initialize_session(params)
        return editor

    yield start
    for client in spare:  # the test failed before it asked
        await client.stop()
    for editor in editors:
        with contextlib.suppress(RuntimeError):  # a test that has ended its server itself
            await editor.client.shutdown_session()
