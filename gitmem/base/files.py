"""Our own files on disk: where they are, atomic writes, locks.

Finds the repository without spawning git, because a hook cannot pay for a process. Standard
library only; the hot path imports this module.
"""

import errno
import os
import time

from gitmem.errors import Busy, External, NotARepository, UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


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


def locate(start: str, env: "Mapping[str, str]") -> Location:
    """Find the repository of a folder as git does: GIT_DIR first, then upwards.

    Honours GIT_COMMON_DIR and GIT_CEILING_DIRECTORIES; raises NotARepository, and UserError
    when the folder itself does not exist.
    """
    try:
        start = os.path.abspath(start)
    except OSError as error:
        raise UserError("the current folder is there no more.", "Change to another one.") from error
    if not os.path.isdir(start):
        raise UserError(f"there is no folder '{start}'.", "Check the path given with -C.")
    given = env.get("GIT_DIR")
    if given:
        gitdir = _git_dir(os.path.join(start, given))
        if gitdir is None:
            raise NotARepository(
                f"GIT_DIR is set to '{given}', which is not a git repository.", "Unset GIT_DIR, or point it at a repository."
            )
        tree = env.get("GIT_WORK_TREE")
        worktree = os.path.abspath(os.path.join(start, tree)) if tree else _worktree_of(gitdir)
        return Location(gitdir, _common(gitdir, env), worktree)
    ceilings = {os.path.abspath(p) for p in env.get("GIT_CEILING_DIRECTORIES", "").split(os.pathsep) if p}
    here = start
    while True:
        dot = os.path.join(here, ".git")
        gitdir = _git_dir(dot)
        if gitdir is not None:
            return Location(gitdir, _common(gitdir, env), here)
        if _is_git_dir(here):
            return Location(here, _common(here, env), _worktree_of(here))
        above = os.path.dirname(here)
        if above == here or above in ceilings:
            raise NotARepository(
                f"'{start}' is not in a git repository.",
                "Run 'git init' first, change to a repository, or name one with -C.",
            )
        here = above


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
    return os.path.isdir(os.path.join(path, "objects")) and os.path.isdir(os.path.join(path, "refs"))


def _common(gitdir: str, env: "Mapping[str, str]") -> str:
    given = env.get("GIT_COMMON_DIR")
    if given:
        return os.path.abspath(given)
    try:
        with open(os.path.join(gitdir, "commondir"), encoding="utf-8", errors="surrogateescape") as file:
            return os.path.abspath(os.path.join(gitdir, file.read().strip()))
    except OSError:
        return os.path.abspath(gitdir)


def _worktree_of(gitdir: str) -> str | None:
    """The work tree of a git dir given directly; None when it is bare."""
    if os.path.basename(gitdir) == ".git":
        return os.path.dirname(gitdir)
    try:
        with open(os.path.join(gitdir, "gitdir"), encoding="utf-8", errors="surrogateescape") as file:
            return os.path.dirname(os.path.abspath(file.read().strip()))
    except OSError:
        return None


def raw_ref(commondir: str, ref: str) -> str | None:
    """Return the hex value of a ref from its loose file or packed-refs, without git; None if unset.

    Raises External when the loose file is broken: what packed-refs has is an older value, not the ref's.
    Cost: one small read (6 microseconds) when the ref is loose. Does not know reftable.
    """
    try:
        with open(os.path.join(commondir, ref), encoding="utf-8", errors="replace") as file:
            words = file.read(80).split()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        pass
    except (OSError, ValueError) as error:  # ValueError: no name that a file can have
        raise External(f"{ref} cannot be read: {error}.", "Check the file's owner and mode.") from error
    else:
        value = words[0].lower() if words else ""
        if len(value) in {40, 64} and not value.strip("0123456789abcdef"):
            return value
        if value != "ref:":
            raise External(f"{ref} {'holds no commit' if words else 'is empty'}, as a power cut can leave it.", "Run: git mem doctor --fix")
    return packed_ref(commondir, ref)


def packed_ref(commondir: str, ref: str) -> str | None:
    """Return the value of a ref in packed-refs, which a loose file may have overtaken; None if it is not there."""
    try:
        with open(os.path.join(commondir, "packed-refs"), encoding="utf-8", errors="replace") as file:
            for line in file:
                if line.rstrip("\n").endswith(" " + ref):
                    return line.split(" ", 1)[0]
    except OSError:
        pass
    return None


