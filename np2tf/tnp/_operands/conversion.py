"""Conversion of operands to tensors, and of results to objects that NumPy accepts."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.eager import record

from np2tf.staging import (
    OF_ROWS,
    ArrayClassError,
    GradientLostError,
    RaggedError,
    UnsupportedDtypeError,
    ValueNeededError,
)
from np2tf.tnp._array.dtypes import is_unsupported_dtype
from np2tf.tnp._array.ndarray import (
    array_over,
    arrays_of_rows,
    is_array,
    is_c_ordered,
    ndarray,
    scalar,
    tensor_array,
)
from np2tf.tnp._array.sequences import StackableSequence
from np2tf.tnp._array.strides import lay_out_copy
from np2tf.tnp._front.operand_kinds import PLAIN
from np2tf.tnp._front.transform_depth import transform_depth
from np2tf.tnp._operands.axis_arguments import MOST_AXES
from np2tf.tnp._operands.foreign_operands import are_known, replace_operands
from np2tf.tnp._operands.path_dependent import dtype_of_kind, main_number, plain_number
from np2tf.tnp._operands.promotion import default_dtype, has_array_protocol, kind_of, result_type, tf_dtype
from np2tf.tnp._operands.value_range import check_fits, refuse_unfit
from np2tf.tnp._tensor.casts import to_half, to_signed, to_unsigned
from np2tf.tnp._tensor.index_bounds import record_only_if, record_violation
from np2tf.tnp._tensor.storage import current_scope, resolve_stand_ins
from np2tf.tnp._warnings.followed_tensors import refuse_tensors
from np2tf.tnp._warnings.user_lines import user_location
from np2tf.tnp._warnings.value_warnings import warn_cast


def to_numpy(value: Any, depth: int = MOST_AXES, *, may_leave: bool = False) -> Any:
    """Return `value` converted for NumPy, with every array in it, also inside tuples, lists and dicts.

    Args:
        value: any object.
        depth: the number of levels of containers to convert; NumPy converts no deeper levels.
        may_leave: whether transforms may differentiate the arrays, because what is made of them has no
            derivative, or is checked.

    Raises:
        StagingError: a value is not known while staging.
        LeftTensorFlowError: a transform differentiates an array that may not leave TensorFlow.
    """
    kind = type(value)
    if kind in PLAIN:
        return value
    if kind is ndarray or kind is scalar:
        array = value.contents() if may_leave else value.numpy()
        return array if kind is ndarray else array[()]
    if kind is tuple or kind is list:
        if not depth or all(type(item) in PLAIN for item in value):
            return value
        return kind([to_numpy(item, depth - 1, may_leave=may_leave) for item in value])
    if kind is dict:
        return {key: to_numpy(item, may_leave=may_leave) for key, item in value.items()}
    if isinstance(value, (tf.Tensor, tf.Variable)):
        if not tf.executing_eagerly():
            raise ValueNeededError("the value of a staged tensor is needed while staging")
        if not may_leave:
            refuse_tensors(None, (value,))
        return value.numpy()
    return value.__array__() if kind in arrays_of_rows else value


def as_tensor(value: Any, dtype: Any = None) -> tf.Tensor:
    """Return `value` as a tensor.

    Args:
        value: a tensor, an array of either kind, a number, or nested sequences of numbers.
        dtype: the dtype of the tensor; None for the dtype that NumPy gives to `value`.

    Raises:
        OverflowError, ValueError: a number does not fit `dtype`.
        StagingError: TensorFlow has no such dtype, or the array is not an input of the function being staged.
    """
    if isinstance(value, tf.Tensor):
        tensor = value
    elif is_array(value):
        if type(value) is scalar and value.alternatives is not None:
            return _in_one_dtype(value, dtype)
        tensor = value.tensor
        if type(value) is scalar and dtype is not None:
            check_fits(value, np.dtype(dtype))
    elif isinstance(value, tf.Variable):
        tensor = value.read_value()
    elif are_known((value,)):
        return _constant(value, dtype)
    else:
        return as_tensor(replace_operands((value,))[0], dtype)
    return tensor if dtype is None else cast(tensor, dtype)


def _in_one_dtype(number: scalar, dtype: Any) -> tf.Tensor:
    """Return a path-dependent number as a tensor: of its main kind, if no dtype is given."""
    if dtype is None:
        return main_number(number).tensor
    alternatives = number.alternatives
    kinds = alternatives.kinds.kinds
    for k, kind in enumerate(kinds):
        with record_only_if(alternatives.flags[k]):
            try:
                check_fits(plain_number(alternatives.tensor(dtype_of_kind(kind)), kind), np.dtype(dtype))
            except TypeError:
                record_violation(tf.constant(True))
    return alternatives.in_dtype(np.dtype(dtype), lambda plain, target: cast(plain.tensor, target))


def as_view(value: Any) -> ndarray:
    """Return `value` as an array on TensorFlow, which shares memory if `value` is one already or is an input.

    Raises:
        StagingError: `value` is an array on the host, and not an input of the function being staged.
    """
    value = resolve_stand_ins(value)
    if is_array(value):
        # A number has no memory to share.
        return tensor_array(as_tensor(value)) if type(value) is scalar else value
    scope = current_scope()
    if scope is not None and isinstance(value, np.ndarray) and not is_numpy_subclass(value):
        return array_over(scope.trace.capture(value))
    return tensor_array(as_tensor(value)) if is_c_ordered(value) else lay_out_copy(as_tensor(value), value)


def refuse_to_lose_gradient(values: Any) -> None:
    """Check that no gradient tape follows a tensor that will be copied into an array on the host.

    Raises:
        StagingError: a tape follows a tensor, whose gradient would be lost.
    """
    if not record.could_possibly_record():
        return
    tensors = [value.tensor for value in values if is_array(value)]
    tensors += [value for value in values if isinstance(value, tf.Tensor)]
    if tensors and record.should_record_backprop(tensors):
        place = "{}:{}: ".format(*user_location()) if transform_depth.depth else ""
        raise GradientLostError(
            f"{place}a tensor that a gradient tape follows is written into an array on the host, where its "
            "gradient would be lost; make the array under the tape, or with np2tf.device_put",
        )


def is_numpy_subclass(value: Any) -> bool:
    """Return whether `value` is of a subclass of np.ndarray (masked, matrix), which only NumPy handles."""
    kind = type(value)
    return kind is not np.ndarray and kind is not np.memmap and issubclass(kind, np.ndarray)


def without_class(value: Any) -> Any:
    """Return an index, or a value that is assigned, as NumPy reads it from an array of another class.

    NumPy asks no class what to do there: `x[series]` means `x[np.asarray(series)]`. While staging, the array
    of such an object is not an input of the trace, and the object stays.
    """
    kind = type(value)
    if kind is np.ndarray or is_array(value) or kind in arrays_of_rows or isinstance(value, np.generic):
        return value
    return np.asarray(value) if has_array_protocol(kind) and tf.executing_eagerly() else value


def cast(tensor: tf.Tensor, dtype: Any) -> tf.Tensor:
    """Return `tensor` in another dtype, converted as ``ndarray.astype`` converts it."""
    target_dtype = tf_dtype(dtype)
    if tensor.dtype == target_dtype:
        return tensor
    if target_dtype == tf.bool:
        return tf.not_equal(tensor, tf.zeros((), tensor.dtype))
    if tensor.dtype.is_complex and not target_dtype.is_complex:
        tensor = tf.math.real(tensor)
    if tensor.dtype.is_floating and target_dtype.is_unsigned:
        return to_unsigned(tensor, target_dtype)
    if tensor.dtype.is_floating and target_dtype.is_integer:
        return to_signed(tensor, target_dtype)
    if tensor.dtype == tf.float64 and target_dtype == tf.float16:
        return to_half(tensor)
    return tf.cast(tensor, target_dtype)


def convert_assigned(value: Any, dtype: Any) -> tf.Tensor:
    """Return `value` as a tensor of `dtype`, with NumPy's warnings about the conversion of assigned values.

    Raises:
        FloatingPointError: a number does not fit, and ``np.errstate`` asks for the error.
    """
    if not is_array(value) and not isinstance(value, (tf.Tensor, tf.Variable)):
        # NumPy converts the value, and warns.
        foreign = tf.executing_eagerly() and type(value) is np.ndarray and is_unsupported_dtype(value.dtype)
        return as_tensor(value.astype(dtype) if foreign else value, dtype)
    # (The class of a staged number does not tell its type, so that NumPy has nothing to warn about.)
    if tf.executing_eagerly() or type(value) is not scalar:
        warn_cast(as_tensor(value), np.dtype(dtype))
    return as_tensor(value, dtype)


def _constant(value: Any, dtype: Any) -> tf.Tensor:
    kind = type(value)
    if kind in (int, float, complex, bool) or isinstance(value, np.generic):
        exact = np.asarray(value, dtype) if dtype is not None else np.asarray(value)
        if is_unsupported_dtype(exact.dtype):
            raise UnsupportedDtypeError.of(dtype=exact.dtype)
        return tf.constant(exact, tf_dtype(exact.dtype))
    if isinstance(value, np.ndarray):
        if is_numpy_subclass(value):
            raise ArrayClassError(f"an array of class {kind.__name__}, for NumPy")
        if is_unsupported_dtype(value.dtype):
            raise UnsupportedDtypeError.of(dtype=value.dtype)
        if current_scope() is not None:
            tensor = current_scope().trace.capture(value).value  # type: ignore[union-attr]
            return tensor if dtype is None else cast(tensor, dtype)
        if dtype is None and not value.dtype.isnative and tf.executing_eagerly():
            # Functions that keep elements as they are keep their byte order, which no tensor has.
            raise UnsupportedDtypeError.of(dtype=value.dtype)
        return tf.constant(np.asarray(value, dtype), tf_dtype(dtype or value.dtype))
    if isinstance(value, StackableSequence):
        return value.stack() if dtype is None else cast(value.stack(), dtype)
    if isinstance(value, (list, tuple)) and _holds_arrays(value):
        item_dtype = default_dtype(kind_of(value)) if dtype is None else dtype
        for item in value:
            refuse_unfit(item, np.dtype(item_dtype))
        return tf.stack([convert_assigned(item, item_dtype) for item in value])
    if kind in arrays_of_rows:
        raise RaggedError(OF_ROWS)
    if has_array_protocol(kind):
        raise ArrayClassError.of(kind=kind.__name__)
    array = np.asarray(to_numpy(value), dtype)
    if is_unsupported_dtype(array.dtype):
        raise UnsupportedDtypeError.of(dtype=array.dtype)
    return tf.constant(array, tf_dtype(array.dtype))


def _holds_arrays(values: Any, depth: int = MOST_AXES) -> bool:
    return any(
        isinstance(item, (tf.Tensor, tf.Variable, np.ndarray))
        or is_array(item)
        or (isinstance(item, (list, tuple)) and depth > 0 and _holds_arrays(item, depth - 1))
        for item in values
    )


def promote(*operands: Any) -> tuple[tf.Tensor, ...]:
    """Return the operands as tensors of their common result type."""
    dtype = result_type(*operands)
    return tuple(as_tensor(operand, dtype) for operand in operands)
