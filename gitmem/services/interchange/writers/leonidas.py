"""Leonidas: a summary in five sections."""

from collections.abc import Mapping, Sequence

from gitmem.records.kinds import LIVE
from gitmem.records.record import Record
from gitmem.services.interchange.exporting import ExportedFact, ForeignWriter, group_of

NAME = "leonidas"
SECTIONS = {
    "contexto_geral": ("context", "fact"),
    "decisoes_importantes": ("decision", "rule"),
    "tarefas_pendentes": ("task",),
    "preferencias_usuario": ("preference",),
    "contexto_tecnico": ("pattern", "bug", "insight", "gotcha"),
}


def takes(record: Record) -> bool:
    """Return whether the summary has a place for a fact: it shows what holds."""
    return record.status in LIVE


def files(facts: Sequence[ExportedFact]) -> Mapping[str, str]:
    """Return the summary."""
    lines = []
    for section, groups in SECTIONS.items():
        lines.append(f"## {section}")
        lines += [f"- {_line(fact.record)}" for fact in facts if group_of(fact.record) in groups]
        lines.append("")
    return {"summary.txt": "\n".join(lines)}


def _line(record: Record) -> str:
    workaround = " ".join(str(record.fields.get("workaround") or "").split())
    return f"{record.title} ({workaround})" if workaround else record.title


WRITER = ForeignWriter(NAME, is_folder=True, files=files, takes=takes)
