"""The axes along which transforms cut their arguments into slices or blocks."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from np2tf.transform_errors import TransformArgumentError
from np2tf.transforms.core.leaves import dtype_of, shape_of
from np2tf.transforms.core.structures import Structure, broadcast_prefix


def mapped_axes(
    in_axes: Any, args: tuple[Any, ...], kwargs: dict[str, Any], transform: str
) -> list[int | None]:
    """Return for each leaf of a call the axis along which it is cut, or None for a leaf that stays whole.

    Args:
        in_axes: an int or None for all positional arguments, or a tuple with an entry for each; an entry may
            be nested like its argument.
        args: the positional arguments.
        kwargs: the arguments by name, which are cut along axis 0.
        transform: the name of the transform in errors.

    Raises:
        TransformArgumentError: axes and arguments do not fit together.
    """
    if isinstance(in_axes, list):
        in_axes = tuple(in_axes)
    if isinstance(in_axes, tuple) and len(in_axes) != len(args):
        raise TransformArgumentError(
            f"{transform} in_axes must be an int, None, or a tuple with one entry for each positional "
            f"argument: there are {len(in_axes)} entries and {len(args)} arguments"
        )
    entries = [
        *broadcast_prefix(in_axes, args, f"{transform} in_axes"),
        *[0] * len(Structure(kwargs).leaves),
    ]
    leaves = Structure((args, kwargs)).leaves
    return [
        None if entry is None else _axis_of(entry, leaf, transform) for entry, leaf in zip(entries, leaves)
    ]


def _axis_of(entry: Any, leaf: Any, transform: str) -> int:
    try:
        axis = operator.index(entry)
    except TypeError:
        raise TransformArgumentError(f"an entry of in_axes is an int or None, and not {entry!r}") from None
    rank = len(shape_of(leaf))
    if dtype_of(leaf) is None and not hasattr(leaf, "shape"):
        raise TransformArgumentError(
            f"{transform} cannot slice a {type(leaf).__name__}: give None for it in in_axes, or pass it by a "
            "closure"
        )
    if not -rank <= axis < rank:
        raise TransformArgumentError(
            f"{transform} was requested to map its argument along axis {axis}, which implies that its rank "
            f"should be at least {axis + 1 if axis >= 0 else -axis}, but is only {rank} (its shape is "
            f"{shape_of(leaf)})"
        )
    return axis % rank


def length_of(
    axes: Sequence[int | None], leaves: Sequence[Any], transform: str, axis_size: int | None = None
) -> int:
    """Return the length that the mapped axes have in common.

    Args:
        axes: the axis of each leaf, or None.
        leaves: the leaves.
        transform: the name of the transform in errors.
        axis_size: the length that the caller has given.

    Raises:
        TransformArgumentError: there is no length, or there are several.
    """
    sizes = [shape_of(leaf)[axis] for axis, leaf in zip(axes, leaves, strict=True) if axis is not None]
    if axis_size is not None:
        sizes.append(axis_size)
    if not sizes:
        raise TransformArgumentError(
            f"{transform} must have at least one non-None value in in_axes, or axis_size must be given"
        )
    if any(not isinstance(size, int) for size in sizes):
        raise TransformArgumentError(
            f"{transform} needs an axis of known length, which one of its arguments lacks"
        )
    if len(set(sizes)) > 1:
        raise TransformArgumentError(
            f"{transform} got inconsistent sizes for array axes to be mapped: {sizes}; all sliced axes must "
            "have one length"
        )
    return int(sizes[0])


__all__ = ["length_of", "mapped_axes"]
