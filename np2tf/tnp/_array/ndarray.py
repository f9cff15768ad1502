"""`tnp.ndarray`: NumPy's mutable, view-making array over a tensor.

On the host an array is np.ndarray; this class is the array on TensorFlow. This module is the small core that
all other modules import. The modules that implement operators and methods attach them to the class
(`op.attach`); the first array on TensorFlow loads these modules. Nothing here imports TensorFlow before then.
"""

from __future__ import annotations

import importlib
import math
import types
import weakref
from operator import is_, is_not
from typing import TYPE_CHECKING, Any

import numpy as np

from np2tf.lazy import LazyModule, tf
from np2tf.staging import StagingError
from np2tf.tnp._array.subclasses import Derived
from np2tf.tnp._front.fast_flags import quick
from np2tf.tnp._tensor.storage import Cell, current_region, represents_staged, writing
from np2tf.tnp._tensor.symint import SymInt

if TYPE_CHECKING:
    from np2tf.tnp._array import strides as layout
    from np2tf.tnp._slicing import view_transforms as lenses
    from np2tf.tnp._slicing.view_transforms import Lens
else:
    layout = LazyModule("np2tf.tnp._array.strides")
    lenses = LazyModule("np2tf.tnp._slicing.view_transforms")


#: The parameters of the constructor, in order.
_MAKING = ("shape", "dtype", "buffer", "offset", "strides", "order")


class _ArrayType(type):
    """The metaclass that lets ``isinstance(x, tnp.ndarray)`` accept both kinds of array.

    Classes that a program derives from `tnp.ndarray` are derived from np.ndarray instead.
    """

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **rest: Any) -> type:
        """Make a class. A program's subclass of `tnp.ndarray` is derived from np.ndarray instead."""
        if not bases or namespace.get("__module__") == __name__:
            return super().__new__(mcs, name, bases, namespace)
        numpys = tuple(Derived if base is ndarray else base for base in bases)
        return types.prepare_class(name, numpys)[0](name, numpys, namespace, **rest)

    def __getattr__(cls, name: str) -> Any:
        """Return an attribute that only np.ndarray has (``__array_finalize__``), for subclasses."""
        return getattr(np.ndarray, name)

    def __instancecheck__(cls, instance: Any) -> bool:
        if type.__instancecheck__(cls, instance):
            return cls is not ndarray or not isinstance(instance, scalar)
        if cls is not ndarray:
            return False
        return isinstance(instance, np.ndarray) or (
            type(instance).__module__.startswith("tensorflow")
            and isinstance(instance, (tf.Tensor, tf.Variable))
        )

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        """Make an array of ``ndarray(shape, dtype, …)`` where new arrays live; over a buffer, where the
        buffer lives.
        """
        given = {**dict(zip(_MAKING, args, strict=False)), **kwargs}
        if given.get("buffer") is not None and quick.tensors:
            made_over = importlib.import_module(
                "np2tf.tnp._chapters.manipulation.views.shared_memory"
            ).made_over
            view = made_over(given["buffer"], lambda buffer: np.ndarray(**{**given, "buffer": buffer}))
            if view is not None:
                return view
        made: np.ndarray = np.ndarray(*args, **kwargs)
        if quick.host or made.base is not None:
            return made
        return importlib.import_module("np2tf.tnp._dispatch.residency").placed(made)


