"""What a hover tells, through a real client."""

import re

from lsprotocol import types as t

from gitmem.services.records import write
from tests.lsp.conftest import capabilities

HOSTILE = {
    "title": "\x1b[31mred\x1b[0m \u202edesrever <img src=x onerror=alert(1)> [click](https://evil.example) **bold",
    "body": (
        "![track](https://evil.example/pixel.png)\n\n<script>alert(1)</script>\n\n[a]: https://evil.example\n\n<https://evil.example>\n\n"
        "www.evil.example\n\n\u2066hidden\u2069\x07\n\n```\n```` <b>still code</b>\n```\n\n# Heading <b>\n\n---\n\n| a | b |\n| - | - |\n| c | d |\n"
    ),
    "workaround": "[run me](command:workbench.action.terminal.new)\n\nsee https://evil.example",
}
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def value(hover: t.Hover | None) -> str:
    assert hover is not None
    assert isinstance(hover.contents, t.MarkupContent)
    return hover.contents.value


async def test_the_whole_record_is_told(repo, connect):
    """Title, facts, body, workaround and id as Markdown, on the gotcha's line and no other; an edit elsewhere is seen by the next hover."""
    record = repo.gotcha(
        "x must stay odd",
        "a.py:2",
        body="Because `y`:\n\n- one\n- two",
        workaround="Add one.",
        severity="critical",
        category="runtime",
        origin="captured",
        occurrences=3,
    )
    editor = await connect(repo.root)
    uri = repo.uri("a.py")
    editor.open(uri)
    await editor.until(uri, bool)

    told = await editor.hover(uri, 1, 3)

    assert value(told).split("\n\n") == [
        "**Gotcha** x must stay odd",
        "critical · runtime · captured, unconfirmed  \nRecorded just now by Ada · happened 3 times",
        "Because `y`:",
        "- one\n- two",
        "**Workaround**",
        "Add one.",
        f"`{record.id}`",
    ]
    assert told.contents.kind == t.MarkupKind.Markdown
    assert told.range == t.Range(t.Position(1, 0), t.Position(1, 5))
    assert await editor.hover(uri, 0) is None
    assert await editor.hover(uri, 99, 99) is None

    with repo.app() as app:
        write.update(
            app.store(), app.writer(), record, record.change(body="Another reason."), "edit"
        )
    assert "Another reason." in value(await editor.hover(uri, 1))


async def test_what_the_diagnostic_says_is_not_repeated(repo, connect):
    """Where the editor shows it in the same window; in other lines of the range all is told."""
    record = repo.gotcha("x must stay odd", "a.py:2-3", body="Because.", workaround="Add one.")
    editor = await connect(repo.root, options={"diagnosticsInHover": True})
    uri = repo.uri("a.py")
    editor.open(uri)
    (shown,) = await editor.until(uri, bool)
    assert shown.message == "x must stay odd → Add one."

    facts = "warning · general  \nRecorded just now by Ada"
    told = value(await editor.hover(uri, 1)).split("\n\n")
    assert told == [facts, "Because.", f"`{record.id}`"]
    below = value(await editor.hover(uri, 2)).split("\n\n")
    assert below[0] == "**Gotcha** x must stay odd"
    assert below[3:] == ["**Workaround**", "Add one.", f"`{record.id}`"]


async def test_what_the_diagnostic_has_no_room_for_is_told(repo, connect):
    """A title that is part of another's, and one that was cut."""
    for title in ("Cache breaks on restart", "Second thing", "Third thing"):
        repo.gotcha(title, "a.py:2", severity="critical")
    repo.gotcha("Cache", "a.py:2", workaround="restart")
    repo.gotcha("very long " * 25, "a.py:3")
    editor = await connect(repo.root, options={"diagnosticsInHover": True})
    uri = repo.uri("a.py")
    editor.open(uri)
    await editor.until(uri, lambda shown: len(shown) == 2)

    told = value(await editor.hover(uri, 1))
    assert "**Gotcha**" not in told and "+1 more on this line" in told
    assert value(await editor.hover(uri, 2)).startswith("**Gotcha** very long")


async def test_many_on_a_line(repo, connect):
    """The worst three are told and the rest counted; one that is forgotten a moment before is left out; changed code is said."""
    made = [
        repo.gotcha(f"number {n}", "a.py:2", severity="critical" if n == 3 else "warning")
        for n in range(5)
    ]
    editor = await connect(repo.root)
    uri = repo.uri("a.py")
    editor.open(uri)
    await editor.until(uri, bool)

    text = value(await editor.hover(uri, 1))
    assert text.startswith("**Gotcha** number 3")
    assert text.count("\n\n---\n\n") == 3
    assert text.endswith("+2 more on this line")

    with repo.app() as app:
        write.forget(app.store(), app.writer(), [app.get(made[3].id)[1].record])
    assert "number 3" not in value(await editor.hover(uri, 1))

    editor.edit(uri, (1, 5), (1, 5), "  + 1")
    await editor.until(uri, lambda shown: bool(shown) and "changed since" in shown[0].message)
    assert "The code has changed since." in value(await editor.hover(uri, 1))


