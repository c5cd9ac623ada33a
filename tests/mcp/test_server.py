"""The server as a process: which repository it serves, what it writes, how it fails and ends."""

import shutil
import signal
import sys
from pathlib import Path

import anyio
import pytest

from tests.conftest import git
from tests.hooks.conftest import run
from tests.json_output import data_of
from tests.mcp.conftest import START, Lines, connected, make_shop

MODES = ("auto", "legacy")
SEARCH = {"name": "search", "arguments": {"query": "payments"}}
NO_REPOSITORY = "no git repository is at"
# a tool that prints, by itself and by a child, and then fails in a way that nobody foresaw
FAILING = """
import os, sys
from gitmem.mcp import answers

def search(app, arguments):
    print("stray")
    os.system("echo stray child")
    raise RuntimeError("nobody foresaw this")

answers.search = search
from gitmem.__main__ import main
sys.argv = ["git-mem", "mcp"]
main()
"""


@pytest.mark.parametrize("mode", MODES)
async def test_the_clients_roots_name_the_repository(shop: Path, tmp_path: Path, mode: str) -> None:
    """The first root in a repository is served, wherever the server was started."""
    run(shop, "add", "Payments use SERIALIZABLE")
    other = make_shop(tmp_path / "other")
    (tmp_path / "plain folder").mkdir()
    roots = [tmp_path / "plain folder", shop]
    async with connected(other, roots=roots, mode=mode) as caller:
        found = await caller.call("search", query="payments")

    assert "Payments use SERIALIZABLE" in found


@pytest.mark.parametrize("mode", MODES)
async def test_roots_outside_of_any_repository(shop: Path, tmp_path: Path, mode: str) -> None:
    """A client that works elsewhere is not given the memory of the current folder."""
    run(shop, "add", "Payments use SERIALIZABLE")
    (tmp_path / "plain").mkdir()
    async with connected(shop, roots=[tmp_path / "plain"], mode=mode) as caller:
        said = await caller.refused("search", query="payments")

    assert NO_REPOSITORY in said
    assert "--repo DIR" in said


ODD = ("vscode-remote://ssh/srv/shop", "https://example.org/", "file://[", "file://elsewhere/x", "")


@pytest.mark.filterwarnings("ignore:Pydantic serializer")
@pytest.mark.parametrize("mode", MODES)
async def test_a_root_that_is_no_folder_hides_no_other(
    shop: Path, tmp_path: Path, mode: str
) -> None:
    """Remote folders, addresses, folders that are gone: the next root counts."""
    run(shop, "add", "Payments use SERIALIZABLE")
    (tmp_path / "plain").mkdir()
    roots = [*ODD, tmp_path / "gone", shop]
    async with connected(tmp_path / "plain", roots=roots, mode=mode) as caller:
        assert "Payments" in await caller.call("search", query="payments")


@pytest.mark.filterwarnings("ignore:Pydantic serializer")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("is_gone", [True, False])
async def test_roots_that_are_elsewhere(
    shop: Path, tmp_path: Path, mode: str, *, is_gone: bool
) -> None:
    """A client that names roots is not given the memory of the current folder."""
    run(shop, "add", "Payments use SERIALIZABLE")
    roots = [tmp_path / "gone"] if is_gone else ODD
    async with connected(shop, roots=roots, mode=mode) as caller:
        said = await caller.refused("search", query="payments")

    assert "--repo DIR" in said
    assert "-C" not in said


def test_a_client_that_fails_to_name_its_roots(shop: Path) -> None:
    """It said that it has some: the current folder is not served in their place."""
    run(shop, "add", "Payments use SERIALIZABLE")
    for answer in ({"error": {"code": -1, "message": "no"}}, {"result": {"roots": "x"}}):
        with Lines(shop, capabilities={"roots": {}}) as server:
            server.send({"id": 9, "method": "tools/call", "params": SEARCH})
            asked = server.read()
            assert asked["method"] == "roots/list"
            server.send({"id": asked["id"], **answer})
            result = server.read()["result"]

        assert result["isError"]
        assert "--repo DIR" in result["content"][0]["text"]


def test_a_folder_that_is_deleted_while_it_is_served(shop: Path, tmp_path: Path) -> None:
    """The current folder of the server, or the repository that it was given."""
    for options in ((), ("--repo", ".")):
        folder = make_shop(tmp_path / f"other{len(options)}")
        with Lines(folder, sys.executable, *START, *options) as server:
            shutil.rmtree(folder)
            answer = server.request("tools/call", **SEARCH)["result"]
            text = answer["content"][0]["text"]

        assert answer["isError"]
        assert "--repo DIR" in text
        assert "-C" not in text


async def test_without_roots_the_current_folder_counts(shop: Path) -> None:
    """Also where the client can name roots and has none."""
    run(shop, "add", "Payments use SERIALIZABLE")
    for roots in (None, []):
        async with connected(shop / "app", roots=roots) as caller:
            assert "Payments" in await caller.call("search", query="payments")


async def test_the_option_counts_before_the_roots(shop: Path, tmp_path: Path) -> None:
    """A path from the current folder is meant from there."""
    run(shop, "add", "Payments use SERIALIZABLE")
    other = make_shop(tmp_path / "other")
    async with connected(tmp_path, "--repo", "shop", roots=[other]) as caller:
        assert "Payments" in await caller.call("search", query="payments")


