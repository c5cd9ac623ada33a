"""A session whose context was compacted or cleared is told what its own history says of it.

Part of the hot path.

The text was rendered ahead (`services.session_log.compact`), when the compaction was announced;
reading it is all that is left to do here.
"""

import os
import time

from gitmem.agents.prompt_text import clean, units
from gitmem.base.fast import loads
from gitmem.base.tolerated import UNREADABLE
from gitmem.hooks.context import Hook
from gitmem.services.records.committers import TRUST_FIELDS, marked_title
from gitmem.services.session_log import reader
from gitmem.state import context_flags
from gitmem.text.equality import plain
from gitmem.text.tokens import tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

HEAD = "what this session's own history says of the time before its context was {}:"
MARKED = "marked: "
MORE = "- the rest of what was said and done: git mem search --sessions WORDS"
# facts of the session that are told, and how they are called
SAID = {"task": "to do", "decision": "decided", "preference": "wanted"}
PATIENCE = 0.4  # seconds that it waits for a text that is being rendered
SHARE = 3  # part of a start's budget that it takes
MOST, LENGTH = 400, 4000  # characters of a line, of all
TAIL = 1 << 19  # bytes at the end of a history that are looked at where nothing was rendered


def after_compaction(hook: Hook, budget: int = 0, *, late: bool = False) -> "list[str]":
    """Return the lines to inject after a compaction.

    They have what is marked, what is to do, decisions, the state, variables and failures. `budget`
    is in tokens; it is a third of a start's unless given.

    `late` is for an agent that does not start again: it is not told the records of its session
    either, so what its record says comes along.
    """
    event = hook.event
    if not hook.hears or event.subagent or not hook.repo.settings.get("inject"):
        return []
    texts = _rendered(hook) or _last(hook)
    if late:
        first = [text for text in texts if text.startswith(MARKED)]
        texts = [*first, *_taught(hook, texts), *texts[len(first) :]]
    texts = _unrejected(hook, _once(texts))
    head = HEAD.format("cleared" if event.source == "clear" else "compacted")
    room, length = (
        (budget or int(hook.repo.settings.get("injectBudget")) // SHARE)
        - tokens(head)
        - tokens(MORE),
        LENGTH,
    )
    lines = []
    for text in texts:
        line = f"- {clean(text, MOST)}"
        if tokens(line) <= room and units(line) <= length:  # a long one costs itself alone
            room -= tokens(line)
            length -= units(line)
            lines.append(line)
    return [head, *lines, MORE] if lines else []


def _unrejected(hook: Hook, texts: "list[str]") -> "list[str]":
    """Return the lines without those that quote what somebody rejected."""
    said = [
        {"said": statement} for index in hook.repo.stored_indexes for statement in index.rejected()
    ]
    if not said:
        return texts
    from gitmem.store.rejected import Rejected

    rejected = Rejected(said)
    return [text for text in texts if not rejected.is_quoted(text.partition(": ")[2])]


def _once(texts: "list[str]") -> "list[str]":
    """Return the lines to inject without those that a mark says already.

    What is marked may also be to do, decided or wanted.
    """
    marks = [plain(text.removeprefix(MARKED)) for text in texts if text.startswith(MARKED)]
    return [
        text
        for text in texts
        if text.startswith(MARKED) or not is_said(text.partition(": ")[2] or text, marks)
    ]


def is_said(text: str, said: "list[str]") -> bool:
    """Return whether one of some plain texts says what a text says, and little more.

    A name that is a part of a text does not count.
    """
    wanted = plain(text)
    return bool(wanted) and any(
        f" {wanted} " in f" {statement} " and 2 * len(wanted) >= len(statement)
        for statement in said
    )


def contents(lines: "list[str]") -> "list[str]":
    """Return what lines of `after_compaction` say that a record may say too, as plain texts."""
    parts = (line.removeprefix("- ").partition(": ") for line in lines)
    return [plain(text) for name, _, text in parts if name in {"marked", *SAID.values()}]


def _rendered(hook: Hook) -> "list[str]":
    """Return what was rendered ahead, after a moment for a drain that is at it."""
    until = time.monotonic() + PATIENCE
    while (
        hook.event.session in context_flags.asked_condensing(hook.repo.state)
        and time.monotonic() < until
    ):
        time.sleep(0.02)
    for stem in reversed(reader.stems(hook.repo.home, hook.event.session)):
        try:
            with open(
                reader.Segment(stem, 0).path(reader.SHORT), encoding="utf-8", errors="replace"
            ) as file:
                document: Any = loads(file.read())
        except UNREADABLE:
            continue
        shown = document.get("told") if isinstance(document, dict) else None
        return [line for line in shown if isinstance(line, str)] if isinstance(shown, list) else []
    return []


def _taught(hook: Hook, texts: "list[str]") -> "list[str]":
    """Return the facts that this session taught.

    What its history says already is left out.
    """
    if hook.repo.stored_index is None:
        return []
    said = [plain(text) for text in texts]
    rows = hook.repo.stored_index.rows(
        kinds=("memory",), sessions=(hook.event.session,), fields=("type", *TRUST_FIELDS), limit=40
    )
    return [
        f"{SAID[row['type']]}: {marked_title(row)}"
        for row in reversed(rows)
        if row["type"] in SAID and not any(plain(row["title"]) in text for text in said)
    ]


def _last(hook: Hook) -> "list[str]":
    """Return what the end of the live history tells: what is marked, and what was asked."""
    marked: list[str] = []
    asked: list[str] = []
    for stem in reader.stems(hook.repo.home, hook.event.session)[-1:]:
        for row in reader.parsed(_tail(stem).split(b"\n")):
            text = reader.content(row)
            if text and reader.marked(row):
                marked.append(f"marked: {text}")
            elif text and reader.event(row) == "PromptSubmit":
                asked.append(text)
    return [*marked, *(f"asked last: {text}" for text in reversed(asked[-3:]))]


def _tail(stem: str) -> bytes:
    """Return the end of a history.

    It is read from the live file, and from what was put aside a moment ago and is not compressed
    yet.
    """
    folder, name = os.path.split(stem)
    try:
        aside = sorted(
            part
            for part in os.listdir(folder)
            if part.startswith(f"{name}.") and part.endswith(reader.PART)
        )
    except OSError:
        aside = []
    data = b""
    for path in [stem + reader.LIVE, *(os.path.join(folder, name) for name in reversed(aside))]:
        room = TAIL - len(data)
        try:
            with open(path, "rb") as file:
                file.seek(max(0, os.fstat(file.fileno()).st_size - room))
                data = file.read(room) + b"\n" + data
        except OSError:
            continue  # it is being compressed, or there is none
        if room <= 0:
            break
    return data
