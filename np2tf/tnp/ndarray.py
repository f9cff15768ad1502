"""`tnp.ndarray`: NumPy's mutable, view-making array, resident on the host or as a tensor.

Every touch of the buffer is in this file. Operators and methods are attached by the chapters that
implement them (`normalize.method`), so that this class stays the small core that everything else imports.
"""

from __future__ import annotations

import types
import weakref
from sys import getrefcount
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.config import config
from np2tf.staging import StagingError
from np2tf.tnp.cells import Cell, current_region, writing
from np2tf.tnp.lenses import Bitcast, Lens, Part, is_read_only, read_path, write_path
from np2tf.tnp.symint import SymInt

#: Types of which no value is or holds an array.
PLAIN = frozenset(
    {
        int,
        float,
        complex,
        bool,
        str,
        bytes,
        type(None),
        type(Ellipsis),
        slice,
        type,
        range,
        *np.sctypeDict.values(),
    }
)


class _ArrayType(type):
    """Makes `tnp.ndarray` stand for np.ndarray: in ``isinstance``, as a base class, for what it lacks."""

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **rest: Any) -> type:
        """A class derived from `tnp.ndarray` elsewhere is one derived from np.ndarray."""
        if not bases or namespace.get("__module__") == __name__:
            return super().__new__(mcs, name, bases, namespace)
        numpys = tuple(np.ndarray if base is ndarray else base for base in bases)
        return types.prepare_class(name, numpys)[0](name, numpys, namespace, **rest)

    def __instancecheck__(cls, instance: Any) -> bool:
        if type.__instancecheck__(cls, instance):
            return cls is not ndarray or not isinstance(instance, scalar)
        return cls is ndarray and isinstance(instance, (np.ndarray, tf.Tensor, tf.Variable))

    def __subclasscheck__(cls, other: type) -> bool:
        return type.__subclasscheck__(cls, other) or (cls is ndarray and issubclass(other, np.ndarray))

    def __getattr__(cls, name: str) -> Any:
        """What only np.ndarray has (``__array_finalize__``), for classes derived from it."""
        return getattr(np.ndarray, name)

    def __call__(cls, *args: Any, **kwargs: Any) -> ndarray:
        """``ndarray(shape, dtype, …)`` makes an uninitialised array, as in NumPy."""
        given = [one.numpy() if is_array(one) else one for one in args]
        named = {name: one.numpy() if is_array(one) else one for name, one in kwargs.items()}
        return wrap(np.ndarray(*given, **named))


