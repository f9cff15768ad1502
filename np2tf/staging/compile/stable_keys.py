"""A key of everything that a trace depends on, which is the same in every process.

Within a process the key of a call names functions, classes and modules by identity
(`np2tf.staging.trace.signature`). Between processes a function is its code, with the values that it reads by
name, and everything of NumPy, np2tf and Python is its name, with the versions. What is none of these has no
such key, and the trace of the call is not stored.
"""

from __future__ import annotations

import enum
import inspect
import os
import platform
import sys
import types
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.eager import context
from tensorflow.python.framework import config as tensorflow_config
from tensorflow.python.framework import ops

from np2tf.arrays.front.numpy_functions import Function
from np2tf.arrays.front.residency import device_kind
from np2tf.arrays.tensors.storage import GappedLayout
from np2tf.core.own_warnings import PACKAGE_FOLDER
from np2tf.core.settings import config
from np2tf.staging.compile.preparation import PreparedCall
from np2tf.staging.host.jit import JittedFunction
from np2tf.staging.host.originals import translation_of
from np2tf.staging.objects.places import Place
from np2tf.staging.objects.user_objects import has_instances
from np2tf.staging.tiers.history import entry_name, key_of, versions

#: The version of the key's format, and of the stored traces.
FORMAT = 1
#: Values that their text describes.
_PLAIN = (str, bytes, bool, int, complex, range, type(None), type(Ellipsis), type(NotImplemented))
#: Packages that the versions in the key describe.
_KNOWN = frozenset({"numpy", "scipy", "np2tf"}) | sys.stdlib_module_names
#: TensorFlow's switches of what Python's operators on tensors mean.
_SWITCHES = ("is_auto_dtype_conversion_enabled", "is_numpy_style_type_promotion")


class NoStableKeyError(Exception):
    """Raised if a value has no name that means the same in the next process."""


def stable_key(code: types.CodeType, call: PreparedCall) -> str | None:
    """Return the key of a call of the function with this code, without its numbers; None if it has none."""
    signature, dependencies = call.signature, call.dependencies
    if signature.argument_dependencies or call.open_pattern or signature.ragged_places:
        return None
    functions = dependencies.functions
    describe = Description(functions).of
    try:
        parts = (
            _environment(),
            _settings(),
            key_of(code),
            [(f.__module__, f.__qualname__, key_of(translation_of(f.__code__))) for f in functions],
            [
                (describe(place.name), _kind_of_member(place), describe(value) if callable(value) else None)
                for place, value in zip(dependencies.captures, call.captured_values, strict=True)
            ],
            describe(signature.parts),
            describe(signature.constants),
        )
    except NoStableKeyError:
        return None
    return digest(parts)


def _kind_of_member(place: Place) -> str:
    """Return whether a member of a class is a method or a property …: both may have the same code."""
    if not isinstance(place.holder, type):
        return ""
    name = place.name[0] if isinstance(place.name, tuple) else place.name
    return type(inspect.getattr_static(place.holder, name, None)).__qualname__


def digest(plain: Any) -> str:
    """Return a digest of plain data."""
    return blake2b(repr(plain).encode("utf-8", "backslashreplace"), digest_size=20).hexdigest()


class Description:
    """Describes values as plain data, which is equal in every process for values that mean the same.

    Args:
        functions: the functions whose code is known; a description names one by its place.
    """

    def __init__(self, functions: Sequence[types.FunctionType] = ()) -> None:
        self._places = {id(function): place for place, function in enumerate(functions)}

    def of(self, value: Any) -> Any:
        """Return the description of a value.

        Raises:
            NoStableKeyError: if it has none.
        """
        kind = type(value)
        if kind in _PLAIN:
            return kind.__name__, repr(value)
        if kind is float:
            return "float", value.hex()
        if kind in (tuple, list):
            return kind.__name__, [self.of(item) for item in value]
        if isinstance(value, np.dtype) and value.names is None:
            return "dtype", value.str, value.name
        if isinstance(value, tf.DType):
            return "tensorflow", value.name
        if isinstance(value, np.generic):
            return self.of(kind), value.tobytes()
        if kind is GappedLayout:
            return "gaps", value.strides
        if isinstance(value, types.ModuleType) and sys.modules.get(value.__name__) is value:
            return "module", value.__name__
        if issubclass(kind, JittedFunction):
            return "jitted", value.promotion, self.of(value.__wrapped__)
        if kind is types.FunctionType and id(value) in self._places:
            return "function", self._places[id(value)]
        if isinstance(value, type):
            return self._class(value)
        return self._named(value)

    def _class(self, kind: type) -> Any:
        """Return the description of a class. Its members that code may use are among the captures."""
        if has_instances(kind) and not issubclass(kind, enum.Enum) and type(kind) is type:
            bases = [(base.__module__, base.__qualname__) for base in kind.__mro__]
            if _found(kind.__module__, kind.__qualname__) is kind:
                return "class", bases
        return self._named(kind)

    @staticmethod
    def _named(value: Any) -> Any:
        """Return the name of a function or class of NumPy, SciPy, np2tf or Python."""
        if isinstance(value, Function):
            return "NumPy's", value.qualified_name
        name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
        modules = [getattr(value, "__module__", None)]
        if isinstance(value, np.ufunc):
            name, modules = value.__name__, ["numpy", "scipy.special"]
        for module in modules:
            if not isinstance(name, str) or not isinstance(module, str):
                continue
            if module.partition(".")[0] in _KNOWN and _found(module, name) is value:
                return "named", module, name
        raise NoStableKeyError


def _found(module: str, path: str) -> Any:
    """Return the object at a path in a loaded module; None if there is none."""
    value: Any = sys.modules.get(module)
    for name in path.split("."):
        value = getattr(value, "__dict__", {}).get(name)
    return value


@lru_cache(maxsize=1)
def _environment() -> Any:
    """Return the versions, the program and the machine."""
    return (
        (FORMAT, sys.version, tf.__version__, tf.version.GIT_VERSION, np.__version__, platform.platform()),
        (entry_name(), versions(), _files()),
    )


def _files() -> list[Any]:
    """Return the status of each file of np2tf that traces run."""
    found = []
    for part in ("arrays", "staging", "transforms"):
        for folder, _, names in sorted(os.walk(os.path.join(PACKAGE_FOLDER, part))):
            for name in sorted(names):
                if name.endswith(".py"):
                    status = os.stat(os.path.join(folder, name))
                    found.append((folder[len(PACKAGE_FOLDER) :], name, status.st_size, status.st_mtime_ns))
    return found


def _settings() -> Any:
    """Return the settings of np2tf and TensorFlow that may change a trace, and SciPy's version."""
    switches = [getattr(ops, name, bool)() for name in _SWITCHES]
    here = context.context()
    device = here.device_name, device_kind(), len(here.list_logical_devices()), tf.distribute.has_strategy()
    scipy = getattr(sys.modules.get("scipy"), "__version__", "")  # it may be imported at any time
    return (
        scipy,
        sorted(vars(config).items()),
        switches,
        device,
        tensorflow_config.is_op_determinism_enabled(),
    )
