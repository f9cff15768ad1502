"""Host values, which may be or contain NumPy's arrays: operations on them stay NumPy's.

An operation with a host value runs on NumPy: its text stays, and other operands become arrays (`_host(x)`).
Its result is a host value. The memory of a host value has the roots of the tensors of which it may be a copy
where the program has one array: if one of them is written to, all become NumPy's (borders.py).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import libcst as cst

from np2tf.core import rules
from np2tf.translator.facts.numpy_imports import BUILTINS
from np2tf.translator.facts.scopes import Comprehension, Scope
from np2tf.translator.tensorflow import edits
from np2tf.translator.tensorflow.borders import Borders, Cause
from np2tf.translator.tensorflow.conversions import convert
from np2tf.translator.tensorflow.model import Frame, World
from np2tf.translator.tensorflow.numpy_table import ON_HOST
from np2tf.translator.tensorflow.operations import element_of, named_dtype
from np2tf.translator.tensorflow.values import (
    HOST,
    NO_VALUE,
    Value,
    array,
    list_value,
    plain,
    union,
)
from np2tf.translator.tree.nodes import dotted_name, root_of, walk, words

# -- libraries -----------------------------------------------------------------------------------------------
# What is known about the libraries that get arrays.


@dataclass(frozen=True)
class Table:
    """The contents of rules/tensorflow/borders.toml."""

    readers: frozenset[str]
    sharers: frozenset[str]
    writers: frozenset[str]
    numpy_writers: frozenset[str]
    writing_methods: frozenset[str]
    writing_keywords: frozenset[str]
    keeping_methods: frozenset[str]
    sharing_functions: frozenset[str]
    read_counts: dict[str, int]
    results: dict[str, str]
    made: dict[str, list[str]]


@lru_cache(maxsize=1)
def table() -> Table:
    """Return the table of libraries."""
    data = rules.read_table("tensorflow/borders")
    fields: dict[str, Any] = {
        name: frozenset(one) if isinstance(one, list) else one for name, one in data.items()
    }
    return Table(**fields)


# -- values --------------------------------------------------------------------------------------------------
# Converts values at borders.


def host(memory: Iterable[object] = (), libraries: frozenset[str] = frozenset()) -> Value:
    """Return a value that may be any object of NumPy, Python or a library."""
    return Value(frozenset([HOST]), memory=frozenset(memory), libraries=libraries)


def as_host(value: Value) -> Value:
    """Return the value of an expression after its conversion; what holds no tensor stays what it is."""
    if not value.may_be_tensor:
        return value
    return host(value.memory)


def to_host(node: cst.BaseExpression, value: Value, frame: Frame, keeps: bool = True) -> None:
    """Convert an operand of NumPy's or of a library; if that `keeps` or writes to it, it is NumPy's already.

    Functions and classes of the program that get there stay on NumPy, which calls them.
    """
    world = frame.world
    give(value, world.program.borders, frame)
    if keeps:
        want_arrays(value, frame)
    if value.may_be_tensor:
        convert(node, value, frame)


def want_arrays(value: Value, frame: Frame) -> None:
    """Let the tensors in a value, or whose memory a host value has in NumPy's program, be NumPy's."""
    if value.may_be_tensor or contains_host(value):
        frame.world.program.borders.want_memory(
            root for root in value.memory if not _is_of_host(root, frame.world)
        )


def _is_of_host(root: object, world: World) -> bool:
    """Return whether a root of memory is an expression that gives host values alone."""
    value = world.values.get(root) if isinstance(root, cst.CSTNode) else None
    return value is not None and value.is_host and not value.may_be_tensor


def give(value: Value, borders: Borders, frame: Frame) -> None:
    """Let the functions and classes in a value stay on NumPy."""
    for function in value.functions:
        borders.want("statement", function)
    for class_node in value.classes:
        for node in frame.world.program.classes.derived(class_node):
            borders.want("statement", node)
    for part in value.parts:
        give(part, borders, frame)


def unmixed(sides: Sequence[tuple[cst.BaseExpression, Value]], frame: Frame) -> list[Value]:
    """Return the values of expressions one of which is chosen, or that are in a list: all are NumPy's if one
    is.
    """
    values = [value for _, value in sides]
    if not union(values).is_mixed:
        return values
    for node, value in sides:
        to_host(node, value, frame)
    return [as_host(value) for value in values]


def is_host(*values: Value) -> bool:
    """Return whether an operation on values runs on NumPy."""
    return any(value.is_host for value in values)


def contains_host(value: Value) -> bool:
    """Return whether a value, or an item in it, can be a host value."""
    return value.is_host or any(map(contains_host, value.parts))


# -- operations ----------------------------------------------------------------------------------------------
# Operations that stay NumPy's.


def border(node: cst.BaseExpression, frame: Frame) -> Value:
    """Return the value of an expression that is an operation of NumPy's, or whose result is NumPy's."""
    world = frame.world
    is_operation = world.program.borders.has("operation", node)
    if is_operation or (isinstance(node, cst.Call) and (_is_of_numpy(node, frame) or _draws(node, frame))):
        return operation(node, frame, is_evaluated=False)
    handler = world.expressions.get(type(node))
    if handler is None:
        return world.refuse(node, "NP2TF603", what=world.facts.code(node))
    value = handler(node, frame)
    if value.may_be_tensor and writes_of(node, frame):
        return world.refuse(node, "NP2TF608", name=world.facts.code(node))
    if value.may_be_tensor:
        give(value, world.program.borders, frame)
        convert(node, value, frame)
        world.program.borders.want_memory(value.memory - {node})
    return as_host(value)


def _is_of_numpy(node: cst.Call, frame: Frame) -> bool:
    name = frame.world.facts.imports.numpy_name(node.func)
    return name is not None and not name.startswith("numpy.random.")


def _draws(node: cst.Call, frame: Frame) -> bool:
    """Return whether a call draws random numbers."""
    name = frame.world.facts.imports.numpy_name(node.func)
    if name is not None:
        return name.removeprefix("numpy.random.") in frame.world.table.draws
    func = node.func
    return (
        isinstance(func, cst.Attribute)
        and func.attr.value in frame.world.table.draws
        and frame.evaluate(func.value).only("generator")
    )


def operation(node: cst.BaseExpression, frame: Frame, is_evaluated: bool = True) -> Value:
    """Return the value of an operation that NumPy or a library runs; its operands are converted.

    `is_evaluated`: the operands' values are known.
    """
    world = frame.world
    world.forget(node)
    root = root_of(node.func if isinstance(node, cst.Call) else node)
    if isinstance(root, cst.Name) and world.facts.imports.numpy_name(root) is not None:
        world.keep(root)
    memory: set[object] = {node}
    values = []
    is_called = isinstance(node, cst.Call) and world.facts.imports.numpy_name(node.func) is None
    if is_called and not isinstance(node.func, cst.Attribute):  # type: ignore[attr-defined]
        give(_callee(node.func, frame), world.program.borders, frame)  # type: ignore[attr-defined]
    operand_nodes = list(operands(node, frame))
    for operand in operand_nodes:
        value = world.values.get(operand) if is_evaluated else None
        values.append(frame.evaluate(operand) if value is None else value)
    keeps = isinstance(node, cst.Call) and _keeps(node, frame)
    for operand, value in zip(operand_nodes, values):
        to_host(operand, value, frame, keeps)
        memory |= value.memory
    if not keeps and _is_new(node, values, frame):
        memory = {node}
    if any(value.is_undetermined for value in values):
        return NO_VALUE
    dtype = _made_dtype(node, frame) if isinstance(node, cst.Call) else None
    if dtype is None or world.program.borders.has("expression", node):
        return host(memory, _NUMPY if _gives_numpys(node, values, frame) else frozenset())
    world.computing.add(node)
    world.edit(node, edits.wrap_in(f"{world.tf}.constant"), ON_HOST)
    return array(dtype, None, [node], scalar=True)


def _is_new(node: cst.BaseExpression, values: Sequence[Value], frame: Frame) -> bool:
    """Return whether an operation on values certainly gives an array of its own."""
    if isinstance(node, cst.BinaryOperation):
        is_of_array = any(value.only("array", "scalar") for value in values)
        return is_of_array and not isinstance(node.operator, cst.LeftShift)
    if isinstance(node, cst.UnaryOperation):
        return all(value.only("array", "scalar") for value in values)
    name = frame.world.facts.imports.numpy_name(node.func) if isinstance(node, cst.Call) else None
    return name in _NEW_ARRAYS


#: NumPy's functions that give numbers and arrays of numbers, whatever they get.
_NEW_ARRAYS = words(
    """
    numpy.argmin numpy.argmax numpy.argsort numpy.argwhere numpy.nonzero numpy.count_nonzero numpy.mean
    numpy.std numpy.var numpy.median numpy.zeros numpy.ones numpy.empty numpy.eye numpy.arange numpy.linspace
    numpy.zeros_like numpy.ones_like numpy.sin numpy.cos numpy.tan numpy.exp numpy.log numpy.sqrt numpy.isnan
    """
)
#: The libraries of host values that are NumPy's, which read what their methods get.
_NUMPY = frozenset(["numpy"])


def _gives_numpys(node: cst.BaseExpression, values: Sequence[Value], frame: Frame) -> bool:
    """Return whether an operation on values certainly gives an object of NumPy's."""
    if isinstance(node, cst.Call) and _is_of_numpy(node, frame):
        return not any(arg.keyword is not None and arg.keyword.value == "signature" for arg in node.args)
    hosts = [value for value in values if value.is_host]
    return (
        bool(values)
        and all(value.libraries == _NUMPY for value in hosts)
        and (bool(hosts) or values[0].only("array", "scalar"))
    )


