"""Measures which TensorFlow ops are slower under XLA than as TensorFlow's kernels on this device.

    python benchmarks/placement.py            # print the findings
    python benchmarks/placement.py --write    # and keep them, in np2tf/staging/xla/placement_<device>.toml

`np2tf.jit` reads that file: code with one of these ops stays a graph, and its loops are compiled by
themselves.
"""

from __future__ import annotations

from functools import partial
from time import perf_counter
from typing import Any

import click
import numpy as np
import tensorflow as tf
from placement_ops import OPS, SIZED, Op

from np2tf.arrays.front.residency import device_kind
from np2tf.staging.xla.placement import LIMIT, data_file

HEAD = """\
# Written by `python benchmarks/placement.py --write`: measure again rather than edit.

device = "{device}"
tensorflow = "{version}"

# What XLA has no kernel for on this device, or one with another result.
[lacking]
{lacking}
# Milliseconds as [kernel, XLA]; an op is slow where XLA takes over {limit:g} times as long.
[milliseconds]
{milliseconds}
# For ops that are slow: up to how many elements of the greatest input XLA takes at most
# {small_limit:g} times as long in a loop.
[small]
{small}"""

#: A small op is an op for which XLA takes at most so many times as long; the loop around it gains more.
SMALL_LIMIT = 2.0
#: The sizes to try, and how often the loop runs an op.
SIZES = (2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128, 256, 512)
ROUNDS = 300


def best_of(call: Any, seconds: float) -> float:
    """Return the shortest time of the warm calls that fit into so many seconds, at least three calls."""
    times: list[float] = []
    deadline = perf_counter() + seconds
    while len(times) < 3 or perf_counter() < deadline:
        start = perf_counter()
        tf.nest.map_structure(lambda output: output.numpy(), call())
        times.append(perf_counter() - start)
    return min(times)


def measure(name: str, op: Op, seconds: float) -> tuple[float, float] | str:
    """Return the milliseconds of the kernel and of XLA, or the reason why XLA cannot be used."""
    inputs = [tf.constant(value) for value in op.inputs.values()]
    run_op = getattr(tf.raw_ops, name)

    def run(*tensors: tf.Tensor) -> Any:
        return run_op(**dict(zip(op.inputs, tensors, strict=True)), **op.settings)

    kernel = tf.function(run, autograph=False)
    compiled = tf.function(run, autograph=False, jit_compile=True)
    expected = op.judged(kernel(*inputs))
    try:
        found = op.judged(compiled(*inputs))
    except (tf.errors.OpError, ValueError) as error:
        return "no kernel" if "No registered" in str(error) else "refused by the compiler"
    flat = zip(tf.nest.flatten(expected), tf.nest.flatten(found), strict=True)
    if not all(a.shape == b.shape and np.allclose(a, b, 1e-4, 1e-6) for a, b in flat):
        return "another result"
    return best_of(lambda: kernel(*inputs), seconds) * 1e3, best_of(lambda: compiled(*inputs), seconds) * 1e3


def in_a_loop(name: str, op: Op) -> Any:
    """Return a function that runs an op repeatedly. Each input depends on the output before."""

    def run(*tensors: tf.Tensor) -> tf.Tensor:
        def step(k: tf.Tensor, first: tf.Tensor, *rest: tf.Tensor) -> tuple[tf.Tensor, ...]:
            named = dict(zip(op.inputs, (first, *rest), strict=True))
            made = op.judged(getattr(tf.raw_ops, name)(**named, **op.settings))
            return (k + 1, first + 1e-300 * tf.cast(tf.reduce_sum(made), first.dtype), *rest)

        return tf.while_loop(lambda k, *_: k < ROUNDS, step, (tf.constant(0), *tensors))[1]

    return run


def small_size(name: str, seconds: float) -> int:
    """Return the number of elements up to which XLA in a loop is not much slower than the kernel.

    The elements are of the largest input. The result is 0 if XLA is much slower at the smallest size.
    """
    found = 0
    for op in map(SIZED[name], SIZES):
        inputs = [tf.constant(value) for value in op.inputs.values()]
        run = in_a_loop(name, op)
        kernel = tf.function(run, autograph=False)
        compiled = tf.function(run, autograph=False, jit_compile=True)
        kernels, xlas = (best_of(partial(one, *inputs), seconds) for one in (kernel, compiled))
        if xlas > SMALL_LIMIT * kernels:
            break
        found = max(tensor.shape.num_elements() for tensor in inputs)
    return found


@click.command()
@click.argument("names", nargs=-1)
@click.option("--seconds", default=0.3, show_default=True, help="How long each side of an op is repeated.")
@click.option("--write", is_flag=True, help="Keep what is measured (of all ops) as the data of this device.")
def main(names: tuple[str, ...], seconds: float, write: bool) -> None:
    """Measure the ops NAMES (all of them by default) as TensorFlow's kernels and under XLA."""
    if names and write:
        raise click.UsageError("the data are written for all ops or none")
    lacking: dict[str, str] = {}
    milliseconds: dict[str, tuple[float, float]] = {}
    for name in names or sorted(OPS):
        found = measure(name, OPS[name], seconds)
        if isinstance(found, str):
            lacking[name] = found
            click.echo(f"{name:22} {found}")
        else:
            milliseconds[name] = found
            mark = "slow" if found[1] > LIMIT * found[0] else ""
            click.echo(f"{name:22} {found[0]:10.3f} {found[1]:10.3f} {found[1] / found[0]:8.2f} {mark}")
    slow = [name for name, (kernel, xla) in milliseconds.items() if xla > LIMIT * kernel and name in SIZED]
    small = {name: small_size(name, seconds) for name in slow}
    for name, size in small.items():
        click.echo(f"{name:22} as fast up to {size} elements")
    if write:
        target = data_file(device_kind())
        target.write_text(as_toml(lacking, milliseconds, small))
        click.echo(f"written: {target.name}")


def as_toml(
    lacking: dict[str, str], milliseconds: dict[str, tuple[float, float]], small: dict[str, int]
) -> str:
    """Return the text of the data file."""
    return HEAD.format(
        device=device_kind(),
        version=tf.__version__,
        limit=LIMIT,
        small_limit=SMALL_LIMIT,
        lacking="".join(f'{name} = "{why}"\n' for name, why in lacking.items()),
        milliseconds="".join(f"{name} = [{a:.3f}, {b:.3f}]\n" for name, (a, b) in milliseconds.items()),
        small="".join(f"{name} = {size}\n" for name, size in small.items() if size),
    )


if __name__ == "__main__":
    main()
