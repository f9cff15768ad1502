"""The program's own functions and classes: attributes, arguments and results, effects on their arrays."""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from dataclasses import replace

import libcst as cst

from np2tf.translator.facts.dataflow import block, reads
from np2tf.translator.tensorflow.borders import Borders
from np2tf.translator.tensorflow.hosts import as_host, to_host, want_arrays
from np2tf.translator.tensorflow.model import (
    AttributeKey,
    ClassFacts,
    Frame,
    Summary,
    attribute_root,
    attributes_in,
    decorator_names,
)
from np2tf.translator.tensorflow.operations import element_of
from np2tf.translator.tensorflow.values import (
    CONTAINERS,
    HOST,
    NO_VALUE,
    CallMemory,
    Value,
    in_memory,
    join,
    plain,
    union,
    unknown,
)
from np2tf.translator.tree.nodes import first_parameter, named_parameters, positional_parameters, walk

# -- attributes ----------------------------------------------------------------------------------------------
# Reads and sets the attributes of objects of the program's classes.


def key_of(base: Value, name: str, frame: Frame) -> AttributeKey | None:
    """Return the key of an attribute; None if the objects may be of classes without a common base."""
    root_class = frame.world.program.classes.root_class(base)
    return None if root_class is None else (root_class, name)


def read_attribute(node: cst.Attribute, base: Value, frame: Frame) -> Value:
    """Return the value of an attribute of an object or class."""
    world, name = frame.world, node.attr.value
    key = key_of(base, name, frame)
    if key is None or name.startswith("__"):
        return world.refuse(node, "NP2TF603", what=f"the attribute `{name}` of objects")
    if world.program.classes.methods(key[0], name):
        return world.refuse(node, "NP2TF603", what="a method as a value")
    value = world.program.classes.read(key)
    if value.is_mixed and not world.program.borders.want("attribute", *key):
        world.refuse(node, "NP2TF605", name=world.facts.code(node))
    return value


def set_attribute(key: AttributeKey, value: Value, frame: Frame) -> None:
    """Follow the binding of an attribute to a value."""
    frame.world.program.classes.learn(key, value)
    if frame.world.program.borders.has("attribute", *key):
        want_arrays(value, frame)
    _keep(key, value.memory, frame)


def _keep(key: AttributeKey, memory: frozenset[object], frame: Frame) -> None:
    """Record that an attribute keeps arrays: the names that hold them share the attribute's memory."""
    frame.world.program.classes.keep(key, memory)
    root, summary = attribute_root(key), frame.summary
    for name, value in list(frame.env.items()):
        if not value.memory.isdisjoint(memory) and root not in value.memory:
            frame.bind(name, replace(value, memory=value.memory | {root}))
    parameters = {one[2] for one in memory if isinstance(one, tuple) and one[:2] == ("param", frame.function)}
    if summary is not None and not summary.keeps.issuperset((name, key) for name in parameters):
        summary.keeps.update((name, key) for name in parameters)
        frame.world.note_change()


def exchange_attributes(keys: Sequence[AttributeKey], values: Sequence[Value], frame: Frame) -> None:
    """Follow `x.a, x.b = x.b, x.a`, after which each array still belongs to one attribute."""
    classes = frame.world.program.classes
    classes.unite(keys)
    for key, value in zip(keys, values):
        classes.learn(key, value)


def may_write_attribute(target: cst.Attribute, base: Value, statement: cst.CSTNode, frame: Frame) -> bool:
    """Return whether an attribute can be bound to a new array in the place of a write to its array."""
    world = frame.world
    key = key_of(base, target.attr.value, frame)
    if key is None or world.program.classes.is_shared(key):
        world.refuse(target, "NP2TF604", name=world.facts.code(target), other="an array from elsewhere")
        return False
    holder = holder_of(key, statement, frame)
    if holder is not None:
        world.refuse(target, "NP2TF604", name=world.facts.code(target), other=f"`{holder}`")
        return False
    record_write(key, frame)
    return True


