"""Finds the functions of a module that are staged, and the constructs to lower in each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import libcst as cst

from np2tf.core.diagnostics import Diagnostic, Report
from np2tf.translator.control.decide import Decision, decide, decide_calls
from np2tf.translator.control.scope import CannotLower
from np2tf.translator.facts.array_work import ArrayWorks
from np2tf.translator.facts.classes import decorators
from np2tf.translator.facts.dataflow import parameters
from np2tf.translator.facts.effects import Effects
from np2tf.translator.facts.facts import Facts
from np2tf.translator.facts.foreign_values import OF_ACTIONS, OF_OBJECTS, OF_VALUES, ForeignValues
from np2tf.translator.facts.recursion import Recursion
from np2tf.translator.linking.summary import by_callee
from np2tf.translator.rewrites.uses import stays, uses
from np2tf.translator.sources.options import Options
from np2tf.translator.tree.nodes import dotted_name, root_of, walk, words

#: Decorators that accept any callable.
_DECORATORS = words(
    """
    staticmethod classmethod property abstractmethod abc.abstractmethod
    functools.lru_cache lru_cache functools.cache cache functools.wraps wraps
    """
)


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

    @property
    def reason(self) -> str:
        """The diagnostic's message without the function's name."""
        words = tuple({"name": "", **self.words}.items())
        return Diagnostic(self.code, "", 1, 1, words).message.rpartition("is not jitted: ")[2]


class Fitness:
    """A module's staged functions with their decisions, and the unfit ones for which staging would pay."""

    def __init__(self, facts: Facts, options: Options) -> None:
        self._judges = _Judges(facts, options)
        worth = self._judges.worth
        self._judges.judge(self._judges.reached_from(worth))
        decisions, effects = self._judges.decisions, self._judges.effects
        functions = _with_callees(
            {function for function in worth if function in decisions}, decisions, effects
        )
        self.staged_functions = {
            function: decisions[function] for function in self._judges.candidates if function in functions
        }
        self.unfit = {function: why for function, why in self._judges.unfit.items() if function in worth}

    @property
    def fit(self) -> dict[cst.FunctionDef, Decision]:
        """All functions that can be staged, by themselves or where staged code calls them."""
        self._judges.judge(self._judges.candidates)
        return self._judges.decisions

    @property
    def every_unfit(self) -> dict[cst.FunctionDef, Unfit]:
        """All functions that cannot be staged, whether or not it would pay."""
        self._judges.judge(self._judges.candidates)
        return self._judges.unfit

    def calls_of_unfit(self, facts: Facts) -> Iterator[tuple[cst.FunctionDef, Decision]]:
        """Yield the functions that cannot be staged, each with the calls to lower if a transform runs it."""
        effects = self._judges.effects
        for function in self.every_unfit:
            unknown = [call.func for call in effects.unknown_calls(function)]
            decision = decide_calls(function, facts, [*unknown, *effects.handed_on(function)])
            if decision.lowers_text:
                yield function, decision

    def report(self, facts: Facts, report: Report) -> None:
        """Report unstaged functions that staging would pay for, and independent loops."""
        for function, decision in self.staged_functions.items():
            for loop in decision.independent:
                report.add("NP2TF310", *facts.place(loop), name=function.name.value)
        for function, unfit in self.unfit.items():
            report.add(unfit.code, *facts.place(unfit.node), name=function.name.value, **unfit.words)


