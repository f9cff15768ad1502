"""The attributes of arrays that are translated."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import libcst as cst

from np2tf.rewrites.tensorflow_target.model import edits
from np2tf.rewrites.tensorflow_target.model.values import Value, plain
from np2tf.rewrites.tensorflow_target.model.world import Frame


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
    world.edit(node.value, edits.wrap_in(world.helper("_host")), "_host")
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
        world.edit(node, edits.rename_to(f"{world.tnp}.{_dtype_name(world.table.dtypes[name])}"))
        return Value(frozenset(["dtype"]), world.table.dtypes[name])
    return world.refuse(node, "NP2TF601", name=world.facts.code(node))


def _dtype_name(dtype: str) -> str:
    return "bool_" if dtype == "bool" else dtype