def _made_dtype(node: cst.Call, frame: Frame) -> str | None:
    """Return the dtype of the new array that a function of NumPy makes whatever it gets; None if unknown."""
    world = frame.world
    name = (world.facts.imports.numpy_name(node.func) or "").removeprefix("numpy.")
    if name not in table().made or any(arg.star for arg in node.args):
        return None
    default, *parameters = table().made[name]
    positional = parameters[: parameters.index("*")] if "*" in parameters else parameters
    given = {
        arg.keyword.value if arg.keyword is not None else positional[position]: arg.value
        for position, arg in enumerate(node.args)
        if arg.keyword is not None or position < len(positional)
    }
    if len(given) < len(node.args) or not given.keys() <= set(parameters):
        return None
    if "dtype" not in given:
        return default or None
    value = world.values.get(given["dtype"])
    is_dtype = value is not None and value.only("dtype")
    return value.dtype if value is not None and is_dtype else named_dtype(given["dtype"], frame)


def _callee(node: cst.BaseExpression, frame: Frame) -> Value:
    """Return the value of what is called; nothing is known about a builtin."""
    is_builtin = isinstance(node, cst.Name) and frame.world.facts.scopes.owner(node) is None
    return host() if is_builtin else frame.evaluate(node)


def operands(node: cst.CSTNode, frame: Frame) -> Iterator[cst.BaseExpression]:
    """Yield the expressions whose values an operation gets."""
    numpy_name = frame.world.facts.imports.numpy_name
    if isinstance(node, cst.Call):
        func = node.func
        if numpy_name(func) is None and isinstance(func, cst.Attribute):
            yield func.value
        yield from (arg.value for arg in node.args)
    elif isinstance(node, cst.Attribute):
        if numpy_name(node) is None:
            yield node.value
    elif isinstance(node, cst.Subscript):
        yield node.value
        for element in node.slice:
            part = element.slice
            ends = (part.lower, part.upper, part.step) if isinstance(part, cst.Slice) else (part.value,)  # type: ignore[attr-defined]
            yield from (end for end in ends if end is not None)
    elif isinstance(node, (cst.BinaryOperation, cst.BooleanOperation)):
        yield from (node.left, node.right)
    elif isinstance(node, cst.UnaryOperation):
        yield node.expression
    elif isinstance(node, cst.Comparison):
        yield node.left
        yield from (target.comparator for target in node.comparisons)


