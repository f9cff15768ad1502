"""Programs whose numbers have a type that depends on the path, and random ones."""

from __future__ import annotations

import random

DTYPES = ("float64", "float32", "int64", "int32", "int8", "uint8", "bool")
#: What the variables are before the first statement.
STARTS = ("0", "1", "7", "0.5", "2.0", "True", "x[0]", "np.float32(1.5)", "np.int64(3)", "len(x)")
#: Expressions; {v} is a variable, {e} an element of the array, {i} an integer that is never negative.
EXPRESSIONS = (
    "{v}",
    "{v} + 1",
    "{v} * 2 + 1",
    "{v} + 0.5",
    "{v} // 2",
    "{v} / 2",
    "{v} % 3",
    "{v} - {w}",
    "{v} + {w}",
    "{v} * {e}",
    "{e}",
    "{e} + {v}",
    "-{v}",
    "abs({v})",
    "{v} > {w}",
    "{i}",
    "0.25",
    "3",
    "{v} * 1.0",
    "min({v}, {w})",
    "max({v}, 1.5)",
    "int({v})",
    "float({v})",
    "{v} ** 2 % 11",
    "1 if {t} else 0.5",
    "{v} if {t} else {w}",
    "{v} // 3 if {t} else {v} / 3",
    "{v} and {w}",
    "{v} or 2.5",
    "not {v}",
    "{e} if {t} else {i}",
    "np.sqrt(abs({v}))",
    "np.float32({v})",
    "x.sum()",
)
TESTS = (
    "{e} < 2",
    "{e} > 3",
    "{v} > {w}",
    "{v} == {w}",
    "{v} < 4",
    "{e} != 1 and {v} < 9",
    "{e} > 200 or {v} >= 3",
    "{v}",
)
#: What is made of the variables at the end; a result each.
USES = ("{v}", "({v}, {w})", "x * {v}", "[{v}, {w}]", "np.full(2, {v})", "table[{v}]", "str({v})", "{v} + x")


