"""Every regular expression of the product, found by itself, and inputs that are slow for each."""

import ast
import importlib
import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

from gitmem.base.fast import Lazy
from gitmem.extraction import markers
from gitmem.extraction.phrases import LANGUAGES
from gitmem.redaction import formats, passwords

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {"gitmem": ROOT / "gitmem", "gitmem_lsp": ROOT / "lsp" / "gitmem_lsp"}
CALLS = {"compile", "search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer"}
SCANS = CALLS - {"compile", "match", "fullmatch"}
OF_A_NAME = re.compile(rf"\b([A-Z_a-z]\w*)\.({'|'.join(sorted(CALLS))})\b")
MAKES = re.compile(r"\bre2?\.|\bLazy\(|\b_rx\(")
# files that make expressions of what no table of theirs has, how many, and why these are linear
DYNAMIC = {
    "gitmem/base/fast.py": (1, "compiles what a Lazy was made of"),
    "gitmem/codemap/anchors/by_definition.py": (
        1,
        "a name, escaped; matched with 500 characters of a line",
    ),
    "gitmem/codemap/symbols/linear_regex.py": (1, "is RE2"),
    "gitmem/extraction/markers.py": (1, "words in front of a sentence, which are fed below"),
    "gitmem/extraction/phrases.py": (1, "is RE2"),
    "gitmem/fingerprint/fingerprint.py": (
        4,
        "a folder's path, escaped, and rows of words that are found as a table",
    ),
    "gitmem/fingerprint/frames.py": (1, "rows of `tools.json`, which are found as a table"),
    "gitmem/fingerprint/line_score.py": (1, "rows of `tools.json`, which are found as a table"),
    "gitmem/fingerprint/line_text.py": (2, "rows of `tools.json`, which are found as a table"),
    "gitmem/fingerprint/report_rows.py": (3, "rows of `tools.json`, found in `error_line`"),
    "gitmem/git/dates.py": (1, "matched with at most 100 characters"),
    "gitmem/hooks/context.py": (1, "`formats.MARKER`"),
    "gitmem/install/hook_command.py": (1, "an agent's name, escaped"),
    "gitmem/records/codec.py": (1, "resolvers of YAML's scalars, each repetition bounded"),
    "gitmem/redaction/mask.py": (
        8,
        "the rows of `formats`, which are fed below, and patterns of the user that it has limited",
    ),
    "gitmem/redaction/passwords.py": (
        2,
        "`ANNOUNCED`, which is fed below, and parts of the module",
    ),
    "gitmem/services/lifecycle/mentions.py": (1, "names, escaped, before `_NUMBER`"),
    "gitmem/services/lifecycle/word_lists.py": (1, "`_LANGUAGES`, which is found as a table"),
    "gitmem/store/history/forms.py": (2, "texts to take out, escaped; each repetition bounded"),
    "gitmem/store/history/redact.py": (1, "ids, escaped, as alternatives"),
    "gitmem/text/completion.py": (1, "`_FORMS`, which is found as a table"),
    "lsp/gitmem_lsp/editing/draft_text.py": (1, "a key, escaped"),
}


@dataclass
class Expression:
    """A compiled expression, where it was written, and whether it is only matched from a place."""

    place: str
    pattern: "re.Pattern[Any]"
    methods: set[str] = field(default_factory=set)
    most: int = 100_000  # characters of a text that it is asked about

    @property
    def is_anchored(self) -> bool:
        return bool(self.methods) and not self.methods & SCANS

    def run(self, text: str) -> None:
        subject = text.encode() if isinstance(self.pattern.pattern, bytes) else text
        if not self.is_anchored:
            for _ in self.pattern.finditer(subject):
                pass
            return
        if "match" in self.methods:
            self.pattern.match(subject)
        if "fullmatch" in self.methods:
            self.pattern.fullmatch(subject)


