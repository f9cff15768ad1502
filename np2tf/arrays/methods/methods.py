"""Move an array to NumPy's memory, if NumPy must see the memory: as records, as text, as another class."""

from __future__ import annotations

import operator
from sys import getrefcount
from threading import RLock
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.arrays.array.layout import is_contiguous, layout_probe, resolve_order
from np2tf.arrays.array.ndarray import ndarray, scalar, storage_of, tensor_array, weak_scalar, wrap_tensor
from np2tf.arrays.array.view_transforms import BasicIndexing, Bitcast, BroadcastTo, ReadOnlyFlag
from np2tf.arrays.dispatch.op import attach, memory_order, shape_of
from np2tf.arrays.functions.reshape import reshape_view, reverse_axes, runs_backwards, to_memory_order
from np2tf.arrays.indexing.get_set import getitem, setitem
from np2tf.arrays.operands.conversion import cast, convert_assigned, refuse_unfit, to_numpy
from np2tf.arrays.operands.differentiated_values import is_followed, refuse_to_leave
from np2tf.arrays.tensors.storage import Storage, current_scope
from np2tf.arrays.tensors.violations import record_violation
from np2tf.core.counts import counts
from np2tf.core.errors import MemoryLayoutError, ShapeNeededError, ValueNeededError

# -- move to host --------------------------------------------------------------------------------------------

#: The numbers of references to an array and to its storage.
_References = tuple[int, int]
_NO_REFERENCES = (0, 0)
#: The numbers for arrays whose method `view` is called: first for an array without a name, then with a name.
_reference_counts: list[_References] = []
_lock = RLock()


def bring_to_host(array: ndarray) -> np.ndarray:
    """Return the contents of `array` as NumPy's memory, for a call of its method `view`.

    The memory is read-only if another object refers to the array or sees its memory, because that object
    would not see the writes.

    Raises:
        StagingError: the value is not known while staging.
    """
    if current_scope() is not None or not tf.executing_eagerly():
        raise MemoryLayoutError("NumPy asks for the memory of an array in compiled code")
    references = getrefcount(array), getrefcount(storage_of(array))
    counts.host += 1
    memory = np.array(array.numpy())
    memory.flags.writeable = _is_nobodys(references)
    return memory


def _is_nobodys(references: _References) -> bool:
    """Return whether an array with these reference counts ends with the call, and its memory with it."""
    with _lock:
        if not _reference_counts:
            _reference_counts.append(_NO_REFERENCES)
            _probe().view("V4")
            name = _probe()
            name.view("V4")
            _reference_counts.pop(0)
        elif _reference_counts[0] is _NO_REFERENCES:
            _reference_counts.append(references)
            return False
        alone, name_counts = _reference_counts
    # If a name does not count as a reference (Python 3.14), the counts say nothing.
    return alone < name_counts and references[0] <= alone[0] and references[1] <= alone[1]


def _probe() -> Any:
    return tensor_array(tf.zeros(1))


# -- methods -------------------------------------------------------------------------------------------------
# Methods of arrays that are not functions of NumPy's namespace.
#
# For methods that only read, an array hands a copy of its contents to NumPy.


def _view_method(self: ndarray, dtype: Any = None, type: Any = None) -> Any:
    if isinstance(dtype, type_of) and issubclass(dtype, np.ndarray):
        dtype, type = None, dtype
    elif dtype is ndarray:
        dtype = None
    if type not in (None, np.ndarray, ndarray):
        host_array = bring_to_host(self)
        return host_array.view(type) if dtype is None else host_array.view(dtype, type)
    if type_of(self) is scalar:
        return self if dtype is None else wrap_tensor(_view_method(tensor_array(self.tensor), dtype).tensor)
    rank = self.tensor.shape.rank
    if dtype is None or np.dtype(dtype) == self.dtype:
        return self.view_through(BasicIndexing((slice(None),) * rank))
    target_dtype = np.dtype(dtype)
    if target_dtype.itemsize not in (0, self.dtype.itemsize) and not _last_axis_is_contiguous(self, rank):
        raise ValueError("To change to a dtype of a different size, the last axis must be contiguous")
    if target_dtype.kind not in "iufc" or not target_dtype.isnative:
        return bring_to_host(self).view(target_dtype)
    if rank and self.shape[-1] * self.dtype.itemsize % target_dtype.itemsize:
        raise ValueError(
            "When changing to a larger dtype, its size must be a divisor of the total size in bytes of the "
            "last axis of the array."
        )
    return self.view_through(Bitcast(target_dtype))


def _last_axis_is_contiguous(self: ndarray, rank: int) -> bool:
    probe = layout_probe(self)
    if not rank or probe is None:
        return False
    return probe.shape[-1] == 1 or probe.size == 0 or probe.strides[-1] == probe.itemsize


#: `type`, where a parameter is called so.
type_of = type


def _number(tensor: tf.Tensor) -> Any:
    """Return a tensor of no axes as a Python number; on TensorFlow if its value is not known or followed."""
    if hasattr(tensor, "numpy") and not is_followed(tensor):
        return tensor.numpy().item()
    kind: type = bool if tensor.dtype == tf.bool else int if tensor.dtype.is_integer else float
    kind = complex if tensor.dtype.is_complex else kind
    wide = {bool: np.bool_, int: np.int64, float: np.float64, complex: np.complex128}[kind]
    return weak_scalar(cast(tensor, wide), kind)


