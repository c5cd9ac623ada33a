"""`git mem inbox`: looking through what was captured, by options and by keys on a terminal."""

import fcntl
import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Mem, checked, commits, spawn, tip, venv_path
from tests.conftest import git, prepared

PRIVATE = "refs/gitmem/local/main"

ERRORS = (
    "TypeError: unsupported operand type(s)",
    "ValueError: it is too long",
    "KeyError: 'rate'",
    "OSError: the disk is full",
)


def capture(mem: Mem, text: str = ERRORS[0], times: int = 3) -> str:
    """Have an error become a gotcha; return its id."""
    return [mem("error", "record", text, "--json").json["gotcha"] for _ in range(times)][-1]


def waiting(mem: Mem) -> list[str]:
    """Return the ids that wait."""
    return [row["id"] for row in mem("inbox", "--json").json]


@pytest.fixture
def three(mem: Mem) -> list[str]:
    """Three captured gotchas, most seen first."""
    seen = zip(ERRORS, (6, 4, 3), strict=False)
    return prepared(
        "three", mem.folder, lambda: [capture(mem, text, times) for text, times in seen]
    )


# -- what waits


def test_what_is_listed(mem: Mem, three: list[str]) -> None:
    """Captured and not confirmed, most seen first; a hand-written one is not news."""
    mem("gotcha", "add", "written by hand")
    assert waiting(mem) == three
    out = mem("inbox").out
    assert out.index(three[0][-8:]) < out.index(three[1][-8:]) < out.index(three[2][-8:])
    assert "(unconfirmed, private)" in out
    assert "seen 6×, last just now" in out
    assert all(row["unconfirmed"] is True for row in mem("inbox", "--json").json)


def test_critical_comes_first(mem: Mem, three: list[str]) -> None:
    """What would hurt most is looked at first."""
    mem("edit", three[2], "--severity", "critical")
    assert waiting(mem) == [three[2], three[0], three[1]]


def test_one_screen(mem: Mem) -> None:
    """The first ten, and how many more there are; all for a program, and for whoever asks."""
    ids = [
        capture(mem, f"ValueError: {word} is too long", 3)
        for word in "a bc def ghij klm nop qrst uvw xyz one two three".split()
    ]
    assert len(set(ids)) == 12
    done = mem("inbox")
    assert (
        done.out.count("(unconfirmed, private)"),
        "2 more wait: git mem inbox --all" in done.err,
    ) == (
        10,
        True,
    )
    done = mem("inbox", "-n", "3")
    assert (done.out.count("(unconfirmed, private)"), "9 more wait" in done.err) == (3, True)
    done = mem("inbox", "--all")
    assert (done.out.count("(unconfirmed, private)"), "more wait" in done.err) == (12, False)
    assert len(waiting(mem)) == 12
    assert len(mem("inbox", "--json", "-n", "3").json) == 3
    assert [row["id"] for row in mem("inbox", "--json", "-n", "3").json] == waiting(mem)[:3]
    mem("inbox", "--accept-all")
    assert waiting(mem) == []


def test_empty_inbox(mem: Mem) -> None:
    """A remark, no output, exit code 0."""
    done = mem("inbox")
    assert (done.out, "the inbox is empty" in done.err) == ("", True)
    assert mem("inbox", "--json").json == []


def test_resolved_and_archived_do_not_wait(mem: Mem, three: list[str]) -> None:
    """What is dealt with need not be looked at."""
    mem("gotcha", "resolve", three[0])
    mem("archive", three[1])
    assert waiting(mem) == [three[2]]


# -- accept


def test_accept(mem: Mem, three: list[str]) -> None:
    """It is confirmed by whom, when and at which commit, and no longer marked; how it came stays known."""
    done = mem("inbox", "--accept", three[0][-8:])
    assert done.out == f"accepted {three[0][-8:]} {ERRORS[0]}\n"
    assert waiting(mem) == three[1:]
    full = mem.show(three[0])
    assert full["confirmed"]["commit"] == git(mem.folder, "rev-parse", "HEAD")
    assert full["confirmed"]["by"]
    assert full["origin"] == "captured"
    assert "unconfirmed" not in next(
        line for line in mem("gotcha", "list").out.splitlines() if three[0][-8:] in line
    )
    assert "unconfirmed" not in next(
        row for row in mem("gotcha", "list", "--json").json if row["id"] == three[0]
    )


