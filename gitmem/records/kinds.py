"""Names of the format: kinds, types, statuses.

Hooks and quick commands load this: standard library only.
"""

from gitmem.clock import base32

PREFIX = {
    "memory": "mem",
    "gotcha": "got",
    "session": "ses",
    "snapshot": "snp",
    "work": "wrk",
    "dna": "dna",
    "event": "evt",
}
KIND = {prefix: kind for kind, prefix in PREFIX.items()}
SHORTEST_ULID_ID = 20  # characters that an id with a ULID surely has
LEAST_ID = 4  # characters of an id that name a record, besides its kind's
NAMED = frozenset({"work", "dna"})  # their ids end in a slug, one file a name; the others in a ULID

TYPES = ("decision", "pattern", "rule", "bug", "insight", "context", "fact", "preference", "task")
STATUSES = ("active", "decayed", "archived", "pinned")
LIVE = ("active", "pinned")  # statuses of what is told, matched and counted
IMPORTED = "imported"
# origins of what a person or an agent has to confirm; of what is imported, only what others wrote
UNSURE = ("agent", "captured", "extracted", IMPORTED)
MACHINE = "git-mem"  # as author of what was captured: it names nobody
FACTS = frozenset({"memory", "gotcha"})  # kinds of what is known
CATEGORIES = ("build", "test", "lint", "runtime", "integration", "security", "general")
SEVERITIES = ("critical", "warning", "info")


def short_id(id: str) -> str:
    """Return how an id is shown: its last eight characters, which are enough in practice.

    An id that ends in a name is shown whole.
    """
    return id if KIND.get(id[:3]) in NAMED or len(id) <= SHORTEST_ULID_ID else id[-8:]


def is_long_enough(part: str) -> bool:
    """Return whether a part of an id, in small letters, may name a record."""
    has_kind = part[:3] in KIND and part[3:4] == "-"
    return len(part[4:] if has_kind else part) >= LEAST_ID


def error_patterns(triggers: object) -> "list[str]":
    """Return the normalised errors that a record's triggers name.

    The trigger `error` is one error or a list of them.
    """
    return _texts(triggers, "error")


def command_heads(triggers: object) -> "list[str]":
    """Return the commands, by their first words, that a record's triggers name.

    The trigger `command` is one command or a list of them.
    """
    return [" ".join(x.split()) for x in _texts(triggers, "command") if x.strip()]


def _texts(triggers: object, key: str) -> "list[str]":
    given = triggers.get(key) if isinstance(triggers, dict) else None
    return [x for x in (given if isinstance(given, list) else [given]) if isinstance(x, str) and x]


def derived_id(prefix: str, text: str) -> str:
    """Return the id of a record that is made from something else.

    Made twice, in any clone, it is the same record.
    """
    from hashlib import sha256  # 2 ms, and captures are rare

    digest = sha256(text.encode("utf-8", "replace")).digest()
    return f"{prefix}-{base32(int.from_bytes(digest[:16], 'big'))}"


def gotcha_id(pattern: str) -> str:
    """Return the id of a captured gotcha: the same pattern gives the same id in every clone."""
    return derived_id("got", pattern)


def session_record_id(session: str) -> str:
    """Return the id of a session's record."""
    return derived_id("ses", f"session {session}")


def text_key(title: str, body: str) -> str:
    """Return what tells one text from another: the first 16 hex characters of a SHA-256.

    How its lines are broken does not count.
    """
    import hashlib

    return hashlib.sha256(
        f"{' '.join(title.split())}\n{' '.join(body.split())}".encode("utf-8", "replace")
    ).hexdigest()[:16]
