"""The results of lanes that have run one by one, stacked: dense arrays, or rows of different lengths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf import tnp
from np2tf.tnp._array.ndarray import is_array
from np2tf.tnp._operands.conversion import as_tensor
from np2tf.tnp._ragged.object_arrays import is_object_array
from np2tf.tnp._ragged.ragged_array import RaggedArray
from np2tf.tnp._ragged.rows_on_host import object_array
from np2tf.tnp._tensor.reductions_of_axes import reduce_all
from np2tf.transform_errors import RaggedRowsError, TransformArgumentError
from np2tf.transforms.core.leaves import Form, dtype_of, shape_of
from np2tf.transforms.core.structures import TREES, Structure, broadcast_prefix, map_leaves


def stack(results: Sequence[Any], out_axes: Any, form: Form, has_rows: bool) -> Any:
    """Return the results of all lanes, stacked.

    Args:
        results: the result of each lane.
        out_axes: as for `vmap`.
        form: the form of the results.
        has_rows: whether the lanes got rows of different lengths, so that the results may have different
            lengths.

    Raises:
        TransformArgumentError: the results differ in their structure or shape.
    """
    structure = Structure(results[0], TREES)
    if isinstance(out_axes, list):
        out_axes = tuple(out_axes)
    entries = broadcast_prefix(out_axes, results[0], "vmap out_axes")
    rows = [
        structure.leaves,
        *[structure.leaves_of(result, "the result of each lane") for result in results[1:]],
    ]
    stacks = [
        _join(parts, axis, form, has_rows)
        for parts, axis in zip(zip(*rows, strict=True), entries, strict=True)
    ]
    return form.build(structure, stacks)


def differing_results() -> TransformArgumentError:
    """Return the error about lanes whose results differ although they have no axis."""
    return TransformArgumentError(
        "vmap has mapped output but out_axes is None: the results of the lanes differ; give an axis"
    )


def along_first_axis(rows: Any, axis: Any) -> Any:
    """Return rows of different lengths.

    Raises:
        RaggedRowsError: the caller wants them along another axis than the first.
    """
    if axis != 0:
        raise RaggedRowsError(
            f"results of different lengths are stacked along axis 0, and not along axis {axis}"
        )
    return rows


def _join(parts: Sequence[Any], axis: Any, form: Form, has_rows: bool) -> Any:
    if axis is None:
        first = parts[0]
        if any(part is not first and not _are_equal(part, first) for part in parts):
            raise differing_results()
        return first
    if any(type(part) is RaggedArray or is_object_array(part) for part in parts):
        return along_first_axis(_joined_rows(parts), axis)
    if any(dtype_of(part) is None for part in parts):
        raise TransformArgumentError(f"vmap cannot stack results of type {type(parts[0]).__name__}")
    shapes = {tuple(shape_of(part)) for part in parts}
    if len(shapes) > 1:
        if not has_rows or () in shapes:
            raise TransformArgumentError(
                f"the results of the lanes have different shapes, {sorted(shapes)}, and cannot be stacked"
            )
        return along_first_axis(_joined_rows(parts), axis)
    return (np if form.is_host and not any(map(is_array, parts)) else tnp).stack(list(parts), axis=axis)


def _joined_rows(parts: Sequence[Any]) -> Any:
    """Return rows of different lengths as a ragged array, or on the host as an object array.

    Raises:
        RaggedRowsError: rows on TensorFlow have different dtypes or numbers of axes.
    """
    if not any(type(part) is RaggedArray or is_array(part) for part in parts):
        return object_array(parts)
    tensors = [part.ragged_tensor if type(part) is RaggedArray else as_tensor(part) for part in parts]
    dtypes = sorted({tensor.dtype.name for tensor in tensors})
    if len(dtypes) > 1:
        raise RaggedRowsError(
            f"the results of the lanes have the dtypes {dtypes}; return arrays of one dtype"
        )
    ranks = sorted({tensor.shape.rank for tensor in tensors})
    if len(ranks) > 1:
        raise RaggedRowsError(f"the results of the lanes have different numbers of axes: {ranks}")
    return RaggedArray.of_tensor(tf.ragged.stack(tensors), may_be_dense=True)


def _are_equal(first: Any, second: Any) -> bool:
    if dtype_of(first) is None:
        return bool(first == second)
    tensors = map_leaves(lambda leaf: leaf.tensor if is_array(leaf) else leaf, (first, second))
    return bool(reduce_all(tf.equal(*tensors))) if tf.executing_eagerly() else first is second


__all__ = ["along_first_axis", "differing_results", "stack"]
