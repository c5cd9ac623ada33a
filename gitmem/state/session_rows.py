"""All rows of `state.db` that belong to one session."""

from gitmem.base.sqlite import healing, transaction
from gitmem.state.database import State

# in this table a row belongs to a work tree, and names the session that was there last
_OF_A_WORK_TREE = "contexts"


@healing
def remove(state: State, id: str) -> int:
    """Remove all that is known of a session and of its subagents; return how many rows that were.

    The bytes of the rows are overwritten.
    """
    db = state.db
    db.execute("PRAGMA secure_delete = ON")
    removed = 0
    with transaction(db):
        db.execute(f"UPDATE {_OF_A_WORK_TREE} SET session = NULL WHERE session = ?", (id,))
        removed += db.execute(
            "DELETE FROM outcomes WHERE json_valid(facts) AND json_extract(facts, '$.session') = ?",
            (id,),
        ).rowcount
        for table in _tables(state):
            columns = {str(row[1]) for row in db.execute(f"PRAGMA table_info({table})")}
            if "context" in columns:
                where = "context = ?1 OR substr(context, 1, length(?1) + 1) = ?1 || '/'"
            elif "session" in columns:
                where = "session = ?1"
            else:
                continue
            removed += db.execute(f"DELETE FROM {table} WHERE {where}", (id,)).rowcount
        removed += db.execute("DELETE FROM sessions WHERE id = ?", (id,)).rowcount
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # without effect while somebody reads
    return removed


@healing
def patterns_of_others(state: State, id: str) -> frozenset[str]:
    """Return the patterns of the errors that other sessions met too."""
    rows = state.db.execute("SELECT DISTINCT pattern FROM errors WHERE session != ?", (id,))
    return frozenset(str(pattern) for (pattern,) in rows)


def _tables(state: State) -> list[str]:
    sql = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    return [str(name) for (name,) in state.db.execute(sql)]
