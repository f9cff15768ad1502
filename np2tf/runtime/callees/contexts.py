"""`with np2tf.context(manager):`: checks a context manager while the function is traced.

A trace enters and leaves it once for all runs, so both methods must only compute, like the callees of
`np2tf.call`.
"""

from __future__ import annotations

import contextlib
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from np2tf.runtime.callees.callees import staged_callee
from np2tf.runtime.introspection.user_objects import has_instances
from np2tf.staging import CalleeError
from np2tf.tnp._tensor.storage import current_scope

#: Managers that change at most NumPy's warnings.
_HARMLESS = (contextlib.nullcontext, np.errstate)


class _TracedManager:
    """A context manager whose methods are traced.

    An exception that leaves the block ends the trace. The host repeats the call, and gives the manager the
    exception.
    """

    def __init__(self, enter: Callable[[], Any], leave: Callable[..., Any]) -> None:
        self._enter = enter
        self._leave = leave

    def __enter__(self) -> Any:
        return self._enter()

    def __exit__(self, kind: type[BaseException] | None, *error: Any) -> None:
        if kind is None:
            self._leave(None, None, None)


def context(manager: Any) -> Any:
    """Return the manager to enter in the place of `manager`: itself, unless the code around is being traced.

    Args:
        manager: a context manager.

    Returns:
        `manager`, or a context manager whose methods are staged.

    Raises:
        StagingError: if its methods have effects besides computing, or their effects are unknown.

    See https://docs.python.org/3/reference/datamodel.html#context-managers.
    """
    kind = type(manager)
    if current_scope() is None or kind in _HARMLESS:
        return manager
    enter, leave = getattr(kind, "__enter__", None), getattr(kind, "__exit__", None)
    functions = type(enter) is types.FunctionType and type(leave) is types.FunctionType
    if not functions or not has_instances(kind):
        raise CalleeError(f"enters a {kind.__name__}, whose effects are unknown")
    return _TracedManager(
        types.MethodType(staged_callee(enter), manager), types.MethodType(staged_callee(leave), manager)
    )
