"""Random programs over a few arrays, with aliases, views, writes, calls that write, loops and branches."""

from __future__ import annotations

import random

FRESH = (
    "np.zeros(4)", "np.arange(4.0)", "np.arange(4)", "np.ones(4)", "{a} + {b}", "{a} * 2", "{a} - 0.5",
    "np.abs({a})", "{a}.copy()", "np.sqrt(np.abs({a}))", "np.where({a} > 1, {a}, {b})",
    "np.maximum({a}, {b})", "np.cumsum({a})", "np.sort({a})", "np.roll({a}, 1)", "{a} // 2", "{a} % 3",
    "np.array([1.5, 2.0, 0.0, -1.0])",
    "{a}[[0, 3, 1, -1]]", "np.concatenate([{a}[:2], {b}[2:]])", "np.array(list({a}))", "-{a}", "{a} / 2",
    "np.array([{a}[0], {b}[1], 2.5, 1])", "np.linspace(0, 1, 4)", "np.clip({a}, 0, 2)",
)  # fmt: skip
ALIASES = (
    "{a}",
    "{a}[:]",
    "{a}.reshape(4)",
    "np.asarray({a})",
    "{a}[::-1]",
    "{a}.T",
    "{a} if {n} > 1 else {b}",
)
NUMBERS = ("{a}[0]", "np.sum({a})", "{a}.max()", "{a}.mean()", "float({a}[1])", "{n} + 1", "len({a})", "2.5",
           "3", "np.argmax({a})", "{a}[1:].min()", "{a} @ {b}")  # fmt: skip
WRITES = (
    "{a}[0] = {n}", "{a}[1:] = {b}[:-1]", "{a}[-1] += {n}", "{a}[{a} > 1] = 0", "{a}[:2] *= 2", "{a} += {b}",
    "{a} += 1", "{a} -= {n}", "{a}[[0, 0, 2]] = [1, 2, 3]", "{a}[::2] = {n}", "{a}.fill({n})", "{a}.sort()",
    "np.add.at({a}, [0, 0, 1], 1)", "{a}[0], {a}[1] = {a}[1], {a}[0]", "{a}[1] = {b}[2] = {n}",
    "{a}[1:3] -= {a}[0:2]", "fill({a}, {n})", "total = fill({a}, 1)", "{a}, {b} = {b}, {a}", "bump({a}, {b})",
    "{a} //= 2", "{a} *= 0.5", "{c} = scaled({a})", "{c} = first({a}, {b})", "np.copyto({a}, {b})",
    "held.append({a})", "{n} += 1", "{n} += {a}[0]", "{n} = {a}[2]", "{c} = held[-1] if held else {a}",
    "m[0] = m[1]", "m[:, 1] += {n}", "m[1, 2] = {n}", "m += 1", "{c} = m[:, 0]",
    "m = m.T.copy().T", "m[0, :2] = {a}[:2]", "{n} = m[0, -1]", "{c} = m[1]", "m = m * 2", "m[m > 2] -= 1",
    "for p, q in zip({a}, {b}):\n    {n} = p + q", "for k, p in enumerate({a}):\n    {b}[k] = p",
    "later = (p + 1 for p in {a})", "{c} = np.array([p * 2 for p in {a}])", "d = {{'a': {a}}}",
    "{c} = d['a']",
    "{n} = sum(later)", "later = zip({a}, {b})", "{n} = len(list(later))", "{c} = inner()", "keep({a})",
    "{n} = max({n}, {a}[1])", "{c} = np.where(m[0, 0] > 1, {a}, 0)", "{a} **= 2", "held = [{a}, {b}]",
    "for p in held:\n    {n} = p[0]", "for p in held:\n    p[0] = 1", "{c}, {n} = {a} * 2, {n} + 1",
    "{a}[:] = [p + 1 for p in {b}]", "{n} = (lambda t: t + 1)({n})", "{a} = {a} if {n} > 1 else {a}.copy()",
    "[held.append({a}) for _ in range(1)]", "for row in {a}:\n    {n} = row", "{a}[int({n}) % 4] = {n}",
)  # fmt: skip
HELPERS = {
    "fill": "def fill(x, value):\n    x[1] = value\n    return x[0] + value\n",
    "bump": "def bump(x, y):\n    x += 1\n    for k in range(len(y)):\n"
    "        if y[k] > 1:\n            x[k] = y[k]\n",
    "scaled": "def scaled(x):\n    y = x * 2\n    y[0] = 0\n    return y\n",
    "first": "def first(x, y):\n    return x if len(x) > len(y) else y[1:]\n",
}


