"""Stand-ins for arguments that are lists of Python's numbers, with a length that is an input of the code.

The compiled code gets the numbers as an array. The staged function sees a `NumberList`, which passes for a
list in `isinstance`. Its class is not derived from list, because C code would read the memory of such a list
directly, and find no items. A use for which a `NumberList` cannot do exactly what Python's list does ends the
staging, and the call is compiled for its own length.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.arrays.array.ndarray import is_array, ndarray, scalar, weak_scalar
from np2tf.arrays.array.sequences import NumberSequence
from np2tf.arrays.operands.conversion import as_tensor
from np2tf.arrays.operands.path_dependent import as_index
from np2tf.arrays.tensors.symbolic_integers import SymInt
from np2tf.arrays.tensors.violations import record_violation
from np2tf.core.errors import ShapeNeededError

#: Python's float holds every integer up to this one.
_LARGEST_EXACT = 2**53
_INT64 = np.iinfo(np.int64)
#: Further dtypes to which NumPy converts every number of a list as it converts the numbers of an array.
_FROM_INTEGERS = frozenset(map(np.dtype, (np.bool_, np.complex128)))
_FROM_FLOATS = frozenset(map(np.dtype, (np.bool_, np.float32, np.float64, np.complex64, np.complex128)))


def number_type(values: list[Any]) -> type | None:
    """Return int or float if all items of a list are exactly that and fit 64 bits; None for other lists."""
    kinds = set(map(type, values))
    if kinds == {float}:
        return float
    return int if kinds == {int} and min(values) >= _INT64.min and max(values) <= _INT64.max else None


class NumberList(NumberSequence):
    """Stands for a list of integers or floats whose length is known only at run time.

    Args:
        numbers: the numbers, as an array of int64 or float64.
    """

    __slots__ = ("_may_be_empty", "_numbers")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, numbers: Any, may_be_empty: bool = False) -> None:
        self._numbers = numbers
        self._may_be_empty = may_be_empty

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """The class list, for ``isinstance``."""
        return list

    @property
    def length(self) -> Any:
        """The number of items."""
        return self._numbers.shape[0]

    # -- for NumPy's functions -------------------------------------------------------------------------------

    def make_array(self, dtype: Any = None) -> ndarray:
        """Return a new array of the numbers.

        Raises:
            StagingError: if NumPy may refuse to convert a number to the dtype, or rounds it in two steps.
        """
        if self._may_be_empty:
            # Of an empty list NumPy makes an array of float64.
            record_violation(tf.less(as_tensor(self.length), 1))
        numbers = self._numbers
        target = numbers.dtype if dtype is None else np.dtype(getattr(dtype, "as_numpy_dtype", dtype))
        if numbers.dtype.kind == "i" and target.kind in "iuf":
            low, high = _range_of(target)
            if low > _INT64.min or high < _INT64.max:
                record_violation(((numbers < low) | (numbers > high)).any().tensor)
        elif target not in (_FROM_INTEGERS if numbers.dtype.kind == "i" else _FROM_FLOATS):
            raise ShapeNeededError(f"an array of {target} of a list whose length is known only at run time")
        return numbers.copy()  # type: ignore[no-any-return]

    def make_index(self) -> ndarray:
        """Return the numbers as an index array."""
        return self._numbers.copy()  # type: ignore[no-any-return]

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise _refusal("its items are needed during compilation")

    # -- as Python's list ------------------------------------------------------------------------------------

    def __bool__(self) -> bool:
        if self._may_be_empty:
            raise _refusal("it is tested")
        return True

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return NumberList(self._numbers[_plain_slice(index)], may_be_empty=True)
        item = self._numbers[_plain_index(index)].tensor
        if self._numbers.dtype.kind == "f":
            return weak_scalar(item, float)
        return weak_scalar(item, int, SymInt.fresh(item))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise _refusal(f"its attribute {name} is used")


def _refuse_method(name: str) -> Callable[..., Any]:
    def method(self: NumberList, *args: Any, **kwargs: Any) -> Any:
        if name in _OPERATORS and type(args[0]) is ndarray:
            return NotImplemented  # The array takes the list as an array.
        raise _refusal(f"its method {name} is used")

    return method


#: The operators of lists.
_OPERATORS = frozenset(
    f"__{name}__" for name in ("add", "radd", "mul", "rmul", "eq", "ne", "lt", "le", "gt", "ge")
)
#: Further methods by which functions of Python read an object.
_READERS = ("__copy__", "__deepcopy__", "__index__", "__int__", "__float__", "__complex__")
#: Methods that make or describe classes.
_CLASS_METHODS = frozenset(
    f"__{name}__"
    for name in (
        *("class", "class_getitem", "delattr", "doc", "getattribute", "hash", "init_subclass", "new"),
        *("setattr", "subclasshook"),
    )
)


def _install() -> None:
    for name in {*dir(list), *_OPERATORS, *_READERS} - {*vars(NumberList), *_CLASS_METHODS}:
        if name.startswith("__"):
            setattr(NumberList, name, _refuse_method(name))


_install()
# Patterns of `match` ask whether the class is a sequence's.
Sequence.register(NumberList)


def _refusal(use: str) -> ShapeNeededError:
    return ShapeNeededError(f"the length of a list is known only at run time, and {use}")


def _range_of(dtype: np.dtype[Any]) -> tuple[int, int]:
    """Return the integers that NumPy converts to a dtype without an error or a second rounding."""
    if dtype.kind == "f":
        # (A float of 16 bits overflows.)
        exact = _LARGEST_EXACT if dtype.itemsize > 2 else 2**15
        return (-exact, exact) if dtype.itemsize < 8 else (_INT64.min, _INT64.max)
    limits = np.iinfo(dtype)
    return max(int(limits.min), _INT64.min), min(int(limits.max), _INT64.max)


def _plain_index(index: Any) -> Any:
    """Return the index of an item for an array; refuse an index that is no integer."""
    index = as_index(index)
    if isinstance(index, (int, np.integer)) and not is_array(index):
        return int(index)
    if type(index) is scalar and index.weak in (int, None) and index.dtype.kind in "iu":
        return index
    raise _refusal(f"it is indexed with {type(index).__name__}")


def _plain_slice(key: slice) -> slice:
    ends = [None if end is None else _plain_index(end) for end in (key.start, key.stop, key.step)]
    if ends[2] is not None and (not isinstance(ends[2], int) or not ends[2]):
        raise _refusal("it is sliced with a step of 0 or a step known only at run time")
    return slice(*ends)
