"""Real CLIs, one session after the other: what a session decided and left to do is kept, and the next one is told of it."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gitmem.text.tokens import tokens
from tests.agents.clis import DEADLINE
from tests.agents.fake_model import FakeModel, Step
from tests.agents.world import FAILING, World, history, session_records, sessions, show
from tests.conftest import git
from tests.hooks.conftest import run, wait_for
from tests.json_output import data_of
from tests.scale import FULL

AGENTS = ("claude", "gemini", "codex")
# each CLI does these in `make stress`: there is little in them that a CLI does in its own way
FEW = AGENTS if FULL else ("claude",)
TWO = AGENTS if FULL else ("claude", "codex")
TALKS = {
    "marked": (
        "DECISION: use SERIALIZABLE isolation for the ledger, because two runs lost updates.",
        "TODO: port the payment tests to the new gateway.",
    ),
    "plain": (
        "I read it through. We decided to use SERIALIZABLE isolation for the ledger, because two runs lost updates.",
        "The rate is read from the environment now. We still need to port the payment tests to the new gateway.",
    ),
}
DECISION, TASK = TALKS["plain"]
DECIDED, LEFT = "SERIALIZABLE isolation for the ledger", "ort the payment tests to the new gateway"
BUDGET = 1200  # tokens of a start, unless somebody sets another
_BLOCK = re.compile(r"<git-mem>.*?</git-mem>|\[git-mem\].*?\[/git-mem\]", re.DOTALL)


@pytest.fixture(params=AGENTS)
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    """One agent with a repository and its remote."""
    with FakeModel() as model:
        yield World(request.param, tmp_path, model)


def say(text: str, step: Step) -> Step:
    """Return a step before which something is said."""
    return {**step, "say": text}


def told(text: str) -> list[str]:
    """Return the blocks that git mem has put into a request."""
    return [block for block in _BLOCK.findall(text) if "Notes recorded in this repository" in block]


def ended(path: Path) -> dict[str, Any]:
    """Return the record of the only session, once it is over and worked off, whole."""
    (found,) = wait_for(
        lambda: (
            session_records(path) if all(one["state"] == "ended" for one in sessions(path)) else []
        ),
        DEADLINE,
    )
    return show(path, found["id"])


def as_json(path: Path, *args: str) -> Any:
    """Return what a command prints as JSON."""
    return data_of(run(path, *args, "--json"))


@pytest.mark.parametrize(
    ("world", "talk"),
    [*((agent, "plain") for agent in AGENTS), *((agent, "marked") for agent in FEW)],
    indirect=["world"],
)
def test_what_a_session_decides_and_leaves_is_told_to_the_next(world: World, talk: str):
    """Said in the middle of a turn, with a marker or without: it is found in the CLI's own transcript."""
    path = world.install(world.first)
    decision, task = TALKS[talk]
    world.work(
        path,
        "Make the ledger safe",
        say(decision, world.read(path / "app/pay.py")),
        say(task, world.shell("echo fine")),
    )
    found = ended(path)
    (one,) = sessions(path)
    assert one["transcript_file"]
    if world.agent != "gemini":  # which tells its hooks all that was said in a turn
        assert [row for row in history(path, one["id"]) if DECIDED in row["content"]] == []
    named = {fact["id"]: fact["what"] for fact in show(path, found["id"])["facts"]}
    assert sorted(named.values()) == ["made", "made"]
    assert DECIDED not in found["title"]
    summary = run(path, "page", "summary")
    assert (
        summary.index("Key decisions")
        < summary.index(DECIDED)
        < summary.index("Pending tasks")
        < summary.index(LEFT)
    )
    proposed = {row["type"]: row for row in as_json(path, "inbox")}
    assert DECIDED in proposed["decision"]["title"] and LEFT in proposed["task"]["title"]
    assert f"in the transcript of session {one['id']}, line " in run(
        path, "show", proposed["decision"]["id"]
    )

    texts = world.work(path, "What now?", world.shell("echo on"))
    (block,) = told(texts[0])
    assert tokens(block) <= BUDGET
    for part in (DECIDED, LEFT, "the session before: "):
        assert block.count(part) == 1, part
    assert "Make the ledger safe" not in block
    assert told(texts[-1]) == [block]