class _Judges:
    """Judges a module's functions, each once and only if needed, because a judgement is expensive."""

    def __init__(self, facts: Facts, options: Options) -> None:
        self._facts = facts
        self._judges_everything = options.everything
        self._foreign = facts.get(ForeignValues) if options.as_source and options.numpy_only else None
        self.effects = facts.get(Effects)
        self.candidates = self._candidates()
        self.decisions: dict[cst.FunctionDef, Decision] = {}
        self.unfit: dict[cst.FunctionDef, Unfit] = {}

    def _candidates(self) -> list[cst.FunctionDef]:
        every = _functions(self._facts, self.effects)
        if self._judges_everything:
            return list(every)
        plain = [
            function
            for function in every
            if not is_taken(function, self._facts) and not _is_special(function)
        ]
        return [*plain, *_constructors(plain, self.effects)]

    @cached_property
    def worth(self) -> set[cst.FunctionDef]:
        """The functions for which staging pays."""
        if self._judges_everything:
            return set(self.candidates)
        work = self._facts.get(ArrayWorks)
        return {
            function
            for function in self.candidates
            if parameters(function.params)
            and not _is_property(function)
            and not _is_special(function)
            and not _is_translated(function, self._facts)
            and work.of(function).pays
            and not (self._foreign is not None and self._has_no_arrays(function, work))
        }

    def _has_no_arrays(self, function: cst.FunctionDef, work: ArrayWorks) -> bool:
        """Return whether a function works on another library's values, or on Python's own objects."""
        assert self._foreign is not None
        if self._foreign.use(function, OF_VALUES | OF_OBJECTS) is not None:
            return True
        return work.of(function).is_about_own_lists

    def reached_from(self, functions: set[cst.FunctionDef]) -> list[cst.FunctionDef]:
        """Return the candidates among these functions and all that they call, in the order of the module."""
        members, stack = set(functions), list(functions)
        while stack:
            new = [callee for callee in self.effects.callees(stack.pop()) if callee not in members]
            members.update(new)
            stack += new
        return [function for function in self.candidates if function in members]

    def judge(self, functions: list[cst.FunctionDef]) -> None:
        """Judge functions. All that they call must be among them, or already judged, or no candidate."""
        decisions: dict[cst.FunctionDef, Decision] = {}
        for function in functions:
            if function in self.decisions or function in self.unfit:
                continue
            verdict = self._verdict(function)
            if isinstance(verdict, Unfit):
                self.unfit[function] = verdict
            else:
                decisions[function] = verdict
        _spread(decisions, self.decisions, self.unfit, self.effects)
        self.decisions.update(decisions)

    def _verdict(self, function: cst.FunctionDef) -> Decision | Unfit:
        verdict = None if self._judges_everything else _out_of_reach(function, self.effects)
        outcome = verdict or self._acts(function) or _alone(function, self._facts, self.effects)
        if self._judges_everything or not isinstance(outcome, Decision) or not outcome.lowers_text:
            return outcome
        if _is_property(function):
            return Unfit("NP2TF401", function, {"reason": "is a property with control flow"}, False)
        if _is_special(function):
            return Unfit("NP2TF401", function, {"reason": "is a constructor with control flow"}, False)
        return outcome

    def _acts(self, function: cst.FunctionDef) -> Unfit | None:
        """Return why a function stays as it is, if it works on what no compiled code has."""
        libraries = OF_ACTIONS | OF_VALUES | OF_OBJECTS
        use = self._foreign.use(function, libraries) if self._foreign is not None else None
        if use is not None:
            return Unfit("NP2TF401", use[0], {"reason": f"uses {use[1]}"})
        call = self._foreign.of_scipy(function) if self._foreign is not None else None
        if call is None:
            return None
        name = self._facts.code(call.func)
        return Unfit("NP2TF401", call, {"reason": f"calls `{name}`, which compiled code does not have"})


def _functions(facts: Facts, effects: Effects) -> Iterator[cst.FunctionDef]:
    """Yield the functions at the top of the module, and the methods of the classes there."""
    for statement in facts.module.body:
        if type(statement) is cst.FunctionDef:
            yield statement
    yield from effects.classes.methods()


def _constructors(functions: list[cst.FunctionDef], effects: Effects) -> list[cst.FunctionDef]:
    """Return the methods that run when these functions make objects, and when these methods do."""
    constructors: dict[cst.FunctionDef, None] = {}
    stack = list(functions)
    while stack:
        new = [
            callee
            for callee in effects.callees(stack.pop())
            if _is_special(callee) and callee not in constructors
        ]
        constructors.update(dict.fromkeys(new))
        stack += new
    return list(constructors)


def is_taken(function: cst.FunctionDef, facts: Facts) -> bool:
    """Return whether a function is already jitted, or another compiler reads it."""
    return function in facts.compiler_nodes or any(
        (name or "").startswith("np2tf.") for name in decorators(function)
    )


def _is_translated(function: cst.FunctionDef, facts: Facts) -> bool:
    """Return whether a function was translated before, and not staged then: it names np2tf's arrays, and no
    name of NumPy that would be translated.
    """
    tnp_name = facts.imports.tnp_name
    if tnp_name is None:
        return False
    names = {node for node in walk(function) if type(node) is cst.Name}
    if not any(node.value == tnp_name for node in names):
        return False
    return all(stays(facts, use) for use in uses(facts) if use.name in names)


