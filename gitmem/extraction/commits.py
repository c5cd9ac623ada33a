"""What a commit message teaches: work done, errors and how they were fixed, decisions. Pure."""

import re
from collections.abc import Sequence

from gitmem.extraction.markers import labelled, stripped
from gitmem.extraction.phrases import in_any_language, language_data, tokenized
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
_EMPTY = re.compile(r"(?:\S+$|v?\d+\.\d+)")  # too short to tell, or a version
_SHORT = re.compile(r"\S+ \S+$")  # tells something only if it names what was added
_REVERT = re.compile(r'^(?:Revert|Reapply) "(.+)"(?: \(#\d+\))?$')
_REVERTS = re.compile(
    r"^(?:This (?:reverts|reapplies) commit [0-9a-f]{4,64}"
    r"(?:,\s+reversing\s+changes\s+made\s+to\s+[0-9a-f]{7,64})?\.?\s*|Reverts? \S+#\d+\.?\s*)+"
)
# a line that goes on from the one before: no point, quotation or label
_GOES_ON = re.compile(
    r"(?![^\W\d_][\w-]{0,20}(?: [\w-]{1,20}){0,2}[:：](?:\s|$))[^\s*•+\-\d#>|`\u2e80-\U0003ffff]"
)


def _says(name: str, subject: str) -> bool:
    """Return whether a subject has a phrase of a list, in any language."""
    return in_any_language("commits", name, f"{tokenized(subject)}$ ")


def _is_type(names: str, kind: str) -> bool:
    """Return whether what stands before the colon of a subject is in some lists of types."""
    listed = language_data("en").data["commits"]
    return any(kind in listed[f"{name}_types"].split("|") for name in names.split())


def landed(text: str) -> tuple[str, bool]:
    """Return the subject that a message lands or reverts, and whether it reverts it."""
    subject, back = text.partition("\n")[0].strip(), False
    while reverted := _REVERT.match(subject):
        subject, back = reverted[1], back ^ subject.startswith("Revert")
    return _parsed(subject)[1], back


def _parsed(subject: str) -> tuple[str, str]:
    """Return (type, what was done) of a subject."""
    match = _TYPE.match(re.sub(r" \(#\d+\)$", "", subject.strip()))
    if not match:
        return "", ""
    kind = (match["type"] or "").lower()
    # `calibration: keep it` is not a type, and says what it is about
    whole = match["rest"] if _is_type("fix dull other", kind) else match.string
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
    is_short = _SHORT.match(subject) and not _says("work", subject)
    if is_short or _EMPTY.match(subject) or _says("empty", subject):
        return marked
    said = [part.text for part in sentences(body) if not labelled(part.text)]
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
        stated = statement(text, USER, language)
        if stated and stated.kind in (DECISION, PATTERN):
            return [(stated.kind, stated.text, "")]
    return []


def _reverted(text: str, body: str) -> list[Lesson]:
    what, back = landed(text)
    if not back:
        return [(DONE, what, "")]
    why = " ".join(part.text for part in sentences(_REVERTS.sub("", body)))
    # what was tried and taken back is worth knowing where somebody says why
    return [(DECISION, f"{what}: taken back", why)] if why else []


def _of_subject(kind: str, done: str, said: Sequence[str]) -> list[Lesson]:
    why = " ".join(said[:2])
    if _is_type("fix", kind) or _says("fix", done):
        return [(ERROR, done, " ".join(said[:3]))]
    if _says("rule", done) and not (_is_type("dull", kind) or kind.startswith(("doc", "test"))):
        return [(PATTERN, done, why)]
    reason = why or reason_in(done)
    settles = not _is_type("dull other", kind) and _says("settles", done)
    if reason and (settles or _says("choice", done)):
        return [(DECISION, done, reason)]
    is_work = kind in ("feat", "feature") or _says("work", done)
    return [(DONE, done, why)] if is_work and not _is_type("dull", kind) else []


def stands(mentions: Sequence[tuple[str, int]]) -> bool:
    """Return whether what commits landed (time, 1) and reverted (time, -1) is still there."""
    newest = max((at for at, _ in mentions), default="")
    return not mentions or sum(how for at, how in mentions if at == newest) > 0
