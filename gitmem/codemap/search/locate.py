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
    known = index.paths()
    found: dict[str, LocatedFile] = {}

    def add(ranking: "list[tuple[str, str]]", weight: float, how: str) -> None:
        for place, (path, why) in enumerate(ranking[:DEEP]):
            if path not in found:
                found[path] = LocatedFile(path, bool(known[path][1]))
            one = found[path]
            one.score += weight / (K + place + 1)
            if why or how == "text":
                one.reasons.append((how, why))

    add(_named(question, known), NAMED, "named")
    add(_defining(index, question), SYMBOLS, "defines")
    if quick:
        words = any_of(_rarest(index, question.words))
        queries = [
            (words, PIECE),
            (question.phrases, PHRASE),
            (f"path : ({words})" if words else "", IN_PATH),
        ]
    else:
        add(_by_pieces(index, question), PIECE, "piece")
        queries = [
            (question.all_words, TEXT),
            (question.title_words, TITLE),
            (question.phrases, PHRASE),
            (question.path_words, IN_PATH),
        ]
    for query, weight in queries:
        rows = index.files_by_words(query, DEEP * 3)
        add([(path, "") for path, _, aside in rows if not aside], weight, "text")
        add([(path, "") for path, _, aside in rows if aside], weight, "text")
    add(_by_messages(index, question, known), MESSAGES, "commit")
    if not quick:
        seeds = _ordered([one for one in found.values() if not one.aside], known)[:SEEDS]
        add(_together(index, [one.path for one in seeds], known), TOGETHER, "together")
    for place, path in enumerate(sorted(found, key=lambda path: (-known[path][0], path))):
        found[path].score += RANK / (K + place + 1)
    return _ordered(list(found.values()), known)[:most]


def _rarest(index: "SearchIndex", words: "list[str]") -> list[str]:
    """Return the words that the fewest files have.

    The cost of a query is the files that it has to weigh.
    """
    counts = {word: count for word in words[:RARE_OF] if (count := index.number(word))}
    return sorted(counts, key=lambda word: (counts[word], word))[:RARE]


def _ordered(rows: list[LocatedFile], known: "dict[str, tuple[float, int]]") -> list[LocatedFile]:
    return sorted(rows, key=lambda one: (-round(one.score, 9), -known[one.path][0], one.path))


def _named(question: Question, known: "dict[str, tuple[float, int]]") -> "list[tuple[str, str]]":  # noqa: C901
    """Return files that the text names: by path, or by module."""
    by_name: dict[str, list[str]] = {}
    for path in known:
        by_name.setdefault(path.rsplit("/", 1)[-1], []).append(path)
    out: dict[str, str] = {}
    for named in question.paths:
        some = [
            path for path in by_name.get(named.rsplit("/", 1)[-1], ()) if resembles(path, named)
        ]
        if len(some) <= DEFINERS:
            for path in sorted(some, key=lambda path: (known[path][1], -known[path][0], path)):
                out.setdefault(path, named)
    modules: dict[str, list[str]] = {}
    if question.dotted:
        for path in known:
            stem = (
                path.rsplit(".", 1)[0]
                .removesuffix("/__init__")
                .removesuffix("/index")
                .removesuffix("/mod")
            )
            modules.setdefault(stem.rsplit("/", 1)[-1], []).append(path)
    for dotted in question.dotted:
        parts = dotted.split(".")
        for n in range(len(parts), 1, -1):
            tail = "/".join(parts[:n])
            some = [path for path in modules.get(parts[n - 1], ()) if _is_module(path, tail)]
            if some and len(some) <= 3:
                for path in some:
                    out.setdefault(path, dotted)
                break
    return list(out.items())


def _is_module(path: str, tail: str) -> bool:
    stem = (
        path.rsplit(".", 1)[0].removesuffix("/__init__").removesuffix("/index").removesuffix("/mod")
    )
    return stem == tail or stem.endswith("/" + tail)


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
        files = {path for path, _, _, _ in rows}
        if not files or len(files) > DEFINERS:
            continue
        whole = {
            path
            for path, qualified, _, _ in rows
            if "." in qualified
            and any(
                one == qualified or one.endswith("." + qualified) or qualified.endswith("." + one)
                for one in dotted
            )
        }
        for path, qualified, _, _ in rows:
            if path in files:
                files.discard(path)
                scores[path] = scores.get(path, 0.0) + (2.0 if path in whole else 1.0) / len(
                    {one for one, _, _, _ in rows}
                )
                why.setdefault(path, qualified)
    return [(path, why[path]) for path in sorted(scores, key=lambda path: (-scores[path], path))]


def _by_messages(
    index: "SearchIndex", question: Question, known: "dict[str, tuple[float, int]]"
) -> "list[tuple[str, str]]":
    """Return files that commits changed whose messages say what the text says."""
    rows = index.commits_by_words(question.all_words, COMMITS)
    files = index.files_of([number for number, *_ in rows])
    scores: dict[str, float] = {}
    why: dict[str, str] = {}
    for number, oid, subject, count, score in rows:
        for path in files[number]:
            if path in known and not known[path][1]:
                scores[path] = scores.get(path, 0.0) + score / math.sqrt(max(1, count))
                if count <= FEW:
                    why.setdefault(path, f"{oid[:8]} {subject}")
    return [
        (path, why.get(path, "")) for path in sorted(scores, key=lambda path: (-scores[path], path))
    ]


def _together(
    index: "SearchIndex", seeds: "list[str]", known: "dict[str, tuple[float, int]]"
) -> "list[tuple[str, str]]":
    """Return files that change together with the first ones."""
    scores: dict[str, float] = {}
    why: dict[str, str] = {}
    for place, seed in enumerate(seeds):
        for other, both, alone in index.changed_with(seed):
            if other in known and not known[other][1] and both > 1:
                scores[other] = scores.get(other, 0.0) + both / (alone + 3) / (place + 1)
                why.setdefault(other, seed)
    return [(path, why[path]) for path in sorted(scores, key=lambda path: (-scores[path], path))]
