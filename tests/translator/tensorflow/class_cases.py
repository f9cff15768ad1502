"""Programs with classes made for `--target tf`: translated programs, and refused programs with the code."""

from __future__ import annotations

GRID = """
class Grid:
    \"\"\"A grid.\"\"\"

    h = 0.5

    def __init__(self, n, start=None):
        self.n = n
        self.u = np.zeros(n)
        self.v = np.ones(n)
        self.start = start
        self.history = []
        self.steps = 0

    @property
    def total(self):
        return self.u.sum()

    @staticmethod
    def half(x):
        return x / 2

    @classmethod
    def of(cls, n):
        return cls(n + 1)

    def step(self, f):
        un = self.u.copy()
        self.u[1:-1] = 0.5 * (un[2:] + un[:-2]) + f * self.h
        self.u[0] += 1
        self.steps += 1
        self.history.append(self.u.copy())
        return np.abs(self.u - un).max()

    def get(self):
        return self.u

    def swap(self):
        self.u, self.v = self.v, self.u

    def fill(self, x):
        x[0] = self.n
        return x.sum()

    def __call__(self, x):
        return x * self.h
"""
FINE = """
class Fine(Grid):
    def __init__(self, n, k=2):
        super().__init__(n * k)
        self.k = k

    def step(self, f):
        self.u[-1] = 2
        return super().step(f)
"""
POINT = """
from dataclasses import dataclass


class WrongPoint(ValueError):
    \"\"\"A point that is wrong.\"\"\"


@dataclass
class Point:
    x: np.ndarray
    m: float = 1.0

    def __post_init__(self):
        self.size = self.x.shape[0]

    def norm(self):
        if self.m < 0:
            raise WrongPoint("negative")
        return np.sqrt((self.x**2).sum()) * self.m
"""
KEEPER = """
class Keeper:
    def __init__(self, x):
        self.x = x
        self.a = self.b = np.zeros(2)
"""
RUN = """
def run(g):
    g.step(3)
"""


def program(body: str, *parts: str) -> str:
    """A module with these classes, and with a function `main` of this body."""
    lines = "\n".join(f"    {line}" for line in body.strip("\n").split("\n"))
    return "import numpy as np\n" + "\n".join(parts) + f"\n\ndef main():\n{lines}\n"


