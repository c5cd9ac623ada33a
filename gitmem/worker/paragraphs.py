"""Paragraphs of the summary: those that are kept, and those that a model is asked for."""

from collections.abc import Iterator

from gitmem.app import App
from gitmem.llm.provider import ModelFailed
from gitmem.services.views import summary
from gitmem.services.views.summary import SummarySection
from gitmem.state import paragraphs
from gitmem.text.plural import counted

ROWS = 20  # facts of a section that a paragraph is about


def kept(app: App, part: SummarySection) -> str:
    """Return the paragraph that was written for a section as it is now; empty if none was."""
    model = app.model()
    if model is None or not part.rows:
        return ""
    from gitmem.services.lifecycle.paragraphs import digest

    return paragraphs.read(app.state, digest(part, model.name)) or ""


def write_all(app: App) -> Iterator[str]:
    """Write the paragraphs that are missing; yield what became of it, in a few words."""
    model = app.model()
    if model is None:
        return
    from gitmem.services.lifecycle.paragraphs import digest, write

    marks: set[str] = set()
    number = 0
    for part in _sections(app):
        mark = digest(part, model.name)
        if mark in marks:
            continue
        marks.add(mark)
        if paragraphs.read(app.state, mark) is not None:
            continue
        try:
            text = write(model, part, app.settings.get("allowSecret"))
        except ModelFailed as failure:
            yield f"{part.name}: {failure}"
            if failure.for_good:
                return
            continue
        paragraphs.keep(app.state, mark, text)
        number += bool(text)
    paragraphs.drop_others(app.state, marks)
    yield (
        f"{counted(number, 'paragraph')} by {model.name}"
        if number
        else "the paragraphs are up to date"
    )


def _sections(app: App) -> Iterator[SummarySection]:
    """Yield the sections that a person sees, and those that agents see."""
    from gitmem.services.lifecycle.paragraphs import readers

    at, score_of = app.clock.stamp(), app.scores().of
    rows = summary.facts(app.indexes(), (), at)
    yield from summary.sections(rows, ROWS, score_of)
    for agents in readers(rows):
        seen = summary.facts(app.indexes(), agents, at)
        yield from summary.sections(seen, ROWS, score_of)
