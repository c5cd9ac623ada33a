"""`git mem native`: agents' own memory files, read into the store and written from it."""

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from gitmem.cli import options
from gitmem.cli.group import Parts
from gitmem.cli.terminal import Terminal, plain, short
from gitmem.services.memory_files import managed_block, pull
from gitmem.services.memory_files import push as native_push
from gitmem.services.memory_files.discover import BYTES, LINES, Memo
from gitmem.services.memory_files.pull import Action, PullPlan
from gitmem.services.memory_files.push import Push
from gitmem.text.plural import counted
from gitmem.worker import memory_files
from gitmem.worker.memory_files import Run

TABLE = {
    "status": (
        "setup.memory_files",
        "status_command",
        "Show the memory files, and what is in step",
    ),
    "pull": ("setup.memory_files", "pull_command", "Read the files into the store"),
    "push": (
        "setup.memory_files",
        "push_command",
        "Write records into a block of their own in files",
    ),
    "sync": ("setup.memory_files", "sync_command", "Pull, then push"),
    "watch-once": (
        "setup.memory_files",
        "watch_once_command",
        "Wait for the next change of a file, and pull it",
    ),
}
WAIT = 3600.0  # seconds that watch-once waits, unless it is told otherwise
COLOR = {
    "new": "green",
    "proposed": "yellow",
    "restored": "green",
    "changed": "yellow",
    "moved": "bright_black",
    "archived": "red",
    "conflict": "red",
}
WAITING = (
    ("new", "new"),
    ("proposed", "for the inbox"),
    ("changed", "changed"),
    ("conflict", "changed on both sides"),
    ("moved", "moved"),
    ("deleted", "deleted"),
    ("restored", "back again"),
    ("held", "newer elsewhere"),
)
COUNTED = ("new", "proposed", "changed", "conflict", "moved", "archived", "restored")
NO_BLOCK = "no memory file here has a block: nothing was changed."
NO_FILE = (
    "no file was written: Claude Code has left no folder here. To write its memory anyway: git mem "
    "native push --to claude"
)
LEFT = {
    "duplicate": "already in the store",
    "held": "not changed: another branch or clone has a newer text, or somebody else committed "
    "this text",
    "forgotten": "left out: forgotten on purpose",
}


@click.group("native", cls=Parts, table=TABLE, short_help="Exchange memory with agents' own files")
def native_command() -> None:
    """Exchange memory with the files that agents keep themselves.

    These are CLAUDE.md, GEMINI.md, AGENTS.md, rules and MEMORY.md.

    A pull reads them into records. A push writes records into a marked block and changes nothing
    outside of it.

    \b
    Examples:
      git mem native status
      git mem native sync --dry-run
      git mem native push --to gemini,agents
      git mem config native sync
    """


def _dry(command: Any) -> Any:
    return click.option("--dry-run", is_flag=True, help="Show what would be done; change nothing.")(
        command
    )


def _to(command: Any) -> Any:
    return click.option(
        "--to",
        "names",
        multiple=True,
        metavar="NAMES",
        help="Write these: claude, gemini, agents, agent:NAME or a file. May be repeated.",
    )(command)


def _names(names: Sequence[str]) -> list[str]:
    given = [name.strip() for group in names for name in group.split(",") if name.strip()]
    if names and not given:
        raise click.BadParameter(
            "--to is empty: name claude, gemini, agents, agent:NAME or a file."
        )
    return given


@click.command("pull", short_help=TABLE["pull"][2])
@_dry
@options.json_option
@click.pass_obj
def pull_command(term: Terminal, dry_run: bool, as_json: bool) -> None:
    """Read agents' memory files into the store.

    Each bullet, paragraph and section becomes one record. A changed line changes its record, a
    deleted line archives it, and pulling again changes nothing. Files that git tracks go to the
    shared store, others to the private one, files in your home to your own. Lines that somebody
    else committed wait in the inbox, and change no record.

    \b
    Examples:
      git mem native pull --dry-run
      git mem native pull
    """
    with term.open() as app:
        _, plan = memory_files.pull(app, dry=dry_run)
        if as_json:
            term.json(_plan(plan, dry_run))
        else:
            _say_plan(term, plan, dry_run)


