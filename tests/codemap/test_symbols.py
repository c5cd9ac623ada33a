"""The definitions in a text, in each language."""

import sys

import pytest

from gitmem.codemap import grammars
from gitmem.codemap.grammars import language_named, language_of
from gitmem.codemap.symbols import definitions
from gitmem.codemap.symbols.definitions import enclosing, find

SAMPLES = {
    "a.py": (
        "import x\n@dec\nclass A:\n    X = 1\n    @p\n    def f(self):\n        def g(): pass\n\nY = 2\nasync def é(): pass\n",
        [
            "A class 2-7",
            "A.X constant 4-4",
            "A.f function 5-7",
            "A.f.g function 7-7",
            "Y constant 9-9",
            "é function 10-10",
        ],
    ),
    "a.js": (
        "class A {\n  #p() {}\n  f = () => 1;\n  static s() {}\n}\nmodule.exports.q = function () {}\nfunction* gen() {}\nconst Z = 1, w = async () => 2\n",
        [
            "A class 1-5",
            "A.#p method 2-2",
            "A.f method 3-3",
            "A.s method 4-4",
            "q function 6-6",
            "gen function 7-7",
            "Z constant 8-8",
            "w function 8-8",
        ],
    ),
    "a.ts": (
        "export class A<T> {\n  private f = () => 1;\n  m(): void {}\n}\nexport const g = async (x) => {\n  return x\n}\nexport interface I {}\ntype T1 = 1;\nenum E { A }\nnamespace N {\n  function h() {}\n}\nabstract class Q { abstract z(): void }\n",
        [
            "A class 1-4",
            "A.f method 2-2",
            "A.m method 3-3",
            "g function 5-7",
            "I interface 8-8",
            "T1 type 9-9",
            "E enum 10-10",
            "N module 11-13",
            "N.h function 12-12",
            "Q class 14-14",
            "Q.z method 14-14",
        ],
    ),
    "a.tsx": (
        "const App: FC = () => <div/>;\nexport default function Main() { return <App/> }\n",
        ["App function 1-1", "Main function 2-2"],
    ),
    "a.rs": (
        "pub struct P<T> { x: T }\nimpl<T> P<T> {\n    pub fn new() -> Self {}\n}\ntrait Q { fn q(&self); }\nmod m { pub fn z() {} }\nmacro_rules! mm { () => {} }\nconst C: u8 = 1;\nenum E { A }\n",
        [
            "P struct 1-1",
            "P impl 2-4",
            "P.new function 3-3",
            "Q trait 5-5",
            "Q.q function 5-5",
            "m module 6-6",
            "m.z function 6-6",
            "mm macro 7-7",
            "C constant 8-8",
            "E enum 9-9",
        ],
    ),
    "a.go": (
        "package a\n\ntype P struct{}\n\nfunc (p *P) Get() int {\n\treturn 1\n}\nfunc (p P[T]) Put() {}\nfunc F() {}\nconst C = 1\n",
        [
            "P type 3-3",
            "P.Get method 5-7",
            "P.Put method 8-8",
            "F function 9-9",
            "C constant 10-10",
        ],
    ),
    "a.java": (
        "class A {\n  int x = 1;\n  A() {}\n  void f() {}\n  interface I { void g(); }\n  enum E { Q }\n  record R(int x) {}\n}\n",
        [
            "A class 1-8",
            "A.x constant 2-2",
            "A.A method 3-3",
            "A.f method 4-4",
            "A.I interface 5-5",
            "A.I.g method 5-5",
            "A.E enum 6-6",
            "A.R class 7-7",
        ],
    ),
    "a.c": (
        "#define X 1\nstatic int *foo(int a)\n{\n    return 0;\n}\nstruct s { int a; };\ntypedef struct { int a; } T;\nenum e { A };\n",
        ["X macro 1-1", "foo function 2-5", "s struct 6-6", "T type 7-7", "e enum 8-8"],
    ),
    "a.cpp": (
        "namespace n {\nclass A {\n  void f() {}\n  ~A() {}\n};\n}\nvoid n::A::g() {}\ntemplate <class T>\nT max(T a) { return a; }\nint& ref() { }\n",
        [
            "n module 1-6",
            "n.A class 2-5",
            "n.A.f function 3-3",
            "n.A.~A function 4-4",
            "n.A.g function 7-7",
            "max function 8-9",
            "ref function 10-10",
        ],
    ),
    "a.rb": (
        "module M\n  class C\n    X = 1\n    def f?; end\n    def self.s; end\n  end\nend\n",
        [
            "M module 1-7",
            "M.C class 2-6",
            "M.C.X constant 3-3",
            "M.C.f? method 4-4",
            "M.C.s method 5-5",
        ],
    ),
}


