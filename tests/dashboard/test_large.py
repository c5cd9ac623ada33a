"""Ten thousand facts: the page holds those in sight, a filter finds all, the server stays small. `make bench` measures how fast."""

from collections.abc import Callable
from pathlib import Path

from tests.dashboard import sample
from tests.dashboard.conftest import Pages, Served, go
from tests.dashboard.measure import filter_times

COUNT = 10_000
MEMORY = 150.0  # megabytes
FILTERS = (
    ("#/facts?type=rule", "1,252"),
    ("#/facts?kind=gotcha", "2"),
    ("#/facts?q=refund", "1,605"),
    ("#/facts?sort=title&type=bug", "1,250"),
)


def test_ten_thousand_facts(shop: Path, serve: Callable[..., Served], pages: Pages) -> None:
    """Slow, since each of them is written, indexed and read by the page."""
    sample.many(shop, COUNT)
    sample.mem(shop, "list", "--limit", "1")  # the index is there, as after any command
    served = serve(shop, cold=True)
    page = pages.open(f"{served.url}/facts")
    page.locator(".row").nth(10).wait_for()
    filter_times(page, FILTERS)

    rows = page.locator(".row").count()
    assert 10 < rows < 80  # those in sight
    page.evaluate("document.querySelector('.grid').scrollTop = 1e9")
    page.wait_for_timeout(100)
    assert int(page.locator(".row").last.get_attribute("aria-rowindex")) == 1251
    page.set_default_timeout(60_000)
    for view in ("today", "code", "health", "facts"):
        go(page, view)
        page.locator("main h1").first.wait_for()
    page.locator(".row").first.wait_for()
    for _ in range(2):
        assert len(served.data("facts")["rows"]) > COUNT
    assert served.memory < MEMORY
