"""What an error's output is about.

It gives a pattern that recognises the same error again, and how to speak of it.

Read by hooks: nothing but `re` and the tables of `tables`. Time is linear in the text, of which the
ends are looked at. `error_line` finds the line that names the error, `normalise` makes its pattern,
`category` its kind.
"""

import re

from gitmem.base.fast import Lazy
from gitmem.fingerprint.error_line import choose
from gitmem.fingerprint.frames import unframed
from gitmem.fingerprint.line_text import tidy
from gitmem.fingerprint.normalise import LINE, PATTERN, normalise
from gitmem.fingerprint.tables import EXTENSIONS, SLIPS, any_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    Location = tuple[str, int]

__all__ = [
    "EXTENSIONS",
    "PATTERN",
    "Fingerprint",
    "bounded",
    "fingerprint",
    "locate",
    "normalise",
]

END = 64 << 10  # characters looked at from either end of an output
LINES = 4000  # lines of an output
MESSAGE = 4000

_ANSI = Lazy(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])|[^\n]\x08")
_HOME = Lazy(r"\x1b\[(?:1?G|2K)")  # the cursor goes back to the start of the line
_CONTROL = dict.fromkeys(
    [
        *range(0x20),
        *range(0x7F, 0xA0),
        0xFEFF,
        0x200B,
        *range(0x202A, 0x202F),
        *range(0x2066, 0x206A),
    ]
)
_PLACE = Lazy(
    r"(?m)File \"([^\"\n]{1,400})\", line (\d{1,7})|(?:^"
    r"|[\s(\[\"'=])(?:file://)?((?:[A-Za-z]:)?[\w./\\@+-]{1,400}\.\w{1,8})(?::(\d{1,7})(?!\w)"
    r"|\((\d{1,7})(?:,\d+)?\))"
)


_SLIP = Lazy(any_pattern(SLIPS["always"]))
# what names the thing in the command -> the slips in which it does
_NAMED_SLIPS = (
    (r"(?<![\w-])", tuple(Lazy(pattern) for pattern in SLIPS["named"])),
    (r"\b(?:import|from|require)[\s(]+['\"]?", tuple(Lazy(slip) for slip in SLIPS["imported"])),
)


class Fingerprint:
    """One error: `pattern`, the same for the same error.

    The rest is found when it is asked for, because most errors come once.
    """

    __slots__ = ("_at", "_command", "_key", "_lines", "_root", "pattern")

    def __init__(
        self, pattern: str, lines: "Sequence[str]", at: int, key: str, root: str, command: str
    ) -> None:
        self.pattern = pattern
        self._lines = lines
        self._at = at
        self._key = key
        self._root = root
        self._command = command

    @property
    def title(self) -> str:
        """One short line for people, as it was this time."""
        from gitmem.fingerprint.title import title_of

        return title_of(_relative(tidy(self._key), self._root))

    @property
    def category(self) -> str:
        """One of build, test, lint, runtime, integration, security, general.

        By whole words of the error, its command, its surroundings.
        """
        from gitmem.fingerprint.category import category  # only an error that is kept pays for it

        inner, _ = unframed(self._lines, "\n".join(["", *self._lines]))
        near = "\n".join(inner[max(0, self._at - 40) : self._at + 40])
        return category(self._key, near, self._command)

    @property
    def is_slip(self) -> bool:
        """Whether it says nothing about the project: its command asked for what is not there."""
        from gitmem.fingerprint.title import bare_text

        said = bare_text(_relative(self._key, self._root))
        if _SLIP.search(said):
            return True
        for before, patterns in _NAMED_SLIPS:
            for pattern in patterns:
                slip = pattern.search(said)
                if slip is not None:
                    word = rf"{before}{re.escape(slip['name'])}(?![\w-])"
                    return bool(re.search(word, self._command))
        return False

    @property
    def severity(self) -> str:
        """One of critical, warning, info."""
        from gitmem.fingerprint.category import severity

        return severity(self._key, self.category)

    @property
    def message(self) -> str:
        """The lines around the error, paths relative to the work tree."""
        return _message([_relative(line, self._root) for line in self._lines], self._at)

    @property
    def locations(self) -> "list[Location]":
        """The places (path, line from 1) that the output names, surest last."""
        return locate(self._lines, self._at)