@click.command("push", short_help=TABLE["push"][2])
@_to
@click.option("--remove", is_flag=True, help="Take the block out of the files instead.")
@_dry
@options.json_option
@click.pass_obj
def push_command(
    term: Terminal, names: tuple[str, ...], remove: bool, dry_run: bool, as_json: bool
) -> None:
    """Write records into agents' memory files, in a marked block.

    Without --to: Claude Code's auto memory of this repository, and MEMORY.md files of its subagents
    that git does not track; with --remove every file that has a block. If somebody edited a line of
    the block, the edit goes into its record first.

    \b
    Examples:
      git mem native push
      git mem native push --to gemini,agents
      git mem native push --to agent:reviewer --dry-run
      git mem native push --remove
    """
    with term.open() as app:
        run, plan, pushes = memory_files.push(app, _names(names), dry=dry_run, remove=remove)
        _report(term, run, plan, pushes, dry_run, as_json, remove=remove, pulled=False)


@click.command("sync", short_help=TABLE["sync"][2])
@_to
@_dry
@options.json_option
@click.pass_obj
def sync_command(term: Terminal, names: tuple[str, ...], dry_run: bool, as_json: bool) -> None:
    """Read agents' memory files into the store, then write their blocks.

    The blocks are those of `git mem native push`, and every block that exists already.

    \b
    Examples:
      git mem native sync
      git mem native sync --to claude,agents --dry-run
    """
    with term.open() as app:
        run, plan, pushes = memory_files.sync(app, _names(names), dry=dry_run)
        _report(term, run, plan, pushes, dry_run, as_json)


@click.command("watch-once", short_help=TABLE["watch-once"][2])
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, max=864000),
    default=WAIT,
    show_default=True,
    metavar="S",
    help="Seconds to wait.",
)
@options.json_option
@click.pass_obj
def watch_once_command(term: Terminal, timeout: float, as_json: bool) -> None:
    """Wait until a memory file changes, pull, and exit. It also exits when nothing changed in time.

    \b
    Examples:
      git mem native watch-once
      git mem native watch-once --timeout 60 --json
    """
    from gitmem.cli.setup.memory_files_watch import changed

    with term.open() as app:
        finder = Run(app).finder
        files = changed(finder, timeout)
        if not files:
            if as_json:
                term.json({"changed_memory_files": [], **_plan(PullPlan(), dry=False)})
            else:
                term.say(f"no memory file changed in {timeout:g} s.")
            return
        _, plan = memory_files.pull(app)
        if as_json:
            term.json({"changed_memory_files": files, **_plan(plan, dry=False)})
        else:
            term.say(f"changed: {', '.join(plain(name) for name in files)}")
            _say_plan(term, plan, dry=False)


@click.command("status", short_help=TABLE["status"][2])
@options.json_option
@click.pass_obj
def status_command(term: Terminal, as_json: bool) -> None:
    """Show the state of agents' memory files.

    For each file: how many records it has, what a pull would do, and whether its block is up to
    date.

    \b
    Examples:
      git mem native status
      git mem native status --json
    """
    with term.open() as app:
        run, plan = memory_files.pull(app, dry=True)
        rows = _files(
            run,
            plan,
            {
                os.path.realpath(push.target.path): push
                for push in run.push((), dry=True, held=True)
            },
        )
        setting = app.settings.get("native")
        if as_json:
            term.json(
                {
                    "memory_files": [_file_json(row) for row in rows],
                    "setting": setting,
                    "notes": plan.notes,
                }
            )
            return
        for row in rows:
            term.say(_status_line(term, row))
        if not rows:
            term.say(
                "no agent has a memory file here yet. To write one from the store: git mem native "
                "push --to claude"
            )
        for note in plan.notes:
            term.note(note)
        how = {
            "off": "nothing is done by itself (git mem config native sync)",
            "sync": "both ways",
        }.get(setting, setting)
        term.say(f"At the start and end of sessions: {how}.")


