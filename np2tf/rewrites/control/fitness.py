"""Which functions of a module are staged, and what is lowered in each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

import libcst as cst

from np2tf import rules
from np2tf.diagnostics import Report
from np2tf.facts import Facts, Kind
from np2tf.facts.classes import decorators
from np2tf.facts.draws import looks_like_a_draw
from np2tf.facts.effects import Effects
from np2tf.facts.flow import parameters
from np2tf.facts.recursion import Recursion
from np2tf.facts.texts import is_call
from np2tf.options import Options
from np2tf.rewrites.control.decide import Decision, decide
from np2tf.rewrites.control.marks import CannotLower
from np2tf.tree.names import dotted, root_of, words
from np2tf.tree.walk import children, walk

_ENOUGH = 3
#: Decorators that are content with what is called like a function.
_DECORATORS = words(
    """
    staticmethod classmethod property abstractmethod abc.abstractmethod
    functools.lru_cache lru_cache functools.cache cache functools.wraps wraps
    """
)
_NUMERIC = (
    *(cst.Multiply, cst.Divide, cst.Power, cst.MatrixMultiply, cst.Subtract),
    *(cst.BitXor, cst.BitAnd, cst.LeftShift, cst.RightShift),
)
_LITERALS = (cst.BaseString, cst.List, cst.Tuple, cst.Integer)
_COMPUTES = (cst.BinaryOperation, cst.AugAssign, cst.Subscript, cst.Comparison, cst.Call)
_CACHE: WeakKeyDictionary[Facts, dict[Options, Fitness]] = WeakKeyDictionary()


@dataclass(frozen=True)
class Unfit:
    """Why a function is not staged: a diagnostic's code, its place and its words."""

    code: str
    node: cst.CSTNode
    words: dict[str, str]


@dataclass
class Fitness:
    """The staged functions of a module with their decisions, and why others are not."""

    staged: dict[cst.FunctionDef, Decision] = field(default_factory=dict)
    unfit: dict[cst.FunctionDef, Unfit] = field(default_factory=dict)
    """Those that would be worth it."""
    fit: dict[cst.FunctionDef, Decision] = field(default_factory=dict)
    """All that can be staged, by themselves or where something staged calls them."""
    every_unfit: dict[cst.FunctionDef, Unfit] = field(default_factory=dict)
    """All that cannot, whether or not it would be worth it."""

    @classmethod
    def of(cls, facts: Facts, options: Options) -> Fitness:
        """Computed once per module."""
        known = _CACHE.setdefault(facts, {})
        if options not in known:
            known[options] = _judge(facts, options)
        return known[options]

    def report(self, facts: Facts, report: Report) -> None:
        """Say why the functions that would be worth staging are not, and which loops are none any more."""
        for function, decision in self.staged.items():
            for loop in decision.independent:
                report.add("NP2TF310", *facts.position(loop), name=function.name.value)
        for function, unfit in self.unfit.items():
            line, column = facts.position(unfit.node)
            report.add(unfit.code, line, column, name=function.name.value, **unfit.words)


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
        if isinstance(verdict, Decision) and verdict.lowers_anything and not every:
            if _is_property(function):
                verdict = Unfit("NP2TF401", function, {"reason": "is a property with control flow"})
            elif _is_special(function):
                verdict = Unfit("NP2TF401", function, {"reason": "is a constructor with control flow"})
        if isinstance(verdict, Unfit):
            unfit[function] = verdict
        else:
            decisions[function] = verdict
    _spread(decisions, unfit, effects)
    worth = {
        function
        for function in candidates
        if every
        or (
            parameters(function.params)
            and not _is_property(function)
            and not _is_special(function)
            and _is_worth(function, facts, effects)
        )
    }
    staged = _with_callees({function for function in decisions if function in worth}, decisions, effects)
    told = {function: why for function, why in unfit.items() if function in worth}
    chosen = {function: decisions[function] for function in candidates if function in staged}
    return Fitness(chosen, told, decisions, unfit)


def _functions(facts: Facts, effects: Effects) -> Iterator[cst.FunctionDef]:
    """The functions at the top of the module, and those in the classes there."""
    for statement in facts.module.body:
        if isinstance(statement, cst.FunctionDef):
            yield statement
    yield from effects.classes.methods()


def _constructors(functions: list[cst.FunctionDef], effects: Effects) -> list[cst.FunctionDef]:
    """The methods that run where these functions make objects, and where those methods make others."""
    found: dict[cst.FunctionDef, None] = {}
    pending = list(functions)
    while pending:
        new = [one for one in effects.callees(pending.pop()) if _is_special(one) and one not in found]
        found.update(dict.fromkeys(new))
        pending += new
    return list(found)


