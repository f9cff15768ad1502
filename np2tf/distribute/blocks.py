"""The blocks into which the arguments of a call are cut, one for each replica."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from np2tf import tnp
from np2tf.distribute.replicas import Replicas
from np2tf.runtime.arguments.shared_memory import share_memory
from np2tf.tnp._array.ndarray import is_array
from np2tf.transform_errors import TransformArgumentError
from np2tf.transforms.core.leaves import as_array
from np2tf.transforms.core.mapped_axes import length_of, mapped_axes
from np2tf.transforms.core.structures import TREES, Structure


class Blocks:
    """The arguments of a call, cut into blocks.

    An argument may be a `tf.distribute.DistributedValues`, such as an element of a distributed dataset: it
    has the blocks of this process's replicas.

    Args:
        in_axes: as for `shard_map`.
        args, kwargs: the arguments.
        replicas: the replicas.

    Raises:
        TransformArgumentError: axes and arguments do not fit together, or an axis cannot be cut evenly.
    """

    def __init__(
        self, in_axes: Any, args: tuple[Any, ...], kwargs: dict[str, Any], replicas: Replicas
    ) -> None:
        self._replicas = replicas
        self._is_distributed = any(isinstance(arg, tf.distribute.DistributedValues) for arg in args)
        #: The arguments of each replica of this process, with its own part of distributed values.
        self._calls = [(tuple(replicas.local_value(arg, k) for arg in args), kwargs) for k in replicas.places]
        first_args, _ = self._calls[0]
        self._axes = mapped_axes(in_axes, first_args, kwargs, "shard_map")
        place = 0
        for arg, part in zip(args, first_args, strict=True):
            count = len(Structure(part, TREES).leaves)
            if isinstance(arg, tf.distribute.DistributedValues):
                self._axes[place : place + count] = [None] * count
            place += count
        leaves = Structure(self._calls[0], TREES).leaves
        self._length = 0
        if any(axis is not None for axis in self._axes):
            length = length_of(self._axes, leaves, "shard_map")
            self._length, remainder = divmod(length, replicas.count)
            if remainder:
                raise TransformArgumentError(
                    f"shard_map cannot cut an axis of length {length} into {replicas.count} equal blocks; "
                    f"leave out {remainder} elements, or add {replicas.count - remainder}"
                )

    def local_calls(self) -> tuple[Any, ...]:
        """Return the positional arguments and the arguments by name of each replica of this process."""
        calls = tuple(
            self._call(call, self._replicas.first + place) for place, call in enumerate(self._calls)
        )
        structure = Structure(calls, TREES)
        return structure.build(_apart(structure.leaves))  # type: ignore[no-any-return]

    def host_call(self, number: int) -> Any:
        """Return copies of the arguments of any replica, on the host.

        Raises:
            TransformArgumentError: the blocks of other processes are not known here.
        """
        if self._is_distributed:
            raise TransformArgumentError(
                "NumPy raises an error for the values in a replica; run the function on the host to see it"
            )
        structure = Structure(self._call(self._calls[0], number))
        return structure.build(
            [np.array(leaf) if type(leaf) is np.ndarray else leaf for leaf in structure.leaves]
        )

    def _call(self, call: Any, number: int) -> Any:
        structure = Structure(call, TREES)
        return structure.build(
            [
                leaf if axis is None else self._block(leaf, axis, number)
                for leaf, axis in zip(structure.leaves, self._axes, strict=True)
            ]
        )

    def _block(self, leaf: Any, axis: int, number: int) -> Any:
        place = (*[slice(None)] * axis, slice(number * self._length, (number + 1) * self._length))
        if isinstance(leaf, np.ndarray) and not is_array(leaf):
            return leaf[place]
        return tnp.asarray(as_array(leaf))[place]


def _apart(leaves: list[Any]) -> list[Any]:
    """Return leaves of which no two share memory, unless they are the same array."""
    arrays = {id(leaf): leaf for leaf in leaves if type(leaf) is np.ndarray}
    if not share_memory([*arrays.values()]):
        return leaves
    copies = {key: array.copy() for key, array in arrays.items()}
    return [copies.get(id(leaf), leaf) for leaf in leaves]


__all__ = ["Blocks"]
