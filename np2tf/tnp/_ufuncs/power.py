"""`power`, in which known exponents become products and roots."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.tnp._array.ndarray import scalar
from np2tf.tnp._operands.conversion import as_tensor, cast
from np2tf.tnp._operands.promotion import kind_of, promotion_kind, ufunc_loop
from np2tf.tnp._tensor import elementary_functions as elementary
from np2tf.tnp._tensor.dtype_dispatch import constant
from np2tf.tnp._ufuncs import complex_functions
from np2tf.tnp._ufuncs import real as floats
from np2tf.tnp._ufuncs.integer import nonnegative_power, positive_power
from np2tf.tnp._ufuncs.tensor_ufunc import Ufunc

_OF_FLOATS: dict[Any, Callable[[tf.Tensor], tf.Tensor]] = {
    -1: lambda x: constant(1, x) / x,
    0: tf.ones_like,
    0.5: lambda x: (complex_functions if x.dtype.is_complex else floats).sqrt(x),
    1: tf.identity,
    2: tf.square,
    3: lambda x: tf.square(x) * x,
}


def _is_never_negative(exponent: Any) -> bool:
    kind = kind_of(exponent)
    if isinstance(kind, np.dtype):
        return kind.kind in "bu"
    integer = exponent.staged_integer if type(exponent) is scalar else None
    return integer is not None and integer.low is not None and integer.low >= 0


class Power(Ufunc):
    """The ufunc ``a ** b``."""

    def compute(self, operands: tuple[Any, ...], dtype: Any = None, casting: str = "same_kind") -> Any:
        """Return the powers as a tensor.

        Raises:
            ValueError: an integer is raised to a negative integer power.
            OverflowError: a Python integer does not fit the dtype of the other operand.
        """
        base, exponent = operands
        known = type(exponent) in (int, float) and type(base) not in (int, float, complex)
        kind = kind_of(exponent)
        counts = kind is int or (isinstance(kind, np.dtype) and kind.kind in "bu")
        if not (known or counts) or dtype is not None:
            return super().compute(operands, dtype, casting)
        loop = ufunc_loop(self.numpy, (promotion_kind(base), promotion_kind(exponent)))
        if loop[0].kind in "iu":
            return self._of_integers(operands, loop)
        function = _OF_FLOATS.get(exponent) if known else None
        if function is not None:
            return cast(function(as_tensor(base, loop[0])), loop[-1])
        if known and elementary.is_product_of_roots(exponent):
            tensor = as_tensor(base, loop[0])
            if elementary.is_vectorised(tensor):
                return cast(elementary.power(tensor, exponent), loop[-1])
        return super().compute(operands)

    def _of_integers(self, operands: tuple[Any, ...], loop: tuple[np.dtype[Any], ...]) -> Any:
        base, exponent = operands
        if type(exponent) is int:
            loop[1].type(exponent)  # raises NumPy's error if the integer does not fit
            if exponent < 0:
                raise ValueError("Integers to negative integer powers are not allowed.")
            return cast(positive_power(as_tensor(base, loop[0]), exponent), loop[-1])
        if _is_never_negative(exponent):
            tensors = [
                as_tensor(operand, target_dtype)
                for operand, target_dtype in zip(operands, loop, strict=False)
            ]
            return nonnegative_power(*tensors)
        return super().compute(operands)