def is_taken(function: cst.FunctionDef, facts: Facts) -> bool:
    """Whether a function has been jitted already, or another compiler reads it."""
    return function in facts.foreign or any(
        (name or "").startswith("np2tf.") for name in decorators(function)
    )


def _out_of_reach(function: cst.FunctionDef, effects: Effects) -> Unfit | None:
    """Why `@np2tf.jit` cannot stand at a function, whatever it does."""
    for item in function.decorators:
        if not _takes_any_callable(item.decorator, effects.facts):
            name = effects.facts.code(item.decorator)
            return Unfit(
                "NP2TF401", item, {"reason": f"is decorated with `{name}`, which may want a function"}
            )
    kind = effects.classes.class_of(function)
    if kind is None or "staticmethod" in decorators(function) or effects.classes.is_simple(kind):
        return None
    return Unfit(
        "NP2TF401", function, {"reason": "is a method of a class whose objects are more than attributes"}
    )


def _takes_any_callable(decorator: cst.BaseExpression, facts: Facts) -> bool:
    """Whether a decorator may be given what is called like a function: one of the program's own, or known."""
    node = decorator.func if isinstance(decorator, cst.Call) else decorator
    if dotted(node) in _DECORATORS:
        return True
    bindings = facts.scopes.top_bindings(root_of(node))
    for binding in bindings:
        around = facts.parents[binding]
        if isinstance(around, cst.ImportFrom):
            top = (dotted(around.module) or "").partition(".")[0]
            if not around.relative and top not in facts.folders:
                return False
        elif not isinstance(binding, (cst.FunctionDef, cst.ClassDef)):
            return False
    return bool(bindings)


def _is_special(function: cst.FunctionDef) -> bool:
    """Whether Python calls a method at times of its own."""
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
        made = decide(function, facts, recursion.counters(function), effects.unknown_calls(function))
        made.callees += effects.handed_on(function)
        return made
    except CannotLower as error:
        inside = set(walk(function))
        return Unfit(error.code, error.node if error.node in inside else function, error.words)


def _spread(
    decisions: dict[cst.FunctionDef, Decision], unfit: dict[cst.FunctionDef, Unfit], effects: Effects
) -> None:
    """A function is no fitter than what it calls."""
    calls = {function: effects.callees(function) for function in decisions}
    changed = True
    while changed:
        changed = False
        for function in list(decisions):
            bad = next((callee for callee in calls[function] if callee not in decisions), None)
            if bad is not None:
                words = {"reason": f"calls `{bad.name.value}`, which cannot be staged"}
                unfit[function] = Unfit("NP2TF401", calls[function][bad], words)
                del decisions[function]
                changed = True


def _with_callees(
    worth: set[cst.FunctionDef], decisions: dict[cst.FunctionDef, Decision], effects: Effects
) -> set[cst.FunctionDef]:
    """What is worth staging, and what it calls that has something to lower."""
    staged = set(worth)
    stack = list(worth)
    seen = set(worth)
    while stack:
        for callee in effects.callees(stack.pop()):
            if callee not in seen:
                seen.add(callee)
                stack.append(callee)
                decision = decisions[callee]
                if decision.lowers_anything:
                    staged.add(callee)
    return staged


def shows_arrays(function: cst.FunctionDef, facts: Facts, effects: Effects) -> bool:
    """Whether a function visibly is about arrays."""
    return any(_shows_arrays(node, facts) or effects.classes.holds_array(node) for node in walk(function))


def loops_over_arrays(function: cst.FunctionDef, facts: Facts, effects: Effects) -> bool:
    """Whether a function has a loop that computes with what may be arrays."""
    nodes = list(walk(function))
    if not shows_arrays(function, facts, effects):
        return any(map(_calculates, nodes))
    bodies = (_repeated(node) for node in nodes)
    return any(
        any(isinstance(node, _COMPUTES) for node in _unprinted(body, facts)) for body in bodies if body
    )


def _is_worth(function: cst.FunctionDef, facts: Facts, effects: Effects) -> bool:
    """A loop or a recursion that computes, or a few array operations; and what visibly is an array.

    A loop that calculates may be over the caller's arrays, which nothing in the text has to show.
    """
    if loops_over_arrays(function, facts, effects):
        return True
    if not shows_arrays(function, facts, effects):
        return False
    if not _takes_arrays(function, facts):
        return False
    if Recursion(effects).calls(function):
        return True
    nodes = list(walk(function))
    operations = sum(_is_array_work(node, facts) for node in nodes)
    return operations >= _ENOUGH and any(_is_numpy_call(node, facts) for node in nodes)


