"""The dashboard with many facts: first paint, filters, changes made elsewhere, memory of the server.

Chromium measures the paint and the filters. A change is measured from the end of the command that makes it
until its row is on the page. The median of several is judged.
"""

import statistics
import sys
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from tests.benchmarks.common import Bench, new_repo, run, table
from tests.dashboard import sample
from tests.dashboard.conftest import CHROMIUM, FLAGS, Served, go
from tests.dashboard.measure import filter_times, first_paint

PAINT, FILTER = 1000.0, 50.0  # milliseconds
CHANGE = 1.0  # seconds until a change that was made elsewhere is shown
MEMORY = 150.0  # megabytes


def open_page(browser: Any, served: Served, view: str) -> Any:
    """Open a view with the server's token in a browser that has no cache of it."""
    page = browser.new_context().new_page()
    page.goto(f"{served.url}/{view}")
    page.locator(".row").first.wait_for()
    return page


def painted(browser: Any, served: Served) -> float:
    """Open the table of all facts and close it; return the milliseconds until the first paint."""
    page = open_page(browser, served, "facts")
    paint = first_paint(page)
    page.context.close()
    return paint


def shown_after(page: Any, repo: Path, title: str) -> float:
    """Add a fact by the command; return the seconds until the page shows it."""
    sample.add(repo, title, "-t", "rule", "-i", "9")
    begun = time.perf_counter()
    page.locator(".row", has_text=title).first.wait_for()
    return time.perf_counter() - begun


def body(bench: Bench) -> None:
    """Measure at one size."""
    count = bench.size(10_000, 400)
    repo = new_repo(bench.fresh(f"at-{count}"))
    sample.many(repo, count)
    sample.mem(repo, "list", "--limit", "1")
    served = Served(repo)
    rounds = bench.times(7)
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            paints = [painted(browser, served) for _ in range(rounds)]
            page = open_page(browser, served, "facts")
            rules = -(-(count - 1) // 8)  # every eighth fact is a rule
            filters = [("#/facts?type=rule", f"{rules:,}"), ("#/facts", f"{count:,}")] * rounds
            times = filter_times(page, filters)
            go(page, "timeline")
            page.locator(".timeline .row").first.wait_for()
            changes = [shown_after(page, repo, f"Brand new {n}") for n in range(rounds)]
            for view in ("today", "code", "health", "conflicts", "facts"):
                go(page, view)
                page.locator("main h1").first.wait_for()
                page.wait_for_timeout(500)
            browser.close()
        memory = served.memory
    finally:
        served.stop()
    rows = [
        ("first paint", paints, PAINT, "ms"),
        ("a filter", times, FILTER, "ms"),
        ("a change made elsewhere", changes, CHANGE, "s"),
        ("memory after all views", [memory], MEMORY, "MB"),
    ]
    table(
        f"Dashboard, {count:,} facts",
        ("what", "median", "most", "budget"),
        [
            (
                what,
                f"{statistics.median(values):.3g} {unit}",
                f"{max(values):.3g} {unit}",
                f"{bench.verdict(what, statistics.median(values), budget)} ({unit})",
            )
            for what, values, budget, unit in rows
        ],
    )


if __name__ == "__main__":
    sys.exit(run("bench_dashboard", body))
