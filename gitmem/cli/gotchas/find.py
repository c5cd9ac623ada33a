"""`git mem gotcha` list, search, for, context, stats, page: what is known."""

import os
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

import click

from gitmem.app import App
from gitmem.cli import options
from gitmem.cli.gotchas.group import TABLE
from gitmem.cli.json_shapes import anchor_json, hit_json, match_json, place_json, record_json
from gitmem.cli.output_file import write_output
from gitmem.cli.records.list import hit_lines, paths_of
from gitmem.cli.terminal import LINE, Terminal, age, line, path_shown, plain, short
from gitmem.errors import UserError
from gitmem.index.reader import FIELDS, SORTED_BY
from gitmem.records.kinds import CATEGORIES, LIVE, SEVERITIES
from gitmem.records.texts import place_text
from gitmem.repo.location import inside
from gitmem.services.gotchas.page import page

ENTRY = (*LINE, *SORTED_BY["severity"], "occurrences")  # what `entry` shows
# seconds, for all files together, that code which went to another file is looked for
FOR_PATIENCE = 2.0
FILE_LIMIT = 8 << 20  # bytes of a file in which gotchas are placed


@click.command("list", short_help=TABLE["list"][2])
@click.option(
    "--category",
    "categories",
    multiple=True,
    type=click.Choice(CATEGORIES),
    help="Of this category. May be repeated.",
)
@click.option(
    "--severity",
    "severities",
    multiple=True,
    type=click.Choice(SEVERITIES),
    help="Of this severity. May be repeated.",
)
@click.option(
    "--resolved/--unresolved", default=None, help="Those that are, or are not, dealt with."
)
@click.option("--unconfirmed", is_flag=True, help="Those that nobody has confirmed.")
@click.option("--snoozed", is_flag=True, help="Those that you have snoozed, too.")
@click.option("--file", "files", multiple=True, metavar="PATH", help="Anchored in this file.")
@click.option("--all", "-a", "everything", is_flag=True, help="Resolved and archived ones too.")
@click.option("--agent", metavar="NAME", help="As this agent sees it; 'all' for every one.")
@click.option("-n", "--limit", type=click.IntRange(min=0), help="At most so many.")
@options.read_scopes
@options.json_option
@click.pass_obj
def list_command(term: Terminal, /, as_json: bool, limit: int | None, **o: Any) -> None:
    """List open gotchas: critical ones first, then those seen last.

    Snoozed ones are left out, and their number is printed.

    \b
    Examples:
      git mem gotcha list --severity critical
      git mem gotcha list --all --category build --json
    """
    scopes = options.scopes(o)
    with term.open_any() as app:
        resolved = o["resolved"] if o["resolved"] is not None or o["everything"] else False
        hidden = (
            {}
            if o["snoozed"] or o["everything"] or resolved
            else app.state.snoozed(app.clock.now())
        )
        wanted: dict[str, Any] = {
            "scopes": scopes,
            "kinds": ("gotcha",),
            "statuses": () if o["everything"] else LIVE,
            "agents": options.agents(app, o["agent"]),
            "paths": _with_former(app, paths_of(app, o["files"])),
            "resolved": resolved,
            "unconfirmed": True if o["unconfirmed"] else None,
            "categories": o["categories"],
            "severities": o["severities"],
        }
        fields = FIELDS if as_json else ENTRY
        rows = app.rows(
            **wanted,
            without=list(hidden),
            order="severity",
            limit=-1 if limit is None else limit,
            fields=fields,
        )
        if as_json:
            term.json([record_json(row) for row in rows])
            return
        term.page((entry(term, row, app.clock.now()) for row in rows), app)
        away = (
            len(app.rows(**wanted, ids=list(hidden), fields=("id",)))
            if hidden and limit is None
            else 0
        )
        if away:
            term.note(f"{away} snoozed; show them with --snoozed.")
        elif not rows:
            term.note("no gotcha fits. With the resolved ones: git mem gotcha list --all")


def _with_former(app: App, paths: Sequence[str]) -> list[str]:
    """Return files with the names that they had when gotchas were recorded about them."""
    from gitmem.services.gotchas.placement import OPEN, names_of, unsettled

    if not paths or not app.location.worktree:
        return list(paths)
    end = time.monotonic() + FOR_PATIENCE

    def go_on() -> bool:
        return time.monotonic() < end

    known = [index for prefix, index in app.indexes() if prefix != "user"]
    apart = {
        path for index in known for some in unsettled(index, app.follower, go_on) for path in some
    }
    rows = app.rows(paths=sorted(apart)[:500], **OPEN) if apart else []
    return [
        name
        for path in paths
        for name in (path, *names_of(path, app.follower, apart, lambda: rows, go_on))
    ]


