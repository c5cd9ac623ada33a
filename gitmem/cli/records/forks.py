"""What is said of a fact that several others supersede: the choice is a person's."""

from collections.abc import Sequence

from gitmem.cli.terminal import short
from gitmem.index.forks import Fork, forks
from gitmem.index.joined import Indexes


def all_forks(indexes: Indexes) -> list[Fork]:
    """Return the forks of all stores."""
    return [fork for _, index in indexes for fork in forks(index)]


def fork_text(id: str, successors: Sequence[str]) -> str:
    """Return that several facts supersede one, and the command that chooses the last of them."""
    names = " and ".join(map(short, successors))
    command = f"git mem supersede {short(successors[0])} {short(successors[-1])}"
    return f"{short(id)} is superseded by {names}. To choose the last: {command}"
