"""Examples of the pages run in a small shop, and print what the pages say."""

import os
import sys
from pathlib import Path

import pytest

from tests.conftest import git
from tests.house.conftest import ROOT
from tests.house.transcripts import assert_as_printed, play, section, steps

PAY = """\
import os
from decimal import Decimal


class Cart:
    def __init__(self):
        self.items = []

    def total(self):
        return sum(price for price, _ in self.items)

    def size(self):
        return len(self.items)

    def to_json(self):
        return {"total": float(self.total())}


def tax():
    return Decimal(os.environ["TAX_RATE"])


def charge(cart, client):
    data = cart.to_json()

    # the gateway is slow
    return client.post("/charge", data=data, timeout=30)
"""
MISTAKE = "workflows: {release: {transitions: [{trigger: tag, state: Cut It}]}}"
ANA = "GIT_COMMITTER_NAME=Ana GIT_COMMITTER_EMAIL=ana@example.org"
BEN = "GIT_COMMITTER_NAME=Ben GIT_COMMITTER_EMAIL=ben@example.org"
SHOP = {
    "app/pay.py": PAY,
    "app/refund.py": "import time\n\n\ndef refund():\n    time.sleep(3)\n",
    "migrations/001.sql": "CREATE TABLE orders (id int);\n",
    "tests/test_pay.py": "def test_pay():\n    pass\n",
    "src/payments.py": "KEY = 1\n",
    "scripts/deploy.sh": "rsync -a app/ shop:\n",
    ".gitmem/README": "The workflows are here.\n",
    "../link.log": "collect2: fatal error: ld terminated with signal 9 [Killed]\n",
}


@pytest.fixture
def shop(repo: Path) -> Path:
    """The project that the pages speak of."""
    for name, text in SHOP.items():
        path = repo / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    git(repo, "add", ".")
    git(repo, "commit", "-qm", "Shop")
    return repo


@pytest.mark.parametrize(
    ("page", "title", "before"),
    [
        ("docs/gotchas.md", "Adding a gotcha", []),
        ("docs/anchors.md", "Naming a place", []),
        (
            "docs/search.md",
            "Search",
            [
                'git mem add "Use SERIALIZABLE for payments" -t decision -m "Two runs lost updates."',
            ],
        ),
        ("docs/sessions.md", "Your own sessions", []),
        ("docs/history.md", "Events", []),
        ("docs/work.md", "Epics", []),
        ("docs/work.md", "Handing over", []),
        (
            "docs/work.md",
            "Defining workflows",
            [f"echo '{MISTAKE}' >.gitmem/workflows.yaml"],
        ),
        (
            "docs/lifecycle.md",
            "Facts that contradict each other",
            [
                f"{ANA} git mem add -t decision 'The session store is Redis'",
                "sleep 1  # the second fact is said in another second",
                f"{BEN} git mem add -t decision 'The session store is Memcached'",
            ],
        ),
        (
            "docs/lifecycle.md",
            "Facts against the code",
            [
                f"{ANA} git mem add -t decision 'Deploy with scripts/deploy.sh'",
                "sleep 1  # commits have whole seconds",
                "git rm -q scripts/deploy.sh && git -c user.name=Ana -c user.email=ana@example.org commit -qm CI",
            ],
        ),
        ("docs/git-hooks.md", "Git hooks", []),
        ("docs/agents/claude.md", "Set-up", []),
        ("docs/agents/README.md", "Agents", []),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_example_prints_what_its_page_says(
    page: str, title: str, before: list[str], shop: Path
) -> None:
    """The first block below the heading, and those of a small section, typed as they stand."""
    text = (ROOT / page).read_text(encoding="utf-8")
    part = section(text, title)
    if title in {"Search", "Epics", "Git hooks", "Agents"}:  # its first block
        part = part[: part.index("\n```\n") + 5]
    transcript = steps(part)
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    printed = play([*before, *(command for command, _ in transcript)], shop, env)

    assert transcript
    assert_as_printed(transcript, printed[len(before) :])
