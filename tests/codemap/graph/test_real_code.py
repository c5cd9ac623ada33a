"""Imports and references of real projects, each read in its source by hand.

`real/LANGUAGE.tar.xz` has some files of one project as they are, with its licence; `real/README.md`
names the projects and how the tables are read.
"""

import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gitmem.codemap.graph.code_map import CodeMap
from gitmem.codemap.graph.graph import Graph
from gitmem.codemap.graph.references import Reference, references, symbols_of
from tests.codemap.graph.projects import code_map, commit, new

REAL = Path(__file__).parents[1] / "real"
ENOUGH = 20  # rows of each table for each language


def rows(name: str) -> dict[str, list[list[str]]]:
    """Return a table by language."""
    out: dict[str, list[list[str]]] = {}
    for line in (REAL / name).read_text().splitlines():
        language, *row = line.split("\t")
        out.setdefault(language, []).append(row)
    return out


IMPORTS = rows("imports.tsv")
REFERENCES = rows("references.tsv")


@contextmanager
def project(folder: Path, language: str) -> Iterator[tuple[CodeMap, Graph]]:
    """Open the code of a language's project."""
    repo = new(folder / "repo")
    with tarfile.open(REAL / f"{language}.tar.xz") as archive:
        archive.extractall(repo, filter="data")
    commit(repo, {})
    with code_map(repo, folder / "cache") as code:
        yield code, code.graph()


@pytest.mark.parametrize("language", IMPORTS)
def test_imports_lead_where_they_lead(tmp_path: Path, language: str):
    """To the files of the project that are meant, and to none where a library is."""
    wrong: list[str] = []
    with project(tmp_path, language) as (code, graph):
        resolution = code.resolution(graph)
        for place, written, wanted in IMPORTS[language]:
            path, _, line = place.rpartition(":")
            tags = code.tags(graph, path)
            assert tags is not None
            for made in (one for one in tags.imports if one.line == int(line)):
                names = ",".join(name for name, _ in made.names)
                if written != (f"{made.module} ({names})" if names.strip("*") else made.module):
                    continue
                to = " ".join(resolution.imported(path, made)) or "external"
                if to != wanted:
                    wrong.append(f"{place} {written}: {to}, not {wanted}")
                break
            else:
                wrong.append(f"{place} {written}: there is no such import")
    assert not wrong
    assert len(IMPORTS[language]) >= ENOUGH


@pytest.mark.parametrize("language", REFERENCES)
def test_references_are_as_sure_as_the_source_lets_one_be(tmp_path: Path, language: str):
    """`sure` where an import or a receiver says so, `?` where only the name is the same, else `no`."""
    wrong: list[str] = []
    with project(tmp_path, language) as (code, graph):
        for definition, place, wanted in REFERENCES[language]:
            given = verdict(uses_of(code, graph, definition), place)
            if given != wanted:
                wrong.append(f"{definition} at {place}: {given}, not {wanted}")
    assert not wrong
    assert len(REFERENCES[language]) >= ENOUGH


def uses_of(code: CodeMap, graph: Graph, definition: str) -> list[Reference]:
    """Return the references of a definition that is written as PATH#NAME."""
    path, _, qualified = definition.partition("#")
    tags = code.tags(graph, path)
    assert tags is not None
    wanted = [one for one in symbols_of(path, tags) if one.qualified == qualified]
    assert wanted, definition
    return [use for use in references(code, graph, wanted) if not use.is_import]


def verdict(uses: list[Reference], place: str) -> str:
    """Return what a line is told to be."""
    given = [use.sure for use in uses if f"{use.path}:{use.line}" == place]
    if not given:
        return "no"
    return "sure" if any(given) else "?"
