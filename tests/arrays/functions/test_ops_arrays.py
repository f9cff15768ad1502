"""Making, reshaping, joining, indexing, sorting, against NumPy: on the host, eagerly, staged, compiled."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import np2tf
from np2tf import tnp
from np2tf.arrays.array.ndarray import is_array, ndarray, scalar, tensor_array
from np2tf.arrays.operands.conversion import to_numpy
from np2tf.arrays.tensors.storage import staging_scope
from np2tf.core.counts import counts
from np2tf.core.errors import StagingError
from np2tf.staging.trace.trace import Trace
from tests.helpers import array_expressions as table
from tests.helpers import array_reads as picking

EXPRESSIONS = (*table.CREATION, *table.MANIPULATION, *picking.ATTRIBUTES, *picking.PICKING)
_TOLERANCE = {"e": 1e-3, "f": 1e-5, "F": 1e-5, "d": 1e-12, "D": 1e-12}


def evaluate(expression: str, namespace: Any, arrays: dict[str, Any]) -> Any:
    """The value, or the exception that was raised."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return eval(expression, {**arrays, "np": namespace})
        except Exception as error:
            return error


def difference(wanted: Any, got: Any) -> str:
    """How `got` (of np2tf) differs from `wanted` (of NumPy); empty if it does not."""
    if isinstance(wanted, Exception) or isinstance(got, Exception):
        both_raise = isinstance(wanted, Exception) and isinstance(got, Exception)
        # NumPy's own subclasses (AxisError, UFuncTypeError) may stand for the builtin classes.
        fits = both_raise and (isinstance(got, type(wanted)) or isinstance(wanted, type(got)))
        return "" if fits and type(got) is not Exception else f"{got!r} where NumPy has {wanted!r}"
    if isinstance(wanted, (tuple, list)):
        if not isinstance(got, (tuple, list)) or len(got) != len(wanted):
            return f"{got!r} where NumPy has {wanted!r}"
        return "; ".join(filter(None, map(difference, wanted, got)))
    if isinstance(wanted, np.ndarray) != (type(got) in (ndarray, np.ndarray)):
        return f"{type(got)} where NumPy has {type(wanted)}"
    return value_difference(np.asarray(wanted), np.asarray(to_numpy(got)))


def value_difference(wanted: np.ndarray, got: np.ndarray) -> str:
    """How shape, dtype or elements differ."""
    if (wanted.shape, wanted.dtype) != (got.shape, got.dtype):
        return f"{got.dtype}{got.shape} where NumPy has {wanted.dtype}{wanted.shape}"
    if wanted.dtype.kind not in "fc":
        is_equal = np.array_equal(wanted, got)
    else:
        close = _TOLERANCE[wanted.dtype.char]
        is_equal = np.allclose(got, wanted, rtol=close, atol=close / 10, equal_nan=True)
    return "" if is_equal else f"{got!r} where NumPy has {wanted!r}"


def on_host(expression: str) -> Any:
    return evaluate(expression, tnp, {name: tnp.array(array) for name, array in table.ARRAYS.items()})


def on_tensors(expression: str) -> Any:
    with np2tf.config.using(eager="tensorflow"):
        tensors = {name: tensor_array(tf.constant(array)) for name, array in table.ARRAYS.items()}
        return evaluate(expression, tnp, tensors)


@pytest.mark.parametrize("mode", [on_host, on_tensors])
def test_eager(mode: Callable[[str], Any]) -> None:
    wrong = {}
    for expression in EXPRESSIONS:
        found = difference(evaluate(expression, np, table.ARRAYS), mode(expression))
        if found:
            wrong[expression] = found
    assert not wrong


def test_what_runs_on_the_host_from_tensors() -> None:
    """The list of what np2tf hands to NumPy is neither too short nor too long."""
    handed = set()
    for expression in EXPRESSIONS:
        if isinstance(evaluate(expression, np, table.ARRAYS), Exception):
            continue
        before = counts.host
        on_tensors(expression)
        if counts.host > before:
            handed.add(expression)
    assert handed == set(picking.ON_HOST)