def entry(term: Terminal, row: dict[str, Any], now: float) -> str:
    """Return the one line of a gotcha in a list: with how often it was seen, and when last."""
    count = int(row.get("occurrences") or 0)
    seen = f" ×{count}, {age(row['last_seen'], now)}" if count > 1 and row.get("last_seen") else ""
    return line(term, row, cut=True) + term.style(seen, fg="bright_black")


@click.command("search", short_help=TABLE["search"][2])
@click.argument("words", nargs=-1, required=True)
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="At most so many.",
)
@click.option("--unresolved", is_flag=True, help="Only those that are not dealt with.")
@options.json_option
@click.pass_obj
def search_command(
    term: Terminal, words: tuple[str, ...], limit: int, unresolved: bool, as_json: bool
) -> None:
    """Find gotchas by their words. Resolved ones are included: they tell the fix.

    Words are as in `git mem search`: any may match, "quoted words" are a phrase.

    \b
    Example:
      git mem gotcha search connection pool
    """
    with term.open_any() as app:
        text = " ".join(words)
        hits = app.search(
            text,
            limit,
            kinds=("gotcha",),
            statuses=LIVE,
            agents=options.agents(app, None),
            resolved=False if unresolved else None,
        )
        if as_json:
            term.json([hit_json(hit) for hit in hits])
            return
        now = app.clock.now()
        term.page((text for h in hits for text in hit_lines(term, h, now)), app)
        if not hits:
            term.note(f"no gotcha matches '{text}'. Fewer or other words may.")


