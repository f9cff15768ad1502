"""The tables of rules/tensorflow, and the results of NumPy's functions."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import libcst as cst

from np2tf.core import rules
from np2tf.translator.tensorflow.values import (
    NO_VALUE,
    NUMBERS,
    CallMemory,
    Value,
    array,
    broadcast_rank,
    list_value,
    plain,
    promote,
    tuple_value,
    union,
    unknown,
)
from np2tf.translator.tree.nodes import words

# -- table ---------------------------------------------------------------------------------------------------
# The tables of rules/tensorflow: the translations of NumPy's names, and the helpers.

#: Marks of edits, as helpers are: NumPy itself computes, or gets arrays, which no graph can contain.
ON_HOST = "[on host]"
CONVERTED = "[converted]"
#: Ask for the lines of the helper `_host` that convert what is in containers, and dtypes.
LISTS, DICTIONARIES, VIEWS, ITERATORS = "[lists]", "[dictionaries]", "[views]", "[iterators]"
DTYPES = "[dtypes]"
#: Asks for the lines of a helper that take numbers in arrays without axes.
TENSORS = "[tensors]"
#: Asks for the lines of a helper that write to what callers elsewhere may give in the place of a tensor.
ELSEWHERE = "[elsewhere]"
LINE_OPTIONS = frozenset({LISTS, DICTIONARIES, VIEWS, ITERATORS, DTYPES, TENSORS, ELSEWHERE})


@dataclass(frozen=True)
class Function:
    """The facts about one function of NumPy."""

    name: str
    parameters: tuple[str, ...]
    """In NumPy's order; a call may give those whose name is not `_`."""
    result: str
    helper: str
    """The helper that takes its place, or nothing …"""
    only_with_arrays: bool
    """… which it does only where an argument may hold arrays."""

    @property
    def read_count(self) -> int:
        """The number of positional arguments that the function certainly reads; it may write to others."""
        if self.parameters[-1].startswith("*"):
            return sys.maxsize
        return (*self.parameters, "_").index("_")


@dataclass(frozen=True)
class Draw:
    """The facts about one method of NumPy's random generators, or function of `numpy.random`."""

    dtype: str
    """The dtype of its result; nothing if the dtype is that of the first argument."""
    size: int | None
    """The position of the parameter `size`; None if the positional arguments are the lengths of the axes."""
    axes: int
    """The number of axes of one draw."""


@dataclass(frozen=True)
class Table:
    """The contents of rules/tensorflow/functions.toml, without the examples."""

    functions: Mapping[str, Function]
    constants: Mapping[str, str]
    dtypes: Mapping[str, str]
    methods: frozenset[str]
    writes: Mapping[str, str]
    draws: Mapping[str, Draw]
    generators: frozenset[str]
    """The functions and classes of `numpy.random` that make generators and their seeds."""
    host: Mapping[str, Function]
    """The functions that NumPy itself computes."""
    kept: frozenset[str]
    """The names that stay as they are."""
    grids: Mapping[str, str]
    """The objects that make arrays of an index, with the word for the result."""
    host_methods: frozenset[str]
    """The methods of arrays that NumPy itself computes."""


@lru_cache(maxsize=1)
def table() -> Table:
    """Return the table of NumPy's names that the target translates."""
    data = rules.read_table("tensorflow/functions")
    functions = {}
    for group in data["group"]:
        helper = group.get("helper", False)
        for name in group["names"]:
            helper_name = "_" + name.replace(".", "_") if helper else ""
            functions[name] = Function(
                name, tuple(group["parameters"]), group["result"], helper_name, helper == "with arrays"
            )
    methods = frozenset(data["methods"]["names"])
    random = rules.read_table("tensorflow/draws")
    draws = {
        name: Draw(group.get("dtype", ""), group.get("size"), group.get("axes", 0))
        for group in random["draws"]
        for name in group["names"]
    }
    generators = frozenset(random["generators"]["names"])
    host = rules.read_table("tensorflow/host")
    host_functions = {
        name: Function(name, tuple(group["parameters"]), group["result"], "", False)
        for group in host["group"]
        for name in group["names"]
    }
    return Table(
        functions,
        data["constants"],
        data["dtypes"],
        methods,
        data["writes"],
        draws,
        generators,
        host_functions,
        frozenset(host["kept"]["names"]),
        host["grids"],
        frozenset(host["methods"]["names"]),
    )


