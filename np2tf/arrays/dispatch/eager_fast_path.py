"""The fast path of small eager operations, which calls a kernel of TensorFlow directly.

TensorFlow takes some microseconds for a small operation on tensors; the general handling of arguments takes
several times as long. The fast path therefore recognises the usual calls (operands of one dtype, or a Python
number that fits it) by exact types and dtypes. It calls the kernel by TensorFlow's generated functions, which
record for gradient tapes like any other call. For every other call the fast path returns None, and the
general path takes over.
"""

from __future__ import annotations

from collections.abc import Callable
from math import copysign
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.framework.ops import EagerTensor
from tensorflow.python.ops import gen_array_ops, gen_math_ops

from np2tf.arrays.array.layout import lay_out, lay_out_copy, lay_out_like_operands, order_of_reduced
from np2tf.arrays.array.ndarray import is_c_ordered, ndarray, scalar, tensor_array, tensor_scalar, wrap_tensor
from np2tf.arrays.array.view_transforms import BasicIndexing, Transpose
from np2tf.arrays.front.flags import fast_flags
from np2tf.arrays.front.numpy_state import raises_floating_point_errors
from np2tf.arrays.tensors.storage import Storage
from np2tf.arrays.tensors.symbolic_integers import constant
from np2tf.arrays.tensors.tapes import may_record

# -- eager fast path -----------------------------------------------------------------------------------------

#: A function that returns the result of a call, or None for a call of another kind.
Direct = Callable[[tuple[Any, ...]], Any]


def _enums(*dtypes: tf.DType) -> frozenset[int]:
    return frozenset(dtype.as_datatype_enum for dtype in dtypes)


_DOUBLE = tf.float64.as_datatype_enum
_GREATEST_SINGLE = float(np.finfo(np.float32).max)
_FLOATS = _enums(tf.float32, tf.float64)
_INTS = _enums(tf.int32, tf.int64)
_COMPLEX = _enums(tf.complex64, tf.complex128)
_NUMBERS = _FLOATS | _INTS | _COMPLEX
_INT64 = tf.int64.as_datatype_enum
_BOOL = tf.bool.as_datatype_enum
#: Python integers up to this size are exact in all floating dtypes above, and fit all integer dtypes above.
_EXACT = 2**24


def eager(value: Any) -> Any:
    """Return the eager tensor that an operand holds; None for any other operand."""
    kind = type(value)
    if kind is ndarray or (kind is scalar and value.weak is None):
        tensor = value._storage.value if not value._chain else value.tensor
        return tensor if type(tensor) is EagerTensor else None
    return value if kind is EagerTensor else None


def _wrap(result: Any, operands: tuple[Any, ...], iterated: bool = False) -> Any:
    if type(result) is not EagerTensor:
        return wrap_tensor(result)
    rank = result._rank()
    if rank < 2:
        return tensor_array(result) if rank else tensor_scalar(result)
    array = tensor_array(result)
    for operand in operands:
        if type(operand) is ndarray and (operand._chain or operand._storage.order is not None):
            return lay_out_like_operands(array, operands, iterated=iterated)
    return array


