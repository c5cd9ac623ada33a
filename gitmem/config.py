"""Settings: `gitmem.*` in git's configuration, typed, with defaults.

Read with one `git config --list` (`from_listing`), or from the copy that `settings_cache` keeps.
Standard library only; the hot path imports this module.
"""

from gitmem.errors import UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

# key -> (type, default, one line for people). Keys as the user types them after `gitmem.`.
# settings that say whom and what to trust, and what others get: a person's alone
TRUST = frozenset(
    {
        *("shareAgent", "shareCaptured", "shareExtracted", "shareSessions", "native"),
        *("allowSecret", "ownEmail", "injectUnconfirmed", "remote"),
    }
)
SETTINGS: "dict[str, tuple[str, Any, str]]" = {
    "backend": ("libgit2|git|auto", "auto", "which implementation reads and writes git objects"),
    "sign": (
        "bool",
        False,
        "sign memory commits as your own git configuration signs commits; read from that only",
    ),
    "agent": ("text", "", "your namespace; '' reads and writes 'global'"),
    "ownEmail": (
        "list",
        (),
        (
            "further e-mail addresses that you commit under, besides user.email; may be given "
            "several times"
        ),
    ),
    "remote": (
        "text",
        "",
        "the one remote that memory is pushed to; set by 'git mem remote enable'",
    ),
    "remoteRef": ("text", "", "the ref on that remote; set by 'git mem remote enable --branch'"),
    "syncOnPush": (
        "bool",
        False,
        (
            "exchange memory with its remote when git pushes, by the hook that 'git mem install "
            "git-hooks' writes"
        ),
    ),
    "preCommit": (
        "show|block|off",
        "show",
        (
            "what git's hook does about critical gotchas of staged files: show them, or stop the "
            "commit too"
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
    "syncTimeout": ("seconds", 60.0, "how long one exchange with a remote may take"),
    "captureThreshold": ("int", 3, "how often an error must happen to become a gotcha"),
    "captureWindow": ("hours", 24.0, "the sliding window in which it must happen"),
    "captureSessions": (
        "bool",
        False,
        "count an error once a session, however often it happens there",
    ),
    "capture": ("bool", True, "make a gotcha of an error that repeats"),
    "inject": ("bool", True, "answer agent hooks with memories"),
    "injectUnconfirmed": (
        "bool",
        True,
        "tell agents what was captured and not yet confirmed, marked as such",
    ),
    "startBudget": ("tokens", 1200, "tokens that a session start may add"),
    "promptBudget": ("tokens", 400, "tokens that a prompt may add"),
    "fileBudget": ("tokens", 250, "tokens that a tool call may add"),
    "ignore": (
        "list",
        (),
        "files that hooks never store anything of, as in .gitmemignore; may be given several times",
    ),
    "recordSessions": ("bool", True, "keep a record of each session in the private store"),
    "shareSessions": (
        "bool",
        False,
        "publish of each session's record the agent, the model, the commits and the files",
    ),
    "shareAgent": (
        "bool",
        True,
        "put facts that agents write by 'git mem add' into the shared store, unconfirmed",
    ),
    "shareCaptured": (
        "bool",
        False,
        "put gotchas that were captured from errors into the shared store at once, unconfirmed",
    ),
    "shareExtracted": (
        "bool",
        False,
        "put what sessions taught into the shared store at once, unconfirmed",
    ),
    "propose": (
        "bool",
        True,
        "put what a session taught into the inbox: decisions, fixes, patterns, tasks",
    ),
    "historyLimit": (
        "int",
        400000,
        "bytes of a session's history from which on its older turns are condensed by topic",
    ),
    "consolidate": (
        "bool",
        True,
        "collect what faded and merge what is said twice, in the background, once a day at most",
    ),
    "summariser": (
        "offline|claude|gemini|codex|command",
        "offline",
        (
            "who reads what a session taught; anything but 'offline' sends its text to a model, "
            "and is read from your own configuration only"
        ),
    ),
    "geminiModel": (
        "text",
        "gemini-2.5-flash",
        "the model that is asked when summariser is 'gemini'",
    ),
    "geminiKey": (
        "text",
        "",
        "its key; '' takes GEMINI_API_KEY or GOOGLE_API_KEY; read from your own configuration only",
    ),
    "geminiUrl": (
        "text",
        "",
        "base URL of its server; '' is Google's; read from your own configuration only",
    ),
    "modelCommand": (
        "text",
        "",
        (
            "the program that is asked when summariser is 'command'; read from your own "
            "configuration only"
        ),
    ),
    "modelTimeout": ("seconds", 60.0, "how long one answer of a model may take"),
    "modelBudget": ("tokens", 100000, "tokens that a model may be given for one session"),
    "dna": (
        "shared|private|off",
        "private",
        (
            "which store keeps the DNA of the project that sessions keep up; 'off': none is made "
            "but by command"
        ),
    ),
    "workflows": (
        "auto|aios|off",
        "auto",
        (
            "workflows known besides those of .gitmem/workflows.yaml: 'aios' are those of AIOS; "
            "'auto' has them where its folder .aios-core or .aiox-core is there"
        ),
    ),
    "dnaBudget": ("tokens", 1000, "tokens that the DNA of a project, or of a workspace, may have"),
    "scout": (
        "bool",
        True,
        "name to agents the files that a prompt for a larger task is probably about",
    ),
    "decayClock": (
        "active|wall",
        "active",
        (
            "the hours by which facts fade: those in which this repository was worked in, or all; "
            "'wall' keeps and shares no such hours"
        ),
    ),
    "snapshotKeep": ("int", 50, "how many snapshots stay, besides pinned ones"),
    "snapshotDays": ("int", 7, "for how many days a snapshot stays that is not pinned"),
    "native": (
        "off|pull|push|sync",
        "off",
        "keep agents' own memory files in step at the start and end of sessions",
    ),
    "saveReminder": (
        "bool",
        False,
        "once a session, remark to the agent that it decided something and recorded nothing",
    ),
    "allowSecret": (
        "list",
        (),
        "regular expressions of values that are not secrets; may be given several times",
    ),
    "editorCritical": (
        "error|warning|information|hint|off",
        "warning",
        "how loud editors show a critical gotcha",
    ),
    "editorWarning": (
        "error|warning|information|hint|off",
        "information",
        "how loud editors show a gotcha of severity warning",
    ),
    "editorInfo": (
        "error|warning|information|hint|off",
        "hint",
        "how loud editors show a gotcha of severity info",
    ),
    "editorMarks": ("bool", True, "show anything in editors; off, they show nothing in the code"),
    "editorCodeLens": ("bool", True, "count a file's gotchas above its first line"),
    "editorSymbolLens": ("bool", False, "count the gotchas of a function or class above it"),
    "editorInlayHints": ("bool", False, "write a gotcha's title behind its line"),
    "editorOutline": ("bool", False, "list gotchas among a file's symbols"),
    "editorWhyHover": (
        "bool",
        False,
        "tell in a hover which commit, session and prompt made a line",
    ),
    "editorCompletion": ("bool", True, "complete ids of records in Markdown and commit messages"),
    "editorUnconfirmed": (
        "bool",
        True,
        "show in editors what was captured and not yet confirmed, marked as such",
    ),
    "editorMaxPerFile": ("int", 20, "lines of a file that editors mark at most"),
    "editorSnoozeDays": ("int", 7, "days for which an editor's 'snooze' hides a gotcha"),
    "pager": (
        "text",
        "",
        "pager for git mem; '' uses git's; read from your own configuration only",
    ),
}
# the least and the most that a number may be
RANGES = {
    "syncTimeout": (1, 3600),
    "captureThreshold": (1, 1000),
    "captureWindow": (0.1, 8760),
    "startBudget": (0, 100_000),
    "promptBudget": (0, 100_000),
    "fileBudget": (0, 100_000),
    "historyLimit": (0, 100_000_000),
    "modelTimeout": (1, 3600),
    "modelBudget": (1000, 10_000_000),
    "dnaBudget": (100, 100_000),
    "snapshotKeep": (0, 100_000),
    "snapshotDays": (0, 3650),
    "editorMaxPerFile": (1, 200),
    "editorSnoozeDays": (1, 3650),
}
# What a stranger's repository could run, or send a key or a session to, by them: a repository's own
# configuration may only switch them off, and they are in no cache.
OWN = ("geminiKey", "geminiUrl", "modelCommand", "summariser", "sign", "pager")
OWN_KEYS = frozenset(f"gitmem.{key.lower()}" for key in OWN)
_PROGRAMS = frozenset({"core.pager", "core.editor"})  # of git's own, what we would run
_BY_LOWER = {key.lower(): key for key in SETTINGS}
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
        self._values: dict[str, Any] = {key: row[1] for key, row in SETTINGS.items()}
        for lower, given in raw.items():
            if not lower.startswith("gitmem."):
                continue
            key = _BY_LOWER.get(lower[7:])
            if key is None:
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
    if kind == "bool":
        if value.lower() in TRUE | FALSE:
            return value.lower() in TRUE
        raise UserError(f"gitmem.{key} is '{text}', which is neither true nor false.")
    if "|" in kind:
        if value in kind.split("|"):
            return value
        raise UserError(f"gitmem.{key} is '{text}'; allowed: {kind.replace('|', ', ')}.")
    return _number(key, text) if key in RANGES else value


def _number(key: str, text: str) -> float:
    """Return a number within its range. Raises UserError that names the range."""
    kind, (least, most) = SETTINGS[key][0], RANGES[key]
    try:
        number: float = float(text) if kind in {"seconds", "hours"} else int(text)
    except ValueError:
        number = least - 1
    if least <= number <= most:
        return number
    what = "a whole number" if kind == "int" else f"{kind},"
    raise UserError(f"gitmem.{key} is '{text}'; allowed: {what} from {least:g} to {most:,}.")


def canonical_key(name: str) -> str:
    """Return a setting's key for what the user typed (`gitmem.` may be left out).

    Raises UserError.
    """
    short = name[7:] if name.lower().startswith("gitmem.") else name
    key = _BY_LOWER.get(short.lower())
    if key is None:
        raise UserError(f"there is no setting '{name}'.", "See all with: git mem config")
    return key


def from_listing(output: bytes) -> Settings:
    """Return the settings of what git prints for `git_guard.LIST`.

    What a repository may not set is not taken from it, and listed.
    """
    # most hooks find the settings in the cache
    from gitmem.base.git_guard import OWN_SCOPES, listed

    raw: dict[str, list[str]] = {}
    refused: set[str] = set()
    files: dict[str, list[tuple[str, str]]] = {}
    for scope, origin, key, value in listed(output):
        if origin.startswith("file:"):
            includes = files.setdefault(origin[5:], [])
            if key.startswith(("include.", "includeif.")) and key.endswith(".path"):
                includes.append((key, value))
        if scope not in OWN_SCOPES and key in _PROGRAMS:
            continue
        if (
            scope not in OWN_SCOPES
            and key in OWN_KEYS
            and not switches_off(_BY_LOWER[key[7:]], value)
        ):
            refused.add(_BY_LOWER[key[7:]])
            continue
        raw.setdefault(key, []).append(
            value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        )
    settings = Settings(raw)
    settings.refused = tuple(sorted(refused))
    settings.files = files
    return settings


def switches_off(key: str, value: str) -> bool:
    """Say whether a value is the default of a setting, which runs nothing and sends nothing."""
    try:
        return bool(parse(key, value) == SETTINGS[key][1])
    except UserError:
        return False


def refusal(key: str) -> tuple[str, str]:
    """Return what to report on a setting that a repository's own configuration must not hold.

    The second text tells what to do.
    """
    how = (
        "export GEMINI_API_KEY=…" if key == "geminiKey" else f"git mem config --global {key} VALUE"
    )
    what = (
        f"gitmem.{key} in this repository's own configuration is ignored: whoever made the "
        f"repository could have set it."
    )
    return (
        what,
        f"Set it for yourself: {how}; to remove it here: git config --unset-all gitmem.{key}",
    )


def one_off(env: "Mapping[str, str]") -> dict[str, str]:
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
