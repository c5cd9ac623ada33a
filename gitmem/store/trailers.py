"""What the message of a store's commit says in its last lines. Pure. Part of the hot path."""

# operations of commits that no command asked for
BOOKKEEPING = frozenset({"usage", "merge", "purge", "init"})
COMMAND = "Gitmem-Command"  # the ULID that all commits of one command have
PROGRAM = "Gitmem-Program"  # who called the command: an agent's program; absent for a person
UNDOES = "Gitmem-Undoes"  # the command that a commit takes back


def command_trailers(id: str, program: str) -> list[tuple[str, str]]:
    """Return the trailers that say which command a commit belongs to, and which program ran it."""
    return [(COMMAND, id), *([(PROGRAM, program)] if program else [])]


# those that say nothing to who reads the history
SILENT = frozenset({"usage", "merge"})


def trailers(message: str) -> dict[str, list[str]]:
    """Return the Gitmem-* trailers of a commit message."""
    out: dict[str, list[str]] = {}
    for line in message.rstrip("\n").rpartition("\n\n")[2].split("\n"):
        key, colon, value = line.partition(": ")
        if colon and key.startswith("Gitmem-"):
            out.setdefault(key[7:].lower(), []).append(value)
    return out
