"""A Python loop over mutable arrays as one tf.while_loop: guess, building at once, trial traces, hazards, and
the state afterwards.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import tensorflow as tf
from tensorflow.core.framework.attr_value_pb2 import AttrValue

from np2tf.arrays.array.ndarray import is_array, scalar, storage_of
from np2tf.arrays.operands.widened_storage import WidenedStorage, read_widened
from np2tf.arrays.tensors.graph_queries import graphs_within, note_block, note_entries
from np2tf.arrays.tensors.graphs import default_graph, new_placeholder
from np2tf.arrays.tensors.storage import (
    StagingScope,
    Storage,
    aliases,
    current_scope,
    link_aliases,
    rebased_inside,
    staging_scope,
)
from np2tf.arrays.tensors.tapes import may_record
from np2tf.core.errors import (
    AliasingError,
    BranchTypeError,
    IntegerGrowthError,
    LoopTypeError,
    RankChangeError,
    StagingError,
    TraceSizeError,
    TracingTimeError,
    XlaShapeError,
)
from np2tf.staging.control.loop_analysis import (
    BufferPermutation,
    Companions,
    LoopAnalysis,
    LoopGraphs,
    TripCount,
    kept_variables,
    steps_of,
)
from np2tf.staging.control.variables import Label, Variables, describe, structure
from np2tf.staging.objects.code_names import all_names, kept_and_new_names
from np2tf.staging.trace.provenance import note_loop_result, possible_aliases
from np2tf.staging.trace.trace import Trace, Violations
from np2tf.staging.values.carried_values import (
    Carried,
    GuardedStorage,
    Undefined,
    are_same,
    flatten,
    form_of,
    is_widened,
    join,
    like,
)
from np2tf.staging.values.containers import containers, guard_closures, kept_containers, put_back
from np2tf.staging.values.staged_list import (
    fit_structure,
    is_ready,
    prepare_for_loop,
    read_views,
    trim_after_loop,
)
from np2tf.staging.xla import calls
from np2tf.staging.xla.loop_passes import compute_once, read_before_writes, remove_lost_updates
from np2tf.staging.xla.placement import COLLECTIVES, ops_of, xla_pays
from np2tf.staging.xla.plane_order import PlaneOrder

# -- likely changes ------------------------------------------------------------------------------------------
# Guesses which variables and arrays a loop changes, which saves tracing its body once more.
#
# The body of a loop is traced until it is known what an iteration changes. An inner loop is
# staged once for every trace of the outer loop's body, and again for every signature. The result of an
# earlier trace is a good guess then; in the first trace, the guess is the set of variables that the loop
# binds.


class _Changes(NamedTuple):
    """What a loop changes.

    Attributes:
        carried: for each variable, whether it is carried.
        written: for each variable, whether an iteration writes to its array.
        records_violations: whether an iteration records violations; None if that is unknown.
    """

    carried: list[bool]
    written: list[bool]
    records_violations: bool | None = None


#: The code of an iteration -> its changes.
_changes_of_code: WeakKeyDictionary[types.CodeType, _Changes] = WeakKeyDictionary()


class Likely:
    """A guess of the variables and arrays that a loop changes.

    Args:
        step: an iteration, as the program has it.
        rebound_count: the number of variables that it binds; they come first.
    """

    def __init__(self, step: Callable[..., Any] | None, rebound_count: int = 0) -> None:
        self.code: types.CodeType | None = getattr(step, "__code__", None)
        self._rebound_count = rebound_count

    def forms(self, leaves: Sequence[Any], names: Callable[[int], str]) -> list[Carried | None]:
        """Return the forms of the variables that are likely to change; None for each other variable.

        Args:
            names: the name of the k-th variable.
        """
        changes = self._changes(leaves, names)
        return [
            form_of(leaf) if is_known and not isinstance(leaf, Undefined) else None
            for is_known, leaf in zip(changes.carried, leaves, strict=True)
        ]

    def storages(self, leaves: Sequence[Any], names: Callable[[int], str], trace: Trace) -> list[Storage]:
        """Return the storages that an iteration is likely to write to."""
        changes = self._changes(leaves, names)
        written = [
            storage_of(leaf)
            for is_written, leaf in zip(changes.written, leaves, strict=True)
            if is_written and is_array(leaf) and _may_be_carried(storage_of(leaf))
        ]
        records = changes.records_violations
        if records is None:  # where some code has recorded violations, other code usually does so, too
            records = trace.violations._value.op.type != "Const"
        return list(dict.fromkeys([*written, *[trace.violations] * records]))

    def is_sure(self, leaves: Sequence[Any]) -> bool:
        """Return whether the guess is likely to be right: the text does not show all that sets attributes."""
        return self.code in _changes_of_code or len(leaves) <= self._rebound_count

    def _changes(self, leaves: Sequence[Any], names: Callable[[int], str]) -> _Changes:
        changes = None if self.code is None else _changes_of_code.get(self.code)
        if changes is not None and len(changes.carried) == len(leaves):
            return changes
        return self._at_first(leaves, names)

    def _at_first(self, leaves: Sequence[Any], names: Callable[[int], str]) -> _Changes:
        none = [False] * len(leaves)
        if self.code is None:
            return _Changes(none, none)
        kept, new = kept_and_new_names(self.code)
        writes = "at" in all_names(self.code)
        carried, written = [*none], [*none]
        for k, leaf in enumerate(leaves):
            name, is_one_array = names(k), is_array(leaf) and type(leaf) is not scalar
            written[k] = is_one_array and name in kept and name not in new
            # If elements are written, arrays that other code gets usually stay the same objects.
            stays = is_one_array and name not in new and writes
            is_bound = k < self._rebound_count or name in kept | new  # else an attribute
            carried[k] = is_bound and not (written[k] or stays)
        return _Changes(carried, written)

    def remember(self, plan: LoopAnalysis, leaves: Sequence[Any], trace: Trace) -> None:
        """Record what has turned out to change."""
        if self.code is not None:
            written = [is_array(leaf) and storage_of(leaf) in plan.storages for leaf in leaves]
            carried = [form is not None for form in plan.forms]
            _changes_of_code[self.code] = _Changes(carried, written, trace.violations in plan.storages)


def _is_of_one(value: Any) -> bool:
    """Return whether a value is a tuple of one item."""
    return type(value) is tuple and len(value) == 1


def _may_be_carried(storage: Storage | None) -> bool:
    return storage is not None and type(storage) in (Storage, Violations) and not storage.is_poisoned


# -- staged loop ---------------------------------------------------------------------------------------------
# A Python loop over mutable arrays becomes one `tf.while_loop`.
#
# Three things must be known of an iteration: which state leaves it changes (and how they are carried), which
# storages born outside it writes to (they become loop state as well), and whether two names may stand for the
# same memory in a way that value semantics would get wrong (then staging is refused).
#
# Where these can be guessed, the loop is built at once, and its body tells whether the guess is right. If it
# is not, or if nothing can be guessed, the loop is analysed first: its body is traced into throw-away graphs,
# as often as needed. For a loop inside a throw-away graph, of a loop or a branch, the results are only
# predicted, as placeholders. Otherwise each loop would be traced twice or more for each construct around it.

#: (counter, state) -> boolean tensor, and (counter, state) -> state.
Test = Callable[[tf.Tensor, Any], tf.Tensor]
Step = Callable[[tf.Tensor, Any], Any]

_MAX_TRIALS = 12
#: Loops of at most this many iterations do not look for a stop sign: loops that no other loop is around, and
#: inner loops.
SHORT, SHORT_INNER = 64, 100_000
#: Errors that have nothing to do with a guess: an attribute is new, the trace takes too long.
_NOT_OF_THE_GUESS = (BranchTypeError, TracingTimeError, TraceSizeError)


class EffectsInTest(Exception):
    """Raised if the test of a loop writes, draws, prints or may fail, which the test of a `tf.while_loop`
    must not.
    """


class StagedLoop:
    """A loop that has been analysed, from the state that it is entered with; `run` builds it.

    Attributes:
        plan: the results of the throw-away traces.
        is_compiled: whether XLA compiles the loop by itself, in a graph.
        unpack: what `run` does with the state after the loop to get its own result.

    Raises:
        StagingError: if the loop cannot be staged with Python's meaning kept.
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
        unpack: Callable[[Any], Any] = lambda after: after,
    ) -> None:
        self.unpack = unpack
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
        self._results: Sequence[tf.Tensor] | None = None
        self._attempt: _Attempt | None = None
        #: The storages that an iteration is expected to write; None if the loop is not built at once.
        self._expected: list[Storage] | None = None
        plan = self._plan_for_xla(likely)
        self.is_compiled = plan is not None
        if plan is None and trace.xla and trace.root is not None and not trace.throw_aways:
            self._expected = likely.storages(self.leaves, self._word, trace)
        self.plan = plan or self._discover(likely)
        likely.remember(self.plan, self.leaves, trace)

    def _plan_for_xla(self, likely: Likely) -> LoopAnalysis | None:
        """Return the analysis of a loop that XLA compiles by itself inside a graph; None if XLA should
        not.
        """
        trace = self.trace
        if trace.xla or not trace.loops.may_be_compiled or likely.code in trace.loops.uncompiled:
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
            trace.loops.uncompiled.add(likely.code)
        self.state, self.leaves, self.rebuild, self.outline = snapshot
        return None

    def _discover(self, likely: Likely) -> LoopAnalysis:
        guess, is_sure = likely.forms(self.leaves, self._word), likely.is_sure(self.leaves)
        if any(guess):
            try:
                return self._analyse(guess, is_sure)
            except StagingError as error:
                if isinstance(error, _NOT_OF_THE_GUESS):
                    raise
                is_sure = False
        return self._analyse([None] * len(self.leaves), is_sure)

    def _analyse(self, guess: list[Carried | None], is_sure: bool) -> LoopAnalysis:
        """Return the analysis in which the forms are right, starting from a guess that may be sure."""
        before = forms = guess
        for _ in range(_MAX_TRIALS):
            plan, outs = self._first_trace(forms, guess, is_sure)
            is_sure = True
            if outs is None:
                forms = guess = [None] * len(self.leaves)
                continue
            left = self._left(guess, outs)
            if left:
                # No iteration changes these: they are the same arrays and constants inside.
                forms = guess = self._without(left, guess, outs)
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
        raise LoopTypeError(f"{text}, and its type changes again after each further one")

    def _first_trace(
        self, forms: list[Carried | None], guess: Sequence[Carried | None], is_sure: bool
    ) -> tuple[LoopAnalysis, list[_Out] | None]:
        # The form of a name that the first iteration binds is not known yet. Reading an array whose dtype, or
        # whose name's binding, only the running program knows may discard the call.
        is_open = any(
            isinstance(leaf, Undefined)
            if form is None
            else is_array(leaf) and isinstance(storage_of(leaf), (GuardedStorage, WidenedStorage))
            for leaf, form in zip(self.leaves, forms, strict=True)
        )
        if self._expected is not None and is_sure and not is_open:
            return self._try_at_once(forms, guess)
        plan, outs = self._trial(forms)
        if self._expected is not None:
            self._expected = [storage for storage in plan.storages if _may_be_carried(storage)]
        return plan, outs

    def _left(self, guess: Sequence[Carried | None], outs: Sequence[_Out]) -> list[int]:
        """Return the variables that the guess has, and that an iteration does not change."""
        return [
            k
            for k, out in enumerate(outs)
            if guess[k] is not None
            and (are_same(self._entry_leaves[k], out.value) or are_same(self.leaves[k], out.value))
        ]

    def _without(
        self, left: Sequence[int], guess: Sequence[Carried | None], outs: Sequence[_Out]
    ) -> list[Carried | None]:
        """Return the next guess: without variables that do not change, and with others that did.

        The others have the forms that they are entered with: what an iteration makes of a wrong guess may
        have another dtype.
        """
        return [
            None
            if k in left
            else form_of(entry)
            if form is None and not are_same(entry, out.value) and not isinstance(entry, Undefined)
            else form
            for k, (form, entry, out) in enumerate(zip(guess, self.leaves, outs, strict=True))
        ]

    def _trial(self, forms: list[Carried | None]) -> tuple[LoopAnalysis, list[_Out] | None]:
        """Trace one step into a throw-away graph; everything it writes is undone.

        Returns:
            The analysis, and the leaves after the step; None instead of leaves if a name that was unbound on
            entry has turned out to be a structure, which it then is from now on.
        """
        plan = LoopAnalysis(forms)
        mark = self.trace.effects.mark()
        with self.trace.throwing_away() as inside:
            inputs = [
                new_placeholder(spec.dtype, spec.shape) for form in forms if form for spec in form.specs()
            ]
            counter = new_placeholder(tf.int64, ())
            state = self._enter(forms, iter(inputs), plan)
            guard = guard_closures(self.test, self.step)
            iteration = _Iteration(plan)
            with staging_scope(self.trace) as scope:
                try:
                    self.test(counter, state)
                    if scope.writes or scope.poisoned_storages:
                        raise EffectsInTest
                    iteration.after = self.step(counter, state)
                    self._observe(iteration, state, scope)
                finally:
                    iteration.note(scope)
                    scope.undo()
                    guard.check()
                    self.trace.effects.forget(mark)
            # The forms of the results can be computed only while their graph is still the current graph.
            self._judge(iteration)
        plan.graphs = inside.graphs
        return self._settle(iteration)

    def _observe(self, iteration: _Iteration, state: Any, scope: StagingScope) -> None:
        """Note what an iteration has made of a state, at its end."""
        plan = iteration.plan
        self.trace.effects.move_queue(scope)
        entry = like(self.state, iteration.after)
        if is_ready(entry, iteration.after) and flatten(entry)[2] == self.outline:
            iteration.leaves = leaves = self._leaves_of(iteration.after)
            read_widened(leaves)
            plan.new = {k for k, leaf in enumerate(leaves) if not possible_aliases(leaf)}
            plan.steps = steps_of(self._entry_leaves, leaves)
            plan.rebinding_variables = kept_variables(leaves, plan.fresh)
        else:
            iteration.unready = entry, read_views(iteration.after)
        plan.kept_paths = kept_containers(state, iteration.after)

    def _judge(self, iteration: _Iteration) -> None:
        """Complete the analysis of an iteration, whose writes have been undone."""
        plan = iteration.plan
        if iteration.leaves is None:
            return
        if iteration.poisoned_storages:
            raise AliasingError(
                f"{self._label_of_storage(iteration.poisoned_storages)} may be written in a compiled loop "
                "under a name that a branch chose"
            )
        iteration.outs = outs = [_Out(value) for value in iteration.leaves]
        fresh = set(plan.fresh.values())
        plan.written_storages = set(iteration.writes)
        plan.storages = [storage for storage in iteration.writes if storage not in fresh]
        plan.exits = {
            k: out.storage
            for k, out in enumerate(outs)
            if plan.forms[k] is not None and out.storage is not None
        }
        self._read_storages = iteration.reads

    def _settle(self, iteration: _Iteration) -> tuple[LoopAnalysis, list[_Out] | None]:
        """Return the analysis and the leaves. A name that was unbound on entry becomes the structure that it
        has turned out to be.
        """
        if iteration.unready is not None:
            entry, views = iteration.unready
            self.state = prepare_for_loop(entry, views, self.rounds.maximum)
            self.leaves, self.rebuild, self.outline = flatten(self.state)
        return iteration.plan, iteration.outs

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
            lines = f"{self.variables.before(label)} grows in a compiled loop{self.variables.within(label)}"
            raise IntegerGrowthError(f"the Python integer {label.text}{lines} and may exceed 64 bits")
        if len(form.shape) != len(out.form.shape):
            raise RankChangeError(self._in_loop(k, form, out))
        return join(form, out.form, "a loop's variable", self.trace.root is not None)

    # -- telling ---------------------------------------------------------------------------------------------

    def _label(self, k: int) -> Label:
        return self.variables.label(self.state, k)

    def _word(self, k: int) -> str:
        return self._label(k).word

    def _in_loop(self, k: int, before: Carried | None, out: _Out) -> str:
        sides = describe(self.leaves[k], before), describe(out.value, out.form)
        return self.variables.in_loop(self._label(k), *sides)

    def _other_structure(self, after: Any) -> str:
        pairs = zip(self.variables.items(self.state), self.variables.items(after), strict=False)
        for (label, before), (_, now) in pairs:
            if flatten(before)[2] != flatten(now)[2]:
                text = self.variables.in_loop(label, structure(before), structure(now))
                is_one = len(self.variables.names or ()) == 1 and _is_of_one(before) != _is_of_one(now)
                return f"{text}; a step of one variable gets and returns the value itself" if is_one else text
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
                return LoopTypeError(f"{text}, and of {form.dtype} in the loop: its dtype keeps changing")
        return LoopTypeError("the dtypes of a loop's arrays keep changing")

    # -- hazards ---------------------------------------------------------------------------------------------

    def _refuse_hazards(self, plan: LoopAnalysis) -> None:
        """Refuse loops in which two names may be one array and one of them is written to."""
        holders = plan.holders(self.leaves)
        if holders:
            label = self._label(holders[0])
            description = f"{label.text}{self.variables.within(label)} holds an array"
            raise AliasingError(f"{description} that the loop writes to under another name")
        hazard = plan.hazard(self.leaves, self._read_storages)
        if hazard is not None:
            raise AliasingError(self._two_names(*hazard))

    def _two_names(self, k: int, other_places: Sequence[int]) -> str:
        label = self._label(k)
        if other_places:
            two_names = self.variables.two_names(label, self._label(other_places[0]))
        else:
            two_names = f"{label.text}{self.variables.within(label)} and a name from outside of the loop"
        return f"{two_names} may be the same array in a compiled loop, and one is written to"

    @property
    def changes_type(self) -> bool:
        """True if the first iteration sees a variable of another dtype or shape than later iterations."""
        for leaf, form in zip(self.leaves, self.plan.forms, strict=True):
            before = None if form is None or isinstance(leaf, Undefined) else form_of(leaf)
            if before is None or before == form:
                continue
            if self.trace.loops.exact_types or before.weak is None or before.shape != form.shape:  # type: ignore[union-attr]
                return True
        return False

    @property
    def changes_dtype(self) -> bool:
        """True if an array has another dtype before the loop, or after an iteration, than inside."""
        if self.trace.root is None:
            return False  # the graph is foreign, so its call cannot be discarded
        before = [None if isinstance(leaf, Undefined) else form_of(leaf) for leaf in self.leaves]
        return any(map(is_widened, before + self.plan.ends, self.plan.forms * 2))

    # -- building --------------------------------------------------------------------------------------------

    def run(self) -> Any:
        """Build the loop, write the storages that it writes, and return the state after it."""
        plan = self.plan
        if self.trace.xla and self._code is not None:
            self.trace.loops.graphs[self._code] = plan.graphs
        if self.trace.xla and grows(plan):
            raise XlaShapeError(self._other_shape())
        for leaf, end, form in zip(self.leaves, plan.ends, plan.forms, strict=True):
            self.trace.shown_text.join(form_of(leaf), form)
            self.trace.shown_text.join(end, form)
        results = self._results if self._results is not None else self._build_after_trials()
        state = self._leave(list(results))
        if self.is_compiled:
            self.trace.effects.put_logged(plan.storages)
        return self.unpack(state)

    def _build_after_trials(self) -> Sequence[tf.Tensor]:
        plan = self.plan
        self._companions = Companions(self.leaves, plan)
        inputs = self._inputs(plan, self._companions.initial)
        before = inputs[len(inputs) - len(plan.storages) :]
        with rebased_inside(plan.storages, before):
            return self._foresee(inputs) if self.trace.throw_aways else self._make_results(inputs)

    def _inputs(self, plan: LoopAnalysis, companions: Sequence[tf.Tensor]) -> list[tf.Tensor]:
        """Return the tensors that the loop is entered with."""
        # Reading a variable may be a violation, which the loop's own violations must not replace.
        carried_in = [
            tensor
            for leaf, form in zip(self.leaves, plan.forms, strict=True)
            if form is not None
            for tensor in form.tensors(leaf)
        ]
        before = [storage.value for storage in plan.storages]
        return [tf.constant(0, tf.int64), *carried_in, *companions, *before]

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
            new_placeholder(tensor.dtype, shape)
            for tensor, shape in zip(inputs, self._shapes(inputs), strict=True)
        ]

    def _shapes(self, inputs: Sequence[tf.Tensor]) -> list[tf.TensorShape]:
        """Return the shapes that the loop's variables have in common in all iterations."""
        shapes = [tf.TensorShape([])]
        shapes += [spec.shape for form in self.plan.forms if form is not None for spec in form.specs()]
        return shapes + [tensor.shape for tensor in inputs[len(shapes) :]]

    def _make_results(self, inputs: Sequence[tf.Tensor]) -> Sequence[tf.Tensor]:
        self.trace.loops.how.append("xla" if self.is_compiled or self.trace.xla else "graph")
        if not self.is_compiled:
            return self._build(*inputs)
        with self.trace.stage_for_xla():
            results: Sequence[tf.Tensor] = tf.function(self._build, jit_compile=True, autograph=False)(
                *inputs
            )
        return results

    def _build(self, *inputs: tf.Tensor) -> Sequence[tf.Tensor]:
        plan, attempt = self.plan, self._attempt
        carried_count = sum(len(form.specs()) for form in plan.forms if form is not None)
        rounds = self.rounds.maximum if self.rounds.exact else None
        order = PlaneOrder(plan.graphs if self.trace.xla else [], inputs, self._read_storages, rounds)
        is_stoppable, graphs = self._is_stoppable(), LoopGraphs()
        is_light = is_stoppable and bool(plan.graphs) and all(map(calls.is_light, plan.graphs))

        def test(*variables: tf.Tensor) -> tf.Tensor:
            counter, *tensors = order.leave(variables)
            state = self._bind(tensors, LoopAnalysis(plan.forms))
            with staging_scope(self.trace) as scope:
                outcome = self._outcome(counter, state, scope)
                graphs.test = [counter, *tensors], outcome
                # After a violation the whole call is discarded: a loop must not wait for values that never
                # come. An accelerator runs a counted loop to its end, without asking the host in each round.
                is_counted = self.trace.device != "cpu" and rounds is not None
                if self.trace.violations in plan.storages and not is_counted:
                    outcome = tf.logical_and(outcome, tf.logical_not(self.trace.violations.value))
                if is_stoppable and not is_light:
                    outcome = tf.logical_and(outcome, calls.is_unset(counter))
                return outcome

        def body(*variables: tf.Tensor) -> list[tf.Tensor]:
            counter, *tensors = order.leave(variables)
            inner = LoopAnalysis(plan.forms)
            state = self._bind(tensors, inner)
            with staging_scope(self.trace, counter) as scope:
                try:
                    if attempt is None:
                        outs = self._leaves_of(self.step(counter, state))
                        self.trace.effects.move_queue(scope)
                    else:
                        attempt.iteration = _Iteration(inner)
                        outs = self._confirm(attempt, state, inputs, variables, scope)
                    new = [
                        tensor
                        for out, form in zip(outs, plan.forms, strict=True)
                        if form is not None
                        for tensor in form.tensors(out)
                    ]
                    companions = self._companions.after(inner, outs, tensors[carried_count:], counter)
                    results = [*new, *companions, *[storage.value for storage in plan.storages]]
                finally:
                    if attempt is not None:
                        scope.undo()
            if self.trace.xla:
                remove_lost_updates(counter, results)
                results = compute_once(counter, results, self.trace.device)
                results = read_before_writes(counter, results)
            graphs.body = [counter, *tensors], [counter + 1, *results]
            return order.keep(graphs.body[1])

        shapes = order.shapes(self._shapes(inputs))
        values_before = [(storage, storage._value) for storage in self._read_storages]
        try:
            variables: Sequence[tf.Tensor] = order.enter(inputs)
            if is_light:
                variables = calls.stoppable_loop(test, body, variables, shapes)
            else:
                most = self._most_iterations()
                variables = tf.while_loop(test, body, variables, shapes, maximum_iterations=most)
            note_block(variables[0].op, self.plan.graphs)
            if not self.rounds.exact:
                graphs.check()
            if self.trace.loops.have_collectives and COLLECTIVES & ops_of(*plan.graphs):
                _keep_functional()
            return order.leave(variables)
        finally:
            for storage, value in values_before:
                storage.rebase(value)

    def _outcome(self, counter: tf.Tensor, state: Any, scope: StagingScope) -> tf.Tensor:
        """Return the outcome of the test, which must have no effects."""
        try:
            outcome = self.test(counter, state)
            if scope.writes or scope.poisoned_storages:
                raise EffectsInTest
            return outcome
        finally:
            scope.undo()
            if self._attempt is not None:
                self._attempt.reads |= scope.reads

    # -- building at once ------------------------------------------------------------------------------------
    # The first trace of a body can be the loop itself, if it turns out to change what was guessed. Then the
    # graph is the one that a second trace would have made.

    def _try_at_once(
        self, forms: list[Carried | None], guess: Sequence[Carried | None]
    ) -> tuple[LoopAnalysis, list[_Out] | None]:
        """Do `_trial`, and keep the traced loop if what it writes and changes was guessed."""
        trace, loops = self.trace, self.trace.loops
        expected = self._expected
        assert expected is not None
        assumed = LoopAnalysis(forms, storages=expected)
        try:
            inputs = self._inputs(assumed, ())
        except StagingError:
            return self._trial(forms)
        self.plan, self._companions = assumed, Companions(self.leaves, assumed)
        self._results, self._read_storages = None, set()
        attempt = _Attempt(guess, self._is_stoppable())
        mark, loop_count, graphs = trace.effects.mark(), len(loops.how), dict(loops.graphs)
        guard = guard_closures(self.test, self.step)
        self._attempt = attempt
        try:
            with (
                rebased_inside(expected, inputs[len(inputs) - len(expected) :]),
                attempt.watch(trace, expected),
            ):
                self._results = self._make_results(inputs)
        except _WrongGuess as wrong:
            if wrong is not attempt.wrong:
                raise
            del loops.how[loop_count:]
            loops.graphs = graphs
        finally:
            self._attempt = None
            guard.check()
            if self._results is None:
                trace.effects.forget(mark)
        if attempt.is_cut_short:
            self._expected = [*expected, trace.violations]
            return self._try_at_once(forms, guess)
        iteration = attempt.iteration
        assert iteration is not None
        if self._results is None and iteration.outs is not None:
            self._expected = [storage for storage in iteration.plan.storages if _may_be_carried(storage)]
        return self._settle(iteration)

    def _confirm(
        self,
        attempt: _Attempt,
        state: Any,
        inputs: Sequence[tf.Tensor],
        variables: Sequence[tf.Tensor],
        scope: StagingScope,
    ) -> list[Any]:
        """Trace an iteration, and return the leaves after it if it changes what was guessed.

        Args:
            inputs: the tensors that the loop is entered with.
            variables: the same in the body; the first is the counter.
        """
        iteration = attempt.iteration
        assert iteration is not None
        assumed, plan = self.plan, iteration.plan
        try:
            iteration.after = self.step(variables[0], state)
            self._observe(iteration, state, scope)
        finally:
            ends = [(storage, storage._value) for storage in scope.writes]
            iteration.note(scope)
            iteration.reads |= attempt.reads
            scope.undo()
        self._judge(iteration)
        graph = variables[0].graph
        plan.graphs = graphs_within(graph)
        written = len(inputs) - len(assumed.storages)
        note_entries(graph, zip(inputs[written:], variables[written:], strict=True))
        if not self._is_as_guessed(attempt, iteration, assumed, inputs):
            raise attempt.wrong
        plan.storages = assumed.storages
        for storage, value in ends:
            storage.rebase(value)
        assert iteration.leaves is not None
        return iteration.leaves

    def _is_as_guessed(
        self,
        attempt: _Attempt,
        iteration: _Iteration,
        assumed: LoopAnalysis,
        inputs: Sequence[tf.Tensor],
    ) -> bool:
        plan, outs = iteration.plan, iteration.outs
        if outs is None or self._left(attempt.guess, outs):
            return False
        try:
            forms = [self._form(k, *pair) for k, pair in enumerate(zip(plan.forms, outs, strict=True))]
            if forms != plan.forms:
                return False
            plan.ends = [out.form for out in outs]
            self._refuse_hazards(plan)
        except StagingError:
            return False  # which `_analyse` raises
        self.plan = plan
        # These need numbers that the loop carries besides its variables, or an iteration ahead of the loop.
        is_simple = not (
            plan.mutable() or plan.rebinding_variables or self.changes_dtype or self.changes_type
        )
        if not is_simple or set(plan.storages) != set(assumed.storages):
            return False
        if attempt.is_stoppable and all(map(calls.is_light, plan.graphs)):
            return False
        rounds = self.rounds.maximum if self.rounds.exact else None
        others = self._read_storages - set(plan.storages)
        return not grows(plan) and not PlaneOrder(plan.graphs, inputs, others, rounds)

    def _is_stoppable(self) -> bool:
        """Return whether the loop ends at the call's stop sign, because it may last long."""
        scope, maximum = current_scope(), self.rounds.maximum
        is_inner = scope is not None and scope.counter is not None
        is_short = maximum is not None and maximum <= (SHORT_INNER if is_inner else SHORT)
        # An accelerator has memory of its own.
        may_be_stopped = self.trace.may_call_numpy and self.trace.gaps.is_allowed
        return may_be_stopped and not is_short and self._most_iterations() is None

    def _most_iterations(self) -> int | None:
        """Return the number of iterations, which XLA needs to know of a loop that is differentiated."""
        is_differentiated = not self.trace.gaps.is_allowed or may_record()
        return self.rounds.maximum if self.rounds.exact and self.trace.xla and is_differentiated else None

    def _bind(self, tensors: Sequence[tf.Tensor], plan: LoopAnalysis) -> Any:
        state = self._enter(plan.forms, iter(tensors), plan)
        for storage, value in zip(
            self.plan.storages, tensors[len(tensors) - len(self.plan.storages) :], strict=True
        ):
            storage.rebase(value)
        return state

    def _leave(self, results: list[tf.Tensor]) -> Any:
        plan = self.plan
        leaves = list(self.leaves)
        remaining_results = iter(results[1:])
        for k, form in enumerate(plan.forms):
            if form is not None:
                leaves[k] = form.of(remaining_results)
        companions = [next(remaining_results) for _ in self._companions.initial]
        flags = self._companions.bind_after_loop(leaves, companions)
        for storage in plan.storages:
            storage.write(next(remaining_results))
        self._note_aliases(leaves, self._companions.permutation, results[0] > 0)
        self._companions.note_identities(leaves, flags)
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


