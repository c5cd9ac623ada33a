"""The rules of the Agent Trace specification, version 0.1.0, as a JSON Schema of our own: https://agent-trace.dev."""

from typing import Any

CONTRIBUTOR = {
    "type": "object",
    "required": ["type"],
    "properties": {
        "type": {"enum": ["human", "ai", "mixed", "unknown"]},
        "model_id": {"type": "string", "maxLength": 250},
    },
    "additionalProperties": False,
}
RANGE = {
    "type": "object",
    "required": ["start_line", "end_line"],
    "properties": {
        "start_line": {"type": "integer", "minimum": 1},
        "end_line": {"type": "integer", "minimum": 1},
        "content_hash": {"type": "string"},
        "contributor": CONTRIBUTOR,
    },
    "additionalProperties": False,
}
CONVERSATION = {
    "type": "object",
    "required": ["ranges"],
    "properties": {
        "url": {"type": "string", "format": "uri"},
        "contributor": CONTRIBUTOR,
        "ranges": {"type": "array", "items": RANGE},
        "related": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["type", "url"],
                "properties": {
                    "type": {"type": "string"},
                    "url": {"type": "string", "format": "uri"},
                },
            },
        },
    },
    "additionalProperties": False,
}
SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "required": ["version", "id", "timestamp", "files"],
    "properties": {
        "version": {"type": "string", "pattern": r"^[0-9]+\.[0-9]+\.[0-9]+$"},
        "id": {"type": "string", "format": "uuid"},
        "timestamp": {"type": "string", "format": "date-time", "pattern": "Z$"},
        "vcs": {
            "type": "object",
            "required": ["type", "revision"],
            "properties": {
                "type": {"enum": ["git", "jj", "hg", "svn"]},
                "revision": {"type": "string"},
            },
            "additionalProperties": False,
        },
        "tool": {
            "type": "object",
            "required": ["name", "version"],
            "properties": {"name": {"type": "string"}, "version": {"type": "string"}},
            "additionalProperties": False,
        },
        "files": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["path", "conversations"],
                "properties": {
                    "path": {"type": "string"},
                    "conversations": {"type": "array", "items": CONVERSATION},
                },
                "additionalProperties": False,
            },
        },
        "metadata": {"type": "object"},
    },
    "additionalProperties": False,
}
