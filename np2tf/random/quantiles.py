"""The quantile function of the normal distribution, by rational functions.

M. Wichura, Algorithm AS 241: the percentage points of the normal distribution (1988),
https://doi.org/10.2307/2347330: relative error below 1e-15.
"""

from __future__ import annotations

from typing import Any

from np2tf import tnp

_Fraction = tuple[tuple[float, ...], tuple[float, ...]]
#: The numerator and denominator of each range, from the highest power.
_MIDDLE: _Fraction = (
    (
        *(2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457),
        *(13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.3871328727963666080),
    ),
    (
        *(5226.4952788528545610, 28729.085735721942674, 39307.895800092710610, 21213.794301586595867),
        *(5394.1960214247511077, 687.18700749205790830, 42.313330701600911252, 1.0),
    ),
)
_OUTER: _Fraction = (
    (
        *(7.7454501427834140764e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1),
        *(1.27045825245236838258, 3.64784832476320460504, 5.76949722146069140550),
        *(4.63033784615654529590, 1.42343711074968357734),
    ),
    (
        *(1.05075007164441684324e-9, 5.4759380849953449460e-4, 1.51986665636164571966e-2),
        *(1.4810397642748007459e-1, 6.8976733498510000455e-1, 1.67638483018380384940),
        *(2.05319162663775882187, 1.0),
    ),
)
_FAR: _Fraction = (
    (
        *(2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3),
        *(2.65321895265761230930e-2, 2.96560571828504891230e-1, 1.78482653991729133580),
        *(5.46378491116411436990, 6.65790464350110377720),
    ),
    (
        *(2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5),
        *(7.868691311456132591e-4, 1.48753612908506148525e-2, 1.36929880922735805310e-1),
        *(5.9983220655588793769e-1, 1.0),
    ),
)


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
    outer = tnp.where(is_far, _fraction(_FAR, root - 5.0), _fraction(_OUTER, root - 1.6))
    return tnp.where(near, _fraction(_MIDDLE, 0.180625 - inner * inner) * inner, tnp.sign(u) * outer)


def _fraction(coefficients: _Fraction, x: Any) -> Any:
    above, below = (_polynomial(one, x) for one in coefficients)
    return above / below


def _polynomial(coefficients: tuple[float, ...], x: Any) -> Any:
    total: Any = coefficients[0]
    for one in coefficients[1:]:
        total = total * x + one
    return total


__all__ = ["normal_quantile"]