def test_second_accept_says_so(mem: Mem, three: list[str]) -> None:
    """Nothing is written again, by the short id or the whole; what waits beside it is accepted."""
    mem("inbox", "--accept", three[0])
    before = tip(mem.folder)
    for id in (three[0], three[0][-8:]):
        assert f"{three[0][-8:]} was already accepted by " in mem("inbox", "--accept", id).out
    assert tip(mem.folder) == before
    assert mem("inbox", "--accept", three[0], "--accept", three[1], "--json").json == {
        "accepted_ids": [three[1]],
        "rejected_ids": [],
        "merged_ids": [],
        "unchanged_ids": [three[0]],
        "statement_ids": [],
    }
    assert waiting(mem) == [three[2]]


def test_accept_all_but_some(mem: Mem, three: list[str]) -> None:
    """Everything listed but what is rejected."""
    made = mem("inbox", "--accept-all", "--reject", three[1], "--reason", "a typo", "--json").json
    assert made["accepted_ids"] == [three[0], three[2]]
    assert (made["rejected_ids"], made["merged_ids"]) == ([three[1]], [])
    assert waiting(mem) == []
    assert {row["id"] for row in mem("gotcha", "list", "--json").json} == {three[0], three[2]}


def test_accept_all_of_nothing(mem: Mem) -> None:
    """An empty inbox is not an error, and no commit."""
    assert not any(mem("inbox", "--accept-all", "--json").json.values())
    assert tip(mem.folder) == ""


def test_same_id_twice_is_once(mem: Mem, three: list[str]) -> None:
    """However it is spelled."""
    assert mem("inbox", "--accept", three[0], "--accept", three[0][-8:], "--json").json[
        "accepted_ids"
    ] == [three[0]]


# -- reject


def test_reject(mem: Mem, three: list[str]) -> None:
    """It is gone, with the reason on record; the same error does not bring it back; restore does."""
    mem("inbox", "--reject", three[0], "--reason", "a typo")
    assert waiting(mem) == three[1:]
    assert capture(mem, ERRORS[0]) is None
    assert waiting(mem) == three[1:]
    assert "a typo" in git(mem.folder, "log", "-p", PRIVATE)
    mem("restore", three[0])
    assert three[0] in waiting(mem)


def test_second_reject_says_so(mem: Mem, three: list[str]) -> None:
    """By the short id that was shown, or the whole; others are rejected with it, and accepting it is an error."""
    mem("inbox", "--reject", three[0], "--reason", "a typo")
    before = commits(mem.folder, PRIVATE)
    for id in (three[0], three[0][-8:]):
        assert f"{three[0][-8:]} was already rejected by " in mem("inbox", "--reject", id).out
    assert commits(mem.folder, PRIVATE) == before
    assert mem("inbox", "--reject", three[0], "--reject", three[1], "--json").json[
        "rejected_ids"
    ] == [three[1]]
    assert waiting(mem) == [three[2]]
    mem("inbox", "--accept", three[0][-8:], code=1)
    mem("inbox", "--reject", "zzzzzzzz", code=1)


def test_only_what_waits_is_rejected(mem: Mem, three: list[str]) -> None:
    """A slip of the finger removes nothing that somebody wrote or confirmed."""
    mine = mem.add("A decision", "-t", "decision")
    mem("inbox", "--accept", three[0])
    before = tip(mem.folder)
    assert "git mem forget" in mem("inbox", "--reject", mine, code=1).err
    mem("inbox", "--reject", three[1], "--reject", three[0], code=1)
    assert tip(mem.folder) == before


# -- merge


