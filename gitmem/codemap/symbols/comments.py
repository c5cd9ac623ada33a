"""A text without its comments, so that what is code can be compared."""

from gitmem.codemap.grammars import MAX_BYTES, cursor, language_of, query, tree_of


def without_comments(text: str, path: str) -> list[str]:
    """Return the lines of a text with blanks in the place of comments and docstrings.

    Lines are those of `str.splitlines`. Of a text that cannot be parsed, all of it.
    """
    language = language_of(path)
    compiled = query(language, "comments") if language else None
    data = bytearray(text.encode("utf-8", "replace"))
    tree = tree_of(bytes(data), language) if compiled and len(data) <= MAX_BYTES else None
    if tree is None or compiled is None:
        return text.splitlines()
    for node in cursor(compiled).captures(tree.root_node).get("comment", ()):
        start, end = node.start_byte, node.end_byte
        # line ends stay, so that each line keeps its number
        data[start:end] = bytes(byte if byte in b"\r\n" else 0x20 for byte in data[start:end])
    return data.decode("utf-8", "replace").splitlines()
