"""An activation as `git mem session activate --json` gives it."""

from typing import Any

from gitmem.cli.json_shapes import epic_json
from gitmem.clock import stamp
from gitmem.services.briefing import greeting
from gitmem.services.briefing.activation import FALLBACK, Activation
from gitmem.services.briefing.agent_definitions import Agent
from gitmem.services.records.committers import marked_title
from gitmem.services.work.context import WorkContext


def activation_json(active: Activation, now: float) -> dict[str, Any]:
    """Return an activation: the agent, its greeting, and what was loaded for it."""
    context = active.value("session")
    work = active.value("work")
    return {
        "agent": active.agent.name,
        "definition": definition_json(active.agent),
        "kind": greeting.kind(active),
        "quality": active.quality,
        "fallback": active.quality == FALLBACK,
        "duration_seconds": round(active.seconds, 4),
        "greeting": greeting.greet(active, now),
        "context": {
            "work_context": context.facts() if isinstance(context, WorkContext) else None,
            "git": _git_json(active.value("git")),
            "epic": epic_json(work, work["by"]) if work else None,
            "task_texts": list(active.value("tasks") or ()),
            "dna": active.value("dna") or None,
            **{name: _titles(active, name) for name in ("memories", "gotchas", "handovers")},
        },
        "loaders": [
            {
                "name": result.name,
                "tier": result.tier,
                "duration_seconds": round(result.seconds, 4),
                "status": result.status,
                "message": result.error or None,
            }
            for result in active.results
        ],
    }


def definition_json(agent: Agent) -> dict[str, Any]:
    """Return an agent's definition."""
    return {
        "name": agent.name,
        "title": agent.title or None,
        "role": agent.role or None,
        "icon": agent.icon or None,
        "definition_file": agent.path or None,
        "problem": agent.problem or None,
        "commands": [
            {
                "name": command.name,
                "description": command.description,
                "visibilities": list(command.visibility),
            }
            for command in agent.commands
        ],
    }


def _titles(active: Activation, name: str) -> list[dict[str, str]]:
    return [{"id": row["id"], "title": marked_title(row)} for row in active.value(name) or ()]


def _git_json(status: dict[str, Any] | None) -> dict[str, Any] | None:
    if status is None:
        return None
    commit = status["commit"]
    last = {key: commit[key] for key in ("commit", "at", "author", "subject")} if commit else None
    return {
        "branch": status["branch"] or None,
        "changed_count": status["changed"],
        "changed_paths": status["files"],
        "last_commit": {**last, "at": stamp(last["at"])} if last else None,
    }
