"""Commands that people and agents speak of in a conversation: `*develop`, `/review`, `git commit`.

Pure; hooks load it when a text may hold one.

`*important*` is emphasis, `2*x` is arithmetic, `* item` is a list, `*args` in code is code: none of
them is a command.
"""

from gitmem.base.fast import Lazy
from gitmem.state.workflow import GIT

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Container, Iterator

LONG = 20_000  # characters of a text that are looked at
MOST = 20  # commands of one text
ARGUMENT = 120  # characters of what a command is given
_NAME = r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*"
_FENCED = Lazy(r"(?ms)^[ \t]*(?:```|~~~).*?(?:^[ \t]*(?:```|~~~)[ \t]*$|\Z)")
_CODE = Lazy(r"`([^`\n]*)`")
_STAR = Lazy(rf"(?<![^\s\"'(«“‘>])\*({_NAME})(?![\w*\\/(\[=-]|\.\w)")
_LEAD = Lazy(
    r"\s*(?:>\s*)*(?:(?:[-+*]|\d{1,3}[.)])\s+)?(?:@[a-z][a-z0-9]*"
    r"(?:-[a-z0-9]+)*[,:]?\s+)?[\"'(«“‘]?"
)  # a quote, a list, an agent that is called, a quotation mark
_SLASH = Lazy(r"/((?:[A-Za-z0-9_-]+:)*)([a-z][a-z0-9_]*(?:-[a-z0-9_]+)*)(?=\s|$)")
_LOOKS_LIKE_CODE = Lazy(
    r";\s*$|[{}]|\w\(|\s[-+/*]?=\s|->|::|=>|\b(?:char|int|void|const|\w+_t|float|double|unsigned"
    r"|lambda)\s+\*"
)
# where an emphasis ends: a star after a letter, and nothing of a word behind it
_ENDS = Lazy(r"(?<=[^ \t*])\*(?![\w*])")
# -c and -C always take a value: were they taken for options without one too, a row of them could be
# read in endless ways
_GIT = Lazy(
    rf"(?:^|[;&|(]|\bsudo\s)\s*git((?:\s+-[cC]\s+\S+"
    rf"|\s+(?!-[cC]\s)--?[a-z][\w-]*(?:=\S+)?)*)\s+({'|'.join(GIT)})(?![\w-])"
)
_STORY = Lazy(r"(?i)(?<!\S)(?=[\w./-]*?stor(?:y|ies))[\w./-]++(?!\S)")
_AGENT = Lazy(r"@([a-z][a-z0-9]*(?:-[a-z0-9]+)*)(?=\s|$)")
# what an agent's CLI does with itself
OWN = frozenset(
    "add-dir agents bug clear compact compress config context copy cost diff doctor exit export "
    "fast help hooks ide init keybindings login logout "
    "mcp memory mem model new output-style permissions plugin privacy quit release-notes resume "
    "rewind settings stats status statusline "
    "terminal-setup theme tools upgrade usage vim".split()
)
# of an agent, not of the work
_ABOUT = frozenset({"exit", "guide", "help", "status", "session-info", "yolo"})


def may(text: str) -> bool:
    """Say at once whether a text may hold a command."""
    return "*" in text or text.lstrip()[:1] in {"/", "@"}


def commands(
    text: str, names: "Container[str]" = (), *, spoken_by_user: bool = True
) -> "list[str]":
    """Return the commands in a text in their order, without their mark.

    A command at the beginning of a line includes its arguments.

    `names` are names that are commands wherever they stand; any other has to stand apart: at the
    beginning of a line, or alone in a code span. A slash command is one where a user's text begins
    with it.
    """
    text = _FENCED.sub("", text[:LONG])
    out: list[str] = []
    if spoken_by_user and (slash := _SLASH.match(text.lstrip())) and slash[2] not in OWN:
        out.append(_with(slash[2], text.lstrip()[slash.end() :].partition("\n")[0]))
    for line in text.split("\n") if "*" in text else ():
        out += _starred(line, names)
    return out[:MOST]


def _starred(line: str, names: "Container[str]") -> "list[str]":
    if "*" not in line:
        return []
    alone = _CODE.sub(lambda span: span[1] if span[1].startswith("*") else "", line)
    if _LOOKS_LIKE_CODE.search(alone):
        return []
    quoted = {
        span[1].split()[0]
        for span in _CODE.finditer(line)
        if span[1].startswith("*") and span[1].split()
    }
    lead = _LEAD.match(alone)
    start = lead.end() if lead else 0
    out: list[str] = []
    for star in _stars(alone):
        name, first = star[1], star.start() == start
        is_command = first or name in names or f"*{name}" in quoted or "-" in name
        if name in _ABOUT or not is_command:
            continue
        if first and not _STAR.search(alone, star.end()):
            name = _with(name, alone[star.end() :])
        out.append(name)
    return out


def _stars(line: str) -> "Iterator[re.Match[str]]":
    """Yield the words with a star before them, without emphasis of several words."""
    ends = [end.end() for end in _ENDS.finditer(line)]
    at = passed = 0
    while (star := _STAR.search(line, at)) is not None:
        while passed < len(ends) and ends[passed] <= star.end():
            passed += 1
        if passed < len(ends):
            at = ends[passed]
        else:
            at = star.end()
            yield star


def _with(name: str, rest: str) -> str:
    given = " ".join(rest.split())[:ARGUMENT]
    return f"{name} {given}" if given and rest[:1] in {" ", "\t"} else name


def git_commands(command: str) -> "list[str]":
    """Return the git commands in a shell command line that advance work, each once.

    These are `git add`, `git commit` and `git push`.
    """
    if "git" not in command:
        return []
    return list(
        dict.fromkeys(
            f"git {match[2]}"
            for line in command[:LONG].split("\n")
            for match in _GIT.finditer(line)
        )
    )


def story_in(command: str) -> str:
    """Return what a command names as its story: a path or name that says so.

    '' when it names none.
    """
    match = _STORY.search(command.partition(" ")[2])
    return str(match[0]) if match else ""


def called(text: str) -> str:
    """Return the agent that a text begins by calling: `@dev please`; '' when it calls none.

    Whether there is one is not known here.
    """
    match = _AGENT.match(text.lstrip())
    return str(match[1]) if match else ""
