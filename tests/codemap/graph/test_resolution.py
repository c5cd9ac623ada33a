"""Imports lead to files, by each language's rules."""

from pathlib import Path

import pytest

from tests.codemap.graph.projects import arrows, code_map, commit, graph, new

PROJECTS: dict[str, tuple[dict[str, str], set[str]]] = {
    "python packages": (
        {
            "pkg/__init__.py": "from .cart import Cart as Basket\n__all__ = ['Basket']\n",
            "pkg/cart.py": "from . import money\nimport pkg.util.text as text\n\n\nclass Cart:\n    def total(self):\n        return money.add(text.fmt(1))\n",
            "pkg/money.py": "def add(x):\n    return x\n",
            "pkg/util/__init__.py": "",
            "pkg/util/text.py": "def fmt(x):\n    return str(x)\n",
            "main.py": "from pkg import Basket\nimport pkg.money\nBasket().total()\npkg.money.add(1)\n",
            "star.py": "from pkg.money import *\nadd(2)\n",
        },
        {
            "pkg/__init__.py -> pkg/cart.py",
            "pkg/cart.py -> pkg/money.py",
            "pkg/cart.py -> pkg/util/text.py",
            "main.py -> pkg/cart.py",
            "main.py -> pkg/money.py",
            "main.py -> pkg/__init__.py",
            "star.py -> pkg/money.py",
        },
    ),
    "python src layout and namespace packages": (
        {
            "pyproject.toml": '[project]\nname = "shop"\n',
            "src/shop/api/views.py": "from shop.core.models import Order\nOrder()\n",
            "src/shop/core/models.py": "class Order:\n    pass\n",
            "tests/test_views.py": "from shop.api import views\nfrom helper import make\nviews\nmake()\n",
            "tests/helper.py": "def make():\n    pass\n",
            "services/a/pyproject.toml": '[tool.setuptools.packages.find]\nwhere = ["python"]\n',
            "services/a/python/billing/bill.py": "X = 1\n",
            "services/a/run.py": "from billing import bill\nbill.X\n",
        },
        {
            "src/shop/api/views.py -> src/shop/core/models.py",
            "tests/test_views.py -> src/shop/api/views.py",
            "tests/test_views.py -> tests/helper.py",
            "services/a/run.py -> services/a/python/billing/bill.py",
        },
    ),
    "typescript paths, index files and what passes on": (
        {
            "tsconfig.base.json": '{\n  // comments are allowed\n  "compilerOptions": {"baseUrl": ".", "paths": {"@app/*": ["src/*"],}},\n}\n',
            "tsconfig.json": '{"extends": "./tsconfig.base.json"}\n',
            "src/index.ts": "export * from './cart';\nexport { money as cash } from './money.js';\n",
            "src/cart/index.ts": "import { money } from '@app/money';\nexport class Cart { total() { return money(1); } }\n",
            "src/money.ts": "export function money(x: number) { return x; }\n",
            "src/main.tsx": "import { Cart, cash } from '.';\nconst c = new Cart(); cash(2);\n",
            "src/lazy.ts": "const load = () => import('./money');\nload();\n",
        },
        {
            "src/index.ts -> src/cart/index.ts",
            "src/index.ts -> src/money.ts",
            "src/cart/index.ts -> src/money.ts",
            "src/main.tsx -> src/cart/index.ts",
            "src/main.tsx -> src/money.ts",
            "src/lazy.ts -> src/money.ts",
        },
    ),
    "javascript workspaces, exports and require": (
        {
            "package.json": '{"name": "root", "workspaces": ["packages/*"]}',
            "packages/core/package.json": '{"name": "@x/core", "exports": {".": {"import": "./dist/index.js"}, "./fn/*": "./src/fn/*.js"}, "imports": {"#int": "./src/int.js"}}',
            "packages/core/src/index.js": "import i from '#int';\nexport const core = () => i;\n",
            "packages/core/src/int.js": "export default 1;\n",
            "packages/core/src/fn/add.js": "exports.add = () => 1;\n",
            "packages/web/package.json": '{"name": "web", "main": "server.js"}',
            "packages/web/server.js": "const { core } = require('@x/core');\nconst add = require('@x/core/fn/add');\ncore(); add.add();\n",
            "packages/web/test/a.js": "const web = require('..');\nweb.run();\n",
        },
        {
            "packages/core/src/index.js -> packages/core/src/int.js",
            "packages/web/server.js -> packages/core/src/index.js",
            "packages/web/server.js -> packages/core/src/fn/add.js",
            "packages/web/test/a.js -> packages/web/server.js",
        },
    ),
    "rust workspace": (
        {
            "Cargo.toml": '[workspace]\nmembers = ["core", "app"]\n',
            "core/Cargo.toml": '[package]\nname = "shop-core"\n',
            "core/src/lib.rs": "pub mod cart;\nmod money;\npub use cart::Cart;\n",
            "core/src/cart.rs": "use crate::money::{self, add};\nmod line;\npub struct Cart;\nimpl Cart { fn total() { add(); money::sub(); line::make(); } }\n",
            "core/src/cart/line.rs": "use super::Cart;\npub fn make() -> Cart { Cart }\n",
            "core/src/money.rs": "pub fn add() {}\npub fn sub() {}\n",
            "app/Cargo.toml": '[package]\nname = "app"\n[dependencies]\nshop-core = { path = "../core" }\n',
            "app/src/main.rs": "use shop_core::Cart;\nfn main() { let c = Cart; shop_core::cart::Cart::total(); }\n",
        },
        {
            "core/src/lib.rs -> core/src/cart.rs",
            "core/src/lib.rs -> core/src/money.rs",
            "core/src/cart.rs -> core/src/money.rs",
            "core/src/cart.rs -> core/src/cart/line.rs",
            "core/src/cart/line.rs -> core/src/cart.rs",
            "app/src/main.rs -> core/src/cart.rs",
        },
    ),
    "go modules": (
        {
            "go.mod": "module example.org/shop\n\ngo 1.22\n",
            "main.go": 'package main\n\nimport (\n\t"fmt"\n\tm "example.org/shop/internal/money"\n)\n\nfunc main() { fmt.Println(m.Add(1), helper()) }\n',
            "helper.go": "package main\n\nfunc helper() int { return 1 }\n",
            "internal/money/add.go": "package money\n\nfunc Add(x int) int { return x }\n",
            "internal/money/sub.go": "package money\n\nfunc Sub(x int) int { return Add(x) }\n",
        },
        {
            "main.go -> internal/money/add.go",
            "main.go -> helper.go",
            "internal/money/sub.go -> internal/money/add.go",
        },
    ),
    "java packages": (
        {
            "src/main/java/org/shop/Cart.java": "package org.shop;\nimport org.shop.util.*;\nimport static org.shop.util.Money.add;\nclass Cart { Line l; int t() { return add(Text.x()); } }\n",
            "src/main/java/org/shop/Line.java": "package org.shop;\nclass Line {}\n",
            "src/main/java/org/shop/util/Money.java": "package org.shop.util;\npublic class Money { public static int add(int x) { return x; } }\n",
            "src/main/java/org/shop/util/Text.java": "package org.shop.util;\npublic class Text { public static int x() { return 1; } }\n",
        },
        {
            "src/main/java/org/shop/Cart.java -> src/main/java/org/shop/Line.java",
            "src/main/java/org/shop/Cart.java -> src/main/java/org/shop/util/Money.java",
            "src/main/java/org/shop/Cart.java -> src/main/java/org/shop/util/Text.java",
        },
    ),
    "c includes": (
        {
            "include/shop/cart.h": '#include "money.h"\nint cart_total(int);\n',
            "include/shop/money.h": "int money_add(int);\n#define MONEY 1\n",
            "src/cart.c": "#include <stdio.h>\n#include <shop/cart.h>\nint cart_total(int x) { return money_add(x) + MONEY; }\n",
            "src/main.c": '#include "shop/cart.h"\nint main(void) { return cart_total(1); }\n',
        },
        {
            "include/shop/cart.h -> include/shop/money.h",
            "src/cart.c -> include/shop/cart.h",
            "src/cart.c -> include/shop/money.h",
            "src/main.c -> include/shop/cart.h",
            "src/main.c -> src/cart.c",
        },
    ),
    "c++": (
        {
            "src/shape.hpp": "namespace geo { class Shape { public: int area(); }; }\n",
            "src/main.cpp": '#include "shape.hpp"\nint main() { geo::Shape s; return s.area(); }\n',
        },
        {"src/main.cpp -> src/shape.hpp"},
    ),
    "ruby": (
        {
            "lib/shop.rb": "require 'shop/cart'\nmodule Shop\n  VERSION = '1'\nend\n",
            "lib/shop/cart.rb": "require_relative 'money'\nmodule Shop\n  class Cart\n    def total\n      Money.add(VERSION)\n    end\n  end\nend\n",
            "lib/shop/money.rb": "module Shop\n  class Money\n    def self.add(x) = x\n  end\nend\n",
            "spec/cart_spec.rb": "Shop::Cart.new.total\n",
        },
        {
            "lib/shop.rb -> lib/shop/cart.rb",
            "lib/shop/cart.rb -> lib/shop/money.rb",
            "lib/shop/cart.rb -> lib/shop.rb",
            "spec/cart_spec.rb -> lib/shop/cart.rb",
        },
    ),
    "c#": (
        {
            "Shop/Cart.cs": "using Shop.Util;\nnamespace Shop;\nclass Cart { Line l; int T() => Money.Add(1); }\n",
            "Shop/Line.cs": "namespace Shop { class Line {} }\n",
            "Shop/Util/Money.cs": "namespace Shop.Util { public static class Money { public static int Add(int x) => x; } }\n",
            "Globals.cs": "global using Shop.Util;\n",
            "Other/Use.cs": "namespace Other; class U { int t = Money.Add(2); Shop.Line l; }\n",
        },
        {
            "Shop/Cart.cs -> Shop/Line.cs",
            "Shop/Cart.cs -> Shop/Util/Money.cs",
            "Other/Use.cs -> Shop/Util/Money.cs",
            "Other/Use.cs -> Shop/Line.cs",
        },
    ),
    "php": (
        {
            "composer.json": '{"autoload": {"psr-4": {"Shop\\\\": "src/"}}}',
            "src/Cart.php": "<?php\nnamespace Shop;\nuse Shop\\Util\\{Money, Text as T};\nclass Cart extends Base { function t() { return Money::add(T::x()); } }\n",
            "src/Base.php": "<?php\nnamespace Shop;\nabstract class Base {}\n",
            "src/Util/Money.php": "<?php\nnamespace Shop\\Util;\nclass Money {}\n",
            "src/Util/Text.php": "<?php\nnamespace Shop\\Util;\nclass Text {}\n",
            "public/index.php": "<?php\nrequire __DIR__ . '/../boot.php';\nnew \\Shop\\Cart();\n",
            "boot.php": "<?php\n",
        },
        {
            "src/Cart.php -> src/Base.php",
            "src/Cart.php -> src/Util/Money.php",
            "src/Cart.php -> src/Util/Text.php",
            "public/index.php -> src/Cart.php",
            "public/index.php -> boot.php",
        },
    ),
}