class ndarray(metaclass=_ArrayType):
    """An array of any number of axes with NumPy's meaning, held by TensorFlow.

    It has a cell, which holds a tensor, and a path of lenses through which it sees the cell. See
    https://numpy.org/doc/stable/reference/arrays.ndarray.html.
    """

    __slots__ = ("__weakref__", "_cache", "_cell", "_path")

    __array_priority__ = 1000.0

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """Make an object of a class derived from np.ndarray, which calls ``tnp.ndarray.__new__(cls, …)``."""
        return np.ndarray.__new__(cls, *args, **kwargs)  # type: ignore[type-var]

    _cell: Cell
    _path: tuple[Lens, ...]
    _cache: tuple[Any, Any, tf.Tensor] | None

    # -- the storage -----------------------------------------------------------------------------------------

    def storage(self) -> tuple[Cell, tuple[Lens, ...]]:
        """Return the cell, and the path of lenses through which this array sees it."""
        return self._cell, self._path

    @property
    def tensor(self) -> tf.Tensor:
        """Return the current value as a tensor."""
        base = self._cell.value
        if not self._path:
            return base
        graph = None if tf.executing_eagerly() else tf.compat.v1.get_default_graph()
        if self._cache is not None and self._cache[0] is base and self._cache[1] is graph:
            return self._cache[2]
        value = lenses.read_path(base, self._path)
        self._cache = (base, graph, value)
        return value

    def remember(self, value: tf.Tensor) -> None:
        """Keep `value`, which must be the current value, so that it is not computed again."""
        graph = None if tf.executing_eagerly() else tf.compat.v1.get_default_graph()
        self._cache = (self._cell.value, graph, value)

    def store(self, value: tf.Tensor) -> None:
        """Replace the whole contents by `value`, of the same shape and dtype, as `x[...] = value` does."""
        cell, path = self._cell, self._path
        with writing:
            cell.write(lenses.write_path(cell.value, path, value) if path else value)

    def store_through(self, lens: Lens, value: tf.Tensor) -> None:
        """Replace the contents of a further view by `value`, as `view_through(lens).store(value)` does."""
        cell, path = self._cell, self._path
        with writing:
            cell.write(lenses.write_path(cell.value, (*path, lens), value))

    def view_through(self, lens: Lens) -> ndarray:
        """Return a view of this array through one more lens."""
        cell, path = self._cell, self._path
        if path == cell.owner_path and cell.owner is None:
            cell.owner = weakref.ref(self)
        return array_over(cell, (*path, lens))

    def move_to(self, cell: Cell, path: tuple[Lens, ...] = ()) -> None:
        """Make this array see another cell, or its cell in another way: ``x.shape = …``, ``x.resize(…)``."""
        self._cell, self._path, self._cache = cell, path, None

    @property
    def is_read_only(self) -> bool:
        """Return whether writing through this array is forbidden."""
        return lenses.is_read_only(self._path)

    def numpy(self) -> np.ndarray:
        """Return the contents as np.ndarray in the same memory order, copied from the tensor.

        Raises:
            StagingError: the value is not known while staging.
        """
        if self._path and self._cache is None and all(type(lens) is lenses.Transpose for lens in self._path):
            return lenses.view_on_host(array_over(self._cell).numpy(), self._path)
        tensor = self.tensor
        if isinstance(tensor, tf.Tensor) and not hasattr(tensor, "numpy"):
            static = tf.get_static_value(tensor)
            if static is None:
                raise StagingError("the value of a staged array is needed while staging")
            return np.array(static)
        value = tensor.numpy() if tensor.shape.rank else np.asarray(tensor.numpy())
        if value.ndim > 1 and not is_ordinary(self):
            value = layout.host_copy(self, value)
        if self._path:
            if self.dtype.num != value.dtype.num:
                value = value.view(self.dtype)
            if self.is_read_only:
                value.flags.writeable = False
        return value

    @property
    def _selection(self) -> Any:
        """Return the selection that the whole array is, so that its value need not be computed; else None."""
        return None if self._path else getattr(self._cell, "selection", None)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """Return np.ndarray for ``isinstance``: code that is not translated (numpy.testing, scipy) asks for
        it.
        """
        return np.ndarray if type(self) is ndarray else type(self)

    # -- attributes ------------------------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[Any, ...]:
        """Return the lengths of the axes; a length that is known only at run time is a staged integer."""
        selection = self._selection
        if selection is not None:
            return selection.sizes  # type: ignore[no-any-return]
        tensor = self.tensor
        if tensor.shape.is_fully_defined():
            return tuple(tensor.shape.as_list())
        if tensor.shape.rank is None:
            raise StagingError("the shape of an array of unknown rank is needed while staging")
        lengths = lenses.lengths(self._cell.value, self._path)
        if lengths is None:
            sizes = tf.shape(tensor, out_type=tf.int64)
            known = enumerate(tensor.shape.as_list())
            lengths = [SymInt.fresh(sizes[k], 0) if size is None else size for k, size in known]
        return tuple(
            weak_scalar(length.tensor, int, length) if isinstance(length, SymInt) else length
            for length in lengths
        )

    @property
    def dtype(self) -> np.dtype[Any]:
        """Return the type of the elements, always as a NumPy dtype."""
        cell, path = self._cell, self._path
        selection = self._selection
        if selection is not None:
            return np.dtype(selection.whole.dtype.as_numpy_dtype)
        for lens in reversed(path):
            if isinstance(lens, lenses.Bitcast):
                return lens.dtype
            if isinstance(lens, lenses.Part):
                return np.dtype(self.tensor.dtype.as_numpy_dtype)
        return np.dtype(cell.value.dtype.as_numpy_dtype)

    @property
    def ndim(self) -> Any:
        """Return the number of axes; a staged integer if the number is known only at run time."""
        selection = self._selection
        if selection is not None:
            return len(selection.parts)
        tensor = self.tensor
        rank = tensor.shape.rank
        return weak_scalar(tf.size(tf.shape(tensor), tf.int64), int) if rank is None else rank

    @property
    def size(self) -> Any:
        """Return the number of elements."""
        if self._selection is not None:
            return math.prod(self.shape)
        tensor = self.tensor
        count: Any = tensor.shape.num_elements()
        if count is not None:
            return count
        if tensor.shape.rank is None:
            return weak_scalar(tf.size(tensor, tf.int64), int)
        return math.prod(self.shape)

    @property
    def itemsize(self) -> int:
        """Return the number of bytes of one element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> Any:
        """Return the number of bytes of all elements."""
        return self.size * self.itemsize


class scalar(ndarray):
    """A number that is a tensor, in the place of NumPy's np.float64 and similar, or of Python's int or float.

    It is immutable, as NumPy's scalars are.

    Attributes:
        weak: the Python type (int, float, complex, bool) of a staged Python number, which is weak in
            promotion; None for a number with a NumPy dtype.
        known: the known bounds of a staged Python integer.
        undecided: the two kinds of a path-dependent number; None for any other number.
        python: a boolean tensor, true at run time if a path-dependent number is Python's.
    """

    __slots__ = ("known", "python", "undecided", "weak")

    weak: type | None
    known: SymInt | None
    undecided: Any
    python: tf.Tensor | None

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """Return the class for ``isinstance``; for a known number NumPy's (np.float64 is also a float)."""
        # This does not read the value: the cell of a name that may be unbound records every read.
        tensor = self._cell._value
        if self.weak is not None or not hasattr(tensor, "numpy"):
            return scalar
        return self.dtype.type


