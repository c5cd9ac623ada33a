"""Who waits for what is shown."""

import asyncio
from types import SimpleNamespace

from gitmem_lsp.background import Background
from gitmem_lsp.diagnostics.file_notes import FileNotes
from gitmem_lsp.diagnostics.open_documents import Opened
from gitmem_lsp.diagnostics.publisher import Publisher


async def test_what_is_begun_anew_is_waited_for(monkeypatch):
    """A command is answered when its change is shown, also where the watcher saw the change meanwhile and looks at the document once more."""
    publisher = Publisher(
        SimpleNamespace(
            workspace_lines=SimpleNamespace(opened=lambda uri: object()), leaving=False
        ),
        SimpleNamespace(),
        Background(),
    )
    repository, shown = object(), []
    publisher._documents["file:///a.py"] = Opened(
        "file:///a.py", SimpleNamespace(repository=repository)
    )
    begun = []

    async def update(state, delay):
        begun.append(delay)
        await asyncio.sleep(0.05)
        shown.append(len(begun))

    monkeypatch.setattr(publisher, "_update", update)
    waiting = asyncio.ensure_future(publisher.reload(repository))
    await asyncio.sleep(0.01)
    publisher.touch("file:///a.py")
    await waiting
    publisher.close()

    assert shown == [2]


async def test_what_was_asked_of_an_older_look_is_not_shown():
    """A newer look at the same text stays."""
    document, go_on = SimpleNamespace(version=1, snapshot=lambda: ("x\n",)), asyncio.Event()
    client = SimpleNamespace(workspace_lines=SimpleNamespace(opened=lambda uri: document))
    publisher = Publisher(client, SimpleNamespace(), Background())

    async def with_asides(place, found, lines):
        await go_on.wait()
        return FileNotes(asides=())

    publisher.notes = SimpleNamespace(with_asides=with_asides)
    state = Opened("file:///a.py", SimpleNamespace(repository=object()), FileNotes())
    asked = asyncio.ensure_future(publisher.with_asides(state, document))
    await asyncio.sleep(0)
    state.file_notes = newer = FileNotes()
    go_on.set()
    await asked
    publisher.close()

    assert state.file_notes is newer
