"""NumPy's version, and what it does about floating-point errors here."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy._core.umath import _extobj_contextvar  # type: ignore[attr-defined]

__all__ = [
    "NUMPY",
]


# -- numpy version -------------------------------------------------------------------------------------------
# The version of the installed NumPy, for functions whose results differ between versions.

#: The first two numbers of the version, such as ``(2, 4)``. The third number does not change results.
NUMPY: tuple[int, ...] = tuple(int(part) for part in np.__version__.split(".")[:2])


# -- errstate ------------------------------------------------------------------------------------------------
# ``np.errstate``: TensorFlow has no floating-point flags, so that NumPy computes if the program wants
# errors. A filter that turns NumPy's warnings about them into exceptions wants errors, too.

#: What becomes of a floating-point error: np.errstate raises it (or prints it, or passes it to a function),
#: NumPy warns of it, or nothing happens.
_RAISES, _WARNS, _IGNORES = "raises", "warns", "ignores"


def _outcome() -> str:
    kinds = {*np.geterr().values()}
    return _IGNORES if kinds == {"ignore"} else _WARNS if kinds <= {"ignore", "warn"} else _RAISES


#: The usual setting: NumPy only warns. None if this module is imported under another setting.
_INITIAL = _extobj_contextvar.get() if _outcome() is _WARNS else None
#: The beginnings of NumPy's warnings about floating-point errors.
_MESSAGES = tuple(
    f"{what} encountered in " for what in ("divide by zero", "invalid value", "overflow", "underflow")
)
_settings: dict[int, tuple[Any, str]] = {}


def _present_outcome() -> str:
    setting = _extobj_contextvar.get()
    if setting is _INITIAL:
        return _WARNS
    entry = _settings.get(id(setting))
    if entry is None or entry[0] is not setting:
        if len(_settings) > 100:
            _settings.clear()
        # The setting is kept with the result, so that no other setting gets its id.
        entry = _settings[id(setting)] = (setting, _outcome())
    return entry[1]


def raises_floating_point_errors() -> bool:
    """Return whether floating-point errors are currently raised, printed, or passed to a function."""
    return _present_outcome() is _RAISES


class _Filters:
    """The filters for warnings, as they were when they were last looked at."""

    def __init__(self) -> None:
        self._seen: list[Any] = []
        self._raise = False

    def make_errors(self) -> bool:
        """Return whether a filter turns NumPy's warnings about floating-point errors into exceptions.

        A filter for some modules or lines counts only if its action is "error", and a filter for messages
        only if it is about NumPy's.
        """
        filters = warnings.filters
        if filters != self._seen:  # nearly always the same tuples, so that comparing them is fast
            self._seen = list(filters)
            actions = (
                action
                for action, message, kind, module, line in filters
                if issubclass(RuntimeWarning, kind)
                and (message is None or any(map(message.match, _MESSAGES)))
                and (action == "error" or (message is None and module is None and not line))
            )
            self._raise = next(actions, "default") == "error"
        return self._raise


_filters = _Filters()


def warnings_are_errors() -> bool:
    """Return whether a warning about a floating-point error would now be an exception."""
    return _filters.make_errors() and _present_outcome() is not _IGNORES
