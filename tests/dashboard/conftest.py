"""A dashboard as it runs: a server of its own, and Debian's Chromium in front of it."""

import http.client
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock
from urllib.parse import urlsplit

import pytest

from tests.conftest import git
from tests.dashboard import sample
from tests.nursery import nursery

CHROMIUM = "/usr/bin/chromium"
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
COLD = (sys.executable, "-P", "-m", "gitmem")
LOADED = ("gitmem.cli.main", "gitmem.app", "gitmem.dashboard.server")
PATIENCE = 60_000  # milliseconds; a slow machine, not a budget


def missing(what: str) -> None:
    """Skip a test for which something is not installed; fail where everything has to be there."""
    if os.environ.get("GITMEM_REQUIRE_ALL"):
        pytest.fail(f"{what} is not installed, and GITMEM_REQUIRE_ALL is set.")
    pytest.skip(f"{what} is not installed")


@dataclass(frozen=True)
class Answer:
    """What the server answered."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


class Served:
    """A server that runs."""

    def __init__(self, repo: Path, *args: str, program: Sequence[str] = COLD) -> None:
        self.repo = repo
        self.process = subprocess.Popen(
            [*program, "-C", str(repo), "dashboard", "--no-open", "--json", *args],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        text = ""
        assert self.process.stdout is not None
        while True:
            line = self.process.stdout.readline()
            text += line
            if line == "}\n":
                break
            assert line, f"the server did not start: {self.process.communicate()[1]}"
        self.url: str = json.loads(text)["data"]["page_url"]
        self.port = urlsplit(self.url).port or 0
        self.token = self.url.partition("#token=")[2]

    def ask(
        self, path: str, method: str = "GET", body: object = None, **headers: str | None
    ) -> Answer:
        """Send a request with the token; a header that is None is not sent."""
        given = {"Authorization": f"Bearer {self.token}"}
        if body is not None:
            given["Content-Type"] = "application/json"
        for name, value in headers.items():
            given.pop(name.replace("_", "-"), None)
            if value is not None:
                given[name.replace("_", "-")] = value
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, data, given)
            response = connection.getresponse()
            return Answer(response.status, dict(response.getheaders()), response.read())
        finally:
            connection.close()

    def data(self, path: str) -> Any:
        """Return what the server shows at a path below /api/."""
        answer = self.ask(f"/api/{path}")
        assert answer.status == 200, answer.body
        return answer.json

    def seen(self, *ids: str) -> dict[str, str]:
        """Return the versions of facts that the page would show now."""
        return {id: self.data(f"facts/{id}")["record"]["blob"] for id in ids}

    def act(self, action: str, **given: object) -> Any:
        """Have the server do something."""
        answer = self.ask("/api/do", "POST", {"action": action, **given})
        assert answer.status == 200, answer.body
        return answer.json

    @property
    def memory(self) -> float:
        """The megabytes that the process holds."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            size = next(line for line in file if line.startswith("VmRSS:"))
        return int(size.split()[1]) / 1024

    def stop(self) -> None:
        """End it."""
        if self.process.poll() is None:
            self.process.terminate()
        try:
            self.process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """The shop, made once, and the ids of its facts."""
    home = tmp_path_factory.mktemp("template-home")
    folder = tmp_path_factory.mktemp("template") / "shop"
    folder.mkdir()
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("GIT_", "GITMEM_", "XDG_"))}
    world = {"HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1", "TZ": "UTC", "LC_ALL": "C.UTF-8"}
    with mock.patch.dict(os.environ, kept | world, clear=True):
        ids = sample.make_shop(folder)
    return folder, ids


@pytest.fixture
def ids(template: tuple[Path, dict[str, str]]) -> dict[str, str]:
    """The ids of the shop's facts, by short names."""
    return template[1]


@pytest.fixture
def shop(template: tuple[Path, dict[str, str]], tmp_path: Path) -> Path:
    """A shop that a test may change."""
    folder = tmp_path / "shop"
    shutil.copytree(template[0], folder, symlinks=True)
    git(folder, "status")
    return folder


@pytest.fixture(scope="session")
def nursed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    """The words that start `git mem` with the dashboard's modules loaded."""
    with nursery(tmp_path_factory.mktemp("n"), "gitmem", *LOADED) as command:
        yield command


@pytest.fixture
def serve(nursed: list[str]) -> Iterator[Callable[..., Served]]:
    """Start servers that end with the test; `cold` ones as a person does."""
    started: list[Served] = []

    def start(repo: Path, *args: str, cold: bool = False) -> Served:
        started.append(Served(repo, *args, program=COLD if cold else nursed))
        return started[-1]

    yield start
    for served in started:
        served.stop()


@pytest.fixture
def served(shop: Path, serve: Callable[..., Served]) -> Served:
    """The dashboard of the shop."""
    return serve(shop)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """One Chromium for the tests of a module.

    Its event loop runs until then, and asynchronous tests of other modules need one of their own.
    """
    if not os.path.exists(CHROMIUM):
        missing("chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


class Pages:
    """Opens pages; a test fails when one of them had an error."""

    def __init__(self, browser: Any) -> None:
        self._browser = browser
        self._contexts: list[Any] = []
        self.errors: list[str] = []

    def open(self, url: str, **options: Any) -> Any:
        """Return a page at an address, in a context of its own."""
        context = self._browser.new_context(**options)
        self._contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on(
            "console",
            lambda message: (
                self.errors.append(message.text) if message.type in {"error", "warning"} else None
            ),
        )
        page.goto(url)
        return page

    def expect(self, part: str) -> None:
        """Take errors with these words, so far, for none: a page was refused what it asked for."""
        self.errors = [error for error in self.errors if part not in error]

    def close(self) -> None:
        """Close all."""
        for context in self._contexts:
            context.close()


@pytest.fixture
def pages(browser: Any) -> Iterator[Pages]:
    """Open pages that are closed with the test."""
    made = Pages(browser)
    yield made
    made.close()
    assert made.errors == []


def go(page: Any, to: str) -> None:
    """Go to a view."""
    page.evaluate("to => { location.hash = to }", f"#/{to}")
