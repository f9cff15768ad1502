"""The order of writes, which keeps XLA from copying an array for every element that a loop writes.

XLA updates an array in place if nothing reads the old contents afterwards. But it may compute a cheap value
twice, once for the write and once for each further use. The second computation then reads the old contents,
so that every iteration copies the whole array (measured: 2000 ns instead of 7 for an element of a 48 × 48
array). Therefore numbers that were computed from the array and are still in use are pinned before the write:
XLA computes them once, and keeps them.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.arrays.array import slice_spec, slicing
from np2tf.arrays.array.ndarray import chain_of, ndarray, scalar, storage_of, tensor_array, tensor_scalar
from np2tf.arrays.array.sequences import key_of
from np2tf.arrays.array.slice_updates import pin_values, planes_of
from np2tf.arrays.array.slicing import make_forward
from np2tf.arrays.array.view_transforms import BasicIndexing, Transpose, overlaps, view_on_host
from np2tf.arrays.indexing.index_keys import (
    AdvancedKey,
    check_mask,
    expand,
    get_masked,
    holds,
    holds_0d_array,
    is_parted,
    leading_mask,
    write_masked,
)
from np2tf.arrays.indexing.selection import guard_gradient, mask_selection, selected_array, selection_of
from np2tf.arrays.indexing.selection_keys import (
    compose_keys,
    fill_at,
    gather_at,
    get_from_selection,
    mask_behind,
    mask_beside,
    restore_masks,
    selected_index,
    write_repeated,
    write_selection,
)
from np2tf.arrays.operands.conversion import convert_assigned, refuse_unfit, to_numpy, without_class
from np2tf.arrays.tensors.graph_queries import depends_on
from np2tf.arrays.tensors.graphs import default_graph
from np2tf.arrays.tensors.storage import Storage, current_scope, staging_for_xla
from np2tf.arrays.tensors.symbolic_integers import SymInt

# -- write ordering ------------------------------------------------------------------------------------------


def compute_before_write(array: ndarray, value: tf.Tensor) -> tf.Tensor:
    """Return `value`, which will be written to an element of `array`, computed once and before the write."""
    if not staging_for_xla():
        return value
    return pin_before_write(storage_of(array), [value], always=False)[0]


def pin_before_write(storage: Storage, values: list[tf.Tensor], always: bool = True) -> list[tf.Tensor]:
    """Return `values`, which will be written to `storage`, computed once and before the writes.

    The other staged numbers that depend on the contents of the storage are pinned with them. Without `always`
    the values are pinned only if there are such numbers.
    """
    scope = current_scope()
    if scope is None or scope.counter is None:
        return values
    alive = [number for number in (reference() for reference in scope.numbers) if number is not None]
    # Inside a branch or a throw-away trace, the numbers of the loop's body would be replaced by tensors that
    # must not leave the branch or trace.
    inside = default_graph() is not getattr(storage.value, "graph", None)
    origin = None if inside else planes_of(storage.value)
    base = storage.value if origin is None else origin[0]
    staged_numbers = [
        number for number in alive if not inside and any(depends_on(t, base) for t in number.tensors())
    ]
    if not staged_numbers and not always:
        return values
    own_tensors = [tensor for number in staged_numbers for tensor in number.tensors()]
    results = pin_values(scope.counter, [*values, *own_tensors])
    pinned = iter(results[len(values) :])
    for number in staged_numbers:
        number.rebase([next(pinned) for _ in number.tensors()])
    return results[: len(values)]


# -- get set -------------------------------------------------------------------------------------------------
# ``x[key]`` and ``x[key] = value`` for arrays on TensorFlow, with every form of key that NumPy has.
#
# A key is expanded to one item per axis (`index_keys`). Without index arrays the result is a view
# (`view_transforms.BasicIndexing`). With index arrays the key selects elements, and the result is a copy.


def getitem(array: ndarray, key: Any) -> Any:
    """Return ``array[key]`` of an array on TensorFlow: a view, a number, or a copy for advanced keys.

    Raises:
        IndexError: NumPy raises it for this key.
    """
    key = key_of(key)
    if staging_for_xla():
        key = restore_masks(array, key)
        result = get_from_selection(array, key)
        if result is not None:
            return result
        inner = compose_keys(array, key)
        if inner is not None:
            return _get_from_whole(*inner, key)
    tensor = array.tensor
    index = selected_index(tensor, key)
    if index is not None:
        return selected_array(gather_at(tensor, index))
    items = expand(key, tensor.shape.rank)
    if not any(isinstance(item, tf.Tensor) for item in items):
        if all(isinstance(item, (int, SymInt)) for item in items) and not holds(key, Ellipsis):
            return tensor_scalar(slicing.read(tensor, tuple(items)))
        key_pair = make_forward(items, tensor.shape.as_list())
        if key_pair is not None:
            return getitem(array.view_through(BasicIndexing(tuple(key_pair[0]))), key_pair[1])
        if type(array) is scalar or holds_0d_array(key):
            return tensor_array(slicing.read(tensor, tuple(items)))
        view = array.view_through(BasicIndexing(tuple(items)))
        if selection_of(view) is None:
            _ = view.tensor
        return view
    beside = mask_beside(items) if staging_for_xla() else None
    if beside is not None:
        check_mask(beside[0], tensor)
        return getitem(getitem(array, beside[1]), tensor_array(beside[0]))
    mask = leading_mask(items)
    if mask is not None:
        check_mask(mask, tensor)
        is_open = staging_for_xla() and tf.get_static_value(mask) is None
        selection = mask_selection(tensor, mask) if is_open else None
        if selection is not None:
            return selected_array(guard_gradient(selection))
        return tensor_array(get_masked(tensor, mask))
    return tensor_array(AdvancedKey(tensor, items, is_parted(key)).gather())


def _get_from_whole(whole: ndarray, items: list[Any], key: Any) -> Any:
    """Return the elements that the composed key of a slice takes of the whole array."""
    if any(isinstance(item, tf.Tensor) for item in items):
        return tensor_array(AdvancedKey(whole.tensor, items, is_parted(key)).gather())
    if all(isinstance(item, (int, SymInt)) for item in items) and not holds(key, Ellipsis):
        return tensor_scalar(slicing.read(whole.tensor, tuple(items)))
    view = whole.view_through(BasicIndexing(tuple(items)))
    if selection_of(view) is None:
        _ = view.tensor
    return view


def setitem(array: ndarray, key: Any, value: Any) -> None:
    """Assign ``array[key] = value`` to an array on TensorFlow.

    Raises:
        IndexError: NumPy raises it for this key.
        ValueError: NumPy raises it for this value.
    """
    if type(array) is scalar:
        raise TypeError("'numpy.generic' object does not support item assignment")
    if array.is_read_only:
        raise ValueError("assignment destination is read-only")
    key = key_of(key)
    if staging_for_xla():
        key = restore_masks(array, key)
        inner = compose_keys(array, key)
        if inner is not None:
            whole, items = inner
            _set(whole, whole.tensor, items, key, value)
            return
    tensor = array.tensor
    contents = _fill_at_selection(tensor, key, value)
    if contents is not None:
        array.store(contents)
        return
    items = expand(key, tensor.shape.rank)
    picks = any(isinstance(item, tf.Tensor) for item in items)
    if picks and overlaps(chain_of(array)) and tf.executing_eagerly():
        _set_on_host(array, key, value)
    else:
        _set(array, tensor, items, key, value)


def _set(array: ndarray, tensor: tf.Tensor, items: list[Any], key: Any, value: Any) -> None:
    """Assign ``array[key] = value``; `items` is the key with one item for each axis."""
    picks = any(isinstance(item, tf.Tensor) for item in items)
    if not picks and make_forward(items, tensor.shape.as_list()):
        setitem(getitem(array, key), ..., value)
        return
    beside = mask_beside(items) if picks and staging_for_xla() else None
    if beside is not None:
        check_mask(beside[0], tensor)
        setitem(getitem(array, beside[1]), tensor_array(beside[0]), value)
        return
    behind = mask_behind(items) if picks and staging_for_xla() and _is_number(value) else None
    if behind is not None:
        mask, axis = behind
        check_mask(mask, tensor, axis)
        axes = range(axis, axis + mask.shape.rank)
        axes_beside = (k for k in range(tensor.shape.rank) if k not in axes)
        setitem(array.view_through(Transpose((*axes, *axes_beside))), tensor_array(mask), value)
        return
    is_element = all(isinstance(item, (int, SymInt)) for item in items)
    value = _without_mask(value, key, is_element, tensor.dtype)
    selection = selection_of(value)
    contents = write_selection(tensor, items, selection) if selection is not None else None
    if contents is not None:
        array.store(contents)
        return
    try:
        new = _assignable(value, tensor.dtype, picks)
    except (TypeError, ValueError, OverflowError):
        if not picks:
            # As in NumPy, an index out of bounds is reported before other errors.
            slice_spec.axes_of(tensor, tuple(items))
            if type(value) in (list, tuple) and tf.executing_eagerly():
                _write_before(getitem(array, key), value)
        raise
    if not picks:
        if new.shape.rank is None:
            new = tf.broadcast_to(new, tf.shape(slicing.read(tensor, tuple(items))))
        if is_element:
            if new.shape.rank and not holds(key, Ellipsis):
                slice_spec.axes_of(tensor, tuple(items))
                _refuse_sequence(tensor, value)
            new = compute_before_write(array, new)
        if type(value) in (list, tuple):
            _check_depth(items, new)
        _store_basic(array, tuple(items), tensor, new)
        return
    mask = leading_mask(items)
    if mask is not None:
        check_mask(mask, tensor)
        if mask.shape.rank == tensor.shape.rank and not isinstance(key, tuple):
            _check_rank(new)
        array.store(write_masked(tensor, mask, new))
    else:
        array.store(AdvancedKey(tensor, items, is_parted(key), new).scatter(new))


def _set_on_host(array: ndarray, key: Any, value: Any) -> None:
    """Let NumPy assign to elements that share memory."""
    storage, chain = array.storage_and_chain()
    copy = np.array(storage.value)
    view_on_host(copy, chain)[to_numpy(key)] = to_numpy(value)
    storage.write(tf.constant(copy))


def _fill_at_selection(tensor: tf.Tensor, key: Any, value: Any) -> tf.Tensor | None:
    """Return `tensor` after a number is written at the places of an index array that is a selection; else
    None.
    """
    index = selected_index(tensor, key)
    if index is None or selection_of(value) is not None:
        return None
    return fill_at(tensor, index, _assignable(value, tensor.dtype, picks=True))


def _store_basic(array: ndarray, key: slice_spec.BasicKey, tensor: tf.Tensor, value: tf.Tensor) -> None:
    """Assign ``array[key] = value`` for a basic key and a value of the array's dtype."""
    apart = staging_for_xla() and not overlaps(chain_of(array))
    contents = write_repeated(tensor, key, value) if apart else None
    if contents is not None:
        array.store(contents)
    elif chain_of(array) and (staging_for_xla() or overlaps(chain_of(array))):
        array.store_through(BasicIndexing(key), value)
    else:
        array.store(slicing.write(tensor, key, value))


