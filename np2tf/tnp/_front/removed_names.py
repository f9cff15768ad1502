"""Names that NumPy 2 removed and older programs use, and the in-place forms of ufuncs that np2tf writes.

rules/removed.toml has the current name of each removed name.
"""

from __future__ import annotations

import builtins
import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from np2tf.rules import Rule, find
from np2tf.tnp._front.front import provide, universal_function

_ABSENT = object()


def replacement(name: str, namespace: Any) -> Any:
    """Return the object that replaces a name that NumPy removed.

    Args:
        name: the removed name.
        namespace: the module `tnp`, which has the replacement.

    Raises:
        AttributeError: NumPy never had the name, or nothing replaces it.
    """
    rule = find(f"numpy.{name}")
    if rule is not None and not rule.new_name:
        # NumPy does not list names that it will remove, and warns on access.
        value = getattr(np, name, _ABSENT)
        if value is not _ABSENT:
            return provide(value, rule.name)
    if rule is None or not rule.new_name:
        reason = f": {_why_not(rule)}" if rule is not None else ""
        raise AttributeError(f"module 'np2tf.tnp' has no attribute {name!r}{reason}")
    if rule.builtin:
        return getattr(builtins, rule.new_name)
    value = operator.attrgetter(rule.new_name)(namespace)
    if rule.negated:
        return -value
    return _adapt(rule, value, namespace) if rule.arguments or rule.flattens else value


def _why_not(rule: Rule) -> str:
    if rule.reason:
        return rule.reason
    return f"NumPy has it since {rule.since}" if rule.since else f"NumPy had it until {rule.until}"


def _adapt(rule: Rule, function: Callable[..., Any], namespace: Any) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(first: Any, *args: Any, **kwargs: Any) -> Any:
        flat = namespace.ravel(first) if rule.flattens else first
        return function(flat, *args, **{**dict(rule.arguments), **kwargs})

    return call


def ufunc_at(ufunc: np.ufunc) -> Callable[..., Any]:
    """Return a function such as ``tnp.add_at``, which calls `ufunc.at` and returns the written array.

    For a tf.Tensor, which cannot change, it returns a new tensor.
    """
    tnp_ufunc = universal_function(ufunc)

    def apply_at(array: Any, indices: Any, *operands: Any) -> Any:
        return tnp_ufunc.at(array, indices, *operands)

    apply_at.__name__ = f"{ufunc.__name__}_at"
    return apply_at
