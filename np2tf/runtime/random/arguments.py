"""The arguments of a draw, and the form of its result: dtype, shape, and Python's, NumPy's or array type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.pytree.registry import SEARCHED_CONTAINERS
from np2tf.runtime.structures.array_stand_in import STAND_INS
from np2tf.staging import RandomUseError
from np2tf.tnp._array.ndarray import is_array, tensor_array, tensor_scalar, weak_scalar
from np2tf.tnp._operands.conversion import as_tensor
from np2tf.tnp._operands.promotion import has_tf_dtype

_UNKNOWN = "a draw gives what no tensor can be"
#: Name of a method that draws floats -> the parameters that are broadcast.
_FLOATS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("uniform",), ("low", "high")),
    **dict.fromkeys(("normal", "gumbel", "laplace", "logistic"), ("loc", "scale")),
    "lognormal": ("mean", "sigma"),
    **dict.fromkeys(("exponential", "rayleigh"), ("scale",)),
    "beta": ("a", "b"),
    "chisquare": ("df",),
    "f": ("dfnum", "dfden"),
    "gamma": ("shape", "scale"),
    "noncentral_chisquare": ("df", "nonc"),
    "noncentral_f": ("dfnum", "dfden", "nonc"),
    **dict.fromkeys(("pareto", "power", "weibull"), ("a",)),
    "standard_gamma": ("shape",),
    "standard_t": ("df",),
    "triangular": ("left", "mode", "right"),
    "vonmises": ("mu", "kappa"),
    "wald": ("mean", "scale"),
}
_INTEGERS: dict[str, tuple[str, ...]] = {
    "binomial": ("n", "p"),
    "geometric": ("p",),
    "hypergeometric": ("ngood", "nbad", "nsample"),
    "logseries": ("p",),
    "negative_binomial": ("n", "p"),
    "poisson": ("lam",),
    "zipf": ("a",),
    "integers": ("low", "high"),
    "randint": ("low", "high"),
}
#: The parameters after the parameters that are broadcast, in NumPy's order.
_LAST_PARAMETERS = {"integers": ("size", "dtype", "endpoint"), "randint": ("size", "dtype")}


@dataclass(frozen=True)
class Form:
    """The form of a draw's result.

    Attributes:
        dtype, shape: the dtype and shape of the tensor.
        weak: the class of a Python number; None for an array or a NumPy scalar.
        is_scalar: whether the result is a number, and no array.
    """

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    weak: type | None
    is_scalar: bool

    @classmethod
    def of(cls, sample: Any) -> Form:
        """Return the form of a sample result.

        Raises:
            StagingError: if no tensor can hold the result.
        """
        array = np.asarray(sample)
        if isinstance(sample, (str, bytes)) or not has_tf_dtype(array.dtype):
            raise RandomUseError(_UNKNOWN)
        weak = type(sample) if type(sample) in (int, float, bool) else None
        return cls(array.dtype, array.shape, weak, not isinstance(sample, np.ndarray))

    def wrap(self, tensor: tf.Tensor) -> Any:
        """Return the number or array of a tensor, as staged code sees it."""
        if not self.is_scalar:
            return tensor_array(tensor)
        return tensor_scalar(tensor) if self.weak is None else weak_scalar(tensor, self.weak)


def is_known(value: Any) -> bool:
    """Return whether an argument contains no staged value."""
    if SEARCHED_CONTAINERS.find(value) is not None:
        return all(map(is_known, SEARCHED_CONTAINERS.items(value)))
    if type(value) in STAND_INS or isinstance(value, (tf.Tensor, tf.Variable)):
        return False
    return not is_array(value)


def bind_arguments(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments by the names of the parameters.

    Raises:
        StagingError: if the method's parameters are unknown, or the arguments do not fit them.
    """
    params = _FLOATS.get(name) or _INTEGERS.get(name)
    if params is None:
        raise RandomUseError(f"`{name}` is given what is known at run time only")
    order = (*params, *_LAST_PARAMETERS.get(name, ("size",)))
    if len(args) > len(order) or not set(kwargs) <= set(order):
        raise RandomUseError(f"`{name}` is given other arguments than NumPy's")
    return {**dict(zip(order, args, strict=False)), **kwargs}


def form_of_staged(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Form:
    """Return the form of the result of a draw with staged parameters.

    Raises:
        StagingError: if the form depends on data.
    """
    arguments = bind_arguments(name, args, kwargs)
    size, kind = arguments.pop("size", None), arguments.pop("dtype", int)
    arguments.pop("endpoint", None)
    if not is_known((size, kind)):
        raise RandomUseError(f"the shape of what `{name}` draws depends on data")
    shapes = [as_tensor(argument).shape for argument in arguments.values() if argument is not None]
    if not all(shape.is_fully_defined() for shape in shapes):
        raise RandomUseError(f"the shape of what `{name}` draws depends on data")
    common = np.broadcast_shapes(*(tuple(shape.as_list()) for shape in shapes))
    shape = common if size is None else tuple(np.atleast_1d(size).tolist())
    scalar = size is None and common == ()
    if name in _FLOATS:
        return Form(np.dtype(float), shape, float if scalar else None, scalar)
    dtype = np.dtype(kind)
    python = {"i": int, "b": bool}.get(dtype.kind) if kind in (int, bool) else None
    return Form(dtype, shape, python if scalar and name != "integers" else None, scalar)
