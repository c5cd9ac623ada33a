"""Long work is seen on a terminal, and nowhere else."""

import io
import sys
import time

import pytest

from gitmem.cli import ticking


class Stream(io.StringIO):
    """A stream that may say that it is a terminal."""

    def __init__(self, is_terminal: bool) -> None:
        super().__init__()
        self.is_terminal = is_terminal

    def isatty(self) -> bool:
        """Say what the test wants."""
        return self.is_terminal


def test_seconds_are_told_on_a_terminal_and_taken_away(monkeypatch):
    """The line is renewed while the work goes on, and the last thing written clears it."""
    monkeypatch.setattr(ticking, "EVERY", 0.01)
    monkeypatch.setattr(sys, "stderr", stream := Stream(is_terminal=True))
    with ticking.ticking("checking"):
        end = time.monotonic() + 30
        while stream.getvalue().count("checking, 0 s\r") < 2 and time.monotonic() < end:
            time.sleep(0.01)
    assert stream.getvalue().count("checking, ") >= 2
    assert stream.getvalue().endswith("\r\033[K")


def test_line_is_cleared_when_the_work_fails(monkeypatch):
    """An error is told on a clear line."""
    monkeypatch.setattr(sys, "stderr", stream := Stream(is_terminal=True))
    with pytest.raises(OSError, match="broken"), ticking.ticking("checking"):
        raise OSError("broken")
    assert stream.getvalue().endswith("\r\033[K")


def test_nothing_is_told_elsewhere(monkeypatch):
    """A log of a build gets no such line."""
    monkeypatch.setattr(ticking, "EVERY", 0.001)
    monkeypatch.setattr(sys, "stderr", stream := Stream(is_terminal=False))
    with ticking.ticking("checking"):
        time.sleep(0.05)
    assert stream.getvalue() == ""
