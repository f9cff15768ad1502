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

    def check(self) -> None:
        """Refuse a loop whose test reads only what the loop does not change.

        Raises:
            PollingError: if the loop waits for others.
        """
        assert self.test is not None
        assert self.body is not None
        variables, after = self.body
        sources = [_Sources(variables, value) for value in after]
        # The variables whose values are known after some iterations, because none depends on itself.
        settled = {k for k, value in enumerate(after) if value is variables[k]}
        while new := {k for k, found in enumerate(sources) if k not in settled and found.settle(settled)}:
            settled |= new
        if _Sources(*self.test).settle(settled):
            raise PollingError("the loop ends when another thread or process changes what its test reads")


class _Sources:
    """What a tensor of a loop's graph is computed from.

    Attributes:
        variables: the places of the loop's variables.
        varies: whether an operation may give another value each time.
    """

    def __init__(self, variables: Sequence[tf.Tensor], tensor: tf.Tensor) -> None:
        places = {id(variable): k for k, variable in enumerate(variables)}
        self.variables: set[int] = set()
        self.varies = False
        seen: set[int] = set()
        left = [tensor]
        while left:
            tensor = left.pop()
            if id(tensor) in seen:
                continue
            seen.add(id(tensor))
            if id(tensor) in places:
                self.variables.add(places[id(tensor)])
            elif tensor.op.type != "Placeholder":  # which is captured from outside of the loop
                self.varies = self.varies or tensor.op.op_def.is_stateful
                left += tensor.op.inputs

    def settle(self, settled: set[int]) -> bool:
        """Return whether the tensor does not change any more once some variables do not."""
        return not self.varies and self.variables <= settled
