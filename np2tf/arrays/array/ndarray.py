"""The dtypes that TensorFlow lacks."""

from __future__ import annotations

import math
import sys
import types
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

from np2tf.arrays.front.flags import fast_flags, transform_depth
from np2tf.arrays.front.residency import without_tensors
from np2tf.arrays.front.tensorflow_loading import load
from np2tf.arrays.tensors.graphs import default_graph
from np2tf.arrays.tensors.storage import Storage, current_scope, is_stand_in, write_lock
from np2tf.arrays.tensors.symbolic_integers import SymInt
from np2tf.core import late
from np2tf.core.containers import STRUCTURES
from np2tf.core.errors import NoGraphFormError, ShapeNeededError, ValueNeededError
from np2tf.core.late import LazyModule, tf

# -- dtypes --------------------------------------------------------------------------------------------------


def is_unsupported_dtype(dtype: np.dtype[Any]) -> bool:
    """Return whether TensorFlow lacks a dtype (objects, strings, records, dates, long doubles)."""
    if dtype.kind in "biufc":
        return dtype.char in "gG"
    return dtype.kind != "V" or dtype.char == "V" or "int" in dtype.name


# -- subclasses ----------------------------------------------------------------------------------------------
# The base class of classes that a program derives from `tnp.ndarray`.

_arrays: Any = LazyModule("np2tf.arrays.array.ndarray")


@without_tensors
class SubclassBase(np.ndarray):
    """np.ndarray, with methods that accept `tnp.ndarray` in the place of np.ndarray."""

    def view(self, *args: Any, **kwargs: Any) -> Any:
        """Return a new view of this array, as another dtype or another class.

        See https://numpy.org/doc/stable/reference/generated/numpy.ndarray.view.html.
        """
        keywords = {name: _numpys(value) for name, value in kwargs.items()}
        return super().view(*map(_numpys, args), **keywords)


def _numpys(kind: Any) -> Any:
    return np.ndarray if kind is _arrays.ndarray else kind


# -- ndarray -------------------------------------------------------------------------------------------------
# `tnp.ndarray`: NumPy's mutable, view-making array over a tensor.
#
# On the host an array is np.ndarray; this class is the array on TensorFlow. This module is the small core
# that all other modules import. The modules that implement operators and methods attach them to the class
# (`op.attach`); the first array on TensorFlow loads these modules. Nothing here imports TensorFlow before
# then.

if TYPE_CHECKING:
    from np2tf.arrays.array import view_transforms
    from np2tf.arrays.array.view_transforms import ViewTransform
else:
    view_transforms = LazyModule("np2tf.arrays.array.view_transforms")


#: The parameters of the constructor, in order.
_PARAMETERS = ("shape", "dtype", "buffer", "offset", "strides", "order")


class _ArrayType(type):
    """The metaclass that lets ``isinstance(x, tnp.ndarray)`` accept both kinds of array.

    Classes that a program derives from `tnp.ndarray` are derived from np.ndarray instead.
    """

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **keywords: Any) -> type:
        """Make a class. A program's subclass of `tnp.ndarray` is derived from np.ndarray instead."""
        if not bases or namespace.get("__module__") == __name__:
            return super().__new__(mcs, name, bases, namespace)
        numpys = tuple(SubclassBase if base is ndarray else base for base in bases)
        return types.prepare_class(name, numpys)[0](name, numpys, namespace, **keywords)

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
        arguments = {**dict(zip(_PARAMETERS, args, strict=False)), **kwargs}
        if arguments.get("buffer") is not None and fast_flags.tensors:
            view = late.arrays.view_of_buffer(
                arguments["buffer"], lambda buffer: np.ndarray(**{**arguments, "buffer": buffer})
            )
            if view is not None:
                return view
        array: np.ndarray = np.ndarray(*args, **kwargs)
        if fast_flags.host or array.base is not None:
            return array
        return late.arrays.wrap_result(array)


