"""Evaluates expressions to their possible values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import libcst as cst

from np2tf.translator.facts.dataflow import bound_targets
from np2tf.translator.facts.numpy_imports import BUILTINS
from np2tf.translator.tensorflow import edits
from np2tf.translator.tensorflow.conversions import convert, holds_dtype
from np2tf.translator.tensorflow.host_calls import item_on_host
from np2tf.translator.tensorflow.hosts import (
    border,
    convert_key,
    host,
    is_host,
    library_name,
    operation,
    stay,
    to_host,
    unmixed,
)
from np2tf.translator.tensorflow.model import Frame, is_shared, refuse_shared
from np2tf.translator.tensorflow.objects import (
    parameter_names,
    property_functions,
    read_attribute,
    run_property,
)
from np2tf.translator.tensorflow.operations import (
    arithmetic,
    binary,
    choose,
    element_of,
    key_part,
    show_in_text,
)
from np2tf.translator.tensorflow.other_calls import call
from np2tf.translator.tensorflow.values import (
    ARRAYS,
    CONTAINERS,
    HOST,
    NO_VALUE,
    Value,
    array,
    broadcast_rank,
    join,
    list_value,
    plain,
    promote,
    tuple_value,
    union,
    unknown,
)
from np2tf.translator.tree.nodes import named_parameters, walk

# -- attributes ----------------------------------------------------------------------------------------------
# The attributes of arrays that are translated.


def _shape(node: cst.Attribute, base: Value, frame: Frame) -> Value:
    up = frame.world.facts.parents[node]
    by_number = type(up) is cst.Subscript and up.value is node and is_number(up.slice)
    unpacked = type(up) is cst.Assign and type(up.targets[0].target) is cst.Tuple
    if not by_number and not (unpacked and len(up.targets) == 1):  # type: ignore[union-attr]
        frame.world.edit(node, edits.wrap_in("tuple"))
    return Value(frozenset(["shape"]), rank=base.rank)


def is_number(elements: Sequence[cst.SubscriptElement]) -> bool:
    """Return whether the key in the brackets is a literal number."""
    part = elements[0].slice
    number = part.value if type(part) is cst.Index else None
    if type(number) is cst.UnaryOperation and type(number.operator) is cst.Minus:
        number = number.expression
    return len(elements) == 1 and type(number) is cst.Integer


def _size(node: cst.Attribute, base: Value, frame: Frame) -> Value:
    helper = frame.world.helper("_size")
    frame.world.edit(node, edits.tail(helper), "_size")
    return plain("int")


def _real(node: cst.Attribute, base: Value, frame: Frame) -> Value:
    frame.world.edit(node, edits.tail(f"{frame.world.tnp}.{node.attr.value}"))
    dtype = "float64" if base.dtype == "complex128" else base.dtype
    return Value(base.kinds, dtype, base.rank, memory=base.memory, certain=base.certain)


#: The attributes of arrays that are translated -> a function that plans the edit and returns the value.
ARRAY_ATTRIBUTES: dict[str, Callable[[cst.Attribute, Value, Frame], Value]] = {
    "shape": _shape,
    "ndim": lambda node, base, frame: plain("int"),
    "size": _size,
    "T": lambda node, base, frame: base,
    "real": _real,
    "imag": _real,
    "dtype": lambda node, base, frame: Value(frozenset(["dtype"]), base.dtype, certain=base.certain),
}


_DTYPE_ATTRIBUTES = {
    "kind": "str",
    "name": "str",
    "char": "str",
    "str": "str",
    "itemsize": "int",
    "num": "int",
}


def dtype_attribute(node: cst.Attribute, frame: Frame) -> Value:
    """Return the value of an attribute of a dtype, which NumPy's dtype tells."""
    world, name = frame.world, node.attr.value
    if name not in _DTYPE_ATTRIBUTES:
        return world.refuse(node, "NP2TF601", name=f"dtype.{name}")
    convert(node.value, world.values[node.value], frame)
    return plain(_DTYPE_ATTRIBUTES[name])


