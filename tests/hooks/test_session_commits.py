"""How many commits a session makes: one for all that it leaves, and none for an error that goes on failing."""

import json
from collections.abc import Callable
from pathlib import Path

from tests.conftest import git
from tests.hooks.conftest import (
    CODE,
    Agent,
    crash,
    gotchas,
    learn,
    run,
    wait_for,
    wait_for_session_record,
)
from tests.json_output import data_of

SHARED, PRIVATE = "refs/gitmem/heads/main", "refs/gitmem/local/main"


def operations(project: Path, *refs: str) -> list[str]:
    """Return what the commits of stores did, oldest first, without their beginning."""
    out = []
    for ref in refs:
        log = git(project, "log", "--reverse", "--format=%B", ref, "--", ok=(0, 128))
        out += [line[11:] for line in log.splitlines() if line.startswith("Gitmem-Op: ")]
    return [one for one in out if one != "init"]


def fail_until_captured(one: Agent) -> str:
    """Let an error happen until it is a gotcha; return what was said of it."""
    error = crash(one.cwd)
    for _ in range(3):
        one.fail(error)
    wait_for(lambda: gotchas(one.cwd))
    return error


def test_a_session_is_one_commit(agent: Callable[..., Agent], project: Path) -> None:
    """Its record, what it taught and the work at its end; hits after the capture go with it."""
    learn(project, "add", "Known about pay")
    one = agent()
    one.hook("SessionStart")
    one.hook("UserPromptSubmit", prompt="Decision: rates are decimals. Fix the tax rate.")
    error = fail_until_captured(one)
    for _ in range(4):
        one.fail(error)
        for _ in range(4):
            one.hook("PostToolUse.Read")
    run(project, "drain")
    assert ["capture"] == operations(project, SHARED, PRIVATE)[1:]
    (project / "app" / "pay.py").write_text(CODE + "# edited\n")
    one.hook("SessionEnd")
    wait_for_session_record(project)

    assert ["capture", "session"] == operations(project, PRIVATE)
    message = git(project, "log", "-1", "--format=%B", PRIVATE)
    assert {"Gitmem-Id: ses-", "Gitmem-Id: snp-"} == {
        line[:15] for line in message.splitlines() if line.startswith("Gitmem-Id: s")
    }
    assert 7 == gotchas(project)[0]["occurrences"]
    assert ["add"] == operations(project, SHARED)


def test_a_compaction_is_one_commit(agent: Callable[..., Agent], project: Path) -> None:
    """The snapshot before it and what was said so far."""
    one = agent()
    one.hook("SessionStart")
    one.hook("UserPromptSubmit", prompt="Decision: rates are decimals. Fix the tax rate.")
    (project / "app" / "pay.py").write_text(CODE + "# edited\n")
    payload = {**one.payload("SessionStart"), "hook_event_name": "PreCompact", "trigger": "auto"}
    one.raw(json.dumps(payload).encode())
    wait_for_session_record(project)

    assert 1 == len(operations(project, PRIVATE))
    kinds = {row["kind"] for row in data_of(run(project, "list", "--private", "--json"))}
    assert {"session", "snapshot"} <= kinds


def test_hits_before_a_gotcha_was_resolved_do_not_reopen_it(
    agent: Callable[..., Agent], project: Path
) -> None:
    """They count, whenever they are written; the next one does reopen it."""
    one = agent()
    one.hook("SessionStart")
    one.hook("UserPromptSubmit", prompt="Fix the tax rate.")
    error = fail_until_captured(one)
    one.fail(error)
    run(project, "gotcha", "resolve", gotchas(project)[0]["id"])
    one.hook("SessionEnd")
    wait_for_session_record(project)
    found = gotchas(project)[0]
    assert (True, 4) == (bool(found["is_resolved"]), found["occurrences"])

    two = agent("s2")
    two.fail(error)
    wait_for(lambda: not gotchas(project)[0]["is_resolved"])
    assert 5 == gotchas(project)[0]["occurrences"]
