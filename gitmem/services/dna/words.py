"""What a project says of itself, in its README and in the head of its code. Pure.

Only a sentence about what the project is counts: no badge, no sponsor, no news, nothing that tells
the reader to do something.
"""

import html
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

LEAST = 8  # letters of a sentence
MOST = 60_000  # characters of a README that are read
LONGEST = 2_000  # characters of a description that are read
_LINK = "\x01"  # around the text of a link

_FENCES = re.compile(
    r"<!--.*?(?:-->|\Z)|^[ \t]*(```|~~~).*?(?:^[ \t]*\1|\Z)", re.DOTALL | re.MULTILINE
)
# directives of reStructuredText with what is indented below them
_DIRECTIVE = re.compile(r"^\.\. [^\n]*(?:\n[ \t]+[^\n]*)*", re.MULTILINE)
_HTML_HEADING = re.compile(
    r"<h([1-6])\b[^<>]{0,300}>(.{0,600}?)</h[1-6]>", re.DOTALL | re.IGNORECASE
)
_HTML_LINK = re.compile(r"<a\b[^<>]{0,300}>(.{0,600}?)</a>", re.DOTALL | re.IGNORECASE)
_HTML_BLOCK = re.compile(r"</?(?:p|div|br|hr|center|table|tr|ul|li)\b[^<>]*+>", re.IGNORECASE)
_IMAGE = re.compile(
    r"!\[[^\[\]]*+\](?:\([^)]{0,500}\)|\[[^\[\]]{0,200}\])"
    r"|\bimage::?[^\s\[\]]{1,300}\[[^\[\]]{0,300}\]"
)
_MD_LINK = re.compile(r"\[([^\[\]]*+)\](?:\([^)]{0,500}\)|\[[^\[\]]{0,200}\])")
_RST_LINK = re.compile(r"`([^`<]++)<[^>`]*+>`_++")
_ADOC_LINK = re.compile(r"\b(?:link:|https?://)[^\s\[\]]{1,300}\[([^\[\]]{0,300})\]")
# fields of reStructuredText and AsciiDoc, links that are defined elsewhere
_FIELD = re.compile(
    r"^:[\w! -]+:[^\n]*(?:\n[ \t]+\S[^\n]*)*|^\.\. .*$|^\[[^\[\]\n]+\]: .*$", re.MULTILINE
)
_UNDERLINE = re.compile(r"(?:[=\-~^*#\"'`+]{3,}|==|--|~~)[ \t]*$")
_NO_PROSE = re.compile(r"[*\-+•|>:]|\d+\.|\.\. |https?://|---|===")
_ABOUT = re.compile(
    r"(?i)\W*(?:about|overview|introduction|description|summary|synopsis|what is (?:it|this)\??"
    r"|about (?:the|this) project|über|présentation|acerca de|sobre|introducción|descripción"
    r"|описание|简介|介绍|概要|はじめに)\W*$"
)
_END = re.compile(
    r"(?<=[.!?])(?<!\be\.g\.)(?<!\bi\.e\.)\s+(?=[\"'`(\[A-Z\u0400-\uffff])|(?<=[。！？])"
)
# sentences that are about money, news, the page itself, or what the reader should do
_OTHER = re.compile(
    r"(?i)\bsponsor|\bdonat|\bfunding\b|\bbackers?\b|open collective|tidelift|\bpatreon\b"
    r"|special thanks|\bexcited to announce|is now available|\bwe'?re hiring|\bjoin (?:us|our)\b"
    r"|\bstar (?:us|this)\b|add your description|\bTODO\b|^a new flutter project\.?$"
    r"|\bnode\.?js module available through\b|\bthis (?:readme|document|page|file|section|folder)\b"
    r"|\bmy open source work\b|located at\b|\bwork in progress\b|npm registry"
)
_ORDER = re.compile(
    r"(?i)(?:please |to (?:use|run|install|build|get|start) |you can |also )?"
    r"(?:click|run|install|see|read|check out|visit|download|clone|follow|copy|go to|try|use|add"
    r"|open|create|make sure|note|refer|look|start|get started|come|build|buy|learn"
    r"|for (?:more|full|the|a|details)|if you|when|before|we(?:'re| are)|i(?:'m| am)|my|our|you"
    r"|explore|discover|meet|welcome|introducing|experience|elevate|thanks|warning|important"
    r"|available as|by default|in order|either)(?![-\w])"
    # a noun: "open source server", "build tool"
    r"(?! (?:source|tools?|systems?|engine|library|server|runner|manager|framework)\b)"
)
# a sentence about something else has a subject that is neither the project nor "this"
_SUBJECT = re.compile(
    r"(?i)(.{1,80}?) (?:is|are|was|can|has|have|provides?|allows?|makes?|helps?|lets|offers?|gives?"
    r"|implements?|contains?|includes?|adds?|uses?|requires?|supports?|to) "
)
_IS_A = re.compile(r"(?i)(?:the )?([^.!?]{1,80}?),? (?:is|are) (?:an?|the) ")
_ITSELF = re.compile(r"(?i)(?:this|these|it|an?|the|our|[\w-]+ (?:that|which))\b")


