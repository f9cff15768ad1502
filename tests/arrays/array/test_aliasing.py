"""Names that stand for the same memory: a write through one name is seen through the other name."""

from __future__ import annotations

import pytest

from tests.helpers import aliasing_programs
from tests.helpers.differential import HEAD, compare

#: name -> (function, calls)
PROGRAMS = {
    **aliasing_programs.PROGRAMS,
    "row held across iterations": (
        "def f(x):\n"
        "    row = x[0]\n"
        "    for i in range(1, len(x)):\n"
        "        row += x[i]\n"
        "        x[i] = row\n"
        "    return x",
        ["np.arange(36.).reshape(12, 3)"],
    ),
    "rebound to an array from outside that the loop reads": (
        "def f(y, z, n):\n"
        "    x = np.zeros(3)\n"
        "    for i in range(n):\n"
        "        z[i] = y[0]\n"
        "        x[0] += 1\n"
        "        x = y\n"
        "    return y, x",
        ["np.arange(3.), np.zeros(20), 12"],
    ),
    "rebound to an array from outside that nobody reads": (
        "def f(y, n):\n"
        "    x = np.zeros(3)\n"
        "    for i in range(n):\n"
        "        x[0] += 1\n"
        "        x = y\n"
        "    return y, x",
        ["np.arange(3.), 12"],
    ),
    "another name of a swapped buffer is read": (
        "def f(y, t, n):\n"
        "    x = y\n"
        "    z = np.ones(3)\n"
        "    for i in range(n):\n"
        "        x[0] += 1\n"
        "        t[i] = y[0]\n"
        "        x, z = z, x\n"
        "    return y, x, z",
        ["np.arange(3.), np.zeros(20), 12"],
    ),
    "a copy or what a branch may have bound to an argument": (
        "def f(x):\n"
        "    if x.any():\n"
        "        y = x[:-1]\n"
        "        y[2:0:-1] += 1\n"
        "    z = y.copy()\n"
        "    if x.sum() == 0:\n"
        "        return z\n"
        "    return y",
        ["np.arange(12.).reshape(4, 3)", "-np.ones((4, 3))"],
    ),
    "reshape of an array that may have one element only": (
        "def f(x):\n"
        "    y = x[x > 0][None, -1::-2]\n"
        "    z = np.reshape(y, (1, 1))\n"
        "    y.fill(0)\n"
        "    return z",
        ["np.array([3.0, -1])", "np.array([3.0, 2])"],
    ),
    "out that is None": (
        "def f(x, out=None):\n    np.add(x, x, out=out)\n    return out",
        ["np.arange(3.)", "np.arange(3.), np.zeros(3)"],
    ),
    "the last row": (
        "def f(x):\n"
        "    row = x[0]\n"
        "    for i in range(1, len(x)):\n"
        "        x[i] += row\n"
        "        row = x[i]\n"
        "    return row",
        ["np.arange(36.).reshape(12, 3)"],
    ),
    "previous is the same array": (
        "def f(x):\n"
        "    d = 0.0\n"
        "    for i in range(12):\n"
        "        prev = x\n"
        "        x[i] += 1\n"
        "        d += (x - prev).sum()\n"
        "    return d",
        ["np.arange(12.)"],
    ),
    "previous is a copy": (
        "def f(x):\n"
        "    d = 0.0\n"
        "    for i in range(12):\n"
        "        prev = x.copy()\n"
        "        x[i] += 1\n"
        "        d += (x - prev).sum()\n"
        "    return d, prev",
        ["np.arange(12.)"],
    ),
    "previous of a rebound name": (
        "def f(x):\n"
        "    d = 0.0\n"
        "    for i in range(12):\n"
        "        prev = x\n"
        "        x = x * 0.5\n"
        "        d += (x - prev).sum()\n"
        "    return d, prev, x",
        ["np.arange(12.)"],
    ),
    "first written, then rebound": (
        "def f(x):\n    for i in range(12):\n        x[0] += 1\n        x = x * 0.5\n    return x",
        ["np.arange(12.)"],
    ),
    "list of arrays": (
        "def f(params, grads, n):\n"
        "    for k in range(n):\n"
        "        for p, g in zip(params, grads):\n"
        "            p -= 0.1 * g\n"
        "    return params[0].sum()",
        ["[np.ones(3), np.ones((2, 2))], [np.arange(3.), np.ones((2, 2))], 12"],
    ),
    "list of arrays rebound": (
        "def f(params, n):\n"
        "    for k in range(n):\n"
        "        params[0] = params[0] * 2\n"
        "        params[1][k] = params[0].sum()\n"
        "    return params",
        ["[np.ones(3), np.zeros(12)], 12"],
    ),
    "list changed in a branch": (
        "def f(x, n):\n"
        "    params = [x, x * 2]\n"
        "    for k in range(n):\n"
        "        if params[0][0] > 20:\n"
        "            params[1] = params[0] - 3\n"
        "        else:\n            params[0] = params[1] + params[0]\n    return params[0], params[1]",
        ["np.arange(4.), 12", "np.arange(4.) + 30, 12"],
    ),
    "list of the caller changed in a branch": (
        "def f(params):\n"
        "    if params[0].sum() > 20:\n"
        "        params[1] = params[0] - 3\n"
        "    return params[1] * 2",
        ["[np.arange(4.), np.ones(4)]", "[np.arange(4.) + 30, np.ones(4)]"],
    ),
    "list known by two names": (
        "def f(x, n):\n"
        "    a = [x, x + 1]\n"
        "    b = a\n"
        "    for k in range(n):\n"
        "        a[0] = a[0] * 0.5 + k\n"
        "    return b[0]",
        ["np.arange(4.), 12"],
    ),
    "two branches choose of the same two": (
        "def f(v, w):\n"
        "    a = v if v[0] > 0 else w\n"
        "    b = v if v[1] > 0 else w\n"
        "    a[0] = 50\n"
        "    return b.sum()",
        [
            "np.array([1., 1.]), np.zeros(2)",
            "np.array([1., -1.]), np.zeros(2)",
            "np.array([-1., -1.]), np.zeros(2)",
        ],
    ),
    "chosen in nested branches, then written": (
        "def f(u, v, w):\n"
        "    if u[0] > 0:\n"
        "        r = u\n"
        "    elif v[0] > 0:\n"
        "        r = v\n"
        "    else:\n"
        "        r = w\n"
        "    r[1] = 9\n"
        "    return r",
        [
            "np.ones(2), np.ones(2), np.ones(2)",
            "-np.ones(2), np.ones(2), np.ones(2)",
            "-np.ones(2), -np.ones(2), np.ones(2)",
        ],
    ),
    "written after a loop that may not run": (
        "def f(x, tol):\n    while x.max() > tol:\n        x = x / 2\n    x[0] = 40\n    return x",
        ["np.arange(5.), 1.0", "np.arange(5.), 100.0"],
    ),
    "two names of one new array, one written after the loop": (
        "def f(x, n):\n"
        "    a = b = x\n"
        "    for k in range(n):\n"
        "        a = x * k\n"
        "        b = a\n"
        "    a[0] = 33\n"
        "    return b.sum()",
        ["np.arange(5.), 12", "np.arange(5.), 0"],
    ),
    "dict of arrays": (
        "def f(d):\n"
        "    for k in range(12):\n"
        "        d['a'][k] += d['b'][k]\n"
        "        d['b'] += 1\n"
        "    return d['a']",
        ["{'a': np.zeros(12), 'b': np.arange(12.)}"],
    ),
    "transposed view written": (
        "def f(x):\n"
        "    t = x.T\n"
        "    for i in range(x.shape[0]):\n"
        "        for j in range(i, x.shape[1]):\n"
        "            t[i, j] = x[i, j] + 1\n"
        "    return t",
        ["np.arange(9.).reshape(3, 3)", "np.arange(100.).reshape(10, 10)"],
    ),
    "reshaped view written": (
        "def f(x):\n"
        "    flat = x.reshape(-1)\n"
        "    for i in range(len(flat)):\n"
        "        flat[i] += x[0, 0]\n"
        "    return flat",
        ["np.arange(12.).reshape(3, 4)"],
    ),
    "overlapping slices": (
        "def f(x):\n    for i in range(10):\n        x[1:] = x[:-1]\n        x[:-1] += x[1:]\n    return x",
        ["np.arange(12.)"],
    ),
    "reversed slice onto itself": (
        "def f(x):\n"
        "    x[:] = x[::-1]\n"
        "    x[::2] += x[1::2]\n"
        "    for i in range(10):\n"
        "        x[:5] = x[::-1][:5]\n"
        "    return x",
        ["np.arange(12.)"],
    ),
    "column swaps": (
        "def f(a):\n"
        "    for i in range(len(a)):\n"
        "        p = np.argmax(np.abs(a[i:, i])) + i\n"
        "        a[[i, p]] = a[[p, i]]\n"
        "        a[i] = a[i] / (a[i, i] + EPSILON)\n"
        "    return a",
        ["np.arange(16.).reshape(4, 4) % 7 + 1", "(np.arange(100.) ** 2 % 37 + 1).reshape(10, 10)"],
    ),
    "row swap with tuples is NumPy's trap": (
        "def f(a):\n    for i in range(1, len(a)):\n        a[i], a[0] = a[0], a[i]\n    return a",
        ["np.arange(36.).reshape(12, 3)"],
    ),
    "while with a swap": (
        "def f(u):\n"
        "    v = u.copy()\n"
        "    d = 1.0\n"
        "    while d > 0.1:\n"
        "        v[1:-1] = 0.5 * (u[2:] + u[:-2])\n"
        "        d = np.abs(u - v).max()\n"
        "        u, v = v, u\n"
        "    return u",
        ["np.array([0., 3., 1., 4., 8.])"],
    ),
    "copy to u at the end": (
        "def f(u):\n"
        "    for i in range(12):\n"
        "        un = u.copy()\n"
        "        u[1:-1] = un[2:] - un[:-2]\n"
        "    return un",
        ["np.arange(8.)"],
    ),
    "loop that may not run returns its argument": (
        "def f(x, tol):\n    while x.max() > tol:\n        x = x / 2\n    return x",
        ["np.arange(5.), 1.0", "np.arange(5.), 100.0"],
    ),
    "rebound only if": (
        "def f(x):\n    if x[0] < 0:\n        x = -x\n    x[1] = 50\n    return x",
        ["np.ones(3)", "-np.ones(3)"],
    ),
    "a view that a branch chooses": (
        "def f(x):\n"
        "    if x[0, 0] > 0:\n"
        "        r = x[0]\n"
        "    else:\n"
        "        r = x[1]\n"
        "    r[1] = 77\n"
        "    return x.sum()",
        ["np.ones((2, 3))", "-np.ones((2, 3))"],
    ),
    "helper writes its argument": (
        "def g(x, i):\n"
        "    x[i] += x.sum()\n"
        "    return x\n\n\n"
        "def f(x):\n"
        "    y = x\n"
        "    for i in range(len(x)):\n"
        "        y = g(y, i)\n"
        "    return y",
        ["np.ones(12)"],
    ),
    "helper swaps rows": (
        "def swap(x, i, j):\n"
        "    t = x[i].copy()\n"
        "    x[i] = x[j]\n"
        "    x[j] = t\n\n\n"
        "def f(x):\n"
        "    n = len(x)\n"
        "    for i in range(n // 2):\n"
        "        swap(x, i, n - 1 - i)\n"
        "    return x",
        ["np.arange(24.).reshape(12, 2)", "np.arange(60.).reshape(30, 2)"],
    ),
    "array held in a tuple": (
        "def f(x):\n"
        "    pair = (x, x[1:])\n"
        "    for i in range(11):\n"
        "        pair[1][i] = pair[0][i] + 1\n"
        "    return pair[1]",
        ["np.arange(12.)"],
    ),
    "complex parts": (
        "def f(z):\n"
        "    re = z.real\n"
        "    for i in range(len(z)):\n"
        "        re[i] = z[i].imag\n"
        "        z.imag[i] = 2\n"
        "    return re",
        ["np.arange(12.) + 1j * np.arange(12.) ** 2"],
    ),
    "diagonal through fill_diagonal": (
        "def f(a):\n"
        "    for i in range(12):\n"
        "        np.fill_diagonal(a, a.sum())\n"
        "        a /= 3\n"
        "    return a",
        ["np.ones((3, 3))"],
    ),
    "masks": (
        "def f(x):\n"
        "    y = x\n"
        "    for i in range(10):\n"
        "        x[x > 5] -= 3\n"
        "        y[y < 0] = 1\n"
        "    return y",
        ["np.arange(12.) - 4"],
    ),
    "same buffer given to out": (
        "def f(x, y):\n"
        "    for i in range(10):\n"
        "        np.add(x, y, out=x)\n"
        "        np.multiply(x, 0.5, out=y)\n"
        "    return x",
        ["np.ones(3), np.arange(3.)"],
    ),
    "two new names in the loop": (
        "def f(x):\n"
        "    for i in range(10):\n"
        "        a = x * 2\n"
        "        b = a\n"
        "        b[0] = i\n"
        "        x = a\n"
        "    return x, a, b",
        ["np.arange(3.)"],
    ),
    "accumulator begins as a view": (
        "def f(x):\n"
        "    acc = x[0]\n"
        "    for i in range(1, len(x)):\n"
        "        acc = acc + x[i]\n"
        "    acc[0] = -1\n"
        "    return acc, x",
        ["np.arange(36.).reshape(12, 3)", "np.arange(3.).reshape(1, 3)"],
    ),
    "swapped as often as not, and written behind": (
        "def f(a, b):\n    c = np.zeros(4)\n    for k in range(10):\n        b, c = c, b\n"
        "    b[1:] = a[:-1]\n    return a + b * c",
        ["np.arange(4.), np.array([3., -1., 0.5, 2.])", "*[np.arange(4.)] * 2"],
    ),
    "three that change places": (
        "def f(a, b, c, n):\n    for k in range(n):\n        a, b, c = b, c, a\n"
        "    b[1] = 7\n    return a, c[0]",
        [f"np.arange(4.), np.ones(4), np.zeros(4), {n}" for n in (0, 9, 10, 11)],
    ),
}
#: Of a loop that keeps the best of what it makes: what is before it, at its end, and returned.
BEST = {
    "nothing": ("", "", "best, x"),
    "written": ("", "", "write(best), x"),
    "the argument written": ("", "", "write(x), best"),
    "the best before": ("last = x", "last = best", "best, last, x"),
    "two names of it": ("second = x", "if new[0] > 3: second = new", "best, second"),
    "two names of one that is new": ("second = x", "second = best = y * 2", "best, second"),
    "written in the loop, and the argument read": ("", "best[2] += x[0] + 1", "best, x"),
    "written in the loop": ("", "best[2] += 1", "best, x"),
    "the new one too": ("new = x", "", "best, new, x"),
    "put into another": ("rows = np.zeros((20, 3))", "rows[i] = best", "rows, best"),
    "of two arguments": ("best = x if x[0] > y[0] else y", "", "best, x, y"),
}


