"""`git mem config`: show the settings in groups, show one, change one."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import click

from gitmem import config
from gitmem.app import App
from gitmem.cli import options
from gitmem.cli.group import near_names
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


class SettingView(NamedTuple):
    """A setting as it is shown: `scope` is git's name of where the value is from, or DEFAULT."""

    group: str
    key: str
    value: Any
    default: Any
    meaning: str
    type: str
    scope: str

    @property
    def is_changed(self) -> bool:
        """Whether the value differs from the default."""
        return bool(self.value != self.default)


@click.command("config", short_help="Show and change settings")
@click.argument("key", required=False)
@click.argument("value", required=False)
@click.option("--global", "everywhere", is_flag=True, help="For all repositories of yours.")
@click.option("--unset", is_flag=True, help="Go back to the default.")
@options.json_option
@click.pass_obj
def config_command(
    term: Terminal, key: str | None, value: str | None, everywhere: bool, unset: bool, as_json: bool
) -> None:
    """Show all settings, show one, or set one.

    They are stored in git's configuration under 'gitmem.'. A star marks a value that is not the
    default; who set it stands behind it.

    \b
    Examples:
      git mem config
      git mem config captureThreshold 2
      git mem config --global sign true
    """
    name = _existing_key(key) if key is not None else None
    with term.open() as app:
        if name is None:
            _show_all(term, app, as_json)
        elif unset or value is not None:
            _change(app, name, None if unset else value, "--global" if everywhere else "--local")
            _show_new(term, app, name, as_json)
        else:
            _show_one(term, app, name, as_json)


def _existing_key(typed: str) -> str:
    """Return the key of a setting as it was typed; raise a usage error that names the nearest."""
    name = config.canonical_key(typed)
    if name is not None:
        return name
    by_lower = {key.lower(): key for key in config.SETTINGS}
    near = near_names(typed.lower().removeprefix("gitmem."), by_lower, 2)
    meant = f" Did you mean {' or '.join(by_lower[key] for key in near)}?" if near else ""
    raise click.UsageError(f"there is no setting '{plain(typed)}'.{meant} See all: git mem config")


def _show_all(term: Terminal, app: App, as_json: bool) -> None:
    rows = [_view(app, name) for name in config.SETTINGS]
    if as_json:
        term.json([row._asdict() for row in rows])
        return
    term.page(_lines(term, rows), app, wraps=True)
    for problem in app.settings.problems:
        term.note(f"warning: {problem}")
    for name in app.settings.refused:
        term.note("warning: {}\nhint: {}".format(*config.refusal(name)))


def _show_one(term: Terminal, app: App, name: str, as_json: bool) -> None:
    if name in app.settings.refused:
        term.note("warning: {}\nhint: {}".format(*config.refusal(name)))
    row = _view(app, name)
    if as_json:
        term.json(row._asdict())
        return
    for line in _setting_lines(term, row):
        term.say(line)
    term.say(f"      {config.allowed(name)}; the default is {_text(row.default)}")


def _show_new(term: Terminal, app: App, name: str, as_json: bool) -> None:
    row = _view(app, name)
    if as_json:
        term.json(row._asdict())
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


def _view(app: App, name: str) -> SettingView:
    """Return a setting; git is asked for the scope of one that is not the default."""
    group = next(title for title, settings in config.GROUPS.items() if name in settings)
    kind, default, meaning = config.SETTINGS[name]
    value = app.settings.get(name)
    is_set = value != default  # by a file, or by a copy that somebody else wrote
    scope = app.settings.scopes.get(f"gitmem.{name.lower()}", DEFAULT) if is_set else DEFAULT
    return SettingView(group, name, _shown(name, value), default, meaning, kind, scope)


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
    origin = f"  ({SCOPES.get(row.scope, row.scope)})" if row.scope != DEFAULT else ""
    for value in row.value if isinstance(row.value, tuple) and row.value else [row.value]:
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
