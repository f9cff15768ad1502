"""np2tf: translate NumPy source code to TensorFlow, and run the result.

Importing this package imports neither TensorFlow nor NumPy: every public name is loaded on first use. The
operators that translated code calls are Python's own until TensorFlow is loaded.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from np2tf import lazy as _lazy_modules

# `config` is imported at once, and after its module of the same name, so that `np2tf.config` is the object
# and not the module.
from np2tf.config import config as config
from np2tf.installation import installation as _installation
from np2tf.operators.in_use import install as _install
from np2tf.operators.in_use import staging_operator as _staging_operator
from np2tf.operators.table import OPERATORS as _OPERATORS

__version__ = "0.1.0"

#: public name -> (module, attribute); an attribute of "" stands for the module itself.
_LAZY: dict[str, tuple[str, str]] = {
    "convert": ("np2tf.pipeline", "convert"),
    "Options": ("np2tf.options", "Options"),
    "tnp": ("np2tf.tnp", ""),
    "jit": ("np2tf.runtime.jit.jitted_function", "jit"),
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
    **{
        name: (f"np2tf.transforms.{module}", name)
        for module, names in {
            "gradients": ("grad", "value_and_grad"),
            "products": ("vjp", "jvp", "linearize"),
            "jacobians": ("jacfwd", "jacrev", "hessian"),
            "stopping": ("stop_gradient",),
            "batching": ("vmap", "pmap"),
            "lanes.collectives": ("psum", "pmean", "pmax", "all_gather", "axis_index"),
            "scans": ("scan",),
            "associative": ("associative_scan",),
            "checkpoints": ("checkpoint",),
            "custom_rules": ("custom_vjp", "custom_jvp"),
            "shapes": ("eval_shape", "ShapeDtypeStruct"),
            "checks": ("check_grads",),
        }.items()
        for name in names
    },
    "warn": ("np2tf.runtime.introspection.user_frames", "warn"),
    "save": ("np2tf.serving.saving", "save"),
    "load": ("np2tf.serving.loading", "load"),
    "stablehlo": ("np2tf.serving.saving", "stablehlo"),
    "nn": ("np2tf.nn", ""),
    "random": ("np2tf.random", ""),
    "ragged": ("np2tf.ragged", ""),
    "keras": ("np2tf.keras", ""),
    "distribute": ("np2tf.distribute", ""),
    "device": ("np2tf.tnp._dispatch.devices", "device"),
    "devices": ("np2tf.tnp._dispatch.devices", "devices"),
}

#: The functions that IPython asks for at `%load_ext np2tf` and `%unload_ext np2tf`.
_IPYTHON = {
    "load_ipython_extension": ("np2tf.imports.ipython_extension", "load"),
    "unload_ipython_extension": ("np2tf.imports.ipython_extension", "unload"),
}

__all__ = ["__version__", "config", *_LAZY, *_OPERATORS]

if TYPE_CHECKING:
    from np2tf import distribute as distribute
    from np2tf import keras as keras
    from np2tf import nn as nn
    from np2tf import ragged as ragged
    from np2tf import random as random
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
    from np2tf.runtime.jit.jitted_function import jit as jit
    from np2tf.runtime.staged_operators.control import and_ as and_
    from np2tf.runtime.staged_operators.control import cond as cond
    from np2tf.runtime.staged_operators.control import for_loop as for_loop
    from np2tf.runtime.staged_operators.control import not_ as not_
    from np2tf.runtime.staged_operators.control import or_ as or_
    from np2tf.runtime.staged_operators.control import while_loop as while_loop
    from np2tf.runtime.staged_operators.map_loop import map_loop as map_loop
    from np2tf.serving.loading import load as load
    from np2tf.serving.saving import save as save
    from np2tf.serving.saving import stablehlo as stablehlo
    from np2tf.staging import StagingError as StagingError
    from np2tf.tnp._dispatch.devices import device as device
    from np2tf.tnp._dispatch.devices import device_get as device_get
    from np2tf.tnp._dispatch.devices import device_put as device_put
    from np2tf.tnp._dispatch.devices import devices as devices
    from np2tf.transforms.associative import associative_scan as associative_scan
    from np2tf.transforms.batching import pmap as pmap
    from np2tf.transforms.batching import vmap as vmap
    from np2tf.transforms.checkpoints import checkpoint as checkpoint
    from np2tf.transforms.checks import check_grads as check_grads
    from np2tf.transforms.custom_rules import custom_jvp as custom_jvp
    from np2tf.transforms.custom_rules import custom_vjp as custom_vjp
    from np2tf.transforms.gradients import grad as grad
    from np2tf.transforms.gradients import value_and_grad as value_and_grad
    from np2tf.transforms.jacobians import hessian as hessian
    from np2tf.transforms.jacobians import jacfwd as jacfwd
    from np2tf.transforms.jacobians import jacrev as jacrev
    from np2tf.transforms.lanes.collectives import all_gather as all_gather
    from np2tf.transforms.lanes.collectives import axis_index as axis_index
    from np2tf.transforms.lanes.collectives import pmax as pmax
    from np2tf.transforms.lanes.collectives import pmean as pmean
    from np2tf.transforms.lanes.collectives import psum as psum
    from np2tf.transforms.products import jvp as jvp
    from np2tf.transforms.products import linearize as linearize
    from np2tf.transforms.products import vjp as vjp
    from np2tf.transforms.scans import scan as scan
    from np2tf.transforms.shapes import ShapeDtypeStruct as ShapeDtypeStruct
    from np2tf.transforms.shapes import eval_shape as eval_shape
    from np2tf.transforms.stopping import stop_gradient as stop_gradient


def __getattr__(name: str) -> Any:
    if name in _OPERATORS:
        value = _staging_operator(name)
    else:
        try:
            module, attribute = _LAZY.get(name) or _IPYTHON[name]
        except KeyError:
            raise AttributeError(f"module 'np2tf' has no attribute {name!r}") from None
        with _installation.needed():
            module_object = importlib.import_module(module)
            value = getattr(module_object, attribute) if attribute else module_object
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY, *_OPERATORS})


_lazy_modules.fill(_lazy_modules.arrays, "np2tf.tnp._entry.routing")
_lazy_modules.fill(_lazy_modules.compiler, "np2tf.runtime.compilation.loop_compiler")
_lazy_modules.staging = "np2tf.runtime"
_lazy_modules.patches = "np2tf.runtime.environment.tensorflow_patches"
_lazy_modules.fill(_lazy_modules.translator, "np2tf.imports.functions.callees")

_install(globals())
