"""Run the language server so that a test can count the functions that it runs.

SIGUSR1 begins a count. SIGUSR2 ends it and writes a JSON list of [file, function] to the file that
GITMEM_COUNTED names.
"""

import json
import os
import signal
import sys
import threading
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import gitmem
import gitmem_lsp
from gitmem_lsp.__main__ import main

ROOTS = tuple(str(Path(str(package.__file__)).parent) for package in (gitmem, gitmem_lsp))
_ran: set[CodeType] = set()
_counting = threading.Event()


def _note(frame: FrameType, event: str, _: Any) -> None:
    if event == "call" and _counting.is_set():
        _ran.add(frame.f_code)


def _begin(*_: Any) -> None:
    _ran.clear()
    _counting.set()
    sys.setprofile(_note)  # of this thread: the start of the server need not be slow


def _end(*_: Any) -> None:
    _counting.clear()
    sys.setprofile(None)
    ours = {
        (code.co_filename, code.co_qualname)
        for code in set(_ran)
        if code.co_filename.startswith(ROOTS) and not code.co_name.startswith("<")
    }
    path = Path(os.environ["GITMEM_COUNTED"])
    path.with_suffix(".part").write_text(json.dumps(sorted(ours)), encoding="utf-8")
    path.with_suffix(".part").replace(path)


if __name__ == "__main__":
    signal.signal(signal.SIGUSR1, _begin)
    signal.signal(signal.SIGUSR2, _end)
    threading.setprofile(_note)
    main()
