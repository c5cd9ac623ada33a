"""A gotcha's life as services do it, and what is concluded from outcomes, the odd ones too."""

import json
import os
import re
from pathlib import Path

import pytest

from gitmem.app import open_app
from gitmem.clock import Clock
from gitmem.errors import UserError
from gitmem.fingerprint.fingerprint import fingerprint
from gitmem.records.kinds import gotcha_id
from gitmem.services.gotchas import count, lifecycle, outcomes
from gitmem.services.gotchas.capture import Rule, rule_of
from gitmem.services.pages.markdown import escape
from gitmem.state import attempts
from tests.conftest import git, record

PATTERN = "ValueError: it is too long"


@pytest.fixture
def app(repo: Path):
    """A repository, opened at a time that tests choose."""
    with open_app(str(repo), dict(os.environ), Clock(), "git") as made:
        yield made


def captured(app, pattern: str = PATTERN) -> str:
    """Capture a gotcha; return its id."""
    from gitmem.fingerprint.fingerprint import fingerprint

    mark = fingerprint(pattern, "")
    assert mark
    out = count.record(
        app.store, app.state, app.writer(), Rule(3600, 1), mark, [], [], pattern, "make", ""
    )
    assert out.gotcha == gotcha_id(mark.pattern)
    return out.gotcha


def outcome(app, **facts) -> None:
    """Have a conclusion wait."""
    whole = {
        "session": "s",
        "pattern": PATTERN,
        "command": "make",
        "failed": "make",
        "head": git(
            app.location.worktree or app.location.gitdir,
            "rev-parse",
            "-q",
            "--verify",
            "HEAD",
            ok=(0, 1),
        ),
        "root": app.location.worktree or "",
        "since": 1.0,
        "at": 2.0,
        "until": 2.0,
        "steps": [["edit", "code.py"]],
        **facts,
    }
    if "steps" not in facts:
        whole["steps"] = [["edit", os.path.join(whole["root"], "code.py")]]
    app.state.db.execute("INSERT INTO outcomes (facts) VALUES (?)", (json.dumps(whole),))


def get(app, id: str):
    return app.get(id)[1].record


# -- conclusions


def test_edit_resolves_with_the_fix_noted(app, repo: Path):
    id = captured(app)
    (repo / "code.py").write_text("a\nb\n")
    outcome(app)
    assert app.conclude() == 1
    done = get(app, id).get("resolved")
    assert (done["files"], done["stat"], done["by"]) == (["code.py"], "1 file, +2 −1", "git-mem")
    assert app.conclude() == 0


@pytest.mark.parametrize(
    ("facts", "workaround"),
    [
        ({"steps": [["command", "npm i"]]}, "What helped: `npm i`; then `make` passed."),
        ({"steps": [], "command": "A=1 make"}, "Run it as `A=1 make`."),
        (
            {"steps": [["command", "npm i"]], "command": "A=1 make"},
            "Run it as `A=1 make`, after `npm i`.",
        ),
        (
            {"steps": [["edit", "/etc/hosts"]]},
            "What helped: a change of /etc/hosts; then `make` passed.",
        ),
        ({"steps": [["command", "x" * 900]]}, f"What helped: `{'x' * 159}…`; then `make` passed."),
        ({"steps": [["command", "echo `id`\n"]]}, "What helped: `echo 'id'`; then `make` passed."),
        ({"steps": []}, ""),
    ],
)
def test_what_helped_becomes_the_workaround(app, facts, workaround):
    id = captured(app)
    outcome(app, **facts)
    app.conclude()
    assert (get(app, id).fields.get("workaround") or "") == workaround
    assert not get(app, id).resolved


@pytest.mark.parametrize("state", ["confirmed", "resolved", "archived", "forgotten"])
def test_what_people_decided_is_left_alone(app, state):
    id = captured(app)
    who, store = app.writer(), app.store("private")
    if state == "confirmed":
        lifecycle.confirm(store, who, get(app, id))
    elif state == "resolved":
        lifecycle.resolve(store, who, get(app, id), note="by hand")
    else:
        from gitmem.services.records import write

        if state == "archived":
            write.set_status(store, who, get(app, id), "archived", "archive")
        else:
            write.forget(store, who, [get(app, id)])
    tip = git(app.location.worktree, "rev-parse", "refs/gitmem/local/main")
    outcome(app)
    assert app.conclude() == 0
    assert git(app.location.worktree, "rev-parse", "refs/gitmem/local/main") == tip
    assert attempts.take_outcomes(app.state) == []


