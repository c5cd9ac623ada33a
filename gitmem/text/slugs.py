"""The name that a record gets from a title: small letters, digits and hyphens. Pure."""

import re
import unicodedata

from gitmem.base.fast import new_hash

LONGEST = 60  # characters


def slug(text: str) -> str:
    """Return the slug of a name or a title.

    One without a letter or digit that a slug may have gets a name of its own.
    """
    if words := slug_words(text):
        return words
    name = unicodedata.normalize("NFC", text).encode("utf-8", "replace")
    return f"epic-{new_hash('sha256', name).hexdigest()[:8]}"


def slug_words(text: str) -> str:
    """Return what a slug has of a text; empty where that is none of its letters and digits."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"\.{2,}", ".", re.sub(r"[^a-z0-9._]+", "-", plain))[:LONGEST].strip("-._")
