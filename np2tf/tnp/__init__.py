"""`np2tf.tnp`: NumPy's API on TensorFlow.

Every public name of NumPy is here under the same path; the object is made on first access
(`np2tf.arrays.front.numpy_functions`). Importing this package imports NumPy, but not TensorFlow: the first
tensor loads the modules that implement NumPy's functions over tensors (`np2tf.arrays.entry.routing`). No
function belongs to this file.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

import numpy as _numpy

from np2tf.arrays.array import ndarray as _ndarray
from np2tf.arrays.front.at import at as at
from np2tf.arrays.front.namespace import host_module as _host_module
from np2tf.arrays.front.namespace import program_binding as _bound_by_program
from np2tf.arrays.front.namespace import provide_any as _provide
from np2tf.arrays.front.namespace import rebound as _rebound
from np2tf.arrays.front.namespace import replacement as _removed
from np2tf.arrays.front.namespace import ufunc_at as _ufunc_at
from np2tf.arrays.front.namespace import watch as _watch
from np2tf.core import late as _lazy
from np2tf.core.settings import config as _config

ndarray = _ndarray.ndarray

#: Submodules that are NumPy's own on the host.
_HOST_MODULES = (
    *("char", "core", "ctypeslib", "exceptions", "f2py", "lib", "ma", "rec", "strings", "testing", "typing"),
    *("lib.array_utils", "lib.format", "lib.introspect", "lib.mixins", "lib.npyio", "lib.scimath"),
    *("lib.stride_tricks", "ma.extras", "ma.mrecords", "ma.core", "random.bit_generator", "random.mtrand"),
    *("polynomial.chebyshev", "polynomial.hermite", "polynomial.hermite_e", "polynomial.laguerre"),
    *("polynomial.legendre", "polynomial.polynomial", "polynomial.polyutils"),
)

__version__ = _numpy.__version__
__array_namespace_info__ = _numpy.__array_namespace_info__
__array_api_version__ = _numpy.__array_api_version__
__all__ = list(_numpy.__all__)

for _name in ("linalg", "fft", "random", "polynomial"):
    globals()[_name] = importlib.import_module(f"{__name__}.{_name}")
for _name in _HOST_MODULES:
    _module = _host_module(f"numpy.{_name}", f"{__name__}.{_name}")
    if "." not in _name:
        globals()[_name] = _module
emath = _host_module("numpy.lib.scimath", f"{__name__}.emath")


def _follow_floats(floats: str) -> None:
    """Apply the setting `floats`."""
    default_floats = "np2tf.arrays.entry.default_floats"
    if floats == "float32" or default_floats in sys.modules:
        importlib.import_module(default_floats).apply(floats, globals())


def __getattr__(name: str) -> Any:
    if f"numpy.{name}" in _rebound.values:
        return _bound_by_program(f"numpy.{name}")
    if name.startswith("_") and name not in __all__:  # NumPy 2.1 exports some names that begin with `_`
        raise AttributeError(f"module 'np2tf.tnp' has no attribute {name!r}")
    if name in __all__ or name in _numpy.__dir__():
        value = _provide(getattr(_numpy, name), f"numpy.{name}")
    elif name.endswith("_at") and isinstance(getattr(_numpy, name[: -len("_at")], None), _numpy.ufunc):
        value = _ufunc_at(getattr(_numpy, name[: -len("_at")]))
    else:
        value = _removed(name, sys.modules[__name__])
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


_config.follow("floats", _follow_floats)
_watch(_numpy, sys.modules[__name__])


# TensorFlow and Keras need to know arrays from their first call on. (Staging imports the module itself.)
if _lazy.patches.rpartition(".")[0] not in sys.modules:
    importlib.import_module(_lazy.patches)
