"""The names of our refs, and refs read from their files without starting git.

The hot path imports this module.
"""

import os

from gitmem.errors import External

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from gitmem.repo.location import Location

NAMESPACE = "refs/gitmem/"
SHARED = "refs/gitmem/heads/main"
PRIVATE = "refs/gitmem/local/main"
REMOTES = "refs/gitmem/remotes/"
BACKUP = "refs/gitmem/backup/"
SNAPSHOTS = "refs/gitmem/snapshots/"  # of work trees: their parents are commits of the code
BRANCH = "refs/heads/gitmem/main"  # on a remote that takes branches only


def raw_ref(commondir: str, ref: str) -> str | None:
    """Return the hex value of a ref from its loose file or packed-refs, without git; None if unset.

    Raises External when the loose file is broken: what packed-refs has is an older value, not the
    ref's. Cost: one small read (6 microseconds) when the ref is loose. Does not know reftable.
    """
    try:
        with open(os.path.join(commondir, ref), encoding="utf-8", errors="replace") as file:
            words = file.read(80).split()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        pass
    except (OSError, ValueError) as error:  # ValueError: no name that a file can have
        raise External(
            f"{ref} cannot be read: {error}.", "Check the file's owner and mode."
        ) from error
    else:
        value = words[0].lower() if words else ""
        if len(value) in {40, 64} and not value.strip("0123456789abcdef"):
            return value
        if value != "ref:":
            raise External(
                f"{ref} {'holds no commit' if words else 'is empty'}, as a power cut can leave it.",
                "Run: git mem doctor --fix",
            )
    return packed_ref(commondir, ref)


def packed_ref(commondir: str, ref: str) -> str | None:
    """Return the value of a ref in packed-refs, which a loose file may have overtaken.

    None if it is not there.
    """
    try:
        with open(
            os.path.join(commondir, "packed-refs"), encoding="utf-8", errors="replace"
        ) as file:
            for line in file:
                if line.rstrip("\n").endswith(" " + ref):
                    return line.split(" ", 1)[0]
    except OSError:
        pass
    return None


def head(location: "Location") -> str | None:
    """Return the commit that is checked out, as the files tell.

    None on an unborn branch, or where only git can tell.
    """
    try:
        with open(
            os.path.join(location.gitdir, "HEAD"), encoding="utf-8", errors="surrogateescape"
        ) as file:
            text = file.read(4096).strip()
    except OSError:
        return None
    if text.startswith("ref:"):
        try:
            return raw_ref(location.commondir, text[4:].strip())
        except External:
            return None
    return text if len(text) in {40, 64} else None


def code_state(location: "Location", tips: "Mapping[str, str]") -> str:
    """Return a key that changes when code may have moved to another file.

    It consists of the commit that is checked out and the commits of the stores.
    """
    return " ".join([head(location) or "-", *sorted(tips.values())])


def branches_stamp(location: "Location") -> str:
    """Return a key that changes when a branch or what is checked out may have moved.

    Branches are those of this repository and of its remotes. The key is made from the times of
    files, without git.

    Whoever sets a ref makes a lock beside it, so that its folder changes.
    """
    common = location.commondir
    paths = [
        os.path.join(location.gitdir, "HEAD"),
        *(os.path.join(common, name) for name in ("packed-refs", "reftable", "worktrees")),
    ]
    for top in ("heads", "remotes"):
        paths += [folder for folder, _, _ in os.walk(os.path.join(common, "refs", top))]
    try:
        paths += [
            os.path.join(common, "worktrees", name, "HEAD")
            for name in sorted(os.listdir(os.path.join(common, "worktrees")))
        ]
    except OSError:
        pass  # there is one work tree
    return " ".join(str(_changed_at(path)) for path in paths)


def _changed_at(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


def branch(location: "Location") -> str:
    """Return the branch that is checked out, empty when none is."""
    try:
        with open(
            os.path.join(location.gitdir, "HEAD"), encoding="utf-8", errors="replace"
        ) as file:
            text = file.read(4096).strip()
    except OSError:
        return ""
    return text[5:].removeprefix("refs/heads/") if text.startswith("ref: ") else ""


def has_reftable(commondir: str) -> bool:
    """Say whether refs are kept in reftable files, which only git can read."""
    return os.path.isdir(os.path.join(commondir, "reftable"))
