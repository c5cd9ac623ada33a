# ruff: noqa: T201 - its output is what it is for
"""Open a file as an editor would and print what the language server shows in it.

The command is `python scripts/demo_lsp.py REPO FILE`.

Starts `git-mem-lsp` over stdio, opens FILE and waits for its first diagnostics. Exit code 1 when
none came in time.
"""

import argparse
import asyncio
import re
import shutil
import sys
from pathlib import Path

from lsprotocol import types as t
from pygls.lsp.client import LanguageClient

DEADLINE = 15.0  # seconds for the first diagnostics; a slow machine, not a budget
LEAVING = 3.0  # seconds that the server has to end
SEVERITY = {
    t.DiagnosticSeverity.Error: "error",
    t.DiagnosticSeverity.Warning: "warning",
    t.DiagnosticSeverity.Information: "info",
    t.DiagnosticSeverity.Hint: "hint",
}


def server_command() -> list[str]:
    """Return how to start the server.

    It is the one beside this Python, else the one on PATH, else a module.
    """
    beside = Path(sys.executable).with_name("git-mem-lsp")
    found = str(beside) if beside.is_file() else shutil.which("git-mem-lsp")
    return [found, "--stdio"] if found else [sys.executable, "-m", "gitmem_lsp", "--stdio"]


async def diagnose(repo: Path, file: Path, text: str, deadline: float) -> list[t.Diagnostic]:
    """Return the first diagnostics that the server shows in a file.

    Empty when it showed none in time.
    """
    client = LanguageClient("demo", "1")
    uri = file.as_uri()
    shown: asyncio.Future[list[t.Diagnostic]] = asyncio.get_running_loop().create_future()

    def receive(params: t.PublishDiagnosticsParams) -> None:
        if params.uri == uri and params.diagnostics and not shown.done():
            shown.set_result(list(params.diagnostics))

    def tell(params: t.LogMessageParams) -> None:
        print(f"git-mem-lsp: {params.message}", file=sys.stderr)

    client.feature(t.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(receive)
    client.feature(t.WINDOW_LOG_MESSAGE)(tell)
    await client.start_io(*server_command())
    try:
        # a column is a character of Python
        general = t.GeneralClientCapabilities(position_encodings=[t.PositionEncodingKind.Utf32])
        folder = t.WorkspaceFolder(repo.as_uri(), repo.name)
        params = t.InitializeParams(
            t.ClientCapabilities(general=general), root_uri=folder.uri, workspace_folders=[folder]
        )
        await asyncio.wait_for(client.initialize_async(params), deadline)
        client.initialized(t.InitializedParams())
        client.text_document_did_open(
            t.DidOpenTextDocumentParams(t.TextDocumentItem(uri, "plaintext", 1, text))
        )
        try:
            return await asyncio.wait_for(shown, deadline)
        except TimeoutError:
            return []
    finally:
        await leave(client)


async def leave(client: LanguageClient) -> None:
    """End the server as the protocol asks.

    A server that does not answer is left to the end of its input.
    """
    try:
        await asyncio.wait_for(client.shutdown_async(None), LEAVING)
        client.exit(None)
        await asyncio.wait_for(client.stop(), LEAVING)  # type: ignore[no-untyped-call]
    except (TimeoutError, OSError, RuntimeError):
        return


def render(name: str, text: str, diagnostic: t.Diagnostic) -> str:
    """Return a diagnostic as compilers print it, with its line of source underlined."""
    start, end = diagnostic.range.start, diagnostic.range.end
    severity = SEVERITY.get(diagnostic.severity or t.DiagnosticSeverity.Information, "info")
    code = f" got-…{diagnostic.code}" if diagnostic.code else ""
    head = (
        f"{name}:{start.line + 1}:{start.character + 1} {severity} {diagnostic.source}{code}: "
        f"{diagnostic.message}"
    )
    lines = re.split(r"\r\n|\n|\r", text)
    source = lines[start.line] if start.line < len(lines) else ""
    blanks = re.sub(r"[^\t]", " ", source[: start.character])
    width = max(1, (end.character if end.line == start.line else len(source)) - start.character)
    return f"{head}\n    {source}\n    {blanks}{'^' * width}"


def main() -> int:
    """Run the client; return the exit code."""
    parser = argparse.ArgumentParser(description="Print what git-mem-lsp shows in a file.")
    parser.add_argument("repo", type=Path, help="the work tree's folder")
    parser.add_argument("file", type=Path, help="a file in it")
    parser.add_argument(
        "--deadline",
        type=float,
        default=DEADLINE,
        metavar="SECONDS",
        help="how long to wait (default: %(default)s)",
    )
    options = parser.parse_args()
    repo = options.repo.resolve()
    # the file is named from where the user is, or from the work tree
    file = (options.file if options.file.is_file() else repo / options.file).resolve()
    if not repo.is_dir() or not file.is_file():
        print(
            f"demo_lsp: {options.file if repo.is_dir() else options.repo} does not exist.",
            file=sys.stderr,
        )
        return 1
    text = file.read_bytes().decode("utf-8", "replace")
    name = str(file.relative_to(repo)) if file.is_relative_to(repo) else str(file)
    try:
        found = asyncio.run(diagnose(repo, file, text, options.deadline))
    except (OSError, TimeoutError) as error:
        print(
            f"demo_lsp: the language server did not start: {error or 'no answer in time'}",
            file=sys.stderr,
        )
        return 1
    if not found:
        print(
            f"demo_lsp: no diagnostics for {name} within {options.deadline:g} seconds.",
            file=sys.stderr,
        )
        return 1
    for diagnostic in found:
        print(render(name, text, diagnostic))
    return 0


if __name__ == "__main__":
    sys.exit(main())
