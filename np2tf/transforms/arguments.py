"""The arguments of a call: which are differentiated, and along which axes they are mapped."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from np2tf.arrays.ragged import RaggedArray
from np2tf.core.errors import InputDtypeError, OutputKindError, RaggedRowsError, TransformArgumentError
from np2tf.transforms.runnable import runnable
from np2tf.transforms.values import (
    FLOAT0,
    TREES,
    Structure,
    as_array,
    broadcast_prefix,
    dtype_of,
    is_inexact,
    map_leaves,
    shape_of,
    with_rows,
)

__all__ = [
    "length_of",
    "mapped_axes",
]


# -- arguments -----------------------------------------------------------------------------------------------
# The arguments of a call that a transform differentiates, and the checks of their dtypes.

Argnums = int | Sequence[int]


def check_argnums(argnums: Any) -> Argnums:
    """Return `argnums` as an int or a tuple of ints; anything else raises TransformArgumentError."""
    try:
        if isinstance(argnums, (tuple, list)):
            return tuple(map(operator.index, argnums))
        return operator.index(argnums)
    except TypeError:
        raise TransformArgumentError(f"argnums must be an int or a tuple of ints, not {argnums!r}") from None


class Arguments:
    """A call's arguments, and the leaves of them that are differentiated.

    Args:
        args, kwargs: the arguments of the call.
        argnums: the positions of the arguments to differentiate; an int for one argument.

    Attributes:
        structure: the structure of the differentiated arguments: of one argument, or of a tuple.
        places: the places of the inexact leaves in it.
    """

    def __init__(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], argnums: Argnums
    ) -> None:
        self._ready = runnable(function)
        count = len(args)
        numbers = argnums if isinstance(argnums, tuple) else (argnums,)
        for number in numbers:
            if not -count <= number < count:
                raise TransformArgumentError(
                    f"differentiating with respect to argnums={argnums} requires at least "
                    f"{number + 1 if number >= 0 else -number} positional arguments, and the call has {count}"
                    ": arguments given by name are not differentiated"
                )
        self._argnums = [number % count for number in numbers]
        self._args = [arg if k in self._argnums else map_leaves(as_array, arg) for k, arg in enumerate(args)]
        self._kwargs = {name: map_leaves(as_array, value) for name, value in kwargs.items()}
        operands = tuple(map_leaves(with_rows, args[k]) for k in self._argnums)
        self._has_rows = any(type(leaf) is RaggedArray for leaf in Structure(operands, TREES).leaves)
        self._is_single = not isinstance(argnums, tuple)
        self.structure = Structure(operands[0] if self._is_single else operands)
        self.places = [k for k, leaf in enumerate(self.structure.leaves) if is_inexact(leaf)]

    @property
    def leaves(self) -> list[Any]:
        """The leaves that are differentiated."""
        return [self.structure.leaves[k] for k in self.places]

    def with_products(self, products: Sequence[Any]) -> list[Any]:
        """Return derivatives for all leaves: the given products, and zeros of JAX's float0 for integers."""
        leaves: list[Any] = list(self.structure.leaves)
        for place, leaf in enumerate(leaves):
            if place not in self.places:
                leaves[place] = np.zeros(shape_of(leaf), FLOAT0)
        for place, product in zip(self.places, products, strict=True):
            leaves[place] = product
        return leaves

    def refuse_rows(self, name: str) -> None:
        """Raise RaggedRowsError if an argument has rows of different lengths."""
        if self._has_rows:
            raise RaggedRowsError(
                f"{name} with respect to a ragged array; use grad or vjp, or vmap({name}(f)) over its rows"
            )

    def run(self, *leaves: Any) -> Any:
        """Call the function with other values for the differentiated leaves."""
        every = [leaf if k in self.places else as_array(leaf) for k, leaf in enumerate(self.structure.leaves)]
        for place, leaf in zip(self.places, leaves, strict=True):
            every[place] = leaf
        operands = self.structure.build(every)
        args = list(self._args)
        for place, value in zip(self._argnums, (operands,) if self._is_single else operands, strict=True):
            args[place] = value
        return self._ready(*args, **self._kwargs)


def check_reverse_input(leaves: Sequence[Any], name: str, holomorphic: bool, allow_int: bool) -> None:
    """Raise InputDtypeError if a leaf that a reverse-mode transform differentiates has no derivative."""
    for leaf in leaves:
        dtype = _input_dtype(leaf, name, holomorphic)
        if not holomorphic and dtype.kind not in "fcV" and not (allow_int and dtype.kind in "biu"):
            raise InputDtypeError(
                f"{name} requires real- or complex-valued inputs (input dtype that is a sub-dtype of "
                f"np.inexact), but got {dtype.name}. If you want to use Boolean- or integer-valued inputs, "
                "use vjp or set allow_int to True; to differentiate, give floats: 3.0, or x.astype(float)"
            )


