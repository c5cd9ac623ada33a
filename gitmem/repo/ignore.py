"""Files that are never stored: those that a repository's `.gitmemignore` names.

Patterns are those of gitignore(5). This module is pure, and the hot path imports it.
"""

import posixpath
from math import inf

from gitmem.base.fast import Lazy
from gitmem.text.globs import fault, fits, glob_match, is_simple
from gitmem.text.shell import parts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MOST = 1000  # patterns that are looked at
MOST_COMPILED = 100  # of them with more marks than one `*`, which need an expression
OUTPUT = 20_000  # characters of each end of an output that are looked at; the rest is dropped
_INSIDE = "/\0"  # makes a folder of a path: some file in it
_WORD = Lazy(r"[^\s\"'`()\[\]{}<>|;&,:=]+")
_CODE = Lazy(r"\s*(?:\d+\s*)?[|│^~]")  # a line of code as compilers quote it


class Ignored:
    """Paths of a work tree that are never stored, by the patterns of gitignore(5).

    A later pattern overrules an earlier one.

    With `looks`, so many comparisons are made: what would take more to tell counts as ignored.
    """

    def __init__(self, lines: "Iterable[str]", looks: float = inf) -> None:
        self._looks = looks
        self._rules, self.faults = _rules(lines)
        # what may be ignored is seen by one look at each name of a path, however many patterns
        # there are
        hiding = [rule for rule in self._rules if not rule.negated]
        self._plain = {rule.first for rule in hiding if not rule.wild}
        self._wild = dict.fromkeys(rule.first for rule in hiding if rule.wild)
        self._spaced = [rule.pattern for rule in hiding if " " in rule.pattern]

    def __bool__(self) -> bool:
        return bool(self._rules)

    def has(self, path: str) -> bool:
        """Return whether a path is ignored, or is in an ignored folder.

        The path is relative to the root of the work tree and uses `/`.
        """
        if not self._rules or not path:
            return False
        names = path.split("/")
        if self._plain.isdisjoint(names) and not self._may_hide(names):
            return False
        self._looks -= len(names) * len(self._rules)
        return self._looks < 0 or any(
            self._is_ignored("/".join(names[:n]), n < len(names)) for n in range(1, len(names) + 1)
        )

    def _may_hide(self, names: "Sequence[str]") -> bool:
        """Say whether a pattern with marks fits one of some names."""
        return any(fits(name, pattern) for pattern in self._wild for name in names)

    def _is_ignored(self, path: str, is_folder: bool) -> bool:
        verdict = False
        for rule in self._rules:
            if (is_folder or not rule.folders) and rule.fits(path):
                verdict = not rule.negated
        return verdict

    def used_by(self, command: str, roots: "Sequence[str]" = (), folder: str = "") -> bool:
        """Say whether a command names an ignored path, or runs in an ignored folder.

        `roots` are names of the work tree, `folder` is where it begins.
        """
        if not self._rules:
            return False
        for part in parts(command, folder):
            if any(self.has(path + _INSIDE) for path in _within(part.folder, roots, folder)):
                return True
            if self.named_in(part.text, roots, part.folder, folders=True):
                return True
        return self.named_in(command, roots, folder, folders=True)

    def named_in(
        self, text: str, roots: "Sequence[str]" = (), folder: str = "", *, folders: bool = False
    ) -> bool:
        """Return whether a text names an ignored path.

        The path may be given in full, relative to the root of the work tree, or relative to a
        folder. With `folders`, a word may also name a folder.
        """
        if not self._rules:
            return False
        if any(name in text for name in self._spaced):
            return True
        for word in {match[0].rstrip(".!?") for match in _WORD.finditer(text)}:
            for path in _within(word, roots, folder):
                if self.has(path) or (folders and self.has(path + _INSIDE)):
                    return True
        return False

    def without(self, text: str, roots: "Sequence[str]" = (), folder: str = "") -> str:
        """Return an output without the lines that name an ignored path.

        The code that is quoted below such a line is removed too.
        """
        if not self._rules:
            return text
        if len(text) > 2 * OUTPUT:
            text = f"{text[:OUTPUT].rpartition(chr(10))[0]}\n{text[-OUTPUT:].partition(chr(10))[2]}"
        kept: list[str] = []
        hidden = -1  # how far the line is indented below which all is dropped; -1: none
        for line in text.split("\n"):
            deep = len(line) - len(line.lstrip())
            if self.named_in(line, roots, folder):
                hidden = deep
            elif hidden >= 0 and (deep > hidden or _CODE.match(line)):
                continue
            else:
                hidden = -1
                kept.append(line)
        return "\n".join(kept)


