"""An epic as `--json` gives it, and as the commands show it."""

from collections.abc import Mapping
from typing import Any

from gitmem.records import epic as work
from gitmem.services.work.epics import Epic, next_step, results_of, resume_text
from gitmem.store.store import Written


def epic_view(epic: Epic) -> dict[str, Any]:
    """Return an epic with its stories, and where it stands."""
    facts = epic.facts
    return {
        "id": epic.record.id,
        "name": epic.slug,
        "title": epic.record.title,
        "committed_by": epic.by or None,
        "external_id": facts["ref"] or None,
        "status": epic.record.status,
        "condition": epic.condition,
        "reason": epic.how["why"] or None,
        "alive": epic.how["alive"],
        "silent_seconds": round(epic.how["silent"]),
        "created": epic.record.created,
        "updated": epic.record.updated,
        "progress": _progress(epic),
        "stories": _stories(epic),
        "current_story": _current_story(epic),
        "last_action": _last_action(facts),
        "branch": facts["branch"] or None,
        "executor": facts["executor"] or None,
        "executor_counts": _executor_counts(epic.state),
        "changed_paths": sorted(epic.state.get("files", {})),
        "changed_count": max(len(epic.state.get("files", {})), epic.state.get("changed", 0)),
        "holder": _holder(facts["holder"]),
        "overrides": work.overrides(epic.state),
        "checkpoints": [_checkpoint(mark) for mark in epic.state.get("checkpoints", [])],
        "next_step": next_step(epic),
        "resume_text": resume_text(epic),
    }


def written_epic(epic: Epic, written: Written) -> dict[str, Any]:
    """Return an epic after a command, and whether the command changed it."""
    return {**epic_view(epic), **_outcome(written)}


def waiting_epic(id: str, written: Written) -> dict[str, Any]:
    """Return what is known of an epic whose change waits in the journal, or that was put aside."""
    return {"id": id, **_outcome(written)}


def _outcome(written: Written) -> dict[str, bool]:
    changed = written.changed
    return {"changed": changed, "journaled": written.journaled}


def _progress(epic: Epic) -> dict[str, Any]:
    progress = work.progress(epic.state)
    return {
        "story_count": progress["total"],
        "done_count": progress["completed"],
        "percent": progress["percentage"],
        "done_story_ids": progress["stories_done"],
        "pending_story_ids": progress["stories_pending"],
    }


def _stories(epic: Epic) -> list[dict[str, Any]]:
    stories = epic.state.get("stories", {})
    out = []
    for id in work.stories(epic.state):
        done = work.is_done(epic.state, id)
        out.append(
            {
                "id": id,
                "title": str(work.value(stories[id], "title") or "") or None,
                "done": done,
                "current": id == epic.facts["story"],
                "completed": stories[id]["done"]["at"] if done else None,
                "phase_results": results_of(epic.state, id),
            }
        )
    return out


def _current_story(epic: Epic) -> dict[str, Any]:
    facts = epic.facts
    return {
        "id": facts["story"] or None,
        "phase": facts["phase"] or None,
        "attempt_count": facts["attempts"],
        "started": facts["since"] or None,
        "phase_results": results_of(epic.state, facts["story"]),
    }


def _last_action(facts: Mapping[str, Any]) -> dict[str, Any] | None:
    last = facts["last"]
    if not last:
        return None
    keys = ("action", "story", "phase", "executor", "note")
    return {"at": facts["at"] or None, **{key: last.get(key) or None for key in keys}}


def _executor_counts(state: Mapping[str, Any]) -> dict[str, int]:
    return {name: work.counted(n) for name, n in sorted(state.get("executors", {}).items())}


def _holder(holder: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return who works on an epic, None for nobody."""
    if not holder:
        return None
    return {key: holder.get(key) or None for key in ("agent", "person", "session", "host")}


def _checkpoint(mark: Mapping[str, Any]) -> dict[str, Any]:
    return {key: mark.get(key) or None for key in ("at", "story", "phase", "note")}
