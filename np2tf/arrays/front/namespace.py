"""NumPy's modules as modules of tnp: names made at first access, names that the program rebinds, names that
NumPy removed.
"""

from __future__ import annotations

import ast
import builtins
import functools
import importlib
import operator
import sys
from collections.abc import Callable
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from np2tf.arrays.front import numpy_functions
from np2tf.arrays.front.flags import fast_flags
from np2tf.arrays.front.numpy_functions import provide, universal_function
from np2tf.core.errors import CalleeError
from np2tf.core.faults import note_fault
from np2tf.core.operators import numpy_function
from np2tf.core.rules import Rule, find
from np2tf.core.settings import program

# -- rebound names -------------------------------------------------------------------------------------------
# Names of NumPy's modules that the program binds anew: ``np.sum = f``, a patch in a test, ``del np.sum``.
#
# `tnp` keeps the objects that it has made for names. If the program binds a name to another object, in
# NumPy's module or through `tnp`'s, the kept object is set aside until NumPy's own is back, and both
# modules show the program's object. Compiled code assumes that a name of NumPy is NumPy's own object; code
# that reads a rebound name runs on the host.
#
# Once a module of the program has been translated, NumPy's modules get a class that notices assignments and
# deletions by the program. (Reading a name takes 5 ns more.) Importing `tnp` alone does not change NumPy.
# Assignments to the dict of such a module, which bypass the module, are not noticed.

ABSENT: Any = type("Absent", (), {"__repr__": lambda self: "nothing"})()
_FUNCTIONS = (FunctionType, BuiltinFunctionType, type(np.concatenate))


class _Rebinding:
    """The names that are bound anew.

    Attributes:
        values: NumPy's qualified name -> its current object, or `ABSENT` if the name has been deleted.
        words: the last parts of the names that compiled code must not read.
    """

    values: dict[str, Any]
    words: frozenset[str]

    def __init__(self) -> None:
        self.values = {}
        self.words = frozenset()


rebound = _Rebinding()
#: NumPy's qualified name -> NumPy's own object, for all names that have ever been bound anew.
_numpy_objects: dict[str, Any] = {}
#: Names that NumPy does not have -> the first value that the program has given them.
_first: dict[str, Any] = {}
#: Names to which the program has bound more than one value.
_changing_names: set[str] = set()
#: The name of a module of NumPy -> the modules of np2tf that replace it.
_replacements: dict[str, list[ModuleType]] = {}
#: (Name of a module of np2tf, name in it) -> the object that the name has while NumPy's is its own.
_aside: dict[tuple[str, str], Any] = {}


class _PickledByName(ModuleType):
    """A module that is pickled by its name. Pickling libraries recognise only the class `module` itself."""

    def __reduce__(self) -> tuple[Any, ...]:
        return importlib.import_module, (self.__name__,)


class _WatchedModule(_PickledByName):
    """A module of NumPy that notices assignments and deletions."""

    def __setattr__(self, name: str, value: Any) -> None:
        before = vars(self).get(name, ABSENT)
        super().__setattr__(name, _numpys(self, name, value))
        _notice(self, name, before)

    def __delattr__(self, name: str) -> None:
        before = vars(self).get(name, ABSENT)
        super().__delattr__(name)
        _notice(self, name, before)


def _notice(module: ModuleType, name: str, before: Any) -> None:
    """Follow an assignment or deletion, which is the program's and has been made."""
    try:
        _follow(module, name, before)
    except Exception as error:
        note_fault(error)


class StandsForNumPys(_PickledByName):
    """A module of np2tf. A name that the program binds in it is bound in NumPy's module."""

    def __setattr__(self, name: str, value: Any) -> None:
        numpys = _numpys_module(self)
        if numpys is None or isinstance(value, ModuleType) or name.startswith("__"):
            super().__setattr__(name, value)
        else:
            _follow_module(numpys)
            setattr(numpys, name, value)

    def __delattr__(self, name: str) -> None:
        numpys = _numpys_module(self)
        if numpys is None or (name in vars(self) and name not in vars(numpys)):
            super().__delattr__(name)
        else:
            _follow_module(numpys)
            delattr(numpys, name)


