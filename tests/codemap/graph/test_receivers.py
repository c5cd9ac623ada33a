"""A reference is sure only if the import or the receiver says so."""

from pathlib import Path

import pytest

from gitmem.codemap.graph.references import named, references
from tests.codemap.graph.projects import arrows, code_map, commit, graph, new

# name -> (files, definition, sure places, other places of the name)
PROJECTS: dict[str, tuple[dict[str, str], str, set[str], set[str]]] = {
    "the last name of a chain decides": (
        {
            "shop.py": "class Cart:\n    def total(self):\n        return self.total\n\n    def other(self):\n        return super().total()\n",
            "use.py": "from shop import Cart\n\nCart()\nCart.total\nCart.other\nthing().total()\n",
        },
        "Cart.total",
        {"shop.py:3", "use.py:4"},
        {"shop.py:6", "use.py:6"},
    ),
    "variables with a type, and without": (
        {
            "shop/Cart.java": "package shop;\npublic class Cart {\n  public int total() { return 1; }\n}\n",
            "shop/Box.java": "package shop;\npublic class Box {\n  public int total() { return 2; }\n}\n",
            "shop/Use.java": "package shop;\nclass Use {\n  int a(Cart cart, Box box, Object o) {\n    cart.total();\n    box.total();\n    make().total();\n    Cart own = new Cart();\n    return own.total();\n  }\n}\n",
        },
        "Cart.total",
        {"shop/Use.java:4", "shop/Use.java:8"},
        {"shop/Use.java:6"},
    ),
    "a local variable is no use": (
        {
            "shop.py": "def total():\n    return 1\n",
            "use.py": "from shop import total\n\n\ndef a(total):\n    return total\n\n\ndef b():\n    return total()\n\n\ndef c():\n    return a(total=1)\n",
        },
        "total",
        {"use.py:1", "use.py:9"},
        set(),
    ),
    "what is compared is no member": (
        {
            "shop.js": "export function total() {}\n",
            "use.js": "import { total } from './shop';\nexport const a = (x) => x>total;\nexport const b = (x) => x . total;\n",
        },
        "total",
        {"use.js:1", "use.js:2"},
        {"use.js:3"},
    ),
    "a declaration in a header belongs to the definition": (
        {
            "shop.h": "int shop_total(int);\n",
            "shop.c": '#include "shop.h"\nint shop_total(int x) { return x; }\n',
            "main.c": '#include "shop.h"\nint main(void) { return shop_total(1); }\n',
        },
        "shop_total",
        {"main.c:2"},
        set(),
    ),
    "std is no namespace of the project": (
        {
            "fmt/core.h": "namespace lib { namespace v1 { template <class T> T move(T x) { return x; } } }\n",
            "main.cpp": '#include "fmt/core.h"\nint a() { return std::move(1); }\nint b() { return lib::move(2); }\n',
        },
        "move",
        {"main.cpp:3"},
        {"main.cpp:2"},
    ),
    "methods of one Go type in several files": (
        {
            "go.mod": "module example.org/shop\n",
            "cart.go": "package shop\n\ntype Cart struct{}\n\nfunc (c *Cart) Pay() { c.Total() }\n",
            "total.go": "package shop\n\nfunc (c *Cart) Total() int { return 1 }\n",
            "cart_test.go": "package shop_test\n\nfunc Total() {}\n\nfunc run(x any) { Total(); x.Total() }\n",
        },
        "Cart.Total",
        {"cart.go:5"},
        {"cart_test.go:5"},
    ),
    "attributes and types of C# are no members": (
        {
            "Shop.cs": "namespace Shop;\nenum Kind { A }\nclass TestAttribute {}\nclass Cart {\n  Kind Kind { get; set; }\n  [Test]\n  void Test() { Test(); this.Kind = Kind.A; }\n}\n",
        },
        "Cart.Test",
        {"Shop.cs:7"},
        set(),
    ),
    "a module inside of a file has names of its own": (
        {
            "lib.rs": "pub struct A;\nmod m {\n  pub struct A;\n  fn g(a: A) {}\n}\nfn f(a: A) {}\nimpl X { type A = u8; fn h(a: A) {} }\n",
        },
        "A",
        {"lib.rs:6", "lib.rs:7"},
        set(),
    ),
    "functions of C that are passed on": (
        {
            "other.h": "int other_load(int);\n#define load(x) other_load(x)\n",
            "mock.h": "#define other_load(x) other_load(x)\n",
            "other.c": '#include "other.h"\nint other_load(int x) { return x; }\nint use(int x) { return load(x); }\n',
            "main.cpp": '#include "other.h"\nvoid f() {\n  reg(other_load);\n  reg(&other_load);\n  ops o = { .l = other_load };\n}\n#define name(other_load) s.other_load + "other_load" + other_load\\\n  + a##other_load + other_load##_a\n',
            "mine.c": "int other_load(int);\nvoid f(void) {\n  reg(other_load);\n}\n",
        },
        "other_load",
        {"main.cpp:3", "main.cpp:4", "main.cpp:5", "other.h:2"},
        {"mine.c:3", "mock.h:1"},
    ),
    "a name from PHP's root": (
        {
            "src/Date.php": "<?php\nnamespace Shop;\nclass Date extends \\Date { function now() { return new \\Date(); } }\n",
            "src/Use.php": "<?php\nnamespace Shop;\nfunction f(Date $d) { return $d->now(); }\n",
        },
        "Date",
        {"src/Use.php:3"},
        {"src/Date.php:3"},
    ),
    "a class that a library defines is opened, not defined": (
        {
            "lib/shop.rb": "module Shop\n  class Cart; end\nend\n",
            "lib/shop/patch.rb": "require 'rack'\nclass Rack::Builder\n  def shop; end\nend\nclass String; end\n",
            "lib/shop/use.rb": "Rack::Builder.new\nString.new\nShop::Cart.new\n",
        },
        "Builder",
        set(),
        {"lib/shop/use.rb:1"},
    ),
    "what a CommonJS module is": (
        {
            "view.js": "module.exports = View;\nfunction View() {}\nView.prototype.lookup = function lookup() {};\n",
            "app.js": "var View = require('./view');\nvar send = require('send');\napp.send = function send(x) { return send(x); };\nnew View().lookup();\n",
        },
        "View",
        {"view.js:1", "app.js:1", "app.js:4"},
        set(),
    ),
}


