"""Anchors whose code is nowhere, and what a check keeps of its searches."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from gitmem.codemap.anchors.tracker import Follower
from gitmem.git.worktree import WorkTree
from gitmem.worker import code_check
from tests.conftest import git
from tests.lifecycle.conftest import Code

NAMES = ("alpha", "beta", "gamma", "delta")


def function(name: str) -> str:
    """Return code that is like no other."""
    return f"def {name}_total(orders):\n    return sum({name}_price(one) for one in orders)\n"


def lose(code: Code) -> list[str]:
    """Keep a fact about a function in each of some files, and remove the code; return the ids."""
    code.commit_files({f"{name}.py": f"import os\n\n\n{function(name)}" for name in NAMES})
    ids = [code.say(f"Totals of {name} are exact", "--anchor", f"{name}.py:4-5") for name in NAMES]
    code.commit_files({f"{name}.py": "import os\n\nprint(os.name)\n" for name in NAMES})
    return ids


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths of the anchors that are looked for, as it happens."""
    made: list[str] = []
    now = Follower.now

    def noted(self: Follower, anchor: dict[str, Any]) -> Any:
        made.append(anchor["path"])
        return now(self, anchor)

    monkeypatch.setattr(Follower, "now", noted)
    return made


def test_a_second_check_searches_nothing(code: Code, searches: list[str]) -> None:
    """Where nothing changed, it has the same answer; each of several kinds of change counts."""
    ids = lose(code)
    first = code.rows()
    assert {row["facts"][0]["id"] for row in first} == set(ids)
    assert sorted(searches) == sorted(f"{name}.py" for name in NAMES)
    searches.clear()

    assert code.rows() == first
    assert code.found(ids[0]) == [("anchor", "alpha_total is not found any more in alpha.py")]
    code.mem("edit", ids[0], "--title", "Totals of alpha are rounded")
    assert len(code.rows()) == len(NAMES)
    assert searches == []


@pytest.mark.parametrize(
    "change",
    [
        lambda code: code.write({"other.py": function("alpha")}),
        lambda code: code.commit_files({"other.py": function("alpha")}),
        lambda code: code.write({"alpha.py": f"import os\n\n\n{function('alpha')}"}),
    ],
    ids=["untracked", "committed", "in its own file"],
)
def test_a_change_of_the_code_is_searched(code: Code, change: Callable[[Code], None]) -> None:
    """Code that came back is found, and no longer reported as lost."""
    ids = lose(code)
    assert len(code.rows()) == len(NAMES)
    change(code)
    assert {row["facts"][0]["id"] for row in code.rows()} == set(ids[1:])


def test_an_edit_of_a_changed_file_is_seen(code: Code) -> None:
    """Also where git says the same of the file as before: it differs from HEAD."""
    lose(code)
    code.write({"other.py": "x = 1\n"})
    code.commit_files({"other.py": "x = 2\n"})
    code.write({"other.py": "x = 3\n"})
    assert len(code.rows()) == len(NAMES)
    code.write({"other.py": function("alpha")})
    assert len(code.rows()) == len(NAMES) - 1


def test_an_edit_in_the_midst_of_a_merge_is_seen(code: Code) -> None:
    """Also in a file with conflicts, of which git's index has three versions."""
    lose(code)
    for name, text in (("side", "x = 1\n"), ("main", "x = 2\n")):
        git(code.folder, "checkout", "-q", "-B", name, *(["side~1"] if name == "main" else []))
        code.commit_files({"other.py": text})
    git(code.folder, "merge", "-q", "side", ok=(1,))
    assert len(code.rows()) == len(NAMES)
    code.write({"other.py": function("alpha")})
    assert len(code.rows()) == len(NAMES) - 1


def test_nothing_is_kept_where_git_does_not_answer(
    code: Code, searches: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The state of the code is not known then, so each check looks for itself."""
    lose(code)
    monkeypatch.setattr(WorkTree, "stamp", lambda _: "")
    assert len(code.rows()) == len(NAMES)
    searches.clear()
    code.rows()
    assert len(searches) == len(NAMES)


def test_what_there_was_no_time_for_is_named(code: Code, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer stays the same while nothing changes; a check of one fact looks for its code."""
    ids = lose(code)
    now = Follower.now

    def slow(self: Follower, anchor: dict[str, Any]) -> Any:
        time.sleep(0.4)
        return now(self, anchor)

    monkeypatch.setattr(code_check, "SEARCH", 0.3)
    monkeypatch.setattr(Follower, "now", slow)
    shown = code.mem("check", "--against", "code")
    rows = code.rows()
    found = {row["facts"][0]["id"] for row in rows}

    assert len(found) == 1
    assert "3 anchors were not checked, because time ran out" in shown.err
    assert code.rows() == rows
    (left, *_) = set(ids) - found
    name = NAMES[ids.index(left)]
    assert code.found(left) == [("anchor", f"{name}_total is not found any more in {name}.py")]
    assert {row["facts"][0]["id"] for row in code.rows()} == found | {left}
