"""The one edit that code actions make in a text: a comment above the line that names the gotcha.

Pure.
"""

import re
from collections.abc import Mapping, Sequence

from lsprotocol import types as t

from gitmem_lsp.diagnostics.diagnostics import Mark
from gitmem_lsp.features.code_actions import OFFERED, title_of
from gitmem_lsp.protocol.positions import content

_HASH, _SLASH, _DASH, _SEMI, _PERCENT = (
    ("# ", ""),
    ("// ", ""),
    ("-- ", ""),
    (";; ", ""),
    ("% ", ""),
)
_C, _XML = ("/* ", " */"), ("<!-- ", " -->")
SYNTAX: Mapping[str, tuple[str, str]] = {
    **dict.fromkeys(
        "python ruby perl r shellscript sh bash zsh fish yaml toml makefile make cmake dockerfile "
        "elixir julia nim powershell coffeescript awk tcl "
        "ignore properties conf terraform hcl nix graphql crystal gdscript starlark bazel just "
        "puppet".split(),
        _HASH,
    ),
    **dict.fromkeys(
        "javascript typescript javascriptreact typescriptreact c cpp csharp java kotlin go rust "
        "swift scala dart php groovy objective-c objc zig "
        "solidity jsonc proto proto3 fsharp v d verilog systemverilog glsl wgsl cuda odin less "
        "scss".split(),
        _SLASH,
    ),
    **dict.fromkeys("lua sql haskell elm ada vhdl applescript purescript".split(), _DASH),
    **dict.fromkeys("lisp commonlisp clojure scheme racket elisp emacs-lisp".split(), _SEMI),
    **dict.fromkeys("latex tex erlang prolog matlab".split(), _PERCENT),
    **dict.fromkeys("html xml markdown vue svelte svg xsl handlebars mdx".split(), _XML),
    "css": _C,
    "ocaml": ("(* ", " *)"),
    "vim": ('" ', ""),
    "ini": ("; ", ""),
    "asm": ("; ", ""),
    "bat": ("REM ", ""),
    "fortran": ("! ", ""),
    "jinja": ("{# ", " #}"),
}
ENDINGS = {
    "py": "python",
    "pyi": "python",
    "rb": "ruby",
    "pl": "perl",
    "sh": "sh",
    "bash": "bash",
    "yml": "yaml",
    "yaml": "yaml",
    "toml": "toml",
    "mk": "make",
    "js": "javascript",
    "mjs": "javascript",
    "jsx": "javascriptreact",
    "ts": "typescript",
    "tsx": "typescriptreact",
    "c": "c",
    "h": "c",
    "cc": "cpp",
    "cpp": "cpp",
    "hpp": "cpp",
    "cs": "csharp",
    "java": "java",
    "kt": "kotlin",
    "go": "go",
    "rs": "rust",
    "swift": "swift",
    "scala": "scala",
    "php": "php",
    "lua": "lua",
    "sql": "sql",
    "hs": "haskell",
    "el": "elisp",
    "clj": "clojure",
    "tex": "latex",
    "html": "html",
    "xml": "xml",
    "md": "markdown",
    "css": "css",
    "vim": "vim",
    "ini": "ini",
    "tf": "terraform",
    "ex": "elixir",
    "exs": "elixir",
    "jl": "julia",
    "r": "r",
    "dart": "dart",
    "ml": "ocaml",
    "f90": "fortran",
}
_CLOSERS = ("*/", "-->", "*)", "#}")
# what goes on in the next line, ends the script that a comment is in, names an encoding, or speaks
# to an editor
_TELLING = re.compile(r"(?:\\|\^|\?\?/)$|\?>|</|coding[:=]|-\*-|\b(?:vim?|ex):", re.IGNORECASE)


def syntax_of(language: str, path: str) -> tuple[str, str] | None:
    """Return what begins and ends a comment in a language.

    None for one that has none or is unknown.
    """
    syntax = SYNTAX.get(language.lower())
    if syntax:
        return syntax
    name = path.rsplit("/", 1)[-1]
    ending = name.rsplit(".", 1)[-1].lower() if "." in name else name.lower()
    return SYNTAX.get(ENDINGS.get(ending, ending))


def comment(title: str, id: str, syntax: tuple[str, str]) -> str:
    """Return a comment that names a gotcha.

    A title that could end it early, or be more than a comment, is told by its id alone.
    """
    before, after = syntax
    safe = not _TELLING.search(title) and (
        not after or not any(closer in title for closer in (*_CLOSERS, "--"))
    )
    return f"{before}gotcha {id}" + (f": {title}" if safe else "") + after


def for_marks(
    marks: Sequence[Mark],
    range: t.Range,
    document: tuple[str, int | None, str, str],
    lines: Sequence[str],
    versioned: bool,
) -> list[t.CodeAction]:
    """Return the actions that write a comment above a gotcha's line.

    `document` is its uri, version, language and path.
    """
    uri, version, language, path = document
    syntax = syntax_of(language, path)
    if syntax is None:
        return []
    out = []
    here = [
        (m, n)
        for m in marks
        if range.start.line <= m.line <= range.end.line
        for n in m.notes
        if not n.whole_file and n.row.get("kind", "gotcha") == "gotcha"
    ]
    for mark, note in here[:OFFERED]:
        if mark.line >= len(lines) or note.id in "".join(
            lines[max(0, mark.line - 3) : mark.line + 1]
        ):
            continue  # it is named there already
        line = lines[mark.line]
        indent = content(line)[: len(content(line)) - len(content(line).lstrip(" \t"))]
        end = line[len(content(line)) :] or "\n"
        at = t.Position(mark.line, 0)
        change = t.TextEdit(
            t.Range(at, at), indent + comment(title_of(note.row), note.id, syntax) + end
        )
        title = f"Write a comment that names the gotcha: {title_of(note.row)}"
        out.append(
            t.CodeAction(
                title,
                kind=t.CodeActionKind.RefactorRewrite,
                edit=edit_of(uri, version, [change], versioned),
            )
        )
    return out


def edit_of(
    uri: str, version: int | None, changes: Sequence[t.TextEdit], versioned: bool
) -> t.WorkspaceEdit:
    """Return an edit of one document, tied to its version where the client knows how to."""
    if versioned:
        document = t.OptionalVersionedTextDocumentIdentifier(uri, version)
        return t.WorkspaceEdit(document_changes=[t.TextDocumentEdit(document, list(changes))])
    return t.WorkspaceEdit(changes={uri: list(changes)})
