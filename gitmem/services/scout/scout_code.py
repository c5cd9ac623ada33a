"""What the code says of a task: of a commit, with what is not committed yet."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, partial

from gitmem.codemap.graph.code_map import CodeMap
from gitmem.codemap.graph.reading_time import WHOLE, answer_time
from gitmem.codemap.search.current import search_index
from gitmem.codemap.search.first_files import first_files
from gitmem.errors import NoCommit
from gitmem.git.code_history import CodeHistory
from gitmem.services.scout.scout import ScoutFinding, scout


@dataclass(frozen=True, slots=True)
class ScoutedCode:
    """The findings of a task, best first, in `total` files of code.

    `left_out` files were not read yet; `unreadable` has the language of each file whose grammar is
    not installed; `no_commit` says that there is no code to read yet, '' where there is.
    """

    findings: list[ScoutFinding] = field(default_factory=list)
    total: int = 0
    left_out: int = 0
    unreadable: Mapping[str, str] = field(default_factory=dict)
    no_commit: str = ""


def scout_code(
    code: CodeMap,
    history: CodeHistory,
    text: str,
    most: int,
    *,
    revision: str = "",
    progress: Callable[[int, int], None] | None = None,
    read_all: bool = False,
    needs_code: bool = False,
) -> ScoutedCode:
    """Return the files of a task, `most` besides tests and examples.

    The default is the commit that is checked out, with what is not committed yet. Without
    `read_all` the code is read for a few seconds. Raises UserError when the named commit is not
    there, and, if the answer `needs_code`, when nothing was committed yet.
    """
    reading = WHOLE if read_all else answer_time(cache(partial(first_files, history, text)))
    try:
        index = search_index(code, history, revision, progress, reading=reading)
    except NoCommit as error:
        if revision or needs_code:
            raise
        return ScoutedCode(no_commit=str(error))
    try:
        findings = scout(index, text, most)
        total = index.size() + index.left_out
    finally:
        index.close()
    return ScoutedCode(findings, total, index.left_out, index.unreadable)
