"""Statements of a Markdown file that an agent reads as its memory: each bullet, paragraph or headed piece, with its lines. Pure.

What is no statement is passed over: comments, our own blocks, code without words to it, pictures, lines that only lead to a list. A fence of
code belongs to the words before it. `@path` lines are told apart, they name other files.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256

from gitmem.model.block import regions
from gitmem.model.cues import type_of
from gitmem.model.record import clean_body, clean_title

MOST = 500  # statements of one file
TITLE = 200  # characters of a title, from which on a first sentence is looked for
TOLD = 280  # characters of a title with its exceptions or steps
BODY = 20_000  # characters of a body that are kept

_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_RULER = re.compile(r" {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-{2,})[ \t]*$")
_ITEM = re.compile(r"([ \t]*)([-*+]|\d{1,9}[.)])([ \t]+)(?=\S)(.*)$")
_BOX = re.compile(r"\[([ xX])\][ \t]+")
_IMPORT = re.compile(r"@((?:[^\s\\]|\\ )+)$")
_INLINE = re.compile(r"(?<![^\s(])@((?:[^\s\\`]|\\ )+\.(?:mdx?|txt))\b")  # in a sentence; a decorator or a person is none
_CODE = re.compile(r"(`+).*?\1", re.DOTALL)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+\.md)\)")
_PICTURE = re.compile(r"!?\[[^\]]*\]\([^)]*\)|!\[|\[|\]|\(https?://[^)]*\)")
_WORD = re.compile(r"[^\W_]+")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")
# what makes an exception: at its beginning, or somewhere in what allows something
_UNLESS = r"except\b|unless\b|excluding\b|exceto\b|excepto\b|salvo\b|a menos que\b|a não ser\b|a no ser\b|除非|除了"
_EXCEPTION = re.compile(
    rf"(?i)^(?:{_UNLESS}|exceptions?\b|other than\b|apart from\b|aside from\b|save for\b|but\b|only (?:if|when|for|in|on|after|with|by)\b|not (?:for|in|when|if|on|even)\b"
    r"|exceç(?:ão|ões)\b|excepci(?:ón|ones)\b|mas\b|pero\b|menos\b|só (?:se|em|para)\b|s[oó]lo (?:si|en|para)\b|例外|但|仅|只有)"
    r"|\b(?:(?:is|are|it's) (?:fine|ok|okay|allowed|permitted)|allowed (?:in|for|when|if|on)|okay? (?:in|for|when|if|on)|exempt|(?:é|são) permitid[oa]s?|(?:est[áa]n?) permitid[oa]s?)\b|除外|允许"
)
_SIBLING = re.compile(rf"(?i)(?:{_UNLESS})")  # of an item beside its rule
_WIDE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


_APART = {"rule", "decision", "preference", "task"}  # what is numbered so that it can be named, not done in that order


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement. `lines` are (first, last), counted from 1; `key` tells its words from others."""

    title: str
    body: str
    lines: tuple[int, int]
    type: str = "fact"
    key: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """What a file says: its statements, the files it imports, the keys of its front matter."""

    statements: tuple[Statement, ...] = ()
    imports: tuple[tuple[int, str], ...] = ()
    front: dict[str, list[str]] = field(default_factory=dict)
    dropped: int = 0  # statements past the most that are taken


@dataclass(slots=True)
class _Piece:
    """A paragraph, list item, fence or table: `text` without its mark and its indent."""

    kind: str
    first: int
    last: int
    text: str
    head: str = ""
    ordered: bool = False
    box: str = ""


def text_key(title: str, body: str) -> str:
    """Return what tells one text from another: 16 hex characters; how its lines are broken does not count."""
    return sha256(f"{' '.join(title.split())}\n{' '.join(body.split())}".encode("utf-8", "replace")).hexdigest()[:16]


def same_words(title: str, body: str) -> str:
    """Return a text as it is compared with other records: case, spaces and the full stop at its end do not count."""
    return " ".join(f"{title} {body}".casefold().split()).rstrip(" .;。")


