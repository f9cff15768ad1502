"""Loops over arrays whose lengths a plain `tf.function` does not know, against the same code on NumPy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import np2tf
from tests.helpers import programs_of_unknown_lengths as plain

translated: Any = np2tf.import_module(Path(plain.__file__))
PROGRAMS = [name for name in vars(plain) if callable(getattr(plain, name))]
#: Numbers of rows: one trace serves them all.
ROWS = (5, 2, 9, 1)


def given(rows: int) -> np.ndarray:
    return np.sin(np.arange(rows * 3.0)).reshape(rows, 3) * 5


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("shape", [[None, 3], [None, None]], ids=str)
def test_loops(name: str, shape: list[int | None]) -> None:
    traces = []

    def counted(x: tf.Tensor) -> Any:
        traces.append(x)
        return getattr(translated, name)(x)

    function = tf.function(counted, input_signature=[tf.TensorSpec(shape, tf.float64)])
    for rows in ROWS:
        x = given(rows)
        found, wanted = function(tf.constant(x)), getattr(plain, name)(x)
        np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-12, atol=1e-12, err_msg=f"{rows} rows")
    assert len(traces) == 1


def test_in_dataset_and_saved_model(tmp_path: Path) -> None:
    xs = [given(rows) for rows in ROWS]
    data = tf.data.Dataset.from_generator(lambda: xs, output_signature=tf.TensorSpec([None, 3], tf.float64))
    for found, x in zip(data.map(translated.running_mean), xs, strict=True):
        np.testing.assert_allclose(found, plain.running_mean(x))
    module = tf.Module()
    spec = tf.TensorSpec([None, 3], tf.float64)
    module.call = tf.function(translated.pairwise, input_signature=[spec])
    tf.saved_model.save(module, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    for x in xs:
        np.testing.assert_allclose(loaded.call(tf.constant(x)), plain.pairwise(x))


def test_an_unknown_rank_is_refused_in_words() -> None:
    function = tf.function(translated.weighted_positive, input_signature=[tf.TensorSpec(None, tf.float64)])
    with pytest.raises(np2tf.StagingError, match="unknown rank"):
        function(tf.constant(given(2)))
