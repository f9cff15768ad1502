"""Compositions of operations, compiled, against NumPy: bit for bit, as docs/floating-point.md promises.

Single operations are right; compilers change what stands beside what. Each row is a class of rewrites that
XLA, LLVM, MLIR or Grappler makes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import np2tf
from np2tf.arrays.array.ndarray import is_array
from tests.helpers.differential import HEAD, load, translation

#: Rows that are equal bit for bit.
EXACT = """
np.max(np.sqrt(v))
np.min(np.sqrt(v))
np.ptp(np.sqrt(v))
np.max(np.sqrt(v), initial=0)
np.maximum.reduce(v - np.sqrt(v))
np.minimum.accumulate(np.sqrt(v))
np.argmax(np.sqrt(v))
np.argmin(np.sqrt(v))
np.nanmax(np.sqrt(v))
np.fmax(np.sqrt(v), x)
np.maximum(np.sqrt(v), x)
np.sort(np.sqrt(v))
np.clip(np.sqrt(v), -1, 1)
np.max(-x)
~(x > 0)
np.logical_not(x < c)
(x > 0) ^ True
np.logical_xor(x >= c, True)
np.sum(~(x > 0))
~((x > c) | (x < c))
np.where(~(x > c), 1, x)
x + 0.0
x[5] + 0.0
x[6] - 0.0
0.0 - x
x * 0
x - x
-(x - c)
x + np.zeros(8, x.dtype)
x * np.ones(8, x.dtype)
np.zeros(8, x.dtype) / x
(q / 0.7).astype(int)
np.floor(q / 0.7)
np.floor(q / h)
q / 49
q / 7 * 7
x / y / y
np.digitize(q / 0.7, np.arange(10.0))
np.round(r, 2)
x * (x > 0)
(1 / x) * mask
mask * x * (x > 0)
np.abs(x) >= 0
x * x >= 0
x**2 >= 0
np.sqrt(x) >= 0
np.abs(i) < 0
i - 1 < i
i * 2 // 2
x / tiny / tiny
x * huge * huge
x * huge * huge * 0
(r + turn) - turn
r + 1 - 1
1 - (1 - r)
r * 3 / 3
0.1 + (r + 0.2)
x * y + x * c
x * c - c * y
c * x + h * x
edge / edge / edge
edge / (big / edge)
np.sqrt(x * x)
np.sqrt(edge * edge)
np.square(x) / x
ok.mean() == 1.0
np.mean(r > 0)
x / 0.7 // 0.3
np.where(x == 0, x, 0.0)
np.where(x > 0, x, 0.0) + 0.0
x.astype(np.float32).astype(x.dtype)
1 / (1 / y)
(x > x) | (x >= x)
x + c > x
np.max(-i)
np.min(-i)
np.argmax(-i)
np.round(v * y * r, 2)
np.round(y * r.astype(np.float16), 1)
""".strip().splitlines()
#: Rows whose functions have errors of some ulps; NaN and infinities are where NumPy's are.
CLOSE = """
np.max(np.log(v))
np.max(v**0.5)
np.linalg.norm(np.sqrt(np.reshape(v, (4, 2))), axis=1).max()
np.log(np.power(x, y))
np.exp(x) / np.exp(x)
np.exp(x) >= 0
x * np.log(x) * (x > 0)
np.power(x, -0.5)
x[4] ** -0.5
np.exp(r) - 1
np.log(1 + r)
np.average(x, weights=c)
np.sum(x * mask)
np.log(np.sqrt(x * x))
""".strip().splitlines()
#: Rows of complex numbers.
COMPLEX = """
z * 1
z + 0.0
z - 0.0
z * mask
(z + w) - w
(z - w) + w
-(-z)
z - z
np.abs(z) >= 0
~(z == z)
z.real + 0.0
""".strip().splitlines()


def arguments(dtype: type[np.floating[Any]]) -> dict[str, np.ndarray]:
    """The arguments of the rows, with special values of a dtype."""
    info = np.finfo(dtype)
    special = [1, -2.5, np.nan, np.inf, -np.inf, 0.0, -0.0, 3.7]
    values: dict[str, Any] = {
        "x": special,
        "v": [1, -2.5, 4, 0.25, -0.0, 9, 16, 2],
        "y": [0.5, 2, 3, -0.0, np.nan, -0.0, 0, np.inf],
        "c": [0.5] * 8,
        "h": [0.7],
        "q": np.arange(1, 1001) * 0.7,
        "r": [0.29, 0.57, 0.58, 1.13, 1.005, 2.675, 0.001, 0.1],
        "edge": [float(info.max) ** 0.7] * 3,
        "big": [float(info.max) ** 0.7 * 1.5] * 3,
        "huge": [float(info.max) ** 0.7],
        "tiny": [float(info.max) ** -0.7],
        "turn": [1.5 * 2**info.nmant],
    }
    found = {name: np.array(value, dtype) for name, value in values.items()}
    found["mask"] = np.array([True, False] * 4)
    found["ok"] = np.ones(49, bool)
    found["i"] = np.array([-128, 127, -1, 0, 1, 64, -64, 2], np.int8)
    return found


#: The numbers that stand in the source in the dtype of the arguments, so that compilers see constants.
_CONSTANTS = ("huge", "tiny", "turn")
_COMPLEX = {
    "z": np.array([1 + 2j, complex(np.nan, 1), complex(np.inf, 1), 0j, complex(-0.0, -0.0), -1 - 1j, 1, 2j]),
    "w": np.array([1 + 1j, 1e10 + 1j, 1e20 - 1j, 3 + 3j, 1j, 7 + 0.1j, 0.3 + 0.3j, 2 - 5j]),
    "mask": np.array([True, False] * 4),
}


def source_of(rows: list[str], values: dict[str, np.ndarray], more: str = "") -> tuple[str, dict[str, Any]]:
    """The source of a function of all rows, and its arguments."""
    text = "\n".join(rows)
    names = [name for name in values if name not in _CONSTANTS and re.search(rf"\b{name}\b", text)]
    for name in _CONSTANTS:
        if name in values:
            text = re.sub(rf"\b{name}\b", repr(float(values[name][0])), text)
    lines = [f"r{k} = {row}" for k, row in enumerate(text.splitlines())]
    lines += [more, "return " + ", ".join(f"r{k}" for k in range(len(rows))) + ","]
    body = "".join(f"    {line}\n" for line in lines if line)
    return f"{HEAD}def f({', '.join(names)}):\n{body}", {name: values[name] for name in names}


def differences(rows: list[str], got: Any, wanted: Any, ulps: float = 0) -> list[str]:
    """The rows whose results are not NumPy's."""
    pairs = zip(rows, got, wanted, strict=True)
    return [f"{row}: {want!r}, not {have!r}" for row, have, want in pairs if not _same(have, want, ulps)]


