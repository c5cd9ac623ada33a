"""The command that reads a session, a plan or commit messages, and tells what they teach."""

import os
import re
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from gitmem.app import App
from gitmem.cli import options as opt
from gitmem.cli.sessions.extract_sources import (
    ABBREVIATED,
    BROKEN,
    Source,
    file_source,
    sources_of,
    without_hidden,
)
from gitmem.cli.terminal import Terminal, plain, short, title_shown
from gitmem.errors import UserError
from gitmem.records.items import KINDS, Extract, Item

if TYPE_CHECKING:
    from gitmem.git.commit_messages import Person
    from gitmem.index.reader import Index
    from gitmem.records.record import Record

FORMS = (
    "auto",
    "claude",
    "gemini",
    "codex",
    "copilot",
    "history",
    "export",
    "text",
    "plan",
    "commits",
)
TITLES = {
    "decision": "Decisions",
    "error": "Errors",
    "pattern": "Patterns",
    "task": "To do",
    "done": "Done",
    "preference": "Preferences",
    "context": "Context",
}
DETAIL = {"error": "helped", "decision": "because", "preference": "because", "pattern": "when"}
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
SAID = "on"  # before what an agent had said, which a decision is about


@click.command("extract", short_help="Find decisions, fixes and tasks in a session or a file")
@click.argument("files", nargs=-1, metavar="[FILE|-]...")
@click.option(
    "--from",
    "form",
    type=click.Choice(FORMS),
    default="auto",
    help="What the files are; without it, their content decides.",
)
@click.option(
    "--session",
    metavar="ID",
    help="Read a session that hooks recorded, by its id or the beginning of it.",
)
@click.option("--commits", metavar="RANGE", help="Read commit messages: main..HEAD, v1.2.., -20.")
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    type=click.Choice(KINDS),
    help="Only this kind. May be repeated.",
)
@click.option("--save", is_flag=True, help="Put what is found into the inbox, unconfirmed.")
@opt.json_option
@click.pass_obj
def extract_command(
    term: Terminal,
    files: tuple[str, ...],
    form: str,
    session: str | None,
    commits: str | None,
    kinds: tuple[str, ...],
    save: bool,
    as_json: bool,
) -> None:
    """Find decisions, errors and fixes, tasks and preferences in a session or a file.

    Reads transcripts of Claude Code, Gemini CLI and Codex, session histories and exports, plans,
    notes and commit messages, in English, Portuguese, Spanish and Chinese. It works offline:
    nothing is sent anywhere. Nothing is stored without --save. Files can be read outside of a
    repository too.

    \b
    Examples:
      git mem extract ~/.claude/projects/*/853c0c9d.jsonl
      git mem extract --session 853c --save
      git mem extract --commits v1.2..HEAD --kind decision --kind error
      git mem extract - --json
    """
    given = [bool(files), session is not None, commits is not None]
    if sum(given) > 1:
        raise click.UsageError("read files, --session or --commits: one of them at a time.")
    if not any(given):
        raise click.UsageError(
            "what shall be read? Name a FILE, - for standard input, --session ID or --commits "
            "RANGE."
        )
    if files.count("-") > 1:
        raise click.UsageError("standard input can be read once only.")
    if save or not files:
        with term.open() as app:
            sources = sources_of(app, files, form, session, commits)
            extracts = _extracts(term, [without_hidden(app, source) for source in sources], kinds)
            _show_extracts(term, extracts, kinds, form if files else "auto", as_json)
            if save:
                _save(term, app, extracts, session or "", as_json)
        return
    extracts = _extracts(term, [file_source(name, form) for name in files], kinds)
    _show_extracts(term, extracts, kinds, form, as_json)


def _extracts(
    term: Terminal, sources: Sequence[Source], kinds: Sequence[str]
) -> list[tuple[Source, Extract]]:
    from gitmem.services.session_log import changes

    out = []
    for source in sources:
        whole = changes.extract(source.turns())
        if BROKEN in source.flaws:
            _not_utf_8(term, source)
        items = tuple(item for item in whole.items if not kinds or item.kind in kinds)
        out.append(
            (source, Extract(items, whole.topics, whole.by, whole.why, whole.tokens, whole.facts))
        )
    return out


def _not_utf_8(term: Terminal, source: Source) -> None:
    """Say that letters were lost, and how to convert a file.

    Its name stays, as it may tell what the file is.
    """
    convert = "iconv -f ISO-8859-1 -t UTF-8"
    if source.path:
        new = shlex.quote(f"utf8-{plain(os.path.basename(source.name))}")
        command = f"{convert} -- {shlex.quote(plain(source.name))} > {new} && git mem extract {new}"
    else:
        command = f"{convert} | git mem extract -"
    term.note(
        f"{plain(source.name)} is not all UTF-8: letters may be lost. If it is Latin-1, convert it "
        f"first: {command}"
    )


def _show_extracts(
    term: Terminal,
    extracts: Sequence[tuple[Source, Extract]],
    kinds: Sequence[str],
    form: str,
    as_json: bool,
) -> None:
    if as_json:
        topics = [topic for _, extract in extracts for topic in extract.topics]
        rows = [_item_json(item, source) for source, extract in extracts for item in extract.items]
        by = extracts[0][1].by
        term.json({"extractor": by, "topics": list(dict.fromkeys(topics)), "items": rows})
        return
    for source, extract in extracts:
        if len(extracts) == 1:
            _show_extract(term, extract)
        else:
            term.say(term.style(plain(source.name), bold=True))
            _show_extract(term, extract)
            term.say("")
        if not extract.items:
            _note_nothing(term, source, extract, kinds, form)


