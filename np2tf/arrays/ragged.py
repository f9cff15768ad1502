"""Object arrays of rows over one flat array on TensorFlow; conversion from and to ragged tensors."""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NoReturn

import numpy as np
import tensorflow as tf
from tensorflow.python.util import dispatch

from np2tf import tnp
from np2tf.arrays.array.ndarray import arrays_of_rows, is_array, ndarray, tensor_array, weak_scalar
from np2tf.arrays.front.flags import transform_depth
from np2tf.arrays.front.residency import surroundings
from np2tf.arrays.operands.conversion import as_tensor
from np2tf.arrays.operands.promotion import has_tf_dtype
from np2tf.arrays.tensors.symbolic_integers import SymInt
from np2tf.arrays.tensors.violations import refuse_where
from np2tf.core.containers import STRUCTURES, Container
from np2tf.core.errors import OF_ROWS, RaggedError, RaggedRowsError

__all__ = [
    "RAGGED",
    "RaggedArray",
    "densest",
    "elementwise",
    "from_numpy",
    "is_object_array",
    "to_numpy",
]


# -- rows on host --------------------------------------------------------------------------------------------
# Object arrays of rows on the host.


def object_array(rows: Iterable[Any]) -> np.ndarray:
    """Return the object array with one axis of some rows, also if their lengths are equal."""
    items = list(rows)
    result = np.empty(len(items), object)
    for k, item in enumerate(items):
        result[k] = item
    return result


def rows_on_host(flat: np.ndarray, splits: Sequence[np.ndarray]) -> np.ndarray:
    """Return an object array with a new array for each row.

    For each level, the outermost first, `splits` has the places where rows end; several levels give nested
    object arrays.
    """
    values = flat if len(splits) == 1 else rows_on_host(flat, splits[1:])
    return object_array(values[start:end].copy() for start, end in pairwise(splits[0]))


def densest_rows(rows: np.ndarray) -> np.ndarray:
    """Return an object array of rows as a loop over the rows would stack it: dense arrays of rows with equal
    shapes.
    """
    if rows.dtype != object:
        return rows
    items = [densest_rows(row) for row in rows]
    if items and all(item.dtype != object and item.shape == items[0].shape for item in items):
        return np.stack(items)
    return object_array(items)


# -- ragged array --------------------------------------------------------------------------------------------
# `RaggedArray`: an object array of arrays, over one flat array on TensorFlow.
#
# A row is a view of the flat array, so that a write to a row reaches the ragged array, as in NumPy.

_PARTS_ARE_ARRAYS = "the key selects rows in more than one axis; index the rows one after another"


