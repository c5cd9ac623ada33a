"""Entry point: a hook takes the hot path, everything else the commands; neither pays for the other."""

import os
import sys


def main() -> int:
    """Run `git-mem`; return the exit code."""
    args = sys.argv[1:]
    if args[:1] == ["-C"] and args[2:3] == ["hook"] and os.path.isdir(args[1]):
        os.chdir(args[1])
        args = args[2:]
    if args[:1] == ["hook"] and not {"-h", "--help"} & set(args):
        from gitmem.hot import main as hot

        return hot(args[1:])
    if args[:1] == ["__complete"]:
        from gitmem.complete import main as complete

        return complete(args[1:])
    from gitmem.cli.main import run

    return run(args)


if __name__ == "__main__":
    sys.exit(main())
