"""A long history in short: per topic what was asked, done, decided and failed.

What was marked, word for word.

Pure: rows and items in, plain values out. `services.session_log.rotation` keeps a segment's short
form beside it.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gitmem.records.items import DECISION, DONE, ERROR, PATTERN, PREFERENCE, TASK, Item, item_id
from gitmem.services.session_log.reader import content, event, facts, files, marked
from gitmem.text.replacement import beside
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
        if item_id(text) not in {item_id(earlier) for earlier in some}:
            some.append(text)

    def short(self) -> Short:
        """Return it as plain values, nothing empty."""
        ranked = sorted(self.changed.items(), key=lambda counted: (-counted[1], counted[0]))
        done = [
            *self.said.get("done", []),
            *(f"committed: {commit}" for commit in self.commits),
            *(f"`{passed}` passes" for passed in self.passed),
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


class _Digest:
    """A history in short, as its rows are taken in."""

    def __init__(self) -> None:
        self.topics: list[_Topic] = []
        self.marked: list[Short] = []
        self.state: dict[str, str] = {}
        self.variables: dict[str, str] = {}  # the newest is the last
        self.passed: dict[str, None] = {}  # commands, the newest is the last
        self.first = self.last = self.rows = 0
        self.start = self.end = ""

    def take(self, number: int, row: Row) -> None:
        """Take in the next row."""
        text = content(row)
        at = row["timestamp"] if isinstance(row.get("timestamp"), str) else ""
        self.first, self.last, self.rows = self.first or number, number, self.rows + 1
        self.start, self.end = self.start or at, at or self.end
        self._take_state(row.get("state"))
        if marked(row):
            if len(self.marked) < MARKED:
                self.marked.append({"line": number, "at": at, "text": text[:MARK]})
            return
        name = event(row)
        if name == "PromptSubmit" and text:
            self._topic(number, at, text).ask(text)
        elif name == "TurnEnd" and text and not facts(row).get("agent_id"):
            self._topic(number, at).answer = line_of(text, SENTENCE)
        elif name == "AfterTool":
            self._take_success(self._topic(number, at), row, text)
        elif name == "ToolFailed":
            self._take_failure(self._topic(number, at), text)

    def _topic(self, number: int, at: str, prompt: str = "") -> _Topic:
        """Return the topic of a row: a new one if a prompt changes the subject."""
        if not self.topics or (prompt and not self.topics[-1].goes_on(prompt)):
            self.topics.append(_Topic(number, at))
        topic = self.topics[-1]
        topic.last, topic.start, topic.end = number, topic.start or at, at or topic.end
        return topic

    def _take_state(self, state: object) -> None:
        if isinstance(state, dict):
            for key, value in state.items():
                if isinstance(value, str) and value:
                    self.state[str(key)] = line_of(value)

    def _take_failure(self, topic: _Topic, text: str) -> None:
        line, _, output = text.partition("\n")
        command = bare(line)
        if command:
            topic.failed[command] = _telling(output)
            self.passed.pop(command, None)

    def _take_success(self, topic: _Topic, row: Row, text: str) -> None:
        if facts(row).get("action") == "write":
            for path in files(row):
                topic.changed[path] = topic.changed.get(path, 0) + 1
        line = text.partition("\n")[0]
        command = bare(line)
        if command:
            self._pass(topic, command)
            commit = _COMMITTED.search(text)
            if commit:
                topic.commits.append(line_of(commit[1] or commit[2] or commit[3]))
        for name, value in _ASSIGNED.findall(line_of(line)):
            self.variables.pop(name, None)
            self.variables[name] = value.strip("\"'")

    def _pass(self, topic: _Topic, command: str) -> None:
        """Note that a command passes, and that its failures are over."""
        failures = [earlier for earlier in self.topics if command in earlier.failed]
        for earlier in failures:
            del earlier.failed[command]
        if failures:
            topic.passed.append(command)
        self.passed.pop(command, None)
        self.passed[command] = None

    def short(self) -> Short:
        """Return it as plain values."""
        return {
            "format": 1,
            "first": self.first,
            "last": self.last,
            "rows": self.rows,
            "from": self.start,
            "to": self.end,
            "topics": _fewer([topic.short() for topic in self.topics]),
            "marked": self.marked,
            "state": self.state,
            "variables": dict(list(self.variables.items())[-VARIABLES:]),
            "passed": list(self.passed)[-PASSED:],
        }


def shorten(rows: Iterable[tuple[int, Row]], items: Iterable[Item] = ()) -> Short:
    """Return rows in short.

    `rows` are (line, row) in their order; the lines of `items`, which extraction has found in them,
    are the same.
    """
    digest = _Digest()
    for number, row in rows:
        digest.take(number, row)
    _spread(digest.topics, items)
    return digest.short()


def _spread(topics: Sequence[_Topic], items: Iterable[Item]) -> None:
    """Put what extraction has found where it was said."""
    for item in items:
        key = _KEYS.get(item.kind)
        if key is None or not topics or not (item.sure or item.marked):
            continue
        where = next(
            (topic for topic in reversed(topics) if topic.first <= item.lines[0]), topics[0]
        )
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