class ndarray(metaclass=_ArrayType):
    """An array of any number of axes with NumPy's meaning, held by TensorFlow.

    It has a storage, which holds a tensor, and a chain of view transforms through which it sees the storage.
    See https://numpy.org/doc/stable/reference/arrays.ndarray.html.
    """

    __slots__ = ("__weakref__", "_cache", "_chain", "_storage")

    __array_priority__ = 1000.0

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """Make an object of a class derived from np.ndarray, which calls ``tnp.ndarray.__new__(cls, …)``."""
        return np.ndarray.__new__(cls, *args, **kwargs)  # type: ignore[type-var]

    _storage: Storage
    _chain: tuple[ViewTransform, ...]
    _cache: tuple[Any, Any, tf.Tensor] | None

    # -- the storage -----------------------------------------------------------------------------------------

    def storage_and_chain(self) -> tuple[Storage, tuple[ViewTransform, ...]]:
        """Return the storage, and the chain of view transforms through which this array sees it."""
        return self._storage, self._chain

    @property
    def tensor(self) -> tf.Tensor:
        """Return the current value as a tensor."""
        base = self._storage.value
        if not self._chain:
            return base
        graph = None if tf.executing_eagerly() else default_graph()
        if self._cache is not None and self._cache[0] is base and self._cache[1] is graph:
            return self._cache[2]
        value = view_transforms.read_chain(base, self._chain)
        self._cache = (base, graph, value)
        return value

    def remember(self, value: tf.Tensor) -> None:
        """Keep `value`, which must be the current value, so that it is not computed again."""
        graph = None if tf.executing_eagerly() else default_graph()
        self._cache = (self._storage.value, graph, value)

    def store(self, value: tf.Tensor) -> None:
        """Replace the whole contents by `value`, of the same shape and dtype, as `x[...] = value` does.

        Raises:
            StagingError: elements share memory, and `value` does not tell which of them are written.
        """
        storage, chain = self._storage, self._chain
        if chain and view_transforms.overlaps(chain):
            raise NoGraphFormError("a write to some elements of overlapping windows")
        with write_lock:
            storage.write(view_transforms.write_chain(storage.value, chain, value) if chain else value)

    def store_through(self, transform: ViewTransform, value: tf.Tensor) -> None:
        """Replace the contents of a further view, as `view_through(transform).store(value)` does."""
        storage, chain = self._storage, self._chain
        with write_lock:
            storage.write(view_transforms.write_chain(storage.value, (*chain, transform), value))

    def view_through(self, transform: ViewTransform) -> ndarray:
        """Return a view of this array through one more view transform."""
        storage, chain = self._storage, self._chain
        if chain == storage.owner_chain and storage.owner is None:
            storage.owner = weakref.ref(self)
        return array_over(storage, (*chain, transform))

    def move_to(self, storage: Storage, chain: tuple[ViewTransform, ...] = ()) -> None:
        """Make this array see another storage, or its own differently: ``x.shape = …``, ``x.resize(…)``."""
        self._storage, self._chain, self._cache = storage, chain, None

    @property
    def is_read_only(self) -> bool:
        """Return whether writing through this array is forbidden."""
        return view_transforms.is_read_only(self._chain)

    def numpy(self) -> np.ndarray:
        """Return the contents as np.ndarray in the same memory order, copied from the tensor.

        Raises:
            StagingError: the value is not known while staging.
            LeftTensorFlowError: a transform differentiates the array.
        """
        if transform_depth.depth and tf.executing_eagerly():
            late.arrays.refuse_tensors(None, (self.tensor,))
        return self.contents()

    def contents(self) -> np.ndarray:
        """Like `numpy()`, but allowed while a transform is differentiating; use it for results that have no
        derivative.

        Raises:
            StagingError: the value is not known while staging.
        """
        if (
            self._chain
            and self._cache is None
            and all(type(transform) is view_transforms.Transpose for transform in self._chain)
        ):
            return view_transforms.view_on_host(array_over(self._storage).contents(), self._chain)
        tensor = self.tensor
        if isinstance(tensor, tf.Tensor) and not hasattr(tensor, "numpy"):
            static = tf.get_static_value(tensor)
            if static is None:
                scope = current_scope()
                if scope is not None:
                    scope.trace.need(tensor)
                raise ValueNeededError("the value of an array is needed during compilation")
            return np.array(static)
        value = tensor.numpy() if tensor.shape.rank else np.asarray(tensor.numpy())
        if value.ndim > 1 and not is_c_ordered(self):
            value = late.arrays.host_copy(self, value)
        if self._chain:
            if self.dtype.num != value.dtype.num:
                value = value.view(self.dtype)
            if self.is_read_only:
                value.flags.writeable = False
        return value

    @property
    def _selection(self) -> Any:
        """Return the selection that the whole array is, so that its value need not be computed; else None."""
        return None if self._chain else getattr(self._storage, "selection", None)

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
            raise ShapeNeededError("the shape of an array of unknown rank is needed during compilation")
        lengths = view_transforms.lengths(self._storage.value, self._chain)
        if lengths is None:
            sizes = tf.shape(tensor, out_type=tf.int64)
            static_sizes = enumerate(tensor.shape.as_list())
            lengths = [SymInt.fresh(sizes[k], 0) if size is None else size for k, size in static_sizes]
        return tuple(
            weak_scalar(length.tensor, int, length) if isinstance(length, SymInt) else length
            for length in lengths
        )

    @property
    def dtype(self) -> np.dtype[Any]:
        """Return the type of the elements, always as a NumPy dtype."""
        storage, chain = self._storage, self._chain
        selection = self._selection
        if selection is not None:
            return np.dtype(selection.whole.dtype.as_numpy_dtype)
        for transform in reversed(chain):
            if isinstance(transform, view_transforms.Bitcast):
                return transform.dtype
            if isinstance(transform, view_transforms.ComplexPart):
                return np.dtype(self.tensor.dtype.as_numpy_dtype)
        return np.dtype(storage.value.dtype.as_numpy_dtype)

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


