"""BRIEFING.md: the briefing without what is no fact, such as the branch and changed files."""

from gitmem.services.briefing import layout
from gitmem.services.briefing.collect import BriefingEntry, BriefingFacts
from gitmem.services.briefing.layout import LINES, Clean, ProjectState
from gitmem.services.pages.markdown import escape
from gitmem.services.pages.page_fact import header, is_shown


def briefing_page(facts: BriefingFacts, project: str, clean: Clean, *, private: bool) -> str:
    """Return the page of what is known and may be shown; `project` is its name."""
    shown = _shown(facts, private=private)
    entries = [entry for entries in shown.by.values() for entry in entries]
    day = max((_changed(entry) for entry in entries), default="")

    def escaped(value: object, most: int) -> str:
        return escape(clean(value, most))

    place = ProjectState(name=escaped(project, 100), day=day)
    parts = layout.sections(shown, place, escaped)
    head = [*header("briefing"), *layout.head(place)]
    made = layout.fit(head, parts, LINES, lambda _: 1)
    return "\n".join(made.lines) + "\n"


def _changed(entry: BriefingEntry) -> str:
    return str((entry.row or {}).get("updated") or entry.at)[:10]


def _shown(facts: BriefingFacts, *, private: bool) -> BriefingFacts:
    """Return what a page may show, without what private records of sessions say."""
    by: dict[str, list[BriefingEntry]] = {}
    for subject, entries in facts.by.items():
        by[subject] = [
            entry for entry in entries if entry.row and is_shown(entry.row, private=private)
        ]
        if not private:
            for entry in by[subject]:
                entry.said = ""
    return BriefingFacts(by, {}, None)
