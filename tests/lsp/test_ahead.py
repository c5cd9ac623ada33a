"""Diagnostics made before a file is opened: for which texts they are found, and that an opened file shows what it shows without them."""

import asyncio
import os
from dataclasses import replace
from io import BytesIO

import pytest

from gitmem_lsp.diagnostics.file_notes import FileNotes, NoteFinder
from gitmem_lsp.diagnostics.prefetch import prefetch
from gitmem_lsp.protocol.frames import read_frame
from gitmem_lsp.protocol.positions import split_lines
from gitmem_lsp.settings import DEFAULTS, from_editor
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


async def made(place: DocumentPlace) -> NoteFinder:
    """Return the notes that are at hand once the stores have been read and all is made."""
    notes = NoteFinder()
    await place.repository.run(place.repository.view.refresh)
    await prefetch(notes, place, "utf-16", DEFAULTS)
    return notes


def titles(found: FileNotes | None) -> list[str] | None:
    return None if found is None else sorted(note.row["title"] for note in found.shown)


async def test_at_hand_for_the_very_text_alone(home):
    """The text on the disk has its notes; another text, or the same with other line ends, has none."""
    notes = await made(home)
    found = notes.at_hand(home, TEXT)
    (mark,) = found.marks(home, split_lines(TEXT), "utf-16", DEFAULTS)
    where = mark.diagnostic.range
    assert (mark.diagnostic.message, where.start.line, where.end.character) == (
        "x must stay odd",
        1,
        5,
    )
    assert notes.at_hand(home, TEXT + "\n") is None
    assert notes.at_hand(home, TEXT.replace("\n", "\r\n")) is None
    assert notes.at_hand(replace(home, paths=("b.py",)), TEXT) is None
    assert notes.at_hand(replace(home, gitdir="/elsewhere"), TEXT) is None


async def test_other_settings_have_other_marks(home):
    """Columns and settings are part of what is kept: nobody gets the marks of another."""
    found = (await made(home)).at_hand(home, TEXT)
    lines = split_lines(TEXT)
    silent = from_editor({"marks": False})[0]
    assert len(found.marks(home, lines, "utf-16", DEFAULTS)) == 1
    assert found.marks(home, lines, "utf-16", silent) == []


async def test_dropped_when_the_store_changes(home, repo):
    """After a write nothing is at hand until it is made anew, and then with what was written."""
    notes = await made(home)
    repo.gotcha("x is read by two", "a.py:2")
    await home.repository.run(home.repository.view.refresh)
    assert notes.at_hand(home, TEXT) is None
    await prefetch(notes, home, "utf-16", DEFAULTS)
    assert titles(notes.at_hand(home, TEXT)) == ["x is read by two", "x must stay odd"]


async def test_a_file_that_changed_is_read_again(home, repo):
    """Making it again follows the disk; what was found for another text is not at hand."""
    notes = await made(home)
    repo.write("a.py", TEXT + "y = 2\n")
    await prefetch(notes, home, "utf-16", DEFAULTS)
    assert notes.at_hand(home, TEXT + "y = 2\n") is None
    repo.write("a.py", TEXT)
    await prefetch(notes, home, "utf-16", DEFAULTS)
    assert titles(notes.at_hand(home, TEXT)) == ["x must stay odd"]


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
    notes = await asyncio.wait_for(made(home), 20)
    assert titles(notes.at_hand(home, TEXT)) == ["x must stay odd"]
    for name in ("pipe.py", "link.py", "folder.py", "binary.py", "gone.py"):
        assert notes.at_hand(replace(home, paths=(name,)), TEXT) is None


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
