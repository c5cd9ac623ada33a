"""What a history tells of its commands: which failed, and never passed later."""

import pytest

from gitmem.services.sessions.session_record import SessionAccount


def row(event: str, content: str) -> dict[str, object]:
    """Return a line of a history."""
    return {"content": content, "metadata": {"event": event}}


@pytest.mark.parametrize(
    ("failed", "later", "passes"),
    [
        ("make migrate", "DATABASE_URL=postgres://db make migrate", True),
        ("npm test -- storage", "export AWS_PROFILE=dev && npm test -- storage", True),
        ("make migrate", "make migrate", True),
        ("make migrate", "DATABASE_URL=x make lint", False),
        ("make migrate", "echo make migrate", False),
    ],
)
def test_a_command_passes_whatever_variables_are_set_for_it(
    failed: str, later: str, passes: bool
) -> None:
    told = SessionAccount()
    told.add(row("ToolFailed", f"{failed}\nError: no"))
    told.add(row("AfterTool", later))
    assert (failed in told.passed) is passes


def test_what_fails_again_has_not_passed() -> None:
    told = SessionAccount()
    for event in ("ToolFailed", "AfterTool", "ToolFailed"):
        told.add(row(event, "make migrate"))
    assert "make migrate" not in told.passed