def head(location: Location) -> str | None:
    """Return the commit that is checked out, as the files tell; None on an unborn branch, or where only git can tell."""
    try:
        with open(os.path.join(location.gitdir, "HEAD"), encoding="utf-8", errors="surrogateescape") as file:
            text = file.read(4096).strip()
    except OSError:
        return None
    if text.startswith("ref:"):
        try:
            return raw_ref(location.commondir, text[4:].strip())
        except External:
            return None
    return text if len(text) in {40, 64} else None


def code_state(location: Location, tips: "Mapping[str, str]") -> str:
    """Return what changes when code may have gone to another file: the commit that is checked out, and the stores' commits."""
    return " ".join([head(location) or "-", *sorted(tips.values())])


def branch(location: Location) -> str:
    """Return the branch that is checked out, empty when none is."""
    try:
        with open(os.path.join(location.gitdir, "HEAD"), encoding="utf-8", errors="replace") as file:
            text = file.read(4096).strip()
    except OSError:
        return ""
    return text[5:].removeprefix("refs/heads/") if text.startswith("ref: ") else ""


def user_folder(env: "Mapping[str, str]") -> str:
    """Return our folder in the user's data folder."""
    return os.path.dirname(user_repository(env))


def user_repository(env: "Mapping[str, str]") -> str:
    """Return where the user's own store is, or would be: a bare repository in the user's data folder."""
    base = env.get("XDG_DATA_HOME") or os.path.join(env.get("HOME") or os.path.expanduser("~"), ".local", "share")
    return os.path.join(base, "gitmem", "user.git")


def is_own(where: Location) -> bool:
    """Say whether all that git looks at belongs to this user: git dir, common dir, work tree, and the `.git` in it."""
    paths = [where.gitdir, where.commondir, *([where.worktree, os.path.join(where.worktree, ".git")] if where.worktree else [])]
    try:
        return all(os.lstat(path).st_uid == os.geteuid() for path in paths if os.path.lexists(path))
    except (OSError, AttributeError):
        return False


def has_reftable(commondir: str) -> bool:
    """Say whether refs are kept in reftable files, which only git can read."""
    return os.path.isdir(os.path.join(commondir, "reftable"))


def is_shared(commondir: str) -> bool:
    """Say whether a repository's config file asks for files that a group may write."""
    text = read_regular(os.path.join(commondir, "config"), 1 << 22).decode("utf-8", "replace")
    return any(
        line.strip().lower().startswith("sharedrepository") and line.partition("=")[2].strip().lower() not in {"false", "umask", "0", "no"}
        for line in text.split("\n")
    )


class Home:
    """Our folder in a common dir. Creates files readable as the repository is: group-shared or not."""

    def __init__(self, path: str, shared: bool = False) -> None:
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
                os.makedirs(path, exist_ok=True)
                if self.shared:
                    os.chmod(path, 0o2775)
                    os.chmod(self.path, 0o2775)
            except OSError as error:
                raise disk_error(error, path) from error
        return path

    def touch(self, name: str, *, private: bool = False) -> str:
        """Return a file's path, creating it empty with the right mode when it is not there; `private` keeps it from others.

        In a repository that a group shares, the group shares that too.
        """
        self.make()
        path = self.join(name)
        if not os.path.exists(path):
            try:
                os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o664 if self.shared else 0o600 if private else 0o644))
                if self.shared:
                    os.chmod(path, 0o664)
            except OSError as error:
                raise disk_error(error, path) from error
        return path


def disk_error(error: OSError, path: str) -> External:
    """Turn an operating system's refusal into an error that says what to do."""
    name = errno.errorcode.get(error.errno or 0, "")
    what = os.strerror(error.errno) if error.errno else str(error)
    hints = {
        "ENOSPC": "Free some disk space and run the command again; nothing was half-written.",
        "EDQUOT": "Your disk quota is used up; free some space and run the command again.",
        "EROFS": "The repository is on a read-only disk; reading works, writing needs a writable copy.",
        "EACCES": "You may not write there; check the folder's owner and mode.",
        "EPERM": "You may not write there; check the folder's owner and mode.",
    }
    return External(f"cannot write '{path}': {what}.", hints.get(name, "Check the disk, then run the command again."))


