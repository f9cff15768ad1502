"""One signature of a jitted function, compiled: tracing the function, calling the code, and writing back
changes.
"""

from __future__ import annotations

import copy
import functools
import types
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from np2tf.arrays.array.layout import order_of_memory
from np2tf.arrays.array.ndarray import array_over, is_array, scalar, storage_of, tensor_scalar, weak_scalar
from np2tf.arrays.dispatch.placement import new_arrays_on_host
from np2tf.arrays.front.flags import current_mode, promotion_scope
from np2tf.arrays.front.residency import device_kind
from np2tf.arrays.front.tensorflow_loading import first_compilation_contexts
from np2tf.arrays.operands.conversion import as_tensor
from np2tf.arrays.tensors.storage import Storage, as_graph_inputs, staging_scope
from np2tf.arrays.tensors.symbolic_integers import SymInt
from np2tf.arrays.tensors.trace import Shortcut
from np2tf.core.counts import counts
from np2tf.core.errors import (
    AliasingError,
    RecursionLimitError,
    StagingError,
    TextTypeError,
    UnrollingError,
    ValueNeededError,
)
from np2tf.core.late import not_collecting
from np2tf.core.settings import config
from np2tf.staging.compile.open_arrays import OpenArrays
from np2tf.staging.compile.results import Outputs, collect_outputs, rebuild_result
from np2tf.staging.process.boundary import raw
from np2tf.staging.process.ending import ending
from np2tf.staging.random.streams import Draws, StreamsOfCall
from np2tf.staging.tiers.call_context import is_recording
from np2tf.staging.trace.fixed_arrays import FixedArrays
from np2tf.staging.trace.operations import (
    ProgramFrames,
    TraceLimit,
    limited,
    table_of_operations,
)
from np2tf.staging.trace.trace import StagedLoops, Trace
from np2tf.staging.trace.write_back import prepare_changes, prepare_writes, private_copies
from np2tf.staging.values.output import Effect, Output, perform
from np2tf.staging.xla.calls import ConcreteCall, ZeroCopyResults, input_of
from np2tf.staging.xla.compiler_options import set_options
from np2tf.staging.xla.compiling import Compiling
from np2tf.staging.xla.graph_files import LoadedFunction
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


@dataclass(frozen=True)
class Task:
    """What is traced for one signature, besides the function and its arrays, and how.

    Attributes:
        numbers: the numbers, which are constants except the numbers in `inputs`.
        inputs: the places of the numbers that are inputs.
        fixed: the places of arrays that are constants.
        bounds: the least and the greatest value of inputs that are natural numbers.
        open_arrays: the arrays whose lengths are inputs.
        handles: whether the code handles exceptions, so that it must not miss any.
        deadline: the time, by `time.monotonic`, at which tracing is given up.
        may_run_on_host: whether the host may run a call that takes long.
        promotion: the rules by which arrays are promoted.
        assumes: whether the code may rely on assumptions about the data.
        buffers: whether XLA's code gets random bits, and does not make them itself.
        gradients: whether a tape may ask for its gradients, so that elements outside the valid part are
            computed from their neighbours' values only.
    """

    numbers: Sequence[Any]
    inputs: tuple[int, ...]
    fixed: frozenset[int]
    bounds: Mapping[int, tuple[int, int]]
    open_arrays: OpenArrays
    handles: bool
    generators: Sequence[Any]
    deadline: float | None
    may_run_on_host: bool
    promotion: str = field(default_factory=current_mode)
    assumes: bool = True
    buffers: bool = True
    gradients: bool = field(default_factory=is_recording)

    def specs(self, arrays: Sequence[Any]) -> list[tf.TensorSpec]:
        """Return the forms of the inputs."""
        shapes = [self.open_arrays.static_shape(k, array.shape) for k, array in enumerate(arrays)]
        specs = [
            tf.TensorSpec(shape, tf.as_dtype(array.dtype))
            for shape, array in zip(shapes, arrays, strict=True)
        ]
        return specs + [tf.TensorSpec((), as_tensor(self.numbers[k]).dtype) for k in self.inputs]

    def stage_array(self, k: int, array: Any, storage: Storage, numbers: Sequence[Any], trace: Trace) -> Any:
        """Return an array as the staged function sees it."""
        if isinstance(array, tf.Tensor):
            return storage.value
        result = tensor_scalar(storage.value) if type(array) is scalar else array_over(storage)
        if k in self.open_arrays:
            result = self.open_arrays.part(k, result, numbers)
        trace.add_input(array, result)
        return result

    def stage_number(self, k: int, tensors: Sequence[tf.Tensor]) -> Any:
        """Return a number as the staged function sees it."""
        number = self.numbers[k]
        if k not in self.inputs:
            return number
        tensor = tensors[self.inputs.index(k)]
        if isinstance(number, np.generic):
            return tensor_scalar(tensor)
        if type(number) is not int:
            return weak_scalar(tensor, type(number))
        return weak_scalar(tensor, int, SymInt.fresh(tensor, *self.bounds.get(k, ())))


