"""`git mem scout`: what matters for a task, before it is begun."""

import sys
from typing import Any

import click

from gitmem.app import App
from gitmem.cli import options
from gitmem.cli.code.reading import note_unread, note_without_grammar, read_all_option
from gitmem.cli.json_shapes import match_json
from gitmem.cli.terminal import Terminal, path_shown, path_text, plain, short
from gitmem.errors import UnknownId, UserError
from gitmem.repo.caller import BACKGROUND
from gitmem.repo.refs import head
from gitmem.services.records import write
from gitmem.services.records.committers import marked_title
from gitmem.services.retrieval.matcher import Match
from gitmem.services.scout.scout import ScoutFinding, lines, records
from gitmem.services.scout.scout_code import scout_code
from gitmem.services.scout.scout_memory import fit, remembered


@click.command("scout", cls=options.CountedCommand)
@click.argument("task", nargs=-1, required=True, metavar="TASK...")
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(min=1, max=50),
    default=8,
    show_default=True,
    help="Files at most, besides tests and examples.",
)
@click.option(
    "--budget",
    type=click.IntRange(min=50),
    default=800,
    show_default=True,
    help="Tokens that the answer may have.",
)
@click.option(
    "--save", is_flag=True, help="Keep the first findings as memories, anchored in the code."
)
@click.option(
    "--at",
    "revision",
    default="",
    metavar="REV",
    help="Look into this commit; without it, HEAD and what is not committed yet.",
)
@read_all_option
@options.scope_flags(
    ("shared", "Save into the shared store."),
    ("private", "Save into this repository's private store (default)."),
    ("user", "Save into your own store, for every project."),
    default="private",
)
@options.json_option
@click.pass_obj
def scout_command(
    term: Terminal,
    task: tuple[str, ...],
    limit: int,
    budget: int,
    save: bool,
    revision: str,
    read_all: bool,
    scope: str,
    as_json: bool,
) -> None:
    """Find the files, definitions, memories and gotchas that matter for a task, each with why.

    Nothing leaves this machine.

    What counts: files that the task names, names that it says and who defines them, its words in
    paths, definitions and code, commits whose messages say the same, files that change together.
    '-' reads the task from stdin.

    Code that is new is read for a few seconds, what the task names first. If that is too short,
    the answer covers what was read, and says so. Run the command again to read more.

    \b
    Examples:
      git mem scout "refunds are rounded twice in invoices"
      git mem scout - < issue.md
      git mem scout --save "move the cart to the new tax API"
    """
    text = sys.stdin.buffer.read().decode("utf-8", "replace") if task == ("-",) else " ".join(task)
    if not text.strip():
        raise click.UsageError("say what is to be done: git mem scout 'TASK'.")
    with term.open() as app:
        progress = term.progress("reading code")
        code = scout_code(
            app.code_map,
            app.code_history,
            text,
            limit,
            revision=revision,
            progress=progress,
            read_all=read_all,
            needs_code=save,
        )
        findings = code.findings
        matches = _remembered(app, text, findings)
        saved = _save(app, text, findings, scope) if save else []
        findings, matches = fit(findings, matches, budget)
        if as_json:
            term.json(
                {
                    "task": text,
                    "files": [
                        {
                            "path": path_text(each.path),
                            "score": each.score,
                            "is_secondary": each.aside,
                            "reasons": each.reasons,
                            "symbols": [
                                {"qualified_name": name, "kind": kind, "line": line}
                                for name, kind, line in each.symbols
                            ],
                        }
                        for each in findings
                    ],
                    "records": [match_json(each.row, each.score, each.reasons) for each in matches],
                    "saved_ids": saved,
                    "unread_count": code.left_out,
                }
            )
            return
        _print(term, findings, matches)
        if code.no_commit:
            term.note(f"{code.no_commit} What is remembered was searched, code was not.")
        note_unread(term, code.left_out, code.total)
        note_without_grammar(term, code.unreadable)
        for id in saved:
            term.say(f"kept {term.style(short(id), fg='yellow')}")


def _print(term: Terminal, findings: list[ScoutFinding], matches: list[Any]) -> None:
    code, aside = (
        [each for each in findings if not each.aside],
        [each for each in findings if each.aside],
    )
    if not findings and not matches:
        term.say(
            "no file or record matches this task. Name a file, a function, or the error that you "
            "see."
        )
        return
    for title, some in (("Files", code), ("Tests and examples", aside)):
        if some:
            term.say(term.style(title, bold=True))
            for line in lines(some):
                path, colon, rest = line.partition(": ")
                term.say(
                    f"{term.style(path_shown(path), fg='cyan')}{colon}{plain(rest)}"
                    if not line.startswith("      ")
                    else plain(line)
                )
    if matches:
        term.say(term.style("Remembered", bold=True))
        for each in matches:
            _print_remembered(term, each)


def _print_remembered(term: Terminal, match: Match) -> None:
    from gitmem.agents.prompt_text import fix_text

    row = match.row
    term.say(
        f" {term.style(short(row['id']), fg='yellow')} {row['kind']}  "
        f"{plain(marked_title(row))} ({plain(', '.join(match.reasons))})"
    )
    fix = fix_text(row["fix"]) if row["resolved"] else ""
    for text in filter(None, (row["workaround"], fix)):
        term.say(f"     {plain(text)}")


def _remembered(app: App, text: str, findings: list[ScoutFinding]) -> list[Match]:
    now = app.clock.now()
    return remembered(
        [index for _, index in app.indexes()],
        text,
        findings,
        app.root,
        app.namespaces,
        now,
        app.state.snoozed(now),
        unconfirmed=bool(app.settings.get("unconfirmed")),
    )


def _save(app: App, text: str, findings: list[ScoutFinding], scope: str) -> list[str]:
    if not findings:
        raise UserError(
            "nothing was found that could be kept.",
            "Say the task in other words, or name files and functions.",
        )
    store = app.store(scope)
    who = app.writer()._replace(program=BACKGROUND)  # nobody has looked at it yet
    out = []
    for record in records(who, text, findings):
        try:
            before = store.get(record.id).record
        except UnknownId:
            before = None
        anchors = [_attached(app, anchor) for anchor in record.fields["anchors"]]
        record = record.change(anchors=anchors)
        if before is None:
            write.add(store, who, record, "scout")
        else:
            write.update(
                store,
                who,
                before,
                before.change(
                    title=record.title,
                    body=record.body,
                    anchors=anchors,
                    importance=record.get("importance"),
                ),
                "scout",
            )
        out.append(record.id)
    app.index()
    return out


def _attached(app: App, anchor: dict[str, Any]) -> dict[str, Any]:
    """Return an anchor with what finds its code again later."""
    from gitmem.services.records.anchoring import in_text  # compares whole texts

    data = app.code_map.text(app.code_map.graph(uncommitted=True), anchor["path"])
    return in_text(anchor, data, app.objects.traits.hash, head(app.location))
