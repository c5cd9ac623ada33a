"""Who counts: the random name of this clone, in its own folder and never shared but in counts."""

from gitmem.base.files import write_atomic
from gitmem.clock import Clock
from gitmem.repo.location import Home

NAME = "replica"


def replica(home: Home, clock: Clock) -> str:
    """Return this clone's name, made on first use."""
    path = home.join(NAME)
    try:
        with open(path, encoding="ascii") as file:
            text = file.read().strip()
        if text:
            return text
    except (OSError, ValueError):
        pass
    home.make()
    made = clock.ulid()
    write_atomic(path, made.encode() + b"\n", shared=home.shared)
    return made
