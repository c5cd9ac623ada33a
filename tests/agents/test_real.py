"""Real CLIs with the hooks that `git mem install` writes: what they leave behind, and what their models are sent."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agents.cli_kinds import KINDS
from tests.agents.fake_model import FakeModel
from tests.agents.world import FAILING, World, history, session_records, sessions, show
from tests.conftest import git
from tests.hooks.conftest import gotchas, run, wait_for
from tests.json_output import data_of
from tests.scale import FULL

AGENTS = tuple(KINDS)
# `test_long_sessions` has all of them; each does all of these in `make stress`
MOST = AGENTS if FULL else ("claude", "gemini", "codex")
TWO = AGENTS if FULL else ("claude", "codex")
FEW = AGENTS if FULL else ("codex",)  # `test_real_sessions` kills a session of each
SOME = ("claude", "gemini", "codex")  # whose settings are a file of JSON in the project's folder


@pytest.fixture(params=MOST)
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    """One agent with a repository and its remote."""
    with FakeModel() as model:
        yield World(request.param, tmp_path, model)


def counts(texts: list[str], words: str) -> list[int]:
    """Return how often words stand in each request."""
    return [text.count(words) for text in texts]


def name(id: str) -> str:
    """Return how a gotcha is named where it is told."""
    return f"gotcha {id[-8:]}]"


def until_recorded(session: str) -> str:
    """Return a command that waits for the record of a session; shorter than what Codex CLI waits for a command."""
    return f"for n in 1 2 3 4 5 6 7 8; do git mem list --kind session --json | grep -q {session} && break; sleep 0.5; done"


@pytest.mark.parametrize("world", TWO, indirect=True)
def test_what_trips_one_session_is_told_to_the_next(world: World):
    """The next one works in another clone, and is told once."""
    path = world.install(world.first)
    texts = world.work(path, "Print the rate", *[world.shell(FAILING)] * 3)
    assert "git-mem" not in texts[0]
    (found,) = wait_for(lambda: gotchas(path))
    (row,) = data_of(run(path, "gotcha", "list", "--json"))
    assert (found["id"], found["origin"], found["occurrences"], found["title"]) == (
        row["id"],
        "captured",
        3,
        "KeyError: 'TAX_RATE'",
    )
    assert [(a["path"], a["lines"]) for a in found["anchors"]] == [("app/pay.py", [5, 5])]
    assert found["session"] == sessions(path)[0]["id"]
    run(path, "inbox", "--accept", found["id"])
    run(path, "sync")
    other = world.clone()
    texts = world.work(
        other,
        "What is there?",
        world.shell("ls app"),
        world.read(other / "app/pay.py"),
        world.shell(FAILING),
    )
    assert counts(texts, name(found["id"])) == [1] * 4
    assert counts(texts, "Notes recorded in this repository") == [1] * 4
    assert (
        wait_for(lambda: next((g for g in gotchas(other) if g["occurrences"] == 4), None))["id"]
        == found["id"]
    )


def test_a_prompt_a_file_and_a_known_error_bring_what_is_known(world: World):
    """Some of it is recorded by the agent itself, in its session."""
    path = world.install(world.first)
    pay = path / "app/pay.py"
    known = (
        "got-"
        + run(
            path, "gotcha", "add", "Needs a rate", "--error", "KeyError: 'TAX_RATE'", "--json"
        ).partition('"got-')[2][:26]
    )
    run(path, "add", "Refunds are rounded half to even", "-m", "The bank does so too.")
    texts = world.work(
        path,
        "Are refunds rounded half to even?",
        world.shell("git mem gotcha add 'Rates are parts of one' --anchor app/pay.py:5 >added.txt"),
        world.read(pay),
        world.edit(pay, "print(rate())", "print(rate()  )"),
        world.shell(f"git mem edit {known} --workaround 'export TAX_RATE=0.2' >/dev/null"),
        world.shell(FAILING),
        world.shell(FAILING),
    )
    assert counts(texts, "Refunds are rounded half to even") == [1] * 7
    assert "print(rate()  )" in pay.read_text()
    # its new words for what a person wrote are a proposal, told beside it
    assert counts(texts, name(known)) == [1] * 7
    assert counts(texts, "Workaround: export TAX_RATE=0.2") == [0] * 5 + [1] * 2
    added = next(g for g in gotchas(path) if g["title"] == "Rates are parts of one")
    assert counts(texts, name(added["id"])) == [0] * 2 + [1] * 5
    assert added["session"] == sessions(path)[0]["id"]


def test_a_session_leaves_its_history_and_a_record(world: World):
    path = world.install(world.first)
    world.work(path, "Print the rate", world.shell(FAILING), world.shell("echo done"))
    (one,) = wait_for(lambda: [s for s in sessions(path) if s["state"] == "ended"])
    assert one["agent"] == world.agent
    every = history(path, one["id"])
    rows = [row for row in every if row["metadata"]["event"] != "BeforeTool"]
    assert [
        (row["role"], row["metadata"]["event"], *row["content"].splitlines()[:2]) for row in rows
    ] == [
        ("system", "SessionStart"),
        ("user", "PromptSubmit", "Print the rate"),
        ("tool", "ToolFailed", FAILING, "Exit code 1"),
        ("tool", "AfterTool", "echo done"),
        # Copilot CLI does not tell its hooks; the record has it from the transcript
        ("assistant", "TurnEnd", *([] if world.agent == "copilot" else ["The work is done."])),
        ("system", "SessionEnd"),
    ]
    assert rows[2]["content"].endswith("KeyError: 'TAX_RATE'")
    assert (
        rows[0]["state"].items() >= {"agent": world.agent, "folder": ".", "branch": "main"}.items()
    )
    cost = data_of(run(path, "session", "cost", "--json"))
    assert (cost["session_ids"], sum(row["call_count"] for row in cost["costs"])) == (
        [one["id"]],
        len(every),
    )
    (found,) = wait_for(lambda: session_records(path))
    assert "Print the rate" in run(path, "show", found["id"])
    assert (found["session"], found["store"]) == (
        one["id"],
        "private",
    )
    text = run(path, "show", found["id"])
    for part in ("1 prompt, 2 tool calls, 1 failed", f"`{FAILING}`: KeyError", "The work is done."):
        assert part in text


def test_an_edit_after_which_the_command_passes_resolves_the_gotcha(world: World):
    path = world.install(world.first)
    pay = path / "app/pay.py"
    old, new = (
        '    return float(os.environ["TAX_RATE"])',
        '    return float(os.environ.get("TAX_RATE", "0.2"))',
    )
    world.work(
        path,
        "Mend it",
        *[world.shell(FAILING)] * 3,
        world.read(pay),
        world.edit(pay, old, new),
        world.shell(FAILING),
    )
    assert new in pay.read_text()
    (row,) = wait_for(lambda: [g for g in gotchas(path) if g.get("is_resolved")])
    full = show(path, row["id"])
    assert f"`{FAILING}` passes after an edit of app/pay.py (+1 −1)." in full["body"]
    assert full["resolved"]["files"] == ["app/pay.py"]
    assert git(path, "rev-parse", "HEAD") == full["resolved"]["commit"]


@pytest.mark.parametrize("world", FEW, indirect=True)
def test_a_killed_session_is_finished_by_the_next(world: World):
    """SIGKILL of the CLI in the middle of a command: nothing that it told is lost."""
    path = world.install(world.first)
    world.kill(path, "Half of the work", world.shell(FAILING), world.shell(FAILING))
    wait_for(lambda: [row["state"] for row in sessions(path)] == ["interrupted"])
    (one,) = sessions(path)
    # the start is told without its record when that takes longer
    waits = [world.shell(until_recorded(one["id"]))] * 4
    texts = world.work(path, "Go on", *waits, world.shell(FAILING))
    assert counts(texts, "the session before: ")[-1] == 1
    assert "was interrupted" in texts[0] and "Half of the work" not in texts[0]
    (first,) = [d for d in wait_for(lambda: session_records(path)) if d["session"] == one["id"]]
    text = run(path, "show", first["id"])
    for part in ("It was interrupted", "2 failed", f"`{FAILING}`: KeyError"):
        assert part in text
    assert [s["state"] for s in sessions(path) if s["id"] == one["id"]] == ["interrupted"]
    told = [row["metadata"]["event"] for row in history(path, one["id"])]
    assert [event for event in told if event != "BeforeTool"] == [
        "SessionStart",
        "PromptSubmit",
        "ToolFailed",
        "ToolFailed",
    ]
    (found,) = wait_for(lambda: gotchas(path))
    assert found["occurrences"] == 3


def test_a_subfolder_of_a_linked_worktree(world: World):
    """Memory is the repository's, places are meant from its root."""
    run(world.first, "gotcha", "add", "Rates are parts of one", "--anchor", "app/pay.py:5")
    path = world.first.with_name("linked")
    git(world.first, "worktree", "add", "-q", str(path))
    # in a subfolder a CLI may not look for the settings of the project
    run(path, "install", world.agent, "--user")
    texts = world.work(
        path / "app",
        "Hello",
        world.shell("python3 pay.py"),
        world.shell("python3 pay.py"),
        world.shell("python3 pay.py"),
    )
    assert counts(texts, "Rates are parts of one") == [1] * 4
    (found,) = wait_for(lambda: [g for g in gotchas(world.first) if g["origin"] == "captured"])
    assert [a["path"] for a in found["anchors"]] == ["app/pay.py"]
    (one,) = sessions(world.first)
    assert one["work_tree"] == str(path)
    assert history(world.first, one["id"])[0]["state"]["folder"] == "app"