#: Packages for which a staged number is an array, whatever class it has in NumPy.
_TREATING_AS_ARRAYS = frozenset({"np2tf", "tensorflow", "numpy", "keras", "tf_keras"})


class scalar(ndarray):
    """A number that is a tensor, in the place of NumPy's np.float64 and similar, or of Python's int or float.

    It is immutable, as NumPy's scalars are.

    Attributes:
        weak: the Python type (int, float, complex, bool) of a staged Python number, which is weak in
            promotion; None for a number with a NumPy dtype.
        staged_integer: the known bounds of a staged Python integer.
    """

    __slots__ = ("_alternatives", "staged_integer", "weak")

    weak: type | None
    staged_integer: SymInt | None
    _alternatives: Any

    @property
    def alternatives(self) -> Any:
        """What a path-dependent number may be (`path_dependent.Alternatives`); None for any other number.

        This reads the number, as `tensor` does: the name of a number may be unbound.
        """
        if self._alternatives is not None:
            self._storage.note_read()
        return self._alternatives

    @alternatives.setter
    def alternatives(self, value: Any) -> None:
        self._alternatives = value

    def tensors(self) -> list[tf.Tensor]:
        """Return the tensors that the number consists of."""
        return [self._storage.value] if self._alternatives is None else self._alternatives.all_tensors()

    def rebase(self, tensors: list[tf.Tensor]) -> None:
        """Replace the tensors by tensors of the same values."""
        if self._alternatives is not None:
            self._alternatives = self._alternatives.rebased(tensors)
            tensors = [self._alternatives.main_tensor]
        self._storage.rebase(tensors[0])

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """Return the class for ``isinstance``, which is NumPy's (np.float64 is also a float)."""
        # This does not read the value: the storage of a name that may be unbound records every read.
        tensor = self._storage._value
        if self.weak is None and hasattr(tensor, "numpy"):
            return self.dtype.type
        # The program asks for the class that the number has in NumPy; libraries must treat it as an array.
        frame = sys._getframe(1)
        package = _package_of(frame)
        if package in _TREATING_AS_ARRAYS or (package == "abc" and _package_of(frame.f_back) == "np2tf"):
            return scalar
        if self._alternatives is not None:
            raise ValueNeededError("the class of a number depends on the path that the code takes")
        return self.weak or self.dtype.type


