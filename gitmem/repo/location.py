"""Location of a repository, found as git finds it, but without starting git.

A hook cannot afford to start a process.

Standard library only; the hot path imports this module.
"""

import os

from gitmem.base.files import disk_error
from gitmem.base.regular_files import read_regular
from gitmem.base.sharing import create, make_folder
from gitmem.errors import External, NotARepository, UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class Location:
    """Where a repository is: its git dir, the common dir that worktrees share, its work tree."""

    __slots__ = ("commondir", "gitdir", "worktree")

    def __init__(self, gitdir: str, commondir: str, worktree: str | None) -> None:
        self.gitdir = gitdir
        self.commondir = commondir
        self.worktree = worktree

    @property
    def home(self) -> str:
        """Our folder in the common dir: index, state, journal, lock."""
        return os.path.join(self.commondir, "gitmem")


def is_there(where: Location) -> bool:
    """Say whether a repository is where it was: a linked work tree may be removed at any time."""
    return os.path.isdir(where.gitdir) and (not where.worktree or os.path.isdir(where.worktree))


def _named(start: str, given: str, env: "Mapping[str, str]") -> Location:
    """Return the repository that the environment names."""
    gitdir = _git_dir(os.path.join(start, given))
    if gitdir is None:
        raise NotARepository(
            f"GIT_DIR is set to '{given}', which is not a git repository.",
            "Unset GIT_DIR, or point it at a repository.",
        )
    tree = env.get("GIT_WORK_TREE")
    worktree = os.path.abspath(os.path.join(start, tree)) if tree else _worktree_of(gitdir)
    return Location(gitdir, _common(gitdir, env), worktree)


def locate(start: str, env: "Mapping[str, str]") -> Location:
    """Find the repository of a folder as git does: GIT_DIR first, then upwards.

    Honours GIT_COMMON_DIR, GIT_CEILING_DIRECTORIES and safe.bareRepository. What only looks like a
    git directory, among the files of a work tree, is a folder of that work tree. Raises
    NotARepository, and UserError when the folder itself does not exist.
    """
    try:
        start = os.path.abspath(start)
    except OSError as error:
        raise UserError(
            "the current folder no longer exists.", "Change to another folder."
        ) from error
    if not os.path.isdir(start):
        raise UserError(f"there is no folder '{start}'.", "Check the path given with -C.")
    given = env.get("GIT_DIR")
    if given:
        return _named(start, given, env)
    ceilings = {
        os.path.abspath(p) for p in env.get("GIT_CEILING_DIRECTORIES", "").split(os.pathsep) if p
    }
    here = start
    while True:
        dot = os.path.join(here, ".git")
        gitdir = _git_dir(dot)
        if gitdir is not None:
            return Location(gitdir, _common(gitdir, env), here)
        if _is_git_dir(here) and not is_embedded(here):
            _check_bare(here, env)
            return Location(here, _common(here, env), _worktree_of(here))
        above = os.path.dirname(here)
        if above == here or above in ceilings:
            raise NotARepository(
                f"'{start}' is not in a git repository.",
                "Run 'git init' first, change to a repository, or name one with -C.",
            )
        here = above


def is_embedded(gitdir: str) -> bool:
    """Return whether a git directory lies in the work tree of another repository.

    This is the case if it came as files of a clone.

    Git never writes a file called `.git` of a commit, so what has that name is no such file. One
    that names this very repository, as beside a `.bare` folder, makes no other of it.
    """
    if _is_internal(gitdir):
        return False
    common = os.path.realpath(_common(gitdir, {}))
    here = os.path.realpath(gitdir)
    while (above := os.path.dirname(here)) != here:
        here = above
        other = _git_dir(os.path.join(here, ".git"))
        if other is not None and os.path.realpath(_common(other, {})) != common:
            return True
    return False


def _is_internal(gitdir: str) -> bool:
    """Return whether a git directory is a `.git`, or that of a submodule or linked work tree.

    Its path decides.
    """
    path = os.path.realpath(gitdir).replace(os.sep, "/")
    return path.endswith("/.git") or "/.git/worktrees/" in path or "/.git/modules/" in path


def _check_bare(gitdir: str, env: "Mapping[str, str]") -> None:
    """Raise NotARepository for a bare repository if the user lets git use only named ones."""
    if _is_internal(gitdir):
        return
    from gitmem.base.quick_git import own_setting

    asked = own_setting(env, "safe.bareRepository")
    if asked not in {"", "all"}:
        raise NotARepository(
            f"'{gitdir}' is a bare repository, and safe.bareRepository is '{asked}'.",
            f"If you trust it, name it: GIT_DIR='{gitdir}' git mem …",
        )


def _git_dir(path: str) -> str | None:
    """The git dir that a `.git` folder, file or link names, if it is one."""
    if os.path.isdir(path):
        return os.path.abspath(path) if _is_git_dir(path) else None
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            text = file.read(4096)
    except (OSError, ValueError):
        return None
    if not text.startswith("gitdir:"):
        return None
    target = os.path.abspath(os.path.join(os.path.dirname(path), text[7:].strip("\r\n ")))
    return target if _is_git_dir(target) else None


def _is_git_dir(path: str) -> bool:
    head = os.path.join(path, "HEAD")
    if not (os.path.isfile(head) or os.path.islink(head)):
        return False
    if os.path.isfile(os.path.join(path, "commondir")):
        return True
    return os.path.isdir(os.path.join(path, "objects")) and os.path.isdir(
        os.path.join(path, "refs")
    )


