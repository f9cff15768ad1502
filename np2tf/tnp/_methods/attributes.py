"""Attributes and methods of arrays that are not functions of NumPy's namespace.

An array computes attributes that depend on its contents and layout; for methods that only read, it hands a
copy to NumPy.
"""

from __future__ import annotations

import operator
import sys
import weakref
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.staging import MemoryLayoutError, ShapeChangeError, ShapeNeededError, ValueNeededError
from np2tf.tnp._array.ndarray import (
    array_over,
    ndarray,
    scalar,
    storage_of,
    tensor_array,
    weak_scalar,
    wrap_tensor,
)
from np2tf.tnp._array.strides import is_contiguous, lay_out_copy, layout_probe, owns_memory, resolve_order
from np2tf.tnp._chapters.indexing.flatiter import flatiter, write_flat
from np2tf.tnp._chapters.manipulation.views.reshape import matrix_transpose, permuted, reshaped
from np2tf.tnp._dispatch.devices import device_put
from np2tf.tnp._dispatch.op import attach, memory_order, shape_of
from np2tf.tnp._dispatch.residency import lifted
from np2tf.tnp._dispatch.unknown_ranks import DOUBTFUL, over_ranks
from np2tf.tnp._front.numpy_version import NUMPY
from np2tf.tnp._front.operand_kinds import surroundings
from np2tf.tnp._indexing.get_set import getitem, setitem
from np2tf.tnp._methods.move_to_host import brought_to_host
from np2tf.tnp._operands.conversion import as_tensor, assigned, cast, to_numpy
from np2tf.tnp._operands.python_scalars import is_weak
from np2tf.tnp._operands.value_range import refuse_unfit
from np2tf.tnp._slicing.view_transforms import Basic, Bitcast, Part, ReadOnly, Sealed
from np2tf.tnp._tensor.index_bounds import record_violation
from np2tf.tnp._tensor.storage import GappedLayout, Storage, is_from_outside

__all__: list[str] = []


def _attribute(
    name: str, get: Callable[[ndarray], Any], setter: Callable[[ndarray, Any], None] | None = None
) -> None:
    """Attach an attribute of np.ndarray to the array class."""

    def put(self: ndarray, value: Any) -> None:
        if setter is None:
            raise AttributeError(f"attribute {name!r} of 'numpy.ndarray' objects is not writable")
        setter(self, value)

    def known(self: ndarray) -> Any:
        try:
            return get(self)
        except DOUBTFUL as error:
            return over_ranks(get, (self,), {}, error)

    setattr(ndarray, name, property(known, put, doc=getattr(np.ndarray, name).__doc__))


# -- views -----------------------------------------------------------------------------------------


def _transposed(self: ndarray) -> ndarray:
    if type(self) is scalar:
        return self
    return permuted(self, reversed(range(self.tensor.shape.rank)))


def _matrix_transposed(self: ndarray) -> ndarray:
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
        view = lay_out_copy(tf.zeros_like(tensor), self, "A").view_through(Sealed())
        # The array owns its memory, and is not a view of another array.
        view.storage_and_chain()[0].owner = weakref.ref(view)
        return view
    return _part(self, imaginary=True)


def _part(self: ndarray, imaginary: bool) -> Any:
    if type(self) is scalar:
        value = tf.math.imag(self.tensor) if imaginary else tf.math.real(self.tensor)
        return weak_scalar(value, float) if is_weak(self) else wrap_tensor(value)
    return self.view_through(Part(imaginary))


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
        raise ShapeChangeError("the shape of an array is set in a staged loop or branch")
    wanted = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    view = reshaped(self, tuple(int(n) for n in wanted))
    if view.storage_and_chain()[0] is not self.storage_and_chain()[0]:
        raise AttributeError("Incompatible shape for in-place modification. Use `.reshape()` to make a copy")
    self.move_to(*view.storage_and_chain())


def _view_method(self: ndarray, dtype: Any = None, type: Any = None) -> Any:
    if isinstance(dtype, type_of) and issubclass(dtype, np.ndarray):
        dtype, type = None, dtype
    elif dtype is ndarray:
        dtype = None
    if type not in (None, np.ndarray, ndarray):
        held = brought_to_host(self)
        return held.view(type) if dtype is None else held.view(dtype, type)
    if type_of(self) is scalar:
        return self if dtype is None else wrap_tensor(_view_method(tensor_array(self.tensor), dtype).tensor)
    rank = self.tensor.shape.rank
    if dtype is None or np.dtype(dtype) == self.dtype:
        return self.view_through(Basic((slice(None),) * rank))
    wanted = np.dtype(dtype)
    if wanted.itemsize not in (0, self.dtype.itemsize) and not _last_axis_is_contiguous(self, rank):
        raise ValueError("To change to a dtype of a different size, the last axis must be contiguous")
    if wanted.kind not in "iufc" or not wanted.isnative:
        return brought_to_host(self).view(wanted)
    if rank and self.shape[-1] * self.dtype.itemsize % wanted.itemsize:
        raise ValueError(
            "When changing to a larger dtype, its size must be a divisor of the total size in bytes of the "
            "last axis of the array."
        )
    return self.view_through(Bitcast(wanted))


