"""Modes of our files and folders.

They are for their owner alone, or as git makes its own files where a repository is shared.

`core.sharedRepository` is kept as git keeps it: 0 for none, a mode that is added (`group`, `all`),
or, below zero, the mode that a file gets, whatever the umask (`0640`). Standard library only; the
hot path imports this module.
"""

import os

from gitmem.base.regular_files import read_regular

GROUP, EVERYBODY = 0o660, 0o664
_WORDS = {
    "": 0,
    "umask": 0,
    "false": 0,
    "no": 0,
    "off": 0,
    "group": GROUP,
    "true": GROUP,
    "yes": GROUP,
    "on": GROUP,
    "all": EVERYBODY,
    "world": EVERYBODY,
    "everybody": EVERYBODY,
}
_KEY = b"sharedrepository"
_NUMBERS = {0: 0, 1: GROUP, 2: EVERYBODY}


def parse(value: str) -> int:
    """Return what a value of core.sharedRepository asks for; 0 for one that git refuses."""
    if value.lower() in _WORDS:
        return _WORDS[value.lower()]
    try:
        number = int(value, 8)
    except ValueError:
        return 0
    if number in _NUMBERS:
        return _NUMBERS[number]
    return -(number & 0o666) if number & 0o600 == 0o600 else 0


def in_config(text: str) -> int:
    """Return what a repository's configuration file asks for.

    Git reads this setting from no other.
    """
    section, shared = "", 0
    for raw in text.split("\n"):
        line = raw.strip()
        if line.startswith("["):
            section, _, line = line[1:].partition("]")
            line = line.strip()
        key, equals, value = line.partition("=")
        if section.strip().lower() == "core" and key.strip().lower() == "sharedrepository":
            shared = parse(_unquoted(value)) if equals else GROUP
    return shared


def sharing_of(commondir: str) -> int:
    """Return whom a repository's files are shared with; 0 for nobody."""
    data = read_regular(os.path.join(commondir, "config"), 1 << 22)
    if _KEY not in data.lower():  # most files: to read all their lines takes a hundred times longer
        return 0
    return in_config(data.decode("utf-8", "replace"))


def _unquoted(value: str) -> str:
    for sign in "#;":
        value = value.partition(sign)[0]
    return value.strip().strip('"').strip()


def shared_mode(mode: int, sharing: int) -> int:
    """Return the mode that git gives what has a mode, in a repository that is shared so."""
    tweak = abs(sharing)
    if not mode & 0o200:
        tweak &= ~0o222
    if mode & 0o100:
        tweak |= (tweak & 0o444) >> 2
    return (mode & ~0o777) | tweak if sharing < 0 else mode | tweak


def create(path: str, flags: int, sharing: int) -> int:
    """Open a file of ours, which may be made by that, for its owner alone or as git makes its own.

    Return the descriptor.
    """
    if not sharing:
        return os.open(path, flags | os.O_CLOEXEC, 0o600)
    handle = os.open(path, flags | os.O_CLOEXEC, 0o666)
    facts = os.fstat(handle)
    if (
        facts.st_uid == os.geteuid()
        and (mode := shared_mode(facts.st_mode, sharing)) != facts.st_mode
    ):
        os.fchmod(handle, mode & 0o7777)
    return handle


def make_folder(path: str, sharing: int) -> None:
    """Make a folder of ours, if it is not there, for its owner alone or as git makes its own."""
    try:
        os.mkdir(path, 0o777 if sharing else 0o700)
    except FileExistsError:
        if not os.path.isdir(path):
            raise
        return
    if sharing:
        mode = shared_mode(os.stat(path).st_mode, sharing)
        mode |= (mode & 0o444) >> 2
        os.chmod(path, (mode | (0o2000 if mode & 0o060 else 0)) & 0o7777)
