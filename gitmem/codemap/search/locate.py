"""Which files a task is about: several rankings, joined by reciprocal rank.

Standard library only: the hot path imports this.

Cormack, Clarke, Büttcher: Reciprocal Rank Fusion (SIGIR 2009), with a small constant, since the
first places of each ranking are the telling ones.
"""

import math

from gitmem.codemap.search.question import Question, any_of, resembles

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.codemap.search.index import SearchIndex

K = 10
# weights of the rankings
PIECE, TEXT, TITLE, PHRASE, IN_PATH = 2.0, 1.0, 1.0, 1.0, 1.0
SYMBOLS, NAMED, MESSAGES, TOGETHER, RANK = 1.0, 2.0, 1.0, 0.4, 0.1
DEEP = 50  # places of a ranking that count
RARE, RARE_OF = 8, 24  # words of a quick look, and of how many they are the rarest
DEFINERS = 8  # files that define a name, from which on it tells nothing
PIECES, BEST = 600, 3  # pieces that are looked at, and of one file
COMMITS = 40  # commits whose files are looked at
FEW = 4  # files of a commit, beyond which it is no reason for any of them
SEEDS = 5  # files whose companions are looked at


class LocatedFile:
    """A file, how strongly it is meant, and why: (how, what) pairs.

    `how` is `named`, `defines`, `piece` (the definition that says it best), `text`, `commit` or
    `together`.
    """

    __slots__ = ("aside", "path", "reasons", "score")

    def __init__(self, path: str, aside: bool) -> None:
        self.path = path
        self.score = 0.0
        self.aside = aside  # a test, an example, documentation
        self.reasons: list[tuple[str, str]] = []


def locate(
    index: "SearchIndex", question: Question, most: int = 10, *, quick: bool = False
) -> list[LocatedFile]:
    """Return the files that a task is probably about, best first.

    Tests and examples are among them, marked as such, as far as words find them.

    `quick` leaves out what takes longest, and is worth a few files in a hundred.
    """
    paths = index.paths()
    ranked = _Ranked(paths)
    ranked.add(_named(question, paths), NAMED, "named")
    ranked.add(_defining(index, question), SYMBOLS, "defines")
    if not quick:
        ranked.add(_by_pieces(index, question), PIECE, "piece")
    for query, weight in _queries(index, question, quick):
        rows = index.files_by_words(query, DEEP * 3)
        ranked.add([(path, "") for path, _, aside in rows if not aside], weight, "text")
        ranked.add([(path, "") for path, _, aside in rows if aside], weight, "text")
    ranked.add(_by_messages(index, question, paths), MESSAGES, "commit")
    if not quick:
        seeds = [file.path for file in ranked.ordered() if not file.aside][:SEEDS]
        ranked.add(_together(index, seeds, paths), TOGETHER, "together")
    by_rank = sorted(ranked.files, key=lambda path: (-paths[path][0], path))
    for place, path in enumerate(by_rank):
        ranked.files[path].score += RANK / (K + place + 1)
    return ranked.ordered()[:most]


class _Ranked:
    """The files of several rankings, by path, each with the sum of its scores."""

    def __init__(self, paths: "dict[str, tuple[float, int]]") -> None:
        self._known = paths
        self.files: dict[str, LocatedFile] = {}

    def add(self, ranking: "list[tuple[str, str]]", weight: float, how: str) -> None:
        """Add the first places of a ranking of (path, why)."""
        for place, (path, why) in enumerate(ranking[:DEEP]):
            if path not in self.files:
                self.files[path] = LocatedFile(path, bool(self._known[path][1]))
            file = self.files[path]
            file.score += weight / (K + place + 1)
            if why or how == "text":
                file.reasons.append((how, why))

    def ordered(self) -> list[LocatedFile]:
        """Return the files, the best first."""
        return sorted(
            self.files.values(),
            key=lambda file: (-round(file.score, 9), -self._known[file.path][0], file.path),
        )


def _queries(index: "SearchIndex", question: Question, quick: bool) -> "list[tuple[str, float]]":
    """Return the queries for files by their words, and what a place in their answers weighs."""
    if quick:
        words = any_of(_rarest(index, question.words))
        in_path = f"path : ({words})" if words else ""
        return [(words, PIECE), (question.phrases, PHRASE), (in_path, IN_PATH)]
    return [
        (question.all_words, TEXT),
        (question.title_words, TITLE),
        (question.phrases, PHRASE),
        (question.path_words, IN_PATH),
    ]


def _rarest(index: "SearchIndex", words: "list[str]") -> list[str]:
    """Return the words that the fewest files have.

    The cost of a query is the files that it has to weigh.
    """
    counts = {word: count for word in words[:RARE_OF] if (count := index.number(word))}
    return sorted(counts, key=lambda word: (counts[word], word))[:RARE]