@pytest.mark.parametrize("world", FEW, indirect=True)
def test_a_small_budget_keeps_what_is_left_to_do(world: World):
    path = world.install(world.first)
    run(path, "config", "injectBudget", "120")
    for n in range(6):
        run(
            path,
            "add",
            f"Rule number {n}: amounts of kind {n} are rounded half to even",
            "-t",
            "decision",
            "-m",
            "The bank does so too.",
        )
    world.work(path, "Make the ledger safe", say(TASK, world.shell("echo fine")))
    ended(path)
    texts = world.work(path, "What now?")
    (block,) = told(texts[0])
    assert LEFT in block
    assert tokens(block) <= 120


def test_a_killed_session_is_finished_by_the_next_which_says_so(world: World):
    """What it had said before it was killed is in its transcript alone. Nobody can answer a question."""
    path = world.install(world.first)
    world.kill(
        path,
        "Move the ledger to SERIALIZABLE",
        say(DECISION, world.shell(FAILING)),
        say(TASK, world.shell("echo half")),
    )
    # the killed program's own children take a moment to go
    wait_for(lambda: [row["state"] for row in sessions(path)] == ["interrupted"])
    (one,) = sessions(path)
    assert session_records(path) == []
    texts = world.work(path, "Hello", world.shell("echo on"))
    # on a busy machine the prompt is told what the start waited for in vain
    block, *_ = told(texts[0])
    assert re.search(r"- The last session \([\d-]+\) was interrupted\.\n", block)
    assert "ask the user first" not in block
    assert tokens(block) <= BUDGET
    (found,) = wait_for(
        lambda: [row for row in session_records(path) if row["session"] == one["id"]]
    )
    text = run(path, "show", found["id"])
    for part in ("It was interrupted", f"`{FAILING}`"):
        assert part in text
    assert LEFT in run(path, "page", "summary")
    assert run(path, "page", "summary").count(DECIDED) == 1
    wait_for(lambda: len(session_records(path)) == 2)
    texts = world.work(path, "Hello again")
    (block,) = told(texts[0])
    assert DECIDED in block and LEFT in block
    assert "ask the user first" not in block
    assert len([row for row in session_records(path) if row["session"] == one["id"]]) == 1


@pytest.mark.parametrize("world", ["claude"], indirect=True)
def test_claude_code_is_told_its_state_after_a_compaction(world: World):
    path = world.install(world.first)
    mark = world.shell("git mem session mark 'Never update a row of the ledger'")
    world.work(
        path,
        "Make the ledger safe",
        say(DECISION, world.read(path / "app/pay.py")),
        say(TASK, mark),
    )
    ended(path)
    (one,) = sessions(path)
    world.model.steps = [{"text": "They worked on the ledger."}]
    world.cli.run(path, "/compact", "--resume", one["id"])
    world.model.requests.clear()
    world.model.steps = [{"text": "Going on."}]
    world.cli.run(path, "Go on", "--resume", one["id"])
    texts = [request.text for request in world.model.asked]
    (block,) = (block for block in told(texts[0]) if "before its context was compacted" in block)
    for part in (
        "- marked: Never update a row of the ledger",
        "asked last: Make the ledger safe",
        DECIDED,
        LEFT,
    ):
        assert block.count(part) == 1, part
    starts = next(
        row
        for row in as_json(path, "session", "cost", one["id"])["costs"]
        if row["event"] == "SessionStart"
    )
    # it begins, goes on, is compacted, goes on: before, all that is known is its own talk
    assert (starts["call_count"], starts["answer_count"]) == (4, 1)
    assert [row["session"] for row in session_records(path)] == [one["id"]]


