"""Our settings as git told them last, in our folder: most processes need not ask git.

All commands, hooks and the language server read them here. The copy counts as long as no file has
changed that git's configuration came from, or may come from: included files too, and those that
decide whether a file is included. Settings that name a program, a key or a signature are in no
copy, for a stranger may have made the folder `.git`: git is asked for them. Only that no pager is
set is kept: if that is false, the usual pager runs. Standard library only; the hot path imports
this module.
"""

import os

from gitmem.base.fast import dumps, loads
from gitmem.base.files import write_atomic
from gitmem.base.regular_files import read_regular
from gitmem.config import KEYS, OWN_KEYS, Settings, command_settings
from gitmem.repo.location import Home, Location
from gitmem.repo.refs import has_reftable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    Kept = tuple[dict[str, list[str]], list[str], tuple[str, ...], frozenset[str]]

NAME = "settings.json"
# a configuration of more files, or a copy of more bytes, is not kept
MOST_FILES = 64
MOST_BYTES = 1 << 18
# what git looks at to find its files
_VARIABLES = (
    *("HOME", "XDG_CONFIG_HOME"),
    *("GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_GLOBAL"),
)
# conditions of an `includeIf` that git's files and the place of the repository decide; what
# another depends on, only git knows
_CONDITIONS = ("gitdir:", "gitdir/i:", "hasconfig:remote.*.url:")
_ON_BRANCH = "onbranch:"
# the hot path knows the user by them
_IDENTITY = frozenset({"user.name", "user.email", "author.email", "committer.email"})
_PAGERS = frozenset({"core.pager"})


class KeptSettings(Settings):
    """Settings from the copy; git is asked at the first use of one that the copy lacks."""

    def __init__(self, kept: "Kept", ask: "Callable[[], Settings]") -> None:
        self._kept, self.problems, self.refused, self._unset = kept
        self._values = Settings(self._kept)._values
        self._ask = ask

    def __getattr__(self, name: str) -> "Any":
        """Return all of git's configuration, `raw`, or where it came from, `files` and `scopes`."""
        if name not in {"raw", "files", "scopes"}:
            raise AttributeError(name)
        self.__dict__.update(vars(self._ask()))
        return self.__dict__[name]

    def get(self, key: str) -> "Any":
        """Return a setting's value."""
        name = f"gitmem.{key.lower()}"
        if name in OWN_KEYS:
            self.raw  # noqa: B018 - reads them all
        return self._values[key]

    def every(self, key: str) -> "Sequence[str]":
        """Return all values of any git setting (lower-case key), of all files that set it."""
        is_kept = _is_kept(key) or key in self._unset
        return (self._kept if is_kept else self.raw).get(key, ())

    def git(self, key: str, default: str = "") -> str:
        """Return the last value of any git setting (lower-case key)."""
        values = self.every(key)
        return values[-1] if values else default


def our_settings(
    home: Home, where: Location, env: "Mapping[str, str]", ask: "Callable[[], Settings]"
) -> Settings:
    """Return the settings that the copy holds; from git where there is no copy that counts."""
    kept = _kept(home, where, env)
    return _asked(home, where, env, ask) if kept is None else Settings(kept[0])


def all_settings(
    home: Home, where: Location, env: "Mapping[str, str]", ask: "Callable[[], Settings]"
) -> Settings:
    """Return all settings of git's: ours as `our_settings`, the others from git when needed."""
    kept = _kept(home, where, env)
    return _asked(home, where, env, ask) if kept is None else KeptSettings(kept, ask)


def sources(home: Home, where: Location, env: "Mapping[str, str]") -> list[str]:
    """Return the files that the settings came from, or may come from, as far as the copy tells."""
    try:
        saved = loads(read_regular(home.join(NAME), MOST_BYTES, own=True).decode("ascii"))
        if saved["for"] == _situation(where, env):
            return [str(row[0]) for row in saved["from"]]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError, OSError):
        pass  # there is none
    return _standing_files(where, env)


def _is_kept(key: str) -> bool:
    """Say whether the copy holds a setting (lower-case key)."""
    return (key in KEYS and key not in OWN_KEYS) or key in _IDENTITY


def _kept(home: Home, where: Location, env: "Mapping[str, str]") -> "Kept | None":
    """Return the settings, problems, refused keys and unset pagers of the copy.

    None when it does not count, or when another user wrote it.
    """
    if command_settings(env):
        return None
    try:
        text = read_regular(home.join(NAME), MOST_BYTES, own=True).decode("ascii")
        saved = loads(text)
        return _content(saved) if _counts(saved, where, env) else None
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None  # there is none, or somebody else wrote it


def _counts(saved: "Any", where: Location, env: "Mapping[str, str]") -> bool:
    """Say whether a copy is for this repository and environment, and no file has changed."""
    if saved["for"] != _situation(where, env):
        return False
    standing = _standing_files(where, env)
    files = [str(row[0]) for row in saved["from"]]
    return files[: len(standing)] == standing and bool(saved["from"] == _stamps(files))


