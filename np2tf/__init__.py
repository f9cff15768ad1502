"""np2tf: translate NumPy source code to TensorFlow, and run the result.

Importing this package imports neither TensorFlow nor NumPy: every public name is loaded on first use. The
operators that translated code calls are Python's own until TensorFlow is loaded.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from np2tf.core import late as _late
from np2tf.core.late import installation as _installation
from np2tf.core.operators import OPERATORS as _OPERATORS
from np2tf.core.operators import install as _install
from np2tf.core.operators import staging_operator as _staging_operator

# `config` is imported at once, and after its module of the same name, so that `np2tf.config` is the
# object and not the module.
from np2tf.core.settings import config as config

__version__ = "0.2.0"

#: public name -> (module, attribute); an attribute of "" stands for the module itself.
_LAZY: dict[str, tuple[str, str]] = {
    "convert": ("np2tf.translator.pipeline", "convert"),
    "Options": ("np2tf.translator.sources.options", "Options"),
    "tnp": ("np2tf.tnp", ""),
    "jit": ("np2tf.staging.host.jit", "jit"),
    "device_put": ("np2tf.arrays.dispatch.placement", "device_put"),
    "device_get": ("np2tf.arrays.dispatch.placement", "device_get"),
    "host_memory": ("np2tf.staging.process.boundary", "host_memory"),
    "StagingError": ("np2tf.core.errors", "StagingError"),
    "import_module": ("np2tf.loading.import_hook", "import_module"),
    "install": ("np2tf.loading.import_hook", "install"),
    "uninstall": ("np2tf.loading.import_hook", "uninstall"),
    "translating": ("np2tf.loading.import_hook", "translating"),
    "translate": ("np2tf.loading.functions.translate", "translate"),
    "TranslationWarning": ("np2tf.loading.findings", "TranslationWarning"),
    "use_backend": ("np2tf.core.settings", "use_backend"),
    **{
        name: (f"np2tf.transforms.{module}", name)
        for module, names in {
            "derivatives": (
                *("grad", "value_and_grad", "vjp", "jvp", "linearize", "jacfwd", "jacrev", "hessian"),
                "stop_gradient",
            ),
            "lanes.vmap": ("vmap", "pmap"),
            "lanes.axes": ("psum", "pmean", "pmax", "all_gather", "axis_index"),
            "scans": ("scan", "associative_scan"),
            "checkpoints": ("checkpoint",),
            "custom_rules": ("custom_vjp", "custom_jvp"),
            "shapes": ("eval_shape", "ShapeDtypeStruct"),
            "check_grads": ("check_grads",),
        }.items()
        for name in names
    },
    "warn": ("np2tf.staging.objects.user_code", "warn"),
    "save": ("np2tf.integrations.serving.saving", "save"),
    "load": ("np2tf.integrations.serving.loading", "load"),
    "stablehlo": ("np2tf.integrations.serving.saving", "stablehlo"),
    "nn": ("np2tf.nn", ""),
    "random": ("np2tf.random", ""),
    "ragged": ("np2tf.ragged", ""),
    "keras": ("np2tf.keras", ""),
    "distribute": ("np2tf.distribute", ""),
    "device": ("np2tf.arrays.dispatch.placement", "device"),
    "devices": ("np2tf.arrays.dispatch.placement", "devices"),
}

#: The functions that IPython asks for at `%load_ext np2tf` and `%unload_ext np2tf`.
_IPYTHON = {
    "load_ipython_extension": ("np2tf.integrations.ipython", "load"),
    "unload_ipython_extension": ("np2tf.integrations.ipython", "unload"),
}

__all__ = ["__version__", "config", *_LAZY, *_OPERATORS]

if TYPE_CHECKING:
    from np2tf import distribute as distribute
    from np2tf import keras as keras
    from np2tf import nn as nn
    from np2tf import ragged as ragged
    from np2tf import random as random
    from np2tf import tnp as tnp
    from np2tf.arrays.dispatch.placement import device as device
    from np2tf.arrays.dispatch.placement import device_get as device_get
    from np2tf.arrays.dispatch.placement import device_put as device_put
    from np2tf.arrays.dispatch.placement import devices as devices
    from np2tf.core.errors import StagingError as StagingError
    from np2tf.core.operators import undefined as undefined
    from np2tf.core.settings import use_backend as use_backend
    from np2tf.integrations.serving.loading import load as load
    from np2tf.integrations.serving.saving import save as save
    from np2tf.integrations.serving.saving import stablehlo as stablehlo
    from np2tf.loading.findings import TranslationWarning as TranslationWarning
    from np2tf.loading.functions.translate import translate as translate
    from np2tf.loading.import_hook import import_module as import_module
    from np2tf.loading.import_hook import install as install
    from np2tf.loading.import_hook import translating as translating
    from np2tf.loading.import_hook import uninstall as uninstall
    from np2tf.staging.control.map_loop import map_loop as map_loop
    from np2tf.staging.control.statements import and_ as and_
    from np2tf.staging.control.statements import case as case
    from np2tf.staging.control.statements import cond as cond
    from np2tf.staging.control.statements import for_loop as for_loop
    from np2tf.staging.control.statements import is_ as is_
    from np2tf.staging.control.statements import not_ as not_
    from np2tf.staging.control.statements import or_ as or_
    from np2tf.staging.control.statements import while_loop as while_loop
    from np2tf.staging.host.jit import jit as jit
    from np2tf.staging.objects.user_code import warn as warn
    from np2tf.staging.process.boundary import host_memory as host_memory
    from np2tf.transforms.check_grads import check_grads as check_grads
    from np2tf.transforms.checkpoints import checkpoint as checkpoint
    from np2tf.transforms.custom_rules import custom_jvp as custom_jvp
    from np2tf.transforms.custom_rules import custom_vjp as custom_vjp
    from np2tf.transforms.derivatives import grad as grad
    from np2tf.transforms.derivatives import hessian as hessian
    from np2tf.transforms.derivatives import jacfwd as jacfwd
    from np2tf.transforms.derivatives import jacrev as jacrev
    from np2tf.transforms.derivatives import jvp as jvp
    from np2tf.transforms.derivatives import linearize as linearize
    from np2tf.transforms.derivatives import stop_gradient as stop_gradient
    from np2tf.transforms.derivatives import value_and_grad as value_and_grad
    from np2tf.transforms.derivatives import vjp as vjp
    from np2tf.transforms.lanes.axes import all_gather as all_gather
    from np2tf.transforms.lanes.axes import axis_index as axis_index
    from np2tf.transforms.lanes.axes import pmax as pmax
    from np2tf.transforms.lanes.axes import pmean as pmean
    from np2tf.transforms.lanes.axes import psum as psum
    from np2tf.transforms.lanes.vmap import pmap as pmap
    from np2tf.transforms.lanes.vmap import vmap as vmap
    from np2tf.transforms.scans import associative_scan as associative_scan
    from np2tf.transforms.scans import scan as scan
    from np2tf.transforms.shapes import ShapeDtypeStruct as ShapeDtypeStruct
    from np2tf.transforms.shapes import eval_shape as eval_shape
    from np2tf.translator.pipeline import convert as convert
    from np2tf.translator.sources.options import Options as Options


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


_late.arrays = _late.LazyModule("np2tf.arrays.entry.routing")
_late.compiler = _late.LazyModule("np2tf.staging.compile.loop_compiler")
_late.staging = "np2tf.staging"
_late.patches = "np2tf.staging.process.tensorflow_patches"
_late.translator = _late.LazyModule("np2tf.loading.functions.staged_versions")

_install(globals())
