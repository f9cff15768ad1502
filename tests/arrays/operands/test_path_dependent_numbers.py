"""Numbers of Python on one path and of NumPy on another path: values, types of results, types of arrays."""

from __future__ import annotations

import pytest

from tests.helpers.differential import HEAD, compare

BRANCH = "    if x[0] > 1:\n        r = {python}\n    else:\n        r = {numpy}\n"
GIVEN = "np.array([0.5, 3.0], '{0}')", "np.array([2.5, 3.0], '{0}')"
#: expression of `r`, a Python float or a number like `x[0]` -> dtypes of `x` for which it runs on the host if
#: it is Python's
USES = {
    "r": "",
    "r * 2.0": "",
    "1 / r": "",
    "-r + abs(r)": "",
    "r ** 2 - r % 0.3": "",
    "r // 0.3": "",
    "x * (r > 0.1)": "",
    "x * (0.1 == r)": "",
    "r * r + 1": "",
    "x * r": "",
    "x.astype('float64') * r": "",
    "x[1] * r": "",
    "np.float64(2.0) * r": "",
    "np.arange(3) + r": "",
    "(r * 2.0) * x": "",
    "np.float32(1.5) + x * (r + 1)": "",
    "x.astype('float32') * r": "float64",
    "np.sqrt(r)": "float32",
    "np.maximum(r, 0.25)": "float32",
    "np.full(2, r)": "float32",
    "np.where(x > 1, r, x)": "float32",
    "np.where(x > 1, r, 0.0)": "float32",
    "float(r) * x.astype('float32')": "",
    "int(r * 10)": "",
    "min(r, 0.3)": "",
    "[r, x[1]][0]": "",
}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("use", USES)
def test_a_float_of_python_or_numpy(use: str, dtype: str) -> None:
    source = f"def f(x):\n{BRANCH.format(python=0.1, numpy='x[0]')}    return {use}\n"
    of_numpy, of_python = (given.format(dtype) for given in GIVEN)
    compare(HEAD + source, of_numpy)
    compare(HEAD + source, of_python, ran="fallback" if dtype in USES[use].split() else "compiled")


INTEGERS = """
r
r + 1
r * 3 // 2
a * r
a[r % 2]
r / 2
a * (r == 300)
~r
r & 7
a + r * 2
-r % 7
r**2
2**r
""".strip().splitlines()


@pytest.mark.parametrize("dtype", ["int64", "int8", "int32", "uint8"])
@pytest.mark.parametrize("use", INTEGERS)
def test_an_integer_of_python_or_numpy(use: str, dtype: str) -> None:
    """Where NumPy's wraps and Python's does not, each does as it does."""
    source = f"def f(x, a):\n{BRANCH.format(python=300, numpy='a[0]')}    return {use}\n"
    calls = [f"{given.format('float64')}, np.array([100, 3], '{dtype}')" for given in GIVEN]
    compare(HEAD + source, *calls, ran=None)


def test_two_integers_of_which_one_is_numpys() -> None:
    """NumPy refuses a Python integer that does not fit the type of the NumPy integer."""
    second = "    if x[1] > 1:\n        q = 300\n    else:\n        q = a[1]\n"
    source = f"def f(x, a):\n{BRANCH.format(python=300, numpy='a[0]')}{second}    return r + q\n"
    calls = [f"np.array([{x}, {y}]), np.array([100, 3], 'int8')" for x in (0, 2) for y in (0, 2)]
    compare(HEAD + source, *calls, ran=None)


LOOPS = [
    "for k in range(n):\n        s = s + x[k]",
    "for k in range(n):\n        s = s * 0.5 + x[k]",
    "for k in range(n):\n        if x[k] > 1:\n            s = x[k]",
    "while s < n:\n        s = s + x[0] * x[0]",
    "while s < n:\n        s = (s + 1) * 1.1\n        if x[0] > 1:\n            s = x[0] + s",
]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("loop", LOOPS)
def test_what_a_loop_makes_of_it(loop: str, dtype: str) -> None:
    source = f"def f(x, n):\n    s = 0.0\n    {loop}\n    return s, x * s\n"
    data = f"np.arange(0.5, 20, dtype='{dtype}')"
    compare(HEAD + source, *[f"{data}, {n}" for n in (0, 1, 7, 3, 12, 9, 0, 11)], ran=None)
    compare(HEAD + source.replace("x * s", "x.astype('float32') * s"), f"{data}, 0", f"{data}, 12", ran=None)


def test_errors_of_python_alone() -> None:
    """Python raises where NumPy divides by zero."""
    source = f"def f(x, y):\n{BRANCH.format(python=0.0, numpy='x[0]')}    return y / (1 / r)\n"
    calls = "np.array([2.0]), 1.0", "np.array([0.0]), 1.0", "np.array([0.5]), 1.0"
    compare(HEAD + source, *calls, ran=None)


_BRANCH = BRANCH.format(python=0.1, numpy="x[0]")
PROGRAMS = {
    "handed on": f"def g(r, x):\n    return r * x, r + 1\n\n\ndef f(x):\n{_BRANCH}    return g(r, x)\n",
    "in a dict": """def f(x):
    d = {"e": 0.1}
    for i in range(len(x)):
        if x[i] > 1:
            d["e"] = x[i]
    return d, d["e"] * x
""",
    "in a list": """def f(x):
    e, seen = 0.5, []
    for i in range(len(x)):
        seen.append(e)
        e = x[i]
    return np.array(seen), seen
""",
    "until it is small": """def f(x):
    e, n = 1.0, 0
    while True:
        n += 1
        if e < x[0] / 10 or n > 20:
            break
        e = abs(x * e / 2).max()
    return e, n, e * x
""",
    "perhaps unbound": """def f(x):
    for i in range(len(x)):
        if x[i] > 1:
            r = 0.1
        elif x[i] > 0.6:
            r = x[i]
    return r
""",
    "the largest": """def f(x):
    best = 0.0
    for i in range(int(x[0]) % 3):
        best = max(best, x[i % 2])
    return best, best * x, best / 3
""",
    "bisected": """def f(x):
    low, high = 0.0, 1.0
    for k in range(20):
        middle = 0.5 * (low + high)
        if (x * middle).sum() > 1:
            high = middle
        else:
            low = x[0] / (k + 2)
    return low, high, middle
""",
    "written": f"def f(x):\n{_BRANCH}    x *= r\n    x[0] += r\n    x[1] = r\n    return x, [r, r]\n",
}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str, dtype: str) -> None:
    calls = [f"np.array([{a}, {b}], '{dtype}')" for a in (0.5, 2.5) for b in (0.7, 0.2, 3.0)]
    compare(HEAD + PROGRAMS[name], *calls, ran=None)
