"""Statements of a Markdown file that an agent reads as its memory.

A statement is a bullet, a paragraph or a piece with a heading, with its lines. This module is pure.

What is not a statement is passed over: comments, our own blocks, code without words to it,
pictures, lines that only lead to a list. A fence of code belongs to the words before it. `@path`
lines are told apart, they name other files.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from gitmem.records.kinds import text_key
from gitmem.records.texts import clean_body, clean_title
from gitmem.redaction.formats import public
from gitmem.services.memory_files.foreign_blocks import foreign_blocks
from gitmem.services.memory_files.managed_block import regions
from gitmem.services.memory_files.note_types import type_of
from gitmem.text.markdown import FENCE, IMPORT, ITEM, Piece, pieces_of, without_code_spans

MOST = 500  # statements of one file
MOST_OF_A_VALUE = 500  # characters of a pattern with braces in a list
TITLE = 200  # characters of a title, from which on a first sentence is looked for
TITLE = 280  # characters of a title with its exceptions or steps
BODY = 20_000  # characters of a body that are kept
STEPS = 200  # items below one line that are one statement; what follows is the next one
DEEP = 4  # lists in lists that are told in a title

# in a sentence; a decorator or a person is none
_INLINE = re.compile(r"(?<![^\s(])@((?:[^\s\\`]|\\ (?!@))+\.(?:mdx?|txt))\b")
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+\.md)\)")
_PICTURE = re.compile(r"!?\[[^\[\]]*+\]\([^)]{0,500}\)|!\[|\[|\]|\(https?://[^()]*\)")
_WORD = re.compile(r"[^\W_]+")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")
# what makes an exception: at its beginning, or somewhere in what allows something
_UNLESS = (
    r"except\b|unless\b|excluding\b|exceto\b|excepto\b|salvo\b|a menos que\b|a não ser\b|a no ser\b"
    r"|除非|除了"
)
_EXCEPTION = re.compile(
    rf"(?i)^(?:{_UNLESS}|exceptions?\b|other than\b|apart from\b|aside from\b|save for\b|but\b"
    rf"|only (?:if|when|for|in|on|after|with|by)\b|not (?:for|in|when|if|on|even)\b"
    r"|exceç(?:ão|ões)\b|excepci(?:ón|ones)\b|mas\b|pero\b|menos\b|só (?:se|em|para)\b"
    r"|s[oó]lo (?:si|en|para)\b|例外|但|仅|只有)"
    r"|\b(?:(?:is|are|it's) (?:fine|ok|okay|allowed|permitted)|allowed (?:in|for|when|if|on)"
    r"|okay? (?:in|for|when|if|on)|exempt|(?:é|são) permitid[oa]s?|(?:est[áa]n?) permitid[oa]s?)\b"
    r"|除外|允许"
)
_SIBLING = re.compile(rf"(?i)(?:{_UNLESS})")  # of an item beside its rule
_WIDE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


# what is numbered so that it can be named, not done in that order
_BESIDE_WORDS = {"code", "table"}  # kinds of pieces that words above them explain
_APART = {"rule", "decision", "preference", "task"}


@dataclass(frozen=True, slots=True)
class FileStatement:
    """One statement. `lines` are (first, last), counted from 1; `key` tells its words from others.

    `older` has (key, title, body) as they are without the exceptions and steps that are told with
    it: by them a record is known that was read when these were not there, or were not joined yet.
    """

    title: str
    body: str
    lines: tuple[int, int]
    type: str = "fact"
    key: str = ""
    older: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class NotePage:
    """What a file says: its statements, the files it imports, the keys of its front matter."""

    statements: tuple[FileStatement, ...] = ()
    imports: tuple[tuple[int, str], ...] = ()
    front: dict[str, list[str]] = field(default_factory=dict)
    dropped: int = 0  # statements past the most that are taken


def same_words(title: str, body: str) -> str:
    """Return a text in the form in which it is compared with other records.

    Case, spaces and the full stop at its end do not count.
    """
    return " ".join(f"{title} {body}".casefold().split()).rstrip(" .;。")


def parse(
    text: str,
    is_name: Callable[[str], bool] = lambda _: False,
    scrub: Callable[[str], str] = lambda text: text,
) -> NotePage:
    """Return what a Markdown file says.

    `is_name` says whether a bullet's link leads to a file that is read by itself, so that the
    bullet is only a pointer; `scrub` masks secrets.
    """
    lines = (
        public(text, keeps_lines=True)
        .removeprefix("\ufeff")
        .replace("\r\n", "\n")
        .replace("\r", "\n")
        .split("\n")
    )
    front, start = _front(lines)
    # a fence holds what it holds: a secret is masked in the statement, a comment mark in code is
    # code
    masked = _without_comments(lines, start)
    pieces = list(pieces_of(masked, start))
    imports = [(p.first, name.replace("\\ ", " ")) for p in pieces for name in _imported(p)]
    out: list[FileStatement] = []
    for piece in _joined(pieces):
        statement = _statement(piece, is_name, scrub)
        if statement is not None:
            out.append(statement)
    return NotePage(tuple(out[:MOST]), tuple(imports), front, max(0, len(out) - MOST))


def _imported(piece: Piece) -> list[str]:
    if piece.kind not in {"text", "item"}:
        return []
    alone = IMPORT.fullmatch(piece.text)
    return [alone[1]] if alone else _INLINE.findall(without_code_spans(piece.text))


def whole(
    page: NotePage,
    text: str,
    title: str,
    type: str,
    scrub: Callable[[str], str] = lambda text: text,
) -> FileStatement | None:
    """Return a file as one statement that has a title of its own.

    The result is None if the file has nothing besides its front matter and title.
    """
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    _, start = _front(lines)
    body = "\n".join(_without_comments(lines, start)[start:])
    heading, rest = clean_title(scrub(title)), clean_body(scrub(body))[:BODY]
    if not heading or not (rest.strip() or page.statements):
        return None
    return FileStatement(
        heading, rest, (1, max(1, len(lines) - (not lines[-1]))), type, text_key(heading, rest)
    )


def _end_of_front(lines: Sequence[str]) -> int:
    """Return the number, from 0, of the line that closes the front matter; 0 if there is none."""
    if not lines or lines[0].rstrip() != "---":
        return 0
    for number, line in enumerate(lines[1:200], 1):
        if line.rstrip() in {"---", "..."}:
            return number
    return 0


def _front(lines: Sequence[str]) -> tuple[dict[str, list[str]], int]:
    """Return the front matter's keys, nested ones too, and the line that follows it.

    Read by lines: a glob is often no YAML.
    """
    end = _end_of_front(lines)
    if not end:
        return {}, 0
    out: dict[str, list[str]] = {}
    key = ""
    for line in lines[1:end]:
        if (item := re.match(r"\s*-\s+(.*)$", line)) and key:
            out[key] += _values(item[1])
        elif pair := re.match(r"\s*([A-Za-z_][\w-]*)\s*:\s*(.*)$", line):
            key = pair[1].lower()
            values = _values(pair[2]) if key in {"paths", "globs"} else [_bare(pair[2])]
            out[key] = [value for value in values if value]
    return out, end + 1


def _values(text: str) -> list[str]:
    """Return the values of `a, b`, `["a", "b"]` or `- a`.

    A comma inside of braces divides nothing.
    """
    values = []
    part = ""
    for piece in text.strip().removeprefix("[").removesuffix("]").split(","):
        part = f"{part},{piece}" if part else piece
        if part.count("{") > part.count("}") and len(part) < MOST_OF_A_VALUE:
            continue
        values.append(_bare(part))
        part = ""
    values.append(_bare(part))
    return [value for value in values if value]


def _bare(text: str) -> str:
    text = text.strip()
    return (
        text[1:-1]
        if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
        else re.sub(r"\s#.*$", "", text)
    )


def _without_comments(lines: Sequence[str], start: int) -> list[str]:
    """Return the lines, empty where a comment or a block of ours or of another tool is."""
    out = list(lines)
    for first, last in (*regions(lines), *foreign_blocks(lines)):
        out[first : last + 1] = [""] * (last + 1 - first)
    inside, fence = False, ""
    for n in range(start, len(out)):
        mark = None if inside else FENCE.match(out[n])
        if mark:
            fence = _next_fence(fence, mark[1], out[n])
        elif not fence:
            out[n], inside = _visible(out[n], inside)
    return out


def _next_fence(fence: str, mark: str, line: str) -> str:
    """Return the fence that is open after a line with the mark of one."""
    if not fence:
        return mark
    is_end = mark.startswith(fence) and not line.strip().strip(fence[0])
    return "" if is_end else fence


def _visible(line: str, inside: bool) -> tuple[str, bool]:
    """Return a line without its comments, and whether it ends inside of one."""
    kept = ""
    while line:
        before, mark, line = line.partition("-->" if inside else "<!--")
        kept += "" if inside else before
        inside = inside != bool(mark)
    return kept, inside


def _joined(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """Yield the pieces that may be statements.

    Code and tables are joined with the words before them, steps with the line that introduces them.
    """
    joining = _Joining(pieces)
    while (piece := joining.next()) is not None:
        yield from joining.joined(piece)


class _Joining:
    """The pieces of a file, and up to where they are joined."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self._pieces = pieces
        self._at = 0
        self._apart = 0  # up to here items stand alone

    def next(self) -> Piece | None:
        """Return the next piece, None at the end."""
        if self._at == len(self._pieces):
            return None
        self._at += 1
        return self._pieces[self._at - 1]

    def joined(self, piece: Piece) -> Iterator[Piece]:
        """Yield the piece that was read last, with those below that belong to it."""
        if piece.kind == "head":
            yield from self._below_heading(piece)
        elif piece.kind == "item":
            yield from self._below_item(piece)
        elif piece.kind == "text" and piece.text.rstrip().endswith((":", "：")):
            yield from self._introduced(piece)
        elif piece.kind not in _BESIDE_WORDS:  # of those nobody says what they are
            yield self._with_code(piece)

    def _take_while(self, belongs: Callable[[Piece], bool]) -> list[Piece]:
        start = self._at
        while self._at < len(self._pieces) and belongs(self._pieces[self._at]):
            self._at += 1
        return list(self._pieces[start : self._at])

    def _with_code(self, piece: Piece) -> Piece:
        return _with(piece, self._take_while(lambda below: below.kind in _BESIDE_WORDS))

    def _below_heading(self, head: Piece) -> Iterator[Piece]:
        if self._at < len(self._pieces) and self._pieces[self._at].kind in _BESIDE_WORDS:
            self._at += 1
            yield _with(replace(head, kind="section"), [self._pieces[self._at - 1]])
        else:
            yield from self._steps(self._at, replace(head, kind="steps"))

    def _below_item(self, item: Piece) -> Iterator[Piece]:
        steps: list[Piece] = []
        if item.head and self._at > self._apart:  # words stand between the heading and them
            lead = Piece("steps", item.first, item.last, item.head, item.head)
            steps = self._steps(self._at - 1, lead)
        if steps:
            yield from steps
            return
        siblings = self._take_while(
            lambda below: below.kind == "item" and _SIBLING.match(below.text) is not None
        )
        if siblings:
            marked = [replace(below, text=_marked("- ", below.text)) for below in siblings]
            item = replace(_with(item, marked, "\n"), alone=item.text)
        yield self._with_code(item)

    def _steps(self, start: int, lead: Piece) -> list[Piece]:
        """Return the steps that begin at a place with the line that leads to them, if any do."""
        self._apart, is_steps = _end_of_steps(self._pieces, start)
        if not is_steps:
            return []
        self._at = self._apart
        return list(_stepped(lead, self._pieces[start : self._at]))

    def _introduced(self, text: Piece) -> Iterator[Piece]:
        """Yield a text that ends in a colon with the list below it.

        Items that can stand alone do; they get the text as a heading.
        """
        start = self._at
        below = self._take_while(
            lambda item: item.kind == "item" and item.ordered == self._pieces[start].ordered
        )
        if not below:
            yield self._with_code(text)
        elif all(item.ordered for item in below) or all(
            len(_WORD.findall(item.text)) < 4 for item in below
        ):
            *parts, last = _stepped(text, below)
            yield from parts
            yield self._with_code(last)
        else:
            self._at = start
            for item in below:
                item.head = f"{item.head} {text.text}"


