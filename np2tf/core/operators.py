"""The operators that translated code calls: their table, Python's meaning of each, and the meaning in
use now.
"""

from __future__ import annotations

import functools
import importlib
import sys
import types
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from np2tf.core import late
from np2tf.core.late import TensorFlowMissingError, installation

# -- undefined -----------------------------------------------------------------------------------------------
# Unbound names: the value that stands for an unbound name in translated code, staged or not.


class Undefined:
    """The value of a name that is not bound (yet); any use of it raises UnboundLocalError."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, attribute: str) -> Any:
        """Refuse the attributes that programs use; protocols look up names with underscores, which do not
        exist.
        """
        if attribute.startswith("_"):
            raise AttributeError(attribute)
        return _refuse(self)

    def __repr__(self) -> str:
        return f"undefined({self.name!r})"


#: The message of Python itself, which changed with Python 3.11.
_MESSAGE = (
    "cannot access local variable '{}' where it is not associated with a value"
    if sys.version_info >= (3, 11)
    else "local variable '{}' referenced before assignment"
)


def _refuse(self: Undefined, *args: Any) -> Any:
    raise UnboundLocalError(_MESSAGE.format(self.name))


_UNARY = (
    "bool int float complex index len iter next reversed contains getitem setitem delitem call array neg pos "
    "abs invert round trunc floor ceil lt le gt ge eq ne format str enter exit"
)
#: Operators of two operands, which have a reflected and an in-place form.
_BINARY = "add sub mul matmul truediv floordiv mod pow lshift rshift and xor or"
_USES = (
    *(*_UNARY.split(), "divmod", "rdivmod"),
    *(form + name for name in _BINARY.split() for form in ("", "r", "i")),
)
for _name in _USES:
    setattr(Undefined, f"__{_name}__", _refuse)
Undefined.__hash__ = object.__hash__  # type: ignore[method-assign]


def undefined(name: str) -> Any:
    """Return the value of a name that is not bound yet.

    Args:
        name: the name of the variable.

    Returns:
        An object whose use raises UnboundLocalError. In compiled code its use discards the call.

    See https://docs.python.org/3/library/exceptions.html#UnboundLocalError.
    """
    return Undefined(name)


def check_bound(result: Any) -> Any:
    """Return a function's result; raise UnboundLocalError if it is or contains an unbound name."""
    kind = type(result)
    if kind is Undefined:
        bool(result)
    elif kind is tuple:
        for item in result:
            check_bound(item)
    elif kind is dict or kind is list:
        # The result may be a display of names; deeper containers may be long, or hold themselves.
        items = result.values() if kind is dict else result
        if Undefined in set(map(type, items)):
            check_bound(tuple(item for item in items if type(item) is Undefined))
    return result


# -- table ---------------------------------------------------------------------------------------------------
# The operators that translated code calls as `np2tf.cond`, `np2tf.range` …: their names and both meanings.
#
# This table is the only list of the operators. The translator emits them, `np2tf` has them as attributes,
# compiled code and the host call one of the two meanings each, and the tests judge translations by Python's
# meaning. Python's meaning, for values that are all known, stands here where it is no builtin; the meaning
# for staged values is loaded when it is first called (`np2tf.core.operators`).

#: The roles of operators in the translator. It writes calls of "control" operators itself, and looks for none
#: in the source. It puts operators in the place of builtins: a loop runs over a "sequence", and a "number" is
#: computed from other numbers. A "type test" asks for a value's type.
CONTROL, SEQUENCE, NUMBER, TYPE_TEST = "control", "sequence", "number", "type test"
OTHER_ROLE = "other"

#: The translator and the staged operators unroll loops of at most this many iterations: constant indices make
#: better code than a loop.
UNROLL = 8
#: A loop that cannot be lowered or staged may still be unrolled up to this length.
MAX_UNROLL = 64


class Operator:
    """One operator.

    Attributes:
        python: Python's meaning, as ``module:name``, or ``module`` where that is the operator.
        staged: the meaning for staged values, likewise, within the package that `late.staging` names; "" if
            Python's meaning holds for staged values, too.
    """

    __slots__ = ("python", "role", "staged")  # a named tuple takes longer to make than all of the table

    def __init__(self, python: str, staged_function: str, role: str = OTHER_ROLE) -> None:
        self.python, self.staged, self.role = python, staged_function, role


def _own_operator(name: str, module: str, role: str = OTHER_ROLE) -> Operator:
    return Operator(f"{__name__}:{name}", f"{module}:{name}", role)


def _builtin(name: str, module: str, role: str = OTHER_ROLE) -> Operator:
    return Operator(f"builtins:{name}", f"{module}:{name}", role)


