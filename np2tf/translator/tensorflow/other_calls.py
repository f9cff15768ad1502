"""Calls of builtins, methods and the program's functions and classes; the choice by kind of callee."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

import libcst as cst

from np2tf.translator.facts.numpy_imports import BUILTINS
from np2tf.translator.notebooks import MAGIC
from np2tf.translator.tensorflow import edits
from np2tf.translator.tensorflow.host_calls import fits_host, method_on_host
from np2tf.translator.tensorflow.hosts import (
    as_host,
    host,
    host_call,
    is_host,
    library_name,
    operation,
    to_host,
)
from np2tf.translator.tensorflow.model import ClassFacts, Frame, decorator_names
from np2tf.translator.tensorflow.numpy_calls import (
    is_generator_method,
    is_random_name,
    numpy_call,
    random_call,
    read_arguments,
    target_of,
)
from np2tf.translator.tensorflow.numpy_table import CONVERTED, result
from np2tf.translator.tensorflow.objects import (
    bind_arguments,
    parameter_names,
    put_into,
    run_function,
    set_attribute,
)
from np2tf.translator.tensorflow.operations import (
    arithmetic,
    dtype_value,
    element_of,
    show_dtypes,
    show_in_text,
)
from np2tf.translator.tensorflow.returned_writes import inline_call
from np2tf.translator.tensorflow.values import (
    ARRAYS,
    HOST,
    NO_VALUE,
    NUMBERS,
    Value,
    array,
    join,
    list_value,
    plain,
    tuple_value,
    union,
    unknown,
)
from np2tf.translator.tree.nodes import dotted_name, name_node, words
from np2tf.translator.tree.templates import expression

# -- builtin calls -------------------------------------------------------------------------------------------
# Calls of builtins: most accept tensors like arrays; calls that would show the difference are refused.

#: Builtins that read or change state that the source text does not show.
_REFLECTION = words("vars compile super __import__ setattr delattr breakpoint")
#: Builtins that read or change variables by names that the source text does not show.
_OF_NAMES = words("eval exec globals locals vars")
_TEXT_BUILTINS = words("print str repr format ascii")
#: Builtins of plain arguments -> the kind of their result.
_KINDS = {
    "input": "str", "chr": "str", "hex": "str", "bin": "str", "ord": "int", "id": "int", "hash": "int",
    "isinstance": "bool", "issubclass": "bool", "hasattr": "bool", "callable": "bool",
}  # fmt: skip
#: Builtins that only Python's numbers leave, or that read one item after the other, whatever they get.
_OF_HOST = words("float int bool complex len any all range zip enumerate min max sorted reversed list tuple")


def _builtin_call(node: cst.Call, name: str, frame: Frame) -> Value:
    """Return the value of a call of a builtin."""
    world = frame.world
    world.forget(node.func)
    arguments = [frame.evaluate(arg.value) for arg in node.args]
    if name == "exec" and _is_magic(node):
        return host()
    if name in _OF_NAMES and not (name == "vars" and node.args):
        return world.refuse(world.facts.module, "NP2TF603", what=f"`{name}`")
    if name in _REFLECTION:
        return world.refuse(node, "NP2TF603", what=f"`{name}`")
    if name in _TEXT_BUILTINS:
        for arg, value in zip(node.args, arguments):
            if arg.keyword is None or arg.keyword.value != "file":
                show_in_text(arg.value, value, frame)
        return plain("none") if name == "print" else plain("str")
    if any(value.is_undetermined for value in arguments):
        return NO_VALUE
    if name == "isinstance" and len(arguments) == 2 and arguments[0].only("object", "none"):
        return plain("bool")
    if any(value.is_of_program for value in arguments):
        return world.refuse(node, "NP2TF603", what=f"`{name}` of an object")
    handler = _HANDLERS.get(name)
    if handler is not None and is_host(*arguments) and name not in _OF_HOST:
        return operation(node, frame)
    if handler is not None:
        value = handler(node, arguments, frame)
        return value if name in _OF_NO_ARRAY else value.doubtful(*arguments)
    if all(value.is_plain for value in arguments):
        if any(value.functions for value in arguments):
            return operation(node, frame)
        show_dtypes(node.args, arguments, frame)
        return plain(_KINDS[name]) if name in _KINDS else plain(HOST)
    return world.refuse(node, "NP2TF606", what=f"`{name}`")


def _is_magic(node: cst.Call) -> bool:
    """Return whether a call stands for a line of a notebook that is IPython's."""
    first = node.args[0].value if node.args else None
    return isinstance(first, cst.Name) and first.value.startswith(MAGIC)