BOX = """
class Box:
    scale = 2.0

    def __init__(self, x, size=4):
        self.x = x.copy()
        self.y = np.zeros(size)
        self.kept = []
        self.count = 0

    def step(self, k):
        self.x[0] += k
        self.y[1:] = self.x[:-1]
        self.count += 1
        return self.x[1] + k

    def view(self):
        return self.y[1:]

    @property
    def total(self):
        return self.x.sum() * self.scale

    def swap(self):
        self.x, self.y = self.y, self.x

    def store(self, p):
        self.kept.append(p)
        return len(self.kept)

    def put(self, p, k):
        p[k] = self.count
        return p[0]


class Double(Box):
    def __init__(self, x):
        super().__init__(x * 2)
        self.z = x + 1

    def step(self, k):
        self.z -= k
        return super().step(k) + self.z[0]
"""
OBJECTS = (
    "box.step({n})", "{n} = box.step(1)", "{c} = box.x", "{c} = box.y", "{c} = box.view()",
    "{n} = box.total", "box.swap()", "box.x[1] = {n}", "box.y[:2] = {a}[2:]", "box.y += {a}", "box.x *= 2",
    "box.x = {a}", "box.y = {a} * 2", "box.y = {a}.copy()", "{n} = box.store({a})", "box.store({a} + 1)",
    "{c} = box.kept[-1] if box.kept else {a}", "other = box", "other.step({n})", "other = Box({a})",
    "box = Double({b})", "{n} = box.put({a}, 1)", "{n} = box.x[0]", "box.x, box.y = box.y, box.x",
    "box.x.sort()", "box.y.fill({n})", "held.append(box.x)", "held.append(box.x + 1)",
    "both = [box, other]", "for one in [box, other]:\n    one.step(1)", "box.count += 2",
    "{c} = box.x + box.y", "{c} = box.x + box.step(1)", "{c} = np.where(box.x > {n}, {a}, box.y)",
    "other.y = box.y", "box.step(box.x[2])", "{n} = other.total + box.count",
    "{c} = [one.x for one in [box, other]][1]", "{a}[:] = box.x", "use(box, {n})", "{n} = peek(box.x, box)",
    "while box.count < 5:\n    box.step(0.5)", "if box.x[0] > {n}:\n    box.step(2)",
)  # fmt: skip
OF_OBJECTS = {
    "use": "def use(one, k):\n    one.step(k)\n",
    "peek": "def peek(p, one):\n    one.step(1)\n    return p[0]\n",
}


#: Statements with something that stays on NumPy, and the lines before `main` that they need.
BORDERS = (
    "{c} = {a}.view()", "{c} = {a}.ravel(order='F')",
    "{c} = np.unique({a})[:1].repeat(4)", "{a}.partition(1)",
    "{c} = np.lib.stride_tricks.as_strided({a}, (4,), {a}.strides)",
    "np.put({a}, [1], {n})", "kept.append({a})",
    "{c} = kept[-1] if kept else {b}", "{c} = copy.copy({a})", "{c} = copy.copy([{a}, {b}])[0]",
    "{n} = passed({a}, {n})", "{c} = passed({a}, {b})", "{c} = doubled({a})", "{c} = touched({a})",
    "{c} = next(pieces({a})).repeat(4)", "{a} += np.unique({b})[0]", "{c} = {a} + np.unique({b})[0]",
    "{c} = np.array({a}, dtype=object).astype(float)", "GLOBAL[0] += {n}", "{c} = GLOBAL", "replace({a})",
    "{c} = np.asarray({a}, order='C')", "held = [{a}, np.unique({b})]", "np.add({a}, 1, out={b})",
    "{c} = {{0: {a}}}.pop(0)", "{n} = float(list(map(lambda p: p + 1, {a}))[0])",
    "{a}[np.unique([1, 2])] = {n}",
    "{c} = (lambda p: p * 2)({a})", "{c} = applied(doubled, {a})", "{c} = applied(touched, {a})",
    "{c} = max([{a}, {b}], key=len)", "{a}[:] = np.unique({b})[0]", "{n} = statistics.mean([{n}, 2])",
    "{c} = {a} if {n} > 2 else np.unique({b})[:1].repeat(4)", "del held[:]",
    "{n} = len({{float(p) for p in {a}}})",
    "np.add({a}, 1, {b})", "np.nan_to_num({a}, copy=False)", "{c} = np.einsum('i->i', {a})",
    "{c} = np.split({a}, 1)[0]", "{c} = np.trim_zeros({a} + 1)", "{a}.view().fill({n})",
    "{c} = np.percentile({a}, [5, 50, 75, 95])", "{c} = {a}.view()[::-1]", "np.put({c}, [0, 2], {n})",
    "{c} = np.gradient({a})", "{c} = np.add.accumulate({a})", "memoryview({a})[0] = 3.0",
    "{c} = np.frompyfunc(lambda p: p + 1, 1, 1)({a}).astype(float)", "np.clip({a}, 0, 2, {b})",
    "{c} = list({a}.view().reshape(2, 2).T)[0].repeat(2)",
    "{c} = np.interp({b}, np.sort({a}), {a})", "{a}.view().sort()", "{c} = np.reshape({a}, 4, order='F')",
    "{c} = sorted([{a}, {b}], key=len)[0]", "later = map(float, {a})",
    "{c} = np.array(list(later)[:4] or {a})",
    "print([{a}, {n}], ({b},), {{0: {a}}})", "print({{0: {a}}}.values(), {{0: [{a}]}}.items())",
    "{c} = {a}.flatten()", "{n} = {a}.tolist()[1]", "{n} = {a}[2].item()", "print(*{a}, sep=';')",
    "{c} = np.linspace({a}[0], {n}, 4)", "{c} = np.meshgrid({a}, {b})[0][1]", "shown({a}, {n})",
    "shown([{a}], k={b})", "shown({{'k': ({a}, {n})}}.values())", "shown({n}, m.dtype)", "shown(later)",
    "{c} = np.random.default_rng(2).normal({a})", "print(f'{{{a}}} {{{n}!r}} {{[{b}]}}')",
)  # fmt: skip
OF_BORDERS = """
import copy
import functools
import statistics
from collections import deque

GLOBAL = np.ones(4)
kept = deque()


@functools.wraps(len)
def passed(x, y):
    return y


@functools.wraps(len)
def touched(x):
    x[0] += 1
    return x


def shown(x, k=None):
    print(k, x if hasattr(x, "__len__") or isinstance(x, (int, float)) else type(x).__name__)


def doubled(x):
    y = x * 2
    y[0] = x[1]
    return y


def applied(f, x):
    return f(x)


def pieces(x):
    yield x[:1]
    yield x[1:]


def replace(x):
    global GLOBAL
    GLOBAL = x
"""


