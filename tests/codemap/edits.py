"""Texts whose lines have an identity, and edits that keep it: the ground truth for anchors.

A text is a list of `Line`; an edit returns a new list. A line that was edited, moved, indented or reformatted keeps its identity; of a line that
was broken in several, the first piece keeps it; a line that was joined into another has that one as its place.
"""

import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

VERBS = "load save parse render fetch merge apply close open check build split find count reset flush index push drop scan".split()
NOUNS = "cart order user token page cache report record session query batch header worker event price state ledger bucket window policy".split()


@dataclass(frozen=True)
class Line:
    """A line and the identities of the lines of the first text that are in it."""

    text: str
    ids: tuple[int, ...] = ()


Text = list[Line]


@dataclass
class Source:
    """A text of a language, and how that language writes things."""

    name: str
    lines: list[str]
    comment: str = "#"
    noise: list[str] = field(default_factory=list)


def marked(lines: list[str]) -> Text:
    return [Line(text, (n,)) for n, text in enumerate(lines)]


def where(text: Text, id: int) -> int | None:
    """Return the line, from 1, that an identity is at; None when it is gone."""
    return next((n for n, line in enumerate(text, 1) if id in line.ids), None)


# -- realistic sources


def _name(r: random.Random) -> str:
    return f"{r.choice(VERBS)}_{r.choice(NOUNS)}"


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(x.title() for x in rest)


def python(r: random.Random, size: int) -> list[str]:
    """Return Python with the usual repetitions."""
    out = ["import json", "import os", "import sys", "from dataclasses import dataclass", ""]
    while len(out) < size:
        out += [
            "",
            f"class {r.choice(NOUNS).title()}{r.choice(VERBS).title()}er:",
            f'    """Holds a {r.choice(NOUNS)}."""',
            "",
        ]
        for _ in range(r.randint(2, 5)):
            name, a, b = _name(r), r.choice(NOUNS), r.choice(NOUNS)
            out += [
                f"    def {name}(self, {a}, {b}=None):",
                f'        """Return the {b} of a {a}."""',
            ]
            for _ in range(r.randint(1, 4)):
                out += r.choice(_PY)(r, a, b)
            out += [
                r.choice(
                    [
                        "        return None",
                        f"        return {a}",
                        f"        return self.{b}",
                        "        return True",
                    ]
                ),
                "",
            ]
    return out


_PY: list[Callable[[random.Random, str, str], list[str]]] = [
    lambda r, a, b: [f"        if {a} is None:", "            return None"],
    lambda r, a, b: [
        f"        for one in {a}.{r.choice(NOUNS)}s:",
        f"            self.{b}.append(one)",
    ],
    lambda r, a, b: [
        "        try:",
        f"            {b} = self.{_name(r)}({a}, timeout={r.randint(1, 90)})",
        "        except KeyError:",
        "            return None",
    ],
    lambda r, a, b: [f"        {b} = {_name(r)}({a}['{r.choice(NOUNS)}'], '{r.choice(NOUNS)}')"],
    lambda r, a, b: [
        f"        self.{r.choice(NOUNS)}_{r.choice(NOUNS)} = {{'{a}': {a}, '{b}': {b}, 'limit': {r.randint(1, 9000)}}}"
    ],
    lambda r, a, b: [
        "        with self.lock:",
        f"            self.{r.choice(NOUNS)} += {r.randint(1, 9)}",
    ],
    lambda r, a, b: [
        f"        result = self.{_name(r)}({a}, {b}, retries={r.randint(1, 9)}, label='{r.choice(NOUNS)} {r.choice(VERBS)}')",
        "        if not result:",
        "            raise ValueError('no result')",
    ],
]


def _braces(
    r: random.Random,
    size: int,
    head: list[str],
    open_one: Callable[[str, str, str], list[str]],
    bodies: list[Callable[[str, str, int], list[str]]],
    ends: list[str],
    unit: str,
) -> list[str]:
    out = list(head)
    while len(out) < size:
        name, a, b = _camel(_name(r)), r.choice(NOUNS), r.choice(NOUNS)
        out += open_one(name, a, b)
        for _ in range(r.randint(1, 5)):
            out += [unit + x for x in r.choice(bodies)(a, b, r.randint(1, 99))]
        out += [unit + r.choice(ends).format(a=a, b=b), "}", ""]
    return out