@pytest.mark.parametrize("name", PROJECTS)
def test_what_is_sure(tmp_path: Path, name: str):
    """Sure places, and no others; the rest of the same name is marked or left out."""
    files, definition, sure, others = PROJECTS[name]
    repo = new(tmp_path / "repo")
    commit(repo, files)
    with code_map(repo, tmp_path / "cache") as code:
        found = code.graph()
        uses = list(references(code, found, named(code, found, definition)))
    assert {f"{use.path}:{use.line}" for use in uses if use.sure} == sure
    assert {f"{use.path}:{use.line}" for use in uses if not use.sure} <= others


# each file has a class A with run; `sure` lines use it, in others something else is called A
SHADOWED: dict[str, str] = {
    "a.rs": """\
pub struct A; impl A { pub fn run(&self) {} }
fn sure(a: A) { a.run() }
fn f1<A: Tr>(a: A) { a.run() }
impl<'x, A> X<A> { fn f2(a: A) { a.run() } }
fn f3<const N: usize, A>(a: &A) { a.run(); A::run() }
mod m { pub struct A; fn g(a: A) { a.run(); A::run() } }
""",
    "A.java": """\
class A { void run() {} }
class Sure { void f(A a) { a.run(); } }
class X<A extends B> { void f1(A a) { a.run(); } }
class Y { <A> void f2(A a) { a.run(); } }
class Z { class A {} void f3(A a) { a.run(); } }
""",
    "a.ts": """\
class A { run() {} }
function sure(a: A) { a.run() }
class K<A> { m(a: A) { a.run() } }
function f14<A>(a: A) { a.run() }
const f15 = <A extends B>(a: A) => { a.run() }
""",
    "A.cs": """\
class A { public void run() {} }
class Sure { void F(A a) { a.run(); } }
class K<A> where A : B { void F(A a) { a.run(); } }
class L { void F<A>(A a) { a.run(); } }
class M { class A {} void F(A a) { a.run(); } }
""",
    "a.cpp": """\
class A { public: void run() {} };
void sure(A a) { a.run(); }
template <class A> void f1(A a) { a.run(); }
template <typename B, typename A = B> class X { void f2(A a) { a.run(); } };
template <template <class> class A> void f3(A a) { a.run(); }
auto l = []<class A>(A a) { a.run(); };
namespace n { class A {}; void f4(A a) { a.run(); } }
""",
    "a.go": """\
package a; type A struct{}; func (a A) run() {}
func sure(a A) { a.run() }
func F[A any](a A) { a.run() }
func (x *X[A]) m(a A) { a.run() }
func (x X[B, A]) n(a *A) { a.run() }
""",
    "a.py": """\
class A: run = lambda self: 1
def sure(a: A): a.run()
def f1[A](a: A): a.run()
class X[B, A: int]: f2 = lambda self: 1; g = [A]
def sure_too(a: A, of: list[A]): a.run()
def f4():
    class A: pass
    a = A(); a.run()
def f5(A):
    a = A(); a.run()
""",
}


