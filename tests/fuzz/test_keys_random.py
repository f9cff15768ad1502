"""Random keys against NumPy's: what is read and what is written, eagerly, in graphs and under XLA."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import np2tf
from np2tf import tnp
from np2tf.arrays.array.ndarray import tensor_array
from np2tf.arrays.front.numpy_state import NUMPY
from np2tf.arrays.operands.conversion import to_numpy
from np2tf.arrays.tensors.storage import staging_scope
from np2tf.core.errors import StagingError
from np2tf.staging.trace.trace import Trace

SHAPES = ((4,), (3, 2), (2, 3, 4), (2, 1, 3, 2), (3, 0, 2))
#: Keys that a mistake was found with, and their like.
TABLE: tuple[tuple[tuple[int, ...], Any], ...] = (
    ((2, 3, 4), (slice(None), [0, 1], ..., [0, 1])),
    ((2, 3, 4), (slice(None), [0, 1], ..., 1)),
    ((2, 3, 4), (0, ..., [0, 1], [0, 1])),
    ((2, 3, 4), (0, slice(None), ..., [0, 1])),
    ((2, 3, 4), ([1, 0], None, [0, 1])),
    ((2, 3, 4), (slice(None), [1, 0], None, [0, 1], None)),
    ((2, 3, 4), (..., [1, 0], [0, 1])),
    ((2, 3, 4), (slice(None), [1, 0], [0, 1], ...)),
    ((2, 3, 4), (slice(None), True, ..., 0)),
    ((2, 3, 4), (..., True)),
    ((2, 3, 4), (True, ..., True)),
    ((2, 3, 4), (slice(None), [0], ..., False)),
    ((2, 3, 4), (..., np.eye(3, 4) > 0)),
    ((2, 3, 4), (np.eye(2, 3) > 0, ...)),
    ((2, 3, 4), (np.eye(2, 3) > 0, ..., [0, 1])),
    ((2, 3, 4), (np.eye(2, 3) > 0, [0, 1], ...)),
    ((2, 3, 4), (..., np.eye(2, 3) > 0, [0, 1])),
    ((2, 3, 4), (slice(None), [True, False, True], ..., [0, 1])),
    ((2, 3, 4), (slice(None), *np.ix_([0, 2], [1, 3, 0]))),
    ((2, 3, 4), (np.ix_([0, 1], [1, 3])[0], ..., np.ix_([0, 1], [1, 3])[1])),
)


def _index_array(rng: np.random.Generator, length: int) -> Any:
    shape = ((), (1,), (2,), (2,), (2,), (2, 1), (2, 2), (0,))[rng.integers(8)]
    low, high = (-length, length) if rng.random() < 0.95 else (0, length + 1)
    index = rng.integers(low, max(high, low + 1), shape)
    return index.tolist() if shape and rng.random() < 0.5 else index


def _part(rng: np.random.Generator, left: tuple[int, ...]) -> tuple[Any, int]:
    """A part of a key, and of how many of the axes that are left it is the index."""
    kind = rng.choice(
        ["int", "slice", "array", "mask", "none", "truth"], p=[0.2, 0.22, 0.3, 0.12, 0.12, 0.04]
    )
    if kind == "none" or (kind == "truth" and rng.random() < 0.5):
        return None, 0
    if kind == "truth":
        return bool(rng.random() < 0.7), 0
    if kind == "int":
        place = int(rng.integers(-left[0], max(left[0], 1 - left[0])))
        return (place if rng.random() < 0.7 else np.int64(place)), 1
    if kind == "slice":
        ends = [None, *range(-4, 5)]
        start, stop = (ends[rng.integers(len(ends))] for _ in range(2))
        return slice(start, stop, (None, None, 1, 2, -1, -2)[rng.integers(6)]), 1
    if kind == "mask":
        rank = int(rng.integers(1, min(len(left), 2) + 1))
        mask = rng.random(left[:rank]) < 0.6
        return mask.tolist() if rng.random() < 0.3 and mask.size else mask, rank
    return _index_array(rng, left[0]), 1


def random_key(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    """A key for an array of this shape; some are wrong."""
    parts: list[Any] = []
    used = 0
    while used < len(shape) and rng.random() < 0.85:
        part, axes = _part(rng, shape[used:])
        parts.append(part)
        used += axes
    if rng.random() < 0.45:
        # Anywhere: where it has a length, what stands behind it is made for other axes, and may not fit.
        parts.insert(int(rng.integers(len(parts) + 1)), Ellipsis)
    return parts[0] if len(parts) == 1 and rng.random() < 0.5 else tuple(parts)


def _all_keys(seed: int, count: int) -> list[tuple[tuple[int, ...], Any]]:
    rng = np.random.default_rng(seed)
    shapes = [SHAPES[k] for k in rng.integers(len(SHAPES), size=count)]
    return [*TABLE, *((shape, random_key(rng, shape)) for shape in shapes)]


def _source(shape: tuple[int, ...]) -> np.ndarray:
    return np.arange(float(np.prod(shape))).reshape(shape) + 1


def _value(picked: Any, k: int) -> np.ndarray:
    """Return values to write: a number for each element, for each element of a row, or for all elements."""
    shape = np.shape(picked)
    shapes = (shape, shape[1:], (1, *shape), ())
    chosen = shapes[k % 4]
    return -np.arange(1.0, np.prod(chosen) + 1).reshape(chosen)


def _read(array: Any, key: Any) -> Any:
    return array[key]


def _write(array: Any, key: Any, value: Any) -> Any:
    array[key] = value
    return array


def _write_at(array: Any, key: Any, value: Any) -> Any:
    return tnp.at(array)[key].set(value) if not isinstance(array, np.ndarray) else _write(array, key, value)


def _update(array: Any, key: Any, value: Any) -> Any:
    array[key] -= value
    return array


def _update_each(array: Any, key: Any, value: Any) -> Any:
    if type(array) is np.ndarray:
        # A row of values, many rows of indices, an array of one axis: NumPy 2.4 adds for the first row only.
        wide = np.shape(array[key])
        np.add.at(array, key, np.broadcast_to(value, wide).copy() if value.ndim <= len(wide) else value)
        return array
    return tnp.add_at(array, key, value)


ACTIONS: dict[str, Callable[..., Any]] = {
    "read": _read,
    "write": _write,
    "write_at": _write_at,
    "update": _update,
    "update_each": _update_each,
}


def _outcome(action: str, array: Any, key: Any, value: Any) -> Any:
    """The array that an action gives, or the class of its error."""
    given = (array, key) if action == "read" else (array, key, value)
    try:
        return ACTIONS[action](*given)
    except StagingError as error:
        return error
    except Exception as error:
        return type(error)


def _wanted(action: str, shape: tuple[int, ...], key: Any, k: int) -> tuple[Any, Any]:
    """The value to write and NumPy's outcome."""
    array = _source(shape)
    try:
        value = _value(array[key], k)
    except IndexError:
        value = np.array(-1.0)
    return value, _outcome(action, array, key, value)


