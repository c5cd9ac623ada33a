"""Paragraphs of the summary: those that are kept, and those that a model is asked for."""

from collections.abc import Iterator, Sequence

from gitmem.app import App
from gitmem.llm.provider import ModelFailed
from gitmem.services.views import summary
from gitmem.services.views.summary import SummarySection
from gitmem.state import paragraphs

ROWS = 20  # facts of a section that a paragraph is about


def kept(app: App, part: SummarySection, agents: Sequence[str]) -> str:
    """Return the paragraph that was written for a section as it is now; empty if none was."""
    model = app.model()
    if model is None or not part.rows:
        return ""
    from gitmem.services.lifecycle.paragraphs import digest

    return paragraphs.read(app.state, digest(part, agents, model.name)) or ""


def write_all(app: App) -> Iterator[str]:
    """Write the paragraphs that are missing; yield what became of it, in a few words."""
    model = app.model()
    if model is None:
        return
    from gitmem.services.lifecycle.paragraphs import digest, write

    rows = summary.facts(app.indexes(), (), app.clock.stamp())
    number = 0
    for part in summary.sections(rows, ROWS, app.scores().of):
        mark = digest(part, (), model.name)
        if paragraphs.read(app.state, mark) is not None:
            continue
        try:
            text = write(model, part, app.settings.get("allowSecret"))
        except ModelFailed as failure:
            yield f"{part.name}: {failure}"
            if failure.for_good:
                return
            continue
        paragraphs.keep(app.state, part.name, mark, text)
        number += bool(text)
    yield f"{number} paragraph(s) by {model.name}" if number else "the paragraphs are up to date"
