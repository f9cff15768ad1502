"""The protocols by which TensorFlow watches arrays, takes them as arguments, or ignores them."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import FunctionType
from typing import Any

import tensorflow as tf
from tensorflow.python.framework.composite_tensor import CompositeTensor
from tensorflow.python.framework.composite_tensor_gradient import CompositeTensorGradient

from np2tf.arrays.array.ndarray import is_array, ndarray, scalar, wrap_tensor
from np2tf.arrays.front.residency import surroundings
from np2tf.arrays.functions.ufuncs.tensor_ufunc import Ufunc


class ArraySpec(tf.TensorSpec):
    """The type of an array on TensorFlow, which is that of its tensor, and equal to it.

    TensorFlow takes the array apart into the tensor.
    """

    def __eq__(self, other: object) -> bool:
        return isinstance(other, tf.TensorSpec) and self._plain() == (
            other._plain() if isinstance(other, ArraySpec) else other
        )

    def __hash__(self) -> int:
        return hash(self._plain())

    def most_specific_common_supertype(self, others: Any) -> tf.TensorSpec | None:
        """Return the type of tensors that includes these types; None without one."""
        plain = [other._plain() if isinstance(other, ArraySpec) else other for other in others]
        return self._plain().most_specific_common_supertype(plain)

    def _plain(self) -> tf.TensorSpec:
        return tf.TensorSpec(self.shape, self.dtype, self.name)

    def _to_components(self, value: Any) -> tf.Tensor:
        return tf.convert_to_tensor(value)


class _Gradient(CompositeTensorGradient):
    """The gradient of an array is an array of its tensor's gradient."""

    def get_gradient_components(self, value: Any) -> tf.Tensor:
        return value.tensor

    def replace_gradient_components(self, value: Any, component_grads: Any) -> Any:
        return wrap_tensor(component_grads)


def _take_tensors(method: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a method of tapes that needs a `tf.TensorShape`: it receives the tensors of arrays."""

    @wraps(method)
    def of_tensors(tape: tf.GradientTape, target: Any, sources: Any, *args: Any, **kwargs: Any) -> Any:
        if not any(map(is_array, tf.nest.flatten([target, sources]))):
            return method(tape, target, sources, *args, **kwargs)
        target_tensors, source_tensors = tf.nest.map_structure(_tensor_of, (target, sources))
        derivatives = method(tape, target_tensors, source_tensors, *args, **kwargs)
        return tf.nest.map_structure(_as_its_source, sources, derivatives)

    return of_tensors


def _take_tensors_for_zeros(method: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap the method of tapes that returns gradients: it makes zeros of tensors' dtypes for unconnected
    sources.
    """
    of_tensors = _take_tensors(method)

    @wraps(method)
    def gradient(tape: tf.GradientTape, *args: Any, **kwargs: Any) -> Any:
        has_zeros = "unconnected_gradients" in kwargs or len(args) > 3
        return (of_tensors if has_zeros else method)(tape, *args, **kwargs)

    return gradient


def _watch_tensors(method: Callable[..., None]) -> Callable[..., None]:
    """Wrap the constructor of forward accumulators so that they watch the tensors of arrays."""

    @wraps(method)
    def watch_tensors(accumulator: Any, primals: Any, tangents: Any) -> None:
        method(accumulator, *tf.nest.map_structure(_tensor_of, (primals, tangents)))

    return watch_tensors


def _return_arrays(method: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap the method of forward accumulators that returns derivatives, so that arrays get arrays."""

    @wraps(method)
    def fetch_arrays(accumulator: Any, primals: Any, *args: Any, **kwargs: Any) -> Any:
        if not any(map(is_array, tf.nest.flatten(primals))):
            return method(accumulator, primals, *args, **kwargs)
        derivatives = method(accumulator, tf.nest.map_structure(_tensor_of, primals), *args, **kwargs)
        return tf.nest.map_structure(_as_its_source, primals, derivatives)

    return fetch_arrays


def _defer_to_reflected(method: Callable[[Any, Any], Any], reflected_name: str) -> Callable[[Any, Any], Any]:
    """Wrap an operator of tensors so that arrays of other dtypes use their reflected operator.

    TensorFlow's own operator raises an error that Python does not treat as a refusal.
    """

    @wraps(method)
    def reflect(x: Any, y: Any) -> Any:
        if is_array(y) and y.tensor.dtype != x.dtype:
            return getattr(y, reflected_name)(x)
        return method(x, y)

    return reflect


def _tensor_of(value: Any) -> Any:
    return value.tensor if is_array(value) else value


def _as_its_source(source: Any, derivative: Any) -> Any:
    return wrap_tensor(derivative) if is_array(source) and derivative is not None else derivative


def _type_spec(self: ndarray) -> ArraySpec:
    """Return the type of the array as a composite tensor, which gradient tapes watch."""
    return ArraySpec(*_shape_and_dtype(self))


def _tracing_type(self: ndarray, context: Any) -> Any:
    """Return the type of an argument of a tf.function: a placeholder for a tensor, which is passed without a
    copy.
    """
    return tf.TensorSpec(*_shape_and_dtype(self))


def _shape_and_dtype(array: ndarray) -> tuple[Any, Any]:
    return array.tensor.shape, array.tensor.dtype


def _exempt_from_autograph(namespace: dict[str, Any]) -> None:
    """Keep AutoGraph from rewriting the methods of a class, which work for both kinds of tensors."""
    for value in namespace.values():
        if type(value) is FunctionType:
            value.autograph_info__ = {}  # type: ignore[attr-defined]


ndarray._convert_variables_to_tensors = lambda self: self  # type: ignore[attr-defined]
ndarray._type_spec = property(_type_spec)  # type: ignore[attr-defined]
ndarray.__composite_gradient__ = _Gradient()  # type: ignore[attr-defined]
ndarray.__tf_tracing_type__ = _tracing_type  # type: ignore[attr-defined]
CompositeTensor.register(ndarray)
# TensorFlow has no protocol for these operations, so its functions are replaced.
for _name in ("jacobian", "batch_jacobian"):
    setattr(tf.GradientTape, _name, _take_tensors(getattr(tf.GradientTape, _name)))
tf.GradientTape.gradient = _take_tensors_for_zeros(tf.GradientTape.gradient)
tf.autodiff.ForwardAccumulator.__init__ = _watch_tensors(tf.autodiff.ForwardAccumulator.__init__)
tf.autodiff.ForwardAccumulator.jvp = _return_arrays(tf.autodiff.ForwardAccumulator.jvp)
_ARITHMETIC = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor")
_REFLECTIONS = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}
for _name in (*_ARITHMETIC, *_REFLECTIONS):
    _reflected_name = f"__{_REFLECTIONS.get(_name, f'r{_name}')}__"
    setattr(
        tf.Tensor, f"__{_name}__", _defer_to_reflected(getattr(tf.Tensor, f"__{_name}__"), _reflected_name)
    )
# From now on storages use this function.
surroundings.has_tensorflow()
Ufunc.autograph_info__ = {}  # type: ignore[attr-defined]
for _class in (ndarray, scalar, Ufunc):
    _exempt_from_autograph(dict(vars(_class)))
