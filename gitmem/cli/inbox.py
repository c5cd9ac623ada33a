"""`git mem inbox`: what was captured or extracted, and nobody has confirmed."""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import click

from gitmem.app import App
from gitmem.cli import options
from gitmem.cli.json_shapes import record_json
from gitmem.cli.records.add_edit import done, edited_record
from gitmem.cli.records.status import every
from gitmem.cli.rows import source_line
from gitmem.cli.terminal import LINE, Terminal, age, line, plain, short
from gitmem.errors import GitmemError, UnknownId, UserError
from gitmem.index.reader import FIELDS, SORTED_BY
from gitmem.records.items import TASK
from gitmem.records.kinds import IMPORTED, LIVE, UNSURE
from gitmem.records.record import Record
from gitmem.records.texts import place_text
from gitmem.repo.refs import head
from gitmem.services.facts import answers
from gitmem.services.gotchas import lifecycle
from gitmem.services.records import history, write
from gitmem.services.records.committers import is_accepted
from gitmem.services.sessions import proposals
from gitmem.store.reader import Stored

WHY, SOURCES = 2, 3  # lines of the reason of a proposal, and places where it was seen
SCREEN = 10  # records that fill a screen
# what `_card` shows
CARD = (
    *LINE,
    "author",
    "origin",
    *SORTED_BY["waiting"],
    "session",
    "anchors",
    "workaround",
    "tags",
    "n",
)
WAITING: dict[str, Any] = {
    "kinds": ("gotcha", "memory"),
    "statuses": LIVE,
    "resolved": False,
    "unconfirmed": True,
}
EMPTY = "the inbox is empty: nothing waits to be looked at."
MERGE = "[m]erge into another  "  # gotchas alone can be
KEYS = f"[a]ccept  [e]dit  {MERGE}[r]eject  [s]kip  [q]uit"