@lru_cache(maxsize=1)
def _helpers() -> dict[str, str]:
    """Return the text of every helper, in the order of the files."""
    texts = {}
    for file in ("helpers.py", "control.py"):
        text = (rules.rules_folder() / "tensorflow" / file).read_text(encoding="utf-8")
        for node in ast.parse(text).body:
            if isinstance(node, ast.FunctionDef):
                texts[node.name] = ast.get_source_segment(text, node) or ""
    return texts


def helpers_with(names: Iterable[str]) -> dict[str, str]:
    """Return the texts of helpers, and of the helpers that they call, in the file's order.

    A name in brackets, as `[elsewhere]`, asks for the lines of the helpers that are marked with it.
    """
    options = frozenset(name for name in names if name.startswith("["))
    every = {name: _with_lines_for(options, text) for name, text in _helpers().items()}
    helper_names: set[str] = set()
    stack = [name for name in names if name not in options]
    while stack:
        name = stack.pop()
        if name not in helper_names:
            helper_names.add(name)
            identifiers = {node.id for node in ast.walk(ast.parse(every[name])) if isinstance(node, ast.Name)}
            stack += identifiers & every.keys()
    return {name: text for name, text in every.items() if name in helper_names}


def _with_lines_for(options: frozenset[str], text: str) -> str:
    """Return a helper without the lines that are only for other options, and without the marks."""
    lines = []
    for line in text.split("\n"):
        code, _, mark = line.partition("  # [")
        if not mark:
            lines.append(line)
        elif f"[{mark.partition(']')[0]}]" in options:
            comment = mark.partition("] ")[2]
            lines.append(f"{code}  # {comment}" if comment else code)
    return "\n".join(lines)


# -- results -------------------------------------------------------------------------------------------------
# The values of the results of NumPy's functions: one function for each word of the column `result` in
# rules/tensorflow/functions.toml.

#: Parameter -> the value of its argument, and the argument's expression.
ArgumentValues = Mapping[str, tuple[Value, cst.BaseExpression]]


def product(left: Value, right: Value) -> Value:
    """Return the value of a matrix product, or of `np.dot`."""
    dtype = promote([left, right])
    ranks = (broadcast_rank([left]), broadcast_rank([right]))
    if 0 in ranks:
        return array(dtype, broadcast_rank([left, right]), scalar=True)
    rank = {(1, 1): 0, (1, 2): 1, (2, 1): 1, (2, 2): 2}.get(ranks)  # type: ignore[arg-type]
    return array(dtype, rank, scalar=True)


def _values(arguments: ArgumentValues) -> list[Value]:
    return [value for value, _ in arguments.values()]


def _first(arguments: ArgumentValues) -> Value:
    return next(iter(arguments.values()))[0] if arguments else unknown()


def _as_float(dtype: str | None) -> str | None:
    return "float64" if dtype in ("int32", "int64", "bool") else dtype


def _elementwise(arguments: ArgumentValues) -> Value:
    values = [value for value in _values(arguments) if not value.only("none")]
    return array(promote(values), broadcast_rank(values), scalar=True)


def _float(arguments: ArgumentValues) -> Value:
    values = _values(arguments)
    return array(_as_float(promote(values)), broadcast_rank(values), scalar=True)


def _bool(arguments: ArgumentValues) -> Value:
    return array("bool", broadcast_rank(_values(arguments)), scalar=True)


def _where(arguments: ArgumentValues) -> Value:
    if len(arguments) == 1:
        return _indices(arguments)
    condition, *branches = _values(arguments)
    return array(promote(branches), broadcast_rank([condition, *branches]), scalar=True)


def _indices(arguments: ArgumentValues) -> Value:
    rank = _first(arguments).rank
    index = array("int64", 1)
    return tuple_value([index] * rank) if rank else Value(frozenset(["tuple"]), item=index)


