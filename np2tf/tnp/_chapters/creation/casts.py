"""`astype`: the function and the method."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.counts import counts
from np2tf.tnp._array.dtypes import is_unsupported_dtype
from np2tf.tnp._array.layout_probes import is_laid_out
from np2tf.tnp._array.ndarray import is_array, ndarray, wrap_tensor
from np2tf.tnp._array.strides import lay_out_copy
from np2tf.tnp._dispatch.argument_types import DType, memory_order
from np2tf.tnp._dispatch.eager_fast_path import convert
from np2tf.tnp._dispatch.op import attach, op
from np2tf.tnp._operands.conversion import as_view, convert_assigned

__all__ = ["astype"]


@op(np.astype)
def astype(x: Any, dtype: DType, /, *, copy: bool = True, device: Any = None) -> ndarray:
    """Return an array in another dtype.

    Args:
        x: array of any dtype and shape.
        dtype: the new dtype.
        copy: False returns `x` itself if its dtype does not change.
        device: None or "cpu".

    Returns:
        An array in the shape of `x`, of the new dtype.

    Raises:
        TypeError: `x` is not an array.

    See https://numpy.org/doc/stable/reference/generated/numpy.astype.html.
    """
    if not is_array(x) and not isinstance(x, (np.ndarray, np.generic, tf.Tensor, tf.Variable)):
        raise TypeError(f"Input should be a NumPy array or scalar. It is a {type(x)} instead.")
    result: ndarray = _astype_method(as_view(x), dtype, copy=copy)
    return result


def _astype_method(
    a: ndarray, dtype: Any, order: Any = "K", casting: str = "unsafe", subok: bool = True, copy: bool = True
) -> Any:
    if copy is True and casting == "unsafe" and order == "K":
        direct = convert(a, dtype)
        if direct is not None:
            return direct
    target_dtype = np.dtype(getattr(dtype, "as_numpy_dtype", dtype))
    have = a.dtype
    if not np.can_cast(have, target_dtype, casting):  # type: ignore[arg-type]
        raise TypeError(
            f"Cannot cast array data from {have!r} to {target_dtype!r} according to the rule {casting!r}"
        )
    if isinstance(copy, np._CopyMode):  # type: ignore[attr-defined]
        raise ValueError("_CopyMode enum is not allowed for astype function. Use true/false instead.")
    letter = memory_order(order)
    if not copy and have == target_dtype and is_laid_out(a, letter):
        return a
    if is_unsupported_dtype(target_dtype) or not target_dtype.isnative:
        counts.host += 1
        has_no_derivative = target_dtype.kind not in "OVfc"
        return np.array(a.contents() if has_no_derivative else a.numpy()).astype(target_dtype)
    tensor = convert_assigned(a, target_dtype)
    return wrap_tensor(tensor) if type(a) is not ndarray else lay_out_copy(tensor, a, letter)


attach("astype", _astype_method)
