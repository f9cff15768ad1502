"""np2tf.call and np2tf.context: checks callees, the code that classes run implicitly, and context managers
while a function is traced.
"""

from __future__ import annotations

import contextlib
import enum
import functools
import inspect
import types
from collections import deque
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import tensorflow as tf

from np2tf.arrays.array.ndarray import is_array
from np2tf.arrays.front import scipy_functions
from np2tf.arrays.front.flags import transform_depth
from np2tf.arrays.front.numpy_functions import Function
from np2tf.arrays.tensors.storage import current_scope
from np2tf.core import late, rules
from np2tf.core.errors import CalleeError, RandomUseError, StagingError, TraceAgain
from np2tf.staging.callees import known_callees
from np2tf.staging.callees import known_callees as assertions
from np2tf.staging.callees.eager_callees import eager_version
from np2tf.staging.callees.known_callees import number_type
from np2tf.staging.control.unknown_lengths import of_unknown_lengths
from np2tf.staging.host.jit import JittedFunction
from np2tf.staging.host.waiting import WaitingFunction
from np2tf.staging.objects.code_names import is_made_anew
from np2tf.staging.objects.user_code import is_of_library
from np2tf.staging.objects.user_objects import class_members, functions_of, has_instances
from np2tf.staging.random.streams import Draws
from np2tf.staging.tiers.call_context import tensorflow
from np2tf.staging.trace.trace import trace_of
from np2tf.staging.values import ordered_effects
from np2tf.staging.values.ordered_effects import AppendedList

# -- implicit calls ------------------------------------------------------------------------------------------
# Functions that Python runs implicitly while a function is traced: properties, operators, `__post_init__`.
#
# They run untranslated, so np2tf does not order their prints and calls. So they, and all their callees,
# must only compute.

#: Returns the staged version of a function; raises StagingError if there is none.
Check = Callable[[types.FunctionType], Any]
#: The methods that make an object of a class.
_CONSTRUCTORS = ("__init__", "__post_init__")


