"""Turns in-place writes into rebindings: `x[i] = v`, `x[i] += v`, `np.copyto(x, v)`, `x.sort()`."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from np2tf.core import rules
from np2tf.core.diagnostics import Report
from np2tf.core.rules import Rule
from np2tf.translator.facts.facts import Facts
from np2tf.translator.facts.kinds import Kind
from np2tf.translator.facts.scopes import Scope
from np2tf.translator.rewrites.evaluation_order import Effect, effect, may_swap
from np2tf.translator.rewrites.plan import Plan
from np2tf.translator.rewrites.uses import stays, uses
from np2tf.translator.sources.options import Options
from np2tf.translator.tree.nodes import first_parameter, name_node, walk
from np2tf.translator.tree.templates import expression, parenthesize, small_statement

# -- rebinding -----------------------------------------------------------------------------------------------
# Decides which names and attributes a statement may rebind.

_NOT_VALUES = (cst.ImportAlias, cst.FunctionDef, cst.ClassDef)
_OPENS_SLOTS = frozenset({"__setattr__", "__slots__", "__getattribute__", "__getattr__"})


def can_rebind(facts: Facts, target: cst.BaseExpression) -> bool:
    """Return whether `target = …` may replace a write into the object that `target` refers to."""
    if facts.kinds.kind(target) in (Kind.CONTAINER, Kind.STATIC, Kind.NUMBER):
        return False
    if type(target) is cst.Name:
        return _name(facts, target)
    if type(target) is cst.Attribute and type(target.value) is cst.Name:
        return _attribute(facts, target.value, target.attr.value)
    return False


def _name(facts: Facts, node: cst.Name) -> bool:
    """Return whether a name belongs to the scope of the statement, or is declared global or nonlocal there.

    A name of an import, function or class cannot be rebound.
    """
    scope = facts.scopes.of(node)
    name = node.value
    declared = name in scope.globals or name in scope.nonlocals
    if not declared and name not in scope.bindings:
        return False
    owner = scope.owner_of(name)
    bindings = owner.bindings.get(name, []) if owner is not None else []
    return bool(bindings) and not any(isinstance(binding, _NOT_VALUES) for binding in bindings)


def _attribute(facts: Facts, owner: cst.Name, attribute: str) -> bool:
    """Return whether the class visibly sets `self.x` on its instances and gives the name no other meaning."""
    function = facts.scopes.of(owner)
    if type(function.node) is not cst.FunctionDef or function.parent is None:
        return False
    if first_parameter(function.node) != owner.value or len(function.bindings[owner.value]) > 1:
        return False
    if not function.parent.is_class or (function.node.decorators and _unbound(function.node)):
        return False
    return _sets(facts, function.parent, attribute) and not _special(facts, function.parent, attribute)


def _unbound(function: cst.FunctionDef) -> bool:
    """Return whether a method is static or a class method, whose first parameter is no instance."""
    return any(
        type(decorator.decorator) is cst.Name and decorator.decorator.value in ("staticmethod", "classmethod")
        for decorator in function.decorators
    )


def _sets(facts: Facts, scope: Scope, attribute: str) -> bool:
    """Return whether a method of the class assigns `self.<attribute> = …`."""
    methods = [child.node for child in scope.children if type(child.node) is cst.FunctionDef]
    return any(attribute in facts.instances.assigned_by(method) for method in methods)


def _special(facts: Facts, scope: Scope, attribute: str, depth: int = 0) -> bool:
    """Return whether a class or its base in this file has such a property, slot or class attribute."""
    if attribute in scope.bindings or _OPENS_SLOTS & set(scope.bindings) or depth > 20:
        return True
    assert type(scope.node) is cst.ClassDef
    for base in scope.node.bases:
        if type(base.value) is cst.Name:
            owner = facts.scopes.owner(base.value)
            bindings = owner.bindings[base.value.value] if owner is not None else []
            for binding in bindings:
                inside = facts.scopes.inside(binding) if type(binding) is cst.ClassDef else None
                if (
                    inside is not None
                    and inside is not scope
                    and _special(facts, inside, attribute, depth + 1)
                ):
                    return True
    return False


def stays_in_place(facts: Facts, plan: Plan, statement: cst.CSTNode, array: cst.BaseExpression) -> bool:
    """Return whether a write stays as it is where the translation takes the place of the source: it is in no
    staged function, or nothing in there reads the array's name after it.
    """
    if plan.staged_functions is None:
        return False
    around: list[cst.CSTNode] = []
    for up in facts.parents.above(statement):
        around.append(up)
        if up in plan.staged_functions:
            break
    else:
        return True
    function = around.pop()
    if type(array) is not cst.Name or any(isinstance(up, _REPEATED) for up in around):
        return False
    return not _is_read_later(array.value, statement, function)


#: What may run a statement again, or later.
_REPEATED = (cst.For, cst.While, cst.FunctionDef, cst.Lambda, cst.Try)


def _is_read_later(name: str, statement: cst.CSTNode, function: cst.CSTNode) -> bool:
    """Return whether a function may read a name after a statement that runs once."""
    inside = set(walk(statement))
    is_behind = False
    for node in walk(function):
        is_behind |= node is statement
        is_inner = isinstance(node, (cst.FunctionDef, cst.Lambda)) and node is not function
        if is_inner and any(type(part) is cst.Name and part.value == name for part in walk(node)):
            return True
        if is_behind and node not in inside and type(node) is cst.Name and node.value == name:
            return True
    return False


# -- place ---------------------------------------------------------------------------------------------------
# The places that a rewrite can write to: `x[i]` and `self.x[i]`.

_STRINGS = (cst.SimpleString, cst.FormattedString, cst.ConcatenatedString)


def is_place(facts: Facts, node: cst.CSTNode) -> bool:
    """Return whether a target is a subscript whose base may be rebound."""
    return type(node) is cst.Subscript and not _by_string(node) and can_rebind(facts, node.value)


def _by_string(node: cst.Subscript) -> bool:
    """Return whether a subscript has a string key, `d["key"]`: its base is a dict, a table or a record."""
    keys = [element.slice.value for element in node.slice if type(element.slice) is cst.Index]
    return any(isinstance(key, _STRINGS) for key in keys)


def read_by(node: cst.Subscript) -> list[cst.CSTNode]:
    """Return the expressions that find the place: the base, if it is more than a name, and the indices."""
    base: list[cst.CSTNode] = [] if type(node.value) is cst.Name else [node.value]
    return [*base, *node.slice]


def at(place: cst.Subscript, tnp: str) -> cst.BaseExpression:
    """Return `tnp.at(x)[i]` for `x[i]`."""
    base = expression("{tnp}.at({x})", tnp=name_node(tnp), x=place.value)
    return place.with_changes(value=base, lpar=(), rpar=())


def write(place: cst.BaseExpression, method: str, value: cst.BaseExpression) -> cst.Call:
    """Return `tnp.at(x)[i].set(value)` for `tnp.at(x)[i]`.

    The call's own parentheses replace the parentheses around a value that went over several lines, and keep
    the line breaks and comments inside them. Bare tuples get parentheses.
    """
    method_node = cst.Attribute(place, cst.Name(method))
    kept = type(value) in (cst.Tuple, cst.Yield, cst.GeneratorExp, cst.NamedExpr)
    if kept or not value.lpar:
        return cst.Call(method_node, [cst.Arg(parenthesize(value) if kept else value)])
    before, behind = value.lpar[0].whitespace_after, value.rpar[-1].whitespace_before
    arg = cst.Arg(value.with_changes(lpar=value.lpar[1:], rpar=value.rpar[:-1]), whitespace_after_arg=behind)
    return cst.Call(method_node, [arg], whitespace_before_args=before)


# -- store ---------------------------------------------------------------------------------------------------
# Rewrites stores into elements: `x[i] = v` -> `x = tnp.at(x)[i].set(v)`.


def plan_stores(facts: Facts, plan: Plan, report: Report) -> None:
    """Plan every plain store through a subscript."""
    for assign in facts.nodes(cst.Assign):
        target = assign.targets[0].target
        if len(assign.targets) > 1 or not is_place(facts, target):
            continue
        assert type(target) is cst.Subscript
        if stays_in_place(facts, plan, assign, target.value):
            continue
        if not may_swap(facts, read_by(target), assign.value):
            report.add("NP2TF101", *facts.place(assign), code=facts.code(target))
            continue
        plan.require(tnp=True)

        def edit(updated_node: cst.Assign) -> cst.BaseSmallStatement:
            place = updated_node.targets[0].target
            assert type(place) is cst.Subscript
            call = write(at(place, plan.tnp_name), "set", updated_node.value)
            new = small_statement("{x} = {call}", x=place.value, call=call)
            return new.with_changes(semicolon=updated_node.semicolon)

        plan.add(assign, edit)


# -- augmented assignment ------------------------------------------------------------------------------------
# Rewrites `x[i] += v` -> `x = tnp.at(x)[i].add(v)`. `x += v` stays: the array's own operator writes in
# place.

METHODS: dict[type[cst.CSTNode], str] = {
    cst.AddAssign: "add",
    cst.SubtractAssign: "subtract",
    cst.MultiplyAssign: "multiply",
    cst.DivideAssign: "divide",
    cst.FloorDivideAssign: "floor_divide",
    cst.ModuloAssign: "remainder",
    cst.PowerAssign: "power",
    cst.MatrixMultiplyAssign: "matmul",
    cst.BitAndAssign: "bitwise_and",
    cst.BitOrAssign: "bitwise_or",
    cst.BitXorAssign: "bitwise_xor",
    cst.LeftShiftAssign: "left_shift",
    cst.RightShiftAssign: "right_shift",
}


def plan_augmented_stores(facts: Facts, plan: Plan, report: Report) -> None:
    """Plan every augmented store through a subscript."""
    for statement in facts.nodes(cst.AugAssign):
        if not is_place(facts, statement.target):
            continue
        assert type(statement.target) is cst.Subscript
        if stays_in_place(facts, plan, statement, statement.target.value):
            continue
        if effect(facts, statement.value) is Effect.CALLS:
            # Python reads x[i] before it computes the value; the call might change x[i] in between.
            continue
        plan.require(tnp=True)

        def edit(updated_node: cst.AugAssign) -> cst.BaseSmallStatement:
            place = updated_node.target
            assert type(place) is cst.Subscript
            call = write(at(place, plan.tnp_name), METHODS[type(updated_node.operator)], updated_node.value)
            new = small_statement("{x} = {call}", x=place.value, call=call)
            return new.with_changes(semicolon=updated_node.semicolon)

        plan.add(statement, edit)


# -- functions -----------------------------------------------------------------------------------------------
# Rewrites calls that write into an argument: `np.copyto(x, v)` -> `x = tnp.copyto(x, v)`; likewise
# `np.add.at` and `out=`.


def plan_writing_calls(facts: Facts, plan: Plan, report: Report) -> None:
    """Plan every call of a writing function that is a statement of its own."""
    for use in uses(facts):
        call = facts.parents[use.node]
        if use.rule is None or type(call) is not cst.Call or call.func is not use.node or stays(facts, use):
            continue
        array = written_argument(use.rule, call)
        if array is None:
            continue
        statement = facts.parents[call]
        if type(statement) is not cst.Expr:
            if use.rule.writes:
                report.add("NP2TF102", *facts.place(call), name=facts.code(use.node))
            continue
        # Where NumPy's function returns None and np2tf's the array, a notebook would show the array.
        if not use.rule.writes and stays_in_place(facts, plan, statement, array):
            continue
        if can_rebind(facts, array) and (use.rule.writes or not _may_be_none(facts, array)):
            plan.add(statement, _rebind(use.rule))


def written_argument(rule: Rule, call: cst.Call) -> cst.BaseExpression | None:
    """Return the argument of a call that the function writes to; None if there is none."""
    keyword = rule.writes[0] if rule.writes else "out"
    for arg in call.args:
        if arg.keyword is not None and arg.keyword.value == keyword:
            return arg.value
    if rule.writes and call.args and call.args[0].keyword is None and not call.args[0].star:
        return call.args[0].value
    return None


def _may_be_none(facts: Facts, array: cst.BaseExpression) -> bool:
    """Return whether a name may be None: with `out=None` NumPy writes to nothing, and it must stay None."""
    if type(array) is not cst.Name:
        return False
    owner = facts.scopes.owner(array)
    assert owner is not None  # a name that can be bound again
    values = [
        binding.default if type(binding) is cst.Param else facts.parents.given_value(binding)
        for binding in owner.bindings[array.value]
    ]
    return any(type(value) is cst.Name and value.value == "None" for value in values)


def _rebind(rule: Rule) -> Callable[[cst.Expr], cst.BaseSmallStatement]:
    def edit(updated_node: cst.Expr) -> cst.BaseSmallStatement:
        call = updated_node.value
        assert type(call) is cst.Call
        array = written_argument(rule, call)
        assert array is not None
        return small_statement("{x} = {call}", x=array, call=call).with_changes(
            semicolon=updated_node.semicolon
        )

    return edit


# -- methods -------------------------------------------------------------------------------------------------
# Rewrites in-place methods of an array, `x.sort()` -> `x = tnp.at(x).sort()`, if x visibly is an array.


def plan_writing_methods(facts: Facts, plan: Plan, report: Report, options: Options) -> None:
    """Plan every call of an in-place method that is a statement of its own."""
    for statement in facts.nodes(cst.Expr):
        call = statement.value
        if type(call) is not cst.Call or type(call.func) is not cst.Attribute:
            continue
        rule = rules.find(f"numpy.ndarray.{call.func.attr.value}")
        if rule is None or not rule.writes:
            continue
        array = call.func.value
        if stays_in_place(facts, plan, statement, array):
            continue
        if facts.kinds.is_array(array) and can_rebind(facts, array):
            plan.require(tnp=True)
            plan.add(statement, lambda updated_node: _rebound(updated_node, plan.tnp_name))


def _rebound(updated_node: cst.Expr, tnp: str) -> cst.BaseSmallStatement:
    call = updated_node.value
    assert type(call) is cst.Call
    assert type(call.func) is cst.Attribute
    array = call.func.value
    at = expression("{tnp}.at({x})", tnp=name_node(tnp), x=array)
    new = small_statement(
        "{x} = {call}", x=array, call=call.with_changes(func=call.func.with_changes(value=at))
    )
    return new.with_changes(semicolon=updated_node.semicolon)


# -- mutation ------------------------------------------------------------------------------------------------
# Turns in-place writes into rebindings, such as `x[i] = v` -> `x = tnp.at(x)[i].set(v)`.
#
# A write that cannot be turned into a rebinding safely stays as it is: np2tf's ndarray writes through, so
# the plain statement is right too.


def plan_writes(facts: Facts, plan: Plan, report: Report, options: Options) -> None:
    """Plan every kind of in-place write."""
    plan_stores(facts, plan, report)
    plan_augmented_stores(facts, plan, report)
    plan_writing_calls(facts, plan, report)
