"""What a session taught, read by a model.

By the offline rules where the model cannot be asked, or answers nothing that can be used.

What leaves this machine, when, and what happens then: docs/models.md.
"""

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gitmem.extraction import extractor
from gitmem.llm import prompts
from gitmem.llm.provider import MODEL_BUDGET, Model, ModelFailed
from gitmem.records.items import Extract, Item, item_id, plain
from gitmem.services.session_log import changes
from gitmem.text.plural import counted
from gitmem.transcripts.turn import Turn

CHUNK = 12_000  # tokens of one question's text: what a small model on this machine reads at once
LEAST = 200  # tokens under which a question is not worth it
LONGEST = 300.0  # seconds for all questions about a session
TOPICS = 8


@dataclass
class _Part:
    """What is known of some turns, and by whom."""

    turns: Sequence[Turn]
    items: Sequence[Item] = ()
    topics: Sequence[str] = ()
    failure: ModelFailed | None = None


@dataclass
class _Window:
    """Passes the oldest turns on and keeps the newest that the budget allows.

    Marked ones leave last.
    """

    room: int
    recent: deque[tuple[Turn, int]] = field(default_factory=deque)
    marked: list[Turn] = field(default_factory=list)
    passed: int = 0

    def older(self, turns: Iterable[Turn]) -> Iterator[Turn]:
        """Yield the turns that do not fit, oldest first, as long as there are turns."""
        used, reserved = 0, 0
        for turn in turns:
            price = prompts.cost(turn)
            self.recent.append((prompts.bounded(turn), price))
            used += price
            while self.recent and used > self.room:
                oldest, paid = self.recent.popleft()
                if oldest.marked and reserved + paid <= self.room // 2:
                    self.marked.append(oldest)  # it stays, and pushes out younger ones
                    reserved += paid
                    continue
                used -= paid
                self.passed += 1
                yield oldest

    def turns(self) -> list[Turn]:
        """Return what is left in it, in order."""
        return [*self.marked, *(turn for turn, _ in self.recent)]


def extract(
    model: Model | None,
    turns: Iterable[Turn],
    *,
    budget: int = MODEL_BUDGET,
    allow: Sequence[str] = (),
    now: Callable[[], float] = time.monotonic,
    longest: float = LONGEST,
) -> Extract:
    """Return what turns taught, read by the model where it answers.

    Without a model by the offline rules alone.

    `turns` is read once, and never held as a whole. At most `budget` tokens are sent, by estimate;
    the oldest turns that nobody marked are beyond it. Never raises ModelFailed: `by` and `why`
    tell. `allow` are expressions of what is not a secret.
    """
    reader = changes.ChangeReader()
    read = _read(model, reader.watch(turns), budget, allow, now, now() + longest)
    return changes.revised(read, reader.changes)


def _read(
    model: Model | None,
    turns: Iterable[Turn],
    budget: int,
    allow: Sequence[str],
    now: Callable[[], float],
    until: float,
) -> Extract:
    if model is None:
        return extractor.extract(turns)
    window = _Window(_room(budget))
    stream = window.older(turns)
    old = extractor.extract(stream)
    for _ in stream:  # whatever it left: the window must have seen all
        pass
    kept = window.turns()
    if not kept:
        return replace(
            old,
            why=f"a budget of {budget} tokens is too small for one question."
            if window.passed
            else "",
        )
    before = getattr(model, "tokens", 0)
    parts = _ask_all(model, _chunks(kept), allow, now, until)
    why = _why(model, parts, window.passed)
    spent = max(0, getattr(model, "tokens", 0) - before)
    # for facts, and what is marked: neither depends on a model
    whole = extractor.extract(kept)
    if all(part.failure for part in parts):
        offline = _joined_offline(old, whole) if window.passed else whole
        return replace(offline, why=why, tokens=spent)
    read = _of_parts(parts, whole, old)
    return replace(read, by=model.name, why=why, tokens=spent)


def _joined_offline(old: Extract, newer: Extract) -> Extract:
    """Return what the offline rules read in two parts of a session."""
    topics = _topics([newer.topics, old.topics])
    return Extract(
        merged([*old.items, *newer.items]), topics, facts=_joined(old.facts, newer.facts)
    )


def _of_parts(parts: Sequence[_Part], whole: Extract, old: Extract) -> Extract:
    """Return what parts taught, with what the offline rules read in the turns before them.

    `whole` is what these read in the parts themselves.
    """
    for part in parts:
        if part.failure:
            offline = extractor.extract(part.turns)
            part.items, part.topics = offline.items, offline.topics
    items = [item for part in parts for item in part.items]
    # what somebody marked is never dropped
    items += [item for item in whole.items if item.marked and not _is_in(item, items)]
    names = _topics([*(part.topics for part in reversed(parts)), old.topics])
    facts = _joined(old.facts, whole.facts)
    return Extract(merged([*old.items, *_ordered(items)]), names, facts=facts)


