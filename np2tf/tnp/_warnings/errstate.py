"""``np.errstate``: TensorFlow has no floating-point flags, so that NumPy computes if the program wants
errors.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy._core.umath import _extobj_contextvar  # type: ignore[attr-defined]


def _only_warns() -> bool:
    return {*np.geterr().values()} <= {"ignore", "warn"}


#: The usual setting: NumPy only warns. None if this module is imported while errors are raised.
_INITIAL = _extobj_contextvar.get() if _only_warns() else None
_settings: dict[int, tuple[Any, bool]] = {}


def raises_floating_point_errors() -> bool:
    """Return whether floating-point errors are currently raised, printed, or passed to a function."""
    setting = _extobj_contextvar.get()
    if setting is _INITIAL:
        return False
    entry = _settings.get(id(setting))
    if entry is None or entry[0] is not setting:
        if len(_settings) > 100:
            _settings.clear()
        # The setting is kept with the result, so that no other setting gets its id.
        entry = _settings[id(setting)] = (setting, not _only_warns())
    return entry[1]