def _end_of_steps(pieces: Sequence[Piece], at: int) -> tuple[int, bool]:
    """Return the end of a numbered list that begins here, and whether its items are steps.

    The list may have code between its items. Rules and decisions are not steps.
    """
    end, items = at, list[Piece]()
    while end < len(pieces) and (
        (pieces[end].kind == "item" and pieces[end].ordered)
        or (items and pieces[end].kind in {"code", "table"})
    ):
        items += [pieces[end]] if pieces[end].kind == "item" else []
        end += 1
    if len(items) < 2 or any(item.box for item in items) or type_of("", items[0].head) in _APART:
        return end, False
    apart = sum(type_of(item.text.partition("\n")[0]) in _APART for item in items)
    return end, 2 * apart <= len(items)


def _stepped(piece: Piece, below: Sequence[Piece]) -> Iterator[Piece]:
    """Yield a piece with a list below it, numbered on, code of its items among them.

    Of a list that is very long more than one such.
    """
    number, first = 0, piece.first
    part = list[Piece]()
    for child in below:
        if child.kind == "item" and number and number % STEPS == 0:
            yield replace(_with(piece, part, "\n"), first=first)
            part, first = [], child.first
        number += child.kind == "item"
        mark = "   " if child.kind != "item" else f"{number}. " if child.ordered else "- "
        part.append(replace(child, text=_marked(mark, child.text)))
    yield replace(_with(piece, part, "\n"), first=first)


