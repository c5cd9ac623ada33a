"""How far a plan is: boxes, headings in four languages, state.json."""

import io
import json

import pytest

from gitmem.transcripts.formats.plan_files import PlanProgress, progress
from gitmem.transcripts.reader import read


def told(text: str, name: str = "PROGRESS.md") -> PlanProgress:
    return progress(read(io.BytesIO(text.encode()), name))


def test_boxes_and_phase() -> None:
    found = told(
        "# Plan\n\nPhase: development\n\n- [x] parser\n- [ ] printer\n  with colours\n- [X] docs\n"
    )

    assert found == PlanProgress("development", 2, 3, ("printer with colours",), ("parser", "docs"))


@pytest.mark.parametrize(
    ("done", "pending"),
    [
        ("Done", "Next steps"),
        ("Concluído", "Pendente"),
        ("Hecho", "Por hacer"),
        ("已完成", "待办"),
        ("Completed", "In progress"),
    ],
)
def test_headings(done: str, pending: str) -> None:
    found = told(f"## {done}\n\n- one thing\n\n## {pending}\n\n- another thing\n1. a third\n")

    assert (found.completed, found.pending) == (("one thing",), ("another thing", "a third"))


def test_state_json() -> None:
    state = {
        "phase": "qa",
        "tasks": [{"title": "a", "status": "done"}, {"title": "b", "status": "open"}],
        "pending": ["c"],
        "tasks_done": 4,
        "tasks_total": 9,
    }

    assert told(json.dumps(state, indent=2), "state.json") == PlanProgress(
        "qa", 4, 9, ("c", "b"), ("a",)
    )
    assert told("{broken", "state.json") == PlanProgress()


@pytest.mark.parametrize(
    "line", ["Tasks: " + "1" * 5000 + "/3", "# a" + " " * 15_900 + "b", "# " + "# " * 8_000]
)
def test_a_line_of_any_length_is_read(line: str) -> None:
    assert told(line) == PlanProgress()


def test_a_phase_is_told_in_short() -> None:
    assert len(told("Phase: " + "_ " * 7_900 + "x y").phase) <= 200


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ({"tasks_total": 12, "tasks_completed": 5}, (5, 12)),
        ({"progress": {"total": 12, "completed": 5}}, (5, 12)),
        ({"tasks": {"total": 12, "completed": 5}}, (5, 12)),
        ({"totalTasks": "12", "completedTasks": "5"}, (5, 12)),
        ({"completed": 5, "remaining": 7}, (5, 12)),
        ({"total": 12, "completed": ["a", "b"]}, (2, 12)),
        ({"progress": "5/12 tasks"}, (5, 12)),
        ({"tasks": {"pending": ["x", "y"], "completed": ["z"]}}, (1, 3)),
        ({"tasks_total": 12}, (0, 0)),  # how many are done is not told
        ({"total": 3, "completed": 9}, (0, 0)),
        ({"done": True, "total": 5}, (0, 0)),
        ({"next_action": "write the page"}, (0, 0)),
    ],
)
def test_counts_of_a_state_file(state: dict[str, object], expected: tuple[int, int]) -> None:
    """As these files have them; nothing is said of a number that was not understood."""
    found = progress(read(io.BytesIO(json.dumps(state).encode()), "state.json"))
    assert (found.done, found.total) == expected
