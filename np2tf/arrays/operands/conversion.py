"""Operands as tensors and results as NumPy's objects: foreign operands, numbers that do not fit,
__array__.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.arrays.array.layout import lay_out_copy
from np2tf.arrays.array.ndarray import (
    array_over,
    arrays_of_rows,
    is_array,
    is_c_ordered,
    is_unsupported_dtype,
    ndarray,
    scalar,
    tensor_array,
)
from np2tf.arrays.array.sequences import StackableSequence
from np2tf.arrays.front.flags import transform_depth
from np2tf.arrays.front.residency import CONTAINERS, PLAIN, Kinds, holds
from np2tf.arrays.operands.axes import MOST_AXES
from np2tf.arrays.operands.differentiated_values import refuse_tensors
from np2tf.arrays.operands.numpy_warnings import user_location, warn_cast
from np2tf.arrays.operands.path_dependent import dtype_of_kind, main_number, plain_number
from np2tf.arrays.operands.promotion import default_dtype, has_array_protocol, kind_of, result_type, tf_dtype
from np2tf.arrays.tensors.dtype_dispatch import to_half, to_signed, to_unsigned
from np2tf.arrays.tensors.storage import current_scope, resolve_stand_ins
from np2tf.arrays.tensors.tapes import are_recorded
from np2tf.arrays.tensors.violations import record_only_if, record_violation
from np2tf.core import late
from np2tf.core.errors import (
    OF_ROWS,
    ArrayClassError,
    GradientLostError,
    RaggedError,
    UnsupportedDtypeError,
    ValueNeededError,
)

# -- foreign operands ----------------------------------------------------------------------------------------
# Operands of TensorFlow and Keras that are no tensors: what the functions of `tnp` take in their place.
#
# A variable of Keras, and whatever else has TensorFlow's protocol ``__tf_tensor__``, is its tensor. A
# ragged tensor is a ragged array. A sparse tensor, or Keras' placeholder of a tensor, is refused with the
# remedy.

#: The classes of operands that are replaced.
_REPLACED = Kinds(lambda kind: _replacement(kind) is not None)


def replace_operands(values: Iterable[Any]) -> tuple[Any, ...]:
    """Return operands with tensors and arrays in the place of other objects of TensorFlow and Keras.

    Raises:
        TypeError: an operand has no array, such as a sparse tensor.
    """
    return tuple([_replace(value) for value in values])


def call_replaced(function: Callable[..., Any], args: Iterable[Any], kwargs: dict[str, Any]) -> Any:
    """Call a function with such operands replaced. Ragged tensors give a ragged tensor."""
    result = function(*replace_operands(args), **dict(zip(kwargs, replace_operands(kwargs.values()))))
    return result.tensor if type(result) in arrays_of_rows else result


def are_known(values: Collection[Any]) -> bool:
    """Return whether all operands stay as they are."""
    return not holds(values, _REPLACED)


def _replace(value: Any) -> Any:
    kind = type(value)
    if kind in _REPLACED.others:
        return value
    if kind is dict:
        return {name: _replace(item) for name, item in value.items()}
    if kind in CONTAINERS:
        return kind(map(_replace, value))
    replacement = _replacement(kind)
    return value if replacement is None else replacement(value)


def _replacement(kind: type) -> Callable[[Any], Any] | None:
    """Return the function that replaces an operand of a class; None if the operand stays."""
    if issubclass(kind, (tf.Tensor, tf.Variable)):
        return None
    if issubclass(kind, tf.RaggedTensor):
        return _ragged
    if issubclass(kind, tf.SparseTensor):
        return _sparse
    if issubclass(kind, tf.IndexedSlices):
        return tf.convert_to_tensor
    if kind.__name__ == "KerasTensor" and kind.__module__.partition(".")[0] == "keras":
        return _placeholder
    is_keras = kind.__module__.partition(".")[0] == "keras"
    return tf.convert_to_tensor if is_keras and hasattr(kind, "__tf_tensor__") else None


def _ragged(tensor: tf.RaggedTensor) -> Any:
    return late.arrays.ragged_array_of(tensor)


def _sparse(tensor: tf.SparseTensor) -> Any:
    raise TypeError(
        "a tf.SparseTensor is not an array: use the functions of tf.sparse, or make it dense with "
        "tf.sparse.to_dense(x)"
    )


def _placeholder(tensor: Any) -> Any:
    raise TypeError(
        "a KerasTensor has no values: call the function in a layer, such as "
        "keras.layers.Lambda(lambda x: tnp.sin(x))"
    )


# -- value range ---------------------------------------------------------------------------------------------
# Range checks for numbers that are written into arrays of a narrower type: NumPy refuses some of them.
#
# Every integer type refuses a Python number that it cannot hold. Only signed integers refuse a NumPy number
# that does not fit, because NumPy asks Python for its integer; in unsigned integers the number wraps.
# Arrays wrap in both.


def check_fits(number: scalar, dtype: np.dtype[Any]) -> None:
    """Check that NumPy accepts a staged number for an array of a dtype; otherwise discard the call.

    Raises:
        TypeError: a complex Python number is written into an array of real numbers.
    """
    if number.weak is complex and dtype.kind in "iuf":
        np.empty(1, dtype)[0] = 1j
    if not tf.executing_eagerly() and _may_be_refused(number, dtype) and not _certainly_fits(number, dtype):
        record_violation(_is_beyond(number.tensor, dtype))


def refuse_unfit(value: Any, dtype: np.dtype[Any]) -> None:
    """Check that NumPy accepts a known number for one element of an array of a dtype.

    Raises:
        OverflowError, ValueError: NumPy refuses the number.
    """
    if isinstance(value, np.generic) and type(value) is not scalar:
        if dtype.kind == "i" and value.dtype.kind in "fmM" and not np.can_cast(value.dtype, dtype):
            np.empty(1, dtype)[0] = value
    elif type(value) is scalar and tf.executing_eagerly() and _may_be_refused(value, dtype):
        number = value.contents()[()]
        # (NumPy's own complex numbers lose their imaginary part.)
        np.empty(1, dtype)[0] = number if value.weak is complex else number.real


def _may_be_refused(number: scalar, dtype: np.dtype[Any]) -> bool:
    source_dtype = number.tensor.dtype
    if dtype.kind not in "iu" or source_dtype == tf_dtype(dtype):
        return False
    if number.weak is not None:
        return True
    return dtype.kind == "i" and not np.can_cast(source_dtype.as_numpy_dtype, dtype)


def _certainly_fits(number: scalar, dtype: np.dtype[Any]) -> bool:
    if number.tensor.dtype == tf.bool:
        return True
    integer, ends = number.staged_integer, np.iinfo(dtype)
    if integer is None or integer.low is None or integer.high is None:
        return False
    return bool(ends.min <= integer.low and integer.high <= ends.max)


def _is_beyond(tensor: tf.Tensor, dtype: np.dtype[Any]) -> tf.Tensor:
    """Return whether the integer part of a number is out of the range of `dtype`."""
    ends = np.iinfo(dtype)
    if tensor.dtype.is_floating:
        wide = tf.cast(tensor, tf.float64)
        # No float64 lies between -2**63 - 1 and -2**63, and the greatest integer is rounded to 2**63.
        above = wide >= float(ends.min) if dtype.itemsize == 8 and ends.min else wide > float(ends.min) - 1
        return tf.logical_not(above & (wide < float(ends.max) + (dtype.itemsize < 8)))
    if tensor.dtype == tf.uint64:
        return tensor > tf.constant(ends.max, tf.uint64)
    wide = tf.cast(tensor, tf.int64)
    beyond = wide < ends.min
    return beyond if ends.max > tf.int64.max else beyond | (wide > ends.max)


# -- conversion ----------------------------------------------------------------------------------------------
# Conversion of operands to tensors, and of results to objects that NumPy accepts.


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
            raise ValueNeededError("the value of a tensor is needed during compilation")
        if not may_leave:
            refuse_tensors(None, (value,))
        return value.numpy()
    return value.__array__() if kind in arrays_of_rows else value


def as_tensor(value: Any, dtype: Any = None) -> tf.Tensor:
    """Return a value that NumPy takes for an array as a tensor, of NumPy's dtype unless one is given.

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
    if are_recorded(value.tensor if is_array(value) else value for value in values):
        place = "{}:{}: ".format(*user_location()) if transform_depth.depth else ""
        raise GradientLostError(
            f"{place}a tensor that a gradient tape follows is written into a NumPy array, where its "
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


# -- array protocol ------------------------------------------------------------------------------------------
# Objects whose `__array__` returns an array on TensorFlow, which NumPy's own functions refuse.

#: NumPy's message for an object whose `__array__` did not return an np.ndarray.
_REFUSAL = "__array__ method not producing an array"


class _ArrayProtocolWrapper:
    """A wrapper of an object with `__array__`: if this returns a tensor, the wrapper returns np.ndarray."""

    def __init__(self, original: Any) -> None:
        self._original = original

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        return to_numpy(self._original.__array__(*args, **kwargs))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._original, name)