#: The expressions that can be operations of NumPy's.
OPERATIONS = (
    cst.Call, cst.Attribute, cst.Name, cst.Subscript, cst.BinaryOperation, cst.BooleanOperation,
    cst.UnaryOperation, cst.Comparison,
)  # fmt: skip


def _keeps(node: cst.Call, frame: Frame) -> bool:
    """Return whether a call may write to its operands, or keep them."""
    name = frame.world.facts.imports.numpy_name(node.func)
    if _is_told_to_write(node):
        return True
    if name is not None:
        short = name.removeprefix("numpy.")
        if short.startswith("ndarray."):
            return True
        tables = frame.world.table
        function = tables.functions.get(short) or tables.host.get(short)
        known = function.read_count if function is not None else 2
        return short in table().numpy_writers or short.endswith(".at") or may_be_out(node, known, frame)
    if isinstance(node.func, cst.Attribute):
        base = frame.world.values.get(node.func.value)
        if base is not None and base.only("array", "scalar"):
            return node.func.attr.value in table().writing_methods or may_be_out(node, 1, frame)
    if isinstance(node.func, cst.Name) and frame.world.facts.scopes.owner(node.func) is None:
        return node.func.value not in BUILTINS
    name = library_name(node.func, frame)
    return not is_reader(name) or _may_be_out_of_library(node, name, frame)


