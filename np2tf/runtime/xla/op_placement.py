"""Which TensorFlow ops XLA lacks on this device, or makes much slower than TensorFlow's own kernels are.

The data are measured, by `benchmarks/placement.py`, and kept in a file per kind of device beside this one.
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

if sys.version_info >= (3, 11):
    import tomllib
else:  # pragma: no cover
    import tomli as tomllib

#: An op is slow where XLA takes more than so many times as long as the kernel; below that, fusion and loops
#: that stay inside one program make up for it.
LIMIT = 5.0
#: They call back into Python, which XLA cannot do on any device.
PYTHON = frozenset({"PyFunc", "PyFuncStateless", "EagerPyFunc"})

#: Their kernels refuse negative numbers, which XLA passes over without a word.
UNCHECKED = frozenset({"Bincount", "DenseBincount"})
#: Stands for what XLA does wrong with such arrays (`dynamic_shapes`).
OPEN = "an array whose shape depends on data"
_SMALL = "small "


@dataclass(frozen=True)
class Placement:
    """What is known of one kind of device.

    Attributes:
        lacking: ops that XLA has no kernel for, or one with another result.
        milliseconds: for the others what the kernel takes, and what XLA takes.
        small: for those that XLA makes slow, up to how many elements of its greatest input it does not.
    """

    lacking: frozenset[str]
    milliseconds: dict[str, tuple[float, float]]
    small: dict[str, int] = field(default_factory=dict)

    @property
    def slow(self) -> frozenset[str]:
        """The ops that XLA makes slow."""
        return frozenset(op for op, (kernel, xla) in self.milliseconds.items() if xla > LIMIT * kernel)


def device_kind() -> str:
    """The kind of device that TensorFlow puts work on: "cpu", "gpu" or "tpu"."""
    kinds = {device.device_type.lower() for device in tf.config.list_logical_devices()}
    return next((kind for kind in ("tpu", "gpu") if kind in kinds), "cpu")


def data_file(kind: str) -> Path:
    """Where the data of a kind of device are, if there are any."""
    return Path(__file__).with_name(f"placement_{kind}.toml")


@cache
def placement(kind: str) -> Placement:
    """What has been measured on a kind of device; what a CPU lacks and makes slow, where nothing has."""
    path = data_file(kind)
    table = tomllib.loads((path if path.exists() else data_file("cpu")).read_text())
    milliseconds = {op: (kernel, xla) for op, (kernel, xla) in table["milliseconds"].items()}
    return Placement(frozenset(table["lacking"]), milliseconds, table.get("small", {}))


def ops_of(*graphs: tf.Graph) -> set[str]:
    """Types of all ops in graphs, in loops, branches and functions too; with `OPEN` where XLA is wrong.

    An op that XLA makes slow, but not with inputs as small as here, is "small " and its type.
    """
    return set().union(*map(_ops_of_one, graphs))


def _ops_of_one(graph: tf.Graph) -> set[str]:
    definition = graph.as_graph_def(add_shapes=True)
    small = placement(device_kind()).small
    found: set[str] = set()
    for nodes, known in [(definition.node, {}), *functions_of(definition)]:
        names = {node.op for node in nodes}
        if names & small.keys():
            shapes = shapes_of(nodes, known)
            names = {_SMALL + node.op if _is_small(node, small, shapes) else node.op for node in nodes}
        found |= names
    if needs_dynamic_shapes(definition):
        found.add(OPEN)
    return found


def _is_small(node: Any, small: dict[str, int], shapes: Shapes) -> bool:
    if node.op not in small:
        return False
    given = [shape_of(name, shapes) for name in node.input if not name.startswith("^")]
    return all(one is not None and -1 not in one and prod(one) <= small[node.op] for one in given)


def xla_pays(ops: set[str]) -> bool:
    """Whether code of these ops should be compiled by XLA."""
    return not ops_against_xla(ops)


def ops_against_xla(ops: set[str]) -> set[str]:
    """Those of `ops` that XLA lacks or makes slow on this device."""
    known = placement(device_kind())
    return ops & ({OPEN} | PYTHON | UNCHECKED | known.lacking | known.slow)