def watch(numpys: ModuleType, tnp_module: ModuleType) -> None:
    """Let a module of np2tf follow the names that the program binds in NumPy's module."""
    modules = _replacements.setdefault(numpys.__name__, [])
    if tnp_module in modules:
        return
    modules.append(tnp_module)
    vars(tnp_module)["_numpys_module"] = numpys
    for name, value in list(vars(numpys).items()):
        if not (_is_numpys(value) or name.startswith("_")):
            # NumPy's own object can no longer be found.
            _numpy_objects.setdefault(f"{numpys.__name__}.{name}", object())
            _note(f"{numpys.__name__}.{name}", value)
    if program.is_translated:
        _follow_module(numpys)
    if not isinstance(tnp_module, StandsForNumPys):
        tnp_module.__class__ = StandsForNumPys


def follow_program() -> None:
    """Notice the names that the program binds in NumPy's modules, from now on."""
    for name in _replacements:
        _follow_module(sys.modules[name])


def _follow_module(numpys: ModuleType) -> None:
    if not isinstance(numpys, _WatchedModule):
        kind = type(numpys)
        bases = (_WatchedModule,) if kind is ModuleType else (_WatchedModule, kind)
        numpys.__class__ = type(kind.__name__, bases, {"__module__": kind.__module__})


def value_of(qualified_name: str) -> Any:
    """Return the program's object of a name; for a function of NumPy, `tnp`'s version.

    Raises:
        AttributeError: the program has deleted the name.
        StagingError: the code that reads the name is being staged, and assumes that the name is NumPy's own.
    """
    value = rebound.values[qualified_name]
    if value is ABSENT:
        module, _, name = qualified_name.rpartition(".")
        raise AttributeError(
            f"module {module!r} has no attribute {name!r}", name=name, obj=sys.modules[module]
        )
    if qualified_name.rpartition(".")[2] in rebound.words and is_staged():
        raise CalleeError(f"the program has rebound `{qualified_name}`")
    return value


def is_staged() -> bool:
    """Return whether this thread stages a function."""
    if fast_flags.is_unstaged:
        return False
    from np2tf.arrays.tensors.storage import current_scope

    return current_scope() is not None


def _numpys_module(tnp_module: ModuleType) -> ModuleType | None:
    return vars(tnp_module).get("_numpys_module")


def _numpys(module: ModuleType, name: str, value: Any) -> Any:
    """Return the object to bind in NumPy's module: NumPy's own in the place of an object that replaces it."""
    for tnp_module in _replacements.get(module.__name__, ()):
        if value is not ABSENT and (
            _aside.get((tnp_module.__name__, name), ABSENT) is value
            or vars(tnp_module).get(name, ABSENT) is value
        ):
            return _numpy_objects.get(
                f"{module.__name__}.{name}", getattr(value, "numpy", vars(module).get(name, value))
            )
    return numpy_function(value)


def _follow(module: ModuleType, name: str, before: Any) -> None:
    """Record the current object of a name of NumPy, after an assignment or deletion."""
    now = vars(module).get(name, ABSENT)
    if now is before or (isinstance(now, ModuleType) and before is ABSENT):
        return  # a submodule has been imported
    qualified_name = f"{module.__name__}.{name}"
    own_object = _numpy_objects.setdefault(qualified_name, before)
    if own_object is not ABSENT or _first.setdefault(qualified_name, now) is not now:
        _changing_names.add(qualified_name)
    _note(qualified_name, now)
    for tnp_module in _replacements.get(module.__name__, ()):
        for tnp_name in (name, f"{name}_at"):
            _put(tnp_module, tnp_name, now is own_object)


def _note(qualified_name: str, now: Any) -> None:
    """Record the current object of a name."""
    if now is _numpy_objects[qualified_name]:
        rebound.values.pop(qualified_name, None)
    else:
        rebound.values[qualified_name] = now
    rebound.words = frozenset(
        rebound_name.rpartition(".")[2]
        for rebound_name, value in rebound.values.items()
        if not _may_be_staged(rebound_name, value)
    )


