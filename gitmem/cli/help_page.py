"""How wide a page of help is: what click leaves too long for the terminal is broken."""

import re
from collections.abc import Iterable, Iterator

import click

LEAST = 26  # columns that the text beside a term has, or it stands below the term
STACKED = 2  # columns that the text below a term is indented by
GOES_ON = 6  # columns that a term's further lines are indented by
EXAMPLES = re.compile(r" *Examples?\b.*:")


class HelpPage(click.HelpFormatter):
    """Breaks long choices of values, tables and sentences. An example stays whole, to be copied."""

    def write_dl(
        self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2
    ) -> None:
        """Write terms with their texts beside them, or below where too little room is left."""
        room = self.width - self.current_indent
        broken = [(_broken(term, room), text) for term, text in rows]
        widest = max((len(term) for term, _ in broken), default=0)
        is_narrow = room - min(widest, col_max) - col_spacing < LEAST
        super().write_dl(broken, STACKED if is_narrow else col_max, col_spacing)

    def getvalue(self) -> str:
        """Return the page."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        from gitmem.cli.screen import wrap_line

        is_example = False
        for line in super().getvalue().split("\n"):
            is_example = bool(line) and (is_example or EXAMPLES.fullmatch(line) is not None)
            yield from (line,) if is_example else wrap_line(line, self.width)


def _broken(term: str, room: int) -> str:
    """Return a term such as `--type [fact|rule]` in lines, where it is too long for one."""
    if len(term) <= room:
        return term
    lines = [""]
    for part in re.findall(r"[^|]+\|?", term):
        if len(lines[-1]) + len(part) > room:
            lines.append(" " * GOES_ON)
        lines[-1] += part
    return "\n".join(lines)
