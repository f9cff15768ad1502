"""`raise`, `assert` and leaving loops early: compiled, and with NumPy's exceptions."""

from __future__ import annotations

import pytest

from tests.helpers.differential import compare

HEAD = "import numpy as np\n\n\n"

#: name -> (function, calls)
CASES = {
    "formatted float": (
        """
def f(x):
    s = np.sum(x[1:] * x[:-1])
    if s < 0:
        raise ValueError(f'bad {s:.3f}')
    return x * np.sqrt(s)
""",
        ["np.ones(4)", "np.array([1., -2, 3])"],
    ),
    "percent": (
        """
def f(x):
    for i in range(len(x)):
        if x[i] < 0:
            raise ValueError('bad %d' % i)
        x[i] = np.sqrt(x[i])
    return x
""",
        ["np.arange(12.)", "5 - np.arange(12.)"],
    ),
    "newton": (
        """
def f(x, tol=1e-9, n=20):
    for k in range(n):
        new = x - np.sin(x) / np.cos(x)
        if np.abs(new - x).max() < tol:
            return new.max(), k
        x = new
    raise RuntimeError('no convergence')
""",
        ["np.array([3., 0.1])", "np.array([3., .1]), 1e-9, 2"],
    ),
    "while raise": (
        """
def f(x, limit):
    n = 0
    while True:
        x = x / 2
        if np.sum(x) < 1:
            break
        n += 1
        if n > limit:
            raise RuntimeError('too many')
    return x, n
""",
        ["np.arange(50.), 99", "np.arange(50.), 3"],
    ),
    "cholesky": (
        """
def f(a):
    n = len(a)
    L = np.zeros_like(a)
    for i in range(n):
        for j in range(i + 1):
            s = a[i, j] - L[i, :j] @ L[j, :j]
            if i == j:
                if s <= 0:
                    raise np.linalg.LinAlgError('not')
                L[i, i] = np.sqrt(s)
            else:
                L[i, j] = s / L[j, j]
    return L
""",
        ["np.eye(12) + 1", "np.ones((12, 12))"],
    ),
    "for else raise": (
        """
def f(x, limit):
    limit = np.minimum(limit, 99)
    for i in range(len(x)):
        if x[i] > limit:
            break
    else:
        raise LookupError('none')
    return i
""",
        ["np.arange(50.), 20", "np.arange(50.), 80"],
    ),
    "asserts": (
        """
def f(p):
    assert np.all(p >= 0), 'negative'
    assert 0.99 < np.sum(p) < 1.01
    t = 0.0
    for i in range(len(p)):
        if p[i] > 0:
            assert p[i] <= 1, f'{p[i]}'
            t -= p[i] * np.log(p[i])
    return t
""",
        ["np.full(20, 1 / 20)", "np.full(20, 1.)", "-np.ones(20)", "np.array([1.005] + [0.] * 12)"],
    ),
    "elif raise value": (
        """
def f(x):
    s = np.sum(x[1:])
    if s > 5:
        y = x * 2
    elif s > 0:
        y = x[::-1] * 3
    else:
        m = 'no ' + 'way'
        raise KeyError(m)
    return y * np.exp(x)
""",
        ["np.ones(9)", "np.ones(3)", "-np.ones(3)"],
    ),
    "find": (
        """
def f(x, v):
    v = np.abs(v)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if x[i, j] == v:
                return i, j
    return -1, -1
""",
        ["np.arange(200.).reshape(10, 20), 55", "np.arange(200.).reshape(10, 20), 555"],
    ),
    "break in the middle": (
        """
def f(x, tol):
    n = 0
    for k in range(40):
        x = x / 2
        if np.max(x) < tol and np.min(x) > -1:
            break
        n += 1
        if x[0] > x[1]:
            continue
        x[0] += 1
    return x, n
""",
        ["np.arange(9.), 0.3", "np.arange(9.), -3."],
    ),
    "a loop that only a raise ends": (
        """
def f(x, limit):
    n = 0
    while np.sum(x) > 1:
        n += 1
        if n > limit:
            raise RuntimeError('too many')
        x = x * 1.0
    return x, n
""",
        ["np.zeros(50), 99", "np.arange(50.), 300"],
    ),
    "list in a short loop": (
        """
def f(x):
    out = []
    for i in range(12):
        x = 1 - np.abs(x) * x[::-1]
        if np.sum(x) < 0:
            x = x / 2
        out.append(x)
    return np.stack(out)
""",
        ["np.arange(4.)"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_raising(case: str) -> None:
    """The program runs compiled; where it raises, the exception is NumPy's."""
    source, calls = CASES[case]
    compare(HEAD + source, *calls)