def _may_be_out_of_library(node: cst.Call, name: str, frame: Frame) -> bool:
    """Return whether an argument of a library's function may be an array that it writes to by position."""
    count = table().read_counts.get(name.rpartition(".")[0])
    return count is not None and may_be_out(node, count, frame)


def may_be_out(node: cst.Call, known: int, frame: Frame) -> bool:
    """Return whether a positional argument behind the first `known` may be an array that is written to."""
    for position, arg in enumerate(node.args):
        value = frame.world.values.get(arg.value)
        is_array = value is None or value.may_be_array or contains_host(value)
        is_behind = known < sys.maxsize if arg.star == "*" else arg.keyword is None and position >= known
        if is_array and is_behind:
            return True
    return False


# -- calls ---------------------------------------------------------------------------------------------------
# Calls of libraries, and of functions that stay on NumPy.


def library_name(node: cst.CSTNode, frame: Frame) -> str:
    """Return the dotted name of a library's object; "" if an expression names none."""
    return (frame.world.facts.imports.imported_name(node) or "").lstrip(".")


def is_reader(name: str) -> bool:
    """Return whether a function of a library writes to no argument."""
    known = name.split(".")[0] in table().readers | table().sharers
    return known and not _is_writer(name)


def _is_writer(name: str) -> bool:
    """Return whether a function, or its module, is among those that may write to an argument or keep it."""
    return any(name == writer or name.startswith(f"{writer}.") for writer in table().writers)


def _is_told_to_write(node: cst.Call) -> bool:
    """Return whether a keyword lets a function write to an argument, or to the object whose method it is."""
    names = [arg.keyword.value for arg in node.args if arg.keyword is not None]
    return any(name in table().writing_keywords or name.startswith("overwrite") for name in names)


def host_call(node: cst.Call, called: Value, frame: Frame) -> Value:
    """Return the value of a call of a host value, or of a method of one."""
    name = library_name(node.func, frame)
    if name.startswith("tqdm.") and name.endswith(("tqdm", "trange")):
        return _progress(node, name, frame)
    libraries = called.libraries or frozenset([name.split(".")[0]] if name else [])
    known = bool(libraries) and libraries <= table().readers | table().sharers
    is_of_reader = libraries <= table().readers
    is_method = not name and not is_of_reader  # An object may keep what its methods get.
    hides = not is_of_reader and any(arg.star == "**" for arg in node.args)
    method = node.func.attr.value if isinstance(node.func, cst.Attribute) else ""
    shares = (method or name.rpartition(".")[2]) in table().sharing_functions
    writes = method in table().writing_methods or _is_told_to_write(node)
    if writes:
        want_arrays(called, frame)
    values = [frame.evaluate(arg.value) for arg in node.args]
    keeps = not known or is_method or _is_writer(name) or writes or hides
    keeps |= libraries == _NUMPY and may_be_out(node, 1, frame)
    keeps |= method in table().keeping_methods or _may_be_out_of_library(node, name, frame)
    memory: set[object] = set(called.memory)
    for arg, value in zip(node.args, values):
        to_host(arg.value, value, frame, keeps)
        if not libraries or not is_of_reader or shares:
            memory |= value.memory
    if name in table().results and all(value.is_plain for value in values):
        return plain(table().results[name])
    if any(value.is_undetermined for value in values):
        return NO_VALUE
    return host(memory, libraries)


def _progress(node: cst.Call, name: str, frame: Frame) -> Value:
    """Return the value of `tqdm(iterable)`, which gives the items of its argument."""
    values = [frame.evaluate(arg.value) for arg in node.args]
    if name.endswith("trange"):
        return plain("range")
    given = None
    for arg, value in zip(node.args, values):
        keyword = arg.keyword.value if arg.keyword is not None else ""
        if not arg.star and (keyword == "iterable" or (not keyword and arg is node.args[0])):
            given = value
        else:
            to_host(arg.value, value, frame)
    if given is None:
        memory = {root for value in values for root in value.memory}
        return host(memory, frozenset() if memory else frozenset(["tqdm"]))
    return list_value(element_of(given), [node, *given.memory])


