"""Staged loops: a Python loop over mutable arrays becomes one `tf.while_loop`.

The body is first traced into a throw-away graph, as often as needed, to learn three facts: which state leaves
change (and how they are carried), which outside storages are written to (they become loop state as well), and
whether two names may refer to the same memory in a way that value semantics would get wrong (then staging is
refused). Only then is the real loop built. For a loop inside a throw-away graph, of a loop or a branch, the
results are only predicted, as placeholders. Otherwise each loop would be traced twice or more for each
construct around it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import tensorflow as tf

from np2tf.runtime.control_flow.buffer_permutation import BufferPermutation, RebindingFlags, kept_variables
from np2tf.runtime.control_flow.likely_changes import NOTHING_LIKELY, Likely
from np2tf.runtime.control_flow.loop_analysis import UNKNOWN_TRIP_COUNT, LoopAnalysis, TripCount, steps_of
from np2tf.runtime.effects.output import put_logged
from np2tf.runtime.structures.carried_values import (
    Carried,
    Undefined,
    flatten,
    form_of,
    is_widened,
    join,
    like,
    same,
)
from np2tf.runtime.structures.containers import containers, guard_closures, kept_containers, put_back
from np2tf.runtime.structures.list_growth import (
    fit_structure,
    is_ready,
    prepare_for_loop,
    read_views,
    trim_after_loop,
)
from np2tf.runtime.tracing.provenance import note_loop_result, possible_aliases
from np2tf.runtime.tracing.trace import Trace
from np2tf.runtime.xla.op_placement import ops_of, xla_pays
from np2tf.runtime.xla.read_before_update import read_before_writes
from np2tf.runtime.xla.stencil_sharing import compute_once
from np2tf.staging import (
    AliasingError,
    BranchTypeError,
    IntegerGrowthError,
    LoopTypeError,
    StagingError,
    TracingTimeError,
    XlaShapeError,
)
from np2tf.tnp._array.ndarray import is_array, scalar, storage_of
from np2tf.tnp._operands.widened import read_widened
from np2tf.tnp._tensor.storage import StagingScope, Storage, aliases, is_known, link_aliases, staging_scope

#: (counter, state) -> boolean tensor, and (counter, state) -> state.
Test = Callable[[tf.Tensor, Any], tf.Tensor]
Step = Callable[[tf.Tensor, Any], Any]

_MAX_TRIALS = 12
#: Errors that do not depend on the guess: an attribute is new, or the trace takes too long.
_NOT_OF_THE_GUESS = (BranchTypeError, TracingTimeError)


class EffectsInTest(Exception):
    """Raised if the test of a loop writes, draws, prints or may fail, which the test of a `tf.while_loop`
    must not.
    """


class StagedLoop:
    """One loop before it is staged, with the state at its start."""

    def __init__(
        self, trace: Trace, test: Test, step: Step, state: Any, rounds: TripCount, likely: Likely
    ) -> None:
        self.trace = trace
        self.rounds = rounds
        self.test = test
        self.step = step
        self.state = state
        self.leaves, self.rebuild, self.outline = flatten(state)
        self.runs_once = rounds.exact and bool(rounds.most)
        self.permuted_names: list[int] = []
        self._read: set[Storage] = set()
        self._code = likely.code
        plan = self._plan_for_xla(likely)
        self.compiled = plan is not None
        self.plan = plan or self._discover(likely)
        likely.remember(self.plan.forms)

    # -- learning --------------------------------------------------------------------------------------------

    def _plan_for_xla(self, likely: Likely) -> LoopAnalysis | None:
        """Return the analysis of a loop that XLA compiles by itself inside a graph; None if XLA should
        not.
        """
        trace = self.trace
        if trace.xla or not trace.compile_loops or likely.code in trace.uncompiled_loops:
            return None
        entered = self.state, self.leaves, self.rebuild, self.outline
        try:
            with trace.compiling():
                plan = self._discover(likely)
            if not _grows(plan) and xla_pays(ops_of(*plan.graphs)):
                return plan
        except StagingError as error:
            if isinstance(error, _NOT_OF_THE_GUESS):
                raise
        if likely.code is not None:
            trace.uncompiled_loops.add(likely.code)
        self.state, self.leaves, self.rebuild, self.outline = entered
        return None

    def _discover(self, likely: Likely) -> LoopAnalysis:
        nothing: list[Carried | None] = [None] * len(self.leaves)
        guess = likely.forms(self.leaves)
        if guess != nothing:
            try:
                return self._analyse(guess)
            except StagingError as error:
                if isinstance(error, _NOT_OF_THE_GUESS):
                    raise
        return self._analyse(nothing)

    def _analyse(self, guess: list[Carried | None]) -> LoopAnalysis:
        """Return the analysis in which the forms are right, starting from a guess."""
        forms = guess
        for _ in range(_MAX_TRIALS):
            plan, outs = self._trial(forms)
            if outs is None:
                forms = guess = [None] * len(self.leaves)
                continue
            left = [
                k
                for k, out in enumerate(outs)
                if guess[k] is not None
                and (same(self._entered[k], out.value) or same(self.leaves[k], out.value))
            ]
            if left:
                # No iteration changes these variables: they are the same arrays and constants inside.
                forms = guess = [None if k in left else form for k, form in enumerate(guess)]
                continue
            new = [self._form(k, form, out) for k, (form, out) in enumerate(zip(forms, outs, strict=True))]
            if new == forms:
                plan.ends = [out.form for out in outs]
                self._refuse_hazards(plan)
                return plan
            forms = new
        raise LoopTypeError("the types of a loop's variables do not settle")

    def _trial(self, forms: list[Carried | None]) -> tuple[LoopAnalysis, list[_Out] | None]:
        """Trace one step into a throw-away graph, and undo all its writes.

        Returns:
            The analysis and the leaves after the step. The leaves are None if a variable that was unbound
            before has turned out to be a structure, and is one from now on.
        """
        plan = LoopAnalysis(forms)
        outside = tf.compat.v1.get_default_graph()
        logged = self.trace.log.mark() if self.trace.log else 0
        with self.trace.throwing_away() as inside:
            inputs = [
                tf.compat.v1.placeholder(spec.dtype, spec.shape)
                for form in forms
                if form
                for spec in form.specs()
            ]
            counter = tf.compat.v1.placeholder(tf.int64, ())
            state = self._enter(forms, iter(inputs), plan)
            untouched = guard_closures(self.test, self.step)
            with staging_scope(self.trace) as scope:
                try:
                    self.test(counter, state)
                    if scope.writes or scope.poisoned:
                        raise EffectsInTest
                    after = self.step(counter, state)
                    self._move_effects(scope)
                    entry = like(self.state, after)
                    settled = is_ready(entry, after) and flatten(entry)[2] == self.outline
                    if settled:
                        leaves = self._leaves_of(after)
                        read_widened(leaves)
                        plan.new = {k for k, leaf in enumerate(leaves) if not possible_aliases(leaf)}
                        plan.steps = steps_of(self._entered, leaves)
                        plan.staying = kept_variables(leaves, plan.fresh)
                    else:
                        seen = read_views(after)
                    plan.kept = kept_containers(state, after)
                finally:
                    written, read = dict(scope.writes), set(scope.reads)
                    hidden = list(scope.poisoned)
                    scope.undo()
                    untouched.check()
                    if self.trace.log:
                        self.trace.log.forget(logged)
            if not settled:
                with outside.as_default():
                    self.state = prepare_for_loop(entry, seen, self.rounds.most)
                self.leaves, self.rebuild, self.outline = flatten(self.state)
                return plan, None
            if hidden:
                raise AliasingError(
                    "an array may be written in a staged loop under a name that a branch chose"
                )
            # The forms of the results must be computed while their graph is still the current one.
            outs = [_Out(value) for value in leaves]
        plan.graphs = inside.graphs
        fresh = set(plan.fresh.values())
        plan.written = set(written)
        plan.storages = [storage for storage in written if storage not in fresh]
        plan.exits = {
            k: out.storage for k, out in enumerate(outs) if forms[k] is not None and out.storage is not None
        }
        self._read = read
        return plan, outs

    def _enter(
        self, forms: Sequence[Carried | None], tensors: Iterator[tf.Tensor], plan: LoopAnalysis
    ) -> Any:
        """Return the state as the body sees it. The storages of carried arrays are made here, outside of the
        body's scope.
        """
        leaves = list(self.leaves)
        for k, form in enumerate(forms):
            if form is not None:
                leaves[k] = form.of(tensors)
                if not form.number:
                    plan.fresh[k] = storage_of(leaves[k])
        self._entered = leaves
        return self.rebuild(leaves)

    def _leaves_of(self, state: Any) -> list[Any]:
        leaves, _, outline = flatten(fit_structure(state, self.state))
        if outline != self.outline:
            raise LoopTypeError("the structure of a loop's variables changes from one iteration to the next")
        return leaves

    def _form(self, k: int, form: Carried | None, out: _Out) -> Carried | None:
        entry = self.leaves[k]
        if form is None:
            if same(entry, out.value):
                return None
            if isinstance(entry, Undefined):
                form = out.form
                if form is not None and not self.runs_once:
                    form = replace(form, optional=entry.name)
            else:
                form = form_of(entry)
        if form is None or out.form is None:
            raise LoopTypeError(
                f"a loop's variable is {_named(entry)} before and {_named(out.value)} after an iteration",
            )
        if out.overflows:
            raise IntegerGrowthError("a Python integer grows in a staged loop and may exceed 64 bits")
        return join(form, out.form, "a loop's variable")

    def _refuse_hazards(self, plan: LoopAnalysis) -> None:
        """Refuse loops in which two names may be one array and one of them is written to."""
        entries = {k: storage_of(self.leaves[k]) for k in plan.fresh if is_array(self.leaves[k])}
        mutable = plan.mutable()
        if any(mutable and plan.holds(k) for k in plan.fresh) or any(
            set(aliases(storage)) & plan.written
            for storage in [*plan.exits.values(), *entries.values()]
            if storage
        ):
            raise AliasingError("an array is written to in a loop that puts it into a list")
        for k in plan.fresh:
            written = k in mutable
            entry = entries.get(k)
            exit_storage = plan.exits.get(k)
            shared_exit = [
                j
                for j, other in plan.exits.items()
                if j != k and other is exit_storage and exit_storage is not None
            ]
            shared_entry = [
                j for j, other in entries.items() if j != k and other is entry and entry is not None
            ]
            # The name is bound to an array from before the loop, to which the next iteration would write.
            outside = (
                exit_storage is not None
                and is_known(exit_storage)
                and exit_storage not in plan.fresh.values()
            )
            twins = any(j in mutable for j in shared_exit)
            doubtful = shared_exit or shared_entry or outside or entry in self._read
            if twins or entry in plan.storages or exit_storage in plan.storages or (written and doubtful):
                raise AliasingError("two names in a staged loop may be the same array, and one is written to")

    @property
    def changes_type(self) -> bool:
        """True if the first iteration sees a variable of another dtype or shape than the later ones."""
        for leaf, form in zip(self.leaves, self.plan.forms, strict=True):
            before = None if form is None or isinstance(leaf, Undefined) else form_of(leaf)
            if before is None or before == form:
                continue
            if self.trace.exact_types or before.weak is None or before.shape != form.shape:  # type: ignore[union-attr]
                return True
        return False

    @property
    def changes_dtype(self) -> bool:
        """True if an array has another dtype before the loop, or after an iteration, than inside."""
        if self.trace.root is None:
            return False  # a foreign graph, whose calls cannot be discarded
        before = [None if isinstance(leaf, Undefined) else form_of(leaf) for leaf in self.leaves]
        return any(map(is_widened, before + self.plan.ends, self.plan.forms * 2))

    # -- building --------------------------------------------------------------------------------------------

    def run(self) -> Any:
        """Build the loop, write the storages that it writes, and return the state after it."""
        plan = self.plan
        if self.trace.xla and self._code is not None:
            self.trace.loop_graphs[self._code] = plan.graphs
        if self.trace.xla and _grows(plan):
            raise XlaShapeError("an array changes its shape in a loop that XLA should compile")
        for leaf, end, form in zip(self.leaves, plan.ends, plan.forms, strict=True):
            self.trace.shown.join(form_of(leaf), form)
            self.trace.shown.join(end, form)
        before = [storage.value for storage in plan.storages]
        slots = BufferPermutation(self, plan)
        self._entries = RebindingFlags(self, plan, slots)
        carried_in = [
            tensor
            for leaf, form in zip(self.leaves, plan.forms, strict=True)
            if form is not None
            for tensor in form.tensors(leaf)
        ]
        inputs = [tf.constant(0, tf.int64), *carried_in, *slots.initial, *self._entries.initial, *before]
        try:
            results = self._foreseen(inputs) if self.trace.throw_aways else self._make_results(inputs)
        finally:
            for storage, value in zip(plan.storages, before, strict=True):
                storage.rebase(value)
        state = self._leave(list(results), slots)
        if self.compiled and self.trace.log and self.trace.log.is_of(plan.storages):
            put_logged(self.trace)
        return state

    def _foreseen(self, inputs: Sequence[tf.Tensor]) -> list[tf.Tensor]:
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
        self.trace.loops.append("xla" if self.compiled or self.trace.xla else "graph")
        if not self.compiled:
            return self._build(*inputs)
        with self.trace.compiling():
            results: Sequence[tf.Tensor] = tf.function(self._build, jit_compile=True, autograph=False)(
                *inputs
            )
        return results

    def _move_effects(self, scope: StagingScope) -> None:
        if self.trace.log:
            self.trace.log.move_queue(scope)

    def _build(self, *inputs: tf.Tensor) -> Sequence[tf.Tensor]:
        plan = self.plan
        carried_count = sum(len(form.specs()) for form in plan.forms if form is not None)

        def test(counter: tf.Tensor, *tensors: tf.Tensor) -> tf.Tensor:
            state = self._bind(tensors, LoopAnalysis(plan.forms))
            with staging_scope(self.trace):
                going = self.test(counter, state)
                # After a violation the call is discarded, so the loop must end, even if its test would never
                # fail.
                if self.trace.violations in plan.storages:
                    going = tf.logical_and(going, tf.logical_not(self.trace.violations.value))
                return going

        def body(counter: tf.Tensor, *tensors: tf.Tensor) -> list[tf.Tensor]:
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
                moved = BufferPermutation.after(self, inner, outs, tensors[carried_count:])
                flags = tensors[carried_count + len(moved) :][: len(self._entries.names)]
                moved += self._entries.after(inner, outs, flags)
                written = [storage.value for storage in plan.storages]
                results = [*new, *moved, *written]
            if self.trace.xla:
                results = read_before_writes(counter, compute_once(counter, results))
            return [counter + 1, *results]

        return tf.while_loop(test, body, list(inputs), shape_invariants=self._shapes(inputs))

    def _bind(self, tensors: Sequence[tf.Tensor], plan: LoopAnalysis) -> Any:
        state = self._enter(plan.forms, iter(tensors), plan)
        for storage, value in zip(
            self.plan.storages, tensors[len(tensors) - len(self.plan.storages) :], strict=True
        ):
            storage.rebase(value)
        return state

    def _leave(self, results: list[tf.Tensor], slots: BufferPermutation) -> Any:
        plan = self.plan
        leaves = list(self.leaves)
        rest = iter(results[1:])
        for k, form in enumerate(plan.forms):
            if form is not None:
                leaves[k] = form.of(rest)
        slots.write_back(leaves, [next(rest) for _ in slots.initial])
        stayed = [next(rest) for _ in self._entries.initial]
        for storage in plan.storages:
            storage.write(next(rest))
        self._note_aliases(leaves, slots, results[0] > 0)
        self._entries.write_back(self, leaves, stayed)
        self._count(leaves)
        return put_back(trim_after_loop(self.rebuild(leaves)), containers(self.state), plan.kept)

    def _count(self, leaves: list[Any]) -> None:
        """Compute Python integers that change by the same amount in each of a known number of iterations."""
        for k, amount in self.plan.steps.items():
            entry, rounds = self.leaves[k], self.rounds
            if rounds.exact and rounds.most is not None and type(entry) is int and self.plan.forms[k]:
                leaves[k] = entry + amount * rounds.most

    def _note_aliases(self, leaves: list[Any], slots: BufferPermutation, ran: tf.Tensor) -> None:
        """Record which variables may be the same array after the loop: by equal exits, and by arrays from
        before it.
        """
        holders: dict[Storage, int] = {}
        for k in self.plan.fresh:
            if not self.plan.holds(k):
                continue
            # An item of a list may have had any of the loop's names.
            others = [one for j in self.plan.fresh if j != k for one in (leaves[j], self.leaves[j])]
            link_aliases(storage_of(leaves[k]), [storage_of(one) for one in others if is_array(one)])
        for k in self.plan.fresh:
            exit_storage = self.plan.exits.get(k)
            if exit_storage is None or k in slots.names:
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


class _Out:
    """A leaf after the throw-away trace, with the facts that are needed later."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self.form = form_of(value)
        self.storage = storage_of(value) if is_array(value) and type(value) is not scalar else None
        known = value.known if type(value) is scalar and value.weak is int else None
        self.overflows = known is not None and known.may_overflow


def _grows(plan: LoopAnalysis) -> bool:
    """Return whether an array changes its shape from one iteration to the next."""
    return any(form is not None and None in form.shape for form in plan.forms)


def _named(value: Any) -> str:
    return "unbound" if isinstance(value, Undefined) else f"of type {type(value).__name__}"


def stage_loop(
    trace: Trace,
    test: Test,
    step: Step,
    state: Any,
    rounds: TripCount = UNKNOWN_TRIP_COUNT,
    likely: Likely = NOTHING_LIKELY,
) -> StagedLoop:
    """Analyse the loop; `run` on the result builds it.

    Raises:
        StagingError: if the loop cannot be staged with Python's meaning kept.
    """
    return StagedLoop(trace, test, step, state, rounds, likely)
