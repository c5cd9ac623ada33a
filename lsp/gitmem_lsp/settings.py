"""What can be set: in the editor under `gitmem`, in git's configuration under `gitmem.`.

Pure.

The editor's value wins over git's, git's over the default. A value that makes no sense is left out
and named; the others hold.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

SECTION = "gitmem"
# the editor's name -> the attribute, and the key in git's configuration after `gitmem.`
KEYS: Mapping[str, tuple[str, str]] = {
    "marks": ("marks", "editorMarks"),
    "codeLens": ("code_lens", "editorCodeLens"),
    "whyHover": ("why_hover", "editorWhyHover"),
    "unconfirmed": ("unconfirmed", "unconfirmed"),
}


@dataclass(frozen=True, slots=True, eq=False)
class Options:
    """The settings of one repository in one editor."""

    marks: bool = True  # whether anything is shown in the code
    code_lens: bool = True
    why_hover: bool = False
    unconfirmed: bool = True


DEFAULTS = Options()


def from_editor(value: Any, base: Options = DEFAULTS) -> tuple[Options, list[str]]:
    """Return a base with what an editor sends laid over it, and what was wrong with that.

    Null keeps the base's value.
    """
    if value is None:
        return base, []
    if not isinstance(value, Mapping):
        return base, [f"the settings under '{SECTION}' are not an object."]
    given = {name: value[name] for name in KEYS if value.get(name) is not None}
    good = {KEYS[name][0]: x for name, x in given.items() if isinstance(x, bool)}
    wrong = [
        f"gitmem.{name} is {x!r}; allowed: true, false."
        for name, x in given.items()
        if not isinstance(x, bool)
    ]
    return replace(base, **good), wrong


def from_git(get: Mapping[str, Any], base: Options = DEFAULTS) -> Options:
    """Return a base with a repository's settings laid over it.

    `get` holds the typed values of those that are set.
    """
    return replace(base, **{name: get[key] for name, key in KEYS.values() if key in get})
