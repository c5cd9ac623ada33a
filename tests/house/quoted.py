"""Commands of git that a text for agents has, with words in place of what its reader puts in."""

import re
from collections.abc import Iterator, Mapping

# capitals are what the reader puts in; what stands for an id depends on the repository
WORDS = {
    "FILE": "a.py",
    "LINE": "1",
    "WORDS": "cents",
    "TITLE": "A claim",
    "TEXT": "Why it is so.",
    "ERROR": "KeyError: tax",
    "TYPE": "fact",
    "BRANCH": "main",
    "COMMIT": "abc",
    "COMMAND": "add",
    "AGENT": "claude",
}
_FENCE = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
_LINE = re.compile(r"^git (?:[^\n]*<<'(\w+)'\n.*?^\1$|[^\n]*$)", re.MULTILINE | re.DOTALL)


def quoted(text: str) -> Iterator[str]:
    """Give the commands of git that a text has, in blocks and in code spans."""
    text = re.sub(r"^ {3}(?=\S)", "", text, flags=re.MULTILINE)
    for block in _FENCE.findall(text):
        yield from (match.group() for match in _LINE.finditer(block))
    spans = (" ".join(span.split()) for span in re.findall(r"`([^`]+)`", _FENCE.sub("", text)))
    yield from (span for span in spans if span.startswith("git ") and span != "git mem")


def filled(line: str, words: Mapping[str, str]) -> str:
    """Return a command with words in place of its capitals."""
    every = {**WORDS, **words}
    return re.sub(r"\b[A-Z]{2,}\b", lambda match: every.get(match.group(), match.group()), line)
