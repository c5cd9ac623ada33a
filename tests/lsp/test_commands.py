"""The commands that clients call, through a real client: what they change, who is told, what they answer."""

import asyncio
from pathlib import Path

import pytest
from lsprotocol import types as t
from pygls.exceptions import JsonRpcException

from gitmem.repo.location import locate
from gitmem.repo.refs import SHARED
from gitmem.services.records import write
from gitmem_lsp.features import reports
from gitmem_lsp.features.commands import COMMANDS, open_rows
from gitmem_lsp.workspace.repository_view import RepositoryView
from tests.lsp.conftest import capabilities

TEXT = "import os\n\n\nclass Cart:\n    def total(self):\n        return sum(self.prices)\n\n    def clear(self):\n        self.prices = []\n"


@pytest.fixture
async def shown(make_repo, connect):
    """A repository with a gotcha on a line of a method, its id, the editor that shows it, and the document's uri."""
    repo = make_repo(**{"cart.py": TEXT})
    record = repo.gotcha(
        "prices may be None", "cart.py:6", severity="critical", workaround="use `or []`"
    )
    editor = await connect(repo.root, options={"notifyChanges": True})
    uri = repo.uri("cart.py")
    editor.open(uri)
    await editor.until(uri, bool)
    return repo, record.id, editor, uri


def lines(first: int, last: int, column: int = 0) -> dict[str, dict[str, int]]:
    return {"start": {"line": first, "character": 0}, "end": {"line": last, "character": column}}


def trailers(repo) -> list[str]:
    return repo.git("log", "-1", "--format=%(trailers:only,unfold)", SHARED).splitlines()


async def test_resolve_and_reopen(shown):
    """A resolved gotcha goes and can be reopened on its line; both are commits from an editor; the client is told of the change."""
    repo, id, editor, uri = shown

    await editor.execute((await editor.action(uri, 5, "Resolve")).command)
    assert editor.shown(uri) == []
    reopen = await editor.action(uri, 5, "Reopen gotcha: prices may be None")
    answer = await editor.run(reopen.command.command, *reopen.command.arguments)

    assert (answer["id"], answer["resolved"], answer["already"]) == (id, False, False)
    assert [d.range.start.line for d in editor.shown(uri)] == [5]
    assert not repo.record(id).resolved
    assert {"Gitmem-Op: reopen", "Gitmem-Origin: editor"} <= set(trailers(repo))
    assert {"uris": [uri]} in editor.client.changed


async def test_snooze_is_local(shown):
    """A snoozed gotcha is hidden, and nothing is committed; it comes back when it is unsnoozed, and by itself when its time is over."""
    repo, id, editor, uri = shown
    tip = repo.git("rev-parse", SHARED)

    action = await editor.action(uri, 5, "Snooze for 7 days")
    answer = await editor.run(action.command.command, *action.command.arguments)
    assert answer["id"] == id
    assert editor.shown(uri) == []
    # twice on a slow machine, where the server hears of its own write later
    told = len(editor.client.changed)
    assert told and all(one == {"uris": [uri]} for one in editor.client.changed)
    assert (await editor.run("gitmem.status"))["snoozed"] == 1
    assert (await editor.run("gitmem.unsnooze", id)) == {"id": id, "unsnoozed": True}
    await editor.until(uri, bool)
    assert len(editor.client.changed) > told

    await editor.run("gitmem.snooze", id, 0.5 / 86400)
    assert editor.shown(uri) == []
    await editor.until(uri, bool, 5.0)
    assert repo.git("rev-parse", SHARED) == tip


async def test_what_has_no_diagnostic_is_listed_where_it_is_asked_for(repo, connect):
    """Memories, and what is snoozed with the time when that ends."""
    gotcha = repo.gotcha("x must stay odd", "a.py:2")
    decision = repo.memory("x is one", "a.py:1")
    editor = await connect(repo.root)
    uri = repo.uri("a.py")
    editor.open(uri)
    await editor.until(uri, bool)
    await editor.run("gitmem.snooze", gotcha.id, 2)

    assert await editor.run("gitmem.list", uri) == []
    rows = await editor.run("gitmem.list", uri, {"memories": True, "snoozed": True})

    assert [(row["id"], row["kind"], row["type"], row["line"]) for row in rows] == [
        (decision.id, "memory", "decision", 0),
        (gotcha.id, "gotcha", "", 1),
    ]
    assert rows[0]["snoozed_until"] is None
    assert rows[1]["snoozed_until"] > gotcha.created
    await editor.run("gitmem.unsnooze", gotcha.id)
    (row,) = await editor.run("gitmem.list", uri)
    assert row["snoozed_until"] is None


