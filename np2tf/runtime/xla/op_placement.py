"""The TensorFlow ops that XLA lacks on this device, or runs much slower than TensorFlow's own kernels.

`benchmarks/placement.py` measures the data, which a file per kind of device beside this module holds.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from functools import cache
from math import prod
from pathlib import Path
from typing import Any

import tensorflow as tf

from np2tf.runtime.xla.dynamic_shapes import Shapes, functions_of, needs_dynamic_shapes, shape_of, shapes_of
from np2tf.tnp._front.operand_kinds import device_kind

if sys.version_info >= (3, 11):
    import tomllib
else:  # pragma: no cover
    import tomli as tomllib

#: An op is slow if XLA takes more than this many times as long as the kernel. Below this limit, fusion and
#: loops inside one program make up for it.
LIMIT = 5.0
#: These ops call back into Python, which XLA cannot do on any device.
PYTHON = frozenset({"PyFunc", "PyFuncStateless", "EagerPyFunc"})
#: These ops wait for other devices; XLA has no such operations on CPUs.
COLLECTIVES = frozenset({"CollectiveReduceV2", "CollectiveGatherV2"})

#: The kernels of these ops refuse negative numbers, which XLA accepts silently.
UNCHECKED_OPS = frozenset({"Bincount", "DenseBincount"})
#: Stands for ops that XLA computes wrongly on such arrays (`dynamic_shapes`).
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
