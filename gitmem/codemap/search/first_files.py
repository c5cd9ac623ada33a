"""Which files are read first for a task, where there are too many to read them all at once."""

import os
import time
from collections.abc import Iterator

from gitmem.codemap.search.question import Question
from gitmem.git.code_history import CodeHistory

WORDS = 6  # of a task that files are looked through for
MOST = 1500  # files of each kind
COMMITS = 300  # whose files come after those that have the words
SECONDS = 1.0  # that files are looked through


def first_files(history: CodeHistory, text: str) -> list[str]:
    """Return paths of the files that may be about a task, the likeliest first.

    These are the files with its words in their names or their texts, and those changed lately. They
    are looked through for a second.
    """
    until = time.monotonic() + SECONDS
    words = Question(text).words[:WORDS]
    out = dict.fromkeys(_by_names(history, words))
    out |= dict.fromkeys(_by_texts(history, words, until))
    lately = ("log", f"--max-count={COMMITS}", "--format=", "--name-only", "-z", "HEAD", "--")
    out |= dict.fromkeys(_paths(history, until, *lately))
    return list(out)


def _by_names(history: CodeHistory, words: list[str]) -> list[str]:
    listed = _paths(history, time.monotonic() + SECONDS, "ls-files", "-z", most=1 << 30)
    return [path for path in listed if any(word in path.lower() for word in words)][:MOST]


def _by_texts(history: CodeHistory, words: list[str], until: float) -> Iterator[str]:
    if not words or not history.root:
        return iter(())
    options = [option for word in words for option in ("-e", word)]
    return _paths(history, until, "grep", "-l", "-z", "-I", "-i", "-F", *options, "--")


def _paths(history: CodeHistory, until: float, *args: str, most: int = MOST) -> Iterator[str]:
    """Yield the paths that a git command prints, as far as the time goes."""
    for number, raw in enumerate(history.lines(*args, sep=b"\0", until=until)):
        if number >= most or time.monotonic() > until:
            return
        if path := os.fsdecode(raw.strip(b"\n")):
            yield path
