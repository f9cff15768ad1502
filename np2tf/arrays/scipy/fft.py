"""scipy.fft: the transforms of numpy.fft, which SciPy computes in the precision of the operand."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from np2tf.arrays.dispatch.op import Array, Axis, Int, OptionalInt
from np2tf.arrays.functions import fft
from np2tf.arrays.scipy.declare import native, refusal


def _is_taken(name: str, x: tf.Tensor) -> tf.Tensor:
    """Return the operand `x`.

    Raises:
        StagingError: only SciPy's own function takes float16, or complex numbers for this transform.
    """
    if x.dtype == tf.float16 or (x.dtype.is_complex and name in ("rfft", "ihfft", "rfft2", "rfftn")):
        raise refusal(f"scipy.fft.{name} of {x.dtype.name}")
    return x


def _register_1d(name: str) -> None:
    """Declare a transform of scipy.fft along one axis."""
    transform = getattr(fft, name).__wrapped__

    def implementation(x: Array, n: OptionalInt = None, axis: Int = -1, norm: Any = None) -> tf.Tensor:
        return transform(_is_taken(name, x), n, axis, norm)

    native(f"scipy.fft.{name}")(implementation)


def _register_nd(name: str, default: tuple[int, int] | None) -> None:
    """Declare a transform of scipy.fft along several axes, by default these axes, or all."""
    transform = getattr(fft, name).__wrapped__

    def implementation(x: Array, s: Any = None, axes: Axis = default, norm: Any = None) -> tf.Tensor:
        if s is not None and axes is None:
            # SciPy takes the last axes, and NumPy warns.
            axes = tuple(range(-len(s), 0))
        return transform(_is_taken(name, x), s, axes, norm)

    native(f"scipy.fft.{name}")(implementation)


for _name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
    _register_1d(_name)
for _name in ("fft", "ifft", "rfft", "irfft"):
    _register_nd(f"{_name}2", (-2, -1))
    _register_nd(f"{_name}n", None)
for _name in ("fftshift", "ifftshift"):
    native(f"scipy.fft.{_name}")(getattr(fft, _name).__wrapped__)


@native("scipy.fft.fftfreq")
def fftfreq(n: Int, d: Any = 1.0) -> tf.Tensor:
    """Return the frequencies of `fft` for `n` samples."""
    return fft.fftfreq.__wrapped__(n, d)  # type: ignore[attr-defined]


@native("scipy.fft.rfftfreq")
def rfftfreq(n: Int, d: Any = 1.0) -> tf.Tensor:
    """Return the frequencies of `rfft` for `n` samples."""
    return fft.rfftfreq.__wrapped__(n, d)  # type: ignore[attr-defined]
