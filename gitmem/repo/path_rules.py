"""Rules for the paths that may exist below a work tree.

These are the rules of git's `verify_path`, applied on every platform and for every file system.

A name that is harmless on ext4 is `.git` on NTFS (`git~1`, `.git::$INDEX_ALLOCATION`, `.git. `) or
on HFS+ (`.g\\u200cit`), and a snapshot made here may be restored there. So the rules of
`core.protectNTFS` and `core.protectHFS` always hold. Pure: no file is looked at.
"""

import re

# code points that HFS+ leaves out when it compares names; `next_hfs_char` in git's utf8.c has the
# same list
_HFS_IGNORED = dict.fromkeys(
    (*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF)
)
# where git stops to read a name: bytes that are not UTF-8, and the code points that its decoder
# refuses
_NO_CHARACTER = re.compile("[\ud800-\udfff\ufffe\uffff]")
_NTFS_GIT = re.compile(r"(?:\.git|git~1)[. ]*(?::|\Z)", re.IGNORECASE | re.ASCII)
# `.gitmodules`, its short name, and the name that NTFS makes when the first four short names are
# taken
_NTFS_GITMODULES = re.compile(
    r"(?:\.gitmodules|gitmod~[1-4]|(?=.{8})(?:gi7eba|gi7eb|gi7e|gi7|gi|g)?~[1-9][0-9]*)[. ]*(?::"
    r"|\Z)",
    re.IGNORECASE | re.ASCII,
)
MOST_SHOWN = 5  # refused paths that a message names


def path_refusal(path: str, *, link: bool = False) -> str:
    """Return why no file of this name may be below a work tree, or an empty string.

    `link` says that it is to be a symbolic link.
    """
    if not path:
        return "it is empty"
    if "\0" in path:
        return "it has a zero byte, or a name with a slash in it"
    if path.startswith("/"):
        return "it is absolute"
    for name in path.split("/"):
        why = _name_refusal(name, link=link)
        if why:
            return why
    return ""


def _name_refusal(name: str, *, link: bool) -> str:
    if not name:
        return "it has an empty name in it"
    if name in {".", ".."}:
        return f"it has '{name}' in it"
    pieces = name.split("\\")  # a separator on NTFS
    if ".." in pieces:
        return "it has '..' in it"
    plain = _as_hfs_compares(name)
    if plain == ".git" or any(_NTFS_GIT.match(piece) for piece in pieces):
        return "it leads into git's own folder"
    if link and (plain == ".gitmodules" or any(_NTFS_GITMODULES.match(piece) for piece in pieces)):
        return "git's list of submodules must not be a link"
    return ""


def _as_hfs_compares(name: str) -> str:
    kept = name.translate(_HFS_IGNORED)
    return _NO_CHARACTER.split(kept, maxsplit=1)[0].lower()


def named(refused: dict[str, str]) -> str:
    """Return refused paths with their reasons, as one line for a message."""
    rows = [f"{printable(path)!r} ({why})" for path, why in sorted(refused.items())]
    more = f" and {len(rows) - MOST_SHOWN} more" if len(rows) > MOST_SHOWN else ""
    return ", ".join(rows[:MOST_SHOWN]) + more


def printable(path: str) -> str:
    """Return a path with the bytes that are no text written out."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
