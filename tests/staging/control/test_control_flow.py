"""Control flow over Python and over staged values: every program means on np2tf what it means on NumPy."""

from __future__ import annotations

import pytest

from tests.helpers import control_programs
from tests.helpers.differential import HEAD, compare

#: name -> (function, calls)
COMPILED = {
    **control_programs.COMPILED,
    "over an array": (
        "def f(x):\n    s = np.zeros(x.shape[1])\n    for row in x:\n        s = s * 0.5 + row\n    return s",
        ["np.arange(36.).reshape(12, 3)"],
    ),
    "matrix power by a staged exponent": (
        "def f(a, x):\n"
        "    r = np.eye(len(a))\n"
        "    n = int(x.sum())\n"
        "    k = 0\n"
        "    while k < x.sum():\n"
        "        r = r @ a\n"
        "        k += 1\n"
        "    return r",
        ["np.array([[1., 1.], [0., 1.]]), np.ones(5)"],
    ),
    "enumerate and zip": (
        "def f(x, y):\n"
        "    s = 0.0\n"
        "    for i, (u, v) in enumerate(zip(x, y)):\n"
        "        s += u * v * i\n"
        "        x[i] = s\n"
        "    return s",
        ["np.arange(12.), np.ones(10)", "np.arange(3.), np.ones(10)"],
    ),
    "reversed": (
        "def f(x):\n"
        "    s = 0.0\n"
        "    for v in reversed(x):\n"
        "        s = s * 2 + v\n"
        "    for i in reversed(range(len(x))):\n"
        "        s += x[i] * i\n"
        "    return s",
        ["np.arange(12.)"],
    ),
    "min and max of elements": (
        "def f(x):\n"
        "    s = 0.0\n"
        "    for i in range(1, len(x)):\n"
        "        s += min(x[i], x[i - 1], 3) * max(x[i], 2.5)\n"
        "    return s",
        ["np.arange(12.)", "np.arange(12.)[::-1].copy()"],
    ),
    "min keeps the first": (
        "def f(x):\n    m = x[0]\n    for i in range(len(x)):\n        m = max(m, x[i])\n    return m",
        ["np.array([np.nan, 1.] + [2.] * 10)", "np.array([1., np.nan] + [2.] * 10)"],
    ),
    "ternary": (
        "def f(x):\n"
        "    s = 0.0\n"
        "    for i in range(len(x)):\n"
        "        s += x[i] if x[i] > s else -1\n"
        "    return s",
        ["np.arange(12.)"],
    ),
    "complex numbers of two parts": (
        "def f(x):\n"
        "    s = 0j\n"
        "    for i in range(len(x)):\n"
        "        c = complex(x[i], -x[i] / 3)\n"
        "        s += c * c + complex(i, x[0]) - complex(x[1])\n"
        "    return s",
        ["np.arange(12.)", "np.array([0.0, -0.0] + 10 * [np.inf])"],
    ),
    "chained comparison and not": (
        "def f(x):\n"
        "    n = 0\n"
        "    for i in range(len(x)):\n"
        "        if not (2 < x[i] <= 7) or x[i] == 5:\n"
        "            n += 1\n"
        "    return n",
        ["np.arange(12.)"],
    ),
    "and gives an operand": (
        "def f(x):\n    for i in range(len(x)):\n        x[i] = x[i] and x[i] + 1\n    return x[0] or x[1]",
        ["np.arange(12.)"],
    ),
    "tuple of state": (
        "def f(n):\n"
        "    a, b = 0, 1\n"
        "    x = np.zeros(n)\n"
        "    for i in range(n):\n"
        "        a, b = b, a + b * 0.5\n"
        "        x[i] = a\n"
        "    return x, a, b",
        ["12"],
    ),
    "unbound loop variable after the loop is used": (
        "def f(x):\n    for i in range(len(x)):\n        t = x[i] * 2\n        x[i] = t\n    return t, i",
        ["np.arange(12.)"],
    ),
    "inner while": (
        "def f(x):\n"
        "    count = np.zeros(len(x), dtype=int)\n"
        "    for i in range(len(x)):\n"
        "        z = x[i]\n"
        "        while z > 1 and count[i] < 50:\n"
        "            z = z / 2\n            count[i] += 1\n    return count",
        ["np.arange(1., 20.)"],
    ),
    "integer floor division and remainder": (
        "def f(x):\n"
        "    s = 0\n"
        "    for i in range(1, len(x)):\n"
        "        s += (i * 7) // 3 + (i * 7) % 4 - (-i) // 2 + x[i] // 2 + (-x[i]) % 3\n"
        "    return s",
        ["np.arange(12)", "np.arange(12.)"],
    ),
    "bits of Python integers": (
        "def f(x, n):\n"
        "    crc, flags, top = 0xFFFF, False, -1\n"
        "    for i in range(len(x)):\n"
        "        for j in range(8):\n"
        "            if (crc & 1) ^ (int(x[i]) >> j & 1):\n"
        "                crc = (crc >> 1) ^ 0x8408\n"
        "            else:\n"
        "                crc = crc >> 1 | j & 4\n"
        "            flags = flags ^ (i > j)\n"
        "            top = ~top ^ (-i << j) >> 70 - j & ~crc\n"
        "    y = np.zeros(4)\n"
        "    for i in range(len(x)):\n"
        "        y[i & 3] += x[i ^ 1] + (1 << i)\n"
        "    return ~crc & 0xFFFF, flags, top, y, crc << n",
        ["np.arange(12), 3", "np.arange(12) * 37 % 256, 40"],
    ),
    "collatz": (
        "def f(x):\n"
        "    steps = np.zeros_like(x)\n"
        "    for i in range(len(x)):\n"
        "        n = x[i]\n"
        "        while n != 1:\n"
        "            if n % 2 == 0:\n"
        "                n = n // 2\n"
        "            else:\n"
        "                n = 3 * n + 1\n"
        "            steps[i] += 1\n"
        "    return steps",
        ["np.arange(1, 20)"],
    ),
    "complex state": (
        "def f(c):\n"
        "    z = 0\n"
        "    n = 0\n"
        "    while abs(z) < 2 and n < 30:\n"
        "        z = z * z + c[0]\n"
        "        n += 1\n"
        "    return z, n",
        ["np.array([0.3 + 0.5j])", "np.array([1 + 1j])"],
    ),
    "boolean flag": (
        "def f(x):\n"
        "    changed = True\n"
        "    while changed:\n"
        "        changed = False\n"
        "        for i in range(len(x) - 1):\n"
        "            if x[i] > x[i + 1]:\n"
        "                x[i], x[i + 1] = x[i + 1], x[i]\n"
        "                changed = True\n"
        "    return x",
        ["np.array([3., 1., 2., 5., 4., 0., 9., 8., 7., 6.])"],
    ),
    "insertion sort": (
        "def f(x):\n"
        "    for i in range(1, len(x)):\n"
        "        v = x[i]\n"
        "        j = i - 1\n"
        "        while j >= 0 and x[j] > v:\n"
        "            x[j + 1] = x[j]\n            j -= 1\n        x[j + 1] = v\n    return x",
        ["np.array([3., 1., 2., 5., 4., 0., 9., 8., 7., 6.])", "np.array([3, 1, 2, 5, 4, 0, 9, 8, 7, 6])"],
    ),
    "sieve": (
        "def f(n):\n"
        "    s = np.ones(n, dtype=bool)\n"
        "    s[:2] = False\n"
        "    for i in range(2, n):\n"
        "        if s[i]:\n"
        "            s[i * i::i] = False\n"
        "    return s, s.sum()",
        ["30"],
    ),
    "bisection": (
        "def f(x):\n"
        "    lo, hi = 0.0, x.sum()\n"
        "    while hi - lo > 1e-6:\n"
        "        mid = (lo + hi) / 2\n"
        "        if mid * mid > 2:\n"
        "            hi = mid\n"
        "        else:\n            lo = mid\n    return lo",
        ["np.ones(3)"],
    ),
    "None until found": (
        "def f(x):\n"
        "    best = None\n"
        "    for i in range(len(x)):\n"
        "        if best is None or x[i] > best:\n"
        "            best = x[i]\n"
        "    return best",
        ["np.arange(5.)"],
    ),
    "raise not taken": (
        "def f(x):\n"
        "    if x.min() < 0:\n"
        "        raise ValueError(f'negative: {x.min()}')\n"
        "    return np.sqrt(x) + np.exp(x) * x",
        ["np.arange(3.)", "np.arange(3.) - 1"],
    ),
    "raise in a loop": (
        "def f(x):\n"
        "    for i in range(len(x)):\n"
        "        if x[i] > 10:\n"
        "            raise RuntimeError('too big')\n"
        "        x[i] += 1\n"
        "    return x",
        ["np.zeros(12)", "np.arange(20.)"],
    ),
    "assert": (
        "def f(x):\n    assert x.min() >= 0, 'negative'\n    return np.sqrt(x) + np.exp(x) * x",
        ["np.arange(3.)", "np.arange(3.) - 1"],
    ),
    "index out of bounds": (
        "def f(x, n):\n"
        "    s = 0.0\n"
        "    for i in range(n):\n"
        "        s += x[i]\n"
        "        x[i] = s\n"
        "    return s",
        ["np.ones(12), 12", "np.ones(12), 13"],
    ),
    "negative index out of bounds": (
        "def f(x, k):\n"
        "    s = 0.0\n"
        "    for i in range(len(x)):\n"
        "        x[i] = 5\n"
        "        s += x[k[i]]\n"
        "    return s",
        [
            "np.ones(12), np.arange(12)",
            "np.ones(12), -np.arange(12)",
            "np.ones(12), -1 - np.arange(12)",
            "np.ones(12), -2 - np.arange(12)",
        ],
    ),
    "index vector out of bounds": (
        "def f(x, k):\n    x[0] = 3\n    y = x[k]\n    y = y * 2 + np.exp(y)\n    return y",
        [
            "np.ones(4), np.array([0, -4, 3])",
            "np.ones(4), np.array([0, -5, 3])",
            "np.ones(4), np.array([0, 4, 3])",
        ],
    ),
    "store out of bounds": (
        "def f(x, k):\n    for i in range(10):\n        x[k[i]] += 1\n    return x",
        ["np.ones(12), np.arange(10) + 2", "np.ones(12), np.arange(10) + 3"],
    ),
}
# Where a call ends in an exception nothing is said about how it ran.

