"""The possible values of an expression: kinds, and for arrays dtype, number of axes and memory.

Memory is a set of roots: expressions that make arrays, and parameters and globals that hold arrays. Two
values may share memory if they share a root.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import libcst as cst

from np2tf.translator.tree.nodes import words

#: The kind of host values: any object of Python, NumPy or a library that contains no tensor.
HOST = "other"
#: The kinds of values that contain no array, but for host values, and no tensor.
PLAIN = words("int float bool complex str none range function module dtype shape generator")
NUMBERS = words("int float bool complex")
#: An array with axes, and a NumPy scalar, which is an array without axes in TensorFlow.
ARRAYS = words("array scalar")
CONTAINERS = words("tuple list dict")
ANY_KIND = "any"
#: How NumPy promotes the dtypes that are translated.
_RANK = {"bool": 0, "int32": 1, "int64": 2, "float32": 3, "float64": 4, "complex128": 5}
#: Containers in containers are followed to this depth.
_MAX_DEPTH = 5
#: Python's types of numbers -> the dtypes of arrays of these.
PYTHON_DTYPES = {"bool": "bool", "int": "int64", "float": "float64", "complex": "complex128"}


@dataclass(frozen=True)
class CallMemory:
    """The memory that a call of a function of the module allocates at a place in the function."""

    call: cst.CSTNode
    place: object


@dataclass(frozen=True)
class ExchangedMemory:
    """The memory of a group of names at the beginning of an iteration, if the loop exchanges names."""

    loop: cst.CSTNode
    name: str
    scope: object = None
    """The function that has the loop, or the file."""


@dataclass(frozen=True)
class Value:
    """The possible values of an expression."""

    kinds: frozenset[str]
    dtype: str | None = None
    """The dtype of arrays and NumPy scalars; None if unknown."""
    rank: int | None = None
    """The number of axes of arrays; None if unknown."""
    items: tuple[Value, ...] | None = None
    """The items of a tuple whose length is known."""
    item: Value | None = None
    """The common value of a list's items, or of a dictionary's values."""
    memory: frozenset[object] = frozenset()
    certain: bool = True
    """False if only the module's own calls suggest the value, and other modules may call the function with
    other arguments.
    """
    functions: frozenset[cst.FunctionDef] = frozenset()
    classes: frozenset[cst.ClassDef] = frozenset()
    """The class that the value is, or the class at the top of the bases of an object's class."""
    modules: frozenset[str] = frozenset()
    """The file of the module that the value is, if it is a module of the program."""
    libraries: frozenset[str] = frozenset()
    """The libraries that a host value is from, as far as they are known."""

    def may(self, *kinds: str) -> bool:
        """Return whether the value can be of one of these kinds."""
        return ANY_KIND in self.kinds or not self.kinds.isdisjoint(kinds)

    def only(self, *kinds: str) -> bool:
        """Return whether the value can only be of these kinds."""
        return bool(self.kinds) and self.kinds <= set(kinds)

    @property
    def is_undetermined(self) -> bool:
        """Return whether nothing is known yet, as for the result of a function that has not been followed."""
        return not self.kinds

    @property
    def parts(self) -> tuple[Value, ...]:
        """The values of the items, as far as they are known."""
        return self.items or ((self.item,) if self.item is not None else ())

    @property
    def is_of_program(self) -> bool:
        """Return whether the value may be an object or a class of the program, and is not unknown."""
        return self.may("object", "class") and not self.may(ANY_KIND)

    @property
    def is_host(self) -> bool:
        """Return whether the value can be a host value, which only NumPy and Python take."""
        return HOST in self.kinds

    @property
    def may_be_tensor(self) -> bool:
        """Return whether the value, or an item in it, can be a tensor or a dtype of TensorFlow."""
        return self.may_be_array or self.may("dtype") or any(part.may_be_tensor for part in self.parts)

    @property
    def is_mixed(self) -> bool:
        """Return whether the value, or an item in it, can be a tensor, and can be a host value."""
        of_program = (*ARRAYS, ANY_KIND, "object", "class")
        is_mixed = HOST in self.kinds and (
            not self.kinds.isdisjoint(of_program) or any(part.may_be_tensor for part in self.parts)
        )
        return is_mixed or any(part.is_mixed for part in self.parts)

    @property
    def may_be_array(self) -> bool:
        """Return whether the value, or an item in it, can be an array or a NumPy scalar."""
        return self.may(*ARRAYS) or any(part.may_be_array for part in self.parts)

    @property
    def object_classes(self) -> frozenset[cst.ClassDef]:
        """Return the classes of the objects that the value, or an item in it, can be."""
        return self.classes.union(*(part.object_classes for part in self.parts))

    @property
    def is_plain(self) -> bool:
        """Return whether the value certainly contains no array, for every caller."""
        return self.certain and not self.may_be_array and not self.object_classes

    def doubtful(self, *other_values: Value) -> Value:
        """Return this value, which is certain only if the other values are."""
        return self if all(value.certain for value in other_values) else replace(self, certain=False)


def in_memory(value: Value, memory: frozenset[object]) -> Value:
    """Return a value with the given memory for it and its items; values without memory stay without."""
    items = value.items and tuple(in_memory(item, memory) for item in value.items)
    item = value.item and in_memory(value.item, memory)
    return replace(value, memory=memory if value.memory else frozenset(), items=items, item=item)


def in_outer_memory(value: Value, root: object) -> Value:
    """Return a value that is bound outside the function: its memory, if it has any, belongs to other code."""
    items = value.items and tuple(in_outer_memory(item, root) for item in value.items)
    item = value.item and in_outer_memory(value.item, root)
    memory = frozenset([root]) if value.may_be_array or value.memory else frozenset()
    return replace(value, memory=memory, items=items, item=item)