TRANSLATED = {
    "classes: methods, properties, attributes": program(
        "g = Grid(6)\nfor k in range(4):\n    c = g.step(k)\ng.u *= 2\na = np.ones(3)\ns = g.fill(a)\n"
        "print(g.total, f'{g.total:.3f}', g.history[1])\n"
        "return g.u + 0, g.total, c, len(g.history), g.history[0] + 0, a, s, g.steps, g(3.0), Grid.half(a)",
        GRID,
    ),
    "classes: bases": program(
        "f, g = Fine(3), Grid.of(3)\nf.step(1.0)\nf.step(2.0)\nfor one in [f, g]:\n    one.step(1)\n"
        "return f.u + 0, f.k, f.n, g.u + 0, isinstance(f, Grid), f.start is None",
        GRID,
        FINE,
    ),
    "classes: several targets": program(
        "t = Targets()\nt.set(0.5)\nreturn t.F, t.x, t.n",
        "class Targets:\n    def __init__(self):\n        self.F, self.x, self.n = np.eye(3), "
        "np.zeros(2), 0\n\n"
        "    def set(self, dt):\n        self.F[0, 2] = self.F[1, 2] = dt\n        self.x[0], "
        "self.n = 5.0, 1\n",
    ),
    "classes: dataclasses": program(
        "p, q = Point(np.arange(3.0)), Point(np.ones(2), m=2.0)\ntry:\n    Point(np.ones(1), -1.0).norm()\n"
        "except WrongPoint as error:\n    print(error)\nreturn p.norm(), q.norm(), p.size, q.m",
        POINT,
    ),
    "classes: exchanged arrays": program(
        "g = Grid(3)\ng.swap()\ng.step(1)\ng.swap()\nreturn g.u + 0, g.v + 0", GRID
    ),
    "classes: arrays of names": program(
        "g = Grid(3)\nt = np.ones(3)\ng.u = t\ng.step(1)\na = g.u\ns = a.sum()\ng.step(2)\nreturn s, g.u + 0",
        GRID,
    ),
    "classes: loops": program(
        "g = Grid(3)\nfor i in range(70):\n    g.u[i % 3] = i\nv = np.zeros(3)\nfor i in range(80):\n"
        "    v = v * 0.5 + g.u\nwhile g.u.sum() < 300:\n    g.step(50)\nreturn g.u + 0, v",
        GRID,
    ),
    "classes: methods of arrays": program(
        "g = Grid(3)\ng.u[:] = [3, 1, 2]\ng.u.sort()\ng.v.fill(4)\ng.u += 1\ng.steps //= 2\ng.u //= 2\n"
        "return g.u + 0, g.v * 1, g.steps",
        GRID,
    ),
}
_OTHERS = "NP2TF604"
REFUSED = {
    "a name of an array that a method writes to": (
        program("g = Grid(3)\na = g.u\ng.step(1)\nreturn a", GRID),
        _OTHERS,
    ),
    "the result of a method": (program("g = Grid(3)\na = g.get()\ng.step(1)\nreturn a + 0", GRID), _OTHERS),
    "a view, and a function that calls the method": (
        program("g = Grid(3)\na = g.u[1:]\nrun(g)\nreturn a + 0", GRID, RUN),
        _OTHERS,
    ),
    "an expression that also calls": (program("g = Grid(3)\nreturn g.u + g.step(1)", GRID), _OTHERS),
    "a list that holds the array": (
        program("g = Grid(3)\nx = [g.u]\ng.step(1)\nreturn x[0] + 0", GRID),
        _OTHERS,
    ),
    "a name of the array that another attribute gets": (
        program("g = Grid(3)\na = g.v\ng.swap()\ng.step(1)\nreturn a + 0", GRID),
        _OTHERS,
    ),
    "an argument that an attribute keeps": (
        program("x = np.ones(3)\nk = Keeper(x)\nk.x[0] = 5\nreturn x", KEEPER),
        _OTHERS,
    ),
    "one array for two attributes": (program("k = Keeper(1)\nk.a[0] = 5\nreturn k.b + 0", KEEPER), _OTHERS),
    "one array for two objects": (
        program("g, h = Grid(3), Grid(3)\nt = np.ones(3)\ng.u = t\nh.u = t\ng.step(1)\nreturn h.u + 0", GRID),
        _OTHERS,
    ),
    "a write to a name whose array an attribute keeps": (
        program("g = Grid(3)\nt = np.ones(3)\ng.u = t\nt[0] = 7\nreturn g.u + 0", GRID),
        _OTHERS,
    ),
    "a loop over an array that a method writes to": (
        program("g = Grid(3)\nfor p in g.u:\n    g.step(p + 1)\nreturn g.u + 0", GRID),
        _OTHERS,
    ),
    "a function that reads a name of the array": (
        program("g = Grid(3)\na = g.u\n\ndef f():\n    return a.sum()\n\ng.step(2)\nreturn f()", GRID),
        _OTHERS,
    ),
    "an argument and its object": (
        program(
            "g = Grid(3)\nreturn peek(g.u, g)", GRID, "def peek(p, g):\n    g.step(1)\n    return p[0]\n"
        ),
        _OTHERS,
    ),
    "a global name of the array": (
        program("G.step(1)\nreturn A.sum()", GRID, "G = Grid(3)\nA = G.u\n"),
        _OTHERS,
    ),
    "the text of a dataclass object": (program("print(Point(np.ones(2)))", POINT), "NP2TF606"),
    "the text of dataclasses in a list": (program("return f'{[Point(np.ones(2))]}'", POINT), "NP2TF606"),
    "a library that may return an object": (
        program(
            "import random\nrandom.seed(1)\ng = random.choice([Grid(3), Grid(4)])\nreturn g.u // 2", GRID
        ),
        "NP2TF607",
    ),
    "an array that a comprehension gives to an attribute": (
        program("g, a = Grid(3), np.zeros(3)\n[g.history.append(a) for _ in range(1)]\na[0] = 1", GRID),
        _OTHERS,
    ),
    "a comparison of objects": (program("g = Grid(3)\nreturn g == g", GRID), "NP2TF603"),
    "a method as a value": (program("g = Grid(3)\nreturn list(map(g.step, [1, 2]))", GRID), "NP2TF603"),
    "a special method": (
        program("return V() + 1", "class V:\n    def __add__(self, other):\n        return np.ones(2)\n"),
        "NP2TF603",
    ),
    "a metaclass": (program("return 1", "class V(metaclass=type):\n    x = np.ones(2)\n"), "NP2TF603"),
    "an array of a class": (
        program("v = V()\nv.x[0] = 2\nreturn V.x + 0", "class V:\n    x = np.ones(2)\n"),
        _OTHERS,
    ),
    "an object for a library": (
        program("import copy\nh = copy.copy(Grid(3))\nh.step(1)\nreturn h.u", GRID),
        "NP2TF607",
    ),
}