def check_forward_input(leaves: Sequence[Any], name: str, holomorphic: bool) -> None:
    """Raise InputDtypeError if a leaf that a forward-mode transform differentiates has no derivative."""
    for leaf in leaves:
        dtype = _input_dtype(leaf, name, holomorphic)
        if not holomorphic and dtype.kind != "f" and not _is_low_precision(dtype):
            raise InputDtypeError(
                f"{name} requires real-valued inputs (input dtype that is a sub-dtype of np.floating), but "
                f"got {dtype.name}. For holomorphic differentiation, pass holomorphic=True. For "
                "differentiation of non-holomorphic functions involving complex inputs or integer inputs, "
                "use jvp directly"
            )


def check_output(leaf: Any, name: str, holomorphic: bool) -> None:
    """Raise OutputKindError if a result that a reverse-mode transform differentiates has no gradient."""
    dtype = dtype_of(leaf)
    if dtype is None:
        raise OutputKindError(
            f"{name} requires functions that return numbers, but got a {type(leaf).__name__}"
        )
    if holomorphic:
        if dtype.kind != "c":
            raise OutputKindError(
                f"{name} with holomorphic=True requires outputs with complex dtype, but got {dtype.name}"
            )
    elif dtype.kind == "c":
        raise OutputKindError(
            f"{name} requires real-valued outputs (output dtype that is a sub-dtype of np.floating), but got "
            f"{dtype.name}. For holomorphic differentiation, pass holomorphic=True. For differentiation of "
            "non-holomorphic functions involving complex outputs, use vjp directly"
        )
    elif dtype.kind != "f" and not _is_low_precision(dtype):
        raise OutputKindError(
            f"{name} requires real-valued outputs (output dtype that is a sub-dtype of np.floating), but got "
            f"{dtype.name}: integers, such as those of argmax, have no gradient. For differentiation of "
            "functions with integer outputs, use vjp directly"
        )


def _input_dtype(leaf: Any, name: str, holomorphic: bool) -> np.dtype[Any]:
    dtype = dtype_of(leaf)
    if dtype is None:
        raise InputDtypeError(
            f"{name} requires arrays and numbers as inputs, but got a {type(leaf).__name__}: pass other "
            "arguments at positions that are not in argnums, or by name"
        )
    if holomorphic and dtype.kind != "c":
        raise InputDtypeError(
            f"{name} with holomorphic=True requires inputs with complex dtype, but got {dtype.name}"
        )
    return dtype


def _is_low_precision(dtype: np.dtype[Any]) -> bool:
    """Return whether a dtype is bfloat16 or a float of 8 bits, which NumPy sees as opaque."""
    return dtype.kind == "V" and "float" in dtype.name


# -- mapped axes ---------------------------------------------------------------------------------------------
# The axes along which transforms cut their arguments into slices or blocks.


def mapped_axes(
    in_axes: Any, args: tuple[Any, ...], kwargs: dict[str, Any], transform: str
) -> list[int | None]:
    """Return for each leaf of a call the axis along which it is cut, or None for a leaf that stays whole.

    Args:
        in_axes: an int or None for all positional arguments, or a tuple with an entry for each; an entry may
            be nested like its argument.
        kwargs: the arguments by name, which are cut along axis 0.

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
        *[0] * len(Structure(kwargs, TREES).leaves),
    ]
    leaves = Structure((args, kwargs), TREES).leaves
    return [
        None if entry is None else _axis_of(entry, leaf, transform) for entry, leaf in zip(entries, leaves)
    ]


def _axis_of(entry: Any, leaf: Any, transform: str) -> int:
    try:
        axis = operator.index(entry)
    except TypeError:
        raise TransformArgumentError(f"an entry of in_axes must be an int or None, not {entry!r}") from None
    rank = len(shape_of(leaf))
    if dtype_of(leaf) is None and type(leaf) is not RaggedArray and not hasattr(leaf, "shape"):
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
) -> Any:
    """Return the length that the mapped axes have in common: an int, or a staged int if none is known.

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
    known_sizes = {size for size in sizes if isinstance(size, int)}
    if len(known_sizes) > 1:
        raise TransformArgumentError(
            f"{transform} got inconsistent sizes for array axes to be mapped: {sizes}; all sliced axes must "
            "have one length"
        )
    return known_sizes.pop() if known_sizes else sizes[0]