def _read_later(node: cst.CSTNode, arguments: list[Value]) -> list[object]:
    """Return the memory of an iterator, which reads its operands only when an item is requested."""
    return [node, *(root for value in arguments for root in value.memory)]


def _zip(node: cst.Call, arguments: list[Value], frame: Frame) -> Value:
    values = [element_of(value) for value, arg in zip(arguments, node.args) if arg.keyword is None]
    return list_value(tuple_value(values), _read_later(node, arguments))


def _enumerate(node: cst.Call, arguments: list[Value], frame: Frame) -> Value:
    if not arguments:
        return plain(HOST)
    return list_value(tuple_value([plain("int"), element_of(arguments[0])]), _read_later(node, arguments))


def _sum(node: cst.Call, arguments: list[Value], frame: Frame) -> Value:
    if not arguments:
        return plain(HOST)
    element = element_of(arguments[0])
    start = arguments[1] if len(arguments) > 1 else plain("int")
    if element.is_plain and start.is_plain:
        return join(plain("int"), element) or element
    if element.may("list", "tuple") and not element.may("any"):
        return frame.world.refuse(node, "NP2TF606", what="`sum` of lists")
    return join(arithmetic([element, start], node), start) or element


def _extreme(node: cst.Call, arguments: list[Value], frame: Frame) -> Value:
    keywords = [arg for arg in node.args if arg.keyword is not None]
    if keywords and not all(value.is_plain for value in arguments):
        return frame.world.refuse(node, "NP2TF606", what="`min` and `max` with `key`")
    if any(arg.star for arg in node.args):
        return union(element_of(value) for value in arguments)
    return element_of(arguments[0]) if len(arguments) == 1 else union(arguments)


def _sort(node: cst.Call, arguments: list[Value], frame: Frame) -> Value:
    if len(node.args) > 1 and not all(value.is_plain for value in arguments):
        return frame.world.refuse(node, "NP2TF606", what="`sorted` with `key`")
    return list_value(element_of(arguments[0]), [node]) if arguments else plain(HOST)


def _list(node: cst.Call, arguments: list[Value], frame: Frame) -> Value:
    if not arguments:
        return Value(frozenset(["list"]), memory=frozenset([node]))
    return list_value(element_of(arguments[0]), [node])


def _tuple(node: cst.Call, arguments: list[Value], frame: Frame) -> Value:
    if not arguments:
        return tuple_value([])
    if arguments[0].only("tuple") and arguments[0].items is not None:
        return arguments[0]
    if arguments[0].only("shape"):
        return arguments[0]
    element = element_of(arguments[0])
    return Value(frozenset(["tuple"]), item=element, memory=element.memory, certain=element.certain)


def _round(node: cst.Call, arguments: list[Value], frame: Frame) -> Value:
    if not arguments or all(value.is_plain for value in arguments):
        return plain("int", "float")
    world = frame.world
    if not all(value.only("scalar", *NUMBERS) or value.may("any") for value in arguments):
        return world.refuse(node, "NP2TF606", what="`round` of an array")
    world.edit(node.func, edits.rename_to(world.helper("_python_round")), "_python_round")
    return (
        plain("int") if len(arguments) == 1 else join(array(None, 0), plain("int", "float")) or arguments[0]
    )


