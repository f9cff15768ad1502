"""Builtins, `math`, comprehensions, `print` and strings that np2tf's versions replace."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache

import libcst as cst

from np2tf.core.operators import NUMBER, SEQUENCE, TYPE_TEST, of_role
from np2tf.translator.control.layout import code
from np2tf.translator.control.static import Static
from np2tf.translator.facts.facts import Facts
from np2tf.translator.facts.texts import Texts, is_call
from np2tf.translator.tree.nodes import first_parameter, walk
from np2tf.translator.tree.templates import expression, parenthesize

# -- calls ---------------------------------------------------------------------------------------------------
# Builtins, functions of `math` and comprehensions for which np2tf has versions that take staged values.

Comprehension = cst.ListComp | cst.GeneratorExp
_NUMBERS, _SEQUENCES, _TYPE_TESTS = of_role(NUMBER), of_role(SEQUENCE), of_role(TYPE_TEST)
#: Classes that have no numbers, so that `isinstance` needs no operator.
_OF_NO_NUMBERS = frozenset(
    {"str", "bytes", "list", "tuple", "dict", "set", "frozenset", "slice", "range", "type", "numpy.ndarray"}
)
#: NumPy's types that make numbers of TensorFlow's dtypes: ``np.float64(x)``.
_NUMBER_TYPES = frozenset(
    f"numpy.{name}"
    for name in (
        *("bool", "bool_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("byte", "short", "intc", "int_", "intp", "long", "longlong"),
        *("ubyte", "ushort", "uintc", "uint", "uintp", "ulong", "ulonglong"),
        *("float16", "float32", "float64", "half", "single", "double"),
        *("complex64", "complex128", "csingle", "cdouble"),
    )
)


def is_super(facts: Facts, node: cst.CSTNode) -> bool:
    """Return whether a node is `super()`."""
    return type(node) is cst.Call and not node.args and is_call(facts, node, ("super",))


def is_text_for_exception(facts: Facts, part: cst.CSTNode) -> bool:
    """Return whether an expression is part of an exception's message, which only the host makes."""
    node: cst.CSTNode | None = part
    while node is not None and not _is_small_statement(type(node)):
        node = facts.parents[node]
    return type(node) is cst.Raise


@cache
def _is_small_statement(kind: type[cst.CSTNode]) -> bool:
    """Return whether nodes of this class are small statements. Cached by class, because the test is slow."""
    return issubclass(kind, cst.BaseSmallStatement)


class Calls:
    """Analyses a function's expressions; `iterable` tells whether one may be an array or many numbers."""

    def __init__(self, facts: Facts, static: Static, iterable: Callable[[cst.BaseExpression], bool]) -> None:
        self._facts = facts
        self._static = static
        self._iterable = iterable

    def sequences(self, node: cst.BaseExpression) -> Iterator[cst.Name]:
        """Yield the names `range`, `zip` … in a lowered loop's iterable, outermost first."""
        if type(node) is not cst.Call or not is_call(self._facts, node, _SEQUENCES):
            return
        inner = [name for arg in node.args for name in self.sequences(arg.value)]
        if inner or not all(self._static(arg.value) for arg in node.args):
            yield cst.ensure_type(node.func, cst.Name)
        yield from inner

    def builtins(self, nodes: Iterable[cst.CSTNode]) -> Iterator[cst.Name]:
        """Yield the names of builtins that are called with values that may be staged."""
        for node in nodes:
            if type(node) is cst.Call and is_call(self._facts, node, _NUMBERS):
                plain = bool(node.args) and not any(arg.keyword or arg.star for arg in node.args)
                if plain and not self._static(node) and not is_text_for_exception(self._facts, node):
                    yield cst.ensure_type(node.func, cst.Name)

    def type_tests(self, nodes: Iterable[cst.CSTNode]) -> Iterator[cst.Name]:
        """Yield the names of builtins that ask for the type of a value that may be a staged number."""
        for node in nodes:
            if type(node) is cst.Call and node.args and is_call(self._facts, node, _TYPE_TESTS):
                name = cst.ensure_type(node.func, cst.Name)
                plain = not any(arg.keyword or arg.star for arg in node.args)
                if not plain or self._static(node.args[0].value):
                    continue
                if name.value != "isinstance" or not self._have_no_numbers(node.args[-1].value):
                    yield name

    def _have_no_numbers(self, classes: cst.BaseExpression) -> bool:
        if type(classes) is cst.Tuple:
            return all(self._have_no_numbers(element.value) for element in classes.elements)
        name = self._facts.imports.numpy_name(classes) or getattr(classes, "value", "")
        return name in _OF_NO_NUMBERS

    def of_math(self, nodes: Iterable[cst.CSTNode]) -> list[cst.BaseExpression]:
        """Return the functions of Python's `math` that are called with values that may be staged."""
        return [
            node.func
            for node in self._calls_of_staged(nodes)
            if self._is_of_math(node.func) and not is_text_for_exception(self._facts, node)
        ]

    def number_types(self, nodes: Iterable[cst.CSTNode]) -> list[cst.BaseExpression]:
        """Return the types of NumPy's that convert values that may be staged: `np.float64(x)`."""
        return [
            node.func
            for node in self._calls_of_staged(nodes)
            if self._facts.imports.numpy_name(node.func) in _NUMBER_TYPES
        ]

    def _calls_of_staged(self, nodes: Iterable[cst.CSTNode]) -> Iterator[cst.Call]:
        """Yield the calls with an argument that may be staged."""
        for node in nodes:
            if type(node) is cst.Call and not all(self._static(arg.value) for arg in node.args):
                yield node

    def is_list_of(self, node: cst.CSTNode) -> bool:
        """Return whether a comprehension may run over an array or many numbers, and computes with arrays."""
        if type(node) is not cst.ListComp and type(node) is not cst.GeneratorExp:
            return False
        loop = node.for_in
        if loop.inner_for_in is not None or loop.asynchronous is not None or not _flat(loop.target):
            return False
        if isinstance(node, cst.GeneratorExp) and not self._is_for_a_builtin(node):
            return False
        if any(isinstance(part, (cst.NamedExpr, cst.Await, cst.Yield)) for part in walk(node)):
            return False
        parts = [node.elt, *(part.test for part in loop.ifs)]
        return self._iterable(loop.iter) and not all(self._static(part) for part in parts)

    def _is_for_a_builtin(self, node: cst.GeneratorExp) -> bool:
        """Return whether a generator is the only argument of a function that consumes all of it."""
        arg = self._facts.parents[node]
        call = self._facts.parents[arg] if type(arg) is cst.Arg else None
        if type(call) is not cst.Call or len(call.args) != 1:
            return False
        return is_call(self._facts, call, ("sum", "min", "max", "list"))

    def _is_of_math(self, func: cst.BaseExpression) -> bool:
        module, _, _ = (self._facts.imports.imported_name(func) or "").rpartition(".")
        return module == "math"


