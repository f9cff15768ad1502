"""Takes calls of a function apart, and knows the values that the function reads by name."""

from __future__ import annotations

import threading
from collections.abc import Collection
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

from np2tf.config import config
from np2tf.runtime.arguments.captures import Dependencies, current, functions_among
from np2tf.runtime.arguments.closures_in_traces import reads_no_further_values
from np2tf.runtime.arguments.flattening import take_arguments, take_dependencies
from np2tf.runtime.arguments.shared_memory import share_memory
from np2tf.runtime.arguments.signature import Signature
from np2tf.runtime.arguments.unchanged_captures import guard_captures
from np2tf.runtime.callees.callees import NewCallee
from np2tf.runtime.compilation.prepared_call import PreparedCall
from np2tf.runtime.effects.appends import ListIsRead
from np2tf.runtime.random.states import bit_generator, global_state
from np2tf.staging import (
    ArgumentError,
    ReboundNameError,
    SharedMemoryError,
    ValueNeededError,
)
from np2tf.tnp._front.promotion_mode import current_mode, uses_numpy_rules
from np2tf.tnp._front.rebound_names import rebound

#: Functions that tell the stand-in for a list of numbers from a list.
_CLASS_READERS = frozenset({"type", "hasattr", "getattr", "dir", "attrgetter", "methodcaller"})


class CallPreparation:
    """The preparation of calls of one function.

    Args:
        function: the function.
        lock: the lock under which the function's code is made.
    """

    def __init__(self, function: Any, lock: threading.RLock) -> None:
        self._function, self._lock = function, lock
        self._dependencies: Dependencies | None = None
        self._functions: list[Any] = []

    def prepare(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], changing_places: Collection[int] = ()
    ) -> PreparedCall:
        """Take a call apart.

        Args:
            args, kwargs: the arguments.
            changing_places: the places of arguments that differ in the next call, if they are numbers.

        Raises:
            StagingError: if calls with these arguments cannot be compiled.
        """
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
            signature.begin_arguments()
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
                raise ValueNeededError("type(x) is compared; isinstance(x, …) can be staged")
            if dependencies.hidden_setter:
                message = f"setting the attribute {dependencies.hidden_setter} does more than that"
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
            return PreparedCall(signature, args, kwargs, values, follows, changing_places, may_open_lists)

    @staticmethod
    def _follows(dependencies: Dependencies, signature: Signature, function: Any) -> bool:
        if dependencies.follows(function) or signature.follows(function):
            return True
        return reads_no_further_values(function) and any(
            source.makes_closure(function.__code__)
            for source in (dependencies, *signature.argument_dependencies)
        )

    def learn(self, discovery: NewCallee | ListIsRead) -> None:
        """Note a function with unknown dependencies, or a list that is read, which a trace has met."""
        with self._lock:
            assert self._dependencies is not None
            if isinstance(discovery, ListIsRead):
                self._dependencies.reads_list(discovery.attribute)
            else:
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
