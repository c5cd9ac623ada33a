"""What the message of a store's commit says in its last lines. Pure."""

# operations of commits that nobody asked for
BOOKKEEPING = frozenset({"usage", "merge", "purge", "init"})


def trailers(message: str) -> dict[str, list[str]]:
    """Return the Gitmem-* trailers of a commit message."""
    out: dict[str, list[str]] = {}
    for line in message.rstrip("\n").rpartition("\n\n")[2].split("\n"):
        key, colon, value = line.partition(": ")
        if colon and key.startswith("Gitmem-"):
            out.setdefault(key[7:].lower(), []).append(value)
    return out