def _kind(*kinds: str) -> Callable[[cst.Call, list[Value], Frame], Value]:
    return lambda node, arguments, frame: plain(*kinds)


#: Functions that give a number of Python's, or a range, whatever they get.
_OF_NO_ARRAY = words("float int bool complex len any all range")
_HANDLERS: dict[str, Callable[[cst.Call, list[Value], Frame], Value]] = {
    "float": _kind("float"),
    "int": _kind("int"),
    "bool": _kind("bool"),
    "complex": _kind("complex"),
    "len": _kind("int"),
    "any": _kind("bool"),
    "all": _kind("bool"),
    "range": _kind("range"),
    "abs": lambda node, arguments, frame: arithmetic(arguments, node),
    "pow": lambda node, arguments, frame: arithmetic(arguments[:2], node, power=True),
    "zip": _zip,
    "enumerate": _enumerate,
    "sum": _sum,
    "min": _extreme,
    "max": _extreme,
    "sorted": _sort,
    "reversed": lambda node, arguments, frame: list_value(
        element_of(arguments[0]), _read_later(node, arguments)
    ),
    "list": _list,
    "tuple": _tuple,
    "round": _round,
}


# -- methods -------------------------------------------------------------------------------------------------
# Calls of methods: of arrays, of Python's containers and texts, and of libraries.

_TEXTS = words("split rsplit splitlines partition rpartition")
_COUNTS = words("find rfind index rindex count")
_OF_TEXTS = words("strip lstrip rstrip lower upper title capitalize replace join zfill ljust rjust center")
#: Methods of arrays that take their arguments as any number of integers, or as one tuple.
_SHAPE_METHODS = frozenset({"reshape", "transpose"})
#: Methods whose arguments are numbers, which a library may give.
_OF_NUMBERS = words("reshape transpose sum mean max min argmax argmin std var cumsum prod any all repeat")
#: Methods that become a helper with the array as the first argument -> the name of the helper.
_HELPERS = {"astype": "_cast", "tolist": "_tolist", "item": "_item"}


def _method_call(node: cst.Call, base: Value, frame: Frame) -> Value:
    """Return the value of `base.name(…)`, where `base` is no object of the program's classes."""
    world, func = frame.world, node.func
    assert isinstance(func, cst.Attribute)
    name = func.attr.value
    if base.is_undetermined:
        for arg in node.args:
            frame.evaluate(arg.value)
        return NO_VALUE
    if is_generator_method(base, name, frame):
        return random_call(node, name, frame, base)
    if base.is_host and not base.is_mixed:
        return host_call(node, base, frame)
    if _is_array(base, name) and name in world.table.methods:
        return _array_method(node, name, base, frame)
    if base.only(*ARRAYS) and name in world.table.host_methods:
        return method_on_host(node, name, base, frame)
    if name == "copy" and base.only("any") and not node.args:
        world.edit(node, edits.function_of(world.helper("_copy")), "_copy")
        return unknown(node, certain=False)
    if base.only("list", "dict", "tuple"):
        return _container_method(node, name, base, frame)
    values = [frame.evaluate(arg.value) for arg in node.args]
    if base.only(*ARRAYS):
        return world.refuse(node, "NP2TF601", name=f"ndarray.{name}")
    if base.may(*ARRAYS):
        return world.refuse(node, "NP2TF605", name=world.facts.code(func.value))
    if base.only("dtype"):
        return world.refuse(node, "NP2TF601", name=f"dtype.{name}")
    if base.only("str"):
        return _text_method(node, name, values, frame)
    if base.only("module"):
        return _library_call(node, values, frame)
    if all(value.is_plain for value in values) and base.is_plain:
        return plain(HOST)
    return world.refuse(node, "NP2TF607", name=world.facts.code(func))