@click.command("inbox", short_help="Confirm or reject what was captured")
@click.option(
    "--accept", "accepted", multiple=True, metavar="ID", help="It is so. May be repeated."
)
@click.option(
    "--reject",
    "rejected",
    multiple=True,
    metavar="ID",
    help="It is not worth keeping; it is not captured again. May be repeated.",
)
@click.option("--reason", default="", metavar="TEXT", help="Why it is rejected.")
@click.option(
    "--merge",
    "merged",
    multiple=True,
    metavar="ID",
    help="It is part of the gotcha named by --into. May be repeated.",
)
@click.option("--into", metavar="ID", help="The gotcha that --merge goes into.")
@click.option("--accept-all", is_flag=True, help="Everything that waits is so.")
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(min=1),
    help=f"At most so many; without it {SCREEN} in a pipe, and all with --json and on a terminal.",
)
@click.option("--all", "-a", "everything", is_flag=True, help="All that wait.")
@options.json_option
@click.pass_obj
def inbox_command(  # noqa: C901
    term: Terminal,
    accepted: tuple[str, ...],
    rejected: tuple[str, ...],
    reason: str,
    merged: tuple[str, ...],
    into: str | None,
    accept_all: bool,
    limit: int | None,
    everything: bool,
    as_json: bool,
) -> None:
    """Review facts that nobody has confirmed: captured, extracted, written by agents.

    On a terminal you answer each with one key. In a script, use the options. To change one first:
    git mem edit ID, then --accept.

    An accepted record counts as confirmed by you, as of the commit that is checked out. A rejected
    one is deleted as by `git mem forget`. A merged one is archived; the other takes over its
    errors, places and counts, and quotes its text if a person wrote it. An open gotcha cannot be
    merged into a resolved one: reopen that first.

    Tasks that a session says are done are listed too, with the kind `task` in --json: --accept
    closes one, --reject leaves it open. An answer that was given before changes nothing; in --json
    its id is in `unchanged_ids`.

    \b
    Examples:
      git mem inbox
      git mem inbox --json
      git mem inbox --accept 7k2m9qxa --reject 9p4c1zbn --reason "a typo"
      git mem inbox --merge 9p4c1zbn --into 7k2m9qxa
    """
    if bool(merged) != bool(into):
        raise click.UsageError("--merge ID goes with --into ID.")
    if reason and not rejected:
        raise click.UsageError("--reason says why something is rejected: name it with --reject ID.")
    with term.open() as app:
        answered = [id for id in (*accepted, *rejected) if _task(app, id)]
        for id in answered:
            _answer(term, app, id, is_done=id in accepted, quiet=as_json)
        accepted, rejected = (
            tuple(id for id in ids if id not in answered) for ids in (accepted, rejected)
        )
        if answered and not (accepted or rejected or merged or accept_all):
            _print_answers(term, as_json, tasks=answered)
            return
        if accepted or rejected or merged or accept_all:
            if accept_all:
                others = {app.find(id) for id in (*rejected, *merged)}
                accepted = tuple(
                    dict.fromkeys(
                        [
                            *accepted,
                            *(
                                row["id"]
                                for row in waiting(app, ("id",))
                                if row["id"] not in others
                            ),
                        ]
                    )
                )
                if not (accepted or others) and not as_json:
                    term.note(EMPTY)
            applied = _apply(term, app, accepted, rejected, reason, merged, into or "", as_json)
            _print_answers(term, as_json, **applied, tasks=answered)
            return
        most = -1 if everything else limit
        tasks = _open_tasks(app)
        if as_json:
            rows = [record_json(row) for row in waiting(app, FIELDS, -1 if most is None else most)]
            term.json(
                [
                    *rows,
                    *(
                        {
                            "id": id,
                            "kind": "task",
                            "title": facts["text"],
                            "reason": facts["why"],
                            "session": facts["session"],
                        }
                        for id, facts in tasks.items()
                    ),
                ]
            )
            return
        for id, facts in tasks.items():
            term.say(
                f"{term.style(id[-8:] if '-' in id else id[:8], fg='yellow')} {facts['why']}: "
                f"{plain(facts['text'])}"
            )
        if tasks:
            term.note("it is done: git mem inbox --accept ID. It is not: git mem inbox --reject ID")
        if sys.stdin.isatty() and sys.stdout.isatty():
            ids = [row["id"] for row in waiting(app, ("id",), -1 if most is None else most)]
            if ids:
                _ask(term, app, ids)
            elif not tasks:
                term.note(EMPTY)
            return
        rows = waiting(app, CARD, SCREEN if most is None else most)
        total = sum(index.number(**WAITING, without=tuple(tasks)) for _, index in app.indexes())
        if not total:
            if not tasks:
                term.note(EMPTY)
            return
        for row in rows:
            for text in _card(term, row, app.clock.now(), evidence(app, row)):
                term.say(text)
        if len(rows) < total:
            term.note(f"{total - len(rows):,} more wait: git mem inbox --all")
        term.note("git mem inbox --accept ID, --reject ID, or --merge ID --into ID")


def _statements(app: App) -> dict[str, list[dict[str, str]]]:
    """Return what sessions say of facts, by the facts' ids, as far as nobody answered."""
    return {id: said for _, index in app.indexes() for id, said in index.statements().items()}


def _open_tasks(app: App) -> dict[str, dict[str, str]]:
    """Return the open tasks that sessions say are done, by id: `text`, `why` and `session`."""
    said = _statements(app)
    if not said:
        return {}
    fields = ("id", "store", "title", "created")
    rows = app.rows(what=TASK, statuses=LIVE, ids=tuple(said), fields=fields)
    out = {}
    for row in rows:
        last = said[row["id"]][-1]
        why = f"said to be done in session {last['session'][:8]} of {last['at'][:10]}"
        out[str(row["id"])] = {
            "text": str(row["title"]),
            "why": why,
            "session": last["session"],
        }
    return out


def _task(app: App, id: str) -> str:
    """Return the id of the task that is said to be done which a text names; empty for none."""
    low = id.lower()
    matches = [
        task
        for task in _open_tasks(app)
        if len(low) >= 6 and (task.startswith(low) or task.endswith(low))
    ]
    return matches[0] if len(matches) == 1 else ""


