"""What is to be done, as the matching is asked; and what speaks for one record.

Standard library only: the hot path imports this.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping


class Task:
    """A task: its text, the files it touches and the error it shows.

    The lines of a file are included if they are known.
    """

    __slots__ = ("error", "files", "lines", "text")

    def __init__(
        self,
        text: str = "",
        files: "Iterable[str]" = (),
        error: str = "",
        lines: "Mapping[str, Collection[int]] | None" = None,
    ) -> None:
        self.text = text
        self.files = tuple(files)
        self.error = error
        self.lines = lines or {}


class Case:
    """One record under consideration: the best strength of each signal, and its reason."""

    __slots__ = ("signals",)

    def __init__(self) -> None:
        self.signals: dict[str, tuple[float, str]] = {}

    def add(self, kind: str, strength: float, reason: str) -> None:
        """Note a signal, unless a stronger one of its kind is known."""
        if strength > self.signals.get(kind, (0.0, ""))[0]:
            self.signals[kind] = strength, reason


class Cases(dict[int, Case]):
    """The records under consideration, by their row; one that is asked for is."""

    def __missing__(self, n: int) -> Case:
        self[n] = Case()
        return self[n]

    def look_at(self, n: int) -> None:
        """Take a row in, with nothing yet that speaks for it."""
        self.setdefault(n, Case())


def storable(text: str) -> str:
    """Return a text as the index has it: what is not UTF-8 is shown by its numbers."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()
