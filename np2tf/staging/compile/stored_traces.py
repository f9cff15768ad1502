"""Traces that outlive the process: stored under a key of all that they depend on, and loaded by the next.

An entry of the cache holds the traces of the calls that differ only in numbers, and what tracing them has
found out: which numbers are inputs, and which arrays are constants. Its key (`stable_keys`) changes with the
code of the function and of everything that it may call, with the values that they read by name, the kinds of
the arguments, the settings, the versions and the machine. A trace that has effects besides computing, draws
random numbers, or refers to objects of this process is not stored.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from np2tf.arrays.operands.path_dependent import PathDependentKind
from np2tf.core import cache as disk
from np2tf.core.faults import note_fault
from np2tf.staging.compile.concrete_function import ConcreteFunction, LoadedProgram, Task
from np2tf.staging.compile.preparation import PreparedCall
from np2tf.staging.compile.results import Outputs, ResultSpec
from np2tf.staging.compile.specializations import SpecializationCache
from np2tf.staging.compile.stable_keys import Description, NoStableKeyError, digest, stable_key
from np2tf.staging.trace.write_back import ArgumentRef, NewItems, Outcome
from np2tf.staging.xla.graph_files import GraphFile, LoadedFunction, NotStorableError
from np2tf.staging.xla.stable_names import note_names

#: The traces of an entry: the latest are stored.
_MOST_TRACES = 4
#: What a specialization cache has found out.
_FOUND = ("varying_numbers", "integers", "pinned_numbers", "bounded_inputs", "fixed")


class StoredTraces:
    """The stored traces of the calls that differ only in numbers.

    Args:
        key: the key of everything else that the traces depend on.
    """

    def __init__(self, files: disk.Cache, key: str) -> None:
        self._files, self._key = files, key

    @classmethod
    def of(cls, code: types.CodeType, call: PreparedCall, cache: SpecializationCache) -> StoredTraces | None:
        """Return the stored traces of calls like this of the function with this code; None if they are not
        stored. The cache gets to know what earlier processes have found out.
        """
        try:
            files = disk.traces()
            key = None if files is None else stable_key(code, call)
            if files is None or key is None:
                return None
            stored = cls(files, key)
            stored._adopt(cache)
        except Exception as error:
            note_fault(error, code)
            return None
        return stored

    def key_of(self, numbers: Any) -> str | None:
        """Return the key of the trace for these numbers; None if it has none."""
        try:
            return digest((self._key, Description().of(numbers)))
        except NoStableKeyError:
            return None

    def _read(self) -> dict[str, Any]:
        entry = self._files.load(self._key)
        return entry if isinstance(entry, dict) else {"found": {}, "traces": {}}

    def _adopt(self, cache: SpecializationCache) -> None:
        if cache.functions:
            return
        for name, places in self._read()["found"].items():
            getattr(cache, name).update(places)

    def load(self, key: str, task: Task) -> ConcreteFunction | None:
        """Return the stored code for these numbers; None if there is none."""
        try:
            record = self._read()["traces"].get(key)
            if record is None:
                return None
            # A trace after this, if anything fails, has other names than the functions that are loaded.
            note_names(key)
            how, not_xla, not_xla_code, graph, outputs, loops, has_assumed, op_count = record
            function = LoadedFunction(GraphFile(*graph))
            program = LoadedProgram(function, _outputs_of(outputs), list(loops), has_assumed, op_count)
            return ConcreteFunction.of_loaded(task, how, not_xla, not_xla_code, program)
        except Exception as error:
            note_fault(error)
            return None

    def store(self, key: str, function: ConcreteFunction, cache: SpecializationCache) -> None:
        """Store new code, unless it cannot be stored."""
        try:
            self._store(key, _record_of(function), cache)
        except NotStorableError:
            pass
        except Exception as error:
            note_fault(error)

    def _store(self, key: str, record: tuple[Any, ...], cache: SpecializationCache) -> None:
        entry = self._read()
        traces = {name: trace for name, trace in entry["traces"].items() if name != key}
        latest = [*traces.items(), (key, record)][-_MOST_TRACES:]
        found = {name: tuple(sorted(getattr(cache, name))) for name in _FOUND}
        self._files.store(self._key, {"found": found, "traces": dict(latest)})


def _record_of(function: ConcreteFunction) -> tuple[Any, ...]:
    """Return a traced function as plain data.

    Raises:
        NotStorableError: if it means something in this process only.
    """
    program = function.program
    if program.draws.streams or program.outputs.prints or program.outputs.log is not None:
        raise NotStorableError("it has effects")
    return (
        *(function.how, function.not_xla, function.not_xla_code),
        tuple(GraphFile.of(program.function)),
        _data_of(program.outputs),
        tuple(function.loops),
        function.has_assumed,
        function.op_count,
    )


# -- outputs -------------------------------------------------------------------------------------------------
# What the outputs of a graph are, as plain data.


class _Leaf(NamedTuple):
    """Stands for a leaf of the result."""

    place: int


#: Named tuples in results.
_TUPLES: dict[str, Any] = {kind.__name__: kind for kind in (Outcome, ArgumentRef, NewItems)}
#: Python's types of numbers.
_WEAK: dict[str, type] = {kind.__name__: kind for kind in (bool, int, float, complex)}
#: Constants that are results.
_CONSTANTS = (type(None), bool, int, float, complex, str, bytes)


def _data_of(outputs: Outputs) -> tuple[Any, ...]:
    leaves = [_Leaf(place) for place in range(len(outputs.results))]
    return (
        _shape_of(outputs.rebuild(leaves)),
        tuple(map(_data_of_result, outputs.results)),
        outputs.is_plain,
        tuple(outputs.written_places),
        outputs.count,
        (outputs.log_values.start, outputs.log_values.stop),
        (outputs.states.start, outputs.states.stop),
        outputs.may_fail,
        outputs.lends,
    )


def _outputs_of(data: Sequence[Any]) -> Outputs:
    shape, results, is_plain, written_places, count, log_values, states, may_fail, lends = data
    return Outputs(
        rebuild=_rebuild(shape),
        results=list(map(_result_of, results)),
        is_plain=is_plain,
        written_places=list(written_places),
        count=count,
        prints=False,
        log=None,
        log_values=slice(*log_values),
        states=slice(*states),
        may_fail=may_fail,
        lends=lends,
    )


def _data_of_result(spec: ResultSpec) -> tuple[Any, ...]:
    constant = spec.constant
    if spec.path or spec.kind in ("tensor", "text"):
        raise NotStorableError("a result refers to objects of the trace")
    if spec.kind == "number" and constant is not None:
        constant = tuple(map(_name_of_number, constant.kinds))
    elif spec.kind != "choice" and type(constant) not in _CONSTANTS:
        raise NotStorableError("a result is an object of this process")
    weak = None if spec.weak is None else _name_of_number(spec.weak)
    return spec.kind, spec.place, constant, spec.order, weak, spec.ends, spec.is_copied


def _result_of(data: Sequence[Any]) -> ResultSpec:
    kind, place, constant, order, weak, ends, is_copied = data
    if kind == "number" and constant is not None:
        constant = PathDependentKind(tuple(map(_number_type, constant)))
    weak_type = None if weak is None else _number_type(weak)
    return ResultSpec(kind, place, constant, (), order, weak_type, ends, is_copied)


def _name_of_number(kind: type) -> str:
    if _WEAK.get(kind.__name__) is not kind and getattr(np, kind.__name__, None) is not kind:
        raise NotStorableError("a number has a type of the program")
    return kind.__name__ if kind in _WEAK.values() else f"np.{kind.__name__}"


def _number_type(name: str) -> type:
    return _WEAK[name] if name in _WEAK else getattr(np, name.removeprefix("np."))  # type: ignore[no-any-return]


def _shape_of(value: Any) -> tuple[Any, ...]:
    """Return the structure of a result as plain data."""
    kind = type(value)
    if kind is _Leaf:
        return "leaf", value.place
    if kind in (tuple, list):
        return kind.__name__, tuple(map(_shape_of, value))
    if kind in _TUPLES.values():
        return kind.__name__, tuple(map(_shape_of, value))
    if kind is dict and all(type(key) in _CONSTANTS for key in value):
        return "dict", tuple(value), tuple(map(_shape_of, value.values()))
    if kind in _CONSTANTS:
        return "constant", value
    raise NotStorableError("a result has objects of the program")


def _rebuild(shape: Sequence[Any]) -> Callable[[Sequence[Any]], Any]:
    """Return a function that makes a result from its leaves."""

    def of(part: Sequence[Any], leaves: Sequence[Any]) -> Any:
        kind, *rest = part
        if kind == "leaf":
            return leaves[rest[0]]
        if kind == "constant":
            return rest[0]
        items = [of(item, leaves) for item in rest[-1]]
        if kind == "dict":
            return dict(zip(rest[0], items, strict=True))
        return _TUPLES[kind](*items) if kind in _TUPLES else tuple(items) if kind == "tuple" else items

    return lambda leaves: of(shape, leaves)
