"""`git mem check`: facts that contradict each other, or that the code refutes."""

import sys
from collections.abc import Callable, Mapping, Sequence

import click

from gitmem.app import App
from gitmem.cli import options
from gitmem.cli.lifecycle.answers import Answer, parse_answers, resolve
from gitmem.cli.lifecycle.card import Rows, finding_json, finding_lines, proposal, rows_of
from gitmem.cli.lifecycle.review import LookAgain, review
from gitmem.cli.terminal import Terminal
from gitmem.errors import UserError
from gitmem.services.lifecycle.findings import Finding
from gitmem.worker import facts

Ids = Sequence[str] | None  # None is all


def _against_facts(app: App, ids: Ids) -> list[Finding]:
    return facts.open_contradictions(app, ids, app.progress)


def _against_code(app: App, ids: Ids) -> list[Finding]:
    from gitmem.worker.code_check import check  # reads code: the other check needs none of it

    return check(app, ids)


# what facts are checked against
CHECKS: Mapping[str, Callable[[App, Ids], list[Finding]]] = {
    "facts": _against_facts,
    "code": _against_code,
}
PAIRS = "newer, older, both, drop"
ALONE = "verified, drop, or git mem edit ID"


@click.command("check", short_help="Find facts that are out of date")
@click.argument("ids", nargs=-1, metavar="[ID...]")
@click.option(
    "--against",
    type=click.Choice([*CHECKS, "all"]),
    default="all",
    show_default=True,
    help="What the facts are checked against.",
)
@click.option(
    "--resolve",
    "answers",
    multiple=True,
    metavar="ID=CHOICE",
    help="Answer a finding: newer, older, both, verified or drop. May be repeated.",
)
@click.option("--fail", "fails", is_flag=True, help="Exit with 1 if there are findings.")
@options.json_option
@click.pass_obj
def check_command(
    term: Terminal,
    ids: tuple[str, ...],
    against: str,
    answers: tuple[str, ...],
    fails: bool,
    as_json: bool,
) -> None:
    """Find facts that are out of date: all that hold, or those that ID names.

    Two facts that say something else of the same thing are shown, the newer one first. So are facts
    that the code refutes: their own check fails (git mem add --verify), their code is gone, or they
    name a file, a dependency, a version, a script, a definition or a setting that the code had
    and has no more. Each comes with a proposal. On a terminal you answer with one key. In a script,
    use --resolve; where a fact contradicts several, name both: ID,ID=CHOICE.

    \b
    newer     the newer fact takes the other's place
    older     the older fact takes the other's place
    both      both hold; they are not asked about until the words of one change
    verified  ID holds, whatever the code says; until its words or this code change
    drop      ID is forgotten

    \b
    Examples:
      git mem check
      git mem check 7k2m9qxa --json
      git mem check --against code
      git mem check --resolve 7k2m9qxa=newer
      git mem check --fail
    """
    given = parse_answers(answers)
    with term.open() as app:
        asked = [app.get(id)[1].record.id for id in ids] or None
        if given:
            _answer(term, app, given, asked, against, as_json)
            return
        findings = _findings(app, asked, against)
        rows = rows_of(app, findings)
        if as_json:
            term.json([finding_json(finding, rows) for finding in findings])
        else:
            _show(term, app, findings, rows, lambda some: _findings(app, some, against))
            _say_what_is_left(term, app, against)
        if fails and findings:
            many = "1 finding is" if len(findings) == 1 else f"{len(findings)} findings are"
            raise UserError(f"{many} open.", "Answer with: git mem check")


def _findings(app: App, ids: Ids, against: str) -> list[Finding]:
    checks = CHECKS.values() if against == "all" else [CHECKS[against]]
    return [finding for check in checks for finding in check(app, ids)]


def _answer(
    term: Terminal, app: App, given: Sequence[Answer], asked: Ids, against: str, as_json: bool
) -> None:
    ids = asked or [app.find(id) for answer in given for id in answer.ids]
    done = resolve(term, app, _findings(app, ids, against), given, quiet=as_json)
    if done["verified_ids"]:
        from gitmem.worker.code_check import keep

        keep(app, done["verified_ids"])
    if as_json:
        term.json(done)


def _say_what_is_left(term: Terminal, app: App, against: str) -> None:
    """Say of how many anchors there was no time to look for the code."""
    if against == "facts" or not app.root:
        return
    from gitmem.worker.code_check import unsearched

    if number := unsearched(app):
        places = "1 anchor was" if number == 1 else f"{number:,} anchors were"
        term.note(
            f"{places} not checked, because time ran out. To check the anchors of a "
            f"fact: git mem check ID"
        )


def _show(
    term: Terminal, app: App, findings: Sequence[Finding], rows: Rows, look_again: LookAgain
) -> None:
    """Ask about each finding on a terminal; else print all."""
    if not findings:
        term.note("no contradictions.")
        return
    if sys.stdin.isatty() and sys.stdout.isatty() and app.writer().is_person:
        review(term, app, findings, rows, look_again)
        return
    for number, finding in enumerate(findings):
        if number:
            term.say("")
        for text in finding_lines(term, app, finding, rows):
            term.say(text)
        term.say(f"  proposed: {proposal(finding)}")
    pairs = [PAIRS] if any(len(finding.ids) > 1 for finding in findings) else []
    alone = [ALONE] if any(len(finding.ids) == 1 for finding in findings) else []
    term.note(f"other choices: {'; of one fact: '.join(pairs + alone)}.")