def _marked(mark: str, text: str) -> str:
    return mark + text.replace("\n", "\n" + " " * len(mark))


def _with(piece: Piece, below: Sequence[Piece], gap: str = "\n\n") -> Piece:
    if not below:
        return piece
    first = gap if "\n" in piece.text else "\n\n"
    return replace(
        piece,
        last=below[-1].last,
        text=f"{piece.text}{first}{gap.join(child.text for child in below)}",
    )


def _statement(
    piece: Piece, is_name: Callable[[str], bool], scrub: Callable[[str], str]
) -> FileStatement | None:
    """Return a piece as a statement; None when it says nothing."""
    if piece.box == "x" or IMPORT.fullmatch(piece.text):
        return None
    link = _LINK.match(piece.text.lstrip("* "))
    if link and is_name(link[1]):
        return None
    head, below = _parted(scrub(piece.text))
    if (
        (piece.kind not in {"section", "steps"} and not _says(head))
        or not head
        or (head.endswith((":", "：")) and not below.strip())
    ):
        return None
    title, below = bare = divided(head, below)
    kind = type_of(clean_title(title.replace("**", "")), piece.head, task=bool(piece.box))
    title, body = _clean(*title_with_details(title, below, kind, steps=piece.kind == "steps"))
    key = text_key(title, body)
    before = [
        _clean(*bare),
        *([_clean(*divided(*_parted(scrub(piece.alone))))] if piece.alone else []),
    ]
    older = tuple(
        (older_key, *said)
        for said in dict.fromkeys(before)
        if (older_key := text_key(*said)) != key
    )
    return FileStatement(title, body, (piece.first, piece.last), kind, key, older)


