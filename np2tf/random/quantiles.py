"""The quantile function of the normal distribution, over arrays on the host and on TensorFlow alike."""

from __future__ import annotations

from typing import Any

from np2tf import tnp
from np2tf.tnp._tensor.normal_quantile import FAR_TAIL, MIDDLE, TAIL

_Fraction = tuple[tuple[float, ...], tuple[float, ...]]


def normal_quantile(u: Any) -> Any:
    """Return the normal quantile of ``(1 + u) / 2``.

    Args:
        u: array of floats between -1 and 1, both excluded.

    Returns:
        An array of the shape and dtype of u.
    """
    middle = 0.5 * u
    near = tnp.abs(middle) <= 0.425
    # Outside of their ranges the fractions get an argument inside, so that gradients stay finite.
    inner = tnp.where(near, middle, tnp.zeros_like(middle))
    tail = tnp.where(near, 0.5 * tnp.ones_like(u), 0.5 * (1 - tnp.abs(u)))
    root = tnp.sqrt(-tnp.log(tail))
    is_far = root > 5.0
    outer = tnp.where(is_far, _fraction(FAR_TAIL, root - 5.0), _fraction(TAIL, root - 1.6))
    return tnp.where(near, _fraction(MIDDLE, 0.180625 - inner * inner) * inner, tnp.sign(u) * outer)


def _fraction(coefficients: _Fraction, x: Any) -> Any:
    above, below = (_polynomial(polynomial, x) for polynomial in coefficients)
    return above / below


def _polynomial(coefficients: tuple[float, ...], x: Any) -> Any:
    total: Any = coefficients[-1]
    for coefficient in coefficients[-2::-1]:
        total = total * x + coefficient
    return total


__all__ = ["normal_quantile"]
