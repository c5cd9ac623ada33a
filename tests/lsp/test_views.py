"""What is shown beside diagnostics: lenses, symbols, completion, links, hovers on ids; and the settings of all of it."""

import asyncio
from pathlib import Path

import pytest
from lsprotocol import types as t

from gitmem.services.records import write
from tests.lsp.conftest import capabilities
from tests.lsp.test_commands import TEXT

HOSTILE = "<b>x</b> [y](command:z) \x1b[31m\u202ered\u2066 `a` ${1:b}"


def memory(repo, title: str, **fields):
    with repo.app() as app:
        who = app.writer()
        return write.add(app.store(), who, write.draft(who, "memory", title, **fields)).after


async def lenses(editor, uri: str) -> list[tuple[int, str]]:
    found = await editor.client.text_document_code_lens_async(
        t.CodeLensParams(t.TextDocumentIdentifier(uri))
    )
    return [(lens.range.start.line, lens.command.title) for lens in found or []]


async def complete(editor, uri: str, line: int, character: int) -> list[t.CompletionItem]:
    params = t.CompletionParams(t.TextDocumentIdentifier(uri), t.Position(line, character))
    found = await editor.client.text_document_completion_async(params)
    return list(found.items) if found else []


async def links(editor, uri: str) -> list[t.DocumentLink]:
    return list(
        await editor.client.text_document_document_link_async(
            t.DocumentLinkParams(t.TextDocumentIdentifier(uri))
        )
        or []
    )


async def eventually(ask, test, patience: float = 10.0):
    """Ask until the answer passes a test; return it."""
    async with asyncio.timeout(patience):
        while not test(answer := await ask()):
            await asyncio.sleep(0.05)
    return answer


# -- lenses


async def test_one_lens_a_file(make_repo, connect):
    """A file with gotchas has one lens that counts them; one without has none; the command of a lens can be run."""
    repo = make_repo(**{"cart.py": TEXT, "other.py": "x = 1\n"})
    repo.gotcha("prices may be None", "cart.py:6", severity="critical")
    repo.gotcha("clear keeps the list", "cart.py:9", origin="captured")
    editor = await connect(repo.root)
    uri, other = repo.uri("cart.py"), repo.uri("other.py")
    for each in (uri, other):
        editor.open(each)
    await editor.titles(uri, 2)
    await editor.titles(other, 0)

    assert await lenses(editor, uri) == [(0, "2 gotchas · 1 critical · 1 unconfirmed")]
    assert await lenses(editor, other) == []
    (lens,) = await editor.client.text_document_code_lens_async(
        t.CodeLensParams(t.TextDocumentIdentifier(uri))
    )
    assert (
        "clear keeps"
        in (await editor.run(lens.command.command, *lens.command.arguments))["markdown"]
    )


@pytest.mark.parametrize("by", ["editor", "git"])
async def test_one_setting_takes_all_marks_away(make_repo, connect, by):
    """Diagnostics, lenses and hovers, at once and in open files; lists still have them. And back."""
    repo = make_repo(**{"cart.py": TEXT})
    repo.gotcha("prices may be None", "cart.py:6")
    editor = await connect(repo.root)
    uri = repo.uri("cart.py")

    def switch(on: bool) -> None:
        if by == "git":
            repo.git("config", "gitmem.editorMarks", str(on).lower())
            return
        editor.client.set_configuration({"gitmem": {"marks": on}})
        editor.client.workspace_did_change_configuration(
            t.DidChangeConfigurationParams(settings=None)
        )

    editor.open(uri)
    await editor.until(uri, bool)

    switch(False)
    await editor.until(uri, lambda shown: shown == [])
    assert await lenses(editor, uri) == []
    assert await editor.hover(uri, 5) is None
    assert len(await editor.run("gitmem.list", uri)) == 1

    switch(True)
    await editor.until(uri, bool)
    assert len(await lenses(editor, uri)) == 1
    assert await editor.hover(uri, 5)


