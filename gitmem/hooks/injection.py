"""Gives a context the records that are new to it and fit a budget. Part of the hot path."""

from gitmem.agents.prompt_text import LIMIT, OVERHEAD, units
from gitmem.state import contradictions, injections
from gitmem.text.tokens import tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from gitmem.hooks.context import Hook

    Row = dict[str, Any]


def inject(
    hook: "Hook",
    rows: "Sequence[Row]",
    budget: int,
    line: "Callable[[Row], str]",
    given: "Sequence[str]" = (),
) -> "list[str]":
    """Return the lines of the rows that are new to this context and fit, and note them.

    `budget` is in tokens, of which the fence and the lines `given` in this answer already take
    their part.
    """
    if not hook.hears or not rows:
        return []  # and nothing is noted: else it would not be given where it is heard
    choice = _Choice(hook, budget, given)
    from gitmem.services.records.attribution import in_order

    ordered = in_order(rows, hook.repo.own_addresses)
    if contradictions.has_any(hook.repo.state):
        from gitmem.hooks.fact_order import contradicting

        ordered = contradicting(hook).arranged(ordered)
    for row in ordered:
        choice.add(row, line)
    if not choice.lines:
        return []
    forms = [(id, form_of(row)) for id, row in choice.rows.items()]
    # hooks of one event run in parallel: only what this process was first to give
    fresh = injections.claim(
        hook.repo.state, hook.event.context, forms, hook.now, is_kept=hook.is_kept
    )
    return [choice.lines[id] for id in fresh]


class _Choice:
    """Chooses rows within a budget: each once, and none that the context has in this form."""

    def __init__(self, hook: "Hook", budget: int, given: "Sequence[str]") -> None:
        from gitmem.services.records.attribution import Shares

        hook.shares = hook.shares or Shares()
        self._shares = hook.shares
        self._own = hook.repo.own_addresses
        self._budget = budget
        self._room = budget - OVERHEAD // 4 - sum(map(tokens, given))
        self._length = LIMIT - OVERHEAD - sum(map(units, given))
        self._loaded = hook.loads
        self._injected = injections.injected(hook.repo.state, hook.event.context)
        self.rows: dict[str, Row] = {}
        self.lines: dict[str, str] = {}

    def add(self, row: "Row", line: "Callable[[Row], str]") -> None:
        """Take a row if it is new and its line fits, and what contradicts it and holds is told."""
        from gitmem.services.records.attribution import attributed

        id = row["id"]
        if any(
            record_id not in self.rows and record_id not in self._injected
            for record_id in row.get("behind", ())
        ):
            return
        if id in self.rows or row.get("source") in self._loaded:
            return
        if self._injected.get(id) == form_of(row):
            return
        text = self._shares.fitted(row, line(attributed(row, self._own)), self._budget, self._own)
        if not text or tokens(text) > self._room or units(text) > self._length:
            return
        self._room -= tokens(text)
        self._length -= units(text)
        self.rows[id] = row
        self.lines[id] = text
        self._shares.note(row, text, self._own)


def note_injected(hook: "Hook", rows: "Sequence[Row]") -> None:
    """Note that this context is given rows in other words."""
    if rows and hook.hears:
        forms = [(row["id"], form_of(row)) for row in rows]
        injections.claim(hook.repo.state, hook.event.context, forms, hook.now, is_kept=hook.is_kept)


def form_of(row: "Row") -> str:
    """Return what changes when a record says something new; counting a gotcha's hits does not."""
    refuted = str(row.get("out_of_date") or "")
    if row["kind"] != "gotcha":
        return f"{row['oid']} {fingerprint(refuted)}" if refuted else str(row["oid"])
    facts = (row["title"], row["workaround"], row["severity"], bool(row.get("fix")))
    return fingerprint(repr((*facts, refuted) if refuted else facts))


def fingerprint(text: str) -> str:
    """Return what tells a text from another one, and nothing of what it says."""
    from binascii import crc32

    return f"{crc32(text.encode('utf-8', 'replace')):08x}"
