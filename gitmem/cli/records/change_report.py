"""What a change of a record did, in words."""

from gitmem.cli import options
from gitmem.cli.rows import written_json
from gitmem.cli.terminal import Terminal, short, title_shown
from gitmem.records.record import has_expired
from gitmem.records.texts import TITLE_LIMIT, is_cut
from gitmem.services.records.write import Change


def report_change(
    term: Terminal, change: Change, verb: str, scope: str, as_json: bool = False
) -> None:
    """Say what a change did, and name the secrets that were masked."""
    for finding in change.findings:
        term.note(
            f"masked a secret: {finding.kind} in line {finding.line} ({finding.preview}). If it "
            f"is no secret, allow it: git mem config allowSecret REGEX"
        )
    expires = str(change.after.get("expires") or "")
    if has_expired(expires, term.clock.stamp()):
        term.note(
            f"it expired on {expires}: agents do not receive it, and lists show it only with --all."
        )
    if is_cut(change.after.title) and (
        change.before is None or change.before.title != change.after.title
    ):
        term.note(
            f"a title has at most {TITLE_LIMIT} characters: the rest is left out. Write it with "
            f"-m: git mem edit {short(change.after.id)} -m TEXT"
        )
    if as_json:
        term.json(written_json(scope, change))
        return
    if change.before is not None and change.written.commit is None and not change.written.journaled:
        term.say(f"{short(change.after.id)} is already so; nothing changed.")
        return
    where = f" in your {scope} store" if scope != "shared" else ""
    if change.after.unconfirmed and change.after.get("origin") == "agent":
        term.note("unconfirmed, as an agent wrote it. A person confirms it: git mem inbox")
    term.say(
        f"{verb} {term.style(short(change.after.id), fg='yellow')} "
        f"{title_shown(change.after.title)}{where}{options.journaled(change.written)}"
    )