def _write_before(part: Any, value: Any) -> None:
    """Write the numbers of a list that precede the first number that does not fit, as NumPy does."""
    if type(part) is not ndarray:
        return
    copy = np.array(part.numpy())
    with suppress(TypeError, ValueError, OverflowError):
        copy[...] = to_numpy(value)
    part.store(tf.constant(copy))


def _refuse_sequence(tensor: tf.Tensor, value: Any) -> None:
    """Raise NumPy's error for assigning a value with axes to one element."""
    element = np.empty(1, tensor.dtype.as_numpy_dtype)
    element[0] = value if type(value) in (list, tuple) else np.zeros(1)


def _check_rank(value: tf.Tensor) -> None:
    """Refuse a value of several axes if the whole key is a mask of all axes, as NumPy's fast path does."""
    if value.shape.rank is not None and value.shape.rank > 1:
        raise TypeError(
            "NumPy boolean array indexing assignment requires a 0 or 1-dimensional input, input has "
            f"{value.shape.rank} dimensions"
        )


def _check_depth(items: list[Any], value: tf.Tensor) -> None:
    """Check that a nested list has no more levels than its place in the array has axes."""
    visible = sum(1 for item in items if item is None or isinstance(item, slice))
    if value.shape.rank is not None and value.shape.rank > visible:
        raise ValueError(
            "setting an array element with a sequence. The requested array would exceed the maximum number "
            f"of dimension of {visible}."
        )


def _is_number(value: Any) -> bool:
    return isinstance(value, (bool, int, float, complex)) or getattr(value, "shape", None) == ()


def _without_mask(value: Any, key: Any, is_element: bool, dtype: tf.DType) -> Any:
    """Return `value`; for `np.ma.masked` that one element gets, NumPy's number: NaN, with a warning.

    For integers that is no number, but the error of NumPy's.
    """
    if value is not np.ma.masked or not is_element or holds(key, Ellipsis):
        return value
    return float(value) if dtype.is_floating else int(value) if dtype.is_integer else value


def _assignable(value: Any, dtype: tf.DType, picks: bool) -> tf.Tensor:
    """Return `value` in the dtype of the array. With index arrays NumPy casts its own numbers without a
    check.
    """
    target_dtype = np.dtype(dtype.as_numpy_dtype)
    kind = type(value)
    if kind is int or kind is float:
        return tf.constant(np.asarray(value, target_dtype))
    value = without_class(value)
    if not picks:
        refuse_unfit(value, target_dtype)
    elif isinstance(value, np.generic):
        value = np.asarray(value)
    return convert_assigned(value, target_dtype)
