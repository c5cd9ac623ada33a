"""`git mem gotcha` for, context: what to know about files, lines or a task."""

import os
import shlex
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from gitmem.app import App
from gitmem.cli import options
from gitmem.cli.gotchas.entry import entry
from gitmem.cli.gotchas.group import TABLE
from gitmem.cli.json_shapes import match_json, place_json, record_json
from gitmem.cli.terminal import Terminal, path_shown, plain
from gitmem.errors import UserError
from gitmem.repo.location import inside

if TYPE_CHECKING:
    from gitmem.services.retrieval.matcher import Match

# seconds, for all files together, that code which went to another file is looked for
FOR_PATIENCE = 1.0


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
    from gitmem.services.gotchas.placement import TOLD, Guide

    term: Terminal = ctx.obj
    is_limited = not as_json or ctx.get_parameter_source("limit") is not ParameterSource.DEFAULT
    with term.open() as app:
        agents = options.agents(app, None)
        guide = Guide(
            app.indexes(),
            app.follower,
            lambda **more: app.rows(agents=agents, valid_at=app.clock.stamp(), **TOLD, **more),
            app.state.snoozed(app.clock.now()),
            FOR_PATIENCE,
        )
        out: list[tuple[str, Any]] = []
        for given in places:
            path, wanted = _file_and_line(app, given)
            for name in _files_of(app, path):
                lines, blob = read_text(app, name)
                count = len(lines) - (lines[-1:] == [""])
                if name == path and wanted > count > 0:
                    term.note(
                        f"{path_shown(name)} has {count} line{'s' if count != 1 else ''}, "
                        f"not {wanted}."
                    )
                asked = given if name == path else name
                if path != name and not name.startswith(f"{path}/") and path != ".":
                    term.note(f"{path_shown(path)} is {path_shown(name)} now.")
                told = (
                    {found.row["id"] for _, found in out}
                    if name.startswith(f"{path}/") or path == "."
                    else set()
                )
                about = guide.about(name, wanted, lines, blob)
                out += [
                    (asked, found)
                    for found in about
                    if found.where.state != "glob" or found.row["id"] not in told
                ]
        shown = _limited(out, limit) if is_limited else out
        if as_json:
            term.json([_placed(given, found) for given, found in shown])
            return
        several = len({given for given, _ in out}) > 1 or len(places) > 1
        for given, found in shown:
            for text_ in _card(
                term, found.row, [found.reason], app.clock.now(), given if several else ""
            ):
                term.say(text_)
        if not out:
            term.note(_nothing_known(app, places))
        if len(out) > len(shown):
            most = max(Counter(given for given, _ in out).values())
            named = " ".join(map(shlex.quote, places))
            more = f"and {len(out) - len(shown):,} more: git mem gotcha for {named} -n {most}"
            term.say(plain(more))


def _limited(rows: Sequence[tuple[str, Any]], limit: int) -> list[tuple[str, Any]]:
    """Return the first rows of each place."""
    counts: Counter[str] = Counter()
    out = []
    for given, row in rows:
        counts[given] += 1
        if counts[given] <= limit:
            out.append((given, row))
    return out


def _nothing_known(app: App, places: Sequence[str]) -> str:
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
    from gitmem.services.gotchas.placement import TOLD

    root = app.location.worktree or ""
    if not root:
        return [path]
    if os.path.lexists(os.path.join(root, path)):
        if not os.path.isdir(os.path.join(root, path)):
            return [path]
        inner = "" if path == "." else f"{path}/"
        known = {
            name
            for prefix, index in app.indexes()
            if prefix != "user"
            for name in index.paths_of(TOLD["kinds"])
        }
        return sorted(
            name
            for name in known
            if name.startswith(inner) and os.path.isfile(os.path.join(root, name))
        )
    names = (path, *app.follower.earlier(path))
    for row in app.rows(paths=names, **TOLD):
        for anchor in row["anchors"]:
            now = app.follower.called(anchor) if anchor.get("path") in names else ""
            if now and now != path:
                return [now]
    return [path]


def _is_there(app: App, path: str) -> bool:
    from gitmem.cli.records.fields import file_bytes

    return (
        os.path.lexists(os.path.join(app.location.worktree or "", path))
        or file_bytes(app, path, 1) is not None
    )


def _placed(given: str, found: Any) -> dict[str, Any]:
    return {
        **record_json(found.row),
        "asked_place": given,
        "place": place_json(found.where),
        "reasons": [found.reason],
    }


