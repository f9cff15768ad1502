"""Inner functions, lambdas and nonlocal names among loops and branches: one small program for each."""

from __future__ import annotations

from tests.helpers.acceptance_rows import Row, row

X, Y, Z = "np.arange(12.)", "np.arange(12.) - 9", "np.arange(12.)[::-1].copy()"


def _row(body: str, refused: str = "") -> Row:
    return row(body, X, Y, Z, numbers=True, refused=refused)


CLOSURES: dict[str, Row] = {
    "a lambda over a name rebound behind a return": _row(
        """
        def f(x):
            k = 1.0
            g = lambda v: np.sin(v[1:]) * k * v[:-1]
            if x[0] > 0:
                return g(x)
            k = k + x[1]
            return g(x)
        """,
    ),
    "a lambda over a name rebound behind a loop that returns": _row(
        """
        def f(x):
            k = 1.0
            def g(v):
                return np.sin(v[1:]) * k * v[:-1]
            for i in range(len(x)):
                if x[i] > 3:
                    return g(x)
            k = k + x[3]
            return g(x)
        """,
    ),
    "nonlocal names rebound in branches and a while loop": _row(
        """
        def f(x):
            n = 0
            top = 0.0
            def see(v):
                nonlocal n, top
                n += 1
                top = np.maximum(top, v)
            for i in range(len(x)):
                if x[i] > 2:
                    see(x[i])
                elif x[i] < -1:
                    see(-x[i])
                    n = n + 10
            while top > 3:
                see(top)
                top = top - 1
            return n, top
        """,
    ),
    "nonlocal names and jumps": _row(
        """
        def f(x):
            n = 0
            def tick():
                nonlocal n
                n = n + 1
            for i in range(len(x)):
                tick()
                if x[i] > 5:
                    break
                tick()
                if x[i] > 3:
                    continue
                tick()
            return n, x * n
        """,
    ),
    "a lambda called behind the loop that rebinds its name": _row(
        """
        def f(x):
            k = 1.0
            g = lambda v: v * k
            for i in range(len(x)):
                k = k + np.sin(x[i])
            return g(x)
        """,
    ),
    "an inner function over a loop's target": _row(
        """
        def f(x):
            i = 0
            def here():
                return x[i] * 2
            s = 0.0
            for i in range(len(x)):
                s = s + here() * i
                if s > 20:
                    return s, i
            return s, i
        """,
    ),
    "a lambda over a loop's two targets": _row(
        """
        def f(x):
            a = b = 0.0
            g = lambda: a * 2 + b
            s = 0.0
            for a, b in zip(x, x[::-1]):
                s = s + g() * np.sin(a)
            return s, g()
        """,
    ),
    "a loop in an inner function over a nonlocal name": _row(
        """
        def f(x):
            s = 0.0
            def run(v):
                nonlocal s
                for i in range(len(v)):
                    if v[i] > 1:
                        s = s + v[i]
                return s
            run(x)
            run(x * 2)
            for j in range(10):
                run(x - j)
            return s
        """,
    ),
    "an inner function that calls one with nonlocal names": _row(
        """
        def f(x):
            s = 0.0
            def g(v):
                nonlocal s
                s = s + v
                return s
            def h(v):
                return g(v) + g(v * 2)
            for i in range(len(x)):
                t = h(x[i])
                if t > 50:
                    s = s / 2
            return s, t
        """,
    ),
    "a lambda of a loop's body and a branch that rebinds its name": _row(
        """
        def f(x):
            s = 0.0
            for i in range(len(x)):
                t = x[i] * 2
                g = lambda v: v * t + i
                if x[i] > 3:
                    t = t + 1
                    s = s + g(x[i])
                else:
                    s = s - g(1.0)
                t = t - 5
                s = s + g(2.0)
            return s
        """,
    ),
    "a lambda over a name that is bound late": _row(
        """
        def f(x):
            g = lambda v: v * k
            if x[0] > 0:
                return x
            k = 2.0
            return g(x)
        """,
    ),
    "a nonlocal name that is only written": _row(
        """
        def f(x):
            last = -1.0
            def note(v):
                nonlocal last
                last = v
            for i in range(len(x)):
                if x[i] > 2:
                    note(x[i])
            return last * x
        """,
    ),
    "a recursive inner function with a nonlocal name": _row(
        """
        def f(x):
            total = 0.0
            def go(v, d):
                nonlocal total
                total = total + np.sum(v)
                if d == 0:
                    return v
                return go(np.sin(v), d - 1)
            for i in range(12):
                x = go(x + i, 2)
            return x, total
        """,
    ),
    "a lambda with a default that a loop rebinds": _row(
        """
        def f(x):
            s = 0.0
            for i in range(len(x)):
                g = lambda v, k=s: v + k * 2
                s = s + x[i]
                s = g(s) * 0.25
            return s
        """,
    ),
    "a nonlocal array, rebound and written to": _row(
        """
        def f(x):
            out = np.zeros(len(x))
            def put(i, v):
                nonlocal out
                out = out + v
                out[i] = v
            for i in range(len(x)):
                if x[i] > 1:
                    put(i, x[i] * 2)
            return out
        """,
    ),
    "a lambda and a branch in a loop that stays": _row(
        """
        def f(x):
            k = 0
            def g(v):
                return v * k
            s = 0.0
            for name in ("a", "b", "c"):
                k = k + 1
                if x[k] > 0:
                    s = s + g(x[k])
                    k = k + 1
                s = s + g(1.0)
            return s, k
        """,
    ),
    "a nonlocal name on one side of a branch": _row(
        """
        def f(x):
            n = 0
            def tick(v):
                nonlocal n
                n = n + 1
                return v * n
            if x[3] > 2:
                y = tick(x)
                y = tick(y)
            else:
                y = x * 0.5
                n = 7
            return y, n
        """,
    ),
    "an inner function with a name of the same spelling": _row(
        """
        def f(x):
            s = 1.0
            g = lambda: s
            def h(v):
                s = v
                for i in range(len(x)):
                    s = s + x[i] * g()
                return s
            return h(2.0), g()
        """,
    ),
    "a nonlocal name of a function further out": _row(
        """
        def f(x):
            n = 0
            def tick():
                nonlocal n
                n += 1
            def run(v):
                for i in range(len(v)):
                    tick()
                    v = v * 1.5
                return v
            x = run(x)
            return x, n
        """,
        "NP2TF301",
    ),
    "a return behind a write to a nonlocal name": _row(
        """
        def f(x):
            s = 0.0
            def run(v):
                nonlocal s
                if v[0] > 1:
                    s = s + 1
                    return v * 2
                return v
            x = run(x)
            return run(x), s
        """,
        "NP2TF301",
    ),
    "a loop's test that rebinds a nonlocal name": _row(
        """
        def f(x):
            n = 0
            def more():
                nonlocal n
                n += 1
                return n * x[1]
            while more() < 10:
                x = x + 0.5
            return x, n
        """,
        "NP2TF301",
    ),
    "a ternary that rebinds a nonlocal name": _row(
        """
        def f(x):
            n = 0
            def more():
                nonlocal n
                n += 1
                return n * x[1]
            y = more() if x[0] > 1 else 0.0
            z = x[1] > 3 and more() > 2
            return y, z, n
        """,
        "NP2TF301",
    ),
    "a comprehension that rebinds a nonlocal name": _row(
        """
        def f(x):
            n = 0
            def more(v):
                nonlocal n
                n += 1
                return n * v
            y = [more(v) for v in x]
            return np.array(y), n
        """,
        "NP2TF301",
    ),
    "an inner function with two names": _row(
        """
        def f(x):
            k = 1.0
            g = lambda v: v * k
            h = g
            for i in range(len(x)):
                k = k + h(x[i])
            return k
        """,
        "NP2TF301",
    ),
    "lambdas kept in a list": _row(
        """
        def f(x):
            fs = []
            for i in range(len(x)):
                fs.append(lambda v: v * i)
            return np.array([f(x[1]) for f in fs])
        """,
        "NP2TF301",
    ),
    "a lambda that leaves its round": _row(
        """
        def f(x):
            g = lambda v: v
            for i in range(len(x)):
                s = g(x[i])
                g = lambda v: v * i
            return g(x) + s
        """,
        "NP2TF301",
    ),
}