def modules() -> Iterator[tuple[str, Path, Any]]:
    """Yield (name, file, module) of each module of the product."""
    for package, folder in PACKAGES.items():
        for file in sorted(folder.rglob("*.py")):
            parts = [package, *file.relative_to(folder).with_suffix("").parts]
            if parts[-1] == "__main__":
                continue
            name = ".".join(parts).removesuffix(".__init__")
            yield str(file.relative_to(ROOT)), file, importlib.import_module(name)


def _values(value: Any, depth: int = 0) -> Iterator[Any]:
    """Yield the expressions in a value: itself, or those of a container or a class."""
    if isinstance(value, re.Pattern | Lazy):
        yield value
    elif depth < 4 and isinstance(value, dict):
        for item in value.values():
            yield from _values(item, depth + 1)
    elif depth < 4 and isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from _values(item, depth + 1)
    elif isinstance(value, type) and value.__module__.startswith("gitmem") and depth < 2:
        for item in list(vars(value).values()):
            yield from _values(item, depth + 1)
    elif type(value).__module__.startswith("gitmem") and depth < 3:
        slots = [getattr(value, name, None) for name in getattr(type(value), "__slots__", ())]
        for item in [*getattr(value, "__dict__", {}).values(), *slots]:
            yield from _values(item, depth + 1)


def _compiled(value: Any) -> "re.Pattern[Any]":
    return re.compile(value._text) if isinstance(value, Lazy) else value


def _called(call: ast.Call) -> str:
    """Return the method of `re` that a call asks, `compile` for one that is kept; '' for another call."""
    function = call.func
    is_method = isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name)
    if is_method and function.value.id in {"re", "re2"} and function.attr in CALLS:  # type: ignore[attr-defined]
        return str(function.attr)  # type: ignore[attr-defined]
    if isinstance(function, ast.Name) and function.id in {"Lazy", "_rx"}:
        return "compile"
    return ""


def _method_of_kept(node: ast.AST) -> tuple[ast.Call, str] | None:
    """Return (call, method) of `_rx(…).method`: the expression is kept elsewhere, and asked here."""
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Call):
        return None
    inner = node.value
    is_kept = isinstance(inner.func, ast.Name) and inner.func.id == "_rx"
    return (inner, node.attr) if is_kept and node.attr in CALLS else None


def _evaluated(node: ast.AST, module: Any) -> Any:
    code = compile(ast.Expression(node), "<expression>", "eval")  # type: ignore[arg-type]
    return eval(code, {**vars(module), "re": re})


class Collection:
    """The expressions of the product, and the places that make some of what no test can see."""

    def __init__(self) -> None:
        self.rows: dict[tuple[Any, int], Expression] = {}
        self.unseen: list[str] = []
        self._uses: dict[tuple[str, str], set[str]] = {}
        self._shared: dict[str, set[str]] = {}

    def note_uses(self, place: str, file: Path) -> None:
        """Note the methods that a module calls on expressions that have names."""
        for name, method in OF_A_NAME.findall(file.read_text()):
            self._uses.setdefault((place, name), set()).add(method)
            self._shared.setdefault(name, set()).add(method)

    def add(
        self, place: str, pattern: "re.Pattern[Any]", methods: set[str], most: int = 100_000
    ) -> None:
        """Add an expression; what is asked of it more than one way may be asked in any."""
        row = self.rows.setdefault(
            (pattern.pattern, pattern.flags), Expression(place, pattern, set(methods), most)
        )
        row.methods = row.methods | methods if row.methods and methods else set()

    def add_named(self, place: str, module: Any) -> None:
        """Add the expressions that stand in variables of a module."""
        for name, value in list(vars(module).items()):
            for expression in _values(value):
                methods: set[str] = set()
                if expression is value and not name.startswith("_"):
                    methods = self._shared.get(name, set())
                elif expression is value:
                    methods = self._uses.get((place, name), set())
                self.add(f"{place}: {name}", _compiled(expression), methods)

    def add_made(self, place: str, file: Path, module: Any) -> None:
        """Add the expressions that calls in a module make."""
        source = file.read_text()
        nodes = list(ast.walk(ast.parse(source))) if MAKES.search(source) else []
        asked = dict(filter(None, map(_method_of_kept, nodes)))
        for node in nodes:
            method = _called(node) if isinstance(node, ast.Call) else ""
            if not method:
                continue
            assert isinstance(node, ast.Call)
            try:
                compiled = _made(node, method, module)
            except Exception:  # noqa: BLE001 - names of a function's own, mostly
                self.unseen.append(f"{place}:{node.lineno}")
                continue
            method = asked.get(node, method)
            if method != "compile":
                self.add(f"{place}:{node.lineno}", compiled, {method})
            elif (compiled.pattern, compiled.flags) not in self.rows:
                self.add(f"{place}:{node.lineno}", compiled, set())