@pytest.mark.parametrize("world", ["gemini"], indirect=True)
def test_gemini_cli_is_told_its_state_after_a_compression(world: World):
    """With the first tool result that comes after it, once; what PreCompress says before other requests costs nothing."""
    path = world.install(world.first)
    mark = world.shell("git mem session mark 'Never update a row of the ledger'")
    rows = "\n".join(f"Line {n} of the ledger is {n * n}." for n in range(900))
    long = say(f"```\n{rows}\n```", world.shell("true"))
    world.work(
        path,
        "Make the ledger safe",
        say(DECISION, world.read(path / "app/pay.py")),
        say(TASK, mark),
        long,
    )
    ended(path)
    (one,) = sessions(path)
    world.model.compacts, world.model.delay = True, 0.5
    world.model.aside = (
        "<state_snapshot>They worked on the ledger. We decided to use MongoDB.</state_snapshot>"
    )
    world.model.requests.clear()
    world.model.steps = [
        {**world.shell("echo one"), "tokens": 700_000},
        world.shell("echo two"),
        world.shell("echo three"),
        {"text": "Bye."},
    ]
    world.cli.run(path, "Go on", "--resume", "latest")
    assert [request.offers_tools for request in world.model.requests[:4]] == [
        True,
        False,
        False,
        True,
    ]  # it compressed, and looked at that again
    said = [
        [block for block in told(request.text) if "before its context was compacted" in block]
        for request in world.model.asked
    ]
    assert [len(blocks) for blocks in said] == [0, 0, 1, 1]
    for part in ("- marked: Never update a row of the ledger", "asked last: Go on", DECIDED, LEFT):
        assert part in said[-1][0], part
    assert tokens(said[-1][0]) <= BUDGET // 3 + 30
    events = [row["metadata"]["event"] for row in history(path, one["id"])]
    assert events.count("BeforeCompact") == 1
    wait_for(lambda: all(row["state"] == "ended" for row in sessions(path)))
    # what a model wrote of a conversation is not what was said in it
    assert "MongoDB" not in run(path, "page", "summary") + run(path, "inbox")


def test_an_agent_calls_git_mem_in_its_session(world: World):
    """By commands of its shell: they know which session they run in."""
    path = world.install(world.first)
    world.work(
        path,
        "Use SERIALIZABLE in the ledger of Neustadt",
        world.shell("git mem session current --json >current.json"),
        world.shell("git mem session note 'The export keeps its column order' >note.txt"),
        world.shell("git mem session mark 'Never update a row of the ledger' >mark.txt"),
        world.shell(
            "git mem search --sessions 'Neustadt ledger' --json >recall.json; git mem search --sessions 'column order' >recall.txt"
        ),
        world.shell("git mem add 'Amounts are in cents' -t decision >/dev/null"),
    )
    ended(path)
    (one,) = sessions(path)
    assert data_of((path / "current.json").read_text())["id"] == one["id"]
    assert [
        (row["metadata"]["event"], row["content"])
        for row in history(path, one["id"])
        if row["metadata"]["event"] in {"Note", "Mark"}
    ] == [
        ("Note", "The export keeps its column order"),
        ("Mark", "Never update a row of the ledger"),
    ]
    assert "Use SERIALIZABLE in the ledger of Neustadt" in (path / "recall.json").read_text()
    assert "The export keeps its column order" in (path / "recall.txt").read_text()
    (added,) = [
        row
        for row in as_json(path, "list", "--kind", "memory")
        if row["title"] == "Amounts are in cents"
    ]
    assert added["session"] == one["id"]
    assert "Never update a row of the ledger" in run(path, "inbox")


@pytest.mark.parametrize("world", FEW, indirect=True)
def test_an_epic_that_a_killed_session_was_at_is_told(world: World):
    """With the ways to go on."""
    path = world.install(world.first)
    begin = "git mem work start checkout --title 'Checkout rework' --story 1.1 --story 1.2 && git mem work phase development"
    world.kill(path, "Begin the checkout", world.shell(begin))
    texts = world.work(path, "Hello")
    # on a busy machine the prompt is told what the start waited for in vain
    block, *_ = told(texts[0])
    assert (
        "[epic checkout, left] Checkout rework: story 1.1, phase development, 0 of 2 stories done (0%)"
        in block
    )
    assert "git mem work resume checkout --continue" in block
    world.work(
        path,
        "Go on",
        world.shell("git mem work resume checkout --continue && git mem work story 1.1 --done"),
    )
    (epic,) = as_json(path, "work", "list")
    assert (epic["progress"]["done_count"], epic["current_story"]["id"]) == (1, "1.2")


