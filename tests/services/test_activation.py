"""Activation: tiers keep their time whatever a loader does; definitions are read whatever is in them."""

import os
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.errors import InvalidRecord, UserError
from gitmem.services.briefing import activation, agent_definitions
from gitmem.services.briefing.activation import BEST, CRITICAL, ERROR, HIGH, OK, TIMEOUT, Loader
from gitmem.services.briefing.agent_definitions import (
    AgentCommand,
    definitions,
    front_matter,
    listed,
)


def test_loaders_of_a_tier_run_at_once_and_tiers_one_after_the_other():
    gate = threading.Barrier(2, timeout=5)
    order: list[str] = []
    loaded: dict[str, object] = {}
    done = activation.run(
        [
            Loader("a", HIGH, lambda: (gate.wait(), order.append("a"))),
            Loader("b", HIGH, lambda: (gate.wait(), order.append("b"))),
            Loader("first", CRITICAL, lambda: order.append("first") or 7),
            Loader("last", BEST, lambda: order.append(f"last {loaded['first']}")),
        ],
        5.0,
        loaded,
    )
    assert [(one.name, one.status) for one in done] == [
        ("first", OK),
        ("a", OK),
        ("b", OK),
        ("last", OK),
    ]
    assert (order[0], sorted(order[1:3]), order[3]) == ("first", ["a", "b"], "last 7")


def test_a_loader_that_hangs_or_fails_costs_itself_alone():
    out, into = os.pipe()

    def fails() -> None:
        raise ValueError("no such thing")

    def late() -> None:
        raise TimeoutError("git took too long")

    begun = time.monotonic()
    done = activation.run(
        [
            Loader("hangs", CRITICAL, lambda: os.read(out, 1)),
            Loader("fails", CRITICAL, fails),
            Loader("late", CRITICAL, late),
            Loader("well", BEST, lambda: 1),
        ]
    )
    spent = time.monotonic() - begun
    os.write(into, b"x")
    found = {one.name: one for one in done}
    assert {name: one.status for name, one in found.items()} == {
        "hangs": TIMEOUT,
        "fails": ERROR,
        "late": TIMEOUT,
        "well": OK,
    }
    assert found["fails"].error == "no such thing"
    assert activation.BUDGET[CRITICAL] <= found["hangs"].seconds < 2.5
    assert spent < 2.9


def test_the_total_bounds_all_tiers():
    begun = time.monotonic()
    done = activation.run(
        [Loader("hangs", CRITICAL, lambda: time.sleep(3)), Loader("after", HIGH, lambda: 1)], 0.02
    )
    assert time.monotonic() - begun < 2.5
    assert [(one.name, one.status) for one in done] == [("hangs", TIMEOUT), ("after", TIMEOUT)]


@pytest.mark.parametrize(
    ("given", "env", "seconds"),
    [
        (None, "", 0.5),
        (200, "900", 0.2),
        (None, "900", 0.9),
        (None, "soon", 0.5),
        (None, "-5", 0.5),
        (None, "0", 0.5),
        (None, "٣", 0.5),
    ],
)
def test_the_total_can_be_said(given, env, seconds):
    assert activation.limit(given, {"GITMEM_ACTIVATE_TIMEOUT": env}) == seconds


def write(root: Path, name: str, text: str | bytes) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_definitions_are_found_nearest_first(tmp_path):
    root, home = tmp_path / "repo", tmp_path / "home"
    write(root, ".gitmem/agents/dev.md", "---\nname: dev\ntitle: Ours\n---\n")
    write(root, ".gitmem/agents/plain.md", "# No front matter\n")
    write(root, ".claude/agents/dev.md", "---\nname: dev\ntitle: Claude's\n---\n")
    write(
        root, ".claude/agents/deep/er/qa.md", "---\r\nname: qa\r\ndescription: Reviews\r\n---\r\n"
    )
    write(root, ".claude/agents/README.md", "# About these agents\n")
    write(root, ".gemini/agents/sec.md", "---\nname: sec\n---\n")
    write(home, ".claude/agents/mine.md", "---\nname: mine\n---\n")
    write(home, ".gemini/agents/yours.md", "---\nname: yours\n---\n")
    found = {one.name: one for one in definitions(str(root), {"HOME": str(home)})}
    assert list(found) == ["dev", "plain", "qa", "sec", "mine", "yours"]
    assert (found["dev"].title, found["qa"].role, found["mine"].path) == (
        "Ours",
        "Reviews",
        "~/.claude/agents/mine.md",
    )
    assert [one.name for one in definitions("", {"HOME": str(home)})] == ["mine", "yours"]
    assert [
        one.name
        for one in definitions("", {"HOME": "/nowhere", "CLAUDE_CONFIG_DIR": str(home / ".claude")})
    ] == ["mine"]
    assert agent_definitions.find("@DEV", str(root), {}).title == "Ours"


