"""The text of a line of output: without marks and places, and with the line that completes it.

Pure, read by hooks: most tests are plain string methods, because a pattern costs more to compile.
"""

from gitmem.base.fast import Lazy
from gitmem.fingerprint.tables import LINE_WORDS, any_of, any_pattern, of_tools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    PickedLine = tuple[int, str] | None

# these say by themselves that the line names an error
_ERROR_MARKS = (*LINE_WORDS["error_marks"], *of_tools("error_marks"))
_MARKS = (*_ERROR_MARKS, *LINE_WORDS["marks"], *of_tools("marks"))
_MARK_STARTS = "".join([mark[0] for mark in _MARKS])
# a missing command, as the shells say it
_ABSENT = Lazy(
    r"(?:\S+: )?(?:line )?(?:\(eval\):)?(?:\d+: )?(?:(\S+): (?:command )?not found"
    r"|(?:\S+:\d+: )?command not found: (\S+))"
)
_SHELL = Lazy(r"(?:[-\w./\\]*(?:sh|make)(?:\[\d+\])?|[-\w./]+\.sh|\(eval\)):(?: line)?(?: ?\d+:)? ")
_FOLDER = Lazy(
    r"(?:\S+ ?: )?(?:\w+ \d+ ?: )?(cd: (?!no such).+)"
    r"|(?:\S+:)?cd:(?:\d+:)? no such file or directory: (.+)"
)
# the next line goes on
_OPEN_ENDS = tuple([f" {word}" for word in LINE_WORDS["open_ends"]])
_CODE_ALONE = Lazy(r"(?:Error: )?[A-Z]{2,}(?:_[A-Z]+)+|Error: [A-Z]{1,5}\d{3,5}")
_SOURCE = Lazy(r"(?:>? *\d+ ?[|│]|[|│])")
_LEAD = Lazy(
    r"(?:[-\w./]+:\d+\.\d+(?:-\d+(?:\.\d+)?)?: |:?(?:[A-Za-z]:)?[-\w./\\@+~]+\.\w{1,8}(?::\d+"
    r"(?::\d+)?|:\[\d+,\d+\]|\(\d+(?:,\d+)?\)):? ?(?:- )?"
    r"|[-\w./\\@+~]+\.\w{1,8} \(\d+:\d+\): "
    r"|\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z| UTC"
    r"|[+-]\d\d:?\d\d)?\]?(?: \[?\d+\]?)?:? +"
    r"|(?:[A-Za-z]:)?[-\w./\\@+~]+\.\w{1,12} ?: (?=(?:fatal )?error\b)"
    rf"|-\s+(?=error|fatal)|{any_pattern(of_tools('leads'))})+"
)
_RELAYS = Lazy(any_pattern(of_tools("relays")))
_TAILS = Lazy(rf"{any_pattern(of_tools('tails'))}$")
_HAS_TAILS = of_tools("tail_ends")
_ADDS = [
    (Lazy(row["after"]), Lazy(row["line"]), row["within"], row.get("instead", False))
    for row in of_tools("adds")
]
# lines that wrap an error without telling anything about it
WRAPPING = Lazy(
    r"(?i)(?:error: )?(?:command failed with )?exit (?:code|status):? -?\d+\.?"
    rf"|</?{any_of(LINE_WORDS['wrappers'])}>"
)


def tidy(line: str) -> str:
    """Return a line without marks, times and places in front of what it says.

    As it is when nothing else is in it.
    """
    bare = bared(line)
    shell = _said_by_shell(bare)
    if shell:
        return shell
    bare = _RELAYS.sub("", bare).strip() or bare
    if bare.endswith(_HAS_TAILS):
        bare = _TAILS.sub("", bare).rstrip() or bare
    # all of it is quoted
    if bare.startswith(('Error: "', 'panic: "')) and bare.endswith('"') and bare.count('"') == 2:
        return bare.replace('"', "")
    first, _, rest = bare.partition(" ")
    name = first.rstrip(":")
    is_named = name.replace(".", "").isidentifier() and len(name) > 2
    if is_named and not rest.lstrip(": ").startswith(("error", "fatal")):  # the usual: `Error: ...`
        return bare
    lead = _LEAD.match(bare)
    return bare[lead.end() :].strip() or bare if lead else bare


