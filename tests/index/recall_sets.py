"""Questions with the records that answer them: a conversation of two friends, one of a team, 304 questions.

`recall/talks.txt`: `== NAME | DATE` begins a session, `NUMBER SPEAKER: TEXT` is one record. `recall/questions.txt`: `QUESTION | RECORDS`,
each as the first letter and the number of the session's name, a dot, and the record's number.
"""

import json
import time
from dataclasses import dataclass
from pathlib import Path

from gitmem.clock import Clock
from gitmem.index.reader import Index
from gitmem.records.record import Record, make
from gitmem.store import operations
from gitmem.store.store import Message, Store

HERE = Path(__file__).parent / "recall"
BEGIN = 60  # characters of a text that stand for its title


@dataclass(frozen=True)
class Turn:
    """One thing that was said."""

    session: str
    text: str
    who: str = ""
    day: str = ""


@dataclass(frozen=True)
class Question:
    """A question, and the numbers of the turns that answer it."""

    text: str
    answers: frozenset[int]


def talks() -> tuple[list[Turn], list[Question]]:
    """Return our own conversations and questions."""
    turns: list[Turn] = []
    places: dict[str, int] = {}
    session = day = ""
    for line in (HERE / "talks.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("== "):
            name, day = line[3:].split(" | ")
            session = name[0] + name.split()[1]
            continue
        number, rest = line.split(" ", 1)
        who, text = rest.split(": ", 1)
        places[f"{session}.{number}"] = len(turns)
        turns.append(Turn(session, text, who, day))
    rows = (
        line.split(" | ")
        for line in (HERE / "questions.txt").read_text(encoding="utf-8").splitlines()
    )
    return turns, [
        Question(text, frozenset(places[x] for x in answers.split())) for text, answers in rows
    ]


def read(path: str) -> tuple[list[Turn], list[Question]]:
    """Return a set from a JSON file: `{"docs": [{"session", "text"}], "questions": [{"q", "gold": [numbers of docs]}]}`."""
    loaded = json.loads(Path(path).read_text(encoding="utf-8"))
    turns = [
        Turn(str(d["session"]), str(d["text"]), str(d.get("who", "")), str(d.get("date", "")))
        for d in loaded["docs"]
    ]
    return turns, [Question(str(q["q"]), frozenset(q["gold"])) for q in loaded["questions"]]


def title_of(turn: Turn, style: str) -> tuple[str, str]:
    """Return title and body of a turn: `begin` (of the text), `said` (with who said it before it), `speaker` (and the day), `own` (the text alone).

    `author` is `begin`, and the record's author is who said it.
    """
    if style == "speaker" and turn.who:
        return f"{turn.who} {turn.day}", turn.text
    if style == "own":
        return turn.text, ""
    text = f"{turn.who}: {turn.text}" if style == "said" and turn.who else turn.text
    return text[:BEGIN], text


def fill(store: Store, turns: list[Turn], style: str) -> list[str]:
    """Write a record for each turn, a minute apart; return their ids."""
    clock = Clock()
    made: list[Record] = []
    for number, turn in enumerate(turns):
        title, body = title_of(turn, style)
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(1_700_000_000 + 60 * number))
        made.append(
            make(
                "memory",
                f"mem-{clock.ulid()}",
                title,
                body,
                created=stamp,
                session=f"ses-{turn.session}",
                **({"author": turn.who} if style == "author" else {}),
            )
        )
    store.create()
    store.write([operations.put(record) for record in made], Message("import", "import"))
    return [record.id for record in made]


def recall(
    index: Index,
    ids: list[str],
    questions: list[Question],
    limit: int = 10,
    *,
    any_of: bool = False,
) -> tuple[float, float]:
    """Return (share of the answers among the best `limit`, mean of 1 / rank of the first one).

    `any_of`: one of a question's answers is all of it, for sets that say which text answers and not which part of it.
    """
    place = {id: number for number, id in enumerate(ids)}
    share = reciprocal = 0.0
    for question in questions:
        hits = [place[hit["id"]] for hit in index.search(question.text, limit=limit)]
        found = [n for n, hit in enumerate(hits, 1) if hit in question.answers]
        share += bool(found) if any_of else len(found) / len(question.answers)
        reciprocal += 1 / found[0] if found else 0.0
    return share / len(questions), reciprocal / len(questions)
