"""Whatever the state of a work tree: saved, wrecked and restored, files and index are as they were, to the byte."""

import os
import shutil
import stat
import subprocess
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from gitmem.app import open_app
from gitmem.cli import snapshot as cli
from gitmem.git.work_state import Work
from gitmem.services.snapshots import restore, save
from gitmem.services.snapshots.plan import plan as plan_restore
from gitmem.services.snapshots.saved import read
from tests.conftest import fsck, git
from tests.scale import scaled

NAMES = (
    "a.txt",
    "b b.txt",
    "d/c.txt",
    "d/e/f.txt",
    "ö.txt",
    "new\nline",
    "-dash",
    ":colon",
    "d/run.sh",
)
CONTENTS = (b"", b"one\n", b"two\r\nlines\r\n", b"\x00\xff binary", b"no end", b"x" * 5000)
STEPS = (
    "write",
    "stage",
    "remove",
    "unstage",
    "link",
    "exec",
    "folder",
    "intend",
    "commit",
    "skip",
    "assume",
    "ignored",
    "private",
    "split",
    "eol",
)

actions = st.lists(
    st.tuples(st.sampled_from(STEPS), st.sampled_from(NAMES), st.sampled_from(CONTENTS)),
    max_size=14,
)


GIT_STEPS = {
    "stage": ("--literal-pathspecs", "add", "-A", "--", "NAME"),
    "unstage": ("--literal-pathspecs", "rm", "-q", "--cached", "-f", "--", "NAME"),
    "intend": ("--literal-pathspecs", "add", "-N", "--", "NAME"),
    "commit": ("-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qm", "more"),
    "assume": ("--literal-pathspecs", "update-index", "--assume-unchanged", "--", "NAME"),
    "skip": ("--literal-pathspecs", "update-index", "--skip-worktree", "--", "NAME"),
    "split": ("update-index", "--split-index"),
}


def act(repo: Path, step: str, name: str, content: bytes) -> None:
    """Change a work tree as a person might; what makes no sense there does nothing."""
    if step in GIT_STEPS:
        command = [part.replace("NAME", name) for part in GIT_STEPS[step]]
        subprocess.run(["git", "-C", str(repo), *command], capture_output=True, check=False)
        return
    try:
        change_file(repo, step, repo / name, content)
    except OSError:
        return


def change_file(repo: Path, step: str, path: Path, content: bytes) -> None:
    """Change a file as an editor or a shell command would; raises OSError where it cannot."""
    if step == "write":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    elif step == "remove":
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    elif step == "link":
        path.unlink(missing_ok=True)
        path.symlink_to("a.txt")
    elif step == "exec":
        path.chmod(path.stat().st_mode ^ stat.S_IXUSR)
    elif step == "folder":
        path.unlink()
        (path / "inner").parent.mkdir()
        (path / "inner").write_bytes(content)
    elif step == "private":
        path.chmod(0o700 if path.stat().st_mode & stat.S_IXUSR else 0o600)
    elif step == "eol":
        (repo / ".gitattributes").write_bytes(b"*.txt text eol=crlf\n" if content else b"* -text\n")
    elif step == "ignored":
        (repo / "x.log").write_bytes(content)


def look(repo: Path) -> tuple[dict[str, object], str]:
    """Return what is on disk, and what the index has."""
    files: dict[str, object] = {}
    for here, folders, names in os.walk(repo):
        if ".git" in folders:
            folders.remove(".git")
        for name in (*names, *(f for f in folders if os.path.islink(os.path.join(here, f)))):
            full = os.path.join(here, name)
            key = os.path.relpath(full, repo)
            if os.path.islink(full):
                files[key] = ("link", os.readlink(full))
            else:
                files[key] = (stat.S_IMODE(os.stat(full).st_mode), Path(full).read_bytes())
    return files, git(repo, "ls-files", "-s", "-v", "-z") + git(
        repo, "status", "--porcelain=v2", "-z", "--untracked-files=all"
    )


@settings(
    max_examples=scaled(300, 25),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(before=actions, wreck=actions)
@example(
    before=[("unstage", "d/e/f.txt", b""), ("intend", "d/e/f.txt", b"")],
    wreck=[("commit", "a.txt", b"")],
)
def test_saved_wrecked_restored(make_repo, before, wreck):
    with tempfile.TemporaryDirectory() as folder:
        repo = Path(folder) / "r"
        git(folder, "init", "-q", str(repo))
        (repo / ".gitignore").write_text("*.log\n")
        git(repo, "config", "core.autocrlf", "false")
        for name in NAMES[:4]:
            (repo / name).parent.mkdir(parents=True, exist_ok=True)
            (repo / name).write_text(f"{name}\n")
        git(repo, "add", "-A")
        git(repo, "commit", "-qm", "first")
        for one in before:
            act(repo, *one)
        wanted = look(repo)
        with open_app(str(repo), dict(os.environ), prefer="libgit2") as app:
            work = Work(app.location, app.env)
            made = cli.take(app, work, save.SaveContext())
            assert look(repo) == wanted  # saving changes nothing
            for one in wreck:
                act(repo, *one)
            logs = (repo / "x.log").read_bytes() if (repo / "x.log").exists() else None
            now = save.unkept(work, app.objects, app.writer())
            then = read(app.objects, made.id)
            plan = plan_restore(work, app.objects, now, then)
            restore.carry_out(
                work,
                app.objects,
                app.home,
                plan,
                then,
                restore.RestoreNote(made.id, "", work.root),
                force=True,
            )
            again = plan_restore(
                work, app.objects, save.unkept(work, app.objects, app.writer()), then
            )
            assert again.empty, again
        found = look(repo)
        if logs is not None:
            wanted[0]["x.log"] = found[0]["x.log"]  # what git ignores is left alone
        assert found[0] == wanted[0]
        if git(repo, "rev-parse", "HEAD") == made.get("commit"):
            assert found[1] == wanted[1]
        assert fsck(repo) == ""
