"""The tensors of a graph that may differ from replica to replica.

A tensor varies if it is computed from a block of an argument or from the number of the replica, unless a
collective operation in between has made it the same everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from np2tf.runtime.xla.op_placement import COLLECTIVES
from np2tf.transform_errors import ReplicaError

_LOOPS = frozenset({"While", "StatelessWhile"})
_BRANCHES = frozenset({"If", "StatelessIf", "Case", "StatelessCase"})
_CALLS = frozenset({"PartitionedCall", "StatefulPartitionedCall"})

#: For each node whether its outputs vary: one answer for all of them, or one for each.
_Varies = dict[str, "bool | list[bool]"]


class Varying:
    """The tensors of a graph that vary.

    Args:
        graph: the graph.
        sources: the tensors that vary because of what they are.

    Raises:
        ReplicaError: a collective operation is in a loop or branch that some replicas may not enter.
    """

    def __init__(self, graph: tf.Graph, sources: Iterable[tf.Tensor]) -> None:
        definition = graph.as_graph_def()
        self._functions = {function.signature.name: function for function in definition.library.function}
        self._sums: dict[tuple[str, tuple[bool, ...]], list[bool]] = {}
        self._varies: _Varies = {tensor.op.name: True for tensor in sources}
        self._propagate(definition.node, self._varies)

    def has(self, tensor: tf.Tensor) -> bool:
        """Return whether a tensor of the graph varies."""
        return _look_up(f"{tensor.op.name}:{tensor.value_index}", self._varies)

    def _propagate(self, nodes: Sequence[Any], varies: _Varies) -> None:
        """Add the nodes of a graph or function to `varies`, until nothing changes."""
        sources = frozenset(varies)
        is_settled = False
        while not is_settled:
            is_settled = True
            for node in nodes:
                if node.name in sources:
                    continue
                inputs = [_look_up(name, varies) for name in node.input if not name.startswith("^")]
                outputs = self._outputs(node, inputs)
                if varies.get(node.name, False) != outputs:
                    varies[node.name], is_settled = outputs, False

    def _outputs(self, node: Any, inputs: list[bool]) -> bool | list[bool]:
        if node.op in COLLECTIVES or not any(inputs):
            return False
        if node.op in _LOOPS:
            return self._of_loop(node, inputs)
        if node.op in _BRANCHES:
            bodies = _bodies(node)
            if inputs[0]:
                self._refuse_collectives(bodies)
                return True
            columns = [self._of_function(body, inputs[1:]) for body in bodies]
            return [any(column) for column in zip(*columns, strict=True)]
        if node.op in _CALLS:
            return self._of_function(node.attr["f"].func.name, inputs)
        return True

    def _of_loop(self, node: Any, inputs: list[bool]) -> bool | list[bool]:
        body, test = node.attr["body"].func.name, node.attr["cond"].func.name
        state = inputs
        while True:
            if any(self._of_function(test, state)):
                self._refuse_collectives([body])
                return True
            after = [old or new for old, new in zip(state, self._of_function(body, state), strict=True)]
            if after == state:
                return state
            state = after

    def _of_function(self, name: str, inputs: Sequence[bool]) -> list[bool]:
        key = name, tuple(inputs)
        if key not in self._sums:
            function = self._functions[name]
            varies: _Varies = {
                arg.name: flag for arg, flag in zip(function.signature.input_arg, inputs, strict=True)
            }
            self._propagate(function.node_def, varies)
            results = [function.ret[arg.name] for arg in function.signature.output_arg]
            self._sums[key] = [_look_up(result, varies) for result in results]
        return self._sums[key]

    def _refuse_collectives(self, names: Iterable[str]) -> None:
        for name in names:
            function = self._functions[name]
            if any(node.op in COLLECTIVES for node in function.node_def):
                raise ReplicaError(
                    "a collective is in a loop or branch whose test depends on the replica, so that some "
                    "replicas would wait for others for ever; make the test the same everywhere "
                    "(`np2tf.pmax` of it), or call the collective outside"
                )
            self._refuse_collectives(body for node in function.node_def for body in _bodies(node))


def _bodies(node: Any) -> list[str]:
    """Return the names of the functions that a node may call."""
    names = [value.func.name for value in node.attr.values() if value.HasField("func")]
    return names + [function.name for value in node.attr.values() for function in value.list.func]


def _look_up(reference: str, varies: Mapping[str, bool | list[bool]]) -> bool:
    """Return whether a tensor varies: "node", "node:1" in a graph, "node:output:1" in a function."""
    name, *places = reference.split(":")
    answer = varies.get(name, False)
    return answer if isinstance(answer, bool) else answer[int(places[-1]) if places else 0]


__all__ = ["Varying"]
