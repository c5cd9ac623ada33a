"""Make the pictures of docs/dashboard.md anew: `python -m tests.dashboard.pictures`."""

import os
import sys
import tempfile
from pathlib import Path
from unittest import mock

from playwright.sync_api import sync_playwright

from tests.dashboard import sample
from tests.dashboard.conftest import CHROMIUM, FLAGS, Served, go
from tests.house.conftest import ROOT

PICTURES = (
    ("today", "light", "today"),
    ("facts", "light", "facts?id={serializable}"),
    ("conflicts", "dark", "conflicts"),
)


def main() -> int:
    """Write the pictures."""
    with tempfile.TemporaryDirectory() as folder:
        repo = Path(folder) / "shop"
        repo.mkdir()
        world = {"HOME": folder, "GIT_CONFIG_NOSYSTEM": "1", "TZ": "UTC"}
        with mock.patch.dict(os.environ, world):
            ids = sample.make_shop(repo)
            served = Served(repo)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            for name, scheme, view in PICTURES:
                size = {"width": 1180, "height": 620}
                page = browser.new_page(color_scheme=scheme, viewport=size)
                page.goto(served.url)
                go(page, view.format(**ids))
                page.locator("nav .count").first.wait_for()
                page.wait_for_timeout(1500)
                page.screenshot(path=ROOT / "docs" / "images" / f"dashboard-{name}.png")
            browser.close()
        served.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
