"""Commands about history: log and diff."""

import difflib
from collections.abc import Iterator
from typing import Any

import click

from gitmem.app import App
from gitmem.cli import options
from gitmem.cli.template import formatted, template_option
from gitmem.cli.terminal import Terminal, age, plain, short
from gitmem.clock import stamp
from gitmem.errors import UnknownId, UserError
from gitmem.git.objects import TreeDifference
from gitmem.records.record import kind_of
from gitmem.services.records import history
from gitmem.store.layout import id_of_path
from gitmem.store.store import Store


@click.command("log", cls=options.CountedCommand, short_help="Show how memory developed")
@click.argument("id", required=False, metavar="[ID|REV]")
@click.option("-n", "--limit", type=click.IntRange(min=1), help="At most so many commits.")
@click.option("--oneline", is_flag=True, help="One line a commit.")
@click.option("-p", "--patch", is_flag=True, help="With what each commit changed.")
@click.option("--reverse", is_flag=True, help="Oldest first.")
@click.option("--all", "-a", "everything", is_flag=True, help="With merges and read counts.")
@options.scope_flags(
    ("private", "The private store."),
    ("user", "Your own store."),
    ("shared", "The shared store (default)."),
)
@template_option("log", "{commit} {at} {subject}")
@options.json_option
@click.pass_obj
def log_command(
    term: Terminal,
    /,
    id: str | None,
    limit: int | None,
    reverse: bool,
    scope: str,
    as_json: bool,
    **o: Any,
) -> None:
    """Show the commits of the store. With an ID, show the history of one record and its successors.

    With a REV, show the history from there. Merges are left out unless they changed the record
    that is asked about. A chain that forks says so. It is plain git history too: git log
    refs/gitmem/heads/main.

    \b
    Examples:
      git mem log --oneline
      git mem log 7k2m9qxa -p
    """
    with term.open() as app:
        app.settle()
        ids: list[str] = []
        forks: list[tuple[str, list[str]]] = []
        start = None
        if id:
            past = _find_past(app, id)
            if past is None:
                start = _revision(app, scope, id)
            else:
                scope = past[0] if scope == "shared" else scope
                ids, forks = history.chain(_replacements(app, past[1]), past[1])
        store = app.store(scope)
        progress = term.progress("reading history")
        steps = history.log(store, ids, start, everything=o["everything"], progress=progress)
        listed = _limited(steps, limit)
        if reverse:
            listed = iter(list(listed)[::-1])
        if as_json:
            term.json([_step(s) for s in listed])
            return
        if o["template"]:
            term.page((formatted(o["template"], _step(s)) for s in listed), app)
            return
        now = term.clock.now()
        term.page(
            _lines(term, store, listed, ids, forks, now, oneline=o["oneline"], patch=o["patch"]),
            app,
        )
        if store.tip() is None:
            term.note(f"the store is empty. {options.first_step(app)}")


def _replacements(app: App, id: str) -> list[tuple[str, str, str]]:
    """Return the edges by which records take the place of one another, around one of them."""
    edges: set[tuple[str, str, str]] = set()
    seen, waiting = {id}, [id]
    while waiting:
        here = waiting.pop()
        for edge in (edge for _, index in app.indexes() for edge in index.edges_of(here)):
            if edge[1] == "supersedes" and kind_of(edge[2]):  # a foreign writer may name anything
                edges.add(edge)
                waiting += {edge[0], edge[2]} - seen
                seen |= {edge[0], edge[2]}
    return sorted(edges)


def _find_past(app: App, text: str) -> tuple[str, str] | None:
    """Return (scope, id) of a record that is there, or was; None when the text is not an id."""
    try:
        scope, stored = app.get(text)
        return scope, stored.record.id
    except UnknownId:
        pass
    low = text.lower()
    if len(low) < 6:
        return None
    for scope in ("shared", "private"):
        store = app.store(scope)
        if store.tip() is None:
            continue
        matches = [
            i
            for i in history.removed_ids(store)
            if i == low or i.startswith(low) or i[4:].startswith(low) or i.endswith(low)
        ]
        if len(matches) == 1:
            return scope, matches[0]
    return None


def _revision(app: App, scope: str, text: str) -> str:
    """Return the commit that a text names which is the id of no record.

    Raises UnknownId, which says what of both it is not.
    """
    try:
        return history.resolve(app.store(scope), app.user.git if scope == "user" else app.git, text)
    except UnknownId as no_revision:
        try:
            app.get(text)
        except UnknownId as no_record:
            raise UnknownId(
                f"{str(no_record).rstrip('.')}, and it is not a revision of the store.",
                f"{no_record.hint.rstrip('.')}. {no_revision.hint}",
            ) from None
        raise


def _limited(
    steps: Iterator[history.HistoryStep], limit: int | None
) -> Iterator[history.HistoryStep]:
    for number, step in enumerate(steps):
        if limit is not None and number >= limit:
            return
        yield step


def _step(step: history.HistoryStep) -> dict[str, Any]:
    commit = step.commit
    subject, _, _ = commit.message.partition("\n")
    return {
        "commit": commit.oid,
        "parents": list(commit.parents),
        "author": f"{commit.author.name} <{commit.author.email}>",
        "at": stamp(commit.author.time),
        "subject": subject,
        "operation": _trailer(step, "op"),
        "ids": step.trailers.get("id", []),
        "agent": _trailer(step, "agent"),
        "session": _trailer(step, "session"),
        "command": _trailer(step, "command"),
        "called_by": _trailer(step, "program"),
        "changes": [{"id": id, "change": change} for change, id in step.changes],
    }


