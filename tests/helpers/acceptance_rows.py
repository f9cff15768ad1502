"""Cases that AutoGraph silently gets wrong or refuses: one small NumPy program for each."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import dedent
from typing import Any

#: A file is translated only if it uses NumPy.
_HEAD = "import numpy as np\n\nEPSILON = np.float64(1e-9)\n\n\n"


@dataclass(frozen=True)
class Row:
    """One row of the table.

    Attributes:
        source: the text of a module with a function `f`.
        calls: the texts of its arguments.
        refused: the code with which staging is refused, "" if it is not.
        refused_when_run: the code with which only tracing refuses the staging.
        graph_only: whether XLA cannot compile the function as one program, because its shapes depend on data.
        handled: the calls in which a handler takes an exception, on the host.
        numbers: whether numbers of Python and NumPy count as the same kind.
    """

    source: str
    calls: tuple[str, ...]
    refused: str = ""
    refused_when_run: str = ""
    graph_only: bool = False
    handled: tuple[str, ...] = ()
    numbers: bool = False


def row(body: str, *calls: str, **known: Any) -> Row:
    return Row(_HEAD + dedent(body).strip() + "\n", calls, **known)


SILENTLY_WRONG = {
    "raise inside try under an array condition": row(
        """
        def f(x):
            try:
                if x[0] > 0:
                    raise ValueError("positive")
                y = x * 2
            except ValueError:
                y = x - 1
            return y + np.sin(x)
        """,
        "np.ones(3)",
        "-np.ones(3)",
        handled=("np.ones(3)",),
    ),
    "nonlocal counter in a helper called in a loop": row(
        """
        def f(x):
            calls = 0

            def visit(v):
                nonlocal calls
                calls += 1
                return v * calls

            s = 0.0
            for i in range(len(x)):
                s += visit(x[i])
            return s, calls
        """,
        "np.arange(12.)",
        numbers=True,
    ),
    "closure that mutates a dict": row(
        """
        def f(x):
            seen = {"n": 0}

            def visit(v):
                seen["n"] += 1
                return v * seen["n"]

            s = 0.0
            for i in range(len(x)):
                s += visit(x[i])
            return s, seen["n"]
        """,
        "np.arange(100.)",
        refused_when_run="NP2TF550",
    ),
    "length of a list after appends in a loop": row(
        """
        def f(x):
            out = []
            for i in range(len(x)):
                out.append(x[i] * 2)
            return np.array(out) / len(out), len(out)
        """,
        "np.arange(12.)",
        "np.arange(3.)",
    ),
    "append under an untaken branch": row(
        """
        def f(x):
            out = []
            if x[0] > 0:
                out.append(x[0])
            for i in range(len(x)):
                if x[i] > 5:
                    out.append(x[i])
            return out, len(out)
        """,
        "np.arange(12.)",
        "np.arange(12.) - 20",
    ),
    "attribute written under an untaken branch": row(
        """
        class Model:
            def __init__(self):
                self.w = np.ones(3)
                self.steps = 0

        def f(x):
            model = Model()
            if x[0] > 0:
                model.w = model.w - x
                model.steps = 7
            return model.w, model.steps
        """,
        "np.ones(3)",
        "-np.ones(3)",
    ),
    "lambda over a name that the loop assigns": row(
        """
        def f(x):
            k = 1.0
            scale = lambda v: v * k
            s = 0.0
            for i in range(len(x)):
                s += scale(x[i])
                k = k + x[i]
            return s, k
        """,
        "np.arange(12.)",
    ),
    "next in a loop": row(
        """
        def f(x):
            numbers = iter(range(100))
            s = 0.0
            for i in range(len(x)):
                s += x[i] * next(numbers)
            return s, next(numbers)
        """,
        "np.arange(12.)",
        refused_when_run="NP2TF539",
    ),
    "two names for one array, added to in place": row(
        """
        def f(x):
            a = b = np.zeros(3)
            a += 1
            for i in range(len(x)):
                a += x[i]
            return np.sum(b), a
        """,
        "np.arange(12.)",
    ),
}

REFUSED_THERE = {
    "variable defined in one branch only": row(
        """
        def f(x):
            if x[0] > 0:
                y = x * 2
            if x[0] > 0:
                x = y + 1
            return x + 1
        """,
        "np.ones(3)",
        "-np.ones(3)",
    ),
    "variable defined in one branch and unbound when read": row(
        """
        def f(x):
            if x[0] > 0:
                y = x * 2
            return y + 1
        """,
        "np.ones(3)",
        "-np.ones(3)",
    ),
    "int against float between branches": row(
        """
        def f(x):
            if np.sum(x) > 0:
                y = 1
            else:
                y = 2.5
            return y * x
        """,
        "np.ones(3)",
        "-np.ones(3)",
        "np.ones(3, np.float32)",
    ),
    "int against float between iterations": row(
        """
        def f(x):
            t = 0
            for i in range(len(x)):
                t = t + x[i] / 2
            n = 0
            while n < np.sum(x):
                n = n + x[0]
            return t, n * 1.0
        """,
        "np.ones(12)",
        "np.ones(12, np.float32)",
        "-np.ones(12)",
        numbers=True,
    ),
    "return in one branch": row(
        """
        def f(x):
            if x[0] > 0:
                return x * 2
            x = x + 1
            return x - 3
        """,
        "np.ones(3)",
        "-np.ones(3)",
    ),
    "return inside a loop": row(
        """
        def f(x, v):
            for i in range(len(x)):
                for j in range(len(x)):
                    if x[i] + x[j] == v:
                        return i, j
            return -1, -1
        """,
        "np.arange(12.), 9.",
        "np.arange(12.), 99.",
    ),
    "while True with a break": row(
        """
        def f(x):
            n = 0
            while True:
                x = x / 2
                n += 1
                if np.max(x) < 0.1:
                    break
            return x, n
        """,
        "np.arange(5.)",
        "np.zeros(5)",
    ),
    "for with else": row(
        """
        def f(x):
            for i in range(len(x)):
                if x[i] > 5:
                    k = i
                    break
            else:
                k = -1
            return k, x * k
        """,
        "np.arange(12.)",
        "-np.arange(12.)",
    ),
    "while with else": row(
        """
        def f(x):
            n = 0
            while n < len(x):
                if x[n] > 5:
                    break
                n += 1
            else:
                n = -n
            return n, x * n
        """,
        "np.arange(12.)",
        "-np.arange(12.)",
    ),
    "walrus": row(
        """
        def f(x):
            n = 0
            while (top := np.max(x)) > 1:
                x = x / top - 0.125 * n
                n += 1
            if (s := np.sum(x)) > 1:
                x = x - s
            return x, n, top
        """,
        "np.arange(5.)",
        "np.zeros(5)",
    ),
    "match": row(
        """
        def f(x, mode):
            match mode:
                case "double":
                    y = x * 2
                case "negate" | "minus":
                    y = -x
                case _:
                    y = x
            for i in range(len(x)):
                y = y + np.sin(x[i])
            return y
        """,
        "np.arange(12.), 'double'",
        "np.arange(12.), 'minus'",
        "np.arange(12.), 'else'",
    ),
    "enumerate and zip over arrays": row(
        """
        def f(x, y):
            s = 0.0
            for i, (a, b) in enumerate(zip(x, y)):
                s += a * b * i
            return s
        """,
        "np.arange(12.), np.ones(12)",
        "np.arange(12.), np.ones(10)",
    ),
    "comprehension over an array": row(
        """
        def f(x):
            squares = [v * v for v in x]
            return np.array(squares), sum(squares), len(squares)
        """,
        "np.arange(12.)",
        "np.arange(200.)",
        numbers=True,
    ),
    "append in a loop": row(
        """
        def f(x):
            rows = []
            u = x
            for i in range(20):
                u = u * 0.5 + np.sin(u)
                rows.append(u)
            return np.array(rows), np.stack(rows, axis=1)
        """,
        "np.arange(5.)",
    ),
    "append in a loop that runs as long as the data say": row(
        """
        def f(x, tol):
            history = []
            err = np.max(x)
            while err > tol:
                x = x / 2
                err = np.max(x)
                history.append(err)
            return x, np.array(history), len(history)
        """,
        "np.arange(5.), 0.1",
        "np.zeros(5), 0.1",
        graph_only=True,
    ),
    "growing shapes": row(
        """
        def f(x):
            y = x[:1]
            for i in range(1, len(x)):
                y = np.concatenate((y, x[i:i + 1] * 2))
            return y
        """,
        "np.arange(100.)",
        graph_only=True,
    ),
}
