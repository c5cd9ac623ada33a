"""`git mem summary`: what the sessions of a project added up to.

See it, change it, and how it grew.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from heapq import merge
from itertools import islice
from typing import Any

import click

from gitmem.app import App
from gitmem.base.files import write_atomic
from gitmem.cli import options
from gitmem.cli.group import Parts
from gitmem.cli.json_shapes import entry_changes_json, entry_json
from gitmem.cli.terminal import Terminal, plain, short
from gitmem.clock import stamp
from gitmem.errors import GitmemError, UserError
from gitmem.records.items import DONE, KINDS, TASK, Item, item_id
from gitmem.records.record import Record
from gitmem.records.summary_entries import Entry, key_of, known_as
from gitmem.services.records import history
from gitmem.services.records.write import Change
from gitmem.services.sessions import project_summary, summary_text
from gitmem.services.sessions.summary_merge import counts
from gitmem.services.sessions.summary_parts import SummaryParts, joined, scope_of
from gitmem.state import perhaps_done
from gitmem.store.store import Store

TABLE = {
    "show": ("sessions.summary", "show_command", "Show what the sessions added up to"),
    "update": (
        "sessions.summary_update",
        "update_command",
        "Read sessions anew, and integrate what they taught",
    ),
    "edit": ("sessions.summary", "edit_command", "Change it in your editor"),
    "add": ("sessions.summary", "add_command", "Put in an entry"),
    "done": ("sessions.summary", "done_command", "Say that a pending task is done"),
    "pin": ("sessions.summary", "pin_command", "Keep an entry, whatever its age"),
    "unpin": ("sessions.summary", "unpin_command", "Let a pinned entry age again"),
    "drop": ("sessions.summary", "drop_command", "Take out an entry for good"),
    "history": ("sessions.summary", "history_command", "Show how it grew"),
    "diff": ("sessions.summary", "diff_command", "Compare two states of it"),
}
EMPTY = (
    "there is no summary yet. It grows when sessions end; start it by hand with: git mem summary "
    "add TEXT"
)


class Shown(Parts):
    """`git mem summary` alone shows it, with the options of `show`."""

    alone = "show"

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take `git mem summary --json` for `git mem summary show --json`."""
        if ctx.resilient_parsing:
            return super().parse_args(ctx, args)
        if not args or (args[0].startswith("-") and args[0] not in {"-h", "--help"}):
            args = [self.alone, *args]
        return super().parse_args(ctx, args)


@click.group(
    "summary",
    cls=Shown,
    table=TABLE,
    subcommand_metavar="[COMMAND] [ARGS]...",
    short_help="What the sessions of this project added up to",
)
def summary_command() -> None:
    """Show the project summary: decisions, tasks, preferences and context from all sessions.

    The summary has pending tasks only, and each entry once.

    Without a command it is shown.

    \b
    Examples:
      git mem summary
      git mem summary pin 3f2a81
      git mem summary history
    """


def parts_of(app: App) -> SummaryParts:
    """Return the parts of the summary; the first takes what a person writes."""
    first = "private" if app.settings.get("summary") == "private" else "shared"
    return SummaryParts(
        {scope: app.store(scope) for scope in dict.fromkeys((first, "shared", "private"))}
    )


def _records(app: App, parts: SummaryParts, at: str | None) -> dict[str, Record]:
    return parts.records((lambda store: history.resolve(store, app.git, at)) if at else None)


@click.command("show", short_help=TABLE["show"][2])
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    type=click.Choice(KINDS),
    help="Only of this kind. May be repeated.",
)
@click.option("--ids", is_flag=True, help="With the id of each entry.")
@click.option("--at", metavar="REV", help="As it was at a revision: a date, @~3, a commit.")
@options.json_option
@click.pass_obj
def show_command(
    term: Terminal, kinds: tuple[str, ...], ids: bool, at: str | None, as_json: bool
) -> None:
    """Show the summary: entries by kind, the newest last, each with its date.

    \b
    Examples:
      git mem summary --ids
      git mem summary show --kind decision --at yesterday
    """
    with term.open() as app:
        app.settle()
        parts = parts_of(app)
        records = _records(app, parts, at)
        sections = joined(records)
        if kinds:
            sections = {
                name: [e for e in part if e.get("kind") in kinds] for name, part in sections.items()
            }
        if as_json:
            term.json(_facts(records, sections, parts.first[0]))
            return
        if not any(sections.values()):
            term.note(_nothing(bool(records), at, kinds))
            return
        term.page(_lines(term, sections, perhaps_done.known(app.state), ids=ids), app)
        private = (
            sum(scope_of(e, records) == "private" for part in sections.values() for e in part)
            if "shared" in records
            else 0
        )
        if private:
            term.note(
                f"{private} of these are private: extracted, and accepted by nobody yet (git mem "
                f"inbox)."
            )


