"""What people do with files that agents have changed, before and after the commit.

Each case changes a copy of one repository in which two sessions were at work and nothing of it is committed yet.
A line's own text says who wrote it (`alpha` and `beta` the sessions, `person` a person); a line that says nothing
is of whoever wrote the one above it.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from tests.conftest import git

LEDGER = """import os
import json


def person_opening(person_rate):
    person_total = person_rate * 2
    return None


def person_closing():
    return os.environ["PERSON_CLOSING"]


def person_fees():
    return [0.5]
"""
BOOKS = "import os\n\n\ndef person_books():\n    return None\n"
OLD_CLOSING = '    return os.environ["PERSON_CLOSING"]'
NEW_CLOSING = '    alpha_value = float(os.environ.get("ALPHA_CLOSING", "0"))\n    return round(alpha_value, 2)'
OLD_FEES = "    return [0.5]"
NEW_FEES = "    beta_fees = [0.5, 0.75]\n    return beta_fees\n\n\ndef beta_refund(beta_amount):\n    beta_due = beta_amount * 3\n    return None"
OLD_BOOKS = "    return None"
NEW_BOOKS = (
    "    return None\n\n\nlogger = logging.getLogger(__name__)\n\n\ndef alpha_balance(alpha_first, alpha_second):\n"
    "    alpha_sum = alpha_combined(alpha_first, alpha_second, alpha_scale)\n    return alpha_sum"
)
MADE = "def alpha_made():\n    alpha_rows = [1, 2, 3]\n    return alpha_rows\n"
SILENT = ("logger = logging.getLogger(__name__)",)

Case = Callable[[Path], Sequence[str]]
CASES: dict[str, Case] = {}


def case(function: Case) -> Case:
    """Add a case, by its name."""
    CASES[function.__name__] = function
    return function


def change(path: Path, name: str, old: str, new: str) -> None:
    """Let a person replace a part of a file."""
    file = path / "app" / name
    text = file.read_text()
    assert old in text, (name, old, text)
    file.write_text(text.replace(old, new, 1))


def append(path: Path, name: str, text: str) -> None:
    """Let a person add lines at the end of a file."""
    file = path / "app" / name
    before = file.read_text() if file.exists() else ""
    file.write_text(before + text)


def commit(path: Path, message: str = "Work") -> None:
    """Let a person commit everything."""
    git(path, "add", "-A")
    git(path, "commit", "-qm", message)


ALL = ("ledger.py", "books.py", "made.py")


@case
def committed_as_it_is(path: Path) -> Sequence[str]:
    commit(path)
    return ALL


@case
def many_lines_of_a_person_in_the_file(path: Path) -> Sequence[str]:
    append(path, "ledger.py", "".join(f"PERSON_LIMIT_{n} = {n}\n" for n in range(98)))
    commit(path)
    return ALL


@case
def another_file_of_the_commit(path: Path) -> Sequence[str]:
    append(
        path,
        "other.py",
        "import logging\n\nlogger = logging.getLogger(__name__)\n\n\ndef person_other():\n    return None\n",
    )
    commit(path)
    return (*ALL, "other.py")


@case
def rewritten_before_the_commit(path: Path) -> Sequence[str]:
    change(
        path, "ledger.py", "return round(alpha_value, 2)", "return round(alpha_value, 4)  # person"
    )
    change(path, "ledger.py", "beta_due = beta_amount * 3", "beta_due = person_factor(beta_amount)")
    commit(path)
    return ALL


@case
def squashed(path: Path) -> Sequence[str]:
    main = git(path, "branch", "--show-current")
    git(path, "checkout", "-qb", "topic")
    commit(path)
    append(path, "ledger.py", "\n\ndef person_later():\n    return None\n")
    commit(path, "More")
    git(path, "checkout", "-q", main)
    git(path, "merge", "-q", "--squash", "topic")
    git(path, "commit", "-qm", "Squashed")
    return ALL


@case
def amended(path: Path) -> Sequence[str]:
    commit(path)
    change(
        path,
        "books.py",
        "    return alpha_sum",
        "    return alpha_sum\n\n\ndef person_amended():\n    return None",
    )
    change(path, "ledger.py", "beta_fees = [0.5, 0.75]", "beta_fees = [0.5, 0.75, 9]  # person")
    git(path, "commit", "-qa", "--amend", "-m", "Amended")
    return ALL


@case
def rebased(path: Path) -> Sequence[str]:
    main = git(path, "branch", "--show-current")
    git(path, "checkout", "-qb", "topic")
    commit(path)
    git(path, "checkout", "-q", main)
    change(
        path,
        "ledger.py",
        "import json\n",
        "import json\nimport logging\n\nPERSON_TOP = 1\nPERSON_NEXT = 2\n",
    )
    commit(path, "Above")
    git(path, "checkout", "-q", "topic")
    git(path, "rebase", "-q", main)
    return ALL


@case
def picked(path: Path) -> Sequence[str]:
    main = git(path, "branch", "--show-current")
    git(path, "checkout", "-qb", "topic")
    append(path, "ledger.py", "\n\ndef person_picked():\n    return None\n")
    commit(path)
    git(path, "checkout", "-q", main)
    append(path, "unrelated.py", "PERSON_UNRELATED = 1\n")
    commit(path, "Unrelated")
    git(path, "cherry-pick", "topic")
    return ALL


@case
def formatted(path: Path) -> Sequence[str]:
    split = "alpha_sum = alpha_combined(\n        alpha_first,\n        alpha_second,\n        alpha_scale,\n    )"
    change(
        path,
        "books.py",
        "alpha_sum = alpha_combined(alpha_first, alpha_second, alpha_scale)",
        split,
    )
    change(path, "ledger.py", '"ALPHA_CLOSING", "0"', "'ALPHA_CLOSING','0'")
    change(
        path,
        "ledger.py",
        "    person_total = person_rate * 2",
        "    person_total = (\n        person_rate * 2  # person\n    )",
    )
    commit(path)
    return ALL


@case
def moved_within_the_file(path: Path) -> Sequence[str]:
    refund = "\n\ndef beta_refund(beta_amount):\n    beta_due = beta_amount * 3\n    return None"
    change(path, "ledger.py", refund, "")
    change(path, "ledger.py", "import json\n", f"import json\n{refund}\n")
    commit(path)
    return ALL


@case
def moved_to_another_file(path: Path) -> Sequence[str]:
    refund = "\n\ndef beta_refund(beta_amount):\n    beta_due = beta_amount * 3\n    return None"
    change(path, "ledger.py", refund, "")
    append(
        path,
        "refunds.py",
        f"PERSON_REFUNDS = 1\n{refund}\n\n\ndef person_end():\n    return None\n",
    )
    commit(path)
    return (*ALL, "refunds.py")


@case
def renamed(path: Path) -> Sequence[str]:
    git(path, "add", "-A")
    git(path, "mv", "app/ledger.py", "app/accounts.py")
    append(path, "accounts.py", "\n\ndef person_renamed():\n    return None\n")
    commit(path)
    return ("accounts.py", "books.py", "made.py")


@case
def not_committed(path: Path) -> Sequence[str]:
    return ("ledger.py", "books.py")


@case
def not_committed_with_lines_of_a_person(path: Path) -> Sequence[str]:
    change(path, "ledger.py", "import json\n", "import json\n\nPERSON_TOP = 1\n")
    append(path, "ledger.py", "\n\ndef person_open():\n    return None\n")
    append(path, "books.py", "\n\ndef person_open():\n    return None\n")
    return ("ledger.py", "books.py")


@case
def boilerplate_of_a_person(path: Path) -> Sequence[str]:
    append(
        path,
        "ledger.py",
        "\n\ndef person_last(person_x):\n    person_y = person_x\n    return None\n",
    )
    append(
        path,
        "module.py",
        "PERSON_MODULE = 1\n\nlogger = logging.getLogger(__name__)\n\n\ndef person_module():\n    return None\n",
    )
    commit(path)
    return (*ALL, "module.py")


@case
def a_function_beside_the_edit(path: Path) -> Sequence[str]:
    change(
        path,
        "ledger.py",
        "def beta_refund(",
        "def person_between(person_x):\n    person_y = person_x\n    return None\n\n\ndef beta_refund(",
    )
    commit(path)
    return ALL


@case
def reverted_and_written_by_hand(path: Path) -> Sequence[str]:
    git(path, "checkout", "-q", "--", "app/ledger.py", "app/books.py")
    change(
        path,
        "ledger.py",
        OLD_FEES,
        "    person_list = [0.5, 0.75]\n    return person_list\n\n\ndef person_due(person_x):\n    return None",
    )
    append(path, "books.py", "\n\nPERSON_LOG = 1\nlogger = logging.getLogger(__name__)\n")
    commit(path)
    return ALL


@case
def other_line_ends(path: Path) -> Sequence[str]:
    for name in ("ledger.py", "books.py"):
        file = path / "app" / name
        file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n").removesuffix(b"\r\n"))
    append(path, "ledger.py", "\r\nPERSON_END = 1")
    commit(path)
    return ALL


@case
def copied_by_a_person(path: Path) -> Sequence[str]:
    commit(path)
    copy = (
        "\n\ndef person_copy(person_amount):\n    person_due = person_amount * 3\n    return None\n"
    )
    append(path, "ledger.py", copy)
    append(path, "books.py", "\n\nPERSON_COPY = 1\nlogger = logging.getLogger(__name__)\n")
    commit(path, "Copies")
    return ALL


@case
def in_two_commits(path: Path) -> Sequence[str]:
    file = path / "app" / "ledger.py"
    whole = file.read_text()
    file.write_text(whole.replace(NEW_FEES, OLD_FEES))
    git(path, "add", "app/ledger.py", "app/books.py")
    git(path, "commit", "-qm", "First")
    file.write_text(whole + "\n\ndef person_second():\n    return None\n")
    commit(path, "Second")
    return ALL


def expected(lines: Sequence[str], sessions: dict[str, str]) -> list[str | None]:
    """Return whose each line is: a session, '' for a person, None for a line that may be either."""
    out: list[str | None] = []
    last = ""
    for line in lines:
        low = line.lower()
        if not line.strip():
            out.append(None)
        elif "person" in low:
            last = ""
            out.append("")
        elif found := next((name for name in sessions if name in low), ""):
            last = sessions[found]
            out.append(last)
        elif line.strip() in SILENT:
            out.append(_of_logger(lines, len(out), sessions))
        else:
            out.append(last)
    return out


def _of_logger(lines: Sequence[str], at: int, sessions: dict[str, str]) -> str:
    """Return whose a line is that says nothing: it comes before what the session wrote, or after a person's constant."""
    above = next((line for line in reversed(lines[:at]) if line.strip()), "")
    below = next((line for line in lines[at + 1 :] if line.strip()), "")
    return sessions["alpha"] if "alpha_balance" in below and "return None" in above else ""