def _made(node: ast.Call, method: str, module: Any) -> "re.Pattern[Any]":
    """Return the expression that a call makes, or raise whatever its arguments raise."""
    pattern = _evaluated(node.args[0], module)
    if isinstance(pattern, re.Pattern):
        return pattern
    flags = 0
    for extra in [
        *node.args[1 if method == "compile" else 9 :],
        *(k.value for k in node.keywords if k.arg == "flags"),
    ]:
        flags |= int(_evaluated(extra, module))
    if isinstance(node.func, ast.Name) and node.func.id == "_rx":
        flags |= re.ASCII
    return re.compile(pattern, flags)


def collect() -> tuple[list[Expression], list[str]]:
    """Return the expressions of the product, and the places that make some of what no test can see."""
    collection = Collection()
    sources = list(modules())
    for place, file, _ in sources:
        collection.note_uses(place, file)
    for place, file, module in sources:
        collection.add_named(place, module)
        collection.add_made(place, file, module)
    add = collection.add
    for kind, prefixes, body in formats.PREFIXED:
        for prefix in prefixes.split():
            add(
                f"formats: {kind}",
                re.compile(rf"(?<![A-Za-z0-9])(?:{re.escape(prefix)}){body}", re.ASCII),
                set(),
            )
    for kind, _, pattern, _ in formats.PATTERNS:
        add(f"formats: {kind}", re.compile(pattern, re.ASCII), set())
    for _, announced, _ in passwords._announced():
        add("passwords: ANNOUNCED", announced, set())
    for language in LANGUAGES:
        add(f"{language}.toml: lead_in", markers._lead_ins(language), {"match"})
    return list(collection.rows.values()), collection.unseen


# -- inputs


def _member(items: Iterable[tuple[Any, Any]], wanted: str) -> str:
    """Return a character of a class, one of `wanted` if it has one."""
    items = list(items)
    source = "".join(_class_text(items))
    matcher = re.compile(f"[{source}]") if source not in ("", "^") else None
    if matcher is None:
        return "\0" if source == "^" else "a"
    for char in [*wanted, *"aA1 _-./\n\t\"'`()[]{}<>:;,=*#@!%&|é"]:
        if matcher.match(char):
            return char
    for code in (*range(0x80), 0x3042, 0x4E00, 0xAC00, 0x430):
        if matcher.match(chr(code)):
            return chr(code)
    return "a"


CATEGORIES = {
    "CATEGORY_DIGIT": r"\d",
    "CATEGORY_NOT_DIGIT": r"\D",
    "CATEGORY_SPACE": r"\s",
    "CATEGORY_NOT_SPACE": r"\S",
    "CATEGORY_WORD": r"\w",
    "CATEGORY_NOT_WORD": r"\W",
}


def _class_text(items: Iterable[tuple[Any, Any]]) -> Iterator[str]:
    for op, value in items:
        name = str(op)
        if name == "NEGATE":
            yield "^"
        elif name == "LITERAL":
            yield re.escape(chr(value))
        elif name == "RANGE":
            yield f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}"
        elif name == "CATEGORY":
            yield CATEGORIES[str(value)]


