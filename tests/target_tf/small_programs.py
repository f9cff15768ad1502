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
    "for row in {a}:\n    {n} = row", "{a}[int({n}) % 4] = {n}",
)  # fmt: skip
HELPERS = {
    "fill": "def fill(x, value):\n    x[1] = value\n    return x[0] + value\n",
    "bump": "def bump(x, y):\n    x += 1\n    for k in range(len(y)):\n"
    "        if y[k] > 1:\n            x[k] = y[k]\n",
    "scaled": "def scaled(x):\n    y = x * 2\n    y[0] = 0\n    return y\n",
    "first": "def first(x, y):\n    return x if len(x) > len(y) else y[1:]\n",
}


class Maker:
    """Writes one program."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.arrays = ["u", "v"]
        self.numbers = ["n"]

    def filled(self, template: str) -> str:
        """A template with names in its holes."""
        a, b = self.random.choice(self.arrays), self.random.choice(self.arrays)
        c = self.random.choice([*self.arrays, "w"])
        text = template.format(a=a, b=b, c=c, n=self.random.choice(self.numbers))
        if template.startswith("{c} =") and c not in self.arrays:
            self.arrays.append(c)
        return text

    def statement(self, depth: int) -> list[str]:
        """The lines of one statement."""
        kind = self.random.random()
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
        shown = self.random.sample([*self.arrays, "n", "held", "m", "total"], self.random.randint(1, 3))
        start = [
            "u = np.arange(4.0)",
            "v = np.array([2.0, 0.5, 3.0, 1.0])",
            "n = 2",
            "held = []",
            "total = 0",
        ]
        text = "\n".join(lines)
        if "inner()" in text:
            start.append(
                f"def inner():\n        return {self.random.choice(['u', 'v', 'm[0] * 1', 'u + v'])}"
            )
        if "keep(" in text:
            start.append("def keep(p):\n        held.append(p)")
        body = "\n".join("    " + line for line in [*start, *lines, f"return [{', '.join(shown)}]"])
        helpers = "\n\n".join(text for name, text in HELPERS.items() if f"{name}(" in body)
        return f"import numpy as np\n\n\n{helpers}\n\ndef main():\n{body}\n"
