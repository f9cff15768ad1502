"""Finds the functions of a module that are staged, and the constructs to lower in each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

import libcst as cst

from np2tf.diagnostics import Report
from np2tf.facts import Facts
from np2tf.facts.array_work import ArrayWorks
from np2tf.facts.classes import decorators
from np2tf.facts.dataflow.flow import parameters
from np2tf.facts.effects import Effects
from np2tf.facts.recursion import Recursion
from np2tf.options import Options
from np2tf.rewrites.control.common.marks import CannotLower
from np2tf.rewrites.control.decide import Decision, decide
from np2tf.tree.names import dotted_name, root_of, words
from np2tf.tree.walk import walk

#: Decorators that accept any callable.
_DECORATORS = words(
    """
    staticmethod classmethod property abstractmethod abc.abstractmethod
    functools.lru_cache lru_cache functools.cache cache functools.wraps wraps
    """
)
_CACHE: WeakKeyDictionary[Facts, dict[Options, Fitness]] = WeakKeyDictionary()


@dataclass(frozen=True)
class Unfit:
    """The reason why a function is not staged: a diagnostic's code, its place and its words.

    `is_own` is true if the function's own text is the reason, and not its callees or its place. Such a
    function cannot be traced where it is called either.
    """

    code: str
    node: cst.CSTNode
    words: dict[str, str]
    is_own: bool = True


@dataclass
class Fitness:
    """The staged functions of a module with their decisions, and the reasons why other functions are not
    staged.
    """

    staged: dict[cst.FunctionDef, Decision] = field(default_factory=dict)
    unfit: dict[cst.FunctionDef, Unfit] = field(default_factory=dict)
    """The unfit functions for which staging would pay."""
    fit: dict[cst.FunctionDef, Decision] = field(default_factory=dict)
    """All functions that can be staged, by themselves or where staged code calls them."""
    every_unfit: dict[cst.FunctionDef, Unfit] = field(default_factory=dict)
    """All functions that cannot be staged, whether or not it would pay."""

    @classmethod
    def of(cls, facts: Facts, options: Options) -> Fitness:
        """Return the fitness of a module's functions, computed once per module and options."""
        known = _CACHE.setdefault(facts, {})
        if options not in known:
            known[options] = _judge(facts, options)
        return known[options]

    def report(self, facts: Facts, report: Report) -> None:
        """Report why functions are not staged although it would pay, and which loops have independent
        iterations.
        """
        for function, decision in self.staged.items():
            for loop in decision.independent:
                report.add("NP2TF310", *facts.place(loop), name=function.name.value)
        for function, unfit in self.unfit.items():
            report.add(unfit.code, *facts.place(unfit.node), name=function.name.value, **unfit.words)


def _judge(facts: Facts, options: Options) -> Fitness:
    effects = Effects(facts)
    every = options.everything
    candidates = [one for one in _functions(facts, effects) if every or not is_taken(one, facts)]
    if not every:
        plain = [one for one in candidates if not _is_special(one)]
        candidates = [*plain, *_constructors(plain, effects)]
    decisions: dict[cst.FunctionDef, Decision] = {}
    unfit: dict[cst.FunctionDef, Unfit] = {}
    for function in candidates:
        verdict = (None if every else _out_of_reach(function, effects)) or _alone(function, facts, effects)
        if isinstance(verdict, Decision) and verdict.lowers_text and not every:
            if _is_property(function):
                verdict = Unfit("NP2TF401", function, {"reason": "is a property with control flow"}, False)
            elif _is_special(function):
                verdict = Unfit("NP2TF401", function, {"reason": "is a constructor with control flow"}, False)
        if isinstance(verdict, Unfit):
            unfit[function] = verdict
        else:
            decisions[function] = verdict
    _spread(decisions, unfit, effects)
    work = ArrayWorks(facts, effects)
    worth = {
        function
        for function in candidates
        if every
        or (
            parameters(function.params)
            and not _is_property(function)
            and not _is_special(function)
            and work.of(function).pays
        )
    }
    staged = _with_callees({function for function in decisions if function in worth}, decisions, effects)
    told = {function: why for function, why in unfit.items() if function in worth}
    chosen = {function: decisions[function] for function in candidates if function in staged}
    return Fitness(chosen, told, decisions, unfit)


def _functions(facts: Facts, effects: Effects) -> Iterator[cst.FunctionDef]:
    """Yield the functions at the top of the module, and the methods of the classes there."""
    for statement in facts.module.body:
        if isinstance(statement, cst.FunctionDef):
            yield statement
    yield from effects.classes.methods()