async def test_what_is_off_is_not_offered(repo, connect):
    """No hints and no symbols of documents are offered: some editors ask one server only."""
    editor = await connect(repo.root)

    offered = editor.initialized.capabilities
    assert offered.inlay_hint_provider is None
    assert offered.document_symbol_provider is None
    assert offered.diagnostic_provider is None  # pushed, never pulled
    assert offered.hover_provider
    assert offered.workspace_symbol_provider
    assert not [r for r in editor.client.registered if r.method.startswith("textDocument/")]


# -- settings


async def test_settings_by_git_and_their_order(repo, connect):
    """Git's configuration sets for all editors, also while the server runs; the editor's own setting wins; nonsense is named and has no effect."""
    repo.git("config", "gitmem.unconfirmed", "false")
    repo.gotcha("guess", "a.py:2", origin="captured")
    editor = await connect(repo.root, settings={"codeLens": False, "marks": "loud"})
    uri = repo.uri("a.py")
    editor.open(uri)
    await editor.until(uri, lambda d: d == [])
    assert "gitmem.marks is 'loud'" in " ".join(m.message for m in editor.client.log_messages)

    repo.git("config", "gitmem.unconfirmed", "true")
    assert await editor.titles(uri, 1) == ["guess (unconfirmed)"]
    assert await lenses(editor, uri) == []

    editor.client.set_configuration({"gitmem": {"unconfirmed": False}})
    editor.client.workspace_did_change_configuration(t.DidChangeConfigurationParams(settings=None))
    await editor.until(uri, lambda d: d == [])


async def test_a_file_is_capped(repo, connect):
    """Twenty lines are marked at most; the last mark counts the rest."""
    repo.write("a.py", "".join(f"line_{n} = {n}\n" for n in range(30)))
    for n in range(23):
        repo.gotcha(f"g{n}", f"a.py:{n + 1}")
    editor = await connect(repo.root)
    uri = repo.uri("a.py")
    editor.open(uri)

    shown = await editor.until(uri, lambda d: len(d) == 20)

    assert any(d.message.startswith("4 more gotchas") for d in shown)


async def test_settings_of_a_client_that_cannot_be_asked(repo, connect):
    """Settings come with the start, and with notifications."""
    repo.gotcha("guess", "a.py:2", origin="captured")
    caps = capabilities()
    assert caps.workspace
    caps.workspace.configuration = None
    editor = await connect(repo.root, caps=caps, options={"settings": {"unconfirmed": False}})
    uri = repo.uri("a.py")
    editor.open(uri)
    await editor.until(uri, lambda d: d == [])
    assert await lenses(editor, uri) == []

    editor.client.workspace_did_change_configuration(
        t.DidChangeConfigurationParams(settings={"gitmem": {"unconfirmed": True}})
    )

    assert await editor.titles(uri, 1) == ["guess (unconfirmed)"]


# -- ids in texts


async def test_completion_in_markdown(repo, connect):
    """Ids are completed after a kind's prefix and after `#`, by words and by ids; the item puts in the id and tells the record."""
    payment = memory(repo, "Payments are retried thrice")
    memory(repo, "Logs go to stderr")
    trap = repo.gotcha("x must stay odd", "a.py:2")
    text = "See mem-\nSee #paym\n# Heading\nsee gitmem-\nSee got-" + trap.id[-6:] + "\n"
    uri = repo.write("notes.md", text).as_uri()
    editor = await connect(repo.root)
    editor.open(uri, language="markdown")

    items = await complete(editor, uri, 0, 8)
    assert sorted(i.label.split(" ", 1)[1] for i in items) == [
        "Logs go to stderr",
        "Payments are retried thrice",
    ]
    (found, *_) = await complete(editor, uri, 1, 9)
    assert (found.text_edit.new_text, found.text_edit.range) == (
        payment.id,
        t.Range(t.Position(1, 4), t.Position(1, 9)),
    )
    told = await editor.client.completion_item_resolve_async(found)
    assert "Payments are retried thrice" in told.documentation.value
    assert await complete(editor, uri, 2, 2) == []
    assert await complete(editor, uri, 3, 11) == []
    (by_id,) = await complete(editor, uri, 4, 8 + 6)
    assert by_id.text_edit.new_text == trap.id


