"""Staged branches and loops that assign attributes of objects, which are variables like any other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import tensorflow as tf

from np2tf.runtime.control_flow.attribute_state import Attributes
from np2tf.runtime.control_flow.conditionals import Branch, stage_branches
from np2tf.runtime.control_flow.discovered_loop import EffectsInTest, Step, Test
from np2tf.runtime.control_flow.likely_changes import Likely
from np2tf.runtime.control_flow.loop_analysis import UNKNOWN_TRIP_COUNT, TripCount
from np2tf.runtime.control_flow.variables import NO_VARIABLES, Variables
from np2tf.runtime.control_flow.while_loops import StagedLoop, stage_loop
from np2tf.runtime.structures.carried_values import are_same, flatten
from np2tf.runtime.tracing.trace import Trace
from np2tf.staging import LoopTypeError, StagingError

T = TypeVar("T")


def attributes_within(trace: Trace, *instances: Any) -> Attributes:
    """Return the attributes of the arguments, and of objects that a loop's or branch's functions can
    reach.
    """
    return Attributes((trace.instances, *instances), may_be_missing=trace.attributes_are_named)


def _repeat_until_known(state: Attributes, attempt: Callable[[], T]) -> T:
    """Return the result of `attempt`, repeated until it finds no new attribute."""
    while True:
        learnt = state.attribute_count
        try:
            return attempt()
        except StagingError:
            if state.attribute_count == learnt:
                raise


def _watch_attributes(state: Attributes, run: Callable[..., T]) -> Callable[..., T]:
    """Return `run` with a check that it sets no attributes; used if there are no objects with attributes."""

    def run_and_check(*args: Any) -> T:
        try:
            return run(*args)
        finally:
            state.check_others()

    return run_and_check


def branches(
    trace: Trace, test: tf.Tensor, then: Branch, otherwise: Branch, variables: Variables = NO_VARIABLES
) -> Any:
    """Do `stage_branches`, with the attributes that a branch assigns among its results."""
    state = attributes_within(trace, then, otherwise)
    if not state.instances:
        return stage_branches(
            trace, test, _watch_attributes(state, then), _watch_attributes(state, otherwise), variables
        )

    all_variables = replace(variables, instances=state.instances)

    def attempt() -> Any:
        return stage_branches(
            trace, test, lambda: state.run_apart(then), lambda: state.run_apart(otherwise), all_variables
        )

    result, after = _repeat_until_known(state, attempt)
    state.write(after)
    return result


class Loop:
    """A `StagedLoop`, with the attributes that an iteration assigns among its variables.

    `body` is the iteration as the program has it, by which the loop is recognised in a later trace.
    """

    def __init__(
        self,
        trace: Trace,
        test: Test,
        step: Step,
        state: Any,
        rounds: TripCount = UNKNOWN_TRIP_COUNT,
        variables: Variables = NO_VARIABLES,
    ) -> None:
        likely = Likely(variables.body, len(flatten(state)[0]))
        self._attributes = attributes = attributes_within(trace, test, step, state)
        if not attributes.instances:
            wrappers = _watch_attributes(attributes, test), _watch_attributes(attributes, step)
            self._loop = stage_loop(trace, *wrappers, state, rounds, likely, variables)
            return

        all_variables = replace(variables, instances=attributes.instances)

        def outer_test(counter: tf.Tensor, inner: Any) -> tf.Tensor:
            def run() -> tf.Tensor:
                attributes.write(inner[1])
                return test(counter, inner[0])

            outcome, after = attributes.run_apart(run)
            if not all(map(are_same, flatten(after)[0], flatten(inner[1])[0])):
                raise EffectsInTest
            return outcome

        def outer_step(counter: tf.Tensor, inner: Any) -> Any:
            def run() -> Any:
                attributes.write(inner[1])
                return step(counter, inner[0])

            return attributes.run_apart(run)

        def attempt() -> StagedLoop:
            inner = state, attributes.read()
            return stage_loop(trace, outer_test, outer_step, inner, rounds, likely, all_variables)

        self._loop = _repeat_until_known(attributes, attempt)

    @property
    def changes_type(self) -> bool:
        """True if the first iteration sees a variable of another dtype or shape than later iterations."""
        return self._loop.changes_type

    @property
    def changes_dtype(self) -> bool:
        """True if an array has another dtype before the loop, or after an iteration, than inside."""
        return self._loop.changes_dtype

    def refusal_of_dtypes(self) -> LoopTypeError:
        """Return the error for a loop whose arrays get another dtype in every iteration."""
        return self._loop.refusal_of_dtypes()

    def run(self) -> Any:
        """Build the loop, and return the state after it."""
        result = self._loop.run()
        if not self._attributes.instances:
            return result
        self._attributes.write(result[1])
        return result[0]
