"""`git mem scout`: what matters for a task, each with why; what hooks tell of it."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.codemap.search.question import Question, any_of, camel_parts, resembles, split_name
from gitmem.text.tokens import tokens
from tests.codemap.graph.projects import commit, mem, new, write
from tests.conftest import git
from tests.json_output import data_of

FILES = {
    "shop/__init__.py": "",
    "shop/cart.py": '"""The cart."""\n\nfrom shop.money import round_half\n\n\nclass Cart:\n    def total(self):\n        """Add the prices of all lines."""\n        return round_half(1.5)\n',
    "shop/money.py": "def round_half(x):\n    return int(x + 0.5)\n\n\ndef format_price(x):\n    return str(x)\n",
    "shop/mail.py": "def send_invoice(address):\n    subject = 'Your invoice'\n    return subject, address\n",
    "shop/stock.py": "class Warehouse:\n    def reserve_items(self, count):\n        return count\n",
    "shop/taxes.py": "def vat(x):\n    return x * 0.2\n",
    "tests/test_money.py": "from shop.money import round_half\n\n\ndef test_round_half():\n    assert round_half(1.5) == 2\n",
    "docs/notes.md": "# Notes\n",
}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A small project with a history."""
    repo = new(tmp_path / "shop")
    commit(repo, FILES, "First")
    for number in range(3):
        commit(
            repo,
            {
                "shop/taxes.py": f"def vat(x):\n    return x * 0.{number}\n",
                "shop/stock.py": FILES["shop/stock.py"] + f"# {number}\n",
            },
            "Follow the decree on reverse charges",
        )
    return repo


def scout(repo: Path, *args: str) -> dict:
    """Return what is found, as JSON."""
    return data_of(mem(repo, "scout", *args, "--json").stdout)


def first(repo: Path, task: str) -> tuple[str, list[str]]:
    """Return the first file of a task, and why."""
    found = scout(repo, task)["files"][0]
    return found["path"], found["reasons"]


def test_each_kind_of_evidence(shop: Path):
    """A path, a module, a name, words in camel and snake case, a message of the history, what changes with it."""
    path, why = first(shop, "please look at shop/mail.py again")
    assert path == "shop/mail.py" and "named in the task" in why
    assert (
        "named in the task"
        in first(shop, 'File "/home/x/src/shop/stock.py", line 3, in reserve_items\n  IndexError')[
            1
        ]
    )
    assert first(shop, "shop.money is slow")[0] == "shop/money.py"
    path, why = first(shop, "`round_half` is wrong for negative amounts")
    assert path == "shop/money.py" and "defines round_half" in why
    assert first(shop, "the invoice subject should name the order")[0] == "shop/mail.py"
    assert first(shop, "ReserveItems should check the count")[0] == "shop/stock.py"
    path, why = first(shop, "reverse charges by decree are applied twice")
    assert path in {"shop/taxes.py", "shop/stock.py"}
    assert any(one.startswith("changed by ") for one in why) and not any(
        "Follow the decree" in one for one in why
    )
    assert any(
        "changes together with" in one
        for one in scout(shop, "vat of reverse charges")["files"][1]["reasons"]
    )


def test_definitions_tests_and_what_is_remembered(shop: Path):
    """Definitions with their lines; tests and examples apart; gotchas and memories of the files that it is about."""
    mem(
        shop,
        "add",
        "-k",
        "gotcha",
        "Rounding half is banker's on invoices",
        "--anchor",
        "shop/money.py#round_half",
    )
    mem(shop, "add", "round_half rounds invoices once, at the end", "-t", "decision")
    write(
        shop,
        {
            "docs_src/rounding.py": "from shop.money import round_half\n\n# invoices wrongly rounded\nround_half(1)\n"
        },
    )
    found = scout(shop, "round_half rounds invoices wrongly")
    assert {"qualified_name": "round_half", "kind": "function", "line": 1} in found["files"][0][
        "symbols"
    ]
    assert [one["path"] for one in found["files"] if one["is_secondary"]] == [
        "docs_src/rounding.py",
        "tests/test_money.py",
    ]
    assert {one["kind"] for one in found["records"]} == {"gotcha", "memory"}
    out = mem(shop, "scout", "round_half", "rounds", "invoices", "wrongly").stdout
    assert (
        out.startswith("Files\n 1. shop/money.py: defines round_half")
        and "\nTests and examples\n" in out
        and "\nRemembered\n" in out
    )


def test_saved_findings_are_memories_with_anchors(shop: Path):
    """Scored, anchored in definitions, once for a task; not found again as what is remembered."""
    saved = scout(shop, "--save", "round_half is wrong for negative amounts")["saved_ids"]
    assert saved
    record = data_of(mem(shop, "show", saved[0], "--json").stdout)[0]
    record = record[0] if isinstance(record, list) else record
    assert record["title"] == "shop/money.py matters for: round_half is wrong for negative amounts"
    assert (record["type"], record["tags"], record["origin"]) == ("context", ["scout"], "extracted")
    assert (record["anchors"][0]["path"], record["anchors"][0]["symbol"]) == (
        "shop/money.py",
        "round_half",
    )
    assert record["anchors"][0]["commit"] == git(shop, "rev-parse", "HEAD")
    assert 3 <= record["importance"] <= 7
    tip = git(shop, "rev-parse", "refs/gitmem/local/main")
    assert scout(shop, "--save", "round_half is wrong for negative amounts")["saved_ids"] == saved
    assert git(shop, "rev-parse", "refs/gitmem/local/main") == tip
    assert scout(shop, "round_half is wrong for negative amounts")["records"] == []
    shared = scout(shop, "--save", "--shared", "send_invoice fails without an address")["saved_ids"]
    assert shared and git(shop, "rev-parse", "refs/gitmem/heads/main")


