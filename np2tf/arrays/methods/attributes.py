"""Attributes of arrays: parts, shape, layout, flags, device; a copy on the host has all other attributes."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.arrays.array.layout import lay_out_copy, layout_probe, owns_memory
from np2tf.arrays.array.ndarray import (
    array_over,
    ndarray,
    scalar,
    storage_of,
    tensor_array,
    weak_scalar,
    wrap_tensor,
)
from np2tf.arrays.array.view_transforms import ComplexPart, ReadOnlyFlag
from np2tf.arrays.dispatch.op import attach
from np2tf.arrays.dispatch.placement import device_put, move_to_tensorflow
from np2tf.arrays.dispatch.unknown_shapes import DOUBTFUL, retry_for_each_rank
from np2tf.arrays.front.numpy_state import NUMPY
from np2tf.arrays.front.residency import device_kind
from np2tf.arrays.functions.iterators import flatiter, write_flat
from np2tf.arrays.functions.reshape import matrix_transpose, permute_view, reshape_view
from np2tf.arrays.indexing.get_set import setitem
from np2tf.arrays.operands.conversion import as_tensor, to_numpy
from np2tf.arrays.operands.differentiated_values import refuse_to_leave
from np2tf.arrays.operands.staged_numbers import is_weak
from np2tf.arrays.tensors.storage import GappedLayout, is_from_outside
from np2tf.core.errors import MemoryLayoutError, ShapeChangeError, ShapeNeededError


def _attribute(
    name: str, get: Callable[[ndarray], Any], setter: Callable[[ndarray, Any], None] | None = None
) -> None:
    """Attach an attribute of np.ndarray to the array class."""

    def put(self: ndarray, value: Any) -> None:
        if setter is None:
            raise AttributeError(f"attribute {name!r} of 'numpy.ndarray' objects is not writable")
        setter(self, value)

    def get_attribute(self: ndarray) -> Any:
        try:
            return get(self)
        except DOUBTFUL as error:
            return retry_for_each_rank(get, (self,), {}, error)

    setattr(ndarray, name, property(get_attribute, put, doc=getattr(np.ndarray, name).__doc__))


# -- views -----------------------------------------------------------------------------------------


def _get_transpose(self: ndarray) -> ndarray:
    if type(self) is scalar:
        return self
    return permute_view(self, reversed(range(self.tensor.shape.rank)))


def _get_matrix_transpose(self: ndarray) -> ndarray:
    if self.ndim < 2:
        raise ValueError("matrix transpose with ndim < 2 is undefined")
    return matrix_transpose(self)  # type: ignore[no-any-return]


def _real(self: ndarray) -> ndarray:
    if not self.tensor.dtype.is_complex:
        return self
    return _part(self, imaginary=False)


def _imag(self: ndarray) -> ndarray:
    tensor = self.tensor
    if not tensor.dtype.is_complex:
        if type(self) is scalar:
            return wrap_tensor(tf.zeros_like(tensor))
        view = lay_out_copy(tf.zeros_like(tensor), self, "A").view_through(ReadOnlyFlag())
        # The view owns its memory: it is a view of no other array.
        view.storage_and_chain()[0].owner = weakref.ref(view)
        return view
    return _part(self, imaginary=True)


def _part(self: ndarray, imaginary: bool) -> Any:
    if type(self) is scalar:
        value = tf.math.imag(self.tensor) if imaginary else tf.math.real(self.tensor)
        return weak_scalar(value, float) if is_weak(self) else wrap_tensor(value)
    return self.view_through(ComplexPart(imaginary))


def _set_real(self: ndarray, value: Any) -> None:
    _refuse_complex(self, value)
    setitem(_real(self), ..., tensor_array(as_tensor(value)))


def _refuse_complex(self: ndarray, value: Any) -> None:
    """Check that NumPy accepts Python numbers for the real or imaginary part of an array.

    Since version 2.5 NumPy converts these numbers like all other numbers.

    Raises:
        TypeError: one of the numbers is complex.
    """
    of_known_numbers = type(value) in (list, tuple) and tf.executing_eagerly()
    if NUMPY >= (2, 5) and (type(value) is complex or of_known_numbers):
        np.empty(np.shape(value), self.dtype.type(0).real.dtype)[...] = value


def _set_imag(self: ndarray, value: Any) -> None:
    if not self.tensor.dtype.is_complex:
        raise TypeError("array does not have imaginary part to set")
    _refuse_complex(self, value)
    setitem(_imag(self), ..., tensor_array(as_tensor(value)))


def _set_shape(self: ndarray, shape: Any) -> None:
    """Assign ``x.shape = …``: the object then sees the same memory in another shape."""
    storage, chain = self.storage_and_chain()
    if storage.argument and not chain:
        raise ShapeChangeError("the shape of an argument is set")
    if is_from_outside(storage):
        raise ShapeChangeError("the shape of an array is set in a compiled loop or branch")
    new_shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    view = reshape_view(self, tuple(int(n) for n in new_shape))
    if view.storage_and_chain()[0] is not self.storage_and_chain()[0]:
        raise AttributeError("Incompatible shape for in-place modification. Use `.reshape()` to make a copy")
    self.move_to(*view.storage_and_chain())


def _layout(self: ndarray) -> np.ndarray:
    probe = layout_probe(self)
    if probe is None or not self.tensor.shape.is_fully_defined():
        raise ShapeNeededError("the memory layout of an array whose shape is known only at run time")
    probe = probe.view()
    probe.flags.writeable = not self.is_read_only
    return probe


def _strides(self: ndarray) -> tuple[int, ...]:
    if isinstance(storage_of(self).order, GappedLayout):
        raise MemoryLayoutError("the strides of an argument that is a part of a larger array")
    return _layout(self).strides


#: The flags that can be set -> their names in `setflags`.
_SETTABLE = {"writeable": "write", "aligned": "align", "writebackifcopy": "uic"}
_LETTERS = {
    **dict.fromkeys(("W", "WRITEABLE"), "writeable"),
    **dict.fromkeys(("A", "ALIGNED"), "aligned"),
    **dict.fromkeys(("X", "WRITEBACKIFCOPY"), "writebackifcopy"),
}


#: The bit of `flags.num` for an array that owns its memory.
_OWNS_MEMORY = 4


class Flags:
    """The flags of the memory layout of a tensor array.

    See https://numpy.org/doc/stable/reference/generated/numpy.ndarray.flags.html.
    """

    def __init__(self, array: ndarray) -> None:
        object.__setattr__(self, "_array", array)

    def __getattr__(self, name: str) -> Any:
        if name == "owndata":
            return owns_memory(self._array)
        flags = _layout(self._array).flags
        if name == "num":
            return flags.num & ~_OWNS_MEMORY | _OWNS_MEMORY * self.owndata
        return getattr(flags, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in _SETTABLE:
            raise AttributeError(f"attribute {name!r} of numpy.flagsobj objects is not writable")
        self._array.setflags(**{_SETTABLE[name]: value})

    def __getitem__(self, name: str) -> Any:
        return self.owndata if name in ("OWNDATA", "O") else _layout(self._array).flags[name]  # type: ignore[index]

    def __setitem__(self, name: str, value: Any) -> None:
        if name not in _LETTERS:
            raise KeyError("Unknown flag")
        setattr(self, _LETTERS[name], value)

    def __eq__(self, other: object) -> bool:
        return self.num == other.num if isinstance(other, Flags | type(_EXAMPLE.flags)) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(_layout(self._array).flags)


def _flat(self: ndarray) -> flatiter:
    # A number is immutable: a write goes into a copy, as in NumPy.
    return flatiter(tensor_array(self.tensor) if type(self) is scalar else self)


def _base(self: ndarray) -> Any:
    if owns_memory(self):
        return None
    storage = self.storage_and_chain()[0]
    owner = storage.owner() if storage.owner is not None else None
    if owner is None or owner.storage_and_chain()[0] is not storage:
        owner = array_over(storage, storage.owner_chain)
        storage.owner = weakref.ref(owner)
    return owner


def _array_namespace(self: ndarray, *, api_version: str | None = None) -> Any:
    """Return the module `tnp`, after NumPy has checked the version of the array API standard."""
    _EXAMPLE.__array_namespace__(api_version=api_version)  # type: ignore[arg-type]
    return sys.modules["np2tf.tnp"]


_EXAMPLE = np.zeros(1)


def _sizeof(self: ndarray) -> int:
    """Return ``sys.getsizeof(x)``. For a view, the memory that it sees does not count."""
    size = object.__sizeof__(self)
    if not self.tensor.shape.is_fully_defined():
        return size
    of_an_axis = 2 * np.dtype(np.intp).itemsize
    return size + of_an_axis * self.ndim + (self.nbytes if owns_memory(self) else 0)  # type: ignore[no-any-return]


def _device(self: ndarray) -> str:
    return "gpu" if "GPU" in getattr(self.tensor, "device", "") else "cpu"


def _to_device(self: ndarray, device: str, /, *, stream: Any = None) -> ndarray:
    """Return the array itself if it is on the device already, else a copy there."""
    if stream is not None:
        raise ValueError("The stream argument in to_device() is not supported")
    if device not in ("cpu", "gpu") or (device == "gpu" and device_kind() == "cpu"):
        raise ValueError(f"Unsupported device: {device}. Only 'cpu' is accepted.")
    return self if device == _device(self) else device_put(self, device)


def _get_numpy_attribute(self: ndarray, name: str) -> Any:
    """Return a public attribute of np.ndarray (for a number, of NumPy's numbers) not defined above."""
    public = not name.startswith("_") or name in _INTERFACES
    if (
        name in _OWN_ATTRIBUTES
        or not public
        or not hasattr(self.dtype.type if type(self) is scalar else np.ndarray, name)
    ):
        raise AttributeError(f"'{type(self).__name__}' object has no attribute {name!r}")
    if name in _MEMORY:
        refuse_to_leave(f".{name}", (self,))
    copy = self.numpy()
    value = getattr(copy[()] if type(self) is scalar else copy, name)
    if not callable(value) or isinstance(value, type):
        return move_to_tensorflow(value)

    @wraps(value)
    def call(*args: Any, **kwargs: Any) -> Any:
        refuse_to_leave(f".{name}()", (self, *args))
        result = move_to_tensorflow(value(*map(to_numpy, args), **kwargs))
        if name in _WRITE_METHODS:
            self.store(tf.constant(copy))
        return result

    return call


#: Attributes of the array class itself; an array that is being made may read them before they are set.
_OWN_ATTRIBUTES = frozenset({*ndarray.__slots__, *scalar.__slots__})
_WRITE_METHODS = frozenset({"setfield", "byteswap"})
#: Not `__array_struct__`, which NumPy asks for first: the memory would not belong to the array made of it.
_INTERFACES = frozenset({"__dlpack__", "__dlpack_device__", "__buffer__"})
#: Attributes by which other code reaches the memory.
_MEMORY = frozenset({"__dlpack__", "__buffer__", "data", "ctypes"})


def _array_interface(self: ndarray) -> dict[str, Any]:
    """Return the interface of a copy on the host; the new array keeps the copy, and is its only user.

    See https://numpy.org/doc/stable/reference/arrays.interface.html.
    """
    refuse_to_leave(None, (self,))
    copy = self.numpy()
    if copy.dtype.kind == "V":
        raise AttributeError("__array_interface__")  # such as bfloat16, which it has no name for
    memory = copy.ravel(order="K")
    if not np.may_share_memory(memory, copy):
        copy = np.ascontiguousarray(copy)
        memory = copy.ravel()
    return {**copy.__array_interface__, "data": memory}


def _install() -> None:
    _attribute("T", _get_transpose)
    _attribute("mT", _get_matrix_transpose)
    _attribute("real", _real, _set_real)
    _attribute("imag", _imag, _set_imag)
    _attribute("strides", _strides)
    _attribute("base", _base)
    _attribute("flags", Flags)
    _attribute("__array_interface__", _array_interface)
    if hasattr(np.ndarray, "device"):
        _attribute("device", _device)
        attach("to_device", _to_device)
    ndarray.flat = property(_flat, write_flat, doc=np.ndarray.flat.__doc__)  # type: ignore[attr-defined]
    read_shape: Any = ndarray.shape.fget  # type: ignore[attr-defined]
    ndarray.shape = property(read_shape, _set_shape, doc=ndarray.shape.__doc__)  # type: ignore[assignment]
    attach("__array_namespace__", _array_namespace)
    attach("__sizeof__", _sizeof)
    ndarray.__getattr__ = _get_numpy_attribute  # type: ignore[method-assign, assignment]


_install()