def _item_method(self: ndarray, *args: Any) -> Any:
    tensor = self.tensor
    if len(args) == 1 and isinstance(args[0], tuple):
        args = args[0]
    args = tuple(map(operator.index, args))
    if not args:
        if tensor.shape.num_elements() not in (1, None):
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        return _number(tf.reshape(tensor, []))
    if len(args) == 1 and tensor.shape.rank != 1:
        return _number(getitem(tensor_array(tf.reshape(tensor, [-1])), args[0]).tensor)
    if len(args) != tensor.shape.rank:
        raise ValueError("incorrect number of indices for array")
    return _number(getitem(self, args).tensor)


def _tolist_method(self: ndarray) -> Any:
    tensor = self.tensor
    if is_followed(tensor):
        return _nested_list(tensor)
    if hasattr(tensor, "numpy"):
        return self.numpy().tolist()
    static = tf.get_static_value(tensor)
    return static.tolist() if static is not None else _nested_list(tensor)


def _nested_list(tensor: tf.Tensor) -> Any:
    if tensor.shape.rank == 0:
        return _number(tensor)
    if tensor.shape[0] is None:
        raise ShapeNeededError("a list whose length is known only at run time")
    return [_nested_list(part) for part in tf.unstack(tensor)]


def _tobytes_method(self: ndarray, order: Any = "C") -> bytes:
    refuse_to_leave(".tobytes()", (self,))
    letter: Any = memory_order(order)
    letter = resolve_order(layout_probe(self), letter) if letter == "A" else letter
    return self.numpy().tobytes(letter)


def _read_only(name: str) -> None:
    """Attach a method that only reads; NumPy computes it on a copy on the host."""
    numpy_method = getattr(np.ndarray, name)

    def method(self: ndarray, *args: Any, **kwargs: Any) -> Any:
        refuse_to_leave(f".{name}()", (self, *args))
        return numpy_method(self.numpy(), *map(to_numpy, args), **{k: to_numpy(v) for k, v in kwargs.items()})

    method.__name__ = name
    method.__doc__ = numpy_method.__doc__
    method.__wrapped__ = numpy_method  # type: ignore[attr-defined]
    setattr(ndarray, name, method)


def _fill_method(self: ndarray, value: Any, /) -> None:
    refuse_unfit(value, self.dtype)
    number = convert_assigned(value, self.dtype)
    if number.shape.rank:
        raise ValueError("setting an array element with a sequence.")
    setitem(self, ..., number)


def _resize_method(self: ndarray, *shape: Any, refcheck: bool = True) -> None:
    """Resize in place, with zeros at the end; as in NumPy, memory that other arrays see is not resized."""
    operator.index(refcheck)
    if shape in ((), (None,)):
        return
    new_shape = shape_of(shape[0] if len(shape) == 1 else shape)
    if any(n < 0 for n in new_shape):
        raise ValueError("negative dimensions not allowed")
    size = int(np.prod(new_shape, dtype=np.int64))
    if size == self.size and is_contiguous(self):
        self.move_to(*reshape_view(self, new_shape).storage_and_chain())
        return
    if self.storage_and_chain()[1]:
        raise ValueError("cannot resize this array: it does not own its data")
    flat = tf.reshape(self.tensor, [-1])[:size]
    self.move_to(Storage(tf.reshape(tf.pad(flat, [[0, size - flat.shape[0]]]), new_shape)))


def _setflags_method(self: ndarray, write: Any = None, align: Any = None, uic: Any = None) -> None:
    if uic:
        raise ValueError("cannot set WRITEBACKIFCOPY flag to True")
    if write is not None:
        storage, chain = self.storage_and_chain()
        while chain and isinstance(chain[-1], ReadOnlyFlag):
            chain = chain[:-1]
        if write and any(isinstance(transform, (ReadOnlyFlag, BroadcastTo)) for transform in chain):
            raise ValueError("cannot set WRITEABLE flag to True of this array")
        self.move_to(storage, chain if write else (*chain, ReadOnlyFlag()))


def _round(self: scalar, ndigits: int | None = None) -> Any:
    """``round(x)`` of a number: an int, as Python has it."""
    if hasattr(self.tensor, "numpy"):
        number: Any = self.contents()[()]
        return round(number) if ndigits is None else round(number, ndigits)
    if ndigits is not None:
        raise ValueNeededError("round(x, digits) of a number known only at run time")
    if self.dtype.kind == "f":
        record_violation(tf.logical_not(tf.abs(tf.cast(self.tensor, tf.float64)) < 2.0**62))
    return weak_scalar(tf.cast(tf.round(self.tensor), tf.int64), int)


def _flatten_method(a: ndarray, order: Any = "C") -> ndarray:
    letter = memory_order(order)
    if type(a) is scalar:
        return tensor_array(tf.reshape(a.tensor, [-1]))
    if letter == "K":
        a = to_memory_order(a)
    elif runs_backwards(a, letter):
        a = reverse_axes(a)
    return tensor_array(tf.reshape(a.tensor, [-1]))


def _install() -> None:
    for name in ("tofile", "dump", "dumps", "getfield"):
        _read_only(name)
    attach("view", _view_method)
    attach("tobytes", _tobytes_method)
    attach("item", _item_method)
    attach("tolist", _tolist_method)
    attach("fill", _fill_method)
    attach("flatten", _flatten_method)
    ndarray.resize = _resize_method  # type: ignore[attr-defined]
    ndarray.setflags = _setflags_method  # type: ignore[attr-defined]
    for name in ("put", "resize", "setflags"):
        vars(ndarray)[name].__wrapped__ = getattr(np.ndarray, name)
    scalar.__round__ = _round  # type: ignore[attr-defined]


_install()