def fingerprint(
    text: str, root: str = "", command: str = "", *, failed: bool = True
) -> Fingerprint | None:
    """Return what the output of a failed command is about; None when it tells nothing.

    `root` is the work tree, whose paths are shown relative to it; `command` helps to name the
    category. When nobody knows that it has `failed`, "boom" is not an error.
    """
    lines = _lines(text)
    # nothing else would tell a folder with a space in its name from words
    plain = root.replace(" ", "_")
    chosen = choose(
        [line.replace(root, plain) for line in lines] if plain != root else lines, failed=failed
    )
    if chosen is None:
        return None
    at, key = chosen
    pattern = normalise(tidy(key), plain)
    if not any(c.isalpha() for c in re.sub(r"<\w+>", "", pattern)):
        return None
    return Fingerprint(
        pattern, lines, at, key.replace(plain, root) if plain != root else key, root, command
    )


def locate(lines: "Sequence[str] | str", at: int = -1) -> "list[Location]":
    """Return the places (path, line from 1) that an output names.

    The one nearest to line `at` is last.
    """
    if isinstance(lines, str):
        lines = _lines(lines)
    before: list[Location] = []
    after: list[Location] = []
    traced = False
    for number, line in enumerate(lines):
        for match in _PLACE.finditer(line):
            path, spot = (match[1], match[2]) if match[1] else (match[3], match[4] or match[5])
            traced = traced or bool(match[1])
            (after if number >= at >= 0 else before).append((path, int(spot)))
            if len(before) + len(after) > 400:
                break
    # a Python traceback ends at its error; everywhere else the place comes with the error or after
    # it
    ordered = after[::-1] + before if traced and before else before + after[::-1]
    return ordered[-40:]


def bounded(text: str) -> str:
    """Return the part of an output that is looked at: its two ends.

    Lines that are cut in two are left out.
    """
    if len(text) <= 2 * END + 1:
        return text
    head, tail = text[: END + 1], text[-END - 1 :]
    first, last = tail.find("\n", 0, LINES), head.rfind("\n", END - LINES)
    return (
        f"{head[:last] if last >= 0 else head[:END]}\n"
        f"{tail[first + 1 :] if first >= 0 else tail[1:]}"
    )


def _lines(text: str) -> "list[str]":
    """Return an output's lines as a terminal would leave them."""
    text = bounded(text)
    if "\x1b" in text or "\x08" in text:
        text = _ANSI.sub("", _HOME.sub("\r", text))
    text = text.replace("\r\n", "\n")
    out = []
    for line in text.split("\n"):
        if "\r" in line:  # a progress line overwrites itself: the last state counts
            line = next((part for part in reversed(line.split("\r")) if part.strip()), "")
        if "--:--:--" in line:  # curl's meter has no end of its own
            line = line[line.rindex("--:--:--") + 8 :].lstrip(" 0123456789.kMG")
        line = line[:LINE].expandtabs(4)
        out.append(line if line.isprintable() else line.translate(_CONTROL))
    return out if len(out) <= LINES else out[: LINES // 2] + out[-LINES // 2 :]


def _relative(line: str, root: str) -> str:
    if len(root) < 2 or root not in line:
        return line
    return re.sub(rf"(?<![\w./-])(?:file://)?{re.escape(root.rstrip('/'))}/", "", line)


def _message(lines: "Sequence[str]", at: int) -> str:
    """Return the lines around the error, those before it first to go."""
    end = min(len(lines), at + 20)
    start = max(0, at - 30)
    kept = lines[start:end]
    while len(kept) > 1 and sum(len(line) + 1 for line in kept) > MESSAGE:
        if start < at:
            kept, start = kept[1:], start + 1
        else:
            kept = kept[:-1]
    return "\n".join(line.rstrip() for line in kept).strip("\n")[:MESSAGE]
