"""The command that checks everything, and repairs what can be repaired."""

from collections.abc import Iterator

import click

from gitmem.app import App
from gitmem.cli import options
from gitmem.cli.terminal import Terminal, plain
from gitmem.cli.ticking import ticking
from gitmem.errors import GitmemError
from gitmem.index.reader import open_index
from gitmem.install import status
from gitmem.install.plan import InstallContext
from gitmem.repo.refs import PRIVATE, SHARED
from gitmem.services.maintenance import doctor, purge_follow, repairs
from gitmem.services.maintenance.mend import Mender
from gitmem.services.work.context import root_of
from gitmem.store.sync import tracking_ref
from gitmem.text.plural import counted


@click.command("doctor", short_help="Check everything, and repair it with --fix")
@click.option("--fix", is_flag=True, help="Repair what can be repaired; never loses a record.")
@options.json_option
@click.pass_context
def doctor_command(ctx: click.Context, fix: bool, as_json: bool) -> int:
    """Check git, refs, history, records, index, journal, settings, installed hooks.

    Each finding has a level: ok, note, warning or error. Exits 1 when there is an error. --fix
    repairs missing objects, a stale lock, an empty ref, a damaged index and left-over files, and
    checks again.

    \b
    Examples:
      git mem doctor
      git mem doctor --fix
    """
    term: Terminal = ctx.obj
    with term.open() as app:
        with ticking("checking"):
            findings = list(_findings(app))
        repaired = []
        if fix:
            for finding in findings:
                if finding.repair:
                    repaired.append(finding.repair())
            if repaired:
                app.close()
                with ticking("checking again"):
                    findings = list(_findings(app))
        errors = sum(f.level == "error" for f in findings)
        if as_json:
            term.json(
                {
                    "findings": [
                        {
                            "level": f.level,
                            "message": f.what,
                            "hint": f.hint,
                            "fixable": f.repair is not None,
                        }
                        for f in findings
                    ],
                    "repairs": repaired,
                }
            )
            return int(errors > 0)
        for text in repaired:
            for number, line in enumerate(text.split("\n")):
                term.say(f"{'' if number else 'repaired: '}{plain(line)}")
        colors = {"ok": "green", "note": "blue", "warning": "yellow", "error": "red"}
        for f in findings:
            term.say(f"{term.style(f'{f.level:<8}', fg=colors[f.level])}{plain(f.what)}")
            if f.hint and f.level != "ok":
                term.say(f"        {plain(f.hint)}")
        warnings = sum(f.level == "warning" for f in findings)
        term.say(
            f"\n{counted(errors, 'error')}, {counted(warnings, 'warning')}."
            if errors or warnings
            else "\neverything is in order."
        )
        return int(errors > 0)


def _findings(app: App) -> Iterator[doctor.HealthFinding]:
    for finding in doctor.check_git(app.git, app.objects.traits.name):
        yield finding
        if finding.level == "error":  # what such a git says of the rest means nothing
            return
    yield from doctor.check_folder(app.home)
    index = open_index(app.home.join("index.db"))
    yield from doctor.check_ignored(app.hidden(app.location.worktree).faults)
    yield from doctor.check_refs(app.git, app.location, app.home, index, lambda: _mend(app))
    if index is not None:
        index.db.close()
    broken = False
    for name in ("shared", "private"):
        for finding in doctor.check_store(app.store(name), name):
            broken = broken or finding.level == "error"
            yield finding
    for finding in doctor.check_index(app.home):
        broken = broken or finding.level == "error"  # reading it would build it anew, unasked
        yield finding
    if not broken:
        try:
            yield from doctor.check_records(app.index())
        except GitmemError as error:
            yield doctor.HealthFinding(
                "error", f"the records cannot be indexed: {error}", error.hint
            )
    yield from doctor.check_state(app.home)
    yield from doctor.check_caches(app.home)
    yield from doctor.check_home(app.home)
    yield from doctor.check_scratch(app.location.commondir)
    yield from doctor.check_purge(app.git, app.home)
    yield from purge_follow.check_waiting(app.objects, SHARED)
    yield from status.findings(InstallContext(app.location, app.env))
    yield from doctor.check_config(app.settings)
    yield from doctor.check_model(app.settings, app.env)
    yield from doctor.check_workflows(app.home, root_of(app.location.worktree))


def _mend(app: App) -> str:
    refs = {"shared": SHARED, "private": PRIVATE}
    index = open_index(app.home.join("index.db"))
    try:
        mender = Mender(app.git, app.objects, app.home, index.db if index else None)
        synced = [app.remote(name) for name in app.remotes() if app.objects.tip(tracking_ref(name))]
        report = mender.mend(
            {name: app.store(name) for name in refs},
            synced,
            lambda name: repairs.last_good(
                app.git, app.location.commondir, refs[name], index, name
            ),
            int(app.clock.now()),
        )
    finally:
        if index is not None:
            index.db.close()
    app.fresh_index.follow()
    return "\n          ".join(report)
