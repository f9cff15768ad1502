"""`checkpoint`: a function whose intermediate values are computed again when they are needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import tensorflow as tf
from tensorflow.python.eager import record
from tensorflow.python.framework import op_callbacks

from np2tf.arrays.operands.conversion import as_tensor
from np2tf.transforms.custom_rules import apply_operation
from np2tf.transforms.runnable import check_callable, name_like, runnable
from np2tf.transforms.values import Form, Structure, as_array, is_inexact, wrapper_of


def checkpoint(
    fun: Callable[..., Any], *, prevent_cse: bool = True, policy: Any = None
) -> Callable[..., Any]:
    """Return `fun` with derivatives that keep only its arguments, and compute `fun` again.

    That saves memory and costs one more call of `fun` for each derivative.

    Args:
        fun: a function of arrays of any shapes and dtypes, or of nested values of these, that returns the
            same. It must compute the same each time.
        prevent_cse, policy: accepted for compatibility with JAX; only the arguments are kept.

    Returns:
        A function with the arguments and the results of `fun`.

    Raises:
        TransformError: on a derivative, as the derivative of `fun`.

    See https://docs.jax.dev/en/latest/_autosummary/jax.checkpoint.html.
    """
    check_callable(fun, "checkpoint")

    def again(*args: Any, **kwargs: Any) -> Any:
        form = Form((args, kwargs))
        if form.is_host:
            return fun(*args, **kwargs)
        structure = Structure((args, kwargs))
        places = [k for k, leaf in enumerate(structure.leaves) if is_inexact(leaf)]
        ready = runnable(fun)

        def run(tensors: Sequence[tf.Tensor]) -> Structure:
            leaves = [as_array(leaf) for leaf in structure.leaves]
            for place, tensor in zip(places, tensors, strict=True):
                leaves[place] = wrapper_of(structure.leaves[place])(tensor)
            own_args, own_kwargs = structure.build(leaves)
            return Structure(ready(*own_args, **own_kwargs))

        operands = [tf.identity(as_tensor(structure.leaves[k])) for k in places]
        with record.stop_recording(), _tensors_from_outside(operands) as outside:
            result = run(operands)
            tensors = _inexact_tensors(result)
        operation = _Recomputation(run, len(places), tensors)
        return form.of(_rebuild(result, apply_operation(operation, [*operands, *outside])))

    return name_like(again, fun, "checkpoint")  # type: ignore[no-any-return]


class _Recomputation:
    """A function as an operation that runs it again for its gradient.

    Args:
        run: the function of tensors.
        count: the number of tensors that are its arguments; the other tensors are read from outside.
        results: the results of the first run.
    """

    def __init__(
        self, run: Callable[[Sequence[tf.Tensor]], Structure], count: int, results: list[tf.Tensor]
    ) -> None:
        self._run, self._count, self._results = run, count, results

    def __call__(self, tensors: Sequence[tf.Tensor]) -> Any:
        def backward(gradients: Sequence[tf.Tensor]) -> list[Any]:
            with tf.GradientTape(watch_accessed_variables=False) as tape:
                fresh = [tf.identity(tensor) for tensor in tensors[: self._count]]
                tape.watch([*fresh, *tensors[self._count :]])
                with tf.control_dependencies([] if tf.executing_eagerly() else list(gradients)):
                    targets = _inexact_tensors(self._run(fresh))
            return tape.gradient(  # type: ignore[no-any-return]
                targets, [*fresh, *tensors[self._count :]], output_gradients=list(gradients)
            )

        return self._results, backward


def _inexact_tensors(structure: Structure) -> list[tf.Tensor]:
    return [as_tensor(leaf) for leaf in structure.leaves if is_inexact(leaf)]


def _rebuild(structure: Structure, tensors: Sequence[tf.Tensor]) -> Any:
    left = list(tensors)
    return structure.build(
        [wrapper_of(leaf)(left.pop(0)) if is_inexact(leaf) else leaf for leaf in structure.leaves]
    )


@contextmanager
def _tensors_from_outside(inner_tensors: Sequence[tf.Tensor]) -> Iterator[list[tf.Tensor]]:
    """Collect the inexact tensors from closures and globals that the block reads."""
    inner_ids = {id(tensor) for tensor in inner_tensors}
    keep: list[Any] = []
    outside: dict[int, tf.Tensor] = {}

    def note(
        kind: str, inputs: Any, attributes: Any, outputs: Any, op_name: Any = None, graph: Any = None
    ) -> None:
        for tensor in inputs:
            is_new = id(tensor) not in inner_ids and isinstance(tensor, tf.Tensor)
            if is_new and (tensor.dtype.is_floating or tensor.dtype.is_complex) and kind != "Const":
                outside[id(tensor)] = tensor
        inner_ids.update(map(id, outputs))
        keep.extend(outputs)

    tensors: list[tf.Tensor] = []
    op_callbacks.add_op_callback(note)
    try:
        yield tensors
    finally:
        op_callbacks.remove_op_callback(note)
        tensors += outside.values()
