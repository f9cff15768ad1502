"""`grad` and `value_and_grad`: gradients of functions with one real result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from np2tf.transform_errors import OutputKindError
from np2tf.transforms.core.arguments import Arguments, check_argnums, check_output, check_reverse_input
from np2tf.transforms.core.functions import check_callable, name_like
from np2tf.transforms.core.leaves import Form, shape_of
from np2tf.transforms.core.recordings import Recording
from np2tf.transforms.core.structures import show


def grad(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[..., Any]:
    """Return a function that computes the gradient of `fun`.

    Args:
        fun: a function of arrays of any shapes and inexact dtypes, or of lists, dicts, tuples and objects of
            these, that returns one real floating-point number (shape ()). It may be jitted, translated, or a
            plain function over NumPy.
        argnums: the position of the argument to differentiate with respect to, or several positions.
        has_aux: whether `fun` returns a pair of the number and auxiliary data.
        holomorphic: whether `fun` is holomorphic: its arguments and its result are complex.
        allow_int: whether integers may be among the arguments; their gradients are of dtype float0.

    Returns:
        A function with the arguments of `fun`. It returns the gradient: arrays of the shapes and dtypes of
        the argument, in its structure; a tuple of these if `argnums` has several positions. With `has_aux`,
        it returns a pair of gradient and auxiliary data.

    Raises:
        TransformError: on a call, if an input or the result has no gradient, or an operation has no
            derivative; the message names the operation, file and line.

    See https://docs.jax.dev/en/latest/_autosummary/jax.grad.html.
    """
    check_callable(fun, "grad")
    value_and_grad_of = _value_and_grad(fun, argnums, has_aux, holomorphic, allow_int, "grad")

    def gradient(*args: Any, **kwargs: Any) -> Any:
        value, derivative = value_and_grad_of(*args, **kwargs)
        return (derivative, value[1]) if has_aux else derivative

    options = (argnums, has_aux, holomorphic, allow_int)
    return name_like(gradient, fun, "grad", options)  # type: ignore[no-any-return]


def value_and_grad(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[..., Any]:
    """Return a function that computes the value and the gradient of `fun`.

    Args:
        fun, argnums, has_aux, holomorphic, allow_int: as for `grad`.

    Returns:
        A function with the arguments of `fun` that returns the pair ``(value, gradient)``; with `has_aux`,
        the pair ``((value, aux), gradient)``. The value has shape ().

    Raises:
        TransformError: on a call, as for `grad`.

    See https://docs.jax.dev/en/latest/_autosummary/jax.value_and_grad.html.
    """
    check_callable(fun, "value_and_grad")
    function = _value_and_grad(fun, argnums, has_aux, holomorphic, allow_int, "value_and_grad")
    options = (argnums, has_aux, holomorphic, allow_int)
    return name_like(function, fun, "value_and_grad", options)  # type: ignore[no-any-return]


def _value_and_grad(
    fun: Callable[..., Any], argnums: Any, has_aux: bool, holomorphic: bool, allow_int: bool, name: str
) -> Callable[..., Any]:
    positions = check_argnums(argnums)

    def value_and_gradient(*args: Any, **kwargs: Any) -> Any:
        form = Form((args, kwargs))
        arguments = Arguments(fun, args, kwargs, positions)
        every = arguments.structure.leaves
        check_reverse_input(every, name, holomorphic, allow_int)
        recording = Recording(arguments.run, arguments.leaves, has_aux)
        if len(recording.outputs) != 1 or recording.structure.outline != "leaf":
            output = show(form.of(recording.structure.build(recording.outputs)))
            raise OutputKindError(f"gradient only defined for scalar-output functions. Output was: {output}")
        (value,) = recording.outputs
        if shape_of(value) != ():
            raise OutputKindError(
                f"gradient only defined for scalar-output functions. Output had shape: {shape_of(value)}; "
                "return a sum or mean, or use jacrev"
            )
        check_output(value, name, holomorphic)
        products = recording.pull_back([tf.ones_like(value)])
        leaves = arguments.with_products(products)
        gradient = form.build(arguments.structure, leaves)
        value = form.leaf(value)
        return ((value, form.of(recording.aux)) if has_aux else value), gradient

    return value_and_gradient
