"""Evaluates the rules' examples: on NumPy, and on np2tf eagerly, as graphs and compiled.

An example over one set of operands is a `Point`. The points of a chapter are traced into one function.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import CodeType
from typing import Any

import numpy as np
import tensorflow as tf

import np2tf
from np2tf import tnp
from np2tf.arrays.array.ndarray import is_array, tensor_array
from np2tf.core import rules
from tests.helpers import op_harness

DTYPES = ("float64", "float32", "int32", "complex128", "bool")
SHAPES = {"matrix": (2, 3), "vector": (6,), "empty": (0, 3)}
_A = (0.5, -1.25, 2.0, 3.5, 0.25, -2.75)
_B = (0.5, 1.0, 3.0, 2.0, 0.25, 1.5)
_WRITES_SELF = ("self",)


@dataclass(frozen=True)
class Point:
    """An example of a rule, and the dtype and the shape of its operands."""

    rule: rules.Rule
    expression: str
    dtype: str
    shape: str

    def __str__(self) -> str:
        return f"{self.expression} [{self.dtype}, {self.shape}]"

    @property
    def names(self) -> list[str]:
        """The operands that the expression uses."""
        return [name for name in rules.OPERANDS if name in self._code.co_names or name in self._inner]

    @property
    def _code(self) -> CodeType:
        return compile(self.expression, "<example>", "eval")

    @property
    def _inner(self) -> set[str]:
        """The names used in lambdas."""
        return {name for c in self._code.co_consts if isinstance(c, CodeType) for name in c.co_names}


def operands(dtype: str, shape: str) -> dict[str, np.ndarray]:
    """Return the operands that `rules.OPERANDS` describes."""
    lengths = SHAPES[shape]
    size = int(np.prod(lengths))
    a, b, v = np.array(_A[:size]), np.array(_B[:size]), np.array([2.5, -1.0, 4.0])
    if dtype == "int32":
        a, b = np.trunc(a * 4), np.ceil(b)
    if dtype == "complex128":
        a, v = a + 1j * a[::-1], v + 1j
    s = np.array([[4.0, 1, 0], [1, 5, 2], [0, 2, 6]])
    return {
        # Copies, because NumPy gives empty memory other strides than an empty view.
        "a": (a.astype(dtype) if dtype != "bool" else a > 0).reshape(lengths).copy(),
        "b": (b.astype(dtype) if dtype != "bool" else b > 1).reshape(lengths).copy(),
        "v": v.astype(dtype),
        "s": s.astype(dtype),
        "k": np.array([2, 0, 1]),
    }


def points(chapter: str, dtypes: Sequence[str], shapes: Sequence[str]) -> Iterator[Point]:
    """Return a chapter's examples over dtypes and shapes; examples without such operands occur once."""
    for name, expressions in rules.examples().items():
        rule = rules.rules()[name]
        if rule.chapter != chapter or not rule.exists_in(np.__version__):
            continue
        for expression in expressions:
            used = set(Point(rule, expression, "", "").names)
            for shape in shapes if used & {"a", "b"} else shapes[:1]:
                for dtype in dtypes if used & {"a", "b", "v", "s"} else dtypes[:1]:
                    yield Point(rule, expression, dtype, shape)


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, (tuple, list)):
        for item in value:
            yield from _flat(item)
    else:
        yield value


def _evaluate(module: Any, point: Point, given: dict[str, Any]) -> list[Any]:
    """Return the example's result; for a function that writes, the contents of its operands afterwards."""
    result = eval(point.expression, {"np": module, **given})
    return list(_flat(list(given.values()) if point.rule.writes else result))


def _attempt(module: Any, point: Point, given: dict[str, Any]) -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return _evaluate(module, point, given)
        except Exception as error:
            return op_harness.Raised(type(error), str(error))


def _given(point: Point) -> dict[str, np.ndarray]:
    values = operands(point.dtype, point.shape)
    return {name: values[name] for name in point.names}


def _known(value: Any) -> Any:
    """Return a result in NumPy's form: an array for numerical values, the value itself otherwise."""
    if is_array(value) or isinstance(value, tf.Tensor):
        return np.asarray(value.numpy())
    return value if value is None or isinstance(value, (str, type, np.dtype)) else np.asarray(value)


