"""`git mem config`: show the settings in groups, show one, change one."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import click

from gitmem import config
from gitmem.app import App
from gitmem.cli import options
from gitmem.cli.terminal import Terminal, plain
from gitmem.errors import UserError
from gitmem.services.records.write import require_person

DEFAULT = "default"  # the scope of a setting that nobody set
SCOPES = {
    "command": "this command",
    "worktree": "this work tree",
    "local": "this repository",
    "global": "yours",
    "system": "this machine",
}
# former key -> the setting that does it now
FORMER = {
    **dict.fromkeys(["shareAgent", "shareCaptured", "shareExtracted"], "share"),
    **dict.fromkeys(["startBudget", "promptBudget", "fileBudget"], "injectBudget"),
    **dict.fromkeys(["injectUnconfirmed", "editorUnconfirmed"], "unconfirmed"),
}
NEAR = 0.75  # how alike a key has to be, as difflib counts it: a slip of the keyboard


class SetValue(NamedTuple):
    """A value in git's configuration, as text, and git's name of where it is set."""

    value: str
    scope: str


class SettingView(NamedTuple):
    """A setting as it is shown.

    `scope` is git's name of where the value is from (of a list, where the last is), or DEFAULT.
    `origins` has all values that are set, in git's order: the last counts, of a list each.
    """

    group: str
    key: str
    value: Any
    default: Any
    meaning: str
    type: str
    scope: str
    origins: tuple[SetValue, ...]

    @property
    def is_changed(self) -> bool:
        """Whether the value differs from the default."""
        return bool(self.value != self.default)


@click.command("config", short_help="Show and change settings")
@click.argument("key", required=False)
@click.argument("value", required=False)
@click.option("--global", "everywhere", is_flag=True, help="For all your repositories.")
@click.option("--unset", is_flag=True, help="Go back to the default.")
@options.json_option
@click.pass_obj
def config_command(
    term: Terminal, key: str | None, value: str | None, everywhere: bool, unset: bool, as_json: bool
) -> None:
    """Show all settings, show one, or set one.

    They are stored in git's configuration under 'gitmem.'. A star marks a value that is not the
    default; the source of the value follows it.

    \b
    Examples:
      git mem config
      git mem config captureThreshold 2
      git mem config --global sign true
    """
    name = config.canonical_key(key) if key is not None else None
    if key is not None and name is None and not unset:
        raise _no_setting(key)
    where = "--global" if everywhere else "--local"
    with term.open() as app:
        if key is None:
            _show_all(term, app, as_json)
        elif name is None:
            _remove_unknown(term, app, key, where, as_json)
        elif unset or value is not None:
            _change(app, name, None if unset else value, where)
            _show_new(term, app, name, as_json)
        else:
            _show_setting(term, app, name, as_json)


def _no_setting(typed: str) -> click.UsageError:
    """Return the error for a key that is no setting; it names the one that was probably meant."""
    near = _near_setting(typed.removeprefix("gitmem."))
    meant = f" Did you mean {near}?" if near else ""
    return click.UsageError(f"there is no setting '{plain(typed)}'.{meant} See all: git mem config")


def _near_setting(typed: str) -> str:
    """Return the setting that somebody meant by a key; '' where a guess could be wrong."""
    import difflib

    names = {key.lower(): key for key in config.SETTINGS}
    names |= {key.lower(): name for key, name in FORMER.items()}
    lower = typed.lower()
    alike = [name for name in names if name[:1] == lower[:1]]  # the first letter is a slip seldom
    near = difflib.get_close_matches(lower, alike, n=1, cutoff=NEAR)
    return names[near[0]] if near else ""


def _show_all(term: Terminal, app: App, as_json: bool) -> None:
    rows = [_view(app, name) for name in config.SETTINGS]
    if as_json:
        term.json([_json(row) for row in rows])
        return
    term.page(_lines(term, rows), app, wraps=True)
    _warn(term, app, app.settings.problems, app.settings.refused)


def _warn(term: Terminal, app: App, problems: Iterable[str], refused: Iterable[str]) -> None:
    """Say which settings do nothing, and how to remove them."""
    for problem in problems:
        term.note(plain(f"warning: {problem}\nhint: {config.removal(app.settings, problem)}"))
    for name in refused:
        term.note("warning: {}\nhint: {}".format(*config.refusal(name)))


def _show_setting(term: Terminal, app: App, name: str, as_json: bool) -> None:
    refused = [name] if name in app.settings.refused else []
    _warn(term, app, _problems(app, name), refused)
    row = _view(app, name)
    if as_json:
        term.json(_json(row))
        return
    for line in _setting_lines(term, row):
        term.say(line)
    if row.type != "list":
        for value, scope in row.origins[:-1]:
            term.say(f"      overrides {plain(_text(value))}  ({SCOPES.get(scope, scope)})")
    term.say(f"      {config.allowed(name)}; the default is {_text(row.default)}")


def _show_new(term: Terminal, app: App, name: str, as_json: bool) -> None:
    _warn(term, app, _problems(app, name), [])
    row = _view(app, name)
    if as_json:
        term.json(_json(row))
    else:
        term.say(f"{name} is now {_text(row.value)}")


def _change(app: App, name: str, value: str | None, where: str) -> None:
    """Set a setting, add to one that is a list, or with None take all its values away."""
    if name in config.TRUST:
        require_person(app.writer(), "change", f"the setting {name}", f"config {name} VALUE")
    if value is None:
        app.git.call("config", where, "--unset-all", f"gitmem.{name}", ok=(0, 5))
    else:
        _require_settable(name, value, where)
        add = ["--add"] if config.SETTINGS[name][0] == "list" else []
        app.git.run("config", where, *add, f"gitmem.{name}", value)
    app.forget_settings()


def _require_settable(name: str, value: str, where: str) -> None:
    """Raise an error for a value that a setting cannot have, or not there."""
    try:
        config.parse(name, value)
    except UserError as error:
        raise click.UsageError(str(error)) from error
    if name in config.OWN and where != "--global" and not config.switches_off(name, value):
        raise UserError(
            f"gitmem.{name} is never taken from a repository's own configuration.",
            f"Set it for yourself: git mem config --global {name} VALUE",
        )


def _remove_unknown(term: Terminal, app: App, typed: str, where: str, as_json: bool) -> None:
    """Take away all values of a key that is no setting; raise an error where none is set."""
    wanted = f"gitmem.{typed.lower().removeprefix('gitmem.')}"
    key = next((key for key in app.settings.scopes if key.lower() == wanted), None)
    if key is None:
        raise _no_setting(typed)
    before = len(app.settings.scopes[key])
    app.git.call("config", where, "--unset-all", key, ok=(0, 5))
    app.forget_settings()
    left = [text for text in app.settings.problems if text.startswith(f"{key} ")]
    removed = before - len(app.settings.scopes.get(key, ()))
    if left and not removed:
        place = "your own file" if where == "--global" else "this repository's file"
        raise UserError(f"{plain(key)} is not in {place}.", _elsewhere(app, key, where))
    _warn(term, app, left, [])
    if as_json:
        term.json({"key": key[7:], "removed_count": removed})
    else:
        term.say(f"{plain(key)} is removed")


def _elsewhere(app: App, key: str, where: str) -> str:
    """Return how to remove a key from where it is set, for it is not where it was looked for."""
    scope = app.settings.scopes[key][-1]
    if scope != where[2:]:
        return config.removal(app.settings, f"{key} ")
    import shlex

    return f"An included file sets it: git config --show-origin --get-all {shlex.quote(key)}"


def _problems(app: App, name: str) -> list[str]:
    """Return what is wrong with a setting."""
    return [text for text in app.settings.problems if text.startswith(f"gitmem.{name} ")]


def _view(app: App, name: str) -> SettingView:
    """Return a setting; git is asked where one is from that a file sets."""
    group = next(title for title, settings in config.GROUPS.items() if name in settings)
    kind, default, meaning = config.SETTINGS[name]
    key = f"gitmem.{name.lower()}"
    value = _shown(name, app.settings.get(name))  # as hooks see it, before git is asked
    origins: tuple[SetValue, ...] = ()
    if app.settings.every(key):
        scopes = app.settings.scopes.get(key, ())
        texts = [_shown(name, text) for text in app.settings.raw.get(key, ())]
        origins = tuple(map(SetValue, texts, scopes))
    is_used = bool(origins) and not _problems(app, name)  # an invalid one leaves the default
    scope = origins[-1].scope if is_used else DEFAULT
    return SettingView(group, name, value, default, meaning, kind, scope, origins)


def _json(row: SettingView) -> dict[str, Any]:
    return {**row._asdict(), "origins": [origin._asdict() for origin in row.origins]}


def _lines(term: Terminal, rows: list[SettingView]) -> Iterator[str]:
    """Yield the settings under the headings of their groups."""
    group = ""
    for row in rows:
        if row.group != group:
            yield from ([""] if group else [])
            group = row.group
            yield term.style(group, bold=True)
        yield from _setting_lines(term, row)


def _setting_lines(term: Terminal, row: SettingView) -> Iterator[str]:
    """Yield a setting as `key = value`, where the value is from, and what it is for."""
    mark = "* " if row.is_changed else "  "
    name = term.style(row.key, bold=row.is_changed)
    if row.type == "list" and row.origins:
        values: list[tuple[Any, str]] = [*row.origins]
    else:
        values = [(row.value, row.scope)]
    for value, scope in values:
        origin = f"  ({SCOPES.get(scope, scope)})" if scope != DEFAULT else ""
        yield f"{mark}{name} = {plain(_text(value))}{origin}"
    yield f"      {term.style(row.meaning, fg='bright_black')}"


def _text(value: Any) -> str:
    """Return a setting's value as people read it."""
    if isinstance(value, tuple):
        return ", ".join(value) or "empty"
    if isinstance(value, bool):
        return str(value).lower()
    return "empty" if value == "" else str(value)


def _shown(name: str, value: Any) -> Any:
    """Return a setting's value as it may be shown: the arguments of a program without secrets."""
    if name not in config.OWN or not value or not isinstance(value, str):
        return value
    from gitmem.redaction.mask import scrub

    return scrub(value).text
