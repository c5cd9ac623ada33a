"""What a sentence is taken for when cue phrases and learned scores are weighed together. Pure."""

from functools import lru_cache

from gitmem.extraction.classify.context_features import Around
from gitmem.extraction.classify.linear_model import meaning, scores
from gitmem.extraction.language.cue_phrases import cues
from gitmem.extraction.rules import sentence_rules as rules
from gitmem.extraction.rules.sentence_rules import Said
from gitmem.records.items import CONTEXT, DECISION, DONE, ERROR, PATTERN, PREFERENCE, TASK
from gitmem.transcripts.turn import ASSISTANT

# how likely a kind must be for a sentence that no cue phrase knows
ADDS = {DECISION: 0.65, ERROR: 0.55, PATTERN: 0.75, TASK: 0.55, DONE: 0.6, PREFERENCE: 0.45, CONTEXT: 0.65}
# and for one that the rules take for that kind
KEEPS = {DECISION: 0.025, ERROR: 0.2, PATTERN: 0.015, TASK: 0.05, DONE: 0.05, PREFERENCE: 0.1, CONTEXT: 0.035}

RULES = (DECISION, PATTERN, PREFERENCE)  # where a cue phrase is sure, how it is to be counts, whatever one calls it
LATER = 0.2  # a part of that is enough for one that hindsight judges
OF_AGENT = 0.9  # how likely a decision that no cue phrase knows must be where an agent tells of it


@lru_cache(maxsize=8192)
def likely(text: str, role: str, language: str, around: Around | None = None) -> dict[str, float]:
    """Return how likely a sentence is of each kind, in its surroundings where they are known."""
    return scores(text, role, language) if around is None else scores(text, role, language, around.features())


def weighed(said: Said | None, text: str, role: str, language: str, around: Around | None = None, *, deep: bool = True) -> Said | None:
    """Return what a sentence teaches: what the rules say where it is likely enough, else, if `deep`, a kind that is very likely. Markers stay as they are."""
    if (said is not None and said.marker) or (said is None and not deep):
        return said
    if not rules.SHORTEST // 2 <= len(text) <= rules.LONGEST:
        return said
    by = likely(text, role, language, around)
    told = (
        sum(by[kind] for kind in RULES)
        if said is not None and said.kind in RULES and said.score >= rules.SURE
        else by[said.kind]
        if said
        else 0.0
    )
    if said is not None and told >= KEEPS[said.kind] * (1 if around is None else LATER):
        return said
    if rules.asks(text, language) or rules.supposes(text, language):
        return None
    best = max(ADDS, key=lambda kind: by[kind])
    if best == DECISION and role == ASSISTANT and by[best] < OF_AGENT:
        return None  # what an agent decides by itself holds for the next minute, mostly
    if by[best] < ADDS[best] or best == ERROR:
        return None
    return Said(best, rules.stripped(text, language), round(0.4 + 0.4 * by[best], 2))


def faulty(text: str, role: str, language: str, around: Around | None = None, *, deep: bool = True) -> bool:
    """Whether a sentence very likely states a fault with its cause or its fix; what names no fault is looked at only if `deep`."""
    if not deep and not cues(language).find("error", "stated", text):
        return False
    return rules.SHORTEST // 2 <= len(text) <= rules.LONGEST and likely(text, role, language, around)[ERROR] >= ADDS[ERROR]


@lru_cache(maxsize=8192)
def troubled(text: str, language: str) -> bool:
    """Whether a sentence has a word for something that goes wrong."""
    return "fault" in meaning(text, language)[1]