def write_atomic(path: str, data: bytes, *, shared: bool = False, durable: bool = True, private: bool = False) -> None:
    """Write a file so that a reader sees the old or the new bytes, never a part; raises External. `private`: for its owner alone."""
    temp = f"{path}.{os.getpid()}.{time.monotonic_ns()}.tmp"
    try:
        handle = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o664 if shared else 0o600 if private else 0o644)
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(handle, view) :]
            if shared:
                os.fchmod(handle, 0o664)
            if durable:
                os.fsync(handle)
        finally:
            os.close(handle)
        os.replace(temp, path)
        if durable:
            sync_dir(os.path.dirname(path))
    except OSError as error:
        try:
            os.unlink(temp)
        except OSError:
            pass
        raise disk_error(error, path) from error


def sync_dir(path: str) -> None:
    """Make a folder's entries durable."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:  # some network disks refuse to sync a folder; the data itself is synced
        if error.errno not in {errno.EINVAL, errno.ENOTSUP}:
            raise
    finally:
        os.close(handle)


class Lock:
    """An advisory lock on a file: freed by the kernel when the holder dies, whatever happens.

    Use as a context manager; waits up to `timeout` seconds, then raises Busy.
    """

    def __init__(self, path: str, timeout: float, sleep: "Callable[[float], None]" = time.sleep) -> None:
        self.path = path
        self.timeout = timeout
        self._sleep = sleep
        self._handle = -1

    def __enter__(self) -> "Lock":
        import fcntl  # absent on Windows, where only reading works today

        try:
            self._handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o664)
        except OSError as error:
            raise disk_error(error, self.path) from error
        deadline = time.monotonic() + self.timeout
        pause = 0.0005
        while True:
            try:
                fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return self
            except OSError as error:
                if error.errno not in {errno.EAGAIN, errno.EACCES}:
                    return self  # a disk without flock: compare-and-swap alone keeps writes correct
                if time.monotonic() >= deadline:
                    os.close(self._handle)
                    self._handle = -1
                    raise Busy(
                        "another git mem process is writing to this repository.",
                        "Try again in a moment; 'git mem doctor' shows who holds the lock.",
                    ) from error
            self._sleep(pause)
            pause = min(pause * 1.5, 0.02)

    def __exit__(self, *_: object) -> None:
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


def listing(path: str, suffix: str) -> "Iterator[str]":
    """Yield the paths of a folder's files that end so, sorted by name; nothing if it is not there."""
    try:
        names = sorted(os.listdir(path))
    except OSError:
        return
    for name in names:
        if name.endswith(suffix):
            yield os.path.join(path, name)


def read_regular(path: str, most: int) -> bytes:
    """Return the beginning of a regular file; nothing of anything else: a pipe or a terminal must not block."""
    import stat

    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except (OSError, ValueError):
        return b""
    try:
        with os.fdopen(handle, "rb") as file:
            return file.read(most) if stat.S_ISREG(os.fstat(handle).st_mode) else b""
    except OSError:
        return b""


def ignore_text(worktree: str | None) -> str:
    """Return what a work tree says that it does not want stored, as far as that is looked at."""
    return read_regular(os.path.join(worktree, ".gitmemignore"), 1 << 18).decode("utf-8", "replace") if worktree else ""


def storable(path: str) -> str:
    """Return a path as text that a database takes: bytes that are no UTF-8 become `?`."""
    return path if path.isascii() else path.encode("utf-8", "replace").decode()


def inside(path: str, root: str, cwd: str) -> str:
    """Return a path relative to the work tree, links resolved; empty when it leads out of it, or into git's folder."""
    if not root or "\0" in path:
        return ""
    full = os.path.realpath(os.path.join(cwd, path))
    if not full.startswith(root.rstrip(os.sep) + os.sep):
        return ""
    rest = full[len(root.rstrip(os.sep)) + 1 :].replace(os.sep, "/")
    return "" if rest.split("/", 1)[0].lower() == ".git" else rest
