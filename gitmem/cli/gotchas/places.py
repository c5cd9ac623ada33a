"""`git mem gotcha for`: what to know about files and lines."""

import os
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from gitmem.app import App
from gitmem.cli import options
from gitmem.cli.gotchas.entry import entry
from gitmem.cli.gotchas.group import TABLE
from gitmem.cli.json_shapes import place_json, record_json
from gitmem.cli.terminal import Terminal, path_shown, plain
from gitmem.errors import UserError
from gitmem.repo.location import inside

if TYPE_CHECKING:
    from gitmem.services.gotchas.placement import Guide, Placed

# seconds, for all files together, that code which went to another file is looked for
FOR_PATIENCE = 2.0


FOR_LIMIT = 20  # of a file
FILE_LIMIT = 8 << 20  # bytes of a file in which gotchas are placed


@click.command("for", short_help=TABLE["for"][2])
@click.argument("places", nargs=-1, required=True, metavar="FILE[:LINE]...")
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(min=1),
    default=FOR_LIMIT,
    show_default=True,
    help="At most so many of each file; --json has all unless this is given.",
)
@options.json_option
@click.pass_context
def for_command(ctx: click.Context, places: tuple[str, ...], limit: int, as_json: bool) -> None:
    """Show what is known about files, with its lines of today; what is at LINE comes first.

    These are gotchas, and memories that are anchored there. Prints nothing when nothing is known.

    Code that was edited, moved or renamed is followed. Of a file with many, the nearest to LINE and
    the most severe are shown, and how many more there are.

    \b
    Examples:
      git mem gotcha for app/pay.py:40
      git mem gotcha for $(git diff --name-only)
    """
    from gitmem.services.gotchas.placement import OPEN_RECORDS, Guide

    term: Terminal = ctx.obj
    is_limited = not as_json or ctx.get_parameter_source("limit") is not ParameterSource.DEFAULT
    with term.open() as app:
        agents = options.agents(app, None)
        guide = Guide(
            app.indexes(),
            app.follower,
            lambda **more: app.rows(
                agents=agents, valid_at=app.clock.stamp(), **OPEN_RECORDS, **more
            ),
            app.state.snoozed(app.clock.now()),
            FOR_PATIENCE,
        )
        gathered = _PlacedRows(term, app, guide)
        for given in places:
            path, line = _file_and_line(app, given)
            for name in _files_of(app, path):
                gathered.add(given, path, line, name)
        rows = gathered.rows
        shown = _limited(rows, limit) if is_limited else rows
        if as_json:
            term.json([_placed(asked, placed) for asked, placed in shown])
            return
        has_several = len({asked for asked, _ in rows}) > 1 or len(places) > 1
        for asked, placed in shown:
            head = asked if has_several else ""
            for text in _card(term, placed.row, [placed.reason], app.clock.now(), head):
                term.say(text)
        if not rows:
            term.note(_nothing_recorded(app, places))
        if len(rows) > len(shown):
            term.say(plain(_more(rows, len(rows) - len(shown), places)))


def _more(rows: Sequence[tuple[str, Any]], count: int, places: Sequence[str]) -> str:
    """Return how many rows are not shown, with the command that shows them."""
    most = max(Counter(asked for asked, _ in rows).values())
    end = "-- " if any(place.startswith("-") for place in places) else ""
    return f"and {count:,} more: git mem gotcha for -n {most} {end}{shlex.join(places)}"


def _limited(rows: Sequence[tuple[str, Any]], limit: int) -> list[tuple[str, Any]]:
    """Return the first rows of each place."""
    counts: Counter[str] = Counter()
    out = []
    for given, row in rows:
        counts[given] += 1
        if counts[given] <= limit:
            out.append((given, row))
    return out


@dataclass(slots=True)
class _PlacedRows:
    """What is known about files, in the order in which they were named."""

    term: Terminal
    app: App
    guide: "Guide"
    rows: "list[tuple[str, Placed]]" = field(default_factory=list)  # (place asked about, its row)

    def add(self, given: str, path: str, line: int, name: str) -> None:
        """Add what is known about a file that a named path stands for."""
        lines, blob = read_text(self.app, name)
        count = len(lines) - (lines[-1:] == [""])
        if name == path and line > count > 0:
            words = f"{count} line{'s' if count != 1 else ''}"
            self.term.note(f"{path_shown(name)} has {words}, not {line}.")
        is_inside = name.startswith(f"{path}/") or path == "."
        if path != name and not is_inside:
            self.term.note(f"{path_shown(path)} is {path_shown(name)} now.")
        # what a pattern says of many files is shown once for a folder
        shown_ids = {placed.row["id"] for _, placed in self.rows} if is_inside else set()
        asked = given if name == path else name
        for placed in self.guide.about(name, line, lines, blob):
            if placed.where.state != "glob" or placed.row["id"] not in shown_ids:
                self.rows.append((asked, placed))


