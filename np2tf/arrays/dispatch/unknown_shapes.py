"""Arrays whose rank or shape is known only at run time: staged for each rank, or refused clearly."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.ops import gen_array_ops

from np2tf.arrays.array.ndarray import is_array, scalar, storage_of, tensor_array, weak_scalar, wrap_tensor
from np2tf.arrays.tensors.graphs import default_graph, new_graph, new_placeholder
from np2tf.arrays.tensors.storage import current_scope
from np2tf.core.errors import PromotionError, ShapeNeededError, StagingError

# -- unknown shapes ------------------------------------------------------------------------------------------
# Shapes known only at run time: operations that work without them, and clear errors for all other
# operations.

#: Functions that work over all elements if ``axis=None``, for any number of axes.
_OVER_ALL = frozenset(
    {
        *("sum", "prod", "mean", "std", "var", "max", "min", "ptp", "any", "all", "count_nonzero", "average"),
        *("nansum", "nanprod", "nanmean", "nanstd", "nanvar", "nanmax", "nanmin"),
        *("cumsum", "cumprod", "nancumsum", "nancumprod", "argmax", "argmin"),
    }
)


def flatten_unknown_rank(name: str, order: list[str], values: list[Any]) -> list[Any]:
    """Return the arguments, with an array of unknown rank flattened if the function works over all its
    elements.
    """
    first = values[0] if values else None
    if name not in _OVER_ALL or not isinstance(first, tf.Tensor) or first.shape.rank is not None:
        return values
    arguments = dict(zip(order, values, strict=False))
    if arguments.get("axis") is not None or arguments.get("keepdims") not in (None, False):
        return values
    if arguments.get("where", True) is not True or arguments.get("weights") is not None:
        return values
    return [tf.reshape(first, (-1,)), *values[1:]]


def refusal(error: Exception, name: str, args: tuple[Any, ...]) -> Exception:
    """Return the error to raise while staging. An error that comes from an unknown length or rank says so."""
    if isinstance(error, (StagingError, PromotionError)) or not any(map(_is_incomplete, args)):
        return error
    shape_error = ShapeNeededError(f"{name} of an array whose shape is known only at run time")
    shape_error.__cause__ = error
    return shape_error


def _is_incomplete(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return any(map(_is_incomplete, value))
    tensor = value.tensor if is_array(value) else value
    return isinstance(tensor, tf.Tensor) and not tensor.shape.is_fully_defined()


# -- result forms --------------------------------------------------------------------------------------------
# The common form of a call's results that are staged for several ranks of an operand.


@dataclass(frozen=True)
class LeafForm:
    """The form of one leaf of a result: a tensor, as an array or a number, or a value that is no tensor."""

    dtype: tf.DType | None
    shape: tf.TensorShape | None = None
    weak: type | None = None
    value: Any = None
    #: True if the leaf is a view of the operand.
    view: bool = False

    #: True if the leaf is a raw tensor, and not an array on TensorFlow.
    raw: bool = False

    @property
    def kind(self) -> tuple[tf.DType | None, type | None, bool]:
        """The dtype of the tensor if the leaf can be a tensor, the Python type of a number, and `raw`."""
        if self.dtype is not None:
            return self.dtype, self.weak, self.raw
        return _NUMBERS.get(type(self.value)), type(self.value), False

    def common_form(self, other_form: LeafForm) -> LeafForm:
        """Return the common form of two leaves; raise NoCommonForm if they have none."""
        if self.dtype is None and other_form.dtype is None and _have_one_form(self.value, other_form.value):
            return self
        dtype, weak, raw = self.kind
        if (dtype, weak, raw) != other_form.kind:
            if not {self.kind, other_form.kind} <= {(tf.bool, bool, False), (tf.bool, None, False)}:
                raise NoCommonForm
            weak = None
        if dtype is None:
            raise NoCommonForm
        # (`or` would not do: a shape of unknown rank is false.)
        own_shape, other_shape = (
            _NUMBER if leaf.shape is None else leaf.shape for leaf in (self, other_form)
        )
        shape = own_shape.most_specific_compatible_shape(other_shape)
        return LeafForm(dtype, shape, weak, view=self.view and other_form.view, raw=raw)

    def of(self, tensor: tf.Tensor) -> Any:
        """Return a tensor in the form of this leaf."""
        tensor.set_shape(self.shape)
        return tensor if self.raw else weak_scalar(tensor, self.weak) if self.weak else wrap_tensor(tensor)


_NUMBER = tf.TensorShape([])
#: Types of Python numbers that may have different values for different ranks.
_NUMBERS = {bool: tf.bool, int: tf.int64, float: tf.float64}
_VALUES = (bool, int, float, complex, str, bytes, type, np.dtype)


def _have_one_form(first: Any, second: Any) -> bool:
    return first is second or (type(first) is type(second) and isinstance(first, _VALUES) and first == second)


class NoCommonForm(Exception):
    """The results of two ranks have no common form."""


def leaf_form(value: Any, operand: Any) -> LeafForm:
    if is_array(value):
        weak = value.weak if type(value) is scalar else None
        view = is_array(operand) and type(value) is not scalar and storage_of(value) is storage_of(operand)
        return LeafForm(value.tensor.dtype, value.tensor.shape, weak, view=view)
    if isinstance(value, (tf.Tensor, np.ndarray)):
        tensor = tf.convert_to_tensor(value)
        return LeafForm(tensor.dtype, tensor.shape, raw=isinstance(value, tf.Tensor))
    return LeafForm(None, value=value)


def leaf_tensor(value: Any) -> tf.Tensor:
    return value.tensor if is_array(value) else tf.convert_to_tensor(value, _NUMBERS.get(type(value)))


# -- unknown ranks -------------------------------------------------------------------------------------------
# Functions of arrays whose rank is known only at run time: staged for every rank, and run for one rank.
#
# The work of a function depends on the rank of its operand, but for each single rank the implementation
# exists. So the ranks up to `MOST_AXES` become the branches of one `tf.switch_case`. A rank at which NumPy
# raises becomes a branch that fails with NumPy's message (tf.errors.InvalidArgumentError).

#: An array of unknown rank that has more axes than this at run time is refused.
MOST_AXES = 6
#: Errors that a call may raise only because it does not know enough of its operands yet.
DOUBTFUL = (StagingError, TypeError, ValueError, IndexError)


def call_for_known_ranks(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call ``function(*args, **kwargs)``. If it must know the rank of an operand, call it for every rank.

    Raises:
        StagingError: the function is not defined for any rank.
    """
    try:
        return function(*args, **kwargs)
    except DOUBTFUL as error:
        return retry_for_each_rank(function, args, kwargs, error)


