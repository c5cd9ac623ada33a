"""What a commit message teaches: what was done, what was wrong and how it was fixed, what was decided. Pure."""

import re

from gitmem.model.item import DECISION, DONE, ERROR
from gitmem.summarise import rules
from gitmem.summarise.cues import cues
from gitmem.summarise.sentences import sentences

_TYPE = re.compile(r"^(?:(?P<type>\w{2,12})(?:\([^()]{1,40}\))?!?:\s+)?(?P<rest>.+)$")
_TRAILER = re.compile(r"^(?:[A-Z][a-z]+(?:-[A-Za-z]+)+|(?:Closes|Fixes|Refs?|Issue|Cc|Link|Related|See|Bug|Jira)):? \S")
_MADE = re.compile(r"^(?:Merge |Revert \"|fixup! |squash! |WIP\b|wip\b|Bump version|v?\d+\.\d+)")
_DULL = {"chore", "style", "wip", "merge", "release", "bump", "ci"}
_FIXES = {"fix", "bugfix", "hotfix", "bug"}


def taught(text: str, language: str) -> list[tuple[str, str, str, float]]:
    """Return (kind, text, detail, score) of what a message teaches."""
    subject, _, body = text.partition("\n")
    lines = body.strip("\n").split("\n")
    while lines and (_TRAILER.match(lines[-1]) or not lines[-1].strip()):
        lines.pop()
    body = "\n".join(lines)
    found = _TYPE.match(subject.strip())
    if not found or _MADE.match(subject):
        return []
    kind = (found["type"] or "").lower()
    rest = found["rest"][:1].upper() + found["rest"][1:]
    out: list[tuple[str, str, str, float]] = []
    here = cues(language)
    said = list(sentences(body))
    fixing = kind in _FIXES or re.match(r"(?i)(?:fix|corrige|arregla|修复)", rest)
    if fixing:
        detail = " ".join(one.text for one in said[:3])
        out.append((ERROR, rest, detail[:500], 0.75 if detail else 0.6))
    elif kind not in _DULL:
        out.append((DONE, rest, "", 0.7))
    for one in said:
        judged = rules.judged(one, "assistant", language)
        if judged and judged.kind not in (DONE, ERROR):
            if fixing and judged.kind == DECISION and not judged.marker:
                continue
            out.append((judged.kind, judged.text, "", judged.score))
        elif not fixing and judged is None and here.find("error", "fix", one.text) and here.find("error", "cause", one.text):
            out.append((ERROR, one.text, "", 0.6))
    return out
