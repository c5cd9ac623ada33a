"""A long history in short: per topic what was asked, done, decided and failed.

What was marked, word for word. And what of it matters now.

Pure: rows and items in, plain values out. `services.session_log.rotation` keeps a segment's short
form beside it; `hooks.compaction` tells a session whose context was compacted what its own history
says.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from gitmem.records.items import DECISION, DONE, ERROR, PATTERN, PREFERENCE, TASK, Item, item_id
from gitmem.services.session_log.reader import content, event, facts, files, marked
from gitmem.text.replacement import beside, replaces, words
from gitmem.text.same_statement import same
from gitmem.text.tokenizer import tokens

Row = Mapping[str, Any]
Short = dict[str, Any]

LINE, SENTENCE = 160, 300  # characters of a line, of what was decided
# of each that a topic, or a segment, keeps
ASKED, DID, FAILED, ITEMS, FILES, TOPICS = 4, 8, 6, 10, 12, 60
MARKED, MARK = 1000, 8000  # rows that are kept word for word, and characters of one
SAME = 0.34  # of the words of a prompt, in those of the topic so far: it goes on with it
BRIEF = 2  # telling words up to which a prompt says nothing of a topic: yes, go on
VARIABLES = 12
PASSED = 200  # commands that a short form knows to pass
KEPT = 40  # sentences of a kind that are compared with a new one
FINISHED = 0.6  # of a task's words, in what is said to be done
_ASSIGNED = re.compile(
    r"(?:^|[\s;&|(])(?:export\s+|set\s+-x\s+|env\s+)?([A-Z][A-Z0-9_]{2,40})=(\"[^\"\n]{0,80}\""
    r"|'[^'\n]{0,80}'|[^\s;&|<>()\"']{1,80})"
)
_BEFORE = re.compile(
    r"^\s*(?:cd\s+(?:\"[^\"]*\"|'[^']*'|[^\s;&|]+)\s*(?:&&|;)\s*"
    r"|(?:export\s+)?[A-Za-z_]\w*=(?:\"[^\"]*\"|'[^']*'|[^\s;&|]*)(?:\s*(?:&&|;)\s*|\s+))+"
)
_COMMITTED = re.compile(
    r"\bgit\s++(?:-\S++\s++\S++\s++){0,4}commit\b.{0,400}?\s-[a-zA-Z]{0,9}m\s*(?:\"([^\"\n]+)"
    r"|'([^'\n]+)|(\S+))"
)
_KEYS = {
    DECISION: "decided",
    PREFERENCE: "wanted",
    ERROR: "learned",
    PATTERN: "learned",
    TASK: "next",
    DONE: "done",
}
# what a session that has lost its context is told, in this order: (key, how it is called, how many
# of it)
TOLD = (
    ("marked", "marked", 20),
    ("next", "to do", 8),
    ("decided", "decided", 10),
    ("wanted", "wanted by the user", 6),
    ("failed", "fails", 5),
    ("learned", "learned", 5),
)


def bare(command: str) -> str:
    """Return a command as one line, without its own variables and its change of folder.

    This way, the command that failed and the one that passes are the same.
    """
    return line_of(_BEFORE.sub("", command))


def line_of(text: str, most: int = LINE) -> str:
    """Return a text as one line."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


class _Topic:
    """What went on between two changes of the subject."""

    def __init__(self, number: int, at: str, title: str = "") -> None:
        self.title = title
        self.first = self.last = number
        self.start = self.end = at
        self.asked: list[str] = []
        self.changed: dict[str, int] = {}
        self.failed: dict[str, str] = {}  # command -> what it said
        self.passed: list[str] = []  # commands that had failed
        self.commits: list[str] = []
        self.said: dict[str, list[str]] = {}  # decided, wanted, learned, next, done
        self.answer = ""
        self.words: set[str] = set()

    def goes_on(self, prompt: str) -> bool:
        """Say whether a prompt is about the same thing."""
        words = set(tokens(prompt[:2000]))
        if not self.asked or len(words) <= BRIEF:
            return True
        return len(words & self.words) >= SAME * min(len(words), len(self.words) or 1)

    def ask(self, prompt: str) -> None:
        """Take in a prompt."""
        self.title = self.title or line_of(prompt)
        self.asked.append(line_of(prompt))
        self.words |= set(tokens(prompt[:2000]))

    def note(self, key: str, text: str) -> None:
        """Keep a sentence once."""
        some = self.said.setdefault(key, [])
        if item_id(text) not in {item_id(one) for one in some}:
            some.append(text)

    def short(self) -> Short:
        """Return it as plain values, nothing empty."""
        ranked = sorted(self.changed.items(), key=lambda one: (-one[1], one[0]))
        done = [
            *self.said.get("done", []),
            *(f"committed: {one}" for one in self.commits),
            *(f"`{one}` passes" for one in self.passed),
        ]
        out: Short = {
            "title": self.title
            or (
                f"work on {', '.join(path for path, _ in ranked[:3])}"
                if ranked
                else "what came before"
            ),
            "from": self.start,
            "to": self.end,
            "lines": [self.first, self.last],
            "asked": self.asked[-ASKED:],
            "decided": self.said.get("decided", [])[-ITEMS:],
            "wanted": self.said.get("wanted", [])[-ITEMS:],
            "done": done[-DID:],
            "files": [path for path, _ in ranked[:FILES]],
            "failed": [
                f"`{command}`" + (f": {said}" if said else "")
                for command, said in self.failed.items()
            ][-FAILED:],
            "learned": self.said.get("learned", [])[-ITEMS:],
            "next": self.said.get("next", [])[-ITEMS:],
            "answer": self.answer,
        }
        return {key: value for key, value in out.items() if value}