async def test_pin_and_verify(shown):
    """Pinning, unpinning and confirming are commits, and what is offered follows."""
    repo, id, editor, uri = shown

    await editor.run("gitmem.pin", id)
    assert repo.record(id).status == "pinned"
    action = await editor.action(uri, 5, "Unpin", ["refactor"])
    await editor.execute(action.command)
    assert repo.record(id).status == "active"
    answer = await editor.run("gitmem.verify", id)

    assert answer["confirmed"] is True
    confirmed = repo.record(id).fields["confirmed"]
    assert (confirmed["by"], confirmed["commit"]) == ("Ada", repo.git("rev-parse", "HEAD"))
    assert "Gitmem-Origin: editor" in trailers(repo)


async def test_unconfirmed_is_said_until_somebody_confirms(repo, connect):
    """What was captured is marked as unconfirmed, on the line and above the file, can be hidden, and is not once it was confirmed."""
    record = repo.gotcha("boom", "a.py:2", origin="captured")
    editor = await connect(repo.root)
    uri = repo.uri("a.py")
    editor.open(uri)
    assert await editor.titles(uri, 1) == ["boom (unconfirmed)"]
    (lens,) = await editor.client.text_document_code_lens_async(
        t.CodeLensParams(t.TextDocumentIdentifier(uri))
    )
    assert lens.command.title == "1 gotcha · 1 unconfirmed"
    assert (await editor.run("gitmem.status"))["unconfirmed"] == 1

    action = await editor.action(uri, 1, "Confirm: boom")
    await editor.execute(action.command)

    assert await editor.titles(uri, 1) == ["boom"]
    assert not repo.record(record.id).unconfirmed


async def test_reanchor(shown):
    """A gotcha is put at the selection, with the code and the definition there, and is shown there; the other anchors stay."""
    repo, id, editor, uri = shown

    action = next(
        a
        for a in await editor.actions(uri, 5, ["refactor"])
        if a.title.startswith("Re-anchor here")
    )
    assert action.command.arguments[:2] == (id, uri) or list(action.command.arguments[:2]) == [
        id,
        uri,
    ]
    await editor.run("gitmem.reanchor", id, uri, lines(8, 9))

    assert [d.range.start.line for d in editor.shown(uri)] == [8]
    (anchor,) = repo.record(id).anchors
    assert (anchor["lines"], anchor["context"]["lines"]) == ([9, 9], ["        self.prices = []"])
    assert "clear" in str(anchor.get("symbol"))


async def test_record_for_a_selection(shown):
    """A gotcha for a selection is shown at once; its anchor has the code and the symbol; its commit says that an editor made it."""
    repo, _, editor, uri = shown

    answer = await editor.run(
        "gitmem.record",
        uri,
        lines(8, 8, 10),
        "clear keeps the list",
        {"severity": "info", "workaround": "copy it"},
    )

    assert [d.range.start.line for d in editor.shown(uri)] == [5, 8]
    record = repo.record(answer["id"])
    assert (record.title, record.get("severity"), record.get("workaround")) == (
        "clear keeps the list",
        "info",
        "copy it",
    )
    assert record.anchors[0]["lines"] == [9, 9]
    assert "clear" in record.anchors[0]["symbol"]
    assert record.anchors[0]["blob"] == repo.git("rev-parse", "HEAD:cart.py")
    assert {"Gitmem-Op: add", "Gitmem-Origin: editor"} <= set(trailers(repo))


