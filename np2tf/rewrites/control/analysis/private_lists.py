"""Finds lists that only one name of a function refers to: a loop can carry such a list as a variable.

A staged list is a new object after every loop and branch. So no second name may refer to the list, no
container may hold it, and no inner function may read it.
"""

from __future__ import annotations

import libcst as cst

from np2tf.facts import Facts, Kind
from np2tf.facts.dataflow.reads_writes import free_names, parameters
from np2tf.tree.walk import walk

#: The methods that a list has while it grows in staged code.
STAGED_METHODS = frozenset({"append", "extend", "pop", "clear", "copy"})


class PrivateLists:
    """The private lists of one function, as a container of their names."""

    def __init__(self, function: cst.FunctionDef, facts: Facts) -> None:
        self._facts = facts
        self._uses: dict[str, list[cst.Name]] = {}
        self._inner: set[str] = set()
        for node in walk(function):
            if type(node) is cst.Name:
                self._uses.setdefault(node.value, []).append(node)
            elif (type(node) is cst.FunctionDef or type(node) is cst.Lambda) and node is not function:
                self._inner |= free_names(node)
        self._params = frozenset(parameters(function.params))
        self._judgements: dict[str, bool] = {}

    def __contains__(self, name: str) -> bool:
        if name not in self._judgements:
            self._judgements[name] = self._judge(name)
        return self._judgements[name]

    def _judge(self, name: str) -> bool:
        if name in self._params or name in self._inner or name not in self._uses:
            return False
        return all(self._is_harmless(use) for use in self._uses[name])

    def _is_harmless(self, use: cst.Name) -> bool:
        up = self._facts.parents[use]
        if type(up) is cst.AssignTarget:
            assign = self._facts.parents[up]
            return type(assign) is cst.Assign and len(assign.targets) == 1 and self._is_new(assign.value)
        if type(up) is cst.AnnAssign:
            return up.value is not None and self._is_new(up.value)
        if type(up) is cst.Attribute:
            call = self._facts.parents[up]
            return up.attr is use or (type(call) is cst.Call and up.attr.value in STAGED_METHODS)
        if type(up) is cst.Subscript:
            return up.value is use
        if type(up) is cst.Index:
            return True
        if type(up) is cst.Arg:
            return self._only_reads(up)
        if type(up) in (cst.Return, cst.Element):
            return self._is_taken_apart(up)
        return type(up) in (cst.For, cst.CompFor, cst.While, cst.If, cst.UnaryOperation, cst.AugAssign)

    def _is_new(self, value: cst.BaseExpression) -> bool:
        """Return whether an expression certainly makes a new list."""
        if type(value) in (cst.List, cst.ListComp):
            return True
        if type(value) is cst.BinaryOperation and type(value.operator) is cst.Multiply:
            return type(value.left) is cst.List or type(value.right) is cst.List
        return type(value) is cst.Call and type(value.func) is cst.Name and value.func.value == "list"

    def _only_reads(self, arg: cst.Arg) -> bool:
        """Return whether a call with the list as argument certainly does not keep the list."""
        call = self._facts.parents[arg]
        if type(call) is not cst.Call or arg.star:
            return False
        if self._facts.imports.numpy_name(call.func) is not None:
            return True
        if type(call.func) is cst.Attribute:
            return call.func.attr.value == "append" and self._is_finished(arg)
        if type(call.func) is not cst.Name:
            return False
        return self._facts.scopes.of(call.func).owner_of(call.func.value) is None

    def _is_finished(self, arg: cst.Arg) -> bool:
        """Return whether `rows.append(row)` gets a list that nothing changes before it is bound anew."""
        use = arg.value
        if type(use) is not cst.Name:  # a tuple that holds it: who takes that apart is not followed
            return False
        other_uses = [other_use for other_use in self._uses[use.value] if other_use is not use]
        bindings = [
            other_use for other_use in other_uses if type(self._facts.parents[other_use]) is cst.AssignTarget
        ]
        here = self._facts.position(use)
        changes = [
            other_use for other_use in other_uses if other_use not in bindings and self._changes(other_use)
        ]
        return any(self._loop(binding) is self._loop(use) for binding in bindings) and all(
            self._facts.position(change) < here for change in changes
        )

    def _changes(self, use: cst.Name) -> bool:
        up = self._facts.parents[use]
        if type(up) is cst.Subscript:
            return type(self._facts.parents[up]) in (cst.AssignTarget, cst.AugAssign)
        return type(up) in (cst.Attribute, cst.AugAssign)

    def _loop(self, node: cst.CSTNode | None) -> cst.CSTNode | None:
        """Return the innermost loop around a node."""
        while node is not None and type(node) not in (cst.For, cst.While):
            node = self._facts.parents[node]
        return node

    def _is_taken_apart(self, node: cst.CSTNode | None) -> bool:
        """Return whether the list, alone or in a tuple or list, leaves the function or becomes an array."""
        while isinstance(node, (cst.Element, cst.Tuple, cst.List)):
            node = self._facts.parents[node]
        return type(node) is cst.Return or (type(node) is cst.Arg and self._only_reads(node))

    def is_list(self, node: cst.CSTNode) -> bool:
        """Return whether an expression is the name of a private list."""
        return (
            type(node) is cst.Name and self._facts.kinds.kind(node) is Kind.CONTAINER and node.value in self
        )
