"""What a commit message teaches: work done, errors and how they were fixed, decisions.

The module is pure.
"""

import re
from collections.abc import Sequence

from gitmem.extraction.language.cue_phrases import cues
from gitmem.extraction.language.sentences import sentences
from gitmem.extraction.rules import sentence_rules
from gitmem.records.items import DECISION, DONE, ERROR, PATTERN

_TYPE = re.compile(r"^(?:(?P<type>\w{2,12})(?:\([^()]{1,40}\))?!?:\s+)?(?P<rest>.+)$")
_TRAILER = re.compile(
    r"^(?:\W*Generated (?:with|by) |\(cherry picked from |git-svn-id: "
    r"|(?:[A-Z][a-z]+(?:-[A-Za-z]+)+|(?:Closes|Fixes|Refs?|Issue|Cc|Link|Related|See|Bug"
    r"|Jira)):? \S)"
)
_MADE = re.compile(
    r"(?i)^(?:merge |fixup! |squash! |wip\b|(?:bump version|version bump)\b"
    r"|bump \S+ from \S+ to \S+|v?\d+\.\d+|release v?\d|(?:typos?|fix typos?|clean ?up"
    r"|initial commit|(?:update|edit) (?:the )?(?:changelog|readme)(?:\.md)?)\.?$)"
)
_REVERT = re.compile(r'^(?:Revert|Reapply) "(.+)"(?: \(#\d+\))?$')
_REVERTS = re.compile(
    r"^(?:This (?:reverts|reapplies) commit [0-9a-f]{4,64}"
    r"(?:,\s+reversing\s+changes\s+made\s+to\s+[0-9a-f]{7,64})?\.?\s*|Reverts? \S+#\d+\.?\s*)+"
)
# a line that is not a beginning: of a point, of a quotation, of what has a label
_GOES_ON = re.compile(
    r"(?![^\W\d_][\w-]{0,20}(?: [\w-]{1,20}){0,2}[:：](?:\s|$))[^\s*•+\-\d#>|`\u2e80-\U0003ffff]"
)
_NUMBER = re.compile(r" \(#\d+\)$")
# a subject that chooses one thing over another, and one that says how it is done from now on
_CHOICE = re.compile(
    r"(?i)\b(?:switch(?:ed)?|move[ds]?|migrate[ds]?|go back)\b.{1,60}\bto\b"
    r"|\breplace[ds]? .{1,60} (?:by|with)\b|\b(?:instead of|in favou?r of|rather than"
    r"|in place of)\b"
    r"|\b(?:reemplaza|sustituye|cambia|substitui|troca|migra)\w* .{1,60} (?:por|a|para)\b"
    r"|\ben (?:vez|lugar) de\b|\b(?:em vez|ao invés|no lugar) de\b|改用|换成|替换[为成]|迁移到|代替"
    r"|\b(in|on|by|with|from|via|through|en|con|por|em|com|no|na)\b[^,]{1,60}, (?:not|no"
    r"|não) \1 (?!.*\b(?:yet|todavía|aún|ainda)\b)"
)
# one that says how it is from now on, where its message says why
_SETTLES = re.compile(
    r"(?i)^(?:[\w ./-]{1,30}: )?(?:(?:keep|store|hide|require|limit|cap|pin|prefer|treat|refuse"
    r"|reject|forbid|round|leave|freeze|stay|build (?:against|for|only))\b"
    r"|(?:guard|us|ocult|escond|limit|dej|deix|fij|fix|ignor)(?:a|ar|am|an)\b|exig(?:e|ir)\b"
    r"|mant(?:iene|ener|ém|er)\b|prohíbe\b|prohibir\b|pro[ií]b(?:e|ir)\b|(?:保留|只|不再|统一|限制|固定|默认))"
)
_RULE = re.compile(
    r"(?i)\b(?:everywhere|always|never|must|not allowed)\b|^(?:\w+: )?no \w+ (?:after|in|on|during"
    r"|outside|before|without)\b|\b(?:siempre|nunca|en todas partes|sempre|em todo lugar)\b|一律|禁止"
    r"|不允许|必须"
)
_DULL = {"chore", "style", "wip", "merge", "release", "bump", "ci"}
_FIXES = {"fix", "fixes", "fixed", "bugfix", "hotfix", "bug"}
_TYPES = (
    _FIXES
    | _DULL
    | set(
        "feat feature docs doc refactor perf test tests build deps revert add security i18n "
        "l10n".split()
    )
)