def _reduction(arguments: ArgumentValues, dtype: str | None) -> Value:
    first = _first(arguments)
    axis, axis_node = arguments.get("axis", (plain("none"), None))
    keepdims = arguments.get("keepdims")
    kept = keepdims is not None and not _is(keepdims[1], "False")
    if axis.only("none") and not kept:
        return array(dtype, 0)
    if first.rank is None or not first.only("array", "scalar"):
        return array(dtype, None, scalar=True)
    if kept:
        return array(dtype, first.rank)
    if axis.only("int"):
        return array(dtype, first.rank - 1)
    if type(axis_node) is cst.Tuple:
        return array(dtype, first.rank - len(axis_node.elements))
    return array(dtype, None, scalar=True)


def _is(node: cst.CSTNode, name: str) -> bool:
    return type(node) is cst.Name and node.value == name


def _sum(arguments: ArgumentValues) -> Value:
    dtype = promote([_first(arguments)])
    return _reduction(arguments, "int64" if dtype in ("int32", "bool") else dtype)


def _mean(arguments: ArgumentValues) -> Value:
    return _reduction(arguments, _as_float(promote([_first(arguments)])))


def _extremum(arguments: ArgumentValues) -> Value:
    return _reduction(arguments, promote([_first(arguments)]))


def _norm(arguments: ArgumentValues) -> Value:
    dtype = _as_float(promote([_first(arguments)]))
    return _reduction(arguments, None if dtype == "complex128" else dtype)


def _cumulative(arguments: ArgumentValues) -> Value:
    first = _first(arguments)
    dtype = promote([first])
    rank = first.rank if "axis" in arguments else 1
    return array("int64" if dtype in ("int32", "bool") else dtype, rank)


def _like(arguments: ArgumentValues) -> Value:
    first = _first(arguments)
    dtype, rank = _of_elements(first)
    if "axis" in arguments and not arguments["axis"][0].only("int"):
        rank = None
    return array(_dtype(arguments) or (dtype if "dtype" not in arguments else None), rank)


def _dtype(arguments: ArgumentValues) -> str | None:
    """Return the dtype that a call requests; None if it requests none."""
    return arguments["dtype"][0].dtype if "dtype" in arguments else None


def _rank_of_shape(arguments: ArgumentValues) -> int | None:
    value, shape_node = arguments.get("shape", (unknown(), None))
    if value.only("int", "bool", "scalar"):
        return 1
    if isinstance(shape_node, (cst.Tuple, cst.List)):
        parts = shape_node.elements
        return None if any(type(part) is cst.StarredElement for part in parts) else len(parts)
    if value.items is not None and value.only("tuple"):
        return len(value.items)
    return value.rank if value.only("shape") else None


def _shape(arguments: ArgumentValues) -> Value:
    dtype = _dtype(arguments) or ("float64" if "dtype" not in arguments else None)
    return array(dtype, _rank_of_shape(arguments), scalar=False)


def _fill(arguments: ArgumentValues) -> Value:
    value = arguments.get("fill_value", (unknown(), None))[0]
    return array(
        _dtype(arguments) or ("dtype" not in arguments and promote([value])) or None,
        _rank_of_shape(arguments),
    )


def _array(arguments: ArgumentValues) -> Value:
    dtype, rank = _of_elements(_first(arguments))
    return array(_dtype(arguments) or (dtype if "dtype" not in arguments else None), rank, scalar=False)


def _of_elements(value: Value) -> tuple[str | None, int | None]:
    """Return the dtype and the number of axes of an array that is made of a value."""
    if value.only(*NUMBERS):
        return promote([value]), 0
    if value.only("array", "scalar"):
        return value.dtype, value.rank
    if value.only("list", "tuple"):
        inside = [value.item] if value.items is None else list(value.items)
        pairs = [_of_elements(item) for item in inside if item is not None]
        ranks = {rank for _, rank in pairs}
        rank = ranks.pop() if len(ranks) == 1 else None
        arrays = [array(dtype, 1) for dtype, _ in pairs]
        return promote(arrays) if arrays else None, None if rank is None else rank + 1
    return None, None


def _range(arguments: ArgumentValues) -> Value:
    ends = [value for name, (value, _) in arguments.items() if name != "dtype"]
    dtype = "int64" if all(value.only("int", "bool") for value in ends) else None
    if dtype is None and any(value.only("float") for value in ends):
        dtype = "float64"
    return array(_dtype(arguments) or (dtype if "dtype" not in arguments else None), 1)


