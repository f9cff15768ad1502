"""Programs that swap buffers, and that choose arrays in branches."""

from __future__ import annotations

#: name -> (function, calls)
PROGRAMS = {
    "two names from one statement": (
        "def f(n):\n    a = b = np.zeros(3)\n    for i in range(n):\n        a += 1\n    return a, b.sum()",
        ["12"],
    ),
    "alias made before the loop": (
        "def f(x):\n"
        "    y = x\n"
        "    for i in range(12):\n"
        "        x[i] = x[i] + 1\n"
        "        y[i] *= 2\n"
        "    return y.sum()",
        ["np.arange(12.)"],
    ),
    "augmented name is in place, sum is not": (
        "def f(x):\n"
        "    y = x\n"
        "    for i in range(12):\n"
        "        x += i\n"
        "    x = x + 1\n"
        "    x[0] = 100\n"
        "    return x, y",
        ["np.arange(3.)"],
    ),
    "swap of two, even": (
        "def f(u, v):\n"
        "    for i in range(10):\n"
        "        v[1:-1] = u[2:] + u[:-2]\n"
        "        u, v = v, u\n"
        "    return u",
        ["np.arange(8.), np.zeros(8)"],
    ),
    "swap of two, odd": (
        "def f(u, v):\n"
        "    for i in range(11):\n"
        "        v[1:-1] = u[2:] + u[:-2]\n"
        "        u, v = v, u\n"
        "    return u",
        ["np.arange(8.), np.zeros(8)"],
    ),
    "swap of a local and an argument": (
        "def f(u):\n"
        "    v = np.zeros_like(u)\n"
        "    for i in range(9):\n"
        "        v[1:-1] = 0.5 * (u[2:] + u[:-2])\n"
        "        u, v = v, u\n"
        "    return u, v",
        ["np.arange(8.)"],
    ),
    "swap then write after the loop": (
        "def f(u, v):\n"
        "    for i in range(9):\n"
        "        v[:] = u + 1\n"
        "        u, v = v, u\n"
        "    u[0] = 100\n"
        "    v[1] = 200\n"
        "    return u.sum() - v.sum()",
        ["np.arange(8.), np.zeros(8)"],
    ),
    "three buffers rotate": (
        "def f(a, b, n):\n"
        "    c = np.zeros_like(a)\n"
        "    for i in range(n):\n"
        "        c[1:-1] = 2 * b[1:-1] - a[1:-1] + 0.1 * (b[2:] - 2 * b[1:-1] + b[:-2])\n"
        "        a, b, c = b, c, a\n    return a, b, c",
        ["np.arange(8.), np.ones(8), 9", "np.arange(8.), np.ones(8), 10", "np.arange(8.), np.ones(8), 11"],
    ),
    "three arguments rotate": (
        "def f(a, b, c, n):\n"
        "    for i in range(n):\n"
        "        c[1:-1] = b[2:] - a[1:-1]\n"
        "        a, b, c = b, c, a\n"
        "    return b",
        ["np.arange(8.), np.ones(8), np.zeros(8), 10", "np.arange(8.), np.ones(8), np.zeros(8), 12"],
    ),
    "swap of two views of one array": (
        "def f(x):\n"
        "    a, b = x[0], x[1]\n"
        "    for i in range(9):\n"
        "        b[1:] = a[:-1] + 1\n"
        "        a, b = b, a\n"
        "    return x.sum()",
        ["np.arange(8.).reshape(2, 4)"],
    ),
    "swap under a branch": (
        "def f(x, y):\n"
        "    for i in range(9):\n"
        "        if x[0] > y[0]:\n"
        "            x, y = y, x\n"
        "        x[0] += 2\n"
        "    return x, y",
        ["np.zeros(2), np.ones(2)"],
    ),
    "rebinding in a branch, then writing": (
        "def f(v, w):\n"
        "    if v[0] > 0:\n"
        "        u = v\n"
        "    else:\n"
        "        u = w\n"
        "    u[0] = 9\n"
        "    return v.sum(), w.sum()",
        ["np.ones(3), np.zeros(3)", "-np.ones(3), np.zeros(3)"],
    ),
    "chosen by a ternary, then written": (
        "def f(v, w):\n    u = v if v[0] > 0 else w\n    u += 5\n    return u",
        ["np.ones(3), np.zeros(3)", "-np.ones(3), np.zeros(3)"],
    ),
    "chosen in a branch, returned": (
        "def f(v, w):\n    u = v if v[0] > 0 else w\n    return u",
        ["np.ones(3), np.zeros(3)", "-np.ones(3), np.zeros(3)"],
    ),
    "one new array under two names, made in a branch": (
        "def f(x, a, b):\n"
        "    s = np.sum(x)\n"
        "    if x[0] > 1:\n"
        "        a = a * 0.5\n"
        "        b = a\n"
        "    a[0] = s\n"
        "    return b * 2",
        [
            "np.array([2., 2., 0.]), np.ones(3), np.zeros(3)",
            "np.array([-2., -2., 0.]), np.ones(3), np.zeros(3)",
            "np.array([2., -2., 0.]), np.ones(3), np.zeros(3)",
        ],
    ),
    "the same, made in an inner branch and returned": (
        "def f(x, a, b):\n"
        "    s = np.sum(x)\n"
        "    if x[0] > 1:\n"
        "        if x[1] > 1:\n"
        "            a = a * s\n"
        "            b = a\n"
        "    return a, b",
        [
            "np.array([2., 2., 0.]), np.ones(3), np.zeros(3)",
            "np.array([-2., -2., 0.]), np.ones(3), np.zeros(3)",
            "np.array([2., -2., 0.]), np.ones(3), np.zeros(3)",
        ],
    ),
    "the same, made on both sides": (
        "def f(x, a, b):\n"
        "    s = np.sum(x)\n"
        "    if x[0] > 1:\n"
        "        a = b = x * 0.5\n"
        "    else:\n"
        "        b = a = x * s\n"
        "    a[0] = 7\n"
        "    return b * 2, a, b",
        [
            "np.array([2., 2., 0.]), np.ones(3), np.zeros(3)",
            "np.array([-2., -2., 0.]), np.ones(3), np.zeros(3)",
            "np.array([2., -2., 0.]), np.ones(3), np.zeros(3)",
        ],
    ),
    "a new array and a view of it, made in a branch": (
        "def f(x, a, b):\n"
        "    s = np.sum(x)\n"
        "    if x[0] > 1:\n"
        "        a = x * s\n"
        "        b = a[1:]\n"
        "    else:\n"
        "        b = a * 2\n"
        "    b[0] = 7\n"
        "    return a",
        [
            "np.array([2., 2., 0.]), np.ones(3), np.zeros(3)",
            "np.array([-2., -2., 0.]), np.ones(3), np.zeros(3)",
            "np.array([2., -2., 0.]), np.ones(3), np.zeros(3)",
        ],
    ),
    "what a loop may have made, chosen in a branch": (
        "def f(x, a, b):\n"
        "    s, c = np.sum(x), a\n"
        "    while x[0] > 1:\n"
        "        c = c * 0.5\n"
        "        x = x - 0.5\n"
        "    if x[1] > 0:\n"
        "        b = c\n"
        "    return b, c, s",
        [
            "np.array([2., 2., 0.]), np.ones(3), np.zeros(3)",
            "np.array([-2., -2., 0.]), np.ones(3), np.zeros(3)",
            "np.array([2., -2., 0.]), np.ones(3), np.zeros(3)",
        ],
    ),
    "what a loop may have made, and another loop": (
        "def f(x, a, b):\n"
        "    s, c = np.sum(x), a\n"
        "    while x[0] > 1:\n"
        "        c = c * 0.5\n"
        "        x = x - 0.5\n"
        "    d = c\n"
        "    while x[1] > 1:\n"
        "        d = d * 0.5\n"
        "        x = x - 0.5\n"
        "    return d, c, s",
        [
            "np.array([2., 2., 0.]), np.ones(3), np.zeros(3)",
            "np.array([-2., -2., 0.]), np.ones(3), np.zeros(3)",
            "np.array([2., -2., 0.]), np.ones(3), np.zeros(3)",
        ],
    ),
    "a swap with an array that data choose": (
        "def f(x, a, b):\n"
        "    u = a if np.sum(x) > 0 else b\n"
        "    v = np.zeros(3)\n"
        "    for i in range(12):\n"
        "        v[:] = u + 1\n"
        "        u, v = v, u\n"
        "    return u",
        [
            "np.array([2., 2., 0.]), np.ones(3), np.zeros(3)",
            "np.array([-2., -2., 0.]), np.ones(3), np.zeros(3)",
            "np.array([2., -2., 0.]), np.ones(3), np.zeros(3)",
        ],
    ),
}
