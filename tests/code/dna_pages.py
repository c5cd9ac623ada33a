"""Pages of small repositories, and their parts."""

from pathlib import Path

from tests.codemap.graph.projects import commit, mem, new

# a project of Elixir, a language that is not parsed
MIX = {
    "mix.exs": 'defmodule A do\n  @version "1.2"\n  def project, do: [app: :acme, version: @version,\n'
    '  elixir: "~> 1.15"]\n  defp deps do\n    [{:plug, "~> 1.14"},\n'
    '     {:ex_doc, "~> 0.3", only: :docs}, {:jason, "~> 1.0", optional: true}]\n  end\nend\n',
    **{f"lib/{name}.ex": "defmodule A do\nend\n" for name in "abc"},
}


def page(tmp_path: Path, files: dict[str, str], name: str = "acme") -> str:
    """Return the page of a repository that holds some files."""
    repo = new(tmp_path / name)
    commit(repo, files)
    return mem(repo, "code", "dna").stdout


def part(out: str, title: str) -> list[str]:
    """Return the rows of a part of a page, [] when it has no such part."""
    rest = out.partition(f"## {title}\n")[2]
    return [row for row in rest.partition("\n\n")[0].strip().split("\n") if row]
