"""One small NumPy program for every Python construct that array code uses, and one call of every operator.

A row is staged with NumPy's meaning, or names the code with which its staging is refused.
"""

from __future__ import annotations

from typing import Any

from tests.helpers.acceptance_rows import Row, row

X, Y = "np.arange(12.)", "np.arange(12.) - 6"

CONSTRUCTS: dict[str, Row] = {
    "if, elif, else": row(
        """
        def f(x):
            if x[0] > 5:
                y = x * 2
            elif np.sum(x) > 10:
                y = x - 1
            else:
                y = -x
            return y
        """,
        X,
        Y,
        "np.arange(12.) + 6",
    ),
    "is True and is False of what is Python's bool, and of what is not": row(
        """
        def f(x):
            same = np.array_equal(x, x[::-1])
            y = x * 2 if same is False else x - 1
            if np.allclose(x, x + 1e-12) is True:
                y = y + 10
            if (x[0] > 5) is not True:
                y = y + 100
            return y, same is True, np.array_equiv(x, x) is not False, np.any(x > 3) is True
        """,
        X,
        Y,
        "np.zeros(12)",
    ),
    "for over a range that goes down": row(
        """
        def f(x):
            s = 0.0
            for i in range(len(x) - 1, 0, -2):
                s = s * 0.5 + x[i]
            return s
        """,
        X,
    ),
    "for over a range whose ends are data": row(
        """
        def f(x):
            s = 0.0
            for i in range(int(x[2]), int(x[9])):
                s = s * 0.5 + x[i]
            return s
        """,
        X,
        "np.arange(12.)[::-1].copy()",
        numbers=True,
    ),
    "for over the rows of an array": row(
        """
        def f(x):
            s = np.zeros(x.shape[1])
            for r in x:
                s = s * 0.5 + r
            return s
        """,
        "np.arange(36.).reshape(12, 3)",
    ),
    "enumerate, zip and reversed": row(
        """
        def f(x, y):
            s = 0.0
            for i, (a, b) in enumerate(zip(x, y)):
                s += a * b * i
            for v in reversed(x):
                s = s * 0.5 + v
            return s
        """,
        f"{X}, {Y}",
    ),
    "for over a dict's items": row(
        """
        def f(x, weights):
            s = np.zeros(3)
            for name, w in weights.items():
                if np.sum(w) > 1:
                    s = s + w * len(name) * x[0]
            return s
        """,
        f"{X}, {{'a': np.ones(3), 'bc': np.zeros(3)}}",
    ),
    "nested loops, left early": row(
        """
        def f(x):
            n = 0
            for i in range(len(x)):
                if x[i] > 9:
                    break
                for j in range(len(x)):
                    if x[j] > x[i] + 3:
                        break
                    if x[j] < 2:
                        continue
                    n += 1
            return n
        """,
        X,
        Y,
    ),
    "break and continue in while": row(
        """
        def f(x):
            i, s = 0, 0.0
            while s < 100:
                i += 1
                if i >= len(x):
                    break
                if x[i] < 3:
                    continue
                s += x[i]
            return i, s
        """,
        X,
        "np.arange(12.) * 50",
    ),
    "return from a loop in a loop": row(
        """
        def f(x):
            for i in range(len(x)):
                for j in range(i):
                    if x[i] * x[j] > 20:
                        return i * 100 + j
            return -1
        """,
        X,
        "np.zeros(12)",
    ),
    "ternary, and, or, not, chained comparison": row(
        """
        def f(x):
            s = 0.0
            for i in range(len(x)):
                if not (2 < x[i] <= 7) or (x[i] == 5 and s > 0):
                    s += x[i] if x[i] > s else -1
            return s
        """,
        X,
        Y,
    ),
    "any, all, min, max, sum, len, abs of arrays": row(
        """
        def f(x):
            if any(x > 10) and not all(x > 3):
                x = x + min(x) + max(x) * 2 - sum(x) / len(x)
            return abs(x) + min(x[0], x[1], 3) + max(x[2], 0)
        """,
        X,
        Y,
    ),
    "int, float and bool of elements": row(
        """
        def f(x):
            n, t = 0, 0.0
            for i in range(len(x)):
                n += int(x[i] * 1.7)
                t = t * 0.5 + float(i) / 3 + bool(x[i])
            return n, t
        """,
        X,
        Y,
        numbers=True,
    ),
    "assert": row(
        """
        def f(x):
            assert np.sum(x) > 0, "all gone"
            for i in range(len(x)):
                assert x[i] < 20
                x[i] = x[i] * 2
            return x
        """,
        X,
        "-np.arange(12.)",
        "np.arange(12.) + 10",
    ),
    "print": row(
        """
        def f(x):
            s = 0.0
            for i in range(len(x)):
                s += x[i]
            print("total", s)
            return s
        """,
        X,
        graph_only=True,
    ),
    "print in loops and branches": row(
        """
        def f(x):
            print("begin", x[:2], x.shape)
            for i in range(len(x)):
                for j in range(i):
                    if x[j] * 2 > x[i] + 6:
                        print(i, j, x[i], sep=", ", end=";\\n")
                        break
                else:
                    print("none at", i)
            i = 0
            while x[i] < 3 and i < 9:
                print(f"{i}: {x[i]:.1f}")
                i += 1
            if x[0] > 0:
                print("up")
            else:
                print("down", x)
                x[0] = 7
            print((x[0], i), [x[:1]], {"n": i})
            return x
        """,
        X,
        Y,
        graph_only=True,
    ),
    "print before an exception": row(
        """
        def f(x):
            for i in range(len(x)):
                print(i, x[i])
                if x[i] > 3:
                    raise ValueError(f"too large: {x[i]}")
            return x
        """,
        X,
        Y,
        graph_only=True,
    ),
    "print of what is an integer on one path": row(
        """
        def f(x):
            n = 0
            for i in range(len(x)):
                if x[i] > 3:
                    n = x[i]
            print(n)
            return n + 0.5
        """,
        X,
        "np.zeros(12)",
        graph_only=True,
    ),
    "text of values": row(
        """
        def f(x):
            for i in range(len(x)):
                x[i] = x[i] * 2
            return f"{np.sum(x):.2f}"
        """,
        X,
    ),
    "text kept and joined": row(
        """
        def f(x):
            total = 0
            for v in x:
                total += v
            width = 9
            text = f"{total:>{width}.2f}" f" of {len(x)} {{}}"
            return text + "!", {"%": "%.1f and %s" % (total, x[:2])}, "{:d} {k}".format(len(x), k=x[1])
        """,
        X,
    ),
    "text that is compared": row(
        """
        def f(x):
            for i in range(len(x)):
                x[i] = x[i] * 2
            if f"{x[0]:.0f}" == "0":
                return x
            return x + 1
        """,
        X,
        refused_when_run="NP2TF531",
    ),
    "text that is looked up": row(
        """
        def f(x):
            for i in range(len(x)):
                x[i] = x[i] * 2
            return {"0.0": 1.5}.get(str(x[0]), -1)
        """,
        X,
        refused_when_run="NP2TF531",
    ),
    "a list in a loop, popped and extended": row(
        """
        def f(x):
            stack = []
            for i in range(len(x)):
                stack.append(x[i])
                if x[i] > 5:
                    stack.pop()
                stack.extend([x[i], -1.0])
            return np.array(stack)
        """,
        X,
        graph_only=True,
    ),
    "lists joined": row(
        """
        def f(x):
            parts = [x * k for k in range(20)]
            rows = [v * 2 for v in x]
            return np.concatenate(parts), np.stack(parts), np.array(rows)
        """,
        X,
    ),
    "lists in a list that becomes an array": row(
        """
        def f(x):
            made = []
            for i in range(len(x)):
                if x[i] > 2:
                    made.append(x * 2.0)
                else:
                    made.append(x - i)
            return np.vstack([x[None], made]), np.concatenate((x, made[0]))
        """,
        X,
        graph_only=True,
    ),
    "a dict written in a loop and a branch": row(
        """
        def f(x):
            d = {"n": 0, "s": np.zeros(2)}
            for i in range(len(x)):
                d["n"] = d["n"] + i
                if x[i] > 5:
                    d["s"] = d["s"] + x[i]
            return d["n"], d["s"]
        """,
        X,
    ),
    "an inner function over a loop's variables": row(
        """
        def f(x):
            s = 0.0
            for i in range(len(x)):
                def add(v):
                    return s + v * i
                s = add(x[i])
            return s
        """,
        X,
    ),
    "an inner function and a lambda": row(
        """
        def f(x):
            def smooth(v, k):
                for j in range(len(v) - 1):
                    v[j] = (v[j] + v[j + 1]) * k
                return v

            half = lambda v: v * 0.5
            return half(smooth(x, 0.25))
        """,
        X,
    ),
    "try and except": row(
        """
        def f(x):
            try:
                y = np.linalg.inv(x)
            except np.linalg.LinAlgError:
                y = np.zeros_like(x)
            return y
        """,
        "np.eye(3)",
        "np.zeros((3, 3))",
        handled=("np.zeros((3, 3))",),
    ),
    "try in a loop, with continue and break": row(
        """
        def f(x):
            out = np.zeros(len(x))
            failures = []
            for i in range(len(x)):
                try:
                    if x[i] < -5:
                        raise ValueError(f"bad {i}")
                    out[i] = x[i] + x[int(x[i]) + 3]
                except ValueError as error:
                    failures.append(str(error))
                    continue
                except IndexError:
                    out[i] = -1
                    break
                else:
                    out[i] += 1
                finally:
                    x[i] = 7
                out[i] *= 2
            return out, x, failures
        """,
        "np.arange(12.) % 4",
        X,
        Y,
        handled=(X, Y),
    ),
    "return from try, under a test": row(
        """
        def f(x):
            try:
                if x[1] > 0:
                    return x * 2
                for i in range(len(x)):
                    if x[i] < -7:
                        return x - i
                y = int(x[3] / (x[4] - x[4]))
            except (OverflowError, ValueError):
                return x * 0
            return x + y
        """,
        X,
        "-np.arange(12.)",
        "-np.arange(12.) / 3",
        handled=("-np.arange(12.) / 3",),
    ),
    "try and finally, another exception": row(
        """
        def f(x):
            try:
                for i in range(len(x)):
                    x[i] = x[int(x[i]) // 2]
                    assert x[i] < 5, "large"
            except AssertionError as error:
                raise RuntimeError("no") from error
            finally:
                x[0] = 9
            return x
        """,
        "np.arange(12.) % 4",
        X,
    ),
    "try around what always raises": row(
        """
        def f(x):
            try:
                y = x.reshape(5, 3)
            except ValueError:
                y = x.reshape(4, 3)
            return y * 2 + np.sum(y)
        """,
        X,
        refused_when_run="NP2TF532",
    ),
    "try around a shape that depends on data": row(
        """
        def f(x):
            try:
                y = x[x > 3][2]
            except IndexError:
                y = x[0] - 1
            return y + np.sin(x)
        """,
        X,
        refused_when_run="NP2TF533",
    ),
    "try around errors that a graph does not show": row(
        """
        def f(x):
            try:
                return np.histogram(x, 4)[0] + x[3]
            except ValueError:
                return x
        """,
        X,
        "np.full(4, np.nan)",
        refused="NP2TF401",
    ),
    "a name that is lost with the exception": row(
        """
        def f(x):
            last = -1
            try:
                for i in range(len(x)):
                    last = i
                    if x[i] > 4:
                        raise KeyError(i)
            except KeyError:
                pass
            return x, last
        """,
        X,
        refused="NP2TF301",
    ),
    "raise under a condition": row(
        """
        def f(x):
            for i in range(len(x)):
                if x[i] > 10:
                    raise ValueError("too large")
                x[i] = np.sqrt(x[i])
            return x
        """,
        "np.arange(10.)",
        X,
    ),
    "with": row(
        """
        def f(x):
            with np.errstate(divide="ignore"):
                for i in range(len(x)):
                    x[i] = 1 / (x[i] - 3)
            return x
        """,
        X,
    ),
    "None against an array": row(
        """
        def f(x):
            best = None
            for i in range(len(x)):
                if best is None or x[i] > best:
                    best = x[i]
            return best
        """,
        X,
    ),
    "None or an array by a test on data": row(
        """
        def f(x):
            y = None
            if np.sum(x) > 0:
                y = x * 2
            return x if y is None else y
        """,
        X,
        refused_when_run="NP2TF516",
    ),
    "assertions of numpy.testing": row(
        """
        def f(x, y=1.0):
            np.testing.assert_array_less(x, 100)
            for i in range(len(x)):
                np.testing.assert_allclose(x[i] * y, x[i], rtol=1e-3, err_msg="not close")
            np.testing.assert_array_equal(x, x)
            np.testing.assert_equal(x.shape, (12,))
            np.testing.assert_equal(0.0 * x[0] * y, 0.0)
            return x + 1
        """,
        X,
        f"{X}, 1.0001",
        f"{X}, 1.1",
        f"{X}, -1.0",
        f"-{X} * 0, 1.0",
        f"{X} * 50",
        "np.full(12, np.nan)",
    ),
    "dtypes that differ between branches": row(
        """
        def f(x):
            if np.sum(x) > 0:
                y = np.arange(3)
            else:
                y = np.linspace(0, 1, 3)
            return y + x[:3]
        """,
        X,
        "-np.arange(12.)",
    ),
    "shapes that differ between branches": row(
        """
        def f(x):
            if np.sum(x) > 0:
                y = x[:3]
            else:
                y = x[3:]
            return y * 2
        """,
        X,
        "-np.arange(12.)",
        graph_only=True,
    ),
    "a loop that never runs": row(
        """
        def f(x, n):
            t = -1.0
            for i in range(n):
                t = x[i]
            return t, x * t
        """,
        f"{X}, 0",
        f"{X}, 10",
        numbers=True,
    ),
    "swaps of elements and of names": row(
        """
        def f(x, y):
            for i in range(len(x) // 2):
                x[i], x[-1 - i] = x[-1 - i], x[i]
                x, y = y, x
            return x, y
        """,
        f"{X}, {Y}",
    ),
}

