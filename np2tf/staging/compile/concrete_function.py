"""One signature of a jitted function, compiled: tracing the function, calling the code, and writing back
changes.
"""

from __future__ import annotations

import copy
import types
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.arrays.array.layout import order_of_memory
from np2tf.arrays.array.ndarray import array_over, is_array, scalar, storage_of, tensor_scalar, weak_scalar
from np2tf.arrays.dispatch.placement import new_arrays_on_host
from np2tf.arrays.front.flags import current_mode, promotion_scope
from np2tf.arrays.front.residency import device_kind
from np2tf.arrays.operands.conversion import as_tensor
from np2tf.arrays.tensors.storage import Storage, as_graph_inputs, staging_scope
from np2tf.arrays.tensors.symbolic_integers import SymInt
from np2tf.core.counts import counts
from np2tf.core.errors import AliasingError, RecursionLimitError, StagingError, TextTypeError, UnrollingError
from np2tf.core.late import not_collecting
from np2tf.core.settings import config
from np2tf.staging.compile.open_arrays import OpenArrays, OpenAxis
from np2tf.staging.compile.results import ResultSpec, describe_result, rebuild_result
from np2tf.staging.process.boundary import raw
from np2tf.staging.random.streams import Draws, StreamsOfCall
from np2tf.staging.tiers.call_context import is_recording
from np2tf.staging.trace.operations import (
    ProgramFrames,
    TraceLimit,
    limited,
    table_of_operations,
    unused_checks,
)
from np2tf.staging.trace.trace import Trace
from np2tf.staging.trace.write_back import prepare_changes, prepare_writes, private_copies
from np2tf.staging.values.carried_values import flatten
from np2tf.staging.values.output import Effect, Output, perform
from np2tf.staging.values.staged_list import holds_lists, python_lists
from np2tf.staging.xla.calls import ConcreteCall, ZeroCopyResults, input_of
from np2tf.staging.xla.compiler_options import set_options
from np2tf.staging.xla.placement import ops_against_xla, ops_of, xla_pays
from np2tf.staging.xla.supervision import Supervision

set_options()

#: (staged arrays, staged numbers) -> result: calls the function with its arguments and dependencies put
#: together again.
Body = Callable[[Sequence[Any], Sequence[Any]], Any]


class DiscardedCall(Exception):
    """Raised if a compiled call met a case that a graph cannot run as NumPy does; nothing has been written
    back yet.
    """

    def __init__(self) -> None:
        super().__init__("a call was repeated: NumPy raises an error, or an array has another dtype")