async def test_record_through_a_draft(shown):
    """Without a title a draft opens; saving it as it is shows what is missing in it; with a title it is recorded; closing it cleans up."""
    repo, _, editor, uri = shown
    before = repo.git("status", "--porcelain")

    answer = await editor.run("gitmem.record", uri, lines(8, 8, 4))
    draft = answer["uri"]
    path = Path(draft.removeprefix("file://"))
    assert [d.uri for d in editor.client.shown_documents] == [draft]
    assert path.parent == repo.root / ".git/gitmem/editing"
    text = path.read_text()
    assert '- "cart.py:9"' in text
    editor.open(draft, language="markdown")
    editor.save(draft)
    (problem,) = await editor.until(draft, bool)
    assert (problem.severity, problem.range.start.line) == (
        t.DiagnosticSeverity.Error,
        text.split("\n").index("# "),
    )
    assert "title" in problem.message

    line = text.split("\n").index("# ")
    editor.edit(draft, (line, 2), (line, 2), "clear keeps the list")
    editor.edit(draft, (1, 0), (2, 0), "severity: critical\n")
    editor.save(draft)
    await editor.until(draft, lambda d: d == [])
    await editor.titles(uri, 2)
    made = next(
        row
        for row in await editor.run("gitmem.list", uri)
        if row["title"] == "clear keeps the list"
    )
    assert (made["severity"], made["line"]) == ("critical", 8)
    assert "Gitmem-Origin: editor" in trailers(repo)

    editor.edit(draft, (line, 2), (line, 2), "really: ")
    editor.save(draft)  # from now on it changes the record
    await editor.until(uri, lambda d: any("really: clear keeps" in x.message for x in d))
    editor.close(draft)
    await editor.run("gitmem.status")
    assert len(await editor.run("gitmem.list", uri)) == 2
    assert repo.git("status", "--porcelain") == before


async def test_edit_a_record(shown):
    """A record opens as Markdown, its places as people write them; a broken change is said where it is and nothing is lost; a sound one is committed."""
    repo, id, editor, uri = shown
    before = repo.record(id)

    draft = (await editor.run("gitmem.edit", id))["uri"]
    path = Path(draft.removeprefix("file://"))
    text = path.read_text()
    assert 'places:\n  - "cart.py:6"\n' in text
    editor.open(draft, language="markdown")
    editor.edit(draft, (1, 0), (2, 0), "severity: loud\n")
    editor.save(draft)
    (problem,) = await editor.until(draft, bool)
    assert (problem.range.start.line, "loud" in problem.message) == (1, True)
    assert repo.record(id) == before

    editor.edit(draft, (1, 0), (2, 0), "severity: info\n")
    end = text.count("\n")
    editor.edit(draft, (end, 0), (end, 0), "\nSeen with an **empty** cart.\n")
    editor.save(draft)
    await editor.until(draft, lambda d: d == [])
    (diagnostic,) = await editor.until(
        uri, lambda d: bool(d) and d[0].severity == t.DiagnosticSeverity.Hint
    )

    after = repo.record(id)
    assert (after.get("severity"), after.body.strip()) == ("info", "Seen with an **empty** cart.")
    assert after.anchors == before.anchors
    assert diagnostic.range.start.line == 5
    assert {"Gitmem-Op: edit", "Gitmem-Origin: editor"} <= set(trailers(repo))


async def test_an_edit_meets_a_change_by_somebody_else(shown):
    """What another process changed while a draft was open is merged, not overwritten."""
    repo, id, editor, _ = shown
    draft = (await editor.run("gitmem.edit", id))["uri"]
    editor.open(draft, language="markdown")
    with repo.app() as app:
        record = app.get(id)[1].record
        write.update(app.store(), app.writer(), record, record.change(tags=["cart"]), "edit")

    editor.edit(draft, (1, 0), (2, 0), "severity: info\n")
    editor.save(draft)
    await editor.until(draft, lambda d: d == [])

    after = repo.record(id)
    assert (after.get("severity"), list(after.tags)) == ("info", ["cart"])


async def emptied(folder: Path) -> None:
    while list(folder.glob("*")):
        await asyncio.sleep(0.02)


async def test_drafts_are_cleaned_up_and_never_lost(shown):
    """A draft that was not touched goes when it is closed; one with text that could not be recorded stays, and opens again as it was."""
    _, id, editor, _ = shown
    draft = (await editor.run("gitmem.edit", id))["uri"]
    path = Path(draft.removeprefix("file://"))
    editor.open(draft, language="markdown")
    editor.close(draft)
    await asyncio.wait_for(emptied(path.parent), 10)

    await editor.run("gitmem.edit", id)
    broken = path.read_text().replace("severity: critical", "severity: loud")
    path.write_text(broken)
    editor.open(draft, language="markdown")
    editor.save(draft)
    await editor.until(draft, bool)
    editor.close(draft)
    await editor.run("gitmem.status")
    assert (await editor.run("gitmem.edit", id))["uri"] == draft
    assert path.read_text() == broken