@pytest.mark.parametrize("name", SHADOWED)
def test_a_nearer_type_of_the_same_name(tmp_path: Path, name: str):
    """A type parameter, or a type of what is around a use, is not the one outside."""
    lines = SHADOWED[name].splitlines()
    repo = new(tmp_path / "repo")
    commit(repo, {name: SHADOWED[name]})
    with code_map(repo, tmp_path / "cache") as code:
        found = code.graph()
        uses = list(references(code, found, named(code, found, "A.run")))
    assert {use.line for use in uses if use.sure} == {
        number for number, line in enumerate(lines, 1) if "sure" in line.lower()
    }


# the class A has run, and there is a function helper; `sure` lines use them
BOUND_ANEW = """\
class A:
    def run(self): pass
def helper(): pass
def f0(a: A): a.run(); helper()  # sure
def f1(a: A):
    with x() as (a, b): a.run()
def f2(a: A):
    with x() as ((b, a), c): a.run()
def f3(a: A):
    def a(): pass
    a.run()
def f4(a: A):
    class a: pass
    a.run()
def f5(a: A):
    from z import a
    a.run()
def f6():
    a = A()
    del a; import os as a
    a.run()
def f7(a: A):
    match x:
        case {"k": a, **b}: a.run()
def f8(a: A):
    match x:
        case Some(k=a): a.run()
def f9(a: A):
    match x:
        case str() as a: a.run()
def f10(a: A):
    a += 1
    a.run()
def f11():
    a = A()
    def inner():
        nonlocal a
        a = x()
    a.run()
def f12(a: A):
    [(a := y) for y in x]
    a.run()
def f13(a: A):
    [a, b] = x
    a.run()
def f14():
    for a in A(): a.run()
def f15(a=A()): a.run()
def f16():
    import os.path as helper
    helper()
def f17():
    match x:
        case helper: helper()
def f18():
    from z import A
    a = A()
    a.run()
def f19():
    def A(): pass
    a = A()
    a.run()
class B:
    before = helper(1)  # sure
    def helper(): pass
    after = helper(1)
    @helper
    def g(self): return helper(1)  # sure
def f20():
    if (a := A()): a.run()  # sure
def f21(a: A):
    def g(a): return a
    return a.run()  # sure
"""