async def test_no_repository(tmp_path: Path) -> None:
    """The server runs; each tool says that there is no repository, and how to name one."""
    async with connected(tmp_path) as caller:
        for tool, arguments in (("search", {"query": "x"}), ("remember", {"title": "x"})):
            said = await caller.refused(tool, **arguments)
            assert NO_REPOSITORY in said
            assert "--repo DIR" in said


async def test_a_bare_repository(shop: Path, tmp_path: Path) -> None:
    """Memory and code are read from its commits."""
    bare = tmp_path / "bare.git"
    git(tmp_path, "clone", "-q", "--bare", str(shop), str(bare))
    async with connected(bare) as caller:
        await caller.call("remember", title="Totals are Decimal", places=["app/pay.py:1"])
        found = await caller.call("context", file="app/pay.py")
        why = await caller.call("why", place="app/pay.py")
        scout = await caller.call("scout", task="fix app/pay.py")

    assert "Totals are Decimal" in found
    assert "Let customers pay" in why
    assert "app/pay.py" in scout


async def test_variables_of_another_agent(shop: Path) -> None:
    """What is written has the name of the client, not of the program that started the server."""
    async with connected(shop, name="some-editor", env={"CLAUDECODE": "1"}) as caller:
        await caller.call("remember", title="Totals are Decimal")
    (row,) = data_of(run(shop, "list", "--json"))
    record = data_of(run(shop, "show", row["id"], "--json"))[0]

    assert record["sources"][0]["program"] == "some-editor"


async def test_each_call_sees_what_others_wrote(shop: Path) -> None:
    """A record, and a setting, that change while the server runs."""
    async with connected(shop) as caller:
        before = await caller.call("search", query="payments")
        run(shop, "add", "Payments use SERIALIZABLE")
        after = await caller.call("search", query="payments")
        git(shop, "config", "gitmem.share", "people")
        await caller.call("remember", title="Totals are Decimal")
    (row,) = data_of(run(shop, "list", "--private", "--json"))

    assert "Payments" not in before
    assert "Payments" in after
    assert row["title"] == "Totals are Decimal"


async def test_two_servers_on_one_store(shop: Path) -> None:
    """Both write at once; nothing is lost, and each finds what the other wrote."""
    async with connected(shop, name="one") as one, connected(shop, name="two") as two:

        async def write(caller, who: str) -> None:
            for n in range(8):
                await caller.call("remember", title=f"Fact {n} that {who} learned")

        async with anyio.create_task_group() as group:
            group.start_soon(write, one, "one")
            group.start_soon(write, two, "two")
        found = await one.call("search", query="two learned", limit=20)
    titles = {row["title"] for row in data_of(run(shop, "list", "--json"))}

    assert titles == {f"Fact {n} that {who} learned" for n in range(8) for who in ("one", "two")}
    assert "that two learned" in found


async def test_calls_at_once(shop: Path) -> None:
    """One client may send several calls before the first is answered."""
    run(shop, "add", "Payments use SERIALIZABLE")
    answers: list[str] = []
    async with connected(shop) as caller:

        async def search() -> None:
            answers.append(await caller.call("search", query="payments"))

        async with anyio.create_task_group() as group:
            for _ in range(10):
                group.start_soon(search)

    assert len(answers) == 10
    assert all("Payments" in answer for answer in answers)


def test_only_messages_on_stdout(shop: Path) -> None:
    """What a tool and its children print goes to standard error, also at the end of the process."""
    with Lines(shop, sys.executable, "-P", "-c", FAILING) as server:
        answer = server.request("tools/call", name="search", arguments={"query": "x"})
        rest, errors, _ = server.end()
    text = answer["result"]["content"][0]["text"]

    assert answer["result"]["isError"]
    assert "fault of git mem itself" in text
    assert "nobody foresaw this" in text
    assert "Traceback" not in text
    assert rest == []
    assert "stray\n" in errors
    assert "stray child" in errors


def test_what_is_no_message_ends_nothing(lines: Lines) -> None:
    """A line that is no JSON, and a method that is not there, leave the server at work."""
    assert lines.process.stdin is not None
    lines.process.stdin.write("this is no message\n")
    lines.process.stdin.flush()
    answer = lines.request("no/such/method")
    tools = lines.request("tools/list")

    assert "error" in answer
    assert len(tools["result"]["tools"]) == 7


def test_the_end_of_its_input_is_its_end(lines: Lines) -> None:
    """It ends well, and has nothing more to say."""
    assert lines.end() == ([], "", 0)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_it(lines: Lines, number: signal.Signals) -> None:
    """Also while its input is open; without a traceback."""
    lines.process.send_signal(number)
    lines.process.wait(timeout=30)
    assert lines.process.stderr is not None

    assert "Traceback" not in lines.process.stderr.read()


def test_a_store_that_cannot_be_written(shop: Path) -> None:
    """What the disk refuses is an error of the tool."""
    run(shop, "add", "Payments use SERIALIZABLE")
    refs = shop / ".git/refs/gitmem"
    lock = refs / "heads/main.lock"
    lock.touch()
    with Lines(shop) as server:
        answer = server.request("tools/call", name="remember", arguments={"title": "Totals"})
        found = server.request("tools/call", name="search", arguments={"query": "payments"})
    text = answer["result"]["content"][0]["text"]

    assert "Traceback" not in text
    assert answer["result"]["isError"] or "journal" in text
    assert "Payments" in found["result"]["content"][0]["text"]
