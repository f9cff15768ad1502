"""Functions that Python runs implicitly while a function is traced: properties, operators, `__post_init__`.

They run untranslated, so np2tf does not order their prints and calls. So they, and all their callees, must
only compute.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from typing import Any

from np2tf import lazy
from np2tf.runtime.callees import known_callees
from np2tf.runtime.effects import ordered_effects
from np2tf.runtime.introspection.user_objects import has_instances
from np2tf.runtime.jit.jitted_function import JittedFunction
from np2tf.scipy import lookup
from np2tf.staging import CalleeError, StagingError
from np2tf.tnp._front.front import Function

#: Returns the staged version of a function; raises StagingError if there is none.
Check = Callable[[types.FunctionType], Any]
#: The methods that make an object of a class.
_CONSTRUCTORS = ("__init__", "__post_init__")


class ImplicitCallCheck:
    """Checks functions that run untranslated, and their callees.

    Args:
        staged_version: raises a StagingError for a function whose own text has effects besides computing.
        code: the code of the errors.
    """

    def __init__(self, staged_version: Check) -> None:
        self._staged_version = staged_version
        self._checked_calls: set[Any] = set()

    def check(self, function: types.FunctionType, kind: type | None = None) -> None:
        """Check one function; `kind` is the class of the object that it is a method of.

        Callees that are attributes of an object, or of a parameter, are not checked.

        Raises:
            StagingError: if the function, or a function that it calls by name, has effects besides computing.
        """
        if (function, kind) in self._checked_calls:
            return
        self._checked_calls.add((function, kind))
        version = self._staged_version(function)
        if not isinstance(version, JittedFunction) or not _names_np2tf(version.__wrapped__.__code__):
            return
        operators, callees = lazy.translator.asked_by(function)
        if "print" in operators:
            raise self._error(function, "prints")
        for callee in callees:
            self._check_callee(callee, function, kind)

    def _check_callee(self, text: str, function: types.FunctionType, kind: type | None) -> None:
        target = _resolve_name(text, function, kind)
        if target is not None:
            self._check_object(*target, text, function)

    def _check_object(self, value: Any, kind: type | None, text: str, function: types.FunctionType) -> None:
        if ordered_effects.counterpart(value) is not None:
            raise self._error(function, f"calls `{text}`, whose effects have an order")
        if isinstance(value, (JittedFunction, Function)) or lookup.native(value) is not None:
            return
        if isinstance(value, functools.partial):
            self._check_object(value.func, None, text, function)
        elif known_callees.counterpart(value) is not None or _is_known_class(value):
            pass
        elif isinstance(value, types.MethodType) and type(value.__func__) is types.FunctionType:
            self.check(
                value.__func__, value.__self__ if isinstance(value.__self__, type) else type(value.__self__)
            )
        elif type(value) is types.FunctionType:
            self.check(value, kind)
        elif isinstance(value, type) and has_instances(value):
            for name in _CONSTRUCTORS:
                method = getattr(value, name, None)
                if type(method) is types.FunctionType and not method.__code__.co_filename.startswith("<"):
                    self.check(method, value)
        else:
            raise self._error(function, f"calls `{text}`, whose effects are unknown")

    def _error(self, function: types.FunctionType, reason: str) -> StagingError:
        place = function.__code__.co_filename, function.__code__.co_firstlineno
        message = f"runs `{function.__qualname__}` ({place[0]}:{place[1]}), which is not staged: it {reason}"
        return CalleeError(message)


def _names_np2tf(code: types.CodeType) -> bool:
    """Return whether code uses any of np2tf's operators."""
    if "np2tf" in code.co_names or "np2tf" in code.co_freevars:
        return True
    return any(_names_np2tf(constant) for constant in code.co_consts if isinstance(constant, types.CodeType))


def _is_known_class(value: Any) -> bool:
    return isinstance(value, type) and (issubclass(value, BaseException) or value in known_callees.CLASSES)


def _resolve_name(
    text: str, function: types.FunctionType, kind: type | None
) -> tuple[Any, type | None] | None:
    """Return the value of a dotted name in a function, and the class that it is a method of."""
    if text in ("type(self)", "self.__class__") and kind is not None:
        return kind, None
    root, *path = text.split(".")
    if not all(part.isidentifier() for part in (root, *path)):
        return None
    first = function.__code__.co_varnames[:1]
    if kind is not None and (root,) == first and len(path) == 1:
        member = inspect.getattr_static(kind, path[0], None)
        if isinstance(member, (staticmethod, classmethod)):
            member = member.__func__
        return None if member is None else (member, kind)
    names = inspect.getclosurevars(function)
    for space in (names.nonlocals, names.globals, names.builtins):
        if root in space:
            value = space[root]
            break
    else:
        return None
    for part in path:
        if not isinstance(value, (types.ModuleType, type)):
            return None
        value = getattr(value, part, None)
    return value, None
