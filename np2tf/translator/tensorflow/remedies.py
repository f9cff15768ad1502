"""What stays on NumPy where something is refused: as little as possible, and more if that does not help."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from np2tf.translator.tensorflow.borders import Borders, Cause
from np2tf.translator.tensorflow.hosts import OPERATIONS
from np2tf.translator.tensorflow.model import Program, World
from np2tf.translator.tensorflow.values import Value
from np2tf.translator.tree.nodes import walk

#: Codes of operations that TensorFlow does not compute, or that show that an array is a tensor.
_OF_OPERATIONS = frozenset({"NP2TF601", "NP2TF602", "NP2TF603", "NP2TF606", "NP2TF607"})
#: Codes of writes, and of values of which it is not known what they are.
_OF_ARRAYS = frozenset({"NP2TF602", "NP2TF603", "NP2TF604", "NP2TF605", "NP2TF608"})
#: What makes a function more than its statements.
_OF_FUNCTIONS = (cst.Yield, cst.Await, cst.Return)


def draw_borders(program: Program) -> bool:
    """Let what is refused stay on NumPy the next time; return whether there is something new.

    A refusal that only follows from another one waits.
    """
    refusals = [
        (world, node, *decision.refusals[0])
        for world in program.worlds.values()
        for node, decision in world.decisions.items()
        if decision.refusals
    ]
    refused_nodes = {node for _, node, _, _ in refusals}
    first = [refusal for refusal in refusals if not _follows(*refusal[:2], refused_nodes)]
    for some in (first, refusals):
        found = [_draw(*refusal) for refusal in some]
        if any(found):
            return True
    return False


def _follows(world: World, node: cst.CSTNode, refused_nodes: set[cst.CSTNode]) -> bool:
    """Return whether a refusal is about a value that is unknown because of another refusal."""
    other_nodes = refused_nodes - {node}
    return any(not other_nodes.isdisjoint(value.memory) for value in _values(world, node))


def _draw(world: World, node: cst.CSTNode, code: str, words: dict[str, str]) -> bool:
    borders = world.program.borders
    for remedy in (_operation, _classes, _arrays, _statement, _function, _class, _outermost):
        if remedy(world, node, code, words):
            borders.explain(Cause(world.file, node, code, tuple(words.items())))
            return True
    return False


def _operation(world: World, node: cst.CSTNode, code: str, words: dict[str, str]) -> bool:
    """NumPy or a library runs the operation, and gets arrays."""
    if code not in _OF_OPERATIONS or not isinstance(node, OPERATIONS):
        return False
    if any(value.object_classes or "class" in value.kinds for value in _values(world, node)):
        return False
    up = world.facts.parents[node]
    if isinstance(node, cst.Name) and world.facts.imports.numpy_name(node) is None:
        return False
    if isinstance(up, cst.Call) and up.func is node:
        node = up
    is_target = isinstance(up, (cst.AssignTarget, cst.AugAssign)) and getattr(up, "target", None) is node
    return not is_target and world.program.borders.want("operation", node)


def _classes(world: World, node: cst.CSTNode, code: str, words: dict[str, str]) -> bool:
    """The attribute that is written to, or the classes of the objects, are NumPy's."""
    borders, classes = world.program.borders, world.program.classes
    roots = {root for value in _values(world, node) for root in value.object_classes}
    if code in ("NP2TF604", "NP2TF605", "NP2TF608"):
        name = words.get("name", "").rpartition(".")[2]
        found = [borders.want("attribute", root, name) for root in roots if name.isidentifier()]
        return any(found)
    if code not in _OF_OPERATIONS or isinstance(node, (cst.FunctionDef, cst.ClassDef)):
        return False
    found = [borders.want("statement", derived) for root in roots for derived in classes.derived(root)]
    return any(found)


def _arrays(world: World, node: cst.CSTNode, code: str, words: dict[str, str]) -> bool:
    """The arrays are NumPy's where they come from."""
    if code not in _OF_ARRAYS:
        return False
    borders = world.program.borders
    found = False
    function = _function_of(world, node)
    if isinstance(node, (cst.Return, cst.IndentedBlock)) and function is not None:
        for name in world.summary(function).writes:
            found |= borders.want("parameter", function, name)
    for value in _written(world, node):
        found |= borders.want_memory(value.memory - {node})
    return found