def typescript(r: random.Random, size: int) -> list[str]:
    """Return TypeScript."""
    return _braces(
        r,
        size,
        ["import { Cart } from './cart';", "import * as path from 'path';", ""],
        lambda n, a, b: [f"export async function {n}({a}: string, {b}?: number): Promise<void> {{"],
        [
            lambda a, b, n: [f"if (!{a}) {{", "  return null;", "}"],
            lambda a, b, n: [
                f"const {b}{n} = await this.fetch{b.title()}({a}, {{ limit: {n}, label: '{b}' }});"
            ],
            lambda a, b, n: [
                "try {",
                f"  {a}.push({b}.get('{n}'));",
                "} catch (error) {",
                "  console.error(error);",
                "}",
            ],
            lambda a, b, n: [
                f"for (const item of {a}.items) {{",
                f"  total += item.{b} * {n};",
                "}",
            ],
        ],
        ["return null;", "return {a};", "return {b}.length;"],
        "  ",
    )


def golang(r: random.Random, size: int) -> list[str]:
    """Return Go."""
    return _braces(
        r,
        size,
        ["package shop", "", "import (", '\t"errors"', '\t"fmt"', ")", ""],
        lambda n, a, b: [
            f"// {n} keeps the {a}.",
            f"func (s *Shop) {n}({a} string, {b} int) (*Order, error) {{",
        ],
        [
            lambda a, b, n: [
                f"{b}{n}, err := s.load({a}, {n})",
                "if err != nil {",
                "\treturn nil, err",
                "}",
            ],
            lambda a, b, n: [f'if {a} == "" {{', '\treturn nil, errors.New("empty")', "}"],
            lambda a, b, n: [
                f"for i := 0; i < {b}; i++ {{",
                f"\ts.{a}s = append(s.{a}s, i*{n})",
                "}",
            ],
            lambda a, b, n: ["s.mu.Lock()", "defer s.mu.Unlock()"],
        ],
        ["return nil, nil", "return s.{a}, nil"],
        "\t",
    )


def clang(r: random.Random, size: int) -> list[str]:
    """Return C."""
    return _braces(
        r,
        size,
        ["#include <stdio.h>", "#include <stdlib.h>", "", "#define LIMIT 64", ""],
        lambda n, a, b: [f"static int {n}(struct {a} *{a}, size_t {b})", "{"],
        [
            lambda a, b, n: [f"if (!{a})", "    return -1;"],
            lambda a, b, n: [
                f"for (size_t i = 0; i < {b}; i++) {{",
                f"    {a}->total += i * {n};",
                "}",
            ],
            lambda a, b, n: [
                f"char *buffer{n} = malloc({b} + {n});",
                f"if (!buffer{n})",
                "    goto fail;",
            ],
            lambda a, b, n: [
                f"switch ({a}->kind) {{",
                f"case {n}:",
                "    break;",
                "default:",
                "    return -1;",
                "}",
            ],
        ],
        ["return 0;", "return {a}->total;"],
        "    ",
    )


LANGUAGES = {"py": python, "ts": typescript, "go": golang, "c": clang}
STDLIB = [
    "argparse",
    "textwrap",
    "shlex",
    "configparser",
    "csv",
    "tempfile",
    "zipfile",
    "queue",
    "heapq",
    "ast",
    "smtplib",
    "mailbox",
    "tarfile",
    "calendar",
]


def source(r: random.Random, language: str, size: int = 0) -> list[str]:
    """Return a text of a language: made up, or for `std` a module of the standard library, whole or a part."""
    if language != "std":
        return LANGUAGES[language](r, size or r.randint(40, 260))
    path = Path(argparse_path()).parent / f"{r.choice(STDLIB)}.py"
    lines = path.read_text(encoding="utf-8").rstrip("\n").split("\n")
    if len(lines) > 500:
        start = r.randrange(len(lines) - 400)
        lines = lines[start : start + r.randint(80, 400)]
    return lines


