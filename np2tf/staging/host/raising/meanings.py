"""What the names of a converted function mean: np2tf's operators, and NumPy's objects for `tnp`'s."""

from __future__ import annotations

import ast
import builtins
import sys
import types
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from np2tf.arrays.front.numpy_functions import WRITES, Function, UniversalFunction
from np2tf.core.operators import OPERATORS, Undefined, load
from np2tf.staging.host.raising.trees import parts

#: Methods of a ufunc that mean the same in NumPy; its `at` returns the array in `tnp` only.
_SAME_METHODS = frozenset({"reduce", "accumulate", "reduceat", "outer"})
#: Functions whose results follow np2tf's rules of promotion, which are a setting.
_BY_RULES = frozenset({"numpy.promote_types", "numpy.result_type"})
#: Parameters into which NumPy's functions write, so that they have an effect.
_OUTPUTS = frozenset({"out", "where"})
#: The beginning of the text that stands for an object until the code is made.
_STANDS_FOR = "np2tf raises: object "
_ABSENT = object()


class Objects:
    """Objects that raised code has as constants. A text stands for each of them in the tree."""

    def __init__(self) -> None:
        self._values: list[Any] = []
        self._texts: dict[int, str] = {}

    def constant(self, value: Any, place: ast.AST) -> ast.Constant:
        """Return the expression of an object, at the place of another node."""
        text = self._texts.get(id(value))
        if text is None:
            text = self._texts[id(value)] = f"{_STANDS_FOR}{len(self._values)}"
            self._values.append(value)
        return ast.copy_location(ast.Constant(text), place)

    def value_of(self, node: ast.AST) -> Any:
        """Return the object of such an expression; the node itself, if it is another one."""
        value: Any = node.value if isinstance(node, ast.Constant) else None
        return self._value(value) if self._is_text(value) else node

    def put_into(self, code: types.CodeType) -> types.CodeType:
        """Return code with the objects in the place of their texts."""
        return code.replace(co_consts=tuple(map(self._constant, code.co_consts)))

    def _constant(self, constant: Any) -> Any:
        if isinstance(constant, types.CodeType):
            return self.put_into(constant)
        if type(constant) is tuple:
            return tuple(map(self._constant, constant))
        return self._value(constant) if self._is_text(constant) else constant

    def _is_text(self, value: Any) -> bool:
        return type(value) is str and value in self._texts.values()

    def _value(self, text: str) -> Any:
        return self._values[int(text.removeprefix(_STANDS_FOR))]


