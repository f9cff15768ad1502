"""The argument `out`: which outputs a result may be written to, and NumPy's errors for all other outputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.arrays.array.ndarray import is_array, scalar
from np2tf.arrays.operands.conversion import refuse_to_lose_gradient
from np2tf.arrays.operands.promotion import promotion_kind, reduction_dtype
from np2tf.core.errors import NoGraphFormError


def store_into(out: Any, result: Any, casting: Any = "same_kind", ufunc: np.ufunc = np.add) -> Any:
    """Write a result into `out` as a ufunc does, and return `out`.

    Raises:
        TypeError: the result cannot be cast to out's dtype under the 'same_kind' rule.
    """
    if isinstance(out, tuple):
        parts = result if isinstance(result, tuple) else (result,)
        outputs = tuple(
            part if into is None else store_into(into, part, casting, ufunc)
            for into, part in zip(out, parts, strict=True)
        )
        return outputs if len(outputs) > 1 else outputs[0]
    check_output(out)
    # (A sum of strings is a string of Python.)
    result = np.asarray(result, out.dtype) if isinstance(result, str) else result
    if not np.can_cast(result.dtype, out.dtype, casting):
        raise casting_error(ufunc, result.dtype, out.dtype, casting)
    _check_shapes(result, out)
    if isinstance(out, np.ndarray) and not is_array(out):
        refuse_to_lose_gradient((result,))
    out[...] = result
    return out


def check_output(out: Any) -> None:
    """Check that an object is an array that can be written to."""
    if type(out) is scalar or not isinstance(out, (np.ndarray, tf.Tensor, tf.Variable)):
        raise TypeError("return arrays must be of ArrayType")
    if is_array(out) and out.is_read_only:  # type: ignore[union-attr]
        raise ValueError("output array is read-only")


#: Functions that write only to an array of exactly the shape and dtype of the result.
_LIKE = frozenset({np.dot, np.fft.fft, np.fft.ifft, np.fft.rfft, np.fft.irfft, np.fft.hfft, np.fft.ihfft})
#: Functions that refuse to convert numbers with a fraction to any other kind.
_INEXACT = frozenset({np.nanmean, np.nanvar, np.nanstd})
#: Functions that NumPy computes by ufuncs: their result may be broadcast to the output.
_BROADCAST_FUNCTIONS = frozenset({np.clip, np.round, np.around})
#: Functions that write to an array of the result's shape whose dtype can be cast safely to the result's.
_SAFE_CASTS = frozenset({np.take, np.compress, np.choose, np.argmax, np.argmin})
#: Functions that join arrays. They take a dtype or an output, whose dtype it then is.
_JOIN_FUNCTIONS = frozenset({np.concatenate, np.stack})
#: Functions that add or multiply by a reduction of a ufunc that writes to the output. They
#: compute in the common dtype of the operand and the output, and cast the result to the output's by any rule.
_SUMS: dict[Any, np.ufunc] = {
    **dict.fromkeys((np.sum, np.cumsum, np.nansum, np.nancumsum), np.add),
    **dict.fromkeys((np.prod, np.cumprod, np.nanprod, np.nancumprod), np.multiply),
}
_RUNNING = {np.cumsum, np.nancumsum, np.cumprod, np.nancumprod}
_TRUTHS = frozenset({np.any, np.all})
#: Ufuncs whose reductions start from an integer or a truth value, which every dtype has.
_STARTING_FROM_INTEGERS = frozenset({np.add, np.multiply, np.logical_and, np.logical_or, np.logical_xor})
if hasattr(np, "cumulative_sum"):  # NumPy 2.1
    _SUMS |= {np.cumulative_sum: np.add, np.cumulative_prod: np.multiply}
    _RUNNING |= {np.cumulative_sum, np.cumulative_prod}
#: Functions that compute a result as without an output, and then cast it.
_CAST_AT_THE_END = frozenset({np.clip, *_JOIN_FUNCTIONS})


def take_dtype_of_output(
    numpy: Any, out: Any, args: tuple[Any, ...], keywords: dict[str, Any]
) -> dict[str, Any]:
    """Return the arguments by keyword, with a dtype for functions that compute in another dtype for `out`.

    Raises:
        TypeError: `out` is no array, or is given together with a dtype; or the ufunc has no loop for it.
    """
    check_output(out)
    if numpy in _JOIN_FUNCTIONS:
        if keywords.get("dtype") is not None:
            raise TypeError("only one of `out` and `dtype` may be given")
        return {**keywords, "dtype": out.dtype}
    operand = args[0] if args else next(iter(keywords.values()), None)
    if (numpy in _SUMS or numpy is np.mean) and keywords.get("dtype") is None and len(args) < 3:
        kind = np.result_type(promotion_kind(operand))
        if numpy is not np.mean:
            return {**keywords, "dtype": reduction_dtype(_SUMS[numpy], kind, None, out.dtype)}
        if out.dtype.kind in "fc" and out.dtype == np.result_type(kind, out.dtype):
            return {**keywords, "dtype": out.dtype}
    return keywords


def casting_into(numpy: Any, out: Any, operand: Any, result: Any, casting: Any) -> Any:
    """Return the rule by which a function casts its result to `out`.

    `result` is given in the dtype in which the function computes.

    Raises:
        StagingError: the function casts results in between as well, which NumPy does by its own steps.
    """
    if not is_array(result) or isinstance(out, tuple) or result.dtype == out.dtype:
        return casting
    if numpy in _SUMS or numpy in _TRUTHS:
        if numpy not in _RUNNING:
            check_buffer(_SUMS.get(numpy, np.logical_or), operand, result.dtype, out.dtype)
        return "unsafe"
    if numpy in _SAFE_CASTS:
        return "unsafe"
    if numpy not in _CAST_AT_THE_END:
        raise NoGraphFormError(f"an output of {out.dtype} for a result of {result.dtype}")
    return casting


def check_buffer(ufunc: np.ufunc, operand: Any, computed: np.dtype[Any], out: np.dtype[Any]) -> None:
    """Check that NumPy casts the result of a reduction to the output's dtype once, at the end.

    It also casts after every buffer of elements, and it casts the element from which a reduction without an
    identity starts.

    Raises:
        StagingError: NumPy may cast in between.
    """
    if np.can_cast(computed, out):
        return
    size = operand.shape.num_elements()
    if ufunc not in _STARTING_FROM_INTEGERS or size is None or size > np.getbufsize():
        raise NoGraphFormError(f"{ufunc.__name__}.reduce in {computed} into an output of {out}")


def check_memory(numpy: Any, out: Any) -> None:
    """Check that a function which passes its output to C accepts this output.

    Raises:
        ValueError: the function refuses it. (NumPy cannot decide, because a copy on the host would be
            contiguous.)
    """
    if numpy is np.dot and is_array(out) and not out.flags.c_contiguous:
        raise ValueError("output array is not acceptable (must be a C-array)")


def check_fit(numpy: Any, out: Any, result: Any) -> None:
    """Check that a function with requirements for its output accepts this output.

    Raises:
        StagingError: only NumPy can decide; usually it refuses the output.
        ValueError: the shape does not fit.
    """
    if numpy not in _BROADCAST_FUNCTIONS:
        check_shape(out, result)
    if numpy in _INEXACT and result.dtype.kind in "fc" and out.dtype.kind not in "fc":
        raise NoGraphFormError(f"an output of {out.dtype} for a result with a fraction")
    if numpy in _LIKE:
        fits = out.shape == result.shape and out.dtype == result.dtype
    else:
        fits = numpy not in _SAFE_CASTS or (
            out.shape == result.shape and np.can_cast(out.dtype, result.dtype, "safe")
        )
    if not fits:
        raise NoGraphFormError(f"an output of {out.dtype} for a result of {result.dtype}")


def check_shape(out: Any, result: Any) -> None:
    """Check that a result fits into `out` without broadcasting."""
    target = out[0] if isinstance(out, tuple) and len(out) == 1 else out
    if target is Ellipsis:
        raise ValueError("out=..., which NumPy handles")
    if isinstance(target, tuple) or target is None:
        return
    result_shape, have = tf.TensorShape(result.shape), tf.TensorShape(target.shape)
    if result_shape.is_fully_defined() and have.is_fully_defined() and result_shape != have:
        raise ValueError(f"output array has shape {tuple(have)}, the result has shape {tuple(result_shape)}")


def _check_shapes(result: Any, out: Any) -> None:
    result_shape, have = tf.TensorShape(result.shape), tf.TensorShape(out.shape)
    if not result_shape.is_fully_defined() or not have.is_fully_defined():
        return
    pairs = zip(reversed(result_shape.as_list()), reversed(have.as_list()), strict=False)
    if result_shape.rank > have.rank or any(n not in (1, m) for n, m in pairs):
        raise broadcast_error(out, result)


def compute_update(ufunc: Any, array: Any, operand: Any) -> Any:
    """Return the result that an in-place operation assigns to an array.

    Raises:
        TypeError: the result cannot be cast to the array's dtype under the 'same_kind' rule.
        ValueError: the array is read-only, or the operands cannot be broadcast.
    """
    if array.is_read_only:
        raise ValueError("output array is read-only")
    try:
        result = ufunc(array, operand)
    except ValueError:
        # NumPy, which is given the output, checks its dtype before it checks any shape.
        ufunc(array, operand, out=array)
        raise
    if is_array(result) and not np.can_cast(result.dtype, array.dtype, "same_kind"):
        raise casting_error(ufunc.numpy, result.dtype, array.dtype)
    return result


def broadcast_error(out: Any, result: Any) -> ValueError:
    """Return NumPy's error for a result of a larger shape than the output's."""
    return ValueError(
        f"non-broadcastable output operand with shape {tuple(out.shape)} doesn't match the broadcast shape "
        f"{tuple(result.shape)}"
    )


def casting_error(
    ufunc: np.ufunc, result: np.dtype[Any], out: np.dtype[Any], casting: str = "same_kind"
) -> TypeError:
    """Return NumPy's error for a result that a casting rule does not allow in an output array."""
    error = np._core._exceptions._UFuncOutputCastingError  # type: ignore[attr-defined]
    return error(ufunc, casting, result, out, 0)
