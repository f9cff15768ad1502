"""cond, case, while_loop, for_loop, and_, or_, not_, is_, on_host: Python for known values, else graphs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from itertools import chain, count, islice
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.arrays.array.ndarray import is_array, scalar, weak_scalar
from np2tf.arrays.operands.conversion import as_tensor
from np2tf.arrays.operands.staged_numbers import is_undecided
from np2tf.arrays.tensors.storage import current_scope
from np2tf.arrays.tensors.symbolic_integers import SymInt
from np2tf.core import operators
from np2tf.core.errors import (
    ContainerChangeError,
    LoopTypeError,
    NotStagedError,
    PollingError,
    PromotionError,
    StagingError,
    TraceSizeError,
    TracingTimeError,
)
from np2tf.core.operators import MAX_UNROLL, NO_STATE, UNROLL, takes_one_variable
from np2tf.staging.control import type_tests
from np2tf.staging.control.attributes import branches, staged_loop
from np2tf.staging.control.iterables import StagedIterable, sequence
from np2tf.staging.control.loop_analysis import TripCount, reads_no_variable
from np2tf.staging.control.loops import EffectsInTest
from np2tf.staging.control.unrolling import LoopSize
from np2tf.staging.control.variables import Variables, parameters
from np2tf.staging.trace.trace import Trace, trace_of
from np2tf.staging.values.carried_values import STATE
from np2tf.staging.values.containers import (
    MutationGuard,
    containers,
    copy_containers,
    kept_containers,
    put_back,
)
from np2tf.staging.values.staged_list import StagedList

# -- control -------------------------------------------------------------------------------------------------
# The control flow operators that translated code calls: Python for Python values, else graphs.

#: So many iterations, at most, are made before a loop to learn the types of its variables.
_MAX_AHEAD = 2


def _trace() -> Trace:
    scope = current_scope()
    return trace_of(scope) if scope is not None else Trace(xla=False, is_foreign=True)


def _staged_test(value: Any) -> tf.Tensor | None:
    """Return the boolean tensor of a test that is known only at run time; None for any other test."""
    if is_undecided(value):
        tensor = as_tensor(value, np.dtype(bool))
    elif is_array(value):
        tensor = value.tensor
    elif isinstance(value, tf.Tensor):
        tensor = value
    elif isinstance(value, StagedList) and is_array(value.count):
        tensor = value.count.tensor
    else:
        return None
    if hasattr(tensor, "numpy") or tf.get_static_value(tensor) is not None:
        return None
    if tensor.shape.rank not in (0, None) and tensor.shape.num_elements() != 1:
        raise ValueError(
            "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()"
        )
    flat = tf.reshape(tensor, [])
    return flat if flat.dtype == tf.bool else tf.not_equal(flat, tf.zeros((), flat.dtype))


def cond(test: Any, then: Callable[..., Any], otherwise: Callable[..., Any], *operands: Any) -> Any:
    """Return ``then(*operands)`` if `test` is true, else ``otherwise(*operands)``.

    If `test` is known only at run time, both functions become the branches of a `tf.cond`. Their results are
    widened to a common dtype, and writes to arrays in a branch happen only if that branch is taken. A call of
    a jitted function in which an array has another dtype because of that is repeated on the host.

    Args:
        test: a Python value or an array of one element, of any dtype.
        then, otherwise: functions of the operands that return equal structures of arrays and numbers.
        *operands: arrays of any shape and dtype, numbers, and tuples, lists and dicts of these.

    Returns:
        The result of the function that `test` selects.

    Raises:
        StagingError: if the branches cannot be staged with Python's meaning kept.

    See https://www.tensorflow.org/api_docs/python/tf/cond.
    """
    tensor = _staged_test(test)
    if tensor is None:
        return then(*operands) if test else otherwise(*operands)
    return _staged_cond(tensor, then, otherwise, operands, Variables((then, otherwise)))


def case(
    branches: Sequence[tuple[Any, Callable[..., Any]]], default: Callable[..., Any], *operands: Any
) -> Any:
    """Return the result of the function beside the first true test, or of `default` if no test is true.

    Each test that is known only at run time becomes a `tf.cond`, whose other branch has the later tests.

    Args:
        branches: pairs of a test and a function of the operands. A test is a Python value or an array of one
            element, of any dtype, or a function without parameters that returns one of these. Such a function
            is called only if no earlier test is true, so it may use what an earlier test rules out.
        default: a function of the operands. All functions return equal structures of arrays and numbers.
        *operands: arrays of any shape and dtype, numbers, and tuples, lists and dicts of these.

    Returns:
        The result of the selected function.

    Raises:
        StagingError: if the branches cannot be staged with Python's meaning kept.

    See https://www.tensorflow.org/api_docs/python/tf/case.
    """
    for number, (test, branch) in enumerate(branches, 1):
        value = test() if callable(test) else test
        tensor = _staged_test(value)
        if tensor is None:
            if value:
                return branch(*operands)
            continue
        later = branches[number:]
        sides = branch, later[0][1] if later else default

        def otherwise(*inner: Any, later: Any = later) -> Any:
            return case(later, default, *inner)

        return _staged_cond(tensor, branch, otherwise, operands, Variables(sides))
    return default(*operands)


def _staged_cond(
    staged_test: tf.Tensor,
    then: Callable[..., Any],
    otherwise: Callable[..., Any],
    operands: Sequence[Any],
    variables: Variables,
) -> Any:
    if not containers(operands):
        return branches(
            _trace(), staged_test, lambda: then(*operands), lambda: otherwise(*operands), variables
        )
    places: list[Any] = []

    def side(branch: Callable[..., Any]) -> Any:
        # Both sides are staged: changes that one side makes to a list must not be visible on the other side.
        own_operands = copy_containers(operands)
        guard = MutationGuard(STATE.reachable(own_operands))
        result = branch(*own_operands)
        places.append(kept_containers(own_operands, result))
        if not set(places[-1].values()) >= set(containers(own_operands)):
            guard.check()
        return result

    result = branches(_trace(), staged_test, lambda: side(then), lambda: side(otherwise), variables)
    common_places = dict(set.intersection(*(set(kept_places.items()) for kept_places in places)))
    if any(set(kept_places.values()) != set(common_places.values()) for kept_places in places):
        raise ContainerChangeError(_describe_exchange(result, places, variables, parameters(then)))
    return put_back(result, containers(operands), common_places)


def _describe_exchange(result: Any, places: list[Any], variables: Variables, names: Sequence[str]) -> str:
    """Return which list or dict is another list or dict on each side of a branch, in words."""
    path = min(
        (
            container_path
            for side in places
            for container_path in side
            if places[0].get(container_path) != places[1].get(container_path)
        ),
        key=repr,
    )

    def describe(side: dict[Any, Any]) -> str:
        if path not in side:
            return "a new list or dict"
        k = side[path][0]
        return f"the list or dict `{names[k]}`" if k < len(names) else "another list or dict"

    return variables.in_branch(variables.place(result, path), describe(places[0]), describe(places[1]))


def _on_tuples(
    step: Callable[..., Any], state: Any, before_state: int
) -> tuple[Callable[..., Any], tuple[Any, ...], Callable[[tuple[Any, ...]], Any]]:
    """Return a step that returns a tuple, the state as a tuple, and the function that turns it back.

    Args:
        step, state: as `for_loop` has them.
        before_state: the number of the step's parameters before the state.
    """
    if state is NO_STATE:

        def without_state(*item: Any) -> tuple[Any, ...]:
            step(*item)
            return ()

        return without_state, (), lambda after: None
    if takes_one_variable(step, before_state):
        return lambda *args: (step(*args),), (state,), lambda after: after[0]
    return lambda *args: tuple(step(*args)), tuple(state), lambda after: after


def while_loop(keep_going: Callable[..., Any], step: Callable[..., Any], state: Any = NO_STATE) -> Any:
    """Do ``while keep_going(state): state = step(state)``, and return the state after the loop.

    From the first test on that is known only at run time, the loop is staged as `tf.while_loop`.

    Args:
        keep_going: (state) -> a Python value or an array of one element.
        step: (state) -> state. If it has exactly one parameter, the state is one value, which may be a tuple.
            If it has several parameters, it gets the items of the state as (*state), and returns a tuple; so
            does `keep_going`. Without a state, both have no parameters.
        state: the loop's variable, or a tuple of its variables: arrays of any shape and dtype, numbers, and
            structures of these.

    Returns:
        The state after the loop, in the form that the step returns; None without a state.

    Raises:
        StagingError: if the loop cannot be staged with Python's meaning kept.

    See https://www.tensorflow.org/api_docs/python/tf/while_loop.
    """
    if current_scope() is None and tf.executing_eagerly():
        return operators.while_loop(keep_going, step, state)
    variables = Variables.of_loop(step)
    step, state, give_back = _on_tuples(step, state, 0)
    return give_back(_while(keep_going, step, state, variables))


def _while(
    keep_going: Callable[..., Any],
    step: Callable[..., Any],
    state: tuple[Any, ...],
    variables: Variables,
) -> tuple[Any, ...]:
    """Run a `while`, in Python up to the first staged test."""
    size = LoopSize(None)
    for rounds in count():
        test = keep_going(*state)
        if _staged_test(test) is not None:
            break
        if not test:
            return state
        if rounds == MAX_UNROLL and size.is_staging and reads_no_variable(keep_going):
            raise PollingError("nothing in the loop changes its test, so it waits for something outside")
        state = step(*state)
        size.note_iteration()

    try:
        return _staged_while(keep_going, step, state, variables)
    except EffectsInTest:
        return _rotated_loop(test, keep_going, step, state, variables)


def _staged_while(
    keep_going: Callable[..., Any],
    step: Callable[..., Any],
    state: tuple[Any, ...],
    variables: Variables,
) -> tuple[Any, ...]:
    """Stage the loop, with its test as that of the `tf.while_loop`; `variables` identify the loop in later
    traces.
    """

    def test(counter: tf.Tensor, inner: tuple[Any, ...]) -> tf.Tensor:
        return _test_tensor(keep_going(*inner))

    for _ in range(_MAX_AHEAD + 1):
        loop = staged_loop(
            _trace(),
            test,
            lambda counter, inner: step(*inner),
            state,
            variables=variables,
        )
        if not loop.changes_dtype:
            return loop.run()  # type: ignore[no-any-return]
        state = _once(keep_going(*state), step, state, variables)
    raise loop.refusal_of_dtypes()


def _rotated_loop(
    test: Any,
    keep_going: Callable[..., Any],
    step: Callable[..., Any],
    state: tuple[Any, ...],
    variables: Variables,
) -> tuple[Any, ...]:
    """Stage the loop with its test at the end of each iteration; a variable carries the outcome."""

    def truth(test: Any) -> Any:
        return weak_scalar(_test_tensor(test), bool)

    def iteration(_: Any, *inner: Any) -> tuple[Any, ...]:
        after = step(*inner)
        return truth(keep_going(*after)), *after

    inner_state = truth(test), *state
    return _staged_while(lambda outcome, *_: outcome, iteration, inner_state, variables.behind_one())[1:]


def _once(test: Any, step: Callable[..., Any], state: Sequence[Any], variables: Variables) -> tuple[Any, ...]:
    """Return the state after an iteration if `test` holds, else the state before it.

    An iteration before a loop gives its arrays their final dtypes.
    """
    tensor = _staged_test(test)
    if tensor is None:
        return step(*state) if test else tuple(state)
    return _staged_cond(tensor, step, lambda *inner: inner, state, variables)


def _test_tensor(test: Any) -> tf.Tensor:
    tensor = _staged_test(test)
    return tf.constant(bool(test)) if tensor is None else tensor


def for_loop(
    iterable: Any,
    step: Callable[..., Any],
    state: Any = NO_STATE,
    keep_going: Callable[..., Any] | None = None,
) -> Any:
    """Do ``for item in iterable: state = step(item, state)``, and return the state after the loop.

    Args:
        iterable: any iterable; while staging, ranges and arrays become staged loops, unless they are short.
        step: (item, state) -> state. If it has exactly one parameter behind the item, the state is one value,
            which may be a tuple. If it has several, it gets the items of the state as (item, *state), and
            returns a tuple. Without a state it gets the item alone.
        state: the loop's variable, or a tuple of its variables: arrays of any shape and dtype, numbers, and
            structures of these.
        keep_going: a function of the state, as the step gets it -> a Python value or an array of one element,
            tested before every step; the loop ends when it is false.

    Returns:
        The state after the loop, in the form that the step returns; None without a state.

    Raises:
        StagingError: if the loop cannot be staged with Python's meaning kept.

    See https://www.tensorflow.org/api_docs/python/tf/while_loop.
    """
    if current_scope() is None and tf.executing_eagerly():
        return operators.for_loop(iterable, step, state, keep_going)
    variables = Variables.of_loop(step, first=1)
    step, state, give_back = _on_tuples(step, state, 1)
    return give_back(_for(iterable, step, state, keep_going, variables))


def _for(
    iterable: Any,
    step: Callable[..., Any],
    state: tuple[Any, ...],
    keep_going: Callable[..., Any] | None,
    variables: Variables,
) -> tuple[Any, ...]:
    """Run a `for` while something is staged, in Python or as a staged loop."""
    items = sequence(iterable)
    if items is None:
        return _in_python(iterable, step, state, keep_going, variables)
    if isinstance(items.length, int) and items.length <= UNROLL:
        return _in_python(items, step, state, keep_going, variables, items.length)
    return _staged_for(items, step, state, keep_going, variables)


def _in_python(
    iterable: Any,
    step: Callable[..., Any],
    state: tuple[Any, ...],
    keep_going: Callable[..., Any] | None,
    variables: Variables,
    length: int | None = None,
    why: StagingError | None = None,
) -> tuple[Any, ...]:
    """Run a loop as Python does; `why` is the reason for which it is no staged loop, if it could be one."""
    iterator, size = iter(iterable), LoopSize(iterable, length, why)
    for item in iterator:
        if keep_going is not None:
            test = keep_going(*state)
            tensor = _staged_test(test)
            if tensor is not None:
                return _unroll(chain([item], iterator), step, state, keep_going, variables)
            if not test:
                break
        state = step(item, *state)
        size.note_iteration()
    return state


def _unroll(
    items: Any,
    step: Callable[..., Any],
    state: tuple[Any, ...],
    keep_going: Callable[..., Any],
    variables: Variables,
) -> tuple[Any, ...]:
    """Run a Python loop with a staged test: each iteration becomes a branch."""
    size = LoopSize(items)
    for item in items:
        state = _once(keep_going(*state), lambda *s, item=item: step(item, *s), state, variables)
        size.note_iteration()
    return state


def _staged_for(
    items: StagedIterable,
    step: Callable[..., Any],
    state: tuple[Any, ...],
    keep_going: Callable[..., Any] | None,
    variables: Variables,
) -> tuple[Any, ...]:
    length = items.length
    first = 0
    while True:
        offset = first

        def at(counter: tf.Tensor, offset: int = offset) -> Any:
            top = length - 1 if isinstance(length, int) else None
            return items.item(weak_scalar(counter + offset, int, SymInt.fresh(counter + offset, offset, top)))

        def test(counter: tf.Tensor, inner: Any, offset: int = offset) -> tf.Tensor:
            more = counter + offset < length
            return more if keep_going is None else tf.logical_and(more, _test_tensor(keep_going(*inner)))

        max_count = length - first if isinstance(length, int) else items.maximum
        runs_once = isinstance(length, int) and length > first and keep_going is None
        rounds = TripCount(max_count, isinstance(length, int) and keep_going is None)
        try:
            loop = staged_loop(
                _trace(),
                test,
                lambda counter, inner: step(at(counter), *inner),
                state,
                rounds,
                variables,
            )
            # An iteration before the loop gives its variables the types that they have from then on.
            ahead = loop.changes_dtype or (runs_once and loop.changes_type)
            if first == _MAX_AHEAD and loop.changes_dtype:
                raise loop.refusal_of_dtypes()
            if not ahead or first == _MAX_AHEAD:
                return loop.run()  # type: ignore[no-any-return]
        except StagingError as error:
            # The first iteration may replace None, or a number, by the array of all later iterations.
            may_settle = isinstance(error, LoopTypeError) and runs_once and first < _MAX_AHEAD
            if not may_settle:
                is_hopeless = isinstance(error, (TracingTimeError, TraceSizeError, PollingError))
                if not isinstance(length, int) or length > MAX_UNROLL or is_hopeless:
                    raise
                # The iterations before it have been made, with all that they write.
                later_items = islice(iter(items), first, None)
                return _in_python(later_items, step, state, keep_going, variables, length - first, error)
        runs = runs_once or test(tf.constant(0, tf.int64), state)
        state = _once(runs, lambda *inner, k=first: step(items.item(k), *inner), state, variables)
        first += 1


def and_(left: Any, right: Callable[[], Any]) -> Any:
    """Return ``left and right()``; for a staged `left`, by `tf.cond`.

    Args:
        left: a Python value or an array of one element, of any dtype.
        right: a function without parameters that returns the second operand.

    Returns:
        The operand that Python's ``and`` returns; for a staged `left`, a staged value of shape ().

    See https://www.tensorflow.org/api_docs/python/tf/cond.
    """
    tensor = _staged_test(left)
    return (left and right()) if tensor is None else cond(left, right, lambda: left)


def or_(left: Any, right: Callable[[], Any]) -> Any:
    """Return ``left or right()``; for a staged `left`, by `tf.cond`.

    Args:
        left: a Python value or an array of one element, of any dtype.
        right: a function without parameters that returns the second operand.

    Returns:
        The operand that Python's ``or`` returns; for a staged `left`, a staged value of shape ().

    See https://www.tensorflow.org/api_docs/python/tf/cond.
    """
    tensor = _staged_test(left)
    return (left or right()) if tensor is None else cond(left, lambda: left, right)


def not_(value: Any) -> Any:
    """Return ``not value``; for a staged value, a staged bool.

    Args:
        value: a Python value or an array of one element, of any dtype.

    Returns:
        A bool; for a staged value an array of shape () and dtype bool.

    See https://www.tensorflow.org/api_docs/python/tf/math/logical_not.
    """
    tensor = _staged_test(value)
    return (not value) if tensor is None else weak_scalar(tf.logical_not(tensor), bool)


def is_(value: Any, truth: bool) -> Any:
    """Return ``value is truth``; for a staged bool of Python's, such as `np.allclose` gives, a staged bool.

    Args:
        value: any object. A number of NumPy's is neither True nor False.
        truth: True or False.

    Raises:
        StagingError: whether the value is Python's bool depends on the path that the code takes.

    See https://docs.python.org/3/reference/expressions.html#is-not.
    """
    if type(value) is scalar and type_tests.type(value) is bool:
        return value if truth else not_(value)
    return value is truth


# -- exceptions ----------------------------------------------------------------------------------------------
# `np2tf.on_host`: exception handlers, which never run while a function is staged.


class HandledOnHost(Exception):
    """Raised if an exception occurs in a `try` of staged code: the call runs on the host, where it is
    handled.
    """

    code = "NP2TF532"


def on_host(kinds: Any) -> Any:
    """Return `kinds` on the host, for ``except np2tf.on_host(kinds):``; elsewhere no handler takes the
    exception.

    Args:
        kinds: an exception class, or a tuple of them.

    Returns:
        `kinds`; the function returns only on the host.

    Raises:
        HandledOnHost: if the function is being staged, because no handler of staged code can take the
            exception.

    See https://docs.python.org/3/reference/compound_stmts.html#except-clause.
    """
    if current_scope() is None and tf.executing_eagerly():
        return kinds
    error = sys.exc_info()[1]
    if error is None or isinstance(error, (StagingError, PromotionError, HandledOnHost)):
        raise error or NotStagedError("np2tf.on_host must follow `except`")
    message = f"a {type(error).__name__} occurs in a try block, whose handlers run on NumPy"
    raise HandledOnHost(message) from error
