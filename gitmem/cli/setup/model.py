"""The command that asks the configured model one small question."""

import time
from typing import Any

import click

from gitmem.base import documents
from gitmem.cli import options
from gitmem.cli.group import Parts
from gitmem.cli.terminal import Terminal, plain
from gitmem.llm.provider import ModelFailed
from gitmem.llm.select import describe

QUESTION = "Answer with the word that stands in the text, in the field `word`."
SCHEMA = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}

_NOT_ASKED: dict[str, Any] = {
    "model": None,
    "server": None,
    "key_source": None,
    "remarks": [],
    "duration_seconds": None,
    "tokens": None,
    "failure": None,
}


@click.group(
    "model",
    cls=Parts,
    table={"check": ("setup.model", "model_check", "Ask it one small question")},
    short_help="Ask the model that reads sessions, as a test",
)
def model_command() -> None:
    """Try the model that `gitmem.summariser` names.

    Without one, sessions are read offline, and nothing is sent.

    \b
    Examples:
      git mem model check
      git mem config --global summariser gemini && git mem model check --json
    """


@click.command("check", short_help="Ask it one small question")
@options.json_option
@click.pass_obj
def model_check(term: Terminal, as_json: bool) -> int:
    """Ask one small question that contains no data of yours.

    Shows which model answered, how fast, and for how many tokens. Exits 1 when it did not answer.
    When no model is set, nothing is asked.

    \b
    Examples:
      git mem model check
      git -c gitmem.summariser=command -c gitmem.modelCommand='llm -m local' mem model check
    """
    with term.open_any() as app:
        row = describe(app.settings, app.env)
        model = app.model()
    if model is None:
        out = {**_NOT_ASKED, "summariser": "offline", "ok": True}
        text = (
            "summariser is 'offline': no model is asked. To ask one: git mem config --global "
            f"summariser claude (or gemini, codex, command); see {documents.page('models.md')}"
        )
        term.json(out) if as_json else term.say(text)
        return 0
    out = {
        **_NOT_ASKED,
        "summariser": row.kind,
        "model": model.name,
        "ok": True,
        "server": row.server or None,
        "key_source": row.key_from or None,
        "remarks": list(row.remarks),
    }
    begun = time.monotonic()
    try:
        model.ask(QUESTION, "The word is: ready", SCHEMA)
    except ModelFailed as failure:
        if not as_json:
            raise
        seconds = round(time.monotonic() - begun, 3)
        term.json(
            out
            | {
                "ok": False,
                "duration_seconds": seconds,
                "failure": {
                    "code": failure.kind,
                    "message": str(failure),
                    "hint": failure.hint,
                },
            }
        )
        return failure.exit_code
    out["duration_seconds"] = round(time.monotonic() - begun, 3)
    out["tokens"] = getattr(model, "tokens", 0)
    if as_json:
        term.json(out)
        return 0
    term.say(
        plain(
            f"{model.name} answered in {out['duration_seconds']:.1f} s, for {out['tokens']} tokens."
        )
    )
    for remark in row.remarks:
        term.note(remark)
    return 0