def _same(have: Any, want: Any, ulps: float) -> bool:
    have = np.asarray(have.numpy() if is_array(have) or isinstance(have, tf.Tensor) else have)
    want = np.asarray(want)
    if have.dtype != want.dtype or have.shape != want.shape:
        return False
    if want.dtype.kind == "c":
        return _same(have.real, want.real, ulps) and _same(have.imag, want.imag, ulps)
    if want.dtype.kind != "f":
        return bool(np.array_equal(have, want))
    nan = np.isnan(want)
    if not np.array_equal(np.isnan(have), nan):
        return False
    have, want = have[~nan], want[~nan]
    if not ulps:
        return have.tobytes() == want.tobytes()
    with np.errstate(all="ignore"):
        return bool(np.all((have == want) | (abs(have - want) <= ulps * np.spacing(abs(want)))))


def on_numpy(source: str, given: dict[str, Any]) -> Any:
    space: dict[str, Any] = {}
    exec(source, space)
    with np.errstate(all="ignore"):
        return space["f"](**given)


def jitted(source: str) -> Any:
    function = load(translation(source))["f"]
    return function if hasattr(function, "lower") else np2tf.jit(function)


def eagerly(source: str, given: dict[str, Any]) -> Any:
    with np2tf.config.using(jit="off", eager="tensorflow"):
        return jitted(source)(*given.values())


def compiled(source: str, given: dict[str, Any], how: str = "xla") -> Any:
    with np2tf.config.using(jit="on", tier="compile"):
        function = jitted(source)
        assert function.lower(*given.values()).how == how
        return function(*given.values())


_WAYS: dict[str, Callable[..., Any]] = {"eager": eagerly, "xla": compiled}
_FLOATS = pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
_IGNORED = pytest.mark.filterwarnings("ignore::RuntimeWarning")


