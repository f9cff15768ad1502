"""Random expressions of NumPy, each with its value and what any compiler may make of that.

`expression(seed)` makes one from a seed. `Expression.known(arguments)` evaluates it as NumPy does, one
operation after the other, and carries along, for each element, three things: how far the results of
faithful implementations may differ (0: not a bit), whether the element is free (nothing can be said, because
a subnormal number or an uncertain decision was on the way), and how much of the error goes away if a product
is fused with the sum that it is a part of. `Known.differs(result)` compares by them.

What makes an error: functions of the mathematical library (`LIBRARY_ULPS`), sums and products over axes
(as far as their order matters), and a product that a fused multiply-add does not round. Everything else is
exact, and an error that went into it is followed through it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

#: How many units in the last place the functions of the mathematical library may be off.
LIBRARY_ULPS = 4
#: TensorFlow's kernel for powers of float64 has fewer digits of the logarithm, and loses more the larger that
#: is: so many units, or this share of the result's logarithm.
POWER_ULPS, POWER_SHARE = 64, 0.25
#: Arithmetic of complex numbers is off by this many units of the absolute value of the result's parts.
COMPLEX_ULPS = 8
_WIDE = np.longdouble
#: For an element that is zero, but whose sign may differ.
_SIGNLESS = _WIDE("1e-4900")


@dataclass(frozen=True)
class Known:
    """What is known about the value of an expression.

    Attributes:
        value: NumPy's value.
        error: for each element, how far another faithful result may be from NumPy's, in both parts of a
            complex number; 0 if all results have the same bits. A NaN stays a NaN and an infinity stays that
            infinity.
        free: whether an element may have any value.
        fused: the rounding that is lost if a multiply-add follows; infinite where a product overflows.
    """

    value: Any
    error: np.ndarray
    free: np.ndarray
    fused: np.ndarray

    @property
    def array(self) -> np.ndarray:
        return np.asarray(self.value)

    @property
    def exact(self) -> bool:
        return not self.error.any() and not self.free.any()

    def differs(self, result: np.ndarray) -> str | None:
        """Return how a result differs from what it may be, None if it does not."""
        wanted = self.array
        if (wanted.dtype, wanted.shape) != (result.dtype, result.shape):
            return f"{result.dtype}{result.shape} where NumPy has {wanted.dtype}{wanted.shape}"
        bad = ~self.free & ~same(wanted, result, self.error)
        if not bad.any():
            return None
        at = tuple(np.argwhere(bad)[0])
        place, count = tuple(map(int, at)), f"{int(bad.sum())} of {bad.size} elements"
        told = f"{result[at]!r} where NumPy has {wanted[at]!r}, at {place}, {count}"
        return f"{told}, may be off by {self.error[at]:.3g}"


def same(wanted: np.ndarray, found: np.ndarray, error: np.ndarray) -> np.ndarray:
    """Return which elements are equal to within the error: bit for bit where it is 0; any NaN is a NaN."""
    if wanted.dtype.kind == "c":
        return same(wanted.real, found.real, error) & same(wanted.imag, found.imag, error)
    if wanted.dtype.kind != "f":
        return wanted == found
    with np.errstate(all="ignore"):
        equal = (wanted == found) & ((np.signbit(wanted) == np.signbit(found)) | (error > 0))
        close = (
            np.isfinite(wanted) & (np.abs(wanted.astype(_WIDE) - found.astype(_WIDE)) <= error) & (error > 0)
        )
    return equal | close | (np.isnan(wanted) & np.isnan(found))


def _given(value: Any) -> Known:
    shape = np.shape(value)
    return Known(value, np.zeros(shape, _WIDE), np.zeros(shape, bool), np.zeros(shape, _WIDE))


def _size(value: Any) -> np.ndarray:
    """Absolute values, of complex numbers the larger finite part's, in more digits."""
    array = np.asarray(value)
    if array.dtype.kind == "c":
        sizes = [np.abs(part.astype(_WIDE)) for part in (array.real, array.imag)]
        return np.maximum(*(np.where(np.isfinite(size), size, 0) for size in sizes))
    return np.abs(array.astype(_WIDE))


def _ulp(value: Any) -> np.ndarray:
    """Return one unit in the last place of each element, at least the least normal number; 0 of integers."""
    array = np.asarray(value)
    if array.dtype.kind not in "fc":
        return np.zeros(array.shape, _WIDE)
    information = np.finfo(array.dtype)
    size = _size(array)
    unit = np.maximum(size * _WIDE(information.eps), _WIDE(information.tiny))
    return np.where(np.isfinite(size), unit, 0)


Parts = tuple[np.ndarray, np.ndarray, np.ndarray]
#: From the operands and the result: the error, the free elements and the rounding of products.
Rule = Callable[["Operation", Sequence[Known], Any], Parts]


