"""An eager call gives NumPy's warnings, and no other warnings, for input that is empty or degenerate.

Warnings that NumPy gives because its processor saw an infinity come or go (`inf - inf` in a sum) are not
here: TensorFlow's kernels do not tell.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import np2tf
from np2tf import tnp

#: Name -> the array, made by `np`.
INPUTS = {
    "nothing": "np.array([], float)",
    "no rows": "np.zeros((0, 3))",
    "no columns": "np.zeros((2, 0))",
    "one": "np.ones(1)",
    "one row": "np.ones((1, 3))",
    "one column": "np.ones((3, 1))",
    "a number": "np.array(2.0)",
    "nan": "np.array([1.0, np.nan, 3.0])",
    "all nan": "np.full((2, 3), np.nan)",
    "zeros": "np.zeros((2, 3))",
    "complex": "np.arange(3) * 1j",
    "integers": "np.array([3, 0, 2])",
    "no integers": "np.array([], int)",
}
CALLS = (
    *(
        f"np.{name}(x)"
        for name in (
            *("sum", "prod", "mean", "var", "std", "max", "min", "ptp", "average", "median", "all", "any"),
            *("nansum", "nanprod", "nanmean", "nanvar", "nanstd", "nanmax", "nanmin", "nanmedian", "argmax"),
            *("nancumsum", "nanargmax", "nanargmin"),
        )
    ),
    *(
        f"np.{name}(x, axis={axis})"
        for name in (
            *("mean", "var", "std", "median", "average", "nanmean", "nanvar", "nanmedian", "nanmax"),
            *("nanmin", "nanstd", "cumsum"),
        )
        for axis in (0, -1)
    ),
    *(f"np.{name}(x, ddof=1)" for name in ("var", "std", "nanvar", "nanstd")),
    *(f"x.{name}()" for name in ("mean", "var", "std", "sum", "max", "ptp", "conj", "round")),
    "x.mean(axis=0)",
    "np.var(x, ddof=5)",
    "np.mean(x, where=x > 9)",
    "np.var(x, where=x > 9)",
    "np.std(x, where=x == x, ddof=1)",
    "np.percentile(x, 50)",
    "np.percentile(x, 50, axis=0)",
    "np.quantile(x, [0.2, 0.5])",
    "np.nanpercentile(x, 50)",
    "np.nanquantile(x, 0.3, axis=0)",
    "np.cov(x)",
    "np.cov(x, ddof=0)",
    "np.cov(x, bias=True)",
    "np.cov(x, ddof=5)",
    "np.cov(x, rowvar=False)",
    "np.cov(x, x)",
    "np.cov(x, aweights=np.ones(3))",
    "np.cov(x, fweights=np.array([1, 0, 0]))",
    "np.corrcoef(x)",
    "np.corrcoef(x, rowvar=False)",
    "np.histogram(x, bins=2)",
    "np.histogram(x, bins=2, density=True)",
    "np.histogram_bin_edges(x, 'auto')",
    "np.bincount(x)",
    "np.digitize(x, [0.0, 1.0])",
    "np.interp(x, [0.0, 1.0], [0.0, 1.0])",
    "np.gradient(x)",
    "np.diff(x)",
    "np.trapezoid(x)",
    "np.unwrap(x)",
    "np.sort(x)",
    "np.unique(x)",
    "np.nan_to_num(x)",
    "np.clip(x, 0, 1)",
    "np.round(x, 2)",
    "np.linalg.norm(x)",
    "np.linalg.norm(x, axis=0)",
    "np.linalg.norm(x, -1)",
    "np.linalg.norm(x, np.inf)",
    "np.linalg.pinv(x)",
    "np.linalg.svdvals(x)",
    "np.linalg.det(x)",
    "np.linalg.matrix_rank(x)",
    "np.linalg.cond(x)",
    "np.polyfit([0.0, 1.0, 2.0], x, 1)",
    "np.polyfit(x, x, 1)",
    "np.polyfit(x, x, 5)",
    "np.polyval(x, 2.0)",
    "np.polydiv(x, [1.0, 0.0])",
    "np.poly(x)",
    "np.roots(x)",
    "np.fft.fft(x)",
    "np.fft.rfft(x)",
    "np.sinc(x)",
    "np.angle(x)",
    "np.real_if_close(x)",
    "np.isclose(x, x)",
    "np.allclose(x, x)",
    "np.concatenate([x, x], dtype='f4', casting='unsafe')",
    "np.stack([x], dtype=float, casting='unsafe')",
    "np.hstack([x, x], dtype=float, casting='unsafe')",
    "np.vstack([x, x], dtype=int, casting='unsafe')",
    "np.astype(x, float)",
    "x.astype(float)",
    "x.astype('f4')",
    "x.astype(int)",
    "x.astype(bool)",
    "x.astype(complex)",
    "np.asarray(x, float)",
    "np.array(x, dtype='i2')",
    "np.copyto(np.zeros(3), x, casting='unsafe')",
    "np.einsum('i->', x, dtype=float, casting='unsafe')",
    "np.apply_along_axis(np.mean, 0, x)",
    "np.linspace(0, x, 3)",
    "np.logspace(0, x, 3)",
    "np.geomspace(1, x, 3)",
    "np.ediff1d(x)",
    "np.cross(x, x)",
    "np.outer(x, x)",
    "np.dot(x, x)",
    "np.vdot(x, x)",
    "np.convolve(x, x)",
    "np.correlate(x, x)",
    "float(x)",
    "int(x)",
    "complex(x)",
)


def _given(module: Any, made: str, expression: str) -> set[str] | None:
    """The classes of the warnings that a call gives; None if it raises."""
    array = eval(made, {"np": module})
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        try:
            eval(expression, {"np": module, "x": array})
        except Exception:
            return None
    return {warning.category.__name__ for warning in given}


@pytest.mark.parametrize("name", INPUTS)
def test_warnings_are_numpys(name: str) -> None:
    wrong = {}
    with np2tf.config.using(eager="tensorflow"):
        for expression in CALLS:
            found, wanted = (_given(module, INPUTS[name], expression) for module in (tnp, np))
            if found != wanted:
                wrong[expression] = f"{found} and not {wanted}"
    assert not wrong