def _files(run: Run, plan: PullPlan, pushes: Mapping[str, Push]) -> list[dict[str, Any]]:
    """Return what is known of each file, those too that are there no more.

    `pushes` are what a push would write now, by path.
    """
    stores = {managed_block.short(str(row["id"])): str(row["store"]) for row in run.rows}
    counts: dict[str, Counter[str]] = {}
    for action in plan.actions:
        counts.setdefault(action.file, Counter())[action.what] += 1
    rows = []
    for memo in run.files.memos:
        # none of a file that no sync writes: above the work tree, or too large
        push = pushes.get(os.path.realpath(memo.path))
        row = _memo(memo) | _standing(counts.pop(memo.name, Counter()))
        row["block"] = _block(memo.text, stores, push)
        rows.append({key: value for key, value in row.items() if value not in ("", None)})
    rows += [
        {"file": name, "missing": True, **_standing(count)}
        for name, count in sorted(counts.items())
    ]
    return rows


def _memo(memo: Memo) -> dict[str, Any]:
    lines, size = managed_block.size(memo.text)
    row: dict[str, Any] = {
        "file": memo.name,
        "reader": memo.reader,
        "store": memo.scope,
        "agent": memo.agent,
        "tracked": memo.tracked,
        "lines": lines,
        "bytes": len(memo.data),
    }
    if memo.limited:
        row["limit"] = {"lines": LINES, "bytes": BYTES}
        row["over"] = lines > LINES or size > BYTES
    return row


def _block(text: str, stores: Mapping[str, str], push: Push | None) -> dict[str, Any]:
    """Return the size of our block in a file, and how far it is behind what a push would write."""
    blocks = managed_block.find(text.replace("\r\n", "\n").split("\n"))
    lines = text.split("\n")
    held = [line for block in blocks for line in lines[block.first : block.last + 1]]
    records = [line for block in blocks for line in block.lines]
    row: dict[str, Any] = {
        "lines": len(held),
        "bytes": sum(len(line.encode("utf-8", "replace")) + 1 for line in held),
        "records": len(records),
        "edited": sum(line.edited for line in records),
        "whole": all(block.whole for block in blocks),
    }
    if held:
        ids = {line.short for line in records}
        row["stores"] = dict(Counter(stores[id] for id in ids if id in stores))
    if held and push:
        row |= _behind(push)
    return row


def _behind(push: Push) -> dict[str, Any]:
    late = native_push.behind(push)
    row: dict[str, Any] = {"in_step": late is None and push.what != "foreign"}
    if late:
        row |= {"new": late.new, "gone": late.gone, "changed": late.changed}
    if push.what == "foreign":
        row |= {"unknown": push.unknown, "reworded": push.reworded}
    return row


