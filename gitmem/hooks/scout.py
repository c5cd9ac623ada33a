"""Injects the files that a prompt for a larger task is probably about.

More than a shared word must speak for them (`codemap.search.evidence`). It asks the search that the
background keeps (`gitmem.worker.dna`); where there is none yet, nothing is told. This module is
part of the hot path.
"""

from gitmem.agents.prompt_text import clean
from gitmem.codemap.search.evidence import TextEvidence
from gitmem.codemap.search.index import SearchIndex
from gitmem.codemap.search.locate import locate
from gitmem.codemap.search.question import Question
from gitmem.config import prompt_budget
from gitmem.hooks.injection import fingerprint, inject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.hooks.context import Hook

SHORT = 50  # characters of a prompt, below which no task is described
WORDS = 8  # that tell something: fewer are a question, or an answer
MOST = 4  # files
NEAR = 0.6  # how strong a file has to be beside the first
# the share of a prompt's words that a file must have if nothing else speaks for it: of prompts
# about other things, one in a hundred reaches it (tests/benchmarks/bench_silence.py)
ENOUGH = 0.4
SHOWN = 3  # words that are told as a reason


def task_files(hook: "Hook", shown: "list[str]") -> "list[str]":
    """Return a line that names the files of a task, as far as the budget of a prompt goes.

    None for a prompt that describes no task, and where nothing but shared words speaks for a file.
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
        files = _meant(index, question) if index.ready else []
    finally:
        index.close()
    if not files:
        return []
    key = " ".join(path for path, _ in files)
    row = {"id": f"scout {fingerprint(key)}", "kind": "entry", "oid": ""}
    return inject(
        hook,
        [row],
        prompt_budget(hook.repo.settings),
        lambda _: (
            f"- [code] this may be about {'; '.join(map(_shown, files))} (more: git mem scout)"
        ),
        shown,
    )


def _meant(index: SearchIndex, question: Question) -> "list[tuple[str, str]]":
    """Return (path, why) of the files that are surely meant, best first."""
    files = [file for file in locate(index, question, MOST * 4, quick=True) if not file.aside]
    near = [file for file in files[: MOST * 2] if file.score >= NEAR * files[0].score]
    evidence = TextEvidence(index, question, near)
    out = []
    for file in near:
        reason = evidence.reason(file, ENOUGH)
        if reason:
            words = ", ".join(evidence.words(file.path)[:SHOWN])
            out.append((file.path, _why(*reason, words)))
    return out[:MOST]


def _why(how: str, what: str, words: str) -> str:
    if how == "commit":  # not the subject: anybody may have written it
        return f"changed by {what.partition(' ')[0]}"
    return {"defines": f"defines {what}", "words": f"has {words}"}.get(how, "")


def _shown(file: "tuple[str, str]") -> str:
    path, why = file
    return f"{clean(path, 120)} ({clean(why, 60)})" if why else clean(path, 120)
