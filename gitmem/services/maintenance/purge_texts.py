"""What is said about a purge that another person made. Light: an exchange of memory loads it."""

from itertools import islice
from typing import TYPE_CHECKING

from gitmem.store.quarantine import KEPT_DAYS

if TYPE_CHECKING:
    from gitmem.store.history.losses import Losses

NAMED = 3  # writers that are named


def summary(lost: "Losses", remote: str) -> str:
    """Say in one sentence who purged what."""
    who = ", ".join(lost.purgers) or "somebody"
    count = len(lost.ids) - len(lost.masked)
    parts = []
    if count:
        parts.append(f"{_records(count)} of {lost.total} removed")
    if lost.masked:
        parts.append(f"{_records(len(lost.masked))} with a text masked")
    more = (
        f" {_records(len(lost.before))} more went in the last {KEPT_DAYS} days."
        if lost.before
        else ""
    )
    return f"{who} purged {remote}'s history: {', '.join(parts)}{_written_by(lost)}.{more}"


def _written_by(lost: "Losses") -> str:
    if not lost.writers:
        return ""
    most = sorted(lost.writers.items(), key=lambda row: (-row[1], row[0]))
    named = ", ".join(f"{who}: {count}" for who, count in islice(most, NAMED))
    more = f" and {len(most) - NAMED} more" if len(most) > NAMED else ""
    return f" (written by {named}{more})"


def _records(count: int) -> str:
    return f"{count} record{'s' if count != 1 else ''}"


def how_to_follow(remote: str) -> str:
    """Say what to type when a purge waits."""
    return (
        f"To follow it, run 'git mem sync {remote}' on a terminal, or with --follow-purge: what "
        f"goes is kept on this machine for {KEPT_DAYS} days (git mem forget --purge "
        "--quarantine-list). Until then nothing is merged or pushed. A copy of all you have: git "
        "mem sync --bundle FILE"
    )


def quarantined(count: int) -> str:
    """Say what was kept, and how to have it back or be rid of it."""
    return (
        f"{_records(count)} kept on this machine for {KEPT_DAYS} days. Look: git mem forget "
        "--purge --quarantine-list; bring back: git mem forget --purge --quarantine-restore ID; if "
        "it was a secret: git mem forget --purge --quarantine-drop"
    )