def _show_extract(term: Terminal, extract: Extract) -> None:
    if extract.topics and extract.items:
        term.say(f"about {plain(', '.join(extract.topics))}")
    for kind in KINDS:
        items = [item for item in extract.items if item.kind == kind]
        if items:
            term.say(f"\n{term.style(TITLES[kind], bold=True)}")
        for item in items:
            _show(term, item)


def _note_nothing(
    term: Terminal, source: Source, extract: Extract, kinds: Sequence[str], form: str
) -> None:
    turns = int(extract.facts.get("turns", 0))
    what = f"of the kind {' or '.join(kinds)}" if kinds else "worth keeping"
    count = f"{turns} turn{'' if turns == 1 else 's'}"
    term.note(f"nothing {what} was found in {plain(source.name)} ({count}).")
    if not turns and form != "auto":
        term.note(
            f"--from {form} read no turn from it. Leave out --from: the content then decides the "
            f"form."
        )


def _show(term: Terminal, item: Item) -> None:
    first, last = item.lines
    where = (
        f"commit {item.commit[:ABBREVIATED]}"
        if item.commit
        else f"line {first}"
        if first == last
        else f"lines {first}-{last}"
    )
    facts = ", ".join(
        x
        for x in (
            where if first or item.commit else "",
            "" if item.sure or item.marked else "not sure",
        )
        if x
    )
    term.say(
        f"  {plain(item.text)}{term.style(f'  ({facts})', fg='bright_black') if facts else ''}"
    )
    if item.detail and not item.text.rstrip(".!。").endswith(item.detail.rstrip(".!。")):
        label = SAID if item.detail.startswith("“") else DETAIL.get(item.kind, "")
        term.say(f"      {label and f'{label}: '}{plain(item.detail)}")
    if item.files:
        term.say(f"      in {plain(', '.join(item.files))}")


def _item_json(item: Item, source: Source) -> dict[str, Any]:
    first, last = item.lines
    return {
        "kind": item.kind,
        "text": item.text,
        "detail": item.detail or None,
        "source": source.name,
        "at": item.at or None,
        "line": first or None,
        "end_line": last or None,
        "paths": list(item.files),
        "speaker": item.role or None,
        "sure": item.sure or item.marked,
        "commit_name": item.commit or None,
    }


def _authors(app: App, commits: Sequence[str]) -> "tuple[dict[str, Person], set[str]]":
    """Return the authors of commits by the given ids, and which ids are this user's own."""
    if not commits:
        return {}, set()
    from gitmem.git.commit_messages import CommitMessages

    messages = CommitMessages(app.location, app.env)
    there = messages.read(commits)
    ids = {
        commit.oid: [short for short in commits if commit.oid.startswith(short)] for commit in there
    }
    authors = {short: commit.author for commit in there for short in ids[commit.oid]}
    own = {
        short for commit in there if commit.is_by(app.own_addresses) for short in ids[commit.oid]
    }
    return authors, own


def _require_not_forgotten(app: App, extracts: Sequence[tuple[Source, Extract]]) -> None:
    """Raise UserError for the transcript of a session that was forgotten: its name tells its id."""
    from gitmem.services.sessions.forgetting import is_forgotten

    names = [os.path.basename(source.name).partition(".")[0] for source, _ in extracts]
    for id in dict.fromkeys([*names, *_UUID.findall(" ".join(names))]):
        if is_forgotten(app.store("private"), id):
            raise UserError(
                f"session {plain(id)} was forgotten: nothing is proposed from its transcript.",
                "To write down what is to be kept: git mem add 'title'",
            )


def _save(
    term: Terminal,
    app: App,
    extracts: Sequence[tuple[Source, Extract]],
    session: str,
    as_json: bool,
) -> None:
    """Propose what was found; what is known, or was rejected, is not proposed again."""
    from gitmem.cli.sessions.find import find_session

    id = find_session(app, session).id if session else ""
    _require_not_forgotten(app, extracts)
    made = _propose(app, extracts, id)
    if not made and any(extract.items for _, extract in extracts):
        term.note("nothing new for the inbox: it is known, was rejected, or is too unsure.")
        return
    note = f"{len(made)} put into the inbox; look through them with: git mem inbox"
    if as_json:
        term.note(note)
        return
    term.say("")
    for record in made:
        term.say(f"proposed {short(record.id)} {title_shown(record.title)}")
    term.say(note)


def _propose(app: App, extracts: Sequence[tuple[Source, Extract]], session: str) -> "list[Record]":
    from gitmem.services.sessions import proposals

    private, shared = app.store("private"), [app.store("shared")]
    who = app.writer(session=session) if session else app.writer()
    named = [item.commit for _, extract in extracts for item in extract.items if item.commit]
    authors, own = _authors(app, named)

    def indexes() -> "list[Index]":
        return [index for _, index in app.indexes()]

    made = []
    for source, extract in extracts:
        mine = [item for item in extract.items if not item.commit or item.commit in own]
        others = [item for item in extract.items if item.commit and item.commit not in own]
        made += proposals.propose(
            private, who, mine, session, source.evidence, indexes, shared, limited=False
        )
        made += proposals.suggest_of_commits(private, who, others, authors, indexes, shared)
    return made