def _file_and_line(app: App, given: str) -> tuple[str, int]:
    """Return (path from the root, line or 0) of what the user named; raises UserError."""
    from gitmem.codemap.anchors import spec

    root = os.path.realpath(app.location.worktree) if app.location.worktree else ""
    name, line_ = given, 0
    if not os.path.lexists(given):
        folder, last = os.path.split(given)
        anchor = (
            spec.parse(last, lambda base: os.path.exists(os.path.join(folder, base)))
            if last
            else {}
        )
        name = os.path.join(folder, str(anchor.get("path") or anchor.get("glob") or ""))
        line_ = int((anchor.get("lines") or [0])[0])
    here = inside(os.path.realpath(name), root, os.getcwd()) if root else ""
    if root and os.path.realpath(name) == root:
        here = "."
    path = here
    if not root and not os.path.isabs(name):
        path = name  # a bare repository: as HEAD has it
    elif not os.path.lexists(name) and not os.path.isabs(name):
        full = name.replace(os.sep, "/").removeprefix("./")
        if ".." not in full.split("/") and (
            os.path.lexists(os.path.join(root, full))
            or (here != full and app.rows(paths=(full,), limit=1))
        ):
            path = full  # named from the root
    if not path:
        raise UserError(
            f"'{given}' is not in this repository.",
            "Name a file of the work tree, as path or path:line.",
        )
    return path, line_


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


@click.command("context", short_help=TABLE["context"][2])
@click.option(
    "--task", "-t", default="", metavar="TEXT", help="What is to be done ('-' reads stdin)."
)
@click.option(
    "--error", default="", metavar="TEXT", help="The error that it shows ('-' reads stdin)."
)
@click.argument("files", nargs=-1, metavar="[FILE[:LINE]]...")
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    help="At most so many.",
)
@click.option(
    "--budget",
    type=click.IntRange(min=50),
    default=600,
    show_default=True,
    help="Tokens that the block may have.",
)
@options.json_option
@click.pass_obj
def context_command(
    term: Terminal,
    task: str,
    error: str,
    files: tuple[str, ...],
    limit: int,
    budget: int,
    as_json: bool,
) -> None:
    """Show the gotchas that matter for a task, as a block to put before a prompt.

    Prints nothing when nothing is relevant. One of --task and --error may read standard input.

    \b
    Examples:
      git mem gotcha context --task "make refunds idempotent" app/refund.py
      pytest 2>&1 | git mem gotcha context --error -
    """
    from gitmem.agents.prompt_text import fence, gotcha_lines
    from gitmem.services.records.attribution import attributed
    from gitmem.services.retrieval.matcher import fit, match
    from gitmem.services.retrieval.task import Task
    from gitmem.text.tokens import tokens

    if task == "-" and error == "-":
        raise click.UsageError("only one of --task and --error can read stdin.")
    if not (task or error or files):
        raise click.UsageError("say what is to be done: --task TEXT, --error TEXT, or files.")
    with term.open() as app:
        # what a tool prints may be any bytes
        text = sys.stdin.buffer.read().decode("utf-8", "replace") if "-" in (task, error) else ""
        named = [_file_and_line(app, given) for given in files]
        wanted = Task(
            text if task == "-" else task,
            [path for path, _ in named],
            text if error == "-" else error,
            {path: {at for other, at in named if other == path and at} for path, at in named if at},
        )
        root = os.path.realpath(app.location.worktree) if app.location.worktree else ""
        now = app.clock.now()
        indexes = [index for _, index in app.indexes()]
        found = match(
            indexes,
            wanted,
            root,
            os.getcwd(),
            app.namespaces,
            now,
            app.state.snoozed(now),
            unconfirmed=bool(app.settings.get("injectUnconfirmed")),
            most=limit,
        )

        def lines(one: "Match") -> list[str]:
            return gotcha_lines(attributed(one.row, app.own_addresses), one.reasons)

        chosen = fit(found, budget, lambda one: sum(map(tokens, lines(one))))
        if chosen:
            from gitmem.store.store import Notice

            app.notify(
                Notice(
                    "inject",
                    tuple(one.row["id"] for one in chosen),
                    facts={"task": task, "files": list(files)},
                )
            )
        if as_json:
            term.json([match_json(one.row, one.score, one.reasons) for one in chosen])
        elif chosen:
            term.say(fence([text for one in chosen for text in lines(one)]))
        else:
            term.note("no gotcha fits this task.")
