"""Staged loops: a Python loop over mutable arrays becomes one `tf.while_loop`.

The loop is analysed first (`discovered_loop`); only then is the real loop built. For a loop inside a
throw-away graph, of a loop or a branch, the results are only predicted, as placeholders. Otherwise each loop
would be traced twice or more for each construct around it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf
from tensorflow.core.framework.attr_value_pb2 import AttrValue
from tensorflow.python.eager import record

from np2tf.runtime.control_flow.buffer_permutation import BufferPermutation, RebindingFlags
from np2tf.runtime.control_flow.discovered_loop import DiscoveredLoop, Step, Test, grows
from np2tf.runtime.control_flow.likely_changes import NOTHING_LIKELY, Likely
from np2tf.runtime.control_flow.loop_analysis import UNKNOWN_TRIP_COUNT, LoopAnalysis, TripCount
from np2tf.runtime.control_flow.polling import LoopGraphs
from np2tf.runtime.control_flow.variables import NO_VARIABLES, Variables, describe
from np2tf.runtime.effects.output import put_logged
from np2tf.runtime.structures.carried_values import (
    form_of,
)
from np2tf.runtime.structures.containers import containers, put_back
from np2tf.runtime.structures.list_growth import trim_after_loop
from np2tf.runtime.tracing.provenance import note_loop_result
from np2tf.runtime.tracing.trace import Trace
from np2tf.runtime.xla import stop_signs
from np2tf.runtime.xla.lost_updates import remove_lost_updates
from np2tf.runtime.xla.op_placement import COLLECTIVES, ops_of
from np2tf.runtime.xla.plane_order import PlaneOrder
from np2tf.runtime.xla.read_before_update import read_before_writes
from np2tf.runtime.xla.shared_rolls import share_rolls
from np2tf.runtime.xla.stencil_sharing import compute_once
from np2tf.staging import (
    XlaShapeError,
)
from np2tf.tnp._array.ndarray import is_array, storage_of
from np2tf.tnp._tensor.storage import Storage, aliases, current_scope, link_aliases, staging_scope

#: Loops of at most this many iterations do not look for a stop sign: loops that no other loop is around, and
#: inner loops.
SHORT, SHORT_INNER = 64, 100_000


class StagedLoop(DiscoveredLoop):
    """One loop before it is staged, with the state at its start."""

    def run(self) -> Any:
        """Build the loop, write the storages that it writes, and return the state after it."""
        plan = self.plan
        if self.trace.xla and self._code is not None:
            self.trace.loop_graphs[self._code] = plan.graphs
        if self.trace.xla and grows(plan):
            raise XlaShapeError(self._other_shape())
        for leaf, end, form in zip(self.leaves, plan.ends, plan.forms, strict=True):
            self.trace.shown_text.join(form_of(leaf), form)
            self.trace.shown_text.join(end, form)
        before = [storage.value for storage in plan.storages]
        self._permutation = permutation = BufferPermutation(self.leaves, plan)
        self._flags = RebindingFlags(self.leaves, plan, permutation)
        carried_in = [
            tensor
            for leaf, form in zip(self.leaves, plan.forms, strict=True)
            if form is not None
            for tensor in form.tensors(leaf)
        ]
        inputs = [tf.constant(0, tf.int64), *carried_in, *permutation.initial, *self._flags.initial, *before]
        try:
            results = self._foresee(inputs) if self.trace.throw_aways else self._make_results(inputs)
        finally:
            for storage, value in zip(plan.storages, before, strict=True):
                storage.rebase(value)
        state = self._leave(list(results), permutation)
        if self.is_compiled and self.trace.log and self.trace.log.is_of(plan.storages):
            put_logged(self.trace)
        return state

    def _other_shape(self) -> str:
        k = next(k for k, form in enumerate(self.plan.forms) if form is not None and None in form.shape)
        before, after = form_of(self.leaves[k]), self.plan.ends[k]
        if before == after:
            after = self.plan.forms[k]
        sides = describe(self.leaves[k], before), describe(None, after)
        text = self.variables.in_loop(self._label(k), *sides)
        return f"{text}, and XLA should compile the loop"

    def _foresee(self, inputs: Sequence[tf.Tensor]) -> list[tf.Tensor]:
        """Return placeholders for the loop's results."""
        inside = self.trace.throw_aways[-1]
        inside.ops.append(None)
        inside.graphs += self.plan.graphs
        return [
            tf.compat.v1.placeholder(tensor.dtype, shape)
            for tensor, shape in zip(inputs, self._shapes(inputs), strict=True)
        ]

    def _shapes(self, inputs: Sequence[tf.Tensor]) -> list[tf.TensorShape]:
        """Return the shapes that the loop's variables have in common in all iterations."""
        shapes = [tf.TensorShape([])]
        shapes += [spec.shape for form in self.plan.forms if form is not None for spec in form.specs()]
        return shapes + [tensor.shape for tensor in inputs[len(shapes) :]]

    def _make_results(self, inputs: Sequence[tf.Tensor]) -> Sequence[tf.Tensor]:
        self.trace.loops.append("xla" if self.is_compiled or self.trace.xla else "graph")
        if not self.is_compiled:
            return self._build(*inputs)
        with self.trace.stage_for_xla():
            results: Sequence[tf.Tensor] = tf.function(self._build, jit_compile=True, autograph=False)(
                *inputs
            )
        return results

    def _build(self, *inputs: tf.Tensor) -> Sequence[tf.Tensor]:
        plan = self.plan
        carried_count = sum(len(form.specs()) for form in plan.forms if form is not None)
        rounds = self.rounds.maximum if self.rounds.exact else None
        order = PlaneOrder(self._trial_graphs(), inputs, self._read_storages, rounds)
        is_stoppable, graphs = self._is_stoppable(), LoopGraphs()
        is_light = all(map(stop_signs.is_light, self.plan.graphs))

        def test(*variables: tf.Tensor) -> tf.Tensor:
            counter, *tensors = order.leave(variables)
            state = self._bind(tensors, LoopAnalysis(plan.forms))
            with staging_scope(self.trace):
                outcome = self.test(counter, state)
                graphs.test = [counter, *tensors], outcome
                # After a violation the whole call is discarded: a loop must not wait for values that never
                # come. An accelerator runs a counted loop to its end, without asking the host in each round.
                is_counted = self.trace.device != "cpu" and rounds is not None
                if self.trace.violations in plan.storages and not is_counted:
                    outcome = tf.logical_and(outcome, tf.logical_not(self.trace.violations.value))
                if is_stoppable and not is_light:
                    outcome = tf.logical_and(outcome, stop_signs.is_unset(counter))
                return outcome

        def body(*variables: tf.Tensor) -> list[tf.Tensor]:
            counter, *tensors = order.leave(variables)
            inner = LoopAnalysis(plan.forms)
            state = self._bind(tensors, inner)
            with staging_scope(self.trace, counter) as scope:
                outs = self._leaves_of(self.step(counter, state))
                self._move_effects(scope)
                new = [
                    tensor
                    for out, form in zip(outs, plan.forms, strict=True)
                    if form is not None
                    for tensor in form.tensors(out)
                ]
                numbers = self._permutation.after(inner, outs, tensors[carried_count:])
                flags = tensors[carried_count + len(numbers) :][: len(self._flags.names)]
                numbers += self._flags.after(inner, outs, flags)
                storage_values = [storage.value for storage in plan.storages]
                results = [*new, *numbers, *storage_values]
            if self.trace.xla:
                remove_lost_updates(counter, results)
                results = compute_once(counter, share_rolls(counter, results, self.trace.device))
                results = read_before_writes(counter, results)
            graphs.body = [counter, *tensors], [counter + 1, *results]
            return order.keep(graphs.body[1])

        shapes = order.shapes(self._shapes(inputs))
        values_before = [(storage, storage._value) for storage in self._read_storages]
        try:
            variables = order.enter(inputs)
            if is_stoppable and is_light:
                variables = stop_signs.stoppable_loop(test, body, variables, shapes)
            else:
                most = self._most_iterations()
                variables = tf.while_loop(test, body, variables, shapes, maximum_iterations=most)
            if not self.rounds.exact:
                graphs.check()
            if self.trace.has_collectives and COLLECTIVES & ops_of(*plan.graphs):
                _keep_functional()
            return order.leave(variables)
        finally:
            for storage, value in values_before:
                storage.rebase(value)

    def _is_stoppable(self) -> bool:
        """Return whether the loop ends at the call's stop sign, because it may last long."""
        scope, maximum = current_scope(), self.rounds.maximum
        is_inner = scope is not None and scope.counter is not None
        is_short = maximum is not None and maximum <= (SHORT_INNER if is_inner else SHORT)
        return self.trace.may_be_stopped and not is_short and self._most_iterations() is None

    def _most_iterations(self) -> int | None:
        """Return the number of iterations, which XLA needs to know of a loop that is differentiated."""
        is_differentiated = self.trace.gradients or record.could_possibly_record()
        return self.rounds.maximum if self.rounds.exact and self.trace.xla and is_differentiated else None

    def _trial_graphs(self) -> list[tf.Graph]:
        """Return the graphs of an iteration for XLA."""
        return self.plan.graphs if self.trace.xla else []

    def _bind(self, tensors: Sequence[tf.Tensor], plan: LoopAnalysis) -> Any:
        state = self._enter(plan.forms, iter(tensors), plan)
        for storage, value in zip(
            self.plan.storages, tensors[len(tensors) - len(self.plan.storages) :], strict=True
        ):
            storage.rebase(value)
        return state

    def _leave(self, results: list[tf.Tensor], permutation: BufferPermutation) -> Any:
        plan = self.plan
        leaves = list(self.leaves)
        remaining_results = iter(results[1:])
        for k, form in enumerate(plan.forms):
            if form is not None:
                leaves[k] = form.of(remaining_results)
        permutation.write_back(leaves, [next(remaining_results) for _ in permutation.initial])
        flags = [next(remaining_results) for _ in self._flags.initial]
        for storage in plan.storages:
            storage.write(next(remaining_results))
        self._note_aliases(leaves, permutation, results[0] > 0)
        self._flags.write_back(self.leaves, leaves, flags)
        self._count(leaves)
        return put_back(trim_after_loop(self.rebuild(leaves)), containers(self.state), plan.kept_paths)

    def _count(self, leaves: list[Any]) -> None:
        """Compute Python integers that change by the same amount in each of a known number of iterations."""
        for k, amount in self.plan.steps.items():
            entry, rounds = self.leaves[k], self.rounds
            if rounds.exact and rounds.maximum is not None and type(entry) is int and self.plan.forms[k]:
                leaves[k] = entry + amount * rounds.maximum

    def _note_aliases(self, leaves: list[Any], permutation: BufferPermutation, ran: tf.Tensor) -> None:
        """Record which variables may be the same array after the loop: by equal exits, and by arrays from
        before it.
        """
        holders: dict[Storage, int] = {}
        for k in self.plan.fresh:
            if not self.plan.holds(k):
                continue
            # The items of a list may have been bound to any of the loop's names.
            other_leaves = [leaf for j in self.plan.fresh if j != k for leaf in (leaves[j], self.leaves[j])]
            link_aliases(storage_of(leaves[k]), [storage_of(leaf) for leaf in other_leaves if is_array(leaf)])
        for k in self.plan.fresh:
            exit_storage = self.plan.exits.get(k)
            if exit_storage is None or k in permutation.names:
                continue
            earlier = [self.leaves[j] for j in self.plan.passed_on(k)]
            if earlier:
                exit_storage = storage_of(earlier[0]) if is_array(earlier[0]) else None
            is_new = k in self.plan.new
            note_loop_result(leaves[k], self.leaves[k], exit_storage, is_new, ran, self.runs_once)
            for entry in earlier[1:]:
                if is_array(entry) and storage_of(entry) is not None:
                    link_aliases(storage_of(leaves[k]), [storage_of(entry), *aliases(storage_of(entry))])
            first = holders.setdefault(self.plan.exits[k], k)
            if first != k and self.runs_once and self.plan.forms[k] == self.plan.forms[first]:
                leaves[k] = leaves[first]
            elif first != k:
                link_aliases(storage_of(leaves[k]), [storage_of(leaves[first])])


def stage_loop(
    trace: Trace,
    test: Test,
    step: Step,
    state: Any,
    rounds: TripCount = UNKNOWN_TRIP_COUNT,
    likely: Likely = NOTHING_LIKELY,
    variables: Variables = NO_VARIABLES,
) -> StagedLoop:
    """Analyse the loop; `run` on the result builds it.

    Raises:
        StagingError: if the loop cannot be staged with Python's meaning kept.
    """
    return StagedLoop(trace, test, step, state, rounds, likely, variables)


def _keep_functional() -> None:
    """Keep TensorFlow from taking the newest loop of this graph apart.

    A loop that is taken apart runs in a frame with the name of the loop, and a collective operation waits for
    operations of the same frame only. The loops of a function's replicas have different names in one graph.
    """
    operations = reversed(tf.compat.v1.get_default_graph().get_operations())
    loop = next(operation for operation in operations if operation.type in ("While", "StatelessWhile"))
    loop._set_attr("_lower_using_switch_merge", AttrValue(b=False))
