"""The work in hand: context for the next agent, tasks that were done and known workflows."""

import os
from typing import Any

import click

from gitmem.app import App
from gitmem.base import documents
from gitmem.cli import options
from gitmem.cli.sessions.group import of_agent
from gitmem.cli.sessions.messages import messages
from gitmem.cli.terminal import Terminal, age, plain, short
from gitmem.errors import UserError
from gitmem.hooks.session_log import kept
from gitmem.services.records.committers import marked_title
from gitmem.services.work import context, workflow_file
from gitmem.services.work.context import WorkContext
from gitmem.state import activity
from gitmem.state.workflow import NEW, TASK, Act, Workflow, WorkflowTable, ago

LONG = 120  # characters of a task or a story

NONE = f"Write your own in .gitmem/workflows.yaml: see {documents.page('work.md')}"


def agent_name(text: str) -> str:
    """Return an agent's name as records have it; raises UsageError for what is none."""
    name = text.strip().removeprefix("@")
    if not name or len(name) > 64 or not all(c.isalnum() or c in "._-" for c in name):
        raise click.UsageError(
            f"'{plain(text)}' is not an agent's name: write letters, digits, '.', '_' and '-'."
        )
    return name


def agent_of(app: App, given: str | None) -> str:
    """Return the agent that is meant: the one that is named, else this reader's own.

    '' for nobody in particular.
    """
    if given:
        return agent_name(given)
    return app.namespace if app.namespace != "global" else ""


@click.command("context", short_help="Show the work in hand, for the next agent")
@click.option(
    "--agent", metavar="NAME", help="For which agent.  [default: GITMEM_AGENT, or the setting]"
)
@click.option(
    "--history",
    metavar="FILE",
    help="Use this conversation instead: messages as JSON, a list or one a line; '-' reads "
    "standard input.",
)
@options.json_option
@click.pass_obj
def context_command(term: Terminal, agent: str | None, history: str | None, as_json: bool) -> None:
    """Show the work in hand: kind of session, previous agents, last commands and workflow.

    Only this work tree is shown.

    Adds to 'git mem status': what the next agent needs. A session is new, existing (commands or
    questions came before), or a workflow (several commands or a finished task of one workflow).
    After an hour of silence it is new again. With --history, the conversation decides. What was
    handed over to the agent is shown too.

    \b
    Examples:
      git mem session context --agent qa
      git mem session context --history chat.jsonl --json
    """
    with term.open() as app:
        who = agent_of(app, agent)
        said = messages(history) if history else None
        if said is not None and not said:
            term.note(
                "that conversation has no messages. The recorded work of this repository is "
                "shown instead."
            )
        work = context.load(app, who, session=of_agent(app.env), history=said, strict=True)
        if as_json:
            term.json(work.facts())
            return
        for line in _lines(term, work):
            term.say(line)


def _lines(term: Terminal, work: WorkContext) -> list[str]:
    now = term.clock.now()
    since = f", {work.id}, the last sign {ago(now - work.last)}" if work.last else ""
    out = [f"kind: {term.style(work.kind, bold=True)}{since}"]
    if work.message:
        out.append(plain(work.message))
    if work.next:
        out.append(f"next: {plain(', '.join(context.spoken(each) for each in work.next))}")
    if work.branch:
        out.append(f"branch: {plain(work.branch)}")
    if work.agents:
        out.append(f"agents: {plain(' > '.join(each['agent'] for each in work.agents))}")
    for each in reversed(work.tasks):
        by = f", {each['agent']}" if each["agent"] else ""
        out.append(
            f"task: {plain(each['task'])}, {'done' if each['success'] else 'failed'} "
            f"{ago(now - each['at'])}{plain(by)}"
        )
    for row in work.handovers:
        out.append(
            f"handed over: {short(row['id'])} {plain(marked_title(row))} "
            f"({age(row['created'], now)}): git mem show {short(row['id'])}"
        )
    if work.kind == NEW and not work.handovers:
        out.append("nothing is in hand here; nothing was done in the last hour.")
    return out


