"""Resolving a gotcha from the editor, through a real client."""

import fcntl

import pytest
from lsprotocol import types as t
from pygls.exceptions import JsonRpcException

from gitmem.app import App
from gitmem.services import memories
from gitmem.store.refs import PRIVATE, SHARED
from gitmem_lsp.actions import resolve
from tests.lsp.conftest import capabilities


def messages(editor) -> list[str]:
    """Return what the server has shown in windows."""
    return [m.message for m in editor.client.messages]


async def test_resolve(repo, connect):
    """The quick fix on the line resolves the gotcha: it goes from the screen, and the commit says when, by whom, and that it was an editor."""
    record = repo.gotcha("x must stay odd", "a.py:2")
    other = repo.gotcha("y too", "a.py:3")
    editor = await connect(repo.root)
    uri = repo.uri("a.py")
    editor.open(uri)
    await editor.titles(uri, 2)
    before = repo.git("status", "--porcelain"), repo.git("rev-parse", "HEAD"), (repo.root / ".git" / "index").read_bytes()

    (action,) = await editor.actions(uri, 1)
    assert (action.title, action.kind) == ("Resolve gotcha: x must stay odd", t.CodeActionKind.QuickFix)
    assert [d.code for d in action.diagnostics] == [record.id[-8:]]
    answer = await editor.execute(action.command)

    assert answer["resolved"] is True if isinstance(answer, dict) else answer.resolved is True
    assert [d.code for d in editor.shown(uri)] == [other.id[-8:]]  # gone before the command is answered
    assert await editor.actions(uri, 1) == []
    assert await editor.hover(uri, 1) is None
    resolved = repo.record(record.id).fields["resolved"]
    assert (resolved["by"], resolved["commit"]) == ("Ada", repo.git("rev-parse", "HEAD"))
    trailers = repo.git("log", "-1", "--format=%(trailers:only,unfold)", SHARED).splitlines()
    assert "Gitmem-Origin: editor" in trailers
    assert "Gitmem-Op: resolve" in trailers
    assert repo.git("log", "-1", "--format=%an <%ae>", SHARED) == "Ada <ada@example.org>"
    assert (repo.git("status", "--porcelain"), repo.git("rev-parse", "HEAD"), (repo.root / ".git" / "index").read_bytes()) == before

    tip = repo.git("rev-parse", SHARED)
    await editor.execute(action.command)  # a second click
    assert repo.git("rev-parse", SHARED) == tip
    assert messages(editor) == []


async def test_private_gotcha_is_resolved_privately(repo, connect):
    """A private record stays in the private store, and the shared one learns nothing."""
    record = repo.gotcha("mine alone", "a.py:2", scope="private")
    editor = await connect(repo.root)
    uri = repo.uri("a.py")
    editor.open(uri)
    await editor.until(uri, bool)

    (action,) = await editor.actions(uri, 1)
    await editor.execute(action.command)

    await editor.until(uri, lambda shown: shown == [])
    assert repo.record(record.id, "private").resolved
    assert "Gitmem-Origin: editor" in repo.git("log", "-1", "--format=%B", PRIVATE)
    assert repo.git("for-each-ref", SHARED) == ""


async def test_what_is_offered(repo, connect):
    """Only quick fixes are offered, only on lines with gotchas, and no more than five; titles are one harmless line."""
    for n in range(6):
        repo.gotcha(f"number {n} \x1b[31m\u202e" + "long " * 30, "a.py:2")
    editor = await connect(repo.root)
    uri = repo.uri("a.py")
    editor.open(uri)
    await editor.until(uri, bool)

    found = await editor.actions(uri, 1)
    assert len(found) == 5
    assert all(a.title.isprintable() and len(a.title) <= 80 for a in found)
    assert len(await editor.actions(uri, 1, ["quickfix"])) == 5
    assert await editor.actions(uri, 1, ["refactor", "source.organizeImports"]) == []
    assert await editor.actions(uri, 0) == []
    assert await editor.actions("file:///never/opened.py", 1) == []


async def test_client_without_literals(repo, connect):
    """A client that knows only commands gets commands."""
    record = repo.gotcha("x must stay odd", "a.py:2")
    caps = capabilities()
    assert caps.text_document and caps.text_document.code_action
    caps.text_document.code_action.code_action_literal_support = None
    editor = await connect(repo.root, caps=caps)
    uri = repo.uri("a.py")
    editor.open(uri)
    await editor.until(uri, bool)

    (command,) = await editor.actions(uri, 1)

    assert isinstance(command, t.Command)
    await editor.execute(command)
    assert repo.record(record.id).resolved


async def test_what_cannot_be_resolved_is_said(repo, connect):
    """A wrong call is an error of the protocol; a record that is gone or no gotcha is a sentence; nothing is written."""
    record = repo.gotcha("x must stay odd", "a.py:2")
    with repo.app() as app:
        memory = memories.add(app.store(), app.writer(), memories.draft(app.writer(), "memory", "no gotcha")).after
    editor = await connect(repo.root)
    uri = repo.uri("a.py")
    editor.open(uri)
    await editor.until(uri, bool)
    tip = repo.git("rev-parse", SHARED)

    for arguments in ([], [7], [record.id, uri, "more"]):
        with pytest.raises(JsonRpcException) as caught:
            await editor.execute(t.Command("", "gitmem.resolve", arguments=arguments))
        assert caught.value.code == -32602
    assert await editor.execute(t.Command("", "gitmem.resolve", arguments=["got-00000000000000000000000000", uri])) is None
    assert await editor.execute(t.Command("", "gitmem.resolve", arguments=[memory.id, uri])) is None
    assert await editor.execute(t.Command("", "gitmem.resolve", arguments=["got-00000000000000000000000000"])) is None

    assert len(messages(editor)) == 3
    assert "only a gotcha can be resolved" in messages(editor)[1]
    assert repo.git("rev-parse", SHARED) == tip
    assert len(editor.shown(uri)) == 1


def test_a_busy_store_keeps_the_resolve(repo, monkeypatch):
    """While another process holds the lock, a resolve waits in the journal and says so; the next write brings it."""
    record = repo.gotcha("x must stay odd", "a.py:2")
    tip = repo.git("rev-parse", SHARED)
    real = App.store

    def impatient(self, scope="shared"):
        store = real(self, scope)
        store.budget = 0.1
        return store

    with repo.app() as app, (repo.root / ".git" / "gitmem" / "write.lock").open("r+b") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        monkeypatch.setattr(App, "store", impatient)
        done = resolve(app, record.id, str(repo.root / ".git"))
        monkeypatch.undo()
        assert repo.git("rev-parse", SHARED) == tip
    assert (done.journaled, done.already) == (True, False)

    repo.gotcha("another", "a.py:3")

    assert repo.record(record.id).resolved
    assert "Gitmem-Origin: editor" in repo.git("log", "--format=%B", f"{tip}..{SHARED}")
