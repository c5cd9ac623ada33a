"""`state.json` of a snapshot: what its trees cannot say.

Whoever made the snapshot wrote it, so each field is checked before it is used.
"""

import json
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

VERSION = 1
_OID = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})\Z")
_STAGE_MODES = frozenset({"000000", "100644", "100755", "120000", "160000"})
_FLAG = re.compile(r"[A-Za-z]\Z")
_MODE = re.compile(r"(100644|100755|120000|160000)\Z")
_PERMISSIONS = re.compile(r"[0-7]{3}\Z")


class StateDamaged(ValueError):
    """A `state.json` that no git mem wrote; the text says where it is wrong."""


class StateTooNew(ValueError):
    """A `state.json` of a later format."""


@dataclass(slots=True)
class SnapshotState:
    """What the trees of a snapshot cannot say. Paths are str with surrogates."""

    commit: str = ""
    branch: str = ""
    # files of `worktree` that are as they were on disk; the others are as git has them, before its
    # filters
    raw: list[str] = field(default_factory=list)
    # 'S' skip-worktree, 'h' assumed unchanged, 's' both
    flags: dict[str, str] = field(default_factory=dict)
    # `git add -N`: path -> the mode of the entry
    intended: dict[str, str] = field(default_factory=dict)
    # path -> (mode, oid) of the three stages
    unmerged: dict[str, list[list[str]]] = field(default_factory=dict)
    omitted: list[dict[str, Any]] = field(default_factory=list)  # path, why
    # permissions that git does not keep, three octal digits
    modes: dict[str, str] = field(default_factory=dict)
    # what git ignored then; folders end in a slash
    ignored: list[str] = field(default_factory=list)
    # a merge, a rebase …: its name -> a commit, or ''
    under_way: dict[str, str] = field(default_factory=dict)
    record: str = ""

    def encode(self) -> bytes:
        """Return it as JSON."""
        facts = {name: getattr(self, name) for name in self.__slots__}
        return json.dumps({"v": VERSION, **facts}, indent=1).encode()

    def paths(self) -> Iterable[str]:
        """Yield all paths that a restore may use."""
        yield from self.raw
        yield from self.flags
        yield from self.intended
        yield from self.unmerged
        yield from self.modes


def decode(data: bytes) -> SnapshotState:
    """Return the state that some JSON says; raises StateDamaged, StateTooNew."""
    try:
        loaded = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise StateDamaged("state.json is not JSON") from error
    if not isinstance(loaded, dict):
        raise StateDamaged("state.json is not an object")
    version = loaded.get("v")
    if isinstance(version, int) and not isinstance(version, bool) and version > VERSION:
        raise StateTooNew
    if version != VERSION:
        raise StateDamaged("'v' is not a version")
    state = SnapshotState(
        **{name: loaded[name] for name in SnapshotState.__slots__ if name in loaded}
    )
    _check_texts(state)
    _check_lists(state)
    _check_maps(state)
    return state


def _check_texts(state: SnapshotState) -> None:
    for name in ("commit", "branch", "record"):
        if not isinstance(getattr(state, name), str):
            raise StateDamaged(f"'{name}' is not a text")
    if state.commit and not _OID.match(state.commit):
        raise StateDamaged("'commit' is not the id of a commit")


def _check_lists(state: SnapshotState) -> None:
    for name in ("raw", "ignored", "omitted"):
        if not isinstance(getattr(state, name), list):
            raise StateDamaged(f"'{name}' is not a list")
    for name in ("raw", "ignored"):
        for path in getattr(state, name):
            _check_path(name, path)
    for omitted in state.omitted:
        if not isinstance(omitted, dict) or not isinstance(omitted.get("reason"), str):
            raise StateDamaged("'omitted' has an entry without a path and a reason")
        _check_path("omitted", omitted.get("path"))


def _check_maps(state: SnapshotState) -> None:
    for name in ("flags", "intended", "unmerged", "modes", "under_way"):
        if not isinstance(getattr(state, name), dict):
            raise StateDamaged(f"'{name}' is not an object")
    for name, expression in (("flags", _FLAG), ("intended", _MODE), ("modes", _PERMISSIONS)):
        for path, value in getattr(state, name).items():
            _check_path(name, path)
            if not isinstance(value, str) or not expression.match(value):
                raise StateDamaged(f"'{name}' has a value that it cannot have")
    for path, stages in state.unmerged.items():
        _check_path("unmerged", path)
        _check_stages(stages)
    for value in state.under_way.values():
        if not isinstance(value, str) or (value and not _OID.match(value)):
            raise StateDamaged("'under_way' has a value that is not the id of a commit")


def _check_stages(stages: object) -> None:
    if not isinstance(stages, list) or len(stages) != 3:
        raise StateDamaged("'unmerged' has an entry without three sides")
    for stage in stages:
        if not isinstance(stage, list) or len(stage) != 2:
            raise StateDamaged("'unmerged' has a side that is not a mode and an object")
        mode, oid = stage
        if not isinstance(mode, str) or mode not in _STAGE_MODES:
            raise StateDamaged("'unmerged' has a mode that git does not have")
        if not isinstance(oid, str) or not (_OID.match(oid) or (mode == "000000" and not oid)):
            raise StateDamaged("'unmerged' has a side that names no object")


def _check_path(name: str, path: object) -> None:
    try:
        if isinstance(path, str) and path:
            os.fsencode(path)
            return
    except UnicodeEncodeError:
        pass
    raise StateDamaged(f"'{name}' has an entry that is not a path")
