"""What was done in a piece of work, told by the last words of an agent. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from gitmem.extraction.classify.combine import ADDS, KEEPS, likely
from gitmem.extraction.classify.context_features import Around
from gitmem.extraction.classify.session_model import Heard
from gitmem.extraction.language.cue_phrases import cues
from gitmem.extraction.language.sentences import Sentence
from gitmem.extraction.language.words import content
from gitmem.extraction.language.words import language as language_of
from gitmem.extraction.rules import sentence_rules as rules
from gitmem.records.items import DONE
from gitmem.transcripts.turn import ASSISTANT, Turn

SURE, MOST = (
    0.9,
    3,
)  # how likely a sentence tells what was done for it to be told beside the best, and how many are told of one piece of work
_GENERIC = "done implemented requested changes change everything successfully fixed updated completed finished task tasks work works working all tests test pass passed passes now request code file files"


@dataclass(frozen=True, slots=True)
class Closing:
    """One sentence of an agent's last words."""

    sentence: Sentence
    turn: Turn
    around: Around | None
    heard: Heard | None


def done(closing: Sequence[Closing], language: str, *, changed: bool, deep: bool = True) -> list[tuple[str, Turn, float, Heard | None]]:
    """Return the sentence that tells best what was done, its turn, how sure it is, and as it was heard, and those that tell it very surely.

    `changed`: something was. What has no cue phrase is looked at only if `deep`.
    """
    best: tuple[float, int, Closing] | None = None
    sure: list[tuple[float, int, Closing]] = []
    for n, one in enumerate(closing):
        sentence = one.sentence
        here = cues(language_of(sentence.text, language))
        text = sentence.text
        bare = rules.stripped(text, here.language)
        if (
            sentence.box
            or rules.asks(text, here.language)
            or rules.labelled(text)
            or len(bare) < rules.SHORTEST
            or here.find("done", "not", text)
        ):
            continue
        if any(here.find("skip", name, text) for name in ("hypothetical", "boilerplate", "tried", "hearsay", "rejected")) or here.find(
            "task", "sure", text
        ):
            continue
        words = content(bare, here.language)
        named = bool(here.find("done", "sure", text) or here.find("done", "assistant", text))
        if not (named or deep):
            continue
        surely = likely(text, ASSISTANT, here.language, one.around)[DONE]
        if surely < KEEPS[DONE]:
            continue
        cue = surely >= ADDS[DONE] or named
        now = bool(here.find("exchange", "now", text))
        if len(words - content(_GENERIC, "en")) < 2 or not (cue or (changed and now)):
            continue
        score = (0.72 if cue and changed else 0.62 if cue else 0.6) + (0.03 if now else 0) + min(len(words), 8) * 0.004 + 0.1 * surely
        if surely >= SURE:
            sure.append((score, n, one))
        if best is None or score > best[0] + 0.02:
            best = score, n, one
    kept = sorted(sure, key=lambda found: -found[0])[:MOST]
    if best and best not in kept:
        kept = [best, *kept[: MOST - 1]]
    return [
        (rules.stripped(one.sentence.text, language), one.turn, score, one.heard)
        for score, _, one in sorted(kept, key=lambda found: found[1])
    ]
