"""The values of the results of NumPy's functions: one function for each word of the column `result` in
rules/tensorflow/functions.toml.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import libcst as cst

from np2tf.rewrites.tensorflow_target.model.values import (
    NUMBERS,
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

#: Parameter -> the value of its argument, and the argument's expression.
Given = Mapping[str, tuple[Value, cst.BaseExpression]]


def product(left: Value, right: Value) -> Value:
    """Return the value of a matrix product, or of `np.dot`."""
    dtype = promote([left, right])
    ranks = (broadcast_rank([left]), broadcast_rank([right]))
    if 0 in ranks:
        return array(dtype, broadcast_rank([left, right]), scalar=True)
    rank = {(1, 1): 0, (1, 2): 1, (2, 1): 1, (2, 2): 2}.get(ranks)  # type: ignore[arg-type]
    return array(dtype, rank, scalar=True)


def _values(given: Given) -> list[Value]:
    return [value for value, _ in given.values()]


def _first(given: Given) -> Value:
    return next(iter(given.values()))[0] if given else unknown()


def _as_float(dtype: str | None) -> str | None:
    return "float64" if dtype in ("int32", "int64", "bool") else dtype


def _elementwise(given: Given) -> Value:
    values = [one for one in _values(given) if not one.only("none")]
    return array(promote(values), broadcast_rank(values), scalar=True)


def _float(given: Given) -> Value:
    values = _values(given)
    return array(_as_float(promote(values)), broadcast_rank(values), scalar=True)


def _bool(given: Given) -> Value:
    return array("bool", broadcast_rank(_values(given)), scalar=True)


def _where(given: Given) -> Value:
    if len(given) == 1:
        return _indices(given)
    condition, *others = _values(given)
    return array(promote(others), broadcast_rank([condition, *others]), scalar=True)


def _indices(given: Given) -> Value:
    rank = _first(given).rank
    index = array("int64", 1)
    return tuple_value([index] * rank) if rank else Value(frozenset(["tuple"]), item=index)


def _reduction(given: Given, dtype: str | None) -> Value:
    first = _first(given)
    axis, written = given.get("axis", (plain("none"), None))
    keepdims = given.get("keepdims")
    kept = keepdims is not None and not _is(keepdims[1], "False")
    if axis.only("none") and not kept:
        return array(dtype, 0)
    if first.rank is None or not first.only("array", "scalar"):
        return array(dtype, None, scalar=True)
    if kept:
        return array(dtype, first.rank)
    if axis.only("int"):
        return array(dtype, first.rank - 1)
    if isinstance(written, cst.Tuple):
        return array(dtype, first.rank - len(written.elements))
    return array(dtype, None, scalar=True)


def _is(node: cst.CSTNode, name: str) -> bool:
    return isinstance(node, cst.Name) and node.value == name


def _sum(given: Given) -> Value:
    dtype = promote([_first(given)])
    return _reduction(given, "int64" if dtype in ("int32", "bool") else dtype)


def _mean(given: Given) -> Value:
    return _reduction(given, _as_float(promote([_first(given)])))


def _extremum(given: Given) -> Value:
    return _reduction(given, promote([_first(given)]))


def _norm(given: Given) -> Value:
    dtype = _as_float(promote([_first(given)]))
    return _reduction(given, None if dtype == "complex128" else dtype)


def _cumulative(given: Given) -> Value:
    first = _first(given)
    dtype = promote([first])
    rank = first.rank if "axis" in given else 1
    return array("int64" if dtype in ("int32", "bool") else dtype, rank)


def _like(given: Given) -> Value:
    first = _first(given)
    dtype, rank = _of_elements(first)
    if "axis" in given and not given["axis"][0].only("int"):
        rank = None
    return array(_dtype(given) or (dtype if "dtype" not in given else None), rank)


def _dtype(given: Given) -> str | None:
    """Return the dtype that a call requests; None if it requests none."""
    return given["dtype"][0].dtype if "dtype" in given else None


def _rank_of_shape(given: Given) -> int | None:
    value, written = given.get("shape", (unknown(), None))
    if value.only("int", "bool", "scalar"):
        return 1
    if isinstance(written, (cst.Tuple, cst.List)):
        parts = written.elements
        return None if any(isinstance(one, cst.StarredElement) for one in parts) else len(parts)
    if value.items is not None and value.only("tuple"):
        return len(value.items)
    return value.rank if value.only("shape") else None


def _shape(given: Given) -> Value:
    asked = _dtype(given) or ("float64" if "dtype" not in given else None)
    return array(asked, _rank_of_shape(given), scalar=False)


def _fill(given: Given) -> Value:
    value = given.get("fill_value", (unknown(), None))[0]
    return array(_dtype(given) or ("dtype" not in given and promote([value])) or None, _rank_of_shape(given))


def _array(given: Given) -> Value:
    dtype, rank = _of_elements(_first(given))
    return array(_dtype(given) or (dtype if "dtype" not in given else None), rank, scalar=False)


def _of_elements(value: Value) -> tuple[str | None, int | None]:
    """Return the dtype and the number of axes of an array that is made of a value."""
    if value.only(*NUMBERS):
        return promote([value]), 0
    if value.only("array", "scalar"):
        return value.dtype, value.rank
    if value.only("list", "tuple"):
        inside = [value.item] if value.items is None else list(value.items)
        found = [_of_elements(one) for one in inside if one is not None]
        ranks = {rank for _, rank in found}
        rank = ranks.pop() if len(ranks) == 1 else None
        known = [array(dtype, 1) for dtype, _ in found]
        return promote(known) if known else None, None if rank is None else rank + 1
    return None, None


def _range(given: Given) -> Value:
    ends = [value for name, (value, _) in given.items() if name != "dtype"]
    dtype = "int64" if all(one.only("int", "bool") for one in ends) else None
    if dtype is None and any(one.only("float") for one in ends):
        dtype = "float64"
    return array(_dtype(given) or (dtype if "dtype" not in given else None), 1)


def _matrix(given: Given) -> Value:
    made = _dtype(given) or ("float64" if "dtype" not in given else None)
    return array(made, 2)


def _outer(given: Given) -> Value:
    return array(promote(_values(given)), 2)


def _product(given: Given) -> Value:
    values = _values(given)
    return product(values[0], values[1]) if len(values) == 2 else array(None, None, scalar=True)


def _reshape(given: Given) -> Value:
    return array(_first(given).dtype, _rank_of_shape(given), scalar=True)


def _join(given: Given) -> Value:
    held = _first(given)
    inside = held.items if held.items is not None else (held.item,)
    one = union(inside)
    return array(one.dtype, one.rank if "axis" not in given or one.rank != 0 else None, scalar=False)


def _any(given: Given) -> Value:
    return array(None, None, scalar=True)


def _list(given: Given) -> Value:
    values = [value for name, (value, _) in given.items() if name != "indexing"]
    if any(one.rank != 1 for one in values):
        return list_value(array(None, None), ())
    return tuple_value(array(one.dtype, len(values)) for one in values)


def _complex(given: Given) -> Value:
    first = _first(given)
    return array("complex128" if first.dtype not in (None, "float32") else None, first.rank)


def _magnitude(given: Given) -> Value:
    first = _first(given)
    dtype = promote([first])
    return array("float64" if dtype == "complex128" else dtype, broadcast_rank([first]), scalar=True)


RESULTS: dict[str, Callable[[Given], Value]] = {
    "elementwise": _elementwise,
    "float": _float,
    "bool": _bool,
    "where": _where,
    "indices": _indices,
    "sum": _sum,
    "mean": _mean,
    "norm": _norm,
    "extremum": _extremum,
    "count": lambda given: _reduction(given, "int64"),
    "truth": lambda given: _reduction(given, "bool"),
    "running": _cumulative,
    "like": _like,
    "shape": _shape,
    "filled": _fill,
    "array": _array,
    "range": _range,
    "vector": lambda given: array("float64", 1),
    "flat": lambda given: array(_first(given).dtype, 1),
    "counts": lambda given: array("int64", 1),
    "complex": _complex,
    "magnitude": _magnitude,
    "contracted": lambda given: array(promote(_values(given)), 0),
    "matrix": _matrix,
    "outer": _outer,
    "matrix_like": lambda given: array(_as_float(_first(given).dtype), _first(given).rank),
    "solved": lambda given: array(None, _values(given)[-1].rank),
    "scalar": lambda given: array(None, 0),
    "product": _product,
    "reshaped": _reshape,
    "joined": _join,
    "list": _list,
    "any": _any,
    "python_bool": lambda given: plain("bool"),
    "python_int": lambda given: plain("int"),
    "shape_of": lambda given: Value(frozenset(["shape"]), rank=_first(given).rank),
}