class ndarray(metaclass=_ArrayType):
    """An N-dimensional array with NumPy's meaning, held by NumPy or by TensorFlow.

    A host array has `_host`; a tensor array has a cell and a path of lenses through which it views it.
    See https://numpy.org/doc/stable/reference/arrays.ndarray.html.
    """

    __slots__ = ("__weakref__", "_cache", "_cell", "_host", "_path")

    __array_priority__ = 1000.0

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """``np.ndarray.__new__(cls, …)`` in a class derived from np.ndarray."""
        return np.ndarray.__new__(cls, *args, **kwargs)  # type: ignore[type-var]

    _host: np.ndarray | None
    _cell: Cell | None
    _path: tuple[Lens, ...]
    _cache: tuple[Any, Any, tf.Tensor] | None

    # -- the buffer ------------------------------------------------------------------------------------------

    def storage(self) -> tuple[Cell, tuple[Lens, ...]]:
        """The cell and path; a host array met while staging is looked up among the inputs of the trace.

        Raises:
            StagingError: the array is on the host and not an input of the function that is being staged.
        """
        if self._cell is not None:
            return self._cell, self._path
        entered = current_region()
        if entered is not None:
            return entered.trace.captured(self._host), ()
        if is_foreign(self._host.dtype):  # type: ignore[union-attr]
            raise StagingError(f"TensorFlow has no dtype {self.dtype}", "NP2TF504")
        return Cell(tf.constant(self._host)), ()

    @property
    def tensor(self) -> tf.Tensor:
        """The current value as a tensor, copied from the host if it lives there."""
        cell, path = self.storage()
        base = cell.value
        if not path:
            return base
        graph = None if tf.executing_eagerly() else tf.compat.v1.get_default_graph()
        if self._cache is not None and self._cache[0] is base and self._cache[1] is graph:
            return self._cache[2]
        value = read_path(base, path)
        self._cache = (base, graph, value)
        return value

    def store(self, value: tf.Tensor) -> None:
        """Replace the whole contents by `value` (same shape and dtype): what `x[...] = value` does."""
        if self._host is not None and current_region() is None:
            self._host[...] = value.numpy()
            return
        cell, path = self.storage()
        with writing:
            cell.write(write_path(cell.value, path, value) if path else value)

    def move_to_tensorflow(self) -> None:
        """Hold the contents as a tensor from now on: a gradient tape can watch nothing else.

        Raises:
            TypeError: others see the same memory, and would not see what is written from now on.
        """
        if self._host is None or current_region() is not None:
            return
        # One reference is this object's, and one the question itself.
        if self._host.base is not None or getrefcount(self._host) > 2:
            raise TypeError("an array that shares its memory on the host cannot be watched; a copy can")
        self._cell, self._path = self.storage()
        self._host = self._cache = None

    def view_through(self, lens: Lens) -> ndarray:
        """A view of this tensor array, one lens further on."""
        cell, path = self.storage()
        if path == cell.owner_path and cell.owner is None:
            cell.owner = weakref.ref(self)
        return _new(ndarray, None, cell, (*path, lens))

    def numpy(self) -> np.ndarray:
        """The contents as np.ndarray: the host buffer itself, or a copy of the tensor.

        Raises:
            StagingError: the value is not known while staging.
        """
        if self._host is not None and current_region() is None:
            return self._host
        tensor = self.tensor
        if isinstance(tensor, tf.Tensor) and not hasattr(tensor, "numpy"):
            static = tf.get_static_value(tensor)
            if static is None:
                raise StagingError("the value of a staged array is needed while staging")
            return np.array(static)
        value = tensor.numpy() if tensor.shape.rank else np.asarray(tensor.numpy())
        if self._path and is_read_only(self._path):
            value.flags.writeable = False
        return value

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """np.ndarray to ``isinstance``: code that is not translated (numpy.testing, scipy) asks for it."""
        return np.ndarray if type(self) is ndarray else type(self)

    # -- attributes ------------------------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[Any, ...]:
        """Lengths of the axes; one that is known only at run time is a staged integer."""
        if self._host is not None:
            return self._host.shape
        tensor = self.tensor
        if tensor.shape.is_fully_defined():
            return tuple(tensor.shape.as_list())
        if tensor.shape.rank is None:
            raise StagingError("the shape of an array of unknown rank is needed while staging")
        sizes = tf.shape(tensor, out_type=tf.int64)
        return tuple(
            weak_scalar(sizes[k], int, SymInt.fresh(sizes[k], 0)) if size is None else size
            for k, size in enumerate(tensor.shape.as_list())
        )

    @property
    def dtype(self) -> np.dtype[Any]:
        """The element type, always a NumPy dtype."""
        if self._host is not None:
            return self._host.dtype
        cell, path = self.storage()
        selection = getattr(cell, "selection", None)
        if selection is not None and not path:
            return np.dtype(selection.whole.dtype.as_numpy_dtype)
        if any(isinstance(lens, (Part, Bitcast)) for lens in path):
            return np.dtype(self.tensor.dtype.as_numpy_dtype)
        return np.dtype(cell.value.dtype.as_numpy_dtype)

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> Any:
        """Number of elements."""
        if self._host is not None:
            return self._host.size
        count: Any = 1
        for length in self.shape:
            count = count * length
        return count

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> Any:
        """Bytes of all elements."""
        return self.size * self.itemsize