def _calculates(loop: cst.CSTNode) -> bool:
    """Whether a loop does with what it finds what is done with numbers and arrays, and not with texts."""
    if not isinstance(loop, (cst.For, cst.While)):
        return False
    for node in walk(loop.body):
        if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, _NUMERIC):
            if not any(isinstance(side, _LITERALS) for side in (node.left, node.right)):
                return True
            if isinstance(node.operator, (cst.Divide, cst.Power, cst.Multiply)) and not any(
                isinstance(side, (cst.BaseString, cst.List, cst.Tuple)) for side in (node.left, node.right)
            ):
                return True
        if isinstance(node, cst.AugAssign) and isinstance(
            node.operator, (cst.MultiplyAssign, cst.DivideAssign)
        ):
            return True
    return False


def _unprinted(node: cst.CSTNode, facts: Facts) -> Iterator[cst.CSTNode]:
    """`node` and what is below it, without what is only printed."""
    if not is_call(facts, node, ("print",)):
        yield node
        for child in children(node):
            yield from _unprinted(child, facts)


def _repeated(node: cst.CSTNode) -> cst.CSTNode | None:
    """What a loop or a comprehension does again and again."""
    if isinstance(node, (cst.ListComp, cst.GeneratorExp)):
        return node.elt
    return node.body if isinstance(node, (cst.For, cst.While)) else None


def _shows_arrays(node: cst.CSTNode, facts: Facts) -> bool:
    """Whether a node can only be about arrays."""
    if isinstance(node, cst.Subscript):
        return len(node.slice) > 1 and not isinstance(facts.parents[node], cst.Annotation)
    if isinstance(node, cst.Attribute):
        return node.attr.value in ("T", "shape", "ndim", "dtype")
    if isinstance(node, cst.BinaryOperation):
        return isinstance(node.operator, cst.MatrixMultiply) or _calculates_with_slices(node)
    return looks_like_a_draw(node) or _is_numpy_call(node, facts)


def _calculates_with_slices(node: cst.BinaryOperation) -> bool:
    """Whether slices are subtracted, divided or scaled, which lists and texts cannot be."""
    if isinstance(node.operator, (cst.Subtract, cst.Divide, cst.Power)):
        return _is_sliced(node.left) or _is_sliced(node.right)
    if not isinstance(node.operator, cst.Multiply):
        return False
    one, other = (node.left, node.right) if _is_sliced(node.left) else (node.right, node.left)
    return _is_sliced(one) and (isinstance(other, cst.Float) or _is_sliced(other))


def _is_sliced(node: cst.CSTNode) -> bool:
    """Whether an expression is a slice, or a sum of slices."""
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add):
        return _is_sliced(node.left) or _is_sliced(node.right)
    return isinstance(node, cst.Subscript) and any(isinstance(one.slice, cst.Slice) for one in node.slice)


def _is_numpy_call(node: cst.CSTNode, facts: Facts) -> bool:
    if not isinstance(node, cst.Call):
        return False
    qualified = facts.imports.qualified(node.func)
    rule = rules.find(qualified) if qualified is not None else None
    return rule is not None and (rule.kind == "native" or rule.random)


def _is_array_work(node: cst.CSTNode, facts: Facts) -> bool:
    if isinstance(node, cst.BinaryOperation):
        return isinstance(node.operator, cst.MatrixMultiply) or facts.kinds.kind(node) is Kind.ARRAY
    if isinstance(node, cst.Subscript):
        sliced = any(isinstance(element.slice, cst.Slice) for element in node.slice) or len(node.slice) > 1
        return sliced or facts.kinds.kind(node.value) is Kind.ARRAY
    return _is_numpy_call(node, facts) and facts.kinds.kind(node) is not Kind.STATIC


def _takes_arrays(function: cst.FunctionDef, facts: Facts) -> bool:
    """Whether a parameter visibly is an array, and not only a size or a number that arrays are made with."""
    names = set(parameters(function.params))
    for node in walk(function):
        if not isinstance(node, cst.Name) or node.value not in names:
            continue
        up = facts.parents[node]
        if isinstance(up, (cst.Subscript, cst.Attribute)) and up.value is node:
            return True
        if isinstance(up, cst.BinaryOperation) and isinstance(up.operator, cst.MatrixMultiply):
            return True
        call = facts.parents[up] if isinstance(up, cst.Arg) else None
        if isinstance(call, cst.Call) and up is call.args[0]:
            qualified = facts.imports.qualified(call.func) or ""
            rule = rules.find(qualified)
            if rule is not None and (rule.chapter != "creation" or qualified.endswith(("_like", "array"))):
                return True
    return False