def _flat(target: cst.BaseExpression) -> bool:
    """Return whether a target can be the parameters of a lambda, which have different names."""
    parts = [part.value for part in target.elements] if type(target) is cst.Tuple else [target]
    names = [part.value for part in parts if type(part) is cst.Name]
    return len(names) == len(parts) == len(set(names))


def of_np2tf(name: cst.Name) -> cst.Attribute:
    """Return `np2tf.range` for `range`."""
    return cst.Attribute(cst.Name("np2tf"), name)


def of_np2tf_math(func: cst.BaseExpression) -> cst.BaseExpression:
    """Return `np2tf.math.sqrt` for `math.sqrt` or `sqrt`."""
    name = func.attr if type(func) is cst.Attribute else func
    return cst.Attribute(cst.Attribute(cst.Name("np2tf"), cst.Name("math")), cst.ensure_type(name, cst.Name))


def explicit_super(method: cst.FunctionDef) -> Callable[[cst.Call], cst.BaseExpression]:
    """Return an edit to `super(__class__, self)` for `super()`, which works only directly in the method."""
    first = first_parameter(method)
    return lambda updated_node: (
        expression(f"super(__class__, {first})").with_changes(lpar=updated_node.lpar, rpar=updated_node.rpar)
        if first
        else updated_node
    )


def wrap_callee(func: cst.BaseExpression) -> cst.BaseExpression:
    """Return `np2tf.call(func)` for `func`."""
    return expression("np2tf.call({func})", func=func)


def wrap_manager(manager: cst.BaseExpression) -> cst.BaseExpression:
    """Return `np2tf.context(manager)` for `manager`."""
    return expression("np2tf.context({manager})", manager=manager)


def list_of(node: Comprehension) -> cst.BaseExpression:
    """Return `np2tf.list_of(lambda v: v * v, x)` for `[v * v for v in x]`."""
    loop = node.for_in
    target = loop.target
    names = [part.value for part in target.elements] if type(target) is cst.Tuple else [target]
    params = ", ".join(cst.ensure_type(name, cst.Name).value for name in names)
    tests = [part.test for part in loop.ifs]
    if not tests:
        return expression(f"np2tf.list_of(lambda {params}: {{elt}}, {{iter}})", elt=node.elt, iter=loop.iter)
    where = tests[0]
    for test in tests[1:]:
        where = expression("np2tf.and_({a}, lambda: {b})", a=where, b=test)
    text = f"np2tf.list_of(lambda {params}: {{elt}}, {{iter}}, where=lambda {params}: {{where}})"
    return expression(text, elt=node.elt, iter=loop.iter, where=where)


