"""Who writes, as git would say."""

import os
import pwd
from collections.abc import Callable, Mapping


def author(env: Mapping[str, str], setting: Callable[[str], str]) -> tuple[str, str]:
    """Return the name and e-mail of the writer: git's, else the account's; never an error. `setting` reads git's configuration."""
    user = env.get("USER") or env.get("LOGNAME") or _account()
    name = env.get("GIT_AUTHOR_NAME") or setting("user.name") or user
    email = env.get("GIT_AUTHOR_EMAIL") or setting("user.email") or env.get("EMAIL") or f"{user}@{os.uname().nodename or 'localhost'}"
    return name, email


def _account() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except (KeyError, OSError):
        return "unknown"
