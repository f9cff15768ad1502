"""The memory order of results, for functions whose results follow the order of their operands in NumPy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from np2tf.staging import MemoryLayoutError
from np2tf.tnp._array.layout_probes import Order, layout_of
from np2tf.tnp._array.ndarray import is_c_ordered, ndarray, storage_of
from np2tf.tnp._array.strides import lay_out_like_operands, order_of_copy, order_of_joined, order_of_reduced
from np2tf.tnp._tensor.storage import current_scope

#: A function of a result, the arguments and the keyword arguments that returns the result in NumPy's memory
#: order.
Rule = Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]


def _elementwise(result: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return lay_out_like_operands(result, (*args, *kwargs.values()))


def _order_of_iterated_result(result: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return lay_out_like_operands(result, (*args, *kwargs.values()), iterated=True)


def _order_of_rounded(result: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the result of `np.round` in NumPy's memory order.

    For whole numbers `np.round` is one ufunc. For decimals it takes several steps in an array that it makes
    first.
    """
    decimals = args[1] if len(args) > 1 else kwargs.get("decimals", 0)
    return (_fortran if decimals else _elementwise)(result, args, kwargs)


def _first(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return args[0] if args else next(iter(kwargs.values()), None)


def _lay_out_result(result: Any, order: Order) -> Any:
    if type(result) is ndarray and order is not None and len(order) == result.tensor.shape.rank:
        storage_of(result).order = order
    return result


def _lay_out_as_copy(result: Any, operand: Any, letter: str) -> Any:
    if type(result) is not ndarray or result.tensor.shape.rank is None:
        return result
    return _lay_out_result(result, order_of_copy(operand, letter))


def _copy(result: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the result in the memory order of a copy of the first operand."""
    return _lay_out_as_copy(result, _first(args, kwargs), "K")


def _fortran(result: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the result in Fortran order if the first operand is, else in C order."""
    return _lay_out_as_copy(result, _first(args, kwargs), "A")


def _lay_out_reduction(result: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    operand = _first(args, kwargs)
    axis = args[1] if len(args) > 1 else kwargs.get("axis")
    if axis is None or type(result) is not ndarray or is_c_ordered(operand):
        return result
    rank = operand.ndim
    axes = [int(axis_number) % rank for axis_number in (axis if isinstance(axis, (tuple, list)) else (axis,))]
    return _lay_out_result(result, order_of_reduced(operand, axes, result.tensor.shape.rank == rank))


def _rule_for_joining(join_layouts: Callable[[np.ndarray, int], np.ndarray]) -> Rule:
    """Return the rule for a function that joins arrays.

    Args:
        join_layouts: brings an array to the number of axes in which the arrays are joined.
    """

    def rule(result: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        arrays = _first(args, kwargs)
        axis = args[1] if len(args) > 1 else kwargs.get("axis", 0)
        if axis is None or not isinstance(arrays, (tuple, list)) or all(map(is_c_ordered, arrays)):
            return result
        layouts = [layout_of(array) for array in arrays]
        probes = [join_layouts(layout, axis) for layout in layouts if layout is not None]
        return _lay_out_result(result, order_of_joined(probes)) if len(probes) == len(layouts) else result

    return rule


def _blocks(result: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the result of `np.block` in NumPy's memory order.

    NumPy joins small blocks, axis by axis, and writes large blocks into a new array.

    Raises:
        StagingError: the order of staged arrays is not known.
    """
    blocks = _first(args, kwargs)
    leaves = list(blocks_within(blocks))
    if type(result) is not ndarray or all(map(is_c_ordered, leaves)):
        return result
    layouts = {
        id(block): layout_of(block) if isinstance(block, np.ndarray) else np.empty(()) for block in leaves
    }
    rank, size = result.tensor.shape.rank, result.tensor.shape.num_elements()
    if size is None or any(layout is None for layout in layouts.values()):
        if current_scope() is None:
            return result
        raise MemoryLayoutError("np.block of arrays that are not in C order")
    depth = _depth(blocks)
    if depth * size <= _JOINED_BLOCKS:
        return _lay_out_result(result, order_of_copy(_joined_blocks(blocks, layouts, rank, depth), "K"))
    fortran = all(layout.flags.f_contiguous for layout in layouts.values())  # type: ignore[union-attr]
    c = all(layout.flags.c_contiguous for layout in layouts.values())  # type: ignore[union-attr]
    return _lay_out_result(result, tuple(reversed(range(rank)))) if fortran and not c else result


#: NumPy joins the blocks if their total size times the depth of the lists is at most this number.
_JOINED_BLOCKS = 2 * 512 * 512


def blocks_within(blocks: Any) -> Iterator[Any]:
    """Yield the arrays in the nested lists that `np.block` receives."""
    if isinstance(blocks, list):
        for block in blocks:
            yield from blocks_within(block)
    else:
        yield blocks


def _depth(blocks: Any) -> int:
    return 1 + _depth(blocks[0]) if isinstance(blocks, list) else 0


def _joined_blocks(blocks: Any, layouts: dict[int, Any], rank: int, depth: int) -> np.ndarray:
    """Return an np.ndarray with the shape and strides of the joined blocks."""
    if depth == 0:
        layout = layouts[id(blocks)]
        return layout[(None,) * (rank - layout.ndim) + (...,)]  # type: ignore[no-any-return]
    parts = [_joined_blocks(block, layouts, rank, depth - 1) for block in blocks]
    shape = list(parts[0].shape)
    shape[-depth] = sum(part.shape[-depth] for part in parts)
    order = order_of_joined(parts) or tuple(range(rank))
    return np.empty([shape[axis] for axis in order]).transpose(np.argsort(order))


_KINDS: dict[Rule, tuple[str, ...]] = {
    _elementwise: ("clip", "isclose", "angle", "fix", "i0", "sinc", "real_if_close"),
    _order_of_iterated_result: ("where", "cumsum", "cumprod"),
    _order_of_rounded: ("round", "around"),
    _copy: ("sort", "partition", "nan_to_num"),
    _fortran: ("pad",),
    _lay_out_reduction: (
        *("sum", "prod", "max", "min", "amax", "amin", "any", "all", "mean", "var", "std", "ptp"),
        *("nansum", "nanprod", "nanmax", "nanmin", "nanmean", "nanvar", "nanstd", "count_nonzero"),
    ),
    _blocks: ("block",),
    _rule_for_joining(lambda layout, axis: layout): ("concatenate",),
    _rule_for_joining(lambda layout, axis: np.expand_dims(layout, axis)): ("stack",),
    _rule_for_joining(lambda layout, axis: np.atleast_1d(layout)): ("hstack",),
    _rule_for_joining(lambda layout, axis: np.atleast_2d(layout)): ("vstack",),
    _rule_for_joining(lambda layout, axis: np.atleast_3d(layout)): ("dstack",),
}
#: NumPy's function -> its rule.
ORDERS: dict[Any, Rule] = {
    getattr(np, name): rule for rule, names in _KINDS.items() for name in names if hasattr(np, name)
}