def argparse_path() -> str:
    import argparse

    return argparse.__file__


# -- edits


def _blocks(text: Text) -> list[tuple[int, int]]:
    """Return [start, end) of runs that stand together: a definition and what is inside it."""
    out = []
    n = 0
    while n < len(text):
        line = text[n].text
        if re.match(r"\s*(def |class |export |func |static |async |// \w+ keeps)", line):
            depth = len(line) - len(line.lstrip())
            end = n + 1
            while end < len(text):
                t = text[end].text
                if (
                    t.strip()
                    and len(t) - len(t.lstrip()) <= depth
                    and not re.match(r"\s*([}{)]|func )", t)
                ):
                    break
                end += 1
            if end - n < len(text) // 2:
                out.append((n, end))
            n = n + 1 if line.lstrip().startswith("class ") else end
        else:
            n += 1
    return out


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def insert(r: random.Random, text: Text, _: int) -> Text:
    """New lines, some of them like those around."""
    at = r.randrange(len(text) + 1)
    space = _indent(text[min(at, len(text) - 1)].text)
    new = []
    for _n in range(r.randint(1, 6)):
        kind = r.random()
        if kind < 0.35:
            new.append(Line(r.choice(text).text))
        elif kind < 0.5:
            new.append(Line(""))
        else:
            new.append(
                Line(
                    space
                    + r.choice(
                        [
                            f"{_name(r)}({r.choice(NOUNS)}, {r.randint(1, 99)})",
                            f"{r.choice(NOUNS)}_{r.randint(1, 99)} = {_name(r)}()",
                            f"# {r.choice(VERBS)} the {r.choice(NOUNS)}",
                            "return None",
                            "}",
                        ]
                    )
                )
            )
    return text[:at] + new + text[at:]


def insert_block(r: random.Random, text: Text, _: int) -> Text:
    """A definition copied and given another name, somewhere else."""
    blocks = _blocks(text)
    if not blocks:
        return text
    a, b = r.choice(blocks)
    at = r.choice([x for x, _ in blocks] + [x for _, x in blocks])
    words = re.findall(r"\b[a-z]+_?[A-Za-z]{3,}\b", text[a].text)
    copy = []
    for line in text[a:b]:
        t = line.text
        for word in words[1:3]:
            t = re.sub(rf"\b{word}\b", word + "_again", t)
        copy.append(Line(t))
    return text[:at] + copy + text[at:]


def delete(r: random.Random, text: Text, _: int) -> Text:
    """A few lines go."""
    at = r.randrange(len(text))
    return text[:at] + text[at + r.randint(1, 6) :] or text


def delete_block(r: random.Random, text: Text, _: int) -> Text:
    """A definition goes."""
    blocks = _blocks(text)
    if not blocks:
        return text
    a, b = r.choice(blocks)
    return text[:a] + text[b:] or text


def indent(r: random.Random, text: Text, mark: int) -> Text:
    """Lines are put into a block of their own."""
    at = where(text, mark) or r.randrange(len(text)) + 1
    start = max(0, at - 1 - r.randint(0, 6))
    end = min(len(text), at + r.randint(0, 6))
    space = _indent(text[start].text)
    unit = "\t" if space.startswith("\t") else "    "
    head = Line(space + r.choice([f"if {r.choice(NOUNS)}_ready:", f"with {_name(r)}():", "{"]))
    return [
        *text[:start],
        head,
        *(replace(x, text=unit + x.text if x.text else "") for x in text[start:end]),
        *text[end:],
    ]


def rename(r: random.Random, text: Text, mark: int) -> Text:
    """A name that the marked line has is another one everywhere."""
    at = where(text, mark)
    words = re.findall(r"\b[A-Za-z_]{4,}\b", text[at - 1].text) if at else []
    words = [
        w
        for w in words
        if w
        not in {
            "return",
            "None",
            "self",
            "class",
            "import",
            "from",
            "else",
            "static",
            "export",
            "async",
            "function",
            "raise",
            "except",
            "True",
            "False",
            "func",
            "const",
            "await",
            "case",
            "break",
            "default",
            "size_t",
            "struct",
        }
    ]
    if not words:
        return text
    for word in r.sample(words, min(len(words), r.choice([1, 1, 2]))):
        new = (
            f"{r.choice(VERBS)}_{r.choice(NOUNS)}_{r.randint(1, 99)}"
            if "_" in word or r.random() < 0.5
            else r.choice(VERBS) + r.choice(NOUNS).title()
        )
        text = [replace(x, text=re.sub(rf"\b{word}\b", new, x.text)) for x in text]
    return text