OPERATORS: dict[str, Operator] = {
    **{
        name: _own_operator(name, "control.statements", CONTROL)
        for name in ("cond", "case", "while_loop", "for_loop", "and_", "or_")
    },
    "map_loop": _own_operator("map_loop", "control.map_loop", CONTROL),
    "not_": Operator("operator:not_", "control.statements:not_"),
    "is_": Operator("operator:is_", "control.statements:is_"),
    "undefined": Operator("np2tf.core.operators:undefined", ""),
    "numpy_function": Operator(f"{__name__}:numpy_function", ""),
    "on_host": _own_operator("on_host", "control.statements"),
    "call": _own_operator("call", "callees.callees"),
    "context": _own_operator("context", "callees.callees"),
    **{
        name: _builtin(name, "control.iterables", SEQUENCE)
        for name in ("range", "enumerate", "zip", "reversed")
    },
    **{
        name: _builtin(name, "control.builtins", NUMBER)
        for name in ("int", "float", "complex", "bool", "round", "len", "sum", "any", "all")
    },
    **{name: _builtin(name, "control.builtins", NUMBER) for name in ("min", "max")},
    **{
        name: _builtin(name, "control.type_tests", TYPE_TEST)
        for name in ("isinstance", "type", "hasattr", "getattr")
    },
    "list_of": _own_operator("list_of", "control.builtins"),
    "math": Operator("math", "control.math"),
    "print": _builtin("print", "values.ordered_effects"),
    "str": _builtin("str", "values.text"),
    "repr": _builtin("repr", "values.text"),
    "text": Operator("builtins:str.format", "values.text:text"),
    "percent": Operator("operator:mod", "values.text:percent"),
}


def of_role(role: str) -> tuple[str, ...]:
    """Return the names of the operators with a role."""
    return tuple(name for name, operator in OPERATORS.items() if operator.role == role)


def load(place: str) -> Any:
    """Return the object that ``module:name`` tells."""
    module, _, path = place.partition(":")
    value: Any = sys.modules.get(module) or importlib.import_module(module)
    for name in path.split(".") if path else ():
        value = getattr(value, name)
    return value


def python_meaning(name: str) -> Any:
    """Return Python's meaning of an operator."""
    return load(OPERATORS[name].python)


# -- Python's meaning ----------------------------------------------------------------------------------------


def cond(test: Any, then: Callable[..., Any], otherwise: Callable[..., Any], *operands: Any) -> Any:
    """``then(*operands)`` if `test` is true, else ``otherwise(*operands)``."""
    return then(*operands) if test else otherwise(*operands)


def case(
    branches: Sequence[tuple[Any, Callable[..., Any]]], default: Callable[..., Any], *operands: Any
) -> Any:
    """The function beside the first true test, called with `operands`; `default` if no test is true.

    A test that is a function is called, and only if no test before it is true.
    """
    for test, branch in branches:
        if test() if callable(test) else test:
            return branch(*operands)
    return default(*operands)


class _NoState:
    """The class of `NO_STATE`."""

    def __repr__(self) -> str:
        return "no state"


#: The `state` of a loop without variables.
NO_STATE: Any = _NoState()
#: `inspect.CO_VARARGS`: the flag of code that takes ``*args``.
_TAKES_ANY_NUMBER = 4


