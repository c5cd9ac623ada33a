"""What a short answer is about, in the words that were said around it: what the user had said before, and what the agent made of it. Pure."""

from collections.abc import Sequence

from gitmem.extraction.classify.session_model import Heard
from gitmem.extraction.language.words import content
from gitmem.extraction.rules import sentence_rules as rules
from gitmem.transcripts.turn import USER

SHORT = 8  # content words of an answer that may not tell by itself what it is about
LOOKED = 8  # sentences of the agent that are looked at
DETAIL = 500  # characters
BEFORE, AFTER = 160, 240  # characters of a sentence that is told beside


class Retold:
    """The sentences of a session by their turns."""

    def __init__(self, heard: Sequence[Heard]) -> None:
        self._turns: dict[int, list[Heard]] = {}
        for one in heard:
            self._turns.setdefault(one.turn, []).append(one)

    def around(self, answer: Heard, told: str, proposal: str) -> list[str]:
        """Return what was said around a short answer of which so much is `told`: by the user before, by the agent before (the `proposal`, where it is known) and after it.

        Nothing where it tells all by itself.
        """
        language = answer.language
        if answer.role != USER or len(content(answer.text, language)) > SHORT:
            return [proposal] if proposal else []
        words = content(f"{told} {proposal}", language)
        before = self._before(answer, words)
        proposal = proposal or self._best(answer, self._said(answer.turn - 1)[-LOOKED:], words)
        own = content(answer.text, language)
        after = self._best(answer, self._said(answer.turn + 1)[:LOOKED], words | content(proposal, language))
        after = after or self._best(answer, [one for one in self._said(answer.turn + 2) if len(own & content(one.text, language)) > 1], own)
        return [part for part in (before, proposal, after) if part]

    def _said(self, turn: int) -> list[Heard]:
        return [one for one in self._turns.get(turn, []) if one.role != USER]

    def _before(self, answer: Heard, words: frozenset[str]) -> str:
        mine = self._turns.get(answer.turn, [])
        asked = self._turns.get(answer.turn - 2, []) if self._said(answer.turn - 1) else []  # what the agent spoke to
        said = [one for one in asked if one.role == USER]
        said += mine[: next((n for n, one in enumerate(mine) if one is answer), 0)]
        last = said[-1].text if said else ""
        here = content(last, answer.language)
        return last if len(here) > 1 and here - words and len(last) <= BEFORE else ""

    def _best(self, answer: Heard, said: Sequence[Heard], words: frozenset[str]) -> str:
        """Return the sentence that shares most of these words and has others, the first of them; empty where none does."""
        best, most = "", 0
        for one in said:
            here = content(one.text, answer.language)
            if len(here & words) > most and here - words and len(one.text) <= AFTER and not rules.asks(one.text, answer.language):
                best, most = one.text, len(here & words)
        return best


def with_quotes(detail: str, quoted: Sequence[str], most: int = DETAIL) -> str:
    """Return a detail with what was said beside it, as far as there is room for whole quotations."""
    for part in quoted:
        if part not in detail and len(detail) + len(part) + 3 <= most:
            detail = f"{detail} “{part}”".strip()
    return detail
