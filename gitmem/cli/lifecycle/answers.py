"""What a person answers to the findings of a check."""

from collections.abc import Sequence
from typing import NamedTuple

import click

from gitmem.app import App
from gitmem.cli import options
from gitmem.cli.exports import remove_copies
from gitmem.cli.terminal import Terminal, short, title_shown
from gitmem.errors import UserError
from gitmem.repo.refs import head
from gitmem.services.lifecycle import decisions
from gitmem.services.lifecycle.decisions import Place
from gitmem.services.lifecycle.findings import Finding
from gitmem.services.records import write

CHOICES = ("newer", "older", "both", "drop", "verified")
VERIFIED = "verified"
DONE = {"newer": "superseded_ids", "older": "superseded_ids", "both": "settled_ids"}


class Answer(NamedTuple):
    """A choice, and the ids of one or both facts that it is about, as they were typed."""

    ids: tuple[str, ...]
    choice: str


def parse_answers(given: Sequence[str]) -> list[Answer]:
    """Return the answers that options give. Raises click.UsageError."""
    out = []
    for text in given:
        names, _, choice = text.partition("=")
        ids = tuple(filter(None, names.split(",")))
        if choice not in CHOICES or not 1 <= len(ids) <= 2:
            raise click.UsageError(
                f"--resolve '{text}': write ID=CHOICE, with one of {', '.join(CHOICES)}."
            )
        out.append(Answer(ids, choice))
    return out


def resolve(
    term: Terminal,
    app: App,
    findings: Sequence[Finding],
    given: Sequence[Answer],
    *,
    quiet: bool,
) -> dict[str, list[str]]:
    """Write answers, each as a command of its own; return the ids by what became of them.

    All are looked at before the first is written. Raises UserError.
    """
    write.require_person(app.writer(), "decide between", command=decisions.COMMAND)
    plans = [(answer, _findings_of(app, findings, answer)) for answer in given]
    keys = ("superseded_ids", "settled_ids", "verified_ids", "forgotten_ids")
    done: dict[str, list[str]] = {key: [] for key in keys}
    for answer, named in plans:
        app.begin_command()
        if answer.choice == "drop":
            id = app.find(answer.ids[0])
            drop(term, app, id, quiet=quiet)
            done["forgotten_ids"].append(id)
        elif answer.choice == VERIFIED:
            verify(term, app, named, quiet=quiet)
            done["verified_ids"].append(named[0].ids[0])
        else:
            done[DONE[answer.choice]] += decide(term, app, named[0], answer.choice, quiet=quiet)
    return done


def _findings_of(app: App, findings: Sequence[Finding], answer: Answer) -> list[Finding]:
    """Return the findings that an answer is about: one of a pair, all of a fact that is verified.

    Raises UserError.
    """
    ids = {app.find(id) for id in answer.ids}
    named = [finding for finding in findings if ids <= set(finding.ids)]
    if not named:
        raise UserError(
            f"nothing was found about {' and '.join(answer.ids)}.", "See: git mem check"
        )
    if answer.choice == "drop":
        return named
    named = _fitting(named, answer)
    if len(named) > 1 and answer.choice != VERIFIED:
        others = {id for finding in named for id in finding.ids} - ids
        pairs = ", ".join(f"{answer.ids[0]},{short(id)}" for id in sorted(others))
        raise UserError(
            f"{answer.ids[0]} contradicts {len(named)} facts.",
            f"Name both: --resolve ID,ID={answer.choice}, with {pairs}",
        )
    return named


def _fitting(named: Sequence[Finding], answer: Answer) -> list[Finding]:
    """Return the findings that a choice can answer. Raises UserError where there is none."""
    size = 1 if answer.choice == VERIFIED else 2
    fitting = [finding for finding in named if len(finding.ids) == size]
    if fitting:
        return fitting
    if answer.choice == VERIFIED:
        raise UserError(
            f"{answer.ids[0]} contradicts another fact, which 'verified' does not settle.",
            "Say which holds: newer, older, both or drop.",
        )
    raise UserError(
        f"'{answer.choice}' is for two facts; it is the code that speaks against {answer.ids[0]}.",
        f"It holds: --resolve ID={VERIFIED}. It does not: --resolve ID=drop, or git mem edit ID",
    )


def verify(term: Terminal, app: App, findings: Sequence[Finding], *, quiet: bool = False) -> None:
    """Confirm a fact that the code speaks against."""
    id = findings[0].ids[0]
    place = _place(app, id)
    change = decisions.verify(app.writer(), place, findings, head(app.location) or "")
    if not quiet:
        term.say(
            f"verified: {short(id)} {title_shown(place[2].title)}"
            f"{options.journaled(change.written)}"
        )
        term.note("to take this back: git mem undo")


def decide(
    term: Terminal, app: App, finding: Finding, choice: str, *, quiet: bool = False
) -> list[str]:
    """Have one of two facts take the other's place, or keep both; return the ids that changed."""
    newer, older = (_place(app, id) for id in finding.ids)
    if choice == "both":
        decisions.keep_both(app.writer(), newer, older)
        if not quiet:
            names = " and ".join(short(id) for id in finding.ids)
            term.say(f"settled: {names} both hold.")
        return list(finding.ids)
    old, new = (older, newer) if choice == "newer" else (newer, older)
    change = decisions.replace(app.writer(), old, new)
    if not quiet:
        term.say(
            f"{short(old[2].id)} is superseded by {short(new[2].id)} "
            f"{title_shown(new[2].title)}{options.journaled(change.written)}"
        )
        term.note("to take this back: git mem undo")
    return [old[2].id]


def drop(term: Terminal, app: App, id: str, *, quiet: bool = False) -> None:
    """Forget a fact."""
    scope, store, record = _place(app, id)
    written = write.forget(store, app.writer(), [record], "a check spoke against it")
    if not quiet:
        where = f" in your {scope} store" if scope != "shared" else ""
        term.say(
            f"forgot {short(id)} {title_shown(record.title)}{where}{options.journaled(written)}"
        )
        term.note("to take this back: git mem undo")
    remove_copies(term, app, [record])


def _place(app: App, id: str) -> Place:
    scope, stored = app.get(id)
    return scope, app.store(scope), stored.record