def _out_of_reach(function: cst.FunctionDef, effects: Effects) -> Unfit | None:
    """Return why a function cannot be decorated with `@np2tf.jit`, whatever its body does."""
    if effects.classes.is_accessor(function):
        return Unfit("NP2TF401", function, {"reason": "sets or deletes a property"}, False)
    for item in function.decorators:
        if not _takes_any_callable(item.decorator, effects.facts):
            name = effects.facts.code(item.decorator)
            reason = f"is decorated with `{name}`, which may need a plain function"
            return Unfit("NP2TF401", item, {"reason": reason}, False)
    kind = effects.classes.class_of(function)
    if kind is None or "staticmethod" in decorators(function) or effects.classes.is_simple(kind):
        return None
    reason = "is a method of a class whose objects are more than plain attributes"
    return Unfit("NP2TF401", function, {"reason": reason}, False)


def _takes_any_callable(decorator: cst.BaseExpression, facts: Facts) -> bool:
    """Return whether a decorator accepts any callable: it is known, or belongs to the program."""
    node = decorator.func if type(decorator) is cst.Call else decorator
    if dotted_name(node) in _DECORATORS:
        return True
    bindings = facts.scopes.top_bindings(root_of(node))
    for binding in bindings:
        around = facts.parents[binding]
        if type(around) is cst.ImportFrom:
            top = (dotted_name(around.module) or "").partition(".")[0]
            if not around.relative and top not in facts.folders:
                return False
        elif type(binding) not in (cst.FunctionDef, cst.ClassDef):
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
        decision = decide(function, facts, recursion.counters(function), unknown, methods)
        decision.callees += effects.handed_on(function)
        decision.contexts = effects.contexts(function)
        return decision
    except CannotLower as error:
        inside = set(walk(function))
        return Unfit(error.code, error.node if error.node in inside else function, error.words)


def _spread(
    decisions: dict[cst.FunctionDef, Decision],
    earlier_decisions: dict[cst.FunctionDef, Decision],
    unfit: dict[cst.FunctionDef, Unfit],
    effects: Effects,
) -> None:
    """Remove the functions from `decisions` that call an unfit function, unless a trace may not reach the
    call. `earlier_decisions` has the decisions about other functions, which do not change.
    """
    calls = {function: dict(effects.callees(function)) for function in decisions}
    changed = True
    while changed:
        changed = False
        for function in list(decisions):
            bad = next(
                (
                    callee
                    for callee in calls[function]
                    if callee not in decisions and callee not in earlier_decisions
                ),
                None,
            )
            if bad is None:
                continue
            changed = True
            places = effects.calls_of(bad, function)
            if all(type(place) is cst.Call and effects.is_under_a_test(place, function) for place in places):
                decisions[function].callees += [place.func for place in places if type(place) is cst.Call]
                del calls[function][bad]
            else:
                words = {"reason": _reason_of_callee(bad, unfit, effects)}
                unfit[function] = Unfit("NP2TF401", calls[function][bad], words, False)
                del decisions[function]


def _reason_of_callee(callee: cst.FunctionDef, unfit: dict[cst.FunctionDef, Unfit], effects: Effects) -> str:
    """Return the words of NP2TF401 for a function that calls a function that cannot be staged."""
    kind = effects.classes.class_of(callee)
    name = callee.name.value if kind is None else f"{kind.name.value}.{callee.name.value}"
    reason = unfit[callee].reason if callee in unfit else ""
    return by_callee(name, f"line {effects.facts.position(callee)[0]}", reason).removeprefix("it ")


def _with_callees(
    worth: set[cst.FunctionDef], decisions: dict[cst.FunctionDef, Decision], effects: Effects
) -> set[cst.FunctionDef]:
    """Return the functions worth staging, and their callees that have something to lower."""
    functions = set(worth)
    stack = list(worth)
    visits = set(worth)
    while stack:
        for callee in effects.callees(stack.pop()):
            if callee not in visits:
                visits.add(callee)
                decision = decisions.get(callee)
                if decision is None:
                    continue
                stack.append(callee)
                if decision.lowers_text:
                    functions.add(callee)
    return functions
