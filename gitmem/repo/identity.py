"""Who writes, as git would say, and whether somebody else's commit says the same.

Part of the hot path.
"""

import os
import pwd

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_LOWER = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")
# settings that name addresses of this user
KEYS = ("user.email", "author.email", "committer.email", "gitmem.ownemail")


def author(env: "Mapping[str, str]", setting: "Callable[[str], str]") -> tuple[str, str]:
    """Return the name and e-mail of the writer: git's, else the account's; never an error.

    It is who commits. `GIT_AUTHOR_*` counts only where nothing else says who that is: in a rebase
    or with `--author`, git's hooks have whoever wrote the commit there. `setting` reads git's
    configuration.
    """
    user = _user(env)
    name = (
        env.get("GIT_COMMITTER_NAME") or setting("user.name") or env.get("GIT_AUTHOR_NAME") or user
    )
    email = env.get("GIT_COMMITTER_EMAIL") or setting("user.email")
    return name, email or env.get("GIT_AUTHOR_EMAIL") or env.get("EMAIL") or f"{user}@{_node()}"


def own_addresses(
    env: "Mapping[str, str]", values: "Callable[[str], Sequence[str]]"
) -> frozenset[str]:
    """Return the e-mail addresses of this user, as `made_by` compares them.

    `values` returns all values of a key of git's configuration: a repository, or a file that
    `includeIf` brings in, may name another address than the user's general one, and both are this
    user's. Where git is told no address, it is what git makes of the account.
    """
    configured = [address for key in KEYS for address in values(key)]
    named = [*configured, env.get("GIT_COMMITTER_EMAIL", "")]
    if not any(map(fold, configured)):
        account = f"{_user(env)}@{_node()}"
        named += [env.get("EMAIL", ""), account, f"{account}.(none)"]
        named += [] if env.get("GIT_COMMITTER_EMAIL") else [env.get("GIT_AUTHOR_EMAIL", "")]
    return frozenset(folded for folded in map(fold, named) if folded)


def made_by(own: "frozenset[str]", *addresses: str) -> bool:
    """Say whether all addresses of a commit, its author's and its committer's, are this user's.

    No address, or an empty one, is nobody's.
    """
    return bool(addresses) and all(fold(address) in own for address in addresses)


def fold(address: str) -> str:
    """Return an e-mail address for comparison: only ASCII letters become lower case.

    Nothing else is changed.
    """
    return address.strip().strip("<>").strip().translate(_LOWER)


def _user(env: "Mapping[str, str]") -> str:
    return env.get("USER") or env.get("LOGNAME") or _account()


def _node() -> str:
    return os.uname().nodename or "localhost"


def _account() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except (KeyError, OSError):
        return "unknown"