class _WrongGuess(BaseException):
    """Raised in the body of a loop that changes something else than what was guessed.

    No handler of exceptions may take it for an error of the code.
    """


class _Attempt:
    """The attempt to build a loop while its body is traced for the first time.

    Attributes:
        guess: the variables that an iteration must change, if it is to be right.
        is_stoppable: whether the loop ends at the call's stop sign.
        wrong: what ends the attempt if the guess is wrong.
        reads: the storages that the test reads.
        iteration: the iteration, once it has been traced.
        is_cut_short: whether it has ended at a violation.
    """

    def __init__(self, guess: Sequence[Carried | None], is_stoppable: bool) -> None:
        self.guess = guess
        self.is_stoppable = is_stoppable
        self.wrong = _WrongGuess()
        self.reads: set[Storage] = set()
        self.iteration: _Iteration | None = None
        self.is_cut_short = False

    @contextmanager
    def watch(self, trace: Trace, expected: Sequence[Storage]) -> Iterator[None]:
        """End the attempt at the first violation in the with block if none is expected.

        The rest of the trace would tell nothing else in most cases.
        """
        violations = trace.violations
        assert isinstance(violations, Violations)
        is_outermost = violations.refusal is None and violations not in expected and not trace.handles
        if is_outermost:
            violations.refusal = self.wrong
        try:
            yield
        except _WrongGuess:
            self.is_cut_short = is_outermost and violations.is_refused
            raise
        finally:
            if is_outermost:
                violations.refusal, violations.is_refused = None, False


