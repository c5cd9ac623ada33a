"""The site of the documents, as hooks of MkDocs: its navigation, its anchors, its links.

The navigation is the index in docs/README.md: each `## ` heading is a group, each link to a page in
its section is an entry. Where a section links to the README.md of a folder, the other pages of that
folder follow, below the name of the link. Links that leave docs/ lead to the repository.
"""

import posixpath
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

INDEX = "README.md"
Entry = dict[str, Any]
_HEADING = re.compile(r"^## +(.+?)\s*$", re.MULTILINE)
_LINK = re.compile(r"\[([^\]\n]+)\]\(([^)\s#]+\.md)\)")
_OUTSIDE = re.compile(r"\]\((\.\./[^)\s]+)\)")


def pages(docs: Path) -> list[str]:
    """Return the pages of a folder of documents, from its root."""
    return sorted(path.relative_to(docs).as_posix() for path in docs.rglob("*.md"))


def navigation(index: str, names: Sequence[str]) -> list[Entry]:
    """Return the navigation: groups in the order of the index, each with its entries.

    `index` is the text of docs/README.md, `names` are all pages. A page that the index does not
    name, and that is in no folder which it names, is left out.
    """
    parts = _HEADING.split(index)
    named = {name for _, name in _links(index, names)}
    groups: list[Entry] = [{"Overview": INDEX}]
    used = {INDEX}
    for heading, text in zip(parts[1::2], parts[2::2], strict=True):
        entries: list[Entry] = []
        for title, name in _links(text, names):
            if name not in used:
                used.add(name)
                entries.append(_entry(title, name, names, named))
        if entries:
            groups.append({heading: entries})
    return groups


def _links(text: str, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    for title, target in _LINK.findall(text):
        name = posixpath.normpath(target)
        if name in names:
            yield title, name


def _entry(title: str, name: str, names: Sequence[str], named: set[str]) -> Entry:
    """Return the entry of a page; one of a folder's README.md has the folder's other pages."""
    folder = posixpath.dirname(name)
    others = [page for page in names if folder and posixpath.dirname(page) == folder]
    if posixpath.basename(name) != INDEX:
        return {title: name}
    rest = [page for page in others if page != name and page not in named]
    return {title: [name, *rest]} if rest else {title: name}


def leaves(entries: Sequence[Any]) -> Iterator[str]:
    """Yield the pages of a navigation."""
    for entry in entries:
        values = list(entry.values()) if isinstance(entry, dict) else [entry]
        for value in values:
            if isinstance(value, str):
                yield value
            else:
                yield from leaves(value)


def to_repository(text: str, page: str, repository: str) -> str:
    """Return a page in which each relative link that leaves docs/ leads to the repository.

    `page` is the page's path in docs/, `repository` the address of the repository's files.
    """

    def replaced(match: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page), match[1]))
        is_inside = path.startswith(("docs/", ".."))
        return match[0] if is_inside else f"]({repository}/{path})"

    return _OUTSIDE.sub(replaced, text)


def on_config(config: Any) -> Any:
    """Set the navigation, and the anchors that GitHub gives to headings."""
    from pymdownx.slugs import slugify

    docs = Path(config.docs_dir)
    config.nav = navigation((docs / INDEX).read_text(encoding="utf-8"), pages(docs))
    config.mdx_configs.setdefault("toc", {})["slugify"] = slugify(case="lower")
    return config


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """Have links that leave docs/ lead to the repository."""
    return to_repository(markdown, page.file.src_uri, config.extra["repository_files"])