def _answer(term: Terminal, app: App, id: str, *, is_done: bool, quiet: bool) -> None:
    """Take what somebody says of a task that is said to be done."""
    key = _task(app, id)
    facts = _open_tasks(app)[key]
    scope, stored = app.get(key)
    store, who = app.store(scope), app.writer()
    write.require_person(who, "answer for")
    if is_done:
        commit = head(app.location) or ""
        said = _statements(app)[key]
        answers.finish(store, who, stored.record, commit, facts["session"], said)
    else:
        answers.keep_open(store, who, stored.record, _statements(app)[key])
    if not quiet:
        term.say(f"{'done' if is_done else 'still open'}: {plain(facts['text'])}")


def evidence(app: App, row: dict[str, Any]) -> str:
    """Return what a proposal would replace, why it is so, and where it was seen."""
    record = app.get(row["id"])[1].record
    replaced = _replaced(app, record)
    if proposals.TAG not in row["tags"]:
        return "\n".join(replaced)
    why = (
        [] if row.get("workaround") else [text for text in record.body.split("\n") if text.strip()]
    )
    return "\n".join([*replaced, *why[:WHY], *map(source_line, record.get("sources")[:SOURCES])])


def _replaced(app: App, record: Record) -> list[str]:
    """Return a line for each live fact that a proposal would replace."""
    fields = ("id", "store", "title", "created")
    old = app.rows(ids=tuple(record.get("supersedes") or ()), statuses=LIVE, fields=fields)
    return [f"would replace {short(fact['id'])}: {fact['title']}" for fact in old]


def waiting(app: App, fields: Sequence[str], limit: int = -1) -> list[dict[str, Any]]:
    """Return the rows that nobody has confirmed: those that matter most first.

    Of a task that is said to be done it is asked whether it is.
    """
    return app.rows(
        **WAITING,
        without=tuple(_open_tasks(app)),
        order="waiting",
        limit=limit,
        fields=("store", *SORTED_BY["waiting"], *fields),
    )


def _card(term: Terminal, row: dict[str, Any], now: float, body: str = "") -> Iterator[str]:
    yield line(term, row)
    seen = (
        f"seen {row['occurrences']}×, last {age(row['last_seen'], now)}"
        if row.get("occurrences") and row.get("last_seen")
        else ""
    )
    places = [place_text(anchor) for anchor in row["anchors"] if isinstance(anchor, dict)]
    session = f"session {row['session'][:12]}" if row.get("session") else ""
    author = f"committed by {row['author']}" if row.get("origin") == IMPORTED else ""
    facts = [fact for fact in (seen, ", ".join(places[:3]), session, author) if fact]
    if facts:
        yield term.style("    " + plain("; ".join(facts)), fg="bright_black")
    if row.get("workaround"):
        yield f"    {plain(row['workaround'])}"
    # the index keeps both as one text
    body = body.removesuffix(row.get("workaround") or "").strip("\n")
    for text in body.split("\n")[:12] if body else ():
        yield "    " + plain(text)


def _apply(
    term: Terminal,
    app: App,
    accepted: Sequence[str],
    rejected: Sequence[str],
    reason: str,
    merged: Sequence[str],
    into: str,
    as_json: bool,
) -> dict[str, list[str]]:
    """Accept, reject and merge records; return the ids of those with each answer."""
    for id, mark in _rejected(app, (*accepted, *merged)).items():
        where = " --private" if history.tombstone(app.store("private"), id) else ""
        raise UserError(
            f"{short(mark['id'])} was rejected or forgotten on {str(mark.get('at', ''))[:10]}; "
            f"nothing changed.",
            f"To take that back, if it was the last change there: git mem undo{where}. Else find "
            f"its commit with git mem log{where}, then: git mem undo COMMIT{where}",
        )
    gone = _rejected(app, rejected)
    rejected = [id for id in rejected if id not in gone]
    found = [list(every(app, ids)) for ids in (accepted, rejected, merged)]
    given, scopes = (
        [[stored.record for _, stored in one] for one in found],
        [scope for scope, _ in found[1]],
    )
    # all is looked at before the first is written
    times = Counter(record.id for records in given for record in records)
    twice = sorted(id for id, n in times.items() if n > 1)
    if twice:
        raise UserError(
            f"{', '.join(twice)} cannot be accepted, rejected and merged at once.",
            "Name each in one of the options.",
        )
    if merged:
        if app.get(into)[1].record.id in {record.id for record in given[1]}:
            raise UserError(
                f"{into} cannot be rejected when others are merged into it.",
                "Name another gotcha with --into.",
            )
        _mergeable(app, merged, into)
    for record in given[1]:
        _rejectable(record)
    _require_person(app, reject=given[1], merge=merged)
    so = _accepted(app, found[0])
    already = [("accepted", {"id": record.id, **record.get("confirmed")}) for record in so]
    already += [("rejected", mark) for mark in gone.values()]
    for what, mark in () if as_json else already:
        _say_already(term, what, mark)
    made = {
        "accepted": [
            _accept(term, app, record.id, as_json) for record in given[0] if record not in so
        ],
        "rejected": [_reject(term, app, record.id, reason, as_json) for record in given[1]],
    }
    if made["rejected"] and not as_json:
        private = any(scope == "private" for scope in scopes)
        term.note(f"to take a rejection back: git mem undo{' --private' if private else ''}")
    made["merged"] = _merge(term, app, merged, into, as_json) if merged else []
    return made | {"unchanged": [mark["id"] for _, mark in already]}


