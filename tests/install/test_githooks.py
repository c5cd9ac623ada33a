"""`git mem install git-hooks`: beside hooks that are there, wherever git looks for them; they never fail and never wait."""

import os
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.install.disk import Disk
from gitmem.repo import sequences
from tests.cli.conftest import Mem
from tests.conftest import git
from tests.install.conftest import BIN

ALL = (
    "pre-commit",
    "prepare-commit-msg",
    "post-commit",
    "post-merge",
    "post-checkout",
    "post-rewrite",
    "pre-push",
)
NAMES = ("pre-commit", "post-commit", "post-merge", "post-checkout", "post-rewrite", "pre-push")
OURS = "git-mem git-hook"


def hook(path: Path, text: str, mode: int = 0o755) -> bytes:
    """Write a hook of somebody else; return its bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return path.read_bytes()


def until(true: Callable[[], bool], seconds: float = 20) -> bool:
    """Wait for what a process in the background does."""
    end = time.monotonic() + seconds
    while not true() and time.monotonic() < end:
        time.sleep(0.05)
    return true()


def files(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Return the files of a folder with their modes."""
    return {
        path.name: (stat.S_IMODE(path.stat().st_mode), path.read_bytes())
        for path in sorted(folder.iterdir())
        if path.is_file()
    }


def test_they_come_and_go(mem: Mem, repo: Path) -> None:
    """Small scripts that can be run, one of them only with its setting; twice is once; none is left."""
    before = files(repo / ".git/hooks")
    mem("install", "git-hooks")
    assert not (repo / ".git/hooks/prepare-commit-msg").exists()
    mem("uninstall", "git-hooks")
    mem("config", "commitTrailer", "true")

    out = mem("install", "git-hooks").out
    made = files(repo / ".git/hooks")
    again = mem("install", "git-hooks").out
    (row,) = mem("install", "--list", "--json").json["installations"]
    mem("uninstall", "git-hooks")

    assert (
        f"the hooks of git: installed in {repo}/.git/hooks: {', '.join(ALL)}".replace(
            f"{repo}/", ""
        )
        in out
    )
    assert all(
        made[name][0] & 0o111 == 0o111 and made[name][1].startswith(b"#!/bin/sh\n") for name in ALL
    )
    assert "nothing changed" in again
    assert (row["target"], row["state"], row["scope"]) == ("git-hooks", "current", "local")
    assert files(repo / ".git/hooks") == before


