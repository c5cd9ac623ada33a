"""The packages in the real CLIs: valid, installed as their READMEs say, and in what the model is sent."""

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.agents.clis import ROOT, Cli
from tests.agents.fake_model import FakeModel
from tests.command_line import run_command
from tests.conftest import git

COMMANDS = ("gotcha", "mem", "recall", "snapshot")
PINNED, TRAP = "Prices are integers, in cents", "Totals wrap at two billion"
REFERENCE = "# git-mem: reference"
RECALL = "before work on it begins. The task: round the totals"
READS = {"claude": ("Read", {"file_path": "a.py"}), "gemini": ("read_file", {"file_path": "a.py"})}

Start = Callable[[str], Cli]


def _mem(repo: Path, *args: str) -> str:
    done = run_command(repo, *args)
    assert done.returncode == 0, f"git mem {args}: {done.stdout}{done.stderr}"
    return done.stdout.strip()


@pytest.fixture
def learned(repo: Path) -> Path:
    """A repository with a pinned memory and a gotcha at a.py."""
    (repo / "a.py").write_text("total = 1\n")
    git(repo, "add", "a.py")
    git(repo, "commit", "-qm", "second")
    _mem(repo, "add", PINNED, "-t", "decision")
    _mem(repo, "pin", _mem(repo, "list", "--format", "{id}"))
    _mem(repo, "gotcha", "add", TRAP, "--anchor", "a.py:1")
    _mem(repo, "list")  # hooks read the index as it is
    return repo


@pytest.fixture
def start(learned: Path, tmp_path: Path) -> Iterator[Start]:
    """Make the CLI of an agent, whose model reads a.py and stops."""
    with FakeModel() as model:

        def start_one(agent: str) -> Cli:
            if agent in READS:
                tool, given = READS[agent]
                model.steps = [
                    {"tool": tool, "input": {**given, "file_path": str(learned / "a.py")}},
                    {"text": "All is well."},
                ]
            return Cli(agent, tmp_path / "home", model)

        yield start_one


def _package(repo: Path, agent: str) -> str:
    """Return the folder that READMEs have their readers name."""
    return _mem(repo, "hook", agent, "--package")


def _tells(cli: Cli, repo: Path) -> None:
    """Run the agent, and see what its model was told: the start, then the file's gotcha; each once."""
    printed = cli.run(repo, "please look at the totals")
    first, second = cli.model.asked

    assert "All is well." in printed
    assert (first.text.count(PINNED), second.text.count(PINNED)) == (1, 1)
    assert second.text.count(TRAP) == 1
    assert cli.agent in _mem(repo, "session", "list")


def assert_asks_to_record(told: str) -> None:
    """What the model is sent names one command for each of the five occasions."""
    for command in (
        "git mem search --sessions 'WORDS'",
        "git mem why FILE",
        "git mem add 'TITLE' -t decision -m 'TEXT' --anchor FILE",
        "git mem gotcha resolve ID -m 'TEXT'",
        "git mem add 'TITLE' -t preference -m 'TEXT'",
    ):
        assert command in told


def test_the_commands_that_record_work(learned: Path) -> None:
    """As the skill and its reference write them: a decision, its correction, and a task that is finished."""
    _mem(learned, "add", "Refunds lock the row", "-t", "decision", "-m", "Two paid twice.")
    rows = _mem(learned, "list", "--type", "decision", "--format", "{id} {title}").splitlines()
    (refunds,) = [row.split(" ")[0] for row in rows if "Refunds" in row]
    _mem(learned, "supersede", refunds, "Refunds lock the order", "-m", "The row was too small.")
    assert "Refunds lock the order" in _mem(learned, "list")
    assert "Refunds lock the row" not in _mem(learned, "list")
    _mem(learned, "add", "-t", "task", "Write the refund guide")
    (task,) = [
        line.split()[0]
        for line in _mem(learned, "page", "summary").splitlines()
        if "refund guide" in line
    ]
    _mem(learned, "done", task)
    assert "Pending tasks" not in _mem(learned, "page", "summary")


@pytest.mark.parametrize("path", [".", "agent-hooks", "agent-hooks/claude"])
def test_claude_code_finds_nothing_wrong(path: str, start: Start, learned: Path) -> None:
    """In both marketplaces, nor in the plugin; a remark would count."""
    assert "Validation passed" in start("claude").call(
        learned, "plugin", "validate", "--strict", str(ROOT / path)
    )


def test_claude_code_installs_the_plugin(start: Start, learned: Path) -> None:
    """From the marketplace; its hooks tell, the model is offered the skill and the commands, and a command becomes a prompt."""
    cli = start("claude")
    cli.call(learned, "plugin", "marketplace", "add", _package(learned, "claude"))
    cli.call(learned, "plugin", "install", "git-mem@git-mem")

    _tells(cli, learned)
    lines = cli.model.asked[0].text.splitlines()
    assert sorted(line.split(":")[1] for line in lines if line.startswith("- git-mem:")) == sorted(
        [*COMMANDS, "git-mem"]
    )
    cli.run(learned, "/git-mem:recall round the totals")
    assert RECALL in cli.model.asked[-1].text


def test_claude_code_installs_the_plugin_from_the_sources(start: Start, learned: Path) -> None:
    """A repository that holds the sources is a marketplace, at its root."""
    cli = start("claude")
    cli.call(learned, "plugin", "marketplace", "add", str(ROOT))
    cli.call(learned, "plugin", "install", "git-mem@git-mem")

    assert "git-mem, gotcha, mem, recall, snapshot" in cli.call(
        learned, "plugin", "details", "git-mem"
    )