def holder_of(key: AttributeKey, statement: cst.CSTNode | None, frame: Frame) -> str | None:
    """Return a name that may hold the array of an attribute after a statement."""
    roots = {attribute_root(member) for member in frame.world.program.classes.group(key)}
    live = None
    if statement is not None and frame.function is not None and statement in frame.live:
        live = frame.live[statement] | frame.always_live
    for name, value in frame.env.items():
        if not roots.isdisjoint(value.memory) and (live is None or name in live or name.startswith("<")):
            return name if not name.startswith("<") else "the iterable of a loop"
    return None


def record_write(key: AttributeKey, frame: Frame) -> None:
    """Record that a function writes to the array of an attribute."""
    summary = frame.summary
    if summary is not None and key not in summary.attribute_writes:
        summary.attribute_writes.add(key)
        frame.world.note_change()


def put_into_attributes(container: Value, element: Value, frame: Frame) -> None:
    """Put an item into a container that attributes may hold: the attributes may then hold the item."""
    classes = frame.world.program.classes
    for key in attributes_in(container.memory):
        if not classes.read(key).may(*CONTAINERS):
            continue  # An array of the attribute is in the container.
        container_with_item = replace(
            container, items=None, item=element, memory=container.memory | element.memory
        )
        set_attribute(key, container_with_item, frame)
        classes.share(key)


def put_into(node: cst.CSTNode, base: Value, element: Value, frame: Frame) -> None:
    """Put an item into a container: every name of the container may now hold the item."""
    roots = base.memory
    outside = [root for root in roots if isinstance(root, tuple) and root[0] != "attribute"]
    put_into_attributes(base, element, frame)
    if outside and (element.may_be_array or element.memory):
        frame.world.refuse(node, "NP2TF604", name=frame.world.facts.code(node), other="a container elsewhere")
    for name, value in list(frame.env.items()):
        if value.may(*CONTAINERS) and not value.memory.isdisjoint(roots):
            new_value = replace(
                value,
                memory=value.memory | element.memory,
                items=None,
                item=join(element_of(value) if value.items else value.item, element),
            )
            frame.bind(name, new_value)


# -- effects -------------------------------------------------------------------------------------------------
# The effects of calls on the arrays of attributes: no name may hold an array that a callee writes to.


def follow_effects(node: cst.CSTNode, summary: Summary, arguments: Mapping[str, Value], frame: Frame) -> None:
    """Record the attributes that a call writes to, and refuse it if a name still shows the old array.

    `node` is the call, or the attribute that runs a property.
    """
    world = frame.world
    for key in summary.attribute_writes:
        record_write(key, frame)
        root = attribute_root(key)
        statement, expression = _surroundings(node, frame)
        shown = any(root in value.memory for value in arguments.values())
        if statement is None or shown or _is_read_beside(node, expression, key, frame):
            world.refuse(node, "NP2TF604", name=key[1], other="another part of the statement")
            continue
        is_simple = isinstance(statement, cst.BaseSmallStatement)
        holder = holder_of(key, statement if is_simple else None, frame)
        if holder is not None:
            world.refuse(node, "NP2TF604", name=key[1], other=f"`{holder}`")


def _surroundings(node: cst.CSTNode, frame: Frame) -> tuple[cst.CSTNode | None, cst.CSTNode]:
    """Return the statement around a call, and the whole expression or simple statement that has the call.

    The statement is None if the call runs later: in a lambda or generator.
    """
    below = node
    for up in frame.world.facts.parents.above(node):
        if isinstance(up, (cst.Lambda, cst.GeneratorExp)):
            return None, node
        if isinstance(up, cst.BaseSmallStatement):
            return up, up
        if isinstance(up, cst.BaseCompoundStatement):
            return up, below
        below = up
    return None, node


