"""`np2tf.load`: a saved function, called with NumPy's arrays."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.arrays.operands.conversion import to_numpy
from np2tf.integrations.serving.inputs import signature_text

#: Python's numbers, which take the dtype of a signature; an array keeps its own.
_WEAK = (bool, int, float, complex)


class LoadedFunction:
    """A saved function, which takes and returns NumPy's arrays.

    Attributes:
        signatures: the inputs that the function accepts, as texts that `np2tf.save` reads.

    Args:
        model: the object that TensorFlow has loaded.
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        concrete = model.__call__.concrete_functions
        self._specs = [list(function.structured_input_signature[0]) for function in concrete]
        # TensorFlow keeps no order of signatures: the one with the most open lengths comes last.
        self._specs.sort(key=lambda specs: sum(n is None for spec in specs for n in spec.shape))
        self.signatures = list(map(signature_text, self._specs))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function.

        Args:
            *args, **kwargs: arrays, numbers, or nested lists of numbers, in the order of the inputs or by
                their names. Arrays have the dtypes of a signature; Python's numbers take them.

        Returns:
            The function's result, with np.ndarray and NumPy's numbers in it.

        Raises:
            TypeError: if no signature has these dtypes and shapes.
            tf.errors.InvalidArgumentError: where NumPy would raise an error because of values.
        """
        for specs in self._specs:
            tensors = _tensors_for(specs, args, kwargs)
            if tensors is not None:
                return _to_host(self._model(*tensors))
        kinds = [
            f"{np.asarray(argument).dtype}{list(np.shape(argument))}"
            for argument in (*args, *kwargs.values())
        ]
        raise TypeError(f"the function takes {' or '.join(self.signatures)}, not {', '.join(kinds)}")

    def __repr__(self) -> str:
        return f"<function loaded by np2tf: {'; '.join(self.signatures)}>"


def load(folder: str | os.PathLike[str]) -> LoadedFunction:
    """Load a function saved by `np2tf.save`.

    Args:
        folder: the folder.

    Returns:
        A function of NumPy's arrays, with NumPy's dtypes.

    Raises:
        OSError: if there is no saved model in the folder.
        ValueError: if the model was not saved by `np2tf.save` and cannot be called.

    See https://www.tensorflow.org/api_docs/python/tf/saved_model/load.
    """
    model = tf.saved_model.load(os.fspath(folder))
    if not hasattr(getattr(model, "__call__", None), "concrete_functions"):  # noqa: B004
        raise ValueError(f"the model in {os.fspath(folder)!r} has no function to call")
    return LoadedFunction(model)


def _tensors_for(specs: Sequence[Any], args: Sequence[Any], kwargs: dict[str, Any]) -> list[Any] | None:
    """Return the tensors for a signature; None if the arguments are of other kinds."""
    values = dict(zip([spec.name for spec in specs], args))
    if len(args) > len(specs) or values.keys() & kwargs.keys():
        return None
    values |= kwargs
    if values.keys() != {spec.name for spec in specs}:
        return None
    tensors = [_tensor(values[spec.name], spec) for spec in specs]
    return None if any(tensor is None for tensor in tensors) else tensors


def _tensor(value: Any, spec: Any) -> Any:
    dtype = np.dtype(spec.dtype.as_numpy_dtype)
    array = np.asarray(to_numpy(value))
    if type(value) in _WEAK or isinstance(value, (list, tuple)):
        if not np.can_cast(array.dtype, dtype, "same_kind"):
            return None
        array = array.astype(dtype)
    if array.dtype != dtype or not spec.shape.is_compatible_with(array.shape):
        return None
    return tf.constant(array)


def _to_host(value: Any) -> Any:
    """Return a result with NumPy's arrays, and Python's own lists and dicts."""
    if isinstance(value, dict):
        # A saved model keeps no order of keys.
        return {key: _to_host(value[key]) for key in sorted(value, key=str)}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(_to_host, value))
    if isinstance(value, (list, tuple)):
        return (tuple if isinstance(value, tuple) else list)(map(_to_host, value))
    return value.numpy()


__all__ = ["LoadedFunction", "load"]