def _within(word: str, roots: "Sequence[str]", folder: str) -> "set[str]":
    """Return what a word may mean as a path from the work tree's root."""
    paths = {posixpath.normpath(word.strip("/"))}
    for root in roots if "/" in word or folder not in roots else ():
        full = posixpath.normpath(posixpath.join(folder or root, word))
        if full.startswith(root + "/"):
            paths.add(full[len(root) + 1 :])
    return {path for path in paths if path != "." and not path.startswith("..")}


def _rules(lines: "Iterable[str]") -> "tuple[list[_Rule], list[tuple[str, str]]]":
    """Return the rules of some lines, and (pattern, why) of those that are not used."""
    rules: list[_Rule] = []
    faults: list[tuple[str, str]] = []
    compiled = 0
    for number, line in enumerate(lines):
        if number >= MOST:
            faults.append((line, f"only {MOST} lines are looked at"))
            break
        why = fault(line)
        rule = None if why else _rule(line)
        if rule is not None and rule.is_compiled:
            compiled += 1
            if compiled > MOST_COMPILED:
                why = f"only {MOST_COMPILED} patterns may have more marks than one `*`"
        if why:
            faults.append((line, why))
        elif rule is not None:
            rules.append(rule)
    return rules, faults


class _Rule:
    __slots__ = ("anchored", "first", "folders", "is_compiled", "negated", "pattern", "wild")

    def __init__(self, pattern: str, *, negated: bool, folders: bool, anchored: bool) -> None:
        self.pattern = pattern
        self.negated = negated
        self.folders = folders
        self.anchored = anchored
        self.first = pattern.split("/", 1)[0]  # that one name of a path has to be
        self.wild = any(c in self.first for c in "*?[")
        self.is_compiled = any(
            mark in name
            for name in pattern.split("/")
            if name != "**" and not is_simple(name)
            for mark in "*?["
        )

    def fits(self, path: str) -> bool:
        if not self.anchored:
            return fits(path.rsplit("/", 1)[-1], self.pattern)
        if "/" not in self.pattern:
            return "/" not in path and fits(path, self.pattern)
        return glob_match(self.pattern, path)


def _rule(line: str) -> _Rule | None:
    text = line.rstrip("\r\n")
    while text.endswith(" ") and not text.endswith("\\ "):
        text = text[:-1]
    if not text or text.startswith("#"):
        return None
    negated = text.startswith("!")
    text = _plain(text[negated:])
    folders = text.endswith("/")
    text = text.rstrip("/") if folders else text
    anchored = "/" in text
    text = text.removeprefix("/")
    if not text:
        return None
    if text.startswith("**/") and "/" not in text[3:]:
        text, anchored = text[3:], False
    if text.endswith("/**"):
        text = text[:-2] + "*/**"  # what is in the folder, not the folder
    return _Rule(text, negated=negated, folders=folders, anchored=anchored)


def _plain(text: str) -> str:
    """Return a pattern whose escaped characters are written as `fnmatch` has them: in brackets."""
    out, at = [], 0
    while at < len(text):
        if text[at] == "\\" and at + 1 < len(text):
            out.append(f"[{text[at + 1]}]" if text[at + 1] in "*?[" else text[at + 1])
            at += 2
        else:
            out.append(text[at])
            at += 1
    return "".join(out)


def ignored(files: "Sequence[str]", settings: "Sequence[str]", looks: float = inf) -> Ignored:
    """Return what is ignored by the lines of files and by settings, these after those."""
    return Ignored([line for text in files for line in text.split("\n")] + list(settings), looks)
