"""The prompt hook speaks only when something speaks for what it tells: files, and facts."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from gitmem.codemap.search.question import split_name
from gitmem.text.tokenizer import parts
from tests.codemap.graph.projects import commit, mem, new
from tests.conftest import git
from tests.json_output import data_of

FILES = {
    "shop/cart.py": "class Cart:\n    def total(self):\n        # the sum of all lines, with their discounts\n        return sum(line.price for line in self.lines)\n",
    "shop/delivery.py": "def quote_parcel(weight, country):\n    # the price for a parcel, by the tariff of the carrier\n    return tariff(country) * weight\n",
    "shop/mail.py": "def send_reminder(customer):\n    # a polite letter about an unpaid invoice\n    return render('reminder', customer)\n",
    "shop/session.py": "class Session:\n    def expire(self):\n        # signs the visitor out after an hour without a request\n        self.cookie = None\n",
    "shop/stock.py": "def reserve(item, count):\n    # keeps items for an order until it is paid\n    return count\n",
    "shop/taxes.py": "def vat(amount):\n    return amount * 0.2\n",
}
UNRELATED = (
    "Write a polite letter to my landlord: the heating has been broken for two weeks, and I want the rent reduced until it is repaired.",
    "Plan a trip to Rome for two adults and a child, with small museums, ice cream, an hour of rest each day and no request for a car.",
    "Draft an email to the parents of my class: the visitor from the zoo comes on Tuesday, and the children need boots and a snack.",
    "Give me a recipe for six people with chickpeas and old bread, the weight of each item, and the order in which I prepare them.",
    "Was kostet ein Paket nach Norwegen, wenn es vier Kilo wiegt und meine Schwester es bis zu ihrem Geburtstag bekommen soll?",
)
USEFUL = {
    "The price of a parcel is wrong when the country has no tariff of its own: the weight is multiplied by nothing and the carrier refuses it": "shop/delivery.py",
    "A visitor is signed out although a request came in less than an hour ago, and the cookie of the session is empty after that": "shop/session.py",
    "Customers complain that two of them bought the same thing; `reserve` should look at what others took before, and refuse politely": "shop/stock.py",
    "Please look at shop/taxes.py again, the accountant says that books and newspapers are charged too much since the first of January": "shop/taxes.py",
}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A small project whose code was searched once; one commit touched all files, one a single file."""
    repo = new(tmp_path / "shop")
    commit(repo, FILES, "Write letters, plan the trip of a parcel, and give an order")
    commit(
        repo,
        {path: f"{text}\n" for path, text in FILES.items()},
        "Follow the decree on reverse charges for foreign buyers",
    )
    commit(
        repo,
        {"shop/taxes.py": f"{FILES['shop/taxes.py']}\n\n"},
        "Round half pennies upwards, as the revenue office demands",
    )
    mem(repo, "init", "--no-remote")
    mem(repo, "scout", "round_half")
    return repo


def asked(repo: Path, prompt: str) -> str:
    """Return what a session that is told nothing yet hears at this prompt."""
    payload = {
        "session_id": f"of {prompt}",
        "cwd": str(repo),
        "transcript_path": "/nowhere",
        "hook_event_name": "UserPromptSubmit",
        "permission_mode": "default",
        "prompt": prompt,
    }
    out = subprocess.run(
        [sys.executable, "-m", "gitmem", "hook", "claude"],
        input=json.dumps(payload),
        capture_output=True,
        text=True,
        check=True,
        cwd=repo,
    ).stdout
    return str(json.loads(out)["hookSpecificOutput"]["additionalContext"]) if out else ""


def test_prompts_about_other_things_name_no_file(shop: Path):
    """Each shares words with the code, with names in it or with a commit's message."""
    assert [asked(shop, prompt) for prompt in UNRELATED] == [""] * len(UNRELATED)


def test_prompts_about_the_code_name_its_files(shop: Path):
    """By most of their words, by a name that is written as code, by a path."""
    for prompt, path in USEFUL.items():
        assert f"this may be about {path}" in asked(shop, prompt)


def test_a_commit_speaks_for_a_file_only_when_it_touched_few(shop: Path):
    """The same share of a prompt is in both messages."""
    few = "As the revenue office demands, half pennies have to be rounded upwards, not towards the nearest even number"
    many = "Reverse charges for foreign buyers: follow the decree of last summer, and tell them so at the checkout"
    assert f"shop/taxes.py (changed by {git(shop, 'rev-parse', 'HEAD')[:8]})" in asked(shop, few)
    assert asked(shop, many) == ""
    assert not any(
        "changed by" in reason
        for file in data_of(mem(shop, "scout", many, "--json").stdout)["files"]
        for reason in file["reasons"]
    )


def test_a_common_word_brings_no_fact(shop: Path):
    """A record is told for what it is about, not for a day or a time in it."""
    mem(shop, "add", "No release on Tuesday afternoon", "-m", "Nobody is there.", "-t", "rule")
    mem(shop, "add", "Each order has a weight limit of thirty kilos", "-t", "fact")
    assert [asked(shop, prompt) for prompt in UNRELATED] == [""] * len(UNRELATED)
    assert "weight limit" in asked(shop, "What is the weight limit of an order, in kilos?")


@pytest.mark.parametrize("task", ["fix bug", "please make the code faster", "add a test"])
def test_scout_says_that_nothing_speaks_for_any_file(shop: Path, task: str):
    """A task of such words is about no file more than another."""
    commit(shop, {"shop/bugs.py": "# fix the bug, make it faster, add a test, please\n"}, "Fix bug")
    assert mem(shop, "scout", task).stdout.startswith("no file or record matches")
    assert data_of(mem(shop, "scout", task, "--json").stdout)["files"] == []


def test_an_acronym_in_the_plural_is_one_word():
    """In a name, and alone; what follows it is a word of its own."""
    assert split_name("URLs") == ["urls"]
    assert split_name("parseURLsOfPage") == ["parse", "urls", "of", "page"]
    assert split_name("HTTPServer") == ["http", "server"]
    assert parts("parseURLs") == "parse URLs"