def test_merge(mem: Mem, three: list[str]) -> None:
    """One stands for both: their errors, counts and times; the other is archived; both live on as one commit."""
    before = commits(mem.folder, PRIVATE)
    out = mem("inbox", "--merge", three[1], "--into", three[0]).out
    assert out.startswith(f"{three[1][-8:]} merged into {three[0][-8:]} {ERRORS[0]}")
    assert commits(mem.folder, PRIVATE) == before + 1
    assert waiting(mem) == [three[0], three[2]]
    full = mem.show(three[0])
    assert full["occurrences"] == 10
    assert len(full["triggers"]["error"]) == 2
    assert full["supersedes"] == [three[1]]
    assert mem.show(three[1])["status"] == "archived"


def test_hits_on_either_count_on_the_one_that_stays(mem: Mem, three: list[str]) -> None:
    """Whichever of the errors happens, one gotcha counts it; a resolved one is reopened."""
    mem("inbox", "--merge", three[1], "--merge", three[2], "--into", three[0])
    assert {capture(mem, text, 1) for text in ERRORS[:3]} == {three[0]}
    assert mem.show(three[0])["occurrences"] == 16
    assert {row["gotcha"] for row in mem("error", "list", "--json").json} == {three[0]}
    mem("gotcha", "resolve", three[0])
    assert capture(mem, ERRORS[2], 1) == three[0]
    assert not mem.show(three[0]).get("resolved")


def test_merge_into_a_hand_written_one(mem: Mem, three: list[str]) -> None:
    """It takes the errors over, and is confirmed as it was."""
    mine = mem("gotcha", "add", "Everything is too long", "--workaround", "cut it", "--json").json[
        "id"
    ]
    mem("inbox", "--merge", three[0], "--merge", three[1], "--into", mine)
    assert waiting(mem) == [three[2]]
    assert mem("error", "record", ERRORS[1]).out.endswith("    cut it\n")
    assert mem.show(mine)["occurrences"] == 12


def test_merge_of_a_hand_written_one(mem: Mem, three: list[str]) -> None:
    """What a person wrote confirms what it becomes part of, and all of its words are still there."""
    mine = mem(
        "gotcha",
        "add",
        "Everything is too long",
        "-m",
        "It is the width.\n\nSee the manual.",
        "--workaround",
        "cut it",
        "--json",
    ).json["id"]
    mem("inbox", "--merge", mine, "--into", three[0])
    full = mem.show(three[0])
    assert (full["origin"], bool(full["confirmed"]), full["workaround"]) == (
        "captured",
        True,
        "cut it",
    )
    assert full["body"].endswith(
        "> Everything is too long\n> It is the width.\n>\n> See the manual.\n"
    )
    assert three[0] not in waiting(mem)
    second = mem("gotcha", "add", "Another way", "--workaround", "fold it", "--json").json["id"]
    mem("inbox", "--merge", second, "--into", three[0])
    assert mem.show(three[0])["workaround"] == "cut it"
    assert mem.show(three[0])["body"].endswith("> Another way\n> Workaround: fold it\n")
    mem("inbox", "--merge", three[1], "--into", three[2])
    assert not mem.show(three[2]).get("confirmed")


def test_merge_into_a_resolved_one(mem: Mem, three: list[str]) -> None:
    """Refused while the other one is open: nobody would be told of it. What is dealt with too can be merged."""
    mem("gotcha", "resolve", three[0])
    before = tip(mem.folder)
    err = mem("inbox", "--merge", three[1], "--into", three[0], code=1).err
    assert f"git mem gotcha reopen {three[0]}" in err
    assert tip(mem.folder) == before
    mem("gotcha", "resolve", three[1])
    mem("inbox", "--merge", three[1], "--into", three[0])
    mem("gotcha", "reopen", three[0])
    mem("inbox", "--merge", three[2], "--into", three[0])
    assert mem.show(three[0])["supersedes"] == sorted(three[1:])


def test_merge_twice_counts_once(mem: Mem, three: list[str]) -> None:
    """What is part of it already changes nothing."""
    mem("inbox", "--merge", three[1], "--into", three[0])
    before = tip(mem.folder)
    assert "nothing changed" in mem("inbox", "--merge", three[1], "--into", three[0]).out
    assert tip(mem.folder) == before


