"""What can be set: in the editor under `gitmem`, in git's configuration under `gitmem.editor*`.

Pure.

The editor's value wins over git's, git's over the default. A value that makes no sense is left out
and named; the others hold.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from gitmem.config import RANGES

SECTION = "gitmem"
LEVELS = ("error", "warning", "information", "hint", "off")
DEFAULT_LEVELS = {"critical": "warning", "warning": "information", "info": "hint"}

# the editor's name -> the attribute, and the key in git's configuration after `gitmem.`
KEYS: Mapping[str, tuple[str, str]] = {
    "marks": ("marks", "editorMarks"),
    "codeLens": ("code_lens", "editorCodeLens"),
    "symbolLens": ("symbol_lens", "editorSymbolLens"),
    "inlayHints": ("inlay_hints", "editorInlayHints"),
    "outline": ("outline", "editorOutline"),
    "whyHover": ("why_hover", "editorWhyHover"),
    "completion": ("completion", "editorCompletion"),
    "unconfirmed": ("unconfirmed", "editorUnconfirmed"),
    "maxPerFile": ("max_per_file", "editorMaxPerFile"),
    "snoozeDays": ("snooze_days", "editorSnoozeDays"),
}
GIT_LEVELS = {"critical": "editorCritical", "warning": "editorWarning", "info": "editorInfo"}


@dataclass(frozen=True, slots=True, eq=False)
class Options:
    """The settings of one repository in one editor."""

    severity: Mapping[str, str] = field(default_factory=lambda: dict(DEFAULT_LEVELS))
    marks: bool = True  # whether anything is shown in the code
    code_lens: bool = True
    symbol_lens: bool = False
    inlay_hints: bool = False
    outline: bool = False
    why_hover: bool = False
    completion: bool = True
    unconfirmed: bool = True
    max_per_file: int = 20
    snooze_days: int = 7

    def level(self, severity: str) -> str:
        """Return how loud a gotcha of a severity is shown."""
        return self.severity.get(severity, self.severity.get("warning", "information"))


DEFAULTS = Options()


def from_editor(value: Any, base: Options = DEFAULTS) -> tuple[Options, list[str]]:
    """Return a base with what an editor sends laid over it, and what was wrong with that.

    Null keeps the base's value.
    """
    if value is None:
        return base, []
    if not isinstance(value, Mapping):
        return base, [f"the settings under '{SECTION}' are not object."]
    out, wrong = base, []
    levels = value.get("severity")
    if isinstance(levels, Mapping):
        good = {k: v for k, v in levels.items() if k in DEFAULT_LEVELS and v in LEVELS}
        wrong += [
            f"gitmem.severity.{k} is {v!r}; allowed: {', '.join(LEVELS)}."
            for k, v in levels.items()
            if v is not None and k not in good
        ]
        out = replace(out, severity={**out.severity, **good})
    elif levels is not None:
        wrong.append("gitmem.severity is not an object.")
    for name, (attribute, _) in KEYS.items():
        given = value.get(name)
        if given is None:
            continue
        if _fits(name, attribute, given):
            out = replace(out, **{attribute: given})
        else:
            wrong.append(f"gitmem.{name} is {given!r}, which it cannot be.")
    return out, wrong


def _fits(name: str, attribute: str, given: Any) -> bool:
    if isinstance(getattr(DEFAULTS, attribute), bool):
        return isinstance(given, bool)
    least, most = RANGES[KEYS[name][1]]
    return isinstance(given, int) and not isinstance(given, bool) and least <= given <= most


def from_git(get: Mapping[str, Any], base: Options = DEFAULTS) -> Options:
    """Return a base with a repository's `gitmem.editor*` laid over it.

    `get` holds the typed values of those that are known.
    """
    values = {attribute: get[key] for attribute, key in KEYS.values() if key in get}
    levels = {severity: get[key] for severity, key in GIT_LEVELS.items() if key in get}
    sound = {f.name for f in fields(Options)}
    out = replace(base, **{k: v for k, v in values.items() if k in sound})
    return replace(out, severity={**out.severity, **levels})