def _is_read_beside(node: cst.CSTNode, expression: cst.CSTNode, key: AttributeKey, frame: Frame) -> bool:
    """Return whether an expression reads the attribute, or a name that holds its array, beside the call."""
    inside, root = set(walk(node)), attribute_root(key)
    for inner_node in walk(expression):
        if inner_node in inside:
            continue
        if isinstance(inner_node, cst.Attribute) and inner_node.attr.value == key[1]:
            return True
        value = frame.env.get(inner_node.value) if isinstance(inner_node, cst.Name) else None
        if value is not None and root in value.memory:
            return True
    return False


# -- definitions ---------------------------------------------------------------------------------------------
# Follows class definitions: methods, properties, class attributes, the fields of dataclasses.

#: Decorators of methods that are translated.
_OF_METHODS = frozenset({"staticmethod", "classmethod", "property", "abstractmethod"})
#: Special methods that are translated; Python calls them only where the text shows it.
_SPECIAL = frozenset({"__init__", "__post_init__", "__call__", "__repr__", "__str__"})


def learn_defaults(node: cst.FunctionDef, frame: Frame) -> None:
    """Add the defaults of a function's parameters to their possible values."""
    world, summary = frame.world, frame.world.summary(node)
    for param in named_parameters(node):
        if param.default is not None:
            default = frame.evaluate(param.default)
            if default.memory:
                world.refuse(param.default, "NP2TF603", what="an array or container as a default")
            value = Value(default.kinds, default.dtype, default.rank, items=default.items, certain=False)
            world.learn(summary.parameters, param.name.value, value)


def follow_class(node: cst.ClassDef, frame: Frame) -> None:
    """Follow a class definition, and bind its name."""
    world = frame.world
    if _is_exception(node, frame):
        frame.bind(node.name.value, plain("function", HOST))
        return
    facts = ClassFacts(node)
    _follow_head(node, facts, frame)
    world.program.classes.add(facts)
    for statement in block(node.body):
        lines = statement.body if isinstance(statement, cst.SimpleStatementLine) else [statement]
        for line in lines:  # type: ignore[union-attr]
            if isinstance(line, cst.FunctionDef):
                _follow_method(line, facts, frame)
            else:
                _follow_class_attribute(line, facts, frame)
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


def _follow_head(node: cst.ClassDef, facts: ClassFacts, frame: Frame) -> None:
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
        base = frame.evaluate(arg.value)
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
                world.refuse(arg, "NP2TF603", what="a class with these bases")
            continue
        facts.base = world.program.classes.facts(next(iter(base.classes)))


def _decorator_function(decorator: cst.Decorator) -> cst.BaseExpression:
    func = decorator.decorator
    return func.func if isinstance(func, cst.Call) else func


def _follow_method(node: cst.FunctionDef, facts: ClassFacts, frame: Frame) -> None:
    world, name = frame.world, node.name.value
    world.forget(node)
    names = decorator_names(node)
    if not _OF_METHODS.issuperset(names) or node.asynchronous is not None or name in facts.methods:
        world.refuse(node, "NP2TF603", what="a decorated, asynchronous or repeated method")
    if name.startswith("__") and name not in _SPECIAL:
        world.refuse(node, "NP2TF603", what=f"the special method `{name}`")
    facts.methods[name] = node
    summary = world.summary(node)
    summary.owner = facts.node
    learn_defaults(node, frame)
    first = first_parameter(node)
    if "staticmethod" in names or first is None:
        return
    kind, classes = ("class", facts.node) if "classmethod" in names else ("object", facts.root_class)
    receiver = Value(frozenset([kind]), classes=frozenset([classes]))
    world.learn(summary.parameters, first, receiver)


