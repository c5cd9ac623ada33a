"""`git mem summary update`: sessions are read anew, and what they taught is integrated."""

from collections.abc import Sequence

import click

from gitmem.cli import options
from gitmem.cli.json_shapes import entry_changes_json
from gitmem.cli.sessions.summary import parts_of
from gitmem.cli.terminal import Terminal, plain
from gitmem.errors import UserError
from gitmem.services.sessions import finish, project_summary
from gitmem.services.sessions.summary_parts import joined
from gitmem.state import sessions
from gitmem.worker.session_jobs import desk


@click.command("update", short_help="Read sessions anew, and integrate what they taught")
@click.option(
    "--session",
    "ids",
    multiple=True,
    metavar="ID",
    help="Of this session. May be repeated; without it, of all that are known here.",
)
@options.json_option
@click.pass_obj
def update_command(term: Terminal, ids: tuple[str, ...], as_json: bool) -> None:
    """Read sessions again and add what they taught. Existing entries stay.

    This happens automatically when a session ends. By hand it helps after a setting was changed, or
    for a session that is still running.

    \b
    Examples:
      git mem summary update
      git mem summary update --session 3f2a81c0
    """
    with term.open() as app:
        app.settle()
        every = sessions.some(app.state)
        chosen = [_one(every, id) for id in ids] or every[::-1]
        before = joined(parts_of(app).records())
        work = desk(app)
        show = term.progress("reading sessions")
        done: list[str] = []
        for number, session in enumerate(chosen, 1):
            done += finish.write_digest(work, session)
            if show and len(chosen) > 1:
                show(number, len(chosen))
        changes = project_summary.compared(before, joined(parts_of(app).records()))
        if as_json:
            term.json(
                {
                    "session_ids": [one.id for one in chosen],
                    "messages": done,
                    **entry_changes_json(changes),
                }
            )
            return
        if not chosen:
            term.say(
                "there are no sessions yet. They are told by hooks of agents: git mem install "
                "--list"
            )
            return
        numbers = ", ".join(f"{len(v)} {k}" for k, v in changes.items() if v)
        term.say(
            f"{len(chosen)} session{'' if len(chosen) == 1 else 's'} read: "
            f"{numbers or 'nothing new'}."
        )


def _one(every: Sequence[sessions.Session], text: str) -> sessions.Session:
    found = [one for one in every if one.id == text] or [
        one for one in every if one.id.startswith(text)
    ]
    if len(found) == 1:
        return found[0]
    raise UserError(
        f"{len(found)} sessions begin with '{plain(text)}'."
        if found
        else f"there is no session '{plain(text)}'.",
        "See them with: git mem session list",
    )
