"""Element types and promotion: NEP 50, by tables that NumPy's own resolver fills at first use.

A Python number is *weak*: it takes part in promotion by its type (int, float, complex) and not by a dtype.
See https://numpy.org/neps/nep-0050-scalar-promotion.html.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.staging import StagingError
from np2tf.tnp.ndarray import is_array, is_foreign, scalar
from np2tf.tnp.rows import Rows
from np2tf.tnp.undecided import Undecided, decided, refused

#: A dtype, or the type of a weak Python number.
Kind = Any

_DEFAULT: dict[type, np.dtype[Any]] = {
    bool: np.dtype(bool),
    int: np.dtype(np.int64),
    float: np.dtype(np.float64),
    complex: np.dtype(np.complex128),
}
_WEAK_SAMPLE: dict[Kind, Any] = {int: 1, float: 1.0, complex: 1j}
_loops: dict[tuple[Any, ...], tuple[np.dtype[Any], ...]] = {}
_results: dict[tuple[Kind, ...], np.dtype[Any]] = {}


def kind_of(operand: Any) -> Kind:
    """What `operand` brings to promotion: its dtype, or int, float or complex for a Python number."""
    return decided(promotion_kind(operand))


def promotion_kind(operand: Any) -> Kind:
    """The same, or `Undecided` of a number that is Python's on one path and NumPy's on another."""
    cls = type(operand)
    if cls is int or cls is float or cls is complex:
        return cls
    if cls is scalar and operand.weak is not None:
        return operand.weak if operand.weak is not bool else _DEFAULT[bool]
    if cls is scalar and operand.undecided is not None:
        return operand.undecided
    if is_array(operand) or isinstance(operand, (np.ndarray, np.generic)):
        return operand.dtype
    if isinstance(operand, (tf.Tensor, tf.Variable)):
        return np.dtype(operand.dtype.as_numpy_dtype)
    if isinstance(operand, Rows):
        return np.dtype(operand.stacked().dtype.as_numpy_dtype)
    if isinstance(operand, (list, tuple)) and operand:
        # Inside a list a Python number is not weak: np.array([1, np.float32(2)]) holds float64.
        kinds = {default_dtype(kind_of(item)) for item in operand}
        return np.dtype(result_type_of(tuple(kinds)))
    if hasattr(cls, "__array_ufunc__") or hasattr(cls, "__array_function__"):
        raise StagingError(f"a {cls.__name__}, which NumPy asks what to do", "NP2TF503")
    if isinstance(operand, (int, float, complex)) and not isinstance(operand, bool):
        return next(base for base in (int, float, complex) if isinstance(operand, base))
    return np.asarray(operand).dtype


def result_type_of(kinds: tuple[Kind, ...]) -> np.dtype[Any]:
    """NumPy's result type of operands of these kinds."""
    result = _results.get(kinds)
    if result is None:
        if any(isinstance(kind, Undecided) for kind in kinds):
            return _on_every_path(result_type_of, kinds)
        samples = [_WEAK_SAMPLE.get(kind, kind) for kind in kinds]
        if all(kind in _WEAK_SAMPLE for kind in kinds):
            samples = [_DEFAULT[kind] for kind in kinds]
        result = _results[kinds] = np.result_type(*samples)
    return result


def _on_every_path(function: Callable[[tuple[Kind, ...]], Any], kinds: tuple[Kind, ...]) -> Any:
    """What `function` gives for operands of these kinds, of which some are undecided.

    Raises:
        StagingError: it depends on the path.
    """
    choices = [(kind.weak, kind.dtype) if isinstance(kind, Undecided) else (kind,) for kind in kinds]
    results = {function(chosen) for chosen in product(*choices)}
    if len(results) > 1:
        raise refused(next(kind for kind in kinds if isinstance(kind, Undecided)))
    return results.pop()


def result_type(*operands: Any) -> np.dtype[Any]:
    """NumPy's result type of arrays, scalars, nested lists and Python numbers."""
    return result_type_of(tuple(map(promotion_kind, operands)))


def default_dtype(kind: Kind) -> np.dtype[Any]:
    """The dtype of an array made from one operand of this kind."""
    return _DEFAULT.get(kind, kind)  # type: ignore[arg-type, return-value]


def ufunc_loop(
    ufunc: np.ufunc, kinds: tuple[Kind, ...], dtype: Any = None, casting: Any = "same_kind"
) -> tuple[np.dtype[Any], ...]:
    """Dtypes of the operands and results with which NumPy would compute `ufunc`.

    Raises:
        TypeError: NumPy's, where the ufunc has no such loop.
    """
    key = (ufunc, kinds, dtype, casting)
    loop = _loops.get(key)
    if loop is None:
        if any(isinstance(kind, Undecided) for kind in kinds):
            return _on_every_path(lambda kinds: ufunc_loop(ufunc, kinds, dtype, casting), kinds)
        if all(kind in _WEAK_SAMPLE for kind in kinds):
            kinds = tuple(_DEFAULT[kind] for kind in kinds)
        _refuse_foreign(kind for kind in kinds if kind not in _WEAK_SAMPLE)
        if dtype is None:
            loop = ufunc.resolve_dtypes((*kinds, *[None] * ufunc.nout), casting=casting)
        else:
            signature = (*[None] * ufunc.nin, *[np.dtype(dtype)] * ufunc.nout)
            loop = ufunc.resolve_dtypes((*kinds, *[None] * ufunc.nout), signature=signature, casting=casting)
        _refuse_foreign(loop)
        _loops[key] = loop
    return loop


def _refuse_foreign(dtypes: Iterable[np.dtype[Any]]) -> None:
    for dtype in dtypes:
        if is_foreign(dtype):
            raise StagingError(f"TensorFlow has no dtype {dtype}", "NP2TF504")


def tf_dtype(dtype: Any) -> tf.DType:
    """TensorFlow's counterpart of a NumPy dtype.

    Raises:
        StagingError: TensorFlow has none (object, strings, structured, datetime64, longdouble).
    """
    if isinstance(dtype, tf.DType):
        return dtype
    dtype = np.dtype(dtype)
    if dtype.kind not in "biufcV" or dtype.fields is not None or dtype in _MISSING:
        raise StagingError(f"TensorFlow has no dtype {dtype}", "NP2TF504")
    return tf.as_dtype(dtype.newbyteorder("=") if dtype.kind != "V" else dtype)


_MISSING = frozenset(np.dtype(name) for name in ("longdouble", "clongdouble"))


def has_tf_dtype(dtype: np.dtype[Any]) -> bool:
    """Whether arrays of this dtype can be tensors."""
    return dtype.kind in "biufc" and dtype not in _MISSING
