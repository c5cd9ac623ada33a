"""From what a model printed to a value that fits a schema: fences and prose around the JSON are passed over. Pure."""

import json
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from gitmem.extraction.llm.provider import ModelFailed

TRIES = 200  # places of an answer at which JSON may begin
_FENCED = re.compile(r"```[A-Za-z]*[ \t]*\n(.*?)```", re.DOTALL)
_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,), "array": (list,), "string": (str,), "boolean": (bool,), "number": (int, float), "integer": (int,), "null": (type(None),)
}  # fmt: skip


def read(text: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the first JSON object of an answer that fits the schema, parts of lists that do not left out; raises ModelFailed."""
    if not text.strip():
        raise ModelFailed("the model answered nothing.", "Try again, or another model.", kind="empty")
    wrong = "the model's answer holds no JSON object."
    for value in _objects(text):
        try:
            return _fit(value, schema)  # type: ignore[no-any-return] # what fits an object's schema is an object
        except ValueError as error:
            wrong = f"the model's answer does not fit: {error}."
    raise ModelFailed(wrong, "A larger model mostly keeps to the form that is asked for.", kind="nonsense")


def _objects(text: str) -> Iterator[Any]:
    decoder = json.JSONDecoder()
    texts = [text.strip(), *(m[1].strip() for m in islice(_FENCED.finditer(text), TRIES))]
    for one in texts:
        try:
            yield decoder.decode(one)
        except (ValueError, RecursionError):
            continue
    at = -1
    for _ in range(TRIES):
        at = text.find("{", at + 1)
        if at < 0:
            return
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            continue
        yield value
        at = end - 1


def _fit(value: Any, schema: Mapping[str, Any], where: str = "") -> Any:
    """Return a value without what is no part of its schema; raises ValueError that names the first place that is wrong."""
    kind = schema.get("type", "")
    here = where or "it"
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        value = int(value)
    if kind and (not isinstance(value, _TYPES[kind]) or (isinstance(value, bool) and kind in {"number", "integer"})):
        raise ValueError(f"{here} is no {kind}")
    if "enum" in schema and value not in schema["enum"]:
        raise ValueError(f"{here} is none of {', '.join(map(str, schema['enum']))}")
    if kind == "object":
        missing = [name for name in schema.get("required", ()) if name not in value]
        if missing:
            raise ValueError(f"{here} lacks '{missing[0]}'")
        out = {}
        for name, part in schema.get("properties", {}).items():
            if name in value and not (value[name] is None and name not in schema.get("required", ())):
                out[name] = _fit(value[name], part, f"'{name}'")
        return out
    if kind == "array" and "items" in schema:
        kept, wrong = [], ""
        for part in value:
            try:
                kept.append(_fit(part, schema["items"], f"a part of {here}"))
            except ValueError as error:
                wrong = wrong or str(error)
        if value and not kept:
            raise ValueError(wrong)
        return kept
    return value