def reverted(text: str) -> tuple[str, bool]:
    """Return the subject of the commit that a message lands or reverts, and whether it reverts.

    For example, `Revert "Revert "X""` lands X again.
    """
    subject, back = text.partition("\n")[0].strip(), False
    while found := _REVERT.match(subject):
        subject, back = found[1], back ^ subject.startswith("Revert")
    return _said(subject)[1], back


def stands_still(mentions: Sequence[tuple[str, int]]) -> bool:
    """Return whether what commits landed (time, 1) and reverted (time, -1) is there.

    The newest commits decide, or all of them where times do not tell.
    """
    newest = max((at for at, _ in mentions), default="")
    return not mentions or sum(how for at, how in mentions if at == newest) > 0


def _said(subject: str) -> tuple[str, str, str]:
    """Return (type, what was done, the same without an area in front) of a subject."""
    found = _TYPE.match(_NUMBER.sub("", subject.strip()))
    if not found:
        return "", "", ""
    kind = (found["type"] or "").lower()
    # `calibration: keep it` is not a type, and says what it is about
    whole = found["rest"] if kind in _TYPES else found.string
    return kind, whole[:1].upper() + whole[1:], found["rest"]


def _settles(kind: str, done: str, body: str) -> str:
    """Return what a subject settles beyond what it does: a rule, a choice or nothing.

    It is a choice where the message says why. The result is empty for nothing.
    """
    if _RULE.search(done) and kind not in _DULL | {"docs", "doc", "test", "tests"}:
        return PATTERN
    return (
        DECISION
        if body.strip() and (_CHOICE.search(done) or (kind not in _TYPES and _SETTLES.match(done)))
        else ""
    )


def _unwrapped(lines: Sequence[str]) -> str:
    """Return a body with each paragraph as one line.

    Text that is listed, labelled, fenced or written in Chinese stays as it is.
    """
    out: list[str] = []
    fenced = False
    for line in lines:
        fence = line.lstrip().startswith(("```", "~~~"))
        goes_on = (
            out
            and not (fenced or fence)
            and out[-1].strip()
            and _GOES_ON.match(line)
            and out[-1][-1] < "\u2e7f"
            and not out[-1].lstrip().startswith(("```", "~~~"))
        )
        if goes_on:
            out[-1] = f"{out[-1]} {line}"
        else:
            out.append(line)
        fenced ^= fence
    return "\n".join(out)


def taught(text: str, language: str) -> list[tuple[str, str, str, float]]:  # noqa: C901
    """Return (kind, text, detail, score) of what a message teaches."""
    subject, _, body = text.partition("\n")
    lines = body.strip("\n").split("\n")
    while lines and (_TRAILER.match(lines[-1]) or not lines[-1].strip()):
        lines.pop()
    body = _unwrapped(lines)
    kind, done, rest = _said(subject)
    if not rest or _MADE.match(subject):
        return []
    # what was tried and taken back is worth knowing where somebody says why
    if _REVERT.match(subject.strip()):
        what, back = reverted(text)
        if not back:  # it landed again
            return [(DONE, what, "", 0.7)]
        why = " ".join(one.text for one in sentences(_REVERTS.sub("", body)))
        return [(ERROR, f"{what}: taken back", why[:500], 0.7)] if why else []
    out: list[tuple[str, str, str, float]] = []
    here = cues(language)
    said = list(sentences(body))
    because = here.find("general", "because", done)
    why = done[because.end() :].strip(" ,.:;，。") if because and because.start() else ""
    fixing = kind in _FIXES or re.match(r"(?i)(?:fix|corrige|arregla|修复)", rest)
    if fixing:
        detail = " ".join(one.text for one in said[:3])
        out.append((ERROR, done, detail[:500], 0.75 if detail else 0.6))
    elif told_kind := _settles(kind, done, body or why):
        out.append((told_kind, done, " ".join(one.text for one in said[:2])[:300] or why, 0.7))
    elif kind not in _DULL:
        told = [
            one.text
            for one in said[:2]
            if sentence_rules.labelled(one.text) is None and not one.box
        ]
        out.append((DONE, done, " ".join(told)[:300], 0.7))
    for one in said:
        judged = sentence_rules.judged(one, "assistant", language)
        if judged and judged.kind not in (DONE, ERROR):
            if (
                judged.kind == DECISION
                and not judged.marker
                and (fixing or any(one[0] == DECISION for one in out))
            ):
                continue  # it is told beside
            out.append((judged.kind, judged.text, "", judged.score))
        elif (
            not fixing
            and judged is None
            and here.find("error", "fix", one.text)
            and here.find("error", "cause", one.text)
        ):
            out.append((ERROR, one.text, "", 0.6))
    return out