def _is_numpys(value: Any) -> bool:
    """Return whether a function is NumPy's; a program may have bound its own before it imported np2tf."""
    if isinstance(value, np.ufunc) or not isinstance(value, (*_FUNCTIONS, MethodType)):
        return True
    module = getattr(value, "__module__", None) or type(getattr(value, "__self__", None)).__module__
    return module.partition(".")[0] in ("numpy", "builtins")


def _put(tnp_module: ModuleType, name: str, back: bool) -> None:
    """Set aside the object that a module of np2tf keeps for a name, or restore it."""
    space, key = vars(tnp_module), (tnp_module.__name__, name)
    if back:
        value = _aside.pop(key, ABSENT)
        if value is not ABSENT:
            space[name] = value
    elif name in space:
        _aside.setdefault(key, space.pop(name))


def _may_be_staged(qualified_name: str, value: Any) -> bool:
    """Return whether a name is only another name of an object of NumPy or Python, such as ``np.product``."""
    if qualified_name in _changing_names:
        return False
    module = getattr(value, "__module__", None) or ""
    return isinstance(value, np.ufunc) or (
        module.partition(".")[0] in ("numpy", "builtins") and isinstance(value, (*_FUNCTIONS, type))
    )


# -- numpy modules -------------------------------------------------------------------------------------------
# NumPy's modules as modules of `tnp`: every public name under the same path, made at the first access.

#: Name -> module, for all modules of np2tf that replace one of NumPy and have no file.
_modules: dict[str, HostModule] = {}


def provide_any(value: Any, qualified_name: str) -> Any:
    """Return the object of `tnp` that replaces an object of NumPy, which may be a module."""
    if isinstance(value, ModuleType) and value.__name__.partition(".")[0] == "numpy":
        return host_module(value.__name__, qualified_name.replace("numpy", "np2tf.tnp", 1))
    return numpy_functions.provide(value, qualified_name)


def program_binding(qualified_name: str) -> Any:
    """Return the object that the program has bound to a name of NumPy; for a function of NumPy, `tnp`'s
    version.

    Raises:
        AttributeError: the program has deleted the name.
        StagingError: the object is not NumPy's own, and the code that reads it is being staged.
    """
    value = value_of(qualified_name)
    place, name = getattr(value, "__module__", None) or "", getattr(value, "__name__", "")
    if isinstance(value, ModuleType) or getattr(sys.modules.get(place), name, None) is not value:
        return value
    return provide_any(value, f"{place}.{name}") if place.partition(".")[0] == "numpy" else value


class HostModule(StandsForNumPys):
    """A module that replaces a module of NumPy, which is loaded on first use."""

    def __init__(self, numpy_name: str, name: str) -> None:
        super().__init__(name)
        self.__dict__["_numpy_name"] = numpy_name
        self.__spec__ = ModuleSpec(name, None, is_package=True)
        self.__package__ = name
        self.__path__: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__all__":
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        module = importlib.import_module(self.__dict__["_numpy_name"])
        sys.modules.setdefault(self.__name__, self)
        watch(module, self)
        if f"{module.__name__}.{name}" in rebound.values:
            return program_binding(f"{module.__name__}.{name}")
        if name == "__all__":
            return getattr(module, "__all__", [key for key in dir(module) if not key.startswith("_")])
        submodule = _modules.get(f"{self.__name__}.{name}")
        value = submodule or provide_any(getattr(module, name), f"{module.__name__}.{name}")
        self.__dict__[name] = value
        return value

    def __dir__(self) -> list[str]:
        return sorted({*dir(importlib.import_module(self.__dict__["_numpy_name"])), *self.__dict__})


def host_module(numpy_name: str, name: str) -> ModuleType:
    """Return the module `name` of np2tf that replaces NumPy's `numpy_name`, and make it importable.

    The module is not in `sys.modules` before NumPy's module is: a program that asks each module there for a
    name, in a loop over `sys.modules`, would load NumPy's module in the middle of the loop.
    """
    if name in sys.modules:
        return sys.modules[name]
    module = _modules.get(name)
    if module is None:
        module = _modules[name] = HostModule(numpy_name, name)
        if numpy_name in sys.modules:
            sys.modules[name] = module
    return module


