"""The score of a fact for people: how much is left of it, and what moves it."""

from collections.abc import Mapping, Set
from typing import Any

from gitmem.cli.terminal import age

DAY = 24  # hours
SHOWN = 3  # sessions and commits that are named


def score_facts(row: Mapping[str, Any], now: float) -> list[tuple[str, str | None]]:
    """Return (label, text) of the score of a row that `show` computed, and of its promotion."""
    if "decay" not in row:
        return [("Read", _reads(row, now) or None)]
    decay = row["decay"]
    given = f"importance {decay['importance']:g}"
    if decay["bonus"]:
        given += f" + {decay['bonus']:g} as a {row['promotion']['level']}"
    score = f"{row['effective_score']:g}{', decayed' if row['decayed'] else ''} ({given}"
    return [
        ("Score", f"{score}; {_course(row)})"),
        ("Read", _reads(row, now) or "never"),
        ("Promotion", promotion_line(row["promotion"])),
    ]


def _course(row: Mapping[str, Any]) -> str:
    decay = row["decay"]
    if decay["half_life_hours"] is None:
        return "does not fade"
    hours, half = decay["decay_hours"], decay["half_life_hours"]
    since = "last read" if row["accessed"] else "made"
    return f"half-life {half:,.0f} h, {hours:,.0f} h of work since it was {since}"


def _reads(row: Mapping[str, Any], now: float) -> str:
    if not row.get("access_count"):
        return ""
    last = f", last {age(row['accessed'], now)}" if row.get("accessed") else ""
    return f"{row['access_count']:,}×{last}"


def promotion_line(promotion: Mapping[str, Any]) -> str | None:
    """Return what made a fact a pattern or a rule, `rule: seen in 3 sessions: a, b, c`."""
    places = promotion["counted_sources"]
    if promotion["level"] == "insight" and len(places) < 2:
        return None
    kinds = {place.partition(" ")[0] for place in places}
    names = [place.partition(" ")[2][:8] or "elsewhere" for place in places]
    named = ", ".join(names[:SHOWN]) + (", …" if len(names) > SHOWN else "")
    doubt = "; a check refutes it" if promotion["is_refuted"] else ""
    return f"{promotion['level']}: seen in {len(places)} {_sort(kinds)}: {named}{doubt}"


def _sort(kinds: Set[str]) -> str:
    """Return what places are, some of which may be no session and no commit."""
    if "" in kinds:
        return "places"
    return " and ".join(f"{kind}s" for kind in sorted(kinds, reverse=True))
