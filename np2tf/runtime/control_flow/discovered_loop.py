"""The analysis of one staged loop: its body is traced into throw-away graphs, as often as needed.

Three things are learnt: which state leaves change (and how they are carried), which storages born outside are
written to (they become loop state as well), and whether two names may stand for the same memory in a way
that value semantics would get wrong (then staging is refused).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import tensorflow as tf

from np2tf.runtime.control_flow.buffer_permutation import kept_variables
from np2tf.runtime.control_flow.likely_changes import Likely
from np2tf.runtime.control_flow.loop_analysis import LoopAnalysis, TripCount, steps_of
from np2tf.runtime.control_flow.variables import Label, Variables, describe, structure
from np2tf.runtime.structures.carried_values import (
    Carried,
    Undefined,
    are_same,
    flatten,
    form_of,
    is_widened,
    join,
    like,
)
from np2tf.runtime.structures.containers import guard_closures, kept_containers
from np2tf.runtime.structures.list_growth import fit_structure, is_ready, prepare_for_loop, read_views
from np2tf.runtime.tracing.provenance import possible_aliases
from np2tf.runtime.tracing.trace import Trace
from np2tf.runtime.xla.op_placement import ops_of, xla_pays
from np2tf.staging import (
    AliasingError,
    BranchTypeError,
    IntegerGrowthError,
    LoopTypeError,
    RankChangeError,
    StagingError,
    TraceSizeError,
    TracingTimeError,
)
from np2tf.tnp._array.ndarray import is_array, scalar, storage_of
from np2tf.tnp._operands.widened_storage import read_widened
from np2tf.tnp._tensor.storage import StagingScope, Storage, aliases, is_known, staging_scope

#: (counter, state) -> boolean tensor, and (counter, state) -> state.
Test = Callable[[tf.Tensor, Any], tf.Tensor]
Step = Callable[[tf.Tensor, Any], Any]

_MAX_TRIALS = 12
#: Errors that have nothing to do with a guess: an attribute is new, the trace takes too long.
_NOT_OF_THE_GUESS = (BranchTypeError, TracingTimeError, TraceSizeError)


class EffectsInTest(Exception):
    """Raised if the test of a loop writes, draws, prints or may fail, which the test of a `tf.while_loop`
    must not.
    """


class DiscoveredLoop:
    """A loop whose changes and writes are known, from the state that it is entered with.

    Attributes:
        plan: the results of the throw-away traces.
        is_compiled: whether XLA compiles the loop by itself, in a graph.
    """

    def __init__(
        self,
        trace: Trace,
        test: Test,
        step: Step,
        state: Any,
        rounds: TripCount,
        likely: Likely,
        variables: Variables,
    ) -> None:
        self.trace = trace
        self.rounds = rounds
        self.variables = variables
        self.test = test
        self.step = step
        self.state = state
        self.leaves, self.rebuild, self.outline = flatten(state)
        self.runs_once = rounds.exact and bool(rounds.maximum)
        self._read_storages: set[Storage] = set()
        self._code = likely.code
        plan = self._plan_for_xla(likely)
        self.is_compiled = plan is not None
        self.plan = plan or self._discover(likely)
        likely.remember(self.plan.forms)

    def _plan_for_xla(self, likely: Likely) -> LoopAnalysis | None:
        """Return the analysis of a loop that XLA compiles by itself inside a graph; None if XLA should
        not.
        """
        trace = self.trace
        if trace.xla or not trace.compile_loops or likely.code in trace.uncompiled_loops:
            return None
        snapshot = self.state, self.leaves, self.rebuild, self.outline
        try:
            with trace.stage_for_xla():
                plan = self._discover(likely)
            if not grows(plan) and xla_pays(ops_of(*plan.graphs)):
                return plan
        except StagingError as error:
            if isinstance(error, _NOT_OF_THE_GUESS):
                raise
        if likely.code is not None:
            trace.uncompiled_loops.add(likely.code)
        self.state, self.leaves, self.rebuild, self.outline = snapshot
        return None

    def _discover(self, likely: Likely) -> LoopAnalysis:
        guess = likely.forms(self.leaves)
        if any(guess):
            try:
                return self._analyse(guess)
            except StagingError as error:
                if isinstance(error, _NOT_OF_THE_GUESS):
                    raise
        return self._analyse([None] * len(self.leaves))

    def _analyse(self, guess: list[Carried | None]) -> LoopAnalysis:
        """Return the analysis in which the forms are right, starting from a guess."""
        before = forms = guess
        for _ in range(_MAX_TRIALS):
            plan, outs = self._trial(forms)
            if outs is None:
                forms = guess = [None] * len(self.leaves)
                continue
            left = [
                k
                for k, out in enumerate(outs)
                if guess[k] is not None
                and (are_same(self._entry_leaves[k], out.value) or are_same(self.leaves[k], out.value))
            ]
            if left:
                # No iteration changes these: they are the same arrays and constants inside.
                forms = guess = [None if k in left else form for k, form in enumerate(guess)]
                continue
            new = [self._form(k, form, out) for k, (form, out) in enumerate(zip(forms, outs, strict=True))]
            if new == forms:
                plan.ends = [out.form for out in outs]
                self._refuse_hazards(plan)
                return plan
            before, forms = forms, new
        k = next((k for k, form in enumerate(forms) if form != before[k]), 0)
        sides = describe(self.leaves[k], before[k]), describe(None, forms[k])
        text = self.variables.in_loop(self._label(k), *sides)
        raise LoopTypeError(f"{text}, and of yet another type after each further one")

    def _trial(self, forms: list[Carried | None]) -> tuple[LoopAnalysis, list[_Out] | None]:
        """Trace one step into a throw-away graph; everything it writes is undone.

        Returns:
            The analysis, and the leaves after the step; None instead of leaves if a name that was unbound on
            entry has turned out to be a structure, which it then is from now on.
        """
        plan = LoopAnalysis(forms)
        outside = tf.compat.v1.get_default_graph()
        mark = self.trace.log.mark() if self.trace.log else 0
        with self.trace.throwing_away() as inside:
            inputs = [
                tf.compat.v1.placeholder(spec.dtype, spec.shape)
                for form in forms
                if form
                for spec in form.specs()
            ]
            counter = tf.compat.v1.placeholder(tf.int64, ())
            state = self._enter(forms, iter(inputs), plan)
            guard = guard_closures(self.test, self.step)
            with staging_scope(self.trace) as scope:
                try:
                    self.test(counter, state)
                    if scope.writes or scope.poisoned_storages:
                        raise EffectsInTest
                    after = self.step(counter, state)
                    self._move_effects(scope)
                    entry = like(self.state, after)
                    settled = is_ready(entry, after) and flatten(entry)[2] == self.outline
                    if settled:
                        leaves = self._leaves_of(after)
                        read_widened(leaves)
                        plan.new = {k for k, leaf in enumerate(leaves) if not possible_aliases(leaf)}
                        plan.steps = steps_of(self._entry_leaves, leaves)
                        plan.rebinding_variables = kept_variables(leaves, plan.fresh)
                    else:
                        views = read_views(after)
                    plan.kept_paths = kept_containers(state, after)
                finally:
                    writes, reads = dict(scope.writes), set(scope.reads)
                    poisoned_storages = list(scope.poisoned_storages)
                    scope.undo()
                    guard.check()
                    if self.trace.log:
                        self.trace.log.forget(mark)
            if not settled:
                with outside.as_default():
                    self.state = prepare_for_loop(entry, views, self.rounds.maximum)
                self.leaves, self.rebuild, self.outline = flatten(self.state)
                return plan, None
            if poisoned_storages:
                raise AliasingError(
                    f"{self._label_of_storage(poisoned_storages)} may be written in a staged loop "
                    "under a name that a branch chose"
                )
            # The forms of the results can be computed only while their graph is still the current graph.
            outs = [_Out(value) for value in leaves]
        plan.graphs = inside.graphs
        fresh = set(plan.fresh.values())
        plan.written_storages = set(writes)
        plan.storages = [storage for storage in writes if storage not in fresh]
        plan.exits = {
            k: out.storage for k, out in enumerate(outs) if forms[k] is not None and out.storage is not None
        }
        self._read_storages = reads
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
        self._entry_leaves = leaves
        return self.rebuild(leaves)

    def _leaves_of(self, state: Any) -> list[Any]:
        leaves, _, outline = flatten(fit_structure(state, self.state))
        if outline != self.outline:
            raise LoopTypeError(self._other_structure(fit_structure(state, self.state)))
        return leaves

    def _form(self, k: int, form: Carried | None, out: _Out) -> Carried | None:
        entry = self.leaves[k]
        if form is None:
            if are_same(entry, out.value):
                return None
            if isinstance(entry, Undefined):
                form = out.form
                if form is not None and not self.runs_once:
                    form = replace(form, optional=entry.name)
            else:
                form = form_of(entry)
        if form is None or out.form is None:
            raise LoopTypeError(self._in_loop(k, form_of(entry), out))
        if out.overflows:
            label = self._label(k)
            lines = f"{self.variables.before(label)} grows in a staged loop{self.variables.within(label)}"
            raise IntegerGrowthError(f"the Python integer {label.text}{lines} and may exceed 64 bits")
        if len(form.shape) != len(out.form.shape):
            raise RankChangeError(self._in_loop(k, form, out))
        return join(form, out.form, "a loop's variable", self.trace.root is not None)

    def _move_effects(self, scope: StagingScope) -> None:
        if self.trace.log:
            self.trace.log.move_queue(scope)

    # -- telling ---------------------------------------------------------------------------------------------

    def _label(self, k: int) -> Label:
        return self.variables.label(self.state, k)

    def _in_loop(self, k: int, before: Carried | None, out: _Out) -> str:
        sides = describe(self.leaves[k], before), describe(out.value, out.form)
        return self.variables.in_loop(self._label(k), *sides)

    def _other_structure(self, after: Any) -> str:
        pairs = zip(self.variables.items(self.state), self.variables.items(after), strict=False)
        for (label, before), (_, now) in pairs:
            if flatten(before)[2] != flatten(now)[2]:
                return self.variables.in_loop(label, structure(before), structure(now))
        return "the structure of a loop's variables changes from one iteration to the next"

    def _label_of_storage(self, storages: Sequence[Storage]) -> str:
        places = [
            k for k, leaf in enumerate(self._entry_leaves) if is_array(leaf) and storage_of(leaf) in storages
        ]
        return self._label(places[0]).text if places else "an array"

    def refusal_of_dtypes(self) -> LoopTypeError:
        """Return the error for a loop whose arrays get another dtype in every iteration."""
        before = [None if isinstance(leaf, Undefined) else form_of(leaf) for leaf in self.leaves]
        for k, (entry, end, form) in enumerate(zip(before, self.plan.ends, self.plan.forms, strict=True)):
            if form is not None and (is_widened(entry, form) or is_widened(end, form)):
                sides = describe(self.leaves[k], entry), describe(None, end)
                text = self.variables.in_loop(self._label(k), *sides)
                return LoopTypeError(f"{text}, and of {form.dtype} in the loop: its dtypes do not settle")
        return LoopTypeError("the dtypes of a loop's arrays do not settle")

    # -- hazards ---------------------------------------------------------------------------------------------

    def _refuse_hazards(self, plan: LoopAnalysis) -> None:
        """Refuse loops in which two names may be one array and one of them is written to."""
        entries = {k: storage_of(self.leaves[k]) for k in plan.fresh if is_array(self.leaves[k])}
        mutable = plan.mutable()
        holders = [k for k in plan.fresh if mutable and plan.holds(k)]
        holders += [
            k
            for k, storage in [*plan.exits.items(), *entries.items()]
            if storage and set(aliases(storage)) & plan.written_storages
        ]
        if holders:
            label = self._label(holders[0])
            description = f"{label.text}{self.variables.within(label)} holds an array"
            raise AliasingError(f"{description} that the loop writes to under another name")
        place: dict[Storage | None, int] = {storage: j for j, storage in plan.fresh.items()}
        for k in plan.fresh:
            written = k in mutable
            entry = entries.get(k)
            exit_storage = plan.exits.get(k)
            shared_exit = [
                j
                for j, other_storage in plan.exits.items()
                if j != k and other_storage is exit_storage and exit_storage is not None
            ]
            shared_entry = [
                j
                for j, other_storage in entries.items()
                if j != k and other_storage is entry and entry is not None
            ]
            # The name is bound to an array from before the loop, which the next iteration would write to.
            outside = (
                exit_storage is not None
                and is_known(exit_storage)
                and exit_storage not in plan.fresh.values()
            )
            with_written = any(j in mutable for j in shared_exit)
            doubtful = shared_exit or shared_entry or outside or entry in self._read_storages
            if (
                with_written
                or entry in plan.storages
                or exit_storage in plan.storages
                or (written and doubtful)
            ):
                exit_places = (
                    [place[exit_storage]] if exit_storage in place and place[exit_storage] != k else []
                )
                names = self._names_of((entry, exit_storage), k)
                other_places = [*shared_exit, *shared_entry, *exit_places, *names]
                raise AliasingError(self._two_names(k, other_places))

    def _names_of(self, storages: Sequence[Storage | None], k: int) -> list[int]:
        """Return the variables other than `k` that are one of these storages before the loop."""
        arrays = [(j, leaf) for j, leaf in enumerate(self.leaves) if j != k and is_array(leaf)]
        return [j for j, leaf in arrays if storage_of(leaf) in storages]

    def _two_names(self, k: int, other_places: Sequence[int]) -> str:
        label = self._label(k)
        if other_places:
            two_names = self.variables.two_names(label, self._label(other_places[0]))
        else:
            two_names = f"{label.text}{self.variables.within(label)} and a name from outside of the loop"
        return f"{two_names} may be the same array in a staged loop, and one is written to"

    @property
    def changes_type(self) -> bool:
        """Return whether a variable's dtype or shape differs in the first iteration from later iterations."""
        for leaf, form in zip(self.leaves, self.plan.forms, strict=True):
            before = None if form is None or isinstance(leaf, Undefined) else form_of(leaf)
            if before is None or before == form:
                continue
            if self.trace.exact_types or before.weak is None or before.shape != form.shape:  # type: ignore[union-attr]
                return True
        return False

    @property
    def changes_dtype(self) -> bool:
        """Return whether an array has another dtype before the loop, or after an iteration, than inside."""
        if self.trace.root is None:
            return False  # the graph is foreign, so its call cannot be discarded
        before = [None if isinstance(leaf, Undefined) else form_of(leaf) for leaf in self.leaves]
        return any(map(is_widened, before + self.plan.ends, self.plan.forms * 2))


class _Out:
    """A leaf after the throw-away trace, with the facts that are needed later."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self.form = form_of(value)
        self.storage = storage_of(value) if is_array(value) and type(value) is not scalar else None
        integer = value.staged_integer if type(value) is scalar and value.weak is int else None
        self.overflows = integer is not None and integer.may_overflow


def grows(plan: LoopAnalysis) -> bool:
    """Return whether an array changes its shape from one iteration to the next."""
    return any(form is not None and None in form.shape for form in plan.forms)
