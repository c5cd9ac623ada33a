"""`git mem snapshot`: save the work in hand as it is, and bring it back."""

import json
import os
from collections.abc import Mapping
from itertools import islice
from typing import Any

import click

from gitmem.app import App
from gitmem.base.files import Lock
from gitmem.cli import options
from gitmem.cli.group import Parts
from gitmem.cli.rows import whole_record_json
from gitmem.cli.terminal import Terminal, age, path_shown, path_text, plain, short, title_shown
from gitmem.errors import UnknownId, UserError
from gitmem.git.work_state import Work, WorkState
from gitmem.records.record import Record
from gitmem.repo.path_rules import named
from gitmem.services.snapshots import keep, restore, save
from gitmem.services.snapshots.plan import RestorePlan, plan
from gitmem.services.snapshots.saved import SavedSnapshot, read, ref_of
from gitmem.text.plural import counted

TABLE = {
    "save": ("snapshot", "save_command", "Save the files and the index as they are"),
    "list": ("snapshot", "list_command", "List snapshots, the newest first"),
    "show": ("snapshot", "show_command", "Show what a snapshot has"),
    "diff": (
        "snapshot",
        "diff_command",
        "Compare a snapshot with the files as they are, or with another one",
    ),
    "restore": (
        "snapshot",
        "restore_command",
        "Show where the work stopped; with --worktree restore files and index",
    ),
    "drop": ("snapshot", "drop_command", "Remove snapshots"),
    "prune": ("snapshot", "prune_command", "Remove those that have outlived their time"),
    "share": ("snapshot", "share_command", "Push one snapshot to a remote, on purpose"),
}


@click.group(
    "snapshot", cls=Parts, table=TABLE, short_help="Save the work in hand, and bring it back"
)
def snapshot_command() -> None:
    """Save uncommitted work: staged, changed and new files.

    Branch, commit, story and a note are saved with it. Neither files nor index are changed.

    An ID may be a part of one, or `last`: the newest that was made by hand, else the newest.

    \b
    Examples:
      git mem snapshot save "before the big rename"
      git mem snapshot restore 7k2m9qxa --worktree --dry-run
      git mem snapshot restore 7k2m9qxa --worktree
    """


def work_of(app: App, *, obeys: bool = False) -> Work:
    """Return the work tree of a command; raises UserError in a bare repository.

    A command that saves or writes files obeys the filters that the repository's configuration
    names, as git does.
    """
    return Work(app.location, app.env, obeys=obeys)


def take(
    app: App,
    work: Work,
    context: save.SaveContext,
    named: tuple[str, ...] = (),
    state: WorkState | None = None,
) -> Record:
    """Save the state of a work tree."""
    hidden = app.hidden(work.root)
    id = f"snp-{app.clock.ulid()}"
    return save.save(
        work,
        app.objects,
        app.store("private"),
        app.writer(),
        id,
        context,
        named=named,
        hides=hidden.has,
        state=state,
    )


def _rows(app: App) -> list[dict[str, Any]]:
    keep.adopt(app.objects, app.store("private"))
    return app.index().rows(kinds=("snapshot",), stores=("private",), order="created")


def find(app: App, text: str) -> str:
    """Return the id of a snapshot by a part of it.

    'last' or '@' is the newest that was made by hand, else the newest.
    """
    if text in {"last", "@"}:
        have = keep.has_work(app.objects)
        rows = [row for row in _rows(app) if row["id"] in have]
        rows = [row for row in rows if row["origin"] == "manual"] or rows
        if not rows:
            raise UnknownId("there is no snapshot.", "Make one: git mem snapshot save")
        return str(rows[0]["id"])
    damaged = [
        id
        for id in keep.adopt(app.objects, app.store("private"))
        if len(text) > 3 and id.endswith(text)
    ]
    return damaged[0] if len(damaged) == 1 else app.find(text)