@pytest.mark.parametrize(
    "text",
    [
        '#!/bin/sh\necho theirs "$@" >>"$LOG"\ncat >>"$LOG"\nexit 3\n',
        '#!/usr/bin/env bash\nset -eu\necho theirs "$@" >>"$LOG"; cat >>"$LOG"; exit 3',
        "#!/usr/bin/env -S python3\nimport os, sys\nprint('theirs', *sys.argv[1:], file=open(os.environ['LOG'], 'a'))\nopen(os.environ['LOG'], 'a').write(sys.stdin.read())\nsys.exit(3)\n",
        'echo theirs "$@" >>"$LOG"\ncat >>"$LOG"\nexit 3\n',
    ],
    ids=["sh", "bash", "python", "no-shebang"],
)
def test_a_hook_that_is_there_goes_on(
    mem: Mem, repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    """It gets its arguments and its input, its exit code counts, and it comes back to the byte."""
    monkeypatch.setenv("LOG", str(tmp_path / "log"))
    path = repo / ".git/hooks/pre-push"
    before = hook(path, text)
    git(tmp_path, "init", "-q", "--bare", "hub.git")

    mem("install", "git-hooks")
    done = subprocess.run(
        ["git", "push", str(tmp_path / "hub.git"), "HEAD:refs/heads/x"],
        cwd=repo,
        capture_output=True,
        check=False,
    )
    said = (tmp_path / "log").read_text()
    mem("install", "git-hooks")
    mem("uninstall", "git-hooks")

    assert done.returncode != 0
    assert said.startswith(f"theirs {tmp_path}/hub.git") and "refs/heads/x" in said
    assert path.read_bytes() == before and os.access(path, os.X_OK)
    assert not (path.parent / "pre-push.before-git-mem").exists()


def test_a_hook_that_changed_since_loses_our_lines_alone(mem: Mem, repo: Path) -> None:
    """What somebody wrote below them stays."""
    path = repo / ".git/hooks/post-commit"
    mem("install", "git-hooks")
    path.write_text(path.read_text() + "echo mine\n")

    mem("uninstall", "git-hooks")

    assert path.read_text() == "#!/bin/sh\necho mine\n"


def test_one_that_git_does_not_run_is_not_woken(mem: Mem, repo: Path) -> None:
    """A hook without its executable bit was switched off by somebody."""
    before = hook(repo / ".git/hooks/post-merge", "#!/bin/sh\nrm -rf /\n", 0o644)

    done = mem("install", "git-hooks", code=1)

    assert "not executable" in done.err
    assert (repo / ".git/hooks/post-merge").read_bytes() == before
    assert not (repo / ".git/hooks/post-commit").exists()


def test_worktrees_share_them_and_bare_repositories_have_none(
    mem: Mem, repo: Path, make_repo: Callable[..., Path], tmp_path: Path
) -> None:
    """Installed from a linked work tree they are the repository's."""
    git(repo, "worktree", "add", "-q", str(tmp_path / "tree"))

    mem.at(tmp_path / "tree")("install", "git-hooks")

    assert OURS in (repo / ".git/hooks/post-commit").read_text()
    assert "bare" in mem.at(make_repo("bare"))("install", "git-hooks", code=1).err


def test_a_folder_that_is_shared_needs_to_be_said(mem: Mem, repo: Path, home: Path) -> None:
    """core.hooksPath may lead to files of the repository, or to all repositories of the user."""
    git(repo, "config", "core.hooksPath", ".githooks")
    tracked = mem("install", "git-hooks", code=1).err
    mem("install", "git-hooks", "--project")
    text = (repo / ".githooks/post-commit").read_text()
    git(repo, "config", "core.hooksPath", str(home / "hooks"))
    everywhere = mem("install", "git-hooks", code=1).err
    mem("install", "git-hooks", "--user")

    assert "--project" in tracked and "--user" in everywhere
    assert str(BIN) not in text and 'PATH="$PATH:' in text
    assert str(BIN) in (home / "hooks/post-commit").read_text()


def test_husky(mem: Mem, repo: Path) -> None:
    """Its own folder is not shared; with --project ours go where its users write theirs."""
    hook(repo / ".husky/_/post-commit", '#!/usr/bin/env sh\n. "$(dirname "$0")/h"\n')
    hook(repo / ".husky/_/.gitignore", "*\n", 0o644)
    before = hook(repo / ".husky/pre-push", "npm test\n", 0o644)
    git(repo, "config", "core.hooksPath", ".husky/_")

    out = mem("install", "git-hooks").out
    mem("install", "git-hooks", "--project")
    text = (repo / ".husky/pre-push").read_text()
    mem("uninstall", "git-hooks", "--project")

    assert "husky writes this folder anew" in out
    assert OURS in (repo / ".husky/_/post-commit").read_text()
    assert OURS in text and text.endswith("npm test\n")
    assert (repo / ".husky/pre-push").read_bytes() == before
    assert sorted(os.listdir(repo / ".husky")) == ["_", "pre-push"]


def test_a_commit_brings_the_index_up_to_date(mem: Mem, repo: Path) -> None:
    """In the background: what waits in the journal is committed, and the index is made."""
    mem.add("something to index")
    index = repo / ".git/gitmem/index.db"
    mem("install", "git-hooks")
    index.unlink(missing_ok=True)

    git(repo, "commit", "-q", "--allow-empty", "-m", "next")

    assert until(index.exists)


@pytest.mark.parametrize("verb", ["cherry-pick", "revert"])
def test_the_last_of_several_picks_starts_the_drain(
    mem: Mem, repo: Path, tmp_path: Path, verb: str
) -> None:
    """Once, for all that were made: no hook of git runs after it."""
    mem.add("so that there is a store")
    log = tmp_path / "log"
    hook(tmp_path / "git-mem", f'#!/bin/sh\necho "$2" >>"{log}"\n')
    for number in range(3):
        (repo / f"file{number}").write_text("x\n")
        git(repo, "add", "-A")
        git(repo, "commit", "-qm", f"c{number}")
    if verb == "cherry-pick":
        git(repo, "checkout", "-q", "-b", "other", "HEAD~3")
    mem("install", "git-hooks")
    path = repo / ".git/hooks/post-commit"
    path.write_text(path.read_text().replace(str(BIN / "git-mem"), str(tmp_path / "git-mem")))
    options = ["--no-edit"] if verb == "revert" else []
    git(repo, verb, *options, "main~3..main")
    assert until(log.exists)
    time.sleep(0.3)
    assert log.read_text() == "post-commit\n"
    assert len((repo / ".git/gitmem/commits").read_text().splitlines()) == 3


@pytest.mark.parametrize(
    ("folder", "todo", "is_over"),
    [
        ("sequencer", "pick 1 a\n", True),
        ("sequencer", "# c\n\npick 1 a", True),
        ("sequencer", "pick 1 a\n# c\npick 2 b", False),
        ("sequencer", None, True),
        ("rebase-merge", "pick 1 a\n", False),
        ("rebase-apply", None, False),
    ],
)
def test_script_and_module_agree(
    mem: Mem, repo: Path, tmp_path: Path, folder: str, todo: str | None, is_over: bool
) -> None:
    """Both say alike whether a command of git goes on after a commit."""
    mem.add("so that there is a store")
    mem("install", "git-hooks")
    (repo / ".git" / folder).mkdir()
    if todo is not None:
        (repo / ".git" / folder / "todo").write_text(todo)
    assert sequences.is_under_way(str(repo / ".git"))
    assert sequences.goes_on(str(repo / ".git")) is not is_over
    log = tmp_path / "log"
    hook(tmp_path / "git-mem", f'#!/bin/sh\necho called >>"{log}"\n')
    path = repo / ".git/hooks/post-commit"
    path.write_text(path.read_text().replace(str(BIN / "git-mem"), str(tmp_path / "git-mem")))
    subprocess.run([str(path)], cwd=repo, check=True)
    assert until(log.exists, 20 if is_over else 0.3) is is_over


@pytest.mark.parametrize(
    "env", [{"GITMEM": "0"}, {"GIT_QUARANTINE_PATH": "/x"}], ids=["off", "quarantine"]
)
def test_they_can_be_turned_off(mem: Mem, repo: Path, env: dict[str, str]) -> None:
    """Nothing is started then."""
    mem.add("something to index")
    index = repo / ".git/gitmem/index.db"
    index.unlink(missing_ok=True)

    done = subprocess.run(
        [str(BIN / "git-mem"), "git-hook", "post-commit"],
        cwd=repo,
        env={**os.environ, **env},
        capture_output=True,
        check=False,
    )
    time.sleep(1)

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert not index.exists()


def test_without_memory_nothing_is_made(mem: Mem, repo: Path, tmp_path: Path) -> None:
    """A repository that has none stays as it is; outside of one it is not an error."""
    for folder in (repo, tmp_path):
        done = subprocess.run(
            [str(BIN / "git-mem"), "git-hook", "post-commit"],
            cwd=folder,
            capture_output=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, b"")

    assert not (repo / ".git/gitmem").exists()


@pytest.mark.parametrize("wanted", [True, False])
def test_a_push_exchanges_memory_when_asked_to(
    mem: Mem, repo: Path, tmp_path: Path, wanted: bool
) -> None:
    """With a remote that is enabled, and the setting; the push does not wait for it."""
    git(tmp_path, "init", "-q", "--bare", "hub.git")
    git(repo, "remote", "add", "origin", str(tmp_path / "hub.git"))
    mem.add("to be shared")
    mem("remote", "enable", "origin", "--yes")
    mem("config", "syncOnPush", str(wanted).lower())
    mem("install", "git-hooks")

    git(repo, "push", "-q", "origin", "HEAD:refs/heads/main")

    def shared() -> bool:
        return bool(git(tmp_path / "hub.git", "for-each-ref", "refs/gitmem"))

    assert until(shared, 20 if wanted else 2) == wanted


def test_git_does_not_wait(mem: Mem, repo: Path) -> None:
    """Even when git-mem hangs, and when it is gone."""
    slow = repo.parent / "bin" / "git-mem"
    hook(slow, "#!/bin/sh\nsleep 30\n")
    mem("install", "git-hooks")
    path = repo / ".git/hooks/post-commit"
    text = path.read_text()
    took = []
    for program in (slow, Path("/nowhere/git-mem")):
        path.write_text(text.replace(str(BIN / "git-mem"), str(program)))
        start = time.monotonic()
        done = subprocess.run(
            ["git", "commit", "-q", "--allow-empty", "-m", "x"],
            cwd=repo,
            capture_output=True,
            check=False,
            env={**os.environ, "EMAIL": "a@b"},
        )
        took.append(time.monotonic() - start)
        assert (done.returncode, done.stderr) == (0, b"")

    assert max(took) < 5


@pytest.mark.parametrize("text", ["#!/bin/sh\nexit 0\n", "#!/usr/bin/python3\n"])
def test_a_link_to_elsewhere_is_refused(mem: Mem, repo: Path, tmp_path: Path, text: str) -> None:
    """What it leads to may serve other repositories, or be tracked."""
    before = hook(tmp_path / "shared-hook", text)
    (repo / ".git/hooks/post-merge").symlink_to(tmp_path / "shared-hook")

    assert "is a link to" in mem("install", "git-hooks", code=1).err
    assert (tmp_path / "shared-hook").read_bytes() == before


def test_all_for_a_user_leaves_git_alone(mem: Mem, home: Path) -> None:
    """There are no hooks of git for all repositories, unless core.hooksPath says where."""
    (home / ".claude").mkdir()

    rows = mem("install", "all", "--user", "--json").json

    assert {row["target"] for row in rows} == {"claude"}


def commit(repo: Path, *args: str, **env: str) -> "subprocess.CompletedProcess[str]":
    """Commit as a person does; return what git said."""
    whole = {**os.environ, "EMAIL": "a@b", "GIT_AUTHOR_NAME": "A", "GIT_COMMITTER_NAME": "A", **env}
    return subprocess.run(
        ["git", "commit", "-q", "-m", "x", *args],
        cwd=repo,
        capture_output=True,
        text=True,
        check=False,
        env=whole,
    )


@pytest.fixture
def warned(mem: Mem, repo: Path) -> Path:
    """A repository with hooks, and a critical gotcha of a file."""
    mem(
        "gotcha",
        "add",
        "Charges twice on a retry",
        "--anchor",
        "code.py:1",
        "--severity",
        "critical",
        "--workaround",
        "Use the key",
    )
    mem("gotcha", "add", "Only a warning", "--anchor", "code.py:1")
    mem("gotcha", "add", "Never edit these", "--anchor", "migrations/**", "--severity", "critical")
    mem("drain")
    mem("install", "git-hooks")
    return repo


def test_critical_gotchas_of_staged_files_are_shown(mem: Mem, warned: Path) -> None:
    """Of those alone, and the commit is made; resolved ones are not shown, nor any when it is set off."""
    (warned / "code.py").write_text("changed = 1\n")
    done = commit(warned, "-a")
    assert done.returncode == 0
    assert (
        "1 critical gotcha of what you commit" in done.stderr
        and "code.py: Charges twice on a retry" in done.stderr
        and "Use the key" in done.stderr
    )
    assert "warning" not in done.stderr and "migrations" not in done.stderr
    (warned / "other.py").write_text("x = 1\n")
    git(warned, "add", "other.py")
    assert commit(warned).stderr == ""
    (warned / "migrations").mkdir()
    (warned / "migrations/1.sql").write_text("x\n")
    git(warned, "add", "migrations")
    assert "Never edit these" in commit(warned).stderr
    mem("config", "preCommit", "off")
    (warned / "code.py").write_text("changed = 2\n")
    assert commit(warned, "-a").stderr == ""


def test_a_commit_is_stopped_only_where_that_is_set(mem: Mem, warned: Path) -> None:
    """And then only by what somebody confirmed; `--no-verify` commits all the same; without git-mem nothing is stopped."""
    mem("config", "preCommit", "block")
    (warned / "code.py").write_text("changed = 1\n")
    done = commit(warned, "-a")
    assert (
        done.returncode == 1
        and "The commit was not made" in done.stderr
        and "--no-verify" in done.stderr
    )
    assert commit(warned, "-a", GITMEM="0").returncode == 0
    (warned / "code.py").write_text("changed = 2\n")
    assert commit(warned, "-a", "--no-verify").returncode == 0
    path = warned / ".git/hooks/pre-commit"
    path.write_text(path.read_text().replace(str(BIN / "git-mem"), "/nowhere/git-mem"))
    (warned / "code.py").write_text("changed = 3\n")
    done = commit(warned, "-a")
    assert (done.returncode, done.stderr) == (0, "")


def test_what_was_acknowledged_is_seen(mem: Mem, repo: Path, tmp_path: Path) -> None:
    """With no command in between: new, private, of a pattern, in the journal; resolved and snoozed ones stop nothing."""
    mem("install", "git-hooks")
    mem("config", "preCommit", "block")
    index = repo / ".git/gitmem/index.db"
    kept = tmp_path / "index.db"

    def add(title: str, *args: str) -> str:
        """Record a gotcha, and leave the index as it was before."""
        if index.exists():
            shutil.copy(index, kept)
        id: str = mem("gotcha", "add", title, "--severity", "critical", *args, "--json").json["id"]
        for path in index.parent.glob("index.db*"):
            path.unlink()
        if kept.exists():
            shutil.copy(kept, index)
        return id

    def stops(*args: str, change: bool = True) -> str:
        """Try to commit; return what stopped it."""
        if change:
            (repo / "code.py").write_text(f"changed = {time.time_ns()}\n")
        done = commit(repo, *(args or ("-a",)))
        assert (done.returncode == 1) == ("The commit was not made" in done.stderr), done.stderr
        return done.stderr if done.returncode else ""

    first = add("Charges twice", "--anchor", "code.py:1")
    assert "Charges twice" in stops()
    mem("gotcha", "resolve", first)
    shutil.copy(kept, index) if kept.exists() else index.unlink()
    assert stops() == ""
    second = add("Private one", "--anchor", "code.py:1", "--private")
    assert "Private one" in stops()
    mem("gotcha", "snooze", second)
    assert stops() == ""
    add("All of them", "--anchor", "*.py")
    assert "All of them" in stops("--", "code.py")
    git(repo, "checkout", "-q", "HEAD", "--", "code.py")
    git(repo, "mv", "code.py", "renamed.txt")
    third = add("Left behind", "--anchor", "code.py:1")
    assert "Left behind" in stops("--allow-empty", change=False)
    git(repo, "worktree", "add", "-q", str(tmp_path / "tree"))
    (tmp_path / "tree/code.py").write_text("changed = 1\n")
    assert "Left behind" in commit(tmp_path / "tree", "-a").stderr
    mem("gotcha", "resolve", third)


def test_an_index_that_cannot_be_kept_or_made(mem: Mem, warned: Path) -> None:
    """Without a place for it, it is made in memory; without the store's objects the commit is not let pass as if nothing were known."""
    mem("config", "preCommit", "block")
    index = warned / ".git/gitmem/index.db"
    for path in index.parent.glob("index.db*"):
        path.unlink()
    index.mkdir()
    (warned / "code.py").write_text("changed = 1\n")
    assert "Charges twice" in commit(warned, "-a").stderr
    (warned / ".git/refs/gitmem/heads/main").write_text("ref is broken\n")
    done = commit(warned, "-a")
    assert (
        done.returncode == 0
        and "the index is behind" in done.stderr
        and "git mem drain" in done.stderr
    )


def test_a_hook_that_is_there_decides_too(mem: Mem, repo: Path) -> None:
    """Its exit code counts, whether ours shows something or not."""
    before = hook(repo / ".git/hooks/pre-commit", "#!/bin/sh\nset -eu\necho theirs\nexit 4\n")
    mem("install", "git-hooks")
    (repo / "code.py").write_text("changed = 1\n")
    done = commit(repo, "-a")
    assert done.returncode == 1 and "theirs" in done.stderr
    mem("uninstall", "git-hooks")
    assert (repo / ".git/hooks/pre-commit").read_bytes() == before


def test_what_was_rewritten_reaches_a_hook_that_is_there(
    mem: Mem, repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both read what git says: we first, then theirs, to the byte."""
    monkeypatch.setenv("LOG", str(tmp_path / "log"))
    hook(repo / ".git/hooks/post-rewrite", '#!/bin/sh\nset -eu\ncat >"$LOG"\n')
    mem.add("so that there is a store")
    mem("install", "git-hooks")
    old = git(repo, "rev-parse", "HEAD")
    assert commit(repo, "--amend", "--allow-empty").returncode == 0
    new = git(repo, "rev-parse", "HEAD")
    assert (tmp_path / "log").read_text() == f"{old} {new}\n"


def test_templates_ship(repo: Path) -> None:
    """Each hook that is installed is a script of git-hooks/, with a place for how git-mem is called."""
    folder = Path(__file__).parents[2] / "git-hooks"
    assert {path.name for path in folder.iterdir()} == {*ALL, "README.md"}
    for name in ALL:
        text = (folder / name).read_text()
        assert text.startswith("#!/bin/sh\n# >>> git mem") and "@GIT_MEM@ git-hook " + name in text
        subprocess.run(["sh", "-n", str(folder / name)], check=True)


def test_a_program_stays_in_its_place_when_ours_cannot_be_written(mem: Mem, repo: Path) -> None:
    """A hook that is no shell script gets another name; on a full disk it keeps the one it has."""
    before = hook(repo / ".git/hooks/pre-commit", "#!/usr/bin/env python3\nprint('theirs')\n")
    line = f"ulimit -f 0; exec {sys.executable} -P -m gitmem install git-hooks"
    done = subprocess.run(["sh", "-c", line], cwd=repo, capture_output=True, text=True, check=False)
    assert (done.returncode, "File too large" in done.stderr) == (1, True)
    assert (repo / ".git/hooks/pre-commit").read_bytes() == before
    assert not (repo / ".git/hooks/pre-commit.before-git-mem").exists()


def test_a_program_is_not_lost_when_ours_is_there_and_the_disk_then_says_no(tmp_path: Path) -> None:
    """Ours has taken its place, so that the other name is the only one of the program."""
    disk, real, other = Disk(), tmp_path / "pre-commit", tmp_path / "pre-commit.before-git-mem"
    real.write_text("theirs")
    disk.set_aside(str(real), str(other))
    disk.write(str(real), b"ours", 0o755)
    disk.put_back(str(real), str(other))
    assert (real.read_text(), other.read_text()) == ("ours", "theirs")
