"""The code that took a part of a run's time and stayed on NumPy, each with the sentence that helps."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from np2tf.cli.report.verdicts import in_library
from np2tf.core.diagnostics import codes
from np2tf.core.errors import CalleeError
from np2tf.loading.loops.prospects import LoopProspect, loop_prospects
from np2tf.staging.process.sampler import (
    COMPILED,
    EAGER,
    ELSEWHERE,
    IMPORTING,
    NUMPY,
    OWN,
    TRACING,
    TRANSLATING,
    XLA,
)
from np2tf.staging.report import Function, Report
from np2tf.translator.batch.one_file import fates_of, translate_bytes
from np2tf.translator.control.fates import HOST, PLAIN, Fate
from np2tf.translator.sources.options import Options
from np2tf.translator.sources.python_trees import DEFINITIONS, first_line, own_statements, python_tree

#: Code that takes a smaller share of the time is not listed.
LEAST_SHARE = 0.05
#: A function is not listed beside a loop of its own that takes this share of its time.
OF_LOOP = 0.9
MODULE = "<module>"
_LOOPS = (ast.For, ast.AsyncFor, ast.While)


class Scope(NamedTuple):
    """A function or loop of the program, or a module.

    Attributes:
        name: the qualified name of the function, or of the function that contains the loop.
        first, line, last: its first line with decorators, the line of `def`, `for` or `while`, its last line.
    """

    path: str
    name: str
    first: int
    line: int
    last: int
    is_loop: bool = False


@dataclass
class Hot:
    """Code that stayed on NumPy.

    Attributes:
        seconds: its seconds on the host, with those of the functions that it calls.
        share: their share of the program's time.
        text: what it is, and what keeps it there or helps.
    """

    name: str
    path: str
    line: int
    seconds: float
    share: float
    text: str


@lru_cache
def scopes_of(path: str) -> tuple[list[Scope], list[Scope]]:
    """Return the functions and the loops of a file, outer ones first; nothing for what is no Python."""
    try:
        tree = python_tree(Path(path).read_bytes())
    except OSError:
        return [], []
    if tree is None:
        return [], []
    functions: list[Scope] = []
    loops: list[Scope] = []

    def visit(body: list[ast.stmt], prefix: str, of: str) -> None:
        for node in own_statements(body):
            if isinstance(node, DEFINITIONS):
                name = prefix + node.name
                is_class = isinstance(node, ast.ClassDef)
                if not is_class:
                    functions.append(
                        Scope(path, name, first_line(node), node.lineno, node.end_lineno or node.lineno)
                    )
                visit(node.body, f"{name}." if is_class else f"{name}.<locals>.", of if is_class else name)
            elif isinstance(node, _LOOPS):
                loops.append(Scope(path, of, node.lineno, node.lineno, node.end_lineno or node.lineno, True))

    visit(tree.body, "", MODULE)
    return functions, loops


@cache
def _function_at(path: str, line: int) -> Scope:
    """Return the innermost function around a line; the module if there is none."""
    around = [scope for scope in scopes_of(path)[0] if scope.first <= line <= scope.last]
    return max(around, key=lambda scope: scope.first, default=Scope(path, MODULE, 1, 1, 1 << 30))


@cache
def _loops_at(function: Scope, line: int) -> list[Scope]:
    """Return the loops of a function around a line, the outermost first."""
    return [
        scope
        for scope in scopes_of(function.path)[1]
        if scope.name == function.name and scope.line <= line <= scope.last and function.first <= scope.line
    ]


# -- where the time went -------------------------------------------------------------------------------------


def share_of(report: Report) -> dict[str, float]:
    """Return the seconds of each part of the program's time, which together are all of its time."""
    parts = dict.fromkeys(("on NumPy, in loops", "on NumPy, in functions", "on NumPy, in modules"), 0.0)
    words = {
        COMPILED: "compiled code",
        EAGER: "TensorFlow, eager",
        TRANSLATING: "translating",
        TRACING: "tracing",
        XLA: "compiling (XLA)",
        IMPORTING: "importing TensorFlow",
        OWN: "np2tf itself: start, choices, calls",
    }
    elsewhere: dict[str, float] = {}
    for stack, seconds in report.stacks.items():
        if stack.kind == NUMPY:
            name = _place_of(*stack.lines[0]) if stack.lines else "on NumPy, in modules"
        elif stack.kind == ELSEWHERE:
            name = f"elsewhere: {stack.library}"
        else:
            name = words[stack.kind]
        target = elsewhere if stack.kind == ELSEWHERE else parts
        target[name] = target.get(name, 0.0) + seconds
    small = {name for name, seconds in elsewhere.items() if seconds < 0.01 * report.seconds}
    others = sum(elsewhere.pop(name) for name in small)
    if others:
        elsewhere["elsewhere: other libraries"] = others
    order = {name: seconds for name in (*parts, *words.values()) if (seconds := parts.get(name, 0.0))}
    return order | dict(sorted(elsewhere.items(), key=lambda item: -item[1]))


