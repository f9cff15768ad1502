"""The classes of a module, and what making their objects runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import libcst as cst

from np2tf.translator.facts.dataflow import block
from np2tf.translator.facts.facts import Facts
from np2tf.translator.facts.kinds import Kind
from np2tf.translator.tree.nodes import dotted_name, first_parameter, walk

# -- classes -------------------------------------------------------------------------------------------------
# The classes of a module: which have objects that consist of their attributes, and which methods
# `self.method(…)` may run.

#: Decorators of a class that leave its methods and attributes as they are written.
_HARMLESS = frozenset({"dataclass", "dataclasses.dataclass", "total_ordering", "functools.total_ordering"})
_PLAIN_BASES = frozenset(
    {"object", "ABC", "abc.ABC", "Generic", "typing.Generic", "Protocol", "typing.Protocol"}
)
_METACLASSES = frozenset({"ABCMeta", "abc.ABCMeta"})
#: Methods that Python calls by itself when attributes are touched or the object goes away.
_HOOKS = frozenset({"__getattr__", "__getattribute__", "__setattr__", "__delattr__", "__del__"})
#: Decorators of methods that do not hide the function below them.
TRANSPARENT = ("staticmethod", "classmethod", "property")


@dataclass
class Classes:
    """The definitions of the classes at the top of a module."""

    facts: Facts
    _members: dict[cst.ClassDef, dict[str, cst.FunctionDef]] = field(default_factory=dict)
    _accessors: dict[tuple[cst.ClassDef, str], list[cst.FunctionDef]] = field(default_factory=dict)
    """The setters and deleters of properties, which only stores run."""
    _array_names: dict[cst.ClassDef, set[str]] = field(default_factory=dict)
    _owner: dict[cst.FunctionDef, cst.ClassDef] = field(default_factory=dict)
    _base_classes: dict[cst.ClassDef, list[cst.ClassDef]] = field(default_factory=dict)
    _subclasses: dict[cst.ClassDef, list[cst.ClassDef]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for node in self.facts.module.body:
            if isinstance(node, cst.ClassDef):
                members = self._members[node] = {}
                for method in block(node.body):
                    if isinstance(method, cst.FunctionDef):
                        self._add(node, members, method)
                self._owner.update(dict.fromkeys(self._methods_of(node), node))

    def _add(self, node: cst.ClassDef, members: dict[str, cst.FunctionDef], method: cst.FunctionDef) -> None:
        name = method.name.value
        if name in members and decorators(method) in ([f"{name}.setter"], [f"{name}.deleter"]):
            self._accessors.setdefault((node, name), []).append(method)
        else:
            members[name] = method
            self._accessors.pop((node, name), None)

    def _methods_of(self, node: cst.ClassDef) -> Iterator[cst.FunctionDef]:
        for name, method in self._members[node].items():
            yield method
            yield from self._accessors.get((node, name), ())

    def methods(self) -> Iterator[cst.FunctionDef]:
        """Yield the functions defined in the classes at the top of the module."""
        for node in self._members:
            yield from self._methods_of(node)

    def class_of(self, method: cst.FunctionDef) -> cst.ClassDef | None:
        """Return the class whose body defines a function; None if it is no method."""
        return self._owner.get(method)

    def is_accessor(self, method: cst.FunctionDef) -> bool:
        """Return whether a function is the setter or deleter of a property of a class."""
        owner = self._owner.get(method)
        return owner is not None and method in self._accessors.get((owner, method.name.value), ())

    def is_known(self, node: cst.ClassDef) -> bool:
        """Return whether the class and all its bases are defined in this module, without attribute hooks and
        metaclasses.
        """
        return self._is_plain(node) and all(
            _is_plain_base(arg.value) or self._knows_base(arg.value) for arg in node.bases
        )

    def _knows_base(self, node: cst.BaseExpression) -> bool:
        base = self.class_named(node)
        return base is not None and self.is_known(base)

    def is_simple(self, node: cst.ClassDef) -> bool:
        """Return whether objects of the class may consist of their attributes, as far as this file shows.

        Bases from other modules are checked when an object is an argument of a staged function.
        """
        return self._is_plain(node) and all(
            _is_plain_base(arg.value) or self._may_be_simple(arg.value) for arg in node.bases
        )

    def _may_be_simple(self, node: cst.BaseExpression) -> bool:
        base = self.class_named(node)
        if base is not None:
            return self.is_simple(base)
        imports = self.facts.imports
        return imports.numpy_name(node) is None and imports.imported_name(node) is not None

    def _is_plain(self, node: cst.ClassDef) -> bool:
        """Return whether the class body has no attribute hook, unknown decorator or unknown metaclass."""
        if any(
            dotted_name(item.decorator) not in _HARMLESS and not _has_configuration(item)
            for item in node.decorators
        ):
            return False
        if any(dotted_name(arg.value) not in _METACLASSES for arg in node.keywords):
            return False
        return not _HOOKS & self._members.get(node, {}).keys()

    def class_named(self, node: cst.CSTNode) -> cst.ClassDef | None:
        """Return the class at the top of the module that a name certainly refers to."""
        only = self.facts.scopes.only_binding(node)
        return only if type(only) is cst.ClassDef and only in self._members else None

    def _bases(self, node: cst.ClassDef) -> list[cst.ClassDef]:
        bases = self._base_classes.get(node)
        if bases is None:
            classes = [self.class_named(arg.value) for arg in node.bases]
            bases = [base for base in classes if base is not None and base is not node]
            self._base_classes[node] = bases
        return bases

    def _derived_classes(self, node: cst.ClassDef) -> list[cst.ClassDef]:
        derived_classes = self._subclasses.get(node)
        if derived_classes is None:
            direct = [derived_class for derived_class in self._members if node in self._bases(derived_class)]
            far = [far for derived_class in direct for far in self._derived_classes(derived_class)]
            derived_classes = self._subclasses[node] = direct + far
        return derived_classes

    def is_self(self, node: cst.CSTNode) -> bool:
        """Return whether a name is the `self` of the method around it."""
        if type(node) is not cst.Name:
            return False
        owner = self.facts.scopes.owner(node)
        method = owner.node if owner is not None else None
        if type(method) is not cst.FunctionDef or method not in self._owner:
            return False
        first = first_parameter(method) == node.value
        plain = not {"staticmethod", "classmethod"}.intersection(decorators(method))
        return first and plain and self.is_simple(self._owner[method])

    def holds_array(self, node: cst.CSTNode) -> bool:
        """Return whether `node` is a `self.x` that a method of the class visibly sets to an array."""
        if type(node) is not cst.Attribute or not self.is_self(node.value):
            return False
        around = self._around(node)
        return around is not None and node.attr.value in self._arrays(self._owner[around])

    def _arrays(self, node: cst.ClassDef) -> set[str]:
        if node not in self._array_names:
            names = set().union(*map(self._arrays, self._bases(node)))
            for method in self._methods_of(node):
                for part in walk(method):
                    if type(part) is cst.Assign and self.facts.kinds.kind(part.value) is Kind.ARRAY:
                        targets = [assign_target.target for assign_target in part.targets]
                        names |= {
                            target.attr.value
                            for target in targets
                            if type(target) is cst.Attribute and self.is_self(target.value)
                        }
            self._array_names[node] = names
        return self._array_names[node]

    def _around(self, node: cst.CSTNode) -> cst.FunctionDef | None:
        """Return the method that a node is in."""
        around = self.facts.scopes.function_of(node)
        while around is not None and around not in self._owner:
            around = self.facts.scopes.function_of(around)
        return around

    def called_methods(self, node: cst.CSTNode) -> list[cst.FunctionDef]:
        """Return the methods that `self.name` or `super().name` may refer to, also in derived classes."""
        if type(node) is not cst.Attribute:  # most nodes: isinstance would be slow
            return []
        of_super = type(node.value) is cst.Call and dotted_name(node.value.func) == "super"
        if not of_super and not self.is_self(node.value):
            return []
        around = self._around(node)
        if around is None:
            return []
        start = self._owner[around]
        places = self._bases(start) if of_super else [start]
        first = [
            method for place in places for method in [self.inherited_method(place, node.attr.value)] if method
        ]
        overrides = [
            self._members[derived_class].get(node.attr.value)
            for derived_class in self._derived_classes(start)
        ]
        every = [*first[:1], *(method for method in overrides if method is not None)]
        if first and not _is_read(node, self.facts):
            keys = [(self._owner[method], method.name.value) for method in every]
            every += [accessor for key in keys for accessor in self._accessors.get(key, ())]
        return list(dict.fromkeys(every)) if first else []

    def lineage(self, node: cst.ClassDef) -> list[cst.ClassDef]:
        """Return a class and its bases in this module."""
        return [node, *(far for base in self._bases(node) for far in self.lineage(base))]

    def inherited_method(self, node: cst.ClassDef, name: str) -> cst.FunctionDef | None:
        """Return the method of this name that objects of a class have."""
        if name in self._members[node]:
            return self._members[node][name]
        return next(
            (method for base in self._bases(node) if (method := self.inherited_method(base, name))), None
        )


def _is_read(node: cst.CSTNode, facts: Facts) -> bool:
    """Return whether an attribute is certainly only read, and not a target."""
    up = facts.parents[node]
    while isinstance(up, (cst.Element, cst.StarredElement, cst.Tuple, cst.List)):
        node, up = up, facts.parents[up]
    if isinstance(up, (cst.AugAssign, cst.AnnAssign, cst.For, cst.CompFor)):
        return node is not up.target
    return not isinstance(up, (cst.AssignTarget, cst.Del, cst.AsName))


def _is_plain_base(node: cst.BaseExpression) -> bool:
    """Return whether a base brings no attributes: `object`, `ABC`, `Generic[T]`."""
    return dotted_name(node.value if type(node) is cst.Subscript else node) in _PLAIN_BASES


def decorators(function: cst.FunctionDef) -> list[str | None]:
    """Return the names of a function's decorators."""
    return [dotted_name(item.decorator) for item in function.decorators]


def _has_configuration(item: cst.Decorator) -> bool:
    return type(item.decorator) is cst.Call and dotted_name(item.decorator.func) in _HARMLESS


# -- constructors --------------------------------------------------------------------------------------------
# The code that making an object runs: which classes of a module staged code may call.
#
# While a function is staged, such a call runs once.

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