# -- what stays ----------------------------------------------------------------------------------------------
# Statements, functions, classes and lambdas whose text does not change.


def stay(node: cst.CSTNode, frame: Frame) -> list[str]:
    """Let a statement stay as it is; return the names that it binds in the scope at hand.

    What it reads is NumPy's, and the functions and classes that it names stay, too.
    """
    world = frame.world
    world.forget(node)
    inside = set(walk(node))
    names: dict[str, None] = {}
    here = (
        world.facts.scopes.inside(frame.function) if frame.function is not None else world.facts.scopes.module
    )
    for name, bindings in here.bindings.items():
        if not inside.isdisjoint(bindings):
            names[name] = None
    for inner_node in inside:
        if isinstance(inner_node, (cst.Import, cst.ImportFrom)):
            for module in imported_modules(inner_node, world):
                stay_with(module, world)
        if isinstance(inner_node, cst.Name) and _is_variable(inner_node, frame):
            _stay_name(inner_node, inside, frame)
    return list(names)


def stay_with(module: Value, world: World) -> None:
    """Let modules of the program stay as they are, because code that stays in another module imports them."""
    program = world.program
    for file in module.modules - {world.file}:
        program.borders.want("file", file)
        cause = Cause(file, program.worlds[file].facts.module, "NP2TF610", (("other", world.file),))
        program.borders.explain(cause)


def _is_variable(node: cst.Name, frame: Frame) -> bool:
    up = frame.world.facts.parents[node]
    if isinstance(up, cst.Attribute):
        return up.value is node
    if isinstance(up, cst.Arg):
        return up.keyword is not node
    if isinstance(up, cst.Param):
        return up.name is not node
    return not isinstance(up, (cst.FunctionDef, cst.ClassDef, cst.ImportAlias, cst.ImportFrom))


def _stay_name(node: cst.Name, inside: set[cst.CSTNode], frame: Frame) -> None:
    """Let a name of an outer scope, in a statement that stays, be NumPy's."""
    world = frame.world
    borders = world.program.borders
    if world.facts.imports.numpy_name(node) is not None:
        world.keep(node)
        return
    owner = world.facts.scopes.owner(node)
    if owner is None or owner.node in inside or _is_only_bound(node, owner, frame):
        return
    if isinstance(owner.node, Comprehension) and node.value in frame.env:
        if frame.env[node.value].may_be_tensor:
            world.refuse(node, "NP2TF605", name=node.value)
        return
    value = _value_in(node.value, None if owner.is_module else owner.node, frame)
    if value is None:
        return
    give(value, borders, frame)
    up = world.facts.parents[node]
    for file in value.modules:
        member = world.program.member(value, up.attr.value) if isinstance(up, cst.Attribute) else None
        if member is None or member.modules:
            borders.want("file", file)
        else:
            give(member, borders, frame)
            if member.may_be_tensor:
                borders.want("name", file, up.attr.value)  # type: ignore[union-attr]
    if value.may_be_tensor:
        borders.want("name", world.file if owner.is_module else owner.node, node.value)
    want_arrays(value, frame)


def _is_only_bound(node: cst.Name, owner: Scope, frame: Frame) -> bool:
    """Return whether a name is a target of an assignment, or in an annotation."""
    parents = frame.world.facts.parents
    is_target = any(binding is node for binding in owner.bindings.get(node.value, ()))
    is_updated = isinstance(parents[node], cst.AugAssign)
    return (is_target and not is_updated) or parents.nearest(node, cst.Annotation) is not None


def _value_in(name: str, function: cst.CSTNode | None, frame: Frame) -> Value | None:
    """Return all possible values of a variable of a function, or of the module."""
    world = frame.world
    known = frame.env.get(name) if function is frame.function else None
    if function is None:
        return union([world.globals.get(name), known]) if name in world.globals or known else None
    summary = world.program.summaries.get(function)
    history = summary.history.get(name) if summary is not None else None
    return union([history, known]) if history is not None or known is not None else None


