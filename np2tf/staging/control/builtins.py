"""int, float, sum, len, min, max … for staged values."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.arrays.array.ndarray import is_array, scalar, tensor_array, tensor_scalar, weak_scalar
from np2tf.arrays.operands.differentiated_values import is_followed
from np2tf.arrays.operands.staged_numbers import is_undecided, is_weak, of_each_kind, weak_binary, weak_kind
from np2tf.arrays.ragged import RaggedArray
from np2tf.arrays.tensors.axis_reductions import reduce_all, reduce_any, reduce_max, reduce_min, reduce_sum
from np2tf.arrays.tensors.storage import current_scope
from np2tf.arrays.tensors.symbolic_integers import SymInt
from np2tf.arrays.tensors.violations import record_violation
from np2tf.core.errors import ValueNeededError
from np2tf.staging.control.iterables import sequence
from np2tf.staging.control.statements import and_, cond, for_loop, or_
from np2tf.staging.values.number_list import NumberList
from np2tf.staging.values.staged_list import StagedList

# -- builtins ------------------------------------------------------------------------------------------------
# Python's functions of numbers and sequences, for staged values: `np2tf.int`, `np2tf.sum`, `np2tf.len` …
#
# For Python and host values they do what the builtins do.

#: The limit for staged integers, so that the sum of two of them fits 64 bits; Python's integers have no
#: limit.
LIMIT = 2**62


def is_staged(value: Any) -> builtins.bool:
    """Return whether a number or array is known only at run time."""
    if not is_array(value):
        return False
    if is_undecided(value):
        return True
    tensor = value.tensor
    return not hasattr(tensor, "numpy") and tf.get_static_value(tensor) is None


def _single(value: Any) -> tf.Tensor:
    tensor = value.tensor
    if tensor.shape.num_elements() != 1:
        raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
    return tf.reshape(tensor, [])


def int(*args: Any, **kwargs: Any) -> Any:
    """Return ``int(x)``: for a staged float, the integer towards zero.

    Args:
        *args, **kwargs: as for the builtin; x may be a staged number, or an array of one element and any real
            dtype.

    Returns:
        A Python integer, staged if x is. A staged value that may not fit 64 bits discards the call.

    Raises:
        TypeError: if x is staged and complex, or has several elements.

    See https://docs.python.org/3/library/functions.html#int.
    """
    if len(args) != 1 or kwargs or not is_staged(args[0]):
        return builtins.int(*args, **kwargs)
    if is_undecided(args[0]):
        return of_each_kind(int, args[0])
    if type(args[0]) is scalar and args[0].weak is builtins.int:
        return args[0]
    return whole(_single(args[0]))


def whole(tensor: tf.Tensor) -> Any:
    """Return a number as a staged Python integer; a number that is too large discards the call."""
    if tensor.dtype.is_floating:
        wide = tf.cast(tensor, tf.float64)
        record_violation(tf.logical_not(tf.abs(wide) < float(LIMIT)))
        integer = tf.cast(wide, tf.int64)
        return weak_scalar(integer, builtins.int, SymInt.fresh(integer, -LIMIT, LIMIT))
    if tensor.dtype.is_complex:
        raise TypeError(
            "int() argument must be a string, a bytes-like object or a real number, not 'complex'"
        )
    integer = tf.cast(tensor, tf.int64)
    if tensor.dtype == tf.bool:
        return weak_scalar(integer, builtins.int, SymInt.fresh(integer, 0, 1))
    if tensor.dtype.size < 8:
        return weak_scalar(integer, builtins.int, SymInt.fresh(integer, tensor.dtype.min, tensor.dtype.max))
    record_violation((integer >= LIMIT) | (integer <= -LIMIT))
    return weak_scalar(integer, builtins.int, SymInt.fresh(integer, -LIMIT, LIMIT))


def float(*args: Any) -> Any:
    """Return ``float(x)``.

    Args:
        *args: as for the builtin; x may be a staged number, or an array of one element and any real dtype. A
            number that a transform differentiates stays on TensorFlow.

    Raises:
        TypeError: if x is staged and complex, or has several elements.

    See https://docs.python.org/3/library/functions.html#float.
    """
    if len(args) != 1 or not (is_staged(args[0]) or is_followed(args[0])):
        return builtins.float(*args)
    if is_undecided(args[0]):
        return of_each_kind(float, args[0])
    tensor = _single(args[0])
    if tensor.dtype.is_complex:
        raise TypeError("float() argument must be a string or a real number, not 'complex'")
    return weak_scalar(tf.cast(tensor, tf.float64), builtins.float)


def complex(*args: Any, **kwargs: Any) -> Any:
    """Return ``complex(x)``, or ``complex(real, imag)``.

    Args:
        *args, **kwargs: as for the builtin; x may be a staged number, or an array of one element, of any
            dtype, and so may two real parts.

    Raises:
        TypeError: if a part is staged and has several elements.
        ValueNeededError: if one of two parts is complex.

    See https://docs.python.org/3/library/functions.html#complex.
    """
    if kwargs or len(args) not in (1, 2) or not any(is_staged(part) or is_followed(part) for part in args):
        return builtins.complex(*args, **kwargs)
    if len(args) == 2:
        return weak_scalar(tf.complex(*map(_real_part, args)), builtins.complex)
    if is_undecided(args[0]):
        return of_each_kind(complex, args[0])
    return weak_scalar(tf.cast(_single(args[0]), tf.complex128), builtins.complex)


def _real_part(value: Any) -> tf.Tensor:
    """Return a part of a complex number that is made of two real ones."""
    if is_undecided(value):
        value = float(value)
    tensor = _single(value) if is_array(value) else tf.constant(value)
    if tensor.dtype.is_complex:
        raise ValueNeededError("`complex` of two parts of which one is complex")
    return tf.cast(tensor, tf.float64)


def bool(*args: Any) -> Any:
    """Return ``bool(x)``.

    Args:
        *args: as for the builtin; x may be a staged number, an array of one element and any dtype, or a
            staged list.

    See https://docs.python.org/3/library/functions.html#bool.
    """
    if len(args) == 1 and isinstance(args[0], StagedList) and is_array(args[0].count):
        return args[0].count > 0
    if len(args) != 1 or not is_staged(args[0]):
        return builtins.bool(*args)
    return cond(args[0], lambda: True, lambda: False)


def round(number: Any, ndigits: Any = None) -> Any:
    """Return ``round(x)``: the nearest integer, with halves to even.

    Args:
        number: a number, or an array of one element and a floating-point dtype; it may be staged.
        ndigits: the number of digits, which a staged number cannot have.

    Raises:
        StagingError: if `ndigits` is given for a staged number, or the staged number is complex or a bool.

    See https://docs.python.org/3/library/functions.html#round.
    """
    if not is_staged(number):
        return builtins.round(number) if ndigits is None else builtins.round(number, ndigits)
    if is_undecided(number) and ndigits is None:
        return of_each_kind(round, number)
    if ndigits is None and number.tensor.dtype.is_integer:
        return whole(_single(number))
    if ndigits is not None or not number.tensor.dtype.is_floating:
        raise ValueNeededError("round(x, n) of a number known only at run time")
    return whole(tf.round(_single(number)))


def len(value: Any) -> Any:
    """Return ``len(x)``, which may be known only at run time.

    Args:
        value: any value with a length; an array of rank 1 or more and any dtype.

    See https://docs.python.org/3/library/functions.html#len.
    """
    if isinstance(value, StagedList):
        return value.count
    if type(value) is NumberList:
        return value.length
    if type(value) is RaggedArray:
        return value.size
    if is_array(value) and value.shape and is_array(value.shape[0]):
        return value.shape[0]
    return builtins.len(value)


def _values(iterable: Any) -> tf.Tensor | None:
    """Return the items of a sequence as rows of one tensor; None if they must be taken one by one."""
    if isinstance(iterable, StagedList):
        return iterable.values() if iterable.element.outline == "leaf" else None
    if is_staged(iterable) and iterable.shape:
        return iterable.tensor
    return None


def sum(iterable: Any, start: Any = 0) -> Any:
    """Return ``sum(x)``: over the first axis, in the items' own dtype.

    Args:
        iterable: any iterable; an array of rank 1 or more and any dtype.
        start: the value to which the items are added.

    See https://docs.python.org/3/library/functions.html#sum.
    """
    values = _values(iterable)
    if values is None:
        return builtins.sum(iterable, start)
    if isinstance(iterable, StagedList) and iterable.element.forms[0].weak is not None:
        return for_loop(iterable, lambda item, total: total + item, start)
    if values.dtype == tf.bool:
        values = tf.cast(values, tf.int64)
    if values.shape[0] == 0:
        return start
    total = reduce_sum(values, 0)
    return start + (tensor_array(total) if total.shape.rank else tensor_scalar(total))


def any(iterable: Any) -> Any:
    """Return ``any(x)``.

    Args:
        iterable: any iterable; an array of rank 1 or more and any dtype.

    See https://docs.python.org/3/library/functions.html#any.
    """
    values = _values(iterable)
    if values is None or values.shape.rank != 1:
        return _fold(iterable, or_, False, builtins.any)
    return weak_scalar(reduce_any(tf.cast(values, tf.bool)), builtins.bool)


def all(iterable: Any) -> Any:
    """Return ``all(x)``.

    Args:
        iterable: any iterable; an array of rank 1 or more and any dtype.

    See https://docs.python.org/3/library/functions.html#all.
    """
    values = _values(iterable)
    if values is None or values.shape.rank != 1:
        return _fold(iterable, and_, True, builtins.all)
    return weak_scalar(reduce_all(tf.cast(values, tf.bool)), builtins.bool)


def _fold(iterable: Any, join: Any, empty: Any, builtin: Any) -> Any:
    if current_scope() is None:
        return builtin(iterable)
    result: Any = empty
    for item in iterable:
        result = join(result, lambda item=item: bool(item))
        if result is (not empty):
            return result
    return result


def list_of(element: Any, iterable: Any, where: Any = None) -> Any:
    """Return ``[element(item) for item in iterable if where(item)]``.

    Args:
        element: a function of an item. A function of several parameters gets a tuple's items as its
            arguments.
        iterable: any iterable; while staging, ranges, arrays and staged lists become staged loops.
        where: a function of an item that says whether to include it; None to include all items.

    Returns:
        A list, staged if its items come from a staged loop.

    Raises:
        StagingError: if the loop cannot be staged with Python's meaning kept.

    See https://docs.python.org/3/reference/expressions.html#displays-for-lists-sets-and-dictionaries.
    """
    parts = element.__code__.co_argcount > 1
    if parts:
        element_function, predicate = element, where
        element = lambda item: element_function(*item)  # noqa: E731
        where = None if predicate is None else (lambda item: predicate(*item))
    if current_scope() is None or (sequence(iterable) is None and where is None):
        return [element(item) for item in iterable if where is None or where(item)]

    def append(item: Any, items: Any) -> Any:
        items.append(element(item))
        return items

    def step(item: Any, items: Any) -> Any:
        if where is None:
            return append(item, items)
        return cond(where(item), lambda items: append(item, items), lambda items: items, items)

    return for_loop(iterable, step, [])


def extreme(iterable: Any, operation: Any, worst: Any) -> Any:
    """Return the first of the smallest or largest items; None if they must be taken one by one."""
    values = _values(iterable)
    if values is None or values.shape.rank != 1 or values.dtype.is_complex or values.dtype == tf.bool:
        return None
    if not values.shape[0]:
        if values.shape[0] is None:
            record_violation(tf.equal(tf.size(values), 0))
        else:
            return None
    if values.dtype.is_floating:
        # A comparison with NaN is False: a first NaN stays, a later NaN is skipped.
        first = values[0]
        numbers = tf.where(tf.math.is_nan(values), tf.constant(worst * np.inf, values.dtype), values)
        best = tf.where(tf.math.is_nan(first), first, operation(numbers, 0))
    else:
        best = operation(values, 0)
    if isinstance(iterable, StagedList):
        return iterable.element.item([best])
    return tensor_scalar(best)


# -- extrema -------------------------------------------------------------------------------------------------
# `min` and `max` of several values, some of which may be staged; for Python values they are the builtins.


def _best(builtin: Any, values: tuple[Any, ...], operation: str, better: Any) -> Any:
    if not builtins.any(map(is_array, values)):
        return builtin(*values)
    best = values[0]
    for value in values[1:]:
        if _is_integer(value) and _is_integer(best):
            best = weak_binary(operation, value, best)
        else:
            best = cond(better(value, best), lambda value=value: value, lambda best=best: best)
    return best


def _is_integer(value: Any) -> builtins.bool:
    """Return whether `value` is a Python integer, staged or not, whose known bounds are kept."""
    return is_weak(value) and weak_kind(value) is builtins.int


def _among(builtin: Any, iterable: Any, operation: Any, worst: builtins.int) -> Any:
    """Return the smallest or largest of the items of one iterable."""
    best = extreme(iterable, operation, worst)
    if best is not None:
        return best
    items = list(iterable)
    return builtin(items) if builtins.len(items) < 2 else (min if builtin is builtins.min else max)(*items)


def min(*values: Any) -> Any:
    """Return ``min(a, b, ...)`` or ``min(x)``: the first of the smallest values, as the builtin chooses it.

    Args:
        *values: numbers or arrays of one element, or a single iterable; they may be staged.

    See https://docs.python.org/3/library/functions.html#min.
    """
    if builtins.len(values) == 1:
        return _among(builtins.min, values[0], reduce_min, 1)
    return _best(builtins.min, values, "minimum", lambda value, best: value < best)


def max(*values: Any) -> Any:
    """Return ``max(a, b, ...)`` or ``max(x)``: the first of the largest values, as the builtin chooses it.

    Args:
        *values: numbers or arrays of one element, or a single iterable; they may be staged.

    See https://docs.python.org/3/library/functions.html#max.
    """
    if builtins.len(values) == 1:
        return _among(builtins.max, values[0], reduce_max, -1)
    return _best(builtins.max, values, "maximum", lambda value, best: value > best)