def _file_json(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is known of a memory file; no store and no size of one that is gone."""
    limit, block = row.get("limit"), row.get("block")
    return {
        "memory_file": row["file"],
        "missing": bool(row.get("missing")),
        "reader": row.get("reader"),
        "store": row.get("store"),
        "agent": row.get("agent"),
        "tracked": row.get("tracked"),
        "line_count": row.get("lines"),
        "size_bytes": row.get("bytes"),
        "limit": _limit_json(limit) if limit else None,
        "over_limit": bool(row.get("over")),
        "counts": {key: row[key] for key in _standing({})},
        "block": _block_json(block) if block and block["lines"] else None,
    }


def _limit_json(limit: Mapping[str, int]) -> dict[str, int]:
    return {"line_count": limit["lines"], "size_bytes": limit["bytes"]}


def _block_json(block: Mapping[str, Any]) -> dict[str, Any]:
    late = ("new", "changed", "gone", "unknown", "reworded")
    return {
        "line_count": block["lines"],
        "size_bytes": block["bytes"],
        "record_count": block["records"],
        "edited_count": block["edited"],
        "record_counts": block.get("stores", {}),
        "complete": block["whole"],
        "in_step": block.get("in_step"),
        "counts": {key: block[key] for key in late if key in block},
    }


def _standing(counts: Mapping[str, int]) -> dict[str, int]:
    names = {
        "same": "in_step",
        "new": "new",
        "proposed": "proposed",
        "changed": "changed",
        "conflict": "conflict",
        "moved": "moved",
        "archived": "deleted",
        "restored": "restored",
    }
    out = {name: counts.get(what, 0) for what, name in names.items()}
    records = sum(
        counts.get(what, 0) for what in ("same", "changed", "conflict", "moved", "archived", "held")
    )
    return {
        "records": records,
        **out,
        "duplicate": counts.get("duplicate", 0),
        "held": counts.get("held", 0),
    }


def _status_line(term: Terminal, row: dict[str, Any]) -> str:
    block = row.get("block", {})
    has_block = bool(block and block["lines"])
    waiting = [f"{row[key]} {word}" for key, word in WAITING if row[key]]
    # what the file says is in our block alone
    is_bare = has_block and not row["records"] and not waiting and not row["duplicate"]
    if is_bare:
        parts = ["nothing of its own"]
    else:
        parts = [f"{row['records']} record{'s' if row['records'] != 1 else ''}"]
        parts.append(term.style(", ".join(waiting), fg="yellow") if waiting else "in step")
    if row["duplicate"]:
        parts.append(f"{row['duplicate']} known from elsewhere")
    if row.get("missing"):
        parts.append("the file is gone")
    elif row.get("limit"):
        parts.append(_size(term, row))
    if has_block:
        parts += _block_parts(term, block)
    where = "" if is_bare else row.get("store", "")  # whose what the file itself says is
    return f"{plain(row['file'])}{f' ({where})' if where else ''}: {'; '.join(parts)}"


def _size(term: Terminal, row: Mapping[str, Any]) -> str:
    limit = row["limit"]
    size = f"{row['lines']} of {limit['lines']} lines, {row['bytes']:,} of {limit['bytes']:,} bytes"
    return term.style(f"over limit: {size}", fg="red") if row["over"] else size


def _block_parts(term: Terminal, block: Mapping[str, Any]) -> Iterator[str]:
    stores = block["stores"]
    edited = f", {block['edited']} edited by hand" if block["edited"] else ""
    shown = " and ".join(f"{count} {name}" for name, count in sorted(stores.items())) or "0"
    records = f"{shown} record{'' if sum(stores.values()) == 1 else 's'}"
    damaged = "" if block["whole"] else ", damaged"
    size = f"{counted(block['lines'], 'line')}, {block['bytes']:,} bytes"
    yield f"block: {records}, {size}{edited}{damaged}"
    if "in_step" in block:
        yield "block in step" if block["in_step"] else term.style(_late(block), fg="yellow")


def _late(held: Mapping[str, Any]) -> str:
    """Return how far a block is behind the store, and what to do."""
    if held.get("unknown"):
        return (
            f"block left as it is ({held['unknown']} that this store does not have): git mem sync"
        )
    if held.get("reworded"):
        return (
            f"block left as it is ({held['reworded']} in words that this store does not have): git "
            f"mem sync"
        )
    words = (("new", "to write"), ("changed", "changed"), ("gone", "to take out"))
    counts = ", ".join(f"{held[key]} {word}" for key, word in words if held[key])
    return f"block stale{f' ({counts})' if counts else ''}: git mem native sync"


def _action(action: Action) -> dict[str, Any]:
    return {
        "action": action.what,
        "memory_file": action.file,
        "line": action.line,
        "id": action.id or action.why or None,
        "store": action.scope or None,
        "title": action.title,
        "reason": action.why if action.why and action.id else None,
    }


def _plan(plan: PullPlan, dry: bool) -> dict[str, Any]:
    counts = Counter(action.what for action in plan.actions)
    actions = [_action(action) for action in plan.actions if action.what != pull.SAME]
    return {
        "pulled_lines": actions,
        "counts": dict(sorted(counts.items())),
        "notes": plan.notes,
        "dry_run": dry,
    }


def _say_plan(term: Terminal, plan: PullPlan, dry: bool, *, pulled: bool = True) -> None:
    """Say what became of what the files say.

    Without `pulled` nobody asked for it, and that there was nothing is not told.
    """
    for action in plan.writes:
        what = term.style(f"{action.what:<9}", fg=COLOR[action.what])
        term.say(
            f"{what} {plain(action.file)}:{action.line}  {plain(action.title)} "
            f"({short(action.id)}{'' if action.scope == 'shared' else f', {action.scope}'})"
        )
        if action.why:
            term.say(f"          {action.why}")
    for what, text in LEFT.items():
        for action in plan.actions:
            if action.what == what:
                term.note(
                    f"{action.file}:{action.line}  {text}: {action.title} "
                    f"({short(action.id or action.why)})"
                )
    for note in plan.notes:
        term.note(note)
    if not (pulled or plan.writes):
        return
    counts = Counter(action.what for action in plan.actions)
    done = (
        ", ".join(f"{counts[what]} {what}" for what in COUNTED if counts[what]) or "nothing to pull"
    )
    same = counts[pull.SAME]
    term.say(
        f"{'would be: ' if dry and plan.writes else ''}{done}{f'; {same} in step' if same else ''}."
    )


def _push(push: Push) -> dict[str, Any]:
    lines, size = managed_block.size(push.after.decode("utf-8", "surrogateescape"))
    limit = {"lines": push.target.lines, "bytes": push.target.bytes}
    return {
        "memory_file": push.target.name,
        "absolute_path": push.target.path.encode("utf-8", "replace").decode(),
        "action": push.what,
        "wanted_count": push.wanted,
        "ids": list(push.records),
        "line_count": lines,
        "size_bytes": size,
        "limit": _limit_json(limit) if push.target.lines else None,
        "notes": list(push.notes),
    }


def _report(
    term: Terminal,
    run: Run,
    plan: PullPlan,
    pushes: Sequence[Push],
    dry: bool,
    as_json: bool,
    *,
    remove: bool = False,
    pulled: bool = True,
) -> None:
    """Say what was read and written.

    Raise the first problem of a file that could not be written.
    """
    if as_json:
        failures = [{"message": str(problem), "hint": problem.hint} for problem in run.problems]
        pushed = [_push(push) for push in pushes]
        term.json({**_plan(plan, dry), "pushed_files": pushed, "failures": failures})
    else:
        if plan.actions or plan.notes:
            _say_plan(term, plan, dry, pulled=pulled)
        _say_pushes(term, pushes, dry, remove)
        if not pushes and not run.problems:
            term.say(NO_BLOCK if remove else NO_FILE)
    for problem in run.problems[1:]:
        term.note(f"{problem} {problem.hint}")
    if run.problems:
        raise run.problems[0]


def _say_pushes(term: Terminal, pushes: Sequence[Push], dry: bool, remove: bool) -> None:
    for push in pushes:
        _say_push(term, push, dry, remove)


def _say_push(term: Terminal, push: Push, dry: bool, remove: bool) -> None:
    name, row = plain(push.target.name), _push(push)
    limit = row.get("limit")
    room = (
        f"{row['line_count']} of {limit['line_count']} lines, {row['size_bytes']:,} of "
        f"{limit['size_bytes']:,} bytes"
        if limit
        else f"{counted(row['line_count'], 'line')}, {counted(row['size_bytes'], 'byte')}"
    )
    count = f"{len(row['ids'])} of {row['wanted_count']} records"
    said = {
        "written": f"{'would write' if dry else 'wrote'} {count} into {name}: {room}",
        "same": f"{name} is up to date: {count}, {room}",
        "removed": f"{'would take' if dry else 'took'} the block out of "
        f"{name}{': no record is left for it' if not remove else ''}",
        "empty": f"{name} has no block"
        if remove
        else f"nothing to write into {name}: the store has no record for it",
        "full": f"no room for the block in {name}",
        "foreign": f"{name} is left as it is",
    }[push.what]
    term.say(f"{said}.")
    for note in push.notes:
        term.note(f"{name}: {note}.")
