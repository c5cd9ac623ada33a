"""By keyboard, with a screen reader, in both colours, at the width of a phone."""

from pathlib import Path
from typing import Any

import pytest

from tests.dashboard.conftest import Pages, Served, go, missing
from tests.dashboard.test_views import VIEWS
from tests.house.conftest import ROOT

AXE = ROOT / "dashboard" / "node_modules" / "axe-core" / "axe.min.js"


def _serious(page: Any, *rules: str) -> list[str]:
    """Return what axe-core finds serious or critical on a page as it is, by some rules or all."""
    options = {"resultTypes": ["violations"]} | ({"runOnly": rules} if rules else {})
    found = page.evaluate("options => axe.run(document, options)", options)
    return [
        f"{rule['id']}: {node['html'][:160]}"
        for rule in found["violations"]
        if rule["impact"] in {"serious", "critical"}
        for node in rule["nodes"]
    ]


def _with_axe(served: Served, pages: Pages, **options: Any) -> Any:
    """Return a page that has axe-core in it."""
    if not AXE.exists():
        missing("axe-core (make dashboard-tools)")
    page = pages.open(served.url, bypass_csp=True, **options)
    page.locator(".row").first.wait_for()
    page.add_script_tag(content=AXE.read_text("utf-8"))
    return page


def test_axe_finds_no_weak_colour_in_the_dark(
    served: Served, pages: Pages, ids: dict[str, str]
) -> None:
    page = _with_axe(served, pages, color_scheme="dark")
    details = (f"facts?id={ids['redis']}", f"inbox?id={ids['proposal']}", f"fact/{ids['tax']}")
    for part in (*details, "conflicts", "health", "code"):
        go(page, part)
        page.locator("main h1:visible").first.wait_for()
        page.wait_for_timeout(100)
        assert _serious(page, "color-contrast") == [], part


def test_axe_finds_nothing_serious_on_a_phone(
    served: Served, pages: Pages, ids: dict[str, str]
) -> None:
    page = _with_axe(served, pages, viewport={"width": 390, "height": 780})
    for part in ("facts", f"facts?id={ids['serializable']}", "conflicts", "health"):
        go(page, part)
        page.locator("main h1:visible").first.wait_for()
        page.wait_for_timeout(100)
        assert _serious(page) == [], part


def test_axe_finds_nothing_serious(served: Served, pages: Pages, ids: dict[str, str]) -> None:
    page = _with_axe(served, pages)
    details = (
        f"facts?id={ids['serializable']}",
        f"inbox?id={ids['proposal']}",
        f"fact/{ids['tax']}",
    )
    session = served.data("sessions")[0]["id"]
    for part in (*VIEWS, *details, f"sessions/{session}"):
        go(page, part)
        page.locator("main h1:visible").first.wait_for()
        page.wait_for_timeout(150)
        assert _serious(page) == [], part
    page.keyboard.press("?")
    page.locator("dialog[open]").wait_for()
    assert _serious(page) == []
    page.keyboard.press("Escape")
    go(page, f"fact/{ids['naming']}")
    page.get_by_role("button", name="Edit").click()
    assert _serious(page) == []


@pytest.mark.parametrize("view", VIEWS)
def test_nothing_is_wider_than_a_phone(served: Served, pages: Pages, view: str) -> None:
    page = pages.open(served.url, viewport={"width": 360, "height": 700})
    go(page, view)
    page.locator("main h1").first.wait_for()
    page.wait_for_timeout(150)

    assert page.evaluate("document.documentElement.scrollWidth") == 360


def test_a_phone_shows_the_list_or_the_fact(served: Served, pages: Pages) -> None:
    page = pages.open(served.url, viewport={"width": 390, "height": 780}, has_touch=True)
    go(page, "facts")
    page.locator(".row").first.tap()
    page.locator(".detail h1").wait_for()

    assert not page.locator(".split-list").is_visible()
    page.get_by_role("button", name="Close").tap()
    page.locator(".row").first.wait_for()


def test_keys_reach_everything(served: Served, pages: Pages, shop: Path) -> None:
    """From the first view to an answer without a mouse, and back."""
    page = pages.open(served.url)
    page.locator("nav .count").first.wait_for()
    page.keyboard.press("g")
    page.keyboard.press("i")
    page.wait_for_url("**#/inbox*")
    page.locator(".row").first.wait_for()
    page.keyboard.press("j")
    page.locator(".row[aria-selected=true]").wait_for()
    first = page.locator(".row[aria-selected=true] .row-title").inner_text()
    page.keyboard.press("j")
    page.locator(f".row[aria-selected=true]:not(:has-text('{first}'))").wait_for()
    page.keyboard.press("k")
    page.locator(f".row[aria-selected=true]:has-text('{first}')").wait_for()
    active = page.locator("[role=grid]").get_attribute("aria-activedescendant")
    assert page.locator(f"#{active}").get_attribute("aria-selected") == "true"
    page.keyboard.press("Escape")
    page.locator(".split-detail").wait_for(state="detached")
    page.keyboard.press("g")
    page.keyboard.press("f")
    page.wait_for_url("**#/facts*")
    for _ in range(100):  # the rows of the view before are there until those of this one are
        if "#/fact/" in page.url:
            break
        page.keyboard.press("End")
        page.keyboard.press("Enter")
        page.wait_for_timeout(100)
    assert "#/fact/" in page.url
    page.go_back()
    page.locator(".row[aria-selected=true]").wait_for()


def test_keys_in_a_field_are_letters(served: Served, pages: Pages, ids: dict[str, str]) -> None:
    page = pages.open(served.url)
    go(page, f"inbox?id={ids['proposal']}")
    page.get_by_role("button", name="Edit").click()
    page.get_by_label("Title").fill("")
    page.keyboard.type("far? j/k up")

    assert page.get_by_label("Title").input_value() == "far? j/k up"
    assert served.data(f"facts/{ids['proposal']}")["record"]["unconfirmed"] is True
    page.keyboard.press("Escape")
    page.locator("form.edit").wait_for(state="detached")


def test_tab_shows_where_it_is(served: Served, pages: Pages) -> None:
    """The first stop leads past the navigation; each stop can be seen."""
    page = pages.open(served.url)
    page.locator(".row").first.wait_for()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.keyboard.press("Tab")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
