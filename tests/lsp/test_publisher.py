"""Who waits for what is shown."""

import asyncio
from types import SimpleNamespace

from gitmem_lsp.background import Background
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
