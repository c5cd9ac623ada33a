"""Regular expressions that are linear in the text, whoever wrote them.

Expressions of users and records come here; the cue phrases of extraction have their own lists.
"""

from functools import lru_cache
from typing import Any

from gitmem.errors import UserError

MAX_PATTERN = 2_000  # characters
MEMORY = 8 << 20  # bytes that RE2 may use for one pattern


@lru_cache(256)
def compiled(pattern: str) -> Any:
    """Return an expression for RE2; raises UserError for one that it does not take."""
    try:
        import re2  # type: ignore[import-untyped]  # its wheel has no types
    except ImportError as error:
        raise UserError(
            "google-re2 is not installed, or does not work, so expressions cannot be used.",
            "pip install google-re2",
        ) from error
    if not pattern or len(pattern) > MAX_PATTERN:
        raise UserError(f"an expression has 1 to {MAX_PATTERN} characters, not {len(pattern)}.")
    options = re2.Options()
    options.log_errors = False
    options.max_mem = MEMORY
    try:
        return re2.compile(pattern, options)
    except (re2.error, UnicodeError) as error:
        reason = (
            error.args[0] if error.args and isinstance(error, re2.error) else "it is not valid text"
        )
        reason = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        raise UserError(
            f"'{pattern}' is not an expression that can be used: {reason.rstrip('.')}.",
            "Expressions are RE2's: no look-around, no backreferences. See "
            "https://github.com/google/re2/wiki/Syntax",
        ) from error
