"""Entry point of `git-mem-lsp`. Heavy imports wait until the server is wanted."""

import argparse
import logging
import os
import sys
from collections.abc import Sequence
from typing import BinaryIO

from gitmem import __version__
from gitmem.base import unsupported

ABOUT = """\
Language server of git mem: shows the gotchas of a repository on the lines they are about.
Editors start it; it speaks the Language Server Protocol on standard input and output."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the language server on standard input and output; return the exit code."""
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        "git-mem-lsp", description=ABOUT, formatter_class=layout, allow_abbrev=False
    )
    parser.add_argument("--version", action="version", version=f"git-mem-lsp {__version__}")
    parser.add_argument(
        "--log-file", metavar="PATH", help="write a log there instead of warnings to standard error"
    )
    parser.add_argument(
        "--stdio",
        action="store_true",
        help="accepted because some editors pass it; there is no other way to talk",
    )
    options = parser.parse_args(argv)
    if not unsupported.is_supported():
        return unsupported.refuse_command()
    set_up_log(options.log_file)
    stdin, stdout = take_streams()

    from gitmem_lsp.server import serve

    return serve(stdin, stdout, os.environ)


def set_up_log(path: str | None) -> None:
    """Send our log to a file (in detail) or to standard error (warnings).

    Pygls says little of use below an error.
    """
    handler: logging.Handler = logging.StreamHandler()
    handler.setLevel(logging.WARNING)
    problem = None
    if path:
        try:
            handler = logging.FileHandler(os.path.expanduser(path), encoding="utf-8")
        except OSError as error:
            problem = error
    logging.basicConfig(
        handlers=[handler],
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
        level=logging.ERROR,
    )
    log = logging.getLogger("gitmem_lsp")
    log.setLevel(logging.INFO)
    if problem:
        log.warning("no log file: %s", problem)


def take_streams() -> tuple[BinaryIO, BinaryIO]:
    """Return standard input and output as the protocol's own.

    What prints from now on prints to standard error, and no child reads them.
    """
    stdin, stdout = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    return stdin, stdout


if __name__ == "__main__":
    sys.exit(main())