def _anywhere(operands: Sequence[Known], shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return where an operand has an error, and where one is free."""
    inexact = np.zeros(shape, bool)
    free = np.zeros(shape, bool)
    for operand in operands:
        inexact = inexact | (operand.error > 0)
        free = free | operand.free
    return np.broadcast_to(inexact, shape), np.broadcast_to(free, shape)


def _finite(value: Any) -> np.ndarray:
    return np.isfinite(np.asarray(value))


def _close(operands: Sequence[Known], value: Any, error: np.ndarray, ulps: float = 1) -> Parts:
    """Return the parts of a result with its operands' error; where they have one, it is rounded again."""
    inexact, free = _anywhere(operands, np.shape(value))
    error = np.where(inexact, error + ulps * _ulp(value), error)
    # Whether a result is finite may depend on the errors.
    all_finite = np.logical_and.reduce(np.broadcast_arrays(*(_finite(k.value) for k in operands)))
    uncertain = inexact & np.broadcast_to(all_finite, np.shape(value)) & ~_finite(value)
    error = np.where(_finite(value) | (np.asarray(value).dtype.kind == "c"), error, 0)
    free = free | uncertain | np.isnan(error) | np.isinf(error)
    if np.asarray(value).dtype.kind in "fc":
        free = free | ((error > 0) & (_size(value) + error > np.finfo(np.asarray(value).dtype).max))
    return error, free, np.zeros(np.shape(value), _WIDE)


def _sum_of_two(operation: Operation, operands: Sequence[Known], value: Any) -> Parts:
    a, b = operands
    if np.asarray(value).dtype.kind not in "fc":
        return _discrete(operation, operands, value)
    fused = np.broadcast_to(a.fused + b.fused, np.shape(value))
    lost = Known(value, np.where(np.isfinite(fused), fused, 0), np.isinf(fused), fused)
    return _close([a, b, lost], value, a.error + b.error + lost.error)


def _product(operation: Operation, operands: Sequence[Known], value: Any) -> Parts:
    a, b = operands
    result = np.asarray(value)
    if result.dtype.kind not in "fc":
        return _discrete(operation, operands, value)
    size_a, size_b = _size(a.value), _size(b.value)
    error = np.where(a.error > 0, a.error * (size_b + b.error), 0) + np.where(
        b.error > 0, b.error * size_a, 0
    )
    if result.dtype.kind == "c":
        return _complex(operation, operands, value, error, size_a * size_b)
    error, free, _ = _close(operands, value, error)
    # Zero times infinity, where what is zero may be something else.
    for x, y in ((a, b), (b, a)):
        free = free | (np.isinf(x.array) & (y.error > 0) & (_size(y.value) <= y.error))
    out_of_range = _finite(a.value) & _finite(b.value) & ~np.isfinite(result)
    return error, free, np.where(out_of_range, np.inf, _ulp(value) / 2 * ((size_a != 0) & (size_b != 0)))


def _complex(
    operation: Operation, operands: Sequence[Known], value: Any, error: np.ndarray, size: np.ndarray
) -> Parts:
    """Return the parts of a product or quotient of complex numbers, from its operands' error and its size.

    Products with infinities and NaN are TensorFlow's (docs/op-library.md).
    """
    _, free = _anywhere(operands, np.shape(value))
    unit = _WIDE(np.finfo(np.asarray(value).dtype).eps)
    error = error + COMPLEX_ULPS * (unit * size + _WIDE(np.finfo(np.asarray(value).dtype).tiny))
    wild = ~np.logical_and.reduce(np.broadcast_arrays(*(_finite(k.value) for k in operands), _finite(value)))
    free = free | wild | ~np.isfinite(error)
    largest = np.finfo(np.asarray(value).dtype).max
    # Parts of the way must stay within range, squares too.
    for operand in operands:
        square = _size(operand.value) ** 2
        free = (
            free
            | (square > largest / 4)
            | ((square != 0) & (square < 4 * np.finfo(np.asarray(value).dtype).tiny))
        )
    return np.where(free, 0, error), free, np.zeros(np.shape(value), _WIDE)


def _quotient(operation: Operation, operands: Sequence[Known], value: Any) -> Parts:
    a, b = operands
    size_b = _size(b.value)
    with np.errstate(all="ignore"):
        least = size_b - b.error
        size = np.where(_finite(value), _size(value), 0)
        error = np.where((a.error > 0) | (b.error > 0), (a.error + size * b.error) / least, 0)
    if np.asarray(value).dtype.kind == "c":
        error = np.where(np.isfinite(error), 2 * error, error)
        return _complex(operation, operands, value, error, np.where(_finite(value), size, np.inf))
    uncertain = (b.error > 0) & (least <= 0)
    uncertain = uncertain | ((size_b == 0) & (a.error > 0) & (_size(a.value) <= a.error))
    error, free, fused = _close(operands, value, np.where(np.isinf(b.array), 0, error))
    return error, free | uncertain, fused


def _discrete(operation: Operation, operands: Sequence[Known], value: Any) -> Parts:
    """Exact of what is exact; of anything else nothing is known."""
    inexact, free = _anywhere(operands, np.shape(value))
    zeros = np.zeros(np.shape(value), _WIDE)
    return zeros, free | inexact, zeros


def _signed(operation: Operation, operands: Sequence[Known], value: Any) -> Parts:
    """The sign of the last operand, which a NaN has by chance."""
    error, free, fused = _discrete(operation, operands, value)
    return error, free | np.isnan(operands[-1].array), fused


def _corners(operand: Known) -> Iterator[np.ndarray]:
    """Yield the least and the greatest value, in the operand's dtype."""
    array = operand.array
    if array.dtype.kind != "f":
        yield array
        return
    for sign in (-1, 1):
        with np.errstate(all="ignore"):
            corner = (array.astype(_WIDE) + sign * operand.error).astype(array.dtype)
        yield np.where(operand.error > 0, np.nextafter(corner, array.dtype.type(sign * np.inf)), array)


def _monotonic(ulps: float) -> Rule:
    """A function of one number that does not change its direction near the number."""

    def rule(operation: Operation, operands: Sequence[Known], value: Any) -> Parts:
        (x,) = operands
        wide = np.asarray(value)
        inexact, free = _anywhere(operands, wide.shape)
        if wide.dtype.kind == "c":
            raise TypeError("of real numbers only")
        error = np.zeros(wide.shape, _WIDE)
        for corner in _corners(x):
            other = np.asarray(operation.compute(corner))
            distance = np.abs(other.astype(_WIDE) - wide.astype(_WIDE))
            free = free | (np.isfinite(other) != np.isfinite(wide))
            if wide.dtype.kind != "f":
                free = free | (other != wide)
            error = np.maximum(error, np.where(np.isfinite(distance), distance, 0))
        if wide.dtype.kind != "f":
            return np.zeros(wide.shape, _WIDE), free, np.zeros(wide.shape, _WIDE)
        error = error + np.where(inexact & (error > 0), _ulp(value), 0)
        if ulps:
            # The functions of the library are exact at some places: 0, where NumPy gives 0, and so on.
            error = np.where(_finite(value) & (wide != 0), error + ulps * _ulp(value), error)
        # Where errors decide the sign of a zero.
        error = np.where((error == 0) & inexact & (wide == 0), _SIGNLESS, error)
        return np.where(_finite(value), error, 0), free, np.zeros(wide.shape, _WIDE)

    return rule


def _lipschitz(ulps: float) -> Rule:
    """A function that changes at most as much as its operands do."""

    def rule(operation: Operation, operands: Sequence[Known], value: Any) -> Parts:
        error = sum(np.broadcast_to(k.error, np.shape(value)) for k in operands)
        error, free, fused = _close(operands, value, error, ulps=0)
        return (
            np.where(_finite(value) & (np.asarray(value) != 0), error + ulps * _ulp(value), error),
            free,
            fused,
        )

    return rule


def _library_of_two(ulps: float, sums: bool = False) -> Rule:
    """A function of the library of two exact numbers; `sums`: it adds them, so that it may be near zero."""

    def rule(operation: Operation, operands: Sequence[Known], value: Any) -> Parts:
        inexact, free = _anywhere(operands, np.shape(value))
        unit = np.maximum(
            _ulp(value), np.maximum(*(_ulp(k.array.astype(np.asarray(value).dtype)) for k in operands)) * sums
        )
        if ulps == POWER_ULPS:
            with np.errstate(all="ignore"):
                logarithm = np.abs(np.log(np.abs(np.asarray(value, _WIDE))))
            unit = unit * np.fmax(1, logarithm * POWER_SHARE / POWER_ULPS)
        certain = ~_finite(value) | (((np.asarray(value) == 0) | (np.asarray(value) == 1)) & (not sums))
        error = np.where(certain, 0, ulps * unit)
        return error, free | inexact, np.zeros(np.shape(value), _WIDE)

    return rule


def _passed(operation: Operation, operands: Sequence[Known], value: Any) -> Parts:
    """Negation and the like: nothing is rounded, and a product may still be fused."""
    (x,) = operands
    return x.error, x.free, x.fused


def _moved(operation: Operation, operands: Sequence[Known], value: Any) -> Parts:
    """The elements at other places."""
    (x,) = operands
    return operation.compute(x.error), operation.compute(x.free), operation.compute(x.fused)


def _magnitude(operation: Operation, operands: Sequence[Known], value: Any) -> Parts:
    (x,) = operands
    zeros = np.zeros(np.shape(value), _WIDE)
    if x.array.dtype.kind == "c":
        return _lipschitz(LIBRARY_ULPS)(operation, [Known(x.value, 2 * x.error, x.free, x.fused)], value)
    return x.error, x.free, zeros


def _part(operation: Operation, operands: Sequence[Known], value: Any) -> Parts:
    """The real or imaginary part."""
    (x,) = operands
    return x.error, x.free, np.zeros(np.shape(value), _WIDE)


def _chosen(operation: Operation, operands: Sequence[Known], value: Any) -> Parts:
    condition, a, b = operands
    shape = np.shape(value)
    pick = np.asarray(condition.value)
    error = np.where(pick, a.error, b.error)
    free = condition.free | np.where(pick, a.free, b.free)
    error, also_free, _ = _rounded(value, np.broadcast_to(error, shape), np.where(pick, a.array, b.array))
    return error, free | also_free, np.zeros(shape, _WIDE)


def _rounded(value: Any, error: np.ndarray, before: Any) -> Parts:
    """The conversion to another dtype."""
    error = np.where(error > 0, error + _ulp(value), 0)
    return error, np.zeros(np.shape(value), bool), np.zeros(np.shape(value), _WIDE)


def _extreme_of_two(operation: Operation, operands: Sequence[Known], value: Any) -> Parts:
    a, b = operands
    error, free, fused = _close(
        operands, value, np.broadcast_to(np.maximum(a.error, b.error), np.shape(value))
    )
    # Of two zeros with different signs implementations take the first or the second.
    if np.asarray(value).dtype.kind == "f":
        # (A constant may become zero in the operand's dtype.)
        x, y = (operand.array.astype(np.asarray(value).dtype) for operand in operands)
        zeros = (x == 0) & (y == 0) & (np.signbit(x) != np.signbit(y))
        error = np.where(zeros, np.maximum(error, _SIGNLESS), error)
    return error, free, fused


def _compared(operation: Operation, operands: Sequence[Known], value: Any) -> Parts:
    a, b = operands
    shape = np.shape(value)
    inexact, free = _anywhere(operands, shape)
    if a.array.dtype.kind == "c" or b.array.dtype.kind == "c":
        return _discrete(operation, operands, value)
    with np.errstate(all="ignore"):
        near = np.abs(a.array.astype(_WIDE) - b.array.astype(_WIDE)) <= a.error + b.error
    zeros = np.zeros(shape, _WIDE)
    return zeros, free | (inexact & near), zeros


def _tested(operation: Operation, operands: Sequence[Known], value: Any) -> Parts:
    """A test for NaN or infinities, which do not depend on errors."""
    (x,) = operands
    zeros = np.zeros(np.shape(value), _WIDE)
    return zeros, np.broadcast_to(x.free, np.shape(value)), zeros


def _cast(operation: Operation, operands: Sequence[Known], value: Any) -> Parts:
    (x,) = operands
    wanted, given = np.asarray(value), x.array
    if wanted.dtype == given.dtype:
        return _passed(operation, operands, value)
    if wanted.dtype.kind in "fc":
        error, free, fused = _rounded(value, x.error, given)
        if given.dtype.kind in "fc":
            free = free | ((error > 0) & (_size(given) + error > np.finfo(wanted.dtype).max))
        return np.where(_finite(value), error, 0), x.free | free, fused
    zeros = np.zeros(wanted.shape, _WIDE)
    if given.dtype.kind == "c":
        raise TypeError("a warning")
    if given.dtype.kind != "f":
        return zeros, x.free | (x.error > 0), zeros
    if not wanted.ndim:
        raise TypeError("np2tf leaves the conversion of numbers that do not fit to the host")
    if wanted.dtype.kind == "b":
        return zeros, x.free | ((x.error > 0) & (_size(given) <= x.error)), zeros
    limits = np.iinfo(wanted.dtype)
    with np.errstate(all="ignore"):
        outside = ~(
            (given.astype(_WIDE) > _WIDE(limits.min) - 1) & (given.astype(_WIDE) < _WIDE(limits.max) + 1)
        )
        step = np.zeros(wanted.shape, bool)
        for corner in _corners(x):
            step = step | (np.trunc(corner) != np.trunc(given))
    # C leaves open what becomes of a number out of range.
    return zeros, x.free | outside | step, zeros


def _axes(operation: Operation, x: np.ndarray, function: Callable[..., Any]) -> np.ndarray:
    """Apply another reduction over the operation's axes."""
    return np.asarray(function(x, **operation.keywords))


def _summed(operation: Operation, operands: Sequence[Known], value: Any) -> Parts:
    """A sum or mean in any order, of numbers whose rounding a multiply-add may leave out."""
    x = operands[0]
    result = np.asarray(value)
    zeros = np.zeros(result.shape, _WIDE)
    any_free = _axes(operation, x.free | np.isinf(x.fused), np.any)
    if result.dtype.kind not in "fc":
        return zeros, any_free | _axes(operation, x.error > 0, np.any), zeros
    size = _size(x.value)
    finite = np.where(np.isfinite(size), size, 0)
    total = _axes(operation, finite, np.sum)
    count = x.array.size / max(result.size, 1)
    unit = _WIDE(np.finfo(result.dtype).eps)
    error = _axes(operation, x.error + np.where(np.isinf(x.fused), 0, x.fused), np.sum) + count * unit * total
    error = error + np.where(error > 0, _WIDE(np.finfo(result.dtype).tiny), _SIGNLESS)
    if operation.name == "mean":
        error = error / _WIDE(count) + _ulp(value)
    has_nan = _axes(operation, np.isnan(x.array), np.any)
    overflows = (total > np.finfo(result.dtype).max / 4) & ~has_nan
    if x.array.dtype.kind == "c":  # a NaN in one part says nothing of the other
        any_free = any_free | ~_axes(operation, _finite(x.value), np.all)
    return np.where(_finite(value), error, 0), any_free | overflows, zeros


def _multiplied(operation: Operation, operands: Sequence[Known], value: Any) -> Parts:
    x = operands[0]
    result = np.asarray(value)
    zeros = np.zeros(result.shape, _WIDE)
    any_free = _axes(operation, x.free | (x.error > 0), np.any)
    if result.dtype.kind not in "fc":
        return zeros, any_free, zeros
    if result.dtype.kind == "c":
        raise TypeError("of real numbers only")
    with np.errstate(all="ignore"):
        exponents = np.log2(_size(x.value))
    exponents = np.where(np.isfinite(exponents), exponents, 0)
    information = np.finfo(result.dtype)
    outside = _axes(operation, np.maximum(exponents, 0), np.sum) >= information.maxexp - 1
    outside |= _axes(operation, np.minimum(exponents, 0), np.sum) <= information.minexp + 1
    has_nan = _axes(operation, np.isnan(x.array), np.any)
    count = x.array.size / max(result.size, 1)
    error = count * _ulp(value) * (_size(value) != 0)
    return np.where(_finite(value), error, 0), any_free | (outside & ~has_nan), zeros


def _extreme(operation: Operation, operands: Sequence[Known], value: Any) -> Parts:
    x = operands[0]
    error = _axes(operation, np.where(np.isfinite(_size(x.value)), x.error, 0), np.max)
    has_nan = _axes(operation, x.array != x.array, np.any)
    zero = (np.asarray(value) == 0) & (np.asarray(value).dtype.kind == "f")
    error = np.where(zero, np.maximum(error, _SIGNLESS), error)  # of the zeros' signs, any
    free = _axes(operation, x.free, np.any)
    return np.where(has_nan | ~_finite(value), 0, error), free, np.zeros(np.shape(value), _WIDE)


def _decided(operation: Operation, operands: Sequence[Known], value: Any) -> Parts:
    """A reduction to a place, a count or a truth."""
    x = operands[0]
    zeros = np.zeros(np.shape(value), _WIDE)
    doubtful = x.free | ((x.error > 0) & ((operation.name == "place") | (_size(x.value) <= x.error)))
    return zeros, np.broadcast_to(_axes(operation, doubtful, np.any), np.shape(value)), zeros


def _accumulated(operation: Operation, operands: Sequence[Known], value: Any) -> Parts:
    x = operands[0]
    result = np.asarray(value)
    zeros = np.zeros(result.shape, _WIDE)
    free = operation.compute((x.free | np.isinf(x.fused)).astype(int)) > 0
    if result.dtype.kind not in "fc":
        return zeros, free | (operation.compute((x.error > 0).astype(int)) > 0), zeros
    size = _size(x.value)
    finite = np.where(np.isfinite(size), size, 0)
    total = operation.compute(finite)
    error = operation.compute(x.error + np.where(np.isinf(x.fused), 0, x.fused))
    error = (
        error
        + x.array.size * _WIDE(np.finfo(result.dtype).eps) * total
        + np.where(total > 0, np.finfo(result.dtype).tiny, _SIGNLESS)
    )
    overflows = total > np.finfo(result.dtype).max / 4
    if x.array.dtype.kind == "c":
        free = free | (operation.compute((~_finite(x.value)).astype(int)) > 0)
    return np.where(_finite(value), error, 0), free | (overflows & ~np.isnan(result)), zeros


def _picked(operation: Operation, operands: Sequence[Known], value: Any) -> Parts:
    """A sum of the elements that a mask selects."""
    x, mask = operands
    shape = np.shape(value)
    if x.array.shape != mask.array.shape or mask.free.any():
        return np.zeros(shape, _WIDE), np.ones(shape, bool), np.zeros(shape, _WIDE)
    left = Known(*(part[mask.value] for part in (x.array, x.error, x.free, x.fused)))
    if not left.array.size:
        return np.zeros(shape, _WIDE), np.zeros(shape, bool), np.zeros(shape, _WIDE)
    return _summed(operation, [left], value)


@dataclass(frozen=True)
class Operation:
    """An operation that expressions are made of.

    Attributes:
        text: Python's text, with {} for the operands.
        takes: the kinds of its operands, one letter each: f, i, b, c, x for any of f, i and b, s and n for
            numbers of Python, n for integers.
        gives: the kind of its result.
        rule: what is known about the result.
        weight: how often it is taken, beside others.
        name: what the rule must know about it.
        axes: the keywords of a reduction.
    """

    text: str
    takes: str
    gives: str
    rule: Rule
    weight: float = 1.0
    name: str = ""
    axes: tuple[tuple[str, Any], ...] = ()

    @property
    def keywords(self) -> dict[str, Any]:
        return dict(self.axes)

    def compute(self, *values: Any) -> Any:
        """Return NumPy's result."""
        with np.errstate(all="ignore"):
            return _function(self.text, len(values))(*values)

    def known(self, operands: Sequence[Known]) -> Known:
        """Return what is known about the result of operands."""
        value = self.compute(*(operand.value for operand in operands))
        with np.errstate(all="ignore"):
            error, free, fused = self.rule(self, operands, value)
        shape = np.shape(value)
        error, free, fused = (np.broadcast_to(part, shape) for part in (error, free, fused))
        return Known(value, np.where(free, 0, error), free | _vanishing(value), fused)


def _vanishing(value: Any) -> np.ndarray:
    """Where a subnormal number may be taken for zero."""
    array = np.asarray(value)
    if array.dtype.kind not in "fc":
        return np.zeros(array.shape, bool)
    tiny = np.finfo(array.dtype).tiny
    parts = (array.real, array.imag) if array.dtype.kind == "c" else (array,)
    # The least normal number itself may have been rounded to, from below.
    return np.logical_or.reduce([(part != 0) & (np.abs(part) <= tiny) for part in parts])


@cache
def _function(text: str, count: int) -> Callable[..., Any]:
    names = [f"v{k}" for k in range(count)]
    return eval(f"lambda {', '.join(names)}: {text.format(*names)}", {"np": np})


def _reductions() -> Iterator[Operation]:
    places: tuple[tuple[str, tuple[tuple[str, Any], ...], float], ...] = (
        ("", (), 1.0),
        (", axis=0", (("axis", 0),), 0.7),
        (", axis=1", (("axis", 1),), 0.7),
        (", axis=-1, keepdims=True", (("axis", -1), ("keepdims", True)), 0.7),
    )
    for keywords, axes, weight in places:
        for name, takes, gives, rule in (
            ("sum", "f", "f", _summed),
            ("mean", "f", "f", _summed),
            ("max", "f", "f", _extreme),
            ("min", "f", "f", _extreme),
            ("prod", "f", "f", _multiplied),
            ("sum", "i", "i", _summed),
            ("max", "i", "i", _extreme),
            ("min", "i", "i", _extreme),
            ("prod", "i", "i", _multiplied),
            ("sum", "b", "i", _summed),
            ("sum", "c", "c", _summed),
            ("any", "b", "b", _decided),
            ("all", "b", "b", _decided),
            ("any", "f", "b", _decided),
            ("all", "f", "b", _decided),
        ):
            heavy = 2.0 if name in ("max", "min") and takes == "f" else 1.0
            yield Operation(
                f"np.{name}({{}}{keywords})", takes, gives, rule, 0.25 * weight * heavy, name, axes
            )
        for name, takes, meaning in (
            ("count_nonzero", "x", "count"),
            ("argmax", "f", "place"),
            ("argmin", "f", "place"),
        ):
            yield Operation(f"np.{name}({{}}{keywords})", takes, "i", _decided, 0.2 * weight, meaning, axes)
        if "keepdims" not in keywords:
            yield Operation(
                f"np.cumsum({{}}{keywords})", "f", "f", _accumulated, 0.2 * weight, "cumsum", axes
            )
            yield Operation(
                f"np.cumsum({{}}{keywords})", "i", "i", _accumulated, 0.2 * weight, "cumsum", axes
            )


def _arithmetic() -> Iterator[Operation]:
    for symbol, rule, weight in (
        ("+", _sum_of_two, 4),
        ("-", _sum_of_two, 4),
        ("*", _product, 5),
        ("/", _quotient, 5),
    ):
        for takes, gives, share in (
            ("ff", "f", 1), ("fs", "f", 0.8), ("sf", "f", 0.5), ("fx", "f", 0.5), ("xf", "f", 0.3),
            ("cc", "c", 0.5), ("cf", "c", 0.3), ("cs", "c", 0.2),
            ("ii", "i" if symbol != "/" else "f", 0.8), ("in", "i" if symbol != "/" else "f", 0.5),
        ):  # fmt: skip
            yield Operation(f"({{}} {symbol} {{}})", takes, gives, rule, weight * share)
    for symbol in ("//", "%"):
        for takes, gives, weight in (("ff", "f", 0.5), ("fs", "f", 0.7), ("ii", "i", 0.7), ("in", "i", 0.7)):
            yield Operation(f"({{}} {symbol} {{}})", takes, gives, _discrete, weight)


def _comparisons_and_masks() -> Iterator[Operation]:
    for symbol in ("<", "<=", ">", ">=", "==", "!="):
        for takes, weight in (("ff", 0.6), ("fs", 1.2), ("sf", 0.3), ("ii", 0.4), ("in", 0.5), ("xx", 0.3)):
            yield Operation(f"({{}} {symbol} {{}})", takes, "b", _compared, weight)
    for symbol in ("==", "!="):
        yield Operation(f"({{}} {symbol} {{}})", "cc", "b", _discrete, 0.3)
    for symbol in "&|^":
        yield Operation(f"({{}} {symbol} {{}})", "bb", "b", _discrete, 0.8)
        yield Operation(f"({{}} {symbol} {{}})", "ii", "i", _discrete, 0.3)
        yield Operation(f"({{}} {symbol} True)", "b", "b", _discrete, 0.2)
    yield Operation("(~{})", "b", "b", _discrete, 2)
    yield Operation("(~{})", "i", "i", _discrete, 0.5)
    for name in ("logical_and", "logical_or", "logical_xor"):
        yield Operation(f"np.{name}({{}}, {{}})", "bb", "b", _discrete, 0.4)
    yield Operation("np.logical_not({})", "b", "b", _discrete, 1)
    yield Operation("np.logical_not({})", "f", "b", _discrete, 0.3)
    for name in ("isnan", "isinf", "isfinite"):
        yield Operation(f"np.{name}({{}})", "f", "b", _tested, 0.4)
        yield Operation(f"np.{name}({{}})", "c", "b", _tested, 0.1)
    yield Operation("np.signbit({})", "f", "b", _signed, 0.3)


def _signs_and_roots() -> Iterator[Operation]:
    yield Operation("(-{})", "f", "f", _passed, 1.5)
    yield Operation("(-{})", "i", "i", _passed, 0.7)
    yield Operation("(-{})", "c", "c", _passed, 0.3)
    yield Operation("np.abs({})", "f", "f", _magnitude, 1.5)
    yield Operation("np.abs({})", "i", "i", _magnitude, 0.7)
    yield Operation("np.abs({})", "c", "f", _magnitude, 0.4)
    for name in ("real", "imag"):
        yield Operation(f"{{}}.{name}", "c", "f", _part, 0.4)
    yield Operation("np.conj({})", "c", "c", _passed, 0.3)
    yield Operation("({} + 1j * {})", "ff", "c", _discrete, 0.1)
    for name, weight in (("sqrt", 3), ("floor", 1), ("ceil", 0.5), ("trunc", 0.5), ("rint", 0.7)):
        yield Operation(f"np.{name}({{}})", "f", "f", _monotonic(0), weight)
    yield Operation("np.sign({})", "f", "f", _monotonic(0), 0.5)
    yield Operation("np.sign({})", "i", "i", _discrete, 0.3)
    yield Operation("np.round({}, 2)", "f", "f", _discrete, 0.5)
    yield Operation("np.square({})", "f", "f", lambda o, k, v: _product(o, [k[0], k[0]], v), 0.7)
    yield Operation("({} ** 2)", "f", "f", lambda o, k, v: _product(o, [k[0], k[0]], v), 0.7)
    yield Operation("({} ** 0.5)", "f", "f", _monotonic(LIBRARY_ULPS), 0.6)
    yield Operation("({} ** -1)", "f", "f", _discrete, 0.2)
    yield Operation("np.reciprocal({})", "f", "f", _discrete, 0.2)
    yield Operation("({} ** 3)", "f", "f", _library_of_two(POWER_ULPS), 0.3)
    yield Operation("({} ** 2)", "i", "i", _discrete, 0.3)
    yield Operation("np.power({}, {})", "ff", "f", _library_of_two(POWER_ULPS), 0.6)
    yield Operation("({} ** {})", "fs", "f", _library_of_two(POWER_ULPS), 0.5)


def _library() -> Iterator[Operation]:
    for name, weight in (
        ("exp", 1.5),
        ("log", 2),
        ("expm1", 0.4),
        ("log1p", 0.6),
        ("tanh", 0.6),
        ("arctan", 0.3),
        ("log2", 0.3),
        ("exp2", 0.2),
        ("log10", 0.2),
        ("cbrt", 0.2),
        ("arcsinh", 0.1),
        ("arcsin", 0.1),
        ("sinh", 0.1),
    ):
        yield Operation(f"np.{name}({{}})", "f", "f", _monotonic(LIBRARY_ULPS), weight)
    for name in ("sin", "cos"):
        yield Operation(f"np.{name}({{}})", "f", "f", _lipschitz(LIBRARY_ULPS), 0.5)
    for name in ("hypot", "arctan2", "logaddexp"):
        rule = _library_of_two(LIBRARY_ULPS, sums=name == "logaddexp")
        yield Operation(f"np.{name}({{}}, {{}})", "ff", "f", rule, 0.2)
    for name, weight in (("maximum", 1), ("minimum", 1), ("fmax", 0.4), ("fmin", 0.4)):
        yield Operation(f"np.{name}({{}}, {{}})", "ff", "f", _extreme_of_two, weight)
        yield Operation(f"np.{name}({{}}, {{}})", "fs", "f", _extreme_of_two, weight)
        yield Operation(f"np.{name}({{}}, {{}})", "ii", "i", _extreme_of_two, 0.3 * weight)
    yield Operation("np.copysign({}, {})", "ff", "f", _signed, 0.3)
    yield Operation("np.fmod({}, {})", "ff", "f", _discrete, 0.2)
    yield Operation("np.heaviside({}, {})", "fs", "f", _discrete, 0.2)
    yield Operation("np.clip({}, -1.5, 2.5)", "f", "f", _monotonic(0), 0.5)
    yield Operation("np.clip({}, -3, 3)", "i", "i", _discrete, 0.3)
    yield Operation("np.nan_to_num({})", "f", "f", _discrete, 0.3)


def _selections_and_conversions() -> Iterator[Operation]:
    for kind, weight in (("f", 4.0), ("i", 1.0), ("b", 0.5), ("c", 0.4)):
        yield Operation("np.where({}, {}, {})", f"b{kind}{kind}", kind, _chosen, weight)
    yield Operation("np.where({}, {}, 0.0)", "bf", "f", lambda o, k, v: _chosen(o, [*k, _given(0.0)], v), 1)
    yield Operation(
        "np.where({}, 1, {})", "bf", "f", lambda o, k, v: _chosen(o, [k[0], _given(1), k[1]], v), 0.5
    )
    for dtype, weight in (("float64", 0.8), ("float32", 0.8), ("float16", 0.5)):
        yield Operation(f"{{}}.astype(np.{dtype})", "f", "f", _cast, weight)
        yield Operation(f"{{}}.astype(np.{dtype})", "i", "f", _cast, weight)
        yield Operation(f"{{}}.astype(np.{dtype})", "b", "f", _cast, 0.3 * weight)
    for dtype, weight in (("int64", 2.5), ("int32", 1.5), ("int8", 0.4), ("uint8", 0.3)):
        yield Operation(f"{{}}.astype(np.{dtype})", "f", "i", _cast, weight)
        yield Operation(f"{{}}.astype(np.{dtype})", "i", "i", _cast, 0.4 * weight)
        yield Operation(f"{{}}.astype(np.{dtype})", "b", "i", _cast, 0.4 * weight)
    yield Operation("{}.astype(bool)", "f", "b", _cast, 0.5)
    yield Operation("{}.astype(bool)", "i", "b", _cast, 0.3)
    yield Operation("{}.astype(np.complex128)", "f", "c", _cast, 0.3)
    yield Operation("{}.astype(np.complex64)", "c", "c", _cast, 0.2)
    for text, weight in (("{}[::-1]", 0.5), ("np.roll({}, 1)", 0.3), ("np.flip({})", 0.2)):
        for kind in "fib":
            yield Operation(text, kind, kind, _moved, weight)
    yield Operation("np.sum({}[{}])", "fb", "f", _picked, 0.5, "sum")
    yield Operation("np.sum({}[{}])", "ib", "i", _picked, 0.2, "sum")
    yield Operation("({} << 2)", "i", "i", _discrete, 0.3)
    yield Operation("({} >> 1)", "i", "i", _discrete, 0.3)
    yield Operation("np.digitize({}, [-1.0, 0.0, 0.7, 2.0])", "f", "i", _discrete, 0.3)
    yield Operation("np.searchsorted(np.array([-2, 0, 3]), {})", "i", "i", _discrete, 0.2)
    yield Operation("np.bincount({}.reshape(-1) % 4, minlength=4)", "i", "i", _counted, 0.2)


def _counted(operation: Operation, operands: Sequence[Known], value: Any) -> Parts:
    zeros = np.zeros(np.shape(value), _WIDE)
    return zeros, np.full(np.shape(value), operands[0].free.any()), zeros


_TABLES = (
    _arithmetic,
    _comparisons_and_masks,
    _signs_and_roots,
    _library,
    _selections_and_conversions,
    _reductions,
)
OPERATIONS = [operation for table in _TABLES for operation in table()]
_BY_KIND = {kind: [o for o in OPERATIONS if o.gives == kind] for kind in "fibc"}

#: name of an argument -> its dtype; two of each kind so that operands may differ.
ARRAYS = {
    "a": "f8", "b": "f8", "d": "f8", "e": "f4", "g": "f4", "r": "f2", "i": "i8", "j": "i4",
    "k": "i1", "u": "u1",
    "p": "?", "q": "?", "v": "c16", "w": "c8",
}  # fmt: skip
_LEAVES = {"f": "aabbddeggrr", "i": "iijku", "b": "pq", "c": "vvw"}
#: The numbers that change from call to call.
NUMBERS = ("h", "t")
_CONSTANTS = (
    "0", "1", "2", "-1", "0.5", "0.7", "-0.7", "0.1", "3", "49.0", "1e200", "1e-200", "1e30", "-0.0", "0.0",
    "np.inf",
    "-np.inf", "np.nan", "1.5", "10", "1e5", "np.float64(0.3)", "np.float32(0.7)", "7.0", "-3",
)  # fmt: skip
_INTEGERS = ("0", "1", "2", "3", "-1", "7", "10")
SHAPE = (4, 5)


def arguments(seed: int) -> dict[str, Any]:
    """Return the arrays that expressions are about: special values and ordinary ones, at random places."""
    rng = np.random.default_rng(seed)
    given: dict[str, Any] = {}
    for name, dtype in ARRAYS.items():
        given[name] = _array(rng, np.dtype(dtype))
    return given


def _array(rng: np.random.Generator, dtype: np.dtype) -> np.ndarray:
    size = SHAPE[0] * SHAPE[1]
    if dtype.kind == "b":
        return rng.random(SHAPE) < 0.5
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        values = rng.integers(max(limits.min, -20), 20, size).astype(dtype)
        special = np.array([limits.min, limits.max, limits.max - 1, 0, 1], dtype)
    else:
        real = np.dtype({16: "f8", 8: "f4"}[dtype.itemsize]) if dtype.kind == "c" else dtype
        information = np.finfo(real)
        values = (rng.standard_normal(size) * rng.choice([0.3, 1, 1, 5, 40], size)).astype(real)
        values = np.where(rng.random(size) < 0.2, np.rint(values), values).astype(real)
        huge = information.max ** real.type(0.65)
        special = np.array(
            [
                np.nan,
                np.nan,
                np.inf,
                -np.inf,
                0.0,
                -0.0,
                0.0,
                1,
                -1,
                information.max,
                -information.max,
                huge,
                -huge,
                1 / huge,
                4 * information.tiny,
                0.57,
                2.5,
                49,
            ],
            real,
        )
        if dtype.kind == "c":
            values = values + 1j * rng.permutation(values)
            if rng.random() < 0.5:
                special = special[:7]
    share = rng.choice([0.0, 0.25, 0.5])
    return np.where(rng.random(size) < share, rng.choice(special, size), values).astype(dtype).reshape(SHAPE)


@dataclass(frozen=True)
class Expression:
    """An expression: an operation on expressions, or the text of an argument or constant."""

    kind: str
    text: str
    operation: Operation | None = None
    operands: tuple[Expression, ...] = ()

    def known(self, given: dict[str, Any]) -> Known:
        """Return the value for given arguments, and what is known about it."""
        if self.operation is None:
            return _given(given[self.text] if self.text in given else eval(self.text, {"np": np}))
        return self.operation.known([operand.known(given) for operand in self.operands])

    def parts(self) -> Iterator[Expression]:
        """Yield all expressions in this one, itself included."""
        yield self
        for operand in self.operands:
            yield from operand.parts()

    def simpler(self) -> Iterator[Expression]:
        """Yield expressions with less in them, the least first."""
        for part in list(self.parts())[:0:-1]:
            if part.kind == self.kind:
                yield part
        yield from self._with_simpler_operands()

    def _with_simpler_operands(self) -> Iterator[Expression]:
        for k, operand in enumerate(self.operands):
            for instead in _instead(operand):
                yield self._with(k, instead)
            for instead in operand._with_simpler_operands():
                yield self._with(k, instead)

    def _with(self, k: int, operand: Expression) -> Expression:
        assert self.operation is not None
        return _applied(self.operation, (*self.operands[:k], operand, *self.operands[k + 1 :]))


def _instead(operand: Expression) -> Iterator[Expression]:
    """Yield leaves and parts that may stand in an operand's place."""
    if operand.operation is None:
        return
    if operand.kind in _LEAVES:
        for name in dict.fromkeys(_LEAVES[operand.kind]):
            yield Expression(operand.kind, name)
    for part in list(operand.parts())[1:]:
        if part.kind == operand.kind:
            yield part


def _applied(operation: Operation, operands: tuple[Expression, ...]) -> Expression:
    text = operation.text.format(*(operand.text for operand in operands))
    return Expression(operation.gives, text, operation, operands)


def expression(seed: int) -> Expression:
    """Return the expression of a seed; its depth is 2 to 6."""
    rng = random.Random(seed)
    given = {**arguments(seed % 7), "h": 0.7, "t": 3.0}
    while True:
        kind = rng.choices("fibc", (6, 2, 3, 1))[0]
        made = _tree(rng, kind, rng.randint(2, 6))
        try:
            known = made.known(given)
        except (TypeError, ValueError, OverflowError, ZeroDivisionError, AttributeError, IndexError):
            continue  # NumPy has no such operation
        if not known.free.all():
            return made


def _tree(rng: random.Random, kind: str, depth: int) -> Expression:
    if kind == "s":
        return Expression("s", rng.choice(NUMBERS) if rng.random() < 0.3 else rng.choice(_CONSTANTS))
    if kind == "n":
        return Expression("s", rng.choice(_INTEGERS))
    if kind == "x":
        kind = rng.choice("fib")
    if not depth:
        return Expression(kind, rng.choice(_LEAVES[kind]))
    choices = _BY_KIND[kind]
    operation = rng.choices(choices, [choice.weight for choice in choices])[0]
    # One operand is as deep as it may be, the others need not be.
    deep = rng.randrange(len(operation.takes))
    below = [depth - 1 if k == deep else rng.randint(0, depth - 1) for k in range(len(operation.takes))]
    return _applied(operation, tuple(_tree(rng, takes, d) for takes, d in zip(operation.takes, below)))