def _nothing(known: bool, at: str | None, kinds: tuple[str, ...]) -> str:
    if known and kinds:
        return "nothing of that kind is in the summary."
    return (
        f"there was no summary at '{plain(at)}'. How it grew: git mem summary history"
        if at
        else EMPTY
    )


def _facts(records: Mapping[str, Record], sections: Any, scope: str) -> dict[str, Any]:
    record = records.get("shared") or records.get("private")
    return {
        "id": record.id if record else None,
        "store": "shared" if "shared" in records else next(iter(records), scope),
        "updated": max((str(one.updated) for one in records.values()), default=None),
        "rev": record.rev if record else None,
        "counts": counts(sections),
        "sections": {
            name: [entry_json(entry, scope_of(entry, records)) for entry in part]
            for name, part in sections.items()
        },
    }


def _lines(
    term: Terminal, sections: Any, perhaps: Mapping[str, Any], *, ids: bool
) -> Iterator[str]:
    first = True
    for kind, entries in summary_text.by_kind(sections).items():
        if not first:
            yield ""
        first = False
        yield term.style(summary_text.HEADINGS[kind], bold=True)
        for entry in entries:
            yield from _entry(
                term,
                entry,
                is_perhaps=kind == TASK and bool(known_as(entry) & set(perhaps)),
                ids=ids,
            )


def _entry(term: Terminal, entry: Entry, *, is_perhaps: bool, ids: bool) -> Iterator[str]:
    name = term.style(f"{plain(key_of(entry)[:8])}  ", fg="yellow") if ids else ""
    marks = "".join(
        f"  {term.style(flag, fg='cyan')}" for flag in ("pinned", "critical") if entry.get(flag)
    )
    when, since = (" ".join(str(entry.get(key, ""))[:10].split()) for key in ("at", "since"))
    dates = plain(f"{since} to {when}" if since and since != when else when)
    marks += f"  {term.style('perhaps done: git mem inbox', fg='cyan')}" if is_perhaps else ""
    shown_dates = term.style(f"  {dates}", fg="bright_black") if dates else ""
    yield f"  {name}{plain(str(entry.get('text', '')))}{shown_dates}{marks}"
    indent = " " * (14 if ids else 4)
    for line in str(entry.get("detail", "")).splitlines():
        yield indent + term.style(plain(line), fg="bright_black")


@click.command("edit", short_help=TABLE["edit"][2])
@click.pass_obj
def edit_command(term: Terminal) -> None:
    """Change the summary in your editor, one line per entry. A deleted line does not come back.

    \b
    Example:
      git mem summary edit
    """
    from gitmem.cli.editor import edit

    with term.open() as app:
        app.settle()
        parts = parts_of(app)
        sections = joined(parts.records())
        original = text = summary_text.text_of(sections)
        while True:
            result = edit(term, app, text, "Use git mem summary add, done, pin, drop.")
            if result is None or result == original:
                term.say("nothing was changed.")
                return
            try:
                after = summary_text.parsed(result, sections, term.clock.stamp())
            except GitmemError as error:
                if not sys.stdin.isatty() or not click.confirm(
                    f"{error} Edit again?", default=True, err=True
                ):
                    raise type(error)(
                        str(error), f"{error.hint} {_saved(app, result)}".strip()
                    ) from error
                text = result
                continue
            break
        if sections and not after:
            raise UserError(
                "the text is empty: nothing was changed.",
                "To take entries out: git mem summary drop ID",
            )
        changes = parts.edited(app.writer(), sections, after)
        for scope, change in changes:
            _done(term, change, "changed the summary", scope)
        if not changes:
            term.say("nothing was changed.")


