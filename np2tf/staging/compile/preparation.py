"""One call made ready: taken apart, shared memory refused, names known, captures guarded, the body
to trace.
"""

from __future__ import annotations

import threading
import types
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from np2tf.arrays.array.ndarray import is_array, storage_of
from np2tf.arrays.front.flags import current_mode, uses_numpy_rules
from np2tf.arrays.front.namespace import rebound
from np2tf.arrays.front.numpy_functions import Function
from np2tf.arrays.tensors.storage import current_scope
from np2tf.core.errors import ArgumentError, ReboundNameError, SharedMemoryError, TraceAgain, ValueNeededError
from np2tf.core.settings import config
from np2tf.staging.callees.callees import NewCallee
from np2tf.staging.compile.open_arrays import Pattern
from np2tf.staging.control.unknown_lengths import of_unknown_lengths
from np2tf.staging.objects.user_objects import is_instance, wrapped_function
from np2tf.staging.random.states import bit_generator, global_state
from np2tf.staging.trace.captures import Dependencies, current, functions_among, guard_captures
from np2tf.staging.trace.signature import BY_IDENTITY, BY_VALUE, Signature, take_arguments, take_dependencies
from np2tf.staging.trace.trace import Surroundings, trace_of
from np2tf.staging.trace.traced_arguments import TracedArguments
from np2tf.staging.trace.write_back import is_plain
from np2tf.staging.values.ordered_effects import ListIsRead

# -- closures in traces --------------------------------------------------------------------------------------
# Closures that staged code makes while it is traced: `dense(w)` returns a function that reads w.
#
# Such a function is new in every trace. If its variables are arrays of the trace, constants and functions,
# and the code that makes it is known, it reads nothing that the code around it does not read.

#: Values that do not change. A function among them is checked when it is called.
_CONSTANTS = (int, float, complex, np.generic, Function, *BY_VALUE, *BY_IDENTITY)
#: The depth of the search in tuples.
_DEEPEST = 4


def reads_no_further_values(function: Any) -> bool:
    """Return whether the closure variables and defaults are arrays of this trace, or constants."""
    if type(function) is not types.FunctionType:
        return False
    values = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    try:
        values += [cell.cell_contents for cell in function.__closure__ or ()]
    except ValueError:  # a variable has no value yet
        return False
    return all(_is_known(value, _DEEPEST) for value in values)


def _is_known(value: Any, depth: int) -> bool:
    if is_array(value):
        scope, birth = current_scope(), storage_of(value).birth
        return scope is not None and birth is not None and birth.trace is scope.trace
    if isinstance(value, _CONSTANTS) or wrapped_function(value) is not None:
        return True
    return type(value) is tuple and depth > 0 and all(_is_known(item, depth - 1) for item in value)


# -- shared memory -------------------------------------------------------------------------------------------
# Tells whether arguments share memory, in a time that grows with their number and not with its square.

#: So many arrays are compared pair by pair, which costs less than sorting them.
_MOST_PAIRED = 8


def share_memory(arrays: Sequence[Any]) -> bool:
    """Return whether two different arrays among `arrays` may overlap."""
    if len(arrays) < 2:
        return False
    buffers = [a for a in arrays if isinstance(a, np.ndarray) and not is_array(a) and a.size]
    storages = [storage_of(a) for a in arrays if is_array(a)]
    if len({id(storage) for storage in storages}) < len(storages):
        return True
    pairs = combinations(buffers, 2) if len(buffers) <= _MOST_PAIRED else _neighbours(buffers)
    return any(_overlap(a, b) for a, b in pairs)


