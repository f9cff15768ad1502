"""Converted text as a module, with its functions raised to plain Python."""

from __future__ import annotations

import dis
import importlib.util
import itertools
import types
from pathlib import Path
from typing import Any

import numpy as np

from np2tf.core.operators import OPERATORS
from np2tf.staging.host.jit import JittedFunction
from np2tf.staging.host.originals import _with_code
from np2tf.staging.host.raising.code import raised_code
from np2tf.staging.objects.code_names import codes_within

_numbers = itertools.count()


def module_of(text: str, folder: Path) -> types.ModuleType:
    """Return the module of a text, which is written to a file."""
    path = folder / f"raised_{next(_numbers)}.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def raised(function: Any) -> types.FunctionType | None:
    """Return a function, jitted or not, raised to plain Python; None if nothing in it can be raised."""
    plain: Any = getattr(function, "__wrapped__", function)
    code = raised_code(plain)
    return None if code is None else _with_code(plain, code)


def raise_all(module: types.ModuleType) -> list[types.FunctionType]:
    """Put raised functions in the place of a module's jitted functions and methods; return them."""
    found = []
    owners = [module, *(value for value in vars(module).values() if type(value) is type)]
    for owner in owners:
        for name, value in list(vars(owner).items()):
            if type(value) is JittedFunction:
                new = raised(value)
                setattr(owner, name, value.__wrapped__ if new is None else new)
                found += [] if new is None else [new]
    return found


def operators_in(function: types.FunctionType) -> set[str]:
    """Return the names of np2tf's operators, and `at`, that a function still reads from the modules."""
    found = set()
    for code in codes_within(function.__code__):
        steps = list(dis.get_instructions(code))
        for step, following in itertools.pairwise(steps):
            if step.opname == "LOAD_GLOBAL" and (
                (step.argval == "np2tf" and following.argval in OPERATORS)
                or (step.argval == "tnp" and following.argval == "at")
            ):
                found.add(following.argval)
    return found


def compared(value: Any) -> Any:
    """Return a result as values that are equal only if type, shape, bytes and order are."""
    if isinstance(value, (tuple, list)):
        return [type(value).__name__, *map(compared, value)]
    if isinstance(value, dict):
        return {key: compared(item) for key, item in value.items()}
    if isinstance(value, (np.ndarray, np.generic)):
        value = np.asarray(value) if type(value) is not np.ndarray else value
        return (value.dtype.str, value.shape, value.tobytes())
    return type(value).__name__, repr(value)


def outcome(function: Any, *args: Any) -> Any:
    """Return what a call gives or raises, and its arguments after it."""
    try:
        result = compared(function(*args))
    except Exception as error:
        result = type(error).__name__, str(error)
    return result, compared(args)