def writes_of(node: cst.CSTNode, frame: Frame) -> bool:
    """Return whether an expression calls a function of the program that returns what it writes to, too."""
    functions = frame.world.called_functions.get(node, []) if isinstance(node, cst.Call) else []
    return any(frame.world.summary(function).writes for function in functions)


# -- bindings ------------------------------------------------------------------------------------------------
# Names, attributes and items that hold host values.


def converted(target: cst.CSTNode, value: Value, frame: Frame, statement: cst.CSTNode) -> Value:
    """Convert what is bound to a place that holds what is NumPy's."""
    if not value.may_be_tensor:
        want_arrays(value, frame)
        return value
    node = _bound_expression(target, statement)
    if node is None or writes_of(node, frame):
        frame.world.program.borders.want_memory(value.memory)
        frame.world.refuse(target, "NP2TF603", what="what is bound to a name of NumPy's")
    else:
        to_host(node, value, frame)
    return as_host(value)


def _bound_expression(target: cst.CSTNode, statement: cst.CSTNode) -> cst.BaseExpression | None:
    """Return the expression of a statement whose value a target alone gets; None if there is none."""
    if isinstance(statement, cst.AnnAssign):
        return statement.value
    if not isinstance(statement, cst.Assign) or len(statement.targets) != 1:
        return None
    (whole,), value = statement.targets, statement.value
    if whole.target is target:
        return value
    if not isinstance(whole.target, cst.Tuple) or not isinstance(value, (cst.Tuple, cst.List)):
        return None
    elements = [*whole.target.elements, *value.elements]
    if len(whole.target.elements) != len(value.elements) or any(
        isinstance(element, cst.StarredElement) for element in elements
    ):
        return None
    pairs = zip(whole.target.elements, value.elements)
    return next((right.value for left, right in pairs if left.value is target), None)


def convert_key(target: cst.Subscript, frame: Frame) -> None:
    """Convert the key of an item of a host value."""
    for operand in operands(target, frame):
        value = frame.world.values.get(operand)
        if operand is not target.value and value is not None:
            to_host(operand, value, frame, keeps=False)


def store_in_host(
    target: cst.Subscript, base: Value, value: Value, frame: Frame, statement: cst.CSTNode
) -> None:
    """Follow `x[key] = value` where NumPy or Python writes to x."""
    convert_key(target, frame)
    converted(target, value, frame, statement)
    frame.world.program.borders.want_memory(base.memory)


def augment_host(node: cst.AugAssign, old: Value, right: Value, frame: Frame) -> Value:
    """Return the value of a place after `place += v`, where NumPy or Python computes it."""
    borders = frame.world.program.borders
    to_host(node.value, right, frame, keeps=not right.only("array", "scalar"))
    borders.want_memory(old.memory)
    return host([node, *old.memory])


# -- imports -------------------------------------------------------------------------------------------------
# The modules of the program that a statement imports.


def imported_modules(node: cst.Import | cst.ImportFrom, world: World) -> list[Value]:
    """Return the modules of the program that a statement imports, or from which it imports names."""
    if any(node in walk(up.body) for up in world.facts.parents.above(node) if is_for_types(up)):  # type: ignore[attr-defined]
        return []
    names = [] if isinstance(node.names, cst.ImportStar) else [alias.evaluated_name for alias in node.names]
    if isinstance(node, cst.ImportFrom):
        module = module_name_of(node)
        names = [module, *(module_below(module, name) for name in names)]
    modules = [world.program.module(name, world.file) for name in names]
    return [module for module in modules if module is not None]


def is_for_types(node: cst.CSTNode) -> bool:
    """Return whether a node is `if TYPE_CHECKING:` with imports alone, which only type checkers enter."""
    name = dotted_name(node.test) if isinstance(node, cst.If) else None
    if name is None or name.rpartition(".")[2] != "TYPE_CHECKING":
        return False
    lines = node.body.body  # type: ignore[attr-defined]
    imports = (cst.Import, cst.ImportFrom)
    return all(
        isinstance(line, cst.SimpleStatementLine) and all(isinstance(one, imports) for one in line.body)
        for line in lines
    )


def module_below(module: str, name: str) -> str:
    return module + name if module.endswith(".") else f"{module}.{name}"


def module_name_of(node: cst.ImportFrom) -> str:
    return "." * len(node.relative) + (dotted_name(node.module) or "")