def _is_array(base: Value, name: str) -> bool:
    """Return whether an object that has a method of this name is an array; Python's numbers have no such
    methods.
    """
    with_numbers = base.only(*ARRAYS, *NUMBERS) and base.may(*ARRAYS)
    return with_numbers or (base.may("any") and name != "copy")


def _library_call(node: cst.Call, arguments: list[Value], frame: Frame) -> Value:
    library = library_name(node.func, frame).split(".")[0]
    if library in ("math", "cmath"):
        return plain("int", "float", "bool")
    return host_call(node, host(libraries=frozenset([library])), frame)


def _text_method(node: cst.Call, name: str, arguments: list[Value], frame: Frame) -> Value:
    world = frame.world
    if name == "format":
        for arg, value in zip(node.args, arguments):
            show_in_text(arg.value, value, frame)
        return plain("str")
    if not all(value.is_plain for value in arguments) and name != "join":
        return world.refuse(node, "NP2TF607", name=world.facts.code(node.func))
    if name in _TEXTS:
        return list_value(plain("str"), [node])
    if name in _OF_TEXTS:
        return plain("str")
    return plain("int") if name in _COUNTS else plain(HOST)


def _container_method(node: cst.Call, name: str, base: Value, frame: Frame) -> Value:
    """Return the value of a container's method; an item that is put in shares the container's memory."""
    world = frame.world
    values = [frame.evaluate(arg.value) for arg in node.args]
    element = element_of(base)
    if name in ("append", "insert", "extend", "setdefault", "update"):
        new_element = values[-1] if values else plain("none")
        if element.is_host and not element.is_mixed and not new_element.is_host:
            to_host(node.args[-1].value, new_element, frame)
            new_element = as_host(new_element)
        new_element = element_of(new_element) if name in ("extend", "update") else new_element
        put_into(node, base, new_element, frame)
        return join(element, new_element) if name == "setdefault" and new_element else plain("none")  # type: ignore[return-value]
    if name in ("get", "pop") and base.only("dict"):
        return join(element, values[1] if len(values) > 1 else plain("none")) or element
    if name in ("pop", "popitem"):
        return element
    if name == "items":
        return list_value(tuple_value([plain("str", "int", "float"), element]), [node])
    if name in ("values", "copy"):
        return (
            Value(base.kinds, item=element, memory=base.memory | {node})
            if name == "copy"
            else list_value(element, [node])
        )
    if name == "keys":
        return list_value(plain("str", "int", "float"), [node])
    if name in ("clear", "reverse") or (name == "sort" and not values):
        return plain("none")
    if base.is_plain and all(value.is_plain for value in values):
        return plain(HOST)
    return world.refuse(node, "NP2TF606", what=f"`{name}` of a container")


def _array_method(node: cst.Call, name: str, base: Value, frame: Frame) -> Value:
    world, func = frame.world, node.func
    assert type(func) is cst.Attribute
    if name in _HELPERS or name == "flatten":
        return _own_method(node, name, base, frame)
    function = world.table.functions[name]
    if any(_may_be_host(arg.value, frame) for arg in node.args) and name not in _OF_NUMBERS:
        return operation(node, frame)
    if name in _SHAPE_METHODS and len(node.args) > 1:
        return _spread_method(node, name, base, frame)
    argument_values, wrong = read_arguments(node, function, (base, func.value), frame)
    if wrong is not None and fits_host(function, argument_values):
        return method_on_host(node, name, base, frame)
    if wrong is not None:
        world.refuse(node, "NP2TF602", name=world.facts.code(func), why=wrong)
        return array(None, None, [node], scalar=True)
    world.computing.add(node)
    target, helpers = target_of(function, argument_values, frame)
    world.edit(node, edits.function_of(target), *helpers)
    return result(function, argument_values, node)


def _may_be_host(node: cst.BaseExpression, frame: Frame) -> bool:
    return frame.evaluate(node).is_host


