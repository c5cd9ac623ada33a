"""Injects the files that a prompt for a larger task is probably about.

More than the words of the prompt must speak for them. This module is part of the hot path.

It asks the search that the background keeps (`gitmem.worker.dna`); where there is none yet, nothing
is told.
"""

from gitmem.agents.prompt_text import clean
from gitmem.codemap.search.index import SearchIndex
from gitmem.codemap.search.locate import locate
from gitmem.codemap.search.question import Question
from gitmem.hooks.injection import fingerprint, inject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.codemap.search.locate import LocatedFile
    from gitmem.hooks.context import Hook

SHORT = 50  # characters of a prompt, below which no task is described
WORDS = 8  # that tell something: fewer are a question, or an answer
MOST = 4  # files
NEAR = 0.6  # how strong a file has to be beside the first
SURE = {"named": "named", "defines": "defines", "commit": "changed by"}


def task_files(hook: "Hook", told: "list[str]") -> "list[str]":
    """Return a line that names the files of a task, as far as the budget of a prompt goes.

    None for a prompt that describes no task.
    """
    prompt = hook.event.prompt
    if (
        not hook.repo.settings.get("scout")
        or len(prompt) < SHORT
        or prompt.lstrip().startswith("/")
    ):
        return []
    question = Question(prompt)
    if len(question.words) < WORDS:
        return []
    index = SearchIndex(hook.repo.home.path, readonly=True)
    try:
        found = locate(index, question, MOST * 4, quick=True) if index.ready else []
    finally:
        index.close()
    files = [one for one in found if not one.aside]
    sure = [
        one
        for one in files[: MOST * 2]
        if one.score >= NEAR * files[0].score and any(how in SURE for how, _ in one.reasons)
    ][:MOST]
    if not sure:
        return []
    key = " ".join(one.path for one in sure)
    row = {"id": f"scout {fingerprint(key)}", "kind": "entry", "oid": ""}
    return inject(
        hook,
        [row],
        int(hook.repo.settings.get("promptBudget")),
        lambda _: f"- [code] this may be about {'; '.join(map(_file, sure))} (more: git mem scout)",
        told,
    )


def _file(one: "LocatedFile") -> str:
    how, what = next((how, what) for how, what in one.reasons if how in SURE)
    # not the subject: anybody may have written it
    said = what.partition(" ")[0] if how == "commit" else what
    why = "" if how == "named" else f" ({SURE[how]} {clean(said, 60)})"
    return f"{clean(one.path, 120)}{why}"
