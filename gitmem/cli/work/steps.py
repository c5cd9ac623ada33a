"""Commands on the way through a story: phase, checkpoint, error, override."""

import json
import math
from collections.abc import Mapping
from typing import Any

import click

from gitmem.cli import options
from gitmem.cli.terminal import Terminal, plain
from gitmem.cli.work.group import (
    TABLE,
    changed_files,
    chosen,
    did,
    epic_option,
    executor_option,
    opened,
)
from gitmem.errors import UserError
from gitmem.records import epic as work
from gitmem.services.work import epics

ANSWERS = {"go": "go", "pause": "pause", "review": "review", "abort": "abort"}
# characters of an override's name and of its value, levels of one that is JSON
KEY, VALUE, NESTED = 100, 4000, 8

story_option = click.option(
    "--story", "-s", metavar="ID", help="Of this story; the current one without it."
)


class Phase(click.Choice[str]):
    """A phase; `quality-gate` is `quality_gate`."""

    def __init__(self) -> None:
        super().__init__(work.PHASES, case_sensitive=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the phase."""
        return str(super().convert(str(value).replace("-", "_"), param, ctx))


@click.command("phase", short_help=TABLE["phase"][2])
@click.argument("phase", required=False, type=Phase(), metavar="[PHASE]")
@click.option(
    "--result", "-r", metavar="TEXT", help="The result of the phase: passed, failed, a sentence."
)
@click.option(
    "--attempt",
    type=click.IntRange(1, 10_000),
    metavar="N",
    help="This is at least the N-th attempt at the story.",
)
@click.option(
    "--file",
    "files",
    multiple=True,
    metavar="PATH",
    help="A file that was changed; those that git sees are noted anyway.",
)
@story_option
@executor_option
@epic_option
@options.json_option
@click.pass_obj
def phase_command(
    term: Terminal,
    phase: str | None,
    result: str | None,
    attempt: int | None,
    files: tuple[str, ...],
    story: str | None,
    executor: str | None,
    epic: str | None,
    as_json: bool,
) -> None:
    """Enter a PHASE of a story; with --result, record its result.

    The phases are validation, development, self_healing, quality_gate, push and checkpoint.

    Each development and self_healing phase counts as another attempt. A closed epic must be resumed
    first: git mem work resume NAME --continue.

    \b
    Examples:
      git mem work phase development --executor dev
      git mem work phase quality_gate --result "3 tests fail"
    """
    if not (phase or result or attempt or files):
        raise click.UsageError(
            f"name a phase: {', '.join(work.PHASES)}; or give the result of the current phase: "
            f"--result"
        )
    with opened(term) as (app, desk):
        id = chosen(app, desk, epic)
        epics.insist(desk, id)
        args = {
            "phase": phase,
            "result": result,
            "attempt": attempt,
            "story": story,
            "executor": executor,
            "files": changed_files(app, desk, files),
        }
        verb = f"in {phase}" if phase else "noted"
        did(term, desk, id, epics.do(desk, id, "phase", args), verb, as_json=as_json)


@click.command("checkpoint", short_help=TABLE["checkpoint"][2])
@click.argument("note", required=False)
@click.option(
    "--answer",
    type=click.Choice(list(ANSWERS), case_sensitive=False),
    help="What was decided at the checkpoint.",
)
@story_option
@epic_option
@options.json_option
@click.pass_obj
def checkpoint_command(
    term: Terminal,
    note: str | None,
    answer: str | None,
    story: str | None,
    epic: str | None,
    as_json: bool,
) -> None:
    """Reach a checkpoint, where somebody decides how to go on. With --answer, record the decision.

    \b
    Examples:
      git mem work checkpoint "card payments work in the sandbox"
      git mem work checkpoint --answer go
    """
    with opened(term) as (app, desk):
        id = chosen(app, desk, epic)
        act = ANSWERS[answer.lower()] if answer else "checkpoint"
        current = epics.load(desk, id)
        if act != "abort" or current.facts["rest"] != work.ABORTED:  # aborted twice is aborted
            epics.insist(desk, id)
            if answer:
                epics.require_checkpoint(current)
        args = {"note": note, "story": story, "files": changed_files(app, desk)}
        verb = {
            "go": "going on",
            "pause": "paused",
            "review": "under review",
            "abort": "aborted",
        }.get(act, "checkpoint reached")
        did(term, desk, id, epics.do(desk, id, act, args), verb, as_json=as_json)


@click.command("error", short_help=TABLE["error"][2])
@click.argument("message")
@story_option
@executor_option
@epic_option
@options.json_option
@click.pass_obj
def error_command(
    term: Terminal,
    message: str,
    story: str | None,
    executor: str | None,
    epic: str | None,
    as_json: bool,
) -> None:
    """Record that something went wrong with a story. Errors of commands are counted automatically.

    \b
    Example:
      git mem work error "the payment sandbox is down"
    """
    if not message.strip():
        raise click.UsageError("say what went wrong.")
    with opened(term) as (app, desk):
        id = chosen(app, desk, epic)
        epics.insist(desk, id)
        args = {"note": message, "story": story, "executor": executor}
        did(term, desk, id, epics.do(desk, id, "error", args), "noted", as_json=as_json)


@click.command("override", short_help=TABLE["override"][2])
@click.argument("key", required=False)
@click.argument("value", required=False)
@click.option("--clear", is_flag=True, help="Clear KEY; all of them without it.")
@epic_option
@options.json_option
@click.pass_obj
def override_command(
    term: Terminal, key: str | None, value: str | None, clear: bool, epic: str | None, as_json: bool
) -> None:
    """Set what this epic does differently: KEY to VALUE, JSON or text.

    Without VALUE, show KEY; without KEY, show all.

    \b
    Examples:
      git mem work override educational_mode true
      git mem work override educational_mode --clear
    """
    if clear and value is not None:
        raise click.UsageError("--clear takes no value.")
    if key is not None and not (key.strip() and key.isprintable() and len(key) <= KEY):
        raise click.UsageError(f"a key is one line of 1 to {KEY} characters.")
    if value is not None and len(value) > VALUE:
        raise click.UsageError(f"a value has at most {VALUE:,} characters.")
    with opened(term) as (app, desk):
        id = chosen(app, desk, epic)
        overrides = work.overrides(epics.load(desk, id).record.fields.get("state"))
        if clear or value is not None:
            wanted = (
                dict.fromkeys([key] if key else overrides) if clear else {key: _value(str(value))}
            )
            did(
                term,
                desk,
                id,
                epics.do(desk, id, "override", {"set": wanted}),
                "cleared" if clear else "set",
                as_json=as_json,
                quiet_step=True,
            )
        else:
            _show_overrides(term, overrides, key, as_json)


def _show_overrides(
    term: Terminal, overrides: Mapping[str, Any], key: str | None, as_json: bool
) -> None:
    """Show the override of a key, or all of them; raises UserError for one that is not set."""
    if as_json:
        names = [name for name in overrides if key in {None, name}]
        term.json({"overrides": {name: overrides[name] for name in names}})
    elif key is None:
        for name, value in overrides.items():
            term.say(f"{plain(name)} = {plain(_text(value))}")
        if not overrides:
            term.note("no overrides are set.")
    elif key in overrides:
        term.say(plain(_text(overrides[key])))
    else:
        raise UserError(
            f"the override {key} is not set.", f"Set it: git mem work override {key} VALUE"
        )


def _value(text: str) -> Any:
    """Return the JSON value of a text, or the text itself if it is no JSON.

    Only JSON that every reader takes for the same value counts.
    """
    try:
        value = json.loads(text, parse_constant=_refuse, parse_float=_float, parse_int=_int)
        return value if _levels(value) <= NESTED else text
    except (ValueError, RecursionError):
        return text


def _refuse(text: str) -> Any:
    raise ValueError(text)


def _float(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _refuse(text)


def _int(text: str) -> int:
    number = int(text)
    return number if abs(number) <= work.MOST else _refuse(text)


def _levels(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(_levels, inner)) if inner else 0


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
