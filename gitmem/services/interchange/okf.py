"""Open Knowledge Format 0.2: what its reader and its writer have in common."""

import re

NAME = "okf"
VERSION = "0.2"
RESERVED = frozenset({"index.md", "log.md"})
OWN_KEY = "gitmem"  # the key of the front matter with what only git mem knows
# what follows in a body is made from the keys, and is not read back
MADE = "<!-- gitmem: made from the keys above -->"
TYPES = {
    "Decision": "decision",
    "Pattern": "pattern",
    "Rule": "rule",
    "Bug": "bug",
    "Insight": "insight",
    "Context": "context",
    "Fact": "fact",
    "Preference": "preference",
    "Task": "task",
}
NAMES = {ours: theirs for theirs, ours in TYPES.items()}
GOTCHA = "Gotcha"
# of the front matter, in the order in which they are written
KEYS = (
    *("type", "title", "description", "resource", "tags", "generated", "verified", "status"),
    *("stale_after", "sources"),
)
# the target of a link; brackets in it are escaped in a bundle
LINK = re.compile(r"\]\(<?([^()\[\]\s<>]+)")
