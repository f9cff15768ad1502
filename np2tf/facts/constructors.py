"""The code that making an object runs: which classes of a module staged code may call.

While a function is staged, such a call runs once.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from np2tf.facts import Facts
from np2tf.facts.classes import Classes, decorators
from np2tf.facts.dataflow.reads_writes import block
from np2tf.tree.names import dotted_name

#: A class of the standard library whose objects consist of their attributes.
_NAMESPACE = "types.SimpleNamespace"
_FIELD = frozenset({"field", "dataclasses.field"})
#: The default factories that a field may have.
_FACTORIES = frozenset({"list", "dict", "set", "float", "int"})
_PLAIN: tuple[list[str], ...] = ([], ["property"], ["staticmethod"], ["classmethod"], ["np2tf.jit"])
#: The methods that Python runs when it makes an object.
_CONSTRUCTORS = ("__init__", "__post_init__")


class Constructors:
    """Analyses the classes at the top of one module, and `types.SimpleNamespace`."""

    def __init__(self, facts: Facts, classes: Classes) -> None:
        self._facts = facts
        self._classes = classes

    def run_by(self, func: cst.CSTNode) -> list[cst.FunctionDef]:
        """Return the functions that calling a class runs."""
        node = self._classes.class_named(func)
        if node is None:
            return []
        methods = [self._classes.inherited_method(node, name) for name in _CONSTRUCTORS]
        return [method for method in methods if method is not None]

    def makes(self, func: cst.CSTNode) -> bool:
        """Return whether calling `func` makes an object that consists of its attributes.

        Such a call has no effects besides the effects of the functions that it runs (`run_by`).
        """
        if self._facts.imports.imported_name(func) == _NAMESPACE:
            return True
        node = self._classes.class_named(func)
        if node is None or not self._classes.is_known(node):
            return False
        return all(map(self._is_plain, self._classes.lineage(node)))

    def _is_plain(self, node: cst.ClassDef) -> bool:
        """Return whether a class holds only methods, properties without setters, and plain values."""
        for statement in block(node.body):
            if type(statement) is cst.FunctionDef:
                special = statement.name.value in ("__new__", "__set_name__")
                if special or decorators(statement) not in _PLAIN:
                    return False
            elif type(statement) is cst.SimpleStatementLine:
                if not all(map(self._is_value, _values(statement))):
                    return False
            else:
                return False
        return True

    def _is_value(self, node: cst.CSTNode) -> bool:
        """Return whether a value in a class body is no call, or a call that makes a plain value.

        Other calls may make a descriptor, which acts when the attribute is read.
        """
        if type(node) is not cst.Call:
            return True
        if self._facts.imports.numpy_name(node.func) is not None:
            return True
        made_by = [arg.value for arg in node.args if arg.keyword and arg.keyword.value == "default_factory"]
        return _attribute_name(node) in _FIELD and all(dotted_name(value) in _FACTORIES for value in made_by)


def _values(statement: cst.SimpleStatementLine) -> Iterator[cst.CSTNode]:
    for small in statement.body:
        if isinstance(small, (cst.Assign, cst.AnnAssign)) and small.value is not None:
            yield small.value


def _attribute_name(node: cst.CSTNode) -> str | None:
    return dotted_name(node.func if type(node) is cst.Call else node)