def shorten(rows: Iterable[tuple[int, Row]], items: Iterable[Item] = ()) -> Short:  # noqa: C901
    """Return rows in short.

    `rows` are (line, row) in their order; the lines of `items`, which extraction has found in them,
    are the same.
    """
    topics: list[_Topic] = []
    kept: list[Short] = []
    state: dict[str, str] = {}
    variables: dict[str, str] = {}
    passing: dict[str, None] = {}
    first = last = count = 0
    start = end = ""

    def topic(number: int, at: str, prompt: str = "") -> _Topic:
        if not topics or (prompt and not topics[-1].goes_on(prompt)):
            topics.append(_Topic(number, at))
        one = topics[-1]
        one.last, one.start, one.end = number, one.start or at, at or one.end
        return one

    for number, row in rows:
        about, text = facts(row), content(row)
        at = row["timestamp"] if isinstance(row.get("timestamp"), str) else ""
        first, last, count = first or number, number, count + 1
        start, end = start or at, at or end
        if isinstance(row.get("state"), dict):
            state.update(
                {
                    str(key): line_of(str(value))
                    for key, value in row["state"].items()
                    if isinstance(value, str) and value
                }
            )
        if marked(row):
            if len(kept) < MARKED:
                kept.append({"line": number, "at": at, "text": text[:MARK]})
            continue
        what = event(row)
        if what == "PromptSubmit" and text:
            topic(number, at, text).ask(text)
        elif what == "TurnEnd" and text and not about.get("agent_id"):
            topic(number, at).answer = line_of(text, SENTENCE)
        elif what in {"AfterTool", "ToolFailed"}:
            one = topic(number, at)
            line, _, said = text.partition("\n")
            command = bare(line)
            if what == "ToolFailed":
                if command:
                    one.failed[command] = _telling(said)
                    passing.pop(command, None)
                continue
            if about.get("action") == "write":
                for path in files(row):
                    one.changed[path] = one.changed.get(path, 0) + 1
            if command:
                if any([topic.failed.pop(command, None) is not None for topic in topics]):  # noqa: C419 - in all of them
                    one.passed.append(command)
                passing.pop(command, None)
                passing[command] = None
            if command and (found := _COMMITTED.search(text)):
                one.commits.append(line_of(found[1] or found[2] or found[3]))
            for name, value in _ASSIGNED.findall(line_of(line)):
                variables.pop(name, None)  # the newest is the last
                variables[name] = value.strip("\"'")
    _spread(topics, items)
    shorts = [one.short() for one in topics]
    return {
        "format": 1,
        "first": first,
        "last": last,
        "rows": count,
        "from": start,
        "to": end,
        "topics": _fewer(shorts),
        "marked": kept,
        "state": state,
        "variables": dict(list(variables.items())[-VARIABLES:]),
        "passed": list(passing)[-PASSED:],
    }


def _spread(topics: Sequence[_Topic], items: Iterable[Item]) -> None:
    """Put what extraction has found where it was said."""
    for item in items:
        key = _KEYS.get(item.kind)
        if key is None or not topics or not (item.sure or item.marked):
            continue
        where = next((one for one in reversed(topics) if one.first <= item.lines[0]), topics[0])
        text = line_of(item.text, SENTENCE)
        detail = line_of(beside(item.text, item.detail)) if item.kind in {DECISION, ERROR} else ""
        where.note(key, f"{text} ({detail})" if detail else text)


def _telling(said: str) -> str:
    """Return the line of an output that says most: the last one, an exit code left out."""
    lines = [
        line for line in said.splitlines() if line.strip() and not line.startswith("Exit code")
    ]
    return line_of(lines[-1]) if lines else ""


