"""Which model the settings and the environment ask for, and what is missing.

Light: what it chooses is imported when it is chosen.
"""

from collections.abc import Mapping
from shutil import which
from typing import NamedTuple
from urllib.parse import urlsplit

from gitmem.base.extras import GEMINI, install_command, is_installed
from gitmem.config import Settings
from gitmem.llm.provider import MODEL_BUDGET, Model, ModelFailed, Unready

TIMEOUT = 120.0  # seconds for one answer of a model, with all tries
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}


class Provider(NamedTuple):
    """The model provider that was chosen.

    The fields `missing` and `hint` say why it cannot be asked, and `remarks` what should be known.
    No secret is in any of them.
    """

    # offline, gemini, command; claude, codex, or gemini without a key: an agent's own CLI
    kind: str
    model: str = ""
    key_from: str = ""
    server: str = ""  # where it is not Google's; the program
    missing: str = ""
    hint: str = ""
    remarks: tuple[str, ...] = ()


def key_of(env: Mapping[str, str]) -> tuple[str, str]:
    """Return (key, where it is from) for Gemini; empty when there is none."""
    for name, value in (
        ("GEMINI_API_KEY", env.get("GEMINI_API_KEY")),
        ("GOOGLE_API_KEY", env.get("GOOGLE_API_KEY")),
    ):
        if value and value.strip():
            return value.strip(), name
    return "", ""


def url_of(env: Mapping[str, str]) -> str:
    """Return the base URL of Gemini's server; '' is Google's."""
    return (env.get("GITMEM_GEMINI_URL") or env.get("GOOGLE_GEMINI_BASE_URL") or "").strip()


def command_of(settings: Settings, env: Mapping[str, str]) -> str:
    """Return the command line of the program that is asked."""
    return str(env.get("GITMEM_MODEL_COMMAND") or settings.get("modelCommand")).strip()


def describe(settings: Settings, env: Mapping[str, str]) -> Provider:
    """Return what would be asked, without asking it, and without importing what would ask it."""
    kind = settings.get("summariser")
    if kind == "command":
        return _command(settings, env)
    if kind in ("claude", "codex"):
        return _cli(kind, env)
    if kind != "gemini":
        return Provider("offline")
    if not key_of(env)[0] and which("gemini", path=env.get("PATH")):
        return _cli(kind, env)
    return _gemini(settings, env)


def _command(settings: Settings, env: Mapping[str, str]) -> Provider:
    """Return a program of the user's as what is asked."""
    command = command_of(settings, env)
    if not command:
        refused = "; this repository's own is ignored" if "modelCommand" in settings.refused else ""
        return Provider(
            "command",
            missing=f"summariser is 'command', and gitmem.modelCommand is empty{refused}.",
            hint="Set it for yourself: git mem config --global modelCommand 'PROGRAM ARGUMENTS'",
        )
    from gitmem.llm.command import words

    try:
        program = words(command, env.get("HOME") or "/")[0]
    except ModelFailed as error:
        return Provider("command", missing=str(error), hint=error.hint)
    return Provider("command", model=command, server=program)


def _gemini(settings: Settings, env: Mapping[str, str]) -> Provider:
    """Return Gemini's server as what is asked."""
    from gitmem.llm.gemini import NAME, usable

    wanted = settings.get("geminiModel")
    key, key_from = key_of(env)
    url = url_of(env)
    model, remark = usable(wanted)
    server, wrong, plain = _server(url)
    row = Provider("gemini", model, key_from, server, remarks=tuple(filter(None, (remark, plain))))
    if not NAME.fullmatch(wanted):
        return row._replace(
            model="",
            missing=f"gitmem.geminiModel is '{wanted[:80]}', which is not a name of a model.",
            hint="Set it: git mem config geminiModel NAME",
        )
    if wrong:
        return row._replace(missing=wrong, hint="Set it: export GITMEM_GEMINI_URL=https://HOST")
    if not key:
        hint = (
            "Get one, and put it into the environment: export GEMINI_API_KEY=…; or go back: git "
            "mem config --global summariser offline"
        )
        return row._replace(missing="summariser is 'gemini', and there is no key.", hint=hint)
    if not is_installed(GEMINI):
        return row._replace(
            missing="google-genai, which asks Gemini, is not installed.",
            hint=f"Install it: {install_command(GEMINI)}",
        )
    if not (key.isascii() and key.isprintable() and " " not in key):
        return row._replace(
            missing=f"the key of {key_from} holds characters that no key has.",
            hint="Copy it again, on one line.",
        )
    return row


def _cli(kind: str, env: Mapping[str, str]) -> Provider:
    """Return an agent's CLI as what is asked."""
    if not which(kind, path=env.get("PATH")):
        return Provider(
            kind,
            missing=f"summariser is '{kind}', and there is no program '{kind}' on the PATH.",
            hint="Install it, or read sessions offline again: git mem config --global summariser "
            "offline",
        )
    return Provider(
        kind,
        model=kind,
        server=kind,
        remarks=(
            (
                f"{kind} reads each session that ends, on your account there: at most "
                f"{MODEL_BUDGET:,} tokens a session."
            ),
        ),
    )


def choose(settings: Settings, env: Mapping[str, str]) -> Model | None:
    """Return the model to ask, None when the summariser is 'offline'.

    What is missing is said by the model's every answer.
    """
    row = describe(settings, env)
    if row.kind == "offline":
        return None
    if row.missing:
        return Unready(
            f"gemini:{row.model}" if row.kind == "gemini" else row.kind, row.missing, row.hint
        )
    if row.kind == "command" or row.server == row.kind:
        from gitmem.llm.command import CommandModel

        preset = "" if row.kind == "command" else row.kind
        return CommandModel(row.model, TIMEOUT, env, settings.get("allowSecret"), preset)
    from gitmem.llm.gemini import GenaiModel

    key, url = key_of(env)[0], url_of(env)
    return GenaiModel(
        settings.get("geminiModel"), key, url, TIMEOUT, allow=settings.get("allowSecret")
    )


def _server(url: str) -> tuple[str, str, str]:
    """Return (server for people, what is wrong with the URL, what should be known of it)."""
    if not url:
        return "", "", ""
    try:
        parts = urlsplit(url)
        name = f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname or "")
    except ValueError:
        name = ""
    if not name or parts.scheme not in {"http", "https"}:
        return "", "the base URL of Gemini's server is not an http or https URL.", ""
    open_air = parts.scheme == "http" and parts.hostname not in _LOOPBACK
    return (
        name,
        "",
        f"{name} is reached by plain http: the key and the text can be read on the way."
        if open_air
        else "",
    )