@_IGNORED
@_FLOATS
@pytest.mark.parametrize("way", _WAYS)
def test_floats(way: str, dtype: type[np.floating[Any]]) -> None:
    values = arguments(dtype)
    for rows, ulps in ((EXACT, 0), (CLOSE, 4)):
        source, given = source_of(rows, values)
        assert differences(rows, _WAYS[way](source, given), on_numpy(source, given), ulps) == []


@_IGNORED
def test_graph() -> None:
    """What XLA lacks makes a graph of the whole function."""
    values = arguments(np.float64)
    for rows, ulps in ((EXACT, 0), (CLOSE, 4)):
        source, given = source_of(rows, values, "np.linalg.svd(np.eye(2))")
        wanted = on_numpy(source, given)
        assert differences(rows, compiled(source, given, "graph"), wanted, ulps) == []


@_IGNORED
@pytest.mark.parametrize("way", ["eager", "xla", "graph"])
def test_complex_numbers(way: str) -> None:
    source, given = source_of(COMPLEX, _COMPLEX, "np.linalg.svd(np.eye(2))" if way == "graph" else "")
    got = compiled(source, given, "graph") if way == "graph" else _WAYS[way](source, given)
    assert differences(COMPLEX, got, on_numpy(source, given), 0) == []


@_IGNORED
def test_plain_tf_function() -> None:
    """Each row is a function of its own: what several rows share is not rewritten."""
    found = []
    for rows, values, ulps in (
        (EXACT, arguments(np.float64), 0),
        (CLOSE, arguments(np.float64), 4),
        (COMPLEX, _COMPLEX, 0),
    ):
        for row in rows:
            source, given = source_of([row], values)
            function = tf.function(jitted(source), autograph=False)
            got = function(*map(tf.constant, given.values()))
            found += differences([row], got, on_numpy(source, given), ulps)
    assert found == []


@_IGNORED
def test_saved_model(tmp_path: Path) -> None:
    """The model is exact where it is called, inside a function, and in a session, as in serving programs."""
    rows = [
        "~(x > 0)",
        "x / 0.7",
        "r + 1 - 1",
        "np.floor(q / 0.7)",
        "0.0 + x * (x > 0)",
        "np.max(np.sqrt(v))",
    ]
    source, given = source_of(rows, arguments(np.float64))
    wanted = on_numpy(source, given)
    np2tf.save(jitted(source), tmp_path, [list(given.values())])
    model = tf.saved_model.load(str(tmp_path))
    tensors = list(map(tf.constant, given.values()))
    assert differences(rows, model(*tensors), wanted) == []
    assert differences(rows, tf.function(lambda *args: model(*args))(*tensors), wanted) == []
    with tf.Graph().as_default() as graph, tf.compat.v1.Session(graph=graph) as session:
        signature = tf.compat.v1.saved_model.load(session, ["serve"], str(tmp_path)).signature_def[
            "serving_default"
        ]
        outputs = [signature.outputs[f"output_{k}"].name for k in range(len(rows))]
        feed = {signature.inputs[name].name: value for name, value in given.items()}
        assert differences(rows, session.run(outputs, feed), wanted) == []


def test_the_same_call_has_one_result() -> None:
    """A number that varies becomes an input of the code; before, it is a constant."""
    x = np.arange(1, 2001) * 0.7
    source = f"{HEAD}def f(x, width):\n    return (x / width).astype(int), np.round(x / width, 2)\n"
    with np2tf.config.using(jit="on", tier="compile"):
        function = jitted(source)
        for width in (0.7, 0.7, 0.3, 0.9, 0.7, 1.1, 0.7):
            got = function(x, width)
            assert differences(["cells", "rounded"], got, on_numpy(source, {"x": x, "width": width})) == []


@_IGNORED
def test_loops_that_tensorflow_compiles_keep_nan() -> None:
    """In the loops of a function that TensorFlow's own option compiles, too."""
    loop = "for k in range(3):\n        s = s + np.max(np.sqrt(v))"
    source = f"{HEAD}def f(v):\n    s = 0.0\n    {loop}\n    return s\n"
    function = tf.function(jitted(source), autograph=False, jit_compile=True)
    assert np.isnan(function(tf.constant([1.0, -2.5], tf.float64)).numpy())
