"""What matters for a task before it is begun: files with the definitions in them, each with why.

And what is remembered of them.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from gitmem.codemap.search.evidence import TextEvidence
from gitmem.codemap.search.index import SearchIndex
from gitmem.codemap.search.locate import LocatedFile, locate
from gitmem.codemap.search.question import Question, split_name
from gitmem.records.kinds import derived_id
from gitmem.records.record import Record
from gitmem.services.records import write
from gitmem.services.records.write import Writer
from gitmem.services.retrieval.terms import weight_of

SYMBOLS = 3  # definitions that are named of a file
TELLING = 4  # words that are named as a reason
ENOUGH = 0.2  # of a task's words, by their worth: a file that has less is not looked for by them
SAVED = 5  # findings that are kept
SAVED_AS = " matters for: "  # in the titles of what is kept
TITLE = 90  # characters of a task in a title


@dataclass(slots=True)
class ScoutFinding:
    """A file that a task is probably about.

    `score` is relative to the first; symbols are (qualified name, kind, line).
    """

    path: str
    score: float
    aside: bool
    reasons: list[str]
    symbols: list[tuple[str, str, int]] = field(default_factory=list)


def scout(index: SearchIndex, text: str, most: int) -> list[ScoutFinding]:
    """Return the files of a task, best first, tests and examples among them.

    None when nothing speaks for any of them: "fix the bug" is about no file more than another.
    """
    question = Question(text)
    located = locate(index, question, most * 2)
    if not _is_meant(index, question, located):
        return []
    best = located[0].score if located else 1.0
    words = _rare(index, question)
    chosen = [
        *[file for file in located if not file.aside][:most],
        *[file for file in located if file.aside][: most // 2],
    ]
    having = {word: index.having(word, [file.path for file in chosen]) for word in words}
    out = []
    for file in sorted(chosen, key=lambda file: (-file.score, file.path)):
        hit_words = [word for word in words if file.path in having[word]][:TELLING]
        out.append(
            ScoutFinding(
                file.path,
                round(file.score / best, 3),
                file.aside,
                _reasons(file, hit_words),
                _symbols(index, question, file),
            )
        )
    return out


def _is_meant(index: SearchIndex, question: Question, files: Sequence[LocatedFile]) -> bool:
    """Return whether any file is named, defines a name of the task, or has enough of its words."""
    evidence = TextEvidence(index, question, files)
    enough = ENOUGH if any(map(weight_of, question.words)) else math.inf
    return any(evidence.reason(file, enough) for file in files)


def _rare(index: SearchIndex, question: Question) -> list[str]:
    """Return the words of a task that tell most: those that few files have."""
    counts = {word: index.number(word) for word in question.words[:24]}
    return sorted(
        (word for word, count in counts.items() if count), key=lambda word: (counts[word], word)
    )[:12]


def _reasons(file: LocatedFile, words: Sequence[str]) -> list[str]:
    by: dict[str, list[str]] = {}
    for how, what in file.reasons:
        if what and what not in by.setdefault(how, []):
            by[how].append(what)
    out = []
    if "named" in by:
        out.append("named in the task")
    if "defines" in by:
        out.append(f"defines {', '.join(by['defines'][:2])}")
    if words:
        out.append(f"has the words {', '.join(words)}")
    if "commit" in by:
        # not its subject, which anybody may have written
        out.append(f"changed by {by['commit'][0].partition(' ')[0]}")
    if "together" in by:
        out.append(f"changes together with {by['together'][0]}")
    return out or ["has the task's words"]


def _symbols(
    index: SearchIndex, question: Question, file: LocatedFile
) -> list[tuple[str, str, int]]:
    """Return the definitions of a file whose names say what the task says, best first."""
    wanted = {_stem(word) for word in question.words}
    names = set(question.names)
    pieces = {what for how, what in file.reasons if how == "piece"}
    rows = []
    for name, qualified, kind, line, last in index.symbols(file.path):
        parts = {_stem(part) for part in split_name(qualified)}
        score = (
            3.0 * (name in names)
            + 1.5 * (qualified in pieces)
            + len(parts & wanted) / (1 + 0.2 * len(parts))
        )
        if score > 0.7 and kind not in {"constant", "module"}:
            rows.append((-score, line, qualified, kind, last))
    return [(qualified, kind, line) for _, line, qualified, kind, _ in sorted(rows)[:SYMBOLS]]


def _stem(word: str) -> str:
    for ending in ("ing", "ies", "es", "ed", "s"):
        if word.endswith(ending) and len(word) - len(ending) > 2:
            return word[: -len(ending)]
    return word


def lines(findings: Sequence[ScoutFinding], *, numbered: bool = True) -> Iterator[str]:
    """Yield findings as text, a file in one line and its definitions in the next."""
    for number, finding in enumerate(findings, 1):
        mark = f"{number:>2}. " if numbered else "- "
        yield f"{mark}{finding.path}: {'; '.join(finding.reasons)}"
        if finding.symbols:
            yield "      " + ", ".join(
                f"{qualified} ({kind}, line {line})" for qualified, kind, line in finding.symbols
            )


def records(who: Writer, text: str, findings: Sequence[ScoutFinding]) -> list[Record]:
    """Return findings as memories that are not yet written.

    They are scored by how surely they are meant, and anchored in the code. The same task and file
    is the same memory.
    """
    task = " ".join(text.split())
    short = task if len(task) <= TITLE else task[: TITLE - 1].rstrip() + "…"
    out = []
    for finding in [finding for finding in findings if not finding.aside][:SAVED]:
        anchors: list[dict[str, object]] = [
            {"path": finding.path, "symbol": symbol} for symbol, _, _ in finding.symbols[:2]
        ] or [{"path": finding.path}]
        body = f"{'; '.join(finding.reasons)}.\n" + "".join(
            f"- {qualified} ({kind}, line {line})\n" for qualified, kind, line in finding.symbols
        )
        out.append(
            write.draft(
                who,
                "memory",
                f"{finding.path}{SAVED_AS}{short}",
                body,
                origin="extracted",
                id=derived_id("mem", f"scout\n{task}\n{finding.path}"),
                type="context",
                importance=round(3 + 4 * finding.score, 1),
                tags=["scout"],
                anchors=anchors,
            )
        )
    return out
