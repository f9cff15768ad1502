"""Keys with a place that is known only at run time on one axis, and a static item on the other axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import tensorflow as tf

import np2tf
from np2tf import tnp
from np2tf.staging.compile import concrete_function
from tests.helpers.selections import every_second

AT_RUN_TIME = ("k", "lo:hi", "-hi:-lo", "lo:99", "hi:lo")
STATIC = ("::-2", "0:0:-1", "1:-1", "None, ::-1")
PLACES = {"k": 2, "lo": 1, "hi": 4}
ARRAY = np.arange(36).reshape(6, 6)


def program(at_run_time: str) -> Callable[..., Any]:
    """Reads, writes of arrays and of numbers, and augmented writes: under every key, with the axes in either
    order in turn.
    """
    turn = AT_RUN_TIME.index(at_run_time)
    orders = (f"{at_run_time}, {{}}", f"{{}}, {at_run_time}")
    keys = [orders[(turn + number) % 2].format(item) for number, item in enumerate(STATIC)]
    lines = [f"def f(x, {', '.join(PLACES)}):", "    found = []"]
    for key in keys:
        lines += [f"    found.append(x[{key}] * 1)"]
        for statement in ("y[{key}] = x[{key}] + 100", "y[{key}] = 7", "y[{key}] *= 3"):
            lines += ["    y = x.copy()", f"    {statement.format(key=key)}", "    found.append(y)"]
    space: dict[str, Any] = {}
    exec("\n".join([*lines, "    return found"]), space)
    return space["f"]  # type: ignore[no-any-return]


@pytest.mark.parametrize("at_run_time", every_second(AT_RUN_TIME))
def test_reads_and_writes(at_run_time: str) -> None:
    """As NumPy: as one XLA program, as a graph, and as a graph that does not know the lengths."""
    f = program(at_run_time)
    wanted = f(ARRAY, **PLACES)
    places = {name: np.array(value) for name, value in PLACES.items()}
    for xla in (True, False):
        with (
            np2tf.config.using(jit="strict"),
            patch.object(concrete_function, "xla_pays", lambda ops, xla=xla: xla),
        ):
            same(np2tf.jit(f, tier="compile")(ARRAY, **places), wanted)

    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.int64), *[tf.TensorSpec([], tf.int64)] * 3])
    def unknown(x: tf.Tensor, *places: tf.Tensor) -> list[tf.Tensor]:
        return [tf.convert_to_tensor(tensor) for tensor in f(tnp.asarray(x), *map(tnp.asarray, places))]

    same(unknown(ARRAY, *places.values()), wanted)


def same(found: list[Any], wanted: list[Any]) -> None:
    """See that they are equal."""
    for found_array, wanted_array in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(np.asarray(found_array), wanted_array, strict=True)


@pytest.mark.parametrize(
    ("key", "shape", "fits"),
    [
        ("k[0]:k[1]", (3, 3), False),
        ("k[0]:k[1]", (2, 3), True),
        ("k[0]:k[1]", (1, 3), True),
        ("k[0]:k[1], ::-1", (3, 3), False),
        ("k[0]:k[1], 0:0", (3, 0), False),
        ("k[0]:k[1], 0:0", (2, 0), True),
        ("k[0]:k[1], 0:2", (2, 3), False),
        ("::-1, k[0]:k[1]", (4, 3), False),
        ("::-1, k[0]:k[1]", (4, 2), True),
    ],
)
def test_what_does_not_fit(key: str, shape: tuple[int, ...], fits: bool) -> None:
    """A value that is longer or shorter than its place raises NumPy's error, where XLA would cut it."""
    space: dict[str, Any] = {}
    exec(f"def f(x, v, k):\n    x[{key}] = v\n    return x * 1", space)
    f = np2tf.jit(space["f"], tier="compile")
    for value in (np.ones(shape), np.full(shape, 2.0)):
        arguments = (np.arange(12.0).reshape(4, 3), value, np.array([1, 3]))
        if fits:
            wanted = space["f"](*arguments)
            np.testing.assert_array_equal(np.asarray(f(*arguments)), wanted, strict=True)
        else:
            with pytest.raises(ValueError, match="could not broadcast"):
                space["f"](*arguments)
            with pytest.raises(ValueError, match="could not broadcast"):
                f(*arguments)