def numpy_name(node: cst.Name | cst.Attribute, qualified_name: str, frame: Frame) -> Value:
    """Return the value of a name of NumPy that is not called."""
    world = frame.world
    name = qualified_name.removeprefix("numpy").removeprefix(".")
    up = world.facts.parents[node]
    if isinstance(up, cst.Attribute) and up.value is node and name in ("", "linalg", "fft", "random"):
        return plain("module")
    if name in world.table.constants:
        text = world.table.constants[name]
        world.edit(node, edits.rename_to(text.replace("tnp", world.tnp)))
        return plain("none") if text == "None" else plain("float")
    if name in world.table.dtypes:
        world.edit(node, edits.rename_to(world.dtype_name(world.table.dtypes[name])))
        return Value(frozenset(["dtype"]), world.table.dtypes[name])
    if name in world.table.kept:
        world.keep(node)
        return plain("function", HOST)
    return world.refuse(node, "NP2TF601", name=world.facts.code(node))


# -- expressions ---------------------------------------------------------------------------------------------
# Evaluates expressions to their possible values, and plans the edit of each expression.

_LITERALS = {"None": "none", "True": "bool", "False": "bool"}
_LIBRARIES = frozenset({"math", "cmath"})


def _name(node: cst.Name, frame: Frame) -> Value:
    name, world = node.value, frame.world
    if name in _LITERALS:
        return plain(_LITERALS[name])
    qualified_name = world.facts.imports.numpy_name(node)
    if qualified_name is not None:
        return numpy_name(node, qualified_name, frame)
    if is_shared(node, frame):
        return _unmixed_name(node, frame.shared_names(name).get(name, NO_VALUE), frame)
    if name in frame.env:
        return _unmixed_name(node, _read(node, frame.env[name], frame), frame)
    owner = world.facts.scopes.of(node).owner_of(name)
    if owner is None:
        if name in ("__name__", "__file__"):
            return plain("str")
        return plain("function", HOST) if name in BUILTINS else host()
    if not owner.is_module and owner.node in world.program.summaries:
        value = world.program.summaries[owner.node].history.get(name)
        outer = NO_VALUE if value is None else world.outer_value(value, ("outer", name, owner.node))
        return _unmixed_name(node, _read(node, outer, frame), frame)
    return _unmixed_name(node, _read(node, world.read_global(name), frame), frame)


def _unmixed_name(node: cst.Name, value: Value, frame: Frame) -> Value:
    """Let a name that may hold a tensor or a host value hold host values alone, from the next time on."""
    if not value.is_mixed:
        return value
    world, name = frame.world, node.value
    owner = world.facts.scopes.of(node).owner_of(name)
    summary = world.program.summaries.get(owner.node) if owner is not None else None
    parameter = summary.parameters.get(name) if summary is not None else None
    scope = owner.node if owner is not None and not owner.is_module else world.file
    kind = "parameter" if parameter is not None and parameter.is_mixed else "name"
    if not world.program.borders.want(kind, scope, name):
        world.refuse(node, "NP2TF605", name=name)
    return value


def _read(node: cst.Name | cst.Attribute, value: Value, frame: Frame) -> Value:
    """Read a name. A function that is not called at once counts as a value."""
    up = frame.world.facts.parents[node]
    if value.functions and not (type(up) is cst.Call and up.func is node):
        for function in value.functions:
            if isinstance(function, cst.Lambda):
                continue
            summary = frame.world.summary(function)
            frame.world.note_change(not summary.is_value)
            summary.is_value = True
    return value