class _Iteration:
    """One iteration of a loop that has been traced, and what it does.

    Attributes:
        after: the state after it.
        leaves, outs: the leaves of this state; None if the state before the loop needs another structure.
        unready: for such a structure, the state before the loop and the views of the state after.
        writes, reads, poisoned_storages: what its scope has recorded.
    """

    def __init__(self, plan: LoopAnalysis) -> None:
        self.plan = plan
        self.after: Any = None
        self.leaves: list[Any] | None = None
        self.outs: list[_Out] | None = None
        self.unready: tuple[Any, Any] | None = None
        self.writes: list[Storage] = []
        self.reads: set[Storage] = set()
        self.poisoned_storages: list[Storage] = []

    def note(self, scope: StagingScope) -> None:
        """Keep what the iteration's scope has recorded."""
        self.writes, self.reads = list(scope.writes), self.reads | scope.reads
        self.poisoned_storages = list(scope.poisoned_storages)


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


def _keep_functional() -> None:
    """Keep TensorFlow from taking the newest loop of this graph apart.

    A loop that is taken apart runs in a frame with the name of the loop, and a collective operation waits for
    operations of the same frame only. The loops of a function's replicas have different names in one graph.
    """
    operations = reversed(default_graph().get_operations())
    loop = next(operation for operation in operations if operation.type in ("While", "StatelessWhile"))
    loop._set_attr("_lower_using_switch_merge", AttrValue(b=False))