@pytest.mark.parametrize("world", FEW, indirect=True)
def test_off_is_off(world: World):
    path = world.install(world.first)
    run(path, "gotcha", "add", "Rates are parts of one", "--anchor", "app/pay.py:5")
    run(path, "hook", "off")
    texts = world.work(path, "Hello", world.read(path / "app/pay.py"), world.shell(FAILING))
    assert [text for text in texts if "git-mem" in text or "Rates are parts" in text] == []
    assert sessions(path) == []


def test_a_folder_without_a_repository(world: World):
    """Hooks for all that a user does: where there is no repository, nobody notices them."""
    run(world.first, "install", world.agent, "--user")
    folder = world.root / "plain"
    folder.mkdir()
    texts = world.work(folder, "Hello", world.shell("echo made >made.txt"))
    assert [text for text in texts if "git-mem" in text] == []
    assert (folder / "made.txt").read_text() == "made\n"
    assert not re.search("(?i)hook.*(fail|error|timeout)|no such|/nowhere", world.said)


@pytest.mark.parametrize("world", SOME, indirect=True)
def test_git_mem_is_gone(world: World):
    """Settings outlive the program that they name."""
    path = world.install(world.first)
    (settings,) = [file for file in path.glob(".*/*.json") if b"git-mem" in file.read_bytes()]
    text = settings.read_text()
    settings.write_text(text.replace(str(Path(sys.executable).parent), "/nowhere/bin"))
    assert settings.read_text() != text
    world.work(path, "Hello", world.shell("echo made >made.txt"))
    assert (path / "made.txt").read_text() == "made\n"
    assert sessions(path) == []
    assert not re.search("(?i)hook.*(fail|error|timeout)|no such|/nowhere", world.said)
