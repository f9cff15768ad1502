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
from np2tf.facts.flow import block, parameters
from np2tf.facts.recursion import Recursion
from np2tf.facts.texts import is_call
from np2tf.rewrites.control.decide import Decision, decide
from np2tf.rewrites.control.marks import CannotLower
from np2tf.tree.walk import children, walk

_ENOUGH = 3
_COMPUTES = (cst.BinaryOperation, cst.AugAssign, cst.Subscript, cst.Comparison, cst.Call)
_CACHE: WeakKeyDictionary[Facts, Fitness] = WeakKeyDictionary()


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

    @classmethod
    def of(cls, facts: Facts) -> Fitness:
        """Computed once per module."""
        if facts not in _CACHE:
            _CACHE[facts] = _judge(facts)
        return _CACHE[facts]

    def report(self, facts: Facts, report: Report) -> None:
        """Say why the functions that would be worth staging are not, and which loops are none any more."""
        for function, decision in self.staged.items():
            for loop in decision.independent:
                report.add("NP2TF310", *facts.position(loop), name=function.name.value)
        for function, unfit in self.unfit.items():
            line, column = facts.position(unfit.node)
            report.add(unfit.code, line, column, name=function.name.value, **unfit.words)


def _judge(facts: Facts) -> Fitness:
    effects = Effects(facts)
    candidates = [function for function in _functions(facts, effects) if not _decorated(function)]
    candidates += _constructors(candidates, effects)
    decisions: dict[cst.FunctionDef, Decision] = {}
    unfit: dict[cst.FunctionDef, Unfit] = {}
    for function in candidates:
        verdict = _alone(function, facts, effects)
        if isinstance(verdict, Decision) and _is_property(function) and verdict.lowers_anything:
            verdict = Unfit("NP2TF401", function, {"reason": "is a property with control flow"})
        if isinstance(verdict, Decision) and _is_special(function) and verdict.lowers_anything:
            verdict = Unfit("NP2TF401", function, {"reason": "is a constructor with control flow"})
        if isinstance(verdict, Unfit):
            unfit[function] = verdict
        else:
            decisions[function] = verdict
    _spread(decisions, unfit, effects)
    worth = {
        function
        for function in candidates
        if parameters(function.params)
        and not _is_property(function)
        and not _is_special(function)
        and _is_worth(function, facts, effects)
    }
    staged = _with_callees({function for function in decisions if function in worth}, decisions, effects)
    told = {function: why for function, why in unfit.items() if function in worth}
    return Fitness({function: decisions[function] for function in candidates if function in staged}, told)


def _functions(facts: Facts, effects: Effects) -> Iterator[cst.FunctionDef]:
    """The functions at the top of the module, and the methods of its classes."""
    for statement in facts.module.body:
        if isinstance(statement, cst.FunctionDef):
            yield statement
        elif isinstance(statement, cst.ClassDef):
            for member in block(statement.body):
                if isinstance(member, cst.FunctionDef) and decorators(member) == ["staticmethod"]:
                    yield member
    for member in effects.classes.methods():
        if decorators(member) != ["staticmethod"] and not _is_special(member):
            yield member


def _constructors(functions: list[cst.FunctionDef], effects: Effects) -> list[cst.FunctionDef]:
    """The methods that run where these functions make objects, and where those methods make others."""
    found: dict[cst.FunctionDef, None] = {}
    pending = list(functions)
    while pending:
        new = [one for one in effects.callees(pending.pop()) if _is_special(one) and one not in found]
        found.update(dict.fromkeys(new))
        pending += new
    return [function for function in found if not _decorated(function)]


def _is_special(function: cst.FunctionDef) -> bool:
    """Whether Python calls a method at times of its own."""
    name = function.name.value
    return name.startswith("__") and name.endswith("__") and name != "__call__"


def _decorated(function: cst.FunctionDef) -> bool:
    return decorators(function) not in ([], ["staticmethod"], ["property"])


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
        return decide(function, facts, recursion.counters(function))
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


def _is_worth(function: cst.FunctionDef, facts: Facts, effects: Effects) -> bool:
    """A loop or a recursion that computes, or a few array operations; and what visibly is an array."""
    nodes = list(walk(function))
    if not any(_shows_arrays(node, facts) or effects.classes.holds_array(node) for node in nodes):
        return False
    for body in (_repeated(node) for node in nodes):
        if body is not None and any(isinstance(node, _COMPUTES) for node in _unprinted(body, facts)):
            return True
    if not _takes_arrays(function, facts):
        return False
    if Recursion(effects).calls(function):
        return True
    operations = sum(_is_array_work(node, facts) for node in nodes)
    return operations >= _ENOUGH and any(_is_numpy_call(node, facts) for node in nodes)


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
