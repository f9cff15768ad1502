"""Recursive functions: one small program for each form of recursion."""

from __future__ import annotations

import sys

from tests.helpers.acceptance_rows import Row, row

#: How deep recursion on the host is tried. On Python 3.12 an object can call itself some 500 times at most.
DEEP = 400 if sys.version_info[:2] == (3, 12) else 900
X, Y = "np.arange(12.)", "np.arange(12.) - 6"

RECURSIONS: dict[str, Row] = {
    "recursion": row(
        """
        def f(x, n):
            if n == 0:
                return x
            return f(np.sin(x) + x, n - 1)
        """,
        f"{X}, 3",
        f"{X}, 5",
    ),
    "recursion by halving": row(
        """
        def f(x):
            n = len(x)
            if n == 1:
                return x
            even, odd = f(x[::2]), f(x[1::2])
            w = np.exp(-2j * np.pi * np.arange(n // 2) / n)
            return np.concatenate((even + w * odd, even - w * odd))
        """,
        "np.arange(8.) - 3",
    ),
    "mutual recursion": row(
        """
        def f(x, n):
            return x if n == 0 else g(x * 2 + 1, n - 1)

        def g(x, n):
            if n == 0:
                return -x
            return f(x[::-1], n - 1)
        """,
        f"{X}, 4",
        f"{X}, 7",
    ),
    "recursion on both sides of a test on data": row(
        """
        def f(x, n):
            if n == 0:
                return x
            if np.sum(x) > 0:
                return f(x - 2.0, n - 1)
            return f(np.cos(x) + 2, n - 1)
        """,
        f"{X}, 3",
        f"{Y}, 3",
    ),
    "recursion of an inner function": row(
        """
        def f(x, depth):
            def visit(v, left):
                if left == 0 or len(v) < 2:
                    return np.sum(v)
                half = len(v) // 2
                return visit(v[:half], left - 1) - visit(v[half:], left - 1)

            return visit(x, depth)
        """,
        f"{X}, 2",
        f"{X}, 9",
    ),
    "recursion that data end": row(
        """
        def f(x):
            if np.max(x) < 1:
                return x
            return f(x / 2)
        """,
        X,
        refused="NP2TF311",
    ),
    "recursion that data end, within a number of calls": row(
        """
        def f(x, n):
            if n == 0 or np.max(x) < 1:
                return x
            return f(x / 2, n - 1)
        """,
        f"{X}, 40",
        refused_when_run="NP2TF523",
    ),
}
