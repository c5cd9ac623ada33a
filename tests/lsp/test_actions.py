"""Resolving a gotcha from the editor, through a real client."""

import fcntl
import subprocess
import sys

import pytest
from lsprotocol import types as t
from pygls.exceptions import JsonRpcException

from gitmem.app import App
from gitmem.repo.refs import PRIVATE, SHARED
from gitmem.services.records import write
from gitmem_lsp.editing.record_changes import resolve
from gitmem_lsp.features.comment_edits import comment, syntax_of
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
    before = (
        repo.git("status", "--porcelain"),
        repo.git("rev-parse", "HEAD"),
        (repo.root / ".git" / "index").read_bytes(),
    )

    action = await editor.action(uri, 1, "Resolve")
    assert (action.title, action.kind) == (
        "Resolve gotcha: x must stay odd",
        t.CodeActionKind.QuickFix,
    )
    assert [d.code for d in action.diagnostics] == [record.id[-8:]]
    answer = await editor.execute(action.command)

    assert answer["resolved"] is True if isinstance(answer, dict) else answer.resolved is True
    # gone before the command is answered
    assert [d.code for d in editor.shown(uri)] == [other.id[-8:]]
    assert not [a for a in await editor.actions(uri, 1) if a.title.startswith("Resolve")]
    assert await editor.hover(uri, 1) is None
    resolved = repo.record(record.id).fields["resolved"]
    assert (resolved["by"], resolved["commit"]) == ("Ada", repo.git("rev-parse", "HEAD"))
    trailers = repo.git("log", "-1", "--format=%(trailers:only,unfold)", SHARED).splitlines()
    assert "Gitmem-Origin: editor" in trailers
    assert "Gitmem-Op: resolve" in trailers
    assert repo.git("log", "-1", "--format=%an <%ae>", SHARED) == "Ada <ada@example.org>"
    assert (
        repo.git("status", "--porcelain"),
        repo.git("rev-parse", "HEAD"),
        (repo.root / ".git" / "index").read_bytes(),
    ) == before

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

    action = await editor.action(uri, 1, "Resolve")
    await editor.execute(action.command)

    await editor.until(uri, lambda shown: shown == [])
    assert repo.record(record.id, "private").resolved
    assert "Gitmem-Origin: editor" in repo.git("log", "-1", "--format=%B", PRIVATE)
    assert repo.git("for-each-ref", SHARED) == ""


async def test_actions_follow_a_client_that_sends_whole_texts(repo, connect):
    """At once, as ALE asks right after it sent the text: not only when the typing has paused."""
    repo.gotcha("x must stay odd", "a.py:2")
    editor = await connect(repo.root)
    uri = repo.uri("a.py")
    editor.open(uri)
    await editor.until(uri, bool)

    editor.replace(uri, "# one\n# two\n" + editor.buffers[uri].source)

    assert (await editor.action(uri, 3, "Resolve")).title == "Resolve gotcha: x must stay odd"


async def test_what_is_offered(repo, connect):
    """Resolving comes first, for five gotchas a line; titles are one harmless line; kinds are honoured; lines without gotchas get no fixes."""
    for n in range(6):
        repo.gotcha(f"number {n} \x1b[31m\u202e" + "long " * 30, "a.py:2")
    editor = await connect(repo.root)
    uri = repo.uri("a.py")
    editor.open(uri)
    await editor.until(uri, bool)

    found = await editor.actions(uri, 1)
    assert [a.title.startswith("Resolve gotcha: ") for a in found[:6]] == [True] * 5 + [False]
    assert all(a.title.isprintable() and len(a.title) <= 120 for a in found)
    words = {a.title.split()[0] for a in found}
    assert words == {"Resolve", "Snooze", "Still", "Write", "Record", "Why", "Timeline"}
    named = {a.title.split()[0] for a in await editor.actions(uri, 1, ["refactor"])}
    assert named == {"Edit:", "Re-anchor", "Pin:", "Replace", "Write", "Record"}
    assert {a.kind for a in await editor.actions(uri, 1, ["quickfix"])} == {"quickfix"}
    assert [a.title for a in await editor.actions(uri, 1, ["source"])] == [
        "Why is this line so",
        "Timeline of this symbol",
    ]
    assert await editor.actions(uri, 1, ["source.organizeImports"]) == []
    assert {a.title for a in await editor.actions(uri, 0)} == {
        "Record a gotcha for this line",
        "Why is this line so",
        "Timeline of this symbol",
    }
    assert await editor.actions("file:///never/opened.py", 1) == []


async def test_one_gotcha_has_few_quick_fixes(repo, connect):
    """Three; a fourth puts it at its line again where that is in doubt."""
    repo.gotcha("x must stay odd", "a.py:2")
    editor = await connect(repo.root)
    uri = repo.uri("a.py")
    editor.open(uri)
    await editor.until(uri, bool)
    fixes = [a.title for a in await editor.actions(uri, 1, ["quickfix"])]
    assert fixes == [
        "Resolve gotcha: x must stay odd",
        "Snooze for 7 days: x must stay odd",
        "Still true: x must stay odd",
    ]
    editor.replace(uri, editor.buffers[uri].source.replace("x = 1", "x = 111 + 2"))
    shown = await editor.until(uri, lambda shown: shown and "changed" in shown[0].message)
    again = await editor.actions(uri, shown[0].range.start.line, ["quickfix"])
    assert [a.title for a in again][3:] == ["Re-anchor here: x must stay odd"]


