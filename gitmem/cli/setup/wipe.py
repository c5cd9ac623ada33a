"""The command that removes gitmem from a repository."""

import contextlib
import os
import shutil
import time

import click

from gitmem.app import App
from gitmem.base.files import write_atomic
from gitmem.cli.consent import require_yes
from gitmem.cli.setup.install import remark_blocks
from gitmem.cli.setup.install_steps import carry_out
from gitmem.cli.terminal import Terminal
from gitmem.errors import Busy, External, GitFailed
from gitmem.install import status
from gitmem.install.plan import InstallContext
from gitmem.repo.location import WIPING
from gitmem.repo.refs import NAMESPACE, PRIVATE, SHARED
from gitmem.services.records.write import require_person
from gitmem.text.plural import counted


@click.command("uninstall --wipe", short_help="Remove gitmem from this repository")
@click.option(
    "--remote",
    "remote",
    metavar="NAME",
    help="Delete the memory on this remote instead.",
)
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@click.pass_obj
def wipe_command(term: Terminal, remote: str | None, yes: bool) -> None:
    """Remove all memory and every trace of gitmem from this repository: refs, files, settings.

    It asks first; without a terminal it needs --yes. What no remote has is lost. Hooks that were
    installed with --local go too; those of --project and --user stay. Blocks of records in agents'
    memory files stay and are named; `git mem native push --remove` takes them out.

    With --remote, this repository stays as it is. A clone whose remote is enabled publishes the
    memory again with its next sync, this clone too: run `git mem remote disable` in each first.

    Where this was killed before its end, the next call ends it; `git mem init` keeps what is left.

    \b
    Examples:
      git mem sync --bundle before.bundle && git mem uninstall --wipe
      git mem uninstall --wipe --remote origin
    """
    with term.open() as app:
        require_person(app.writer(), "wipe", "memory", "uninstall --wipe")
        if remote:
            require_yes(f"Delete the memory on {remote}, for everybody who fetches it?", yes=yes)
            from gitmem.cli.sync import remove_from_remote

            remove_from_remote(term, app, remote)
            return
        refs = app.objects.refs(NAMESPACE)
        settings = app.git.run("config", "--local", "--get-regexp", r"^gitmem\.", ok=(0, 1))
        if not refs and not settings and not os.path.isdir(app.home.path):
            term.say("gitmem has nothing in this repository.")
            return
        remark_blocks(term, app)
        require_yes("Remove all memory from this repository? What no remote has is lost.", yes=yes)
        app.home.make()
        write_atomic(app.home.join(WIPING), b"", shared=app.home.shared)
        left = _unhook(app)
        _delete(app)
        app.git.call("config", "--local", "--remove-section", "gitmem", ok=(0, 1, 128))
        for name in (SHARED, PRIVATE):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(app.location.commondir, "logs", name))
        app.close()
        _empty(app.home.path)
        term.say(
            f"removed {counted(len(refs), 'ref')}, {app.home.path} and the settings under "
            f"'gitmem.'. Git's garbage collection frees the space."
        )
        for place in left:
            term.note(
                f"{_noun(place)} still in {place.path}, for everybody who uses this repository: "
                f"git mem uninstall {place.arguments}"
            )


def _delete(app: App) -> None:
    """Delete our refs, all at once; raises Busy when others write to them all the time."""
    for attempt in range(5):
        listing = "".join(
            f"delete {ref} {oid}\n" for ref, oid in app.objects.refs(NAMESPACE).items()
        )
        try:
            if listing:
                app.git.run("update-ref", "--stdin", stdin=listing.encode())
            return
        except GitFailed as error:
            if attempt == 4:
                raise Busy(
                    "git is writing to these refs, or was killed while it did.",
                    "Try again in a moment; 'git mem doctor --fix' removes a lock that a git "
                    "command left ten minutes ago.",
                ) from error
            time.sleep(0.1 * (attempt + 1))


def _empty(folder: str) -> None:
    """Remove our folder; the mark that a wipe is under way goes last."""
    try:
        for name in os.listdir(folder):
            path = os.path.join(folder, name)
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path)
            elif name != WIPING:
                os.unlink(path)
        os.unlink(os.path.join(folder, WIPING))
        os.rmdir(folder)
    except OSError as error:
        raise External(
            f"cannot remove '{folder}': {error.strerror}.", "Remove the folder by hand."
        ) from error


def _unhook(app: App) -> list[status.Row]:
    """Take out the hooks that are this user's, in this repository.

    Return those that others have too.
    """
    world = InstallContext(app.location, app.env)
    rows = status.survey(world)
    carry_out(
        world,
        [
            row.what
            for row in rows
            if row.scope == "local" and row.state in {"current", "outdated", "broken"}
        ],
        "local",
        remove=True,
    )
    return [row for row in rows if row.scope == "project" and row.state != "custom"]


def _noun(place: status.Row) -> str:
    return "hooks are" if place.part == "hooks" else "an MCP entry is"
