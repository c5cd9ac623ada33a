"""Options that set the fields of a record, and what they say."""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from gitmem.app import App
from gitmem.cli.terminal import Terminal
from gitmem.codemap.anchors.spec import beginnings, glob_match, parse
from gitmem.codemap.grammars import GRAMMARS, language_named
from gitmem.errors import UserError
from gitmem.records.kinds import CATEGORIES, FACTS, SEVERITIES, TYPES
from gitmem.records.record import is_expiry
from gitmem.repo.location import inside
from gitmem.repo.refs import head


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
    from gitmem.services.records.anchoring import with_code  # compares whole texts

    hash_name = app.objects.traits.hash
    return with_code(
        anchor, lambda path: file_bytes(app, path), root, hash_name, head(app.location)
    )


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
    "--expires": click.option(
        "--expires",
        metavar="DATE",
        help="Until when it holds: a day such as 2026-12-31, or a time in UTC.",
    ),
    "--tag": click.option("--tag", "tags", multiple=True, metavar="TAG", help="May be repeated."),
    "--anchor": click.option(
        "--anchor",
        "anchors_",
        multiple=True,
        metavar="PLACE",
        help="path, path:12-20, path#Symbol or a glob. May be repeated.",
    ),
    "--verify": click.option(
        "--verify",
        "checks",
        multiple=True,
        metavar="CHECK",
        help="How the code shows that it holds: path=FILE, 'file=FILE contains=TEXT', "
        "'dependency=NAME version=>=4.2', symbol=NAME. May be repeated.",
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


# options of one kind of record, in the order in which a wrong one is refused
OF_A_KIND = (
    *("type", "importance", "project", "expires", "category", "severity", "workaround"),
    *TRIGGERS,
)


def written_fields(
    app: App,
    kind: str,
    o: dict[str, Any],
    triggers: Mapping[str, Any] | None = None,
    scope: str = "",
) -> dict[str, Any]:
    """Return the fields that options give; refuses one that the kind does not have.

    `triggers` are those of a record that is changed, `scope` is its store.
    """
    own = {
        "memory": {"type", "importance", "project", "expires"},
        "gotcha": {"category", "severity", "workaround", *TRIGGERS},
    }.get(kind, {"project"})
    for name in OF_A_KIND:
        if o.get(name) is not None and name not in own:
            raise click.BadParameter(f"--{name} does not go with a {kind}.")
    fields = {name: o[name] for name in own - set(TRIGGERS) if o.get(name) is not None}
    if "expires" in fields:
        fields["expires"] = _expiry(fields["expires"])
    if any(o.get(name) is not None for name in TRIGGERS):
        fields["triggers"] = _triggers(app, o, triggers or {}) or None
    if o.get("tags"):
        fields["tags"] = [t.strip() for group in o["tags"] for t in group.split(",") if t.strip()]
    fields |= _checked(app, kind, scope, o.get("checks"))
    if o.get("anchors_"):
        fields["anchors"] = [resolve_anchor(app, spec) for spec in o["anchors_"]]
    return fields


def _checked(app: App, kind: str, scope: str, given: Sequence[str] | None) -> dict[str, Any]:
    """Return the field with the checks that texts give.

    Raises UserError for one that the code does not pass.
    """
    if not given:
        return {}
    if kind not in FACTS:
        raise click.BadParameter(f"--verify does not go with a {kind}.")
    from gitmem.services.lifecycle.evaluation import HOLDS, evaluate, outcome_refusal
    from gitmem.services.lifecycle.verify_refusal import refused
    from gitmem.services.lifecycle.verify_spec import format_check, parse_check
    from gitmem.worker.code_check import code_view

    if scope == "user" or app.is_user_store():
        raise UserError(
            "your own store is of no repository, so nothing can be checked there.",
            "Leave out --verify, or --user.",
        )
    checks = [parse_check(text) for text in given]
    code = code_view(app)
    for check in checks:
        outcome = evaluate(check, code)
        if outcome.state != HOLDS:
            raise refused(format_check(check), outcome_refusal(outcome))
    return {"verify": checks}


def _expiry(given: str) -> str | None:
    """Return a day or time as it is stored, None to hold for ever. Raises BadParameter."""
    text = given.strip()
    if not is_expiry(text):
        raise click.BadParameter(
            f"--expires cannot be '{given}': give a day as 2026-12-31, or a time as "
            "2026-12-31T12:00:00Z."
        )
    return text or None


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
    _check_language(out, given)
    if not given.keys().isdisjoint(("code", "query", "language")):
        _check(out)
    return out


def _check_language(triggers: dict[str, Any], given: Mapping[str, str]) -> None:
    """Take out a language that goes with nothing any more.

    Raises BadParameter where it is not known, was given in vain, or is missing.
    """
    language = triggers.get("language")
    grammar = language_named(language) if language is not None else ""
    if language is not None and not grammar:
        raise click.BadParameter(
            f"'{language}' is not a language that is known here. They are: "
            f"{', '.join(sorted(GRAMMARS))}."
        )
    if triggers.keys().isdisjoint(("code", "query")):
        triggers.pop("language", None)
        if language and given.get("language"):
            raise click.BadParameter(
                "--language says in which code to look: it goes with --code or --query."
            )
    if "query" in triggers and not grammar:
        raise click.BadParameter(
            "--query needs the language that it is for, for example: --language python"
        )


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
            "--error contains no error message.",
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
