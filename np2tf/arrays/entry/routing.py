"""The TensorFlow half of `tnp`: importing this module loads all of it.

`np2tf.arrays.front.numpy_functions` holds the functions that programs call. If one of them finds an operand
that is not on the host, or a setting under which NumPy does not handle host operands, it asks `route` for the
implementation.
"""

from __future__ import annotations

import importlib
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from np2tf.arrays.array.layout import host_copy as host_copy
from np2tf.arrays.array.ndarray import is_unsupported_dtype
from np2tf.arrays.dispatch import host_fallback
from np2tf.arrays.dispatch.host_fallback import IMPLEMENTATIONS, intercept
from np2tf.arrays.dispatch.placement import wrap_result as wrap_result
from np2tf.arrays.dispatch.unknown_shapes import call_for_known_ranks
from np2tf.arrays.entry.at_tensors import writer as writer
from np2tf.arrays.front import tensorflow_loading
from np2tf.arrays.functions import random_draws as random_draws
from np2tf.arrays.functions.shared_memory import view_of_buffer as view_of_buffer
from np2tf.arrays.functions.ufuncs.tensor_ufunc import UFUNCS, Ufunc
from np2tf.arrays.methods import operators, protocols  # noqa: F401
from np2tf.arrays.operands.conversion import are_known, call_replaced
from np2tf.arrays.operands.differentiated_values import refuse_tensors as refuse_tensors

#: The modules that implement names of NumPy's main namespace; if two define a name, the later module wins.
_CHAPTERS = (
    "functions.dtypes",
    "functions.ufuncs.table",
    "functions.reductions",
    "functions.nan_reductions",
    "functions.cumulative",
    "functions.ufunc_methods",
    "functions.averages",
    "functions.quantiles",
    "functions.histograms",
    "functions.calculus",
    "functions.numbers",
    "functions.logic",
    "functions.creation",
    "functions.ranges",
    "functions.matrices",
    "functions.reshape",
    "functions.parts",
    "functions.join",
    "functions.rearrange",
    "functions.packbits",
    "functions.take_put",
    "functions.index_arrays",
    "functions.iterators",
    "functions.sorting",
    "functions.sets",
    "functions.functional",
    "functions.shared_memory",
    "functions.products",
    "functions.einsum",
    "functions.linalg.polynomial_fit",
    "functions.polynomial",
    "methods.attributes",
    "methods.methods",
)
#: The modules that implement names of NumPy's submodules.
_SUBMODULES = {
    "linalg": tuple(
        f"functions.linalg.{name}" for name in ("matrix_products", "factorizations", "norms", "solving")
    ),
    "fft": ("functions.fft",),
    "random": ("functions.random_draws",),
}
#: NumPy's value of a parameter that is not given.
_NOT_GIVEN: Any = np._NoValue  # type: ignore[attr-defined]


def _load_chapters() -> None:
    for name in _CHAPTERS:
        chapter = importlib.import_module(f"np2tf.arrays.{name}")
        # A chapter may only attach methods, and export no names.
        for public in getattr(chapter, "__all__", ()):
            IMPLEMENTATIONS[f"numpy.{public}"] = getattr(chapter, public)
    for short, names in _SUBMODULES.items():
        for name in names:
            chapter = importlib.import_module(f"np2tf.arrays.{name}")
            for public in chapter.__all__:
                IMPLEMENTATIONS[f"numpy.{short}.{public}"] = getattr(chapter, public)
    importlib.import_module("np2tf.arrays.methods.protocols")
    importlib.import_module("np2tf.arrays.methods.tensorflow_protocols")
    for qualified_name, function in IMPLEMENTATIONS.items():
        # NumPy's function may have other names as well, and `__array_function__` receives the function.
        module, _, name = qualified_name.removeprefix("numpy.").rpartition(".")
        numpys = getattr(operator.attrgetter(module)(np) if module else np, name, None)
        if callable(numpys):  # some versions of NumPy lack some names
            host_fallback.OPS[numpys] = function


def implementation(numpy: Callable[..., Any], qualified_name: str) -> Callable[..., Any]:
    """Return the function that replaces NumPy's for tensors, or for new arrays that are tensors."""
    function = IMPLEMENTATIONS.get(qualified_name)
    if function is None:
        function = host_fallback.OPS.get(numpy)
    if function is None:
        function = IMPLEMENTATIONS[qualified_name] = host_fallback.fallback(numpy, qualified_name)
    return function


def route(entry: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call the implementation of a function of `front`."""
    if not are_known(args) or not are_known(kwargs.values()):
        return call_replaced(entry, args, kwargs)
    if any(value is _NOT_GIVEN for value in (*args, *kwargs.values())):
        # TensorFlow hands over the defaults of a signature, too.
        while args and args[-1] is _NOT_GIVEN:
            args = args[:-1]
        kwargs = {name: value for name, value in kwargs.items() if value is not _NOT_GIVEN}
    function = implementation(entry.numpy, entry.qualified_name)
    return call_for_known_ranks(intercept(entry.qualified_name, function), args, kwargs)


def route_ufunc(entry: Any, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a universal function of `front`, or a method of it."""
    numpy = entry.numpy
    tnp_ufunc = UFUNCS.get(numpy) or Ufunc(numpy, host_fallback.refuse)
    if not are_known(args) or not are_known(kwargs.values()):
        return call_replaced(entry if method == "__call__" else getattr(entry, method), args, kwargs)
    if "signature" in kwargs and kwargs["signature"] is None:
        kwargs = {name: value for name, value in kwargs.items() if name != "signature"}
    name = entry.qualified_name if method == "__call__" else f"{entry.qualified_name}.{method}"
    return call_for_known_ranks(intercept(name, getattr(tnp_ufunc, method)), args, kwargs)


def route_indexer(entry: Any, key: Any) -> Any:
    """Index an object that makes arrays by being indexed, such as ``mgrid``."""
    public = entry.qualified_name.rpartition(".")[2]
    maker: Any = IMPLEMENTATIONS[f"numpy.{public}"]
    return call_for_known_ranks(maker.__getitem__, (key,), {})


# -- what only some programs need ----------------------------------------------------------------------------


def ragged_array_of(tensor: Any) -> Any:
    """Return an argument's array for a ragged tensor; a ragged tensor of strings itself."""
    from np2tf.arrays.ragged import RaggedArray, register_dispatcher

    if is_unsupported_dtype(np.dtype(tensor.dtype.as_numpy_dtype)):
        return tensor
    register_dispatcher()
    return RaggedArray.of_tensor(tensor)


def load_scipy_chapter(stem: str) -> None:
    """Import the functions over tensors of a chapter of rules/scipy/, which register themselves."""
    importlib.import_module(f"np2tf.arrays.scipy.{stem}")


_load_chapters()
tensorflow_loading.announce()
