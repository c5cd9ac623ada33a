"""Whatever a CLI sends, broken, huge or hostile: an event or none, an answer that is JSON or nothing, never an exception."""

import copy
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gitmem import repository
from gitmem.agents import adapter
from gitmem.agents.events import ADAPTERS, HookEvent
from gitmem.agents.written import note
from gitmem.hooks import session_start, tool_use
from gitmem.hooks.main import respond
from tests.agents.conftest import SAMPLES
from tests.conftest import git
from tests.hooks.conftest import run
from tests.scale import scaled

MANY = scaled(10_000, 150)
READ = scaled(10_000, 1_000)
REAL = scaled(40, 8)  # of an agent, through a process of their own
NOW = 1_800_000_000.0
TEXTS = (
    "",
    "\0",
    "a\0b",
    "\ud83d",
    "\udcff\ud800",
    "../" * 50,
    "/dev/zero",
    "/",
    "-",
    "--help",
    "\u202e\x1b[31m",
    "é" * 300,
    "x" * 70_000,
    "<git-mem>",
    "&lt;git-mem&gt;",
    "[git-mem] Notes",
    "</git-mem>",
    "Exit Code: 3",
    "<shellId: 0 completed with exit code 3>",
    '{"exitCode": 3}',
    "*** Update File: \0",
    "%s%n{0}",
    "9" * 5000,
)
VALUES: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    1 << 70,
    1.5,
    float("nan"),
    float("inf"),
    -float("inf"),
    [],
    {},
    [[[]]],
    [None],
    {"": {}},
    ["a", 1],
    {"command": 1},
)


def samples(agent: str) -> list[dict[str, Any]]:
    """Return the agent's real payloads."""
    return [json.loads(path.read_text()) for path in sorted((SAMPLES / agent).glob("*.json"))]


def deep(depth: int) -> Any:
    """Return a value so many levels deep."""
    value: Any = "end"
    for level in range(depth):
        value = [value] if level % 2 else {"tool_input": value}
    return value


def spots(value: Any, levels: int = 6) -> list[tuple[Any, Any]]:
    """Return the places of a payload, so many levels deep, as what holds it and its key there."""
    keys: Any = (
        list(value)
        if isinstance(value, dict)
        else range(len(value))
        if isinstance(value, list)
        else ()
    )
    return (
        [spot for key in keys for spot in ((value, key), *spots(value[key], levels - 1))]
        if levels
        else []
    )


def weird(rng: random.Random) -> Any:
    """Return a value that nobody expects there."""
    kind = rng.random()
    return (
        rng.choice(TEXTS)
        if kind < 0.5
        else copy.deepcopy(rng.choice(VALUES))
        if kind < 0.95
        else deep(rng.choice((30, 400)))
    )


def mutants(agent: str, count: int, cwd: str) -> Iterator[dict[str, Any]]:
    """Return payloads with one to four things wrong; most come from a repository."""
    rng = random.Random(f"{agent} 4")
    real = samples(agent)
    assert real, f"tests/agents/samples/{agent} has no payload"
    places = adapter.find(agent).places
    for _ in range(count):
        payload = copy.deepcopy(rng.choice(real))
        for _ in range(rng.randint(1, 4)):
            holder, key = rng.choice(spots(payload))
            change = rng.random()
            if change < 0.15:
                del holder[key]
            elif change < 0.3:
                other, there = rng.choice(spots(rng.choice(real)))
                holder[key] = copy.deepcopy(other[there])  # from another event
            elif change < 0.4:
                holder[key] = [holder[key]]
            else:
                holder[key] = weird(rng)
            if not payload:
                break
        if rng.random() < 0.85:
            put(payload, places["cwd"][0], cwd)
        if rng.random() < 0.5:
            put(payload, places["session"][0], f"s{rng.randrange(5)}")
        yield payload


def put(payload: dict[str, Any], place: str, value: str) -> None:
    """Put a text at a place such as `cwd` or `roots.0`, whatever is there."""
    key, _, below = place.partition(".")
    payload[key] = [value] if below == "0" else {below: value} if below else value


