"""Text that others wrote does nothing but stand there: in the log, in a draft's trouble, in commands' answers, in comments in code."""

import re

import pytest

from gitmem_lsp.features.comment_edits import comment, syntax_of
from gitmem_lsp.protocol.safe_text import inline, multiline, plain
from tests.lsp.raw import Raw

INVISIBLE = "\u00ad\u034f\u115f\u1160\u17b4\u180e\u200b\u202e\u2060\u2066\u206a\u206f\u3164\ufeff\uffa0\ufff9\ud83d\U000e0041\U000e0101"


@pytest.fixture
async def raw(env):
    server = await Raw.start(env)
    yield server
    await server.close()


@pytest.mark.parametrize("char", INVISIBLE)
def test_nothing_invisible_is_left(char):
    """Letters that cannot be seen, and halves of letters that break a client's JSON, are in no text for people."""
    for said in (plain(f"a{char}b"), multiline(f"a{char}b"), inline(f"a{char}b")):
        assert char not in said
    assert plain("👩\u200d👧 ❤\ufe0f نمی\u200cخواهم") == "👩\u200d👧 ❤\ufe0f نمی\u200cخواهم"


@pytest.mark.parametrize(
    ("language", "title"),
    [
        ("c", "never ends with a \\"),
        ("makefile", "nor here \\"),
        ("c", "nor with ??/"),
        ("php", "close ?> the code"),
        ("python", "coding: rot13"),
        ("python", "-*- coding=utf-7 -*-"),
        ("ruby", "vim: set fdm=expr fde=system('x'):"),
        ("javascript", "</script><b>"),
        ("bat", "caret ^"),
    ],
)
def test_a_comment_is_nothing_but_a_comment(language, title):
    """A title that a compiler, an interpreter or an editor would take for more is told by the id alone."""
    syntax = syntax_of(language, "")
    assert syntax
    assert comment(title, "got-1", syntax) == f"{syntax[0]}gotcha got-1{syntax[1]}"


def test_a_page_sets_no_editor():
    """A modeline in a title is none in the page that shows it."""
    assert not re.search(r"\b(vim?|ex):", inline("x vim: set modifiable: y ex: z vi: a"))


async def test_what_is_logged(repo, raw):
    """An error that names what others wrote is one clean line in the editor's log."""
    await raw.initialize(repo.root)
    raw.send(
        "workspace/didChangeConfiguration",
        {"settings": {"gitmem": {"marks": "loud\x1b[31m\u202e\x07\n"}}},
    )
    found = await raw.until(
        lambda m: m.get("method") == "window/logMessage" and "loud" in m["params"]["message"]
    )
    assert not set(found["params"]["message"]) & set("\x1b\u202e\x07\n")


async def test_what_is_wrong_with_a_draft(repo, connect):
    """The trouble that a draft's own text makes is told without its escapes."""
    record = repo.gotcha("x must stay odd", "a.py:2")
    editor = await connect(repo.root)
    uri = (await editor.run("gitmem.edit", record.id))["uri"]
    editor.open(uri, language="markdown")
    lines = editor.buffers[uri].source.split("\n")
    row = next(n for n, line in enumerate(lines) if "a.py:2" in line)
    editor.edit(uri, (row, 0), (row + 1, 0), '  - "gone\\u202e\\u001b[31m.py:3"\n')
    editor.save(uri)

    (found,) = await editor.until(uri, bool)
    assert "gone" in found.message
    assert not set(found.message) & set("\u202e\x1b")


async def test_what_commands_answer(repo, connect):
    """Every text of a record is clean in what `show` and `list` answer."""
    hostile = "a\x1b[31mb\u202ec\ufeffd\x07"
    record = repo.gotcha(hostile, "a.py:2", workaround=hostile, tags=[hostile], body=hostile + "\n")
    editor = await connect(repo.root)
    uri = repo.uri("a.py")
    editor.open(uri)
    await editor.until(uri, bool)

    for answer in (
        await editor.run("gitmem.show", record.id),
        await editor.run("gitmem.list", uri),
        await editor.run("gitmem.list"),
    ):
        assert answer
        assert not set(str(answer)) & set("\x1b\u202e\ufeff\x07")
        assert "\\x1b" not in repr(answer)


async def test_half_a_letter_in_a_document(repo, connect):
    """A client that sends half of a pair of surrogates keeps its marks, those of triggers too."""
    repo.gotcha("x must stay odd", "a.py:2")
    repo.gotcha("no wildcards", triggers={"code": "import \\*", "language": "python"})
    editor = await connect(repo.root)
    uri = repo.uri("a.py")
    text = "import os\nx = 1\ny = '\ud83d'\nfrom os import *\n"
    editor.open(uri, text)

    found = await editor.until(uri, lambda d: len(d) == 2)
    assert sorted(d.range.start.line for d in found) == [1, 3]
