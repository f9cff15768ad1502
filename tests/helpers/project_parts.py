"""The parts of random packages: templates of expressions and effects, heads of modules."""

from __future__ import annotations

#: Expressions with an array's shape. In all tables {a} and {b} are arrays, {s} is a number, {c}, {k} are
#: constants.
ARRAYS = (
    "np.sin({a}) + {s}", "np.tanh({a} - {b})", "{a} * {c}", "{a} * 0.5 + {b} * 0.25", "{a}[::-1] * 0.5",
    "np.where({a} > {c}, {b}, {a} * 0.5)", "np.roll({a}, 1) - {c}", "np.cos({a}) * {s}",
    "np.tanh(np.cumsum({a}))",
    "np.clip({a}, -{c}, {c})", "np.maximum({a}, {b} * 0.5)", "np.outer({a}, {b}).sum(axis=0) / 9.0",
    "np.abs({a}) / (1.0 + np.abs({b}))", "np.tanh({a} @ {b}) + {a} * 0.1", "np.sort({a}) * 0.5",
    "np.full({a}.shape, {s})",
    "np.concatenate([{a}[1:], {b}[:1]])", "np.zeros_like({a}) + {c}", "{a} - {a}.mean()",
    "np.array([v * 0.5 for v in {a}])",
)  # fmt: skip
#: Numbers, none of them large.
NUMBERS = (
    "np.tanh({a}.sum())", "{a}[{k}]", "float(np.tanh({a}[{k}]))", "{a}.mean()", "np.max({a}) * 0.5", "{c}",
    "float({a} @ {b}) / 40.0", "len({a}) / 10", "np.sqrt(np.abs({a})).sum() / 9.0", "min(0.5, float({a}[0]))",
    "np.linalg.norm({a}) / 9.0", "{s} * 0.5",
)  # fmt: skip
#: Tests of an `if`.
TESTS = (
    "{a}[{k}] > {odd}", "{a}.sum() > {odd}", "{s} > {odd}", "np.any({a} > {odd})", "{a}.mean() < {odd}",
    "{a}[{k}] > {odd} and {s} < {odd}", "not {s} > {odd}", "np.isfinite({a}).all()",
)  # fmt: skip
#: Effects of a function besides computing; {m} is a word that occurs nowhere else.
EFFECTS = (
    'print("{m}")', 'print("{m}", len({a}))', 'print(f"{m} {{{s}:.3f}}")', 'print("{m} %.3f" % {a}[{k}])',
    'logger.info("{m} %.3f", {a}[{k}])', 'logger.debug("{m}")', 'logger.warning("{m} %d", len({a}))',
    'warnings.warn("w: {m}")', 'warnings.warn("w: {m}", RuntimeWarning)', 'LOG.append("{m}")',
    "LOG.append(float({s}))", 'TOTALS["n"] += 1', 'TOTALS["{m}"] = {s}', "BUFFER[{k}] += {c}",
    'logging.getLogger("pk.other").error("{m}")', "BUFFER[:] = {a}",
    'warnings.warn("s: {m}", stacklevel=2)', 'with np.printoptions(precision=2): print("{m}", {a})',
    'with SCOPE as inner: print("{m}", inner.depth)', 'with SCOPE: TOTALS["{m}"] = SCOPE.k * {s}',
    'with Scope({c}) as inner: BUFFER[{k}] = inner.k + inner.depth',
)  # fmt: skip
#: Effects of a method.
OWN_EFFECTS = (
    "self.count += 1", "self.history.append(float({s}))", 'self.history.append("{m}")',
    'self.stats["{m}"] = {s}',
    "self.last = {a} * 1",
    "self.last = {a}",
    "self.history = [*self.history, {s}]", "self.state[{k}] = {s}", "self.state += {a} * 0.1",
    "type(self).made += 1",
    'self.log.info("{m} %d", self.count)', "self.gain = self.gain * 0.9",
    'self.stats["n"] = self.stats.get("n", 0) + 1',
    "self.state = self.state * 0.5 + {a}", "self.history.append({a} * 1)",
)  # fmt: skip

#: The calls at the end of `main`.
LAST = ("second(x)", "third.run(x, 4)", "first.run(x, 3)", "second.run(x, CALLS + 1)", "first.step(x)")
#: The changes that `main` makes between calls.
BETWEEN = (
    "base.set_rate(0.5 + 0.1 * CALLS)", "base.RATE = 0.3 * CALLS", "first.inner = {op}", 'TABLE["a"] = {op}',
    "second.step = {op}", "base.bump()", "Kicked.scale = 0.1 * CALLS", "second.state = x * 0.1",
    "first.history = []", "third.gain = 0.2 * CALLS", "LOG.clear()", "BUFFER[:] = 0.0", "first.gain = CALLS",
    'logging.getLogger("pk").setLevel([10, 20, 30, 20][CALLS % 4])', "second.state = first.state",
    "second.history = first.history", "first.last = first.state", "first.state = BUFFER",
    "models.{model} = {op}", "base.{base} = {op}", "Damped.step = lambda self, x: x * self.gain",
    "base.Stage.helper = another", "globals().update(first=Damped(0.3, np.cos))", 'TABLE["d"] = closure',
    "globals().update(closure=captured(x * 1, 0.25))", "second.gain = np.float64(0.3) * CALLS",
    "first.extra = CALLS", "base.logger.disabled = CALLS % 2 == 0", "logging.disable([0, 20, 30][CALLS % 3])",
    "globals().update({own}={op})", "first.__class__ = Kicked",
    "second.inner = functools.partial(np.power, 0.5)",
)  # fmt: skip

BASE_HEAD = """\
import functools
import logging
import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

logger = logging.getLogger("pk.base")
RATE = 0.5
COUNT = 0
LOG = []
TOTALS = {"n": 0}
BUFFER = np.zeros(6)


def set_rate(value):
    global RATE
    RATE = value


def wrapping(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        return f(*args, **kwargs)

    return wrapper


def counting(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        wrapper.calls += 1
        TOTALS["n"] += 1
        return f(*args, **kwargs)

    wrapper.calls = 0
    return wrapper


def logged(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        logger.info("calls %s", f.__name__)
        result = f(*args, **kwargs)
        logger.debug("called %s", f.__name__)
        return result

    return wrapper


class Scope:
    def __init__(self, k):
        self.k = k
        self.depth = 0

    def __enter__(self):
        self.depth += 1
        self.k = self.k * 0.9
        return self

    def __exit__(self, *error):
        self.depth -= 1
        return False


SCOPE = Scope(0.5)


class Span(NamedTuple):
    low: float
    high: float

    def width(self):
        return self.high - self.low


@dataclass
class Pair:
    a: object
    b: float = 0.25

    def total(self):
        return self.a * self.b

    def __add__(self, other):
        return Pair(self.a + other.a, self.b * 0.5)


def bump():
    global COUNT
    COUNT += 1
    return COUNT


def checked(x, limit):
    if x.sum() > limit:
        raise ValueError(f"more than {limit}")
    return x * 0.5
"""
MODELS_HEAD = """\
import functools
import logging
import warnings

import numpy as np

from . import base
{imports}
logger = logging.getLogger("pk.models")
"""
MAIN_HEAD = """\
import functools
import logging
import warnings

import numpy as np

from . import base, models
{imports}
logger = logging.getLogger("pk.main")
CALLS = 0
"""