def _saved(app: App, text: str) -> str:
    """Keep a text that could not be read; return where it is, in words."""
    path = app.home.join("SUMMARY_EDITMSG.md")
    try:
        write_atomic(path, text.encode("utf-8", "replace"), shared=app.home.shared, durable=False)
    except OSError:
        return ""
    return f"Your text is kept in {path}"


def _done(term: Terminal, change: Change, what: str, scope: str) -> None:
    where = "" if scope == "shared" else f" in the {scope} store"
    term.say(
        f"{what}{where}{options.journaled(change.written)}"
        if change.written.changed
        else "nothing changed."
    )
    for finding in change.findings:
        term.note(f"a secret was masked: {finding.kind}")


@click.command("add", short_help=TABLE["add"][2])
@click.argument("text", nargs=-1, required=True)
@click.option(
    "--kind", type=click.Choice(KINDS), default="decision", show_default=True, help="What it is."
)
@click.option("--pin", is_flag=True, help="Keep it, whatever its age.")
@options.json_option
@click.pass_obj
def add_command(term: Terminal, text: tuple[str, ...], kind: str, pin: bool, as_json: bool) -> None:
    """Add an entry to the summary.

    An entry with the same meaning is renewed; one that is overruled is replaced.

    \b
    Examples:
      git mem summary add "Use SERIALIZABLE for payments"
      git mem summary add --kind task "Load-test the new isolation level"
    """
    with term.open() as app:
        app.settle()
        scope, store = parts_of(app).first
        limit, who = app.settings.get("summaryLimit"), app.writer()
        change, entry = project_summary.add(
            store, who, kind, " ".join(text), limit=limit, pinned=pin
        )
        told = _became(change, entry)
        others = [
            (name, e)
            for name, other in parts_of(app).stores.items()
            if name != scope
            for e in project_summary.overrule(other, who, entry, limit)
        ]
        if as_json:
            term.json(
                {
                    **entry_json(entry, scope),
                    "changed": change is not None,
                    "merged_entries": [entry_json(old, scope) for old in told["merged"]],
                    "replaced_entries": [entry_json(old, scope) for old in told["replaced"]]
                    + [entry_json(old, name) for name, old in others],
                }
            )
        elif change is None:
            term.say("the summary says so already.")
        else:
            _done(
                term,
                change,
                f"{'renewed' if told['merged'] else 'added'} {key_of(entry)[:8]}: "
                f"{plain(entry['text'])}",
                scope,
            )
            back = f"git mem undo{' --private' if scope == 'private' else ''}"
            for old in told["merged"]:
                term.note(
                    f"merged with {key_of(old)[:8]}: {plain(str(old['text']))}. To take it back: "
                    f"{back}"
                )
            for old in told["replaced"]:
                term.note(
                    f"replaced {key_of(old)[:8]}: {plain(str(old['text']))}. To take it back: "
                    f"{back}"
                )
            for name, old in others:
                term.note(
                    f"replaced {key_of(old)[:8]} in the {name} part: {plain(str(old['text']))}. "
                    f"To take it back: git mem undo{' --private' if name == 'private' else ''}"
                )


def _became(change: Change | None, entry: Entry) -> dict[str, list[Entry]]:
    """Return the old entries that a new one was merged with, and those that it replaced.

    Merged entries are returned where their words differ.
    """
    if change is None:
        return {"merged": [], "replaced": []}
    before, after = (project_summary.sections(one) for one in (change.before, change.after))
    was = {key_of(e): e for part in before.values() for e in part}
    holder = next(
        (e for part in after.values() for e in part if key_of(entry) in known_as(e)), entry
    )
    old = was.get(key_of(holder))
    dropped = [
        e
        for _, e in project_summary.compared(before, after)["dropped"]
        if key_of(e) in known_as(holder)
    ]
    return {"merged": [old] if old else [], "replaced": dropped}


