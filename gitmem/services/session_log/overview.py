"""What matters now of a session's history, made from the short forms of its parts.

Pure: plain values in and out. `hooks.compaction` tells a session whose context was compacted what
its own history says.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gitmem.records.items import item_id
from gitmem.services.session_log.condense import FILES, SENTENCE, VARIABLES, Short, line_of
from gitmem.text.replacement import replaces, words
from gitmem.text.same_statement import same

KEPT = 40  # sentences of a kind that are compared with a new one
FINISHED = 0.6  # of a task's words, in what is said to be done
# what a session that has lost its context is told, in this order: (key, how it is called, how many
# of it)
KINDS = (
    ("marked", "marked", 20),
    ("next", "to do", 8),
    ("decided", "decided", 10),
    ("wanted", "wanted by the user", 6),
    ("failed", "fails", 5),
    ("learned", "learned", 5),
)


class _Overview:
    """What the parts of a history say together, as they are taken in, the oldest first."""

    def __init__(self) -> None:
        self.texts: dict[str, dict[str, str]] = {key: {} for key, _, _ in KINDS}
        self.state: dict[str, str] = {}
        self.variables: dict[str, str] = {}  # the newest is the last
        self.changed: dict[str, None] = {}  # paths, the latest is the last
        self.asked: list[str] = []
        self.answer = ""
        self.last = 0

    def take(self, short: Short) -> None:
        """Take in the short form of the next part."""
        self.last = max(self.last, int(short.get("last", 0)))
        self.state.update(_texts(short.get("state")))
        for name, value in _texts(short.get("variables")).items():
            self.variables.pop(name, None)
            self.variables[name] = value
        for command in _strings(short.get("passed")):
            self._pass(command)
        for row in _dicts(short.get("marked")):
            text = line_of(str(row.get("text", "")), 2 * SENTENCE)
            _keep(self.texts["marked"], text, whole=True)
        for topic in _dicts(short.get("topics")):
            self._take_topic(topic)

    def _take_topic(self, topic: Mapping[str, Any]) -> None:
        for key in ("next", "decided", "wanted", "failed", "learned"):
            for text in _strings(topic.get(key)):
                _keep(self.texts[key], text, whole=key == "failed")
        for path in _strings(topic.get("files")):
            self.changed.pop(path, None)
            self.changed[path] = None
        for text in _strings(topic.get("done")):
            _finish(self.texts["next"], text)
        self.asked += _strings(topic.get("asked"))
        self.answer = str(topic.get("answer", "")) or self.answer

    def _pass(self, command: str) -> None:
        """Forget the failures of a command that passes."""
        failed = self.texts["failed"]
        for key in [key for key, text in failed.items() if text.startswith(f"`{command}`")]:
            del failed[key]

    def plain(self, at: str) -> Short:
        """Return it as plain values; what is marked stands there once."""
        for key in ("next", "decided", "wanted", "learned"):
            for again in self.texts["marked"].keys() & self.texts[key].keys():
                del self.texts[key][again]
        return {
            "format": 1,
            "at": at,
            "last": self.last,
            **{key: list(self.texts[key].values())[-most:] for key, _, most in KINDS},
            "state": self.state,
            "variables": dict(list(self.variables.items())[-VARIABLES:]),
            "files": list(self.changed)[-FILES:],
            "asked": self.asked[-3:],
            "answer": self.answer,
        }


def overview_of(shorts: Sequence[Short], at: str) -> Short:
    """Return what a session should know of itself.

    It is made from the short forms of all parts of its history, the oldest first. What is said
    twice appears once.
    """
    parts = _Overview()
    for short in shorts:
        parts.take(short)
    return parts.plain(at)


def overview_lines(overview: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines that tell a session of itself, what matters most first."""
    for key, name, _ in KINDS[:3]:
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
    for key, name, _ in KINDS[3:]:
        yield from (f"{name}: {text}" for text in _strings(overview.get(key)))
    yield from (f"asked before: {text}" for text in reversed(asked[:-1]))
    if overview.get("answer"):
        yield f"last answer: {overview['answer']}"


def _keep(texts: dict[str, str], text: str, *, whole: bool = False) -> None:
    """Keep a text in its newest place; what it says again, or overrules, goes.

    What is `whole` stays as it was said.
    """
    if not whole:
        for key in [key for key, old in texts.items() if same(text, old) or replaces(text, old)]:
            del texts[key]
    key = item_id(text)
    texts.pop(key, None)
    texts[key] = text
    if len(texts) > KEPT and not whole:
        del texts[next(iter(texts))]


def _finish(texts: dict[str, str], done: str) -> None:
    """Take away the tasks that are done."""
    said = words(done)
    for key in [
        key
        for key, text in texts.items()
        if (task := words(text)) and len(task & said) >= FINISHED * len(task)
    ]:
        del texts[key]


def _strings(value: object) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def _dicts(value: object) -> list[dict[str, Any]]:
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def _texts(value: object) -> dict[str, str]:
    return (
        {key: text for key, text in value.items() if isinstance(text, str)}
        if isinstance(value, dict)
        else {}
    )
