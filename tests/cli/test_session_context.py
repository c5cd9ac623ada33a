"""The work in hand on the command line: context, tasks, hand-overs, workflows."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Mem


@pytest.fixture(autouse=True)
def _preset(mem: Mem) -> None:
    """Use the workflows of the preset."""
    (mem.folder / ".aios-core").mkdir()


def context(mem: Mem, *args: str, **options: Any) -> dict[str, Any]:
    """Return the context as JSON."""
    found: dict[str, Any] = mem("session", "context", "--json", *args, **options).json
    return found


def test_nothing_in_hand(mem: Mem) -> None:
    """New, and empty."""
    found = context(mem, "--agent", "qa")
    assert found["kind"] == "new"
    assert [
        found[key] for key in ("previous_agent", "workflow", "state", "story", "message", "id")
    ] == [None] * 6
    assert [
        found[key] for key in ("last_commands", "agents", "tasks", "next_steps", "handovers")
    ] == [[]] * 5
    assert "nothing is in hand here" in mem("session", "context").out


def test_tasks_lead_through_a_workflow(mem: Mem) -> None:
    """Each says where that leaves it; a failed one leaves it where it was, and one done twice is done once."""
    done = mem("session", "task", "validate-story-draft", "--story", "docs/s.md", "--agent", "po")
    assert "story_development is at validated. Next: *develop-yolo docs/s.md" in done.out
    assert "as before" in mem("session", "task", "*develop", "--failed", "--agent", "dev").out
    assert context(mem)["state"] == "validated"
    assert (
        mem("session", "task", "*develop", "--agent", "dev", "--json").json["state"]
        == "in_development"
    )
    again = mem("session", "task", "develop", "--agent", "dev", "--json").json
    assert (again["recorded"], len(again["tasks"])) == (False, 3)
    assert "done already" in mem("session", "task", "develop", "--agent", "dev").out
    unknown = mem("session", "task", "wash the car", "--json").json
    assert (unknown["in_workflow"], unknown["workflow"], unknown["state"]) == (
        False,
        "story_development",
        "in_development",
    )
    found = context(mem, "--agent", "qa")
    assert (found["kind"], found["previous_agent"]["agent"], found["story"]) == (
        "workflow",
        "dev",
        "docs/s.md",
    )
    assert "*" not in "".join(found["last_commands"])
    assert found["message"].startswith("Continuing from @dev, just now; last: *develop.")
    assert "**" not in found["message"]


def test_after_an_hour_it_is_new(mem: Mem) -> None:
    """And what was done before does not come back with what is done next."""
    mem("session", "task", "develop", "--story", "s", ago=3700)
    assert context(mem, ago=200)["kind"] == "workflow"
    assert context(mem)["kind"] == "new"
    first = context(mem, ago=200)["id"]
    mem("session", "task", "other")
    found = context(mem)
    assert (found["kind"], found["workflow"], found["story"], len(found["tasks"])) == (
        "existing",
        None,
        None,
        1,
    )
    assert found["id"] != first


@pytest.mark.parametrize(
    ("text", "kind", "commands"),
    [
        (
            '[{"role": "user", "content": "*create-epic"}, {"role": "assistant", "content": [{"type": "text", "text": "*create-story"}]}]',
            "workflow",
            2,
        ),
        (
            '{"role": "user", "content": "*develop"}\n{"broken\n{"role": "user", "content": "so *important*"}\n',
            "existing",
            1,
        ),
        ('{"messages": [{"text": "hello"}]}', "existing", 0),
        ('{"type": "user", "message": {"role": "user", "content": "*develop"}}\n', "existing", 1),
        ("[]", "new", 0),
        ("", "new", 0),
        ("[1, null, []]", "new", 0),
    ],
)
def test_a_history_decides(mem: Mem, tmp_path: Path, text: str, kind: str, commands: int) -> None:
    """In the forms that tools write; what is not a message is passed over."""
    path = tmp_path / "chat.json"
    path.write_text(text)
    found = context(mem, "--history", str(path))
    assert (found["kind"], len(found["last_commands"])) == (kind, commands)
    assert context(mem, "--history", "-", stdin=text.encode())["kind"] == kind


def test_a_history_that_is_none(mem: Mem, tmp_path: Path) -> None:
    """Said with the form that is wanted."""
    (tmp_path / "x").write_text("just words")
    assert (
        "holds no messages"
        in mem("session", "context", "--history", str(tmp_path / "x"), code=1).err
    )
    assert "No such file" in mem("session", "context", "--history", str(tmp_path / "y"), code=1).err


# -- hand-overs


def test_a_handover_is_told_to_whom_it_is_for(mem: Mem) -> None:
    """With where it stands, what was decided since, what is open, and what shows it."""
    mem("add", "Old decision", "--type", "decision", ago=7200)
    mem("session", "task", "develop", "--story", "docs/s.md", "--agent", "dev")
    decision = mem.add("Use SERIALIZABLE", "--type", "decision")
    (mem.folder / "a.py").write_text("x\n")
    args = (
        "-m",
        "Ready for review",
        "--open",
        "check the logs",
        "--evidence",
        decision,
        "--evidence",
        "make test passes",
        "--decision",
        "no retries",
    )
    made = mem("session", "handover", "@qa", *args, "--json").json
    assert (made["changed"], made["journaled"]) == (True, False)
    assert (made["from_agent"], made["to_agent"], made["message"]) == (
        "dev",
        "qa",
        "Ready for review",
    )
    assert (made["context"]["workflow"], made["context"]["state"], made["context"]["story"]) == (
        "story_development",
        "in_development",
        "docs/s.md",
    )
    assert [one["path"] for one in made["context"]["changed_files"]] == ["a.py"]
    assert [one["text"] for one in made["decisions"]] == ["no retries", "Use SERIALIZABLE"]
    assert [one["text"] for one in made["tasks"]] == ["check the logs"]
    assert {"id": decision, "text": "Use SERIALIZABLE"} in made["evidence"]
    assert [row["title"] for row in context(mem, "--agent", "qa")["handovers"]] == [
        "@dev to @qa: Ready for review"
    ]
    assert context(mem, "--agent", "dev")["handovers"] == []
    record = mem.show(made["id"])
    assert (record["type"], record["agent"], record["store"]) == ("context", "qa", "shared")
    assert "handover" in record["tags"]
    assert decision in record["links"]


def test_a_newer_one_takes_its_place(mem: Mem) -> None:
    """From the same agent; one from another stands beside it; what is handed on is done with."""
    mem("session", "handover", "qa", "--from", "dev", "-m", "first")
    mem("session", "handover", "qa", "--from", "dev", "-m", "second")
    mem("session", "handover", "qa", "--from", "po", "-m", "third")
    titles = {row["title"] for row in context(mem, "--agent", "qa")["handovers"]}
    assert titles == {"@dev to @qa: second", "@po to @qa: third"}
    mem("session", "handover", "dev", "--from", "qa", "-m", "fixed")
    assert context(mem, "--agent", "qa")["handovers"] == []
    assert [row["title"] for row in context(mem, "--agent", "dev")["handovers"]] == [
        "@qa to @dev: fixed"
    ]


def test_a_handover_reaches_another_clone(clones: tuple[Mem, Mem]) -> None:
    """With the next exchange."""
    one, two = clones
    one("session", "handover", "qa", "--from", "dev", "-m", "over to you 🎉")
    one("session", "handover", "ops", "--from", "dev", "-m", "only here", "--private")
    one("sync")
    two("sync")
    assert [row["title"] for row in context(two, "--agent", "qa")["handovers"]] == [
        "@dev to @qa: over to you 🎉"
    ]
    assert context(two, "--agent", "ops")["handovers"] == []
    assert [row["title"] for row in context(one, "--agent", "ops")["handovers"]] == [
        "@dev to @ops: only here"
    ]


def test_handovers_that_make_no_sense(mem: Mem) -> None:
    """To oneself, or of nothing."""
    assert "itself" in mem("session", "handover", "dev", "--from", "dev", "-m", "x", code=1).err
    assert "nothing to hand over" in mem("session", "handover", "dev", code=1).err
    mem("session", "handover", "dev", "-m", "-", stdin=b"from\nstdin")
    assert (
        mem("session", "context", "--agent", "dev", "--json")
        .json["handovers"][0]["title"]
        .endswith("from stdin")
    )


def test_secrets_are_masked_in_a_handover(mem: Mem) -> None:
    """As in any record."""
    key = "AKIA" + "IOSFODNN7EXAMPLQ"
    done = mem("session", "handover", "qa", "-m", f"use {key}", "--evidence", key)
    assert "masked a secret" in done.err
    assert (
        key
        not in json.dumps(mem("list", "--json").json)
        + mem("show", context(mem, "--agent", "qa")["handovers"][0]["id"]).out
    )


# -- workflows


def test_workflows_are_listed(mem: Mem) -> None:
    """All twelve, or one."""
    every = mem("session", "workflows", "--json").json
    assert (every["workflow_file"], len(every["workflows"])) == (None, 12)
    assert sum(len(flow["transitions"]) for flow in every["workflows"]) == 37
    assert sum(len(flow["tasks"]) for flow in every["workflows"]) == 17
    assert (
        "next: *review-qa ${story_path}, *run-tests"
        in mem("session", "workflows", "story_development").out
    )
    assert "git commit" in mem("session", "workflows", "git_workflow").out
    assert "there is no workflow 'x'" in mem("session", "workflows", "x", code=1).err


def test_a_repositorys_own_workflow(mem: Mem) -> None:
    """It is listed, and its tasks count."""
    (mem.folder / ".gitmem").mkdir()
    path = mem.folder / ".gitmem" / "workflows.yaml"
    path.write_text(
        "workflows:\n  release:\n    - {state: cut, trigger: cut-release, next: [ship-release]}\n"
    )
    assert ".gitmem/workflows.yaml" in mem("session", "workflows").out
    assert "release is at cut. Next: *ship-release" in mem("session", "task", "cut-release").out
    path.write_text("workflows:\n  release:\n    - {state: Cut It, trigger: cut-release}\n")
    for args in (("workflows",), ("context",), ("task", "x")):
        err = mem("session", *args, code=1).err
        assert ".gitmem/workflows.yaml: workflows.release.transitions[0].state is 'Cut It'" in err
        assert "docs/work.md" in err
    mem("session", "start")  # it needs none of it
    mem("session", "handover", "qa", "-m", "x")
    mem("session", "resume", "--show", code=None)


def test_a_table_outside_is_not_read(mem: Mem, tmp_path: Path) -> None:
    """A link in the repository leads to nothing that is not of it; what is there is not told either."""
    (tmp_path / "outside").write_text("root:x:0\nsecret: [\n")
    (mem.folder / ".gitmem").mkdir()
    (mem.folder / ".gitmem/workflows.yaml").symlink_to(tmp_path / "outside")
    done = mem("session", "workflows", "--json")
    assert (done.json["workflow_file"], "secret" in done.err) == (None, False)


def test_the_epic_at_hand_is_named_in_next_steps(mem: Mem) -> None:
    """Where a step speaks of the epic, it is the one of this work tree."""
    mem("work", "start", "Checkout", "--story", "1")
    assert context(mem)["next_steps"] == []
    found = mem("session", "task", "create-epic", "--json").json
    assert found["next_steps"] == ["analyze-epic checkout", "create-story checkout"]


def test_nothing_empty_is_handed_over(mem: Mem) -> None:
    """Options without a text say nothing."""
    assert (
        "nothing to hand over"
        in mem("session", "handover", "qa", "--open", " ", "--evidence", "", code=1).err
    )
    found = mem(
        "session",
        "handover",
        "qa",
        "--open",
        "",
        "--open",
        "a\nb",
        "--decision",
        "",
        "--evidence",
        "",
        "--json",
    ).json
    assert (found["tasks"], found["decisions"], found["evidence"]) == (
        [{"id": None, "text": "a\nb"}],
        [],
        [],
    )


def test_a_secret_is_masked_in_all_that_is_told_of_a_hand_over(mem: Mem) -> None:
    """Said once, and not printed again."""
    secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
    done = mem(
        "session", "handover", "qa", "-m", f"token {secret}", "--open", f"use {secret}", "--json"
    )
    assert secret not in done.out
    assert done.err.count("masked a secret: GitHub token in line 1") == 1


def test_messages_from_both_ways(mem: Mem) -> None:
    """Standard input is read where `-` stands among others."""
    found = mem(
        "session", "handover", "qa", "-m", "first", "-m", "-", "--json", stdin=b"second\n"
    ).json
    assert found["message"] == "first\n\nsecond"
