"""Whether hooks are off: for a repository, a session, or this machine.

A file says so; the hot path looks for it.

Standard library only.
"""

import os

from gitmem.base.fast import dumps, loads
from gitmem.base.files import disk_error, write_atomic
from gitmem.repo.location import Home, user_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

NAME = "off"
WORDS = frozenset({"0", "false", "no", "off"})  # values of GITMEM that mean it


def by_variable(env: "Mapping[str, str]") -> bool:
    """Say whether the environment turns hooks off."""
    return env.get("GITMEM", "").strip().lower() in WORDS


def path_of(scope: str, home: Home, env: "Mapping[str, str]", session: str = "") -> str:
    """Return the file that turns a scope off: `repository`, `session` or `machine`."""
    return (
        os.path.join(user_folder(env), NAME)
        if scope == "machine"
        else home.join(f"{NAME}-{session}" if scope == "session" else NAME)
    )


def reads(path: str, now: float) -> "dict[str, Any] | None":
    """Return what an off file says (`since`, `until`: epoch seconds, None for good).

    None when there is none, or its time is over.
    """
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read(4096)
    except OSError:
        return None
    try:
        switch = loads(text)
    except (ValueError, RecursionError):
        switch = {}
    # somebody touched the file: that is clear enough
    switch = switch if isinstance(switch, dict) else {}
    until = switch.get("until")
    return None if isinstance(until, int | float) and until <= now else switch


def is_off(home: Home, env: "Mapping[str, str]", now: float, session: str = "") -> str:
    """Return the scope that is off, the widest first; empty when hooks are on."""
    for scope in ("machine", "repository", "session"):
        if (scope != "session" or session) and reads(
            path_of(scope, home, env, session), now
        ) is not None:
            return scope
    return ""


def sessions_off(home: Home, now: float) -> "list[str]":
    """Return the sessions that are turned off."""
    try:
        names = os.listdir(home.path)
    except OSError:
        return []
    return sorted(
        name[len(NAME) + 1 :]
        for name in names
        if name.startswith(f"{NAME}-")
        and (switch := reads(home.join(name), now)) is not None
        and not switch.get("forgotten")
    )


def turn_off_for_good(home: Home, now: float, session: str) -> None:
    """Turn hooks off for a session that was forgotten; no list shows it. Raises External."""
    _write(path_of("session", home, {}, session), home.shared, {"since": now, "forgotten": True})


def turn_off(
    scope: str,
    home: Home,
    env: "Mapping[str, str]",
    now: float,
    until: float | None,
    session: str = "",
) -> None:
    """Turn hooks off; raises External when the disk says no."""
    path = path_of(scope, home, env, session)
    Home(os.path.dirname(path), shared=scope != "machine" and home.shared).make()
    _write(path, scope != "machine" and home.shared, {"since": now, "until": until})


def _write(path: str, shared: int, facts: "dict[str, Any]") -> None:
    write_atomic(path, dumps(facts).encode() + b"\n", shared=shared)


def turn_on(scope: str, home: Home, env: "Mapping[str, str]", session: str = "") -> bool:
    """Turn hooks on again; False when they were not off. Raises External when the disk says no."""
    try:
        os.unlink(path_of(scope, home, env, session))
    except FileNotFoundError:
        return False
    except OSError as error:
        raise disk_error(error, path_of(scope, home, env, session)) from error
    return True