async def test_a_cursor_on_code_without_gotchas_has_no_bulb(repo, connect):
    """What an editor asks by itself for each line the cursor is on is answered with what is about gotchas alone."""
    repo.gotcha("x must stay odd", "a.py:2")
    editor = await connect(repo.root)
    uri = repo.uri("a.py")
    editor.open(uri)
    await editor.until(uri, bool)

    async def by_itself(line: int) -> list[str]:
        where = t.Range(t.Position(line, 0), t.Position(line, 0))
        context = t.CodeActionContext(
            diagnostics=[], trigger_kind=t.CodeActionTriggerKind.Automatic
        )
        params = t.CodeActionParams(t.TextDocumentIdentifier(uri), where, context)
        return [a.title for a in await editor.client.text_document_code_action_async(params) or []]

    assert await by_itself(0) == []
    assert (await by_itself(1))[0] == "Resolve gotcha: x must stay odd"


@pytest.mark.parametrize("versioned", [True, False])
async def test_a_comment_names_the_gotcha(make_repo, connect, versioned):
    """The edit puts a comment in the language's syntax above the line, indented and ended as the line is; a client gets the form that it knows."""
    repo = make_repo(**{"a.py": "def f():\r\n    return 1\r\n"})
    record = repo.gotcha("x must stay odd", "a.py:2")
    caps = capabilities()
    assert caps.workspace and caps.workspace.workspace_edit
    caps.workspace.workspace_edit.document_changes = versioned
    editor = await connect(repo.root, caps=caps)
    uri = repo.uri("a.py")
    editor.open(uri)
    await editor.until(uri, bool)

    action = await editor.action(uri, 1, "Write a comment")

    (change,) = action.edit.document_changes[0].edits if versioned else action.edit.changes[uri]
    assert (action.edit.changes is None, action.edit.document_changes is None) == (
        versioned,
        not versioned,
    )
    assert change.new_text == f"    # gotcha {record.id}: x must stay odd\r\n"
    assert (change.range.start, change.range.end) == (t.Position(1, 0), t.Position(1, 0))
    editor.edit(uri, (1, 0), (1, 0), change.new_text)
    await editor.until(uri, lambda shown: bool(shown) and shown[0].range.start.line == 2)
    assert not [a for a in await editor.actions(uri, 2) if a.title.startswith("Write")]


@pytest.mark.parametrize(
    ("language", "path", "text"),
    [
        ("rust", "a.rs", "// gotcha got-1: t"),
        ("html", "a.html", "<!-- gotcha got-1: t -->"),
        ("", "a.lua", "-- gotcha got-1: t"),
        ("css", "a.css", "/* gotcha got-1: t */"),
        ("", "Makefile", "# gotcha got-1: t"),
    ],
)
def test_comment_syntax(language, path, text):
    """A comment is written as the language writes it, by its name or by the file's."""
    syntax = syntax_of(language, path)
    assert syntax is not None
    assert comment("t", "got-1", syntax) == text


def test_a_title_cannot_end_its_comment():
    """A title with the end of a comment in it is left out; an unknown language has no comments."""
    assert comment("x */ system() /*", "got-1", ("/* ", " */")) == "/* gotcha got-1 */"
    assert comment("a --> b", "got-1", ("<!-- ", " -->")) == "<!-- gotcha got-1 -->"
    assert syntax_of("", "a.unheard-of") is None


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

    command = await editor.action(uri, 1, "Resolve")

    assert isinstance(command, t.Command)
    await editor.execute(command)
    assert repo.record(record.id).resolved


async def test_what_cannot_be_resolved_is_said(repo, connect):
    """A wrong call is an error of the protocol; a record that is gone or no gotcha is a sentence; nothing is written."""
    record = repo.gotcha("x must stay odd", "a.py:2")
    with repo.app() as app:
        memory = write.add(
            app.store(), app.writer(), write.draft(app.writer(), "memory", "no gotcha")
        ).after
    editor = await connect(repo.root)
    uri = repo.uri("a.py")
    editor.open(uri)
    await editor.until(uri, bool)
    tip = repo.git("rev-parse", SHARED)

    for arguments in ([], [7], [record.id, uri, "more"]):
        with pytest.raises(JsonRpcException) as caught:
            await editor.execute(t.Command("", "gitmem.resolve", arguments=arguments))
        assert caught.value.code == -32602
    assert (
        await editor.execute(
            t.Command("", "gitmem.resolve", arguments=["got-00000000000000000000000000", uri])
        )
        is None
    )
    assert await editor.execute(t.Command("", "gitmem.resolve", arguments=[memory.id, uri])) is None
    assert (
        await editor.execute(
            t.Command("", "gitmem.resolve", arguments=["got-00000000000000000000000000"])
        )
        is None
    )

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
        done = resolve(app, record.id, app.location)
        monkeypatch.undo()
        assert repo.git("rev-parse", SHARED) == tip
    assert (done.journaled, done.already) == (True, False)

    repo.gotcha("another", "a.py:3")

    assert repo.record(record.id).resolved
    assert "Gitmem-Origin: editor" in repo.git("log", "--format=%B", f"{tip}..{SHARED}")


async def test_a_change_in_the_editor_is_a_persons_command(repo, connect):
    """Each one is taken back by itself, from a terminal."""
    first, second = repo.gotcha("x must stay odd", "a.py:2"), repo.gotcha("y too", "a.py:3")
    editor = await connect(repo.root)
    uri = repo.uri("a.py")
    editor.open(uri)
    await editor.titles(uri, 2)
    for line in (1, 2):
        await editor.execute((await editor.action(uri, line, "Resolve")).command)

    def mem(*command):
        subprocess.run([sys.executable, "-m", "gitmem", *command], cwd=repo.root, check=True)

    mem("undo")
    assert repo.record(first.id).resolved and not repo.record(second.id).resolved
    mem("undo")
    assert not repo.record(first.id).resolved
    mem("undo", "--redo")
    assert repo.record(first.id).resolved