def _matrix(arguments: ArgumentValues) -> Value:
    dtype = _dtype(arguments) or ("float64" if "dtype" not in arguments else None)
    return array(dtype, 2)


def _outer(arguments: ArgumentValues) -> Value:
    return array(promote(_values(arguments)), 2)


def _product(arguments: ArgumentValues) -> Value:
    values = _values(arguments)
    return product(values[0], values[1]) if len(values) == 2 else array(None, None, scalar=True)


def _reshape(arguments: ArgumentValues) -> Value:
    return array(_first(arguments).dtype, _rank_of_shape(arguments), scalar=True)


def _join(arguments: ArgumentValues) -> Value:
    sequence = _first(arguments)
    inside = sequence.items if sequence.items is not None else (sequence.item,)
    item = union(inside)
    return array(item.dtype, item.rank if "axis" not in arguments or item.rank != 0 else None, scalar=False)


def _any_array(arguments: ArgumentValues) -> Value:
    return array(None, None, scalar=True)


def _list(arguments: ArgumentValues) -> Value:
    values = [value for name, (value, _) in arguments.items() if name != "indexing"]
    if any(value.rank != 1 for value in values):
        return list_value(array(None, None), ())
    return tuple_value(array(value.dtype, len(values)) for value in values)


def _complex(arguments: ArgumentValues) -> Value:
    first = _first(arguments)
    return array("complex128" if first.dtype not in (None, "float32") else None, first.rank)


def _magnitude(arguments: ArgumentValues) -> Value:
    first = _first(arguments)
    dtype = promote([first])
    return array("float64" if dtype == "complex128" else dtype, broadcast_rank([first]), scalar=True)


def _crossed(arguments: ArgumentValues) -> Value:
    """Return the value of the `outer` of a ufunc, which has the axes of both operands."""
    values = _values(arguments)
    ranks = [broadcast_rank([value]) for value in values]
    known = [rank for rank in ranks if rank is not None]
    rank = sum(known) if len(known) == len(ranks) else None
    return array(None, rank, scalar=not any(value.only("array") for value in values))


def _row(arguments: ArgumentValues) -> Value:
    return array(None, None if "axis" in arguments else 1)


def _of_rank(arguments: ArgumentValues, fewer: int = 0) -> Value:
    rank = _first(arguments).rank
    return array(None, None if rank is None else rank - fewer, scalar=True)


def _eigen(arguments: ArgumentValues) -> Value:
    return tuple_value([_of_rank(arguments, 1), _of_rank(arguments)])


def _singular(arguments: ArgumentValues) -> Value:
    if "compute_uv" in arguments:
        return several() if not _is(arguments["compute_uv"][1], "False") else _of_rank(arguments, 1)
    return tuple_value([_of_rank(arguments), _of_rank(arguments, 1), _of_rank(arguments)])


def _factors(arguments: ArgumentValues) -> Value:
    return _any_array(arguments) if "mode" in arguments else tuple_value([_of_rank(arguments)] * 2)


def _distinct(arguments: ArgumentValues) -> Value:
    return array(_first(arguments).dtype, 1) if len(arguments) == 1 else several()


def _slopes(arguments: ArgumentValues) -> Value:
    first = _first(arguments)
    is_one = first.rank == 1 or ("axis" in arguments and arguments["axis"][0].only("int"))
    return array(_as_float(first.dtype), first.rank) if is_one else several()


def several() -> Value:
    """Return several arrays, whose number is not known."""
    return Value(frozenset(["list"]), item=array(None, None, scalar=True))


def _contraction(arguments: ArgumentValues) -> Value:
    """Return the value of `np.einsum`, of whose result a literal text tells the number of axes."""
    (_, text), *operands = arguments.values()
    written = str(text.evaluated_value) if isinstance(text, cst.SimpleString) else ""
    _, arrow, letters = written.partition("->")
    rank = len(letters.replace(" ", "")) if arrow and "." not in letters else None
    return array(promote([value for value, _ in operands]), rank, scalar=True)