def _place_of(path: str, line: int) -> str:
    function = _function_at(path, line)
    if _loops_at(function, line):
        return "on NumPy, in loops"
    return "on NumPy, in modules" if function.name == MODULE else "on NumPy, in functions"


# -- what stayed on NumPy ------------------------------------------------------------------------------------


def hot_code(report: Report) -> list[Hot]:
    """Return the functions and loops that took a part of the program's time on the host."""
    seconds: dict[Scope, float] = {}
    for stack, spent in report.stacks.items():
        if stack.kind in (NUMPY, ELSEWHERE):
            for scope in _scopes_in(stack.lines):
                seconds[scope] = seconds.get(scope, 0.0) + spent
    least = LEAST_SHARE * report.seconds
    hot = {scope: spent for scope, spent in seconds.items() if spent >= least and scope.name}
    rows = []
    reasons = Reasons(report)
    for scope, spent in sorted(hot.items(), key=lambda item: (-item[1], item[0].line)):
        if _is_told_by_another(scope, hot):
            continue
        text = reasons.of(scope, spent)
        rows.append(Hot(scope.name, scope.path, scope.line, spent, spent / report.seconds, text))
    return rows


def _scopes_in(lines: Iterable[tuple[str, int]]) -> set[Scope]:
    """Return the functions and loops that a stack is in."""
    scopes: set[Scope] = set()
    for path, line in lines:
        function = _function_at(path, line)
        scopes.add(function)
        scopes.update(_loops_at(function, line))
    return scopes


def _is_told_by_another(scope: Scope, hot: dict[Scope, float]) -> bool:
    """Return whether the row of a loop says it: of the loop around this one, or of a function's only loop."""
    loops = [loop for loop in hot if loop.is_loop and (loop.path, loop.name) == (scope.path, scope.name)]
    if scope.is_loop:
        return any(loop is not scope and loop.line <= scope.line <= loop.last for loop in loops)
    in_loops = sum(hot[loop] for loop in loops if not _is_told_by_another(loop, hot))
    return scope.name == MODULE or in_loops >= OF_LOOP * hot[scope]


class Reasons:
    """Finds, for code that stayed on NumPy, the sentence that helps.

    Args:
        report: the report on the run, which has measured and tried.
    """

    def __init__(self, report: Report) -> None:
        self._report = report
        self._functions = {(function.path, function.line): function for function in report.functions}
        self._watched = {(loop.path, loop.line): loop for loop in report.watched}
        self._compiled = {(loop.path, loop.line) for loop in report.loops}

    def of(self, scope: Scope, seconds: float) -> str:
        """Return the sentence for a function or loop, given its seconds on the host."""
        if scope.is_loop:
            name = "module-level loop" if scope.name == MODULE else f"`{scope.name}`: loop"
            return f"{name}: {next(self._about_loop(scope, seconds))}"
        return f"`{scope.name}`: {next(self._about_function(scope, seconds))}"

    def _figures(self, scope: Scope) -> Function | None:
        lines = (scope.line, scope.first)
        return next(
            (self._functions[scope.path, line] for line in lines if (scope.path, line) in self._functions),
            None,
        )

    def _about_function(self, scope: Scope, seconds: float, of_caller: bool = False) -> Iterator[str]:
        """Yield what is known about a function, the best first; `of_caller`: not of its callers."""
        function = self._figures(scope)
        for why in self._report.unjitted:
            if (why.path, why.name) == (scope.path, scope.name) or (
                why.name == scope.name and scope.first <= why.line <= scope.last
            ):
                yield sentence(why.code, why.why, why.path, why.line, scope.path)
        if function is not None and function.library:
            yield _library(function.library, scope)
        if function is not None and any("faster than compiled" in reason for reason in function.reasons):
            yield "its compiled code was slower than NumPy, so its calls stay there"
        if function is not None and (compiled := function.compiled.calls + function.graph.calls):
            yield f"{compiled} of its {function.calls} calls were compiled; this is the time of the others"
        if function is None or not function.calls:
            fate = _fates_of(scope.path).get(scope.name)
            if fate is not None and fate.fate == HOST:
                reason = fate.reason.rpartition("is not jitted: ")[2]
                yield sentence("NP2TF401", reason, scope.path, fate.at or scope.line, scope.path)
            if fate is not None and fate.fate != PLAIN:
                caller = "" if of_caller else self._why_not_caller(scope)
                yield f"its text shows too little work to be compiled by itself{caller}"
            yield "it shows no work on arrays that could be compiled"
            return
        if function.is_short:
            each = _duration(function.host.seconds / max(function.host.calls, 1))
            caller = "" if of_caller else self._why_not_caller(scope)
            yield f"calls of {each} are too short to be compiled by themselves{caller}"
        if function.host.calls == 1:
            yield "it was called once: only a second call, or a loop in it, could run as compiled code"
        yield _not_worth(seconds, function.cost)

    def _why_not_caller(self, scope: Scope) -> str:
        """Return why the code that calls a function most is not compiled, as the end of a sentence."""
        callers: dict[Scope, float] = {}
        for stack, seconds in self._report.stacks.items():
            functions = [_function_at(*line) for line in stack.lines]
            if scope in functions[:-1]:
                at = functions.index(scope) + 1
                loops = _loops_at(functions[at], stack.lines[at][1])
                caller = loops[0] if loops else functions[at]
                callers[caller] = callers.get(caller, 0.0) + seconds
        if not callers:
            return ""
        caller = max(callers, key=lambda one: callers[one])
        place = f"the loop at line {caller.line}" if caller.is_loop else f"`{caller.name}`"
        if caller.is_loop:
            why = next(self._about_loop(caller, callers[caller]))
        else:
            why = next(self._about_function(caller, callers[caller], of_caller=True))
        return f"; their caller, {place}, is not compiled: {why.partition(': ')[0]}"

    def _about_loop(self, scope: Scope, seconds: float) -> Iterator[str]:
        """Yield what is known about a loop, the best first."""
        loop = self._watched.get((scope.path, scope.line))
        prospect = next((p for p in prospects_of(scope.path) if p.line == scope.line), None)
        if loop is not None and loop.is_slower:
            yield "its compiled code was no faster than NumPy, which has run the rest"
        if (scope.path, scope.line) in self._compiled:
            yield "it continued as compiled code (below); this is its time on NumPy, before and between"
        if loop is not None and loop.failure is not None:
            code, reason, path, line = loop.failure
            if prospect is None or prospect.code != code:
                yield sentence(code, reason, path, line, scope.path)
        if prospect is not None and not prospect.is_compiled:
            yield sentence(prospect.code, prospect.reason, scope.path, prospect.reason_line, scope.path)
        if loop is not None and loop.library:
            yield _library(loop.library, scope)
        yield _not_worth(seconds, 0.0 if loop is None else loop.cost)


