"""What a commit message teaches: work done, errors and how they were fixed, decisions. Pure."""

import re
from collections.abc import Sequence

from gitmem.extraction.markers import labelled, stripped
from gitmem.extraction.sentences import sentences
from gitmem.extraction.statements import reason_in, statement
from gitmem.records.items import DECISION, DONE, ERROR, PATTERN, TASK
from gitmem.transcripts.turn import USER

Lesson = tuple[str, str, str]  # kind, text, detail
_TYPE = re.compile(r"^(?:(?P<type>\w{2,12})(?:\([^()]{1,40}\))?!?:\s+)?(?P<rest>.+)$")
_TRAILER = re.compile(
    r"^(?:\W*Generated (?:with|by) |\(cherry picked from |git-svn-id: "
    r"|(?:[A-Z][a-z]+(?:-[A-Za-z]+)+|(?:Closes|Fixes|Refs?|Issue|Cc|Link|Related|See|Bug"
    r"|Jira)):? \S)"
)
_MADE = re.compile(
    r"(?i)^(?:\S+(?: \S+)?$|merge |fixup! |squash! |wip\b|(?:bump version|version bump)\b"
    r"|bump \S+ from \S+ to \S+|v?\d+\.\d+|release v?\d|(?:typos?|fix typos?|clean ?up"
    r"|initial commit|(?:update|edit) (?:the )?(?:changelog|readme)(?:\.md)?)\.?$)"
)
_REVERT = re.compile(r'^(?:Revert|Reapply) "(.+)"(?: \(#\d+\))?$')
_REVERTS = re.compile(
    r"^(?:This (?:reverts|reapplies) commit [0-9a-f]{4,64}"
    r"(?:,\s+reversing\s+changes\s+made\s+to\s+[0-9a-f]{7,64})?\.?\s*|Reverts? \S+#\d+\.?\s*)+"
)
# a line that goes on from the one before: no point, quotation or label
_GOES_ON = re.compile(
    r"(?![^\W\d_][\w-]{0,20}(?: [\w-]{1,20}){0,2}[:：](?:\s|$))[^\s*•+\-\d#>|`\u2e80-\U0003ffff]"
)
# a subject that chooses one thing over another
_CHOICE = re.compile(
    r"(?i)\b(?:switch(?:ed)?|move[ds]?|migrate[ds]?|go back)\b.{1,60}\bto\b"
    r"|\breplace[ds]? .{1,60} (?:by|with)\b|\b(?:instead of|in favou?r of|rather than"
    r"|in place of)\b"
    r"|\b(?:reemplaza|sustituye|cambia|substitui|troca|migra)\w* .{1,60} (?:por|a|para)\b"
    r"|\ben (?:vez|lugar) de\b|\b(?:em vez|ao invés|no lugar) de\b|改用|换成|替换[为成]|迁移到|代替"
    r"|\b(in|on|by|with|from|via|through|en|con|por|em|com|no|na)\b[^,]{1,60}, (?:not|no"
    r"|não) \1 (?!.*\b(?:yet|todavía|aún|ainda)\b)"
)
# a subject that says how it is from now on, where its message says why
_SETTLES = re.compile(
    r"(?i)^(?:[\w ./-]{1,30}: )?(?:(?:keep|store|hide|require|limit|cap|pin|prefer|treat|refuse"
    r"|reject|forbid|round|leave|freeze|stay|build (?:against|for|only))\b"
    r"|(?:guard|us|ocult|escond|limit|dej|deix|fij|fix|ignor)(?:a|ar|am|an)\b|exig(?:e|ir)\b"
    r"|mant(?:iene|ener|ém|er)\b|prohíbe\b|prohibir\b|pro[ií]b(?:e|ir)\b|(?:保留|只|不再|统一|限制|固定|默认))"
)
_RULE = re.compile(
    r"(?i)\b(?:everywhere|always|never|must|not allowed)\b|^(?:\w+: )?no \w+ (?:after|in|on|during"
    r"|outside|before|without)\b|\b(?:siempre|nunca|en todas partes|sempre|em todo lugar)\b|一律"
    r"|禁止|不允许|必须"
)
_WORK = re.compile(
    r"(?i)^(?:add|implement|support|introduce|allow|enable|build|create|port|write|finish|migrate"
    r"|añad|agreg|implement|soport|permit|adicion|suport|cri|新增|添加|实现|支持|完成)"
)
_DULL = {"chore", "style", "wip", "merge", "release", "bump", "ci"}
_FIXES = {"fix", "fixes", "fixed", "bugfix", "hotfix", "bug"}
_TYPES = (
    _FIXES
    | _DULL
    | set(
        "feat feature docs doc refactor perf test tests build deps revert add security i18n".split()
    )
)


