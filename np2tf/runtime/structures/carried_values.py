"""The values that staged loops and branches carry: the form of each value, and the common form of two values.

A structure (tuple, list, dict) is flattened to leaves. A leaf that a loop or branch may change is *carried*
as a tensor. `Carried` gives its form: an array, a number with a NumPy dtype, or a Python number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.operators.undefined import Undefined
from np2tf.pytree.containers import LIST, TUPLE, Container
from np2tf.pytree.registry import STRUCTURES, Registry
from np2tf.staging import RankChangeError, ShapeNeededError
from np2tf.tnp._array.ndarray import (
    chain_of,
    is_array,
    is_c_ordered,
    ndarray,
    scalar,
    storage_of,
    tensor_scalar,
    weak_scalar,
)
from np2tf.tnp._array.sequences import StackableSequence
from np2tf.tnp._array.strides import lay_out, order_of_copy
from np2tf.tnp._operands.conversion import as_tensor, cast
from np2tf.tnp._operands.path_dependent import PathDependentKind, path_dependence_error, path_dependent_scalar
from np2tf.tnp._operands.promotion import has_tf_dtype, result_type_of, tf_dtype
from np2tf.tnp._operands.python_scalars import is_weak, weak_kind, weak_tensor
from np2tf.tnp._operands.widened_storage import unguarded_array
from np2tf.tnp._ragged.ragged_array import RAGGED
from np2tf.tnp._tensor.index_bounds import record_violation
from np2tf.tnp._tensor.storage import Storage
from np2tf.tnp._tensor.symint import SymInt


class GuardedStorage(Storage):
    """The storage of a name for which only the run time knows whether it is bound.

    Reading the storage while the name is unbound is a violation: the host repeats the call, where Python
    raises UnboundLocalError. Carrying the value through loops and branches (`Carried.tensors`) does not count
    as reading.
    """

    __slots__ = ("is_bound", "name")

    def __init__(self, value: tf.Tensor, is_bound: tf.Tensor, name: str) -> None:
        super().__init__(value)
        self.is_bound = is_bound
        self.name = name

    @property
    def value(self) -> tf.Tensor:
        """The value. Reading it while the name is unbound discards the call."""
        record_violation(tf.logical_not(self.is_bound))
        return super().value

    def write(self, value: tf.Tensor) -> None:
        """Write through the name, which must be bound for that."""
        _ = self.value
        super().write(value)


@dataclass(frozen=True)
class Carried:
    """The form of a carried leaf.

    Attributes:
        dtype, shape: the dtype and shape of the tensor.
        weak: the type of a Python number; None for a value with a NumPy dtype.
        number: whether this is a number, and not an array of rank 0.
        optional: the name of a variable that may be unbound; a flag is then carried with the value.
        path_dependent: the types of a number that is Python's on some paths; a flag tells the path. `dtype`
            holds both types.
        order: the memory order of an array; None for C order, also if the order differs between paths.
    """

    dtype: np.dtype[Any]
    shape: tuple[int | None, ...]
    weak: type | None = None
    number: bool = False
    optional: str | None = None
    path_dependent: PathDependentKind | None = None
    order: tuple[int, ...] | None = None

    def tensors(self, value: Any) -> list[tf.Tensor]:
        """Return the carried tensors of `value`: itself, and flags that only the run time knows."""
        guard = _guard(value)
        tensors = [self.tensor(value) if guard is None else tf.cast(guard._value, tf_dtype(self.dtype))]
        if self.path_dependent is not None:
            tensors.append(_is_python(value))
        if self.optional is not None:
            tensors.append(tf.constant(not isinstance(value, Undefined)) if guard is None else guard.is_bound)
        return tensors

    def of(self, tensors: Iterator[tf.Tensor]) -> Any:
        """Return the staged value for the next carried tensors."""
        tensor = next(tensors)
        if self.path_dependent is not None:
            value: Any = path_dependent_scalar(tensor, self.path_dependent, next(tensors))
        else:
            value = self.value(tensor)
        if self.optional is not None:
            value.move_to(GuardedStorage(storage_of(value)._value, next(tensors), self.optional))
        return value

    def specs(self) -> list[tf.TensorSpec]:
        """Return the shapes and dtypes of the carried tensors."""
        flags = (self.path_dependent is not None) + (self.optional is not None)
        return [tf.TensorSpec(self.shape, tf_dtype(self.dtype)), *[tf.TensorSpec((), tf.bool)] * flags]

    def tensor(self, value: Any) -> tf.Tensor:
        """Return `value` as the tensor that is carried."""
        if isinstance(value, Undefined):
            return tf.zeros([size or 0 for size in self.shape], tf_dtype(self.dtype))
        if self.weak is not None:
            return weak_tensor(value, self.weak)
        if self.path_dependent is not None:
            return _wide(value, self.path_dependent)
        return cast(as_tensor(value), self.dtype)

    def value(self, tensor: tf.Tensor) -> Any:
        """Return the staged array or number for the carried tensor."""
        if self.weak is not None:
            integer = SymInt.fresh(tensor) if self.weak is int else None
            return weak_scalar(tensor, self.weak, integer)
        return tensor_scalar(tensor) if self.number else lay_out(tensor, self.order)


def describe_form(form: Carried) -> str:
    """Return a form in words: its kind, dtype and shape, with a question mark for a length that varies."""
    if form.weak is not None:
        return f"a Python {form.weak.__name__}"
    if form.number:
        return f"a number of {form.dtype}"
    sizes = ["?" if size is None else str(size) for size in form.shape]
    shape = f"({sizes[0]},)" if len(sizes) == 1 else f"({', '.join(sizes)})"
    return f"an array of {form.dtype} and shape {shape}"


def _guard(value: Any) -> GuardedStorage | None:
    """Return the guarded storage of a value that may be unbound."""
    storage = storage_of(value) if is_array(value) else None
    return storage if isinstance(storage, GuardedStorage) and not chain_of(value) else None


def check_returned(result: Any) -> Any:
    """Return a function's result. The call is discarded if a name in the result is unbound."""
    for value in result if type(result) is tuple else (result,):
        guard = _guard(value)
        if guard is not None:
            record_violation(tf.logical_not(guard.is_bound))
    return result


