"""The conformance rules of Open Knowledge Format 0.2, read from its specification, not from our code."""

import re
from pathlib import Path

import yaml

_FRONT = re.compile(r"\A---\n(.*?)^---\n", re.DOTALL | re.MULTILINE)
_ENTRY = re.compile(r"^\* \[(?:[^\]\\]|\\.)+\]\([^)\s]+\) - \S.*$")
_EVENT = re.compile(r"^\* \*\*(?:Creation|Update|Deprecation)\*\*: \S.*$")
_ACTOR = re.compile(r"^(?:human:.+|process:.+|[^/\s]+/[^/\s]+)$")
STATUSES = {"draft", "stable", "deprecated"}


def faults(bundle: Path) -> list[str]:
    """Return what of a bundle breaks the specification."""
    out = []
    for path in sorted(bundle.rglob("*.md")):
        name, text = str(path.relative_to(bundle)), path.read_text("utf-8")
        if path.name == "index.md":
            out += [f"{name}: {fault}" for fault in _index(text, is_root=path.parent == bundle)]
        elif path.name == "log.md":
            out += [f"{name}: {fault}" for fault in _log(text)]
        else:
            out += [f"{name}: {fault}" for fault in _concept(text)]
    return out


def _concept(text: str) -> list[str]:
    front = _FRONT.match(text)
    if front is None:
        return ["no front matter"]
    try:
        keys = yaml.safe_load(front[1])
    except yaml.YAMLError as error:
        return [f"front matter is no YAML: {error}"]
    if not isinstance(keys, dict):
        return ["front matter is no map"]
    out = [] if isinstance(keys.get("type"), str) and keys["type"].strip() else ["no type"]
    if keys.get("status", "stable") not in STATUSES:
        out.append(f"status {keys['status']}")
    if not re.fullmatch(r"\d{4}-\d\d-\d\d|", str(keys.get("stale_after", ""))):
        out.append("stale_after is no date")
    verified = keys.get("verified", [])
    marks = verified if isinstance(verified, list) else [verified]
    for mark in [*([keys["generated"]] if "generated" in keys else []), *marks]:
        if not _ACTOR.match(str(mark.get("by"))) or not mark.get("at"):
            out.append(f"{mark} names no actor and time")
    out += ["a source has no resource" for s in keys.get("sources", []) if not s.get("resource")]
    return out


def _index(text: str, *, is_root: bool) -> list[str]:
    front = _FRONT.match(text)
    if front and (not is_root or yaml.safe_load(front[1]) != {"okf_version": "0.2"}):
        return ["front matter"]
    if is_root and not front:
        return ["no okf_version"]
    lines = text[front.end() if front else 0 :].split("\n")
    return [line for line in lines if line and not line.startswith("#") and not _ENTRY.match(line)]


def _log(text: str) -> list[str]:
    days = re.findall(r"^## (.*)$", text, re.MULTILINE)
    out = ["days are not newest first"] if days != sorted(set(days), reverse=True) else []
    out += [day for day in days if not re.fullmatch(r"\d{4}-\d\d-\d\d", day)]
    lines = [line for line in text.split("\n") if line and not line.startswith("#")]
    return out + [line for line in lines if not _EVENT.match(line)]