def _content(saved: "Any") -> "Kept":
    """Return what a copy holds, and nothing that none may hold."""
    values = {str(k): [str(x) for x in v] for k, v in saved["values"].items() if _is_kept(k)}
    if not all(values.values()):
        raise ValueError("a setting without a value")
    problems = [str(x) for x in saved["problems"]]
    unset = _PAGERS.intersection(saved["unset"])
    return values, problems, tuple(map(str, saved["refused"])), unset


def _asked(
    home: Home, where: Location, env: "Mapping[str, str]", ask: "Callable[[], Settings]"
) -> Settings:
    """Return the settings from git, and keep them unless they are for one command."""
    if command_settings(env):
        return ask()
    standing = _standing_files(where, env)
    before = _stamps(standing)
    settings = ask()
    try:
        if before == _stamps(standing):  # else what was read may be the older
            _keep(home, where, env, settings)
    except Exception:  # noqa: BLE001 - a read-only disk: slower, not broken
        pass
    return settings


def _keep(home: Home, where: Location, env: "Mapping[str, str]", settings: Settings) -> None:
    """Write the copy; remove it where nothing could say later that it counts no more."""
    if not os.path.isdir(home.path):
        return
    path = home.join(NAME)
    files = _all_files(where, env, settings)
    saved = {
        "for": _situation(where, env),
        "from": _stamps(files),
        "values": {k: list(v) for k, v in settings.raw.items() if _is_kept(k)},
        "problems": settings.problems,
        "refused": settings.refused,
        "unset": sorted(_PAGERS - settings.raw.keys()),
    }
    data = dumps(saved).encode("ascii")
    if files and len(data) < MOST_BYTES:
        write_atomic(path, data, shared=home.shared, durable=False)
    elif os.path.lexists(path):
        os.unlink(path)


def _situation(where: Location, env: "Mapping[str, str]") -> "list[str | None]":
    """Return what the copy is for, besides the files: a repository and an environment."""
    places = (where.gitdir, os.path.realpath(where.gitdir), where.commondir)
    return [*places, *[env.get(name) for name in _VARIABLES]]


def _standing_files(where: Location, env: "Mapping[str, str]") -> list[str]:
    """Return the configuration files that git looks for, whether they are there or not."""
    home = env.get("HOME", "")
    xdg = env.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    usual = [os.path.join(home, ".gitconfig"), os.path.join(xdg, "git", "config")]
    user = env.get("GIT_CONFIG_GLOBAL")
    return [
        os.path.join(where.commondir, "config"),
        os.path.join(where.gitdir, "config.worktree"),
        *(usual if user is None else [user]),
        env.get("GIT_CONFIG_SYSTEM", "/etc/gitconfig"),
    ]


def _all_files(where: Location, env: "Mapping[str, str]", settings: Settings) -> list[str]:
    """Return the files whose change makes the copy stale; empty where they cannot be told."""
    files = dict.fromkeys([*_standing_files(where, env), *settings.files, *_system_files(env)])
    for naming_file, includes in settings.files.items():
        for key, name in includes:
            path = _included_path(naming_file, name, env)
            deciding = _deciding_file(key, where)
            if not path or deciding is None or len(files) > MOST_FILES:
                return []
            files.update(dict.fromkeys((path, deciding)))
    return list(files) if len(files) <= MOST_FILES else []


def _system_files(env: "Mapping[str, str]") -> list[str]:
    """Return the system file of a git that is installed in a folder of its own.

    Git names it only if it is there.
    """
    for folder in env.get("PATH", "").split(os.pathsep):
        if os.path.isfile(os.path.join(folder, "git")):
            return [os.path.join(os.path.dirname(folder), "etc", "gitconfig")]
    return []


def _deciding_file(key: str, where: Location) -> str | None:
    """Return the file that decides whether an included file counts; None if only git can say.

    That is the repository's configuration file where none of its own decides.
    """
    condition = key.removeprefix("includeif.")
    if condition.startswith(_ON_BRANCH):
        head = os.path.join(where.gitdir, "HEAD")  # of a reftable, it is a dummy
        return None if has_reftable(where.commondir) else head
    is_decided = condition == key or condition.startswith(_CONDITIONS)
    return os.path.join(where.commondir, "config") if is_decided else None


def _included_path(naming_file: str, name: str, env: "Mapping[str, str]") -> str:
    """Return the path that git takes for the value of an `include.path`; empty if only git can."""
    if name.startswith("%(prefix)/"):
        return ""
    if name.startswith("~/"):
        return os.path.join(env["HOME"], name[2:]) if env.get("HOME") else ""
    return os.path.join(os.path.dirname(naming_file), os.path.expanduser(name))


def _stamps(paths: "Sequence[str]") -> "list[list[Any]]":
    """Return (path, time of change in ns, size in bytes, inode) of files; 0 for one that is not."""
    out: list[list[Any]] = []
    for path in paths:
        try:
            stat = os.stat(path)
            out.append([path, stat.st_mtime_ns, stat.st_size, stat.st_ino])
        except (OSError, ValueError):
            out.append([path, 0, 0, 0])
    return out