def expected(point: Point) -> Any:
    """Return NumPy's result: a list of values, or the exception."""
    result = _attempt(np, point, _given(point))
    return result if isinstance(result, op_harness.Raised) else [_known(part) for part in result]


def eager(point: Point, on_host: bool) -> Any:
    """Return np2tf's result outside any graph."""
    with np2tf.config.using(eager="auto" if on_host else "tensorflow"):
        given = _given(point)
        if not on_host:
            given = {name: tensor_array(tf.constant(value)) for name, value in given.items()}
        result = _attempt(tnp, point, given)
        return result if isinstance(result, op_harness.Raised) else [_known(part) for part in result]


def _spec(value: np.ndarray, known: str) -> tf.TensorSpec:
    """Return the specification of an operand for a graph: its shape, all but the first length, its rank, or
    nothing.
    """
    shapes: dict[str, Any] = {"shape": value.shape, "rank": [None] * value.ndim, "nothing": None}
    shapes["some"] = [None, *value.shape[1:]][: value.ndim]
    return tf.TensorSpec(shapes[known], value.dtype)


def traced(
    group: Sequence[Point],
    xla: bool,
    known: str = "shape",
    operand: Callable[[tf.Tensor], Any] = tensor_array,
) -> list[Any]:
    """Return np2tf's results as one graph; if that cannot be compiled or run, as two halves.

    `operand` makes the examples' operand from a tensor of the graph.
    """
    given = [_given(point) for point in group]
    specs = [{name: _spec(value, known) for name, value in values.items()} for values in given]
    outcomes: list[Any] = [None] * len(group)

    @tf.function(jit_compile=xla, autograph=False, input_signature=[specs])
    def together(inputs: list[dict[str, tf.Tensor]]) -> dict[str, tf.Tensor]:
        tensors: dict[str, tf.Tensor] = {}
        for k, (point, given) in enumerate(zip(group, inputs, strict=True)):
            result = _attempt(tnp, point, {name: operand(value) for name, value in given.items()})
            outcomes[k] = result
            for n, part in enumerate(result if isinstance(result, list) else ()):
                if is_array(part) or isinstance(part, tf.Tensor):
                    tensors[f"{k}.{n}"] = part.tensor if is_array(part) else part
        return tensors

    try:
        found = together([{n: tf.constant(value) for n, value in values.items()} for values in given])
    except Exception as error:
        if len(group) == 1:
            return [op_harness.Raised(type(error), str(error))]
        middle = len(group) // 2
        return traced(group[:middle], xla, known, operand) + traced(group[middle:], xla, known, operand)
    return [
        result
        if isinstance(result, op_harness.Raised)
        else [_known(found.get(f"{k}.{n}", part)) for n, part in enumerate(result)]
        for k, result in enumerate(outcomes)
    ]


def difference(wanted: Any, got: Any) -> str | None:
    """Return the difference between NumPy's result and np2tf's, or None."""
    if isinstance(wanted, op_harness.Raised) or isinstance(got, op_harness.Raised):
        return op_harness._difference(wanted, got, None)
    if len(wanted) != len(got):
        return f"{len(got)} results where NumPy has {len(wanted)}"
    for a, b in zip(wanted, got, strict=True):
        if isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and a.dtype.kind in "biufc":
            found = op_harness._difference((a,), (b,), None)
            if found is not None:
                return found
        elif type(a) is not type(b) or not np.all(a == b):
            return f"{b!r} where NumPy has {a!r}"
    return None


def differences(listed: Iterable[Point], mode: str) -> Iterator[tuple[Point, str]]:
    """Return the points at which np2tf and NumPy differ in a mode ("host", "eager", "graph", "xla")."""
    group = list(listed)
    wanted = [expected(point) for point in group]
    if mode in ("host", "eager"):
        got = [eager(point, on_host=mode == "host") for point in group]
    else:
        got = traced(group, xla=mode == "xla")
    for point, right, answer in zip(group, wanted, got, strict=True):
        found = difference(right, answer)
        if found is not None:
            yield point, found
