"""A small shop with a memory that has something for each view; and a large one for measurements."""

import contextlib
import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest import mock

from gitmem.cli.main import run
from gitmem.clock import Clock
from tests.conftest import git

DAY = 86400.0
CODE = '''"""Payments."""

from shop.db import connect

TAX_RATE = 0.19


def pay(order, card):
    """Charge a card for an order."""
    with connect(isolation="SERIALIZABLE") as db:
        total = order.total * (1 + TAX_RATE)
        db.execute("INSERT INTO payments VALUES (?, ?)", (order.id, total))
        return card.charge(total, key=order.id)


def refund(payment):
    """Give money back, once."""
    if payment.refunded:
        return None
    return payment.card.credit(payment.total)
'''


def mem(repo: Path, *args: str, ago: float = 0.0, **env: str) -> Any:
    """Run a command as if so many days ago; return its data."""
    out, err = io.StringIO(), io.StringIO()
    now = time.time() - ago * DAY
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        mock.patch.dict(os.environ, env),
        mock.patch.object(Clock, "now", lambda self: now),
    ):
        code = run(["-C", str(repo), *args, "--json"])
    assert code == 0, f"git mem {args}: {err.getvalue()}"
    return json.loads(out.getvalue())["data"]


def add(repo: Path, title: str, *args: str, ago: float = 0.0, **env: str) -> str:
    """Add a record; return its id."""
    return str(mem(repo, "add", title, *args, ago=ago, **env)["id"])


def hook(repo: Path, event: str, session: str, **fields: object) -> None:
    """Run a hook of Claude Code as it would."""
    payload = {"session_id": session, "cwd": str(repo), "hook_event_name": event, **fields}
    subprocess.run(
        [sys.executable, "-P", "-m", "gitmem", "hook", "claude"],
        input=json.dumps(payload).encode(),
        cwd=repo,
        capture_output=True,
        check=True,
    )


def make_shop(folder: Path) -> dict[str, str]:
    """Make the shop in an empty folder; return the ids of facts by a short name."""
    repo = folder
    git(repo, "init", "-q")
    for key, value in (
        ("user.name", "Ana"),
        ("user.email", "ana@example.org"),
        ("gitmem.dna", "off"),
        ("gitmem.scout", "false"),
    ):
        git(repo, "config", key, value)
    (repo / "shop").mkdir()
    (repo / "shop" / "pay.py").write_text(CODE)
    (repo / "shop" / "db.py").write_text("def connect(isolation):\n    return isolation\n")
    (repo / "README.md").write_text("# Shop\n")
    git(repo, "add", ".")
    git(
        repo,
        "-c",
        "user.name=Ana",
        "-c",
        "user.email=ana@example.org",
        "commit",
        "-qm",
        "Add payments",
    )
    mem(repo, "init", "--no-remote")
    ids = _facts(repo)
    _session(repo)
    return ids


def _facts(repo: Path) -> dict[str, str]:
    ids: dict[str, str] = {}
    ids["old"] = add(repo, "The staging host is called falcon", "-t", "context", "-i", "3", ago=200)
    ids["read-committed"] = add(repo, "Use READ COMMITTED for payments", "-t", "decision", ago=40)
    ids["naming"] = add(repo, "Name modules in the singular", "-t", "rule", "-i", "6", ago=30)
    newer = ("Use SERIALIZABLE for payments", "-t", "decision", "--anchor", "shop/pay.py:8-13")
    text = ("-m", "READ COMMITTED lost two updates under load.", "--tag", "payments")
    ids["serializable"] = mem(repo, "supersede", ids["read-committed"], *newer, *text, ago=20)["id"]
    mem(repo, "pin", ids["serializable"], ago=19)
    ids["short"] = add(repo, "Prefers short commit messages", "-t", "preference", ago=15)
    ids["redis"] = add(repo, "The session store is Redis", "-t", "fact", ago=12)
    more = "READ COMMITTED lost two updates under load.\n\nMeasured with 200 clients."
    mem(repo, "edit", ids["serializable"], "--message", more, ago=10)
    gotcha = ("gotcha", "add", "The CI runner has no TAX_RATE", "--category", "test")
    helps = ("--anchor", "shop/pay.py:5", "--workaround", "Export TAX_RATE=0.19 in the job.")
    ids["tax"] = mem(repo, *gotcha, "--severity", "warning", *helps, ago=6)["id"]
    ids["refunds"] = add(
        repo, "Refunds are idempotent", "-t", "pattern", "--anchor", "shop/pay.py:16-20", ago=5
    )
    mem(repo, "link", ids["refunds"], ids["serializable"], ago=4)
    gotcha = ("gotcha", "add", "Charging twice needs the same key", "--severity", "critical")
    ids["charge"] = mem(repo, *gotcha, "--anchor", "shop/pay.py:13", ago=3)["id"]
    ids["load-test"] = add(repo, "Load-test the checkout endpoint", "-t", "task", ago=2)
    ids["memcached"] = add(repo, "The session store is Memcached", "-t", "fact", ago=1)
    agent = {"CLAUDECODE": "1", "GITMEM_SESSION": "a3f1"}
    ids["agent"] = add(repo, "The invoice job runs at 02:00 UTC", "-t", "fact", ago=0.5, **agent)
    ids["proposal"] = add(
        repo, "Webhooks retry for three days", "-t", "insight", "--private", ago=0.2, **agent
    )
    ids["proposal-2"] = add(
        repo, "Prices are stored in cents", "-t", "rule", "--private", ago=0.1, **agent
    )
    return ids


def _session(repo: Path) -> None:
    session = "5e1f0c2a-shop"
    hook(repo, "SessionStart", session, source="startup")
    hook(repo, "UserPromptSubmit", session, prompt="Make refunds idempotent, please.")
    hook(
        repo,
        "PostToolUse",
        session,
        tool_name="Bash",
        tool_input={"command": "pytest -q"},
        tool_response={"stdout": "3 passed"},
    )
    mem(repo, "session", "end", session)


def _name(number: int) -> str:
    """Return a word that no other number has."""
    letters = "bdfgklmnprstvz"
    word = ""
    while number or not word:
        number, rest = divmod(number, 70)
        word += letters[rest % 14] + "aeiou"[rest // 14]
    return word + "n"


def many(repo: Path, count: int, titles: Sequence[str] = ()) -> None:
    """Put so many facts into the shared store in one commit."""
    from gitmem.app import open_app
    from gitmem.services.records import write
    from gitmem.store import operations
    from gitmem.store.store import Message

    types = ("decision", "rule", "pattern", "fact", "insight", "bug", "context", "task")
    words = "payment refund invoice cart queue cache index token worker retry schema limit".split()
    with open_app(str(repo), os.environ) as app:
        who = app.writer()
        todo = []
        for number in range(count):
            first, second = words[number % 12], words[number // 12 % 12]
            named = (
                f"Look at the {first} of {_name(number)} before the {second} of {_name(number * 7)}"
            )
            title = titles[number] if number < len(titles) else named
            anchors = [{"path": f"src/{first}/{second}.py"}]
            record = write.draft(
                who,
                "memory",
                title,
                f"Measured in run {number}.",
                type=types[number % 8],
                importance=number % 10,
                anchors=anchors,
                tags=[first],
            )
            todo.append(operations.put(record))
        app.store("shared").write(todo, Message("add many facts", "add"))
