"""`with np2tf.context(manager):`: what is entered is looked at while the function is traced.

A trace enters and leaves it once for all runs, so that both must only compute, as what `np2tf.call` calls.
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

#: Managers that change nothing but what NumPy tells and prints.
_HARMLESS = (contextlib.nullcontext, np.errstate)


class _TracedManager:
    """A manager whose methods are traced.

    An exception that leaves the block ends the trace: the manager is asked about it where the call is
    repeated on the host.
    """

    def __init__(self, enter: Callable[[], Any], leave: Callable[..., Any]) -> None:
        self._enter = enter
        self._leave = leave

    def __enter__(self) -> Any:
        return self._enter()

    def __exit__(self, kind: type[BaseException] | None, *rest: Any) -> None:
        if kind is None:
            self._leave(None, None, None)


def context(manager: Any) -> Any:
    """What to enter in the place of `manager`: itself, unless the code around is being traced.

    Raises:
        StagingError: to enter or to leave it does more than to compute, or nobody knows what that does.
    """
    kind = type(manager)
    if current_scope() is None or kind in _HARMLESS:
        return manager
    enter, leave = getattr(kind, "__enter__", None), getattr(kind, "__exit__", None)
    functions = isinstance(enter, types.FunctionType) and isinstance(leave, types.FunctionType)
    if not functions or not has_instances(kind):
        raise CalleeError(f"enters a {kind.__name__}, whose effects are unknown")
    return _TracedManager(
        types.MethodType(staged_callee(enter), manager), types.MethodType(staged_callee(leave), manager)
    )
