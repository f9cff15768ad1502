"""The ops that XLA lacks, computes wrongly on shapes that depend on data, or runs much slower than
TensorFlow's kernels.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from math import prod
from pathlib import Path
from typing import Any

import tensorflow as tf

from np2tf.arrays.front.residency import device_kind
from np2tf.core.rules import tomllib

# -- dynamic shapes ------------------------------------------------------------------------------------------
# Arrays whose shapes depend on data: the ops that XLA computes correctly on them.
#
# XLA keeps an array such as `x[x > 0]` in a buffer of the greatest size that the array may have. An
# elementwise op on two such arrays runs over the buffers, so operands that NumPy refuses give a result, or
# corrupt memory; the last element is the last element of the buffer. TensorFlow's kernels know the shapes
# and raise if they do not fit, and then the host repeats the call. So only ops known to be correct on
# dynamic shapes go to XLA; TensorFlow's kernels run all other ops.

_ELEMENTWISE = (
    "Neg Abs Sign Sqrt Rsqrt Square Exp Expm1 Log Log1p Sin Cos Tan Asin Acos Atan Sinh "
    "Cosh Tanh Asinh Acosh Atanh Sigmoid Floor Ceil Rint Round IsNan IsInf IsFinite "
    "LogicalNot Invert Cast Real Imag Conj ComplexAbs Angle Reciprocal Inv Erf Erfc "
    "Lgamma Digamma Identity StopGradient PreventGradient ZerosLike OnesLike"
)
_REDUCTIONS = "Sum Prod Max Min Any All Mean Where Shape Size Rank"
#: The bodies of these ops are checked by themselves.
_CALLS = "While StatelessWhile If StatelessIf Case PartitionedCall StatefulPartitionedCall"
_RIGHT = frozenset(f"{_ELEMENTWISE} {_REDUCTIONS} {_CALLS}".split())
#: Correct if the indices, but not the array, have an open shape.
_INDEX_OPS = frozenset({"GatherV2", "GatherNd"})
_FITTING_NAMES = (
    "AddV2 Add Sub Mul RealDiv Div FloorDiv FloorMod Mod TruncateDiv TruncateMod Maximum "
    "Minimum Pow SquaredDifference Equal NotEqual Less LessEqual Greater GreaterEqual "
    "LogicalAnd LogicalOr SelectV2 Atan2 Complex BitwiseAnd BitwiseOr BitwiseXor "
    "LeftShift RightShift NextAfter Xdivy Xlogy Xlog1py DivNoNan MulNoNan"
)
#: Correct if the other operands are numbers or arrays of one element, whose shapes always fit.
_FITTING_OPS = frozenset(_FITTING_NAMES.split())
#: A part of the names of ops that `tf.vectorized_map` makes: shapes that it divides and joins again fit each
#: other.
_PFOR_SCOPE = "/pfor/"
#: A part of the names of ops on an input whose length differs between calls: XLA knows the length in each
#: call.
OF_INPUT = "np2tf_of_input"
#: The sizes, with -1 for unknown sizes; None for an unknown rank.
_Shape = tuple[int, ...] | None
#: Name of a node -> the shapes of its outputs.
Shapes = Mapping[str, list[_Shape]]


def needs_dynamic_shapes(definition: Any) -> bool:
    """Return whether a GraphDef with shapes, or a function in it, has ops on open shapes that XLA computes
    wrongly.
    """
    return any(
        _nodes_need_dynamic_shapes(nodes, argument_shapes)
        for nodes, argument_shapes in [(definition.node, {}), *functions_of(definition)]
    )


def functions_of(definition: Any) -> list[tuple[Any, Shapes]]:
    """Return the nodes of the functions in a GraphDef with shapes, with the shapes of their arguments."""
    return [(function.node_def, _argument_shapes(function)) for function in definition.library.function]


def shapes_of(nodes: Iterable[Any], known_shapes: Shapes) -> Shapes:
    """Return the shapes of the outputs of nodes, together with known shapes."""
    return {**known_shapes, **{node.name: _output_shapes(node.attr) for node in nodes}}


def _nodes_need_dynamic_shapes(nodes: Any, known_shapes: Shapes) -> bool:
    shapes = shapes_of(nodes, known_shapes)
    looked_at = [node for node in nodes if _PFOR_SCOPE not in node.name and OF_INPUT not in node.name]
    return any(_is_beyond_xla(node, shapes) for node in looked_at)


def _is_beyond_xla(node: Any, shapes: Shapes) -> bool:
    if node.op in _RIGHT:
        return False
    names = [name for name in node.input if not name.startswith("^")]
    if node.op in _INDEX_OPS:
        return _is_dynamic(shape_of(names[0], shapes))
    if node.op not in _FITTING_OPS:
        return any(_is_dynamic(shape_of(name, shapes)) for name in names)
    # An array fits itself.
    input_shapes = [shape_of(name, shapes) for name in set(names)]
    arrays = [shape for shape in input_shapes if shape is None or any(size != 1 for size in shape)]
    return len(arrays) > 1 and any(map(_is_dynamic, arrays))


def _is_dynamic(shape: _Shape) -> bool:
    return shape is None or -1 in shape


def shape_of(name: str, shapes: Shapes) -> _Shape:
    """Return the shape of an input such as "node", "node:1" (of a graph) or "node:output:0" (of a
    function).
    """
    node, *output = name.split(":")
    output_shapes = shapes.get(node, [])
    place = int(output[-1]) if output else 0
    return output_shapes[place] if place < len(output_shapes) else None


def _output_shapes(attributes: Any) -> list[_Shape]:
    if "_output_shapes" not in attributes:
        return []
    return [
        None if shape.unknown_rank else tuple(size.size for size in shape.dim)
        for shape in attributes["_output_shapes"].list.shape
    ]


def _argument_shapes(function: Any) -> dict[str, list[_Shape]]:
    names = [argument.name for argument in function.signature.input_arg]
    return {name: _output_shapes(function.arg_attr[k].attr) for k, name in enumerate(names)}


# -- op placement --------------------------------------------------------------------------------------------
# The TensorFlow ops that XLA lacks on this device, or runs much slower than TensorFlow's own kernels.
#
# `benchmarks/placement.py` measures the data, which a file per kind of device beside this module holds.

#: An op is slow if XLA takes more than this many times as long as the kernel. Below this limit, fusion and
#: loops inside one program make up for it.
LIMIT = 5.0
#: These ops call back into Python, which XLA cannot do on any device.
PYTHON = frozenset({"PyFunc", "PyFuncStateless", "EagerPyFunc"})
#: These ops wait for other devices; XLA has no such operations on CPUs.
COLLECTIVES = frozenset({"CollectiveReduceV2", "CollectiveGatherV2"})

#: The kernels of these ops refuse negative numbers, which XLA accepts silently.
UNCHECKED_OPS = frozenset({"Bincount", "DenseBincount"})
#: Stands for ops that XLA computes wrongly on such arrays.
OPEN_SHAPE = "an array whose shape depends on data"
_SMALL = "small "


@dataclass(frozen=True)
class Placement:
    """The measured data of one kind of device.

    Attributes:
        missing_ops: the ops for which XLA has no kernel, or a kernel with another result.
        milliseconds: for the other ops, the time of the kernel and the time of XLA.
        small: for some slow ops, the number of elements of the greatest input up to which XLA is not slow.
    """

    missing_ops: frozenset[str]
    milliseconds: dict[str, tuple[float, float]]
    small: dict[str, int] = field(default_factory=dict)

    @property
    def slow_ops(self) -> frozenset[str]:
        """The ops that XLA makes slow."""
        return frozenset(op for op, (kernel, xla) in self.milliseconds.items() if xla > LIMIT * kernel)


def data_file(kind: str) -> Path:
    """Return the file for the data of a kind of device; it need not exist."""
    return Path(__file__).with_name(f"placement_{kind}.toml")


@cache
def placement(kind: str) -> Placement:
    """Return the data of a kind of device; without measurements, the data of a CPU."""
    path = data_file(kind)
    table = tomllib.loads((path if path.exists() else data_file("cpu")).read_text())
    milliseconds = {op: (kernel, xla) for op, (kernel, xla) in table["milliseconds"].items()}
    return Placement(frozenset(table["lacking"]), milliseconds, table.get("small", {}))


def ops_of(*graphs: tf.Graph) -> set[str]:
    """Return the types of all ops in graphs, also in loops, branches and functions; with `OPEN_SHAPE` if XLA
    is wrong.

    An op that XLA makes slow, but not for inputs as small as here, is "small " and its type.
    """
    return set().union(*map(_ops_of_one, graphs))


def _ops_of_one(graph: tf.Graph) -> set[str]:
    definition = graph.as_graph_def(add_shapes=True)
    small = placement(device_kind()).small
    ops: set[str] = set()
    for nodes, argument_shapes in [(definition.node, {}), *functions_of(definition)]:
        names = {node.op for node in nodes}
        if names & small.keys():
            shapes = shapes_of(nodes, argument_shapes)
            names = {_SMALL + node.op if _is_small(node, small, shapes) else node.op for node in nodes}
        ops |= names
    if needs_dynamic_shapes(definition):
        ops.add(OPEN_SHAPE)
    return ops


def _is_small(node: Any, small: dict[str, int], shapes: Shapes) -> bool:
    if node.op not in small:
        return False
    input_shapes = [shape_of(name, shapes) for name in node.input if not name.startswith("^")]
    return all(
        shape is not None and -1 not in shape and prod(shape) <= small[node.op] for shape in input_shapes
    )


def xla_pays(ops: set[str]) -> bool:
    """Return whether XLA should compile code of these ops."""
    return not ops_against_xla(ops)


def ops_against_xla(ops: set[str]) -> set[str]:
    """Return the ops among `ops` that XLA lacks or makes slow on this device."""
    device_ops = placement(device_kind())
    return ops & (
        {OPEN_SHAPE} | PYTHON | COLLECTIVES | UNCHECKED_OPS | device_ops.missing_ops | device_ops.slow_ops
    )
