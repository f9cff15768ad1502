"""custom_vjp and custom_jvp: functions whose derivative the user gives."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.eager import record

from np2tf.arrays.operands.conversion import as_tensor
from np2tf.arrays.tensors.dtype_dispatch import conjugate
from np2tf.core.errors import CustomRuleError
from np2tf.transforms.runnable import bind_arguments, check_callable, name_like, runnable
from np2tf.transforms.values import (
    FLOAT0,
    Form,
    Structure,
    as_array,
    dtype_of,
    is_inexact,
    map_leaves,
    shape_of,
    wrapper_of,
)

# -- custom operations ---------------------------------------------------------------------------------------
# Operations with a derivative of their own, for tapes and in graphs.

#: Tensors of the operands -> tensors of the results, and the function from gradients of the results, in
#: TensorFlow's convention, to gradients of the operands.
Operation = Callable[
    [Sequence[tf.Tensor]], tuple[list[tf.Tensor], Callable[[Sequence[tf.Tensor]], list[Any]]]
]


def apply_operation(operation: Operation, operands: Sequence[tf.Tensor]) -> list[tf.Tensor]:
    """Return the results of an operation on tensors, recorded with the operation's own derivative."""

    def forward(*tensors: tf.Tensor) -> Any:
        results, backward = operation(tensors)

        def gradient(*gradients: tf.Tensor, variables: Any = None) -> Any:
            products = backward(gradients)
            input_gradients = [
                tf.zeros_like(tensor) if product is None else product
                for tensor, product in zip(tensors, products, strict=True)
            ]
            return (input_gradients, [None] * len(variables)) if variables else input_gradients

        return results, gradient

    if not operands:
        return operation([])[0]
    return list(tf.custom_gradient(forward)(*operands))


# -- custom rules --------------------------------------------------------------------------------------------
# `custom_vjp` and `custom_jvp`: functions whose derivative the user gives.


class _Running(threading.local):
    """The functions whose rules this thread is running now."""

    def __init__(self) -> None:
        self.functions: set[int] = set()


_running_rules = _Running()


@contextmanager
def _running_rule_of(function: Any) -> Iterator[None]:
    """Let calls of the function, in its own rule, compute the function itself; its rule is asked for
    later.
    """
    before = _running_rules.functions
    _running_rules.functions = {*before, id(function)}
    try:
        yield
    finally:
        _running_rules.functions = before


class _Call:
    """A call of a function with a rule: its arguments, and the leaves that the rule is about."""

    def __init__(self, args: Sequence[Any], nondiff: Sequence[int]) -> None:
        self.nondiff = [args[k] for k in nondiff]
        self._places = [k for k in range(len(args)) if k not in nondiff]
        self._args = [map_leaves(as_array, arg) for arg in args]
        self.structure = Structure(tuple(args[k] for k in self._places))
        self.inexact = [k for k, leaf in enumerate(self.structure.leaves) if is_inexact(leaf)]
        self.operands = [as_tensor(self.structure.leaves[k]) for k in self.inexact]

    def primals(self, tensors: Sequence[tf.Tensor]) -> tuple[Any, ...]:
        """Return the differentiated arguments with these values."""
        leaves = [as_array(leaf) for leaf in self.structure.leaves]
        for place, tensor in zip(self.inexact, tensors, strict=True):
            leaves[place] = wrapper_of(self.structure.leaves[place])(tensor)
        return self.structure.build(leaves)  # type: ignore[no-any-return]

    def all_arguments(self, primals: Sequence[Any]) -> list[Any]:
        """Return all arguments in their order, with the given values for the differentiated arguments."""
        args = list(self._args)
        for place, value in zip(self._places, primals, strict=True):
            args[place] = value
        return args

    def tangents(self, tensors: Sequence[tf.Tensor]) -> tuple[Any, ...]:
        """Return tangents for the differentiated arguments: tangents of integers have the dtype float0."""
        leaves: list[Any] = [np.zeros(shape_of(leaf), FLOAT0) for leaf in self.structure.leaves]
        for place, tensor in zip(self.inexact, tensors, strict=True):
            leaves[place] = wrapper_of(self.structure.leaves[place])(tensor)
        return self.structure.build(leaves)  # type: ignore[no-any-return]


