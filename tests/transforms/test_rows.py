"""`vmap` over rows of different lengths, against the function in a Python loop over the rows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import np2tf
from np2tf.arrays.ragged import from_numpy, to_numpy
from np2tf.core.counts import counts
from np2tf.core.errors import RaggedRowsError, TransformError
from np2tf.transforms.lanes import vmap
from tests.helpers import row_programs as plain


def object_array(*rows: Any) -> np.ndarray:
    """An object array of rows."""
    result = np.empty(len(rows), object)
    for k, row in enumerate(rows):
        result[k] = row
    return result


def rows_of(*lengths: int) -> np.ndarray:
    """Rows of floats; equal in each call."""
    ends = np.cumsum(lengths)
    return object_array(*[np.sin(np.arange(end - n, end) + 0.3) * 2 for n, end in zip(lengths, ends)])


def assert_equal(found: Any, wanted: Any) -> None:
    """Values, dtypes, shapes and structures are equal; a ragged tensor is an object array."""
    if isinstance(found, (tf.RaggedTensor, tf.Tensor)):
        found = to_numpy(found)
    if isinstance(wanted, (tuple, list, dict)):
        assert len(found) == len(wanted)
        keys = wanted if isinstance(wanted, dict) else range(len(wanted))
        for key in keys:
            assert_equal(found[key], wanted[key])
        return
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert (found.dtype, len(found) if found.ndim else 0) == (wanted.dtype, len(wanted) if wanted.ndim else 0)
    if wanted.dtype == object:
        for found_row, wanted_row in zip(found, wanted, strict=True):
            assert_equal(nested(found_row) if wanted_row.ndim > 1 else found_row, wanted_row)
        return
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-14)
    assert found.shape == wanted.shape


def nested(row: np.ndarray) -> np.ndarray:
    """A row with several axes, which a ragged tensor has as rows of rows."""
    return np.stack(list(row)) if row.dtype == object else row


def stacked(function: Callable[..., Any], *arguments: Any) -> Any:
    """The function in a Python loop, with `np.stack` where shapes are equal."""
    results = [function(*map(np.copy, parts)) for parts in zip(*arguments, strict=True)]
    if isinstance(results[0], dict):
        return {key: np.array([result[key] for result in results]) for key in results[0]}
    same = len({np.shape(result) for result in results}) == 1
    return np.stack(results) if same else object_array(*results)


#: The ways to run a function of ragged arguments.
WAYS: dict[str, Callable[[Any, Any], Any]] = {
    "host": lambda f, rows: f(rows),
    "eager": lambda f, rows: f(from_numpy(rows)),
    "jit": lambda f, rows: np2tf.jit(f, tier="compile")(from_numpy(rows)),
    "tf.function": lambda f, rows: tf.function(f, autograph=False)(from_numpy(rows)),
    "dataset": lambda f, rows: next(
        iter(tf.data.Dataset.from_tensor_slices(from_numpy(rows)).ragged_batch(len(rows)).map(f))
    ),
}


@pytest.mark.parametrize("function", plain.OF_ROWS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("way", WAYS)
def test_as_in_a_loop(way: str, function: Callable[..., Any]) -> None:
    rows = rows_of(4, 1, 7, 2)
    before = rows_of(4, 1, 7, 2)
    found = WAYS[way](np2tf.vmap(function), rows)
    assert_equal(found, stacked(function, rows))
    assert_equal(rows, before)


@pytest.mark.parametrize("way", WAYS)
def test_rows_without_elements(way: str) -> None:
    rows = rows_of(3, 0, 2)
    for function in (plain.normalised, plain.recurrence, plain.longer):
        assert_equal(WAYS[way](np2tf.vmap(function), rows), stacked(function, rows))


def test_equal_lengths_give_dense_arrays() -> None:
    """As `np.stack` does it, wherever the lengths are known."""
    rows = rows_of(3, 3)
    wanted = stacked(plain.normalised, rows)
    assert wanted.shape == (2, 3)
    for way in ("host", "eager", "jit"):
        found = WAYS[way](np2tf.vmap(plain.normalised), rows)
        assert not isinstance(found, tf.RaggedTensor)
        assert_equal(found, wanted)
    found = WAYS["tf.function"](np2tf.vmap(plain.normalised), rows)
    assert isinstance(found, tf.RaggedTensor)
    np.testing.assert_allclose(found.to_tensor(), wanted)


def test_many_rows_are_compiled_once() -> None:
    """Derivatives of many rows are compiled, and no other lengths are traced again."""
    weights, before = np.array([0.4, 0.9]), (counts.traces, counts.graph)
    gradients = np2tf.vmap(np2tf.grad(plain.loss), (None, 0, 0))
    single = np2tf.grad(plain.loss)
    for lengths in ((3, 1, 4), (5, 2, 6), (9, 9, 9)):
        rows = rows_of(*(lengths * 20))
        targets = np.linspace(-1, 1, len(rows))
        for given in (rows, from_numpy(rows)):
            found = gradients(weights, given, targets)
            wanted = [single(weights, rows[k], targets[k]) for k in (0, 1, 2)]
            np.testing.assert_allclose(found[:3], wanted, rtol=1e-10)
            assert np.shape(found) == (len(rows), 2)
    # (The first trace ends when it meets the loss, whose names are then known.)
    assert (counts.traces - before[0], counts.graph - before[1]) == (2, 6)


def test_one_trace_for_all_lengths() -> None:
    for function in (plain.normalised, plain.recurrence):
        compiled = np2tf.jit(np2tf.vmap(function), tier="compile")
        for lengths in ((4, 2), (1, 1, 8), (5,), (2, 3, 4, 5)):
            rows = rows_of(*lengths)
            assert_equal(compiled(from_numpy(rows)), stacked(function, rows))
        assert (compiled.trace_count, compiled.graph_count) == (1, 4)


def sentences() -> np.ndarray:
    """Sentences of words of characters: two ragged axes."""
    return object_array(rows_of(3, 1), rows_of(4, 2, 2), rows_of(5))


@pytest.mark.parametrize("function", [plain.normalised, plain.recurrence, plain.smoothed])
@pytest.mark.parametrize("way", WAYS)
def test_rows_of_rows(way: str, function: Callable[..., Any]) -> None:
    found = WAYS[way](np2tf.vmap(np2tf.vmap(function)), sentences())
    if isinstance(found, (tf.RaggedTensor, tf.Tensor)):
        found = to_numpy(found)
    for found_sentence, sentence in zip(found, sentences(), strict=True):
        for found_word, word in zip(found_sentence, sentence, strict=True):
            np.testing.assert_allclose(found_word, function(word.copy()), rtol=1e-12)


@pytest.mark.parametrize("way", WAYS)
def test_sentences_as_arguments(way: str) -> None:
    """A function of a whole sentence, whose words are rows."""

    def longest(sentence: Any) -> Any:
        return np.max(np2tf.vmap(np.sum)(sentence)) + len(sentence)

    wanted = [max(word.sum() for word in sentence) + len(sentence) for sentence in sentences()]
    assert_equal(WAYS[way](np2tf.vmap(longest), sentences()), np.array(wanted))


@pytest.mark.parametrize("way", WAYS)
def test_gradients_of_rows(way: str) -> None:
    rows, weights, targets = rows_of(4, 1, 6), np.array([0.4, 0.9]), np.array([0.1, 0.2, 0.3])
    wanted = np.stack([np2tf.grad(plain.loss)(weights, row, y) for row, y in zip(rows, targets)])
    found = WAYS[way](
        lambda rows: np2tf.vmap(np2tf.grad(plain.loss), (None, 0, 0))(weights, rows, targets), rows
    )
    np.testing.assert_allclose(found, wanted, rtol=1e-10)

    def of_all(weights: Any, rows: Any) -> Any:
        return np.sum(np2tf.vmap(plain.loss, (None, 0, 0))(weights, rows, targets))

    found = WAYS[way](lambda rows: np2tf.grad(of_all)(weights, rows), rows)
    np.testing.assert_allclose(found, wanted.sum(axis=0), rtol=1e-10)


@pytest.mark.parametrize("way", ["host", "jit", "tf.function"])
def test_collectives(way: str) -> None:
    def share(row: Any) -> Any:
        return row / np2tf.psum(row.sum(), "rows") - np2tf.pmax(len(row), "rows") * np2tf.axis_index("rows")

    rows = rows_of(3, 1, 2)
    total = sum(row.sum() for row in rows)
    wanted = object_array(*[row / total - 3 * k for k, row in enumerate(rows)])
    assert_equal(WAYS[way](np2tf.vmap(share, axis_name="rows"), rows), wanted)


def test_unknown_numbers_of_dense_rows() -> None:
    """A batch whose length is known only at run time, as the last batch of a dataset."""
    x = np.sin(np.arange(15.0)).reshape(5, 3)
    data = tf.data.Dataset.from_tensor_slices(x).batch(2)
    found = list(data.map(np2tf.vmap(plain.recurrence), num_parallel_calls=2))
    np.testing.assert_allclose(np.concatenate(found), [plain.recurrence(row) for row in x])


def test_effects_are_not_lost(capsys: pytest.CaptureFixture[str]) -> None:
    """A function that prints or writes outside runs row by row, in order."""
    seen = np.zeros(3)

    def shown(row: Any) -> Any:
        print("row of", len(row))
        seen[0] += row[0]
        return row * 2

    rows = rows_of(2, 3)
    found = np2tf.jit(np2tf.vmap(shown), tier="compile")(from_numpy(rows))
    assert_equal(found, object_array(rows[0] * 2, rows[1] * 2))
    assert capsys.readouterr().out == "row of 2\nrow of 3\n"
    assert seen[0] == rows[0][0] + rows[1][0]


NOISE = np.random.default_rng(3)


def test_draws_are_refused_in_pipelines() -> None:
    """A graph of TensorFlow's would draw once for all rows; `np2tf.jit` draws for each row, as NumPy."""
    before = NOISE.bit_generator.state
    noisy = np2tf.vmap(lambda row: row + NOISE.normal())
    with pytest.raises(np2tf.StagingError, match=r"draws random numbers|has side effects"):
        WAYS["dataset"](noisy, rows_of(3, 1))
    assert NOISE.bit_generator.state == before
    wanted = noisy(rows_of(3, 1, 2))
    NOISE.bit_generator.state = before
    assert_equal(WAYS["jit"](noisy, rows_of(3, 1, 2)), wanted)


