"""`git mem session activate`: an agent comes, and is told what it should know, in time."""

import contextlib
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import click

from gitmem.app import open_app
from gitmem.base.detach import detach
from gitmem.cli import options
from gitmem.cli.sessions.activation_json import activation_json, definition_json
from gitmem.cli.sessions.group import current
from gitmem.cli.sessions.messages import messages
from gitmem.cli.terminal import Terminal, plain
from gitmem.clock import Clock
from gitmem.git.process import end_running_calls
from gitmem.index.reader import Index
from gitmem.services.briefing import activation, agent_definitions, greeting
from gitmem.services.briefing.activation import Activation, ActivationPlace
from gitmem.services.briefing.collect import FactOrder
from gitmem.services.lifecycle.pairs import ContradictingFacts
from gitmem.services.lifecycle.score import FactScores
from gitmem.state.database import State


@click.command("activate", short_help="Greet as an agent, with what it should know")
@click.argument("agent", required=False)
@click.option("--list", "listing", is_flag=True, help="List the agents that are defined.")
@click.option(
    "--history",
    "file",
    metavar="FILE",
    help="A conversation, as JSON or JSON lines of {role, content}; - is stdin.",
)
@click.option(
    "--timeout",
    type=click.IntRange(1, 600_000),
    metavar="MS",
    help="Milliseconds in all.  [default: 500]",
)
@options.json_option
@click.pass_obj
def activate_command(
    term: Terminal,
    agent: str | None,
    listing: bool,
    file: str | None,
    timeout: int | None,
    as_json: bool,
) -> None:
    """Print an agent's greeting: who it is, the project's state, past work and its commands.

    Adds to 'git mem status': the agent's name and commands. An agent is a Markdown file in
    .gitmem/agents, .claude/agents or .gemini/agents, of the repository or yours. Its front matter
    has name, title, icon, role (or description) and commands, a list of {name, description,
    visibility}; visibility is full, quick or key. What cannot be loaded in time is left out.

    \b
    Examples:
      git mem session activate dev
      git mem session activate qa --json
      git mem session activate --list
    """
    if listing:
        if agent or file or timeout:
            raise click.UsageError("--list takes no agent and no other option than --json.")
        with term.open() as app:
            _list(
                term,
                agent_definitions.definitions(app.location.worktree or "", term.environ),
                as_json,
            )
        return
    if not agent or not agent.strip():
        raise click.UsageError(
            "name an agent; see which there are: git mem session activate --list"
        )
    with term.open() as app:
        place = ActivationPlace(
            app.location,
            term.environ,
            term.clock,
            lambda: current(term.environ),
            _refresh(term),
            partial(_fact_order, term.clock),
            (lambda: _messages(term, file)) if file else None,
        )
    active = activation.activate(agent, place, activation.limit(timeout, term.environ))
    if as_json:
        term.json(activation_json(active, term.clock.now()))
    else:
        _say(term, active)
    sys.stdout.flush()
    activation.note(place, active.agent.name)
    end_running_calls()
    if any(
        result.name == "index" and result.status == activation.TIMEOUT for result in active.results
    ):
        with contextlib.suppress(OSError):  # so that the next one finds it
            detach(["-C", place.location.worktree or place.location.gitdir, "drain"], term.environ)


def _messages(term: Terminal, file: str) -> Sequence[Mapping[str, Any]]:
    spoken = messages(file)
    if not spoken:
        term.note(
            "that conversation has no messages. The recorded work of this repository is "
            "shown instead."
        )
    return spoken


def _say(term: Terminal, active: Activation) -> None:
    first, *rest = greeting.greet(active, term.clock.now()).split("\n")
    term.say(term.style(plain(first), bold=True))
    for line in rest:
        term.say(plain(line))


def _list(term: Terminal, agents: Sequence[agent_definitions.Agent], as_json: bool) -> None:
    if as_json:
        term.json([definition_json(agent) for agent in agents])
        return
    wide = max((len(definition.name) for definition in agents), default=0)
    for definition in agents:
        about = (
            f"cannot be used: {definition.problem}"
            if definition.problem
            else definition.title or definition.role
        )
        term.say(
            f"{plain(definition.name):<{wide}}  {plain(definition.path)}"
            f"{f'  {plain(about)}' if about else ''}"
        )
    if not agents:
        term.note(
            f"no agent is defined. Write {agent_definitions.OWN}/dev.md; what belongs in it: "
            "git mem help session activate"
        )


def _fact_order(clock: Clock, index: Index, state: State) -> FactOrder:
    """Return which facts of an index are told first."""
    pairs = ContradictingFacts([index], state, (), clock.stamp())
    scores = FactScores([index], lambda: [state], clock.now(), lambda: pairs.refuted)
    return FactOrder(scores.of, pairs.arranged, scores.read_last())


def _refresh(term: Terminal) -> Callable[[], object]:
    """Return what brings the index up to date, in a thread of its own."""

    def refresh() -> None:
        with open_app(term.folder, term.environ, term.clock, "libgit2") as app:
            # git is asked for the settings with a deadline, not by the app: who waits for it there
            # would hold up others that do
            order = partial(_fact_order, term.clock)
            place = ActivationPlace(app.location, term.environ, term.clock, str, str, order)
            patience = 0.9 * activation.BUDGET[activation.HIGH]
            app.adopt_settings(activation.settings(place, patience))
            app.index()

    return refresh
