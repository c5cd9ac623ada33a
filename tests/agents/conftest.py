"""What the agents' CLIs really send; `samples/README.md` says where each comes from."""

import json
from pathlib import Path
from typing import Any

import pytest

from gitmem.agents import adapter
from gitmem.agents.events import HookEvent

SAMPLES = Path(__file__).parent / "samples"


def payload(sample: str) -> dict[str, Any]:
    """Return a sample, such as `codex/Stop`."""
    data = json.loads((SAMPLES / f"{sample}.json").read_text())
    assert isinstance(data, dict)
    return data


def read(sample: str, **fields: Any) -> HookEvent | None:
    """Return the event of a sample, with some of its fields replaced."""
    return adapter.read(adapter.find(sample.partition("/")[0]), {**payload(sample), **fields}, "")


def known(sample: str, **fields: Any) -> HookEvent:
    """Return the event of a sample that has one."""
    event = read(sample, **fields)
    assert event is not None
    return event


@pytest.fixture(autouse=True)
def _no_code_reading(no_code_reading: None) -> None:
    """What is told of the code is no matter of these tests."""
