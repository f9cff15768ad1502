"""Decides which names and attributes a statement may rebind."""

from __future__ import annotations

import libcst as cst

from np2tf.facts import Facts, Kind, Scope

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
    parameters = [*function.node.params.posonly_params, *function.node.params.params]
    if not parameters or parameters[0].name.value != owner.value or len(function.bindings[owner.value]) > 1:
        return False
    if not function.parent.is_class or (function.node.decorators and _unbound(function.node)):
        return False
    return _sets(facts, function.parent, attribute) and not _special(facts, function.parent, attribute)


def _unbound(function: cst.FunctionDef) -> bool:
    """Return whether a method is static or a class method, so that its first parameter is not the
    instance.
    """
    return any(
        type(decorator.decorator) is cst.Name and decorator.decorator.value in ("staticmethod", "classmethod")
        for decorator in function.decorators
    )


def _sets(facts: Facts, scope: Scope, attribute: str) -> bool:
    """Return whether a method of the class assigns `self.<attribute> = …`."""
    methods = [child.node for child in scope.children if type(child.node) is cst.FunctionDef]
    return any(attribute in facts.instances.assigned_by(method) for method in methods)


def _special(facts: Facts, scope: Scope, attribute: str, depth: int = 0) -> bool:
    """Return whether the class, or a base class in this file, has a property, slot or class attribute of this
    name.
    """
    if attribute in scope.bindings or _OPENS_SLOTS & set(scope.bindings) or depth > 20:
        return True
    assert type(scope.node) is cst.ClassDef
    for base in scope.node.bases:
        if type(base.value) is cst.Name:
            owner = facts.scopes.of(base.value).owner_of(base.value.value)
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
