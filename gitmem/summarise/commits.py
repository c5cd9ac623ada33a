"""What a commit message teaches: what was done, what was wrong and how it was fixed, what was decided. Pure."""

import re

from gitmem.model.item import DECISION, DONE, ERROR
from gitmem.summarise import rules
from gitmem.summarise.cues import cues
from gitmem.summarise.sentences import sentences

_TYPE = re.compile(r"^(?:(?P<type>\w{2,12})(?:\([^()]{1,40}\))?!?:\s+)?(?P<rest>.+)$")
_TRAILER = re.compile(r"^(?:[A-Z][a-z]+(?:-[A-Za-z]+)+|(?:Closes|Fixes|Refs?|Issue|Cc|Link|Related|See|Bug|Jira)):? \S")
_MADE = re.compile(
    r"(?i)^(?:merge |fixup! |squash! |wip\b|bump version|version bump|typos?\b|cleanup\b|v?\d+\.\d+|(?:update|edit) (?:changelog|readme)\b|initial commit|release v?\d)"
)
_REVERT = re.compile(r'^Revert "(.+)"$')
_REVERTS = re.compile(r"^This reverts commit [0-9a-f]{7,64}\.?\s*")
_DULL = {"chore", "style", "wip", "merge", "release", "bump", "ci"}
_TYPES = {
    "fix",
    "fixes",
    "fixed",
    "bugfix",
    "hotfix",
    "bug",
    "feat",
    "feature",
    "docs",
    "doc",
    "refactor",
    "perf",
    "test",
    "tests",
    "build",
    "deps",
    "revert",
    "add",
    "security",
    "i18n",
    "l10n",
} | _DULL
_FIXES = {"fix", "fixes", "fixed", "bugfix", "hotfix", "bug"}


def reverted(text: str) -> str:
    """Return the subject of the commit that a message takes back; empty when it takes back none."""
    found = _REVERT.match(text.partition("\n")[0].strip())
    return found[1] if found else ""


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
    back = _REVERT.match(subject.strip())
    if back:  # what was tried and taken back is worth knowing where somebody says why
        why = " ".join(one.text for one in sentences(_REVERTS.sub("", body)))
        return [(ERROR, f"{back[1][:1].upper()}{back[1][1:]}: taken back", why[:500], 0.7)] if why else []
    rest = found["rest"] if kind in _TYPES else subject.strip()  # `calibration: keep it` is no type, and says what it is about
    rest = rest[:1].upper() + rest[1:]
    out: list[tuple[str, str, str, float]] = []
    here = cues(language)
    said = list(sentences(body))
    fixing = kind in _FIXES or re.match(r"(?i)(?:fix|corrige|arregla|修复)", rest)
    if fixing:
        detail = " ".join(one.text for one in said[:3])
        out.append((ERROR, rest, detail[:500], 0.75 if detail else 0.6))
    elif kind not in _DULL:
        told = [one.text for one in said[:2] if rules.labelled(one.text) is None and not one.box]
        out.append((DONE, rest, " ".join(told)[:300], 0.7))
    for one in said:
        judged = rules.judged(one, "assistant", language)
        if judged and judged.kind not in (DONE, ERROR):
            if fixing and judged.kind == DECISION and not judged.marker:
                continue
            out.append((judged.kind, judged.text, "", judged.score))
        elif not fixing and judged is None and here.find("error", "fix", one.text) and here.find("error", "cause", one.text):
            out.append((ERROR, one.text, "", 0.6))
    return out