def _parted(text: str) -> tuple[str, str]:
    """Return the first line of a text, whole, and what is below it."""
    first, _, rest = text.partition("\n\n")
    head, below = _headline(first)
    return head, f"{below}\n\n{rest}" if below and rest else below or rest


def _clean(title: str, below: str) -> tuple[str, str]:
    return clean_title(title.replace("**", "")), clean_body(below[:BODY])


def title_with_details(
    title: str, below: str, kind: str, *, steps: bool = False
) -> tuple[str, str]:
    """Return a title with what must never be shown without it, and what is left below it.

    Exceptions, what narrows a rule, steps, and what follows a colon must stay with the title.

    Whoever sees titles alone, in a list or in a block, would take a rule for one without
    exceptions. What has no room in the title stays below.
    """
    lead = _list_of(below)
    if not lead or any(piece.box for piece in lead):
        return title, below
    colon = steps or title.endswith((":", "："))
    parts = [_flat(piece, number) for number, piece in enumerate(lead, max(1, lead[0].number))]
    narrow = [part for part in parts if _EXCEPTION.search(part[0])]
    chosen = parts if colon or kind == "rule" else narrow
    if not chosen:
        return title, below
    whole = _with_parts(title, [part for part, _ in chosen], colon=colon)
    if len(whole) > TITLE:
        return _shortened(title, whole, narrow, colon=colon), below
    if len(chosen) == len(parts) and all(complete for _, complete in parts):
        return whole, "\n".join(below.split("\n")[lead[-1].last :])
    return whole, below


