"""Windows that slide over an array are a view of it, as NumPy has them, also where they can be written to.

See https://numpy.org/doc/stable/reference/generated/numpy.lib.stride_tricks.sliding_window_view.html.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import np2tf
from np2tf import tnp
from tests.helpers.op_harness import MODES, Case, differences


def _seen(np: Any, slide: Any, x: Any) -> Any:
    windows = slide(x, 3)
    x[2] = 100
    return windows.sum(axis=1), windows[1:3] * 1


def _some_windows(np: Any, slide: Any, x: Any) -> Any:
    windows = slide(x, 3, writeable=True)
    windows[1] = 7
    windows[2, 0] += 1
    return x * 1


def _all_windows(np: Any, slide: Any, x: Any) -> Any:
    windows = slide(x, 3, writeable=True)
    windows[...] = np.arange(24).reshape(8, 3)
    windows += 1
    return x * 1


def _two_axes(np: Any, slide: Any, x: Any) -> Any:
    matrix = x.reshape(2, -1)
    windows = slide(matrix, (2, 2), writeable=True)
    windows[..., 0, 1] = 5
    windows[0, 1, 1, :] = 9
    matrix[1, 0] = -1
    return x * 1, windows * 1


def _one_axis_twice(np: Any, slide: Any, x: Any) -> Any:
    windows = slide(x, (2, 3), axis=(0, 0), writeable=True)
    windows[1, :, 2] = 50
    windows[0] *= 2
    return x * 1


def _no_width(np: Any, slide: Any, x: Any) -> Any:
    windows = slide(x, 0, writeable=True)
    windows[...] = 1
    return x * 1, np.asarray(windows.shape)


def _read_only(np: Any, slide: Any, x: Any) -> Any:
    slide(x, 3)[0] = 1
    return x


def _too_wide(np: Any, slide: Any, x: Any) -> Any:
    return slide(x, 11)


def _memory(np: Any, slide: Any, x: Any) -> Any:
    return np.asarray(slide(x, 2).strides), np.asarray([np.shares_memory(x, slide(x, 2))])


PROGRAMS = (
    *(_seen, _some_windows, _all_windows, _two_axes, _one_axis_twice, _no_width, _read_only, _too_wide),
    _memory,
)


def _module(module: Any) -> Any:
    slide = module.lib.stride_tricks.sliding_window_view
    return SimpleNamespace(run=lambda program, x: program(module, slide, x))


@pytest.mark.parametrize("mode", MODES)
def test_windows_are_a_view(mode: str) -> None:
    modules = _module(np), _module(tnp)
    cases = [Case("run", (program, np.arange(10.0)), modules=modules) for program in PROGRAMS]
    cases += [Case("run", (program, np.arange(10)), modules=modules) for program in PROGRAMS[1:3]]
    assert [(case.args[0].__name__, text) for case, text in differences(cases, mode)] == []


def _selected(np: Any) -> Any:
    x = np.arange(6)
    windows = np.lib.stride_tricks.sliding_window_view(x, 3, writeable=True)
    windows[[1, 0], [0, 1]] = [8, 9]
    windows[windows > 7] = 0
    np.put(windows, [1], [5])
    np.add.at(windows, 1, 1)
    return x


def test_elements_that_a_key_selects() -> None:
    """NumPy writes them one after another."""
    with np2tf.config.using(eager="tensorflow"):
        assert _selected(tnp).tolist() == _selected(np).tolist()


@pytest.mark.parametrize("tier", ["compile", "auto"])
def test_compiled_functions_write_to_the_callers_array(tier: str) -> None:
    def smooth(x: Any) -> Any:
        windows = np.lib.stride_tricks.sliding_window_view(x, 2, writeable=True)
        windows[1:3] = 4.0
        return windows[:, 0] * 2

    plain, compiled = np.arange(6.0), np.arange(6.0)
    function: Callable[[Any], Any] = np2tf.jit(np2tf.translate(smooth), tier=tier)
    np.testing.assert_array_equal(function(compiled), smooth(plain))
    np.testing.assert_array_equal(compiled, plain)


def test_lengths_known_at_run_time() -> None:
    @tf.function(autograph=False, input_signature=[tf.TensorSpec([None], tf.float64)])
    def sums(x: Any) -> Any:
        return tf.convert_to_tensor(tnp.sum(tnp.lib.stride_tricks.sliding_window_view(x, 3), axis=1))

    assert sums(tf.range(5.0, dtype=tf.float64)).numpy().tolist() == [3, 6, 9]
    with pytest.raises(tf.errors.InvalidArgumentError):
        sums(tf.range(2.0, dtype=tf.float64))