def apply_to_bases(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """Apply an elementwise function to arrays that are all the same permutation of their memory.

    The function is applied to the memory, and the result is the same permutation of the new memory, as in
    NumPy.

    Returns:
        None for any other operands, and if a gradient tape may follow the memory.
    """
    for operand in args:
        if type(operand) is ndarray and operand._chain:
            break
    else:
        return None
    chain: Any = None
    bases = []
    for operand in args:
        if type(operand) is ndarray:
            base = _permuted_base(operand)
            if base is None or (chain is not None and operand._chain[0].permutation != chain[0].permutation):  # type: ignore[attr-defined]
                return None
            chain = operand._chain
            bases.append(base)
        elif type(operand) is int or type(operand) is float:
            bases.append(operand)
        else:
            return None
    shapes = {base._shape_tuple() for base in bases if type(base) is EagerTensor}
    if len(shapes) > 1 or min(shapes.pop(), default=0) < 2 or may_record():
        return None
    result = function(*bases)
    if type(result) is ndarray and not result._chain:
        result._storage.owner_chain = chain
        result.move_to(result._storage, chain)
    return result


def _permuted_base(array: ndarray) -> Any:
    """Return the tensor that an array permutes, if the permutation has not been computed yet; else None."""
    chain = array._chain
    if len(chain) != 1 or type(chain[0]) is not Transpose or array._cache is not None:
        return None
    base = array._storage.value
    return base if type(base) is EagerTensor and array._storage.order is None else None


def _number(value: Any, enum: int) -> Any:
    """Return a Python number that the kernel converts to the other dtype as NumPy does, else None."""
    kind = type(value)
    if kind is float and enum in _FLOATS:
        # TensorFlow keeps the tensors of Python's numbers by their value, and then gives 0.0 for -0.0.
        if not value and copysign(1.0, value) < 0:
            return None
        # NumPy warns about numbers that are infinite in float32.
        return value if enum == _DOUBLE or -_GREATEST_SINGLE <= value <= _GREATEST_SINGLE else None
    if kind is int and -_EXACT <= value <= _EXACT:
        return float(value) if enum in _FLOATS else value if enum in _INTS else None
    return None


def binary(kernel: Callable[[Any, Any], Any], enums: frozenset[int]) -> Direct:
    """Return the fast path of a function of two operands: two arrays of one dtype, or an array and a number.

    For the dtypes `enums` TensorFlow's generated function gives NumPy's results.
    """

    def call(args: tuple[Any, ...]) -> Any:
        first, second = args
        a, b = eager(first), eager(second)
        if a is not None:
            enum = a._datatype_enum()
            if b is None:
                b = _number(second, enum)
            elif b._datatype_enum() != enum:
                return None
        elif b is not None:
            enum = b._datatype_enum()
            a = _number(first, enum)
        if a is None or b is None or enum not in enums or raises_floating_point_errors():
            return None
        return _wrap(kernel(a, b), args)

    return call


def unary(kernel: Callable[[Any], Any], enums: frozenset[int]) -> Direct:
    """Return the fast path of a function of one operand (see `binary`)."""

    def call(args: tuple[Any, ...]) -> Any:
        x = eager(args[0])
        if x is None or x._datatype_enum() not in enums or raises_floating_point_errors():
            return None
        return _wrap(kernel(x), args)

    return call


def reduction(kernel: Callable[[Any, Any], Any], enums: frozenset[int]) -> Direct:
    """Return the fast path of a reduction of an array with elements, over all its axes or one of them."""

    def call(args: tuple[Any, ...]) -> Any:
        x = eager(args[0]) if args else None
        if x is None or len(args) > 2 or x._datatype_enum() not in enums or not x._num_elements():
            return None
        rank = x._rank()
        if len(args) == 1 or args[1] is None:
            axes = tuple(range(rank))
        elif type(args[1]) is int and -rank <= args[1] < rank:
            axes = (args[1] % rank,)
        else:
            return None
        result = kernel(x, constant(axes, tf.int32))
        if is_c_ordered(args[0]):
            return _wrap(result, ())
        return lay_out(result, order_of_reduced(args[0], axes, False)) if rank > len(axes) else None

    return call


def _join(args: tuple[Any, ...]) -> Any:
    if len(args) != 1 or type(args[0]) not in (list, tuple) or not args[0]:
        return None
    tensors = [eager(value) for value in args[0]]
    if any(tensor is None for tensor in tensors) or not all(map(is_c_ordered, args[0])):
        return None
    enum = tensors[0]._datatype_enum()
    if any(tensor._datatype_enum() != enum or not tensor._rank() for tensor in tensors):
        return None
    return tensor_array(gen_array_ops.concat_v2(tensors, constant(0, tf.int32)))


def _choose(args: tuple[Any, ...]) -> Any:
    if len(args) != 3:
        return None
    condition, a, b = map(eager, args)
    if condition is None or a is None or b is None or condition._datatype_enum() != _BOOL:
        return None
    if a._datatype_enum() != b._datatype_enum():
        return None
    result = gen_math_ops.select_v2(condition, a, b)
    return _wrap(result, args, iterated=True) if result._rank() else None


def _product(args: tuple[Any, ...]) -> Any:
    a, b = eager(args[0]), eager(args[1])
    if a is None or b is None or a._rank() != 2 or b._rank() != 2:
        return None
    enum = a._datatype_enum()
    if enum not in _FLOATS or b._datatype_enum() != enum or raises_floating_point_errors():
        return None
    return tensor_array(gen_math_ops.mat_mul(a, b))


#: Conversions in which every number fits, so that NumPy never warns.
_TARGETS = {np.dtype(name): tf.as_dtype(name) for name in ("float32", "float64", "int64")}
_CASTS = {
    tf.float32: _enums(tf.float32) | _INTS,
    tf.float64: _FLOATS | _INTS,
    tf.int64: _INTS,
}


def convert(array: ndarray, dtype: Any) -> Any:
    """Return the result of ``array.astype(dtype)`` with one argument on the fast path, else None."""
    if not fast_flags.is_unstaged:
        return None
    x = eager(array)
    if x is None or type(array) is not ndarray:
        return None
    try:
        target_dtype = _TARGETS.get(np.dtype(dtype))
    except TypeError:
        return None
    if target_dtype is None or x._datatype_enum() not in _CASTS[target_dtype]:
        return None
    return lay_out_copy(x if x.dtype == target_dtype else gen_math_ops.cast(x, target_dtype), array)


def _equal(a: Any, b: Any) -> Any:
    return gen_math_ops.equal(a, b)


#: The name of a ufunc -> the fast path of most of its calls.
UFUNCS: dict[str, Direct] = {
    "add": binary(gen_math_ops.add_v2, _NUMBERS),
    "subtract": binary(gen_math_ops.sub, _NUMBERS),
    "multiply": binary(gen_math_ops.mul, _NUMBERS),
    "less": binary(gen_math_ops.less, _FLOATS | _INTS),
    "less_equal": binary(gen_math_ops.less_equal, _FLOATS | _INTS),
    "greater": binary(gen_math_ops.greater, _FLOATS | _INTS),
    "greater_equal": binary(gen_math_ops.greater_equal, _FLOATS | _INTS),
    "equal": binary(_equal, _NUMBERS),
    "sin": unary(gen_math_ops.sin, _FLOATS),
    "cos": unary(gen_math_ops.cos, _FLOATS),
    "tanh": unary(gen_math_ops.tanh, _FLOATS),
    "negative": unary(gen_math_ops.neg, _NUMBERS),
    "matmul": _product,
}
#: NumPy's function -> the fast path of most of its calls.
FUNCTIONS: dict[Any, Direct] = {
    np.sum: reduction(gen_math_ops._sum, _FLOATS | _COMPLEX | {_INT64}),
    np.mean: reduction(gen_math_ops.mean, _FLOATS),
    np.concatenate: _join,
    np.where: _choose,
}


# -- eager fast path -----------------------------------------------------------------------------------------
# The fast path of small keys of eager tensors: an integer, a slice or a mask, by one kernel.

_FULL = slice(None)
_ENDS = frozenset({int, type(None)})


def get_item(array: ndarray, key: Any) -> Any:
    """Return ``array[key]`` on the fast path; None for any other kind of key or array."""
    kind = type(key)
    tensor = eager(array) if type(array) is ndarray else None
    if tensor is None or not tensor._rank():
        return None
    if kind is int:
        return _element(array, tensor, key)
    if kind is slice:
        return _stretch(array, tensor, key)
    return _get_masked(tensor, key) if kind is ndarray else None


def _element(array: ndarray, tensor: Any, key: int) -> Any:
    shape = tensor._shape_tuple()
    length = shape[0]
    if not -length <= key < length:
        return None
    place = key + length if key < 0 else key
    value = gen_array_ops.strided_slice(
        tensor, constant((place,)), constant((place + 1,)), constant((1,)), 0, 0, 0, 0, 1
    )
    if len(shape) == 1:
        return tensor_scalar(value)
    return _view_with_value(array, (place, *[_FULL] * (len(shape) - 1)), value)


def _stretch(array: ndarray, tensor: Any, key: slice) -> Any:
    if not {type(key.start), type(key.stop), type(key.step)} <= _ENDS or key.step == 0:
        return None
    start, stop, step = key.indices(tensor._shape_tuple()[0])
    if not len(range(start, stop, step)):
        start, stop, step = 0, 0, 1
    # TensorFlow has no number for the place before the first element. A mask bit means "to the end".
    to_the_end = 1 if stop < 0 else 0
    value = gen_array_ops.strided_slice(
        tensor, constant((start,)), constant((max(stop, 0),)), constant((step,)), 0, to_the_end, 0, 0, 0
    )
    return _view_with_value(array, (key, *[_FULL] * (tensor._rank() - 1)), value)


def _view_with_value(array: ndarray, key: tuple[Any, ...], value: Any) -> ndarray:
    """Return a view together with its current value, which is valid until the next write."""
    view = array.view_through(BasicIndexing(key))
    view._cache = (view._storage.value, None, value)  # type: ignore[union-attr]
    return view


def _get_masked(tensor: Any, key: ndarray) -> Any:
    mask = eager(key)
    if mask is None or mask._datatype_enum() != _BOOL or not mask._rank():
        return None
    if mask._shape_tuple() != tensor._shape_tuple()[: mask._rank()]:
        return None
    places = gen_array_ops.where(mask)
    if mask._rank() > 1:
        return tensor_array(gen_array_ops.gather_nd(tensor, places))
    flat = gen_array_ops.reshape(places, constant((-1,), tf.int32))
    return tensor_array(gen_array_ops.gather_v2(tensor, flat, constant(0, tf.int32)))


def set_item(array: ndarray, key: Any, value: Any) -> bool:
    """Write one element of a whole array on the fast path; return False if the call has another form."""
    if type(array) is not ndarray or array._chain or type(array._storage) is not Storage:
        return False
    tensor = array._storage.value
    if type(tensor) is not EagerTensor:
        return False
    shape = tensor._shape_tuple()
    if type(key) is not int or len(shape) != 1 or not -shape[0] <= key < shape[0]:
        return False
    enum = tensor._datatype_enum()
    new = eager(value)
    if new is None:
        new = _number(value, enum)
        if new is None:
            return False
    elif new._rank() or new._datatype_enum() != enum:
        return False
    place = key + shape[0] if key < 0 else key
    array._storage.write(
        gen_array_ops.tensor_strided_slice_update(
            tensor, constant((place,)), constant((place + 1,)), constant((1,)), new, 0, 0, 0, 0, 1
        )
    )
    return True