@pytest.mark.parametrize("name", PROJECTS)
def test_imports_lead_to_files(tmp_path: Path, name: str):
    """All that a project's files use of one another, and nothing else."""
    files, wanted = PROJECTS[name]
    repo = new(tmp_path / "repo")
    commit(repo, files)
    assert arrows(graph(repo, tmp_path / "cache")) == wanted


def test_definitions_are_what_is_used(tmp_path: Path):
    """An edge names the definitions, through files that pass them on, and how often each is used."""
    repo = new(tmp_path / "repo")
    commit(repo, PROJECTS["python packages"][0])
    found = graph(repo, tmp_path / "cache")
    assert found.edges["main.py"]["pkg/cart.py"] == {"Cart": 1}
    assert found.edges["main.py"]["pkg/money.py"] == {"add": 1}
    assert found.used("pkg/money.py") == {"add": 3}


def test_imports_in_a_circle(tmp_path: Path):
    """Files that pass names on to one another end."""
    repo = new(tmp_path / "repo")
    commit(
        repo,
        {
            "a.ts": "export * from './b';\nexport * from './c';\nimport { nothing } from './a';\n",
            "b.ts": "export * from './a';\nexport const inB = 1;\n",
            "c.ts": "import { inB, nowhere } from './a';\nexport { nowhere as again } from './b';\ninB; nowhere;\n",
            "p/__init__.py": "from .q import *\nfrom p.q import gone\n",
            "p/q.py": "from . import *\nfrom p import gone\ngone()\n",
        },
    )
    found = arrows(graph(repo, tmp_path / "cache"))
    assert "c.ts -> b.ts" in found


def test_the_same_import_in_two_cultures(tmp_path: Path):
    """One blob under two endings is two texts: a header of C, and one of C++."""
    repo = new(tmp_path / "repo")
    text = "struct point { int x; };\n"
    commit(repo, {"a.h": text, "b.hpp": text, "c.h": "namespace n { class K {}; }\n"})
    with code_map(repo, tmp_path / "cache") as code:
        found = code.graph()
        said = {path: tags.language for path, tags in code.every(found).items()}
        assert said == {"a.h": "c", "b.hpp": "cpp", "c.h": "cpp"}
        assert [one[1] for one in code.every(found)["c.h"].symbols] == ["n", "n.K"]