def _shortened(title: str, whole: str, narrow: Sequence[tuple[str, bool]], *, colon: bool) -> str:
    """Return a title with its exceptions alone if there is room, else the start of `whole`."""
    less = _with_parts(title, [part for part, _ in narrow], colon=colon)
    if narrow and len(less) <= TITLE:
        return less
    return f"{whole[: TITLE - 1].rsplit(' ', 1)[0].rstrip(' ,;')}…"


def _list_of(below: str) -> list[Piece]:
    """Return the list that a text begins with.

    A paragraph that makes an exception counts as a list of one.
    """
    out: list[Piece] = []
    for piece in pieces_of(below.split("\n"), 0):
        if piece.kind != "item" and (
            out or piece.kind != "text" or not _EXCEPTION.match(piece.text)
        ):
            break
        out.append(piece)
    return out


def _flat(piece: Piece, number: int = 0, depth: int = 1) -> tuple[str, bool]:
    """Return an item with what is below it as one line, and whether all of it is there.

    The number is that of a step.
    """
    first, _, rest = piece.text.partition("\n\n")
    head, below = _headline(first)
    head = head.rstrip(" .;:。；：")
    inner = list(pieces_of(below.split("\n"), 0)) if below and depth < DEEP else []
    complete = (
        not rest
        and bool(inner or not below)
        and all(child.kind == "item" and not child.box for child in inner)
    )
    if inner and complete:
        parts = [
            _flat(child, n, depth + 1) for n, child in enumerate(inner, max(1, inner[0].number))
        ]
        head = f"{head.rstrip(':：')} ({'; '.join(part for part, _ in parts)})"
        complete = all(all_ for _, all_ in parts)
    return (f"{number}. {head}" if piece.ordered and number else head), complete


def _with_parts(title: str, parts: Sequence[str], *, colon: bool) -> str:
    if colon:
        return f"{title.rstrip(' .:：')}{'：' if title.endswith('：') else ': '}{'; '.join(parts)}"
    return "".join(
        [
            title.rstrip(" .;。；"),
            *(f"{', ' if _EXCEPTION.match(part) else '; '}{part}" for part in parts),
        ]
    )


def divided(line: str, below: str = "") -> tuple[str, str]:
    """Return a line as a title, and the text below it.

    A long line goes below, whole or without its first sentence.
    """
    if len(line) <= TITLE:
        return line, below
    parts = _SENTENCE.split(line, maxsplit=1)
    title = (
        parts[0]
        if len(parts) > 1 and len(parts[0]) <= TITLE
        else f"{line[: TITLE - 1].rsplit(' ', 1)[0].rstrip()}…"
    )
    more = parts[1] if len(parts) > 1 and title == parts[0] else line
    return title, f"{more}\n\n{below}" if below else more


def _headline(text: str) -> tuple[str, str]:
    """Return the lines of a paragraph as one line, and a list or code that follows in it."""
    lines = text.split("\n")
    n = next(
        (n for n, line in enumerate(lines) if n and (ITEM.match(line) or FENCE.match(line))),
        len(lines),
    )
    return " ".join(" ".join(lines[:n]).split()), "\n".join(lines[n:])


def _says(head: str) -> bool:
    """Say whether a line can be a statement: two words at least, beside pictures and bare links."""
    bare = _PICTURE.sub(" ", head) if head.startswith(("![", "[!")) else head
    return len(_WORD.findall(bare)) >= 2 or len(_WIDE.findall(bare)) >= 4
