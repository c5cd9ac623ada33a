"""`git mem code`: the group of commands that know the code."""

import click

from gitmem.cli.group import Parts

TABLE = {
    "symbols": ("code.code", "symbols_command", "List the definitions of a file, folder or name"),
    "refs": ("code.code", "refs_command", "Show where something is defined and used"),
    "imports": ("code.code", "imports_command", "Show what a file imports, or who uses it"),
    "graph": ("code.code", "graph_command", "Show which files use which others"),
    "rank": ("code.code", "rank_command", "Show on which files most of the code hangs"),
    "dna": ("code.dna", "dna_command", "Show what a project is made of, on one page"),
    "evolution": ("code.evolution", "evolution_command", "Show how a file or symbol developed"),
    "drift": ("code.drift", "drift_command", "Show which branches change the same code"),
    "prune": ("code.code", "prune_command", "Remove from the cache what nothing has any more"),
}


@click.group("code", cls=Parts, table=TABLE, short_help="Show definitions, references, imports")
def code_command() -> None:
    """Show definitions, references and imports, and how much depends on each file.

    Imports are resolved to files.

    Files are parsed once per version, and kept in the git directory. Languages: C, C++, C#, Go,
    Java, JavaScript, PHP, Python, Ruby, Rust, TypeScript.

    \b
    Examples:
      git mem code symbols src/cart.py
      git mem code refs Cart.total
      git mem code imports src/cart.py --of
      git mem code graph src/cart.py --dot | dot -Tsvg > cart.svg
      git mem code rank -n 20
      git mem code dna
      git mem code evolution src/cart.py
    """