def takes_one_variable(step: Callable[..., Any], before_state: int) -> bool:
    """Return whether a loop's step takes the state as one value, which is what it returns then.

    Args:
        step: any callable. If it has exactly one positional parameter for the state, it takes one value. If
            it has several or ``*args``, or if its parameters are unknown, it takes the items of a tuple.
        before_state: the number of parameters before the state.
    """
    if type(step) is types.FunctionType:
        code = step.__code__
        if not code.co_flags & _TAKES_ANY_NUMBER:
            return code.co_argcount == before_state + 1
    import inspect

    try:
        parameters = inspect.signature(step).parameters.values()
    except (TypeError, ValueError):
        return False
    kinds = [parameter.kind for parameter in parameters]
    if inspect.Parameter.VAR_POSITIONAL in kinds:
        return False
    named = kinds.count(inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return kinds.count(inspect.Parameter.POSITIONAL_ONLY) + named == before_state + 1


def while_loop(keep_going: Callable[..., Any], step: Callable[..., Any], state: Any = NO_STATE) -> Any:
    """``while keep_going(state): state = step(state)``; returns the state after the loop.

    The functions of a loop without state have no parameters; if they have several, the state is a tuple.
    """
    if state is NO_STATE:
        while keep_going():
            step()
        return None
    if takes_one_variable(step, 0):
        while keep_going(state):
            state = step(state)
        return state
    while keep_going(*state):
        state = step(*state)
    return state


def for_loop(
    iterable: Iterable[Any],
    step: Callable[..., Any],
    state: Any = NO_STATE,
    keep_going: Callable[..., Any] | None = None,
) -> Any:
    """``for item in iterable: state = step(item, state)``; returns the state after the loop.

    The step of a loop without state takes the item alone; if it takes several variables, the state is a
    tuple. `keep_going` is tested on the state before every step; the loop ends when it is false.
    """
    if state is NO_STATE:
        for item in iterable:
            if keep_going is not None and not keep_going():
                break
            step(item)
        return None
    if takes_one_variable(step, 1):
        for item in iterable:
            if keep_going is not None and not keep_going(state):
                break
            state = step(item, state)
        return state
    for item in iterable:
        if keep_going is not None and not keep_going(*state):
            break
        state = step(item, *state)
    return tuple(state)


def map_loop(iterable: Iterable[Any], value: Callable[[Any], Any], out: Any) -> Any:
    """``for i in iterable: out[i] = value(i)``; returns `out`."""
    for i in iterable:
        out[i] = value(i)
    return out


def and_(left: Any, right: Callable[[], Any]) -> Any:
    """``left and right()``."""
    return left and right()


def or_(left: Any, right: Callable[[], Any]) -> Any:
    """``left or right()``."""
    return left or right()


def call(callee: Any) -> Any:
    """``np2tf.call(f)(x)`` is ``f(x)``."""
    return callee


def context(manager: Any) -> Any:
    """``with np2tf.context(manager):`` is ``with manager:``."""
    return manager


def on_host(kinds: Any) -> Any:
    """``except np2tf.on_host(kinds):`` is ``except kinds:``."""
    return kinds


def list_of(element: Any, iterable: Iterable[Any], where: Any = None) -> list[Any]:
    """``[element(item) for item in iterable if where(item)]``.

    A function of several parameters takes a tuple's items as its arguments.
    """
    if element.__code__.co_argcount > 1:
        return [element(*item) for item in iterable if where is None or where(*item)]
    return [element(item) for item in iterable if where is None or where(item)]


#: The classes of np2tf's functions for NumPy's, which have these as `numpy`; the house of arrays sets it.
numpy_functions: tuple[type, ...] = ()


def numpy_function(value: Any) -> Any:
    """``np2tf.numpy_function(f) is np.add`` asks whether f is NumPy's function, or np2tf's version of it.

    Args:
        value: a function, or any other value.

    Returns:
        NumPy's function instead of np2tf's; any other value unchanged.
    """
    return value.numpy if issubclass(type(value), numpy_functions) else value


# -- in use --------------------------------------------------------------------------------------------------
# The meaning of each operator that `np2tf` has now: Python's, or the meaning for staged values.
#
# Before TensorFlow is loaded nothing can be staged, so Python's own operators are used. Emitted code reads
# the attribute of `np2tf` whenever it calls an operator, so another operator may take its place at any time;
# a Python loop that is running goes on.


def _until_tensorflow(name: str) -> Callable[..., Any]:
    """Python's operator, which gives way as soon as the program has imported TensorFlow by itself."""
    function = python_meaning(name)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not installation.may_have_tensorflow:
            return function(*args, **kwargs)
        use_staging()
        return staging_operator(name)(*args, **kwargs)

    return call


#: Python's operators by name, as `np2tf` has them before TensorFlow is loaded.
PYTHON: dict[str, Any] = {
    name: _until_tensorflow(name) if operator.role == CONTROL else load(operator.python)
    for name, operator in OPERATORS.items()
}


def staging_operator(name: str) -> Any:
    """The operator that stages where its values are staged; Python's, if TensorFlow cannot be imported."""
    operator = OPERATORS[name]
    try:
        with installation.needed():
            return load(f"{late.staging}.{operator.staged}" if operator.staged else operator.python)
    except TensorFlowMissingError:
        installation.warn()
        return python_meaning(name) if operator.role == CONTROL else load(operator.python)


class _Use:
    """The state of the operators: whether the staging operators have replaced Python's operators."""

    staging = False


def install(names: dict[str, Any]) -> None:
    """Put Python's operators into the namespace of `np2tf`, unless the staging operators are in use already.

    They are if the module `np2tf` is executed a second time, as `importlib.reload` and `%reload_ext` do.
    """
    if not _Use.staging:
        names.update(PYTHON)


def use_staging() -> None:
    """Put the operators that stage into the place of Python's; called when TensorFlow is loaded.

    `np2tf` loads each of them when it is first asked for it.
    """
    _Use.staging = True
    names = vars(sys.modules["np2tf"])
    for name, operator in PYTHON.items():
        if names.get(name) is operator:
            names.pop(name, None)
