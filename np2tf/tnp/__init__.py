"""`np2tf.tnp`: NumPy's API on TensorFlow.

Every public name of NumPy is here, under the same path. The chapters implement names over tensors; what none
of them implements is handed to NumPy on the host (`np2tf.tnp.host`), and made when first asked for.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from typing import Any

import numpy as _numpy

from np2tf.config import config as _config
from np2tf.tnp import operators as operators
from np2tf.tnp import protocols as protocols
from np2tf.tnp.at import at as at
from np2tf.tnp.host import host_module as _host_module
from np2tf.tnp.host import provide as _provide
from np2tf.tnp.ndarray import ndarray as ndarray
from np2tf.tnp.removed import removed as _removed
from np2tf.tnp.removed import ufunc_at as _ufunc_at
from np2tf.tnp.ufunc import Ufunc as _Ufunc

#: The modules that implement names of NumPy's main namespace; a later one wins where two define one name.
_CHAPTERS = (
    "constants",
    "ufuncs",
    "reductions",
    "nan_reductions",
    "cumulative",
    "ufunc_methods",
    "statistics",
    "order_statistics",
    "histograms",
    "histograms_many",
    "calculus",
    "rounding",
    "logic",
    "creation",
    "ranges",
    "triangles",
    "views",
    "parts",
    "joining",
    "manipulation",
    "trimming",
    "bits",
    "indexing_functions",
    "writing",
    "sorting",
    "sets",
    "functional",
    "iteration",
    "stride_tricks",
    "methods",
    "memory",
    "type_questions",
    "linalg.products",
    "linalg.einsum",
    "polynomial.classic",
    "polynomial.fitting",
    "polynomial.values",
)
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


def _load_chapters() -> None:
    for name in _CHAPTERS:
        path = f"{__name__}.{name}"
        package = path.rpartition(".")[0]
        if importlib.util.find_spec(package) is None or importlib.util.find_spec(path) is None:
            continue
        chapter = importlib.import_module(path)
        # A chapter may be there for what it attaches only.
        names = [public for public in getattr(chapter, "__all__", ()) if public in __all__]
        globals().update({public: getattr(chapter, public) for public in names})


for _name in _HOST_MODULES:
    _module = _host_module(f"numpy.{_name}", f"{__name__}.{_name}")
    if "." not in _name:
        globals()[_name] = _module
emath = _host_module("numpy.lib.scimath", f"{__name__}.emath")
_load_chapters()
not_converted = importlib.import_module(f"{__name__}.interop").not_converted
for _name in ("linalg", "fft", "random", "polynomial"):
    globals()[_name] = importlib.import_module(f"{__name__}.{_name}")
    not_converted(vars(globals()[_name]))
not_converted(globals())
del not_converted
# NumPy's names before those of the modules here, which are called after what they are about.
dtypes = _numpy.dtypes
ufunc = _numpy.ufunc  # ours answer to it, and so do those of other libraries


def _follow_floats(floats: str) -> None:
    if floats == "float32" or f"{__name__}.default_floats" in sys.modules:
        importlib.import_module(f"{__name__}.default_floats").apply(floats)


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module 'np2tf.tnp' has no attribute {name!r}")
    this = sys.modules[__name__]
    base = getattr(this, name[: -len("_at")], None) if name.endswith("_at") else None
    if isinstance(base, _Ufunc):
        value: Any = _ufunc_at(base)
    elif name in __all__ or name in _numpy.__dir__():
        value = _provide(getattr(_numpy, name), f"numpy.{name}")
    else:
        value = _removed(name, this)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


_config.follow("floats", _follow_floats)
