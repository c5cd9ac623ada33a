"""What tools that run other tools write in front of each of their lines.

A container, a task runner or a log says whose line it is, and when it came. Taken away, the lines
are those of the tool inside. `frames` of `tools.json` has the expressions; without a sign, they
count in any output. Pure, read by hooks.
"""

from gitmem.base.fast import Lazy
from gitmem.fingerprint.tables import at_start, of_tools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_FRAMES = [(frame.get("sign", ""), Lazy(at_start(frame["prefix"]))) for frame in of_tools("frames")]
_DEEPEST = 3  # a task runner in a container in a log


def unframed(lines: "Sequence[str]", text: str) -> "tuple[Sequence[str], str]":
    """Return as many lines, without the frames whose signs are in the output.

    `text` is the text of the lines, with a newline before each. It is returned for the new lines.
    """
    for _ in range(_DEEPEST):
        prefixes = [prefix for sign, prefix in _FRAMES if sign in text]
        if not prefixes:
            break
        inner = [_without(prefixes, line) for line in lines]
        if inner == lines:
            break
        lines = inner
        text = "\n".join(["", *lines])
    return lines, text


def _without(prefixes: "list[Lazy]", line: str) -> str:
    for prefix in prefixes:
        frame = prefix.match(line)
        if frame:
            line = line[frame.end() :]
    return line