class ImplicitCallCheck:
    """Checks functions that run untranslated, and their callees.

    Args:
        staged_version: raises a StagingError for a function whose own text has effects besides computing.
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
        operators, callees = late.translator.asked_by(function)
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
        if isinstance(value, (JittedFunction, Function)) or scipy_functions.native(value) is not None:
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
        name = f"`{function.__qualname__}` ({place[0]}:{place[1]})"
        return CalleeError(f"runs {name}, which cannot be compiled: it {reason}")


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


# -- callees -------------------------------------------------------------------------------------------------
# `np2tf.call(f)(x)`: checks a callee that the text does not show, while the function is traced.
#
# A callee may be a parameter, an attribute, an element of a table, or come from another module. Staging
# runs its text once and its graph many times, so the callee must only compute. Allowed callees are a
# function of np2tf or NumPy, a builtin that computes, a class whose objects are their attributes, and a
# Python function whose source only computes, which is translated in place. Any other callee ends the
# staging before it has run.

#: The methods of NumPy's ufuncs that write to none of their operands.
_OF_UFUNCS = frozenset({"accumulate", "outer", "reduce", "reduceat"})
#: Function -> the function to trace in its place, or the error if there is none.
_versions: WeakKeyDictionary[types.FunctionType, Callable[..., Any] | StagingError] = WeakKeyDictionary()
#: The functions among these that are made where they are used. Their versions refer to them, so that the
#: table would keep every one.
_latest_made_anew: deque[types.FunctionType] = deque()
_MOST_MADE_ANEW = 256
#: Modules of Python whose generated methods of classes only compute, such as comparisons.
_MAKING_METHODS = ("dataclasses", "functools")
#: The attributes that members of an enumeration have.
_OF_MEMBERS = frozenset({"_name_", "_value_", "__objclass__", "_sort_order_"})


class NewCallee(TraceAgain):
    """Raised if a function is about to be traced whose dependencies are unknown: the trace begins again."""

    def __init__(self, function: types.FunctionType) -> None:
        super().__init__(f"{function.__qualname__} is called")
        self.function = function


def call(callee: Any) -> Any:
    """Return the function to call in the place of `callee`: itself, unless the calling code is being traced.

    Args:
        callee: any callable.

    Returns:
        `callee`, or its staged version; in a function that a transform runs, and in the graph of a plain
        tf.function, its translation.

    Raises:
        StagingError: if the callee has effects besides computing, or its effects are unknown.
    """
    if current_scope() is not None:
        return staged_callee(callee)
    if tensorflow.graphs.stack and not tf.executing_eagerly():
        return of_unknown_lengths(eager_version(callee))
    return eager_version(callee) if transform_depth.depth else callee


def staged_callee(callee: Any) -> Any:
    """Return the function to trace in the place of `callee`; refuse one that may do more than compute."""
    instead = ordered_effects.counterpart(callee) or assertions.counterpart_of_assertion(callee)
    if instead is not None:
        return instead
    name = scipy_functions.native(callee)
    if name is not None:
        return scipy_functions.implementation_of(name)
    if isinstance(callee, JittedFunction):
        return _jitted(callee)
    if isinstance(callee, Function):
        return _of_numpy(callee)
    kind = type(callee)
    if kind is types.FunctionType:
        return _function(callee)
    if kind is types.MethodType:
        return _method(callee)
    if kind is functools.partial:
        if getattr(callee.func, "__func__", None) is Draws.draw:
            return callee
        return functools.partial(staged_callee(callee.func), *callee.args, **callee.keywords)
    if _is_calling(callee):
        return lambda function, *arguments: callee(function and staged_callee(function), *arguments)
    if isinstance(callee, type):
        return _class(callee)
    if kind is types.BuiltinMethodType and _changes_an_own_container(callee):
        return callee
    counterpart = known_callees.counterpart(callee)
    if counterpart is callee:
        return counterpart
    if counterpart is not None:
        return staged_callee(counterpart)
    method = getattr(kind, "__call__", None)  # noqa: B004
    if has_instances(kind) and isinstance(method, (types.FunctionType, JittedFunction)):
        return types.MethodType(staged_callee(method), callee)
    raise _unknown_callee_error(callee)


def _is_calling(callee: Any) -> bool:
    return any(callee is higher_order for higher_order in known_callees.HIGHER_ORDER)


def _changes_an_own_container(callee: types.BuiltinMethodType) -> bool:
    """Return whether a method changes a list or dict, for which np2tf tracks the changes of arguments and
    variables.

    Raises:
        StagingError: if the change is in a staged loop or branch, where it would happen only once.
    """
    if type(callee.__self__) not in (list, dict) or callee.__name__ not in known_callees.MUTATORS:
        return False
    scope = current_scope()
    assert scope is not None
    if scope is not scope.trace.root:
        raise CalleeError(f"changes a {type(callee.__self__).__name__} in a compiled loop or branch")
    return True


def _of_numpy(callee: Function) -> Function:
    reason = rules.against_staging(callee.qualified_name)
    if reason is not None:
        kind = RandomUseError if callee.qualified_name.startswith("numpy.random.") else CalleeError
        raise kind(f"it {reason}")
    return callee


def _function(function: types.FunctionType) -> Any:
    if (function.__module__ or "").partition(".")[0] == "np2tf":
        return function
    counterpart = known_callees.counterpart(function)
    if counterpart is not None:
        return counterpart if counterpart is function else staged_callee(counterpart)
    _refuse_new(function)
    return staged_version(function)


def staged_version(function: types.FunctionType) -> Any:
    """Return the traced version of a function; refuse one that may do more than compute."""
    version = _versions.get(function)
    if version is None:
        version = _versions[function] = _version(function)
        if is_made_anew(function):
            _latest_made_anew.append(function)
            if len(_latest_made_anew) > _MOST_MADE_ANEW:
                _versions.pop(_latest_made_anew.popleft(), None)
    if isinstance(version, StagingError):
        raise _copy_error(version)
    return version


def _version(function: types.FunctionType) -> Callable[..., Any] | StagingError:
    reason, version = late.translator.staged_version(function)
    if version is not None:
        return version  # type: ignore[no-any-return]
    return _refusal(function, reason)


def check_class(kind: type, names: set[str]) -> None:
    """Check the code that a class runs without a visible call: operators, properties, methods that override.

    A call of `self.step` that is resolved in the class around it may call a method of a class derived
    elsewhere.

    Raises:
        StagingError: if such code has effects besides computing.
    """
    check = ImplicitCallCheck(staged_version)
    definitions: dict[str, list[type]] = {}
    for base, name, member in class_members(kind, names):
        if is_of_library(base):
            continue
        owners = definitions.setdefault(name, [])
        owners.append(base)
        is_operator = name.startswith("__") and name != "__call__"
        if is_operator or isinstance(member, (property, functools.cached_property)):
            _check_all(member, kind, check)
    for name, owners in definitions.items():
        modules = {base.__module__ for base in owners}
        if len(modules) > 1 or (len(owners) > 1 and any("<locals>" in base.__qualname__ for base in owners)):
            for base in owners[:-1]:
                _check_all(vars(base)[name], kind, check)


def _check_all(member: Any, kind: type, check: ImplicitCallCheck) -> None:
    for function in functions_of(member):
        if type(function) is not types.FunctionType or function.__module__ in _MAKING_METHODS:
            continue
        if has_source(function):
            check.check(function, kind)


def _refusal(function: types.FunctionType, reason: str) -> StagingError:
    place = function.__code__.co_filename, function.__code__.co_firstlineno
    message = (
        f"calls `{function.__qualname__}` ({place[0]}:{place[1]}), which cannot be compiled: it {reason}"
    )
    return CalleeError(message)


def _copy_error(error: StagingError) -> StagingError:
    """Return the same error without the traceback of an earlier call."""
    return type(error)(error.reason, error.place)


def _method(method: types.MethodType) -> Any:
    owner, function = method.__self__, method.__func__
    if is_array(owner):
        reason = rules.against_staging(f"numpy.ndarray.{method.__name__}")
        if reason is None:
            return method
        raise CalleeError(f"calls `.{method.__name__}` of an array, which {reason}")
    if isinstance(owner, AppendedList) or (isinstance(owner, Function) and method.__name__ in _OF_UFUNCS):
        return method
    if isinstance(owner, type) or has_instances(type(owner)) or _is_only_fields(owner) or _is_constant(owner):
        return types.MethodType(staged_callee(function), owner)
    raise _unknown_callee_error(method)


def _is_only_fields(owner: Any) -> bool:
    """Return whether an object is a named tuple without further attributes."""
    return _is_named_tuple(type(owner)) and not hasattr(owner, "__dict__")


def _is_constant(owner: Any) -> bool:
    """Return whether an object is a member of an enumeration for a number, a string or None."""
    if not isinstance(owner, enum.Enum) or not vars(owner).keys() <= _OF_MEMBERS:
        return False
    return type(owner.value) in (int, float, complex, bool, str, bytes, type(None))


def _is_named_tuple(kind: type) -> bool:
    return (
        issubclass(kind, tuple)
        and hasattr(kind, "_fields")
        and kind.__new__.__module__ == f"namedtuple_{kind.__name__}"
    )


def _class(kind: type) -> Any:
    if issubclass(kind, BaseException) or kind in known_callees.CLASSES:
        return kind
    if kind in known_callees.BUILTINS:
        return known_callees.counterpart(kind)
    if issubclass(kind, np.generic):
        return number_type(kind)
    if issubclass(kind, enum.Enum):
        return kind
    if _is_named_tuple(kind):
        return kind
    if (
        not has_instances(kind)
        or kind.__new__ is not object.__new__
        or type(kind).__call__ is not type.__call__
    ):
        raise _unknown_callee_error(kind)
    return _construction(kind)


def _construction(kind: type) -> Any:
    """Return a function that makes an object of a class, with its initialiser staged."""
    initialise = kind.__init__  # type: ignore[misc]
    if initialise is object.__init__:
        return kind
    if hasattr(kind, "__dataclass_params__") and "__init__" in vars(kind) and not has_source(initialise):
        # The generated initialiser only assigns the fields.
        further = getattr(kind, "__post_init__", None)
        if type(further) is types.FunctionType:
            # Python calls it unstaged, so it must only compute, without a branch on data.
            _refuse_new(further)
            ImplicitCallCheck(staged_version).check(further, kind)
        return kind
    initialise = staged_callee(initialise)

    def make(*args: Any, **kwargs: Any) -> Any:
        instance: Any = object.__new__(kind)
        initialise(instance, *args, **kwargs)
        return instance

    return make


def has_source(function: Any) -> bool:
    """Return whether a function's code comes from a file, and not from generated text."""
    code = getattr(function, "__code__", None)
    return code is not None and not code.co_filename.startswith("<")