def _attribute(node: cst.Attribute, frame: Frame) -> Value:
    world = frame.world
    qualified_name = world.facts.imports.numpy_name(node)
    if qualified_name is not None:
        return numpy_name(node, qualified_name, frame)
    base, name = frame.evaluate(node.value), node.attr.value
    if base.is_undetermined:
        return NO_VALUE
    if base.is_host and not base.is_mixed and not base.modules:
        return _host_attribute(node, base, frame)
    if base.is_of_program:
        properties = [] if base.only("class") else property_functions(node, base, frame)
        if properties:
            return union(run_property(node, function, base, frame) for function in properties)
        return _read(node, read_attribute(node, base, frame), frame)
    if base.modules:
        member = world.program.member(base, name) if len(base.modules) == 1 else None
        if member is None or world.program.is_numpys(base, name):
            return world.refuse(node, "NP2TF607", name=world.facts.code(node))
        return _read(node, member, frame)
    if base.only("module"):
        return plain("float") if _library(node.value, frame) in _LIBRARIES else plain(HOST, "function")
    if base.only("dtype") and world.facts.imports.numpy_name(node.value) is None:
        return dtype_attribute(node, frame)
    if not base.may_be_array or not base.may(*ARRAYS):
        return (
            plain(HOST, "function")
            if base.is_plain
            else world.refuse(node, "NP2TF605", name=world.facts.code(node.value))
        )
    handler = ARRAY_ATTRIBUTES.get(name)
    if handler is None:
        return world.refuse(node, "NP2TF601", name=f"ndarray.{name}")
    return handler(node, base, frame)


def _host_attribute(node: cst.Attribute, base: Value, frame: Frame) -> Value:
    """Return the value of an attribute of a host value; shapes and numbers of axes are Python's integers."""
    if node.attr.value in ("shape", "ndim"):
        return plain("shape" if node.attr.value == "shape" else "int")
    if library_name(node, frame).startswith("scipy.constants."):
        return plain("float")
    return host(base.memory, base.libraries)


def _library(node: cst.CSTNode, frame: Frame) -> str:
    return (frame.world.facts.imports.imported_name(node) or "").split(".")[0]


def _subscript(node: cst.Subscript, frame: Frame) -> Value:
    grid = (frame.world.facts.imports.numpy_name(node.value) or "").removeprefix("numpy.")
    if grid in frame.world.table.grids:
        return item_on_host(node, grid, frame)
    base = frame.evaluate(node.value)
    key = [key_part(element, frame) for element in node.slice]
    if base.is_undetermined or any(value.is_undetermined for value in key):
        return NO_VALUE
    if base.is_of_program:
        return frame.world.refuse(node, "NP2TF603", what="a special method of objects")
    if base.is_host and not base.is_mixed:
        return operation(node, frame)
    if base.only("module", "function", "dtype") or base.only("str"):
        return plain("str") if base.only("str") else plain(HOST)
    if base.only("dict"):
        convert_key(node, frame)
    result: Value | None = None
    if base.may("array", "any") or base.only("scalar"):
        result = choose(base, node.slice, key, node)
    if base.may("shape"):
        result = join(result, plain("int", "shape") if not is_number(node.slice) else plain("int"))
    if base.may("tuple", "list", "dict"):
        result = join(result, _item(base, node, key))
    if base.may("str"):
        result = join(result, plain("str"))
    return (result or unknown(*base.memory)).doubtful(base)


def _item(base: Value, node: cst.Subscript, key: list[Value]) -> Value:
    """Return the item of a tuple, list or dictionary that a key selects."""
    part = node.slice[0].slice
    if type(part) is cst.Slice:
        return (
            base
            if base.items is None
            else Value(frozenset(["tuple"]), item=element_of(base), memory=base.memory)
        )
    if base.items is not None and is_number(node.slice):
        assert type(part) is cst.Index
        number = int(cst.Module([]).code_for_node(part.value).replace(" ", ""))
        if -len(base.items) <= number < len(base.items):
            return base.items[number]
    return element_of(base)


def _binary(node: cst.BinaryOperation, frame: Frame) -> Value:
    left, right = frame.evaluate(node.left), frame.evaluate(node.right)
    is_text = left.only("str") and isinstance(node.operator, cst.Modulo)
    if is_host(left, right) and not is_text and not left.is_mixed and not right.is_mixed:
        return operation(node, frame)
    return binary(node, left, right, frame)


