"""Going through the findings of a check on a terminal: a finding, a key, the next one."""

from collections.abc import Callable, Sequence
from functools import partial

from gitmem.app import App
from gitmem.cli.keys import ask_key
from gitmem.cli.lifecycle.answers import decide, drop, verify
from gitmem.cli.lifecycle.card import Rows, finding_lines, rows_of
from gitmem.cli.records.add_edit import edited_record
from gitmem.cli.records.change_report import report_change
from gitmem.cli.terminal import Terminal, short
from gitmem.errors import GitmemError
from gitmem.records.kinds import LIVE
from gitmem.services.lifecycle.findings import Finding
from gitmem.services.records import write

LookAgain = Callable[[Sequence[str]], list[Finding]]
KEYS = "[n]ewer, [o]lder, [b]oth, [d]rop, [s]kip, [q]uit, ?"
ALONE = "[v]erified, [e]dit, [d]rop, [s]kip, [q]uit, ?"
CHOICES = {"n": "newer", "o": "older", "b": "both"}


def review(
    term: Terminal, app: App, findings: Sequence[Finding], rows: Rows, look_again: LookAgain
) -> None:
    """Show each finding, and do what a key says. Each answer is a command of its own.

    `look_again` returns the findings about some facts as they are now.
    """
    for number, before in enumerate(findings, 1):
        now = _rows_now(app, before)
        finding = before if _is_same(before, rows, now) else _still(before, look_again)
        if finding is None or len(now) < len(finding.ids):  # an answer to another one settled it
            continue
        term.say("")
        term.say(term.style(f"{number} of {len(findings)}", bold=True))
        for text in finding_lines(term, app, finding, now):
            term.say(text)
        keys = KEYS if len(finding.ids) > 1 else ALONE
        question = f"{keys} (proposed: {finding.choice}) "
        if not ask_key(question, partial(_do, term, app, finding)):
            return


def _rows_now(app: App, finding: Finding) -> Rows:
    """Return the facts of a finding as they are now, without what is not live any more."""
    rows = rows_of(app, [finding])
    return {id: row for id, row in rows.items() if row["status"] in LIVE}


def _is_same(finding: Finding, before: Rows, now: Rows) -> bool:
    shown = [id for id in finding.ids if id in before and id in now]
    return all(before[id]["rev"] == now[id]["rev"] for id in shown)


def _still(finding: Finding, look_again: LookAgain) -> Finding | None:
    """Return a finding about facts that changed as it is now; None if it is gone."""
    for other in look_again(finding.ids):
        if (other.ids, other.what, other.code) == (finding.ids, finding.what, finding.code):
            return other
    return None


def _do(term: Terminal, app: App, finding: Finding, key: str) -> bool:
    """Do what a key says; return whether the next finding is to be shown."""
    app.begin_command()
    try:
        if key in CHOICES and len(finding.ids) > 1:
            decide(term, app, finding, CHOICES[key])
            return True
        if len(finding.ids) == 1 and key in {"v", "e"}:
            return _answer_alone(term, app, finding, key)
        if key == "d":
            drop(term, app, _wrong(finding))
            return True
    except GitmemError as error:
        term.note(f"{error} {error.hint}".strip())
        return False
    _explain(term, finding)
    return False


def _answer_alone(term: Terminal, app: App, finding: Finding, key: str) -> bool:
    """Confirm a fact that the code refutes, or open it in the editor."""
    if key == "v":
        verify(term, app, [finding])
        return True
    scope, stored = app.get(finding.ids[0])
    after = edited_record(term, app, stored.record)
    change = write.update(app.store(scope), app.writer(), stored.record, after, "edit")
    report_change(term, change, "changed", scope)
    return True


def _wrong(finding: Finding) -> str:
    """Return the id of the fact that the proposal does not keep."""
    return finding.ids[0] if finding.choice == "older" else finding.ids[-1]


def _explain(term: Terminal, finding: Finding) -> None:
    if len(finding.ids) > 1:
        term.note("n - the newer fact, shown first, takes the other's place")
        term.note("o - the older fact takes the other's place")
        term.note("b - both hold; they are not asked about until the words of one change")
    else:
        term.note("v - it holds, whatever the code says; until its words or this code change")
        term.note("e - change its words in your editor")
    term.note(f"d - forget {short(_wrong(finding))}")
    term.note("s - leave it as it is; q - leave all that come after it too")
