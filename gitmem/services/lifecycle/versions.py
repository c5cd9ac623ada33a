"""Which versions a manifest's requirement allows, and whether two requirements go together. Pure.

Requirements are PEP 440's (`packaging`). Those of npm, Cargo, Composer, Poetry and Ruby are read as
the ranges that they stand for: `^1.2`, `~1.2`, `~> 1.2`, `1.x`, `>=1 <2`, `1 || 2`.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

LONGEST = 200  # characters of a requirement
_PART = re.compile(r"(\^|~>|~=|~|===?|!=|>=|<=|>|<)? ?v?(\d[\w.+*-]*)")
_NUMBERS = re.compile(r"\d+(?:\.\d+)*")
_HIGH = "99999"
# where a bare version means this one or a compatible later one
_CARET = frozenset({"cargo"})
_MINIMUM = frozenset({"go", "cmake"})


@lru_cache(2048)
def allowed(requirement: str, ecosystem: str = "") -> tuple[SpecifierSet, ...] | None:
    """Return the sets of versions that a requirement allows, any of them; None if it names none.

    `ecosystem` is that of a manifest (`manifests.Declared`).
    """
    if not requirement or len(requirement) > LONGEST:
        return None
    sets = [_specifier_set(part, ecosystem) for part in re.split(r"\|\|?", requirement)]
    return (
        None
        if None in sets
        else tuple(allowed_range for allowed_range in sets if allowed_range is not None)
    )


def _specifier_set(text: str, ecosystem: str) -> SpecifierSet | None:
    plain = " ".join(text.split())
    cleaned = plain.replace(" - ", " <=")
    if cleaned != plain:
        cleaned = f">={cleaned}"  # 1.2 - 1.4
    rest = _PART.sub("", cleaned)
    if rest.strip(" ,") or not _PART.search(cleaned):
        return None  # a branch, a path, a tag
    try:
        parts = [",".join(_pep440(sign, version, ecosystem)) for sign, version in _parts(cleaned)]
        return SpecifierSet(",".join(parts), prereleases=True)
    except (InvalidSpecifier, InvalidVersion, ValueError):
        return None


def _parts(text: str) -> Iterator[tuple[str, str]]:
    for match in _PART.finditer(text):
        yield match[1] or "", match[2]


def _pep440(sign: str, version: str, ecosystem: str) -> Iterator[str]:
    """Yield the specifiers that one part of a requirement stands for."""
    plain = _without_stars(version)
    numbers = [int(part) for part in _numbers(plain)]
    if sign in {"^", "~", "~>"} or (not sign and ecosystem in _CARET):
        yield f">={plain}"
        yield f"<{_next(numbers, sign)}"
    elif not sign and ecosystem in _MINIMUM:
        yield f">={plain}"
    elif sign in {"", "==", "==="} and (plain != version or len(numbers) < 3):
        yield f"=={plain}.*"
    else:
        yield f"{'==' if sign in {'', '==='} else sign}{version if sign == '!=' else plain}"


def _without_stars(version: str) -> str:
    """Return a version without the parts that stand for any number: 1.2 for `1.2.x`."""
    while version.endswith((".x", ".X", ".*")):
        version = version[:-2]
    return version


def _numbers(version: str) -> list[str]:
    match = _NUMBERS.match(version)
    if match is None:
        raise ValueError(version)
    return match[0].split(".")


def _next(numbers: Sequence[int], sign: str) -> str:
    """Return the first version that a caret or a tilde leaves out."""
    if sign in {"~", "~>"}:
        fixed = max(1, len(numbers) - 1) if sign == "~>" else min(2, len(numbers))
    else:
        fixed = next((n for n, part in enumerate(numbers, 1) if part), len(numbers))
    kept = list(numbers[:fixed])
    kept[-1] += 1
    return ".".join(map(str, kept))


def go_together(
    asked: str, declared: str, ecosystem: str = "", asked_ecosystem: str = ""
) -> bool | None:
    """Return whether some version fits both requirements; None where that cannot be told."""
    ours, theirs = allowed(asked, asked_ecosystem), allowed(declared, ecosystem)
    if ours is None or theirs is None:
        return None
    points = list(_points(f"{asked} {declared}"))
    return any(
        our_part.contains(point) and other.contains(point)
        for our_part in ours
        for other in theirs
        for point in points
    )


def _points(text: str) -> Iterator[Version]:
    """Yield versions at and between the bounds that requirements name."""
    for _, version in _parts(" ".join(text.split())):
        plain = _without_stars(version)
        try:
            numbers = list(map(int, _numbers(plain)))
            yield Version(plain)
        except (InvalidVersion, ValueError):
            continue
        yield Version(".".join([*map(str, numbers), _HIGH]))
        yield Version(".".join([*map(str, numbers), "1"]))
        for n in range(len(numbers)):
            yield Version(".".join([*map(str, numbers[: n + 1]), _HIGH]))
            below = [*numbers[:n], numbers[n] - 1, int(_HIGH)]
            if numbers[n]:
                yield Version(".".join(map(str, below)))