class RaggedArray:
    """An array of rows with different lengths: NumPy's object array of arrays, on TensorFlow.

    Row k is ``values[starts[k]:ends[k]]``.

    Args:
        values: the elements of all rows: an array on TensorFlow, or the rows of the rows.
        starts, ends: for each row, the place of its first element, and the place after its last.
        may_be_dense: whether NumPy would have made a dense array if all rows were of one length.
    """

    __slots__ = ("__weakref__", "ends", "may_be_dense", "starts", "values")

    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self, values: ndarray | RaggedArray, starts: tf.Tensor, ends: tf.Tensor, may_be_dense: bool = False
    ) -> None:
        self.values, self.starts, self.ends, self.may_be_dense = values, starts, ends, may_be_dense

    @classmethod
    def of_tensor(cls, tensor: tf.RaggedTensor, may_be_dense: bool = False) -> RaggedArray:
        """Return the array of a ragged tensor."""
        tensor = tensor.with_row_splits_dtype(tf.int64)
        inner = tensor.values
        is_flat = isinstance(inner, tf.Tensor)
        values = tensor_array(tf.identity(inner)) if is_flat else cls.of_tensor(inner, may_be_dense)
        return cls(values, tensor.row_starts(), tensor.row_limits(), may_be_dense)

    @property
    def ragged_tensor(self) -> tf.RaggedTensor:
        """The present rows as a ragged tensor."""
        inner = self.values
        values = inner.ragged_tensor if isinstance(inner, RaggedArray) else inner.tensor
        return tf.gather(values, tf.ragged.range(self.starts, self.ends))

    @property
    def tensor(self) -> tf.RaggedTensor | tf.Tensor:
        """The present rows as a tensor: ragged, or dense where NumPy has a dense array."""
        tensor = self.ragged_tensor
        return densest(tensor) if self.may_be_dense and tf.executing_eagerly() else tensor

    @property
    def flat(self) -> ndarray:
        """The flat array that all rows are views of."""
        return self.values.flat if isinstance(self.values, RaggedArray) else self.values

    @property
    def depth(self) -> int:
        """The number of ragged axes."""
        return 1 + self.values.depth if isinstance(self.values, RaggedArray) else 1

    # -- NumPy's attributes ----------------------------------------------------------------------------------

    @property
    def size(self) -> Any:
        """The number of rows; a staged integer if it is known only at run time."""
        count = self.starts.shape[0]
        if count is not None:
            return count
        tensor = tf.shape(self.starts, out_type=tf.int64)[0]
        return weak_scalar(tensor, int, SymInt.fresh(tensor, 0))

    @property
    def shape(self) -> tuple[Any]:
        """The number of rows, as the shape of an object array."""
        self._check_kind("shape")
        return (self.size,)

    @property
    def ndim(self) -> int:
        """The number of axes of an object array."""
        self._check_kind("number of axes")
        return 1

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of an object array."""
        self._check_kind("dtype")
        return np.dtype(object)

    def _check_kind(self, subject: str) -> None:
        """Refuse to answer what differs if the rows turn out to be of one length."""
        if self.may_be_dense and not tf.executing_eagerly():
            raise RaggedError(f"the {subject} of results whose lengths are known only at run time is needed")

    def __len__(self) -> int:
        count = self.starts.shape[0]
        if count is None:
            raise RaggedError("the number of rows is needed during compilation, but known only at run time")
        return count  # type: ignore[no-any-return]

    def __bool__(self) -> NoReturn:
        raise ValueError(
            "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()"
        )

    def __getitem__(self, key: Any) -> Any:
        """Return one row, or a ragged array of several rows. Rows are views."""
        first, last = (_array(ends)[key] for ends in (self.starts, self.ends))
        if first.ndim == 0:
            return self.values[_integer(first) : _integer(last)]  # type: ignore[index]
        if first.ndim != 1:
            raise RaggedError(_PARTS_ARE_ARRAYS)
        return RaggedArray(self.values, first.tensor, last.tensor, self.may_be_dense)

    def __setitem__(self, key: Any, value: Any) -> NoReturn:
        raise RaggedError(
            "a row of a ragged array cannot be replaced; write to its elements, or collect new rows in a list"
        )

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in builtins.range(len(self)))

    def __repr__(self) -> str:
        if not hasattr(self.starts, "numpy") or not tf.executing_eagerly():
            return f"<ragged array of {self.flat.dtype}>"
        return f"ragged {self.ragged_tensor.to_list()!r}"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """Return the object array of the rows on the host."""
        if not tf.executing_eagerly() or transform_depth.depth or not surroundings.has_no_tape():
            raise RaggedError(OF_ROWS)  # (NumPy would lose the derivatives)
        result = np.empty(len(self), object)
        for k, row in enumerate(self):
            result[k] = np.asarray(row) if isinstance(row, RaggedArray) else row.numpy()
        return result if dtype is None else result.astype(dtype)

    def with_flat(self, flat: Any) -> Any:
        """Return rows of other elements: of a tensor a tensor, of an array on the host an object array."""
        rows = self.ragged_tensor
        if isinstance(flat, np.ndarray) and not is_array(flat):
            on_host = rows_on_host(flat, [splits.numpy() for splits in rows.nested_row_splits])
            return densest_rows(on_host) if self.may_be_dense else on_host
        result = RaggedArray.of_tensor(rows.with_flat_values(as_tensor(flat)), self.may_be_dense)
        tensor = result.tensor
        if isinstance(flat, tf.Tensor):
            return tensor
        return result if isinstance(tensor, tf.RaggedTensor) else tensor_array(tensor)

    @property
    def lengths_key(self) -> tuple[Any, ...]:
        """The lengths of the rows on all levels; None for lengths that are known only at run time."""
        inner = self.values.lengths_key if isinstance(self.values, RaggedArray) else ()
        lengths = self.ends - self.starts
        return (tuple(lengths.numpy().tolist()) if hasattr(lengths, "numpy") else None, *inner)

    def copy(self) -> RaggedArray:
        """Return a copy, which shares no memory."""
        return RaggedArray.of_tensor(self.ragged_tensor, self.may_be_dense)

    # -- elementwise operations ------------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *operands: Any, **keywords: Any) -> Any:
        """Apply a universal function row by row."""
        if method != "__call__" or keywords or ufunc.nout != 1 or ufunc.signature is not None:
            raise RaggedError(f"np.{ufunc.__name__}.{method} of a ragged array; apply it to each row")
        if ufunc in _COMPARISONS:
            self._compare()
        return elementwise(getattr(tnp, ufunc.__name__), *operands)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> NoReturn:
        """Refuse functions of dense arrays."""
        raise RaggedError(OF_ROWS)

    def _compare(self, operand: Any = None) -> NoReturn:
        raise RaggedError("ragged arrays cannot be compared; compare their rows: np2tf.vmap(np.equal)(a, b)")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _compare  # type: ignore[assignment]


_COMPARISONS = frozenset(
    {np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal, np.logical_not}
)


def _array(tensor: tf.Tensor) -> Any:
    return tensor_array(tensor)


def _integer(value: Any) -> Any:
    """Return a number without axes as an integer that a slice takes."""
    tensor = value.tensor
    number = tf.get_static_value(tensor)
    return int(number) if number is not None else weak_scalar(tensor, int, SymInt.fresh(tensor, 0))


def elementwise(function: Callable[..., Any], *operands: Any) -> RaggedArray:
    """Return the ragged array of the results of a function of elements.

    Raises:
        RaggedError: an operand is an array with axes.
        ValueError: rows have different lengths.
    """
    tensors = [operand.ragged_tensor if isinstance(operand, RaggedArray) else None for operand in operands]
    ragged_tensors = [tensor for tensor in tensors if tensor is not None]
    for operand, tensor in zip(operands, tensors, strict=True):
        if tensor is None and np.ndim(0 if is_array(operand) and operand.ndim == 0 else operand):
            raise RaggedError(
                "an operation on a ragged array and an array with axes; apply it to each row: "
                "np2tf.vmap(f, (0, None))(ragged, array)"
            )
    for tensor in ragged_tensors[1:]:
        _check_lengths(ragged_tensors[0], tensor)
    flats = [
        operand if tensor is None else tensor_array(tensor.flat_values)
        for operand, tensor in zip(operands, tensors, strict=True)
    ]
    result = ragged_tensors[0].with_flat_values(as_tensor(function(*flats)))
    may_be_dense = all(operand.may_be_dense for operand in operands if isinstance(operand, RaggedArray))
    return RaggedArray.of_tensor(result, may_be_dense)


def _check_lengths(first: tf.RaggedTensor, second: tf.RaggedTensor) -> None:
    error = ValueError("operands could not be broadcast together: their rows have different lengths")
    if first.ragged_rank != second.ragged_rank:
        raise error
    for splits, other_splits in zip(first.nested_row_splits, second.nested_row_splits, strict=True):
        if not splits.shape.is_compatible_with(other_splits.shape):
            raise error
        counts = tf.shape(splits)[0], tf.shape(other_splits)[0]
        length = tf.minimum(*counts)
        are_equal = tf.reduce_all(tf.equal(splits[:length], other_splits[:length]))
        refuse_where(tf.not_equal(*counts) | tf.logical_not(are_equal), error)


def _attach_operators() -> None:
    names = {
        **{name: name for name in ("add", "subtract", "multiply", "power")},
        "truediv": "true_divide",
        "floordiv": "floor_divide",
        "mod": "remainder",
        "sub": "subtract",
        "mul": "multiply",
        "pow": "power",
    }
    del names["subtract"], names["multiply"], names["power"]
    for name, function in names.items():
        setattr(RaggedArray, f"__{name}__", _operator(function, is_reflected=False))
        setattr(RaggedArray, f"__r{name}__", _operator(function, is_reflected=True))
    for name, function in (("neg", "negative"), ("pos", "positive"), ("abs", "absolute")):
        setattr(RaggedArray, f"__{name}__", _operator(function, is_reflected=False))


def _operator(name: str, is_reflected: bool) -> Callable[..., Any]:
    def apply(*operands: Any) -> Any:
        return elementwise(getattr(tnp, name), *(operands[::-1] if is_reflected else operands))

    return apply


_attach_operators()


def densest(tensor: tf.RaggedTensor) -> tf.RaggedTensor | tf.Tensor:
    """Return a ragged tensor with as few ragged axes as its rows allow; its lengths must be known.

    An axis is dense if the rows are of one length along it, and along all axes behind it.
    """
    inner = tensor.values
    if isinstance(inner, tf.RaggedTensor):
        inner = densest(inner)
        tensor = tensor.with_values(inner)
        if isinstance(inner, tf.RaggedTensor):
            return tensor
    lengths = tensor.row_lengths().numpy()
    if not len(lengths) or (lengths != lengths[0]).any():
        return tensor
    return tf.reshape(inner, [len(lengths), lengths[0], *inner.shape[1:]])


def _parts(value: RaggedArray) -> list[Any]:
    """Return the flat array, and the starts and ends of all levels."""
    inner = value.values
    return [*(_parts(inner) if isinstance(inner, RaggedArray) else [inner]), value.starts, value.ends]


def _of_parts(parts: Sequence[Any], may_be_dense: bool) -> RaggedArray:
    values = parts[0]
    for starts, ends in zip(parts[1::2], parts[2::2], strict=True):
        values = RaggedArray(values, starts, ends, may_be_dense)
    return values  # type: ignore[no-any-return]


def _builder(value: RaggedArray) -> Callable[[Sequence[Any]], RaggedArray]:
    may_be_dense = value.may_be_dense
    return lambda parts: _of_parts(parts, may_be_dense)


#: Ragged arrays as containers of dense arrays.
RAGGED = Container(
    RaggedArray,
    keys=lambda value: range(1 + 2 * value.depth),
    items=_parts,
    builder=_builder,
    outline=lambda value: (value.depth, value.may_be_dense),
)
arrays_of_rows.add(RaggedArray)


# -- object arrays -------------------------------------------------------------------------------------------
# NumPy's object arrays of arrays, and ragged tensors: conversion in both directions.

_SEQUENCES = (list, tuple)
_REMEDY = "give all rows one dtype: row.astype(…), or np2tf.ragged.from_numpy(x, dtype=…)"


def from_numpy(x: Any, dtype: Any = None) -> tf.RaggedTensor:
    """Return the ragged tensor of an object array of arrays.

    Args:
        x: an object array whose items are arrays of different lengths, of one dtype and of equal shapes
            except for the first axis; or nested object arrays, lists and tuples of such arrays. A list of
            numbers is an array.
        dtype: the dtype of the result; without it, the dtype of the rows.

    Returns:
        A tf.RaggedTensor with a ragged axis for each level of `x`.

    Raises:
        RaggedRowsError: the rows differ in dtype, depth, or shape after the first axis, or TensorFlow has no
            such dtype.

    See https://www.tensorflow.org/guide/ragged_tensor.
    """
    if not _is_level(x):
        raise RaggedRowsError(
            f"from_numpy takes an object array or a list of arrays, but got a {_kind_of(x)}"
        )
    lengths: list[list[int]] = []
    rows: list[Any] = [x]
    while True:
        lengths.append([len(row) for row in rows])
        items = [item for row in rows for item in row]
        if not any(_holds_rows(item) for item in items):
            break
        for item in items:
            if not _holds_rows(item) and not (_is_level(item) and not len(item)):
                raise RaggedRowsError(
                    f"the rows have different depths: a {_kind_of(item)} beside an array of arrays"
                )
        rows = items
    leaves = [_leaf(item) for item in items]
    elements = _join(leaves, dtype)
    lengths.append([len(leaf) for leaf in leaves])
    return tf.RaggedTensor.from_nested_row_lengths(
        tf.constant(elements), [np.array(level, np.int64) for level in lengths[1:]]
    )


def to_numpy(tensor: Any) -> np.ndarray:
    """Return the object array of the rows of a ragged tensor.

    Args:
        tensor: a tf.RaggedTensor with any number of ragged axes. A tensor without ragged axes gives a dense
            array.

    Returns:
        An object array with a new array for each row, of the tensor's dtype; nested object arrays for several
        ragged axes.

    See https://www.tensorflow.org/guide/ragged_tensor.
    """
    if isinstance(tensor, RaggedArray):
        tensor = tensor.ragged_tensor
    if not isinstance(tensor, tf.RaggedTensor):
        return tensor.numpy() if is_array(tensor) or isinstance(tensor, tf.Tensor) else np.asarray(tensor)
    return rows_on_host(tensor.flat_values.numpy(), [splits.numpy() for splits in tensor.nested_row_splits])


def is_object_array(x: Any) -> bool:
    """Return whether a value is an object array whose items are arrays, lists or tuples."""
    return type(x) is np.ndarray and x.dtype == object and x.ndim > 0 and all(map(_is_row, x))


def _is_row(item: Any) -> bool:
    return (
        isinstance(item, (np.ndarray, *_SEQUENCES)) and np.ndim(item if type(item) is np.ndarray else []) > 0
    )


def _is_level(x: Any) -> bool:
    """Return whether a value may be a level of rows, and no array of numbers."""
    return isinstance(x, _SEQUENCES) or (isinstance(x, np.ndarray) and x.dtype == object and x.ndim > 0)


def _holds_rows(item: Any) -> bool:
    """Return whether a value is a level whose items are rows."""
    return _is_level(item) and any(_is_row(part) for part in item)


def _leaf(item: Any) -> np.ndarray:
    """Return a row of numbers as an array; an empty list has the dtype object."""
    if isinstance(item, np.ndarray) and item.dtype != object:
        if item.ndim:
            return item
    elif _is_level(item):
        return np.array(list(item)) if len(item) else np.empty(0, object)
    raise RaggedRowsError(f"an item is a {_kind_of(item)}, not an array of one axis or more")


def _join(leaves: Sequence[np.ndarray], dtype: Any) -> np.ndarray:
    """Return the elements of all rows of numbers, one after another."""
    full = [leaf for leaf in leaves if leaf.dtype != object]
    dtypes = {leaf.dtype for leaf in full}
    if dtype is None:
        if len(dtypes) > 1:
            raise RaggedRowsError(f"the rows have the dtypes {sorted(map(str, dtypes))}; {_REMEDY}")
        if not dtypes:
            raise RaggedRowsError(
                "there are no rows with a dtype; give the dtype: from_numpy(x, dtype=float)"
            )
        (dtype,) = dtypes
    if not has_tf_dtype(np.dtype(dtype)):
        raise RaggedRowsError(
            f"NumPy's functions have no tensors of the dtype {np.dtype(dtype)}; give numbers, such as the "
            "codes of characters"
        )
    shapes = {leaf.shape[1:] for leaf in full}
    if len(shapes) > 1:
        raise RaggedRowsError(
            f"the rows have different shapes behind the first axis: {sorted(shapes)}; give them as arrays of "
            "arrays, so that this axis is ragged, too"
        )
    empty = np.empty((0, *(shapes.pop() if shapes else ())), dtype)
    return np.concatenate([empty, *[leaf.astype(dtype) for leaf in full]])


def _kind_of(x: Any) -> str:
    if isinstance(x, np.ndarray):
        return f"{x.dtype} array with {x.ndim} axes"
    return type(x).__name__


# -- tensorflow calls ----------------------------------------------------------------------------------------
# TensorFlow's functions of ragged arrays: they get the ragged tensor.
#
# TensorFlow asks a dispatcher only about a call that has failed. The dispatcher here answers if a ragged
# array is among the arguments, so that all other calls fail as before.


class _RaggedDispatcher(dispatch.GlobalOpDispatcher):  # type: ignore[misc]
    """Calls a function of TensorFlow again, with ragged tensors for ragged arrays."""

    def handle(self, op: Any, args: Any, kwargs: Any) -> Any:
        """Return the result of the call; NOT_SUPPORTED if no ragged array is among the arguments."""
        values = _unwrap((tuple(args), dict(kwargs)))
        if not any(isinstance(leaf, tf.RaggedTensor) for leaf in _changes(values, (args, kwargs))):
            return self.NOT_SUPPORTED
        return op(*values[0], **values[1])


def _unwrap(value: Any) -> Any:
    return value.tensor if type(value) is RaggedArray else STRUCTURES.replace_items(_unwrap, value)


def _changes(values: Any, before: Any) -> list[Any]:
    pairs = zip(STRUCTURES.flatten(values)[0], STRUCTURES.flatten(before)[0])
    return [value for value, original in pairs if value is not original]


@functools.cache
def register_dispatcher() -> None:
    """Let TensorFlow's functions take ragged arrays."""
    _RaggedDispatcher().register()
