"""Compiled functions raise where NumPy refuses the values of its arguments."""

from __future__ import annotations

from itertools import product

import pytest

from tests.helpers.differential import HEAD, compare

NAN = "np.array([[1.0, np.nan], [0.0, 1.0]])"
GOOD = "np.array([[1.0, 2.0], [0.0, 1.0]])"
#: expression of x -> arguments: good arguments, and arguments that NumPy refuses.
ERRORS = {
    "np.linalg.svd(x, compute_uv=False).sum()": (GOOD, NAN, "np.full((2, 2), np.inf)"),
    "np.linalg.pinv(x)": (GOOD, NAN),
    "np.linalg.lstsq(x, x[0], rcond=None)[0]": (GOOD, NAN),
    "np.linalg.cond(x)": (GOOD, NAN),
    "np.linalg.norm(x, 2)": (GOOD, NAN),
    "np.linalg.matrix_rank(x)": (GOOD, NAN),
    "np.histogram(x, 3)[0]": (
        "np.arange(4.)",
        "np.array([1.0, np.nan])",
        "np.array([1.0, np.inf])",
        "np.array([1.0, 1 + 2**-52])",
    ),
    "np.average(x, weights=x)": ("np.arange(4.)", "np.zeros(3)", "np.array([1.0, -1.0])"),
    "np.arange(0, 5, x[0]).sum()": ("np.array([2])", "np.array([0])", "np.array([0.5])"),
    "np.repeat(x, x)": ("np.arange(4)", "np.array([1, -1])"),
}


@pytest.mark.parametrize("expression", ERRORS, ids=str)
def test_values_that_numpy_refuses(expression: str) -> None:
    source = f"def f(x):\n    y = {expression}\n    return y * 1\n"
    compare(HEAD + source, *ERRORS[expression], ran=None)


def _with(*rows: str) -> str:
    return "\n".join(("def f(a, x, k):", *(f"    {row}" for row in rows), "    return a", ""))


ZEROS = "np.zeros(3, '{}'), np.array([{}]), {}"
INVERSE = "np.linalg.inv(np.eye(2) / (x[0] + 2 * i))[0, 0]"
#: name -> (program that writes into arrays, also in loops and branches; dtypes; numbers to write)
WRITES = {
    "constant": (_with("a[0] = np.nan"), "int64 uint8 float32 bool", "1.0", "1"),
    "constant_of_all": (_with("a[:] = 1e300"), "int64 uint8 float32 bool", "1.0", "1"),
    "constant_by_list": (_with("a[[0, 2]] = np.inf"), "int32 float64", "1.0", "1"),
    "integer": (_with("a[1] = 300"), "uint8 int8 int16 bool", "1.0", "1"),
    "on_a_path": (
        _with("if x[0] > 2:", "    a[0] = 300", "else:", "    a[1] = 3"),
        "uint8 int64",
        "1.0 3.0",
        "1",
    ),
    "element": (_with("a[1] = x[0]"), "int64 int32 uint8", "1.5 -2.5 np.nan np.inf", "1"),
    "element_wraps": (_with("a[:] = x[0]"), "uint8 int8 uint64", "300 -1", "1"),
    "element_times": (_with("a[1] += x[0] / 2"), "int64 int8", "3.0 260.0 np.nan", "1"),
    "python_float": (_with("a[k] = float(x[0])"), "int64 uint8 int8", "1.5 -0.5 -1.5 256.0 np.nan", "1"),
    "python_int": (_with("a[k] = int(x[0]) * 2"), "int64 uint8 int8 int32", "1.0 100.0 150.0 -2.0 2e9", "1"),
    "counter": (
        _with("for i in range(len(x) + k):", "    if x[0] > i:", "        a[i % 3] = i"),
        "uint8 int8",
        "500.0",
        "100 200 300",
    ),
    "round": (_with("a[k] = round(x[0])"), "int64 uint8", "1.5 256.0 np.nan np.inf 1e30", "1"),
    "complex": (_with("a[0] = complex(x[0]) if k else x[0] * 1j"), "int64 float32 complex64", "1.0", "0 1"),
    "loop": (_with("for i in range(3):", "    a[i] = x[0] / (i + 1)"), "int64 uint8", "4.0 np.nan", "1"),
    "all_at_once": (
        _with(
            "a = np.zeros(99, a.dtype)",
            "for i in range(99):",
            "    a[i] = np.linalg.inv(np.eye(2) / (x[0] + 2 * i))[0, 0]",
        ),
        "int64 uint8 int8",
        "1.0 2.0",
        "1",
    ),
    "list": (_with("a[:] = [x[0], k, 2]"), "int64 int8", "1.5 np.nan", "1"),
    "fill": (_with("a.fill(int(x[0]))"), "uint8 int64", "2.0 256.0", "1"),
    "full": (_with("a = np.full(3, int(x[0]), dtype=a.dtype)"), "uint8 int64", "2.0 256.0", "1"),
    "sum": (_with("a = a + int(x[0])"), "uint8 int8 float32", "2.0 256.0", "1"),
}


@pytest.mark.parametrize("name", WRITES)
def test_numbers_that_do_not_fit_an_array(name: str) -> None:
    source, dtypes, values, numbers = WRITES[name]
    calls = [ZEROS.format(*row) for row in product(dtypes.split(), values.split(), numbers.split())]
    compare(HEAD + source, *calls)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16"])
def test_what_arrays_of_floats_are_as_integers(dtype: str) -> None:
    """Not defined, but the same in compiled code as on the host."""
    source = f"def f(x):\n    y = np.zeros(36, '{dtype}')\n    y[:] = x\n    return y, x.astype(y.dtype)\n"
    values = "[np.nan, np.inf, -np.inf, 2.5]", "[300.7, -1.5, 6e4, -4e4]"
    calls = [
        f"np.tile(np.array({row}, '{kind}'), 9)"
        for kind in ("float64", "float32", "float16")
        for row in values
    ]
    compare(HEAD + source, *calls)