def test_merge_chain_and_circle(mem: Mem, three: list[str]) -> None:
    """A into B into C: C stands for all. Back into one that is put aside: refused, or nobody would be left."""
    a, b, c = three
    mem("inbox", "--merge", a, "--into", b)
    mem("inbox", "--merge", b, "--into", c)
    assert {capture(mem, text, 1) for text in ERRORS[:3]} == {c}
    assert mem.show(c)["occurrences"] == 16
    assert "archived" in mem("inbox", "--merge", c, "--into", a, code=1).err
    assert waiting(mem) == [c]


def test_merged_one_can_be_edited_and_forgotten(mem: Mem, three: list[str]) -> None:
    """The list of errors survives an edit by flags; when it goes, nothing that it stood for comes back by itself."""
    mem("inbox", "--merge", three[1], "--into", three[0])
    mem("edit", three[0], "--title", "Types and lengths")
    assert len(mem.show(three[0])["triggers"]["error"]) == 2
    mem("forget", three[0])
    assert [capture(mem, text) for text in ERRORS[:2]] == [None, None]
    assert waiting(mem) == [three[2]]


def test_merges_of_two_clones_join(clones: tuple[Mem, Mem]) -> None:
    """Each merged another one into the same gotcha: after a sync it stands for all three, in both."""
    one, two = clones
    one("config", "share", "all")
    a, b, c = (capture(one, text) for text in ERRORS[:3])
    one("sync")
    two("sync")
    one("inbox", "--merge", b, "--into", a)
    two("inbox", "--merge", c, "--into", a)
    for mem in (one, two, one):
        mem("sync")
    for mem in (one, two):
        full = mem.show(a)
        assert len(full["triggers"]["error"]) == 3
        assert full["supersedes"] == sorted([b, c])
        assert full["occurrences"] == 9
        assert not full.get("conflict")
        assert waiting(mem) == [a]
        assert {capture(mem, text, 1) for text in ERRORS[:3]} == {a}


def test_merge_across_stores_is_refused(mem: Mem, three: list[str]) -> None:
    """A private gotcha that somebody wrote cannot stand for a shared one."""
    mine = mem("gotcha", "add", "mine", "--private", "--json").json["id"]
    mem("inbox", "--accept", three[0])
    assert "one store" in mem("inbox", "--merge", three[0], "--into", mine, code=1).err
    assert waiting(mem) == three[1:]


# -- all or nothing


@pytest.mark.parametrize(
    "args",
    [
        ("--accept", "{0}", "--reject", "{0}"),
        ("--accept", "{0}", "--merge", "{0}", "--into", "{1}"),
        ("--accept", "{0}", "--reject", "zzzzzzzz"),
        ("--accept", "{0}", "--merge", "{1}", "--into", "zzzzzzzz"),
        ("--accept", "{0}", "--merge", "{1}", "--into", "{1}"),
        ("--accept", "{0}", "--merge", "{1}", "--into", "{memory}"),
        ("--accept", "{0}", "--merge", "{memory}", "--into", "{1}"),
        ("--accept", "{0}", "--reject", "{1}", "--merge", "{2}", "--into", "{1}"),
        ("--accept", "{0}", "--reject", "{memory}"),
        ("--accept", "got"),
        ("--accept", ""),
    ],
)
def test_wrong_ids_change_nothing(mem: Mem, three: list[str], args: tuple[str, ...]) -> None:
    """All is looked at before the first is written."""
    memory = mem.add("a memory")
    before = tip(mem.folder)
    mem("inbox", *(arg.format(*three, memory=memory) for arg in args), code=1)
    assert tip(mem.folder) == before


@pytest.mark.parametrize("args", [("--merge", "x"), ("--into", "x"), ("--nope",), ("word",)])
def test_wrong_usage(mem: Mem, args: tuple[str, ...]) -> None:
    """Exit code 2."""
    mem("inbox", *args, code=2)


