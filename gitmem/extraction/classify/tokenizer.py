"""Pieces of words, by which `reader` knows a text: those of SentencePiece (Kudo and Richardson 2018, arXiv:1808.06226)."""

from collections.abc import Sequence
from functools import cache
from importlib import resources

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sentencepiece import SentencePieceProcessor


def pieces(texts: Sequence[str]) -> list[list[int]]:
    """Return the numbers of each text's pieces."""
    whole = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]  # half of a pair of surrogates is no character
    out: list[list[int]] = _learnt().encode(whole, num_threads=1)
    return out


@cache
def _learnt() -> "SentencePieceProcessor":
    from sentencepiece import SentencePieceProcessor

    return SentencePieceProcessor(model_proto=resources.files("gitmem.extraction").joinpath("data", "pieces.model").read_bytes())