async def test_hostile_record_as_markdown(repo, connect):
    """Escape characters are replaced, direction marks dropped; links, images, HTML and tables of a record are shown as the letters they are."""
    repo.gotcha(HOSTILE["title"], "a.py:2", body=HOSTILE["body"], workaround=HOSTILE["workaround"])
    editor = await connect(repo.root)
    uri = repo.uri("a.py")
    editor.open(uri)

    (shown,) = await editor.until(uri, bool)
    text = value(await editor.hover(uri, 1))

    assert "\n" not in shown.message
    # a message is not markup, so nothing in it needs an escape
    assert shown.message.startswith("�[31mred�[0m desrever <img")
    for said in (shown.message, text):
        assert not CONTROLS.search(said)
    code, prose = split_code(text)
    assert "<b>still code</b>" in code
    for sign in ("<", "[", "]", "|", "!["):
        assert not re.search(rf"(?<!\\){re.escape(sign)}", prose), sign
    assert not re.search(r"https?:/|(?<!\\)www\.|^---$|^# ", prose, re.MULTILINE)
    assert "**bold" not in prose
    assert "evil.example" in prose  # shown, not hidden


async def test_hostile_record_as_plain_text(repo, connect):
    """A client that renders no Markdown gets the record's own letters, still without control characters."""
    repo.gotcha(HOSTILE["title"], "a.py:2", body=HOSTILE["body"], workaround=HOSTILE["workaround"])
    caps = capabilities()
    assert caps.text_document and caps.text_document.hover
    caps.text_document.hover.content_format = [t.MarkupKind.PlainText]
    editor = await connect(repo.root, caps=caps)
    uri = repo.uri("a.py")
    editor.open(uri)
    await editor.until(uri, bool)

    told = await editor.hover(uri, 1)

    assert told.contents.kind == t.MarkupKind.PlainText
    assert value(told).startswith(
        "Gotcha: �[31mred�[0m desrever <img src=x onerror=alert(1)> [click](https://evil.example) **bold\n"
    )
    assert "<script>alert(1)</script>" in value(told)
    assert not CONTROLS.search(value(told))


def split_code(markdown: str) -> tuple[str, str]:
    """Return what is in fences, and the rest."""
    code, prose, mark = [], [], ""
    for line in markdown.split("\n"):
        fence = re.match(r"`{3,}", line)
        if mark:
            if line == mark:
                mark = ""
            else:
                code.append(line)
        elif fence:
            mark = fence[0]
        else:
            prose.append(line)
    assert not mark, "a fence is left open"
    return "\n".join(code), "\n".join(prose)


SALE = "def sell(cart):\n    price = cart.total()\n    tax = price * 0.2\n    return price + tax\n\n\nx = 1\n"


async def test_every_line_of_the_code_tells_it(repo, connect):
    """Of a range, and of a definition; the line's own code is the range of the hover."""
    (repo.root / "sale.py").write_text(SALE)
    repo.gotcha("two lines", "sale.py:2-3")
    repo.gotcha("all of sell", "sale.py#sell")
    editor = await connect(repo.root)
    uri = repo.uri("sale.py")
    editor.open(uri)
    await editor.until(uri, bool)

    for line, titles in (
        (0, ["all of sell"]),
        (2, ["two lines", "all of sell"]),
        (3, ["all of sell"]),
    ):
        told = await editor.hover(uri, line, 4)
        assert sorted(re.findall(r"Gotcha\*\* (.*)", value(told))) == sorted(titles)
        assert told.range.start.line == line
    assert await editor.hover(uri, 6) is None


async def test_decisions_are_told_on_the_code_that_they_are_about(repo, connect):
    """Without a diagnostic; one that is over is not told, and an edit above moves it."""
    (repo.root / "sale.py").write_text(SALE)
    repo.memory("Tax is 20 percent", "sale.py:3")
    repo.memory("Was 19 percent", "sale.py:3", expires="2001-01-01T00:00:00Z")
    repo.gotcha("two lines", "sale.py:2-3")
    editor = await connect(repo.root)
    uri = repo.uri("sale.py")
    editor.open(uri)
    (shown,) = await editor.until(uri, bool)

    assert shown.message == "two lines"
    text = value(await editor.hover(uri, 2))
    assert text.index("**Gotcha** two lines") < text.index("**Memory** Tax is 20 percent")
    assert "decision" in text
    assert "19 percent" not in text

    editor.edit(uri, (0, 0), (0, 0), "import os\n")
    await editor.until(uri, lambda shown: bool(shown) and shown[0].range.start.line == 2)
    assert "Tax is 20 percent" in value(await editor.hover(uri, 3))