def _neighbours(buffers: Sequence[np.ndarray]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the pairs of arrays whose ranges of addresses overlap."""
    ranges = sorted((*_addresses(buffer), place) for place, buffer in enumerate(buffers))
    before: list[tuple[int, int]] = []
    for start, end, place in ranges:
        before = [(last, earlier) for last, earlier in before if last > start]
        for _, earlier in before:
            yield buffers[earlier], buffers[place]
        before.append((end, place))


def _addresses(buffer: np.ndarray) -> tuple[int, int]:
    """Return the first address of an array, and the address behind its last byte."""
    if buffer.flags.c_contiguous:
        start = buffer.__array_interface__["data"][0]
        return start, start + buffer.nbytes
    return np.lib.array_utils.byte_bounds(buffer)


def _overlap(a: np.ndarray, b: np.ndarray) -> bool:
    if not np.may_share_memory(a, b):
        return False
    try:
        return np.shares_memory(a, b, max_work=1000)  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True


# -- prepared call -------------------------------------------------------------------------------------------
# One prepared call of a jitted function: its signature, and the function that is traced for it.


@dataclass(eq=False)
class PreparedCall:
    """One prepared call.

    Attributes:
        captured_values: the values that the function reads as globals and closure variables.
        dependencies: the places of these values, and the functions that read them.
        follows: returns whether the names that another function reads are known.
        changing_places: the places of arguments that are inputs if they are numbers.
        may_open_lists: whether lists of numbers may be given to the code with lengths that vary.
        open_pattern: the axes of arrays whose lengths are inputs.
        is_accepted: whether the call has run as compiled code and its effects have begun, so that it must not
            be repeated.
    """

    signature: Signature
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    captured_values: Sequence[Any]
    dependencies: Dependencies
    follows: Callable[[Any], bool]
    changing_places: Collection[int]
    may_open_lists: bool
    open_pattern: Pattern = field(default_factory=dict)
    is_accepted: bool = False

    def accept(self) -> None:
        """Record that the effects of the call begin."""
        self.is_accepted = True

    def body(self, function: Callable[..., Any], unknown_lengths: bool = False) -> Callable[..., Any]:
        """Return the function to trace, which takes staged arrays and numbers. It returns an `Outcome` if it
        changes or returns the caller's lists, dicts or objects.
        """
        version = of_unknown_lengths(function) if unknown_lengths else function

        def run(arrays: Any, numbers: Any) -> Any:
            staged_arguments = TracedArguments(self.signature, arrays, numbers)
            args, kwargs = staged_arguments.of((self.args, self.kwargs))
            scope = current_scope()
            assert scope is not None
            # Objects that are read by name must not change, but one branch of a conditional may try to change
            # them.
            trace_of(scope).surroundings = Surroundings(
                self.follows,
                [*staged_arguments.instances, *filter(is_instance, self.captured_values)],
                self.signature.attributes_are_named,
                unknown_lengths,
            )
            outcome = staged_arguments.outcome(version(*args, **kwargs))
            return outcome.result if is_plain(outcome) else outcome

        return run


# -- call preparation ----------------------------------------------------------------------------------------
# Takes calls of a function apart, and knows the values that the function reads by name.

#: Functions that tell the stand-in for a list of numbers from a list.
_CLASS_READERS = frozenset({"type", "hasattr", "getattr", "dir", "attrgetter", "methodcaller"})


class CallPreparation:
    """The preparation of calls of one function.

    Args:
        lock: the lock under which the function's code is made.
    """

    def __init__(self, function: Any, lock: threading.RLock) -> None:
        self._function, self._lock = function, lock
        self._dependencies: Dependencies | None = None
        self._functions: list[Any] = []

    def prepare(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], changing_places: Collection[int] = ()
    ) -> PreparedCall:
        """Take a call apart, or raise StagingError if calls with these arguments cannot be compiled."""
        while True:
            dependencies = self._dependencies
            if dependencies is None:
                dependencies = self._dependencies = Dependencies(self._function)
                self._functions = functions_among(current(dependencies.captures))
            values = current(dependencies.captures)
            functions = functions_among(values)
            if self._functions != functions:
                # A helper function has been replaced, so the names that the new one reads matter from now on.
                self._dependencies = None
                continue
            attribute_names = None if dependencies.any_attribute else dependencies.names
            signature = Signature(
                attribute_names, dependencies.assigned_attributes, dependencies.appended_attributes
            )
            signature.parts += functions
            signature.parts.append((config.bounds, current_mode(), type(bit_generator(global_state()))))
            take_dependencies(values, signature)
            signature.holders.begin_arguments()
            try:
                take_arguments(args, kwargs, changing_places, signature)
            except ListIsRead as error:
                dependencies.reads_list(error.attribute)
                continue
            if not signature.classes <= dependencies.classes or not dependencies.knows(
                signature.argument_dependencies
            ):
                with self._lock:
                    dependencies.learn(signature.argument_dependencies)
                    dependencies.follow_classes(signature.classes)
                    self._functions = functions_among(current(dependencies.captures))
                continue
            if dependencies.compares_classes:
                raise ValueNeededError("type(x) is compared; isinstance(x, …) can be compiled")
            if dependencies.hidden_setter:
                message = f"setting the attribute {dependencies.hidden_setter} also does something else"
                raise ArgumentError(message)
            if rebound.words and not rebound.words.isdisjoint(dependencies.names):
                names = ", ".join(sorted(rebound.words & dependencies.names))
                raise ReboundNameError.of(names=names)
            if share_memory(signature.arrays):
                raise SharedMemoryError("two arguments share memory")
            follows = partial(self._follows, dependencies, signature)
            may_open_lists = (
                config.floats == "float64" and uses_numpy_rules() and self.names.isdisjoint(_CLASS_READERS)
            )
            return PreparedCall(
                signature, args, kwargs, values, dependencies, follows, changing_places, may_open_lists
            )

    @staticmethod
    def _follows(dependencies: Dependencies, signature: Signature, function: Any) -> bool:
        if dependencies.follows(function) or signature.follows(function):
            return True
        return reads_no_further_values(function) and any(
            source.makes_closure(function.__code__)
            for source in (dependencies, *signature.argument_dependencies)
        )

    def learn(self, discovery: TraceAgain) -> None:
        """Note a function with unknown dependencies, or a list that is read, which a trace has met."""
        with self._lock:
            assert self._dependencies is not None
            if isinstance(discovery, ListIsRead):
                self._dependencies.reads_list(discovery.attribute)
            elif isinstance(discovery, NewCallee):
                self._dependencies.follow(discovery.function)
            self._functions = functions_among(current(self._dependencies.captures))

    def guard_captures(self, call: PreparedCall) -> AbstractContextManager[None]:
        """Return a guard of the values that a call reads by name, for the time of a trace."""
        assert self._dependencies is not None
        captures = [*self._dependencies.captures, *call.signature.captures]
        return guard_captures(captures, call.signature.sets, partial(self._changed_names, call))

    def _changed_names(self, call: PreparedCall) -> frozenset[str]:
        """Return the names that a trace may have bound; by its end all its callees are known."""
        assert self._dependencies is not None
        sources = (self._dependencies, *call.signature.argument_dependencies)
        return frozenset().union(*(dependencies.changed_names for dependencies in sources))

    @property
    def names(self) -> set[str]:
        """The names that the function and its callees read."""
        return self._dependencies.names if self._dependencies is not None else set()

    @property
    def handles_exceptions(self) -> bool:
        """True if the function or a callee handles exceptions."""
        return self._dependencies is not None and self._dependencies.handles_exceptions
