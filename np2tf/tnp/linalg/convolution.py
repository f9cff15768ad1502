"""convolve and correlate."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.staging import StagingError
from np2tf.tnp.conversion import promote
from np2tf.tnp.linalg.products import rank_of
from np2tf.tnp.normalize import Array, op
from np2tf.tnp.ufuncs_matrix import matmul

__all__ = ["convolve", "correlate"]

_MODES = {"valid": "valid", "same": "same", "full": "full", 0: "valid", 1: "same", 2: "full"}


def _sliding_products(x: tf.Tensor, kernel: tf.Tensor) -> tf.Tensor:
    """Inner products of `kernel` with every stretch of `x` that is as long."""
    dtype = x.dtype
    if dtype.is_complex:
        real, imag = (tf.math.real(x), tf.math.imag(x)), (tf.math.real(kernel), tf.math.imag(kernel))
        return tf.complex(
            _sliding_products(real[0], imag[0]) - _sliding_products(real[1], imag[1]),
            _sliding_products(real[0], imag[1]) + _sliding_products(real[1], imag[0]),
        )
    if dtype == tf.float16:
        wide = _sliding_products(tf.cast(x, tf.float32), tf.cast(kernel, tf.float32))
        return tf.cast(wide, dtype)
    if dtype.is_floating:
        return tf.nn.conv1d(x[None, :, None], kernel[:, None, None], 1, "VALID")[0, :, 0]
    length = kernel.shape[0]
    starts = tf.range(x.shape[0] - length + 1)
    return matmul(tf.gather(x, starts[:, None] + tf.range(length)[None, :]), kernel)


def slid(x: tf.Tensor, kernel: tf.Tensor, mode: str) -> tf.Tensor:
    """The same, also over the ends of `x` as far as `mode` says; `kernel` is not the longer one."""
    length = kernel.shape[0]
    left = {"valid": 0, "same": length // 2, "full": length - 1}[mode]
    right = {"valid": 0, "same": length - length // 2 - 1, "full": length - 1}[mode]
    return _sliding_products(tf.pad(x, [[left, right]]), kernel)


def _mode(mode: Any) -> str:
    if mode not in _MODES:
        raise ValueError(f"mode must be one of 'valid', 'same', or 'full' (got {mode!r})")
    return _MODES[mode]


def _vectors(a: tf.Tensor, v: tf.Tensor) -> list[tf.Tensor]:
    vectors = [tf.reshape(x, [1]) if rank_of(x) == 0 else x for x in promote(a, v)]
    for name, x in zip("av", vectors):
        if rank_of(x) > 1:
            raise ValueError("object too deep for desired array")
        if x.shape[0] is None:
            raise StagingError("the length of what is convolved is known only at run time")
        if x.shape[0] == 0:
            raise ValueError(f"{name} cannot be empty")
    return vectors


@op(np.convolve)
def convolve(a: Array, v: Array, mode: Any = "full") -> tf.Tensor:
    """The convolution of two vectors."""
    long, short = sorted(_vectors(a, v), key=lambda x: -x.shape[0])
    return slid(long, short[::-1], _mode(mode))


@op(np.correlate)
def correlate(a: Array, v: Array, mode: Any = "valid") -> tf.Tensor:
    """The cross-correlation of two vectors, the second one conjugated."""
    first, second = _vectors(a, v)
    if second.dtype.is_complex:
        second = tf.math.conj(second)
    if first.shape[0] < second.shape[0]:
        return slid(second, first, _mode(mode))[::-1]
    return slid(first, second, _mode(mode))
