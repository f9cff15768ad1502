"""`power`, in which known exponents become products and roots."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.ops import gen_math_ops

from np2tf.arrays.array.ndarray import ndarray, scalar, tensor_array
from np2tf.arrays.dispatch.op import attach
from np2tf.arrays.functions.ufuncs import complex
from np2tf.arrays.functions.ufuncs import complex as complex_functions
from np2tf.arrays.functions.ufuncs import complex as complex_powers
from np2tf.arrays.functions.ufuncs import complex as of_complex
from np2tf.arrays.functions.ufuncs import integer as integers
from np2tf.arrays.functions.ufuncs import matrix as matrices
from np2tf.arrays.functions.ufuncs import real as floats
from np2tf.arrays.functions.ufuncs.comparison import COMPARISONS, EXTREMES, Comparison, logical
from np2tf.arrays.functions.ufuncs.integer import nonnegative_power, positive_power
from np2tf.arrays.functions.ufuncs.matrix import GeneralUfunc
from np2tf.arrays.functions.ufuncs.tensor_ufunc import Ufunc
from np2tf.arrays.operands.conversion import as_tensor, cast
from np2tf.arrays.operands.promotion import kind_of, promotion_kind, ufunc_loop
from np2tf.arrays.tensors import elementary_functions as elementary
from np2tf.arrays.tensors.dtype_dispatch import (
    Function,
    apply_to_parts,
    constant,
    constant_function,
    identity,
    kernel,
    power,
    real,
)

# -- power ---------------------------------------------------------------------------------------------------

_OF_FLOATS: dict[Any, Callable[[tf.Tensor], tf.Tensor]] = {
    -1: lambda x: constant(1, x) / x,
    0: tf.ones_like,
    0.5: lambda x: (complex if x.dtype.is_complex else floats).sqrt(x),
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


# -- table ---------------------------------------------------------------------------------------------------
# The table of NumPy's universal functions: each row has the TensorFlow function that computes it.
#
# NumPy's loop (`promotion.ufunc_loop`) has already chosen the dtypes: an implementation gets tensors of the
# loop's input dtypes, and its result is cast to the loop's output dtype.


def _divide(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    if a.dtype.is_integer:
        a, b = tf.cast(a, tf.float64), tf.cast(b, tf.float64)
    return gen_math_ops.RealDiv(x=a, y=b)


def _keep_integers(function: Function, complex: Function | None = None) -> Function:
    """Return a function that rounds. It returns integers unchanged."""
    return kernel(function, boolean=identity, signed=identity, half=real(function), complex=complex)


def _scale_by(factor: float) -> Function:
    return real(lambda x: x * constant(factor, x))


def _test(function: Function, of_integers: bool, complex: Function) -> Function:
    answer = constant_function(of_integers)
    return kernel(function, boolean=answer, signed=answer, complex=complex)


_ARITHMETIC: dict[str, Callable[..., Any]] = {
    "add": kernel(tf.add, boolean=tf.logical_or, complex=of_complex.add),
    "subtract": kernel(tf.subtract, unsigned=integers.subtract, complex=of_complex.subtract),
    "multiply": kernel(tf.multiply, boolean=tf.logical_and, complex=of_complex.multiply),
    "divide": kernel(_divide, complex=of_complex.divide),
    "floor_divide": kernel(real(floats.floor_divide), signed=integers.floor_divide),
    "remainder": kernel(real(floats.remainder), signed=integers.remainder),
    "divmod": kernel(
        real(floats.divmod),
        signed=integers.divmod,
    ),
    "fmod": kernel(real(floats.fmod), signed=integers.fmod),
    "power": kernel(real(power), signed=integers.power, complex=complex_powers.power),
    "float_power": kernel(power, complex=complex_powers.power),
    "negative": kernel(tf.negative, unsigned=integers.negative),
    "positive": identity,
    "absolute": kernel(tf.abs, boolean=identity, unsigned=identity, complex=of_complex.absolute),
    "fabs": tf.abs,
    "sign": kernel(
        floats.sign,
        signed=tf.sign,
        unsigned=lambda x: tf.cast(tf.not_equal(x, constant(0, x)), x.dtype),
        complex=of_complex.sign,
    ),
    "square": kernel(tf.square, complex=of_complex.square),
    "reciprocal": kernel(
        lambda x: constant(1, x) / x,
        signed=integers.reciprocal,
        complex=of_complex.reciprocal,
    ),
    "conjugate": kernel(identity, complex=tf.math.conj),
    "gcd": integers.gcd,
    "lcm": integers.lcm,
}
_BITS: dict[str, Callable[..., Any]] = {
    "invert": kernel(tf.bitwise.invert, boolean=tf.logical_not),
    "bitwise_and": kernel(tf.bitwise.bitwise_and, boolean=tf.logical_and),
    "bitwise_or": kernel(tf.bitwise.bitwise_or, boolean=tf.logical_or),
    "bitwise_xor": kernel(tf.bitwise.bitwise_xor, boolean=tf.math.logical_xor),
    "left_shift": integers.left_shift,
    "right_shift": integers.right_shift,
    "bitwise_count": integers.bitwise_count,
}
_LOGICAL: dict[str, Callable[..., Any]] = {
    "logical_and": logical(tf.logical_and),
    "logical_or": logical(tf.logical_or),
    "logical_xor": logical(tf.math.logical_xor),
    "logical_not": logical(tf.logical_not),
    "isnan": _test(tf.math.is_nan, False, of_complex.isnan),
    "isinf": _test(tf.math.is_inf, False, of_complex.isinf),
    "isfinite": _test(tf.math.is_finite, True, of_complex.isfinite),
    "isnat": constant_function(False),
    "signbit": floats.signbit,
}
_ROUNDING_KERNELS: dict[str, Callable[..., Any]] = {
    "rint": _keep_integers(tf.round, apply_to_parts(tf.round)),
    "floor": _keep_integers(tf.floor),
    "ceil": _keep_integers(tf.math.ceil),
    "trunc": _keep_integers(floats.trunc),
    "modf": real(floats.modf),
    "frexp": floats.frexp,
    "ldexp": floats.ldexp,
    "copysign": floats.copysign,
    "nextafter": floats.nextafter,
    "spacing": floats.spacing,
    "heaviside": floats.heaviside,
}
_MATHS: dict[str, Callable[..., Any]] = {
    **{
        name: real(getattr(floats, name), complex=getattr(complex_functions, name))
        for name in ("exp", "expm1", "sqrt", "sinh", "cosh")
    },
    **{
        name: real(getattr(elementary, name), complex=getattr(complex_functions, name))
        for name in ("log", "log1p", "sin", "cos", "tan", "arcsin", "arccos", "arctan")
    },
    "tanh": real(tf.math.tanh, complex=complex_functions.tanh),
    **{
        f"arc{name}": real(getattr(tf.math, f"a{name}"), complex=getattr(complex_functions, f"arc{name}"))
        for name in ("sinh", "cosh", "tanh")
    },
    "arctan2": real(elementary.arctan2),
    "hypot": real(floats.hypot),
    "cbrt": real(floats.cbrt),
    "exp2": real(floats.exp2, complex=complex_functions.exp2),
    "log2": real(floats.log2, complex=complex_functions.scaled_log(2.0)),
    "log10": real(floats.log10, complex=complex_functions.scaled_log(10.0)),
    "logaddexp": real(floats.logaddexp),
    "logaddexp2": real(floats.logaddexp2),
    "deg2rad": _scale_by(math.pi / 180),
    "radians": _scale_by(math.pi / 180),
    "rad2deg": _scale_by(180 / math.pi),
    "degrees": _scale_by(180 / math.pi),
}
_MATRIX: dict[str, Callable[..., Any]] = {
    "matmul": matrices.matmul,
    "vecdot": matrices.vecdot,
    "matvec": matrices.matvec,
    "vecmat": matrices.vecmat,
}
_CLASSES: dict[str, type[Ufunc]] = {
    "power": Power,
    **dict.fromkeys(COMPARISONS, Comparison),
    **dict.fromkeys(_MATRIX, GeneralUfunc),
}


def full_like_bool(array: ndarray, value: bool) -> ndarray:
    """Return a boolean array of `array`'s shape: the result of ``==`` if the operand is not a number."""
    return tensor_array(tf.fill(tf.shape(array.tensor), value))


def _install() -> dict[str, Ufunc]:
    rows = {
        **_ARITHMETIC,
        **_BITS,
        **_LOGICAL,
        **_ROUNDING_KERNELS,
        **_MATHS,
        **_MATRIX,
        **COMPARISONS,
        **EXTREMES,
    }
    ufuncs = {
        getattr(np, name): _CLASSES.get(name, Ufunc)(getattr(np, name), function)
        for name, function in rows.items()
        # NumPy 2.0 and 2.1 lack the newest functions.
        if hasattr(np, name)
    }
    # A ufunc may have several names in NumPy: np.abs is np.absolute, np.acos is np.arccos.
    return {
        name: ufuncs[value]
        for name, value in vars(np).items()
        if isinstance(value, np.ufunc) and value in ufuncs
    }


add: Any
arctan2: Any
_TABLE = _install()
globals().update(_TABLE)
__all__ = sorted(_TABLE)


def _conjugate_method(self: ndarray, out: Any = None, /) -> Any:
    """Return ``x.conj()``; for real numbers and booleans, the array itself."""
    if out is None and self.dtype.kind != "c":
        return self
    return _TABLE["conjugate"](self, out=out)


attach("conjugate", _conjugate_method)
attach("conj", _conjugate_method)
