"""Entry point: a hook takes the hot path, everything else the commands; neither pays for the other."""

import sys


def main() -> int:
    """Run `git-mem`; return the exit code."""
    args = sys.argv[1:]
    if args[:1] == ["hook"]:
        from gitmem.hot import main as hot

        return hot(args[1:])
    if args[:1] == ["__complete"]:
        from gitmem.complete import main as complete

        return complete(args[1:])
    from gitmem.cli.main import run

    return run(args)


if __name__ == "__main__":
    sys.exit(main())
