"""Staged branches and loops that assign attributes of objects: these are variables like any other."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from np2tf.runtime.branches import Branch, stage_branches
from np2tf.runtime.loop_plan import UNKNOWN_ROUNDS, Rounds
from np2tf.runtime.loops import Step, Test, stage_loop
from np2tf.runtime.trace import Trace
from np2tf.runtime.twins import Attributes


def branches(trace: Trace, test: tf.Tensor, then: Branch, otherwise: Branch) -> Any:
    """`stage_branches`, with the attributes that a side assigns among its results."""
    if not trace.instances:
        return stage_branches(trace, test, then, otherwise)
    state = Attributes(trace.instances)
    result, after = stage_branches(trace, test, lambda: state.apart(then), lambda: state.apart(otherwise))
    state.write(after)
    return result


class Loop:
    """`StagedLoop`, with the attributes that an iteration assigns among its variables."""

    def __init__(
        self, trace: Trace, test: Test, step: Step, state: Any, rounds: Rounds = UNKNOWN_ROUNDS
    ) -> None:
        self._attributes = Attributes(trace.instances) if trace.instances else None
        attributes = self._attributes
        if attributes is None:
            self._loop = stage_loop(trace, test, step, state, rounds)
            return

        def outer_test(counter: tf.Tensor, inner: Any) -> tf.Tensor:
            def run() -> tf.Tensor:
                attributes.write(inner[1])
                return test(counter, inner[0])

            return attributes.apart(run)[0]

        def outer_step(counter: tf.Tensor, inner: Any) -> Any:
            def run() -> Any:
                attributes.write(inner[1])
                return step(counter, inner[0])

            return attributes.apart(run)

        self._loop = stage_loop(trace, outer_test, outer_step, (state, attributes.read()), rounds)

    @property
    def runs_once(self) -> bool:
        """Whether it is certain that the loop runs."""
        return self._loop.runs_once

    @property
    def changes_type(self) -> bool:
        """Whether the first iteration sees a variable of another dtype or shape than the later ones."""
        return self._loop.changes_type

    def run(self) -> Any:
        """Build the loop; returns the state after it."""
        result = self._loop.run()
        if self._attributes is None:
            return result
        self._attributes.write(result[1])
        return result[0]
