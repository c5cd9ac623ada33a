"""Commands that write what a record says: add, edit, supersede."""

import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

import click

from gitmem.app import App
from gitmem.cli import options
from gitmem.cli.editor import edit
from gitmem.cli.rows import written_json
from gitmem.cli.terminal import Terminal, short, title_shown
from gitmem.codemap.anchors.resolve import attach
from gitmem.codemap.anchors.spec import beginnings, glob_match, parse
from gitmem.codemap.grammars import GRAMMARS, language_named
from gitmem.errors import GitmemError, UnknownId, UserError
from gitmem.git.object_codec import object_id
from gitmem.records.codec import decode, encode
from gitmem.records.kinds import CATEGORIES, SEVERITIES, TYPES
from gitmem.records.record import Record, kind_of
from gitmem.records.texts import TITLE_LIMIT, clean_body
from gitmem.repo.location import inside
from gitmem.repo.refs import head
from gitmem.services.records import history, write
from gitmem.services.records.write import Change


def done(term: Terminal, change: Change, verb: str, scope: str, as_json: bool = False) -> None:
    """Say what a change did, and name the secrets that were masked."""
    for finding in change.findings:
        term.note(
            f"masked a secret: {finding.kind} in line {finding.line} ({finding.preview}). If it is "
            f"none, allow it: git config --add gitmem.allowSecret REGEX"
        )
    if as_json:
        term.json(written_json(scope, change))
        return
    if change.before is not None and change.written.commit is None and not change.written.journaled:
        term.say(f"{short(change.after.id)} is already so; nothing changed.")
        return
    where = f" in your {scope} store" if scope != "shared" else ""
    if change.after.unconfirmed and change.after.get("origin") == "agent":
        term.note("unconfirmed, as an agent wrote it. A person confirms it: git mem inbox")
    term.say(
        f"{verb} {term.style(short(change.after.id), fg='yellow')} "
        f"{title_shown(change.after.title)}{where}{options.journaled(change.written)}"
    )


def resolve_anchor(app: App, spec: str, *, from_root: bool = False) -> dict[str, Any]:
    """Return an anchor with the code it points at, as the work tree has it (else HEAD).

    Raises UserError.
    """
    if not spec.strip():
        raise click.BadParameter(
            "--anchor is empty: name a file, path:12-20, path#Symbol or a glob."
        )
    root = app.location.worktree
    anchor = parse(
        spec if from_root else _from_root(app, spec),
        lambda path: bool(root) and os.path.isfile(os.path.join(str(root), path)),
    )
    if "glob" in anchor:
        if not _fits_a_file(app, anchor["glob"]):
            click.get_current_context().ensure_object(Terminal).note(
                f"no file fits '{anchor['glob']}' yet."
            )
        return anchor
    data = file_bytes(app, anchor["path"])
    if data is None and root and os.path.isdir(os.path.join(root, anchor["path"])):
        raise UserError(
            f"'{anchor['path']}' is a folder.",
            f"For the files in it: --anchor '{anchor['path']}/**'",
        )
    if data is None:
        raise UserError(
            f"there is no file '{anchor['path']}' in this repository.",
            "Name it from the repository's root, or from where you are; or add the anchor later: "
            "git mem edit ID --anchor PLACE",
        )
    text = data.decode("utf-8", "replace")
    count = text.count("\n") + (not text.endswith("\n"))
    if anchor.get("lines") and anchor["lines"][1] > count:
        raise UserError(
            f"{anchor['path']} has {count} line{'s' if count != 1 else ''}, not "
            f"{anchor['lines'][1]}."
        )
    attached = attach(anchor, text, object_id("blob", data, app.objects.traits.hash))
    commit = head(app.location)
    return {**attached, "commit": commit} if commit else attached


def _fits_a_file(app: App, glob: str) -> bool:
    root = str(app.location.worktree)
    code, out, _ = app.git.call(
        f"--work-tree={root}",
        "-C",
        root,
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
        ok=(0, 128),
    )
    return code != 0 or any(
        glob_match(glob, name)
        for name in out.decode("utf-8", "surrogateescape").split("\0")
        if name
    )


