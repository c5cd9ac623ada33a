"""`git mem check --against code`: what speaks against facts, and what a person answers."""

import os
import time
from collections.abc import Callable

import pytest

from gitmem.app import open_app
from gitmem.services.lifecycle.mentions import MentionReader, prose
from gitmem.worker.code_check import keep_up
from tests.cli.conftest import DAY, on_terminal
from tests.conftest import git
from tests.histories import stream
from tests.lifecycle.conftest import Code
from tests.lifecycle.memories import add

CLAUDE = {"CLAUDECODE": "1"}
APP = {"src/app.py": "import os\n\ndef run():\n    return 8080\n", "Makefile": "test:\n\tpytest\n"}


def test_each_finding_has_evidence_and_a_proposal(code: Code) -> None:
    """Shown like facts that contradict each other, by themselves or with them; `--fail` tells scripts."""
    mem = code.mem
    code.commit_files(APP)
    id = code.say("Tests by make", "--verify", "file=Makefile contains=test:")
    assert mem("check", "--fail").err == "no contradictions.\n"
    code.commit_files({"Makefile": "check:\n\tpytest\n"})
    (row,) = mem("check", "--json").json
    assert row == {
        "finding": "verify",
        "reason": "Makefile does not have 'test:'",
        "choice": "edit",
        "is_sure": True,
        "facts": [{**row["facts"][0], "id": id, "trust_marks": []}],
    }
    done = mem("check", "--fail", code=1)
    assert "  verify: Makefile does not have 'test:'\n" in done.out
    assert f"  proposed: git mem edit {id[-8:]}\n" in done.out
    assert "other choices: verified, drop, or git mem edit ID." in done.err
    assert mem("check", "--against", "facts").out == ""


def test_what_a_person_verified_is_not_shown_again(code: Code) -> None:
    """It is confirmed as of this commit, until its words or the code change; an undo takes it back."""
    mem = code.mem
    code.commit_files(APP)
    id = code.say("Tests by make", "--verify", "file=Makefile contains=test:")
    head = code.commit_files({"Makefile": "check:\n\tpytest\n"})
    assert mem("check", "--resolve", f"{id}=verified", "--json").json["verified_ids"] == [id]
    fact = mem.show(id)
    assert fact["confirmed"]["commit"] == head
    assert [(one["id"], one["choice"]) for one in fact["settled"]] == [(id, "verified")]
    assert code.found() == []
    code.commit_files({"Makefile": "\n\ncheck:\n\tpytest\n"})
    assert code.found() == []
    code.commit_files({"Makefile": None})
    assert code.found() == [("verify", "there is no Makefile")]
    mem("check", "--resolve", f"{id}=verified")
    assert code.found() == []
    mem("edit", id, "--title", "Tests run by make")
    assert code.found() == [("verify", "there is no Makefile")]
    mem("undo")
    assert code.found() == []


def test_a_name_that_is_gone_is_verified_until_its_words_change(code: Code) -> None:
    """The confirmation counts from then on."""
    mem = code.mem
    code.commit_files(APP)
    id = code.say("All of it is in src/app.py")
    code.commit_files({"src/app.py": None})
    assert [what for what, _ in code.found()] == ["path"]
    mem("check", "--resolve", f"{id}=verified")
    assert code.found() == []
    code.commit_files({"other.txt": "x\n"})
    assert code.found() == []


def test_only_a_person_answers_and_only_what_fits(code: Code) -> None:
    """Of one fact there is no newer one; `edit` is a command of its own."""
    mem = code.mem
    code.commit_files(APP)
    id = code.say("The port is in src/app.py")
    code.commit_files({"src/app.py": None})
    for choice in ("newer", "older", "both"):
        done = mem("check", "--resolve", f"{id}={choice}", code=1)
        assert f"'{choice}' needs two facts" in done.err
        assert "git mem edit ID" in done.err
    mem("check", "--resolve", f"{id}=edit", code=2)
    done = mem("check", "--resolve", f"{id}=verified", code=1, env=CLAUDE)
    assert "an agent cannot decide" in done.err
    pair = code.say("The session store is Redis"), code.say("The session store is Memcached")
    done = mem("check", "--resolve", f"{pair[0]}=verified", code=1)
    assert "contradicts another fact, which 'verified' does not settle" in done.err
    mem("check", "--resolve", f"{id}=drop")
    assert id not in {row["id"] for row in mem("list", "--json").json}


