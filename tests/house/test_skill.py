"""The skill for agents: short, one command for each occasion, and each command does what the text says."""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tests.conftest import git
from tests.hooks.conftest import Agent
from tests.house.conftest import ROOT, git_mem
from tests.house.quoted import filled, quoted
from tests.json_output import data_of

SKILL = ROOT / "agent-hooks" / "claude" / "skills" / "git-mem"
INSTRUCTIONS = ROOT / "agent-hooks" / "agents-md" / "AGENTS.md"
SESSION = "11111111-2222-4333-8444-555555555555"
AS_AGENT = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": SESSION}
WORDS = 400


@dataclass(frozen=True)
class Does:
    """What a command prints, or what another one prints after it (`see`)."""

    says: str
    see: str = ""
    not_any_more: str = ""
    of: str = "memory"  # what ID is: a record of this kind, or a task
    by_person: bool = False


TRAP, FACT, TASK, THEIRS = (
    "Totals are in cents",
    "Prices are integers, in cents",
    "Write the refund guide",
    "Taxes are rounded in cents",
)
ALL = "git mem list"
TRAPS = "git mem gotcha list"
TASKS = "git mem page summary --section pending_tasks"
SHOWN = "git mem show ID"
DOES = {
    "git mem search --sessions 'WORDS'": Does(FACT),
    "git mem why FILE": Does(FACT),
    "git mem add 'TITLE' -t decision -m 'TEXT' --anchor FILE": Does(
        "A claim", "git mem list --type decision --file a.py"
    ),
    "git mem gotcha resolve ID -m 'TEXT'": Does("", TRAPS, TRAP, of="gotcha"),
    "git mem add 'TITLE' -t preference -m 'TEXT'": Does(
        "A claim", "git mem list --type preference"
    ),
    "git mem scout -- 'ERROR'": Does("set it in .env"),
    "git mem scout 'WORDS'": Does("total (function"),
    "git mem search 'WORDS'": Does(FACT),
    "git mem show ID": Does("The bank wants that."),
    "git mem list --file FILE": Does(FACT),
    "git mem gotcha for FILE:LINE": Does(TRAP),
    "git mem page summary": Does(TASK),
    "git mem session briefing": Does(FACT),
    "git mem code dna": Does("Python"),
    "git mem code symbols FILE": Does("total"),
    "git mem code imports FILE --of": Does("b.py"),
    "git mem code evolution FILE": Does("the totals"),
    "git mem code drift": Does("other"),
    "git mem gotcha add 'Decimal is serialised as float' --anchor FILE --workaround 'str() first' "
    "-m 'The bank answers 400 for 0.1 + 0.2.'": Does("Decimal is", "git mem gotcha for a.py"),
    "git mem gotcha add 'the linker runs out of memory' --error 'ERROR' --workaround 'make -j1' "
    "--category build": Does("make -j1", "git mem scout 'KeyError: tax'"),
    "git mem gotcha add 'sleep blocks the only worker' --code 'time\\.sleep\\(' --language python "
    "--workaround 'use the queue: app.queue.later()'": Does("sleep blocks the only worker", TRAPS),
    "git mem gotcha list --unconfirmed": Does("seen by an agent"),
    "git mem edit ID --workaround 'TEXT'": Does("Why it is so.", SHOWN, of="unconfirmed"),
    "git mem page summary --section pending_tasks": Does(TASK),
    "git mem done ID": Does("", TASKS, TASK, of="task"),
    "git mem add 'TITLE' -t task": Does("A claim", TASKS),
    "git mem supersede ID 'TITLE' -m 'TEXT'": Does("A claim", ALL, THEIRS, of="theirs"),
    "git mem edit ID --title 'TITLE' -m 'TEXT'": Does("A claim", SHOWN, of="theirs"),
    "git mem gotcha reopen ID -m 'TEXT'": Does(TRAP, TRAPS, of="resolved"),
    "git mem edit ID --unanchor --anchor FILE:LINE": Does("a.py:1", SHOWN, of="unconfirmed"),
    "git mem link ID OTHER": Does("Links: ", SHOWN, of="theirs"),
    "git mem archive ID": Does("", ALL, THEIRS, of="theirs"),
    "git mem forget ID --reason 'TEXT'": Does("", ALL, THEIRS, of="theirs", by_person=True),
    "git mem inbox": Does("seen by an agent"),
    "git mem add \"The importer's cache is keyed by path\" -t insight -m - --anchor FILE <<'END'\n"
    'Renaming a file "loses" its cache entry: the key is the path, not the content.\nEND': Does(
        "The importer's cache", ALL
    ),
    "git mem session mark 'TEXT'": Does("Why it is so.", f"git mem session show {SESSION[:8]}"),
    "git mem session note 'TEXT'": Does("Why it is so.", f"git mem session show {SESSION[:8]}"),
    "git mem work list": Does("new-tax"),
}
# what only the user runs, and the help of a command: their name is all that the text says
NAMED = {
    "git mem forget",
    "git mem forget --purge",
    "git mem uninstall --wipe",
    "git mem sync",
    "git mem COMMAND --help",
    "git mem work --help",
}


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with records of a person and of an agent, whose session runs; to be copied."""
    repo = tmp_path_factory.mktemp("learned") / "repo"
    git(repo.parent, "init", "-q", "-b", "main", str(repo))
    git(repo, "config", "user.name", "Ana")
    git(repo, "config", "user.email", "ana@example.com")
    (repo / "a.py").write_text("def total(cents):\n    return sum(cents)\n")
    (repo / "b.py").write_text("import a\n\nprint(a.total([1]))\n")
    git(repo, "add", ".")
    git(repo, "commit", "-qm", "Add the totals")
    git(repo, "checkout", "-qb", "other")
    (repo / "a.py").write_text("def total(cents):\n    return sum(cents) + 1\n")
    git(repo, "commit", "-qam", "Change the totals")
    git(repo, "checkout", "-q", "main")
    (repo / "a.py").write_text("def total(cents):\n    return sum(cents) + 2\n")
    git_mem("gotcha", "add", TRAP, "--anchor", "a.py:1", cwd=repo)
    git_mem(
        *("gotcha", "add", "TAX is not set", "--error", "KeyError: tax"),
        *("--workaround", "set it in .env"),
        cwd=repo,
    )
    git_mem(
        "add", FACT, "-t", "decision", "--anchor", "a.py", "-m", "The bank wants that.", cwd=repo
    )
    git_mem("add", TASK, "-t", "task", cwd=repo)
    git_mem("work", "start", "new tax", "--story", "1", cwd=repo)
    Agent(repo, SESSION).hook("SessionStart")
    Agent(repo, SESSION).hook("UserPromptSubmit", prompt="Please round to cents")
    _run(repo, f"git mem add '{THEIRS}' -t fact")
    _run(repo, "git mem gotcha add 'seen by an agent' --anchor b.py")
    return repo


def _run(repo: Path, command: str, *, by_person: bool = False) -> str:
    """Run a command as an agent does, or as a person; return what it printed."""
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=repo,
        env={**os.environ, **({} if by_person else AS_AGENT)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout + done.stderr


@cache
def _ids(learned: Path) -> dict[str, str]:
    return {row["title"]: row["id"] for row in data_of(git_mem("list", "--json", cwd=learned))}


def _id(learned: Path, what: str) -> str:
    """Return the id of a record of the repository, and of its copies."""
    rows = _ids(learned)
    titles = {
        "gotcha": TRAP,
        "resolved": TRAP,
        "memory": FACT,
        "task": TASK,
        "theirs": THEIRS,
        "unconfirmed": "seen by an agent",
    }
    return rows[titles[what]]


def _texts() -> list[str]:
    return [(SKILL / name).read_text("utf-8") for name in ("SKILL.md", "reference.md")]


def test_the_skill_is_short_and_says_what_comes_first() -> None:
    """Five occasions, with one command each; the other commands are in a file beside it."""
    text = _texts()[0]
    lines = re.findall(r"^\d\. .*$", text, re.MULTILINE)

    assert len(text.split()) <= WORDS
    assert [len(list(quoted(line))) for line in lines] == [1] * 5
    assert "`reference.md`" in text


def test_readers_of_agents_md_get_the_same_five_lines() -> None:
    """In the same order, with the same commands."""
    skill, section = _texts()[0], INSTRUCTIONS.read_text("utf-8")
    commands = [
        [list(quoted(line)) for line in re.findall(r"^\d\. .*$", text, re.MULTILINE)]
        for text in (skill, section)
    ]

    assert len(commands[0]) == 5
    assert commands[0] == commands[1]


def test_the_section_names_a_command_that_prints_the_reference(tmp_path: Path) -> None:
    """From any folder: those who read the section have no skill's folder beside them."""
    (command,) = re.findall(r"`(cat [^`]+)`", INSTRUCTIONS.read_text("utf-8"))

    assert _run(tmp_path, command) == _texts()[1]


