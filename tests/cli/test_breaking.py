"""What goes wrong in the world: each time a clear message on stderr, the right exit code, and nothing half-written."""

import os
import pwd
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import SHARED, Done, Mem, checked, on_terminal, spawn, tip, venv_path
from tests.conftest import fsck, git
from tests.json_output import data_of

# -- ids and arguments


UNKNOWN = (
    "zzzzzzzz",
    "mem-01jzzzzzzzzzzzzzzzzzzzzz0z",
    "x",
    "",
    "%",
    "../../etc",
    "mem-",
    "ünï",
    "a b",
    "\n",
    "0" * 3000,
)


@pytest.mark.parametrize(
    "command",
    ["show", "edit", "pin", "pin --remove", "archive", "forget", "restore", "show --graph"],
)
def test_an_unknown_id(mem: Mem, command: str) -> None:
    """An id that names nothing is an error with a hint, whatever it looks like; nothing is written."""
    mem("add", "T")
    before = tip(mem.folder)
    for id in UNKNOWN:
        if command == "show --graph" and (not id or len(id) == 30):
            # without an id it shows everything, with a full one what links to it, there or not
            continue
        done = mem(
            *command.split(), *(["--tag", "x"] if command == "edit" else []), "--", id, code=1
        )
        assert done.out == "", id
        assert "hint: " in done.err, id

    assert tip(mem.folder) == before


def test_an_ambiguous_id(mem: Mem) -> None:
    """Two records made in one second share a beginning: both are named, none is taken."""
    one, two = mem.add("one"), mem.add("two")
    for command in ("show", "pin", "forget"):
        done = mem(command, one[:10], code=1)
        assert "2 records match" in done.err
        assert one in done.err
        assert two in done.err
    assert sorted(mem.titles()) == ["one", "two"]


WRONG: list[list[str]] = [
    ["frobnicate"],
    ["--frobnicate"],
    ["add", "--nope"],
    ["add", "T", "-t", "nonsense"],
    ["add", "T", "-i", "11"],
    ["add", "T", "-i", "x"],
    ["add", "T", "-k", "nonsense"],
    ["add", "T", "--severity", "high"],
    ["add", "T", "-F", "/nonexistent"],
    ["show"],
    ["edit"],
    ["search"],
    ["list", "extra"],
    ["list", "-n", "-1"],
    ["list", "--sort", "x"],
    ["list", "--status", "gone"],
    ["log", "-n", "0"],
    ["log", "a", "b"],
    ["diff", "a", "b", "c"],
    ["link", "x"],
    ["pin"],
    ["forget"],
    ["show", "--graph", "--depth", "99"],
    ["remote", "frob"],
    ["remote", "enable"],
    ["sync", "a", "b"],
    ["config", "a", "b", "c"],
    ["--color", "pink", "list"],
    ["-C"],
    ["completion"],
]


def test_wrong_usage_exits_2(mem: Mem) -> None:
    """Wrong arguments: exit 2, the usage on stderr, nothing on stdout, nothing written."""
    for args in WRONG:
        assert mem(*args, code=2).out == "", args

    assert tip(mem.folder) == ""


def test_exit_codes_and_streams_of_the_process(mem: Mem) -> None:
    """0 with data on stdout, 1 and 2 with the reason on stderr, as a process and through git."""
    for through_git in (False, True):
        done = spawn(mem.folder, "add", "T", "--json", through_git=through_git)
        assert (done.err, done.json["title"]) == ("", "T")
        done = spawn(mem.folder, "show", "zzzzzzzz", code=1, through_git=through_git)
        assert (done.out, done.err.splitlines()[0]) == ("", "error: no record matches 'zzzzzzzz'.")
        assert spawn(mem.folder, "pin", code=2, through_git=through_git).out == ""


# -- places


READS = (
    ["list"],
    ["search", "x"],
    ["log"],
    ["status"],
    ["doctor"],
    ["show", "--graph"],
    ["restore", "--list"],
    ["config"],
    ["remote"],
)
WRITES = (
    ["add", "T"],
    ["init"],
    ["undo"],
    ["sync"],
    ["uninstall", "--wipe", "--yes"],
    ["forget", "--purge", "zzzzzzzz", "--yes"],
)