def retry_for_each_rank(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], error: Exception
) -> Any:
    """Repeat a failed call for every rank of an operand; raise `error` if no operand has an unknown rank.

    As in NumPy, a result may be a view of the operand, and the operand may be written to.
    """
    unknown_operand = (
        None if tf.executing_eagerly() else next(_operands_of_unknown_rank((args, kwargs)), None)
    )
    # Within np2tf.jit the call is repeated on the host, which knows the rank.
    if unknown_operand is None or current_scope() is not None:
        raise error

    def at(operand: Any, complete: bool = False) -> Any:
        more = _replace_operands((args, kwargs), lambda value: operand if value is unknown_operand else value)
        if complete:
            more = _replace_operands(more, _complete_shape)
        return call_for_known_ranks(function, *more)

    other_arrays = [
        value for value in _operands((args, kwargs)) if is_array(value) and value is not unknown_operand
    ]
    cases = _Cases(at, unknown_operand, error, other_arrays)
    result, contents = cases.stage()
    if contents is not None:
        unknown_operand.store(contents)
    return result


def support_unknown_ranks(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function that needs the ranks of its operands; an unknown rank is staged for every rank."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return (
            function(*args, **kwargs)
            if _rank_is_known(args)
            else call_for_known_ranks(function, args, kwargs)
        )

    return call


def ensure_rank(tensor: tf.Tensor, rank: int) -> tf.Tensor:
    """Return `tensor` with `rank` axes; the graph fails if it has another number of axes.

    The tensor is reshaped. With `tf.ensure_shape`, TensorFlow's optimiser would apply the knowledge of one
    branch to all of them.
    """
    if tensor.shape.rank is not None:
        return tensor
    return tf.reshape(tensor, tf.reshape(tf.shape(tensor, tf.int64), [rank]))


def rank_tensor(tensor: tf.Tensor) -> tf.Tensor:
    """Return the number of axes as a tensor.

    TensorFlow's optimiser merges the facts that operations, also of different branches, state about the
    shape of one tensor. It concludes nothing about a placeholder.
    """
    return tf.size(tf.shape(gen_array_ops.placeholder_with_default(tensor, None)))


def _rank_is_known(args: Any) -> bool:
    return next(_operands_of_unknown_rank(args), None) is None


