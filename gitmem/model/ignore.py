"""Files that are never stored: what a repository's `.gitmemignore` names, by the patterns of gitignore(5). Pure; the hot path imports this."""

from fnmatch import fnmatchcase

from gitmem.lazy import Lazy
from gitmem.model.globs import glob_match

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MOST = 1000  # patterns that are looked at
_WORD = Lazy(r"[^\s\"'`()\[\]{}<>|;&,:=]+")


class Ignored:
    """Paths of a work tree that are never stored, by the patterns of gitignore(5); a later pattern overrules an earlier one."""

    def __init__(self, lines: "Iterable[str]") -> None:
        self._rules = [rule for line in list(lines)[:MOST] if (rule := _rule(line))]

    def __bool__(self) -> bool:
        return bool(self._rules)

    def has(self, path: str) -> bool:
        """Say whether a path (from the work tree's root, with `/`) is ignored, or is in a folder that is."""
        if not self._rules or not path:
            return False
        parts = path.split("/")
        return any(self._one("/".join(parts[:n]), n < len(parts)) for n in range(1, len(parts) + 1))

    def _one(self, path: str, is_folder: bool) -> bool:
        verdict = False
        for rule in self._rules:
            if (is_folder or not rule.folders) and rule.fits(path):
                verdict = not rule.negated
        return verdict

    def named_in(self, text: str) -> bool:
        """Say whether a text, such as a command, names an ignored path."""
        return bool(self._rules) and any(self.has(word[0].removeprefix("./").strip("/")) for word in _WORD.finditer(text))

    def without(self, text: str) -> str:
        """Return a text without the lines that name an ignored path."""
        return "\n".join(line for line in text.split("\n") if not self.named_in(line)) if self._rules else text


class _Rule:
    __slots__ = ("anchored", "folders", "negated", "pattern")

    def __init__(self, pattern: str, *, negated: bool, folders: bool, anchored: bool) -> None:
        self.pattern = pattern
        self.negated = negated
        self.folders = folders
        self.anchored = anchored

    def fits(self, path: str) -> bool:
        if not self.anchored:
            return fnmatchcase(path.rsplit("/", 1)[-1], self.pattern)
        if "/" not in self.pattern:
            return "/" not in path and fnmatchcase(path, self.pattern)
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


def ignored(files: "Sequence[str]", settings: "Sequence[str]") -> Ignored:
    """Return what is ignored by the lines of files and by settings, these after those."""
    return Ignored([line for text in files for line in text.split("\n")] + list(settings))
