"""What keeps a repository's own configuration from running programs when git is called on it.

A folder that came from somebody else may hold a `.git` of its own, and git runs what the
configuration in it names: filters, signing programs, transports. Each call of git has `GUARDS`
and `OFFLINE`; what they cannot switch off by a fixed name is listed, and overridden, name by
name. What the user's own configuration (system, global) says stays in force. Standard library
only; the hot path imports this module.
"""

import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    Pairs = list[tuple[str, str]]

# -c settings of every call. A monitor and hooks are programs; a transport `ext::` is any program.
_SWITCHED_OFF = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "protocol.ext.allow=never",
    "log.showSignature=false",
)
GUARDS = tuple(word for setting in _SWITCHED_OFF for word in ("-c", setting))
# For calls that exchange nothing: no object that a partial clone lacks is fetched. Git before 2.45
# does not know the first variable, but has no transport that the second one allows.
OFFLINE = {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none"}
LIST = ("config", "--list", "-z", "--show-scope", "--show-origin")
OWN_SCOPES = frozenset({"system", "global", "command"})  # the user's, or the machine's
_LIMIT = 1 << 20
# A configuration without any of these words, in lower case, names no program that is listed below.
_WORDS = (b"filter", b"include", b"gpg", b"signingkey", b"trailer", b"driver")
_DEFAULTS = {
    "gpg.program": "gpg",
    "gpg.openpgp.program": "gpg",
    "gpg.x509.program": "gpgsm",
    "gpg.ssh.program": "ssh-keygen",
    "gpg.format": "openpgp",
    "gpg.mintrustlevel": "undefined",
    "gpg.ssh.allowedsignersfile": "",
    "gpg.ssh.revocationfile": "",
    "gpg.ssh.defaultkeycommand": "",
    "user.signingkey": "",
}
_FILTERS = ("process", "clean", "smudge")
# What git starts when it talks to a remote: (section, key), whatever names are between them.
_TRANSPORTS = frozenset(
    "core sshcommand,core gitproxy,core askpass,core alternaterefscommand,credential helper"
    ",remote vcs,remote uploadpack,remote receivepack".split(",")
)
# Verbs that compare contents: no program is to show them, and submodules have settings of their
# own.
_SHOWING = frozenset({"diff", "log", "show", "diff-tree", "diff-index", "diff-files"})
_WORKING = frozenset({"status", "diff", "diff-index", "diff-files"})
_VALUED = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace"})


def verb_of(args: "Sequence[str]") -> str:
    """Return the verb of a git command: the first argument behind git's own options."""
    at = _verb_at(args)
    return args[at] if at < len(args) else ""


def _verb_at(args: "Sequence[str]") -> int:
    at = 0
    while at < len(args) and args[at].startswith("-"):
        at += 2 if args[at] in _VALUED else 1
    return at


def without_programs(args: "Iterable[str]") -> list[str]:
    """Return a git command's arguments so that no program of the repository shows a difference."""
    out = list(args)
    at = _verb_at(out)
    verb = out[at] if at < len(out) else ""
    more = []
    if verb in _SHOWING:
        more += ["--no-ext-diff", "--no-textconv"]
    if verb == "blame":
        more.append("--no-textconv")
    if verb in _WORKING:
        out = [arg for arg in out if arg != "--ignore-submodules=none"]
        if not any(arg.startswith("--ignore-submodules") for arg in out):
            more.append("--ignore-submodules=dirty")
    return [*out[: at + 1], *more, *out[at + 1 :]]


def config_files(gitdir: str) -> list[str]:
    """Return the configuration files of a repository, as git finds them from its git directory."""
    common = gitdir
    try:
        with open(os.path.join(gitdir, "commondir"), "rb") as file:
            common = os.path.join(gitdir, os.fsdecode(file.read(4096).strip()))
    except OSError:
        pass
    return [os.path.join(common, "config"), os.path.join(gitdir, "config.worktree")]


class Overrides:
    """The settings that undo what a repository's configuration could run; empty for nearly all."""

    def __init__(self, gitdir: str, listing: "Callable[[], bytes]") -> None:
        self.files = config_files(gitdir)
        self._listing = listing
        self._stamps: list[tuple[int, int, int]] | None = None
        self._pairs: Pairs = []

    def pairs(self) -> "Pairs":
        """Return (key, value) of what is to be overridden now."""
        stamps = [_stamp(path) for path in self.files]
        if stamps != self._stamps:
            text = b"\n".join(_lowered(path) for path in self.files)
            suspect = any(word in text for word in _WORDS)
            self._pairs = overriding(self._listing()) if suspect else []
            # what is included may change at any time, or depend on the branch
            self._stamps = None if b"include" in text else stamps
        return self._pairs


def listed(listing: bytes) -> "Iterable[tuple[str, str, str, str]]":
    """Yield (scope, origin, key, value) of what `LIST` prints; an origin is such as `file:PATH`."""
    rows = listing.decode("utf-8", "surrogateescape").split("\0")
    for scope, origin, row in zip(rows[::3], rows[1::3], rows[2::3], strict=False):
        key, _, value = row.partition("\n")
        yield scope, origin, key, value


def overriding(listing: bytes) -> "Pairs":
    """Return what undoes the programs of a repository's own scopes, in favour of the user's own."""
    own: dict[str, str] = {}
    foreign: dict[str, None] = {}
    for scope, _, key, value in listed(listing):
        if scope in OWN_SCOPES:
            own[key] = value
        else:
            foreign[key] = None
    out: Pairs = []
    for set_key in foreign:
        out += [(name, own.get(name, value)) for name, value in _neutral(set_key)]
    return list(dict.fromkeys(out))


def _neutral(key: str) -> "Pairs":
    section, _, rest = key.partition(".")
    name, _, last = rest.rpartition(".")
    if section == "filter" and last in (*_FILTERS, "required"):
        return [
            (f"filter.{name}.required", "false"),
            *[(f"filter.{name}.{part}", "") for part in _FILTERS],
        ]
    if section == "trailer" and last in {"command", "cmd"}:
        return [
            *[(f"trailer.{name}.{rule}", "doNothing") for rule in ("ifexists", "ifmissing")],
            (key, ""),
        ]
    if section == "merge" and last == "driver":
        return [(key, "false")]  # the program `false`: a conflict
    return [(key, _DEFAULTS[key])] if key in _DEFAULTS else []


def names_transport(listing: bytes) -> bool:
    """Say whether a repository's own scopes name a program that git starts to reach a remote."""
    return any(
        scope not in OWN_SCOPES
        and f"{key.partition('.')[0]} {key.rpartition('.')[2]}" in _TRANSPORTS
        for scope, _, key, _ in listed(listing)
    )


def as_environment(pairs: "Pairs", env: "Mapping[str, str]") -> dict[str, str]:
    """Return the variables by which git takes settings, added after those of `env`.

    The names of the settings may contain any characters.
    """
    try:
        first = int(env.get("GIT_CONFIG_COUNT") or 0)
    except ValueError:
        first = 0
    out = {"GIT_CONFIG_COUNT": str(first + len(pairs))} if pairs else {}
    for number, (key, value) in enumerate(pairs, first):
        out[f"GIT_CONFIG_KEY_{number}"] = key
        out[f"GIT_CONFIG_VALUE_{number}"] = value
    return out


def _stamp(path: str) -> tuple[int, int, int]:
    try:
        facts = os.stat(path)
    except OSError:
        return 0, 0, 0
    return facts.st_mtime_ns, facts.st_size, facts.st_ino


def _lowered(path: str) -> bytes:
    """Return a configuration file in lower case.

    'include', which has it listed, for one that is not to be read.
    """
    try:
        facts = os.stat(path)
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > _LIMIT:
            return b"include"
        with open(path, "rb") as file:
            return file.read(_LIMIT).lower()
    except FileNotFoundError:
        return b""
    except OSError:
        return b"include"
