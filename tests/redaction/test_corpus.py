"""Secrets in 58 forms are masked, what only looks like one is not; and no door keeps one: every byte below the git directory is searched."""

import json
import os
import subprocess
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitmem.hooks.main import respond
from gitmem.redaction.formats import harmless
from gitmem.redaction.mask import scrub
from tests.cli.conftest import Mem, mem
from tests.redaction.corpus import FORMS, lookalikes, secrets
from tests.scale import scaled

__all__ = ["mem"]  # a fixture
RECALL, ALARMS = 0.97, 0.02
SEED = 20261125


def left(text: str, secret: str) -> bool:
    """Say whether a text still has a secret, or a word of one."""
    return any(word in text for word in secret.split(" "))


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("seed", [SEED, 7])
def test_secrets_are_masked(seed: int, quick: bool) -> None:
    every = list(secrets(seed))
    assert len(FORMS) >= 40 and len(every) >= 150
    missed = [text for _, text, secret in every if left(scrub(text, quick=quick).text, secret)]
    assert len(missed) <= (1 - RECALL) * len(every), missed


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("seed", [SEED, 7])
def test_what_looks_like_a_secret_is_not_masked(seed: int, quick: bool) -> None:
    every = list(lookalikes(seed))
    assert len(every) >= 300
    alarms = [text for text in every if scrub(text, quick=quick).findings]
    assert len(alarms) <= ALARMS * len(every), alarms


def test_a_hook_asks_for_every_secret() -> None:
    """What can be seen at once to be harmless is not scrubbed by a hook: no secret may look so."""
    assert [
        text
        for _, text, secret in secrets(SEED)
        if left(scrub(text).text, secret) is False and harmless(text)
    ] == []


def test_hostile_texts_take_no_time() -> None:
    parts = (
        "login ",
        "x -p ",
        "password a1!",
        "kind: Secret\ndata:\n",
        "htpasswd -b ",
        "$2b$12$",
        "user x identified by ",
        '"auth":',
        "echo a |",
    )
    started = time.process_time()
    for part in parts:
        scrub(part * (60_000 // len(part)))
    assert time.process_time() - started < 20


# -- doors


def stored(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield every file below a git directory, and every object, unpacked."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            yield str(path.relative_to(folder)), data
            if len(path.name) == 38 and path.parent.parent.name == "objects":
                yield f"object {path.parent.name}{path.name}", zlib.decompress(data)
    done = subprocess.run(
        ["git", "-C", str(folder.parent), "cat-file", "--batch-all-objects", "--batch"],
        capture_output=True,
        check=True,
    )
    yield "objects", done.stdout


def one_line(text: str) -> str:
    return " ".join(text.split())


def by_hand(mem: Mem, text: str, n: int) -> str:
    """Send a text through the doors that a person has; return what `error record` printed."""
    line, out = one_line(text), ""
    for args in (
        ("add", "--", line),
        ("add", f"note {n}", "-m", text),
        ("add", f"tag {n}", f"--tag={line}"),
        ("gotcha", "add", f"hint {n}", f"--workaround={line}"),
        ("gotcha", "add", f"error {n}", f"--error={text}"),
        ("error", "record", "--command", line, "--", f"ValueError: {line}"),
        ("session", "note", "--", line),
        ("session", "mark", "--", line),
        ("add", "-t", "decision", "--", line),
        ("session", "task", "--agent", "dev", "--story", line, "develop"),
        ("work", "override", f"key{n}", line),
        ("work", "error", "--", line),
    ):
        done = mem(*args, code=None)
        assert done.code in (0, 1, 2), (args, done)
        # others repeat what was typed in their usage errors
        out += done.out + done.err if args[0] == "error" else ""
    return out


def by_hooks(repo: Path, text: str, n: int) -> str:
    """Send a text through the doors that an agent has; return what was answered."""
    common = {"session_id": f"s{n % 5}", "cwd": str(repo), "transcript_path": ""}
    # an address without its slashes is none
    name = "plain.txt" if "://" in text else one_line(text).replace("/", "_")[:240]
    tool = {"tool_name": "Bash", "tool_input": {"command": text}, "tool_use_id": f"t{n}"}
    events: list[dict[str, object]] = [
        {"hook_event_name": "UserPromptSubmit", "prompt": text},
        {"hook_event_name": "PostToolUse", **tool, "tool_response": {"stdout": text, "stderr": ""}},
        {
            "hook_event_name": "PostToolUseFailure",
            **tool,
            "error": f"Exit code 1\nValueError: {text}",
        },
        {
            "hook_event_name": "PostToolUse",
            "tool_name": "Edit",
            "tool_input": {"file_path": str(repo / name), "old_string": "a", "new_string": text},
            "tool_response": {},
        },
        {"hook_event_name": "Stop", "last_assistant_message": text},
    ]
    return "".join(
        str(
            respond("claude", "", json.dumps({**common, **event}).encode(), os.environ, time.time())
        )
        for event in events
    )


def test_no_door_keeps_a_secret(mem: Mem) -> None:
    """Each form goes through every door; then every byte below the git directory is searched, all objects included."""
    repo = mem.folder
    mem("init")
    mem("work", "start", "epic")
    mem("session", "start", "--title", "doors")
    every = [row for row in secrets(SEED, each=1) if not left(scrub(row[1]).text, row[2])]
    assert len(every) >= RECALL * len(FORMS)
    every = every[:: scaled(1, 9)]  # all of them in `make stress`
    said = ""
    for n, (_, text, _) in enumerate(every):
        said += by_hand(mem, text, n) + by_hooks(repo, text, n)
    for n in range(5):
        respond(
            "claude",
            "",
            json.dumps(
                {
                    "hook_event_name": "SessionEnd",
                    "session_id": f"s{n}",
                    "cwd": str(repo),
                    "reason": "exit",
                }
            ).encode(),
            os.environ,
            time.time(),
        )
    mem("session", "end")
    mem("drain", code=None)
    found: dict[str, set[str]] = {}
    for place, data in stored(repo / ".git"):
        for form, _, secret in every:
            if any(word.encode() in data for word in secret.split(" ")):
                found.setdefault(form, set()).add(place)
    assert found == {}
    assert [form for form, _, secret in every if left(said, secret)] == []
