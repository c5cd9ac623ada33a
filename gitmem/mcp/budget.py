"""The text of an answer, within a budget of tokens."""

from collections.abc import Callable, Sequence
from typing import Any

from gitmem.agents.prompt_text import OVERHEAD, fence
from gitmem.services.records.attribution import Shares, attributed
from gitmem.text.tokens import tokens

Row = dict[str, Any]
REST = 24  # tokens of the line that says what was left out


class ToolAnswer:
    """Collects the lines of an answer, as long as its budget has room.

    `own` are the user's addresses: records of others have no more than their share of the budget.
    """

    def __init__(self, budget: int, own: frozenset[str] = frozenset()) -> None:
        self._budget = budget
        self._own = own
        self._room = budget - OVERHEAD // 4 - REST
        self._shares = Shares()
        self._lines: list[str] = []
        self._left_out = 0

    def add(self, lines: Sequence[str]) -> bool:
        """Take lines that belong together; say whether there was room for them."""
        cost = sum(tokens(line) + 1 for line in lines)
        if cost > self._room:
            self._left_out += 1
            return False
        self._room -= cost
        self._lines += lines
        return True

    def add_record(self, row: Row, layout: Callable[[Row], Sequence[str]]) -> bool:
        """Take a record, laid out with its attribution, if it fits and its writer has a share left.

        Say whether it was taken. Of a record of others, the first line may be cut.
        """
        first, *more = layout(attributed(row, self._own))
        line = self._shares.fitted(row, first, self._budget, self._own)
        if not line:
            self._left_out += 1
            return False
        lines = [line, *more] if line == first else [line]
        if not self.add(lines):
            return False
        self._shares.note(row, "\n".join(lines), self._own)
        return True

    def add_cut(self, lines: Sequence[str]) -> bool:
        """Take as many of these lines as fit, from the first; say whether all did."""
        for line in lines:
            cost = tokens(line) + 1
            if cost > self._room:
                self._left_out += 1
                return False
            self._room -= cost
            self._lines.append(line)
        return True

    def text(self, more: str = "ask with a larger budget") -> str:
        """Return the answer, fenced; '' when nothing was taken and nothing left out.

        `more` says how to see what was left out.
        """
        if not self._lines and not self._left_out:
            return ""
        rest = [f"- {self._left_out} more left out: {more}."] if self._left_out else []
        lines = [*self._lines, *rest]
        return fence(lines, OVERHEAD + sum(2 * len(line) + 1 for line in lines))
