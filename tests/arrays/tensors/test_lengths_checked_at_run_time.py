"""Lengths that a graph does not know: where NumPy raises, the run fails; else the values are NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import np2tf
from np2tf import tnp
from np2tf.arrays.array.ndarray import tensor_array

NOTHING = np.zeros(0)
THREE = np.arange(3.0)
#: name -> a program of NumPy's module and arrays of any lengths, and arrays for which NumPy raises.
WRONG: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "short mask": (lambda np, x, mask: x[mask], (THREE, np.array([True, False]))),
    "long mask": (lambda np, x, mask: x[mask], (THREE, np.array([True] * 5))),
    "squeeze": (lambda np, x: np.squeeze(x, axis=0), (THREE,)),
    "partition": (lambda np, x: np.partition(x, 5), (THREE,)),
    "partition from the end": (lambda np, x: np.partition(x, -4), (THREE,)),
    "fft": (lambda np, x: np.fft.fft(x), (NOTHING,)),
    "rfft": (lambda np, x: np.fft.rfft(x), (NOTHING,)),
    "min": (lambda np, x: np.min(x), (NOTHING,)),
    "argmax": (lambda np, x: np.argmax(x), (NOTHING,)),
    "choose": (lambda np, x: np.choose(np.astype(x, int), [x, x]), (THREE,)),
    "sorter": (lambda np, x, order: np.searchsorted(x, 1.5, sorter=order), (THREE, np.array([0, 1]))),
    "unravel_index": (lambda np, k: np.unravel_index(k, (2, 2))[0], (np.array([5]),)),
    "ravel_multi_index": (lambda np, k: np.ravel_multi_index((k, k), (2, 2)), (np.array([2]),)),
    "histogram of NaN": (lambda np, x: np.histogram(x, 4)[0], (np.array([1.0, np.nan]),)),
}
#: The same for arrays for which NumPy raises nothing.
RIGHT: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "mask": (lambda np, x, mask: x[mask], (THREE, np.array([True, False, True]))),
    "squeeze": (lambda np, x: np.squeeze(x, axis=0), (np.ones(1),)),
    "partition": (lambda np, x: np.partition(x, -3), (THREE,)),
    "fft": (lambda np, x: np.fft.fft(x), (THREE,)),
    "min of nothing": (lambda np, x: np.min(x, initial=5), (NOTHING,)),
    "min": (lambda np, x: np.min(x, initial=5), (THREE,)),
    "max of nothing": (lambda np, x: np.max(x, axis=0, initial=2.0), (np.zeros((0, 3)),)),
    "edges of nothing": (lambda np, x: np.histogram(x, 4)[1], (NOTHING,)),
    "edges of one number": (lambda np, x: np.histogram(x, 4)[1], (np.ones(2),)),
    "isin nothing": (lambda np, x, y: np.isin(x, y), (THREE, NOTHING)),
    "isin": (lambda np, x, y: np.isin(x, y), (THREE, np.array([0.0, 7.0]))),
}


def _in_a_graph(program: Any, arrays: tuple[Any, ...]) -> Any:
    """The result in a plain tf.function that knows no length."""
    specs = [tf.TensorSpec([None] * array.ndim, array.dtype) for array in arrays]

    @tf.function(autograph=False, input_signature=specs)
    def run(*tensors: Any) -> Any:
        return tf.convert_to_tensor(program(tnp, *map(tensor_array, tensors)))

    return run(*arrays).numpy()


@pytest.mark.parametrize("name", WRONG)
def test_what_numpy_refuses_fails(name: str) -> None:
    program, arrays = WRONG[name]
    with pytest.raises((ValueError, IndexError)):
        program(np, *arrays)
    with pytest.raises(tf.errors.OpError):
        _in_a_graph(program, arrays)


@pytest.mark.parametrize("name", RIGHT)
def test_values(name: str) -> None:
    program, arrays = RIGHT[name]
    wanted, found = np.asarray(program(np, *arrays)), _in_a_graph(program, arrays)
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    np.testing.assert_allclose(found, wanted)


SELECTED = {
    "edges": lambda x, c: np.histogram_bin_edges(x[x > c], 4),
    "counts": lambda x, c: np.histogram(x[x > c], 4)[0],
    "partition": lambda x, c: np.partition(x[x > c], 2),
    "min": lambda x, c: np.min(x[x > c], initial=5),
    "least": lambda x, c: np.min(x[x > c]),
    "squeeze": lambda x, c: np.squeeze(x[x > c], axis=0),
    "fft": lambda x, c: np.abs(np.fft.fft(x[x > c])),
    "mask": lambda x, c: x[x > c][x[:2] > c],
}


def _outcome(function: Any, *args: Any) -> Any:
    try:
        return np.asarray(function(*args))
    except Exception as error:
        return type(error)


@pytest.mark.parametrize("name", SELECTED)
@pytest.mark.filterwarnings("ignore")
def test_selections_in_compiled_functions(name: str) -> None:
    """The host repeats a call for which NumPy raises; its error is NumPy's."""
    function = SELECTED[name]
    compiled = np2tf.jit(np2tf.translate(function), tier="compile")
    for c in (0.5, 9.0, 1.5, -1.0):
        x = np.arange(4.0)
        wanted, found = _outcome(function, x, c), _outcome(compiled, x, c)
        if isinstance(wanted, type):
            assert found is wanted, c
        else:
            np.testing.assert_allclose(found, wanted, err_msg=str(c))
