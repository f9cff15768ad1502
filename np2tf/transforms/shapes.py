"""`eval_shape`: shapes and dtypes of a function's result, without computing it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.arrays.array.ndarray import is_array, tensor_array, tensor_scalar, wrap_tensor
from np2tf.arrays.front.flags import current_mode, promotion_scope
from np2tf.arrays.operands.conversion import as_tensor
from np2tf.arrays.tensors.graphs import new_graph, new_placeholder
from np2tf.arrays.tensors.storage import current_scope, staging_scope
from np2tf.core.errors import StagingError, TransformArgumentError
from np2tf.staging.callees.callees import staged_callee
from np2tf.staging.callees.eager_callees import eager_version
from np2tf.staging.trace.trace import Trace, trace_of
from np2tf.transforms.runnable import check_callable
from np2tf.transforms.values import Structure, dtype_of, shape_of, wrapper_of


@dataclass(frozen=True)
class ShapeDtypeStruct:
    """The shape and dtype of an array without its values.

    Args:
        shape: the lengths of the axes.
        dtype: a dtype of NumPy's, or its name.

    See https://docs.jax.dev/en/latest/_autosummary/jax.ShapeDtypeStruct.html.
    """

    shape: tuple[int, ...]
    dtype: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", tuple(self.shape))
        object.__setattr__(self, "dtype", np.dtype(self.dtype))

    @property
    def ndim(self) -> int:
        """Return the number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Return the number of elements."""
        return int(np.prod(self.shape, dtype=int))


def eval_shape(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Return the shapes and dtypes of the result of `fun`, without computing it.

    Args:
        fun: a function of arrays of any shapes and dtypes, or of nested values of these, that returns the
            same.
        *args, **kwargs: the arguments: arrays, numbers, or `ShapeDtypeStruct` in their place.

    Returns:
        A value of the structure of the result, with a `ShapeDtypeStruct` for each array and number.

    Raises:
        TransformArgumentError: a shape depends on values of the arguments.

    See https://docs.jax.dev/en/latest/_autosummary/jax.eval_shape.html.
    """
    check_callable(fun, "eval_shape")
    return shapes_of_result(fun, args, kwargs)


def shapes_of_result(
    fun: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any] | None = None
) -> Any:
    """Return the shapes and dtypes for arguments given as a sequence and a dict."""
    structure = Structure((tuple(args), kwargs or {}))
    around = current_scope()
    if around is not None:
        trace = trace_of(around)
        with trace.throwing_away(), staging_scope(trace) as scope:
            try:
                return _describe(fun, structure)
            finally:
                scope.undo()
    try:
        with _graph().as_default():
            trace = Trace(xla=False)
            with promotion_scope(current_mode()), staging_scope(trace) as root:
                trace.root = root
                return _describe(staged_callee(fun), structure)
    except StagingError:
        pass
    # A function with effects, or of another kind that is not staged.
    with _graph().as_default():
        return _describe(eager_version(fun), structure)


def _graph() -> Any:
    return new_graph("shapes")


def _describe(fun: Callable[..., Any], structure: Structure) -> Any:
    args, kwargs = structure.build([_placeholder(leaf) for leaf in structure.leaves])
    result = Structure(fun(*args, **kwargs))
    return result.build([_description(leaf) for leaf in result.leaves])


def _placeholder(leaf: Any) -> Any:
    if isinstance(leaf, ShapeDtypeStruct):
        placeholder = new_placeholder(tf.as_dtype(leaf.dtype), leaf.shape)
        return tensor_scalar(placeholder) if not leaf.shape else tensor_array(placeholder)
    dtype = dtype_of(leaf)
    if dtype is None:
        return leaf
    if dtype.kind in "biu" and not shape_of(leaf) and not is_array(leaf):
        return leaf  # a number that may be a length
    placeholder = new_placeholder(tf.as_dtype(dtype), shape_of(leaf))
    return wrapper_of(leaf)(placeholder)


def _description(leaf: Any) -> Any:
    dtype = dtype_of(leaf)
    if dtype is None:
        return leaf
    tensor = wrap_tensor(as_tensor(leaf)).tensor if is_array(leaf) else leaf
    shape = getattr(tensor, "shape", ())
    if isinstance(shape, tf.TensorShape):
        if not shape.is_fully_defined():
            raise TransformArgumentError(
                "the shape of a result depends on values of the arguments, which eval_shape does not compute"
            )
        shape = shape.as_list()
    return ShapeDtypeStruct(tuple(shape), dtype)