class _Finder(MetaPathFinder, Loader):
    """Imports the modules that have no file."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        return ModuleSpec(fullname, self, is_package=True) if fullname in _modules else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _modules[spec.name]

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: the names are made at the first access."""


sys.meta_path.append(_Finder())


def missing_names(namespace: dict[str, Any], numpy_name: str) -> Callable[[str], Any]:
    """Return a module's `__getattr__` that provides the names of NumPy's module that `namespace` lacks."""
    watch(importlib.import_module(numpy_name), sys.modules[namespace["__name__"]])

    def getattribute(name: str) -> Any:
        if f"{numpy_name}.{name}" in rebound.values:
            return program_binding(f"{numpy_name}.{name}")
        if name.startswith("_"):
            raise AttributeError(f"module {namespace['__name__']!r} has no attribute {name!r}")
        value = provide_any(getattr(importlib.import_module(numpy_name), name), f"{numpy_name}.{name}")
        namespace[name] = value
        return value

    return getattribute


def public_names(numpy_name: str, namespace: dict[str, Any]) -> Callable[[], list[str]]:
    """Return a module's `__dir__`, which lists NumPy's names and its own."""
    return lambda: sorted({*dir(importlib.import_module(numpy_name)), *namespace})


# -- removed names -------------------------------------------------------------------------------------------
# Names that NumPy 2 removed and older programs use, and the in-place forms of ufuncs that np2tf writes.
#
# rules/removed.toml has the current name of each removed name.

_ABSENT = object()


def replacement(name: str, namespace: Any) -> Any:
    """Return the object of `tnp`, whose namespace is given, that replaces a name that NumPy removed.

    Raises:
        AttributeError: NumPy never had the name, or nothing replaces it.
    """
    rule = find(f"numpy.{name}")
    if rule is not None and rule.expression:
        return ast.literal_eval(rule.expression)
    if rule is not None and not rule.new_name:
        # NumPy does not list names that it will remove, and warns on access.
        value = getattr(np, name, _ABSENT)
        if value is not _ABSENT:
            return provide(value, rule.name)
    if rule is None or not rule.new_name:
        reason = f": {_why_not(rule)}" if rule is not None else ""
        raise AttributeError(f"module 'np2tf.tnp' has no attribute {name!r}{reason}")
    if rule.builtin:
        return getattr(builtins, rule.new_name)
    value = operator.attrgetter(rule.new_name)(namespace)
    if rule.negated:
        return -value
    return _adapt(rule, value, namespace) if rule.arguments or rule.flattens or rule.keywords else value


def _why_not(rule: Rule) -> str:
    if rule.reason:
        return rule.reason
    return f"NumPy has it since {rule.since}" if rule.since else f"NumPy had it until {rule.until}"


def _adapt(rule: Rule, function: Callable[..., Any], namespace: Any) -> Callable[..., Any]:
    defaults, new_names = dict(rule.arguments), dict(rule.keywords)

    @functools.wraps(function)
    def call(first: Any, *args: Any, **kwargs: Any) -> Any:
        flat = namespace.ravel(first) if rule.flattens else first
        given = {**dict(zip(defaults, args)), **{new_names.get(name, name): kwargs[name] for name in kwargs}}
        if rule.dtypes:
            given = {name: dtype for name, dtype in given.items() if np.issubdtype(dtype, np.inexact)}
        return function(flat, *args[len(defaults) :], **{**defaults, **given})

    return call


def ufunc_at(ufunc: np.ufunc) -> Callable[..., Any]:
    """Return a function such as ``tnp.add_at``, which calls `ufunc.at` and returns the written array.

    For a tf.Tensor, which cannot change, it returns a new tensor.
    """
    tnp_ufunc = universal_function(ufunc)

    def apply_at(array: Any, indices: Any, *operands: Any) -> Any:
        return tnp_ufunc.at(array, indices, *operands)

    apply_at.__name__ = f"{ufunc.__name__}_at"
    return apply_at
