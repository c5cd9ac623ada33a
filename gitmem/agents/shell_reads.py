"""Which files a shell command shows: agents without a tool for it read files by `cat` or `sed -n`.

Standard library only; the hot path imports this.
"""

from gitmem.agents.shell_words import simple_commands

FILES = 5  # files of one command that are looked at
LONGEST = 2000  # characters of a command that only shows files
SHOWING = ("cat", "head", "tail", "nl", "less", "more", "bat", "batcat")


def may_read(command: str) -> bool:
    """Return whether a command may show files: a cheap look at it."""
    return len(command) <= LONGEST and any(name in command for name in (*SHOWING, "sed -n"))


def read_names(command: str) -> "list[str]":
    """Return what may be names of files that a command shows, the first ones."""
    names: dict[str, None] = {}
    folder = ""
    for words in simple_commands(command):
        head = words[0].rpartition("/")[2]
        if head == "cd" and len(words) == 2:
            folder = f"{words[1]}/"
        elif head in SHOWING or words[:2] == ["sed", "-n"]:
            for word in words[1:]:
                if word[:1] not in {"-", "<", ">", "|"}:
                    names[word if word.startswith("/") else folder + word] = None
    return list(names)[:FILES]