def _from_root(app: App, spec: str) -> str:
    """Return a spec whose path is taken from the current folder, if such a file exists.

    Otherwise the path is taken from the root.
    """
    root = os.path.realpath(app.location.worktree) if app.location.worktree else ""
    for path in beginnings(spec) if root else ():
        full = os.path.realpath(path) if path.strip() else ""
        if os.path.lexists(full) and os.path.commonpath([root, full]) == root:
            return os.path.relpath(full, root).replace(os.sep, "/") + spec[len(path) :]
    return spec


def file_bytes(app: App, path: str, most: int = 4 << 20) -> bytes | None:
    """Return a file of the work tree, else of HEAD, as far as `most` bytes.

    None when there is none.
    """
    root = app.location.worktree
    if root:
        root = os.path.realpath(root)
        # not git's own folder: its configuration may hold credentials
        place = inside(path, root, root)
        if place and os.path.isfile(os.path.join(root, place)):
            with open(os.path.join(root, place), "rb") as file:
                return file.read(most)
    code, out, _ = app.git.call("cat-file", "blob", f"HEAD:{path}", ok=(0, 1, 128))
    return out if code == 0 else None


TRIGGERS = ("error", "code", "query", "language")
FIELDS: dict[str, Any] = {
    "--message": click.option(
        "--message",
        "-m",
        "messages",
        multiple=True,
        metavar="TEXT",
        help="The text; several make paragraphs; '-' reads stdin.",
    ),
    "--file": click.option(
        "--file",
        "-F",
        "text_file",
        type=click.File("r", encoding="utf-8"),
        help="Read the text from a file ('-' for stdin).",
    ),
    "--type": click.option(
        "--type", "-t", "type", type=click.Choice(TYPES), help="Type of memory.  [default: fact]"
    ),
    "--importance": click.option(
        "--importance", "-i", type=click.FloatRange(0, 10), help="0 to 10.  [default: 5]"
    ),
    "--tag": click.option("--tag", "tags", multiple=True, metavar="TAG", help="May be repeated."),
    "--anchor": click.option(
        "--anchor",
        "anchors_",
        multiple=True,
        metavar="PLACE",
        help="path, path:12-20, path#Symbol or a glob. May be repeated.",
    ),
    "--category": click.option("--category", type=click.Choice(CATEGORIES), help="Of a gotcha."),
    "--severity": click.option("--severity", type=click.Choice(SEVERITIES), help="Of a gotcha."),
    "--workaround": click.option("--workaround", metavar="TEXT", help="Of a gotcha: what helps."),
    "--error": click.option(
        "--error",
        metavar="TEXT",
        help="Of a gotcha: the error as it was printed ('-' reads stdin).",
    ),
    "--code": click.option(
        "--code", metavar="REGEX", help="Of a gotcha: code that it is about, in any file."
    ),
    "--query": click.option(
        "--query",
        metavar="QUERY",
        help="Of a gotcha: code that it is about, as a tree-sitter query.",
    ),
    "--language": click.option(
        "--language", metavar="NAME", help="Of a gotcha: the language of --code or --query."
    ),
    "--project": click.option("--project", metavar="NAME", help="The project it belongs to."),
    "--agent": click.option(
        "--agent", metavar="NAME", help="The namespace it is for.  [default: global]"
    ),
}


def field_options(*names: str, changes: bool = False) -> Callable[[Any], Any]:
    """Add options that set fields of a record, in their order.

    The help of a command that `changes` a record names no defaults: what is not given stays.
    """

    def add(command: Any) -> Any:
        for name in names or reversed(list(FIELDS)):
            command = FIELDS[name](command)
            option = command.__click_params__[-1]
            if changes:
                option.help = option.help.partition("  [default")[0]
        return command

    return add