def test_dense_batches_of_many_lengths() -> None:
    """Jitted batches of many lengths stay batches, with each length known to XLA."""
    compiled = np2tf.jit(np2tf.vmap(lambda row: np.cumsum(row) * 2), tier="compile")
    for count in (3, 5, 8, 4, 6, 9):
        x = np.sin(np.arange(3.0 * count)).reshape(count, 3)
        np.testing.assert_allclose(compiled(x), 2 * np.cumsum(x, axis=1))
    assert compiled.graph_count == 0


def test_an_index_out_of_bounds() -> None:
    """NumPy's error of one row."""
    f = np2tf.jit(np2tf.vmap(lambda row: row[2]), tier="compile")
    assert_equal(f(from_numpy(rows_of(3, 4))), np.array([row[2] for row in rows_of(3, 4)]))
    with pytest.raises(IndexError, match="out of bounds"):
        f(from_numpy(rows_of(3, 2)))


def test_refusals() -> None:
    ragged = from_numpy(rows_of(3, 1))
    with pytest.raises(TransformError, match="NP2TF705"):
        np2tf.vmap(lambda a, b: a, (0, 0))(ragged, np.zeros(3))
    with pytest.raises(RaggedRowsError, match="NP2TF714"):
        np2tf.vmap(lambda row: row, out_axes=1)(ragged)
    with pytest.raises(RaggedRowsError, match=r"float64.*int64"):
        np2tf.vmap(lambda row: row if len(row) > 1 else row.astype(int))(ragged)


