"""Fixtures of the tests of pages."""

from tests.cli.conftest import mem

__all__ = ["mem"]