@click.command("save", short_help=TABLE["save"][2])
@click.argument("note", nargs=-1)
@click.option("--story", metavar="ID", default="", help="The story that the work is for.")
@click.option("--subtask", metavar="TEXT", default="", help="The part of it.")
@click.option("--state", metavar="JSON", default="", help="Anything else, as JSON.")
@click.option(
    "--with",
    "named",
    metavar="FILE",
    multiple=True,
    help="Save this file too, although its name suggests secrets. May be repeated.",
)
@options.json_option
@click.pass_obj
def save_command(
    term: Terminal,
    note: tuple[str, ...],
    story: str,
    subtask: str,
    state: str,
    named: tuple[str, ...],
    as_json: bool,
) -> None:
    """Save the files and the index as they are.

    What git ignores is not saved, nor files of more than 10 MiB.

    \b
    Examples:
      git mem snapshot save
      git mem snapshot save "tests pass, before the cleanup" --story 1.2
    """
    if state:
        try:
            json.loads(state)
        except ValueError as error:
            raise UserError(
                f"--state is not JSON: {error}.", """For example: --state '{"step": 3}'"""
            ) from error
    with term.open() as app:
        work = work_of(app, obeys=True)
        inside = tuple(os.path.relpath(os.path.abspath(path), work.root) for path in named)
        here = os.path.relpath(os.path.realpath(os.getcwd()), os.path.realpath(work.root))
        context = save.SaveContext(
            " ".join(note), story, subtask, "" if here == "." else here, state
        )
        seen = save.seen(work, app.hidden(work.root).has)
        if not (story or subtask or state) and save.is_clean(seen):
            _nothing_to_save(term, as_json)
            return
        record = take(app, work, context, inside, seen)
        prune(app)
        under_way = sorted(work.under_way())
        if as_json:
            term.json({**_snapshot_json(record, saved=True), "unfinished_operations": under_way})
            return
        files = len(record.get("dirty")) + int(record.fields.get("more") or 0)
        term.say(
            f"saved {term.style(short(record.id), fg='yellow')} {title_shown(record.title)} "
            f"({files} changed file{'' if files == 1 else 's'})"
        )
        _left_out(term, record)
        for name in under_way:
            term.note(
                f"not saved: that git is in the middle of a {name}; its files and the index are."
            )
        term.note(f"To bring it back: git mem snapshot restore {short(record.id)} --worktree")


def _snapshot_json(record: Record, *, saved: bool) -> dict[str, Any]:
    """Return a snapshot; its `ref` is null when only the facts were kept, not the work."""
    return {**whole_record_json("private", record), "ref": ref_of(record.id) if saved else None}


def _files_json(files: Mapping[str, str], key: str) -> list[dict[str, str]]:
    return [{"path": path_text(path), key: value} for path, value in sorted(files.items())]


def _nothing_to_save(term: Terminal, as_json: bool) -> None:
    if as_json:
        term.json(None)
        return
    term.say("nothing was saved: all files are as the last commit has them.")


def _left_out(term: Terminal, record: Record) -> None:
    for omitted in record.fields.get("omitted") or ():
        term.note(
            f"left out: {path_shown(omitted.get('path'))}: {plain(str(omitted.get('reason')))}"
        )


@click.command("list", short_help=TABLE["list"][2])
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="At most so many.",
)
@click.option("--branch", metavar="NAME", help="Made on this branch.")
@click.option("--story", metavar="ID", help="Of this story.")
@click.option("--agent", metavar="NAME", help="Made by this agent.")
@options.json_option
@click.pass_obj
def list_command(
    term: Terminal,
    limit: int,
    branch: str | None,
    story: str | None,
    agent: str | None,
    as_json: bool,
) -> None:
    """List snapshots, the newest first.

    \b
    Example:
      git mem snapshot list --branch main
    """
    with term.open() as app:
        have = keep.has_work(app.objects)
        wanted = {"branch": branch, "story": story, "agent": agent}
        records = (app.store("private").get(row["id"]).record for row in _rows(app))
        fitting = (record for record in records if _fits(record, wanted))
        shown = [(record, record.id in have) for record in islice(fitting, limit)]
        if as_json:
            term.json([_snapshot_json(record, saved=work) for record, work in shown])
            return
        for record, work in shown:
            term.say(_snapshot_line(term, record, work, app.clock.now()))
        for id in keep.adopt(app.objects, app.store("private")):
            term.note(f"{id} is damaged, and was not made by git mem: git mem snapshot drop {id}")
        if not shown:
            term.note("no snapshots. Make one: git mem snapshot save")


def _fits(record: Record, wanted: Mapping[str, str | None]) -> bool:
    return all(not value or record.get(name) == value for name, value in wanted.items())


