"""Three-way merge of text by lines; symmetric in its two sides.

The algorithm is diff3's: S. Khanna, K. Kunal, B. Pierce, "A Formal Investigation of Diff3" (2007).
"""


def _changes(base: list[str], side: list[str]) -> list[tuple[int, int, list[str]]]:
    """Return (from, to, new lines) for each part of the base that the side replaces."""
    from difflib import SequenceMatcher  # two bodies that both changed: rare, and 3 ms

    matcher = SequenceMatcher(None, base, side, autojunk=False)
    return [
        (i1, i2, side[j1:j2]) for tag, i1, i2, j1, j2 in matcher.get_opcodes() if tag != "equal"
    ]


def merge3(base: str, ours: str, theirs: str) -> str | None:
    """Return the merged text, or None when both changed the same or touching lines differently."""
    if ours == theirs or theirs == base:
        return ours
    if ours == base:
        return theirs
    lines = base.splitlines(keepends=True)
    left, right = (
        _changes(lines, ours.splitlines(keepends=True)),
        _changes(lines, theirs.splitlines(keepends=True)),
    )
    out: list[str] = []
    at = i = j = 0
    while i < len(left) or j < len(right):
        a = left[i] if i < len(left) else None
        b = right[j] if j < len(right) else None
        if a and b and a == b:
            take, i, j = a, i + 1, j + 1
        elif a and b and a[0] <= b[1] and b[0] <= a[1]:
            return None
        elif b is None or (a is not None and a[:2] < b[:2]):
            assert a is not None
            take, i = a, i + 1
        else:
            take, j = b, j + 1
        out += lines[at : take[0]]
        out += take[2]
        at = take[1]
    return "".join(out + lines[at:])
