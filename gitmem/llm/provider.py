"""The interface of a model: one question with a text, and one JSON object as answer.

Instead of an answer there may be a failure that says what happened.
"""

from collections.abc import Mapping
from typing import Any, Protocol

from gitmem.errors import External

# kinds of failure after which another question is answered no better: the key, the network, the
# quota, not the text
MODEL_BUDGET = 100_000  # tokens that a model may be given for one session
FOR_GOOD = frozenset(
    {"missing", "key", "model", "request", "limit", "server", "network", "timeout", "program"}
)


class Model(Protocol):
    """Answers questions about a text.

    What it needs to do so is its own; nothing of it outlives a question.
    """

    @property
    def name(self) -> str:
        """What a record says it was made by: `gemini:<model>`, `command`."""

    def ask(self, instruction: str, text: str, schema: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer, which fits the schema.

        The schema is JSON Schema: type, enum, required, properties, items. Raises ModelFailed.
        """


class ModelFailed(External):
    """A model gave no answer that can be used.

    `kind` is `missing` (a setting), `key`, `model` (there is none of this name), `request`, `limit`
    (429), `server` (5xx), `network`, `timeout`, `program` (the command failed), or of this text
    alone `refused`, `truncated`, `empty`, `nonsense`. `wait` is what a server asked for, in
    seconds.
    """

    def __init__(
        self, message: str, hint: str = "", *, kind: str, wait: float | None = None
    ) -> None:
        super().__init__(message, hint)
        self.kind = kind
        self.wait = wait

    @property
    def for_good(self) -> bool:
        """Whether asking again in this session makes no sense."""
        return self.kind in FOR_GOOD


class Unready:
    """A model that the settings ask for and that cannot be asked.

    Each question fails, and says what is missing.
    """

    tokens = 0
    remark = ""

    def __init__(self, name: str, why: str, hint: str) -> None:
        self.name = name
        self.why = why
        self.hint = hint

    def ask(self, instruction: str, text: str, schema: Mapping[str, Any]) -> dict[str, Any]:
        """Say what is missing."""
        raise ModelFailed(self.why, self.hint, kind="missing")
