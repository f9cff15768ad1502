"""Functions differentiated by np2tf and by JAX: the same arguments, the same transform, both results."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import np2tf
from tests.helpers import transform_functions, transform_functions_jax

jax.config.update("jax_enable_x64", True)

#: Parameter -> its value.
ARGUMENTS: dict[str, Any] = {
    "x": np.array([0.3, -0.7, 1.2, 0.5]),
    "y": np.array([0.9, 0.4, -0.6, 1.1]),
    "p": np.array([0.8, 1.7, 2.4, 0.5]),
    "u": np.array([0.3, -0.6, 0.7, 0.1]),
    "v": np.array([0.2, -0.4, 0.9]),
    "w": np.array([1.1, 0.3, -0.8]),
    "m": np.array([[2.0, 0.3, -0.5], [0.4, 1.5, 0.2], [-0.1, 0.6, 1.8]]),
    "z": np.array([0.5 + 0.2j, -0.3 + 1.1j, 0.7 - 0.6j]),
    "c": np.array([[1.0 + 0.5j, 0.2], [0.3 - 0.1j, 2.0 - 1j]]),
    "d": {"a": np.array([0.5, -1.0]), "b": [np.array(2.0), np.array([0.1, 0.7, 0.2])]},
}


def _in_jax() -> dict[str, Callable[..., Any]]:
    """Return the functions of `transform_functions` with `jax.numpy` in the place of NumPy."""
    text = Path(inspect.getfile(transform_functions)).read_text(encoding="utf-8")
    module = types.ModuleType("in_jax")
    exec(text.replace("import numpy as np", "import jax.numpy as np"), vars(module))
    return {**vars(module), **{k: v for k, v in vars(transform_functions_jax).items() if callable(v)}}


_JAX = _in_jax()
#: The names of all functions.
NAMES = [name for name, function in vars(transform_functions).items() if inspect.isfunction(function)]


def numpys(name: str) -> Callable[..., Any]:
    """Return a function in NumPy."""
    return vars(transform_functions)[name]  # type: ignore[no-any-return]


def jaxs(name: str) -> Callable[..., Any]:
    """Return a function in JAX, of NumPy's arrays or JAX's."""
    return lambda *args: _JAX[name](*jax.tree_util.tree_map(jnp.asarray, args))


def arguments(name: str) -> tuple[Any, ...]:
    """Return the arguments of a function."""
    return tuple(ARGUMENTS[parameter] for parameter in inspect.signature(numpys(name)).parameters)


def is_complex(name: str) -> bool:
    """Return whether a function is about complex numbers."""
    return name in ("modulus", "holomorphic", "mixed", "complex_matrix", "complex_of_real")


#: Functions whose branches and loops depend on values, so that JAX cannot compile them.
_EAGER = ("branch", "doubling", "early_exit", "masked")


def is_compiled(name: str) -> bool:
    """Return whether JAX compiles a function."""
    return name not in _EAGER


def compiled(name: str, program: Callable[..., Any]) -> Callable[..., Any]:
    """Return JAX's program about a function, compiled without optimisation, which would take seconds."""
    if not is_compiled(name):
        return program
    options = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}
    return lambda *args: jax.jit(program).lower(*args).compile(options)(*args)


def _weights(value: Any, module: Any) -> Any:
    """Return a real number that depends on all parts of a result."""
    total = 0.0
    for leaf in jax.tree_util.tree_leaves(value) if module is jnp else _leaves(value):
        weights = np.cos(1 + np.arange(np.size(leaf))).reshape(np.shape(leaf))
        total = total + module.sum(weights * module.real(leaf))
        total = total + (2 * module.sum(weights * module.imag(leaf)) if module.iscomplexobj(leaf) else 0.0)
    return total


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [leaf for key in sorted(value) for leaf in _leaves(value[key])]
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in _leaves(item)]
    return [value]


def scalar_of(function: Callable[..., Any], module: Any) -> Callable[..., Any]:
    """Return the function that makes one number of a function's result, with NumPy or `jax.numpy`."""
    if module is jnp:
        return lambda *args: _weights(function(*args), jnp)
    return lambda *args: _weights(function(*args), np2tf.tnp)


def direction(value: Any, start: float = 1.0) -> Any:
    """Return a fixed value of the same structure, shapes and dtypes."""
    if isinstance(value, dict):
        return {key: direction(value[key], start + k) for k, key in enumerate(sorted(value))}
    if isinstance(value, (list, tuple)):
        return type(value)(direction(item, start + k) for k, item in enumerate(value))
    value = value if hasattr(value, "dtype") else np.asarray(value)
    made = np.sin(start + np.arange(value.size)).reshape(value.shape)
    return (made + 1j * np.cos(3 * made) if value.dtype.kind == "c" else made).astype(value.dtype)


def differences(found: Any, wanted: Any, rtol: float = 1e-9, atol: float = 1e-11) -> list[str]:
    """Return how a result of np2tf differs from JAX's: structure, shapes, dtypes, values."""
    told: list[str] = []
    found_leaves, outline = jax.tree_util.tree_flatten(found)
    wanted_leaves, wanted_outline = jax.tree_util.tree_flatten(wanted)
    if outline != wanted_outline:
        return [f"structure {outline} where JAX has {wanted_outline}"]
    for found_leaf, wanted_leaf in zip(found_leaves, wanted_leaves, strict=True):
        wanted_leaf = np.asarray(wanted_leaf)
        if not isinstance(found_leaf, (np.ndarray, np.generic)):
            told.append(f"a {type(found_leaf).__name__}")
        elif found_leaf.shape != wanted_leaf.shape or found_leaf.dtype != wanted_leaf.dtype:
            told.append(
                f"{found_leaf.dtype}{found_leaf.shape} where JAX has {wanted_leaf.dtype}{wanted_leaf.shape}"
            )
        elif not np.allclose(found_leaf, wanted_leaf, rtol=rtol, atol=atol, equal_nan=True):
            told.append(f"{found_leaf} where JAX has {wanted_leaf}")
    return told