def test_names_that_python_binds_anew(tmp_path: Path):
    """What was known of a name ends with any other binding of it."""
    repo = new(tmp_path / "repo")
    commit(repo, {"shop.py": BOUND_ANEW})
    with code_map(repo, tmp_path / "cache") as code:
        found = code.graph()
        uses = [
            *references(code, found, named(code, found, "A.run")),
            *references(code, found, named(code, found, "helper")),
        ]
    lines = BOUND_ANEW.splitlines()
    assert {lines[use.line - 1] for use in uses if use.sure} == {
        line for line in lines if line.endswith("# sure")
    }


LEADS: dict[str, tuple[dict[str, str], set[str]]] = {
    "a module of Python is none of a package's files": (
        {
            "pyproject.toml": "",
            "src/shop/__init__.py": "",
            "src/shop/typing.py": "X = 1\n",
            "src/shop/money.py": "Y = 1\n",
            "src/shop/cart.py": "import typing\nimport money\nfrom . import money as own\ntyping.X, money.Y, own.Y\n",
        },
        {"src/shop/cart.py -> src/shop/money.py"},
    ),
    "a script finds what is beside it first": (
        {"code.py": "X = 1\n", "run.py": "import code\ncode.X\n"},
        {"run.py -> code.py"},
    ),
    "tests inside of a file, and programs with a path": (
        {
            "Cargo.toml": '[package]\nname = "tool"\n[[bin]]\nname = "tool"\npath = "crates/core/start.rs"\n',
            "src/lib.rs": "pub fn of_the_library() {}\n",
            "crates/core/start.rs": "mod args;\nfn main() { args::read(); }\n",
            "crates/core/args.rs": "use crate::helper;\npub fn read() { helper(); }\nmod tests { use super::read; fn a() { read() } }\n",
        },
        {
            "crates/core/start.rs -> crates/core/args.rs",
            "crates/core/args.rs -> crates/core/start.rs",
        },
    ),
    "types inside of types, and what is static": (
        {
            "shop/Cart.java": "package shop;\npublic class Cart {\n  public static class Line {}\n  public static int total() { return 1; }\n}\n",
            "use/A.java": "package use;\nimport shop.Cart.Line;\nclass A { Line l; }\n",
            "use/B.java": "package use;\nimport static shop.Cart.total;\nclass B { int x = total(); }\n",
        },
        {"use/A.java -> shop/Cart.java", "use/B.java -> shop/Cart.java"},
    ),
    "what C# has itself, where a project has it for older ones": (
        {
            "Linq.cs": "#if !HAVE_LINQ\nnamespace Shop { delegate T Func<T>(); }\n#endif\n",
            "Null.cs": "namespace System.Code { class NotNull {} }\n",
            "Cart.cs": "using System.Code;\nnamespace Shop;\nclass Cart { Func<int> f; NotNull n; Line l; }\n",
            "Line.cs": "namespace Shop;\nclass Line {}\n",
        },
        {"Cart.cs -> Line.cs"},
    ),
    "a gem is no file beside": (
        {
            "lib/shop/json.rb": "module Shop; class Json; end; end\n",
            "lib/shop/cart.rb": "require 'json'\nrequire 'shop/line'\nJSON.parse('')\n",
            "lib/shop/line.rb": "class Hash; end\n",
            "test/helper.rb": "module Shop; class Fake; end; end\n",
            "lib/shop/use.rb": "Hash.new\nShop::Fake\n",
        },
        {"lib/shop/cart.rb -> lib/shop/line.rb"},
    ),
    "vendored code is no part": (
        {
            "deps/lua.c": "int lua;\n",
            "include/fmt/bundled/core.h": "int fmt_core(int);\n",
            "main.c": '#include "fmt/bundled/core.h"\nint main(void) { return fmt_core(1); }\n',
        },
        set(),
    ),
}


@pytest.mark.parametrize("name", LEADS)
def test_where_imports_lead(tmp_path: Path, name: str):
    """To all files that are meant, and to none that only have the name."""
    files, wanted = LEADS[name]
    repo = new(tmp_path / "repo")
    commit(repo, files)
    assert arrows(graph(repo, tmp_path / "cache")) == wanted