@lru_cache
def prospects_of(path: str) -> tuple[LoopProspect, ...]:
    """Return what would be compiled of a file."""
    try:
        return tuple(loop_prospects(Path(path).read_bytes(), path))
    except OSError:
        return ()


@lru_cache
def _fates_of(path: str) -> dict[str, Fate]:
    """Return what the translator makes of the functions of a file, by their names."""
    file, options = Path(path), Options()
    try:
        outcome = translate_bytes(file.read_bytes(), file, file.parent, options)
    except OSError:
        return {}
    return {fate.name: fate for fate in fates_of(outcome, options)}


def sentence(code: str, reason: str, path: str, line: int, here: str) -> str:
    """Return a reason as a sentence: its words, the place, and what helps."""
    place = f"line {line}" if path == here else f"{path}:{line}"
    reason = reason.removeprefix("it ")
    entry = codes().get(code)
    remedy = _HELP.get(code) or ("" if entry is None else _advice(entry.remedy))
    remedy = next((help for words, help in _HELP_BY_WORDS.items() if words in reason), remedy)
    text = f"{reason} ({place}{', ' if code else ''}{code})"
    return f"{text}: {remedy}" if remedy else text


#: What helps against a reason, in fewer words than the remedy of its code, or if the code has many reasons.
_HELP = {CalleeError.code: "move the computation into a function of its own"}
_HELP_BY_WORDS = {
    "changes a list": "write into an array that is made before the loop, `out[i] = value`",
    "random.seed": "seed outside of it",
    "random number generator": "make and seed generators outside of it",
    "no range and no array": "loop over a range or an array",
    "move the loop": "",
}
_NOTHING_TO_DO = re.compile(r"^You need not do anything[^.]*\. ?")


def _advice(remedy: str) -> str:
    """Return the sentence of a remedy that says what to do."""
    text = _NOTHING_TO_DO.sub("", remedy)
    first = re.split(r"(?<=[.;])\s", text, maxsplit=1)[0].rstrip(".;")
    return first[:1].lower() + first[1:]


def _library(names: list[str], scope: Scope) -> str:
    return in_library(names, python_tree(Path(scope.path).read_bytes()), scope.first, scope.last)


def _not_worth(seconds: float, cost: float) -> str:
    if cost and seconds > cost:
        costs = f"compiling was expected to cost {cost:.1f} s, and to wait for as long"
        return f"too little of its {seconds:.1f} s of work was left to pay for compiling: {costs}"
    text = "the program ended before compiling could pay"
    return f"{text}: {seconds:.1f} s of work, compiling was expected to cost {cost:.1f} s" if cost else text


def _duration(seconds: float) -> str:
    if seconds < 1e-3:
        return f"{1e6 * seconds:.0f} µs"
    return f"{1e3 * seconds:.1f} ms"
