"""Make the pages of a repository from its stores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gitmem.agents.prompt_text import clean
from gitmem.app import App
from gitmem.clock import seconds, stamp
from gitmem.errors import GitmemError
from gitmem.index.filters import FIELDS
from gitmem.records.kinds import FACTS, LIVE
from gitmem.repo.refs import PRIVATE, SHARED
from gitmem.services.briefing import collect
from gitmem.services.lifecycle.findings import Finding
from gitmem.services.lifecycle.score import FactScores
from gitmem.services.pages.briefing import briefing_page
from gitmem.services.pages.compound import Analysed
from gitmem.services.pages.compound_files import SUMMARY, compound_files
from gitmem.services.pages.gotchas import gotchas_page
from gitmem.services.pages.page_fact import PageFact, is_proposed, is_shown
from gitmem.store.rejected import marks
from gitmem.worker import facts, interchange

BRIEFED = 1000  # facts of a subject that a briefing chooses from


@dataclass(frozen=True, slots=True)
class Page:
    """A page: its files by name ("" for one file), and how many facts it is from.

    `left_out` counts live facts that are private or unconfirmed, and were not asked for.
    """

    files: Mapping[str, bytes]
    facts: int
    left_out: int

    @property
    def text(self) -> str:
        """The page as it is printed; of a folder its summary."""
        return self.files["" if "" in self.files else SUMMARY].decode()


def make_page(app: App, name: str, *, private: bool) -> Page:
    """Return a page as it is now."""
    # first: what the code refutes is marked in the rows
    findings = _findings(app) if name == "compound" else []
    rows = _live_rows(app)
    shown = [row for row in rows if is_shown(row, private=private)]
    if name == "briefing":
        texts = {"": _briefing(app, private=private)}
    elif name == "gotchas":
        rows = [row for row in rows if row["kind"] == "gotcha"]
        shown = [row for row in shown if row["kind"] == "gotcha"]
        texts = {"": gotchas_page(_facts(app, shown))}
    else:
        texts = _compound(app, shown, findings, private=private)
    files = {inner: text.encode("utf-8", "replace") for inner, text in texts.items()}
    return Page(files, len(shown), len(rows) - len(shown))


def _live_rows(app: App) -> list[dict[str, Any]]:
    """Return the rows of the facts that hold, of the shared and the private store."""
    return app.rows(
        scopes=("shared", "private"),
        kinds=tuple(FACTS),
        statuses=LIVE,
        valid_at=app.clock.stamp(),
        fields=FIELDS,
    )


def _facts(app: App, rows: Sequence[dict[str, Any]]) -> list[PageFact]:
    """Return rows with their records; a mark names no fact that is not among them."""
    ids = {row["id"] for row in rows}
    records = interchange.load_records(app, rows)
    out = []
    for row in app.contradicting().marked(rows):
        if row["id"] in records:
            row["contradicts"] = [id for id in row["contradicts"] if id in ids]
            out.append(PageFact(row, records[row["id"]][1]))
    return out


def _briefing(app: App, *, private: bool) -> str:
    """Return BRIEFING.md; only what is in the stores counts, so no read that is in no commit."""
    indexes = [index for prefix, index in app.indexes() if prefix != "user"]
    midnight = seconds(f"{app.clock.stamp()[:10]}T00:00:00Z")
    scores = FactScores(indexes, list, midnight)
    briefing = collect.gather(
        indexes,
        (),
        stamp(midnight - collect.DAYS * 86400)[:10],
        unsure=private,
        most=BRIEFED,
        own=app.own_addresses,
        now=app.clock.stamp(),
        first=collect.FactOrder(scores.of, list),
        stores=() if private else ("shared",),
    )
    return briefing_page(briefing, app.project, clean, private=private)


def _compound(
    app: App, shown: Sequence[dict[str, Any]], findings: Sequence[Finding], *, private: bool
) -> dict[str, str]:
    refs = {"shared": SHARED, "private": PRIVATE} if private else {"shared": SHARED}
    rows = app.rows(
        scopes=tuple(refs), kinds=tuple(FACTS), fields=("agent", "origin", "unconfirmed")
    )
    tombstones = {str(mark["id"]) for ref in refs.values() for mark in marks(app.objects, ref)}
    analysed = Analysed(
        _facts(app, shown),
        [row for row in rows if is_proposed(row)],
        len(tombstones),
        findings,
    )
    tips = {scope: app.objects.tip(ref) or "" for scope, ref in refs.items()}
    return compound_files(analysed, tips)


def _findings(app: App) -> list[Finding]:
    """Return what speaks against facts; no model is asked."""
    from gitmem.worker import code_check  # reads code: no other page needs it

    findings = facts.likely_contradictions(app)
    try:
        return findings + code_check.check_changed(app)
    except GitmemError:
        return findings  # without code, nothing of it speaks against a fact