def _last_axis_is_contiguous(self: ndarray, rank: int) -> bool:
    made = layout_probe(self)
    if not rank or made is None:
        return False
    return made.shape[-1] == 1 or made.size == 0 or made.strides[-1] == made.itemsize


#: The builtin `type`, for functions that have a parameter of this name.
type_of = type


# -- numbers and copies out ------------------------------------------------------------------------


def _number(tensor: tf.Tensor) -> Any:
    """Return a tensor without axes as a Python number, which is staged if its value is not known."""
    if hasattr(tensor, "numpy"):
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
    if hasattr(tensor, "numpy"):
        return self.numpy().tolist()
    static = tf.get_static_value(tensor)
    return static.tolist() if static is not None else _nested(tensor)


def _nested(tensor: tf.Tensor) -> Any:
    if tensor.shape.rank == 0:
        return _number(tensor)
    if tensor.shape[0] is None:
        raise ShapeNeededError("a list whose length is known only at run time")
    return [_nested(part) for part in tf.unstack(tensor)]


def _tobytes_method(self: ndarray, order: Any = "C") -> bytes:
    letter: Any = memory_order(order)
    letter = resolve_order(layout_probe(self), letter) if letter == "A" else letter
    return self.numpy().tobytes(letter)


def _read_only(name: str) -> None:
    """Attach a method that only reads; NumPy computes it on a copy on the host."""
    own = getattr(np.ndarray, name)

    def method(self: ndarray, *args: Any, **kwargs: Any) -> Any:
        return own(self.numpy(), *map(to_numpy, args), **{k: to_numpy(v) for k, v in kwargs.items()})

    method.__name__ = name
    method.__doc__ = own.__doc__
    method.__wrapped__ = own  # type: ignore[attr-defined]
    setattr(ndarray, name, method)


# -- in place --------------------------------------------------------------------------------------


def _fill_method(self: ndarray, value: Any, /) -> None:
    refuse_unfit(value, self.dtype)
    number = assigned(value, self.dtype)
    if number.shape.rank:
        raise ValueError("setting an array element with a sequence.")
    setitem(self, ..., number)


def _resize_method(self: ndarray, *shape: Any, refcheck: bool = True) -> None:
    """Resize an array in place, with zeros at the end. As in NumPy, memory that other arrays see is not
    resized.
    """
    operator.index(refcheck)
    if shape in ((), (None,)):
        return
    wanted = shape_of(shape[0] if len(shape) == 1 else shape)
    if any(n < 0 for n in wanted):
        raise ValueError("negative dimensions not allowed")
    size = int(np.prod(wanted, dtype=np.int64))
    if size == self.size and is_contiguous(self):
        self.move_to(*reshaped(self, wanted).storage_and_chain())
        return
    if self.storage_and_chain()[1]:
        raise ValueError("cannot resize this array: it does not own its data")
    flat = tf.reshape(self.tensor, [-1])[:size]
    self.move_to(Storage(tf.reshape(tf.pad(flat, [[0, size - flat.shape[0]]]), wanted)))


def _setflags_method(self: ndarray, write: Any = None, align: Any = None, uic: Any = None) -> None:
    if uic:
        raise ValueError("cannot set WRITEBACKIFCOPY flag to True")
    if write is not None:
        storage, chain = self.storage_and_chain()
        while chain and isinstance(chain[-1], Sealed):
            chain = chain[:-1]
        if write and any(isinstance(transform, (Sealed, ReadOnly)) for transform in chain):
            raise ValueError("cannot set WRITEABLE flag to True of this array")
        self.move_to(storage, chain if write else (*chain, Sealed()))


# -- memory ----------------------------------------------------------------------------------------


def _layout(self: ndarray) -> np.ndarray:
    made = layout_probe(self)
    if made is None or not self.tensor.shape.is_fully_defined():
        raise ShapeNeededError("the memory layout of an array whose shape is known only at run time")
    made = made.view()
    made.flags.writeable = not self.is_read_only
    return made


def _strides(self: ndarray) -> tuple[int, ...]:
    if isinstance(storage_of(self).order, GappedLayout):
        raise MemoryLayoutError("the strides of an argument that is a part of a larger array")
    return _layout(self).strides


