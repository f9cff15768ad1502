"""The attributes that each method assigns on its instance: `self.x = …`."""

from __future__ import annotations

import libcst as cst

from np2tf.facts.module.parents import Parents
from np2tf.facts.module.scopes import Scopes

_AROUND_TARGETS = (cst.Element, cst.StarredElement, cst.Tuple, cst.List)


class Instances:
    """The attributes set by each method."""

    def __init__(self, attributes: list[cst.Attribute], scopes: Scopes, parents: Parents) -> None:
        self._by_method: dict[cst.CSTNode, set[str]] = {}
        for node in attributes:
            method = scopes.of(node).node
            if type(method) is not cst.FunctionDef or not _is_assigned(node, parents):
                continue
            if _is_first_parameter(node.value, method):
                self._by_method.setdefault(method, set()).add(node.attr.value)

    def assigned_by(self, method: cst.FunctionDef) -> set[str]:
        """Return the attribute names that a method assigns plainly, as in `self.name = …`."""
        return self._by_method.get(method, set())


def _is_first_parameter(node: cst.CSTNode, method: cst.FunctionDef) -> bool:
    parameters = [*method.params.posonly_params, *method.params.params]
    return bool(parameters) and type(node) is cst.Name and node.value == parameters[0].name.value


def _is_assigned(node: cst.CSTNode, parents: Parents) -> bool:
    up = parents[node]
    while isinstance(up, _AROUND_TARGETS):
        node, up = up, parents[up]
    return type(up) is cst.AssignTarget or (type(up) is cst.AnnAssign and up.target is node)
