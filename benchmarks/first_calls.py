"""Times the first call of each kernel, which traces and compiles, under np2tf and JAX.

Each kernel runs in a process of its own, in which the system has been imported and its devices are known.
The figure is the time of the first call less that of the best of three further calls: what tracing and
compiling take. np2tf runs under `tier = "compile"`, with an empty cache; "again" is a second process with the
cache that the first has left. A dash means that JAX cannot run the kernel as it is written.
"""

from __future__ import annotations

import copy
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import geometric_mean, median
from time import perf_counter

import click
from kernel_once import environment_with

HERE = Path(__file__).resolve().parent
WARM_CALLS = 3


def prepare(system: str) -> None:
    """Import a system and find its devices."""
    if system == "jax":
        import jax

        jax.block_until_ready(jax.numpy.zeros(1))
        return
    import np2tf
    from np2tf.staging.compile.compiler import Compiler  # noqa: F401
    from np2tf.staging.tiers.call_context import load

    load()
    np2tf.config.tier = "compile"


def measure(system: str, name: str) -> float:
    """Return the seconds of tracing and compiling in the first call of a kernel, in this process."""
    from kernel_systems import SYSTEMS, arguments

    system = "np2tf" if system == "again" else system
    values = arguments(name, "SIZE")
    kernel = SYSTEMS[system](name)
    prepare(system)
    times = []
    for _ in range(1 + WARM_CALLS):
        copies = copy.deepcopy(values)
        start = perf_counter()
        kernel(*copies)
        times.append(perf_counter() - start)
    return times[0] - min(times[1:])


def measure_apart(system: str, name: str, limit: float) -> float | None:
    """Return the same of a new process; None if the system cannot run the kernel, or not within the limit.

    For "again", the process is the second with its cache.
    """
    program = f"from first_calls import measure; print(measure({system!r}, {name!r}))"
    with tempfile.TemporaryDirectory() as cache:
        for _ in range(1 + (system == "again")):
            try:
                done = subprocess.run(
                    [sys.executable, "-c", program],
                    env=environment_with(cache),
                    cwd=HERE,
                    capture_output=True,
                    text=True,
                    timeout=limit,
                )
            except subprocess.TimeoutExpired:
                return None
    return None if done.returncode else float(done.stdout.splitlines()[-1])


@click.command(help=__doc__)
@click.argument("names", nargs=-1)
@click.option("--system", "systems", type=click.Choice(["np2tf", "again", "jax"]), multiple=True)
@click.option("--limit", default=60.0, help="Seconds that a process may take.", show_default=True)
@click.option("--json", "data", type=click.Path(path_type=Path), help="Write the seconds to this file.")
def main(names: tuple[str, ...], systems: tuple[str, ...], limit: float, data: Path | None) -> None:
    names = names or tuple(sorted(path.stem for path in (HERE / "kernels").glob("[a-z]*.py")))
    systems = systems or ("np2tf", "jax")
    seconds: dict[str, dict[str, float | None]] = {}
    for name in names:
        row = seconds[name] = {system: measure_apart(system, name, limit) for system in systems}
        cells = ["-" if value is None else f"{value:.3f}" for value in row.values()]
        click.echo(f"{name:24}" + "".join(f"{cell:>10}" for cell in cells))
    for system in systems:
        values = [value for row in seconds.values() if (value := row[system]) is not None]
        if values:
            click.echo(
                f"{system}: geometric mean {geometric_mean(values):.3f} s over {len(values)}, "
                f"median {median(values):.3f}, most {max(values):.3f}"
            )
    if data is not None:
        data.write_text(json.dumps(seconds, indent=1))


if __name__ == "__main__":
    main()
