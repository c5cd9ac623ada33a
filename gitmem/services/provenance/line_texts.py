"""How much the text of a line says of who wrote it: some lines anybody would have written. Pure."""

import re

TELLING = 10  # letters and digits of a line that says something
UNMISTAKABLE = 13  # and of one that says enough without the lines around it
_BOILERPLATE = re.compile(
    r"""(?x) \s*+ (?:
      (?:import|from|\#\s*include|include|using|use|require|require_relative|package|namespace|module|export\s+\*)\b .*
    | (?:const|let|var)\s++[\w{},\s]{1,60}=\s*require\b .*
    | (?:\w++\s++)*log(?:ger)?\s* (?::=|=) .*
    | (?:\#!|<\?|<!|--\s*$|//\s*eslint|\#\s*(?:-\*-|type:|noqa|pragma|pylint|fmt:)|"use\ strict"|'use\ strict') .*
    | (?:return|raise|yield|throw|break|continue|pass|else|try|finally|do|begin|end|fi|done|esac|default|null|None|nil|
        true|false|True|False|this|self|super)? \s*+ (?:None|null|nil|true|false|True|False|self|this|0|1|-1|
        err|error|result|results|data|value|values|res|out|ret)? \s*+ [;:,(){}\[\]]*+ \s*+
    | if\s+__name__ .* | __all__\s*= .* | main\(\);?
    | (?:def|fn|func|function)\s+(?:__\w+__|main|setUp|tearDown|setup|teardown|init|constructor|run)\s*\( .*
    | super\(?.* | @(?:\w+\.)?(?:property|staticmethod|classmethod|override|Override|dataclass|abstractmethod|Test|fixture)\b .*
    | except(?:\s+(?:Exception|ValueError|KeyError|OSError|TypeError)(?:\s+as\s+\w+)?)?\s*: | catch\s*\(.*\)\s*\{
    | if\s+err\s*!=\s*nil\s*\{ | if\s+not\s+\w+\s*: | if\s*\(!?\w+\)\s*\{? | assert\s+(?:True|False)
    | (?:\#|//|/\*|\*|--)\s*(?:todo|fixme|copyright|license|spdx)\b .*
    ) \s*""",
    re.IGNORECASE,
)


def letters(text: str) -> int:
    """Return how many letters and digits a line has."""
    return sum(map(str.isalnum, text))


def is_boilerplate(text: str) -> bool:
    """Say whether anybody would have written a line at such a place."""
    return _BOILERPLATE.fullmatch(text[:500]) is not None


def is_telling(text: str, least: int = TELLING) -> bool:
    """Say whether a line says something that only its author would have written."""
    return letters(text) >= least and not is_boilerplate(text)
