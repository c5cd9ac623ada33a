"""What lists print fits the terminal, keeps its columns, and is whole in a pipe."""

import re

import pytest

from gitmem.cli.commands import COMMANDS as COMMAND_NAMES
from gitmem.cli.commands import VARIANTS
from gitmem.cli.screen import cell_count, cut_line, wrap_line
from gitmem.cli.terminal import short_ids
from tests.cli.conftest import Mem, on_terminal
from tests.conftest import git

LONG = "We keep money as NUMERIC(12,2) everywhere, since floats round the cents of invoices"
WIDE = "短い 日本語のタイトル と emoji 🚀🚀 in a title that is quite long as well, to see the width"
COMMANDS = (
    ("list",),
    ("status",),
    ("config",),
    ("config", "share"),
    ("timeline",),
    ("inbox",),
    ("why", "code.py:1"),
    ("search", "money"),
    ("code", "drift"),
    ("gotcha", "list"),
    ("search", "--sessions", "money"),
    ("page", "summary"),
    ("session", "list"),
    ("session", "show"),
    ("session", "briefing"),
    ("code", "evolution", "code.py"),
    ("code", "symbols", "api.py"),
    ("code", "refs", "charge"),
    ("code", "graph"),
    ("gotcha", "for", "code.py"),
    ("check", "--health"),
    ("check",),
    ("scout", "price of an invoice in code"),
    ("code", "dna", "show"),
    ("event", "list"),
    ("error", "list"),
    ("show", "a-record-that-is-not-there"),
    ("nothing-of-this-name-is-a-command-of-git-mem",),
)


@pytest.fixture
def full(mem: Mem) -> Mem:
    """A repository with long titles of each kind, a proposal, an epic, and two branches."""
    (mem.folder / "code.py").write_text("price = 12\n" * 3)
    call = "from code import price\n\n\ndef charge(amount): return amount\n\n\ncharge(price + "
    (mem.folder / "api.py").write_text(f"{call}{' + '.join(['price'] * 30)})\n")
    git(mem.folder, "add", ".")
    git(mem.folder, "commit", "-qm", f"{LONG} and more of it")
    mem.add(LONG, "-t", "decision", "-m", "\n".join([LONG, WIDE]))
    mem.add(WIDE, "-t", "pattern")
    mem("gotcha", "add", LONG, "--anchor", "code.py:1", "--workaround", LONG, "--private")
    mem("add", WIDE, "-t", "rule", "-m", LONG, env={"CLAUDECODE": "1"})
    mem("work", "start", "a-very-long-name-of-an-epic", "--story", LONG, code=None)
    mem("session", "start")
    git(mem.folder, "checkout", "-qb", "a-branch-with-a-name-that-is-long-" + "x" * 40)
    (mem.folder / "code.py").write_text("price = 13\n" * 3)
    git(mem.folder, "commit", "-qam", "other")
    git(mem.folder, "checkout", "-q", "-")
    (mem.folder / "code.py").write_text("price = 14\n" * 3)
    git(mem.folder, "commit", "-qam", "mine")
    return mem


def shown(mem: Mem, columns: int, *command: str) -> list[str]:
    """Return the lines that a command prints on a terminal of a width, without styles."""
    env = {"GIT_PAGER": "cat", "COLUMNS": ""}
    keys = "q" if command == ("inbox",) else ""
    text = on_terminal(mem.folder, *command, keys=keys, env=env, code=None, columns=columns)
    text = re.sub(r"[^\n]*\r\x1b\[K", "", text)  # a line of progress that is gone
    return re.sub(r"\x1b\[[\d;]*m", "", text).split("\n")


@pytest.mark.parametrize("columns", [50, 80])
def test_each_line_fits(full: Mem, columns: int) -> None:
    """Of all commands that list or tell, and of errors."""
    for command in COMMANDS if columns == 50 else COMMANDS[:8]:
        lines = shown(full, columns, *command)
        assert len(lines) > 1
        # a command stays whole, to be copied
        others = [line for line in lines if not line.strip(" (").startswith("git mem ")]
        too_long = [line for line in others if cell_count(line) > columns]
        assert (command, too_long) == (command, [])