#: Operator of np2tf -> the arguments of a call with known values, for which both of its meanings agree.
CALLS: dict[str, tuple[Any, ...]] = {
    "cond": (3, lambda a: a + 1, lambda a: a - 1, 4),
    "case": ([(0, lambda a: a + 1), (lambda: 2, lambda a: a + 2)], lambda a: a - 1, 4),
    "while_loop": (lambda a, b: a < 5, lambda a, b: (a + 1, b * 2), (0, 1)),
    "for_loop": (range(4), lambda i, a: a + i, 1, lambda a: a < 4),
    "map_loop": (range(3), lambda i: i * i, [0, 0, 0]),
    "and_": (2, lambda: 3),
    "or_": (0, lambda: 3),
    "not_": ([],),
    "is_": (True, True),
    "range": (1, 4),
    "enumerate": (["a"],),
    "zip": ([1, 2], [3, 4]),
    "reversed": ([1, 2],),
    "int": (2.5,),
    "float": (2,),
    "complex": (2,),
    "bool": ([],),
    "round": (2.5,),
    "len": ([1, 2],),
    "sum": ([1, 2],),
    "any": ([0, 1],),
    "all": ([0, 1],),
    "min": (2, 1),
    "max": (2, 1),
    "isinstance": (2, int),
    "type": (2,),
    "hasattr": (2, "shape"),
    "getattr": (2, "shape", 3),
    "list_of": (lambda v: v * 2, [1, 2], lambda v: v > 1),
    "str": (1.5,),
    "repr": ("a",),
    "text": ("{:.2f}", 1.5),
    "percent": ("%d", 3),
    "numpy_function": (len,),
}
