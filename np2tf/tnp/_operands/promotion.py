"""Dtypes and promotion: by NumPy's rules (NEP 50), or by the rules that `np2tf.config.promotion` names.

A Python number is *weak*: it takes part in promotion by its type (int, float, complex) and not by a dtype.
See https://numpy.org/neps/nep-0050-scalar-promotion.html. All code asks this module for common types. Each
set of rules has its own tables, which are filled on first use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product
from typing import Any, Protocol

import numpy as np
import tensorflow as tf

from np2tf.config import config
from np2tf.staging import (
    OF_ROWS,
    ArrayClassError,
    NoGraphFormError,
    PathTypeError,
    RaggedError,
    UnsupportedDtypeError,
)
from np2tf.tnp._array.dtypes import is_unsupported_dtype
from np2tf.tnp._array.ndarray import arrays_of_rows, is_array, scalar
from np2tf.tnp._array.sequences import StackableSequence
from np2tf.tnp._front.promotion_mode import current_mode, in_force, uses_numpy_rules
from np2tf.tnp._operands.lattice import Lattice, is_known, takes_one_type
from np2tf.tnp._operands.path_dependent import (
    PathDependentKind,
    main_number,
    path_dependence_error,
    promoting_kind,
)

#: A dtype, or the type of a weak Python number.
Kind = Any

_DEFAULT: dict[type, np.dtype[Any]] = {
    bool: np.dtype(bool),
    int: np.dtype(np.int64),
    float: np.dtype(np.float64),
    complex: np.dtype(np.complex128),
}
_WEAK_SAMPLE: dict[Kind, Any] = {int: 1, float: 1.0, complex: 1j}
Loop = tuple[np.dtype[Any], ...]


# -- rules ---------------------------------------------------------------------------------------------------


class _Rules(Protocol):
    """A set of promotion rules, for types that are not path-dependent."""

    def default(self, kind: Kind) -> np.dtype[Any]: ...
    def common(self, kinds: tuple[Kind, ...]) -> np.dtype[Any]: ...
    def inexact(self, kinds: tuple[Kind, ...]) -> np.dtype[Any]: ...
    def loop(self, ufunc: np.ufunc, kinds: tuple[Kind, ...]) -> Loop: ...


class _NumPyRules:
    """NumPy's rules. NumPy itself applies them."""

    def default(self, kind: Kind) -> np.dtype[Any]:
        return _DEFAULT.get(kind, kind)  # type: ignore[arg-type, return-value]

    def common(self, kinds: tuple[Kind, ...]) -> np.dtype[Any]:
        if all(kind in _WEAK_SAMPLE for kind in kinds):
            return np.result_type(*map(self.default, kinds))
        return np.result_type(*(_WEAK_SAMPLE.get(kind, kind) for kind in kinds))

    def inexact(self, kinds: tuple[Kind, ...]) -> np.dtype[Any]:
        return self.common((*kinds, float))

    def loop(self, ufunc: np.ufunc, kinds: tuple[Kind, ...]) -> Loop:
        return _numpys_loop(ufunc, kinds)


def _numpys_loop(ufunc: np.ufunc, kinds: tuple[Kind, ...], **keywords: Any) -> Loop:
    if all(kind in _WEAK_SAMPLE for kind in kinds):
        kinds = tuple(_DEFAULT[kind] for kind in kinds)
    return ufunc.resolve_dtypes((*kinds, *[None] * ufunc.nout), **keywords)


class _Tables:
    """A set of promotion rules with a cache of its answers.

    Attributes:
        results: the common types, by the types of the operands.
        loops: the dtypes of operands and results, by ufunc, operand types and arguments.
    """

    def __init__(self, rules: _Rules) -> None:
        self.rules = rules
        self.results: dict[tuple[Kind, ...], np.dtype[Any]] = {}
        self.loops: dict[tuple[Any, ...], Loop] = {}


_numpys = _Tables(_NumPyRules())
_lattices: dict[tuple[str, str], _Tables] = {}


def _current_rules() -> _Tables:
    """Return the tables of the rules in force in this thread."""
    if uses_numpy_rules():
        return _numpys
    key = current_mode(), config.floats
    tables = _lattices.get(key)
    return tables if tables is not None else _lattices.setdefault(key, _Tables(Lattice(*key)))


def _rules_for(tables: _Tables, kinds: tuple[Kind, ...]) -> _Rules:
    """Return the rules for these types: NumPy's, if a type has no TensorFlow dtype."""
    return tables.rules if tables is _numpys or is_known(kinds) else _numpys.rules


