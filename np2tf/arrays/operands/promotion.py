"""Dtypes and promotion: NumPy's rules, or JAX's lattice."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import combinations, product
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.arrays.array.ndarray import arrays_of_rows, is_array, is_unsupported_dtype, scalar
from np2tf.arrays.array.sequences import StackableSequence
from np2tf.arrays.front.flags import current_mode, in_force, uses_numpy_rules
from np2tf.arrays.operands.numpy_warnings import user_location
from np2tf.arrays.operands.path_dependent import (
    PathDependentKind,
    main_number,
    path_dependence_error,
    promoting_kind,
)
from np2tf.core.errors import (
    OF_ROWS,
    ArrayClassError,
    NoGraphFormError,
    PathTypeError,
    PromotionError,
    RaggedError,
    UnsupportedDtypeError,
)
from np2tf.core.settings import config

# -- lattice -------------------------------------------------------------------------------------------------
# JAX's rules of promotion: a lattice, in which several types promote to the least type above all of them.
#
# The edges are the edges of https://docs.jax.dev/en/latest/type_promotion.html, under its names: "u1" is
# uint8, "bf" is bfloat16, and "i*", "f*" and "c*" are Python's numbers. If a Python number is the least
# type above all operands, the result has the default dtype of its kind, as everywhere in `tnp`.

_NAMES: dict[str, Any] = {
    "b1": np.dtype(bool),
    **{f"{kind}{size}": np.dtype(f"{kind}{size}") for kind in "ui" for size in (1, 2, 4, 8)},
    "bf": np.dtype(tf.bfloat16.as_numpy_dtype),
    **{name: np.dtype(name) for name in ("f2", "f4", "f8", "c8", "c16")},
    "i*": int,
    "f*": float,
    "c*": complex,
}
_JAX = {
    "b1": "i*",
    "i*": "u1 i1",
    "f*": "bf f2 c*",
    "c*": "c8",
    "u1": "u2 i2",
    "u2": "u4 i4",
    "u4": "u8 i8",
    "u8": "f*",
    "i1": "i2",
    "i2": "i4",
    "i4": "i8",
    "i8": "f*",
    "bf": "f4",
    "f2": "f4",
    "f4": "f8 c8",
    "f8": "c16",
    "c8": "c16",
}
#: Without promotion, a Python number still takes the dtype of the array, unless the array's kind is narrower.
_WITHOUT_PROMOTION = {"i*": "u1 u2 u4 u8 i1 i2 i4 i8 f*", "f*": "bf f2 f4 f8 c*", "c*": "c8 c16"}
#: The number of bits of an integer that a floating-point dtype can hold.
_EXACT = {
    _NAMES[name]: bits for name, bits in {"bf": 8, "f2": 11, "f4": 24, "f8": 53, "c8": 24, "c16": 53}.items()
}


def _types_above(edges: dict[str, str]) -> dict[Any, frozenset[Any]]:
    """Return, for each type, the set of the type itself and all types above it."""

    def reach(name: str) -> set[Any]:
        return {_NAMES[name]}.union(*map(reach, edges.get(name, "").split()))

    return {kind: frozenset(reach(name)) for name, kind in _NAMES.items()}


_ABOVE = {"all": _types_above(_JAX), "safe": _types_above(_JAX), "none": _types_above(_WITHOUT_PROMOTION)}


def is_known(kinds: Iterable[Any]) -> bool:
    """Return whether the lattice has all of these types; other types are promoted by NumPy."""
    return all(kind in _ABOVE["all"] for kind in kinds)


class Lattice:
    """The rules of a mode, with the default dtypes of a setting of `np2tf.config.floats`."""

    def __init__(self, mode: str, floats: str) -> None:
        self._mode = mode
        self._above = _ABOVE[mode]
        narrow = floats == "float32"
        self._defaults: dict[Any, np.dtype[Any]] = {
            int: np.dtype(np.int64),
            float: np.dtype(np.float32 if narrow else np.float64),
            complex: np.dtype(np.complex64 if narrow else np.complex128),
        }

    def default(self, kind: Any) -> np.dtype[Any]:
        """Return the dtype of an array of one type."""
        return self._defaults.get(kind, kind)

    def common(self, kinds: tuple[Any, ...]) -> np.dtype[Any]:
        """Return the common dtype of operands of these types.

        Raises:
            PromotionError: the mode does not promote them.
        """
        result = self._join(kinds)
        if result is None:
            pairs = combinations(dict.fromkeys(kinds), 2)
            raise self._refusal(*next(pair for pair in pairs if self._join(pair) is None))
        return result

    def inexact(self, kinds: tuple[Any, ...]) -> np.dtype[Any]:
        """Return the common dtype as a floating-point dtype; for integers, the default of these dtypes."""
        common = self.common(kinds)
        return self._defaults[float] if common.kind in "bui" else common

    def loop(self, ufunc: np.ufunc, kinds: tuple[Any, ...]) -> tuple[np.dtype[Any], ...]:
        """Return the dtypes of a ufunc's operands and results. Functions of floats use the default floats.

        Raises:
            PromotionError: the mode does not promote the operands.
            TypeError: the ufunc has no such loop (NumPy's error).
        """
        common = self.common(kinds)
        dtypes = _loop(ufunc, common)
        return (
            _loop(ufunc, self._defaults[float]) if common.kind in "bui" and dtypes[0].kind == "f" else dtypes
        )

    def _join(self, kinds: tuple[Any, ...]) -> np.dtype[Any] | None:
        """Return the result type; None if there is none, or if it is not safe."""
        bounds = frozenset.intersection(*(self._above[kind] for kind in kinds))
        least = next((kind for kind in bounds if bounds <= self._above[kind]), None)
        if least is None:
            return None
        result = self.default(least)
        return result if self._mode != "safe" or self._is_safe(kinds, result) else None

    def _is_safe(self, kinds: tuple[Any, ...], dtype: np.dtype[Any]) -> bool:
        """Return whether the result type is an operand's type and holds the values of all other operands."""
        return any(dtype == self.default(kind) for kind in kinds) and all(
            _holds(dtype, kind) for kind in kinds if isinstance(kind, np.dtype)
        )

    def _refusal(self, first: Any, second: Any) -> PromotionError:
        file, line = user_location()
        cause = f"{_kind_name(first)} and {_kind_name(second)} meet at {file}, line {line}"
        message = f'{cause}, and promotion="{self._mode}" does not promote them: convert one with astype'
        return PromotionError(message, (file, line))


def _holds(wide: np.dtype[Any], kind: np.dtype[Any]) -> bool:
    """Return whether a type above `kind` holds all of its values. Only integers may have too many bits."""
    if kind.kind not in "ui" or wide not in _EXACT:
        return True
    return int(np.iinfo(kind).max).bit_length() <= _EXACT[wide]


def _kind_name(kind: Any) -> str:
    return kind.name if isinstance(kind, np.dtype) else f"Python's {kind.__name__}"


def takes_one_type(ufunc: np.ufunc) -> bool:
    """Return whether a ufunc requires operands of a common type. For example, ldexp does not."""
    return any(len(set(loop.partition("->")[0])) == 1 for loop in ufunc.types)


def _loop(ufunc: np.ufunc, dtype: np.dtype[Any]) -> tuple[np.dtype[Any], ...]:
    return ufunc.resolve_dtypes((*[dtype] * ufunc.nin, *[None] * ufunc.nout))


# -- promotion -----------------------------------------------------------------------------------------------
# Dtypes and promotion: by NumPy's rules (NEP 50), or by the rules that `np2tf.config.promotion`
# names.
#
# A Python number is *weak*: it takes part in promotion by its type (int, float, complex) and not by a
# dtype. See https://numpy.org/neps/nep-0050-scalar-promotion.html. All code asks this module for common
# types. Each set of rules has its own tables, which are filled on first use.

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


_Rules = Lattice | _NumPyRules


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
            raise NoGraphFormError("casting='equiv' of a Python number")
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
    """Return the dtype in which a ufunc reduces or accumulates an array.

    That of an output takes part in promotion, and the output is cast to its own dtype.

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
