"""`git mem code drift`: which branches and work trees change the same code."""

from collections.abc import Iterator, Sequence
from typing import Any

import click

from gitmem.cli import options
from gitmem.cli.json_shapes import span_json
from gitmem.cli.terminal import Terminal, path_shown, path_text, plain
from gitmem.git.merges import Merges
from gitmem.services.drift.compare import Lines, Shared
from gitmem.services.drift.drift import LEVELS, DriftFile, Pair, Side, drift, name_authors, sides
from gitmem.text.plural import counted
from gitmem.worker.drift import working

COLORS = {
    "critical": "red",
    "high": "red",
    "medium": "yellow",
    "low": "green",
    "none": "bright_black",
}
PAIRS, FILES = 12, 6  # that are shown in full


@click.command("drift")
@click.argument("refs", nargs=-1, metavar="[REF]...")
@click.option(
    "--level",
    type=click.Choice(LEVELS),
    default="medium",
    show_default=True,
    help="Show pairs of this level or worse.",
)
@click.option(
    "--days",
    type=click.IntRange(min=1),
    default=90,
    show_default=True,
    help="Look at branches that were committed to in so many days.",
)
@options.json_option
@click.pass_obj
def drift_command(
    term: Terminal, refs: tuple[str, ...], level: str, days: int, as_json: bool
) -> None:
    """Show which branches, remote branches and work trees change the same code since they parted.

    Nothing is checked out or written.

    \b
    Levels:
      none      one side has nothing that the other lacks
      low       both changed something, no file in common
      medium    both changed a file; git can merge it
      high      a merge conflicts
      critical  both changed the same function or class, differently

    \b
    Examples:
      git mem code drift
      git mem code drift feature/checkout origin/main
      git mem code drift --level high --json
    """
    with term.open() as app, Merges(app.location, app.env) as merges:
        compared, left = sides(
            merges, refs, app.code_history.resolve, int(app.clock.now() - days * 86400)
        )
        if len(compared) < 2 and not as_json:
            term.say(
                "there is only one branch, so there is nothing to compare."
                if compared
                else "there is nothing to compare: no commit yet."
            )
            return
        hidden = app.hidden(str(app.location.worktree) if app.location.worktree else None)
        pairs = (
            drift(merges, compared, term.progress("comparing"), hidden.has)
            if len(compared) > 1
            else []
        )
        shown = [pair for pair in pairs if LEVELS.index(pair.level) >= LEVELS.index(level)]
        for pair in shown[:PAIRS]:
            name_authors(merges, pair, lambda root: working(app, root), with_mail=True)
        if as_json:
            term.json(
                {
                    "sides": [_side(side) for side in compared],
                    "left_out_count": left,
                    "pairs": [_pair(pair) for pair in shown],
                }
            )
            return
        term.rows(_lines(term, shown, pairs), app)
        if left:
            term.note(
                f"{left} branch{'' if left == 1 else 'es'} without a commit in "
                f"{counted(days, 'day')}, or beyond the newest 40, left out: --days N, or name "
                "them."
            )


def _side(side: Side) -> dict[str, Any]:
    return {
        "name": side.name,
        "kind": side.kind,
        "commit": side.head,
        "work_tree": side.root or None,
        "author": f"{side.author} {side.mail}" if side.author else None,
    }


def _pair(pair: Pair) -> dict[str, Any]:
    return {
        "left": pair.left.name,
        "right": pair.right.name,
        "level": pair.level,
        "base_commit": pair.base or None,
        "files": [_file(file) for file in pair.files],
        "advice": pair.advice or None,
    }


def _file(file: DriftFile) -> dict[str, Any]:
    return {
        "path": path_text(file.path),
        "level": file.level,
        "conflict": file.conflict,
        "overlaps": [_overlap(shared) for shared in file.shared],
        "left_contributors": file.authors[0],
        "right_contributors": file.authors[1],
    }


def _overlap(shared: Shared) -> dict[str, Any]:
    return {
        "symbol": shared.name or None,
        "left_span": span_json(shared.left) if shared.left else None,
        "right_span": span_json(shared.right) if shared.right else None,
    }


def _lines(term: Terminal, shown: list[Pair], pairs: list[Pair]) -> Iterator[str]:
    for pair in shown[:PAIRS]:
        yield (
            f"{term.style(f'{pair.level:<8}', fg=COLORS[pair.level])} "
            f"{term.style(plain(pair.left.name), bold=True)} and "
            f"{term.style(plain(pair.right.name), bold=True)}"
        )
        for file in pair.files[:FILES]:
            yield from _of_file(term, file)
        if len(pair.files) > FILES:
            yield f"    and {len(pair.files) - FILES} more files"
        if pair.advice:
            yield f"    → {plain(pair.advice)}"
    if len(shown) > PAIRS:
        yield f"and {len(shown) - PAIRS} more pairs: git mem code drift --json"
    counts = {level: sum(pair.level == level for pair in pairs) for level in reversed(LEVELS)}
    yield (
        f"{len(pairs)} pair{'' if len(pairs) == 1 else 's'}: "
        f"{', '.join(f'{count} {level}' for level, count in counts.items() if count)}"
    )


def _of_file(term: Terminal, file: DriftFile) -> Iterator[str]:
    conflict = term.style(" conflict", fg="red") if file.conflict else ""
    left, right = (", ".join(_names(contributors)[:3]) for contributors in file.authors)
    who = f"  ({left or '?'} and {right or '?'})" if left or right else ""
    yield f"    {path_shown(file.path)}{conflict}{who}"
    for shared in file.shared[:4]:
        yield (
            f"        {plain(shared.name) or 'lines'} {_span(shared.left)} here, "
            f"{_span(shared.right)} there"
        )
    if len(file.shared) > 4:
        yield f"        and {len(file.shared) - 4} more"


def _names(contributors: Sequence[str]) -> list[str]:
    """Return the names of contributors; who has several addresses is named once."""
    return list(dict.fromkeys(plain(name.partition(" <")[0]) for name in contributors))


def _span(lines: Lines | None) -> str:
    return (
        "removed"
        if lines is None
        else f"line {lines[0]}"
        if lines[0] == lines[1]
        else f"lines {lines[0]}-{lines[1]}"
    )
