"""The title of an error: one short line for people, which has the cause.

Read when an error is kept or shown.
"""

import re

from gitmem.base.fast import Lazy
from gitmem.fingerprint.line_score import rank_of
from gitmem.fingerprint.tables import LINE_WORDS, any_of, any_pattern

TITLE = 100  # characters
LITTLE = 32  # characters of a cause that may say little

# what stands in front of what a line says, for people; the pattern keeps it
_BEFORE = Lazy(
    r"(?i)^(?:npm (?:ERR!|error) (?:(?:code|notarget|notsup|engine|enoent|audit|JSON\.parse"
    r"|need auth) )?|(?:uncaught|unhandled|caused by:|PHP|error: uncaught(?: \(in promise\))?|>) "
    r"|exception in thread \"[^\"]*\" |"
    r"(?:[A-Za-z]:\\|/)[^:*?\"'<>|\n]{1,200}\.\w{1,8}(?:\(\d+(?:,\d+)?\)|:\d+(?::\d+)?): ?"
    rf"|(?:[-\w./+]+ ?: )(?:{any_of(LINE_WORDS['line'])} ?)"
    r"\d+ ?: +(?:\d{2,7} +(?=[^\W\d]))?|[-\w./+]+\.sh: \d+: |(?:ba|z|da"
    r"|k)?sh:(?: line)? ?\d+: |(?:psql:)?[-\w./\\@+]+[:(]\d+(?:[:,]\d+)?\)?: ?|E\s{2,}|lua[\d.]*: "
    r"|[\w.-]*/\S+/(?=\w[\w.]*: ))+"
)
_QUALIFIED = Lazy(
    r"^(?:[A-Za-z_]\w*\.)+(?=[A-Z]\w*(?::|$))"
    r"|^(\w+(?:\.\w+)?(?:\(\))?: )(?:[a-z_]\w*\.)+(?=[A-Z]\w*(?:Error|Exception)(?::|$))"
)  # the module of an exception's class
# what hands an error on: `creating the pod: the image is missing`
_RELAY = Lazy(rf"(?i)\b{any_pattern(LINE_WORDS['relays'])}\b|^(?!string)\w+ing\b")
# `(NotFound)`, as a server names an error
_CODE = Lazy(r"\(((?:[A-Z][a-z]+){2,})\)")
_CLASS = Lazy(r"(?:Error|Exception|Failure)$")
_LABEL = Lazy(r"(?i)(?:fatal |cmake )?error|fatal|\[error\]|psql|panic: runtime error")
_SPECIFIC = Lazy(r"[\"`]|'\w[^']{0,80}'|\d{4}|\w_\w|\w\.\w")
_HOME = Lazy(r"(?:/home/|/Users/|[A-Za-z]:\\Users\\)[^/\\\s:'\"]{1,64}|/root(?=/)")


def title_of(said: str) -> str:
    """Return one short line for people. It begins with the cause when all does not fit."""
    bare = bare_text(said)
    if len(bare) > TITLE and ": [Errno " in bare:  # its name says more than its number
        bare = re.sub(r": \[Errno \d+\]", ":", bare)
    bare = homeless(bare)
    return shorten(_BEFORE.sub("", _cause(bare)) if len(bare) > TITLE else bare, TITLE)


def bare_text(said: str) -> str:
    """Return what a line says, without what stands in front of it for people."""
    return _QUALIFIED.sub(r"\1", _BEFORE.sub("", said).strip()) or said


def homeless(text: str) -> str:
    """Return a text with `~` for each home directory: it has a person's name."""
    return _HOME.sub("~", text) if "/" in text or "\\" in text else text


def _cause(said: str) -> str:
    """Return what a long line says, from the cause on.

    Of a chain `what failed: why: why`, it is the end that fits. The class of an exception stays if
    there is room, and so does what stands before a cause that says little: `Connection refused`.
    """
    heads, rest = _heads(said)
    while len(heads + rest) > TITLE:
        head, colon, why = _relayed(rest)
        if not colon:
            break
        if len(why) < LITTLE and not _SPECIFIC.search(why):
            return f"{shorten(head, TITLE - len(why) - 2)}: {why}"
        code = _CODE.search(head)
        rest = f"{code[1]}: {why}" if code else why
    if rest.count("(") < rest.count(")"):  # it was quoted by what handed it on
        rest = rest.rstrip(")\"'")
    return (
        rest if len(heads + rest) > TITLE and len(rest) < len(said) - len(heads) else heads + rest
    )


def _heads(said: str) -> "tuple[str, str]":
    """Return the class in front of a message, with its colon, and the message.

    Of several classes the last one counts; a label such as `error` does not.
    """
    name, rest = "", said
    while True:
        head, colon, why = rest.partition(": ")
        if not colon or (" " in head and not _LABEL.fullmatch(head)):
            return f"{name}: " if name else "", rest.strip()
        # the name of a test stays, the class of its error does not
        is_kept = bool(name) and "::" not in name and bool(_CLASS.search(head))
        name, rest = name if is_kept or _LABEL.fullmatch(head) else head, why


def _relayed(said: str) -> "tuple[str, str, str]":
    """Return what hands an error on, a colon, and the error; no colon without such a link."""
    links = said.split(": ")
    for number in range(1, len(links)):
        head, link, why = ": ".join(links[:number]), links[number - 1], ": ".join(links[number:])
        is_whole = head.count("(") <= head.count(")")
        if is_whole and " " in link and _RELAY.search(link) and rank_of(why) >= 4:
            return head, ": ", why
    return said, "", ""


def shorten(text: str, most: int) -> str:
    """Return a text of at most so many characters, cut between words."""
    text = " ".join(text.split())
    if len(text) <= most:
        return text
    cut = text[: most - 1].rsplit(" ", 1)[0]
    return (cut if len(cut) > most // 2 else text[: most - 1]).rstrip(" ,;:") + "…"
