"""Numbers whose type depends on the path through the program.

Examples are `s` after ``s = 0`` and a loop of ``s += x[k]`` that may have no iteration (Python's int, or
np.float64), and `v` after ``v = v // 2 if x[k] < 3 else v / 2`` (int or float). The type decides what such a
number looks like, what indexes with it, and to what it promotes. A graph has one dtype for all paths, so that
such a number consists of a tensor for each dtype, and of flags that tell at run time which kind it is.

Operators between numbers compute what each kind gives (`staged_numbers`); loops and branches carry
the tensors and flags, and a call returns the number with its own type. Other code sees the *main* kind, the
widest: reading the number as its tensor discards the call if the number is of another dtype at run time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.arrays.array.ndarray import scalar, tensor_scalar, weak_scalar
from np2tf.arrays.tensors.storage import Storage
from np2tf.arrays.tensors.violations import may_discard, record_violation
from np2tf.core.errors import PathTypeError, StagingError

#: Python's type -> the dtype that holds its numbers.
WIDE = {
    bool: np.dtype(np.bool_),
    int: np.dtype(np.int64),
    float: np.dtype(np.float64),
    complex: np.dtype(np.complex128),
}
_ORDER = tuple(WIDE)

#: The class of a number: Python's or NumPy's. (Not a dtype: ``np.dtype("float64") == float`` is true.)
Kind = type


def dtype_of_kind(kind: Kind) -> np.dtype[Any]:
    """Return the dtype of the tensor that holds numbers of a kind."""
    return WIDE[kind] if kind in WIDE else np.dtype(kind)


def kind_of_dtype(dtype: Any) -> Kind:
    """Return the class of NumPy's numbers of a dtype, of which int64 has two."""
    kind: Kind = np.dtype(tf.as_dtype(dtype).as_numpy_dtype).type
    return kind


def is_python(kind: Kind) -> bool:
    """Return whether numbers of a kind are Python's."""
    return kind in WIDE


def promoting_kind(kind: Kind) -> Any:
    """Return a kind as promotion takes it: Python's type of a weak number, or a dtype."""
    return kind if is_python(kind) and kind is not bool else dtype_of_kind(kind)


@dataclass(frozen=True)
class PathDependentKind:
    """The kinds of a path-dependent number: Python's types from bool to complex, then NumPy's."""

    kinds: tuple[Kind, ...]

    @classmethod
    def of(cls, kinds: Iterable[Kind]) -> PathDependentKind:
        """Return the kind of a number that is of one of these kinds."""
        found = set(kinds)
        python = [kind for kind in _ORDER if kind in found]
        return cls((*python, *sorted(found.difference(python), key=str)))

    @property
    def dtypes(self) -> tuple[np.dtype[Any], ...]:
        """Return the dtypes of the tensors, each once."""
        return tuple(dict.fromkeys(map(dtype_of_kind, self.kinds)))

    @property
    def main(self) -> Kind:
        """Return the kind that code sees which does not ask for the others: the one to which all promote."""
        widest = np.result_type(*(kind(0) for kind in self.kinds))
        of_dtype = [kind for kind in self.kinds if dtype_of_kind(kind) == widest]
        return (of_dtype or self.kinds)[-1]

    def index(self, kind: Kind) -> int:
        """Return the place of a kind; if it has been joined with others, of the kind that stands for it."""
        if kind in self.kinds:
            return self.kinds.index(kind)
        places = [k for k, own_kind in enumerate(self.kinds) if is_python(own_kind) is is_python(kind)]
        return places[-1] if places else len(self.kinds) - 1

    def chosen(self, tensors: Sequence[Any]) -> tuple[Any, type | None]:
        """Return the value that a number has turned out to have, and Python's type if it is Python's.

        Args:
            tensors: the run-time values of `Alternatives.all_tensors`; more may follow.
        """
        flags = tensors[len(self.dtypes) :]
        kind = next(kind for k, kind in enumerate(self.kinds) if bool(flags[k]) or k == len(self.kinds) - 1)
        return tensors[self.dtypes.index(dtype_of_kind(kind))], kind if is_python(kind) else None


class _MainStorage(Storage):
    """The storage of a path-dependent number. Reading it discards the call if the number's own dtype is
    another than the main one.
    """

    __slots__ = ("is_other",)

    def __init__(self, value: tf.Tensor, is_other: tf.Tensor | None) -> None:
        super().__init__(value)
        self.is_other = is_other

    @property
    def value(self) -> tf.Tensor:
        """Return the number as a tensor of the main dtype."""
        if self.is_other is not None:
            record_violation(self.is_other)
        return self._value  # (a number never changes, so that no scope needs to know who reads it)


