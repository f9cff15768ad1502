"""One call of a function, recorded by a gradient tape: products with its Jacobian, from both sides.

TensorFlow's convention for complex numbers is the conjugate of JAX's. All products here are in JAX's: with a
cotangent `c`, a holomorphic function gives `c * f'(z)`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import tensorflow as tf

from np2tf.tnp._operands.conversion import as_tensor
from np2tf.transform_errors import OutputKindError
from np2tf.transforms.core.leaves import is_inexact, wrapper_of
from np2tf.transforms.core.missing_gradients import missing_gradients_named, quiet_tensorflow
from np2tf.transforms.core.structures import Structure


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
        structure: the structure of the result.
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
            _conjugate(cotangent)
            for cotangent in self._adjoint([_conjugate(cotangent) for cotangent in cotangents])
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
    """Return the two items of the result of a function with auxiliary output.

    Raises:
        OutputKindError: the result is no pair.
    """
    if not isinstance(result, (tuple, list)) or len(result) != 2:
        raise OutputKindError(
            f"with has_aux=True the function returns a pair, and not a {type(result).__name__}"
        )
    return result[0], result[1]


def _output(leaf: Any) -> Any:
    if is_inexact(leaf):
        return tf.identity(as_tensor(leaf))
    return leaf


def _conjugate(tensor: tf.Tensor) -> tf.Tensor:
    return tf.math.conj(tensor) if tensor.dtype.is_complex else tensor
