"""`vjp`, `jvp` and `linearize`: products with Jacobians."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.tnp._operands.conversion import as_tensor
from np2tf.transform_errors import TransformArgumentError
from np2tf.transforms.core.arguments import Arguments
from np2tf.transforms.core.functions import check_callable
from np2tf.transforms.core.leaves import FLOAT0, Form, dtype_of, shape_of, with_rows
from np2tf.transforms.core.recordings import Recording
from np2tf.transforms.core.structures import map_leaves


def vjp(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """Compute `fun`, and return the function that multiplies its Jacobian by vectors from the left.

    Args:
        fun: a function of arrays of any shapes and dtypes, or of nested values of these, that returns the
            same.
        *primals: the arguments of `fun`.
        has_aux: whether `fun` returns a pair of its result and auxiliary data.

    Returns:
        The pair ``(result, vjp_fun)``, or ``(result, vjp_fun, aux)``. ``vjp_fun(cotangent)`` takes a value of
        the structure, shapes and dtypes of the result, and returns a tuple with one value for each primal, of
        its structure, shapes and dtypes.

    Raises:
        TransformError: an operation has no derivative, or a cotangent does not fit the result.

    See https://docs.jax.dev/en/latest/_autosummary/jax.vjp.html.
    """
    check_callable(fun, "vjp")
    form = Form(primals)
    arguments = Arguments(fun, primals, {}, tuple(range(len(primals))))
    recording = Recording(arguments.run, arguments.leaves, has_aux)

    def vjp_fun(cotangent: Any) -> Any:
        form = Form((primals, cotangent))
        cotangent = map_leaves(with_rows, cotangent)
        cotangent_leaves = recording.structure.leaves_of(cotangent, "the cotangent")
        tensors = _as_directions(
            cotangent_leaves, recording.outputs, recording.places, "cotangent", "the result"
        )
        leaves = arguments.with_products(recording.pull_back(tensors))
        return form.build(arguments.structure, leaves)

    result = form.build(recording.structure, recording.outputs)
    return (result, vjp_fun, form.of(recording.aux)) if has_aux else (result, vjp_fun)


def jvp(fun: Callable[..., Any], primals: Any, tangents: Any, has_aux: bool = False) -> Any:
    """Compute `fun`, and the product of its Jacobian with a vector from the right.

    Args:
        fun: a function of arrays of any shapes and dtypes, or of nested values of these, that returns the
            same.
        primals: the arguments of `fun`, as a tuple or list.
        tangents: the vector: a tuple or list of the structure, shapes and dtypes of `primals`.
        has_aux: whether `fun` returns a pair of its result and auxiliary data.

    Returns:
        The pair ``(result, tangent)``, or ``(result, tangent, aux)``. The tangent has the structure, shapes
        and dtypes of the result.

    Raises:
        TransformError: an operation has no derivative, or the tangents do not fit the primals.

    See https://docs.jax.dev/en/latest/_autosummary/jax.jvp.html.
    """
    check_callable(fun, "jvp")
    if not isinstance(primals, (tuple, list)) or not isinstance(tangents, (tuple, list)):
        raise TransformArgumentError(
            "primal and tangent arguments to jvp must be tuples or lists; found "
            f"{type(primals).__name__} and {type(tangents).__name__}: write jvp(f, (x,), (t,))"
        )
    result, push, aux = _linearize(fun, tuple(primals), has_aux, Form((primals, tangents)))
    tangent = push(*tangents)
    return (result, tangent, aux) if has_aux else (result, tangent)


def linearize(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """Compute `fun`, and return the function that multiplies its Jacobian by vectors from the right.

    Args:
        fun: a function of arrays of any shapes and dtypes, or of nested values of these, that returns the
            same.
        *primals: the arguments of `fun`.
        has_aux: whether `fun` returns a pair of its result and auxiliary data.

    Returns:
        The pair ``(result, jvp_fun)``, or ``(result, jvp_fun, aux)``. ``jvp_fun(*tangents)`` takes one value
        for each primal, of its structure, shapes and dtypes, and returns a value like the result.

    Raises:
        TransformError: an operation has no derivative, or the tangents do not fit the primals.

    See https://docs.jax.dev/en/latest/_autosummary/jax.linearize.html.
    """
    check_callable(fun, "linearize")
    result, push, aux = _linearize(fun, primals, has_aux, Form(primals))
    return (result, push, aux) if has_aux else (result, push)


def _linearize(fun: Callable[..., Any], primals: tuple[Any, ...], has_aux: bool, form: Form) -> Any:
    arguments = Arguments(fun, primals, {}, tuple(range(len(primals))))
    recording = Recording(arguments.run, arguments.leaves, has_aux)
    push = recording.push_forward()

    def jvp_fun(*tangents: Any) -> Any:
        form = Form((primals, tangents))
        tangents = map_leaves(with_rows, tangents)
        tangent_leaves = arguments.structure.leaves_of(tangents, "the tangents")
        every = arguments.structure.leaves
        tensors = push(_as_directions(tangent_leaves, every, arguments.places, "tangent", "the primal"))
        leaves: list[Any] = [np.zeros(shape_of(leaf), FLOAT0) for leaf in recording.outputs]
        for place, tensor in zip(recording.places, tensors, strict=True):
            leaves[place] = tensor
        return form.build(recording.structure, leaves)

    return form.build(recording.structure, recording.outputs), jvp_fun, form.of(recording.aux)


def _as_directions(
    values: Sequence[Any], like: Sequence[Any], places: Sequence[int], subject: str, of: str
) -> list[tf.Tensor]:
    """Return the tangents or cotangents of the inexact leaves as tensors.

    Raises:
        TransformArgumentError: a shape or dtype differs from that of the leaf it belongs to.
    """
    for k, (value, leaf) in enumerate(zip(values, like, strict=True)):
        if tuple(shape_of(value)) != tuple(shape_of(leaf)):
            raise TransformArgumentError(
                f"the {subject} has shape {tuple(shape_of(value))}, "
                f"where {of} has shape {tuple(shape_of(leaf))}"
            )
        leaf_dtype, value_dtype = dtype_of(leaf), dtype_of(value)
        if k not in places:
            if value_dtype is not None or getattr(value, "dtype", None) != FLOAT0:
                raise TransformArgumentError(
                    f"{of} has the dtype {leaf_dtype}, whose {subject} has the dtype float0: give "
                    f"np.zeros({tuple(shape_of(leaf))}, [('float0', 'V')]), or differentiate other arguments"
                )
        elif value_dtype != leaf_dtype and type(value) not in (int, float, complex):
            raise TransformArgumentError(
                f"the {subject} has the dtype {value_dtype}, where {of} has {leaf_dtype}: "
                f"use {subject}.astype({leaf_dtype})"
            )
    return [as_tensor(values[k], dtype_of(like[k])) for k in places]
