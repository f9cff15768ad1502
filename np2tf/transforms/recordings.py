"""One call recorded by a gradient tape: products with its Jacobian, and clear errors where a derivative is
missing.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import tensorflow as tf
from tensorflow.python.framework import op_callbacks

from np2tf.arrays.operands.conversion import as_tensor
from np2tf.arrays.operands.numpy_warnings import is_inner, user_location
from np2tf.arrays.tensors.batches import quiet_tensorflow
from np2tf.arrays.tensors.dtype_dispatch import conjugate
from np2tf.arrays.tensors.graphs import default_graph
from np2tf.core.errors import NoDerivativeError, OutputKindError
from np2tf.transforms.values import Structure, is_inexact, wrapper_of

# -- missing gradients ---------------------------------------------------------------------------------------
# Errors of TensorFlow about operations without a derivative, in the words of the user's program; and its
# log messages about gradients, which say nothing about that program.

_OPERATION = re.compile(r"gradient registry has no entry for: (\w+)")
_NO_GRADIENT = re.compile(r"No gradient defined for operation '?([\w/]+)'? \(op type: (\w+)\)")


@contextmanager
def missing_gradients_named(again: Callable[[], Any]) -> Iterator[None]:
    """Raise NoDerivativeError with the line of the user's program, if an operation has no derivative.

    Args:
        again: calls the function that is differentiated, to find the line of the operation.
    """
    try:
        yield
    except (LookupError, NotImplementedError) as error:
        text = str(error)
        match = _OPERATION.search(text) or _NO_GRADIENT.search(text)
        if match is None and isinstance(error, LookupError):
            raise
        operation = match.groups()[-1] if match else ""
        message = f"TensorFlow's operation {operation} has no derivative" if match else text
        raise NoDerivativeError(
            f"{message}; write it with other functions of NumPy, apply np2tf.stop_gradient to its operands "
            "if the derivative is zero, or give the derivative with np2tf.custom_vjp",
            _line_of(operation, again) if match else None,
        ) from None


def _line_of(operation: str, again: Callable[[], Any]) -> tuple[str, int] | None:
    """Return the first line of the user's program that runs a TensorFlow operation."""
    if not tf.executing_eagerly():
        operations = [op for op in default_graph().get_operations() if op.type == operation]
        frames = [frame for op in operations[:1] for frame in op.traceback if not is_inner(frame.filename)]
        return (frames[-1].filename, frames[-1].lineno) if frames else None
    locations: list[tuple[str, int]] = []

    def note(kind: Any, *inputs: Any, **attributes: Any) -> None:
        if (kind.decode() if isinstance(kind, bytes) else kind) == operation:
            locations.append(user_location())

    op_callbacks.add_op_callback(note)
    try:
        again()
    finally:
        op_callbacks.remove_op_callback(note)
    return locations[0] if locations else None


# -- recordings ----------------------------------------------------------------------------------------------
# One call of a function, recorded by a gradient tape: products with its Jacobian, from both sides.
#
# TensorFlow's convention for complex numbers is the conjugate of JAX's. All products here are in JAX's:
# with a cotangent `c`, a holomorphic function gives `c * f'(z)`.


class _Recordings(threading.local):
    """The number of recordings of this thread whose functions are running now, and of all that were made."""

    depth = count = 0


recordings = _Recordings()


@contextmanager
def _count_recording() -> Iterator[None]:
    recordings.depth += 1
    recordings.count += 1
    try:
        yield
    finally:
        recordings.depth -= 1


class Recording:
    """A call of a function, and the means to differentiate it.

    Args:
        function: takes the leaves, as arrays or numbers on TensorFlow, and returns a nested value.
        leaves: the inexact leaves to differentiate with respect to.
        has_aux: whether the function returns a pair, whose second item is not differentiated.

    Attributes:
        outputs: the leaves of the result, as tensors; other objects unchanged.
        aux: the second item of the pair.
        inputs: the tensors that the tape watches.
        places: the places of the inexact outputs.
    """

    def __init__(self, function: Callable[..., Any], leaves: Sequence[Any], has_aux: bool = False) -> None:
        self.inputs = [tf.identity(as_tensor(leaf)) for leaf in leaves]
        wrappers = [wrapper_of(leaf) for leaf in leaves]
        self._run = lambda: function(
            *[wrap(value) for wrap, value in zip(wrappers, self.inputs, strict=True)]
        )
        self._tape = tf.GradientTape(persistent=True, watch_accessed_variables=False)
        with self._tape, _count_recording():
            self._tape.watch(self.inputs)
            result = self._run()
            self.aux: Any = None
            if has_aux:
                result, self.aux = split_aux(result)
            self.structure = Structure(result)
            # (Views are read here, while the tape records.)
            self.outputs = [_output(leaf) for leaf in self.structure.leaves]
        self.places = [k for k, value in enumerate(self.outputs) if is_inexact(value)]
        self._targets = [self.outputs[k] for k in self.places]

    def pull_back(self, cotangents: Sequence[tf.Tensor]) -> list[tf.Tensor]:
        """Return the product of cotangents, one for each inexact output, with the Jacobian."""
        return [
            conjugate(cotangent)
            for cotangent in self._adjoint([conjugate(cotangent) for cotangent in cotangents])
        ]

    def push_forward(self) -> Callable[[Sequence[tf.Tensor]], list[tf.Tensor]]:
        """Return the function that takes tangents of all inputs to the tangents of the inexact outputs.

        It is the adjoint of the adjoint, which is linear, so that its derivative holds at every point.
        """
        if not self._targets or not self.inputs:
            return lambda tangents: [tf.zeros_like(target) for target in self._targets]
        unit_cotangents = [tf.ones_like(target) for target in self._targets]
        outer = tf.GradientTape(persistent=True, watch_accessed_variables=False)
        with outer:
            outer.watch(unit_cotangents)
            adjoint = self._adjoint(unit_cotangents)

        def push(tangents: Sequence[tf.Tensor]) -> list[tf.Tensor]:
            with missing_gradients_named(self._run), quiet_tensorflow():
                products = outer.gradient(
                    adjoint, unit_cotangents, output_gradients=list(tangents), unconnected_gradients=_ZERO
                )
            return [tf.convert_to_tensor(tangent) for tangent in products]

        return push

    def _adjoint(self, cotangents: Sequence[tf.Tensor]) -> list[tf.Tensor]:
        if not self._targets or not self.inputs:
            return [tf.zeros_like(value) for value in self.inputs]
        with missing_gradients_named(self._run), quiet_tensorflow():
            gradients = self._tape.gradient(
                self._targets, self.inputs, output_gradients=list(cotangents), unconnected_gradients=_ZERO
            )
        return [tf.convert_to_tensor(gradient) for gradient in gradients]


_ZERO = tf.UnconnectedGradients.ZERO


def split_aux(result: Any) -> tuple[Any, Any]:
    """Return the two items of a result with auxiliary output; raise OutputKindError if it is no pair."""
    if not isinstance(result, (tuple, list)) or len(result) != 2:
        raise OutputKindError(
            f"with has_aux=True the function must return a pair, not a {type(result).__name__}"
        )
    return result[0], result[1]


def _output(leaf: Any) -> Any:
    if is_inexact(leaf):
        return tf.identity(as_tensor(leaf))
    return leaf
