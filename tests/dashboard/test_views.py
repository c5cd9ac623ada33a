"""Every view and every action, in a real browser."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.dashboard import sample
from tests.dashboard.conftest import Pages, Served, go
from tests.dashboard.sample import mem

VIEWS = ("today", "inbox", "facts", "conflicts", "timeline", "code", "sessions", "health")


def titles(page: Any) -> list[str]:
    """Return the titles of the rows in sight."""
    found: list[str] = page.locator("[role=row] .row-title").all_inner_texts()
    return found


def wait_for_rows(page: Any, count: int) -> None:
    """Wait until a list has so many rows."""
    page.wait_for_function("count => document.querySelectorAll('.row').length === count", arg=count)


def press(page: Any, *keys: str) -> None:
    """Press keys, one after the other."""
    for key in keys:
        page.keyboard.press(key)


def notice(page: Any) -> Any:
    """Return what the page says after an action."""
    return page.locator(".notice")


def test_the_token_leaves_the_address_and_lasts(served: Served, pages: Pages) -> None:
    page = pages.open(served.url)
    page.get_by_text("Next session start").wait_for()

    assert served.token not in page.url
    page.reload()
    page.get_by_text("Next session start").wait_for()
    assert served.token not in page.content()
    assert page.evaluate("document.cookie") == ""


def test_without_the_token_the_page_says_what_to_do(served: Served, pages: Pages) -> None:
    page = pages.open(served.url.partition("#")[0])
    page.get_by_text("git mem dashboard").wait_for()

    assert titles(page) == []
    pages.expect("401")


def test_today_tells_what_the_next_start_is_told(served: Served, pages: Pages) -> None:
    page = pages.open(served.url)
    page.locator(".row").first.wait_for()
    text = page.locator("main").inner_text()

    assert "of 1,200 tokens" in text
    row = page.locator(".row", has_text="Use SERIALIZABLE for payments")
    assert row.locator(".why").inner_text() == "pinned"
    assert int(row.locator(".tokens").inner_text()) > 5
    assert page.locator(".row", has_text="Load-test").locator(".why").inner_text() == "open task"


def test_today_is_what_a_session_is_told(served: Served, shop: Path) -> None:
    """The preview and the hook choose the same facts; the preview leaves no trace."""
    import json
    import subprocess
    import sys

    before = served.data("sessions")
    lines = served.data("today")["lines"]
    shown = [line["fact"]["id"] for line in lines if line["fact"]]
    payload = {
        "session_id": "fresh",
        "cwd": str(shop),
        "hook_event_name": "SessionStart",
        "source": "startup",
    }
    done = subprocess.run(
        [sys.executable, "-P", "-m", "gitmem", "hook", "claude"],
        input=json.dumps(payload),
        cwd=shop,
        capture_output=True,
        text=True,
        check=True,
    )

    assert shown
    assert all(id[-8:] in done.stdout for id in shown)
    told = json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
    assert len(re.findall(r"^- ", told, re.MULTILINE)) == len(lines)
    assert [row["id"] for row in before] == [
        row["id"] for row in served.data("sessions") if row["id"] != "fresh"
    ]


def test_today_tells_of_a_file(served: Served, pages: Pages) -> None:
    page = pages.open(served.url)
    page.get_by_label("edit of file").fill("shop/pay.py")
    page.get_by_label("edit of file").press("Enter")

    page.get_by_role("heading", name="On an edit of shop/pay.py").wait_for()
    assert page.get_by_role("link", name="The CI runner has no TAX_RATE").count() == 1


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("kind=gotcha", {"Charging twice needs the same key", "The CI runner has no TAX_RATE"}),
        ("type=decision", {"Use SERIALIZABLE for payments"}),
        (
            "type=decision&status=any",
            {"Use SERIALIZABLE for payments", "Use READ COMMITTED for payments"},
        ),
        (
            "trust=unconfirmed",
            {
                "The invoice job runs at 02:00 UTC",
                "Webhooks retry for three days",
                "Prices are stored in cents",
            },
        ),
        (
            "session=a3f1",
            {
                "The invoice job runs at 02:00 UTC",
                "Webhooks retry for three days",
                "Prices are stored in cents",
            },
        ),
        (
            "file=shop",
            {
                "Use SERIALIZABLE for payments",
                "Refunds are idempotent",
                "Charging twice needs the same key",
                "The CI runner has no TAX_RATE",
            },
        ),
        (
            "age=1",
            {
                "The invoice job runs at 02:00 UTC",
                "Webhooks retry for three days",
                "Prices are stored in cents",
            },
        ),
        ("score=7", {"Charging twice needs the same key"}),
        ("status=decayed", {"The staging host is called falcon"}),
        ("q=updates+under", {"Use SERIALIZABLE for payments"}),
    ],
)
def test_facts_are_filtered(served: Served, pages: Pages, query: str, wanted: set[str]) -> None:
    page = pages.open(served.url)
    go(page, f"facts?{query}")
    wait_for_rows(page, len(wanted))

    assert set(titles(page)) == wanted


def test_facts_are_sorted(served: Served, pages: Pages) -> None:
    page = pages.open(served.url)
    go(page, "facts")
    page.get_by_role("button", name="Title").click()
    page.locator("[aria-sort=descending]", has_text="Title").wait_for()
    found = [title.lower() for title in titles(page)]

    assert found == sorted(found)
    page.get_by_role("button", name="Score").click()
    page.locator("[aria-sort=descending]", has_text="Score").wait_for()
    scores = [float(text) for text in page.locator(".row .score").all_inner_texts()]
    assert scores == sorted(scores, reverse=True)
    assert "sort=score" in page.url


def test_a_search_is_typed(served: Served, pages: Pages) -> None:
    page = pages.open(served.url)
    page.locator(".row").first.wait_for()
    press(page, "/")
    page.keyboard.type("idempot")
    wait_for_rows(page, 1)

    assert titles(page) == ["Refunds are idempotent"]
    assert "q=idempot" in page.url


def test_one_fact_shows_where_it_comes_from(
    served: Served, pages: Pages, ids: dict[str, str]
) -> None:
    page = pages.open(served.url)
    go(page, f"fact/{ids['serializable']}")
    page.get_by_role("heading", name="Use SERIALIZABLE for payments").wait_for()
    detail = page.locator(".detail")

    assert "Measured with 200 clients." in detail.locator(".body").inner_text()
    assert "def pay(order, card):" in detail.locator(".code").inner_text()
    assert detail.locator(".code .meant").count() == 6
    assert "confirmed by Ana" in detail.inner_text()
    assert "takes the place of Use READ COMMITTED for payments" in detail.inner_text()
    assert detail.locator("svg.graph .node").count() == 3
    detail.locator(".history summary", has_text="edit").click()
    assert detail.locator(".diff .added", has_text="Measured with 200 clients.").is_visible()


def test_one_proposal_shows_its_evidence(served: Served, pages: Pages, ids: dict[str, str]) -> None:
    page = pages.open(served.url)
    go(page, f"fact/{ids['proposal']}")
    detail = page.locator(".detail")
    detail.wait_for()

    assert "session a3f1, claude, the agent said it" in detail.inner_text()
    assert detail.locator("svg.curve").get_attribute("aria-label").startswith("The score was 5.0")


def test_the_inbox_is_answered_by_keys(
    served: Served, pages: Pages, shop: Path, ids: dict[str, str]
) -> None:
    page = pages.open(served.url)
    go(page, "inbox")
    wait_for_rows(page, 3)
    page.locator(".row", has_text="Webhooks").click()
    page.get_by_role("button", name="Accept").wait_for()
    press(page, "a")
    wait_for_rows(page, 2)
    page.locator(".detail h1", has_text="Prices").wait_for()
    press(page, "r")
    wait_for_rows(page, 1)

    page.locator(".notice", has_text="will not be proposed again").wait_for()
    rows = {row["id"]: row for row in mem(shop, "list")}
    assert "unconfirmed" not in rows[ids["proposal"]]
    assert rows[ids["proposal"]]["store"] == "shared"
    assert ids["proposal-2"] not in rows
    notice(page).get_by_role("button", name="Undo").click()
    wait_for_rows(page, 2)
    assert ids["proposal-2"] in {row["id"] for row in mem(shop, "list")}
    pages.expect("404")  # of the fact that was shown when it was rejected


def test_a_fact_is_edited_in_place(
    served: Served, pages: Pages, shop: Path, ids: dict[str, str]
) -> None:
    page = pages.open(served.url)
    go(page, f"facts?id={ids['naming']}")
    page.get_by_role("button", name="Edit").wait_for()
    press(page, "e")
    page.get_by_label("Title").fill("Name modules in the singular, always")
    page.get_by_role("textbox", name="Text").fill("Also folders.\nAnd files.")
    page.get_by_label("Importance").fill("8")
    page.get_by_role("textbox", name="Text").press("Control+Enter")
    page.locator(".detail h1", has_text="singular, always").wait_for()

    record = mem(shop, "show", ids["naming"])[0]
    assert (record["title"], record["body"], record["importance"]) == (
        "Name modules in the singular, always",
        "Also folders.\nAnd files.\n",
        8,
    )
    press(page, "u")
    page.locator(".detail h1", has_text=re.compile("singular$")).wait_for()


def test_a_fact_is_pinned_archived_and_forgotten(
    served: Served, pages: Pages, shop: Path, ids: dict[str, str]
) -> None:
    page = pages.open(served.url)
    go(page, f"fact/{ids['refunds']}")
    page.get_by_role("button", name="Pin").wait_for()
    press(page, "p")
    page.get_by_role("button", name="Unpin").wait_for()
    assert mem(shop, "show", ids["refunds"])[0]["status"] == "pinned"
    page.get_by_role("button", name="Archive").click()
    page.get_by_role("button", name="Restore").click()
    page.get_by_role("button", name="Archive").wait_for()
    press(page, "f")
    page.locator(".failed", has_text="forgotten").wait_for()
    notice(page).get_by_role("button", name="Undo").click()
    page.get_by_role("heading", name="Refunds are idempotent").wait_for()
    pages.expect("404")

    assert mem(shop, "show", ids["refunds"])[0]["status"] == "active"


def test_a_task_is_done_and_a_gotcha_resolved(
    served: Served, pages: Pages, shop: Path, ids: dict[str, str]
) -> None:
    page = pages.open(served.url)
    go(page, f"fact/{ids['load-test']}")
    page.get_by_role("button", name="Done").click()
    page.get_by_role("button", name="Restore").wait_for()
    go(page, f"fact/{ids['tax']}")
    page.get_by_role("button", name="Resolve").click()
    page.get_by_role("button", name="Reopen").wait_for()

    assert "completion" in mem(shop, "show", ids["load-test"])[0]
    assert mem(shop, "show", ids["tax"])[0]["is_resolved"] is True


def test_a_conflict_is_resolved_by_a_key(
    served: Served, pages: Pages, shop: Path, ids: dict[str, str]
) -> None:
    page = pages.open(served.url)
    go(page, "conflicts")
    page.locator(".finding").wait_for()
    assert "memcached, not redis" in page.locator(".finding-reason").inner_text()
    page.locator(".finding .side time").nth(1).wait_for()
    press(page, "n")
    page.get_by_text("No contradictions.").wait_for()

    assert mem(shop, "show", ids["memcached"])[0]["supersedes"] == [ids["redis"]]
    assert mem(shop, "check") == []
    press(page, "u")
    page.locator(".finding").wait_for()


def test_what_the_code_refutes_is_answered(served: Served, pages: Pages, shop: Path) -> None:
    """A fact whose own check fails is in the view, and can be edited there."""
    id = sample.add(
        shop, "The tax rate is in shop/pay.py", "--verify", "file=shop/pay.py contains=TAX_RATE"
    )
    (shop / "shop" / "pay.py").write_text("RATE = 1\n")
    page = pages.open(served.url)
    go(page, "conflicts")
    finding = page.locator(".finding", has_text="The tax rate")
    finding.wait_for()
    finding.get_by_role("button", name="Edit").click()
    page.get_by_label("Title").fill("The rate is in shop/pay.py")
    page.get_by_role("button", name="Save").click()
    page.locator(".finding", has_text="The rate is in").wait_for()
    page.locator(".finding", has_text="The rate is in").get_by_role(
        "button", name="It holds"
    ).click()
    page.locator(".finding", has_text="The rate is in").wait_for(state="detached")

    assert mem(shop, "show", id)[0]["title"] == "The rate is in shop/pay.py"
    assert id not in {fact["id"] for row in mem(shop, "check") for fact in row["facts"]}


def test_the_timeline_shows_what_happened(served: Served, pages: Pages) -> None:
    page = pages.open(served.url)
    go(page, "timeline?source=gotcha")
    wait_for_rows(page, 2)
    assert set(titles(page)) == {
        "Charging twice needs the same key",
        "The CI runner has no TAX_RATE",
    }
    go(page, "timeline")
    page.locator(".row", has_text="Add payments").click()

    assert "Ana" in page.locator(".split-detail").inner_text()


def test_the_code_shows_gotchas_by_file(served: Served, pages: Pages, ids: dict[str, str]) -> None:
    page = pages.open(served.url)
    go(page, "code")
    page.get_by_role("heading", name="Gotchas by file").wait_for()
    text = page.locator("main").inner_text()

    assert "The CI runner has no TAX_RATE" in text
    assert page.locator("table tr", has_text="shop/pay.py").locator("td").nth(1).inner_text() == "1"
    page.get_by_role("link", name="Charging twice").click()
    page.wait_for_url(f"**/fact/{ids['charge']}")


def test_health_shows_its_terms_and_trend(served: Served, pages: Pages) -> None:
    page = pages.open(served.url)
    go(page, "health")
    page.get_by_text("What moves it").wait_for()
    text = page.locator("main").inner_text()

    shown = served.data("health")
    assert page.locator(".big").inner_text() == str(round(shown["health"]))
    assert "with a low score" in text
    assert page.locator(".chart canvas").count() == 1
    assert "Coverage gaps" in text


def test_a_session_is_shown_and_deleted(served: Served, pages: Pages, shop: Path) -> None:
    page = pages.open(served.url)
    go(page, "sessions")
    page.locator(".row", has_text="Make refunds idempotent").click()
    detail = page.locator(".detail")
    detail.get_by_text("Asked and done").wait_for()
    assert "pytest -q" in detail.inner_text()
    assert "Use SERIALIZABLE for payments" in detail.inner_text()
    detail.get_by_role("button", name="Delete…").click()
    detail.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_text("Sessions of agents would be here.").wait_for()

    assert mem(shop, "session", "list") == []
    pages.expect("400")  # of the session that was shown when it was deleted


def test_a_refusal_is_said(served: Served, pages: Pages, ids: dict[str, str]) -> None:
    """What is refused is told with what to do, and the page goes on."""
    page = pages.open(served.url)
    page.locator("nav .count").first.wait_for()
    press(page, "u")
    page.locator(".notice.failure", has_text="left to take back").wait_for()

    assert "git mem undo" in notice(page).inner_text()


def test_each_view_has_an_address(served: Served, pages: Pages) -> None:
    page = pages.open(served.url)
    page.locator(".row").first.wait_for()
    for view in VIEWS:
        page.locator("nav a", has_text=re.compile(f"^{view}", re.IGNORECASE)).click()
        page.wait_for_url(f"**#/{view}*")
        assert page.locator("nav a[aria-current=page]").inner_text().lower().startswith(view)
    page.go_back()
    page.wait_for_url("**#/sessions*")