def _follow_class_attribute(node: cst.CSTNode, facts: ClassFacts, frame: Frame) -> None:
    world = frame.world
    world.forget(node)
    if _is_empty(node):
        return
    is_assignment = isinstance(node, cst.Assign) and len(node.targets) == 1
    target = node.targets[0].target if is_assignment else getattr(node, "target", None)  # type: ignore[attr-defined]
    if not isinstance(node, (cst.Assign, cst.AnnAssign)) or not isinstance(target, cst.Name):
        world.refuse(node, "NP2TF603", what="a statement of this kind in a class")
        return
    is_field = isinstance(node, cst.AnnAssign) and facts.is_dataclass
    if node.value is None:
        if is_field:
            facts.fields[target.value] = None
        return
    own_names = world.facts.scopes.inside(facts.node).bindings
    if not reads(node.value).isdisjoint(own_names):
        world.refuse(node, "NP2TF603", what="a class attribute from which others are computed")
    value = _field_value(node.value, frame) if is_field else frame.evaluate(node.value)
    if world.program.borders.has("attribute", facts.root_class, target.value):
        to_host(node.value, value, frame)
        value = as_host(value)
    if is_field:
        facts.fields[target.value] = value
    if value.memory or value.may_be_array:
        world.program.classes.share((facts.root_class, target.value))
    world.program.classes.learn((facts.root_class, target.value), value)


def _field_value(node: cst.BaseExpression, frame: Frame) -> Value:
    """Return the default of a dataclass field; `field(default_factory=list)` makes a new list each time."""
    value = frame.evaluate(node)
    if not isinstance(node, cst.Call):
        return value
    if frame.world.facts.imports.imported_name(node.func) != "dataclasses.field" or len(node.args) != 1:
        return value
    (arg,) = node.args
    factory = arg.value.value if isinstance(arg.value, cst.Name) else ""
    if arg.keyword is None or arg.keyword.value != "default_factory" or factory not in ("list", "dict"):
        return value
    return Value(frozenset([factory]), memory=frozenset([node]))


# -- program calls -------------------------------------------------------------------------------------------
# Calls of the program's functions: arguments become possible values of parameters, results come back.


def parameter_names(function: cst.FunctionDef | cst.Lambda) -> list[str]:
    """Return the names of the parameters, in order."""
    return [param.name.value for param in named_parameters(function)]


def bind_arguments(
    node: cst.Call, function: cst.FunctionDef, frame: Frame, receiver: Value | None = None
) -> Mapping[str, Value]:
    """Return each parameter's argument, or its default; `receiver` is a method's object or class."""
    positions = [param.name.value for param in positional_parameters(function)]
    arguments: dict[str, Value] = {}
    if receiver is not None and has_receiver(function):
        arguments[positions.pop(0)] = receiver
    positional_values: list[Value] = []
    for position, arg in enumerate(node.args):
        value = _argument(
            arg, frame.evaluate(arg.value), parameter_of(arg, position, positions), function, frame
        )
        if arg.star:
            every = element_of(value) if value.may(*CONTAINERS) else unknown(*value.memory, certain=False)
            for name in parameter_names(function):
                arguments[name] = union([arguments.get(name), every])
            positional_values.append(every)
        elif arg.keyword is not None:
            arguments[arg.keyword.value] = value
        elif position < len(positions):
            arguments[positions[position]] = value
        else:
            positional_values.append(value)
    star = function.params.star_arg
    if type(star) is cst.Param:
        element = union(positional_values) if positional_values else None
        memory = frozenset() if element is None else element.memory
        arguments[star.name.value] = Value(frozenset(["tuple"]), item=element, memory=memory)
    return arguments


def parameter_of(arg: cst.Arg, position: int, positions: Sequence[str]) -> str | None:
    """Return the parameter that an argument of a call certainly sets; None if there is none."""
    if arg.star:
        return None
    if arg.keyword is not None:
        return arg.keyword.value
    return positions[position] if position < len(positions) else None


def holds_host(function: cst.FunctionDef, name: str, borders: Borders) -> bool:
    """Return whether a parameter of a function holds what is NumPy's."""
    return borders.has("parameter", function, name) or borders.has("name", function, name)


def _argument(arg: cst.Arg, value: Value, name: str | None, function: cst.FunctionDef, frame: Frame) -> Value:
    """Return the value of an argument, after its conversion if the parameter holds what is NumPy's."""
    borders = frame.world.program.borders
    star = function.params.star_arg
    rest = [*parameter_names(function), *([star.name.value] if type(star) is cst.Param else [])]
    if not any(holds_host(function, parameter, borders) for parameter in (rest if name is None else [name])):
        return value
    if not value.may_be_tensor:
        want_arrays(value, frame)
        return value
    to_host(arg.value, value, frame)
    return as_host(value)


