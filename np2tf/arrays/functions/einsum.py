"""einsum: sums of products in Einstein's notation."""

from __future__ import annotations

import string
from string import ascii_letters
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.arrays.array.layout import lay_out, layout_of, order_of_products
from np2tf.arrays.array.ndarray import is_array, is_c_ordered, ndarray
from np2tf.arrays.array.view_transforms import Diagonal, Transpose
from np2tf.arrays.dispatch.op import OPS, DType, MemoryOrder, op
from np2tf.arrays.functions.reshape import is_viewed_on_host
from np2tf.arrays.operands.axes import rank_of
from np2tf.arrays.operands.conversion import as_tensor, as_view, cast, promote
from np2tf.arrays.operands.numpy_warnings import warn_cast
from np2tf.arrays.operands.promotion import default_dtype, kind_of
from np2tf.arrays.tensors.violations import assert_same_size
from np2tf.core.errors import NoGraphFormError, ShapeNeededError

__all__ = ["einsum", "einsum_path"]

_LETTERS = string.ascii_lowercase + string.ascii_uppercase


def _parse_sublists(operands: tuple[Any, ...]) -> tuple[str, list[Any]]:
    """Convert ``einsum(a, [0, 1], b, [1, 2], [0, 2])`` to subscripts in letters, and a list of operands."""
    arrays = list(operands[: len(operands) // 2 * 2 : 2])
    inputs = ",".join(map(_letters, operands[1 : len(arrays) * 2 : 2]))
    if len(operands) % 2:
        return f"{inputs}->{_letters(operands[-1])}", arrays
    return inputs, arrays


def _letters(sublist: Any) -> str:
    """Convert a list of numbers, which must be in range, to letters."""
    for item in sublist:
        if item is not Ellipsis and not 0 <= item < len(_LETTERS):
            raise ValueError("subscript is not within the valid range [0, 52)")
    return "".join("..." if item is Ellipsis else _LETTERS[item] for item in sublist)


def parse(subscripts: str, ranks: list[int]) -> tuple[list[str], str]:
    """Return the labels of every axis of every operand and of the result, with ellipses written out.

    Raises:
        ValueError: the subscripts do not fit the operands.
    """
    inputs, arrow, output = subscripts.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if len(terms) != len(ranks):
        more = "more" if len(terms) < len(ranks) else "fewer"
        raise ValueError(
            f"{more} operands provided to einstein sum function than specified in the subscripts"
        )
    for letter in (inputs + output).replace("...", "").replace(",", ""):
        if letter not in _LETTERS:
            raise ValueError(f"invalid subscript '{letter}' in einstein sum subscripts string")
    spare = [letter for letter in _LETTERS if letter not in subscripts]
    ellipsis_ranks = [rank - len(term.replace("...", "")) for term, rank in zip(terms, ranks)]
    for term, count in zip(terms, ellipsis_ranks):
        if count < 0 or (count and "..." not in term):
            raise ValueError("operand has more dimensions than subscripts given in einstein sum, or fewer")
    widest = max((count for term, count in zip(terms, ellipsis_ranks) if "..." in term), default=0)
    broadcast = "".join(spare[:widest])
    labels = [term.replace("...", broadcast[widest - count :]) for term, count in zip(terms, ellipsis_ranks)]
    if not arrow:
        letters = inputs.replace("...", "").replace(",", "")
        return labels, broadcast + "".join(
            sorted(letter for letter in set(letters) if letters.count(letter) == 1)
        )
    if broadcast and "..." not in output:
        raise ValueError("output has no ellipsis, but the operands broadcast over the axes it stands for")
    result = output.replace("...", broadcast)
    for letter in result:
        if result.count(letter) > 1:
            raise ValueError(f"output subscript '{letter}' appears more than once")
        if not any(letter in term for term in labels):
            raise ValueError(
                f"einstein sum subscripts string included output subscript '{letter}' which never "
                "appeared in an input"
            )
    return labels, result


def _drop_unit_axes(operands: list[tf.Tensor], labels: list[str]) -> tuple[list[tf.Tensor], list[str]]:
    """Remove axes of length 1 that broadcast against longer axes of the same label."""
    size: dict[str, int | None] = {}
    for operand, term in zip(operands, labels):
        for letter, length in zip(term, operand.shape):
            extent = size.get(letter, 1)
            if length not in (1, None) and extent not in (1, None, length):
                raise ValueError(
                    f"operands could not be broadcast together: lengths {extent} and {length} of '{letter}'"
                )
            if letter not in size or size[letter] == 1 or (size[letter] is None and length not in (1, None)):
                size[letter] = length
    tensors, shorter = [], []
    for operand, term in zip(_guard_lengths(operands, labels), labels):
        drop = [k for k, letter in enumerate(term) if operand.shape[k] == 1 and size[letter] != 1]
        if any(term.count(term[k]) > 1 for k in drop):
            raise NoGraphFormError("einsum that broadcasts along a diagonal")
        tensors.append(tf.squeeze(operand, drop) if drop else operand)
        shorter.append("".join(letter for k, letter in enumerate(term) if k not in drop))
    return tensors, shorter


def _guard_lengths(operands: list[tf.Tensor], labels: list[str]) -> list[tf.Tensor]:
    """Return the operands with guards: axes of one label must have the same length at run time."""
    earlier: dict[str, list[tuple[tf.Tensor, int]]] = {}
    tensors = []
    for operand, term in zip(operands, labels):
        for k, letter in enumerate(term):
            if term.index(letter) < k:
                operand = assert_same_size(operand, k, operand, term.index(letter))
            for earlier_operand, axis in earlier.get(letter, ()):
                if operand.shape[k] is None or earlier_operand.shape[axis] is None:
                    operand = assert_same_size(operand, k, earlier_operand, axis, stretches_ones=True)
        for k, letter in enumerate(term):
            earlier.setdefault(letter, []).append((operand, k))
        tensors.append(operand)
    return tensors


def _check_square(x: tf.Tensor, letter: str) -> None:
    """Check that the last two axes have equal lengths."""
    rows, columns = x.shape[-2:]
    if rows is None or columns is None:
        raise ShapeNeededError("einsum that makes a view of the diagonal of an array of unknown shape")
    if rows != columns:
        raise ValueError(
            f"dimensions in single operand for collapsing index '{letter}' don't match ({rows} != {columns})"
        )


def _as_view(operand: Any, labels: str, result: str) -> ndarray | None:
    """Return an operand with axes reordered or diagonals taken, which is a view in NumPy; else None."""
    if set(labels) != set(result):
        return None
    view = as_view(operand)
    while len(labels) > len(result):
        label = next(letter for letter in labels if labels.count(letter) > 1)
        places = [k for k, letter in enumerate(labels) if letter == label][:2]
        order = [k for k in range(len(labels)) if k not in places] + places
        view = view.view_through(Transpose(tuple(order)))
        _check_square(view.tensor, label)
        view = view.view_through(Diagonal(0))
        labels = "".join(labels[k] for k in order[:-1])
    return view.view_through(Transpose(tuple(labels.index(letter) for letter in result)))


def _compute_sums(equation: str, operands: list[tf.Tensor]) -> tf.Tensor:
    """Return the sums in the dtype of the operands. Integers wrap around as NumPy's do."""
    dtype = operands[0].dtype
    if dtype == tf.bool:
        return tf.not_equal(_einsum(equation, *[tf.cast(x, tf.int64) for x in operands]), 0)
    if dtype == tf.uint64:
        return tf.bitcast(_einsum(equation, *[tf.bitcast(x, tf.int64) for x in operands]), tf.uint64)
    if dtype.is_integer:
        return tf.cast(_einsum(equation, *[tf.cast(x, tf.int64) for x in operands]), dtype)
    if dtype == tf.float16:
        return tf.cast(_einsum(equation, *[tf.cast(x, tf.float32) for x in operands]), dtype)
    return _einsum(equation, *operands)


def _check_casting(array: Any, dtype: Any, casting: Any) -> None:
    """Check that the casting rule lets an operand be converted to `dtype`."""
    kind = default_dtype(kind_of(array))
    if not np.can_cast(kind, kind if dtype is None else dtype, casting):
        raise TypeError(f"cannot cast an operand from {kind!r} to {dtype!r} under the rule {casting!r}")


@op(np.einsum)
def einsum(
    *operands: Any,
    out: Any = None,
    dtype: DType = None,
    order: MemoryOrder = "K",
    casting: Any = "safe",
    optimize: Any = False,
) -> Any:
    """Return sums of products over axes that share a label."""
    if not operands:
        raise ValueError("must specify the einstein sum subscripts string and at least one operand")
    if isinstance(operands[0], str):
        subscripts, arrays = operands[0], list(operands[1:])
    else:
        subscripts, arrays = _parse_sublists(operands)
    np.can_cast(np.int64, np.int64, casting)  # raises ValueError if there is no such rule
    tensors = [as_tensor(array) for array in arrays]
    labels, result = parse(subscripts, [rank_of(tensor) for tensor in tensors])
    if len(tensors) == 1 and result:
        # As in NumPy, the result is a view, whatever `dtype` is.
        if set(labels[0]) == set(result) and is_viewed_on_host(arrays[0]):
            return np.einsum(subscripts, arrays[0])
        view = _as_view(arrays[0], labels[0], result)
        if view is not None:
            return view
    for array in arrays:
        _check_casting(array, dtype, casting)
    common_tensors = promote(*tensors)
    for tensor in tensors if dtype is not None else ():
        warn_cast(tensor, dtype)
    inputs = list(common_tensors) if dtype is None else [cast(tensor, dtype) for tensor in common_tensors]
    factors, shorter = _drop_unit_axes(inputs, labels)
    sums = _compute_sums(f"{','.join(shorter)}->{result}", factors)
    if len(result) < 2 or order == "C":
        return sums
    if order in (None, "K") and all(map(is_c_ordered, arrays)) and _appear_in_order(labels, result):
        return sums
    layouts = [layout_of(as_view(array)) for array in arrays]
    return lay_out(sums, order_of_products(layouts, labels, result, order or "K"))


def _appear_in_order(labels: list[str], result: str) -> bool:
    """Return whether the labels of every operand are in the order of the result's labels."""
    return all([letter for letter in result if letter in term] == [*term] for term in labels)


def _stand_in(operand: Any) -> Any:
    """Return zeros of an operand's shape that take no memory. A list, which may be subscripts, is returned
    unchanged.

    Raises:
        StagingError: the shape is unknown.
    """
    if not is_array(operand) and not isinstance(operand, (np.ndarray, tf.Tensor, tf.Variable)):
        return operand
    if None in operand.shape:
        raise ShapeNeededError("einsum_path for operands of unknown shape")
    return np.broadcast_to(np.zeros(()), tuple(operand.shape))


def einsum_path(*operands: Any, optimize: Any = "greedy", einsum_call: bool = False) -> Any:
    """Return the order in which NumPy would contract the operands, which depends on their shapes only."""
    more: dict[str, Any] = {"optimize": optimize, "einsum_call": einsum_call}
    return np.einsum_path(*map(_stand_in, operands), **more)


OPS[np.einsum_path] = einsum_path


def _einsum(equation: str, *operands: tf.Tensor) -> tf.Tensor:
    """Return TensorFlow's sums. In a graph a result without axes has an axis meanwhile.

    XLA transposes the result of a product. For CPUs it cannot compile the transposition of a number, which
    its algebraic simplifier would remove (`np2tf.staging.xla.compiler_options`).
    """
    terms, _, result = equation.partition("->")
    if tf.executing_eagerly() or result or "->" not in equation or "." in equation:
        return tf.einsum(equation, *operands)
    label = next(letter for letter in ascii_letters if letter not in terms)
    first, *others = operands
    return tf.einsum(f"{label}{terms}->{label}", first[tf.newaxis], *others)[0]