def _require_person(app: App, **given: Sequence[object]) -> None:
    """Raise UserError for a program that gives an answer: the verb and what it is given to."""
    for verb, ids in given.items():
        if ids:
            write.require_person(app.writer(), verb)


def _accepted(app: App, given: Sequence[tuple[str, Stored]]) -> list[Record]:
    """Return those of some records that this user has no reason to accept any more."""
    return [
        stored.record
        for scope, stored in given
        if not stored.record.unconfirmed
        and not _moves(scope, stored.record)
        and _is_settled(app, stored.record.id)
    ]


def _say_already(term: Terminal, what: str, mark: Mapping[str, Any]) -> None:
    by = f" by {plain(str(mark['by']))}" if mark.get("by") else ""
    day = f", {str(mark['at'])[:10]}" if mark.get("at") else ""
    term.say(f"{short(mark['id'])} was already {what}{by}{day}; nothing changed.")


def _print_answers(term: Terminal, as_json: bool, **ids: list[str]) -> None:
    """Print the ids of what was answered, by what became of it; nothing for people."""
    if as_json:
        names = ("accepted", "rejected", "merged", "unchanged", "tasks")
        term.json({f"{name.removesuffix('s')}_ids": ids.get(name, []) for name in names})


def _is_settled(app: App, id: str) -> bool:
    """Return whether this user has no reason to accept a record.

    A confirmation by anyone else does not count, because that may have been anybody.
    """
    own = app.own_addresses
    return any(
        is_accepted(row, own)
        for row in app.rows(ids=(id,), fields=("store", "committer", "vouchers"))
    )


