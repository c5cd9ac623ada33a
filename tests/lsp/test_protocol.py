"""The letter of the protocol: what is answered before `initialize` and after `shutdown`, and to clients that support little."""

from typing import Any

import pytest

from tests.lsp.raw import Raw

NOT_INITIALIZED, INVALID = -32002, -32600


@pytest.fixture
async def raw(env):
    server = await Raw.start(env)
    yield server
    await server.close()


def at(uri: str, line: int = 1, character: int = 0) -> dict[str, Any]:
    return {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}


async def test_nothing_is_served_before_initialize(repo, raw):
    """A request is refused, a document that is opened too early does not exist, and `initialize` works afterwards."""
    repo.gotcha("x must stay odd", "a.py:2")
    uri = repo.uri("a.py")
    raw.open(repo.root / "a.py")
    answer = await raw.ask("textDocument/hover", at(uri))
    assert answer["error"]["code"] == NOT_INITIALIZED
    answer = await raw.ask(
        "workspace/executeCommand", {"command": "gitmem.status", "arguments": []}
    )
    assert answer["error"]["code"] == NOT_INITIALIZED

    await raw.initialize(repo.root)
    raw.open(repo.root / "a.py")
    assert len(await raw.shown(repo.root / "a.py")) == 1


async def test_a_second_initialize_is_refused(repo, raw):
    """It is an error, and what is open stays open: the text goes on to be followed."""
    repo.gotcha("x must stay odd", "a.py:2")
    uri = repo.uri("a.py")
    await raw.initialize(repo.root)
    raw.open(repo.root / "a.py")
    await raw.shown(repo.root / "a.py")

    assert (await raw.ask("initialize", {"processId": None, "rootUri": None, "capabilities": {}}))[
        "error"
    ]["code"] == INVALID

    spot = {"line": 0, "character": 0}
    change = {"range": {"start": spot, "end": spot}, "text": "\n\n"}
    raw.send(
        "textDocument/didChange",
        {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [change]},
    )
    found = await raw.until(
        lambda m: (
            m.get("method") == "textDocument/publishDiagnostics" and m["params"].get("version") == 2
        )
    )
    assert [d["range"]["start"]["line"] for d in found["params"]["diagnostics"]] == [3]


async def test_a_second_initialized_starts_nothing_twice(repo, raw):
    """What is wrong is logged once, however often a client says that it is ready."""
    await raw.initialize(repo.root)
    raw.send("initialized", {})
    raw.open(repo.root / "a.py")
    raw.send("workspace/didChangeConfiguration", {"settings": {"gitmem": {"marks": "many"}}})
    await raw.until(
        lambda m: (
            m.get("method") == "window/logMessage" and "gitmem.marks" in m["params"]["message"]
        )
    )
    await raw.ask("textDocument/hover", at(repo.uri("a.py")))

    said = [m["params"]["message"] for m in raw.messages if m.get("method") == "window/logMessage"]
    assert len(said) == len(set(said))


async def test_requests_after_shutdown_are_refused(repo, raw):
    """They get an error and not silence, which a client would wait for."""
    await raw.initialize(repo.root)
    await raw.ask("shutdown")

    assert (await raw.ask("textDocument/hover", at(repo.uri("a.py"))))["error"]["code"] == INVALID
    assert (await raw.ask("textDocument/hover", {"position": 7}))["error"]["code"] in {
        INVALID,
        -32602,
    }
    raw.send("exit")
    assert await raw.end() == 0


async def test_a_client_with_plain_symbols(repo, raw):
    """One that knows few kinds of symbols gets those that it knows."""
    repo.gotcha("x must stay odd", "a.py:2")
    await raw.initialize(repo.root)
    raw.open(repo.root / "a.py")
    await raw.shown(repo.root / "a.py")

    (found,) = (await raw.ask("workspace/symbol", {"query": "odd"}))["result"]
    assert found["kind"] <= 18


async def test_completion_in_the_format_of_the_client(repo, raw):
    """The documentation of an item is plain text for a client that does not say that it renders Markdown."""
    repo.gotcha("x *must* stay odd", "a.py:2")
    path = repo.write("a.md", "got-")
    await raw.initialize(repo.root)
    raw.send(
        "textDocument/didOpen",
        {
            "textDocument": {
                "uri": path.as_uri(),
                "languageId": "markdown",
                "version": 1,
                "text": "got-",
            }
        },
    )

    (item,) = (await raw.ask("textDocument/completion", at(path.as_uri(), 0, 4)))["result"]["items"]
    assert item["documentation"]["kind"] == "plaintext"
    assert item["documentation"]["value"].startswith("x *must* stay odd")
    told = (await raw.ask("completionItem/resolve", item))["result"]["documentation"]
    assert told["kind"] == "plaintext"
    assert "Gotcha: x *must* stay odd" in told["value"]