def parse(text: str, known: Callable[[str], bool] = lambda _: False, scrub: Callable[[str], str] = lambda text: text) -> Page:
    """Return what a Markdown file says.

    `known` says whether a bullet's link leads to a file that is read by itself, so that the bullet is only a pointer; `scrub` masks secrets.
    """
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    front, start = _front(lines)
    # a fence holds what it holds: a secret is masked in the statement, a comment mark in code is code
    masked = _without_comments(lines, start)
    pieces = list(_pieces(masked, start))
    imports = [(p.first, name.replace("\\ ", " ")) for p in pieces for name in _imported(p)]
    out: list[Statement] = []
    for piece in _joined(pieces):
        statement = _statement(piece, known, scrub)
        if statement is not None:
            out.append(statement)
    return Page(tuple(out[:MOST]), tuple(imports), front, max(0, len(out) - MOST))


def _imported(piece: "_Piece") -> list[str]:
    if piece.kind not in {"text", "item"}:
        return []
    alone = _IMPORT.fullmatch(piece.text)
    return [alone[1]] if alone else _INLINE.findall(_CODE.sub("", piece.text))


def whole(page: Page, text: str, title: str, type: str, scrub: Callable[[str], str] = lambda text: text) -> Statement | None:
    """Return a file as one statement that has a title of its own, None when the file says nothing beyond its front matter and title."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    _, start = _front(lines)
    body = "\n".join(_without_comments(lines, start)[start:])
    heading, rest = clean_title(scrub(title)), clean_body(scrub(body))[:BODY]
    if not heading or not (rest.strip() or page.statements):
        return None
    return Statement(heading, rest, (1, max(1, len(lines) - (not lines[-1]))), type, text_key(heading, rest))


def _front(lines: Sequence[str]) -> tuple[dict[str, list[str]], int]:
    """Return the front matter's keys, nested ones too, and the line that follows it. Read by lines: a glob is often no YAML."""
    if not lines or lines[0].rstrip() != "---":
        return {}, 0
    end = next((n for n in range(1, min(len(lines), 200)) if lines[n].rstrip() in {"---", "..."}), 0)
    if not end:
        return {}, 0
    out: dict[str, list[str]] = {}
    key = ""
    for line in lines[1:end]:
        if (item := re.match(r"\s*-\s+(.*)$", line)) and key:
            out[key] += _values(item[1])
        elif pair := re.match(r"\s*([A-Za-z_][\w-]*)\s*:\s*(.*)$", line):
            key = pair[1].lower()
            out[key] = _values(pair[2]) if key in {"paths", "globs"} else [one] if (one := _bare(pair[2])) else []
    return out, end + 1


def _values(text: str) -> list[str]:
    """Return the values of `a, b`, `["a", "b"]` or `- a`; a comma inside of braces divides nothing."""
    parts = re.split(r",(?![^{]*\})", text.strip().removeprefix("[").removesuffix("]"))
    return [one for part in parts if (one := _bare(part))]