def plain(*kinds: str) -> Value:
    """Return a value of Python's types that contains no array."""
    return Value(frozenset(kinds))


def unknown(*memory: object, certain: bool = True) -> Value:
    """Return a value about which nothing is known but its memory."""
    return Value(frozenset([ANY_KIND]), memory=frozenset(memory), certain=certain)


def array(
    dtype: str | None = None, rank: int | None = None, memory: Iterable[object] = (), scalar: bool = False
) -> Value:
    """Return an array. With rank 0 it is a NumPy scalar; with `scalar` and an unknown rank it may be one."""
    if rank == 0:
        return Value(frozenset(["scalar"]), dtype, 0)
    kinds = frozenset(ARRAYS if scalar and rank is None else ["array"])
    return Value(kinds, dtype, rank, memory=frozenset(memory))


NO_VALUE = Value(frozenset())


def list_value(item: Value, memory: Iterable[object]) -> Value:
    """Return a list of such items."""
    return Value(frozenset(["list"]), item=item, memory=frozenset(memory) | item.memory, certain=item.certain)


def tuple_value(items: Iterable[Value]) -> Value:
    """Return a tuple of these items."""
    members = tuple(items)
    memory = frozenset(root for item in members for root in item.memory)
    return Value(
        frozenset(["tuple"]), items=members, memory=memory, certain=all(item.certain for item in members)
    )


def limit_depth(value: Value, depth: int = _MAX_DEPTH) -> Value:
    """Return a value in which nothing is known about items deeper than `depth`.

    A list that is put into itself, or into a list in a loop, would otherwise become deeper in every round.
    """
    if value.item is None and not value.items:
        return value
    if depth == 0:
        any_item = unknown(*value.memory, certain=value.certain)
        is_known = value.items is not None or value.item != any_item
        return replace(value, items=None, item=any_item) if is_known else value
    items = value.items and tuple(limit_depth(item, depth - 1) for item in value.items)
    item = value.item and limit_depth(value.item, depth - 1)
    is_same = item is value.item and all(new is old for new, old in zip(items or (), value.items or ()))
    return value if is_same else replace(value, items=items, item=item)


def join(left: Value | None, right: Value | None) -> Value | None:
    """Return the value of an expression whose result is one of two values."""
    if left is None or right is None or left == right:
        return left or right
    if left.is_undetermined or right.is_undetermined:
        return right if left.is_undetermined else left
    kinds = left.kinds | right.kinds
    if ANY_KIND in kinds:
        kinds &= {ANY_KIND, HOST}
    arrays = [side for side in (left, right) if side.may(*ARRAYS)]
    dtypes = {array_value.dtype for array_value in arrays}
    ranks = {array_value.rank for array_value in arrays if array_value.may("array")} or {0}
    items = None
    if left.items is not None and right.items is not None and len(left.items) == len(right.items):
        items = tuple(union(pair) for pair in zip(left.items, right.items))
    item = join(_union_of_parts(left), _union_of_parts(right)) if items is None else None
    return Value(
        kinds,
        dtypes.pop() if len(dtypes) == 1 else None,
        ranks.pop() if len(ranks) == 1 else None,
        items,
        item,
        left.memory | right.memory,
        left.certain and right.certain,
        left.functions | right.functions,
        left.classes | right.classes,
        left.modules | right.modules,
        _libraries(left, right),
    )


def _libraries(left: Value, right: Value) -> frozenset[str]:
    """Return the libraries of a host value that is one of two; none if those of one are not known."""
    sides = [side.libraries for side in (left, right) if side.is_host]
    return frozenset().union(*sides) if all(sides) else frozenset()


def _union_of_parts(value: Value) -> Value | None:
    """Return the union of a container's items; None if nothing is known about them."""
    return value.item if value.items is None else union(value.items) if value.items else None


def union(values: Iterable[Value | None]) -> Value:
    """Return the value of an expression whose result is one of several values; unknown if there are none."""
    result: Value | None = None
    for value in values:
        result = join(result, value)
    return result if result is not None else unknown()


def promote(values: Iterable[Value]) -> str | None:
    """Return the dtype of arithmetic on values by NumPy's rules. Python's numbers count by kind only."""
    arrays: list[str] = []
    numbers: list[str] = []
    for value in values:
        if value.only(*NUMBERS):
            if "complex" in value.kinds and len(value.kinds) > 1:
                return None
            numbers += [PYTHON_DTYPES[kind] for kind in value.kinds]
        elif value.dtype is None or not value.only(*ARRAYS):
            return None
        else:
            arrays.append(value.dtype)
    if not arrays:
        return max(numbers, key=_RANK.__getitem__) if numbers else None
    dtype = max(arrays, key=_RANK.__getitem__)
    if dtype == "float32" and not {"int32", "int64"}.isdisjoint(arrays):
        dtype = "float64"
    for number in numbers:
        if _weight(number) > _weight(dtype):
            if number == "complex128" and dtype == "float32":
                return None
            dtype = number
    return dtype


def _weight(dtype: str) -> int:
    """Return the rank of a dtype's kind: boolean, integer, real, complex."""
    return {"b": 0, "i": 1, "f": 2, "c": 3}[dtype[0]]


def broadcast_rank(values: Iterable[Value]) -> int | None:
    """Return the number of axes of arithmetic on values; None if unknown."""
    ranks = [0 if value.only(*NUMBERS, "scalar") else value.rank for value in values]
    counts = [rank for rank in ranks if rank is not None]
    return max(counts, default=0) if len(counts) == len(ranks) else None
