"""Diagnostics made before a file is opened: for which texts they are found, and that an opened file shows what it shows without them."""

import asyncio
import os
from dataclasses import replace
from io import BytesIO

import pytest

from gitmem_lsp.diagnostics.prefetch import Ahead
from gitmem_lsp.protocol.frames import read_frame
from gitmem_lsp.settings import DEFAULTS
from gitmem_lsp.workspace.repositories import DocumentPlace, Repositories

TEXT = "import os\nx = 1\n"


@pytest.fixture
async def home(repo):
    """The place of a file that has a gotcha, in a repository whose files are known ahead."""
    repo.write("a.py", TEXT)
    repo.gotcha("x must stay odd", "a.py:2")
    repositories = Repositories(repo.env)
    found = repositories.locate(str(repo.root / "a.py"))
    place = repositories.place(found)
    yield place
    repositories.close(5)


async def made(place: DocumentPlace, encoding: str = "utf-16") -> Ahead:
    """Return what is ready once the stores have been read and all is made."""
    ahead = Ahead()
    await refreshed(place)
    await ahead.prepare(place, encoding, DEFAULTS)
    return ahead


async def refreshed(place: DocumentPlace) -> None:
    await place.repository.run(place.repository.view.warm)
    await place.repository.run(place.repository.view.look_ahead)


def titles(found: list | None) -> list[str] | None:
    return None if found is None else [one["message"] for one in found]


async def test_found_for_the_very_text_alone(home):
    """The text on the disk has its diagnostics; another text, the same with other line ends, other settings or columns have none."""
    ahead = await made(home)
    (only,) = ahead.find(home, "utf-16", DEFAULTS, TEXT)
    assert (only["message"], only["range"]["start"], only["range"]["end"]) == (
        "x must stay odd",
        {"line": 1, "character": 0},
        {"line": 1, "character": 5},
    )
    assert ahead.find(home, "utf-16", DEFAULTS, TEXT + "\n") is None
    assert ahead.find(home, "utf-16", DEFAULTS, TEXT.replace("\n", "\r\n")) is None
    assert ahead.find(home, "utf-8", DEFAULTS, TEXT) is None
    assert ahead.find(home, "utf-16", replace(DEFAULTS, max_per_file=1), TEXT) is None
    assert ahead.find(replace(home, paths=("b.py",)), "utf-16", DEFAULTS, TEXT) is None
    assert ahead.find(replace(home, worktree="/elsewhere"), "utf-16", DEFAULTS, TEXT) is None


async def test_dropped_when_the_store_changes(home, repo):
    """After a write nothing is found until it is made anew, and then with what was written."""
    ahead = await made(home)
    repo.gotcha("x is read by two", "a.py:2")
    await refreshed(home)
    assert ahead.find(home, "utf-16", DEFAULTS, TEXT) is None
    await ahead.prepare(home, "utf-16", DEFAULTS)
    ((message),) = titles(ahead.find(home, "utf-16", DEFAULTS, TEXT))
    assert "x must stay odd" in message
    assert "x is read by two" in message


async def test_a_file_that_changed_is_read_again(home, repo):
    """Making it again follows the disk: what was edited has nothing ready, what was put back has."""
    ahead = await made(home)
    repo.write("a.py", TEXT + "y = 2\n")
    await ahead.prepare(home, "utf-16", DEFAULTS)
    assert ahead.find(home, "utf-16", DEFAULTS, TEXT) is None
    repo.write("a.py", TEXT)
    await ahead.prepare(home, "utf-16", DEFAULTS)
    assert titles(ahead.find(home, "utf-16", DEFAULTS, TEXT)) == ["x must stay odd"]


async def test_what_is_no_text_is_passed_over(home, repo):
    """A pipe, a link, a folder, a binary file or none at all in the place of a file do not keep the others from being made."""
    for name in ("pipe.py", "link.py", "folder.py", "binary.py", "gone.py"):
        repo.write(name, TEXT)
        repo.gotcha(f"about {name}", f"{name}:2")
        (repo.root / name).unlink()
    os.mkfifo(repo.root / "pipe.py")
    (repo.root / "link.py").symlink_to("a.py")
    (repo.root / "folder.py").mkdir()
    (repo.root / "binary.py").write_bytes(b"\xff\x00")
    ahead = await asyncio.wait_for(made(home), 20)
    assert titles(ahead.find(home, "utf-16", DEFAULTS, TEXT)) == ["x must stay odd"]
    for name in ("pipe.py", "link.py", "folder.py", "binary.py", "gone.py"):
        assert ahead.find(replace(home, paths=(name,)), "utf-16", DEFAULTS, TEXT) is None


async def test_an_opened_file_is_told_once_and_known_at_once(repo, connect):
    """A file opened after a rest is published once; the hover that is asked for in the same breath knows the gotcha."""
    repo.write("a.py", TEXT)
    repo.gotcha("x must stay odd", "a.py:2")
    repo.write("b.py", TEXT)
    repo.gotcha("this x is another", "b.py:2")
    editor = await connect(repo.root)
    first, second = repo.uri("a.py"), repo.uri("b.py")
    editor.open(first)
    await editor.titles(first, 1)
    await asyncio.sleep(1)  # a rest, in which the other file is made ready
    editor.open(second)
    hover = await editor.hover(second, 1)
    assert "this x is another" in hover.contents.value
    assert await editor.titles(second, 1) == ["this x is another"]
    await asyncio.sleep(0.5)
    assert len([params for params in editor.published if params.uri == second]) == 1


def test_frames():
    """One message after the other, whatever is between them; one that is cut short comes as it is, and then the end."""
    body = '{"a": "é"}'.encode()
    frame = (
        b"Content-Length: %d\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n%s"
        % (len(body), body)
    )
    stream = BytesIO(frame + b"noise\r\n\r\n" + frame.lower() + b"content-length:4\r\n\r\nabc")
    assert [read_frame(stream) for _ in range(4)] == [body, body, b"abc", None]