def test_a_fact_is_shown_with_what_speaks_against_it(code: Code) -> None:
    """In lists, in a record and in the summary, as long as it is so, by work tree."""
    mem = code.mem
    code.commit_files(APP)
    id = code.say("Tests by make", "--verify", "file=Makefile contains=test:", "-t", "decision")
    assert "may be out of date" not in mem("list").out
    code.write({"Makefile": "check:\n\tpytest\n"})
    with open_app(str(code.folder), dict(os.environ)) as app:
        assert keep_up(app) == ["1 fact may be out of date"]
    mark = "may be out of date: Makefile does not have 'test:'"
    for args in (
        ("list",),
        ("show", id),
        ("page", "summary"),
        ("session", "briefing"),
        ("search", "make"),
    ):
        assert mark in mem(*args).out, args
    (row,) = mem("list", "--json").json
    assert row["out_of_date"] == mem.show(id)["out_of_date"] == mark.partition(": ")[2]
    other = code.folder.parent / "other"
    git(code.folder, "worktree", "add", "-q", str(other))
    assert mark not in mem.at(other)("list").out
    mem("edit", id, "--unverify")
    assert mark not in mem("list").out
    mem("edit", id, "--verify", "file=Makefile contains=check:")
    mem("check")
    assert mark not in mem("list").out


def test_what_expired_is_asked_about(code: Code) -> None:
    """A day ends with it; who says that the fact holds takes the end away."""
    mem = code.mem
    code.commit_files(APP)
    day = time.strftime("%Y-%m-%d", time.gmtime())
    code.say("Frozen until the release", "--expires", day)
    yesterday = time.strftime("%Y-%m-%d", time.gmtime(time.time() - DAY))
    id = code.say("The freeze is on", "--expires", yesterday)
    assert code.rows()[0]["facts"][0]["id"] == id
    assert code.found() == [("expires", f"it held until {yesterday}")]
    assert "The freeze is on" not in mem.titles()
    mem("check", "--resolve", f"{id}=verified")
    assert "The freeze is on" in mem.titles()
    assert code.found() == []


def test_lost_anchors_are_found(code: Code) -> None:
    """Code that moved is not lost; code of another branch never was here."""
    mem = code.mem
    lines = [f"def step_{n}(value):\n    return value * {n} + OFFSET_{n}\n" for n in range(9)]
    code.commit_files({"a.py": "\n".join(lines), "b.py": "def other():\n    return 'b'\n"})
    kept = code.say("Three is odd", "--anchor", "a.py:10-11")
    lost = code.say("The other one", "--anchor", "b.py")
    git(code.folder, "switch", "-qc", "side")
    code.commit_files({"c.py": "side = 1\n"})
    mem.add("Only on the side", "--anchor", "c.py")
    git(code.folder, "switch", "-q", "-")
    code.commit_files({"a.py": "\n".join(reversed(lines)), "b.py": None})
    (row,) = code.rows()
    assert row["facts"][0]["id"] == lost != kept
    assert (row["finding"], row["choice"]) == ("anchor", "edit")
    assert row["reason"].startswith("b.py was removed in ")


def test_what_is_not_committed_counts(code: Code) -> None:
    """Results belong to a work tree."""
    code.commit_files({**APP, "pyproject.toml": '[project]\ndependencies = ["redis"]\n'})
    code.say("The cache uses Redis")
    code.say("Everything is in src/app.py")
    code.say("Call run() of the server, `run()`")
    code.write({"src/app.py": None, "pyproject.toml": "[project]\ndependencies = []\n"})
    reasons = dict(code.found())
    assert reasons["path"] == "src/app.py was removed here, and not committed yet"
    assert reasons["dependency"] == (
        "redis was removed from pyproject.toml here, and not committed yet"
    )
    assert reasons["symbol"].startswith("nothing defines run(); src/app.py:3 did at ")


def test_without_a_commit_nothing_is_refuted_but_checks(code: Code) -> None:
    """A repository that was just made, and a bare one."""
    mem = code.mem
    fresh = code.folder.parent / "fresh"
    git(code.folder.parent, "init", "-q", str(fresh))
    (fresh / "a.txt").write_text("x\n")
    there = mem.at(fresh)
    there("init")
    there.add("Names src/app.py and a.txt", "--verify", "path=a.txt")
    assert there("check", "--json").json == []
    bare = code.folder.parent / "bare.git"
    git(code.folder.parent, "init", "-q", "--bare", str(bare))
    assert mem.at(bare)("check", "--json").json == []
    (fresh / "a.txt").unlink()
    assert [row["finding"] for row in there("check", "--json").json] == ["verify"]


