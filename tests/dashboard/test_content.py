"""Content is data: whatever a fact says appears as text, and does nothing."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.dashboard import sample
from tests.dashboard.conftest import Pages, Served, go
from tests.dashboard.test_views import VIEWS

BIDI = "\u202eevil\u202c \u2066x\u2069 \u200bzero"
HOSTILE = (
    '<img src=x onerror="window.hit=1">',
    "<script>window.hit=1</script>",
    "</script><script>window.hit=1</script><!--",
    "<svg onload=window.hit=1><a href=javascript:window.hit=1>x</a></svg>",
    "{{constructor.constructor('window.hit=1')()}} ${window.hit=1}",
    "' onmouseover='window.hit=1' x='",
)
LONG = "wide" * 150


@pytest.fixture
def hostile(shop: Path) -> list[str]:
    """Facts that would like to be more than text, in each place where text is shown."""
    ids = [
        sample.add(shop, text, "-t", "rule", "-i", "9", "-m", f"# {text}\n\n{text}", "--tag", "x")
        for text in HOSTILE
    ]
    ids.append(sample.add(shop, BIDI, "-t", "rule", "-i", "9", "-m", f"{BIDI}\n{LONG * 8}"))
    ids.append(sample.add(shop, LONG, "-t", "decision", "-i", "9"))
    agent = {"CLAUDECODE": "1", "GITMEM_SESSION": 's"><b>'}
    ids.append(sample.add(shop, HOSTILE[0] + " said", "--private", **agent))
    named = "<b onclick=hit=1>.py"
    (shop / named).write_text("<script>window.hit=1</script>\n" * 3)
    ids.append(
        sample.mem(
            shop, "gotcha", "add", HOSTILE[2], "--workaround", HOSTILE[1], "--anchor", f"{named}:2"
        )["id"]
    )
    sample.hook(shop, "SessionStart", "hostile", source="startup")
    sample.hook(shop, "UserPromptSubmit", "hostile", prompt=f"{HOSTILE[0]} {BIDI} {HOSTILE[2]}")
    return ids


def _is_harmless(page: Any) -> None:
    assert page.evaluate("window.hit") is None
    added = page.locator(
        "#app img, #app script, #app iframe, #app [onerror], #app [onclick], #app a[href^='javascript']"
    )
    assert added.count() == 0
    text = page.locator("body").inner_text()
    assert not re.search("[\u202a-\u202e\u2066-\u2069\u200b-\u200f\ud800-\udfff]", text)
    wide = page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    assert wide <= 0


def test_every_view_shows_text(served: Served, pages: Pages, hostile: list[str]) -> None:
    page = pages.open(served.url)
    for view in VIEWS:
        go(page, view)
        page.wait_for_timeout(350)
        _is_harmless(page)
    go(page, "facts")
    page.get_by_text(HOSTILE[0], exact=True).first.wait_for()
    assert page.get_by_text("\\u202eevil\\u202c \\u2066x\\u2069 \\u200bzero").count() >= 1


def test_every_fact_shows_text(served: Served, pages: Pages, hostile: list[str]) -> None:
    page = pages.open(served.url, viewport={"width": 390, "height": 780})
    for id in hostile:
        go(page, f"fact/{id}")
        page.locator(".detail h1").wait_for()
        page.wait_for_timeout(100)
        _is_harmless(page)
        title = page.locator(".detail h1").inner_text()
        assert title in {*HOSTILE, HOSTILE[0] + " said"} or title[:4] in {"wide", "\\u20"}
    go(page, "sessions/hostile")
    page.get_by_text("Asked and done").wait_for()
    assert HOSTILE[2] in page.locator(".detail").inner_text()
    _is_harmless(page)


def test_the_address_is_data_too(served: Served, pages: Pages) -> None:
    """What stands in a link that somebody sent is text, and asks for nothing elsewhere."""
    page = pages.open(served.url)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    for part in (
        "facts?q=<img+src=x+onerror=window.hit=1>",
        "fact/%3Cimg%20src=x%20onerror=window.hit=1%3E",
        "fact/..%2f..%2fdo",
        "code/<script>window.hit=1</script>",
        "today?agent=<b>&file=//evil.example/x",
        "%E0%A4%A",
        "__proto__?__proto__=1",
    ):
        go(page, part)
        page.wait_for_timeout(200)
        _is_harmless(page)
    assert all(url.startswith(f"http://127.0.0.1:{served.port}/") for url in asked)
    pages.expect("40")


def test_broken_unicode_is_shown(served: Served, pages: Pages, shop: Path) -> None:
    """Halves of pairs cannot be stored, but a history of an agent may have them."""
    sample.hook(shop, "SessionStart", "broken", source="startup")
    name = next((shop / ".git" / "gitmem" / "sessions").glob("history_*broken*"))
    row = {
        "timestamp": "2026-11-20T10:00:00Z",
        "role": "user",
        "content": "half \ud83d of it \x1b[31m",
        "metadata": {"event": "PromptSubmit"},
    }
    with name.open("a") as file:
        file.write(json.dumps(row) + "\n")
    page = pages.open(served.url)
    go(page, "sessions/broken")
    page.get_by_text("half").first.wait_for()

    text = page.locator(".detail").inner_text()
    assert "of it \\x1b[31m" in text
    _is_harmless(page)


def test_a_page_in_one_file_shows_text(
    shop: Path, pages: Pages, hostile: list[str], tmp_path: Path
) -> None:
    out = tmp_path / "page.html"
    sample.mem(shop, "dashboard", "--out", str(out))
    page = pages.open(f"file://{out}")
    for part in (*VIEWS, *(f"fact/{id}" for id in hostile)):
        go(page, part)
        page.wait_for_timeout(60)
        _is_harmless(page)
    go(page, f"fact/{hostile[2]}")
    page.locator(".detail h1", has_text=HOSTILE[2]).wait_for()
