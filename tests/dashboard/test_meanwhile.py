"""What the page does when something else changes what it shows, in a real browser."""

from pathlib import Path
from typing import Any

import pytest

from tests.dashboard.conftest import Pages, Served, go
from tests.dashboard.sample import mem


@pytest.fixture
def still(served: Served, pages: Pages) -> Any:
    """A page that is told of no change: what happens in the moment before it would be."""
    page = pages.open("about:blank")
    page.route("**/api/events", lambda route: route.abort())
    page.goto(served.url)
    yield page
    page.close()  # it goes on asking for events, in vain
    pages.expect("ERR_FAILED")
    pages.expect("409")


def test_undo_takes_back_what_the_page_did(
    served: Served, pages: Pages, shop: Path, ids: dict[str, str]
) -> None:
    """A command of a terminal in between stays; the key goes on with the change before."""
    page = pages.open(served.url)
    go(page, f"fact/{ids['refunds']}")
    page.get_by_role("button", name="Pin").click()
    page.get_by_role("button", name="Unpin").wait_for()
    page.get_by_role("button", name="Archive").click()
    page.get_by_role("button", name="Restore").wait_for()
    mem(shop, "edit", ids["naming"], "--importance", "9")
    page.keyboard.press("u")
    page.get_by_role("button", name="Archive").wait_for()
    assert mem(shop, "show", ids["refunds"])[0]["status"] == "pinned"
    page.keyboard.press("u")
    page.get_by_role("button", name="Pin", exact=True).wait_for()
    page.keyboard.press("u")
    page.locator(".notice.failure", has_text="left to take back").wait_for()

    assert mem(shop, "show", ids["naming"])[0]["importance"] == 9
    assert mem(shop, "show", ids["refunds"])[0]["status"] == "active"


def test_an_edit_sends_what_was_typed_alone(
    served: Served, pages: Pages, shop: Path, ids: dict[str, str]
) -> None:
    """What somebody else changed while the editor was open stays, and nothing typed is lost."""
    id = ids["naming"]
    page = pages.open(served.url)
    go(page, f"fact/{id}")
    page.get_by_role("button", name="Edit").click()
    page.get_by_label("Title").fill("Name modules in the singular, always")
    mem(shop, "edit", id, "-m", "Others wrote this.", "--importance", "9")
    page.locator(".history li").nth(1).wait_for()
    page.get_by_role("button", name="Save").click()
    page.locator(".notice.failure", has_text="changed meanwhile").wait_for()
    page.locator("form", has_text="What you typed is still here").wait_for()
    assert mem(shop, "show", id)[0]["title"] == "Name modules in the singular"
    assert page.get_by_label("Title").input_value() == "Name modules in the singular, always"
    assert page.get_by_role("textbox", name="Text").input_value() == "Others wrote this.\n"
    page.get_by_role("button", name="Save").click()
    page.locator(".detail h1", has_text="singular, always").wait_for()

    record = mem(shop, "show", id)[0]
    assert (record["title"], record["body"], record["importance"]) == (
        "Name modules in the singular, always",
        "Others wrote this.\n",
        9,
    )
    pages.expect("409")


def test_both_texts_are_shown_where_both_changed(
    served: Served, pages: Pages, shop: Path, ids: dict[str, str]
) -> None:
    page = pages.open(served.url)
    go(page, f"fact/{ids['naming']}")
    page.get_by_role("button", name="Edit").click()
    page.get_by_label("Title").fill("Mine")
    mem(shop, "edit", ids["naming"], "--title", "Theirs")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("It says now: Theirs").wait_for()

    assert page.get_by_label("Title").input_value() == "Mine"
    assert mem(shop, "show", ids["naming"])[0]["title"] == "Theirs"
    pages.expect("409")


def test_what_is_typed_stays_when_the_fact_leaves_the_inbox(
    served: Served, pages: Pages, shop: Path, ids: dict[str, str]
) -> None:
    title = mem(shop, "show", ids["proposal"])[0]["title"]
    page = pages.open(served.url)
    go(page, f"inbox?id={ids['proposal']}")
    page.locator(".row", has_text=title).wait_for()
    page.get_by_role("button", name="Edit").click()
    page.get_by_label("Title").fill("What I typed")
    mem(shop, "inbox", "--accept", ids["proposal"])
    page.locator(".row", has_text=title).wait_for(state="detached")

    assert page.get_by_label("Title").input_value() == "What I typed"


def test_words_that_were_not_seen_are_not_accepted(
    served: Served, still: Any, shop: Path, ids: dict[str, str]
) -> None:
    go(still, f"fact/{ids['proposal']}")
    still.get_by_role("button", name="Accept").wait_for()
    mem(shop, "inbox", "--accept", ids["proposal-2"])
    title = mem(shop, "show", ids["proposal"])[0]["title"]
    served.act(
        "edit", id=ids["proposal"], title="Something else", seen=served.seen(ids["proposal"])
    )
    still.keyboard.press("a")
    still.locator(".notice.failure", has_text="changed meanwhile").wait_for()
    still.locator(".detail h1", has_text="Something else").wait_for()

    assert title != "Something else"


def test_a_conflict_is_not_decided_by_words_that_were_not_seen(
    served: Served, still: Any, shop: Path, ids: dict[str, str]
) -> None:
    go(still, "conflicts")
    still.locator(".finding .side time").nth(1).wait_for()
    mem(shop, "edit", ids["redis"], "--importance", "9")
    still.keyboard.press("n")
    still.locator(".notice.failure", has_text="changed meanwhile").wait_for()

    assert mem(shop, "show", ids["redis"])[0]["status"] == "active"
