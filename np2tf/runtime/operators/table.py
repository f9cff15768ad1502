"""The operators that translated code calls as `np2tf.cond`, `np2tf.range` …: Python's versions, and those
that stage.

Until TensorFlow is loaded no value can be staged, and Python's versions are used. Emitted code reads the
attribute of `np2tf` at every call of an operator, so that the operator can be replaced at any time; a running
Python loop continues.
"""

from __future__ import annotations

import builtins
import functools
import importlib
import math
import operator
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from np2tf.runtime.operators import python
from np2tf.runtime.operators import undefined as unbound


class Operator(NamedTuple):
    """One operator.

    Attributes:
        python: the version for known values.
        module, attribute: the place of the version that stages; an empty attribute means the module itself.
    """

    python: Any
    module: str
    attribute: str = ""


def _until_tensorflow(name: str) -> Callable[..., Any]:
    """Return Python's version, which is replaced as soon as the program itself has imported TensorFlow."""
    function = getattr(python, name)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if "tensorflow" not in sys.modules:
            return function(*args, **kwargs)
        use_staging()
        return staging_operator(name)(*args, **kwargs)

    return call


_SCALARS = ("int", "float", "complex", "bool", "round", "len", "sum", "any", "all")
OPERATORS: dict[str, Operator] = {
    **{
        name: Operator(_until_tensorflow(name), "staged_operators.control", name)
        for name in ("cond", "while_loop", "for_loop", "and_", "or_")
    },
    "not_": Operator(operator.not_, "staged_operators.control", "not_"),
    "undefined": Operator(unbound.undefined, "operators.undefined", "undefined"),
    "map_loop": Operator(_until_tensorflow("map_loop"), "staged_operators.map_loop", "map_loop"),
    **{
        name: Operator(getattr(builtins, name), "staged_operators.iterables", name)
        for name in ("range", "enumerate", "zip", "reversed")
    },
    **{name: Operator(getattr(builtins, name), "staged_operators.builtins", name) for name in _SCALARS},
    "list_of": Operator(python.list_of, "staged_operators.builtins", "list_of"),
    "call": Operator(python.call, "callees.callees", "call"),
    "context": Operator(python.context, "callees.contexts", "context"),
    "min": Operator(min, "staged_operators.extrema", "min"),
    "max": Operator(max, "staged_operators.extrema", "max"),
    "math": Operator(math, "staged_operators.math"),
    "print": Operator(print, "effects.printing", "print"),
    "str": Operator(str, "effects.text", "str"),
    "repr": Operator(repr, "effects.text", "repr"),
    "text": Operator(str.format, "effects.text", "text"),
    "percent": Operator(operator.mod, "effects.text", "percent"),
    "on_host": Operator(python.on_host, "staged_operators.exceptions", "on_host"),
}


def python_operators() -> dict[str, Any]:
    """Return Python's versions by name."""
    return {name: one.python for name, one in OPERATORS.items()}


def staging_operator(name: str) -> Any:
    """Return the version that stages if its values are staged."""
    one = OPERATORS[name]
    module = importlib.import_module(f"np2tf.runtime.{one.module}")
    return getattr(module, one.attribute) if one.attribute else module


def use_staging() -> None:
    """Replace Python's versions by those that stage; called when TensorFlow is loaded.

    `np2tf` loads each of them at its first use.
    """
    names = vars(sys.modules["np2tf"])
    for name, one in OPERATORS.items():
        if names.get(name) is one.python:
            names.pop(name, None)
