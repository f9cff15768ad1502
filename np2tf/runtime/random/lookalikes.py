"""Objects with methods that go by the names of draws, and are none.

Which methods a function calls by such a name is only seen when it is called: where the object is no generator
nothing is known of what the method does besides.
"""

from __future__ import annotations

import types
from collections.abc import Iterable
from typing import Any

from np2tf.runtime.random.states import METHODS
from np2tf.staging import StagingError


def refuse_lookalikes(function: Any, names: set[str], classes: Iterable[type], given: Iterable[Any]) -> None:
    """See that what the code calls by the name of a draw is a draw, or a method of its own class.

    Args:
        function: the jitted function. names: every name in its code.
        classes: those of the objects that it may touch.
        given: its arguments.

    Raises:
        StagingError: something else has a method of such a name.
    """
    met = names & METHODS
    if not met:
        return
    for kind in classes:
        for base in kind.__mro__:
            found = met & vars(base).keys()
            if found and not function.__qualname__.startswith(f"{base.__qualname__}."):
                _refuse(f"{base.__name__}.{min(found)}")
    for value in given:
        if isinstance(value, (types.ModuleType, type)) and not value.__name__.startswith("np2tf."):
            found = met & vars(value).keys()
            if found:
                _refuse(f"{value.__name__}.{min(found)}")


def _refuse(name: str) -> None:
    raise StagingError(f"it calls `{name}`, whose effects are unknown", "NP2TF506")
