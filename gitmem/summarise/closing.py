"""What was done in a piece of work, told by the last words of an agent. Pure."""

from collections.abc import Sequence

from gitmem.model.item import DONE
from gitmem.model.turn import ASSISTANT, Turn
from gitmem.summarise import rules
from gitmem.summarise.cues import cues
from gitmem.summarise.sentences import Sentence
from gitmem.summarise.weighing import ADDS, KEEPS, likely
from gitmem.summarise.words import content
from gitmem.summarise.words import language as language_of

SURE, MOST = (
    0.9,
    3,
)  # how likely a sentence tells what was done for it to be told beside the best, and how many are told of one piece of work
_GENERIC = "done implemented requested changes change everything successfully fixed updated completed finished task tasks work works working all tests test pass passed passes now request code file files"


def done(closing: Sequence[tuple[Sentence, Turn]], language: str, *, changed: bool) -> list[tuple[str, Turn, float]]:
    """Return the sentence that tells best what was done, its turn and how sure it is, and those that tell it very surely. `changed`: something was."""
    best: tuple[float, int, Sentence, Turn] | None = None
    sure: list[tuple[float, int, Sentence, Turn]] = []
    for n, (sentence, turn) in enumerate(closing):
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
        surely = likely(text, ASSISTANT, here.language)[DONE]
        if surely < KEEPS[DONE]:
            continue
        cue = surely >= ADDS[DONE] or bool(here.find("done", "sure", text) or here.find("done", "assistant", text))
        now = bool(here.find("exchange", "now", text))
        if len(words - content(_GENERIC, "en")) < 2 or not (cue or (changed and now)):
            continue
        score = (0.72 if cue and changed else 0.62 if cue else 0.6) + (0.03 if now else 0) + min(len(words), 8) * 0.004 + 0.1 * surely
        if surely >= SURE:
            sure.append((score, n, sentence, turn))
        if best is None or score > best[0] + 0.02:
            best = score, n, sentence, turn
    kept = sorted(sure, key=lambda one: -one[0])[:MOST]
    if best and best not in kept:
        kept = [best, *kept[: MOST - 1]]
    return [(rules.stripped(one[2].text, language), one[3], one[0]) for one in sorted(kept, key=lambda one: one[1])]
