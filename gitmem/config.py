"""Settings: `gitmem.*` in git's configuration, typed, with defaults.

Read with one `git config --list` (`from_listing`), or from the copy that `settings_cache` keeps.
Standard library only; the hot path imports this module.
"""

from gitmem.errors import UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

# settings that say whom and what to trust, and what others get, models too: a person's alone
TRUST = frozenset(
    {
        "allowSecret",
        "dna",
        "geminiModel",
        "modelCommand",
        "native",
        "ownEmail",
        "remote",
        "remoteRef",
        "share",
        "shareSessions",
        "sign",
        "summariser",
        "syncOnPush",
        "unconfirmed",
    }
)
# heading -> key -> (type, default, one line for people). Keys as the user types them after
# `gitmem.`.
GROUPS: "dict[str, dict[str, tuple[str, Any, str]]]" = {
    "Identity": {
        "agent": ("text", "", "your namespace; '' reads and writes 'global'"),
        "ownEmail": (
            "list",
            (),
            (
                "further e-mail addresses that you commit under, besides user.email; may be given "
                "several times"
            ),
        ),
        "sign": (
            "bool",
            False,
            "sign memory commits as your own git configuration signs commits; read from that only",
        ),
    },
    "Sharing": {
        "remote": (
            "text",
            "",
            "the one remote that memory is pushed to; set by 'git mem remote enable'",
        ),
        "remoteRef": (
            "text",
            "",
            "the ref on that remote; set by 'git mem remote enable --branch'",
        ),
        "share": (
            "people|agents|all",
            "agents",
            (
                "whose facts go into the shared store at once: those of people; of agents too, "
                "unconfirmed; or all, also what was captured and what sessions taught"
            ),
        ),
        "shareSessions": (
            "bool",
            False,
            "publish of each session's record the agent, the model, the commits and the files",
        ),
    },
    "Git hooks": {
        "preCommit": (
            "show|block|off",
            "show",
            (
                "what git's hook does about critical gotchas of staged files: show them, or stop "
                "the commit too"
            ),
        ),
        "commitTrailer": (
            "bool",
            False,
            (
                "name the session of an agent in the messages of its commits, by a trailer "
                "'Gitmem-Session'"
            ),
        ),
        "syncOnPush": (
            "bool",
            False,
            (
                "exchange memory with its remote when git pushes, by the hook that 'git mem "
                "install git-hooks' writes"
            ),
        ),
    },
    "Capture": {
        "capture": ("bool", True, "make a gotcha of an error that repeats"),
        "captureThreshold": (
            "int",
            3,
            "how often an error must happen in 24 hours to become a gotcha",
        ),
        "recordSessions": ("bool", True, "keep a record of each session in the private store"),
        "propose": (
            "bool",
            True,
            "put what a session taught into the inbox: decisions, fixes, patterns, tasks",
        ),
        "ignore": (
            "list",
            (),
            (
                "files that hooks never store anything of, as in .gitmemignore; may be given "
                "several times"
            ),
        ),
        "allowSecret": (
            "list",
            (),
            "regular expressions of values that are not secrets; may be given several times",
        ),
    },
    "What agents receive": {
        "inject": ("bool", True, "answer agent hooks with memories"),
        "injectBudget": (
            "tokens",
            1200,
            (
                "tokens that a session start may add; a prompt may add a third of it, a tool call "
                "about a fifth"
            ),
        ),
        "unconfirmed": (
            "bool",
            True,
            "tell agents and editors what was captured and not yet confirmed, marked as such",
        ),
        "scout": (
            "bool",
            True,
            "name to agents the files that a prompt for a larger task is probably about",
        ),
    },
    "Background work": {
        "consolidate": (
            "bool",
            True,
            "remove faded facts and merge duplicates in the background, at most once a day",
        ),
        "dna": (
            "shared|private|off",
            "private",
            (
                "which store keeps the DNA of the project that sessions keep up; 'off': none is "
                "made but by command"
            ),
        ),
        "native": (
            "off|pull|push|sync",
            "off",
            "keep agents' own memory files in step at the start and end of sessions",
        ),
    },
    "Models": {
        "summariser": (
            "offline|claude|gemini|codex|command",
            "offline",
            (
                "who reads what a session taught; anything but 'offline' sends its text to a "
                "model, and is read from your own configuration only"
            ),
        ),
        "geminiModel": (
            "text",
            "gemini-2.5-flash",
            "the model that is asked when summariser is 'gemini'",
        ),
        "modelCommand": (
            "text",
            "",
            (
                "the program that is asked when summariser is 'command'; read from your own "
                "configuration only"
            ),
        ),
    },
    "Editors": {
        "editorMarks": (
            "bool",
            True,
            "show anything in editors; off, they show nothing in the code",
        ),
        "editorCodeLens": ("bool", True, "count a file's gotchas above its first line"),
        "editorWhyHover": (
            "bool",
            False,
            "tell in a hover which commit, session and prompt made a line",
        ),
    },
}
SETTINGS = {key: row for group in GROUPS.values() for key, row in group.items()}
# the least and the most that a number may be
RANGES = {"captureThreshold": (1, 1000), "injectBudget": (0, 100_000)}
# What a stranger's repository could run, or send a key or a session to, by them: a repository's own
# configuration may only switch them off, and they are in no cache.
OWN = ("modelCommand", "summariser", "sign")
KEYS = frozenset(f"gitmem.{key.lower()}" for key in SETTINGS)
OWN_KEYS = frozenset(f"gitmem.{key.lower()}" for key in OWN)
_PROGRAMS = frozenset({"core.pager", "core.editor"})  # of git's own, what we would run
_BY_LOWER = {key.lower(): key for key in SETTINGS}
NUMBER_LIMIT = 10  # digits
TRUE, FALSE = frozenset({"true", "yes", "on", "1", ""}), frozenset({"false", "no", "off", "0"})