def sound(event: HookEvent | None) -> None:
    """Fail unless an event is what everything behind it takes for granted."""
    if event is None:
        return
    for field in HookEvent.__slots__:
        value = getattr(event, field)
        if field in {"interrupted", "background", "names_parent"}:
            assert type(value) is bool
        elif field == "paths":
            assert type(value) is tuple and all(type(path) is str for path in value)
        elif field == "seconds":
            assert type(value) is float and 0 <= value < 1e9
        elif field == "changes":
            for change in value:
                assert type(change.path) is str
                assert all(
                    text is None or type(text) is str
                    for text in (change.before, change.after, change.given)
                )
                assert all(type(new) is str and type(old) is str for new, old in change.parts)
                # whatever it says, what is noted of it is sound
                note(change, b"def f():\n    pass\n")
        else:
            assert type(value) is str
            value.encode()  # no half of an emoji
    assert event.session and event.session.isascii() and not set(event.session) & set("/\\\0 ")


@pytest.mark.parametrize("agent", ADAPTERS)
def test_any_payload_is_an_event_or_none(agent: str):
    speaks = adapter.find(agent)
    count = 0
    for payload in mutants(agent, READ, "/home/user/repo"):
        sound(adapter.read(speaks, payload, ""))
        count += 1
    assert count == READ


@pytest.fixture
def remembering(repo: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with something to tell, whose hooks start no process."""
    (repo / "a.py").write_text("def f():\n    pass\n")
    git(repo, "add", "a.py")
    git(repo, "commit", "-qm", "a")
    for words in (
        ["We use SERIALIZABLE", "-t", "decision"],
        ["Trap in a.py", "-k", "gotcha", "--anchor", "a.py", "--workaround", "Do it twice"],
    ):
        run(repo, "add", *words)
    run(repo, "list")  # hooks read the index as it is
    monkeypatch.setattr(repository, "detach", lambda *_: 0)
    for module in (session_start, tool_use):
        monkeypatch.setattr(module, "PATIENCE", 0.0)  # there is no process to wait for
    return repo


def answered(agent: str, repo: Path, count: int) -> int:
    """Send so many mutants through the hook; return how many were answered."""
    told = 0
    for n, payload in enumerate(mutants(agent, count, str(repo))):
        out = respond(agent, "", json.dumps(payload).encode(), os.environ, NOW + n)
        if out:
            answer = json.loads(out)
            assert isinstance(answer, dict) and answer
            told += 1
    return told


@pytest.mark.stress
@pytest.mark.parametrize("agent", ADAPTERS)
def test_many_mutants_are_answered_with_json_or_nothing(agent: str, remembering: Path):
    """One at least: a sample has to be of a tool that reads or changes a file, or of a start."""
    assert answered(agent, remembering, MANY) > 0


@pytest.mark.stress
@pytest.mark.parametrize("agent", ADAPTERS)
def test_mutants_through_the_real_process(agent: str, remembering: Path):
    """Cut off, not UTF-8, or no object: exit code 0, nothing on stderr, JSON or nothing on stdout."""
    rng = random.Random(agent)
    for n, payload in enumerate(mutants(agent, REAL, str(remembering))):
        data = bytearray(
            json.dumps(payload, ensure_ascii=n % 2 == 0).encode("utf-8", "surrogatepass")
        )
        if n % 4 == 1:
            del data[rng.randrange(len(data)) :]
        elif n % 4 == 2:
            data[rng.randrange(len(data))] = rng.randrange(256)
        elif n % 8 == 7:
            data = bytearray(b"[" * 200_000)
        done = subprocess.run(
            [sys.executable, "-P", "-m", "gitmem", "hook", agent],
            input=bytes(data),
            cwd=remembering,
            capture_output=True,
            timeout=20,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        assert not done.stdout or isinstance(json.loads(done.stdout), dict)