@pytest.mark.parametrize("world", ["claude"], indirect=True)
def test_claude_codes_own_memory_is_kept_in_step(world: World):
    """What its user wrote there by hand is pulled, what is known is written below it, and Claude Code loads it."""
    path = world.install(world.first)
    run(path, "config", "native", "sync")
    run(path, "add", "Refunds are rounded half to even", "-t", "decision")
    folder = (
        world.cli.home / ".claude/projects" / re.sub(r"[^A-Za-z0-9]", "-", str(path)) / "memory"
    )
    folder.mkdir(parents=True)
    (folder / "MEMORY.md").write_text("- The user tests with tox, not with make.\n")
    world.work(path, "Hello", world.shell("echo fine"))
    ended(path)
    text = wait_for(
        lambda: (
            found if "Refunds are rounded" in (found := (folder / "MEMORY.md").read_text()) else ""
        )
    )
    assert text.startswith("- The user tests with tox, not with make.\n")
    assert text.count("git-mem: begin memory") == 1
    (row,) = [row for row in as_json(path, "list", "--kind", "memory") if "tox" in row["title"]]
    assert (row["origin"], row["store"]) == ("imported", "private")
    texts = world.work(path, "Hello again")
    assert "People and agents recorded" in texts[0]
    assert "tests with tox" in texts[0]


@pytest.mark.parametrize("world", ["gemini"], indirect=True)
def test_the_context_file_of_gemini_cli_is_pulled(world: World):
    path = world.install(world.first)
    run(path, "config", "native", "pull")
    # what `git` commits here is the user's own
    git(path, "config", "user.email", "test@example.org")
    (path / "GEMINI.md").write_text("# Rules\n\n- Money is never a float.\n")
    git(path, "add", "GEMINI.md")
    git(path, "commit", "-qm", "rules")
    world.work(path, "Hello", world.shell("echo fine"))
    (row,) = wait_for(
        lambda: [
            row
            for row in as_json(path, "list", "--kind", "memory")
            if "never a float" in row["title"]
        ]
    )
    assert (row["origin"], row["store"], row["anchors"][0]["path"]) == (
        "imported",
        "shared",
        "GEMINI.md",
    )
    assert (path / "GEMINI.md").read_text() == "# Rules\n\n- Money is never a float.\n"


@pytest.mark.parametrize("world", TWO, indirect=True)
def test_what_is_secret_or_private_is_stored_nowhere(world: World):
    """Whoever says it, wherever in a transcript."""
    path = world.install(world.first)
    key, pat, code = (
        "AKIA" + "QX7RT2LMN4PZ6WVB",
        "ghp_" + "k2Jd83nXs0aQpL5mTz7RwY9bVc4HfG1eUi6o",
        "Falkenhorst",
    )
    (path / ".env").write_text(f"AWS_ACCESS_KEY_ID={key}\n")  # which no snapshot saves
    world.work(
        path,
        f"Use the token {pat} for pushes. <private>The merger is called {code}.</private>",
        say(f"DECISION: we push with the token {pat} from now on.", world.shell("cat .env")),
        say(
            f"We decided to keep {key} in the vault. <private>{code} closes in May.</private> TODO: rotate {key} every month.",
            world.shell(
                f"echo {pat}; echo '<private>{code}</private>' >/dev/null; python3 app/pay.py"
            ),
        ),
    )
    ended(path)
    found = git(path, "cat-file", "--batch-all-objects", "--batch", "--buffer").encode(
        errors="replace"
    )
    assert b"push with the token" in found
    found += b"".join(
        file.read_bytes() for file in (path / ".git/gitmem").rglob("*") if file.is_file()
    )
    texts = world.work(path, "What now?")
    found += "".join(told(texts[0])).encode()
    assert "push with the token" in told(texts[0])[0]
    assert [secret for secret in (key, pat, code) if secret.encode() in found] == []
