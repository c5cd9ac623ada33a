"""Real CLIs in sessions of many calls: failures, a fix, commits, a subagent, a resume, two work trees at once.

What the model was sent is read: no fact stands twice in one context, none is missing after a resume, and nothing of a CLI's
own prompt is stored. `make stress` has forty calls, `make test` as many as are needed.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.agents.cli_kinds import KINDS
from tests.agents.clis import DEADLINE
from tests.agents.fake_model import SUBAGENT, FakeModel, Request, Step
from tests.agents.world import FAILING, World, history, session_records, sessions
from tests.conftest import git
from tests.hooks.conftest import gotchas, run, wait_for
from tests.json_output import data_of
from tests.scale import FULL, scaled

CALLS = scaled(40, 11)
AT_ONCE = tuple(KINDS) if FULL else ("codex", "copilot")
COMPACTING = ("codex", "opencode", "copilot")
COMPACTING_AT = 196_000  # tokens, more than any of them has room for
REQUEST = "Orders are charged twice on a retry. Fix it."
DECISION = "I read it through. We decided to use SERIALIZABLE isolation for the ledger, because two runs lost updates."
TASK = "The rate is read from the environment now. We still need to port the payment tests to the new gateway."
SLIPS = (
    "git commit -m x",
    "git checkout nosuch",
    "git push nosuch main",
    "make nosuch",
    "python3 -c 'import nosuchmod'",
)
EVENTS = {
    ("system", "SessionStart"),
    ("user", "PromptSubmit"),
    ("tool", "ToolFailed"),
    ("tool", "AfterTool"),
    ("assistant", "TurnEnd"),
    ("system", "SessionEnd"),
}
OLD = '    return float(os.environ["TAX_RATE"])'
NEW = '    return float(os.environ.get("TAX_RATE", "0.2"))'
_BLOCK = re.compile(r"(?s)<git-mem>.*?</git-mem>|\[git-mem\].*?\[/git-mem\]")
_NAMED = re.compile(r"(?m)^- (?:[^\[\n]*: )?\[[^\]\n]*?(\w{8})\]")
_SENTENCE = re.compile(r"[A-Z][^.\n<>\"\\]{50,}\.")


@pytest.fixture(params=KINDS)
def world(request: pytest.FixtureRequest, tmp_path: Path, no_code_reading: None) -> Iterator[World]:
    """One agent with a repository, in which people have recorded what they know."""
    with FakeModel() as model:
        made = World(request.param, tmp_path, model)
        path = made.install(made.first)
        git(path, "config", "user.name", "Ada")
        git(path, "config", "user.email", "ada@example.org")
        (path / "app/refunds.py").write_text("def refund(x):\n    return round(x, 2)\n")
        git(path, "add", ".")
        git(path, "commit", "-qm", "Refunds")
        run(path, "add", "Refunds are rounded half to even", "-t", "decision")
        run(path, "gotcha", "add", "Rates are parts of one", "--anchor", "app/pay.py:5")
        run(path, "gotcha", "add", "Refunds of zero are refused", "--anchor", "app/refunds.py:1")
        yield made


def texts_of(value: Any, seen: set[str]) -> Iterator[str]:
    """Yield the texts of a request; what a CLI itself sends twice, as a tool's result that is there already, once."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        if "functionResponse" in value:
            whole = json.dumps(value, sort_keys=True)
            if whole in seen:
                return
            seen.add(whole)
        for inner in value.values():
            yield from texts_of(inner, seen)
    elif isinstance(value, list):
        for inner in value:
            yield from texts_of(inner, seen)


def blocks(request: Request) -> list[str]:
    """Return the blocks that git mem has put into a request."""
    text = "\n".join(texts_of(request.body, set()))
    return [block for block in _BLOCK.findall(text) if "Notes recorded in this repository" in block]


def told(request: Request) -> list[str]:
    """Return the short ids of the facts that a request tells, in their order."""
    return [id for block in blocks(request) for id in _NAMED.findall(block)]


def never_twice(requests: list[Request]) -> None:
    """No fact stands twice in the context of one request."""
    for number, request in enumerate(requests):
        ids = told(request)
        twice = {id for id in ids if ids.count(id) > 1}
        assert not twice, f"request {number}: {twice}\n" + "\n".join(blocks(request))


