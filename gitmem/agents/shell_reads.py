"""Which files a shell command shows: agents without a tool for it read files by `cat` or `sed -n`.

Standard library only; the hot path imports this.
"""

import posixpath

from gitmem.agents.shell_words import ELSEWHERE, OPERATORS, simple_commands

FILES = 5  # files of one command that are looked at
LONGEST = 2000  # characters of a command that only shows files
SHOWING = ("cat", "head", "tail", "nl", "less", "more", "bat", "batcat")
_MOVING = frozenset(("cd", "pushd", "popd"))
_PARENS = frozenset("()")
_UNTOLD = frozenset("~$`*?[")  # signs of folders whose names do not stand in the command


def may_read(command: str) -> bool:
    """Return whether a command may show files: a cheap look at it."""
    return len(command) <= LONGEST and any(name in command for name in (*SHOWING, "sed -n"))


def read_names(command: str) -> "list[str]":
    """Return what may be names of files that a command shows, the first ones."""
    if "<<" in command:
        from gitmem.agents.shell_writes import without_heredocs

        command, _ = without_heredocs(command)
    names: dict[str, None] = {}
    # of the shell, and of each subshell that is open; None where nobody can tell
    folders: list[str | None] = [""]
    for words in simple_commands(command):
        plain: list[str] = []
        for word in _without_targets(words):
            if word not in _PARENS:
                plain.append(word)
                continue
            folders[-1] = _after(plain, folders[-1], names)
            plain = []
            if word == "(":
                folders.append(folders[-1])
            elif len(folders) > 1:
                folders.pop()
        folders[-1] = _after(plain, folders[-1], names)
    return list(names)[:FILES]


def _without_targets(words: "list[str]") -> "list[str]":
    """Return the words of a command, and its parentheses, without what it writes to.

    What it reads instead of its input is among them.
    """
    kept, is_target = [], False
    for word in words:
        if is_target:
            is_target = False
        elif word == ELSEWHERE or (word in OPERATORS and word not in _PARENS):
            is_target = word != "<"
        else:
            kept.append(word)
    return kept


def _after(words: "list[str]", folder: "str | None", names: "dict[str, None]") -> "str | None":
    """Note the names that a simple command shows; return the folder that it leaves."""
    head = words[0].rpartition("/")[2] if words else ""
    if head in _MOVING:  # `cd -` and options are not followed
        isdisjoint = (
            head == "cd"
            and len(words) == 2
            and words[1][:1] != "-"
            and _UNTOLD.isdisjoint(words[1])
        )
        return _joined(folder, words[1]) if isdisjoint else None
    if head in SHOWING or words[:2] == ["sed", "-n"]:
        for word in words[1:]:
            name = _joined(folder, word)
            if name is not None and word[:1] != "-":
                names[name] = None
    return folder


def _joined(folder: "str | None", name: str) -> "str | None":
    """Return a path as it is from the shell's folder; None where nobody can tell."""
    if folder is None and not name.startswith("/"):
        return None
    return posixpath.join(folder or "", name)