class Settings:
    """Typed settings; attribute access by `get`.

    Values that do not parse keep their default and are listed.
    """

    def __init__(self, raw: "Mapping[str, Sequence[str]]") -> None:
        self.raw = raw
        self.problems: list[str] = []
        # keys of OWN that this repository's configuration sets, for nothing
        self.refused: tuple[str, ...] = ()
        # configuration files -> (key, value) of each `include.path` in them
        self.files: dict[str, list[tuple[str, str]]] = {}
        # keys under `gitmem.` -> for each of their values in `raw`, git's name of the scope it is
        # from
        self.scopes: dict[str, list[str]] = {}
        self._values: dict[str, Any] = {key: row[1] for key, row in SETTINGS.items()}
        for lower, given in raw.items():
            if not lower.startswith("gitmem."):
                continue
            key = _BY_LOWER.get(lower[7:])
            if key is None:
                self.problems.append(f"{lower} is no setting of git mem, and does nothing.")
                continue
            try:
                self._values[key] = (
                    tuple(given) if SETTINGS[key][0] == "list" else parse(key, given[-1])
                )
            except UserError as error:
                self.problems.append(str(error))

    def get(self, key: str) -> "Any":
        """Return a setting's value."""
        return self._values[key]

    def git(self, key: str, default: str = "") -> str:
        """Return the last value of any git setting (lower-case key)."""
        values = self.raw.get(key)
        return values[-1] if values else default

    def every(self, key: str) -> "Sequence[str]":
        """Return all values of any git setting (lower-case key), of all files that set it."""
        return self.raw.get(key, ())


def parse(key: str, text: str) -> "Any":
    """Return a setting's typed value; raises UserError that names what is allowed."""
    kind = SETTINGS[key][0]
    value = text.strip()
    if kind == "bool" and value.lower() in TRUE | FALSE:
        return value.lower() in TRUE
    if key in RANGES:
        least, most = RANGES[key]
        number = int(value) if value.isdecimal() and len(value) < NUMBER_LIMIT else least - 1
        if least <= number <= most:
            return number
    elif kind in {"text", "list"} or ("|" in kind and value in kind.split("|")):
        return value
    raise UserError(f"gitmem.{key} is '{text}'; allowed: {allowed(key)}.")