def _is_python(value: Any) -> tf.Tensor:
    if type(value) is scalar and value.path_dependent is not None:
        return value.python
    return tf.constant(is_weak(value))


def _wide(value: Any, kinds: PathDependentKind) -> tf.Tensor:
    """Return a number in the type that holds both Python's and NumPy's number."""
    if is_weak(value):
        return weak_tensor(value, kinds.weak)
    if type(value) is scalar and value.path_dependent is not None:
        return cast(value.tensor, kinds.wide)
    return cast(cast(as_tensor(value), kinds.dtype), kinds.wide)


def form_of(value: Any) -> Carried | None:
    """Return the form of `value`; None if it is no number or array."""
    guard = _guard(value)
    if guard is not None:
        number = type(value) is scalar
        weak, kinds = (value.weak, value.path_dependent) if number else (None, None)
        dtype = np.dtype(guard._value.dtype.as_numpy_dtype)
        return Carried(dtype, _static_shape(guard._value), weak, number, guard.name, kinds)
    if is_weak(value):
        kind = weak_kind(value)
        return Carried(np.dtype(_WEAK_DTYPE[kind]), (), kind, True)
    if isinstance(value, np.generic):
        return Carried(value.dtype, (), None, True) if has_tf_dtype(value.dtype) else None
    if type(value) is np.ndarray:
        return Carried(value.dtype, value.shape, order=_order(value)) if has_tf_dtype(value.dtype) else None
    if is_array(value):
        value = unguarded_array(value)
        tensor = value.tensor
        number = type(value) is scalar
        return Carried(
            value.dtype,
            _static_shape(tensor),
            None,
            number,
            path_dependent=value.path_dependent if number else None,
            order=_order(value),
        )
    if isinstance(value, tf.Tensor):
        return Carried(np.dtype(value.dtype.as_numpy_dtype), _static_shape(value))
    return None


def _order(value: Any) -> tuple[int, ...] | None:
    return None if is_c_ordered(value) else order_of_copy(value, "K")


_WEAK_DTYPE = {bool: np.bool_, int: np.int64, float: np.float64, complex: np.complex128}


def _static_shape(tensor: tf.Tensor) -> tuple[int | None, ...]:
    if tensor.shape.rank is None:
        raise ShapeNeededError("an array of unknown rank in a staged loop or branch")
    return tuple(tensor.shape.as_list())