def _constructors(functions: list[cst.FunctionDef], effects: Effects) -> list[cst.FunctionDef]:
    """Return the methods that run when these functions make objects, and when these methods make others."""
    found: dict[cst.FunctionDef, None] = {}
    pending = list(functions)
    while pending:
        new = [one for one in effects.callees(pending.pop()) if _is_special(one) and one not in found]
        found.update(dict.fromkeys(new))
        pending += new
    return list(found)


def is_taken(function: cst.FunctionDef, facts: Facts) -> bool:
    """Return whether a function is already jitted, or another compiler reads it."""
    return function in facts.foreign or any(
        (name or "").startswith("np2tf.") for name in decorators(function)
    )


def _out_of_reach(function: cst.FunctionDef, effects: Effects) -> Unfit | None:
    """Return why a function cannot be decorated with `@np2tf.jit`, whatever its body does."""
    for item in function.decorators:
        if not _takes_any_callable(item.decorator, effects.facts):
            name = effects.facts.code(item.decorator)
            reason = f"is decorated with `{name}`, which may want a function"
            return Unfit("NP2TF401", item, {"reason": reason}, False)
    kind = effects.classes.class_of(function)
    if kind is None or "staticmethod" in decorators(function) or effects.classes.is_simple(kind):
        return None
    reason = "is a method of a class whose objects are more than attributes"
    return Unfit("NP2TF401", function, {"reason": reason}, False)


def _takes_any_callable(decorator: cst.BaseExpression, facts: Facts) -> bool:
    """Return whether a decorator accepts any callable: it is known, or belongs to the program."""
    node = decorator.func if isinstance(decorator, cst.Call) else decorator
    if dotted_name(node) in _DECORATORS:
        return True
    bindings = facts.scopes.top_bindings(root_of(node))
    for binding in bindings:
        around = facts.parents[binding]
        if isinstance(around, cst.ImportFrom):
            top = (dotted_name(around.module) or "").partition(".")[0]
            if not around.relative and top not in facts.folders:
                return False
        elif not isinstance(binding, (cst.FunctionDef, cst.ClassDef)):
            return False
    return bool(bindings)


def _is_special(function: cst.FunctionDef) -> bool:
    """Return whether Python itself calls a method, such as `__init__`."""
    name = function.name.value
    return name.startswith("__") and name.endswith("__") and name != "__call__"


def _is_property(function: cst.FunctionDef) -> bool:
    return decorators(function) == ["property"]


def _alone(function: cst.FunctionDef, facts: Facts, effects: Effects) -> Decision | Unfit:
    problems = effects.problems(function)
    recursion = Recursion(effects)
    if problems:
        return Unfit("NP2TF401", problems[0].node, {"reason": problems[0].reason})
    again = recursion.ends_by_data(function)
    if again is not None:
        return Unfit("NP2TF311", again, {})
    try:
        unknown, methods = effects.unknown_calls(function), effects.method_calls(function)
        made = decide(function, facts, recursion.counters(function), unknown, methods)
        made.callees += effects.handed_on(function)
        made.contexts = effects.contexts(function)
        return made
    except CannotLower as error:
        inside = set(walk(function))
        return Unfit(error.code, error.node if error.node in inside else function, error.words)


def _spread(
    decisions: dict[cst.FunctionDef, Decision], unfit: dict[cst.FunctionDef, Unfit], effects: Effects
) -> None:
    """A function is no fitter than what it calls, unless a trace may not reach the call."""
    calls = {function: dict(effects.callees(function)) for function in decisions}
    changed = True
    while changed:
        changed = False
        for function in list(decisions):
            bad = next((callee for callee in calls[function] if callee not in decisions), None)
            if bad is None:
                continue
            changed = True
            places = effects.calls_of(bad, function)
            if all(isinstance(one, cst.Call) and effects.is_under_a_test(one, function) for one in places):
                decisions[function].callees += [one.func for one in places if isinstance(one, cst.Call)]
                del calls[function][bad]
            else:
                words = {"reason": f"calls `{bad.name.value}`, which cannot be staged"}
                unfit[function] = Unfit("NP2TF401", calls[function][bad], words, False)
                del decisions[function]


def _with_callees(
    worth: set[cst.FunctionDef], decisions: dict[cst.FunctionDef, Decision], effects: Effects
) -> set[cst.FunctionDef]:
    """Return the functions worth staging, and their callees that have something to lower."""
    staged = set(worth)
    stack = list(worth)
    seen = set(worth)
    while stack:
        for callee in effects.callees(stack.pop()):
            if callee not in seen:
                seen.add(callee)
                decision = decisions.get(callee)
                if decision is None:
                    continue
                stack.append(callee)
                if decision.lowers_text:
                    staged.add(callee)
    return staged
