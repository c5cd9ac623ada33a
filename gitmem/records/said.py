"""How what a session says of a fact is told. Standard library only: the hot path imports this."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

DONE, ENDED, REPLACED = "done", "ended", "replaced"
_WORDS = {DONE: "done", ENDED: "no longer true", REPLACED: "replaced"}


def said_to_be(statement: "Mapping[str, str]") -> str:
    """Return what a session says of a fact, and which session, in words.

    `statement` is one of `Index.statements`.
    """
    return f"said to be {_WORDS[statement['what']]} in session {statement['session'][:8]}"