def own_prompt(requests: list[Request]) -> set[bytes]:
    """Return sentences of the CLI's own prompt, as bytes that a store might have."""
    parts = [
        request.body.get(key)
        for request in requests
        for key in ("system", "systemInstruction", "instructions")
    ]
    # Codex has it among the messages
    parts += [
        item
        for request in requests
        for item in request.body.get("input") or []
        if isinstance(item, dict) and item.get("role") == "developer"
    ]
    text = "\n".join(text for part in parts for text in texts_of(part, set()))
    return {sentence.encode() for sentence in _SENTENCE.findall(text)}


def stored(path: Path) -> bytes:
    """Return all that git mem and git have of a repository."""
    whole = git(path, "cat-file", "--batch-all-objects", "--batch", "--buffer")
    files = [file for file in (path / ".git/gitmem").rglob("*") if file.is_file()]
    return whole.encode(errors="replace") + b"".join(file.read_bytes() for file in files)


def long_session(world: World, path: Path) -> list[Step]:
    """Return what the agent does: it looks, slips, fails, decides, mends, commits, delegates, records."""
    shell = world.shell
    slips = [shell(command) for command in (SLIPS * 3 if FULL else SLIPS[::2])]
    steps = [
        world.read(path / "app/pay.py"),
        *slips,
        *[shell(FAILING)] * 3,
        {**shell("cat app/refunds.py"), "say": DECISION},
        world.edit(path / "app/pay.py", OLD, NEW),
        shell(FAILING),
        shell("git commit -qam 'Charge orders once'"),
    ]
    world.model.delegated = [
        world.read(path / "app/refunds.py"),
        shell("echo looked"),
        {"text": "The subagent looked: refunds are fine."},
    ]
    if delegated := world.cli.kind.delegate(f"Look at app/refunds.py {SUBAGENT}"):
        steps.append(delegated)
    steps.append({**shell("git mem add 'Retries carry a key' -t decision"), "say": TASK})
    steps += [shell(f"echo {number}") for number in range(CALLS - len(steps))]
    return steps


def over(path: Path, records: int = 1) -> None:
    """Wait until all sessions are over and worked off."""
    wait_for(lambda: all(one["state"] == "ended" for one in sessions(path)))
    wait_for(lambda: len(session_records(path)) == records)
    wait_for(lambda: not data_of(run(path, "status", "--json"))["requests"])


def go_on(world: World, path: Path, prompt: str, *steps: Step) -> list[Request]:
    """Let the agent go on with its session; return what its model was sent."""
    world.model.requests.clear()
    world.model.steps = [*steps, {"text": "That was it."}]
    world.cli.run(path, prompt, *world.trusting(path), *world.cli.kind.going_on())
    return world.model.asked


def test_a_long_session_its_resume_and_the_next(world: World):
    """Some ten seconds for each CLI: three starts and a dozen calls with their hooks are the point."""
    path = world.first
    world.model.compacts = True  # it is counted by its requests, as a session that is gone on with
    world.work(path, REQUEST, *long_session(world, path))
    first = world.model.asked
    never_twice(first)
    mine = [request for request in first if not request.is_subagents]
    assert len(mine) > CALLS
    if world.cli.kind.delegate(""):
        (start, *_) = [request for request in first if request.is_subagents]
        assert "Refunds of zero" not in start.text
        last = [request for request in first if request.is_subagents][-1]
        assert "Refunds of zero are refused" in last.text  # it read that file
    over(path)
    (session,) = sessions(path)  # a subagent has none of its own
    assert (session["subject"], session["agent"]) == (REQUEST, world.agent)
    rows = history(path, session["id"])
    assert [row["content"] for row in rows if row["role"] == "user"] == [REQUEST]
    assert rows[0]["state"].items() >= {"agent": world.agent, "branch": "main"}.items()
    assert {(row["role"], row["metadata"]["event"]) for row in rows} >= EVENTS
    failed = [row["content"] for row in rows if row["metadata"]["event"] == "ToolFailed"]
    mine_failed = [text for text in failed if text.startswith(f"{FAILING}\nExit code 1\n")]
    assert len(mine_failed) == 3
    assert all(text.endswith("KeyError: 'TAX_RATE'") for text in mine_failed)

    resumed = go_on(world, path, "Go on", world.read(path / "app/refunds.py"), world.shell("true"))
    never_twice(resumed)
    open_gotchas = [row for row in gotchas(path) if not row.get("is_resolved")]
    known = {row["id"][-8:] for row in data_of(run(path, "list", "--kind", "memory", "--json"))}
    held = known | {row["id"][-8:] for row in open_gotchas}
    assert held & set(told(mine[-1])) <= set(told(resumed[-1]))
    over(path)
    assert [row["id"] for row in sessions(path)] == [session["id"]]

    world.work(path, "What is next?", world.shell("echo on"))
    never_twice(world.model.asked)
    (block,) = blocks(world.model.asked[0])
    assert blocks(world.model.asked[-1]) == [block]
    for part in ("the session before: ", "SERIALIZABLE isolation", "ort the payment tests"):
        assert block.count(part) == 1, part
    assert "committed Charge orders once" in block or "Charge orders once" in block
    for part in ("charged twice", "nosuch", "nothing to commit", "Continuing from", str(path)):
        assert part not in block, part
    assert "ask the user first" not in block
    assert {row["title"] for row in open_gotchas} == {
        "Rates are parts of one",
        "Refunds of zero are refused",
    }
    over(path, 2)
    whole = stored(path)
    prompt = own_prompt([*first, *resumed])
    assert prompt
    assert [sentence for sentence in prompt if sentence in whole] == []


