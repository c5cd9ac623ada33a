"""What a person answers to the findings of a check."""

from collections.abc import Sequence
from itertools import permutations
from typing import NamedTuple

import click

from gitmem.app import App
from gitmem.cli import options
from gitmem.cli.exports import remove_copies
from gitmem.cli.terminal import Terminal, short, title_shown
from gitmem.errors import GitmemError, UserError
from gitmem.repo.refs import head
from gitmem.services.lifecycle import decisions
from gitmem.services.lifecycle.decisions import Place
from gitmem.services.lifecycle.findings import Finding
from gitmem.services.records import write
from gitmem.text.echo import echo

CHOICES = ("newer", "older", "both", "drop", "verified")
VERIFIED = "verified"
DONE = {"newer": "superseded_ids", "older": "superseded_ids", "both": "settled_ids"}


class Answer(NamedTuple):
    """A choice, and the ids of one or both facts that it is about, as they were typed."""

    ids: tuple[str, ...]
    choice: str

    @property
    def text(self) -> str:
        """The answer as it is typed."""
        return echo(f"{','.join(self.ids)}={self.choice}")


class Plan(NamedTuple):
    """An answer with the full ids that it names, and the findings that it is about."""

    answer: Answer
    ids: tuple[str, ...]
    findings: list[Finding]

    @property
    def ended(self) -> set[str]:
        """The facts that the answer archives or forgets."""
        match self.answer.choice:
            case "newer":
                return {self.findings[0].ids[1]}
            case "older":
                return {self.findings[0].ids[0]}
            case "drop":
                return {self.ids[0]}
        return set()

    @property
    def touched(self) -> set[str]:
        """The facts that the findings are about."""
        return {id for finding in self.findings for id in finding.ids}


def parse_answers(given: Sequence[str]) -> list[Answer]:
    """Return the answers that options give. Raises click.UsageError."""
    out = []
    for text in given:
        names, _, choice = text.partition("=")
        ids = tuple(filter(None, names.split(",")))
        if choice not in CHOICES or not 1 <= len(ids) <= 2:
            raise click.UsageError(
                f"--resolve {echo(text)}: write ID=CHOICE, with one of {', '.join(CHOICES)}."
            )
        if choice == "drop" and len(ids) > 1:
            raise click.UsageError(f"--resolve {echo(text)}: name the fact that is to be dropped.")
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

    All are looked at before the first is written. Raises click.UsageError for two answers to one
    finding, UserError for what cannot be answered so.
    """
    write.require_person(app.writer(), "decide between", command=decisions.COMMAND)
    plans = [_plan(app, findings, answer) for answer in given]
    _require_single_answer(plans)
    _require_no_end(plans)
    keys = ("superseded_ids", "settled_ids", "verified_ids", "forgotten_ids")
    done: dict[str, list[str]] = {key: [] for key in keys}
    for number, plan in enumerate(plans):
        app.begin_command()
        try:
            key, ids = _apply(term, app, plan, quiet=quiet)
        except GitmemError as error:
            _say_what_was_written(error, number)
            raise
        done[key] += ids
    return done


def _require_single_answer(plans: Sequence[Plan]) -> None:
    """Raise click.UsageError where two answers are about one finding."""
    answers: dict[Finding, Answer] = {}
    for plan in plans:
        for finding in plan.findings:
            first = answers.setdefault(finding, plan.answer)
            if first is not plan.answer:
                raise click.UsageError(
                    f"--resolve {first.text} and --resolve {plan.answer.text} answer the same "
                    "finding: leave one out. Nothing was changed."
                )


def _require_no_end(plans: Sequence[Plan]) -> None:
    """Raise UserError where one answer archives or forgets a fact that another is about."""
    for plan, other in permutations(plans, 2):
        for id in sorted(plan.ended & other.touched):
            raise UserError(
                f"--resolve {plan.answer.text} puts {short(id)} aside, and --resolve "
                f"{other.answer.text} is about it too. Nothing was changed.",
                "Give one of these answers, then see what is left: git mem check",
            )


def _apply(term: Terminal, app: App, plan: Plan, *, quiet: bool) -> tuple[str, list[str]]:
    """Write one answer; return what became of which ids."""
    choice = plan.answer.choice
    if choice == "drop":
        drop(term, app, plan.ids[0], quiet=quiet)
        return "forgotten_ids", [plan.ids[0]]
    if choice == VERIFIED:
        verify(term, app, plan.findings, quiet=quiet)
        return "verified_ids", [plan.ids[0]]
    return DONE[choice], decide(term, app, plan.findings[0], choice, quiet=quiet)


def _say_what_was_written(error: GitmemError, answers: int) -> None:
    """Add to an error how many answers were written before it."""
    if answers:
        written = "1 answer was" if answers == 1 else f"{answers} answers were"
        error.hint = f"{error.hint} {written} written: git mem undo takes back the last.".strip()


def _plan(app: App, findings: Sequence[Finding], answer: Answer) -> Plan:
    """Return what an answer is about. Raises UserError where that is nothing, or not clear."""
    ids = tuple(app.find(id) for id in answer.ids)
    return Plan(answer, ids, _findings_of(findings, answer, set(ids)))


def _findings_of(findings: Sequence[Finding], answer: Answer, ids: set[str]) -> list[Finding]:
    """Return the findings that an answer is about: one of a pair, all of a fact that is verified.

    Raises UserError.
    """
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
        f"'{answer.choice}' needs two facts, but the code contradicts {answer.ids[0]}.",
        f"If the fact holds: --resolve ID={VERIFIED}. If not: --resolve ID=drop, or git mem edit "
        f"ID",
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