def test_budget_and_limits(shop: Path):
    """As much as fits; at least the first."""
    out = mem(
        shop, "scout", "--budget", "60", "round_half rounds the prices of a cart and its invoice"
    ).stdout
    assert tokens(out) <= 75
    assert (
        len(
            [
                one
                for one in scout(shop, "-n", "1", "round the price of the cart")["files"]
                if not one["is_secondary"]
            ]
        )
        == 1
    )


def test_what_is_not_committed_and_other_commits(shop: Path):
    """New files are found before they are committed; `--at` knows neither them nor what came later."""
    write(shop, {"shop/coupons.py": "def redeem_coupon(code):\n    return code\n"})
    assert first(shop, "redeem_coupon fails")[0] == "shop/coupons.py"
    assert all(
        one["path"] != "shop/coupons.py"
        for one in scout(shop, "--at", "HEAD", "redeem_coupon fails")["files"]
    )
    assert not any(
        "decree" in why
        for one in scout(shop, "--at", "HEAD~3", "decree on reverse charges")["files"]
        for why in one["reasons"]
    )
    # what was asked of another commit changed nothing
    assert first(shop, "redeem_coupon fails")[0] == "shop/coupons.py"


def test_wrong_things(tmp_path: Path, shop: Path):
    """Nothing said, nothing found, no commit to keep something of, bytes that are no text."""
    assert "say what is to be done" in mem(shop, "scout", " ", code=2).stderr
    mem(shop, "scout", code=2)
    assert "no file or record matches" in mem(shop, "scout", "zzz qqq").stdout
    assert "nothing was found" in mem(shop, "scout", "--save", "zzz qqq", code=1).stderr
    for more in (["--save"], ["--at", "HEAD"]):
        done = mem(new(tmp_path / more[0]), "scout", "x", *more, code=1)
        assert "there is no commit yet" in done.stderr
    done = subprocess.run(
        [sys.executable, "-m", "gitmem", "-C", str(shop), "scout", "-"],
        input=b"\xff\0 round_half \xfe",
        capture_output=True,
        check=True,
    )
    assert b"shop/money.py" in done.stdout


def test_a_larger_task_is_told_its_files_by_the_prompt_hook(shop: Path):
    """Once a context, when more than words speak for them; not for a question in passing, not when it is off."""
    mem(shop, "init")

    def hook(event: str, **fields: str) -> str:
        payload = {
            "session_id": "s1",
            "cwd": str(shop),
            "transcript_path": "/nowhere",
            "hook_event_name": event,
            **fields,
        }
        return subprocess.run(
            [sys.executable, "-m", "gitmem", "hook", "claude"],
            input=json.dumps(payload),
            capture_output=True,
            text=True,
            check=True,
            cwd=shop,
        ).stdout

    hook("SessionStart", source="startup")
    dna = ("ls-tree", "--name-only", "refs/gitmem/local/main", "dna/")  # it comes last
    until = time.monotonic() + 60
    while not git(shop, *dna, ok=(0, 128)):
        assert time.monotonic() < until
        time.sleep(0.02)
    task = "Invoices show wrong amounts: round_half should round negative amounts away from zero, also in Cart.total, with tests"
    assert hook("UserPromptSubmit", prompt="what is round_half?") == ""
    said = hook("UserPromptSubmit", prompt=task)
    assert "- [code] this may be about " in said and "shop/money.py (defines round_half)" in said
    assert hook("UserPromptSubmit", prompt=task) == ""
    git(shop, "config", "gitmem.scout", "false")
    assert hook("UserPromptSubmit", session_id="s2", prompt=task) == ""


def test_names_are_taken_apart():
    """camelCase, snake_case, acronyms, digits."""
    assert split_name("getHTTPServer2_by_id") == ["get", "http", "server", "2", "by", "id"]
    assert camel_parts("a fooBar and XMLParser, plain") == "foo bar xml parser"
    asked = Question("Fix `Cart.total` in src/app/cart.py:12 when save_all() fails\n\nMore text")
    assert asked.title == "Fix `Cart.total` in src/app/cart.py:12 when save_all() fails"
    assert "src/app/cart.py" in asked.paths
    assert {"Cart", "total", "save_all"} <= set(asked.names)
    assert "Cart.total" in asked.dotted
    assert resembles("src/app/cart.py", "app/cart.py") and resembles(
        "app/cart.py", "/usr/lib/python3/app/cart.py"
    )
    assert not resembles("src/app/cart.py", "smart/cart.py")


@given(st.text(max_size=400))
def test_any_text_is_a_question(text: str):
    """No text makes a query that is not one, or takes long."""
    asked = Question(text)
    import sqlite3

    db = sqlite3.connect(":memory:")
    db.execute("CREATE VIRTUAL TABLE code USING fts5 (path, symbols, body)")
    for query in (
        asked.all_words,
        asked.title_words,
        asked.phrases,
        asked.path_words,
        any_of(asked.words),
    ):
        if query:
            db.execute("SELECT rowid FROM code WHERE code MATCH ?", (query,)).fetchall()