def _snapshot_line(term: Terminal, record: Record, has_work: bool, now: float) -> str:
    files = len(record.get("dirty")) + int(record.fields.get("more") or 0)
    facts = [
        age(record.created, now),
        str(record.get("branch") or ""),
        f"{files} file{'' if files == 1 else 's'}",
        "pinned" if record.status == "pinned" else "",
        "" if has_work else "without the work",
        _omitted_count(record),
    ]
    id = term.style(short(record.id), fg="yellow")
    return f"{id} {title_shown(record.title)} ({', '.join(filter(None, facts))})"


def _omitted_count(record: Record) -> str:
    count = len(record.fields.get("omitted") or ())
    return f"{count} left out" if count else ""


@click.command("show", short_help=TABLE["show"][2])
@click.argument("id", default="last")
@options.json_option
@click.pass_obj
def show_command(term: Terminal, id: str, as_json: bool) -> None:
    """Show the facts of a snapshot, and each file with its letters from `git status --short`.

    Without an ID: `last`, which is the newest that was made by hand, else the newest.

    \b
    Example:
      git mem snapshot show last
    """
    with term.open() as app:
        record = app.store("private").get(find(app, id)).record
        saved = app.objects.tip(ref_of(record.id))
        if as_json:
            term.json(_snapshot_json(record, saved=bool(saved)))
            return
        upstream = record.fields.get("upstream") or {}
        lines = [
            ("snapshot", record.id),
            ("Title", record.title),
            ("Date", f"{record.created} ({age(record.created, app.clock.now())})"),
            ("Branch", record.get("branch")),
            ("Commit", record.get("commit")),
            (
                "Upstream",
                f"{upstream['name']}: {upstream.get('ahead', 0)} ahead, "
                f"{upstream.get('behind', 0)} behind"
                if upstream
                else None,
            ),
            ("Story", record.get("story")),
            ("Subtask", record.get("subtask")),
            ("Agent", record.get("agent")),
            ("Session", record.get("session")),
            ("Folder", "/".join(str(x) for x in (record.get("worktree"), record.get("cwd")) if x)),
            ("State", record.get("state")),
            ("Ref", ref_of(record.id) if saved else "its work was not saved"),
        ]
        for name, value in lines:
            if value:
                term.say(
                    f"{name + ':':<14}{plain(str(value))}"
                    if name != "snapshot"
                    else f"snapshot {plain(str(value))}"
                )
        term.say("")
        for changed in record.get("dirty"):
            term.say(f"  {changed.get('status', '')!s:<2} {path_shown(changed.get('path', ''))}")
        if record.fields.get("more"):
            term.say(f"  and {record.fields['more']} more")
        _left_out(term, record)


@click.command("diff", short_help=TABLE["diff"][2])
@click.argument("id", default="last")
@click.argument("other", required=False)
@click.option("--stat", "stat", is_flag=True, help="Names and numbers only.")
@click.pass_obj
def diff_command(term: Terminal, id: str, other: str | None, stat: bool) -> None:
    """Show what changed in the files since a snapshot, or between two.

    Without an ID: `last`, which is the newest that was made by hand, else the newest.

    \b
    Examples:
      git mem snapshot diff last
      git mem snapshot diff 7k2m9qxa 9q0v6r61 --stat
    """
    with term.open() as app:
        left = read(app.objects, find(app, id))
        work = work_of(app)
        right = read(app.objects, find(app, other)) if other else _now(app, work)
        how = ["--stat"] if stat else []
        colour = ["--color=always"] if term.colored else []
        out = work.run(
            "diff",
            *how,
            *colour,
            "--no-ext-diff",
            left.worktree or "",
            right.worktree or "",
            "--",
            config=("-c", "core.quotePath=true"),
        )
        term.page(out.decode("utf-8", "replace").splitlines() or ["nothing has changed."], app)


def _now(app: App, work: Work) -> SavedSnapshot:
    """Return the files as they are, as a snapshot that no ref keeps."""
    return save.unkept(work, app.objects, app.writer(), hides=app.hidden(work.root).has)


