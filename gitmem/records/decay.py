"""How much of a memory is left: the effective score.

`importance x decay_rate ^ hours since the last access`; each access slows the decay by 0.001, up to
0.999; pinned memories keep their importance. Ebbinghaus' forgetting curve with an adaptive rate.
"""

FADED = 3.0  # below: decayed, still searchable on request
GONE = 1.0  # below: may be collected; git still has it


def effective_score(
    importance: float, decay_rate: float, accesses: int, hours: float, *, pinned: bool = False
) -> float:
    """Return the score now. `hours` since the last access, or since creation if never read."""
    if pinned:
        return float(importance)
    rate = min(0.999, decay_rate + 0.001 * accesses)
    return float(importance * rate ** max(0.0, hours))
