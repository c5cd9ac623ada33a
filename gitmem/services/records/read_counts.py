"""Who read what, how often: counted locally, written to the store in batches."""

from gitmem.state.database import State
from gitmem.store import operations
from gitmem.store.layout import usage_path
from gitmem.store.store import Message, Store


def flush(store: Store, state: State, scope: str, replica: str) -> int:
    """Commit the reads counted since the last flush, one commit for all.

    Return how many ids there were.
    """
    waiting = state.reads(scope)
    if not waiting or store.tip() is None:
        return 0
    by_shard: dict[str, dict[str, dict[str, object]]] = {}
    for id, (n, last) in waiting.items():
        by_shard.setdefault(id[-2:], {})[id] = {"n": n, "last": last}
    todo = [
        operations.count_reads(usage_path(replica, shard), reads)
        for shard, reads in sorted(by_shard.items())
    ]
    store.write(todo, Message(f"usage: {len(waiting)} records read", "usage"))
    state.take_reads(scope, waiting)
    return len(waiting)
