"""Finds loops that wait for another thread, a handler of a signal, or another process.

`while not stop[0]` does not end by itself: the loop does not write `stop`. Compiled code reads an array when
the call begins, so it would never end. Such a loop stays on the host.
"""

from __future__ import annotations

import dis
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from np2tf.staging import PollingError

_CONJUNCTIONS = frozenset({"LogicalAnd"})
_PASSED_ON = frozenset({"Identity", "Reshape", "Squeeze"})


def reads_no_variable(test: Callable[..., Any]) -> bool:
    """Return whether the test of a loop reads none of the loop's variables, which are its parameters."""
    code = getattr(test, "__code__", None)
    if code is None:
        return False
    parameters = {*code.co_varnames[: code.co_argcount]}
    read = {
        name
        for instruction in dis.get_instructions(code)
        if instruction.opname.startswith("LOAD")
        for name in (instruction.argval if type(instruction.argval) is tuple else (instruction.argval,))
    }
    return not parameters & ({*code.co_cellvars} | read)


class LoopGraphs:
    """The test and an iteration of a loop, as they are in their graphs.

    Attributes:
        test: the variables that the test takes, and its outcome.
        body: the variables that an iteration takes, and their next values.
    """

    def __init__(self) -> None:
        self.test: tuple[Sequence[tf.Tensor], tf.Tensor] | None = None
        self.body: tuple[Sequence[tf.Tensor], Sequence[tf.Tensor]] | None = None

    def check(self, arguments: set[int]) -> None:
        """Refuse a loop whose test, or a part of it, reads only what the loop does not change.

        A part of the test counts only if it reads an array that the caller has given.

        Args:
            arguments: the ids of the tensors of the caller's arrays.

        Raises:
            PollingError: if the loop waits for others.
        """
        assert self.test is not None
        assert self.body is not None
        sources = [_Sources(self.body[0], [value]) for value in self.body[1]]
        settled = {k for k, value in enumerate(self.body[1]) if value is self.body[0][k]}
        while new := {
            k
            for k, found in enumerate(sources)
            if k not in settled and not found.varies and found.variables <= settled
        }:
            settled |= new
        variables, outcome = self.test
        parts = [_Sources(variables, [part]) for part in _conjuncts(outcome)]
        waiting = [part for part in parts if not part.varies and part.variables <= settled]
        reads_argument = any(
            found.reads(arguments)
            for part in waiting
            for found in (part, *(sources[k] for k in part.variables))
        )
        if waiting and (len(waiting) == len(parts) or reads_argument):
            raise PollingError("the loop ends when another thread or process changes what its test reads")


class _Sources:
    """What tensors of a loop's graph are computed from.

    Attributes:
        variables: the places of the loop's variables.
        varies: whether an operation may give another value each time.
    """

    def __init__(self, variables: Sequence[tf.Tensor], tensors: Sequence[tf.Tensor]) -> None:
        places = {id(variable): k for k, variable in enumerate(variables)}
        self.variables: set[int] = set()
        self.varies = False
        self._captured: list[tf.Tensor] = []
        seen: set[int] = set()
        left = list(tensors)
        while left:
            tensor = left.pop()
            if id(tensor) in seen:
                continue
            seen.add(id(tensor))
            if id(tensor) in places:
                self.variables.add(places[id(tensor)])
            elif tensor.op.type == "Placeholder":
                self._captured.append(tensor)
            else:
                self.varies = self.varies or tensor.op.op_def.is_stateful
                left += tensor.op.inputs

    def reads(self, arguments: set[int]) -> bool:
        """Return whether one of the tensors from outside of the loop is an argument."""
        return any(id(_outermost(tensor)) in arguments for tensor in self._captured)


def _outermost(tensor: Any) -> Any:
    """Return the tensor that a graph, or the graphs around it, have captured."""
    while True:
        captures = getattr(tensor.graph, "captures", ())
        outer = next((outer for outer, inner in captures if inner is tensor), None)
        if outer is None or isinstance(outer, tf.__internal__.EagerTensor):
            return tensor
        tensor = outer


def _conjuncts(test: tf.Tensor) -> list[tf.Tensor]:
    """Return the parts of a test of which all must hold."""
    operation = test.op
    if operation.type in _CONJUNCTIONS:
        return [part for operand in operation.inputs for part in _conjuncts(operand)]
    if operation.type in _PASSED_ON:
        return _conjuncts(operation.inputs[0])
    return [test]
