"""NumPy's context managers, and which of them may be staged."""

from __future__ import annotations

import libcst as cst

#: Context managers of NumPy that may be staged.
CONTEXTS = ("numpy.errstate", "numpy.printoptions")
#: Modes of np.errstate that neither raise an error nor call a function.
_QUIET = ("ignore", "warn")


def is_quiet(call: cst.Call) -> bool:
    """Return whether np.errstate neither raises nor calls a function: a graph reports no floating-point
    warnings.
    """
    modes = [arg.value for arg in call.args]
    return all(type(mode) is cst.SimpleString and mode.value[1:-1] in _QUIET for mode in modes)