def _written(world: World, node: cst.CSTNode) -> Iterator[Value]:
    """Yield the values whose arrays a refused write is about."""
    parts: list[cst.CSTNode] = [node]
    if isinstance(node, cst.Subscript):
        parts = [node.value]
    elif isinstance(node, cst.AugAssign):
        parts = [node.target, *([node.target.value] if isinstance(node.target, cst.Subscript) else [])]
    elif isinstance(node, cst.Call):
        parts = [arg.value for arg in node.args]
        parts += [node.func.value] if isinstance(node.func, cst.Attribute) else []
    elif isinstance(node, cst.Assign):
        parts = [target.target for target in node.targets]
        parts += [inner for part in parts for inner in walk(part)]
    elif isinstance(node, (cst.FunctionDef, cst.ClassDef, cst.IndentedBlock, cst.BaseCompoundStatement)):
        parts = []
    for part in parts:
        value = world.values.get(part)
        if value is not None:
            yield value


def _values(world: World, node: cst.CSTNode) -> Iterator[Value]:
    if not isinstance(node, (cst.BaseExpression, cst.BaseSmallStatement)):
        return
    for inner_node in walk(node):
        value = world.values.get(inner_node)
        if value is not None:
            yield value


def _statement(world: World, node: cst.CSTNode, code: str, words: dict[str, str]) -> bool:
    """The text of the statement does not change."""
    below: cst.CSTNode | None = None
    for up in [node, *world.facts.parents.above(node)]:
        if isinstance(up, cst.Lambda) and world.program.borders.want("statement", up):
            return True
        if isinstance(up, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
            below = up
            break
    if below is None or isinstance(below, cst.Return) or _jumps(below) or _is_in_class(world, below):
        return False
    return world.program.borders.want("statement", below)


def _is_in_class(world: World, node: cst.CSTNode) -> bool:
    """Return whether a statement is one of a class itself: a method, or the binding of an attribute."""
    around = world.facts.parents.nearest(node, cst.FunctionDef, cst.ClassDef)
    return isinstance(around, cst.ClassDef)


def _jumps(node: cst.CSTNode) -> bool:
    if isinstance(node, (cst.FunctionDef, cst.ClassDef)):
        return False
    leaves = (*_OF_FUNCTIONS, cst.Break, cst.Continue)
    return any(isinstance(inner_node, leaves) for inner_node in walk(node))


def _function_of(world: World, node: cst.CSTNode) -> cst.FunctionDef | None:
    ups = [node, *world.facts.parents.above(node)]
    return next((up for up in ups if isinstance(up, cst.FunctionDef)), None)


def _function(world: World, node: cst.CSTNode, code: str, words: dict[str, str]) -> bool:
    """The text of the function does not change, or of the class if it is a method."""
    function = _function_of(world, node)
    if function is None or _class_of(world, function) is not None:
        return False
    return world.program.borders.want("statement", function)


def _class(world: World, node: cst.CSTNode, code: str, words: dict[str, str]) -> bool:
    """The text of the class does not change."""
    owner = _class_of(world, node)
    return owner is not None and world.program.borders.want("statement", owner)


def _class_of(world: World, node: cst.CSTNode) -> cst.ClassDef | None:
    ups = [node, *world.facts.parents.above(node)]
    return next((up for up in ups if isinstance(up, cst.ClassDef)), None)


def _outermost(world: World, node: cst.CSTNode, code: str, words: dict[str, str]) -> bool:
    """The text of the statement of the module does not change; or, last of all, the whole module's."""
    ups = [node, *world.facts.parents.above(node)]
    borders: Borders = world.program.borders
    for up in ups:
        is_statement = isinstance(up, (cst.BaseSmallStatement, cst.BaseCompoundStatement))
        if is_statement and not _is_in_class(world, up) and borders.want("statement", up):
            return True
    return borders.want("file", world.file)
