"""The plan: the edits of each node, applied bottom-up in one pass.

An edit is a function of the *updated* node, so that the edits of its children survive. Several edits of one
node are applied in the order they were added.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from typing import Any, Union, cast

import libcst as cst

from np2tf.translator.tree.nodes import Parents, code_fields
from np2tf.translator.tree.templates import parenthesize

EditedNode = Union[cst.CSTNode, cst.RemovalSentinel, "cst.FlattenSentinel[Any]"]
Edit = Callable[[Any], EditedNode]


class Plan:
    """The edits by node, and the imports that the output needs."""

    def __init__(self, parents: Parents, untouched_nodes: frozenset[cst.CSTNode] = frozenset()) -> None:
        self._parents = parents
        self._untouched_nodes = untouched_nodes
        self._edits: dict[cst.CSTNode, list[Edit]] = {}
        self._on_path: set[cst.CSTNode] = set()
        self.origins: dict[cst.CSTNode, cst.CSTNode] = {}
        """After `apply`: maps each node of the output that is not in the input to the node it stands for."""
        self.tnp_name = "tnp"
        """The name of `np2tf.tnp` in the output. Read it inside edits, or after rewrites.imports has
        planned.
        """
        self.staged_functions: frozenset[cst.CSTNode] | None = None
        """The functions in which writes become rebindings; None if they do everywhere."""
        self.needs_tnp = False
        self.needs_runtime = False

    def __bool__(self) -> bool:
        return bool(self._edits)

    def add(self, node: cst.CSTNode, edit: Edit) -> None:
        """Apply `edit` to `node` later, unless the node must stay untouched.

        After an edit that returns several nodes, the next edit gets the last of them.
        """
        if node in self._untouched_nodes:
            return
        self._edits.setdefault(node, []).append(edit)
        self._on_path.add(node)
        for up in self._parents.above(node):
            if up in self._on_path:
                break
            self._on_path.add(up)

    def has_edit(self, node: cst.CSTNode) -> bool:
        """Return whether `node` itself already has an edit."""
        return node in self._edits

    @property
    def touched_nodes(self) -> Set[cst.CSTNode]:
        """The nodes that have an edit, and the nodes around them. Every other node stays as it is."""
        return self._on_path

    def require(self, *, tnp: bool = False, runtime: bool = False) -> None:
        """Record that the output needs `from np2tf import tnp`, or `import np2tf` for its operators."""
        self.needs_tnp |= tnp
        self.needs_runtime |= runtime

    def note(self, new: cst.CSTNode, old: cst.CSTNode) -> None:
        """Record that a node of the output stands for what another node has stood for."""
        self.origins[new] = self.origins.get(old, old)

    def apply(self, module: cst.Module) -> cst.Module:
        """Return the module with every edit applied."""
        return cast(cst.Module, self._rebuild(module))

    def _rebuild(self, node: cst.CSTNode) -> EditedNode:
        if node not in self._on_path:
            return node
        changes = {}
        for name in code_fields(type(node)):
            old = getattr(node, name)
            new = self._field(old)
            if new is not old:
                changes[name] = new
        result: EditedNode = _drop_empty(node, changes)
        if isinstance(result, cst.CSTNode):
            self.origins[result] = node
        for edit in self._edits.get(node, ()):
            if isinstance(result, cst.FlattenSentinel):
                *before, last = result
                after = edit(last)
                result = cst.FlattenSentinel([*before, *_as_nodes(after)])
            elif isinstance(result, cst.RemovalSentinel):
                break
            else:
                result = edit(result)
        if not isinstance(result, cst.RemovalSentinel):
            for new in _as_nodes(result):
                self.origins.setdefault(new, node)
        return result

    def _field(self, value: object) -> object:
        if type(value) in _PLAIN:
            return value
        if isinstance(value, cst.CSTNode):
            if value not in self._on_path:
                return value
            new = self._rebuild(value)
            if isinstance(new, cst.RemovalSentinel):
                return None
            if isinstance(new, cst.FlattenSentinel):
                raise TypeError(f"several nodes where one {type(value).__name__} stands")
            return new
        if isinstance(value, (list, tuple)) and any(item in self._on_path for item in value):
            new_items: list[cst.CSTNode] = []
            for item in value:
                if item in self._on_path:
                    new_items.extend(_as_nodes(self._rebuild(item)))
                else:
                    new_items.append(item)
            return new_items
        return value


#: Values of fields that are no nodes.
_PLAIN = frozenset({str, type(None), cst.MaybeSentinel})


def _as_nodes(edited_node: EditedNode) -> Sequence[cst.CSTNode]:
    if isinstance(edited_node, cst.RemovalSentinel):
        return ()
    if isinstance(edited_node, cst.FlattenSentinel):
        return tuple(edited_node)
    return (edited_node,)


def _drop_empty(node: cst.CSTNode, changes: dict[str, Any]) -> EditedNode:
    """Return the changed node: lines that lost all statements go, a block that lost all lines gets `pass`."""
    if not changes:
        return node
    if changes.get("body") == [] and type(node) in (cst.SimpleStatementLine, cst.SimpleStatementSuite):
        if type(node) is cst.SimpleStatementLine:
            return cst.RemoveFromParent()
        changes["body"] = [cst.Pass()]
    if changes.get("body") == [] and type(node) is cst.IndentedBlock:
        changes["body"] = [cst.SimpleStatementLine([cst.Pass()])]
    line = type(node) in (cst.SimpleStatementLine, cst.SimpleStatementSuite)
    if line and changes.get("body") and len(changes["body"]) < len(node.body):  # type: ignore[attr-defined]
        # The last statement of a line must not keep the semicolon before a removed statement.
        last = node.body[-1].semicolon  # type: ignore[attr-defined]
        changes["body"][-1] = changes["body"][-1].with_changes(semicolon=last)
    try:
        return node.with_changes(**changes)
    except cst.CSTValidationError:
        # The parentheses of `not(a and b)` also keep the keyword apart.
        for name, new in changes.items():
            changes[name] = parenthesize(new) if isinstance(new, cst.BaseExpression) else new
        return node.with_changes(**changes)
