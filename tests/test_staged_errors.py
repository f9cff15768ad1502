"""What NumPy refuses for the values that it is given, compiled functions do not pass over."""

from __future__ import annotations

import pytest
from differential import HEAD, compare

NAN = "np.array([[1.0, np.nan], [0.0, 1.0]])"
GOOD = "np.array([[1.0, 2.0], [0.0, 1.0]])"
#: expression of x -> arguments, good ones and those that NumPy refuses.
ERRORS = {
    "np.linalg.svd(x, compute_uv=False).sum()": (GOOD, NAN, "np.full((2, 2), np.inf)"),
    "np.linalg.pinv(x)": (GOOD, NAN),
    "np.linalg.lstsq(x, x[0], rcond=None)[0]": (GOOD, NAN),
    "np.linalg.cond(x)": (GOOD, NAN),
    "np.linalg.norm(x, 2)": (GOOD, NAN),
    "np.linalg.matrix_rank(x)": (GOOD, NAN),
    "np.histogram(x, 3)[0]": ("np.arange(4.)", "np.array([1.0, np.nan])", "np.array([1.0, np.inf])"),
    "np.average(x, weights=x)": ("np.arange(4.)", "np.zeros(3)", "np.array([1.0, -1.0])"),
    "np.arange(0, 5, x[0]).sum()": ("np.array([2])", "np.array([0])", "np.array([0.5])"),
    "np.repeat(x, x)": ("np.arange(4)", "np.array([1, -1])"),
}


@pytest.mark.parametrize("expression", ERRORS, ids=str)
def test_values_that_numpy_refuses(expression: str) -> None:
    source = f"def f(x):\n    y = {expression}\n    return y * 1\n"
    compare(HEAD + source, *ERRORS[expression], ran=None)
