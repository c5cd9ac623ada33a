"""Places that are patterns. Pure; the hot path imports this.

Patterns come from files and records of others: one that would take long is refused (`fault`), and
matches nothing.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

LONGEST = 256  # characters of one name's pattern
PATH_LONGEST = 1024  # characters of a path's pattern
STARS = 8  # of one name's pattern
_MARKS = ("*", "?", "[")


def fault(pattern: str) -> str:
    """Return why a pattern is not used; empty when it is."""
    if len(pattern) > PATH_LONGEST:
        return f"it has more than {PATH_LONGEST} characters"
    for name in pattern.split("/"):
        if len(name) > LONGEST:
            return f"a name in it has more than {LONGEST} characters"
        if name.count("*") > STARS:
            return f"a name in it has more than {STARS} `*`"
    return ""


def is_simple(pattern: str) -> bool:
    """Return whether a name's pattern has one `*` and no other special character.

    It can be matched without a regular expression.
    """
    return pattern.count("*") == 1 and "?" not in pattern and "[" not in pattern


def fits(name: str, pattern: str) -> bool:
    """Say whether one name matches a pattern; only one with several marks is compiled."""
    if name == pattern:
        return True
    if is_simple(pattern):
        head, _, tail = pattern.partition("*")
        return len(name) >= len(head) + len(tail) and name.startswith(head) and name.endswith(tail)
    if not any(mark in pattern for mark in _MARKS) or fault(pattern):
        return False
    from fnmatch import fnmatchcase

    return fnmatchcase(name, pattern)


def glob_match(pattern: str, path: str) -> bool:
    """Return whether a path matches a pattern.

    `*` and `?` stay in a folder, `**` spans folders, and a bare name matches in any folder.
    """
    if pattern == path:
        return True
    if len(pattern) > PATH_LONGEST:
        return False
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
