"""What a check finds: facts that contradict each other, or that the repository refutes."""

from hashlib import sha256
from typing import NamedTuple

from gitmem.records.record import Record
from gitmem.records.trust import words_digest

CHOICES = ("newer", "older", "both", "drop", "verified", "edit")


class Finding(NamedTuple):
    """One thing that a person has to decide.

    `ids` has one fact, or two that contradict each other, the newer first. `what` says of which
    sort it is: `value`, `number`, `version`, `name`, `negation`, `antonym` or `replacement` between
    facts; `verify`, `dependency`, `version`, `path`, `symbol`, `script`, `setting` (also a port),
    `anchor` or `expires` against the repository. `evidence` is one line that says what speaks
    against it, and where that stands. `choice` is what is proposed, one of `CHOICES`. `sure` is
    False where a person, or a model, should look twice. `code` says what of the code refutes a
    fact: as long as it and the fact's words stay, a person's answer `verified` holds.
    """

    ids: tuple[str, ...]
    what: str
    evidence: str
    choice: str
    sure: bool = True
    code: str = ""


def answer_digest(record: Record, finding: Finding) -> str:
    """Return what tells the words of a fact, and the code that refutes it, from any others."""
    both = f"{words_digest(record)} {finding.what} {finding.code}"
    return sha256(both.encode("utf-8", "replace")).hexdigest()[:16]


def is_verified(record: Record, finding: Finding) -> bool:
    """Return whether a person said that a fact holds all the same, of these words and this code."""
    digest = answer_digest(record, finding)
    return any(
        answer.get("id") == record.id and answer.get("words") == digest
        for answer in record.get("settled")
    )
