"""Whether one text takes the place of another, or says that what another asks for is done.

Of decisions: the same sentence with another choice in its place, or one that names what it is
instead of. Of tasks: what is done names all that the task is about.
"""

import re
from collections.abc import Collection
from functools import lru_cache

from gitmem.base.fast import Lazy
from gitmem.text import same_statement
from gitmem.text.equality import SIGNS, plain
from gitmem.text.same_statement import same

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_RUN = Lazy(rf"[{_CJK}]+|[^\W{_CJK}_]+(?:{SIGNS})?")
_STOP = frozenset(
    """a an the and or of to in on at for by with from as is are be been was were it its
this that we you they i do does did has have had will would should can not no so o os um
uma e em de da do das dos para por com se que não foi ser está ao as el la los las un
una y en del al con su es lo sus le les""".split()
)
_INSTEAD = Lazy(
    r"\b(?:instead of|rather than|no longer(?: use)?|in place of|and not|not|em vez d[eoa]s?"
    r"|ao invés d[eoa]s?|não mais|en (?:lugar|vez) de|ya no)\s++(?P<a>[^,.;:()]{2,60})"
    r"|\b(?:from|replac\w+|drop(?:ped|ping)?|remov\w+|substitu\w+"
    r"|reemplaz\w+)\s++(?P<b>[^\s,.;:()][^,.;:()]{1,39}?)\s{1,9}(?:to|with|by|por|pel[oa]|con"
    r"|in favou?r of)\b"
    r"|(?:而不是|不再使?用|不要再?用|而非|代替|取代)(?P<c>[^，。；、,.;]{1,20})",
    re.IGNORECASE,
)

FOR = Lazy(
    r"\s(?:for|to|in|on|as|when|because|since|para|como|porque|en|em|nos?|nas?)\s", re.IGNORECASE
)

_REASON = Lazy(
    r"\s(?:because|since|as it|so that|porque|pois|já que|ya que|puesto que)\s|因为|由于",
    re.IGNORECASE,
)
_PURPOSE = frozenset("for in on as para como en em no na nos nas".split())  # what a choice is for

# after these comes what was chosen
CHOOSING = frozenset(
    """use uses using used adopt adopts adopted choose chose chosen pick picked prefer
with to on usar usamos uso usa adotar adotamos escolher escolhemos com preferir utilizar
utilizamos elegir elegimos adoptar adoptamos con preferimos 用 使用 采用 选择 选用 改用""".split()
)


@lru_cache(maxsize=8192)
def words(text: str) -> frozenset[str]:
    """Return the telling words of a text, endings off.

    Of scripts without spaces pairs of characters.
    """
    out: set[str] = set()
    for run in _RUN.findall(plain(text)):
        if "\u3040" <= run[0] <= "\ud7af":
            out.update(run[i : i + 2] for i in range(len(run) - 1)) if len(run) > 1 else out.add(
                run
            )
        elif run not in _STOP:
            out.add(_stem(run))
    return frozenset(out)


def _stem(word: str) -> str:
    """Return a word without its plural ending, cut to a stem.

    It is cut where most endings of the languages that we know begin. A name with signs stays as it
    is.
    """
    if word[-1] in "+#":
        return word
    if len(word) > 3:
        word = word.removesuffix("s")
        word = word[:-2] + "y" if word.endswith("ie") else word
    return word[:6]


@lru_cache(maxsize=8192)
def overruled(text: str) -> tuple[frozenset[str], ...]:
    """Return what a text says is no longer so, as telling words.

    Of `use X instead of Y`, these are the words of Y.
    """
    names = (match["a"] or match["b"] or match["c"] for match in _INSTEAD.finditer(text))
    return tuple(said for name in names if (said := words(FOR.split(name, maxsplit=1)[0])))


def _matter(text: str) -> frozenset[str]:
    """Return what a decision is about, as far as it says so.

    Of `use X for Y, because Z`, these are the words of Y.
    """
    return words(" ".join(FOR.split(without_reason(text))[1:]))


@lru_cache(maxsize=8192)
def _row(text: str) -> tuple[str, ...]:
    """Return the words of a text in their order, as they are compared."""
    return tuple(plain(text).split())


def without_reason(text: str) -> str:
    """Return what a text says without why: of `use X, because Y`, `use X,`."""
    return str(_REASON.split(text, maxsplit=1)[0])


def replaces(new: str, old: str) -> bool:
    """Return whether a newer text replaces an older one about the same matter.

    It says so, or is the same but for one choice.
    """
    ours, theirs = words(new), words(old)
    if not ours & theirs or same(new, old):
        return False
    chosen = theirs.difference(*overruled(old))  # what it refused itself was never chosen
    for gone in overruled(new):
        here, there = _matter(new) - gone, _matter(old) - gone
        if (
            gone <= chosen
            and len(gone) < len(theirs)
            and (ours & theirs) - gone
            and (not here or not there or here & there)
        ):
            return True
    a, b = _row(new), _row(old)
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        start += 1
    end = 0
    while end < min(len(a), len(b)) - start and a[-1 - end] == b[-1 - end]:
        end += 1
    after = a[len(a) - end :]
    differing = max(len(a), len(b)) - start - end
    # the same sentence with another choice in its place: what follows says for what, and that must
    # be the same; a reason does not
    says_for = bool(after) and after[0] in _PURPOSE and bool(words(" ".join(after)))
    return (
        0 < differing <= 2
        and start > 0
        and a[start - 1] in CHOOSING
        and says_for
        and min(len(a), len(b)) - start - end > 0
    )


def beside(text: str, detail: str) -> str:
    """Return a detail as far as a text does not say it already: all of it, or nothing."""
    return "" if plain(detail) in plain(text) else detail


DONE, PERHAPS = "done", "perhaps"
NEARLY = 0.75  # of what a task is about, in what is said to be done, for it to be asked about
_NEW = words("new nova novo nuevo nueva also too")  # say nothing of what a task is about


def closes(done: str, task: str) -> str:
    """Return whether what is done is what a task asks for: DONE, PERHAPS, or an empty text.

    A task is done if all that it is about is named, its verb apart. It is perhaps done if only a
    part of it is named, and nothing else.
    """
    asked, said, verb = words(same_statement.bare(task)), words(done), verb_of(task)
    about = asked - verb - _NEW or asked
    if not said or not about:
        return ""
    if about <= said and (len(about) > 1 or said - verb <= about):
        return DONE
    shared, extra = named(about, said), said - named(said, asked)
    if len(shared) >= NEARLY * len(about):
        # a number or a version always tells
        is_plain = not any(map(str.isdigit, "".join(about - shared)))
        return DONE if is_plain and not extra else PERHAPS
    return PERHAPS if shared and not extra else ""


def verb_of(task: str) -> frozenset[str]:
    """Return the first telling word of a task, as it is compared."""
    runs = same_statement.bare(task).split()
    heads = (words(run[:3] if run[0] > "\u3000" else run) for run in runs)
    return next(filter(None, heads), frozenset())


def named(some: Collection[str], others: Collection[str]) -> set[str]:
    """Return the stems of some words that are of one word with any of others."""
    return {stem for stem in some if any(_is_same_word(stem, other) for other in others)}


def _is_same_word(first: str, other: str) -> bool:
    """Say whether two stems are of one word: `test`, `tested`."""
    return first == other or (
        min(len(first), len(other)) > 3 and (first.startswith(other) or other.startswith(first))
    )
