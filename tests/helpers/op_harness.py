"""A test body for ops: NumPy and np2tf get the same arguments, in three modes, and must return the same.

A `Case` is a name and arguments. Many cases are traced into one function, because compiling takes seconds.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import np2tf
from np2tf import tnp
from np2tf.arrays.array.ndarray import is_array, tensor_array

MODES = ("eager", "graph", "xla")
#: `mode` for most cases of chapters: the examples of all rules run in graphs (tests/conformance), and these
#: cases do with `-m long`.
by_mode = pytest.mark.parametrize("mode", ["eager", pytest.param("graph", marks=pytest.mark.long), "xla"])
_TOLERANCE = {"e": 4e-3, "f": 2e-5, "d": 1e-11, "F": 2e-5, "D": 1e-11}
#: The number of cases that are traced into one function.
_BATCH = 120


@dataclass(frozen=True)
class Case:
    """A call: the dotted name below ``np`` (``.name`` for a method), positional and keyword arguments.

    `modules` are the modules that have the name: NumPy and np2tf's, or two other modules.
    """

    name: str
    args: Sequence[Any]
    kwargs: dict[str, Any] = field(default_factory=dict)
    modules: tuple[Any, Any] = (np, tnp)

    def __str__(self) -> str:
        shown = [_shown(arg) for arg in self.args] + [f"{k}={_shown(v)}" for k, v in self.kwargs.items()]
        return f"{self.name}({', '.join(shown)})"


@dataclass(frozen=True)
class Raised:
    """The exception that a call raised."""

    error: type[BaseException]
    text: str


def _shown(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{list(value.shape)}:{np.array2string(value, threshold=8).replace(chr(10), '')}"
    return repr(value)


def _call(module: Any, case: Case, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    if case.name.startswith("."):
        return getattr(args[0], case.name[1:])(*args[1:], **kwargs)
    target = module
    for part in case.name.split("."):
        target = getattr(target, part)
    return target(*args, **kwargs)


def _map_arrays(value: Any, function: Any) -> Any:
    if isinstance(value, np.ndarray):
        return function(value)
    if type(value) in (list, tuple):
        return type(value)(_map_arrays(item, function) for item in value)
    return value


def _flat(result: Any) -> tuple[Any, ...]:
    if not isinstance(result, (tuple, list)):
        return (result,)
    return tuple(element for part in result for element in (_flat(part) if type(part) is list else (part,)))


def expected(case: Case) -> Any:
    """Return NumPy's result: a tuple of arrays, or `Raised`."""
    args, kwargs = copy.deepcopy((case.args, case.kwargs))  # it may write to them
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            result = _flat(_call(case.modules[0], case, args, kwargs))
        except Exception as error:
            return Raised(type(error), str(error))
        return tuple(np.asarray(part) for part in result)


def _tensors(result: Any) -> tuple[Any, ...]:
    return tuple(part.tensor if is_array(part) else tf.constant(np.asarray(part)) for part in _flat(result))


def _attempt(case: Case, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    try:
        return _tensors(_call(case.modules[1], case, args, kwargs))
    except Exception as error:
        return Raised(type(error), str(error))


def _eager(case: Case) -> Any:
    with np2tf.config.using(eager="tensorflow"):
        args = _map_arrays(case.args, lambda a: tensor_array(tf.constant(a)))
        kwargs = {k: _map_arrays(v, lambda a: tensor_array(tf.constant(a))) for k, v in case.kwargs.items()}
        result = _attempt(case, args, kwargs)
    return result if isinstance(result, Raised) else tuple(part.numpy() for part in result)


def _traced(cases: Sequence[Case], xla: bool) -> list[Any]:
    arrays: list[np.ndarray] = []
    for case in cases:
        _map_arrays([*case.args, *case.kwargs.values()], arrays.append)
    errors: dict[int, Raised] = {}

    @tf.function(jit_compile=xla, autograph=False)
    def together(inputs: list[tf.Tensor]) -> dict[str, Any]:
        remaining = iter(inputs)

        def take(_: np.ndarray) -> Any:
            return tensor_array(next(remaining))

        results = {}
        for k, case in enumerate(cases):
            args = _map_arrays(list(case.args), take)
            kwargs = {name: _map_arrays(value, take) for name, value in case.kwargs.items()}
            outcome = _attempt(case, args, kwargs)
            if isinstance(outcome, Raised):
                errors[k] = outcome
            else:
                results[str(k)] = outcome
        return results

    try:
        results = together([tf.constant(array) for array in arrays])
    except Exception as error:
        if len(cases) == 1:
            return [Raised(type(error), str(error))]
        middle = len(cases) // 2
        return _traced(cases[:middle], xla) + _traced(cases[middle:], xla)
    return [
        errors[k] if k in errors else tuple(part.numpy() for part in results[str(k)])
        for k in range(len(cases))
    ]


def _difference(wanted: Any, got: Any, tolerance: float | None) -> str | None:
    if isinstance(wanted, Raised):
        if not isinstance(got, Raised):
            return f"NumPy raises {wanted.error.__name__}: {wanted.text}"
        fits = issubclass(wanted.error, got.error) or issubclass(got.error, wanted.error)
        return None if fits else f"{got} where NumPy has {wanted}"
    if isinstance(got, Raised):
        return f"raises {got.error.__name__}: {got.text[:300]}"
    if len(wanted) != len(got):
        return f"{len(got)} results where NumPy has {len(wanted)}"
    for a, b in zip(wanted, got, strict=True):
        if a.dtype != b.dtype:
            return f"dtype {b.dtype} where NumPy has {a.dtype}"
        if a.shape != b.shape:
            return f"shape {b.shape} where NumPy has {a.shape}"
        close = tolerance if tolerance is not None else _TOLERANCE.get(a.dtype.char, 0)
        if not _are_close(a, b, close):
            return f"{b!r} where NumPy has {a!r}"
    return None


def _are_close(a: np.ndarray, b: np.ndarray, tolerance: float) -> bool:
    limits: dict[str, Any] = {"rtol": tolerance, "atol": tolerance, "equal_nan": a.dtype.kind in "fc"}
    with np.errstate(all="ignore"):
        close = np.isclose(a, b, **limits)
        if a.dtype.kind == "c":
            # Numbers with one infinite part have no distance that could be compared.
            close |= np.isclose(a.real, b.real, **limits) & np.isclose(a.imag, b.imag, **limits)
    return bool(np.all(close))


def differences(
    cases: Iterable[Case], mode: str, tolerance: float | None = None
) -> Iterator[tuple[Case, str]]:
    """Return the cases in which np2tf and NumPy differ, with the differences."""
    listed = list(cases)
    for start in range(0, len(listed), _BATCH):
        batch = listed[start : start + _BATCH]
        got = [_eager(case) for case in batch] if mode == "eager" else _traced(batch, xla=mode == "xla")
        for case, outcome in zip(batch, got, strict=True):
            difference = _difference(expected(case), outcome, tolerance)
            if difference is not None:
                yield case, difference
