"""What a fact becomes that was seen more than once: an insight, a pattern, a rule.

Pure; hooks load this.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

LEVELS = ("insight", "pattern", "rule")
BONUS = (0, 2, 3)  # on the importance
INSIGHT, PATTERN, RULE = range(3)
_COMMIT = 12  # characters of a commit's id that tell it from others


def seen_in(sources: "Iterable[Mapping[str, Any]]") -> "list[str]":
    """Return the sessions and commits among the sources of a fact, each once, as `session ID`.

    A source that names neither is the place `""`. The first comes first.
    """
    return list(dict.fromkeys(map(_place, sources)))


def _place(source: "Mapping[str, Any]") -> str:
    if source.get("session"):
        return f"session {source['session']}"
    return f"commit {str(source['commit'])[:_COMMIT]}" if source.get("commit") else ""


def is_said_by_user(sources: "Iterable[Mapping[str, Any]]") -> bool:
    """Return whether the user said a fact, by its sources, which anybody may have written."""
    return any(source.get("role") == "user" for source in sources)


def level_of(fact_type: str, sources: "Iterable[Mapping[str, Any]]", *, by_person: bool) -> int:
    """Return what a fact is by its sources: an index into `LEVELS`.

    `by_person`: a person said, wrote or confirmed it. What only agents said is a pattern at most.
    A task states nothing, and stays what it is.
    """
    if fact_type == "task":
        return INSIGHT
    return min(max(len(seen_in(sources)), 1) - 1, RULE if by_person else PATTERN)


def lowered(level: int, refuted: bool) -> int:
    """Return a level, one less if a check refutes the fact."""
    return max(INSIGHT, level - refuted)
