"""One file with everything: no server, no network, for its owner alone."""

import json
import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gitmem.cli.main import run
from gitmem.repo.refs import PRIVATE, SHARED
from tests.conftest import git
from tests.dashboard import sample
from tests.dashboard.conftest import Pages, go
from tests.dashboard.test_views import VIEWS, titles


@pytest.fixture
def file(shop: Path, tmp_path: Path) -> Path:
    """The page of the shop."""
    out = tmp_path / "memory.html"
    data = sample.mem(shop, "dashboard", "--out", str(out))
    assert (data["page_file"], data["page_size"]) == (str(out), out.stat().st_size)
    assert data["page_url"] is None
    return out


def test_it_shows_every_view_without_a_network(
    file: Path, pages: Pages, ids: dict[str, str]
) -> None:
    page = pages.open(f"file://{file}")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    for view in VIEWS:
        go(page, view)
        page.locator("main h1").first.wait_for()
        assert page.locator(".failed").count() == 0
    go(page, "facts?type=decision&status=any")
    page.wait_for_function("document.querySelectorAll('.row').length === 2")
    assert set(titles(page)) == {"Use SERIALIZABLE for payments", "Use READ COMMITTED for payments"}
    go(page, f"fact/{ids['serializable']}")
    page.get_by_text("Measured with 200 clients.").wait_for()
    assert page.locator(".history li").count() == 3

    assert asked == []


def test_it_offers_no_change(file: Path, pages: Pages, ids: dict[str, str]) -> None:
    page = pages.open(f"file://{file}")
    go(page, f"inbox?id={ids['proposal']}")
    page.locator(".detail h1").wait_for()

    assert page.get_by_role("button", name=re.compile("Accept|Reject|Edit|Forget|Pin")).count() == 0
    page.keyboard.press("a")
    page.keyboard.press("u")
    page.wait_for_timeout(100)
    assert page.locator(".notice").count() == 0


def test_only_its_owner_reads_it(file: Path) -> None:
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_its_policy_allows_its_own_script_alone(file: Path) -> None:
    text = file.read_text()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)

    assert policy is not None
    assert "default-src 'none'" in policy[1]
    assert "unsafe" not in policy[1]
    assert re.search(r"script-src 'sha256-[\w+/=]+'", policy[1])


def test_a_file_that_is_there_is_kept(
    file: Path, shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text("mine")
    assert run(["-C", str(shop), "dashboard", "--out", str(file)]) == 1
    assert "is there already" in capsys.readouterr().err
    assert file.read_text() == "mine"
    assert run(["-C", str(shop), "dashboard", "--out", str(file), "--force"]) == 0
    assert file.stat().st_size > 10_000


@pytest.mark.parametrize(
    "args", [["--force"], ["--out", "x.html", "--port", "1"], ["--port", "70000"]]
)
def test_options_that_do_not_fit_are_a_usage_error(
    shop: Path, args: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["-C", str(shop), "dashboard", *args]) == 2
    assert not os.path.exists("x.html")
    assert capsys.readouterr().err


def _data(file: Path) -> Any:
    text = re.search(r'id="data">(.*?)</script>', file.read_text(), re.DOTALL)
    assert text is not None
    return json.loads(text[1])


def test_every_fact_of_the_table_has_its_text(shop: Path, tmp_path: Path) -> None:
    """Those of the user's own store too, and the message says that they are in it."""
    own = sample.mem(shop, "add", "--user", "Answer in German", "-m", "In all projects.")["id"]
    out = tmp_path / "memory.html"
    done = subprocess.run(
        [sys.executable, "-P", "-m", "gitmem", "-C", str(shop), "dashboard", "--out", str(out)],
        capture_output=True,
        text=True,
        check=True,
    )
    data = _data(out)
    table = data["views"]["facts"]

    assert {row[0] for row in table["rows"]} <= set(data["facts"])
    assert data["facts"][own]["record"]["body"] == "In all projects.\n"
    assert [step["store"] for step in data["facts"][own]["steps"]] == ["user"]
    assert "your own store" in done.stdout


def test_a_fact_that_was_private_keeps_its_steps(
    shop: Path, tmp_path: Path, ids: dict[str, str]
) -> None:
    """A fact may be in both stores: what was done to it in each is shown, the newest first."""
    both = tmp_path / "both"
    shutil.copytree(shop, both)
    out = tmp_path / "memory.html"
    shared = str(sample.mem(both, "show", ids["refunds"])[0]["id"])
    git(both, "update-ref", PRIVATE, git(both, "rev-parse", SHARED))
    sample.mem(both, "dashboard", "--out", str(out))
    steps = _data(out)["facts"][shared]["steps"]

    assert {step["store"] for step in steps} == {"private", "shared"}
    assert [step["at"] for step in steps] == sorted((step["at"] for step in steps), reverse=True)
