"""Whose code is not as it was: file by file, and yet the same answer as asking for each place."""

import os
from pathlib import Path

import pytest

from gitmem.app import open_app
from gitmem.clock import Clock
from gitmem.codemap.anchors.spec import parse
from gitmem.codemap.anchors.tracker import Follower
from gitmem.services.gotchas.placement import Guide, survey, unsettled
from tests.conftest import add, git, record

FILES = {
    name: "".join(
        f"def {name}_{n}(value):\n    made = value + {n * 7 + 100 * number}\n    return {name}_made(made)\n\n"
        for n in range(12)
    )
    for number, name in enumerate(
        ("same", "edited", "shifted", "renamed", "gone", "emptied", "left")
    )
}


@pytest.fixture
def app(repo: Path):
    """A repository with gotchas in seven files, anchored at what was committed."""
    for name, text in FILES.items():
        (repo / f"{name}.py").write_text(text)
    git(repo, "add", ".")
    git(repo, "commit", "-qm", "code")
    head = git(repo, "rev-parse", "HEAD")
    with open_app(str(repo), dict(os.environ), Clock(), "git") as made:
        for name in FILES:
            blob = git(repo, "rev-parse", f"HEAD:{name}.py")
            for line in (2, 22, 42):
                place = {**parse(f"{name}.py:{line}"), "blob": blob, "commit": head}
                old = FILES[name].split("\n")
                place["context"] = {
                    "before": [old[line - 2]],
                    "lines": [old[line - 1]],
                    "after": [old[line]],
                }
                add(made.store(), record("gotcha", f"{name} {line}", anchors=[place]))
        add(made.store(), record("gotcha", "a file", anchors=[{"path": "gone.py"}]))
        add(made.store(), record("gotcha", "a file that stays", anchors=[{"path": "same.py"}]))
        add(
            made.store(),
            record("gotcha", "two places", anchors=[{"path": "same.py"}, {"path": "gone.py"}]),
        )
        add(made.store(), record("gotcha", "a pattern", anchors=[{"glob": "*.py"}]))
        add(
            made.store(),
            record("gotcha", "a symbol", anchors=[{"path": "edited.py", "symbol": "edited_3"}]),
        )
        add(
            made.store(),
            record(
                "gotcha",
                "a symbol that never was",
                anchors=[{"path": "same.py", "symbol": "other"}],
            ),
        )
        add(
            made.store(),
            record(
                "gotcha",
                "dealt with",
                anchors=[{"path": "gone.py"}],
                resolved={"at": "2026-01-01T00:00:00Z"},
            ),
        )
        add(
            made.store(),
            record("gotcha", "put aside", anchors=[{"path": "gone.py"}], status="archived"),
        )
        add(made.store(), record("memory", "no gotcha", anchors=[{"path": "gone.py"}]))
        yield made


def change(repo: Path) -> None:
    """Edit, shift, rename, remove, empty; move one file's code to another."""
    (repo / "edited.py").write_text(
        FILES["edited"].replace("made = value + 100\n", "made = max(value, 100)\n")
    )
    (repo / "shifted.py").write_text("# one\n# two\n" + FILES["shifted"])
    git(repo, "mv", "renamed.py", "called.py")
    (repo / "gone.py").unlink()
    (repo / "emptied.py").write_text("")
    (repo / "left.py").write_text("x = 1\n")
    (repo / "there.py").write_text("import os\n\n" + FILES["left"])


def told(app, **how) -> set[tuple[str, str, str, int]]:
    """Return what a survey finds."""
    found = survey([app.index()], app.follower, **how).drifted
    return {(one.row["title"], one.where.path, one.where.state, one.where.first) for one in found}


def test_survey_of_what_is_unchanged(app) -> None:
    """Only the place that never was; no file is read twice, and none is searched."""
    assert told(app) == {("a symbol that never was", "same.py", "adrift", 1)}
    # a symbol's place cannot be told by a blob
    assert unsettled(app.index(), app.follower) == (["edited.py", "same.py"], [])


def test_survey_says_what_each_place_says(app, repo: Path) -> None:
    """The same as `Follower.now` of each, whatever happened to the files."""
    change(repo)
    one = Follower(app.git, str(repo))
    expected = set()
    for row in app.rows(kinds=("gotcha",), statuses=("active",), resolved=False):
        for anchor in row["anchors"]:
            where = one.now(anchor)
            if where.stale or where.state in {"changed", "approximate", "adrift", "moved"}:
                expected.add((row["title"], where.path, where.state, where.first))
    assert {state for _, _, state, _ in expected} >= {"changed", "adrift", "moved"}
    assert told(app) == expected


def test_survey_is_honest_about_what_it_did_not_look_at(app, repo: Path) -> None:
    """It stops when it is told to, and says how many were looked at; with time, all."""
    change(repo)
    whole = survey([app.index()], app.follower)
    assert (whole.checked, whole.complete) == (whole.total, True)
    assert whole.total == len(app.rows(kinds=("gotcha",), statuses=("active",), resolved=False))
    # a pattern has no file to look at
    assert survey([app.index()], app.follower, lambda: False).checked == 1
    for calls in range(0, 60, 3):
        left = iter([True] * calls)
        seen = survey([app.index()], app.follower, lambda left=left: next(left, False))
        assert 0 <= seen.checked <= whole.total
        assert seen.complete == (seen.checked == whole.total)
        assert len({one.row["id"] for one in seen.drifted}) <= seen.checked + len(seen.drifted)
        assert {one.row["title"] for one in seen.drifted} <= {
            one.row["title"] for one in whole.drifted
        }


def test_survey_tells_how_far_it_is(app, repo: Path) -> None:
    """The last word is that all are done."""
    change(repo)
    steps: list[tuple[int, int]] = []
    survey([app.index()], app.follower, step=lambda done, total: steps.append((done, total)))
    assert steps[-1][0] == steps[-1][1] > 0


def test_many_files_have_one_patience(app, repo: Path) -> None:
    """Gotchas whose code went to a file are found there; when the time is up, those of the file itself still are."""
    change(repo)
    text = (repo / "there.py").read_text().split("\n")

    def rows(**more):
        return app.rows(kinds=("gotcha",), statuses=("active",), resolved=False, **more)

    guide = Guide(app.indexes(), app.follower, rows, (), 20.0)
    found = guide.about("there.py", 4, text, "")
    assert next(one.row["title"] for one in found if one.where.state == "moved") == "left 2"
    assert {one.row["title"] for one in found} >= {"left 2", "left 22", "left 42", "a pattern"}
    renamed = guide.about("called.py", 2, FILES["renamed"].split("\n"), "")
    assert renamed[0].row["title"] == "renamed 2"

    late = Guide(app.indexes(), app.follower, rows, (), 0.0)
    assert [one.row["title"] for one in late.about("there.py", 4, text, "")] == ["a pattern"]
    assert {
        one.row["title"] for one in late.about("same.py", 2, FILES["same"].split("\n"), "")
    } >= {"same 2", "same 22", "same 42"}


def test_snoozed_ones_are_not_told(app) -> None:
    """Whether they are anchored in the file or apply by a pattern."""
    hidden = {
        row["id"] for row in app.rows(kinds=("gotcha",)) if row["title"] in {"same 2", "a pattern"}
    }
    guide = Guide(
        app.indexes(), app.follower, lambda **more: app.rows(kinds=("gotcha",), **more), hidden, 1.0
    )
    found = guide.about("same.py", 2, FILES["same"].split("\n"), "")
    assert {one.row["title"] for one in found} == {
        "same 22",
        "same 42",
        "a file that stays",
        "two places",
        "a symbol that never was",
    }
