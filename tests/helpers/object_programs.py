"""Random programs over objects: attributes that are written, shared, set late, in loops and branches."""

from __future__ import annotations

import random
from collections.abc import Mapping

from tests.helpers.random_lines import lines

HEAD = """import numpy as np


class P:
    def __init__(self, w, t=0.5):
        self.w = w
        self.t = t
        self.n = 0
        self.c = None


def pair(one, other):
    one.c, other.c = other, one
    return one, other


def sharing(one, other):
    other.w = one.w
    one.c = other.c = P(np.arange(3.0))
    return one, other


"""
CALLS = (
    "*pair(P(np.ones(3)), P(np.zeros(3), 3.0)), np.arange(12.)",
    "*pair(*[P(np.arange(3.0))] * 2), np.arange(12.)[::-1].copy()",
    "*sharing(P(np.ones(3)), P(None)), np.arange(12.) - 6",
)
_WORDS: Mapping[str, object] = {
    "o": ("a", "b", "p", "q", "a.c", "a", "p"),
    "u": ("a", "b", "p", "q", "b.c"),
    "v": ("x[1]", "s", "a.t", "2", "p.t", "x[5] * 0.5", "b.n"),
    "k": range(3),
}
_LINES = (
    "{o}.t = {u}.t * 0.5 + {v}",
    "{o}.n += 1",
    "{o}.n = {o}.n + {u}.n",
    "{o}.t, {u}.n = {v}, {o}.n",
    "{o}.w = {u}.w",
    "{o}.w = {u}.w * 0.5 + {v}",
    "{o}.w += {v}",
    "{o}.w[{k}] = {v}",
    "{o}.w[{k}] += {u}.t",
    "s = s * 0.5 + {o}.n",
    "x[{k}] = {o}.t",
    "s = s * 0.5 + {o}.t",
    "s = {o}.w[{k}] - {v}",
    "t = {o}.w\n{in}t[{k}] = {v}",
)
#: Code that chooses objects is staged only outside of loops and branches.
_CHOICES = ("q = {o}", "{o}.c = {u}", "p = P({u}.w, {v})", "{o}.late = {v}")
_TESTS = ("{o}.t > 1", "x[{k}] > {u}.t", "{o}.n < 2", "s > {u}.w[{k}]", "{o}.w[0] < {v}")


def program(seed: int) -> str:
    """Return the text of a module with f(a, b, x); a seed always gives the same text."""
    chance = random.Random(seed)
    first = chance.choice(("p = P(x[:3] * 2.0)", "p = P(x)", "p = P(a.w, x[2])"))
    late = chance.choice(([], ["a.late = 1.0"], ["if x[1] > 2:", "    a.late = s", "s = s + a.late"]))
    second = chance.choice(("q = a", "q = b.c", "q = P(x, 1)", "q = p"))
    body = ["s = np.sum(x)", first, second, *_block(chance, 2), *late]
    body.append(chance.choice(("return s, a.t", "return p, s", "return q.w, b.w", "return p.w, x, [q]")))
    return HEAD + "def f(a, b, x):\n" + "".join(f"    {line}\n" for line in body)


def _block(chance: random.Random, depth: int) -> list[str]:
    made: list[str] = []
    for _ in range(chance.randint(1, 3)):
        kind = chance.choice(("line", "line", "if", "if", "for", "while") if depth else ("line",))
        if kind == "line":
            choices = (*_LINES, *_CHOICES) if depth == 2 else _LINES
            made += lines(chance, choices, 0, {**_WORDS, "in": ("",)})
            continue
        test = lines(chance, _TESTS, 0, _WORDS)[0]
        inside = [f"    {line}" for line in _block(chance, depth - 1)]
        if kind == "if":
            made += [f"if {test}:", *inside]
            if chance.random() < 0.5:
                made += ["else:", *[f"    {line}" for line in _block(chance, depth - 1)]]
        elif kind == "for":
            made += [chance.choice(("for i in range(len(x)):", "for i in range(2):")), *inside]
        else:
            count = f"m{depth}"
            made += [f"{count} = 0", f"while {count} < 4 and {test}:", f"    {count} += 1", *inside]
    return made