class Maker:
    """Makes the programs of one seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._depth = 0
        self._loops: list[str] = []

    def program(self) -> str:
        """Return the text of a module with a function ``f(x, n)``."""
        lines = ["import numpy as np", "", "table = list(range(40))", "", "", "def f(x, n):"]
        lines += [f"    {name} = {self._choose(STARTS)}" for name in "ab"]
        for _ in range(self._random.randint(1, 3)):
            lines += self._indent(self._statement())
        return "\n".join([*lines, f"    return {self._fill(self._choose(USES[:2] * 3 + USES))}", ""])

    def _choose(self, choices: tuple[str, ...]) -> str:
        return self._random.choice(choices)

    def _indent(self, lines: list[str]) -> list[str]:
        return [f"    {line}" for line in lines]

    def _fill(self, template: str) -> str:
        v, w = self._random.sample("ab", 2)
        k = self._loops[-1] if self._loops else str(self._random.randint(0, 2))
        words = {"v": v, "w": w, "e": f"x[{k}]", "i": k if self._loops else "n", "t": ""}
        if "{t}" in template:
            words["t"] = self._fill(self._choose(TESTS))
        return template.format(**words)

    def _assignment(self) -> list[str]:
        name = self._choose(("a", "b"))
        value = self._fill(self._choose(EXPRESSIONS))
        if self._random.random() < 0.3:
            return [f"{name} {self._choose(('+=', '-=', '*='))} {value}"]
        return [f"{name} = {value}"]

    def _statement(self) -> list[str]:
        kinds = [self._assignment, self._branch, self._branch]
        if len(self._loops) < 2 and self._depth < 3:
            kinds += [self._for, self._for, self._while]
        self._depth += 1
        lines = self._random.choice(kinds if self._depth < 4 else [self._assignment])()
        self._depth -= 1
        return lines

    def _block(self) -> list[str]:
        return self._indent([line for _ in range(self._random.randint(1, 2)) for line in self._statement()])

    def _branch(self) -> list[str]:
        lines = [f"if {self._fill(self._choose(TESTS))}:", *self._block()]
        if self._random.random() < 0.7:
            lines += ["else:", *self._block()]
        return lines

    def _for(self) -> list[str]:
        name = "kj"[len(self._loops)]
        end = self._choose(("len(x)", "n", "5"))
        self._loops.append(name)
        body = self._block()
        if self._random.random() < 0.3:
            jump = self._choose(("break", "continue", "return a", "return b, a"))
            body += self._indent([f"if {self._fill(self._choose(TESTS[:2]))}:", f"    {jump}"])
            body += self._indent(self._assignment())
        self._loops.pop()
        return [f"for {name} in range({end}):", *body]

    def _while(self) -> list[str]:
        name = "kj"[len(self._loops)]
        self._loops.append(name)
        body = self._block()
        self._loops.pop()
        return [f"{name} = 0", f"while {name} < n and b < 50:", *body, f"    {name} += 1"]


def calls(seed: int) -> list[str]:
    """Return the arguments of some calls of the program of a seed, as texts."""
    choose = random.Random(-1 - seed).choice
    dtype = choose(DTYPES)
    arrays = (
        "np.zeros(24, '{0}')",
        "np.arange(24).astype('{0}') % 5",
        "(np.arange(24) * 7 % 9).astype('{0}')",
        "np.ones(24, '{0}') * 3",
    )
    return [f"{choose(arrays).format(dtype)}, {choose((0, 1, 3, 14, 20))}" for _ in range(3)]


#: Programs of which a number, or an array, has another type on each path: name -> (body of f(x, n), calls).
PROGRAMS = {
    "halved in a ternary": (
        "v = 4\nfor k in range(len(x)):\n    v = v // 2 + 3 if x[k] < 3 else v / 2\nreturn v",
        ["np.zeros(30), 0", "np.arange(30.0), 0", "np.ones(30, int), 0", "np.zeros(0), 0"],
    ),
    "halved in a statement": (
        "v = 4\nfor k in range(len(x)):\n    if x[k] < 3:\n        v = v // 2 + 3\n    else:\n"
        "        v = v / 2\n"
        "return v",
        ["np.zeros(30), 0", "np.arange(30.0), 0"],
    ),
    "added to": (
        "c = 0\nfor k in range(len(x)):\n    c += 1 if x[k] < 3 else 0.5\nreturn c",
        ["np.zeros(30), 0", "np.arange(30.0), 0"],
    ),
    "beyond the integers of floats": (
        "h = 1\nfor k in range(n):\n    h = h * 2 + 1 if x[k] < 250 else h + 0.5\nreturn h",
        ["np.zeros(60), 60", "np.zeros(60), 61 - 1", "np.arange(60) * 9.0, 60"],
    ),
    "beyond 64 bits": (
        "h = 1\nfor k in range(n):\n    h = h * 3 + 1 if x[k % 5] < 250 else h + 0.5\nreturn h",
        ["np.zeros(60), 60", "np.zeros(60), 20"],
    ),
    "a table's index": (
        "v = 4\nfor k in range(len(x)):\n    v = v // 2 + 3 if x[k] < 250 else v / 2\n"
        "return np.arange(10)[v], x[v]",
        ["np.zeros(40), 0", "np.ones(40) * 300, 0"],
    ),
    "a sum of elements": (
        "s = 0\nfor k in range(n):\n    s += x[k]\nreturn s, x * s, np.full(2, s)",
        [
            "np.arange(30.0), 30",
            "np.arange(30.0), 0",
            "np.arange(30, dtype=np.float32), 30",
            "np.arange(30), 30",
        ],
    ),
    "the largest element": (
        "best = 0\nfor k in range(n):\n    if x[k] > best:\n        best = x[k]\n"
        "return best, best / 2, best * x",
        [
            "np.arange(30.0), 30",
            "-np.arange(30.0), 30",
            "np.arange(30, dtype=np.int8), 30",
            "np.zeros(30), 0",
        ],
    ),
    "an element or None of them": (
        "a, b = 1, 2.5\nfor k in range(n):\n    a, b = b, a\n    if x[k] > 2:\n        a = x[k]\nreturn a, b",
        ["np.arange(30.0), 30", "np.zeros(30), 29", "np.zeros(30, np.float32), 30", "np.arange(30), 7"],
    ),
    "a flag": (
        "found = False\nfor k in range(n):\n    if x[k] > 5:\n        found = x[k] > 7\n"
        "return found, found is True",
        ["np.arange(30.0), 30", "np.zeros(30), 30"],
    ),
    "a flag that counts": (
        "found = False\nfor k in range(n):\n    if x[k] > 5:\n        found = found + 1\nreturn found",
        ["np.arange(30.0), 30", "np.zeros(30), 30"],
    ),
    "and, or": (
        "v = 2\nfor k in range(n):\n    v = (x[k] > 3 and v) or 0.5\nreturn v",
        ["np.arange(30.0), 30", "np.zeros(30), 30", "np.ones(30) * 9, 30"],
    ),
    "min and max": (
        "v, w = 2, 3\nfor k in range(n):\n    v = max(v, 1.5)\n    w = min(w, x[k] + 4)\nreturn v, w",
        ["np.arange(30.0), 30", "-np.arange(30.0), 30", "np.zeros(30, np.float32), 30"],
    ),
    "an unsigned number before": (
        "v = np.uint8(200)\nfor k in range(n):\n    v = x[k]\nreturn v, v + 1",
        ["np.arange(30, dtype=np.int8), 30", "np.arange(30, dtype=np.int8), 0"],
    ),
    "a narrow number before": (
        "v = np.float32(0.1)\nfor k in range(n):\n    v = v * 1.5 if x[k] > 3 else v + x[k]\nreturn v",
        ["np.zeros(30), 30", "np.ones(30) * 4, 30", "np.arange(30, dtype=np.float32), 30"],
    ),
    "an array that each round makes anew": (
        "y = np.zeros(len(x))\nfor k in range(n):\n    y = x * 2\nreturn y",
        [f"np.arange(3, dtype='{dtype}'), {n}" for dtype in ("f4", "i8", "i1") for n in (0, 20, 100)],
    ),
    "small integers that each round makes anew": (
        "y = np.zeros(len(x), np.uint8)\nfor k in range(n):\n    y = x + x\nreturn y",
        ["np.arange(3, dtype=np.int8), 20", "np.arange(3, dtype=np.int8), 0"],
    ),
    "nested loops": (
        "c, d = 0, 1\nfor k in range(n):\n    for j in range(len(x)):\n        if x[j] > 20:\n"
        "            c = c + 0.5\n"
        "        elif x[j] > 2:\n            c = c + 1\n    d = d * 2 if c < 50 else d\nreturn c, d",
        ["np.arange(9.0), 20", "np.arange(30.0), 20"],
    ),
    "while, and it ends in the middle": (
        "c, k = 0, 0\nwhile c < 40 and k < n:\n    c = c + 3 if x[k] < 9 else c + 0.5\n    k += 1\n"
        "return c, k",
        ["np.arange(30.0), 30", "np.zeros(30), 30", "np.ones(30) * 9, 30"],
    ),
    "an early return": (
        "c = 0\nfor k in range(n):\n    if x[k] > 5:\n        return x[k]\n    c += 1\nreturn c",
        ["np.arange(30.0), 30", "np.zeros(30), 30"],
    ),
    "a try": (
        "c = 1\nfor k in range(n):\n    try:\n        c = c + 1 if x[k] < 5 else c / 2\n"
        "    except ValueError:\n"
        "        c = -1\nreturn c",
        ["np.arange(30.0), 30", "np.zeros(30), 30"],
    ),
    "int and float of it": (
        "c = 1\nfor k in range(n):\n    c = c + 1 if x[k] < 5 else c / 2\n"
        "return int(c), float(c), round(c), abs(-c), str(c), -c",
        ["np.arange(30.0), 30", "np.zeros(30), 30"],
    ),
    "printed": (
        "c = 1\nfor k in range(n):\n    c = c + 1 if x[k] < 5 else c / 2\nprint(c, [c], f'{c}')\nreturn c",
        ["np.arange(30.0), 30", "np.zeros(30), 30"],
    ),
    "in a list": (
        "c = 1\nfor k in range(n):\n    c = c + 1 if x[k] < 5 else c / 2\nreturn [c, 1, (c, {'c': c})]",
        ["np.arange(30.0), 30", "np.zeros(30), 30"],
    ),
    "division by zero": (
        "c = 0\nfor k in range(n):\n    c = 1 if x[k] < 5 else 0.0\nreturn 3 // c, 3 / c, 3 % c",
        ["np.arange(30.0), 30", "np.zeros(30), 30"],
    ),
    "comparisons of large integers": (
        "c = 9007199254740993\nfor k in range(n):\n    c = c + 2 if x[k] < 5 else 0.5\n"
        "return c == 9007199254740992.0 + 2 * n, c",
        ["np.arange(30.0), 30", "np.zeros(30), 20"],
    ),
}


def source_of(body: str) -> str:
    """Return a module whose function ``f(x, n)`` has this body."""
    lines = "\n".join(f"    {line}" for line in body.split("\n"))
    return f"import numpy as np\n\n\ndef f(x, n):\n{lines}\n"
