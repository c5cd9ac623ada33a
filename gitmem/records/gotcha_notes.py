"""Notes that gitmem itself adds to a gotcha's text: when it was resolved, when it came back."""

import re

MOST = 5  # notes that are kept in the text; history has the others
LONGEST = 2_000  # characters of one
OWN = r"(?:Resolved|Reopened) \d{4}-\d\d-\d\dT[0-9:.]+Z?(?:[:.].*)?"
AGAIN = "it happened again after it was resolved."
_NOTE = re.compile(rf"(?m)^> {OWN}$\n?(?:\n(?=> |\Z))?")

# a note without a word of anybody's
_WORDLESS = re.compile(
    rf"(?m)^> Reopened \d{{4}}-\d\d-\d\dT[0-9:.]+Z(?:\.|: {re.escape(AGAIN)})$\n?"
)


def without_wordless(body: str) -> str:
    """Return a text without the notes that say only when the gotcha came back."""
    return _WORDLESS.sub("", body)


def with_note(body: str, note: str) -> str:
    """Return a text with a note at its end, and only the last few notes of this kind.

    A state that keeps changing must not fill a record. A note without words takes the place of
    such notes alone: what a person said stays.
    """
    if not note:
        return body
    line = cut(" ".join(note.split()))
    is_wordless = _WORDLESS.fullmatch(f"> {line}") is not None
    notes = list((_WORDLESS if is_wordless else _NOTE).finditer(body))
    for match in reversed(notes[: max(0, len(notes) - MOST + 1)]):
        body = body[: match.start()] + body[match.end() :]
    return f"{body.rstrip()}\n\n> {line}\n".lstrip("\n")


def cut(note: str) -> str:
    """Return a note that is not too long."""
    return note if len(note) <= LONGEST else note[: LONGEST - 1].rstrip() + "…"
