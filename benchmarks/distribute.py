"""Throughput of one worker and of several on one machine, with one thread each.

The programs are in `fixtures/distributed`. A worker of `np2tf run --workers` has its part of the processor's
cores, so that a single worker with all cores would be no measure.

    python benchmarks/distribute.py [--workers N] [--repeat N]
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: Programs of `fixtures/distributed`, with arguments for about two seconds of work.
PROGRAMS = {"monte_carlo": ("240", "4"), "training": ("32768", "40")}
_THREADS = ("TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def throughput(program: str, workers: int, repeat: int) -> tuple[float, str]:
    """Return the best number of examples or paths a second, and its unit."""
    environment = os.environ | dict.fromkeys(_THREADS, "1") | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(ROOT / "cli.py"), "run", "--workers", str(workers)]
    path = str(ROOT / "fixtures" / "distributed" / f"{program}.py")
    rates = []
    for _ in range(repeat):
        process = subprocess.run(
            [*command, path, *PROGRAMS[program]], env=environment, capture_output=True, text=True, check=True
        )
        match = re.search(r"(\d+) (\w+/s)", process.stderr)
        assert match is not None
        rates.append((float(match[1]), match[2]))
    return max(rates)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    print(f"{'program':14} {'one worker':>22} {f'{options.workers} workers':>22} {'ratio':>6}")
    for program in PROGRAMS:
        alone, unit = throughput(program, 1, options.repeat)
        together, _ = throughput(program, options.workers, options.repeat)
        rates = [f"{rate:,.0f} {unit}" for rate in (alone, together)]
        print(f"{program:14} {rates[0]:>22} {rates[1]:>22} {together / alone:6.2f}")


if __name__ == "__main__":
    main()