def test_what_a_sparse_checkout_leaves_out_is_there(code: Code) -> None:
    """It can be named, and cannot be read."""
    code.commit_files({"a/one.py": "one = 1\n", "b/two.py": "two = 2\n"})
    code.say("One is in a/one.py")
    code.say("Two", "--verify", "path=a/one.py", "--verify", "file=a/one.py contains=one")
    git(code.folder, "sparse-checkout", "set", "b")
    assert not (code.folder / "a").exists()
    assert code.found() == []


def test_facts_of_the_user_store_are_left_alone(code: Code) -> None:
    """They hold in all repositories: no code refutes them."""
    mem = code.mem
    code.commit_files(APP)
    mem.add("I write src/app.py first", "--user", ago=50 * DAY)
    code.commit_files({"src/app.py": None})
    assert code.found() == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Use a/b.py, c.toml and .github/workflows/ci.yml.",
            ["a/b.py", "c.toml", ".github/workflows/ci.yml"],
        ),
        ("See `make build` and npm test", ["build", "test"]),
        ("PORT_A, port 80 and localhost:8000", ["80", "8000", "PORT_A"]),
        ("Call App::run, app.run() and make_it", ["App::run", "app.run()", "make_it"]),
        ("Version 2.0 of the and/or rule", ["and/or"]),
        ("We moved a/b.py", []),
        ("Do not open a/b.py", []),
        ("a/b.py is never read", []),
        ("Use a/b.py, never by hand", ["a/b.py"]),
        ("mail ada@example.org about https://example.org/a/b.py", []),
        ("~/.bashrc, /etc/hosts, ../x.py and $HOME/x.py", []),
    ],
)
def test_names_in_texts(text: str, expected: list[str]) -> None:
    """What a sentence says to be so, and nothing else."""
    names = {one.name for one in MentionReader().read(prose(text))}
    assert {name.rstrip("/") for name in expected} <= names
    assert names <= {*expected, "App", "app.run"} or expected == []
    if not expected:
        assert names == set()


def test_a_check_takes_seconds(code: Code) -> None:
    """Of hundreds of facts about a long history, in a time that does not grow with both."""
    from gitmem.records.record import make
    from gitmem.store import operations
    from gitmem.store.store import Message

    git(code.folder, "fast-import", "--quiet", "--force", stdin=b"".join(stream(400, 800, 200, 1)))
    git(code.folder, "reset", "-q", "--hard", "main")
    code.mem("init")
    with open_app(str(code.folder), dict(os.environ)) as app:
        todo = [
            operations.put(
                make(
                    "memory",
                    f"mem-{app.clock.ulid()}",
                    f"Step {n} is step_{n}() in src/p{n % 50}/m{n}.py, port {9000 + n}, for VAR_{n}",
                    created="2024-01-01T00:00:00Z",
                )
            )
            for n in range(300)
        ]
        app.store().write(todo, Message("fill", "add", ()))
    begun = time.monotonic()
    code.found()
    assert time.monotonic() - begun < 30


def test_an_accepted_proposal_is_offered_a_check(code: Code) -> None:
    """By one line that names the command; not where nothing can be checked."""
    mem = code.mem
    code.commit_files(APP)
    id = mem("add", "Start it by run() in src/app.py", "--json", env=CLAUDE).json["id"]
    done = mem("inbox", "--accept", id)
    assert done.err == f"to have it checked: git mem edit {id[-8:]} --verify path=src/app.py\n"
    mem("edit", id, "--verify", "path=src/app.py")
    plain = mem("add", "Answer mails within a day", "--json", env=CLAUDE).json["id"]
    assert mem("inbox", "--accept", plain).err == ""


@pytest.mark.parametrize(("keys", "checks"), [("ay", 1), ("an", 0), ("a\r", 0)])
def test_a_check_is_asked_for_on_a_terminal(code: Code, keys: str, checks: int) -> None:
    """Only `y` is a yes."""
    mem = code.mem
    code.commit_files(APP)
    id = mem("add", "Start it by src/app.py", "--json", env=CLAUDE).json["id"]
    out = on_terminal(code.folder, "inbox", keys=list(keys))
    assert "have it checked by path=src/app.py? [y/N]" in out
    assert len(mem.show(id).get("verify", [])) == checks


def test_findings_are_answered_on_a_terminal(code: Code) -> None:
    """With one key each."""
    mem = code.mem
    code.commit_files(APP)
    id = code.say("All of it is in src/app.py")
    code.commit_files({"src/app.py": None})
    out = on_terminal(code.folder, "check", keys=["?", "v"])
    assert "[v]erified, [e]dit, [d]rop, [s]kip, [q]uit, ? (proposed: drop)" in out
    assert "e - change its words in your editor" in out
    assert mem.show(id)["settled"][0]["choice"] == "verified"


