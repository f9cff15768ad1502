"""Numbers that do not fit where they are converted to another dtype: NumPy's warnings, errors and values.

See https://numpy.org/doc/stable/reference/generated/numpy.errstate.html.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import np2tf
from np2tf import tnp


def _array_at_places(np: Any, x: Any, dtype: Any) -> Any:
    made = np.zeros(3, dtype)
    made[[0, 2]] = x[:2]
    return made


def _number_at_a_place(np: Any, x: Any, dtype: Any) -> Any:
    made = np.zeros(3, dtype)
    made[1] = x[1]
    return made


def _by_mask(np: Any, x: Any, dtype: Any) -> Any:
    made = np.zeros(3, dtype)
    made[np.array([True, False, True])] = x[:2]
    return made


def _slice(np: Any, x: Any, dtype: Any) -> Any:
    made = np.zeros((2, 3), dtype)
    made[1:] = x
    return made


def _filled(np: Any, x: Any, dtype: Any) -> Any:
    made = np.zeros(3, dtype)
    made.fill(x[1])
    return made


def _flat(np: Any, x: Any, dtype: Any) -> Any:
    made = np.zeros((3, 1), dtype)
    made.flat[:] = x
    return made


def _copied(np: Any, x: Any, dtype: Any) -> Any:
    made = np.zeros(3, dtype)
    np.copyto(made, x, casting="unsafe")
    return made


def _copied_where(np: Any, x: Any, dtype: Any) -> Any:
    made = np.zeros(3, dtype)
    np.copyto(made, x, casting="unsafe", where=np.array([True, True, False]))
    return made


CONVERSIONS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "astype": lambda np, x, dtype: x.astype(dtype),
    "astype, strided": lambda np, x, dtype: x[::2].astype(dtype, order="F"),
    "array": lambda np, x, dtype: np.array(x, dtype),
    "concatenate": lambda np, x, dtype: np.concatenate([x, x], dtype=dtype, casting="unsafe"),
    "slice": _slice,
    "places": _array_at_places,
    "place": _number_at_a_place,
    "mask": _by_mask,
    "fill": _filled,
    "flat": _flat,
    "copyto": _copied,
    "copyto, where": _copied_where,
}
VALUES = {
    "fits": [1.0, -2.0, 3.0],
    "nan": [1.0, np.nan, 3.0],
    "infinite": [1.0, np.inf, -np.inf],
    "beyond half": [1.0, 65519.0, 65520.0],
    "beyond single": [1.0, 3.5e38, -1e300],
    "half a unit beyond single": [1.0, 3.4028235677973366e38, 3.4028235677973362e38],
    "beyond int8": [1.0, 300.0, -129.0],
    "beyond int64": [1.0, 2.0**63, -(2.0**64)],
}
GIVEN = ("float64", "float32", "float16", "complex128", "complex64", "int64", "uint16")
WANTED = ("float32", "float16", "complex64", "int8", "int64", "uint8", "uint64", "bool")


def _outcome(np: Any, convert: Callable[..., Any], values: Any, given: str, wanted: str) -> Any:
    """Convert values; return the result or the error, and the warnings."""
    x = np.array(np.asarray(values, given))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            made = convert(np, x, wanted)
        except (FloatingPointError, OverflowError, ValueError) as error:
            return type(error), str(error)
    found = tnp.asarray(made)
    shown = str(found.dtype), found.tolist()
    return {(warning.category, str(warning.message)) for warning in told}, repr(shown)


def _cases() -> Iterator[tuple[str, Any, str, str]]:
    with np.errstate(all="ignore"):
        for name, values in VALUES.items():
            for given in GIVEN:
                if np.dtype(given).kind not in "iu" or name in ("fits", "beyond int8", "beyond half"):
                    for wanted in WANTED:
                        yield name, np.array(values).astype(given), given, wanted


@pytest.mark.parametrize("conversion", CONVERSIONS)
@pytest.mark.parametrize("mode", ["warn", "raise"])
def test_as_in_numpy(conversion: str, mode: Any) -> None:
    wrong = {}
    for name, values, given, wanted in _cases():
        with np2tf.config.using(eager="tensorflow"), np.errstate(all=mode):
            arguments = CONVERSIONS[conversion], values, given, wanted
            expected, found = _outcome(np, *arguments), _outcome(tnp, *arguments)
        if found != expected:
            wrong[name, given, wanted] = f"{found} and not {expected}"
    assert not wrong


@pytest.mark.parametrize("mode", ["ignore", "print", "log", "call"])
def test_other_modes(mode: Any, capfd: pytest.CaptureFixture[str]) -> None:
    """``np.errstate`` may also ask to print, to write to an object, or to call a function."""
    told: list[Any] = []

    class Log:
        def write(self, message: str) -> None:
            told.append(message)

    handler: Any = {"log": Log(), "call": lambda *a: told.append(a)}.get(mode)
    found = []
    for module in (np, tnp):
        told.clear()
        with np2tf.config.using(eager="tensorflow"), np.errstate(all=mode, call=handler):
            made = module.array(np.array([1e300, 1.0])).astype("float32")
        found.append((list(told), capfd.readouterr().err, np.asarray(made).tolist()))
    assert found[0] == found[1]
    assert bool(found[0][0] or found[0][1]) == (mode != "ignore")


def test_python_numbers() -> None:
    """A float that is infinite in float32."""
    found = []
    for module in (np, tnp):
        with np2tf.config.using(eager="tensorflow"), warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            x = module.ones(2, "float32")
            x[0] = 1e100
            x *= -1e100
            made = x + 1e100
        messages = [str(warning.message) for warning in told if "cast" in str(warning.message)]
        found.append((messages, str(made.tolist())))
    assert found[0] == found[1]