async def test_completion_in_commit_messages_and_nowhere_else(repo, connect):
    """A commit message in the git dir is completed, also an editor's message field; code is not."""
    record = memory(repo, "Payments are retried thrice")
    message = repo.root / ".git" / "COMMIT_EDITMSG"
    message.write_text("Fix mem-\n")
    editor = await connect(repo.root)
    field = "vscode-scm:git/scm0/input?rootUri"
    code = repo.write("b.py", "# mem-\n").as_uri()
    editor.open(message.as_uri(), language="git-commit")
    editor.open(field, text="Fix mem-", language="scminput")
    editor.open(code)

    for uri in (message.as_uri(), field):
        (item,) = await eventually(lambda uri=uri: complete(editor, uri, 0, 8), bool)
        assert item.text_edit.new_text == record.id
    assert await complete(editor, code, 0, 6) == []


async def test_links_and_hover_on_ids(repo, connect):
    """An id of a record, in code or Markdown, links to it and tells it; what only looks like an id does not; columns are the client's."""
    record = memory(repo, "Payments are retried thrice", body="Because the **bank** drops them.\n")
    fake = record.id[:-1] + ("0" if record.id[-1] != "0" else "1")
    uri = repo.write(
        "b.py", f"x = 1  # 😋 see {record.id}, not {fake} nor mem-management\n"
    ).as_uri()
    editor = await connect(repo.root)
    editor.open(uri)

    (link,) = await eventually(lambda: links(editor, uri), bool)
    start = len("x = 1  # 😋 see ") + 1  # UTF-16
    assert link.range == t.Range(t.Position(0, start), t.Position(0, start + len(record.id)))
    assert "Payments" in (link.tooltip or "")
    # nothing is written before it is followed
    assert not list((repo.root / ".git/gitmem").glob("editing/*"))
    target = (await editor.client.document_link_resolve_async(link)).target
    assert "Because the **bank** drops them." in Path(target.removeprefix("file://")).read_text()

    hover = await editor.hover(uri, 0, start + 3)
    assert hover.range == link.range
    assert "**Memory** Payments are retried thrice" in hover.contents.value
    assert await editor.hover(uri, 0, 2) is None


async def test_symbols_of_the_workspace(make_repo, connect):
    """Memories are found by words: one with a place leads to its code, where it is now; one without is a document of its own."""
    repo = make_repo(**{"cart.py": TEXT})
    repo.gotcha("prices may be None", "cart.py:6")
    free = memory(repo, "Payments are retried thrice")
    editor = await connect(repo.root)
    uri = repo.uri("cart.py")
    editor.open(uri)
    await editor.until(uri, bool)
    editor.edit(uri, (0, 0), (0, 0), "\n\n")
    await editor.until(uri, lambda d: d[0].range.start.line == 7)

    async def search(words: str) -> list[t.WorkspaceSymbol]:
        return list(await editor.client.workspace_symbol_async(t.WorkspaceSymbolParams(words)))

    (found, *_) = await search("pric")
    assert (found.location.uri, found.location.range.start.line) == (uri, 7)
    (found, *_) = await search("retried")
    if not isinstance(found.location, t.Location):
        found = await editor.client.workspace_symbol_resolve_async(found)
    assert f"edit-{free.id}.md" in found.location.uri
    assert Path(found.location.uri.removeprefix("file://")).is_file()
    assert {s.name for s in await search("")} == {
        "prices may be None",
        "Payments are retried thrice",
    }
    assert await search("unheard-of") == []


# -- gotchas without a place, and files with other names


