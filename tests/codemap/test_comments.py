"""Comments of every language are left out of its code."""

import pytest

from gitmem.codemap import grammars
from gitmem.codemap.symbols.comments import without_comments

HASH = "x = 1  # a remark\n"
SLASH = "int x = 1; // a remark\n/* a remark\n over lines */\n"
SAMPLES = {
    "python": (
        "a.py",
        '"""A remark."""\n' + HASH + 'def f():\n    """A remark."""\n    return "# no"\n',
    ),
    "ruby": ("a.rb", HASH),
    "php": ("a.php", "<?php\n$x = 1; // a remark\n"),
    "javascript": ("a.js", "let x = 1; // a remark\n"),
    "typescript": ("a.ts", "let x = 1; // a remark\n"),
    "tsx": ("a.tsx", "let x = 1; // a remark\n"),
    "rust": ("a.rs", "let x = 1; // a remark\n/* a remark */\n"),
    "go": ("a.go", "package a\n\nvar x = 1 // a remark\n"),
    "java": ("A.java", "class A { int x = 1; // a remark\n}\n"),
    "c": ("a.c", SLASH),
    "cpp": ("a.cpp", SLASH),
    "csharp": ("A.cs", "class A { int x = 1; // a remark\n}\n"),
}


@pytest.mark.parametrize("language", sorted(grammars.GRAMMARS))
def test_comments_go_and_lines_stay(language: str):
    """Each line keeps its number; what looks like a comment in a text stays."""
    path, text = SAMPLES[language]
    lines = without_comments(text, path)
    assert len(lines) == len(text.splitlines())
    assert "remark" not in "\n".join(lines) and any("x = 1" in line for line in lines)
    assert language != "python" or 'return "# no"' in lines[-1]