def _said_by_shell(bare: str) -> str:
    """Return what a shell says of a missing command or folder; "" for another line."""
    if "not found" in bare:
        absent = _ABSENT.fullmatch(bare)
        if absent and (absent[2] or "command" in bare or _SHELL.match(bare)):
            return f"{absent[1] or absent[2]}: command not found"
    if "cd:" in bare:
        folder = _FOLDER.fullmatch(bare)
        if folder:
            return folder[1] or f"cd: {folder[2]}: No such file or directory"
    return ""


def bared(line: str) -> str:
    """Return a line without the marks that tools draw in front of it.

    Of a structured log, its message.
    """
    return _unmarked(line)[0]


def is_marked(line: str) -> bool:
    """Tell whether a mark in front of a line says that it names an error."""
    return _unmarked(line)[1]


def _unmarked(line: str) -> "tuple[str, bool]":
    """Return a line without its marks, and whether one of them says that it is an error."""
    bare = line.strip()
    is_error = False
    if bare.startswith(("====", "____", "----", "⎯⎯⎯")):
        bare = bare.strip("=_-⎯ ")
    elif bare.startswith('{"') or "level=error" in bare:
        bare = _logged(bare)
    elif bare.startswith("[") and bare[1:].partition(" ")[0].endswith("Error:"):
        bare = bare[1:].removesuffix(" {").removesuffix("]")
    while bare and bare[0] in _MARK_STARTS and bare.startswith(_MARKS):
        is_error = is_error or bare.startswith(_ERROR_MARKS)
        mark = next(mark for mark in _MARKS if bare.startswith(mark))
        bare = bare[len(mark) :].strip().removeprefix(": ")
        if mark == "│":  # a box has two sides
            bare = bare.removesuffix("│").rstrip()
    return bare, is_error


def _logged(line: str) -> str:
    """Return the message of a structured log's line."""
    for key in ('"Output":"', '"msg":"', '"message":"', '"error":"', ' msg="'):
        start = line.find(key)
        if start >= 0:
            said = line[start + len(key) :].replace('\\"', "'").partition('"')[0]
            return said.replace("\\n", " ").replace("\\t", " ").strip()
    return line


def next_said(lines: "Sequence[str]", at: int) -> "PickedLine":
    """Return the next line that has letters in it."""
    for number in range(at, min(len(lines), at + 12)):
        if any(map(str.isalnum, lines[number])):
            return number, bared(lines[number])
    return None


def completed(lines: "Sequence[str]", at: int, said: str) -> str:
    """Return what a line says with what the lines under it add.

    They do after a colon, in an open bracket, and where the row of a tool says so (`adds`).
    """
    if len(said) > 400:
        return said
    whole = with_added(lines, at, said)
    if whole != said:
        return whole
    more = next_said(lines, at + 1)
    if more is None:
        return said
    if said.endswith((":", "：", ": -")):
        return _with_list(lines, said, more)
    if _CODE_ALONE.fullmatch(said):
        return f"{said} {more[1]}"
    is_next = more[0] == at + 1
    if said.endswith(_OPEN_ENDS) and is_next and lines[more[0]].startswith("    "):
        return f"{said} {more[1]}"
    is_open = said.count("(") > said.count(")") and not more[1].startswith(("at ", "^"))
    return f"{said} {more[1]}" if is_open and is_next else said


def with_added(lines: "Sequence[str]", at: int, said: str) -> str:
    """Return what a line says with what the row of a tool takes from the lines under it."""
    for after, line, within, is_instead in _ADDS:
        match = after.search(said) and line.search("\n".join(lines[at + 1 : at + 1 + within]))
        if match:
            groups = [" ".join(group.split()) for group in match.groups() if group]
            joint = ", " if groups and groups[0].startswith("got: ") else ": "
            return joint.join(groups if is_instead else [said.removesuffix(":"), *groups])
    return said


def _with_list(lines: "Sequence[str]", said: str, more: "tuple[int, str]") -> str:
    """Return what a line that ends with a colon says with the line that follows it."""
    # after a place comes its source
    if said.startswith("Caused by") or said[-2:-1].isdigit() or _SOURCE.match(more[1]):
        return said
    if more[1].endswith(":") and " " not in more[1]:  # a heading
        more = next_said(lines, more[0] + 1) or more
    added = more[1].lstrip("-*• ").removeprefix("npm error ")
    return f"{said} {added}" if not added.startswith(("at ", "File ")) else said