def _rejected(app: App, ids: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return those of the ids whose gotcha was rejected before, with the mark that was left."""
    found = {}
    for id in ids:
        try:
            app.get(id)
        except UnknownId:
            mark = next(
                filter(
                    None,
                    (history.tombstone(app.store(scope), id) for scope in ("shared", "private")),
                ),
                None,
            )
            if mark is not None:
                found[id] = mark
    return found


def _accept(term: Terminal, app: App, id: str, quiet: bool) -> str:
    scope, stored = app.get(id)
    commit = head(app.location) or ""
    moves = _moves(scope, stored.record)
    old_records = write.replaced_by(app.store("shared" if moves else scope), stored.record)
    if moves:
        private, shared, who = app.store("private"), app.store("shared"), app.writer()
        change, scope = (
            proposals.accept(private, shared, who, stored.record, commit),
            "shared",
        )
    else:
        change = lifecycle.confirm(app.store(scope), app.writer(), stored.record, commit)
    if not quiet:
        done(term, change, "accepted", scope)
        for old in old_records:
            term.note(f"replaced {short(old.id)} {plain(old.title)}. To take it back: git mem undo")
    return stored.record.id


def _rejectable(record: Record) -> None:
    """Raise UserError for a record that does not wait in the inbox.

    A typing error must not remove what somebody wrote.
    """
    if not record.unconfirmed:
        raise UserError(
            f"{record.id} is not in the inbox: somebody wrote or confirmed it.",
            f"To remove it: git mem forget {record.id}",
        )


def _reject(term: Terminal, app: App, id: str, reason: str, quiet: bool) -> str:
    scope, stored = app.get(id)
    written = write.forget(app.store(scope), app.writer(), [stored.record], reason)
    if not quiet:
        term.say(
            f"rejected {term.style(short(stored.record.id), fg='yellow')} "
            f"{plain(stored.record.title)}{options.journaled(written)}"
        )
    return stored.record.id


def _mergeable(app: App, ids: Sequence[str], into: str) -> tuple[str, Stored, list[Stored]]:
    """Return (scope, the gotcha that stays, the others).

    Raises UserError when they cannot be put together.
    """
    scope, target = app.get(into)
    others = every(app, ids)
    lifecycle.require_mergeable(target.record, [stored.record for _, stored in others])
    for where, stored in others:
        if where != scope and not _moves(where, stored.record, scope):
            raise UserError(
                f"{stored.record.id} is in the {where} store, {target.record.id} in the {scope} "
                f"one.",
                "Only gotchas of one store can be merged.",
            )
    return scope, target, [stored for _, stored in others]


def _moves(where: str, record: Record, scope: str = "shared") -> bool:
    """Return whether a record is a proposal that becomes shared when somebody accepts it."""
    return (where, scope) == ("private", "shared") and record.get("origin") in UNSURE


def _merge(term: Terminal, app: App, ids: Sequence[str], into: str, quiet: bool) -> list[str]:
    scope, target, others = _mergeable(app, ids, into)
    for where, stored in every(app, ids):
        if where != scope:
            proposals.accept(
                app.store(where),
                app.store(scope),
                app.writer(),
                stored.record,
                head(app.location) or "",
            )
    scope, target, others = _mergeable(app, ids, into)
    change = lifecycle.merge(
        app.store(scope),
        app.writer(),
        target.record,
        [stored.record for stored in others],
        app.replica(),
    )
    if not quiet:
        names = ", ".join(short(stored.record.id) for stored in others)
        done(term, change, f"{names} merged into", scope)
    return [stored.record.id for stored in others]


def _ask(term: Terminal, app: App, ids: Sequence[str]) -> None:
    """Show each, and do what a key says."""
    for number, id in enumerate(ids, 1):
        row = next(iter(app.rows(**WAITING, ids=(id,), fields=(*CARD, "store"))), None)
        if row is None:  # dealt with meanwhile: a merge, another process
            continue
        term.say("")
        body = next(
            (
                index.body(row["n"])
                for prefix, index in app.indexes()
                if (prefix == "user") == (row["store"] == "user")
            ),
            "",
        )
        term.say(term.style(f"{number} of {len(ids)}", bold=True))
        replaced = _replaced(app, app.get(id)[1].record)
        for text in _card(term, row, app.clock.now(), "\n".join([*replaced, body])):
            term.say(text)
        while True:
            click.echo(
                f"{KEYS if row['kind'] == 'gotcha' else KEYS.replace(MERGE, '')} ? ", nl=False
            )
            try:
                key = click.getchar().lower()
            except EOFError:  # Ctrl-D
                key = "q"
            click.echo(key if key.isprintable() else "")
            if key in {"q", "\x03", "\x04", "\x1b"}:
                return
            if key == "s" or _do(term, app, key, row["id"]):
                break


def _do(term: Terminal, app: App, key: str, id: str) -> bool:
    """Do what a key says; return whether the next one is to be shown."""
    try:
        if key == "a":
            _accept(term, app, id, False)
        elif key == "r":
            _reject(term, app, id, "", False)
        elif key == "e":
            scope, stored = app.get(id)
            after = edited_record(term, app, stored.record)
            done(
                term,
                write.update(app.store(scope), app.writer(), stored.record, after, "edit"),
                "changed",
                scope,
            )
            return False
        elif key == "m":
            into = click.prompt(
                "Id of the gotcha that it is part of (empty: none)", default="", show_default=False
            ).strip()
            if not into:
                return False
            _merge(term, app, [id], into, False)
        else:
            return False
    except GitmemError as error:
        term.note(f"{error} {error.hint}".strip())
        return False
    return True