RESULTS: dict[str, Callable[[ArgumentValues], Value]] = {
    "elementwise": _elementwise,
    "float": _float,
    "bool": _bool,
    "where": _where,
    "indices": _indices,
    "sum": _sum,
    "mean": _mean,
    "norm": _norm,
    "extremum": _extremum,
    "count": lambda arguments: _reduction(arguments, "int64"),
    "truth": lambda arguments: _reduction(arguments, "bool"),
    "running": _cumulative,
    "like": _like,
    "shape": _shape,
    "filled": _fill,
    "array": _array,
    "range": _range,
    "vector": lambda arguments: array("float64", 1),
    "flat": lambda arguments: array(_first(arguments).dtype, 1),
    "counts": lambda arguments: array("int64", 1),
    "complex": _complex,
    "magnitude": _magnitude,
    "contracted": lambda arguments: array(promote(_values(arguments)), 0),
    "matrix": _matrix,
    "outer": _outer,
    "matrix_like": lambda arguments: array(_as_float(_first(arguments).dtype), _first(arguments).rank),
    "solved": lambda arguments: array(None, _values(arguments)[-1].rank),
    "scalar": lambda arguments: array(None, 0),
    "product": _product,
    "reshaped": _reshape,
    "joined": _join,
    "list": _list,
    "any": _any_array,
    "python_bool": lambda arguments: plain("bool"),
    "python_int": lambda arguments: plain("int"),
    "crossed": _crossed,
    "row": _row,
    "arrays": lambda arguments: array(None, None),
    "table": lambda arguments: array(None, 2),
    "places": lambda arguments: array("int64", _first(arguments).rank),
    "real": _of_rank,
    "eigen": _eigen,
    "singular": _singular,
    "factors": _factors,
    "sign_and_log": lambda arguments: tuple_value([_of_rank(arguments, 2)] * 2),
    "several": lambda arguments: several(),
    "two_rows": lambda arguments: tuple_value([array(None, 1)] * 2),
    "distinct": _distinct,
    "slopes": _slopes,
    "contraction": _contraction,
    "index_rows": lambda arguments: Value(frozenset(["tuple"]), item=array("int64", 1)),
    "index_arrays": lambda arguments: Value(frozenset(["tuple"]), item=array("int64", None)),
    "text": lambda arguments: plain("str"),
    "nothing": lambda arguments: plain("none"),
    "shape_of": lambda arguments: Value(frozenset(["shape"]), rank=_first(arguments).rank),
}

#: Functions that may return their argument itself, or a view of it.
_MAY_RETURN_THEIR_ARGUMENT = words(
    "asarray asanyarray ascontiguousarray real_if_close trim_zeros polyder polyint ix_"
)


def result(function: Function, arguments: ArgumentValues, node: cst.CSTNode) -> Value:
    """Return the possible values of a function's result, with the memory that it may share."""
    values = _values(arguments)
    if any(value.is_undetermined for value in values):
        return NO_VALUE
    return in_new_memory(RESULTS[function.result](arguments), node, function, values)


def may_view(name: str) -> bool:
    """Return whether the result of a function or method of NumPy may be a view of an argument."""
    rule = rules.find(f"numpy.{name}")
    return name in _MAY_RETURN_THEIR_ARGUMENT or (rule is not None and rule.returns_view)


def in_new_memory(output: Value, node: cst.CSTNode, function: Function, values: Sequence[Value]) -> Value:
    """Return a result in memory of its own, each array in it in another, and in that of a viewed argument."""
    if not output.may("array", "list", "tuple"):
        return output.doubtful(*values)
    is_view = may_view(function.name)
    if function.name == "einsum" and len(values) == 2:  # It transposes an array alone, or takes its diagonal.
        is_view = True
    shared = frozenset(root for value in values if is_view for root in value.memory)
    items = output.items and tuple(
        replace(item, memory=frozenset([CallMemory(node, (node, place))]) | shared)
        if item.may("array")
        else item
        for place, item in enumerate(output.items)
    )
    item = output.item and replace(output.item, memory=frozenset([node]) | shared)
    memory = frozenset([node]).union(shared, *(part.memory for part in items or ()))
    return replace(output, memory=memory, items=items, item=item).doubtful(*values)