def rename_here(r: random.Random, text: Text, mark: int) -> Text:
    """A name is another one near the marked line only."""
    at = where(text, mark) or 1
    low, high = max(0, at - 12), at + 12
    return text[:low] + rename(r, text[low:high], mark) + text[high:]


def move(r: random.Random, text: Text, mark: int) -> Text:
    """The definition that the marked line is in, or some lines, go elsewhere in the file."""
    at = (where(text, mark) or 1) - 1
    around = [(a, b) for a, b in _blocks(text) if a <= at < b]
    if not around:
        a = max(0, at - r.randint(1, 5))
        b = min(len(text), at + r.randint(2, 6))
    else:
        a, b = max(around)
    block, rest = text[a:b], text[:a] + text[b:]
    spots = [x for x, _ in _blocks(rest)] or [0, len(rest)]
    to = r.choice([*spots, len(rest)])
    return rest[:to] + block + rest[to:]


def edit(r: random.Random, text: Text, mark: int) -> Text:
    """The marked line gets a small change."""
    at = where(text, mark)
    if at is None:
        return text
    old = text[at - 1].text
    kinds: list[Callable[[str], str]] = [
        lambda t: re.sub(r"\d+", lambda m: str(int(m[0]) + 7), t, count=1),
        lambda t: re.sub(r"\)(?=[^)]*$)", ", extra=True)", t, count=1),
        lambda t: t + "  # see the notes",
        lambda t: re.sub(r"\b(\w{4,})\b(?!.*\b\w{4,}\b)", r"\1_new", t, count=1),
    ]
    new = r.choice(kinds)(old) if weight(old) >= 8 else old
    return [*text[: at - 1], replace(text[at - 1], text=new), *text[at:]]


def edit_near(r: random.Random, text: Text, mark: int) -> Text:
    """Lines around the marked one change, and it does not."""
    at = where(text, mark) or 1
    for n in range(max(1, at - 4), min(len(text), at + 4) + 1):
        if n != at and r.random() < 0.5 and text[n - 1].ids:
            text = edit(r, text, text[n - 1].ids[0])
    return text