@click.command("task", short_help="Record that a task is done, or has failed")
@click.argument("name", metavar="NAME")
@click.option(
    "--success/--failed", "success", default=True, help="How it went.  [default: --success]"
)
@click.option("--story", metavar="TEXT", help="The story that it belongs to: a path or a name.")
@click.option(
    "--agent", metavar="NAME", help="Who did it.  [default: GITMEM_AGENT, or the setting]"
)
@options.json_option
@click.pass_obj
def task_command(
    term: Terminal, name: str, success: bool, story: str | None, agent: str | None, as_json: bool
) -> None:
    """Record that a task is done.

    The workflow moves to the state that its table names. A failed task is listed and moves nothing.

    A task that is recorded twice counts once, unless its command was given again in between. A task
    that no table has is listed too.

    \b
    Examples:
      git mem session task develop --story docs/stories/4.2.md
      git mem session task review-qa --failed
      git mem session task "git commit"
    """
    what = kept(" ".join(name.split()).removeprefix("*"), LONG)
    if not what:
        raise click.UsageError("the task's name is empty.")
    with term.open() as app:
        who = agent_of(app, agent)
        root = context.root_of(app.location.worktree)
        about = kept(" ".join((story or "").split()), LONG)
        table, _ = workflow_file.load(app.home, root)
        session = of_agent(app.env)
        done = Act(
            TASK,
            what,
            agent=who,
            session=app.env.get("GITMEM_SESSION", ""),
            ok=success,
            story=about,
        )
        added = activity.note(
            app.state, root, app.clock.now(), [done], conversation=session, story=about, once=True
        )
        work = context.load(app, who, session=session)
        if as_json:
            term.json(
                {
                    **work.facts(),
                    "task": what,
                    "success": success,
                    "recorded": added,
                    "in_workflow": table.resolve(what) is not None,
                }
            )
            return
        if not added:
            term.say(f"{plain(what)} is done already; nothing changed.")
        else:
            where = _where(work, is_in_workflow=table.resolve(what) is not None, success=success)
            term.say(f"{plain(what)} {'done' if success else 'failed'}.{where}")


def _where(work: WorkContext, *, is_in_workflow: bool, success: bool) -> str:
    if not is_in_workflow:
        return " It is in no workflow: git mem session workflows"
    stands = (
        f" {plain(work.workflow)} is at {plain(work.state)}"
        if work.workflow
        else " No workflow is active"
    )
    if not success:
        return f"{stands}, as before."
    steps = ", ".join(plain(context.spoken(step)) for step in work.next)
    return f"{stands}.{f' Next: {steps}' if steps else ''}"


@click.command("workflows", short_help="List the workflows that are known")
@click.argument("name", required=False, metavar="[WORKFLOW]")
@options.json_option
@click.pass_obj
def workflows_command(term: Terminal, name: str | None, as_json: bool) -> None:
    """List workflows: which command or task leads to which state, and what usually comes next.

    A repository has its own workflows in .gitmem/workflows.yaml. Those of a framework, AIOS, come
    with its folder .aios-core. How to write them:
    https://github.com/git-mem/git-mem/blob/main/docs/work.md

    \b
    Examples:
      git mem session workflows
      git mem session workflows story_development --json
    """
    with term.open() as app:
        table, path = workflow_file.load(app.home, context.root_of(app.location.worktree))
        if name and name not in table.workflows:
            names = ", ".join(table.workflows)
            raise UserError(
                f"there is no workflow '{plain(name)}'.", f"There are {names}." if names else NONE
            )
        chosen = [flow for flow in table.workflows.values() if name in {None, flow.name}]
        if as_json:
            flows = [_workflow_json(table, flow) for flow in chosen]
            term.json({"workflow_file": path or None, "workflows": flows})
            return
        if not chosen:
            term.note(f"no workflow is known. {NONE}")
            return
        lines = [f"with {plain(os.path.relpath(path))}", ""] if path else []
        for flow in chosen:
            lines += _workflow_lines(term, table, flow)
        term.page([plain(line) if not term.colored else line for line in lines], app)


def _workflow_json(table: WorkflowTable, flow: Workflow) -> dict[str, Any]:
    return {
        "name": flow.name,
        "threshold": flow.threshold,
        "transitions": [
            {"state": step.state, "trigger": step.trigger, "next_steps": list(step.next)}
            for step in flow.transitions
        ],
        "tasks": [{"task": task, "state": state} for task, state in table.tasks_of(flow.name)],
    }


def _workflow_lines(term: Terminal, table: WorkflowTable, flow: Workflow) -> list[str]:
    """Return a workflow as people read it: its states, what leads to them, what comes next."""
    lines = [term.style(flow.name, bold=True)]
    for step in flow.transitions:
        lines.append(
            f"  {step.state:<20} {context.spoken(step.trigger):<34} next: "
            f"{', '.join(context.spoken(following) for following in step.next)}"
        )
    triggers = {step.trigger for step in flow.transitions}
    more = [
        f"{context.spoken(task)} ({state})"
        for task, state in table.tasks_of(flow.name)
        if task not in triggers
    ]
    return [*lines, f"  also: {', '.join(more)}"] if more else lines
