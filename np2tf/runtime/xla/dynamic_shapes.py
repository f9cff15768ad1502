"""Arrays whose shapes depend on data: what XLA does rightly with them.

XLA keeps an array such as `x[x > 0]` in a buffer of the greatest size that it may have. An elementwise op on
two such arrays goes over the buffers, so operands that NumPy refuses give a result, or corrupt memory;
the last element is that of the buffer. TensorFlow's kernels know the shapes and raise where they do not
fit, upon which the call is repeated on the host. So what is not known to be right in XLA is left to them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

_ELEMENTWISE = (
    "Neg Abs Sign Sqrt Rsqrt Square Exp Expm1 Log Log1p Sin Cos Tan Asin Acos Atan Sinh "
    "Cosh Tanh Asinh Acosh Atanh Sigmoid Floor Ceil Rint Round IsNan IsInf IsFinite "
    "LogicalNot Invert Cast Real Imag Conj ComplexAbs Angle Reciprocal Inv Erf Erfc "
    "Lgamma Digamma Identity StopGradient PreventGradient ZerosLike OnesLike"
)
_REDUCING = "Sum Prod Max Min Any All Mean Where Shape Size Rank"
#: Their bodies are looked at by themselves.
_CALLS = "While StatelessWhile If StatelessIf Case PartitionedCall StatefulPartitionedCall"
_RIGHT = frozenset(f"{_ELEMENTWISE} {_REDUCING} {_CALLS}".split())
#: Right where the indices, but not the array, are of open shape.
_INDEXING = frozenset({"GatherV2", "GatherNd"})
_FITTING_NAMES = (
    "AddV2 Add Sub Mul RealDiv Div FloorDiv FloorMod Mod TruncateDiv TruncateMod Maximum "
    "Minimum Pow SquaredDifference Equal NotEqual Less LessEqual Greater GreaterEqual "
    "LogicalAnd LogicalOr SelectV2 Atan2 Complex BitwiseAnd BitwiseOr BitwiseXor "
    "LeftShift RightShift NextAfter Xdivy Xlogy Xlog1py DivNoNan MulNoNan"
)
#: Right with numbers and arrays of one element for the other operands, whose shapes always fit.
_FITTING = frozenset(_FITTING_NAMES.split())
#: In the names of what `tf.vectorized_map` makes: shapes that it divides and joins again fit one another.
_BATCHED = "/pfor/"
#: In the names of what takes from an input that has another length in some calls: XLA knows it in each.
OF_INPUT = "np2tf_of_input"
#: Sizes, -1 for unknown ones; None for an unknown rank.
_Shape = tuple[int, ...] | None
#: By the names of nodes: the shapes of their outputs.
Shapes = Mapping[str, list[_Shape]]


def needs_dynamic_shapes(definition: Any) -> bool:
    """Whether a GraphDef with shapes, or a function in it, does more to arrays of open shape than XLA can."""
    return any(
        _nodes_need_dynamic_shapes(nodes, known)
        for nodes, known in [(definition.node, {}), *functions_of(definition)]
    )


def functions_of(definition: Any) -> list[tuple[Any, Shapes]]:
    """The nodes of the functions in a GraphDef with shapes, with the shapes of their arguments."""
    return [(function.node_def, _argument_shapes(function)) for function in definition.library.function]


def shapes_of(nodes: Iterable[Any], known: Shapes) -> Shapes:
    """The shapes of the outputs of nodes, beside those that are known."""
    return {**known, **{node.name: _output_shapes(node.attr) for node in nodes}}


def _nodes_need_dynamic_shapes(nodes: Any, known: Shapes) -> bool:
    shapes = shapes_of(nodes, known)
    looked_at = [node for node in nodes if _BATCHED not in node.name and OF_INPUT not in node.name]
    return any(_is_beyond_xla(node, shapes) for node in looked_at)


def _is_beyond_xla(node: Any, shapes: Shapes) -> bool:
    if node.op in _RIGHT:
        return False
    names = [name for name in node.input if not name.startswith("^")]
    if node.op in _INDEXING:
        return _is_dynamic(shape_of(names[0], shapes))
    if node.op not in _FITTING:
        return any(_is_dynamic(shape_of(name, shapes)) for name in names)
    # The same array twice fits itself.
    given = [shape_of(name, shapes) for name in set(names)]
    arrays = [shape for shape in given if shape is None or any(size != 1 for size in shape)]
    return len(arrays) > 1 and any(map(_is_dynamic, arrays))


def _is_dynamic(shape: _Shape) -> bool:
    return shape is None or -1 in shape


def shape_of(name: str, shapes: Shapes) -> _Shape:
    """Of an input such as "node", "node:1" (of a graph) or "node:output:0" (of a function)."""
    node, *rest = name.split(":")
    found = shapes.get(node, [])
    place = int(rest[-1]) if rest else 0
    return found[place] if place < len(found) else None


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