def _common(gitdir: str, env: "Mapping[str, str]") -> str:
    given = env.get("GIT_COMMON_DIR")
    if given:
        return os.path.abspath(given)
    try:
        with open(
            os.path.join(gitdir, "commondir"), encoding="utf-8", errors="surrogateescape"
        ) as file:
            return os.path.abspath(os.path.join(gitdir, file.read().strip()))
    except OSError:
        return os.path.abspath(gitdir)


def _worktree_of(gitdir: str) -> str | None:
    """The work tree of a git dir given directly; None when it is bare."""
    if os.path.basename(gitdir) == ".git":
        return os.path.dirname(gitdir)
    try:
        with open(
            os.path.join(gitdir, "gitdir"), encoding="utf-8", errors="surrogateescape"
        ) as file:
            return os.path.dirname(os.path.abspath(file.read().strip()))
    except OSError:
        return None


def user_folder(env: "Mapping[str, str]") -> str:
    """Return our folder in the user's data folder."""
    return os.path.dirname(user_repository(env))


def user_repository(env: "Mapping[str, str]") -> str:
    """Return the path of the user's own store, a bare repository in the user's data folder.

    The store need not exist.
    """
    base = env.get("XDG_DATA_HOME") or ""
    if not os.path.isabs(base):  # as its specification wants it
        base = os.path.join(env.get("HOME") or os.path.expanduser("~"), ".local", "share")
    return os.path.join(base, "gitmem", "user.git")


def make_user_folder(env: "Mapping[str, str]") -> None:
    """Make our folder in the user's data folder, for the user alone; raises External."""
    path = user_folder(env)
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        make_folder(path, 0)
    except OSError as error:
        raise disk_error(error, path) from error


def is_own(where: Location) -> bool:
    """Return whether everything that git looks at belongs to this user.

    This covers the git dir, the common dir, the work tree and the `.git` in it.
    """
    paths = [
        where.gitdir,
        where.commondir,
        *([where.worktree, os.path.join(where.worktree, ".git")] if where.worktree else []),
    ]
    try:
        return all(os.lstat(path).st_uid == os.geteuid() for path in paths if os.path.lexists(path))
    except (OSError, AttributeError):
        return False


COMMITS = "commits"  # in our folder: commits that git's hook saw, with the session, a line each
# in our folder: what an amend or a rebase made of commits, as git tells its hook: old and new, a
# line each
REWRITTEN = "rewritten"
RESTORING = "restore.json"  # in our folder: a snapshot is being brought back
WIPING = "wiping"  # in our folder: a wipe has begun, and has not ended
# what is there when something was stopped -> what it was, what to do
STOPPED = {
    WIPING: (
        "a 'git mem uninstall --wipe' was stopped before its end.",
        "End it: git mem uninstall --wipe --yes; to keep what is left: git mem init",
    ),
    RESTORING: (
        "a 'git mem snapshot restore' was stopped before its end.",
        (
            "Run it again to end it; to take it back, restore the snapshot that was saved before "
            "it: git mem snapshot list"
        ),
    ),
}


class Home:
    """Our folder in a common dir.

    What it makes is for its owner alone, or shared as the repository is.
    """

    def __init__(self, path: str, shared: int = 0) -> None:
        self.path = path
        self.shared = shared

    def join(self, *names: str) -> str:
        """Return a path inside the folder."""
        return os.path.join(self.path, *names)

    def make(self, *names: str) -> str:
        """Return a sub-folder's path, creating it; raises External when the disk says no."""
        path = self.join(*names)
        if not os.path.isdir(path):
            try:
                os.makedirs(os.path.dirname(self.path), exist_ok=True)
                make_folder(self.path, self.shared)
                for number in range(len(names)):
                    make_folder(self.join(*names[: number + 1]), self.shared)
            except OSError as error:
                raise disk_error(error, path) from error
        return path

    def touch(self, name: str) -> str:
        """Return a file's path, creating it empty with the right mode when it is not there."""
        self.make()
        path = self.join(name)
        if os.path.lexists(path) and not os.path.isfile(path):
            raise External(f"'{path}' is not a file.", "Move it away, then run the command again.")
        if not os.path.exists(path):
            try:
                os.close(create(path, os.O_CREAT | os.O_RDWR, self.shared))
            except OSError as error:
                raise disk_error(error, path) from error
        return path


def ignore_text(worktree: str | None) -> str:
    """Return what a work tree says that it does not want stored, as far as that is looked at."""
    return (
        read_regular(os.path.join(worktree, ".gitmemignore"), 1 << 18).decode("utf-8", "replace")
        if worktree
        else ""
    )


def storable(path: str) -> str:
    """Return a path as text that a database takes: bytes that are not UTF-8 become `?`."""
    return path if path.isascii() else path.encode("utf-8", "replace").decode()


def inside(path: str, root: str, cwd: str) -> str:
    """Return a path relative to the work tree, links resolved.

    Empty when it leads out of it, or into git's folder.
    """
    if not root or "\0" in path:
        return ""
    full = os.path.realpath(os.path.join(cwd, path))
    if not full.startswith(root.rstrip(os.sep) + os.sep):
        return ""
    rest = full[len(root.rstrip(os.sep)) + 1 :].replace(os.sep, "/")
    return "" if rest.split("/", 1)[0].lower() == ".git" else rest
