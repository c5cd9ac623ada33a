"""Whether the code bears out what a fact's `verify` says. Reads files; executes nothing."""

import re
from typing import NamedTuple

from gitmem.codemap.grammars import TITLES, install_command
from gitmem.codemap.symbols.linear_regex import compiled
from gitmem.errors import UserError
from gitmem.redaction.mask import scrub
from gitmem.services.lifecycle.code_view import CodeView, place_of
from gitmem.services.lifecycle.settings_files import (
    MISSING,
    as_text,
    format_of,
    load_settings,
    value_at,
)
from gitmem.services.lifecycle.settings_files import is_equal as equals_text
from gitmem.services.lifecycle.verify_refusal import Refusal, check_refusal
from gitmem.services.lifecycle.verify_spec import Check
from gitmem.services.lifecycle.versions import allowed, go_together

HOLDS, FAILS, UNKNOWN = "holds", "fails", "cannot be checked"
REASON = 200  # characters of a reason in a message
SHOWN = 80  # characters of a value that a reason names


class Outcome(NamedTuple):
    """What a check came to: `state` is `holds`, `fails` or `cannot be checked`.

    `reason` is one line that says why it does not hold, with `path:line` as far as there is one.
    `hint` says what to write in place of what cannot be checked.
    """

    state: str
    reason: str = ""
    hint: str = ""


def outcome_refusal(outcome: Outcome) -> Refusal:
    """Return why a check is refused that a person gives, and that does not hold."""
    reason = outcome.reason if len(outcome.reason) <= REASON else outcome.reason[:REASON] + "…"
    why = "it fails now" if outcome.state == FAILS else outcome.state
    hint = outcome.hint or "Give a check that holds now. It is to say later when it no longer does."
    return Refusal(f"{why}: {reason}", hint)


def evaluate(check: Check, code: CodeView) -> Outcome:
    """Return what a check says of some code; what is no check cannot be checked."""
    refusal = check_refusal(check)
    if refusal:
        return _unknown(*refusal)
    if "path" in check:
        return Outcome(HOLDS) if code.has(check["path"]) else _absent(check["path"], code)
    if "dependency" in check:
        return _dependency(check["dependency"], check.get("version", ""), code)
    if "symbol" in check:
        return _symbol(check["symbol"], code)
    return _file(check, code)


def _outcome(holds: bool, reason: str) -> Outcome:
    return Outcome(HOLDS) if holds else _fails(reason)


def _fails(reason: str) -> Outcome:
    # a value of a settings file may be a secret
    return Outcome(FAILS, scrub(_line(reason)).text)


def _absent(path: str, code: CodeView) -> Outcome:
    """Return what it says that a path is not there."""
    reason, why = f"there is no {path}", code.absence(path)
    return _unknown(f"{reason}, but {why}") if why else _fails(reason)


def _unknown(reason: str, hint: str = "") -> Outcome:
    return Outcome(UNKNOWN, _line(reason), hint)


def _line(text: str) -> str:
    return " ".join(text.split())


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"


def _file(check: Check, code: CodeView) -> Outcome:
    path = check["file"]
    if not code.has(path):
        outcome = _absent(path, code)
        return _unknown(outcome.reason) if "absent" in check else outcome
    text = code.text(path)
    if text is None:
        return _unknown(f"{path} is no text that can be read")
    if "contains" in check:
        wanted = check["contains"]
        return _outcome(wanted in text, f"{path} does not have '{_cut(wanted)}'")
    if "key" in check:
        return _setting(path, text, check["key"], check["equals"])
    return _expression(check, path, text)


def _expression(check: Check, path: str, text: str) -> Outcome:
    pattern = check.get("matches") or check["absent"]
    try:
        compiled(pattern)  # its error says of the expression as it was given
        match = compiled(f"(?m){pattern}").search(text)
    except UserError as error:
        return _unknown(str(error).removesuffix("."), error.hint)
    if "matches" in check:
        return _outcome(match is not None, f"{path} has nothing like '{_cut(pattern)}'")
    line = text.count("\n", 0, match.start()) + 1 if match else 0
    return _outcome(match is None, f"{path}:{line} has '{_cut(match[0]) if match else ''}'")


def _setting(path: str, text: str, key: str, wanted: str) -> Outcome:
    if not format_of(path):
        return _unknown(
            f"{path} is no TOML, JSON, YAML or INI file by its name",
            "For another file: 'file=PATH contains=TEXT', or matches=REGEX",
        )
    settings = load_settings(path, text)
    if settings is None:
        return _unknown(f"{path} cannot be read as {format_of(path).upper()}")
    value = value_at(settings, key)
    if value is MISSING:
        return _fails(f"{path} has no {key}")
    where = place_of(path, text, key.rpartition(".")[2])
    return _outcome(
        equals_text(value, wanted), f"{where}: {key} is {_cut(as_text(value))}, not {_cut(wanted)}"
    )


def _dependency(name: str, version: str, code: CodeView) -> Outcome:
    if not code.manifests:
        return _unknown("there is no manifest that can be read")
    needs = code.needs_of(name)
    if not needs and code.unread_manifests:
        return _unknown(f"{min(code.unread_manifests)} cannot be read")
    if not needs:
        return _fails(f"no manifest has {name}")
    if not version:
        return Outcome(HOLDS)
    if allowed(version) is None:
        return _unknown(
            f"'{_cut(version)}' is no requirement such as '>=4.2,<5'",
            "Write the version as 4.2, or as a range such as '>=4.2,<5'.",
        )
    states = [
        go_together(version, need.version, need.manifest.declared.ecosystem) for need in needs
    ]
    if True in states:
        return Outcome(HOLDS)
    first = needs[states.index(False)] if False in states else needs[0]
    where = first.manifest.where(first.name)
    if False not in states:
        return _unknown(f"{where} names no version of {name}")
    return _fails(f"{where}: {name} is {_cut(first.version)}, not {version}")


_NAME = re.compile(r"[^\W\d]\w*(?:(?:\.|::|#)[^\W\d]\w*)*(?:\(\))?")


def _symbol(symbol: str, code: CodeView) -> Outcome:
    if not _NAME.fullmatch(symbol):
        return _unknown(
            f"'{_cut(symbol)}' is no name of a definition",
            "Write a name such as App, App.run or main; for a file: path=PATH",
        )
    if not code.has_definitions:
        return _unknown("its definitions were not read yet: git mem check --against code")
    if code.defines(symbol) is None and code.without_grammar:
        languages = set(code.without_grammar.values())
        names = ", ".join(sorted({TITLES[language] for language in languages}))
        return _unknown(
            f"{symbol} may be in a file that is not read: the grammar of {names} is not installed",
            f"Install it: {install_command(languages)}",
        )
    return _outcome(code.defines(symbol) is not None, f"nothing defines {symbol}")
