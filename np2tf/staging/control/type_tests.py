"""``isinstance(x, int)``, ``type(x)``, ``hasattr(x, "shape")`` of staged numbers, whose class is np2tf's."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from np2tf.arrays.array.ndarray import scalar
from np2tf.arrays.operands.path_dependent import path_dependence_error


def isinstance(value: Any, classes: Any) -> Any:
    """Return ``isinstance(value, classes)``; a staged number is of the class that it has in NumPy's code.

    Raises:
        StagingError: the class depends on the path that the code takes.

    See https://docs.python.org/3/library/functions.html#isinstance.
    """
    return _same_of_all(value, lambda example: builtins.isinstance(example, classes))


def type(*args: Any) -> Any:
    """Return ``type(x)``; of a staged number the class that it has in NumPy's code.

    Raises:
        StagingError: the class depends on the path that the code takes.

    See https://docs.python.org/3/library/functions.html#type.
    """
    return _same_of_all(args[0], builtins.type) if len(args) == 1 else builtins.type(*args)


def hasattr(value: Any, name: str) -> Any:
    """Return ``hasattr(value, name)``; Python's numbers have no ``shape``.

    Raises:
        StagingError: the answer depends on the path that the code takes.

    See https://docs.python.org/3/library/functions.html#hasattr.
    """
    return _same_of_all(value, lambda example: builtins.hasattr(example, name))


def getattr(value: Any, name: str, *default: Any) -> Any:
    """Return ``getattr(value, name, default)``; Python's numbers have no ``shape``.

    Raises:
        StagingError: the answer depends on the path that the code takes.

    See https://docs.python.org/3/library/functions.html#getattr.
    """
    if default and builtins.type(value) is scalar and not hasattr(value, name):
        return default[0]
    return builtins.getattr(value, name, *default)


def _same_of_all(value: Any, ask: Callable[[Any], Any]) -> Any:
    """Return the answer that all classes of a staged number give, or refuse; for any other value its own."""
    if builtins.type(value) is not scalar:
        return ask(value)
    if value.alternatives is None:
        return ask((value.weak or value.dtype.type)(0))
    kinds = value.alternatives.kinds
    answers = [ask(builtins.getattr(kind, "type", kind)(0)) for kind in kinds.kinds]
    if any(answer != answers[0] for answer in answers):
        raise path_dependence_error(kinds)
    return answers[0]