@pytest.mark.parametrize("args", [*READS, *WRITES])
def test_not_a_repository(outside: Mem, args: list[str]) -> None:
    """Outside of a repository each command says so, and what to do."""
    done = outside(*args, code=1)

    assert "is not in a git repository" in done.err
    assert "git init" in done.err
    assert done.out == ""


def test_a_folder_that_is_not_there(mem: Mem, tmp_path: Path) -> None:
    """A wrong -C, a wrong GIT_DIR and a folder that was removed are told apart."""
    assert "nonexistent" in mem("-C", "nonexistent", "list", code=1).err
    assert "-C" in mem("-C", "code.py", "list", code=1).err
    assert "GIT_DIR" in mem("list", code=1, env={"GIT_DIR": str(tmp_path / "nowhere")}).err
    gone = tmp_path / "gone"
    script = f"mkdir {gone} && cd {gone} && rmdir {gone} && exec {sys.executable} -P -m gitmem list"
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False)
    checked(Done(done.returncode, done.stdout, done.stderr), ("list",), 1)


@pytest.mark.parametrize("kind", ["bare", "worktree", "gitdir", "submodule", "shallow", "sha256"])
def test_every_sort_of_repository(mem: Mem, make_repo: Callable[..., Path], kind: str) -> None:
    """The main commands work wherever git works."""
    there = mem.at(make_repo(kind))
    there("init")
    id = there.add("T", "-m", "text")
    there("edit", id[-8:], "--tag", "x")
    assert there("search", "text", "--json").json[0]["id"] == id
    assert there.show(id)["tags"] == ["x"]
    assert len(there("log", id, "--json").json) == 2
    there("forget", id)
    there("undo")
    assert there.titles() == ["T"]
    assert there("status").out.startswith("shared   1 memory")
    there("doctor")


def test_worktrees_share_a_store(mem: Mem, tmp_path: Path) -> None:
    """What is remembered in one work tree is there in the other; an anchor is meant from where one is."""
    git(mem.folder, "worktree", "add", "-q", str(tmp_path / "other"))
    other = mem.at(tmp_path / "other")
    (other.folder / "only-here.py").write_text("x = 1\n")
    id = other.add("T", "--anchor", "only-here.py:1")

    assert mem.show(id)["anchors"][0]["path"] == "only-here.py"
    assert other.titles("--file", "only-here.py") == ["T"]
    assert git(other.folder, "status", "--porcelain") == "?? only-here.py"


def test_a_detached_head(mem: Mem) -> None:
    """Memory does not depend on a branch."""
    git(mem.folder, "checkout", "-q", "--detach")
    id = mem.add("T", "--anchor", "code.py:1")

    assert mem.show(id)["anchors"][0]["commit"] == git(mem.folder, "rev-parse", "HEAD")
    assert mem.titles() == ["T"]


def test_a_repository_without_commits(mem: Mem, tmp_path: Path) -> None:
    """A project that has just begun can already remember."""
    git(tmp_path, "init", "-q", "young")
    young = mem.at(tmp_path / "young")
    for args in READS:
        young(*args)
    (young.folder / "a.py").write_text("x = 1\n")
    id = young.add("T", "--anchor", "a.py:1")

    assert "commit" not in young.show(id)["anchors"][0]
    assert git(young.folder, "status", "--porcelain") == "?? a.py"
    assert young("undo").out.startswith("took back")


def test_without_a_name(mem: Mem, monkeypatch: pytest.MonkeyPatch) -> None:
    """No user.name: memory is written all the same, by the account."""
    for key in ("USER", "LOGNAME"):
        monkeypatch.delenv(key, raising=False)
    git(mem.folder, "config", "user.useConfigOnly", "true")
    id = mem.add("T")

    account = pwd.getpwuid(os.geteuid()).pw_name
    assert mem.show(id)["author"].startswith(f"{account} <{account}@")
    assert git(mem.folder, "log", "-1", "--format=%an %cn", SHARED) == f"{account} {account}"


def test_the_author_is_gits(mem: Mem) -> None:
    """The name is the committer's, the environment's first; one that breaks a commit's header is made harmless."""
    git(mem.folder, "config", "user.name", "Grace Hopper")
    git(mem.folder, "config", "user.email", "grace@example.org")
    assert mem.show(mem.add("T"))["author"] == "Grace Hopper <grace@example.org>"

    for role, author in (
        ("COMMITTER", "Ada <ada@example.org>"),
        ("AUTHOR", "Grace Hopper <grace@example.org>"),
    ):
        env = {f"GIT_{role}_NAME": "Ada", f"GIT_{role}_EMAIL": "ada@example.org"}
        assert mem.show(mem("add", "U", "--json", env=env).json["id"])["author"] == author
    mem("add", "V", env={"GIT_COMMITTER_NAME": "a <b> \n c", "GIT_COMMITTER_EMAIL": "<x>"})
    assert fsck(mem.folder) == ""