def test_no_link_of_a_repository_leads_out_of_it(tmp_path):
    root = tmp_path / "repo"
    secret = write(tmp_path, "outside/secret.md", "---\nname: secret\n---\n")
    write(root, ".gitmem/agents/dev.md", "---\nname: dev\n---\n")
    (root / ".gitmem/agents/leak.md").symlink_to(secret)
    (root / ".gitmem/agents/alias.md").symlink_to("dev.md")
    (root / ".claude").mkdir()
    (root / ".claude/agents").symlink_to(secret.parent)
    assert [one.name for one in definitions(str(root), {})] == ["dev"]


def test_a_definition_that_cannot_be_read_says_why(tmp_path):
    folder = ".gitmem/agents/"
    write(tmp_path, folder + "big.md", "---\nname: big\n---\n" + "x" * 70_000)
    write(tmp_path, folder + "bytes.md", b"---\nname: \xff\n---\n")
    write(tmp_path, folder + "open.md", "---\nname: open\n")
    write(tmp_path, folder + "list.md", "---\n- a\n---\n")
    write(tmp_path, folder + "bomb.md", "---\na: &a [x]\nb: *a\n---\n")
    os.mkfifo(tmp_path / folder / "pipe.md")
    (tmp_path / folder / "gone.md").symlink_to("nowhere.md")
    problems = {one.name: one.problem for one in definitions(str(tmp_path), {})}
    assert {name: text.split(":")[0] for name, text in problems.items()} == {
        "big": "it has more than 64 KiB",
        "bytes": "it is not UTF-8",
        "open": "its front matter has no end",
        "list": "its front matter is not a mapping of names to values",
        "bomb": "its front matter is not YAML",
        "pipe": "it is not a file",
        "gone": "it cannot be read",
    }


def test_commands_in_every_form(tmp_path):
    text = """---
name: dev
commands:
  - {name: a, description: A, visibility: key}
  - {name: b, visibility: [quick, full]}
  - c
  - d: Does d
  - {name: e, visibility: internal}
  - {name: f, description: F, visibility: full}
  - 7
  - [x]
  - {description: nobody}
---
"""
    write(tmp_path, ".gitmem/agents/dev.md", text)
    commands = agent_definitions.find("dev", str(tmp_path), {}).commands
    assert [(one.name, one.description) for one in commands] == [
        ("a", "A"),
        ("b", ""),
        ("c", ""),
        ("d", "Does d"),
        ("e", ""),
        ("f", "F"),
        ("7", ""),
    ]
    assert "".join(one.name for one in listed(commands, "full", 12)) == "abcdf7"
    assert "".join(one.name for one in listed(commands, "quick", 12)) == "abcd7"
    assert "".join(one.name for one in listed(commands, "key", 12)) == "acd7"
    assert len(listed([AgentCommand(str(n)) for n in range(30)], "key", 12)) == 12


def test_front_matter_that_agents_take_and_yaml_does_not():
    assert front_matter(
        "---\nname: qa\ndescription: Use this when: it is late\nmodel: x: y\n---\n"
    ) == {
        "name": "qa",
        "description": "Use this when: it is late",
    }
    assert front_matter("no front matter") is None
    assert front_matter("---\n---\n") in ({}, None)


@settings(deadline=None)
@given(st.text(max_size=300))
def test_any_text_is_read_or_refused(text):
    for whole in (text, f"---\n{text}\n---\n"):
        try:
            found = front_matter(whole)
        except InvalidRecord:
            continue
        assert found is None or isinstance(found, dict)


def test_an_unknown_name_names_those_that_are_near(tmp_path):
    write(tmp_path, ".gitmem/agents/developer.md", "---\nname: developer\n---\n")
    with pytest.raises(UserError, match="there is no agent 'develper'") as error:
        agent_definitions.find("develper", str(tmp_path), {})
    assert "Did you mean developer?" in error.value.hint
    with pytest.raises(UserError) as error:
        agent_definitions.find("zz", str(tmp_path), {})
    assert "There is developer." in error.value.hint
    with pytest.raises(UserError) as error:
        agent_definitions.find("a/../b c", "", {})
    assert ".gitmem/agents/a-..-b-c.md" in error.value.hint