def _unary(node: cst.UnaryOperation, frame: Frame) -> Value:
    value = frame.evaluate(node.expression)
    if type(node.operator) is cst.Not:
        return plain("bool")
    if value.is_host:
        return operation(node, frame)
    if type(node.operator) in (cst.Minus, cst.Plus) and value.dtype == "bool" and not value.only("bool"):
        return frame.world.refuse(node, "NP2TF602", name="a sign", why="booleans have none")
    if value.only("bool"):
        return plain("int")
    return arithmetic([value], node).doubtful(value)


def _boolean(node: cst.BooleanOperation, frame: Frame) -> Value:
    sides = [(side, frame.evaluate(side)) for side in (node.left, node.right)]
    return union(unmixed(sides, frame))


#: Operators that test what an object is, or whether it is an item.
_IDENTITY = (cst.Is, cst.IsNot)
_MEMBERSHIP = (cst.In, cst.NotIn)


def _comparison(node: cst.Comparison, frame: Frame) -> Value:
    world, operators = frame.world, [target.operator for target in node.comparisons]
    side_nodes = [node.left, *(target.comparator for target in node.comparisons)]
    sides = [frame.evaluate(side_node) for side_node in side_nodes]
    for before, operator, side in zip(sides, operators, sides[1:]):
        if isinstance(operator, _IDENTITY):
            if not (before.only("none") or side.only("none") or (before.is_plain and side.is_plain)):
                world.refuse(node, "NP2TF606", what="`is`")
        elif isinstance(operator, _MEMBERSHIP) and not _may_be_in(before, side):
            world.refuse(node, "NP2TF606", what="`in`")
    compares = not all(isinstance(operator, (*_IDENTITY, *_MEMBERSHIP)) for operator in operators)
    if compares and is_host(*sides) and not any(side.is_mixed for side in sides):
        return operation(node, frame)
    identity = all(isinstance(operator, _IDENTITY) for operator in operators)
    if not identity and any(side.is_of_program for side in sides):
        return world.refuse(node, "NP2TF603", what="a special method of objects")
    if any(map(holds_dtype, sides)) and not any(side.may("any") for side in sides):
        for side_node, side in zip(side_nodes, sides):
            if holds_dtype(side) and world.facts.imports.numpy_name(side_node) is None:
                convert(side_node, side, frame)
    if any(isinstance(operator, (*_IDENTITY, *_MEMBERSHIP)) for operator in operators):
        return plain("bool")
    return _order(node, sides, frame)


def _order(node: cst.Comparison, sides: Sequence[Value], frame: Frame) -> Value:
    """Return the value of a comparison of sizes, or of equality."""
    world = frame.world
    if any(side.is_undetermined for side in sides):
        return NO_VALUE
    if not any(side.may(*ARRAYS) for side in sides) or any(side.only("dtype") for side in sides):
        return plain("bool")
    if any(side.only("none", "str", "dict", "function") for side in sides):
        return world.refuse(node, "NP2TF606", what="a comparison with something other than a number")
    orders = not all(isinstance(t.operator, (cst.Equal, cst.NotEqual)) for t in node.comparisons)
    if orders and promote(sides) == "bool":
        return world.refuse(node, "NP2TF602", name="a comparison", why="TensorFlow does not order booleans")
    if any(side.only("list", "tuple") for side in sides) and any(side.may("array") for side in sides):
        return world.refuse(node, "NP2TF602", name="a comparison", why="an array is combined with a list")
    result = array("bool", broadcast_rank(sides), scalar=True)
    if any(side.may("any") for side in sides) or len(sides) > 2:
        result = join(result, plain("bool")) or result
    return result.doubtful(*sides)


def _may_be_in(value: Value, container: Value) -> bool:
    """Return whether `in` is translated: it compares the value with the items, or looks up its hash."""
    if value.is_plain and (container.is_plain or container.only("dict")):
        return True
    return not container.may("array", "dict", "other", "any")


