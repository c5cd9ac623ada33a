"""Plain text and Markdown, dialogues too: each heading, point and paragraph is a turn, with its line."""

import re
from collections.abc import Iterator
from typing import IO

from gitmem.model.turn import ASSISTANT, SYSTEM, TOOL, USER, Turn
from gitmem.transcripts.lines import lines
from gitmem.transcripts.said import said

BLOCK = 16_000  # characters of a turn
_SPEAKER = re.compile(
    r"(?i)^\s{0,3}(?:#{1,4} +)?[*_]{0,2}(user|human|me|you|usuário|usuario|utilizador|humano|eu|yo|用户|使用者|我|assistant|ai|agent|claude|gemini|codex|gpt|chatgpt|copilot|cursor|"
    r"bot|model|assistente|asistente|agente|modelo|助手|助理|系统|system|sistema|tool|tool result|ferramenta|herramienta|工具)[*_]{0,2} ?(?:\([^()\n]{1,40}\))?\s*[:：>][*_]{0,2}(?:\s+|$|(?<=：))(.*)$"
)
_SPEAKER_HEADING = re.compile(
    r"(?i)^#{1,4} +[*_]{0,2}(user|human|usuário|usuario|humano|用户|assistant|claude|gemini|assistente|asistente|助手|system)[*_]{0,2}\s*$"
)
_USERS = {"user", "human", "me", "usuário", "usuario", "utilizador", "humano", "eu", "yo", "用户", "使用者", "我"}
_SYSTEMS = {"system", "sistema", "系统"}
_TOOLS = {"tool", "tool result", "ferramenta", "herramienta", "工具"}
_POINT = re.compile(r"^\s*(?:[-*+•·–] |\d{1,3}[.)、] ?)")
_HEADING = re.compile(r"^#{1,6}\s+\S|^\S[^\n]{0,80}\n[=-]{3,}$")
_FENCE = re.compile(r"^\s*(```+|~~~+)")
_COLOUR = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])")
_SURE = re.compile(r"(?i)\b(?:user|human|usu[aá]rio)\b|用户")


def text(stream: IO[bytes]) -> Iterator[Turn]:
    """Yield the turns of a text. Who speaks is taken from lines such as `User: ...`; a text without them is its writer's."""
    role = USER
    block: list[str] = []
    size = first = 0
    fence = ""
    hidden = False

    def ended() -> Iterator[Turn]:
        nonlocal size
        words = said("\n".join(block), BLOCK)
        block.clear()
        size = 0
        if words:
            yield Turn(role, words, line=first)

    for line in lines(stream, 1 << 20):
        now = line.text.replace("\x00", "")[:BLOCK]
        if "\x1b" in now:
            now = _COLOUR.sub("", now)  # what a terminal said is words without its colours
        low = now.lower()
        if "<private" in low or "</private" in low:  # a mark may go over many blocks
            now, hidden = _public(now, hidden)
        elif hidden:
            continue
        mark = _FENCE.match(now)
        if fence:
            block.append(now)
            size += len(now)
            if mark and mark[1].startswith(fence):
                fence = ""
            if size > BLOCK:
                del block[-1]
            continue
        speaker = _SPEAKER_HEADING.match(now) or _SPEAKER.match(now)
        if speaker:
            yield from ended()
            name = speaker[1].lower()
            role = USER if name in _USERS else SYSTEM if name in _SYSTEMS else TOOL if name in _TOOLS else ASSISTANT
            now = speaker[2] if speaker.re is _SPEAKER else ""
        blank = not now.strip()
        begins = bool(_POINT.match(now) or now.startswith("#"))
        if blank or begins or size > BLOCK // 2:
            yield from ended()
        if blank:
            continue
        if not block:
            first = line.number
        block.append(now)
        size += len(now)
        if mark:
            fence = mark[1][:3]
        elif _HEADING.match(now):
            yield from ended()
    yield from ended()


def _public(line: str, hidden: bool) -> tuple[str, bool]:
    """Return a line without what is marked private, and whether the mark is still open."""
    kept = []
    for part in re.split(r"(?i)(</?private(?:\s[^<>]*)?>)", line):
        if part.lower().startswith("<private"):
            hidden = True
        elif part.lower().startswith("</private"):
            hidden = False
        elif not hidden:
            kept.append(part)
    return "".join(kept), hidden
