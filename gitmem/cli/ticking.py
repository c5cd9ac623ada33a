"""A line on a terminal for work whose end nobody knows."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import click

EVERY = 1.0  # seconds


@contextmanager
def ticking(what: str) -> Iterator[None]:
    """Show for how many seconds something goes on, on a terminal alone; nothing stays of it."""
    if not sys.stderr.isatty():
        yield
        return
    ended, began = threading.Event(), time.monotonic()

    def tick() -> None:
        while not ended.wait(EVERY):
            seconds = time.monotonic() - began
            click.echo(f"{what}, {seconds:.0f} s\r", nl=False, err=True)

    thread = threading.Thread(target=tick, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        click.echo("\r\033[K", nl=False, err=True)
