"""`jacrev`, `jacfwd` and `hessian`: whole Jacobians, by rows or by columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.staging import ShapeNeededError
from np2tf.transforms.core.arguments import (
    Arguments,
    check_argnums,
    check_forward_input,
    check_output,
    check_reverse_input,
)
from np2tf.transforms.core.functions import check_callable, name_like
from np2tf.transforms.core.leaves import Form
from np2tf.transforms.core.missing_gradients import quiet_tensorflow
from np2tf.transforms.core.recordings import Recording

#: Fewer products than this are computed one after another: vectorising them would take longer.
_FEW_PRODUCTS = 12


def jacrev(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[..., Any]:
    """Return a function that computes the Jacobian of `fun` by rows, for few results of many inputs.

    Args:
        fun: a function of arrays of any shapes and inexact dtypes, or of nested values of these, that returns
            the same.
        argnums: the position of the argument to differentiate with respect to, or several positions.
        has_aux: whether `fun` returns a pair of its result and auxiliary data.
        holomorphic: whether `fun` is holomorphic: its arguments and its result are complex.
        allow_int: whether integers may be among the arguments.

    Returns:
        A function with the arguments of `fun`. It returns a value of the structure of the result, with a
        value
        of the structure of the argument in the place of each array: arrays of shape ``result.shape +
        argument.shape``. With `has_aux`, it returns a pair of that and the auxiliary data.

    Raises:
        TransformError: on a call, if an input or result has no derivative.

    See https://docs.jax.dev/en/latest/_autosummary/jax.jacrev.html.
    """
    check_callable(fun, "jacrev")
    positions = check_argnums(argnums)

    def jacobian(*args: Any, **kwargs: Any) -> Any:
        form = Form((args, kwargs))
        arguments = Arguments(fun, args, kwargs, positions)
        arguments.refuse_rows("jacrev")
        check_reverse_input(arguments.structure.leaves, "jacrev", holomorphic, allow_int)
        recording = Recording(arguments.run, arguments.leaves, has_aux)
        for leaf in recording.outputs:
            check_output(leaf, "jacrev", holomorphic)
        rows = _products(recording.pull_back, [recording.outputs[k] for k in recording.places])
        blocks = [
            [
                _with_axes(block, out.shape, argument.shape)
                for block, argument in zip(row, recording.inputs, strict=True)
            ]
            for row, out in zip(rows, recording.outputs, strict=True)
        ]
        return _result(form, recording, arguments, blocks, has_aux)

    options = (argnums, has_aux, holomorphic, allow_int)
    return name_like(jacobian, fun, "jacrev", options)  # type: ignore[no-any-return]


def jacfwd(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
) -> Callable[..., Any]:
    """Return a function that computes the Jacobian of `fun` by columns, for many results of few inputs.

    Args:
        fun: a function of arrays of any shapes and floating-point dtypes, or of nested values of these, that
            returns the same.
        argnums: the position of the argument to differentiate with respect to, or several positions.
        has_aux: whether `fun` returns a pair of its result and auxiliary data.
        holomorphic: whether `fun` is holomorphic: its arguments and its result are complex.

    Returns:
        A function as `jacrev` returns it, with the same values.

    Raises:
        TransformError: on a call, if an input has no derivative.

    See https://docs.jax.dev/en/latest/_autosummary/jax.jacfwd.html.
    """
    check_callable(fun, "jacfwd")
    positions = check_argnums(argnums)

    def jacobian(*args: Any, **kwargs: Any) -> Any:
        form = Form((args, kwargs))
        arguments = Arguments(fun, args, kwargs, positions)
        arguments.refuse_rows("jacfwd")
        check_forward_input(arguments.structure.leaves, "jacfwd", holomorphic)
        recording = Recording(arguments.run, arguments.leaves, has_aux)
        columns = _products(recording.push_forward(), recording.inputs)
        blocks: list[list[Any]] = []
        inexact = 0
        for place, out in enumerate(recording.outputs):
            if place not in recording.places:
                zeros = [np.zeros((*np.shape(out), *argument.shape)) for argument in recording.inputs]
                blocks.append(zeros)
                continue
            column = [parts[inexact] for parts in columns]
            blocks.append(
                [
                    _with_axes(_move_first_axis(part), out.shape, argument.shape)
                    for part, argument in zip(column, recording.inputs, strict=True)
                ]
            )
            inexact += 1
        return _result(form, recording, arguments, blocks, has_aux)

    options = (argnums, has_aux, holomorphic)
    return name_like(jacobian, fun, "jacfwd", options)  # type: ignore[no-any-return]


def hessian(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
) -> Callable[..., Any]:
    """Return a function that computes the second derivatives of `fun`.

    Args:
        fun: a function of arrays of any shapes and floating-point dtypes, or of nested values of these, that
            returns the same.
        argnums: the position of the argument to differentiate with respect to, or several positions.
        has_aux: whether `fun` returns a pair of its result and auxiliary data.
        holomorphic: whether `fun` is holomorphic: its arguments and its result are complex.

    Returns:
        A function with the arguments of `fun`. It returns a value of the structure of the result, with values
        of the structure of the argument twice inside one another: arrays of shape ``result.shape +
        argument.shape + argument.shape``.

    Raises:
        TransformError: on a call, if an input or result has no derivative.

    See https://docs.jax.dev/en/latest/_autosummary/jax.hessian.html.
    """
    check_callable(fun, "hessian")
    rows = jacrev(fun, argnums, has_aux=has_aux, holomorphic=holomorphic)
    return jacfwd(rows, argnums, has_aux=has_aux, holomorphic=holomorphic)


def _products(
    multiply: Callable[[Sequence[tf.Tensor]], list[tf.Tensor]], like: Sequence[tf.Tensor]
) -> list[list[tf.Tensor]]:
    """Return, for each tensor of `like`, the products with the unit vectors of its elements, along a new
    first axis.
    """
    products = []
    for place, tensor in enumerate(like):
        count = tensor.shape.num_elements()
        if count is None:
            raise ShapeNeededError.of(what="the number of elements for a Jacobian")
        units = tf.reshape(tf.eye(count, dtype=tensor.dtype), [count, *tensor.shape])

        def product(unit: tf.Tensor, place: int = place) -> list[tf.Tensor]:
            return multiply(
                [unit if k == place else tf.zeros_like(neighbour) for k, neighbour in enumerate(like)]
            )

        products.append(_for_each(product, units))
    return products


def _for_each(product: Callable[[tf.Tensor], list[tf.Tensor]], units: tf.Tensor) -> list[tf.Tensor]:
    count = units.shape[0]
    if count >= _FEW_PRODUCTS:
        try:
            with quiet_tensorflow():
                products = tf.vectorized_map(product, units, fallback_to_while_loop=False)
            return list(products)
        except (ValueError, NotImplementedError, TypeError, tf.errors.OpError):
            pass  # an operation has no vectorised form
    if not count:
        return [
            tf.zeros([0, *value.shape], value.dtype)
            for value in product(tf.zeros(units.shape[1:], units.dtype))
        ]
    rows = [product(units[k]) for k in range(count)]
    return [tf.stack(parts) for parts in zip(*rows, strict=True)]


def _move_first_axis(part: tf.Tensor) -> tf.Tensor:
    return tf.transpose(part, [*range(1, part.shape.rank), 0])


def _with_axes(block: tf.Tensor, *shapes: Any) -> tf.Tensor:
    lengths = [length for shape in shapes for length in shape]
    if None in lengths:
        raise ShapeNeededError.of(what="a length for a Jacobian")
    return tf.reshape(block, lengths)


def _result(
    form: Form, recording: Recording, arguments: Arguments, blocks: Sequence[Sequence[Any]], has_aux: bool
) -> Any:
    """Return the Jacobian: for each leaf of the result, the structure of the arguments, with the blocks."""
    rows = [form.build(arguments.structure, row) for row in blocks]
    jacobian = recording.structure.build(rows)
    return (jacobian, form.of(recording.aux)) if has_aux else jacobian
