"""``isinstance(x, int)``, ``type(x)``, ``hasattr(x, "shape")`` of staged numbers, whose class is np2tf's."""

from __future__ import annotations

import builtins
from typing import Any

from np2tf.tnp._array.ndarray import scalar
from np2tf.tnp._operands.path_dependent import path_dependence_error


def isinstance(value: Any, classes: Any) -> builtins.bool:
    """Return ``isinstance(value, classes)``; a staged number is of the class that it has in NumPy's code.

    Raises:
        StagingError: the class depends on the path that the code takes.

    See https://docs.python.org/3/library/functions.html#isinstance.
    """
    answers = {builtins.isinstance(example, classes) for example in _examples(value)}
    if len(answers) > 1:
        raise path_dependence_error(value.path_dependent)
    return answers.pop()


def type(*args: Any) -> Any:
    """Return ``type(x)``; of a staged number the class that it has in NumPy's code.

    Raises:
        StagingError: the class depends on the path that the code takes.

    See https://docs.python.org/3/library/functions.html#type.
    """
    if len(args) != 1:
        return builtins.type(*args)
    examples = _examples(args[0])
    if len(examples) > 1:
        raise path_dependence_error(args[0].path_dependent)
    return builtins.type(examples[0])


def hasattr(value: Any, name: str) -> builtins.bool:
    """Return ``hasattr(value, name)``; Python's numbers have no ``shape``.

    Raises:
        StagingError: the answer depends on the path that the code takes.

    See https://docs.python.org/3/library/functions.html#hasattr.
    """
    answers = {builtins.hasattr(example, name) for example in _examples(value)}
    if len(answers) > 1:
        raise path_dependence_error(value.path_dependent)
    return answers.pop()


def getattr(value: Any, name: str, *default: Any) -> Any:
    """Return ``getattr(value, name, default)``; Python's numbers have no ``shape``.

    Raises:
        StagingError: the answer depends on the path that the code takes.

    See https://docs.python.org/3/library/functions.html#getattr.
    """
    if default and builtins.type(value) is scalar and not hasattr(value, name):
        return default[0]
    return builtins.getattr(value, name, *default)


def _examples(value: Any) -> list[Any]:
    """Return values of the classes that a staged number may have; any other value itself."""
    if builtins.type(value) is not scalar:
        return [value]
    kinds = value.path_dependent
    if kinds is not None:
        return [kinds.weak(0), kinds.dtype.type(0)]
    return [value.dtype.type(0) if value.weak is None else value.weak(0)]