class _Result:
    """The result of a function with a rule; its inexact leaves are results of an operation."""

    def __init__(self, value: Any) -> None:
        self.structure = Structure(value)
        self.inexact = [k for k, leaf in enumerate(self.structure.leaves) if is_inexact(leaf)]

    @property
    def tensors(self) -> list[tf.Tensor]:
        """The inexact leaves as tensors."""
        return [as_tensor(self.structure.leaves[k]) for k in self.inexact]

    def build(self, tensors: Sequence[tf.Tensor]) -> Any:
        """Return the result with other inexact leaves."""
        leaves = list(self.structure.leaves)
        for place, tensor in zip(self.inexact, tensors, strict=True):
            leaves[place] = wrapper_of(leaves[place])(tensor)
        return self.structure.build(leaves)

    def cotangent(self, gradients: Sequence[tf.Tensor]) -> Any:
        """Return the cotangent of the result, in JAX's convention for complex numbers."""
        leaves: list[Any] = [np.zeros(shape_of(leaf), FLOAT0) for leaf in self.structure.leaves]
        for place, gradient in zip(self.inexact, gradients, strict=True):
            leaves[place] = wrapper_of(self.structure.leaves[place])(conjugate(gradient))
        return self.structure.build(leaves)


def custom_vjp(fun: Callable[..., Any], nondiff_argnums: Sequence[int] = ()) -> Any:
    """Return `fun` with your own rule for its reverse-mode derivative.

    Args:
        fun: a function of arrays of any shapes and dtypes, or of nested values of these, that returns the
            same.
        nondiff_argnums: the positions of arguments that are not differentiated, such as functions.

    Returns:
        A function like `fun` with the method ``defvjp(fwd, bwd)``. ``fwd(*args)`` returns the pair of result
        and residuals. ``bwd(*nondiff_args, residuals, cotangent)`` returns a tuple with a cotangent for each
        differentiated argument; None stands for zeros.

    Raises:
        CustomRuleError: on a call, if there is no rule, or it returns the wrong structure.

    See https://docs.jax.dev/en/latest/_autosummary/jax.custom_vjp.html.
    """
    check_callable(fun, "custom_vjp")
    rules: list[Callable[..., Any]] = []
    positions = tuple(nondiff_argnums)

    def with_rule(*args: Any, **kwargs: Any) -> Any:
        if not rules:
            raise CustomRuleError(
                f"no VJP defined for custom_vjp function {_name(fun)}: call its defvjp(fwd, bwd)"
            )
        args = bind_arguments(fun, args, kwargs)
        form = Form(args)
        if form.is_host:
            return fun(*args)
        call = _Call(args, positions)
        fwd, bwd = map(runnable, rules)
        results: list[_Result] = []

        def apply_rule(tensors: Sequence[tf.Tensor]) -> Any:
            with _running_rule_of(fun):
                pair = fwd(*call.all_arguments(call.primals(tensors)))
            if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                raise CustomRuleError(
                    f"the function fwd of {_name(fun)} must return a pair (result, residuals), but returns a "
                    f"{type(pair).__name__}"
                )
            result, residuals = _Result(pair[0]), pair[1]
            results.append(result)

            def backward(gradients: Sequence[tf.Tensor]) -> list[Any]:
                cotangents = bwd(*call.nondiff, residuals, result.cotangent(gradients))
                return _cotangents(cotangents, call, _name(fun))

            return result.tensors, backward

        operation = (
            _without_rule(fun, call, apply_rule, results)
            if id(fun) in _running_rules.functions
            else apply_rule
        )
        tensors = apply_operation(operation, call.operands)
        return form.of(results[-1].build(tensors))

    def defvjp(fwd: Callable[..., Any], bwd: Callable[..., Any]) -> None:
        rules[:] = fwd, bwd

    wrapper = name_like(with_rule, fun, "custom_vjp")
    wrapper.defvjp = defvjp
    return wrapper