async def test_supersede(shown):
    """A draft that takes a record's place: saving it archives the old one and records the new one in a commit from an editor."""
    repo, id, editor, uri = shown

    draft = (await editor.run("gitmem.supersede", id))["uri"]
    text = Path(draft.removeprefix("file://")).read_text()
    editor.open(draft, language="markdown")
    line = text.split("\n").index("# prices may be None")
    editor.edit(draft, (line, 2), (line + 1, 0), "prices is None until the first sale\n")
    editor.save(draft)

    await editor.until(
        uri,
        lambda d: [x.message for x in d] == ["prices is None until the first sale → use `or []`"],
    )
    assert repo.record(id).status == "archived"
    (row,) = await editor.run("gitmem.list", uri)
    assert list(repo.record(row["id"]).fields["supersedes"]) == [id]
    assert {"Gitmem-Op: supersede", "Gitmem-Origin: editor"} <= set(trailers(repo))


async def test_timeline_of_a_symbol(shown):
    """The page tells what was recorded about the definition under the cursor, and what became of it, and nothing about others."""
    repo, id, editor, uri = shown
    repo.gotcha("clear keeps the list", "cart.py:9")
    await editor.titles(uri, 2)
    await editor.run("gitmem.resolve", id, uri)

    answer = await editor.run("gitmem.timeline", uri, {"line": 4, "character": 8})

    assert answer["title"] == "Cart.total in cart.py"
    text = answer["markdown"]
    assert (
        text.index("resolved by Ada") < text.index("recorded by Ada") < text.index("As it is now")
    )
    assert "prices may be None" in text
    assert "clear keeps" not in text
    assert Path(answer["uri"].removeprefix("file://")).read_text() == text
    assert (
        "clear keeps"
        in (await editor.run("gitmem.timeline", uri, {"line": 0, "character": 0}))["markdown"]
    )


async def test_what_is_told(shown):
    """`show`, `list`, `report` and `status` answer what is so, for open files, closed ones and the repository."""
    repo, id, editor, uri = shown
    repo.gotcha("no docs", "migrations/**")
    repo.write("other.py", "a = 1\nb = 2\n")
    repo.gotcha("b is odd", "other.py:2")
    await editor.until(uri, bool)

    shown_record = await editor.run("gitmem.show", id)
    assert (shown_record["id"], shown_record["title"], shown_record["severity"]) == (
        id,
        "prices may be None",
        "critical",
    )
    (row,) = await editor.run("gitmem.list", uri)
    assert {
        k: row[k]
        for k in (
            "id",
            "short",
            "line",
            "state",
            "severity",
            "unconfirmed",
            "resolved",
            "workaround",
        )
    } == {
        "id": id,
        "short": id[-8:],
        "line": 5,
        "state": "same",
        "severity": "critical",
        "unconfirmed": False,
        "resolved": False,
        "workaround": "use `or []`",
    }
    assert [row["line"] for row in await editor.run("gitmem.list", repo.uri("other.py"))] == [1]
    assert {row["title"] for row in await editor.run("gitmem.list")} == {
        "prices may be None",
        "no docs",
        "b is odd",
    }
    assert "prices may be None" in (await editor.run("gitmem.report", uri))["markdown"]
    assert await editor.run("gitmem.status", uri) == {
        "root": str(repo.root),
        "gotchas": 3,
        "unresolved": 3,
        "unconfirmed": 0,
        "snoozed": 0,
        "marks": True,
        "adrift": 0,
    }


async def test_the_list_of_a_repository(shown):
    """With memories that are about code; what is snoozed only where it is asked for, with its time."""
    repo, id, editor, uri = shown
    decision = repo.memory("carts are lists", "cart.py:4")
    other = repo.gotcha("b is odd", "other.py:2", severity="info")
    await editor.run("gitmem.snooze", id, 2)

    (row,) = await editor.run("gitmem.list", uri, {"all": True})
    assert (row["id"], row["path"], row["line"]) == (other.id, "other.py", 1)
    rows = await editor.run("gitmem.list", uri, {"all": True, "memories": True, "snoozed": True})
    assert [(row["id"], bool(row["snoozed_until"])) for row in rows] == [
        (id, True),
        (other.id, False),
        (decision.id, False),
    ]