@pytest.mark.parametrize("path", SAMPLES)
def test_definitions_of_a_language(path):
    """Kinds, qualified names and lines; a decorator, an `export` or a template belongs to what follows it."""
    text, want = SAMPLES[path]
    assert want == [
        f"{s.qualified} {s.kind} {s.first}-{s.last}" for s in definitions.symbols(text, path)
    ]


@pytest.mark.parametrize("path", SAMPLES)
def test_name_is_where_it_is_said_to_be(path):
    """Line and columns give the name, in characters."""
    text, _ = SAMPLES[path]
    lines = text.split("\n")
    for one in definitions.symbols(text, path):
        assert one.name in lines[one.at - 1][one.column : one.end]


def test_columns_are_characters():
    """A name after other alphabets is not moved by their bytes."""
    (one,) = definitions.symbols("/* 漢字😀 */ int größe(void) { return 0; }\n", "a.c")
    assert "größe" == "/* 漢字😀 */ int größe(void) { return 0; }"[one.column : one.end] == one.name


def test_every_known_language_has_a_working_query():
    """A grammar that renamed a node would lose its symbols without a word."""
    assert all(
        grammars.query(name, part) is not None
        for name in grammars.GRAMMARS
        for part in ("definitions", "uses")
    )


def test_definition_around_a_line():
    """The innermost; none outside of all."""
    known = definitions.symbols(SAMPLES["a.py"][0], "a.py")
    assert ["A", "A.f", "A.f.g", None] == [
        (s.qualified if (s := enclosing(known, n)) else None) for n in (3, 6, 7, 8)
    ]


def test_names_as_they_are_written():
    """Fully, by its end, with the language's own signs."""
    known = definitions.symbols(SAMPLES["a.cpp"][0], "a.cpp")
    assert [["n.A.f"], ["n.A.f"], ["n.A.f"], [], ["n.A"], []] == [
        [s.qualified for s in find(known, n)] for n in ("n::A::f", "A.f", "f", "n.f", "A", "")
    ]


@pytest.mark.parametrize(
    "text",
    [
        "def f(:\n  pass\nclass A:\n  def g(self): pass\n",
        "\x00\x01def f(): pass",
        "\ud800 def f(): pass",
        "",
        "(" * 50_000,
        "x" * 3_000_000,
    ],
)
def test_broken_texts_are_no_error(text):
    """Half-typed, binary, surrogates, empty, deep, huge."""
    assert all(1 <= s.first <= s.last for s in definitions.symbols(text, "a.py"))


@pytest.mark.parametrize("path", ["a", "a.xyz", "Makefile", "a.md", ""])
def test_unknown_languages_have_no_symbols(path):
    """And raise nothing."""
    assert () == definitions.symbols("def f(): pass\n", path)


def test_languages_by_path_and_by_name():
    """Endings, whole names, and what people call them."""
    assert ["python", "tsx", "cpp", "ruby", "javascript", ""] == [
        language_of(p) for p in ("x/A.PY", "a.tsx", "a.hpp", "b/Rakefile", "a.mjs", "py")
    ]
    assert ["python", "typescript", "cpp", "go", "javascript", ""] == [
        language_named(n) for n in ("Python", "ts", "C++", "golang", "js", "cobol")
    ]


@pytest.mark.parametrize("damage", ["missing", "other", "raises"])
def test_damaged_grammar_is_no_error(monkeypatch, damage):
    """Missing, of another shape, or raising whatever it likes."""
    monkeypatch.setattr(grammars, "_languages", {})
    monkeypatch.setattr(grammars, "_queries", {})
    definitions._kept.clear()
    if damage == "missing":
        monkeypatch.setitem(grammars.GRAMMARS, "python", ("tree_sitter_nothing", "language"))
    elif damage == "other":
        monkeypatch.setitem(grammars.GRAMMARS, "python", ("json", "dumps"))
    else:
        monkeypatch.setitem(sys.modules, "tree_sitter", None)
    try:
        assert () == definitions.symbols("def f(): pass\n", "a.py")
    finally:
        definitions._kept.clear()