def _bare(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else re.sub(r"\s#.*$", "", text)


def _without_comments(lines: Sequence[str], start: int) -> list[str]:
    """Return the lines, empty where a comment or a block of ours is."""
    out = list(lines)
    for first, last in regions(lines):
        out[first : last + 1] = [""] * (last + 1 - first)
    inside, fence = False, ""
    for n in range(start, len(out)):
        line = out[n]
        if not inside and (mark := _FENCE.match(line)):
            if not fence:
                fence = mark[1]
            elif mark[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
            continue
        if fence:
            continue
        kept = ""
        while line:
            before, mark_, line = line.partition("-->" if inside else "<!--")
            kept += "" if inside else before
            inside = inside != bool(mark_)
        out[n] = kept
    return out


def _pieces(lines: Sequence[str], at: int) -> Iterator[_Piece]:
    """Yield paragraphs, list items with what is below them, fences and tables; a heading is noted in those that follow."""
    head = ""
    while at < len(lines):
        line = lines[at]
        if not line.strip():
            at += 1
        elif found := _HEADING.match(line):
            head = found[2] or ""
            yield _Piece("head", at + 1, at + 1, head, head)
            at += 1
        elif _RULER.match(line):
            at += 1
        elif mark := _FENCE.match(line):
            end = _end_of_fence(lines, at, mark[1])
            yield _Piece("code", at + 1, end + 1, "\n".join(lines[at : end + 1]), head)
            at = end + 1
        elif item := _ITEM.match(line):
            end = _end_of_item(lines, at)
            yield _item(lines, at, end, item, head)
            at = end + 1
        else:
            end = at
            while end + 1 < len(lines) and _goes_on(lines[end + 1]) and not _IMPORT.fullmatch(line.strip()):
                end += 1
            if end + 1 < len(lines) and _UNDERLINE.match(lines[end + 1]) and end == at:
                head = line.strip()
                yield _Piece("head", at + 1, at + 2, head, head)
                at += 2
                continue
            text = "\n".join(one.strip() for one in lines[at : end + 1])
            kind = "table" if all(one.lstrip().startswith("|") for one in lines[at : end + 1]) else "text"
            yield _Piece(kind, at + 1, end + 1, re.sub(r"(?m)^>[ \t]?", "", text), head)
            at = end + 1


def _goes_on(line: str) -> bool:
    return bool(line.strip()) and not (
        _HEADING.match(line)
        or _FENCE.match(line)
        or _ITEM.match(line)
        or _RULER.match(line)
        or _UNDERLINE.match(line)
        or _IMPORT.fullmatch(line.strip())
    )


def _end_of_fence(lines: Sequence[str], at: int, mark: str) -> int:
    for n in range(at + 1, len(lines)):
        close = lines[n].strip()
        if close.startswith(mark) and not close.strip(mark[0]):
            return n
    return len(lines) - 1


def _wide(text: str) -> int:
    """Return how far a text is indented."""
    text = text.expandtabs(4)
    return len(text) - len(text.lstrip())


def _end_of_item(lines: Sequence[str], at: int) -> int:
    """Return the last line of a list item: what is indented below it, and lines that go on without an indent."""
    depth = _wide(lines[at])
    end, n = at, at + 1
    while n < len(lines):
        line = lines[n]
        if not line.strip():
            after = next((m for m in range(n, min(n + 3, len(lines))) if lines[m].strip()), -1)
            if after < 0 or _wide(lines[after]) < depth + 2:
                break
            n = after
            continue
        deep = _wide(line)
        fence = _FENCE.match(line)
        if deep <= depth and (_ITEM.match(line) or _HEADING.match(line) or _RULER.match(line) or (fence and deep < depth + 2)):
            break
        if deep < depth + 2 and (not lines[n - 1].strip() or _IMPORT.fullmatch(line.strip())):
            break
        end = n = _end_of_fence(lines, n, fence[1]) if fence else n
        n += 1
    return end


def _item(lines: Sequence[str], at: int, end: int, item: "re.Match[str]", head: str) -> _Piece:
    first = item[4]
    box = _BOX.match(first)
    rest = [line.expandtabs(4) for line in lines[at + 1 : end + 1]]
    indent = min((_wide(line) for line in rest if line.strip()), default=0)
    text = "\n".join([first[box.end() :] if box else first, *(line[indent:].rstrip() for line in rest)])
    return _Piece("item", at + 1, end + 1, text, head, ordered=item[2][0].isdigit(), box=box[1].lower() if box else "")


def _joined(pieces: Sequence[_Piece]) -> Iterator[_Piece]:
    """Yield the pieces that may be statements: code and tables with the words before them, steps with the line that leads to them."""
    at = 0
    while at < len(pieces):
        piece = pieces[at]
        at += 1
        if piece.kind == "head":
            if at < len(pieces) and pieces[at].kind in {"code", "table"}:
                yield _with(replace(piece, kind="section"), pieces[at])
                at += 1
            elif end := _end_of_steps(pieces, at):
                yield _stepped(replace(piece, kind="steps"), pieces[at:end])
                at = end
            continue
        if piece.kind == "item" and piece.head and (end := _end_of_steps(pieces, at - 1)):  # words stand between the heading and them
            steps = pieces[at - 1 : end]
            yield replace(_stepped(_Piece("steps", piece.first, piece.last, piece.head, piece.head), steps), first=piece.first)
            at = end
            continue
        if piece.kind in {"code", "table"}:
            continue  # nobody says what it is
        if piece.kind == "text" and piece.text.rstrip().endswith((":", "：")):
            end = at
            while end < len(pieces) and pieces[end].kind == "item" and pieces[end].ordered == pieces[at].ordered:
                end += 1
            below = pieces[at:end]
            if below and (all(p.ordered for p in below) or all(len(_WORD.findall(p.text)) < 4 for p in below)):
                piece = _stepped(piece, below)
                at = end
            elif below:
                for one in below:
                    one.head = f"{one.head} {piece.text}"
                continue
        while piece.kind == "item" and at < len(pieces) and pieces[at].kind == "item" and _SIBLING.match(pieces[at].text):
            piece = _with(piece, replace(pieces[at], text=_marked("- ", pieces[at].text)), "\n" if "\n" in piece.text else "\n\n")
            at += 1
        while at < len(pieces) and pieces[at].kind in {"code", "table"}:
            piece = _with(piece, pieces[at])
            at += 1
        yield piece


def _end_of_steps(pieces: Sequence[_Piece], at: int) -> int:
    """Return the end of a numbered list that begins there, with code between its steps; 0 when there is none, or it is one of rules or decisions."""
    end, items = at, list[_Piece]()
    while end < len(pieces) and ((pieces[end].kind == "item" and pieces[end].ordered) or (items and pieces[end].kind in {"code", "table"})):
        items += [pieces[end]] if pieces[end].kind == "item" else []
        end += 1
    if len(items) < 2 or any(one.box for one in items) or type_of("", items[0].head) in _APART:
        return 0
    apart = sum(type_of(one.text.partition("\n")[0]) in _APART for one in items)
    return 0 if 2 * apart > len(items) else end


def _stepped(piece: _Piece, below: Sequence[_Piece]) -> _Piece:
    """Return a piece with a list below it, numbered as it was, code of its items among them."""
    number = 0
    for one in below:
        number += one.kind == "item"
        mark = "   " if one.kind != "item" else f"{number}. " if one.ordered else "- "
        piece = _with(piece, replace(one, text=_marked(mark, one.text)), "\n")
    return piece


def _marked(mark: str, text: str) -> str:
    return mark + text.replace("\n", "\n" + " " * len(mark))


def _with(piece: _Piece, below: _Piece, gap: str = "\n\n") -> _Piece:
    first = gap if "\n" in piece.text else "\n\n"
    return replace(piece, last=below.last, text=f"{piece.text}{first}{below.text}")


def _statement(piece: _Piece, known: Callable[[str], bool], scrub: Callable[[str], str]) -> Statement | None:
    """Return a piece as a statement; None when it says nothing."""
    if piece.box == "x" or _IMPORT.fullmatch(piece.text):
        return None
    link = _LINK.match(piece.text.lstrip("* "))
    if link and known(link[1]):
        return None
    text = scrub(piece.text)
    first, _, rest = text.partition("\n\n")
    head, below = _headline(first)
    below = f"{below}\n\n{rest}" if below and rest else below or rest
    if (piece.kind not in {"section", "steps"} and not _says(head)) or not head or (head.endswith((":", "：")) and not below.strip()):
        return None
    title, below = divided(head, below)
    kind = type_of(clean_title(title.replace("**", "")), piece.head, task=bool(piece.box))
    title, below = told_with(title, below, kind, steps=piece.kind == "steps")
    title, body = clean_title(title.replace("**", "")), clean_body(below[:BODY])
    return Statement(title, body, (piece.first, piece.last), kind, text_key(title, body))


def told_with(title: str, below: str, kind: str, *, steps: bool = False) -> tuple[str, str]:
    """Return a title with what must never be told without it, and what is left below: exceptions, what narrows a rule, steps, what a colon leads to.

    Whoever sees titles alone, in a list or in a block, would take a rule for one without exceptions. What has no room in the title stays below.
    """
    lead = _list_of(below)
    if not lead or any(piece.box for piece in lead):
        return title, below
    colon = steps or title.endswith((":", "："))
    parts = [_flat(piece, number) for number, piece in enumerate(lead, 1)]
    narrow = [part for part in parts if _EXCEPTION.search(part[0])]
    chosen = parts if colon or kind == "rule" else narrow
    if not chosen:
        return title, below
    whole = _with_parts(title, [part for part, _ in chosen], colon=colon)
    if len(whole) <= TOLD:
        done = len(chosen) == len(parts) and all(complete for _, complete in parts)
        return whole, "\n".join(below.split("\n")[lead[-1].last :]) if done else below
    less = _with_parts(title, [part for part, _ in narrow], colon=colon)
    if narrow and len(less) <= TOLD:
        return less, below
    return f"{whole[: TOLD - 1].rsplit(' ', 1)[0].rstrip(' ,;')}…", below


def _list_of(below: str) -> list[_Piece]:
    """Return the list that a text begins with; a paragraph that makes an exception counts as a list of one."""
    out: list[_Piece] = []
    for piece in _pieces(below.split("\n"), 0):
        if piece.kind != "item" and (out or piece.kind != "text" or not _EXCEPTION.match(piece.text)):
            break
        out.append(piece)
    return out


def _flat(piece: _Piece, number: int = 0) -> tuple[str, bool]:
    """Return an item with what is below it as one line, and whether all of it is there; the number is that of a step."""
    first, _, rest = piece.text.partition("\n\n")
    head, below = _headline(first)
    head, inner = head.rstrip(" .;:。；："), list(_pieces(below.split("\n"), 0)) if below else []
    complete = not rest and all(one.kind == "item" and not one.box for one in inner)
    if inner and complete:
        parts = [_flat(one, n) for n, one in enumerate(inner, 1)]
        head = f"{head.rstrip(':：')} ({'; '.join(part for part, _ in parts)})"
        complete = all(all_ for _, all_ in parts)
    return (f"{number}. {head}" if piece.ordered and number else head), complete


def _with_parts(title: str, parts: Sequence[str], *, colon: bool) -> str:
    if colon:
        return f"{title.rstrip(' .:：')}{'：' if title.endswith('：') else ': '}{'; '.join(parts)}"
    out = title.rstrip(" .;。；")
    for part in parts:
        out += f"{', ' if _EXCEPTION.match(part) else '; '}{part}"
    return out


def divided(line: str, below: str = "") -> tuple[str, str]:
    """Return a line as a title, and what is below it: a long one goes below, whole or without its first sentence."""
    if len(line) <= TITLE:
        return line, below
    parts = _SENTENCE.split(line, maxsplit=1)
    title = parts[0] if len(parts) > 1 and len(parts[0]) <= TITLE else f"{line[: TITLE - 1].rsplit(' ', 1)[0].rstrip()}…"
    more = parts[1] if len(parts) > 1 and title == parts[0] else line
    return title, f"{more}\n\n{below}" if below else more


def _headline(text: str) -> tuple[str, str]:
    """Return the lines of a paragraph as one line, and a list or code that follows in it."""
    lines = text.split("\n")
    n = next((n for n, line in enumerate(lines) if n and (_ITEM.match(line) or _FENCE.match(line))), len(lines))
    return " ".join(" ".join(lines[:n]).split()), "\n".join(lines[n:])


def _says(head: str) -> bool:
    """Say whether a line can be a statement: two words at least, beside pictures and bare links."""
    bare = _PICTURE.sub(" ", head) if head.startswith(("![", "[!")) else head
    return len(_WORD.findall(bare)) >= 2 or len(_WIDE.findall(bare)) >= 4
