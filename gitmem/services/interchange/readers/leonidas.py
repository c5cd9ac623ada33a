"""Leonidas: a summary in five sections, and histories of sessions."""

import os
import re
from collections.abc import Iterator, Sequence

from gitmem.base.regular_files import read_regular
from gitmem.services.interchange.files import read_text
from gitmem.services.interchange.item import (
    ForeignFormat,
    ForeignItem,
    ForeignSource,
    Surroundings,
)
from gitmem.services.interchange.statements import statements, text_id
from gitmem.services.interchange.values import counted, headline

NAME = "leonidas"
SUMMARY = "summary.txt"
PLACES = (".leonidas", "leonidas/memory")
HEAD = 1 << 16  # bytes that name a section
SECTIONS = {
    "contexto_geral": "context",
    "decisoes_importantes": "decision",
    "tarefas_pendentes": "task",
    "preferencias_usuario": "preference",
    "contexto_tecnico": "insight",
}
# how a heading may be written: `PREFERÊNCIAS DO USUÁRIO` too
_ARTICLES = re.compile(r"_(?:do|da|de|dos|das)(?=_)")
_HISTORY = re.compile(r"history_\d{8}_\d{6}\.json")


def _places(here: Surroundings) -> Sequence[str]:
    return here.below_root(*PLACES)


def _file(path: str) -> str:
    return os.path.join(path, SUMMARY) if os.path.isdir(path) else path


def _fits(path: str) -> bool:
    head = read_regular(_file(path), HEAD).decode("utf-8", "replace")
    named = {_section(statement.heading) for statement in statements(head)}
    return os.path.basename(_file(path)) == SUMMARY and not named.isdisjoint(SECTIONS)


def _section(heading: str) -> str:
    return _ARTICLES.sub("", heading)


def _read(source: ForeignSource) -> Iterator[ForeignItem]:
    text = read_text(source, _file(source.path))
    for statement in statements(text or ""):
        section = _section(statement.heading)
        if section not in SECTIONS:
            title = headline(statement.text)[0]
            source.leave_out(title[:60], "it is in none of the five sections")
            continue
        title, rest = headline(statement.text)
        yield ForeignItem(
            NAME, f"{section} {text_id(statement.text)}", title, type=SECTIONS[section], body=rest
        )
    folder = os.path.dirname(_file(source.path))
    histories = [name for name in os.listdir(folder) if _HISTORY.fullmatch(name)]
    if histories:
        source.leave_out(counted(len(histories), "history"), "histories of sessions are no facts")


FORMAT = ForeignFormat(NAME, "Leonidas", _places, _fits, _read)
