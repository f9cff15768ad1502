"""Measures one call of a kernel in a new process: `python kernel_once.py SYSTEM NAME SIZE`, and starts the
process.

Importing (the system, and the kernel's module) and the call are timed apart. A script that is run once pays
for both. So this is the cost of np2tf's first call: in the first process with an empty cache, and in a second
process that finds the entries that the first process has left in the cache.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

HERE = Path(__file__).resolve().parent
#: Each figure is the best of so many processes.
PROCESSES = 3

Once = dict[str, dict[str, float]]


def once(system: str, name: str, size: str) -> dict[str, Any]:
    """Return the seconds of importing, and of the single call, in this process."""
    from kernel_systems import SYSTEMS, arguments

    args = arguments(name, size)
    start = perf_counter()
    kernel = SYSTEMS[system](name)
    imported = perf_counter()
    kernel(*args)
    return {"import": imported - start, "call": perf_counter() - imported}


def environment_with(cache: str) -> dict[str, str]:
    """Return the environment of a new process that runs kernels, with np2tf's cache in this folder."""
    path = os.pathsep.join(filter(None, [str(HERE.parent), os.environ.get("PYTHONPATH", "")]))
    environment = {**os.environ, "PYTHONPATH": path, "TF_CPP_MIN_LOG_LEVEL": "3", "NP2TF_CACHE_DIR": cache}
    # An installed package has bytecode; without it, every process would compile np2tf's modules.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return environment


def started(system: str, name: str, size: str, cache: str, limit: float) -> dict[str, Any]:
    """Return the seconds of importing, and of the single call, in a new process.

    Raises:
        RuntimeError: the process fails, or exceeds the time limit.
    """
    command = [sys.executable, str(HERE / "kernel_once.py"), system, name, size]
    try:
        done = subprocess.run(
            command, env=environment_with(cache), capture_output=True, text=True, timeout=limit
        )
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"{name}: {system} took more than {limit:g} s") from None
    if done.returncode:
        raise RuntimeError(f"{name}: {system}: {done.stderr.strip().splitlines()[-1:]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def measure_once(name: str, size: str, limit: float) -> Once:
    """Measure single calls: NumPy's, np2tf's with an empty cache, and np2tf's with the cache that the call
    has filled.

    The processes take turns, so that other work on the machine slows all of them down.
    """
    best: Once = {}
    for _ in range(PROCESSES):
        with tempfile.TemporaryDirectory() as cache:
            for label, system in (("numpy", "numpy"), ("cold", "np2tf"), ("warm", "np2tf")):
                found = started(system, name, size, cache, limit)
                held = best.setdefault(label, found)
                best[label] = {key: min(held[key], found[key]) for key in found}
    return best


def once_table(results: dict[str, Once]) -> list[str]:
    """Return a line for each kernel: the seconds of the calls, the ratios, and the seconds of importing."""
    lines = [
        f"{'kernel':24}{'NumPy ms':>10}{'cold ms':>10}{'warm ms':>10}{'cold':>8}{'warm':>8}"
        f"{'import, ms: NumPy':>19}{'cold':>8}{'warm':>8}"
    ]
    for name, one in results.items():
        calls = [one[label]["call"] for label in ("numpy", "cold", "warm")]
        imports = [one[label]["import"] * 1e3 for label in ("numpy", "cold", "warm")]
        lines.append(
            f"{name:24}{calls[0] * 1e3:10.1f}{calls[1] * 1e3:10.1f}{calls[2] * 1e3:10.1f}"
            f"{calls[0] / calls[1]:8.2f}{calls[0] / calls[2]:8.2f}"
            f"{imports[0]:19.1f}{imports[1]:8.1f}{imports[2]:8.1f}"
        )
    return lines


if __name__ == "__main__":
    print(json.dumps(once(*sys.argv[1:4])))