def reformat(r: random.Random, text: Text, _: int) -> Text:
    """The whole file in another style: quotes, tabs or spaces, long lines broken, commas at ends."""
    quotes, tabs, wrap = r.random() < 0.7, r.random() < 0.5, r.random() < 0.7
    limit = r.choice([50, 60, 72])
    out: Text = []
    for line in text:
        t = line.text
        if quotes and t.count("'") % 2 == 0:
            t = t.replace("'", '"')
        if tabs:
            space = _indent(t)
            t = (
                space.replace("\t", "    ")
                if "\t" in space
                else "\t" * (len(space) // 4) + " " * (len(space) % 4)
            ) + t.lstrip()
        match = re.match(r"(\s*)(.*?\()(.+, .+)(\).*)$", t)
        if wrap and len(t) > limit and match and match[3].count("(") == match[3].count(")"):
            inner = match[1] + ("\t" if "\t" in match[1] else "    ")
            out.append(Line(match[1] + match[2], line.ids))
            if r.random() < 0.5:
                out.append(Line(inner + match[3]))
            else:
                out += [Line(inner + part + ",") for part in match[3].split(", ")]
            out.append(Line(match[1] + match[4]))
        else:
            out.append(Line(t, line.ids))
    return out


def split(r: random.Random, text: Text, mark: int) -> tuple[Text, Text]:
    """Some definitions go to another file: (what stays, the other file)."""
    blocks = _blocks(text)
    at = (where(text, mark) or 1) - 1
    goes = [
        (a, b)
        for n, (a, b) in enumerate(blocks)
        if (a <= at < b or r.random() < 0.3) and (n == 0 or blocks[n - 1][1] <= a)
    ]
    if not goes:
        return text, []
    gone = {n for a, b in goes for n in range(a, b)}
    other = [Line("# taken out of another file"), Line("import os"), Line("")] + [
        text[n] for n in sorted(gone)
    ]
    return [x for n, x in enumerate(text) if n not in gone], other


def weight(line: str) -> int:
    return sum(map(str.isalnum, line))


def _named_anew(text: Text) -> Text:
    """Return a copy of a definition with another name on its first line, where it has one."""
    copy = [Line(line.text) for line in text]
    words = re.findall(r"\b[a-z]+_?[A-Za-z]{3,}\b", copy[0].text)[1:2]
    if words:
        copy[0] = Line(re.sub(rf"\b{words[0]}\b", words[0] + "_again", copy[0].text))
    return copy


def _around(text: Text, mark: int) -> tuple[int, int]:
    """Return the definition that the marked line is in, as [start, end); the line alone without one."""
    at = (where(text, mark) or 1) - 1
    return max(((a, b) for a, b in _blocks(text) if a <= at < b), default=(at, at + 1))


def paste_below(r: random.Random, text: Text, mark: int) -> Text:
    """The definition that the marked line is in is pasted below itself, mostly with another name."""
    a, b = _around(text, mark)
    copy = _named_anew(text[a:b]) if r.random() < 0.7 else [Line(x.text) for x in text[a:b]]
    return text[:b] + [Line("")] * r.randint(0, 2) + copy + text[b:]


def paste_above(_: random.Random, text: Text, mark: int) -> Text:
    """The definition that the marked line is in is pasted above itself, with another name."""
    a, b = _around(text, mark)
    copy = _named_anew(text[a:b])
    return text[:a] + copy + text[a:] if copy[0].text != text[a].text else text


def paste_elsewhere(r: random.Random, text: Text, mark: int) -> Text:
    """Some lines around the marked one are pasted at another place."""
    low, high = _near(r, text, mark, 4)
    copy = [Line(x.text) for x in text[low:high]]
    to = r.randrange(len(text) + 1)
    to = high if low < to < high else to
    return text[:to] + copy + text[to:]


def duplicate(r: random.Random, text: Text, mark: int) -> Text:
    """The marked line, or some around it, are there twice or three times."""
    low, high = _near(r, text, mark, 2)
    return text[:high] + [Line(x.text) for x in text[low:high]] * r.choice([1, 1, 2]) + text[high:]


def conflict(r: random.Random, text: Text, mark: int) -> Text:
    """A merge marked a conflict around the marked line: our side is as it was."""
    low, high = _near(r, text, mark, 6)
    ours = text[low:high]
    base = [Line("||||||| base"), *(Line(x.text) for x in ours)] if r.random() < 0.3 else []
    theirs = [Line(_changed(x.text) if r.random() < 0.3 else x.text) for x in ours]
    if r.random() < 0.3:
        del theirs[r.randrange(len(theirs))]
    marks = Line("<<<<<<< HEAD"), Line("======="), Line(">>>>>>> other")
    return [*text[:low], marks[0], *ours, *base, marks[1], *theirs, marks[2], *text[high:]]


def _near(r: random.Random, text: Text, mark: int, most: int) -> tuple[int, int]:
    at = where(text, mark) or 1
    return max(0, at - 1 - r.randint(0, most)), min(len(text), at + r.randint(0, most))


def _changed(line: str) -> str:
    return re.sub(r"\b(\w{4,})\b(?!.*\b\w{4,}\b)", r"\1_new", line, count=1)


EDITS: dict[str, Callable[[random.Random, Text, int], Text]] = {
    "insert lines": insert,
    "insert a copy": insert_block,
    "delete lines": delete,
    "delete a definition": delete_block,
    "indent": indent,
    "rename": rename,
    "rename near": rename_here,
    "move": move,
    "edit the line": edit,
    "edit around": edit_near,
    "reformat": reformat,
    "paste below": paste_below,
    "paste above": paste_above,
    "paste elsewhere": paste_elsewhere,
    "duplicate": duplicate,
    "conflict": conflict,
}