def _tuple(node: cst.Tuple | cst.List, frame: Frame) -> Value:
    items = []
    for element in node.elements:
        value = frame.evaluate(element.value)
        if type(element) is cst.StarredElement:
            inside = [frame.evaluate(element.value) for element in node.elements]
            return list_value(
                union(element_of(value) if value.may(*CONTAINERS) else value for value in inside), [node]
            )
        items.append(value)
    if type(node) is cst.Tuple:
        return tuple_value(items)
    items = unmixed([(element.value, value) for element, value in zip(node.elements, items)], frame)
    return list_value(union(items), [node]) if items else Value(frozenset(["list"]), memory=frozenset([node]))


def _dict(node: cst.Dict, frame: Frame) -> Value:
    sides: list[tuple[cst.BaseExpression, Value]] = []
    item: Value | None = None
    for element in node.elements:
        value = frame.evaluate(element.value)
        if type(element) is cst.DictElement:
            _convert_key(element.key, frame)
            sides.append((element.value, value))
        else:
            item = join(item, element_of(value))
    for value in unmixed(sides, frame) if sides else ():
        item = join(item, value)
    memory = frozenset([node]) | (item.memory if item is not None else frozenset())
    return Value(frozenset(["dict"]), item=item, memory=memory)


def _convert_key(node: cst.BaseExpression, frame: Frame) -> None:
    """Let a key of a dictionary be NumPy's number: a NumPy scalar can be a key, a tensor cannot."""
    to_host(node, frame.evaluate(node), frame, keeps=False)


def _set(node: cst.Set | cst.SetComp, frame: Frame) -> Value:
    """Return the value of a set, which holds no tensor: tensors have no hash."""
    inner = frame.inner()
    if isinstance(node, cst.SetComp):
        _loops(node.for_in, inner)
        items = [node.elt]
    else:
        items = [element.value for element in node.elements]
    memory: set[object] = {node}
    for item in items:
        value = inner.evaluate(item)
        to_host(item, value, inner, keeps=False)
        memory |= value.memory
    frame.take_back(inner, _loop_names(node.for_in) if isinstance(node, cst.SetComp) else ())
    return host(memory)


def _comprehension(node: cst.ListComp | cst.GeneratorExp, frame: Frame) -> Value:
    inner = frame.inner()
    memory = _loops(node.for_in, inner)
    # A generator reads its iterable only when an item is requested.
    later = memory if type(node) is cst.GeneratorExp else frozenset()
    element = inner.evaluate(node.elt)
    frame.take_back(inner, _loop_names(node.for_in))
    return list_value(element, [node, *later])


def _dict_comprehension(node: cst.DictComp, frame: Frame) -> Value:
    inner = frame.inner()
    _loops(node.for_in, inner)
    _convert_key(node.key, inner)
    item = inner.evaluate(node.value)
    frame.take_back(inner, _loop_names(node.for_in))
    return Value(frozenset(["dict"]), item=item, memory=item.memory | {node})


def _loop_names(loop: cst.CompFor | None) -> Iterator[str]:
    """Yield the names that the loops of a comprehension bind."""
    while loop is not None:
        yield from bound_targets(loop.target)
        loop = loop.inner_for_in


def _loops(loop: cst.CompFor | None, frame: Frame) -> frozenset[object]:
    """Bind the names of the loops in a comprehension, and return the memory of their iterables."""
    memory: frozenset[object] = frozenset()
    while loop is not None:
        iterable = frame.evaluate(loop.iter)
        memory |= iterable.memory
        bind_quietly(loop.target, element_of(iterable), frame)
        for test in loop.ifs:
            frame.evaluate(test.test)
        if loop.asynchronous is not None:
            frame.world.refuse(loop, "NP2TF603", what="`async for`")
        loop = loop.inner_for_in
    return memory