class scalar(ndarray):
    """A number that is a tensor: what NumPy would give as np.float64 and the like, or Python as int or float.

    Immutable, as NumPy's scalars are. `weak` is the Python type (int, float, complex, bool) of a staged
    Python number, which takes part in promotion as such; None for a number with a NumPy dtype.
    `undecided` and `python` describe a number that is the one on some paths and the other on others.
    """

    __slots__ = ("known", "python", "undecided", "weak")

    weak: type | None
    known: SymInt | None
    undecided: Any
    python: tf.Tensor | None

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """To ``isinstance`` a number whose value is known is one of NumPy's: np.float64 is also a float."""
        # Asking is not reading: the cell of a name that may be unbound takes note of every read.
        tensor = self.tensor if self._cell is None else self._cell._value
        if self.weak is not None or not hasattr(tensor, "numpy"):
            return scalar
        return self.dtype.type


def is_array(value: Any) -> bool:
    """Whether `value` is one of our own arrays or numbers (``isinstance`` also says yes to np.ndarray)."""
    return type(value) in _OURS


def is_foreign(dtype: np.dtype[Any]) -> bool:
    """Whether TensorFlow has no such elements (objects, strings, records, dates, long doubles)."""
    if dtype.kind in "biufc":
        return dtype.char in "gG"
    return dtype.kind != "V" or dtype.char == "V"


_OURS = frozenset({ndarray, scalar})


def _new(cls: type[ndarray], host: np.ndarray | None, cell: Cell | None, path: tuple[Lens, ...]) -> Any:
    array = object.__new__(cls)
    array._host = host
    array._cell = cell
    array._path = path
    array._cache = None
    return array


def host_array(buffer: np.ndarray) -> ndarray:
    """An array that lives in `buffer` (not copied)."""
    array: ndarray = object.__new__(ndarray)
    array._host = buffer
    array._cell = None
    return array


def tensor_array(tensor: tf.Tensor) -> ndarray:
    """An array over a cell of its own that begins as `tensor`."""
    return _new(ndarray, None, Cell(tensor), ())


def tensor_scalar(tensor: tf.Tensor) -> scalar:
    """A number with a NumPy dtype."""
    number: scalar = _new(scalar, None, Cell(tensor), ())
    number.weak = number.known = number.undecided = number.python = None
    entered = current_region()
    if entered is not None and entered.counter is not None:
        entered.numbers.append(weakref.ref(number))
    return number


def weak_scalar(tensor: tf.Tensor, kind: type, known: SymInt | None = None) -> scalar:
    """A staged Python number of type `kind`."""
    number = tensor_scalar(tensor)
    number.weak = kind
    number.known = SymInt.fresh(tensor) if known is None and kind is int else known
    return number


#: Whether NumPy's own arrays are wanted; read at every operation, so it is set when the setting changes.
_plain = False


def _follow_eager(value: str) -> None:
    global _plain
    _plain = value == "numpy"


config.follow("eager", _follow_eager)


def wrap(value: Any) -> Any:
    """What NumPy returned, as the op library returns it: arrays wrapped, also inside tuples and lists."""
    kind = type(value)
    if kind in PLAIN:
        return value
    if kind is np.ndarray:
        if current_region() is not None and value.dtype.kind in "biufc":
            return tensor_array(tf.constant(value))
        return value if _plain else host_array(value)
    if kind is tuple:
        return tuple(map(wrap, value))
    if kind is list:
        return list(map(wrap, value))
    if isinstance(value, tuple):
        return kind(*map(wrap, value))
    return value


def wrap_tensor(value: Any) -> Any:
    """What an op computed, as NumPy would return it: 0-d results are numbers."""
    if isinstance(value, tf.Tensor):
        return tensor_scalar(value) if value.shape.rank == 0 else tensor_array(value)
    if type(value) in (tuple, list):
        return type(value)(map(wrap_tensor, value))
    if isinstance(value, tuple):
        return type(value)(*map(wrap_tensor, value))
    return value