def _on_entry(
    name: str, help: str, verb: str, act: Callable[..., tuple[Change, Entry]]
) -> click.Command:
    """Return a command that does something to entries by their ids."""

    @click.command(name, short_help=TABLE[name][2], help=help)
    @click.argument("ids", nargs=-1, required=True, metavar="ID...")
    @options.json_option
    @click.pass_obj
    def command(term: Terminal, ids: tuple[str, ...], as_json: bool) -> None:
        with term.open() as app:
            app.settle()
            parts, who = parts_of(app), app.writer()
            # all are looked at before the first is changed
            found = {key_of(entry): entry for entry in [parts.find(id) for id in ids]}
            before = parts.records()
            for entry in found.values():
                changes = parts.change(who, entry, act)
                aside = _records_done(app, str(entry.get("text", ""))) if name == "done" else []
                if aside and not as_json:
                    term.note(f"Put aside, since it is done: {', '.join(aside)}")
                for scope, change in () if as_json else changes:
                    _done(
                        term,
                        change,
                        f"{verb} {key_of(entry)[:8]}: {plain(str(entry.get('text', '')))}",
                        scope,
                    )
            if as_json:
                term.json(_touched_json(name, parts, before, found))

    return command


def _touched_json(
    command: str,
    parts: SummaryParts,
    before: Mapping[str, Record],
    touched: Mapping[str, Entry],
) -> list[dict[str, Any]]:
    """Return entries with their stores: pinned and unpinned ones as they are, others as before."""
    records = parts.records() if command in {"pin", "unpin"} else before
    kept = {key_of(entry): entry for part in joined(records).values() for entry in part}
    entries = [kept.get(key, entry) for key, entry in touched.items()]
    return [entry_json(entry, scope_of(entry, records)) for entry in entries]


def close_tasks(app: App, text: str, source: str) -> list[str]:
    """Close the open tasks, entries and records, that something done names; return their texts."""
    who, limit = app.writer(), app.settings.get("summaryLimit")
    done = {"id": item_id(text), "kind": DONE, "text": text, "at": who.clock.stamp()}
    closed = []
    for scope, record in parts_of(app).records().items():
        before = project_summary.sections(record)
        change = project_summary.grow(app.store(scope), who, {}, limit, source, finished=[done])
        if change is not None:
            closed += [
                e["text"]
                for _, e in project_summary.compared(
                    before, project_summary.sections(change.after)
                )["dropped"]
            ]
    return closed + [app.get(id)[1].record.title for id in _records_done(app, text, source)]


def _records_done(app: App, text: str, source: str = "git mem summary done") -> list[str]:
    """Put aside the tasks among the records that say the same as one that is done.

    Return their ids.
    """
    from gitmem.services.sessions import outdated

    if app.is_user_store():
        return []
    who = app.writer()
    stores = {name: app.store(name) for name in ("shared", "private")}
    return outdated.settle(
        stores, who, [Item(DONE, text, at=who.clock.stamp())], source, lambda: [app.index()]
    )


def _flag(name: str, value: bool) -> Callable[..., tuple[Change, Entry]]:
    return lambda store, who, entry: project_summary.flag(store, who, entry, name, value)


_IDS = (
    "\n\nIds are shown by: git mem summary --ids. The first characters are enough.\n\n\b\n"
    "Example:\n  git mem summary "
)
done_command = _on_entry(
    "done",
    f"Say that a pending task is done: it leaves the tasks.{_IDS}done 3f2a81",
    "done",
    project_summary.finish,
)
pin_command = _on_entry(
    "pin",
    f"Keep an entry as it is, whatever its age and the size of the summary.{_IDS}pin 3f2a81",
    "pinned",
    _flag("pinned", True),
)
unpin_command = _on_entry(
    "unpin", f"Let a pinned entry age again.{_IDS}unpin 3f2a81", "unpinned", _flag("pinned", False)
)
drop_command = _on_entry(
    "drop",
    f"Take out an entry; no session brings it back.{_IDS}drop 3f2a81",
    "dropped",
    project_summary.drop,
)


