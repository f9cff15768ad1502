"""Dtypes that few know: what NumPy makes of arrays of them, eagerly on tensors."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import np2tf
from np2tf import tnp
from np2tf.arrays.operands.conversion import to_numpy
from tests.arrays.functions.test_ops_arrays import evaluate

#: They stay on the host or go to TensorFlow; nobody is to see which.
SOURCES = {
    "bfloat16": np.array([1.5, 2, -3], ml_dtypes.bfloat16),
    "float8": np.array([1.5, 2, -3], ml_dtypes.float8_e4m3fn),
    "int4": np.array([1, 2, -3], ml_dtypes.int4),
    "records": np.array([(1, 2.0), (3, 4.0)], [("a", "i4"), ("b", "f8")]),
    "longlong": np.array([1, 2], np.longlong),
    "ulonglong": np.array([1, 2], np.ulonglong),
    "longdouble": np.array([1, 2], np.longdouble),
    "dates": np.array(["2020-01-01"], "M8[D]"),
    "text": np.array(["a", "bc"]),
    "objects": np.array([1, None]),
}
MAKING = (
    *("np.asarray(x)", "np.array(x)", "np.copy(x)", "np.asanyarray(x)", "np.ascontiguousarray(x)"),
    *(
        "np.array(x)[0]",
        "np.array(x)[1:]",
        "np.zeros_like(x)",
        "np.zeros(2, x.dtype)",
        "np.stack([np.asarray(x)])",
    ),
    "np.concatenate([np.asarray(x), np.asarray(x)])",
    "np.asarray(x).reshape(-1, 1)",
    "np.full(2, np.asarray(x)[0], x.dtype)",
    "np.where([True], np.asarray(x)[:1], np.asarray(x)[:1])",
    "np.asarray(x).astype(x.dtype)",
)
COMPUTING = tuple(
    f"np.{name}(np.asarray(x))"
    for name in (
        *("mean", "sum", "var", "std", "max", "median", "prod", "average", "argmax", "ptp", "cumsum"),
        *(
            "isnan",
            "signbit",
            "sqrt",
            "exp",
            "abs",
            "floor",
            "nansum",
            "diff",
            "unique",
            "round",
            "nan_to_num",
        ),
    )
) + tuple(
    f"np.asarray(x) {operation}"
    for operation in ("+ 1", "+ 1.5", "/ 2", "// 2", "** 2", "> 1", "* np.asarray(x)")
)
#: Expression -> its `x`. The dtype that is asked for decides, and what numbers are beside it.
ASKED = (
    *(
        f"np.{name}({array}, dtype={dtype})"
        for name in ("var", "std", "mean", "sum", "nanvar", "nanmean", "cumsum")
        for array in ("np.arange(4.)", "np.array([1, 2, 4])", "np.arange(3) * 1j", "np.array([True, False])")
        for dtype in ("complex", "int", "'f4'", "'c8'", "bool")
    ),
    "np.array([1, 2], dtype=np.longlong).mean()",
    "np.array([1, 2], dtype=np.longlong) + 1",
    *(
        f"np.polyfit(np.arange(4, dtype='{x}'), np.arange(4, dtype='{y}') ** 2, 1{more})"
        for x in ("f4", "f8", "f2", "i8")
        for y in ("f4", "f8", "i8")
        for more in ("", ", full=True", ", w=np.ones(4, 'f4')")
    ),
    "np.bincount(np.array([], int), weights=np.array([], float))",
    "np.bincount(np.array([], int), weights=np.array([], float), minlength=3)",
    "np.linalg.pinv(np.zeros((3, 0), int))",
    "np.linalg.pinv(np.zeros((0, 3), 'f4'))",
    "bytes(np.array([3], 'i2'))",
    "bytes(np.array(3, 'i2'))",
    "bytes(np.arange(3.))",
    "bytes(np.arange(6.).reshape(2, 3).T)",
    "bytes(np.arange(3)[0])",
    "bytes(np.float32(3))",
    *(
        f"np.interp(np.array([2., 4.5, 9., -1., 4.]), np.array({points} + [np.nan]), np.arange({count}.) * 2)"
        for points, count in (("[0., 1.]", 3), ("[0., 1., 2., 3., 4.]", 6))
    ),
)


def _difference(found: Any, wanted: Any, ulps: int = 4) -> str:
    if isinstance(wanted, Exception) or isinstance(found, Exception):
        return "" if type(found) is type(wanted) else f"{found!r} where NumPy has {wanted!r}"
    if isinstance(wanted, tuple):
        return "; ".join(filter(None, (_difference(*pair, ulps) for pair in zip(found, wanted, strict=True))))
    if isinstance(wanted, bytes):
        return "" if found == wanted else f"{found!r} where NumPy has {wanted!r}"
    found, wanted = np.asarray(to_numpy(found)), np.asarray(wanted)
    if found.dtype != wanted.dtype or found.shape != wanted.shape:
        return f"{found.dtype}{found.shape} where NumPy has {wanted.dtype}{wanted.shape}"
    if wanted.dtype.kind in "fc":
        close = ulps * np.finfo(wanted.dtype).eps
        # Rounding errors about zero count by the greatest element.
        scale = np.max(np.abs(wanted), initial=0, where=np.isfinite(wanted))
        is_equal = np.allclose(found, wanted, rtol=close, atol=close * scale, equal_nan=True)
    else:
        # As text: NaN is equal to NaN then, whatever the dtype.
        is_equal = str(found.tolist()) == str(wanted.tolist())
    return "" if is_equal else f"{found!r} where NumPy has {wanted!r}"


@pytest.mark.parametrize("name", SOURCES)
def test_dtypes_are_kept(name: str) -> None:
    source = SOURCES[name]
    wrong = {}
    with np2tf.config.using(eager="tensorflow"):
        for expression in (
            *MAKING,
            *(COMPUTING if source.dtype.kind in "Vif" and not source.dtype.names else ()),
        ):
            found, wanted = (evaluate(expression, module, {"x": source}) for module in (tnp, np))
            difference = _difference(found, wanted)
            if difference:
                wrong[expression] = difference
    assert not wrong


def test_dtypes_that_are_asked_for() -> None:
    wrong = {}
    with np2tf.config.using(eager="tensorflow"):
        for expression in ASKED:
            # Of the exact residual 4 the LAPACK that NumPy 2.1 brings makes 4.000000000000007.
            ulps = 10 if "polyfit" in expression else 4
            difference = _difference(evaluate(expression, tnp, {}), evaluate(expression, np, {}), ulps)
            if difference:
                wrong[expression] = difference
    assert not wrong
