"""The meaning of each operator that `np2tf` has now: Python's, or the meaning for staged values.

Until TensorFlow is loaded no value can be staged, and Python's do. Emitted code reads the attribute of
`np2tf` whenever it calls an operator, so that another operator may take its place at any time; a Python loop
that is running goes on.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from np2tf import lazy
from np2tf.installation import TensorFlowMissingError, installation
from np2tf.operators.table import CONTROL, OPERATORS, load, python_meaning


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
            return load(f"{lazy.staging}.{operator.staged}" if operator.staged else operator.python)
    except TensorFlowMissingError:
        installation.warn()
        return python_meaning(name) if operator.role == CONTROL else load(operator.python)


class _Use:
    """The state of the operators: whether the staging operators have replaced Python's operators."""

    staging = False


def install(names: dict[str, Any]) -> None:
    """Put Python's operators into the namespace of `np2tf`, unless the staging operators are in use already.

    They are if the module `np2tf` is executed a second time, as `importlib.reload` and `%reload_ext` do.

    Args:
        names: the namespace of the module `np2tf`.
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