@click.command("history", short_help=TABLE["history"][2])
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="At most so many steps.",
)
@click.option("-p", "--patch", is_flag=True, help="With the entries that came and went.")
@options.json_option
@click.pass_obj
def history_command(term: Terminal, limit: int, patch: bool, as_json: bool) -> None:
    """Show how the summary grew, newest step first.

    Each step has its time, its source, and how many entries were added, changed and removed.

    \b
    Example:
      git mem summary history -p
    """
    with term.open() as app:
        app.settle()
        steps = _steps(parts_of(app), limit)
        if as_json:
            term.json([{**facts, **entry_changes_json(changes)} for facts, changes in steps])
            return
        term.page(_history(term, steps, patch=patch), app)
        if not parts_of(app).records():
            term.note(EMPTY)


def _steps(
    parts: SummaryParts, limit: int
) -> Iterator[tuple[dict[str, Any], dict[str, list[tuple[str, Entry]]]]]:
    """Yield the latest steps of all parts, the newest first."""
    found = (_of_part(scope, store) for scope, store in parts.stores.items())
    return islice(merge(*found, key=lambda step: str(step[0]["at"]), reverse=True), limit)


def _of_part(
    scope: str, store: Store
) -> Iterator[tuple[dict[str, Any], dict[str, list[tuple[str, Entry]]]]]:
    for step in history.log(store, [project_summary.summary_id()]):
        commit = step.commit
        now = project_summary.load(store, commit.oid)
        parents = [project_summary.load(store, parent) for parent in commit.parents]
        before = next((one for one in parents if one is not None), None)
        subject = commit.message.partition("\n")[0].removeprefix("summary: ")
        session = (step.trailers.get("session") or [""])[0]
        facts = {
            "commit": commit.oid,
            "store": scope,
            "at": stamp(commit.author.time),
            "author": f"{commit.author.name} <{commit.author.email}>",
            "session": session or None,
            "subject": subject,
            "counts": counts(project_summary.sections(now)),
        }
        yield (
            facts,
            project_summary.compared(
                project_summary.sections(before), project_summary.sections(now)
            ),
        )


def _history(term: Terminal, steps: Any, *, patch: bool) -> Iterator[str]:
    for facts, changes in steps:
        total = sum(facts["counts"].values())
        numbers = " ".join(
            f"{sign}{len(changes[name])}"
            for name, sign in (("added", "+"), ("changed", "~"), ("dropped", "-"))
            if changes[name]
        )
        head = term.style(short(facts["commit"][:10]), fg="yellow")
        yield (
            f"{head}  {facts['at'][:16].replace('T', ' ')}  {numbers:<12}{total:>4} "
            f"entr{'y' if total == 1 else 'ies'}  "
            f"{plain(facts['subject'])}{' (private)' if facts['store'] == 'private' else ''}"
        )
        yield from _changes(term, changes) if patch else ()


def _changes(term: Terminal, changes: Any) -> Iterator[str]:
    for name, sign, color in (
        ("added", "+", "green"),
        ("changed", "~", "yellow"),
        ("dropped", "-", "red"),
    ):
        for _, entry in changes[name]:
            yield term.style(
                plain(f"  {sign} {entry.get('kind', '')}: {entry.get('text', '')}"), fg=color
            )


@click.command("diff", short_help=TABLE["diff"][2])
@click.argument("a", required=False, metavar="[A]")
@click.argument("b", required=False, metavar="[B]")
@options.json_option
@click.pass_obj
def diff_command(term: Terminal, a: str | None, b: str | None, as_json: bool) -> None:
    """Show which entries were added, changed or removed between two revisions.

    Without any, what the last step did.

    A revision is a date, @~3 or a commit, as for git mem diff.

    \b
    Examples:
      git mem summary diff
      git mem summary diff "1 week ago"
    """
    with term.open() as app:
        app.settle()
        parts = parts_of(app)
        if a is None:
            found = next(_steps(parts, 1), None)
            changes = found[1] if found else project_summary.compared({}, {})
        else:
            changes = project_summary.compared(
                joined(_records(app, parts, a)), joined(_records(app, parts, b))
            )
        if as_json:
            term.json(entry_changes_json(changes))
            return
        lines = list(_changes(term, changes))
        if not lines:
            term.note("no entry differs." if parts.records() else EMPTY)
        term.page(iter(lines), app)
