"""Follows class definitions: methods, properties, class attributes, the fields of dataclasses."""

from __future__ import annotations

import builtins
from collections.abc import Callable

import libcst as cst

from np2tf.facts.dataflow.reads_writes import block, reads
from np2tf.rewrites.tensorflow_target.model.classes import ClassFacts, decorator_names
from np2tf.rewrites.tensorflow_target.model.values import Value, plain
from np2tf.rewrites.tensorflow_target.model.world import Evaluate, Frame

LearnDefaults = Callable[[cst.FunctionDef, Frame], None]
#: Decorators of methods that are translated.
_OF_METHODS = frozenset({"staticmethod", "classmethod", "property", "abstractmethod"})
#: Special methods that are translated; Python calls them only where the text shows it.
_SPECIAL = frozenset({"__init__", "__post_init__", "__call__", "__repr__", "__str__"})


def follow_class(node: cst.ClassDef, frame: Frame, evaluate: Evaluate, learn_defaults: LearnDefaults) -> None:
    """Follow a class definition, and bind its name."""
    world = frame.world
    if _is_exception(node, frame):
        frame.bind(node.name.value, plain("function", "other"))
        return
    facts = ClassFacts(node)
    _follow_head(node, facts, frame, evaluate)
    world.program.classes.add(facts)
    for statement in block(node.body):
        lines = statement.body if isinstance(statement, cst.SimpleStatementLine) else [statement]
        for line in lines:  # type: ignore[union-attr]
            if isinstance(line, cst.FunctionDef):
                _follow_method(line, facts, frame, learn_defaults)
            else:
                _follow_class_attribute(line, facts, frame, evaluate)
    frame.bind(node.name.value, Value(frozenset(["class"]), classes=frozenset([node])))


def _is_exception(node: cst.ClassDef, frame: Frame) -> bool:
    """Return whether a class is an exception that has no statements of its own."""
    bases = [arg.value for arg in node.bases]
    names = [base.value for base in bases if isinstance(base, cst.Name)]
    built_in = [
        issubclass(getattr(builtins, name, object), BaseException)
        for name in names
        if frame.world.facts.scopes.of(node).owner_of(name) is None
    ]
    of_exceptions = bool(bases) and len(built_in) == len(bases) and all(built_in) and not node.keywords
    return of_exceptions and not node.decorators and all(map(_is_empty, block(node.body)))


def _is_empty(statement: cst.CSTNode) -> bool:
    lines = statement.body if isinstance(statement, cst.SimpleStatementLine) else [statement]
    return all(
        isinstance(line, cst.Pass)
        or (isinstance(line, cst.Expr) and isinstance(line.value, cst.SimpleString))
        for line in lines  # type: ignore[union-attr]
    )


def _follow_head(node: cst.ClassDef, facts: ClassFacts, frame: Frame, evaluate: Evaluate) -> None:
    """Follow the bases and decorators of a class."""
    world = frame.world
    if node.keywords:
        world.refuse(node, "NP2TF603", what="a metaclass")
    for decorator, name in zip(node.decorators, decorator_names(node)):
        world.forget(decorator)
        path = world.facts.imports.imported_name(_decorator_function(decorator)) or ""
        if name != "dataclass" or not path.startswith("dataclasses"):
            world.refuse(decorator, "NP2TF603", what="a decorated class")
        facts.is_dataclass = True
    for arg in node.bases:
        world.forget(arg)
        base = evaluate(arg.value, frame)
        path = world.facts.imports.imported_name(arg.value) or ""
        is_object = isinstance(arg.value, cst.Name) and arg.value.value == "object"
        if is_object or path in ("abc.ABC", "typing.Protocol"):
            continue
        if (
            not base.only("class")
            or len(base.classes) != 1
            or facts.base is not None
            or arg.keyword is not None
        ):
            if not base.is_undetermined:
                world.refuse(arg, "NP2TF603", what="a class with such bases")
            continue
        facts.base = world.program.classes.facts(next(iter(base.classes)))


def _decorator_function(decorator: cst.Decorator) -> cst.BaseExpression:
    func = decorator.decorator
    return func.func if isinstance(func, cst.Call) else func


def _follow_method(
    node: cst.FunctionDef, facts: ClassFacts, frame: Frame, learn_defaults: LearnDefaults
) -> None:
    world, name = frame.world, node.name.value
    world.forget(node)
    names = decorator_names(node)
    if not _OF_METHODS.issuperset(names) or node.asynchronous is not None or name in facts.methods:
        world.refuse(node, "NP2TF603", what="a decorated or asynchronous method, or one of several of a name")
    if name.startswith("__") and name not in _SPECIAL:
        world.refuse(node, "NP2TF603", what=f"the special method `{name}`")
    facts.methods[name] = node
    summary = world.summary(node)
    summary.owner = facts.node
    learn_defaults(node, frame)
    params = [*node.params.posonly_params, *node.params.params]
    if "staticmethod" in names or not params:
        return
    kind, classes = ("class", facts.node) if "classmethod" in names else ("object", facts.root_class)
    receiver = Value(frozenset([kind]), classes=frozenset([classes]))
    world.learn(summary.parameters, params[0].name.value, receiver)


def _follow_class_attribute(node: cst.CSTNode, facts: ClassFacts, frame: Frame, evaluate: Evaluate) -> None:
    world = frame.world
    world.forget(node)
    if _is_empty(node):
        return
    is_assignment = isinstance(node, cst.Assign) and len(node.targets) == 1
    target = node.targets[0].target if is_assignment else getattr(node, "target", None)  # type: ignore[attr-defined]
    if not isinstance(node, (cst.Assign, cst.AnnAssign)) or not isinstance(target, cst.Name):
        world.refuse(node, "NP2TF603", what="such a statement in a class")
        return
    if isinstance(node, cst.AnnAssign) and facts.is_dataclass:
        facts.fields[target.value] = node.value
    if node.value is None:
        return
    own_names = world.facts.scopes.inside(facts.node).bindings
    if not reads(node.value).isdisjoint(own_names):
        world.refuse(node, "NP2TF603", what="a class attribute that others are computed from")
    value = evaluate(node.value, frame)
    if value.memory or value.may_be_array:
        world.program.classes.share((facts.root_class, target.value))
    world.program.classes.learn((facts.root_class, target.value), value)