def _jitted(callee: JittedFunction) -> JittedFunction:
    _refuse_new(callee)
    if isinstance(callee, WaitingFunction):
        callee.take_calls_back()
    return callee


def _refuse_new(function: Any) -> None:
    """End the trace by `NewCallee` if the names that a function reads are not known yet."""
    scope = current_scope()
    assert scope is not None
    if not trace_of(scope).surroundings.follows(function):
        raise NewCallee(function)


def _unknown_callee_error(callee: Any) -> StagingError:
    name = getattr(callee, "__qualname__", None) or f"a {type(callee).__qualname__}"
    module = getattr(callee, "__module__", None)
    label = f"`{module}.{name}`" if isinstance(module, str) and module != "builtins" else f"`{name}`"
    return CalleeError(f"calls {label}, whose effects are unknown")


# -- contexts ------------------------------------------------------------------------------------------------
# `with np2tf.context(manager):`: checks a context manager while the function is traced.
#
# A trace enters and leaves it once for all runs, so both methods must only compute, like the callees of
# `np2tf.call`.

#: Managers that change at most NumPy's warnings.
_HARMLESS = (contextlib.nullcontext, np.errstate)


class _TracedManager:
    """A context manager whose methods are traced.

    An exception that leaves the block ends the trace. The host repeats the call, and gives the manager the
    exception.
    """

    def __init__(self, enter: Callable[[], Any], leave: Callable[..., Any]) -> None:
        self._enter = enter
        self._leave = leave

    def __enter__(self) -> Any:
        return self._enter()

    def __exit__(self, kind: type[BaseException] | None, *error: Any) -> None:
        if kind is None:
            self._leave(None, None, None)


def context(manager: Any) -> Any:
    """Return the manager to enter in the place of `manager`: itself, unless the code around is being traced.

    Args:
        manager: a context manager.

    Returns:
        `manager`, or a context manager whose methods are staged.

    Raises:
        StagingError: if its methods have effects besides computing, or their effects are unknown.

    See https://docs.python.org/3/reference/datamodel.html#context-managers.
    """
    kind = type(manager)
    if current_scope() is None or kind in _HARMLESS:
        return manager
    enter, leave = getattr(kind, "__enter__", None), getattr(kind, "__exit__", None)
    functions = type(enter) is types.FunctionType and type(leave) is types.FunctionType
    if not functions or not has_instances(kind):
        raise CalleeError(f"enters a {kind.__name__}, whose effects are unknown")
    return _TracedManager(
        types.MethodType(staged_callee(enter), manager), types.MethodType(staged_callee(leave), manager)
    )
