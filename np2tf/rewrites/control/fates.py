"""What becomes of each function of a module that computes with arrays: the table behind `np2tf check`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from np2tf.diagnostics import Diagnostic
from np2tf.facts import Facts
from np2tf.facts.array_work import ArrayWork
from np2tf.facts.effects import Effects
from np2tf.facts.flow import block
from np2tf.options import Options
from np2tf.rewrites.control.fitness import Fitness, is_taken
from np2tf.tree.walk import walk

#: In the order of a table.
STAGED, CALLED, HOST = "staged", "staged where it is called", "host"


@dataclass(frozen=True)
class Fate:
    """What becomes of one function.

    Attributes:
        name: qualified, within the module.
        line: where it begins.
        loops: whether it has a loop that computes with what may be arrays.
        fate: "staged" with `@np2tf.jit`, "staged where it is called" by something staged, or "host".
        asks: how many calls `np2tf.call` looks at.
        reason: why it stays on the host.
    """

    name: str
    line: int
    loops: bool
    fate: str
    asks: int = 0
    reason: str = ""

    def __str__(self) -> str:
        calls = "1 call" if self.asks == 1 else f"{self.asks} calls"
        asks = f", and looks at {calls} while it is traced" if self.asks else ""
        return f"{self.line}: {self.name}: {self.fate}{asks}{': ' if self.reason else ''}{self.reason}"


def fates(facts: Facts, options: Options) -> Iterator[Fate]:
    """The functions and methods of a module that visibly compute with arrays, in the order of the source."""
    effects = Effects(facts)
    fitness = Fitness.of(facts, options)
    for name, function in _functions(facts.module.body):
        work = ArrayWork(function, facts, effects)
        if is_taken(function, facts) or not (work.loops or work.is_there):
            continue
        line = facts.position(function)[0]
        decision = fitness.fit.get(function)
        if decision is None:
            yield Fate(name, line, work.loops, HOST, reason=_reason(function, fitness, facts))
        else:
            fate = STAGED if function in fitness.staged else CALLED
            asks = len(decision.callees) + len(decision.contexts)
            yield Fate(name, line, work.loops, fate, asks)


def share(found: Sequence[Fate], fate: str) -> tuple[int, str]:
    """How many functions have a fate, and which share of all that is."""
    count = sum(one.fate == fate for one in found)
    return count, f"{100 * count / len(found):.0f} %" if found else ""


def reasons(found: Sequence[Fate], most: int) -> list[tuple[str, int]]:
    """The most frequent reasons why functions stay on the host, without the names of what they call."""
    told = (re.sub("`[^`]*`", "`…`", one.reason) for one in found if one.fate == HOST)
    return Counter(told).most_common(most)


def _functions(body: object, prefix: str = "") -> Iterator[tuple[str, cst.FunctionDef]]:
    for statement in body if isinstance(body, (list, tuple)) else ():
        if isinstance(statement, cst.FunctionDef):
            yield prefix + statement.name.value, statement
        elif isinstance(statement, cst.ClassDef):
            yield from _functions(block(statement.body), f"{prefix}{statement.name.value}.")
        elif isinstance(statement, (cst.If, cst.Try)):
            yield from _functions(block(statement.body), prefix)


def _reason(function: cst.FunctionDef, fitness: Fitness, facts: Facts) -> str:
    why = fitness.every_unfit.get(function)
    if why is not None:
        return Diagnostic(
            why.code, "", 1, 1, tuple({"name": function.name.value, **why.words}.items())
        ).message
    if any(isinstance(node, (cst.Await, cst.Yield)) for node in walk(function)):
        return "it is a generator or coroutine"
    if function.name.value.startswith("__"):
        return "Python calls it at times of its own"
    return "it is defined where a module is set up only sometimes, or in a class in a class"