class Inputs:
    """Texts that an expression may be slow for: what comes before each of its repetitions, and what is repeated."""

    def __init__(self, tree: Any) -> None:
        self.bodies: list[tuple[str, str]] = []
        self.branch = 0
        for branch in range(2):
            for wanted in ("a", "1", " ", ".", "-", "A"):
                self.wanted, self.branch = wanted, branch
                self._sample(tree, "")

    def _sample(self, tree: Any, before: str) -> str:
        """Return a text that a part matches, and note its repetitions."""
        out = ""
        for op, value in tree:
            out += self._text_of(str(op), value, before + out)
        return out

    def _text_of(self, name: str, value: Any, before: str) -> str:
        """Return a text that an operation of the expression matches."""
        if name in {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}:
            low, high, body = value
            text = self._sample(body, before)
            if int(high) > 20 and text:
                self.bodies.append((before, text))
            return text * max(int(low), min(1, int(high)))
        if name == "SUBPATTERN":
            return self._sample(value[3], before)
        if name == "ATOMIC_GROUP":
            return self._sample(value, before)
        if name == "BRANCH":
            texts = [self._sample(option, before) for option in value[1]]
            return texts[self.branch * (len(texts) - 1)]
        if name == "ASSERT":
            if value[0] > 0:
                self._sample(value[1], before)
            return ""
        if name == "GROUPREF_EXISTS":
            return self._sample(value[1], before)
        return self._character(name, value)

    def _character(self, name: str, value: Any) -> str:
        """Return the character that an operation matches; empty for one that matches none."""
        if name == "LITERAL":
            return chr(value)
        if name == "NOT_LITERAL":
            return next(c for c in self.wanted + "ab" if ord(c) != value)
        if name == "ANY":
            return self.wanted
        if name == "IN":
            return _member(value, self.wanted)
        if name == "CATEGORY":
            return _member([(name, value)], self.wanted)
        return ""

    def texts(self, most: int = 90) -> list[tuple[str, str, str]]:
        """Return (head, repeated, tail)."""
        out: dict[tuple[str, str, str], None] = {}
        bodies = list(dict.fromkeys(self.bodies))
        for before, body in bodies:
            for row in (
                (before, body, "\0"),
                (before, body, ""),
                ("", before + body, "\0"),
                ("", body, "\0"),
                ("", body + " ", ""),
            ):
                out[row] = None
            if before:
                out["", before, ""] = None
        alone = list(dict.fromkeys(body for _, body in bodies))
        for first in alone[:5]:
            for second in alone[:5]:
                if first != second:
                    out["", first + second, "\0"] = None
        return list(out)[:most]


COMMON = [
    "`",
    "'",
    '"',
    " ",
    "\n",
    "\t",
    "a",
    "A",
    "1",
    "aA1",
    "a.",
    "a/",
    "a-",
    "a_",
    "a b ",
    "a\n",
    "(",
    "[",
    "<",
    "\\",
    "-",
    "*",
    "#",
    "é",
    "字",
    "password=",
    "password: ",
    "token ",
    "://",
    "a@",
    "a:",
    "a=",
    "- a\n",
    "'a",
    "${",
    "<!--",
    "  \n",
    ". ",
    "a, ",
    "../",
    '\\"',
    "\\'",
    "|",
    "| ",
    "~",
    "=",
    "> ",
]
SIZES = (1_000, 4_000, 16_000, 100_000)
LIMIT = 0.2  # seconds of processor time for 100,000 characters
AGAIN, FAR = 5, 4  # an input that takes up to so many times the limit is tried so often again
BOUNDED_LIMIT = 0.02  # for a rule that is asked about no more than a sentence
REFERENCE, REFERENCE_TIME = re.compile(r"[0-9]{0,20}x"), 0.007  # seconds for 100,000 digits
LINEAR = 6.0  # fourfold the text takes less than so many times as long
# seconds for 1,000 characters: half a million steps, as the square of it has, take longer
QUICK = 40e-6
FULL = 2  # inputs of an expression, the slowest of those that are linear, that are run in full
ENDLESS = 256  # a repetition of fewer times takes the same for each place, however long the text is


