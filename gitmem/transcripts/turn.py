"""What a session consists of, whoever wrote it down: turns in their order. A value, no I/O."""

from dataclasses import dataclass

USER, ASSISTANT, SYSTEM, TOOL = "user", "assistant", "system", "tool"
NOTE = "note"  # the tool of what somebody noted by hand about a session


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing that was said or done.

    `text` is what somebody said, or what a tool printed; without what hooks had put in, and without
    what is marked private. `line` is its line in the file that it was read from, counted from 1, 0
    when there is none. `failed` is None where nobody said.
    """

    role: str
    text: str
    at: str = ""  # RFC 3339, UTC
    line: int = 0
    tool: str = ""
    command: str = ""
    files: tuple[str, ...] = ()
    failed: bool | None = None
    marked: bool = False  # somebody said that it matters
    side: bool = False  # said by or to a subagent
    rows: bool = False  # the lines of `text` are those of the file from `line` on
    tokens: int = 0  # that the model says it cost, in and out
