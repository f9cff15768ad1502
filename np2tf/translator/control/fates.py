"""The fates of a module's functions that loop or compute with arrays, for the table of `np2tf check`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import libcst as cst

from np2tf.core.diagnostics import Diagnostic
from np2tf.translator.control.fitness import Fitness, is_taken
from np2tf.translator.facts.array_work import ArrayWorks
from np2tf.translator.facts.facts import Facts
from np2tf.translator.notebooks import Notebook
from np2tf.translator.sources.options import Options
from np2tf.translator.tree.nodes import children, walk

#: The fates, in the order of the table.
STAGED, CALLED = "compiled", "compiled only as part of a compiled caller"
HOST, PLAIN = "interpreted", "plain Python"
_PARTS = (cst.Else, cst.Finally, cst.ExceptHandler, cst.ExceptStarHandler, cst.MatchCase)
_LOOPS = (cst.For, cst.While, cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp)
#: Matches the place of a callee, and the reason why it cannot be staged.
_PLACE = re.compile(r" \((?:[^()]*:|line )\d+\), which .*", re.DOTALL)


@dataclass(frozen=True)
class Fate:
    """The fate of one function, with its qualified name and first line.

    Attributes:
        loops: whether the function has a loop that computes with values that may be arrays.
        fate: "compiled" with `@np2tf.jit`, "compiled only as part of a compiled caller",
            "interpreted", or "plain Python" for a function with loops that shows neither arrays nor
            arithmetic.
        at: the line of the reason, if it is known.
        asks: the number of calls and context managers that np2tf checks while tracing.
    """

    name: str
    line: int
    loops: bool
    fate: str
    asks: int = 0
    reason: str = ""
    at: int = 0
    cell: int | None = None
    """For a function in a notebook: the number of the cell, from 1, in which the lines are counted."""

    @property
    def place(self) -> str:
        """The line, behind the cell of a notebook: `12`, `cell 3:5`."""
        return str(self.line) if self.cell is None else f"cell {self.cell}:{self.line}"

    def in_cell(self, notebook: Notebook) -> Fate:
        """Turn the fate of a function in a notebook's program into that of a function in its cell."""
        cell = notebook.cell_at(self.line)
        if cell is None:
            return self
        shift, reason = cell.first - 1, notebook.with_lines_of_cells(self.reason)
        at = self.at - shift if self.at else 0
        return replace(self, line=self.line - shift, at=at, reason=reason, cell=cell.number)

    def __str__(self) -> str:
        calls = "1 call is" if self.asks == 1 else f"{self.asks} calls are"
        asks = f"; {calls} resolved at run time" if self.asks else ""
        return f"{self.place}: {self.name}: {self.fate}{asks}{': ' if self.reason else ''}{self.reason}"


def fates(facts: Facts, options: Options, is_translated: bool = True) -> Iterator[Fate]:
    """Yield the fates of a module's functions that have loops or compute with arrays, in source order.

    An inner function is part of the one around it. If not `is_translated`, no function is staged by itself.
    """
    fitness = facts.get(Fitness, options)
    works = facts.get(ArrayWorks)
    for name, function in _functions(facts.module):
        work = works.of(function)
        about_arrays = work.loops or work.uses_arrays or work.repeats
        if not about_arrays and not any(isinstance(node, _LOOPS) for node in walk(function.body)):
            continue
        line = facts.position(function)[0]
        decision = fitness.fit.get(function)
        if is_taken(function, facts):
            yield _fate_elsewhere(name, line, function, facts)
        elif not about_arrays:
            yield Fate(name, line, True, PLAIN)
        elif decision is None:
            why = fitness.every_unfit.get(function)
            at = 0 if why is None else facts.position(why.node)[0]
            yield Fate(name, line, work.loops, HOST, reason=_reason(function, fitness, facts), at=at)
        else:
            fate = STAGED if function in fitness.staged_functions and is_translated else CALLED
            asks = len(decision.callees) + len(decision.contexts)
            yield Fate(name, line, work.loops, fate, asks)


def share(fates: Sequence[Fate], fate: str) -> tuple[int, str]:
    """Return the number of functions with a fate, and their share of all functions."""
    count = sum(entry.fate == fate for entry in fates)
    return count, f"{100 * count / len(fates):.0f} %" if fates else ""


def reasons(fates: Sequence[Fate], limit: int) -> list[tuple[str, int]]:
    """Return the most frequent reasons why functions stay on the host, without the names in them."""
    plain = (_PLACE.sub(", which cannot be compiled", entry.reason) for entry in fates if entry.fate == HOST)
    places = (re.sub(r"at line \d+", "at line …", reason) for reason in plain)
    texts = (re.sub("`[^`]*`", "`…`", reason).removeprefix("`…` is not jitted: ") for reason in places)
    return Counter(texts).most_common(limit)


def _functions(node: cst.CSTNode, prefix: str = "") -> Iterator[tuple[str, cst.FunctionDef]]:
    for child in children(node):
        if type(child) is cst.FunctionDef:
            yield prefix + child.name.value, child
        elif type(child) is cst.ClassDef:
            yield from _functions(child.body, f"{prefix}{child.name.value}.")
        elif isinstance(child, (cst.BaseSuite, cst.BaseCompoundStatement, *_PARTS)):
            yield from _functions(child, prefix)


def _fate_elsewhere(name: str, line: int, function: cst.FunctionDef, facts: Facts) -> Fate:
    """Return the fate of a function that is already jitted, or that another compiler reads."""
    if function in facts.compiler_nodes:
        return Fate(name, line, False, PLAIN, reason="another compiler handles it")
    return Fate(name, line, True, STAGED)


def _reason(function: cst.FunctionDef, fitness: Fitness, facts: Facts) -> str:
    why = fitness.every_unfit.get(function)
    if why is not None:
        return Diagnostic(
            why.code, "", 1, 1, tuple({"name": function.name.value, **why.words}.items())
        ).message
    if any(type(node) in (cst.Await, cst.Yield) for node in walk(function)):
        return "it is a generator or coroutine"
    if function.name.value.startswith("__"):
        return "it is a special method, which Python calls on its own"
    return "it is defined in a conditional block of the module, or in a nested class"