def test_a_reason_goes_with_what_is_rejected(mem: Mem, three: list[str]) -> None:
    """Alone, or with what is accepted, it says nothing of anything."""
    for args in (["--reason", "a typo"], ["--reason", "a typo", "--accept", three[0]]):
        assert "--reject ID" in mem("inbox", *args, code=2).err
    assert waiting(mem) == three


def test_an_acceptance_that_is_taken_back_waits_again(mem: Mem) -> None:
    """Nothing is lost: an undo puts it into the inbox, a redo accepts it again, as often as one likes."""
    (mem.folder / "n.md").write_text("Decision: tabs for the Makefile\n", encoding="utf-8")
    mem("extract", "--save", "n.md")
    (id,) = waiting(mem)
    mem("inbox", "--accept", id)
    for _ in range(2):
        assert "git mem inbox" in mem("undo").err
        assert waiting(mem) == [id]
        assert mem("show", id, "--json").json[0]["store"] == "private"
        mem("undo", "--redo")
        assert waiting(mem) == []
        assert mem("show", id, "--json").json[0]["store"] == "shared"
    mem("undo")
    mem("inbox", "--accept", id)
    assert [(row["id"], row["store"]) for row in mem("list", "--json").json] == [(id, "shared")]


def test_a_proposal_is_listed_with_its_reason(mem: Mem) -> None:
    """Why, and where that was said."""
    (mem.folder / "n.md").write_text(
        "Decision: tabs for the Makefile, because make wants them there\n", encoding="utf-8"
    )
    mem("extract", "--save", "n.md")
    out = mem("inbox").out
    assert "make wants them there" in out
    assert "Evidence: " in out


def test_outside_of_a_repository(outside: Mem) -> None:
    """It says so."""
    outside("inbox", code=1)


# -- on a terminal


