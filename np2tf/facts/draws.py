"""Recognises calls that may draw random numbers which staged code draws as NumPy does."""

from __future__ import annotations

import libcst as cst

from np2tf.draws import DRAWS

#: Names of drawing methods that many other objects have, too.
_COMMON = frozenset({"f", "power", "sample", "default_rng", "RandomState"})


def looks_like_a_draw(node: cst.CSTNode) -> bool:
    """Return whether a call is of a method whose name is common for generators and rare for other objects."""
    if type(node) is not cst.Call or type(node.func) is not cst.Attribute:
        return False
    return node.func.attr.value in DRAWS - _COMMON