# -- questions -----------------------------------------------------------------------------------------------


def kind_of(operand: Any) -> Kind:
    """Return the kind of `operand` in promotion: its dtype, or int, float or complex for a Python number."""
    kind = promotion_kind(operand)
    return promotion_kind(main_number(operand)) if isinstance(kind, PathDependentKind) else kind


def promotion_kind(operand: Any) -> Kind:
    """Return the kind of `operand` as `kind_of` does, but `PathDependentKind` for a path-dependent number."""
    cls = type(operand)
    if cls is int or cls is float or cls is complex:
        return cls
    if cls is scalar and operand.alternatives is not None:
        return operand.alternatives.kinds
    if cls is scalar and operand.weak is not None:
        return operand.weak if operand.weak is not bool else _DEFAULT[bool]
    if is_array(operand) or isinstance(operand, (np.ndarray, np.generic)):
        return operand.dtype
    if isinstance(operand, (tf.Tensor, tf.Variable)):
        return np.dtype(operand.dtype.as_numpy_dtype)
    if isinstance(operand, StackableSequence):
        return np.dtype(operand.stack().dtype.as_numpy_dtype)
    if isinstance(operand, (list, tuple)) and operand:
        return result_type_of(kinds_of_items(operand))
    if cls in arrays_of_rows:
        raise RaggedError(OF_ROWS)
    if has_array_protocol(cls):
        raise ArrayClassError.of(kind=cls.__name__)
    if isinstance(operand, (int, float, complex)) and not isinstance(operand, bool):
        return next(base for base in (int, float, complex) if isinstance(operand, base))
    return np.asarray(operand).dtype


def has_array_protocol(kind: type) -> bool:
    """Return whether NumPy's functions ask a class what to do with its objects."""
    return hasattr(kind, "__array_ufunc__") or hasattr(kind, "__array_function__")


def kinds_of_items(items: Iterable[Any]) -> tuple[Kind, ...]:
    """Return the kinds of a list's items that decide the dtype of an array made from the list, each once.

    By NumPy's rules a Python number in a list is not weak: np.array([1, np.float32(2)]) holds float64.
    """
    kinds = dict.fromkeys(map(kind_of, items))
    if in_force.numpys or uses_numpy_rules():
        kinds = dict.fromkeys(map(default_dtype, kinds))
    return tuple(kinds)


def kind_of_item(item: Any) -> Kind:
    """Return the kind of one item of a list, as `kinds_of_items` does for all items."""
    return kinds_of_items((item,))[0]


def result_type_of(kinds: tuple[Kind, ...]) -> np.dtype[Any]:
    """Return the common dtype of operands of these kinds.

    Raises:
        PromotionError: the mode in force does not promote the operands.
    """
    tables = _numpys if in_force.numpys else _current_rules()
    result = tables.results.get(kinds)
    if result is None:
        if any(isinstance(kind, PathDependentKind) for kind in kinds):
            return _agree_on_paths(result_type_of, kinds)
        result = tables.results[kinds] = _rules_for(tables, kinds).common(kinds)
    return result


def inexact_type(*operands: Any) -> np.dtype[Any]:
    """Return the common dtype of operands that are computed with as floating-point numbers."""
    kinds = tuple(map(kind_of, operands))
    return _rules_for(_current_rules(), kinds).inexact(kinds)


def _agree_on_paths(function: Callable[[tuple[Kind, ...]], Any], kinds: tuple[Kind, ...]) -> Any:
    """Return the result of `function` for path-dependent kinds, which must be the same on every path.

    Raises:
        StagingError: the result depends on the path.
    """
    results = set(map(function, choices_of_kinds(kinds)))
    if len(results) > 1:
        raise path_dependence_error(next(kind for kind in kinds if isinstance(kind, PathDependentKind)))
    return results.pop()


def choices_of_kinds(kinds: tuple[Kind, ...]) -> list[tuple[Kind, ...]]:
    """Return the kinds that operands have together on some path."""
    choices = [
        tuple(map(promoting_kind, kind.kinds)) if isinstance(kind, PathDependentKind) else (kind,)
        for kind in kinds
    ]
    return list(product(*choices))


def result_type(*operands: Any) -> np.dtype[Any]:
    """Return the common dtype of arrays, scalars, nested lists and Python numbers.

    If it depends on the path, this is the dtype for the main kinds. The call is discarded on other paths.
    """
    kinds = tuple(map(promotion_kind, operands))
    try:
        return result_type_of(kinds)
    except PathTypeError:
        main = [
            main_number(operand, promotes=True) if isinstance(kind, PathDependentKind) else operand
            for kind, operand in zip(kinds, operands, strict=True)
        ]
        return result_type_of(tuple(map(promotion_kind, main)))


