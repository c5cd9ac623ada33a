"""An anchor with the code that it points at."""

import os
from collections.abc import Callable
from typing import Any

from gitmem.codemap.anchors.resolve import attach
from gitmem.errors import UserError
from gitmem.git.object_codec import object_id


def with_code(
    anchor: dict[str, Any],
    read: Callable[[str], bytes | None],
    root: str | None,
    hash_name: str,
    commit: str | None,
) -> dict[str, Any]:
    """Return an anchor of a file with what finds its code again later; a glob as it is.

    `read` returns a file by its path from the root, None when there is none; `commit` is what is
    checked out. Raises UserError for a place that is not there.
    """
    if "glob" in anchor:
        return anchor
    path = anchor["path"]
    data = read(path)
    if data is None and root and os.path.isdir(os.path.join(root, path)):
        raise UserError(
            f"'{path}' is a folder.",
            f"For the files in it: --anchor '{path}/**'",
        )
    if data is None:
        raise UserError(
            f"there is no file '{path}' in this repository.",
            "Name it from the repository's root, or from where you are; or add the anchor later: "
            "git mem edit ID --anchor PLACE",
        )
    text = data.decode("utf-8", "replace")
    count = text.count("\n") + (not text.endswith("\n"))
    if anchor.get("lines") and anchor["lines"][1] > count:
        raise UserError(
            f"{path} has {count} line{'s' if count != 1 else ''}, not {anchor['lines'][1]}."
        )
    return in_text(anchor, data, hash_name, commit)


def in_text(
    anchor: dict[str, Any], data: bytes, hash_name: str, commit: str | None
) -> dict[str, Any]:
    """Return an anchor of a file with what finds its code again later, given the file's text.

    `commit` is what is checked out, None where there is none. Raises UserError for a place that is
    not in the text.
    """
    blob = object_id("blob", data, hash_name)
    attached = attach(dict(anchor), data.decode("utf-8", "replace"), blob)
    return {**attached, "commit": commit} if commit else attached