class LoadedProgram(NamedTuple):
    """A trace of another process.

    Attributes:
        loops: for each staged loop "xla" or "graph".
        has_assumed: whether it relies on assumptions about the data.
        op_count: the number of ops in the graph.
    """

    function: LoadedFunction
    outputs: Outputs
    loops: list[str]
    has_assumed: bool
    op_count: int


class Program:
    """The graph of one trace, and its calls.

    Args:
        xla: whether XLA compiles the graph.
        compile_loops: whether XLA may compile loops inside a graph.
        uncompiled: the code of loops that it should not compile.
    """

    function: Any
    draws: Draws
    outputs: Outputs

    def __init__(
        self, task: Task, xla: bool, compile_loops: bool = False, uncompiled: Collection[types.CodeType] = ()
    ) -> None:
        self._task, self._xla = task, xla
        self._compile_loops, self.uncompiled = compile_loops, frozenset(uncompiled)
        self.loops = StagedLoops()
        self._effects = Output()

    def trace(self, body: Body, arrays: Sequence[Any]) -> Program:
        """Trace the function, and return self."""
        try:
            self._trace(body, arrays, exact_types=False)
        except TextTypeError:
            self._trace(body, arrays, exact_types=True)
        return self

    def _trace(self, body: Body, arrays: Sequence[Any], exact_types: bool) -> None:
        task, xla = self._task, self._xla
        self.loops = StagedLoops(self._compile_loops, set(self.uncompiled), exact_types)

        def run(*tensors: tf.Tensor) -> list[tf.Tensor]:
            trace = Trace(xla, self.loops)
            trace.gaps.is_allowed, trace.assumptions.is_allowed = not task.gradients, task.assumes
            self.gaps, self.assumptions = trace.gaps, trace.assumptions
            trace.may_call_numpy = trace.device == "cpu"
            values = [tf.constant(array) if k in task.fixed else tensors[k] for k, array in enumerate(arrays)]
            exceptions = {k for k in range(len(arrays)) if k in task.fixed or k in task.open_arrays}
            trace.inputs.need = FixedArrays(arrays, tensors, exceptions).need
            storages = [Storage(value) for value in values]
            for storage, array in zip(storages, arrays, strict=True):
                storage.argument = True
                storage.order = order_of_memory(array)
            trace.effects.output, trace.handles = self._effects, task.handles
            trace.draws = self.draws = Draws(task.generators, xla and task.buffers)
            numbers = [task.stage_number(k, tensors[len(arrays) :]) for k in range(len(task.numbers))]
            staged_arrays = [
                task.stage_array(k, array, storages[k], numbers, trace) for k, array in enumerate(arrays)
            ]
            with promotion_scope(task.promotion), staging_scope(trace) as root:
                trace.root = root
                self.draws.begin(root)
                result = body(staged_arrays, numbers)
                if any(storage.is_poisoned for storage in storages):
                    raise AliasingError(
                        "an argument may have been written under a name that a compiled loop or branch chose",
                    )
                trace.shown_text.check()
                written_places = [k for k, storage in enumerate(storages) if storage in root.writes]
                if not task.fixed.isdisjoint(written_places):
                    raise ValueNeededError("the value is needed of an array that the code changes")
                self.outputs, values = collect_outputs(result, storages, written_places, trace, self.draws)
                return values

        self._polymorphic = tf.function(run, jit_compile=xla or None, autograph=False)
        self._specs = task.specs(arrays)
        with (
            not_collecting(),
            table_of_operations(),
            ProgramFrames(),
            limited(TraceLimit(task.deadline)),
            as_graph_inputs([storage_of(array) for array in arrays if is_array(array)]),
        ):
            self.function = self._polymorphic.get_concrete_function(*self._specs)
        self._prepare_calls(self.function.graph.external_captures)

    @classmethod
    def of_loaded(cls, task: Task, xla: bool, loaded: LoadedProgram) -> Program:
        """Return the program of a trace of another process."""
        program = cls(task, xla)
        program.function, program.outputs, program.draws = loaded.function, loaded.outputs, Draws((), False)
        program.loops.how, program.op_count = loaded.loops, loaded.op_count
        program.assumptions = Shortcut(is_allowed=True, is_taken=loaded.has_assumed)
        # Where a tape records, the function is traced in this process.
        program.gaps = Shortcut(is_allowed=True, is_taken=True)
        program._prepare_calls(loaded.function.external_captures)
        return program

    def _prepare_calls(self, captures: Sequence[tf.Tensor]) -> None:
        self._zero_copy = ZeroCopyResults() if self._xla and device_kind() == "cpu" else None
        has_callbacks = not self._xla and (self.outputs.prints or bool(self.draws.streams))
        self._supervision = Supervision(
            ConcreteCall(self.function, captures, self.draws.values_of_call), runs_ahead=not has_callbacks
        )

    @functools.cached_property
    def op_count(self) -> int:
        """The number of ops in the graph, including the ops in loops, branches and functions."""
        definition = self.function.graph.as_graph_def()
        return len(definition.node) + sum(len(function.node_def) for function in definition.library.function)

    def reason_against_xla(self) -> str:
        """Return why the traced function should stay a graph, in words; empty if it should not."""
        # XLA on CPUs corrupts memory where a function returns two arrays of shapes that depend on data.
        if not all(output.shape.is_fully_defined() for output in self.function.outputs):
            return "the shape of a result depends on data"
        ops = ops_of(self.function.graph)
        return "" if xla_pays(ops) else f"it needs {', '.join(sorted(ops_against_xla(ops)))}"

    @property
    def may_compile_beside(self) -> bool:
        """True if XLA may make the code in a thread beside the program."""
        is_quiet = not first_compilation_contexts
        return self._xla and ending.is_ours and is_quiet and device_kind() == "cpu" and not self.draws.streams

    def compile_beside(self, arrays: Sequence[Any], numbers: Sequence[Any]) -> Compiling:
        """Let XLA compile the graph for these arguments, in a thread."""
        open_arrays = self._task.open_arrays
        inputs = [
            input_of(open_arrays.pad(k, array) if k in open_arrays else array, may_borrow=False)
            for k, array in enumerate(arrays)
        ]
        inputs += [as_tensor(numbers[k]) for k in self._task.inputs]
        return Compiling(self._supervision.call, inputs)

    @property
    def compile_seconds(self) -> float:
        """The seconds in which XLA has compiled the code apart from a call."""
        return self._supervision.compile_seconds

    def hlo(self, stage: str) -> str:
        """Return XLA's code of a stage."""
        return str(self._polymorphic.experimental_get_compiler_ir(*self._specs)(stage=stage))

    def run(
        self,
        arrays: Sequence[Any],
        numbers: Sequence[Any],
        holders: Sequence[Any],
        streams: StreamsOfCall | None,
        accept: Callable[[], None],
    ) -> Any:
        """Run the graph, write back its changes, and return its result, as `ConcreteFunction` describes."""
        task, form = self._task, self.outputs
        open_arrays, written_places = task.open_arrays, form.written_places
        on_tensors = not new_arrays_on_host() or any(is_array(a) or type(a) in raw for a in arrays)
        may_borrow = form.lends and not on_tensors
        copies = private_copies(arrays, written_places)
        inputs = [
            input_of(open_arrays.pad(k, array) if k in open_arrays else array, may_borrow)
            for k, array in enumerate(copies.get(k, array) for k, array in enumerate(arrays))
        ]
        inputs += [as_tensor(numbers[k]) for k in task.inputs]
        has_alternative = task.may_run_on_host and config.jit != "strict"

        def call() -> Sequence[tf.Tensor]:
            return self._supervision.run(inputs, arrays, has_alternative)

        while True:
            effects: list[Effect] = []
            if form.prints:
                outputs, effects = self._effects.collect(call)
            else:
                outputs = call()
            if not (form.may_fail and outputs[-1].numpy()):
                break
            if streams is None or not streams.call_again(outputs[form.states]):
                raise DiscardedCall
        if form.log is not None:
            effects = form.log.effects([output.numpy() for output in outputs[form.log_values]])
        bases: dict[int, Any] = {}
        # Results are made before anything is written: an output may be an input with an array's borrowed
        # memory.
        results = [
            rebuild_result(spec, arrays, inputs, outputs, bases, on_tensors, open_arrays, self._zero_copy)
            for spec in form.results
        ]
        values = list(outputs[form.count - len(written_places) : form.count])
        for place, k in enumerate(written_places):
            if k in open_arrays:
                values[place] = open_arrays.crop(values[place], arrays[k])
        before = [copies.get(k) for k in written_places]
        write_arrays = prepare_writes([arrays[k] for k in written_places], values, before)
        result, change_objects = form.rebuild(results), None
        if not form.is_plain:
            result, change_objects = prepare_changes(result, holders)
        accept()
        if streams is not None:
            streams.accept(outputs[form.states])
        perform(effects, holders)
        write_arrays()
        if change_objects is not None:
            change_objects()
        return result