def _nothing_recorded(app: App, places: Sequence[str]) -> str:
    """Return why nothing is known about places: they are not there, or nothing was fetched."""
    missing = [given for given in places if not _is_there(app, _file_and_line(app, given)[0])]
    names = " and no ".join(map(path_shown, missing))
    why = f"there is no {names} in this repository; " if missing else ""
    what = "it" if len(places) == 1 else "them"
    return f"{why}nothing is known about {what}. {app.unfetched_hint()}".rstrip()


def _files_of(app: App, path: str) -> list[str]:
    """Return the files that a name stands for.

    A file stands for itself, a folder for its files with gotchas, and the old name of a renamed
    file for its current name.
    """
    root = app.location.worktree or ""
    full = os.path.join(root, path)
    if root and not os.path.lexists(full):
        return [_current_name(app, path) or path]
    return _files_below(app, root, path) if root and os.path.isdir(full) else [path]


def _files_below(app: App, root: str, folder: str) -> list[str]:
    """Return the files of a folder that gotchas are anchored in."""
    from gitmem.services.gotchas.placement import OPEN_RECORDS

    inner = "" if folder == "." else f"{folder}/"
    names = {
        name
        for prefix, index in app.indexes()
        if prefix != "user"
        for name in index.paths_of(OPEN_RECORDS["kinds"])
    }
    inside = sorted(name for name in names if name.startswith(inner))
    return [name for name in inside if os.path.isfile(os.path.join(root, name))]


def _current_name(app: App, path: str) -> str:
    """Return what a renamed file is called now, by an anchor in it; '' when none says so."""
    from gitmem.services.gotchas.placement import OPEN_RECORDS

    names = (path, *app.follower.earlier(path))
    for row in app.rows(paths=names, **OPEN_RECORDS):
        for anchor in row["anchors"]:
            now = app.follower.called(anchor) if anchor.get("path") in names else ""
            if now and now != path:
                return now
    return ""


def _is_there(app: App, path: str) -> bool:
    from gitmem.cli.records.fields import file_bytes

    return (
        os.path.lexists(os.path.join(app.location.worktree or "", path))
        or file_bytes(app, path, 1) is not None
    )


def _placed(given: str, placed: Any) -> dict[str, Any]:
    return {
        **record_json(placed.row),
        "asked_place": given,
        "place": place_json(placed.where),
        "reasons": [placed.reason],
    }


def _file_and_line(app: App, given: str) -> tuple[str, int]:
    """Return (path from the root, line or 0) of what the user named; raises UserError."""
    root = os.path.realpath(app.location.worktree) if app.location.worktree else ""
    name, line = (given, 0) if os.path.lexists(given) else _name_and_line(given)
    path = _path_of(app, root, name)
    if not path:
        raise UserError(
            f"'{given}' is not in this repository.",
            "Name a file of the work tree, as path or path:line.",
        )
    return path, line


def _name_and_line(given: str) -> tuple[str, int]:
    """Return (name, line or 0) of such as `pay.py:40`."""
    from gitmem.codemap.anchors import spec

    folder, last = os.path.split(given)
    anchor: dict[str, Any] = {}
    if last:
        anchor = spec.parse(last, lambda base: os.path.exists(os.path.join(folder, base)))
    name = str(anchor.get("path") or anchor.get("glob") or "")
    return os.path.join(folder, name), int((anchor.get("lines") or [0])[0])


def _path_of(app: App, root: str, name: str) -> str:
    """Return the path from the root of a name as the user wrote it, '' outside of the work tree."""
    if not root:  # a bare repository: as HEAD has it
        return "" if os.path.isabs(name) else name
    real = os.path.realpath(name)
    here = "." if real == root else inside(real, root, os.getcwd())
    if os.path.lexists(name) or os.path.isabs(name):
        return here
    full = name.replace(os.sep, "/").removeprefix("./")
    if ".." in full.split("/"):
        return here
    is_from_root = os.path.lexists(os.path.join(root, full)) or (
        here != full and app.rows(paths=(full,), limit=1)
    )
    return full if is_from_root else here


def read_text(app: App, path: str) -> tuple[list[str], str]:
    """Return (lines, blob id) of a file of the work tree, else of HEAD.

    No lines for one that is binary, huge or not there.
    """
    from gitmem.cli.records.fields import file_bytes
    from gitmem.git.object_codec import object_id

    data = file_bytes(app, path, FILE_LIMIT) or b""
    if b"\0" in data[:8000] or len(data) >= FILE_LIMIT:
        return [], ""
    return data.decode("utf-8", "replace").split("\n"), object_id(
        "blob", data, app.objects.traits.hash
    )


def _card(
    term: Terminal, row: dict[str, Any], reasons: Sequence[str], now: float, given: str = ""
) -> Iterator[str]:
    """Yield the lines that tell a gotcha and why it is shown."""
    head = f"{given}: " if given else ""
    yield f"{path_shown(head)}{entry(term, row, now)}"
    if row.get("workaround"):
        yield f"    {plain(row['workaround'])}"
    yield term.style("    " + path_shown("; ".join(reasons)), fg="bright_black")
