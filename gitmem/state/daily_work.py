"""Work that this clone does by itself, once a day at most. Part of the hot path."""

from gitmem.base.processes import is_gone, own
from gitmem.base.sqlite import healing, transaction
from gitmem.state.database import State

CONSOLIDATION, NAMES = "consolidation", "names"  # kinds of work
EVERY = 86400.0  # seconds from the end of one run to the next
LONGEST = 3600.0  # seconds after which a claim does not count
TRIES = 3  # claims within LONGEST, where the process that claimed the work has ended


@healing
def claim(state: State, work: str, now: float) -> bool:
    """Return whether work is due at a time in epoch seconds, and claim it for this process.

    The first is due a day after this was first asked. Whoever gets True says `finish` or `release`.
    """
    with transaction(state.db):
        row = state.db.execute(
            "SELECT done, claimed, process, tries FROM daily_work WHERE work = ?", (work,)
        ).fetchone()
        if row is None:
            state.db.execute("INSERT INTO daily_work (work, done) VALUES (?, ?)", (work, now))
            return False
        done, claimed, process, tries = row
        if abs(now - done) < EVERY or _is_taken(claimed, process, tries, now):
            return False
        is_retry = claimed is not None and abs(now - claimed) < LONGEST
        state.db.execute(
            "UPDATE daily_work SET claimed = ?, process = ?, tries = ? WHERE work = ?",
            (now, own(), tries + 1 if is_retry else 1, work),
        )
    return True


def _is_taken(claimed: float | None, process: str, tries: int, now: float) -> bool:
    """Say whether a claim counts: what fails or is killed is not tried again all the time."""
    if claimed is None or abs(now - claimed) >= LONGEST:
        return False
    has_ended = not process or is_gone(process)
    return not has_ended or tries >= TRIES


@healing
def finish(state: State, work: str, now: float) -> None:
    """Note that work is done."""
    sql = "UPDATE daily_work SET done = ?, claimed = NULL, process = NULL WHERE work = ?"
    state.db.execute(sql, (now, work))


@healing
def release(state: State, work: str) -> None:
    """Give up a claim, because the work failed."""
    state.db.execute("UPDATE daily_work SET process = '' WHERE work = ?", (work,))