def _differs(found: Any, wanted: Any) -> str | None:
    if isinstance(found, type) or isinstance(wanted, type):
        return None if found is wanted else f"{found} and not {wanted}"
    found, wanted = np.asarray(to_numpy(found)), np.asarray(wanted)
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        return f"{found.dtype}{found.shape} and not {wanted.dtype}{wanted.shape}"
    return None if np.array_equal(found, wanted) else f"{found.tolist()} and not {wanted.tolist()}"


@pytest.mark.parametrize("tensors", [False, True], ids=["host keys", "tensor keys"])
@pytest.mark.parametrize("action", ACTIONS)
def test_keys_eagerly(action: str, tensors: bool) -> None:
    wrong = {}
    with np2tf.config.using(eager="tensorflow"):
        for k, (shape, key) in enumerate(_all_keys(seed=1, count=150)):
            value, wanted = _wanted(action, shape, key, k)
            given = _on_tensors(key) if tensors else key
            found = _outcome(action, tnp.asarray(_source(shape)), given, tnp.asarray(value))
            difference = _differs(found, wanted)
            if difference:
                wrong[f"{action} {shape} {key!r}"] = difference
    assert not wrong


def _on_tensors(key: Any) -> Any:
    """A key with the arrays of a key on tensors."""
    if type(key) is tuple:
        return tuple(map(_on_tensors, key))
    return tensor_array(tf.constant(key)) if isinstance(key, np.ndarray) else key


@pytest.mark.parametrize("xla", [False, True], ids=["graph", "xla"])
def test_keys_staged(xla: bool) -> None:
    """In one staged function, because compiling takes longer than all that is compiled."""
    cases, actions = {}, list(ACTIONS)
    for k, (shape, key) in enumerate(_all_keys(seed=2, count=60 if xla else 160)):
        action = actions[k % len(actions)]
        value, wanted = _wanted(action, shape, key, k)
        if not isinstance(wanted, type):
            cases[k] = (action, shape, key, value, wanted)
    refused: dict[int, StagingError] = {}
    strict: list[int] = []

    @tf.function(jit_compile=xla, autograph=False)
    def together(sources: dict[int, tf.Tensor], values: dict[int, tf.Tensor]) -> dict[int, tf.Tensor]:
        found = {}
        with staging_scope(Trace(xla)):
            for k, (action, _, key, _, _) in cases.items():
                array, value = tensor_array(sources[k]), tensor_array(values[k])
                outcome = _outcome(action, array, _on_tensors(key), value)
                if isinstance(outcome, StagingError):
                    refused[k] = outcome
                elif outcome is IndexError:
                    strict.append(k)
                else:
                    found[k] = outcome.tensor
        return found

    outcomes = together(
        {k: tf.constant(_source(case[1])) for k, case in cases.items()},
        {k: tf.constant(case[3]) for k, case in cases.items()},
    )
    wrong = {}
    for k, found in outcomes.items():
        action, shape, key, _, wanted = cases[k]
        difference = _differs(found, wanted)
        if difference:
            wrong[f"{action} {shape} {key!r}"] = difference
    assert not wrong
    # Before 2.4 NumPy accepts every index where nothing is picked; a graph refuses it with every NumPy.
    assert bool(strict) == (NUMPY < (2, 4))
    assert not any(np.size(_source(cases[k][1])[cases[k][2]]) for k in strict)
    assert {error.code for error in refused.values()} <= {"NP2TF505", "NP2TF503"}
    assert len(refused) * 4 < len(cases)


def test_a_key_with_an_ellipsis_of_no_length_in_a_gradient() -> None:
    """The gradient goes to the places that were read."""
    x = tf.constant(_source((2, 3, 4)))
    with tf.GradientTape() as tape:
        tape.watch(x)
        picked = tnp.asarray(x)[:, [0, 1], ..., [0, 1]]
        total = (picked * np.array([[1.0, 2.0], [3.0, 4.0]])).sum()
    wanted = np.zeros((2, 3, 4))
    wanted[:, [0, 1], ..., [0, 1]] = [[1.0, 2.0], [3.0, 4.0]]
    assert np.array_equal(tape.gradient(total.tensor, x), wanted)