@pytest.mark.parametrize("broken", ["<<<<<<< HEAD\n", "\x00"])
def test_a_manifest_that_cannot_be_read_refutes_nothing(code: Code, broken: str) -> None:
    """It is there: what it would say is not known."""
    text = '{"dependencies": {"left-pad": "1.0.0"}, "scripts": {"build": "x"}}'
    code.commit_files({"package.json": text})
    code.say("Pad with left-pad")
    code.say("Build with `npm run build`")
    code.say("Padding", "--verify", "dependency=left-pad")
    (code.folder / "package.json").write_text(broken + text, encoding="utf-8")
    assert code.found() == []
    (code.folder / "package.json").write_text("{}", encoding="utf-8")
    assert len(code.found()) == 3


def test_consolidate_counts_what_check_shows(code: Code) -> None:
    """Also what marks no fact, and nothing of facts that do not hold any more."""
    mem = code.mem
    code.commit_files(APP)
    yesterday = time.strftime("%Y-%m-%d", time.gmtime(time.time() - DAY))
    code.say("The freeze is on", "--expires", yesterday)
    code.say("Build by make", "--expires", yesterday, "--verify", "path=src/app.py")
    older = code.say("The app starts in src", "--verify", "path=src/app.py")
    add(code.folder, "The app starts in lib", at=time.time(), supersedes=[older])
    code.say("The handler is short", "--anchor", "src/app.py")
    code.say("The port is in src/app.py")
    code.say("Tests by pytest", "--verify", "path=src/app.py")
    code.say("The session store is Redis")
    code.say("The session store is Memcached")
    code.commit_files({"src/app.py": None})

    def marked() -> set[str]:
        rows = mem("list", "--all", "--json").json
        return {row["title"] for row in rows if "out_of_date" in row}

    args = ("consolidate", "--steps", "check", "--json")
    dry, marked_dry = mem(*args, "--dry-run").json["steps"], marked()
    steps = mem(*args).json["steps"]
    shown = sorted(row["finding"] for row in mem("check", "--json").json)
    assert shown == ["anchor", "expires", "expires", "path", "value", "verify"]
    assert [step["finding_count"] for step in (*dry, *steps)] == [len(shown)] * 2
    mem("drain")
    assert (marked_dry, marked()) == (set(), {"The port is in src/app.py", "Tests by pytest"})


def test_consolidate_goes_on_counting_as_check_does(code: Code) -> None:
    """Though it looks at facts that did not change only where the code did."""
    mem = code.mem
    code.commit_files({**APP, "src/web.py": "x = 1\n"})
    app = code.say("The port is in src/app.py")
    code.say("The handler is short", "--anchor", "src/web.py")

    def counted() -> int:
        (step,) = mem("consolidate", "--steps", "check", "--json").json["steps"]
        assert step["finding_count"] == len(mem("check", "--json").json)
        return int(step["finding_count"])

    counts = [counted()]
    newer = add(code.folder, "The port is configured", at=time.time(), supersedes=[app]).id
    code.write({"src/app.py": None, "src/web.py": None})
    counts.append(counted())
    mem("forget", newer)
    counts.append(counted())
    mem("drain", ago=2 * DAY)
    mem("drain")
    counts.append(counted())
    mem("check", "--resolve", f"{app}=verified")
    counts.append(counted())
    mem("undo")
    counts.append(counted())
    assert counts == [0, 1, 2, 2, 1, 2]


def test_an_edited_fact_is_shown_as_it_is_now(
    code: Code, editor: Callable[[str], dict[str, str]]
) -> None:
    """With what still speaks against it; the rest is not asked about."""
    code.commit_files({**APP, "src/web.py": "x = 1\n"})
    anchored = code.say("Routes are short", "--anchor", "src/app.py", "--verify", "path=src/app.py")
    named = code.say("The routes are in src/app.py and src/web.py")
    code.commit_files({"src/app.py": None, "src/web.py": None})
    assert [name for name, _ in code.found(anchored)] == ["verify", "anchor"]
    assert [name for name, _ in code.found(named)] == ["path", "path"]

    change = editor("text = text.replace('are short', 'are long')")
    out = on_terminal(code.folder, "check", anchored, keys=["e", "s"], env=change)
    first, _, second = out.partition("2 of 2")
    assert ("Routes are short" in first, "Routes are long" in second) == (True, True)
    assert "anchor: src/app.py was removed" in second

    change = editor("text = text.replace('src/app.py and src/web.py', 'src/main.py')")
    out = on_terminal(code.folder, "check", named, keys=["e"], env=change)
    assert ("1 of 2" in out, "2 of 2" in out) == (True, False)