@pytest.mark.parametrize(
    "facts",
    [
        {"steps": None},
        {"steps": 5},
        {"steps": [[]]},
        {"steps": [["edit"]]},
        {"steps": ["xyz"]},
        {"steps": [["edit", "a\0b"]]},
        {"steps": [["edit", "\ud800"]]},
        {"steps": [["edit", ""]]},
        {"steps": [["edit", "../../etc/passwd"]]},
        {"steps": [["edit", "gone.py"]]},
        {"steps": [["fly", "moon"]]},
        {"head": "0" * 40},
        {"head": "--output=pwned"},
        {"head": None},
        {"head": 7},
        {"pattern": "another"},
        {"pattern": None},
        {"command": None},
        {"command": "\x1b[31m\u202e"},
        {"session": "\n\n"},
    ],
)
def test_odd_outcomes_are_taken_away(app, repo: Path, facts):
    """Nothing stays for ever, nothing fails, and the next one is concluded."""
    captured(app)
    other = captured(app, "KeyError: another thing")
    outcome(app, **facts)
    outcome(app, pattern="KeyError: another thing")
    app.conclude()
    assert attempts.take_outcomes(app.state) == []
    assert get(app, other).resolved
    assert sorted(path.name for path in repo.iterdir()) == [".git", "code.py"]


@pytest.mark.parametrize("kind", ["bare", "worktree", "empty"])
def test_conclusions_anywhere(make_repo, tmp_path: Path, kind: str):
    """In a bare repository, a linked work tree, and before the first commit."""
    if kind == "empty":
        git(tmp_path, "init", "-q", "empty")
    path = tmp_path / "empty" if kind == "empty" else make_repo(kind)
    with open_app(str(path), dict(os.environ), Clock(), "git") as app:
        id = captured(app)
        outcome(app)
        has_code = kind != "bare"  # where no file can be edited, an edit is not a fix
        assert app.conclude() == has_code
        assert (get(app, id).get("resolved") or {}).get("files") == (
            ["code.py"] if has_code else None
        )


def test_merged_gotcha_is_concluded(app):
    """The one that stands for the error learns; the one that is part of it stays archived."""
    a, b = captured(app), captured(app, "KeyError: another thing")
    lifecycle.merge(app.store(), app.writer(), get(app, a), [get(app, b)], app.replica())
    outcome(app, pattern="KeyError: another thing")
    assert app.conclude() == 1
    assert get(app, a).resolved
    assert not get(app, b).resolved


@pytest.mark.parametrize(
    ("passed", "failed", "done", "settings", "expected"),
    [
        ("make", "make", [], [], ""),
        ("A=1 make", "A=1 make", [], [], ""),
        (
            "make",
            "make",
            ["a", "b", "c", "d"],
            [],
            "What helped: `b`, `c`, `d`; then `make` passed.",
        ),
        (
            "make",
            "make",
            ["a"],
            ["x.cfg"],
            "What helped: `a`, a change of x.cfg; then `make` passed.",
        ),
    ],
)
def test_workaround(passed, failed, done, settings, expected):
    assert outcomes.workaround(passed, failed, done, settings) == expected


# -- merge, confirm


def test_merge_says_no(app):
    """To other kinds, itself, and what is archived."""
    a, b = record("gotcha", "a"), record("gotcha", "b", status="archived")
    for into, others in ((a, [a]), (b, [a]), (a, [record()]), (record(), [a])):
        with pytest.raises(UserError):
            lifecycle.merge(app.store(), app.writer(), into, others, "r")
    with pytest.raises(UserError):
        lifecycle.confirm(app.store(), app.writer(), record("session"))


