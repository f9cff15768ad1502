"""The operations on selections that avoid dynamic shapes, and the file that computes each of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from np2tf.tnp._masked.elementwise import elementwise, selections
from np2tf.tnp._masked.products import PRODUCTS, outer_product, product
from np2tf.tnp._masked.reductions import reduction

#: Elementwise functions of one or more arrays that are not ufuncs -> their number of operands.
_ELEMENTWISE = {"where": 3, "nan_to_num": 1, "around": 1, "round": 1}


def apply_to_selections(
    name: str, function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]
) -> Any:
    """Return the result of an op on selections; None if the op needs their dynamic shape."""
    if not args or selections(args[:3]) is None:
        return None
    if _ELEMENTWISE.get(name) == len(args) and not kwargs:
        return elementwise(args, lambda wholes: function(*wholes).tensor)
    if selections(args[:2]) is None:
        return None
    if name == "outer" and len(args) == 2 and not kwargs:
        return outer_product(*args)
    return (
        product(name, function, args, kwargs) if name in PRODUCTS else reduction(name, function, args, kwargs)
    )