#: A loop that may not run gives its variable one type: an int 0, which Python would keep, is a float64 0.0.
PROMOTED = frozenset({"while changes dtype", "continue"})

FALLBACKS = {
    "a Python integer grows without bound": (
        "def f(x):\n"
        "    n = 1\n"
        "    for i in range(len(x)):\n"
        "        n = n * 7\n"
        "        x[i] = n % 10\n"
        "    return x, n",
        ["np.zeros(90)"],
    ),
    "factorial beyond 64 bits": (
        "def f(n):\n"
        "    x = np.zeros(n)\n"
        "    k = 1\n"
        "    for i in range(1, n):\n"
        "        k *= i\n"
        "        x[i] = 1 / k\n"
        "    return x, k",
        ["70"],
    ),
    "structure changes with the branch": (
        "def f(x):\n    if x[0] > 0:\n        r = (x, x + 1)\n    else:\n        r = x\n    return r",
        ["np.ones(3)"],
    ),
    "a text bound on one side only": (
        "def f(x):\n    if x[0] > 0:\n        s = 'positive'\n    return x * 2, s",
        ["np.ones(3)", "-np.ones(3)"],
    ),
    "None on one side": (
        "def f(x):\n    if x[0] > 0:\n        r = None\n    else:\n        r = x + 1\n    return r",
        ["np.ones(3)"],
    ),
}


@pytest.mark.parametrize("case", COMPILED)
def test_staged(case: str) -> None:
    """The program runs compiled, and gives what NumPy gives."""
    source, calls = COMPILED[case]
    compare(HEAD + source + "\n", *calls, number_types=case not in PROMOTED)


@pytest.mark.parametrize("case", FALLBACKS)
def test_unjitted(case: str) -> None:
    """The program cannot be staged with its meaning kept: it runs unjitted, and gives what NumPy gives."""
    source, calls = FALLBACKS[case]
    compare(HEAD + source + "\n", *calls, ran="fallback")