@click.command("for", short_help=TABLE["for"][2])
@click.argument("places", nargs=-1, required=True, metavar="FILE[:LINE]...")
@options.json_option
@click.pass_obj
def for_command(term: Terminal, places: tuple[str, ...], as_json: bool) -> None:
    """Show the gotchas about files, with their lines of today; those at LINE come first.

    Prints nothing when nothing is known.

    Code that was edited, moved or renamed is followed.

    \b
    Examples:
      git mem gotcha for app/pay.py:40
      git mem gotcha for $(git diff --name-only)
    """
    from gitmem.services.gotchas.placement import OPEN, Guide

    with term.open() as app:
        agents = options.agents(app, None)
        guide = Guide(
            app.indexes(),
            app.follower,
            lambda **more: app.rows(agents=agents, **OPEN, **more),
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
        if as_json:
            term.json([_placed(given, found) for given, found in out])
            return
        several = len({given for given, _ in out}) > 1 or len(places) > 1
        for given, found in out:
            for text_ in _card(
                term, found.row, [found.reason], app.clock.now(), given if several else ""
            ):
                term.say(text_)
        if not out:
            missing = [
                given for given in places if not _is_there(app, _file_and_line(app, given)[0])
            ]
            why = (
                f"there is no {' and no '.join(map(path_shown, missing))} in this repository; "
                if missing
                else ""
            )
            term.note(
                why
                + (
                    "nothing is known about it."
                    if len(places) == 1
                    else "nothing is known about them."
                )
            )


def _files_of(app: App, path: str) -> list[str]:
    """Return the files that a name stands for.

    A file stands for itself, a folder for its files with gotchas, and the old name of a renamed
    file for its current name.
    """
    root = app.location.worktree or ""
    if not root:
        return [path]
    if os.path.lexists(os.path.join(root, path)):
        if not os.path.isdir(os.path.join(root, path)):
            return [path]
        inner = "" if path == "." else f"{path}/"
        known = {
            name for prefix, index in app.indexes() if prefix != "user" for name in index.bases()
        }
        return sorted(
            name
            for name in known
            if name.startswith(inner) and os.path.isfile(os.path.join(root, name))
        )
    from gitmem.services.gotchas.placement import OPEN

    names = (path, *app.follower.earlier(path))
    for row in app.rows(paths=names, **OPEN):
        for anchor in row["anchors"]:
            now = app.follower.called(anchor) if anchor.get("path") in names else ""
            if now and now != path:
                return [now]
    return [path]


def _is_there(app: App, path: str) -> bool:
    from gitmem.cli.records.add_edit import file_bytes

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
    from gitmem.cli.records.add_edit import file_bytes
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
        chosen = fit(
            found, budget, lambda one: sum(map(tokens, gotcha_lines(one.row, one.reasons)))
        )
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
            term.say(fence([text for one in chosen for text in gotcha_lines(one.row, one.reasons)]))
        else:
            term.note("no gotcha fits this task.")


@click.command("stats", short_help=TABLE["stats"][2])
@options.json_option
@click.pass_obj
def stats_command(term: Terminal, as_json: bool) -> None:
    """Count gotchas by category, severity and source, and the errors that may become gotchas.

    \b
    Example:
      git mem gotcha stats --json
    """
    from gitmem.services.gotchas import lifecycle

    with term.open_any() as app:
        now = app.clock.now()
        window = float(app.settings.get("captureWindow")) * 3600
        indexes = [index for _, index in app.indexes()]
        facts = lifecycle.statistics(
            indexes,
            app.state.errors(now - window),
            int(app.settings.get("captureThreshold")),
            app.state.snoozed(now),
        )
        if as_json:
            term.json(facts)
            return
        term.say(
            f"{facts['count']} gotcha{'s' if facts['count'] != 1 else ''}: {facts['open_count']} "
            f"not dealt with ({facts['unconfirmed_count']} unconfirmed, "
            f"{facts['snoozed_count']} snoozed), {facts['resolved_count']} resolved, "
            f"{facts['archived_count']} archived"
        )
        for name, key in (
            ("severity", "by_severity"),
            ("category", "by_category"),
            ("source", "by_source"),
        ):
            counts = ", ".join(
                f"{count} {what.replace('_', ' ')}" for what, count in facts[key].items() if count
            )
            term.say(f"  by {name:<9} {counts or '-'}")
        term.say(f"  seen {facts['occurrences']} times in all")
        hours = f"{window / 3600:g} h"
        term.say(
            f"  {facts['error_count']} error{'s' if facts['error_count'] != 1 else ''} "
            f"counted in the last {hours}, {facts['almost_captured_count']} of them one hit short "
            f"of a gotcha"
        )


@click.command("page", short_help=TABLE["page"][2])
@click.option(
    "--output", "-o", type=click.Path(dir_okay=False), metavar="FILE", help="Write it to a file."
)
@click.option("--all", "-a", "everything", is_flag=True, help="Resolved ones too.")
@click.pass_obj
def page_command(term: Terminal, output: str | None, everything: bool) -> None:
    """Print all gotchas as one Markdown page, by category.

    The page is a view; the store stays the source.

    \b
    Example:
      git mem gotcha page --all -o GOTCHAS.md
    """
    with term.open_any() as app:
        rows = app.rows(
            kinds=("gotcha",),
            statuses=LIVE,
            resolved=None if everything else False,
            order="severity",
            agents=options.agents(app, None),
        )
        for row in rows:
            # the index keeps both as one text
            row["body"] = _body(app, row).removesuffix(row["workaround"] or "")
        text = "\n".join(map(plain, page(rows, app.clock.stamp()).split("\n")))
        if output:
            write_output(app, output, text.encode("utf-8", "replace"))
            term.note(f"wrote {output}: {len(rows)} gotchas.")
        else:
            term.page(text.rstrip("\n").split("\n"), app)


def _body(app: App, row: dict[str, Any]) -> str:
    for prefix, index in app.indexes():
        if (prefix == "user") == (row["store"] == "user"):
            return index.body(row["n"])
    return ""


def drifted(term: Terminal, as_json: bool) -> int:
    """List the gotchas whose code has changed, moved or gone; return 1 when there are some."""
    from gitmem.services.gotchas.placement import survey

    with term.open() as app:
        seen = survey(
            [index for prefix, index in app.indexes() if not prefix],
            app.follower,
            step=term.progress("looking at"),
        )
        if as_json:
            term.json(
                [
                    {
                        "id": one.row["id"],
                        "title": one.row["title"],
                        "anchor": anchor_json(one.anchor),
                        "place": place_json(one.where),
                    }
                    for one in seen.found
                ]
            )
            return 1 if seen.found else 0
        said = {
            "approximate": "only its definition is there",
            "adrift": "the code is not found",
            "moved": "the code has moved",
        }
        for one in seen.found:
            anchor, where = one.anchor, one.where
            was = place_text(anchor)
            spot = "" if where.state == "adrift" else f": now {where.path}:{where.first}"
            why = said.get(where.state, "the code has changed")
            term.say(
                f"{term.style(short(one.row['id']), fg='yellow')} {plain(one.row['title'])}\n    "
                f"{path_shown(f'{was}, {why}{spot}')}"
            )
        if seen.found:
            term.note(
                "still so: git mem gotcha verify ID. Elsewhere: git mem gotcha verify ID --anchor "
                "PLACE. No more: git mem gotcha resolve ID."
            )
        else:
            term.note(f"all {seen.total} gotchas are where they were.")
        return 1 if seen.found else 0