def _operands_of_unknown_rank(value: Any) -> Iterator[Any]:
    """Yield the operands in `value` whose rank is not known."""
    for operand in _operands(value):
        tensor = operand.tensor if is_array(operand) else operand
        if isinstance(tensor, tf.Tensor) and tensor.shape.rank is None:
            yield operand


def _operands(value: Any) -> Iterator[Any]:
    """Yield the leaves of `value`, looking into tuples, lists, dicts and slices."""
    kind = type(value)
    if kind is tuple or kind is list:
        for item in value:
            yield from _operands(item)
    elif kind is dict:
        yield from _operands(list(value.values()))
    elif kind is slice:
        yield from _operands((value.start, value.stop, value.step))
    else:
        yield value


def _replace_operands(value: Any, by: Callable[[Any], Any]) -> Any:
    """Return `value` with every operand replaced by ``by(operand)``."""
    kind = type(value)
    if kind is tuple or kind is list:
        return kind(_replace_operands(item, by) for item in value)
    if kind is dict:
        return {key: _replace_operands(item, by) for key, item in value.items()}
    if kind is slice:
        return slice(*_replace_operands((value.start, value.stop, value.step), by))
    return by(value)


def _complete_shape(value: Any) -> Any:
    """Return an operand of known rank with its unknown lengths set to 3, which suits most functions."""
    tensor = value.tensor if is_array(value) else value
    if not isinstance(tensor, tf.Tensor) or tensor.shape.rank is None or tensor.shape.is_fully_defined():
        return value
    lengths = [3 if n is None else n for n in tensor.shape.as_list()]
    placeholder = new_placeholder(tensor.dtype, lengths)
    return tensor_array(placeholder) if is_array(value) else placeholder


@dataclass
class _Outcome:
    """The outcome of a call at one rank: its result, or the exception that NumPy raises.

    Attributes:
        error: the exception.
        values: the leaves of the result.
        leaves: the form of each leaf.
        outline: the nesting of the leaves.
        after: the operand after the call, if it has been written to.
    """

    error: Exception | None = None
    values: tuple[Any, ...] = ()
    leaves: tuple[LeafForm, ...] = ()
    outline: Any = None
    after: tf.Tensor | None = None


