"""Boundaries for raw tensors around the functions of a translation. Only imported code gets them.

A translated function that is not jitted first tests whether an argument may be or hold a raw tensor or a
Variable (`np2tf.staging.process.boundary`). If no argument does, the boundary does nothing else.
"""

from __future__ import annotations

import ast

from np2tf.core.rules import draws
from np2tf.loading.loops.names import functions_of, parameters_of
from np2tf.staging.process.boundary import AUTOGRAPH, DRAW
from np2tf.translator.sources.python_trees import DEFINITIONS, imports_in

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Scope = (*DEFINITIONS, ast.Lambda)
#: A function that uses such a name to list its variables would find the boundary's variable.
_LOOKS_INSIDE = frozenset({"locals", "vars", "dir", "eval", "exec"})
#: A function that uses such a name is written for tensors themselves.
_TENSORFLOW = frozenset({"tf", "tensorflow", "keras"})
#: A module that imports one of these is written for tensors as a whole.
_LIBRARIES = frozenset({"tensorflow", "keras", "tf_keras"})
#: Control flow on tensors, which AutoGraph stages where the translation has left it to Python.
_CONTROL = (ast.If, ast.IfExp, ast.While, ast.For, ast.BoolOp, ast.Not)


def add_boundaries(tree: ast.Module, source: ast.Module, compiler_functions: frozenset[str]) -> None:
    """Add the boundaries of a translation, and `draw_method` around methods that may draw random numbers."""
    _add_to_functions(tree, source, compiler_functions)
    for statement in tree.body:
        if getattr(statement, "name", None) not in compiler_functions:
            _Draws().visit(statement)


def _add_to_functions(tree: ast.Module, source: ast.Module, compiler_functions: frozenset[str]) -> None:
    """Add a boundary to every outermost function except the jitted functions, whose calls have a
    boundary already.

    Args:
        tree: the translation, with the source's places; it is changed.
        source: the tree of the source.
        compiler_functions: the names of functions that another compiler reads, which stay as they are.
    """
    modules = (module for node in ast.walk(source) for _, module, _ in imports_in(node))
    if any(module.partition(".")[0] in _LIBRARIES for module in modules):
        return
    in_source = functions_of(source.body, everywhere=True)
    sources = {(function.name, function.lineno): function for function, _ in in_source}
    for function, in_class in functions_of(tree.body, everywhere=True):
        if function.name in compiler_functions or is_jitted(function):
            continue
        before = sources.get((function.name, function.lineno))
        as_it_was = before is not None and ast.dump(before) == ast.dump(function)
        nodes = list(ast.walk(function))
        has_draws = any(isinstance(node, ast.Attribute) and node.attr in draws() for node in nodes)
        has_control = any(isinstance(node, _CONTROL) for node in nodes)
        for_autograph = as_it_was and has_control and not has_draws
        _add_boundary(function, in_class, AUTOGRAPH if for_autograph else "_np2tf_boundary")


def is_jitted(function: _Function) -> bool:
    """Return whether a function of a translation is decorated with `np2tf.jit`."""
    return any(ast.unparse(decorator).startswith("np2tf.jit") for decorator in function.decorator_list)


def _add_boundary(function: _Function, in_class: bool, entry: str) -> None:
    start = 0 if ast.get_docstring(function, clean=False) is None else 1
    names = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
    has_self = in_class and "staticmethod" not in map(ast.unparse, function.decorator_list)
    has_self = has_self and bool(function.args.posonlyargs or function.args.args)
    parameters = parameters_of(function.args)[has_self:]
    if not parameters or all(map(_is_empty, function.body[start:])):
        return
    if not names.isdisjoint(_LOOKS_INSIDE | _TENSORFLOW):
        return
    inner: list[ast.stmt] = list(map(_Results().visit, function.body[start:]))
    if not isinstance(inner[-1], (ast.Return, ast.Raise)):
        end = ast.parse("if _np2tf_here is not None: _np2tf_here.give(None)").body[0]
        _place(end, inner[-1])
        inner.append(end)
    may = " or ".join(f"_np2tf_type({name}) in _np2tf_suspects" for name in parameters)
    enter = ast.parse(
        f"_np2tf_here = {entry}({', '.join(parameters)}) if {may} else None\n"
        "if _np2tf_here is not None:\n"
        + "\n".join(f"    {name} = _np2tf_here.take({name})" for name in parameters)
    ).body
    for node in enter:
        _place(node, function.body[start])
    function.body[start:] = [*enter, *inner]


def _is_empty(node: ast.stmt) -> bool:
    """Return whether a statement has no effect besides raising: ``pass``, ``...``, or ``raise``."""
    return isinstance(node, (ast.Pass, ast.Raise)) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    )


class _Draws(ast.NodeTransformer):
    """Puts `draw_method` around `rng.normal` in `rng.normal(…)`: rng may be a generator, and the code may run
    while the program builds a graph.
    """

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        method = node.func
        if isinstance(method, ast.Attribute) and method.attr in draws() and _root(method) != "tnp":
            wrapped = ast.parse(f"{DRAW}(_)", mode="eval").body
            _place(wrapped, method)
            wrapped.args = [method]  # type: ignore[attr-defined]
            node.func = wrapped
        return node


def _root(node: ast.expr) -> str | None:
    """Return the name at the start of a chain of attributes."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


class _Results(ast.NodeTransformer):
    """Passes results and yielded values through the boundary; functions inside have boundaries of their
    own.
    """

    def generic_visit(self, node: ast.AST) -> ast.AST:
        return node if isinstance(node, _Scope) else super().generic_visit(node)

    def visit_Return(self, node: ast.Return) -> ast.AST:
        self.generic_visit(node)
        node.value = _give_call(node.value or ast.copy_location(ast.Constant(None), node))
        return node

    def visit_Yield(self, node: ast.Yield) -> ast.AST:
        self.generic_visit(node)
        if node.value is not None:
            node.value = _give_call(node.value)
        return node


def _give_call(value: ast.expr) -> ast.expr:
    """Return the expression that passes ``value`` through the boundary to the caller."""
    expression = ast.parse("_np2tf_here.give(_) if _np2tf_here is not None else _", mode="eval").body
    _place(expression, value)
    expression.body.args, expression.orelse = [value], value  # type: ignore[attr-defined]
    return expression


def _place(node: ast.AST, place: ast.AST) -> None:
    """Give every node in `node` the place of `place`."""
    for inner_node in ast.walk(node):
        ast.copy_location(inner_node, place)