class ConcreteFunction:
    """A traced function for one signature.

    Attributes:
        how: "xla" if it is one XLA program, "graph" otherwise.
        is_warm: whether it has run before.
        is_loaded: whether it was traced in another process.
        program: the graph, and its calls.
        not_xla, not_xla_code: the reason why it is not one XLA program, if it is a graph, and the code of the
            reason, if it has one.
    """

    def __init__(self, body: Body, arrays: Sequence[Any], task: Task) -> None:
        self._task = task
        self.is_warm = self.is_loaded = False
        self._compiling: Compiling | None = None
        self._trace_for_device(body, arrays)

    @classmethod
    def of_loaded(
        cls, task: Task, how: str, not_xla: str, not_xla_code: str, program: LoadedProgram
    ) -> ConcreteFunction:
        """Return the code of a trace of another process, for the signature that the task describes."""
        new = cls.__new__(cls)
        new._task, new.is_warm, new.is_loaded = task, False, True
        new._compiling = None
        new.how, new.not_xla, new.not_xla_code = how, not_xla, not_xla_code
        new.program = Program.of_loaded(task, how == "xla", program)
        return new

    def _trace_for_device(self, body: Body, arrays: Sequence[Any]) -> None:
        """Trace for XLA, and if that is impossible or does not pay, as a graph."""
        self.how, self.not_xla, self.not_xla_code = "xla", "", ""
        self._task = replace(self._task, open_arrays=self._task.open_arrays.for_trace(is_padded=True))
        self.program = Program(self._task, xla=not self._task.open_arrays.has_rows)
        if self._task.open_arrays.has_rows:
            self.how, self.not_xla = "graph", "the lengths of rows are inputs"
            self.program.trace(body, arrays)
            return
        try:
            self._task.open_arrays.check_bounds()
            self.not_xla = self.program.trace(body, arrays).reason_against_xla()
        except (RecursionLimitError, UnrollingError):
            raise  # a graph would be as deep, or as large
        except StagingError as error:
            self.not_xla, self.not_xla_code = error.reason, error.code
        if self.not_xla:
            self.how = "graph"
            staged = self.program.loops.graphs.items()
            uncompiled = [code for code, graphs in staged if not xla_pays(ops_of(*graphs))]
            self._task = replace(self._task, open_arrays=self._task.open_arrays.for_trace(is_padded=False))
            self.program = Program(self._task, False, compile_loops=True, uncompiled=uncompiled)
            self.program.trace(body, arrays)
        self.program.loops.graphs.clear()

    def compile_beside(self, arrays: Sequence[Any], numbers: Sequence[Any]) -> bool:
        """Return whether XLA is making the code in a thread, which begins now if it may."""
        if self._compiling is None and not self.is_warm and self.program.may_compile_beside:
            self._compiling = self.program.compile_beside(arrays, numbers)
        return self.is_compiling

    @property
    def is_compiling(self) -> bool:
        """True while XLA makes the code in a thread; a call would wait for it."""
        return self._compiling is not None and not self._compiling.is_done

    def retrace(self, body: Body, arrays: Sequence[Any], **choice: Any) -> ConcreteFunction:
        """Return the code of another trace, with one other choice; other threads may be running this code.

        Without "xla", which has refused to compile the graph, it is a graph; the other choices are those of
        the task.
        """
        new = copy.copy(self)
        new._compiling = None
        new.is_loaded = False
        is_refused = choice.pop("xla", None) is not None
        open_arrays = self._task.open_arrays.for_trace(self._task.open_arrays.is_padded)
        new._task = replace(self._task, open_arrays=open_arrays, **choice)
        if "assumes" in choice:
            new._trace_for_device(body, arrays)
            return new
        if "gradients" in choice:
            new._task = replace(new._task, deadline=None)
        if not is_refused:
            is_xla = self.how == "xla"
            program = Program(new._task, is_xla, not is_xla, self.program.uncompiled)
            with suppress(StagingError):
                new.program = program.trace(body, arrays)
                return new
        new.program = Program(new._task, xla=False).trace(body, arrays)
        new.how, new.not_xla, new.not_xla_code = "graph", "XLA has refused the graph", ""
        return new

    @property
    def inputs(self) -> tuple[int, ...]:
        """The places of the numbers that are inputs; other numbers are constants of the code."""
        return self._task.inputs

    @property
    def is_bounded(self) -> bool:
        """True if the code relies on bounds of numbers that are lengths of arrays."""
        return bool(self._task.bounds)

    @property
    def loops(self) -> list[str]:
        """For each staged loop "xla" or "graph"."""
        return self.program.loops.how

    @property
    def compile_seconds(self) -> float:
        """The seconds in which XLA has compiled the code apart from a call; 0.0 if it compiled in a call."""
        return self.program.compile_seconds

    @property
    def has_assumed(self) -> bool:
        """True if it relies on assumptions about the data."""
        return self.program.assumptions.is_taken

    @property
    def hides_gradients(self) -> bool:
        """True if a tape would get other gradients from it than NumPy's meaning has."""
        return self.program.gaps.is_taken

    @property
    def changes_arguments(self) -> bool:
        """True if a call may change, or return, arrays, lists, dicts or objects of the caller."""
        return bool(self.program.outputs.written_places) or not self.program.outputs.is_plain

    @property
    def graph(self) -> tf.Graph:
        """The traced graph."""
        return self.program.function.graph

    @property
    def op_count(self) -> int:
        """The number of ops in the graph, including the ops in loops, branches and functions."""
        return self.program.op_count

    def hlo(self, optimized: bool = False) -> str:
        """Return XLA's input, or its optimized code, as text; empty for a graph that is not one XLA
        program.
        """
        return self.program.hlo("optimized_hlo" if optimized else "hlo") if self.how == "xla" else ""

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
            accept: called before the first change or other effect. All that can fail is done by then.

        Raises:
            DiscardedCall: no argument has been changed, and no random number drawn.
            LongCallError: likewise.
        """
        program = self.program
        if program.draws.streams:
            with program.draws.draw_call(generators) as streams:
                result = program.run(arrays, numbers, holders, streams, accept)
        else:
            result = program.run(arrays, numbers, holders, None, accept)
        if self.how == "xla":
            counts.compiled += 1
        else:
            counts.graph += 1
        return result