def default_dtype(kind: Kind) -> np.dtype[Any]:
    """Return the dtype of an array made from one operand of this kind."""
    return _numpys.rules.default(kind)


def ufunc_loop(
    ufunc: np.ufunc, kinds: tuple[Kind, ...], dtype: Any = None, casting: Any = "same_kind"
) -> Loop:
    """Return the dtypes of the operands and results with which `ufunc` is computed.

    Args:
        ufunc: NumPy's ufunc.
        kinds: the kinds of the operands.
        dtype: the argument `dtype` of the call.
        casting: the argument `casting` of the call.

    Raises:
        PromotionError: the mode in force does not promote the operands.
        TypeError: the ufunc has no such loop (NumPy's error).
        StagingError: only NumPy can decide.
    """
    tables = _numpys if in_force.numpys else _current_rules()
    key = (ufunc, kinds, dtype, casting)
    loop = tables.loops.get(key)
    if loop is None:
        if casting == "equiv" and not _WEAK_SAMPLE.keys().isdisjoint(kinds):
            # Asked for the dtypes of such a call, NumPy 2 dereferences a null pointer.
            raise NoGraphFormError("casting='equiv' of a number of Python's")
        if any(isinstance(kind, PathDependentKind) for kind in kinds):
            return _agree_on_paths(lambda kinds: ufunc_loop(ufunc, kinds, dtype, casting), kinds)
        _refuse_foreign(kind for kind in kinds if kind not in _WEAK_SAMPLE)
        if dtype is not None:
            # A caller who names a dtype does not ask for promotion.
            signature = (*[None] * ufunc.nin, *[np.dtype(dtype)] * ufunc.nout)
            loop = _numpys_loop(ufunc, kinds, signature=signature, casting=casting)
        elif tables is _numpys or not takes_one_type(ufunc) or not is_known(kinds):
            loop = _numpys_loop(ufunc, kinds, casting=casting)
        else:
            loop = tables.rules.loop(ufunc, kinds)
            if casting != "same_kind":  # the rule 'same_kind' allows all promotions of the lattice
                _numpys_loop(ufunc, kinds, signature=loop, casting=casting)
        _refuse_foreign(loop)
        tables.loops[key] = loop
    return loop


def reduction_dtype(
    ufunc: np.ufunc, operand: np.dtype[Any], dtype: Any = None, out: np.dtype[Any] | None = None
) -> np.dtype[Any]:
    """Return the dtype in which a ufunc reduces or accumulates an array; an output is cast to its own dtype.

    Args:
        ufunc: NumPy's ufunc.
        operand: the dtype of the array.
        dtype: the argument `dtype` of the call.
        out: the dtype of the output, which takes part in promotion; None without an output.

    Raises:
        TypeError: the ufunc has no such loop (NumPy's error).
    """
    signature = None if dtype is None else (np.dtype(dtype), None, None)
    keywords: dict[str, Any] = {} if signature is None else {"signature": signature}
    loop = ufunc.resolve_dtypes((out, operand, None), casting="unsafe", reduction=True, **keywords)
    _refuse_foreign(loop)
    return loop[0]


def _refuse_foreign(dtypes: Iterable[np.dtype[Any]]) -> None:
    for dtype in dtypes:
        if is_unsupported_dtype(dtype):
            raise UnsupportedDtypeError.of(dtype=dtype)


def tf_dtype(dtype: Any) -> tf.DType:
    """Return TensorFlow's counterpart of a NumPy dtype.

    Raises:
        StagingError: TensorFlow has no counterpart (object, strings, structured, datetime64, longdouble).
    """
    if isinstance(dtype, tf.DType):
        return dtype
    dtype = np.dtype(dtype)
    if dtype.kind not in "biufcV" or dtype.fields is not None or dtype in _MISSING_DTYPES:
        raise UnsupportedDtypeError.of(dtype=dtype)
    return tf.as_dtype(dtype.newbyteorder("=") if dtype.kind != "V" else dtype)


_MISSING_DTYPES = frozenset(np.dtype(name) for name in ("longdouble", "clongdouble"))


def has_tf_dtype(dtype: np.dtype[Any]) -> bool:
    """Return whether TensorFlow has tensors of this dtype."""
    return dtype.kind in "biufc" and dtype not in _MISSING_DTYPES