# -- a disk that says no


def test_our_folder_cannot_be_made(mem: Mem) -> None:
    """A file stands where the folder should be: writing is a clear error, reading works."""
    id = mem.add("T")
    before = tip(mem.folder)
    home = mem.folder / ".git" / "gitmem"
    home.rename(home.with_name("aside"))
    home.write_text("in the way")
    assert "cannot write" in mem("add", "U", code=1).err

    assert tip(mem.folder) == before
    assert mem.titles() == ["T"]
    assert mem.show(id)["title"] == "T"
    assert mem("search", "T").code == 0
    assert mem("log").code == 0


def test_the_ref_cannot_be_written(mem: Mem) -> None:
    """A file stands where the ref's folder should be: the write waits in the journal, says so, and is committed when it can be."""
    (mem.folder / ".git" / "refs" / "gitmem").write_text("in the way")
    assert "saved in the journal" in mem("add", "T").out
    assert git(mem.folder, "for-each-ref", "refs/gitmem") == ""
    assert mem("status", "--json").json["journal_count"] == 1

    (mem.folder / ".git" / "refs" / "gitmem").unlink()
    mem("add", "U", ago=-60)
    assert mem.titles() == ["U", "T"]
    assert mem("status", "--json").json["journal_count"] == 0


def test_a_format_of_the_future(mem: Mem) -> None:
    """A store that a newer version wrote is refused, not read as empty."""
    mem("add", "T")
    blob = git(mem.folder, "hash-object", "-w", "--stdin", stdin=b'{"format": 99}\n')
    tree = git(mem.folder, "mktree", stdin=f"100644 blob {blob}\tgitmem.json\n".encode())
    git(
        mem.folder,
        "update-ref",
        SHARED,
        git(mem.folder, "commit-tree", tree, "-p", SHARED, "-m", "future"),
    )
    before = tip(mem.folder)

    for args in (["list"], ["add", "U"], ["doctor"]):
        done = mem(*args, code=1)
        assert "format 99" in done.out + done.err
    assert tip(mem.folder) == before