def join(a: Carried, b: Carried, subject: str) -> Carried:
    """Return the common form of a leaf that has sometimes form `a` and sometimes form `b`, widened as NumPy
    would.

    Raises:
        StagingError: if the forms have different ranks.
    """
    if a == b:
        return a
    if a.optional != b.optional:
        name = a.optional or b.optional
        return join(replace(a, optional=name), replace(b, optional=name), subject)
    if len(a.shape) != len(b.shape):
        raise RankChangeError(f"{subject} is sometimes of shape {a.shape} and sometimes of shape {b.shape}")
    shape = tuple(m if m == n else None for m, n in zip(a.shape, b.shape, strict=True))
    if a.weak is not None and b.weak is not None:
        kind = max(a.weak, b.weak, key=_WEAK_ORDER.index)
        return Carried(np.dtype(_WEAK_DTYPE[kind]), (), kind, True, a.optional)
    dtype = result_type_of((_promotion_kind(a), _promotion_kind(b)))
    if (
        a.number
        and b.number
        and dtype.kind != "b"
        and any(form.weak or form.path_dependent for form in (a, b))
    ):
        kinds = _path_dependent_kinds(dtype, a, b)
        return Carried(kinds.wide, (), None, True, a.optional, kinds)
    return Carried(dtype, shape, None, a.number and b.number, a.optional)


def is_widened(form: Carried | None, common: Carried | None) -> bool:
    """Return whether an array is carried with another dtype than its own. Numbers do not count: they stay
    equal.
    """
    if form is None or common is None or form.number or common.number:
        return False
    return form.dtype != common.dtype


def _path_dependent_kinds(dtype: np.dtype[Any], *forms: Carried) -> PathDependentKind:
    """Return the types of a number that is sometimes Python's and sometimes of a dtype.

    Raises:
        StagingError: if no TensorFlow type holds both.
    """
    weak = [form.path_dependent.weak if form.path_dependent is not None else form.weak for form in forms]
    of_dtype = {"f": float, "c": complex}.get(dtype.kind, int)
    kind = max(
        (kind_of_number for kind_of_number in (*weak, of_dtype) if kind_of_number is not None),
        key=_WEAK_ORDER.index,
    )
    kinds = PathDependentKind(kind, dtype)
    if not np.can_cast(dtype, kinds.wide):
        raise path_dependence_error(kinds)
    return kinds


_WEAK_ORDER = (bool, int, float, complex)


def _promotion_kind(form: Carried) -> Any:
    if form.path_dependent is not None:
        return form.path_dependent.dtype
    return form.weak if form.weak in (int, float, complex) else form.dtype


def are_same(a: Any, b: Any) -> bool:
    """Return whether two leaves are certainly the same value: the same object, view, or equal Python
    constant.
    """
    if a is b:
        return True
    if is_array(a) and is_array(b):
        return _same_memory(a, b)
    if type(a) is not type(b):
        return False
    if isinstance(a, (int, float, complex, bool, str, bytes)):
        return a == b and repr(a) == repr(b)
    return isinstance(a, Undefined)


def _same_memory(a: ndarray, b: ndarray) -> bool:
    return type(a) is type(b) and storage_of(a) is storage_of(b) and chain_of(a) == chain_of(b)


# -- structures ----------------------------------------------------------------------------------------------

#: The containers in the state of a loop and in the result of a branch: structures with staged lists.
STATE = STRUCTURES | (
    RAGGED,
    Container(
        lambda kind: issubclass(kind, StackableSequence),
        keys=lambda value: range(len(value.flatten()[0])),
        items=lambda value: value.flatten()[0],
        builder=lambda value: value.flatten()[1],
        fill=lambda target, source: target.take(source),
        outline=lambda value: value.flatten()[2],
    ),
)
flatten = STATE.flatten


def like(value: Any, pattern: Any) -> Any:
    """Return `value` with each unbound name in it replaced by the structure that `pattern` has at its
    place.
    """
    if isinstance(value, Undefined):
        leaves, rebuild, _ = flatten(pattern)
        return rebuild([value] * len(leaves))
    return _SEQUENCES.zip_items(like, value, pattern)


_SEQUENCES = Registry(LIST, TUPLE)