def allowed(key: str) -> str:
    """Return the values that a setting may have, for people."""
    kind = SETTINGS[key][0]
    if key in RANGES:
        least, most = RANGES[key]
        return f"{'a whole number' if kind == 'int' else kind} from {least} to {most:,}"
    if kind in {"text", "list"}:
        return "any text" if kind == "text" else "texts, one a call"
    return "true, false" if kind == "bool" else kind.replace("|", ", ")


def prompt_budget(settings: Settings) -> int:
    """Return the tokens that a prompt may add: a third of what a session start may."""
    return int(settings.get("injectBudget")) // 3


def tool_budget(settings: Settings) -> int:
    """Return the tokens that a tool call may add: about a fifth of what a session start may."""
    return int(settings.get("injectBudget")) * 5 // 24


def canonical_key(name: str) -> "str | None":
    """Return a setting's key for what the user typed (`gitmem.` may be left out), None for none."""
    short = name[7:] if name.lower().startswith("gitmem.") else name
    return _BY_LOWER.get(short.lower())


def from_listing(output: bytes) -> Settings:
    """Return the settings of what git prints for `git_guard.LIST`.

    What a repository may not set is not taken from it, and listed.
    """
    # most hooks find the settings in the cache
    from gitmem.base.git_guard import OWN_SCOPES, listed

    raw: dict[str, list[str]] = {}
    refused: set[str] = set()
    files: dict[str, list[tuple[str, str]]] = {}
    scopes: dict[str, list[str]] = {}
    for scope, origin, key, value in listed(output):
        if origin.startswith("file:"):
            includes = files.setdefault(origin[5:], [])
            if key.startswith(("include.", "includeif.")) and key.endswith(".path"):
                includes.append((key, value))
        if scope not in OWN_SCOPES and key in _PROGRAMS:
            continue
        if scope not in OWN_SCOPES and key in OWN_KEYS and not switches_off(key[7:], value):
            refused.add(_BY_LOWER[key[7:]])
            continue
        if key.startswith("gitmem."):
            scopes.setdefault(key, []).append(scope)
        raw.setdefault(key, []).append(
            value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        )
    settings = Settings(raw)
    settings.refused = tuple(sorted(refused))
    settings.files, settings.scopes = files, scopes
    return settings


def switches_off(key: str, value: str) -> bool:
    """Say whether a value is the default of a setting, which runs nothing and sends nothing."""
    try:
        name = _BY_LOWER[key.lower()]
        return bool(parse(name, value) == SETTINGS[name][1])
    except UserError:
        return False


def refusal(key: str) -> tuple[str, str]:
    """Return what to report on a setting that a repository's own configuration must not hold.

    The second text tells what to do.
    """
    what = (
        f"gitmem.{key} in this repository's own configuration is ignored, because the maker of "
        f"the repository could have set it."
    )
    return (
        what,
        (
            f"Set it for yourself: git mem config --global {key} VALUE; to remove it here: git "
            f"config --unset-all gitmem.{key}"
        ),
    )


def removal(settings: Settings, problem: str) -> str:
    """Return what to do about one of `settings.problems`, which begins with its key."""
    import shlex

    lower = problem.lower()
    key = next((key for key in settings.scopes if lower.startswith(f"{key.lower()} ")), "")
    # whoever made the repository may have chosen the key: it is no option, and runs nothing
    name, whole = key[7:] if key[7:].isalnum() else shlex.quote(key), shlex.quote(key)
    commands = {
        "local": f"git mem config --unset {name}",
        "global": f"git mem config --global --unset {name}",
        "worktree": f"git config --worktree --unset-all {whole}",
        "system": f"git config --system --unset-all {whole}",
    }
    command = commands.get(settings.scopes[key][-1]) if key else None
    return f"Remove it: {command}" if command else "It was set for this command alone."


def command_settings(env: "Mapping[str, str]") -> dict[str, str]:
    """Return the variables by which `git -c KEY=VALUE` passes settings on.

    They are for one command, and are in no cache.
    """
    return {
        k: v
        for k, v in env.items()
        if k.startswith(
            ("GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_")
        )
    }
