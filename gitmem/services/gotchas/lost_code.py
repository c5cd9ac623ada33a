"""Count the gotchas whose code is not found any more, anew when the code has changed."""

import os
import zlib
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from gitmem.index.reader import Index
from gitmem.repo.location import Location, storable
from gitmem.repo.refs import code_state
from gitmem.state import lost_code
from gitmem.state.database import State

if TYPE_CHECKING:
    from gitmem.codemap.anchors.tracker import Follower
    from gitmem.services.gotchas.placement import PlacementSurvey


class LostCode(NamedTuple):
    """How many gotchas have lost their code, how many were checked, and whether these are all."""

    lost: int
    checked: int
    complete: bool


def count_lost(
    index: Index,
    location: Location,
    state: State,
    follower: "Callable[[], Follower]",
    go_on: Callable[[], bool],
) -> LostCode:
    """Return how many gotchas of a work tree have lost their code, looking until `go_on` says no.

    A count of all is kept until HEAD, git's index, a store or a file that gotchas are about
    changes. Code that was put into another file since is seen when git's index has that file.
    """
    if location.worktree is None:
        return LostCode(0, 0, complete=True)
    code = counted_code(index, location)
    if kept := lost_code.kept(state, *code):
        return LostCode(*kept, complete=True)
    from gitmem.services.gotchas.placement import survey  # it loads what finds code again

    return keep_count(state, code, survey([index], follower(), go_on))


def keep_count(state: State, code: tuple[str, str], seen: "PlacementSurvey") -> LostCode:
    """Return how many gotchas lost their code as a survey of a work tree found it.

    What a whole survey found is kept, if no answer rests on a deadline. `code` is what
    `counted_code` returned before the survey.
    """
    lost = len({drifted.row["n"] for drifted in seen.drifted if drifted.where.state == "adrift"})
    if seen.complete and not seen.was_late:
        lost_code.keep(state, *code, lost, seen.checked)
    return LostCode(lost, seen.checked, seen.complete)


def counted_code(index: Index, location: Location) -> tuple[str, str]:
    """Return a work tree, and a key of all that a count depends on."""
    root = os.path.realpath(str(location.worktree))
    files = [os.path.join(location.gitdir, "index")]
    files += [os.path.join(root, path) for path in index.bases()]
    return storable(root), f"{code_state(location, index.tips())} {_digest(files):x}"


def _digest(files: Iterable[str]) -> int:
    """Return a number that changes when one of the files is written, comes or goes."""
    number = 0
    for path in sorted(files):
        try:
            about = os.lstat(path)
            text = f"{path} {about.st_ino} {about.st_size} {about.st_mtime_ns}"
        except OSError:
            text = path
        number = zlib.crc32(text.encode("utf-8", "surrogateescape"), number)
    return number
