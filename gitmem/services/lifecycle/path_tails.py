"""Paths, found by their last parts. Pure."""

from collections.abc import Iterable


class PathTails:
    """Paths in an order, indexed once: a look-up takes no longer where there are more of them."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._by_name: dict[str, str] = {}
        self._by_pair: dict[str, list[str]] = {}
        for path in paths:
            folder, _, name = path.rpartition("/")
            self._by_name.setdefault(name, path)
            if folder:
                self._by_pair.setdefault(f"{_last(folder)}/{name}", []).append(path)

    def first(self, tail: str) -> str | None:
        """Return the first path that is `tail` or ends with it at a slash; None if none does.

        A tail of one part is taken for a name, in whatever folder.
        """
        folder, _, name = tail.rpartition("/")
        if not folder:
            return self._by_name.get(tail)
        for path in self._by_pair.get(f"{_last(folder)}/{name}", ()):
            if f"/{path}".endswith(f"/{tail}"):
                return path
        return None


def _last(path: str) -> str:
    return path.rpartition("/")[2]