def _trailer(step: history.HistoryStep, name: str) -> str | None:
    values = step.trailers.get(name)
    return values[0] if values else None


def _chain_lines(
    term: Terminal, ids: list[str], forks: list[tuple[str, list[str]]]
) -> Iterator[str]:
    """Yield the chain of records that superseded one another, and where it forks."""
    links = [term.style(short(id), fg="yellow") for id in ids]
    yield term.style("chain ", bold=True) + " → ".join(links)
    for id, successors in forks:
        names = ", ".join(map(short, successors))
        text = f"fork: {short(id)} has {len(successors)} successors: {names}"
        yield term.style(text, fg="red")
        yield "      settle it: git mem supersede ID OTHER"
    yield ""


def _step_lines(term: Terminal, step: history.HistoryStep, now: float) -> Iterator[str]:
    """Yield a commit as `git log` shows one."""
    row = _step(step)
    parents = len(row["parents"])
    merge = f" (merge of {parents})" if parents > 1 else ""
    yield term.style(f"commit {row['commit']}", fg="yellow") + merge
    yield f"Author: {plain(row['author'])}"
    yield f"Date:   {row['at']} ({age(row['at'], now)})"
    for name in ("agent", "session", "command", "called_by"):
        if row[name]:
            label = name.capitalize().replace("_", " ")
            yield f"{label}:".ljust(7) + f" {plain(row[name])}"
    yield ""
    yield f"    {plain(row['subject'])}"
    yield ""


def _short_line(term: Terminal, step: history.HistoryStep) -> str:
    row = _step(step)
    commit = term.style(row["commit"][:10], fg="yellow")
    return f"{commit} {row['at'][:10]} {plain(row['subject'])}"


def _patch_lines(
    term: Terminal, store: Store, step: history.HistoryStep, ids: list[str]
) -> Iterator[str]:
    """Yield what a commit changed; of some records alone if there are any."""
    parent = step.commit.parents[0] if step.commit.parents else None
    for change in history.changes(store, parent, step.commit.oid):
        if not ids or id_of_path(change.path) in ids:
            yield from _patch(term, store, change)
    yield ""


def _lines(
    term: Terminal,
    store: Store,
    steps: Iterator[history.HistoryStep],
    ids: list[str],
    forks: list[tuple[str, list[str]]],
    now: float,
    *,
    oneline: bool,
    patch: bool,
) -> Iterator[str]:
    if len(ids) > 1:
        yield from _chain_lines(term, ids, forks)
    for step in steps:
        if oneline:
            yield _short_line(term, step)
        else:
            yield from _step_lines(term, step, now)
        if patch:
            yield from _patch_lines(term, store, step, ids)


def _patch(term: Terminal, store: Store, change: TreeDifference) -> Iterator[str]:
    """Yield a unified diff of one file."""
    old = (
        store.objects.read(change.old.oid).decode("utf-8", "replace").splitlines()
        if change.old
        else []
    )
    new = (
        store.objects.read(change.new.oid).decode("utf-8", "replace").splitlines()
        if change.new
        else []
    )
    names = (
        f"a/{change.path}" if change.old else "/dev/null",
        f"b/{change.path}" if change.new else "/dev/null",
    )
    yield term.style(plain(f"diff --git a/{change.path} b/{change.path}"), bold=True)
    for text in difflib.unified_diff(old, new, *names, lineterm=""):
        color = (
            "green"
            if text.startswith("+")
            else "red"
            if text.startswith("-")
            else "cyan"
            if text.startswith("@@")
            else None
        )
        yield term.style(plain(text), fg=color) if color else plain(text)


@click.command("diff", short_help="Compare two states of the store")
@click.argument("a", required=False)
@click.argument("b", required=False)
@click.option("--name-status", "names", is_flag=True, help="Only what was added, changed, removed.")
@options.scope_flags(("private", "The private store."), ("shared", "The shared store (default)."))
@options.json_option
@click.pass_obj
def diff_command(
    term: Terminal, a: str | None, b: str | None, names: bool, scope: str, as_json: bool
) -> None:
    """Compare two revisions of the store.

    Without arguments: what the last commit changed. With one: from it to now.

    Revisions: @ (now), @~3, @{yesterday}, a commit id, a remote's name, A..B.

    \b
    Examples:
      git mem diff
      git mem diff @{yesterday}
      git mem diff origin @ --name-status
    """
    if a and b is None and ".." in a:
        a, _, b = a.partition("..")
        a, b = a or "@", b or "@"
    with term.open() as app:
        app.settle()
        store = app.store(scope)
        tip = store.tip()
        if tip is None:
            raise UserError(
                "the store is empty: there is nothing to compare.", options.first_step(app)
            )
        if a is None:
            parents = next(history.log(store)).commit.parents
            old, new = parents[0] if parents else None, tip
        else:
            old, new = history.resolve(store, app.git, a), history.resolve(store, app.git, b or "@")
        changes = list(history.changes(store, old, new))
        if as_json:
            term.json([_changed(store, c) for c in changes])
        elif names:
            term.page(
                (
                    f"{'A' if c.old is None else 'D' if c.new is None else 'M'}\t{plain(c.path)}"
                    for c in changes
                ),
                app,
            )
        else:
            term.page((text for c in changes for text in _patch(term, store, c)), app)


def _changed(store: Store, change: TreeDifference) -> dict[str, Any]:
    def text(entry: Any) -> str | None:
        return store.objects.read(entry.oid).decode("utf-8", "replace") if entry else None

    kind = "added" if change.old is None else "removed" if change.new is None else "changed"
    return {
        "store_path": change.path,
        "id": id_of_path(change.path),
        "change": kind,
        "old": text(change.old),
        "new": text(change.new),
    }