def bind_quietly(target: cst.CSTNode, value: Value, frame: Frame) -> None:
    """Bind the names of a comprehension's target."""
    if type(target) is cst.Name:
        frame.env[target.value] = value
    elif isinstance(target, (cst.Tuple, cst.List)):
        for position, element in enumerate(target.elements):
            item = value.items[position] if value.items and position < len(value.items) else element_of(value)
            bind_quietly(element.value, item, frame)
    else:
        frame.world.refuse(target, "NP2TF603", what="such a target")


def _conditional(node: cst.IfExp, frame: Frame) -> Value:
    frame.evaluate(node.test)
    sides = [(side, frame.evaluate(side)) for side in (node.body, node.orelse)]
    return union(unmixed(sides, frame))


def _walrus(node: cst.NamedExpr, frame: Frame) -> Value:
    value = frame.evaluate(node.value)
    assert type(node.target) is cst.Name
    refuse_shared(node, node.target.value, value, frame)
    frame.bind(node.target.value, value)
    return value


def _format(node: cst.FormattedString, frame: Frame) -> Value:
    for part in node.parts:
        if type(part) is not cst.FormattedStringExpression:
            continue
        value = frame.evaluate(part.expression)
        if value.is_plain and not holds_dtype(value):
            continue
        if part.equal is not None:
            frame.world.refuse(part.expression, "NP2TF606", what="`{…=}`")
        elif part.conversion is not None or not (value.only(*ARRAYS) or part.format_spec):
            show_in_text(part.expression, value, frame)
    return plain("str")


def _lambda(node: cst.Lambda, frame: Frame) -> Value:
    borders = frame.world.program.borders
    if borders.has("statement", node):
        stay(node, frame)
        return plain("function", HOST)
    inner = frame.inner()
    params = node.params
    for param in named_parameters(node):
        inner.env[param.name.value] = unknown(("param", node, param.name.value), certain=False)
        if param.default is not None:
            frame.evaluate(param.default)
    if type(params.star_arg) is cst.Param or params.star_kwarg is not None:
        return frame.world.refuse(node, "NP2TF603", what="a lambda with `*`")
    result = inner.evaluate(node.body)
    frame.take_back(inner, parameter_names(node))
    inner_nodes = set(walk(node.body))
    if any(root not in inner_nodes for root in result.memory):
        return frame.world.refuse(node, "NP2TF603", what="a lambda that returns an array from elsewhere")
    frame.world.lambda_results[node] = result
    return Value(frozenset(["function", "lambda"]), functions=frozenset([node]))  # type: ignore[list-item]


def _plain(*kinds: str) -> Callable[[Any, Frame], Value]:
    return lambda node, frame: plain(*kinds)


#: Kind of expression -> the function that returns its possible values, and plans its edit.
EXPRESSIONS: dict[type[cst.CSTNode], Callable[[Any, Frame], Value]] = {
    cst.Name: _name,
    cst.Attribute: _attribute,
    cst.Subscript: _subscript,
    cst.BinaryOperation: _binary,
    cst.UnaryOperation: _unary,
    cst.BooleanOperation: _boolean,
    cst.Comparison: _comparison,
    cst.Tuple: _tuple,
    cst.List: _tuple,
    cst.Dict: _dict,
    cst.ListComp: _comprehension,
    cst.GeneratorExp: _comprehension,
    cst.DictComp: _dict_comprehension,
    cst.Set: _set,
    cst.SetComp: _set,
    cst.IfExp: _conditional,
    cst.NamedExpr: _walrus,
    cst.FormattedString: _format,
    cst.Lambda: _lambda,
    cst.StarredElement: lambda node, frame: frame.evaluate(node.value),
    cst.Call: call,
    cst.Integer: _plain("int"),
    cst.Float: _plain("float"),
    cst.Imaginary: _plain("complex"),
    cst.SimpleString: _plain("str"),
    cst.ConcatenatedString: _plain("str"),
    cst.Ellipsis: _plain("none"),
    cst.BaseExpression: border,  # type: ignore[type-abstract]
}