def _wrap_for_numpy(value: Any, depth: int = MOST_AXES, *, may_leave: bool = False) -> Any:
    """Return `value` for NumPy, with every object that has `__array__` wrapped (see `to_numpy`)."""
    kind = type(value)
    if kind in (list, tuple) and depth:
        return kind([_wrap_for_numpy(item, depth - 1, may_leave=may_leave) for item in value])
    if is_array(value) or isinstance(value, (np.ndarray, np.generic)) or not hasattr(kind, "__array__"):
        return to_numpy(value, may_leave=may_leave)
    return _ArrayProtocolWrapper(value)


def call_with_protocol(
    function: Callable[..., Any], args: Iterable[Any], kwargs: Mapping[str, Any], *, may_leave: bool = False
) -> Any:
    """Call a function of NumPy, with its positional arguments converted here.

    If it refuses the result of an `__array__`, call it again with wrapped objects.
    """
    args = tuple(args)
    try:
        return function(*(to_numpy(arg, may_leave=may_leave) for arg in args), **kwargs)
    except ValueError as error:
        if _REFUSAL not in str(error):
            raise
    wrap = functools.partial(_wrap_for_numpy, may_leave=may_leave)
    return function(*map(wrap, args), **{name: wrap(value) for name, value in kwargs.items()})
