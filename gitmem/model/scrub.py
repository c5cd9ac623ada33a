"""Temporary."""
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    kind: str
    line: int
    preview: str
@dataclass(frozen=True, slots=True)
class Scrubbed:
    text: str
    findings: tuple[Finding, ...]
def scrub(text: str, allow: Sequence[str] = ()) -> Scrubbed:
    return Scrubbed(text, ())
