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

from np2tf.arrays.array.layout import lay_out, order_of_copy
from np2tf.arrays.array.ndarray import (
    alternatives_of,
    chain_of,
    is_array,
    is_c_ordered,
    ndarray,
    scalar,
    storage_of,
    tensor_scalar,
    weak_scalar,
)
from np2tf.arrays.array.sequences import StackableSequence
from np2tf.arrays.operands.conversion import as_tensor, cast
from np2tf.arrays.operands.path_dependent import (
    Alternatives,
    PathDependentKind,
    any_of,
    dtype_of_kind,
    is_python,
    kind_of_dtype,
    path_dependence_error,
    path_dependent_scalar,
    promoting_kind,
)
from np2tf.arrays.operands.promotion import has_tf_dtype, result_type_of, tf_dtype
from np2tf.arrays.operands.staged_numbers import is_weak, weak_kind, weak_tensor
from np2tf.arrays.operands.widened_storage import unguarded_array
from np2tf.arrays.ragged import RAGGED
from np2tf.arrays.tensors.storage import Storage
from np2tf.arrays.tensors.symbolic_integers import SymInt
from np2tf.arrays.tensors.violations import record_violation
from np2tf.core.containers import LIST, STRUCTURES, TUPLE, Container, Registry
from np2tf.core.errors import RankChangeError, ShapeNeededError
from np2tf.core.operators import Undefined


class GuardedStorage(Storage):
    """The storage of a name of which only the running program knows whether it is bound.

    Reading the storage while the name is unbound is a violation: the host repeats the call, where Python
    raises UnboundLocalError. Carrying the value through loops and branches (`Carried.tensors`) does not count
    as reading.
    """

    __slots__ = ("_of", "is_bound", "name")

    def __init__(self, of: Storage, is_bound: tf.Tensor, name: str) -> None:
        super().__init__(of._value)
        self._of = of
        self.is_bound = is_bound
        self.name = name

    @property
    def value(self) -> tf.Tensor:
        """The value. Reading it while the name is unbound discards the call."""
        self.note_read()
        _ = self._of.value
        return super().value

    def note_read(self) -> None:
        """Discard the call if the name is unbound."""
        record_violation(tf.logical_not(self.is_bound))

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
        path_dependent: the kinds of a number whose type depends on the path; a tensor for each dtype, and
            flags, are then carried. `dtype` is that of the main kind.
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
        """Return the carried tensors of `value`: itself, and flags that only the running program knows."""
        guard = _guard(value)
        if self.path_dependent is not None:
            alternatives = _alternatives(value, self.path_dependent)
            tensors = [*alternatives.tensors, *alternatives.flags[1:]]
        else:
            tensors = [self.tensor(value) if guard is None else tf.cast(guard._value, tf_dtype(self.dtype))]
        if self.optional is not None:
            tensors.append(tf.constant(not isinstance(value, Undefined)) if guard is None else guard.is_bound)
        return tensors

    def of(self, tensors: Iterator[tf.Tensor]) -> Any:
        """Return the staged value for the next carried tensors."""
        if self.path_dependent is not None:
            kinds = self.path_dependent
            own = tuple(next(tensors) for _ in kinds.dtypes)
            flags = [next(tensors) for _ in kinds.kinds[1:]]
            first = tf.logical_not(any_of(flags))
            value: Any = path_dependent_scalar(Alternatives(kinds, own, (first, *flags)))
        else:
            value = self.value(next(tensors))
        if self.optional is not None:
            value.move_to(GuardedStorage(storage_of(value), next(tensors), self.optional))
        return value

    def specs(self) -> list[tf.TensorSpec]:
        """Return the shapes and dtypes of the carried tensors."""
        kinds = self.path_dependent
        dtypes = (self.dtype,) if kinds is None else kinds.dtypes
        flag_count = (0 if kinds is None else len(kinds.kinds) - 1) + (self.optional is not None)
        flags = [tf.TensorSpec((), tf.bool)] * flag_count
        return [*(tf.TensorSpec(self.shape, tf_dtype(dtype)) for dtype in dtypes), *flags]

    def tensor(self, value: Any) -> tf.Tensor:
        """Return `value` as the tensor that is carried."""
        if isinstance(value, Undefined):
            return tf.zeros([size or 0 for size in self.shape], tf_dtype(self.dtype))
        if self.weak is not None:
            return weak_tensor(value, self.weak)
        return cast(as_tensor(value, self.dtype if type(value) is scalar else None), self.dtype)

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


def _alternatives(value: Any, kinds: PathDependentKind) -> Alternatives:
    """Return a number, or an unbound name, as one that may be of any of these kinds."""
    own: dict[Any, tf.Tensor] = {}
    alternatives = alternatives_of(value)
    if alternatives is not None:
        own = dict(zip(alternatives.kinds.kinds, alternatives.flags, strict=True))
        tensors = {kind: alternatives.tensor(dtype_of_kind(kind)) for kind in own}
    elif not isinstance(value, Undefined):
        guard = _guard(value)
        if is_weak(value):
            kind = weak_kind(value)
        else:
            kind = kind_of_dtype(value.dtype if guard is None else guard._value.dtype)
        own = {kind: tf.constant(True)}
        tensors = {kind: as_tensor(value, dtype_of_kind(kind)) if guard is None else guard._value}
    flags: list[list[tf.Tensor]] = [[] for _ in kinds.kinds]
    values: dict[np.dtype[Any], tf.Tensor] = {}
    for kind, flag in own.items():
        k = kinds.index(kind)
        flags[k].append(flag)
        dtype = dtype_of_kind(kinds.kinds[k])
        tensor = cast(tensors[kind], dtype)
        if values.get(dtype, tensor) is not tensor:
            tensor = tf.where(flag, tensor, values[dtype])
        values[dtype] = tensor
    zeros = {dtype: tf.zeros((), tf_dtype(dtype)) for dtype in kinds.dtypes}
    return Alternatives(kinds, tuple({**zeros, **values}.values()), tuple(map(any_of, flags)))