_QUOTE = re.compile(r"^[ \t]*>[ \t]?(?:\[![A-Z]+\][ \t]*)?", re.MULTILINE)
_ENTITY = re.compile(r"&#?\w{1,31};")
# a project that is over, or elsewhere: group 1 is what is said to be so
_GONE = re.compile(
    r"(?i)\W*+(?:(?:warning|note|important|notice|attention|update)\W++)?"
    r"(?:(?:archived|deprecated|unmaintained|discontinued|obsolete|moved)\b\s?"
    r"(?:[,:;.!–—-]|$|use\b|to\b|in\b)"
    r"|(\w[\w./@ -]{0,60}?) (?:is|has|was) (?:(?:been|now|currently|officially|permanently) ){0,3}"
    r"(?:archived|deprecated|moved|discontinued|unmaintained|abandoned|superseded|replaced|obsolete"
    r"|renamed|retired|no longer (?:being |actively ){0,2}(?:maintained|developed|supported))\b)"
)
_PROJECT = re.compile(
    r"(?i)this|(?:this|the) (?:\w+ )?(?:project|repository|repo|package|library|module|crate|gem"
    r"|tool|plugin|codebase)"
)


@dataclass(slots=True)
class _Section:
    """A heading, its level from 1 (0 before the first), and the paragraphs below it."""

    heading: str = ""
    level: int = 0
    paragraphs: list[str] = field(default_factory=list)


def readme_sentence(text: str, name: str) -> str:
    """Return what a README says the project `name` is, as whole sentences; '' when it does not.

    It is the first paragraph below the title or below a heading such as "About", the title itself,
    or a paragraph that begins with the project's name.
    """
    sections = _sections(text)
    return next((said for said in _candidates(sections, name) if said), "")


def gone_sentence(text: str, name: str) -> str:
    """Return the sentence of a README that says that the project is over or elsewhere, else ''."""
    for section in _sections(_QUOTE.sub("", text[:LONGEST]))[:3]:
        for paragraph in [section.heading, *section.paragraphs[:4]]:
            for sentence in _sentences(paragraph):
                if _is_gone(sentence, name):
                    said = _joined([sentence])
                    return said if _is_prose(said) else ""
    return ""


def _is_gone(sentence: str, name: str) -> bool:
    match = _GONE.match(sentence)
    if match is None:
        return False
    subject = match[1] or "this"
    return _PROJECT.fullmatch(subject) is not None or subject.lower() == name.lower()


def _candidates(sections: list[_Section], name: str) -> Iterator[str]:
    """Yield what may say what a project is, the likeliest first; '' for what does not."""
    for section in [
        *_lead(sections, name),
        *(section for section in sections if _is_about(section.heading, name)),
    ]:
        said = statement(section.paragraphs[0]) if section.paragraphs else ""
        yield said if _is_about_itself(said, name) else ""
    yield from (_tagline(section.heading, name) for section in sections[:2])
    for section in sections:
        yield from (
            statement(paragraph) for paragraph in section.paragraphs if _names(paragraph, name)
        )


def _names(paragraph: str, name: str) -> bool:
    """Say whether a paragraph begins by saying what the project is, by its name."""
    match = _IS_A.match(paragraph)
    return match is not None and bool(name) and match[1].lower().split(" (")[0] == name.lower()