async def test_triggers(repo, connect):
    """A gotcha with a pattern of code and no place is shown wherever the code is, in its language; a pattern that could hang is left out."""
    repo.gotcha("print is not logging", triggers={"code": r"\bprint\(", "language": "python"})
    repo.gotcha(
        "no bare except", triggers={"query": "(except_clause ) @here", "language": "python"}
    )
    repo.gotcha("hangs", triggers={"code": r"(a+)+$"})
    repo.gotcha("refused", triggers={"code": r"(?=x)("})
    uri = repo.write(
        "b.py", "x = 1\nprint(x)\ntry:\n    pass\nexcept:\n    print(2)\n" + "a" * 5000 + "!\n"
    ).as_uri()
    other = repo.write("b.js", "print(1)\n").as_uri()
    editor = await connect(repo.root)
    editor.open(uri)
    editor.open(other, language="javascript")

    shown = await editor.until(uri, lambda d: len(d) >= 3)
    lines = {(d.range.start.line, d.message) for d in shown}
    assert {
        (1, "print is not logging"),
        (4, "no bare except"),
        (5, "print is not logging"),
    } <= lines
    assert not [message for _, message in lines if message == "refused"]
    assert await editor.titles(other, 0) == []

    editor.edit(uri, (0, 0), (0, 0), "\n")
    await editor.until(uri, lambda d: {2, 5, 6} <= {x.range.start.line for x in d})


async def test_a_renamed_file_keeps_its_gotchas(repo, connect):
    """After git mv and a commit the gotcha is shown in the file's new name, and can be resolved there."""
    repo.write("a.py", "import os\nvalue_of_x = 1\nvalue_of_y = 2\n")
    repo.git("commit", "-qam", "longer")
    record = repo.gotcha("x must stay odd", "a.py:2")
    repo.git("mv", "a.py", "renamed.py")
    repo.git("commit", "-qm", "rename")
    editor = await connect(repo.root)
    uri = repo.uri("renamed.py")
    editor.open(uri)

    (shown,) = await editor.until(uri, bool)
    assert shown.range.start.line == 1
    await editor.execute((await editor.action(uri, 1, "Resolve")).command)
    assert repo.record(record.id).resolved


# -- hostile text


@pytest.mark.parametrize("markdown", [True, False])
async def test_hostile_text_is_harmless_everywhere(repo, connect, markdown):
    """Escapes, directions, HTML and links in a record are letters wherever it is shown, or nothing."""
    record = repo.gotcha(HOSTILE, "a.py:2", workaround=HOSTILE, body=HOSTILE + "\n")
    uri = repo.write("a.md", f"see {record.id}\nmem-\ngot-\n").as_uri()
    caps = capabilities()
    assert caps.text_document and caps.text_document.hover
    if not markdown:
        caps.text_document.hover.content_format = [t.MarkupKind.PlainText]
    editor = await connect(repo.root, caps=caps)
    code = repo.uri("a.py")
    editor.open(code)
    editor.open(uri, language="markdown")
    (diagnostic,) = await editor.until(code, bool)

    texts = [diagnostic.message]
    texts += [
        hover.contents.value
        for hover in (await editor.hover(code, 1), await editor.hover(uri, 0, 8))
        if hover
    ]
    texts += [a.title for a in await editor.actions(code, 1)]
    texts += [
        a.edit.changes[code][0].new_text if a.edit.changes else str(a.edit.document_changes)
        for a in await editor.actions(code, 1)
        if a.edit
    ]
    texts += [title for _, title in await lenses(editor, code)]
    for item in await complete(editor, uri, 2, 4):
        texts += [item.label, item.detail, item.documentation.value, item.filter_text]
    texts += [link.tooltip for link in await links(editor, uri)]
    texts += [
        s.name for s in await editor.client.workspace_symbol_async(t.WorkspaceSymbolParams("red"))
    ]
    texts += [
        (await editor.run("gitmem.report", code))["markdown"],
        (await editor.run("gitmem.timeline", code, {"line": 1}))["markdown"],
    ]
    told = await editor.run("gitmem.show", record.id)
    texts += [
        told["title"],
        told["markdown"],
        *(row["title"] for row in await editor.run("gitmem.list", code)),
    ]

    assert len(texts) > 14
    for text in texts:
        assert not set(text) & set("\x1b\u202e\u2066\x00\x07"), text
    for text in texts[1:2] + [text for text in texts if text.startswith("# ")]:
        if markdown:
            assert "<b>" not in text.replace("\\<b\\>", "").replace("\\<b>", ""), text
            assert "[y](command" not in text, text
