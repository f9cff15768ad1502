"""The classes of a program, and the possible values of the attributes of their objects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import libcst as cst

from np2tf.rewrites.tensorflow_target.model.values import NO_VALUE, Value, in_outer_memory, join, limit_depth

#: The class at the top of the bases, and the name of the attribute.
AttributeKey = tuple[cst.ClassDef, str]


@dataclass
class ClassFacts:
    """The facts about one class."""

    node: cst.ClassDef
    base: ClassFacts | None = None
    """The class of the program that it derives from."""
    methods: dict[str, cst.FunctionDef] = field(default_factory=dict)
    fields: dict[str, cst.BaseExpression | None] = field(default_factory=dict)
    """The fields of a dataclass, with their defaults, in their order."""
    is_dataclass: bool = False

    @property
    def root_class(self) -> cst.ClassDef:
        """The class at the top of the bases."""
        return self.node if self.base is None else self.base.root_class

    def find(self, name: str) -> cst.FunctionDef | None:
        """Return the method of this name, of the class or of its bases."""
        if name in self.methods:
            return self.methods[name]
        return self.base.find(name) if self.base is not None else None

    def every_field(self) -> dict[str, cst.BaseExpression | None]:
        """Return the fields of the class and of its bases, in the order of the constructor's parameters."""
        return {**(self.base.every_field() if self.base is not None else {}), **self.fields}


def decorator_names(node: cst.FunctionDef | cst.ClassDef) -> list[str]:
    """Return the last names of the decorators; "" for a decorator without a name."""
    names = []
    for decorator in node.decorators:
        func = decorator.decorator
        func = func.func if isinstance(func, cst.Call) else func
        name = func.attr if isinstance(func, cst.Attribute) else func
        names.append(name.value if isinstance(name, cst.Name) else "")
    return names


class Classes:
    """The classes of a program.

    `has_new_facts` tells whether this round has found a new fact.
    """

    def __init__(self) -> None:
        self._facts: dict[cst.ClassDef, ClassFacts] = {}
        self._values: dict[AttributeKey, Value] = {}
        self._keys_read: set[AttributeKey] = set()
        self._shared_keys: set[AttributeKey] = set()
        self._groups: dict[AttributeKey, frozenset[AttributeKey]] = {}
        self._origins: dict[object, set[AttributeKey]] = {}
        self.has_new_facts = False

    def add(self, facts: ClassFacts) -> None:
        """Record the facts about a class."""
        self._facts[facts.node] = facts

    def facts(self, node: cst.ClassDef) -> ClassFacts:
        """Return the facts about a class."""
        return self._facts[node]

    def root_class(self, value: Value) -> cst.ClassDef | None:
        """Return the class at the top of the bases of an object's class, or of a class; None if there may be
        several.
        """
        is_object = value.only("object", "none") and value.may("object")
        if len(value.classes) != 1 or not (is_object or value.only("class")):
            return None
        (node,) = value.classes
        return self._facts[node].root_class

    def shows_fields(self, node: cst.ClassDef) -> bool:
        """Return whether the text of an object may show the fields of a dataclass.

        Args:
            node: the class at the top of the bases of the object's class.
        """
        classes = [facts for facts in self._facts.values() if facts.root_class is node and facts.is_dataclass]
        return any(facts.find("__repr__") is None and facts.find("__str__") is None for facts in classes)

    def methods(self, root_class: cst.ClassDef, name: str) -> list[cst.FunctionDef]:
        """Return the methods of this name, of all classes that derive from a class."""
        return [
            facts.methods[name]
            for facts in self._facts.values()
            if facts.root_class is root_class and name in facts.methods
        ]

    def read(self, key: AttributeKey) -> Value:
        """Return the possible values of an attribute; its memory belongs to the attribute."""
        self._keys_read.add(key)
        return self._values.get(key, NO_VALUE)

    def learn(self, key: AttributeKey, value: Value) -> None:
        """Add a value to the possible values of an attribute."""
        if value.is_undetermined:
            return
        before = self._values.get(key)
        after = join(before, in_outer_memory(value, attribute_root(key)))
        after = limit_depth(after) if after is not None else None
        if after is not None and after != before:
            self._values[key] = after
            self.has_new_facts = True

    def share(self, key: AttributeKey) -> None:
        """Record that another name or object may keep the arrays of an attribute."""
        if key not in self._shared_keys:
            self._shared_keys.add(key)
            self.has_new_facts = True

    def keep(self, key: AttributeKey, memory: frozenset[object]) -> None:
        """Record that an attribute keeps arrays; attributes that keep the same array share it."""
        for root in memory:
            keys = self._origins.setdefault(root, set())
            keys.add(key)
            if len(keys) > 1 or isinstance(root, tuple):
                for other_key in (*keys, *attributes_in(frozenset([root]))):
                    self.share(other_key)

    def unite(self, keys: Iterable[AttributeKey]) -> None:
        """Record that attributes exchange their arrays."""
        group = frozenset(member for key in keys for member in self.group(key))
        for key in group:
            self.has_new_facts |= self.group(key) != group
            self._groups[key] = group

    def group(self, key: AttributeKey) -> frozenset[AttributeKey]:
        """Return the attributes that exchange arrays with an attribute, and the attribute itself."""
        return self._groups.get(key, frozenset([key]))

    def is_shared(self, key: AttributeKey) -> bool:
        """Return whether another name or object may keep the arrays of an attribute."""
        return not self._shared_keys.isdisjoint(self.group(key))

    def unset_attributes(self) -> Iterator[AttributeKey]:
        """Yield the attributes that the program reads and never sets."""
        yield from (key for key in self._keys_read if key not in self._values)


def attribute_root(key: AttributeKey) -> tuple[str, cst.ClassDef, str]:
    """Return the root of the memory of an attribute's arrays."""
    return ("attribute", *key)


def attributes_in(memory: frozenset[object]) -> list[AttributeKey]:
    """Return the attributes whose memory is part of this memory."""
    return [(root[1], root[2]) for root in memory if isinstance(root, tuple) and root[0] == "attribute"]