def _named(question: Question, indexed: "dict[str, tuple[float, int]]") -> "list[tuple[str, str]]":
    """Return files that the text names: by path, or by module."""
    out: dict[str, str] = {}
    by_name: dict[str, list[str]] = {}
    for path in indexed:
        by_name.setdefault(path.rsplit("/", 1)[-1], []).append(path)
    for name in question.paths:
        alike = by_name.get(name.rsplit("/", 1)[-1], ())
        paths = [path for path in alike if resembles(path, name)]
        if len(paths) <= DEFINERS:
            for path in sorted(paths, key=lambda path: (indexed[path][1], -indexed[path][0], path)):
                out.setdefault(path, name)
    by_module: dict[str, list[str]] = {}
    for path in indexed if question.dotted else ():
        by_module.setdefault(_module(path).rsplit("/", 1)[-1], []).append(path)
    for dotted in question.dotted:
        for path in _of_module(dotted, by_module):
            out.setdefault(path, dotted)
    return list(out.items())


def _of_module(dotted: str, by_module: "dict[str, list[str]]") -> list[str]:
    """Return the files of the longest part of a dotted name that few files are named by."""
    parts = dotted.split(".")
    for n in range(len(parts), 1, -1):
        tail = "/".join(parts[:n])
        paths = [
            path
            for path in by_module.get(parts[n - 1], ())
            if f"/{_module(path)}".endswith(f"/{tail}")
        ]
        if 0 < len(paths) <= 3:
            return paths
    return []


def _module(path: str) -> str:
    """Return a path without what a module's name does not have."""
    stem = path.rsplit(".", 1)[0]
    return stem.removesuffix("/__init__").removesuffix("/index").removesuffix("/mod")


def _by_pieces(index: "SearchIndex", question: Question) -> "list[tuple[str, str]]":
    """Return files ordered by their best pieces.

    A text may be about a part of a long file, and a short file is not better for being short.
    """
    scores: dict[str, list[float]] = {}
    why: dict[str, str] = {}
    for path, qualified, _, score in index.pieces_by_words(question.all_words, PIECES):
        some = scores.setdefault(path, [])
        if len(some) < BEST:
            some.append(score / (len(some) + 1))
            why[path] = why.get(path) or qualified
    return [
        (path, why[path]) for path in sorted(scores, key=lambda path: (-sum(scores[path]), path))
    ]


def _defining(index: "SearchIndex", question: Question) -> "list[tuple[str, str]]":
    """Return files that define names of the text, those that few others define first."""
    scores: dict[str, float] = {}
    why: dict[str, str] = {}
    dotted = set(question.dotted)
    for name in question.names:
        rows = index.defining(name)
        first = {path: qualified for path, qualified, _, _ in reversed(rows)}
        if not first or len(first) > DEFINERS:
            continue
        whole = {path for path, qualified, _, _ in rows if _is_part(qualified, dotted)}
        for path, qualified in first.items():
            scores[path] = scores.get(path, 0.0) + (2.0 if path in whole else 1.0) / len(first)
            why.setdefault(path, qualified)
    return [(path, why[path]) for path in sorted(scores, key=lambda path: (-scores[path], path))]


def _is_part(qualified: str, dotted: "set[str]") -> bool:
    """Return whether a name with parts is one that a text names, or its end, or the other way."""
    return "." in qualified and any(
        f".{name}".endswith(f".{qualified}") or qualified.endswith(f".{name}") for name in dotted
    )


def _by_messages(
    index: "SearchIndex", question: Question, paths: "dict[str, tuple[float, int]]"
) -> "list[tuple[str, str]]":
    """Return files that commits changed whose messages say what the text says."""
    rows = index.commits_by_words(question.all_words, COMMITS)
    files = index.files_of([number for number, *_ in rows])
    scores: dict[str, float] = {}
    why: dict[str, str] = {}
    for number, oid, subject, count, score in rows:
        for path in files[number]:
            if path in paths and not paths[path][1]:
                scores[path] = scores.get(path, 0.0) + score / math.sqrt(max(1, count))
                if count <= FEW:
                    why.setdefault(path, f"{oid[:8]} {subject}")
    return [
        (path, why.get(path, "")) for path in sorted(scores, key=lambda path: (-scores[path], path))
    ]


def _together(
    index: "SearchIndex", seeds: "list[str]", paths: "dict[str, tuple[float, int]]"
) -> "list[tuple[str, str]]":
    """Return files that change together with the first ones."""
    scores: dict[str, float] = {}
    why: dict[str, str] = {}
    for place, seed in enumerate(seeds):
        for other, both, alone in index.changed_with(seed):
            if other in paths and not paths[other][1] and both > 1:
                scores[other] = scores.get(other, 0.0) + both / (alone + 3) / (place + 1)
                why.setdefault(other, seed)
    return [(path, why[path]) for path in sorted(scores, key=lambda path: (-scores[path], path))]
