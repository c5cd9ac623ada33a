"""What a task's text asks for of code: its words, the names of code in it, the files it names.

Pure; the hot path imports this.
"""

import re

from gitmem.text.tokenizer import STOP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

WORDS = 60  # of a text that are looked for
NAMES = 40
PHRASES, PHRASE_LINES = 40, 6
TITLE = 200  # characters of a first line
LONGEST = 20_000  # characters of a text that are looked at

_WORD = re.compile(r"[^\W\d_][^\W_]*")
_CODE = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::|->|#)[A-Za-z_]\w*)*")
_PATH = re.compile(r"(?<![\w/.@+-])/?(?:[\w.@+-]++/)*+[\w.@+-]+\.[A-Za-z]\w{0,5}(?![\w/])")
# an acronym may be in the plural, as in URLs
_PART = re.compile(r"[A-Z]{2,}s(?![a-z])|[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_CAMEL = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
_CALLED = re.compile(r"\b([A-Za-z_]\w{2,})\(")
_TICKED = re.compile(r"(?<!`)`++([^`\n]{2,80}+)`++")


def split_name(name: str) -> list[str]:
    """Return the words in a name, in lower case: `getUserById` and `get_user_by_id` have four."""
    return [part.lower() for part in _PART.findall(name)]


def camel_parts(text: str) -> str:
    """Return the words inside the names of a text that have capitals, each name once.

    A tokenizer does not separate these words.
    """
    names = dict.fromkeys(word for word in _words_of(text) if _CAMEL.search(word))
    return " ".join(part for name in names for part in split_name(name) if len(part) > 1)


_ALPHANUMERIC = re.compile(r"[A-Za-z0-9]++")


def _words_of(text: str) -> "Iterable[str]":
    """Yield the runs of letters and digits in a text, from their first letter on."""
    for word in _ALPHANUMERIC.findall(text):
        yield word.lstrip("0123456789")


class Question:
    """A task's text, read.

    `names` may be names of code, the likeliest first; `code_names` are those that are written like
    no everyday word; `dotted` those with parts; `paths` files that are named.
    """

    __slots__ = ("code_names", "dotted", "names", "paths", "text", "title", "words")

    def __init__(self, text: str) -> None:
        self.text = text[:LONGEST]
        self.title = next((line.strip() for line in self.text.splitlines() if line.strip()), "")[
            :TITLE
        ]
        self.words = telling_words(self.text)
        paths = _PATH.findall(self.text.replace("\\", "/"))
        self.paths = list(dict.fromkeys(path.lstrip("./") for path in paths))
        ticked = " ".join(_TICKED.findall(self.text))
        in_code = set(_CODE.findall(ticked))
        names: dict[str, None] = {}
        dotted: dict[str, None] = {}
        for source in (self.title, ticked, self.text):
            for chain in _CODE.findall(source):
                parts = [part for part in re.split(r"\.|::|->|#", chain) if part]
                is_quoted = len(parts) > 1 or source is ticked
                if len(parts) > 1:
                    dotted[".".join(parts)] = None
                names.update((part, None) for part in parts if is_quoted or _may_be_name(part))
        names.update((part, None) for part in _CALLED.findall(self.text))
        self.names = [name for name in names if len(name) > 2 and name.lower() not in STOP][:NAMES]
        self.code_names = {name for name in self.names if name in in_code or _is_joined(name)}
        self.dotted = list(dotted)[:NAMES]

    @property
    def all_words(self) -> str:
        """The query for a full-text index: any of the words and of the words in names."""
        return any_of(self.words)

    @property
    def path_words(self) -> str:
        """The query for files whose path has any of the words."""
        return f"path : ({self.all_words})" if self.words else ""

    @property
    def phrases(self) -> str:
        """The query for words that stand together.

        These are the words in a name, and neighbours in the first lines, because names in code are
        made of them.
        """
        phrases: dict[str, None] = {}
        for name in self.names:
            parts = split_name(name)
            if len(parts) > 1:
                phrases[" ".join(parts)] = None
        for line in self.text.splitlines()[:PHRASE_LINES]:
            run: list[str] = []
            for word in [*(match[0].lower() for match in _WORD.finditer(line[:400])), ""]:
                if word and word not in STOP:
                    run.append(word)
                    if len(run) > 1:
                        phrases[f"{run[-2]} {run[-1]}"] = None
                else:
                    run = []
        return any_of(list(phrases)[:PHRASES])

    @property
    def title_words(self) -> str:
        """The same of the first line alone."""
        return any_of(telling_words(self.title)[:20])


def _may_be_name(word: str) -> bool:
    """Return whether a word has capitals, or is joined from words."""
    return bool(_CAMEL.search(word)) or "_" in word.strip("_") or word[:1].isupper()


def _is_joined(name: str) -> bool:
    """Return whether a name is joined from words, as names in code are."""
    return "_" in name.strip("_") or len(split_name(name)) > 1


def any_of(words: "Iterable[str]") -> str:
    """Return an FTS5 query for any of some words; '' for none."""
    return " OR ".join(f'"{word}"' for word in words)


def telling_words(text: str) -> list[str]:
    """Return the distinct telling words of a text, by frequency and then in order."""
    counts: dict[str, int] = {}
    for match in _CODE.finditer(text):
        for name in re.split(r"\.|::|->|#|_", match[0]):
            for word in _words_in(name):
                if len(word) > 1 and word not in STOP:
                    counts[word] = counts.get(word, 0) + 1
    if not counts:  # no language that is written in Latin letters
        counts = {word.lower(): 1 for word in _WORD.findall(text)}
    return sorted(counts, key=lambda word: -counts[word])[:WORDS]


def _words_in(name: str) -> list[str]:
    """Return a name in lower case, and the words that it is joined from."""
    parts = split_name(name) if _CAMEL.search(name) else []
    return [name.lower(), *parts] if len(parts) > 1 else [name.lower()]


def resembles(path: str, named: str) -> bool:
    """Say whether a path is what a text names: the whole of it, or its end.

    The beginning may be of another machine.
    """
    if path == named or path.endswith("/" + named):
        return True
    return "/" in named and (
        named.endswith("/" + path)
        or any(path == named.split("/", n)[-1] for n in range(1, min(12, named.count("/"))))
    )