@dataclass(frozen=True)
class Alternatives:
    """What a path-dependent number may be.

    Attributes:
        kinds: its kinds.
        tensors: its value in each dtype of the kinds; only that of the dtype that it has is right.
        flags: for each kind a boolean tensor, true at run time if the number is of this kind.
    """

    kinds: PathDependentKind
    tensors: tuple[tf.Tensor, ...]
    flags: tuple[tf.Tensor, ...]

    def all_tensors(self) -> list[tf.Tensor]:
        """Return everything that must be known to tell the number."""
        return [*self.tensors, *self.flags]

    @property
    def main_tensor(self) -> tf.Tensor:
        """Return the value, if it is of the main dtype."""
        return self.tensor(dtype_of_kind(self.kinds.main))

    def rebased(self, tensors: Sequence[tf.Tensor]) -> Alternatives:
        """Return the same alternatives, of other tensors of the same values."""
        count = len(self.tensors)
        return Alternatives(self.kinds, tuple(tensors[:count]), tuple(tensors[count:]))

    def tensor(self, dtype: np.dtype[Any]) -> tf.Tensor:
        """Return the value, if it is of this dtype."""
        return self.tensors[self.kinds.dtypes.index(dtype)]

    def is_any(self, kinds: Iterable[Kind]) -> tf.Tensor | None:
        """Return a boolean tensor that is true if the number is of one of these kinds; None for all kinds."""
        chosen = set(kinds)
        flags = [flag for kind, flag in zip(self.kinds.kinds, self.flags, strict=True) if kind in chosen]
        return None if len(flags) == len(self.flags) else any_of(flags)

    def in_dtype(self, dtype: np.dtype[Any], convert: Any, kinds: Iterable[Kind] | None = None) -> tf.Tensor:
        """Return the value in one dtype; ``convert(number, dtype)`` converts a plain number.

        Only `kinds` count.
        """
        chosen = list(self.kinds.kinds if kinds is None else kinds)
        result = None
        for own_dtype in dict.fromkeys(map(dtype_of_kind, chosen)):
            of_dtype = [kind for kind in chosen if dtype_of_kind(kind) == own_dtype]
            value = convert(plain_number(self.tensor(own_dtype), of_dtype[0]), dtype)
            result = value if result is None else tf.where(self.is_any(of_dtype), value, result)
        assert result is not None
        return result


def any_of(flags: list[tf.Tensor]) -> tf.Tensor:
    """Return whether any of some flags is true, as a boolean tensor."""
    result = flags[0] if flags else tf.constant(False)
    for flag in flags[1:]:
        result = tf.logical_or(result, flag)
    return result


def plain_number(tensor: tf.Tensor, kind: Kind) -> scalar:
    """Return a number of one kind."""
    return weak_scalar(tensor, kind) if is_python(kind) else tensor_scalar(tensor)


def path_dependent_scalar(alternatives: Alternatives) -> scalar:
    """Return a path-dependent number."""
    kinds = alternatives.kinds
    number = tensor_scalar(alternatives.main_tensor)
    others = [kind for kind in kinds.kinds if dtype_of_kind(kind) != dtype_of_kind(kinds.main)]
    is_other = alternatives.is_any(others) if others else None
    number.move_to(_MainStorage(alternatives.main_tensor, is_other))
    number.weak = kinds.main if is_python(kinds.main) else None
    number.alternatives = alternatives
    return number


def main_number(number: scalar, promotes: bool = False) -> scalar:
    """Return a path-dependent number as a plain one of the main kind; the call is discarded if its dtype is
    another. `promotes` says that the kind matters too, because Python's numbers promote in another way.

    Raises:
        StagingError: the call cannot be discarded, because the graph is foreign.
    """
    kinds = number.alternatives.kinds
    if (promotes or len(kinds.dtypes) > 1) and not may_discard():
        raise path_dependence_error(kinds)
    if promotes:
        is_main = number.alternatives.is_any((kinds.main,))
        record_violation(tf.logical_not(is_main))
    return plain_number(number.tensor, kinds.main)


def as_index(number: Any) -> Any:
    """Return a path-dependent number as the integer that it is where it is an index; the call is discarded if
    it is none. Anything else is returned unchanged.
    """
    if type(number) is not scalar or number.alternatives is None:
        return number
    alternatives = number.alternatives
    integers = [kind for kind in alternatives.kinds.kinds if dtype_of_kind(kind).kind in "iu"]
    if not integers:
        return main_number(number)
    flag = alternatives.is_any(integers)
    if flag is not None:
        record_violation(tf.logical_not(flag))
    tensor = alternatives.in_dtype(WIDE[int], lambda plain, _: tf.cast(plain.tensor, tf.int64), integers)
    return weak_scalar(tensor, int)


def kind_of_number(number: scalar) -> PathDependentKind | None:
    """Return the kinds of a path-dependent number; None for any other number."""
    return None if number.alternatives is None else number.alternatives.kinds


def path_dependence_error(kinds: PathDependentKind) -> StagingError:
    """Return the error to raise if a path-dependent number leads to different types."""
    names = [f"{'Python' if is_python(kind) else 'NumPy'}'s {kind.__name__}" for kind in kinds.kinds]
    return PathTypeError(
        f"a number is {', '.join(names[:-1])} on one path and {names[-1]} on another, "
        "where one type is needed",
    )
