"""The assertions of `numpy.testing` in staged code. If an assertion fails, the host repeats the call, and
NumPy reports.

See https://numpy.org/doc/stable/reference/routines.testing.html.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from np2tf import tnp
from np2tf.staging import CalleeError
from np2tf.tnp._array.ndarray import is_array
from np2tf.tnp._tensor.index_bounds import record_violation


def counterpart(callee: Any) -> Callable[..., None] | None:
    """Return the function to trace in the place of a NumPy assertion; None for any other function."""
    name = getattr(callee, "__name__", "")
    # A function of `tnp` is equal to NumPy's function.
    return _ASSERTIONS[name] if name in _ASSERTIONS and callee == getattr(np.testing, name) else None


def _hold(x: Any, y: Any, compare: Callable[[Any, Any], Any]) -> None:
    """Compare elementwise. If the comparison fails, NumPy itself decides in the repeated call.

    Raises:
        StagingError: if the comparison certainly fails, or the values are no numbers and arrays.
    """
    if not all(
        is_array(operand) or isinstance(operand, (np.ndarray, np.generic, int, float)) for operand in (x, y)
    ):
        raise CalleeError("asserts something of what is no array")
    x, y = tnp.asarray(x), tnp.asarray(y)
    if x.shape != y.shape and x.ndim and y.ndim:
        raise CalleeError("asserts something of arrays of two shapes")
    holds = tnp.all(compare(x, y))
    if is_array(holds):
        record_violation(~holds.tensor)
    elif not holds:
        raise CalleeError("an assertion of numpy.testing fails")


def _equal(x: Any, y: Any) -> Any:
    both_nan = (x != x) & (y != y)
    return (x == y) | both_nan


def _equal_numbers(x: Any, y: Any) -> Any:
    """Return whether numbers are equal; NumPy distinguishes zeros of different signs in numbers."""
    return _equal(x, y) & ((x != 0) | (tnp.copysign(1.0, x) == tnp.copysign(1.0, y)))


def _assert_array_equal(actual: Any, desired: Any, err_msg: str = "", verbose: bool = True) -> None:
    _hold(actual, desired, _equal)


def _assert_equal(actual: Any, desired: Any, err_msg: str = "", verbose: bool = True) -> None:
    if _is_plain(actual) and _is_plain(desired):
        np.testing.assert_equal(actual, desired, err_msg, verbose)
    else:
        _hold(actual, desired, _equal if np.ndim(actual) or np.ndim(desired) else _equal_numbers)


def _is_plain(value: Any) -> bool:
    """Return whether a value has no staged parts, such as a number, a string or a shape."""
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, (int, float, complex, str, bytes, np.generic))


def _assert_allclose(
    actual: Any,
    desired: Any,
    rtol: float = 1e-07,
    atol: float = 0,
    equal_nan: bool = True,
    err_msg: str = "",
    verbose: bool = True,
) -> None:
    _hold(actual, desired, lambda x, y: tnp.isclose(x, y, rtol=rtol, atol=atol, equal_nan=equal_nan))


def _assert_array_less(x: Any, y: Any, err_msg: str = "", verbose: bool = True) -> None:
    _hold(x, y, lambda x, y: x < y)


#: name -> the assertion in staged code
_ASSERTIONS: dict[str, Callable[..., None]] = {
    "assert_allclose": _assert_allclose,
    "assert_array_equal": _assert_array_equal,
    "assert_equal": _assert_equal,
    "assert_array_less": _assert_array_less,
}