def quartics(rows: Any) -> Any:
    """A number of all rows."""
    return np.sum(np2tf.vmap(lambda row: np.sum(row**2) ** 2)(rows))


@pytest.mark.parametrize("way", WAYS)
def test_gradients_with_respect_to_rows(way: str) -> None:
    """The gradient has the rows of the argument."""
    rows = rows_of(4, 1, 6)
    wanted = object_array(*[4 * row * np.sum(row**2) for row in rows])
    assert_equal(WAYS[way](np2tf.grad(quartics), rows), wanted)


def test_products_with_jacobians_of_rows() -> None:
    rows = rows_of(3, 1)
    squares = np2tf.vmap(lambda row: row**2)
    wanted = object_array(*[2 * row * row for row in rows])
    for given in (rows, from_numpy(rows)):
        value, pull_back = np2tf.vjp(squares, given)
        assert_equal(value, object_array(*[row**2 for row in rows]))
        assert_equal(pull_back(given)[0], wanted)
        assert_equal(np2tf.jvp(squares, (given,), (given,))[1], wanted)
        with pytest.raises(RaggedRowsError, match="same lengths"):
            pull_back(from_numpy(rows_of(1, 3)))
        for jacobian in (np2tf.jacrev, np2tf.jacfwd):
            with pytest.raises(RaggedRowsError, match="NP2TF714"):
                jacobian(squares)(given)
    found = np2tf.jacrev(lambda w: np2tf.vmap(lambda row: w[0] * row + w[1])(from_numpy(rows)))(np.ones(2))
    assert_equal(found, object_array(*[np.stack([row, np.ones_like(row)], 1) for row in rows]))


def test_other_transforms_of_rows() -> None:
    """A scan goes over rows; what has no meaning for rows is refused, also compiled."""
    rows = rows_of(3, 1, 2)

    def sums(rows: Any) -> Any:
        return np2tf.scan(lambda carry, row: (carry + row.sum(), carry), 0.0, rows)[1]

    wanted = np.cumsum([0.0, *[row.sum() for row in rows]])[:-1]
    for way in ("host", "eager", "jit"):
        np.testing.assert_allclose(WAYS[way](sums, rows), wanted)
        with pytest.raises(RaggedRowsError, match="NP2TF714"):
            WAYS[way](lambda rows: np2tf.associative_scan(np.add, rows), rows)


def test_gradients_of_batches_of_unknown_length() -> None:
    data = tf.data.Dataset.from_tensor_slices(np.arange(5.0)).batch(2)
    found = list(data.map(np2tf.grad(lambda x: np.sum(x**2))))
    np.testing.assert_array_equal(np.concatenate(found), 2 * np.arange(5.0))


def test_few_rows_of_numpy_stay_numpys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lanes of plain NumPy code are NumPy's own calls."""
    monkeypatch.setattr(vmap, "MANY_LANES", 2)
    found = np2tf.vmap(lambda row: type(row) is np.ndarray)(rows_of(2, 3, 1))
    assert found.tolist() == [True, True, True]
    assert Path(plain.__file__).exists()