def has_receiver(function: cst.FunctionDef) -> bool:
    """Return whether the first parameter of a method is the object or the class."""
    return first_parameter(function) is not None and "staticmethod" not in decorator_names(function)


def is_open(summary: Summary) -> bool:
    """Return whether code outside the program may call a function, with any arguments."""
    function = summary.node
    if not isinstance(function, cst.FunctionDef):
        return False
    name = function.name.value
    is_hidden = name.startswith("_") and not name.endswith("__")
    outermost = summary.owner if summary.owner is not None else function
    return summary.world.facts.scopes.of(outermost).is_module and not is_hidden


def run_function(
    node: cst.Call | cst.Attribute, function: cst.FunctionDef, arguments: Mapping[str, Value], frame: Frame
) -> Value:
    """Return the value of one run of a function of the program."""
    summary = frame.world.summary(function)
    learn_arguments(summary, arguments, frame)
    for name, key in list(summary.keeps):
        if name in arguments:
            _keep(key, arguments[name].memory, frame)
    follow_effects(node, summary, arguments, frame)
    return _for_caller(summary, arguments, node, frame)


def learn_arguments(summary: Summary, arguments: Mapping[str, Value], frame: Frame) -> None:
    """Add the arguments of a call to the possible values of the function's parameters."""
    function = summary.node
    for name, value in arguments.items():
        root = ("param", function, name)
        memory = frozenset([root]) if value.memory or value.may_be_array else frozenset()
        in_own_memory = in_memory(replace(value, memory=memory), memory)
        certain = in_own_memory.certain and not is_open(summary)
        frame.world.learn(summary.parameters, name, replace(in_own_memory, certain=certain))


def _for_caller(summary: Summary, arguments: Mapping[str, Value], node: cst.CSTNode, frame: Frame) -> Value:
    """Return a function's result in the caller's roots; it is certain only if the arguments are."""
    certain = all(value.certain for value in arguments.values())

    def root_for_caller(root: object) -> frozenset[object]:
        if isinstance(root, tuple) and root[0] == "param" and root[1] is summary.node:
            return (
                arguments[root[2]].memory if root[2] in arguments else frozenset([("global", root[2], None)])
            )
        if isinstance(root, tuple):
            by_module = root[0] == "global" and frame.function is None and root[2] is frame.world
            by_function = root[0] == "outer" and root[2] is frame.function
            value = frame.env.get(root[1]) if by_module or by_function else None
            return frozenset([root]) | (value.memory if value is not None else frozenset())
        return frozenset([CallMemory(node, root.place if isinstance(root, CallMemory) else root)])

    def translate(value: Value) -> Value:
        memory = frozenset(root_there for root in value.memory for root_there in root_for_caller(root))
        return replace(
            value,
            memory=memory,
            certain=certain,
            items=value.items and tuple(translate(item) for item in value.items),
            item=value.item and translate(value.item),
        )

    return translate(summary.result) if summary.result is not None else NO_VALUE


# -- properties ----------------------------------------------------------------------------------------------
# Attributes of objects that run a function of their class.


def property_functions(node: cst.Attribute, base: Value, frame: Frame) -> list[cst.FunctionDef]:
    """Return the properties that an attribute of an object runs."""
    root_class = frame.world.program.classes.root_class(base)
    functions = (
        frame.world.program.classes.methods(root_class, node.attr.value) if root_class is not None else []
    )
    return [function for function in functions if "property" in decorator_names(function)]


def run_property(node: cst.Attribute, function: cst.FunctionDef, base: Value, frame: Frame) -> Value:
    """Return the value of a property of an object."""
    frame.world.method_runs.add(node)
    if frame.world.summary(function).writes:
        return frame.world.refuse(node, "NP2TF603", what="a property that writes")
    return run_function(node, function, {parameter_names(function)[0]: base}, frame)