def _package_of(frame: types.FrameType | None) -> str:
    return "" if frame is None else frame.f_globals.get("__name__", "").partition(".")[0]


def is_array(value: Any) -> bool:
    """Return whether `value` is an array or number on TensorFlow; ``isinstance`` also accepts np.ndarray."""
    return type(value) in _ARRAY_CLASSES or is_stand_in(value)


_ARRAY_CLASSES = frozenset({ndarray, scalar})


def is_c_ordered(operand: Any) -> bool:
    """Return whether an operand is certainly in C order in memory, without a closer look."""
    if type(operand) is ndarray:
        if operand._storage.order is not None:
            return False
        return not operand._chain or all(transform.keeps_order for transform in operand._chain)
    return not isinstance(operand, np.ndarray) or is_array(operand) or operand.flags.c_contiguous


def storage_of(array: Any) -> Storage:
    """Return the storage of an array on TensorFlow, without the chain through which the array sees it."""
    return array._storage  # type: ignore[no-any-return]


def alternatives_of(value: Any) -> Any:
    """Return the alternatives of a path-dependent number without reading it; None for any other value."""
    return value._alternatives if type(value) is scalar else None


def chain_of(array: Any) -> tuple[ViewTransform, ...]:
    """Return the chain of view transforms through which an array on TensorFlow sees its storage."""
    return array._chain  # type: ignore[no-any-return]


def _new(cls: type[ndarray], storage: Storage, chain: tuple[ViewTransform, ...]) -> Any:
    if not fast_flags.tensors:
        load()
    array = object.__new__(cls)
    array._storage = storage
    array._chain = chain
    array._cache = None
    return array


def array_over(storage: Storage, chain: tuple[ViewTransform, ...] = ()) -> ndarray:
    """Return the array that sees `storage` through `chain`."""
    array: ndarray = _new(ndarray, storage, chain)
    return array


def tensor_array(tensor: tf.Tensor) -> ndarray:
    """Return a new array whose contents are `tensor`."""
    array: ndarray = _new(ndarray, Storage(tensor), ())
    return array


def tensor_scalar(tensor: tf.Tensor) -> scalar:
    """Return a number with a NumPy dtype."""
    number: scalar = _new(scalar, Storage(tensor), ())
    number.weak = number.staged_integer = number._alternatives = None
    scope = current_scope()
    if scope is not None and scope.counter is not None:
        scope.numbers.append(weakref.ref(number))
    return number


def weak_scalar(tensor: tf.Tensor, kind: type, staged_integer: SymInt | None = None) -> scalar:
    """Return a staged Python number of type `kind`."""
    number = tensor_scalar(tensor)
    number.weak = kind
    number.staged_integer = SymInt.fresh(tensor) if staged_integer is None and kind is int else staged_integer
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


def unwrap_tensors(value: Any) -> Any:
    """Return `value` with arrays on TensorFlow replaced by their tensors, also in tuples, lists and dicts."""
    if is_array(value) or type(value) in arrays_of_rows:
        return value.tensor
    return STRUCTURES.replace_items(unwrap_tensors, value)


#: The class of ragged arrays (`np2tf.arrays`), once it is loaded.
arrays_of_rows: set[type] = set()
