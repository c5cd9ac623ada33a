"""Run all benchmarks one after the other on the same stores: `python -m tests.benchmarks.run_all [--quick] [--keep DIR]`."""

import argparse
import shutil
import subprocess
import sys
import tempfile

NAMES = (
    "bench_write",
    "bench_bulk",
    "bench_search",
    "bench_recall",
    "bench_snapshot",
    "bench_history",
    "bench_rebase",
    "bench_code",
    "bench_locate",
    "bench_silence",
    "bench_matching",
    "bench_extraction",
    "bench_session_end",
    "bench_merge",
    "bench_cli",
    "bench_start",
    "bench_mcp",
    "bench_dashboard",
    "bench_interchange",
    "bench_hook",
    "bench_answers",
    "bench_briefing",
    "bench_lifecycle",
    "bench_agent",
    "bench_lsp",
    "bench_anchors",
    "bench_scale",
)


def main() -> int:
    """Run each in a process of its own; return 1 when a budget was missed or a script failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.run_all", description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="small stores, few rounds: do the scripts work?"
    )
    parser.add_argument(
        "--keep", metavar="DIR", help="keep the stores in this folder, and use those that are there"
    )
    args = parser.parse_args()
    folder = args.keep or tempfile.mkdtemp(prefix="gitmem-bench-")
    failed = []
    try:
        for name in NAMES:
            command = [
                sys.executable,
                "-m",
                f"tests.benchmarks.{name}",
                "--keep",
                folder,
                *(["--quick"] if args.quick else []),
            ]
            if subprocess.run(command, check=False).returncode:
                failed.append(name)
            print(flush=True)
    finally:
        if not args.keep:
            shutil.rmtree(folder, ignore_errors=True)
    print(
        f"over budget or failed: {', '.join(failed)}"
        if failed
        else "all benchmarks ran; no budget was missed"
        if not args.quick
        else "all benchmarks ran"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
