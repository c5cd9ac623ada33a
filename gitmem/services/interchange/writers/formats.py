"""The formats that can be written."""

from gitmem.services.interchange.writers import (
    aios,
    genius,
    leonidas,
    markdown,
    okf,
    plain_json,
    sinapse,
)

_ALL = (okf, markdown, plain_json, aios, genius, sinapse, leonidas)
WRITERS = {module.WRITER.name: module.WRITER for module in _ALL}
BY_ENDING = {".md": "markdown", ".json": "json"}