def _spread_method(node: cst.Call, name: str, base: Value, frame: Frame) -> Value:
    """`x.reshape(2, 3)` -> `tnp.reshape(x, (2, 3))`."""
    world = frame.world
    values = [frame.evaluate(arg.value) for arg in node.args]
    if any(arg.star or arg.keyword is not None for arg in node.args):
        return world.refuse(node, "NP2TF602", name=f"ndarray.{name}", why="one of its arguments is a keyword")

    def edit(updated_node: cst.Call) -> cst.Call:
        elements = [cst.Element(arg.value, comma=arg.comma) for arg in updated_node.args]
        call_of_tuple = updated_node.with_changes(args=[cst.Arg(cst.Tuple(elements))])
        return edits.function_of(f"{world.tnp}.{name}")(call_of_tuple)  # type: ignore[return-value]

    world.edit(node, edit)
    return array(base.dtype, len(node.args), base.memory | {node}).doubtful(base, *values)


def _own_method(node: cst.Call, name: str, base: Value, frame: Frame) -> Value:
    world = frame.world
    dtype = None
    if name == "astype":
        value = dtype_value(node.args[0].value, frame) if node.args else None
        if value is None or len(node.args) != 1 or node.args[0].keyword is not None:
            return world.refuse(node, "NP2TF602", name="ndarray.astype", why="this dtype is not translated")
        dtype = value.dtype
    elif node.args:
        return world.refuse(node, "NP2TF602", name=f"ndarray.{name}", why="its arguments are not translated")
    if dtype is not None:
        world.edit(node, _call_of(f"{world.tf}.cast", world.dtype_name(dtype)))
    elif name == "flatten":
        world.edit(node, _call_of(f"{world.tf}.reshape", "[-1]"))
    elif name != "astype" and base.only(*ARRAYS) and base.certain:
        world.edit(node.func.value, edits.to_numpy, CONVERTED)  # type: ignore[attr-defined]
    else:
        world.edit(node, edits.function_of(world.helper(_HELPERS[name])), _HELPERS[name])
    if name == "astype":
        rank = 0 if base.only("scalar") else base.rank
        return array(dtype, rank, [node], scalar=True).doubtful(base)
    if name == "flatten":
        return array(base.dtype, 1, [node]).doubtful(base)
    if name == "item":
        return plain("int", "float", "bool", "complex")
    inner = plain("int", "float", "bool", "complex")
    return join(list_value(inner, [node]), list_value(list_value(inner, [node]), [node])) or unknown(node)


def _call_of(path: str, argument: str) -> edits.Edit:
    """`x.astype(float)` -> `tf.cast(x, tnp.float64)`, `x.flatten()` -> `tf.reshape(x, [-1])`."""

    def edit(updated_node: cst.Call) -> cst.BaseExpression:
        assert isinstance(updated_node.func, cst.Attribute)
        x = edits.argument(edits.bare(updated_node.func.value))
        return expression("{f}({x}, {argument})", f=name_node(path), x=x, argument=expression(argument))

    return edit


# -- object calls --------------------------------------------------------------------------------------------
# Calls of the program's functions and classes, and of the methods of their objects.


def _module_call(
    node: cst.Call, functions: Collection[cst.FunctionDef], frame: Frame, receiver: Value | None = None
) -> Value:
    """Return the value of a call of functions that the program defines."""
    frame.world.called_functions[node] = list(functions)
    results: list[Value | None] = []
    for function in functions:
        arguments = bind_arguments(node, function, frame, receiver)
        results.append(run_function(node, function, arguments, frame))
        if frame.world.summary(function).writes and frame.writing_call is not node:
            inline_call(node, list(functions), frame)
    values = [value for value in results if value is not None]
    return union(values) if values else NO_VALUE


