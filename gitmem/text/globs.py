"""Places that are patterns. Pure; the hot path imports this."""

from fnmatch import fnmatchcase

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def fits(name: str, pattern: str) -> bool:
    """Say whether one name matches a pattern; one without `*`, `?` and `[` is not compiled."""
    return name == pattern or (("*" in pattern or "?" in pattern or "[" in pattern) and fnmatchcase(name, pattern))


def glob_match(pattern: str, path: str) -> bool:
    """Say whether a path matches a pattern: `*` and `?` stay in a folder, `**` spans folders, a bare name matches in any folder."""
    if pattern == path:
        return True
    if "/" not in pattern:
        return fits(path.rsplit("/", 1)[-1], pattern)
    want = pattern.strip("/").split("/")

    def skip(at: "Iterable[int]") -> "set[int]":
        out = set(at)
        for here, part in enumerate(want):
            if here in out and part == "**":
                out.add(here + 1)
        return out

    reached = skip({0})
    for part in path.split("/"):
        stay = {at for at in reached if at < len(want) and want[at] == "**"}
        step = {at + 1 for at in reached - stay if at < len(want) and fits(part, want[at])}
        reached = skip(stay | step)
        if not reached:
            return False
    return len(want) in reached