def _own_terminal() -> None:
    """Have Ctrl-C reach the child, also when these tests run in the background, where it is ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class Talk:
    """`git mem inbox` on a terminal of its own, answered prompt by prompt."""

    def __init__(self, folder: Path, env: dict[str, str]) -> None:
        self.master, slave = pty.openpty()
        full = {**os.environ, "PATH": venv_path(), "TERM": "xterm", **env}
        self.child = subprocess.Popen(
            [sys.executable, "-P", "-m", "gitmem", "inbox"],
            cwd=folder,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=full,
            start_new_session=True,
            preexec_fn=_own_terminal,
        )
        os.close(slave)
        self.text = ""

    def read(self, until: str = "", impatient: str = "") -> str:
        """Return what appears up to a prompt, or to the end; keys that seem to be lost are pressed again, as people do."""
        new = b""
        end = time.monotonic() + 60
        again = time.monotonic() + 5
        while time.monotonic() < end:
            if not select.select([self.master], [], [], 0.2)[0]:
                if impatient and time.monotonic() > again:
                    again += 5
                    os.write(self.master, impatient.encode())
                continue
            try:
                piece = os.read(self.master, 65536)
            except OSError:
                break
            if not piece:
                break
            new += piece
            if until and new.endswith(until.encode()):
                break
        else:
            self.child.kill()
            raise AssertionError(f"no {until!r} came: {new!r}")
        text = new.decode("utf-8", "replace").replace("\r\n", "\n")
        self.text += text
        return text

    def press(self, key: str, until: str = "? ") -> str:
        """Send keys; return what appears up to the next prompt."""
        self.write(key)
        return self.read(until)

    def write(self, key: str) -> None:
        """Type when a key is waited for: what is typed before is thrown away, so that nobody answers what is not yet asked."""
        end = time.monotonic() + 30
        while (
            self.text.endswith("? ")
            and termios.tcgetattr(self.master)[3] & termios.ICANON
            and time.monotonic() < end
        ):
            time.sleep(0.005)
        os.write(self.master, key.encode())

    def end(self, key: str, code: int = 0) -> str:
        """Send the last key; return all that appeared."""
        self.write(key)
        # between a prompt and its read(2), Python only notes a signal
        self.read(impatient="\x03" if key == "\x03" else "")
        assert self.child.wait(30) == code, self.text
        assert "Traceback" not in self.text
        return self.text


@pytest.fixture
def talk(mem: Mem):
    """Start `git mem inbox` on a terminal."""
    made: list[Talk] = []

    def start(**env: str) -> Talk:
        made.append(Talk(mem.folder, env))
        made[-1].read("? ")
        return made[-1]

    yield start
    for one in made:
        if one.child.poll() is None:
            one.child.kill()
            one.child.wait()
        os.close(one.master)


def test_keys(mem: Mem, three: list[str], talk: Callable[..., Talk]) -> None:
    """Accept, skip, reject: one key each, then it ends by itself."""
    one = talk()
    assert "1 of 3" in one.text
    assert "TypeError: unsupported operand type(s)" in one.text
    assert "2 of 3" in one.press("a")
    assert "3 of 3" in one.press("S")
    assert "rejected" in one.end("r")
    assert waiting(mem) == [three[1]]
    assert mem.show(three[0])["confirmed"]
    mem("undo")  # each answer is a command
    assert waiting(mem) == three[1:]


def test_merge_key(mem: Mem, three: list[str], talk: Callable[..., Talk]) -> None:
    """It asks into which; an empty answer and a wrong one come back to the question; the next card is up to date."""
    one = talk()
    assert one.press("m", "): ").endswith("(empty: none): ")
    one.press("\n")
    one.press("m", "): ")
    assert "no record matches" in one.press("zzzzzzzz\n")
    one.press("m", "): ")
    assert "cannot be merged into itself" in one.press(three[0][-8:] + "\n")
    one.press("m", "): ")
    after = one.press(three[1][-8:] + "\n")
    assert "merged into" in after
    assert "2 of 3" in after
    assert "seen 10×" in after
    one.end("q")
    assert waiting(mem) == [three[1], three[2]]


def test_edit_key(
    mem: Mem, three: list[str], talk: Callable[..., Talk], editor: Callable[[str], dict[str, str]]
) -> None:
    """What the editor leaves is saved, and the same one is asked about again."""
    one = talk(
        **editor(
            "text = text.replace('# TypeError: unsupported', '# Sum of text and numbers: unsupported')"
        )
    )
    after = one.press("e")
    assert "changed" in after
    assert "2 of 3" not in after
    assert "2 of 3" in one.press("a")
    one.end("q")
    full = mem.show(three[0])
    assert full["title"].startswith("Sum of text and numbers")
    assert full["confirmed"]


@pytest.mark.parametrize(
    "statement",
    [
        "raise SystemExit(3)",
        "text = 'nothing that is a record'",
        "text = text.replace('id: got-', 'id: mem-')",
    ],
)
def test_edit_that_fails(
    mem: Mem,
    three: list[str],
    talk: Callable[..., Talk],
    editor: Callable[[str], dict[str, str]],
    statement: str,
) -> None:
    """The record is as it was, and the inbox goes on."""
    before = tip(mem.folder)
    one = talk(**editor(statement))
    after = one.press("e", "? " if "Exit" in statement else "]: ")
    if "Exit" not in statement:
        one.press("n\n")
    assert "1 of 3" not in after
    one.end("q")
    assert tip(mem.folder) == before


@pytest.mark.parametrize("key", ["q", "Q", "\x04", "\x1b"])
def test_keys_that_end(mem: Mem, three: list[str], talk: Callable[..., Talk], key: str) -> None:
    """Quit, Ctrl-D, Escape: exit code 0, nothing changed."""
    before = tip(mem.folder)
    talk().end(key)
    assert tip(mem.folder) == before


def test_interrupt(mem: Mem, three: list[str], talk: Callable[..., Talk]) -> None:
    """Ctrl-C at either question: what was done stays done, no traceback."""
    one = talk()
    one.press("a")
    one.end("\x03", 130)
    one = talk()
    one.press("m", "): ")
    one.end("\x03", 130)
    assert waiting(mem) == three[1:]


def test_unknown_keys_ask_again(mem: Mem, three: list[str], talk: Callable[..., Talk]) -> None:
    """Letters, arrows, a paste, what is not a character: nothing is done."""
    before = tip(mem.folder)
    one = talk()
    for key in ("x", "ä", "\x1b[A", "\x7f", "\r", "aaaa", "\t", " "):
        assert "2 of 3" not in one.press(key)
    one.end("q")
    assert tip(mem.folder) == before


def test_gone_meanwhile_is_passed_over(
    mem: Mem, three: list[str], talk: Callable[..., Talk]
) -> None:
    """Another process has dealt with the next one: it is not asked about."""
    one = talk()
    mem("inbox", "--reject", three[1])
    assert "3 of 3" in one.press("s")
    one.end("q")


def test_this_one_gone_meanwhile(mem: Mem, three: list[str], talk: Callable[..., Talk]) -> None:
    """It says what happened and asks again."""
    one = talk()
    mem("forget", three[0])
    assert "1 of 3" not in one.press("a")
    assert "2 of 3" in one.press("s")
    one.end("q")


def test_hostile_text_on_a_terminal(mem: Mem, talk: Callable[..., Talk]) -> None:
    """Title, place and text of an error are shown, not obeyed."""
    id = capture(mem, "OSError: \x1b]0;title\x07 \u202eevil broken")
    mem(
        "edit",
        id,
        "--workaround",
        "run \u202ermfr \u2066x",
        "-m",
        "body \x9b31m \u202e here",
        env={"CLAUDECODE": "1"},
    )
    text = talk(NO_COLOR="1").end("q").replace("\x1b[K", "")  # the end of a progress line
    assert text.count("rmfr") == 1
    assert not set("\x1b\x07\u202e\u2066\x9b") & set(text)


def test_not_asked_in_a_pipe(mem: Mem, three: list[str]) -> None:
    """In a script it lists, and says how to go on; no colours."""
    done = spawn(mem.folder, "inbox")
    assert "--accept ID" in done.err
    assert "\x1b" not in done.out
    assert checked(done, ("inbox",), 0).out.count("(unconfirmed, private)") == 3


def noted(mem: Mem, text: str) -> str:
    """Note something in a session that ends; return the proposal that waits then."""
    mem("session", "start")
    mem("session", "note", text)
    mem("session", "end")
    (waits,) = mem("inbox", "--json").json
    return str(waits["id"])


def test_what_was_noted_by_hand_and_is_rejected_leaves_every_view(mem: Mem) -> None:
    id = noted(mem, "Decision: Use gRPC between the services")
    mem("inbox", "--reject", id)
    assert "gRPC" not in mem("page", "summary").out + mem("session", "briefing").out


def test_what_a_person_reworded_is_accepted_into_the_shared_store(mem: Mem) -> None:
    """Its words are confirmed by the edit; accepting shares it, once."""
    id = noted(mem, "Decision: Use gRPC between the services")
    mem("edit", id, "--title", "Use gRPC inside of the cluster")
    mem("inbox", "--accept", id)
    assert (mem.show(id)["store"], "unconfirmed" in mem.show(id)) == ("shared", False)
    assert "was already accepted" in mem("inbox", "--accept", id).out


def test_a_task_that_is_open_again_can_be_done_again(mem: Mem) -> None:
    id = mem.add("Rotate the keys", "-t", "task")
    for _ in range(2):
        mem("done", id)
        assert mem.show(id)["completion"]["by"]
        mem("restore", id)
        assert "completion" not in mem.show(id)
    assert "only tasks are done" in mem("done", mem.add("Use pnpm"), code=1).err


def test_what_was_rejected_is_not_accepted_without_a_word(mem: Mem) -> None:
    id = noted(mem, "Decision: Use gRPC between the services")
    mem("inbox", "--reject", id)
    said = mem("inbox", "--accept", id, code=1).err
    assert "was rejected or forgotten on" in said and f"git mem restore {id}" in said
    mem("restore", id)
    assert [one["id"] for one in mem("inbox", "--json").json] == [id]
    mem("inbox", "--accept", id)