def _construct(node: cst.Call, value: Value, frame: Frame) -> Value:
    """Return the object that a call of a class of the program makes."""
    world, classes = frame.world, frame.world.program.classes
    root_classes: set[cst.ClassDef] = set()
    for class_node in value.classes:
        facts = classes.facts(class_node)
        root_classes.add(facts.root_class)
        new_object = Value(frozenset(["object"]), classes=frozenset([facts.root_class]))
        function = facts.find("__init__")
        if function is not None:
            _module_call(node, [function], frame, new_object)
        elif facts.is_dataclass:
            _set_fields(node, facts, frame)
        elif node.args:
            return world.refuse(node, "NP2TF603", what="a class without `__init__` that gets arguments")
        after = facts.find("__post_init__") if facts.is_dataclass else None
        if after is not None:
            run_function(node, after, {parameter_names(after)[0]: new_object}, frame)
        if any(world.summary(method).writes for method in (function, after) if method is not None):
            world.refuse(node, "NP2TF608", name=world.facts.code(node.func))
    world.method_runs.add(node)
    return Value(frozenset(["object"]), classes=frozenset(root_classes))


def _set_fields(node: cst.Call, facts: ClassFacts, frame: Frame) -> None:
    """Set the attributes of a new object of a dataclass."""
    fields = facts.every_field()
    names = list(fields)
    values: dict[str, Value] = {}
    for position, arg in enumerate(node.args):
        name = (
            arg.keyword.value if arg.keyword is not None else names[position] if position < len(names) else ""
        )
        if arg.star or name not in fields:
            frame.world.refuse(node, "NP2TF603", what="these arguments of a dataclass")
            return
        values[name] = frame.evaluate(arg.value)
        if frame.world.program.borders.has("attribute", facts.root_class, name):
            to_host(arg.value, values[name], frame)
            values[name] = as_host(values[name])
    for name, default in fields.items():
        if name in values:
            set_attribute((facts.root_class, name), values[name], frame)
        elif default is None or not default.is_plain:
            frame.world.refuse(node, "NP2TF603", what="this kind of dataclass field")


def _object_method(node: cst.Call, base: Value, name: str, frame: Frame) -> Value:
    """Return the value of a call of a method of an object of the program, or of a method of a class."""
    world, classes = frame.world, frame.world.program.classes
    world.forget(node.func)
    if classes.root_class(base) is None:
        return world.refuse(node, "NP2TF605", name=world.facts.code(node.func))
    world.method_runs.add(node)
    if base.only("class"):
        (class_node,) = base.classes
        function = classes.facts(class_node).find(name)
        if function is None or not {"staticmethod", "classmethod"}.intersection(decorator_names(function)):
            return world.refuse(node, "NP2TF603", what="a method of a class")
        return _module_call(node, [function], frame, base)
    (root_class,) = base.classes
    functions = classes.methods(root_class, name)
    if functions:
        return _module_call(node, functions, frame, base)
    value = classes.read((root_class, name))
    if value.functions and not value.may("any", "lambda"):
        return _module_call(node, value.functions, frame)
    for arg in node.args:
        frame.evaluate(arg.value)
    if value.is_undetermined:
        return NO_VALUE
    if value.is_host and not value.is_mixed:
        return host_call(node, value, frame)
    return world.refuse(node, "NP2TF607", name=world.facts.code(node.func))


def _is_super(node: cst.CSTNode) -> bool:
    """Return whether an expression is `super()`."""
    return isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value == "super"


def _super_method(node: cst.Call, name: str, frame: Frame) -> Value:
    """Return the value of a call of a method of the base class, `super().name(…)`."""
    world = frame.world
    owner = frame.summary.owner if frame.summary is not None else None
    facts = world.program.classes.facts(owner) if owner is not None else None
    function = facts.base.find(name) if facts is not None and facts.base is not None else None
    world.method_runs.add(node)
    if facts is not None and function is None and name == "__init__" and not node.args:
        return plain("none")
    if facts is None or function is None or world.summary(function).writes:
        return world.refuse(node, "NP2TF603", what="`super`")
    receiver = Value(frozenset(["object"]), classes=frozenset([facts.root_class]))
    return _module_call(node, [function], frame, receiver)