def test_merge_joins_what_they_know(app):
    """Places once each, the earliest and the latest time, all tags; its own workaround first."""
    place = {"path": "code.py", "lines": [1, 1]}
    from tests.conftest import add

    into = add(
        app.store(),
        record(
            "gotcha",
            "a",
            anchors=[place],
            tags=["x"],
            first_seen="2026-01-02T00:00:00Z",
            last_seen="2026-01-03T00:00:00Z",
        ),
    )
    one = add(
        app.store(),
        record(
            "gotcha",
            "b",
            anchors=[place, {"glob": "**"}],
            tags=["y"],
            workaround="w1",
            first_seen="2026-01-01T00:00:00Z",
        ),
    )
    two = add(
        app.store(),
        record(
            "gotcha",
            "c",
            anchors=[{"glob": "**"}],
            workaround="w2",
            last_seen="2026-01-09T00:00:00Z",
        ),
    )
    after = lifecycle.merge(app.store(), app.writer(), into, [one, two], app.replica()).after
    assert sorted(after.anchors, key=len) == [{"glob": "**"}, place]
    assert (after.get("first_seen"), after.get("last_seen")) == (
        "2026-01-01T00:00:00Z",
        "2026-01-09T00:00:00Z",
    )
    assert (after.tags, after.get("workaround"), after.get("supersedes")) == (
        ["x", "y"],
        "w1",
        sorted([one.id, two.id]),
    )


# -- notes


def test_flapping_does_not_fill_the_text(app):
    """Of what is said on the way the last five notes stay; what somebody wrote stays as it is."""
    from tests.conftest import add

    text = "It is so.\n\n> Resolved to call them.\n\n> a quotation\n"
    one = add(app.store(), record("gotcha", "a", text))
    for n in range(12):
        one = lifecycle.resolve(app.store(), app.writer(), one, note=f"done {n}").after
        one = lifecycle.reopen(
            app.store(), app.writer(), one, note=f"again {n}" if n % 2 else ""
        ).after
    assert one.body.startswith(text)
    notes = re.findall(
        r"^> (Resolved|Reopened) \S+Z?[.:]? ?(.*)$", one.body[len(text) :], re.MULTILINE
    )
    assert [how for how, _ in notes] == ["Reopened", "Resolved", "Reopened", "Resolved", "Reopened"]
    assert "done 11" in one.body
    assert "done 9" not in one.body
    assert "\n\n\n" not in one.body


def test_long_notes_are_cut(app):
    """To 2,000 characters, in the text and in the field; line ends make no second line of the quotation."""
    from tests.conftest import add

    one = add(app.store(), record("gotcha", "a"))
    one = lifecycle.resolve(app.store(), app.writer(), one, note="x" * 50_000).after
    assert len(one.get("resolved")["note"]) == 2_000
    assert len(one.body) < 2_100
    one = lifecycle.reopen(app.store(), app.writer(), one, note="a\nb " + "y" * 50_000).after
    assert "a b y" in one.body
    assert len(one.body) < 4_200


# -- who subscribed


def test_listeners_are_told(app):
    """Of each commit, and no longer than they want; one that fails costs nothing."""
    told = []

    def fails(_):
        raise RuntimeError("somebody else's")

    app.subscribe(fails)
    stop = app.subscribe(told.append)
    id = captured(app)
    lifecycle.resolve(app.store(), app.writer(), get(app, id))
    lifecycle.reopen(app.store(), app.writer(), get(app, id))
    stop()
    lifecycle.confirm(app.store(), app.writer(), get(app, id))
    stop()  # a second time ends nothing
    again = app.subscribe(told.append)
    stop()
    assert told.append in app.notices._listeners
    again()
    assert [(notice.op, notice.ids) for notice in told if notice.commit] == [
        ("capture", (id,)),
        ("resolve", (id,)),
        ("reopen", (id,)),
    ]
    assert {notice.op for notice in told if not notice.commit} == {"track"}


def test_escape():
    assert (
        escape("a <b> [c](d) *e* `f` \\ |\n#")
        == "a \\<b\\> \\[c\\](d) \\*e\\* \\`f\\` \\\\ \\| \\#"
    )


def test_listeners_are_told_of_counts(app):
    """An error that is counted is no commit; who subscribed hears of it all the same."""
    told = []
    app.subscribe(told.append)
    mark = fingerprint("Traceback (most recent call last):\nKeyError: 'TAX_RATE'", "", "make")
    count.record(
        app.store,
        app.state,
        app.writer(),
        rule_of(app.settings),
        mark,
        [],
        [],
        "KeyError: 'TAX_RATE'",
        "make",
        "",
    )
    assert [("track", 1, mark.pattern)] == [
        (notice.op, notice.facts["hits"], notice.facts["pattern"]) for notice in told
    ]
