"""How much fuzz, kills and races do: bounded in `make test`, in full in `make stress` (GITMEM_STRESS=full)."""

import os

FULL = os.environ.get("GITMEM_STRESS") == "full"


def scaled(full: int, bounded: int) -> int:
    """Return a count: the full one in `make stress`, the bounded one anywhere else."""
    return full if FULL else bounded
