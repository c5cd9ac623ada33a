"""What must hold when things go wrong around the server: kills, several writers, stores that change under it, disks that cannot be written."""

import asyncio
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from lsprotocol import types as t

from gitmem.repo.refs import SHARED
from tests.conftest import read_only
from tests.lsp.conftest import plain
from tests.lsp.raw import SERVER, Raw
from tests.lsp.test_life import mem

PROMPT = '{"hook_event_name": "UserPromptSubmit", "session_id": "s1", "prompt": "what about x"}'


@pytest.fixture
async def serve(env: dict[str, str]) -> AsyncIterator[Callable[..., Any]]:
    """Return a function that starts a server for a client without a library."""
    started: list[Raw] = []

    async def start(command: list[str] | None = None) -> Raw:
        started.append(await Raw.start(env, command=command))
        return started[-1]

    yield start
    for raw in started:
        await raw.close()


def record(uri: str, title: str) -> dict[str, Any]:
    where = {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 1}}
    return {"command": "gitmem.record", "arguments": [uri, where, title]}


async def test_killed_while_it_writes(repo, serve):
    """A server that is killed between two writes, or in one, loses nothing that it has answered; the store is sound, and the next server shows it."""
    server = await serve()
    await server.initialize(repo.root)
    uri = repo.uri("a.py")
    server.open(repo.root / "a.py")
    for number in range(40):
        server.send("workspace/executeCommand", record(uri, f"gotcha {number}"), 1000 + number)
    await server.until(lambda m: m.get("id", 0) >= 1012)

    server.process.send_signal(signal.SIGKILL)
    await server.process.wait()
    answered = {m["result"]["id"] for m in server.messages if m.get("id", 0) >= 1000}

    assert answered  # how many is a matter of luck: answers may overtake one another
    done = subprocess.run(
        [sys.executable, "-m", "gitmem", "doctor"],
        cwd=repo.root,
        env=repo.env,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    after = await serve()
    await after.initialize(repo.root)
    listed = (
        await after.ask("workspace/executeCommand", {"command": "gitmem.list", "arguments": [uri]})
    )["result"]
    assert answered <= {row["id"] for row in listed}
    assert len(listed) <= 40


async def test_two_editors_and_a_hook_at_once(repo, connect):
    """Two editors, the command line and an agent's hook that write at once lose nothing, and both editors end up showing all of it."""
    uri = repo.uri("a.py")
    editors = [await connect(repo.root), await connect(repo.root)]
    for editor in editors:
        editor.open(uri)
    hook = [sys.executable, "-m", "gitmem", "hook", "claude-code"]
    adds = [
        subprocess.Popen(
            [
                sys.executable,
                "-m",
                "gitmem",
                "add",
                "--kind",
                "gotcha",
                f"shell {n}",
                "--anchor",
                "a.py:2",
            ],
            cwd=repo.root,
            env=repo.env,
            stdout=subprocess.DEVNULL,
        )
        for n in range(3)
    ]
    hooks = [
        subprocess.Popen(
            hook,
            cwd=repo.root,
            env=repo.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for _ in range(2)
    ]
    for each in hooks:
        assert each.stdin
        each.stdin.write(PROMPT.encode())
        each.stdin.close()
    calls = [
        editor.client.workspace_execute_command_async(
            t.ExecuteCommandParams(**record(uri, f"editor {e} {n}"))
        )
        for n in range(5)
        for e, editor in enumerate(editors)
    ]
    answers = await asyncio.gather(*calls)
    codes = [process.wait(30) for process in (*adds, *hooks)]

    assert all(answers)
    assert codes[:3] == [0, 0, 0]
    for editor in editors:
        (shown,) = await editor.until(
            uri, lambda d: len(d) == 1 and len(plain(d[0].data)["ids"]) == 13
        )
        assert shown.range.start.line == 1


async def test_a_store_that_changes_under_it(repo, connect):
    """Its index is deleted, its store purged, mended and removed while the server runs: what is shown is what is there, and it goes on."""
    kept = repo.gotcha("x must stay odd", "a.py:2")
    gone = repo.gotcha("hunter2 is the password", "a.py:3")
    editor = await connect(repo.root)
    uri = repo.uri("a.py")
    editor.open(uri)
    await editor.titles(uri, 2)

    for file in (repo.root / ".git/gitmem").glob("index.db*"):
        file.unlink()
    repo.gotcha("third", "a.py:1")
    await editor.titles(uri, 3)
    done = subprocess.run(
        [sys.executable, "-m", "gitmem", "forget", "--purge", "--yes", gone.id],
        cwd=repo.root,
        env=repo.env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1 and "index.db: its old bytes are open in process" in done.stderr
    await editor.until(uri, lambda d: [x.message for x in d] == ["third", "x must stay odd"])
    mem(repo.root, repo.env, "doctor", "--fix")
    await editor.run("gitmem.resolve", kept.id, uri)
    assert [d.message for d in editor.shown(uri)] == ["third"]
    shutil.rmtree(repo.root / ".git/gitmem")
    repo.git("update-ref", "-d", SHARED)
    await editor.until(uri, lambda d: d == [])
    repo.gotcha("anew", "a.py:2")
    assert await editor.titles(uri, 1) == ["anew"]


async def test_a_disk_that_cannot_be_written(repo, env, serve):
    """Everything that reads works, with and without an index; what writes says so; nothing is changed, and the server goes on."""
    repo.write("a.py", "import os\nvalue_of_x = 1\nvalue_of_y = 2\n")
    made = repo.gotcha("x must stay odd", "a.py:2")
    for file in (repo.root / ".git/gitmem").glob("index.db*"):
        file.unlink()
    before = repo.git("for-each-ref")
    server = await serve(read_only(repo.root, SERVER))
    try:
        await server.initialize(repo.root)
        server.open(repo.root / "a.py")
        (shown,) = await server.shown(repo.root / "a.py")
        assert (shown["message"], shown["range"]["start"]["line"]) == ("x must stay odd", 1)
        uri = repo.uri("a.py")
        hover = await server.ask(
            "textDocument/hover",
            {"textDocument": {"uri": uri}, "position": {"line": 1, "character": 0}},
        )
        assert "x must stay odd" in hover["result"]["contents"]["value"]
        report = await server.ask(
            "workspace/executeCommand", {"command": "gitmem.report", "arguments": [uri]}
        )
        assert (report["result"]["uri"], "x must stay odd" in report["result"]["markdown"]) == (
            None,
            True,
        )
        for name, arguments in (
            ("resolve", [made.id, uri]),
            ("edit", [made.id]),
            ("record", record(uri, "t")["arguments"]),
        ):
            answer = await server.ask(
                "workspace/executeCommand", {"command": f"gitmem.{name}", "arguments": arguments}
            )
            assert answer["result"] is None, answer
        said = [
            m["params"]["message"]
            for m in server.messages
            if m.get("method") == "window/showMessage" and m["params"]["type"] == 1
        ]
        assert len(said) == 3
        assert (
            await server.ask(
                "workspace/executeCommand", {"command": "gitmem.status", "arguments": [uri]}
            )
        )["result"]["unresolved"] == 1
    finally:
        await server.close()
        subprocess.run(["chmod", "-R", "u+w", str(repo.root)], check=True)
    assert repo.git("for-each-ref") == before


# -- documents of all kinds


async def test_several_roots_and_linked_worktrees(make_repo, tmp_path, connect):
    """Each document has the gotchas of its own repository; a linked work tree those of the repository that it belongs to, by its own paths."""
    one, two = make_repo("one"), make_repo("two")
    one.gotcha("of one", "a.py:2")
    two.gotcha("of two", "a.py:3")
    linked = tmp_path / "linked"
    one.git("worktree", "add", "-q", str(linked), "-b", "side")
    editor = await connect(one.root, two.root, linked)
    uris = [one.uri("a.py"), two.uri("a.py"), (linked / "a.py").as_uri()]
    for uri in uris:
        editor.open(uri)

    assert [(await editor.titles(uri, 1))[0] for uri in uris] == ["of one", "of two", "of one"]
    answer = await editor.run(
        "gitmem.record",
        uris[2],
        {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}},
        "in the side tree",
    )
    await editor.titles(uris[0], 2)
    assert one.record(answer["id"]).anchors[0]["path"] == "a.py"
    status = await editor.run("gitmem.status", uris[2])
    assert (status["root"], status["unresolved"]) == (str(linked), 2)


async def test_documents_that_are_no_files_of_a_repository(repo, tmp_path, connect):
    """Unsaved, virtual and foreign documents, and those of the git dir, are met with silence by every feature."""
    repo.gotcha("x must stay odd", "a.py:2")
    foreign = tmp_path / "outside" / "a.py"
    foreign.parent.mkdir()
    foreign.write_text("x = 1\n")
    editor = await connect(repo.root)
    usual = repo.uri("a.py")
    uris = [
        "untitled:Untitled-1",
        f"git:{repo.root}/a.py?%7B%22ref%22%3A%22HEAD%22%7D",
        f"vscode-notebook-cell:{repo.root}/n.ipynb#W0",
        foreign.as_uri(),
        (repo.root / ".git" / "config").as_uri(),
        "file://host/share/a.py",
        "file:///",
        "nonsense",
        "",
    ]
    for uri in uris:
        editor.open(uri, text="x = 1\ny = 2\n")
        editor.edit(uri, (0, 0), (0, 0), "# more\n")
        editor.save(uri)
        assert await editor.hover(uri, 0) is None
        assert await editor.actions(uri, 0) == []
        document = t.TextDocumentIdentifier(uri)
        assert not await editor.client.text_document_code_lens_async(t.CodeLensParams(document))
        assert not await editor.client.text_document_document_link_async(
            t.DocumentLinkParams(document)
        )
    editor.open(usual)
    await editor.titles(usual, 1)

    assert [uri for uri in uris if editor.shown(uri)] == []
    for uri in uris:
        editor.close(uri)


@pytest.mark.parametrize(
    "name",
    [
        "with space.py",
        "emoji 😋 é.py",
        "per%20cent%.py",
        "hash#?.py",
        "new\nline.py",
        "deep/er/~$x;&.py",
    ],
)
async def test_names_of_files(repo, connect, name):
    """A file may have any name."""
    repo.write(name, "import os\nvalue_of_x = 1\nvalue_of_y = 2\n")
    with repo.app() as app:
        from gitmem.services.records import write

        write.add(
            app.store(),
            app.writer(),
            write.draft(app.writer(), "gotcha", "odd name", anchors=[{"path": name}]),
        )
    editor = await connect(repo.root)
    uri = repo.uri(name)
    editor.open(uri, text=(repo.root / name).read_text())
    assert await editor.titles(uri, 1) == ["odd name"]

    answer = await editor.run(
        "gitmem.record",
        uri,
        {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 4}},
        "about x",
    )

    assert await editor.titles(uri, 2) == ["odd name", "about x"]
    assert repo.record(answer["id"]).anchors[0]["path"] == name
    assert len(await editor.run("gitmem.list", uri)) == 2


async def test_large_and_binary_files(repo, connect):
    """A file of 50,000 lines is followed; a larger one, and one that is binary, are left alone without a word."""
    many = "".join(f"value_{n} = compute({n})\n" for n in range(49_990))
    repo.write("big.py", many)
    repo.write("huge.py", many + many)
    repo.write("data.bin", "a\x00b\nc\n")
    for name in ("big.py:49000", "huge.py:49000", "data.bin:2"):
        repo.gotcha(f"in {name}", name)
    editor = await connect(repo.root)
    big, huge, data = (repo.uri(name) for name in ("big.py", "huge.py", "data.bin"))
    for uri in (huge, data, big):
        editor.open(uri)
    (shown,) = await editor.until(big, bool, 30.0)
    assert shown.range.start.line == 48_999

    editor.edit(big, (10, 0), (10, 0), "# a line more\n")
    (shown,) = await editor.until(big, lambda d: bool(d) and d[0].range.start.line == 49_000, 30.0)
    assert not editor.shown(huge)
    assert not editor.shown(data)


async def test_a_feature_that_crashes(repo, serve, tmp_path):
    """A crash in one feature is logged, answered with nothing, and the others go on."""
    program = (
        "import sys\nfrom gitmem_lsp.features import hover, handlers as features\ndef crash(*_): raise RuntimeError('crashed on purpose')\n"
        "features.make_hover = crash\nfrom gitmem_lsp.__main__ import main\nsys.exit(main([]))\n"
    )
    repo.gotcha("x must stay odd", "a.py:2")
    server = await serve([sys.executable, "-c", program])
    await server.initialize(repo.root)
    server.open(repo.root / "a.py")
    await server.shown(repo.root / "a.py")

    answer = await server.ask(
        "textDocument/hover",
        {"textDocument": {"uri": repo.uri("a.py")}, "position": {"line": 1, "character": 0}},
    )
    assert (answer["result"], "error" in answer) == (None, False)
    logged = await server.until(
        lambda m: (
            m.get("method") == "window/logMessage"
            and "crashed on purpose" in m["params"]["message"]
        )
    )
    assert logged["params"]["type"] == 1
    lenses = await server.ask("textDocument/codeLens", {"textDocument": {"uri": repo.uri("a.py")}})
    assert len(lenses["result"]) == 1


async def test_progress_of_the_first_index(repo, serve):
    """A client that shows progress sees that of a large store without an index.

    It begins once and ends.
    """
    from tests.benchmarks.common import fill, records

    with repo.app() as app:
        fill(app.store(), list(records(3000)))
    # a writer with time left has begun the index
    for path in (repo.root / ".git" / "gitmem").glob("index.db*"):
        path.unlink()
    server = await serve()
    await server.initialize(repo.root, window={"workDoneProgress": True})
    created = await server.until(lambda m: m.get("method") == "window/workDoneProgress/create")
    server.send_bytes(
        b'{"jsonrpc": "2.0", "id": "%s", "result": null}' % str(created["id"]).encode()
    )
    await server.until(
        lambda m: m.get("method") == "$/progress" and m["params"]["value"]["kind"] == "end"
    )

    kinds = [
        m["params"]["value"]["kind"] for m in server.messages if m.get("method") == "$/progress"
    ]
    assert (kinds[0], kinds[-1], kinds.count("begin"), kinds.count("end")) == ("begin", "end", 1, 1)
    assert sum(m.get("method") == "window/workDoneProgress/create" for m in server.messages) == 1
