"""What one file says of itself, in each language, whatever is in it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.codemap import grammars
from gitmem.codemap.graph.cache import pack, unpack
from gitmem.codemap.tags.tags import Tags, read, uses_at
from tests.scale import scaled

SAMPLES: dict[str, tuple[str, list[tuple[str, tuple[tuple[str, str], ...], str]]]] = {
    "python": (
        "import a.b as c, d.e\nfrom ..f import (g, h as i)\nfrom . import j\nfrom k import *\n",
        [
            ("a.b", (), "c"),
            ("d.e", (), "d.e"),
            ("..f", (("g", "g"), ("h", "i")), ""),
            (".", (("j", "j"),), ""),
            ("k", (("*", "*"),), ""),
        ],
    ),
    "javascript": (
        (
            "import d, {a as b} from './x'; import * as ns from './y'; export {z as w} from './z'; export * from './q'; export * as k from './k';\n"
            "const {p, q: r} = require('./r'); const m = require('m').foo; import './side'; const l = () => import('./lazy');\n"
        ),
        [
            ("./x", (("default", "d"), ("a", "b")), ""),
            ("./y", (), "ns"),
            ("./z", (("z", "w"),), ""),
            ("./q", (("*", "*"),), ""),
            ("./k", (), "k"),
            ("./r", (("p", "p"), ("q", "r")), ""),
            ("m", (("foo", "m"),), ""),
            ("./side", (), ""),
            ("./lazy", (), ""),
        ],
    ),
    "typescript": (
        "import type {T} from './t';\nimport x = require('./eq');\n",
        [("./t", (("T", "T"),), ""), ("./eq", (), "x")],
    ),
    "rust": (
        'use crate::a::{b, c::D as E, self, f::*};\npub use super::x;\nmod foo;\n#[path = "z.rs"]\nmod bar;\nextern crate serde as s;\n',
        [
            ("crate.a", (("b", "b"),), ""),
            ("crate.a.c", (("D", "E"),), ""),
            ("crate", (("a", "a"),), ""),
            ("crate.a.f", (("*", "*"),), ""),
            ("super", (("x", "x"),), ""),
            ("foo", (), "foo"),
            ("z.rs", (), "bar"),
            ("serde", (), "s"),
        ],
    ),
    "go": (
        'package m\n\nimport (\n\t"fmt"\n\tx "a/b"\n\t_ "c"\n\t. "d"\n\t"e/v2"\n)\n',
        [
            ("fmt", (), "fmt"),
            ("a/b", (), "x"),
            ("c", (), ""),
            ("d", (("*", "*"),), ""),
            ("e/v2", (), "e"),
        ],
    ),
    "java": (
        "package a.b;\nimport c.d.E;\nimport static f.G.h;\nimport i.*;\n",
        [("c.d", (("E", "E"),), ""), ("f.G", (("h", "h"),), ""), ("i", (("*", "*"),), "")],
    ),
    "c": (
        '#include "a/b.h"\n#include <c.h>\n',
        [("a/b.h", (("*", "*"),), ""), ("c.h", (("*", "*"),), "")],
    ),
    "ruby": (
        "require 'a/b'\nrequire_relative '../c'\nautoload :X, 'x'\n",
        [("a/b", (), ""), ("../c", (), ""), ("x", (), "")],
    ),
    "csharp": (
        "using A.B;\nusing static C.D;\nusing X = A.Y;\nglobal using Z;\n",
        [
            ("A.B", (("*", "*"),), ""),
            ("C.D", (("*", "*"),), ""),
            ("A", (("Y", "X"),), ""),
            ("Z", (("*", "*"),), ""),
        ],
    ),
    "php": (
        "<?php\nuse C\\D;\nuse E\\F as G;\nuse H\\{I, J as K};\nuse function L\\m;\nrequire __DIR__ . '/x.php';\n",
        [
            ("C", (("D", "D"),), ""),
            ("E", (("F", "G"),), ""),
            ("H", (("I", "I"),), ""),
            ("H", (("J", "K"),), ""),
            ("L", (("m", "m"),), ""),
            ("/x.php", (), ""),
        ],
    ),
}


@pytest.mark.parametrize("language", SAMPLES)
def test_imports_as_they_are_written(language: str):
    """The module, the names that are taken and what they are called here, the name of the module itself."""
    text, wanted = SAMPLES[language]
    found = read(text.encode(), language)
    assert found is not None
    assert [(one.module, one.names, one.alias) for one in found.imports] == wanted


def test_uses_are_counted_by_what_they_name():
    """Names on their own, chains, members of what has no name; not variables, nor what is imported or defined."""
    found = read(
        b"import os\nfrom x import y\n\n\ndef f(a):\n    y(a)\n    y.z.w(self.q)\n    g().h\n    return os.environ['HOME_DIR'], f\n",
        "python",
    )
    assert found is not None
    assert found.uses == {
        ".h": 1,
        ".q": 1,
        "f": 1,
        "g": 1,
        "os.environ": 1,
        "y": 1,
        "y.z.w": 1,
    }
    assert found.environment == ("HOME_DIR",)


def test_what_a_file_starts_and_serves():
    """Main functions, and routes where they are declared: not those of documentation."""

    def tags(text: str, language: str) -> Tags:
        found = read(text.encode(), language)
        assert found is not None
        return found

    assert tags("if __name__ == '__main__':\n    pass\n", "python").main
    assert tags("package main\n\nfunc main() {}\n", "go").main
    assert not tags("def main():\n    pass\n", "python").main
    flask = '"""::\n\n    @app.route("/doc")\n"""\n\n\n@app.post("/carts/<id>")\ndef cart():\n    pass\n'
    assert tags(flask, "python").routes == (("post", "/carts/<id>", 7),)
    assert tags("urlpatterns = [\n    path('/about/', about),\n]\n", "python").routes == (
        ("path", "/about/", 2),
    )
    assert tags("app.get('/x', (a, b) => 1);\n", "javascript").routes == (("get", "/x", 1),)


@settings(max_examples=scaled(600, 60), deadline=None)
@given(
    st.sampled_from(sorted(grammars.GRAMMARS)),
    st.one_of(st.binary(max_size=300), st.text(max_size=300).map(str.encode)),
    st.integers(0, 10**6),
)
def test_any_bytes_are_read(language: str, noise: bytes, at: int):
    """Noise alone, and in the middle of code: an answer of the right shape, the same twice, kept and read back as it is."""
    text = SAMPLES.get(language, SAMPLES["python"])[0].encode()
    for data in (noise, text[: at % len(text)] + noise + text[at % len(text) :]):
        found = read(data, language)
        assert found == read(data, language)
        if found is not None:
            assert unpack(pack(found)) == found
            assert all(name and number > 0 for name, number in found.uses.items())
            for name, begin, end, _ in uses_at(data, found):
                assert name and 0 <= begin < end <= len(data)


@given(st.binary(max_size=200))
def test_what_is_no_pack_is_unread(data: bytes):
    """A damaged row costs a parse, nothing else."""
    try:
        found = unpack(data)
    except Exception as error:
        raise AssertionError(data) from error
    assert isinstance(found, str | Tags)
