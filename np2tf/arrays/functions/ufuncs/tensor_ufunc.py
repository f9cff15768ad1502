"""Universal functions over tensors: one class, with NumPy's promotion and a TensorFlow function for the
computation.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import tensorflow as tf

from np2tf.arrays.array.layout import lay_out_like_operands
from np2tf.arrays.array.ndarray import arrays_of_rows, is_array, ndarray, scalar, tensor_array, wrap_tensor
from np2tf.arrays.array.sequences import operand_of
from np2tf.arrays.dispatch.eager_fast_path import UFUNCS as DIRECT
from np2tf.arrays.dispatch.eager_fast_path import apply_to_bases
from np2tf.arrays.dispatch.op import LEFT_TO_NUMPY, OPS, call_numpy, leave_to_numpy, memory_order
from np2tf.arrays.dispatch.out_argument import check_buffer, check_output, check_shape, store_into
from np2tf.arrays.dispatch.placement import runs_on_host
from np2tf.arrays.front.flags import fast_flags, uses_numpy_rules
from np2tf.arrays.front.numpy_state import raises_floating_point_errors
from np2tf.arrays.indexing.index_keys import where_mask
from np2tf.arrays.indexing.selection_operations import apply_to_selections, elementwise
from np2tf.arrays.operands.conversion import (
    are_known,
    as_tensor,
    as_view,
    call_replaced,
    call_with_protocol,
    cast,
    refuse_to_lose_gradient,
    to_numpy,
)
from np2tf.arrays.operands.differentiated_values import any_followed
from np2tf.arrays.operands.numpy_warnings import ask_numpy
from np2tf.arrays.operands.promotion import is_known, promotion_kind, reduction_dtype, ufunc_loop
from np2tf.arrays.operands.staged_numbers import settle_numbers
from np2tf.arrays.operands.widened_storage import accept_either_dtype
from np2tf.arrays.tensors.dtype_dispatch import hidden_from_others
from np2tf.arrays.tensors.storage import current_scope
from np2tf.core.counts import counts
from np2tf.core.errors import NoGraphFormError, PromotionError, RaggedError

_ABSENT = object()
#: Functions to which programs pass a third operand by mistake, for which NumPy has a deprecation warning.
_TAKING_TWO = frozenset({np.maximum, np.minimum})

#: NumPy's ufunc -> the ufunc over tensors.
UFUNCS: dict[np.ufunc, Ufunc] = {}


class Ufunc:
    """A universal function over tensors. Programs call it through the function of its name in `front`.

    Args:
        numpy: NumPy's ufunc.
        implementation: the function over tensors of the loop's input dtypes.
    """

    #: The module of reduce, accumulate, reduceat and at on tensors: np2tf.arrays.functions.ufunc_methods.
    on_tensors: ClassVar[Any]

    def __init__(self, numpy: np.ufunc, implementation: Callable[..., Any]) -> None:
        self.numpy = numpy
        self.implementation = implementation
        self.direct = DIRECT.get(numpy.__name__)
        self.elementwise = numpy.signature is None and numpy.nout == 1
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

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Apply elementwise, with broadcasting and NumPy's promotion.

        Raises:
            TypeError: no loop of the ufunc fits the operands.
        """
        if fast_flags.is_unstaged and not kwargs:
            result = self.directly(args)
            if result is not None:
                return result
        if not are_known(args):
            return call_replaced(self, args, kwargs)
        if len(args) > self.nin:
            # `out` by position means the same as `out` by name.
            outs, args = args[self.nin :], args[: self.nin]
            if any(output is Ellipsis for output in outs):
                return self.numpy(*map(to_numpy, (*args, *outs)))  # says why not
            if self.numpy in _TAKING_TWO:
                ask_numpy(lambda: self.numpy(0, 0, np.empty((), int)))
            if "out" in kwargs or len(outs) > self.nout:
                raise TypeError("cannot specify 'out' as both a positional and keyword argument")
            kwargs = {
                **kwargs,
                "out": outs[0] if self.nout == 1 else (*outs, *[None] * (self.nout - len(outs))),
            }
        if runs_on_host(args, kwargs):
            return call_numpy(self.numpy, args, kwargs)
        staging = not tf.executing_eagerly()
        if not staging and raises_floating_point_errors():
            promoted_args = self._promote(args, kwargs)
            if not any_followed(args):
                counts.host += 1
                return call_numpy(self.numpy, promoted_args, kwargs)
            # NumPy raises the errors, and TensorFlow computes what can be differentiated.
            options = {name: to_numpy(value) for name, value in kwargs.items() if name != "out"}
            call_with_protocol(self.numpy, promoted_args, options, may_leave=True)
        try:
            result = self._on_tensors(args, **kwargs)
        except RaggedError:
            rows = next(arg for arg in args if type(arg) in arrays_of_rows)
            return rows.__array_ufunc__(self.numpy, "__call__", *args, **kwargs)
        except LEFT_TO_NUMPY as error:
            if staging or isinstance(error, PromotionError):
                raise
        else:
            counts.eager += not staging
            return result
        return leave_to_numpy(self.numpy, self._promote(args, kwargs), kwargs)

    def directly(self, args: tuple[Any, ...]) -> Any:
        """Return the result if one kernel computes the call (see `eager_fast_path`), else None."""
        if self.elementwise and len(args) == self.nin:
            result = apply_to_bases(self, args)
            if result is not None:
                return result
        if self.direct is None or len(args) != self.nin:
            return None
        try:
            result = self.direct(args)
        except LEFT_TO_NUMPY:
            # The general path raises the right error.
            return None
        counts.eager += result is not None
        return result

    def _on_tensors(
        self,
        args: tuple[Any, ...],
        out: Any = None,
        where: Any = True,
        dtype: Any = None,
        casting: str = "same_kind",
        order: Any = None,
        **keywords: Any,
    ) -> Any:
        if self.signature is not None and where is not True:
            raise TypeError(f"{self.__name__}() got an unexpected keyword argument 'where'")
        if keywords.keys() - {"subok"}:
            raise NoGraphFormError(f"{min(keywords)}=")
        operands = args if current_scope() is None else tuple(map(operand_of, args))
        if current_scope() is not None and dtype is None:
            operands = accept_either_dtype(self.numpy, settle_numbers(self.numpy, operands))
        if len(operands) < self.nin:
            raise TypeError(f"{self.__name__}() takes from {self.nin} to {self.nargs} positional arguments")
        if self.nout > 1 and out is not None and not isinstance(out, tuple):
            raise TypeError("'out' must be a tuple of arrays")
        for output in out if isinstance(out, tuple) else (out,):
            if output is not None:
                check_output(output)
        selection_result = self._on_selections(operands, dtype) if where is True else None
        if selection_result is not None:
            return selection_result if out is None else store_into(out, selection_result)
        tensors = self.compute(operands, dtype, casting)
        if where is not True:
            tensors = self._mask_result(tensors, where, out)
        result = wrap_tensor(tensors)
        if out is not None:
            return store_into(out, result, casting, self.numpy)
        if self.signature is not None:
            return result
        return lay_out_like_operands(
            result, operands, memory_order(order), self.nout > 1 or where is not True
        )

    def _on_selections(self, operands: tuple[Any, ...], dtype: Any) -> Any:
        if self.signature is not None:
            return apply_to_selections(self.__name__, self, operands, {}) if dtype is None else None
        return elementwise(operands, lambda wholes: self.compute(tuple(wholes), dtype))

    def compute(self, operands: tuple[Any, ...], dtype: Any = None, casting: str = "same_kind") -> Any:
        """Return the result as tensors of NumPy's result dtypes."""
        loop = ufunc_loop(self.numpy, tuple(map(promotion_kind, operands)), dtype, casting)
        tensors = [
            hidden_from_others(as_tensor(operand, target_dtype))
            for operand, target_dtype in zip(operands, loop, strict=False)
        ]
        result = self.implementation(*tensors)
        if self.nout == 1:
            return cast(result, loop[-1])
        return tuple(
            cast(part, target_dtype) for part, target_dtype in zip(result, loop[self.nin :], strict=True)
        )

    def _promote(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """Return the operands for NumPy; under other rules than NumPy's, in the dtypes of these rules."""
        if uses_numpy_rules() or len(args) != self.nin or kwargs.get("dtype") is not None:
            return args
        kinds = tuple(map(promotion_kind, args))
        if not is_known(kinds):
            return args
        loop = ufunc_loop(self.numpy, kinds)
        return tuple(
            as_tensor(operand, target_dtype) for operand, target_dtype in zip(args, loop, strict=False)
        )

    def _mask_result(self, result: Any, where: Any, out: Any) -> Any:
        if self.nout != 1:
            raise NoGraphFormError("where= with several results")
        before = (
            tf.zeros((), result.dtype)
            if out is None
            else as_tensor(out[0] if isinstance(out, tuple) else out, result.dtype.as_numpy_dtype)
        )
        return tf.where(where_mask(where), result, before)

    def reduce(
        self,
        array: Any,
        axis: Any = _ABSENT,
        dtype: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = _ABSENT,
        where: Any = True,
    ) -> Any:
        """Reduce an array by applying the ufunc between its elements along an axis."""
        more = {} if initial is _ABSENT or initial is np._NoValue else {"initial": initial}
        if where is not True:
            more["where"] = where
        if keepdims is not False:
            more["keepdims"] = keepdims
        if dtype is not None:
            more["dtype"] = dtype
        if axis is not _ABSENT:
            more["axis"] = axis
        # `initial=None` means that there is no number to begin with, so that an empty axis is an error.
        refused = initial is None and self.identity is not None
        function = None if refused else self.on_tensors.reducers.get(self.__name__)
        return self._along("reduce", function, (array,), more, out)

    def accumulate(self, array: Any, axis: Any = _ABSENT, dtype: Any = None, out: Any = None) -> Any:
        """Return the running results of the ufunc along an axis."""
        if is_array(out) and out.tensor.shape.rank == 0:  # here NumPy crashes
            raise ValueError("provided out is the wrong size for the accumulation.")
        if axis is None:
            raise ValueError("accumulate does not allow multiple axes")
        more = {} if axis is _ABSENT else {"axis": axis}
        if dtype is not None:
            more["dtype"] = dtype
        return self._along("accumulate", self.on_tensors.accumulators.get(self.__name__), (array,), more, out)

    def reduceat(
        self, array: Any, indices: Any, axis: Any = _ABSENT, dtype: Any = None, out: Any = None
    ) -> Any:
        """Reduce the slices of an array that start at given indices."""
        more = {} if axis is _ABSENT else {"axis": axis}
        if dtype is not None:
            more["dtype"] = dtype
        function = functools.partial(self.on_tensors.reduceat, self)
        return self._along("reduceat", function, (array, indices), more, out)

    def outer(self, a: Any, b: Any, /, **kwargs: Any) -> Any:
        """Apply the ufunc to all pairs of elements of two arrays.

        The result has the shape ``a.shape + b.shape``.
        """

        def pairs(a: Any, b: Any, **kwargs: Any) -> Any:
            left, right = as_tensor(a), as_tensor(b)
            return self(wrap_tensor(left[(..., *[None] * right.shape.rank)]), wrap_tensor(right), **kwargs)

        if self.nin != 2 or self.signature is not None:
            return self.numpy.outer(a, b)  # says why not
        return self._along("outer", pairs, (a, b), kwargs, None)

    def _along(
        self, name: str, function: Callable[..., Any] | None, args: Any, kwargs: dict[str, Any], out: Any
    ) -> Any:
        """Call a method of the ufunc: `function` on tensors, or NumPy's if there is none or it fails."""
        numpy = getattr(self.numpy, name)
        keywords = kwargs if out is None else {**kwargs, "out": out}
        if runs_on_host(args, keywords):
            return call_numpy(numpy, args, keywords)
        staging = not tf.executing_eagerly()
        try:
            if function is None or _answers(args[0]):
                raise NoGraphFormError(f"{self.__name__}.{name}")
            if name == "outer":
                return function(*args, **kwargs)
            into = out[0] if type(out) is tuple and len(out) == 1 else out
            if into is not None:
                check_output(into)
            operand = operand_of(args[0])
            dtype = reduction_dtype(
                self.numpy,
                np.result_type(promotion_kind(operand)),
                kwargs.get("dtype"),
                None if into is None else into.dtype,
            )
            result = function(operand, *args[1:], **{"axis": 0, **kwargs, "dtype": dtype})
            if into is None:
                return result
            check_shape(into, result)
            if name == "reduce":
                check_buffer(self.numpy, as_tensor(operand), dtype, into.dtype)
            return store_into(into, result, "unsafe")
        except LEFT_TO_NUMPY as error:
            if staging or isinstance(error, PromotionError):
                raise
        return leave_to_numpy(numpy, args, keywords)

    def at(self, array: Any, indices: Any, *operands: Any) -> Any:
        """Apply the ufunc in place, once for every index, also for repeated indices.

        Return `array`, or a new tensor if `array` is a tf.Tensor.
        """
        if isinstance(array, tf.Tensor):
            return self.at(tensor_array(array), indices, *operands).tensor
        if not is_array(array) and (current_scope() is None or not isinstance(array, np.ndarray)):
            refuse_to_lose_gradient((indices, *operands))
            at: Callable[..., Any] = self.numpy.at
            answer = at(array, to_numpy(indices), *map(to_numpy, operands))
            # If the class of the object decides, it may return an object of another class.
            return array if answer is None else answer
        target = as_view(array)
        try:
            self.on_tensors.scatter(self, target, indices, operands[0] if operands else None)
        except LEFT_TO_NUMPY as error:
            if not tf.executing_eagerly() or isinstance(error, PromotionError):
                raise
            counts.host += 1
            copy = np.array(target.numpy())
            self.numpy.at(copy, to_numpy(indices), *map(to_numpy, operands))
            target.store(tf.constant(copy))
        return array


def _answers(value: Any) -> bool:
    """Return whether an operand's own class decides the result of a universal function."""
    kind = type(value)
    return kind not in (ndarray, scalar, np.ndarray) and hasattr(kind, "__array_ufunc__")