@pytest.mark.parametrize("case", BEST)
def test_the_best_of_what_a_loop_makes(case: str) -> None:
    """It is the argument for as long as nothing is better."""
    before, behind, result = BEST[case]
    text = (
        "def write(x):\n    x[1] = 50\n    return x\n\n\n"
        f"def f(x, y, n):\n    best = x\n    {before}\n    for i in range(n):\n        new = y * i\n"
        f"        if new[0] > best[0]:\n            best = new\n        {behind}\n    return {result}\n"
    )
    given = "np.array([3.0, 1, 2]), np.array([1.0, 2, 3])", "np.array([0.0, 1, 2]), np.array([-1.0, 2, 3])"
    compare(HEAD + text, *[f"{arrays}, {n}" for arrays in given for n in (0, 1, 5, 12)], ran=None)


def test_the_best_is_compiled() -> None:
    source = (
        "def f(x, n):\n    best = x\n    for i in range(n):\n        new = x - i\n"
        "        if new.max() < abs(best).max():\n            best = new\n    return best\n"
    )
    compare(HEAD + source, *[f"np.arange(12.), {n}" for n in (0, 12, 15)])


@pytest.mark.parametrize("case", PROGRAMS)
def test_program(case: str) -> None:
    """Equal to NumPy, compiled or not; arguments and what shares memory included."""
    source, calls = PROGRAMS[case]
    compare(HEAD + source + "\n", *calls, ran=None)
