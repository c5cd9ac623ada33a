"""Which files git may write differently from how it stores them.

Settings of line ends, or attributes (gitattributes(5)), cause that.
"""

import os
from collections.abc import Sequence

from gitmem.git.work_state import Work

CHECKED_OUT_AS_STORED = "as stored"  # git changes line ends on the way in only
LINE_ENDS = "line ends"  # git writes CRLF
REWRITTEN = "rewritten"  # `ident`, `working-tree-encoding`
FILTERED = "filtered"  # a program of the user's configuration
ATTRIBUTES = ("text", "crlf", "eol", "ident", "filter", "working-tree-encoding")
ATTRIBUTES_FILE = ".gitattributes"
_NONE = frozenset({"unspecified", "unset"})


class Conversions:
    """What git does with some paths of a work tree."""

    def __init__(self, work: Work, paths: Sequence[str]) -> None:
        self._work = work
        self._paths = paths
        self._settings = work.settings("core.autocrlf", "core.eol", "core.attributesFile")
        self._autocrlf = self._settings.get("core.autocrlf", "").lower()
        self._has_attributes = self._look_for_attributes()

    @property
    def possible(self) -> bool:
        """Whether any file may be converted."""
        return self._has_attributes or self._autocrlf not in {"", "false", "no", "off", "0"}

    def _look_for_attributes(self) -> bool:
        named = (ATTRIBUTES_FILE, f"/{ATTRIBUTES_FILE}")
        if any(path == named[0] or path.endswith(named[1]) for path in self._paths):
            return True
        env = self._work.environment
        base = env.get("XDG_CONFIG_HOME") or os.path.join(env.get("HOME", ""), ".config")
        places = [
            os.path.join(self._work.root, ATTRIBUTES_FILE),
            *(os.path.join(folder, "info", "attributes") for folder in self._work.git_folders),
            os.path.join(base, "git", "attributes"),
        ]
        return "core.attributesfile" in self._settings or any(map(os.path.exists, places))

    def of_paths(self) -> dict[str, str]:
        """Return {path: kind} of the files that git may convert."""
        rows = self._work.attributes(self._paths, ATTRIBUTES) if self._has_attributes else {}
        kinds = {}
        for path in self._paths:
            kind = self._kind(rows.get(path, {}))
            if kind:
                kinds[path] = kind
        return kinds

    def _kind(self, attributes: dict[str, str]) -> str:
        """Return what git does with a file that has these attributes; empty for nothing."""
        values = {name: value for name, value in attributes.items() if value != "unspecified"}
        if values.get("filter", "unset") not in _NONE:
            return FILTERED
        encoding = values.get("working-tree-encoding", "unset")
        if values.get("ident") == "set" or encoding not in _NONE:
            return REWRITTEN
        text = values.get("text", values.get("crlf", ""))
        return "" if text == "unset" else self._line_ends(text, values)

    def _line_ends(self, text: str, values: dict[str, str]) -> str:
        """Return what becomes of the line ends of a file that is text, or may be."""
        eol = "lf" if text == "input" else values.get("eol", "")
        is_text = bool(text or eol)
        if eol:
            return LINE_ENDS if eol == "crlf" else CHECKED_OUT_AS_STORED
        if self._autocrlf in {"true", "yes", "on", "1"}:
            return LINE_ENDS
        if not is_text:
            return CHECKED_OUT_AS_STORED if self._autocrlf == "input" else ""
        if self._autocrlf != "input" and self._settings.get("core.eol", "").lower() == "crlf":
            return LINE_ENDS
        return CHECKED_OUT_AS_STORED
