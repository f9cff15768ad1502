"""numpy.testing for tests of the op library: its comparisons receive NumPy's arrays."""

from __future__ import annotations

import functools
from types import FunctionType
from typing import Any

from np2tf.arrays.operands.conversion import to_numpy

#: These functions call a function of the test, with the test's own arguments.
_CALLING = (
    "assert_raises",
    "assert_raises_regex",
    "assert_warns",
    "assert_no_warnings",
    "assert_no_gc_cycles",
)


def asserting(name: str, function: Any) -> Any:
    """Return a comparison of numpy.testing that takes the op library's arrays; other objects are returned
    unchanged.
    """
    if not isinstance(function, FunctionType) or not name.startswith("assert") or name in _CALLING:
        return function

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        return function(*map(to_numpy, args), **{key: to_numpy(value) for key, value in kwargs.items()})

    return call
