"""np2tf: translate NumPy source code to TensorFlow, and run the result.

Importing this package imports neither TensorFlow nor NumPy: every public name is loaded on first use. The
operators that translated code calls are Python's own until TensorFlow is loaded.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

# `config` is imported at once, and after its module of the same name, so that `np2tf.config` is the object
# and not the module.
from np2tf.config import config as config
from np2tf.operators.in_use import install as _install
from np2tf.operators.in_use import staging_operator as _staging_operator
from np2tf.operators.table import OPERATORS as _OPERATORS

__version__ = "0.1.0"

#: public name -> (module, attribute); an attribute of "" stands for the module itself.
_LAZY: dict[str, tuple[str, str]] = {
    "convert": ("np2tf.pipeline", "convert"),
    "Options": ("np2tf.options", "Options"),
    "tnp": ("np2tf.tnp", ""),
    "jit": ("np2tf.runtime.jit.jitted", "jit"),
    "device_put": ("np2tf.tnp._dispatch.devices", "device_put"),
    "device_get": ("np2tf.tnp._dispatch.devices", "device_get"),
    "host_memory": ("np2tf.runtime.environment.host_memory", "host_memory"),
    "StagingError": ("np2tf.staging", "StagingError"),
    "import_module": ("np2tf.imports.hooks.module", "import_module"),
    "install": ("np2tf.imports.hooks.hook", "install"),
    "uninstall": ("np2tf.imports.hooks.hook", "uninstall"),
    "translating": ("np2tf.imports.hooks.hook", "translating"),
    "translate": ("np2tf.imports.functions.decorator", "translate"),
    "TranslationWarning": ("np2tf.imports.reporting.findings", "TranslationWarning"),
    "use_backend": ("np2tf.backend", "use_backend"),
    "warn": ("np2tf.runtime.introspection.user_frames", "warn"),
}

#: The functions that IPython asks for at `%load_ext np2tf` and `%unload_ext np2tf`.
_IPYTHON = {
    "load_ipython_extension": ("np2tf.imports.ipython_extension", "load"),
    "unload_ipython_extension": ("np2tf.imports.ipython_extension", "unload"),
}

__all__ = ["__version__", "config", *_LAZY, *_OPERATORS]

if TYPE_CHECKING:
    from np2tf import tnp as tnp
    from np2tf.backend import use_backend as use_backend
    from np2tf.imports.functions.decorator import translate as translate
    from np2tf.imports.hooks.hook import install as install
    from np2tf.imports.hooks.hook import translating as translating
    from np2tf.imports.hooks.hook import uninstall as uninstall
    from np2tf.imports.hooks.module import import_module as import_module
    from np2tf.imports.reporting.findings import TranslationWarning as TranslationWarning
    from np2tf.operators.undefined import undefined as undefined
    from np2tf.options import Options as Options
    from np2tf.pipeline import convert as convert
    from np2tf.runtime.environment.host_memory import host_memory as host_memory
    from np2tf.runtime.introspection.user_frames import warn as warn
    from np2tf.runtime.jit.jitted import jit as jit
    from np2tf.runtime.staged_operators.control import and_ as and_
    from np2tf.runtime.staged_operators.control import cond as cond
    from np2tf.runtime.staged_operators.control import for_loop as for_loop
    from np2tf.runtime.staged_operators.control import not_ as not_
    from np2tf.runtime.staged_operators.control import or_ as or_
    from np2tf.runtime.staged_operators.control import while_loop as while_loop
    from np2tf.runtime.staged_operators.map_loop import map_loop as map_loop
    from np2tf.staging import StagingError as StagingError
    from np2tf.tnp._dispatch.devices import device_get as device_get
    from np2tf.tnp._dispatch.devices import device_put as device_put


def __getattr__(name: str) -> Any:
    if name in _OPERATORS:
        value = _staging_operator(name)
    else:
        try:
            module, attribute = _LAZY.get(name) or _IPYTHON[name]
        except KeyError:
            raise AttributeError(f"module 'np2tf' has no attribute {name!r}") from None
        loaded = importlib.import_module(module)
        value = getattr(loaded, attribute) if attribute else loaded
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY, *_OPERATORS})


_install(globals())
