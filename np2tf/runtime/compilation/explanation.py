"""`f.explain(*args)`: explains how a jitted function runs a call, as text and as data."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.runtime.arguments.signature import Signature
from np2tf.runtime.compilation.concrete_function import ConcreteFunction


@dataclass
class Explanation:
    """The explanation of one call, made without running it.

    Attributes:
        function, path, line: the function, and its place.
        runs: "xla" (one XLA program), "graph" (TensorFlow's kernels; loops may be compiled) or "host".
        decision: the reason why it runs there.
        code, reason: the reason why it cannot be compiled, if it cannot; `np2tf explain CODE` tells the
            remedy.
        not_xla, not_xla_code: the reason why it is not one XLA program, if it is a graph, and the code of the
            reason, if it has one.
        arrays: the dtype and shape of every array that is an input.
        fixed, inputs: the numbers that are constants of the code, and the numbers that are inputs.
        ops: the number of ops in the graph, including the ops in loops and branches.
        loops: for each staged loop "xla" or "graph".
        host_seconds, compiled_seconds: the seconds of the best call on each tier, if known.
        traces: the number of traces of the function so far.
    """

    function: str
    path: str
    line: int
    runs: str = "host"
    decision: str = ""
    code: str = ""
    reason: str = ""
    not_xla: str = ""
    not_xla_code: str = ""
    arrays: list[str] = field(default_factory=list)
    fixed: list[str] = field(default_factory=list)
    inputs: list[str] = field(default_factory=list)
    ops: int = 0
    loops: list[str] = field(default_factory=list)
    host_seconds: float | None = None
    compiled_seconds: float | None = None
    traces: int = 0

    def add_signature(self, signature: Signature) -> None:
        """Add the arrays and numbers of the call."""
        self.arrays = [_array_text(array) for array in signature.arrays]
        self.fixed = [repr(number) for number in signature.numbers]

    def add_code(self, concrete_function: ConcreteFunction, signature: Signature) -> None:
        """Add the properties of the call's compiled code."""
        self.runs = concrete_function.how
        self.not_xla, self.not_xla_code = concrete_function.not_xla, concrete_function.not_xla_code
        self.ops = concrete_function.op_count
        self.loops = list(concrete_function.loops)
        numbers = list(enumerate(signature.numbers))
        self.fixed = [repr(number) for k, number in numbers if k not in concrete_function.inputs]
        self.inputs = [repr(number) for k, number in numbers if k in concrete_function.inputs]

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as plain data."""
        return asdict(self)

    def __str__(self) -> str:
        lines = [f"{self.function} ({self.path}:{self.line}) runs on: {self.runs}"]
        if self.decision:
            lines.append(f"  decision: {self.decision}")
        if self.reason:
            lines.append(f"  not compiled: {self.code} {self.reason}")
        if self.not_xla:
            lines.append("  not one XLA program: " + f"{self.not_xla_code} {self.not_xla}".lstrip())
        for name, texts in (
            ("arrays", self.arrays),
            ("constants", self.fixed),
            ("number inputs", self.inputs),
        ):
            if texts:
                lines.append(f"  {name}: {', '.join(texts)}")
        if self.ops:
            lines.append(f"  graph: {self.ops} ops, staged loops: {', '.join(self.loops) or 'none'}")
        for name, seconds in (("host", self.host_seconds), ("compiled", self.compiled_seconds)):
            if seconds is not None:
                lines.append(f"  best call, {name}: {seconds * 1000:.3g} ms")
        lines.append(f"  traces so far: {self.traces}")
        return "\n".join(lines)


def _array_text(array: Any) -> str:
    dtype = array.dtype.name if isinstance(array.dtype, tf.DType) else np.dtype(array.dtype).name
    return f"{dtype}[{', '.join(map(str, array.shape))}]"