def merged(items: Iterable[Item]) -> tuple[Item, ...]:
    """Return items, oldest first, without those that say the same in the same words.

    The newest one stays at its place, and is marked if one of them was.
    """
    out: dict[str, Item] = {}
    for item in items:
        id = item_id(item.text)
        before = out.pop(id, None)
        if before is not None:
            files = tuple(dict.fromkeys((*item.files, *before.files)))
            item = replace(
                item,
                files=files,
                detail=item.detail or before.detail,
                marked=item.marked or before.marked,
            )
        out[id] = item
    return tuple(out.values())


def _room(budget: int) -> int:
    """Return the tokens of turns that a budget leaves, when each question's own words are paid.

    0 when it allows none.
    """
    questions = max(1, -(-budget // (CHUNK + prompts.OVERHEAD)))
    room = budget - questions * prompts.OVERHEAD
    return room if room >= LEAST else 0


def _chunks(turns: Sequence[Turn]) -> list[list[Turn]]:
    """Return turns in parts of about the same size that a question can hold."""
    prices = [prompts.cost(turn) for turn in turns]
    number = max(1, -(-sum(prices) // CHUNK))
    each = sum(prices) / number
    out: list[list[Turn]] = [[]]
    used = 0
    for turn, price in zip(turns, prices, strict=True):
        if out[-1] and (used + price > CHUNK or used >= each):
            out.append([])
            used = 0
        out[-1].append(turn)
        used += price
    return out


def _ask_all(
    model: Model,
    chunks: Sequence[Sequence[Turn]],
    allow: Sequence[str],
    now: Callable[[], float],
    end: float,
) -> list[_Part]:
    """Ask about the newest first: when the model goes away, what is left is the oldest."""
    parts: list[_Part] = []
    gone: ModelFailed | None = None
    for chunk in reversed(chunks):
        if gone is None and now() >= end:
            gone = ModelFailed("the questions about this session took too long.", kind="timeout")
        part = _Part(chunk, failure=gone) if gone else _ask(model, chunk, allow)
        parts.append(part)
        if part.failure is not None and part.failure.for_good:
            gone = part.failure
    return parts[::-1]


def _ask(model: Model, chunk: Sequence[Turn], allow: Sequence[str]) -> _Part:
    shown = [prompts.shown(turn, allow) for turn in chunk]
    text = prompts.prompt(shown)
    try:
        answer = model.ask(prompts.INSTRUCTION, text, prompts.SCHEMA)
    except ModelFailed as failure:
        return _Part(chunk, failure=failure)
    return _Part(chunk, prompts.items(answer, shown, text), prompts.topics(answer))


def _is_in(item: Item, items: Sequence[Item]) -> bool:
    """Say whether items have what a marked one is about: the same words, or the same lines."""
    first, last = item.lines
    return any(
        (other.marked and first <= other.lines[0] <= last and first > 0)
        or item_id(other.text) == item_id(item.text)
        for other in items
    )


def _why(model: Model, parts: Sequence[_Part], passed: int) -> str:
    """Return one line about what the model did not read.

    '' when it read all, and was the one that was asked for.
    """
    failed = [part.failure for part in parts if part.failure is not None]
    out = [str(getattr(model, "remark", ""))]
    if failed:
        causes = list(dict.fromkeys(str(failure) for failure in failed))
        share = (
            ""
            if len(failed) == len(parts)
            else f"{len(failed)} of {len(parts)} parts were read offline: "
        )
        out.append(share + " ".join(causes[:2]))
    if passed and len(failed) < len(parts):
        verb = "was" if passed == 1 else "were"
        out.append(f"the oldest {counted(passed, 'turn')} {verb} read offline: it is too long.")
    return " ".join(" ".join(part for part in out if part).split())


def _ordered(items: Sequence[Item]) -> list[Item]:
    """Return items as they were said: by their time, where each has one, else as they are."""
    return (
        sorted(items, key=lambda item: item.at) if all(item.at for item in items) else list(items)
    )


def _topics(lists: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return the topics of parts, each once; those that more parts name first."""
    count: dict[str, int] = {}
    named: dict[str, str] = {}
    for topics in lists:
        for topic in topics:
            key = plain(topic)
            if key:
                count[key] = count.get(key, 0) + 1
                named.setdefault(key, topic)
    return tuple(named[key] for key in sorted(count, key=lambda k: -count[k]))[:TOPICS]


def _joined(older: Mapping[str, Any], newer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts of two parts of a session as those of the whole.

    Numbers are added and lists are joined; of other values the newer one counts.
    """
    out = dict(older)
    for key, value in newer.items():
        before: Any = out.get(key)
        if isinstance(value, bool) or isinstance(before, bool) or type(before) is not type(value):
            out[key] = value
        elif isinstance(value, int | float):
            out[key] = before + value
        elif isinstance(value, list | tuple):
            out[key] = type(value)([*before, *(part for part in value if part not in before)])
        elif isinstance(value, Mapping):
            out[key] = _joined(before, value)
        else:
            out[key] = value
    return out