class Maker:
    """Writes one program.

    Args:
        seed: the seed of the random choices.
        with_objects: whether the program has objects of a class.
        with_borders: whether a part of the program stays on NumPy.
    """

    def __init__(self, seed: int, with_objects: bool = False, with_borders: bool = False) -> None:
        self.random = random.Random(seed)
        self.arrays = ["u", "v"]
        self.numbers = ["n"]
        self.with_objects = with_objects
        self.with_borders = with_borders

    def filled(self, template: str) -> str:
        """A template with names in its holes."""
        a, b = self.random.choice(self.arrays), self.random.choice(self.arrays)
        c = self.random.choice([*self.arrays, "w"])
        text = template.format(a=a, b=b, c=c, n=self.random.choice(self.numbers))
        if "{c} =" in template and c not in self.arrays:
            self.arrays.append(c)
        return text

    def statement(self, depth: int) -> list[str]:
        """The lines of one statement."""
        kind = self.random.random()
        if self.with_borders and self.random.random() < 0.35:
            return self.filled(self.random.choice(BORDERS)).split("\n")
        if self.with_objects and self.random.random() < 0.6:
            return self.filled(self.random.choice(OBJECTS)).split("\n")
        if kind < 0.2:
            return [self.filled(f"{{a}} = {self.random.choice(FRESH)}")]
        if kind < 0.3:
            return [self.filled(f"{{a}} = {self.random.choice(ALIASES)}")]
        if kind < 0.4:
            return [self.filled(f"{{n}} = {self.random.choice(NUMBERS)}")]
        if kind < 0.75 or depth > 1:
            return self.filled(self.random.choice(WRITES)).split("\n")
        before = list(self.arrays)
        inner = [line for _ in range(self.random.randint(1, 3)) for line in self.statement(depth + 1)]
        self.arrays = before
        if kind < 0.85:
            return [self.filled("if {a}[0] > {n}:"), *("    " + line for line in inner)]
        if self.random.random() < 0.4:
            inner += self.filled("if {n} > 2:\n    break").split("\n")
        return [f"for i in range({self.random.randint(0, 3)}):", *("    " + line for line in inner)]

    def program(self) -> str:
        """A module with a function `main`."""
        lines = [line for _ in range(self.random.randint(3, 8)) for line in self.statement(0)]
        choices = [*self.arrays, "n", "held", "m", "total"]
        if self.with_objects:
            choices += ["box.x", "box.y", "other.x", "other.y", "box.kept", "box.count", "box.total"]
        shown = self.random.sample(choices, self.random.randint(1, 3))
        start = [
            "u = np.arange(4.0)",
            "v = np.array([2.0, 0.5, 3.0, 1.0])",
            "w = u + 1",
            "m = np.arange(16.0).reshape(4, 4)",
            "d = {'a': v * 1}",
            "later = []",
            "n = 2",
            "held = []",
            "total = 0",
        ]
        if self.with_objects:
            start += ["box = Box(u)", "other = Double(v)"]
        text = "\n".join(lines)
        if "inner()" in text:
            start.append(
                f"def inner():\n        return {self.random.choice(['u', 'v', 'm[0] * 1', 'u + v'])}"
            )
        if "keep(" in text:
            start.append("def keep(p):\n        held.append(p)")
        body = "\n".join("    " + line for line in [*start, *lines, f"return [{', '.join(shown)}]"])
        helpers = "\n\n".join(text for name, text in HELPERS.items() if f"{name}(" in body)
        if self.with_objects:
            helpers += "\n\n".join([BOX, *(text for name, text in OF_OBJECTS.items() if f"{name}(" in body)])
        if self.with_borders:
            helpers += OF_BORDERS
        return f"import numpy as np\n\n\n{helpers}\n\ndef main():\n{body}\n"
