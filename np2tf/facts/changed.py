"""Variables of a module that some code of the file changes after binding them."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from np2tf.facts import Facts


def changed_globals(facts: Facts) -> Iterator[str]:
    """The names of the module that are augmented, declared global in a function, or stored into."""
    module = facts.scopes.module
    for name, bindings in module.bindings.items():
        if any(isinstance(facts.parents[binding], cst.AugAssign) for binding in bindings):
            yield name
    for scope in module.within():
        yield from scope.globals
    for kind in (cst.Subscript, cst.Attribute):
        for node in facts.nodes(kind):
            up = facts.parents[node]
            root = root_of(node)
            stored = isinstance(up, (cst.AssignTarget, cst.AugAssign)) and up.target is node
            if stored and isinstance(root, cst.Name):
                owner = facts.scopes.of(root).owner_of(root.value)
                if owner is module:
                    yield root.value


def root_of(node: cst.CSTNode) -> cst.CSTNode:
    """What a chain of attributes and subscripts starts from."""
    while isinstance(node, (cst.Attribute, cst.Subscript)):
        node = node.value
    return node
