"""The TensorFlow ops that `placement.py` measures, each with inputs of a size that scientists use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
MATRIX = rng.random((300, 300)) + 300 * np.eye(300)
SYMMETRIC = MATRIX + MATRIX.T
SMALL = SYMMETRIC[:120, :120]
SIDES = rng.random((300, 8))
LONG = rng.random(200_000)
KEYS = rng.random((1, 20_000))
SORTED = np.sort(KEYS)
PICKED = rng.integers(0, 1000, 200_000)
SIGNAL = rng.random(2**15) + 1j * rng.random(2**15)
IMAGE = rng.random((256, 256)) + 1j * rng.random((256, 256))
VOLUME = rng.random((32, 32, 32)) + 1j * rng.random((32, 32, 32))
FLAT = rng.random((512, 512))
PHOTOS = rng.random((4, 32, 32, 8)).astype(np.float32)
FILTERS = rng.random((3, 3, 8, 16)).astype(np.float32)


@dataclass(frozen=True)
class Op:
    """One op with its inputs.

    Attributes:
        inputs: arrays that are inputs of the compiled function, under the op's own names.
        settings: the op's other arguments.
        judged: returns the outputs to compare. For example, signs of eigenvectors are free and are left out.
    """

    inputs: dict[str, Any]
    settings: dict[str, Any]
    judged: Callable[[Any], Any] = lambda outputs: outputs


def _op(judged: Callable[[Any], Any] = lambda outputs: outputs, /, **named: Any) -> Op:
    inputs = {name: value for name, value in named.items() if isinstance(value, np.ndarray)}
    return Op(inputs, {name: value for name, value in named.items() if name not in inputs}, judged)


def _first(outputs: Any) -> Any:
    return outputs[0]


LINALG = {
    "Cholesky": _op(input=SYMMETRIC),
    "Eig": _op(lambda outputs: tf.reduce_sum(outputs[0]), input=SMALL, Tout=tf.complex128, compute_v=True),
    "LogMatrixDeterminant": _op(input=MATRIX),
    "Lu": _op(_first, input=MATRIX),
    "MatMul": _op(a=FLAT, b=FLAT),
    "MatrixDeterminant": _op(input=SMALL / 120),
    "MatrixInverse": _op(input=MATRIX),
    "MatrixSolve": _op(matrix=MATRIX, rhs=SIDES),
    "MatrixSolveLs": _op(matrix=MATRIX, rhs=SIDES, l2_regularizer=0.0),
    "MatrixTriangularSolve": _op(matrix=MATRIX, rhs=SIDES),
    "Qr": _op(lambda outputs: abs(outputs[1]), input=MATRIX),
    "SelfAdjointEigV2": _op(_first, input=SMALL),
    "Svd": _op(_first, input=SMALL),
}

FOURIER = {
    "FFT": _op(input=SIGNAL),
    "FFT2D": _op(input=IMAGE),
    "FFT3D": _op(input=VOLUME),
    "IFFT": _op(input=SIGNAL),
    "IFFT2D": _op(input=IMAGE),
    "IFFT3D": _op(input=VOLUME),
    "IRFFT": _op(input=SIGNAL, fft_length=[2**16 - 2], Treal=tf.float64),
    "IRFFT2D": _op(input=IMAGE, fft_length=[256, 510], Treal=tf.float64),
    "RFFT": _op(input=SIGNAL.real.copy(), fft_length=[2**15], Tcomplex=tf.complex128),
    "RFFT2D": _op(input=IMAGE.real.copy(), fft_length=[256, 256], Tcomplex=tf.complex128),
}

SORTING = {
    "LowerBound": _op(sorted_inputs=SORTED, values=KEYS),
    "TopKV2": _op(_first, input=LONG, k=100),
    "Unique": _op(_first, x=PICKED),
    "UniqueV2": _op(_first, x=PICKED, axis=[0]),
    "UniqueWithCountsV2": _op(_first, x=PICKED, axis=[0]),
    "UpperBound": _op(sorted_inputs=SORTED, values=KEYS),
    "Where": _op(condition=LONG > 0.5),
}

COUNTING = {
    "Bincount": _op(arr=PICKED.astype(np.int32), size=1000, weights=LONG),
    "DenseBincount": _op(input=PICKED, size=tf.constant(1000, tf.int64), weights=LONG),
    "HistogramFixedWidth": _op(values=LONG, value_range=[0.0, 1.0], nbins=100),
    "UnsortedSegmentSum": _op(data=LONG, segment_ids=PICKED, num_segments=1000),
}

ELEMENTS = {
    "AddV2": _op(x=LONG, y=LONG),
    "ArgMax": _op(input=FLAT, dimension=1),
    "Atan2": _op(y=LONG, x=LONG),
    "Conv2D": _op(input=PHOTOS, filter=FILTERS, strides=[1, 1, 1, 1], padding="VALID"),
    "Cumprod": _op(x=FLAT, axis=1),
    "Cumsum": _op(x=FLAT, axis=1),
    "Erf": _op(x=LONG),
    "Exp": _op(x=LONG),
    "Lgamma": _op(x=LONG),
    "Log": _op(x=LONG),
    "Max": _op(input=FLAT, axis=1),
    "Pow": _op(x=LONG, y=np.full_like(LONG, 1.5)),
    "SelectV2": _op(condition=LONG > 0.5, t=LONG, e=-LONG),
    "Sin": _op(x=LONG),
    "Sqrt": _op(x=LONG),
    "Sum": _op(input=FLAT, axis=0),
    "Tanh": _op(x=LONG),
    "Transpose": _op(x=FLAT, perm=[1, 0]),
}

MOVING = {
    "ConcatV2": _op(values=[LONG, LONG], axis=0),
    "GatherV2": _op(params=LONG, indices=PICKED, axis=0),
    "TensorScatterAdd": _op(tensor=LONG[:1000].copy(), indices=PICKED[:, None], updates=LONG),
    "TensorScatterUpdate": _op(
        tensor=LONG, indices=np.arange(0, 200_000, 2)[:, None], updates=LONG[:100_000]
    ),
}

OPS = {**LINALG, **FOURIER, **SORTING, **COUNTING, **ELEMENTS, **MOVING}


#: Ops that XLA makes slow -> a function that returns the op with inputs of another size: so many elements, or
#: rows and columns. Ops are missing for which XLA raises no error where NumPy does, or gives eigenvectors of
#: other signs.
SIZED: dict[str, Callable[[int], Op]] = {
    "Cholesky": lambda n: _op(input=SYMMETRIC[:n, :n].copy()),
    "LowerBound": lambda n: _op(sorted_inputs=SORTED[:, :n].copy(), values=KEYS[:, :n].copy()),
    "TopKV2": lambda n: _op(_first, input=LONG[:n].copy(), k=n),
    "UpperBound": lambda n: _op(sorted_inputs=SORTED[:, :n].copy(), values=KEYS[:, :n].copy()),
}
