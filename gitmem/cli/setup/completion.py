"""`git mem completion`: the completion scripts of shells."""

import click


@click.command("completion", short_help="Print the completion script of a shell")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion_command(shell: str) -> None:
    """Print a completion script.

    It completes commands, options and their values: ids with their titles, settings, remotes,
    branches, files. An installation into /usr, /usr/local or ~/.local puts the scripts where the
    shells look.

    `git mem <TAB>` needs git's own completion. fish 3.6.0 finds the script in
    ~/.config/fish/conf.d/ only. Ids come from the index: a record that was just added may be
    missing until a command that reads, such as `git mem list`, has run.

    \b
    Examples:
      git mem completion bash >> ~/.bashrc
      git mem completion fish > ~/.config/fish/completions/git-mem.fish
    """
    from gitmem.base.resources import read_text

    name = {"bash": "git-mem.bash", "zsh": "_git-mem", "fish": "git-mem.fish"}[shell]
    click.echo(read_text("completion", name), nl=False)
