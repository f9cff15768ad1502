"""Names that several functions bind (`global`, `nonlocal`): one set of possible values holds everywhere."""

from __future__ import annotations

import libcst as cst

from np2tf.facts import Facts
from np2tf.rewrites.tensorflow_target.model.values import Value
from np2tf.rewrites.tensorflow_target.model.world import Frame
from np2tf.tree.names import words

#: Kinds of immutable values.
_IMMUTABLE = words("int float bool complex str none range dtype shape scalar")


def shared_names(facts: Facts) -> dict[tuple[cst.CSTNode | None, str], cst.CSTNode | None]:
    """Return the names that several functions bind: function and name -> the function that owns the name.

    None stands for the module.
    """
    owners: dict[tuple[cst.CSTNode | None, str], cst.CSTNode | None] = {}
    for scope in facts.scopes.module.within():
        for name in scope.nonlocals | scope.globals:
            owner = scope.module if name in scope.globals else scope.owner_of(name)
            node = None if owner is None or owner.is_module else owner.node
            owners[None if scope.is_module else scope.node, name] = node
            owners[node, name] = node
    return owners


def is_shared(node: cst.Name, frame: Frame) -> bool:
    """Return whether several functions bind a name, and it is not the variable of a comprehension."""
    key = (frame.function, node.value)
    if key not in frame.world.shared_owners:
        return False
    owner = frame.world.facts.scopes.of(node).owner_of(node.value)
    shared_owner = frame.world.shared_owners[key]
    return owner is None or (owner.is_module if shared_owner is None else owner.node is shared_owner)


def refuse_shared(node: cst.CSTNode, name: str, value: Value, frame: Frame) -> None:
    """Refuse to bind a name to an array, or to a container of arrays, if other functions may bind it."""
    if (
        (frame.function, name) in frame.world.shared_owners
        and not value.is_undetermined
        and not value.kinds <= _IMMUTABLE
    ):
        frame.world.refuse(node, "NP2TF603", what="`global` and `nonlocal` of what is no number")
