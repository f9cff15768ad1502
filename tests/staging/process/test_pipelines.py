"""NumPy functions in `tf.data` pipelines against NumPy: parallel calls, unknown batches, filters."""

from __future__ import annotations

from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import np2tf
from tests.helpers import pipeline_programs as plain

ROWS = np.random.default_rng(3).normal(size=(23, 3))
CLASSES = np.arange(23) % 4
#: The ways to translate a function.
WAYS: dict[str, Any] = {
    "imported": lambda name: getattr(np2tf.import_module(Path(plain.__file__)), name),
    "translate": lambda name: np2tf.translate(getattr(plain, name)),
    "jit": lambda name: np2tf.jit(getattr(np2tf.import_module(Path(plain.__file__)), name)),
}
PARALLEL = (None, 2, tf.data.AUTOTUNE)


@pytest.fixture(params=WAYS)
def translated(request: pytest.FixtureRequest) -> Any:
    """The function that translates a name of the programs."""
    return WAYS[request.param]


def equal(found: Any, wanted: Any) -> None:
    """Values, dtypes and shapes are equal."""
    if isinstance(wanted, dict):
        assert found.keys() == wanted.keys()
        found, wanted = list(found.values()), list(wanted.values())
    if isinstance(wanted, (tuple, list)):
        assert len(found) == len(wanted)
        for found_item, wanted_item in zip(found, wanted):
            equal(found_item, wanted_item)
        return
    wanted = np.asarray(wanted)
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-14)


def rows(batch: int | None = None) -> Any:
    """The rows, alone or in batches, of which the last is smaller: its length is unknown."""
    data = tf.data.Dataset.from_tensor_slices(ROWS)
    return data if batch is None else data.batch(batch)


def parts(batch: int | None = None) -> list[np.ndarray]:
    """The same for NumPy."""
    return list(ROWS.copy()) if batch is None else np.split(ROWS.copy(), range(batch, len(ROWS), batch))


#: Functions of batches; `smoothed` takes a single row.
OF_BATCHES = ["scaled", "newton", "in_place", "clipped"]


@pytest.mark.parametrize(
    ("name", "batch"),
    [*((name, batch) for batch in (None, 8) for name in OF_BATCHES), ("smoothed", None)],
)
def test_map(translated: Any, name: str, batch: int | None) -> None:
    for parallel in PARALLEL:
        data = rows(batch).map(translated(name), num_parallel_calls=parallel)
        found = list(data.as_numpy_iterator())
        equal(found, [getattr(plain, name)(part) for part in parts(batch)])
        assert len(data.element_spec.shape) == (1 if batch is None else 2)


def test_branches_on_data() -> None:
    """A branch on data is staged where the translation is asked to stage everything."""
    function = np2tf.translate(plain.branched, options=np2tf.Options(everything=True))
    equal(list(rows(8).map(function, 2).as_numpy_iterator()), list(map(plain.branched, parts(8))))


def test_several_components(translated: Any) -> None:
    data = tf.data.Dataset.from_tensor_slices((ROWS, CLASSES)).batch(5).map(translated("augmented"), 2)
    found = list(data.as_numpy_iterator())
    wanted = [plain.augmented(ROWS[k : k + 5], CLASSES[k : k + 5]) for k in range(0, 23, 5)]
    equal(found, wanted)


def test_records(translated: Any) -> None:
    data = tf.data.Dataset.from_tensor_slices({"x": ROWS, "n": np.arange(23)})
    found = list(data.map(translated("fields"), 2).batch(10).as_numpy_iterator())
    wanted = plain.fields({"x": ROWS, "n": np.arange(23)})
    equal({key: np.concatenate([batch[key] for batch in found]) for key in wanted}, wanted)


def test_filter(translated: Any) -> None:
    equal(
        list(rows().filter(translated("is_large")).as_numpy_iterator()),
        [x for x in ROWS if plain.is_large(x)],
    )
    even = tf.data.Dataset.range(10).filter(translated("is_even"))
    equal(list(even.as_numpy_iterator()), list(map(np.int64, range(0, 10, 2))))


def test_reduce(translated: Any) -> None:
    found = rows(8).reduce(np.float64(0), translated("total")).numpy()
    np.testing.assert_allclose(found, reduce(plain.total, parts(8), 0.0))
    start = np.float64(0), np.float64(0), np.float64(0)
    found = rows().reduce(start, lambda *given: translated("moments")(*given))
    np.testing.assert_allclose(found, reduce(plain.moments, ROWS, (0, 0.0, 0.0)))


def test_a_whole_pipeline(translated: Any) -> None:
    """Filtering, mapping, batching, statistics of the batches, all with unknown lengths."""
    data = rows().filter(translated("is_large")).map(translated("scaled"), 2).batch(4).prefetch(1)
    data = data.map(translated("batch_statistics"), tf.data.AUTOTUNE)
    kept = np.array([plain.scaled(x) for x in ROWS if plain.is_large(x)])
    found = list(data.as_numpy_iterator())
    for batch, k in zip(found, range(0, len(kept), 4), strict=True):
        mean, deviation = plain.batch_statistics(kept[k : k + 4])
        np.testing.assert_allclose(batch[0], mean, atol=1e-12)
        np.testing.assert_allclose(batch[1], deviation, atol=1e-12)


def test_flat_map_and_interleave(translated: Any) -> None:
    function = translated("newton")
    data = rows(8).interleave(
        lambda x: tf.data.Dataset.from_tensor_slices(function(x)), num_parallel_calls=1, cycle_length=1
    )
    equal(list(data.as_numpy_iterator()), list(plain.newton(ROWS)))


def test_ragged_lengths(translated: Any) -> None:
    """Sequences of different lengths, padded into batches."""
    lengths = (3, 1, 6, 4)
    signature = tf.TensorSpec([None], tf.float64)
    data = tf.data.Dataset.from_generator(
        lambda: (np.arange(float(n)) for n in lengths), output_signature=signature
    )
    found = list(data.map(translated("smoothed"), 2).padded_batch(2).as_numpy_iterator())
    for k, batch in enumerate(found):
        for row, n in zip(batch, lengths[2 * k : 2 * k + 2]):
            np.testing.assert_allclose(row[:n], plain.smoothed(np.arange(float(n))))
            assert not row[n:].any()


def test_fit_from_a_pipeline(translated: Any) -> None:
    model = tf.keras.Sequential([tf.keras.Input((6,)), tf.keras.layers.Dense(4, activation="softmax")])
    model.compile("adam", "categorical_crossentropy")
    data = (
        tf.data.Dataset.from_tensor_slices((ROWS, CLASSES)).repeat(4).batch(8).map(translated("augmented"), 2)
    )
    losses = model.fit(data, epochs=4, verbose=0).history["loss"]
    assert losses[-1] < losses[0]