def landed(text: str) -> tuple[str, bool]:
    """Return the subject that a message lands or reverts, and whether it reverts it."""
    subject, back = text.partition("\n")[0].strip(), False
    while found := _REVERT.match(subject):
        subject, back = found[1], back ^ subject.startswith("Revert")
    return _parsed(subject)[1], back


def _parsed(subject: str) -> tuple[str, str]:
    """Return (type, what was done) of a subject."""
    found = _TYPE.match(re.sub(r" \(#\d+\)$", "", subject.strip()))
    if not found:
        return "", ""
    kind = (found["type"] or "").lower()
    # `calibration: keep it` is not a type, and says what it is about
    whole = found["rest"] if kind in _TYPES else found.string
    return kind, whole[:1].upper() + whole[1:]


def _body(lines: list[str]) -> str:
    """Return a body without trailers, each of its paragraphs as one line."""
    while lines and (_TRAILER.match(lines[-1]) or not lines[-1].strip()):
        lines.pop()
    out: list[str] = []
    for line in lines:
        if out and out[-1].strip() and _GOES_ON.match(line) and out[-1][-1] < "\u2e7f":
            out[-1] = f"{out[-1]} {line}"
        else:
            out.append(line)
    return "\n".join(out)


def lessons(text: str, language: str) -> list[Lesson]:
    """Return what a message teaches."""
    subject, _, rest = text.partition("\n")
    body = _body(rest.strip("\n").split("\n"))
    kind, done = _parsed(subject)
    if not done:
        return []
    if _REVERT.match(subject.strip()):
        return _reverted(text, body)
    marked = _marked(body, language)
    if _MADE.match(subject):
        return marked
    said = [one.text for one in sentences(body) if not labelled(one.text)]
    out = _of_subject(kind, done, said)
    if not any(lesson[0] == DECISION for lesson in (*out, *marked)):
        out += _stated(said, language)
    return out + marked


def _marked(body: str, language: str) -> list[Lesson]:
    """Return what lines of a body are marked as, such as `Decision: …`."""
    markers = [labelled(sentence.text) for sentence in sentences(body)]
    return [
        (marker[0], stripped(marker[1], language), "")
        for marker in markers
        if marker and marker[1] and marker[0] in (DECISION, PATTERN, TASK)
    ]


def _stated(said: Sequence[str], language: str) -> list[Lesson]:
    """Return the first decision or rule that the sentences of a body state."""
    for text in said:
        found = statement(text, USER, language)
        if found and found.kind in (DECISION, PATTERN):
            return [(found.kind, found.text, "")]
    return []


def _reverted(text: str, body: str) -> list[Lesson]:
    what, back = landed(text)
    if not back:
        return [(DONE, what, "")]
    why = " ".join(one.text for one in sentences(_REVERTS.sub("", body)))
    # what was tried and taken back is worth knowing where somebody says why
    return [(DECISION, f"{what}: taken back", why)] if why else []


def _of_subject(kind: str, done: str, said: Sequence[str]) -> list[Lesson]:
    fixes = kind in _FIXES or re.match(r"(?i)(?:[\w -]{1,30}: )?(?:fix|corrige|arregla|修复)", done)
    if fixes:
        return [(ERROR, done, " ".join(said[:3]))]
    if _RULE.search(done) and kind not in _DULL | {"docs", "doc", "test", "tests"}:
        return [(PATTERN, done, " ".join(said[:2]))]
    why = " ".join(said[:2]) or reason_in(done)
    if why and (_CHOICE.search(done) or (kind not in _TYPES and _SETTLES.match(done))):
        return [(DECISION, done, why)]
    is_work = kind in ("feat", "feature") or _WORK.match(done)
    return [] if kind in _DULL or not is_work else [(DONE, done, " ".join(said[:2]))]


def stands(mentions: Sequence[tuple[str, int]]) -> bool:
    """Return whether what commits landed (time, 1) and reverted (time, -1) is still there."""
    newest = max((at for at, _ in mentions), default="")
    return not mentions or sum(how for at, how in mentions if at == newest) > 0
