"""Paths of code that came from elsewhere."""

import re

_VENDORED = re.compile(
    r"(?:^|/)(?:node_modules|bower_components|_?vendor(?:s|ed)?|(?:third|3rd)[_-]?party|externals?"
    r"|extern|bundled|site-packages|\.yarn|Pods|Carthage|Godeps)/|^(?:deps|dependencies)/"
)


def is_vendored(path: str) -> bool:
    """Return whether a path is one of code that came from elsewhere, by its folders."""
    return bool(_VENDORED.search(path))