# -- dispatch ------------------------------------------------------------------------------------------------
# Calls: the kind of the called object decides which module of this folder follows the call.


def call(node: cst.Call, frame: Frame) -> Value:
    """Return the value of a call."""
    world, func = frame.world, node.func
    world.called_functions.pop(node, None)
    qualified_name = world.facts.imports.numpy_name(func)
    if qualified_name is not None and is_random_name(qualified_name, frame):
        return random_call(node, qualified_name.rpartition(".")[2], frame)
    if qualified_name is not None:
        return numpy_call(node, qualified_name, frame)
    if isinstance(func, cst.Attribute) and _is_super(func.value):
        return _super_method(node, func.attr.value, frame)
    if isinstance(func, cst.Attribute) and not _is_member(func, frame):
        base = frame.evaluate(func.value)
        if base.is_of_program:
            return _object_method(node, base, func.attr.value, frame)
        return _method_call(node, base, frame)
    if isinstance(func, cst.Name) and _is_builtin(func, frame):
        return _builtin_call(node, func.value, frame)
    value = frame.evaluate(func)
    if value.functions and not value.may("any", "lambda"):
        return _module_call(node, value.functions, frame)
    if value.only("class"):
        return _construct(node, value, frame)
    if value.only("object", "none") and value.may("object"):
        return _object_method(node, value, "__call__", frame)
    return _value_call(node, value, frame)


def _value_call(node: cst.Call, value: Value, frame: Frame) -> Value:
    """Return the value of a call of a value that is no function of the program alone."""
    world, func = frame.world, node.func
    if value.is_undetermined:
        for arg in node.args:
            frame.evaluate(arg.value)
        return NO_VALUE
    if value.functions and value.only("function", "lambda"):
        return _function_value_call(node, value, frame)
    path = library_name(func, frame)
    if value.is_host and not value.is_mixed and path.split(".")[0] not in ("math", "cmath"):
        return host_call(node, value, frame)
    for arg in node.args:
        frame.evaluate(arg.value)
    if path.split(".")[0] in ("math", "cmath"):
        return plain("int", "float", "bool")
    return world.refuse(node, "NP2TF607", name=world.facts.code(func))


def _function_value_call(node: cst.Call, value: Value, frame: Frame) -> Value:
    """Return the value of a call of a value that is one of several functions or lambdas."""
    world = frame.world
    functions = [function for function in value.functions if isinstance(function, cst.FunctionDef)]
    result = _module_call(node, functions, frame) if functions else NO_VALUE
    memory: set[object] = {node}
    for arg in node.args:
        argument = frame.evaluate(arg.value)
        memory |= argument.memory
        if is_host(argument):
            for function in value.functions:
                world.program.borders.want("statement", function)
    for function in value.functions:
        if isinstance(function, cst.Lambda) and function in world.lambda_results:
            of_lambda = world.lambda_results[function]
            made = replace(of_lambda, memory=frozenset(memory) if of_lambda.memory else frozenset())
            result = join(result, made) or made
    return result


def _is_member(func: cst.CSTNode, frame: Frame) -> bool:
    """Return whether an expression is an attribute of a module of the program."""
    if not isinstance(func, cst.Attribute) or dotted_name(func.value) is None:
        return False
    return bool(frame.evaluate(func.value).modules)


#: Builtins that `from pylab import *` replaces.
_OF_NUMPY_TOO = words("sum max min abs round any all pow")


def _is_builtin(func: cst.Name, frame: Frame) -> bool:
    unbound = frame.world.facts.scopes.owner(func) is None
    may_be_imported = frame.world.facts.imports.other_stars and func.value in _OF_NUMPY_TOO
    return unbound and func.value in BUILTINS and func.value not in frame.env and not may_be_imported
