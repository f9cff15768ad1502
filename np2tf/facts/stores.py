"""A function's stores into arrays, containers and objects, and which of them have effects that staging cannot
see.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from np2tf.facts import Facts
from np2tf.facts.classes import Classes
from np2tf.facts.dataflow.reads_writes import VIEWS, parameters
from np2tf.tree.names import root_of

Assignment = cst.Assign | cst.AugAssign | cst.AnnAssign | cst.For
#: Attributes that lead from an object to state that it shares with other objects.
_SHARED_ATTRIBUTES = frozenset({"__class__", "__dict__", "__globals__", "__code__", "__defaults__"})
#: Attributes that set the layout if the object is an array.
_LAYOUT = frozenset({"shape", "dtype", "strides"})
_DEFINITIONS = (cst.FunctionDef, cst.ClassDef, cst.ImportAlias)


def store_problems(
    node: Assignment, function: cst.FunctionDef, facts: Facts, classes: Classes
) -> Iterator[tuple[cst.CSTNode, str]]:
    """Yield the targets that an assignment in `function` may not store into while it is staged, each with a
    reason.
    """
    targets = [item.target for item in node.targets] if isinstance(node, cst.Assign) else [node.target]
    for part in [leaf for target in targets for leaf in _leaves(target)]:
        reason = None if isinstance(part, cst.Name) else _reason(part, function, facts, classes)
        if reason is not None:
            yield part, reason


def is_own(name: cst.Name, function: cst.FunctionDef, facts: Facts) -> bool:
    """Return whether a name belongs to the function or to a scope inside it."""
    owner = facts.scopes.of(name).owner_of(name.value)
    inside = facts.scopes.inside(function)
    return owner is not None and any(scope is owner for scope in inside.within())


def _reason(part: cst.CSTNode, function: cst.FunctionDef, facts: Facts, classes: Classes) -> str | None:
    attributes = [link.attr.value for link in _chain(part) if type(link) is cst.Attribute]
    attribute = next((name for name in attributes if name in _SHARED_ATTRIBUTES), None)
    if attribute is not None:
        return f"writes through `{attribute}`"
    root = root_of(part)
    if classes.is_self(root):
        return None
    of_object = any(name not in VIEWS for name in attributes)
    if type(root) is not cst.Name or not is_own(root, function, facts) or _is_defined(root, facts):
        return _elsewhere(root, of_object, facts)
    if type(part) is cst.Attribute and part.attr.value in _LAYOUT:
        return f"writes an attribute that may be an array's `{part.attr.value}`"
    by_text = type(part) is cst.Subscript and not of_object and _string_key(part)
    return (
        "writes into a dict that it was given"
        if by_text and root.value in parameters(function.params)
        else None
    )


def _elsewhere(root: cst.CSTNode, of_object: bool, facts: Facts) -> str:
    if not of_object:
        return "writes into something that is not its own"
    if type(root) is cst.Name:
        return f"writes an attribute of `{root.value}`, which it was not given and has not made"
    return f"writes an attribute of what `{facts.code(root)}` gives"


def _is_defined(root: cst.Name, facts: Facts) -> bool:
    """Return whether a name refers to a function, a class or an import."""
    owner = facts.scopes.of(root).owner_of(root.value)
    return owner is not None and any(
        isinstance(binding, _DEFINITIONS) for binding in owner.bindings[root.value]
    )


def _chain(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    while isinstance(node, (cst.Attribute, cst.Subscript)):
        yield node
        node = node.value


def _leaves(target: cst.CSTNode) -> list[cst.CSTNode]:
    if isinstance(target, (cst.Tuple, cst.List)):
        return [leaf for element in target.elements for leaf in _leaves(element.value)]
    return [target]


def _string_key(node: cst.Subscript) -> bool:
    index = node.slice[0].slice
    return type(index) is cst.Index and type(index.value) is cst.SimpleString


#: Nodes that go through a generator expression inside them at once.
_GO_THROUGH = (cst.Arg, cst.For, cst.CompFor)


def goes_through(parent: cst.CSTNode | None) -> bool:
    """Return whether the node around a generator expression goes through all of it at once."""
    if type(parent) is cst.Assign:  # x, y = (…)
        return all(isinstance(target.target, (cst.Tuple, cst.List)) for target in parent.targets)
    return isinstance(parent, _GO_THROUGH)
