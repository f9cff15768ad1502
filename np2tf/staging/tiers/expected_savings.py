"""What compiling code is expected to save: the code, and the program's functions that it calls, tell before
anything is spent.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Any

from np2tf.staging.tiers import constants
from np2tf.staging.tiers.library_work import library_calls
from np2tf.staging.tiers.program_code import DEPTH
from np2tf.staging.tiers.random_work import draws_in_loops
from np2tf.staging.tiers.scalar_work import loops_over_numbers

#: The share of the host's time that compiling code is expected to save.
_savings: dict[types.CodeType, float] = {}


def expected_saving(code: types.CodeType, names: Mapping[str, Any]) -> float:
    """Return the share of the host's time that compiling the code is expected to save.

    Args:
        names: the globals of the code.
    """
    if code not in _savings:
        _savings[code] = _saving(code, names)
    return _savings[code]


def _saving(code: types.CodeType, names: Mapping[str, Any]) -> float:
    if draws_in_loops(code, names, DEPTH):
        return constants.DRAWS_SAVING
    if library_calls(code, names):
        return constants.LIBRARY_SAVING
    return constants.SCALAR_SAVING if loops_over_numbers(code, names) else constants.EXPECTED_SAVING