def _fewer(topics: list[Short]) -> list[Short]:
    """Return a limited number of topics.

    The oldest topics that say least are merged into the topic before them.
    """
    while len(topics) > TOPICS:
        least = min(
            range(1, len(topics)),
            key=lambda n: (
                sum(
                    len(topics[n].get(key, ()))
                    for key in ("decided", "next", "failed", "done", "wanted")
                ),
                n,
            ),
        )
        before, gone = topics[least - 1], topics.pop(least)
        before["to"], before["lines"] = (
            gone.get("to", before.get("to", "")),
            [before["lines"][0], gone["lines"][1]],
        )
        for key, most in (
            ("asked", ASKED),
            ("decided", ITEMS),
            ("wanted", ITEMS),
            ("done", DID),
            ("failed", FAILED),
            ("learned", ITEMS),
            ("next", ITEMS),
            ("files", FILES),
        ):
            both = list(dict.fromkeys([*before.get(key, []), *gone.get(key, [])]))
            if both:
                before[key] = both[-most:]
    return topics


# -- what matters now


def overview(shorts: Sequence[Short], at: str) -> Short:  # noqa: C901
    """Return what a session should know of itself.

    It is made from the short forms of all parts of its history, the oldest first. What is said
    twice appears once.
    """
    found: dict[str, dict[str, str]] = {key: {} for key, _, _ in TOLD}
    state: dict[str, str] = {}
    variables: dict[str, str] = {}
    changed: dict[str, int] = {}
    asked: list[str] = []
    answer = ""
    for short in shorts:
        state.update(_texts(short.get("state")))
        for name, value in _texts(short.get("variables")).items():
            variables.pop(name, None)
            variables[name] = value
        for command in _strings(short.get("passed")):
            for key in [
                key for key, text in found["failed"].items() if text.startswith(f"`{command}`")
            ]:
                del found["failed"][key]
        for row in _dicts(short.get("marked")):
            _keep(found["marked"], line_of(str(row.get("text", "")), 2 * SENTENCE), whole=True)
        for topic in _dicts(short.get("topics")):
            for key in ("next", "decided", "wanted", "failed", "learned"):
                for text in _strings(topic.get(key)):
                    _keep(found[key], text, whole=key == "failed")
            for path in _strings(topic.get("files")):
                changed[path] = changed.pop(path, 0) + 1  # the latest at the end
            for text in _strings(topic.get("done")):
                _finish(found["next"], text)
            asked += _strings(topic.get("asked"))
            answer = str(topic.get("answer", "")) or answer
    for key in ("next", "decided", "wanted", "learned"):
        for one in found["marked"].keys() & found[key].keys():
            del found[key][one]
    out: Short = {
        "format": 1,
        "at": at,
        "last": max((int(short.get("last", 0)) for short in shorts), default=0),
    }
    for key, _, most in TOLD:
        out[key] = list(found[key].values())[-most:]
    out |= {
        "state": state,
        "variables": dict(list(variables.items())[-VARIABLES:]),
        "files": list(changed)[-FILES:],
        "asked": asked[-3:],
        "answer": answer,
    }
    return out


def told(overview: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines that tell a session of itself, what matters most first."""
    for key, name, _ in TOLD[:3]:
        yield from (f"{name}: {text}" for text in _strings(overview.get(key)))
    asked = _strings(overview.get("asked"))
    if asked:
        yield f"asked last: {asked[-1]}"
    state = _texts(overview.get("state"))
    changed = _strings(overview.get("files"))
    where = [f"on branch {state['branch']}"] if "branch" in state else []
    where += [f"in {state['folder']}"] if state.get("folder", ".") != "." else []
    where += [f"files changed: {', '.join(changed)}"] if changed else []
    if where:
        yield f"state: {'; '.join(where)}"
    variables = _texts(overview.get("variables"))
    if variables:
        yield f"variables: {', '.join(f'{name}={value}' for name, value in variables.items())}"
    for key, name, _ in TOLD[3:]:
        yield from (f"{name}: {text}" for text in _strings(overview.get(key)))
    yield from (f"asked before: {text}" for text in reversed(asked[:-1]))
    if overview.get("answer"):
        yield f"last answer: {overview['answer']}"


def _keep(some: dict[str, str], text: str, *, whole: bool = False) -> None:
    """Keep a text in its newest place; what it says again, or overrules, goes.

    What is `whole` stays as it was said.
    """
    if not whole:
        for key in [key for key, old in some.items() if same(text, old) or replaces(text, old)]:
            del some[key]
    key = item_id(text)
    some.pop(key, None)
    some[key] = text
    if len(some) > KEPT and not whole:
        del some[next(iter(some))]


def _finish(some: dict[str, str], done: str) -> None:
    """Take away the tasks that are done."""
    said = words(done)
    for key in [
        key
        for key, text in some.items()
        if (task := words(text)) and len(task & said) >= FINISHED * len(task)
    ]:
        del some[key]


def _strings(value: object) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def _dicts(value: object) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _texts(value: object) -> dict[str, str]:
    return (
        {key: one for key, one in value.items() if isinstance(one, str)}
        if isinstance(value, dict)
        else {}
    )
