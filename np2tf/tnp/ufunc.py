"""Universal functions: one class, NumPy's promotion, a TensorFlow function for the work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import tensorflow as tf

from np2tf.counts import counts
from np2tf.staging import StagingError
from np2tf.tnp.cells import current_region
from np2tf.tnp.conversion import as_tensor, cast, to_numpy
from np2tf.tnp.dtypes import kind_of, ufunc_loop
from np2tf.tnp.ndarray import host_array, is_array, ndarray, tensor_array, wrap, wrap_tensor
from np2tf.tnp.normalize import OPS, on_host, store_into
from np2tf.tnp.residence import runs_on_host
from np2tf.tnp.selected_ops import elementwise, on_selections

#: NumPy's ufunc -> ours.
UFUNCS: dict[np.ufunc, Ufunc] = {}


class Ufunc:
    """A universal function over host and tensor arrays; see https://numpy.org/doc/stable/reference/ufuncs.html."""

    #: name of the ufunc -> functions for reduce and accumulate on tensors, filled by the reductions chapter.
    reducers: ClassVar[dict[str, Callable[..., Any]]] = {}
    accumulators: ClassVar[dict[str, Callable[..., Any]]] = {}
    #: (ufunc, array, indices, operand) -> None, for `at` on tensors, filled by the indexing chapter.
    scatter: Callable[[Ufunc, ndarray, Any, Any], None] | None = None

    def __init__(self, numpy: np.ufunc, implementation: Callable[..., Any]) -> None:
        self.numpy = numpy
        self.implementation = implementation
        self.__name__ = numpy.__name__
        self.__doc__ = numpy.__doc__
        self.nin, self.nout, self.nargs = numpy.nin, numpy.nout, numpy.nargs
        self.ntypes, self.types, self.identity, self.signature = (
            numpy.ntypes,
            numpy.types,
            numpy.identity,
            numpy.signature,
        )
        UFUNCS[numpy] = self
        OPS[numpy] = self

    def __repr__(self) -> str:
        return f"<ufunc '{self.__name__}'>"

    def __reduce__(self) -> str:
        return self.__name__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Apply elementwise, with broadcasting and NumPy's promotion.

        Raises:
            TypeError: no loop of the ufunc fits the operands.
        """
        if runs_on_host(args, kwargs):
            return on_host(self.numpy, args, kwargs)
        staging = not tf.executing_eagerly()
        try:
            result = self._on_tensors(args, **kwargs)
        except (StagingError, tf.errors.OpError):
            if staging:
                raise
            counts.host += 1
            return on_host(self.numpy, args, kwargs)
        if not staging:
            counts.eager += 1
        return result

    def _on_tensors(
        self,
        args: tuple[Any, ...],
        out: Any = None,
        where: Any = True,
        dtype: Any = None,
        casting: str = "same_kind",
        **rest: Any,
    ) -> Any:
        if rest.keys() - {"order", "subok"}:
            raise TypeError(f"{self.__name__}() got an unexpected keyword argument {min(rest)!r}")
        operands = args[: self.nin]
        if len(operands) < self.nin:
            raise TypeError(f"{self.__name__}() takes from {self.nin} to {self.nargs} positional arguments")
        if len(args) > self.nin:
            out = args[self.nin] if self.nout == 1 else tuple(args[self.nin :])
        selected = self._on_selections(operands, dtype) if where is True else None
        if selected is not None:
            return selected if out is None else store_into(out, selected)
        result = self.compute(operands, dtype)
        if where is not True:
            result = self._masked(result, where, out)
        wrapped = wrap_tensor(result)
        return wrapped if out is None else store_into(out, wrapped)

    def _on_selections(self, operands: tuple[Any, ...], dtype: Any) -> Any:
        if self.signature is not None:
            return on_selections(self.__name__, self, operands, {}) if dtype is None else None
        return elementwise(operands, lambda wholes: self.compute(tuple(wholes), dtype))

    def compute(self, operands: tuple[Any, ...], dtype: Any = None) -> Any:
        """The result as tensors of NumPy's result dtypes."""
        loop = ufunc_loop(self.numpy, tuple(map(kind_of, operands)), dtype)
        tensors = [as_tensor(operand, wanted) for operand, wanted in zip(operands, loop, strict=False)]
        result = self.implementation(*tensors)
        if self.nout == 1:
            return cast(result, loop[-1])
        return tuple(cast(part, wanted) for part, wanted in zip(result, loop[self.nin :], strict=True))

    def _masked(self, result: Any, where: Any, out: Any) -> Any:
        if self.nout != 1:
            raise StagingError("where= with several results", "NP2TF503")
        before = (
            tf.zeros((), result.dtype)
            if out is None
            else as_tensor(out[0] if isinstance(out, tuple) else out, result.dtype.as_numpy_dtype)
        )
        return tf.where(as_tensor(where, np.bool_), result, before)

    def reduce(self, array: Any, axis: Any = 0, **kwargs: Any) -> Any:
        """Reduce along `axis` (default 0) by applying the ufunc between elements."""
        return self._along("reduce", self.reducers, array, axis, kwargs)

    def accumulate(self, array: Any, axis: int = 0, **kwargs: Any) -> Any:
        """Running results of the ufunc along `axis`."""
        return self._along("accumulate", self.accumulators, array, axis, kwargs)

    def _along(
        self, name: str, table: dict[str, Callable[..., Any]], array: Any, axis: Any, kwargs: dict[str, Any]
    ) -> Any:
        function = table.get(self.__name__)
        if function is None or runs_on_host((array,), kwargs):
            return on_host(getattr(self.numpy, name), (array, axis), kwargs)
        return function(array, axis=axis, **kwargs)

    def reduceat(self, array: Any, indices: Any, axis: int = 0, **kwargs: Any) -> Any:
        """Reduce over the slices that start at `indices` (by NumPy, on the host)."""
        return on_host(self.numpy.reduceat, (array, indices, axis), kwargs)

    def outer(self, a: Any, b: Any, **kwargs: Any) -> Any:
        """Apply to all pairs: the result has shape ``a.shape + b.shape``."""
        if runs_on_host((a, b), kwargs):
            return on_host(self.numpy.outer, (a, b), kwargs)
        left, right = as_tensor(a), as_tensor(b)
        return self(wrap_tensor(left[(..., *[None] * right.shape.rank)]), wrap_tensor(right), **kwargs)

    def at(self, array: Any, indices: Any, *operands: Any) -> Any:
        """Apply in place, once for every index, also for repeated ones; returns `array`."""
        if isinstance(array, tf.Tensor):
            return self.at(tensor_array(array), indices, *operands).tensor
        held = array._host if is_array(array) else array
        if not is_array(array) and not isinstance(array, np.ndarray):
            raise TypeError("first operand must be array")
        if held is not None and current_region() is None:
            self.numpy.at(held, to_numpy(indices), *map(to_numpy, operands))
            return array
        target = array if is_array(array) else host_array(array)
        try:
            Ufunc.scatter(self, target, indices, operands[0] if operands else None)  # type: ignore[misc]
        except (StagingError, tf.errors.OpError):
            if not tf.executing_eagerly():
                raise
            counts.host += 1
            copy = np.array(target.numpy())
            self.numpy.at(copy, to_numpy(indices), *map(to_numpy, operands))
            target.store(tf.constant(copy))
        return array


def array_ufunc(self: ndarray, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """NumPy's own ufuncs, given one of our arrays (https://numpy.org/neps/nep-0013-ufunc-overrides.html)."""
    ours = UFUNCS.get(ufunc)
    if isinstance(kwargs.get("out"), tuple) and len(kwargs["out"]) == 1:
        kwargs["out"] = kwargs["out"][0]
    if ours is not None:
        return getattr(ours, method)(*inputs, **kwargs)
    return on_host(getattr(ufunc, method), inputs, kwargs)


def array_function(self: ndarray, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """NumPy's own functions, given one of our arrays (https://numpy.org/neps/nep-0018-array-function-protocol.html)."""
    ours = OPS.get(function)
    if ours is not None:
        return ours(*args, **kwargs)
    return wrap(function(*map(to_numpy, args), **{name: to_numpy(value) for name, value in kwargs.items()}))


ndarray.__array_ufunc__ = array_ufunc  # type: ignore[attr-defined]
ndarray.__array_function__ = array_function  # type: ignore[attr-defined]
