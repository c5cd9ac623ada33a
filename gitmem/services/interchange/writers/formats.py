"""The formats that can be written."""

from gitmem.services.interchange.writers import markdown, okf, plain_json

WRITERS = {one.name: one for one in (okf.WRITER, markdown.WRITER, plain_json.WRITER)}
BY_ENDING = {".md": "markdown", ".json": "json"}