def statement(text: str) -> str:
    """Return the sentences of a paragraph that say what something is, '' when there are none."""
    out: list[str] = []
    for sentence in _sentences(text):
        if _OTHER.search(sentence) or _ORDER.match(sentence) or sentence.endswith(("?", "？")):
            break
        out.append(sentence)
    said = _joined(out).rstrip(":")
    return said if _is_prose(said) else ""


def _is_about_itself(text: str, name: str) -> bool:
    """Say whether a sentence speaks of the project, or has no verb, as a tagline."""
    match = _SUBJECT.match(text)
    if match is None:
        return not text.startswith("`") or name.lower() in text.lower()
    words = [word for word in re.split(r"[\W_]+", name.lower()) if len(word) > 1]
    subject = match[1].lower()
    return bool(_ITSELF.match(subject)) or any(word in subject for word in words)


def description(text: str) -> str:
    """Return what the description of a manifest says, without sponsors and placeholders."""
    return _joined(
        [sentence for sentence in _sentences(text[:LONGEST]) if not _OTHER.search(sentence)]
    )


def _sentences(text: str) -> list[str]:
    text = " ".join(re.sub(r"</?[A-Za-z][^<>]*+>", " ", text).split())
    return [part.strip() for part in _END.split(text)]


def _joined(sentences: list[str]) -> str:
    said = re.sub(r"(?<=[。！？]) ", "", " ".join(sentences))
    return " ".join(_ENTITY.sub(lambda entity: html.unescape(entity[0]), said).split())


def _is_prose(text: str) -> bool:
    letters = sum(character.isalpha() for character in text)
    is_wide = any("\u3040" <= character <= "\ud7ff" for character in text)  # scripts without spaces
    return letters >= LEAST and (is_wide or " " in text)


def head_of_code(path: str, text: str) -> str:
    """Return what the head of a package's first file says: a docstring, or a comment of Go."""
    if path.endswith(".go"):
        match = re.search(r"^// (Package \w+ [^\n]*(?:\n// [^\n]+)*)\n", text, re.MULTILINE)
        said = match[1].replace("\n//", "") if match else ""
    else:
        match = re.match(r'(?:\s*#[^\n]*\n)*\s*[rRuU]?"""(.*?)(?:\n\s*\n|""")', text, re.DOTALL)
        said = match[1] if match else ""
        said = re.sub(r"^[\s~=*\-]+|\n[=~\-]{3,}[^\n]*|:\w+:", "", said)
    said = " ".join(said.split())
    if re.fullmatch(r"[\w.\- ]{0,30}", said) and said.count(" ") < 2:
        return ""  # a name alone
    return statement(said)


def _lead(sections: list[_Section], name: str) -> Iterator[_Section]:
    """Yield what stands before the first heading, and below it if it is the title."""
    for number, section in enumerate(sections[:2]):
        is_first = number == 0 or not sections[0].heading
        is_title = section.level <= 1 or name.lower() in section.heading.lower()
        if not section.heading or (is_first and is_title):
            yield section


def _is_about(heading: str, name: str) -> bool:
    if _ABOUT.match(heading):
        return True
    what = re.match(r"(?i)\W*(?:what(?:'s| is)|why) +(?:an? )?(.+?)\W*$", heading)
    return what is not None and bool(name) and what[1].lower() == name.lower()


def _tagline(heading: str, name: str) -> str:
    match = re.match(r"(.{1,60}?)\s*(?::| [-–—|])\s+(.+)$", heading)
    if match is None or not name or name.lower() not in match[1].lower():
        return ""
    return description(statement(match[2]))


def _sections(text: str) -> list[_Section]:
    """Return the parts of a text between its headings, in Markdown, reStructuredText, AsciiDoc."""
    sections = [_Section()]
    rows: list[str] = []

    def close() -> None:
        if paragraph := _plain(rows):
            sections[-1].paragraphs.append(paragraph)
        rows.clear()

    lines = _cleaned(text[:MOST]).split("\n")
    for line, following in itertools.pairwise([*lines, ""]):
        title, level = _heading(line, "" if rows else following, is_first=len(sections) == 1)
        if title:
            close()
            sections.append(_Section(title, level))
        elif not line.strip():
            close()
        elif _UNDERLINE.fullmatch(line.strip()):
            rows.clear()
        else:
            rows.append(line)
    close()
    return [section for section in sections if section.heading or section.paragraphs]


