"""Text that its user marked as private, by `<private>` and `</private>`. Pure; the hot path imports this."""

from gitmem.base.lazy_regex import Lazy

_MARK = Lazy(r"(?i)<(/?)private(?:\s[^<>]*)?>")


def public(text: str) -> str:
    """Return a text without what stands between `<private>` and `</private>`; a mark without an end hides the rest."""
    if "<private" not in text and "<private" not in text.lower():
        return text
    kept: list[str] = []
    deep = at = 0
    for mark in _MARK.finditer(text):
        if not deep:
            kept.append(text[at : mark.start()])
        deep = max(0, deep - 1) if mark[1] else deep + 1
        at = mark.end()
    return "".join(kept) + ("" if deep else text[at:])
