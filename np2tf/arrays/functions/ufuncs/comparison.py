"""Comparisons, logical functions, and the larger and smaller of two numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.arrays.functions.ufuncs import complex as ufuncs_complex
from np2tf.arrays.functions.ufuncs.tensor_ufunc import Ufunc
from np2tf.arrays.operands.conversion import as_tensor
from np2tf.arrays.operands.promotion import kind_of
from np2tf.arrays.tensors.dtype_dispatch import UNSIGNED_INTEGERS, Function, kernel, maximum, minimum

_MIRROR_IMAGES = {
    "less": "greater",
    "less_equal": "greater_equal",
    "equal": "equal",
    "not_equal": "not_equal",
}
_MIRROR_IMAGES |= {mirror: name for name, mirror in _MIRROR_IMAGES.items()}
_ANSWER_TO_LARGER = {"less", "less_equal", "not_equal"}
_ANSWER_TO_SMALLER = {"greater", "greater_equal", "not_equal"}


class Comparison(Ufunc):
    """A comparison, in which a Python integer need not fit the dtype of the other operand."""

    def compute(self, operands: tuple[Any, ...], dtype: Any = None, casting: str = "same_kind") -> Any:
        """Return the results as a boolean tensor."""
        left, right = operands
        if type(right) is int:
            answer = self._foresee(self.__name__, left, right)
        elif type(left) is int:
            answer = self._foresee(_MIRROR_IMAGES[self.__name__], right, left)
        else:
            answer = None
        return super().compute(operands, dtype, casting) if answer is None else answer

    @staticmethod
    def _foresee(name: str, operand: Any, number: int) -> tf.Tensor | None:
        kind = kind_of(operand)
        if not isinstance(kind, np.dtype) or kind.kind not in "iu":
            return None
        limits = np.iinfo(kind)
        if limits.min <= number <= limits.max:
            return None
        answer = name in (_ANSWER_TO_LARGER if number > limits.max else _ANSWER_TO_SMALLER)
        return tf.fill(tf.shape(as_tensor(operand)), answer)


def _bool_less(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    return ~a & b


_less = kernel(tf.less, boolean=_bool_less, complex=ufuncs_complex.less)
_less_equal = kernel(
    tf.less_equal,
    boolean=lambda a, b: ~a | b,
    complex=lambda a, b: ufuncs_complex.less(a, b) | tf.equal(a, b),
)


def _compare_mixed(name: str, a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """Compare int64 with uint64 without a common dtype: NumPy has separate loops for this pair."""
    if a.dtype in UNSIGNED_INTEGERS:
        return _compare_mixed(_MIRROR_IMAGES[name], b, a)
    negative = tf.less(a, tf.zeros((), a.dtype))
    same_sign = getattr(tf, name)(tf.bitcast(a, tf.uint64), b)
    return tf.where(negative, name in _ANSWER_TO_LARGER, same_sign)


def _comparison(name: str, function: Function) -> Function:
    def compare(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
        return function(a, b) if a.dtype == b.dtype else _compare_mixed(name, a, b)

    return compare


COMPARISONS: dict[str, Callable[..., Any]] = {
    "less": _comparison("less", _less),
    "less_equal": _comparison("less_equal", _less_equal),
    "greater": _comparison("greater", lambda a, b: _less(b, a)),
    "greater_equal": _comparison("greater_equal", lambda a, b: _less_equal(b, a)),
    "equal": _comparison("equal", tf.equal),
    "not_equal": _comparison("not_equal", tf.not_equal),
}


def truth(x: tf.Tensor) -> tf.Tensor:
    """Return which elements are not zero, as a boolean tensor; NaN is not zero."""
    return x if x.dtype == tf.bool else tf.not_equal(x, tf.zeros((), x.dtype))


def logical(function: Function) -> Function:
    """Return `function` applied to the truth values of the operands."""
    return lambda *operands: function(*map(truth, operands))


def _ignore_nan(function: Function, nan: Function) -> Function:
    """Return `function` of two numbers that ignores a NaN operand."""
    # If both are NaN, the result is the first operand.
    return lambda a, b: tf.where(nan(b), a, tf.where(nan(a), b, function(a, b)))


_EXTREMES: dict[str, tuple[Function, Function, Function]] = {
    "maximum": (maximum, tf.logical_or, ufuncs_complex.maximum),
    "minimum": (minimum, tf.logical_and, ufuncs_complex.minimum),
}
EXTREMES: dict[str, Callable[..., Any]] = {
    name: kernel(function, boolean=of_bools, complex=of_complex)
    for name, (function, of_bools, of_complex) in _EXTREMES.items()
} | {
    "f" + name[:3]: kernel(
        _ignore_nan(function, tf.math.is_nan),
        boolean=of_bools,
        signed=function,
        complex=_ignore_nan(of_complex, ufuncs_complex.isnan),
    )
    for name, (function, of_bools, of_complex) in _EXTREMES.items()
}