@pytest.mark.parametrize(
    "command",
    [(), ("-h",), ("help",), ("help", "-a"), ("help", "forget", "--purge"), ("search", "-h")],
)
@pytest.mark.parametrize("columns", [50, 80])
def test_help_fits(mem: Mem, columns: int, command: tuple[str, ...]) -> None:
    """Its commands too; a text beside them has the room of some words, or stands below."""
    lines = shown(mem, columns, *command)
    assert len(lines) > 10
    assert [line for line in lines if cell_count(line) > columns] == []
    slivers = [line for line in lines if re.match(rf" {{{columns // 2 + 1},}}\S", line)]
    assert slivers == []


@pytest.mark.parametrize("name", [*COMMAND_NAMES, *VARIANTS])
def test_the_help_of_each_command_fits(
    outside: Mem, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But for its examples, which stay whole to be copied."""
    monkeypatch.setenv("COLUMNS", "50")
    texts = [outside("help", *name.split()).out]
    parts = re.findall(r"^  ([a-z]+)  ", texts[0].partition("\nCommands:\n")[2], re.MULTILINE)
    texts += [outside("help", *name.split(), part).out for part in parts]
    for text in texts:
        prose = re.sub(r"\n *Examples?\b[^\n]*:\n.*?(?=\n\n|$)", "", text, flags=re.DOTALL)
        assert [line for line in prose.splitlines() if cell_count(line) > 50] == []
        assert "Usage: git mem" in prose


def test_columns_are_kept_and_marks_stay(full: Mem) -> None:
    """A long title is cut, what is unusual about the record is not."""
    rows = [line for line in shown(full, 80, "list") if "memory/" in line]
    assert len({line.index("memory/") for line in rows}) == 1
    (epic,) = [line for line in shown(full, 80, "list") if line.startswith("wrk-")]
    assert epic.startswith("wrk-a-very-…")
    assert epic.index(" 20") == rows[0].index(" 20")
    assert any(line.endswith("… (unconfirmed)") for line in rows), rows
    graph = [line for line in shown(full, 80, "timeline") if "memory add" in line]
    assert len({re.search(r"\w{8} {2,}(?=\S)", line).end() for line in graph}) == 1  # type: ignore[union-attr]


def test_lines_are_whole_in_a_pipe(full: Mem) -> None:
    """Whoever reads them cuts them."""
    for command in (("list",), ("timeline",)):
        out = full(*command).out
        assert LONG in out
        assert "…" not in out
    assert f"{LONG} (private)" in full("search", "money").out


def test_ids_are_as_long_as_they_have_to_be() -> None:
    """Two that end alike are told apart."""
    a, b = "mem-01m8kd2azmx5k7cb4cv1jhms3v", "mem-01m8kd2azmx5k7cb4dv1jhms3v"
    assert short_ids([a]) == {a: "v1jhms3v"}
    assert short_ids([a, b]) == {a: "cv1jhms3v", b: "dv1jhms3v"}
    assert short_ids([a, "wrk-checkout-flow"])["wrk-checkout-flow"] == "wrk-checkout-flow"
    assert short_ids([]) == {}
    epics = ["wrk-payments-refactor-one", "wrk-payments-refactor-two"]
    assert short_ids([a, epics[0]], cut=True) == {a: "v1jhms3v    ", epics[0]: "wrk-payment…"}
    assert len(set(short_ids(epics, cut=True).values())) == 2


def test_a_line_is_cut_or_broken_by_what_is_seen() -> None:
    """Styles take no room and end with the line; wide characters take two columns."""
    red = "\x1b[31mone\x1b[0m two three"
    assert cut_line(red, 8) == "\x1b[31mone\x1b[0m two…\x1b[0m"
    assert cut_line("日本語です", 7) == "日本語…"
    assert list(wrap_line("remote   none: kept on this machine", 24)) == [
        "remote   none: kept on",
        "         this machine",
    ]
    assert list(wrap_line("  one two three", 10)) == ["  one two", "    three"]
    assert list(wrap_line("x" * 30, 10)) == ["x" * 30]
    assert list(wrap_line("look: git mem show 'a b c', then go", 20)) == [
        "look:",
        "  git mem show 'a b c',",
        "  then go",
    ]
    assert max(map(cell_count, wrap_line("日本語の文章です" * 9, 20))) <= 20