#: A flag that can be set -> its name in `setflags`.
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
        _setflags_method(self._array, **{_SETTABLE[name]: value})

    def __getitem__(self, name: str) -> Any:
        return self.owndata if name in ("OWNDATA", "O") else _layout(self._array).flags[name]  # type: ignore[index]

    def __setitem__(self, name: str, value: Any) -> None:
        if name not in _LETTERS:
            raise KeyError("Unknown flag")
        setattr(self, _LETTERS[name], value)

    def __eq__(self, other: object) -> bool:
        return self.num == other.num if isinstance(other, Flags | type(_ANY.flags)) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(_layout(self._array).flags)


def _flat(self: ndarray) -> flatiter:
    # A number is immutable: as in NumPy, a write changes a copy.
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
    _ANY.__array_namespace__(api_version=api_version)  # type: ignore[arg-type]
    return sys.modules["np2tf.tnp"]


_ANY = np.zeros(1)


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
    if device not in ("cpu", "gpu") or (device == "gpu" and not surroundings.has_accelerator):
        raise ValueError(f"Unsupported device: {device}. Only 'cpu' is accepted.")
    return self if device == _device(self) else device_put(self, device)


def _remaining(self: ndarray, name: str) -> Any:
    """Return a public attribute of np.ndarray (for a number, of NumPy's numbers) not defined above."""
    public = not name.startswith("_") or name in _INTERFACES
    if (
        name in _OWN
        or not public
        or not hasattr(self.dtype.type if type(self) is scalar else np.ndarray, name)
    ):
        raise AttributeError(f"'{type(self).__name__}' object has no attribute {name!r}")
    held = self.numpy()
    value = getattr(held[()] if type(self) is scalar else held, name)
    if not callable(value) or isinstance(value, type):
        return lifted(value)

    @wraps(value)
    def call(*args: Any, **kwargs: Any) -> Any:
        result = lifted(value(*map(to_numpy, args), **kwargs))
        if name in _WRITING:
            self.store(tf.constant(held))
        return result

    return call


#: Attributes of the array class itself. During construction they may be read before they are set.
_OWN = frozenset({*ndarray.__slots__, *scalar.__slots__})
_WRITING = frozenset({"setfield", "byteswap"})
#: `__array_struct__` is missing, although NumPy asks for it first: the new array would not own the memory.
_INTERFACES = frozenset({"__dlpack__", "__dlpack_device__", "__buffer__"})


def _array_interface(self: ndarray) -> dict[str, Any]:
    """Return the interface of a copy on the host; the new array keeps the copy, and is its only user.

    See https://numpy.org/doc/stable/reference/arrays.interface.html.
    """
    held = self.numpy()
    if held.dtype.kind == "V":
        raise AttributeError(
            "__array_interface__"
        )  # NumPy's interface has no name for such dtypes as bfloat16
    memory = held.ravel(order="K")
    if not np.may_share_memory(memory, held):
        held = np.ascontiguousarray(held)
        memory = held.ravel()
    return {**held.__array_interface__, "data": memory}


def _round(self: scalar, ndigits: int | None = None) -> Any:
    """Return ``round(x)`` of a number, an int as in Python.

    Raises:
        StagingError: `ndigits` is given, and the number is known only at run time.
    """
    if hasattr(self.tensor, "numpy"):
        number: Any = self.numpy()[()]
        return round(number) if ndigits is None else round(number, ndigits)
    if ndigits is not None:
        raise ValueNeededError("round(x, digits) of a number known only at run time")
    if self.dtype.kind == "f":
        record_violation(tf.logical_not(tf.abs(tf.cast(self.tensor, tf.float64)) < 2.0**62))
    return weak_scalar(tf.cast(tf.round(self.tensor), tf.int64), int)


def _install() -> None:
    _attribute("T", _transposed)
    _attribute("mT", _matrix_transposed)
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
    for name in ("tofile", "dump", "dumps", "getfield"):
        _read_only(name)
    attach("__array_namespace__", _array_namespace)
    attach("__sizeof__", _sizeof)
    attach("view", _view_method)
    attach("tobytes", _tobytes_method)
    attach("item", _item_method)
    attach("tolist", _tolist_method)
    attach("fill", _fill_method)
    ndarray.resize = _resize_method  # type: ignore[attr-defined]
    ndarray.setflags = _setflags_method  # type: ignore[attr-defined]
    ndarray.__getattr__ = _remaining  # type: ignore[method-assign, assignment]
    for name in ("put", "resize", "setflags"):
        vars(ndarray)[name].__wrapped__ = getattr(np.ndarray, name)
    scalar.__round__ = _round  # type: ignore[attr-defined]


_install()