class Meanings:
    """Tells what the expressions of a function mean by its globals.

    Args:
        names: the globals.
        own: the names that the function or a function inside it binds, which are not the module's there.
    """

    def __init__(self, names: Mapping[str, Any], own: set[str]) -> None:
        self._names = names
        self._own = own
        self.objects = Objects()

    def value(self, node: ast.AST) -> Any:
        """Return the value of a global name or of an attribute of np2tf's modules; `_ABSENT` of others."""
        if isinstance(node, ast.Name):
            return _ABSENT if node.id in self._own else self._names.get(node.id, _ABSENT)
        if isinstance(node, ast.Attribute):
            module = self.value(node.value)
            if isinstance(module, types.ModuleType) and _is_of_np2tf(module):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    return getattr(module, node.attr, _ABSENT)
        return _ABSENT

    def operator(self, node: ast.AST) -> str:
        """Return the name of np2tf's operator that an expression is; empty if it is none."""
        if not isinstance(node, ast.Attribute) or node.attr not in OPERATORS:
            return ""
        return node.attr if self._is_np2tf(node.value) else ""

    def called(self, node: ast.AST | None) -> str:
        """Return the name of np2tf's operator that an expression calls; empty if it calls none."""
        if not isinstance(node, ast.Call) or any(isinstance(arg, ast.Starred) for arg in node.args):
            return ""
        return "" if any(keyword.arg is None for keyword in node.keywords) else self.operator(node.func)

    def _is_np2tf(self, node: ast.AST) -> bool:
        return self.value(node) is sys.modules["np2tf"]

    def is_builtin(self, node: ast.AST, *names: str) -> bool:
        """Return whether an expression is one of these builtins, by its own name or as np2tf's operator."""
        value = self.objects.value_of(node)
        if isinstance(node, ast.Name) and node.id not in self._own and node.id not in self._names:
            value = getattr(builtins, node.id, _ABSENT)
        if value is node or value is _ABSENT:
            return False
        return any(value is getattr(builtins, name) for name in names)

    def python(self, operator: str, place: ast.AST) -> ast.expr:
        """Return the expression of an operator's meaning in Python."""
        return self.objects.constant(load(OPERATORS[operator].python), place)

    def undefined(self, node: ast.expr) -> ast.expr:
        """Return the value of `np2tf.undefined("x")` as a constant; any other expression unchanged."""
        if self.called(node) != "undefined":
            return node
        assert isinstance(node, ast.Call)
        name = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else None
        return self.objects.constant(Undefined(name), node) if isinstance(name, str) else node

    def target_of_at(self, node: ast.AST) -> ast.expr | None:
        """Return x of `tnp.at(x)`; None for other expressions."""
        if not isinstance(node, ast.Call) or len(node.args) != 1 or node.keywords:
            return None
        is_at = isinstance(node.func, ast.Attribute) and node.func.attr == "at"
        is_at = is_at and self.value(node.func) is vars(sys.modules["np2tf.tnp"])["at"]
        return None if not is_at or isinstance(node.args[0], ast.Starred) else node.args[0]

    # -- NumPy -------------------------------------------------------------------------------------------

    def numpy(self, node: ast.AST, is_called: bool) -> ast.expr | None:
        """Return NumPy's own object in the place of `tnp`'s, read from NumPy's module whenever the code runs.

        None if they differ: functions that write return what they wrote to, and a function that is not called
        may be compared with another.
        """
        if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load):
            return None
        value = self.value(node)
        if value is _ABSENT:
            return None
        of = self.value(node.value)
        if type(of) is UniversalFunction:
            is_same = is_called and node.attr in _SAME_METHODS
            return self._path(f"{of.qualified_name}.{node.attr}", node) if is_same else None
        if type(value) in (Function, UniversalFunction):
            if not is_called or value.qualified_name in WRITES or value.qualified_name in _BY_RULES:
                return None
            new = self._path(value.qualified_name, node)
            return new if _at(value.qualified_name) is value.numpy else None
        path = self._module_path(node)
        if path and _at(path) is value and not isinstance(value, types.ModuleType):
            return self._path(path, node)
        return None

    def _module_path(self, node: ast.Attribute) -> str:
        """Return the path below NumPy of `tnp.float64`; empty for other attributes."""
        module = self.value(node.value)
        if not isinstance(module, types.ModuleType) or not module.__name__.startswith("np2tf.tnp"):
            return ""
        return f"numpy{module.__name__.removeprefix('np2tf.tnp')}.{node.attr}"

    def _path(self, path: str, place: ast.AST) -> ast.expr:
        new: ast.expr = self.objects.constant(np, place)
        for name in path.split(".")[1:]:
            new = ast.copy_location(ast.Attribute(new, name, ast.Load()), place)
        return new

    def is_pure(self, node: ast.AST) -> bool:
        """Return whether evaluating an expression, which is raised already, runs no function that may change
        something: only NumPy's functions that write nothing, and builtins that compute numbers.
        """
        if isinstance(node, ast.Call):
            is_known = self._is_of_numpy(node.func) or self.is_builtin(node.func, *_NUMBERS)
            if not is_known or any(
                keyword.arg is None or keyword.arg in _OUTPUTS for keyword in node.keywords
            ):
                return False
        elif isinstance(node, (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)):
            return False
        return all(map(self.is_pure, parts(node)))

    def _is_of_numpy(self, node: ast.AST) -> bool:
        path = []
        while isinstance(node, ast.Attribute):
            path.append(node.attr)
            node = node.value
        if self.objects.value_of(node) is not np or not path:
            return False
        name = ".".join(("numpy", *reversed(path)))
        return isinstance(_at(name), np.ufunc) or path[0] in _WITHOUT_EFFECTS


#: Builtins that compute numbers of numbers and arrays.
_NUMBERS = ("abs", "bool", "complex", "float", "int", "len", "max", "min", "round", "sum")
#: Functions of NumPy that are no ufuncs, and call nothing that they are given.
_WITHOUT_EFFECTS = frozenset(
    {
        "sum",
        "mean",
        "max",
        "min",
        "dot",
        "zeros",
        "ones",
        "array",
        "where",
        "prod",
        "std",
        "var",
        "norm",
        "any",
    }
    | {"all", "argmax", "argmin", "cumsum", "diff", "outer", "sort", "linspace", "arange", "full", "float64"}
)


def _at(path: str) -> Any:
    """Return the object of NumPy at a path."""
    value: Any = np
    for name in path.split(".")[1:]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = getattr(value, name, _ABSENT)
    return value


def _is_of_np2tf(module: types.ModuleType) -> bool:
    return module.__name__ == "np2tf" or module.__name__.startswith("np2tf.tnp")