class ConcreteFunction:
    """A traced function for one signature.

    Attributes:
        how: "xla" if it is one XLA program, "graph" otherwise.
        inputs: the numbers that are inputs; other numbers are constants of the code.
        is_plain: whether the caller gets a result unchanged.
        is_warm: whether it has run before.
        may_run_on_host: whether the host may run a call that takes long.
        not_xla, not_xla_code: the reason why it is not one XLA program, if it is a graph, and the code of the
            reason, if it has one.
        loops: for each staged loop "xla" or "graph".
        prints: whether it prints.
        has_assumed: whether it relies on assumptions about the data.
        hides_gradients: whether a tape would get other gradients from it than NumPy's meaning has.

    Args:
        body: the function to trace.
        arrays, numbers: the inputs, and the numbers, which are constants except the numbers in `inputs`.
        inputs: the numbers that are inputs.
        handles: whether the code handles exceptions, so that it must not miss any.
        generators: the generators that it may draw from.
        deadline: the time, by `time.monotonic`, at which tracing is given up.
        bounds: the least and the greatest value of inputs that are natural numbers.
        pattern: the open axes of arrays, whose lengths are the last numbers.
        ragged_places: the places of arrays whose first axis has any length; the code is a graph then.
    """

    def __init__(
        self,
        body: Body,
        arrays: Sequence[Any],
        numbers: Sequence[Any],
        inputs: Sequence[int] = (),
        handles: bool = False,
        generators: Sequence[Any] = (),
        deadline: float | None = None,
        bounds: Mapping[int, tuple[int, int]] = MappingProxyType({}),
        pattern: Mapping[int, tuple[OpenAxis, ...]] = MappingProxyType({}),
        ragged_places: Collection[int] = (),
    ) -> None:
        self.inputs = tuple(inputs)
        self._numbers, self._bounds = list(numbers), bounds
        self._promotion = current_mode()
        self._output = Output()
        self._handles, self._generators, self._deadline = handles, generators, deadline
        groups = {group for axes in pattern.values() for _, group in axes}
        lengths = range(len(numbers) - len(groups), len(numbers))
        self._open_arrays = OpenArrays(pattern, lengths, dict(bounds), ragged_places)
        #: The code of loops with ops that XLA should not compile.
        self._uncompiled_loops: set[types.CodeType] = set()
        self._loop_graphs: dict[types.CodeType, list[tf.Graph]] = {}
        self.is_plain, self.is_warm, self.may_run_on_host = True, False, True
        self.hides_gradients = self.has_assumed = False
        self._choices = {"assumes": True, "buffers": True, "gradients": is_recording()}
        self._trace_for_device(body, arrays)

    def _trace_for_device(self, body: Body, arrays: Sequence[Any]) -> None:
        """Trace for XLA, and if that is impossible or does not pay, as a graph."""
        self.how, self.not_xla, self.not_xla_code = "xla", "", ""
        self._open_arrays.is_padded = True
        if self._open_arrays.has_rows:
            self.how, self.not_xla = "graph", "the lengths of rows are inputs"
            self.function = self._trace(body, arrays, self._input_specs(arrays), xla=False, loops=False)
            return
        try:
            self._open_arrays.check_bounds()
            self.function = self._trace(body, arrays, self._input_specs(arrays), xla=True)
            self.not_xla = self._reason_against_xla()
        except (RecursionLimitError, UnrollingError):
            raise  # a graph would be as deep, or as large
        except StagingError as error:
            self.not_xla, self.not_xla_code = error.reason, error.code
        if self.not_xla:
            self.how = "graph"
            self._uncompiled_loops = {
                code for code, graphs in self._loop_graphs.items() if not xla_pays(ops_of(*graphs))
            }
            self._open_arrays.is_padded = False
            self.function = self._trace(body, arrays, self._input_specs(arrays), xla=False)
        self._loop_graphs = {}

    def _input_specs(self, arrays: Sequence[Any]) -> list[tf.TensorSpec]:
        shapes = [self._open_arrays.static_shape(k, array.shape) for k, array in enumerate(arrays)]
        specs = [
            tf.TensorSpec(shape, tf.as_dtype(array.dtype))
            for shape, array in zip(shapes, arrays, strict=True)
        ]
        return specs + [tf.TensorSpec((), as_tensor(self._numbers[k]).dtype) for k in self.inputs]

    @property
    def is_bounded(self) -> bool:
        """True if the code relies on bounds of numbers that are lengths of arrays."""
        return bool(self._bounds)

    @property
    def graph(self) -> tf.Graph:
        """The traced graph."""
        return self.function.graph

    @property
    def op_count(self) -> int:
        """The number of ops in the graph, including the ops in loops, branches and functions."""
        definition = self.graph.as_graph_def()
        return len(definition.node) + sum(len(function.node_def) for function in definition.library.function)

    def hlo(self, optimized: bool = False) -> str:
        """Return XLA's input, or its optimized code, as text; empty for a graph that is not one XLA
        program.
        """
        if self.how != "xla":
            return ""
        stage = "optimized_hlo" if optimized else "hlo"
        return str(self._polymorphic.experimental_get_compiler_ir(*self._specs)(stage=stage))

    def _reason_against_xla(self) -> str:
        """Return why the traced function should stay a graph, in words; empty if it should not."""
        # XLA on CPUs corrupts memory where a function returns two arrays of shapes that depend on data.
        if not all(output.shape.is_fully_defined() for output in self.function.outputs):
            return "the shape of a result depends on data"
        ops = ops_of(self.function.graph)
        return "" if xla_pays(ops) else f"it needs {', '.join(sorted(ops_against_xla(ops)))}"

    def retrace(self, body: Body, arrays: Sequence[Any], **choice: bool) -> ConcreteFunction:
        """Return the code of another trace, with one other choice; other threads may be running this code.

        Without "xla", which has refused to compile the graph, it is a graph; without "assumes" it relies on
        no assumption about the data; without "buffers", which have too few words, the program makes the
        random bits itself; with "gradients", elements outside the valid part are computed from their
        neighbours' values only.
        """
        new = copy.copy(self)
        new._open_arrays, new._choices = copy.copy(self._open_arrays), {**self._choices, **choice}
        if "assumes" in choice:
            new._trace_for_device(body, arrays)
            return new
        if "gradients" in choice:
            new._deadline = None
        if "xla" not in choice:
            with suppress(StagingError):
                new.function = new._trace(body, arrays, self._specs, xla=self.how == "xla")
                return new
        new.function = new._trace(body, arrays, self._specs, xla=False, loops=False)
        new.how, new.not_xla, new.not_xla_code = "graph", "XLA has refused the graph", ""
        return new

    def _trace(
        self, body: Body, arrays: Sequence[Any], specs: list[Any], xla: bool, loops: bool = True
    ) -> Any:
        try:
            return self._trace_once(body, arrays, specs, xla, loops, False)
        except TextTypeError:
            pass
        return self._trace_once(body, arrays, specs, xla, loops, True)

    def _trace_once(
        self, body: Body, arrays: Sequence[Any], specs: list[Any], xla: bool, loops: bool, exact: bool
    ) -> Any:
        self._specs = specs
        self.loops: list[str] = []

        def run(*tensors: tf.Tensor) -> list[tf.Tensor]:
            trace = Trace(xla, compile_loops=loops and not xla, exact_types=exact)
            self.loops, self._loop_graphs = trace.loops, trace.loop_graphs
            trace.uncompiled_loops |= self._uncompiled_loops
            trace.deadline, trace.gradients = self._deadline, self._choices["gradients"]
            trace.may_call_numpy = trace.device == "cpu"
            trace.may_assume = self._choices["assumes"]
            # An accelerator has memory of its own.
            trace.may_be_stopped = not trace.gradients and trace.device == "cpu"
            storages = [Storage(tensor) for tensor in tensors[: len(arrays)]]
            for storage, array in zip(storages, arrays, strict=True):
                storage.argument = True
                storage.order = order_of_memory(array)
            trace.violations, trace.print_order = Storage(tf.constant(False)), Storage(tf.constant(0))
            trace.output, trace.handles = self._output, self._handles
            trace.draws = self._draws = Draws(self._generators, xla and self._choices["buffers"])
            numbers = [self._stage_number(k, tensors[len(arrays) :]) for k in range(len(self._numbers))]
            staged_arrays = [
                self._stage_array(k, array, storages[k], numbers, trace) for k, array in enumerate(arrays)
            ]
            with promotion_scope(self._promotion), staging_scope(trace) as root:
                trace.root = root
                self._draws.begin(root)
                result = body(staged_arrays, numbers)
                if any(storage.is_poisoned for storage in storages):
                    raise AliasingError(
                        "an argument may have been written under a name that a compiled loop or branch chose",
                    )
                trace.shown_text.check()
                self.hides_gradients, self.has_assumed = trace.has_gaps, trace.has_assumed
                return self._collect_outputs(
                    result,
                    storages,
                    [k for k, storage in enumerate(storages) if storage in root.writes],
                    trace,
                )

        self._polymorphic = tf.function(run, jit_compile=xla or None, autograph=False)
        with (
            not_collecting(),
            table_of_operations(),
            ProgramFrames(),
            limited(TraceLimit(self._deadline)),
            as_graph_inputs([storage_of(array) for array in arrays if is_array(array)]),
        ):
            function = self._polymorphic.get_concrete_function(*specs)
        self._zero_copy = ZeroCopyResults() if xla and device_kind() == "cpu" else None
        has_callbacks = not xla and (self.prints or bool(self._draws.streams))
        self._supervision = Supervision(
            ConcreteCall(function, self._draws.values_of_call), runs_ahead=not has_callbacks
        )
        return function

    def _stage_array(self, k: int, array: Any, storage: Storage, numbers: Sequence[Any], trace: Trace) -> Any:
        """Return an array as the staged function sees it."""
        if isinstance(array, tf.Tensor):
            return storage.value
        result = tensor_scalar(storage.value) if type(array) is scalar else array_over(storage)
        if k in self._open_arrays:
            result = self._open_arrays.part(k, result, numbers)
        trace.add_input(array, result)
        return result

    def _stage_number(self, k: int, tensors: Sequence[tf.Tensor]) -> Any:
        number = self._numbers[k]
        if k not in self.inputs:
            return number
        tensor = tensors[self.inputs.index(k)]
        if isinstance(number, np.generic):
            return tensor_scalar(tensor)
        if type(number) is not int:
            return weak_scalar(tensor, type(number))
        return weak_scalar(tensor, int, SymInt.fresh(tensor, *self._bounds.get(k, ())))

    def _collect_outputs(
        self, result: Any, storages: list[Storage], written_places: list[int], trace: Trace
    ) -> list[tf.Tensor]:
        leaves, rebuild, _ = flatten(result)
        self._rebuild = (lambda outputs: python_lists(rebuild(outputs))) if holds_lists(result) else rebuild
        self.written_places = written_places
        self._results: list[ResultSpec] = []
        outputs: list[tf.Tensor] = []
        places: dict[Any, int] = {}
        for leaf in leaves:
            spec = describe_result(leaf, storages, leaves, outputs, places)
            self._results.append(spec)
        outputs += [storages[k].value for k in written_places]
        self._log = trace.log if trace.xla else None
        log_tensors = self._log.flush() if self._log else []
        states = self._draws.finals()
        violation = trace.violations.value
        self._may_fail = violation.op.type != "Const"
        self.prints = trace.print_order.value.op.type != "Const"
        # A graph that returns raw tensors must not borrow the memory of its inputs.
        self._lends = all(spec.kind != "tensor" for spec in self._results)
        self._count = len(outputs)
        # The last count of prints depends on all prints.
        outputs += [trace.print_order.value] if self.prints else []
        self._log_outputs = slice(len(outputs), len(outputs) + len(log_tensors))
        outputs += log_tensors
        self._states = slice(len(outputs), len(outputs) + len(states))
        outputs += states
        if not trace.xla:
            outputs += unused_checks(violation.graph, [*outputs, violation])
        return [*outputs, violation] if self._may_fail else outputs

    def __call__(
        self,
        arrays: Sequence[Any],
        numbers: Sequence[Any],
        generators: Sequence[Any] = (),
        holders: Sequence[Any] = (),
        accept: Callable[[], None] = lambda: None,
    ) -> Any:
        """Run the compiled code, write back its changes, and return its result.

        Args:
            arrays, numbers, generators, holders: the inputs of the call.
            accept: called before the first change or other effect. All that can fail is done by then.

        Raises:
            DiscardedCall: no argument has been changed, and no random number drawn.
            LongCallError: likewise.
        """
        if not self._draws.streams:
            return self._run(arrays, numbers, holders, None, accept)
        with self._draws.draw_call(generators) as streams:
            return self._run(arrays, numbers, holders, streams, accept)

    def _run(
        self,
        arrays: Sequence[Any],
        numbers: Sequence[Any],
        holders: Sequence[Any],
        streams: StreamsOfCall | None,
        accept: Callable[[], None],
    ) -> Any:
        on_tensors = not new_arrays_on_host() or any(is_array(a) or type(a) in raw for a in arrays)
        may_borrow = self._lends and not on_tensors
        copies = private_copies(arrays, self.written_places)
        inputs = [
            input_of(self._open_arrays.pad(k, array) if k in self._open_arrays else array, may_borrow)
            for k, array in enumerate(copies.get(k, array) for k, array in enumerate(arrays))
        ]
        inputs += [as_tensor(numbers[k]) for k in self.inputs]
        has_alternative = self.may_run_on_host and config.jit != "strict"

        def call() -> Sequence[tf.Tensor]:
            return self._supervision.run(inputs, arrays, has_alternative)

        while True:
            effects: list[Effect] = []
            if self.prints:
                outputs, effects = self._output.collect(call)
            else:
                outputs = call()
            if not (self._may_fail and outputs[-1].numpy()):
                break
            if streams is None or not streams.call_again(outputs[self._states]):
                raise DiscardedCall
        if self._log is not None:
            effects = self._log.effects([output.numpy() for output in outputs[self._log_outputs]])
        last = self._count
        bases: dict[int, Any] = {}
        # Results are made before anything is written: an output may be an input with an array's borrowed
        # memory.
        results = [
            rebuild_result(
                spec, arrays, inputs, outputs, bases, on_tensors, self._open_arrays, self._zero_copy
            )
            for spec in self._results
        ]
        values = list(outputs[last - len(self.written_places) : last])
        for place, k in enumerate(self.written_places):
            if k in self._open_arrays:
                values[place] = self._open_arrays.crop(values[place], arrays[k])
        before = [copies.get(k) for k in self.written_places]
        write_arrays = prepare_writes([arrays[k] for k in self.written_places], values, before)
        result, change_objects = self._rebuild(results), None
        if not self.is_plain:
            result, change_objects = prepare_changes(result, holders)
        accept()
        if streams is not None:
            streams.accept(outputs[self._states])
        perform(effects, holders)
        write_arrays()
        if change_objects is not None:
            change_objects()
        if self.how == "xla":
            counts.compiled += 1
        else:
            counts.graph += 1
        return result