def test_a_foreign_repository(mem: Mem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A repository of another user: the exact line that git wants, and once it was run, everything works."""
    folder = tmp_path / "foreign repo"
    git(tmp_path, "init", "-q", str(folder))
    if os.geteuid() == 0:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, 54321, 54321)
    else:  # nobody else's files can be made: git's own test switch, and another uid of ours
        real = subprocess.run(
            ["sh", "-c", "command -v git"], capture_output=True, text=True, check=True
        ).stdout.strip()
        (tmp_path / "bin").mkdir()
        (tmp_path / "bin" / "git").write_text(
            f'#!/bin/sh\nGIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec {real} "$@"\n'
        )
        (tmp_path / "bin" / "git").chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
        monkeypatch.setattr(os, "geteuid", lambda: 54321)
    there = mem.at(folder)
    done = there("list", code=1)

    hint = next(line for line in done.err.splitlines() if line.startswith("hint: "))
    command = hint.partition("run: ")[2]
    assert shlex.split(command) == [
        "git",
        "config",
        "--global",
        "--add",
        "safe.directory",
        str(folder),
    ]
    assert "another user" in done.err
    subprocess.run(command, shell=True, check=True)
    there("add", "T")
    assert there.titles() == ["T"]


# -- hostile text


@pytest.mark.parametrize(
    "name",
    [
        "with space",
        "emoji 🎉",
        "new\nline",
        "quote'\"",
        "-dash",
        "ünïcödé",
        "dollar$(x)",
        "percent%41",
        "a#b?c",
    ],
)
def test_a_folder_of_any_name(mem: Mem, tmp_path: Path, name: str) -> None:
    """A repository may be called anything, and so may a file in it."""
    folder = tmp_path / name
    git(tmp_path, "init", "-q", "--", str(folder))
    (folder / "a b🎉.py").write_text("x = 1\n")
    there = mem.at(folder)
    id = there.add("T", "--anchor", "a b🎉.py:1")

    assert there.show(id)["anchors"][0]["path"] == "a b🎉.py"
    assert there.titles("--file", "a b🎉.py") == ["T"]
    assert there("status", "--json").json["folder"] == str(folder)
    there("search", "T")
    there("sync", "--bundle", "out.bundle")
    there("doctor")


@pytest.mark.parametrize(
    "title",
    [
        "emoji 🎉 日本",
        "# looks like a heading",
        "---",
        "quote \" ' \\",
        "a: b",
        "@{x}",
        "tab\there",
        "{id}",
        "-",
        "%s",
        "combining e\u0301",
        "\u200fright",
        "null",
        "*bold*",
    ],
)
def test_a_title_of_any_text(mem: Mem, title: str) -> None:
    """A title comes back as it was, in Unicode's composed form and without blanks at its ends."""
    import unicodedata

    id = mem("add", "--json", "--", title).json["id"]

    assert mem.show(id)["title"] == unicodedata.normalize("NFC", title).replace("\t", " ")
    assert mem("list").out.count("\n") == 1
    mem("doctor")


def test_a_title_of_two_lines(mem: Mem) -> None:
    """A title is one line: either it is made one, or refused; never a broken record."""
    done = mem("add", "two\nlines", code=None)

    assert done.code in {0, 1}
    assert mem("list").out.count("\n") == (1 if done.code == 0 else 0)
    mem("doctor")


@pytest.mark.parametrize(
    ("args", "stdin"),
    [
        (["x" * 400], b""),
        (["T", "-m", "-"], b"x" * 70_000),
        (["T", "--tag", "t" * 70_000], b""),
        (["T", "-m", "-"], b"a\0b"),
    ],
)
def test_too_much_text(mem: Mem, args: list[str], stdin: bytes) -> None:
    """What does not fit into a record is refused with the limit, or cleaned; the store stays sound."""
    done = mem("add", *args, stdin=stdin, code=None)

    assert done.code in {0, 1}
    assert len(mem.titles()) == (done.code == 0)
    mem("doctor")


def run_bytes(folder: str | bytes | Path, *args: bytes) -> Done:
    """Run `git mem` with arguments that need not be UTF-8."""
    done = subprocess.run(
        [sys.executable, "-P", "-m", "gitmem", *args], cwd=folder, capture_output=True, check=False
    )
    return checked(
        Done(
            done.returncode,
            done.stdout.decode("utf-8", "replace"),
            done.stderr.decode("utf-8", "replace"),
        ),
        ("bytes",),
        None,
    )


def test_input_that_is_no_utf8(mem: Mem) -> None:
    """Latin-1 from a file or a pipe is refused with a way out; nothing is stored."""
    (mem.folder / "latin.txt").write_bytes("café".encode("latin-1"))
    assert "UTF-8" in mem("add", "T", "-F", "latin.txt", code=1).err
    for locale in ("C", "C.UTF-8"):
        assert (
            "UTF-8"
            in spawn(
                mem.folder, "add", "T", "-m", "-", stdin=b"caf\xe9", code=1, env={"LC_ALL": locale}
            ).err
        )

    assert tip(mem.folder) == ""


def test_arguments_that_are_no_utf8(mem: Mem) -> None:
    """Latin-1 on the command line never breaks a command or the store."""
    for args in (
        [b"add", b"caf\xe9"],
        [b"add", b"T", b"-m", b"caf\xe9", b"--tag", b"\xe9"],
        [b"search", b"caf\xe9"],
        [b"show", b"caf\xe9\xe9\xe9\xe9"],
        [b"list", b"--tag", b"\xe9"],
    ):
        run_bytes(mem.folder, *args)

    assert {row["id"] for row in mem("list", "--json").json} == {
        row["ids"][0] for row in mem("log", "--json").json if row["ids"]
    }
    mem("doctor")


def test_file_names_that_are_no_utf8(mem: Mem, tmp_path: Path) -> None:
    """A folder with such a name works; an anchor to such a file is refused or works, but never breaks the store."""
    folder = os.fsencode(tmp_path) + b"/caf\xe9"
    subprocess.run([b"git", b"init", b"-q", folder], check=True)
    Path(os.fsdecode(folder + b"/na\xefve.py")).write_text("x = 1\n")

    for args in (
        [b"add", b"T"],
        [b"list"],
        [b"init"],
        [b"status"],
        [b"status", b"--json"],
        [b"search", b"T"],
        [b"log"],
        [b"doctor"],
    ):
        assert run_bytes(folder, *args).code == 0, args
    assert run_bytes(folder, b"add", b"U", b"--anchor", b"na\xefve.py:1").code in {0, 1}
    assert run_bytes(folder, b"list", b"--file", b"na\xefve.py").code in {0, 1}
    assert run_bytes(folder, b"doctor").code == 0


# -- streams


def test_a_closed_stdin(mem: Mem) -> None:
    """Without a stdin nothing is asked and nothing breaks."""
    base = f"{sys.executable} -P -m gitmem"
    for line, code in (
        (f"{base} add T <&-", 0),
        (f"{base} add <&-", 2),
        (f"{base} list <&-", 0),
        (f"{base} uninstall --wipe <&-", 1),
        (f"{base} add T -m - <&-", None),
    ):
        done = subprocess.run(
            ["sh", "-c", line], cwd=mem.folder, capture_output=True, text=True, check=False
        )
        checked(Done(done.returncode, done.stdout, done.stderr), (line,), code)

    assert "T" in mem.titles()


def test_a_reader_that_goes_away(mem: Mem) -> None:
    """`| head -1` ends the command without a word, and a closed stdout does not break it."""
    for n in range(4):
        mem("add", f"T{n}", "-m", "-", stdin=b"some longer line of text\n" * 2000)
    base = f"{sys.executable} -P -m gitmem"
    for command in (
        "log -p",
        "list",
        "show " + " ".join(r["id"] for r in mem("list", "--json").json),
        "list --json",
    ):
        done = subprocess.run(
            ["bash", "-c", f"{base} {command} | head -1; exit ${{PIPESTATUS[0]}}"],
            cwd=mem.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, ""), command
        assert done.stdout.count("\n") == 1
    done = subprocess.run(
        ["bash", "-c", f"{base} list >&-"],
        cwd=mem.folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr
    assert "fault of git mem" not in done.stderr


def test_ctrl_c(mem: Mem, tmp_path: Path) -> None:
    """An interrupted command ends at once with 130 and one word, and so does what it started."""
    mark = tmp_path / "ssh-runs"
    ssh = tmp_path / "slow-ssh"
    ssh.write_text(f"#!/bin/sh\necho $$ > {mark}.new && mv {mark}.new {mark}\nexec sleep 60\n")
    ssh.chmod(0o755)
    mem("add", "T")
    git(mem.folder, "remote", "add", "origin", "ssh://example.invalid/x.git")
    mem("remote", "enable", "origin", "--yes")
    before = tip(mem.folder)
    env = {**os.environ, "GIT_SSH_COMMAND": str(ssh), "GIT_SSH_VARIANT": "ssh"}
    child = subprocess.Popen(
        [sys.executable, "-P", "-m", "gitmem", "sync"],
        cwd=mem.folder,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # a background job's children would ignore it
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    end = time.monotonic() + 120
    while not mark.exists() and time.monotonic() < end:
        time.sleep(0.02)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=20)

    assert (child.returncode, out, err.strip()) == (130, "", "interrupted.")
    assert tip(mem.folder) == before
    end = time.monotonic() + 30
    while time.monotonic() < end and _alive(int(mark.read_text())):
        time.sleep(0.05)
    assert not _alive(int(mark.read_text()))


def _alive(pid: int) -> bool:
    """Say whether a process runs; one that only waits to be buried does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize(
    "command", [["list"], ["log"], ["search", "T"], ["diff"], ["log", "--oneline"]]
)
def test_colour_is_for_terminals(mem: Mem, command: list[str]) -> None:
    """Colours appear on a terminal, not in a pipe; --color, NO_COLOR and a dumb terminal have their say."""
    mem("add", "T")

    assert "\033[" in on_terminal(mem.folder, *command, env={"GIT_PAGER": "cat"})
    for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert "\033[" not in on_terminal(mem.folder, *command, env={"GIT_PAGER": "cat", **env})
    assert "\033[" not in on_terminal(
        mem.folder, "--color", "never", *command, env={"GIT_PAGER": "cat"}
    )
    assert "\033[" not in spawn(mem.folder, *command).out
    assert "\033[" in mem("--color", "always", *command).out


def test_the_pager_is_for_terminals(mem: Mem) -> None:
    """Long output goes through the user's pager on a terminal only, found as git finds it."""
    mem("add", "T")
    pager = "sed s/^/PAGED:/"
    assert "PAGED:" in on_terminal(mem.folder, "list", env={"GIT_PAGER": pager})
    assert "PAGED:" in on_terminal(mem.folder, "list", env={"PAGER": pager})
    assert "PAGED:" not in on_terminal(mem.folder, "--no-pager", "list", env={"GIT_PAGER": pager})
    assert "PAGED:" not in on_terminal(mem.folder, "list", "--json", env={"GIT_PAGER": pager})
    assert "PAGED:" not in spawn(mem.folder, "list", env={"GIT_PAGER": pager}).out
    git(mem.folder, "config", "core.pager", pager)
    assert "PAGED:" not in on_terminal(mem.folder, "list", env={"PAGER": "cat"}), (
        "anybody may have written the repository's file"
    )
    git(mem.folder, "config", "--global", "core.pager", pager)
    assert "PAGED:" in on_terminal(mem.folder, "list", env={"PAGER": "cat"})
    assert "T" not in on_terminal(mem.folder, "list", env={"GIT_PAGER": "true"})


def test_the_process_is_found_through_git(mem: Mem) -> None:
    """`git -C DIR mem` works like every git command, from any folder of the repository."""
    (mem.folder / "deep" / "er").mkdir(parents=True)
    env = {**os.environ, "PATH": venv_path()}
    for args in (["-C", "deep/er", "mem", "add", "T"], ["mem", "-C", "deep", "list"]):
        subprocess.run(["git", *args], cwd=mem.folder, env=env, check=True, capture_output=True)

    assert mem.at(mem.folder / "deep").titles() == ["T"]


def test_argument_that_is_not_utf8_is_refused(repo: Path) -> None:
    """Stored text is UTF-8; what cannot be is said, not silently changed. A file may have any name."""
    command = [sys.executable, "-P", "-m", "gitmem", "-C", str(repo)]
    done = subprocess.run([*command, "add", b"caf\xe9"], capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"not UTF-8" in done.stderr
    name = os.fsencode(repo) + b"/caf\xe9.txt"
    with open(name, "w", encoding="utf-8") as file:
        file.write("text")
    assert (
        subprocess.run(
            [*command, "add", "Title", "-F", name], capture_output=True, check=False
        ).returncode
        == 0
    )


def test_title_that_is_too_much_loses_nothing(mem: Mem) -> None:
    """Its first line is the title; the rest, or all of one that is too long, is text."""
    done = mem("add", "First line\nsecond line", "-m", "the text", "--json")
    shown = mem("show", "--raw", data_of(done.out)["id"]).out
    assert "# First line\n\nsecond line\n\nthe text\n" in shown
    done = mem("add", "word " * 100, "--json")
    assert "word " * 99 + "word" in mem("show", "--raw", data_of(done.out)["id"]).out


def test_id_that_is_not_there_is_no_date(mem: Mem) -> None:
    mem("add", "One")
    for text in ("zzzzzzzz", "tttttt", "z"):
        done = mem("log", text, code=1)
        assert "not a revision" in done.err, text
    assert mem("list", "--at", "yesterday").code == 0


@pytest.mark.parametrize("at", [253402300800, 2**40, 2**63 - 1])
def test_a_commit_of_a_time_beyond_all_calendars(mem: Mem, at: int) -> None:
    """Somebody's clock, or somebody's hand: everything that reads a history goes on, and so does writing."""
    mem("add", "one")
    tip = git(mem.folder, "rev-parse", SHARED)
    text = git(mem.folder, "cat-file", "commit", tip)
    head, _, rest = text.partition("\ncommitter ")
    who, _, rest = rest.partition("> ")
    raw = f"{head}\ncommitter {who}> {at} +0000\n{rest.partition(chr(10))[2]}\n".encode()
    odd = git(mem.folder, "hash-object", "-t", "commit", "-w", "--stdin", "--literally", stdin=raw)
    git(mem.folder, "update-ref", SHARED, odd)
    for args in (
        ("status",),
        ("log",),
        ("log", "--json"),
        ("list",),
        ("doctor",),
        ("diff",),
    ):
        mem(*args, code=None)
        assert mem(*args, code=None).code == 0, args
    mem("add", "two")
    assert [row["title"] for row in mem("list", "--json").json] == ["two", "one"]
    assert mem("log").code == 0