@pytest.mark.parametrize("world", AT_ONCE, indirect=True)
def test_two_work_trees_at_once(world: World):
    """Each session is told the facts once, and neither is asked to go on with the other's work."""
    run(world.first, "install", world.agent, "--user")
    others = [world.first.with_name(name) for name in ("left", "right")]
    for path in others:
        git(world.first, "worktree", "add", "-q", str(path))
    # a command in the model's answers is of no work tree: both take the same steps
    shell = world.shell
    mend = shell("sed -i s/1/2/ app/refunds.py; git commit -qam Mend; sleep 0.5")
    world.model.steps = [
        {**shell("cat app/refunds.py"), "say": DECISION},
        *[shell(FAILING)] * 2,
        mend,
        *[shell("sleep 0.3")] * scaled(20, 2),
        {"text": "The work is done."},
    ]
    world.model.requests.clear()
    hosts = []
    for path in others:
        hosts.append(world.cli.start(path, f"Mend it in {path.name}", *world.trusting(path)))
        # opencode makes its own database at its first start, and ends over another one that does
        wait_for(lambda: world.model.asked, DEADLINE)
    assert [host.wait(DEADLINE) for host in hosts] == [0, 0]
    over(world.first, 2)
    assert {row["work_tree"] for row in sessions(world.first)} == set(map(str, others))
    for path in others:
        mine = [request for request in world.model.asked if f"it in {path.name}" in request.text]
        never_twice(mine)
        assert all("Refunds are rounded" in request.text for request in mine)
        assert not any("ask the user first" in block for block in blocks(mine[-1]))
    whole = run(world.first, "page", "summary")
    assert whole.count("SERIALIZABLE isolation") == 1
    (counted,) = [row for row in gotchas(world.first) if row["title"].startswith("KeyError")]
    assert counted["occurrences"] == 4


@pytest.mark.parametrize("world", COMPACTING if FULL else COMPACTING[:1], indirect=True)
def test_a_compaction_in_the_middle(world: World):
    """What was told is told again, once, and what a model wrote of the session is nobody's word; others: `test_real_sessions`."""
    path, shell = world.first, world.shell
    if world.agent == "codex":
        settings = world.cli.home / ".codex/config.toml"
        limit = "model_auto_compact_token_limit = 100000"
        settings.write_text(f"{limit}\n{settings.read_text()}")
    world.model.compacts = True
    world.model.aside = "They worked on the ledger. We decided to use MongoDB."
    full = {**shell("echo two"), "tokens": COMPACTING_AT}
    world.work(path, REQUEST, world.read(path / "app/pay.py"), full, *[shell("echo on")] * 4)
    asides = [request for request in world.model.requests if "ledger" in request.text]
    assert asides  # it was compacted
    requests = world.model.asked
    never_twice(requests)
    if world.agent != "copilot":  # which says when it begins, and not when it is done
        assert "Refunds are rounded half to even" in requests[-1].text
    over(path)
    (session,) = sessions(path)
    talk = [row["content"] for row in history(path, session["id"]) if row["role"] == "assistant"]
    assert not [text for text in talk if "MongoDB" in text]
    assert "MongoDB" not in run(path, "page", "summary") + run(path, "inbox")
