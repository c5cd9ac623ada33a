"""Files that facts name are found by the last parts of their paths."""

import random
import time
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

import pytest

from gitmem.git.past_code import PastFile
from gitmem.services.lifecycle import mentions
from gitmem.services.lifecycle.code_view import CodeView
from gitmem.services.lifecycle.gone_names import GoneNames, Said
from gitmem.services.lifecycle.mentions import Mention
from gitmem.services.lifecycle.path_tails import PathTails
from gitmem.services.lifecycle.refuted_names import NameClaim, refuted

AT = 1_780_000_000


@pytest.mark.parametrize("seed", range(20))
def test_the_first_path_with_a_tail_is_found(seed: int) -> None:
    """As by a look at each."""
    some = random.Random(seed)

    def path() -> str:
        return "/".join(some.choices("abc", k=some.randint(1, 4)))

    paths = [path() for _ in range(30)]
    tails = PathTails(paths)
    for tail in [path() for _ in range(100)]:
        fitting = [path for path in paths if f"/{path}".endswith(f"/{tail}")]
        assert tails.first(tail) == (fitting[0] if fitting else None)


class Source:
    """A tree of files that are only listed."""

    def __init__(self, paths: list[str]) -> None:
        self.paths = paths

    def has(self, path: str) -> bool:
        """Return whether it is named in full."""
        return path in self.paths[:1]

    def read(self, path: str) -> bytes | None:
        """Return nothing."""
        return None

    def absences(self, paths: Iterable[str]) -> dict[str, str]:
        """Return that each file which is not listed is not there."""
        return {}


def judged(files: list[str], gone: list[str], names: list[str]) -> dict[str, str]:
    """Return what is said of names in code that has some files and had others, the newest first."""
    code: Any = None
    removed = [PastFile(path, "c0ffee0", AT - number) for number, path in enumerate(gone)]
    past: Any = SimpleNamespace(
        uncommitted=list, removed=lambda _: removed, mainline=lambda _: ["c0ffee0"]
    )
    claims = [NameClaim("mem-1", Mention(mentions.PATH, name)) for name in names]
    findings = refuted(
        claims,
        CodeView(Source(files), code, lambda: None),
        GoneNames(past, code, "c0ffee0", lambda _: None),
        lambda _: Said("", AT - 1_000_000),
    )
    return {finding.code: finding.evidence for finding in findings.get("mem-1", ())}


def test_the_last_removal_of_a_file_or_of_one_in_a_folder_counts() -> None:
    """By its whole name or its last parts; what is there under any of them is not gone."""
    gone = ["x/lib/new.py", "lib/old.py", "a/b/c.py", "d/e/f.py", "y/there.py"]
    files = ["src/lib/there.py", "src/e/g.py"]
    names = ["there.py", "lib/there.py", "lib/", "e/", "g.py"]
    assert judged(files, gone, names) == {}
    names = ["lib/new.py", "old.py", "b/c.py", "b/", "d/e", "f"]
    assert list(judged(files, gone, names)) == [
        "x/lib/new.py",
        "lib/old.py",
        "a/b/c.py",
        "d/e/f.py",
    ]
    assert list(judged([], gone, ["lib/"])) == ["x/lib/new.py"]


def test_many_names_in_a_large_tree_take_little_time() -> None:
    """The cost grows with names and files, not with their product."""
    files = [f"src/pkg{n % 50}/part{n % 400}/file{n}.py" for n in range(20_000)]
    gone = [f"src/pkg{n % 50}/part{n % 400}/gone{n}.py" for n in range(20_000)]
    names = [f"part{n}/none{n}.py" for n in range(1000)]
    names += [f"none{n}/" for n in range(1000)]
    names += [path.split("/", 2)[2] for path in files[-1000:]]
    began = time.process_time()
    assert judged(files, gone, names) == {}
    assert time.process_time() - began < 1.5