def custom_jvp(fun: Callable[..., Any], nondiff_argnums: Sequence[int] = ()) -> Any:
    """Return `fun` with your own rule for its forward-mode derivative.

    Args:
        fun: a function of arrays of any shapes and dtypes, or of nested values of these, that returns the
            same.
        nondiff_argnums: the positions of arguments that are not differentiated, such as functions.

    Returns:
        A function like `fun` with the methods ``defjvp(rule)`` and ``defjvps(*rules)``. ``rule(*nondiff_args,
        primals, tangents)`` returns the pair of result and tangent, and is linear in the tangents. With
        ``defjvps``, each argument has a rule ``(tangent, result, *primals) -> tangent of the result``; None
        stands for zeros.

    Raises:
        CustomRuleError: on a call, if there is no rule, or it returns the wrong structure.

    See https://docs.jax.dev/en/latest/_autosummary/jax.custom_jvp.html.
    """
    check_callable(fun, "custom_jvp")
    rules: list[Callable[..., Any]] = []
    positions = tuple(nondiff_argnums)

    def with_rule(*args: Any, **kwargs: Any) -> Any:
        if not rules:
            raise CustomRuleError(
                f"no JVP defined for custom_jvp function {_name(fun)}: call its defjvp(rule)"
            )
        args = bind_arguments(fun, args, kwargs)
        form = Form(args)
        if form.is_host:
            return fun(*args)
        call = _Call(args, positions)
        rule = runnable(rules[0])
        results: list[_Result] = []

        def apply_rule(tensors: Sequence[tf.Tensor]) -> Any:
            primals = call.primals(tensors)
            directions = [tf.ones_like(tensor) for tensor in tensors]
            tape = tf.GradientTape(persistent=True, watch_accessed_variables=False)
            with tape, _running_rule_of(fun):
                tape.watch(directions)
                pair = rule(*call.nondiff, primals, call.tangents(directions))
                if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                    raise CustomRuleError(
                        f"the rule of {_name(fun)} must return a pair (result, tangent), but returns a "
                        f"{type(pair).__name__}"
                    )
                result = _Result(pair[0])
                results.append(result)
                subject = f"the tangent that the rule of {_name(fun)} returns"
                leaves = result.structure.leaves_of(pair[1], subject)
                products = [
                    as_tensor(leaves[k], dtype_of(result.structure.leaves[k])) for k in result.inexact
                ]

            def backward(gradients: Sequence[tf.Tensor]) -> list[Any]:
                return tape.gradient(products, directions, output_gradients=list(gradients))  # type: ignore[no-any-return]

            return result.tensors, backward

        operation = (
            _without_rule(fun, call, apply_rule, results)
            if id(fun) in _running_rules.functions
            else apply_rule
        )
        tensors = apply_operation(operation, call.operands)
        return form.of(results[-1].build(tensors))

    def defjvp(rule: Callable[..., Any], symbolic_zeros: bool = False) -> Callable[..., Any]:
        rules[:] = (rule,)
        return rule

    def defjvps(*parts: Callable[..., Any] | None) -> None:
        def rule(primals: Any, tangents: Any) -> Any:
            result = runnable(fun)(*primals)
            terms = [
                runnable(part)(tangent, result, *primals)
                for part, tangent in zip(parts, tangents, strict=True)
                if part is not None
            ]
            return result, _sum_of(terms, result)

        rules[:] = (rule,)

    wrapper = name_like(with_rule, fun, "custom_jvp")
    wrapper.defjvp, wrapper.defjvps = defjvp, defjvps
    return wrapper


def _without_rule(
    fun: Callable[..., Any], call: _Call, operation_with_rule: Operation, results: list[_Result]
) -> Operation:
    """Return the operation for a call in the function's own rule: a derivative of it runs the rule again."""

    def operation(tensors: Sequence[tf.Tensor]) -> Any:
        with record.stop_recording():
            result = _Result(runnable(fun)(*call.all_arguments(call.primals(tensors))))
            tensors_of_result = result.tensors
        results.append(result)
        return tensors_of_result, lambda gradients: operation_with_rule(tensors)[1](gradients)

    return operation


def _sum_of(terms: Sequence[Any], like: Any) -> Any:
    structure = Structure(like)
    if not terms:
        return map_leaves(lambda leaf: leaf * 0, like)
    columns = zip(*(structure.leaves_of(term, "a tangent") for term in terms), strict=True)
    return structure.build([sum(parts[1:], parts[0]) for parts in columns])


def _cotangents(returned_value: Any, call: _Call, name: str) -> list[Any]:
    """Return the gradients of the inexact leaves, in TensorFlow's convention."""
    primals = call.structure.build(call.structure.leaves)
    if not isinstance(returned_value, (tuple, list)) or len(returned_value) != len(primals):
        raise CustomRuleError(
            f"the function bwd of {name} must return a tuple with a cotangent for each of {len(primals)} "
            f"differentiated arguments, but returns {type(returned_value).__name__}"
            + (f" of length {len(returned_value)}" if isinstance(returned_value, (tuple, list)) else "")
        )
    leaves: list[Any] = []
    for primal, cotangent in zip(primals, returned_value, strict=True):
        structure = Structure(primal)
        no_cotangents = [None] * len(structure.leaves)
        leaves += (
            no_cotangents
            if cotangent is None
            else structure.leaves_of(cotangent, f"a cotangent of bwd of {name}")
        )
    gradients: list[Any] = []
    for place in call.inexact:
        leaf, like = leaves[place], call.structure.leaves[place]
        if leaf is not None and tuple(shape_of(leaf)) != tuple(shape_of(like)):
            raise CustomRuleError(
                f"the function bwd of {name} returns a cotangent of shape {tuple(shape_of(leaf))} for an "
                f"argument of shape {tuple(shape_of(like))}"
            )
        gradients.append(None if leaf is None else conjugate(as_tensor(leaf, dtype_of(like))))
    return gradients


def _name(function: Any) -> str:
    return str(getattr(function, "__name__", function))