@click.command("restore", short_help=TABLE["restore"][2])
@click.argument("id", default="last")
@click.argument("paths", nargs=-1)
@click.option(
    "--worktree",
    "-w",
    is_flag=True,
    help="Bring back files and index; what is there now is saved first.",
)
@click.option("--dry-run", is_flag=True, help="Say what would be done.")
@click.option("--force", "-f", is_flag=True, help="Overwrite files that nothing has saved, too.")
@options.json_option
@click.pass_obj
def restore_command(
    term: Terminal,
    id: str,
    paths: tuple[str, ...],
    worktree: bool,
    dry_run: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Show where the work stopped; with --worktree, restore files and index as they were.

    With PATHS, those alone. Without an ID: `last`, which is the newest that was made by hand, else
    the newest.

    \b
    Examples:
      git mem snapshot restore last
      git mem snapshot restore 7k2m9qxa --worktree
      git mem snapshot restore 7k2m9qxa src/pay.py --worktree
    """
    with term.open() as app:
        snapshot_id = find(app, id)
        if not worktree and not paths:
            record = app.store("private").get(snapshot_id).record
            _tell(term, app, record, as_json)
            return
        work = work_of(app, obeys=True)
        then = read(app.objects, snapshot_id)
        inside = [
            os.path.relpath(os.path.realpath(os.path.abspath(path)), os.path.realpath(work.root))
            for path in paths
        ]
        unknown = [
            path for path, relative in zip(paths, inside, strict=True) if relative.startswith("..")
        ]
        if unknown:
            raise UserError(
                f"'{unknown[0]}' is not in this work tree.", "Name files below its root."
            )
        with Lock(app.home.touch("restore.lock"), 0):
            left = restore.note_of(app.home)
            begun = (
                left
                if left
                and left.target == snapshot_id
                and left.root == work.root
                and set(left.paths) == set(inside)
                else None
            )
            now = _now(app, work)
            what = plan(work, app.objects, now, then, inside, force=force)
            if dry_run or (what.empty and not begun):
                _report(term, snapshot_id, what, "", dry_run=True, as_json=as_json)
                return
            safety = (
                begun.safety
                if begun
                else take(
                    app, work, save.SaveContext(reason=f"Before restoring {short(snapshot_id)}")
                ).id
            )
            note = restore.RestoreNote(snapshot_id, safety, work.root, tuple(inside))
            restore.carry_out(work, app.objects, app.home, what, then, note, force=force)
        _report(term, snapshot_id, what, safety, dry_run=False, as_json=as_json)


def _tell(term: Terminal, app: App, record: Record, as_json: bool) -> None:
    if as_json:
        saved = bool(app.objects.tip(ref_of(record.id)))
        term.json(_snapshot_json(record, saved=saved))
        return
    made = age(record.created, app.clock.now())
    term.say(f"{short(record.id)} {title_shown(record.title)}, {made}")
    for name, value in (
        ("branch", record.get("branch")),
        ("commit", record.get("commit")),
        ("story", record.get("story")),
        ("subtask", record.get("subtask")),
        ("state", record.get("state")),
    ):
        if value:
            term.say(f"  {name:<8}{plain(str(value))}")
    for changed in record.get("dirty"):
        term.say(f"  {changed.get('status', '')!s:<2} {path_shown(changed.get('path', ''))}")
    _left_out(term, record)
    if app.objects.tip(ref_of(record.id)):
        term.note(
            f"Files and index were not touched. To bring them back: git mem snapshot restore "
            f"{short(record.id)} --worktree"
        )


def _report(
    term: Terminal, id: str, what: RestorePlan, safety: str, *, dry_run: bool, as_json: bool
) -> None:
    facts = {
        "id": id,
        "safety_snapshot": safety or None,
        "dry_run": dry_run,
        "written_paths": sorted(map(path_text, what.write)),
        "removed_paths": sorted(map(path_text, what.remove)),
        "staged_paths": sorted(map(path_text, what.stage)),
        "blocked_files": _files_json(what.blocked, "reason"),
        "kept_files": _files_json(what.kept, "reason"),
        "submodules": _files_json(what.submodules, "commit"),
        "modes": _files_json({path: f"{mode:04o}" for path, mode in what.modes.items()}, "mode"),
        "warnings": what.warnings,
    }
    if as_json:
        term.json(facts)
        return
    for warning in what.warnings:
        term.note(f"warning: {plain(warning)}")
    for path, why in sorted(what.kept.items()):
        term.note(f"left as it is: {path_shown(path)}: {plain(why)}; --force removes it.")
    if what.empty:
        term.say("all is as it was: there is nothing to bring back.")
        return
    for name, some in (
        ("written", what.write),
        ("removed", what.remove),
        ("given their permissions back", what.modes),
        ("changed in the index", sorted({*what.stage, *what.flags})),
    ):
        if some:
            was = "was" if len(some) == 1 else "were"
            term.say(
                f"{counted(len(some), 'file')} {'would be' if dry_run else was} {name}: "
                f"{', '.join(map(path_shown, sorted(some)[:8]))}{' …' if len(some) > 8 else ''}"
            )
    for path, why in sorted(what.blocked.items()):
        term.note(f"in the way: {path_shown(path)}: {plain(why)}")
    for path, oid in sorted(what.submodules.items()):
        term.note(
            f"submodule {path_shown(path)} was at {oid[:10]} then: git -C {path_shown(path)} "
            f"checkout {oid[:10]}"
        )
    if safety:
        term.note(
            f"what was there before is {short(safety)}. To take this back: git mem snapshot "
            f"restore {short(safety)} --worktree"
        )


@click.command("drop", short_help=TABLE["drop"][2])
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@options.json_option
@click.pass_obj
def drop_command(term: Terminal, ids: tuple[str, ...], as_json: bool) -> None:
    """Remove snapshots. Git frees the space with its next collection.

    \b
    Example:
      git mem snapshot drop 7k2m9qxa
    """
    with term.open() as app:
        wanted = [find(app, id) for id in ids]
        if wrong := next((id for id in wanted if not id.startswith("snp-")), None):
            raise UserError(f"{short(wrong)} is no snapshot.", "See them: git mem snapshot list")
        gone = keep.drop(app.objects, app.store("private"), app.writer(), wanted)
        if as_json:
            term.json({"dropped_ids": gone})
            return
        term.say(f"dropped {', '.join(map(short, gone))}" if gone else "nothing was there.")


@click.command("prune", short_help=TABLE["prune"][2])
@click.option(
    "--keep",
    "number",
    type=click.IntRange(min=0),
    help="How many of the newest stay. Default: 50.",
)
@click.option(
    "--days",
    type=click.FloatRange(min=0),
    help="How many days they stay. Default: 7.",
)
@options.json_option
@click.pass_obj
def prune_command(term: Terminal, number: int | None, days: float | None, as_json: bool) -> None:
    """Remove the snapshots that have outlived their time. Pinned ones stay: git mem pin ID.

    \b
    Example:
      git mem snapshot prune --keep 10
    """
    with term.open() as app:
        gone = prune(app, number, days)
        if as_json:
            term.json({"dropped_ids": gone})
            return
        term.say(f"dropped {len(gone)} snapshot{'' if len(gone) == 1 else 's'}.")


def prune(app: App, number: int | None = None, days: float | None = None) -> list[str]:
    """Drop what has outlived its time.

    Never what a restore that was stopped needs.
    """
    number = keep.MOST if number is None else number
    days = keep.DAYS if days is None else days
    return keep.prune(
        app.objects, app.store("private"), app.writer(), _rows(app), app.home, number, days
    )


@click.command("share", short_help=TABLE["share"][2])
@click.argument("id", default="last")
@click.option("--remote", metavar="NAME", default="origin", show_default=True, help="Where to.")
@click.option("--yes", "-y", is_flag=True, help="Push it although it seems to hold secrets.")
@click.pass_obj
def share_command(term: Terminal, id: str, remote: str, yes: bool) -> None:
    """Push one snapshot to a remote.

    Everybody who can read it there can read the work, including what was never committed.

    Without an ID: `last`, which is the newest that was made by hand, else the newest.

    \b
    Example:
      git mem snapshot share 7k2m9qxa
    """
    from gitmem.services.snapshots.sharing import suspects

    with term.open() as app:
        snapshot_id = find(app, id)
        saved = read(app.objects, snapshot_id)
        held_back = suspects(app.objects, saved)
        if held_back and not yes:
            raise UserError(
                f"nothing was pushed: {named(held_back)}.",
                "Look at them; --yes pushes the snapshot all the same, with what is in them.",
            )
        app.remote(remote, ref_of(snapshot_id)).push(saved.oid)
        term.say(f"pushed {short(snapshot_id)} to {plain(remote)} as {ref_of(snapshot_id)}.")
        term.note(
            f"To get it elsewhere: git fetch {plain(remote)} "
            f"{ref_of(snapshot_id)}:{ref_of(snapshot_id)}"
        )
