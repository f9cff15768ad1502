"""Programs with branches and loops, as people write them."""

from __future__ import annotations

#: name -> (function, calls)
COMPILED = {
    "bound on one side only": (
        "def f(x):\n"
        "    if x[0] > 0:\n"
        "        y = x * 2\n"
        "    if x[0] > 0:\n"
        "        x = y + 1\n"
        "    return x + 1",
        ["np.ones(3)", "-np.ones(3)"],
    ),
    "unbound when it is used": (
        "def f(x):\n    if x[0] > 0:\n        y = x * 2\n    return y + 1",
        ["np.ones(3)", "-np.ones(3)"],
    ),
    "loop variable of a loop that did not run": (
        "def f(x):\n    for i in range(int(x.shape[0]) - 12):\n        t = x[i] + i\n    return t, i",
        ["np.ones(24)", "np.ones(12)"],
    ),
    "both sides raise": (
        "def f(x):\n"
        "    if x[0] > 5:\n"
        "        if x[1] > 5:\n"
        "            raise ValueError('both')\n"
        "        else:\n"
        "            raise KeyError('one')\n"
        "    return x * 2 + np.sin(x)",
        ["np.ones(3)", "np.array([9., 0.])", "np.array([9., 9.])"],
    ),
    "raise after a write": (
        "def f(x):\n"
        "    x[0] = 3\n"
        "    if x[1] < 0:\n"
        "        raise ValueError('negative')\n"
        "    x[1] = 4\n"
        "    return x",
        ["np.ones(3)", "-np.ones(3)"],
    ),
    "division by zero of Python numbers": (
        "def f(x):\n    s = 0.0\n    for i in range(12):\n        s += x[i] / (i + 1)\n    return 1 / s",
        ["np.ones(12)", "np.zeros(12)"],
    ),
    "branch gives int or float": (
        "def f(x):\n    if x.sum() > 0:\n        y = 1\n    else:\n        y = 2.5\n    return y * x",
        ["np.ones(3)", "-np.ones(3)"],
    ),
    "branch gives int32 or float64": (
        "def f(x, k):\n    if x.sum() > 0:\n        y = k\n    else:\n        y = x * 2\n    return y * 1.0",
        ["np.ones(3), np.arange(3, dtype=np.int32)", "-np.ones(3), np.arange(3, dtype=np.int32)"],
    ),
    "nested branches": (
        "def f(x):\n    s = x.sum()\n    if s > 0:\n        if s > 5:\n            r = x * 2\n        else:\n"
        "            r = x * 3\n    elif s < -5:\n        r = x\n    else:\n        r = -x\n    return r + s",
        ["np.full(3, 1.)", "np.full(3, 9.)", "np.full(3, -9.)", "np.full(3, -1.)"],
    ),
    "branch writes an argument": (
        "def f(x, y):\n"
        "    if x[0] > 0:\n"
        "        y[1] = x[0]\n"
        "    else:\n"
        "        x[2] = 7\n"
        "    return x.sum() + y.sum()",
        ["np.ones(3), np.zeros(3)", "-np.ones(3), np.zeros(3)"],
    ),
    "branch writes a view": (
        "def f(x):\n"
        "    row = x[1]\n"
        "    if x[0, 0] > 0:\n"
        "        row[:] = 5\n"
        "        row += x[0]\n"
        "    x *= 2\n"
        "    return row",
        ["np.ones((2, 3))", "-np.ones((2, 3))"],
    ),
    "while with a staged test": (
        "def f(x, tol):\n"
        "    n = 0\n"
        "    while x.max() > tol:\n"
        "        x = x / 2\n"
        "        n += 1\n"
        "    return x, n",
        ["np.arange(5.), 0.1", "np.arange(5.), 100.0"],
    ),
    "while changes dtype": (
        "def f(x):\n    t = 0\n    while t < x.sum():\n        t = t + x[0]\n    return t",
        ["np.array([0.5, 3.0])", "np.array([0.5, -3.0])"],
    ),
    "while over and": (
        "def f(x):\n    i = 0\n    while i < len(x) and x[i] > 0:\n        i += 1\n    return i",
        ["np.array([1., 2., -1., 4.])", "np.array([1., 2., 1., 4.])", "np.array([-1., 2.])"],
    ),
    "for with accumulation": (
        "def f(x):\n    s = 0\n    for i in range(len(x)):\n        s += x[i] * i\n    return s",
        ["np.arange(20.)", "np.arange(20)", "np.zeros(0)", "np.arange(20, dtype=np.float32)"],
    ),
    "for with int accumulator becoming float32": (
        "def f(x):\n    s = 0\n    for i in range(len(x)):\n        s = s + x[i]\n    return s",
        ["np.arange(20, dtype=np.float32)", "np.arange(20, dtype=np.int32)"],
    ),
    "negative step": (
        "def f(x):\n    for i in range(len(x) - 2, -1, -1):\n        x[i] += x[i + 1]\n    return x",
        ["np.ones(15)", "np.ones(1)", "np.ones((12, 2))"],
    ),
    "step of three": (
        "def f(x):\n"
        "    s = 0.0\n"
        "    for i in range(1, len(x), 3):\n"
        "        s = s * 0.5 + x[i]\n"
        "    return s, i",
        ["np.arange(40.)", "np.arange(5.)"],
    ),
    "nested with dynamic bounds": (
        "def f(a):\n    n = a.shape[0]\n    for i in range(n):\n        for j in range(i + 1, n):\n"
        "            a[j, i] -= a[i, j] * 0.5\n            a[i, j] = a[j, i] + j - i\n    return a",
        ["np.arange(100.).reshape(10, 10)", "np.ones((1, 1))"],
    ),
    "dynamic slices": (
        "def f(a):\n"
        "    n = len(a)\n"
        "    b = np.zeros(n)\n"
        "    for i in range(n):\n"
        "        b[i] = a[:i].sum() - a[i:].sum()\n"
        "    return b",
        ["np.arange(12.)"],
    ),
    "break": (
        "def f(x):\n"
        "    found = -1\n"
        "    for i in range(len(x)):\n"
        "        if x[i] > 10:\n"
        "            found = i\n"
        "            break\n"
        "        x[i] = 0\n    return found",
        ["np.arange(20.)", "np.zeros(20)", "np.full(20, 99.)"],
    ),
    "continue": (
        "def f(x):\n"
        "    s = 0.0\n"
        "    for i in range(len(x)):\n"
        "        if x[i] < 3:\n"
        "            continue\n"
        "        s += x[i]\n"
        "        x[i] = s\n"
        "    return s",
        ["np.arange(20.)", "np.zeros(20)"],
    ),
    "return from a loop": (
        "def f(x):\n"
        "    for i in range(len(x)):\n"
        "        if x[i] > 10:\n"
        "            return x[i] * 2\n"
        "        x[i] = 1\n"
        "    return x.sum()",
        ["np.arange(20.)", "np.zeros(20)"],
    ),
    "for and else": (
        "def f(x):\n"
        "    for i in range(len(x)):\n"
        "        if x[i] < 0:\n"
        "            r = x[i]\n"
        "            break\n"
        "    else:\n"
        "        r = x.sum()\n"
        "    return r",
        ["np.arange(12.)", "np.arange(12.) - 5"],
    ),
    "a loop that turns out to grow an array, and writes another": (
        "def f(x, y):\n"
        "    for i in range(12):\n"
        "        x[0] += 1\n"
        "        y = np.concatenate((y, x[i : i + 1]))\n"
        "    return y",
        ["np.arange(12.), np.zeros(3)"],
    ),
    "the same, with np.append": (
        "def f(x, y):\n"
        "    for i in range(12):\n"
        "        x[0] += 1\n"
        "        y = np.append(y, x[i])\n"
        "    return y",
        ["np.arange(12.), np.zeros(3)"],
    ),
}