class RecordedError(IndexError):
    """A staged expression recorded a violation, so the call is NumPy's."""


class Staged:
    """Expressions staged together into one function; each has a trace of its own for its bounds checks."""

    def __init__(self, expressions: Sequence[str], xla: bool) -> None:
        self.expressions = expressions
        self.xla = xla
        self.errors: dict[str, Exception] = {}
        self.kinds: dict[str, Any] = {}

    def run(self) -> dict[str, Any]:
        names = list(table.ARRAYS)

        @tf.function(jit_compile=self.xla, autograph=False)
        def together(inputs: list[tf.Tensor]) -> dict[str, Any]:
            staged = {}
            for expression in self.expressions:
                trace = Trace(self.xla)
                with staging_scope(trace):
                    arrays = {name: tensor_array(tensor) for name, tensor in zip(names, inputs, strict=True)}
                    result = evaluate(expression, tnp, arrays)
                    if isinstance(result, Exception):
                        self.errors[expression] = result
                        continue
                    flat: list[tf.Tensor] = []
                    self.kinds[expression] = self._flattened(result, flat)
                    staged[expression] = (flat, trace.violations.value)
            return staged

        computed = together([tf.constant(array) for array in table.ARRAYS.values()])
        results: dict[str, Any] = dict(self.errors)
        for expression, (flat, violated) in computed.items():
            if bool(violated):
                results[expression] = RecordedError("recorded at run time")
            else:
                results[expression] = self._rebuilt(self.kinds[expression], iter(flat))
        return results

    def _flattened(self, value: Any, into: list[tf.Tensor]) -> Any:
        if isinstance(value, (tuple, list)):
            return [self._flattened(part, into) for part in value]
        if is_array(value):
            into.append(value.tensor)
            return type(value)
        return value

    def _rebuilt(self, kind: Any, tensors: Any) -> Any:
        if isinstance(kind, list):
            return [self._rebuilt(part, tensors) for part in kind]
        if isinstance(kind, type) and kind in (ndarray, scalar):
            tensor = next(tensors)
            return tensor_array(tensor) if kind is ndarray else tensor.numpy()[()]
        return kind


@pytest.mark.parametrize("xla", [False, True], ids=["graph", "xla"])
def test_staged(xla: bool) -> None:
    wanted = {expression: evaluate(expression, np, table.ARRAYS) for expression in EXPRESSIONS}
    fine = [e for e, value in wanted.items() if not isinstance(value, Exception)]
    alone = [e for e in fine if e in picking.DATA_DEPENDENT]
    results = Staged([e for e in fine if e not in alone], xla).run()
    for expression in alone:
        results |= Staged([expression], xla).run()
    refused = {e for e, result in results.items() if isinstance(result, StagingError)}
    left = {e for e, result in results.items() if isinstance(result, RecordedError)}
    wrong = {e: difference(wanted[e], got) for e, got in results.items() if e not in refused | left}
    assert not {e: found for e, found in wrong.items() if found}
    assert left == set(picking.LEFT_TO_NUMPY)
    assert refused == {*picking.REFUSED_WHILE_STAGING, *(picking.REFUSED_UNDER_XLA if xla else ())}


@pytest.mark.parametrize("xla", [False, True], ids=["graph", "xla"])
def test_staged_errors(xla: bool) -> None:
    """NumPy's error is raised while staging or, where it depends on values, when the function runs."""
    wrong = {}
    for expression in EXPRESSIONS:
        wanted = evaluate(expression, np, table.ARRAYS)
        if isinstance(wanted, Exception):
            try:
                got = Staged([expression], xla).run()[expression]
            except tf.errors.OpError:
                continue
            late = isinstance(got, IndexError) and isinstance(wanted, (IndexError, ValueError))
            found = "" if late or isinstance(got, StagingError) else difference(wanted, got)
            if found:
                wrong[expression] = found
    assert not wrong