def is_array(value: Any) -> bool:
    """Return whether `value` is an array or number on TensorFlow; ``isinstance`` also accepts np.ndarray."""
    return type(value) in _OURS or represents_staged(value)


def is_foreign(dtype: np.dtype[Any]) -> bool:
    """Return whether TensorFlow lacks a dtype (objects, strings, records, dates, long doubles)."""
    if dtype.kind in "biufc":
        return dtype.char in "gG"
    return dtype.kind != "V" or dtype.char == "V" or "int" in dtype.name


_OURS = frozenset({ndarray, scalar})


def is_ordinary(operand: Any) -> bool:
    """Return whether an operand is certainly in C order in memory, without a closer look."""
    if type(operand) is ndarray:
        if operand._cell.order is not None:
            return False
        return not operand._path or all(lens.keeps_order for lens in operand._path)
    return not isinstance(operand, np.ndarray) or is_array(operand) or operand.flags.c_contiguous


def cell_of(array: Any) -> Cell:
    """Return the cell of an array on TensorFlow, without the path through which the array sees it."""
    return array._cell  # type: ignore[no-any-return]


def path_of(array: Any) -> tuple[Lens, ...]:
    """Return the path of lenses through which an array on TensorFlow sees its cell."""
    return array._path  # type: ignore[no-any-return]


def _new(cls: type[ndarray], cell: Cell, path: tuple[Lens, ...]) -> Any:
    if not quick.tensors:
        importlib.import_module("np2tf.tnp._entry.routing")
    array = object.__new__(cls)
    array._cell = cell
    array._path = path
    array._cache = None
    return array


def array_over(cell: Cell, path: tuple[Lens, ...] = ()) -> ndarray:
    """Return the array that sees `cell` through `path`."""
    made: ndarray = _new(ndarray, cell, path)
    return made


def tensor_array(tensor: tf.Tensor) -> ndarray:
    """Return a new array whose contents are `tensor`."""
    made: ndarray = _new(ndarray, Cell(tensor), ())
    return made


def tensor_scalar(tensor: tf.Tensor) -> scalar:
    """Return a number with a NumPy dtype."""
    number: scalar = _new(scalar, Cell(tensor), ())
    number.weak = number.known = number.undecided = number.python = None
    entered = current_region()
    if entered is not None and entered.counter is not None:
        entered.numbers.append(weakref.ref(number))
    return number


def weak_scalar(tensor: tf.Tensor, kind: type, known: SymInt | None = None) -> scalar:
    """Return a staged Python number of type `kind`."""
    number = tensor_scalar(tensor)
    number.weak = kind
    number.known = SymInt.fresh(tensor) if known is None and kind is int else known
    return number


def wrap_tensor(value: Any) -> Any:
    """Return the result of an op in NumPy's form: a result without axes is a number."""
    if isinstance(value, tf.Tensor):
        return tensor_scalar(value) if value.shape.rank == 0 else tensor_array(value)
    if type(value) in (tuple, list):
        return type(value)(map(wrap_tensor, value))
    if isinstance(value, tuple):
        return type(value)(*map(wrap_tensor, value))
    return value


def as_raw(value: Any) -> Any:
    """Return `value` with arrays on TensorFlow replaced by their tensors, also in tuples, lists and dicts."""
    if is_array(value):
        return value.tensor
    kind = type(value)
    if kind is dict:
        items = list(map(as_raw, value.values()))
        return value if all(map(is_, items, value.values())) else dict(zip(value, items))
    if kind is list or isinstance(value, tuple):
        items = list(map(as_raw, value))
        if any(map(is_not, items, value)):
            return kind(*items) if hasattr(value, "_fields") else kind(items)
    return value