def _source(pattern: "re.Pattern[Any]") -> str:
    return (
        pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    )


def _tree(pattern: "re.Pattern[Any]") -> Any:
    is_text = isinstance(pattern.pattern, str)
    return parser.parse(_source(pattern), pattern.flags & ~re.UNICODE & ~re.DEBUG if is_text else 0)


def inputs(expression: Expression) -> list[tuple[str, str, str]]:
    """Return (head, repeated, tail) of the inputs of an expression."""
    own = _source(expression.pattern)
    rows = dict.fromkeys(Inputs(_tree(expression.pattern)).texts())
    chars = list(dict.fromkeys(c for c in own if not c.isalnum() and c not in "?+*"))[:12]
    sees_end = "fullmatch" in expression.methods or any(mark in own for mark in ("$", "\\Z", "(?!"))
    for text in [*COMMON, *chars]:
        rows["", text, "\0"] = None
        if sees_end:
            rows["", text, ""] = None
    return list(rows)


def is_endless(tree: Any) -> bool:
    """Tell whether a part has a repetition whose length the text decides."""
    for op, value in tree:
        name = str(op)
        if name.endswith("_REPEAT") and (int(value[1]) >= ENDLESS or is_endless(value[2])):
            return True
        parts = {
            "SUBPATTERN": lambda v: [v[3]],
            "ATOMIC_GROUP": lambda v: [v],
            "BRANCH": lambda v: v[1],
        }
        parts |= {"ASSERT": lambda v: [v[1]], "ASSERT_NOT": lambda v: [v[1]]}
        parts |= {"GROUPREF_EXISTS": lambda v: filter(None, v[1:])}
        if any(is_endless(part) for part in parts.get(name, lambda _: [])(value)):
            return True
    return False


def slowest(expression: Expression) -> tuple[float, int, tuple[str, str, str]] | None:
    """Return (seconds, size, input) of an input that takes too long, None when there is none."""
    tree = _tree(expression.pattern)
    if expression.most < SIZES[-1]:
        sizes, limit = [expression.most], BOUNDED_LIMIT
    else:
        sizes, limit = list(SIZES), LIMIT
    endless = is_endless(tree)
    linear: list[tuple[float, tuple[str, str, str]]] = []  # seconds for all of it, reckoned
    for row in inputs(expression):
        before = 0.0
        for size in sizes:
            taken = _least(expression, row, size, limit)
            if taken > limit:
                return taken, size, row
            if taken < QUICK and size == SIZES[0]:
                break
            rest = sizes[-1] / size
            if not endless or (before and taken < LINEAR * before):
                linear.append((taken * rest, row))
                break
            if taken * rest**2 < limit:
                break
            before = taken
    for reckoned, row in sorted(linear, reverse=True)[:FULL]:
        taken = _least(expression, row, sizes[-1], limit) if reckoned > limit / 2 else 0.0
        if taken > limit:
            return taken, sizes[-1], row
    return None


def _least(expression: Expression, row: tuple[str, str, str], size: int, limit: float) -> float:
    """Return the least time for an input: another process may have been in the way of the first."""
    taken = _time(expression, row, size)
    for _ in range(AGAIN):
        if taken <= limit or taken > FAR * limit:
            break
        taken = min(taken, _time(expression, row, size) / _slowness())
    return taken


def _slowness() -> float:
    """Return how many times slower than the machine of the limits this one is now, at least 1."""
    digits = "1" * SIZES[-1]
    begun = time.process_time()
    REFERENCE.search(digits)
    return max(1.0, (time.process_time() - begun) / REFERENCE_TIME)


def _time(expression: Expression, row: tuple[str, str, str], size: int) -> float:
    """Return the processor time that an expression takes for an input of about so many characters."""
    head, body, tail = row
    text = head + body * (size // len(body)) + tail
    begun = time.process_time()
    expression.run(text)
    return time.process_time() - begun