@pytest.mark.parametrize("path", ["../../../../../etc/passwd", "/etc/passwd", "out/passwd"])
async def test_a_path_out_of_the_repository_is_in_no_list(shown, path):
    """A record of another person names any path, or a link that leads out: nobody opens it by a click."""
    repo, id, editor, uri = shown
    (repo.root / "out").symlink_to("/etc")
    with repo.app() as app:
        who = app.writer()
        anchors = [{"path": path, "lines": [1, 1]}]
        draft = write.draft(who, "gotcha", "elsewhere", anchors=anchors, severity="info")
        made = write.add(app.store(), who, draft).after

    rows = await editor.run("gitmem.list", uri, {"all": True})
    assert {row["id"]: row["path"] for row in rows} == {id: "cart.py", made.id: ""}
    found = await editor.client.workspace_symbol_async(t.WorkspaceSymbolParams("elsewhere"))
    assert [Path(symbol.location.uri).name for symbol in found] == [f"edit-{made.id}.md"]


def test_memories_about_no_code_take_no_place_in_the_list_of_a_repository(repo, monkeypatch):
    """The list is bounded after they are left out."""
    monkeypatch.setattr(reports, "LISTED", 2)
    for number in range(3):
        repo.memory(f"a rule of before {number}", "")
    about = repo.memory("carts are lists", "cart.py:4")
    for number in range(3):
        repo.memory(f"a rule of after {number}", "")
    view = RepositoryView(locate(str(repo.root), repo.env), repo.env)

    assert [row["id"] for row in open_rows(view, ("gotcha", "memory"))] == [about.id]
    view.close()


async def test_a_client_that_asks_for_errors_gets_them_as_answers(repo, connect):
    """And no message; a question about a foreign document is none: it has an empty answer."""
    editor = await connect(repo.root, options={"answerErrors": True})

    answer = await editor.run("gitmem.show", "got-00000000000000000000000000")
    assert "is in no repository" in answer["error"]
    for foreign in ("file:///nowhere/a.py", "untitled:Untitled-1", repo.uri(".git/COMMIT_EDITMSG")):
        assert not await editor.run("gitmem.list", foreign)
        assert await editor.run("gitmem.code", foreign) is None
    assert editor.messages == []


async def test_wrong_calls(shown):
    """A call with wrong arguments is an error of the protocol, whatever the command; an unknown id is a sentence and the answer null."""
    repo, _, editor, uri = shown
    tip = repo.git("rev-parse", SHARED)

    for name in COMMANDS:
        with pytest.raises(JsonRpcException) as caught:
            await editor.run(name, True, 1, 2, 3, 4, 5)
        assert caught.value.code == -32602
    for call in (
        ("edit",),
        ("pin",),
        ("verify",),
        ("show",),
        ("snooze",),
        ("supersede",),
        ("resolve",),
        ("reopen",),
    ):
        assert await editor.run(f"gitmem.{call[0]}", "got-00000000000000000000000000") is None
    assert len(editor.messages) == 8
    assert await editor.run("gitmem.list", "file:///nowhere/a.py") == []
    assert await editor.run("gitmem.record", "untitled:Untitled-1", lines(0, 0), "t") is None
    assert (
        await editor.run(
            "gitmem.reanchor", "got-00000000000000000000000000", uri, lines(10**6, 10**7)
        )
        is None
    )
    assert repo.git("rev-parse", SHARED) == tip


async def test_a_client_that_cannot_open_documents(repo, connect):
    """It is told where the draft is, and gets pages as text."""
    record = repo.gotcha("x must stay odd", "a.py:2")
    caps = capabilities()
    assert caps.window
    caps.window.show_document = None
    editor = await connect(repo.root, caps=caps)

    assert Path(
        (await editor.run("gitmem.edit", record.id))["uri"].removeprefix("file://")
    ).is_file()
    assert "x must stay odd" in (await editor.run("gitmem.report", repo.uri("a.py")))["markdown"]
    assert editor.client.shown_documents == []
