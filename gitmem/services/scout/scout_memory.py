"""What is remembered of a task and of the files that it is about, beside what the code says."""

import os
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from gitmem.index.reader import Index
from gitmem.services.records.committers import marked_title
from gitmem.services.retrieval.matcher import Match, best, find
from gitmem.services.retrieval.task import Task
from gitmem.services.scout.scout import SAVED_AS, ScoutFinding, lines
from gitmem.text.tokens import tokens

RECORDS = 6
FILES = 4  # findings whose records are looked for
LABEL = 12  # tokens of an id, a kind and the like


def remembered(
    indexes: Sequence[Index],
    text: str,
    findings: Sequence[ScoutFinding],
    root: str,
    agents: Sequence[str],
    now: float,
    snoozed: Collection[str],
    *,
    unconfirmed: bool,
) -> list[Match]:
    """Return the memories and gotchas that matter for a task and for the files that it is about.

    The text may be the output of a command that failed: its end counts too, and an error in it
    needs no word that is sign of one.

    `root` is the work tree without links, '' for a bare repository.
    """
    files = [finding.path for finding in findings[:FILES] if not finding.aside]
    task = Task(text, files, error=text)
    kinds = ("gotcha", "memory")
    matches: list[Match] = []
    for index in indexes:
        matches += find(index, task, root, root or os.getcwd(), agents, now, kinds)
    # what was found before is found again
    fresh = [match for match in matches if SAVED_AS not in str(match.row["title"])]
    return best(fresh, snoozed, unconfirmed=unconfirmed, most=RECORDS)


def fit(
    findings: Sequence[ScoutFinding], matches: Sequence[Match], budget: int
) -> tuple[list[ScoutFinding], list[Match]]:
    """Return as many files and records as fit into a budget of tokens.

    The records may take a third of it.
    """
    records: list[Match] = []
    left = budget
    for match in matches:
        texts = (marked_title(match.row), *match.reasons, *_helps(match.row))
        cost = tokens(", ".join(texts)) + LABEL
        if cost <= left - budget * 2 // 3:
            records.append(match)
            left -= cost
    files: list[ScoutFinding] = []
    for finding in findings:
        cost = tokens("\n".join(lines([finding])))
        if cost <= left:
            files.append(finding)
            left -= cost
    return files, records


def _helps(row: Mapping[str, Any]) -> list[str]:
    """Return the texts of what helps against a gotcha, and of what helped."""
    return [str(text) for text in (row["workaround"], row["resolved"] and row["fix"]) if text]
