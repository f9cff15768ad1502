"""``np.errstate``: TensorFlow keeps no floating-point flags; where errors are asked for, NumPy computes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy._core.umath import _extobj_contextvar  # type: ignore[attr-defined]

#: The setting that a process begins with: NumPy only warns.
_INITIAL = _extobj_contextvar.get()
_known: dict[int, tuple[Any, bool]] = {}


def raises_floating_point_errors() -> bool:
    """Whether floating-point errors are, just now, to be raised, printed, or told to a function."""
    setting = _extobj_contextvar.get()
    if setting is _INITIAL:
        return False
    held = _known.get(id(setting))
    if held is None or held[0] is not setting:
        if len(_known) > 100:
            _known.clear()
        # The setting is kept with the answer, so that its id is not given to another.
        held = _known[id(setting)] = (setting, not {*np.geterr().values()} <= {"ignore", "warn"})
    return held[1]
