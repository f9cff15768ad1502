"""Ragged tensors in translated functions, against NumPy's object arrays; and the conversion of both."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import np2tf
from np2tf import tnp
from np2tf.arrays.ragged import RaggedArray, from_numpy, to_numpy
from np2tf.core.errors import RaggedError, RaggedRowsError
from tests.helpers import row_programs as plain

translated: Any = np2tf.import_module(Path(plain.__file__))


def object_array(*rows: Any) -> np.ndarray:
    """An object array of rows."""
    result = np.empty(len(rows), object)
    for k, row in enumerate(rows):
        result[k] = row
    return result


def rows() -> np.ndarray:
    """Rows of floats."""
    return object_array(np.array([1.0, 2.0, 0.5]), np.array([3.0]), np.array([0.1, 0.2, 0.3, 0.4, -1.0]))


def assert_equal(found: Any, wanted: Any) -> None:
    """Values, dtypes, lengths and structures are equal."""
    if isinstance(wanted, (tuple, list)):
        assert len(found) == len(wanted)
        for found_item, wanted_item in zip(found, wanted):
            assert_equal(found_item, wanted_item)
        return
    if isinstance(found, (tf.RaggedTensor, tf.Tensor)):
        found = to_numpy(found)
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    if wanted.dtype == object:
        for found_row, wanted_row in zip(found, wanted, strict=True):
            assert_equal(found_row, wanted_row)
    else:
        np.testing.assert_allclose(found, wanted, rtol=1e-12)


DTYPES = ("float64", "float32", "int64", "int8", "uint16", "complex128", "bool")


@pytest.mark.parametrize("dtype", DTYPES)
def test_conversion(dtype: str) -> None:
    """Dtypes, empty rows, further axes and several levels survive."""
    flat = object_array(*[np.arange(n).astype(dtype) for n in (3, 0, 2)])
    deep = object_array(flat, object_array(), object_array(np.ones(1, dtype)))
    wide = object_array(*[np.ones((n, 2, 3), dtype) for n in (1, 0, 2)])
    equal = object_array(*[np.ones(2, dtype), np.ones(2, dtype)])
    for x, rank in ((flat, 1), (deep, 2), (wide, 1), (equal, 1), (object_array(deep, deep), 3)):
        tensor = from_numpy(x)
        assert (tensor.ragged_rank, tensor.dtype.name) == (rank, dtype)
        assert_equal(to_numpy(tensor), x)


def test_lists_are_rows() -> None:
    assert from_numpy([[1.0, 2.0], [], [3.0]]).to_list() == [[1.0, 2.0], [], [3.0]]
    assert from_numpy([[[1], [2, 3]], [[4]]]).to_list() == [[[1], [2, 3]], [[4]]]
    assert from_numpy([np.ones(2), np.ones(1)], dtype=np.float32).dtype == tf.float32
    assert from_numpy(np.array([[1, 2], [3, 4]], dtype=object)).to_list() == [[1, 2], [3, 4]]
    assert from_numpy([], dtype=int).shape.as_list() == [0, None]


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ([np.ones(2), np.ones(2, int)], "float64.*int64"),
        ([1.0, 2.0], "is a float, not an array"),
        (object_array(np.ones(2), object_array(np.ones(1))), "different depths"),
        ([np.ones((1, 2)), np.ones((1, 3))], r"different shapes.*\(2,\), \(3,\)"),
        ([["a", "b"], ["c"]], "codes of characters"),
        ([], "give the dtype"),
        (np.ones(3), "takes an object array"),
        (3, "got a int"),
    ],
)
def test_rows_that_do_not_fit(x: Any, message: str) -> None:
    with pytest.raises(RaggedRowsError, match=f"{message}.*NP2TF714"):
        from_numpy(x)


#: The ways to run a translated function of a ragged tensor.
WAYS: dict[str, Callable[[Any, Any], Any]] = {
    "eager": lambda f, x: f(from_numpy(x)),
    "jit": lambda f, x: np2tf.jit(f, tier="compile")(from_numpy(x)),
    "tf.function": lambda f, x: tf.function(f, autograph=False)(from_numpy(x)),
    "dataset": lambda f, x: next(
        iter(tf.data.Dataset.from_tensor_slices(from_numpy(x)).ragged_batch(len(x)).map(f, 2))
    ),
}


@pytest.mark.parametrize("function", plain.OF_ARRAYS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("way", WAYS)
def test_functions_of_object_arrays(way: str, function: Callable[..., Any]) -> None:
    assert_equal(WAYS[way](getattr(translated, function.__name__), rows()), function(rows()))


def test_several_lengths_and_one_trace() -> None:
    compiled = np2tf.jit(translated.weighted, tier="compile")
    for x in (rows(), rows()[:2], rows()[1:]):
        assert_equal(compiled(from_numpy(x)), plain.weighted(x))
    assert compiled.trace_count == 1
    targets = np.array([1.0, -2.0, 0.5])
    found = np2tf.jit(translated.products_of_pairs, tier="compile")(from_numpy(rows()), targets)
    np.testing.assert_allclose(found, plain.products_of_pairs(rows(), targets))


def test_writes_to_rows() -> None:
    """Rows are views of the array, in Python's loops and by an index."""
    x = RaggedArray.of_tensor(from_numpy(rows()))
    wanted = rows()
    for array in (x, wanted):
        for row in array:
            row[-1] = 7.0
        array[1:][0][:] = 5.0
        array[np.array([True, False, True])][1][0] += 2.0
    assert_equal(x.tensor, wanted)


