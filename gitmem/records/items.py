"""What a session taught, item by item.

Extraction finds the items, and proposals are made of them. The module has values and rules, and no
I/O.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from gitmem.text.equality import plain as plain

DECISION, ERROR, PATTERN, TASK, DONE, PREFERENCE, CONTEXT = (
    "decision",
    "error",
    "pattern",
    "task",
    "done",
    "preference",
    "context",
)
# what is said of a fact that was there
ENDED, REPLACED, REVISED, KEPT = "ended", "replaced", "revised", "kept"
KINDS = (DECISION, ERROR, PATTERN, TASK, DONE, PREFERENCE, CONTEXT)
SECTION: Mapping[str, str] = {
    DECISION: "key_decisions",
    ERROR: "technical_context",
    PATTERN: "technical_context",
    TASK: "pending_tasks",
    DONE: "general_context",
    PREFERENCE: "user_preferences",
    CONTEXT: "technical_context",
}


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that a session taught.

    `text` is one sentence that stands alone; `detail` is an error's solution, a pattern's context,
    a decision's reason. `lines` are (first, last) of the file that it was read from, (0, 0) when
    there is none. A rule's item is sure; a model's that its evidence does not bear out is not: it
    stands in the session's record alone.
    """

    kind: str
    text: str
    detail: str = ""
    at: str = ""  # RFC 3339, UTC
    lines: tuple[int, int] = (0, 0)
    files: tuple[str, ...] = ()
    role: str = ""  # who said it
    sure: bool = True
    marked: bool = False  # somebody said that it matters: never dropped
    commit: str = ""  # the id of the commit whose message says it
    replaces: tuple[str, ...] = ()  # ids of the facts whose place it takes


@dataclass(frozen=True, slots=True)
class SpokenChange:
    """What a session says of something that was so: taken back, replaced, revised, or kept.

    `gone` names what that is, as it was said; where it was only pointed at, `before` has the
    sentences that may be meant, the last first. `new` is what holds instead, `values` (old, new)
    of a revision. `text` is the sentence itself.
    """

    what: str
    text: str
    gone: str = ""
    new: str = ""
    values: tuple[str, str] = ("", "")
    before: tuple[str, ...] = ()
    at: str = ""
    line: int = 0
    role: str = ""


@dataclass(frozen=True, slots=True)
class Extract:
    """What was found in a session.

    `items` are in the order in which they were said, `topics` the most telling first.
    """

    items: tuple[Item, ...] = ()
    topics: tuple[str, ...] = ()
    by: str = "offline"  # or the model that found it: `gemini:<model>`, `command`
    why: str = ""  # why it was not found by the model that was asked for
    tokens: int = 0  # that the model was given and gave
    facts: Mapping[str, Any] = field(default_factory=dict)
    changes: tuple[SpokenChange, ...] = ()


def item_id(text: str) -> str:
    """Return the id of an item: 12 hex characters from its words.

    Two clones that learn the same thing converge.
    """
    return sha256(plain(text).encode()).hexdigest()[:12]
