"""grad, vjp, jvp, linearize, jacrev, jacfwd, hessian and stop_gradient."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.arrays.array.ndarray import is_array
from np2tf.arrays.operands.conversion import as_tensor
from np2tf.arrays.tensors.batches import quiet_tensorflow
from np2tf.core.errors import OutputKindError, ShapeNeededError, TransformArgumentError
from np2tf.transforms.arguments import (
    Arguments,
    check_argnums,
    check_forward_input,
    check_output,
    check_reverse_input,
)
from np2tf.transforms.recordings import Recording
from np2tf.transforms.runnable import check_callable, name_like
from np2tf.transforms.values import (
    FLOAT0,
    Form,
    dtype_of,
    is_inexact,
    map_leaves,
    shape_of,
    show,
    with_rows,
    wrapper_of,
)

# -- stopping ------------------------------------------------------------------------------------------------
# `stop_gradient`: values whose derivative is taken as zero.


def stop_gradient(x: Any) -> Any:
    """Return `x`, which every derivative treats as a constant.

    Args:
        x: an array of any shape and dtype, a number, or a nested value of these.

    Returns:
        A value of the structure, shapes and dtypes of `x`, with its values.

    See https://docs.jax.dev/en/latest/_autosummary/jax.lax.stop_gradient.html.
    """
    return map_leaves(_stop, x)


def _stop(leaf: Any) -> Any:
    if not is_inexact(leaf):
        return leaf
    if is_array(leaf):
        return wrapper_of(leaf)(tf.stop_gradient(leaf.tensor))
    return tf.stop_gradient(leaf) if isinstance(leaf, (tf.Tensor, tf.Variable)) else leaf


# -- gradients -----------------------------------------------------------------------------------------------
# `grad` and `value_and_grad`: gradients of functions with one real result.


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


# -- products ------------------------------------------------------------------------------------------------
# `vjp`, `jvp` and `linearize`: products with Jacobians.


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


# -- jacobians -----------------------------------------------------------------------------------------------
# `jacrev`, `jacfwd` and `hessian`: whole Jacobians, by rows or by columns.

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
        A function with the arguments of `fun`. It returns the structure of the result, in which the structure
        of the argument replaces each array: arrays of shape ``result.shape + argument.shape``. With
        `has_aux`, it returns a pair of that and the auxiliary data.

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
        A function like that of `jacrev`, with the same values.

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
        A function with the arguments of `fun`. It returns the structure of the result, in which the structure
        of the argument, nested twice, replaces each array: arrays of shape ``result.shape + argument.shape +
        argument.shape``.

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