def test_numpy_functions_of_ragged_arrays() -> None:
    x = RaggedArray.of_tensor(from_numpy(rows()))
    assert_equal(tnp.concatenate(x), np.concatenate(rows()))
    assert_equal(tnp.hstack(x).tensor, np.hstack(rows()))
    assert_equal(np.asarray(x), rows())
    assert_equal(tnp.sin(x).tensor, object_array(*map(np.sin, rows())))
    assert_equal(np.add(x, 1).tensor, rows() + 1)
    with pytest.raises(ValueError, match="broadcast"):
        tnp.sum(x)  # as NumPy
    with pytest.raises(ValueError, match="different lengths"):
        x + x[[1, 0, 2]]
    assert_equal(tf.reduce_sum(x, axis=1), np.array([row.sum() for row in rows()]))


def test_refusals_name_the_remedy() -> None:
    x = RaggedArray.of_tensor(from_numpy(rows()))
    for wrong in (lambda: x == x, lambda: x * np.ones(3), lambda: x[None], lambda: x > 1):
        with pytest.raises(RaggedError, match="NP2TF565"):
            wrong()
    with pytest.raises(RaggedError, match="NP2TF565"):
        x[0] = np.ones(2)
    with pytest.raises(IndexError):
        x[3]
    with pytest.raises(ValueError, match="ambiguous"):
        bool(x)


def test_derivatives_are_not_lost() -> None:
    """A function that NumPy would run on the host is refused where a gradient is taken."""
    x = from_numpy(rows())
    with pytest.raises(RaggedError, match="NP2TF565"):
        np2tf.grad(lambda w, x: np.mean(np.sort(x * w)[0]))(2.0, x)
    found = np2tf.grad(lambda w, x: np.sum(np.concatenate(x * w)))(2.0, x)
    np.testing.assert_allclose(found, sum(row.sum() for row in rows()))


def test_loops_of_pipelines_read_globals() -> None:
    """The arrays that a loop reads by name are constants of the graph, and writes to them are refused."""
    data = tf.data.Dataset.from_tensor_slices(np.arange(12.0).reshape(4, 3)).batch(3)
    found = list(data.map(translated.weighted))
    wanted = [plain.weighted(part) for part in (np.arange(9.0).reshape(3, 3), np.arange(9.0, 12.0)[None])]
    np.testing.assert_allclose(found, wanted)