def test_claude_code_loads_the_plugin_for_one_session(start: Start, learned: Path) -> None:
    """From its folder, without an installation."""
    cli = start("claude")
    cli.run(
        learned, "please look at the totals", "--plugin-dir", str(ROOT / "agent-hooks" / "claude")
    )

    assert cli.model.asked[0].text.count(PINNED) == 1


def test_the_commands_can_be_copied(start: Start, learned: Path) -> None:
    """Then they are called without the plugin's name."""
    cli = start("claude")
    shutil.copytree(
        Path(_package(learned, "claude")) / "claude" / "commands", cli.home / ".claude" / "commands"
    )
    cli.run(learned, "/recall round the totals")

    assert RECALL in cli.model.asked[0].text


def test_a_command_is_asked_nothing_for_what_it_does(start: Start, learned: Path) -> None:
    """It may save a snapshot, with a note of several lines; what is not its business waits for the user, who is not there."""
    cli = start("claude")
    folder = str(ROOT / "agent-hooks" / "claude")
    note = "git mem snapshot save 'Totals. Next: \"wrap\" them.\nOpen: nothing.'"
    (learned / "a.py").write_text("total = 2\n")
    forget = f"git mem forget {_mem(learned, 'list', '--kind', 'gotcha', '--format', '{id}')}"
    cli.model.steps = [
        {"tool": "Bash", "input": {"command": text, "description": "does it"}}
        for text in (note, forget)
    ]
    cli.call(learned, "-p", "/git-mem:snapshot", "--plugin-dir", folder)

    assert 'Totals. Next: "wrap" them. Open: nothing.' in _mem(learned, "snapshot", "list")
    assert TRAP in _mem(learned, "gotcha", "list")
    assert len(cli.model.asked) == 3


def test_the_skill_reaches_the_model_when_it_asks(start: Start, learned: Path) -> None:
    """Claude Code loads its text, with what it may say of memory, when the model calls for it.

    The file beside it may be read where the user allows it, for it is outside of the repository.
    """
    cli = start("claude")
    folder = ROOT / "agent-hooks" / "claude"
    cli.model.steps = [
        {"tool": "Skill", "input": {"skill": "git-mem:git-mem"}},
        {"tool": "Read", "input": {"file_path": str(folder / "skills/git-mem/reference.md")}},
        {"text": "Read."},
    ]
    cli.run(learned, "remember that", "--plugin-dir", str(folder))

    told, read = (request.text for request in cli.model.asked[1:3])
    assert_asks_to_record(told)
    assert REFERENCE not in told
    (named,) = re.findall(r"Base directory for this skill: (.*)", told)
    assert (Path(named) / "reference.md").is_file()
    assert REFERENCE in read


def _gemini_cli_offers_the_file_beside_the_skill(cli: Cli, learned: Path) -> None:
    """See that it names the file with the skill's text, and the model may read it."""
    folder = cli.home / ".gemini" / "extensions" / "git-mem" / "skills" / "git-mem"
    cli.model.steps = [
        {"tool": "activate_skill", "input": {"name": "git-mem"}},
        {"tool": "read_file", "input": {"file_path": str(folder / "reference.md")}},
        {"text": "Read."},
    ]
    cli.model.requests.clear()
    cli.run(learned, "remember that")

    told = [request.text for request in cli.model.asked]
    assert_asks_to_record(told[1])
    assert "reference.md" in told[1].partition("<available_resources>")[2]
    assert REFERENCE not in told[1]
    assert REFERENCE in told[2]


def test_codex_finds_the_skill_in_its_folder(start: Start, learned: Path) -> None:
    """As the README says; the text and the reference are read on demand."""
    cli = start("codex")
    shutil.copytree(Path(_package(learned, "codex")) / "skills", cli.home / ".codex" / "skills")
    cli.run(learned, "please look at the totals")

    told = cli.model.asked[0].text
    assert "Ask and keep this repository's memory" in told
    assert f"= `{cli.home / '.codex' / 'skills'}`" in told
    assert "/git-mem/SKILL.md)" in told


def test_gemini_cli_installs_the_extension(start: Start, learned: Path) -> None:
    """Its hooks tell, its context and its skill are in the request, the model may read that, and a command becomes a prompt."""
    cli = start("gemini")
    folder = _package(learned, "gemini")
    assert "successfully validated" in cli.call(learned, "extensions", "validate", folder)
    cli.call(learned, "extensions", "install", folder, "--consent")

    _tells(cli, learned)
    told = cli.model.asked[0].text
    assert told.count("This repository has a memory that people and agents share") == 1
    assert told.count("Ask and keep this repository's memory") == 1
    assert_asks_to_record(told)
    _gemini_cli_offers_the_file_beside_the_skill(cli, learned)
    cli.env["GITMEM"] = "0"  # without a terminal, what a start tells stands before the slash
    cli.run(learned, "/recall round the totals")
    assert RECALL in cli.model.asked[-1].text


def test_gemini_cli_links_the_extension(start: Start, learned: Path) -> None:
    """Without a copy."""
    cli = start("gemini")
    cli.call(learned, "extensions", "link", _package(learned, "gemini"), "--consent")

    _tells(cli, learned)


def test_codex_reads_the_section_for_agents_md(start: Start, learned: Path) -> None:
    """It is a part of the first request."""
    cli = start("codex")
    (learned / "AGENTS.md").write_text((Path(_package(learned, "codex")) / "AGENTS.md").read_text())
    cli.run(learned, "please look at the totals")

    assert (
        cli.model.asked[0].text.count("This repository has a memory that people and agents share")
        == 1
    )
    assert_asks_to_record(cli.model.asked[0].text)