def _heading(line: str, following: str, *, is_first: bool) -> tuple[str, int]:
    """Return the words of a heading and its level, ('', 0) for another line."""
    marked = re.match(r"(#{1,6}|={1,6})[ \t]+(?=\S)", line)
    if marked:
        return _unlinked(line[marked.end() :].rstrip("#= \t")), len(marked[1])
    if line.strip() and _is_underline(following, line):
        return _unlinked(line.strip()), 1 if is_first else 2
    return "", 0


def _is_underline(line: str, heading: str) -> bool:
    line = line.strip()
    return (
        bool(_UNDERLINE.fullmatch(line))
        and len(set(line)) == 1
        and not _UNDERLINE.fullmatch(heading.strip())
        and (len(line) >= len(heading.strip()) // 2)
    )


def _cleaned(text: str) -> str:
    """Return a text without what is no prose, with the text of each link marked."""
    text = text.replace("\r", "").replace(_LINK, "")
    text = _FENCES.sub("", text)
    text = _DIRECTIVE.sub("", text)
    text = _IMAGE.sub("", text)
    text = _HTML_LINK.sub(lambda link: _marked(link[1]), text)
    text = _HTML_HEADING.sub(_markdown_heading, text)
    text = _HTML_BLOCK.sub("\n", text)
    text = re.sub(r"</?[A-Za-z][^<>]*+>", "", text)
    text = _MD_LINK.sub(lambda link: _marked(link[1]), text)
    text = _RST_LINK.sub(lambda link: _marked(link[1]), text)
    text = _ADOC_LINK.sub(lambda link: _marked(link[1]), text)
    text = re.sub(r"(?<!`)`([^`\n]+)`_\b", lambda link: _marked(link[1]), text)
    text = _FIELD.sub("", text)
    text = re.sub(r"\|[\w -]++\|", "", text)
    text = re.sub(r":\w+:`~?([^`<]+?)(?: <[^`]*>)?`", r"\1", text)
    text = re.sub(r"``([^`\n]+)``", r"`\1`", text)
    return re.sub(r"&nbsp;|&middot;|\\(?=\n)", " ", text)


def _markdown_heading(match: "re.Match[str]") -> str:
    title = re.sub(r"</?[A-Za-z][^<>]*+>", " ", match[2])
    return f"\n\n{'#' * int(match[1])} {' '.join(title.split())}\n\n"


def _marked(text: str) -> str:
    text = re.sub(r"</?[A-Za-z][^<>]*+>", "", text.replace(_LINK, ""))
    return f"{_LINK}{' '.join(text.split())}{_LINK}" if text.strip() else ""


def _unlinked(text: str) -> str:
    return " ".join(text.replace(_LINK, "").replace("*", "").split())


def _plain(rows: list[str]) -> str:
    """Return the rows of a paragraph as one line; '' for a list, a table, a quote, links alone."""
    if not rows or (_NO_PROSE.match(rows[0].strip()) and not rows[0].strip().startswith("**")):
        return ""
    text = " ".join(" ".join(rows).split())
    linked = sum(len(part) for part in text.split(_LINK)[1::2])
    if linked * 2 > len(text.replace(_LINK, "")):
        return ""
    text = text.replace(_LINK, "")
    text = re.sub(r"(?<!\w)[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}(?!\w)", "", text)
    text = re.sub(r"\[([^\[\]]+)\](?!\()", r"\1", text)  # a link that is defined elsewhere
    text = re.sub(r"\s?<https?://[^<>\s]+>|https?://\S+", "", text)
    return " ".join(text.split())


def agent_points(text: str) -> list[str]:
    """Return the points of a file for agents, else its first sentences."""
    text = _FENCES.sub("", text)
    points = []
    for row in text.splitlines():
        if match := re.match(r"\s*(?:[-*]|\d+\.)\s+(\S.*)", row):
            point = " ".join(match[1].replace("**", "").split()).rstrip(".;")
            if not point.endswith(":"):
                points.append(point)
    return points[:8] or [first_prose for first_prose in [_first_prose(text)] if first_prose]


def _first_prose(text: str) -> str:
    for section in _sections(text):
        for paragraph in section.paragraphs:
            if _is_prose(paragraph):
                return paragraph
    return ""