class _Cases:
    """A call that is staged for every rank of one operand.

    Each rank is first traced into a throw-away graph, to learn the common form of all results.
    """

    def __init__(
        self, at: Callable[..., Any], operand: Any, error: Exception, other_arrays: list[Any]
    ) -> None:
        self.at = at
        self.other_arrays = other_arrays
        self.operand = operand
        self.tensor: tf.Tensor = operand.tensor if is_array(operand) else operand
        with new_graph(_DISCOVERY).as_default():
            outcomes = [self._outcome(rank) for rank in range(MOST_AXES + 1)]
        if all(outcome.error for outcome in outcomes):
            raise next(outcome.error for outcome in reversed(outcomes) if outcome.error) from error
        self.leaves: list[LeafForm] = []
        try:
            self._join(outcomes)
        except NoCommonForm:
            # The value of a number may have another type than its leaf.
            if outcomes[0].error or all(outcome.error for outcome in outcomes[1:]):
                raise error from None
            outcomes[0] = _Outcome(ShapeNeededError("the result has another type if the array has no axes"))
            try:
                self._join(outcomes)
            except NoCommonForm:
                raise error from None
        self.errors = [outcome.error for outcome in outcomes]

    def _join(self, outcomes: list[_Outcome]) -> None:
        results = [outcome for outcome in outcomes if outcome.error is None]
        self.writes = any(outcome.after is not None for outcome in results)
        self.outline = results[0].outline
        if any(outcome.outline != self.outline for outcome in results):
            raise NoCommonForm
        forms = zip(*(outcome.leaves for outcome in results), strict=True)
        self.leaves = [functools.reduce(LeafForm.common_form, leaves) for leaves in forms]

    def _outcome(self, rank: int) -> _Outcome:
        tensor = ensure_rank(self.tensor, rank)
        operand = tensor_array(tensor) if is_array(self.operand) else tensor
        before = [(storage, storage.value) for storage in map(storage_of, self.other_arrays)]
        try:
            result = self.at(operand)
            values = tuple(tf.nest.flatten(result))
            leaves = tuple(leaf_form(value, operand) for value in values)
        except (TypeError, ValueError, IndexError) as error:
            return _Outcome(error)
        except StagingError:
            rank_error = self._due_to_rank(operand)
            if rank_error is None:
                raise
            return _Outcome(rank_error)
        if changes := [pair for pair in before if pair[0].value is not pair[1]]:
            for storage, value in changes:
                storage.rebase(value)
            raise ShapeNeededError("how an array is written to depends on the rank of another")
        outline = tf.nest.map_structure(lambda _: 0, result)
        changed = is_array(operand) and operand.tensor is not tensor
        return _Outcome(None, values, leaves, outline, operand.tensor if changed else None)

    def _due_to_rank(self, operand: Any) -> Exception | None:
        """Return the exception that NumPy raises at this rank for all lengths; None if it raises none."""
        try:
            self.at(operand, complete=True)
        except (TypeError, ValueError, IndexError) as error:
            return error
        except StagingError:
            pass
        return None

    def stage(self) -> tuple[Any, tf.Tensor | None]:
        """Return the result, and the operand after the call if it has been written to."""
        dtypes = [leaf.dtype for leaf in self.leaves if leaf.dtype is not None]
        dtypes += [self.tensor.dtype] if self.writes else []
        if default_graph().name == _DISCOVERY:
            # In a throw-away graph only the form of the results matters.
            results = [new_placeholder(dtype) for dtype in dtypes]
        elif dtypes or any(self.errors):
            rank = rank_tensor(self.tensor)
            branches = [functools.partial(self._branch, rank, k, dtypes) for k in range(MOST_AXES + 1)]
            words = f"np2tf: an array of more than {MOST_AXES} axes, whose number is known only at run time"
            branches.append(functools.partial(_fail, rank, MOST_AXES + 1, dtypes, words))
            results = tf.nest.flatten(tf.switch_case(rank, branches))
        else:
            results = []
        contents = results.pop() if self.writes else None
        tensors = iter(results)
        leaves = [
            leaf.value if leaf.dtype is None else self._view(k, leaf, next(tensors))
            for k, leaf in enumerate(self.leaves)
        ]
        return tf.nest.pack_sequence_as(self.outline, leaves), contents

    def _view(self, k: int, leaf: LeafForm, tensor: tf.Tensor) -> Any:
        array = leaf.of(tensor)
        if not leaf.view:
            return array
        view = self.operand.view_through(
            RankDependentView(lambda operand: tf.nest.flatten(self.at(operand))[k])
        )
        view.remember(array.tensor)
        return view

    def _branch(self, rank: tf.Tensor, k: int, dtypes: list[tf.DType]) -> list[tf.Tensor]:
        error = self.errors[k]
        if error is not None:
            return _fail(rank, k, dtypes, f"{type(error).__name__}: {error}")
        outcome = self._outcome(k)
        if outcome.error is not None:
            raise outcome.error
        pairs = zip(outcome.values, self.leaves, strict=True)
        tensors = [leaf_tensor(value) for value, leaf in pairs if leaf.dtype is not None]
        if self.writes:
            tensors.append(ensure_rank(self.tensor, k) if outcome.after is None else outcome.after)
        return tensors


def _fail(rank: tf.Tensor, k: int, dtypes: list[tf.DType], message: str) -> list[tf.Tensor]:
    """Return the outputs of a branch that fails: with a message, and under XLA by an impossible shape."""
    with tf.control_dependencies([tf.Assert(tf.constant(False), [message])]):
        shape = tf.fill([rank - k + 1], 1)
        return [tf.reshape(tf.constant([], dtype), shape) for dtype in dtypes]


_DISCOVERY = "ranks"


@dataclass(frozen=True, eq=False)
class RankDependentView:
    """The view transform of an array of unknown rank.

    It applies the view transform for the rank once the rank is known.
    """

    view: Callable[[Any], Any]

    def get(self, base: tf.Tensor) -> tf.Tensor:
        """Return the view's value."""
        return _result(lambda operand: self.view(operand).tensor, base)

    def put(self, base: tf.Tensor, value: tf.Tensor) -> tf.Tensor:
        """Return `base` with the view replaced by `value`."""

        def write_view(operand: Any) -> tf.Tensor:
            view = self.view(operand)
            view.store(ensure_rank(value, view.tensor.shape.rank))
            return operand.tensor

        return _result(write_view, base)


def _result(function: Callable[[Any], tf.Tensor], base: tf.Tensor) -> tf.Tensor:
    unknown = ShapeNeededError("a view of an array of unknown rank")
    result: tf.Tensor = retry_for_each_rank(function, (tensor_array(base),), {}, unknown)
    return result