def written_fields(
    app: App, kind: str, o: dict[str, Any], triggers: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the fields that options give; refuses one that the kind does not have.

    `triggers` are those of a record that is changed.
    """
    own = {
        "memory": {"type", "importance", "project"},
        "gotcha": {"category", "severity", "workaround", *TRIGGERS},
    }.get(kind, {"project"})
    for name in ("type", "importance", "project", "category", "severity", "workaround", *TRIGGERS):
        if o.get(name) is not None and name not in own:
            raise click.BadParameter(f"--{name} does not go with a {kind}.")
    fields = {name: o[name] for name in own - set(TRIGGERS) if o.get(name) is not None}
    if any(o.get(name) is not None for name in TRIGGERS):
        fields["triggers"] = _triggers(app, o, triggers or {}) or None
    if o.get("tags"):
        fields["tags"] = [t.strip() for group in o["tags"] for t in group.split(",") if t.strip()]
    if o.get("anchors_"):
        fields["anchors"] = [resolve_anchor(app, spec) for spec in o["anchors_"]]
    return fields


def _triggers(app: App, o: dict[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """Return the triggers of a gotcha, from its old triggers and the given options.

    An empty text removes a trigger.

    Raises UserError for an error that tells nothing, BadParameter for a pattern or query that
    cannot be used.
    """
    given = {
        name: o[name].strip() if name == "language" else o[name]
        for name in TRIGGERS
        if o.get(name) is not None
    }
    for name, value in given.items():
        if not value.strip() and name not in before:
            raise click.BadParameter(f"--{name} is empty.")
    out = {
        name: value
        for name, value in {**before, **given}.items()
        if not isinstance(value, str) or value.strip()
    }
    if given.get("error"):
        out["error"] = _pattern(app, given["error"])
    known = language_named(out["language"]) if "language" in out else ""
    if "language" in out and not known:
        raise click.BadParameter(
            f"'{out['language']}' is not a language that is known here. They are: "
            f"{', '.join(sorted(GRAMMARS))}."
        )
    if (
        "code" not in out
        and "query" not in out
        and out.pop("language", None)
        and given.get("language")
    ):
        raise click.BadParameter(
            "--language says in which code to look: it goes with --code or --query."
        )
    if "query" in out and not known:
        raise click.BadParameter(
            "--query needs the language that it is for, for example: --language python"
        )
    if not given.keys().isdisjoint(("code", "query", "language")):
        _check(out)
    return out


def _check(triggers: Mapping[str, Any]) -> None:
    # an expression engine, and a parser
    from gitmem.codemap.symbols.triggers import check_code, check_query

    try:
        if "code" in triggers:
            check_code(triggers["code"])
        if "query" in triggers:
            check_query(triggers["query"], triggers["language"])
    except UserError as error:
        raise click.BadParameter(f"{error} {error.hint}".strip()) from error


def _pattern(app: App, error: str) -> str:
    from gitmem.fingerprint.fingerprint import fingerprint

    # what a tool prints may be any bytes, and only the pattern of it is kept
    printed = sys.stdin.buffer.read().decode("utf-8", "replace") if error == "-" else error
    mark = fingerprint(printed, app.location.worktree or "")
    if mark is None:
        raise UserError(
            "nothing in --error tells an error.",
            "Give the lines that the tool printed, or leave --error out.",
        )
    return mark.pattern


def written_text(o: dict[str, Any]) -> str | None:
    """Return the body that `-m` and `-F` give; None when neither does."""
    pieces = [sys.stdin.read() if m == "-" else m for m in o.get("messages") or ()]
    if o.get("text_file") is not None:
        try:
            pieces.append(o["text_file"].read())
        except UnicodeDecodeError as error:
            raise UserError(
                f"'{o['text_file'].name}' is not UTF-8 text.",
                "Convert it first, for example with iconv.",
            ) from error
    return "\n\n".join(p.strip("\n") for p in pieces) if pieces else None


TEMPLATE = """

# Write a title in the first line and the text below it.
# Lines that start with '# ' here at the end are left out; nothing is saved when the title is empty.
"""


@click.command("add", short_help="Remember something")
@click.argument("title", nargs=-1)
@click.option(
    "--kind",
    "-k",
    "kind",
    default="memory",
    show_default=True,
    metavar="KIND",
    help="memory, gotcha, event, ...",
)
@field_options()
@click.option(
    "--link",
    "links",
    multiple=True,
    metavar="ID",
    help="Link it to another record. May be repeated.",
)
@click.option("--session", metavar="ID", help="The session it comes from.")
@options.scope_options
@options.json_option
@click.pass_obj
def add_command(
    term: Terminal, /, title: tuple[str, ...], kind: str, scope: str, as_json: bool, **o: Any
) -> None:
    """Add a record: a decision, a pattern, a trap.

    Without TITLE your editor opens. Secrets in title, text and fields are masked before anything is
    stored; each is named on standard error.

    \b
    Examples:
      git mem add "Use SERIALIZABLE for payments" -m "Two runs lost updates." -t decision
      git mem add -k gotcha "pytest hangs without -p no:cacheprovider" --anchor conftest.py:12
      git log -1 --format=%B | git mem add "Why we moved to asyncpg" -m -
    """
    (name,) = options.kinds((kind,))
    with term.open_or_user(scope == "user") as app:
        text = written_text(o)
        heading = " ".join(title).strip()
        if not heading:
            if not sys.stdin.isatty() or text is not None:
                raise click.UsageError("give a title: git mem add 'title' [-m TEXT]")
            heading, text = _edited(term, app)
        who = app.writer(o["agent"], o["session"])
        fields = written_fields(app, name, o)
        if o["links"]:
            fields["links"] = [app.find(i) for i in o["links"]]
        if name == "event":
            fields.setdefault("at", term.clock.stamp())
        if name == "gotcha":
            fields |= {"first_seen": term.clock.stamp(), "last_seen": term.clock.stamp()}
        heading, text = titled(heading, text or "")
        record = write.draft(who, name, heading, text, **fields)
        change = write.add(app.store(scope), who, record)
        done(term, change, "remembered", scope, as_json)


def _edited(term: Terminal, app: App) -> tuple[str, str]:
    """Open the user's editor; return title and body.

    Raises UserError when the title is left empty.
    """
    result = edit(term, app, TEMPLATE, "Give the title: git mem add 'title' -m TEXT")
    lines = (result or "").rstrip().split("\n")
    while lines and lines[-1].startswith("# "):
        lines.pop()
    while lines and not lines[0].strip():
        lines.pop(0)
    if not lines or not lines[0].strip():
        raise UserError(
            "nothing was saved: the title is empty.",
            "Write a title in the first line, or give it on the command line.",
        )
    return lines[0].removeprefix("# ").strip(), "\n".join(lines[1:])


@click.command("edit", short_help="Change a record in your editor or by flags")
@click.argument("id")
@click.option("--title", metavar="TEXT", help="A new title.")
@field_options(changes=True)
@click.option(
    "--untag", "untags", multiple=True, metavar="TAG", help="Remove a tag. May be repeated."
)
@click.option("--unanchor", is_flag=True, help="Remove all anchors.")
@options.json_option
@click.pass_obj
def edit_command(
    term: Terminal,
    /,
    id: str,
    title: str | None,
    as_json: bool,
    untags: tuple[str, ...],
    unanchor: bool,
    **o: Any,
) -> None:
    """Change a record. Without options, your editor opens the whole file.

    A change that somebody else made meanwhile is merged, not overwritten. Fields that are not named
    stay as they are. --tag and --anchor add to what is there. Without a terminal, an editor that
    needs one, such as vi, is not started, and the command fails; a script as editor works.

    \b
    Examples:
      git mem edit 7k2m9qxa
      git mem edit 7k2m9qxa --importance 9 --tag payments --untag draft
    """
    with term.open() as app:
        scope, stored = app.get(id)
        record = stored.record
        text = written_text(o)
        fields = written_fields(app, record.kind, o, record.get("triggers"))
        if "tags" in fields or untags:
            fields["tags"] = sorted({*record.tags, *fields.get("tags", [])} - set(untags))
        if "anchors" in fields or unanchor:
            fields["anchors"] = [*([] if unanchor else record.anchors), *fields.get("anchors", [])]
        if o["agent"]:
            fields["agent"] = o["agent"]
        if title is None and text is None and not fields:
            after = edited_record(term, app, record)
        else:
            after = record.change(
                title=title, body=None if text is None else clean_body(text), **fields
            )
        after = decode(encode(after))
        change = write.revise(app.store(scope), app.writer(), record, after)
        verb = "changed" if change.before else f"{short(record.id)} stays as it is; proposed"
        done(term, change, verb, scope, as_json)


def edited_record(term: Terminal, app: App, record: Record) -> Record:
    """Return what the user's editor makes of a record; raises what its parser raises."""
    text = encode(record).decode()
    while True:
        result = edit(
            term,
            app,
            text,
            "Say by flags what to change, such as --title or -m: git mem edit --help",
        )
        if result is None or result == encode(record).decode():
            return record
        try:
            after = decode(result.encode())
        except GitmemError as error:
            if not sys.stdin.isatty() or not click.confirm(
                f"{error} Edit again?", default=True, err=True
            ):
                raise
            text = result
            continue
        if after.id != record.id or after.kind != record.kind:
            raise UserError(
                "the id and the kind of a record cannot change.", "Add a new one: git mem supersede"
            )
        return after


@click.command("supersede", short_help="Replace a record by a newer one")
@click.argument("old")
@click.argument("title", nargs=-1, required=True)
@field_options(changes=True)
@options.json_option
@click.pass_obj
def supersede_command(
    term: Terminal, /, old: str, title: tuple[str, ...], as_json: bool, **o: Any
) -> None:
    """Write a new record that replaces OLD. OLD is archived, and the chain is kept.

    If TITLE is the id of an existing record, that record becomes the successor.

    The new record inherits from OLD what you do not give: agent, type, importance, project, tags,
    anchors, triggers, category and severity. It does not inherit the text and the workaround.

    \b
    Examples:
      git mem supersede 7k2m9qxa "Use READ COMMITTED and a lock" -m "Too many retries."
      git mem log 7k2m9qxa          the whole chain
    """
    with term.open() as app:
        scope, stored = app.get(old)
        before = stored.record
        edges = _edges_of(app, before.id)
        # the successor is in the namespace of what it replaces
        who = app.writer(o["agent"] or before.get("agent"))
        existing = _known(app, title[0]) if len(title) == 1 else None
        if existing:
            where, found = app.get(existing)
            if where != scope:
                raise UserError(
                    f"{before.id} is in the {scope} store, {found.record.id} in the {where} one.",
                    "Write the successor beside it: git mem supersede OLD 'new title' -m TEXT",
                )
            change = write.supersede(app.store(scope), who, before, found.record, found.record)
        else:
            fields = write.fields_of(before, write.INHERITED)
            fields |= written_fields(app, before.kind, o)
            heading, text = titled(" ".join(title), written_text(o) or "")
            new = write.draft(who, before.kind, heading, text, **fields)
            change = write.supersede(app.store(scope), who, before, new)
        is_gone = write.may_replace(who, before)
        verb = "is superseded by" if is_gone else "stays until a person accepts"
        done(term, change, f"{short(before.id)} {verb}", scope, as_json)
        others = [id for id in history.successors(edges, before.id) if id != change.after.id]
        _tell_fork(term, before.id, change.after.id, others)


def _edges_of(app: App, id: str) -> list[tuple[str, str, str]]:
    return [edge for _, index in app.indexes() for edge in index.edges_of(id)]


def _tell_fork(term: Terminal, old: str, new: str, others: list[str]) -> None:
    """Remark on a record that others have superseded already."""
    if others:
        term.note(
            f"{short(old)} is superseded by {' and '.join(map(short, others))} too: its chain "
            f"forks. Settle it: git mem supersede {short(others[0])} {short(new)}"
        )


def titled(heading: str, text: str) -> tuple[str, str]:
    """Return title and body, keeping in the body what does not fit the title.

    That is the text after the first line, and a title that is too long.
    """
    first, _, rest = heading.strip().partition("\n")
    kept = [heading.strip() if len(first) > TITLE_LIMIT else rest.strip("\n"), text]
    return first, "\n\n".join(part for part in kept if part)


def _known(app: App, text: str) -> str | None:
    if " " in text or (len(text) < 6 and not kind_of(text)):
        return None
    try:
        return app.find(text)
    except UnknownId:
        return None