def form_of(value: Any) -> Carried | None:
    """Return the form of `value`; None if it is no number or array."""
    guard = _guard(value)
    alternatives = alternatives_of(value)
    if alternatives is not None:
        return _of_kinds(alternatives.kinds, None if guard is None else guard.name)
    if guard is not None:
        number = type(value) is scalar
        weak = value.weak if number else None
        dtype = np.dtype(guard._value.dtype.as_numpy_dtype)
        return Carried(dtype, _static_shape(guard._value), weak, number, guard.name)
    if is_weak(value):
        kind = weak_kind(value)
        return Carried(np.dtype(_WEAK_DTYPE[kind]), (), kind, True)
    if isinstance(value, np.generic):
        return Carried(value.dtype, (), None, True) if has_tf_dtype(value.dtype) else None
    if type(value) is np.ndarray:
        return (
            Carried(value.dtype, value.shape, order=memory_order(value))
            if has_tf_dtype(value.dtype)
            else None
        )
    if is_array(value):
        value = unguarded_array(value)
        tensor = value.tensor
        number = type(value) is scalar
        return Carried(value.dtype, _static_shape(tensor), None, number, order=memory_order(value))
    if isinstance(value, tf.Tensor):
        return Carried(np.dtype(value.dtype.as_numpy_dtype), _static_shape(value))
    return None


def memory_order(value: Any) -> tuple[int, ...] | None:
    """Return the order of an array's axes in memory; None is C order."""
    return None if is_c_ordered(value) else order_of_copy(value, "K")


_WEAK_DTYPE = {bool: np.bool_, int: np.int64, float: np.float64, complex: np.complex128}


def _static_shape(tensor: tf.Tensor) -> tuple[int | None, ...]:
    if tensor.shape.rank is None:
        raise ShapeNeededError("an array of unknown rank in a compiled loop or branch")
    return tuple(tensor.shape.as_list())


def join(a: Carried, b: Carried, subject: str, keeps_types: bool = False) -> Carried:
    """Return the common form of a leaf that has sometimes form `a` and sometimes form `b`, widened as NumPy
    would.

    Args:
        subject: what the leaf is, for the message of an error.
        keeps_types: whether a number keeps the type that it has on each path. In a graph of others it cannot:
            what leaves such a graph is of one dtype.

    Raises:
        StagingError: if the forms have different ranks.
    """
    if a == b:
        return a
    if a.optional != b.optional:
        name = a.optional or b.optional
        return join(replace(a, optional=name), replace(b, optional=name), subject, keeps_types)
    if len(a.shape) != len(b.shape):
        raise RankChangeError(f"{subject} is sometimes of shape {a.shape} and sometimes of shape {b.shape}")
    shape = tuple(m if m == n else None for m, n in zip(a.shape, b.shape, strict=True))
    if a.number and b.number:
        kinds = PathDependentKind.of((*_kinds(a), *_kinds(b)))
        return _of_kinds(kinds if keeps_types else _joined(kinds), a.optional)
    dtype = result_type_of((_promotion_kind(a), _promotion_kind(b)))
    return Carried(dtype, shape, None, False, a.optional)


def _kinds(form: Carried) -> tuple[Any, ...]:
    if form.path_dependent is not None:
        return form.path_dependent.kinds
    return (kind_of_dtype(form.dtype) if form.weak is None else form.weak,)


def _of_kinds(kinds: PathDependentKind, optional: str | None) -> Carried:
    """Return the form of a number that is of one of these kinds."""
    main = kinds.main
    if len(kinds.kinds) > 1:
        return Carried(dtype_of_kind(main), (), None, True, optional, kinds)
    return Carried(dtype_of_kind(main), (), main if is_python(main) else None, True, optional)


def _joined(kinds: PathDependentKind) -> PathDependentKind:
    """Return the kinds that hold numbers of all these kinds: one of Python and one of NumPy at most.

    Raises:
        StagingError: Python's numbers do not hold NumPy's.
    """
    weak = [kind for kind in kinds.kinds if is_python(kind)]
    if len(weak) == len(kinds.kinds):
        return PathDependentKind.of(weak[-1:])
    dtype = result_type_of(tuple(map(promoting_kind, kinds.kinds)))
    if not weak or dtype.kind == "b":
        return PathDependentKind.of((kind_of_dtype(dtype),))
    of_dtype = {"f": float, "c": complex}.get(dtype.kind, int)
    common = PathDependentKind.of((max((weak[-1], of_dtype), key=_WEAK_ORDER.index), kind_of_dtype(dtype)))
    if not np.can_cast(dtype, dtype_of_kind(common.kinds[0])):
        raise path_dependence_error(common)
    return common


def is_widened(form: Carried | None, common: Carried | None) -> bool:
    """Return whether an array is carried with another dtype than its own. Numbers do not count: they stay
    equal.
    """
    if form is None or common is None or form.number or common.number:
        return False
    return form.dtype != common.dtype


_WEAK_ORDER = (bool, int, float, complex)


def _promotion_kind(form: Carried) -> Any:
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
