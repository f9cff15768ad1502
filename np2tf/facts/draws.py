"""Which calls may draw random numbers that staged code draws as NumPy does."""

from __future__ import annotations

import libcst as cst

from np2tf.draws import DRAWS

#: Among them names that many other objects have, too.
_COMMON = frozenset({"f", "power", "sample", "default_rng", "RandomState"})


def looks_like_a_draw(node: cst.CSTNode) -> bool:
    """Whether a call is of a method that generators have, and hardly anything else."""
    if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute):
        return False
    return node.func.attr.value in DRAWS - _COMMON