def test_every_command_of_the_skill_is_tried_here() -> None:
    """And nothing else is."""
    assert {line for text in _texts() for line in quoted(text)} == {*DOES, *NAMED}


@pytest.mark.parametrize("line", DOES)
def test_a_command_does_what_the_skill_says(line: str, learned: Path, tmp_path: Path) -> None:
    """As an agent runs it; what only the user does, as the user."""
    does = DOES[line]
    repo = tmp_path / "repo"
    shutil.copytree(learned, repo, symlinks=True)
    words = {"ID": _id(learned, does.of), "OTHER": _id(learned, "memory")}
    if does.of == "resolved":
        _run(repo, f"git mem gotcha resolve {words['ID']}")
    printed = _run(repo, filled(line, words), by_person=does.by_person)
    if does.see:
        printed = _run(repo, filled(does.see, words))

    assert filled(does.says, words) in printed
    if does.not_any_more:
        assert does.not_any_more in _run(learned, does.see)
        assert does.not_any_more not in printed


def test_how_a_gotcha_was_dealt_with_is_kept(learned: Path, tmp_path: Path) -> None:
    """Beside the words of the person who wrote it."""
    repo = tmp_path / "repo"
    shutil.copytree(learned, repo, symlinks=True)
    id = _id(learned, "gotcha")
    _run(repo, f"git mem gotcha resolve {id} -m 'Totals are Decimals now'")

    assert "by claude: Totals are Decimals now" in _run(repo, f"git mem show {id}")


@pytest.mark.parametrize("place", ["a.py:1-2", "a.py#total"])
def test_why_takes_lines_and_names(place: str, learned: Path) -> None:
    """As the skill says; the trap is at the first line."""
    assert TRAP in _run(learned, f"git mem why {place}")


def test_recall_finds_what_was_said_in_this_session(learned: Path) -> None:
    """The prompt comes from its history."""
    assert "Please round to cents" in _run(learned, "git mem search --sessions round")


@pytest.mark.parametrize("line", sorted(NAMED))
def test_a_command_that_is_only_named_is_there(line: str, tmp_path: Path) -> None:
    """With a help."""
    command = filled(line, {}).removesuffix(" --help")

    assert command in _run(tmp_path, f"{command} --help").replace("git-mem", "git mem")