# -- texts ---------------------------------------------------------------------------------------------------
# Lowers `print` and strings of values: `np2tf.print(…)`, and `np2tf.text("{:.2f}", s)` for `f"{s:.2f}"`.

Edit = Callable[[cst.CSTNode], cst.CSTNode]


def edits(
    function: cst.FunctionDef,
    facts: Facts,
    static: Static,
    nodes: Iterable[cst.CSTNode],
    *,
    hidden: bool = False,
) -> Iterator[tuple[cst.CSTNode, Edit]]:
    """Yield the prints and strings of a function that need run-time values, each with its edit.

    `hidden` adds strings that are not only shown; code that runs operation by operation can make them.
    """
    texts = Texts(function, facts)
    for node in nodes:
        if is_text_for_exception(facts, node):
            continue
        if is_call(facts, node, ("print",)):
            yield cst.ensure_type(node, cst.Call).func, of_np2tf  # type: ignore[misc]
        elif texts.is_text(node) and not _is_known(node, static) and (hidden or texts.is_shown(node)):
            edit = _edit(node)
            if edit is not None:
                yield node, edit


def _is_known(node: cst.CSTNode, static: Static) -> bool:
    """Return whether a string is made only of values that are known while staging."""
    if type(node) is cst.Call:
        return all(static(arg.value) for arg in node.args)
    if type(node) is cst.BinaryOperation:
        return static(node.right)
    parts = [part for part in walk(node) if type(part) is cst.FormattedStringExpression]
    return all(static(part.expression) for part in parts)


def _edit(node: cst.CSTNode) -> Edit | None:
    if type(node) is cst.BinaryOperation:
        return lambda updated_node: _call("percent", [updated_node.left, updated_node.right])  # type: ignore[attr-defined]
    if type(node) is not cst.Call:
        template = _template(node)
        return None if template is None else lambda updated_node: _text(template, updated_node)
    if type(node.func) is cst.Name:
        return lambda updated_node: updated_node.with_changes(func=of_np2tf(updated_node.func))  # type: ignore[attr-defined]
    return _of_format


def _of_format(updated_node: cst.CSTNode) -> cst.CSTNode:
    """Return `np2tf.text("{}", x)` for `"{}".format(x)`."""
    call = cst.ensure_type(updated_node, cst.Call)
    first = cst.Arg(cst.ensure_type(call.func, cst.Attribute).value)
    return call.with_changes(func=_of_np2tf("text"), args=[first, *call.args])


def _text(template: str, updated_node: cst.CSTNode) -> cst.CSTNode:
    return _call("text", [cst.parse_expression(template), *_values(updated_node)])


def _call(name: str, values: Sequence[cst.BaseExpression]) -> cst.Call:
    return cst.Call(_of_np2tf(name), [cst.Arg(parenthesize(value, (cst.Tuple,))) for value in values])


def _of_np2tf(name: str) -> cst.Attribute:
    return cst.Attribute(cst.Name("np2tf"), cst.Name(name))


def _values(node: cst.CSTNode) -> list[cst.BaseExpression]:
    """Return the expressions in a formatted string, in the order in which `str.format` counts them."""
    if type(node) is cst.ConcatenatedString:
        return [*_values(node.left), *_values(node.right)]
    expressions: list[cst.BaseExpression] = []
    for part in node.parts if type(node) is cst.FormattedString else ():
        if type(part) is cst.FormattedStringExpression:
            expressions.append(part.expression)
            expressions += [
                inner_part.expression
                for inner_part in part.format_spec or ()
                if hasattr(inner_part, "expression")
            ]
    return expressions


def _template(node: cst.CSTNode) -> str | None:
    """Return the template of `str.format` for the same string, as source text; None if there is none."""
    if type(node) is cst.ConcatenatedString:
        left, right = _template(node.left), _template(node.right)
        return None if left is None or right is None else f"{left} {right}"
    if type(node) is cst.SimpleString:
        return code(node).replace("{", "{{").replace("}", "}}") if "\\N" not in node.value else None
    assert type(node) is cst.FormattedString
    fields = [_field(part) for part in node.parts]
    if None in fields or any("\\N" in code(part) for part in node.parts):
        return None
    prefix = node.start.rstrip("\"'").lower().replace("f", "")
    return f"{prefix}{node.start.lstrip('rRfF')}{''.join(map(str, fields))}{node.end}"


def _field(part: cst.BaseFormattedStringContent) -> str | None:
    """Return one part of a formatted string in the syntax of `str.format`."""
    if type(part) is cst.FormattedStringText:
        return part.value
    assert type(part) is cst.FormattedStringExpression
    if part.equal is not None:
        return None
    conversion = f"!{part.conversion}" if part.conversion is not None else ""
    if part.format_spec is None:
        return f"{{{conversion}}}"
    inner = [_field(inner_part) for inner_part in part.format_spec]
    return None if None in inner else f"{{{conversion}:{''.join(map(str, inner))}}}"
