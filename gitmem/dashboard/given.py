"""What the page sends with an action: texts, ids and versions, each checked before it is used."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from gitmem.dashboard.api import id_of
from gitmem.errors import UserError

Given = Mapping[str, Any]
TEXT = 64 * 1024  # characters of a field
NAME = 200  # characters of an id
_BLOB = re.compile(r"[0-9a-f]{40,64}")


def text_given(given: Given, name: str, most: int = TEXT) -> str:
    """Return a text, '' for none. Raises UserError for anything else."""
    value = given.get(name, "")
    if not isinstance(value, str):
        raise UserError(f"'{name}' is not a text.", "Send it as a JSON string.")
    if len(value) > most:
        raise UserError(f"'{name}' is too long.", f"It has at most {most:,} characters.")
    if "\0" in value or any("\ud800" <= char <= "\udfff" for char in value):
        raise UserError(
            f"'{name}' holds a zero byte or half a character.", "Leave it out of the text."
        )
    return value


def number_given(given: Given, name: str) -> str:
    """Return a number, or the text of one, as an option takes it. Raises UserError."""
    value = given.get(name)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number:
        return text_given(given, name, NAME)
    if not math.isfinite(value) or abs(value) > 1e9:  # type: ignore[arg-type]  # it is a number
        raise UserError(f"'{name}' is out of range.", "Give a number from 0 to 10.")
    return str(value)


def flag_given(given: Given, name: str) -> bool:
    """Return whether something is wanted. Raises UserError for what is neither true nor false."""
    value = given.get(name, False)
    if not isinstance(value, bool):
        raise UserError(f"'{name}' is neither true nor false.", "Send one of them, or nothing.")
    return value


def id_given(given: Given, name: str = "id") -> str:
    """Return an id. Raises UserError, UnknownId."""
    return id_of(text_given(given, name, NAME))


def seen_given(given: Given, ids: Sequence[str]) -> dict[str, str]:
    """Return the versions of records that the page shows: blobs by id, one for each of `ids`.

    Raises UserError where one is missing: nobody decides about words that they did not see.
    """
    seen = given.get("seen")
    if not isinstance(seen, dict) or not all(_is_blob(blob) for blob in seen.values()):
        seen = {}
    missing = [id for id in ids if id not in seen]
    if missing:
        raise UserError(
            f"which version of {missing[0]} was seen is not said.",
            'Send it in \'seen\': {"ID": "BLOB"}, with the blob that the record has where it is '
            "shown. In the page: reload it.",
        )
    return seen


def _is_blob(value: object) -> bool:
    return isinstance(value, str) and _BLOB.fullmatch(value) is not None
