"""Values that a text shows: tensors become NumPy's numbers and arrays, and dtypes NumPy's."""

from __future__ import annotations

import libcst as cst

from np2tf.rewrites.tensorflow_target.model import edits
from np2tf.rewrites.tensorflow_target.model.values import Value
from np2tf.rewrites.tensorflow_target.model.world import Frame


def holds_dtype(value: Value) -> bool:
    """Return whether the value, or an item in it, can be a dtype, which is TensorFlow's."""
    inside = value.items or ((value.item,) if value.item is not None else ())
    return value.may("dtype") or any(map(holds_dtype, inside))


def show_in_text(node: cst.BaseExpression, value: Value, frame: Frame) -> None:
    """Plan the edit of an expression whose value a text shows.

    The text of a dataclass shows its fields, which are tensors, so that np2tf refuses it.
    """
    classes = frame.world.program.classes
    if any(classes.shows_fields(class_node) for class_node in value.object_classes):
        frame.world.refuse(node, "NP2TF606", what="the text of a dataclass")
    elif (not value.is_plain or holds_dtype(value)) and not value.only("object"):
        frame.world.edit(node, edits.wrap_in(frame.world.helper("_host")), "_host")
