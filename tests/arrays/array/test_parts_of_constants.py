"""Parts of constants are computed while tracing, unless a gradient tape may watch the constants."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

import np2tf
from np2tf import tnp


def test_an_element_of_a_constant_is_a_static_end():
    """So the slice is a view of the argument, as in NumPy."""

    @np2tf.jit(tier="compile")
    def last(x):
        return x[None, 3:][tnp.array([-1, 1])[0] :, -1].reshape(1, 1, 1).ravel("A"), x

    result, array = last(np.arange(4.0))
    assert result.shape == (1,)
    assert np.shares_memory(result, array)


@pytest.mark.parametrize("jit", [False, True])
def test_a_tape_sees_the_parts_of_a_constant(jit: bool) -> None:
    def gradient(factor):
        x = tf.constant([3.0, 4.0], tf.float64)
        with tf.GradientTape() as tape:
            tape.watch(x)
            array = tnp.asarray(x)
            value = array[0] ** 2 + array[1:].sum()
        return tnp.asarray(tape.gradient(value, x)) * factor

    function = np2tf.jit(gradient, tier="compile") if jit else tf.function(gradient)
    np.testing.assert_array_equal(np.asarray(function(np.float64(2.0))), [12.0, 2.0])
