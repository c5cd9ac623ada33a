"""Real CLIs: who wrote a line is told rightly, through edits, moves, refactorings by another session, squashes, rebases. Thirty cases, ten an agent."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agents.fake_model import FakeModel, Step
from tests.agents.world import World, sessions
from tests.conftest import git
from tests.hooks.conftest import run
from tests.json_output import data_of
from tests.scale import FULL

# what the others write is in `test_shared_real` too
AGENTS = ("claude", "gemini", "codex") if FULL else ("codex",)
LEDGER = """import os


def opening_balance():
    return float(os.environ["OPENING_BALANCE"])


def closing_balance():
    return opening_balance() + 1
"""


@pytest.fixture(params=AGENTS)
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    """One agent with a repository and its remote."""
    with FakeModel() as model:
        yield World(request.param, tmp_path, model)


def session(world: World, path: Path, prompt: str, *steps: Step) -> str:
    """Let the agent work; return the id of the session that this was."""
    before = {one["id"] for one in sessions(path)}
    world.work(path, prompt, *steps)
    (new,) = [one["id"] for one in sessions(path) if one["id"] not in before]
    return str(new)


def edit(world: World, file: Path, old: str, new: str) -> tuple[Step, Step]:
    """Return the steps of an edit; Claude Code changes no file that it has not read."""
    return world.read(file), world.edit(file, old, new)


def line_of(path: Path, text: str) -> str:
    """Return the place of the line of a file that has a text, as `why` takes it."""
    (number,) = [n for n, line in enumerate(path.read_text().splitlines(), 1) if text in line]
    return f"{path}:{number}"


def first(path: Path, file: Path, text: str) -> str:
    """Return the session that `why` names first for a line."""
    found = data_of(run(path, "why", line_of(file, text), "--json"))[0]
    return next((one["id"] for origin in found["origins"] for one in origin["sessions"]), "")


def person(path: Path, *args: str) -> None:
    """Have a person run git in a terminal."""
    git(path, *args)


def test_who_wrote_a_line(world: World):
    """Each of ten lines is its session's; nine sessions in one repository take their time."""
    path = world.install(world.first)
    main = git(path, "branch", "--show-current")
    ledger, pay, base = path / "app/ledger.py", path / "app/pay.py", path / "app/base.py"
    person(path, "config", "user.name", "Grace")
    person(path, "config", "user.email", "grace@example.org")
    ledger.write_text(LEDGER)
    person(path, "add", "-A")
    person(path, "commit", "-qm", "A ledger")

    # 1: an edit that the agent itself commits; 2: a file that it writes by a command, and commits
    one = session(
        world,
        path,
        "Round the closing balance",
        *edit(
            world,
            ledger,
            "    return opening_balance() + 1",
            "    return round(opening_balance() + 1, 2)",
        ),
        world.shell(
            f"printf 'def fees():\\n    return [0.5, 0.7]\\n' > {base} && git add -A && git commit -qm 'Round; fees'"
        ),
    )
    # 3 and 4: two sessions whose edits a person commits together
    two = session(
        world,
        path,
        "Default balance",
        *edit(
            world,
            ledger,
            '    return float(os.environ["OPENING_BALANCE"])',
            '    return float(os.environ.get("OPENING_BALANCE", "0"))',
        ),
    )
    three = session(
        world,
        path,
        "More fees",
        *edit(world, base, "    return [0.5, 0.7]", "    return [0.5, 0.7, 0.9]"),
    )
    person(path, "commit", "-qam", "Both")
    # 5: a second session renames the file and changes another line; what stood in it stays whose it
    # was
    four = session(
        world,
        path,
        "Rename the ledger",
        world.shell(f"git mv {ledger} {path / 'app/books.py'}"),
        *edit(
            world, path / "app/books.py", "def closing_balance():", "def closing_balance(digits=2):"
        ),
    )
    books = path / "app/books.py"
    person(path, "commit", "-qam", "Books")
    # 6 and 7: a branch of two sessions, squashed
    person(path, "checkout", "-q", "-b", "topic")
    five = session(
        world,
        path,
        "Read the rate once",
        *edit(world, pay, "print(rate())", "RATE_OF_TODAY = rate()\nprint(RATE_OF_TODAY)"),
        world.shell("git commit -qam 'Read once'"),
    )
    six = session(
        world,
        path,
        "Say what it is",
        *edit(world, pay, "print(RATE_OF_TODAY)", 'print("rate of today", RATE_OF_TODAY)'),
    )
    person(path, "commit", "-qam", "Say it")
    person(path, "checkout", "-q", main)
    person(path, "merge", "-q", "--squash", "topic")
    person(path, "commit", "-qm", "Rate of today (#7)")
    # 8 and 9: a commit that is rebased, and amended by a person
    person(path, "checkout", "-q", "-b", "late", "HEAD~1")
    seven = session(
        world,
        path,
        "Add a limit",
        world.shell(
            "printf 'LIMIT_OF_A_DAY = 1000\\n' > app/limit.py && git add -A && git commit -qm 'A limit'"
        ),
    )
    person(path, "rebase", "-q", main)
    eight = session(
        world,
        path,
        "Explain the limit",
        *edit(
            world,
            path / "app/limit.py",
            "LIMIT_OF_A_DAY = 1000",
            "LIMIT_OF_A_DAY = 1000  # euros, by the bank",
        ),
    )
    person(path, "commit", "-qam", "Explain", "--amend")

    run(path, "drain")
    asked = [
        (books, "round(opening_balance()", one),
        (base, "def fees():", one),
        (books, "os.environ.get", two),
        (base, "0.7, 0.9", three),
        (books, "digits=2", four),
        (pay, "RATE_OF_TODAY = rate()", five),
        (pay, '"rate of today"', six),
        (path / "app/limit.py", "euros, by the bank", eight),
    ]
    told = [(text, first(path, file, text), right) for file, text, right in asked]
    # 9: the same change on another branch, cherry-picked before the amend, is its first session's;
    # 10: what is not committed
    person(path, "checkout", "-q", "-b", "picked", main)
    person(path, "cherry-pick", "late@{1}")
    run(path, "drain")
    told.append(("LIMIT_OF_A_DAY", first(path, path / "app/limit.py", "LIMIT_OF_A_DAY"), seven))
    nine = session(
        world,
        path,
        "Another limit",
        *edit(
            world,
            path / "app/limit.py",
            "LIMIT_OF_A_DAY = 1000",
            "LIMIT_OF_A_DAY = 2000\nLIMIT_OF_A_WEEK = 9000",
        ),
    )
    told.append(("LIMIT_OF_A_WEEK", first(path, path / "app/limit.py", "LIMIT_OF_A_WEEK"), nine))

    assert [one for one in told if one[1] != one[2]] == []
