"""Runs a program of small functions for a long time under `np2tf run`, and judges its memory.

    python tools/soak.py 3600 --curve soak.csv

The program (`fixtures/soak`) compares every result with NumPy's itself. The judge says whether the memory is
flat after the first part of the run, and whether rounds take no longer at the end than before.
"""

from __future__ import annotations

import argparse
import csv
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from np2tf.staging.tiers.constants import MOST_CACHES

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "fixtures" / "soak" / "main.py"
#: The part of a run in which functions are compiled and caches fill, at least, and at most in seconds.
WARM_UP, WARM_UP_SECONDS = 0.5, 60.0
#: Memory may grow by this share and these kilobytes after the warm-up, and rounds may take this many times as
#: long.
GROWTH, GROWTH_KILOBYTES, SLOWER = 0.03, 40_000, 1.6
#: Tables that fill slowly up to a limit, for the function with the most kinds of calls; above it, they grow.
LIMITS = {"SpecializationCache": MOST_CACHES}


class Sample(NamedTuple):
    """One line of the curve."""

    seconds: float
    rounds: int
    kilobytes: int
    milliseconds: float
    sizes: dict[str, int]


def run(seconds: float, curve: Path, *, near: bool, period: float = 2.0, plain: bool = False) -> str:
    """Run the program for some seconds, and return what it writes to standard error.

    Args:
        seconds: the seconds without starting.
        curve: the file for the curve.
        near: whether np2tf's counters start near their limits.
        period: the seconds between two lines of the curve.
        plain: whether Python runs it instead of np2tf.

    Raises:
        RuntimeError: the program has failed, or a result is not NumPy's.
    """
    words = [str(PROGRAM), str(seconds), str(curve), *(["near"] if near else [])]
    command = [sys.executable, *([] if plain else [str(ROOT / "cli.py"), "run"]), *words]
    environment = {**os.environ, "SOAK_PERIOD": str(period)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        raise RuntimeError(f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    return done.stderr


def samples(curve: Path) -> list[Sample]:
    """Return the lines of a curve."""
    with curve.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return [
        Sample(
            float(row["seconds"]),
            int(row["rounds"]),
            int(row["kilobytes"]),
            float(row["milliseconds"]),
            {name: int(size) for name, _, size in (word.partition("=") for word in row["sizes"].split())},
        )
        for row in rows
    ]


def problems(curve: list[Sample]) -> list[str]:
    """Return what is wrong with a run, in words."""
    warm_up = min(WARM_UP * curve[-1].seconds, WARM_UP_SECONDS)
    warm = [sample for sample in curve if sample.seconds >= warm_up]
    if len(warm) < 4:
        return ["the run was too short to be judged"]
    found = []
    # Compiling a function that has become worthwhile takes memory once; growth goes on.
    half = warm[: len(warm) // 2], warm[len(warm) // 2 :]
    before, after = (max(sample.kilobytes for sample in part) for part in half)
    if after > before * (1 + GROWTH) + GROWTH_KILOBYTES:
        found.append(f"memory grows: {before} kB, then {after} kB")
    slow = [statistics.median(sample.milliseconds for sample in part) for part in half]
    if slow[1] > SLOWER * slow[0]:
        found.append(f"rounds become slower: {slow[0]:.2f} ms, then {slow[1]:.2f} ms")
    for name in warm[0].sizes:
        sizes = [max(sample.sizes[name] for sample in part) for part in half]
        # Traces and caches come and go; a table that has held fewer by a third, and by hundreds, fills.
        if sizes[1] > max(1.3 * sizes[0] + 300, LIMITS.get(name, 0) + 300):
            found.append(f"{name}: {sizes[0]}, then {sizes[1]}")
    return found


def main() -> None:
    """Run the soak as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("seconds", type=float)
    parser.add_argument("--curve", type=Path, default=Path("soak.csv"))
    parser.add_argument("--period", type=float, default=10.0)
    parser.add_argument("--plain", action="store_true", help="run the program by Python, for comparison")
    arguments = parser.parse_args()
    run(arguments.seconds, arguments.curve, near=True, period=arguments.period, plain=arguments.plain)
    curve = samples(arguments.curve)
    for sample in curve[:: max(1, len(curve) // 30)]:
        print(
            f"{sample.seconds:8.0f} s {sample.rounds:8d} rounds {sample.kilobytes / 1024:8.1f} MB"
            f" {sample.milliseconds:8.2f} ms"
        )
    found = problems(curve)
    print("\n".join(found) or "flat")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
